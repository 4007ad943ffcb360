"""Who may do what in a project, as data: the code asks, the docs print. Administrators are site-wide."""

from enum import StrEnum
from typing import Final

from django.utils.translation import gettext_noop


class Role(StrEnum):
    """What a person can be in a project; one may be several."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    RESEARCHER = "researcher"
    VIEWER = "viewer"
    MANAGER = "manager"


class Permission(StrEnum):
    """What can be done in a project; also the scopes of tokens."""

    ANNOTATE = "annotate"
    ADJUDICATE = "adjudicate"
    SEE_PROGRESS = "see_progress"
    IMPORT = "import"
    SET_UP = "set_up"
    INVITE = "invite"
    RELEASE = "release"


PERMISSIONS: Final[dict[Role, frozenset[Permission]]] = {
    Role.ANNOTATOR: frozenset({Permission.ANNOTATE}),
    Role.ADJUDICATOR: frozenset({Permission.ADJUDICATE, Permission.SEE_PROGRESS}),
    Role.RESEARCHER: frozenset({Permission.SEE_PROGRESS, Permission.RELEASE}),
    Role.VIEWER: frozenset({Permission.SEE_PROGRESS}),
    Role.MANAGER: frozenset(
        {
            Permission.SEE_PROGRESS,
            Permission.IMPORT,
            Permission.SET_UP,
            Permission.INVITE,
            Permission.RELEASE,
        }
    ),
}

DESCRIPTIONS: Final[dict[Role, str]] = {
    Role.ANNOTATOR: gettext_noop("annotates items of open batches"),
    Role.ADJUDICATOR: gettext_noop(
        "decides where annotators disagree, and excludes, flags or sends back several items at once"
    ),
    Role.RESEARCHER: gettext_noop("reads agreement and creates releases"),
    Role.VIEWER: gettext_noop("reads responses, figures and releases, and changes nothing"),
    Role.MANAGER: gettext_noop(
        "imports data, opens batches, invites people, creates releases, and excludes, flags or sends back "
        "several items at once"
    ),
}


def permissions(roles: list[str]) -> frozenset[Permission]:
    """Everything that a person with these roles may do. An unknown role is an error, not a no."""
    return frozenset().union(*(PERMISSIONS[Role(role)] for role in roles))
