"""From responses to decisions: by the batch's rule where it decides, by a person where it does not.

Only batches of work are decided (not those in which people qualify or calibrate), never what was set aside, and never
gold items: nothing here asks them. Raw responses stay as they are, whatever is decided of them.

Who adjudicates an item is nobody who had it, made it, or may still annotate in its batch (`visibility.may_adjudicate`):
whoever reads responses here is refused for as long as the batch is open to them as an annotator.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import ascii_uppercase
from typing import Any, Final, TypeVar

from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.access import audit_log
from annotation.access.roles import Permission, permissions
from annotation.background import jobs
from annotation.models import (
    Adjudication,
    AdjudicationRequest,
    Annotation,
    Assignment,
    Batch,
    Decision,
    Draft,
    Event,
    Exclusion,
    Item,
    Job,
    Membership,
    Outcome,
    Person,
    Place,
    Project,
    Release,
    SentBack,
)
from annotation.models.batch_options.adjudication import listed_reasons
from annotation.platform.database import failures
from annotation.platform.refusals import Refused, refuse, require_storable
from annotation.quality import compared_responses
from annotation.queue import draws, lineage, orphaned_slots, resolutions, revisions, slots
from annotation.workflow import decision_undo
from tableqa.core.canonical_json import canonical
from tableqa.core.translation import joined, message, translate_stored
from tasks.contract import (
    Accepted,
    InvalidResponse,
    NeedsResponse,
    Resolution,
    TaskType,
    decision_rules,
    task_types,
)
from tasks.contract import Item as PlainItem
from tasks.contract import Outcome as Resolved

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Candidate:
    """One response as an adjudicator sees it: under a letter (after Z, two), without a name.

    added      asked for in addition, because the others did not agree
    sent_back  what adjudicators wrote when they gave an earlier one of the same person back, oldest first
    unsure     whether its author was not sure of it
    unmet      the conditions that its author was asked about and submitted unmet, in words
    """

    letter: str
    annotation: Annotation
    response: Any
    words: list[str]
    added: bool
    sent_back: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    unsure: bool = False


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
NOT_SENT_BACK = message("adjudicating.not_sent_back", "Sending the response back was undone.")
ACTION_UNDONE = message("adjudicating.action_undone", "The action on several items was undone.")
UNDONE = message("adjudicating.undone", "The adjudicator took the decision back.")
UNDONE_SEND_BACK = message("adjudicating.undone_send_back", "The adjudicator undid sending a response back.")
RESPONSES_CHANGED = gettext_noop(
    "The responses changed after this page was loaded. Look at them again before you decide."
)
SITTING: Final = timedelta(minutes=30)
"""A longer pause between two decisions of a person ends a sitting."""
DECIDABLE = Q(is_gold=False, batch__purpose=Batch.Purpose.WORK, batch__set_aside_at__isnull=True)
"""The items that are ever decided."""


def resolve_due(*, now: datetime, limit: int = 200) -> int:
    """Resolve complete items whose time for undo has passed. Returns how many; safe to run anywhere, any time.

    Each item is a transaction of its own: on SQLite a worker lets others write in between
    (`annotation.platform.database.sqlite3`).
    """
    due = Item.objects.filter(DECIDABLE, _installed("batch__"), due_at__lte=now).order_by("due_at", "pk")
    pks = list(due.values_list("pk", flat=True)[:limit])
    return sum(_one_of_many(pk, now, lambda pk: resolve_item(item_id=pk, now=now)) for pk in pks)


def resolve_orphaned(*, now: datetime) -> int:
    """See to items of open batches that lack answers which nobody can be asked for any more. Returns how many.

    Whoever could have answered skipped the item, or left. In a batch for everybody their places go, and the others'
    responses are resolved once they are complete; elsewhere an adjudicator looks: where the batch decides when it closes,
    then, else now. Safe to run anywhere, any time.
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
    items = Item.objects.filter(DECIDABLE, batch=batch, decision__isnull=True)
    due = Q(due_at__isnull=False) | Q(adjudication__isnull=False)
    if batch.closed_at is not None:
        due |= Q(submitted_count__gt=0, submitted_count__lt=F("places_count"))
    resolved, pks = 0, list(items.filter(due).order_by("position").values_list("pk", flat=True).distinct())
    for done, pk in enumerate(pks, start=1):
        resolved += _one_of_many(pk, now, lambda pk: resolve_item(item_id=pk, now=now, again=True))
        progress(done, len(pks))
    return resolved


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
        item = _locked(item_id)
        waiting = Adjudication.objects.filter(item=item)
        if not Decision.objects.filter(item=item).exists() and not waiting.filter(asked_by__isnull=False):
            Item.objects.filter(pk=item.pk).update(due_at=None)
            before = "complete" if item.submitted_count >= item.places_count else "open"
            _request_adjudication(item, reason, now, again=waiting.exists(), before=before)
    return False


def has_orphaned_items(batch: Batch) -> bool:
    """Whether items lack answers and have one at least; in a closed batch `resolve_batch` sees to them."""
    lacking = Item.objects.filter(DECIDABLE, batch=batch, decision__isnull=True, adjudication__isnull=True)
    return lacking.filter(submitted_count__gt=0, submitted_count__lt=F("places_count")).exists()


def start_resolving(*, batch: Batch, by: Person | None, now: datetime) -> Job:
    """`resolve_batch` in the background: a closed batch may have thousands of complete items."""
    return jobs.enqueue(project=batch.project, kind="resolve", ids={"batch": batch.pk}, by=by, now=now)


@jobs.kind("resolve")
def _run_resolving(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = Batch.objects.select_related("project").get(pk=job.ids["batch"])
    resolved = resolve_batch(batch=batch, now=timezone.now(), progress=progress)
    return {"batch": batch.public_id, "resolved": resolved}


def change_rule(*, batch: Batch, rule: object, by: Person, now: datetime) -> Job | None:
    """Have another rule decide in this batch from now on; {} is the kind's own.

    What is decided stays decided. What waits for an adjudicator, and what is complete, is resolved anew in the
    background (the job, None where nothing changed). Raises Refused (invalid_request) for what is no rule of this kind.
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
            complete = slots.undecided(batch).filter(submitted_count__gt=0, submitted_count=F("places_count"))
            complete.update(due_at=slots.due_at(batch, now))
        return start_resolving(batch=batch, by=by, now=now)


def checked_rule(batch: Batch, rule: object) -> dict[str, Any]:
    """A rule as the batch would keep it. Raises Refused (invalid_request) for what is no rule of this kind."""
    try:
        checked = decision_rules.check_rule(batch.task(), rule, overlap=batch.overlap)
    except decision_rules.BadRule as bad:
        refuse("invalid_request", str(bad))
    return checked


def reopen_waiting(*, batch: Batch, overlap: int, by: Person, now: datetime) -> int:
    """Take items that have fewer planned slots than `overlap` back from the adjudicators. Returns how many.

    For a batch whose overlap is raised: on these items people disagree, so more responses are wanted there most. In the
    caller's transaction, before `slots.set_overlap` adds the slots.
    """
    items = list(slots.waiting_below(batch, overlap).select_related("batch").order_by("pk"))
    for some in slots.chunks(item.pk for item in items):
        resolutions.reopen(some)
    for item in items:
        _record(item, "adjudication", "open", by, now)
    return len(items)


def preview_rule(batch: Batch, rule: Mapping[str, Any], *, most: int = 200) -> dict[str, int]:
    """What another rule, checked already, would make of the items that wait for an adjudicator, of the first `most`."""
    counts = {"accepted": 0, "one_more": 0, "adjudication": 0}
    for item in waiting(batch).select_related("example__stored_table")[:most]:
        task, plain = batch.task(), item.plain()
        responses = [task.read(annotation.response or {}, plain) for annotation in _annotations(item)]
        resolution = decision_rules.resolve(task, rule, responses, plain)
        name = {Accepted: "accepted", NeedsResponse: "one_more"}.get(type(resolution), "adjudication")
        counts[name] += 1
    return counts


def resolve_item(*, item_id: int, now: datetime, again: bool = False) -> bool:
    """Decide a complete item by its batch's rule. False where that changed nothing: decided, or not complete any more.

    again: also where it waits for an adjudicator. In a closed batch nobody answers any more: an item that lacks answers
    goes to an adjudicator, unless only those are lacking that were asked for in addition, and by now the others agree.

    A batch that decides when it closes asks one more person before, and does nothing else: people may still change what
    they said.
    """
    with transaction.atomic():
        item = _locked(item_id)
        waiting = Adjudication.objects.filter(item=item).first()
        waits = waiting is not None
        closed = item.batch.closed_at is not None
        if Decision.objects.filter(item=item).exists() or not _require_decidable(item):
            return False
        if waiting is not None and waiting.asked_by_id is not None:
            return False  # a person wants an adjudicator to look
        complete = item.submitted_count >= item.places_count and (
            item.due_at is not None or (again and waits)
        )
        if not complete:
            lacks_answers = closed and not waits and 0 < item.submitted_count < item.places_count
            if not lacks_answers:
                return False
        Item.objects.filter(pk=item.pk).update(due_at=None)
        if not waits and _ask_as_requested(item, now):
            return True
        annotations = _annotations(item)
        task, plain = item.batch.task(), item.plain()
        responses = [task.read(annotation.response or {}, plain) for annotation in annotations]
        resolution = decision_rules.resolve(task, item.batch.resolve, responses, plain)
        if not complete and not (isinstance(resolution, Accepted) and _all_planned_came(item)):
            _request_adjudication(item, _missing_response_reason(item, NOBODY_CAME), now)
            return True
        one_more = isinstance(resolution, NeedsResponse) and not closed and _somebody_is_left(item)
        if item.batch.decide_at_close and not closed and not one_more:
            return False
        if isinstance(resolution, Accepted):
            # A decision names the rule it was made by, for a batch may have another one by the time it is verified.
            _write(item, resolution, annotations, by=None, rule=item.batch.resolve or None, now=now)
            return True
        if one_more:
            Adjudication.objects.filter(item=item).delete()
            resolutions.mark([item.pk], Item.Resolution.NONE)
            slots.add_place(item)
            _record(
                item,
                "adjudication" if waits else "complete",
                "one more",
                None,
                now,
                reason=resolution.reason,
            )
            return True
        reason = resolution.reason
        if isinstance(resolution, NeedsResponse) and not closed:
            reason = joined([reason, NOBODY_LEFT])
        # One more person cannot answer in a closed batch: what is open there is for an adjudicator.
        _request_adjudication(item, reason, now, weight=_weight(item, task, plain, responses), again=waits)
        return not waits


def waiting(batch: Batch) -> QuerySet[Item]:
    """Items of a batch that wait for an adjudicator: those that matter most first, and of equal ones the oldest."""
    return _waiting(Q(batch=batch))


def waiting_in(project: Project) -> QuerySet[Item]:
    """The same of all batches of a project."""
    return _waiting(Q(batch__project=project))


def _waiting(where: Q) -> QuerySet[Item]:
    items = Item.objects.filter(where, adjudication__isnull=False, batch__set_aside_at__isnull=True)
    return items.select_related("adjudication", "batch__project", "example__source").order_by(
        F("adjudication__weight").desc(), "adjudication__asked_at", "pk"
    )


def candidates(item: Item) -> list[Candidate]:
    """The responses under letters, in an order drawn for the item: nobody can tell who is who."""
    return candidates_of([item])[0]


def candidates_of(items: Sequence[Item]) -> list[list[Candidate]]:
    """The same of several items, in their order, by two statements."""
    notes: dict[int, list[str]] = {}
    sent_back = SentBack.objects.filter(assignment__item__in=items).order_by("pk")
    for assignment_id, note in sent_back.values_list("assignment_id", "note"):
        notes.setdefault(assignment_id, []).append(note)
    by_item = _annotations_of(items)
    return [_with_letters(item, by_letter(item, by_item[item.pk]), notes) for item in items]


def _with_letters(
    item: Item, annotations: Sequence[Annotation], notes: Mapping[int, Sequence[str]]
) -> list[Candidate]:
    task, plain = item.batch.task(), item.plain()
    lettered = []
    for letter, annotation in zip(letters(len(annotations)), annotations, strict=True):
        response = task.read(annotation.response or {}, plain)
        words = task.describe(response, plain)
        assignment_notes = tuple(notes.get(annotation.assignment_id, ()))
        unmet = unmet_in_words(annotation, response, task, plain)
        added = annotation.assignment.place.added
        lettered.append(
            Candidate(
                letter, annotation, response, words, added, assignment_notes, unmet, bool(annotation.unsure)
            )
        )
    return lettered


def in_one_text(annotations: Iterable[Annotation]) -> str:
    """The ids of responses in the order of their letters: a page sends back what it has shown."""
    return ",".join(annotation.public_id for annotation in annotations)


def unmet_in_words(
    annotation: Annotation, response: Any, task: TaskType, plain: PlainItem
) -> tuple[str, ...]:
    """What a response was submitted without, in the reader's language; the code where the task type judges otherwise now."""
    codes: Sequence[str] = annotation.unmet or ()
    messages = {problem.code: problem.message for problem in task.unmet(response, plain)} if codes else {}
    return tuple(messages.get(code, code) for code in codes)


def record_reading(items: Sequence[Item], *, by: Person, now: datetime) -> None:
    """Keep that somebody has been shown what others said of these items: as an annotator they never get them."""
    Exclusion.objects.bulk_create(
        [Exclusion(item=item, person=by, read_at=now) for item in items], ignore_conflicts=True
    )


def by_letter(item: Item, responses: Iterable[T]) -> list[T]:
    """The responses to an item, which are in the order of their places, in that of their letters."""
    ordered = list(responses)
    draws.letters(item).shuffle(ordered)
    return ordered


def letters(number: int) -> list[str]:
    """The names of so many responses: A to Z, then AA, AB and so on, as a spreadsheet names its columns."""
    names = []
    for index in range(number):
        name = ""
        while index >= 0:
            index, letter = divmod(index, len(ascii_uppercase))
            name, index = ascii_uppercase[letter] + name, index - 1
        names.append(name)
    return names


def decide(
    *,
    item: Item,
    by: Person,
    now: datetime,
    note: str = "",
    listed_reason: str = "",
    choose: Sequence[str] = (),
    response: Mapping[str, Any] | None = None,
    based_on: Sequence[str] = (),
    exclude: str = "",
    seen: str = "",
) -> Decision:
    """An adjudicator's word: `choose` responses (letters or annotation ids), write one's own, or `exclude`.

    A response of one's own rests on those that it was `based_on` (letters or ids), and on all that it has a piece in common
    with: the same operation, cell, answer or words. Their authors are makers like whoever wrote it.
    `listed_reason` is one of the batch's reasons with a key. A note is needed where the batch requires one; where the item
    is excluded, the reason may stand for it. `seen` are the responses (`in_one_text`) that were shown with their letters.
    Raises Refused: decided, responses_changed, invalid_request; `tasks.contract.InvalidResponse` for a response that does
    not hold.
    """
    note = note.strip() or exclude.strip()
    require_storable(note, exclude, listed_reason)
    if [bool(choose), response is not None, bool(exclude.strip())].count(True) != 1:
        refuse(
            "invalid_request",
            "Choose responses, write a response, or exclude the item. Do only one of the three.",
        )
    with _refusing_failures(item), transaction.atomic():
        item = _locked(item.pk)
        _require_waiting(item)
        _require_seen(item, seen)
        _check_why(item.batch, note, listed_reason)
        task, plain = item.batch.task(), item.plain()
        annotations: list[Annotation] = []
        rests_on: list[str] = []
        resolution: Resolution
        if exclude.strip():
            resolution = Accepted((), exclude.strip())
        elif response is not None:
            resolution = task.resolve_adjudicated([task.receive(response, plain)], plain)
            named = {candidate.annotation.pk for candidate in _choose_candidates(item, based_on)}
            rests_on = [
                annotation.public_id
                for annotation in _annotations(item)
                if annotation.pk in named or _pieces(annotation.response) & _pieces(response)
            ]
        else:
            chosen = _choose_candidates(item, choose)
            annotations = [candidate.annotation for candidate in chosen]
            outcomes = tuple(Resolved(c.response, (index,)) for index, c in enumerate(chosen))
            resolution = _merge_responses(
                task.resolve_adjudicated([c.response for c in chosen], plain), outcomes
            )
        if not isinstance(resolution, Accepted):
            refuse(
                "invalid_request",
                "These responses cannot be accepted together: {reason}",
                reason=translate_stored(resolution.reason),
            )
        return _write(
            item,
            resolution,
            annotations,
            by=by,
            note=note,
            listed_reason=listed_reason,
            based_on=rests_on,
            now=now,
        )


def undo(*, item: Item, by: Person, now: datetime) -> Adjudication:
    """Take the person's own decision of an item back: it waits for an adjudicator again, where it was in the queue.

    The log keeps what was decided. Raises Refused: invalid_request where the person did not decide the item; decided where
    a release contains the decision or work rests on it.
    """
    with transaction.atomic():
        item = _locked(item.pk)
        decision = Decision.objects.filter(item=item, made_by=by).first()
        if decision is None or not _require_decidable(item):
            refuse("invalid_request", "You have not decided this item, so there is nothing to undo.")
        decision.item = item
        detail = {"reason": UNDONE.format(), "undone": _undone_detail(decision)}
        audit_log.log(item, decision.kind, "adjudication", by=by, now=now, detail=detail)
        decision_undo.retract(decision)
        return _wait_again(item, now)


def undo_send_back(*, item: Item, by: Person, now: datetime) -> list[SentBack]:
    """Take back that the person sent a response back: it counts again, and the item waits for an adjudicator again.

    Returns what was written to the author. Raises Refused: invalid_request where the person sent nothing back that waits
    for its author; decided where the author has continued, or a release holds the change.
    """
    with transaction.atomic():
        item = _locked(item.pk)
        sent = _sent_back_by(item, by)
        if not sent or Decision.objects.filter(item=item).exists() or not _require_decidable(item):
            refuse("invalid_request", "You have sent nothing of this item back, so there is nothing to undo.")
        reinstate_responses(item=item, annotations=[row.annotation_id for row in sent], by=by, now=now)
        _record(item, "sent back", "adjudication", by, now, reason=UNDONE_SEND_BACK.format())
        _wait_again(item, now)
        return sent


def last_undo(item: Item, by: Person) -> dict[str, Any] | None:
    """What the log keeps of the person's undo, if nothing has happened to the item since; else None.

    `undone` in it is the decision that was taken back; sending back has none.
    """
    last = Event.objects.filter(thing="item", thing_id=item.pk).order_by("-pk").first()
    if last is None or last.actor_id != by.pk or last.after != "adjudication":
        return None
    detail = dict(last.detail or {})
    return detail if detail.get("reason") in (UNDONE.format(), UNDONE_SEND_BACK.format()) else None


def sitting(batch: Batch, person: Person, now: datetime) -> list[str]:
    """The items (ids) that the person decided in the batch without a break of 30 minutes until now, newest first."""
    decisions = Decision.objects.filter(item__batch=batch, made_by=person).order_by("-event_id")
    items: list[str] = []
    later = now
    for item, made_at in decisions.values_list("item__public_id", "made_at")[:MOST_OF_A_SITTING]:
        if later - made_at > SITTING:
            break
        items.append(item)
        later = made_at
    return items


MOST_OF_A_SITTING: Final = 2_000


@dataclass(frozen=True)
class LastAct:
    """What undo takes back next.

    item           its id, "" where there is nothing to undo
    is_passed_over a response was sent back later, and its author has already continued with it
    """

    item: str = ""
    is_passed_over: bool = False


def last_act(batch: Batch, person: Person, now: datetime, decided: str = "") -> LastAct:
    """The person's last act in the batch, within a sitting: a decision, or a response that they sent back.

    decided: the item (id) that they decided last, the first of `sitting`; "" where there is none.
    """
    sent = SentBack.objects.filter(assignment__batch=batch, made_by=person, made_at__gte=now - SITTING)
    last = sent.select_related("assignment__item").order_by("-made_at", "-pk").first()
    if (
        last is None
        or Decision.objects.filter(item__batch=batch, made_by=person, made_at__gte=last.made_at).exists()
    ):
        return LastAct(decided)
    item = last.assignment.item
    if batch.closed_at is None and _is_untouched(_sent_back_by(item, person)):
        return LastAct(item.public_id)
    return LastAct(decided, is_passed_over=True)


def send_back(*, item: Item, by: Person, choose: str, note: str, now: datetime, seen: str = "") -> SentBack:
    """Give one response (its letter or annotation id) back to whoever wrote it, with a note that they read.

    The submission is withdrawn by a revision that follows it; its author holds the item again, with what they had
    written as the draft. Nobody adjudicates until they have submitted: then the item is resolved like any other.
    `seen` as in `decide`. Raises Refused: decided, responses_changed, invalid_request, batch_closed, author_gone.
    """
    require_storable(note)
    if not note.strip():
        refuse("invalid_request", "Write what is wrong with the response. The author sees this note.")
    with transaction.atomic():
        item = _locked(item.pk)
        _require_waiting(item)
        _require_seen(item, seen)
        (candidate,) = _choose_candidates(item, [choose])
        annotation = candidate.annotation
        assignment = annotation.assignment
        if item.batch.closed_at is not None:
            refuse(
                "batch_closed",
                "The batch is closed, so responses cannot be sent back. Decide or exclude the item.",
            )
        if Release.objects.holding(annotation).exists():
            refuse("decided", "This response has been released and cannot be changed.")
        if assignment.person_id not in _annotators(item.batch):
            refuse(
                "author_gone",
                "The author of this response is no longer an annotator here. Decide or exclude the item.",
            )
        assignment.batch, assignment.item = item.batch, item
        revisions.withdraw(assignment, annotation, by=by, now=now)
        _record(item, "adjudication", "sent back", by, now)
        return SentBack.objects.create(
            assignment=assignment, annotation=annotation, note=note.strip(), made_by=by, made_at=now
        )


def exclude(*, item: Item, by: Person, reason: str, before: str, now: datetime) -> Decision:
    """Exclude an item that is undecided, whatever its state `before`. Nobody gets it any more.

    The caller holds its lock, in a transaction, and has ended its leases.
    """
    Item.objects.filter(pk=item.pk).update(due_at=None)
    return _write(item, Accepted((), reason), [], by=by, note=reason, before=before, now=now)


def ask_adjudicator(*, item: Item, by: Person, reason: str, before: str, now: datetime) -> None:
    """Have an adjudicator look at a complete item, whatever its responses say. The caller holds its lock."""
    Item.objects.filter(pk=item.pk).update(due_at=None)
    task, plain = item.batch.task(), item.plain()
    responses = [task.read(annotation.response or {}, plain) for annotation in _annotations(item)]
    weight = _weight(item, task, plain, responses)
    Adjudication.objects.create(item=item, reason=reason, weight=weight, asked_by=by, asked_at=now)
    resolutions.mark([item.pk], Item.Resolution.ADJUDICATION)
    if before not in Decision.Kind.values:  # else the event of the decision that was taken back tells it
        _record(item, before, "adjudication", by, now, reason=reason)


def send_all_back(*, item: Item, by: Person, note: str, before: str, now: datetime) -> list[int]:
    """Give all responses to an undecided item back to their authors, with a note. The caller holds its lock.

    Returns the annotations (keys), for `reinstate_responses`.
    """
    annotations = _annotations(item)
    for annotation in annotations:
        assignment = annotation.assignment
        assignment.batch, assignment.item = item.batch, item
        revisions.withdraw(assignment, annotation, by=by, now=now)
        SentBack.objects.create(
            assignment=assignment, annotation=annotation, note=note, made_by=by, made_at=now
        )
    _record(item, before, "sent back", by, now)
    return [annotation.pk for annotation in annotations]


def reinstate_responses(*, item: Item, annotations: Sequence[int], by: Person, now: datetime) -> None:
    """Have responses (keys) that were sent back count again. The caller holds the lock of the item.

    Raises Refused (decided) where an author has continued, or a release holds the change.
    """
    rows = SentBack.objects.filter(annotation__in=annotations).select_related(*SENT_BACK_WITH)
    sent = list(rows.order_by("pk"))
    if len(sent) != len(annotations) or not _is_untouched(sent):
        refuse("decided", "An author has already worked on the response that was sent back.")
    for row in sent:
        assignment = row.assignment
        if Release.objects.holding(revisions.latest(assignment)).exists():
            refuse("decided", "This response has been released and cannot be changed.")
        row.delete()
        revisions.reinstate(assignment, row.annotation, reason=NOT_SENT_BACK.format(), by=by, now=now)


def take_back(*, decision: Decision, by: Person, reason: str, after: str, now: datetime) -> dict[str, Any]:
    """Take back a decision on which nothing rests. Returns what `restore` needs. The caller holds the lock of its item.

    Raises Refused (decided) as `decision_undo.retract`.
    """
    detail = {"reason": reason, "undone": _undone_detail(decision)}
    based_on = (decision.event.detail or {}).get("based_on", [])
    event = audit_log.log(decision.item, decision.kind, after, by=by, now=now, detail=detail)
    decision_undo.retract(decision)
    return {
        "event": event,
        "reason": decision.reason,
        "rule": decision.rule,
        "made_by": decision.made_by_id,
        "made_at": decision.made_at.isoformat(),
        "based_on": based_on,
    }


def restore(
    *, item: Item, undone_decision: Mapping[str, Any], by: Person, before: str, now: datetime
) -> Decision:
    """Decide an item again as it was before `take_back`. The caller holds its lock and knows that it is undecided."""
    undone = (Event.objects.get(pk=undone_decision["event"]).detail or {})["undone"]
    task = item.batch.task()
    annotations = _annotations(item)
    positions = {annotation.public_id: index for index, annotation in enumerate(annotations)}
    outcomes = tuple(
        Resolved(
            compared_responses.restore_response(task, outcome["response"]),
            tuple(positions[annotation_id] for annotation_id in outcome["annotations"]),
        )
        for outcome in undone["outcomes"]
    )
    Item.objects.filter(pk=item.pk).update(due_at=None)
    return _write(
        item,
        Accepted(outcomes, undone_decision["reason"]),
        annotations,
        by=Person.objects.filter(pk=undone_decision["made_by"]).first(),
        actor=by,
        note=undone.get("note", ""),
        listed_reason=undone.get("listed_reason", ""),
        rule=undone_decision["rule"],
        before=before,
        based_on=undone_decision["based_on"],
        made_at=datetime.fromisoformat(undone_decision["made_at"]) if "made_at" in undone_decision else now,
        now=now,
    )


def returnable(item: Item, responses: Sequence[Candidate]) -> list[str]:
    """The letters of the responses that may go back to their authors: none of a closed batch, and none that a release
    holds; what is in a release stays as it is (docs/decisions/0001), whether or not its item is decided.
    """
    if item.batch.closed_at is not None:
        return []
    released = Release.objects.latest_watermarks([item.batch.project_id]).get(item.batch.project_id, 0)
    return [candidate.letter for candidate in responses if candidate.annotation.event_id > released]


# -- underneath -------------------------------------------------------------------------------------


@contextmanager
def _refusing_failures(item: Item) -> Iterator[None]:
    """Refuse what the item's task type fails on, which may be somebody else's code. Nothing is written then."""
    try:
        yield
    except (Refused, InvalidResponse, DatabaseError):
        raise
    except Exception as error:
        log.exception("item %s cannot be decided", item.pk)
        refuse(
            "invalid_request",
            "The task type failed on this decision ({error}). Choose or write another response, or exclude the item.",
            error=type(error).__name__,
        )


def _locked(item_id: int) -> Item:
    Item.objects.select_for_update(no_key=True).filter(pk=item_id).values_list("pk").first()
    return Item.objects.select_related("batch__project", "example__stored_table", "example__source").get(
        pk=item_id
    )


SENT_BACK_WITH: Final = ("annotation__event", "assignment__batch", "assignment__person", "assignment__item")


def _sent_back_by(item: Item, person: Person) -> list[SentBack]:
    """The responses of the item that the person sent back last, in one act, if the item waited for an adjudicator then."""
    acts = Event.objects.filter(thing="item", thing_id=item.pk, after="sent back").order_by("-pk")
    last = acts.first()
    if last is None or (last.before, last.actor_id) != ("adjudication", person.pk):
        return []
    sent = SentBack.objects.filter(assignment__item=item, made_by=person, made_at=last.at)
    return list(sent.select_related(*SENT_BACK_WITH).order_by("pk"))


def _is_untouched(sent: Sequence[SentBack]) -> bool:
    """Whether nobody has continued with responses that were sent back: neither submitted nor changed the draft."""
    for row in sent:
        latest = revisions.latest(row.assignment)
        draft = Draft.objects.filter(assignment=row.assignment, saved_at=latest.made_at)
        is_withdrawn = latest.response is None and latest.revision == row.annotation.revision + 1
        if row.assignment.state != Assignment.State.LEASED or not is_withdrawn or not draft.exists():
            return False
    return bool(sent)


def _wait_again(item: Item, now: datetime) -> Adjudication:
    """Have an undecided item wait for an adjudicator where it was in the queue."""
    request = _last_request_event(item)
    task, plain = item.batch.task(), item.plain()
    responses = [task.read(annotation.response or {}, plain) for annotation in _annotations(item)]
    resolutions.mark([item.pk], Item.Resolution.ADJUDICATION)
    return Adjudication.objects.create(
        item=item,
        reason=(request.detail or {})["reason"] if request else UNDONE.format(),
        asked_by=request.actor if request else None,
        weight=_weight(item, task, plain, responses),
        asked_at=request.at if request else now,
    )


def _check_why(batch: Batch, note: str, listed_reason: str) -> None:
    """Refuse a decision without the note that its batch requires, or with a reason that the batch does not list."""
    if batch.note_required and not note:
        refuse("invalid_request", "This batch requires a note. Write why you decide this way.")
    reasons = listed_reasons(batch.adjudication_reasons)
    if listed_reason and listed_reason not in reasons:
        refuse(
            "invalid_request",
            "{reason!r} is not a reason of this batch. Available: {reasons}.",
            reason=listed_reason,
            reasons="; ".join(reasons),
        )


def _undone_detail(decision: Decision) -> dict[str, Any]:
    """What the log keeps of a decision that is undone."""
    outcomes = decision.outcomes.order_by("number").prefetch_related("annotations")
    texts = {"reason": decision.reason, "listed_reason": decision.listed_reason or "", "note": decision.note}
    return {
        "kind": decision.kind,
        **{name: str(text) for name, text in texts.items() if text},
        "outcomes": [
            {
                "response": outcome.response,
                "annotations": sorted(annotation.public_id for annotation in outcome.annotations.all()),
            }
            for outcome in outcomes
        ],
    }


def _last_request_event(item: Item) -> Event | None:
    """The event by which the item last came to an adjudicator, but for decisions that an adjudicator undid."""
    adjudication_events = Event.objects.filter(
        thing="item", thing_id=item.pk, after="adjudication"
    ).select_related("actor")
    events_with_reason = (
        event for event in adjudication_events.order_by("-pk") if (event.detail or {}).get("reason")
    )
    undone = (UNDONE.format(), UNDONE_SEND_BACK.format(), ACTION_UNDONE.format())
    return next((event for event in events_with_reason if event.detail["reason"] not in undone), None)


def _require_waiting(item: Item) -> None:
    if Decision.objects.filter(item=item).exists():
        refuse("decided", "This item has already been decided.")
    if not Adjudication.objects.filter(item=item).exists():
        refuse("invalid_request", "This item does not need adjudication.")


def _require_seen(item: Item, seen: str) -> None:
    """Refuse what rests on other responses than the item has: a letter may have become that of another one."""
    if seen and seen != in_one_text(by_letter(item, _annotations(item))):
        refuse("responses_changed", RESPONSES_CHANGED)


def _require_decidable(item: Item) -> bool:
    batch = item.batch
    return not item.is_gold and batch.purpose == Batch.Purpose.WORK and batch.set_aside_at is None


def _leave_to_adjudicator(item_id: int, now: datetime) -> bool:
    """Have an adjudicator look at an item that nobody else can answer. Its free places go: nobody is to come for them.

    Where only somebody asked in addition is lacking, and by now the others agree, the item is due instead.
    """
    with transaction.atomic():
        item = _locked(item_id)
        settled = (
            Decision.objects.filter(item=item).exists() or Adjudication.objects.filter(item=item).exists()
        )
        if settled or item.batch.closed_at is not None or item.submitted_count >= item.places_count:
            return False
        if Assignment.objects.filter(item=item, state=Assignment.State.LEASED).exists():
            return False  # somebody is at it after all
        reason, all_came = _missing_response_reason(item, NOBODY_MAY), _all_planned_came(item)
        orphaned_slots.drop_free(item)
        task, plain = item.batch.task(), item.plain()
        responses = [task.read(annotation.response or {}, plain) for annotation in _annotations(item)]
        if all_came and isinstance(
            decision_rules.resolve(task, item.batch.resolve, responses, plain), Accepted
        ):
            Item.objects.filter(pk=item.pk).update(due_at=now)
            return True
        _request_adjudication(item, reason, now, weight=_weight(item, task, plain, responses), before="open")
    return True


def _missing_response_reason(item: Item, why: str) -> str:
    """Why an adjudicator is asked about an item that lacks answers."""
    places = Place.objects.filter(item=item)
    answered = Assignment.objects.filter(item=item).submitted().values("place")
    missing = places.exclude(pk__in=answered)
    if missing.exists() and not missing.filter(added=False).exists():
        return ONE_MORE_LACKS.format(why=why)
    reason_message = {0: NOBODY_ANSWERED, 1: ONE_ANSWERED}.get(item.submitted_count, SOME_ANSWERED)
    return reason_message.format(number=item.submitted_count, of=item.places_count, why=why)


def _annotators(batch: Batch) -> set[int]:
    """Everybody (by id) who may annotate in the batch's project."""
    members = Membership.objects.filter(
        project_id=batch.project_id, removed_at__isnull=True, person__is_active=True
    )
    return {
        person
        for person, roles in members.values_list("person_id", "roles")
        if Permission.ANNOTATE in permissions(roles)
    }


def _all_planned_came(item: Item) -> bool:
    """Whether every planned place of the item has its response."""
    return not item.places.filter(added=False, taken=False).exists()


def _somebody_is_left(item: Item) -> bool:
    """Whether anybody may annotate here who neither had the item nor helped to make it."""
    had = set(item.assignments.values_list("person_id", flat=True))
    barred = set(item.exclusions.values_list("person_id", flat=True))
    return bool(_annotators(item.batch) - had - barred)


def _weight(item: Item, task: TaskType, plain: PlainItem, responses: Sequence[Any]) -> float:
    """How much it matters that somebody looks: how far the responses are apart, times what hangs on the item.

    That is every open batch that takes what comes of it, directly or through another; and, once its own batch is closed,
    the release, for which there is nothing else to wait for.
    """
    followers, batches = 0, [item.batch_id]
    while batches:
        batches = list(
            Batch.objects.filter(feeds_from__in=batches, closed_at__isnull=True).values_list("pk", flat=True)
        )
        followers += len(batches)
    hangs = followers + (item.batch.closed_at is not None)
    return round((0.5 + decision_rules.mean_distance(task, responses, plain)) * (1 + hangs), 4)


def _annotations(item: Item) -> list[Annotation]:
    """The newest revisions of the submitted assignments, in the order of their places."""
    return _annotations_of([item])[item.pk]


def _annotations_of(items: Sequence[Item]) -> dict[int, list[Annotation]]:
    submitted = Assignment.objects.filter(item__in=items).submitted()
    annotations_by_item: dict[int, list[Annotation]] = {item.pk: [] for item in items}
    related = submitted.select_related("annotation", "place", "person", "batch")
    for assignment in related.order_by("place__number", "pk"):
        if (annotation := assignment.annotation) is not None:
            annotation.assignment = assignment
            annotations_by_item[assignment.item_id].append(annotation)
    return annotations_by_item


def _choose_candidates(item: Item, choose: Sequence[str]) -> list[Candidate]:
    available = candidates(item)
    chosen = [c for c in available if c.letter in choose or c.annotation.public_id in choose]
    if len(chosen) != len(set(choose)):
        refuse("invalid_request", "Choose one of {value}.", value=", ".join(c.letter for c in available))
    return chosen


def _pieces(response: Mapping[str, Any] | None) -> set[tuple[str, str]]:
    """What a response is made of: each operation, cell, answer and text, under the name of its field."""
    pieces = set()
    for name, value in ((response or {}).get("data") or {}).items():
        for part in value if isinstance(value, list) else [value]:
            if part and isinstance(part, str | list | Mapping):
                pieces.add((name, canonical(_without_position(part))))
    return pieces


def _without_position(piece: Any) -> Any:
    """An operation without where its cell was shown (`at`): that is for readers, and may be left out."""
    if isinstance(piece, Mapping) and "op" in piece:
        return {name: value for name, value in piece.items() if name != "at"}
    return piece


def _merge_responses(resolution: Any, outcomes: tuple[Resolved, ...]) -> Any:
    """What the kind accepts of the chosen responses: equal labels are one outcome, edits stand beside each other."""
    if isinstance(resolution, Accepted) and resolution.outcomes and len(resolution.outcomes) == len(outcomes):
        return Accepted(outcomes, resolution.reason)
    return resolution


def _write(
    item: Item,
    resolution: Accepted,
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
    actor   who restores a decision that somebody else, or a rule, had made
    made_at when it was made, of a decision that is restored
    """
    kind = Decision.Kind.ACCEPTED if resolution.outcomes else Decision.Kind.EXCLUDED
    before = before or ("complete" if by is None else "adjudication")
    event = _record(item, before, kind.value, actor or by, now, based_on=based_on)
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
    for number, resolved in enumerate(resolution.outcomes, start=1):
        outcome = Outcome(decision=decision, number=number, response=task.envelope(resolved.response, plain))
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
        Batch.objects.filter(pk=item.batch_id).update(accepted_count=F("accepted_count") + 1)
    else:
        Batch.objects.filter(pk=item.batch_id).update(excluded_count=F("excluded_count") + 1)
    return decision


def _request_adjudication(
    item: Item,
    reason: str,
    now: datetime,
    *,
    weight: float = 0.5,
    again: bool = False,
    before: str = "complete",
) -> None:
    """Have an adjudicator look; where one was asked `again`, the item keeps its place in the line."""
    if again:
        waiting = Adjudication.objects.filter(item=item)
        if waiting.exclude(reason=reason).exists():
            _record(item, "adjudication", "adjudication", None, now, reason=reason)
        waiting.update(reason=reason, weight=weight)
        return
    Adjudication.objects.create(item=item, reason=reason, weight=weight, asked_at=now)
    resolutions.mark([item.pk], Item.Resolution.ADJUDICATION)
    _record(item, before, "adjudication", None, now, reason=reason)


def _ask_as_requested(item: Item, now: datetime) -> bool:
    """Have an adjudicator look because a person asked so before the item lacked responses. Says whether one did."""
    request = AdjudicationRequest.objects.filter(item=item).first()
    if request is None:
        return False
    request.delete()
    task, plain = item.batch.task(), item.plain()
    responses = [task.read(annotation.response or {}, plain) for annotation in _annotations(item)]
    Adjudication.objects.create(
        item=item,
        reason=request.reason,
        weight=_weight(item, task, plain, responses),
        asked_by_id=request.asked_by_id,
        asked_at=request.asked_at,
    )
    resolutions.mark([item.pk], Item.Resolution.ADJUDICATION)
    _record(item, "complete", "adjudication", None, now)
    return True


def _record(
    item: Item,
    before: str,
    after: str,
    by: Person | None,
    now: datetime,
    *,
    reason: str = "",
    based_on: Sequence[str] = (),
) -> Any:
    """An event of the item; `based_on` are the responses (ids) that an adjudicator's own one rests on."""
    detail = ({"reason": reason} if reason else {}) | ({"based_on": list(based_on)} if based_on else {})
    return audit_log.log(item, before, after, by=by, now=now, detail=detail or None)
