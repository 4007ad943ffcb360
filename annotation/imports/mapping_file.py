"""A mapping as data: read from YAML or JSON, and written."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from annotation.imports.field_mapping import ImportMapping
from annotation.platform.refusals import refuse, require_storable
from tableqa.readers.labels import DUPLICATES

_TEXTS: Final = ("task_type", "source", "batch", "licence", "citation", "url")
_MAPS: Final = ("fields", "people", "parts")


def parse(data: Any) -> ImportMapping:
    """The mapping that a YAML file holds. Raises ActionRefused (import_failed) naming the key."""
    if not isinstance(data, Mapping):
        refuse("import_failed", "The mapping must consist of keys such as fields and people.")
    available = (*_TEXTS, *_MAPS, "values", "duplicates", "good_only")
    for key in data:
        if key not in available:
            refuse(
                "import_failed",
                "Mapping: there is no key {key!r}. Available: {known}.",
                key=str(key),
                known=", ".join(available),
            )
    require_storable(data)
    parts: dict[str, Any] = {key: str(data[key]) for key in _TEXTS if data.get(key)}
    parts |= {key: _texts(key, data[key]) for key in _MAPS if data.get(key)}
    values = data.get("values") or {}
    if not isinstance(values, Mapping):
        _refuse_shape("values")
    renamed = {str(name): _texts(f"values.{name}", inner) for name, inner in values.items()}
    parts["duplicates"] = data.get("duplicates") or DUPLICATES[0]
    parts["good_only"] = data.get("good_only") or False
    if parts["duplicates"] not in DUPLICATES or not isinstance(parts["good_only"], bool):
        refuse(
            "import_failed",
            "Mapping: duplicates must be one of {available}, and good_only true or false.",
            available=", ".join(DUPLICATES),
        )
    return ImportMapping(**parts, values=renamed)


def as_data(mapping: ImportMapping) -> dict[str, Any]:
    """The same as data for a YAML file, without empty parts."""
    return {
        key: value
        for key, value in asdict(mapping).items()
        if value and value != getattr(ImportMapping, key, None)
    }


def _texts(key: str, data: Any) -> dict[str, str]:
    if not isinstance(data, Mapping):
        _refuse_shape(key)
    return {str(name): "" if value is None else str(value) for name, value in data.items()}


def _refuse_shape(key: str) -> None:
    refuse("import_failed", "Mapping: {key} must have the form `name: name`.", key=key)
