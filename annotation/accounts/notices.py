"""Notices in the product and by mail: the worker looks for what happened, so that no request waits for it.

    collect(now=now)   new notices of the last two days, each once for a person
    mail(now=now)      hands mails to the queue, for people who want them

What happened is read from the rows that it left, and a notice is known by person, kind and key: looking twice adds none.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import urljoin

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.access import visibility
from annotation.access.roles import Permission, permissions
from annotation.accounts.sign_up import has_mail
from annotation.models import (
    Adjudication,
    Batch,
    Inquiry,
    Item,
    Job,
    Membership,
    Notice,
    Person,
    Release,
    RevisionRequest,
)
from annotation.platform.task_queue import task
from annotation.queue import resolutions

WINDOW: Final = timedelta(days=2)
"""What happened earlier is no news: the worker was away, or the site had no notices yet."""
DAY: Final = timedelta(days=1)
NEVER, DAILY, AT_ONCE = "never", "daily", "at_once"
MAIL: Final = {
    NEVER: gettext_lazy("Never"),
    DAILY: gettext_lazy("Once a day"),
    AT_ONCE: gettext_lazy("At once"),
}
"""When a person gets mail (`Person.mail_notices`)."""
Kind = Notice.Kind
TEXTS: Final[Mapping[str, str]] = {
    Kind.FINISHED: gettext_noop("All items of {name} are decided."),
    Kind.ASKED: gettext_noop("{name}: an annotator asked a question."),
    Kind.ANSWERED: gettext_noop("{name}: your question has an answer."),
    Kind.SENT_BACK: gettext_noop("{name}: your response was sent back. Please revise it."),
    Kind.ADJUDICATION: gettext_noop("{name}: items wait for adjudication."),
    Kind.FAILED: gettext_noop("{name}: a job failed."),
    Kind.RELEASE: gettext_noop("{name}: a release is ready."),
}


def text_of(notice: Notice) -> str:
    """The notice in the reader's language. Wants batch and project loaded."""
    name = notice.project.name if notice.batch is None else notice.batch.name
    return gettext(TEXTS[notice.kind]).format(name=name)


def address_of(notice: Notice) -> str:
    """The path of the page on which the person can act."""
    batch = [] if notice.batch is None else [notice.batch.public_id]
    name, arguments = {
        Kind.FINISHED: ("batch", batch),
        Kind.ASKED: ("inquiries", [notice.project.slug]),
        Kind.ANSWERED: ("inquiries", [notice.project.slug]),
        Kind.SENT_BACK: ("my_work", []),
        Kind.ADJUDICATION: ("adjudication", batch),
        Kind.FAILED: ("job", [notice.key]),
        Kind.RELEASE: ("release", [notice.key]),
    }[Kind(notice.kind)]
    return reverse(name, args=arguments)


def mark_read(*, person: Person, now: datetime) -> None:
    """Mark all notices of a person as read."""
    with transaction.atomic():
        _lock([person.pk])
        Notice.objects.filter(person=person, read_at=None).update(read_at=now)
        _recount([person.pk])


def choose_mail(*, person: Person, mail: str) -> None:
    """When the person gets mail. A value that is none of `MAIL` changes nothing."""
    if mail in MAIL:
        Person.objects.filter(pk=person.pk).update(mail_notices=mail)
        person.mail_notices = mail


# -- what happened ----------------------------------------------------------------------------------


def collect(*, now: datetime) -> int:
    """Write the notices of what happened since `WINDOW`. Returns how many are new."""
    since = now - WINDOW
    happened = [*_questions(since), *_sent_back(since), *_failed(since), *_released(since)]
    happened += [*_waiting(since, now), *_finished()]
    here = Notice.objects.filter(key__in={row.key for row in happened})
    known_keys = set(here.values_list("person_id", "kind", "key"))
    new = [row for row in happened if (row.person_id, row.kind, row.key) not in known_keys]
    if not new:
        return 0
    people = sorted({row.person_id for row in new})
    for row in new:
        row.made_at = now
    with transaction.atomic():
        _lock(people)
        Notice.objects.bulk_create(new, ignore_conflicts=True)
        _recount(people)
    return len(new)


def _members(project: int, permission: Permission) -> list[Person]:
    """Present members who may do this and can read notices."""
    rows = Membership.objects.filter(project=project, removed_at__isnull=True).select_related("person")
    rows = rows.filter(person__is_active=True, person__is_simulated=False, person__is_external=False)
    return [row.person for row in rows.order_by("pk") if permission in permissions(row.roles)]


def _notices(kind: Kind, key: object, people: Iterable[Person], **about: Any) -> Iterator[Notice]:
    for person in people:
        yield Notice(person=person, kind=kind, key=str(key), **about)


def _questions(since: datetime) -> Iterator[Notice]:
    rows = Inquiry.objects.select_related("asked_by", "batch")
    for row in rows.filter(asked_at__gte=since, answered_at=None):
        people = [each for each in _members(row.project_id, Permission.SET_UP) if each != row.asked_by]
        yield from _notices(Kind.ASKED, row.public_id, people, project_id=row.project_id, batch=row.batch)
    for row in rows.filter(answered_at__gte=since, read_at=None):
        about = {"project_id": row.project_id, "batch": row.batch}
        yield from _notices(Kind.ANSWERED, row.public_id, [row.asked_by], **about)


def _sent_back(since: datetime) -> Iterator[Notice]:
    rows = RevisionRequest.objects.filter(made_at__gte=since, assignment__state="leased")
    for row in rows.select_related("assignment__person", "assignment__batch"):
        batch, person = row.assignment.batch, row.assignment.person
        yield from _notices(Kind.SENT_BACK, row.pk, [person], project_id=batch.project_id, batch=batch)


def _failed(since: datetime) -> Iterator[Notice]:
    rows = Job.objects.filter(state=Job.State.FAILED, heartbeat__gte=since, made_by__isnull=False)
    for row in rows.select_related("made_by"):
        people = [row.made_by] if row.made_by is not None else []
        yield from _notices(Kind.FAILED, row.public_id, people, project_id=row.project_id)


def _released(since: datetime) -> Iterator[Notice]:
    for row in Release.objects.filter(ready_at__gte=since):
        people = _members(row.project_id, Permission.RELEASE)
        yield from _notices(Kind.RELEASE, row.public_id, people, project_id=row.project_id)


def _waiting(since: datetime, now: datetime) -> Iterator[Notice]:
    """One notice a day for each batch whose items wait, to people who may adjudicate one of them."""
    new = Adjudication.objects.filter(asked_at__gte=since).values("item__batch")
    for batch in Batch.objects.filter(pk__in=new):
        for person in _members(batch.project_id, Permission.ADJUDICATE):
            if visibility.adjudicable(person, resolutions.waiting(batch)).exists():
                key, about = (
                    f"{batch.public_id} {now:%Y-%m-%d}",
                    {"project_id": batch.project_id, "batch": batch},
                )
                yield from _notices(Kind.ADJUDICATION, key, [person], **about)


def _finished() -> Iterator[Notice]:
    """Open batches of which every item is decided, and no item can follow from another batch."""
    undecided = Item.objects.filter(batch=OuterRef("pk"), is_gold=False).exclude(
        resolution__in=visibility.DECIDED
    )
    noticed = Notice.objects.filter(kind=Kind.FINISHED, key=OuterRef("public_id"))
    rows = Batch.objects.filter(opened_at__isnull=False, closed_at=None, purpose=Batch.Purpose.WORK)
    rows = rows.filter(Q(feeds_from=None) | Q(feeds_from__closed_at__isnull=False))
    rows = rows.filter(~Exists(noticed), Q(accepted_count__gt=0) | Q(excluded_count__gt=0))
    for batch in rows.filter(~Exists(undecided)):
        people = [
            person
            for person in _members(batch.project_id, Permission.SET_UP)
            if visibility.sees_counts(person, batch)
        ]
        yield from _notices(Kind.FINISHED, batch.public_id, people, project_id=batch.project_id, batch=batch)


def _lock(people: Iterable[int]) -> None:
    rows = Person.objects.select_for_update(no_key=True).filter(pk__in=list(people)).order_by("pk")
    list(rows.values_list("pk"))


def _recount(people: Iterable[int]) -> None:
    unread = Notice.objects.filter(person__in=people, read_at=None).order_by()
    counts = dict(unread.values_list("person").annotate(n=Count("pk")))
    for person in people:
        Person.objects.filter(pk=person).update(unread_notices=counts.get(person, 0))


# -- mail -------------------------------------------------------------------------------------------


def mail(*, now: datetime) -> int:
    """Queue a mail for each person who wants one now. Returns how many."""
    if not has_mail():
        return 0
    unread = Notice.objects.filter(read_at=None, mailed_at=None, made_at__gte=now - WINDOW)
    people = Person.objects.filter(pk__in=unread.values("person"), is_active=True, email__isnull=False)
    due = people.annotate(last=Max("notices__mailed_at")).filter(
        Q(mail_notices=AT_ONCE) | Q(mail_notices=DAILY) & (Q(last=None) | Q(last__lte=now - DAY))
    )
    count = 0
    for person in due.order_by("pk"):
        # Of several workers one gets the notices; a mail that fails gives them back.
        if unread.filter(person=person).update(mailed_at=now):
            transaction.on_commit(partial(send.enqueue, person.pk, now.isoformat()))
            count += 1
    return count


@task()
def send(key: int, mailed_at: str) -> str:
    """Send one mail with the notices of a person that were chosen at this time; what the queue calls."""
    chosen = Notice.objects.filter(person=key, mailed_at=datetime.fromisoformat(mailed_at))
    person = Person.objects.filter(pk=key, is_active=True, email__isnull=False).first()
    notices = list(chosen.select_related("project", "batch").order_by("pk"))
    if person is None or not notices:
        return "none"
    lines = [f"{text_of(notice)}\n{urljoin(settings.PUBLIC_URL, address_of(notice))}" for notice in notices]
    body = gettext("Hello {name},\n\n{notices}\n\nChange when you get these mails: {address}\n").format(
        name=person.name, notices="\n\n".join(lines), address=urljoin(settings.PUBLIC_URL, reverse("notices"))
    )
    try:
        send_mail(gettext("Askew: {number} new").format(number=len(notices)), body, None, [str(person.email)])
    except OSError:  # the server of the mail: it is tried again
        chosen.update(mailed_at=None)
        raise
    return "sent"
