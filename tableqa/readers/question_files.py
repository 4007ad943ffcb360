"""Which file of a folder or sheet of a workbook has the questions: the only one, or those that a person chose."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tableqa.core.translation import phrase
from tableqa.readers.archive import MANY_IN_FOLDER
from tableqa.readers.column_names import is_header
from tableqa.readers.interface import ReaderError, any_case, not_the_only_file, start_of
from tableqa.readers.reading_options import EVERY, offering, option, unescaped
from tableqa.readers.record_forms import JSON_SUFFIXES, TEXT_SUFFIXES
from tableqa.readers.report import note
from tableqa.readers.table_encodings import PAGES
from tableqa.readers.table_kinds import MARKDOWN, in_html, in_markdown
from tableqa.readers.workbook import Sheet, Workbook

_SUFFIXES = (*JSON_SUFFIXES, *TEXT_SUFFIXES, ".xlsx", ".ods")
MOST_TITLES = 10
"""Rows of a sheet that are looked through for its header."""
_NAME_FILE = phrase(
    "Name the file of questions, or leave one file in the folder that has the columns question and table"
)


def questions_of(folder: Path, fits: Callable[[Path], bool]) -> list[Path]:
    """The files of questions in a folder: the one that `fits`, else the only file there, or those chosen. ReaderError.

    Where none fits, those in its folders are tried that do not have many files.
    """
    files = _files_in(folder)
    fitting = list(filter(fits, files))
    if not fitting:
        below = [_files_in(inner) for inner in sorted(folder.iterdir()) if inner.is_dir()]
        fitting = [path for few in below if len(few) <= MANY_IN_FOLDER for path in few if fits(path)] or files
    chosen = option("questions")
    if len(fitting) == 1 or (fitting and chosen == EVERY):
        return fitting
    if named := [path for path in {*files, *fitting} if path.name == chosen]:
        return named
    error, names = not_the_only_file(folder, fitting, _NAME_FILE), [path.name for path in fitting[:10]]
    raise offering(error, "questions", *names, EVERY) if names else error


def _files_in(folder: Path) -> list[Path]:
    patterns = [any_case(f"*{suffix}") for suffix in _SUFFIXES]
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def sheets_of_questions(workbook: Workbook, fields: Mapping[str, str]) -> list[Sheet]:
    """The visible sheets whose header names question and table: the only one, or those chosen; else the first with columns.

    ReaderError where there are several, and for a workbook without a visible sheet.
    """
    chosen = option("questions")
    names = workbook.visible_names
    if chosen in names:
        return [workbook.sheet(chosen)]
    sheets: list[Sheet] = []
    fitting: list[Sheet] = []
    for name in names:
        try:
            sheets.append(workbook.sheet(name))
        except ReaderError:
            if not fitting:
                raise
            note("error_sheets", name, line=1)
            continue  # a sheet behind that of the questions; its table is read where a question names it
        if header_at(sheets[-1], fields) is not None:
            fitting.append(sheets[-1])
    if len(fitting) > 1 and chosen != EVERY:
        sheet_names = [sheet.name for sheet in fitting]
        what = phrase("several sheets have questions: {names}", names=", ".join(sheet_names))
        error = ReaderError(workbook.path, None, what, phrase("Leave one of them in the file"))
        raise offering(error, "questions", *sheet_names, EVERY)
    if not sheets:
        mend = phrase("Add one with the questions")
        raise ReaderError(workbook.path, None, phrase("the Excel file has no sheet"), mend)
    with_columns = [sheet for sheet in sheets if len(sheet.rows) > 1 and len(sheet.rows[0]) > 1]
    return fitting or (with_columns or sheets)[:1]


def header_at(sheet: Sheet, fields: Mapping[str, str]) -> int | None:
    """The place of the first row, below titles, that names question and table; None where none of the first ones does."""
    names = [[cell.strip() for cell in row] for row in sheet.rows[:MOST_TITLES]]
    fitting = (at for at, row in enumerate(names) if is_header(row, fields))
    return next(fitting, None)


def first_row(sheet: Sheet, fields: Mapping[str, str]) -> int:
    """The place of the header of a sheet: `header_at`, else the first row with more than one text, which is no title."""
    at = header_at(sheet, fields)
    filled = (row for row, cells in enumerate(sheet.rows[:MOST_TITLES]) if len(list(filter(None, cells))) > 1)
    return next(filled, 0) if at is None else at


def is_page(path: Path) -> bool:
    """Whether a file of questions is a web page or Markdown, by its suffix or its first bytes."""
    start = start_of(path, 512).lstrip().lower()
    return path.suffix.lower() in (*PAGES, *MARKDOWN) or start.startswith(
        (b"<!doctype html", b"<html", b"<table")
    )


def rows_of_page(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of the only table of a page or of Markdown, the header first, with their numbers; ReaderError.

    pandas writes line breaks as \\n, which the option `quotes` reads. A page of rows alone is one of sqlite3, whose texts
    have their line breaks.
    """
    if text.lstrip()[:3].lower() == "<tr":
        text = f"<table>{text.replace(chr(10), '<br>')}</table>"
    table = in_markdown(path, text) if path.suffix.lower() in MARKDOWN else in_html(path, text)
    rows = [list(table.header), *map(list, table.rows)]
    return enumerate(
        [list(map(unescaped, row)) for row in rows] if option("quotes") == "escapes" else rows, start=1
    )
