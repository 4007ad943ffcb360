"""Before the first item: projects, people, invitations, tokens."""

import hashlib
import re
import secrets
import zoneinfo
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any

from django.contrib.auth.password_validation import MinimumLengthValidator, validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.access import audit_log
from annotation.access.roles import Permission, Role
from annotation.models import (
    ApiToken,
    Assignment,
    Batch,
    CrowdEntry,
    Invitation,
    Membership,
    Person,
    Project,
    Source,
)
from annotation.models.batch_options import work_limits
from annotation.models.batch_options.budget import budget
from annotation.payments import data_statement
from annotation.platform.refusals import refuse, require_storable
from annotation.queue import allocation, reservations

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
RESERVED_SLUGS = frozenset({"new"})
"""Slugs that are addresses of pages: /projects/new/."""
INVITATION_LIFE = timedelta(days=14)
LONGEST_INVITATION = timedelta(days=90)
LONGEST_LICENCE = 80
TOKEN_LIFE = timedelta(days=180)
NO_ANNOTATOR = gettext_noop("no longer an annotator")
"""The code of why a member's assignments were returned."""
TOKEN_MARK = "askew_"


@cache
def time_zones() -> frozenset[str]:
    """The names of all time zones, from the files of this machine: reading them takes milliseconds."""
    return frozenset(zoneinfo.available_timezones())


def _require_time_zone(time_zone: str) -> None:
    if time_zone not in time_zones():
        refuse(
            "invalid_request",
            "There is no time zone {time_zone!r}. Enter one such as Europe/Paris.",
            time_zone=time_zone,
        )


def create_project(
    *, slug: str, name: str, manager: Person, now: datetime, time_zone: str = "UTC"
) -> Project:
    """A project with its first manager. Raises ActionRefused: invalid_request, name_taken."""
    require_storable(name)
    if not name.strip() or len(name) > 120 or slug in RESERVED_SLUGS or SLUG.fullmatch(slug) is None:
        refuse(
            "invalid_request",
            "A project needs a name and a short name of small letters, digits and hyphens; "
            "{slug!r} is not valid.",
            slug=slug,
        )
    _require_time_zone(time_zone)
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name, time_zone=time_zone)
            add_member(project=project, person=manager, roles=[Role.MANAGER], by=manager, now=now)
            audit_log.log(project, "", "created", by=manager, now=now)
    except IntegrityError:
        refuse(
            "name_taken",
            "A project with the short name {slug!r} already exists. Choose another one.",
            slug=slug,
        )
    return project


def rename_project(*, project: Project, name: str, time_zone: str, by: Person, now: datetime) -> None:
    """Another name and time zone. The address stays: no link, token, release or bookmark breaks."""
    require_storable(name)
    if not name.strip() or len(name.strip()) > 120:
        refuse("invalid_request", "Enter a project name of at most 120 characters.")
    _require_time_zone(time_zone)
    new_values = {"name": name.strip(), "time_zone": time_zone}
    with transaction.atomic():
        before = Project.objects.select_for_update(no_key=True).values(*new_values).get(pk=project.pk)
        Project.objects.filter(pk=project.pk).update(**new_values)
        _log_changes(project, "renamed", by, now, before, new_values)


def add_member(
    *, project: Project, person: Person, roles: Sequence[Role], by: Person | None, now: datetime
) -> Membership:
    """Give the person these roles besides those they have; a person who left comes back under the old pseudonym."""
    with transaction.atomic():
        membership, _ = Membership.objects.get_or_create(project=project, person=person)
        here = membership.removed_at is None and bool(membership.roles)
        if not here:
            audit_log.log(membership, "", "member", by=by, now=now)
        current_roles = set(membership.roles) if here else set()
        membership.removed_at = None
        membership.save(update_fields=["removed_at"])
        _write_roles(
            membership, current_roles, current_roles | {role.value for role in roles}, by=by, now=now
        )
    return membership


def change_roles(*, membership: Membership, roles: Sequence[Role], by: Person, now: datetime) -> int:
    """The person has these roles from now on and no others. What they hold as an annotator goes back if they are none,
    and what is reserved for them is free for others: returns how many slots.

    Raises ActionRefused: invalid_request (no role at all, or a former member), still_involved (the only manager).
    """
    if not roles:
        refuse("invalid_request", "Choose at least one role, or remove the person.")
    with transaction.atomic():
        membership = (
            Membership.objects.select_for_update(of=("self",), no_key=True)
            .select_related("project", "person")
            .get(pk=membership.pk)
        )
        if membership.removed_at is not None:
            refuse("invalid_request", "This person has left the project. Invite them again.")
        if Role.MANAGER not in roles:
            _lock_members(membership.project_id)
            require_another_manager(membership)
        before, after = set(membership.roles), {role.value for role in roles}
        _write_roles(membership, before, after, by=by, now=now)
        if Role.ANNOTATOR.value in before - after:
            return _give_back_all(membership, reason=NO_ANNOTATOR, by=by, now=now)
    return 0


def _write_roles(
    membership: Membership, before: set[str], after: set[str], *, by: Person | None, now: datetime
) -> None:
    """Write the roles, each change as its own event."""
    membership.roles = [role.value for role in Role if role.value in after]
    membership.save(update_fields=["roles"])
    for role in Role:
        if (role.value in before) != (role.value in after):
            states = (role.value, "") if role.value in before else ("", role.value)
            audit_log.log(membership, states[0], states[1] or f"no {role.value}", by=by, now=now)


def _give_back_all(membership: Membership, *, reason: str, by: Person, now: datetime) -> int:
    """Their assignments in progress go back, and their reservations end. Returns how many slots were reserved."""
    leases = Assignment.objects.filter(
        person_id=membership.person_id, batch__project=membership.project, state=Assignment.State.LEASED
    )
    for assignment in leases.select_related("batch").order_by("pk"):
        reservations.give_back(assignment, state=Assignment.State.RETURNED, reason=reason, now=now, actor=by)
    return allocation.release(project=membership.project, person=membership.person, by=by, now=now)


def remove_member(*, membership: Membership, by: Person, now: datetime) -> int:
    """End a membership: open leases go back, what was reserved for them is free, their tokens end, annotations stay.

    Their sessions stay: they belong to the account, open nothing here from now on, and pages show the reason. Returns how
    many slots had been reserved for them.
    """
    with transaction.atomic():
        _lock_members(membership.project_id)
        require_another_manager(membership)
        changed = Membership.objects.filter(pk=membership.pk, removed_at__isnull=True).update(removed_at=now)
        if not changed:
            return 0
        ApiToken.objects.filter(
            person_id=membership.person_id, project=membership.project, revoked_at__isnull=True
        ).update(revoked_at=now)
        freed = _give_back_all(membership, reason=gettext_noop("left the project"), by=by, now=now)
        audit_log.log(membership, "member", "removed", by=by, now=now)
    return freed


def has_left(person: Person, project_id: int) -> bool:
    """Whether a person was a member of the project (by id) and is none any more."""
    gone = Membership.objects.filter(project_id=project_id, person=person, removed_at__isnull=False)
    return gone.exists()


def require_another_manager(membership: Membership) -> None:
    """Raises ActionRefused (still_involved) where this is the project's only manager."""
    if membership.removed_at is not None or Role.MANAGER.value not in membership.roles:
        return
    managers = Membership.objects.filter(
        project=membership.project,
        removed_at__isnull=True,
        roles__icontains=Role.MANAGER.value,
        person__is_active=True,
    ).exclude(pk=membership.pk)
    if not managers.exists():
        refuse(
            "still_involved",
            "This is the only manager of {name}. Add another manager first.",
            name=membership.project.name,
        )


def _lock_members(project_id: int) -> None:
    """Managers of a project go one after the other: two cannot send each other away at once."""
    Project.objects.select_for_update(no_key=True).filter(pk=project_id).values_list("pk").first()


def end_sessions(*, person: Person) -> None:
    """End every session of the person, and links for a new password that are not used yet."""
    Person.objects.filter(pk=person.pk).update(session_epoch=F("session_epoch") + 1)


def sign_out_everywhere(*, person: Person, by: Person, now: datetime) -> None:
    """End every session and API token of the person."""
    with transaction.atomic():
        end_sessions(person=person)
        revoke_tokens(person=person, by=by, now=now)


def change_person(*, person: Person, name: str, time_zone: str) -> None:
    """The personal settings of a person: their name, and the zone in which pages show times."""
    person.name, person.time_zone = name.strip(), time_zone
    person.save(update_fields=["name", "time_zone"])


def take_time_zone(*, person: Person, time_zone: str) -> None:
    """Give a person who signs in for the first time the time zone of their browser; an unknown one is ignored.

    People who signed in before, or chose a time zone, keep theirs.
    """
    chosen = person.last_login is not None or person.time_zone != Person._meta.get_field("time_zone").default
    if not chosen and time_zone in time_zones():
        person.time_zone = time_zone
        person.save(update_fields=["time_zone"])


def change_password(*, person: Person, password: str, now: datetime) -> None:
    """Set a new password. Every session and API token ends; the caller signs the current session in again."""
    with transaction.atomic():
        person.set_password(password)
        person.save(update_fields=["password"])
        sign_out_everywhere(person=person, by=person, now=now)
    person.refresh_from_db(fields=["session_epoch"])


class LongPassword(MinimumLengthValidator):
    """End API tokens with each new password, also with one by a command: Django calls its validators with it."""

    def password_changed(self, password: str, user: Person | None = None) -> None:
        if user is not None:
            revoke_tokens(person=user, by=user, now=timezone.now())


def invite(
    *,
    project: Project,
    roles: Sequence[Role],
    by: Person,
    now: datetime,
    name: str = "",
    days: int = INVITATION_LIFE.days,
    token: str = "",
) -> tuple[Invitation, str]:
    """A personal link into the project, for `days` days. The token is returned once and kept as a hash only."""
    require_storable(name)
    if not roles:
        refuse("invalid_request", "Choose at least one role.")
    if not 1 <= days <= LONGEST_INVITATION.days:
        refuse(
            "invalid_request", "An invitation is valid for 1 to {days} days.", days=LONGEST_INVITATION.days
        )
    token = token or secrets.token_urlsafe(24)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            project=project,
            roles=[role.value for role in roles],
            name=name.strip(),
            token_hash=hash_token(token),
            made_by=by,
            made_at=now,
            expires_at=now + timedelta(days=days),
        )
        audit_log.log(invitation, "", "open", by=by, now=now)
    return invitation, token


def invite_all(
    *,
    project: Project,
    names: Sequence[str],
    roles: Sequence[Role],
    by: Person,
    now: datetime,
    days: int = INVITATION_LIFE.days,
    seed: str = "",
) -> list[tuple[Invitation, str]]:
    """A personal link for each name, as `invite` makes one: all of them, or none where one is refused.

    seed: a secret that the tokens follow from (`invitation_token`), for a page that shows them later.
    """
    seed = seed or secrets.token_urlsafe(24)
    with transaction.atomic():
        add = partial(invite, project=project, roles=roles, by=by, now=now, days=days)
        return [add(name=name, token=invitation_token(seed, at)) for at, name in enumerate(names)]


def invitation_token(seed: str, index: int) -> str:
    """The token of an invitation, by its index among those that were created together."""
    return hash_token(f"{seed} {index}")[:40]


def withdraw_invitation(*, invitation: Invitation, by: Person, now: datetime) -> None:
    """The link works no more. Withdrawing twice, or one that was used, changes nothing."""
    with transaction.atomic():
        if Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=True, expires_at__gt=now).update(
            expires_at=now
        ):
            audit_log.log(invitation, "open", "withdrawn", by=by, now=now)


def open_invitation(token: str, *, now: datetime) -> Invitation:
    """The invitation behind a link. Raises ActionRefused: invitation_used, invitation_expired."""
    invitation = Invitation.objects.select_related("project").filter(token_hash=hash_token(token)).first()
    if invitation is None or now >= invitation.expires_at:
        refuse("invitation_expired", "This invitation is not valid or has expired. Ask for a new link.")
    if invitation.accepted_at is not None:
        refuse("invitation_used", "This invitation has already been used. Sign in, or ask for a new link.")
    return invitation


def accept(*, invitation: Invitation, person: Person, now: datetime) -> Membership:
    """Join the project, once. Raises ActionRefused: invitation_used; invalid_request for a person of a crowd who has not
    registered, whom a manager's link could sign in.
    """
    if must_register(person):
        refuse("invalid_request", "Register with an e-mail address and a password to accept this invitation.")
    with transaction.atomic():
        won = Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=True).update(
            accepted_at=now, accepted_by=person
        )
        if not won:
            refuse(
                "invitation_used", "This invitation has already been used. Sign in, or ask for a new link."
            )
        audit_log.log(invitation, "open", "accepted", by=person, now=now)
        roles = [Role(role) for role in invitation.roles]
        return add_member(
            project=invitation.project, person=person, roles=roles, by=invitation.made_by, now=now
        )


def must_register(person: Person) -> bool:
    """Whether a person joined by a crowd link and cannot sign in without a link yet."""
    return not person.has_sign_in and CrowdEntry.objects.filter(person=person).exists()


def register(*, name: str, email: str, password: str | None, person: Person | None = None) -> Person:
    """An account, or what to sign in with for the account of `person`, whose other sessions end.

    Raises ActionRefused: invalid_request, name_taken.
    """
    require_storable(name, email)
    try:
        validate_email(email)
        if password is not None:
            validate_password(password, Person(name=name, email=email))
    except ValidationError as error:
        refuse("invalid_request", " ".join(error.messages))
    try:
        with transaction.atomic():
            if person is None:
                return Person.objects.create_person(name, email, password)
            person = Person.objects.select_for_update(no_key=True).get(pk=person.pk)
            person.change(name=name, email=Person.objects.normalize_email(email))
            person.set_password(password)
            person.session_epoch += 1
            person.save(update_fields=["name", "email", "former_names", "password", "session_epoch"])
            return person
    except IntegrityError:
        refuse("name_taken", "An account with this e-mail address already exists. Sign in first.")


def join_as_new(
    *,
    invitation: Invitation,
    name: str,
    email: str,
    password: str,
    now: datetime,
    person: Person | None = None,
) -> Person:
    """Register and accept in one transaction, so that no account is without a project. Raises ActionRefused as both do.

    `person` is a person of a crowd, who keeps the account and gets what to sign in with.
    """
    with transaction.atomic():
        person = register(name=name, email=email, password=password, person=person)
        accept(invitation=invitation, person=person, now=now)
    return person


def change_terms(
    *,
    project: Project,
    pay: Mapping[str, Any],
    caps: Mapping[str, Any],
    by: Person,
    now: datetime,
    model_budget: Mapping[str, Any] | None = None,
) -> None:
    """What the project pays, how much one person may work a day, and what language models may cost; None leaves that.

    Raises ActionRefused(invalid_request).
    """
    terms = {"pay": work_limits.pay(pay), "caps": work_limits.caps(caps, work_limits.OF_A_PROJECT)}
    if model_budget is not None:
        terms["model_budget"] = budget(model_budget)
    if all(getattr(project, name) == value for name, value in terms.items()):
        return
    with transaction.atomic():
        before = Project.objects.select_for_update(no_key=True).values(*terms).get(pk=project.pk)
        Project.objects.filter(pk=project.pk).update(**terms)
        _log_changes(project, "terms changed", by, now, before, terms)
    for name, value in terms.items():
        setattr(project, name, value)


def correct_rate(
    *,
    project: Project,
    batch: Batch | None,
    pay: Mapping[str, Any],
    begin: datetime | None,
    end: datetime | None,
    reason: str,
    by: Person,
    now: datetime,
) -> None:
    """Pay work between two moments, until now at most, by another rate: in a batch, or where batches have no own rate.

    The difference is booked now. Raises ActionRefused(invalid_request).
    """
    rate, until, reason = work_limits.pay(pay), min(end or now, now), reason.strip()
    require_storable(reason)
    if not rate:
        refuse("invalid_request", "Enter the correct rate.")
    if not reason:
        refuse("invalid_request", "Enter the reason of the correction.")
    if begin is not None and begin >= until:
        refuse("invalid_request", "A correction is about earlier work. Choose days in the past.")
    period = {"since": begin and begin.isoformat(), "until": until.isoformat()}
    detail = {"what": "pay", "from": {}, "to": rate, **period, "reason": reason}
    audit_log.log(batch or project, "", "rate corrected", by=by, now=now, detail=detail)


def change_statement(*, project: Project, statement: Mapping[str, str], by: Person, now: datetime) -> None:
    """The answers of people for the data statement, by the names of `data_statement.ASKED`. Raises
    ActionRefused(invalid_request)."""
    new_statement = data_statement.clean_answers(statement)
    require_storable(*new_statement.values())
    with transaction.atomic():
        before = Project.objects.select_for_update(no_key=True).values("statement").get(pk=project.pk)
        new_statement |= {
            name: text for name, text in before["statement"].items() if name == data_statement.RESTORED
        }
        if new_statement == before["statement"]:
            return
        Project.objects.filter(pk=project.pk).update(statement=new_statement)
        _log_changes(project, "statement changed", by, now, before, {"statement": new_statement})
    project.statement = new_statement


def change_licences(*, project: Project, licences: Mapping[str, str], by: Person, now: datetime) -> None:
    """The licence of sources, by their ids; "" for none. Earlier releases keep theirs. Raises
    ActionRefused(invalid_request)."""
    require_storable(*licences.values())
    sources = Source.objects.ready().filter(project=project, public_id__in=licences)
    with transaction.atomic():
        for source in sources.select_for_update(no_key=True).order_by("pk"):
            before, licence = source.licence, licences[source.public_id].strip()
            if before != licence:
                Source.objects.filter(pk=source.pk).update(licence=licence)
                detail = audit_log.changed("licence", before, licence)
                audit_log.log(source, "", "terms changed", by=by, now=now, detail=detail)


def set_characteristics(*, membership: Membership, entries: Mapping[str, str]) -> None:
    """The answers of a member for the data statement, by the names of `data_statement.OF_ONESELF`; "" takes it back."""
    characteristics = data_statement.clean_characteristics(entries)
    require_storable(*characteristics.values())
    Membership.objects.filter(pk=membership.pk).update(characteristics=characteristics)


def _log_changes(
    project: Project,
    what: str,
    by: Person | None,
    now: datetime,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    """An event for every field that is another one now, with what it was."""
    for name, value in after.items():
        if before[name] != value:
            audit_log.log(
                project, "", what, by=by, now=now, detail=audit_log.changed(name, before[name], value)
            )


def make_token(
    *,
    person: Person,
    project: Project,
    name: str,
    scopes: Sequence[str],
    now: datetime,
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    """A token for the API, for 180 days unless it expires earlier. It is returned once; the database keeps its hash."""
    secret = TOKEN_MARK + secrets.token_urlsafe(32)
    with transaction.atomic():
        token = ApiToken.objects.create(
            person=person,
            project=project,
            name=name.strip() or "token",
            prefix=secret[: len(TOKEN_MARK) + 4],
            token_hash=hash_token(secret),
            scopes=sorted(Permission(scope).value for scope in scopes),
            made_at=now,
            expires_at=expires_at or now + TOKEN_LIFE,
        )
        audit_log.log(token, "", "valid", by=token.person, now=now)
    return token, secret


def revoke_token(*, token: ApiToken, by: Person, now: datetime) -> None:
    """End a token now. Revoking twice is revoking once."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=now):
            audit_log.log(token, "valid", "revoked", by=by, now=now)


def revoke_tokens(*, person: Person, by: Person, now: datetime) -> None:
    """End every API token of a person."""
    for token in ApiToken.objects.filter(person=person, revoked_at__isnull=True).order_by("pk"):
        revoke_token(token=token, by=by, now=now)


def hash_token(token: str) -> str:
    """Tokens are long and random: a plain SHA-256 is enough, and finding one is an index look-up."""
    return hashlib.sha256(token.encode()).hexdigest()
