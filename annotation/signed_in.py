"""Who a session belongs to: Django's own way, with a statement that is made once."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend

from annotation.compiled import Select, number
from annotation.models import Person

_person = Select(lambda: Person.objects.filter(pk=number("person")))


class Backend(ModelBackend):
    """Passwords and permissions as Django has them; this runs with every request."""

    def get_user(self, user_id: Any) -> Person | None:
        """The person of a session, unless the account was closed."""
        found: Person | None = _person.one(person=int(user_id))
        return found if found is not None and self.user_can_authenticate(found) else None
