"""Names of measures and labels in stored figures, as texts of their task type.

Those of a task type of a project are `tableqa.core.translation.TranslatedText`: pages show their German forms, and look up
nothing in the catalogue. Those of an installed task type stay words of the catalogue. As a `str`, each is what is stored.
"""

from collections.abc import Mapping
from typing import Any

from tasks.contract import TaskType

Data = dict[str, Any]


def localize_part(task: TaskType, part: str, figures: Data) -> Data:
    """The figures of a part of a snapshot (`annotation.quality.snapshots`) with such texts."""
    if part == "agreement":
        return {
            **figures,
            "figures": [localize_figure(task, figure) for figure in figures["figures"]],
            "measures": [_localize_measure(task, measure) for measure in figures["measures"]],
        }
    if part == "quality":
        return {
            **figures,
            "reliability": [_with_labels(task, entry["measure"], entry) for entry in figures["reliability"]],
        }
    return figures


def localize_figure(task: TaskType, figure: Mapping[str, Any]) -> Data:
    """A figure of agreement with the text of its measure."""
    return {**figure, "measure": task.measure_text(figure["measure"])}


def _localize_measure(task: TaskType, measure: Data) -> Data:
    name, confusion = measure["name"], measure["confusion"]
    labels = {
        part: rows and [{**row, "label": task.label_text(name, row["label"])} for row in rows]
        for part in ("labels", "distribution")
        for rows in (measure[part],)
    }
    return {
        **measure,
        "name": task.measure_text(name),
        **labels,
        "confusion": confusion and _with_labels(task, name, confusion),
    }


def _with_labels(task: TaskType, measure: str, data: Data) -> Data:
    return {**data, "labels": [task.label_text(measure, label) for label in data["labels"]]}
