"""Who gets which items, and which examples a batch draws: pure functions of what they are given and a seed.

Nothing here reads the database or the clock: the same arguments give the same answer on every machine, and a plan can
be computed again from its file. `annotation.queue.sampling` applies what is decided here.
"""

import random
from collections import deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from django.utils.translation import gettext_noop

T = TypeVar("T", bound=Hashable)
P = TypeVar("P", bound=Hashable)

STRATA: Final[dict[str, str]] = {
    "": gettext_noop("random, from all examples"),
    "source": gettext_noop("by source, in proportion to source size"),
    "difficulty": gettext_noop(
        "by difficulty (table size, and whether the answers are cells), in proportion"
    ),
}
SMALL, MEDIUM = 50, 200
"""Cells, without the header, up to which a table is small and up to which it is of medium size."""


# -- what a batch draws -----------------------------------------------------------------------------


def difficulty(cells: int, among_cells: bool) -> str:
    """How hard a question is, by its table: the size of the table, and whether the answers are cells of it.

    `cells` is rows times columns, `among_cells` whether every answer is, as text, a cell of the table. What is found
    as a cell can be pointed at; what is not has to be worked out.
    """
    size = "small" if cells <= SMALL else "medium" if cells <= MEDIUM else "large"
    return f"{size} table, {'answers are cells' if among_cells else 'answers are worked out'}"


def shares(counts: Mapping[T, int], size: int) -> dict[T, int]:
    """How many of `size` each stratum gives, in proportion to its count (largest remainders; ties in the given order).

    The sum is `size`, or everything there is where that is less; no stratum gives more than it has, or differs from
    its exact share by one or more.
    """
    total = sum(counts.values())
    if size >= total:
        return dict(counts)
    sizes = {key: count * size // total for key, count in counts.items()}
    remainder = {key: count * size % total for key, count in counts.items()}
    remaining = size - sum(sizes.values())
    for key in sorted(counts, key=lambda key: -remainder[key])[:remaining]:
        sizes[key] += 1
    return sizes


def stratified(strata: Mapping[T, Sequence[P]], size: int | None, seed: int) -> list[P]:
    """A seeded sample that keeps the share of each stratum (`shares`); None takes everything.

    The order is random, and keeps the shares too: of what comes first, no stratum is more than an item ahead of the
    share that all have reached, or behind it.
    """
    rng = random.Random(f"stratified:{seed}")
    counts = {key: len(members) for key, members in strata.items()}
    sizes = shares(counts, sum(counts.values()) if size is None else size)
    drawn = []
    for key, members in strata.items():
        chosen = rng.sample(list(members), sizes[key])
        drawn += [((at + rng.random()) / len(chosen), item) for at, item in enumerate(chosen)]
    return [item for _, item in sorted(drawn, key=lambda entry: entry[0])]


# -- who gets what ----------------------------------------------------------------------------------


def split(
    items: Sequence[T],
    people: Sequence[P],
    overlap: int,
    *,
    seed: int,
    barred: Mapping[T, Collection[P]] | None = None,
    loads: Mapping[P, int] | None = None,
    most: int | None = None,
) -> dict[T, tuple[P, ...]]:
    """A fixed share for each person: each item with the `overlap` people who get it.

    A person is once on an item at most, on none they are `barred` from. `loads` is what people have already, `most` the
    limit. The loads are as even as they can be: where two differ by two or more, no exchange of items could bring them
    together. If none are barred or have items already, they differ by one at most. An item that fewer
    than `overlap` people may have gets all of these.
    """
    bars = barred or {}
    rng = random.Random(f"split:{seed}")
    order = list(people)
    rng.shuffle(order)
    rank = {person: at for at, person in enumerate(order)}
    load = {person: (loads or {}).get(person, 0) for person in order}
    items_by_person: dict[P, dict[T, None]] = {person: {} for person in order}
    # Items that few may have are given out first: the others can then make up for it.
    waiting = sorted(items, key=lambda item: -len(bars.get(item, ())))
    for item in waiting:
        may = [
            person
            for person in order
            if person not in bars.get(item, ()) and (most is None or load[person] < most)
        ]
        # Drawn among the equally loaded, so that the same people do not meet on every item.
        for person in sorted(may, key=lambda person: (load[person], rng.random()))[:overlap]:
            items_by_person[person][item] = None
            load[person] += 1
    _balance(items_by_person, load, bars)
    people_by_item: dict[T, list[P]] = {item: [] for item in items}
    for person in sorted(items_by_person, key=rank.__getitem__):
        for item in items_by_person[person]:
            people_by_item[item].append(person)
    for assignees in people_by_item.values():
        rng.shuffle(assignees)
    return {item: tuple(assignees) for item, assignees in people_by_item.items()}


def _balance(
    items_by_person: Mapping[P, dict[T, None]], load: dict[P, int], bars: Mapping[T, Collection[P]]
) -> None:
    """Pass items on, from person to person, for as long as that brings two loads together that differ by two or more.

    Where no such chain is left the loads are as even as they can be (the cost-reducing paths of Harvey, Ladner, Lovász
    and Tamir 2006, "Semi-matchings for bipartite graphs and load balancing").
    """
    while chain := next(
        filter(None, (_chain(items_by_person, load, bars, person) for person in _heaviest(load))), None
    ):
        first, last = chain[0][0], chain[-1][1]
        for giver, taker, item in reversed(chain):
            del items_by_person[giver][item]
            items_by_person[taker][item] = None
        load[first] -= 1
        load[last] += 1


def _heaviest(load: Mapping[P, int]) -> Iterable[P]:
    least = min(load.values(), default=0)
    return sorted((person for person in load if load[person] >= least + 2), key=lambda person: -load[person])


def _chain(
    items_by_person: Mapping[P, Mapping[T, None]],
    load: Mapping[P, int],
    bars: Mapping[T, Collection[P]],
    start: P,
) -> list[tuple[P, P, T]]:
    """The shortest way to pass one item each from `start` to a person who has two fewer; empty where there is none."""
    came: dict[P, tuple[P, T]] = {}
    waiting = deque([start])
    while waiting:
        giver = waiting.popleft()
        for taker in items_by_person:
            if taker == start or taker in came:
                continue
            item = next(
                (
                    candidate
                    for candidate in items_by_person[giver]
                    if candidate not in items_by_person[taker] and taker not in bars.get(candidate, ())
                ),
                None,
            )
            if item is None:
                continue
            came[taker] = (giver, item)
            if load[start] - load[taker] >= 2:
                return _walk(came, start, taker)
            waiting.append(taker)
    return []


def _walk(came: Mapping[P, tuple[P, T]], start: P, end: P) -> list[tuple[P, P, T]]:
    steps = []
    while end != start:
        giver, item = came[end]
        steps.append((giver, end, item))
        end = giver
    return steps[::-1]
