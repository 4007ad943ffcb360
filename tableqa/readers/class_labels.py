"""Class labels of Hugging Face datasets: numbers in the files, with their names in the features of the dataset.

The names of a dataset are an object: a column has the list of its names, or such an object where it is nested.
"""

from collections.abc import Mapping
from typing import Any

_INNER = ("dtype", "sequence", "list", "struct")


def names_in_features(feature: Any) -> Any:
    """The names of the class labels in features as `datasets` stores them in JSON; None where they have none."""
    if isinstance(feature, list):
        return names_in_features(feature[0]) if feature else None
    if not isinstance(feature, Mapping):
        return None
    if feature.get("_type") == "ClassLabel":
        names = feature.get("names")
        return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None
    if isinstance(feature.get("_type"), str):
        return names_in_features(feature.get("feature"))
    return {name: names for name, inner in feature.items() if (names := names_in_features(inner))} or None


def names_in_card(features: Any) -> dict[str, Any]:
    """The names of the class labels in features as a README.md has them in YAML; {} where they have none."""
    names = _of_card(features)
    return names if isinstance(names, dict) else {}


def _of_card(feature: Any) -> Any:
    if isinstance(feature, list):
        return {
            str(column.get("name")): inner
            for column in feature
            if isinstance(column, Mapping) and (inner := _of_card(column))
        }
    if not isinstance(feature, Mapping):
        return None
    if "class_label" in feature:
        return _label_names(feature["class_label"])
    return next((inner for key in _INNER if (inner := _of_card(feature.get(key)))), None)


def _label_names(label: Any) -> list[str]:
    """The names of a class label: a list, or an object with the number of each."""
    names = label.get("names") if isinstance(label, Mapping) else None
    if isinstance(names, Mapping):
        by_number = {str(index): name for index, name in names.items()}
        names = [by_number.get(str(index)) for index in range(len(by_number))]
    if not isinstance(names, list) or any(
        isinstance(name, bool) or not isinstance(name, str | int) for name in names
    ):
        return []
    return [str(name) for name in names]


def with_label_names(value: Any, names: Any) -> Any:
    """A value with the names of its class labels in place of their numbers; -1, which is no label, is None."""
    if names is None:
        return value
    if isinstance(value, list):
        return [with_label_names(inner, names) for inner in value]
    if isinstance(names, Mapping):
        if not isinstance(value, dict):
            return value
        return {name: with_label_names(inner, names.get(name)) for name, inner in value.items()}
    index = _number(value, names)
    if index is None or index >= len(names):
        return value
    return names[index] if index >= 0 else None


def _number(value: Any, names: list[str]) -> int | None:
    """The number of a label, which a text file writes as a text; None for anything else."""
    if isinstance(value, str) and value not in names and value.removeprefix("-").isdecimal():
        return int(value) if len(value) < 10 else None
    return value if isinstance(value, int) else None
