"""Responses of doccano's JSON Lines: a file for each annotator, `NAME.jsonl`, in a folder or a zip file.

In the file of a person a line is an example with the labels that this person gave it. `label`, or `cats` of intents, holds
classes or texts; `label`, `entities` and `relations` hold marked spans. Whether a text is a class is in `project_type` of
the project, a JSON file of doccano's API in the same folder. A single file of a project whose members share annotations has
one response per example; its name, `all`, is the person's.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import read_records
from tableqa.readers.responses.folder import files, open_export, read_object
from tableqa.readers.responses.tool_export import (
    GivenResponse,
    Nature,
    Task,
    Tool,
    reject_errors,
    single_or_several,
    spans,
)

LOSSES = {
    "empty": gettext_noop("examples without a label"),
    "assumed": gettext_noop("types of labels (read as classes: add the project as JSON, /v1/projects/ID)"),
    "comment": gettext_noop("comments"),
}
_LABELS = ("label", "labels", "cats", "entities", "relations", "bbox", "segmentation")
_OF_CLASSES = ("DocumentClassification", "ImageClassification", "IntentDetectionAndSlotFilling")
_MEND = "Export the project as JSONL, and name the zip file or the folder"


def tasks(path: Path) -> Iterator[Task]:
    """The examples of all files, in the order of their first lines; ReaderError."""
    by_id: dict[str, Task] = {}
    with open_export(path) as folder:
        project = _project_type(folder)
        for file in files(folder, "*.jsonl", _MEND):
            for record in read_records(file):
                line = record.fields
                id = line.name("id")
                if id not in by_id:
                    about = ("label", *_lists(line), "Comments")
                    visible_fields = {name: value for name, value in line.value.items() if name not in about}
                    by_id[id] = Task(id=id, data=Fields(line.place, {**visible_fields, "id": id}))
                with reject_errors(by_id[id].rejected, line, id, person=file.stem):
                    if (response := _response(line, file.stem, project, by_id[id].losses)) is not None:
                        by_id[id].responses.append(response)
    yield from by_id.values()


def _project_type(folder: Path) -> str:
    """The type that a JSON file of the folder has for the project; "" where none has one. ReaderError."""
    projects = [read_object(file, _MEND) for file in sorted(folder.rglob("*.json"))]
    return next((project.text("project_type") for project in projects if "project_type" in project), "")


def _labels(line: Fields) -> dict[str, list[Any]]:
    return {name: line.optional_list(name) for name in ("label", *_lists(line))}


def _lists(line: Fields) -> list[str]:
    """The fields with lists of labels. Metadata can have the other names, too."""
    return [name for name in _LABELS if isinstance(line.value.get(name), list)]


def _response(line: Fields, person: str, project: str, losses: list[str]) -> GivenResponse | None:
    losses += ["comment" for _ in line.optional_list("Comments")]
    values: dict[str, Any] = {}
    natures: dict[str, Nature] = {}
    labels_by_field = _labels(line)
    for name, labels in labels_by_field.items():
        texts = [label for label in labels if isinstance(label, str)]
        marks = [label for label in labels if not isinstance(label, str)]
        if texts:
            is_text = project not in ("", *_OF_CLASSES)
            values[name], natures[name] = ("\n".join(texts), "text") if is_text else single_or_several(texts)
            losses += [] if project else ["assumed"]
        if marks and (marked := spans(marks, name, losses)):
            values[f"{name} (spans)"], natures[f"{name} (spans)"] = marked, "text"
    if not values:
        losses += [] if any(labels_by_field.values()) else ["empty"]
        return None
    return GivenResponse(line.place, person, line.name("id"), None, values, natures)


TOOL = Tool("doccano", "doccano", tasks, LOSSES, export=_MEND)
