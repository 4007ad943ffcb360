"""WikiTableQuestions (Pasupat and Liang, ACL 2015): questions in .tsv, each table in a .csv of its own.

The .csv files are not RFC 4180: every field is quoted, a quote inside one is written `\\"` and a backslash `\\\\`. A
cell is exactly such a field after unescaping. In the .tsv, `\\n` is a line break, `\\p` a pipe and `\\\\` a backslash.
"""

import csv
import io
import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from tableqa.examples import Example
from tableqa.readers.reader import ReaderError, check_cells, check_size, inside, read_lines, read_text
from tableqa.tables import Table, TableError

_COLUMNS = ("id", "utterance", "context", "targetValue")
_HEADER = " <tab> ".join(_COLUMNS)

_LEVELS_UP = 3
"""How many folders above the questions' own may hold the tables (in the release it is one above data/)."""

_PLACES = ("*.tsv", "*/*.tsv", "*/data/*.tsv")
"""Where the questions are in a folder: beside the tables, or as in the release, packed with its top folder or without."""

_CACHED_CELLS = 250_000
"""Cells of tables that are kept while reading: all 1,679 tables of the release, and a bound for anything larger."""

_ESCAPE = re.compile(r"\\([np\\])")
_UNESCAPED = {"n": "\n", "p": "|", "\\": "\\"}


class Wtq:
    """The reader "wtq"; see `tableqa.readers.reader.Reader`. meta holds "context", the table's path in the release."""

    name = "wtq"
    title = "WikiTableQuestions"
    licence = "CC-BY-SA-4.0"
    citation = (
        "Panupong Pasupat and Percy Liang. 2015. Compositional Semantic Parsing on Semi-Structured Tables. "
        "In Proceedings of ACL-IJCNLP 2015, pages 1470-1480."
    )
    url = "https://github.com/ppasupat/WikiTableQuestions"

    def __call__(
        self, path: str | Path, tables: str | Path | None = None, limit: int | None = None
    ) -> Iterator[Example]:
        """The questions of the .tsv at `path` in its order, with their tables; ReaderError at the first fault."""
        if limit is not None and limit < 0:
            raise ValueError(f"limit is {limit}: a number of examples from 0 on")
        return self._examples(*_located(path, tables), limit)

    def _examples(self, path: Path, library: "_Library", limit: int | None) -> Iterator[Example]:
        seen: set[str] = set()
        for number, (line, fields) in enumerate(_questions(path)):
            if number == limit:
                return
            question_id, utterance, context, target = fields
            if not question_id:
                raise ReaderError(path, line, "the id is empty", "Give each question an id of its own")
            if question_id in seen:
                first = next(line for line, (other, *_) in _questions(path) if other == question_id)
                what = f"the id {question_id} stands in line {first} already"
                raise ReaderError(path, line, what, "Give each question an id of its own")
            seen.add(question_id)
            yield Example(
                id=_unescape(question_id),
                question=_unescape(utterance),
                table=library.table(_unescape(context), line),
                answers=[_unescape(answer) for answer in target.split("|")],
                meta={"context": _unescape(context)},
            )

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The .tsv, then each table once, in the order in which the questions name them; ReaderError as for reading."""
        questions, library = _located(path, tables)
        yield questions
        seen: set[str] = set()
        for line, (_, _, context, _) in _questions(questions):
            if context not in seen:
                seen.add(context)
                yield library.find(_unescape(context), line)


def _located(path: str | Path, tables: str | Path | None) -> tuple[Path, "_Library"]:
    """The file of questions, and the library of its tables."""
    path = Path(path).absolute() if Path(path).is_dir() else Path(path)
    questions = _only_questions_in(path) if path.is_dir() else path
    if tables is not None:
        return questions, _Library(questions, [Path(tables)])
    here = questions.absolute().parent
    around = [here, *here.parents]
    last = around.index(path) if path.is_dir() else _LEVELS_UP
    return questions, _Library(questions, around[: last + 1])


def _only_questions_in(folder: Path) -> Path:
    found = sorted({path for pattern in _PLACES for path in folder.glob(pattern) if _holds_questions(path)})
    if len(found) == 1:
        return found[0]
    names = ", ".join(str(path.relative_to(folder)) for path in found[:10])
    what = (
        f"the folder holds several files of questions: {names}" if found else "the folder holds no questions"
    )
    raise ReaderError(folder, None, what, f"Name one .tsv file whose first line is {_HEADER}")


def _holds_questions(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline(1_000).rstrip() == "\t".join(_COLUMNS).encode()


def _questions(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of the .tsv after its header line, with their numbers, as four fields that are still escaped."""
    lines = read_lines(path)
    _, header = next(lines, (0, ""))
    if tuple(header.split("\t")) != _COLUMNS:
        shown = header if len(header) <= 80 else header[:79] + "…"
        raise ReaderError(
            path, 1, f"the first line is {shown!r}", f"The first line of a WTQ file is {_HEADER}"
        )
    for number, text in lines:
        fields = text.split("\t")
        if len(fields) != len(_COLUMNS):
            found = "is empty" if not text else f"has {len(fields)} of {len(_COLUMNS)} columns"
            mend = "Columns are parted by one tab; a line that is cut off means that the file is not whole: fetch it again"
            raise ReaderError(path, number, f"the line {found}", mend)
        yield number, fields


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _UNESCAPED[match[1]], text) if "\\" in text else text


class _Library:
    """The tables beside a file of questions, each parsed once as long as memory allows."""

    def __init__(self, questions: Path, folders: list[Path]) -> None:
        self._questions = questions
        self._folders = folders
        self._kept: OrderedDict[str, Table] = OrderedDict()
        self._cells = 0

    def table(self, context: str, line: int) -> Table:
        """The table that a question names in its line; ReaderError."""
        if context in self._kept:
            self._kept.move_to_end(context)
            return self._kept[context]
        table = read_table(self.find(context, line))
        self._kept[context] = table
        self._cells += _size(table)
        while self._cells > _CACHED_CELLS and len(self._kept) > 1:
            self._cells -= _size(self._kept.popitem(last=False)[1])
        return table

    def find(self, context: str, line: int) -> Path:
        """The file of the table that a question names in its line; ReaderError."""
        # --tables may name the folder csv itself.
        names = dict.fromkeys((context, context.removeprefix("csv/")))
        try:
            for folder in self._folders:
                for name in names:
                    if found := inside(folder, name):
                        return found
        except ValueError as error:
            what = f"the table {context!r} is refused: {error}"
            raise ReaderError(self._questions, line, what, "Correct the context of the question") from error
        where = " or ".join(str(folder) for folder in self._folders)
        mend = "Say where the tables are (--tables DIR), with the folders as in the question's context"
        raise ReaderError(self._questions, line, f"the table {context} is not in {where}", mend)


def _size(table: Table) -> int:
    return (table.shape[0] + 1) * table.shape[1]


def read_table(path: Path) -> Table:
    """The table in a .csv file of WTQ's form; ReaderError with the line where the fault is."""
    reader = csv.reader(
        io.StringIO(read_text(path), newline=""),
        quotechar='"',
        escapechar="\\",
        doublequote=False,
        strict=True,
    )
    header: list[str] | None = None
    rows: list[list[str]] = []
    try:
        for cells in reader:
            check_cells(path, reader.line_num, cells)
            if header is None:
                header = cells
                check_size(path, reader.line_num, 0, len(header))
                continue
            if len(cells) != len(header):
                what = f"the row has {len(cells)} cells, the header has {len(header)}"
                raise ReaderError(path, reader.line_num, what, "Give every row as many fields as the first")
            rows.append(cells)
            check_size(path, reader.line_num, len(rows), len(header))
    except csv.Error as error:
        mend = 'Quote every field with ", write a quote in one as \\" and a backslash as \\\\; is the file whole?'
        raise ReaderError(path, reader.line_num, f"this is not WTQ's form of csv ({error})", mend) from error
    if not header:
        raise ReaderError(
            path, 1, "there is no header line", "The first line of a table holds its column names"
        )
    try:
        return Table(header, rows)
    except TableError as error:
        raise ReaderError(path, None, str(error), "Correct the table or leave it out") from error


READER = Wtq()
