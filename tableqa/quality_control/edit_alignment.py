"""Which rows and columns of an edited table are those of its base, where a spreadsheet or a script may have rewritten texts.

`match_ids` finds the likeliest edit, and `permitted_alignment` one that a contract permits, if there is one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from tableqa.cells import fold, number_of
from tableqa.data.tables import Table
from tableqa.operations import OPERATIONS, Operation, RenameHeader, SetCell, diff
from tableqa.operations.alignment import align, gaps, with_ids_of
from tableqa.perturbations.contracts import Contract, structure
from tableqa.quality_control.spreadsheet_damage import repair_encoding, short_date


def match_ids(base: Table, edited: Table) -> Table:
    """`edited` with the ids of the rows and columns of `base` that its own come from, and n1, n2, ... for the new ones.

    Two texts that differ in a table of equal shape are two changed cells. Otherwise exact texts are compared first, as
    `diff` does. Where rows or columns came or went, as in a shortened table whose numbers a spreadsheet has written
    again, texts are also compared by what they say, rows and columns in order; the pairing that leaves fewer changes
    holds. A row that is missing in one position and is unchanged in another has moved.
    """
    plain = _rows_moved(base, align(base, edited))
    if base.shape == edited.shape:
        return _in_place(base, edited) if _texts_differing(base, edited) <= 2 else plain
    candidates = (plain, _rows_moved(base, _matched_by_meaning(base, edited)))
    return min(candidates, key=lambda table: sum(map(_weight, diff(base, table, match="ids"))))


def permitted_alignment(base: Table, edited: Table, contract: Contract, table: Table) -> Table:
    """`edited` with the ids that `contract` permits, where several edits lead to it; `table` if none of them is permitted.

    `table` is what `match_ids` gives. A row with several changed cells, for instance, may have been replaced by a new
    one: a removal and an insertion.
    """
    candidates = (table, *_permitted_candidates(base, edited, contract))
    return next((each for each in candidates if not _breaches(contract, base, each)), table)


_EDIT_BREACHES = ("operation_not_allowed", "shape_changed", "too_many_operations")
"""Violations that depend on which of several edits is taken to have been made."""


def _breaches(contract: Contract, base: Table, table: Table) -> bool:
    violations = structure(contract, base, diff(base, table, match="ids"))
    return any(violation.code in _EDIT_BREACHES for violation in violations)


def _permitted_candidates(base: Table, edited: Table, contract: Contract) -> Iterator[Table]:
    """Pairings made of the contract's operations alone; each is still to be checked."""
    allowed = set(OPERATIONS) if contract.allowed is None else set(contract.allowed)
    if base.shape == edited.shape:
        yield _in_place(base, edited)
    if base.header == edited.header:
        rows = _fewest_edits(base.rows, edited.rows, allowed, contract.at_most)
        if rows is not None:
            in_order = {k: k for k in range(edited.shape[1])}
            yield _rows_moved(base, with_ids_of(base, edited, in_order, rows))
    if "remove_column" in allowed and (parts := _part_of(base, edited)) is not None:
        yield with_ids_of(base, edited, *parts)


def _texts_differing(base: Table, edited: Table) -> int:
    lines = zip((base.header, *base.rows), (edited.header, *edited.rows), strict=True)
    return sum(old != new for before, after in lines for old, new in zip(before, after, strict=True))


def _in_place(base: Table, edited: Table) -> Table:
    rows, columns = base.shape
    return with_ids_of(base, edited, {k: k for k in range(columns)}, {k: k for k in range(rows)})


def _rows_moved(base: Table, table: Table) -> Table:
    """`table` in which a new row that equals a removed one has its id: it is that row, in another position."""
    columns = [
        (k, base.column_index(name)) for k, name in enumerate(table.column_ids) if name in base.column_ids
    ]
    current_row_ids = set(table.row_ids)
    removed: dict[tuple[str, ...], list[str]] = {}
    for row, cells in zip(base.row_ids, base.rows, strict=True):
        if row not in current_row_ids:
            removed.setdefault(tuple(cells[j] for _, j in columns), []).append(row)
    if not removed or not columns:
        return table
    row_ids, base_row_ids = [], set(base.row_ids)
    for row, cells in zip(table.row_ids, table.rows, strict=True):
        same = [] if row in base_row_ids else removed.get(tuple(cells[k] for k, _ in columns), [])
        row_ids.append(same.pop(0) if same else row)
    return replace(table, row_ids=tuple(row_ids))


_Lines: TypeAlias = Sequence[tuple[str, ...]]


def _fewest_edits(
    before: _Lines, after: _Lines, allowed: set[str], at_most: int | None
) -> dict[int, int] | None:
    """Positions in `after` -> in `before`, for the fewest changed cells and removed and inserted rows, in order.

    Only operations in `allowed` count; of equally many, fewest rows come and go. None where more than `at_most` of them
    are needed, or where the tables are too large to say.
    """
    width = max(len(before), len(after)) if at_most is None else at_most
    if (
        abs(len(before) - len(after)) > width
        or len(before) * min(2 * width + 1, len(after) + 1) > _MOST_PAIRS
    ):
        return None
    never = (len(before) + len(after) + 1) * (1 + max((len(row) for row in before), default=0))
    removal, insertion = ((1, 1) if name in allowed else (never, 0) for name in ("remove_row", "insert_row"))

    def changed(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[int, int]:
        cells = sum(a != b for a, b in zip(old, new, strict=True))
        return (cells, 0) if not cells or "set_cell" in allowed else (never, 0)

    costs: dict[tuple[int, int], tuple[int, int]] = {}
    steps: dict[tuple[int, int], tuple[int, int]] = {}
    for i in range(len(before) + 1):
        for k in range(max(0, i - width), min(len(after), i + width) + 1):
            ways = [((0, 0), (0, 0))] if i == k == 0 else []
            if i and k:
                ways.append((_sum(costs[i - 1, k - 1], changed(before[i - 1], after[k - 1])), (1, 1)))
            if (i - 1, k) in costs:
                ways.append((_sum(costs[i - 1, k], removal), (1, 0)))
            if (i, k - 1) in costs:
                ways.append((_sum(costs[i, k - 1], insertion), (0, 1)))
            costs[i, k], steps[i, k] = min(ways)
    i, k = len(before), len(after)
    if costs[i, k][0] >= (never if at_most is None else at_most + 1):
        return None
    pairs = {}
    while i or k:
        down, across = steps[i, k]
        i, k = i - down, k - across
        if down and across:
            pairs[k] = i
    return pairs


def _sum(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]


_MOST_WAYS = 1_000
"""Ways to choose columns of equal headers that are tried."""


def _part_of(base: Table, edited: Table) -> tuple[dict[int, int], dict[int, int]] | None:
    """Columns and rows of `edited` in `base`, where `edited` is what is left when some are removed; else None."""
    for columns in islice(_in_sequence(base.header, edited.header), _MOST_WAYS):
        rows: dict[int, int] = {}
        j = 0
        for k, cells in enumerate(edited.rows):
            while j < len(base.rows) and tuple(base.rows[j][column] for column in columns) != cells:
                j += 1
            if j == len(base.rows):
                break
            rows[k] = j
            j += 1
        else:
            return dict(enumerate(columns)), rows
    return None


def _in_sequence(names: Sequence[str], sequence: Sequence[str]) -> Iterator[list[int]]:
    """Rising positions in `names` that hold the texts of `sequence`, in every way."""
    # Where each text can be at most, so that the next ones fit.
    latest = [len(names)] * (len(sequence) + 1)
    for index in reversed(range(len(sequence))):
        latest[index] = max((j for j in range(latest[index + 1]) if names[j] == sequence[index]), default=-1)
    chosen: list[int] = []
    start = 0
    while True:
        index = len(chosen)
        if index < len(sequence):
            later = (j for j in range(start, latest[index] + 1) if names[j] == sequence[index])
            if (j := next(later, None)) is not None:
                chosen.append(j)
                start = j + 1
                continue
        else:
            yield [*chosen]
        if not chosen:
            return
        start = chosen.pop() + 1


def _weight(operation: Operation) -> float:
    """What a change counts when two pairings are weighed: least where a text says what it said, much where rows are new."""
    if isinstance(operation, SetCell | RenameHeader):
        if _meaning(operation.old) == _meaning(operation.new):
            return 0.2
        return 1.0 if operation.new.strip() else 0.5
    if operation.op in ("remove_row", "remove_column"):
        return 0.5
    return 1 + 0.2 * len(getattr(operation, "cells", ()))


_MOST_PAIRS = 1_000_000
"""Pairs of rows up to which tables are compared by what they say."""


def _matched_by_meaning(base: Table, edited: Table) -> Table:
    if base.shape[0] * edited.shape[0] > _MOST_PAIRS:
        return align(base, edited)
    before = [[_meaning(cell) for cell in row] for row in (base.header, *base.rows)]
    after = [[_meaning(cell) for cell in row] for row in (edited.header, *edited.rows)]
    olds, news = ([*zip(*rows, strict=True)] for rows in (before, after))
    columns = _in_order([[_columns_alike(old, new) for new in news] for old in olds])
    shared = sorted(columns.items())
    rows = _in_order([[_rows_alike(old, new, shared) for new in after[1:]] for old in before[1:]])
    table = _rows_moved(base, with_ids_of(base, edited, columns, rows))
    base_row_ids = set(base.row_ids)
    rows = {k: base.row_index(row) for k, row in enumerate(table.row_ids) if row in base_row_ids}
    for old_rows, new_rows in gaps(len(base.rows), len(edited.rows), rows):
        rows.update(zip(new_rows, old_rows, strict=False))
    return with_ids_of(base, edited, columns, rows)


def _columns_alike(old: Sequence[str], new: Sequence[str]) -> float:
    """How many texts both columns hold, empty ones hardly counting, and their headers twice."""
    common = Counter(old[1:]) & Counter(new[1:])
    empty = common.pop("", 0)
    return common.total() + 0.01 * empty + (2.0 if old[0] == new[0] != "" else 0.0)


def _rows_alike(old: Sequence[str], new: Sequence[str], columns: Sequence[tuple[int, int]]) -> float:
    """How many texts are in the same columns of both rows; the first, which is often their name, counts twice."""
    alike = 0.0
    for k, j in columns:
        if new[k] == old[j]:
            alike += 0.01 if not new[k] else 2.0 if k == 0 else 1.0
    return alike


def _in_order(scores: Sequence[Sequence[float]]) -> dict[int, int]:
    """Places in the edited table -> in the base: lines in order, so that the sum of `scores` is largest."""
    width = len(scores[0]) if scores else 0
    best = [[0.0] * (width + 1) for _ in range(len(scores) + 1)]
    for j, row in enumerate(scores):
        for k, score in enumerate(row):
            best[j + 1][k + 1] = max(best[j][k + 1], best[j + 1][k], best[j][k] + score)
    pairs: dict[int, int] = {}
    j, k = len(scores), width
    while j and k:
        if best[j][k] == best[j - 1][k]:
            j -= 1
        elif best[j][k] == best[j][k - 1]:
            k -= 1
        else:
            j, k = j - 1, k - 1
            pairs[k] = j
    return pairs


@lru_cache(maxsize=65_536)
def _meaning(text: str) -> str:
    """A text without what a spreadsheet changes: blanks, case, encoding, of a number the sign, of a date the century."""
    number = number_of(text)
    if number is not None:
        size = abs(number.value)
        return f"{size.normalize():f}" if abs(size.adjusted()) < 40 else str(size)
    if day := short_date(text):
        return f"{day.day or ''}.{day.month}.{'' if day.year is None else day.year}"
    return "".join(fold(repair_encoding(text)).casefold().split())
