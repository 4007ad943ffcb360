"""How requests to language models and their replies end: one name and one wording wherever they are counted.

Each state is counted on its own: "refused" is a request that the endpoint rejects, "declined" a reply in which the model
refuses to answer.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    "away": gettext_noop("failed"),
    "open": gettext_noop("in progress"),
}
"""States of requests (`ModelRequest.State`) and of replies (`predictor.listing.STATES`), in the order of their columns."""


def in_words(states: Mapping[str, int]) -> str:
    """The counts as a list in the reader's language: "3 cut off, 1 filtered"; "" where there are none."""
    return ", ".join(
        f"{states[state]} {gettext(words)}" for state, words in WORDS.items() if states.get(state)
    )
