"""Edits over SQLite by four clients while a worker decides them: how long people wait, and who is refused.

    ./run bench edits [--edits 3000] [--people 4] [--database sqlite]

Each client takes an item, changes one cell and submits with the new answer, without think time, over HTTP to gunicorn (2
workers, 8 threads). A worker decides what is complete meanwhile; its clock is a minute ahead, so that it always has
something to decide. Counted are answers by status, what was
answered with 5xx, and what the database holds in the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from benchmarks import loop
from benchmarks.figures import keep

SLOWEST = 10.0
"""Seconds that a request may take."""


def main() -> int:
    """Print the figures; 1 where a request failed, or something was lost."""
    parser = argparse.ArgumentParser(prog="./run bench edits", description=__doc__.splitlines()[0])
    parser.add_argument("--edits", type=int, default=3_000, metavar="N")
    parser.add_argument("--people", type=int, default=4, metavar="N")
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare or options.count or options.work:
        import django

        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        django.setup()
        if options.work:
            return _work()
        print(json.dumps(_prepare(options) if options.prepare else _count()))
        return 0
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-edits-"))
        os.environ |= {
            "DATABASE_URL": f"sqlite:///{folder}/askew.sqlite3",
            "ASKEW_DATA_DIR": folder,
            "SECRET_KEY": "k" * 60,
            "LOG_LEVEL": "ERROR",
        }
        crew = _asked("--prepare", options)
        port, _ = stack.enter_context(loop._served("config.wsgi"))
        worker = subprocess.Popen([sys.executable, "-m", "benchmarks.edits", "--work"], cwd=loop.ROOT)
        stack.callback(worker.wait, 60)
        stack.callback(worker.terminate)
        clients = [Client(port, person) for person in crew]
        began = time.monotonic()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        seconds = time.monotonic() - began
        found = _asked("--count", options)
    return _report(clients, found, seconds)


def _report(clients: list[Client], found: dict[str, int], seconds: float) -> int:
    statuses = sum((client.statuses for client in clients), Counter[int]())
    acknowledged = sum(client.acknowledged for client in clients)
    slowest = max(client.slowest for client in clients)
    failed = sum(count for status, count in statuses.items() if status >= 500)
    print(f"{acknowledged} edits in {seconds:.0f} s by {len(clients)} clients over SQLite beside a worker")
    print(f"  answers: {', '.join(f'{count} x {status}' for status, count in sorted(statuses.items()))}")
    print(f"  slowest answer: {slowest:.2f} s; stored {found['stored']}, decided {found['decided']}")
    print(f"load: {os.getloadavg()[0]:.1f}")
    for client in clients:
        for said in client.refused[:3]:
            print(f"  {said}", file=sys.stderr)
    figures = [
        keep("edits over SQLite answered with 5xx", failed, at_most=0),
        keep("edits over SQLite lost", acknowledged - found["stored"], at_most=0),
        keep("slowest answer to an edit over SQLite", slowest, "s", at_most=SLOWEST),
    ]
    return int(any(one.met is False for one in figures))


class Client(threading.Thread):
    """One person: asks again for what failed."""

    def __init__(self, port: int, person: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.caller, self.batch = loop.Caller(port, person), person["batch"]
        self.statuses: Counter[int] = Counter()
        self.refused: list[str] = []
        self.acknowledged = 0
        self.slowest = 0.0

    def run(self) -> None:
        held = self._ask(f"/api/batches/{self.batch}/next/", {"holding": []})
        while held:
            body = {"response": _edit(held), "next": True, "holding": []}
            found = self._ask(f"/api/assignments/{held['id']}/submit/", body)
            if found is None:
                return
            self.acknowledged += 1
            held = found["next"]

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        while True:
            began = time.monotonic()
            status, text = self.caller.post(path, json.dumps(body))
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.statuses[status] += 1
            if status == 200:
                found: dict[str, Any] = json.loads(text)
                return found
            if status == 204:
                return None
            self.refused.append(f"{path}: {status} {text[:300]!r}")
            if status < 500:
                return None


def _edit(held: dict[str, Any]) -> dict[str, Any]:
    """Another first cell, and another answer."""
    old = held["shows"]["table"]["rows"][0][0]
    operation = {"op": "set_cell", "row": "r0", "column": "c0", "at": [0, 0], "old": old, "new": f"{old} 2"}
    data = {"unanswerable": False, "operations": [operation], "answers": ["something else"], "reason": ""}
    return {key: held[key] for key in ("type", "variant", "version", "base")} | {"data": data}


def _asked(what: str, options: argparse.Namespace) -> Any:
    words = ["-m", "benchmarks.edits", what, "--edits", str(options.edits), "--people", str(options.people)]
    done = subprocess.run(
        [sys.executable, *words], check=True, stdout=subprocess.PIPE, text=True, cwd=loop.ROOT
    )
    return json.loads(done.stdout.splitlines()[-1])


def _prepare(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A batch of so many items for these people."""
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.journeys import assigning, importing, setting_up
    from annotation.models import Person
    from annotation.roles import Role
    from benchmarks import loop_data
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    now = timezone.now()
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = setting_up.create_project(slug="bench", name="Bench", manager=mara, now=now)
    source = importing.import_examples(project=project, reader="wtq", path=loop.TABLES, now=now).source
    batch = assigning.plan_batch(
        project=project,
        name="edits",
        task=task_type("value_change"),
        sample=assigning.Sample(sources=[source]),
        terms={"variant": "answer_changes"},
        by=mara,
        now=now,
    )
    loop_data._grow(batch, source, options.edits)
    assigning.open_batch(batch=batch, by=mara, now=now)
    crew = []
    for number in range(options.people):
        person = Person.objects.create_person(f"Person {number}")
        setting_up.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=now)
        crew.append({**loop_data._signed_in(person), "batch": batch.public_id})
    return crew


def _work() -> int:
    """`./run manage worker`, for which the time to undo is over at once."""
    from django.core.management import call_command
    from django.utils import timezone

    now = timezone.now
    timezone.now = lambda: now() + timedelta(seconds=61)
    call_command("worker")
    return 0


def _count() -> dict[str, int]:
    from annotation.models import Assignment, Decision

    return {
        "stored": Assignment.objects.filter(state="submitted").count(),
        "decided": Decision.objects.count(),
    }


if __name__ == "__main__":
    sys.exit(main())
