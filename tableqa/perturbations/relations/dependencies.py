"""Functional dependencies: which columns, alone or two together, determine another in every row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from tableqa.cells import fold
from tableqa.data.tables import Table
from tableqa.perturbations.relations.findings import Relation, column_label, quote_cell

BUDGET = 6_000_000
"""Rows times checks that pairs of columns may cost; omissions are reported."""

_LEAST_SUPPORT = 3
_LEAST_SHARE = 0.1
_MOST_PAIRS = 40


def dependencies(table: Table, columns: Sequence[int]) -> tuple[list[Relation], list[str]]:
    """The dependencies among these columns (places), and what was left out, in sentences.

    A dependency is exact: no two rows with equal left sides differ on the right (texts are compared without typography
    and case). Its support, `Relation.of`, is the number of rows whose left side occurs more than once: only these could
    have contradicted it. Columns that are different in every row (keys) and columns that are the same in every row
    (constants) determine, and are determined, trivially: each is named once, and left out of the rest. Two
    columns are named together only where neither alone suffices.
    """
    codes = {j: _codes(table, j) for j in columns}
    distinct = {j: len(set(codes[j])) for j in columns}
    rows = len(table.rows)
    if rows < 2:
        return [], []
    least = max(_LEAST_SUPPORT, _LEAST_SHARE * rows)
    relations = list(_trivial(table, columns, distinct))
    telling = [j for j in columns if 1 < distinct[j] < rows]
    alone: dict[int, set[int]] = {j: set() for j in telling}
    for a in telling:
        support = sum(size for size in Counter(codes[a]).values() if size > 1)
        for b in telling:
            if a != b and support >= least and len(set(zip(codes[a], codes[b], strict=True))) == distinct[a]:
                alone[b].add(a)
                text = f"{column_label(table, a)} determines {column_label(table, b)}"
                relations.append(_dependency(table, (a,), b, text, support))
    pairs, notes = _pairs(table, telling, codes, alone, least)
    return relations + pairs, notes


def _trivial(table: Table, columns: Sequence[int], distinct: dict[int, int]) -> Iterator[Relation]:
    rows = len(table.rows)
    for j in columns:
        column, name = table.column_ids[j], column_label(table, j)
        if distinct[j] == rows:
            text = f"{name} is different in every row"
            why = (
                "A column that is different in every row determines every other column, so this says nothing."
            )
            yield Relation("key", column, (), text, rows, rows, trivial=why)
        elif distinct[j] == 1:
            text = f"{name} is {quote_cell(table.rows[0][j])} in every row"
            why = "A column that is the same in every row is determined by every other column."
            yield Relation("constant", column, (), text, rows, rows, trivial=why)


def _pairs(
    table: Table,
    columns: Sequence[int],
    codes: dict[int, list[int]],
    alone: dict[int, set[int]],
    least: float,
) -> tuple[list[Relation], list[str]]:
    rows, notes = len(table.rows), []
    possible = BUDGET // max(1, rows * max(1, len(columns)))
    pairs = list(combinations(columns, 2))
    if len(pairs) > possible:
        notes.append(
            f"Of the {len(pairs):,} pairs of columns, the first {possible:,} were tried as the left side of a dependency."
        )
    relations = []
    for a, b in pairs[:possible]:
        together = list(zip(codes[a], codes[b], strict=True))
        groups = Counter(together)
        support = sum(size for size in groups.values() if size > 1)
        if support < least or a in alone[b] or b in alone[a]:
            continue
        for c in columns:
            if c in (a, b) or alone[c] & {a, b}:
                continue
            if len(set(zip(together, codes[c], strict=True))) == len(groups):
                text = f"{column_label(table, a)} and {column_label(table, b)} together determine {column_label(table, c)}"
                relations.append(_dependency(table, (a, b), c, text, support))
    relations.sort(key=lambda relation: -relation.of)
    if len(relations) > _MOST_PAIRS:
        notes.append(
            f"Of {len(relations)} dependencies on two columns, the {_MOST_PAIRS} with most support are shown."
        )
    return relations[:_MOST_PAIRS], notes


def _dependency(
    table: Table, left_columns: Sequence[int], right_column: int, text: str, support: int
) -> Relation:
    sources = tuple(table.column_ids[j] for j in left_columns)
    return Relation("dependency", table.column_ids[right_column], sources, text, support, support)


def _codes(table: Table, j: int) -> list[int]:
    """A number for each row, equal where the texts say the same."""
    codes: dict[str, int] = {}
    return [codes.setdefault(fold(row[j]).casefold(), len(codes)) for row in table.rows]
