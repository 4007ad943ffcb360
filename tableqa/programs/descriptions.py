"""Programs in words, for the person who confirms one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tableqa.core.translation import gettext, gettext_noop
from tableqa.data.tables import Table, default_ids
from tableqa.programs.cell_readings import reading, year_in
from tableqa.programs.layout import Layout
from tableqa.programs.semantics import column_name
from tableqa.programs.syntax import (
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
    RoundedValue,
    Select,
    Subtract,
    Those,
    Where,
    Year,
    from_dict,
)

_LONGEST = 40
_RELATIONS = {
    "equals": gettext_noop("{left} is {right}"),
    "differs": gettext_noop("{left} is not {right}"),
    "contains": gettext_noop("{left} contains {right}"),
    "greater": gettext_noop("{left} is greater than {right}"),
    "less": gettext_noop("{left} is less than {right}"),
    "at_least": gettext_noop("{left} is at least {right}"),
    "at_most": gettext_noop("{left} is at most {right}"),
}
_FUNCTIONS = {
    "sum": gettext_noop("sum of {column}"),
    "average": gettext_noop("average of {column}"),
    "largest": gettext_noop("largest value of {column}"),
    "smallest": gettext_noop("smallest value of {column}"),
}
_COMMON = {
    "largest": gettext_noop("most common {column}"),
    "smallest": gettext_noop("least common {column}"),
}
_PICKS = {
    "largest": gettext_noop("which of {choices} has the largest {value}"),
    "smallest": gettext_noop("which of {choices} has the smallest {value}"),
}
_EXTREMES = {
    "largest": gettext_noop("the row with the largest {column}"),
    "smallest": gettext_noop("the row with the smallest {column}"),
}
_WITH = {
    "largest": gettext_noop("{what} with the largest {column}"),
    "smallest": gettext_noop("{what} with the smallest {column}"),
}
_PLACES = {"first": gettext_noop("the first row"), "last": gettext_noop("the last row")}
_SIDES = {
    "after": gettext_noop("the row below {rows}"),
    "before": gettext_noop("the row above {rows}"),
}
_MOST_NAMED = 6


def describe(program: Program | Mapping[str, Any], table: Table) -> str:
    """The program in words: "number of rows where Year is 2001", "Votes in row 1 (Ann) minus Votes in row 2 (Bob)".

    The program or its JSON. Rows are counted from 1; a column is called by its header, or by its number where the header
    is empty or repeated, or by what is at the top of the body. What the table does not have is called by
    its id, so that a program can be described for a table on which it does not run. Raises ProgramError for JSON that is no
    program.
    """
    if isinstance(program, Mapping):
        program = from_dict(program)
    return _expression_text(program, table)


def _expression_text(node: Node, table: Table) -> str:
    match node:
        case Number():
            return node.value
        case Cell():
            return _cell(node, table)
        case Minus():
            return gettext("minus {part}").format(part=_part(node.of, table))
        case RoundedValue():
            return _expression_text(node.of, table)
        case Percent(of=Divide(left=Subtract(left=new, right=old), right=base)) if base == old:
            return gettext("percent change from {old} to {new}").format(
                old=_expression_text(old, table), new=_expression_text(new, table)
            )
        case Percent(of=Divide() as ratio):
            return gettext("{part} in percent of {whole}").format(
                part=_part(ratio.left, table), whole=_part(ratio.right, table)
            )
        case Percent():
            return gettext("{part} in percent").format(part=_part(node.of, table))
        case Divide(left=Add() as sum_, right=Number() as number) if number.value == str(len(sum_.terms)):
            terms = _list([_expression_text(term, table) for term in sum_.terms])
            return gettext("average of {terms}").format(terms=terms)
        case Divide():
            return gettext("{left} divided by {right}").format(
                left=_part(node.left, table), right=_part(node.right, table)
            )
        case Subtract():
            return gettext("{left} minus {right}").format(
                left=_expression_text(node.left, table), right=_part(node.right, table)
            )
        case Add():
            return gettext("sum of {terms}").format(
                terms=_list([_expression_text(term, table) for term in node.terms])
            )
        case Multiply():
            return gettext(" times ").join(_part(term, table) for term in node.terms)
        case Aggregate():
            return _over(gettext(_FUNCTIONS[node.function]), node, table)
        case Count(of=Those() as those):
            return gettext("number of {what}").format(what=_expression_text(those, table))
        case Count():
            return _within(gettext("number of rows"), node.of, table)
        case CountDifferent():
            return _over(gettext("number of different {column}"), node, table)
        case Select():
            return _over("{column}", node, table)
        case Year():
            return gettext("year in {what}").format(what=_expression_text(node.of, table))
        case MostCommon():
            return _over(gettext(_COMMON[node.which]), node, table)
        case Pick():
            choices, value = _choices(node, table)
            return gettext(_PICKS[node.which]).format(choices=choices, value=value)
        case Those():
            choices, value = _choices(node, table)
            condition = _relation_text(node.relation, value, _expression_text(node.than, table))
            return gettext("those of {choices} whose {condition}").format(
                choices=choices, condition=condition
            )
        case Holds():
            condition = _relation_text(
                node.relation, _expression_text(node.left, table), _expression_text(node.right, table)
            )
            pair = ""
            if node.words != ("yes", "no"):
                first_word, second_word = map(_shorten, node.words)
                pair = gettext(" ({one} or {other})").format(one=first_word, other=second_word)
            return gettext("whether {condition}{pair}").format(condition=condition, pair=pair)
    raise TypeError(f"{type(node).__name__} has no description")


def _over(message: str, node: Aggregate | CountDifferent | MostCommon | Select, table: Table) -> str:
    what = message.format(column=_column(node.column, table))
    match node.rows:
        case Where(column, "equals", str() as name, AllRows()) if name and _names_rows(column, table):
            return gettext("{what} of row “{name}”").format(what=what, name=_shorten(name))
    return _within(what, node.rows, table)


def _within(what: str, rows: Node, table: Table) -> str:
    """What is read of chosen rows, the choice in few words: "Film with the largest Minutes where Year is 1985"."""
    match rows:
        case AllRows():
            return what
        case Where():
            if (condition := _conditions(rows, table)) is not None:
                return gettext("{what} where {condition}").format(what=what, condition=condition)
        case Extreme(rows=AllRows() | Where() as among):
            row = gettext(_WITH[rows.which]).format(what=what, column=_values_of(rows.column, table))
            if isinstance(among, AllRows) or _conditions(among, table) is not None:
                return _within(row, among, table)
    return gettext("{what} of {rows}").format(what=what, rows=_rows(rows, table))


def _conditions(rows: Where, table: Table) -> str | None:
    """The conditions of a chain of them, the innermost first; None where it ends in a choice of another sort."""
    if isinstance(rows.rows, AllRows):
        return _condition(rows, table)
    first = _conditions(rows.rows, table) if isinstance(rows.rows, Where) else None
    if first is None:
        return None
    return gettext("{first} and {second}").format(first=first, second=_condition(rows, table))


def _relation_text(relation: str, left_text: str, right_text: str) -> str:
    return gettext(_RELATIONS[relation]).format(left=left_text, right=right_text)


def _part(node: Node, table: Table) -> str:
    """A part of a calculation, in brackets where its own words would run into the others."""
    plain = isinstance(node, Number | Cell | Aggregate | Count | CountDifferent)
    return _expression_text(node, table) if plain else f"({_expression_text(node, table)})"


def _rows(node: Node, table: Table) -> str:
    match node:
        case AllRows():
            return gettext("all rows")
        case Where(rows=AllRows()):
            return gettext("rows where {condition}").format(condition=_condition(node, table))
        case Where(rows=Where()):
            return gettext("{rows} and {condition}").format(
                rows=_rows(node.rows, table), condition=_condition(node, table)
            )
        case Where():
            return gettext("those of {rows} where {condition}").format(
                rows=_rows(node.rows, table), condition=_condition(node, table)
            )
        case Extreme():
            row = gettext(_EXTREMES[node.which]).format(column=_values_of(node.column, table))
            return row + _among(node.rows, table)
        case Place():
            return gettext(_PLACES[node.which]) + _among(node.rows, table)
        case Beside():
            return gettext(_SIDES[node.which]).format(rows=_rows(node.rows, table))
    raise TypeError(f"{type(node).__name__} has no description")


def _among(rows: Node, table: Table) -> str:
    return "" if isinstance(rows, AllRows) else gettext(" among {rows}").format(rows=_rows(rows, table))


def _condition(node: Where, table: Table) -> str:
    column = gettext("row name") if _names_rows(node.column, table) else _column(node.column, table)
    if node.value == "" and node.relation in ("equals", "differs"):
        return _relation_text(node.relation, column, gettext("empty"))
    value = _shorten(node.value) if isinstance(node.value, str) else _expression_text(node.value, table)
    return _relation_text(node.relation, column, value)


def _names_rows(column: str, table: Table) -> bool:
    """Whether it is the first column and nothing names it, as in financial reports: its texts name the rows."""
    is_first = column == next(iter(table.column_ids), None)
    return (
        is_first
        and not table.header[0].strip()
        and _column(column, table) == _column_number_label(column, table)
    )


def _choices(node: Pick | Those, table: Table) -> tuple[str, str]:
    """The names of what is compared, and what of each is."""
    labels = [_label(choice.label, table) for choice in node.choices]
    values = [choice.value for choice in node.choices if isinstance(choice.value, Cell)]
    if len(values) == len(node.choices):
        if len({value.row for value in values}) == 1:
            return _list([_shorten(label) for label in labels]), gettext("value in {place}").format(
                place=_row(values[0], table)
            )
        if len({value.column for value in values}) == 1:
            return _list([_shorten(label) for label in labels]), _values_of(values[0].column, table)
    named = [
        f"{_shorten(label)} ({_expression_text(choice.value, table)})"
        for label, choice in zip(labels, node.choices, strict=True)
    ]
    return _list(named), gettext("value")


def _label(node: Cell | Year, table: Table) -> str:
    cell = (
        node
        if isinstance(node, Cell)
        else next(descendant for descendant in node.walk() if isinstance(descendant, Cell))
    )
    text = _text(cell, table)
    return (year_in(text) if isinstance(node, Year) else text) or _cell(cell, table)


def _cell(node: Cell, table: Table) -> str:
    if node.row not in table.row_ids:
        if node.row in (table.header_id, *default_ids("h", len(table.header_rows))):
            return gettext("the header of {column}").format(column=_column_number_label(node.column, table))
        return _in(_column(node.column, table), gettext("row {row}").format(row=node.row))
    return _in(_column_of_cell(node, table), _row(node, table))


def _in(column: str, row: str) -> str:
    return gettext("{column} in {row}").format(column=column, row=row)


def _row(node: Cell, table: Table) -> str:
    if node.row not in table.row_ids:
        return gettext("row {row}").format(row=node.row)
    label = _row_label(node, table)
    row_name = gettext("row {row}").format(row=table.row_index(node.row) + 1)
    return f"{row_name} ({_shorten(label)})" if label else row_name


def _row_label(node: Cell, table: Table) -> str:
    """What a row is called: its first text that is no number, else its first, the cell's own left out."""
    row = table.rows[table.row_index(node.row)]
    cells = zip(table.column_ids, row, strict=True)
    others = [text for column, text in cells if column != node.column and text.strip()]
    return next((text for text in others if reading(text).number is None), others[0] if others else "")


def _column(column: str, table: Table) -> str:
    """Its header; where that tells nothing, what a row at the top of the body calls it: column “2018”.

    "Smallest value of 2018" alone would read like a value. Where two columns are called so, the number of the column
    comes first: two columns must never read alike.
    """
    if _is_named(column, table):
        return column_name(table, column)
    j = table.column_index(column)
    head = table.rows[: Layout(table, "").head_rows]
    above = [_names_above(head, j) for j in range(len(table.column_ids))]
    if not above[j] or above[j].startswith("("):  # "($ in millions)" is a unit, and names no column
        return _column_number_label(column, table)
    if above.count(above[j]) == 1 and above[j] not in table.header:
        return gettext("column “{name}”").format(name=_shorten(above[j]))
    return f"{_column_number_label(column, table)} ({_shorten(above[j])})"


def _is_named(column: str, table: Table) -> bool:
    """Whether its header tells the column from all others."""
    return column not in table.column_ids or column_name(table, column) != _column_number_label(column, table)


def _names_above(head: Sequence[Sequence[str]], column: int) -> str:
    """What the lowest of the rows at the top of the body calls a column."""
    return next((row[column].strip() for row in reversed(head) if row[column].strip()), "")


def _values_of(column: str, table: Table) -> str:
    """What is the largest or smallest of a column: "largest Votes", but "largest value in column 3"."""
    name = _column(column, table)
    return name if _is_named(column, table) else gettext("value in {place}").format(place=name)


def _column_of_cell(node: Cell, table: Table) -> str:
    """What is above a cell: the year, where rows at the top of the body name the columns, else the header."""
    if node.column not in table.column_ids:
        return column_name(table, node.column)
    j = table.column_index(node.column)
    head = table.rows[: min(Layout(table, "").head_rows, table.row_index(node.row))]
    above = [text for text in (table.header[j], *(row[j] for row in head)) if text.strip()]
    year = next((text for text in above if re.search(r"\b(?:19|20)\d\d\b", text)), "")
    if year and head and len(year) <= _LONGEST:
        return _shorten(year)
    name = column_name(table, node.column)
    return (
        f"{name} ({_shorten(above[-1])})"
        if above and name == _column_number_label(node.column, table)
        else name
    )


def _column_number_label(column: str, table: Table) -> str:
    position = table.column_index(column) + 1 if column in table.column_ids else column
    return gettext("column {column}").format(column=position)


def _text(node: Cell, table: Table) -> str:
    try:
        return table.cell(node.row, node.column)
    except KeyError:
        return ""


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _list(texts: Sequence[str]) -> str:
    items = [*texts[:_MOST_NAMED], *(["…"] if len(texts) > _MOST_NAMED else [])]
    return f"{', '.join(items[:-1])}{gettext(' and ')}{items[-1]}" if len(items) > 1 else items[0]
