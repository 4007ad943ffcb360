"""Gold answers: the right responses to examples, in a file of JSON Lines or CSV.

    result = read_gold(ReadRequest("gold", "gold.csv", "rows.jsonl", chosen={"columns": ["label"]}))

Everything is checked that the file alone tells. Whether the project has the example and the task type takes the response is
for the process that has a database: it reads the rows.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tableqa.core.foreign_values import unstorable_part
from tableqa.core.translation import phrase
from tableqa.readers.delimited import named_rows, read_delimited
from tableqa.readers.ingestion import ROWS, ReadRequest, ReadResult, Rows, checksum_of
from tableqa.readers.interface import Ids, ReaderError, Rejection
from tableqa.readers.json_values import plain
from tableqa.readers.record_fields import Fields, decode_json
from tableqa.readers.records import Record, each_record
from tableqa.readers.rejections import Rejections
from tableqa.readers.text_form import text_form

FIELDS = ("example", "response", "why")
_CORRECT = phrase("Correct it")


class GoldAnswer(NamedTuple):
    """A row. `cells` are fields of the response that have their own column, as text."""

    line: int
    example: str
    response: dict[str, Any]
    cells: dict[str, str]
    why: str


def read_gold(request: ReadRequest, progress: Callable[[int], None] = lambda done: None) -> ReadResult:
    """Read and check all lines; `chosen["columns"]` are fields of the response that a CSV file may have as columns.

    ReaderError where no line can be read: an unknown column.
    """
    path, columns = Path(request.path), (request.chosen or {}).get("columns", ())
    is_csv = path.suffix.lower() == ".csv"
    result, ids = ReadResult(checksum_of([path], None, {})), Ids(path)
    with (
        Rejections(request.shown, request.by_command) as rejections,
        Rows.written(Path(request.rows)) as rows,
    ):
        for done, line in enumerate(_of_csv(path, columns) if is_csv else each_record(path)):
            record = line.fields if isinstance(line, Record) else line
            if done % ROWS == 0:
                progress(done)
            try:
                if isinstance(record, ReaderError):
                    raise record
                answer = _answer(record, is_csv)
                ids.add(answer.example, answer.line)
                rows.write(answer)
            except ReaderError as error:
                rejections.add(Rejection(error, {}))
        result.number, result.rejected = rows.number, rejections.number
        result.problems, result.cause = rejections.first, rejections.cause
    return result


def _of_csv(path: Path, columns: Sequence[str]) -> Iterator[Fields | ReaderError]:
    def check(line: int, names: Sequence[str]) -> None:
        if "example" not in names:
            what = phrase("the first line lacks {names}: {line}", names="example", line=", ".join(names)[:80])
            fix = phrase("It names the columns: {names}", names=", ".join([*FIELDS, *columns]))
            raise ReaderError(path, line, what, fix)
        _require_known(path, line, names, [*FIELDS, *columns])

    form = text_form(path, columns=FIELDS[:1])
    lines = read_delimited(path, form.separator, form.encoding, blank=True)
    for record in named_rows(path, lines, check):
        yield record.error if isinstance(record, Rejection) else record


def _require_known(path: Path, line: int, names: Sequence[str], known_names: Sequence[str]) -> None:
    """ReaderError for a field of another name. A column without one, such as the index that pandas writes, is left out."""
    if unknown := [name for name in names if name and name not in known_names]:
        fix = phrase("The fields are {names}", names=", ".join(known_names))
        raise ReaderError(path, line, phrase("there is no field {unknown}", unknown=unknown[0]), fix)


def _answer(record: Fields, is_csv: bool) -> GoldAnswer:
    location, cells = record.place, {}
    response: dict[str, Any] = {}
    if not is_csv:
        _require_known(location.file, location.line, list(record.value), FIELDS)
        response = plain(record.nested("response").value)
    else:
        if text := record.value.get("response"):
            inside = location.inside("response")
            response = plain(Fields(inside, decode_json(inside, text, _CORRECT)).value)
        cells = {name: text for name, text in record.value.items() if name and name not in FIELDS}
        if twice := next((name for name, text in cells.items() if text and name in response), None):
            what = phrase("{field} is both a column and in the response", field=twice)
            raise location.error(what, phrase("Remove one of them"))
    answer = GoldAnswer(
        location.line, record.text("example"), response, cells, record.text("why", default="")
    )
    if reason := unstorable_part(list(answer)):
        raise location.error(phrase("the line contains {reason}", reason=reason), _CORRECT)
    return answer
