"""Plain csv that a spreadsheet writes: a file of questions, and each table in its own file.

Both are UTF-8 and quoted as RFC 4180 says. docs/reference/readers.md describes the form.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tableqa.core.translation import gettext_noop, phrase
from tableqa.data.examples import Example
from tableqa.readers.delimited import names_columns, read_questions, read_table
from tableqa.readers.example_parts import context_of, example
from tableqa.readers.interface import FileReader, Rejection, file_at, outcomes_of_rows
from tableqa.readers.record_fields import Location
from tableqa.readers.table_files import TableFiles, folders_around
from tableqa.readers.table_kinds import check_kind

_COLUMNS = ("id", "question", "table", "answers")
_TABLES = (".csv", ".txt", "")
_CONTEXT = ("text", "unit", "scale")

_ESCAPE = re.compile(r"\\([p\\])")
_UNESCAPED = {"p": "|", "\\": "\\"}


class CsvTables(FileReader):
    """The reader "csv"; see `tableqa.readers.interface.Reader`.

    Several answers are parted by `|`; in an answer, `\\p` is a pipe and `\\\\` a backslash. An empty field is no answer.
    context holds the columns "text", "unit" and "scale"; meta every column beyond these under its name, and "table".
    """

    name = "csv"
    title = gettext_noop("CSV: a questions file and one file per table")
    rest_form = "csv"
    beside = gettext_noop("the .csv files of the tables")

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, TableFiles]:
        path = Path(path)
        mend = phrase(
            "Name one .csv file whose first line names the columns {names}", names=", ".join(_COLUMNS)
        )
        questions = file_at(path, ("*.csv",), lambda file: names_columns(file, ",", _COLUMNS), mend)
        folders = folders_around(path, questions, tables, levels_up=0)
        return questions, TableFiles(questions, folders, read_table, field="table", prefix="tables/")

    def _outcomes(self, path: Path, tables: TableFiles) -> Iterator[Example | Rejection]:
        rows = read_questions(path, ",", _COLUMNS)
        return outcomes_of_rows(path, rows, lambda line, row: _example(Location(path, line), row, tables))

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The file of questions, then each table once, in the order in which they are named; ReaderError as for reading."""
        questions, library = self.located(path, tables)
        rows = read_questions(questions, ",", _COLUMNS)
        yield from library.files((row["table"], line) for line, row in rows if not isinstance(row, Rejection))


def _example(location: Location, row: dict[str, str], tables: TableFiles) -> Example:
    if not row["id"]:
        raise location.error(phrase("the id is empty"), phrase("Give each question its own id"))
    check_kind(location, row["table"], _TABLES)
    table = tables.table(row["table"], location.line)
    context = context_of(location, **{name: row.get(name, "") for name in _CONTEXT})
    own = {name: text for name, text in row.items() if name not in (*_COLUMNS, *_CONTEXT)}
    meta = {"table": row["table"], **own}
    return example(
        location, row["id"], row["question"], table, _answers(row["answers"]), meta, context=context
    )


def _answers(field: str) -> list[str]:
    if not field:
        return []
    return [_ESCAPE.sub(lambda match: _UNESCAPED[match[1]], text) for text in field.split("|")]


READER = CsvTables()
