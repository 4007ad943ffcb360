"""Fills a database for `benchmarks.pages` and prints what a browser needs as JSON: a session and the kinds' pages."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main(questions: Path, kinds: list[str]) -> dict[str, Any]:
    """Migrate, make a batch of each kind over the questions, and return their pages."""
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
    source = importing.import_examples(project=project, reader="wtq", path=questions, now=now).source
    pages = {}
    for kind in kinds:
        batch = assigning.plan_batch(
            project=project,
            name=kind,
            task=task_type(kind),
            sample=assigning.Sample(sources=[source]),
            terms={"overlap": 1},
            by=mara,
            now=now,
        )
        assigning.open_batch(batch=batch, by=mara, now=now)
        pages[kind] = f"/batches/{batch.public_id}/annotate/"
    client = Client()
    client.force_login(ada)
    return {
        "cookie": [settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value],
        "pages": pages,
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2:])))
