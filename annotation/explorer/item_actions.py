"""An action on several items: which of them it would change, doing it, and undoing it.

    preview(who, "exclude", keys)                                     nothing is written
    done = apply_action(who, "exclude", keys, note="Torn table", now=now)      one transaction, one entry in the log
    undo(who, done.action, now=now)
    job = start(who, "exclude", keys, note="Torn table", now=now)     many items: a job, `AT_ONCE` in each transaction

Rows are locked in the order of `annotation.queue.reservations`: all items, what follows from them, counts of people, then
each item in turn. What changed since the preview is found out under these locks, and left as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.access import audit_log, visibility
from annotation.access.authorization import Actor, acts_on_items, projects_with_permission
from annotation.access.roles import Permission
from annotation.background import jobs
from annotation.explorer import item_access, querysets, result_pages
from annotation.explorer.action_rules import (
    ACTIONS,
    CORRECTING,
    LONGEST_NOTE,
    MOST_ITEMS,
    Facts,
    Refusal,
    refusal,
)
from annotation.explorer.item_access import Reader
from annotation.explorer.selection import Selection
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    Event,
    Example,
    Flag,
    Item,
    ItemAction,
    ItemChange,
    Job,
    Outcome,
    Person,
    PersonBatchCounts,
    Project,
    Release,
    Slot,
)
from annotation.platform.refusals import ActionRefused, refuse, refuse_as, require_storable
from annotation.quality import guideline_examples
from annotation.queue import allocation, decision_undo, orphaned_slots, reservations, resolutions, slots
from annotation.workflow import adjudication
from tableqa.core.translation import grouped, phrase

UNDO_WITHIN: Final = timedelta(minutes=30)
CHANGED: Final = Refusal("changed")
AT_ONCE: Final = 20
"""Items that one request, and one transaction of a job, changes: their annotators cannot submit meanwhile."""
ACT: Final = "act_on_items"
UNDO: Final = "undo_on_items"
"""Kinds of jobs."""


@dataclass
class Preview:
    """Which items (keys) an action would change, and which it cannot, by reason."""

    changes: list[int] = field(default_factory=list)
    refused: dict[Refusal, list[int]] = field(default_factory=dict)
    corrected: dict[str, int] = field(default_factory=dict)
    """Number of the items whose decision a release contains, by its name."""


@dataclass
class ActionResult:
    """An action that was done, or undone: to how many items, and to which (keys) not, by reason."""

    action: ItemAction | None
    number: int
    refused: dict[Refusal, list[int]]


def chosen_keys(who: Reader, chosen: Selection) -> list[int]:
    """The items of a selection, in its order. Raises ActionRefused (invalid_request) where they are more than
    `MOST_ITEMS`."""
    items = result_pages.ordered(who, querysets.matching(who, chosen), chosen.sort)
    keys = list(items.values_list("pk", flat=True)[: MOST_ITEMS + 1])
    if len(keys) > MOST_ITEMS:
        too_many = phrase(
            "This selection has more than {most} items. Select at most {most}: filter further, for "
            "example by batch, state or date, and do it in parts.",
            most=grouped(MOST_ITEMS),
        )
        refuse_as("invalid_request", too_many)
    return keys


def preview(who: Reader, action: str, keys: Sequence[int]) -> Preview:
    """What an action would do to these items of the project."""
    result = Preview()
    facts_by_key = facts(who, keys)
    for key in keys:
        refused = refusal(action, facts_by_key[key], tells_gold=who.leads) if key in facts_by_key else CHANGED
        if refused is None:
            result.changes.append(key)
            if action in CORRECTING and (name := facts_by_key[key].release):
                result.corrected[name] = result.corrected.get(name, 0) + 1
        else:
            result.refused.setdefault(refused, []).append(key)
    return result


def apply_action(who: Reader, action: str, keys: Sequence[int], *, note: str, now: datetime) -> ActionResult:
    """Do it to those of the items that can be changed now. Raises ActionRefused (invalid_request) without a note."""
    note = _valid_note(action, keys, note)
    with transaction.atomic():
        row = _new(who, action, note, now)
        done = _change(who, row, keys, now)
        if not done.number:
            row.delete()
            return ActionResult(None, 0, done.refused)
        _log(row, done.number, now)
    return done


def start(who: Reader, action: str, keys: Sequence[int], *, note: str, now: datetime) -> Job:
    """`apply_action` in the background, for more than `AT_ONCE` items: part by part, each in one transaction."""
    note = _valid_note(action, keys, note)
    with transaction.atomic():
        row = _new(who, action, note, now)
        ids = {"action": row.pk, "items": list(keys)}
        return jobs.enqueue(project=who.project, kind=ACT, ids=ids, by=who.actor.person, now=now)


def is_large(action: ItemAction) -> bool:
    """Whether undoing takes a job."""
    return action.changes.filter(undone_at__isnull=True)[: AT_ONCE + 1].count() > AT_ONCE


def start_undo(who: Reader, action: ItemAction, *, now: datetime) -> Job:
    """`undo` in the background. Raises ActionRefused as it does."""
    _require_undoable(who, action, now)
    ids = {"action": action.pk}
    return jobs.enqueue(project=who.project, kind=UNDO, ids=ids, by=who.actor.person, now=now)


@jobs.kind(ACT)
def _run_act(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Safe to run twice: what was changed before a worker was lost is not changed again."""
    who, row = _reader(job), ItemAction.objects.get(pk=job.ids["action"])
    before = set(row.changes.values_list("item_id", flat=True))
    keys = [key for key in job.ids["items"] if key not in before]
    refused = _in_parts(
        keys, partial(_change, who, row), lambda done: progress(len(before) + done, len(job.ids["items"]))
    )
    count = row.changes.count()
    if count and not _is_logged(row, job, ACTIONS[row.kind].state):
        _log(row, count, timezone.now())
    return {**_result(row, count, refused), **({} if count else {"acted": ""})}


@jobs.afterwards(ACT)
def _delete_unused(job: Job) -> None:
    """Delete an action that changed nothing."""
    ItemAction.objects.filter(pk=job.ids["action"], changes__isnull=True).delete()


@jobs.kind(UNDO)
def _run_undo(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    who, row = _reader(job), ItemAction.objects.get(pk=job.ids["action"])
    keys = list(row.changes.filter(undone_at__isnull=True).order_by("item").values_list("item_id", flat=True))
    refused = _in_parts(keys, partial(_restore, who, row), lambda done: progress(done, len(keys)))
    count = row.changes.filter(undone_at__gte=job.made_at).count()
    if count and not _is_logged(row, job, "undone"):
        _log(row, count, timezone.now(), is_undone=True, by=who.actor.person)
    return _result(row, count, refused)


def _in_parts(
    keys: Sequence[int],
    change: Callable[[Sequence[int], datetime], ActionResult],
    progress: Callable[[int], None],
) -> dict[Refusal, list[int]]:
    """Change items, `AT_ONCE` in each transaction. Returns those that cannot be changed."""
    refused: dict[Refusal, list[int]] = {}
    for start in range(0, len(keys), AT_ONCE):
        with transaction.atomic():
            done = change(keys[start : start + AT_ONCE], timezone.now())
        for why, some in done.refused.items():
            refused.setdefault(why, []).extend(some)
        progress(min(start + AT_ONCE, len(keys)))
    return refused


def _is_logged(row: ItemAction, job: Job, after: str) -> bool:
    """Whether an earlier attempt at the job has logged it."""
    logged = Event.objects.filter(thing="itemaction", thing_id=row.pk, after=after, at__gte=job.made_at)
    return logged.exists()


def _reader(job: Job) -> Reader:
    """Who started the job, with what they may do now."""
    actor = None if job.made_by is None else Actor(job.made_by)
    if actor is None or not acts_on_items(actor, job.project):
        refuse("invalid_request", "You cannot change items of this project any more.")
    return item_access.reader(actor, job.project)


def _result(row: ItemAction, count: int, refused: Mapping[Refusal, Sequence[int]]) -> dict[str, Any]:
    """The result of a job: what was done (`acted`), to how many items, and to how many not, by reason."""
    refusals = [[why.code, why.name, len(keys)] for why, keys in sorted(refused.items())]
    return {"acted": row.public_id, "kind": row.kind, "number": count, "left": refusals}


def _valid_note(action: str, keys: Sequence[int], note: str) -> str:
    """The note without space around it. Raises ActionRefused (invalid_request) where it is missing or too long."""
    note = note.strip()
    require_storable(note)
    if not note and ACTIONS[action].note:
        refuse("invalid_request", "Write a reason or a note.")
    if len(note) > LONGEST_NOTE:
        refuse("invalid_request", "Use at most {most} characters.", most=LONGEST_NOTE)
    if len(keys) > MOST_ITEMS:
        refuse_as("invalid_request", phrase("Select at most {most} items.", most=grouped(MOST_ITEMS)))
    return note


def _new(who: Reader, action: str, note: str, now: datetime) -> ItemAction:
    return ItemAction.objects.create(
        project=who.project, kind=action, note=note, made_by=who.actor.person, made_at=now
    )


def _change(who: Reader, row: ItemAction, keys: Sequence[int], now: datetime) -> ActionResult:
    """Change those of the items that can be changed now, and keep what undo needs. In the caller's transaction."""
    _lock(keys)
    plan = preview(who, row.kind, keys)
    states: dict[int, dict[str, Any]] = {}
    for item in _load_items(plan.changes):
        if item.batch.feeds_from_id and not Item.objects.filter(pk=item.pk).exists():
            continue  # it went with the decision that made it
        try:
            with transaction.atomic():
                states[item.pk] = _DO[row.kind](item, who.actor.person, row.note, _state(item), now)
        except ActionRefused:  # only what the locks do not hold, such as a release that began this moment
            plan.refused.setdefault(CHANGED, []).append(item.pk)
    ItemChange.objects.bulk_create(
        ItemChange(action=row, item_id=key, before=before) for key, before in states.items()
    )
    return ActionResult(row, len(states), plan.refused)


def _log(
    row: ItemAction, count: int, now: datetime, *, is_undone: bool = False, by: Person | None = None
) -> None:
    state = ACTIONS[row.kind].state
    detail = {"items": count, **({"reason": row.note} if row.note and not is_undone else {})}
    before, after = (state, "undone") if is_undone else ("", state)
    audit_log.log(row, before, after, by=by or row.made_by, now=now, detail=detail)


def may_undo(actor: Actor, action: ItemAction, *, now: datetime) -> bool:
    """Whether a person may undo an action now: its person, or a manager, for 30 minutes."""
    is_theirs = action.made_by_id == actor.person.pk
    leads = is_theirs or action.project_id in projects_with_permission(actor, Permission.SET_UP)
    return leads and acts_on_items(actor, action.project) and now - action.made_at <= UNDO_WITHIN


def undoable(actor: Actor, project: Project, *, now: datetime) -> set[str]:
    """The ids of the project's actions that a person may undo now."""
    recent = ItemAction.objects.filter(project=project, made_at__gte=now - UNDO_WITHIN).select_related(
        "project"
    )
    open_ones = recent.filter(changes__undone_at__isnull=True, changes__isnull=False).distinct()
    return {action.public_id for action in open_ones if may_undo(actor, action, now=now)}


def undo(who: Reader, action: ItemAction, *, now: datetime) -> ActionResult:
    """Undo an action, item by item: what a person built on it meanwhile stays.

    Raises ActionRefused (invalid_request) where it is too late, or the action is another person's.
    """
    _require_undoable(who, action, now)
    with transaction.atomic():
        open_changes = ItemChange.objects.filter(action=action, undone_at__isnull=True)
        done = _restore(who, action, list(open_changes.values_list("item_id", flat=True)), now)
        if done.number:
            _log(action, done.number, now, is_undone=True, by=who.actor.person)
    return done


def _require_undoable(who: Reader, action: ItemAction, now: datetime) -> None:
    if now - action.made_at > UNDO_WITHIN:
        refuse("invalid_request", "An action can be undone for 30 minutes. This time is over.")
    if not may_undo(who.actor, action, now=now):
        refuse("invalid_request", "Only the person who did this, or a manager, can undo it.")


def _restore(who: Reader, action: ItemAction, keys: Sequence[int], now: datetime) -> ActionResult:
    """Restore those of the items that are as the action left them. In the caller's transaction.

    Who worked on an item undoes nothing that another person did to it.
    """
    refused: dict[Refusal, list[int]] = {}
    undone: list[int] = []
    _lock(keys)
    open_changes = ItemChange.objects.filter(action=action, item__in=keys, undone_at__isnull=True)
    changes = {change.item_id: change for change in open_changes}
    if action.made_by_id != who.actor.person.pk:
        items = Item.objects.filter(pk__in=changes, batch__in=who.listed)
        others = set(visibility.adjudicable(who.actor.person, items).values_list("pk", flat=True))
        if own := [key for key in changes if key not in others]:
            refused[Refusal("own")] = own
        changes = {key: change for key, change in changes.items() if key in others}
    for item in _load_items(list(changes)):
        change = changes[item.pk]
        try:
            with transaction.atomic():
                _UNDO[action.kind](item, action, change.before, who.actor.person, now)
        except ActionRefused:
            refused.setdefault(CHANGED, []).append(item.pk)
            continue
        undone.append(change.pk)
    ItemChange.objects.filter(pk__in=undone).update(undone_at=now)
    return ActionResult(action, len(undone), refused)


# -- facts ------------------------------------------------------------------------------------------


def facts(who: Reader, keys: Sequence[int]) -> dict[int, Facts]:
    """The facts of these items of the project, as far as they are listed for the person."""
    items = Item.objects.filter(pk__in=keys, batch__in=who.listed)
    adjudicable = set(visibility.adjudicable(who.actor.person, items).values_list("pk", flat=True))
    rows = list(items.select_related("decision__event", "adjudication", "pinned"))
    for item in rows:
        item.batch = who.batches[item.batch_id]
    responses: dict[int, list[tuple[int, int]]] = {}
    submissions = Assignment.objects.filter(item__in=keys).submitted()
    for key, person, event in submissions.values_list("item_id", "person_id", "annotation__event_id"):
        responses.setdefault(key, []).append((person, event))
    releases = list(Release.objects.kept().filter(project=who.project).order_by("watermark", "pk"))
    annotators = allocation.annotator_ids(who.project.pk)
    used = _users(rows)
    facts_by_key: dict[int, Facts] = {}
    for item in rows:
        decision = getattr(item, "decision", None)
        people = responses.get(item.pk, [])
        holding = [row for row in releases if decision is not None and row.watermark >= decision.event_id]
        last = releases[-1].watermark if releases else -1
        facts_by_key[item.pk] = Facts(
            state=_state(item),
            is_own=item.pk not in adjudicable,
            is_decidable=not item.is_gold and item.batch.decides and item.batch.set_aside_at is None,
            is_closed=item.batch.closed_at is not None,
            submitted=len(people),
            by_person=decision is not None and decision.made_by_id is not None,
            release=holding[0].name if holding else "",
            is_being_released=any(row.ready_at is None for row in holding),
            user=used.get(item.pk),
            is_hidden=item.batch_id in who.hidden,
            is_pinned=hasattr(item, "pinned"),
            released_response=any(event <= last for _, event in people),
            author_gone=any(person not in annotators for person, _ in people),
        )
    return facts_by_key


def _state(item: Item) -> str:
    """The state of an item that is loaded with its decision and adjudication."""
    decision = getattr(item, "decision", None)
    if decision is not None:
        return str(decision.kind)
    if getattr(item, "adjudication", None) is not None:
        return "adjudication"
    return "complete" if 0 < item.submitted_count >= item.slots_count else "open"


def _users(items: Sequence[Item]) -> dict[int, str]:
    """What rests on the decisions of the items, by item (key). Looks only where something may."""
    decisions = {item.pk: item.decision for item in items if getattr(item, "decision", None) is not None}
    batches = {item.batch_id for item in items if item.pk in decisions}
    feeding = Batch.objects.filter(pk__in=batches).filter(Q(feeds__isnull=False) | Q(fed_runs__isnull=False))
    fed = set(feeding.values_list("pk", flat=True))
    outcomes = Outcome.objects.filter(decision__item__in=decisions, example__isnull=False)
    making = set(outcomes.values_list("decision__item_id", flat=True))
    chosen = []
    for item in items:
        if item.pk in decisions and (item.batch_id in fed or item.pk in making):
            item.decision.item = item
            chosen.append(item.decision)
    users = decision_undo.users_of(chosen) if chosen else {}
    return {item: users[decision.pk] for item, decision in decisions.items() if decision.pk in users}


# -- doing and undoing ------------------------------------------------------------------------------


def _lock(keys: Sequence[int]) -> None:
    """Lock all that changing the items may change, in the order of `annotation.queue.reservations`.

    A decision counts itself on its batch and makes items in those that it feeds: so several may wait for each other unless
    each has all of them before the first.
    """
    items = Item.objects.filter(pk__in=keys)
    list(items.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    batches = set(items.values_list("batch_id", flat=True))
    decision_undo.lock_followers(batches, keys)
    examples = Example.objects.filter(items__in=keys).select_for_update(no_key=True, of=("self",))
    list(examples.order_by("pk").values_list("pk"))
    live = Assignment.objects.filter(item__in=keys, state__in=["leased", "submitted"])
    person_counts = PersonBatchCounts.objects.select_for_update(no_key=True).filter(
        batch__in=batches, person__in=live.values("person")
    )
    list(person_counts.order_by("person_id", "batch_id").values_list("pk"))
    free = Slot.objects.filter(item__in=keys, is_taken=False).select_for_update(no_key=True)
    list(free.order_by("pk").values_list("pk"))
    # Again, for people who have taken a slot meanwhile.
    list(person_counts.order_by("person_id", "batch_id").values_list("pk"))
    slots.lock_batches(Batch.objects.filter(Q(pk__in=batches) | Q(feeds_from__in=batches)))


def _load_items(keys: Sequence[int]) -> list[Item]:
    """The items as a decision wants them, by batch."""
    relations = (
        "batch__project",
        "example__stored_table",
        "example__source",
        "decision__event",
        "adjudication",
    )
    return list(Item.objects.filter(pk__in=keys).select_related(*relations).order_by("batch_id", "pk"))


def _exclude(item: Item, by: Person, note: str, state: str, now: datetime) -> dict[str, Any]:
    before: dict[str, Any] = {"state": state, **_waiting(item)}
    if state == "accepted":
        before["decision"] = _take_back(item, by, note, "reopened", now, corrects=True)
        state = "reopened"
    else:
        leased = Assignment.objects.filter(item=item, state=Assignment.State.LEASED).select_related("batch")
        for assignment in leased.order_by("person_id"):
            assignment.item = item
            returned = Assignment.State.RETURNED
            reservations.give_back(
                assignment, state=returned, reason=reservations.EXCLUDED, now=now, actor=by
            )
        before["places"] = orphaned_slots.close_item(item)
    decision = adjudication.exclude(item=item, by=by, reason=note, before=state, now=now)
    return {**before, "event": decision.event_id}


def _include(item: Item, action: ItemAction, before: Mapping[str, Any], by: Person, now: datetime) -> None:
    decision = getattr(item, "decision", None)
    if decision is None or decision.event_id != before["event"]:
        raise _conflict_refusal()
    if before["state"] == "open" and item.batch.closed_at is not None:  # it could not be answered any more
        raise _conflict_refusal()
    _take_back(item, by, adjudication.ACTION_UNDONE.format(), before["state"], now)
    if before["state"] == "accepted":
        adjudication.restore(item=item, undone_decision=before["decision"], by=by, before="reopened", now=now)
        return
    orphaned_slots.open_item(item, before["places"])
    _restore_waiting(item, before, now)


def _adjudicate(item: Item, by: Person, note: str, state: str, now: datetime) -> dict[str, Any]:
    before: dict[str, Any] = {"state": state, "asked_at": now.isoformat()}
    if state in Decision.Kind.values:
        before["decision"] = _take_back(item, by, note, "adjudication", now, corrects=True)
    adjudication.ask_adjudicator(item=item, by=by, reason=note, before=state, now=now)
    return before


def _settle(item: Item, action: ItemAction, before: Mapping[str, Any], by: Person, now: datetime) -> None:
    waiting = getattr(item, "adjudication", None)
    asked_at = datetime.fromisoformat(before["asked_at"]) if "asked_at" in before else action.made_at
    if waiting is None or waiting.asked_by_id != action.made_by_id or waiting.asked_at != asked_at:
        raise _conflict_refusal()
    waiting.delete()
    resolutions.mark([item.pk], Item.Resolution.NONE)
    if "decision" in before:
        adjudication.restore(
            item=item, undone_decision=before["decision"], by=by, before="adjudication", now=now
        )
        return
    audit_log.log(
        item,
        "adjudication",
        "complete",
        by=by,
        now=now,
        detail={"reason": adjudication.ACTION_UNDONE.format()},
    )
    _restore_waiting(item, before, now)


def _send_back(item: Item, by: Person, note: str, state: str, now: datetime) -> dict[str, Any]:
    before: dict[str, Any] = {"state": state, **_waiting(item)}
    if state in Decision.Kind.values:
        before["decision"] = _take_back(item, by, note, "sent back", now, corrects=True)
    annotations = adjudication.send_all_back(item=item, by=by, note=note, before=state, now=now)
    return {**before, "annotations": annotations}


def _keep(item: Item, action: ItemAction, before: Mapping[str, Any], by: Person, now: datetime) -> None:
    if getattr(item, "decision", None) is not None or item.batch.closed_at is not None:
        raise _conflict_refusal()
    adjudication.reinstate_responses(item=item, annotations=before["annotations"], by=by, now=now)
    if "decision" in before:
        adjudication.restore(
            item=item, undone_decision=before["decision"], by=by, before="sent back", now=now
        )
        return
    _restore_waiting(item, before, now)


def _flag(item: Item, by: Person, note: str, state: str, now: datetime) -> dict[str, Any]:
    flag = Flag.objects.create(item=item, made_by=by, note=note, made_at=now)
    audit_log.log(item, "", "flagged", by=by, now=now)
    return {"flag": flag.pk}


def _unflag(item: Item, action: ItemAction, before: Mapping[str, Any], by: Person, now: datetime) -> None:
    if not Flag.objects.filter(pk=before["flag"]).delete()[0]:
        raise _conflict_refusal()
    audit_log.log(item, "flagged", "flag removed", by=by, now=now)


def _pin(item: Item, by: Person, note: str, state: str, now: datetime) -> dict[str, Any]:
    guideline_examples.pin(item=item, by=by, now=now)
    return {}


def _unpin(item: Item, action: ItemAction, before: Mapping[str, Any], by: Person, now: datetime) -> None:
    if not guideline_examples.unpin(item=item, by=by, now=now):
        raise _conflict_refusal()


def _take_back(
    item: Item, by: Person, reason: str, after: str, now: datetime, *, corrects: bool = False
) -> dict[str, Any]:
    decision = item.decision
    decision.item = item
    return adjudication.take_back(
        decision=decision, by=by, reason=reason, after=after, now=now, corrects=corrects
    )


def _waiting(item: Item) -> dict[str, Any]:
    """How the item waits for an adjudicator, as `_restore_waiting` reads it."""
    waiting = getattr(item, "adjudication", None)
    if waiting is None:
        return {}
    row = {"reason": waiting.reason, "weight": waiting.weight, "asked_by": waiting.asked_by_id}
    return {"waiting": {**row, "asked_at": waiting.asked_at.isoformat()}}


def _restore_waiting(item: Item, before: Mapping[str, Any], now: datetime) -> None:
    """Have an undecided item wait for what it waited for: an adjudicator, its rule, or more responses."""
    if waiting := before.get("waiting"):
        resolutions.request_adjudication(
            item,
            waiting["reason"],
            weight=waiting["weight"],
            asked_by=waiting["asked_by"],
            asked_at=datetime.fromisoformat(waiting["asked_at"]),
        )
        return
    complete = Item.objects.filter(pk=item.pk, submitted_count__gt=0, submitted_count__gte=F("slots_count"))
    complete.update(due_at=slots.due_at(item.batch, now))


def _conflict_refusal() -> ActionRefused:
    return ActionRefused("decided", "")


_DO: Final = {
    "exclude": _exclude,
    "adjudicate": _adjudicate,
    "send_back": _send_back,
    "flag": _flag,
    "example": _pin,
}
_UNDO: Final = {
    "exclude": _include,
    "adjudicate": _settle,
    "send_back": _keep,
    "flag": _unflag,
    "example": _unpin,
}
