"""Decisions by the rule of a batch: complete items are accepted, get one more response, or go to an adjudicator.

Only batches of work are decided (not those in which people qualify or calibrate), never what was set aside, and never
gold items. Raw responses stay as they are, after any decision.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.access import audit_log
from annotation.background import jobs
from annotation.models import (
    Adjudication,
    AdjudicationRequest,
    Assignment,
    Batch,
    Decision,
    Item,
    Job,
    Person,
    Slot,
)
from annotation.platform.database import failures
from annotation.platform.refusals import refuse
from annotation.queue import allocation, decisions, orphaned_slots, resolutions, slots
from annotation.queue.decisions import ItemResponses
from tableqa.core.translation import joined, message
from tasks.contract import Acceptance, NeedsResponse, rule_checks, task_types

log = logging.getLogger(__name__)

# Reasons are stored, and published in English.
NOBODY_LEFT = message("adjudicating.nobody_left", "No further annotator is available.")
NOBODY_CAME = message("adjudicating.nobody_came", "the batch was closed before more responses arrived")
NOBODY_MAY = message("adjudicating.nobody_may", "no further annotator is available")
ONE_MORE_LACKS = message("adjudicating.one_more_lacks", "One more annotator is required, but {why}.")
NOBODY_ANSWERED = message("adjudicating.nobody_answered", "0 of {of} annotators have responded, but {why}.")
ONE_ANSWERED = message("adjudicating.one_answered", "1 of {of} annotators has responded, but {why}.")
SOME_ANSWERED = message(
    "adjudicating.some_answered", "{number} of {of} annotators have responded, but {why}."
)
RULE_FAILED = message(
    "adjudicating.rule_failed",
    "The decision rule failed on this item ({error}). Decide the item, or exclude it.",
)
LACKING = Q(submitted_count__gt=0, submitted_count__lt=F("slots_count"))
"""Items that lack responses and have one at least."""


def resolve_due(*, now: datetime, limit: int = 200) -> int:
    """Resolve complete items whose time for undo has passed. Returns how many; safe to run anywhere, any time.

    Each item is its own transaction: on SQLite a worker lets others write in between
    (`annotation.platform.database.sqlite3`).
    """
    due = Item.objects.filter(decisions.DECIDABLE, _installed("batch__"), due_at__lte=now)
    pks = list(due.order_by("due_at", "pk").values_list("pk", flat=True)[:limit])
    return sum(_one_of_many(pk, now, lambda pk: resolve_item(item_id=pk, now=now)) for pk in pks)


def resolve_orphaned(*, now: datetime) -> int:
    """Resolve items of open batches that lack answers and have no possible annotator. Returns how many.

    All possible annotators skipped the item, or left. In a batch for all their slots are removed, and the other
    responses are resolved once they are complete. Elsewhere the item goes to adjudication: when the batch closes, if it
    decides then, else now. Safe to run anywhere, any time.
    """
    handled_count = 0
    under_way = Batch.objects.filter(
        _installed(),
        purpose=Batch.Purpose.WORK,
        opened_at__isnull=False,
        closed_at__isnull=True,
        set_aside_at__isnull=True,
    )
    for batch in under_way.select_related("project").order_by("pk"):
        if batch.strategy == "everyone":
            handled_count += orphaned_slots.trim(batch, now=now)
            continue
        for pk in () if batch.decide_at_close else orphaned_slots.orphaned_items(batch):
            handled_count += _one_of_many(pk, now, lambda pk: _leave_to_adjudicator(pk, now))
    return handled_count


def resolve_batch(
    *, batch: Batch, now: datetime, progress: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Resolve what is complete in one batch, without waiting for the time for undo. Returns how many.

    What waits for an adjudicator is looked at again: the batch's rule may have changed. In a closed batch an item that
    lacks answers, and has one at least, goes to an adjudicator. Raises `UnknownTaskType` where it is not installed.
    """
    batch.task()
    items = Item.objects.filter(decisions.DECIDABLE, batch=batch, decision__isnull=True)
    due = Q(due_at__isnull=False) | Q(adjudication__isnull=False)
    if batch.closed_at is not None:
        due |= LACKING
    resolved, pks = 0, list(items.filter(due).order_by("position").values_list("pk", flat=True).distinct())
    for done, pk in enumerate(pks, start=1):
        resolved += _one_of_many(pk, now, lambda pk: resolve_item(item_id=pk, now=now, again=True))
        progress(done, len(pks))
    return resolved


def start_resolving(*, batch: Batch, by: Person | None, now: datetime) -> Job:
    """`resolve_batch` in the background: a closed batch may have thousands of complete items."""
    return jobs.enqueue(project=batch.project, kind="resolve", ids={"batch": batch.pk}, by=by, now=now)


@jobs.kind("resolve")
def _run_resolving(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = Batch.objects.select_related("project").get(pk=job.ids["batch"])
    resolved = resolve_batch(batch=batch, now=timezone.now(), progress=progress)
    return {"batch": batch.public_id, "resolved": resolved}


def has_orphaned_items(batch: Batch) -> bool:
    """Whether items lack answers and have one at least; in a closed batch `resolve_batch` sees to them."""
    open_items = Item.objects.filter(decisions.DECIDABLE, LACKING, batch=batch, decision__isnull=True)
    return open_items.filter(adjudication__isnull=True).exists()


def resolve_item(*, item_id: int, now: datetime, again: bool = False) -> bool:
    """Decide a complete item by its batch's rule. False where that changed nothing: decided, or not complete any more.

    again: also where it waits for an adjudicator. A closed batch takes no answers: an item that lacks answers
    goes to an adjudicator, unless only those are lacking that were asked for in addition, and by now the others agree.

    A batch that decides when it closes asks one more person before, and does nothing else: people may still change their
    responses.
    """
    with transaction.atomic():
        item = decisions.lock(item_id)
        waiting = Adjudication.objects.filter(item=item).first()
        waits = waiting is not None
        closed = item.batch.closed_at is not None
        if Decision.objects.filter(item=item).exists() or not decisions.is_decidable(item):
            return False
        if waiting is not None and waiting.asked_by_id is not None:
            return False  # a person requested adjudication
        complete = item.submitted_count >= item.slots_count and (item.due_at is not None or (again and waits))
        lacks_responses = closed and not waits and 0 < item.submitted_count < item.slots_count
        if not complete and not lacks_responses:
            return False
        Item.objects.filter(pk=item.pk).update(due_at=None)
        if not waits and _ask_as_requested(item, now):
            return True
        responses = ItemResponses.of(item)
        resolution = responses.resolve(item.batch.resolve)
        if not complete and not (isinstance(resolution, Acceptance) and _all_planned_came(item)):
            _request_adjudication(item, _missing_response_reason(item, NOBODY_CAME), now)
            return True
        one_more = isinstance(resolution, NeedsResponse) and not closed and _somebody_is_left(item)
        if item.batch.decide_at_close and not closed and not one_more:
            return False
        if isinstance(resolution, Acceptance):
            # A decision names the rule it was made by, for a batch may have another one by the time it is verified.
            rule = item.batch.resolve or None
            # A job that decides many items began before the latest responses to some of them.
            now = max(now, *(annotation.made_at for annotation in responses.annotations))
            decisions.write(item, resolution, responses.annotations, by=None, rule=rule, now=now)
            return True
        if one_more:
            Adjudication.objects.filter(item=item).delete()
            resolutions.mark([item.pk], Item.Resolution.NONE)
            slots.add_slot(item)
            before = "adjudication" if waits else "complete"
            audit_log.log(item, before, "one more", by=None, now=now, detail={"reason": resolution.reason})
            return True
        reason = resolution.reason
        if isinstance(resolution, NeedsResponse) and not closed:
            reason = joined([reason, NOBODY_LEFT])
        # One more person cannot answer in a closed batch: what is open there is for an adjudicator.
        _request_adjudication(item, reason, now, weight=responses.weight(), again=waits)
        return not waits


def change_rule(*, batch: Batch, rule: object, by: Person, now: datetime) -> Job | None:
    """Have another rule decide in this batch from now on; {} is the default of the task type.

    What is decided stays decided. What waits for an adjudicator, and what is complete, is resolved anew in the
    background (the job, None where nothing changed). Raises ActionRefused (invalid_request) for what is no rule of this
    task type.
    """
    checked = checked_rule(batch, rule)
    if checked == batch.resolve:
        return None
    with transaction.atomic():
        if batch.decide_at_close:
            slots.lock_items([batch.pk])
        before = Batch.objects.select_for_update(no_key=True).get(pk=batch.pk).resolve
        Batch.objects.filter(pk=batch.pk).update(resolve=checked)
        own = [rule.get("rule", "own rule") for rule in (before, checked)]
        audit_log.log(batch, *own, by=by, now=now, detail=audit_log.changed("resolve", before, checked))
        batch.resolve = checked
        if batch.decide_at_close:  # what was complete was looked at by the rule before
            complete = slots.undecided(batch).filter(submitted_count__gt=0, submitted_count=F("slots_count"))
            complete.update(due_at=slots.due_at(batch, now))
        return start_resolving(batch=batch, by=by, now=now)


def checked_rule(batch: Batch, rule: object) -> dict[str, Any]:
    """A rule as the batch would keep it. Raises ActionRefused (invalid_request) for what is no rule of this task type."""
    try:
        checked = rule_checks.check_rule(batch.task(), rule, overlap=batch.overlap)
    except rule_checks.BadRule as bad:
        refuse("invalid_request", str(bad))
    return checked


def preview_rule(batch: Batch, rule: Mapping[str, Any], *, most: int = 200) -> dict[str, int]:
    """What another rule, checked already, would make of the items that wait for an adjudicator, of the first `most`."""
    counts = {"accepted": 0, "one_more": 0, "adjudication": 0}
    for item in resolutions.waiting(batch).select_related("example__stored_table")[:most]:
        resolution = ItemResponses.of(item).resolve(rule)
        name = {Acceptance: "accepted", NeedsResponse: "one_more"}.get(type(resolution), "adjudication")
        counts[name] += 1
    return counts


def reopen_waiting(*, batch: Batch, overlap: int, by: Person, now: datetime) -> int:
    """Take items that have fewer planned slots than `overlap` back from the adjudicators. Returns how many.

    For a batch whose overlap is raised: on these items people disagree, so more responses are wanted there most. In the
    caller's transaction, before `slots.set_overlap` adds the slots.
    """
    return resolutions.return_to_annotators(slots.waiting_below(batch, overlap), by=by, now=now)


def _installed(batch: str = "") -> Q:
    """Batches whose task type is there: items of the others wait until it is installed again."""
    return Q(**{f"{batch}definition__isnull": False}) | Q(**{f"{batch}task_type__in": list(task_types())})


def _one_of_many(item_id: int, now: datetime, act: Callable[[int], bool]) -> bool:
    """Do this with an item in its turn. One with which it fails goes to an adjudicator, so that no round meets it again."""
    try:
        return act(item_id)
    except Exception as error:
        if failures.stops_others(error):
            raise  # it would fail with the others, too, until the database answers
        log.exception("item %s cannot be resolved", item_id)
        reason = RULE_FAILED.format(error=type(error).__name__)
    with transaction.atomic():
        item = decisions.lock(item_id)
        waiting = Adjudication.objects.filter(item=item)
        if not Decision.objects.filter(item=item).exists() and not waiting.filter(asked_by__isnull=False):
            Item.objects.filter(pk=item.pk).update(due_at=None)
            before = "complete" if item.submitted_count >= item.slots_count else "open"
            _request_adjudication(item, reason, now, again=waiting.exists(), before=before)
    return False


def _leave_to_adjudicator(item_id: int, now: datetime) -> bool:
    """Send an item that no other person can answer to adjudication. Its free slots are removed.

    Where only a person asked in addition is lacking, and by now the others agree, the item is due instead.
    """
    with transaction.atomic():
        item = decisions.lock(item_id)
        waiting = Adjudication.objects.filter(item=item)
        settled = waiting.exists() or Decision.objects.filter(item=item).exists()
        if settled or item.batch.closed_at is not None or item.submitted_count >= item.slots_count:
            return False
        if Assignment.objects.filter(item=item, state=Assignment.State.LEASED).exists():
            return False  # a person is at it after all
        reason, all_came = _missing_response_reason(item, NOBODY_MAY), _all_planned_came(item)
        orphaned_slots.drop_free(item)
        responses = ItemResponses.of(item)
        if all_came and isinstance(responses.resolve(item.batch.resolve), Acceptance):
            Item.objects.filter(pk=item.pk).update(due_at=now)
            return True
        _request_adjudication(item, reason, now, weight=responses.weight(), before="open")
    return True


def _missing_response_reason(item: Item, why: str) -> str:
    """Why an adjudicator is asked about an item that lacks answers."""
    item_slots = Slot.objects.filter(item=item)
    answered = Assignment.objects.filter(item=item).submitted().values("slot")
    missing = item_slots.exclude(pk__in=answered)
    if missing.exists() and not missing.filter(added=False).exists():
        return ONE_MORE_LACKS.format(why=why)
    reason_message = {0: NOBODY_ANSWERED, 1: ONE_ANSWERED}.get(item.submitted_count, SOME_ANSWERED)
    return reason_message.format(number=item.submitted_count, of=item.slots_count, why=why)


def _all_planned_came(item: Item) -> bool:
    """Whether every planned slot of the item has its response."""
    return not item.slots.filter(added=False, is_taken=False).exists()


def _somebody_is_left(item: Item) -> bool:
    """Whether any person may annotate here who neither had the item nor helped to make it."""
    had = set(item.assignments.values_list("person_id", flat=True))
    barred = set(item.exclusions.values_list("person_id", flat=True))
    return bool(allocation.annotator_ids(item.batch.project_id) - had - barred)


def _request_adjudication(
    item: Item,
    reason: str,
    now: datetime,
    *,
    weight: float = 0.5,
    again: bool = False,
    before: str = "complete",
) -> None:
    """Send the item to adjudication; with `again` it keeps its position in the queue of adjudicators."""
    if again:
        waiting = Adjudication.objects.filter(item=item)
        if waiting.exclude(reason=reason).exists():
            audit_log.log(item, "adjudication", "adjudication", by=None, now=now, detail={"reason": reason})
        waiting.update(reason=reason, weight=weight)
        return
    resolutions.request_adjudication(item, reason, weight=weight, asked_at=now)
    audit_log.log(item, before, "adjudication", by=None, now=now, detail={"reason": reason})


def _ask_as_requested(item: Item, now: datetime) -> bool:
    """Send the item to adjudication if a person requested it before the item lacked responses. Returns whether one did."""
    request = AdjudicationRequest.objects.filter(item=item).first()
    if request is None:
        return False
    request.delete()
    resolutions.request_adjudication(
        item,
        request.reason,
        weight=ItemResponses.of(item).weight(),
        asked_by=request.asked_by_id,
        asked_at=request.asked_at,
    )
    audit_log.log(item, "complete", "adjudication", by=None, now=now)
    return True
