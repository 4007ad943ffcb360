"""Agreement, quality and dashboard of a large project: how long their pages take, and the figures behind them.

    ./run bench snapshots [--items 100000] [--people 40] [--rounds 20] [--databases sqlite,postgres]

One batch of question types, three people an item, is written straight into a database: SQLite, then PostgreSQL. The
figures are worked out as the background job does it, each part timed. Then the pages are asked for through the
application in this process. The promise: 300 ms at the 95th percentile, and no more statements than with 300 items.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.figures import keep

ROOT = Path(__file__).resolve().parent.parent
PROMISED = 300
"""Milliseconds of a page at the 95th percentile."""
FEW = 300
OVERLAP = 3
TABLES = 50
LABELS = ("extraction", "reasoning", "neither", "unanswerable")
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
CHUNK = 5_000


def main() -> int:
    """Print a line for each part and page; 1 where a page is slower than promised or asks for more."""
    parser = argparse.ArgumentParser(prog="./run bench snapshots")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--databases", default="sqlite,postgres")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return _inside(options)
    missed = 0
    for database in options.databases.split(","):
        with ExitStack() as stack:
            environment = os.environ | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "SECRET_KEY": secrets.token_urlsafe(50),
                "ASKEW_DATA_DIR": stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-figures-")),
                "ALLOWED_HOSTS": "testserver",
                "LOG_LEVEL": "ERROR",
            }
            environment.pop("DATABASE_URL", None)
            if database == "postgres":
                from tests.temp_postgres import temporary_postgres

                environment["DATABASE_URL"] = stack.enter_context(temporary_postgres())
            print(f"{database}:", flush=True)
            command = [sys.executable, "-m", "benchmarks.snapshots", "--inside", *sys.argv[1:]]
            missed |= subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    print(f"load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return missed


def _inside(options: argparse.Namespace) -> int:
    """One database, in a process of its own."""
    import django
    from django.core.management import call_command

    django.setup()
    from django.db import connection
    from django.urls import reverse
    from django.utils import timezone

    from annotation.quality import snapshots

    call_command("migrate", verbosity=0)
    began = time.monotonic()
    few, many = (
        _study(name, number, options.people) for name, number in (("few", FEW), ("many", options.items))
    )
    print(
        f"  {options.items:,} items, {options.items * OVERLAP:,} responses made in {time.monotonic() - began:.0f} s"
    )
    for study in (few, many):
        for part in snapshots.PARTS:
            began = time.monotonic()
            kept = snapshots._work_out(
                study["batch"], part, (10**12, []), timezone.now() + timedelta(hours=1)
            )
            if study is many:
                size = len(json.dumps(kept.data)) // 1024
                print(f"  {part:<12}{time.monotonic() - began:>7.1f} s {size:>6} kB", flush=True)
    print(f"  most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    missed = 0
    for name in ("agreement", "dashboard", "batch_quality"):
        asked = []
        for study in (few, many):
            about = study["batch"].public_id if name == "batch_quality" else study["project"].slug
            asked.append(_asked(study["manager"], reverse(name, args=[about]), options.rounds))
        times, statements, size, busy = asked[1]
        p95 = sorted(times)[max(0, round(0.95 * len(times)) - 1)]
        database = connection.vendor
        figure = keep(f"{name} of {options.items:,} items at p95, {database}", p95, "ms", at_most=PROMISED)
        over = not figure.met or statements > asked[0][1]
        missed |= over
        print(
            f"  {name:<14} median {statistics.median(times):4.0f} ms, p95 {p95:4.0f} ms, processor {busy:4.0f} ms, "
            f"{statements} statements "
            f"(with {FEW} items {asked[0][1]}), {size // 1024} kB{'  !' if over else ''}",
            flush=True,
        )
    return int(missed)


def _study(slug: str, items: int, people: int) -> dict[str, Any]:
    """A project with one open batch that everybody has finished, written row by row without the platform's functions."""
    from django.core.management.color import no_style
    from django.db import connection, transaction

    from annotation.journeys import assigning, importing, setting_up
    from annotation.models import (
        Annotation,
        Assignment,
        Event,
        Example,
        Guidelines,
        Item,
        Person,
        Place,
        Tally,
    )
    from annotation.roles import Role
    from tasks.contract import task_type

    draw = random.Random(slug)
    manager = Person.objects.create_person(f"Manager of {slug}", f"{slug}@example.org")
    project = setting_up.create_project(slug=slug, name=slug, manager=manager, now=NOW)
    project.pay = {"currency": "EUR", "per_hour": 14.5}
    project.save()
    path = Path(os.environ["ASKEW_DATA_DIR"]) / f"{slug}-dev.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for n in range(TABLES):
            rows = [[str(1990 + row), f"team {n}", str(row * n)] for row in range(8)]
            line = {"id": f"q-{n}", "question": f"How many points had team {n}?", "answers": [str(n)]}
            out.write(
                json.dumps(line | {"table": {"header": ["year", "team", "points"], "rows": rows}}) + "\n"
            )
    source = importing.import_examples(project=project, reader="jsonl", path=path, now=NOW, by=manager).source
    crew = [Person.objects.create_person(f"Annotator {n} of {slug}") for n in range(people)]
    for person in crew:
        setting_up.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=manager, now=NOW)
    task = task_type("question_type")
    batch = assigning.plan_batch(
        project=project,
        name="labels",
        task=task,
        sample=assigning.Sample(sources=[source]),
        terms={"overlap": OVERLAP},
        by=manager,
        now=NOW,
    )
    assigning.open_batch(batch=batch, by=manager, now=NOW)
    Place.objects.filter(batch=batch).delete()
    Item.objects.filter(batch=batch).delete()
    first = {
        model: (model.objects.order_by("-pk").values_list("pk", flat=True).first() or 0) + 1
        for model in (Example, Item, Place, Event, Assignment, Annotation)
    }
    originals = list(Example.objects.filter(source=source))
    guidelines = Guidelines.objects.filter(project=project, task_type=task.key).latest("pk")
    counts = dict.fromkeys((person.pk for person in crew), 0)
    for start in range(0, items, CHUNK):
        written: dict[Any, list[Any]] = {model: [] for model in first}
        for n in range(start, min(start + CHUNK, items)):
            original = originals[n % len(originals)]
            example = Example(
                pk=first[Example] + n,
                source=source,
                external_id=f"{original.external_id}-{n}",
                position=1_000 + n,
                question=original.question,
                answers=original.answers,
                stored_table_id=original.stored_table_id,
                table_digest=original.table_digest,
            )
            item = Item(
                pk=first[Item] + n,
                batch=batch,
                example_id=example.pk,
                position=n + 1,
                places_count=OVERLAP,
                submitted_count=OVERLAP,
            )
            written[Example].append(example)
            written[Item].append(item)
            truth = draw.choice(LABELS)
            for number, person in enumerate(draw.sample(crew, OVERLAP)):
                m = n * OVERLAP + number
                at = NOW + timedelta(seconds=10 * m)
                label = truth if draw.random() < 0.8 else draw.choice(LABELS)
                counts[person.pk] += 1
                written[Place].append(
                    Place(
                        pk=first[Place] + m,
                        batch=batch,
                        item_id=item.pk,
                        number=number + 1,
                        position=n + 1,
                        taken=True,
                    )
                )
                written[Event].append(
                    Event(
                        pk=first[Event] + m,
                        project=project,
                        actor=person,
                        thing="assignment",
                        thing_id=first[Assignment] + m,
                        before="leased",
                        after="submitted",
                        at=at,
                    )
                )
                written[Assignment].append(
                    Assignment(
                        pk=first[Assignment] + m,
                        batch=batch,
                        item_id=item.pk,
                        place_id=first[Place] + m,
                        person=person,
                        state="submitted",
                        annotation_id=first[Annotation] + m,
                        leased_at=at,
                        leased_until=at,
                        seen_at=at,
                        ended_at=at,
                        active_seconds=10.0,
                    )
                )
                written[Annotation].append(
                    Annotation(
                        pk=first[Annotation] + m,
                        assignment_id=first[Assignment] + m,
                        revision=1,
                        response={
                            "type": task.key,
                            "variant": "",
                            "version": task.version,
                            "base": original.table_digest,
                            "data": {"label": label},
                        },
                        guidelines=guidelines,
                        active_seconds=round(draw.lognormvariate(2, 0.5), 1),
                        made_at=at,
                        event_id=first[Event] + m,
                    )
                )
        with transaction.atomic():
            for model, made in written.items():
                model.objects.bulk_create(made, batch_size=1_000)
    with connection.cursor() as cursor:  # keys were given: the next one comes after them
        for statement in connection.ops.sequence_reset_sql(no_style(), list(first)):
            cursor.execute(statement)
    Tally.objects.bulk_create([Tally(batch=batch, person=one, submitted=counts[one.pk]) for one in crew])
    batch.items_count, batch.places_count = items, items * OVERLAP
    batch.save()
    batch.project = project
    return {"project": project, "batch": batch, "manager": manager}


def _asked(person: Any, address: str, rounds: int) -> tuple[list[float], int, int, float]:
    """Milliseconds of each round after a first one, statements and bytes of one, and milliseconds of processor time."""
    from django.db import connection
    from django.test import Client

    statements = 0

    def counting(execute: Any, *given: Any) -> Any:
        nonlocal statements
        statements += 1
        return execute(*given)

    client = Client()
    client.force_login(person)
    with connection.execute_wrapper(counting):
        response = client.get(address)
    assert response.status_code == 200, (address, response.status_code)  # nosec B101
    times, busy = [], time.process_time()
    for _ in range(rounds):
        began = time.perf_counter()
        client.get(address)
        times.append(1_000 * (time.perf_counter() - began))
    return times, statements, len(response.content), 1_000 * (time.process_time() - busy) / rounds


if __name__ == "__main__":
    sys.exit(main())
