"""JSON Lines that any person can write: one example a line, with its table. docs/reference/readers.md describes the form."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop, phrase, reason_of
from tableqa.data.examples import Context, Example, Turn
from tableqa.data.tables import Span, Table, TableError
from tableqa.readers.example_parts import context_of, example, marked_cells, table_of, turn_of
from tableqa.readers.interface import Ids, Rejection
from tableqa.readers.json_values import kind, plain
from tableqa.readers.mapped_records import gold
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import Record, RecordFile, RepeatedObjects, outcomes_of

MARKED = ("answer_cells", "highlighted_cells", "relevant_cells")
"""The fields that hold marked cells, as lists of [row id, column id]; they are in `Example.meta`."""

_RATED = ("rated_answer", "reference", "human", "metrics")
_FIELDS = (
    "id", "question", "answers", "table", "alternatives", "context", "history", "program", "meta", *_RATED, *MARKED,
)  # fmt: skip


class Jsonl(RecordFile):
    """The reader "jsonl"; see `tableqa.readers.interface.Reader`. Marked and rated fields are in meta."""

    name = "jsonl"
    title = gettext_noop("JSON Lines (Askew format)")
    patterns = ("*.jsonl",)
    known_by = _FIELDS[:4]
    mend = phrase("Name one .jsonl file whose lines have id, question, answers and table")

    def _outcomes(self, path: Path) -> Iterator[Example | Rejection]:
        ids, repeated = Ids(path), RepeatedObjects()

        def make(record: Record) -> Example:
            fields = record.fields
            fields.only(*_FIELDS)
            example_id = fields.name("id")
            table_fields = fields.nested("table")
            table = repeated.made(table_fields.value, partial(_table, table_fields))
            new_example = example(
                fields.place,
                example_id,
                fields.text("question"),
                table,
                gold(fields, {"alternatives": "alternatives"}, fields.texts("answers")),
                _meta(fields, table),
                program=_program(fields.nested("program")) if "program" in fields else None,
                context=_context(fields.nested("context")) if "context" in fields else None,
                history=_history(fields) if "history" in fields else None,
            )
            ids.add(example_id, record.line)
            return new_example

        return outcomes_of(path, make, repeated)


def _table(table: Fields) -> Table:
    """The table; its rows and columns are known by their places, so ids cannot be given."""
    table.only("header", "rows", "title", "caption", "header_rows", "spans")
    above = table.value.get("header_rows") or []
    if not isinstance(above, list):
        what = phrase("{field} is {kind}, not a list", field="header_rows", kind=kind(above))
        raise table.error("header_rows", what, phrase("Give a list of rows"))
    try:
        spans = [Span.from_dict(span) for span in (table.value.get("spans") or [])]
    except (TableError, TypeError) as error:
        what = phrase("{field} cannot be read: {error}", field="spans", error=reason_of(error))
        raise table.error("spans", what, phrase("Correct the merged cells")) from error
    header, rows = table.required("header"), table.required("rows")
    title, caption = table.text("title", default=""), table.text("caption", default="")
    return table_of(table.place, header, rows, title, caption, header_rows=above, spans=spans)


def _context(context: Fields) -> Context | None:
    context.only("text", "unit", "scale")
    return context_of(
        context.place, **{name: context.text(name, default="") for name in ("text", "unit", "scale")}
    )


def _history(fields: Fields) -> list[Turn]:
    turns = []
    for turn in fields.nested_each("history"):
        turn.only("question", "answers")
        turns.append(turn_of(turn.place, turn.text("question"), turn.texts("answers")))
    return turns


def _program(program: Fields) -> dict[str, Any]:
    """A program as JSON, if it is one of `tableqa.programs`; whether it fits the table, running it shows."""
    from tableqa.programs import ProgramError, from_dict

    value: dict[str, Any] = plain(program.value)
    try:
        from_dict(value)
    except ProgramError as error:
        mend = phrase("Remove it, or write it as tableqa.programs does")
        raise program.place.error(reason_of(error), mend) from error
    return value


def _meta(fields: Fields, table: Table) -> dict[str, Any]:
    """The own fields of the source, and with them what is marked and rated; ReaderError."""
    own = fields.nested("meta").value if "meta" in fields else {}
    special = {name: fields.value[name] for name in (*MARKED, *_RATED) if name in fields}
    if twice := next((name for name in special if name in own), None):
        mend = phrase("Remove one of the two")
        raise fields.error(twice, phrase("{field} is both in the record and in its meta", field=twice), mend)
    meta = plain({**own, **special})
    for name in MARKED:
        if name in meta:
            marked_cells(fields.place, table, name, meta[name])
    _check_ratings(Fields(fields.place, meta))
    return dict(meta)


def _check_ratings(meta: Fields) -> None:
    if "rated_answer" in meta:
        rated = meta.nested("rated_answer")
        rated.only("text", "system")
        rated.text("text")
        rated.text("system", default="")
    meta.text("reference", default="")
    for name in ("human", "metrics"):
        if name in meta:
            scores = meta.nested(name)
            for score in scores.value:
                scores.number(score)


READER = Jsonl()
