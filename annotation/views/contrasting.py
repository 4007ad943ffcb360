"""One table with what several people did to it: who marked which cell, who changed it to what.

Responses are named by their letters. What a response says beside the table (labels, words) is not drawn here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from annotation.views.tables import chosen_cells
from tableqa import Table
from tableqa.cells.columns import holds_numbers
from tableqa.operations import MoveColumn, MoveRow, Operation, OperationError, from_list, replay
from tasks.contract import TaskType

WHOLE = 60
"""Rows of a table that is drawn whole; of a longer one those where people differ, and their neighbours."""
PART = 500
"""Rows of a longer table that are drawn at a time, where somebody wants to see all of it."""
FEW = 5
"""Rows drawn where a table is cut to what was done, and nothing was done in a row."""
NEAR = 1
"""Rows drawn above and below one in which somebody did something."""
LONG = 220


@dataclass(frozen=True)
class Said:
    """What one response did to the table: its operations, and cells that it marked as (row id, column id)."""

    letter: str
    operations: Sequence[Operation] = ()
    marked: Iterable[Sequence[str]] = ()


def said(letter: str, task: TaskType, data: Mapping[str, Any]) -> Said:
    """What a response to an item of the kind did to its table; what is no operation is not drawn."""
    name = task.operations_field
    try:
        operations = list(from_list(data.get(name, []))) if name else []
    except OperationError:
        operations = []
    return Said(letter, operations, chosen_cells(task, data))


@dataclass
class _Found:
    """Who did what, by place; letters in their order."""

    edits: dict[tuple[str, str], dict[str, list[str]]] = field(default_factory=dict)
    marks: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    renamed: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    notes: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    rows: dict[tuple[str, tuple[str, ...]], list[str]] = field(default_factory=dict)
    columns: dict[tuple[str, tuple[str, ...]], list[str]] = field(default_factory=dict)


def contrasted(
    base: Table,
    said: Sequence[Said],
    *,
    pointed: Iterable[Sequence[str]] = (),
    part: int = 0,
    whole: int = WHOLE,
) -> dict[str, Any] | None:
    """The table for adjudicating/_contrast.html, with every letter where its response differs from the table as given.

    `pointed` are cells that the item itself points at. A table of more than `whole` rows is cut to the rows in which
    something was done and their neighbours (the first rows, where nothing was); `part` 1, 2, ... are `PART` rows of it,
    whatever was done there. None where rows and columns were exchanged: then there is no place at which responses could
    be laid over each other. Operations that do not replay raise OperationError.
    """
    letters = [one.letter for one in said]
    found = _Found()
    for one in said:
        edited = replay(base, one.operations) if one.operations else base
        if edited.header_id != base.header_id:
            return None
        _note(found, base, edited, one)
    shows = {(cell[0], cell[1]) for cell in pointed}
    columns = _columns(base, found, letters)
    rows = _rows(base, found, shows, letters)
    total = len(rows)
    parts = -(-total // PART)
    if total > whole:
        rows = rows[(part - 1) * PART : part * PART] if 1 <= part <= parts else _cut(rows, whole or FEW)
    for row in rows:
        if "values" in row:
            row["cells"] = [_cell(row, column, found, shows, letters) for column in columns]
    return {
        "title": base.title,
        "caption": base.caption,
        "header_rows": [_above(line, base, columns) for line in base.header_rows],
        "columns": columns,
        "rows": rows,
        "width": len(columns) + 1,
        "total": total,
        "part": part if 1 <= part <= parts else 0,
        "parts": range(1, parts + 1) if total > whole else (),
        "letters": letters,
        "summary": _summary(found, letters),
    }


def _note(found: _Found, base: Table, edited: Table, one: Said) -> None:
    """Write down under the letter what this response did."""
    letter = one.letter
    for cell in one.marked:
        _add(found.marks, (cell[0], cell[1]), letter)
    if edited is base:
        return
    here, there = set(base.column_ids), set(edited.column_ids)
    for kind, gone in (("c", here - there), ("r", set(base.row_ids) - set(edited.row_ids))):
        for id in gone:
            _add(found.notes.setdefault(f"{kind}:{id}", {}), gettext("removed by"), letter)
            found.removed.add(f"{kind}:{id}")
    for operation in one.operations:
        if isinstance(operation, MoveRow):
            _add(found.notes.setdefault(f"r:{operation.row}", {}), gettext("moved by"), letter)
        elif isinstance(operation, MoveColumn):
            _add(found.notes.setdefault(f"c:{operation.column}", {}), gettext("moved by"), letter)
    names = dict(zip(edited.column_ids, edited.header, strict=True))
    for id, name in zip(base.column_ids, base.header, strict=True):
        if id in names and names[id] != name:
            _add(found.renamed.setdefault(id, {}), names[id], letter)
    same_columns = edited.column_ids == base.column_ids
    was = dict(zip(base.row_ids, base.rows, strict=True))
    anchor = ""
    for id, texts in zip(edited.row_ids, edited.rows, strict=True):
        old = was.get(id)
        if old is None:
            values = dict(zip(edited.column_ids, texts, strict=True))
            _add(found.rows, (anchor, tuple(values.get(column, "") for column in base.column_ids)), letter)
            continue
        anchor = id
        if same_columns and old == texts:
            continue
        now = dict(zip(edited.column_ids, texts, strict=True))
        for column, text in zip(base.column_ids, old, strict=True):
            if column in now and now[column] != text:
                _add(found.edits.setdefault((id, column), {}), now[column], letter)
    anchor = ""
    for place, id in enumerate(edited.column_ids):
        if id in here:
            anchor = id
            continue
        cells = dict(zip(edited.row_ids, edited.column(id), strict=True))
        texts = (edited.header[place], *(cells.get(row, "") for row in base.row_ids))
        _add(found.columns, (anchor, texts), letter)


def _columns(base: Table, found: _Found, letters: Sequence[str]) -> list[dict[str, Any]]:
    """The columns of the table, and behind each those that somebody put there."""
    columns: list[dict[str, Any]] = []

    def put(anchor: str) -> None:
        for (behind, texts), who in found.columns.items():
            if behind == anchor:
                columns.append(
                    {
                        "id": "",
                        "name": texts[0],
                        "texts": dict(zip(base.row_ids, texts[1:], strict=True)),
                        "numbers": holds_numbers(texts[1:]),
                        "inserted": who,
                        "notes": [],
                        "renamed": [],
                        "all": who == letters,
                    }
                )

    put("")
    for number, (id, name) in enumerate(zip(base.column_ids, base.header, strict=True), start=1):
        columns.append(
            {
                "id": id,
                "number": number,
                "name": name,
                "numbers": holds_numbers(base.column(id)),
                "notes": _notes(found, f"c:{id}", letters),
                "removed": f"c:{id}" in found.removed,
                "renamed": _changes(found.renamed.get(id, {}), letters),
                "inserted": [],
            }
        )
        put(id)
    return columns


def _rows(
    base: Table, found: _Found, pointed: set[tuple[str, str]], letters: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows of the table, and below each those that somebody put there; without their cells, which `_cell` makes."""
    behind: dict[str, list[tuple[tuple[str, ...], list[str]]]] = {}
    for (anchor, texts), who in found.rows.items():
        behind.setdefault(anchor, []).append((texts, who))
    touched = {row for row, _ in (*found.edits, *found.marks, *pointed)}
    rows: list[dict[str, Any]] = []

    def put(anchor: str) -> None:
        for texts, who in behind.get(anchor, ()):
            row = {"id": "", "values": texts, "inserted": who, "all": who == letters, "special": True}
            rows.append(row)

    put("")
    for number, (id, texts) in enumerate(zip(base.row_ids, base.rows, strict=True), start=1):
        notes = _notes(found, f"r:{id}", letters)
        special = bool(notes) or id in touched
        row = {"id": id, "number": number, "values": texts, "notes": notes, "special": special}
        rows.append(row | {"removed": f"r:{id}" in found.removed})
        put(id)
    return rows


def _cell(
    row: Mapping[str, Any],
    column: Mapping[str, Any],
    found: _Found,
    pointed: set[tuple[str, str]],
    letters: Sequence[str],
) -> dict[str, Any]:
    numbers = column["numbers"]
    if column["inserted"]:
        return {"text": column["texts"].get(row["id"], ""), "numbers": numbers, "inserted": True}
    text = row["values"][column["number"] - 1]
    if not row["special"] and len(text) <= LONG:
        return {"text": text, "numbers": numbers}
    place = (row["id"], column["id"])
    changes = _changes(found.edits.get(place, {}), letters)
    marks = found.marks.get(place, [])
    return {
        "text": text,
        "numbers": numbers,
        "changes": changes,
        "marks": " ".join(marks),
        "all": marks == letters,
        "evidence": place in pointed,
        "special": bool(changes or marks or place in pointed or len(text) > LONG),
    }


def _above(line: Sequence[str], base: Table, columns: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = dict(zip(base.column_ids, line, strict=True))
    return [texts.get(column["id"], "") for column in columns]


def _cut(rows: Sequence[dict[str, Any]], first: int) -> list[dict[str, Any]]:
    """The rows in which something was done and their neighbours, or the first ones where nothing was; between them, how
    many are left out.
    """
    wanted = {
        near
        for at, row in enumerate(rows)
        if row["special"]
        for near in range(max(0, at - NEAR), min(len(rows), at + NEAR + 1))
    } or set(range(first))
    found: list[dict[str, Any]] = []
    left = 0
    for at, row in enumerate(rows):
        if at in wanted:
            if left:
                found.append({"left": left})
            left = 0
            found.append(row)
        else:
            left += 1
    return [*found, {"left": left}] if left else found


def _summary(found: _Found, letters: Sequence[str]) -> list[dict[str, Any]]:
    """How many places were marked or edited by whom, and how many rows and columns removed, moved, renamed or put there,
    everybody first: {"letters", "all", "marked", "edited", "lines"}.
    """
    marked = Counter(" ".join(who) for who in found.marks.values())
    edited = Counter(" ".join(who) for texts in found.edits.values() for who in texts.values())
    lines = Counter(" ".join(who) for who in (*found.rows.values(), *found.columns.values()))
    lines.update(
        " ".join(who) for one in (*found.notes.values(), *found.renamed.values()) for who in one.values()
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


def _notes(found: _Found, key: str, letters: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"what": what, "letters": " ".join(who), "all": who == letters}
        for what, who in found.notes.get(key, {}).items()
    ]


def _changes(texts: Mapping[str, list[str]], letters: Sequence[str]) -> list[dict[str, Any]]:
    """What was written, and by whom: what most wrote first."""
    ordered = sorted(texts.items(), key=lambda pair: (-len(pair[1]), pair[1]))
    return [{"text": text, "letters": " ".join(who), "all": who == letters} for text, who in ordered]


def _add(found: dict[Any, list[str]], key: Any, letter: str) -> None:
    who = found.setdefault(key, [])
    if letter not in who:
        who.append(letter)
