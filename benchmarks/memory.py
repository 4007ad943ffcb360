"""Peak memory of importing, releasing and verifying many examples, beside that of few.

    ./run bench memory [--few 2000] [--many 20000] [--format askew]
    ./run bench memory --many 200000           # the promise in full: half an hour on one core

Each step is a process of its own on a database of its own (SQLite): a file of questions over tables is imported; every
example is labelled by two people and decided where they agree, and perturbed once by a program; that is released, and the
release verified. What counts is the peak resident size of the process. The promise: `--many` needs at most 32 MB more than
`--few` for importing and for releasing. Verifying and comparing are shown, too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.figures import keep  # noqa: E402

PROMISED = 32
"""Megabytes that many examples may need more than few."""
STEPS = ("import", "fill", "release", "verify", "diff")
HELD = ("import", "release")
"""The steps that the promise is about."""
CHUNK = 1_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main(arguments: list[str]) -> int:
    """Print the peaks; the status is 1 where the promise is broken."""
    parser = argparse.ArgumentParser(prog="./run bench memory", description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=2_000, metavar="N")
    parser.add_argument("--many", type=int, default=20_000, metavar="N")
    parser.add_argument("--format", default="askew", metavar="NAME", help="of the release; default: askew")
    options = parser.parse_args(arguments)
    peaks: dict[str, list[float]] = {step: [] for step in STEPS}
    print(f"{'':<10}{'examples':>10}{'peak':>10}{'seconds':>10}")
    for number in (options.few, options.many):
        with tempfile.TemporaryDirectory(prefix="askew-memory-") as folder:
            for step in STEPS:
                began = time.monotonic()
                peaks[step].append(_measured(step, number, Path(folder), options.format))
                seconds = time.monotonic() - began
                print(f"{step:<10}{number:>10,}{peaks[step][-1]:>7.0f} MB{seconds:>10.1f}", flush=True)
    broken = False
    for step in STEPS:
        more = peaks[step][1] - peaks[step][0]
        held = step in HELD
        if step != "fill":
            name = f"memory of {step}: {options.many:,} beside {options.few:,}"
            broken |= keep(name, more, "MB", at_most=PROMISED if held else None).met is False
        said = f", promised at most {PROMISED}" if held else ""
        if step != "fill":
            print(f"{step}: {more:+.0f} MB for {options.many:,} in place of {options.few:,}{said}")
    print(f"load: {os.getloadavg()[0]:.1f}")
    return 1 if broken else 0


def _measured(step: str, number: int, folder: Path, format: str) -> float:
    """The peak of one step in a process of its own, in megabytes."""
    command = [sys.executable, "-m", "benchmarks.memory", "--step", step, str(number), str(folder), format]
    environment = {
        **os.environ,
        "ASKEW_DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/askew.sqlite3",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[-1])


# -- in the process of a step -----------------------------------------------------------------------


def take(step: str, number: int, folder: Path, format: str) -> float:
    """Do a step and give the peak of this process in megabytes."""
    import django

    django.setup()
    {
        "import": _import,
        "fill": _fill,
        "release": _release,
        "verify": _verify,
        "diff": _diff,
    }[step](number, folder, format)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _import(number: int, folder: Path, format: str) -> None:
    from django.core.management import call_command

    from annotation.imports import example_import
    from annotation.models import Person
    from annotation.workflow import projects

    call_command("migrate", verbosity=0)
    path = folder / "questions-dev.jsonl"
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(question) + "\n" for question in _questions(number))
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = projects.create_project(slug="bench", name="Bench", manager=mara, now=NOW)
    example_import.import_examples(project=project, reader="jsonl", path=path, now=NOW)


def _questions(number: int) -> Iterator[dict[str, Any]]:
    """Questions with their tables: ten rows of five columns, a new table for every fourth question."""
    draw = random.Random(0)
    header = ["Season", "Club", "Played", "Goals", "Note"]
    rows: list[list[str]] = []
    for at in range(number):
        if at % 4 == 0:
            rows = [
                [str(1950 + row), f"Club {draw.random()}", str(row), str(at + row), "a word or two"]
                for row in range(10)
            ]
        yield {
            "id": f"q-{at}",
            "question": f"how many goals did {rows[at % 10][1]} score in question {at}?",
            "answers": [rows[at % 10][3]],
            "table": {"header": header, "rows": rows},
        }


def _fill(number: int, folder: Path, format: str) -> None:
    """Two labels for every example, a decision where they agree, and one automatic perturbation."""
    from annotation.access.roles import Role
    from annotation.models import Example, Guidelines, Person, Project, Source
    from annotation.queue import sampling
    from annotation.workflow import batches, perturbation_runs, projects
    from tasks.contract import task_type

    project = Project.objects.get(slug="bench")
    mara = Person.objects.get(email="mara@example.org")
    people = []
    for name in ("Ada", "Bo"):
        people.append(Person.objects.create_person(name))
        projects.add_member(project=project, person=people[-1], roles=[Role.ANNOTATOR], by=mara, now=NOW)
    task = task_type("question_type")
    batch = batches.plan_batch(
        project=project,
        name="labels",
        task=task,
        sample=sampling.Sample(sources=list(Source.objects.filter(project=project)), only=["q-0"]),
        terms={"overlap": 2},
        by=mara,
        now=NOW,
    )
    batches.open_batch(batch=batch, by=mara, now=NOW)
    batch.refresh_from_db()
    guidelines = Guidelines.objects.filter(project=project, task_type=task.key).latest("number")
    draw = random.Random(1)
    originals = Example.objects.originals().exclude(external_id="q-0").order_by("pk")
    last, position = 0, 2
    while chunk := list(originals.filter(pk__gt=last).select_related("stored_table")[:CHUNK]):
        _label(project, batch, chunk, people, guidelines, position, draw)
        last, position = chunk[-1].pk, position + len(chunk)
    perturbation_runs.perform(
        perturbation_runs.plan_run(project=project, kinds=["row_shuffle"], seeds=[1], now=NOW)
    )


def _label(
    project: Any, batch: Any, chunk: Any, people: Any, guidelines: Any, position: int, draw: random.Random
) -> None:
    from django.db import transaction
    from django.db.models import OuterRef, Subquery

    from annotation.models import Annotation, Assignment, Item, Slot

    task = batch.task()
    with transaction.atomic():
        items = Item.objects.bulk_create(
            Item(batch=batch, example=one, position=position + at, slots_count=2, submitted_count=2)
            for at, one in enumerate(chunk)
        )
        slots = Slot.objects.bulk_create(
            Slot(batch=batch, item=item, number=number, position=item.position, is_taken=True)
            for item in items
            for number in (1, 2)
        )
        assignments = Assignment.objects.bulk_create(
            Assignment(
                batch=batch,
                item=slot.item,
                slot=slot,
                person=people[slot.number - 1],
                leased_at=NOW,
                leased_until=NOW,
                seen_at=NOW,
                ended_at=NOW,
            )
            for slot in slots
        )
        terms = {"type": task.key, "variant": batch.variant, "version": task.version}
        annotations = Annotation.objects.bulk_create(
            Annotation(
                assignment=assignment,
                revision=1,
                response={
                    **terms,
                    "base": assignment.item.example.table_digest,
                    "data": {"label": draw.choice(["extraction", "reasoning"])},
                },
                guidelines=guidelines,
                made_at=NOW,
                event=event,
            )
            for assignment, event in zip(
                assignments, _events(project, "annotation", len(assignments)), strict=True
            )
        )
        submitted = Annotation.objects.filter(assignment=OuterRef("pk")).values("pk")
        Assignment.objects.filter(pk__in=[one.pk for one in assignments]).update(
            state=Assignment.State.SUBMITTED, annotation=Subquery(submitted)
        )
        pairs = [(annotations[at], annotations[at + 1]) for at in range(0, len(annotations), 2)]
        _accept(project, task, [pair for pair in pairs if pair[0].response == pair[1].response])


def _accept(project: Any, task: Any, agreed: list[tuple[Any, Any]]) -> None:
    """Decide the items of these pairs of equal responses."""
    from annotation.models import Decision, Item, Outcome
    from tasks.contract import Acceptance

    reasons = []
    for first, second in agreed:
        responses = [task.restore(each.response["data"]) for each in (first, second)]
        resolved = task.resolve(responses, first.assignment.item.plain())
        reasons.append(resolved.reason if isinstance(resolved, Acceptance) else "")
    events = _events(project, "decision", len(agreed))
    decisions = Decision.objects.bulk_create(
        Decision(item=first.assignment.item, kind="accepted", reason=reason, made_at=NOW, event=event)
        for (first, _), reason, event in zip(agreed, reasons, events, strict=True)
    )
    Item.objects.filter(decision__in=decisions).update(resolution=Item.Resolution.ACCEPTED)
    outcomes = Outcome.objects.bulk_create(
        Outcome(decision=decision, number=1, response=first.response)
        for decision, (first, _) in zip(decisions, agreed, strict=True)
    )
    through = Outcome.annotations.through
    through.objects.bulk_create(
        through(outcome_id=outcome.pk, annotation_id=each.pk)
        for outcome, pair in zip(outcomes, agreed, strict=True)
        for each in pair
    )


def _events(project: Any, thing: str, count: int) -> list[Any]:
    from annotation.models import Event

    return list(
        Event.objects.bulk_create(
            Event(project=project, thing=thing, thing_id=0, after="submitted", at=NOW) for _ in range(count)
        )
    )


def _release(number: int, folder: Path, format: str) -> None:
    from annotation.models import Project
    from annotation.releases import creation

    creation.make_release(
        project=Project.objects.get(slug="bench"),
        name="v1",
        format=format,
        by=None,
        now=NOW,
        out=folder / "release",
    )


def _verify(number: int, folder: Path, format: str) -> None:
    from annotation.releases import verification

    checked = verification.verify(folder / "release")
    if not checked["annotations"] or not checked["decisions"]:
        raise SystemExit("the release holds no annotations: this measures nothing")


def _diff(number: int, folder: Path, format: str) -> None:
    import shutil

    from annotation.releases import release_diff
    from tableqa.releases.verification import describe

    other = folder / "other"
    shutil.copytree(folder / "release", other)
    kept = folder / "annotations.jsonl"
    shutil.copy(other / "annotations.jsonl", kept)
    with (
        kept.open(encoding="utf-8") as lines,
        (other / "annotations.jsonl").open("w", encoding="utf-8") as out,
    ):
        out.writelines(line for at, line in enumerate(lines) if at % 1_000)
    manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"] = describe(other)
    (other / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    if release_diff.diff_releases(folder / "release", other).empty:
        raise SystemExit("the releases do not differ: this measures nothing")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        print(take(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), sys.argv[5]))
    else:
        sys.exit(main(sys.argv[1:]))
