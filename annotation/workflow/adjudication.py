"""Decisions by adjudicators: accept responses, write one, exclude the item, or send a response back; and undo.

An adjudicator of an item never had it, made it, nor may still annotate in its batch (`visibility.may_adjudicate`):
readers of responses here are refused for as long as the batch is open to them as an annotator.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import DatabaseError, transaction
from django.utils.translation import gettext_noop

from annotation.access import audit_log
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Correction,
    Decision,
    Draft,
    Event,
    Item,
    Person,
    Project,
    Release,
    RevisionRequest,
)
from annotation.models.batch_options.adjudication import listed_reasons
from annotation.platform.refusals import ActionRefused, refuse, require_storable
from annotation.quality import compared_responses
from annotation.queue import allocation, candidates, decision_undo, decisions, resolutions, revisions
from annotation.queue.candidates import Candidate, choose_candidates
from annotation.queue.decisions import ItemResponses
from tableqa.core.canonical_json import canonical
from tableqa.core.translation import message, translate_stored
from tasks.contract import Acceptance, InvalidResponse, Resolution
from tasks.contract import Outcome as Resolved

log = logging.getLogger(__name__)

# Reasons are stored, and published in English.
NOT_SENT_BACK = message("adjudicating.not_sent_back", "Sending the response back was undone.")
ACTION_UNDONE = message("adjudicating.action_undone", "The action on several items was undone.")
UNDONE = message("adjudicating.undone", "The adjudicator took the decision back.")
UNDONE_SEND_BACK = message("adjudicating.undone_send_back", "The adjudicator undid sending a response back.")
RESPONSES_CHANGED = gettext_noop(
    "The responses changed after this page was loaded. Look at them again before you decide."
)
SITTING: Final = timedelta(minutes=30)
"""A longer pause between two decisions of a person ends a sitting."""
MOST_OF_A_SITTING: Final = 2_000


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
    with: the same operation, cell, answer or words. Their authors count as makers, too.
    `listed_reason` is one of the batch's reasons with a key. A note is needed where the batch requires one; where the item
    is excluded, the reason may replace it. `seen` are the responses (`in_one_text`) that were shown with their letters.
    Raises ActionRefused: decided, responses_changed, invalid_request; `tasks.contract.InvalidResponse` for a response that
    does not hold.
    """
    note = note.strip() or exclude.strip()
    require_storable(note, exclude, listed_reason)
    if [bool(choose), response is not None, bool(exclude.strip())].count(True) != 1:
        refuse(
            "invalid_request",
            "Choose responses, write a response, or exclude the item. Do only one of the three.",
        )
    with _refusing_failures(item), transaction.atomic():
        item = decisions.lock(item.pk)
        _require_waiting(item)
        _require_seen(item, seen)
        _check_why(item.batch, note, listed_reason)
        task, plain = item.batch.task(), item.plain()
        annotations: list[Annotation] = []
        rests_on: list[str] = []
        resolution: Resolution
        if exclude.strip():
            resolution = Acceptance((), exclude.strip())
        elif response is not None:
            resolution = task.resolve_adjudicated([task.receive(response, plain)], plain)
            named = {candidate.annotation.pk for candidate in choose_candidates(item, based_on)}
            rests_on = [
                annotation.public_id
                for annotation in candidates.annotations(item)
                if annotation.pk in named or _pieces(annotation.response) & _pieces(response)
            ]
        else:
            chosen = choose_candidates(item, choose)
            annotations = [candidate.annotation for candidate in chosen]
            outcomes = tuple(Resolved(c.response, (index,)) for index, c in enumerate(chosen))
            resolution = _merge_responses(
                task.resolve_adjudicated([c.response for c in chosen], plain), outcomes
            )
        if not isinstance(resolution, Acceptance):
            refuse(
                "invalid_request",
                "These responses cannot be accepted together: {reason}",
                reason=translate_stored(resolution.reason),
            )
        return decisions.write(
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

    The log keeps what was decided. Raises ActionRefused: invalid_request where the person did not decide the item; decided
    where a release contains the decision or work rests on it.
    """
    with transaction.atomic():
        item = decisions.lock(item.pk)
        decision = Decision.objects.filter(item=item, made_by=by).select_related("event").first()
        if decision is None or not decisions.is_decidable(item):
            refuse("invalid_request", "You have not decided this item, so there is nothing to undo.")
        decision.item = item
        take_back(decision=decision, by=by, reason=UNDONE.format(), after="adjudication", now=now)
        return _wait_again(item, now)


def undo_send_back(*, item: Item, by: Person, now: datetime) -> list[RevisionRequest]:
    """Take back that the person sent a response back: it counts again, and the item waits for an adjudicator again.

    Returns what was written to the author. Raises ActionRefused: invalid_request where the person sent nothing back that
    waits for its author; decided where the author has continued, or a release holds the change.
    """
    with transaction.atomic():
        item = decisions.lock(item.pk)
        sent = _sent_back_by(item, by)
        if not sent or Decision.objects.filter(item=item).exists() or not decisions.is_decidable(item):
            refuse("invalid_request", "You have sent nothing of this item back, so there is nothing to undo.")
        reinstate_responses(item=item, annotations=[row.annotation_id for row in sent], by=by, now=now)
        audit_log.log(
            item, "sent back", "adjudication", by=by, now=now, detail={"reason": UNDONE_SEND_BACK.format()}
        )
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


def sitting(project: Project, person: Person, now: datetime) -> list[str]:
    """The items (ids) that the person decided in the project without a break of 30 minutes until now, newest first."""
    own_decisions = Decision.objects.filter(item__batch__project=project, made_by=person).order_by(
        "-event_id"
    )
    items: list[str] = []
    later = now
    for item, made_at in own_decisions.values_list("item__public_id", "made_at")[:MOST_OF_A_SITTING]:
        if later - made_at > SITTING:
            break
        items.append(item)
        later = made_at
    return items


@dataclass(frozen=True)
class LastAct:
    """What undo takes back next.

    item           its id, "" where there is nothing to undo
    is_passed_over a response was sent back later, and its author has already continued with it
    """

    item: str = ""
    is_passed_over: bool = False


def last_act(project: Project, person: Person, now: datetime, decided: str = "") -> LastAct:
    """The person's last act in the project, within a sitting: a decision, or a response that they sent back.

    decided: the item (id) that they decided last, the first of `sitting`; "" where there is none.
    """
    sent = RevisionRequest.objects.filter(
        assignment__batch__project=project, made_by=person, made_at__gte=now - SITTING
    )
    last = sent.select_related("assignment__item__batch").order_by("-made_at", "-pk").first()
    own_decisions = Decision.objects.filter(item__batch__project=project, made_by=person)
    if last is None or own_decisions.filter(made_at__gte=last.made_at).exists():
        return LastAct(decided)
    item = last.assignment.item
    if item.batch.closed_at is None and _is_untouched(_sent_back_by(item, person)):
        return LastAct(item.public_id)
    return LastAct(decided, is_passed_over=True)


def send_back(
    *, item: Item, by: Person, choose: str, note: str, now: datetime, seen: str = ""
) -> RevisionRequest:
    """Give one response (its letter or annotation id) back to its author, with a note.

    The submission is withdrawn by a revision that follows it; its author holds the item again, with what they had
    written as the draft. It waits for no adjudicator until they have submitted: then the item is resolved like any other.
    `seen` as in `decide`. Raises ActionRefused: decided, responses_changed, invalid_request, batch_closed, author_gone.
    """
    require_storable(note)
    if not note.strip():
        refuse("invalid_request", "Write what is wrong with the response. The author sees this note.")
    with transaction.atomic():
        item = decisions.lock(item.pk)
        _require_waiting(item)
        _require_seen(item, seen)
        (candidate,) = choose_candidates(item, [choose])
        annotation = candidate.annotation
        if item.batch.closed_at is not None:
            refuse(
                "batch_closed",
                "The batch is closed, so responses cannot be sent back. Decide or exclude the item.",
            )
        if Release.objects.holding(annotation).exists() and not item.corrections.exists():
            refuse("decided", "This response has been released and cannot be changed.")
        if annotation.assignment.person_id not in allocation.annotator_ids(item.batch.project_id):
            refuse(
                "author_gone",
                "The author of this response is no longer an annotator here. Decide or exclude the item.",
            )
        sent = _withdraw(annotation, item, by, note.strip(), now)
        audit_log.log(item, "adjudication", "sent back", by=by, now=now)
        return sent


def exclude(*, item: Item, by: Person, reason: str, before: str, now: datetime) -> Decision:
    """Exclude an item that is undecided, in any state `before`. It is not served any more.

    The caller holds its lock, in a transaction, and has ended its leases.
    """
    Item.objects.filter(pk=item.pk).update(due_at=None)
    return decisions.write(item, Acceptance((), reason), [], by=by, note=reason, before=before, now=now)


def ask_adjudicator(*, item: Item, by: Person, reason: str, before: str, now: datetime) -> None:
    """Send a complete item to adjudication, whatever it contains. The caller holds its lock."""
    Item.objects.filter(pk=item.pk).update(due_at=None)
    weight = ItemResponses.of(item).weight()
    resolutions.request_adjudication(item, reason, weight=weight, asked_by=by.pk, asked_at=now)
    if before not in Decision.Kind.values:  # else the event of the decision that was taken back has it
        audit_log.log(item, before, "adjudication", by=by, now=now, detail={"reason": reason})


def send_all_back(*, item: Item, by: Person, note: str, before: str, now: datetime) -> list[int]:
    """Give all responses to an undecided item back to their authors, with a note. The caller holds its lock.

    Returns the annotations (keys), for `reinstate_responses`.
    """
    annotations = candidates.annotations(item)
    for annotation in annotations:
        _withdraw(annotation, item, by, note, now)
    if before not in Decision.Kind.values:  # else the event of the decision that was taken back has it
        audit_log.log(item, before, "sent back", by=by, now=now)
    return [annotation.pk for annotation in annotations]


def reinstate_responses(*, item: Item, annotations: Sequence[int], by: Person, now: datetime) -> None:
    """Have responses (keys) that were sent back count again. The caller holds the lock of the item.

    Raises ActionRefused (decided) where an author has continued, or a release holds the change.
    """
    rows = RevisionRequest.objects.filter(annotation__in=annotations).select_related(*SENT_BACK_WITH)
    sent = list(rows.order_by("pk"))
    if len(sent) != len(annotations) or not _is_untouched(sent):
        refuse("decided", "An author has already worked on the response that was sent back.")
    for row in sent:
        assignment = row.assignment
        if Release.objects.holding(revisions.latest(assignment)).exists():
            refuse("decided", "This response has been released and cannot be changed.")
        row.delete()
        revisions.reinstate(assignment, row.annotation, reason=NOT_SENT_BACK.format(), by=by, now=now)


def take_back(
    *, decision: Decision, by: Person, reason: str, after: str, now: datetime, corrects: bool = False
) -> dict[str, Any]:
    """Take back a decision on which nothing rests. Returns what `restore` needs. The caller holds the lock of its item.

    With `corrects`, also one that releases contain: they keep it, and the next one names the correction with its reason.
    Raises ActionRefused (decided) as `decision_undo.retract`.
    """
    outcomes = decision.outcomes.order_by("number").prefetch_related("annotations")
    texts = {"reason": decision.reason, "listed_reason": decision.listed_reason or "", "note": decision.note}
    undone = {
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
    detail = {"reason": reason, "undone": undone}
    based_on = (decision.event.detail or {}).get("based_on", [])
    event = audit_log.log(decision.item, decision.kind, after, by=by, now=now, detail=detail)
    decision_undo.retract(decision, event=event, corrects=corrects)
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
    """Decide an item again as it was before `take_back`. The caller holds its lock and knows that it is undecided.

    Raises ActionRefused (decided): a release names the correction.
    """
    correction = Correction.objects.filter(event=undone_decision["event"])
    project = item.batch.project_id
    if correction.exists() and Release.objects.kept().filter(
        project=project, watermark__gte=undone_decision["event"]
    ):
        refuse("decided", "A release names this correction, so it cannot be undone.")
    correction.delete()
    undone = (Event.objects.get(pk=undone_decision["event"]).detail or {})["undone"]
    task = item.batch.task()
    annotations = candidates.annotations(item)
    indices = {annotation.assignment_id: index for index, annotation in enumerate(annotations)}
    # Of all revisions: a response that was sent back and counts again has a new one.
    rows = Annotation.objects.filter(assignment__in=indices).values_list("public_id", "assignment_id")
    positions = {public_id: indices[assignment] for public_id, assignment in rows}
    outcomes = tuple(
        Resolved(
            compared_responses.restore_response(task, outcome["response"]),
            tuple(positions[annotation_id] for annotation_id in outcome["annotations"]),
        )
        for outcome in undone["outcomes"]
    )
    Item.objects.filter(pk=item.pk).update(due_at=None)
    return decisions.write(
        item,
        Acceptance(outcomes, undone_decision["reason"]),
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
    holds, unless its item is corrected.
    """
    if item.batch.closed_at is not None:
        return []
    if item.corrections.exists():
        return [candidate.letter for candidate in responses]
    released = Release.objects.latest_watermarks([item.batch.project_id]).get(item.batch.project_id, 0)
    return [candidate.letter for candidate in responses if candidate.annotation.event_id > released]


# -- underneath -------------------------------------------------------------------------------------


@contextmanager
def _refusing_failures(item: Item) -> Iterator[None]:
    """Refuse what the item's task type fails on, which may be another person's code. Nothing is written then."""
    try:
        yield
    except (ActionRefused, InvalidResponse, DatabaseError):
        raise
    except Exception as error:
        log.exception("item %s cannot be decided", item.pk)
        refuse(
            "invalid_request",
            "The task type failed on this decision ({error}). Choose or write another response, or exclude the item.",
            error=type(error).__name__,
        )


SENT_BACK_WITH: Final = ("annotation__event", "assignment__batch", "assignment__person", "assignment__item")


def _withdraw(annotation: Annotation, item: Item, by: Person, note: str, now: datetime) -> RevisionRequest:
    """Give one response back to its author."""
    assignment = annotation.assignment
    assignment.batch, assignment.item = item.batch, item
    revisions.withdraw(assignment, annotation, by=by, now=now)
    return RevisionRequest.objects.create(
        assignment=assignment, annotation=annotation, note=note, made_by=by, made_at=now
    )


def _sent_back_by(item: Item, person: Person) -> list[RevisionRequest]:
    """The responses of the item that the person sent back last, in one act, if the item waited for an adjudicator then."""
    acts = Event.objects.filter(thing="item", thing_id=item.pk, after="sent back").order_by("-pk")
    last = acts.first()
    if last is None or (last.before, last.actor_id) != ("adjudication", person.pk):
        return []
    sent = RevisionRequest.objects.filter(assignment__item=item, made_by=person, made_at=last.at)
    return list(sent.select_related(*SENT_BACK_WITH).order_by("pk"))


def _is_untouched(sent: Sequence[RevisionRequest]) -> bool:
    """Whether responses that were sent back are untouched: neither submitted nor changed the draft."""
    for row in sent:
        latest = revisions.latest(row.assignment)
        draft = Draft.objects.filter(assignment=row.assignment, saved_at=latest.made_at)
        is_withdrawn = latest.response is None and latest.revision == row.annotation.revision + 1
        if row.assignment.state != Assignment.State.LEASED or not is_withdrawn or not draft.exists():
            return False
    return bool(sent)


def _wait_again(item: Item, now: datetime) -> Adjudication:
    """Have an undecided item wait for an adjudicator where it was in the queue."""
    # What last brought the item to an adjudicator, but for decisions that an adjudicator undid.
    requests = Event.objects.filter(thing="item", thing_id=item.pk, after="adjudication").order_by("-pk")
    other = (None, "", UNDONE.format(), UNDONE_SEND_BACK.format(), ACTION_UNDONE.format())
    request = next((event for event in requests if (event.detail or {}).get("reason") not in other), None)
    return resolutions.request_adjudication(
        item,
        (request.detail or {})["reason"] if request else UNDONE.format(),
        asked_by=request.actor_id if request else None,
        weight=ItemResponses.of(item).weight(),
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


def _require_waiting(item: Item) -> None:
    if Decision.objects.filter(item=item).exists():
        refuse("decided", "This item has already been decided.")
    if not Adjudication.objects.filter(item=item).exists():
        refuse("invalid_request", "This item does not need adjudication.")


def _require_seen(item: Item, seen: str) -> None:
    """Refuse what rests on other responses than the item has: a letter may have become that of another one."""
    if seen and seen != candidates.in_one_text(candidates.by_letter(item, candidates.annotations(item))):
        refuse("responses_changed", RESPONSES_CHANGED)


def _pieces(response: Mapping[str, Any] | None) -> set[tuple[str, str]]:
    """What a response is made of: each operation, cell, answer and text, under the name of its field."""
    pieces = set()
    for name, value in ((response or {}).get("data") or {}).items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Mapping) and "op" in part:
                # Without where the cell was shown: that is for readers, and may be left out.
                part = {key: content for key, content in part.items() if key != "at"}
            if part and isinstance(part, str | list | Mapping):
                pieces.add((name, canonical(part)))
    return pieces


def _merge_responses(resolution: Any, outcomes: tuple[Resolved, ...]) -> Any:
    """What the task type accepts of the chosen responses: equal labels are one outcome, edits are separate outcomes."""
    if (
        isinstance(resolution, Acceptance)
        and resolution.outcomes
        and len(resolution.outcomes) == len(outcomes)
    ):
        return Acceptance(outcomes, resolution.reason)
    return resolution
