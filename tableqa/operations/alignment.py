"""Which rows and columns of an edited table are which of its base, without recorded edits."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import count, pairwise

from tableqa.data.tables import Table

_LARGEST_BLOCK = 40_000
"""Pairs of rows up to which a changed block is aligned by cost; larger ones are paired in order."""

_GAP = 0.55
"""What a row without partner costs; two of them cost a little more than a pair that has no cell in common."""

_MOVE = 0.25
"""What it costs that a column is before one that it was behind."""

_Pairs = dict[int, int]
"""Places in the edited table -> places in the base."""


def align(base: Table, edited: Table) -> Table:
    """`edited` with the ids of the rows and columns of `base` that its own come from, and n1, n2, ... for the new ones.

    Equal columns and rows are found first, in order and then moved; what is changed is paired so that the fewest cells
    differ. Deterministic.
    """
    columns = _pair_columns(base, edited)
    shared = sorted(columns)
    before = [tuple(row[columns[k]] for k in shared) for row in base.rows]
    after = [tuple(row[k] for k in shared) for row in edited.rows]
    rows = _pair_lines(before, after)
    return with_ids_of(base, edited, columns, rows)


def with_ids_of(base: Table, edited: Table, columns: Mapping[int, int], rows: Mapping[int, int]) -> Table:
    """`edited` with the ids of `base`; `columns` and `rows` map positions in `edited` to positions in `base`."""
    fresh = _fresh_names(base)
    return replace(
        edited,
        spans=(),
        column_ids=tuple(
            base.column_ids[columns[k]] if k in columns else next(fresh) for k in range(edited.shape[1])
        ),
        row_ids=tuple(base.row_ids[rows[k]] if k in rows else next(fresh) for k in range(edited.shape[0])),
        header_id=base.header_id,
    )


def _fresh_names(base: Table) -> Iterator[str]:
    used_ids = {*base.row_ids, *base.column_ids}
    return (name for suffix in count(1) if (name := f"n{suffix}") not in used_ids)


def _pair_columns(base: Table, edited: Table) -> _Pairs:
    if base.header == edited.header:
        return {j: j for j in range(len(base.header))}
    # Headers repeat and may be empty, so whole columns are the better witnesses while no row came or went.
    whole = base.shape[0] == edited.shape[0]
    before, after = _columns(base, whole), _columns(edited, whole)
    pairs: _Pairs = {}
    _pair_equal(before, after, pairs)
    _pair_equal(base.header, edited.header, pairs)
    for old, new in gaps(len(before), len(after), pairs):
        pairs.update(_cheapest([before[i] for i in old], [after[k] for k in new], old, new))
    in_place = {j: j for j in range(len(before))}
    if len(before) == len(after) and _cost(in_place, before, after) <= _cost(pairs, before, after):
        return in_place
    return pairs


def _columns(table: Table, whole: bool) -> list[tuple[str, ...]]:
    if not whole:
        return [(name,) for name in table.header]
    return [(name, *(row[j] for row in table.rows)) for j, name in enumerate(table.header)]


def _cost(pairs: _Pairs, before: Sequence[tuple[str, ...]], after: Sequence[tuple[str, ...]]) -> float:
    alone = len(before) + len(after) - 2 * len(pairs)
    changed = sum(_distance(before[i], after[k]) for k, i in pairs.items())
    in_order = [i for _, i in sorted(pairs.items())]
    moved = sum(i > following for i, following in pairwise(in_order))
    return alone * _GAP + changed + moved * _MOVE


def _pair_equal(
    before: Sequence[Hashable], after: Sequence[Hashable], pairs: _Pairs, repeated: bool = False
) -> None:
    """Add the pairs of equal lines that have no partner yet: those in order first, then those moved.

    Of moved lines only unique ones are paired, or with `repeated` all of them, from the top.
    """
    used = set(pairs.values())
    old = [i for i in range(len(before)) if i not in used]
    new = [k for k in range(len(after)) if k not in pairs]
    matcher = SequenceMatcher(
        None, [before[i] for i in old], [after[k] for k in new], autojunk=len(old) * len(new) > 4_000_000
    )
    for start, other, size in matcher.get_matching_blocks():
        pairs.update((new[other + step], old[start + step]) for step in range(size))
    used = set(pairs.values())
    old = [i for i in old if i not in used]
    new = [k for k in new if k not in pairs]
    places: dict[Hashable, list[int]] = {}
    for i in old:
        places.setdefault(before[i], []).append(i)
    often_new = Counter(after[k] for k in new)
    for k in new:
        same = places.get(after[k], [])
        if same and (repeated or len(same) == often_new[after[k]] == 1):
            pairs[k] = same.pop(0)


def _pair_lines(before: Sequence[tuple[str, ...]], after: Sequence[tuple[str, ...]]) -> _Pairs:
    top = 0
    while top < min(len(before), len(after)) and before[top] == after[top]:
        top += 1
    bottom = 0
    while bottom < min(len(before), len(after)) - top and before[-1 - bottom] == after[-1 - bottom]:
        bottom += 1
    pairs: _Pairs = {k: k for k in range(top)}
    pairs.update((len(after) - 1 - step, len(before) - 1 - step) for step in range(bottom))
    _pair_equal(before, after, pairs, repeated=True)
    for old, new in gaps(len(before), len(after), pairs):
        if len(old) * len(new) > _LARGEST_BLOCK:
            pairs.update(zip(new, old, strict=False))
        else:
            pairs.update(_cheapest([before[i] for i in old], [after[k] for k in new], old, new))
    return pairs


def gaps(olds: int, news: int, pairs: _Pairs) -> list[tuple[list[int], list[int]]]:
    """What has no partner, in blocks between the pairs that are in order."""
    anchors = [(-1, -1)]
    for k, i in sorted(pairs.items()):
        if i > anchors[-1][0]:
            anchors.append((i, k))
    anchors.append((olds, news))
    used = set(pairs.values())
    gaps = []
    for (i, k), (next_i, next_k) in pairwise(anchors):
        old = [index for index in range(i + 1, next_i) if index not in used]
        new = [index for index in range(k + 1, next_k) if index not in pairs]
        if old and new:
            gaps.append((old, new))
    return gaps


def _cheapest(
    before: Sequence[tuple[str, ...]],
    after: Sequence[tuple[str, ...]],
    old: Sequence[int],
    new: Sequence[int],
) -> _Pairs:
    """The pairing in order with the least cost: a pair costs the share of its cells that differ, a line alone `_GAP`."""
    costs = [[step * _GAP for step in range(len(after) + 1)]]
    for i, line in enumerate(before):
        row = [(i + 1) * _GAP]
        for k, other in enumerate(after):
            row.append(min(costs[i][k] + _distance(line, other), costs[i][k + 1] + _GAP, row[k] + _GAP))
        costs.append(row)
    pairs: _Pairs = {}
    i, k = len(before), len(after)
    while i and k:
        if costs[i][k] == costs[i - 1][k - 1] + _distance(before[i - 1], after[k - 1]):
            i, k = i - 1, k - 1
            pairs[new[k]] = old[i]
        elif costs[i][k] == costs[i - 1][k] + _GAP:
            i -= 1
        else:
            k -= 1
    return pairs


def _distance(line: tuple[str, ...], other: tuple[str, ...]) -> float:
    if not line:
        return 0.0
    return sum(a != b for a, b in zip(line, other, strict=True)) / len(line)
