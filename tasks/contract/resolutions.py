"""What the responses of an item come to: accepted, one more response needed, or a case for an adjudicator."""

from dataclasses import dataclass
from typing import Any, Literal

Nature = Literal["labels", "scales", "sets", "edits", "texts", "answers"]
"""What the responses of a kind are, as far as deciding goes."""


@dataclass(frozen=True)
class Outcome:
    """One accepted response and the places (indexes into the responses) that support it."""

    response: Any
    by: tuple[int, ...]


@dataclass(frozen=True)
class Acceptance:
    """Decided. Without outcomes the item is excluded from releases, and `reason` says why."""

    outcomes: tuple[Outcome, ...]
    reason: str = ""


@dataclass(frozen=True)
class NeedsResponse:
    """Undecided: one more person should answer."""

    reason: str


@dataclass(frozen=True)
class NeedsAdjudication:
    """Undecided: an adjudicator should look."""

    reason: str


class Undecidable(Exception):
    """What a rule comes to would break a condition of the task type, for the reason in its words: an adjudicator decides."""


Resolution = Acceptance | NeedsResponse | NeedsAdjudication
