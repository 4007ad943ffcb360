"""Taking an adjudicator's decision back, as long as nothing rests on it.

The decision is deleted with its outcomes, the examples that they made, the items that followed in other batches and what
runs fed by the batch made of the question. The event log keeps what was decided.
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
from annotation.work import fed_runs, resolutions


def retract(decision: Decision) -> None:
    """Delete a decision and what followed from it. The caller holds the lock of the item, in a transaction.

    Raises Refused (decided): a release contains the decision, or somebody has begun work that rests on it.
    """
    batch = decision.item.batch
    if Release.objects.kept().filter(project=batch.project_id, watermark__gte=decision.event_id).exists():
        refuse("decided", "This decision has been released and cannot be undone.")
    outcomes = list(decision.outcomes.select_related("example"))
    followers, runs = _lock_followers(batch, outcomes), fed_runs.lock(decision)
    examples = [*_made_examples(outcomes), *fed_runs.made_only_by(runs, decision.item.example)]
    user = _user(examples, followers)
    if user:
        refuse(
            "decided",
            "Work that rests on this decision has begun in “{batch}”, so it cannot be undone.",
            batch=user,
        )
    if user is not None:
        refuse("decided", "A model or another example rests on this decision, so it cannot be undone.")
    _delete_items(followers)
    counted = "accepted_count" if decision.kind == Decision.Kind.ACCEPTED else "excluded_count"
    Batch.objects.filter(pk=batch.pk).update(**{counted: F(counted) - 1})
    for run in runs:
        fed_runs.leave_out(run, decision.item.example)
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
    outcomes = list(decision.outcomes.select_related("example"))
    automatic = fed_runs.made_only_by(fed_runs.resting_on(decision), decision.item.example)
    followers = list(_made_items(decision.item.batch, outcomes))
    return _user([*_made_examples(outcomes), *automatic], followers)


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


def _made_examples(outcomes: Sequence[Outcome]) -> list[Example]:
    """The examples that these outcomes made."""
    return [outcome.example for outcome in outcomes if outcome.example is not None]


def _lock_followers(batch: Batch, outcomes: Sequence[Outcome]) -> list[Item]:
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


def _user(examples: Sequence[Example], followers: Sequence[Item]) -> str | None:
    """The name of a batch with work on the followers or the examples; "" for other uses, None where nothing uses them."""
    if begun := _begun(followers).select_related("batch").first():
        return begun.batch.name
    keys = [example.pk for example in examples]
    others = Item.objects.exclude(pk__in=[item.pk for item in followers]).select_related("batch")
    if item := others.filter(example__in=keys).first():
        return item.batch.name
    if (
        Example.objects.filter(parent__in=keys).exists()
        or ModelAnswer.objects.filter(example__in=keys).exists()
    ):
        return ""
    # Items on examples made in the same way may show these beside their own.
    names: dict[tuple[int | None, str], list[str]] = {}
    for example in examples:
        alike = names.setdefault((example.parent_id, example.perturbation), [])
        alike += [json.dumps(example.external_id), json.dumps(example.public_id)]
    for (parent, perturbation), quoted in names.items():
        for item in others.filter(example__parent=parent, example__perturbation=perturbation):
            shown = json.dumps(item.inputs)
            if any(name in shown for name in quoted):
                return item.batch.name
    return None


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
