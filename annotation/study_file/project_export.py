"""A project as a study file, and the schema of such files as it is published."""

import dataclasses
import json
from typing import Any

from annotation.study_file import json_schema, schema, yaml_file
from annotation.study_file.current_state import ProjectState
from annotation.study_file.plan import Cost, Plan, interval

HEAD = "# The study “{name}”, exported from Askew. For the format and commands see docs/reference/study.md\n"


def export_study(standing: ProjectState, *, people: bool = True, gold: bool = True) -> str:
    """The file of a project: applied elsewhere it makes the same study. Without `people` it names nobody.

    Without `gold` it does not say which items are gold and what is right: for somebody who annotates themselves.
    """
    study = standing.study if people else dataclasses.replace(standing.study, people=())
    batches = tuple(
        dataclasses.replace(
            batch,
            gold=tuple(entry for entry in batch.gold if gold and entry.example not in standing.made),
            guideline_examples=tuple(
                entry for entry in batch.guideline_examples if entry.example not in standing.made
            ),
        )
        for batch in study.batches
    )
    study = dataclasses.replace(study, batches=batches)
    name = " ".join(study.name.split())
    return HEAD.format(name=name) + yaml_file.write(schema.document(study))


def published_schema() -> str:
    """docs/study.schema.json, byte for byte."""
    return json.dumps(json_schema.SCHEMA, indent=2, ensure_ascii=False) + "\n"


def cost_as_json(cost: Cost) -> dict[str, Any]:
    """A cost with its hours, and the ends of the intervals of hours and pay."""
    ends = {f"{name}_ends": interval([cost], name) for name in ("hours", "money")}
    return {**dataclasses.asdict(cost), "hours": cost.hours, **ends}


def plan_as_json(plan: Plan) -> dict[str, Any]:
    """A plan for programs: changes, costs with their hours, notes."""
    by_currency = {name: [cost for cost in plan.costs if cost.currency == name] for name in plan.money}
    return {
        "changes": [dataclasses.asdict(change) for change in plan.changes],
        "costs": [cost_as_json(cost) for cost in plan.costs],
        "hours": plan.hours,
        "hours_ends": interval(plan.costs, "hours"),
        "money": plan.money,
        "money_ends": {name: interval(costs, "money") for name, costs in by_currency.items()},
        "notes": list(plan.notes),
    }
