"""Labelled items in, and out again as a release over HTTP, on PostgreSQL: seconds, and how much memory grows.

    ./run bench import_release [--items 100000] [--few 2000]

In: a file of JSON Lines with questions over tables of WikiTableQuestions' size (eight questions a table, the table on each
line), a batch over them, and a CSV file with a label for each that somebody gave elsewhere; each step is timed. The floor is
a bare COPY of the same bytes into a table without keys. Out: everything is decided, then a manager posts the form of a
release, waits for its job, and downloads the archive; a worker and gunicorn run as they do in production. Memory is the
highest of each process less what it had before its step, with `--items` beside `--few`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.figures import Figure, keep

ROOT = Path(__file__).resolve().parent.parent
PROMISED_IN, PROMISED_OUT, PROMISED_FIRST = 20.0, 8.0, 1.0
PROMISED_MEMORY = 32.0
A_TABLE = 8
"""Questions over one table, as in WikiTableQuestions."""
ROWS, COLUMNS = 25, 6
LABELS = ("extraction", "reasoning", "neither")
CHUNK = 1_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main(arguments: list[str]) -> int:
    """Print the figures; the status is 1 where a promise is broken."""
    parser = argparse.ArgumentParser(prog="./run bench import_release", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000, metavar="N")
    parser.add_argument("--few", type=int, default=2_000, metavar="N", help="to compare the memory with")
    options = parser.parse_args(arguments)
    found = [_taken(number) for number in (options.few, options.items)]
    few, many = found
    items = f"{options.items:,} items"
    figures = [
        keep(f"in, {items}", many["in"], "s", floor=many["floor"], at_most=PROMISED_IN),
        keep(f"out, {items}", many["out"], "s", at_most=PROMISED_OUT),
        keep(f"first byte, {items}", many["first byte"], "s", at_most=PROMISED_FIRST),
        *(
            keep(f"{name}, {items}", many[name], "MB", floor=few[name], at_most=PROMISED_MEMORY)
            for name in ("memory in", "memory out")
        ),
    ]
    for figure in figures:
        _tell(figure)
    print(f"the same with {options.few:,} items: in {few['in']:.1f} s, out {few['out']:.1f} s", end=", ")
    print(f"memory in {few['memory in']:.0f} MB, memory out {few['memory out']:.0f} MB")
    print(f"load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return int(any(figure.met is False for figure in figures))


def _tell(figure: Figure) -> None:
    held = "met" if figure.met else "missed"
    print(f"{figure.name}: {figure.value:.1f} {figure.unit}, promised {figure.at_most:.0f}: {held}")


def _taken(number: int) -> dict[str, float]:
    """All steps with so many items, on a database of its own."""
    from benchmarks.loop import _served
    from tests.temp_postgres import DURABLE, temporary_postgres

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-in-out-")))
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ASKEW_DATA_DIR": str(folder),
            "DATABASE_URL": stack.enter_context(temporary_postgres(DURABLE)),
            "ALLOWED_HOSTS": "127.0.0.1",
            "LOG_LEVEL": "ERROR",
        }
        print(f"{number:,} items", flush=True)
        done = _step("in", number, folder)
        _step("decided", number, folder)
        worker = subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT)
        stack.callback(worker.wait, 60)
        stack.callback(worker.terminate)
        port, _ = stack.enter_context(_served("config.wsgi"))
        _waits(worker.pid)
        before = _of_process(worker.pid, "VmRSS")
        out, first, size = _released(port, done["manager"])
        return {
            "in": done["in"],
            "floor": done["floor"],
            "memory in": done["memory"],
            "out": out,
            "first byte": first,
            "memory out": _of_process(worker.pid, "VmHWM") - before,
            "bytes": size,
        }


def _waits(pid: int) -> None:
    """Until a worker has loaded everything: it grows no more."""
    last = 0.0
    while (now := _of_process(pid, "VmRSS")) < 60 or now > last:
        last = now
        time.sleep(3)


def _step(step: str, number: int, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.import_release", "--step", step, str(number), str(folder)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    *lines, last = done.stdout.splitlines()
    for line in lines:
        print(f"  {line}", flush=True)
    found: dict[str, Any] = json.loads(last)
    return found


def _released(port: int, manager: dict[str, str]) -> tuple[float, float, int]:
    """Seconds from the form to the last byte of the archive, those to the download's first byte, and its size."""
    caller = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    headers = {"Cookie": manager["cookie"], "X-CSRFToken": manager["csrf"]}
    form = urlencode({"name": "v1", "format": "askew", "csrfmiddlewaretoken": manager["csrf"]})
    began = time.perf_counter()

    def asked(method: str, path: str, body: str = "") -> tuple[int, str, bytes]:
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        caller.request(method, path, body or None, headers | kind)
        answer = caller.getresponse()
        return answer.status, answer.headers.get("Location", ""), answer.read()

    status, _, page = asked("POST", "/projects/bench/releases/", form)
    if status != 302:
        sys.exit(f"The release was not begun: {status} {page[:300]!r}")
    release = None
    while release is None:
        time.sleep(0.1)
        page = asked("GET", "/projects/bench/releases/")[2]
        if b"failed, see why" in page:
            sys.exit("The release failed.")
        release = re.search(rb"/releases/\w{12}/(?=[\"'])", page)
    made = time.perf_counter()
    caller.request("GET", f"{release[0].decode()}download/", headers=headers)
    answer = caller.getresponse()
    size = len(answer.read(1))
    first = time.perf_counter() - made
    while block := answer.read(1 << 20):
        size += len(block)
    ended = time.perf_counter()
    print(
        f"  release: made {made - began:.1f} s, first byte {first:.2f} s, {size / 2**20:.0f} MB, all {ended - began:.1f} s"
    )
    return ended - began, first, size


def _of_process(pid: int | str, what: str) -> float:
    """A line of a process's status in megabytes (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) / 1024


# -- in the process of a step -----------------------------------------------------------------------


def take(step: str, number: int, folder: Path) -> dict[str, Any]:
    """Do a step and give what it measured."""
    import django

    django.setup()
    return {"in": _in, "decided": _decided}[step](number, folder)


def _in(number: int, folder: Path) -> dict[str, Any]:
    from django.core.management import call_command
    from django.db import connection

    from annotation.access.roles import Role
    from annotation.imports import example_import, label_import
    from annotation.models import Person
    from annotation.queue import sampling
    from annotation.workflow import batches, projects
    from benchmarks.loop_data import _signed_in
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    questions, labels = folder / "questions-dev.jsonl", folder / "labels.csv"
    _write(questions, labels, number)
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = projects.create_project(slug="bench", name="Bench", manager=mara, now=NOW)
    projects.add_member(project=project, person=mara, roles=[Role.MANAGER, Role.RESEARCHER], by=mara, now=NOW)
    floor = _floor(connection, questions, labels)
    before, steps = _of_process("self", "VmHWM"), []

    def timed(what: str, do: Any) -> Any:
        began, busy = time.perf_counter(), time.process_time()
        found = do()
        steps.append(time.perf_counter() - began)
        print(f"{what:<22}{steps[-1]:>8.1f} s, processor {time.process_time() - busy:>6.1f} s here")
        return found

    done = timed(
        "questions, tables",
        lambda: example_import.import_examples(
            project=project, reader="jsonl", path=questions, now=NOW, by=mara
        ),
    )
    examples = _of_process("self", "VmHWM") - before
    task = task_type("question_type")
    planned: dict[str, Any] = {
        "project": project,
        "name": "labels",
        "task": task,
        "by": mara,
        "now": NOW,
        "terms": {"overlap": 1},
    }
    batch = timed(
        "batch planned",
        lambda: batches.plan_batch(sample=sampling.Sample(sources=[done.source]), **planned),
    )
    timed("batch opened", lambda: batches.open_batch(batch=batch, by=mara, now=NOW))
    batch.refresh_from_db()
    timed("labels", lambda: label_import.write(batch=batch, path=labels, by=mara, now=NOW))
    memory = _of_process("self", "VmHWM") - before
    print(f"memory grew by {examples:.0f} MB for questions and tables, by {memory:.0f} MB for all of it")
    return {"in": sum(steps), "floor": floor, "memory": memory, "manager": _signed_in(mara)}


def _write(questions: Path, labels: Path, number: int) -> None:
    with questions.open("w", encoding="utf-8") as out, labels.open("w", encoding="utf-8") as said:
        said.write("example,annotator,label\n")
        for at in range(number):
            if at % A_TABLE == 0:
                header = [f"Column {column}" for column in range(COLUMNS)]
                rows = [
                    [f"Cell {at // A_TABLE} {row} {column}" for column in range(COLUMNS)]
                    for row in range(ROWS)
                ]
                table = json.dumps({"header": header, "rows": rows, "title": f"Table {at // A_TABLE}"})
            line = {"id": f"q-{at}", "question": f"what stands beside {rows[at % ROWS][0]}?"}
            answers = json.dumps([rows[at % ROWS][1]])
            out.write(f'{json.dumps(line)[:-1]}, "answers": {answers}, "table": {table}}}\n')
            said.write(f"q-{at},Annotator {at % 7},{LABELS[at % len(LABELS)]}\n")


def _floor(connection: Any, questions: Path, labels: Path) -> float:
    """Seconds for the bytes of both files into a table, and nothing else."""
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare (line text)")
        for path in (questions, labels):
            with path.open("rb") as file:
                cursor.copy_expert(
                    "COPY bare FROM STDIN WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')", file
                )
        cursor.execute("DROP TABLE bare")
    seconds, size = time.perf_counter() - began, (questions.stat().st_size + labels.stat().st_size) / 2**20
    print(f"{'floor: a bare COPY':<22}{seconds:>8.1f} s, {size:.0f} MB")
    return seconds


def _decided(number: int, folder: Path) -> dict[str, Any]:
    """What the worker decides of single labels, written at once."""
    from django.db import transaction

    from annotation.models import Annotation, Batch, Decision, Event, Item, Outcome
    from annotation.platform import bulk_rows
    from tasks.contract import Acceptance

    batch = Batch.objects.get()
    task, last = batch.task(), 0
    plain = Item.objects.select_related("example__stored_table", "batch").earliest("pk").plain()
    while rows := list(
        Annotation.objects.filter(pk__gt=last)
        .order_by("pk")
        .values_list("pk", "assignment__item_id", "response")[:CHUNK]
    ):
        last = rows[-1][0]
        resolved = [task.resolve([task.restore((response or {})["data"])], plain) for _, _, response in rows]
        if not all(isinstance(one, Acceptance) for one in resolved):
            sys.exit("A single label does not decide: this measures nothing.")
        with transaction.atomic():
            events, decisions, outcomes = (
                bulk_rows.keys(model, len(rows)) for model in (Event, Decision, Outcome)
            )
            happened = ["id", "project_id", "thing", "thing_id", "after", "at"]
            bulk_rows.insert(
                Event,
                happened,
                (
                    (event, batch.project_id, "decision", key, "accepted", NOW)
                    for event, key in zip(events, decisions, strict=True)
                ),
            )
            bulk_rows.insert(
                Decision,
                ["id", "item_id", "kind", "reason", "made_at", "event_id"],
                (
                    (key, item, "accepted", one.reason, NOW, event)
                    for key, event, (_, item, _), one in zip(decisions, events, rows, resolved, strict=True)
                ),
            )
            bulk_rows.insert(
                Outcome,
                ["id", "decision_id", "number", "response"],
                (
                    (key, decision, 1, response)
                    for key, decision, (_, _, response) in zip(outcomes, decisions, rows, strict=True)
                ),
            )
            bulk_rows.insert(
                Outcome.annotations.through,
                ["outcome_id", "annotation_id"],
                ((key, pk) for key, (pk, _, _) in zip(outcomes, rows, strict=True)),
            )
    return {}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        print(json.dumps(take(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))))
    else:
        sys.exit(main(sys.argv[1:]))
