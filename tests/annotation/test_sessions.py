"""The session: what one did since the last break, what today still allows, and how the last checks went."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.accounts import work_sessions
from annotation.accounts.work_sessions import BREAK, left_today, session_start
from annotation.models import Assignment, Batch
from annotation.queue.entry_requirements import AnnotatorState
from tests.annotation.cast import NOON, World, set_work
from tests.annotation.test_gold import examples, mark, small

pytestmark = pytest.mark.both

GAPS = st.lists(st.integers(0, 90), max_size=12)


@given(GAPS)
def test_a_session_has_no_break_inside_and_one_before_it(gaps: list[int]) -> None:
    moments, now = [], NOON
    for gap in gaps:
        now -= timedelta(minutes=gap)
        moments.append(now)
    first = session_start(moments, NOON)
    if first is None:
        assert not moments or NOON - moments[0] > BREAK
        return
    inside = [NOON, *(moment for moment in moments if moment >= first)]
    before = [moment for moment in moments if moment < first]
    assert all(later - earlier <= BREAK for later, earlier in pairwise(inside))
    assert not before or first - before[0] > BREAK


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 40), st.integers(1, 40))
def test_the_narrower_limit_counts(here: int, everywhere: int, cap: int, project_cap: int) -> None:
    facts = AnnotatorState(items_today=here, project_items_today=everywhere)
    day = left_today({"items_per_day": cap}, {"items_per_day": project_cap}, facts)
    assert day.items_left == max(0, min(cap - here, project_cap - everywhere))
    assert day.minutes_left is None
    assert day.is_near or day.items_left
    assert day.is_over == (day.items_left == 0)


@pytest.mark.parametrize(("limit", "first"), [(2, 1), (9, 8), (10, 9), (40, 36)])
def test_the_last_tenth_of_a_days_items_is_near_and_at_least_the_last_item(limit: int, first: int) -> None:
    near = [
        done
        for done in range(limit)
        if left_today({"items_per_day": limit}, {}, AnnotatorState(items_today=done)).is_near
    ]
    assert near == list(range(first, limit))


def test_the_only_item_of_a_day_is_no_reason_for_a_break() -> None:
    assert not left_today({"items_per_day": 1}, {}, AnnotatorState(items_today=0)).is_near


def test_hours_are_told_in_minutes() -> None:
    day = left_today({"hours_per_day": 2}, {}, AnnotatorState(hours_today=1.5))
    assert (day.items_left, day.minutes_left, day.is_near) == (None, 30, False)
    assert left_today({"hours_per_day": 2}, {}, AnnotatorState(hours_today=1.9)).is_near


def answer(world: World, batch: Batch, who: str, label: str = "extraction") -> Assignment:
    assignment = world.take(batch, who)
    assert assignment is not None
    world.answer(assignment, {"label": label}, now=timezone.now())
    return assignment


def told(client: Client, world: World, batch: Batch, who: str = "ada") -> dict[str, Any]:
    client.force_login(world.people[who])
    reply = client.get(f"/api/batches/{batch.public_id}/session/")
    assert reply.status_code == 200
    session: dict[str, Any] = reply.json()
    return session


def test_items_pace_and_pay_are_of_this_session_and_this_person(world: World, client: Client) -> None:
    batch = world.batch(size=4, pay={"currency": "EUR", "per_item": 0.5})
    for _ in range(3):
        answer(world, batch, "ada")
    answer(world, batch, "bo")
    set_work(Assignment.objects.filter(person=world.ada), seconds=60)
    first = Assignment.objects.filter(person=world.ada).earliest("pk")
    set_work(Assignment.objects.filter(pk=first.pk), at=timezone.now() - timedelta(hours=3))

    session = told(client, world, batch)

    assert (session["items"], session["minutes"], session["per_hour"]) == (2, 2.0, 60.0)
    assert session["earned"] == "1.00 EUR"
    assert session["day"] is None
    assert session["checks"] is None


def test_before_the_first_item_there_is_nothing_to_tell(world: World, client: Client) -> None:
    session = told(client, world, world.batch(size=1))
    assert (session["items"], session["per_hour"], session["earned"]) == (0, None, "")


def test_a_daily_limit_says_what_is_left(world: World, client: Client) -> None:
    batch = world.batch(size=4, caps={"items_per_day": 2})
    answer(world, batch, "ada")
    first = told(client, world, batch)["day"]
    key = first.pop("key")
    assert first == {"items_left": 1, "minutes_left": None, "is_near": True}
    answer(world, batch, "ada")
    assert told(client, world, batch)["day"] == {
        "items_left": 0,
        "minutes_left": None,
        "is_near": True,
        "key": key,
    }
    other = world.batch(size=4, caps={"items_per_day": 2})
    answer(world, other, "ada")
    assert told(client, world, other)["day"]["key"] != key, "its reminder was not dismissed yet"
    page = client.get(f"/batches/{batch.public_id}/annotate/").content.decode()
    assert "Time for a break: you can continue tomorrow." in page
    assert "This session" in page


@pytest.mark.parametrize("tells", [True, False])
def test_checks_are_told_where_the_batch_tells(world: World, client: Client, tells: bool) -> None:
    batch = small(world, gold_percent=50, gold_feedback=tells)
    for example in examples(world)[2:]:
        mark(world, batch, example)
    world.draw_gold_first(batch, "ada")
    while (assignment := world.take(batch, "ada")) is not None:
        world.answer(assignment, {"label": "extraction"}, now=timezone.now())
    assert Assignment.objects.filter(item__is_gold=True).exists()
    session = told(client, world, batch)
    expected = work_sessions.checks(batch, world.ada)
    assert (session["checks"] is not None) == tells == (expected is not None)
    page = client.get(f"/batches/{batch.public_id}/annotate/").content.decode()
    assert ("last test items correct" in page) == tells


def test_my_work_has_the_session(world: World, client: Client) -> None:
    answer(world, world.batch(size=1), "ada")
    client.force_login(world.ada)
    assert "This session" in client.get("/work/").content.decode()
    client.force_login(world.bo)
    assert "This session" not in client.get("/work/").content.decode()
