"""Figures of a batch beyond agreement: its task type's own report, from raw responses and what was decided."""

from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.utils.translation import gettext, gettext_noop

from annotation.assistance import effect_report
from annotation.assistance import fooling_rates as counts
from annotation.models import Assignment, Batch, Decision, Item, Membership, Outcome
from annotation.quality import compared_responses
from tasks.contract import Report, ReportedResponse, TaskType


def reports(batch: Batch) -> list[Report]:
    """What the batch's kind reports, from the newest responses of planned places, and how models in the loop fared."""
    task = batch.task()
    if type(task).report is TaskType.report:
        return [*fooling_reports(batch), *effect_report.reports(batch)]
    names = dict(Membership.objects.filter(project=batch.project_id).values_list("person_id", "pseudonym"))
    decided: dict[int, list[Any]] = {}
    outcomes = Outcome.objects.filter(decision__item__batch=batch).order_by("number")
    for item_id, response in outcomes.values_list("decision__item_id", "response"):
        decided.setdefault(item_id, []).append(compared_responses.restore_response(task, response))
    settled = set(Decision.objects.filter(item__batch=batch).values_list("item_id", flat=True))
    assignments = Assignment.objects.filter(batch=batch, slot__added=False, item__is_gold=False).submitted()
    rows: list[tuple[int, ReportedResponse]] = []
    for keys in compared_responses.item_pages(batch):
        page = Item.objects.filter(batch=batch, pk__range=(keys[0], keys[-1]))
        items = page.select_related("batch", "example__stored_table", "example__source").in_bulk()
        plain = {key: item.plain() for key, item in items.items()}
        page_assignments = assignments.filter(item_id__gte=keys[0], item_id__lte=keys[-1])
        for pk, item_id, person_id, response in page_assignments.values_list(
            "pk", "item_id", "person_id", "annotation__response"
        ):
            if response is None:
                continue
            answered = ReportedResponse(
                item=plain[item_id],
                source=items[item_id].example.source.name,
                annotator=names.get(person_id, "?"),
                response=compared_responses.restore_response(task, response),
                decided=tuple(decided.get(item_id, ())) if item_id in settled else None,
            )
            rows.append((pk, answered))
    rows.sort(key=itemgetter(0))
    return [*task.report([row for _, row in rows]), *fooling_reports(batch), *effect_report.reports(batch)]


def reports_as_json(batch: Batch) -> dict[str, Any]:
    """The reports as JSON, for a snapshot."""
    return {"reports": [asdict(report) for report in reports(batch)]}


# -- the model in the loop --------------------------------------------------------------------------

FOOLING = (
    gettext_noop("annotator"),
    gettext_noop("model"),
    gettext_noop("week"),
    gettext_noop("origin"),
    gettext_noop("submitted"),
    gettext_noop("with a verdict"),
    gettext_noop("fooled"),
    gettext_noop("fooling rate"),
    gettext_noop("wrong on the original"),
    gettext_noop("share wrong on the original"),
    gettext_noop("checked and fooled"),
    gettext_noop("verified rate"),
)

EVERYBODY, ALL = gettext_noop("all annotators"), gettext_noop("all")


def fooling_reports(batch: Batch) -> list[Report]:
    """How often people fooled the models that looked at their submissions, per person, model and week."""
    looked = counts.of_batch(batch)
    if not looked:
        return []
    rows = []
    for model, of_model in groupby(
        counts.lines(looked, ("model", "annotator", "week", "origin")), lambda line: line.names[0]
    ):
        whose = [line for line in counts.lines(looked, ("model", "origin")) if line.names[0] == model]
        everybody = [line for line in counts.lines(looked, ("model",)) if line.names[0] == model]
        rows += [_fooling_row((EVERYBODY, model, ALL, ALL), line) for line in everybody]
        if len(whose) > 1:
            rows += [_fooling_row((EVERYBODY, model, ALL, line.names[1]), line) for line in whose]
        rows += [_fooling_row((line.names[1], model, *line.names[2:]), line) for line in of_model]
    note = gettext(
        "Fooled: right on the original, wrong on the submission. Verified: another person gave "
        "the author's answer blind. Both rates are shares of submissions whose original the "
        "model answers correctly. The share of originals it gets wrong is shown next to them. "
        "Intervals: Wilson, 95 %. Origin: if machines propose, a submission can be theirs."
    )
    return [Report(gettext("Fooling the model"), FOOLING, tuple(rows), note)]


def _fooling_row(names: tuple[str, ...], line: counts.Line) -> tuple[Any, ...]:
    shares = (line.fooled, line.wrong_before, line.verified)
    return (*names, line.submitted, line.judged, *(part for share in shares for part in (share.hits, share)))
