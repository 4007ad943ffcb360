"""Rows that are committed after later ones are found all the same: by the search index, and by figures that are stored."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.access import audit_log
from annotation.explorer import index
from annotation.models import (
    Assignment,
    Batch,
    Event,
    Flag,
    IndexedItem,
    Job,
    SearchIndex,
    Try,
    Verdict,
)
from annotation.quality import compared_responses, gold, snapshots
from tests.annotation.cast import NOON, World
from tests.annotation.test_gold import examples, mark

pytestmark = pytest.mark.both
SECONDS = 30.0
only_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")


@pytest.fixture
def writers(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The transactions that are under way, as PostgreSQL would name them."""
    names: set[str] = set()
    monkeypatch.setattr(audit_log, "current_writers", lambda *models: sorted(names))
    return names


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The items that were indexed, in order."""
    keys: list[int] = []
    index_items = index.index_items

    def record(some: Iterable[int]) -> int:
        keys.extend(some)
        return index_items(some)

    monkeypatch.setattr(index, "index_items", record)
    return keys


def refresh(world: World) -> None:
    assert index.refresh(world.project, now=timezone.now()) == 0


def logged(world: World, key: int, item: int) -> Event:
    return Event(pk=key, project=world.project, thing="item", thing_id=item, after="accepted", at=NOON)


def test_none_of_ten_thousand_late_commits_is_missed(
    world: World, writers: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed: list[int] = []

    def record(keys: Iterable[int]) -> int:
        indexed.extend(keys)
        return 1

    monkeypatch.setattr(index, "index_items", record)
    monkeypatch.setattr(index, "AT_ONCE", 20_000)
    monkeypatch.setattr(index, "MOST_EVENTS", 20_000)
    draws, first = random.Random(35), 1_000_000
    open_rows: dict[str, list[Event]] = {}
    key, number, missed = first, 0, set()
    while number < 10_000 or open_rows:
        committed: list[Event] = []
        for _ in range(draws.randrange(500)):
            name = draws.choice(sorted(open_rows)) if open_rows else ""
            if number < 10_000 and (not open_rows or draws.random() < 0.6):
                # Few transactions are long: their keys are low when they are committed.
                name = name if name and draws.random() < 0.3 else f"7/{number}"
                open_rows.setdefault(name, []).append(logged(world, key, number + 1_000_000))
                key, number = key + 1, number + 1
            elif name:
                committed += open_rows.pop(name)
        Event.objects.bulk_create(committed)
        writers.clear()
        writers.update(open_rows)
        indexed.clear()
        refresh(world)
        missed |= {event.thing_id for event in committed} - set(indexed)
    assert missed == set()
    state = SearchIndex.objects.get()
    assert (state.event, state.ahead) == (key - 1, {})


def test_what_is_indexed_is_not_indexed_again_while_somebody_writes_on(
    world: World, writers: set[str], indexed: list[int]
) -> None:
    writers.add("3/1")
    logged(world, 1_000_002, 7).save(force_insert=True)
    refresh(world)
    assert 7 in indexed
    indexed.clear()
    refresh(world)
    assert indexed == []
    logged(world, 1_000_001, 8).save(force_insert=True)
    refresh(world)
    assert set(indexed) >= {8}


def test_a_flag_and_a_verdict_that_are_committed_late_are_indexed(
    world: World, writers: set[str], indexed: list[int]
) -> None:
    batch = world.batch(size=2)
    made = [world.label(batch, "ada", "extraction") for _ in range(2)]
    items = [annotation.assignment.item for annotation in made]
    checks = [
        Try.objects.create(
            assignment=annotation.assignment,
            annotation=annotation,
            kind=Try.Kind.SUBMISSION,
            made_at=NOON,
            asked={},
            response={},
        )
        for annotation in made
    ]

    def flag(key: int, item: Any) -> None:
        Flag.objects.create(pk=key, item=item, made_by=world.mara, note="Odd", made_at=NOON)

    def verdict(key: int, check: Any) -> None:
        Verdict.objects.create(
            pk=key, of=check, verdict="fooled", gold={}, judgements={}, is_confirmed=True, made_at=NOON
        )

    subjects: list[Any]
    for write, subjects in ((flag, items), (verdict, checks)):
        writers.add("3/1")
        write(1_000_002, subjects[1])
        refresh(world)
        indexed.clear()
        writers.clear()
        write(1_000_001, subjects[0])
        refresh(world)
        assert items[0].pk in indexed, write.__name__


def test_the_index_goes_on_in_another_cluster_where_transactions_have_other_names(
    world: World, writers: set[str], indexed: list[int]
) -> None:
    writers.add("3/900000")
    logged(world, 1_000_001, 7).save(force_insert=True)
    refresh(world)
    writers.clear()  # the backup is restored: what was under way is gone, and others write
    writers.add("3/2")
    logged(world, 1_000_002, 8).save(force_insert=True)
    refresh(world)
    assert SearchIndex.objects.get().event == 1_000_001


def test_an_item_that_cannot_be_indexed_hides_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = world.batch(size=2)
    broken = world.label(batch, "ada", "extraction").assignment.item_id
    world.label(batch, "ada", "reasoning")
    stored = compared_responses.restore_response

    def raising(task: Any, response: Any) -> Any:
        if response["data"]["label"] == "extraction":
            raise ValueError("no")
        return stored(task, response)

    monkeypatch.setattr(compared_responses, "restore_response", raising)
    refresh(world)
    given = dict(IndexedItem.objects.values_list("item_id", "given"))
    assert given.pop(broken) == ""
    assert all(given.values())
    assert len(given) == 1
    refresh(world)


def test_a_job_that_failed_is_not_started_again_by_each_page(world: World) -> None:
    now = timezone.now()
    values = {"project": world.project, "kind": index.KIND, "made_at": now, "total": 200}
    Job.objects.create(**values, state=Job.State.FAILED, heartbeat=now)
    assert index.refresh(world.project, now=now)
    assert not index.refresh(world.project, now=now + index.AFTER_FAILURE + timedelta(seconds=1))


def test_the_log_is_settled_up_to_what_was_there_when_the_last_writer_of_then_was_writing(
    world: World, writers: set[str]
) -> None:
    logged(world, 1_000_002, 7).save(force_insert=True)
    writers.add("3/1")
    first = audit_log.settled(world.project.pk, None)
    logged(world, 1_000_003, 8).save(force_insert=True)
    second = audit_log.settled(world.project.pk, first)
    writers.clear()
    writers.add("3/2")
    third = audit_log.settled(world.project.pk, second)
    writers.clear()
    fourth = audit_log.settled(world.project.pk, third)
    assert [mark["through"] for mark in (first, second, third, fourth)] == [0, 0, 1_000_003, 1_000_003]


def test_figures_are_worked_out_again_once_a_writer_has_ended(world: World, writers: set[str]) -> None:
    batch = Batch.objects.select_related("project").get(pk=world.batch(size=1).pk)
    writers.add("3/1")
    first = timezone.now() + timedelta(minutes=5)

    def made_at(now: datetime) -> Any:
        return snapshots.snapshot_view(batch, "quality", now=now).as_of

    assert made_at(first) == first
    assert made_at(first + timedelta(hours=1)) == first, "it is still writing"
    writers.clear()
    assert made_at(first + timedelta(hours=2)) == first + timedelta(hours=2)
    assert made_at(first + timedelta(hours=3)) == first + timedelta(hours=2)


@contextmanager
def answering(world: World, assignment: Assignment) -> Iterator[None]:
    """A submission of another connection, committed at the end."""
    wrote, may_commit = threading.Event(), threading.Event()

    def run() -> None:
        try:
            with transaction.atomic():
                world.answer(assignment, {"label": "neither"})
                wrote.set()
                may_commit.wait(SECONDS)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert wrote.wait(SECONDS)
        yield
    finally:
        may_commit.set()
        thread.join(SECONDS)


@only_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_response_that_is_committed_after_later_ones_is_found(world: World) -> None:
    first, second = world.batch(size=1), world.batch(size=3)
    late = world.take(first, "ada")
    assert late is not None
    with answering(world, late):
        for _ in range(3):  # their events have higher keys
            world.label(second, "bo", "extraction")
            refresh(world)
        assert late.item.facts.count() == 0
    refresh(world)
    assert late.item.facts.filter(value="neither").count() == 1
    assert SearchIndex.objects.get().ahead == {}


def test_an_item_that_comes_where_another_went_is_indexed(world: World) -> None:
    batch = world.batch(name="Planned", only=["nu-1"], gold_percent=25, open=False)
    gone = mark(world, batch, examples(world)[2], "reasoning")
    refresh(world)
    gold.remove_gold(gold=gone, by=world.mara, now=NOON)
    come = mark(world, batch, examples(world)[3], "reasoning")

    refresh(world)

    assert IndexedItem.objects.filter(item=come.item).exists()
