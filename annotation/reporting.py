"""Figures of a batch beyond agreement: its kind's own report, from raw responses and what was decided."""

from __future__ import annotations

import zoneinfo
from collections import Counter
from typing import Any

from django.db.models import F

from annotation import agreement, predicting
from annotation.models import Assignment, Batch, Item, Membership, Outcome, Try
from tableqa.answers import compare
from tableqa.proportions import proportion
from tasks.contract import Answered, Report, TaskType


def reports(batch: Batch) -> list[Report]:
    """What the batch's kind reports, from the newest responses of planned places, and how models in the loop fared."""
    task = batch.task()
    if type(task).report is TaskType.report:
        return fooling(batch)
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
    return [*task.report(rows), *fooling(batch)]


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
    """How often people fooled the models that looked at their submissions, per person, model and week.

    Verdicts that are still open, and examples that a model cannot read, are not counted. What counts as verified was
    answered by somebody else, blind, with the answer that its maker gave.
    """
    looked = list(
        Try.objects.filter(assignment__batch=batch, annotation=F("assignment__annotation"))
        .select_related("annotation", "assignment")
        .prefetch_related("verdicts")
        .order_by("pk")
    )
    if not looked:
        return []
    names = dict(Membership.objects.filter(project=batch.project_id).values_list("person_id", "pseudonym"))
    given = predicting.answers_since([row.annotation_id for row in looked if row.annotation_id is not None])
    zone = zoneinfo.ZoneInfo(batch.project.time_zone)
    tallies: dict[tuple[str, str, str], Counter[str]] = {}
    for row in looked:
        said = sorted(row.verdicts.all(), key=lambda one: one.pk)
        year, week, _ = row.made_at.astimezone(zone).isocalendar()
        who, model = names.get(row.assignment.person_id, "?"), row.model or row.predictor
        counts = Counter(submitted=1)
        if said and said[-1].verdict not in ("pending", "model_error"):
            counts["verdicts"] += 1
            fooled = said[-1].verdict == "fooled"
            counts["fooled"] += fooled
            answers = given.get(row.annotation_id or 0)
            confirmed = answers is not None and compare(answers, said[0].gold["perturbed"]).equal
            counts["verified"] += fooled and confirmed
        for key in ((who, model, f"{year}-W{week:02}"), ("everybody", model, "all")):
            tallies.setdefault(key, Counter()).update(counts)
    ordered = sorted(tallies, key=lambda key: (key[1], key[0] != "everybody", key))
    note = (
        "Fooled: right on the original, wrong on what was submitted. Verified: somebody else gave the maker's answer, "
        "blind. Rates are of the submissions with a verdict; intervals are Wilson's, 95 %."
    )
    return [Report("Fooling the model", FOOLING, tuple(_line(key, tallies[key]) for key in ordered), note)]


def _line(key: tuple[str, str, str], counts: Counter[str]) -> tuple[str | int | float | None, ...]:
    n = counts["verdicts"]
    fooled, verified = proportion(counts["fooled"], n), proportion(counts["verified"], n)
    return (
        *key,
        counts["submitted"],
        n,
        fooled.hits,
        fooled.percent,
        fooled.interval,
        verified.hits,
        verified.percent,
        verified.interval,
    )
