"""A selection as a file: a row for each response, as CSV, Excel workbook, JSON Lines or Parquet.

People are named by pseudonym, as in releases, or by letter. What the reader may not see is empty.
"""

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, Final

from annotation.access.visibility import Fact
from annotation.explorer import querysets, result_pages
from annotation.explorer.item_access import Reader
from annotation.explorer.rows import Response, Row, rows
from annotation.explorer.selection import Selection
from annotation.platform.keyset import chunks
from annotation.platform.refusals import refuse
from tableqa.typesetting.report_tables import guarded

MOST_ITEMS: Final = 20_000
"""Items that are exported at once: about two minutes of work."""
PAGE: Final = 200
LONGEST_CELL: Final = 32_767
"""Characters of a cell of a workbook."""
COLUMNS: Final = {
    "item": str,
    "batch": str,
    "batch_name": str,
    "task_type": str,
    "source": str,
    "example": str,
    "question": str,
    "answers": list,
    "state": str,
    "differs": bool,
    "flags": list,
    "person": str,
    "response_state": str,
    "response": dict,
    "words": list,
    "reason": str,
    "unsure": bool,
    "added": bool,
    "active_seconds": float,
    "submitted_at": str,
}
"""The columns of every format, and what their values are. Lists and objects are JSON where a format has texts only."""

Record = dict[str, Any]


def records(who: Reader, chosen: Selection) -> Iterator[tuple[Row, list[Record]]]:
    """Each item with its records, in the order of the selection.

    Raises ActionRefused (invalid_request) for more than `MOST_ITEMS` items.
    """
    items = result_pages.ordered(querysets.matching(who, chosen), chosen.sort)
    keys = list(items.values_list("pk", flat=True)[: MOST_ITEMS + 1])
    if len(keys) > MOST_ITEMS:
        refuse(
            "invalid_request",
            "The selection has more than {most} items. Filter further, and export it in parts.",
            most=f"{MOST_ITEMS:,}",
        )
    people = {key: name for name, key in who.people.items()}
    return ((row, _records(who, row, people)) for some in chunks(keys, PAGE) for row in rows(who, some))


def of_item(who: Reader, row: Row) -> Record:
    """What is the same in all records of an item."""
    item = row.item
    return {
        "item": item.public_id,
        "batch": item.batch.public_id,
        "batch_name": item.batch.name,
        "task_type": item.batch.task_type,
        "source": item.example.source.name,
        "example": item.example.external_id,
        "question": item.example.question,
        "answers": list(item.example.answers) if who.sight.shows(Fact.ANSWERS, item) else [],
        "state": row.state,
        "differs": row.differs,
        "flags": row.flags,
    }


def _records(who: Reader, row: Row, people: Mapping[int, str]) -> list[Record]:
    shared = of_item(who, row)
    empty = dict.fromkeys(COLUMNS)
    return [empty | shared | of_response(response, people) for response in row.responses] or [empty | shared]


def of_response(response: Response, people: Mapping[int, str]) -> Record:
    """What a record says of one response; `people`: pseudonyms by key."""
    skipped = response.state == "skipped"
    return {
        "person": response.letter or people.get(response.person, ""),
        "response_state": response.state,
        "response": None if skipped else dict(response.data),
        "words": [] if skipped else [str(line) for line in response.words],
        "reason": "; ".join(response.words) if skipped else None,
        "unsure": response.unsure,
        "added": response.added,
        "active_seconds": response.seconds,
        "submitted_at": response.at.isoformat() if response.at else None,
    }


def as_csv(export_records: Iterator[Record]) -> IO[bytes]:
    """With a header; texts that a spreadsheet takes for a formula begin with an apostrophe."""
    out = _file()
    text = io.TextIOWrapper(out, "utf-8", newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for record in export_records:
        writer.writerow([guarded(_text(record[name])) for name in COLUMNS])
    text.detach()
    return out


def as_jsonl(export_records: Iterator[Record]) -> IO[bytes]:
    """An object per line."""
    out = _file()
    for record in export_records:
        out.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    return out


def as_xlsx(export_records: Iterator[Record]) -> IO[bytes]:
    """A workbook with one sheet. Every text is a text: nothing in it is a formula or a link."""
    import xlsxwriter

    out = _file()
    book = xlsxwriter.Workbook(
        out, {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    )
    sheet = book.add_worksheet("Items")
    sheet.freeze_panes(1, 0)
    for column, name in enumerate(COLUMNS):
        sheet.write_string(0, column, name)
    for line, record in enumerate(export_records, start=1):
        for column, name in enumerate(COLUMNS):
            value = record[name]
            if isinstance(value, float):
                sheet.write_number(line, column, value)
            elif value is not None:
                sheet.write_string(line, column, guarded(_text(value))[:LONGEST_CELL])
    book.close()
    return out


def as_parquet(export_records: Iterator[Record]) -> IO[bytes]:
    """Columns of texts, lists of texts, numbers and truth values; responses are JSON."""
    import pyarrow
    from pyarrow import parquet

    types = {str: pyarrow.string(), list: pyarrow.list_(pyarrow.string()), bool: pyarrow.bool_()}
    types |= {dict: pyarrow.string(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    out = _file()
    with parquet.ParquetWriter(out, schema) as writer:
        for some in chunks(export_records, 1_000):
            lines = [{**record, "response": _text(record["response"]) or None} for record in some]
            writer.write_table(pyarrow.Table.from_pylist(lines, schema=schema))
    return out


FORMATS: Final[dict[str, tuple[Callable[[Iterator[Record]], IO[bytes]], str]]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "xlsx": (as_xlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "jsonl": (as_jsonl, "application/x-ndjson"),
    "parquet": (as_parquet, "application/vnd.apache.parquet"),
}
"""Writers of a file, by the ending of its name, and its media type."""


def _file() -> IO[bytes]:
    """A file that is gone once it is closed."""
    return tempfile.TemporaryFile()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
