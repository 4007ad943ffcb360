"""The task type of a batch as a release records it, and what a batch asks people to do."""

from collections.abc import Mapping
from typing import Any

from tableqa import Example, Table
from tasks.contract import Item, TaskType, task_type
from tasks.shared.defined_types import task_of
from tasks.shared.definition_faults import BadDefinition, DefinitionFault

_ANY_EXAMPLE = Example("any", "?", Table(["A"], [["1"]]), ["1"])
"""What a batch asks for depends on its options alone: any example will do."""


def task_of_record(batch: Mapping[str, Any]) -> TaskType:
    """The task type of a batch as a release records it: as its definition says, else the installed one.

    Raises `BadDefinition` and `UnknownTaskType`.
    """
    published = batch.get("definition")
    if not isinstance(published, Mapping):
        return task_type(batch["type"])
    task = task_of(batch["type"], definition_of(batch), batch["version"])
    if task.published() != published:
        wrong = "The schema of the responses does not follow from the definition."
        raise BadDefinition([DefinitionFault((), wrong)])
    return task


def definition_of(batch: Mapping[str, Any]) -> dict[str, Any]:
    """The definition that a release records with a batch, without the schema that follows from it."""
    return {key: value for key, value in batch["definition"].items() if key != "response_schema"}


def instruction(task: TaskType, variant: str, settings: Mapping[str, Any], *, has_model: bool = False) -> str:
    """What a task type asks people to do, in one line."""
    return task.instruct(Item(_ANY_EXAMPLE, variant, settings), has_model=has_model)
