"""How long a connection waits for a PostgreSQL that is away, silent or behind a pooler."""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

from annotation.platform.database import limits, watchdog
from tests.annotation.silent_postgres import SilentPostgres

pytestmark = [pytest.mark.django_db, pytest.mark.both]

LIMIT = 0.3
"""Seconds for a statement here."""
ENOUGH = 5.0
"""Seconds within which somebody has given up, on a busy machine."""


@pytest.fixture
def role(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Gives this process a role with short limits, and takes it back."""
    settings.DATABASE_LIMITS = {
        "web": {"statement": LIMIT, "idle_in_transaction": 11},
        "worker": {"statement": 2 * LIMIT, "idle_in_transaction": 12},
        "command": {"statement": 3 * LIMIT, "idle_in_transaction": 13},
    }
    monkeypatch.setattr(limits, "MARGIN", 0.0)
    monkeypatch.setattr(watchdog, "breaker", watchdog.Breaker())
    limits.use(limits.WEB)
    yield limits.use
    monkeypatch.undo()
    limits.use(limits.COMMAND)


@pytest.fixture
def servers() -> Iterator[Callable[..., SilentPostgres]]:
    made: list[SilentPostgres] = []

    def start(silent_at: str = "") -> SilentPostgres:
        made.append(SilentPostgres(silent_at))
        return made[-1]

    yield start
    for server in made:
        server.end()


def connection_to(server: SilentPostgres, **more: Any) -> Any:
    config = {
        "ENGINE": "annotation.platform.database.postgresql",
        "NAME": "askew",
        "USER": "askew",
        "HOST": "127.0.0.1",
        "PORT": server.port,
        "OPTIONS": {"connect_timeout": 2},
        **more,
    }
    return ConnectionHandler({"default": config})["default"]


def execute(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT quiet")


def execute_many(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.executemany("SELECT quiet", [(), ()])


def copy(connection: Any) -> None:
    with connection.wrap_database_errors, connection.cursor() as cursor:
        cursor.copy_expert("COPY things FROM STDIN", io.BytesIO(b"1\n"))


def commit(connection: Any) -> None:
    connection.set_autocommit(False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    connection.commit()


def seconds_until_given_up(ask: Callable[[], object]) -> float:
    began = time.monotonic()
    with pytest.raises(OperationalError):
        ask()
    return time.monotonic() - began


@pytest.mark.parametrize(
    ("ask", "silent_at"),
    [(execute, "quiet"), (execute_many, "quiet"), (copy, "end of COPY"), (copy, "COPY"), (commit, "COMMIT")],
)
def test_a_server_that_falls_silent_is_given_up_after_the_limit(
    role: Any, servers: Any, ask: Callable[[Any], None], silent_at: str
) -> None:
    connection = connection_to(servers(silent_at))
    connection.ensure_connection()

    took = seconds_until_given_up(lambda: ask(connection))

    assert LIMIT <= took < ENOUGH
    assert not connection.is_usable()


def test_a_server_that_takes_connections_and_says_nothing_is_given_up(role: Any, servers: Any) -> None:
    connection = connection_to(servers("connect"))

    assert seconds_until_given_up(connection.ensure_connection) < ENOUGH


def test_after_a_silence_the_next_statements_of_a_web_process_fail_at_once(role: Any, servers: Any) -> None:
    silent, other = connection_to(servers("quiet")), connection_to(servers("quiet"))
    silent.ensure_connection()
    other.ensure_connection()
    seconds_until_given_up(lambda: execute(silent))

    assert not other.is_usable()  # nobody waits for a connection that goes through the same network
    other.close()
    assert seconds_until_given_up(lambda: execute(other)) < LIMIT


def test_an_answer_after_a_silence_ends_it_for_everybody(
    role: Any, servers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "PAUSE", 0)
    connection = connection_to(servers("quiet"))
    connection.ensure_connection()
    seconds_until_given_up(lambda: execute(connection))
    assert watchdog.breaker.is_open

    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")

    assert not watchdog.breaker.is_open


def test_a_silence_in_a_worker_is_one_statements_own(role: Any, servers: Any) -> None:
    role(limits.WORKER)
    connection = connection_to(servers("quiet"))
    connection.ensure_connection()

    assert seconds_until_given_up(lambda: execute(connection)) >= 2 * LIMIT
    assert not watchdog.breaker.is_open


def test_one_thread_may_wait_for_less_and_that_says_nothing_of_the_database(role: Any, servers: Any) -> None:
    connection = connection_to(servers("quiet"))
    connection.ensure_connection()

    with limits.at_most(0.05):
        assert seconds_until_given_up(lambda: execute(connection)) < ENOUGH
    assert not watchdog.breaker.is_open


def test_a_connection_that_is_closed_meanwhile_leaves_whoever_has_its_number_now_alone() -> None:
    ours, theirs = socket.socketpair()

    class ClosedConnection:
        """Closed after its number was read; the number is another socket's by now."""

        deadline, is_cut, closed = 0.0, False, 1

        def fileno(self) -> int:
            return ours.fileno()

    with ours, theirs:
        watchdog._cut(ClosedConnection(), 0.0)  # type: ignore[arg-type]
        ours.sendall(b"still open")
        assert theirs.recv(20) == b"still open"


@pytest.mark.parametrize(
    ("name", "expected"), [("web", (300, 11_000)), ("worker", (600, 12_000)), ("command", (900, 13_000))]
)
def test_the_server_is_told_the_limits_of_the_role_and_the_startup_packet_has_none(
    role: Any, servers: Any, name: str, expected: tuple[int, int]
) -> None:
    role(name)
    server = servers()
    connection = connection_to(server)
    connection.ensure_connection()

    sent = "SET statement_timeout = {}; SET idle_in_transaction_session_timeout = {}".format(*expected)
    assert sent in server.queries
    assert b"timeout" not in server.startup[0]
    assert b"options" not in server.startup[0]
    connection.close()


def test_behind_a_pooler_of_transactions_each_of_them_sets_the_limits_and_no_session_does(
    role: Any, servers: Any
) -> None:
    server = servers()
    connection = connection_to(server, DISABLE_SERVER_SIDE_CURSORS=True)
    for _ in range(2):
        connection.set_autocommit(False)
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        connection.commit()
        connection.set_autocommit(True)

    sent = "SET LOCAL statement_timeout = 300; SET LOCAL idle_in_transaction_session_timeout = 11000"
    once = ["BEGIN", sent, "SELECT 1", "COMMIT"]
    assert server.queries == [*once, *once]
    connection.close()


def test_within_a_migration_nothing_is_cut(role: Any, servers: Any) -> None:
    server = servers()
    connection = connection_to(server)
    connection.ensure_connection()

    with limits.lifted():
        connection.set_limits()
        assert limits.longest_answer() == 0

    assert "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0" in server.queries
    assert limits.longest_answer() == LIMIT
    connection.close()
