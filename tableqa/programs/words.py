"""Programs in words, for the person who confirms one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tableqa.programs.language import (
    Add,
    Aggregate,
    AllRows,
    Beside,
    Cell,
    Count,
    CountDifferent,
    Divide,
    Extreme,
    Holds,
    Minus,
    MostCommon,
    Multiply,
    Node,
    Number,
    Percent,
    Pick,
    Place,
    Program,
    Rounded,
    Select,
    Subtract,
    Those,
    Where,
    Year,
    from_dict,
)
from tableqa.programs.layout import Layout
from tableqa.programs.meaning import column_name
from tableqa.programs.readings import reading, year_in
from tableqa.tables import Table, default_ids

_LONGEST = 40
_RELATIONS = {
    "equals": "is",
    "differs": "is not",
    "contains": "contains",
    "greater": "is greater than",
    "less": "is less than",
    "at_least": "is at least",
    "at_most": "is at most",
}
_MOST_NAMED = 6


def describe(program: Program | Mapping[str, Any], table: Table) -> str:
    """The program in words: "count of rows where Year is 2001", "Votes in row 1 (Ann) minus Votes in row 2 (Bob)".

    The program or its JSON. Rows are counted from 1; a column is called by its header, or by its number where the header
    is empty or repeated, and then by what stands at the top of the body, too. What the table does not have is called by
    its id, so that a program can be told of a table on which it does not run. Raises ProgramError for JSON that is no
    program.
    """
    if isinstance(program, Mapping):
        program = from_dict(program)
    return _said(program, table)


def _said(node: Node, table: Table) -> str:
    match node:
        case Number():
            return node.value
        case Cell():
            return _cell(node, table)
        case Minus():
            return f"minus {_part(node.of, table)}"
        case Rounded():
            return _said(node.of, table)
        case Percent(of=Divide(left=Subtract(left=new, right=old), right=base)) if base == old:
            return f"percent change from {_said(old, table)} to {_said(new, table)}"
        case Percent(of=Divide() as ratio):
            return f"{_part(ratio.left, table)} in percent of {_part(ratio.right, table)}"
        case Percent():
            return f"{_part(node.of, table)} in percent"
        case Divide(left=Add() as sum_, right=Number() as number) if number.value == str(len(sum_.terms)):
            return f"average of {_list([_said(term, table) for term in sum_.terms])}"
        case Divide():
            return f"{_part(node.left, table)} divided by {_part(node.right, table)}"
        case Subtract():
            return f"{_said(node.left, table)} minus {_part(node.right, table)}"
        case Add():
            return f"sum of {_list([_said(term, table) for term in node.terms])}"
        case Multiply():
            return " times ".join(_part(term, table) for term in node.terms)
        case Aggregate():
            function = {"largest": "largest value", "smallest": "smallest value"}.get(
                node.function, node.function
            )
            return f"{function} of {_column(node.column, table)} over {_rows(node.rows, table)}"
        case Count(of=Those() as those):
            return f"count of {_said(those, table)}"
        case Count():
            return f"count of {_rows(node.of, table)}"
        case CountDifferent():
            return f"count of different {_column(node.column, table)} over {_rows(node.rows, table)}"
        case Select():
            return f"{_column(node.column, table)} of {_rows(node.rows, table)}"
        case Year():
            return f"year in {_said(node.of, table)}"
        case MostCommon():
            how = "most" if node.which == "largest" else "least"
            return f"{how} common {_column(node.column, table)} over {_rows(node.rows, table)}"
        case Pick():
            choices, value = _choices(node, table)
            return f"which of {choices} has the {node.which} {value}"
        case Those():
            choices, value = _choices(node, table)
            return f"those of {choices} whose {value} {_RELATIONS[node.relation]} {_said(node.than, table)}"
        case Holds():
            relation = _RELATIONS[node.relation]
            pair = (
                ""
                if node.words == ("yes", "no")
                else f" ({_shown(node.words[0])} or {_shown(node.words[1])})"
            )
            return f"whether {_said(node.left, table)} {relation} {_said(node.right, table)}{pair}"
    raise TypeError(f"{type(node).__name__} has no description")


def _part(node: Node, table: Table) -> str:
    """A part of a calculation, in brackets where its own words would run into the others."""
    plain = isinstance(node, Number | Cell | Aggregate | Count | CountDifferent)
    return _said(node, table) if plain else f"({_said(node, table)})"


def _rows(node: Node, table: Table) -> str:
    match node:
        case AllRows():
            return "all rows"
        case Where(rows=AllRows()):
            return f"rows where {_condition(node, table)}"
        case Where(rows=Where()):
            return f"{_rows(node.rows, table)} and {_condition(node, table)}"
        case Where():
            return f"those of {_rows(node.rows, table)} where {_condition(node, table)}"
        case Extreme():
            return f"the row with the {node.which} {_column(node.column, table)}{_among(node.rows, table)}"
        case Place():
            return f"the {node.which} row{_among(node.rows, table)}"
        case Beside():
            side = "below" if node.which == "after" else "above"
            return f"the row {side} {_rows(node.rows, table)}"
    raise TypeError(f"{type(node).__name__} has no description")


def _among(rows: Node, table: Table) -> str:
    return "" if isinstance(rows, AllRows) else f" among {_rows(rows, table)}"


def _condition(node: Where, table: Table) -> str:
    if node.value == "" and node.relation in ("equals", "differs"):
        return f"{_column(node.column, table)} {_RELATIONS[node.relation]} empty"
    value = _shown(node.value) if isinstance(node.value, str) else _said(node.value, table)
    return f"{_column(node.column, table)} {_RELATIONS[node.relation]} {value}"


def _choices(node: Pick | Those, table: Table) -> tuple[str, str]:
    """The names of what is compared, and what of each is."""
    labels = [_label(choice.label, table) for choice in node.choices]
    values = [choice.value for choice in node.choices if isinstance(choice.value, Cell)]
    if len(values) == len(node.choices):
        if len({value.row for value in values}) == 1:
            return _list([_shown(label) for label in labels]), f"value in {_row(values[0], table)}"
        if len({value.column for value in values}) == 1:
            return _list([_shown(label) for label in labels]), _column(values[0].column, table)
    named = [
        f"{_shown(label)} ({_said(choice.value, table)})"
        for label, choice in zip(labels, node.choices, strict=True)
    ]
    return _list(named), "value"


def _label(node: Cell | Year, table: Table) -> str:
    cell = node if isinstance(node, Cell) else next(one for one in node.walk() if isinstance(one, Cell))
    text = _text(cell, table)
    return (year_in(text) if isinstance(node, Year) else text) or _cell(cell, table)


def _cell(node: Cell, table: Table) -> str:
    if node.row not in table.row_ids:
        if node.row in (table.header_id, *default_ids("h", len(table.header_rows))):
            return f"the header of {_place(node.column, table)}"
        return f"{_column(node.column, table)} in row {node.row}"
    return f"{_column_of_cell(node, table)} in {_row(node, table)}"


def _row(node: Cell, table: Table) -> str:
    if node.row not in table.row_ids:
        return f"row {node.row}"
    label = _row_label(node, table)
    return f"row {table.row_index(node.row) + 1}{f' ({_shown(label)})' if label else ''}"


def _row_label(node: Cell, table: Table) -> str:
    """What a row is called: its first text that is no number, else its first, the cell's own left out."""
    row = table.rows[table.row_index(node.row)]
    cells = zip(table.column_ids, row, strict=True)
    others = [text for column, text in cells if column != node.column and text.strip()]
    return next((text for text in others if reading(text).number is None), others[0] if others else "")


def _column(column: str, table: Table) -> str:
    """Its header; where that tells nothing, its number with what a row at the top of the body calls it.

    The number stays: "smallest value of 2018" would read like a value, and two columns must never read alike.
    """
    if column not in table.column_ids or column_name(table, column) != _place(column, table):
        return column_name(table, column)
    j = table.column_index(column)
    head = table.rows[: Layout(table, "").head_rows]
    above = [row[j].strip() for row in head if row[j].strip()]
    if not above or above[-1].startswith("("):  # "($ in millions)" is a unit, and names no column
        return _place(column, table)
    return f"{_place(column, table)} ({_shown(above[-1])})"


def _column_of_cell(node: Cell, table: Table) -> str:
    """What stands above a cell: the year, where rows at the top of the body name the columns, else the header."""
    if node.column not in table.column_ids:
        return column_name(table, node.column)
    j = table.column_index(node.column)
    head = table.rows[: min(Layout(table, "").head_rows, table.row_index(node.row))]
    above = [text for text in (table.header[j], *(row[j] for row in head)) if text.strip()]
    year = next((text for text in above if re.search(r"\b(?:19|20)\d\d\b", text)), "")
    if year and head and len(year) <= _LONGEST:
        return _shown(year)
    name = column_name(table, node.column)
    return f"{name} ({_shown(above[-1])})" if above and name == _place(node.column, table) else name


def _place(column: str, table: Table) -> str:
    return f"column {table.column_index(column) + 1}" if column in table.column_ids else f"column {column}"


def _text(node: Cell, table: Table) -> str:
    try:
        return table.cell(node.row, node.column)
    except KeyError:
        return ""


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _list(texts: Sequence[str]) -> str:
    shown = [*texts[:_MOST_NAMED], *(["…"] if len(texts) > _MOST_NAMED else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
