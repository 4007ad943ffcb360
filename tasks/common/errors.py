"""What can be wrong with what a machine proposed or a person made: LETA's classes of errors. (RobuT, table 6)"""

from __future__ import annotations

ERRORS = {
    "meaning_changed": "The meaning is changed",
    "not_asked": "It is not what was asked for",
    "missing": "Something is missing",
    "invented": "Something is invented",
}

IN_SHORT = {
    "meaning_changed": "meaning changed",
    "not_asked": "not asked for",
    "missing": "incomplete",
    "invented": "invented",
}
"""The same on a button."""
