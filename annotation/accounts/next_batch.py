"""Which batch a person should go on with, and how home groups the others. Pure functions over what a batch has for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext_noop


@dataclass(frozen=True)
class BatchAvailability:
    """What a batch has for a person.

    remaining  items for them, those in progress included
    leased     items in progress
    ended_at   when they last submitted or skipped an item of it; None before the first
    locked     whether a qualification comes first
    admits     whether it is a qualification
    """

    remaining: int = 0
    leased: int = 0
    ended_at: datetime | None = None
    locked: bool = False
    admits: bool = False

    @property
    def has_begun(self) -> bool:
        return bool(self.leased) or self.ended_at is not None

    @property
    def group(self) -> str:
        """Its group on home, a key of `GROUPS`."""
        if self.remaining and self.locked:
            return "locked"
        if self.remaining:
            return "begun" if self.has_begun else "new"
        return "done"


GROUPS: Final = {
    "begun": gettext_noop("In progress"),
    "new": gettext_noop("Not started"),
    "locked": gettext_noop("Qualification first"),
    "done": gettext_noop("Nothing left for you"),
}
"""The groups of home in their order, with their titles."""


def sort_batches(standings: Sequence[BatchAvailability]) -> list[int]:
    """The batches (by place) that the person can go on with, the best first.

    Where they worked last comes first, then what else they began, then a qualification, then what was opened first.
    """
    open_to_them = [
        index for index, standing in enumerate(standings) if standing.remaining and not standing.locked
    ]

    def rank(index: int) -> tuple[bool, float, bool, int]:
        standing = standings[index]
        latest = -standing.ended_at.timestamp() if standing.ended_at is not None else 0.0
        return (not standing.has_begun, latest, not standing.admits, index)

    return sorted(open_to_them, key=rank)
