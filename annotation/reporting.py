"""Figures of a batch beyond agreement: its kind's own report, from raw responses and what was decided."""

from __future__ import annotations

from typing import Any

from annotation import agreement
from annotation.models import Assignment, Batch, Item, Membership, Outcome
from tasks.contract import Answered, Report, TaskType


def reports(batch: Batch) -> list[Report]:
    """The tables that the batch's kind reports; none where it reports nothing. Newest responses, planned places."""
    task = batch.task()
    if type(task).report is TaskType.report:
        return []
    names = dict(Membership.objects.filter(project=batch.project_id).values_list("person_id", "pseudonym"))
    decided: dict[int, list[Any]] = {}
    outcomes = Outcome.objects.filter(decision__item__batch=batch).order_by("number")
    for item_id, response in outcomes.values_list("decision__item_id", "response"):
        decided.setdefault(item_id, []).append(agreement.stored(task, response))
    excluded = set(
        Item.objects.filter(batch=batch, decision__isnull=False)
        .exclude(pk__in=decided)
        .values_list("pk", flat=True)
    )
    said = Assignment.objects.filter(batch=batch, place__added=False).submitted()
    rows = []
    for assignment in said.select_related(
        "annotation", "item__batch", "item__example__stored_table", "item__example__source"
    ).order_by("pk"):
        if assignment.annotation is None:
            continue
        item = assignment.item
        known = item.pk in decided or item.pk in excluded
        rows.append(
            Answered(
                item=item.plain(),
                source=item.example.source.name,
                annotator=names.get(assignment.person_id, "?"),
                response=agreement.stored(task, assignment.annotation.response or {}),
                decided=tuple(decided.get(item.pk, ())) if known else None,
            )
        )
    return task.report(rows)
