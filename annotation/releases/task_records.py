"""The task type of a batch as a release records it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.common.defined import task_of
from tasks.common.definitions import BadDefinition, DefinitionFault
from tasks.contract import TaskType, task_type


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
