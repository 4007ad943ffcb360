"""Whom a manager invites, from a pasted list: one link for each address."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext

from annotation.models import Membership, Project

MOST: Final = 200
"""Addresses in one list."""

LONGEST_NAME: Final = 120

_ENTRY = re.compile(r'(?:"[^"]*"|[^,;])+')
"""What is between commas and semicolons that are outside of quotation marks."""


@dataclass(frozen=True)
class Invitee:
    """A person in the list: `email` in lower case; `name` as it was written, else ""."""

    email: str
    name: str = ""

    @property
    def label(self) -> str:
        """What the list of invitations calls them."""
        return self.name or self.email[:LONGEST_NAME]


@dataclass(frozen=True)
class Invitees:
    """A list as it was read: each address once, sentences on lines that cannot be read, addresses that occur again."""

    people: Sequence[Invitee]
    problems: Sequence[str]
    repeated: Sequence[str]


def read(text: str) -> Invitees:
    """Read addresses that are separated by commas, semicolons or line breaks, each alone or as in `Name <a@b.org>`.

    A name may also be in its own column before or behind its address, as spreadsheets copy it.
    """
    people: dict[str, Invitee] = {}
    problems: list[str] = []
    repeated: dict[str, None] = {}
    for line_number, line in enumerate(text.splitlines(), start=1):
        for entry in filter(None, map(str.strip, _ENTRY.findall(line))):
            try:
                invitee = _read_entry(entry)
            except ValidationError as error:
                problems.append(
                    gettext("Line {number}: {problem}").format(number=line_number, problem=error.message)
                )
                continue
            if invitee.email in people:
                repeated[invitee.email] = None
            people.setdefault(invitee.email, invitee)
    if len(people) > MOST:
        problems.append(
            gettext("The list has {number} addresses. Invite at most {most} at once.").format(
                number=len(people), most=MOST
            )
        )
    return Invitees(tuple(people.values()), problems, tuple(repeated))


def _read_entry(entry: str) -> Invitee:
    first, *others = entry.split()
    is_behind = "@" in first and others and "@" not in others[-1]
    *name_parts, address = [*others, first] if is_behind else [first, *others]
    email = address.removeprefix("<").removesuffix(">").removeprefix("mailto:").lower()
    name = " ".join(name_parts).strip('"').strip()
    if "@" not in email:
        raise ValidationError(gettext("“{entry}” has no e-mail address.").format(entry=entry[:80]))
    if "@" in name:
        raise ValidationError(
            gettext("“{entry}” has two addresses. Separate them with a comma.").format(entry=entry[:80])
        )
    try:
        validate_email(email)
    except ValidationError:
        raise ValidationError(
            gettext("“{email}” is not a valid e-mail address.").format(email=email[:80])
        ) from None
    if len(name) > LONGEST_NAME:
        raise ValidationError(
            gettext("The name of {email} is longer than {most} characters.").format(
                email=email, most=LONGEST_NAME
            )
        )
    return Invitee(email, name)


def members_among(project: Project, invitees: Sequence[Invitee]) -> set[str]:
    """The addresses of present members of the project."""
    members = Membership.objects.filter(
        project=project, removed_at__isnull=True, person__email__in=[each.email for each in invitees]
    )
    return {email for email in members.values_list("person__email", flat=True) if email}
