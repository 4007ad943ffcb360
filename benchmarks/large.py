"""Every page of a large project: how long it takes and how many statements, on PostgreSQL.

    ./run bench large [--items 100000] [--rounds 15] [--only batch,project]

A batch of a thousand labelled items (three people each of twelve, decided where they agree, the rest waiting for an
adjudicator or still open) is made through the platform and copied inside the database until there are `--items`. Then
every page that can be read is asked for `--rounds` times, by whoever may read it, through the application in this
process. The promise: 300 ms at the 95th percentile, and no more statements than with a thousand items.
"""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.figures import keep  # noqa: E402

PROMISED = 300
"""Milliseconds of a page at the 95th percentile."""
SEED_ITEMS = 1_000
PEOPLE = 12
OVERLAP = 3
STEP = 10_000_000
"""Between the keys of one copy and those of the next."""
COPIED = (
    "annotation_example",
    "annotation_indexedvalue",
    "annotation_item",
    "annotation_slot",
    "annotation_event",
    "annotation_assignment",
    "annotation_annotation",
    "annotation_decision",
    "annotation_outcome",
    "annotation_outcome_annotations",
    "annotation_adjudication",
    "annotation_indexeditem",
    "annotation_responsefact",
)
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def main() -> int:
    """Print a line for each page; the status is 1 where one is slower than promised."""
    parser = argparse.ArgumentParser(prog="./run bench large", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    parser.add_argument("--only", default="", metavar="NAMES", help="pages by the names of their addresses")
    options = parser.parse_args()
    with ExitStack() as stack:
        _set_up(stack)
        began = time.monotonic()
        world = _small()
        world["release"] = _released(world, "small")
        started = [_start_up()]
        small = {page[0]: _asked(world, page, 1)[1] for page in _pages(world, options.only)}
        copies = options.items // SEED_ITEMS
        _multiply(world["project"], copies)
        world["release"] = _released(world, "large")
        started.append(_start_up())
        items, seconds = copies * SEED_ITEMS, time.monotonic() - began
        print(f"{items:,} items, {items * OVERLAP:,} places: {seconds:.0f} s to make")
        print(
            f"from the start of gunicorn to its first page: {started[0]:.2f} s with 1,000 items, {started[1]:.2f} s now"
        )
        keep(f"start-up, {items:,} items", started[1], "s", floor=started[0])
        print(f"{'page':<24}{'who':<12}{'median':>9}{'p95':>9}{'statements':>12}{'with 1,000':>12}")
        slow = []
        for page in _pages(world, options.only):
            times, statements, status = _asked(world, page, options.rounds)
            name, who, _ = page
            p95 = sorted(times)[max(0, round(0.95 * len(times)) - 1)]
            keep(f"{name} at p95, {items:,} items", p95, "ms", at_most=PROMISED)
            over = p95 > PROMISED or statements > small[name] + 5 or status >= 400
            slow += [name] if over else []
            print(
                f"{name:<24}{who:<12}{statistics.median(times):>6.0f} ms{p95:>6.0f} ms{statements:>12}{small[name]:>12}"
                + (f"  {status}" if status != 200 else "")
                + ("  !" if over else ""),
                flush=True,
            )
    print(f"load: {os.getloadavg()[0]:.1f}")
    if slow:
        print(f"slower than {PROMISED} ms, more statements, or no page: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


def _set_up(stack: ExitStack) -> None:
    import secrets
    import tempfile

    from tests.temp_postgres import temporary_postgres

    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": stack.enter_context(temporary_postgres()),
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ASKEW_DATA_DIR": stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-large-")),
        "ALLOWED_HOSTS": "testserver",
    }
    import django
    from django.core.management import call_command

    django.setup()
    logging.getLogger("django.request").setLevel(logging.ERROR)
    call_command("migrate", verbosity=0)


def _small() -> dict[str, Any]:
    """A project whose one batch has a thousand items, worked on through the platform's own functions."""
    from annotation.access import authorization
    from annotation.access.roles import Role
    from annotation.imports import example_import
    from annotation.models import Person
    from annotation.queue import reservations, sampling
    from annotation.workflow import assignments, automatic_decisions, batches, projects
    from tasks.contract import task_type

    draw = random.Random(0)
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = projects.create_project(slug="large", name="Large", manager=mara, now=NOW)
    projects.add_member(project=project, person=mara, roles=[Role.MANAGER, Role.RESEARCHER], by=mara, now=NOW)
    ivo = Person.objects.create_person("Ivo", "ivo@example.org")
    projects.add_member(project=project, person=ivo, roles=[Role.ADJUDICATOR], by=mara, now=NOW)
    path = Path(os.environ["ASKEW_DATA_DIR"]) / "questions-dev.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for n in range(SEED_ITEMS):
            rows = [[str(1990 + row), f"team {n % 50}", str(row * (n % 50))] for row in range(8)]
            table = {"header": ["year", "team", "points"], "rows": rows}
            question = f"How many points had team {n % 50} in 199{n % 8}?"
            line = {"id": f"q-{n}", "question": question, "table": table, "answers": [str(n % 8 * (n % 50))]}
            out.write(json.dumps(line) + "\n")
    source = example_import.import_examples(
        project=project, reader="jsonl", path=path, now=NOW, by=mara
    ).source
    crew = [Person.objects.create_person(f"Annotator {n}") for n in range(PEOPLE)]
    for person in crew:
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=NOW)
    batch = batches.plan_batch(
        project=project,
        name="labels",
        task=task_type("question_type"),
        sample=sampling.Sample(sources=[source]),
        terms={"overlap": OVERLAP},
        by=mara,
        now=NOW,
    )
    batches.open_batch(batch=batch, by=mara, now=NOW)
    batch.refresh_from_db()
    for turn in range(SEED_ITEMS * OVERLAP * 9 // 10):
        person = crew[turn % PEOPLE]
        now = NOW + timedelta(seconds=20 * turn)
        taken = reservations.next_assignment(batch=batch, person=person, now=now)
        if taken is None:
            continue
        assignment = authorization.assignment(authorization.Actor(person), taken.public_id)
        if draw.random() < 0.01:
            assignments.skip(assignment=assignment, reason="The table is cut off.", now=now)
            continue
        label = "extraction" if draw.random() < 0.85 else draw.choice(["reasoning", "neither"])
        response = {
            "type": "question_type",
            "variant": "",
            "version": batch.version,
            "base": assignment.item.example.table_digest,
            "data": {"label": label},
        }
        assignments.submit(assignment=assignment, response=response, now=now)
    automatic_decisions.resolve_batch(batch=batch, now=NOW + timedelta(days=9))
    return {"project": project, "batch": batch, "source": source, "mara": mara, "ivo": ivo, "ada": crew[0]}


def _multiply(project: Any, copies: int) -> None:
    """Copy what the thousand items are made of, inside the database: keys move by `STEP`, ids are drawn anew."""
    from django.apps import apps
    from django.db import connection, transaction

    models = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    if copies < 2:
        return
    numbers = f"WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {copies - 1}) SELECT k FROM n"
    with transaction.atomic(), connection.cursor() as cursor:  # references are checked at its end
        for table in COPIED:
            columns, values = [], []
            for field in models[table]._meta.concrete_fields:
                column = f'"{field.column}"'
                columns.append(column)
                target = field.related_model._meta.db_table if field.related_model else ""
                if field.primary_key or target in COPIED:
                    values.append(f"{column} + {STEP} * k")
                elif field.name == "public_id":
                    values.append(f"substr(md5({column} || '-' || k), 1, 12)")
                elif field.name == "external_id":
                    values.append(f"{column} || '-' || k")
                elif field.name == "position":
                    values.append(f"{column} + {SEED_ITEMS} * k")
                elif field.name == "thing_id":
                    values.append(
                        f"CASE WHEN thing IN ('item', 'assignment') THEN {column} + {STEP} * k ELSE {column} END"
                    )
                else:
                    values.append(column)
            cursor.execute(
                f'INSERT INTO "{table}" ({", ".join(columns)}) '  # nosec B608
                f'SELECT {", ".join(values)} FROM "{table}", ({numbers}) AS numbers '
                f"WHERE {STEP} > {models[table]._meta.pk.column}"
            )
        cursor.execute(
            f"UPDATE annotation_personbatchcounts SET leased = leased * {copies}, submitted = submitted * {copies}, "
            f"skipped = skipped * {copies}, returned = returned * {copies}"
        )
        cursor.execute(
            f"UPDATE annotation_batch SET items_count = items_count * {copies}, "
            f"slots_count = slots_count * {copies}, accepted_count = accepted_count * {copies}, "
            f"excluded_count = excluded_count * {copies}"
        )
        cursor.execute(f"UPDATE annotation_searchindex SET items_count = items_count * {copies}")
        cursor.execute("UPDATE annotation_searchindex SET event = (SELECT max(id) FROM annotation_event)")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _start_up() -> float:
    """Seconds from starting gunicorn until it answers that it is ready; the median of three."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        server = subprocess.Popen(
            [*command, "--no-control-socket", "--log-level", "error"],
            cwd=ROOT,
            env={**os.environ, "ALLOWED_HOSTS": "127.0.0.1"},
        )
        try:
            while not _is_ready(port):
                if server.poll() is not None or time.perf_counter() - began > 60:
                    raise SystemExit("gunicorn did not start")
                time.sleep(0.01)
            seconds.append(time.perf_counter() - began)
        finally:
            server.terminate()
            server.wait(60)
    return statistics.median(seconds)


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz", headers={"X-Forwarded-Proto": "https"})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _released(world: dict[str, Any], name: str) -> Any:
    from annotation.releases import creation

    project, mara = world["project"], world["mara"]
    return creation.make_release(project=project, name=name, format="askew", by=mara, now=NOW)


def _pages(world: dict[str, Any], only: str) -> Iterator[tuple[str, str, str]]:
    """(name, who, address) of every page that can be read without more than the project, its batch, source and release."""
    from django.urls import NoReverseMatch, reverse

    from annotation.models import Item
    from annotation.web import urls

    waiting = Item.objects.filter(adjudication__isnull=False, decision__isnull=True).order_by("pk").first()
    known = {
        "projects/<slug:slug>": world["project"].slug,
        "batches/<str:public_id>": world["batch"].public_id,
        "sources/<str:public_id>": world["source"].public_id,
        "examples/<str:public_id>": world["source"].examples.order_by("pk")[0].public_id,
        "items/<str:public_id>": waiting.public_id if waiting else "",
        "releases/<str:public_id>": world["release"].public_id,
    }
    wanted = set(filter(None, only.split(",")))
    for pattern in urls.urlpatterns:
        route = str(pattern.pattern)
        start = next((start for start in known if route.startswith(start)), "")
        arguments = [known[start]] if start else []
        if "<str:type>" in route:
            arguments.append("question_type")
        if not pattern.name or (wanted and pattern.name not in wanted):
            continue
        try:
            address = reverse(pattern.name, args=arguments)
        except NoReverseMatch:
            continue
        for who in ("mara", "ivo", "ada"):
            if _get(world, who, address).status_code == 200:
                yield pattern.name, who, address
                break


def _get(world: dict[str, Any], who: str, address: str) -> Any:
    from django.test import Client

    client = world.setdefault("clients", {}).get(who)
    if client is None:
        client = world["clients"][who] = Client()
        client.force_login(world[who])
    return client.get(address)


def _asked(world: dict[str, Any], page: tuple[str, str, str], rounds: int) -> tuple[list[float], int, int]:
    """Milliseconds of each round after a first one, the statements of one, and the status."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    _, who, address = page
    with CaptureQueriesContext(connection) as queries:
        status = _get(world, who, address).status_code
    statements = len(queries)
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        _get(world, who, address)
        times.append(1_000 * (time.perf_counter() - began))
    return times, statements, status


if __name__ == "__main__":
    sys.exit(main())
