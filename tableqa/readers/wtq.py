"""WikiTableQuestions (Pasupat and Liang, ACL 2015): questions in .tsv, each table in a .csv of its own.

The .csv files are not RFC 4180: every field is quoted, a quote inside one is written `\\"` and a backslash `\\\\`. A
cell is exactly such a field after unescaping. In the .tsv, `\\n` is a line break, `\\p` a pipe and `\\\\` a backslash.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tableqa.core.translation import gettext_noop, joined, phrase
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.delimited import table_of_rows
from tableqa.readers.interface import (
    FileReader,
    ReaderError,
    Rejection,
    file_at,
    outcomes_of_rows,
    read_lines,
    read_text,
)
from tableqa.readers.records import ADDED
from tableqa.readers.table_files import TableFiles, folders_around

_COLUMNS = ("id", "utterance", "context", "targetValue")
_HEADER = " <tab> ".join(_COLUMNS)

_LEVELS_UP = 3
"""How many folders above the questions' own may hold the tables (in the release it is one above data/)."""

_PLACES = ("*.tsv", "*/*.tsv", "*/data/*.tsv")
"""Where the questions are in a folder: beside the tables, or as in the release, packed with its top folder or without."""

_ESCAPE = re.compile(r"\\([np\\])")
_UNESCAPED = {"n": "\n", "p": "|", "\\": "\\"}


class Wtq(FileReader):
    """The reader "wtq"; see `tableqa.readers.interface.Reader`. meta holds "context", the table's path in the release."""

    name = "wtq"
    title = "WikiTableQuestions"
    licence = "CC-BY-SA-4.0"
    citation = (
        "Panupong Pasupat and Percy Liang. 2015. Compositional Semantic Parsing on Semi-Structured Tables. "
        "In Proceedings of ACL-IJCNLP 2015, pages 1470-1480."
    )
    url = "https://github.com/ppasupat/WikiTableQuestions"
    rest_form = "tabs"
    beside = gettext_noop("the folder csv/ of the release")

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, TableFiles]:
        """The file of questions, and the files of its tables."""
        path, mend = Path(path), phrase("Name one .tsv file whose first line is {header}", header=_HEADER)
        questions = file_at(path, _PLACES, _holds_questions, mend)
        folders = folders_around(path, questions, tables, _LEVELS_UP)
        return questions, TableFiles(questions, folders, read_table, field="context", prefix="csv/")

    def _outcomes(self, path: Path, library: TableFiles) -> Iterator[Example | Rejection]:
        return outcomes_of_rows(path, _questions(path), lambda line, row: _example(path, line, row, library))

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The .tsv, then each table once, in the order in which the questions name them; ReaderError as for reading."""
        questions, library = self.located(path, tables)
        rows = ((line, row) for line, row in _questions(questions) if not isinstance(row, Rejection))
        yield from library.files((_unescape(row["context"]), line) for line, row in rows)


def _example(path: Path, line: int, row: dict[str, str], library: TableFiles) -> Example:
    question_id, utterance, context, target = row.values()
    if not question_id:
        raise ReaderError(path, line, phrase("the id is empty"), phrase("Give each question its own id"))
    return Example(
        id=_unescape(question_id),
        question=_unescape(utterance),
        table=library.table(_unescape(context), line),
        answers=[_unescape(answer) for answer in target.split("|")],
        meta={"context": _unescape(context)},
    )


def _holds_questions(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline(1_000).rstrip() == "\t".join(_COLUMNS).encode()


def _questions(path: Path) -> Iterator[tuple[int, dict[str, str] | Rejection]]:
    """The lines of the .tsv after its header line, with their numbers, as four fields by their columns, still escaped.

    A file of rejected lines has further columns with the reason, which are not given.
    """
    lines = read_lines(path)
    _, header = next(lines, (0, ""))
    columns = tuple(header.split("\t"))
    if columns not in (_COLUMNS, (*_COLUMNS, *ADDED)):
        header_text = header if len(header) <= 80 else header[:79] + "…"
        mend = phrase("The first line of a WTQ file is {header}", header=_HEADER)
        raise ReaderError(path, 1, phrase("the first line is {shown!r}", shown=header_text), mend)
    for line_number, text in lines:
        fields = text.split("\t")
        if len(fields) != len(columns):
            what = (
                phrase(
                    "the line has {number} of {expected} columns", number=len(fields), expected=len(columns)
                )
                if text
                else phrase("the line is empty")
            )
            mend = phrase(
                "Separate columns with one tab; a truncated line means that the file is incomplete: fetch it again"
            )
            error = ReaderError(path, line_number, what, mend)
            yield line_number, Rejection(error, dict(zip(columns, fields, strict=False)))
            continue
        yield line_number, dict(zip(_COLUMNS, fields, strict=False))


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _UNESCAPED[match[1]], text) if "\\" in text else text


def read_table(path: Path) -> Table:
    """The table in a .csv file of WTQ's form; ReaderError with the line where the fault is."""
    return table_of_rows(path, _lines(path, read_text(path)))


_FIELD = re.compile(r'(?:"(?P<quoted>[^"\\]*(?:\\["\\][^"\\]*)*)"|(?P<bare>[^",\\\r\n]*))(?P<end>,|\r?\n|\Z)')
_WHOLE_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ESCAPED_IN_CELL = re.compile(r'\\(["\\])')


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a csv text with the number of the line where each starts; ReaderError where it is not WTQ's form.

    Not Python's csv: with WTQ's settings that reads `"a""b"` (RFC 4180's way of writing a quote) as a"b" without a word.
    """
    offset, line = 0, 1
    cells: list[str] = []
    start = line
    while offset < len(text) or cells:
        match = _FIELD.match(text, offset)
        if match is None:
            raise _not_wtq(path, text, offset, line)
        quoted = match["quoted"]
        if quoted is None:
            cell = match["bare"]
        else:
            cell = _ESCAPED_IN_CELL.sub(r"\1", quoted) if "\\" in quoted else quoted
            line += quoted.count("\n")
        cells.append(cell)
        offset = match.end()
        if match["end"] != ",":
            if len(cells) == 1 and quoted is None and not cell:
                mend = phrase('Remove the line; an empty cell is written ""')
                raise ReaderError(path, start, phrase("the line is empty"), mend)
            yield start, cells
            line += 1
            cells, start = [], line


def _not_wtq(path: Path, text: str, offset: int, line: int) -> ReaderError:
    mend = phrase('Quote every field with ", write a quote in one as \\" and a backslash as \\\\')
    if text.startswith('"', offset) and not _WHOLE_QUOTED.match(text, offset):
        complete = joined([phrase("Check that the file is complete."), mend])
        return ReaderError(path, line, phrase("the file ends within a quoted field"), complete)
    around = text[offset : offset + 40].split("\n")[0]
    return ReaderError(path, line, phrase("this is not WTQ's form of csv: {around!r}", around=around), mend)


READER = Wtq()
