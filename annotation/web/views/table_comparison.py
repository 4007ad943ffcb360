"""One table with what several people did to it: who marked which cell, who changed it to what.

Responses are named by their letters. What a response says beside the table (labels, words) is not drawn here. The model
is `tableqa.operations.merged_tables`; here it gets letters and marks, and is cut to what a page shows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from annotation.web.views.tables import chosen_cells, drawn
from tableqa import Table
from tableqa.cells.columns import holds_numbers
from tableqa.operations import Operation, OperationError, from_dict, from_list, replay
from tableqa.operations.merged_tables import Cells, Line, MergedTable, merge
from tasks.contract import Item, TaskType

WHOLE = 60
"""Rows of a table that is drawn whole; of a longer one those where people differ, and their neighbours."""
PART = 500
"""Rows of a longer table that are drawn at a time, where a person wants to see all of it."""
FEW = 5
"""Rows drawn where a table is cut to what was done, and nothing was done in a row."""
NEAR = 1
"""Rows drawn above and below one in which a person did something."""
LONG = 220
SMALL_ROWS, SMALL_COLUMNS = 3, 4
"""Rows and columns of a table that is drawn small."""


@dataclass(frozen=True)
class TableVariant:
    """What one response did to the table: its operations, and cells that it marked as (row id, column id)."""

    letter: str
    operations: Sequence[Operation] = ()
    marked: Iterable[Sequence[str]] = ()


def variants_of(
    letters: Iterable[str], task: TaskType, responses: Iterable[Mapping[str, Any]]
) -> list[TableVariant]:
    """What responses (their data) to an item did to its table."""
    return [
        TableVariant(letter, drawable_operations(task, data), chosen_cells(task, data))
        for letter, data in zip(letters, responses, strict=True)
    ]


def drawable_operations(task: TaskType, data: Mapping[str, Any]) -> list[Operation]:
    """The operations of a draft or response; a draft may hold anything, and what is no operation is not drawn."""
    name = task.operations_field
    try:
        return list(from_list(data.get(name, []))) if name else []
    except OperationError:
        return []


Marks = Mapping[tuple[str, str], list[str]]
"""(row id, column id) -> the letters of the responses that marked the cell."""


def contrast_table(
    base: Table,
    variants: Sequence[TableVariant],
    *,
    pointed: Iterable[Sequence[str]] = (),
    part: int = 0,
    whole: int = WHOLE,
) -> dict[str, Any] | None:
    """The table for comparing/_merged.html, with every letter where its response differs from the table as given.

    `pointed` are cells that the item itself points at. A table of more than `whole` rows is cut to the rows in which
    something was done and their neighbours (the first rows, where nothing was); `part` 1, 2, ... are `PART` rows of it,
    with any change. None where rows and columns were exchanged: then there is no place at which responses could
    be laid over each other. Operations that do not replay raise OperationError.
    """
    letters = [variant.letter for variant in variants]
    merged = merge(
        base, [replay(base, variant.operations) if variant.operations else base for variant in variants]
    )
    if merged is None:
        return None
    marks: dict[tuple[str, str], list[str]] = {}
    for variant in variants:
        for cell in variant.marked:
            who = marks.setdefault((cell[0], cell[1]), [])
            if variant.letter not in who:
                who.append(variant.letter)
    shows = {(cell[0], cell[1]) for cell in pointed}
    columns = _columns(merged, letters)
    touched = {row for row, _ in (*marks, *shows)}
    rows = [_row(merged, index, touched, letters) for index in range(len(merged.rows))]
    total = len(rows)
    parts = -(-total // PART)
    if total > whole:
        rows = rows[(part - 1) * PART : part * PART] if 1 <= part <= parts else _cut(rows, whole or FEW)
    for row in rows:
        if "place" in row:
            row["cells"] = [_cell(merged, row, at, marks, shows, letters) for at in range(len(columns))]
            for cell, column in zip(row["cells"], columns, strict=True):
                cell |= {"numbers": column["numbers"], "removed": column["removed"]}
    return {
        "title": base.title,
        "caption": base.caption,
        "header_rows": [_above(line, merged) for line in merged.above],
        "columns": columns,
        "rows": rows,
        "width": len(columns) + 1,
        "total": total,
        "part": part if 1 <= part <= parts else 0,
        "parts": range(1, parts + 1) if total > whole else (),
        "letters": letters,
        "summary": _summary(merged, marks, letters),
    }


def thumbnail(base: Table, variants: Sequence[TableVariant]) -> dict[str, Any] | None:
    """The changed cells of the merged table, for explorer/_thumbnail.html: at most `SMALL_ROWS` rows with a change, and of
    the columns the first, which names a row, and those with a change. `more` counts further rows with changes.

    None without changes, and where `contrast_table` gives nothing.
    """
    variants = [variant for variant in variants if variant.operations]
    table = contrast_table(base, variants, whole=0) if variants else None
    if table is None:
        return None
    changed = [row for row in table["rows"] if row.get("special")]
    rows = changed[:SMALL_ROWS] or [row for row in table["rows"] if "cells" in row][:1]
    columns = table["columns"]
    is_changed = [
        bool(column["renamed"] or column["notes"] or column["inserted"])
        or any(row["cells"][at].get("changes") for row in rows)
        for at, column in enumerate(columns)
    ]
    chosen = sorted({0, *[at for at, is_one in enumerate(is_changed) if is_one]})[:SMALL_COLUMNS]
    return {
        "columns": [columns[at] for at in chosen],
        "rows": [{**row, "cells": [row["cells"][at] for at in chosen]} for row in rows],
        "more": len(changed) - len(rows) if changed else 0,
    }


def for_scripts(
    base: Table,
    variants: Sequence[TableVariant],
    *,
    pointed: Iterable[Sequence[str]] = (),
    name: str = gettext_noop("Response {letter}"),
) -> dict[str, Any] | None:
    """The same for `static/askew/comparison.js`, which merges by itself; None without a changed or marked cell."""
    if not any(variant.operations or list(variant.marked) for variant in variants):
        return None
    return {
        "table": base.to_wire(),
        "variants": [
            {
                "letter": variant.letter,
                "name": gettext(name).format(letter=variant.letter),
                "operations": [operation.to_dict() for operation in variant.operations],
                "cells": [list(cell) for cell in variant.marked],
            }
            for variant in variants
        ],
        "marks": [list(cell) for cell in pointed],
    }


def compare_inputs(task: TaskType, item: Item) -> dict[str, Any] | None:
    """The changed tables among an item's inputs, drawn as changes of the original's, for comparing/_compared.html.

    Only inputs that are shown, and only where the original is: {"original": {table}, name: {operations}}. Several are
    merged into one table, in which the first letter of its name names an input; None where there is nothing to
    compare.
    """
    shown_inputs = {name: item.inputs[name] for name in task.shown_names(item) if name in item.inputs}
    original = shown_inputs.get("original")
    if not isinstance(original, Mapping) or "table" not in original:
        return None
    base = Table.from_dict(original["table"])
    edits = {
        name: [from_dict(operation) for operation in input_value["operations"]]
        for name, input_value in shown_inputs.items()
        if isinstance(input_value, Mapping) and "operations" in input_value
    }
    merged = None
    variants = [TableVariant(name[0].upper(), operations) for name, operations in edits.items()]
    if len(edits) > 1:
        merged = contrast_table(base, variants, whole=len(base.rows) + sum(map(len, edits.values())))
    return {
        "merged": merged,
        "tables": [drawn(base, operations) for operations in edits.values()] if merged is None else [],
        "rows": len(base.rows),
        "comparison": for_scripts(base, variants, name=gettext_noop("Example {letter}")),
    }


def _columns(merged: MergedTable, letters: Sequence[str]) -> list[dict[str, Any]]:
    """The columns of the merged table, with who renamed, removed, moved or added each."""
    columns: list[dict[str, Any]] = []
    for at, line in enumerate(merged.columns):
        inserted = [letters[variant] for variant in line.inserted]
        new = line.base is None
        columns.append(
            {
                "id": "" if new else line.id,
                "number": at + 1 if line.base is None else line.base + 1,
                "name": merged.header.texts[at],
                "numbers": holds_numbers([cells.texts[at] for cells in merged.cells]),
                "notes": [] if new else _notes(line, letters),
                "removed": bool(line.removed),
                "renamed": [] if new else _changes(merged.header, at, letters),
                "inserted": inserted,
                "all": inserted == letters,
            }
        )
    return columns


def _row(merged: MergedTable, index: int, touched: set[str], letters: Sequence[str]) -> dict[str, Any]:
    """A row of the merged table, without its cells, which `_cell` makes."""
    line = merged.rows[index]
    inserted = [letters[variant] for variant in line.inserted]
    row = {
        "id": "" if line.base is None else line.id,
        "place": index,
        "notes": [] if line.base is None else _notes(line, letters),
        "special": merged.has_changes(index) or line.id in touched,
        "inserted": inserted,
        "all": inserted == letters,
        "removed": bool(line.removed),
    }
    return row if line.base is None else row | {"number": line.base + 1}


def _cell(
    merged: MergedTable,
    row: Mapping[str, Any],
    at: int,
    marked: Marks,
    pointed: set[tuple[str, str]],
    letters: Sequence[str],
) -> dict[str, Any]:
    cells, column = merged.cells[row["place"]], merged.columns[at]
    text, inserted = cells.texts[at], column.base is None
    if not row["special"] and at not in cells.changes and len(text) <= LONG:
        return {"text": text, "inserted": inserted, "changes": ()}
    in_base = not inserted and bool(row["id"])
    cell_ids = (row["id"], column.id)
    changes = _changes(cells, at, letters, in_base=in_base)
    marks = marked.get(cell_ids, []) if in_base else []
    return {
        "text": text,
        "in_base": in_base,
        "inserted": inserted,
        "changes": changes,
        "marks": " ".join(marks),
        "all": marks == letters,
        "evidence": cell_ids in pointed,
        "special": bool(changes or marks or cell_ids in pointed or len(text) > LONG),
    }


def _above(line: Cells, merged: MergedTable) -> list[str]:
    return [
        "" if column.base is None else text for text, column in zip(line.texts, merged.columns, strict=True)
    ]


def _cut(rows: Sequence[dict[str, Any]], first: int) -> list[dict[str, Any]]:
    """The rows in which something was done and their neighbours, or the first ones where nothing was; between them, how
    many are left out.
    """
    indices = {
        near
        for at, row in enumerate(rows)
        if row["special"]
        for near in range(max(0, at - NEAR), min(len(rows), at + NEAR + 1))
    } or set(range(first))
    drawn_rows: list[dict[str, Any]] = []
    skipped = 0
    for at, row in enumerate(rows):
        if at in indices:
            if skipped:
                drawn_rows.append({"left": skipped})
            skipped = 0
            drawn_rows.append(row)
        else:
            skipped += 1
    return [*drawn_rows, {"left": skipped}] if skipped else drawn_rows


def _summary(merged: MergedTable, marks: Marks, letters: Sequence[str]) -> list[dict[str, Any]]:
    """How many places were marked or edited by whom, and how many rows and columns removed, moved, renamed or put there,
    all first: {"letters", "all", "marked", "edited", "lines"}.
    """
    marked = Counter(" ".join(who) for who in marks.values())
    edited = Counter(
        change["letters"]
        for cells, row in zip(merged.cells, merged.rows, strict=True)
        for at in cells.changes
        if row.base is not None and merged.columns[at].base is not None
        for change in _changes(cells, at, letters)
    )
    lines = Counter(
        note["letters"] for line in (*merged.rows, *merged.columns) for note in _notes(line, letters)
    )
    lines.update(
        change["letters"]
        for at in merged.header.changes
        if merged.columns[at].base is not None
        for change in _changes(merged.header, at, letters)
    )
    everybody = " ".join(letters)
    names = sorted({*marked, *edited, *lines}, key=lambda who: (who != everybody, -len(who), who))
    return [
        {
            "letters": who,
            "all": who == everybody,
            "marked": marked[who],
            "edited": edited[who],
            "lines": lines[who],
        }
        for who in names
    ]


def _notes(line: Line, letters: Sequence[str]) -> list[dict[str, Any]]:
    """Who removed, added or moved a row or column."""
    notes = (
        (gettext("removed by"), line.removed),
        (gettext("new by"), line.inserted),
        (gettext("moved by"), line.moved),
    )
    return [{"what": what, **_who(variants, letters)} for what, variants in notes if variants]


def _changes(cells: Cells, at: int, letters: Sequence[str], *, in_base: bool = True) -> list[dict[str, Any]]:
    """What was written, and by whom: what most wrote first."""
    numbers_by_text: dict[str, list[int]] = {}
    for variant, text in enumerate(cells.changes.get(at, ())):
        if text is not None and not (in_base and text == cells.texts[at]):
            numbers_by_text.setdefault(text, []).append(variant)
    ordered = sorted(numbers_by_text.items(), key=lambda pair: (-len(pair[1]), pair[1]))
    return [{"text": text, **_who(variants, letters)} for text, variants in ordered]


def _who(variants: Sequence[int], letters: Sequence[str]) -> dict[str, Any]:
    return {
        "letters": " ".join(letters[variant] for variant in variants),
        "all": len(variants) == len(letters),
    }
