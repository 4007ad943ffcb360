"""The order of rows and columns: a list that is cheap to rearrange, and what turns one order into another."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Order:
    """Names in an order, as a linked list: inserting, removing and moving take the same time however many there are."""

    def __init__(self, names: Sequence[str]) -> None:
        ring: list[str | None] = [None, *names, None]
        self._next: dict[str | None, str | None] = dict(pairwise(ring))
        self._previous: dict[str | None, str | None] = dict(pairwise(reversed(ring)))

    def insert(self, new: str, after: str | None) -> None:
        """Put `new` directly after `after`, or first for None."""
        below = self._next[after]
        self._next[after], self._next[new] = new, below
        self._previous[below], self._previous[new] = new, after

    def remove(self, old: str) -> None:
        above, below = self._previous.pop(old), self._next.pop(old)
        self._next[above], self._previous[below] = below, above

    def before(self, name: str) -> str | None:
        """What is directly before `name`, None if it is the first."""
        return self._previous[name]

    def names(self) -> list[str]:
        names = []
        current = self._next[None]
        while current is not None:
            names.append(current)
            current = self._next[current]
        return names


class ChangesOfOrder(NamedTuple):
    """(name, after) pairs, to be done in this order: first what moves, then what is new."""

    moves: list[tuple[str, str | None]]
    insertions: list[tuple[str, str | None]]


def changes_of_order(old: Sequence[str], new: Sequence[str], created: Sequence[str] = ()) -> ChangesOfOrder:
    """The fewest moves, and the insertions, that turn `old`, without what is not in `new`, into `new`.

    New names are inserted in the order of `created`, those not in it last and from the front.
    """
    places = {name: index for index, name in enumerate(old)}
    common_names = [name for name in new if name in places]
    stay = _longest_rising([places[name] for name in common_names])
    moves = [
        (name, common_names[i - 1] if i else None)
        for i, name in enumerate(common_names)
        if places[name] not in stay
    ]
    turns = {name: turn for turn, name in enumerate(created)}
    fresh = [name for name in new if name not in places]
    fresh.sort(key=lambda name: turns.get(name, len(turns)))
    # Taken out again last first, each one's neighbour is the one that it was put after.
    order, insertions = Order(new), []
    for name in reversed(fresh):
        insertions.append((name, order.before(name)))
        order.remove(name)
    return ChangesOfOrder(moves, insertions[::-1])


def _longest_rising(places: Sequence[int]) -> set[int]:
    """A longest rising subsequence of different numbers (patience sorting), as a set."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for i, position in enumerate(places):
        length = bisect_left(tails, position)
        previous.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(position)
            ends.append(i)
        else:
            tails[length], ends[length] = position, i
    rising = set()
    i = ends[-1] if ends else -1
    while i >= 0:
        rising.add(places[i])
        i = previous[i]
    return rising
