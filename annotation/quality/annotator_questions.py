"""Questions to the manager, from an item or in general; once one is answered, all members of the project read both."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from annotation.access import audit_log
from annotation.models import Assignment, Event, Inquiry, Membership, Person, Project
from annotation.platform.refusals import refuse, require_storable

LONGEST = 2000


def ask(
    *, project: Project, person: Person, text: str, now: datetime, assignment: Assignment | None = None
) -> Inquiry:
    """Ask the manager, about an item in progress or in general. The same question twice is one question.

    Raises ActionRefused(invalid_request).
    """
    text = _checked_text(text, gettext("Enter a question."))
    with transaction.atomic():
        inquiry, is_new = Inquiry.objects.get_or_create(
            project=project,
            asked_by=person,
            assignment=assignment,
            text=text,
            answered_at=None,
            defaults={"asked_at": now, "batch": assignment.batch if assignment else None},
        )
        if is_new:
            audit_log.log(inquiry, "", "asked", by=person, now=now)
    return inquiry


def answer(*, inquiry: Inquiry, text: str, by: Person, now: datetime) -> None:
    """Answer a question, for all annotators to read; answering again replaces the answer. Raises
    ActionRefused(invalid_request)."""
    text = _checked_text(text, gettext("Enter an answer."))
    before = "answered" if inquiry.answered_at else "asked"
    if before == "answered" and inquiry.answer == text:
        return
    detail = audit_log.changed("answer", inquiry.answer, text) if before == "answered" else None
    with transaction.atomic():
        inquiry.answer, inquiry.answered_by, inquiry.answered_at = text, by, now
        inquiry.read_at = now if by.pk == inquiry.asked_by_id else None
        inquiry.save(update_fields=["answer", "answered_by", "answered_at", "read_at"])
        _count_unread(inquiry.asked_by_id)
        audit_log.log(inquiry, before, "answered", by=by, now=now, detail=detail)


def readable_inquiries(project: Project, person: Person, *, answers: bool) -> QuerySet[Inquiry]:
    """The questions of a project for a person: all for people who `answer` them, else the answered ones and their own.

    Open questions come first, the oldest on top; then answered ones, the newest on top. `answered_again`: the answer
    replaced another one; what that said is in the log.
    """
    again = Event.objects.filter(thing="inquiry", thing_id=OuterRef("pk"), before="answered")
    inquiries = (
        Inquiry.objects.filter(project=project)
        .select_related("asked_by", "answered_by", "batch", "assignment__item__example")
        .annotate(answered_again=Exists(again))
    )
    if not answers:
        inquiries = inquiries.filter(Q(answered_at__isnull=False) | Q(asked_by=person))
    return inquiries.order_by(F("answered_at").desc(nulls_first=True), "asked_at", "pk")


def unread_answers(person: Person) -> QuerySet[Inquiry]:
    """The person's questions whose answer they have not read, in projects that they belong to, oldest answer first."""
    here = Membership.objects.filter(project=OuterRef("project"), person=person, removed_at__isnull=True)
    inquiries = Inquiry.objects.filter(
        Exists(here), asked_by=person, answered_at__isnull=False, read_at__isnull=True
    )
    return inquiries.select_related("project", "batch").order_by("answered_at", "pk")


def mark_read(*, inquiries: Iterable[Inquiry], person: Person, now: datetime) -> set[int]:
    """The person has the answers to these questions before them. Returns which of them (ids) are new to them."""
    new = {
        inquiry.pk
        for inquiry in inquiries
        if inquiry.asked_by_id == person.pk and inquiry.answered_at is not None and inquiry.read_at is None
    }
    if new:
        with transaction.atomic():
            Inquiry.objects.filter(pk__in=new, read_at__isnull=True).update(read_at=now)
            _count_unread(person.pk)
        person.refresh_from_db(fields=["unread_answers"])
    return new


def _count_unread(person_id: int) -> None:
    unread = Inquiry.objects.filter(asked_by=person_id, answered_at__isnull=False, read_at__isnull=True)
    Person.objects.filter(pk=person_id).update(unread_answers=unread.count())


def open_count(project: Project) -> int:
    """How many questions wait for an answer."""
    return Inquiry.objects.filter(project=project, answered_at__isnull=True).count()


def _checked_text(text: str, otherwise: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    require_storable(text)
    if not text:
        refuse("invalid_request", otherwise)
    if len(text) > LONGEST:
        refuse("invalid_request", "Use at most {longest} characters.", longest=LONGEST)
    return text
