"""My work: everything that the person has in progress or behind them, with what can still be changed."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.accounts import draft_text, own_work, work_sessions, worked_examples
from annotation.models import Assignment, Batch, Inquiry, Person
from annotation.payments import earnings
from annotation.quality import annotator_questions
from annotation.web.views.pages import PageRequest, kind_title, page, paginate_wide
from annotation.workflow import assignments
from tasks.contract import UnknownTaskType

State = Assignment.State


@page()
def my_work(request: PageRequest) -> HttpResponse:
    """The person's items, newest first: all of them, or those that the search, the batch and the state leave."""
    actor = authorization.actor(request)
    projects = [
        *authorization.projects(actor),
        *(membership.project for membership in authorization.former_memberships(actor)),
    ]
    chosen = {name: request.GET.get(name, "").replace("\0", "").strip() for name in ("q", "batch", "state")}
    work = paginate_wide(request, _matching(authorization.own_assignments(actor), chosen))
    rows = list(work)
    _describe(rows, set(authorization.projects_with_permission(actor, Permission.ANNOTATE)))
    mine = Assignment.objects.filter(person=actor.person, batch=OuterRef("pk"))
    batches = Batch.objects.filter(Exists(mine), project__in=projects).order_by("-opened_at", "-pk")
    context = {
        "page": work,
        "rows": rows,
        "State": State,
        "answers": _new_answers(request.user),
        "session": work_sessions.session(person=actor.person, projects=projects, now=timezone.now()),
        "shares": [share for share in earnings.shares_of_person(request.user, projects) if _has_work(share)],
        "batches": batches.values_list("public_id", "name"),
        "chosen": chosen,
        "filtered": any(chosen.values()),
        "query": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "annotating/my_work.html", context)


@page()
def worked_examples_page(request: PageRequest, public_id: str) -> HttpResponse:
    """Examples of accepted and returned work for the task type of a batch: for pages without scripts."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.ANNOTATE)
    context = {
        "batch": batch,
        "task": batch.task(),
        "examples": worked_examples.worked_examples(batch, request.user),
    }
    return render(request, "annotating/worked_examples.html", context)


def _new_answers(person: Person) -> list[Inquiry]:
    """Answers to the person's questions that they have not read until now."""
    answered = list(annotator_questions.unread_answers(person)) if person.unread_answers else []
    annotator_questions.mark_read(inquiries=answered, person=person, now=timezone.now())
    return answered


def _has_work(share: earnings.Share) -> bool:
    """Whether a line of the summary would show more than zeros; a batch that was only opened has none."""
    return bool(share.items or share.skipped or round(share.minutes, 1))


def _matching(work: QuerySet[Assignment], chosen: Mapping[str, str]) -> QuerySet[Assignment]:
    """Those that the filters leave; a state or a batch that does not exist leaves none."""
    if chosen["q"]:
        work = work.filter(item__example__question__icontains=chosen["q"])
    if chosen["batch"]:
        work = work.filter(batch__public_id=chosen["batch"])
    return work.filter(state=chosen["state"]) if chosen["state"] else work


def _describe(rows: list[Any], annotates: set[int]) -> None:
    """Write on each assignment what its line says: the response or draft in words, the time, what can be changed.

    annotates: the projects (ids) in which the person annotates; in others their work is there to be read.
    """
    now = timezone.now()
    may_open = assignments.reopenable(rows, now=now)
    notes = assignments.send_back_notes(rows)
    for assignment in rows:
        assignment.answered = assignment.unsure = assignment.until = assignment.kept = None
        assignment.kind = kind_title(assignment.batch)
        assignment.may_open = assignment.pk in may_open and assignment.batch.project_id in annotates
        assignment.note = notes.get(assignment.pk, "")
        assignment.minutes = assignment.active_seconds / 60
        if assignment.state == State.SUBMITTED:
            assignment.answered = own_work.own_words(assignment)
            assignment.unsure = assignment.annotation is not None and assignment.annotation.unsure
            assignment.until = (
                own_work.changeable_until(assignment, now)
                if assignment.may_open
                else own_work.why_final(assignment)
            )
        elif assignment.batch.state != "open" or assignment.state == State.SKIPPED:
            assignment.kept = _draft(assignment)


def _draft(assignment: Assignment) -> list[str]:
    """What a draft says that cannot be opened any more; nothing where its task type is not installed."""
    draft = getattr(assignment, "draft", None)
    data = draft.response.get("data") if draft is not None else None
    if not isinstance(data, Mapping):
        return []
    try:
        return draft_text.draft_in_words(assignment.batch.task(), data, assignment.plain_item)
    except UnknownTaskType:
        return []
