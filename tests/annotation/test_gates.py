"""What stands between a person and their next item: each gate by itself, in order, and at what cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import (
    Assignment,
    Batch,
    Consent,
    ConsentText,
    Guidelines,
    Person,
    PracticeResult,
    Project,
    Qualification,
    Reading,
)
from annotation.queue import availability, entry_requirements, reservations
from annotation.workflow import assignments
from tests.annotation.cast import NOON, World


def ask(thing: Batch | Project, **what: Any) -> None:
    for name, value in what.items():
        setattr(thing, name, value)
    thing.save(update_fields=list(what))


def code(batch: Batch, person: Person, now: datetime = NOON, holding: int = 0) -> str | None:
    requirement = entry_requirements.first_unmet(batch=batch, person=person, now=now, holding=holding)
    return None if requirement is None else requirement.code


def statements(batch: Batch, person: Person) -> int:
    with CaptureQueriesContext(connection) as seen:
        entry_requirements.first_unmet(batch=batch, person=person, now=NOON)
    return len(seen)


# -- one by one -------------------------------------------------------------------------------------


def test_a_batch_that_asks_for_nothing_lets_everybody_in_without_a_statement(world: World) -> None:
    batch = world.batch()

    assert code(batch, world.ada) is None
    assert statements(batch, world.ada) == 0


def test_a_batch_that_asks_for_everything_costs_two_statements(world: World) -> None:
    batch = world.batch()
    ask(batch, must_practise=True, requires=world.batch(), caps={"items": 3})
    ask(batch.project, consent_number=1, must_read=True, caps={"items_per_day": 9})

    statements(batch, world.ada)  # the first run prepares them

    assert statements(batch, world.ada) == 2


def test_a_paused_batch_gives_nothing_and_costs_nothing(world: World) -> None:
    batch = world.batch()
    ask(batch, paused_at=NOON)

    assert code(batch, world.ada) == "batch_paused"
    assert statements(batch, world.ada) == 0


def test_whoever_is_asked_again_is_not_told_that_an_item_is_the_first(world: World) -> None:
    batch = world.batch()
    world.label(batch, "ada", "reasoning")
    ConsentText.objects.create(project=world.project, number=1, text="We keep your labels.", made_at=NOON)
    ask(batch.project, consent_number=1)

    requirement = entry_requirements.first_unmet(batch=batch, person=world.ada, now=NOON)

    assert requirement is not None
    assert requirement.message == "Before your next item, read and accept the consent text of Films."


def test_a_new_version_of_the_consent_text_asks_again(world: World) -> None:
    batch, project = world.batch(), world.project
    batch.project = project
    first = ConsentText.objects.create(project=project, number=1, text="We keep your labels.", made_at=NOON)
    ask(project, consent_number=1)
    assert code(batch, world.ada) == "consent_needed"
    Consent.objects.create(text=first, person=world.ada, given_at=NOON)
    assert code(batch, world.ada) is None
    assert code(batch, world.bo) == "consent_needed"

    ConsentText.objects.create(project=project, number=2, text="We publish your labels.", made_at=NOON)
    ask(project, consent_number=2)

    assert code(batch, world.ada) == "consent_needed"


def test_who_withdraws_their_consent_gets_nothing_more(world: World) -> None:
    batch, project = world.batch(), world.project
    batch.project = project
    text = ConsentText.objects.create(project=project, number=1, text="We keep your labels.", made_at=NOON)
    ask(project, consent_number=1)
    Consent.objects.create(text=text, person=world.ada, given_at=NOON, withdrawn_at=NOON)

    assert code(batch, world.ada) == "consent_needed"


def test_guidelines_are_read_again_after_a_change(world: World) -> None:
    batch, project = world.batch(), world.project
    batch.project = project
    ask(project, must_read=True)
    assert code(batch, world.ada) == "guidelines_unread"
    Reading.objects.create(guidelines=Guidelines.objects.get(), person=world.ada, read_at=NOON)
    assert code(batch, world.ada) is None

    Guidelines.objects.create(
        project=project, task_type=batch.task_type, number=2, text="Look twice.", made_at=NOON
    )

    assert code(batch, world.ada) == "guidelines_unread"


def test_guidelines_of_another_kind_are_nobodys_business_here(world: World) -> None:
    batch, project = world.batch(), world.project
    batch.project = project
    ask(project, must_read=True)
    Reading.objects.create(guidelines=Guidelines.objects.get(), person=world.ada, read_at=NOON)

    Guidelines.objects.create(project=project, task_type="value_change", number=1, text="Tilt.", made_at=NOON)

    assert code(batch, world.ada) is None


def test_practice_is_per_kind_and_variant(world: World) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    ask(batch, must_practise=True)
    done = {"project": world.project, "person": world.ada, "right": 2, "judged": 3, "done_at": NOON}
    PracticeResult.objects.create(**done, task_type="value_change", variant="answer_stays")
    assert code(batch, world.ada) == "practice_needed"

    PracticeResult.objects.create(**done, task_type="value_change", variant="answer_changes")

    assert code(batch, world.ada) is None


def test_a_qualification_says_what_is_asked_and_what_was_reached(world: World) -> None:
    test, batch = world.batch(name="Entry test"), world.batch()
    ask(test, purpose="qualification", pass_percent=80)
    ask(batch, requires=test)

    before = entry_requirements.first_unmet(batch=batch, person=world.ada, now=NOON)
    assert before
    assert before.code == "not_qualified"
    assert "“Entry test”" in before.message
    assert "80 %" in before.message
    assert before.address == f"/batches/{test.public_id}/annotate/"

    assert availability.left_for(world.ada, [batch.pk])[batch.pk] == 4
    row = Qualification.objects.create(
        batch=test, person=world.ada, right=7, judged=10, passed=False, at=NOON
    )
    assert availability.left_for(world.ada, [batch.pk]) == {batch.pk: 0}, (
        "no list offers what nobody hands out"
    )
    after = entry_requirements.first_unmet(batch=batch, person=world.ada, now=NOON)
    assert after
    assert after.code == "not_qualified"
    assert "70 % (7 of 10)" in after.message
    assert "80 %" in after.message
    assert after.address == ""

    row.passed, row.granted_by = True, world.mara
    row.save()
    assert code(batch, world.ada) is None
    assert code(batch, world.bo) == "not_qualified"


# -- limits -----------------------------------------------------------------------------------------


def test_a_limit_counts_what_is_still_held(world: World) -> None:
    batch = world.batch()
    ask(batch, caps={"items": 2})
    world.label(batch, "ada", "extraction")

    assert code(batch, world.ada) is None
    assert code(batch, world.ada, holding=1) == "cap_reached"
    world.label(batch, "ada", "extraction")
    assert code(batch, world.ada) == "cap_reached"
    assert code(batch, world.bo) is None


def test_an_item_that_is_withdrawn_or_skipped_does_not_count(world: World) -> None:
    batch = world.batch()
    ask(batch, caps={"items_per_day": 1})
    held = world.take(batch, "ada")
    assert held is not None
    reservations.give_back(held, state=Assignment.State.SKIPPED, reason="odd", now=NOON, actor=world.ada)

    assert code(batch, world.ada) is None


def test_the_day_is_that_of_the_project(world: World) -> None:
    batch, project = world.batch(), world.project
    batch.project = project
    ask(project, time_zone="Asia/Tokyo", caps={"items_per_day": 1})
    held = world.take(batch, "ada")
    assert held is not None
    late = datetime(2026, 3, 2, 14, 50, tzinfo=UTC)  # ten to midnight in Tokyo
    world.answer(held, {"label": "extraction"}, now=late)

    assert code(batch, world.ada, now=late) == "cap_reached"
    assert code(batch, world.ada, now=late + timedelta(minutes=20)) is None


def test_a_day_of_the_project_is_over_in_all_its_batches(world: World) -> None:
    first, second = world.batch(), world.batch()
    ask(world.project, caps={"items_per_day": 1})
    second.project = world.project
    world.label(first, "ada", "extraction")

    requirement = entry_requirements.first_unmet(batch=second, person=world.ada, now=NOON)

    assert requirement
    assert requirement.code == "cap_reached"
    assert "Films" in requirement.message


def test_hours_are_those_at_work_today(world: World) -> None:
    batch = world.batch()
    ask(batch, caps={"hours_per_day": 3})
    for seconds, ended in ((2 * 3600, NOON), (5 * 3600, NOON - timedelta(days=1))):
        held = world.take(batch, "ada")
        assert held is not None
        Assignment.objects.filter(pk=held.pk).update(active_seconds=seconds)
        world.answer(world.reload(held), {"label": "extraction"}, now=ended)
    assert code(batch, world.ada) is None

    held = world.take(batch, "ada")
    assert held is not None
    Assignment.objects.filter(pk=held.pk).update(active_seconds=3600, seen_at=NOON)

    assert code(batch, world.ada) == "cap_reached"


def test_an_item_of_yesterday_that_is_changed_today_takes_nothing_of_todays_items_and_hours(
    world: World,
) -> None:
    batch = world.batch(decide_at_close=True)
    ask(batch, caps={"items_per_day": 1, "hours_per_day": 3})
    held = world.take(batch, "ada")
    assert held is not None
    Assignment.objects.filter(pk=held.pk).update(active_seconds=2.9 * 3600)
    world.answer(world.reload(held), {"label": "extraction"}, now=NOON - timedelta(days=1))
    said = world.reload(held).annotation
    assert said is not None
    assignments.undo(annotation=said, now=NOON)
    world.answer(world.reload(held), {"label": "reasoning"}, now=NOON + timedelta(minutes=1))

    assert code(batch, world.ada) is None
    facts = entry_requirements.facts(batch=batch, person=world.ada, now=NOON)
    assert facts.items_today == 0
    assert facts.hours_today < 0.1


# -- the rule ---------------------------------------------------------------------------------------

ORDER = ("consent_needed", "guidelines_unread", "practice_needed", "not_qualified", "cap_reached")


@given(st.lists(st.booleans(), min_size=5, max_size=5), st.integers(0, 9), st.integers(0, 9))
def test_the_first_gate_that_is_shut_is_the_one_that_is_told(
    open: list[bool], items: int, limit: int
) -> None:
    project = Project(slug="films", name="Films", consent_number=1, must_read=True)
    test = Batch(name="Entry test", public_id="abcdefghijkl", pass_percent=80, project=project)
    batch = Batch(
        name="Labels",
        public_id="mnopqrstuvwx",
        project=project,
        task_type="question_type",
        requires=test,
        caps={"items": limit},
    )
    reached = entry_requirements.QualificationResult(4, 5, passed=True) if open[3] else None
    found = entry_requirements.first_unmet_of(
        batch, entry_requirements.AnnotatorState(open[0], open[1], open[2], reached, items=items), holding=0
    )

    shut = [not one for one in open[:4]] + [items >= limit]
    wanted = next((name for name, is_shut in zip(ORDER, shut, strict=True) if is_shut), None)
    assert (found and found.code) == wanted


@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(0, 100))
def test_a_share_that_reads_as_enough_is_enough(score: tuple[int, int], asked: int) -> None:
    right, judged = score

    assert (entry_requirements.percent(right, judged) >= asked) == (100 * right >= asked * judged)


def test_nothing_judged_is_nothing_reached() -> None:
    assert entry_requirements.percent(0, 0) == 0


@pytest.mark.parametrize("closed", [None, NOON])
def test_a_closed_batch_is_not_called_paused(closed: datetime | None) -> None:
    batch = Batch(name="Labels", project=Project(slug="films"), paused_at=NOON, closed_at=closed)

    requirement = entry_requirements.first_unmet_of(batch, entry_requirements.AnnotatorState())

    assert (requirement is None) == (closed is not None)
