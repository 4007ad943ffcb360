"""Fills a database for `benchmarks.grid` and prints what a browser needs as JSON: a session and the tables' pages."""

from __future__ import annotations

import csv
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

Table = list[list[str]]
REAL = "wtq/csv/203-csv/115.csv"  # 753 rows of 4 columns, the longest table of WikiTableQuestions


def tables(data: Path) -> dict[str, Table]:
    """The tables that are measured, header first: the longest real one, a wide one of real columns, a huge written one."""
    return {"753 x 4": _read(data / REAL), "60 x 43": _wide(data), "5,000 x 8": _huge()}


def main(data: Path) -> dict[str, Any]:
    """Migrate, make a batch of value changes for each table, and return their pages."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from annotation.journeys import assigning, importing, setting_up
    from annotation.models import Person
    from annotation.roles import Role
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    now = timezone.now()
    mara = Person.objects.create_person("Mara", "mara@example.org")
    ada = Person.objects.create_person("Ada", "ada@example.org")
    project = setting_up.create_project(slug="bench", name="Bench", manager=mara, now=now)
    setting_up.add_member(project=project, person=ada, roles=[Role.ANNOTATOR], by=mara, now=now)
    pages = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, lines) in enumerate(tables(data).items()):
            path = _written(Path(folder), number, lines)
            source = importing.import_examples(project=project, reader="wtq", path=path, now=now).source
            batch = assigning.plan_batch(
                project=project,
                name=name,
                task=task_type("value_change"),
                sample=assigning.Sample(sources=[source]),
                terms={"variant": "answer_stays", "overlap": 1},
                by=mara,
                now=now,
            )
            assigning.open_batch(batch=batch, by=mara, now=now)
            pages[name] = f"/batches/{batch.public_id}/annotate/"
    client = Client()
    client.force_login(ada)
    return {
        "cookie": [settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value],
        "pages": pages,
    }


def _read(path: Path) -> Table:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, escapechar="\\", doublequote=False))


def _wide(data: Path) -> Table:
    """43 columns of real tables side by side, their rows over and over up to 60: the public split has none so wide."""
    columns: list[list[str]] = []
    for path in sorted((data / "wtq" / "csv" / "203-csv").glob("*.csv")):
        lines = _read(path)
        if len(lines) > 8:
            columns += [[header, *cells] for header, *cells in zip(*lines, strict=True)]
        if len(columns) >= 43:
            break
    body = [[column[1 + row % (len(column) - 1)] for column in columns[:43]] for row in range(60)]
    return [[column[0] for column in columns[:43]], *body]


def _huge() -> Table:
    draw = random.Random(5000)
    names = [
        "Alder",
        "Birch",
        "Cedar",
        "Elm",
        "Fir",
        "Hazel",
        "Larch",
        "Maple",
        "Oak",
        "Pine",
        "Rowan",
        "Willow",
    ]
    header = ["Rank", "Name", "Place", "Votes", "Share", "Change", "Date", "Notes"]
    rows = [
        [
            str(number),
            f"{draw.choice(names)} {draw.choice(names)}-{number}",
            f"{draw.choice(names)}town",
            f"{draw.randrange(100, 2_000_000):,}",
            f"{draw.uniform(0, 60):.1f} %",
            f"({draw.uniform(0, 9):.1f})" if draw.random() < 0.4 else f"{draw.uniform(0, 9):.1f}",
            f"October {draw.randrange(1, 32)}, {draw.randrange(1950, 2024)}",
            draw.choice(
                ["", "", "first entry", "withdrew in the second round, and was counted all the same"]
            ),
        ]
        for number in range(1, 5001)
    ]
    return [header, *rows]


def _written(folder: Path, number: int, lines: Table) -> Path:
    """The table and one question on it, in WikiTableQuestions' own format."""
    place = folder / "csv" / f"{number}-csv"
    place.mkdir(parents=True)
    quoted = (
        ",".join('"' + cell.replace("\\", "\\\\").replace('"', '\\"') + '"' for cell in line)
        for line in lines
    )
    (place / "0.csv").write_text("\n".join(quoted) + "\n", encoding="utf-8")
    path = folder / f"table-{number}.tsv"
    head = "id\tutterance\tcontext\ttargetValue\n"
    path.write_text(
        f"{head}nu-{number}\thow many rows are there?\tcsv/{number}-csv/0.csv\t{len(lines) - 1}\n", "utf-8"
    )
    return path


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
