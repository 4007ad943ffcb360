"""Responses of an Argilla dataset: what `Dataset.to_disk` or `records.to_json` of its SDK (2.x) writes.

A question is a field, a user id a person. The settings of the dataset tell the type and options of each question. Fields and
metadata of a record are the data of the example. The files have no times, and do not tell drafts from submitted responses.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop
from tableqa.readers.interface import Rejection
from tableqa.readers.json_values import plain
from tableqa.readers.record_fields import Fields, decode_json
from tableqa.readers.records import read_records
from tableqa.readers.responses import tool_export
from tableqa.readers.responses.folder import files, open_export, read_object
from tableqa.readers.responses.tool_export import GivenResponse, Nature, Task, Tool

LOSSES = {
    **tool_export.OWN_LOSSES,
    "assumed": gettext_noop("types of values (guessed: add .argilla/settings.json)"),
    "suggestion": gettext_noop("suggestions"),
    "vector": gettext_noop("vectors"),
}
_NATURES: dict[str, Nature] = {
    "label_selection": "choice",
    "multi_label_selection": "multi_choice",
    "rating": "scale",
    "ranking": "rank",
    "text": "text",
    "span": "text",
}
"""By type of a question in the settings."""
_ABOUT = ("definition", "credit")
"""Metadata that Askew writes about batch and source, not about the example."""
_MEND = "Name the folder that Dataset.to_disk wrote, a zip file of it, or its records.json"


def tasks(path: Path) -> Iterator[Task]:
    """The records of a dataset; ReaderError."""
    with open_export(path) as folder:
        for file in files(folder, "records.json", _MEND):
            questions = _questions(file.parent / ".argilla" / "settings.json")
            types = {name: settings.text("type") for name, settings in questions.items()}
            schema = {name: facts for name, settings in questions.items() if (facts := _facts(settings))}
            for record in read_records(file):
                task = _task(record.fields, str(record.number), types)
                yield replace(task, schema=schema) if record.number == 1 else task


def _questions(path: Path) -> Mapping[str, Fields]:
    """The settings of each question, by name; empty without settings."""
    if not path.is_file():
        return {}
    questions = read_object(path, _MEND).nested_each("questions")
    return {question.text("name"): question.nested("settings") for question in questions}


def _facts(settings: Fields) -> dict[str, Any]:
    """Options or ends of a question, as a definition has them."""
    type, options = settings.text("type"), settings.optional_list("options")
    values = [plain(Fields(settings.place, option).required("value")) for option in options]
    if type == "rating" and values and all(isinstance(value, int) for value in values):
        return {"min": min(values), "max": max(values)}
    return {"options": [str(value) for value in values]} if type.endswith("label_selection") else {}


def _task(record: Fields, position: str, types: Mapping[str, str]) -> Task:
    id = record.name("id") if "id" in record else position
    metadata = record.optional("metadata")
    visible_metadata = {
        name: value for name, value in metadata.items() if name not in _ABOUT or not isinstance(value, dict)
    }
    fields = {**record.nested("fields").value, "id": id}
    data = Fields(record.place, {**visible_metadata, **fields})
    changed = [
        name
        for name in visible_metadata
        if visible_metadata[name] != fields.get(name, visible_metadata[name])
    ]
    losses = [tool_export.loss_of_field(f"{name} (metadata)") for name in changed]
    losses += ["suggestion" for _ in record.optional("suggestions")]
    losses += ["vector" for _ in record.optional("vectors")]
    own: dict[str, GivenResponse] = {}
    rejected: list[Rejection] = []
    values: dict[str, dict[str, Any]] = {}
    natures: dict[str, Nature] = {}
    questions = record.nested("responses") if "responses" in record else Fields(record.place, {})
    for question in questions.value:
        for answer in questions.nested_each(question):
            with tool_export.reject_errors(rejected, answer, id, person=str(answer.value.get("user_id", ""))):
                person, value = answer.name("user_id"), plain(answer.required("value"))
                type = types.get(question, "")
                nature = _nature(type, value)
                if isinstance(value, list) and (type == "span" or any(map(tool_export.is_span, value))):
                    nature, value = "text", tool_export.spans(value, question, losses)
                    if not value:
                        continue
                if nature is None:
                    losses.append(tool_export.loss_of_field(f"{question} ({type or '?'})"))
                    continue
                if question == tool_export.OWN:
                    stored = Fields(answer.place, decode_json(answer.place, answer.text("value")))
                    own[person] = tool_export.own_response(record.place.inside("responses"), stored, losses)
                    continue
                losses += [] if question in types else ["assumed"]
                losses += [tool_export.loss_of_field(question)] if question in values.get(person, {}) else []
                natures[question] = nature
                values.setdefault(person, {})[question] = value
    for entry in rejected:  # a part of a response is none
        values.pop(str(entry.record and entry.record.get("user_id")), None)
    for person, response in own.items():
        losses += tool_export.own_changes(values.get(person, {}), response)
    location = record.place.inside("responses")
    responses = [
        own.get(person) or GivenResponse(location, person, "", None, entry, natures)
        for person, entry in values.items()
    ]
    batch = tool_export.own_batch(metadata) if own else {}
    return Task(data=data, id=id, responses=responses, losses=losses, rejected=rejected, **batch)


def _nature(type: str, value: Any) -> Nature | None:
    if type:
        return _NATURES.get(type)
    if isinstance(value, list):
        return "multi_choice" if all(isinstance(member, str) for member in value) else None
    return "scale" if isinstance(value, int) else "number" if isinstance(value, float) else "choice"


TOOL = Tool("argilla", "Argilla", tasks, LOSSES, export=_MEND)
