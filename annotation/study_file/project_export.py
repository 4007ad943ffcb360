"""A project as a study file, and the schema of such files as it is published."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from annotation.models.batch_options import TERMS, Context
from annotation.study_file import json_schema, yaml_file
from annotation.study_file.costs import Cost, interval
from annotation.study_file.current_state import ProjectState
from annotation.study_file.plan import Plan
from annotation.study_file.schema import BATCH_KEYS, PROJECT_OPTIONS, BatchSpec, Study
from tasks.shared.type_definitions import in_order

EXPORT_ORDER: Final = (
    *("name", "type", "purpose", "variant", "overlap", "strategy", "decide", "settings", "sample", "seed"),
    *("feeds_from", "feeds_when", "requires", "pass_percent", "must_practise", "resolve", "loop_model"),
    *("help", "gold", "caps", "pay", "model_budget"),
)
"""The keys of an exported batch in one order, so that two exports compare; other keys follow."""
HEAD = "# The study “{name}”, exported from Askew. For the format and commands see docs/reference/study.md\n"


def export_study(state: ProjectState, *, people: bool = True, gold: bool = True) -> str:
    """The file of a project: applied elsewhere it makes the same study. Without `people` it names no person.

    Without `gold` it does not say which items are gold and what is right: for a person who annotates themselves.
    """
    study = state.study if people else dataclasses.replace(state.study, people=())
    batches = tuple(
        dataclasses.replace(
            batch,
            gold=tuple(entry for entry in batch.gold if gold and entry.example not in state.made),
            guideline_examples=tuple(
                entry for entry in batch.guideline_examples if entry.example not in state.made
            ),
        )
        for batch in study.batches
    )
    study = dataclasses.replace(study, batches=batches)
    name = " ".join(study.name.split())
    return HEAD.format(name=name) + yaml_file.write(document(study))


def document(study: Study) -> dict[str, Any]:
    """The study as the plain value of a file: defaults are left out. `parse` gives it back equal.

    What databases keep as JSON comes back from them in different orders: here it has one.
    """
    project: dict[str, Any] = {"slug": study.slug, "name": study.name}
    if study.time_zone != "UTC":
        project["time_zone"] = study.time_zone
    sections = {
        "consent": study.consent,
        "statement": _plain(study.statement),
        "task_types": {name: in_order(data) for name, data in _plain(study.task_types).items()},
        "people": [_entry(person) for person in study.people],
        "sources": [_entry(source) for source in study.sources],
        "guidelines": _plain(study.guidelines),
        "perturbations": [
            _entry(run if run.select else dataclasses.replace(run, rules="")) for run in study.runs
        ],
        "batches": [_batch(spec) for spec in study.batches],
    }
    project |= {name: _plain(value) for name in PROJECT_OPTIONS if (value := getattr(study, name))}
    content = {"study": json_schema.VERSION, "project": project}
    return content | {name: section for name, section in sections.items() if section}


def _batch(spec: BatchSpec) -> dict[str, Any]:
    context = Context(spec.task, values=dict(spec.terms))
    batch: dict[str, Any] = {"name": spec.name}
    for name, path in BATCH_KEYS.items():
        value, term = getattr(spec, name), TERMS.get(name)
        if term is None:
            is_written = bool(value) and (name != "of" or bool(spec.sources))
        elif name == "overlap" and spec.strategy == "everyone":
            is_written = False  # counted when the batch opens
        else:
            is_written = term.is_always_written or value != term.default_in(context)
            value = term.in_file(value)
        if is_written:
            *groups, key = path.split(".")
            part = batch
            for group in groups:
                part = part.setdefault(group, {})
            part[key] = _plain(value)
    if spec.gold:
        batch.setdefault("gold", {})["items"] = [_entry(item) for item in spec.gold]
    if spec.guideline_examples:
        batch["guideline_examples"] = [_entry(name) for name in spec.guideline_examples]
    if spec.open:
        batch["open"] = True
    return {key: batch[key] for key in (*EXPORT_ORDER, *batch) if key in batch}


def _entry(part: Any) -> dict[str, Any]:
    """A part without what is empty, 0 or false: every such value is the default."""
    values = {name.name: getattr(part, name.name) for name in dataclasses.fields(part)}
    return {key: _plain(value) for key, value in values.items() if value or key == "response"}


def _plain(value: Any) -> Any:
    """A value with every mapping in it in the order of its keys."""
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in sorted(value)}
    return [_plain(element) for element in value] if isinstance(value, list | tuple) else value


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
