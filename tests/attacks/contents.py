"""The texts, keys and numbers that files contain, and the records of some, found without any reader of Askew.

Archives and workbooks with zipfile and lxml, pages with lxml, Parquet and Arrow with pyarrow, the rest with json, csv and
tokenize. It is generous where a file may be read in several ways, such as in several encodings: nothing else may be
imported.
"""

from __future__ import annotations

import csv
import datetime
import functools
import html
import io
import json
import re
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from lxml import etree

from tableqa.readers import published_id

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
MARKED = {"answer_cells", "highlighted_cells", "relevant_cells"}
"""Cells by the ids of their row and column, which readers of published datasets make of numbers."""
FLAGS = {"table_beside", "made_id", "numbered", "table_form"}
"""Say where or in what form a table is, or that an id is a number that a reader counted."""
OWN_NAMES = {
    *("meta", "program", "context", "history", "text", "unit", "scale", "question", "answers", "split"),
    *("table_id", "table_uid", "label", "entailed", "refuted", "answers_text", "written", "label_studio"),
    *("rated_answer", "reference", "human", "metrics", "system", "base64", "alternatives"), *MARKED, *FLAGS,
}  # fmt: skip
"""Names of the parts of an example, and what readers of published datasets call what lies beside the question."""
PROGRAMS = {"op", "select", "column", "all_rows", "c0", "c1"}
"""Names in programs that the reader of WikiSQL makes of numbers."""
ENCODINGS = (
    *(
        "utf-8",
        "utf-16",
        "cp1252",
        "cp1250",
        "cp1251",
        "cp1253",
        "mac-roman",
        "cp850",
        "iso8859-15",
        "koi8-r",
    ),
    *("cp932", "gb18030", "euc_kr", "big5", "utf-16-be", "utf-16-le"),
)
"""In which a text that is not Unicode may be read."""
EXCEL_EPOCH = datetime.datetime(1899, 12, 30)  # noqa: DTZ001  a sheet has no time zone
_SPACES = re.compile(r"\s+")


class Contents:
    """What files contain, by their names and bytes."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.texts: set[str] = {"", "true", "1", "0"}
        self.numbers: set[Decimal] = set()
        self.whole = ""
        for name, data in files.items():
            self._add(data, name)
        self.whole = html.unescape(self.whole)
        self.plain = _SPACES.sub(" ", self.whole)

    @classmethod
    def of(cls, folder: Path) -> Contents:
        """The contents of all files below a folder."""
        files = (path for path in folder.rglob("*") if path.is_file())
        return cls({str(path.relative_to(folder)): path.read_bytes() for path in files})

    def has(self, text: str) -> bool:
        """Whether the files have this text, whole or in parts: a cell of a table in a text, a line of a passage."""
        return text in self.texts or text in self.whole or self._in_another(text)

    def has_value(self, value: Any) -> bool:
        """Whether the files have this text, number, truth value or null."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Decimal(str(value)) in self.numbers
        return self.has(value) if isinstance(value, str) else str(value) in self.texts

    def _in_another(self, text: str) -> bool:
        plain = text.replace("\n", "\\n").replace("|", "\\p")
        doubled = text.replace('"', '""')
        if any(one in self.whole for one in (plain, doubled)) or any(text in one for one in self._long):
            return True
        return _SPACES.sub(" ", text) in self.plain  # as a page shows it

    @functools.cached_property
    def _long(self) -> list[str]:
        return [one for one in self.texts if len(one) > 8]

    def _add(self, data: bytes, name: str) -> None:
        self.whole += name + "\n"
        if zipfile.is_zipfile(io.BytesIO(data)):
            self._add_archive(data)
        elif data[:4] == b"PAR1" or name.endswith(".arrow"):
            self._add_texts(texts_in(records_of_columns(data)))
        else:
            self._add_text(data)

    def _add_text(self, data: bytes) -> None:
        for encoding in ("utf-8",) if data.isascii() and b"\0" not in data else ENCODINGS:
            text = data.decode(encoding, "replace")
            self.whole += text + "\n"
            for part in (text.removeprefix("\ufeff"), *text.removeprefix("\ufeff").split("\n")):
                with suppress(ValueError, RecursionError):
                    self.texts.update(texts_in(json.loads(part.strip().rstrip(","), parse_float=str)))
            self.numbers.update(map(Decimal, NUMBER.findall(text)))
        if b"<t" in data:
            with suppress(etree.LxmlError, ValueError):
                self._add_texts(shown_in(data))

    def _add_archive(self, data: bytes) -> None:
        damaged = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError)
        with suppress(*damaged), zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.namelist()
            if "xl/workbook.xml" in members:
                self._add_texts(texts_in(sheets_of(archive)))
                return
            for member in members[:500]:
                with suppress(*damaged), archive.open(member) as file:
                    self._add(file.read(2**22), member)

    def _add_texts(self, texts: Iterator[str]) -> None:
        for text in texts:
            self.texts.add(text)
            self.whole += text + "\n"
            self.numbers.update(map(Decimal, NUMBER.findall(text)))


def texts_in(value: Any) -> Iterator[str]:
    """Every text, key and number of a JSON value, and of JSON or Python lists inside texts."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, str):
        yield value
        if value[:1] in ("[", "{"):
            with suppress(ValueError, RecursionError):
                yield from texts_in(json.loads(value))
            yield from _printed_texts(value)
    else:
        yield str(value)


def _printed_texts(text: str) -> Iterator[str]:
    """Each text in quotes and each number of a list as Python or NumPy print it: texts side by side are several."""
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NUMBER:
                yield token.string
            elif token.type == tokenize.STRING and token.string[0] in "'\"":
                ascii_only = token.string[1:-1].encode("ascii", "backslashreplace")
                with suppress(UnicodeDecodeError):
                    yield ascii_only.decode("unicode_escape")


def values_in(value: Any) -> Iterator[Any]:
    """Every key and every value of a JSON value, without marked cells; of a program its constants."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key == "program":
                yield from (text for text in texts_in(inner) if text not in PROGRAMS)
            elif key not in MARKED | FLAGS:
                yield from values_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from values_in(inner)
    else:
        yield value


def foreign_values(has: Callable[[Any], bool], example: Any, number: int) -> list[Any]:
    """Texts, keys and numbers of an example, also beside its question, that `has` does not know."""
    table = example.table
    values = [example.question, *example.answers, *table.header, *table.title.split("\n"), table.caption]
    values += [cell for row in (*table.rows, *table.header_rows) for cell in row]
    values += [value for value in values_in(example.beside()) if value not in OWN_NAMES]
    is_made = example.id == str(number) or published_id(example) is not None
    parts = re.split("[-_#:/~]", example.id)
    counted = range(1, number + 1)  # a reader may number the questions of a table
    if (
        not is_made
        and not has(example.id)
        and not all(has(part) or part in map(str, counted) for part in parts)
    ):
        values.append(example.id)
    return [value for value in values if not has(value)]


class Row:
    """A record as another library reads it."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.values = list(texts_in(record))
        self.numbers = {Decimal(text) for text in self.values if NUMBER.fullmatch(text)}

    def has(self, value: Any) -> bool:
        """Whether the record has this text, number, truth value or null, or a text with this part."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Decimal(str(value)) in self.numbers
        return str(value) in self.values or any(str(value) in text for text in self.values)


def records_of_columns(data: bytes) -> list[dict[str, Any]]:
    """The records of a Parquet or Arrow file, as pyarrow alone reads them."""
    import pyarrow
    from pyarrow import parquet

    if data[:4] == b"PAR1":
        table = parquet.ParquetFile(io.BytesIO(data)).read()
        records: list[dict[str, Any]] = table.to_pylist()
        return records
    with pyarrow.ipc.open_stream(io.BytesIO(data)) as stream:
        return [record for batch in stream for record in batch.to_pylist()]


def shown_in(page: bytes) -> Iterator[str]:
    """The texts of the elements of a page, as lxml finds them."""
    tree = etree.fromstring(page, etree.HTMLParser(huge_tree=True))
    for element in () if tree is None else tree.iter():
        yield "".join(map(str, element.itertext()))


def sheets_of(archive: zipfile.ZipFile) -> dict[str, list[list[str]]]:
    """The cells of the sheets of a workbook, with each number in every form that a cell may show it in."""
    strings = _xml(archive, "xl/sharedStrings.xml")
    shared = [_text_of(item) for item in strings.iter() if _is(item, "si")]
    names = [
        sheet.get("name", "") for sheet in _xml(archive, "xl/workbook.xml").iter() if _is(sheet, "sheet")
    ]
    sheets: dict[str, list[list[str]]] = {
        "names": [names],
        "shared": [[*shared, *map(str, strings.itertext())]],
    }
    for part in sorted(name for name in archive.namelist() if name.startswith("xl/worksheets/")):
        rows = (row for row in _xml(archive, part).iter() if _is(row, "row"))
        sheets[part] = [[text for cell in row for text in _shown(cell, shared)] for row in rows]
    return sheets


def _xml(archive: zipfile.ZipFile, name: str) -> Any:
    try:
        data = archive.read(name)
        tree = etree.fromstring(data, etree.XMLParser(recover=True, resolve_entities=False, huge_tree=True))
    except (KeyError, etree.LxmlError):
        tree = None
    return etree.Element("none") if tree is None else tree


def _is(element: Any, name: str) -> bool:
    return isinstance(element.tag, str) and etree.QName(element).localname == name


def _text_of(element: Any) -> str:
    return "".join(part.text or "" for part in element.iter() if _is(part, "t"))


def _shown(cell: Any, shared: list[str]) -> Iterator[str]:
    """The text of a cell, or each form of its number."""
    value = "".join(part.text or "" for part in cell.iter() if _is(part, "v"))
    yield from (_text_of(cell), value)
    with suppress(ValueError, IndexError, ArithmeticError):
        if cell.get("t") == "s":
            yield shared[int(value)]
            return
        number = Decimal(value)
        yield from ("TRUE" if number else "FALSE", f"{float(number):.15G}", str(int(number)))
        for shown, sign in ((number, ""), (number * 100, "%")):
            for digits in range(4):
                yield from (f"{shown:.{digits}f}{sign}", f"{shown:,.{digits}f}{sign}")
        moment = EXCEL_EPOCH + datetime.timedelta(days=float(number))
        yield from (str(moment), str(moment.date()), str(moment.time()))


def records_in(name: str, data: bytes) -> list[dict[str, Any]] | None:
    """The records of a file of questions, None where it is not one whose records another library finds."""
    if name.endswith((".parquet", ".arrow")):
        return records_of_columns(data)
    text = data.decode("utf-8-sig")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    if name.endswith(".csv"):
        separator = max(",;\t|", key=text.partition("\n")[0].count)
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [row for row in lines if any(row)]
        return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] if rows else []
    return None


def missing_values(record: dict[str, Any], example: Any) -> list[str]:
    """Texts and numbers of a record that an example does not have anywhere."""
    imported = Row(example.to_dict())
    joined = "\n".join(imported.values)
    missing = []
    for value in texts_in(list(record.values())):
        parts = [part.strip() for part in re.split(r"[|,;\t\n]", value.replace('"', ""))]
        is_number = NUMBER.fullmatch(value) is not None and Decimal(value) in imported.numbers
        if not is_number and value not in joined and not all(part in joined for part in parts):
            missing.append(value)
    return [value for value in missing if value not in ("None", "nan", "header", "rows")]
