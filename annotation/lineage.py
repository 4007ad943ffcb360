"""From a decision to what follows it: derived examples, and items of the batches that it feeds."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max

from annotation import queue
from annotation.models import Batch, Decision, Example, Exclusion, Item, Outcome
from tasks.contract import Perturbed


def make_example(*, item: Item, perturbed: Perturbed) -> Example:
    """The example that an accepted edit makes. It keeps every operation since the source table."""
    parent = item.example
    label = item.batch.variant or item.batch.task_type
    number = parent.derived.filter(perturbation=label).count() + 1
    edited = perturbed.example
    plain = edited.to_dict()
    return Example.objects.create(
        source_id=parent.source_id,
        external_id=f"{parent.external_id}~{label}-{number}",
        position=parent.position,
        question=edited.question,
        answers=list(edited.answers),
        stored_table_id=parent.stored_table_id,
        operations=[*parent.operations, *(operation.to_dict() for operation in perturbed.operations)],
        table_digest=edited.table.digest(),
        more={
            key: value for key, value in plain.items() if key not in ("id", "question", "answers", "table")
        },
        parent=parent,
        perturbation=label,
    )


def follow_up(decision: Decision) -> int:
    """New items in every batch that this decision feeds. Returns how many."""
    return sum(
        _feed(batch, decision)
        for batch in decision.item.batch.feeds.filter(closed_at__isnull=True).order_by("pk")
    )


def catch_up(batch: Batch) -> int:
    """Items of a batch planned after decisions that feed it were made. Returns how many."""
    accepted = Decision.objects.filter(item__batch=batch.feeds_from, kind=Decision.Kind.ACCEPTED)
    decisions = accepted.select_related("item__example", "item__batch").order_by("item__position")
    return sum(_feed(batch, decision) for decision in list(decisions))


def _feed(batch: Batch, decision: Decision) -> int:
    item, made = decision.item, 0
    for outcome in decision.outcomes.select_related("example").order_by("number"):
        inputs = {**item.inputs, "base": item.example.public_id, "outcome": outcome.public_id}
        made += make_items(batch=batch, examples=[outcome.example or item.example], inputs=inputs)
    return made


def make_items(*, batch: Batch, examples: Sequence[Example], inputs: dict[str, str] | None = None) -> int:
    """Items for these examples at the end of the batch, in their order; ones it has already are left out.

    Everyone who made an example, or one it is derived from, is excluded from its item from the start.
    """
    # Two decisions that feed one batch take turns: positions are given one after the other.
    Batch.objects.select_for_update().filter(pk=batch.pk).values_list("pk").first()
    here = set(Item.objects.filter(batch=batch, example__in=examples).values_list("example_id", flat=True))
    new = [example for example in examples if example.pk not in here]
    last = Item.objects.filter(batch=batch).aggregate(last=Max("position"))["last"] or 0
    items = [
        Item(batch=batch, example=example, position=last + offset, inputs=inputs or {})
        for offset, example in enumerate(new, start=1)
    ]
    exclusions = [Exclusion(item=item, person_id=maker) for item in items for maker in makers(item.example)]
    queue.add_items(batch, items, exclusions=exclusions)
    return len(items)


def makers(example: Example) -> set[int]:
    """The people (ids) whose annotations made this example or any example it comes from."""
    found: set[int] = set()
    current: Example | None = example
    while current is not None and current.parent_id is not None:
        outcome = Outcome.objects.filter(example=current).select_related("decision").first()
        if outcome is not None:
            found.update(outcome.annotations.values_list("assignment__person_id", flat=True))
            if outcome.decision.made_by_id is not None:
                found.add(outcome.decision.made_by_id)
        current = current.parent
    return found
