"""Generated definitions: page and parser of a task type call the same responses complete, and decisions are valid."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string

from tableqa import Example, Table
from tasks.contract import Acceptance, InvalidResponse, Item, response_data
from tasks.contract.decision_rules import resolve
from tasks.shared.defined_types import DefinedTask, task_of
from tasks.shared.type_definitions import COMPARABLE
from tests.modules.test_twins import in_javascript

DEFINITIONS, RESPONSES = 500, 6
ITEM = Item(Example("e-1", "who?", Table(["Nation"], [["India"]]), ["India", "Nepal", "Peru"]))
OPTIONS = ["a", "b", "a,b", "01", "1", "-0", "٣", "'x'", '5"', "<b>&amp;", "salt and pepper", "a and b == c"]
TEXTS = ["", "", " ", "\u2003\n", "text", " text "]


def definition(draw: random.Random) -> dict[str, Any]:
    """A definition that has no fault, with up to six fields, most of them under conditions on others."""
    fields: list[dict[str, Any]] = [field_of(draw, "f0", [])]
    for number in range(1, draw.randint(2, 6)):
        fields.append(field_of(draw, f"f{number}", fields))
    return {"title": "T", "instruction": "Look", "shows": ["question", "table", "answers"], "fields": fields}


def field_of(draw: random.Random, name: str, above: list[dict[str, Any]]) -> dict[str, Any]:
    first = not above
    type = draw.choice(
        ["choice", "choice", "scale", "scale", "shares"]
        if first
        else ["choice", "choice", "multi_choice", "scale", "number", "date", "shares", "rank", "text"]
    )
    field: dict[str, Any] = {"name": name, "type": type}
    if type == "scale":
        field |= {"min": draw.randint(-2, 1), "max": draw.randint(3, 12)}
    elif type == "number":
        field |= {"min": -2, "step": 0.5} if draw.random() < 0.5 else {}
    elif type == "date":
        field |= {"max": "2024-05-01"} if draw.random() < 0.5 else {}
    elif type == "shares":
        field |= {"options": draw.sample(OPTIONS, draw.randint(2, 4)), "total": draw.choice([1, 10, 100])}
    elif type != "text":
        of_answers = draw.random() < 0.2
        field |= {"of": "answers"} if of_answers else {"options": draw.sample(OPTIONS, draw.randint(2, 5))}
    if first:
        return field
    if draw.random() < 0.4:
        field["optional"] = True
    if type == "multi_choice" and draw.random() < 0.6:
        most = draw.randint(1, 3 if "of" in field else len(field["options"]))
        field |= {"min": draw.randint(1, most), "max": most}
    others = [other["name"] for other in above if other["type"] == type]
    if others and type in ("choice", "multi_choice", "scale") and draw.random() < 0.4:
        field["different_from"] = draw.choice(others)
    asked = [other for other in above if other["type"] in COMPARABLE]
    if asked and draw.random() < 0.7:
        field["when"] = joined(draw, asked[-2:])
    return field


def joined(draw: random.Random, above: list[dict[str, Any]]) -> str:
    """A condition of up to three comparisons."""
    first, *others = (condition(draw, draw.choice(above)) for _ in range(draw.choice([1, 1, 2, 3])))
    for other in others:
        pair = f"{first} {draw.choice(['and', 'or'])} {other}"
        first = draw.choice([pair, f"not ({pair})", f"({pair})"])
    return first


def condition(draw: random.Random, field: Mapping[str, Any]) -> str:
    return f"{field['name']} {draw.choice(COMPARABLE[field['type']])} {draw.choice(values_of(field))}"


def values_of(field: Mapping[str, Any]) -> list[str]:
    if field["type"] == "scale":
        return [str(step) for step in range(field["min"], field["max"] + 1)]
    if field["type"] == "number":
        return ["1.5", "-2", "1.50", "10"]
    if field["type"] == "date":
        return ["2024-05-01", "2000-01-01"]
    return ["1", "2", "3"] if "of" in field else list(field["options"])


def entered(draw: random.Random, field: Mapping[str, Any]) -> Any:
    """What somebody left in a field of the page, be it hidden or not."""
    if field["type"] == "text":
        return draw.choice(TEXTS)
    if field["type"] == "number":
        return draw.choice(["", "1.5", "-2", "7"])
    if field["type"] == "date":
        return draw.choice(["", "2024-05-01", "1999-12-31"])
    if field["type"] == "shares":
        rest = ["0"] * (len(field["options"]) - 1)
        total = str(field["total"])
        empty = ["" for _ in rest]
        return draw.choice([[], [*empty, total], [*rest, total], [total, *empty], [*rest, "7"], ["x", *rest]])
    values = list(ITEM.example.answers) if field["type"] == "rank" and "of" in field else values_of(field)
    if field["type"] == "rank":
        ranks = draw.sample(values, len(values))
        return draw.choice([[], ranks, ranks, ["", *ranks[1:]]])
    if field["type"] == "multi_choice":
        return draw.sample(values, draw.randint(0, 2))
    return draw.choice([*values, ""])


def test_what_the_page_calls_complete_is_valid_and_so_is_each_decision() -> None:
    draw = random.Random(35)
    definitions = [definition(draw) for _ in range(DEFINITIONS)]
    tasks = [task_of(f"type_{number}", data) for number, data in enumerate(definitions)]
    cases = []
    for task in tasks:
        context = {"task": task, "data": {}, "assignment": {"shows": {"answers": ITEM.example.answers}}}
        html = render_to_string("fields/_fields.html", context)
        given = task.definition["fields"]
        responses = [{field["name"]: entered(draw, field) for field in given} for _ in range(RESPONSES)]
        cases.append([html, responses])
    seen: Counter[str] = Counter()
    for task, results in zip(tasks, in_javascript("forms", cases), strict=True):
        responses = []
        for result in results:
            problems = problems_of(task, result["data"])
            assert result["complete"] == (not problems), (task.definition, result, problems)
            seen["complete" if result["complete"] else "incomplete"] += 1
            if not problems:
                responses.append(task.parse(result["data"], ITEM))
        if responses:
            decided = resolve(task, {}, responses, ITEM)
            seen[type(decided).__name__] += 1
            if isinstance(decided, Acceptance):
                for outcome in decided.outcomes:
                    assert not faults_of(task, outcome.response), (task.definition, responses, outcome)
    assert min(seen["complete"], seen["incomplete"], seen["Acceptance"], seen["NeedsAdjudication"]) > 50, seen


def problems_of(task: DefinedTask, data: Mapping[str, Any]) -> list[str]:
    try:
        task.parse(data, ITEM)
    except InvalidResponse as invalid:
        return [f"{problem.path}: {problem.code}" for problem in invalid.problems]
    return []


def faults_of(task: DefinedTask, decision: Any) -> list[str]:
    """What the parser finds wrong with a decision, but for means and for fields that people did not agree on.

    Means stand in for the parser's whole numbers by fields of a type that takes them.
    """
    data = response_data(decision)
    means = [
        name
        for name, value in data.items()
        if any(isinstance(part, float) for part in (value if isinstance(value, list) else [value]))
    ]
    empty = [field.name for field in task.fields if getattr(decision, field.name) == field.empty]
    if not means:
        try:
            again = task.parse(data, ITEM)
        except InvalidResponse as invalid:
            return [f"{each.path}: {each.code}" for each in invalid.problems if each.path not in empty]
        return [] if again == decision else ["the parser makes another response of it"]
    asked: dict[str, Any] = {}
    for field in task.fields:
        if field.when is None or field.when.holds(asked):
            asked[field.name] = getattr(decision, field.name)
    faults = [f"{field.name}: not asked" for field in task.fields if field.name not in (*asked, *empty)]
    different = [(field.name, field.differs_from) for field in task.fields if field.differs_from]
    return faults + [
        name
        for name, other in different
        if name in asked and name not in empty and asked[name] == asked.get(other)
    ]
