"""Several edited variants of one base table, merged into a single table that shows where they differ.

The merged table has every row and column of the base and of each variant. A cell holds the text of the base and,
where a variant says something else, the text of each variant. Every variant can be read back from it.
`static/askew/merged.js` is the same model in the browser; both give `tests/vectors/merged.json`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tableqa.data.tables import Table
from tableqa.operations.order import changes_of_order

Texts = tuple[str | None, ...]
"""A text for each variant; None for a variant that does not have the cell."""


@dataclass(frozen=True)
class Line:
    """A row or column of the merged table.

    id      its id in the base; a new one is called after the first variant that has it ("0:n1")
    base    its place in the base, counted from 0; None for a new one
    places  its place in each variant; None where the variant does not have it
    moved   the numbers of the variants that moved it, counted from 0
    """

    id: str
    base: int | None
    places: tuple[int | None, ...]
    moved: tuple[int, ...] = ()

    @property
    def removed(self) -> tuple[int, ...]:
        """The numbers of the variants without it, if the base has it."""
        if self.base is None:
            return ()
        return tuple(index for index, position in enumerate(self.places) if position is None)

    @property
    def inserted(self) -> tuple[int, ...]:
        """The numbers of the variants that have it, if the base does not."""
        if self.base is not None:
            return ()
        return tuple(index for index, position in enumerate(self.places) if position is not None)

    @property
    def stays(self) -> bool:
        """Whether every variant has it where the base has it."""
        return self.base is not None and None not in self.places and not self.moved


@dataclass(frozen=True)
class Cells:
    """The texts of one line of cells, a text for each merged column.

    texts    the text of the base; where the base has no such cell, the text on which the variants agree ("" if none)
    changes  place of a column -> the texts of the variants, where one of them differs from `texts`
    """

    texts: tuple[str, ...]
    changes: Mapping[int, Texts]


@dataclass(frozen=True)
class MergedTable:
    """The merge of `variants` tables: columns and rows in their order, and the cells of each header row and row."""

    base: Table
    variants: int
    columns: tuple[Line, ...]
    rows: tuple[Line, ...]
    above: tuple[Cells, ...]
    header: Cells
    cells: tuple[Cells, ...]

    def has_changes(self, row: int) -> bool:
        """Whether a variant changes this row itself: its place, its existence or a cell that the base has."""
        line, changes = self.rows[row], self.cells[row].changes
        return not line.stays or any(self.columns[column].base is not None for column in changes)


def merge(base: Table, variants: Sequence[Table]) -> MergedTable | None:
    """Merge variants of `base` that share its ids, as `operations.replay` makes them.

    New rows with the same texts at the same place are one row, and so are new columns. The order is that of the variants
    if they agree about the lines that all have, else that of the base. None if a variant exchanged rows and columns:
    then no cell is where it stood.
    """
    if any(variant.header_id != base.header_id for variant in variants):
        return None
    row_ids = [_unique_ids(base.row_ids, variant.row_ids, index) for index, variant in enumerate(variants)]
    column_ids = [
        _unique_ids(base.column_ids, variant.column_ids, index) for index, variant in enumerate(variants)
    ]
    _join_equal(base.row_ids, row_ids, [_texts_of_rows(base.column_ids, variant) for variant in variants])
    _join_equal(
        base.column_ids, column_ids, [_texts_of_columns(base.row_ids, variant) for variant in variants]
    )
    columns, rows = _lines(base.column_ids, column_ids), _lines(base.row_ids, row_ids)

    def line_of_cells(old: Sequence[str] | None, new: Sequence[Sequence[str] | None]) -> Cells:
        if all(cells is not None and cells == old for cells in new) and len(columns) == len(base.header):
            in_order = tuple(old[column.base] for column in columns if old and column.base is not None)
            return Cells(in_order, {})
        return _cells(columns, old, new)

    return MergedTable(
        base=base,
        variants=len(variants),
        columns=columns,
        rows=rows,
        above=tuple(
            line_of_cells(old, [variant.header_rows[at] for variant in variants])
            for at, old in enumerate(base.header_rows)
        ),
        header=line_of_cells(base.header, [variant.header for variant in variants]),
        cells=tuple(
            line_of_cells(
                None if row.base is None else base.rows[row.base],
                [
                    None if position is None else variant.rows[position]
                    for variant, position in zip(variants, row.places, strict=True)
                ],
            )
            for row in rows
        ),
    )


def _unique_ids(base: Sequence[str], ids: Sequence[str], index: int) -> list[str]:
    """The ids of a variant; its new lines with its number, as variants call different lines by the same name."""
    base_ids = set(base)
    return [id if id in base_ids else f"{index}:{id}" for id in ids]


def _texts_of_rows(column_ids: Sequence[str], variant: Table) -> list[Texts]:
    """The texts of each row in the columns of the base."""
    position_of = {id: position for position, id in enumerate(variant.column_ids)}
    positions = [position_of.get(id) for id in column_ids]
    return [
        tuple(None if position is None else row[position] for position in positions) for row in variant.rows
    ]


def _texts_of_columns(row_ids: Sequence[str], variant: Table) -> list[Texts]:
    """The header of each column and its texts in the rows of the base."""
    position_of = {id: position for position, id in enumerate(variant.row_ids)}
    positions = [position_of.get(id) for id in row_ids]
    return [
        (name, *(None if position is None else variant.rows[position][at] for position in positions))
        for at, name in enumerate(variant.header)
    ]


def _join_equal(base: Sequence[str], ids: list[list[str]], texts: Sequence[Sequence[Texts]]) -> None:
    """Give new lines of several variants with equal texts behind the same line of the base one id: that of the first."""
    base_ids = set(base)
    joined: dict[tuple[str, Texts, int], str] = {}
    for names, lines in zip(ids, texts, strict=True):
        anchor = ""
        often: dict[tuple[str, Texts], int] = {}
        for position, name in enumerate(names):
            if name in base_ids:
                anchor = name
                continue
            key = (anchor, lines[position])
            often[key] = often.get(key, 0) + 1
            names[position] = joined.setdefault((*key, often[key]), name)


def _lines(base: Sequence[str], variants: Sequence[Sequence[str]]) -> tuple[Line, ...]:
    position_of = {id: position for position, id in enumerate(base)}
    positions = [{id: position for position, id in enumerate(ids)} for ids in variants]
    shared = [
        [id for id in ids if id in position_of and all(id in other for other in positions)]
        for ids in variants
    ]
    agreed = shared[0] if shared and all(order == shared[0] for order in shared) else None
    order = list(base) if agreed is None else woven(base, agreed)
    for ids in variants:
        order = woven(ids, order)
    moved: dict[str, list[int]] = {}
    for index, ids in enumerate(variants):
        for id, _ in changes_of_order(base, [id for id in ids if id in position_of]).moves:
            moved.setdefault(id, []).append(index)
    return tuple(
        Line(
            id,
            position_of.get(id),
            tuple(position.get(id) for position in positions),
            tuple(moved.get(id, ())),
        )
        for id in order
    )


def woven(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The order of `after`; each id that only `before` has is below the one it followed there."""
    present = set(after)
    behind: dict[str | None, list[str]] = {}
    last = None
    for id in before:
        if id in present:
            last = id
        else:
            behind.setdefault(last, []).append(id)
    return [*behind.get(None, ()), *(each for id in after for each in (id, *behind.get(id, ())))]


def _cells(columns: Iterable[Line], old: Sequence[str] | None, new: Sequence[Sequence[str] | None]) -> Cells:
    texts: list[str] = []
    changes: dict[int, Texts] = {}
    for at, column in enumerate(columns):
        variants = tuple(
            None if cells is None or position is None else cells[position]
            for cells, position in zip(new, column.places, strict=True)
        )
        present = {text for text in variants if text is not None}
        if old is not None and column.base is not None:
            text = old[column.base]
        else:
            text = present.pop() if len(present) == 1 else ""
        if present - {text}:
            changes[at] = variants
        texts.append(text)
    return Cells(tuple(texts), changes)
