"""Taking an adjudicator's decision back, as long as nothing rests on it.

The decision is deleted with its outcomes, the examples that they made and the items that followed in other batches. The
event log keeps what was decided.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation import immutable
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    Example,
    Exclusion,
    Gold,
    Item,
    ModelAnswer,
    Outcome,
    Place,
    Proposal,
    Release,
    Reply,
)
from annotation.refusals import refuse
from annotation.work import resolutions


def retract(decision: Decision) -> None:
    """Delete a decision and what followed from it. The caller holds the lock of the item, in a transaction.

    Raises Refused (decided): a release contains the decision, or somebody has begun work that rests on it.
    """
    batch = decision.item.batch
    if Release.objects.kept().filter(project=batch.project_id, watermark__gte=decision.event_id).exists():
        refuse("decided", "This decision has been released and cannot be undone.")
    outcomes = list(decision.outcomes.select_related("example"))
    examples = [outcome.example for outcome in outcomes if outcome.example is not None]
    followers = _followers(batch, outcomes)
    if _begun(followers).exists() or _is_used(examples, followers) or _is_perturbed(decision):
        refuse("decided", "Work that rests on this decision has begun, so it cannot be undone.")
    _delete_items(followers)
    counted = "accepted_count" if decision.kind == Decision.Kind.ACCEPTED else "excluded_count"
    Batch.objects.filter(pk=batch.pk).update(**{counted: F(counted) - 1})
    with immutable.writable():
        for outcome in outcomes:
            outcome.annotations.clear()
        decision.outcomes.all().delete()
        decision.delete()
        resolutions.mark([decision.item_id], Item.Resolution.NONE)
        Example.objects.filter(pk__in=[example.pk for example in examples]).delete()


def user_of(decision: Decision) -> str | None:
    """What rests on a decision, so that it cannot be undone: the name of the batch whose work has begun, "" where it is
    something else, None where nothing does. Locks nothing: `retract` looks again.
    """
    batch = decision.item.batch
    outcomes = list(decision.outcomes.select_related("example"))
    made = [outcome.example for outcome in outcomes if outcome.example is not None]
    followers = list(_made_items(batch, outcomes).select_related("batch"))
    if begun := _begun(followers).select_related("batch").first():
        return begun.batch.name
    return "" if _is_used(made, followers) or _is_perturbed(decision) else None


def lock_followers(batches: Iterable[int], items: Sequence[int]) -> None:
    """Lock the items that the decisions of these items made, in one order, before anything is changed."""
    outcomes = Outcome.objects.filter(decision__item__in=items).values_list("public_id", flat=True)
    made = Item.objects.filter(batch__feeds_from__in=batches, inputs__outcome__in=list(outcomes))
    keys = list(made.order_by("pk").values_list("pk", flat=True))
    list(Item.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk").values_list("pk"))


def _made_items(batch: Batch, outcomes: Sequence[Outcome]) -> QuerySet[Item]:
    """The items of other batches that these outcomes made."""
    return Item.objects.filter(
        batch__feeds_from=batch, inputs__outcome__in=[outcome.public_id for outcome in outcomes]
    )


def _followers(batch: Batch, outcomes: Sequence[Outcome]) -> list[Item]:
    """The items of other batches that these outcomes made, locked with their slots: nobody takes one meanwhile."""
    keys = list(_made_items(batch, outcomes).order_by("pk").values_list("pk", flat=True))
    items = list(Item.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    list(Place.objects.select_for_update(no_key=True).filter(item__in=keys).order_by("pk").values_list("pk"))
    return items


def _begun(items: Sequence[Item]) -> QuerySet[Item]:
    """Those of the items that anybody has had, or that a model has worked on."""
    rows = {
        model: model.objects.filter(item=OuterRef("pk"))
        for model in (Assignment, Proposal, Reply, Gold, Decision)
    }
    begun = Q(Exists(Exclusion.objects.filter(item=OuterRef("pk"), read_at__isnull=False)))
    for of_item in rows.values():
        begun |= Q(Exists(of_item))
    return Item.objects.filter(begun, pk__in=[item.pk for item in items])


def _is_used(examples: Sequence[Example], followers: Sequence[Item]) -> bool:
    """Whether another item, example or model has to do with one of the examples."""
    made = {example.pk for example in examples}
    others = Item.objects.exclude(pk__in=[item.pk for item in followers])
    if (
        others.filter(example__in=made).exists()
        or Example.objects.filter(parent__in=made).exists()
        or ModelAnswer.objects.filter(example__in=made).exists()
    ):
        return True
    # Items on examples made in the same way may show these beside their own.
    for example in examples:
        names = (example.external_id, example.public_id)
        siblings = others.filter(
            example__parent=example.parent_id, example__perturbation=example.perturbation
        )
        for inputs in siblings.values_list("inputs", flat=True):
            text = json.dumps(inputs)
            if any(json.dumps(name) in text for name in names):
                return True
    return False


def _is_perturbed(decision: Decision) -> bool:
    """Whether a run that the batch feeds has made examples of the original."""
    if not decision.item.batch.fed_runs.exists():
        return False
    return Example.objects.filter(parent=decision.item.example_id, seed__isnull=False).exists()


def _delete_items(items: Sequence[Item]) -> None:
    """Delete items that nobody has had, with their slots, and correct the counts of their batches."""
    number = Counter(item.batch_id for item in items)
    slots: Counter[int] = Counter()
    for item in items:
        slots[item.batch_id] += item.places_count
    Item.objects.filter(pk__in=[item.pk for item in items]).delete()
    for batch, gone in sorted(number.items()):
        Batch.objects.filter(pk=batch).update(
            items_count=F("items_count") - gone, places_count=F("places_count") - slots[batch]
        )
