"""Verdicts taken again by gold answers that others have given since, blind to the first answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.assistance import judgements, model_checks
from annotation.models import Batch, Decision, Event, Item, Outcome, Try
from tasks.contract import Answering


def recheck(*, batch: Batch, now: datetime, after: int = 0) -> int:
    """Take the verdicts of what was submitted again by the gold answers of now. Returns how many are new.

    after: the event (key) up to which it was done before.
    """
    rows = Try.objects.filter(
        assignment__batch=batch, annotation__isnull=False, answered_at__isnull=False
    ).filter(Exists(_checked_since(after).filter(pk=OuterRef("annotation"))))
    new = 0
    for key in list(rows.order_by("pk").values_list("pk", flat=True)):
        row = model_checks.load_try(key)
        before = row.verdicts.count()
        pair = judgements.example_pair(batch.task(), row.assignment.plain_item, row.response.get("data"))
        model_checks.keep_verdict(row, judge_try(row, pair), now=now)
        new += row.verdicts.count() - before
    return new


def _checked_since(after: int) -> Any:
    """Annotations whose example somebody has looked at since, in an item of its own that is decided; or undecided again,
    of those whose state changed after an event.
    """
    from annotation.models import Annotation

    items = Item.objects.filter(decision__kind=Decision.Kind.ACCEPTED)
    if after:
        changes = Event.objects.filter(thing="item", thing_id=OuterRef("pk"), pk__gt=after)
        items = Item.objects.filter(Exists(changes))
    return Annotation.objects.filter(outcomes__example__items__in=items)


def judge_try(row: Try, pair: judgements.ExamplePair) -> judgements.JudgedPair:
    """The verdict on a try by the newest gold answer."""
    gold = find_later_gold_answer(row)
    return judgements.judge_pair(pair, row.original, row.perturbed, gold=gold, failed=bool(row.error))


def find_later_gold_answer(row: Try) -> list[str] | None:
    """The answer to what was submitted that others have given since, blind to the first one; None where nobody has."""
    if row.annotation_id is None:
        return None
    return find_later_gold_answers([row.annotation_id]).get(row.annotation_id)


def find_later_gold_answers(annotations: Sequence[int]) -> dict[int, list[str]]:
    """For annotations (ids): what an accepted outcome on the example they made says is its right answer, the newest."""
    answers_by_annotation: dict[int, list[str]] = {}
    outcomes = Outcome.objects.filter(decision__item__example__outcome__annotations__in=list(annotations))
    outcomes = outcomes.select_related("decision__item__batch", "decision__item__example__stored_table")
    for outcome in outcomes.order_by("pk").distinct():
        item = outcome.decision.item
        task = item.batch.task()
        plain = item.plain()
        if not isinstance(task, Answering):
            continue
        gold = task.gold(task.restore(outcome.response["data"]), plain)
        if gold is None:
            continue
        source_outcome = item.example.outcome
        for key in source_outcome.annotations.filter(pk__in=list(annotations)).values_list("pk", flat=True):
            answers_by_annotation[key] = list(gold)
    return answers_by_annotation
