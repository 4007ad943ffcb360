"""Every task type that comes as a file is a study file, and works: form, responses, decision, agreement, schema."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from jsonschema import Draft202012Validator

from annotation.quality import rating_tallies
from annotation.study_file import type_definitions
from annotation.study_file.parser import parse
from tableqa import Example, Table
from tasks.contract import Acceptance, Item, response_data
from tasks.contract.decision_rules import resolve
from tasks.shared.defined_types import task_of

FILES = sorted(type_definitions.TEMPLATES.glob("*.yaml"))
TABLE = Table(["Nation", "Gold"], [["India", "102"], ["Nepal", "32"]])
ITEMS = [
    Item(Example(f"e-{number}", "who won?", TABLE, [f"India {number}", "Nepal"])) for number in range(20)
]


def test_the_reference_lists_them_all() -> None:
    page = Path(settings.BASE_DIR, "docs", "reference", "project-task-types.md").read_text("utf-8")

    assert sorted(re.findall(r"`(\w+)\.yaml`", page)) == [path.stem for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_works_from_form_to_agreement(path: Path) -> None:
    ((name, data),) = parse(path.read_text(encoding="utf-8")).task_types.items()
    task = task_of(name, data)

    assert name == path.stem
    assert type_definitions.read(name, type_definitions.written(data)) == data
    context: dict[str, Any] = {"task": task, "data": {}, "assignment": {"shows": task.payload(ITEMS[0])}}
    form = render_to_string(task.form_template, context)
    assert all(f'data-field="{field.name}"' in form for field in task.fields)
    validator = Draft202012Validator(task.response_schema())
    rows, decided = [], 0
    for number, item in enumerate(ITEMS):
        truth = f"truth:{number}"
        said = [
            task.parse(
                task.simulate(item, random.Random(who * 100 + number), 0.9, random.Random(truth)), item
            )
            for who in range(3)
        ]
        assert all(validator.is_valid(response_data(response)) for response in said)
        assert all(task.describe(response, item) for response in said)
        rows += [(item.example.id, str(who), response) for who, response in enumerate(said)]
        decided += isinstance(resolve(task, {}, said, item), Acceptance)
    assert decided > 5
    shapes = {item.example.id: TABLE.shape for item in ITEMS}
    figures = rating_tallies.figures_of(rating_tallies.tallies(task, rows, shapes))
    assert {one.measure for one in figures} == {measure.name for measure in task.measures}
    assert all(
        one.low is not None for one in figures if one.value is not None and one.statistic != "cohen_kappa"
    )
