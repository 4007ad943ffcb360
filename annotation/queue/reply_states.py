"""How requests to language models and their replies end: one name and one wording in all counts.

Each state is counted on its own: "refused" is a request that the endpoint rejects, "declined" a reply in which the model
refuses to answer.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from django.utils.translation import gettext, gettext_noop

WORDS: Final[Mapping[str, str]] = {
    "answered": gettext_noop("answered"),
    "cut_off": gettext_noop("cut off"),
    "declined": gettext_noop("declined by the model"),
    "filtered": gettext_noop("filtered"),
    "unreadable": gettext_noop("without text"),
    "no_list": gettext_noop("without a list of answers"),
    "refused": gettext_noop("rejected by the endpoint"),
    "parameters": gettext_noop("parameters rejected"),
    "invalid": gettext_noop("invalid"),
    "too_large": gettext_noop("too large for the model"),
    "away": gettext_noop("failed"),
    "open": gettext_noop("in progress"),
}
"""States of requests (`ModelRequest.State`), replies (`predictor.listing.STATES`) and proposals (`Reply.Outcome`), in the
order of their columns. "invalid": a reply that breaks the contract.
"""


def columns(rows: Iterable[Mapping[str, int]]) -> list[str]:
    """The states that occur in any of the rows, in their order."""
    occurring = {state for row in rows for state, count in row.items() if count}
    return [state for state in WORDS if state in occurring]


def in_words(states: Mapping[str, int]) -> str:
    """The counts as a list in the reader's language: "3 cut off, 1 filtered"; "" where there are none."""
    return ", ".join(
        f"{states[state]} {gettext(label)}" for state, label in WORDS.items() if states.get(state)
    )
