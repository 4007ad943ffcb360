"""Responses of Prodigy's JSON Lines (`prodigy db-out`): a line is one person's response to one task.

With `options`, the field `accept` holds what was chosen; without, the field `answer` holds accept or reject. A text input
is a field of its own name. Lines with the same `id`, else the same `_task_hash`, are one task.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.language import gettext_noop
from tableqa.readers.records import Fields, Record, read_records
from tableqa.responses.export import GivenResponse, Nature, Task, Tool, time_of

LOSSES = {
    "ignored": gettext_noop("ignored tasks"),
    "rejected": gettext_noop("rejected tasks with options"),
    "region": gettext_noop("marked spans and relations"),
}
_SPANS = ("spans", "relations")
_ABOUT = {"accept", "answer", "options", "tokens", "config", "field_id", *_SPANS}


def tasks(path: Path) -> Iterator[Task]:
    """The tasks of an export, in the order of their first lines; ReaderError."""
    data: dict[str, Fields] = {}
    responses: dict[str, list[GivenResponse]] = {}
    losses: dict[str, list[str]] = {}
    for record in read_records(path):
        line = record.fields
        id = _id(line)
        if id not in data:
            shown = {name: value for name, value in line.value.items() if not _is_about(name, line)}
            data[id] = Fields(line.place, {**shown, "id": id})
            responses[id], losses[id] = [], []
        lost = losses[id]
        lost += ["region" for name in _SPANS if line.value.get(name)]
        if (response := _response(record, lost)) is not None:
            responses[id].append(response)
    for id, fields in data.items():
        yield Task(fields, id, tuple(responses[id]), losses=tuple(losses[id]))


def _id(line: Fields) -> str:
    for name in ("id", "_task_hash", "_input_hash"):
        if name in line:
            return line.name(name)
    raise line.place.error("the task has no id", "Add a field id, or export it with prodigy db-out")


def _is_about(name: str, line: Fields) -> bool:
    """Whether a field is about the response, not shown with the task."""
    return name in _ABOUT or name.startswith("_") or name in _inputs(line)


def _inputs(line: Fields) -> list[str]:
    """The fields of text inputs."""
    named = line.value.get("field_id", "user_input")
    return [named] if isinstance(named, str) and isinstance(line.value.get(named), str) else []


def _response(record: Record, losses: list[str]) -> GivenResponse | None:
    line = record.fields
    answer = line.text("answer", default="accept")
    if answer not in ("accept", "reject", "ignore"):
        raise line.error("answer", f"is {answer!r}", "The answers of Prodigy are accept, reject and ignore")
    if answer == "ignore" or (answer == "reject" and "options" in line):
        losses.append("ignored" if answer == "ignore" else "rejected")
        return None
    values: dict[str, Any] = {}
    natures: dict[str, Nature] = {}
    if "options" in line:
        chosen = line.texts("accept") if "accept" in line else []
        single = len(chosen) == 1
        values["accept"], natures["accept"] = (chosen[0], "choice") if single else (chosen, "multi_choice")
    for name in _inputs(line):
        values[name], natures[name] = line.text(name), "text"
    if not values:
        values["answer"], natures["answer"] = answer, "choice"
    person = next((line.name(name) for name in ("_annotator_id", "_session_id") if name in line), "")
    at = time_of(line, "_timestamp")
    return GivenResponse(line.place, person, str(record.number), at, values, natures)


TOOL = Tool("prodigy", "Prodigy", tasks, LOSSES)
