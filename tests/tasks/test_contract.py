"""What holds for every kind of annotation, wherever it lives. A new kind is tested here without a line being added."""

from __future__ import annotations

import json
import random
from dataclasses import fields
from itertools import permutations
from typing import Any

import jsonschema
import pytest
from django.template.loader import get_template

from annotation.queue import practice
from annotation.web.views.tables import drawn
from tableqa import Example
from tasks.contract import (
    SHOWN,
    Acceptance,
    Context,
    InvalidResponse,
    Item,
    JudgingTask,
    MakingTask,
    NeedsAdjudication,
    NeedsResponse,
    TaskType,
    UnknownTaskType,
    response_data,
    task_type,
    task_types,
)

KINDS = list(task_types().values())
every_kind = pytest.mark.parametrize("task", KINDS, ids=[task.key for task in KINDS])


def sample(task: TaskType) -> dict[str, Any]:
    """sample.json of a kind, its items as task types see them, settings filled with their defaults."""
    found = json.loads((task.folder() / "sample.json").read_text(encoding="utf-8"))
    properties = task.settings_schema.get("properties", {})
    settings = {name: spec["default"] for name, spec in properties.items() if "default" in spec}
    found["items"] = [
        Item(
            Example.from_dict(item["example"]),
            item["variant"],
            {**settings, **item.get("settings", {})},
            item.get("inputs", {}),
        )
        for item in found["items"]
    ]
    return found


@every_kind
def test_a_kind_is_whole(task: TaskType) -> None:
    assert task.folder().name == task.key
    assert task.guidelines().startswith("# ")
    assert task.title
    assert task.fields
    assert isinstance(task, JudgingTask) is not isinstance(task, MakingTask)
    assert task.making is isinstance(task, MakingTask)
    inputs = {name for item in sample(task)["items"] for name in item.inputs}
    assert set(task.shows) <= {*SHOWN, "titles", *inputs}
    assert set(task.needs) <= {field.name for field in fields(Context)}
    jsonschema.Draft202012Validator.check_schema(dict(task.settings_schema))
    assert get_template(task.form_template)
    assert get_template(task.response_template)
    assert {item.variant for item in sample(task)["items"]} == (set(task.variants) or {""})


@every_kind
def test_the_instruction_is_a_line_that_says_what_to_do(task: TaskType) -> None:
    for item in sample(task)["items"]:
        for has_model in (False, True):
            line = task.instruct(item, has_model=has_model)
            assert line != task.title
            assert line[0].isupper()
            assert not line.endswith(".")
            assert len(line) <= 72


@every_kind
def test_a_good_response_is_stored_and_read_back_as_it_was(task: TaskType) -> None:
    found = sample(task)
    for good in found["good"]:
        item = found["items"][good["item"]]
        response = task.parse(good["data"], item)
        envelope = json.loads(json.dumps(task.envelope(response, item)))
        assert task.read(envelope, item) == response
        assert task.restore(envelope["data"]) == response
        assert response_data(response) == envelope["data"]
        assert all(sentence.strip() for sentence in task.describe(response, item))


@every_kind
def test_a_bad_response_is_refused_with_a_code_and_a_sentence(task: TaskType) -> None:
    found = sample(task)
    for bad in found["bad"]:
        with pytest.raises(InvalidResponse) as invalid:
            task.parse(bad["data"], found["items"][bad["item"]])
        codes = [problem.code for problem in invalid.value.problems]
        assert set(bad["codes"]) <= set(codes), (bad, codes)
        assert all(problem.message.strip() for problem in invalid.value.problems)


@every_kind
@pytest.mark.parametrize(
    "rubbish", [None, 1, "x", [], [1], {"": {}}, {"label": {}}, {"operations": [[]]}, {"x": None}]
)
def test_rubbish_is_refused_and_never_an_exception_of_another_kind(task: TaskType, rubbish: Any) -> None:
    for item in sample(task)["items"]:
        with pytest.raises(InvalidResponse):
            task.parse(rubbish, item)
        if isinstance(task, MakingTask):
            task.preview(rubbish, item)


@every_kind
def test_what_is_decided_does_not_depend_on_the_order_of_the_responses(task: TaskType) -> None:
    found = sample(task)
    for number, item in enumerate(found["items"]):
        said = [task.parse(good["data"], item) for good in found["good"] if good["item"] == number][:3]
        seen = []
        for order in permutations(said):
            resolution = task.resolve(order, item)
            assert isinstance(resolution, Acceptance | NeedsResponse | NeedsAdjudication)
            outcomes = (
                sorted(json.dumps(response_data(outcome.response)) for outcome in resolution.outcomes)
                if isinstance(resolution, Acceptance)
                else [type(resolution).__name__]
            )
            seen.append(outcomes)
        assert all(outcomes == seen[0] for outcomes in seen)


@every_kind
def test_a_page_is_given_what_the_kind_shows_and_nothing_else(task: TaskType) -> None:
    for item in sample(task)["items"]:
        payload = task.payload(item)
        assert set(payload) <= set(task.shows)
        if "answers" not in task.shows:
            assert not any(answer in json.dumps(payload) for answer in item.example.answers)


@every_kind
def test_simulated_people_give_responses_that_hold(task: TaskType) -> None:
    for item in sample(task)["items"]:
        for seed in range(20):
            data = task.simulate(item, random.Random(seed), 0.8, random.Random("truth"))
            again = task.simulate(item, random.Random(seed), 0.8, random.Random("truth"))
            assert data == again
            task.parse(data, item)


@every_kind
def test_an_edit_replays_and_is_drawn(task: TaskType) -> None:
    found = sample(task)
    for good in found["good"]:
        item = found["items"][good["item"]]
        response = task.parse(good["data"], item)
        perturbed = task.perturb(item, response)
        if perturbed is not None:
            assert not item.example.table.same_content(perturbed.example.table) or task.contract(item) is None
            sheet = drawn(item.example.table, perturbed.operations)
            assert len([row for row in sheet["rows"] if not row["removed"]]) == len(
                perturbed.example.table.rows
            )


@every_kind
def test_a_kind_can_be_practised_and_what_is_expected_is_as_expected(task: TaskType) -> None:
    for variant in task.variants or [""]:
        exercises = practice.exercises(task, variant)
        assert len(exercises) >= 3, f"{task.key} {variant} has {len(exercises)} exercises"
        for exercise in exercises:
            assert exercise.why.strip()
            right, _ = task.feedback(exercise.item, exercise.expected, exercise.expected)
            assert right is True


def test_an_unknown_kind_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownTaskType, match=KINDS[0].key):
        task_type("no_such_kind")
