"""What an export of an annotation tool holds: tasks, and for each the responses of people."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from tableqa.core.canonical_json import canonical
from tableqa.core.foreign_values import LONGEST_SECONDS, TIMES
from tableqa.core.translation import gettext, gettext_noop, joined, phrase
from tableqa.readers.interface import Credit, ReaderError, Rejection, stated_credit
from tableqa.readers.json_values import plain
from tableqa.readers.record_fields import Fields, Location

OWN = "askew"
"""The control or question that holds a whole response in exports of Askew for other tools."""
_LIKE_A_TIME = re.compile(r"\s*[+-]?[0-9]{4,6}-[0-9]{1,2}-[0-9]{1,2}[0-9TtZz:.,+\- ]*\Z")
LONGEST_SPANS = 10_000
"""Characters of a text of a new task type."""
Nature = Literal["choice", "multi_choice", "scale", "number", "rank", "date", "text"]
"""What a field holds: a text of a list, a list of such texts, a step of a scale, any number, all texts in an order, a day or
a free text."""


@dataclass(frozen=True)
class GivenResponse:
    """What one person entered for one task.

    place    where it is in the file
    person   as the tool names the person
    id       of the response in the tool; "" where it has none
    at       time of the response, with a time zone; None where the export has none
    values   by field: a text, a number or a list of texts
    natures  by field: what the tool says that the field holds
    seconds  of active time; 0 where the export has none
    is_simulated  the person is a program, as exports of Askew say
    """

    place: Location
    person: str
    id: str
    at: datetime | None
    values: Mapping[str, Any]
    natures: Mapping[str, Nature]
    seconds: float = 0.0
    is_simulated: bool = False


@dataclass(frozen=True)
class GivenPrediction:
    """What a model predicted for one task.

    model   name and version, as the tool has them; "" where it has none
    score   how sure the model is, 0 where the tool does not say
    at      time of the prediction, with a time zone; None where the export has none
    values  as those of a response
    """

    model: str
    score: float
    at: datetime | None
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class CheckedTask:
    """One task of an export, without its data.

    task_type  of Askew, where the file comes from Askew's own export
    terms      variant and settings of its batch, likewise
    definition of the task type, likewise, where it is one of a project
    credit     licence, citation and URL of the source of its example, likewise
    predictions  of models, as far as they are read
    predictions_count  the number of predictions that the export has whole, read or not
    losses     what of the task is not read, one for each time: keys of `Tool.losses`, or `loss_of_field` for one field
    schema     by field: what the settings of the tool say, as `type`, `options`, `min` and `max` of a definition. It is with
               the first task only
    example    id of the example that is made of it; "" where none is
    """

    id: str
    responses: list[GivenResponse] = field(default_factory=list)
    task_type: str = ""
    losses: list[str] = field(default_factory=list)
    terms: Mapping[str, Any] = field(default_factory=dict)
    predictions: Sequence[GivenPrediction] = ()
    predictions_count: int = 0
    definition: Mapping[str, Any] = field(default_factory=dict)
    credit: Credit | None = None
    example: str = ""
    schema: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Task(CheckedTask):
    """One task of an export.

    data    the record that annotators saw, with its id: what an example is made of
    beside  what the meta of the example keeps beside its data
    rejected  its responses that cannot be read
    """

    data: Fields
    rejected: list[Rejection] = field(default_factory=list)
    beside: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tool:
    """A tool whose exports are read. `tasks` raises ReaderError naming file, record and field.

    has_examples  the export has the questions and tables that annotators saw
    export  how to get the files from the tool
    """

    name: str
    title: str
    tasks: Callable[[Path], Iterator[Task]]
    losses: Mapping[str, str] = field(default_factory=dict)
    has_examples: bool = True
    export: str = ""


@contextmanager
def reject_errors(
    rejected: list[Rejection], response: Fields, task: str, id: object = "", person: str = ""
) -> Iterator[None]:
    """Reject a response that cannot be read, and go on: the error names the task, and the response or its person."""
    try:
        yield
    except ReaderError as error:
        what = joined([location(task, str(id or ""), person), error.what], by=": ")
        located = ReaderError(error.file, error.line, what, error.mend, error.command)
        located.column = error.column
        rejected.append(Rejection(located, {"task": task, **response.value}))


def location(task: str, response: str, person: str) -> str:
    """Where a response is, by the ids of the tool: lines say nothing in a file of one line."""
    if response:
        return phrase("task {task}, response {response}", task=task, response=response)
    return phrase("task {task}, response of {person}", task=task, person=person or "?")


def loss_of_field(name: str) -> str:
    """The loss of a value of one field, which has this name in the tool."""
    return f":{name}"


def loss_in_words(tool: Tool, loss: str) -> str:
    """What is lost, in the reader's language."""
    if loss.startswith(":"):
        return gettext("values of the field {name}").format(name=loss[1:])
    return gettext({**LOSSES, **tool.losses}[loss])


def is_span(value: Any) -> bool:
    """Whether a value is a labelled part of a text, by its ends."""
    has_ends = isinstance(value, Mapping) and "start" in value and "end" in value
    return has_ends and any(name == "label" or name.endswith("labels") for name in value)


def spans(marked_spans: Sequence[Any], name: str, losses: list[str]) -> str:
    """The marked spans of a field as JSON; "" where they are longer than a text can be, which is a loss."""
    text = canonical([plain(span) for span in marked_spans])
    if len(text) <= LONGEST_SPANS:
        return text
    losses += [loss_of_field(f"{name} (spans)")] * len(marked_spans)
    return ""


def single_or_several(values: list[Any], may_be_several: bool = False) -> tuple[Any, Nature]:
    """What people chose among options: the only value as a choice, unless there may be several; else all of them."""
    is_choice = len(values) == 1 and not may_be_several
    return (values[0], "choice") if is_choice else (values, "multi_choice")


def time_of(fields: Fields, name: str) -> datetime | None:
    """A time as ISO 8601 or in seconds since 1970; ReaderError. Without a zone it is UTC.

    None where there is none, or one that no response can have (`foreign_values.TIMES`).
    """
    value = fields.value.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        seconds = fields.number(name)
        is_known = TIMES[0].timestamp() <= seconds < TIMES[1].timestamp()
        return datetime.fromtimestamp(seconds, UTC) if is_known else None
    try:
        at = datetime.fromisoformat(value)
    except ValueError as error:
        if _LIKE_A_TIME.match(value):  # the year 0, the month 13
            return None
        what = phrase("{field} is not a time: {value}", field=name, value=repr(value))
        raise fields.error(name, what, phrase("Write it as 2026-03-02T12:00:00Z")) from error
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return at if TIMES[0] <= at < TIMES[1] else None


def seconds_of(fields: Fields, name: str, losses: list[str], unit: float = 1) -> float:
    """A duration in seconds; 0 where there is none, or one that no response can have: that is a loss. ReaderError."""
    seconds = fields.number(name) * unit if name in fields else 0.0
    if 0 <= seconds <= LONGEST_SECONDS:
        return float(seconds)
    losses.append("seconds")
    return 0.0


def own_batch(meta: object) -> dict[str, Any]:
    """Task type, terms, definition and credit of a `Task` as Askew wrote them for another tool; {} where nothing is there.

    The definition may have faults.
    """
    if not isinstance(meta, Mapping):
        return {}
    types = {"variant": str, "settings": dict}
    terms = {name: plain(meta.get(name)) for name in types}
    definition = meta.get("definition")
    return {
        "task_type": str(meta.get("task_type", "")),
        "terms": {name: value for name, value in terms.items() if value and isinstance(value, types[name])},
        "definition": plain(definition) if isinstance(definition, dict) else {},
        "credit": stated_credit(meta),
    }


OWN_LOSSES = {
    "changed": gettext_noop("changes of exported responses (the response of Askew is imported)"),
    "seconds": gettext_noop("durations that are negative or longer than a week"),
}
"""What exports of Askew lose that were changed in the other tool, as `Tool.losses`."""
LOSSES = {
    "unanswered": gettext_noop("questions without a choice"),
    "repeated": gettext_noop("responses of people who have another one to the same example"),
    "rejected": gettext_noop("responses and examples with a problem"),
}
"""What any export can lose, likewise."""


def own_changes(values: Mapping[str, Any], response: GivenResponse) -> list[str]:
    """The losses of the values of controls or questions that are not those of the response in `OWN`."""
    # An export has a value as it is, or as JSON.
    forms = {name: (_as_text(value), canonical(value)) for name, value in response.values.items()}
    return [
        "changed" for name, value in values.items() if name in forms and _as_text(value) not in forms[name]
    ]


def _as_text(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def own_response(response_location: Location, stored: Fields, losses: list[str]) -> GivenResponse:
    """A response as Askew wrote it for another tool: id, annotator, made_at, active_seconds and data; ReaderError.

    `simulated` is there where the annotator is a program.
    """
    values = {name: plain(value) for name, value in stored.nested("data").value.items()}
    at, seconds = time_of(stored, "made_at"), seconds_of(stored, "active_seconds", losses)
    is_simulated = stored.value.get("simulated") is True
    return GivenResponse(
        response_location, stored.text("annotator"), stored.name("id"), at, values, {}, seconds, is_simulated
    )
