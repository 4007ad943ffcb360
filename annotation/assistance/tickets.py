"""Short-lived tickets for requests of a page to the gateway about its item, without session and cookie.

A ticket is signed, not secret: it names its holder, the assignment, the lease and the language by ids that say nothing to
others, and holds nothing of the item. Its holder may ask for previews and checks of this item until it expires, and
nothing else.
"""

from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.http import Http404
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation.access import authorization
from annotation.assistance.draft_checks import derive_slot
from annotation.models import Assignment, Person
from annotation.platform.refusals import ActionRefused

SALT = "askew.gateway"
SECONDS = 300


@dataclass(frozen=True)
class Ticket:
    """What a ticket says: its holder, assignment, slot of the lease, language.

    `holder` is an id that only the server can compute. It is another one once the person's sessions were ended.
    """

    holder: str
    assignment: str
    slot: str
    language: str


def sign(assignment: Assignment, *, language: str | None) -> str:
    """A ticket for this lease of this person."""
    ticket = Ticket(
        _holder(assignment.person), assignment.public_id, derive_slot(assignment), language or "en"
    )
    return signing.dumps(vars(ticket), salt=SALT)


def read(text: str) -> Ticket:
    """The ticket. Raises ActionRefused(ticket_expired, not_authenticated)."""
    try:
        data: dict[str, Any] = signing.loads(text, salt=SALT, max_age=SECONDS)
        return Ticket(**data)
    except signing.SignatureExpired:
        raise ActionRefused("ticket_expired", "The ticket has expired. Request another one.") from None
    except (signing.BadSignature, TypeError):
        raise ActionRefused("not_authenticated", "This needs a valid ticket.") from None


def assignment_of(ticket: Ticket) -> Assignment:
    """The assignment of a ticket, loaded anew. Raises Http404, ActionRefused: other session, other lease, no member."""
    people = Assignment.objects.filter(public_id=ticket.assignment).values_list("person_id", flat=True)
    assignment = authorization.own_assignment(people.first() or 0, ticket.assignment)
    if (
        assignment is None
        or not assignment.person.is_active
        or not constant_time_compare(ticket.holder, _holder(assignment.person))
        or not constant_time_compare(ticket.slot, derive_slot(assignment))
    ):
        raise Http404(authorization.NOT_HERE)
    return authorization.assignment(
        authorization.Actor(assignment.person, loaded=assignment), ticket.assignment
    )


def _holder(person: Person) -> str:
    """Changes with the password and when the person signs out everywhere."""
    value = f"{person.pk}:{person.get_session_auth_hash()}"
    return salted_hmac(SALT, value, algorithm="sha256").hexdigest()[:16]
