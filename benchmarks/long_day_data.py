"""Fills a database for `benchmarks.long_day` and prints a session and the page of a batch as JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any


def main(items: int) -> dict[str, Any]:
    """Migrate, and open a batch of question_type with `items` items for one annotator."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from benchmarks.browser_data import over_items
    from tasks.contract import task_type
    from tests.annotation.cast import make_world
    from tests.tasks.test_contract import sample

    call_command("migrate", verbosity=0)
    task = task_type("question_type")
    samples = sample(task)["items"]
    originals = [with_own_cells(samples[at % len(samples)], at) for at in range(items)]
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        batch = over_items(world, task, "", originals, overlap=1)
    client = Client()
    client.force_login(world.ada)
    name = settings.SESSION_COOKIE_NAME
    return {"cookie": [name, client.cookies[name].value], "page": f"/batches/{batch.public_id}/annotate/"}


def with_own_cells(item: Any, number: int) -> Any:
    """The item over a table of ten rows and four columns whose texts no other item has."""
    from benchmarks.browser_data import numbered
    from tableqa import Table

    rows = tuple(tuple(f"{number}.{row}{column} m" for column in range(4)) for row in range(10))
    table = Table(header=("Name", "Year", "Length", "Width"), rows=rows)
    return numbered(replace(item, example=replace(item.example, table=table)), number)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
