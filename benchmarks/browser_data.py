"""Fills a database for `benchmarks.browser` and prints what a browser needs as JSON: a session and the pages.

Every kind of annotation over its own sample, whose tables have a few rows; and the three tables of `benchmarks.grid`, to be
read, marked and edited.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.grid_data import _written, tables

MODES = {
    "read": ("question_type", ""),
    "mark": ("relevant_cells", ""),
    "edit": ("value_change", "answer_stays"),
}


def main(data: Path) -> dict[str, Any]:
    """Migrate, make the batches, and return {"cookie": [...], "kinds": {kind: page}, "tables": {size and mode: page}}."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from annotation.journeys import importing
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
            found = importing.import_examples(project=world.project, reader="wtq", path=path, now=NOON)
            for mode, (kind, variant) in MODES.items():
                batch = world.batch(kind, variant=variant, sources=[found.source], overlap=1)
                grids[f"{size}, {mode}"] = f"/batches/{batch.public_id}/annotate/"
    client = Client()
    client.force_login(world.ada)
    return {
        "cookie": [settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value],
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

    from annotation.journeys import importing
    from tasks.contract import Prepared, Preparing
    from tests.annotation.cast import NOON, ReaderOf

    items = {item.example.id: item for item in originals}
    reader = ReaderOf(*(item.example for item in items.values()))
    name = name or f"{task.key} {variant}"
    with patch.dict("tableqa.readers.READERS", {"written": reader}):
        source = importing.import_examples(
            project=world.project, reader="written", path=Path(__file__), name=name, now=NOON
        ).source
    settings = dict(next(iter(items.values())).settings)

    def prepare(self: Any, example: Any, around: Any) -> Prepared:
        return Prepared(dict(items[example.id].inputs))

    prepares = patch.object(type(task), "prepare", prepare) if isinstance(task, Preparing) else nullcontext()
    with prepares, patch.object(type(task), "of", ("originals",)):
        return world.batch(task.key, variant=variant, settings=settings, sources=[source], **terms)


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
