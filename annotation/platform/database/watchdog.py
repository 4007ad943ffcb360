"""A deadline on our side for every round trip to PostgreSQL, COPY and COMMIT included.

A server that is silent but alive keeps its connection open, and neither its own statement timeout nor TCP notices.
Each guarded connection writes down until when it waits; one thread of the process looks four times a second and shuts
the socket of a connection whose time is over. psycopg2 then raises OperationalError in the thread that waits. Unlike
psycopg2's wait callback this covers COPY, and costs a statement about a microsecond.

In a web process the first cut opens a circuit breaker: for `PAUSE` seconds statements fail at once, then one of them
tries. So requests do not queue up behind a database that says nothing.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any, ClassVar
from weakref import WeakSet

import psycopg2
import psycopg2.extensions

from annotation.platform.database import SILENT, limits

TICK = 0.25
"""Seconds between two looks."""
PAUSE = 2
"""Seconds between two tries while the breaker is open, and the longest that a try waits."""


class Breaker:
    """Open while the database is silent; one thread at a time may try it then."""

    def __init__(self) -> None:
        self.is_open = False
        self._retry_at = 0.0
        self._trying = 0
        self._lock = threading.Lock()

    def trip(self) -> None:
        """The database was silent for as long as any person waits."""
        self.is_open, self._retry_at, self._trying = True, monotonic() + PAUSE, 0

    def close(self) -> None:
        """The database has answered."""
        self.is_open = False

    def require_turn(self) -> None:
        """Raise psycopg2.OperationalError unless it is this thread's turn to try."""
        with self._lock:
            now, me = monotonic(), threading.get_ident()
            if now < self._retry_at and self._trying != me:
                raise psycopg2.OperationalError(SILENT)
            if self._trying != me:
                self._retry_at, self._trying = now + 2 * PAUSE, me


breaker = Breaker()


class Connection(psycopg2.extensions.connection):
    """A connection whose every round trip has a deadline."""

    deadline = 0.0
    """When to give up, by the monotonic clock; 0 while nothing is asked."""
    is_capped = False
    """Whether `limits.at_most` set the deadline: its passing then says nothing about the database."""
    is_cut = False

    def commit(self) -> None:
        """As psycopg2's, within the deadline."""
        _within(self, super().commit)

    def rollback(self) -> None:
        """As psycopg2's, within the deadline."""
        _within(self, super().rollback)


class Cursor(psycopg2.extensions.cursor):
    """A cursor of such a connection."""

    connection: Connection

    def execute(self, query: Any, vars: Any = None) -> None:
        """As psycopg2's, within the deadline."""
        _within(self.connection, super().execute, query, vars)

    def executemany(self, query: Any, vars_list: Any) -> None:
        """As psycopg2's; each statement has the deadline."""
        for vars in vars_list:
            self.execute(query, vars)

    def copy_expert(self, sql: Any, file: Any, size: int = 8192) -> None:
        """As psycopg2's, within the deadline."""
        _within(self.connection, super().copy_expert, sql, file, size)

    # A named cursor asks the server for every page; others have all rows already.

    def fetchone(self) -> Any:
        """As psycopg2's."""
        return super().fetchone() if self.name is None else _within(self.connection, super().fetchone)

    def fetchmany(self, size: int | None = None) -> Any:
        """As psycopg2's."""
        size = self.arraysize if size is None else size
        if self.name is None:
            return super().fetchmany(size)
        return _within(self.connection, super().fetchmany, size)

    def fetchall(self) -> Any:
        """As psycopg2's."""
        return super().fetchall() if self.name is None else _within(self.connection, super().fetchall)

    def close(self) -> None:
        """As psycopg2's."""
        if self.name is None:
            super().close()
        else:
            _within(self.connection, super().close)


def _within(connection: Connection, ask: Callable[..., Any], *arguments: Any) -> Any:
    """One round trip: it has a deadline, and where that has passed it says so."""
    seconds = limits.longest_answer()
    if breaker.is_open and limits.is_web():
        breaker.require_turn()
        seconds = min(seconds or PAUSE, PAUSE)
    if seconds:
        connection.is_capped = limits.is_capped()
        connection.deadline = monotonic() + seconds
    try:
        answer = ask(*arguments)
    except psycopg2.Error as error:
        if connection.is_cut:
            raise psycopg2.OperationalError(SILENT) from error
        raise
    finally:
        connection.deadline = 0.0
    if breaker.is_open:
        breaker.close()
    return answer


def connect(**params: Any) -> Connection:
    """A connection under watch. `connect_timeout`, libpq's own, limits how long connecting takes."""
    began = monotonic()
    web = limits.is_web()
    if web and breaker.is_open:
        breaker.require_turn()
        params["connect_timeout"] = int(PAUSE)
    try:
        new_connection: Connection = psycopg2.connect(
            connection_factory=Connection, **{**params, "cursor_factory": Cursor}
        )
    except psycopg2.OperationalError:
        if web and monotonic() - began >= float(params.get("connect_timeout") or "inf"):
            breaker.trip()
        raise
    _Watchdog.watch(new_connection)
    return new_connection


class _Watchdog(threading.Thread):
    """The one thread of a process that looks after its connections."""

    connections: ClassVar[WeakSet[Connection]] = WeakSet()
    lock: ClassVar[Any] = threading.Lock()
    running: ClassVar[_Watchdog | None] = None

    def __init__(self) -> None:
        super().__init__(name="database deadlines", daemon=True)

    @classmethod
    def watch(cls, connection: Connection) -> None:
        with cls.lock:
            cls.connections.add(connection)
            if cls.running is None:
                cls.running = cls()
                cls.running.start()

    @classmethod
    def forget(cls) -> None:
        """After a fork: threads stay with the parent."""
        cls.connections, cls.lock, cls.running = WeakSet(), threading.Lock(), None

    def run(self) -> None:
        while True:
            sleep(TICK)
            self.look()

    def look(self) -> None:
        """Cut what has waited for too long; where the role's limit has passed, idle connections too."""
        with self.lock:
            connections = list(self.connections)
        late = [(each, each.deadline) for each in connections if 0 < each.deadline < monotonic()]
        if limits.is_web() and any(not each.is_capped for each, _ in late):
            # Those that are idle go through the same network: each would cost a person the same time.
            breaker.trip()
            late += [(each, 0.0) for each in connections if not each.deadline and not each.closed]
        for connection, deadline in late:
            if not connection.is_cut:
                _cut(connection, deadline)


def _cut(connection: Connection, deadline: float) -> None:
    """Shut the socket, unless the answer has come meanwhile: a waiting reader notices at once."""
    try:
        copy = os.dup(connection.fileno())
    except (psycopg2.Error, OSError):
        return  # it is closed already
    with socket.socket(fileno=copy) as line:
        # Once it is closed, the number may be another socket's.
        if connection.deadline == deadline and not connection.closed:
            connection.is_cut = True
            try:
                line.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # the other side was quicker


os.register_at_fork(after_in_child=_Watchdog.forget)
