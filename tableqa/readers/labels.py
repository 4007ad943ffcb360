"""Labels that people gave somewhere else: a CSV file in which a line is one person's response to one example.

    result = read_labels(ReadRequest("labels", "labels.csv", "rows.jsonl", chosen={"annotator": "who"}))

Everything is checked that the file alone tells. Whether the batch has the item and its task type takes the response is for
the process that has a database: it reads the rows.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tableqa.core.foreign_values import NAMES, normal, unstorable_part
from tableqa.core.translation import phrase
from tableqa.readers.delimited import named_rows, read_delimited
from tableqa.readers.ingestion import ROWS, ReadRequest, ReadResult, Rows, checksum_of
from tableqa.readers.interface import ReaderError, Rejection
from tableqa.readers.json_values import plain
from tableqa.readers.record_fields import Fields, decode_json
from tableqa.readers.records import ADDED
from tableqa.readers.rejections import Rejections
from tableqa.readers.text_form import text_form

LONGEST_NAME = 120
DUPLICATES = ("refuse", "first", "latest")
"""What an import does with several responses of a person to one example: none is imported, or one."""
_CORRECT = phrase("Correct it")
_JSON = re.compile(r'\s*([\[{"0-9-]|(true|false|null)\s*$)')


@dataclass(frozen=True)
class Columns:
    """Which columns say what. The others are fields of the response; one called `response` is the whole of it as JSON.

    simulated  column that says whether the annotator is a program: true, or false, or empty; None where none does
    fields     columns that have another name than the field they hold: {"Label": "label"}

    A column without a name, such as the index that pandas writes, is none of them and no field: it is left out.
    """

    example: str = "example"
    annotator: str = "annotator"
    source: str = "source"
    response: str = "response"
    simulated: str | None = "simulated"
    fields: Mapping[str, str] = field(default_factory=dict)

    def record(self, label: "Label") -> dict[str, Any]:
        """A label in a file of rejected records: it can be corrected and imported again."""
        column_by_field = {field_name: column for column, field_name in self.fields.items()}
        response = {column_by_field.get(name, name): value for name, value in label.forms[0].items()}
        about = {self.example: label.example, self.annotator: label.annotator}
        if label.source:
            about[self.source] = label.source
        if label.is_simulated and self.simulated:
            about[self.simulated] = "true"
        return {**about, **response}


class Label(NamedTuple):
    """A row: a person, an example and the response.

    forms    the forms in which the response may be meant: its cells as text, or those that are JSON as what they say
    made_at  its time (ISO 8601 with a time zone); None where it is unknown
    origin   where it comes from, for the audit log
    seconds  of active time; 0 where they are unknown
    """

    line: int
    annotator: str
    is_simulated: bool
    example: str
    source: str
    forms: Sequence[Mapping[str, Any]]
    made_at: str | None = None
    origin: Mapping[str, Any] | None = None
    seconds: float = 0.0


def read_labels(request: ReadRequest, progress: Callable[[int], None] = lambda done: None) -> ReadResult:
    """Read and check all lines, or the first good ones (`limit`); `chosen` are `Columns`.

    ReaderError where no line can be read: no such columns.
    """
    path, columns = Path(request.path), Columns(**request.chosen or {})
    form = text_form(path, columns=(columns.example, columns.annotator))
    lines = _padded_rows(read_delimited(path, form.separator, form.encoding, blank=True))
    result = ReadResult(checksum_of([path], None, {}))
    if (form.encoding.removesuffix("-sig"), form.separator) != ("utf-8", ","):
        result.read_as = form.sentence(path)

    def check(line: int, names: Sequence[str]) -> None:
        _require_columns(path, line, names, columns)

    with (
        Rejections(request.shown, request.by_command) as rejections,
        Rows.written(Path(request.rows)) as rows,
    ):
        for done, record in enumerate(named_rows(path, lines, check)):
            if rows.number == request.limit:
                result.whole = False
                break
            if done % ROWS == 0:
                progress(done)
            if isinstance(record, Rejection):
                rejections.add(replace(record, record=record.record or {}))
                continue
            if record.value.get(""):
                result.left_out = phrase("The column without a name is left out.")
            try:
                rows.write(_label(record, columns))
            except ReaderError as error:
                rejections.add(Rejection(error, record.value))
        if request.rest and rejections.number:
            rejections.write(Path(request.rest))
        result.number, result.rejected = rows.number, rejections.number
        result.problems, result.cause = rejections.first, rejections.cause
    if not result.number and not result.rejected:
        what = phrase("the file has a header line but no labels")
        raise ReaderError(path, None, what, phrase("Check that this is the right file"))
    return result


def _padded_rows(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """The rows with empty cells at the end of short ones."""
    width = 0
    for line, cells in rows:
        width = width or (len(cells) if any(cells) else 0)
        yield line, [*cells, *[""] * (width - len(cells))] if "".join(cells).strip() else []


def _require_columns(path: Path, line: int, names: Sequence[str], columns: Columns) -> None:
    for name in (columns.example, columns.annotator):
        if name in names:
            continue
        by_case = {other.casefold(): other for other in names}
        near = difflib.get_close_matches(name.casefold(), by_case, n=1, cutoff=0.7)
        fix = phrase("It names the columns: {names}", names=f"{columns.example}, {columns.annotator}")
        if near:
            fix = phrase("Rename the column {name!r} to {wanted!r}", name=by_case[near[0]], wanted=name)
        header_text = ", ".join(names)[:80]
        what = phrase("the first line lacks {names}: {line}", names=name, line=header_text)
        raise ReaderError(path, line, what, fix)
    if not _fields(names, columns):
        fix = phrase("Add a column for each field of the response, such as 'label'")
        raise ReaderError(path, line, phrase("the file has no response column"), fix)


def _fields(names: Sequence[str], columns: Columns) -> list[str]:
    """The columns that hold fields of the response, or all of it."""
    about = ("", columns.example, columns.annotator, columns.source, columns.simulated)
    reasons = ADDED if tuple(names[-len(ADDED) :]) == ADDED else ()  # a file of rejected labels
    return [name for name in names if name not in (*about, *reasons)]


def _label(record: Fields, columns: Columns) -> Label:
    row = record.value
    annotator, example = normal(row[columns.annotator].strip()), row[columns.example].strip()
    if reason := unstorable_part(row) or unstorable_part(annotator, NAMES):
        raise record.place.error(phrase("the line contains {reason}", reason=reason), _CORRECT)
    for name, text in ((columns.annotator, annotator), (columns.example, example)):
        if not text:
            raise record.error(name, phrase("{field} is empty", field=name), phrase("Add it"))
    if len(annotator) > LONGEST_NAME:
        what = phrase(
            "{field} is longer than {longest} characters", field=columns.annotator, longest=LONGEST_NAME
        )
        raise record.error(columns.annotator, what, phrase("Shorten it"))
    return Label(
        record.place.line,
        annotator,
        _is_simulated(record, columns.simulated),
        example,
        row.get(columns.source, "").strip(),
        _forms(record, columns),
    )


def _is_simulated(record: Fields, column: str | None) -> bool:
    if column is None or not (value := record.value.get(column, "").strip().lower()):
        return False
    if value not in ("true", "false"):
        what = phrase(
            "{field} must be true or false, not {value!r}", field=column, value=record.value[column]
        )
        raise record.error(column, what, _CORRECT)
    return value == "true"


def _forms(record: Fields, columns: Columns) -> list[dict[str, Any]]:
    if record.value.get(columns.response, "").strip():
        location = record.place.inside(columns.response)
        forms = [
            plain(Fields(location, decode_json(location, record.value[columns.response], _CORRECT)).value)
        ]
    else:
        names = [name for name in _fields(list(record.value), columns) if name != columns.response]
        as_text = {columns.fields.get(name, name): text for name in names if (text := record.value[name])}
        as_json = {name: _json(record, text) for name, text in as_text.items()}
        forms = [as_text] if as_json == as_text else [as_text, as_json]
    if not forms[0]:
        raise record.place.error(phrase("the response is missing"), phrase("Add it"))
    if reason := unstorable_part(forms):
        raise record.place.error(phrase("the response contains {reason}", reason=reason), _CORRECT)
    return forms


def _json(record: Fields, cell: str) -> Any:
    if not _JSON.match(cell):
        return cell
    try:
        return plain(decode_json(record.place, cell))
    except ReaderError:
        return cell
