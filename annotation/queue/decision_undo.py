"""Taking an adjudicator's decision back, as long as nothing rests on it.

The decision is deleted with its outcomes, the examples that they made, the items that followed in other batches and what
runs fed by the batch made of the question. The event log keeps what was decided.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.models import (
    Assignment,
    Batch,
    Correction,
    Decision,
    Example,
    Exclusion,
    Gold,
    Item,
    ModelAnswer,
    Outcome,
    Proposal,
    Release,
    Reply,
    Slot,
)
from annotation.platform import immutable_rows
from annotation.platform.refusals import refuse
from annotation.queue import dependent_runs, resolutions


def retract(decision: Decision, *, event: int, corrects: bool = False) -> None:
    """Delete a decision and what followed from it. The caller holds the lock of the item, in a transaction.

    event     key of the event that takes it back
    corrects  also a decision that releases contain, which becomes a `Correction`

    Raises ActionRefused (decided): a release contains the decision or is being written, or work rests on the decision.
    """
    batch = decision.item.batch
    releases = list(Release.objects.kept().filter(project=batch.project_id, watermark__gte=decision.event_id))
    if releases and not corrects:
        refuse(
            "decided",
            "This decision has been released. To correct it, move the item to adjudication in the explorer.",
        )
    if any(release.ready_at is None for release in releases):
        refuse("decided", "A release with this decision is being written. Try again when it is ready.")
    outcomes = list(decision.outcomes.select_related("example"))
    followers, runs = _lock_followers(batch, outcomes), dependent_runs.lock(decision)
    automatic = dependent_runs.made_only_by({decision.pk: runs}, [decision]).get(decision.pk, [])
    examples = [*_made_examples(outcomes), *automatic]
    user = _users({decision.pk: examples}, {decision.pk: followers}).get(decision.pk)
    if user:
        refuse(
            "decided",
            "Work that rests on this decision has begun in “{batch}”, so it cannot be undone.",
            batch=user,
        )
    if user is not None:
        refuse("decided", "A model or another example rests on this decision, so it cannot be undone.")
    # A batch that was set aside then is not in a release.
    holding = [row for row in releases if batch.public_id in row.batch_ids]
    if holding:
        made_ids = sorted(example.external_id for example in examples)
        correction = Correction.objects.create(item=decision.item, event_id=event, examples=made_ids)
        correction.releases.set(holding)
    _delete_items(followers)
    counted = "accepted_count" if decision.kind == Decision.Kind.ACCEPTED else "excluded_count"
    Batch.objects.filter(pk=batch.pk).update(**{counted: F(counted) - 1})
    for run in runs:
        dependent_runs.leave_out(run, decision.item.example)
    with immutable_rows.writable():
        for outcome in outcomes:
            outcome.annotations.clear()
        decision.outcomes.all().delete()
        decision.delete()
        resolutions.mark([decision.item_id], Item.Resolution.NONE)
        Example.objects.filter(pk__in=[example.pk for example in examples]).delete()


def users_of(decisions: Sequence[Decision]) -> dict[int, str]:
    """By decision (key), what rests on it so that it cannot be undone: the name of the batch whose work has begun, or "" for
    something else. Locks nothing: `retract` checks again. As many statements for many as for one.
    """
    examples = dependent_runs.made_only_by(dependent_runs.resting_on(decisions), decisions)
    followers: dict[int, list[Item]] = {}
    made_by: dict[str, int] = {}
    for outcome in Outcome.objects.filter(decision__in=decisions).select_related("example"):
        made_by[outcome.public_id] = outcome.decision_id
        examples.setdefault(outcome.decision_id, []).extend(_made_examples([outcome]))
    batches = {decision.item.batch_id for decision in decisions}
    created_items = Item.objects.filter(batch__feeds_from__in=batches, inputs__outcome__in=list(made_by))
    for item in created_items.order_by("pk"):
        followers.setdefault(made_by[item.inputs["outcome"]], []).append(item)
    return _users(examples, followers)


def lock_followers(batches: Iterable[int], items: Sequence[int]) -> None:
    """Lock the items that the decisions of these items made, in one order, before anything is changed."""
    outcomes = Outcome.objects.filter(decision__item__in=items).values_list("public_id", flat=True)
    created_items = Item.objects.filter(batch__feeds_from__in=batches, inputs__outcome__in=list(outcomes))
    keys = list(created_items.order_by("pk").values_list("pk", flat=True))
    list(Item.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk").values_list("pk"))


def _made_examples(outcomes: Sequence[Outcome]) -> list[Example]:
    """The examples that these outcomes made."""
    return [outcome.example for outcome in outcomes if outcome.example is not None]


def _lock_followers(batch: Batch, outcomes: Sequence[Outcome]) -> list[Item]:
    """The items of other batches that these outcomes made, locked with their slots, so that no slot is taken meanwhile."""
    ids = [outcome.public_id for outcome in outcomes]
    created_items = Item.objects.filter(batch__feeds_from=batch, inputs__outcome__in=ids)
    keys = list(created_items.order_by("pk").values_list("pk", flat=True))
    items = list(Item.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    list(Slot.objects.select_for_update(no_key=True).filter(item__in=keys).order_by("pk").values_list("pk"))
    return items


def _items_with_work(items: Sequence[Item]) -> QuerySet[Item]:
    """Those of the items that any person has had, or that a model has worked on."""
    rows = {
        model: model.objects.filter(item=OuterRef("pk"))
        for model in (Assignment, Proposal, Reply, Gold, Decision)
    }
    begun = Q(Exists(Exclusion.objects.filter(item=OuterRef("pk"), read_at__isnull=False)))
    for of_item in rows.values():
        begun |= Q(Exists(of_item))
    return Item.objects.filter(begun, pk__in=[item.pk for item in items])


def _users(
    examples_of: Mapping[int, Sequence[Example]], followers_of: Mapping[int, Sequence[Item]]
) -> dict[int, str]:
    """By key, the name of a batch with work on these followers or examples, "" for other uses; absent where nothing uses
    them.
    """
    followers = [item for items in followers_of.values() for item in items]
    begun = set(_items_with_work(followers).values_list("pk", flat=True)) if followers else set()
    examples = [example for examples in examples_of.values() for example in examples]
    keys = [example.pk for example in examples]
    # Items on examples made in the same way may show these beside their own.
    parents = {example.parent_id for example in examples if example.parent_id is not None}
    items = Item.objects.filter(Q(example__in=keys) | Q(example__parent__in=parents)).order_by("pk")
    columns = ("pk", "inputs", "batch__name", "example__parent_id", "example__perturbation")
    on_example: dict[int, list[Item]] = {}
    alike: dict[tuple[int | None, str], list[Item]] = {}
    for item in items.select_related("batch", "example").only(*columns) if keys else ():
        on_example.setdefault(item.example_id, []).append(item)
        alike.setdefault((item.example.parent_id, item.example.perturbation), []).append(item)
    used = set(Example.objects.filter(parent__in=keys).values_list("parent_id", flat=True)) if keys else set()
    used |= set(ModelAnswer.objects.filter(example__in=keys).values_list("example_id", flat=True))
    names = dict(Batch.objects.filter(pk__in={item.batch_id for item in followers}).values_list("pk", "name"))
    users: dict[int, str] = {}
    for key in {**examples_of, **followers_of}:
        own = followers_of.get(key, ())
        if mine := [item for item in own if item.pk in begun]:
            users[key] = names[mine[0].batch_id]
            continue
        skipped = {item.pk for item in own}
        own_examples = examples_of.get(key, ())
        using = [
            item
            for example in own_examples
            for item in on_example.get(example.pk, ())
            if item.pk not in skipped
        ]
        if using:
            users[key] = using[0].batch.name
        elif any(example.pk in used for example in own_examples):
            users[key] = ""
        elif shown_item := next(
            (item for item in _items_showing(own_examples, alike) if item.pk not in skipped), None
        ):
            users[key] = shown_item.batch.name
    return users


def _items_showing(
    examples: Sequence[Example], alike: Mapping[tuple[int | None, str], Sequence[Item]]
) -> Iterator[Item]:
    """The items, of those on examples made in the same way, whose inputs name one of these examples."""
    for example in examples:
        quoted = json.dumps(example.external_id), json.dumps(example.public_id)
        for item in alike.get((example.parent_id, example.perturbation), ()):
            inputs_json = json.dumps(item.inputs)
            if any(name in inputs_json for name in quoted):
                yield item


def _delete_items(items: Sequence[Item]) -> None:
    """Delete items that were never assigned, with their slots, and correct the counts of their batches."""
    counts = Counter(item.batch_id for item in items)
    slots: Counter[int] = Counter()
    for item in items:
        slots[item.batch_id] += item.slots_count
    Item.objects.filter(pk__in=[item.pk for item in items]).delete()
    for batch, gone in sorted(counts.items()):
        Batch.objects.filter(pk=batch).update(
            items_count=F("items_count") - gone, slots_count=F("slots_count") - slots[batch]
        )
