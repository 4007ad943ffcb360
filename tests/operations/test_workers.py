"""Several workers over PostgreSQL: each job is done once, and none is lost with its worker."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from annotation.background import jobs
from annotation.models import Job
from tableqa.core.translation import unpack
from tests.annotation.cast import NOON, World
from tests.temp_postgres import temporary_postgres
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]

PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.utils import timezone
from annotation.workflow import projects as setting_up
from annotation.models import Person
mara = Person.objects.create_person("Mara", "mara@example.org")
setting_up.create_project(slug="films", name="Films", manager=mara, now=timezone.now())
"""
ENQUEUE = """
import sys, django; django.setup()
from django.utils import timezone
from annotation.background import jobs
from annotation.models import Project
many, seconds, again = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[-1])
ids = {"seconds": seconds, "seconds_again": again}
for _ in range(many):
    jobs.enqueue(project=Project.objects.get(), kind="sleep", ids=ids, by=None, now=timezone.now())
"""


class Hosts:
    """A PostgreSQL, and processes that work over it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.ledger, self.log = folder / "ledger", folder / "log"
        self.ledger.touch()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.operations.settings_of_workers",
            "DATABASE_URL": url,
            "SECRET_KEY": "k" * 60,
            "ASKEW_DATA_DIR": str(folder),
            "LEDGER": str(self.ledger),
        }
        self.database = psycopg2.connect(host=url.partition("host=")[2], user="postgres", dbname="postgres")
        self.database.autocommit = True

    def python(self, *arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=self.environment, check=True)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.database.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def states(self) -> Counter[str]:
        return Counter(dict(self.rows("SELECT state, count(*) FROM annotation_job GROUP BY state")))

    def begun(self) -> list[tuple[int, int]]:
        """(job, process) of each beginning, in order."""
        return [
            (int(job), int(pid)) for job, pid in re.findall(r"start (\d+) (\d+)", self.ledger.read_text())
        ]

    def pass_time(self, minutes: int) -> None:
        """As if nobody had heard of any job for so long."""
        self.rows(f"UPDATE annotation_job SET heartbeat = heartbeat - interval '{minutes} minutes'")

    def until(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        try:
            wait_until(holds, seconds=seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.states()}\n{self.log.read_text()[-3000:]}") from error

    def end(self) -> None:
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            finally:
                process.wait(10)
        self.database.close()


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with temporary_postgres() as url:
        made = Hosts(url, tmp_path)
        try:
            made.python("-c", PREPARE)
            yield made
        finally:
            made.end()


def test_two_workers_never_do_one_job_and_a_killed_ones_job_is_taken_up_or_fails_in_words(
    hosts: Hosts,
) -> None:
    hosts.python("-c", ENQUEUE, "40", "0.1")
    workers = [hosts.start("manage.py", "worker", "--interval", "0.1") for _ in range(2)]
    hosts.until(lambda: hosts.states()["done"] == 40)

    begun = hosts.begun()
    assert len(begun) == len({job for job, _ in begun}) == 40, "each once"
    assert {pid for _, pid in begun} == {worker.pid for worker in workers}, "by both"
    assert hosts.rows("SELECT DISTINCT attempts FROM annotation_job") == [(1,)]

    hosts.python("-c", ENQUEUE, "1", "3600")
    for attempt in range(1, jobs.MOST_ATTEMPTS + 1):
        hosts.until(lambda attempt=attempt: len(hosts.begun()) == 40 + attempt)  # type: ignore[misc]
        _, at_it = hosts.begun()[-1]
        workers.append(hosts.start("manage.py", "worker", "--interval", "0.1"))
        os.kill(at_it, signal.SIGKILL)
        hosts.pass_time(2)
    hosts.until(lambda: hosts.states()["failed"] == 1)

    attempts = hosts.begun()[40:]
    assert len({pid for _, pid in attempts}) == jobs.MOST_ATTEMPTS, "another worker each time"
    [(error, tries)] = hosts.rows("SELECT error, attempts FROM annotation_job WHERE state = 'failed'")
    assert (unpack(error), tries) == ("The worker of this job was lost 3 times.", 3)


@pytest.mark.both
@pytest.mark.django_db
def test_who_was_taken_for_lost_does_not_end_the_job_of_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job.objects.create(
        project=world.project, kind="asleep", ids={}, heartbeat=NOON, made_at=NOON, state="queued"
    )

    def stalls(job: Job, progress: Any) -> dict[str, Any]:
        # Meanwhile: taken for lost, and begun by another worker.
        Job.objects.filter(pk=job.pk).update(attempts=2, state="running")
        return {"by": "the first"}

    monkeypatch.setitem(jobs.KINDS, "asleep", stalls)
    assert jobs.run(job.pk) == "lost"
    job.refresh_from_db()
    assert (job.state, job.result) == ("running", {})
