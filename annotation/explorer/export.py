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
from annotation.platform.refusals import refuse_as
from tableqa.core.translation import grouped, phrase
from tableqa.data.own_columns import PREFIX, column_values
from tableqa.writers.report_tables import guarded

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
    "meta": dict,
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
"""The columns of every format, and what their values are; tables have a column for each own column instead of `meta`.
Lists and objects are JSON where a format has texts only.
"""

Record = dict[str, Any]


def records(who: Reader, chosen: Selection) -> Iterator[tuple[Row, list[Record]]]:
    """Each item with its records, in the order of the selection.

    Raises ActionRefused (invalid_request) for more than `MOST_ITEMS` items.
    """
    items = result_pages.ordered(who, querysets.matching(who, chosen), chosen.sort)
    keys = list(items.values_list("pk", flat=True)[: MOST_ITEMS + 1])
    if len(keys) > MOST_ITEMS:
        too_many = phrase(
            "The selection has more than {most} items. Filter further, and export it in parts.",
            most=grouped(MOST_ITEMS),
        )
        refuse_as("invalid_request", too_many)
    people = {key: name for name, key in who.people.items()}
    return ((row, _records(who, row, people)) for some in chunks(keys, PAGE) for row in rows(who, some))


def of_item(who: Reader, row: Row) -> Record:
    """What is the same in all records of an item."""
    item, with_answers = row.item, who.sight.shows(Fact.ANSWERS, row.item)
    return {
        "item": item.public_id,
        "batch": item.batch.public_id,
        "batch_name": item.batch.name,
        "task_type": item.batch.task_type,
        "source": item.example.source.name,
        "example": item.example.external_id,
        "question": item.example.question,
        "answers": list(item.example.answers) if with_answers else [],
        "meta": _own_values(item.example.more) if with_answers else {},
        "state": row.state,
        "differs": row.differs,
        "flags": row.flags,
    }


def _own_values(more: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the own columns of an example by name, values of a list with semicolons."""
    values: dict[str, str] = {}
    for name, text in column_values(more.get("meta")):
        values[name] = f"{values[name]}; {text}" if name in values else text
    return values


def _records(who: Reader, row: Row, people: Mapping[int, str]) -> list[Record]:
    shared = of_item(who, row)
    empty = dict.fromkeys(COLUMNS)
    shared |= shared["meta"]
    return [empty | shared | of_response(response, people) for response in row.responses] or [empty | shared]


def columns(who: Reader) -> dict[str, type]:
    """The columns of a table of a project's records: `COLUMNS`, with a column for each own column of the examples."""
    every = dict(COLUMNS)
    del every["meta"]
    return every | {name: str for name in who.columns if name.startswith(PREFIX)}


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


def as_csv(export_records: Iterator[Record], columns: Mapping[str, type] = COLUMNS) -> IO[bytes]:
    """With a header; texts that a spreadsheet takes for a formula begin with an apostrophe."""
    out = _file()
    text = io.TextIOWrapper(out, "utf-8", newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for record in export_records:
        writer.writerow([guarded(_text(record.get(name))) for name in columns])
    text.detach()
    return out


def as_jsonl(export_records: Iterator[Record], columns: Mapping[str, type] = COLUMNS) -> IO[bytes]:
    """An object per line; own columns are in `meta`."""
    out = _file()
    for record in export_records:
        out.write(json.dumps({name: record[name] for name in COLUMNS}, ensure_ascii=False).encode() + b"\n")
    return out


def as_xlsx(export_records: Iterator[Record], columns: Mapping[str, type] = COLUMNS) -> IO[bytes]:
    """A workbook with one sheet. Every text is a text: nothing in it is a formula or a link."""
    import xlsxwriter

    out = _file()
    book = xlsxwriter.Workbook(
        out, {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    )
    sheet = book.add_worksheet("Items")
    sheet.freeze_panes(1, 0)
    for column, name in enumerate(columns):
        sheet.write_string(0, column, name)
    for line, record in enumerate(export_records, start=1):
        for column, name in enumerate(columns):
            value = record.get(name)
            if isinstance(value, float):
                sheet.write_number(line, column, value)
            elif value is not None:
                sheet.write_string(line, column, guarded(_text(value))[:LONGEST_CELL])
    book.close()
    return out


def as_parquet(export_records: Iterator[Record], columns: Mapping[str, type] = COLUMNS) -> IO[bytes]:
    """Columns of texts, lists of texts, numbers and truth values; responses are JSON."""
    import pyarrow
    from pyarrow import parquet

    types = {str: pyarrow.string(), list: pyarrow.list_(pyarrow.string()), bool: pyarrow.bool_()}
    types |= {dict: pyarrow.string(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
    out = _file()
    with parquet.ParquetWriter(out, schema) as writer:
        for some in chunks(export_records, 1_000):
            lines = [{**record, "response": _text(record["response"]) or None} for record in some]
            writer.write_table(pyarrow.Table.from_pylist(lines, schema=schema))
    return out


FORMATS: Final[dict[str, tuple[Callable[[Iterator[Record], Mapping[str, type]], IO[bytes]], str]]] = {
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
