"""Reading and checking all records of an import: importable ones become rows on disk, the others get reasons.

    result = read_all(ReadRequest("wtq", "train.tsv", "rows.jsonl"))

It uses no database, and requests and results are JSON: so it runs in a separate process (`tableqa.readers.worker_process`),
where files of other people can do no harm.
"""

import hashlib
import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TextIO

from cachetools import LRUCache

from tableqa.core.canonical_json import file_digest
from tableqa.core.translation import phrase
from tableqa.data.examples import Example
from tableqa.readers import (
    READERS,
    FilteringReader,
    FormReportingReader,
    MappedReader,
    Reader,
    ReaderError,
    Rejection,
    SplitReader,
    checked_outcomes,
    published_id,
)
from tableqa.readers import credit as credit_of
from tableqa.readers.archive import has_many_tables, partly_unpacked, unpack, use_unpacked_folders
from tableqa.readers.column_names import PARTS
from tableqa.readers.doubtful_values import note_doubts
from tableqa.readers.interface import Credit, Tolerant, cannot_open
from tableqa.readers.own_data import ONLY_SPLIT, OwnData
from tableqa.readers.reading_options import READING, check_options, reading_options
from tableqa.readers.rejections import Problem, Rejections
from tableqa.readers.report import Report, about_columns, collect_notes, in_record

ROWS = 1_000
"""Rows that are read at once, and tables that are remembered as written."""
LONGEST_ID = 200
OF_FILES = ("separator", "encoding", "quotes", "questions", ONLY_SPLIT)
"""What is chosen for one file, and detected for the next one of a source."""


@dataclass(frozen=True)
class ReadRequest:
    """What to read, and where to write it.

    path, tables   the questions, and the folder of tables where that is another one
    rows           file of the rows: see `Rows`
    rest           file of the rejected records; "" writes none
    fields, split, limit   what a person chose
    inherited      the names of columns of the source that the import continues, where it continues one
    known          checksums of what was imported before: the same files are not read again
    archives       archives and the folders that they are unpacked to, which are there only once they are whole
    tables_in      the archive of the tables, which `tables` then leads into
    chosen, earlier   of a preview: what was chosen for its columns (`preview.ChosenColumns`), and for earlier files
    in_part        of an archive of many tables only those are unpacked that are read
    hidden         folders that people do not know, and that no message names
    by_command     remedies may name options of the command
    """

    reader: str
    path: str
    rows: str
    tables: str | None = None
    rest: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    limit: int | None = None
    inherited: Mapping[str, str] = field(default_factory=dict)
    known: Sequence[str] = ()
    archives: Mapping[str, str] = field(default_factory=dict)
    tables_in: str = ""
    chosen: Mapping[str, Any] | None = None
    earlier: Sequence[Mapping[str, str]] = ()
    in_part: bool = False
    hidden: Sequence[str] = ()
    by_command: bool = False

    def shown(self, text: str) -> str:
        """A message without the folders that people do not know."""
        for folder in self.hidden:
            text = text.replace(f"{folder}/", "")
        return text


@dataclass
class ReadResult:
    """What was read. Without rows where the checksum is a known one.

    number     examples that can be imported
    numbered   the ids that got a number because the source gives them more than once
    rejected   records with a problem, `problems` the first of them, `cause` what the first goes back to
    whole      False where reading stopped at the last problem, so that what follows is not known
    """

    checksum: str
    fields: Mapping[str, str] = field(default_factory=dict)
    credit: Credit = field(default_factory=lambda: Credit("", "", ""))
    left_out: str = ""
    read_as: str = ""
    number: int = 0
    numbered: list[str] = field(default_factory=list)
    rejected: int = 0
    problems: list[Problem] = field(default_factory=list)
    cause: Problem | None = None
    whole: bool = True
    report: Report = field(default_factory=Report)


def read_all(request: ReadRequest, progress: Callable[[int], None] = lambda done: None) -> ReadResult:
    """Read and check all records; `progress` receives how many were read. ReaderError where nothing can be read."""
    path = Path(request.path)
    with (
        reading_options(request.fields),
        unpacking(request) as tables,
        Rejections(request.shown, request.by_command) as rejections,
    ):
        reader, fields = _reader_and_columns(request, path, tables)
        checksum = checksum_of(reader.files(path, tables), request.limit, fields)
        if checksum in request.known:
            return ReadResult(checksum)
        with Rows.written(Path(request.rows)) as rows, collect_notes() as notes:
            numbered = list(
                add_outcomes(
                    rows, rejections, checked_outcomes(reader, path, tables, request.limit), path, progress
                )
            )
        if not rows.number and not rejections.number:
            mend = phrase("Check that this is the right file")
            raise ReaderError(path, None, phrase("the file contains no examples"), mend)
        if request.rest and rejections.number:
            rejections.write(Path(request.rest), reader.rest_form if isinstance(reader, Tolerant) else "")
        read = ReadResult(checksum, fields, number=rows.number, numbered=numbered, whole=rejections.whole)
        read.rejected, read.problems, read.cause = rejections.number, rejections.first, rejections.cause
        read.report = notes.report(rows.number, rejections.number, rejections.whole)
        if rows.number and rejections.whole:
            read.credit = credit_of(reader, path, tables)
            if isinstance(reader, FilteringReader):
                read.left_out = reader.left_out(path, tables, request.limit)
            if isinstance(reader, FormReportingReader):
                read.read_as = reader.read_as(path, tables)
        read.report.read_as = read.read_as or about_columns(notes.columns)
        read.report.left_out = read.left_out
        return read


def reader_with_fields(reader: str, fields: Mapping[str, str]) -> Reader:
    """The reader of this name with a person's own names of fields; ValueError where it does not know them.

    Every reader takes the options of `reading_options`.
    """
    read = READERS[reader]
    check_options(fields)
    if fields.keys() <= READING.keys() and not isinstance(read, MappedReader):
        return read
    if not isinstance(read, MappedReader):
        able = ", ".join(
            name for name, candidate in sorted(READERS.items()) if isinstance(candidate, MappedReader)
        )
        raise ValueError(
            phrase(
                "The reader {name!r} has fixed field names. Readers with custom fields: {able}",
                name=reader,
                able=able,
            )
        )
    return read.with_fields(fields)


def with_split(
    read: Reader, split: str, path: Path, tables: Path | None, fields: Mapping[str, str]
) -> tuple[Reader, Mapping[str, str]]:
    """The reader and its fields for one split of a dataset, where one is chosen and the files have several. ReaderError."""
    if not split or not isinstance(read, SplitReader):
        return read, fields
    read = read.with_split(split, path, tables)
    return read, read.fields if isinstance(read, OwnData) else fields


def checksum_of(files: Iterable[Path], limit: int | None, fields: Mapping[str, str]) -> str:
    """SHA-256 over the names and bytes of everything the reader reads, the limit, and the fields. ReaderError."""
    whole = hashlib.sha256(f"limit {limit}\n".encode())
    for part, name in sorted(fields.items()):
        whole.update(f"{part}={name}\n".encode())
    for file in files:
        try:
            whole.update(f"{file.name} {file_digest(file)}\n".encode())
        except OSError as error:
            raise cannot_open(file, error) from error
    return whole.hexdigest()


class Rows:
    """Checked records on disk, as they will be written: of examples each table once, at least until a thousand others came.

    A row of an example is [id, question, answers, what lies beside, digest of the table, the table as JSON if it is new].
    In the file this last text stands behind a tab, which JSON writes as \\t: it is not encoded twice.
    """

    def __init__(self, file: TextIO) -> None:
        self.number = 0
        self._file = file
        self._tables: LRUCache[str, None] = LRUCache(ROWS)

    @classmethod
    @contextmanager
    def written(cls, path: Path) -> Iterator[Self]:
        """Rows that are written to a file."""
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield cls(file)

    def add(self, example: Example) -> bool:
        """Add an example. Returns whether its table is a new one."""
        table = example.table
        text = "" if table.has_digest else table.canonical_text()
        digest = table.digest()
        row = [example.id, example.question, list(example.answers), example.beside(), digest]
        is_new = digest not in self._tables
        if is_new:
            self._tables[digest] = None
        self.write(row, f"\t{text or table.canonical_text()}" if is_new else "")
        return is_new

    def write(self, row: Any, more: str = "") -> None:
        """Add a row of another kind."""
        self._file.write(f"{json.dumps(row)}{more}\n")
        self.number += 1

    @staticmethod
    def read(path: Path) -> Iterator[list[Any]]:
        """All rows of a file, `ROWS` at a time."""
        with path.open(encoding="utf-8") as file:
            while lines := list(itertools.islice(file, ROWS)):
                parts = (line.rstrip("\n").split("\t") for line in lines)
                yield [[*json.loads(row), *table] if table else json.loads(row) for row, *table in parts]


def _reader_and_columns(
    request: ReadRequest, path: Path, tables: Path | None
) -> tuple[Reader, Mapping[str, str]]:
    """The reader for the chosen split, with the columns of the source that it continues where none are named."""
    reader, fields = with_split(
        reader_with_fields(request.reader, request.fields), request.split, path, tables, request.fields
    )
    is_named = any(part in PARTS for part in fields)
    if request.inherited and not is_named and isinstance(reader, OwnData):
        columns = reader.layout(path, tables).columns
        if all(name in columns for part, name in request.inherited.items() if part in PARTS and name):
            inherited = {part: name for part, name in request.inherited.items() if part not in OF_FILES}
            fields = {**inherited, **fields}
            reader = reader.with_fields(fields)
    return reader, fields


def add_outcomes(
    rows: Rows,
    rejections: Rejections,
    outcomes: Iterable[Example | Rejection],
    path: Path,
    progress: Callable[[int], None],
) -> Iterator[str]:
    """Add each record to the rows or to the rejections, and note what is doubtful. Yields the ids that got a number."""
    for done, outcome in enumerate(outcomes):
        if done % ROWS == 0:
            progress(done)
        if isinstance(outcome, Rejection):
            in_record(outcome.error.line or 0, "")
            rejections.add(outcome)
            continue
        if len(outcome.id) > LONGEST_ID:
            what = phrase(
                "the id {id!r}… is longer than {longest} characters", id=outcome.id[:40], longest=LONGEST_ID
            )
            raise ReaderError(path, None, what, phrase("Shorten it"))
        note_doubts(outcome, rows.add(outcome))
        if published_id(outcome) is not None:
            yield outcome.id


@contextmanager
def unpacking(request: ReadRequest) -> Iterator[Path | None]:
    """Unpack archives. Yields the folder of the tables, None where the reader looks for one. ReaderError."""
    tables = Path(request.tables) if request.tables else None
    parts: dict[Path, Path] = {}
    with ExitStack() as stack:

        def folder_of(archive: Path, part: Path | None = None) -> Path | None:
            if str(archive) not in request.archives:
                return None
            folder = Path(request.archives[str(archive)])
            if not request.in_part or folder.is_dir() or not (archive in parts or has_many_tables(archive)):
                return unpack_once(archive, folder)
            if archive not in parts:
                parts[archive] = part or Path(request.rows).parent / "parts"
                parts[archive].mkdir()
                stack.enter_context(partly_unpacked(archive, parts[archive]))
            return parts[archive]

        if tables is not None and request.tables_in:
            folder = folder_of(Path(request.tables_in), tables)
            if folder is not None and folder != tables:
                tables.symlink_to(folder)
        stack.enter_context(use_unpacked_folders(folder_of))
        yield tables


def unpack_once(archive: Path, folder: Path) -> Path:
    """The folder that an archive unpacks to, there only when it is whole. ReaderError."""
    if not folder.is_dir():
        part = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        try:
            unpack(archive, part)
            part.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was not faster: the disk is at fault
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return folder
