"""The item form that FREB-TQA (Zhou et al., NAACL 2024) and RobuT (Zhao et al., ACL 2023) share."""

from collections.abc import Iterable, Sequence
from typing import Any

from tableqa.core.canonical_json import thaw
from tableqa.data.examples import Example
from tableqa.data.tables import Table

OF_THE_QUESTION = ("ori_table", "short_table")
SIDES = (*OF_THE_QUESTION, "ans_change", "ans_no_change")
"""The files of the third part: the same questions in the same order. The first two are of the question, not of an edit."""
Cell = Sequence[str]
"""(row id, column id)."""


def freb_record(id: str, question: str, answers: Sequence[str], table: Table, name: str) -> dict[str, Any]:
    """{"id", "question", "answers": [str], "table": {"header": [str], "rows": [[str]], "name": str}}, verbatim.

    `name` is the table's path in its source (WTQ: csv/204-csv/772.csv). Title,
    caption, further header rows and merged cells have no place in this form and are left out.
    """
    return {
        "id": id,
        "question": question,
        "answers": list(answers),
        "table": {
            "header": list(table.header),
            "rows": [list(row) for row in table.rows],
            "name": name,
        },
    }


def freb_example(example: Example, cells: Iterable[Cell] | None = None) -> dict[str, Any]:
    """The record of an example; its table is named as the source names it (`context` in WTQ), or not at all.

    `cells` are its relevant cells, by default those of `meta`. The record has their positions in its table as "rel_cell",
    [[row, column], ...] counted from 0 below the header, while the table still has all of them; a cell of the header has
    no position.
    """
    name = str(example.meta.get("context", ""))
    record = freb_record(example.id, example.question, example.answers, example.table, name)
    marked = example.meta.get("relevant_cells", ()) if cells is None else cells
    positions = [_position(example.table, row, column) for row, column in marked]
    inside = [position for position in positions if position is None or position[0] >= 0]
    return {**record, "rel_cell": inside} if inside and None not in inside else record


def _position(table: Table, row: str, column: str) -> list[int] | None:
    """[row, column] of a cell, the header being row -1; None where the table does not have it.

    After a transposition (row, column) is (column, row).
    """
    for first, second in ((row, column), (column, row)):
        if second in table.column_ids and (table.has_row(first) or first == table.header_id):
            below = -1 if first == table.header_id else table.row_index(first)
            return [below, table.column_index(second)]
    return None


def published_record(example: Example) -> dict[str, Any]:
    """The record that the reader "freb_tqa" made `example` of: the same fields with the same values, in its form.

    For an example of another reader it is the record of `freb_example` with every field of `meta` beside the four.
    """
    meta = thaw(example.meta)
    header, rows = list(example.table.header), [list(row) for row in example.table.rows]
    record = {
        "id": meta.pop("id", example.id),
        "question": example.question,
        "answers": list(example.answers),
        "table": [header, *rows],
    }
    if meta.pop("table_form", "") != "rows":
        record["table"] = {"header": header, "rows": rows, **meta.pop("table", {})}
        if "context" in meta:
            record["table"]["name"] = meta.pop("context")
    meta.pop("relevant_cells", None)
    if "nested" in meta:
        meta_names = {name: f"meta.{name}" if f"meta.{name}" in meta else name for name in meta.pop("nested")}
        record["meta"] = {name: meta.pop(meta_name) for name, meta_name in meta_names.items()}
    return record | meta
