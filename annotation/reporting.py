"""Figures of a batch beyond agreement: its kind's own report, from raw responses and what was decided."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from annotation import agreement, help_report
from annotation import fooling as counts
from annotation.models import Assignment, Batch, Item, Membership, Outcome
from tableqa.proportions import Proportion
from tasks.contract import Answered, Report, TaskType


def reports(batch: Batch) -> list[Report]:
    """What the batch's kind reports, from the newest responses of planned places, and how models in the loop fared."""
    task = batch.task()
    if type(task).report is TaskType.report:
        return [*fooling(batch), *help_report.reports(batch)]
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
    return [*task.report(rows), *fooling(batch), *help_report.reports(batch)]


# -- the model in the loop --------------------------------------------------------------------------

FOOLING = (
    "annotator",
    "model",
    "week",
    "submitted",
    "with a verdict",
    "fooled",
    "fooling rate",
    "interval",
    "checked and fooled",
    "verified rate",
    "interval of it",
)


def fooling(batch: Batch) -> list[Report]:
    """How often people fooled the models that looked at their submissions, per person, model and week."""
    looked = counts.of_batch(batch)
    if not looked:
        return []
    rows = [
        (*names, line.submitted, line.judged, *_share(line.fooled), *_share(line.verified))
        for model, of_model in groupby(counts.lines(looked, ("model", "annotator", "week")), _model)
        for names, line in [
            *(
                (("everybody", model, "all"), one)
                for one in counts.lines(looked, ("model",))
                if _model(one) == model
            ),
            *(((one.names[1], model, one.names[2]), one) for one in of_model),
        ]
    ]
    note = (
        "Fooled: right on the original, wrong on what was submitted. Verified: somebody else gave the maker's answer, "
        "blind. Rates are of the submissions with a verdict; intervals are Wilson's, 95 %."
    )
    return [Report("Fooling the model", FOOLING, tuple(rows), note)]


def _model(line: counts.Line) -> str:
    return line.names[0]


def _share(share: Proportion) -> tuple[int, str, str]:
    return share.hits, share.percent, share.interval
