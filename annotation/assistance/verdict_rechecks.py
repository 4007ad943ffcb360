"""Verdicts taken again by gold answers that others have given since, blind to the first answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet

from annotation.assistance import judgements, model_checks
from annotation.models import Annotation, Batch, Decision, Event, Item, Outcome, Try
from tasks.contract import AnsweringTask


def recheck(*, batch: Batch, now: datetime, after: int = 0) -> int:
    """Take the verdicts of what was submitted again by the gold answers of now. Returns how many are new.

    after: the event (key) up to which it was done before.
    """
    rows = Try.objects.filter(
        assignment__batch=batch, annotation__isnull=False, answered_at__isnull=False
    ).filter(Exists(_checked_since(after).filter(pk=OuterRef("annotation"))))
    new = 0
    for key in list(rows.order_by("pk").values_list("pk", flat=True)):
        row, pair = model_checks.load_try(key)
        before = row.verdicts.count()
        model_checks.keep_verdict(row, judge_try(row, pair), now=now)
        new += row.verdicts.count() - before
    return new


def _checked_since(after: int) -> QuerySet[Annotation]:
    """Annotations whose example is in a decided item of its own; after an event, in one whose state has changed since."""
    items = Item.objects.filter(decision__kind=Decision.Kind.ACCEPTED)
    if after:
        changes = Event.objects.filter(thing="item", thing_id=OuterRef("pk"), pk__gt=after)
        items = Item.objects.filter(Exists(changes))
    return Annotation.objects.filter(outcomes__example__items__in=items)


def judge_try(row: Try, pair: judgements.ExamplePair) -> judgements.JudgedPair:
    """The verdict on a try by the newest gold answer."""
    key = row.annotation_id
    gold = None if key is None else find_later_gold_answers([key]).get(key)
    return judgements.judge_answers(pair, row, gold=gold)


def find_later_gold_answers(annotations: Sequence[int]) -> dict[int, list[str]]:
    """For annotations (ids): what an accepted outcome on the example they made says is its right answer, the newest."""
    answers_by_annotation: dict[int, list[str]] = {}
    outcomes = Outcome.objects.filter(decision__item__example__outcome__annotations__in=list(annotations))
    outcomes = outcomes.select_related("decision__item__batch", "decision__item__example__stored_table")
    for outcome in outcomes.order_by("pk").distinct():
        item = outcome.decision.item
        task = item.batch.task()
        if not isinstance(task, AnsweringTask):
            continue
        gold = task.gold(task.restore(outcome.response["data"]), item.plain())
        if gold is None:
            continue
        checked = item.example.outcome.annotations.filter(pk__in=list(annotations))
        answers_by_annotation |= {key: list(gold) for key in checked.values_list("pk", flat=True)}
    return answers_by_annotation
