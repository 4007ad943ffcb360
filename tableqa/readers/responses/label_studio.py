"""Responses of Label Studio's JSON export: an annotation is a response, its controls are the fields.

In a folder or zip file, the labeling configuration of the project (XML) can be beside the export. It tells options, ends of
scales and numbers, and whether a control takes several choices.

Predictions are read as responses of models. The meta of the example keeps them, too, as with the reader `label_studio`. The
quick export of Label Studio has only their numbers; an export snapshot (`only_id: false`) has them whole.

Askew's own export for Label Studio (`annotation.releases.tool_exports`) has the whole response with pseudonym, id and time
in the control `askew`; such annotations are read from there. The meta of its tasks names licence, citation and URL.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop, phrase
from tableqa.readers.interface import ReaderError, Rejection
from tableqa.readers.json_values import plain
from tableqa.readers.record_fields import Fields, decode_json
from tableqa.readers.records import read_records
from tableqa.readers.responses import tool_export
from tableqa.readers.responses.folder import files, open_export
from tableqa.readers.responses.tool_export import GivenPrediction, GivenResponse, Nature, Task, Tool

_CONTROLS: dict[str, tuple[str, Nature]] = {
    "choices": ("choices", "choice"),
    "rating": ("rating", "scale"),
    "number": ("number", "number"),
    "textarea": ("text", "text"),
    "ranker": ("ranker", "rank"),
    "datetime": ("datetime", "date"),
    "taxonomy": ("taxonomy", "choice"),
    "pairwise": ("selected", "choice"),
}
"""By type of a result: the key of its value, and what the field holds. Text spans are `spans`."""
Schema = Mapping[str, Mapping[str, Any]]
_MEND = phrase("Name the JSON export, or a folder or zip file with it and the labeling configuration (XML)")
_EXPORT = phrase("Export the project as JSON, not as JSON-MIN or CSV")
_BELOW = " > "
"""Between the choices of a path."""

LOSSES = {
    **tool_export.OWN_LOSSES,
    "cancelled": gettext_noop("skipped (cancelled) annotations"),
    "empty": gettext_noop("annotations without a result"),
    "bucket": gettext_noop("items sorted into buckets"),
    "region": gettext_noop("regions and relations, such as marked spans"),
    "prediction": gettext_noop("predictions of models of which the file has only the number"),
}


def tasks(path: Path) -> Iterator[Task]:
    """The tasks of an export; ReaderError."""
    with open_export(path) as folder:
        for file in files(folder, "*.json", _MEND):
            schema = {} if folder.is_file() else _schema(file)
            for index, task in enumerate(_tasks(file, schema)):
                yield task if index else replace(task, schema=schema)


def _tasks(path: Path, schema: Schema) -> Iterator[Task]:
    for record in read_records(path):
        task = record.fields
        if "data" not in task:
            what = phrase("the field {name} is missing", name="data")
            raise task.error("data", what, _EXPORT)
        data = task.nested("data")
        id = task.name("id") if "id" in task else str(record.number)
        if "id" not in data:
            data = Fields(data.place, {"id": id, **data.value})
        predictions = task.optional_list("predictions")
        whole = [plain(prediction) for prediction in predictions if isinstance(prediction, dict)]
        losses = ["prediction"] * (len(predictions) - len(whole))
        for name in ("drafts", "completions"):
            losses += [tool_export.loss_of_field(name)] * len(task.optional_list(name))
        responses: list[GivenResponse] = []
        rejected: list[Rejection] = []
        for annotation in task.nested_each("annotations") if "annotations" in task else ():
            with tool_export.reject_errors(rejected, annotation, id, annotation.value.get("id")):
                if annotation.value.get("was_cancelled"):
                    losses.append("cancelled")
                elif response := _response(annotation, losses, schema):
                    responses.append(response)
                else:
                    losses.append("empty")
        yield Task(
            data=data,
            id=data.name("id"),
            responses=responses,
            rejected=rejected,
            losses=losses,
            beside={"label_studio": {"predictions": whole}} if whole else {},
            predictions=list(_predictions(task, schema)) if whole else (),
            predictions_count=len(whole),
            **tool_export.own_batch(task.value.get("meta")),
        )


def _predictions(task: Fields, schema: Schema) -> Iterator[GivenPrediction]:
    """The predictions with a result for a control. Others stay in `beside` alone: they make no import fail."""
    whole = [entry for entry in task.listed("predictions") if isinstance(entry, dict)]
    for prediction in Fields(task.place, {"predictions": whole}).nested_each("predictions"):
        try:
            stored = _stored_response(prediction)
            values = plain(stored.nested("data").value) if stored else _values(prediction, [], schema)[0]
            at = tool_export.time_of(prediction, "created_at")
            model = prediction.text("model_version", default="").strip()
        except ReaderError:
            continue
        score = prediction.value.get("score")
        sure = float(score) if isinstance(score, int | float) and math.isfinite(score) else 0.0
        if values:
            yield GivenPrediction(model, sure, at, values)


def _response(annotation: Fields, losses: list[str], schema: Schema) -> GivenResponse | None:
    seconds = tool_export.seconds_of(annotation, "lead_time", losses)
    if stored := _stored_response(annotation):
        own = replace(tool_export.own_response(annotation.place, stored, losses), seconds=seconds)
        losses += tool_export.own_changes(_values(annotation, [], schema)[0], own)
        return own
    values, natures = _values(annotation, losses, schema)
    if annotation.value.get("ground_truth") is True:
        losses.append(tool_export.loss_of_field("ground_truth"))
    if not values:
        return None
    id = annotation.name("id") if "id" in annotation else ""
    at = tool_export.time_of(annotation, "created_at")
    return GivenResponse(annotation.place, _person(annotation), id, at, values, natures, seconds)


def _stored_response(annotation: Fields) -> Fields | None:
    """What Askew wrote into its own control; None where there is no such control."""
    for result in annotation.nested_each("result"):
        if result.text("from_name", default="") == tool_export.OWN:
            value = result.nested("value")
            return Fields(value.place, decode_json(value.place, "\n".join(value.texts("text"))))
    return None


def _values(
    annotation: Fields, losses: list[str], schema: Schema
) -> tuple[dict[str, Any], dict[str, Nature]]:
    """The values of the controls of an annotation or prediction, and what each holds."""
    values: dict[str, Any] = {}
    natures: dict[str, Nature] = {}
    marked: dict[str, list[Any]] = {}
    for result in annotation.nested_each("result"):
        control, type = result.text("from_name", default=""), result.text("type", default="")
        key, nature = _CONTROLS.get(type, ("", "text"))
        value_fields = Fields(result.place.inside("value"), result.optional("value"))
        if control and tool_export.is_span(value_fields.value):
            marked.setdefault(control, []).append(value_fields.value)
        elif (
            not control
            or not key
            or value_fields.value.keys() - {key}  # of a region
            or "item_index" in result.value  # of one of several items
            or (control in values and nature in ("scale", "number", "rank"))
        ):
            losses.append(
                tool_export.loss_of_field(f"{control} ({type})" if control else type) if type else "region"
            )
        elif (
            nature == "rank"
            and isinstance(value_fields.required(key), dict)
            and len(value_fields.value[key]) != 1
        ):
            losses.append("bucket")
        else:
            values[control], natures[control] = _merged_value(
                values.get(control), _value(value_fields, key, nature), nature
            )
            if schema.get(control, {}).get("type") == "multi_choice" and natures[control] == "choice":
                values[control], natures[control] = [values[control]], "multi_choice"
        if result.value.get("meta"):
            losses.append(tool_export.loss_of_field(f"{control} (meta)"))
    for control, marked_spans in marked.items():
        if text := tool_export.spans(marked_spans, control, losses):
            values[control], natures[control] = text, "text"
    return values, natures


def _value(value_fields: Fields, key: str, nature: Nature) -> Any:
    value = value_fields.required(key)
    members = value if isinstance(value, list) else [value]
    if nature == "choice":
        # A choice below others has its path.
        paths = (member if isinstance(member, list) else [member] for member in members)
        return [_BELOW.join(Fields(value_fields.place, {key: path}).texts(key)) for path in paths]
    if nature in ("text", "date"):
        return Fields(value_fields.place, {key: members}).texts(key)
    if nature == "rank" and isinstance(value, dict):
        (value,) = value.values()  # without buckets, the only key is the control
    return value


def _merged_value(before: Any, value: Any, nature: Nature) -> tuple[Any, Nature]:
    """The value of a control with what an earlier result of the same control says."""
    value = plain(value)
    if nature == "choice":
        both = [*([before] if isinstance(before, str) else before or []), *value]
        return tool_export.single_or_several(both)
    if nature in ("text", "date"):
        return "\n".join([*([before] if before else []), *value]), nature
    return value, nature


def _schema(file: Path) -> dict[str, dict[str, Any]]:
    """What the configuration beside an export says of its controls: the XML file of the same name, else the only one."""
    from lxml import etree

    xml_files = [file.with_suffix(".xml")] if file.with_suffix(".xml").is_file() else []
    xml_files = xml_files or sorted(file.parent.glob("*.xml"))
    if len(xml_files) != 1:
        return {}
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(xml_files[0].read_bytes(), parser)
    except (OSError, etree.XMLSyntaxError) as error:
        what = phrase("it cannot be read: {error}", error=str(error))
        raise ReaderError(xml_files[0], None, what, _MEND) from error
    controls = (tag for tag in root.iter("*") if tag.get("name") and tag.get("toName"))
    return {tag.get("name"): facts for tag in controls if (facts := _facts(tag))}


def _facts(tag: Any) -> dict[str, Any]:
    """Type, options and ends of one control, as a definition has them."""
    control = tag.tag.lower()
    if control == "rating":
        return {"type": "scale", "min": 1, "max": int(_end(tag.get("maxRating")) or 5)}
    if control == "number":
        ends = {name: _end(tag.get(name)) for name in ("min", "max")}
        return {"type": "number"} | {name: end for name, end in ends.items() if end is not None}
    if control == "pairwise":
        return {"type": "choice", "options": ["left", "right"]}
    if control not in ("choices", "taxonomy"):
        return {}
    several = control == "taxonomy" or tag.get("choice") == "multiple"
    paths = ([*reversed(list(choice.iterancestors("Choice"))), choice] for choice in tag.iter("Choice"))
    options = [
        _BELOW.join(choice.get("alias") or choice.get("value") or "" for choice in path) for path in paths
    ]
    return {"type": "multi_choice" if several else "choice", "options": options}


def _end(text: str | None) -> int | float | None:
    """A number in the configuration; None for anything else."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return None if not math.isfinite(value) else int(value) if value.is_integer() else value


def _person(annotation: Fields) -> str:
    """The e-mail address of the annotator, else their number."""
    author = annotation.value.get("completed_by")
    if isinstance(author, dict):
        fields = annotation.nested("completed_by")
        return fields.text("email", default="") or fields.name("id")
    return annotation.name("completed_by") if author is not None else ""


TOOL = Tool("label_studio", "Label Studio", tasks, LOSSES, export=_EXPORT)
