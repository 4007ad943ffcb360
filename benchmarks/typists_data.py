"""Fills a database for `benchmarks.typists` and prints its people as JSON: cookie, CSRF token, batch."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def main(people: int, questions: Path) -> list[dict[str, Any]]:
    """Migrate, open a batch of paraphrases in which the model "bench" looks along, and return its people."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.access.roles import Role
    from annotation.imports import example_import
    from annotation.models import Person
    from annotation.queue import sampling
    from annotation.workflow import batches, projects
    from benchmarks.loop_data import _signed_in
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    now = timezone.now()
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = projects.create_project(slug="bench", name="Bench", manager=mara, now=now)
    source = example_import.import_examples(project=project, reader="wtq", path=questions, now=now).source
    batch = batches.plan_batch(
        project=project,
        name="typists",
        task=task_type("question_paraphrase"),
        sample=sampling.Sample(sources=[source]),
        terms={"variant": "word", "overlap": max(1, -(-people // 100)), "loop_model": "bench"},
        by=mara,
        now=now,
    )
    batches.open_batch(batch=batch, by=mara, now=now)
    crew = []
    for number in range(people):
        person = Person.objects.create_person(f"Person {number}")
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=now)
        crew.append({**_signed_in(person), "batch": batch.public_id})
    return crew


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), Path(sys.argv[2]))))
