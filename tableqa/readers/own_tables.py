"""The tables of a person's own data: in the record, in a sheet of the workbook, or in their own file."""

from functools import cached_property, partial
from pathlib import Path

from tableqa.core.translation import phrase
from tableqa.data.tables import Table
from tableqa.readers.dataset_card import README
from tableqa.readers.header_rows import with_header
from tableqa.readers.interface import ReaderError
from tableqa.readers.open_document import open_workbook
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.record_tables import file_named, names_header, table_from, with_titles
from tableqa.readers.report import stripped
from tableqa.readers.table_encodings import TableEncoding
from tableqa.readers.table_files import TableFiles, folders_around
from tableqa.readers.table_kinds import SUFFIXES, check_kind, table_in
from tableqa.readers.workbook import Workbook, is_workbook, table_of_sheet

_HITAB_TABLES = ("tables/raw", "raw", "tables/hmt", "hmt")
"""Folders of table files in HiTab, whose questions name only the files."""


class OwnTables:
    """The tables of the questions in a file, each file and sheet read once.

    tables      the folder of the table files, where it is another than that of the questions
    header_row  which row of a table is its header (`header_rows.with_header`), where the table does not tell
    """

    def __init__(
        self, questions: Path, tables: str | Path | None, encoding: TableEncoding, header_row: str = ""
    ) -> None:
        self._questions = questions
        self._header_row = header_row
        self._files = _table_files(questions, tables, encoding, header_row)
        self._read_sheets: dict[str, Table] = {}

    def of_record(
        self, record: Fields, column: str, title: str = "", caption: str = ""
    ) -> tuple[Table, str | None]:
        """The table of a record, and the name of its file or sheet where the column holds one; ReaderError."""
        location, value = record.place, record.value[column]
        try:
            if (name := file_named(value)) is not None:
                if not stripped(str(value)):
                    mend = phrase("Write the table, or remove the record")
                    raise record.error(column, phrase("{field} is empty", field=column), mend)
                return with_titles(self._named(name, location), title, caption), name
            table = table_from(location.inside(column), value, title, caption, counts_rest=True)
        except ReaderError as error:
            error.column = column
            raise
        return table if names_header(value) else with_header(table, self._header_row), None

    @property
    def visible_sheets(self) -> list[str]:
        """The names of the visible sheets, where the questions are in a workbook."""
        return self._workbook.visible_names if self._workbook else []

    def has_no_files(self) -> bool:
        """Whether there is no file that a question could name."""
        return self._files.is_none_there()

    def file(self, name: str, line: int) -> Path | None:
        """The file of a table that the question in a line names; None for a sheet. ReaderError where there is none."""
        return None if name.casefold() in self._sheet_names else self._files.find(name, line)

    def _named(self, name: str, location: Location) -> Table:
        key = name.casefold()
        if self._workbook is not None and key in self._sheet_names:
            if key not in self._read_sheets:
                table = table_of_sheet(self._workbook.sheet(self._sheet_names[key]))
                self._read_sheets[key] = with_header(table, self._header_row)
            return self._read_sheets[key]
        if self._sheet_names and not Path(name).suffix:
            what = phrase("there is no sheet {name!r}", name=name)
            sheet_names = ", ".join(self._sheet_names.values())
            raise location.error(what, phrase("The sheets are: {names}", names=sheet_names))
        check_kind(location, name)
        return self._files.table(name, location.line)

    @cached_property
    def _workbook(self) -> Workbook | None:
        return open_workbook(self._questions) if is_workbook(self._questions) else None

    @cached_property
    def _sheet_names(self) -> dict[str, str]:
        """The names of the sheets by their small letters: Excel knows no capitals in names."""
        return {name.casefold(): name for name in self._workbook.sheet_names} if self._workbook else {}


def _table_files(
    path: Path, tables: str | Path | None, encoding: TableEncoding, header_row: str
) -> TableFiles:
    """The table files that questions name, looked for around them."""
    inside = path / README if path.is_dir() else path
    folders = folders_around(path, inside, tables, levels_up=0)
    if tables is not None and Path(tables) in path.parents[1:]:
        folders.append(path.parent)
    if path.is_dir() and tables is None:
        folders = [*folders, *(folder / "data" for folder in folders if (folder / "data").is_dir())]
    of_hitab = (folder / below for folder in folders for below in _HITAB_TABLES)
    folders = [*folders, *(folder for folder in of_hitab if folder.is_dir())]
    suffixes = [suffix for suffix in SUFFIXES if suffix]
    read = partial(table_in, encoding=encoding, header_row=header_row)
    return TableFiles(path, folders, read, field="table", prefix="tables/", suffixes=suffixes)
