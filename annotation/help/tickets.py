"""Short-lived tickets with which a page asks the gateway about its item, without session and cookie.

A ticket is signed, not secret: it names the person, their session, the lease and the language, and holds nothing of the
item. Whoever has it may ask for previews and checks of this item until it expires, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.http import Http404
from django.utils.crypto import constant_time_compare

from annotation import access
from annotation.help.predicting import slot_of
from annotation.models import Assignment, Person
from annotation.refusals import Refused

SALT = "askew.gateway"
SECONDS = 300


@dataclass(frozen=True)
class Ticket:
    """What a ticket says: person, part of the hash of their session, assignment, slot of the lease, language."""

    person: int
    session: str
    assignment: str
    slot: str
    language: str


def sign(assignment: Assignment, *, language: str | None) -> str:
    """A ticket for this lease of this person."""
    ticket = Ticket(
        assignment.person_id,
        _session(assignment.person),
        assignment.public_id,
        slot_of(assignment),
        language or "en",
    )
    return signing.dumps(vars(ticket), salt=SALT)


def read(text: str) -> Ticket:
    """The ticket. Raises Refused(ticket_expired, not_authenticated)."""
    try:
        data: dict[str, Any] = signing.loads(text, salt=SALT, max_age=SECONDS)
        return Ticket(**data)
    except signing.SignatureExpired:
        raise Refused("ticket_expired", "The ticket has expired. Request another one.") from None
    except (signing.BadSignature, TypeError):
        raise Refused("not_authenticated", "This needs a valid ticket.") from None


def assignment_of(ticket: Ticket) -> Assignment:
    """The assignment of a ticket, loaded anew. Raises Http404, Refused: other session, other lease, no member."""
    assignment = access.own_assignment(ticket.person, ticket.assignment)
    if (
        assignment is None
        or not assignment.person.is_active
        or not constant_time_compare(ticket.session, _session(assignment.person))
        or not constant_time_compare(ticket.slot, slot_of(assignment))
    ):
        raise Http404(access.NOT_HERE)
    return access.assignment(access.Actor(assignment.person, loaded=assignment), ticket.assignment)


def _session(person: Person) -> str:
    """Changes with the password and when the person signs out everywhere."""
    return person.get_session_auth_hash()[:16]
