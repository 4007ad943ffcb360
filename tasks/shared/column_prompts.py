"""What a language model is shown of a table, and how columns that it names are read. (RobuT 5: the header and two rows;
here as many rows as fit, those that the question is about first)
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tableqa import Table
from tableqa.cells import fold
from tasks.contract import InvalidResponse

LONGEST_CELL = 120
LONGEST_WORDS = 400
"""Characters of a name or reason in a reply."""


MAX_ROW_TOKENS = 800
"""Estimated tokens of the rows of a table in one request; demonstrations have as many each."""
CHARACTERS_PER_TOKEN = 4


def relevant_table(table: Table, question: str, tokens: int = MAX_ROW_TOKENS) -> str:
    """Title, numbered columns and the rows of `relevant_rows`; a last line says how many are not shown."""
    rows = relevant_rows(table, question, tokens)
    lines = [table_text(table, 0), *(_row(table.rows[index]) for index in rows)]
    hidden = len(table.rows) - len(rows)
    return "\n".join([*lines, f"({hidden} of {len(table.rows)} rows are not shown)"] if hidden else lines)


def relevant_rows(table: Table, question: str, tokens: int = MAX_ROW_TOKENS) -> list[int]:
    """Positions of as many rows as fit, at least one, in their order. Rows that share words with the question go first."""
    question_words = set(_words(question))
    by_relevance = sorted(
        range(len(table.rows)),
        key=lambda index: (
            -len(question_words & {word for cell in table.rows[index] for word in _words(cell)}),
            index,
        ),
    )
    selected, remaining_characters = list[int](), tokens * CHARACTERS_PER_TOKEN
    for index in by_relevance:
        remaining_characters -= len(_row(table.rows[index])) + 1
        if remaining_characters < 0 and selected:
            break
        selected.append(index)
    return sorted(selected)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", fold(text).casefold()) if len(word) > 2 or word.isdigit()]


def _row(cells: Sequence[str]) -> str:
    return " | ".join(_truncate_cell(cell) for cell in cells)


def table_text(table: Table, rows: int) -> str:
    """Title, numbered columns and the first rows, one a line with `|` between cells."""
    titles = " / ".join(text for text in (table.title, table.caption) if text.strip())
    lines = [f"Title: {_truncate_cell(titles)}"] if titles else []
    lines += [
        "Columns: "
        + "; ".join(f"{n}. {_truncate_cell(name)}" for n, name in enumerate(table.header, start=1))
    ]
    lines += [_row(row) for row in table.rows[:rows]]
    return "\n".join(lines)


def column_of(value: object, table: Table, path: str) -> str:
    """The id of a column that a reply names by its number, and by its name to show a slip. Raises `InvalidResponse`."""
    if not isinstance(value, Mapping):
        raise invalid_reply(path, "A column is an object with its number and its name.")
    position, name = value.get("number"), value.get("name")
    if type(position) is not int or not 1 <= position <= len(table.header) or not isinstance(name, str):
        raise invalid_reply(path, "A column is named by its number and its name.")
    if _plain(name) != _plain(table.header[position - 1]):
        raise invalid_reply(path, f"Column {position} is “{table.header[position - 1]}”, not “{name[:80]}”.")
    return table.column_ids[position - 1]


def column_reference(table: Table, column: str) -> dict[str, Any]:
    """A column as `column_of` reads it."""
    index = table.column_index(column)
    return {"number": index + 1, "name": table.header[index]}


def read_text(value: object, path: str) -> str:
    """A short text of a reply. Raises `InvalidResponse`."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_WORDS:
        raise invalid_reply(path, f"This is a text of 1 to {LONGEST_WORDS} characters.")
    return " ".join(value.split())


def require_fields(reply: Mapping[str, Any], names: set[str]) -> None:
    """Refuse a reply with other fields than these."""
    if reply.keys() != names:
        raise invalid_reply("", f"The reply has the fields {', '.join(sorted(names))} and no others.")


def invalid_reply(path: str, message: str) -> InvalidResponse:
    """What is raised where a reply is not of the form."""
    return InvalidResponse.of(path, "not_of_the_form", message)


def _truncate_cell(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_CELL else line[: LONGEST_CELL - 1] + "…"


def _plain(text: str) -> str:
    return " ".join(fold(_truncate_cell(text)).casefold().split())
