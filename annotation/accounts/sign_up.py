"""Accounts of the whole site: a forgotten password, and what administrators do about accounts.

A reset link is good for one new password, for a day: it depends on the password, the last sign-in and the session epoch, so
that using it, signing in or signing out everywhere ends it. Only the person's own mailbox or an administrator gets one:
managers of a project could otherwise take over an account that belongs to other projects, too.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urljoin

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.http import base36_to_int, int_to_base36
from django.utils.translation import gettext, gettext_noop

from annotation.access import audit_log
from annotation.models import Membership, Person
from annotation.platform.refusals import refuse
from annotation.platform.task_queue import task
from annotation.workflow import projects

GONE = gettext_noop("This link does not work or is no longer valid. Ask for a new one.")


class _Tokens(PasswordResetTokenGenerator):
    key_salt = "annotation.accounts.reset"

    def _make_hash_value(self, user: Person, timestamp: int) -> str:
        return f"{super()._make_hash_value(user, timestamp)}{user.session_epoch}{user.is_active}"


_tokens = _Tokens()

# -- a forgotten password ---------------------------------------------------------------------------


def has_mail() -> bool:
    """Whether a mail server is configured (EMAIL_URL)."""
    return bool(settings.HAS_MAIL)


def ask_for_reset(*, email: str, site: str) -> None:
    """Send the account with this address a link, if there is one. Takes as long, and says as little, if there is none.

    `site` is the address of the site, as people type it.
    """
    if not has_mail():
        refuse("invalid_request", "No mail server is configured. An administrator can create a link for you.")
    matches = Person.objects.filter(email=email.strip().lower()[:254], is_active=True, erased_at__isnull=True)
    key = matches.values_list("pk", flat=True).first() or 0
    transaction.on_commit(lambda: send_reset.enqueue(key, site))


@task()
def send_reset(key: int, site: str) -> str:
    """Write the mail; what the queue calls. The link is made here, so that it is in no queue."""
    person = Person.objects.filter(pk=key, is_active=True).first()
    if person is None or not person.email:
        return "nobody"
    address = urljoin(site, reset_path(person))
    send_mail(
        gettext("Reset your Askew password"),
        gettext(
            "Hello {name},\n\nAskew received a request to reset your password ({site}).\nOpen this "
            "link within 24 hours to choose a new one:\n\n{address}\n\nIf you did not ask for this, "
            "ignore this message. Your password stays the same.\n"
        ).format(name=person.name, site=site, address=address),
        None,
        [person.email],
    )
    return "sent"


def make_reset(*, person: Person, by: Person, now: datetime) -> str:
    """The path of a reset link, for an administrator to hand on. Raises ActionRefused where there is nothing to reset."""
    if not by.is_administrator:
        raise PermissionError(gettext("only administrators create reset links"))
    if person.erased_at is not None or not person.is_active or not person.email:
        refuse("invalid_request", "{name} does not sign in with a password.", name=person.name)
    record(person=person, by=by, before="", after="reset link made", now=now)
    return reset_path(person)


def reset_path(person: Person) -> str:
    """Where the person chooses a new password. The address is the permission."""
    return reverse("reset_password", args=[int_to_base36(person.pk), _tokens.make_token(person)])


def person_of_reset_link(key: str, token: str) -> Person:
    """Whose password the link is for. Raises ActionRefused (invitation_expired) for one that is used, wrong or too old."""
    try:
        person = Person.objects.filter(pk=base36_to_int(key), is_active=True).first()
    except (ValueError, OverflowError):
        person = None
    if person is None or not _tokens.check_token(person, token):
        refuse("invitation_expired", gettext(GONE))
    return person


def reset_password(*, key: str, token: str, password: str, now: datetime) -> Person:
    """Set the new password. Every session of the person ends, and so does the link."""
    with transaction.atomic():
        Person.objects.select_for_update(no_key=True).filter(pk=person_of_reset_link(key, token).pk).first()
        person = person_of_reset_link(key, token)
        projects.change_password(person=person, password=password, now=now)
        record(person=person, by=person, before="", after="password reset", now=now)
    return person


# -- for administrators -----------------------------------------------------------------------------


def search(query: str) -> QuerySet[Person]:
    """Accounts whose name or e-mail address has the words in it; all without words."""
    accounts = Person.objects.order_by("name", "pk")
    query = query.replace("\0", "").strip()
    return accounts.filter(Q(name__icontains=query) | Q(email__icontains=query)) if query else accounts


def rename(*, person: Person, name: str, email: str | None, by: Person, now: datetime) -> None:
    """Correct a name or an e-mail address. The address is what the person signs in with."""
    with transaction.atomic():
        stored = Person.objects.select_for_update(no_key=True).get(pk=person.pk)
        if stored.erased_at is None:
            stored.change(name=name, email=email)
            stored.save(update_fields=["name", "email", "former_names"])
        record(person=person, by=by, before="", after="put right", now=now)


def set_administrator(*, person: Person, value: bool, by: Person, now: datetime) -> None:
    """Make a person an administrator, or no longer one. There is always another one who can sign in."""
    if not value:
        require_another_administrator(person)
    with transaction.atomic():
        if Person.objects.filter(pk=person.pk).exclude(is_administrator=value).update(is_administrator=value):
            states = ("person", "administrator") if value else ("administrator", "person")
            record(person=person, by=by, before=states[0], after=states[1], now=now)


def set_active(*, person: Person, value: bool, by: Person, now: datetime) -> None:
    """Close an account, or open it again: a closed one refuses sign-in, and its sessions end."""
    if person.erased_at is not None:
        refuse("invalid_request", "This person's data was erased. The account stays closed.")
    if not value:
        require_another_administrator(person)
    with transaction.atomic():
        if Person.objects.filter(pk=person.pk).exclude(is_active=value).update(is_active=value):
            projects.sign_out_everywhere(person=person, by=by, now=now)
            states = ("closed", "open") if value else ("open", "closed")
            record(person=person, by=by, before=states[0], after=states[1], now=now)


def revoke_everything(*, person: Person, by: Person, now: datetime) -> None:
    """End all sessions, API tokens and password links of a compromised account, and its password.

    The person signs in again by a new password link. Raises ActionRefused (still_involved) for the only administrator.
    """
    require_another_administrator(person)
    with transaction.atomic():
        projects.sign_out_everywhere(person=person, by=by, now=now)
        person.refresh_from_db(fields=["session_epoch"])
        if person.has_usable_password():
            # An unknown password: an account without one would have to register again.
            person.set_password(secrets.token_urlsafe(32))
            person.save(update_fields=["password"])
        record(person=person, by=by, before="", after="everything revoked", now=now)


def require_another_administrator(person: Person) -> None:
    """Raises ActionRefused (still_involved) for the only administrator."""
    others = Person.objects.filter(is_administrator=True, is_active=True).exclude(pk=person.pk)
    if person.is_administrator and not others.exists():
        refuse("still_involved", "This is the only administrator. Add another administrator first.")


def record(*, person: Person, by: Person | None, before: str, after: str, now: datetime) -> None:
    """A change of the account, in the log of every project that the person belongs or belonged to."""
    projects: Sequence[int] = list(
        Membership.objects.filter(person=person).order_by("project_id").values_list("project_id", flat=True)
    )
    for project in projects:
        audit_log.log(person, before, after, by=by, now=now, project=project)
