"""Fill a database for `benchmarks.next_item` and print as JSON a session, and a page with a response per task type.

The items of a batch are copies of one item of the sample, with the title of the table numbered: every one is drawn anew, and
one response fits them all.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.browser_data import over_items


def main(items: int) -> dict[str, Any]:
    """Migrate, create the batches, and return {"cookie": [...], "kinds": {task type: {"page", "response"}}}."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from tasks.contract import task_types
    from tests.annotation.cast import make_world
    from tests.tasks.test_contract import sample

    call_command("migrate", verbosity=0)
    pages = {}
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        for task in task_types().values():
            known = sample(task)
            for variant in task.variants or {"": ""}:
                good = next(each for each in known["good"] if known["items"][each["item"]].variant == variant)
                item = known["items"][good["item"]]
                batch = over_items(world, task, variant, [numbered(item, number) for number in range(items)])
                pages[f"{task.key} {variant}".strip()] = {
                    "page": f"/batches/{batch.public_id}/annotate/",
                    "response": good["data"],
                }
    client = Client()
    client.force_login(world.ada)
    return {
        "cookie": [settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value],
        "kinds": pages,
    }


def numbered(item: Any, number: int) -> Any:
    """A copy of the item with an id of its own and another title of its table; so have the sides that it compares."""
    table = replace(item.example.table, title=f"Copy {number + 1}")
    inputs = dict(item.inputs)
    if "sides" in inputs:
        sides = inputs["sides"].items()
        inputs["sides"] = {side: {**changed, "id": f"{changed['id']}-{number}"} for side, changed in sides}
    return replace(item, example=replace(item.example, id=f"copy-{number}", table=table), inputs=inputs)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
