"""Why an item is or is not served to a person, by the predicates and draws of the queue."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.access.authorization import BEING_RESTORED, Actor, projects_with_permission
from annotation.access.roles import Permission
from annotation.access.visibility import Fact, Visibility, why_no_counts, why_no_names
from annotation.models import Assignment, Batch, Exclusion, Item, Person, PersonBatchCounts, Slot
from annotation.platform.display_text import grouped
from annotation.platform.refusals import refuse
from annotation.queue import availability, draws, entry_requirements
from annotation.queue.person_counts import turn_count
from annotation.queue.reservations import BY_A_MANAGER, MOST_HELD, NOT_OPEN, WINDOW

State = Assignment.State

MOST_AHEAD = 1_000
"""Items up to which those ahead are counted."""
MOST_SLOTS = 5_000
"""Free slots that are read for it."""

REASONS: Final = {
    "no_account": gettext_noop("The account of this person is not active."),
    "being_restored": BEING_RESTORED,
    "no_annotator": gettext_noop("This person is not an annotator. Add the role on the page People."),
    "no_task_type": gettext_noop("The task type of the batch is not installed. Install it on the server."),
    "batch_not_open": gettext_noop("The batch is not open. Open the batch."),
    "batch_closed": gettext_noop("The batch is closed."),
    "batch_paused": gettext_noop("The batch is paused. Resume the batch."),
    "already_submitted": gettext_noop("The annotator has already submitted a response to this item."),
    "already_skipped": gettext_noop("The annotator has skipped this item."),
    "taken_back": gettext_noop("A manager took this item back from the annotator."),
    "already_returned": gettext_noop(
        "The annotator returned this item, or the reservation ended. While a slot is free, it can be opened "
        "again under My work."
    ),
    "helped_to_make": gettext_noop("The annotator helped to create what this item shows."),
    "has_read_responses": gettext_noop("The annotator has read the responses of others to this item."),
    "no_gold_share": gettext_noop("Gold items have a share of 0 %. Change it in the settings of the batch."),
    "decided": gettext_noop("The item is decided. Undo the decision if more responses are needed."),
    "reserved": gettext_noop("All free slots are reserved for others. Move them on the page Annotators."),
    "slots_taken": gettext_noop("All slots are taken. Increase the overlap, or wait for a free slot."),
    "no_gold_turn": gettext_noop("No gold turn of the annotator is left. Increase the share of gold items."),
    # When it is served.
    "in_progress": gettext_noop("The annotator has this item in progress."),
    "most_held": gettext_noop("The annotator has two items in progress. They come first."),
    "gold_turn": gettext_noop("This is a gold item. Gold items come at random turns."),
    "comes_again": gettext_noop("The annotator had this item before. It comes again after all others."),
    "own_order": gettext_noop("Each annotator gets the items in a random order."),
    "expired": gettext_noop("A reservation has expired. Its slot is freed after all other items."),
    "served_next": gettext_noop("The annotator gets this item next."),
}
"""Sentences by code, in the order in which the reasons apply; `entry_requirements` has those of requirements and limits."""


@dataclass(frozen=True)
class Reason:
    """Why an item is or is not served: a code and a sentence, with the remedy where there is one."""

    code: str
    message: str


@dataclass(frozen=True)
class Explanation:
    """Whether the queue serves an item to a person if no other person takes its slot first, and why.

    `ahead` is how many other items come first: None where it is not served, or after more than `MOST_AHEAD`.
    """

    is_served: bool
    reasons: list[Reason]
    ahead: int | None = None


def require_visible(sight: Visibility, item: Item) -> None:
    """Raise ActionRefused (still_involved) for managers who may not see how far the item is, or who did what with it."""
    if not (sight.shows(Fact.STATE, item) and sight.shows(Fact.GOLD, item)):
        refuse("still_involved", why_no_counts())
    if not sight.shows(Fact.NAMES, item):
        refuse("still_involved", why_no_names())


def explain(item: Item, person: Person, *, now: datetime) -> Explanation:
    """Why the item is or is not served to the person, as the queue is now. Wants `item.batch.project`."""
    batch = item.batch
    in_progress = Assignment.objects.filter(batch=batch, person=person, state=State.LEASED).order_by("pk")
    held_ids = list(in_progress.values_list("item_id", flat=True))
    facts = (
        entry_requirements.facts(batch=batch, person=person, now=now)
        if entry_requirements.has_requirements(batch)
        else entry_requirements.AnnotatorState()
    )
    reasons = list(_of_batch(batch, person, facts, is_held=item.pk in held_ids))
    if item.pk in held_ids:
        return (
            Explanation(False, reasons) if reasons else _served("in_progress", ahead=held_ids.index(item.pk))
        )
    if reasons := reasons + [_reason(code) for code in _of_item(item, person)]:
        return Explanation(False, reasons)
    walk, is_whole = upcoming(batch, person)
    if item.pk not in walk and is_whole:
        return Explanation(False, [_reason("no_gold_turn")])
    ahead = walk.index(item.pk) if item.pk in walk else len(walk)
    names = ("items", "items_today", "project_items_today")
    later = replace(facts, **{name: getattr(facts, name) + ahead for name in names})
    for requirement in entry_requirements.all_unmet(batch, later, holding=None):
        after = ngettext(
            "After {number} more item: “{message}”", "After {number} more items: “{message}”", ahead
        ).format(number=ahead, message=requirement.message)
        return Explanation(False, [Reason("limit_ahead", after)])
    return _served(*_when(item, person, held_ids), ahead=len(held_ids) + ahead, is_exact=item.pk in walk)


def upcoming(batch: Batch, person: Person) -> tuple[list[int], bool]:
    """The items (keys) that the person gets one after the other if no other person takes a slot, and whether these are all.

    It is `reservations.take_next` turn by turn, in memory, without limits.
    """
    counts = PersonBatchCounts.objects.filter(batch=batch, person=person).first() or PersonBatchCounts(
        batch=batch, person=person
    )
    turn, turns = turn_count(counts), draws.GoldTurns(batch, person.pk)
    is_shuffled = batch.task().order == "shuffled"
    begin = draws.start_of(batch, person.pk) if is_shuffled else counts.cursor
    slots = _free(person, Slot.objects.filter(batch=batch, is_taken=False), begin)
    is_cut, expired = len(slots) == MOST_SLOTS, availability.expired_leases([batch.pk])
    remaining, again = dict[int, None](), list[int]()
    if everybodys := availability.is_for_everybody(batch):
        remaining = dict.fromkeys(_keys(availability.items_left(batch, person)))
        returned = availability.returned_by(person).filter(batch=batch).order_by("ended_at", "pk")
        again = list(returned.values_list("item_id", flat=True))
    golds = _keys(availability.never_assigned(Item.objects.filter(batch=batch, is_gold=True), person.pk))
    walk: list[int] = []
    while len(walk) < MOST_AHEAD and (not is_cut or len(slots) >= WINDOW):
        has_ordinary = bool(remaining if everybodys else slots)
        if batch.gold_percent and golds and turn in turns and (has_ordinary or not turns.are_independent):
            item = draws.order_of_gold(batch, person.pk, turn, golds)[0]
            golds.remove(item)
        elif slots:
            window = [slot for slot in slots[:WINDOW] if slot[0] == slots[0][0]]
            orders = draws.order_of_slots(batch, person.pk, turn, lambda position: window)  # noqa: B023
            _, position, item = next(orders) if is_shuffled else slots[0]
            begin = begin if is_shuffled else position
        elif remaining:
            item = next(iter(remaining))
        elif again:
            walk.append(again.pop(0))  # a turn already
            continue
        elif slots := _free(person, Slot.objects.filter(batch=batch, assignments__in=expired), begin):
            expired = expired.none()
            continue
        else:
            return walk, True
        slots = [slot for slot in slots if slot[2] != item]
        remaining.pop(item, None)
        walk.append(item)
        turn += 1
    return walk, False


def _free(person: Person, slots: QuerySet[Slot], begin: int) -> list[tuple[bool, int, int]]:
    """Those of the slots that the person may have, from a position on, then those before it: (is before, position, item)."""
    mine = (
        availability.open_to(person.pk, slots)
        .order_by("position", "number")
        .values_list("position", "item_id")
    )
    later = [(False, *slot) for slot in mine.filter(position__gte=begin)[:MOST_SLOTS]]
    return later + [(True, *slot) for slot in mine.filter(position__lt=begin)[: MOST_SLOTS - len(later)]]


def _keys(items: QuerySet[Item]) -> list[int]:
    return list(items.order_by("position").values_list("pk", flat=True))


def _of_batch(
    batch: Batch, person: Person, facts: entry_requirements.AnnotatorState, *, is_held: bool
) -> Iterator[Reason]:
    """Why the person gets no item of the batch: no new one, or, with `is_held`, none that is in progress."""
    if not person.is_active:
        yield _reason("no_account")
    if batch.project.restoring_at is not None:
        yield _reason("being_restored")
    elif batch.project_id not in projects_with_permission(Actor(person), Permission.ANNOTATE):
        yield _reason("no_annotator")
    if batch.installed_task() is None:
        yield _reason("no_task_type")
    begun = is_held and batch.state == "paused"
    if batch.state in NOT_OPEN and not begun:
        yield _reason(NOT_OPEN[batch.state])
    holding = 0 if is_held else None
    for requirement in entry_requirements.all_unmet(batch, facts, holding=holding, begun=begun):
        if requirement.code != NOT_OPEN["paused"]:
            text = gettext("The annotator reads: “{message}”").format(message=requirement.message)
            yield Reason(requirement.code, text)


def _of_item(item: Item, person: Person) -> Iterator[str]:
    """Codes of why the person gets no slot of the item."""
    everybodys = availability.is_for_everybody(item.batch)
    if everybodys and availability.returned_by(person).filter(item=item).exists():
        return
    has_had, is_excluded, is_decided = (
        Item.objects.filter(pk=item.pk)
        .values_list(
            availability.was_assigned(person.pk),
            availability.is_excluded(person.pk),
            availability.is_decided(),
        )
        .get()
    )
    if has_had:
        mine = Assignment.objects.get(item=item, person=person)
        yield "taken_back" if mine.reason in BY_A_MANAGER else f"already_{mine.state}"
    if is_excluded:
        read = Exclusion.objects.filter(item=item, person=person, read_at__isnull=False)
        yield "has_read_responses" if read.exists() else "helped_to_make"
    free = Slot.objects.filter(item=item, is_taken=False)
    if item.is_gold:
        if not item.batch.gold_percent:
            yield "no_gold_share"
    elif free.filter(availability.is_open_to(person.pk)).exists():
        return
    elif everybodys:
        if is_decided:
            yield "decided"
    elif not availability.expired_leases([item.batch_id]).filter(item=item).exists():
        yield "reserved" if free.exists() else "decided" if is_decided else "slots_taken"


def _when(item: Item, person: Person, held_ids: list[int]) -> Iterator[str]:
    """Codes of the reasons that tell when the person gets the item."""
    if len(held_ids) >= MOST_HELD:
        yield "most_held"
    if item.is_gold:
        yield "gold_turn"
    elif Assignment.objects.filter(item=item, person=person).exists():
        yield "comes_again"
    elif Slot.objects.filter(availability.is_open_to(person.pk), item=item, is_taken=False).exists():
        if item.batch.task().order == "shuffled":
            yield "own_order"
    elif not availability.is_for_everybody(item.batch):
        yield "expired"


def _reason(code: str) -> Reason:
    return Reason(code, gettext(REASONS[code]))


def _served(*codes: str, ahead: int, is_exact: bool = True) -> Explanation:
    message = ngettext(
        "The annotator gets this item after {number} other item, if its slot stays free.",
        "The annotator gets this item after {number} other items, if its slot stays free.",
        ahead,
    ).format(number=grouped(ahead) + ("" if is_exact else "+"))
    last = Reason("served_after", message) if ahead or not is_exact else _reason("served_next")
    return Explanation(True, [*map(_reason, codes), last], ahead if is_exact else None)
