"""A PostgreSQL server that may be killed, and started again over the same data: what it acknowledged is to be there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.temp_postgres import (
    DURABLE,
    find_binaries,
    unprivileged,
    wait_until_it_answers,
    within_reach,
)

SESSIONS = (
    "SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity "
    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
)
KILLS = ("immediate", "postmaster", "backend")
"""SIGQUIT as `pg_ctl stop -m immediate` sends it; SIGKILL for the server's first process; SIGKILL for one of its others."""


class Postgres:
    """One server in a folder of its own, reached by a Unix socket. Commits wait for the disk."""

    def __init__(self, environment: dict[str, str], settings: Sequence[str] = DURABLE) -> None:
        # Not TMPDIR: the path of a Unix socket may have about a hundred characters.
        self.home = Path(tempfile.mkdtemp(prefix="askew-pg-", dir="/tmp"))
        self.settings = settings
        self.binaries, self.owner = find_binaries(), dict[str, Any]()
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            self.owner = unprivileged()
            os.chown(self.home, self.owner["user"], self.owner["group"])
            self.binaries = within_reach(self.binaries, self.home, self.owner)
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.home)}
        words = ["-D", str(self.home / "data"), "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8"]
        subprocess.run(
            [self.binaries / "initdb", *words],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.home,
            env=self.environment,
            **self.owner,
        )
        self.environment |= environment
        self.process: subprocess.Popen[bytes] | None = None
        self.url = f"postgres://postgres@/postgres?host={self.home}"

    def start(self) -> None:
        """Start it, and wait until it has recovered and answers. Raises RuntimeError with the server's log."""
        words = [word for setting in ("listen_addresses=", *self.settings) for word in ("-c", setting)]
        for _ in range(100):
            with (self.home / "log").open("ab") as log:
                self.process = subprocess.Popen(
                    [self.binaries / "postgres", "-D", self.home / "data", "-k", self.home, *words],
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    cwd=self.home,
                    env=self.environment,
                    **self.owner,
                )
            try:
                wait_until_it_answers(self.process, self.home)
                return
            except RuntimeError:
                if self.process.poll() is None:
                    raise
                time.sleep(0.1)  # what the killed server left behind is still ending
        raise RuntimeError(f"PostgreSQL did not start again:\n{(self.home / 'log').read_text()[-3000:]}")

    def kill(self, how: str) -> None:
        """End it in one of `KILLS`; only after "backend" does it come back by itself."""
        assert self.process is not None
        if how == "backend":
            # It then ends all the others by itself, and begins anew.
            others = set(self.query(SESSIONS).split())
            said = self.query(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
                "ORDER BY state = 'active' DESC, xact_start NULLS LAST LIMIT 1"
            )
            if said:
                os.kill(int(said), signal.SIGKILL)
                while any(Path(f"/proc/{one}").exists() for one in others):
                    time.sleep(0.02)
            return
        self.process.send_signal(signal.SIGQUIT if how == "immediate" else signal.SIGKILL)
        self.process.wait(20)

    def restart(self) -> None:
        """As `pg_ctl restart -m fast`: sessions are ended in words, and commits that were acknowledged are on disk."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        self.start()

    @property
    def socket(self) -> Path:
        """Where it is reached."""
        return self.home / ".s.PGSQL.5432"

    def query(self, statement: str) -> str:
        """The first value of the first row, as text; "" where there is none."""
        import psycopg2

        connection = psycopg2.connect(host=str(self.home), user="postgres", dbname="postgres")
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                row = cursor.fetchone()
                return "" if row is None else str(row[0])
        finally:
            connection.close()

    def answers(self) -> bool:
        """Whether it takes connections."""
        import psycopg2

        with suppress(psycopg2.Error):
            return self.query("SELECT 1") == "1"
        return False

    def end(self) -> None:
        """Stop it and leave no trace."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(20)
        shutil.rmtree(self.home, ignore_errors=True)
