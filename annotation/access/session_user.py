"""Who a session belongs to: Django's own way, with a statement that is made once.

The person and their assignment are loaded together (`WithAssignment`): one query in place of two.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from annotation.access import authorization
from annotation.models import Person
from annotation.platform.prepared_statements import Select, param_int

_person = Select(lambda: Person.objects.filter(pk=param_int("person")))

FORMER_BACKEND = "annotation.signed_in.Backend"
"""The name of `Backend` in the session cookies of people who signed in before it was moved."""

WITH_ASSIGNMENT = "with_assignment"
"""Views that have it are of one assignment, by `public_id`."""


class WithAssignment(AuthenticationMiddleware):
    """Django's own; for views of an assignment, person and assignment are loaded as one."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _signed_in(request))  # type: ignore[assignment]

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]) -> None:
        if getattr(getattr(view, "cls", None), WITH_ASSIGNMENT, False):
            request.user = SimpleLazyObject(lambda: _with_assignment(request, kwargs["public_id"]))  # type: ignore[assignment]


def _signed_in(request: HttpRequest) -> Any:
    """The person who is signed in, under the present or the former name of the backend."""
    if request.session.get(BACKEND_SESSION_KEY) == FORMER_BACKEND:
        request.session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    return get_user(request)


def _with_assignment(request: HttpRequest, public_id: str) -> Any:
    """The person who is signed in; their own assignment is then in `request.assignment` for `access`."""
    session = request.session
    if str(session.get(SESSION_KEY, "")).isdecimal():
        assignment = authorization.own_assignment(int(session[SESSION_KEY]), public_id)
        signed = session.get(HASH_SESSION_KEY, "")
        # Sessions that are over, and accounts that are closed, are for Django to say no to.
        if (
            assignment is not None
            and assignment.person.is_active
            and constant_time_compare(signed, assignment.person.get_session_auth_hash())
        ):
            request.assignment = assignment  # type: ignore[attr-defined]
            return assignment.person
    return _signed_in(request)


class Backend(ModelBackend):
    """Passwords and permissions as Django has them; this runs with every request."""

    def get_user(self, user_id: Any) -> Person | None:
        """The person of a session, unless the account was closed."""
        person: Person | None = _person.first(person=int(user_id))
        return person if person is not None and self.user_can_authenticate(person) else None
