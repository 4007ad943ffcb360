"""Fills the database of `benchmarks.gold_timing`: one open batch with gold items that each of its people annotates."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from benchmarks.loop import TABLES
from benchmarks.loop_data import _signed_in

ORDINARY, GOLD, PERCENT = 90, 30, 25


def main(people: int) -> list[Any]:
    """Cookie, CSRF token and batch of each person; for 0 people, the ids of all assignments of gold items."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from annotation.models import Assignment

    if not people:
        return list(Assignment.objects.filter(item__is_gold=True).values_list("public_id", flat=True))
    return _filled(people)


def _filled(people: int) -> list[dict[str, Any]]:
    from django.core.management import call_command
    from django.utils import timezone

    from annotation.journeys import assigning, importing, setting_up
    from annotation.models import Example, Person
    from annotation.quality import gold
    from annotation.roles import Role
    from tasks.contract import task_type

    call_command("migrate", verbosity=0)
    now = timezone.now()
    mara = Person.objects.create_person("Mara", "mara@example.org")
    project = setting_up.create_project(slug="bench", name="Bench", manager=mara, now=now)
    source = importing.import_examples(project=project, reader="wtq", path=TABLES, now=now).source
    examples = list(Example.objects.filter(source=source).order_by("position")[: ORDINARY + GOLD])
    # Every fourth, so that both sorts have tables of the same sizes.
    marked = examples[:: (ORDINARY + GOLD) // GOLD]
    batch = assigning.plan_batch(
        name="gold",
        project=project,
        by=mara,
        now=now,
        task=task_type("question_type"),
        sample=assigning.Sample(
            sources=[source], only=[example.external_id for example in examples if example not in marked]
        ),
        terms={"overlap": people, "gold_percent": PERCENT},
    )
    for example in marked:
        gold.mark(batch=batch, example=example, data={"label": "extraction"}, by=mara, now=now)
    assigning.open_batch(batch=batch, by=mara, now=now)
    crew = []
    for number in range(people):
        person = Person.objects.create_person(f"Person {number}")
        setting_up.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=mara, now=now)
        crew.append({**_signed_in(person), "batch": batch.public_id})
    return crew


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
