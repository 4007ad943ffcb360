"""Responses of Potato's output folder: a folder for each annotator with their `user_state.json`.

A schema is a field. Its answers are pairs of a label and a value: the labels that are on for choices, the value for texts
and numbers. The state has no text of the items, so examples come from a source of the project, by id.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.language import gettext_noop
from tableqa.readers.records import Fields, plain, text_of
from tableqa.responses.export import OWN_LOSSES, GivenResponse, Nature, Task, Tool, seconds_of, time_of
from tableqa.responses.folder import files, opened, read_object

LOSSES = {"region": gettext_noop("marked spans and relations"), "seconds": OWN_LOSSES["seconds"]}
_MEND = "Name the output folder of Potato (output_annotation_dir), or a zip file of it"
_TEXT = ("text_box", "free_response")
"""Labels of an input whose value is the text."""


def tasks(path: Path) -> Iterator[Task]:
    """The items that somebody answered; ReaderError."""
    by_id: dict[str, Task] = {}
    with opened(path) as folder:
        for file in files(folder, "user_state.json", _MEND):
            state = read_object(file, _MEND, file.parent.name)
            person = state.name("user_id")
            spans = Fields(state.place, state.optional("instance_id_to_span_to_value"))
            for id, answers in state.nested("instance_id_to_label_to_value").value.items():
                place = state.place.inside(f"item {id}")
                task = by_id.setdefault(id, Task(id=id, data=Fields(place, {"id": id})))
                task.losses.extend("region" for _ in spans.optional_list(id))
                at, seconds = _times(state, id, task.losses)
                response = _response(Fields(place, {"answers": answers}), person, at, seconds)
                if response is not None:
                    task.responses.append(response)
    yield from by_id.values()


def _response(answers: Fields, person: str, at: Any, seconds: float) -> GivenResponse | None:
    chosen: dict[str, list[tuple[str, str]]] = {}
    for pair in answers.listed("answers"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise answers.error("answers", "is not a list of pairs of label and value", _MEND)
        label = Fields(answers.place, pair[0])
        value = plain(pair[1])
        if value in (None, False, "", "false"):
            continue
        value = "true" if value is True else text_of(pair[1])
        if value is None:
            raise answers.error("answers", "has a value that is no text, number or truth value", _MEND)
        chosen.setdefault(label.text("schema"), []).append((label.text("name"), value))
    if not chosen:
        return None
    values, natures = {}, {}
    for schema, pairs in chosen.items():
        values[schema], natures[schema] = _value(pairs)
    return GivenResponse(answers.place, person, "", at, values, natures, seconds)


def _value(pairs: list[tuple[str, str]]) -> tuple[Any, Nature]:
    if len(pairs) > 1:
        return [name for name, _ in pairs], "multi_choice"
    ((name, value),) = pairs
    if name in _TEXT:
        return value, "text"
    if name == value and re.fullmatch("-?[0-9]{1,15}", value):
        return int(value), "scale"
    return name, "choice"


def _times(state: Fields, id: str, losses: list[str]) -> tuple[Any, float]:
    """The end of the last session on an item, and the seconds on it; None and 0 where the state has none."""
    data = state.optional("instance_id_to_behavioral_data").get(id)
    if not isinstance(data, dict):
        return None, 0.0
    fields = Fields(state.place.inside(f"item {id}"), data)
    ends = (time_of(fields, name) for name in ("session_end", "session_start") if fields.value.get(name))
    return next(ends, None), seconds_of(fields, "total_time_ms", losses, 0.001)


TOOL = Tool("potato", "Potato", tasks, LOSSES, has_examples=False)
