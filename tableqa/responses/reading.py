"""The export of another tool, checked as far as the file alone tells: its tasks as rows on disk, and their examples.

    result = read_responses(ReadRequest("label_studio", "export.json", "rows.jsonl", chosen={"makes_examples": True}))

`fields` of the request are names of fields by the parts of an example. The rows of the examples are in `examples_of`.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tableqa.canonical import file_digest
from tableqa.examples import Example
from tableqa.foreign_values import NAMES, normal, printable, printable_in, unstorable_part
from tableqa.language import phrase
from tableqa.readers.ingestion import ReadRequest, ReadResult, Rows, add_outcomes, unpacking
from tableqa.readers.mapped import mapped_example
from tableqa.readers.reader import Credit, Names, ReaderError, Rejected
from tableqa.readers.records import Place
from tableqa.readers.rejections import Rejections
from tableqa.responses import TOOLS
from tableqa.responses.export import GivenPrediction, GivenResponse, Task

OPTIONS = ("choice", "multi_choice", "rank")
"""Natures of fields whose values are options: an accent has one spelling there."""
_CORRECT = phrase("Correct it")
_AS_THEY_ARE = ("id", "task_type", "losses", "terms", "definition", "predictions_count")


@dataclass(frozen=True)
class CheckedTask:
    """A task (`tableqa.responses.Task`) without its data. `example` is the id of its example; "" where none is made."""

    id: str
    responses: tuple[GivenResponse, ...]
    example: str
    task_type: str
    losses: tuple[str, ...]
    terms: Mapping[str, Any]
    predictions: tuple[GivenPrediction, ...]
    predictions_count: int
    definition: Mapping[str, Any]
    credit: Credit | None

    @staticmethod
    def row_of(task: Task, example: str) -> dict[str, Any]:
        """The task as JSON."""
        responses = [
            {
                **vars(given),
                "at": _text(given.at),
                "place": [given.place.file.name, given.place.line, given.place.within],
            }
            for given in task.responses
        ]
        return {
            **{name: getattr(task, name) for name in _AS_THEY_ARE},
            "example": example,
            "responses": responses,
            "predictions": [{**vars(given), "at": _text(given.at)} for given in task.predictions],
            "credit": asdict(task.credit) if task.credit else None,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "CheckedTask":
        """Read what `row_of` gave."""
        responses = []
        for given in row["responses"]:
            file, line, within = given["place"]
            place = Place(Path(file), line, within)
            responses.append(GivenResponse(**{**given, "at": _time(given["at"]), "place": place}))
        predictions = (GivenPrediction(**{**given, "at": _time(given["at"])}) for given in row["predictions"])
        return cls(
            **{
                **row,
                "responses": tuple(responses),
                "predictions": tuple(predictions),
                "credit": Credit(**row["credit"]) if row["credit"] else None,
            }
        )


def _text(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def examples_of(rows: str | Path) -> Path:
    """The file of the examples' rows, by that of the tasks."""
    return Path(f"{rows}.examples")


def read_responses(request: ReadRequest, progress: Callable[[int], None] = lambda number: None) -> ReadResult:
    """Read and check all tasks. The checksum is that of the export, `number` that of its tasks. ReaderError."""
    path = Path(request.path)
    with (
        unpacking(request),
        Rejections(request.shown, request.by_command) as rejections,
        Rows.written(Path(request.rows)) as rows,
        Rows.written(examples_of(request.rows)) as examples,
    ):
        outcomes = _outcomes(request, rows)
        numbered = list(add_outcomes(examples, rejections, outcomes, path, progress))
        return ReadResult(
            _digest(path),
            credit=Credit("NOASSERTION", "", ""),
            number=rows.number,
            numbered=numbered,
            rejected=rejections.number,
            problems=[replace(one, file=Path(one.file).name) for one in rejections.first],
        )


def _outcomes(request: ReadRequest, rows: Rows) -> Iterator[Example | Rejected]:
    """The examples of all tasks and what is wrong, while the tasks are written as rows."""
    names, makes_examples = Names(), bool(request.chosen and request.chosen.get("makes_examples"))
    for number, task in enumerate(TOOLS[request.reader].tasks(Path(request.path)), 1):
        problems: list[ReaderError] = []
        task, example = _storable(task, problems), None
        if makes_examples:
            try:
                example = mapped_example(task.data, request.fields, names, number, task.beside)
            except ReaderError as error:
                problems.append(error)
        rows.write(CheckedTask.row_of(task, example.id if example else ""))
        yield from (Rejected(error, {}) for error in problems)
        if example is not None:
            yield example


def _storable(task: Task, problems: list[ReaderError]) -> Task:
    """The task with names and options in normal form. What cannot be stored is noted as a problem, and escaped."""
    responses = []
    for given in task.responses:
        values = {
            name: normal(value) if given.natures.get(name) in OPTIONS else value
            for name, value in given.values.items()
        }
        if reason := unstorable_part([given.id, values]) or unstorable_part(given.person, NAMES):
            problems.append(
                given.place.error(phrase("the response contains {reason}", reason=reason), _CORRECT)
            )
            values = printable_in(values)
        person = normal(printable(given.person))
        responses.append(replace(given, person=person, id=printable(given.id), values=values))
    about = [task.id, task.task_type, task.terms, task.definition, *(one.model for one in task.predictions)]
    if reason := unstorable_part(about):
        problems.append(task.data.place.error(phrase("the task contains {reason}", reason=reason), _CORRECT))
        terms, definition = printable_in(task.terms), printable_in(task.definition)
        task = replace(task, task_type="", terms=terms, definition=definition, predictions=())
    return replace(task, responses=tuple(responses))


def _digest(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the digests of its files with their names."""
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        lines = [f"{_digest(one)}  {one.relative_to(path).as_posix()}\n" for one in files]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return file_digest(path)
