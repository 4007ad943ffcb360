"""Responses of Label Studio's JSON export: an annotation is a response, its controls are the fields.

Predictions are read as responses of models. The meta of the example keeps them, too, as with the reader `label_studio`. The
quick export of Label Studio has only their numbers; an export snapshot (`only_id: false`) has them whole.

Askew's own export for Label Studio (`annotation.releases.exporting`) has the whole response with pseudonym, id and time in
the control `askew`; such annotations are read from there. The meta of its tasks names licence, citation and URL.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tableqa.language import gettext_noop, phrase
from tableqa.readers.reader import ReaderError
from tableqa.readers.records import Fields, decoded, plain, read_records
from tableqa.responses.export import (
    OWN,
    OWN_LOSSES,
    GivenPrediction,
    GivenResponse,
    Nature,
    Task,
    Tool,
    own_batch,
    own_changes,
    own_response,
    seconds_of,
    single_or_several,
    time_of,
)

_CONTROLS: dict[str, tuple[str, Nature]] = {
    "choices": ("choices", "choice"),
    "rating": ("rating", "scale"),
    "number": ("number", "scale"),
    "textarea": ("text", "text"),
    "ranker": ("ranker", "rank"),
    "datetime": ("datetime", "text"),
}
"""By type of a result: the key of its value, and what the field holds."""

LOSSES = {
    **OWN_LOSSES,
    "cancelled": gettext_noop("skipped (cancelled) annotations"),
    "empty": gettext_noop("annotations without a result"),
    "taxonomy": gettext_noop("values of taxonomies"),
    "bucket": gettext_noop("items sorted into buckets"),
    "region": gettext_noop("regions and relations, such as marked spans"),
    "prediction": gettext_noop("predictions of models of which the file has only the number"),
}


def tasks(path: Path) -> Iterator[Task]:
    """The tasks of an export; ReaderError."""
    for record in read_records(path):
        task = record.fields
        if "data" not in task:
            what = phrase("the field {name} is missing", name="data")
            raise task.error("data", what, phrase("Export the project as JSON, not as JSON-MIN or CSV"))
        data = task.nested("data")
        id = task.name("id") if "id" in task else str(record.number)
        if "id" not in data:
            data = Fields(data.place, {"id": id, **data.value})
        predictions = task.optional_list("predictions")
        whole = [plain(one) for one in predictions if isinstance(one, dict)]
        losses = ["prediction"] * (len(predictions) - len(whole))
        responses = []
        for annotation in task.nested_each("annotations") if "annotations" in task else ():
            if annotation.value.get("was_cancelled"):
                losses.append("cancelled")
            elif response := _response(annotation, losses):
                responses.append(response)
            else:
                losses.append("empty")
        yield Task(
            data=data,
            id=data.name("id"),
            responses=responses,
            losses=losses,
            beside={"label_studio": {"predictions": whole}} if whole else {},
            predictions=list(_predictions(task)) if whole else (),
            predictions_count=len(whole),
            **own_batch(task.value.get("meta")),
        )


def _predictions(task: Fields) -> Iterator[GivenPrediction]:
    """The predictions with a result for a control. Others stay in `beside` alone: they make no import fail."""
    whole = [one for one in task.listed("predictions") if isinstance(one, dict)]
    for prediction in Fields(task.place, {"predictions": whole}).nested_each("predictions"):
        try:
            stored = _stored(prediction)
            values = plain(stored.nested("data").value) if stored else _values(prediction, [])[0]
            at = time_of(prediction, "created_at")
            model = prediction.text("model_version", default="").strip()
        except ReaderError:
            continue
        score = prediction.value.get("score")
        sure = float(score) if isinstance(score, int | float) and math.isfinite(score) else 0.0
        if values:
            yield GivenPrediction(model, sure, at, values)


def _response(annotation: Fields, losses: list[str]) -> GivenResponse | None:
    seconds = seconds_of(annotation, "lead_time", losses)
    if stored := _stored(annotation):
        own = replace(own_response(annotation.place, stored, losses), seconds=seconds)
        losses += own_changes(_values(annotation, [])[0], own)
        return own
    values, natures = _values(annotation, losses)
    if not values:
        return None
    id = annotation.name("id") if "id" in annotation else ""
    at = time_of(annotation, "created_at")
    return GivenResponse(annotation.place, _person(annotation), id, at, values, natures, seconds)


def _stored(annotation: Fields) -> Fields | None:
    """What Askew wrote into its own control; None where there is no such control."""
    for result in annotation.nested_each("result"):
        if result.text("from_name", default="") == OWN:
            value = result.nested("value")
            return Fields(value.place, decoded(value.place, "\n".join(value.texts("text"))))
    return None


def _values(annotation: Fields, losses: list[str]) -> tuple[dict[str, Any], dict[str, Nature]]:
    """The values of the controls of an annotation or prediction, and what each holds."""
    values: dict[str, Any] = {}
    natures: dict[str, Nature] = {}
    for result in annotation.nested_each("result"):
        control, type = result.text("from_name", default=""), result.text("type", default="")
        key, nature = _CONTROLS.get(type, ("", "text"))
        if not control or not key:
            losses.append("taxonomy" if type == "taxonomy" else "region")
            continue
        held = result.nested("value")
        value = held.required(key)
        if nature == "choice" or (nature == "text" and isinstance(value, list)):
            value = held.texts(key)
        elif nature == "text":
            value = [held.text(key)]
        # By bucket; without buckets, the only key is the control.
        if nature == "rank" and isinstance(value, dict):
            if len(value) != 1:
                losses.append("bucket")
                continue
            (value,) = value.values()
        values[control], natures[control] = _joined(values.get(control), value, nature)
    return values, natures


def _joined(before: Any, value: Any, nature: Nature) -> tuple[Any, Nature]:
    """The value of a control with what an earlier result of the same control says."""
    value = plain(value)
    if nature == "choice":
        both = [*([before] if isinstance(before, str) else before or []), *value]
        return single_or_several(both)
    if nature == "text":
        return "\n".join([*([before] if before else []), *value]), nature
    return value, nature


def _person(annotation: Fields) -> str:
    """The e-mail address of the annotator, else their number."""
    author = annotation.value.get("completed_by")
    if isinstance(author, dict):
        fields = annotation.nested("completed_by")
        return fields.text("email", default="") or fields.name("id")
    return annotation.name("completed_by") if author is not None else ""


TOOL = Tool("label_studio", "Label Studio", tasks, LOSSES)
