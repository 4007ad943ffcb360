"""What `explain` says of an item and a person is what the queue does, whatever happened before."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.access import authorization
from annotation.access.roles import Permission, Role
from annotation.models import Assignment, Batch, ConsentText, Exclusion, Item, Membership, Person, Project
from annotation.platform.refusals import ActionRefused
from annotation.queue import allocation, availability, explanations, reservations
from annotation.queue.explanations import Explanation, explain
from annotation.workflow import assignments, automatic_decisions, batches
from tasks.contract import task_type
from tests.annotation.cast import NOON, World
from tests.annotation.test_gold_is_not_told import mixed
from tests.undone import undone

State = Assignment.State
PEOPLE = ("ada", "bo", "cy", "mara")


def walked(world: World, batch: Batch, who: str) -> list[int]:
    """The items that the person gets from the queue one after the other; nothing of it stays."""
    items: list[int] = []
    person = Person.objects.get(pk=world.people[who].pk)
    with undone():
        try:
            authorization.batch(authorization.Actor(person), batch.public_id, Permission.ANNOTATE)
            while person.is_active and (taken := world.take(fresh(batch), who)) is not None:
                items.append(taken.item_id)
                world.answer(taken, {"label": "extraction"})
        except (ActionRefused, Http404):
            pass
    return items


def fresh(batch: Batch) -> Batch:
    return Batch.objects.select_related("project").get(pk=batch.pk)


def explained(world: World, batch: Batch, who: str) -> dict[int, Explanation]:
    person = Person.objects.get(pk=world.people[who].pk)
    items = Item.objects.filter(batch=batch).select_related("batch__project").order_by("position")
    return {item.pk: explain(item, person, now=NOON) for item in items}


def require_same(world: World, batch: Batch, people: tuple[str, ...] = PEOPLE) -> dict[str, set[str]]:
    """Compare every item and person with the queue. Gives the codes of all reasons, by person."""
    codes: dict[str, set[str]] = {}
    for who in people:
        items, explanations_ = walked(world, batch, who), explained(world, batch, who)
        assert {pk: each.ahead for pk, each in explanations_.items() if each.is_served} == {
            pk: at for at, pk in enumerate(items)
        }, who
        assert all(each.ahead is None for each in explanations_.values() if not each.is_served)
        codes[who] = {reason.code for each in explanations_.values() for reason in each.reasons}
    return codes


def take(world: World, batch: Batch, who: str) -> Assignment:
    taken = world.take(fresh(batch), who)
    assert taken is not None
    return taken


def expire(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(leased_until=Now() - timedelta(seconds=1))


# -- a world for each reason ------------------------------------------------------------------------


def nothing(world: World) -> Batch:
    return world.batch(overlap=1)


def in_progress(world: World) -> Batch:
    batch = world.batch(overlap=1)
    first = take(world, batch, "ada")
    world.take(batch, "ada", holding=[first.public_id])
    return batch


def submitted(world: World) -> Batch:
    batch = world.batch(overlap=2)
    world.label(batch, "ada", "extraction")
    return batch


def skipped(world: World) -> Batch:
    batch = world.batch(overlap=2)
    assignments.skip(assignment=take(world, batch, "ada"), reason="unclear", now=NOON)
    return batch


def returned(world: World) -> Batch:
    batch = world.batch(overlap=2)
    assignments.give_back(assignment=take(world, batch, "ada"), now=NOON)
    return batch


def taken_back(world: World) -> Batch:
    batch = world.batch(overlap=2)
    take(world, batch, "ada")
    reservations.take_back_all(batch=batch, reason=reservations.TAKEN_BACK, now=NOON, actor=world.mara)
    return batch


def excluded(world: World) -> Batch:
    batch = world.batch(overlap=2)
    first, second = batch.items.order_by("position")[:2]
    Exclusion.objects.create(item=first, person=world.ada)
    Exclusion.objects.create(item=second, person=world.ada, read_at=NOON)
    return batch


def decided(world: World) -> Batch:
    batch = world.batch(overlap=1)
    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def reserved(world: World) -> Batch:
    return world.batch(strategy="split", overlap=1, size=3)


def expired(world: World) -> Batch:
    batch = world.batch(overlap=1)
    expire(take(world, batch, "ada"))
    return batch


def lost(world: World) -> Batch:
    """Ada's reservation expired, and Bo has her slot."""
    batch = world.batch(overlap=1)
    expire(take(world, batch, "ada"))
    for _ in range(4):
        world.label(batch, "bo", "extraction")
    return batch


def moved(world: World) -> Batch:
    batch = world.batch(strategy="split", overlap=1)
    take(world, batch, "ada")
    allocation.move(batch=batch, person=world.ada, to=[world.bo], leases=True, by=world.mara, now=NOON)
    return batch


def everyone(world: World) -> Batch:
    batch = world.batch(strategy="everyone")
    world.label(batch, "ada", "extraction")
    assignments.give_back(assignment=take(world, batch, "ada"), now=NOON)
    assignments.skip(assignment=take(world, batch, "bo"), reason="unclear", now=NOON)
    return batch


def limited(world: World) -> Batch:
    batch = world.batch(overlap=3, caps={"items": 2})
    world.label(batch, "ada", "extraction")
    world.label(batch, "ada", "extraction")
    take(world, batch, "bo")
    return batch


def limited_by_project(world: World) -> Batch:
    other, batch = world.batch(overlap=2), world.batch(overlap=2)
    world.project.caps = {"items_per_day": 3}
    world.project.save(update_fields=["caps"])
    world.label(other, "ada", "extraction")
    take(world, other, "ada")
    return batch


def closed(world: World) -> Batch:
    batch = world.batch(overlap=1)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    return batch


def paused(world: World) -> Batch:
    batch = in_progress(world)
    Batch.objects.filter(pk=batch.pk).update(paused_at=NOON)
    return batch


def requiring(world: World) -> Batch:
    """A batch with every entry requirement."""
    batch = world.batch(overlap=1)
    test = world.batch(name="Entry test")
    Batch.objects.filter(pk=test.pk).update(purpose="qualification", pass_percent=80)
    Batch.objects.filter(pk=batch.pk).update(must_practise=True, requires=test)
    ConsentText.objects.create(project=world.project, number=1, text="We keep your labels.", made_at=NOON)
    world.project.consent_number, world.project.must_read = 1, True
    world.project.save(update_fields=["consent_number", "must_read"])
    return batch


def qualification(world: World) -> Batch:
    batch = world.batch(overlap=1)
    Batch.objects.filter(pk=batch.pk).update(purpose="qualification", pass_percent=80)
    assignments.give_back(assignment=take(world, batch, "ada"), now=NOON)
    return batch


def inactive(world: World) -> Batch:
    Person.objects.filter(pk=world.ada.pk).update(is_active=False)
    return world.batch(overlap=1)


def left(world: World) -> Batch:
    batch = in_progress(world)
    Membership.objects.filter(person=world.ada).update(removed_at=NOON)
    return batch


def restored(world: World) -> Batch:
    batch = world.batch(overlap=1)
    Project.objects.filter(pk=world.project.pk).update(restoring_at=NOON)
    return batch


WORLDS: list[tuple[Callable[[World], Batch], str, set[str]]] = [
    (nothing, "ada", {"served_next", "served_after"}),
    (in_progress, "ada", {"in_progress", "most_held", "served_next", "served_after"}),
    (in_progress, "bo", {"slots_taken", "served_next", "served_after"}),
    (submitted, "ada", {"already_submitted", "served_next", "served_after"}),
    (skipped, "ada", {"already_skipped", "served_next", "served_after"}),
    (returned, "ada", {"already_returned", "served_next", "served_after"}),
    (taken_back, "ada", {"taken_back", "served_next", "served_after"}),
    (excluded, "ada", {"helped_to_make", "has_read_responses", "served_next", "served_after"}),
    (decided, "bo", {"decided", "served_next", "served_after"}),
    (reserved, "ada", {"reserved", "served_next"}),
    (expired, "bo", {"expired", "served_next", "served_after"}),
    (lost, "ada", {"already_returned", "slots_taken"}),
    (moved, "ada", {"taken_back", "reserved"}),
    (everyone, "ada", {"already_submitted", "comes_again", "served_next", "served_after"}),
    (everyone, "bo", {"already_skipped", "served_next", "served_after"}),
    (limited, "ada", {"already_submitted", "cap_reached"}),
    (limited, "bo", {"in_progress", "served_next", "served_after", "limit_ahead"}),
    (limited_by_project, "ada", {"served_next", "limit_ahead"}),
    (closed, "ada", {"batch_closed"}),
    (paused, "ada", {"in_progress", "served_next", "served_after", "batch_paused"}),
    (requiring, "ada", {"consent_needed", "guidelines_unread", "practice_needed", "not_qualified"}),
    (qualification, "ada", {"comes_again", "served_next", "served_after"}),
    (inactive, "ada", {"no_account"}),
    (left, "ada", {"no_annotator"}),
    (restored, "ada", {"being_restored"}),
    (nothing, "mara", {"no_annotator"}),
]


@pytest.mark.parametrize(("make", "who", "codes"), WORLDS, ids=lambda part: getattr(part, "__name__", None))
def test_a_reason_is_given_exactly_where_the_queue_gives_no_item(
    world: World, make: Callable[[World], Batch], who: str, codes: set[str]
) -> None:
    batch = make(world)

    assert require_same(world, batch, (who,))[who] == codes


def test_a_batch_that_is_not_open_yet_serves_nothing(world: World) -> None:
    assert require_same(world, world.batch(open=False), ("ada",)) == {"ada": {"batch_not_open"}}


def test_a_task_type_that_is_not_installed_serves_nothing(world: World) -> None:
    batch = nothing(world)
    Batch.objects.filter(pk=batch.pk).update(task_type="long_gone")

    codes = {reason.code for each in explained(world, batch, "ada").values() for reason in each.reasons}

    assert codes == {"no_task_type"}


@pytest.mark.parametrize("feedback", [False, True])
@pytest.mark.parametrize("order", ["given", "shuffled"])
def test_gold_comes_at_its_turn(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, feedback: bool
) -> None:
    monkeypatch.setattr(type(task_type("question_type")), "order", order)
    world, batch = mixed(tmp_path, ordinary=5, golds=6, percent=40, gold_feedback=feedback)
    take(world, batch, "bo")

    codes = require_same(world, batch, ("ada", "bo"))

    assert ("own_order" in codes["ada"]) == (order == "shuffled")
    assert codes["ada"] & {"gold_turn", "no_gold_turn"}
    assert "in_progress" in codes["bo"]


def test_gold_is_not_served_where_its_share_is_none(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path, ordinary=2, golds=2)
    Batch.objects.filter(pk=batch.pk).update(gold_percent=0)

    assert require_same(world, batch, ("ada",))["ada"] == {"no_gold_share", "served_next", "served_after"}


@pytest.mark.parametrize("seed", range(6))
def test_whatever_people_did_explanations_are_those_of_the_queue(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(type(task_type("question_type")), "order", rng.choice(["given", "shuffled"]))
    terms: dict[str, Any] = {"strategy": ("open", "split", "everyone")[seed % 3]}
    if terms["strategy"] != "everyone":
        terms["overlap"] = rng.choice([1, 2])
    world, batch = mixed(tmp_path, ordinary=5, golds=2, percent=rng.choice([20, 50]), **terms)
    Batch.objects.filter(pk=batch.pk).update(draw_key=str(seed))
    for _ in range(12):
        who = rng.choice(PEOPLE[:3])
        if (taken := world.take(fresh(batch), who)) is None:
            continue
        action = rng.choice(["answer", "skip", "return", "hold", "expire"])
        if action == "answer":
            world.answer(taken, {"label": rng.choice(["extraction", "reasoning"])})
        elif action == "skip":
            assignments.skip(assignment=taken, reason="unclear", now=NOON)
        elif action == "return":
            assignments.give_back(assignment=taken, now=NOON)
        elif action == "expire":
            expire(taken)

    require_same(world, batch, PEOPLE[:3])


# -- how it is said ---------------------------------------------------------------------------------


def test_every_reason_is_a_sentence_in_english_and_german(world: World) -> None:
    for language in ("en", "de"):
        with translation.override(language):
            sentences = [translation.gettext(message) for message in explanations.REASONS.values()]
            assert all(sentence.endswith(".") for sentence in sentences)
    with translation.override("de"):
        assert all(translation.gettext(text) != text for text in explanations.REASONS.values())


def test_a_limit_ahead_counts_one_item_in_the_singular(world: World) -> None:
    found = list(explained(world, world.batch(overlap=3, caps={"items": 1}), "ada").values())

    assert found[1].reasons[0].message.startswith("After 1 more item: “You have reached the limit")
    assert found[2].reasons[0].message.startswith("After 2 more items: “You have reached the limit")


def test_an_item_behind_an_expired_reservation_is_served_and_counted(world: World, client: Client) -> None:
    batch = world.batch(overlap=1, size=1)
    expire(take(world, batch, "bo"))
    client.force_login(world.ada)

    (explanation,) = explained(world, batch, "ada").values()

    assert explanation.is_served
    assert "A reservation has expired." in explanation.reasons[0].message
    assert availability.left_for(world.ada, [batch.pk]) == {batch.pk: 1}
    assert "nothing left" not in client.get("/").content.decode()
    assert take(world, batch, "ada").item == batch.items.get()


def test_an_item_with_a_free_slot_and_an_expired_reservation_counts_once(world: World) -> None:
    batch = world.batch(overlap=2, size=1)
    expire(take(world, batch, "bo"))

    assert availability.left_for(world.ada, [batch.pk]) == {batch.pk: 1}
    assert availability.left_for(world.bo, [batch.pk]) == {batch.pk: 1}, "their own"


def test_nobody_is_said_to_have_returned_an_item_whose_reservation_expired(world: World) -> None:
    batch = lost(world)

    reasons = explained(world, batch, "ada")[batch.items.order_by("position")[0].pk].reasons

    assert [reason.code for reason in reasons] == ["already_returned", "slots_taken"]
    assert "or the reservation ended. While a slot is free" in reasons[0].message


def test_reasons_come_in_the_order_in_which_they_apply(world: World) -> None:
    batch = submitted(world)
    batch = requiring_of(world, batch)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    Membership.objects.filter(person=world.ada).update(removed_at=NOON)

    reasons = explained(world, batch, "ada")[batch.items.order_by("position")[0].pk].reasons

    assert [reason.code for reason in reasons] == [
        *("no_annotator", "batch_closed", "consent_needed", "already_submitted"),
    ]


def requiring_of(world: World, batch: Batch) -> Batch:
    ConsentText.objects.create(project=world.project, number=1, text="We keep your labels.", made_at=NOON)
    world.project.consent_number = 1
    world.project.save(update_fields=["consent_number"])
    return fresh(batch)


def test_items_far_ahead_are_not_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanations, "MOST_AHEAD", 2)
    batch = nothing(world)

    last = explained(world, batch, "ada")[batch.items.order_by("-position")[0].pk]

    assert last.is_served
    assert last.ahead is None
    assert last.reasons[-1].message.startswith("The annotator gets this item after 2+ other items")


def test_slots_that_are_not_read_are_not_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanations, "MOST_SLOTS", 3)
    monkeypatch.setattr(explanations, "WINDOW", 2)
    batch = world.batch(overlap=1)

    found = explained(world, batch, "ada").values()

    assert [(each.is_served, each.ahead) for each in found] == [
        (True, 0),
        (True, 1),
        (True, None),
        (True, None),
    ]
    assert list(found)[-1].reasons[-1].message.startswith("The annotator gets this item after 2+ other items")


def test_an_explanation_changes_nothing_and_takes_few_statements(
    world: World, django_assert_max_num_queries: Any
) -> None:
    batch = nothing(world)
    item = Item.objects.filter(batch=batch).select_related("batch__project").order_by("-position")[0]
    with django_assert_max_num_queries(14) as seen:
        explain(item, world.ada, now=NOON)
    assert all(query["sql"].startswith("SELECT") for query in seen.captured_queries)


# -- where it is read -------------------------------------------------------------------------------


def last_item(batch: Batch) -> Item:
    return batch.items.order_by("-position")[0]


def pseudonym(person: Person) -> str:
    return Membership.objects.get(person=person).pseudonym


def give_roles(person: Person, *roles: Role) -> None:
    Membership.objects.filter(person=person).update(roles=[role.value for role in roles])


def printed(*args: str) -> str:
    out = StringIO()
    call_command("explain", *args, stdout=out)
    return out.getvalue()


def test_the_command_prints_the_reasons_for_an_item_or_its_example(world: World) -> None:
    batch = submitted(world)
    first = batch.items.select_related("example").order_by("position")[0]
    expected = (
        "Not served.\nalready_submitted: The annotator has already submitted a response to this item.\n"
    )

    assert printed(batch.public_id, first.public_id, "ada@example.org") == expected
    assert printed(batch.public_id, first.example.external_id, "ada@example.org") == expected
    assert printed(batch.public_id, first.public_id, "bo@example.org").startswith("Served.\nserved_next: ")


@pytest.mark.parametrize("part", [0, 1, 2])
def test_the_command_names_what_is_not_there(world: World, part: int) -> None:
    batch = nothing(world)
    args = [batch.public_id, last_item(batch).public_id, "ada@example.org"]
    args[part] = "nowhere"
    with pytest.raises(CommandError, match=r"There is no .*nowhere"):
        printed(*args)


def test_the_page_of_an_item_explains_to_a_manager(world: World, client: Client) -> None:
    batch = submitted(world)
    first = batch.items.order_by("position")[0]
    address = reverse("item_story", args=[first.public_id])
    client.force_login(world.mara)

    asked = client.get(address).content.decode()
    answer = client.get(address, {"person": pseudonym(world.ada)}).content.decode()
    unknown = client.get(address, {"person": "nobody"})

    assert "Is this item served to an annotator?" in asked
    assert f'<option value="{pseudonym(world.ada)}">Ada</option>' in asked
    assert "Rea</option>" not in asked, "only annotators can be chosen"
    assert "The item is not served." in answer
    assert "The annotator has already submitted a response to this item." in answer
    assert unknown.status_code == 200
    assert "The item is" not in unknown.content.decode()


@pytest.mark.parametrize(
    ("who", "roles"),
    [
        ("rea", [Role.RESEARCHER]),
        ("ivo", [Role.ADJUDICATOR]),
        ("mara", [Role.MANAGER, Role.ANNOTATOR]),
        ("mara", [Role.MANAGER, Role.ADJUDICATOR]),
    ],
)
def test_nobody_learns_of_others_work_by_an_explanation(
    world: World, client: Client, who: str, roles: list[Role]
) -> None:
    batch = submitted(world)
    first = batch.items.order_by("position")[0]
    give_roles(world.people[who], *roles)
    client.force_login(world.people[who])
    sent = {"person": pseudonym(world.ada)}

    page = client.get(reverse("item_story", args=[first.public_id]), sent)
    reply = client.get(reverse("api_explain", args=[first.public_id]), {"annotator": pseudonym(world.ada)})

    assert b"Is this item served" not in page.content
    assert b"already submitted" not in page.content
    if Role.MANAGER in roles:
        assert (reply.status_code, reply.json()["code"]) == (409, "still_involved")
    else:
        assert reply.status_code == 404


def test_the_interface_explains_to_a_manager(world: World, client: Client) -> None:
    batch = submitted(world)
    address = reverse("api_explain", args=[last_item(batch).public_id])
    client.force_login(world.mara)

    reply = client.get(address, {"annotator": pseudonym(world.bo)})

    assert reply.json() == {
        "is_served": True,
        "ahead": 3,
        "reasons": [
            {
                "code": "served_after",
                "message": "The annotator gets this item after 3 other items, if its slot stays free.",
            }
        ],
    }
    assert client.get(address).json()["code"] == "invalid_request"
