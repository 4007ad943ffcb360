"""What can be wrong with what a machine proposed or a person made: LETA's classes of errors. (RobuT, table 6)"""

from tableqa.core.translation import gettext_noop

ERRORS = {
    "meaning_changed": gettext_noop("The meaning is changed"),
    "not_asked": gettext_noop("Not what was asked for"),
    "missing": gettext_noop("Something is missing"),
    "invented": gettext_noop("Something is invented"),
}

IN_SHORT = {
    "meaning_changed": gettext_noop("meaning changed"),
    "not_asked": gettext_noop("not asked for"),
    "missing": "incomplete",
    "invented": "invented",
}
"""The same on a button."""
