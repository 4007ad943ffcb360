"""Decisions of items as they are written, and what they rest on. The caller holds the lock of the item, in a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from annotation.access import audit_log
from annotation.models import Adjudication, Annotation, Batch, Decision, Item, Outcome, Person
from annotation.queue import candidates, lineage, reservations, resolutions
from tasks.contract import Acceptance, Resolution, TaskType, decision_rules
from tasks.contract import Item as PlainItem

DECIDABLE = Q(is_gold=False, batch__purpose=Batch.Purpose.WORK, batch__set_aside_at__isnull=True)
"""The items that are ever decided."""


def is_decidable(item: Item) -> bool:
    """Whether an item is ever decided: `DECIDABLE` for one."""
    return item.batch.decides and not item.is_gold and item.batch.set_aside_at is None


def lock(item_id: int) -> Item:
    """The item, locked until the transaction ends, with what its task type reads."""
    reservations.lock_item(item_id)
    return Item.objects.select_related("batch__project", "example__stored_table", "example__source").get(
        pk=item_id
    )


@dataclass(frozen=True)
class ItemResponses:
    """The newest responses to an item, in the order of their slots, as its task type reads them."""

    item: Item
    annotations: list[Annotation]
    task: TaskType
    plain: PlainItem
    responses: list[Any]

    @classmethod
    def of(cls, item: Item) -> "ItemResponses":
        """The responses to an item."""
        annotations = candidates.annotations(item)
        task, plain = item.batch.task(), item.plain()
        responses = [task.read(annotation.response or {}, plain) for annotation in annotations]
        return cls(item, annotations, task, plain, responses)

    def resolve(self, rule: Mapping[str, Any]) -> Resolution:
        """What a decision rule makes of the responses."""
        return decision_rules.resolve(self.task, rule, self.responses, self.plain)

    def weight(self) -> float:
        """How much adjudication of the item matters: how far the responses are apart, times what depends on the item.

        These are all open batches that take accepted items from it, directly or through another, and the release once
        the batch of the item is closed.
        """
        followers, batches = 0, [self.item.batch_id]
        while batches:
            open_batches = Batch.objects.filter(feeds_from__in=batches, closed_at__isnull=True)
            batches = list(open_batches.values_list("pk", flat=True))
            followers += len(batches)
        hangs = followers + (self.item.batch.closed_at is not None)
        distance = decision_rules.mean_distance(self.task, self.responses, self.plain)
        return round((0.5 + distance) * (1 + hangs), 4)


def write(
    item: Item,
    resolution: Acceptance,
    annotations: Sequence[Annotation],
    *,
    by: Person | None,
    note: str = "",
    listed_reason: str = "",
    rule: Mapping[str, Any] | None = None,
    based_on: Sequence[str] = (),
    before: str = "",
    actor: Person | None = None,
    made_at: datetime | None = None,
    now: datetime,
) -> Decision:
    """The decision with its outcomes, the examples they make, and the items they feed.

    before  the state of the item; by default complete where a rule decides, else waiting for an adjudicator
    based_on  the responses (ids) that an adjudicator's own one rests on
    actor   who restores a decision that another person, or a rule, had made
    made_at when it was made, of a decision that is restored
    """
    kind = Decision.Kind.ACCEPTED if resolution.outcomes else Decision.Kind.EXCLUDED
    before = before or ("complete" if by is None else "adjudication")
    detail = {"based_on": list(based_on)} if based_on else None
    event = audit_log.log(item, before, kind.value, by=actor or by, now=now, detail=detail)
    decision = Decision.objects.create(
        item=item,
        kind=kind,
        reason=resolution.reason,
        listed_reason=listed_reason or None,
        note=note,
        rule=rule,
        made_by=by,
        made_at=made_at or now,
        event_id=event,
    )
    task, plain = item.batch.task(), item.plain()
    for ordinal, resolved in enumerate(resolution.outcomes, start=1):
        outcome = Outcome(decision=decision, number=ordinal, response=task.envelope(resolved.response, plain))
        perturbed = task.perturb(plain, resolved.response)
        if perturbed is not None:
            outcome.example = lineage.make_example(item=item, perturbed=perturbed)
        outcome.save(force_insert=True)
        if annotations:
            outcome.annotations.set([annotations[index] for index in resolved.by])
    Adjudication.objects.filter(item=item).delete()
    resolutions.mark([item.pk], kind)
    if kind == Decision.Kind.ACCEPTED:
        lineage.follow_up(decision)
    counted = "accepted_count" if kind == Decision.Kind.ACCEPTED else "excluded_count"
    Batch.objects.filter(pk=item.batch_id).update(**{counted: F(counted) + 1})
    return decision
