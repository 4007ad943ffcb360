"""Time at work: items done one after the other add up to the time on the clock, and a tab left open does not count."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Batch, PersonBatchCounts
from annotation.quality import annotator_quality
from annotation.queue import reservations
from annotation.workflow import assignments
from tests.annotation.cast import NOON, World, envelope, make_world

LABEL = {"label": "reasoning"}


def one_after_the_other(world: World, batch: Batch, each: Iterable[float], *, pings: float = 30) -> float:
    """Somebody's items of so many seconds, the next one always fetched ahead, as the page does it. Gives what counts.

    A sign of life comes every `pings` seconds from the first item on, whatever item is on the screen.
    """
    now, ping_at, ada = NOON, NOON + timedelta(seconds=pings), world.ada
    current = reservations.next_assignment(batch=batch, person=ada, now=now)
    for seconds in each:
        assert current is not None
        ahead = reservations.next_assignment(batch=batch, person=ada, holding=[current.public_id], now=now)
        end = now + timedelta(seconds=seconds)
        while ping_at < end:
            assignments.ping(assignment=world.reload(current), now=ping_at)
            ping_at += timedelta(seconds=pings)
        now = end
        world.answer(world.reload(current), LABEL, now=now)
        current = ahead
    return sum(Assignment.objects.filter(batch=batch).values_list("active_seconds", flat=True))


@pytest.mark.parametrize(
    ("each", "pings"), [([20] * 5, 30), ([45] * 4, 30), ([100, 5, 70], 30), ([45] * 4, 1000)]
)
def test_items_done_one_after_the_other_take_the_time_on_the_clock(
    db: None, tmp_path: Any, each: list[float], pings: float
) -> None:
    world = make_world(tmp_path, questions=6)
    batch = world.batch(overlap=1)

    assert one_after_the_other(world, batch, each, pings=pings) == pytest.approx(sum(each))


def test_after_a_skip_the_next_item_begins(world: World) -> None:
    batch = world.batch(overlap=1)
    first = world.take(batch, "ada")
    assert first is not None
    ahead = world.take(batch, "ada", holding=[first.public_id])
    assert ahead is not None
    assignments.skip(assignment=first, reason="odd", now=NOON + timedelta(seconds=50))

    world.answer(world.reload(ahead), LABEL, now=NOON + timedelta(seconds=58))

    assert Annotation.objects.get().active_seconds == 8.0


def test_a_lease_that_a_manager_ends_is_no_sign_of_life(world: World) -> None:
    batch = world.batch(overlap=1)
    assert world.take(batch, "ada") is not None

    reservations.take_back_all(batch=batch, reason="moved", now=NOON, actor=world.mara)

    assert PersonBatchCounts.objects.get(person=world.ada).ended_at is None


def test_a_tab_left_open_does_not_count(world: World) -> None:
    batch = world.batch(overlap=1)
    taken = world.take(batch, "ada")
    assert taken is not None
    assignments.ping(assignment=taken, now=NOON + timedelta(seconds=30))

    world.answer(world.reload(taken), LABEL, now=NOON + timedelta(hours=2))

    assert Annotation.objects.get().active_seconds == 30.0


def test_two_signs_of_life_at_once_count_once(world: World) -> None:
    batch = world.batch(overlap=1)
    taken = world.take(batch, "ada")
    assert taken is not None
    other_tab = world.reload(taken)

    for one in (taken, other_tab):
        assignments.ping(assignment=one, now=NOON + timedelta(seconds=30))

    assert Assignment.objects.get().active_seconds == 30.0


def test_taking_a_submission_back_is_no_work(world: World) -> None:
    batch = world.batch(overlap=1)
    taken = world.take(batch, "ada")
    assert taken is not None
    done = world.answer(taken, LABEL, now=NOON + timedelta(seconds=10))
    assignments.undo(annotation=done, now=NOON + timedelta(seconds=40))
    world.answer(world.reload(taken), {"label": "extraction"}, now=NOON + timedelta(seconds=45))

    assert list(Annotation.objects.order_by("revision").values_list("active_seconds", flat=True)) == [
        10,
        10,
        15,
    ]


def test_a_script_that_answers_at_once_is_flagged_as_too_fast(db: None, tmp_path: Any) -> None:
    world = make_world(tmp_path, questions=12)
    batch = world.batch(overlap=2)
    for who, pause in (("ada", timedelta(seconds=20)), ("bo", timedelta(milliseconds=4))):
        now = NOON
        while taken := reservations.next_assignment(batch=batch, person=world.people[who], now=now):
            now += pause
            world.answer(world.reload(taken), LABEL, now=now)

    people = annotator_quality.report(batch)["people"]

    def flagged(who: str) -> bool:
        return next(
            one["raised"] for one in people[str(world.people[who].pk)]["habits"] if one["kind"] == "too_fast"
        )

    assert (flagged("ada"), flagged("bo")) == (False, True)
    assert people[str(world.bo.pk)]["timed"] == 12


def test_two_scripts_that_answer_at_once_are_both_flagged(db: None, tmp_path: Any) -> None:
    world = make_world(tmp_path, questions=12)
    batch = world.batch(overlap=2)
    for who in ("ada", "bo"):
        now = NOON
        while taken := reservations.next_assignment(batch=batch, person=world.people[who], now=now):
            now += timedelta(milliseconds=100)
            world.answer(world.reload(taken), LABEL, now=now)

    people = annotator_quality.report(batch)["people"]

    for who in ("ada", "bo"):
        (time,) = [one for one in people[str(world.people[who].pk)]["habits"] if one["kind"] == "too_fast"]
        assert time["raised"]
        assert "12 of 12 items took less than 2.5 s" in time["sentence"]


def test_where_nobody_knows_the_time_nothing_is_flagged(db: None, tmp_path: Any) -> None:
    world = make_world(tmp_path, questions=12)
    batch = world.batch(overlap=2)
    for who, pause in (("ada", timedelta(seconds=20)), ("bo", timedelta(minutes=5))):
        now = NOON
        while taken := reservations.next_assignment(batch=batch, person=world.people[who], now=now):
            now += pause
            world.answer(world.reload(taken), LABEL, now=now)

    of_bo = annotator_quality.report(batch)["people"][str(world.bo.pk)]

    assert of_bo["timed"] == 0
    assert not any(one["raised"] for one in of_bo["habits"] if one["kind"] == "too_fast")


# -- without scripts --------------------------------------------------------------------------------


def held_for(world: World, seconds: float) -> Assignment:
    """Something that Ada was given so many seconds ago, with no sign of life since."""
    taken = world.take(world.batch(overlap=1), "ada")
    assert taken is not None
    ago = timezone.now() - timedelta(seconds=seconds)
    Assignment.objects.filter(pk=taken.pk).update(leased_at=ago, seen_at=ago)
    return taken


def press(world: World, held: Assignment, action: str) -> None:
    """A button of the page without scripts."""
    client = Client()
    client.force_login(world.ada)
    fields = {"assignment": held.public_id, "action": action, "label": "reasoning"}
    answer = client.post(f"/batches/{held.batch.public_id}/annotate/", fields)
    assert answer.status_code == 302


@pytest.mark.parametrize(("seconds", "counted"), [(20, 20), (95, 95), (240, 240), (2 * 3600, 300)])
def test_without_scripts_the_time_until_the_form_is_sent_is_work_up_to_five_minutes(
    world: World, seconds: float, counted: float
) -> None:
    held = held_for(world, seconds)

    press(world, held, "submit")

    assert Annotation.objects.get().active_seconds == pytest.approx(counted, abs=5)
    assert Assignment.objects.get().active_seconds == Annotation.objects.get().active_seconds


def test_without_scripts_every_button_is_a_sign_of_life(world: World) -> None:
    held = held_for(world, 100)
    press(world, held, "save")
    assert Assignment.objects.get().active_seconds == pytest.approx(100, abs=5)
    seen = Assignment.objects.get().seen_at
    Assignment.objects.filter(pk=held.pk).update(seen_at=seen - timedelta(seconds=80))

    press(world, held, "submit")

    assert Annotation.objects.get().active_seconds == pytest.approx(180, abs=5)


def test_a_page_with_scripts_that_gave_no_sign_was_left_open(world: World) -> None:
    held = held_for(world, 240)
    client = Client()
    client.force_login(world.ada)

    answer = client.post(
        f"/api/assignments/{held.public_id}/submit/",
        {"response": envelope(world.reload(held), LABEL)},
        content_type="application/json",
    )

    assert answer.status_code == 200
    assert Annotation.objects.get().active_seconds == 0
