"""Fills a database for `benchmarks.browser` and prints what a browser needs as JSON: a session and the pages.

Every task type over its own sample, whose tables have a few rows, and four large tables to read, mark and edit.
`over_items` and what follows also make the pages of browser tests.
"""

from __future__ import annotations

import csv
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

Table = list[list[str]]
REAL = "wtq/csv/203-csv/115.csv"  # 753 rows of 4 columns, the longest table of WikiTableQuestions

MODES = {
    "read": ("question_type", ""),
    "mark": ("relevant_cells", ""),
    "edit": ("value_change", "answer_stays"),
}


def main(data: Path) -> dict[str, Any]:
    """Migrate, make the batches, and return sessions and pages: {"cookie", "manager", "explorer", "kinds", "tables"}."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from annotation.imports import example_import
    from tasks.contract import task_types
    from tests.annotation.cast import NOON, make_world

    call_command("migrate", verbosity=0)
    kinds, grids = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        for task in task_types().values():
            for variant in task.variants or {"": ""}:
                batch = over_its_sample(world, task, variant)
                kinds[f"{task.key} {variant}".strip()] = f"/batches/{batch.public_id}/annotate/"
        for number, (size, lines) in enumerate(tables(data).items()):
            path = _written(Path(folder) / size, number, lines)
            found = example_import.import_examples(project=world.project, reader="wtq", path=path, now=NOON)
            for mode, (kind, variant) in MODES.items():
                batch = world.batch(kind, variant=variant, sources=[found.source], overlap=1)
                grids[f"{size}, {mode}"] = f"/batches/{batch.public_id}/annotate/"
    name, sessions = settings.SESSION_COOKIE_NAME, []
    for person in (world.ada, world.mara):
        client = Client()
        client.force_login(person)
        sessions.append([name, client.cookies[name].value])
    return {
        "cookie": sessions[0],
        "manager": sessions[1],
        "explorer": f"/projects/{world.project.slug}/explorer/",
        "kinds": kinds,
        "tables": grids,
    }


def over_its_sample(
    world: Any,
    task: Any,
    variant: str,
    change: Callable[[Any], Any] = lambda item: item,
    name: str = "",
    **terms: Any,
) -> Any:
    """Create an open batch over the samples of a task type (sample.json) with their inputs, each item changed first."""
    from tests.tasks.test_contract import sample

    changed = [change(item) for item in sample(task)["items"] if item.variant == variant]
    return over_items(world, task, variant, changed, name, **terms)


def over_items(
    world: Any, task: Any, variant: str, originals: Sequence[Any], name: str = "", **terms: Any
) -> Any:
    """Create an open batch over items of a task type with their inputs. The settings of the first one hold for all."""
    from contextlib import nullcontext
    from unittest.mock import patch

    from annotation.imports import example_import
    from tasks.contract import PreparedInputs, PreparingTask
    from tests.annotation.cast import NOON, ReaderOf

    items = {item.example.id: item for item in originals}
    reader = ReaderOf(*(item.example for item in items.values()))
    name = name or f"{task.key} {variant}"
    with patch.dict("tableqa.readers.READERS", {"written": reader}):
        source = example_import.import_examples(
            project=world.project, reader="written", path=Path(__file__), name=name, now=NOON
        ).source
    settings = dict(next(iter(items.values())).settings)

    def prepare(self: Any, example: Any, around: Any) -> PreparedInputs:
        return PreparedInputs(dict(items[example.id].inputs))

    prepares = (
        patch.object(type(task), "prepare", prepare) if isinstance(task, PreparingTask) else nullcontext()
    )
    with prepares, patch.object(type(task), "of", ("originals",)):
        return world.batch(task.key, variant=variant, settings=settings, sources=[source], **terms)


def numbered(item: Any, number: int) -> Any:
    """A copy of the item with an id of its own and another title of its table; so have the sides that it compares."""
    table = replace(item.example.table, title=f"Copy {number + 1}")
    inputs = dict(item.inputs)
    if "sides" in inputs:
        sides = inputs["sides"].items()
        inputs["sides"] = {side: {**changed, "id": f"{changed['id']}-{number}"} for side, changed in sides}
    return replace(item, example=replace(item.example, id=f"copy-{number}", table=table), inputs=inputs)


def waiting_item(world: Any, task: Any, variant: str) -> Any:
    """The first item of a batch over the sample of a task type, with three simulated responses, for an adjudicator."""
    from tests.tasks.test_contract import sample

    originals = [item for item in sample(task)["items"] if item.variant == variant]
    return waiting_items(world, over_items(world, task, variant, originals, overlap=3))[0]


def waiting_items(world: Any, batch: Any) -> list[Any]:
    """The items of a batch, with simulated responses, in the queue of adjudicators."""
    from annotation.models import Adjudication, Item
    from tests.annotation.cast import NOON

    respond(world, batch)
    rows = Item.objects.filter(batch=batch, submitted_count__gte=1, decision__isnull=True)
    rows.update(due_at=None, resolution=Item.Resolution.ADJUDICATION)
    for item in rows:
        asked = {"reason": "The responses differ.", "weight": 1.5, "asked_at": NOON}
        Adjudication.objects.get_or_create(item=item, defaults=asked)
    return list(rows.order_by("position"))


def respond(world: Any, batch: Any) -> None:
    """Have three people respond to all items of a batch as the task type simulates them, mostly wrong."""
    task = batch.task()
    for who in ("ada", "bo", "cy"):
        while (assignment := world.take(batch, who)) is not None:
            plain, name = assignment.item.plain(), assignment.item.public_id
            world.answer(assignment, dict(task.simulate(plain, random.Random(who), 0.3, random.Random(name))))


def tables(data: Path) -> dict[str, Table]:
    """The tables that are measured, header first: the longest real one, a wide one of real columns, two written ones."""
    return {
        "753 x 4": _read(data / REAL),
        "60 x 43": _wide(data),
        "250 x 8": _huge()[:251],
        "5,000 x 8": _huge(),
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
