"""Fills one side's database for `benchmarks.loop` and prints its people as JSON: cookie, CSRF token, batch."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main(side: str, people: int, items: int, questions: Path) -> list[dict[str, Any]]:
    """Migrate, fill, and return the people."""
    os.environ["DJANGO_SETTINGS_MODULE"] = (
        "config.settings" if side == "askew" else "benchmarks.floor.settings"
    )
    if side == "floor":
        _create_database()
    import django

    django.setup()
    return _askew(people, items, questions) if side == "askew" else _floor(people, items, questions)


def _askew(people: int, items: int, questions: Path) -> list[dict[str, Any]]:
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.journeys import assigning, importing, setting_up
    from annotation.models import Example, Item, Person
    from annotation.roles import Role
    from annotation.work import queue
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    now = timezone.now()
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = setting_up.create_project(slug="bench", name="Bench", manager=mara, now=now)
    source = importing.import_examples(project=project, reader="wtq", path=questions, now=now).source
    batch = assigning.plan_batch(
        project=project,
        name="loop",
        task=task_type("question_type"),
        by=mara,
        now=now,
        overlap=1,
        sources=[source],
    )
    # The same tables over and over: as many examples as the run may need.
    originals = list(Example.objects.filter(source=source).order_by("position"))
    copies = [
        Example(
            source=source,
            external_id=f"{original.external_id}-{number}",
            position=original.position,
            question=original.question,
            answers=original.answers,
            stored_table_id=original.stored_table_id,
            table_digest=original.table_digest,
            more=original.more,
        )
        for number in range(items // len(originals))
        for original in originals
    ]
    Example.objects.bulk_create(copies, batch_size=1000)
    first = batch.items_count + 1
    queue.add_items(
        batch, [Item(batch=batch, example=copy, position=at) for at, copy in enumerate(copies, first)]
    )
    assigning.open_batch(batch=batch, by=mara, now=now)
    crew = []
    for number in range(people):
        person = Person.objects.create_person(f"Person {number}")
        setting_up.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=now)
        crew.append({**_signed_in(person), "batch": batch.public_id})
    return crew


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


def _create_database() -> None:
    import psycopg2

    connection = psycopg2.connect(host=os.environ["FLOOR_DATABASE"], user="postgres", dbname="postgres")
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE floor")
    connection.close()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))))
