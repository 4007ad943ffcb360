"""FREB-TQA (Zhou et al., NAACL 2024): one JSON object a line, the question, its answers and its table in one.

The release has four forms, which this reads alike: `{"id", "question", "answers", "table": {"header", "rows"}}` with
the table's "name" or "id" or neither; the same with TAT-QA's fields beside them or, in 01_str and 02_rel, in an object
"meta"; in 02_rel the table as a plain list of rows, the header first; and files of perturbed items with "seed",
"dataset" and "perturb".

Nothing is lost: `tableqa.writers.freb_tqa.published_record` gives the record that was read. What is beside the four
fields is kept in `meta` under its own name, and besides:

    context         the table's "name" (in WikiTableQuestions the path of its file, as that reader calls it)
    table           what else the object of the table holds, if anything: {"id": ...}
    table_form      "rows" where the table is a plain list of rows
    nested          the names of the fields that are in the record's own "meta"; one that the record has as well is
                    called "meta.NAME" here
    id              the id as published, where it repeats: the second nt-5695 of a file is called nt-5695#2
    relevant_cells  [[row id, column id], ...] of "rel_cell", which counts rows from below the header. Its places are those
                    of the original table, also in the files of shortened and edited ones; they are named only where every
                    place is in this table and, where there is a derivation, holds one of its numbers
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from tableqa.core.translation import phrase
from tableqa.data.examples import Context, Example
from tableqa.data.tables import Table
from tableqa.readers.example_parts import cell_at, context_of, example, named_table, table_of
from tableqa.readers.interface import FileReader, Names, Rejection, file_at
from tableqa.readers.json_values import kind, plain
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.records import Record, outcomes_of

_FIELDS = ("id", "question", "answers", "table")
_MADE = ("context", "table_form", "nested", "relevant_cells")
"""What this reader puts into `meta`: a record that has such a field could not be written again as it was."""

_FILES = ("*.json", "*.jsonl")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")


class FrebTqa(FileReader):
    """The reader "freb_tqa"; see `tableqa.readers.interface.Reader`. The tables are in the file: `tables` is not used."""

    name = "freb_tqa"
    title = "FREB-TQA"
    licence = "CC-BY-SA-4.0"
    citation = (
        "Wei Zhou, Mohsen Mesgar, Heike Adel, and Annemarie Friedrich. 2024. FREB-TQA: A Fine-Grained Robustness "
        "Evaluation Benchmark for Table Question Answering. In Proceedings of NAACL 2024 (Volume 1: Long Papers), pages "
        "2479-2497."
    )
    url = "https://github.com/boschresearch/FREB-TQA"

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path]:
        return (
            file_at(Path(path), _FILES, Path.is_file, phrase("Name one .json or .jsonl file of FREB-TQA")),
        )

    def _outcomes(self, path: Path) -> Iterator[Example | Rejection]:
        names = Names()
        return outcomes_of(path, lambda record: _example(path, record, names))


def _example(path: Path, record: Record, names: Names) -> Example:
    fields = record.fields
    published = fields.text("id")
    location = Location(path, record.line, f"id {published}") if published else fields.place
    meta = _preserved_fields(location, fields)
    table, about = _table(location, fields.required("table"))
    meta |= about
    if cells := _relevant_cells(location, meta, table):
        meta["relevant_cells"] = cells
    unique = names.unique(published)
    if unique != published:
        meta["id"] = published
    return example(
        location,
        id=unique,
        question=fields.text("question"),
        table=table,
        answers=fields.texts("answers"),
        meta=meta,
        context=_context(location, meta),
    )


def _preserved_fields(location: Location, fields: Fields) -> dict[str, Any]:
    """The fields beside the four, and those of "meta", which are taken out of it, each under its own name."""
    record = fields.value
    inner = fields.nested("meta").value if "meta" in record else {}
    for name in (*record, *inner):
        if name in _MADE or name.startswith("meta."):
            what = phrase("there is a field {name}, which FREB-TQA does not have", name=name)
            raise location.error(what, phrase("Rename the field: the reader uses this name"))
    meta = {name: plain(value) for name, value in record.items() if name not in (*_FIELDS, "meta")}
    if "meta" in record:
        meta |= {f"meta.{name}" if name in record else name: plain(value) for name, value in inner.items()}
        meta["nested"] = list(inner)
    return meta


def _table(location: Location, value: object) -> tuple[Table, dict[str, Any]]:
    """The table, and what to keep of the way in which it is written."""
    if isinstance(value, list):
        if not value:
            mend = phrase("The first row of a table is its header")
            raise location.error(phrase("the table has no header"), mend)
        return table_of(location, value[0], value[1:]), {"table_form": "rows"}
    fields = Fields(location.inside("table"), value)
    table, about, others = named_table(location, fields)
    return table, {**about, "table": others} if others else about


def _context(location: Location, meta: Mapping[str, Any]) -> Context | None:
    """TAT-QA's paragraphs and scale, for people to read."""
    paragraphs = meta.get("paragraphs", [])
    if not isinstance(paragraphs, list):
        mend = phrase('Write a list of {"text"}')
        raise location.error(phrase("paragraphs is {kind}, not a list", kind=kind(paragraphs)), mend)
    texts = [Fields(location.inside("paragraphs"), paragraph).text("text") for paragraph in paragraphs]
    scale = meta.get("scale", "")
    if not isinstance(scale, str):
        mend = phrase("Write it in quotes")
        raise location.error(phrase("scale is {kind}, not a text", kind=kind(scale)), mend)
    return context_of(location, text="\n\n".join(texts), scale=scale)


def _relevant_cells(location: Location, meta: Mapping[str, Any], table: Table) -> list[list[str]]:
    """The ids of the cells that "rel_cell" means; none where its places are not those of this table."""
    places = meta.get("rel_cell", [])
    if not isinstance(places, list) or not all(_is_position(pair) for pair in places):
        mend = phrase("Both are counted from 0, rows from below the header")
        raise location.error(phrase("rel_cell is not a list of [row, column]"), mend)
    rows, columns = table.shape
    if any(row >= rows or column >= columns for row, column in places):
        return []
    derivation_numbers = _numbers(meta.get("derivation"))
    if derivation_numbers and not all(
        _numbers(table.rows[row][column]) & derivation_numbers for row, column in places
    ):
        return []
    return [cell_at(location, table, row, column) for row, column in places]


def _is_position(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and n >= 0 for n in value)


def _numbers(text: object) -> set[Decimal]:
    if not isinstance(text, str):
        return set()
    return {Decimal(digits.replace(",", "")) for digits in _NUMBER.findall(text)}


READER = FrebTqa()
