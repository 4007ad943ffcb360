"""Gold: items whose right response is known, mixed into a batch unrecognisably, and how people answer them.

A gold item of a work batch (`Item.is_gold`) has no places of its own: the queue makes one, for one person, when it is
their turn. It is never decided, released, or in agreement. In a qualification batch every item has gold, and in a
calibration batch an item may have it; these are items like any others.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from annotation.access import audit_log
from annotation.assistance import impressions
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Example,
    Exclusion,
    Gold,
    Item,
    Outcome,
    Person,
    PinnedExample,
    Qualification,
    Slot,
)
from annotation.platform.bulk_rows import among
from annotation.platform.refusals import refuse, require_storable
from annotation.quality.compared_responses import current_data, restore_response
from annotation.queue import draws, lineage, reservations
from tableqa.core.foreign_values import normal
from tableqa.statistics.proportions import Proportion, proportion
from tasks.contract import InvalidResponse
from tasks.contract import Item as PlainItem

LONGEST_WHY = 2000
MOST_ROWS = 1_000
"""Rows of a file of gold."""


def require_open(batch: Batch) -> None:
    """Raise ActionRefused (batch_closed) where the batch is closed."""
    if batch.closed_at is not None:
        refuse("batch_closed", "{name} is closed, so gold items cannot be added.", name=batch.name)


# -- marking ----------------------------------------------------------------------------------------


def set_gold(
    *,
    batch: Batch,
    example: Example,
    data: object,
    by: Person | None,
    now: datetime,
    why: str = "",
    inputs: Mapping[str, Any] | None = None,
    barred: Iterable[int] = (),
) -> Gold:
    """This example of the batch has this right response (`data`, as the kind parses it).

    An example that the batch does not have yet becomes an item of it; one that it has becomes gold unless a person has
    had it. `inputs` are what is frozen beside the example, in place of what the kind would prepare; `barred` are
    people (ids) who never get the item. Marking again changes the response.
    Raises `tasks.contract.InvalidResponse`; ActionRefused: batch_closed, invalid_request, still_involved.
    """
    require_storable(why)
    if len(why) > LONGEST_WHY:
        refuse(
            "invalid_request", "Enter a reason of at most {longest_why} characters.", longest_why=LONGEST_WHY
        )
    require_open(batch)
    pinned = PinnedExample.objects.filter(item__example=example, item__batch__project=batch.project_id)
    if pinned.filter(item__batch__task_type=batch.task_type).exists():
        refuse(
            "invalid_request",
            "Annotators see {example} as a guideline example. Remove it from the guideline examples first.",
            example=example.external_id,
        )
    with transaction.atomic():
        item = _item(batch, example, inputs)
        task, plain = batch.task(), item.plain()
        try:
            response = task.parse(data, plain)
        except InvalidResponse:  # an option may spell an accent in another way
            response = task.parse(normal(data), plain)
        expected = task.envelope(response, plain)
        gold = Gold(item=item, expected=expected, why=why.strip(), made_by=by, made_at=now)
        Exclusion.objects.bulk_create(
            [Exclusion(item=item, person_id=person) for person in sorted(set(barred))], ignore_conflicts=True
        )
        _write(batch, [gold])
    return gold


def mark_all(*, batch: Batch, golds: Sequence[Gold]) -> None:
    """Mark many at once; `golds` are what `set_gold` made in transactions that were undone. Raises ActionRefused as it
    does."""
    examples = [gold.item.example for gold in golds]
    with transaction.atomic():
        batch.refresh_from_db(fields=["opened_at", "closed_at"])
        require_open(batch)
        make_items(batch, examples)
        here = Item.objects.filter(among("example", [example.pk for example in examples]), batch=batch)
        keys = dict(here.select_for_update(no_key=True).order_by("pk").values_list("example", "pk"))
        _require_untouched(batch, here)
        if batch.purpose == Batch.Purpose.WORK:
            _delete_planned_slots(batch, here.filter(is_gold=False))
        for gold, example in zip(golds, examples, strict=True):
            gold.pk = None
            gold.item_id = keys[example.pk] if example.pk in keys else _item(batch, example, None).pk
        _write(batch, golds)


def make_items(batch: Batch, examples: Iterable[Example]) -> None:
    """Make the items of examples that the batch does not have yet, all at once, for marking many of them."""
    here = Item.objects.filter(batch=batch)
    last = here.aggregate(last=Max("position"))["last"] or 0
    lineage.make_items(batch=batch, examples=[example.pk for example in examples])
    if batch.purpose == Batch.Purpose.WORK:
        _delete_planned_slots(batch, here.filter(position__gt=last))


def preview(*, batch: Batch, example: Example) -> PlainItem:
    """The item that the example is, or would be, in the batch: for the author of its gold answer. Nothing stays.

    Raises ActionRefused where it could be no gold.
    """
    with transaction.atomic():
        plain = _item(batch, example, None).plain()
        transaction.set_rollback(True)
    return plain


def remove_gold(*, gold: Gold, by: Person | None, now: datetime) -> None:
    """The item is no gold any more: in a work batch it goes, elsewhere it stays as an item without a known response.

    Raises ActionRefused(still_involved) where a person has had it: what they were measured by stays. So does the gold of an
    open qualification.
    """
    item = gold.item
    if item.batch.purpose == Batch.Purpose.QUALIFICATION and item.batch.opened_at is not None:
        refuse(
            "still_involved",
            "Each item of an open qualification needs a gold answer. Change the answer instead of "
            "removing it.",
        )
    with transaction.atomic():
        reservations.lock_item(item.pk)
        if Assignment.objects.filter(item=item).exists():
            refuse(
                "still_involved",
                "An annotator has already had this item. The item and its gold answer cannot be changed.",
            )
        audit_log.log(gold, "gold", "removed", by=by, now=now, project=item.batch.project_id)
        gold.delete()
        if item.is_gold:
            item.delete()
            Batch.objects.filter(pk=item.batch_id).update(items_count=F("items_count") - 1)


def from_decisions(
    *, batch: Batch, other: Batch, size: int, by: Person | None, now: datetime, seed: int = 0
) -> tuple[int, int]:
    """Gold from what was decided elsewhere: a seeded sample of the items of `other` with one accepted response.

    People who annotated or decided one of these items never get it here. Gives how many were marked, and how many of
    the sample were left out because their response does not hold under this batch's settings.
    Raises ActionRefused: invalid_request, batch_closed.
    """
    if (other.task_type, other.variant) != (batch.task_type, batch.variant) or other.pk == batch.pk:
        refuse("invalid_request", "Choose another batch with the same task type and variant.")
    if size < 1:
        refuse("invalid_request", "Choose at least one item.")
    ids = list(gold_candidates(batch, other).values_list("pk", flat=True))
    chosen = draws.generator(batch, "gold items", seed).sample(ids, min(size, len(ids)))
    if not chosen:
        refuse(
            "invalid_request",
            "{name} has no further item with exactly one accepted response.",
            name=other.name,
        )
    marked = left_out = 0
    with transaction.atomic():
        outcomes = Outcome.objects.filter(decision__item__in=chosen).select_related(
            "decision__item__example__stored_table"
        )
        for outcome in outcomes.order_by("decision__item__position", "pk"):
            decision = outcome.decision
            seen = Assignment.objects.filter(item=decision.item).values_list("person_id", flat=True)
            task = batch.task()
            try:
                with transaction.atomic():
                    set_gold(
                        batch=batch,
                        example=decision.item.example,
                        data=current_data(task, outcome.response),
                        why=(decision.note or decision.listed_reason or "")[:LONGEST_WHY],
                        inputs=decision.item.inputs,
                        barred={*seen, *filter(None, [decision.made_by_id])},
                        by=by,
                        now=now,
                    )
            except InvalidResponse:
                left_out += 1
            else:
                marked += 1
    return marked, left_out


def gold_candidates(batch: Batch, other: Batch) -> QuerySet[Item]:
    """The items of `other` that could be gold here: one accepted response, and an example that may be an item here."""
    accepted_items = Item.objects.filter(batch=other, decision__kind=Decision.Kind.ACCEPTED).annotate(
        accepted=Count("decision__outcomes")
    )
    here = Exists(Item.objects.filter(batch=batch, example=OuterRef("example")))
    elsewhere = Exists(lineage.items_elsewhere(batch).filter(example=OuterRef("example")))
    return accepted_items.filter(~here, ~elsewhere, accepted=1).order_by("position")


# -- judging ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """One person's response to one item with gold, and how that compares (right None: unknown)."""

    gold: Gold
    person: int
    response: Any
    expected: Any
    right: bool | None
    words: tuple[str, ...]
    made_at: datetime


def answers(
    batch: Batch, person: Person | None = None, items: Collection[int] | None = None
) -> Iterator[Answer]:
    """Every submitted response to an item with gold, item by item, judged by `TaskType.feedback`; in two queries.

    `items`: to these items (keys) alone.

    With feedback (`Batch.gold_feedback`) their first submission counts, else the latest: people do not fix
    an answer after having read what was expected.
    """
    task = batch.task()
    golds = Gold.objects.filter(item__batch=batch).select_related("item__example__stored_table")
    if person is not None:
        golds = golds.filter(item__assignments__person=person)
    if items is not None:
        golds = golds.filter(item__in=items)
    by_item = {gold.item_id: gold for gold in golds}
    annotations = Annotation.objects.filter(assignment__item__in=list(by_item))
    if batch.gold_feedback:
        annotations = annotations.filter(revision=1)
    else:
        annotations = annotations.filter(
            assignment__state=Assignment.State.SUBMITTED, pk=F("assignment__annotation_id")
        )
    if person is not None:
        annotations = annotations.filter(assignment__person=person)
    rows = annotations.order_by("assignment__item__position", "pk").values_list(
        "assignment__item_id", "assignment__person_id", "response", "made_at"
    )
    for item_id, person_id, response, made_at in rows:
        gold = by_item[item_id]
        gold.item.batch = batch
        expected = restore_response(task, gold.expected)
        parsed = restore_response(task, response or {})
        right, lines = task.feedback(gold.item.plain(), parsed, expected)
        yield Answer(gold, person_id, parsed, expected, right, tuple(lines), made_at)


def gold_scores(batch: Batch, person: Person | None = None) -> dict[int, tuple[int, int]]:
    """By person (id), how many items with gold they got right, and how many were judged; in three queries.

    Each item counts once, for any history of its assignment. In a qualification batch an item that was skipped is judged
    and not right, unless feedback was given on an answer to it before: then that answer counts.
    """
    of_person = Q() if person is None else Q(person=person)
    verdicts: dict[tuple[int, int], bool] = {}
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        skips = Assignment.objects.filter(of_person, batch=batch, state=Assignment.State.SKIPPED)
        verdicts = dict.fromkeys(skips.values_list("person_id", "item_id"), False)
    for answer in answers(batch, person):
        if answer.right is not None:
            verdicts[answer.person, answer.gold.item_id] = answer.right
    totals: dict[int, tuple[int, int]] = {}
    for (key, _), is_right in verdicts.items():
        right, judged = totals.get(key, (0, 0))
        totals[key] = (right + is_right, judged + 1)
    return totals


def accuracy(batch: Batch, person: Person | None = None) -> dict[int, Proportion]:
    """By person (id), `gold_scores` as shares with Wilson's interval; the result of a qualification, once there is one."""
    counts = gold_scores(batch, person)
    results = Qualification.objects.filter(Q() if person is None else Q(person=person), batch=batch)
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        counts |= {
            key: (right, judged) for key, right, judged in results.values_list("person_id", "right", "judged")
        }
    return {key: proportion(right, judged) for key, (right, judged) in counts.items()}


def feedback_for(batch: Batch, person: Person) -> list[Answer]:
    """Feedback on the person's answers to gold, newest first; empty where the batch gives none."""
    if not batch.gold_feedback:
        return []
    return sorted(answers(batch, person), key=lambda answer: answer.made_at, reverse=True)


def count_missing_gold(batch: Batch) -> int:
    """How many items of a qualification batch have no known response yet: it cannot be opened before all have."""
    if batch.purpose != Batch.Purpose.QUALIFICATION:
        return 0
    return Item.objects.filter(batch=batch, gold__isnull=True).count()


# -- underneath -------------------------------------------------------------------------------------


def _item(batch: Batch, example: Example, inputs: Mapping[str, Any] | None) -> Item:
    """The item of the example, locked, or made where it is not there; gold where the batch is work."""
    mine = Item.objects.filter(batch=batch)
    item = mine.filter(example=example).first()
    if item is None:
        if not lineage.make_items(batch=batch, examples=[example.pk]):
            refuse(
                "invalid_request",
                "{external_id} cannot become an item here. {value}",
                external_id=example.external_id,
                value=_why_no_item(batch, example),
            )
        item = mine.order_by("-position")[:1].get()
        if inputs is not None:
            Item.objects.filter(pk=item.pk).update(inputs=dict(inputs))
    else:
        reservations.lock_item(item.pk)
        if not item.is_gold:
            _require_untouched(batch, mine.filter(pk=item.pk))
    if batch.purpose == Batch.Purpose.WORK and not item.is_gold:
        _delete_planned_slots(batch, mine.filter(pk=item.pk))
    return Item.objects.select_related("batch", "example__stored_table").get(pk=item.pk)


def _require_untouched(batch: Batch, items: QuerySet[Item]) -> None:
    """Refuse items that are no gold yet where a person has had one, or may get it at any moment."""
    others = items.filter(is_gold=False).select_related("example").order_by("pk")
    if batch.purpose == Batch.Purpose.WORK and batch.opened_at is not None and (item := others.first()):
        refuse(
            "still_involved",
            "{external_id} is a normal item of this open batch. Choose another example.",
            external_id=item.example.external_id,
        )
    if item := others.filter(Exists(Assignment.objects.filter(item=OuterRef("pk")))).first():
        refuse(
            "still_involved",
            "An annotator has already had {external_id} in this batch. Choose another example.",
            external_id=item.example.external_id,
        )


def _write(batch: Batch, golds: Sequence[Gold]) -> None:
    """Write gold answers of items that are locked, new ones and changed ones, in the caller's transaction."""
    existing_ids = set(
        Gold.objects.filter(item__in=[gold.item_id for gold in golds]).values_list("item", flat=True)
    )
    changes = ["expected", "why", "made_by", "made_at"]
    Gold.objects.bulk_create(golds, update_conflicts=True, unique_fields=["item"], update_fields=changes)
    for gold in golds:
        before = "gold" if gold.item_id in existing_ids else ""
        audit_log.log(gold, before, "gold", by=gold.made_by, now=gold.made_at, project=batch.project_id)
    if batch.opened_at is not None:
        # Where proposals are beside the others they are beside this one, too.
        impressions.start_proposing(batch, by=golds[0].made_by, now=golds[0].made_at)


def _why_no_item(batch: Batch, example: Example) -> str:
    elsewhere = lineage.items_elsewhere(batch).filter(example=example).select_related("batch").first()
    if elsewhere is not None and batch.requires is not None:
        return gettext("It is an item of the qualification {name}, which annotators have seen.").format(
            name=elsewhere.batch.name
        )
    if elsewhere is not None:
        return gettext(
            "It is an item of {name}, which requires this qualification. Choose another example."
        ).format(name=elsewhere.batch.name)
    return gettext(batch.task().without or gettext_noop("The batch already contains it."))


def _delete_planned_slots(batch: Batch, items: QuerySet[Item]) -> None:
    """Gold items have no planned places, and no decision waits for them."""
    gone, _ = Slot.objects.filter(item__in=items).delete()
    items.update(is_gold=True, slots_count=0, due_at=None)
    Batch.objects.filter(pk=batch.pk).update(slots_count=F("slots_count") - gone)
