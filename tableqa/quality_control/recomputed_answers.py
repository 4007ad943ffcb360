"""The answer of an edited item, computed again on the edited table with the derivation of its base (TAT-QA)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeAlias

from tableqa.cells import number_of
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.data.tables import Table

_Cell: TypeAlias = tuple[str, str]
"""(row id, column id)."""
_Texts: TypeAlias = Mapping[_Cell, str]
_Program: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recomputation:
    """What the base's derivation gives on the edited table.

    answers   None where there is no derivation that gives the base's answer, or it cannot be followed any more
    agrees    whether the given answer is confirmed
    read      (row id, column id) of the cells that it reads
    restored  of these, the ones in which a decimal point is missing: with it the given answer would be right
    """

    answers: tuple[str, ...] | None = None
    agrees: bool = False
    read: frozenset[_Cell] = frozenset()
    restored: _Texts = field(default_factory=dict)


def recompute(base: Example, edited: Example, table: Table) -> Recomputation:
    """Follow the derivation on `table`, which is that of `edited` with the ids of the base."""
    if not derivation_of(base):
        return Recomputation()
    # Programs are half of this library, and most audits have no use for them.
    from tableqa.programs import ProgramError, reads, run

    source = base.over(_with_cells(base.table, _missing_points(base)))
    refuted: Recomputation | None = None
    for program in _readings(source, table):
        read = reads(program, source.table)

        def answers(changed: _Texts, program: _Program = program) -> tuple[str, ...] | None:
            try:
                return tuple(run(program, _with_cells(table, changed)))
            except ProgramError:
                return None

        signs = _restored_signs(base.table, table, read)
        ways = list(map(answers, [{}, signs] if signs else [{}]))
        for way in ways:
            if way is not None and compare(way, edited.answers).equal:
                return Recomputation(way, read=read, agrees=True)
        points = [
            restored
            for restored in _restored_points(base.table, table, read)
            if (mended := answers(restored)) is not None and compare(mended, edited.answers).equal
        ]
        computed = next((way for way in reversed(ways) if way is not None), None)
        if points or (refuted is None and computed is not None):
            refuted = Recomputation(computed, read=read, restored=points[0] if points else {})
        if points:
            break
    return refuted or Recomputation()


def _readings(base: Example, table: Table) -> Iterator[_Program]:
    """The programs that the derivation can mean, as JSON; after each, the one in which no constant replaces a cell.

    In (4-5)/5 the last 5 may be the number of terms of an average. Where it is also what a cell said that was changed, it
    may be that cell.
    """
    from tableqa.programs import from_derivation, reads

    for program in from_derivation(base):
        data = program.to_dict()
        yield data
        changed = _changed_texts(base.table, table, reads(program, base.table))
        cells = {number.value: cell for cell, old, _ in changed if (number := number_of(old)) is not None}
        bound = _bound(data, cells)
        if bound != data:
            yield bound


def _bound(data: Any, cells: Mapping[Decimal, _Cell]) -> Any:
    if isinstance(data, list):
        return [_bound(each, cells) for each in data]
    if not isinstance(data, dict):
        return data
    if data["op"] == "number" and (cell := cells.get(Decimal(data["value"]))):
        return {"op": "cell", "row": cell[0], "column": cell[1]}
    return {name: _bound(each, cells) for name, each in data.items()}


def _with_cells(table: Table, changed: _Texts) -> Table:
    if not changed:
        return table
    rows = tuple(
        tuple(changed.get((row, column), cell) for column, cell in zip(table.column_ids, cells, strict=True))
        for row, cells in zip(table.row_ids, table.rows, strict=True)
    )
    return replace(table, rows=rows)


def _changed_texts(base: Table, table: Table, cells: Iterable[_Cell]) -> Iterator[tuple[_Cell, str, str]]:
    for row, column in sorted(cells):
        if table.has_row(row) and column in table.column_ids and base.has_row(row):
            old, new = base.cell(row, column), table.cell(row, column)
            if old != new:
                yield (row, column), old, new


def _restored_signs(base: Table, table: Table, cells: Iterable[_Cell]) -> dict[_Cell, str]:
    """Cells with a minus that the base does not have, without it: a base that lost it has it in the derivation alone."""
    restored = {}
    for cell, old, new in _changed_texts(base, table, cells):
        before, after = number_of(old), number_of(new)
        if before is not None and after is not None and before.value > 0 > after.value:
            restored[cell] = f"{-after.value:f}"
    return restored


_WHOLE = re.compile(r"(?P<front>[^.]*\d)(?P<last>\d)(?P<after>[^\d.]*)")


def _with_point(text: str) -> str | None:
    """A whole number with the point that a script may have taken out of it; None for anything else.

    In the release every ".0" was removed: 40.00 became 400, and 70.07 became 707.
    """
    match = _WHOLE.fullmatch(text)
    return f"{match['front']}.0{match['last']}{match['after']}" if match else None


def _restored_points(base: Table, table: Table, cells: Iterable[_Cell]) -> Iterator[dict[_Cell, str]]:
    """Changed whole numbers with the point that they may have lost: all of them, then each alone."""
    changed = _changed_texts(base, table, cells)
    restored = {cell: mended for cell, _, new in changed if (mended := _with_point(new)) is not None}
    if restored:
        yield restored
    if len(restored) > 1:
        yield from ({cell: text} for cell, text in restored.items())


def _missing_points(base: Example) -> dict[_Cell, str]:
    """Cells of the base whose number is in the derivation with a point that they have lost."""
    derivation_values = {
        number.value for digits in _NUMBER.findall(derivation_of(base)) if (number := number_of(digits))
    }
    restored = {}
    for row, cells in zip(base.table.row_ids, base.table.rows, strict=True):
        for column, cell in zip(base.table.column_ids, cells, strict=True):
            mended = _with_point(cell)
            before, after = number_of(cell), number_of(mended or "")
            if mended is None or after is None or abs(after.value) not in derivation_values:
                continue
            if before is None or abs(before.value) not in derivation_values:
                restored[row, column] = mended
    return restored


_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def derivation_of(example: Example) -> str:
    """How an item says that its answer is computed; "" where it does not."""
    text = example.meta.get("derivation", "")
    return text.strip() if isinstance(text, str) else ""
