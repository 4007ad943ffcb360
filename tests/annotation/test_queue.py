"""Every item reaches its overlap exactly, never beyond: one at a time, all at once, and after leases ran out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Count
from django.db.models.functions import Now

from annotation.access.roles import Role
from annotation.management import doctor
from annotation.models import Assignment, Batch, Example, Exclusion, Item, Person, Slot
from annotation.platform.refusals import ActionRefused
from annotation.queue import availability, lineage, reservations, slots
from annotation.workflow import assignments, batches, projects
from tests.annotation.cast import NOON, World, envelope, make_world
from tests.annotation.test_gold import mark

pytestmark = pytest.mark.both

State = Assignment.State


def expire(assignment: Assignment) -> None:
    """Let the lease run out, by the database's own clock."""
    Assignment.objects.filter(pk=assignment.pk).update(leased_until=Now() - timedelta(seconds=1))


def test_a_person_gets_each_item_once(world: World) -> None:
    batch = world.batch(overlap=3)
    seen = []
    while (assignment := world.take(batch, "ada")) is not None:
        seen.append(assignment.item_id)
        world.answer(assignment, {"label": "extraction"})
    assert len(seen) == len(set(seen)) == 4


def test_nobody_holds_more_than_the_item_on_screen_and_the_prefetched_one(world: World) -> None:
    batch = world.batch()
    first = world.take(batch, "ada")
    assert first is not None
    again = world.take(batch, "ada")
    assert again == first, "a held item that the page does not list is given again"
    second = world.take(batch, "ada", holding=[first.public_id])
    assert second is not None
    assert second != first
    assert world.take(batch, "ada", holding=[first.public_id, second.public_id]) is None


def test_a_skipped_item_goes_to_somebody_else_and_never_back(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    first = world.take(batch, "ada")
    assert first is not None
    assignments.skip(assignment=first, reason="unclear", now=NOON)
    assignments.skip(assignment=first, reason="unclear", now=NOON)
    assert world.take(batch, "ada") is None
    assert world.take(batch, "bo") is not None
    assert list(doctor.findings()) == []


def test_an_expired_lease_is_taken_back_only_when_nothing_else_is_free(world: World) -> None:
    batch = world.batch(overlap=1, size=2)
    left = world.take(batch, "ada")
    assert left is not None
    expire(left)
    other = world.take(batch, "bo")
    assert other is not None
    assert other.item_id != left.item_id
    world.answer(other, {"label": "extraction"})
    taken_over = world.take(batch, "bo")
    assert taken_over is not None
    assert taken_over.item_id == left.item_id
    assert list(doctor.findings()) == []


def test_a_late_submission_counts_while_its_place_is_free(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    late = world.take(batch, "ada")
    assert late is not None
    expire(late)
    reservations.take_back_expired(batch=batch, now=NOON)
    annotation = world.answer(world.reload(late), {"label": "extraction"})
    assert annotation.revision == 1
    assert list(doctor.findings()) == []


def test_a_late_submission_to_a_taken_place_is_refused_and_the_draft_stays(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    late = world.take(batch, "ada")
    assert late is not None
    assignments.save_draft(assignment=late, revision=0, response={"data": {"label": "reasoning"}}, now=NOON)
    expire(late)
    world.label(batch, "bo", "extraction")
    with pytest.raises(ActionRefused) as refused:
        world.answer(world.reload(late), {"label": "reasoning"})
    assert refused.value.code == "place_taken"
    assert world.reload(late).draft.response == {"data": {"label": "reasoning"}}
    assert list(doctor.findings()) == []


def test_the_database_itself_refuses_a_second_live_assignment_on_a_place(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    held = world.take(batch, "ada")
    assert held is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            batch=batch,
            item=held.item,
            slot=held.slot,
            person=world.bo,
            leased_at=NOON,
            leased_until=NOON,
            seen_at=NOON,
        )


def test_makers_never_get_what_they_made(world: World) -> None:
    edits = world.batch("value_change", variant="answer_stays", size=1)
    checks = world.batch("question_type", sources=(), feeds_from=edits, overlap=2)
    assignment = world.take(edits, "ada")
    assert assignment is not None
    cell = {"op": "set_cell", "row": "r3", "column": "c2", "at": [3, 2], "old": "124", "new": "125"}
    world.answer(assignment, {"unanswerable": False, "operations": [cell], "answers": [], "reason": ""})
    from annotation.workflow import automatic_decisions

    automatic_decisions.resolve_batch(batch=edits, now=NOON)
    item = Item.objects.get(batch=checks)
    assert item.inputs["base"] == assignment.item.example.public_id
    assert list(Exclusion.objects.filter(item=item).values_list("person", flat=True)) == [world.ada.pk]
    assert world.take(checks, "ada") is None
    checked = world.take(checks, "bo")
    assert checked is not None
    assert checked.item.example.example().table.rows[3][2] == "125"
    assert lineage.makers(item.example) == {world.ada.pk}


def test_a_closed_batch_hands_nothing_out(world: World) -> None:
    batch = world.batch()
    held = world.take(batch, "ada")
    assert held is not None
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    with pytest.raises(ActionRefused, match="closed"):
        world.take(Batch.objects.get(pk=batch.pk), "bo")
    with pytest.raises(ActionRefused) as refused:
        world.answer(world.reload(held), {"label": "extraction"})
    assert refused.value.code == "batch_closed"


def test_leaving_the_project_gives_leases_back(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    assert world.take(batch, "ada") is not None
    membership = world.project.memberships.get(person=world.ada)
    projects.remove_member(membership=membership, by=world.mara, now=NOON)
    assert world.take(batch, "bo") is not None
    assert list(doctor.findings()) == []


def test_a_paused_batch_hands_nothing_out_and_takes_what_is_finished(world: World) -> None:
    batch = world.batch()
    held = world.take(batch, "ada")
    assert held is not None
    Batch.objects.filter(pk=batch.pk).update(paused_at=NOON)
    paused = Batch.objects.get(pk=batch.pk)
    for who, holding in (("bo", []), ("ada", [held.public_id])):
        with pytest.raises(ActionRefused) as refused:
            world.take(paused, who, holding)
        assert refused.value.code == "batch_paused"
    again = world.take(paused, "ada")
    assert again == held, "what is on a desk may be finished, so a page that is loaded again shows it"
    assert assignments.resume(assignment=world.reload(held), now=NOON) == held
    annotation, following = assignments.submit_and_next(
        assignment=world.reload(held),
        response=envelope(held, {"label": "extraction"}),
        then_next=True,
        holding=(),
        now=NOON,
    )
    assert annotation.pk
    assert following is None


def test_a_place_that_is_kept_for_somebody_goes_to_nobody_else(world: World) -> None:
    batch = world.batch(overlap=1)
    kept = Slot.objects.filter(batch=batch).order_by("position")[:2]
    Slot.objects.filter(pk__in=[place.pk for place in kept]).update(reserved_for=world.bo)
    assert [item.position for item in _all_of(world, batch, "ada")] == [3, 4]
    assert [item.position for item in _all_of(world, batch, "bo")] == [1, 2]
    assert list(doctor.findings()) == []


def test_a_place_that_was_given_back_stays_with_whom_it_is_kept_for(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    Slot.objects.filter(batch=batch).update(reserved_for=world.bo)
    held = world.take(batch, "bo")
    assert held is not None
    assignments.give_back(assignment=world.reload(held), now=NOON)
    assert world.take(batch, "ada") is None
    assignments.resume(assignment=world.reload(held), now=NOON)
    world.answer(world.reload(held), {"label": "extraction"})
    assert list(doctor.findings()) == []


def test_in_a_batch_for_everybody_who_comes_later_gets_every_item_too(world: World) -> None:
    batch = world.batch(overlap=1)
    Batch.objects.filter(pk=batch.pk).update(strategy="everyone")
    batch = Batch.objects.get(pk=batch.pk)
    for name in ("ada", "bo", "cy"):
        assert availability.left_for(world.people[name], [batch.pk]) == {batch.pk: 4}
        assert [item.position for item in _all_of(world, batch, name)] == [1, 2, 3, 4]
    assert not Slot.objects.filter(batch=batch, added=True).exists()
    assert Batch.objects.get(pk=batch.pk).slots_count == 12
    assert list(doctor.findings()) == []


def test_what_is_skipped_of_a_share_is_open_to_others(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    Slot.objects.filter(batch=batch).update(reserved_for=world.bo)
    Batch.objects.filter(pk=batch.pk).update(strategy="split")
    batch = Batch.objects.get(pk=batch.pk)
    held = world.take(batch, "bo")
    assert held is not None
    assert world.take(batch, "ada") is None
    assignments.skip(assignment=world.reload(held), reason="odd", now=NOON)
    assert world.take(batch, "ada") is not None


def test_a_lease_on_a_place_that_is_kept_for_its_holder_is_never_taken_back(world: World) -> None:
    batch = world.batch(overlap=1, size=1)
    Slot.objects.filter(batch=batch).update(reserved_for=world.bo)
    held = world.take(batch, "bo")
    assert held is not None
    expire(held)
    assert reservations.take_back_expired(batch=batch, now=NOON) == 0
    again = world.take(batch, "bo")
    assert again is not None
    assert again.pk == held.pk


def test_in_a_batch_for_everybody_what_was_given_back_comes_again_at_the_end(world: World) -> None:
    batch = world.batch(overlap=1, size=3)
    Batch.objects.filter(pk=batch.pk).update(strategy="everyone")
    batch = Batch.objects.get(pk=batch.pk)
    _all_of(world, batch, "ada")
    first = world.take(batch, "bo")
    assert first is not None
    assignments.give_back(assignment=world.reload(first), now=NOON)
    assert [item.position for item in _all_of(world, batch, "bo")] == [2, 3, 1]
    assert list(doctor.findings()) == []


def test_a_new_place_is_numbered_behind_the_highest(world: World) -> None:
    batch = world.batch(overlap=3, size=1)
    Slot.objects.filter(batch=batch, number=2).delete()
    Item.objects.filter(batch=batch).update(slots_count=2)
    assert slots.add_slot(Item.objects.get(batch=batch)).number == 4


def _all_of(world: World, batch: Batch, name: str) -> list[Item]:
    """The items that the person gets, each answered, in their order."""
    found = []
    while (assignment := world.take(batch, name)) is not None:
        found.append(assignment.item)
        world.answer(world.reload(assignment), {"label": "extraction"})
    return found


@pytest.mark.django_db
def test_gold_comes_at_its_rate_to_everybody_and_decides_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path, questions=50)
    batch = world.batch(overlap=1, size=40)
    inside = Item.objects.filter(batch=batch).values("example")
    outside = Example.objects.originals().exclude(pk__in=inside)
    for n, one in enumerate(outside[:8]):
        Item.objects.create(batch=batch, example=one, position=41 + n, is_gold=True)
    Batch.objects.filter(pk=batch.pk).update(gold_percent=20, items_count=48)
    batch = Batch.objects.get(pk=batch.pk)
    ada: list[bool] = []
    bo: list[bool] = []
    for _ in range(30):
        for name, had in (("ada", ada), ("bo", bo)):
            if (assignment := world.take(batch, name)) is not None:
                had.append(assignment.item.is_gold)
                world.answer(world.reload(assignment), {"label": "extraction"})
    assert sum(ada[:20]) == 4
    assert sum(bo[:20]) == 4
    assert ada != bo, "each person's turns are drawn for them"
    assert Item.objects.filter(batch=batch, is_gold=False, submitted_count=1).count() == 40
    assert not Item.objects.filter(batch=batch, is_gold=True, due_at__isnull=False).exists()
    assert list(doctor.findings()) == []


@pytest.mark.django_db(transaction=True)
def test_six_people_at_once_bring_every_item_to_its_overlap_exactly(tmp_path: Path) -> None:
    world = make_world(tmp_path, questions=25)
    crew = [Person.objects.create_person(f"Worker {number}") for number in range(6)]
    for person in crew:
        projects.add_member(
            project=world.project, person=person, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
        world.people[f"w{person.pk}"] = person
    batch = world.batch(overlap=3)
    errors: list[BaseException] = []

    def work(person: Person, forgetful: bool) -> None:
        try:
            turn = 0
            while (assignment := world.take(batch, f"w{person.pk}")) is not None:
                turn += 1
                if forgetful and turn % 5 == 0:
                    expire(assignment)
                    reservations.take_back_expired(batch=batch, now=NOON)
                    continue
                world.answer(assignment, {"label": "extraction"})
        except BaseException as error:
            errors.append(error)

    def in_thread(person: Person, forgetful: bool) -> None:
        work(person, forgetful)
        connection.close()

    threads = [threading.Thread(target=in_thread, args=(p, index == 0)) for index, p in enumerate(crew)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    for person in crew:  # who saw nothing left may have gone before the forgetful one gave something back
        work(person, forgetful=False)
    assert errors == []
    counts = (
        Assignment.objects.filter(batch=batch, state=State.SUBMITTED).values("item").annotate(n=Count("pk"))
    )
    assert [row["n"] for row in counts] == [3] * 25
    assert not Slot.objects.filter(batch=batch, is_taken=False).exists()
    assert list(doctor.findings()) == []


@pytest.mark.django_db(transaction=True)
def test_windows_of_one_person_and_a_colleague_who_takes_leases_back_never_wait_in_a_circle(
    tmp_path: Path,
) -> None:
    """Each locks the person's tally before the leases; otherwise a lapsed lease that is opened again deadlocks."""
    world = make_world(tmp_path, questions=40)
    batch = world.batch(overlap=2)
    errors: list[BaseException] = []
    done = threading.Event()

    def come_back() -> None:
        for turn in range(40):
            assignment = world.take(batch, "ada")
            if assignment is None:
                break
            expire(assignment)
            if turn % 4 == 3:
                with suppress(ActionRefused):
                    assignments.skip(assignment=world.reload(assignment), reason="odd", now=NOON)

    def in_another_window() -> None:
        while not done.is_set():
            held = Assignment.objects.filter(batch=batch, person=world.ada, state=State.LEASED).first()
            if held is not None:
                with suppress(ActionRefused):
                    world.answer(world.reload(held), {"label": "extraction"})

    def take_back() -> None:
        while not done.is_set():
            reservations.take_back_expired(batch=batch, now=NOON)

    def in_thread(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    others = [threading.Thread(target=in_thread, args=(work,)) for work in (in_another_window, take_back)]
    for thread in others:
        thread.start()
    in_thread(come_back)
    done.set()
    for thread in others:
        thread.join(60)
    assert errors == []
    assert list(doctor.findings()) == []


@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="it is PostgreSQL that plans by what it has counted"
)
@pytest.mark.django_db
def test_when_a_batch_opens_its_places_are_counted(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        world.batch(overlap=2)
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = 'annotation_slot'::regclass")
        assert cursor.fetchone() == (Slot.objects.count(),)


@pytest.mark.parametrize("terms", [{}, {"strategy": "everyone"}, {"gold_percent": 50}])
def test_whoever_waited_for_a_batch_that_closed_gets_nothing_of_it(
    db: None, tmp_path: Path, terms: dict[str, Any]
) -> None:
    world = make_world(tmp_path, questions=8)
    some = list(Example.objects.originals().order_by("position"))
    batch = world.batch(only=[one.external_id for one in some[:4]], overlap=1, open=False, **terms)
    for one in some[4:] if terms.get("gold_percent") else ():
        mark(world, batch, one, "reasoning")
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    before = Batch.objects.select_related("project").get(
        pk=batch.pk
    )  # what the request read before it waited
    batches.close_batch(batch=batch, by=world.mara, now=NOON)

    for who in ("ada", "bo", "cy"):
        with transaction.atomic():
            assert (
                reservations.take_next(batch=before, person=world.people[who], holding=(), now=NOON) is None
            )
