"""A whole site on the loopback, each part of which may be killed: database, web server, worker, model server, data folder.

Its people reach it over a `Line`, and over another one web server and worker reach PostgreSQL. What is asked of its
database, and begun in the name of a manager, goes to a process of its own (`inside.py`), so that whoever runs the site
needs no settings of it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.faults.line import Line
from tests.faults.postgres import Postgres

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0
"""Seconds within which a part that was started has to answer, on a machine that has other things to do."""
CLOCKS = ("web", "worker", "database")
NICE = 10
"""By how much work in the background gives way to people's requests."""
SMALL = "256m"
"""Room on the data folder's own file system, where the site has one."""

LIMITS = {
    "DB_STATEMENT_TIMEOUT_WORKER": "20",
    "DB_IDLE_IN_TRANSACTION_TIMEOUT_WEB": "10",
    "DB_IDLE_IN_TRANSACTION_TIMEOUT_WORKER": "30",
}
"""Shorter than by default, so that nobody waits for an hour here; those of a web process's statements are the default."""

SETTINGS = """
import os, time
from datetime import timedelta
from config.settings import *
from django.utils import timezone

MIGRATION_MODULES = {"annotation": "annotation_here"}
_now, _time, _looked = timezone.now, time.time, [-1.0, 0.0]


def _off():
    if time.monotonic() - _looked[0] > 0.2:
        with open(os.environ["CLOCK"]) as said:
            _looked[:] = time.monotonic(), float(said.read())
    return _looked[1]


if "CLOCK" in os.environ:
    timezone.now = lambda: _now() + timedelta(seconds=_off())
    time.time = lambda: _time() + _off()
"""
"""Those of a site; a process with a clock of its own asks a file how far that is off. Only the time of day is moved, as
where a real clock is set; what measures how long something takes goes on as it was."""
LATER = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", %(before)r)]
    operations = [
        migrations.RunSQL("ALTER TABLE annotation_%(table)s ADD COLUMN later_%(number)d integer NULL")
    ]
"""
HOT = ("assignment", "item", "personbatchcounts", "slot", "batch", "annotation")
"""The tables of the annotators' loop: each later migration adds a column to one of them."""


class Wrong(Exception):
    """Something is not as it has to be; the message says what."""


class Site:
    """The parts of one site. `database` is "postgresql" or "sqlite"; the parts are started by `start`."""

    def __init__(
        self,
        *,
        database: str,
        workers: int = 2,
        small_disk: bool = False,
        clocks: bool = False,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="askew-faults-"))
        self.data = self.folder / "data"
        self.data.mkdir()
        self.has_small_disk = small_disk and _mounted(self.data)
        self.fake_time = _fake_time() if clocks else ""
        self.has_clocks = clocks
        self.workers = workers
        self.port, self.model_port = _free_port(), _free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.migrations = 0
        self.postgres: Postgres | None = None
        code = self.folder / "code"
        shutil.copytree(
            ROOT / "annotation" / "migrations",
            code / "annotation_here",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (code / "site_settings.py").write_text(SETTINGS)
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in UNWANTED},
            "DJANGO_SETTINGS_MODULE": "site_settings",
            "PYTHONPATH": f"{code}{os.pathsep}{ROOT}",
            "SECRET_KEY": "k" * 60,
            "ASKEW_DATA_DIR": str(self.data),
            "DATABASE_URL": f"sqlite:///{self.data / 'askew.sqlite3'}",
            "LOG_LEVEL": "WARNING",
        }
        self.has_model = (ROOT / "predictor" / "bundled" / "weights" / "model.onnx").exists()
        if self.has_model:
            self.environment["PREDICTORS"] = json.dumps(
                {"bundled": {"url": f"http://127.0.0.1:{self.model_port}", "model": "bundled"}}
            )
        if database == "postgresql":
            self.postgres = Postgres(self._database_clock())
            self.environment["DATABASE_URL"] = self.postgres.url
        self.log = self.folder / "log"
        self.line = Line(self.port)
        self.database_line = Line(self.postgres.socket) if self.postgres is not None else None
        self.inside: Inside | None = None

    # -- parts --------------------------------------------------------------------------------------

    def start(self, people: int, **prepared: Any) -> list[dict[str, Any]]:
        """Start everything on an empty database; the people's cookies, tokens and what else `inside.prepare` gives."""
        if self.postgres is not None:
            self.postgres.start()
        self.inside = Inside(self)
        crew: list[dict[str, Any]] = self.tell("prepare", people=people, **prepared)
        self.start_web()
        self.start_worker()
        if self.has_model:
            self.start_model()
        self.until(lambda: self.answers(self.port, "/readyz"), "the web server is ready")
        return crew

    def tell(self, command: str, **what: Any) -> Any:
        """Ask `inside.py` for something."""
        if self.inside is None:
            raise Wrong("the site is not started")
        return self.inside.tell(command, **what)

    def start_web(self) -> None:
        """gunicorn as the page on operations starts it."""
        more = ["--worker-class", "gthread", "--workers", str(self.workers), "--threads", "8"]
        more += ["--keep-alive", "75", "--graceful-timeout", "10", "--log-level", "critical"]
        words = ["-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{self.port}", "--no-control-socket"]
        self._start("web", *words, *more)

    def start_worker(self) -> None:
        """`./run manage worker`."""
        self._start("worker", "manage.py", "worker")

    def start_model(self) -> None:
        """`./run predictor`: the bundled model."""
        self._start("model", "-m", "predictor.server", "--port", str(self.model_port), "--quiet")

    def kill(self, name: str) -> None:
        """SIGKILL for one part; who watches over it (systemd) has yet to start it again."""
        process = self.processes.pop(name)
        for child in [*children(process.pid), process.pid]:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        process.wait(20)

    def kill_web_worker(self, number: int) -> int:
        """SIGKILL for one of gunicorn's workers, which gunicorn starts again."""
        found = children(self.processes["web"].pid)
        while not found:  # it is just starting them
            time.sleep(0.05)
            found = children(self.processes["web"].pid)
        victim = found[number % len(found)]
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        return victim

    def reload(self) -> None:
        """`systemctl reload askew-web`: fresh processes; the old ones end what they are at."""
        before = set(children(self.processes["web"].pid))
        self.processes["web"].send_signal(signal.SIGHUP)
        self.until(
            lambda: len(now := set(children(self.processes["web"].pid))) >= self.workers and not now & before,
            "fresh processes serve",
        )

    def migrate(self) -> str:
        """A further migration, while people work; what `migrate` said."""
        folder = self.folder / "code" / "annotation_here"
        before = max(path.stem for path in folder.glob("[0-9]*.py"))
        self.migrations += 1
        table = HOT[self.migrations % len(HOT)]
        name = f"9{self.migrations:03d}_later.py"
        (folder / name).write_text(LATER % {"before": before, "number": self.migrations, "table": table})
        done = self.python("manage.py", "migrate", "--noinput")
        if done.returncode:
            raise Wrong(f"migrate failed: {done.stderr[-2000:]}")
        return done.stdout

    def in_background(self, *words: str) -> subprocess.Popen[bytes]:
        """A command of the site that gives way to people's requests (`nice`); its output is in the log."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *words],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                preexec_fn=lambda: os.nice(NICE),
            )

    def slow_down(self, name: str) -> None:
        """Have one part give way to the others, as `nice` does."""
        for pid in [self.processes[name].pid, *children(self.processes[name].pid)]:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(thread.name), NICE)

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of the site, to its end."""
        return subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=self.environment, capture_output=True, text=True
        )

    # -- the disk -----------------------------------------------------------------------------------

    def fill_disk(self) -> None:
        """Leave no room in the data folder."""
        with (self.data / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(b"\0" * 65_536)
        with (self.data / "crumbs").open("wb", buffering=0) as crumbs, suppress(OSError):
            while True:
                crumbs.write(b"\0" * 256)

    def make_room(self) -> None:
        """The disk is as it was."""
        for name in ("ballast", "crumbs"):
            (self.data / name).unlink(missing_ok=True)

    # -- clocks -------------------------------------------------------------------------------------

    def set_clock(self, whose: str, hours: float) -> None:
        """Move one clock, of `CLOCKS`, by so many hours from what it would be; 0 sets it right."""
        path = self._clock_file(whose)
        part = path.with_suffix(".part")
        part.write_text(f"{hours * 3600:+.0f}\n")
        part.rename(path)

    def clock(self) -> float:
        """What the database's clock says, in seconds since 1970."""
        return float(self.tell("clock"))

    def _clock_file(self, whose: str) -> Path:
        # Read by PostgreSQL's own user, too: not in a folder of ours alone.
        return Path(f"/tmp/{self.folder.name}.{whose}")

    def _clock(self, whose: str) -> dict[str, str]:
        """What makes one of our processes live by a clock of its own."""
        if not self.has_clocks:
            return {}
        self.set_clock(whose, 0)
        return {"CLOCK": str(self._clock_file(whose))}

    def _database_clock(self) -> dict[str, str]:
        """The same for PostgreSQL, which knows nothing of it."""
        if not self.fake_time:
            return {}
        self.set_clock("database", 0)
        return {
            "LD_PRELOAD": self.fake_time,
            "FAKETIME_TIMESTAMP_FILE": str(self._clock_file("database")),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    # -- watching -----------------------------------------------------------------------------------

    def answers(self, port: int, path: str) -> bool:
        """Whether a part says 200 there."""
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def ask(self, path: str, cookie: str = "") -> tuple[int, dict[str, str], float]:
        """Status and headers of an answer of the web server, and the seconds until it came; 0 where none came."""
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        began = time.monotonic()
        try:
            connection.request("GET", path, headers={"Cookie": cookie})
            answer = connection.getresponse()
            return answer.status, dict(answer.headers), time.monotonic() - began
        except (OSError, http.client.HTTPException):
            return 0, {}, time.monotonic() - began
        finally:
            connection.close()

    def until(self, holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Raises Wrong, with the end of the log, where it does not hold in time."""
        last = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > last:
                log = self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""
                raise Wrong(f"not within {seconds:.0f} s: {what}\n{log}")
            time.sleep(0.05)

    def end(self) -> None:
        """Stop everything, and leave no trace."""
        if self.inside is not None:
            self.inside.end()
        for name in list(self.processes):
            self.kill(name)
        self.line.end()
        if self.database_line is not None:
            self.database_line.end()
        if self.postgres is not None:
            self.postgres.end()
        if self.has_small_disk:
            subprocess.run(["umount", "--lazy", self.data], check=False)
        for whose in CLOCKS:
            self._clock_file(whose).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _of_application(self, name: str) -> dict[str, str]:
        """What web server and worker have of their own: a clock, and the line to their database."""
        if self.database_line is None:
            return self._clock(name)
        url = f"postgres://postgres@127.0.0.1:{self.database_line.port}/postgres"
        return {**self._clock(name), **LIMITS, "DATABASE_URL": url}

    def _start(self, name: str, *words: str) -> None:
        with self.log.open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *words],
                cwd=ROOT,
                env={**self.environment, **(self._of_application(name) if name in ("web", "worker") else {})},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )


class Inside:
    """A process with the site's settings that does what it is told, one line of JSON at a time."""

    def __init__(self, site: Site) -> None:
        self.errors = site.folder / "inside.log"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.inside"],
            cwd=ROOT,
            env=site.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors.open("ab"),
            text=True,
            bufsize=1,
        )

    def tell(self, command: str, **what: Any) -> Any:
        if self.process.stdin is None or self.process.stdout is None:
            raise Wrong("nobody is inside")
        self.process.stdin.write(json.dumps({"command": command, "what": what}) + "\n")
        answer = self.process.stdout.readline()
        if not answer:
            raise Wrong(f"inside, {command} failed:\n{self.errors.read_text()[-3000:]}")
        found = json.loads(answer)
        if "error" in found:
            raise Wrong(f"inside, {command}: {found['error']}")
        return found["answer"]

    def end(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(20)
        if self.process.stdout is not None:
            self.process.stdout.close()


UNWANTED = {
    "DATABASE_URL",
    "DB_STATEMENT_TIMEOUT_WEB",
    "PUBLIC_URL",
    "PLAIN_HTTP",
    "TRUST_PROXY",
    "COMPRESS_STATIC",
    "PREDICTORS",
    "METRICS_TOKEN",
    "LOG_REQUESTS",
    "PROMETHEUS_MULTIPROC_DIR",
}


def children(pid: int) -> list[int]:
    """The processes that a process has started and that live (Linux)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.append(int(stat.parent.name))
    return sorted(found)


def _mounted(folder: Path) -> bool:
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    command: Sequence[str] = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder)]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _fake_time() -> str:
    """The library that gives a process a clock of its own; "" where it is not installed."""
    places = [
        *Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"),
        Path("/usr/lib/faketime/libfaketimeMT.so.1"),
    ]
    return str(next((path for path in places if path.exists()), ""))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
