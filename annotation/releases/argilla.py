"""Responses of a release as datasets of Argilla: a folder for each batch that `argilla.Dataset.from_disk` (SDK 2.x) reads.

Each field of the task type is a question; the question `askew` has id, annotator, times and the whole response as JSON.
Users of Argilla have UUIDs: each pseudonym has one that depends on nothing else.
"""

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from annotation.releases.raw_records import Raw
from annotation.releases.task_records import task_of_record
from annotation.releases.tool_exports import RESPONSE, items_of, origin_of, source_of, terms_of, write_array
from tableqa.core.canonical_json import canonical
from tableqa.data.answers import in_words
from tableqa.releases.release_records import decision_of, read_manifest
from tableqa.serialisations import SERIALISATIONS
from tasks.contract import Field, TaskType
from tasks.shared.form_fields import Choice, MultiChoice, Rank, Scale

Record = dict[str, Any]
LOSES: Final = (
    "earlier revisions, earlier versions of guidelines and their translations, slots, marks of unsure responses, further "
    "outcomes of an item, alternative answers as data (they are shown), history and context of questions, proposals, "
    "lineage of edited examples, figures of agreement"
)
PEOPLE: Final = uuid.UUID("6f0d9c5e-35b0-5f5f-9d0b-6a5c8e1d2b47")
"""Namespace of the ids of people."""
_HIGHEST_RATING: Final = 10
_UNSAVED: Final[Record] = {"id": None, "inserted_at": None, "updated_at": None}


def write_argilla(raw: Raw, folder: Path) -> int:
    """For each batch a folder with records, settings and the dataset model. Returns the records."""
    count = 0
    for id, batch in raw.batches.items():
        task, out = task_of_record(batch), folder / id
        (out / ".argilla").mkdir(parents=True)
        distribution = {"strategy": "overlap", "min_submitted": max(1, batch["overlap"])}
        guidelines = _guidelines(raw, id)
        about = {"guidelines": guidelines, "allow_extra_metadata": True, "distribution": distribution}
        model = {"name": batch["name"], "status": "ready", "workspace_id": None, "last_activity_at": None}
        _write(out / ".argilla" / "dataset.json", {**_UNSAVED, **model, **about})
        _write(out / ".argilla" / "settings.json", {**settings(task), **about})
        count += sum(1 for _ in write_array(out / "records.json", records(raw, id)))
    return count


def _guidelines(raw: Raw, batch: str) -> str:
    """The last version that people of a batch worked under; without a response, the last one of other batches of its type,
    else the text that the type comes with.
    """
    record, every = raw.batches[batch], read_manifest(raw.folder)["guidelines"]
    texts: dict[int, str] = {
        entry["number"]: entry["text"] for entry in every if entry["type"] == record["type"]
    }
    applied = {entry["guidelines"]["number"] for entry in raw.annotations if entry["batch"] == batch} or texts
    return texts[max(applied)] if applied else task_of_record(record).guidelines()


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")


def settings(task: TaskType) -> Record:
    """Fields and questions of the dataset of a task type."""
    field_names = ("question", "table", "answer")
    fields = [
        _property(name, {"type": "text", "use_markdown": name == "table"}, name != "answer")
        for name in field_names
    ]
    questions = [_property(field.name, _question(field), False) for field in task.fields]
    questions.append(_property(RESPONSE, {"type": "text", "use_markdown": False}, False))
    questions[0]["required"] = True  # Argilla wants one
    return {"fields": fields, "questions": questions, "vectors": [], "metadata": [], "mapping": None}


def _property(name: str, settings: Record, is_required: bool) -> Record:
    named = {"name": name, "title": name.replace("_", " ").capitalize(), "description": None}
    kind = {"required": is_required, "settings": settings, "type": settings["type"], "dataset_id": None}
    return {**_UNSAVED, **named, **kind}


def _question(field: Field) -> Record:
    if isinstance(field, Scale) and field.lowest >= 0 and field.highest <= _HIGHEST_RATING:
        return {
            "type": "rating",
            "options": [{"value": step} for step in range(field.lowest, field.highest + 1)],
        }
    if isinstance(field, Rank) and field.options:
        return {"type": "ranking", "options": _options(field.options)}
    if isinstance(field, MultiChoice) and field.options:
        options = {"options": _options(field.options), "visible_options": None}
        return {"type": "multi_label_selection", **options, "options_order": "natural"}
    if isinstance(field, Choice) and field.options:
        return {"type": "label_selection", "options": _options(field.options), "visible_options": None}
    return {"type": "text", "use_markdown": False}


def _options(options: Any) -> list[Record]:
    return [{"value": option.value, "text": option.title or option.value} for option in options]


def records(raw: Raw, batch: str) -> Iterator[Record]:
    """The records of a batch: example, current responses, and the accepted response as suggestion.

    An id is that of the example; with the item where several have the same, which would replace each other in Argilla.
    """
    task = task_of_record(raw.batches[batch])
    items = items_of(raw, batch)
    uses = Counter(example_id for _, example_id in items.values())
    html = SERIALISATIONS["html"]
    for item, (source, example_id) in sorted(items.items(), key=lambda entry: (entry[1], entry[0])):
        example = raw.example(source, example_id)
        outcomes = decision_of(raw, item).get("outcomes", ())
        suggested = _values(task, outcomes[0]["response"]["data"]) if outcomes else {}
        responses: dict[str, list[Record]] = {}
        for line in raw.annotations_of(item):
            if line["newest"] and line["response"] is not None:
                data = line["response"]["data"]
                origin = {**origin_of(line), "active_seconds": line["active_seconds"]}
                by = {"user_id": str(uuid.uuid5(PEOPLE, line["annotator"])), "status": "submitted"}
                values = {**_values(task, data), RESPONSE: canonical({**origin, "data": data})}
                for question, value in values.items():
                    responses.setdefault(question, []).append({"value": value, **by})
        yield {
            "id": example_id if uses[example_id] == 1 else f"{example_id} ({item})",
            "fields": {
                "question": example.question,
                "table": html.dumps(example.table),
                "answer": in_words(example.answers) or "-",
            },
            "metadata": {
                "answers": list(example.answers),
                "item": item,
                **source_of(raw, source),
                **terms_of(raw, batch),
            },
            "suggestions": {
                question: {"value": value, "score": None, "agent": "decision"}
                for question, value in suggested.items()
            },
            "responses": responses,
            "vectors": {},
            "status": "completed" if outcomes else "pending",
            "_server_id": None,
        }


def _values(task: TaskType, data: Mapping[str, Any]) -> Record:
    """The answers of a response to the questions; what no question type holds is JSON."""
    values = {}
    for field in task.fields:
        value = data.get(field.name)
        if value not in (None, "", []):
            is_text = _question(field)["type"] == "text" and not isinstance(value, str)
            values[field.name] = canonical(value) if is_text else value
    return values
