"""Every definition that comes with Askew goes the whole road: simulated, decided, measured, released, verified."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from annotation.management import doctor
from annotation.models import Decision
from annotation.quality import agreement_report
from annotation.queue import sampling
from annotation.releases import creation, verification
from annotation.study_file import type_definitions
from annotation.workflow import automatic_decisions, batches, task_types
from tableqa import Example, Table
from tests.annotation.cast import NOON, World
from tests.annotation.test_defining import LATER

FILMS = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
ADDED = (
    "multi_label_limited",
    "named_entities",
    "numeric_value",
    "post_editing",
    "slot_filling",
    "soft_labels",
    "visual_analogue_scale",
)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ADDED)
def test_a_batch_is_worked_and_released_and_its_pages_answer(name: str, world: World, tmp_path: Path) -> None:
    source = world.import_written(
        *(Example(f"f-{index}", f"which film is number {index}?", FILMS, ["Heat"]) for index in range(4))
    )
    data = dict(type_definitions.shipped()[name])
    row = task_types.define(project=world.project, name=name, data=data, by=world.mara, now=NOON)
    sample = sampling.Sample(sources=[source])
    batch = batches.plan_batch(
        project=world.project,
        task=row.task(),
        name=name,
        terms={"overlap": 3},
        sample=sample,
        by=world.mara,
        now=NOON,
    )
    batches.open_batch(batch=batch, by=world.mara, now=NOON)

    for who in ("ada", "bo", "cy"):
        while (assignment := world.take(batch, who)) is not None:
            rng, truth = random.Random(who), random.Random(assignment.item.public_id)
            world.answer(assignment, row.task().simulate(assignment.item.plain(), rng, 1, truth))

    automatic_decisions.resolve_due(now=LATER)
    assert Decision.objects.filter(item__batch=batch).exists()
    figures = agreement_report.batch_figures(batch)
    assert {figure.measure for figure in figures} == {measure.name for measure in row.task().measures}
    assert any(figure.value is not None for figure in figures)
    assert doctor.findings() == []
    client = Client()
    client.force_login(world.mara)
    for page in ("", "items/", "quality/", "report/"):
        assert client.get(f"/batches/{batch.public_id}/{page}").status_code == 200, page
    assert client.get(f"/projects/films/task-types/?name={name}").status_code == 200
    out = tmp_path / "release"
    creation.make_release(
        project=world.project,
        name="v1",
        format="askew",
        by=world.rea,
        now=LATER,
        out=out,
    )
    assert verification.verify(out)["annotations"] == 12
    (released,) = json.loads((out / "manifest.json").read_text())["batches"]
    validator = Draft202012Validator(released["definition"]["response_schema"])
    lines = [json.loads(line) for line in (out / "annotations.jsonl").read_text().splitlines()]
    assert all(validator.is_valid(line["response"]["data"]) for line in lines)
