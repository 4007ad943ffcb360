"""Nothing that an annotator sees tells gold from what is ordinary: undo, what is left, leases that ran out, counts."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.access.roles import Role
from annotation.models import Assignment, Batch, Person, Slot
from annotation.platform.refusals import ActionRefused
from annotation.queue import allocation, availability, draws, withdrawal
from annotation.workflow import assignments, automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_gold import examples, mark

SOON = NOON + timedelta(seconds=30)
LATER = NOON + timedelta(minutes=5)


def mixed(
    folder: Path, *, ordinary: int = 16, golds: int = 8, percent: int = 25, **more: Any
) -> tuple[World, Batch]:
    """A batch with gold, one person an item unless `more` says otherwise."""
    world = make_world(folder, questions=ordinary + golds)
    some = examples(world)
    wanted: dict[str, Any] = {"overlap": 1, **more}
    batch = world.batch(
        only=[one.external_id for one in some[:ordinary]], gold_percent=percent, open=False, **wanted
    )
    for one in some[ordinary:]:
        mark(world, batch, one, "reasoning")
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    batch.refresh_from_db()
    return world, batch


def undone(assignment: Assignment, now: datetime) -> str:
    """What undo says: "" where it withdraws, else code and words."""
    fresh = Assignment.objects.select_related("annotation").get(pk=assignment.pk)
    assert fresh.annotation is not None
    try:
        assignments.undo(annotation=fresh.annotation, now=now)
    except ActionRefused as refused:
        return f"{refused.code}: {refused.detail}"
    return ""


def one_of_each(world: World, batch: Batch, who: str = "ada", most: int = 12) -> dict[bool, Assignment]:
    """A submitted gold item (True) and an ordinary one (False)."""
    found: dict[bool, Assignment] = {}
    for _ in range(most):
        taken = world.take(batch, who)
        assert taken is not None
        world.answer(taken, {"label": "reasoning"})
        found.setdefault(taken.item.is_gold, taken)
        if len(found) == 2:
            return found
    raise AssertionError("no gold turn came")


# -- undo -------------------------------------------------------------------------------------------


def test_both_can_be_taken_back_within_the_minute(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path)
    pair = one_of_each(world, batch)
    automatic_decisions.resolve_due(now=SOON)

    assert {undone(one, SOON) for one in pair.values()} == {""}


def test_after_the_minute_both_are_refused_in_the_same_words(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path)
    pair = one_of_each(world, batch)
    automatic_decisions.resolve_due(now=LATER)

    said = {undone(one, LATER) for one in pair.values()}

    assert len(said) == 1
    assert said.pop().startswith("decided: ")


def test_while_an_item_waits_for_a_second_person_both_can_be_taken_back(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path, overlap=2)
    pair = one_of_each(world, batch)
    automatic_decisions.resolve_due(now=LATER)

    assert {undone(one, LATER) for one in pair.values()} == {""}


def test_when_all_ordinary_items_are_decided_no_gold_stays_behind_to_be_taken_back(
    db: None, tmp_path: Path
) -> None:
    world, batch = mixed(tmp_path, overlap=2)
    for who in ("ada", "bo"):
        while (taken := world.take(batch, who)) is not None:
            if (
                who == "bo" and taken.item.is_gold
            ):  # so that gold comes to fewer people than ordinary items do
                assignments.skip(assignment=taken, reason="odd", now=NOON)
            else:
                world.answer(taken, {"label": "reasoning"})
    automatic_decisions.resolve_due(now=LATER)

    hers = list(Assignment.objects.filter(batch=batch, person=world.ada).select_related("batch", "item"))
    assert any(one.item.is_gold for one in hers)
    assert withdrawal.withdrawable(hers, now=LATER) == set()


def test_whoever_submits_gold_that_is_complete_already_has_the_minute_too(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path, golds=1)
    one_of_each(world, batch)  # Ada's; the only gold item is complete with it
    his = one_of_each(world, batch, "bo")[True]

    Assignment.objects.filter(pk=his.pk).update(ended_at=LATER)

    assert undone(his, LATER + timedelta(seconds=30)) == ""


def test_in_a_closed_batch_both_are_refused_in_the_same_words(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path)
    pair = one_of_each(world, batch)
    batches.close_batch(batch=batch, by=world.mara, now=SOON)
    automatic_decisions.resolve_due(now=LATER)

    assert len({undone(one, LATER) for one in pair.values()}) == 1


def test_where_the_close_decides_gold_stays_open_until_then(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path)
    Batch.objects.filter(pk=batch.pk).update(decide_at_close=True)
    gold_item = one_of_each(world, batch)[True]

    assert undone(gold_item, LATER) == ""


def test_a_page_asks_once_which_submissions_may_be_withdrawn(
    db: None, tmp_path: Path, django_assert_num_queries: Any
) -> None:
    world, batch = mixed(tmp_path)
    pair = one_of_each(world, batch)
    found = list(Assignment.objects.filter(pk__in=[one.pk for one in pair.values()]).select_related("batch"))
    automatic_decisions.resolve_due(now=LATER)

    with django_assert_num_queries(1):
        assert withdrawal.withdrawable(found, now=SOON) == {pair[True].pk}  # the other is decided by now
    with django_assert_num_queries(1):
        assert withdrawal.withdrawable(found, now=LATER) == set()


# -- what is left -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("ordinary", "golds", "percent"), [(16, 8, 25), (20, 2, 50), (9, 9, 50)])
def test_the_number_that_is_left_falls_by_one_with_each_item_whatever_it_is(
    db: None, tmp_path: Path, ordinary: int, golds: int, percent: int
) -> None:
    world, batch = mixed(tmp_path, ordinary=ordinary, golds=golds, percent=percent)
    ada, left, kinds = world.ada, [], set()

    def now() -> int:
        return availability.left_for(ada, [batch.pk])[batch.pk]

    before = now()
    while taken := world.take(batch, "ada"):
        assert now() == before, "taking an item changed the number"
        kinds.add(taken.item.is_gold)
        world.answer(taken, {"label": "reasoning"})
        left.append(now())
        assert left[-1] == before - 1
        before = left[-1]

    assert before == 0
    assert kinds == {True, False}


# -- leases that ran out ----------------------------------------------------------------------------


def held_by(world: World, batch: Batch, who: str, *, gold: bool) -> Assignment:
    """An item of the wished sort on somebody's desk; what comes before it is submitted."""
    while taken := world.take(batch, who):
        if taken.item.is_gold == gold:
            return taken
        world.answer(taken, {"label": "reasoning"})
    raise AssertionError("nothing of the sort came")


def run_out(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(leased_until=NOON - timedelta(days=1))


def rest_is_done_by(world: World, batch: Batch, who: str) -> None:
    while taken := world.take(batch, who):
        world.answer(taken, {"label": "reasoning"})


def what_comes_too_late_hears(world: World, assignment: Assignment) -> list[Any]:
    """What ping, the way back from My work, and a late submission say."""
    late = world.reload(assignment)
    said: list[Any] = [late.state, assignments.ping(assignment=late, now=LATER)]
    for act in (
        lambda: assignments.resume(assignment=late, now=LATER),
        lambda: world.answer(late, {"label": "reasoning"}, now=LATER),
    ):
        try:
            act()
            said.append("")
        except ActionRefused as refused:
            said.append((refused.code, refused.detail))
    return said


def another(world: World, batch: Batch) -> Batch:
    """One more batch like it, in the same project."""
    some = examples(world)
    ordinary = batch.items.filter(is_gold=False).count()
    more = world.batch(
        only=[one.external_id for one in some[:ordinary]], gold_percent=25, open=False, overlap=1, seed=1
    )
    for one in some[ordinary:]:
        mark(world, more, one, "reasoning")
    batches.open_batch(batch=more, by=world.mara, now=NOON)
    more.refresh_from_db()
    return more


def test_a_lease_that_ran_out_ends_in_the_same_way_whatever_the_item_is(db: None, tmp_path: Path) -> None:
    world, first = mixed(tmp_path)
    said = []
    for gold, batch in ((True, first), (False, another(world, first))):
        mine = held_by(world, batch, "ada", gold=gold)
        run_out(mine)
        rest_is_done_by(world, batch, "bo")
        said.append(what_comes_too_late_hears(world, mine))

    assert said[0] == said[1]
    assert said[0][:2] == ["returned", False]
    assert [code for code, _ in said[0][2:]] == ["place_taken", "place_taken"]


def test_what_was_given_back_can_be_had_again_while_there_is_work_left_whatever_it_is(
    db: None, tmp_path: Path
) -> None:
    world, first = mixed(tmp_path)
    for gold, batch in ((True, first), (False, another(world, first))):
        mine = held_by(world, batch, "ada", gold=gold)
        assignments.give_back(assignment=mine, now=NOON)

        assert what_comes_too_late_hears(world, mine)[2:] == ["", ""]


def test_gold_that_ran_out_goes_to_nobody_outside_their_turns(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path, golds=1)
    mine = held_by(world, batch, "ada", gold=True)
    run_out(mine)
    rest_is_done_by(world, batch, "bo")

    his = Assignment.objects.filter(person=world.bo, item__is_gold=True).first()

    assert his is None or his.slot.reserved_for_id == world.bo.pk
    assert Slot.objects.get(pk=mine.slot_id).reserved_for_id == world.ada.pk


def test_gold_that_a_manager_takes_off_a_desk_goes_to_nobody(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path)
    mine = held_by(world, batch, "ada", gold=True)

    allocation.move(batch=batch, person=world.ada, leases=True, by=world.mara, now=NOON)

    assert Slot.objects.get(pk=mine.slot_id).reserved_for_id == world.ada.pk
    turns: list[tuple[bool, bool]] = []
    while taken := world.take(batch, "bo"):
        turn = len(turns)
        turns.append((taken.item.is_gold, turn in draws.GoldTurns(batch, world.bo.pk)))
        world.answer(taken, {"label": "reasoning"})
    assert all(got == expected for got, expected in turns)


def test_gold_that_a_manager_gives_to_somebody_else_goes_to_nobody(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path)
    mine = held_by(world, batch, "ada", gold=True)

    done = allocation.take_back(batch=batch, leases=[mine], to=world.bo, by=world.mara, now=NOON)

    assert done.returned == 1
    assert Slot.objects.get(pk=mine.slot_id).reserved_for_id == world.ada.pk
    assert allocation.reserved_counts([batch]) == {}


# -- counts -----------------------------------------------------------------------------------------


def counts_seen_by(world: World, batch: Batch, person: Person) -> list[str]:
    """What the pages of batch, dashboard and project say to somebody."""
    client = Client()
    client.force_login(person)
    project = f"/projects/{world.project.slug}/"
    pages = (f"/batches/{batch.public_id}/", f"{project}dashboard/", project)
    mains = [client.get(page).content.decode().split("<main")[1] for page in pages]
    return [" ".join(re.sub(r"<[^>]*>", " ", main).split()) for main in mains]


def test_whoever_annotates_and_sees_progress_learns_nothing_from_counts(db: None, tmp_path: Path) -> None:
    world, batch = mixed(tmp_path)
    projects.add_member(project=world.project, person=world.ada, roles=[Role.VIEWER], by=world.mara, now=NOON)
    assert "of 16" in counts_seen_by(world, batch, world.mara)[0]  # whoever does not annotate sees them
    shown = {tuple(counts_seen_by(world, batch, world.ada)[:2])}
    for gold in (False, True):
        taken = held_by(world, batch, "ada", gold=gold)
        shown.add(tuple(counts_seen_by(world, batch, world.ada)[:2]))
        world.answer(taken, {"label": "reasoning"})
        shown.add(tuple(counts_seen_by(world, batch, world.ada)[:2]))

    assert len(shown) == 1
    assert "Its counts are visible to you after it closes." in shown.pop()[0]
    assert "visible to you after it closes" in counts_seen_by(world, batch, world.ada)[2]


def test_a_batch_without_gold_hides_its_counts_from_whoever_annotates_in_it(world: World) -> None:
    """They tell whether the others agreed with them."""
    batch = world.batch()
    projects.add_member(project=world.project, person=world.ada, roles=[Role.VIEWER], by=world.mara, now=NOON)

    assert f"of {batch.slots_count}" not in counts_seen_by(world, batch, world.ada)[0]
    assert f"of {batch.slots_count}" in counts_seen_by(world, batch, world.rea)[0]
    client = Client()
    for person, is_hidden in ((world.ada, True), (world.rea, False)):
        client.force_login(person)
        page = client.get(reverse("agreement", args=["films"])).content.decode()
        assert (f"You annotate in {batch.name}: its agreement is visible" in page) == is_hidden
        assert ("You annotate in" in page) == is_hidden


def what_a_manager_reads(client: Client, batch: Batch) -> str:
    """Everything that pages and interface say with counts to somebody who manages: before changes, of shares, accounts."""
    project, here = "/projects/films/", f"/batches/{batch.public_id}"
    person = str(batch.project.memberships.get(person__name="Bo").person_id)
    study = client.get(f"{project}study/?download").content.decode()
    answers = [
        client.get(f"{here}/close/"),
        client.get(f"{here}/settings/"),
        client.post(f"{here}/settings/", {"section": "general", "name": batch.name, "overlap": 2}),
        client.post(f"{here}/settings/", {"section": "limits", "pay_currency": "EUR", "pay_per_item": 1}),
        client.post(f"{project}batches/act/", {"action": "close", "batches": [batch.public_id]}),
        client.get(f"{here}/people/"),
        client.post(
            f"{here}/people/", {"people": [person], "action": "take_back", "most": 1, "to": "anybody"}
        ),
        client.get(f"{project}people/"),
        client.get(f"{project}accounting/"),
        client.post(f"{project}study/", {"text": study, "act": "plan"}),
        client.get(f"{project}study/?missing"),
        client.get(f"/api/batches/{batch.public_id}/accounts/"),
        client.post(
            f"/api/batches/{batch.public_id}/change/",
            {"terms": {"overlap": 2}},
            content_type="application/json",
        ),
    ]
    assert [answer.status_code for answer in answers if answer.status_code not in (200, 409)] == []
    said = "\n".join(answer.content.decode().split("<main")[-1] for answer in answers)
    # What somebody earns grows with every item, gold or not.
    said = re.sub(r'<section id="pay".*?(?=<section class="figure|</section>)', "", said, flags=re.DOTALL)
    said = re.sub(r'<td class="n earned">.*?</td>', "", said, flags=re.DOTALL)
    return re.sub(r'csrfmiddlewaretoken" value="[^"]*"', "", re.sub(r"\s+", " ", said))


def test_a_manager_who_annotates_learns_nothing_from_what_is_said_before_changes_and_in_accounts(
    db: None, tmp_path: Path
) -> None:
    world, batch = mixed(tmp_path, ordinary=16, golds=8)
    projects.add_member(
        project=world.project, person=world.ada, roles=[Role.MANAGER], by=world.mara, now=NOON
    )
    hers, maras = Client(), Client()
    hers.force_login(world.ada)
    maras.force_login(world.mara)
    shown, counted = {what_a_manager_reads(hers, batch)}, {what_a_manager_reads(maras, batch)}
    for gold in (False, True):
        taken = held_by(world, batch, "ada", gold=gold)
        shown.add(what_a_manager_reads(hers, batch))
        world.answer(taken, {"label": "reasoning"})
        shown.add(what_a_manager_reads(hers, batch))
        counted.add(what_a_manager_reads(maras, batch))

    assert len(counted) > 1, "whoever does not annotate sees what is done"
    assert len(shown) == 1
    assert shown.pop().count("ounts are visible to you") >= 8
