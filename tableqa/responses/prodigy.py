"""Responses of Prodigy's JSON Lines (`prodigy db-out`): a line is one person's response to one task.

With `options`, the field `accept` holds what was chosen; without, the field `answer` holds accept or reject. A text input
is a field of its own name. Lines with the same `id`, else the same `_task_hash`, are one task.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.language import gettext_noop
from tableqa.readers.records import Fields, Record, read_records
from tableqa.responses.export import GivenResponse, Nature, Task, Tool, single_or_several, time_of

LOSSES = {
    "ignored": gettext_noop("ignored tasks"),
    "rejected": gettext_noop("rejected tasks with options"),
    "region": gettext_noop("marked spans and relations"),
}
_SPANS = ("spans", "relations")
_ABOUT = {"accept", "answer", "options", "tokens", "config", "field_id", *_SPANS}


def tasks(path: Path) -> Iterator[Task]:
    """The tasks of an export, in the order of their first lines; ReaderError."""
    by_id: dict[str, Task] = {}
    for record in read_records(path):
        line = record.fields
        id = _id(line)
        if id not in by_id:
            shown = {name: value for name, value in line.value.items() if not _is_about(name, line)}
            by_id[id] = Task(id=id, data=Fields(line.place, {**shown, "id": id}))
        task = by_id[id]
        task.losses.extend("region" for name in _SPANS if line.value.get(name))
        if (response := _response(record, task.losses)) is not None:
            task.responses.append(response)
    yield from by_id.values()


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
        values["accept"], natures["accept"] = single_or_several(chosen)
    for name in _inputs(line):
        values[name], natures[name] = line.text(name), "text"
    if not values:
        values["answer"], natures["answer"] = answer, "choice"
    person = next((line.name(name) for name in ("_annotator_id", "_session_id") if name in line), "")
    at = time_of(line, "_timestamp")
    return GivenResponse(line.place, person, str(record.number), at, values, natures)


TOOL = Tool("prodigy", "Prodigy", tasks, LOSSES)
