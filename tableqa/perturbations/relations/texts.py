"""Columns whose texts occur, whole or in part, in another column."""

import re
from collections.abc import Callable, Iterator, Sequence

from tableqa.cells import fold, without_details, without_notes
from tableqa.data.tables import Table
from tableqa.perturbations.relations.findings import (
    Relation,
    column_label,
    counterexamples,
    quote_cell,
    rows_of,
)

_LEAST_ROWS = 3
_WORDS = re.compile(r"\w+(?:['.-]\w+)*")

_PARTS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the text of {} without the part in brackets", lambda text: without_details(without_notes(text))),
    ("the year in {}", lambda text: (re.findall(r"\b(?:1[5-9]|20)\d\d\b", text) or [""])[0]),
    ("the part in brackets in {}", lambda text: (re.findall(r"\(([^()]*)\)", text) or [""])[-1].strip()),
    ("the last word of {}", lambda text: (_WORDS.findall(text) or [""])[-1]),
    ("the first word of {}", lambda text: (_WORDS.findall(text) or [""])[0]),
)
"""Ways to take a part of a text, told before plain containment."""


def texts(table: Table, columns: Sequence[int], rows: Sequence[int], least: float) -> Iterator[Relation]:
    """Which of these columns (places) repeat another, or a part of it, in at least the share `least` of the rows.

    Only rows in which the column is not empty are tested; a column with one value in all of them is left out.
    Equal columns are named once, of the right one.
    """
    folded = {j: [fold(table.rows[i][j]).casefold() for i in rows] for j in columns}
    for target in columns:
        tested = [k for k, text in enumerate(folded[target]) if text]
        if len(tested) < _LEAST_ROWS or len({folded[target][k] for k in tested}) < 2:
            continue
        for source in columns:
            if source != target:
                relation = _relation(table, target, source, folded, tested, rows, least)
                if relation is not None:
                    yield relation


def _relation(
    table: Table,
    target: int,
    source: int,
    folded: dict[int, list[str]],
    tested: Sequence[int],
    rows: Sequence[int],
    least: float,
) -> Relation | None:
    allowed = len(tested) - least * len(tested)
    inner, outer = folded[target], folded[source]
    misses = 0
    for k in tested:  # most pairs of columns have nothing in common, and show it in their first rows
        misses += inner[k] not in outer[k]
        if misses > allowed:
            return None
    contained = [k for k in tested if _whole_words(inner[k], outer[k])]
    if len(contained) < least * len(tested):
        return None
    same = [k for k in contained if inner[k] == outer[k]]
    if len(same) >= least * len(tested):
        if target < source:
            return None
        text, good = f"{column_label(table, target)} is the same as {column_label(table, source)}", same
    else:
        text, good = (
            f"{column_label(table, target)} is contained in {column_label(table, source)}",
            contained,
        )
        for what, part in _PARTS:
            equal = [k for k in contained if part(outer[k]) == inner[k]]
            if len(equal) >= least * len(tested):
                text, good = (
                    f"{column_label(table, target)} is {what.format(column_label(table, source))}",
                    equal,
                )
                break
    if sum(len(inner[k]) > 1 for k in good) < _LEAST_ROWS:
        return None  # "1" is contained in many things
    chosen = set(good)

    def say(row: int) -> str:
        stated = quote_cell(table.rows[row][source])
        return f"{quote_cell(table.rows[row][target])}, and {column_label(table, source)} is {stated}"

    return Relation(
        kind="same" if good is same else "part",
        target=table.column_ids[target],
        sources=(table.column_ids[source],),
        words=text,
        holds=len(good),
        of=len(tested),
        counterexamples=counterexamples(table, (rows[k] for k in tested if k not in chosen), say),
        told=rows_of(table, [rows[k] for k in good]),
    )


def _whole_words(inner: str, outer: str) -> bool:
    start = outer.find(inner)
    while start >= 0:
        end = start + len(inner)
        before, after = outer[start - 1 : start], outer[end : end + 1]
        if not (before.isalnum() and inner[0].isalnum()) and not (after.isalnum() and inner[-1].isalnum()):
            return True
        start = outer.find(inner, start + 1)
    return False
