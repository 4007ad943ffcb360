"""A manager defines a task type of the project as data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation import events
from annotation.models import Annotation, Batch, Gold, Person, Project, TaskTypeDefinition
from annotation.quality import guidance
from annotation.refusals import refuse, require_storable
from tasks.common.defined import DefinedTask, task_of
from tasks.common.definitions import BadDefinition, name_faults
from tasks.contract import task_types


def newest(project: Project) -> dict[str, TaskTypeDefinition]:
    """The newest version of every task type that the project defines, by name."""
    rows = TaskTypeDefinition.objects.filter(project=project).order_by("name", "number")
    return {row.name: row for row in rows}


def define(
    *, project: Project, name: str, data: Mapping[str, Any], by: Person | None, now: datetime
) -> TaskTypeDefinition:
    """Save a definition, and return its version. The same definition again changes nothing.

    Until a batch of the newest version has opened, or has a gold answer, that version changes. Afterwards the definition is
    a new version: planned and paused batches without responses take it, all others keep theirs. Changed guidelines become
    a new version of the guidelines. Raises Refused (invalid_request).
    """
    require_storable(*_texts(data))
    task = _checked(name, data)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
        before = newest(project).get(name)
        if before is not None and before.data == data:
            return before
        guidelines_change = before is None or before.task().guidelines() != task.guidelines()
        row = _saved(project, name, data, before, by=by, now=now)
        if before is not None and row.pk != before.pk:
            _take(row, _unused(before))
        number = None if before is None else before.number
        detail = events.changed(f"task type {name}", number, row.number)
        events.log(project, "", "changed", by=by, now=now, detail=detail)
        if before is not None and guidelines_change:
            assert by is not None, "only a person changes a definition"  # nosec
            guidance.revise(project=project, task=row.task(), text=task.guidelines(), person=by, now=now)
    return row


def task_in(project: Project, key: str) -> DefinedTask | None:
    """The newest version of a task type that the project defines; None where it defines none of this name."""
    row = TaskTypeDefinition.objects.filter(project=project, name=key).order_by("-number").first()
    return None if row is None else row.task()


def _checked(name: str, data: Mapping[str, Any]) -> DefinedTask:
    try:
        if wrong := list(name_faults(name, list(task_types()))):
            raise BadDefinition(wrong)
        return task_of(name, data)
    except BadDefinition as error:
        refuse("invalid_request", "{name}: {faults}", name=name, faults=str(error))


def _saved(
    project: Project,
    name: str,
    data: Mapping[str, Any],
    before: TaskTypeDefinition | None,
    *,
    by: Person | None,
    now: datetime,
) -> TaskTypeDefinition:
    if before is not None and not _is_used(before):
        before.data, before.made_by, before.made_at = dict(data), by, now
        before.save(update_fields=["data", "made_by", "made_at"])
        return before
    number = 1 if before is None else before.number + 1
    return TaskTypeDefinition.objects.create(
        project=project, name=name, number=number, data=dict(data), made_by=by, made_at=now
    )


def _is_used(row: TaskTypeDefinition) -> bool:
    """Whether a batch of this version was opened or has a gold answer."""
    batches = Batch.objects.filter(definition=row)
    return (
        batches.filter(opened_at__isnull=False).exists()
        or Gold.objects.filter(item__batch__in=batches).exists()
    )


def _unused(row: TaskTypeDefinition) -> QuerySet[Batch]:
    """The planned and paused batches of this version in which nothing was said yet."""
    said = Annotation.objects.filter(assignment__batch=OuterRef("pk"))
    gold = Gold.objects.filter(item__batch=OuterRef("pk"))
    waiting = Q(opened_at__isnull=True) | Q(paused_at__isnull=False, closed_at__isnull=True)
    return Batch.objects.filter(waiting, ~Exists(said), ~Exists(gold), definition=row)


def _take(row: TaskTypeDefinition, batches: QuerySet[Batch]) -> None:
    keys = list(batches.select_for_update(no_key=True).values_list("pk", flat=True))
    Batch.objects.filter(pk__in=keys).update(definition=row, version=row.number)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for part in pair for text in _texts(part)]
    return [text for part in value for text in _texts(part)] if isinstance(value, list | tuple) else []
