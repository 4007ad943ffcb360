"""A manager defines a task type of the project as data."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NoReturn

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotation.access import audit_log
from annotation.models import Annotation, Batch, Gold, LabelImport, Person, Project, TaskTypeDefinition
from annotation.platform.refusals import refuse, require_storable
from annotation.quality import guidelines
from annotation.queue.slots import lock_batches, lock_items
from tasks.contract import rule_checks, task_types
from tasks.shared.defined_types import DefinedTask, task_of
from tasks.shared.definition_faults import BadDefinition
from tasks.shared.type_definitions import name_faults, new_definition_faults

MAX_NAMES = 10
"""Batches that one message names."""


def newest(project: Project) -> dict[str, TaskTypeDefinition]:
    """The newest version of every task type that the project defines, by name."""
    rows = TaskTypeDefinition.objects.filter(project=project).order_by("name", "number")
    return {row.name: row for row in rows}


def define(
    *, project: Project, name: str, data: Mapping[str, Any], by: Person | None, now: datetime
) -> TaskTypeDefinition:
    """Save a definition, and return its version. The same definition again changes nothing.

    Until a batch of the newest version has opened, or has a gold answer, that version changes. Afterwards the definition is
    a new version: batches without responses and gold answers take it, all others keep theirs (`batches_of`). Changed
    guidelines become a new version of the guidelines. Raises ActionRefused (invalid_request).
    """
    require_storable(data)
    task = _checked(name, data)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
        before = newest(project).get(name)
        if before is not None and before.data == data:
            _move_to_version(before)
            return before
        if faults := new_definition_faults(data):
            _refuse(name, BadDefinition(faults))
        guidelines_change = before is None or before.task().guidelines() != task.guidelines()
        row = _save_version(project, name, data, before, by=by, now=now)
        if before is not None and row.pk != before.pk:
            _move_to_version(row)
        version = None if before is None else before.number
        detail = audit_log.changed(f"task type {name}", version, row.number)
        audit_log.log(project, "", "changed", by=by, now=now, detail=detail)
        if before is not None and guidelines_change:
            assert by is not None, "only a person changes a definition"  # nosec
            guidelines.revise(project=project, task=row.task(), text=task.guidelines(), person=by, now=now)
    return row


def batches_of(project: Project) -> dict[str, list[Batch]]:
    """The batches of each task type that the project defines, in the order in which they were planned."""
    batches_by_type: dict[str, list[Batch]] = {}
    for batch in Batch.objects.filter(project=project, definition__isnull=False).order_by("pk"):
        batches_by_type.setdefault(batch.task_type, []).append(batch)
    return batches_by_type


def notices(row: TaskTypeDefinition) -> list[tuple[Literal["taken", "kept"], str]]:
    """What a definition that was saved means for its batches: which use it, which keep another version, and why."""
    batches = [batch for batch in batches_of(row.project).get(row.name, ()) if batch.closed_at is None]
    using = [batch.name for batch in batches if batch.definition_id == row.pk]
    others = [batch for batch in batches if batch.definition_id != row.pk]
    free = set(_movable_batches(row.project, row.name).values_list("pk", flat=True))
    importing = set(LabelImport.objects.filter(batch__in=others).values_list("batch_id", flat=True))
    ruled = [batch.name for batch in others if batch.pk in free]
    importers = [batch.name for batch in others if batch.pk in importing]
    worked_in = [batch.name for batch in others if batch.pk not in free | importing]
    messages: list[tuple[Literal["taken", "kept"], str]] = []
    if using:
        messages.append(("taken", gettext("These batches use it now: {names}.").format(names=_some(using))))
    for names, message in (
        (
            worked_in,
            gettext(
                "These batches keep their version, because they have responses or gold answers: {names}. "
                "Create a new batch to use version {number}."
            ),
        ),
        (
            ruled,
            gettext(
                "These batches keep their version, because their decision rule does not fit: {names}. "
                "Change the rule in their settings, and save the task type again."
            ),
        ),
        (
            importers,
            gettext(
                "These batches keep their version, because labels are being imported: {names}. "
                "Save the task type again when the import has ended."
            ),
        ),
    ):
        if names:
            messages.append(("kept", message.format(names=_some(names), number=row.number)))
    return messages


def _some(names: list[str]) -> str:
    return ", ".join([*names[:MAX_NAMES], *(["…"] if len(names) > MAX_NAMES else [])])


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
        _refuse(name, error)


def _refuse(name: str, error: BadDefinition) -> NoReturn:
    refuse("invalid_request", "{name}: {faults}", name=name, faults=str(error))


def _save_version(
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
    version = 1 if before is None else before.number + 1
    return TaskTypeDefinition.objects.create(
        project=project, name=name, number=version, data=dict(data), made_by=by, made_at=now
    )


def _is_used(row: TaskTypeDefinition) -> bool:
    """Whether a batch of this version was opened or has a gold answer."""
    batches = Batch.objects.filter(definition=row)
    return (
        batches.filter(opened_at__isnull=False).exists()
        or Gold.objects.filter(item__batch__in=batches).exists()
    )


def _movable_batches(project: Project, name: str) -> QuerySet[Batch]:
    """The batches of a task type that were not closed and hold no response, gold answer or unfinished import of labels."""
    responses = Annotation.objects.filter(assignment__batch=OuterRef("pk"))
    gold = Gold.objects.filter(item__batch=OuterRef("pk"))
    importing = LabelImport.objects.filter(batch=OuterRef("pk"))
    own = Batch.objects.filter(project=project, definition__name=name, closed_at=None)
    return own.filter(~Exists(responses), ~Exists(gold), ~Exists(importing))


def _move_to_version(row: TaskTypeDefinition) -> None:
    """Move the free batches to this version, except those whose own decision rule does not fit it.

    Submissions lock their item first and compare the version of the batch then (`submissions.finishing`). With all items
    locked, a submission is either visible here, or refused.
    """
    free = _movable_batches(row.project, row.name).exclude(definition=row)
    keys = list(free.order_by("pk").values_list("pk", flat=True))
    lock_items(keys)
    lock_batches(
        Batch.objects.filter(pk__in=keys)
    )  # and check again: an import of labels locks its batch alone
    fitting = [batch.pk for batch in free.filter(pk__in=keys) if _is_rule_compatible(row.task(), batch)]
    Batch.objects.filter(pk__in=fitting).update(definition=row, version=row.number)


def _is_rule_compatible(task: DefinedTask, batch: Batch) -> bool:
    try:
        rule_checks.check_rule(task, batch.resolve)
    except rule_checks.BadRule:
        return False
    return True
