"""Who writes to SQLite next: one at a time, and nobody waits for somebody who writes again at once."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

from annotation.models import Item
from annotation.platform.database import limits
from annotation.platform.database.sqlite3 import base
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.both]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def role(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    settings.DATABASE_LIMITS = {
        name: {"statement": 0.5, "idle_in_transaction": 1} for name in ("web", "worker", "command")
    }
    monkeypatch.setattr(limits, "MARGIN", 0.0)
    limits.use(limits.WEB)
    yield limits.use
    monkeypatch.undo()
    limits.use(limits.COMMAND)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "turns.sqlite3")) as file:
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("CREATE TABLE things (name text)")
    return tmp_path / "turns.sqlite3"


def connection_to(path: Path) -> Any:
    options = {"transaction_mode": "IMMEDIATE", "timeout": 20}
    config = {"ENGINE": "annotation.platform.database.sqlite3", "NAME": str(path), "OPTIONS": options}
    return ConnectionHandler({"default": config})["default"]


def begin(connection: Any) -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def write(connection: Any) -> None:
    """One transaction, as `transaction.atomic` makes it."""
    begin(connection)
    connection.cursor().execute("INSERT INTO things VALUES ('one')")
    connection.commit()
    connection.set_autocommit(True)


@pytest.mark.parametrize("ask", [begin, lambda here: here.cursor().execute("DELETE FROM things")])
def test_a_locked_database_is_asked_again_until_it_is_free(
    role: Any, path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Any], Any]
) -> None:
    other, here, pauses = connection_to(path), connection_to(path), []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            other.commit()

    monkeypatch.setattr(time, "sleep", pause)
    begin(other)
    ask(here)

    assert len(pauses) == 3
    assert max(pauses) <= 0.02


def test_after_the_limit_of_the_role_a_locked_database_is_an_error(role: Any, path: Path) -> None:
    other, here = connection_to(path), connection_to(path)
    begin(other)

    began = time.monotonic()
    with pytest.raises(OperationalError, match="locked"):
        begin(here)

    assert 0.5 <= time.monotonic() - began < 5


def test_a_worker_leaves_room_after_each_transaction_and_nobody_else_does(
    role: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    connection = connection_to(path)

    write(connection)
    assert pauses == []

    role(limits.WORKER)
    write(connection)
    write(connection)
    assert len(pauses) == 2
    assert min(pauses) >= 2 * max(base.PAUSES)


def test_resolving_stops_where_the_database_is_locked_and_logs_no_item_as_broken(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Item.objects, "filter", lambda *_, **__: Due())
    tried: list[int] = []

    def resolve_item(*, item_id: int, now: Any) -> bool:
        tried.append(item_id)
        raise OperationalError("database is locked")

    monkeypatch.setattr(automatic_decisions, "resolve_item", resolve_item)
    with pytest.raises(OperationalError):
        automatic_decisions.resolve_due(now=NOON)

    assert tried == [1]
    assert "cannot be resolved" not in caplog.text


class Due(list[int]):
    """Two items that are due."""

    def order_by(self, *_: Any) -> Due:
        return self

    def values_list(self, *_: Any, **__: Any) -> list[int]:
        return [1, 2]


def test_a_command_that_finds_the_database_locked_says_so(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = subprocess.run(
            [sys.executable, "manage.py", "migrate", "--noinput"],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "DATABASE_URL": f"sqlite:///{path}",
                "DB_STATEMENT_TIMEOUT_COMMAND": "0.5",
                "SECRET_KEY": "k" * 60,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    assert "the database is locked by another process" in done.stderr
    assert "Check that it exists" not in done.stderr
