"""The way in for a crowd: one link for many people, each known by the id that their platform gave them.

The first entry with an id makes a person and binds the id to that person's session: a person who brings the same id from
another browser is refused, and a manager can give them a return link. The ids are stored apart (`CrowdEntry`), are never
logged, and go into one export, the payment sheet. At the end of the work people get a completion code, unless they skipped
more items than they answered; after a failed qualification the code for being screened out.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote, urlsplit

from django.core import signing
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Sum
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext, gettext_noop

from annotation.access import audit_log
from annotation.access.roles import Role
from annotation.models import (
    Assignment,
    Batch,
    CrowdEntry,
    CrowdLink,
    ListedParticipant,
    Membership,
    Person,
    PersonBatchCounts,
    Project,
    Qualification,
)
from annotation.platform.refusals import ActionRefused, refuse, require_storable
from annotation.queue import availability, entry_requirements
from annotation.workflow import projects

PARAMETERS: Final[dict[str, dict[str, str]]] = {
    "prolific": {"person": "PROLIFIC_PID", "study": "STUDY_ID", "session": "SESSION_ID"},
    "generic": {"person": "id", "study": "study", "session": "session"},
}
"""The query parameters that carry a platform's ids (Prolific: "Integrating your study", URL parameters)."""
PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc={code}"
LONGEST_ID = 200
WAY_BACK = timedelta(days=7)
"""How long a link by which a manager lets a person back in can be used."""
SALT = "annotation.crowd.way_back"
KEY_SALT = "annotation.crowd.key"
SIGNATURE = "signature"
"""The query parameter with the HMAC-SHA256 of the person's id, in hexadecimal digits."""
MOST_LISTED = 10_000
_TAKEN = gettext_noop("This id is already in use in another browser. If that is you, continue there.")
ASK_THE_RESEARCHERS = gettext_noop(
    "Contact the researchers through the platform you came from. They can send you a return link."
)


@dataclass(frozen=True)
class Ids:
    """What a platform calls a person, the study and the session. Not shown where an error shows its values.

    `signature` is that of the person's id, where the link has one.
    """

    person: str = field(repr=False)
    study: str = field(default="", repr=False)
    session: str = field(default="", repr=False)
    signature: str = field(default="", repr=False)


@dataclass(frozen=True)
class CompletionState:
    """The state of a crowd worker: an outcome with its code once there is one, else whether work is left now.

    A platform's time may end before there is more (`work_later`), after a pause or on another day.
    """

    outcome: str = ""
    code: str = ""
    address: str = ""
    work_left: bool = False
    work_later: bool = False


# -- the manager's side -----------------------------------------------------------------------------


def make_link(
    *,
    project: Project,
    name: str,
    parameters: Mapping[str, str],
    completion_code: str,
    screen_out_code: str,
    expires_at: datetime,
    by: Person,
    now: datetime,
    return_url: str = "",
    most: int | None = None,
) -> CrowdLink:
    """A link for a crowd. Raises ActionRefused: invalid_request, name_taken."""
    require_storable(name, completion_code, screen_out_code, return_url, *parameters.values())
    name, codes = name.strip(), (completion_code.strip(), screen_out_code.strip())
    if not name or not all(codes):
        refuse("invalid_request", "A crowd link needs a name, a completion code and a screen-out code.")
    if codes[0] == codes[1]:
        refuse("invalid_request", "The completion code and the screen-out code must differ.")
    if set(parameters) != {"person", "study", "session"} or not parameters["person"]:
        refuse("invalid_request", "Enter the query parameter that carries the person's id.")
    named = [parameter for parameter in parameters.values() if parameter]
    if len(named) != len(set(named)):
        refuse("invalid_request", "Each id needs a separate query parameter.")
    if expires_at <= now:
        refuse("invalid_request", "The closing day is in the past. Choose a later day.")
    if most is not None and most < 1:
        refuse("invalid_request", "Allow at least one person, or leave the number empty.")
    parts = urlsplit(return_url)
    if return_url and (parts.scheme != "https" or not parts.hostname or "{code}" not in return_url):
        refuse(
            "invalid_request",
            "The return URL must begin with https:// and contain {placeholder} where the code belongs.",
            placeholder="{code}",
        )
    try:
        with transaction.atomic():
            link = CrowdLink.objects.create(
                project=project,
                name=name,
                parameters=dict(parameters),
                completion_code=codes[0],
                screen_out_code=codes[1],
                return_url=return_url,
                most=most,
                made_by=by,
                made_at=now,
                expires_at=expires_at,
            )
            audit_log.log(link, "", "open", by=by, now=now)
    except IntegrityError:
        refuse(
            "name_taken", "This project already has a crowd link {name!r}. Choose another name.", name=name
        )
    return link


def close_link(*, link: CrowdLink, by: Person, now: datetime) -> None:
    """New people cannot join; people who joined can finish. Idempotent."""
    with transaction.atomic():
        if CrowdLink.objects.filter(pk=link.pk, closed_at__isnull=True).update(closed_at=now):
            audit_log.log(link, "open", "closed", by=by, now=now)


def require_signatures(*, link: CrowdLink, by: Person, now: datetime, is_required: bool = True) -> str:
    """Let only people with signed ids enter from now on. Returns a new key; older ones end. "" where not `is_required`."""
    with transaction.atomic():
        link.refresh_from_db(fields=["key_number"], from_queryset=CrowdLink.objects.select_for_update())
        link.is_signed, link.key_number = is_required, link.key_number + is_required
        link.save(update_fields=["is_signed", "key_number"])
        audit_log.log(link, "", "key created" if is_required else "signatures ended", by=by, now=now)
    return key_of(link) if is_required else ""


def key_of(link: CrowdLink) -> str:
    """The key of signatures: it follows from SECRET_KEY, and is in no table and no backup."""
    return salted_hmac(KEY_SALT, f"{link.public_id} {link.key_number}", algorithm="sha256").hexdigest()


def limit_to(*, link: CrowdLink, participants: Iterable[str], by: Person, now: datetime) -> int:
    """Let only these ids enter from now on; without any, all. Returns their number. Raises ActionRefused."""
    ids = {id for participant in participants if (id := participant.strip())}
    require_storable(*ids)
    if len(ids) > MOST_LISTED or any(len(id) > LONGEST_ID for id in ids):
        refuse(
            "invalid_request",
            "List at most {most} ids, each with at most {longest_id} characters.",
            most=MOST_LISTED,
            longest_id=LONGEST_ID,
        )
    with transaction.atomic():
        link.is_limited = bool(ids)
        link.save(update_fields=["is_limited"])
        link.listed.all().delete()
        rows = [ListedParticipant(link=link, digest=_digest(link, id)) for id in sorted(ids)]
        ListedParticipant.objects.bulk_create(rows)
        audit_log.log(link, "", "participants listed" if ids else "list ended", by=by, now=now)
    return len(ids)


def _digest(link: CrowdLink, id: str) -> str:
    return hashlib.sha256(f"{link.public_id} {id}".encode()).hexdigest()


def forget_listed(entry: CrowdEntry) -> None:
    """Take the id of an entry off the list of its link."""
    entry.link.listed.filter(digest=_digest(entry.link, entry.external_id)).delete()


def require_admitted(link: CrowdLink, ids: Ids) -> None:
    """Raises ActionRefused (crowd_not_admitted) for an id that is not signed or not listed, where the link asks for that.

    An id that is still to be entered on the page is checked then.
    """
    advice = gettext("Open the study on the platform with the account that was invited.")
    if link.is_signed:
        expected = hmac.new(key_of(link).encode(), ids.person.encode(), hashlib.sha256).hexdigest()
        if not constant_time_compare(expected, ids.signature.lower()):
            why = gettext("The id in this link is missing or has no valid signature.")
            raise _refused("crowd_not_admitted", why, advice)
    if link.is_limited and ids.person and not link.listed.filter(digest=_digest(link, ids.person)).exists():
        why = gettext("This ID is not on the list of this study.")
        raise _refused("crowd_not_admitted", why, advice)


def make_return_link(*, entry: CrowdEntry, by: Person, now: datetime) -> str:
    """The token of a return link, for a person who lost their session. Their older sessions end with it.

    Raises ActionRefused (crowd_taken) for an account that has anything beyond this project.
    """
    if entry.person.erased_at is not None:
        refuse("invalid_request", "This person's data was erased, so a return link is not possible.")
    with transaction.atomic():
        _require_crowd_account(entry)
        projects.sign_out_everywhere(person=entry.person, by=by, now=now)
        entry.person.refresh_from_db(fields=["session_epoch"])
        audit_log.log(entry, "", "let back in", by=by, now=now, project=entry.link.project_id)
    return signing.dumps({"entry": entry.pk, "epoch": entry.person.session_epoch}, salt=SALT)


# -- the participants' side -------------------------------------------------------------------------


def open_link(public_id: str) -> CrowdLink | None:
    """The link at this address, None where there is none. Whether it is still open, `require_open` says."""
    if "\0" in public_id:
        return None
    return CrowdLink.objects.select_related("project").filter(public_id=public_id).first()


def require_open(link: CrowdLink, *, now: datetime) -> None:
    """Raises ActionRefused (crowd_closed) where no new person may enter, with the reason."""
    if link.closed_at is not None:
        why = gettext("This study is closed to new people. The researchers have closed the link.")
    elif now >= link.expires_at:
        why = gettext("This study is closed to new people. Its link has expired.")
    elif link.most is not None and link.entries.count() >= link.most:
        why = gettext("This study is closed to new people. It has reached its maximum.")
    else:
        return
    advice = gettext("If you have already joined, continue in the browser you started in.")
    raise _refused("crowd_closed", why, advice)


def ids_of(link: CrowdLink, query: Mapping[str, str]) -> Ids:
    """The ids in a request; the person's is "" where it is missing. Raises ActionRefused (invalid_request)."""
    ids = {
        name: query.get(parameter, "").strip() if parameter else ""
        for name, parameter in link.parameters.items()
    }
    ids["signature"] = query.get(SIGNATURE, "").strip()
    require_storable(*ids.values())
    for value in ids.values():
        if len(value) > LONGEST_ID:
            refuse(
                "invalid_request",
                "An id has at most {longest_id} characters. One id in this link is longer.",
                longest_id=LONGEST_ID,
            )
        if value.startswith("{{") and value.endswith("}}"):
            refuse(
                "invalid_request",
                "The platform did not fill in your id. Open the study on the platform itself, not in a "
                "preview.",
            )
    return Ids(**ids)


def enter(*, link: CrowdLink, ids: Ids, person: Person | None, now: datetime) -> Person:
    """The person behind these ids: a new annotator of the project at first, the same one in their own session after.

    `person` is who is signed in in this browser. Raises ActionRefused: invalid_request, crowd_closed, crowd_taken,
    crowd_not_admitted.
    """
    if not ids.person:
        refuse("invalid_request", "Enter the id that your platform gave you.")
    if person is None:
        require_admitted(link, ids)
    try:
        with transaction.atomic():
            # Entries of one link take turns: the cap is exact.
            CrowdLink.objects.select_for_update(no_key=True).filter(pk=link.pk).values_list("pk").first()
            entries = CrowdEntry.objects.select_related("person").filter(
                link__project_id=link.project_id, external_id=ids.person
            )
            for entry in entries:
                return _known_person(entry, link, person)
            if person is not None:
                refuse(
                    "crowd_taken",
                    "Another id or account is already signed in in this browser. Open the link in another "
                    "browser or in a private window.",
                )
            require_open(link, now=now)
            return _create_person(link, ids, now)
    except IntegrityError:  # said without the database's words, which hold the id
        raise _refused("crowd_taken", gettext(_TAKEN)) from None


def _known_person(entry: CrowdEntry, link: CrowdLink, person: Person | None) -> Person:
    """The person of an entry, in their own session. Raises ActionRefused: no_member, where a manager removed them;
    crowd_taken."""
    if projects.has_left(entry.person, entry.link.project_id):
        why = gettext("The researchers have ended your part in this study. Your submissions are kept.")
        raise _refused("no_member", why)
    if person is not None and person.pk == entry.person_id and entry.link_id == link.pk:
        return entry.person
    if entry.link_id != link.pk:
        refuse("crowd_taken", "A person with this id already took part in this project through another link.")
    raise _refused("crowd_taken", gettext(_TAKEN))


def _create_person(link: CrowdLink, ids: Ids, now: datetime) -> Person:
    entry_number = link.entries.count() + 1
    person = Person.objects.create_person(f"{link.name[:100]} {entry_number}")
    projects.add_member(project=link.project, person=person, roles=[Role.ANNOTATOR], by=None, now=now)
    entry = CrowdEntry.objects.create(
        link=link,
        person=person,
        external_id=ids.person,
        study_id=ids.study,
        session_id=ids.session,
        entered_at=now,
    )
    audit_log.log(entry, "", "entered", by=person, now=now, project=link.project_id)
    return person


def entry_of_return_link(*, token: str) -> CrowdEntry:
    """The entry of a return link.

    Raises ActionRefused: invitation_expired for a link that is used, wrong or too old; crowd_taken for an account that has
    anything beyond this project.
    """
    gone = _refused("invitation_expired", gettext("This link does not work or is no longer valid."))
    try:
        payload = signing.loads(token, salt=SALT, max_age=WAY_BACK)
    except signing.BadSignature:
        raise gone from None
    entry = CrowdEntry.objects.select_related("person", "link__project").filter(pk=payload["entry"]).first()
    if entry is None or entry.person.session_epoch != payload["epoch"] or not entry.person.is_active:
        raise gone
    _require_crowd_account(entry)
    return entry


def use_return_link(*, token: str, now: datetime) -> Person:
    """Come back by the link, once. The caller signs the person in; their responses are marked from then on."""
    with transaction.atomic():
        entry = entry_of_return_link(token=token)
        won = Person.objects.filter(pk=entry.person_id, session_epoch=entry.person.session_epoch).update(
            session_epoch=F("session_epoch") + 1, let_back_in_at=now
        )
        if not won:
            raise _refused("invitation_expired", gettext("This link has already been used."))
        audit_log.log(
            entry, "let back in", "entered", by=entry.person, now=now, project=entry.link.project_id
        )
    return Person.objects.get(pk=entry.person_id)


# -- the end ----------------------------------------------------------------------------------------


def completion_state(entry: CrowdEntry, *, now: datetime) -> CompletionState:
    """How it is with the person's work, without changing anything. Wants link and project."""
    if entry.outcome:
        return _completion_state(entry, entry.outcome)
    if projects.has_left(entry.person, entry.link.project_id):
        return CompletionState()
    work_left, work_later, failed = _work_availability(entry.person, entry.link.project, now)
    if work_left:
        return CompletionState(work_left=True)
    done = PersonBatchCounts.objects.filter(person=entry.person, batch__project=entry.link.project)
    work = done.filter(batch__purpose=Batch.Purpose.WORK).aggregate(
        submitted=Sum("submitted", default=0), skipped=Sum("skipped", default=0)
    )
    has_skipped_most = work["skipped"] > work["submitted"]
    # Who passed, and found that others had taken all there was, has done what there was to do.
    has_worked = not has_skipped_most and done.filter(submitted__gt=0).exists()
    if has_worked and (work["submitted"] or not failed):
        return replace(_completion_state(entry, CrowdEntry.Outcome.COMPLETED), work_later=work_later)
    return _completion_state(entry, CrowdEntry.Outcome.SCREENED_OUT) if failed else CompletionState()


def finish(*, entry: CrowdEntry, now: datetime) -> CompletionState:
    """Write down how the person's work ended, once; asking again gives the same."""
    with transaction.atomic():
        end = completion_state(entry, now=now)
        if end.outcome and CrowdEntry.objects.filter(pk=entry.pk, outcome="").update(
            outcome=end.outcome, ended_at=now
        ):
            audit_log.log(
                entry, "entered", end.outcome, by=entry.person, now=now, project=entry.link.project_id
            )
    return end


def _work_availability(person: Person, project: Project, now: datetime) -> tuple[bool, bool, bool]:
    """Whether the person can get an item of an open batch now, whether later, and whether a qualification failed: also
    one that they had begun when it was closed.
    """
    batches = list(
        Batch.objects.filter(project=project, opened_at__isnull=False, closed_at__isnull=True).select_related(
            "project", "requires"
        )
    )
    remaining = availability.left_for(person, [batch.pk for batch in batches])
    judged = dict(
        Qualification.objects.filter(batch__project=project, person=person).values_list("batch_id", "passed")
    )
    shut = {batch.pk for batch in batches if batch.pk not in judged and _is_blocked(batch, person, now)}
    failed = later = False
    for batch in batches:
        if batch.purpose == Batch.Purpose.QUALIFICATION:
            # Its places are made when a person comes: the missing result says that work is left.
            if batch.pk not in judged and batch.items_count:
                if batch.pk not in shut:
                    return True, later, failed
                later = True
            continue
        if batch.requires_id is not None and judged.get(batch.requires_id) is False:
            failed = True
            continue
        if batch.requires is not None and batch.requires.closed_at and batch.requires_id not in judged:
            failed |= PersonBatchCounts.objects.filter(person=person, batch=batch.requires).exists()
            continue
        if remaining[batch.pk] and not {batch.pk, batch.requires_id} & shut:
            return True, later, failed
        later |= bool(remaining[batch.pk])
    return False, later, failed


def _is_blocked(batch: Batch, person: Person, now: datetime) -> bool:
    """Whether a pause or a limit is before the person's next item. Assignments in progress may be finished."""
    is_begun = Assignment.objects.filter(batch=batch, person=person, state=Assignment.State.LEASED).exists()
    requirement = entry_requirements.first_unmet(batch=batch, person=person, now=now, begun=is_begun)
    return requirement is not None and requirement.code in ("batch_paused", "cap_reached")


def _completion_state(entry: CrowdEntry, outcome: str) -> CompletionState:
    link = entry.link
    code = link.completion_code if outcome == CrowdEntry.Outcome.COMPLETED else link.screen_out_code
    return CompletionState(str(outcome), code, link.return_url.replace("{code}", quote(code, safe="")))


# -- underneath -------------------------------------------------------------------------------------


def _refused(code: str, *sentences: str) -> ActionRefused:
    """What a participant reads: the sentences, and whom to ask."""
    return ActionRefused(code, " ".join([*sentences, gettext(ASK_THE_RESEARCHERS)]))


def _require_crowd_account(entry: CrowdEntry) -> None:
    """Raises ActionRefused (crowd_taken) unless the account belongs to this project's crowd only. Otherwise a
    person with the link, such as the manager who made it, could sign in to other projects of the account.

    Locks the account inside a transaction, so that it is not registered meanwhile.
    """
    account_rows = Person.objects.filter(pk=entry.person_id)
    person = (
        account_rows.select_for_update(no_key=True) if connection.in_atomic_block else account_rows
    ).get()
    elsewhere = Membership.objects.filter(person=person).exclude(project_id=entry.link.project_id)
    if person.email or person.has_usable_password() or person.is_administrator or elsewhere.exists():
        refuse(
            "crowd_taken",
            "A return link is not possible: the account has an e-mail address, a password or "
            "another project. Its owner can sign in, or ask an administrator for a new password.",
        )
