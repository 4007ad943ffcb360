"""Stored checks of responses by models, and their verdicts. A submission uses the last try of the same content, and calls
no model.
"""

import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import OuterRef, Prefetch, Q, Subquery
from django.urls import reverse

from annotation.assistance.judgements import ExamplePair, JudgedPair, example_pair, judge_answers
from annotation.models import Annotation, Assignment, Batch, Try, Verdict
from annotation.platform import keyset
from predictor.configuration import is_live
from predictor.protocol import Prediction
from tasks.contract import TaskType

KEPT = ("answers", "text", "op", "cells", "score", "topk", "rows_seen", "rows_total", "truncated")


RECORDED = ("kind", "predictor", "model", "asked", "response", "original", "perturbed", "error")
"""Fields of a try that a release has."""


def stored_prediction(prediction: Prediction) -> dict[str, Any]:
    """A prediction as it is stored."""
    prediction_fields = prediction.to_dict()
    stored = {name: prediction_fields[name] for name in KEPT}
    return {**stored, "state": prediction.state} if prediction.state else stored


def loop_description(batch: Batch) -> dict[str, Any] | None:
    """What a page says about the model in the loop of a batch, with the models of its panel."""
    gateway = f"{reverse('home')}gateway/" if settings.MODEL_GATEWAY else ""
    return describe_loop(batch.task(), batch.loop_model, gateway, panel(batch))


def describe_loop(
    task: TaskType, model: str, gateway: str = "", panel: Sequence[str] = ()
) -> dict[str, Any] | None:
    """What a page says about a model in the loop: its name and licence, and when it answers.

    None where the task type knows no model; the name is "" where there is none.
    """
    if not task.predicts:
        return None
    licence = settings.PREDICTORS.get(model, {}).get("licence", "")
    return {
        "model": model,
        "licence": licence,
        "when": task.predicts,
        "gateway": gateway,
        "panel": list(panel),
    }


def panel(batch: Batch) -> list[str]:
    """Models whose answers are shown beside that of the model in the loop, by name."""
    return [
        name
        for name, entry in settings.PREDICTORS.items()
        if batch.loop_model and name != batch.loop_model and entry.get("panel") and is_live(entry)
    ]


# -- what is kept -----------------------------------------------------------------------------------


def count_lacking_reasoning(batch: Batch) -> dict[str, tuple[int, int]]:
    """By reasoning model (`reasoning` of its entry): stored answers without a sign of reasoning, and all; only where any."""
    names = [name for name, entry in settings.PREDICTORS.items() if entry.get("reasoning")]
    counts = {}
    for name in names:
        answered = Try.objects.filter(assignment__batch=batch, predictor=name, original__isnull=False)
        if lacking := answered.filter(
            Q(original__lacks_reasoning=True) | Q(perturbed__lacks_reasoning=True)
        ).count():
            counts[name] = lacking, answered.count()
    return counts


def count_of_person(assignment: Assignment) -> int:
    """How many things the person has tried on this item."""
    return Try.objects.filter(assignment=assignment, kind=Try.Kind.PERSON).count()


def fooled_today(assignment: Assignment, *, now: datetime) -> int:
    """The items of this task type on which the person has verifiably fooled the project's models today, in its time zone."""
    project = assignment.batch.project
    midnight = now.astimezone(zoneinfo.ZoneInfo(project.time_zone)).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    newest = Verdict.objects.filter(of=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    rows = Try.objects.filter(
        assignment__person_id=assignment.person_id,
        assignment__batch__project=project,
        assignment__batch__task_type=assignment.batch.task_type,
        made_at__gte=midnight,
    ).exclude(kind=Try.Kind.PANEL)
    fooled = rows.annotate(newest=Subquery(newest)).filter(
        newest__in=Verdict.objects.filter(verdict="fooled", is_confirmed=True)
    )
    return fooled.values("assignment").distinct().count()


def keep_verdict(row: Try, judged_pair: JudgedPair, *, now: datetime) -> Verdict | None:
    """Add a verdict to a try that has its answers, unless it says what the newest one says by the same gold answers."""
    if row.answered_at is None:
        return None
    last = row.verdicts.order_by("-pk").first()
    is_same = last is not None and (last.verdict, last.gold) == (judged_pair.verdict, judged_pair.gold)
    if last is not None and is_same and bool(last.is_confirmed) == judged_pair.is_confirmed:
        return last
    return Verdict.objects.create(
        of=row,
        verdict=judged_pair.verdict,
        gold=dict(judged_pair.gold),
        judgements={
            name: judgement.to_dict() if judgement else None
            for name, judgement in judged_pair.judgements.items()
        },
        is_confirmed=judged_pair.is_confirmed,
        made_at=now,
    )


def record_submission(annotation: Annotation, *, assignment: Assignment, now: datetime) -> Try | None:
    """Keep what a submission rests on: the answers of the person's last try of the same, else a row that waits for them.

    None where the batch has no model in the loop, or where the response makes nothing that could be tried.
    """
    batch, task = assignment.batch, assignment.batch.task()
    if not batch.loop_model or task.predicts != "live" or annotation.response is None:
        return None
    item = assignment.plain_item
    pair = example_pair(task, item, annotation.response.get("data"))
    if pair.perturbed is None:
        return None
    row = Try(
        assignment=assignment,
        annotation=annotation,
        kind=Try.Kind.SUBMISSION,
        predictor=batch.loop_model,
        digest=pair.digest,
        asked=pair.keys,
        response=annotation.response,
        made_at=now,
    )
    last = last_try(batch, assignment, pair.digest)
    if last is not None:
        row.model, row.original, row.perturbed = last.model, last.original, last.perturbed
        row.error, row.answered_at = last.error, last.answered_at
    row.save(force_insert=True)
    keep_verdict(row, judge_answers(pair, row), now=now)
    return row


def last_try(batch: Batch, assignment: Assignment, digest: str) -> Try | None:
    """The person's try of exactly this, answered by the model that the batch has frozen."""
    rows = Try.objects.filter(
        assignment=assignment,
        kind=Try.Kind.PERSON,
        predictor=batch.loop_model,
        model=batch.loop_revision,
        digest=digest,
        answered_at__isnull=False,
    )
    return rows.order_by("-pk").first()


def freeze_model(batch: Batch, model: str) -> bool:
    """Whether this is the model, weights and all, that the batch has frozen. The first one that is seen is frozen."""
    if not batch.loop_revision:
        Batch.objects.filter(pk=batch.pk, loop_revision="").update(loop_revision=model)
        batch.refresh_from_db(fields=["loop_revision"])
    return batch.loop_revision == model


def load_try(key: int) -> tuple[Try, ExamplePair]:
    """A try, and the request to its model."""
    row = Try.objects.select_related(
        "assignment__batch__project", "assignment__item__example__stored_table", "annotation"
    ).get(pk=key)
    assignment = row.assignment
    return row, example_pair(assignment.batch.task(), assignment.plain_item, row.response.get("data"))


# -- in a release -----------------------------------------------------------------------------------


def records(
    batches: Sequence[Batch], *, watermark: int, names: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """The tries that belong to annotations up to an event, with every verdict they were given; people by pseudonym.

    What a person tried before a submission below the watermark is in; what was tried since, or never submitted, is not.
    """
    tried = Try.objects.filter(assignment__batch__in=batches, assignment__item__is_gold=False)
    rows = tried.select_related(
        "assignment__batch", "assignment__item__example__source", "annotation"
    ).prefetch_related(Prefetch("verdicts", Verdict.objects.order_by("pk")))
    for page in keyset.sorted_chunks(rows, "assignment__item__public_id"):
        submitted = Annotation.objects.filter(
            assignment__in={row.assignment_id for row in page}, event_id__lte=watermark
        )
        until = dict(submitted.order_by("revision").values_list("assignment_id", "made_at"))
        for row in page:
            if row.assignment_id not in until:
                continue
            late = (
                row.annotation.event_id > watermark
                if row.annotation is not None
                else row.made_at > until[row.assignment_id]
            )
            if late:
                continue
            yield {
                "id": row.public_id,
                "batch": row.assignment.batch.public_id,
                "item": row.assignment.item.public_id,
                "source": row.assignment.item.example.source.name,
                "example": row.assignment.item.example.external_id,
                "annotator": names[row.assignment.person_id],
                "annotation": row.annotation.public_id if row.annotation else None,
                **{name: getattr(row, name) for name in RECORDED},
                "verdicts": [
                    {
                        "verdict": verdict.verdict,
                        "gold": verdict.gold,
                        "judgements": verdict.judgements,
                        "made_at": verdict.made_at.isoformat(),
                    }
                    # Verdicts are read after the rows: one may rest on answers that came in between.
                    for verdict in (row.verdicts.all() if row.answered_at is not None else ())
                ],
                "made_at": row.made_at.isoformat(),
            }
