"""Submissions every 100 ms on SQLite while labels, gold or responses of another tool are imported: how long do they wait?

    ./run bench import_waits [--responses 20000] [--labels 100000] [--gold 1000]

SQLite has one writer. The import runs in a process of its own, another one takes items and submits them. Reported are the
longest wait, which is for the next item and for the submission, the processor time of the import, and that of its longest
transaction.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.figures import keep

ROOT = Path(__file__).resolve().parent.parent
PROMISED_WAIT = 5.0
EVERY = 0.1
"""Seconds between two submissions."""
PEOPLE = 7
LABELS = ("extraction", "reasoning", "neither")
TABLE = [["Film", "Year"], ["Heat", "1995"]]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main(arguments: list[str]) -> int:
    """Print the figures; the status is 1 where a submission waited longer than promised."""
    parser = argparse.ArgumentParser(prog="./run bench import_waits", description=__doc__.splitlines()[0])
    parser.add_argument("--responses", type=int, default=20_000, metavar="N")
    parser.add_argument("--labels", type=int, default=100_000, metavar="N")
    parser.add_argument("--gold", type=int, default=1_000, metavar="N", help="at most 1000")
    options = parser.parse_args(arguments)
    numbers = {"responses": options.responses, "labels": options.labels, "gold": options.gold}
    waited = [_measured(kind, number) for kind, number in numbers.items() if number]
    return int(any(wait > PROMISED_WAIT for wait in waited))


def _measured(kind: str, number: int) -> float:
    """Seconds that the longest submission took while so many responses, labels or gold answers were imported."""
    with tempfile.TemporaryDirectory(prefix="askew-waits-") as folder:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ASKEW_DATA_DIR": folder,
            "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
            "LOG_LEVEL": "ERROR",
        }
        found = {}
        for step in ("prepare", "submit"):
            command = [sys.executable, "-m", "benchmarks.import_waits", step, kind, str(number), folder]
            done = subprocess.run(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
            )
            found = json.loads(done.stdout.splitlines()[-1])
    what = f"{number:,} {kind}"
    keep(f"longest wait of a submission, {what}", found["wait"], "s", at_most=PROMISED_WAIT)
    keep(f"CPU of the longest transaction, {what}", found["cpu"], "s")
    print(
        f"{what}: import {found['import']:.1f} s ({found['import_cpu']:.1f} CPU s), longest transaction "
        f"{found['cpu']:.2f} CPU s ({found['wall']:.2f} s); {found['number']} submissions, "
        f"longest wait {found['wait']:.2f} s, median {found['median'] * 1000:.0f} ms"
    )
    return float(found["wait"])


# -- in the process of a step -----------------------------------------------------------------------


def _step(step: str, kind: str, number: int, folder: Path) -> dict[str, Any]:
    import django

    django.setup()
    return {"prepare": _prepare, "submit": _submit, "import": _import}[step](kind, number, folder)


def _prepare(kind: str, number: int, folder: Path) -> dict[str, Any]:
    """A project with a batch to annotate, and a file to import."""
    from django.core.management import call_command

    from annotation.access.roles import Role
    from annotation.models import Batch, Person
    from annotation.workflow import projects

    call_command("migrate", verbosity=0)
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = projects.create_project(slug="bench", name="Bench", manager=mara, now=NOW)
    for name in ("ada", "bo"):
        person = Person.objects.create_person(name, f"{name}@example.org")
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=NOW)
    _batch(project, mara, folder, "annotated", 5_000)
    if kind == "labels":
        _batch(project, mara, folder, "labelled", number)
        lines = (f"labelled-{at},Annotator {at % PEOPLE},{LABELS[at % 3]}\n" for at in range(number))
        (folder / "labels.csv").write_text("example,annotator,label\n" + "".join(lines), "utf-8")
        return {}
    if kind == "gold":
        _batch(project, mara, folder, "asked", number + 1, size=1)
        lines = (f"asked-{at},{LABELS[at % 3]}\n" for at in range(number + 1))
        first = Batch.objects.get(name="asked").items.get().example.external_id
        others = (line for line in lines if not line.startswith(f"{first},"))
        (folder / "gold.csv").write_text("example,label\n" + "".join(others), "utf-8")
        return {}
    tasks = [
        {
            "id": at,
            "data": {"question": f"when ({at})?", "table": TABLE, "answers": ["1995"]},
            "annotations": [
                {
                    "id": at,
                    "completed_by": {"id": at % PEOPLE, "email": f"{at % PEOPLE}@example.org"},
                    "created_at": "2025-05-04T03:02:01Z",
                    "result": [
                        {
                            "from_name": "label",
                            "to_name": "text",
                            "type": "choices",
                            "value": {"choices": [LABELS[at % 3]]},
                        }
                    ],
                }
            ],
        }
        for at in range(number)
    ]
    (folder / "export.json").write_text(json.dumps(tasks), "utf-8")
    return {}


def _batch(project: Any, by: Any, folder: Path, name: str, number: int, size: int | None = None) -> None:
    from annotation.imports import example_import
    from annotation.queue import sampling
    from annotation.workflow import batches
    from tasks.contract import task_type

    path = folder / f"{name}.jsonl"
    example = {"question": "when?", "answers": ["1995"], "table": {"header": TABLE[0], "rows": TABLE[1:]}}
    path.write_text(
        "".join(json.dumps({"id": f"{name}-{at}", **example}) + "\n" for at in range(number)), "utf-8"
    )
    source = example_import.import_examples(project=project, reader="jsonl", path=path, now=NOW, by=by).source
    batch = batches.plan_batch(
        project=project,
        task=task_type("question_type"),
        name=name,
        sample=sampling.Sample(sources=[source], size=size),
        by=by,
        now=NOW,
    )
    batches.open_batch(batch=batch, by=by, now=NOW)


def _import(kind: str, number: int, folder: Path) -> dict[str, Any]:
    """Import the file, and measure its transactions."""
    from django.db import transaction

    from annotation.background import uploads
    from annotation.imports import label_import, response_import
    from annotation.imports.field_mapping import ImportMapping
    from annotation.models import Batch, Project
    from annotation.quality import gold_files
    from tableqa.readers.gold_answers import read_gold

    longest: tuple[float, float] = (0.0, 0.0)
    begun: list[tuple[float, float]] = []
    enter, leave = transaction.Atomic.__enter__, transaction.Atomic.__exit__

    def entered(self: Any) -> None:
        begun.append((time.process_time(), time.perf_counter()))
        enter(self)

    def left(self: Any, *error: Any) -> None:
        nonlocal longest
        leave(self, *error)
        cpu, wall = begun.pop()
        if not begun:
            longest = max(longest, (time.process_time() - cpu, time.perf_counter() - wall))

    project = Project.objects.get(slug="bench")
    began, busy = time.perf_counter(), time.process_time()
    atomic: Any = transaction.Atomic
    atomic.__enter__, atomic.__exit__ = entered, left
    if kind == "labels":
        batch = Batch.objects.get(name="labelled")
        label_import.write(batch=batch, path=folder / "labels.csv", by=None, now=NOW)
    elif kind == "gold":
        batch = Batch.objects.get(name="asked")
        with uploads.local_input(folder / "gold.csv", read_gold) as file:
            gold_files.write(batch=batch, file=file, by=None, now=NOW)
    else:
        path, mapping = folder / "export.json", ImportMapping()
        response_import.write(
            project=project, path=path, tool="label_studio", mapping=mapping, by=None, now=NOW
        )
    return {
        "import": time.perf_counter() - began,
        "import_cpu": time.process_time() - busy,
        "cpu": longest[0],
        "wall": longest[1],
    }


def _submit(kind: str, number: int, folder: Path) -> dict[str, Any]:
    """Take an item and submit it, every 100 ms until the import has ended."""
    from django.db import OperationalError
    from django.utils import timezone

    from annotation.access import authorization
    from annotation.models import Batch, Person
    from annotation.queue import reservations
    from annotation.workflow import assignments

    def until_free(act: Callable[[], Any]) -> Any:
        """Begin again where the database was locked for longer than its timeout: that is part of the wait."""
        while True:
            try:
                return act()
            except OperationalError as error:
                if "locked" not in str(error):
                    raise

    person = Person.objects.get(name="ada")
    batch = Batch.objects.get(name="annotated")
    command = [sys.executable, "-m", "benchmarks.import_waits", "import", kind, str(number), str(folder)]
    importing = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    took = []
    while importing.poll() is None:
        began = time.perf_counter()
        leased = until_free(
            lambda: reservations.next_assignment(batch=batch, person=person, holding=[], now=timezone.now())
        )
        if leased is None:
            sys.exit("There are no items left to submit.")
        assignment = authorization.assignment(authorization.Actor(person), leased.public_id)
        item, task = assignment.plain_item, assignment.batch.task()
        response = {
            "type": task.key,
            "variant": item.variant,
            "version": task.version,
            "base": item.base,
            "data": {"label": "extraction"},
        }
        until_free(
            partial(
                assignments.submit,
                assignment=assignment,
                response=response,
                now=timezone.now(),
                confirmed=[],
            )
        )
        took.append(time.perf_counter() - began)
        time.sleep(max(0.0, EVERY - took[-1]))
    output, _ = importing.communicate()
    if importing.returncode:
        sys.exit("The import failed.")
    took.sort()
    waits = {"wait": took[-1], "median": took[len(took) // 2], "number": len(took)}
    return {**json.loads(output.splitlines()[-1]), **waits}


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("prepare", "submit", "import"):
        print(json.dumps(_step(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))))
    else:
        sys.exit(main(sys.argv[1:]))
