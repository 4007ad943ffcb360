"""Fills one side's database for `benchmarks.loop` and prints its people as JSON: cookie, CSRF token, batch."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

AT_MOST_MADE = 4_000
"""Items that are made one by one; more are copied inside the database."""
STEP = 10_000_000
"""Between the keys of one copy and those of the next."""
COPIED = ("annotation_example", "annotation_item", "annotation_slot")


def main(side: str, people: int, items: int, overlap: int, questions: Path) -> Any:
    """Migrate, fill, and return the people; for "check" what is wrong after the work."""
    os.environ["DJANGO_SETTINGS_MODULE"] = (
        "benchmarks.floor.settings" if side == "floor" else "config.settings"
    )
    if side == "floor":
        _create_database("floor")
    database = re.fullmatch(r"postgres://.*@/(\w+)\?host=.*", os.environ["DATABASE_URL"])
    if side == "askew" and database is not None and database[1] != "postgres":
        _create_database(database[1])
    import django

    django.setup()
    if side == "check":
        return _check(json.load(sys.stdin))
    return _floor(people, items, questions) if side == "floor" else _askew(people, items, overlap, questions)


def _askew(people: int, items: int, overlap: int, questions: Path) -> list[dict[str, Any]]:
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.access.roles import Role
    from annotation.imports import example_import
    from annotation.models import Person
    from annotation.queue import sampling
    from annotation.workflow import batches, projects
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    now = timezone.now()
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = projects.create_project(slug="bench", name="Bench", manager=mara, now=now)
    source = example_import.import_examples(project=project, reader="wtq", path=questions, now=now).source
    kind = task_type("question_type")
    sample = sampling.Sample(sources=[source])
    planned: dict[str, Any] = {"project": project, "by": mara, "now": now, "sample": sample, "task": kind}
    # One batch to warm up and count in, one to measure.
    first = batches.plan_batch(name="first", terms={"overlap": people + 1}, **planned)
    batch = batches.plan_batch(name="loop", terms={"overlap": overlap}, **planned)
    _grow(batch, source, items)
    for one in (first, batch):
        batches.open_batch(batch=one, by=mara, now=now)
    crew = []
    for number in range(people):
        person = Person.objects.create_person(f"Person {number}")
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=now)
        crew.append({**_signed_in(person), "batch": batch.public_id})
    crew[0]["statements"] = _statements(crew[0], first.public_id)
    return crew


def _grow(batch: Any, source: Any, items: int) -> None:
    """The same tables over and over: exactly so many items."""
    from django.db import transaction
    from django.db.models import F

    from annotation.models import Example, Item, Slot, Source
    from annotation.queue import slots

    originals = list(Example.objects.filter(source=source).order_by("position"))
    made = min(items, AT_MOST_MADE if items <= AT_MOST_MADE else AT_MOST_MADE // 10)
    if items < len(originals) or items % made:
        sys.exit(f"A batch has at least {len(originals)} items; beyond {made} take a multiple of that.")
    copies = []
    for at in range(len(originals), made):
        number, which = divmod(at, len(originals))
        original = originals[which]
        copies.append(
            Example(
                source=source,
                external_id=f"{original.external_id}-{number}",
                position=at,
                question=original.question,
                answers=original.answers,
                stored_table_id=original.stored_table_id,
                table_digest=original.table_digest,
                more=original.more,
            )
        )
    Example.objects.bulk_create(copies, batch_size=1000)
    Source.objects.filter(pk=source.pk).update(examples_count=F("examples_count") + len(copies))
    first = len(originals) + 1
    with transaction.atomic():
        slots.add_items(batch, [slots.NewItem(copy.pk, position=at) for at, copy in enumerate(copies, first)])
    if items > made:
        _multiply(
            batch,
            items // made,
            {"annotation_example": Example, "annotation_item": Item, "annotation_slot": Slot},
        )


def _multiply(batch: Any, times: int, models: dict[str, Any]) -> None:
    """Copy items, their places and examples inside the database (PostgreSQL): keys move by `STEP`, ids are drawn anew."""
    from django.db import connection, transaction

    of_batch = {
        "annotation_example": f"id IN (SELECT example_id FROM annotation_item WHERE batch_id = {batch.pk})",
        "annotation_item": f"batch_id = {batch.pk}",
        "annotation_slot": f"batch_id = {batch.pk}",
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM annotation_item WHERE batch_id = {batch.pk}")  # nosec B608
        (size,) = cursor.fetchone()
        for table in reversed(COPIED):  # references are checked at the end
            columns, values = [], []
            for field in models[table]._meta.concrete_fields:
                column = f'"{field.column}"'
                columns.append(column)
                target = field.related_model._meta.db_table if field.related_model else ""
                if field.primary_key or (target in COPIED and field.name != "parent"):
                    values.append(f"{column} + {STEP}::bigint * k")
                elif field.name == "public_id":
                    values.append(f"substr(md5({column} || '-' || k), 1, 12)")
                elif field.name == "external_id":
                    values.append(f"{column} || '/' || k")
                elif field.name == "position":
                    values.append(f"{column} + {size} * k")
                else:
                    values.append(column)
            cursor.execute(
                f'INSERT INTO "{table}" ({", ".join(columns)}) '  # nosec B608
                f'SELECT {", ".join(values)} FROM "{table}", generate_series(1, {times - 1}) AS k '
                f"WHERE {of_batch[table]}"
            )
        cursor.execute(
            f"UPDATE annotation_batch SET items_count = items_count * {times}, "  # nosec B608
            f"slots_count = slots_count * {times} WHERE id = {batch.pk}"
        )
    batch.refresh_from_db()
    with connection.cursor() as cursor:
        # Not the others: of a table that is empty now PostgreSQL would believe that it stays so.
        cursor.execute(f"VACUUM ANALYZE {', '.join(COPIED)}")


def _statements(person: dict[str, Any], batch: str) -> str:
    """What one submission with the next item asks of the database, in words."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from benchmarks.loop import _request

    settings.ALLOWED_HOSTS = ["*"]
    client = Client(headers={"cookie": person["cookie"]})

    def answered(held: dict[str, Any] | None) -> dict[str, Any]:
        path, body = _request("askew", {"batch": batch}, held)
        answer = client.post(path, body, content_type="application/json")
        if answer.status_code != 200:
            sys.exit(f"{path}: {answer.status_code} {answer.content[:200]!r}")
        found: dict[str, Any] = answer.json()
        return found.get("next", found) if held else found

    held = answered(None)
    for _ in range(3):
        held = answered(held)
    with CaptureQueriesContext(connection) as queries:
        answered(held)
    sent = [query["sql"] for query in queries]
    statements = sum(max(1, sql.count("EXECUTE ")) for sql in sent)
    return f"{statements} statements in {len(sent)} messages to the database"


def _check(told: dict[str, str]) -> dict[str, int]:
    """How many of each that should not be: `told` has the annotation that people were told of, by assignment."""
    from django.db.models import Count, F, Q

    from annotation.management import doctor
    from annotation.models import Annotation, Assignment, Batch, Item

    batch = Batch.objects.get(name="loop")
    kept = dict(
        Assignment.objects.filter(batch=batch, state="submitted").values_list(
            "public_id", "annotation__public_id"
        )
    )
    items = Item.objects.filter(batch=batch).annotate(
        done=Count("assignments", filter=Q(assignments__state="submitted"))
    )
    revisions = (
        Annotation.objects.filter(assignment__batch=batch).values("assignment").annotate(n=Count("pk"))
    )
    return {
        "submissions lost": sum(
            kept.get(assignment) != annotation for assignment, annotation in told.items()
        ),
        "items beyond their overlap": items.filter(done__gt=batch.overlap).count(),
        "items left undone": items.filter(done__lt=F("slots_count")).count(),
        "submissions kept twice": revisions.filter(n__gt=1).count(),
        "findings of the doctor": len(list(doctor.findings())),
    }


def _floor(people: int, items: int, questions: Path) -> list[dict[str, Any]]:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from benchmarks.floor.models import Item, Slot
    from tableqa.readers import READERS

    call_command("migrate", "auth", verbosity=0)
    call_command("migrate", run_syncdb=True, verbosity=0)
    payloads = [
        {"question": e.question, "table": e.table.to_dict(), "answers": list(e.answers)}
        for e in READERS["wtq"](questions)
    ]
    rows = Item.objects.bulk_create(
        [Item(payload=payloads[number % len(payloads)]) for number in range(items)], batch_size=1000
    )
    Slot.objects.bulk_create([Slot(item=row) for row in rows], batch_size=1000)
    return [_signed_in(User.objects.create_user(f"person{number}")) for number in range(people)]


def _signed_in(person: Any) -> dict[str, Any]:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(person)
    token = "benchmarkbenchmarkbenchmark12345"  # a cookie of a browser; nothing is protected by it here
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    return {
        "cookie": f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={token}",
        "csrf": token,
    }


def _create_database(name: str) -> None:
    import psycopg2

    connection = psycopg2.connect(host=os.environ["FLOOR_DATABASE"], user="postgres", dbname="postgres")
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    connection.close()


if __name__ == "__main__":
    print(
        json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5])))
    )
