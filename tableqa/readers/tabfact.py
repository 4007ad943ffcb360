"""TabFact (Chen et al., ICLR 2020): statements about Wikipedia's tables, each entailed by its table or refuted.

A file is one object {table id: [statements, labels, caption]}; the table is in a file of that name whose cells are
parted by "#", without any quoting, the header first.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop, phrase
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.delimited import table_of_rows
from tableqa.readers.example_parts import example
from tableqa.readers.interface import FileReader, ReaderError, Rejection, file_at, read_lines
from tableqa.readers.json_stream import read_members
from tableqa.readers.json_values import kind
from tableqa.readers.record_fields import Location
from tableqa.readers.records import ADDED
from tableqa.readers.table_files import TableFiles, folders_around

LABELS = {1: "entailed", 0: "refuted"}

_PLACES = ("*.json", "*/*.json")
_TABLES = ("all_csv", "data/all_csv")


class TabFact(FileReader):
    """The reader "tabfact"; see `tableqa.readers.interface.Reader`.

    The statement is the question, its label, "1" (entailed) or "0" (refuted), the one answer. The id is `table_id-n`, n
    counting the table's statements from 1: the source has none. meta holds "table_id" and "label", the word for it. The
    caption is the table's.
    """

    name = "tabfact"
    title = "TabFact"
    licence = "MIT"
    citation = (
        "Wenhu Chen, Hongmin Wang, Jianshu Chen, Yunkai Zhang, Hong Wang, Shiyang Li, Xiyou Zhou and William Yang Wang. "
        "2020. TabFact: A Large-scale Dataset for Table-based Fact Verification. In Proceedings of ICLR 2020."
    )
    url = "https://github.com/wenhuchen/Table-Fact-Checking"
    rest_form = "members"
    beside = gettext_noop("the folder data/all_csv/ of the release")

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, TableFiles]:
        path = Path(path)
        mend = phrase("Name one file of statements, for example collected_data/r1_training_all.json")
        statements = file_at(path, _PLACES, _holds_statements, mend)
        around = folders_around(path, statements, tables, levels_up=1)
        folders = [folder / inner for folder in around for inner in ("", *_TABLES)]
        return statements, TableFiles(statements, folders, read_table, field="table id", prefix="all_csv/")

    def _outcomes(self, path: Path, tables: TableFiles) -> Iterator[Example | Rejection]:
        for table_id, location, value in read_members(path):
            try:
                examples = list(_statements(location, table_id, value, tables))
            except ReaderError as error:
                yield Rejection(error, {table_id: value})
                continue
            yield from examples

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The file of the statements, then each table in the order in which it names them; ReaderError as for reading."""
        statements, library = self.located(path, tables)
        yield statements
        for table_id, location, _ in read_members(statements):
            with suppress(ReaderError):  # reading tells the problems
                yield library.find(table_id, location.line)


def _statements(location: Location, table_id: str, value: Any, tables: TableFiles) -> Iterator[Example]:
    statements, labels, caption = _member(location, value)
    table = tables.table(table_id, location.line)
    titled = Table(table.header, table.rows, caption=caption)
    for i, (statement, label) in enumerate(zip(statements, labels, strict=True)):
        meta = {"table_id": table_id, "label": LABELS[label]}
        yield example(location, f"{table_id}-{i + 1}", statement, titled, [str(label)], meta)


def _holds_statements(path: Path) -> bool:
    try:
        first_member = next(read_members(path), None)
        return first_member is not None and bool(_member(first_member[1], first_member[2]))
    except ReaderError:
        return False


def _is_reason(last: list[Any]) -> bool:
    """Whether a list ends with the reason of a rejected record."""
    return all(isinstance(reason, dict) and reason.keys() == set(ADDED) for reason in last) and bool(last)


def _member(location: Location, value: Any) -> tuple[list[str], list[int], str]:
    """The statements of a table, their labels, and its caption; ReaderError."""
    mend = phrase("Write [[statements], [labels], caption], a label of 1 or 0 for each statement")
    if isinstance(value, list) and _is_reason(value[-1:]):
        value = value[:-1]
    if not isinstance(value, list) or len(value) != 3:
        raise location.error(phrase("there is {kind}, not a list of three", kind=kind(value)), mend)
    statements, labels, caption = value
    if not isinstance(statements, list) or not all(isinstance(text, str) for text in statements):
        raise location.error(phrase("the first of the three is not a list of texts"), mend)
    if not isinstance(labels, list) or not all(type(label) is int and label in LABELS for label in labels):
        raise location.error(phrase("the second of the three is not a list of labels, 1 or 0"), mend)
    if (number := len(labels)) != (expected := len(statements)):
        what = phrase("there are {number} labels for {expected} statements", number=number, expected=expected)
        raise location.error(what, mend)
    if not isinstance(caption, str):
        raise location.error(phrase("the caption is {kind}, not a text", kind=kind(caption)), mend)
    return statements, labels, caption


def read_table(path: Path) -> Table:
    """The table of a file whose cells are parted by "#"; ReaderError with the line of the fault."""
    return table_of_rows(path, ((line, text.split("#")) for line, text in read_lines(path)))


READER = TabFact()
