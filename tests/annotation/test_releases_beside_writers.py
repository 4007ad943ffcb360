"""A release waits for transactions that are still writing, and no writer waits for a release."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection, transaction

from annotation.access import audit_log
from annotation.models import Assignment, Batch, Event, Release
from annotation.platform import bulk_rows
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation
from tests.annotation.cast import NOON, World, make_world

LATER = NOON + timedelta(minutes=5)
SECONDS = 30.0
only_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one writer at a time, in the order of its keys"
)
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def take(world: World, batch: Batch, who: str) -> Assignment:
    taken = world.take(batch, who)
    assert taken is not None
    return taken


class Writer:
    """Somebody's submission, in a transaction that ends when `go_on` is set."""

    def __init__(self, world: World, assignment: Assignment) -> None:
        self.world, self.assignment = world, assignment
        self.wrote, self.go_on = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            with transaction.atomic():
                self.world.answer(self.assignment, {"label": "extraction"})
                self.wrote.set()
                self.go_on.wait(SECONDS)
        finally:
            connection.close()


@contextmanager
def writing(world: World, assignment: Assignment) -> Iterator[Writer]:
    writer = Writer(world, assignment)
    writer.thread.start()
    try:
        assert writer.wrote.wait(SECONDS)
        yield writer
    finally:
        writer.go_on.set()
        writer.thread.join(SECONDS)


def plan(world: World) -> Release:
    return creation.plan_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=LATER, allow_simulated=False
    )


def labels(release: Release) -> int:
    lines = (creation.folder(release) / "annotations.jsonl").read_text().splitlines()
    return len([json.loads(line) for line in lines])


@only_postgresql
def test_a_release_begins_while_somebody_writes_and_does_not_hold_up_the_next_submission(
    world: World,
) -> None:
    first, second = world.batch(size=1, overlap=2), world.batch(size=1)
    hers, his = take(world, first, "ada"), take(world, first, "bo")
    third = take(world, second, "cy")
    world.answer(his, {"label": "reasoning"})
    with writing(world, third), connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '1s'")
        plan(world)
        world.answer(hers, {"label": "reasoning"})
        cursor.execute("RESET lock_timeout")


@only_postgresql
def test_a_release_holds_what_was_being_written_when_it_began(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, waits = world.batch(size=1, overlap=2), threading.Event()
    hers, his = take(world, batch, "ada"), take(world, batch, "bo")
    other = world.batch(size=1)
    third = take(world, other, "cy")

    def sleep(seconds: float) -> None:
        waits.set()

    monkeypatch.setattr("annotation.access.audit_log.time.sleep", sleep)

    def write(release: Release) -> None:
        try:
            creation.write_release(release)
        finally:
            connection.close()

    with writing(world, third) as writer:
        world.answer(hers, {"label": "extraction"})  # its event has a larger key, and is committed
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
            release = plan(world)
            cursor.execute("RESET lock_timeout")
        releasing_thread = threading.Thread(target=write, args=[release])
        releasing_thread.start()
        assert waits.wait(SECONDS)
        world.answer(his, {"label": "extraction"})  # begun since: neither waited for nor in it
        assert not Release.objects.filter(ready_at__isnull=False).exists()
        writer.go_on.set()
        releasing_thread.join(SECONDS)
    release.refresh_from_db()
    assert release.ready_at is not None
    assert labels(release) == 2


@only_postgresql
def test_whoever_draws_keys_of_the_log_ahead_is_waited_for(world: World) -> None:
    drawn, go_on = threading.Event(), threading.Event()

    def draw() -> None:
        try:
            with transaction.atomic():
                bulk_rows.keys(Event, 1)
                drawn.set()
                go_on.wait(SECONDS)
        finally:
            connection.close()

    thread = threading.Thread(target=draw)
    thread.start()
    assert drawn.wait(SECONDS)
    assert len(audit_log.current_writers()) == 1
    go_on.set()
    thread.join(SECONDS)
    assert audit_log.current_writers() == []


@only_postgresql
def test_a_transaction_that_does_not_end_is_a_refusal_in_words(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = world.batch(size=1)
    taken = take(world, batch, "ada")
    monkeypatch.setattr(audit_log, "MAX_WAIT", 0.05)
    with writing(world, taken), pytest.raises(ActionRefused, match="writing to the event log"):
        audit_log.wait_for_writers()


def test_where_nobody_writes_nobody_is_waited_for(world: World) -> None:
    assert audit_log.wait_for_writers() is False
    world.label(world.batch(size=1), "ada", "extraction")
    release = plan(world)
    assert labels(creation.write_release(release)) == 1
