"""The annotator's journey: next item, drafts, submission, skip, flag, undo.

Pages and API call these functions with what `access` loaded. A submission is one transaction: the
annotation, the assignment's state, the counts and the log change together or not at all.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, DateTimeField, F, Value, When
from django.utils.text import Truncator
from django.utils.translation import gettext

import tasks.contract
from annotation.assistance import impressions, model_checks
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Draft,
    Flag,
    Item,
    PersonBatchCounts,
    Release,
    RevisionRequest,
    Slot,
)
from annotation.platform.prepared_statements import Update, param_int, param_time, pipeline
from annotation.platform.refusals import ActionRefused, refuse, require_storable
from annotation.quality import annotator_questions, consent, qualification
from annotation.queue import (
    entry_requirements,
    person_counts,
    reservations,
    revisions,
    slots,
    submissions,
    withdrawal,
)
from annotation.queue.entry_requirements import has_requirements
from tableqa.core.foreign_values import unstorable
from tasks.contract import InvalidResponse, MakingTask, Problem

State = Assignment.State

UNDO_WINDOW = withdrawal.UNDO_WINDOW
MOST_OF_AN_ANSWER = 400
"""Characters of a question, and of its answer, that are beside an item."""


@dataclass(frozen=True)
class SavedDraft:
    """What the page learns from saving: the new revision, when, what is wrong so far, old and new answer."""

    revision: int
    saved_at: datetime
    problems: tuple[Problem, ...]
    answer: Mapping[str, Any] | None


@dataclass(frozen=True)
class Validation:
    """What is wrong with a response so far, and its old and new answer (`TaskType.preview`)."""

    problems: tuple[Problem, ...]
    answer: Mapping[str, Any] | None


def payload(assignment: Any) -> dict[str, Any]:
    """What an annotator's page gets of an assignment that `access` loaded: what its task type shows, and nothing else."""
    batch, item = assignment.batch, assignment.plain_item
    task = batch.task()
    draft: Draft | None = getattr(assignment, "draft", None)
    return {
        "id": assignment.public_id,
        "state": assignment.state,
        "batch": {"id": batch.public_id, "name": batch.name},
        "item": assignment.item.public_id,
        **task.page_data(item),
        "draft": (
            {**_draft_payload(draft), "outdated": outdated(draft.response, task, item)}
            if draft is not None and draft.revision
            else None
        ),
        # The author of a returned response has it as the draft: no other person is asked about.
        "sent_back": _sent_back(assignment) if draft is not None and draft.revision else None,
        "annotation": (
            {"id": assignment.annotation.public_id, "revision": assignment.annotation.revision}
            if assignment.annotation
            else None
        ),
        "lease": {
            "seconds": int(reservations.LEASE.total_seconds()),
            "expires_at": assignment.leased_until.isoformat(),
        },
        "guidelines": assignment.guidelines_number,
        "progress": {
            "submitted": assignment.submitted_before or 0,
            # The number of items that a batch got reveals what others decided.
            "total": batch.items_count if batch.feeds_from_id is None else None,
        },
        "loop": model_checks.loop_description(batch),
        "help": impressions.mode(assignment),
        "same_question": _same_question(assignment) if "rated_answer" in task.shows else None,
        "answers": answers(assignment),
    }


def save_draft(
    *,
    assignment: Assignment,
    revision: int,
    response: Mapping[str, Any],
    now: datetime,
    scripts: bool = True,
) -> SavedDraft:
    """Keep what was typed. `revision` is the one it was typed on (0 at first); a stale one is refused.

    Drafts are always stored, also after the lease ran out. The problems found are
    information: only a submission is judged. `scripts` False is the form of a page without them.
    A draft may be as large as a response: only the size of a request is limited.
    Raises ActionRefused: stale_draft with the newer draft, already_submitted; consent_needed from
    a person who took their consent back: nothing more of them is stored.
    """
    if reason := unstorable(response):
        refuse(
            "invalid_request", "The draft contains {reason}, which cannot be saved. Remove it.", reason=reason
        )
    if assignment.state == State.SUBMITTED:
        refuse("already_submitted", "This item is submitted. Undo the submission to change it.")
    _require_consent_stands(assignment)
    task, item = assignment.batch.task(), assignment.plain_item
    with transaction.atomic():
        _touch(assignment, now, scripts=scripts)
        saved = _write_draft(assignment, revision, response, now)
    validation = validate_draft(response, task, item)
    return SavedDraft(saved, now, validation.problems, validation.answer)


def validate_draft(
    response: Mapping[str, Any], task: tasks.contract.TaskType, item: tasks.contract.Item
) -> Validation:
    """The checks of a response that a person works on, with any content."""
    problems: Sequence[Problem] = ()
    response = {**response, "data": task.with_operations(response.get("data"))}
    try:
        problems = task.warnings(task.receive(response, item), item)
    except InvalidResponse as invalid:
        problems = invalid.problems
    # Old and new answer hold the gold one: for task types that show it.
    has_answers = "answers" in task.shown_names(item)
    answer = (
        task.preview(response.get("data"), item) if has_answers and isinstance(task, MakingTask) else None
    )
    return Validation(tuple(problems), answer)


def outdated(response: Mapping[str, Any], task: tasks.contract.TaskType, item: tasks.contract.Item) -> str:
    """The note on a draft for an older version of the form; "" for one of this version."""
    version = response.get("version")
    if type(version) is not int or version >= task.version:
        return ""
    data = response.get("data")
    lost = task.unfitting_values(data if isinstance(data, Mapping) else {}, item)
    return " ".join(
        [
            gettext("The form has changed since you saved this draft. Check your answers."),
            *(
                [gettext("Not in the form any more: {values}.").format(values="; ".join(lost))]
                if lost
                else []
            ),
        ]
    )


def submit(
    *,
    assignment: Assignment,
    response: Mapping[str, Any],
    now: datetime,
    scripts: bool = True,
    confirmed: Collection[str] = (),
) -> Annotation:
    """Store the response as an annotation. Asking again with the same response returns the same annotation.

    A response of an older version of the task type is refused: its question was another one. `scripts` False is the
    form of a page without them, which gives no sign of life while a person works on it.
    A response that leaves conditions unmet (`TaskType.unmet`) needs a reason, or their codes in `confirmed`. `unsure` (true)
    beside its data means that the person is not sure: it is stored with the annotation, and is no part of the response.
    Raises `tasks.contract.InvalidResponse` with every problem; ActionRefused: unmet_conditions, already_submitted (another
    response), place_taken, batch_closed, decided.
    """
    return submit_and_next(
        assignment=assignment,
        response=response,
        then_next=False,
        holding=(),
        now=now,
        scripts=scripts,
        confirmed=confirmed,
    )[0]


def submit_and_next(
    *,
    assignment: Assignment,
    response: Mapping[str, Any],
    then_next: bool,
    holding: Sequence[str],
    now: datetime,
    scripts: bool = True,
    confirmed: Collection[str] = (),
) -> tuple[Annotation, Assignment | None]:
    """Submit and, when asked, take the next item in the same transaction: one commit for the annotator's loop.

    Raises what `submit` raises.
    """
    batch, person = assignment.batch, assignment.person
    at_once = then_next and batch.state == "open" and not has_requirements(batch)
    task, item = batch.task(), assignment.plain_item
    parsed = task.receive(response, item)
    stored = task.envelope(parsed, item)
    unsure = response.get("unsure") is True
    annotation, following = None, None
    if assignment.state != State.SUBMITTED:
        unmet = task.unmet(parsed, item)
        if not task.explains(parsed):
            _require_confirmed(unmet, confirmed)
        codes = sorted({problem.code for problem in unmet})
        if batch.closed_at is not None:
            refuse("batch_closed", "The batch was closed. Your draft is under My work.")
        if assignment.state == State.SKIPPED:
            refuse("place_taken", "You skipped this item.")
        try:
            with transaction.atomic():
                annotation, counts = _store(
                    assignment, stored, now, unmet=codes, unsure=unsure, scripts=scripts
                )
                if at_once:
                    following = reservations.take_next(
                        batch=batch, person=person, holding=holding, now=now, counts=counts
                    )
        except (IntegrityError, _SlotLost) as late:
            # A person was faster: another tab of this person, a retry, or a colleague after the lease ran out.
            related = ("annotation", "batch__definition")
            assignment = Assignment.objects.select_related(*related).get(pk=assignment.pk)
            annotation = None
            if assignment.annotation is None:
                assignment.batch.task().receive(response, item)  # refused if the definition changed meanwhile
                if isinstance(late.__cause__, ActionRefused):
                    raise late.__cause__ from None
                _require_undecided(assignment.item_id)
    if annotation is None:
        annotation = _existing_submission(assignment, stored, unsure=unsure)
    assignment.state, assignment.annotation = State.SUBMITTED, annotation
    if then_next and following is None:
        following = reservations.next_or_none(batch=batch, person=person, holding=holding, now=now)
    return annotation, following


def skip(*, assignment: Assignment, reason: str, now: datetime) -> None:
    """Give the item up for good, with a reason; another person gets the slot. Skipping twice is one skip."""
    reason = reason.strip()
    require_storable(reason)
    if not reason:
        refuse("invalid_request", "Enter a reason to skip this item.")
    if assignment.state == State.SUBMITTED:
        refuse("already_submitted", "This item is submitted. Undo the submission to skip it.")
    is_skipped = assignment.state == State.LEASED and reservations.give_back(
        assignment, state=State.SKIPPED, reason=reason[:500], now=now, actor=assignment.person
    )
    if not is_skipped:  # the lease had been taken back, perhaps a moment ago
        reservations.skip_returned(assignment, reason=reason[:500], now=now)
    qualification.after_submission(assignment, now)


def give_back(*, assignment: Assignment, now: datetime) -> None:
    """Return the item unanswered: the slot is free again, the draft stays with the person."""
    if assignment.state == State.SUBMITTED:
        refuse("already_submitted", "This item is submitted. Undo the submission first.")
    reservations.give_back(
        assignment, state=State.RETURNED, reason=reservations.GIVEN_BACK, now=now, actor=assignment.person
    )


def flag(*, assignment: Assignment, note: str, now: datetime) -> Flag:
    """Leave a note on the item for the manager. Nothing else changes; the same note twice is one note."""
    note = note.strip()
    require_storable(note)
    if not note:
        refuse("invalid_request", "Write what is wrong with this item.")
    stored_flag, _ = Flag.objects.get_or_create(
        assignment=assignment, note=note[:2000], defaults={"item_id": assignment.item_id, "made_at": now}
    )
    return stored_flag


def ping(*, assignment: Assignment, now: datetime) -> bool:
    """A sign of life: the lease is renewed and the time counts as work. False where no lease is held any more."""
    if assignment.state != State.LEASED:
        return False
    _touch(assignment, now)
    return True


def resume(*, assignment: Assignment, now: datetime) -> Assignment:
    """Open an assignment from My work: one that was returned is taken again where its slot is free.

    Raises ActionRefused: batch_closed, batch_paused, place_taken, and the code of an entry requirement that is not met.
    Limits and a pause do not apply to items in progress.
    """
    if assignment.state == State.RETURNED:
        reservations.take_again(assignment, now=now)
        reservations.reset_start(assignment, now=now)
    elif assignment.state == State.LEASED:
        if assignment.batch.state != "paused":  # what was begun may be finished
            reservations.require_open(assignment.batch)
        reservations.require_entry(assignment.batch, assignment.person, now=now, begun=True)
        reservations.renew(assignment)
    return assignment


def undo(*, annotation: Annotation, now: datetime) -> Assignment:
    """Withdraw the submission and open the item again with it as the draft; the slot is kept.

    Asking again while it is open changes nothing. Raises ActionRefused: decided, batch_closed, not_submitted, and the
    code of an entry requirement that is not met.
    """
    with transaction.atomic():
        assignment = Assignment.objects.select_related("batch__project", "person").get(
            pk=annotation.assignment_id
        )
        reservations.lock_item(assignment.item_id)  # undo and decision of one item take turns
        if assignment.batch.purpose == Batch.Purpose.QUALIFICATION:
            # With the submission that makes the result.
            person_counts.lock_person_counts(assignment.batch_id, assignment.person_id)
        assignment.refresh_from_db(fields=["state", "annotation"])
        if assignment.state == State.LEASED and annotation.response is not None:
            return assignment
        # In this order, so that gold, which is never decided, is refused with the message of an ordinary item.
        if assignment.batch.closed_at is not None:
            refuse("batch_closed", "The batch was closed. Its annotations cannot be changed.")
        _require_undecided(assignment.item_id)
        if qualification.result(assignment.batch, assignment.person) is not None:
            refuse(
                "decided",
                "The result of {name} is final. Your answers cannot be changed.",
                name=assignment.batch.name,
            )
        if withdrawal.decided_assignments([assignment.pk], now=now):
            raise _refuse_decided()
        if assignment.annotation_id != annotation.pk:
            refuse("not_submitted", "This annotation is not submitted, or a newer revision exists.")
        if Release.objects.holding(annotation).exists():
            refuse("decided", "This annotation has been released and cannot be changed.")
        # A person who could not submit it again would lose it.
        reservations.require_entry(assignment.batch, assignment.person, now=now, begun=True)
        revisions.withdraw(assignment, annotation, by=assignment.person, now=now)
    return assignment


def reopenable(assignments: Sequence[Assignment], *, now: datetime) -> set[int]:
    """Those of a person's assignments (ids) that they may open again: held, given back with a slot still free, or
    submitted and not decided or released. In five queries; wants `batch` and `annotation`.
    """
    open_ids = {
        assignment.pk
        for assignment in assignments
        if assignment.state == State.LEASED and assignment.batch.closed_at is None
    }
    withdrawable = withdrawal.withdrawable(assignments, now=now)
    if withdrawable:
        released = Release.objects.latest_watermarks(
            {assignment.batch.project_id for assignment in assignments}
        )
        open_ids |= {
            assignment.pk
            for assignment in assignments
            if assignment.pk in withdrawable
            and assignment.annotation is not None
            and (
                assignment.batch.purpose != Batch.Purpose.WORK
                or assignment.annotation.event_id > released.get(assignment.batch.project_id, 0)
            )
        }
    returned = [
        assignment
        for assignment in assignments
        if assignment.state == State.RETURNED
        and assignment.batch.state == "open"
        and assignment.reason not in reservations.BY_A_MANAGER
    ]
    if returned:
        used_up = reservations.used_up([assignment for assignment in returned if assignment.item.is_gold])
        items = [assignment.item_id for assignment in returned]
        decided = set(Decision.objects.filter(item__in=items).values_list("item_id", flat=True))
        free: dict[int, set[int | None]] = {}
        for item, person in Slot.objects.filter(item__in=items, is_taken=False).values_list(
            "item_id", "reserved_for_id"
        ):
            free.setdefault(item, set()).add(person)
        open_ids |= {
            assignment.pk
            for assignment in returned
            if assignment.item_id not in decided
            and not (assignment.item.is_gold and assignment.batch_id in used_up)
            and free.get(assignment.item_id, set()) & {None, assignment.person_id}
        }
    return open_ids


def send_back_notes(assignments: Sequence[Assignment]) -> dict[int, str]:
    """What adjudicators wrote of the responses that wait to be written again, by assignment (id): the newest note."""
    waiting_ids = [
        assignment.pk for assignment in assignments if assignment.state in (State.LEASED, State.RETURNED)
    ]
    notes = (
        RevisionRequest.objects.filter(assignment__in=waiting_ids).order_by("pk")
        if waiting_ids
        else RevisionRequest.objects.none()
    )
    return dict(notes.values_list("assignment_id", "note"))


def answers(assignment: Assignment) -> list[dict[str, Any]]:
    """Answers to the person's questions from this batch that they have not read; no statement where there is none."""
    if not assignment.person.unread_answers:
        return []
    unread = annotator_questions.unread_answers(assignment.person).filter(batch=assignment.batch_id)
    return [
        {
            "id": inquiry.public_id,
            "question": _shorten(inquiry.text),
            "answer": _shorten(inquiry.answer),
            "is_whole": len(inquiry.answer) <= MOST_OF_AN_ANSWER,
        }
        for inquiry in unread
    ]


# -- underneath -------------------------------------------------------------------------------------


class _SlotLost(Exception):
    """The slot is not the person's any more; what was begun is undone."""


_count_submission = Update(
    lambda: Item.objects.filter(pk=param_int("item")),
    submitted_count=F("submitted_count") + 1,
    due_at=Case(
        When(slots_count__lte=F("submitted_count") + 1, then=Value(param_time("due"))),
        default=None,
        output_field=DateTimeField(),
    ),
)


def _store(
    assignment: Assignment,
    stored: Mapping[str, Any],
    now: datetime,
    *,
    unmet: Sequence[str],
    unsure: bool,
    scripts: bool,
) -> tuple[Annotation, PersonBatchCounts]:
    """The submission and the person's counts after it, in the caller's transaction.

    Raises _SlotLost, IntegrityError, ActionRefused (decided).
    """
    if assignment.state == State.RETURNED:
        try:
            reservations.take_again(assignment, now=now)
        except ActionRefused as refused:
            raise _SlotLost from refused
        _require_undecided(assignment.item_id)
    batch = assignment.batch
    decides = batch.purpose == Batch.Purpose.WORK and not assignment.item.is_gold
    due = slots.due_at(batch, now + UNDO_WINDOW) if decides else None
    values, appending = revisions.append_steps(
        assignment,
        response=stored,
        before=State.LEASED,
        after=State.SUBMITTED,
        now=now,
        scripts=scripts,
        unmet=unmet,
        unsure=unsure,
    )
    rows = pipeline(
        # First, because it locks the item: submission, undo and decision take turns.
        _count_submission.step(item=assignment.item_id, due=due),
        *appending,
        *submissions.finishing(
            assignment,
            annotation=values["public_id"],
            response=stored,
            seconds=values["active_seconds"],
            now=now,
        ),
    )
    result = submissions.finished(assignment, rows)
    if result is None:
        raise _SlotLost
    key, revision, counts = result
    annotation = revisions.written_revision(values, key, revision)
    model_checks.record_submission(annotation, assignment=assignment, now=now)
    if assignment.batch.help:
        impressions.attribute(annotation, assignment=assignment)
    qualification.after_submission(assignment, now)
    return annotation, counts


def _require_confirmed(unmet: Sequence[Problem], confirmed: Collection[str]) -> None:
    """Raises ActionRefused(unmet_conditions) where a condition is unmet that is not among the confirmed codes."""
    if any(problem.code not in confirmed for problem in unmet):
        refuse(
            "unmet_conditions",
            " ".join(problem.message for problem in unmet),
            more={"unmet": [problem.to_dict() for problem in unmet]},
        )


def _same_question(assignment: Assignment) -> dict[str, int] | None:
    """Of several answers to one question in a batch: which one this is for the person, and how many there are."""
    example = assignment.item.example
    answers = Item.objects.filter(
        batch=assignment.batch_id,
        example__stored_table=example.stored_table_id,
        example__table_digest=example.table_digest,
        example__question=example.question,
    )
    total = answers.count()
    if total < 2:
        return None
    before = Assignment.objects.filter(
        item__in=answers, person=assignment.person_id, pk__lt=assignment.pk
    ).exclude(state=State.RETURNED)
    return {"number": before.count() + 1, "total": total}


def _sent_back(assignment: Assignment) -> str | None:
    """What an adjudicator wrote who gave the newest submission back."""
    notes = (
        RevisionRequest.objects.filter(assignment=assignment).order_by("-pk").values_list("note", flat=True)
    )
    return notes.first()


def _shorten(text: str) -> str:
    return Truncator(text).chars(MOST_OF_AN_ANSWER)


def _draft_payload(draft: Draft) -> dict[str, Any]:
    return {"revision": draft.revision, "response": draft.response, "saved_at": draft.saved_at.isoformat()}


def _write_draft(assignment: Assignment, revision: int, response: Mapping[str, Any], now: datetime) -> int:
    """The new revision number. A retry of the request that made the stored one is answered with it."""
    mine = Draft.objects.filter(assignment=assignment)
    if mine.filter(revision=revision).update(revision=revision + 1, response=response, saved_at=now):
        return revision + 1
    newer = mine.first()
    if newer is None and revision == 0:
        stored_draft, created = Draft.objects.get_or_create(
            assignment=assignment, defaults={"revision": 1, "response": response, "saved_at": now}
        )
        if created:
            return 1
        newer = stored_draft
    if newer is None or newer.response != response:
        refuse(
            "stale_draft",
            "This item was changed in another window after you opened it here.",
            more={"draft": _draft_payload(newer) if newer else None},
        )
    return newer.revision


def _touch(assignment: Assignment, now: datetime, *, scripts: bool = True) -> None:
    """Count the time since the last sign of life, if it was short, and renew a live lease."""
    # Of two signs that arrive together one counts: the other was loaded with a moment that is over.
    seen = Assignment.objects.filter(pk=assignment.pk, seen_at=assignment.seen_at)
    gap = revisions.since_last_sign(assignment, now, scripts=scripts)
    seen.update(seen_at=max(now, assignment.seen_at), active_seconds=F("active_seconds") + gap)
    reservations.renew(assignment)


def _require_consent_stands(assignment: Assignment) -> None:
    """Raises ActionRefused(consent_needed) where the person took their consent back. Items in progress were returned then,
    so only other ones are checked.
    """
    batch = assignment.batch
    if assignment.state == State.LEASED or not batch.project.consent_number:
        return
    if consent.has_withdrawn(batch.project, assignment.person):
        refuse(
            "consent_needed",
            "You have withdrawn your consent, so your work here is not saved. Agree again to "
            "continue this item.",
            more={"page": entry_requirements.missing_consent(batch).address},
        )


def _require_undecided(item_id: int) -> None:
    if Decision.objects.filter(item_id=item_id).exists():
        raise _refuse_decided()


def _refuse_decided() -> ActionRefused:
    return ActionRefused("decided", gettext("This item has been decided. Its annotations cannot be changed."))


def _existing_submission(assignment: Assignment, stored: Mapping[str, Any], *, unsure: bool) -> Annotation:
    if assignment.annotation is None:
        if assignment.state == State.SKIPPED:
            refuse("place_taken", "You skipped this item.")
        returned = assignment.state == State.RETURNED
        refuse("place_taken", reservations.why_gone(assignment.reason if returned else reservations.EXPIRED))
    if assignment.annotation.response != stored or bool(assignment.annotation.unsure) != unsure:
        refuse(
            "already_submitted",
            "You have already submitted another answer to this item, perhaps in another tab. Undo "
            "it to change it.",
        )
    return assignment.annotation
