"""Dataclasses as JSON and back, by the types of their fields.

    stored = json.dumps(to_json(result))
    result = from_json(ReadResult, json.loads(stored))

Fields hold what JSON has, times, paths, sets, counters, dataclasses, and lists and mappings of these. A `Message` stays one.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tableqa.data.examples import Example

T = TypeVar("T")


def to_json(value: Any, of: Any = None) -> Any:
    """What `from_json` reads. of: the class of the value or one above it; only the fields of that are taken."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Example):
        return json.dumps(value.to_dict())  # as text: what an example holds may look like a message
    if is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(of or value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: to_json(member) for key, member in value.items()}
    if isinstance(value, Collection) and not isinstance(value, str):
        return [to_json(member) for member in value]
    return value


def from_json(of: Callable[..., T], data: Mapping[str, Any]) -> T:
    """The dataclass of which `to_json` made this; fields that are missing have their defaults."""
    value: T = _reader(of)(data)
    return value


@cache
def _reader(of: Any) -> Callable[[Any], Any]:
    """The function that reads a value of this type."""
    kind: Any = get_origin(of) or of
    make: Any = {Mapping: dict, Sequence: tuple}.get(kind, kind)
    params = get_args(of)
    if kind is Example:
        return lambda text: Example.from_dict(json.loads(text))
    if is_dataclass(kind):
        readers = {name: _reader(type) for name, type in get_type_hints(kind).items()}
        return lambda data: make(**{name: readers[name](value) for name, value in data.items()})
    if kind is UnionType:
        (read,) = (_reader(param) for param in params if param is not NoneType)
        return lambda value: None if value is None else read(value)
    if kind is datetime:
        return datetime.fromisoformat
    if kind is Path:
        return Path
    if not isinstance(kind, type) or kind is str or not issubclass(kind, Collection):
        return lambda value: value
    if issubclass(kind, Mapping):
        read = _reader(params[-1])
        return lambda data: make({key: read(member) for key, member in data.items()})
    read = _reader(params[0])
    return lambda data: make(map(read, data))
