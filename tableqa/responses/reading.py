"""The export of another tool, checked as far as the file alone tells: its tasks as rows on disk, and their examples.

    result = read_responses(ReadRequest("label_studio", "export.json", "rows.jsonl", chosen={"makes_examples": True}))

`fields` of the request are names of fields by the parts of an example. The rows of the examples are in `examples_of`.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tableqa.canonical import file_digest
from tableqa.dataclass_json import to_json
from tableqa.examples import Example
from tableqa.foreign_values import NAMES, normal, printable, printable_in, unstorable_part
from tableqa.language import phrase
from tableqa.readers.ingestion import ReadRequest, ReadResult, Rows, add_outcomes, unpacking
from tableqa.readers.mapped import mapped_example
from tableqa.readers.reader import Credit, Names, ReaderError, Rejected
from tableqa.readers.rejections import Rejections
from tableqa.readers.report import in_record, note, noting
from tableqa.responses import TOOLS
from tableqa.responses.export import CheckedTask, Task

OPTIONS = ("choice", "multi_choice", "rank")
"""Natures of fields whose values are options: an accent has one spelling there."""
_SHARED = ("all", "unknown", "anonymous")
"""Names that tools write where people share annotations, such as doccano's `all.jsonl`, or where nobody is named."""
_CORRECT = phrase("Correct it")


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
        noting() as notes,
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
            report=notes.report(rows.number),
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
        checked = replace(task, example=example.id if example else "")
        rows.write(to_json(checked, CheckedTask))
        in_record(task.data.place.line, task.id)
        yield from (Rejected(error, {}) for error in problems)
        if example is not None:
            yield example


def _storable(task: Task, problems: list[ReaderError]) -> Task:
    """The task with names and options in normal form. What cannot be stored is noted as a problem, and escaped."""
    responses = []
    for given in task.responses:
        if given.person.casefold() in _SHARED:
            note("shared", given.person)
        values = {
            name: normal(value) if given.natures.get(name) in OPTIONS else value
            for name, value in given.values.items()
        }
        if reason := unstorable_part([given.id, values]) or unstorable_part(given.person, NAMES):
            problems.append(
                given.place.error(phrase("the response contains {reason}", reason=reason), _CORRECT)
            )
            values = printable_in(values)
        person, place = (
            normal(printable(given.person)),
            replace(given.place, file=Path(given.place.file.name)),
        )
        responses.append(replace(given, place=place, person=person, id=printable(given.id), values=values))
    about = [task.id, task.task_type, task.terms, task.definition, *(one.model for one in task.predictions)]
    if reason := unstorable_part(about):
        problems.append(task.data.place.error(phrase("the task contains {reason}", reason=reason), _CORRECT))
        terms, definition = printable_in(task.terms), printable_in(task.definition)
        task = replace(task, task_type="", terms=terms, definition=definition, predictions=())
    return replace(task, responses=responses, schema={name: normal(one) for name, one in task.schema.items()})


def _digest(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the digests of its files with their names."""
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        lines = [f"{_digest(one)}  {one.relative_to(path).as_posix()}\n" for one in files]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return file_digest(path)
