"""What every reader is and keeps to: exact, streaming, and an error that says where to look and what to do."""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import grouped, phrase, word
from tableqa.data.examples import Example
from tableqa.data.tables import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, MAX_TEXT
from tableqa.readers.report import in_record
from tableqa.readers.report import note as note

MAX_TABLE_BYTES = 64 * 1024 * 1024
"""The largest file of one table that is opened; it is read whole."""

MAX_LINE_BYTES = 1024 * 1024
"""The longest line of a file of questions without tables in it."""

Row = TypeVar("Row", bound=Mapping[str, Any])

START = 4096
"""Bytes by which a workbook or an archive is recognised."""

csv.field_size_limit(MAX_TABLE_BYTES)  # of the process: a field may hold a table


class ReaderError(ValueError):
    """A file that cannot be read exactly, and is therefore not read at all.

    file   the file, as it was reached
    line   its line, counted from 1; None where the fault is not in a line
    what   what is wrong there
    mend   what to do about it
    column the column or field, "" where the fault is not in one
    command what to do about it on the command line, where that is something else than `mend`
    ways   options by which the file can be read, with their values (`reading_options.offering`)
    record the id of the record, where it has one
    """

    def __init__(self, file: Path | str, line: int | None, what: str, mend: str, command: str = "") -> None:
        self.file = str(file)
        self.line = line
        self.what = what
        self.mend = mend
        self.command = command or mend
        self.column = self.record = ""
        self.ways: Mapping[str, Sequence[str]] = {}
        super().__init__(self.file, line, what, mend, self.command)

    def __str__(self) -> str:
        line = "" if self.line is None else f", line {self.line}"
        return f"{self.file}{line}: {self.what}. {self.command}."


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record of which no example can be made, as its file has it, with the fault.

    `record` is None where the file cannot be read beyond the fault: what follows is not known.
    """

    error: ReaderError
    record: Mapping[str, Any] | None = None
    because: ReaderError | None = None
    """The fault of another record, where this one is rejected with it."""


class Reader(Protocol):
    """Reads one published format. Readers have no state: one object serves any number of files and threads."""

    name: str
    """What the command line calls it."""
    title: str
    licence: str
    """SPDX identifier of the data's licence."""
    citation: str
    url: str
    beside: str
    """What is in files of its own beside the questions, so that an upload needs it, too; "" where nothing does."""

    def __call__(
        self, path: str | Path, tables: str | Path | None = None, limit: int | None = None
    ) -> Iterator[Example]:
        """The examples of the file at `path` in its order, at most `limit`; ReaderError at the first fault.

        `path` may be a folder that holds one such file, as an unpacked archive does. `tables` is the folder of the tables
        where the format keeps them in files of their own; None finds them near the file, and in a folder given as `path`
        nowhere else. Names of files that come from a file are never followed out of these folders.
        """

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """Every file that the examples come from, each once: what a checksum of the source is taken over."""


@runtime_checkable
class MappedReader(Protocol):
    """A reader of records whose fields every project names in its own way."""

    def with_fields(self, fields: Mapping[str, str]) -> "Reader":
        """The same reader for records that name the parts of an example so, {part: field}; ValueError if unknown."""


@runtime_checkable
class CreditedReader(Protocol):
    """A reader of files that say themselves whose data they are."""

    def credit(self, path: Path, tables: Path | None = None) -> "Credit":
        """The licence and credit that the files name; ReaderError."""


@runtime_checkable
class FilteringReader(Protocol):
    """A reader that leaves out something of its files."""

    def left_out(self, path: str | Path, tables: str | Path | None = None, limit: int | None = None) -> str:
        """What is not given, and why, in a sentence; "" where all is. `limit` as for reading. ReaderError."""


@runtime_checkable
class FormReportingReader(Protocol):
    """A reader that has to find out in which form its files are."""

    def read_as(self, path: str | Path, tables: str | Path | None = None) -> str:
        """In which form the files were read, in sentences; ReaderError."""


@runtime_checkable
class SplitReader(Protocol):
    """A reader of folders and archives that hold several splits."""

    def with_split(self, split: str, path: Path, tables: str | Path | None = None) -> "Reader":
        """The same reader for one split of the files at `path`, or itself where these have no splits; ReaderError."""


@runtime_checkable
class Tolerant(Protocol):
    """A reader that can continue behind a record with a fault."""

    rest_form: str
    """How rejected records are written, so that the reader reads them again: see `rejections.FORMS`."""

    def outcomes(
        self, path: str | Path, tables: str | Path | None = None, limit: int | None = None
    ) -> "Iterator[Example | Rejection]":
        """Each record as an example or rejected, until there are `limit` examples; ReaderError where reading has to stop."""


def checked_outcomes(
    reader: Reader, path: Path, tables: Path | None = None, limit: int | None = None
) -> "Iterator[Example | Rejection]":
    """Every record of the files as an example or rejected. A reader that stops at the first fault ends with that."""
    try:
        if isinstance(reader, Tolerant):
            yield from reader.outcomes(path, tables, limit)
        else:
            yield from reader(path, tables=tables, limit=limit)
    except ReaderError as error:
        yield Rejection(error)


def only_examples(outcomes: Iterable[Example | Rejection]) -> Iterator[Example]:
    """The examples; the error of the first rejected record is raised."""
    for outcome in outcomes:
        if isinstance(outcome, Rejection):
            raise outcome.because or outcome.error
        yield outcome


def limit_examples(
    outcomes: Iterable[Example | Rejection], limit: int | None
) -> Iterator[Example | Rejection]:
    """The outcomes up to example number `limit`; ValueError for a negative limit."""
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}; it must be 0 or more")
    return _limited(outcomes, limit)


def _limited(outcomes: Iterable[Example | Rejection], limit: int | None) -> Iterator[Example | Rejection]:
    count = 0
    if limit == 0:
        return
    for outcome in outcomes:
        yield outcome
        count += isinstance(outcome, Example)
        if count == limit:
            return


class TolerantReader:
    """A reader that gets its examples from `_every_outcome`."""

    licence, citation, url, beside, rest_form = "NOASSERTION", "", "", "", "jsonl"

    def __call__(
        self, path: str | Path, tables: str | Path | None = None, limit: int | None = None
    ) -> Iterator[Example]:
        """The examples of the file at `path` in its order, with their tables; ReaderError at the first fault."""
        return only_examples(self.outcomes(path, tables, limit))

    def outcomes(
        self, path: str | Path, tables: str | Path | None = None, limit: int | None = None
    ) -> Iterator[Example | Rejection]:
        """Each record as an example or rejected, until there are `limit` examples; ReaderError where reading has to stop."""
        return limit_examples(self._every_outcome(Path(path), tables), limit)

    def _every_outcome(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        raise NotImplementedError


class FileReader(TolerantReader):
    """A reader that gets its examples from the paths that `located` gives, the file of the questions first."""

    def _every_outcome(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        return self._outcomes(*self.located(path, tables))

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """Every file that the examples come from, each once; ReaderError as for reading."""
        yield from self.located(path, tables)

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Any, ...]:
        """The file of the questions, and what `_outcomes` takes beside it; ReaderError."""
        raise NotImplementedError

    def _outcomes(self, *located: Any) -> Iterator[Example | Rejection]:
        raise NotImplementedError


class Ids:
    """The ids that a source has given so far: one that is given twice is refused, naming the line of the first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: Shelf[str, int] = Shelf()
        self._files: Shelf[str, str] = Shelf()

    def add(self, id: str, line: int, file: Path | None = None) -> None:
        """Keep an id with its line, and its file where a source has several; ReaderError."""
        file = file or self._path
        if self._lines.add(id, line):
            if file != self._path:
                self._files[id] = file.name
            return
        mend = phrase("Give each question its own id")
        what = phrase("the id {id} is already in line {line}", id=id, line=self._lines[id])
        before = self._files.get(id, self._path.name)
        if before == file.name:
            raise ReaderError(file, line, what, mend)
        raise ReaderError(
            file,
            line,
            phrase("{problem} of {file}", problem=what, file=before),
            phrase("Give each question its own id, or import each split under its own name"),
            phrase("Give each question its own id, or import each split: --split SPLIT --name NAME"),
        )


class Names:
    """The ids that a file has given so far, where the source repeats some: the second nt-5695 is called nt-5695#2."""

    def __init__(self) -> None:
        self._taken: Shelf[str, int] = Shelf()
        self._times: Shelf[str, int] = Shelf()

    def unique(self, published: str) -> str:
        """The id as it is published, or with a number behind it where it is there already."""
        name = published
        while name in self._taken:
            self._times[published] = self._times.get(published, 1) + 1
            name = f"{published}#{self._times[published]}"
        self._taken[name] = 1
        return name


def outcomes_of_rows(
    path: Path, rows: Iterable[tuple[int, Row | Rejection]], make: Callable[[int, Row], Example]
) -> Iterator[Example | Rejection]:
    """What `make` gives for each row and its line, and those for which it raises ReaderError, as they were published."""
    ids = Ids(path)
    for line, row in rows:
        if isinstance(row, Rejection):
            yield row
            continue
        try:
            new_example = make(line, row)
            ids.add(new_example.id, line)
            in_record(line, new_example.id)
        except ReaderError as error:
            yield Rejection(error, row)
            continue
        yield new_example


def published_id(example: Example) -> str | None:
    """The id that the source gives an example, where a reader had to number it (`Names`); None where it did not."""
    published, numbered, suffix = example.id.rpartition("#")
    lineage = example.meta.get("lineage")
    published_ids = (example.meta.get("id"), lineage.get("id") if isinstance(lineage, Mapping) else None)
    return published if numbered and suffix.isdecimal() and published in published_ids else None


@dataclass(frozen=True, slots=True)
class Credit:
    """Under which licence data may be used, and who made them: SPDX expression, citation and address, "" if unknown."""

    licence: str
    citation: str
    url: str


def all_of(licences: Sequence[str]) -> str:
    """Licences that hold together as one SPDX expression, in which a choice (OR) is in parentheses."""
    return " AND ".join(
        f"({licence})" if " OR " in licence and len(licences) > 1 and licence[0] != "(" else licence
        for licence in licences
    )


def joined_credit(credits: Iterable[Credit]) -> Credit:
    """The credit of data from several places: each licence and citation once, the URL where there is only one."""
    every_credit = tuple(credits)
    stated = {credit.licence for credit in every_credit if credit.licence}
    licences = {
        part
        for expression in stated
        for part in ([expression] if " OR " in expression else expression.split(" AND "))
    }
    citations = sorted({credit.citation for credit in every_credit if credit.citation})
    urls = {credit.url for credit in every_credit if credit.url}
    return Credit(
        all_of(sorted(licences)) or "NOASSERTION",
        "\n".join(citations),
        urls.pop() if len(urls) == 1 else "",
    )


def stated_credit(meta: object) -> Credit | None:
    """The credit of a source as Askew wrote it into the meta of a record for another tool; None where it did not."""
    stated = meta.get("credit") if isinstance(meta, Mapping) else None
    if not isinstance(stated, Mapping):
        return None
    parts = [stated.get(name, "") for name in ("licence", "citation", "url")]
    return Credit(*parts) if all(isinstance(part, str) for part in parts) else None


def credit(reader: Reader, path: Path, tables: Path | None = None) -> Credit:
    """The licence and credit of what a reader gives: its own, or what the files themselves say. ReaderError."""
    if isinstance(reader, CreditedReader):
        return reader.credit(path, tables)
    return Credit(reader.licence, reader.citation, reader.url)


_LETTER = re.compile("[a-z]")


def any_case(pattern: str) -> str:
    """The same pattern of names for `Path.glob`, in any case."""
    return _LETTER.sub(lambda match: f"[{match[0]}{match[0].upper()}]", pattern)


def only_file(
    folder: Path, patterns: Iterable[str], fits: Callable[[Path], bool], mend: str, command: str = ""
) -> Path:
    """The one file in `folder` that matches a pattern in any case and `fits`; ReaderError for none or several."""
    matching = {path for pattern in patterns for path in folder.glob(any_case(pattern)) if path.is_file()}
    fitting_files = sorted(path for path in matching if fits(path))
    if len(fitting_files) == 1:
        return fitting_files[0]
    raise not_the_only_file(folder, fitting_files, mend, command)


def not_the_only_file(folder: Path, files: Sequence[Path], mend: str, command: str = "") -> ReaderError:
    """The error of a folder in which one file should fit, and none or these files do."""
    names = ", ".join(str(path.relative_to(folder)) for path in files[:10])
    several = phrase("the folder contains several such files: {names}", names=names)
    what = several if files else phrase("the folder contains no such file")
    return ReaderError(folder, None, what, mend, command)


def ways_to_tables(name: str) -> tuple[str, str]:
    """What to do on the page, and with the command, where the file of the tables is not beside that of the questions."""
    mend = phrase("Upload the file of the tables, {name}, too: in a zip archive", name=name)
    return mend, phrase("Give the folder of the file of the tables, {name}: --tables DIR", name=name)


def file_at(path: Path, patterns: Iterable[str], fits: Callable[[Path], bool], mend: str) -> Path:
    """A file itself, or the one in a folder as for `only_file`; ReaderError."""
    return only_file(path, patterns, fits, mend) if path.is_dir() else path


def read_lines(
    path: Path, longest: int = MAX_LINE_BYTES, keep_ends: bool = False
) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their numbers, from 1, without their line ends (LF or CRLF); memory stays flat.

    Only LF ends a line: a text may hold U+2028, a form feed or a lone CR. `keep_ends` leaves the line ends on, for
    formats in which a field may hold them. Raises ReaderError for a file that cannot be opened, a line over `longest`
    bytes, bytes that are not UTF-8 and NUL characters.
    """
    with opened(path) as file:
        check_is_text(path, file.peek(START)[:START])
        line_number = 0
        while line := file.readline(longest + 1):
            line_number += 1
            if len(line) > longest:
                what = phrase("the line is longer than {longest} bytes", longest=grouped(longest))
                raise ReaderError(path, line_number, what, phrase("Check that this is the right file"))
            if line_number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            text = _decoded(path, line, first_line=line_number)
            yield line_number, text if keep_ends else text.removesuffix("\n").removesuffix("\r")


def read_text(path: Path) -> str:
    """The text of a small UTF-8 file, its line ends as they are; ReaderError as for `read_lines`."""
    try:
        size = path.stat().st_size
        if size > MAX_TABLE_BYTES:
            sizes = {"size": grouped(size), "most": grouped(MAX_TABLE_BYTES)}
            what = phrase("the file has {size} bytes; a table may have {most}", **sizes)
            raise ReaderError(path, None, what, phrase("Remove this table"))
        data = path.read_bytes()
    except OSError as error:
        raise cannot_open(path, error) from error
    check_is_text(path, data[:START])
    return _decoded(path, data.removeprefix(b"\xef\xbb\xbf"), first_line=1)


def start_of(path: Path, size: int = START) -> bytes:
    """The first bytes of a file; ReaderError where it cannot be opened."""
    with opened(path) as file:
        return file.read(size)


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """A file to read the bytes of; ReaderError where it cannot be opened or read."""
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise cannot_open(path, error) from error


def cannot_open(path: Path, error: OSError) -> ReaderError:
    """What to say of a file that the system does not open."""
    what = phrase("the file cannot be opened ({reason})", reason=error.strerror or error)
    return ReaderError(path, None, what, phrase("Check the path and its rights"))


_ZIP, _OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OFFICE_PARTS = (b"[Content_Types].xml", b"docProps/", b"_rels/.rels", b"xl/")
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument"


_KNOWN_FORMS = (
    ((b"PAR1",), phrase("this is a Parquet file"), phrase("Give it a name that ends in .parquet")),
    (
        (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd", b"Rar!"),
        phrase("this is a compressed file"),
        phrase("Unpack it first, or pack the files into a zip archive"),
    ),
    ((b"%PDF-",), phrase("this is a PDF file"), phrase("Save its tables as CSV in UTF-8, with commas")),
    (
        (b"<!doctype html", b"<html"),
        phrase("this is a web page"),
        phrase("Download the file itself, in its raw form"),
    ),
)
"""Forms that are no text of records: their first bytes, in small letters for texts, what it is, and the remedy."""


def check_is_text(path: Path, start: bytes) -> None:
    """ReaderError for a workbook, an archive or another known form, by the first bytes of the file."""
    text = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for beginnings, what, mend in _KNOWN_FORMS:
        if start.startswith(beginnings) or text.startswith(beginnings):
            raise ReaderError(path, None, what, mend)
    zipped = start.startswith(_ZIP)
    if start.startswith(_OLD_OFFICE) or (zipped and any(part in start for part in _OFFICE_PARTS)):
        raise is_excel(path)
    if zipped and _OPEN_DOCUMENT in start:
        mend = phrase("Save it as CSV in UTF-8, with commas")
        raise ReaderError(path, None, phrase("this is an OpenDocument file"), mend)
    if zipped:
        mend = phrase("Unpack it and choose the file in it")
        raise ReaderError(path, None, phrase("this is a zip archive"), mend)


def is_excel(path: Path) -> ReaderError:
    """What to say of an Excel file."""
    mend = phrase("Save it as CSV UTF-8 (comma delimited)")
    return ReaderError(path, None, phrase("this is an Excel file"), mend)


def check_separator(path: Path, line: int, header: Sequence[str]) -> None:
    """ReaderError if the header of a table is one cell that holds a semicolon or a tab: a line that was not parted."""
    if hint := separator_hint(header):
        header_text = header[0] if len(header[0]) <= 80 else header[0][:79] + "…"
        raise ReaderError(path, line, phrase("the table has one column: {shown!r}", shown=header_text), hint)


def separator_hint(header: Sequence[str]) -> str:
    """What to ask about a first line that is one field with another separator in it; "" where it is not."""
    if len(header) == 1:
        for sign, name in ((";", word("semicolon")), ("\t", word("tab"))):
            if sign in header[0]:
                return phrase("Is the separator a {name}? Save the file with commas", name=name)
    return ""


def _decoded(path: Path, data: bytes, first_line: int) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        byte_position = error.start - data.rfind(b"\n", 0, error.start)
        what = phrase(
            "byte {place} of the line, 0x{byte}, is not UTF-8",
            place=byte_position,
            byte=f"{data[error.start]:02x}",
        )
        mend = phrase("Save the file as UTF-8, or fetch it again from its source")
        raise ReaderError(path, line, what, mend) from error
    if "\0" in text:
        line = first_line + text.count("\n", 0, text.index("\0"))
        mend = phrase("Fetch the file again: it is damaged or binary")
        raise ReaderError(path, line, phrase("the line contains a NUL character"), mend)
    return text


def check_names(path: Path, line: int | None, names: Sequence[str]) -> None:
    """ReaderError where two columns have one name: a record would hold the last one alone."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        what = phrase("two columns have the name {twice!r}", twice=twice)
        raise ReaderError(path, line, what, phrase("Give every column its own name"))


def numbered(names: Sequence[str]) -> list[str]:
    """The names with a number behind each that was there before: answer, answer#2."""
    unique = Names()
    return [unique.unique(name) for name in names]


def check_size(path: Path, line: int, rows: int, columns: int) -> None:
    """ReaderError if a table is larger than what is taken (`tableqa.data.tables`); rows are counted without the header."""
    if rows > MAX_ROWS:
        what = phrase("the table has more than {most} rows", most=grouped(MAX_ROWS))
    elif columns > MAX_COLUMNS:
        what = phrase("the table has more than {most} columns", most=grouped(MAX_COLUMNS))
    elif rows * columns > MAX_CELLS:
        what = phrase("the table has more than {most} cells", most=grouped(MAX_CELLS))
    else:
        return
    raise ReaderError(path, line, what, phrase("Split or remove the table"))


def check_cells(path: Path, line: int, cells: list[str]) -> None:
    """ReaderError if a cell has more than MAX_TEXT characters."""
    if max(map(len, cells), default=0) <= MAX_TEXT:
        return
    for j, cell in enumerate(cells):
        if len(cell) > MAX_TEXT:
            values = {"column": j + 1, "number": grouped(len(cell)), "most": grouped(MAX_TEXT)}
            what = phrase("column {column} has {number} characters; a cell may have {most}", **values)
            raise ReaderError(path, line, what, phrase("Shorten the cell or remove the table"))


FETCH: ContextVar[Callable[[Path], None]] = ContextVar("fetch", default=lambda path: None)
"""Called with the path of a file before it is opened: it may be in an archive of which only a part is unpacked."""


def path_in_folder(folder: Path, name: str) -> Path | None:
    """The path of the file `name` in `folder`, or None if there is none; ValueError if it leads out of the folder.

    `name` comes from a file, so it is not trusted: an absolute path, "..", a drive, a backslash, and a link that leads
    out are all refused, whether or not there is such a file.
    """
    parts = name.split("/")
    if not name or "\\" in name or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        raise ValueError(phrase("it is not a plain path below the folder of the tables"))
    file_path = folder.joinpath(*parts)
    FETCH.get()(file_path)
    try:
        if not file_path.is_file():
            return None
        outside = not file_path.resolve(strict=True).is_relative_to(folder.resolve(strict=True))
    except OSError:  # a name too long, a circle of links
        return None
    if outside:
        raise ValueError(phrase("a link leads out of the folder of the tables"))
    return file_path
