"""Before the first item: projects, people, invitations, tokens."""

from __future__ import annotations

import hashlib
import re
import secrets
import zoneinfo
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F

from annotation import events, queue
from annotation.models import ApiToken, Assignment, Invitation, Membership, Person, Project
from annotation.refusals import Refused, require_storable
from annotation.roles import Permission, Role

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
RESERVED_SLUGS = frozenset({"new"})
"""Slugs that are addresses of pages: /projects/new/."""
INVITATION_LIFE = timedelta(days=14)
TOKEN_LIFE = timedelta(days=180)
TOKEN_MARK = "askew_"


def create_project(
    *, slug: str, name: str, manager: Person, now: datetime, time_zone: str = "UTC"
) -> Project:
    """A project with its first manager. Raises Refused: invalid_request, name_taken."""
    require_storable(name)
    if not name.strip() or len(name) > 120 or slug in RESERVED_SLUGS or SLUG.fullmatch(slug) is None:
        raise Refused(
            "invalid_request",
            f"A project needs a name and an address of small letters, digits and hyphens; {slug!r} is not one.",
        )
    if time_zone not in zoneinfo.available_timezones():
        raise Refused(
            "invalid_request", f"There is no time zone {time_zone!r}; name one such as Europe/Paris."
        )
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name, time_zone=time_zone)
            add_member(project=project, person=manager, roles=[Role.MANAGER], by=manager, now=now)
            events.record(
                project_id=project.pk,
                actor=manager,
                thing="project",
                thing_id=project.pk,
                after="created",
                now=now,
            )
    except IntegrityError:
        raise Refused("name_taken", f"A project with the address {slug!r} exists; choose another.") from None
    return project


def add_member(
    *, project: Project, person: Person, roles: Sequence[Role], by: Person | None, now: datetime
) -> Membership:
    """Give the person these roles besides those they have; somebody who left comes back under the old pseudonym."""
    with transaction.atomic():
        membership, _ = Membership.objects.get_or_create(project=project, person=person)
        before = "" if membership.removed_at or not membership.roles else "member"
        kept = membership.roles if before else []
        membership.roles = [role.value for role in Role if role in roles or role.value in kept]
        membership.removed_at = None
        membership.save(update_fields=["roles", "removed_at"])
        events.record(
            project_id=project.pk,
            actor=by,
            thing="membership",
            thing_id=membership.pk,
            before=before,
            after="member",
            now=now,
        )
    return membership


def remove_member(*, membership: Membership, by: Person, now: datetime) -> None:
    """End a membership: open leases go back, sessions and tokens end, annotations stay."""
    managers = Membership.objects.filter(
        project=membership.project, removed_at__isnull=True, roles__icontains=Role.MANAGER.value
    ).exclude(pk=membership.pk)
    if Role.MANAGER.value in membership.roles and not managers.exists():
        raise Refused(
            "still_involved", "This is the project's only manager. Make somebody else a manager first."
        )
    with transaction.atomic():
        changed = Membership.objects.filter(pk=membership.pk, removed_at__isnull=True).update(removed_at=now)
        if not changed:
            return
        Person.objects.filter(pk=membership.person_id).update(session_epoch=F("session_epoch") + 1)
        ApiToken.objects.filter(
            person_id=membership.person_id, project=membership.project, revoked_at__isnull=True
        ).update(revoked_at=now)
        held = Assignment.objects.filter(
            person_id=membership.person_id, batch__project=membership.project, state=Assignment.State.LEASED
        )
        for assignment in held.select_related("batch"):
            queue.give_back(
                assignment, state=Assignment.State.RETURNED, reason="left the project", now=now, actor=by
            )
        events.record(
            project_id=membership.project_id,
            actor=by,
            thing="membership",
            thing_id=membership.pk,
            before="member",
            after="removed",
            now=now,
        )


def sign_out_everywhere(*, person: Person) -> None:
    """End every session of the person."""
    Person.objects.filter(pk=person.pk).update(session_epoch=F("session_epoch") + 1)


def change_person(*, person: Person, name: str, time_zone: str) -> None:
    """What a person says of themselves: their name, and the zone in which pages show times."""
    person.name, person.time_zone = name.strip(), time_zone
    person.save(update_fields=["name", "time_zone"])


def change_password(*, person: Person, password: str) -> None:
    """A new password. Every session ends with it; the caller signs the one at hand in again."""
    person.set_password(password)
    person.save(update_fields=["password"])
    sign_out_everywhere(person=person)
    person.refresh_from_db(fields=["session_epoch"])


def invite(
    *, project: Project, roles: Sequence[Role], by: Person, now: datetime, name: str = ""
) -> tuple[Invitation, str]:
    """A personal link into the project. The token is returned once and kept as a hash only."""
    require_storable(name)
    if not roles:
        raise Refused("invalid_request", "Choose at least one role.")
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        project=project,
        roles=[role.value for role in roles],
        name=name.strip(),
        token_hash=hash_token(token),
        made_by=by,
        made_at=now,
        expires_at=now + INVITATION_LIFE,
    )
    return invitation, token


def open_invitation(token: str, *, now: datetime) -> Invitation:
    """The invitation behind a link. Raises Refused: invitation_used, invitation_expired."""
    invitation = Invitation.objects.select_related("project").filter(token_hash=hash_token(token)).first()
    if invitation is None or now >= invitation.expires_at:
        raise Refused("invitation_expired", "This invitation is not valid (any more). Ask for a new link.")
    if invitation.accepted_at is not None:
        raise Refused("invitation_used", "This invitation has been used. Sign in, or ask for a new link.")
    return invitation


def accept(*, invitation: Invitation, person: Person, now: datetime) -> Membership:
    """Join the project, once."""
    with transaction.atomic():
        won = Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=True).update(
            accepted_at=now, accepted_by=person
        )
        if not won:
            raise Refused("invitation_used", "This invitation has been used. Sign in, or ask for a new link.")
        roles = [Role(role) for role in invitation.roles]
        return add_member(
            project=invitation.project, person=person, roles=roles, by=invitation.made_by, now=now
        )


def register(*, name: str, email: str, password: str | None) -> Person:
    """An account. Raises Refused: invalid_request, name_taken."""
    require_storable(name, email)
    try:
        validate_email(email)
        if password is not None:
            validate_password(password, Person(name=name, email=email))
    except ValidationError as error:
        raise Refused("invalid_request", " ".join(error.messages)) from None
    try:
        with transaction.atomic():
            return Person.objects.create_person(name, email, password)
    except IntegrityError:
        raise Refused("name_taken", "There is an account with this e-mail address. Sign in first.") from None


def join_as_new(*, invitation: Invitation, name: str, email: str, password: str, now: datetime) -> Person:
    """Register and accept in one: nobody is left with an account and no project. Raises Refused as both do."""
    with transaction.atomic():
        person = register(name=name, email=email, password=password)
        accept(invitation=invitation, person=person, now=now)
    return person


def make_token(
    *, person: Person, project: Project, name: str, scopes: Sequence[Permission], now: datetime
) -> tuple[ApiToken, str]:
    """A token for the API. It is returned once; the database keeps its hash."""
    secret = TOKEN_MARK + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        person=person,
        project=project,
        name=name.strip() or "token",
        prefix=secret[: len(TOKEN_MARK) + 4],
        token_hash=hash_token(secret),
        scopes=sorted(scope.value for scope in scopes),
        made_at=now,
        expires_at=now + TOKEN_LIFE,
    )
    return token, secret


def revoke_token(*, token: ApiToken, now: datetime) -> None:
    """End a token now. Revoking twice is revoking once."""
    ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=now)


def hash_token(token: str) -> str:
    """Tokens are long and random: a plain SHA-256 is enough, and finding one is an index look-up."""
    return hashlib.sha256(token.encode()).hexdigest()
