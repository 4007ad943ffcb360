"""Tables that are in files of their own beside a file of questions, each parsed once: a file each, or a line each."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from unicodedata import normalize

from cachetools import LRUCache

from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import gettext_noop, joined, phrase, reason_of
from tableqa.data.tables import Table
from tableqa.readers.interface import ReaderError, path_in_folder, read_lines, start_of
from tableqa.readers.json_stream import MAX_RECORD_BYTES
from tableqa.readers.record_fields import Fields, Location, fields_of

CACHED_CELLS = 250_000
"""Cells of tables that are kept while reading: all 1,679 tables of WTQ's release, and a bound for anything larger."""


class TableFiles:
    """The tables that the questions of a file name, looked for in some folders.

    field    what the file of questions calls the name of a table
    prefix   a folder within the names ("csv/") that a person may have given itself as the folder of the tables
    suffixes of files whose names questions may give without them, and without the prefix
    """

    def __init__(
        self,
        questions: Path,
        folders: Iterable[Path],
        read: Callable[[Path], Table],
        field: str,
        prefix: str = "",
        suffixes: Sequence[str] = (),
    ) -> None:
        self._questions = questions
        self._folders = list(folders)
        self._read = read
        self._field = field
        self._prefix = prefix
        self._suffixes = suffixes
        self._tables: LRUCache[str, Table] = LRUCache(CACHED_CELLS, _size)

    def is_none_there(self) -> bool:
        """Whether the folders contain nothing but the questions, so that no name leads to a file."""
        questions = self._questions.absolute()
        return all(file == questions for folder in self._folders for file in folder.absolute().rglob("*"))

    def table(self, name: str, line: int) -> Table:
        """The table that a question names in its line; ReaderError."""
        if name not in self._tables:
            self._tables[name] = self._read(self.find(name, line))
        return self._tables[name]

    def files(self, named: Iterable[tuple[str, int]]) -> Iterator[Path]:
        """The file of the questions, then that of each table that is there, once: `named` are the names with their lines."""
        yield self._questions
        seen: Shelf[str, int] = Shelf()
        for name, line in named:
            if seen.add(name, 1):
                with suppress(ReaderError):  # reading tells the problems
                    yield self.find(name, line)

    def find(self, name: str, line: int) -> Path:
        """The file of the table that a question names in its line; ReaderError."""
        forms = (name, normalize("NFC", name), normalize("NFD", name))  # systems write different ones
        names = dict.fromkeys(part for form in forms for part in (form, form.removeprefix(self._prefix)))
        if self._suffixes and name:
            below = dict.fromkeys((*names, f"{self._prefix}{name}"))
            is_bare = not name.lower().endswith(tuple(self._suffixes))
            names = dict.fromkeys(
                (*below, *(f"{n}{suffix}" for n in below for suffix in self._suffixes if is_bare))
            )
        try:
            for folder in self._folders:
                for candidate in names:
                    if table_file := path_in_folder(folder, candidate):
                        return table_file
        except ValueError as error:
            what = phrase("the table {name!r} is refused: {error}", name=name, error=reason_of(error))
            mend = phrase("Correct the {field} of the question", field=self._field)
            raise ReaderError(self._questions, line, what, mend) from error
        where = joined(map(str, self._folders), by=gettext_noop(" or "))
        mend = phrase(
            "Upload the tables, too: one zip archive with the folders as in the field {field}",
            field=self._field,
        )
        command = phrase("Give the folder of the tables: --tables DIR")
        what = phrase("the table {name} is not in {where}", name=name, where=where)
        if self.is_none_there():
            what = phrase("the file of the table {name} is missing: there are no files of tables", name=name)
        raise ReaderError(self._questions, line, what, mend, command)


class TableLines:
    """The tables that are lines of one file of JSON. Where each starts is kept, and some tables; not the file.

    places   for the name of each table its line, counted from 1, and the byte where that starts
    read     the table of a line, and what the file says of it besides
    """

    def __init__(
        self,
        path: Path,
        places: Mapping[str, tuple[int, int]],
        read: Callable[[Fields], tuple[Table, dict[str, Any]]],
    ) -> None:
        self._path = path
        self._places = places
        self._read = read
        self._tables: LRUCache[str, tuple[Table, dict[str, Any]]] = LRUCache(
            CACHED_CELLS, lambda entry: _size(entry[0])
        )

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> tuple[Table, dict[str, Any]]:
        """A table and its description; KeyError if there is none of this name, ReaderError if it cannot be read."""
        line, offset = self._places[name]
        location = Location(self._path, line)
        if name not in self._tables:
            self._tables[name] = self._read(fields_of(location, line_at(self._path, offset)))
        return self._tables[name]


def line_at(path: Path, offset: int) -> str:
    """The line of a file that `lines_with_places` went through, by the byte where it starts."""
    with path.open("rb") as file:
        file.seek(offset)
        return file.readline().decode("utf-8")


def lines_with_places(path: Path) -> Iterator[tuple[int, int, Fields]]:
    """The objects of a file of JSON Lines with their line and the byte where that starts; ReaderError."""
    offset = len(BOM_UTF8) if start_of(path).startswith(BOM_UTF8) else 0
    for line, text in read_lines(path, longest=MAX_RECORD_BYTES, keep_ends=True):
        if text.strip():
            yield line, offset, fields_of(Location(path, line), text)
        offset += len(text.encode())


def folders_around(
    path: str | Path, questions: Path, tables: str | Path | None, levels_up: int
) -> list[Path]:
    """Where the tables of a file of questions are looked for.

    In `tables` if it is given; else beside the questions and up to `levels_up` folders above, but not above `path`
    where that is a folder.
    """
    if tables is not None:
        return [Path(tables)]
    here = questions.absolute().parent
    around = [here, *here.parents]
    last = around.index(Path(path).absolute()) if Path(path).is_dir() else levels_up
    return around[: last + 1]


def _size(table: Table) -> int:
    """The size of a table in the cache: the last one stays, however large it is."""
    return min((table.shape[0] + 1) * table.shape[1], CACHED_CELLS)
