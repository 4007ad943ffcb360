"""The export of another tool, checked as far as the file alone tells: its tasks as rows on disk, and their examples.

    result = read_responses(ReadRequest("label_studio", "export.json", "rows.jsonl", chosen={"makes_examples": True}))

`fields` of the request are names of fields by the parts of an example. The rows of the examples are in `examples_of`.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tableqa.core.canonical_json import file_digest
from tableqa.core.foreign_values import NAMES, in_column, normal, printable, printable_in, unstorable_part
from tableqa.core.translation import joined, phrase
from tableqa.data.examples import Example
from tableqa.data.typed_json import to_json
from tableqa.readers.ingestion import ReadRequest, ReadResult, Rows, add_outcomes, unpacking
from tableqa.readers.interface import Credit, Names, ReaderError, Rejection, start_of
from tableqa.readers.mapped_records import field_of, mapped_example
from tableqa.readers.record_forms import gold_in, lists_of_gold
from tableqa.readers.rejections import Rejections
from tableqa.readers.report import collect_notes, in_record, note
from tableqa.readers.responses import TOOLS
from tableqa.readers.responses.tool_export import CheckedTask, GivenResponse, Task, location

OPTIONS = ("choice", "multi_choice", "rank")
"""Natures of fields whose values are options: an accent has one spelling there."""
_SHARED = ("all", "unknown", "anonymous")
"""Names that tools write where people share annotations, such as doccano's `all.jsonl`, or without a name."""
_CORRECT = phrase("Correct it")


def examples_of(rows: str | Path) -> Path:
    """The file of the examples' rows, by that of the tasks."""
    return Path(f"{rows}.examples")


def read_responses(request: ReadRequest, progress: Callable[[int], None] = lambda done: None) -> ReadResult:
    """Read and check all tasks. The checksum is that of the export, `number` that of its tasks. ReaderError."""
    path = Path(request.path)
    with (
        unpacking(request),
        Rejections(request.shown, request.by_command) as rejections,
        Rows.written(Path(request.rows)) as rows,
        Rows.written(examples_of(request.rows)) as examples,
        collect_notes() as notes,
    ):
        outcomes = _outcomes(request, rows)
        numbered = list(add_outcomes(examples, rejections, outcomes, path, progress))
        if request.rest:
            rejections.write(Path(request.rest))
        return ReadResult(
            _digest(path),
            credit=Credit("NOASSERTION", "", ""),
            number=rows.number,
            numbered=numbered,
            rejected=rejections.number,
            problems=[replace(problem, file=Path(problem.file).name) for problem in rejections.first],
            report=notes.report(rows.number),
        )


def _outcomes(request: ReadRequest, rows: Rows) -> Iterator[Example | Rejection]:
    """The examples of all tasks and what is wrong, while the tasks are written as rows."""
    tool, path = TOOLS[request.reader], Path(request.path)
    if path.is_file() and not path.suffix.lower() == ".zip" and start_of(path).lstrip()[:1] not in b"{[\xef":
        raise ReaderError(path, 1, phrase("this is not a JSON file"), tool.export)
    own = request.fields
    lists = lists_of_gold(
        lambda: (task.data for task in tool.tasks(path)),
        lambda data, part: in_column(data.value, field_of(data, part, own)),
    )
    read_gold = partial(gold_in, separator="\0", lists=lists)  # no text holds it: a text is one answer
    names, makes_examples = Names(), bool(request.chosen and request.chosen.get("makes_examples"))
    for position, task in enumerate(tool.tasks(path), 1):
        rejected = [*task.rejected]
        task, example = _storable(task, rejected), None
        if makes_examples:
            try:
                example = mapped_example(task.data, own, names, position, task.beside, read_gold)
            except ReaderError as error:
                rejected.append(Rejection(error, {"task": task.id, **task.data.value}))
                # Nobody can have responded to what is no example.
                task = replace(task, responses=[])
        checked = replace(task, example=example.id if example else "")
        rows.write(to_json(checked, CheckedTask))
        in_record(task.data.place.line, task.id)
        yield from rejected
        if example is not None:
            yield example


def record_of(task: str, response: GivenResponse) -> dict[str, Any]:
    """A response in a file of rejected records."""
    at = response.at.isoformat() if response.at else None
    about = {"task": task, "response": response.id, "annotator": response.person, "made_at": at}
    return {**about, "values": response.values}


def _storable(task: Task, rejected: list[Rejection]) -> Task:
    """The task with names and options in normal form, and without responses that cannot be stored: these are rejected.

    A question without a choice is not answered; a response that answers none is none. Both are counted.
    """
    responses = []
    for response in task.responses:
        if response.person.casefold() in _SHARED:
            note("shared", response.person)
        values = {
            name: normal(value) if response.natures.get(name) in OPTIONS else value
            for name, value in response.values.items()
            if value != [] or response.natures.get(name) not in OPTIONS
        }
        task.losses.extend(["unanswered"] * (len(response.values) - len(values)))
        if response.values and not values:
            continue
        if reason := unstorable_part([response.id, values]) or unstorable_part(response.person, NAMES):
            what = phrase("the response contains {reason}", reason=reason)
            excerpt = printable("; ".join(f"{name}: {value}" for name, value in values.items()))[:80]
            where = location(task.id, response.id, response.person)
            error = response.place.error(joined([where, what, excerpt], by=": "), _CORRECT)
            rejected.append(Rejection(error, record_of(task.id, response)))
            continue
        person = normal(printable(response.person))
        response_location = replace(response.place, file=Path(response.place.file.name))
        responses.append(
            replace(
                response, place=response_location, person=person, id=printable(response.id), values=values
            )
        )
    about = [task.id, task.task_type, task.terms, task.definition, task.schema]
    about += [entry.model for entry in task.predictions]
    if reason := unstorable_part(about):
        error = task.data.place.error(phrase("the task contains {reason}", reason=reason), _CORRECT)
        rejected.append(Rejection(error, {"task": task.id, **task.data.value}))
        terms, definition = printable_in(task.terms), printable_in(task.definition)
        task = replace(task, task_type="", terms=terms, definition=definition, predictions=(), schema={})
        responses = []
    return replace(
        task, responses=responses, schema={name: normal(entry) for name, entry in task.schema.items()}
    )


def _digest(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the digests of its files with their names."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        lines = [f"{_digest(file)}  {file.relative_to(path).as_posix()}\n" for file in files]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return file_digest(path)
