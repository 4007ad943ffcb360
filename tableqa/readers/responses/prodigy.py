"""Responses of Prodigy's JSON Lines (`prodigy db-out`): a line is one person's response to one task.

With `options`, the field `accept` holds what was chosen; without, the field `answer` holds accept or reject. A text input
is its own field name; marked spans and relations are texts of JSON. Lines with the same `id`, else `_task_hash`,
are one task: a field that differs between them is of the response, but no interface says what it holds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop
from tableqa.readers.json_values import plain, text_of
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import Record, read_records
from tableqa.readers.responses import tool_export
from tableqa.readers.responses.tool_export import GivenResponse, Nature, Task, Tool

LOSSES = {
    "ignored": gettext_noop("ignored tasks"),
    "rejected": gettext_noop("rejected tasks with options or texts"),
    "empty": gettext_noop("accepted tasks without an option, a text or an answer"),
}
_SPANS = ("spans", "relations", "audio_spans")
_ABOUT = {"accept", "answer", "options", "tokens", "config", "flagged", *_SPANS}


def tasks(path: Path) -> Iterator[Task]:
    """The tasks of an export, in the order of their first lines; ReaderError."""
    by_id: dict[str, Task] = {}
    for record in read_records(path):
        line = record.fields
        id = _id(line)
        visible_fields = {name: value for name, value in line.value.items() if not _is_about(name, line)}
        task = by_id.setdefault(id, Task(id=id, data=Fields(line.place, {**visible_fields, "id": id})))
        task.losses.extend(
            tool_export.loss_of_field(name)
            for name in visible_fields
            if visible_fields[name] != task.data.value.get(name)
        )
        task.losses.extend(map(tool_export.loss_of_field, _unread(line)))
        with tool_export.reject_errors(task.rejected, line, id, person=_person(line)):
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
    return name in (*_ABOUT, *_inputs(line), *_unread(line)) or name.startswith(("_", "field_"))


def _unread(line: Fields) -> list[str]:
    """The fields with answers that are not read: a flag, those inside pages, and those that a review compared."""
    inside = {"pages": "pages", "review": "versions"}.get(str(line.value.get("_view_id")), "")
    return [name for name in ("flagged", inside) if line.value.get(name)]


def _inputs(line: Fields) -> list[str]:
    """The fields of text inputs."""
    named = line.value.get("field_id", "user_input")
    return [named] if isinstance(named, str) and text_of(line.value.get(named)) is not None else []


def _response(record: Record, losses: list[str]) -> GivenResponse | None:
    line = record.fields
    answer = line.text("answer", default="accept" if "accept" in line else "")
    if answer not in ("", "accept", "reject", "ignore"):
        raise line.error("answer", f"is {answer!r}", "The answers of Prodigy are accept, reject and ignore")
    has_field = "options" in line or bool(_inputs(line))
    if answer == "ignore" or (answer == "reject" and has_field):
        losses.append("ignored" if answer == "ignore" else "rejected")
        return None
    values: dict[str, Any] = {}
    natures: dict[str, Nature] = {}
    if chosen := line.texts("accept") if "accept" in line else []:
        style = line.optional("config").get("choice_style")
        values["accept"], natures["accept"] = tool_export.single_or_several(chosen, style == "multiple")
    for name in (field_name for field_name in _inputs(line) if line.value[field_name] != ""):
        values[name] = plain(line.value[name])
        natures[name] = "text" if isinstance(values[name], str) else "number"
    for name in _SPANS:
        if (marked_spans := line.optional_list(name)) and (
            marked := tool_export.spans(marked_spans, name, losses)
        ):
            values[name], natures[name] = marked, "text"
    if answer and not has_field:
        values["answer"], natures["answer"] = answer, "choice"
    if not values:
        losses.append("empty")
        return None
    at = tool_export.time_of(line, "_timestamp")
    return GivenResponse(line.place, _person(line), str(record.number), at, values, natures)


def _person(line: Fields) -> str:
    return next((line.name(name) for name in ("_annotator_id", "_session_id") if name in line), "")


TOOL = Tool("prodigy", "Prodigy", tasks, LOSSES, export="Export the dataset with prodigy db-out")
