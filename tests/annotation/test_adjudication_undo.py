"""Reasons, optional notes, and undoing a decision as long as nothing rests on it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.management import doctor
from annotation.models import (
    Adjudication,
    Assignment,
    Batch,
    Decision,
    Draft,
    Event,
    Example,
    Item,
    Outcome,
    Person,
    RevisionRequest,
    Slot,
)
from annotation.models.batch_options import SECTIONS
from annotation.models.batch_options.adjudication import STANDARD_REASONS
from annotation.platform.refusals import ActionRefused
from annotation.queue import candidates, reservations, resolutions
from annotation.releases import creation, verification
from annotation.web.forms.batch_settings import ChangeForm
from annotation.workflow import adjudication, assignments, automatic_decisions, batch_settings, batches
from annotation.workflow.adjudication import LastAct
from tableqa import Example as PlainExample
from tableqa import Table
from tests.annotation.cast import NOON, World, make_world

pytestmark = pytest.mark.both

LATER = NOON + timedelta(hours=1)
TABLE = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])


def labelled(world: World, items: int = 1, **more: Any) -> Batch:
    """Items of question types on which three people differ, waiting for an adjudicator."""
    batch = world.batch(size=items, overlap=3, **more)
    for _ in range(items):
        for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
            world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def edited(world: World, **check: Any) -> tuple[Batch, Batch]:
    """One item whose table two people changed in different ways, waiting for an adjudicator, and a batch of its checks."""
    world.import_written(PlainExample(id="w-1", question="When was Heat?", table=TABLE, answers=("1995",)))
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        overlap=3,
        sources=[world.project.sources.get(name="written")],
    )
    checks = world.batch("answer_check", feeds_from=batch, sources=[], **check)
    for who, new in (("ada", "1996"), ("bo", "1997"), ("cy", "")):
        assignment = world.take(batch, who)
        assert assignment is not None
        operation = {"op": "set_cell", "row": "r0", "column": "c1", "old": "1995", "new": new}
        edit = {"unanswerable": False, "operations": [operation], "answers": [new]}
        world.answer(assignment, edit if new else {"unanswerable": True})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch, checks


def decide(world: World, item: Item, letter: str = "A", now: datetime = LATER, **more: Any) -> Decision:
    return adjudication.decide(item=item, by=world.ivo, choose=[letter], now=now, **more)


def release(world: World, batch: Batch, folder: Path) -> Path:
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    out = folder / "release"
    creation.make_release(project=world.project, name="1.0", format="askew", by=world.rea, now=LATER, out=out)
    return out


def refused(action: Any) -> ActionRefused:
    with pytest.raises(ActionRefused) as raised:
        action()
    return raised.value


def state(batch: Batch) -> dict[str, Any]:
    """What an undo has to bring back, except for keys and the log."""
    batch.refresh_from_db()
    return {
        "waiting": [
            (item.pk, item.adjudication.reason, item.adjudication.weight, item.adjudication.asked_at)
            for item in resolutions.waiting(batch)
        ],
        "counts": (batch.accepted_count, batch.excluded_count, batch.items_count, batch.slots_count),
        "rows": [model.objects.count() for model in (Decision, Outcome, Example, Item, Slot)],
    }


# -- reasons and notes --------------------------------------------------------------------------------


def test_a_decision_needs_no_note_and_keeps_a_listed_reason_apart(world: World) -> None:
    first, second = resolutions.waiting(labelled(world, items=2))

    assert (decide(world, first).note, decide(world, second, listed_reason=STANDARD_REASONS[1]).note) == (
        "",
        "",
    )

    assert Decision.objects.get(item=first).listed_reason is None
    assert Decision.objects.get(item=second).listed_reason == "Closest to the guidelines"


def test_a_reason_that_the_batch_does_not_list_is_refused_with_those_it_lists(world: World) -> None:
    batch = labelled(world, adjudication_reasons=["Guideline 3", "Guideline 4"])
    item = resolutions.waiting(batch).get()

    error = refused(lambda: decide(world, item, listed_reason=STANDARD_REASONS[0]))

    assert error.detail.endswith("is not a reason of this batch. Available: Guideline 3; Guideline 4.")
    assert decide(world, item, listed_reason="Guideline 4").listed_reason == "Guideline 4"


def test_a_batch_that_requires_a_note_refuses_a_decision_without_one_and_an_exclusion_explains_itself(
    world: World,
) -> None:
    first, second = resolutions.waiting(labelled(world, items=2, note_required=True))

    error = refused(lambda: decide(world, first, listed_reason=STANDARD_REASONS[0]))
    assert error.detail == "This batch requires a note. Write why you decide this way."

    assert decide(world, first, note="By rule 3.").note == "By rule 3."
    adjudication.decide(item=second, by=world.ivo, exclude="Damaged.", now=LATER)
    assert Decision.objects.get(item=second).reason == "Damaged."


def test_both_terms_change_while_people_work_and_what_is_decided_stays(world: World) -> None:
    batch = world.batch()
    wanted = {"adjudication_reasons": ["  By   rule 3 ", "", "By rule 3", "Typo"], "note_required": True}

    batch_settings.change(batch=batch, changes=wanted, by=world.mara, now=LATER)

    batch.refresh_from_db()
    assert (batch.adjudication_reasons, batch.note_required) == (["By rule 3", "Typo"], True)


def test_in_a_closed_batch_only_what_adjudicators_need_changes(world: World) -> None:
    batch = world.batch()
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    form = ChangeForm(batch=batch, sections=SECTIONS)

    assert list(form.terms) == ["adjudication_reasons", "note_required"]
    batch_settings.change(batch=batch, changes={"note_required": True}, by=world.mara, now=LATER)
    both = {"note_required": False, "gold_feedback": True}
    error = refused(lambda: batch_settings.change(batch=batch, changes=both, by=world.mara, now=LATER))

    assert error.code == "batch_closed"
    batch.refresh_from_db()
    assert (batch.note_required, batch.gold_feedback) == (True, False)


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (["x"] * 3 + [str(number) for number in range(9)], "List at most 9 reasons"),
        (["x" * 121], "is too long. Use at most 120 characters."),
        ("one", "must be a list of texts"),
        ([3], "must be a list of texts"),
    ],
)
def test_a_list_of_reasons_that_no_key_could_choose_is_refused(
    world: World, reasons: Any, words: str
) -> None:
    batch = world.batch()
    wanted = {"adjudication_reasons": reasons}
    error = refused(lambda: batch_settings.change(batch=batch, changes=wanted, by=world.mara, now=LATER))
    assert words in error.detail


def test_a_release_has_decisions_with_a_listed_reason_with_a_note_and_with_neither_and_verifies(
    world: World, tmp_path: Path
) -> None:
    batch = labelled(world, items=3)
    plain, listed, noted = resolutions.waiting(batch)
    decide(world, plain)
    decide(world, listed, listed_reason=STANDARD_REASONS[2])
    decide(world, noted, note="By rule 3.")

    folder = release(world, batch, tmp_path)

    (path,) = folder.rglob("decisions.jsonl")
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {record["item"]: (record.get("listed_reason"), record["note"]) for record in records} == {
        plain.public_id: (None, ""),
        listed.public_id: ("Clearest of several correct responses", ""),
        noted.public_id: (None, "By rule 3."),
    }
    verification.verify(folder)


# -- undo ---------------------------------------------------------------------------------------------


def test_undo_brings_a_label_item_back_to_its_place_in_the_queue(world: World) -> None:
    batch = labelled(world, items=3)
    before = state(batch)
    item = resolutions.waiting(batch)[1]
    decide(world, item)

    adjudication.undo(item=item, by=world.ivo, now=LATER)

    assert state(batch) == before
    assert list(doctor.findings()) == []
    undone = Event.objects.latest("pk")
    assert (undone.before, undone.after, undone.actor) == ("accepted", "adjudication", world.ivo)
    assert undone.detail["undone"]["outcomes"][0]["response"]["data"]["label"]
    decide(world, item, "B")
    assert Decision.objects.get(item=item).outcomes.count() == 1


def test_undo_takes_along_the_example_and_the_items_that_followed(world: World) -> None:
    batch, check = edited(world, overlap=2)
    before, item = state(batch), resolutions.waiting(batch).get()
    letter = next(one.letter for one in candidates.of_item(item) if one.response.operations)
    decide(world, item, letter)
    check.refresh_from_db()
    assert (check.items_count, check.slots_count) == (1, 2)

    adjudication.undo(item=item, by=world.ivo, now=LATER)

    check.refresh_from_db()
    assert (check.items_count, check.slots_count) == (0, 0)
    assert state(batch) == before
    assert list(doctor.findings()) == []


def test_undo_of_an_exclusion_counts_it_out(world: World) -> None:
    batch = labelled(world)
    before, item = state(batch), resolutions.waiting(batch).get()
    adjudication.decide(item=item, by=world.ivo, exclude="Damaged.", now=LATER)

    adjudication.undo(item=item, by=world.ivo, now=LATER)

    assert state(batch) == before


def test_undo_is_refused_once_somebody_has_an_item_that_followed(world: World) -> None:
    batch, check = edited(world, overlap=1)
    item = resolutions.waiting(batch).get()
    letter = next(one.letter for one in candidates.of_item(item) if one.response.operations)
    decision = decide(world, item, letter)
    makers = {annotation.assignment.person for annotation in decision.outcomes.get().annotations.all()}
    free = next(name for name in ("ada", "bo", "cy") if world.people[name] not in makers)
    assert world.take(check, free) is not None

    error = refused(lambda: adjudication.undo(item=item, by=world.ivo, now=LATER))

    assert (error.code, "has begun" in error.detail) == ("decided", True)
    assert Decision.objects.filter(item=item).exists()


def test_undo_is_refused_for_a_released_decision(world: World, tmp_path: Path) -> None:
    batch = labelled(world)
    item = resolutions.waiting(batch).get()
    decide(world, item)
    release(world, batch, tmp_path)

    error = refused(lambda: adjudication.undo(item=item, by=world.ivo, now=LATER))

    assert (error.code, "released" in error.detail) == ("decided", True)


def test_only_the_person_who_decided_undoes_and_only_once(world: World) -> None:
    item = resolutions.waiting(labelled(world)).get()
    nothing = refused(lambda: adjudication.undo(item=item, by=world.ivo, now=LATER))
    decide(world, item)
    other = refused(lambda: adjudication.undo(item=item, by=world.rea, now=LATER))
    adjudication.undo(item=item, by=world.ivo, now=LATER)
    again = refused(lambda: adjudication.undo(item=item, by=world.ivo, now=LATER))

    assert {error.code for error in (nothing, other, again)} == {"invalid_request"}
    assert Adjudication.objects.filter(item=item).count() == 1


def test_a_sitting_ends_with_a_break_of_more_than_half_an_hour(world: World) -> None:
    batch = labelled(world, items=3)
    items = list(resolutions.waiting(batch))
    for item, minutes in zip(items, (0, 31, 60), strict=True):
        decide(world, item, now=LATER + timedelta(minutes=minutes))

    newest = [items[2].public_id, items[1].public_id]
    assert adjudication.sitting(batch.project, world.ivo, LATER + timedelta(minutes=61)) == newest
    assert adjudication.sitting(batch.project, world.ivo, LATER + timedelta(minutes=91)) == []
    assert adjudication.sitting(batch.project, world.rea, LATER + timedelta(minutes=61)) == []


def test_the_last_act_is_the_later_of_a_decision_and_sending_back_within_a_sitting(world: World) -> None:
    batch = labelled(world, items=3)
    first, second, third = resolutions.waiting(batch)
    decide(world, first)
    after = LATER + timedelta(minutes=1)
    assert last_act(batch, world.ivo, after).item == first.public_id

    adjudication.send_back(item=second, by=world.ivo, choose="A", note="Look again.", now=after)
    assert last_act(batch, world.ivo, after).item == second.public_id
    assert last_act(batch, world.rea, after) == LastAct()
    assert last_act(batch, world.ivo, after + timedelta(minutes=31)) == LastAct()

    decide(world, third, now=after + timedelta(minutes=1))
    assert last_act(batch, world.ivo, after + timedelta(minutes=2)).item == third.public_id


def last_act(batch: Batch, person: Person, now: datetime) -> LastAct:
    return adjudication.last_act(
        batch.project, person, now, next(iter(adjudication.sitting(batch.project, person, now)), "")
    )


def test_sending_back_is_undone_as_if_it_had_never_been(world: World) -> None:
    batch = labelled(world)
    item = resolutions.waiting(batch).get()
    reason, asked_at = item.adjudication.reason, item.adjudication.asked_at
    words = [candidate.words for candidate in candidates.of_item(item)]
    adjudication.send_back(item=item, by=world.ivo, choose="B", note="Look again.", now=LATER)
    assert not resolutions.waiting(batch).exists()

    (sent,) = adjudication.undo_send_back(item=item, by=world.ivo, now=LATER + timedelta(minutes=1))

    assert sent.note == "Look again."
    (waiting,) = resolutions.waiting(batch)
    assert (waiting.adjudication.reason, waiting.adjudication.asked_at) == (reason, asked_at)
    assert [candidate.words for candidate in candidates.of_item(waiting)] == words
    assert not RevisionRequest.objects.exists()
    assert waiting.submitted_count == 3
    assert not Assignment.objects.filter(state=Assignment.State.LEASED).exists()
    assert decide(world, waiting, "B").kind == Decision.Kind.ACCEPTED
    assert doctor.findings() == []


def test_sending_back_cannot_be_undone_once_the_author_has_written(world: World) -> None:
    batch = labelled(world, items=2)
    first, second = resolutions.waiting(batch)
    decide(world, first)
    sent = adjudication.send_back(
        item=second, by=world.ivo, choose="B", note="Look again.", now=LATER + timedelta(minutes=1)
    )
    now = LATER + timedelta(minutes=2)
    assignments.save_draft(
        assignment=world.reload(sent.assignment),
        response={"data": {"label": "neither"}},
        revision=Draft.objects.get(assignment=sent.assignment).revision,
        now=now,
    )

    error = refused(lambda: adjudication.undo_send_back(item=second, by=world.ivo, now=now))

    assert error.code == "decided"
    assert RevisionRequest.objects.count() == 1
    assert last_act(batch, world.ivo, now) == LastAct(first.public_id, is_passed_over=True)


def test_sending_back_cannot_be_undone_once_the_author_has_submitted_again(world: World) -> None:
    batch = labelled(world)
    item = resolutions.waiting(batch).get()
    sent = adjudication.send_back(item=item, by=world.ivo, choose="B", note="Look again.", now=LATER)
    now = LATER + timedelta(minutes=2)
    world.answer(world.reload(sent.assignment), {"label": "extraction"}, now=now)

    error = refused(lambda: adjudication.undo_send_back(item=item, by=world.ivo, now=now))

    assert (error.code, "already worked" in error.detail) == ("decided", True)
    assert last_act(batch, world.ivo, now) == LastAct(is_passed_over=True)


def test_only_who_sent_back_undoes_it_and_only_once_and_not_in_a_closed_batch(world: World) -> None:
    batch = labelled(world)
    item = resolutions.waiting(batch).get()
    nothing = refused(lambda: adjudication.undo_send_back(item=item, by=world.ivo, now=LATER))
    adjudication.send_back(item=item, by=world.ivo, choose="B", note="Look again.", now=LATER)
    other = refused(lambda: adjudication.undo_send_back(item=item, by=world.rea, now=LATER))
    adjudication.undo_send_back(item=item, by=world.ivo, now=LATER)
    again = refused(lambda: adjudication.undo_send_back(item=item, by=world.ivo, now=LATER))
    assert {error.code for error in (nothing, other, again)} == {"invalid_request"}

    adjudication.send_back(item=item, by=world.ivo, choose="B", note="Look again.", now=LATER)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    closed = refused(lambda: adjudication.undo_send_back(item=item, by=world.ivo, now=LATER))
    assert closed.code == "decided"


def test_the_story_of_an_item_tells_the_decision_that_was_undone_and_the_one_that_holds(world: World) -> None:
    batch = labelled(world)
    item = resolutions.waiting(batch).get()
    decide(world, item, listed_reason=STANDARD_REASONS[1])
    adjudication.undo(item=item, by=world.ivo, now=LATER)
    decide(world, item, "B", listed_reason=STANDARD_REASONS[2], note="By rule 3.")
    client = Client()
    client.force_login(world.mara)

    page = client.get(reverse("item_story", args=[item.public_id])).content.decode()

    assert page.count("decided: accepted") == 2
    assert page.count("undid the decision") == 1
    assert "Clearest of several correct responses" in page
    assert "By rule 3." in page


# -- several people at once ---------------------------------------------------------------------------


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    """Results of actions that start together, each in a thread with a connection of its own; refusals are results."""
    together, results = threading.Barrier(len(actions)), []

    def run(action: Callable[[], Any]) -> None:
        together.wait(60)
        try:
            results.append(action())
        except ActionRefused as error:
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == len(actions)
    return results


@pytest.mark.django_db(transaction=True)
def test_of_two_adjudicators_who_decide_at_once_the_second_is_refused(
    transactional_db: None, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    item = resolutions.waiting(labelled(world)).get()

    results = at_once(
        lambda: adjudication.decide(item=item, by=world.ivo, choose=["A"], now=LATER),
        lambda: adjudication.decide(item=item, by=world.rea, choose=["B"], now=LATER),
    )

    assert {getattr(result, "code", "decision") for result in results} == {"decided", "decision"}
    assert Decision.objects.filter(item=item).count() == 1
    assert list(doctor.findings()) == []


@pytest.mark.django_db(transaction=True)
def test_either_an_undo_or_whoever_takes_the_item_that_followed_comes_first(
    transactional_db: None, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    batch, check = edited(world, overlap=1)
    item = resolutions.waiting(batch).get()
    letter = next(one.letter for one in candidates.of_item(item) if one.response.operations)
    decision = decide(world, item, letter)
    makers = {annotation.assignment.person for annotation in decision.outcomes.get().annotations.all()}
    free = next(name for name in ("ada", "bo", "cy") if world.people[name] not in makers)

    at_once(
        lambda: adjudication.undo(item=item, by=world.ivo, now=LATER),
        lambda: reservations.next_assignment(batch=check, person=world.people[free], holding=(), now=LATER),
    )

    taken = Assignment.objects.filter(batch=check).exists()
    assert taken == Decision.objects.filter(item=item).exists()
    assert list(doctor.findings()) == []


# -- the API ------------------------------------------------------------------------------------------


def test_the_api_lists_reasons_decides_with_one_and_undoes(world: World) -> None:
    batch = labelled(world, adjudication_reasons=["Guideline 3"])
    item = resolutions.waiting(batch).get()
    client = Client()
    client.force_login(world.ivo)

    (listed,) = client.get(reverse("api_adjudication", args=[batch.public_id])).json()
    assert (listed["listed_reasons"], listed["note_required"]) == (["Guideline 3"], False)
    decided = client.post(
        reverse("api_decide", args=[item.public_id]),
        {"choose": ["B"], "listed_reason": "Guideline 3"},
        content_type="application/json",
    )
    assert (decided.json()["listed_reason"], decided.json()["note"]) == ("Guideline 3", "")
    undone = client.post(
        reverse("api_undo_decision", args=[item.public_id]), {}, content_type="application/json"
    )
    assert (undone.status_code, undone.json()["item"]) == (200, item.public_id)
    assert not Decision.objects.exists()


def test_one_queue_leads_through_all_batches_of_a_project(world: World) -> None:
    first, second = (waiting(world, name) for name in ("First", "Second"))
    ivo = Client()
    ivo.force_login(world.ivo)
    page = ivo.get(reverse("adjudicate", args=[first.public_id]))
    assert (page.context["left"], page.context["later"]) == (
        2,
        reverse("adjudicate", args=[second.public_id]),
    )

    answer = ivo.post(reverse("adjudicate", args=[first.public_id]), {"choose": "A", "note": "x"})

    assert answer["Location"] == reverse("adjudicate", args=[second.public_id])
    page = ivo.get(answer["Location"])
    assert (page.context["left"], page.context["decided"]) == (1, 1)
    assert page.context["last"].item == first.public_id
    undone = ivo.post(reverse("adjudication", args=[second.batch.public_id]), {"undo": first.public_id})
    assert undone.context["public_id"] == first.public_id
    assert undone.context["left"] == 2


def waiting(world: World, name: str) -> Item:
    batch = world.batch(name=name, size=1)
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch.items.get()
