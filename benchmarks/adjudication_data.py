"""Fills a database with items that wait for an adjudicator and prints as JSON what a browser needs to decide them.

Every task type over copies of its own sample, with the responses of three simulated people; and a batch of `ITEMS` question
types on which the three differ.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

ITEMS = 201
LABELS = (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither"))


def main() -> dict[str, Any]:
    """Migrate, make the batches, and return {"cookie": [...], "kinds": {task type: page}, "labels": page}."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from annotation.journeys import adjudicating
    from tasks.contract import task_types
    from tests.annotation.cast import NOON, make_world

    call_command("migrate", verbosity=0)
    kinds = {}
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder), questions=ITEMS)
        for task in task_types().values():
            for variant in task.variants or {"": ""}:
                item = waiting_item(world, task, variant)
                kinds[f"{task.key} {variant}".strip()] = f"/items/{item.public_id}/adjudicate/"
        batch = world.batch("question_type", name="Question types", size=ITEMS)
        for _ in range(ITEMS):
            for who, label in LABELS:
                world.label(batch, who, label)
        adjudicating.resolve_batch(batch=batch, now=NOON)
        first = adjudicating.waiting(batch)[0]
    client = Client()
    client.force_login(world.ivo)
    return {
        "cookie": [settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value],
        "kinds": kinds,
        "labels": f"/items/{first.public_id}/adjudicate/",
    }


def waiting_item(world: Any, task: Any, variant: str) -> Any:
    """The first item of a batch over the sample of a task type, with three simulated responses, for an adjudicator."""
    from benchmarks.browser_data import over_items
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


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[2:])))
