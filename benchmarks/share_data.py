"""Fill a database for `benchmarks.share` and print as JSON a session and one page per task type.

Every task type over its own sample, with tables extended to 40 rows and 10 columns. Existing cells keep their ids, so the
inputs of the sample (marked cells, programs) still fit.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.browser_data import over_its_sample

ROWS, COLUMNS = 40, 10
LONG_QUESTION = 200
"""Characters; of sentences that people ask, few are longer."""
LIMIT = {"items_per_day": 20}


def main() -> dict[str, Any]:
    """Migrate, create the batches, and return {"cookie": [...], "kinds": {...}, "crowded": {...}, "small": page}.

    "kinds" and "crowded" have a page per task type: the second one with a long question and a daily limit. "small" is a
    value change in a table of 9 rows and 5 columns.
    """
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from tasks.contract import task_type, task_types
    from tests.annotation.cast import make_world

    call_command("migrate", verbosity=0)
    pages, crowded_pages = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        for task in task_types().values():
            for variant in task.variants or {"": ""}:
                batch = over_its_sample(world, task, variant, lambda item: extended(item, ROWS, COLUMNS))
                name = f"{task.key} {variant}".strip()
                pages[name] = f"/batches/{batch.public_id}/annotate/"
                batch = over_its_sample(
                    world, task, variant, crowded, f"{name}, crowded", caps=LIMIT, gold_feedback=True
                )
                crowded_pages[name] = f"/batches/{batch.public_id}/annotate/"
        task = task_type("value_change")
        batch = over_its_sample(
            world, task, "answer_changes", lambda item: extended(item, 9, 5, "small-"), "nine rows"
        )
    client = Client()
    client.force_login(world.ada)
    return {
        "cookie": [settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value],
        "kinds": pages,
        "crowded": crowded_pages,
        "small": f"/batches/{batch.public_id}/annotate/",
    }


def crowded(item: Any) -> Any:
    """The item with a large table and a question of LONG_QUESTION characters."""
    item = extended(item, ROWS, COLUMNS, "crowded-")
    return replace(item, example=replace(item.example, question=lengthened(item.example.question)))


def lengthened(question: str) -> str:
    """The question with words in front, LONG_QUESTION characters in all."""
    words = (
        "according to the table above, and leaving out every row that gives a total or an average of others, "
    )
    room = LONG_QUESTION - len(question) - 1
    return f"{(words * (LONG_QUESTION // len(words) + 1))[:room]} {question}"


def extended(item: Any, rows: int, columns: int, prefix: str = "") -> Any:
    """The item with columns and rows appended to its table, until it has this many, and a prefix to its id."""
    from tableqa.data.tables import Table

    larger = _larger(item.example.table, rows, columns)
    inputs = dict(item.inputs)
    if "table" in (inputs.get("original") or {}):  # what changed examples are compared with
        table = Table.from_dict(inputs["original"]["table"])
        inputs["original"] = {**inputs["original"], "table": _larger(table, rows, columns).to_wire()}
    return replace(
        item, example=replace(item.example, id=prefix + item.example.id, table=larger), inputs=inputs
    )


def _larger(table: Any, rows: int, columns: int) -> Any:
    from tableqa.data.tables import Table

    header = [*table.header, *(f"Measure {at}" for at in range(len(table.header), columns))]
    lines = [
        [
            *(table.rows[row] if row < len(table.rows) else [f"{name} {row + 1}" for name in table.header]),
            *(f"value {row * column:,} km" for column in range(len(table.header), columns)),
        ]
        for row in range(max(rows, len(table.rows)))
    ]
    return Table(header, lines, title=table.title, caption=table.caption)


if __name__ == "__main__":
    print(json.dumps(main()))
