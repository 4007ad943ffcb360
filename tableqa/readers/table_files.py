"""Tables that lie in files of their own beside a file of questions: found in trusted folders, each parsed once."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

from tableqa.readers.reader import ReaderError, inside
from tableqa.tables import Table

CACHED_CELLS = 250_000
"""Cells of tables that are kept while reading: all 1,679 tables of WTQ's release, and a bound for anything larger."""


class TableFiles:
    """The tables that the questions of a file name, looked for in some folders.

    field    what the file of questions calls the name of a table
    prefix   a folder within the names ("csv/") that a person may have given itself as the folder of the tables
    """

    def __init__(
        self,
        questions: Path,
        folders: Iterable[Path],
        read: Callable[[Path], Table],
        field: str,
        prefix: str = "",
    ) -> None:
        self._questions = questions
        self._folders = list(folders)
        self._read = read
        self._field = field
        self._prefix = prefix
        self._kept: OrderedDict[str, Table] = OrderedDict()
        self._cells = 0

    def table(self, name: str, line: int) -> Table:
        """The table that a question names in its line; ReaderError."""
        if name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name]
        table = self._read(self.find(name, line))
        self._kept[name] = table
        self._cells += _size(table)
        while self._cells > CACHED_CELLS and len(self._kept) > 1:
            self._cells -= _size(self._kept.popitem(last=False)[1])
        return table

    def find(self, name: str, line: int) -> Path:
        """The file of the table that a question names in its line; ReaderError."""
        names = dict.fromkeys((name, name.removeprefix(self._prefix)))
        try:
            for folder in self._folders:
                for candidate in names:
                    if found := inside(folder, candidate):
                        return found
        except ValueError as error:
            what = f"the table {name!r} is refused: {error}"
            mend = f"Correct the {self._field} of the question"
            raise ReaderError(self._questions, line, what, mend) from error
        where = " or ".join(str(folder) for folder in self._folders)
        mend = (
            "Give their folder (--tables DIR) or, on the page, their zip archive, "
            f"with the folders as in the {self._field}"
        )
        raise ReaderError(self._questions, line, f"the table {name} is not in {where}", mend)


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
    return (table.shape[0] + 1) * table.shape[1]
