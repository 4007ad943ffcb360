"""What a JSON Schema finds wrong with a value, in sentences: what is wanted, what is there instead, and the remedy.

Study files, definitions of task types and settings of batches use the same sentences, on pages, in commands and in the API.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any, Final

from tableqa.core.translation import gettext, gettext_noop, ngettext, number

Path = tuple[str | int, ...]
MAX_FAULTS: Final = 100

TYPES: Final = {
    "string": gettext_noop("text"),
    "integer": gettext_noop("a whole number"),
    "number": gettext_noop("a number"),
    "boolean": gettext_noop("true or false"),
    "array": gettext_noop("a list"),
    "object": gettext_noop("a mapping of keys"),
    "null": gettext_noop("nothing"),
}
LIMITS: Final = {
    "const": gettext_noop("Write {wanted}. {shown} is not a supported version of study files."),
    "minimum": gettext_noop("The minimum is {wanted}, not {shown}."),
    "exclusiveMinimum": gettext_noop("This must be greater than {wanted}, not {shown}."),
    "maximum": gettext_noop("The maximum is {wanted}, not {shown}."),
    "minLength": gettext_noop("This must not be empty."),
    "minItems": gettext_noop("This must not be empty."),
    "maxLength": gettext_noop("This is longer than {wanted} characters."),
    "maxItems": gettext_noop("There are more than {wanted} entries."),
    "uniqueItems": gettext_noop("An entry appears twice. Remove one."),
}
"""What is wrong with a value, by the keyword of JSON Schema that finds it."""


def schema_faults(schema: Mapping[str, Any], value: object, *, what: str = "") -> Iterator[tuple[Path, str]]:
    """What a schema finds wrong with a value: the path of the part, and a sentence; at most `MAX_FAULTS`.

    Where a list or mapping has too many entries, only this is reported: the content may be large.
    what: what an unknown key is called, in the reader's language; default: a key.
    """
    if counts := list(islice(_size_faults(schema, value, ()), MAX_FAULTS)):
        return iter(counts)
    errors = _validator()(schema).iter_errors(value)
    faults = (
        _messages(error, tuple(error.absolute_path), schema, what or gettext("key")) for error in errors
    )
    return islice(chain.from_iterable(faults), MAX_FAULTS)


@cache
def _validator() -> Any:
    """The validator of JSON Schema, whose own `uniqueItems` takes quadratic time where types are mixed."""
    from jsonschema import Draft202012Validator, ValidationError, validators  # slow to load

    def unique(validator: Any, must_be_unique: bool, value: Any, schema: Any) -> Iterator[ValidationError]:
        is_list = must_be_unique and isinstance(value, list)
        if is_list and len({json.dumps(entry, sort_keys=True) for entry in value}) < len(value):
            yield ValidationError("an entry appears twice")

    return validators.extend(Draft202012Validator, {"uniqueItems": unique})


def _size_faults(schema: Mapping[str, Any], value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """The parts of a value that have more entries than their schema allows."""
    others = schema.get("additionalProperties") or {}
    parts: Iterable[tuple[Any, Any, Mapping[str, Any]]]
    if isinstance(value, list):
        most, parts = (
            schema.get("maxItems"),
            ((at, part, schema.get("items", {})) for at, part in enumerate(value)),
        )
    elif isinstance(value, Mapping):
        properties = schema.get("properties", {})
        most, parts = (
            schema.get("maxProperties"),
            ((key, part, properties.get(key, others)) for key, part in value.items()),
        )
    else:
        return
    if most is not None and len(value) > most:
        yield path, gettext(LIMITS["maxItems"]).format(wanted=number(f"{most:,}").shown())
        return
    for key, part, inner in parts:
        yield from _size_faults(inner, part, (*path, key))


def _messages(error: Any, path: Path, schema: Mapping[str, Any], what: str) -> Iterator[tuple[Path, str]]:
    rule, expected, value = error.validator, error.validator_value, error.instance
    if rule == "additionalProperties":
        known_keys = list(error.schema.get("properties", {}))
        for key in value:
            if key not in known_keys:
                yield (
                    (*path, key),
                    _suggest_other_level(key, path, known_keys, schema)
                    or unknown_value_message(what, key, known_keys),
                )
    elif rule == "required":
        missing = [key for key in expected if key not in value]
        if error.message.startswith(repr(missing[0])):  # one error for each key: said once
            yield path, _missing_keys_message(missing)
    else:
        yield path, message_of(error)


def message_of(error: Any) -> str:
    """What a validator of JSON Schema found, in words: what is wanted, and what is there instead."""
    rule, expected, value = error.validator, error.validator_value, error.instance
    value_text = _value_in_words(value)
    if rule == "type":
        kinds = [expected] if isinstance(expected, str) else expected
        text = gettext("Expected {kinds}, not {shown}.").format(
            kinds=gettext(" or ").join(gettext(TYPES[kind]) for kind in kinds), shown=value_text
        )
        if "string" in kinds and not isinstance(value, dict | list):
            text += " " + gettext("Put it in quotes.")
        return text
    if rule == "enum":
        return unknown_value_message(gettext("value"), value, expected)
    if rule in LIMITS:
        limit = expected if rule in ("const", "uniqueItems") else number(f"{expected:,}").shown()
        return gettext(LIMITS[rule]).format(wanted=limit, shown=value_text)
    if rule == "required":
        return _missing_keys_message([key for key in expected if key not in value])
    if rule == "additionalProperties":
        known_keys = list(error.schema.get("properties", {}))
        return " ".join(
            unknown_value_message(gettext("key"), key, known_keys) for key in value if key not in known_keys
        )
    if rule in ("anyOf", "oneOf") and error.context:
        reasons = gettext(" Or: ").join(dict.fromkeys(message_of(cause) for cause in error.context))
        return gettext("{shown} is not valid: {reasons}").format(shown=value_text, reasons=reasons)
    description = error.schema.get("description") or error.schema.get("title")
    return gettext("{shown} is not valid: {said}.").format(
        shown=value_text, said=gettext(description) if description else f"{rule} {expected}"
    )


def _missing_keys_message(names: list[str]) -> str:
    text = ngettext("{names} is missing. Add it.", "{names} are missing. Add them.", len(names))
    return text.format(names=_join_and(names))


def _suggest_other_level(key: Any, path: Path, known_keys: Iterable[str], schema: Mapping[str, Any]) -> str:
    """Where a key belongs that is unknown here and has its place one step up or down; "" for every other."""
    if closest_match(key, known_keys, 0.6):
        return ""
    section = next((part for part in reversed(path) if isinstance(part, str)), "")
    inside = section and path[-1] == section
    if inside and (near := closest_match(key, _keys(schema, path[:-1]))):
        return gettext("Unknown key {key} in `{section}`. Did you mean {near!r}, one level up?").format(
            key=_value_in_words(key), section=section, near=near
        )
    for name in known_keys:
        if near := closest_match(key, _keys(schema, (*path, name))):
            return gettext("Unknown key {key}. Did you mean {near!r} in `{name}`?").format(
                key=_value_in_words(key), near=near, name=name
            )
    return ""


def _keys(schema: Mapping[str, Any], path: Path) -> list[str]:
    """The keys that there are at a place of a value."""
    shape: Any = schema
    for part in path:
        if isinstance(part, int):
            shape = shape.get("items", {})
        else:
            others = shape.get("additionalProperties")
            shape = shape.get("properties", {}).get(part, others if isinstance(others, dict) else {})
    return list(shape.get("properties", {}))


def closest_match(name: Any, candidates: Iterable[str], cutoff: float = 0.75) -> str:
    """The key that was perhaps meant, "" where none is like it."""
    return next(iter(difflib.get_close_matches(str(name), list(candidates), n=1, cutoff=cutoff)), "")


def unknown_value_message(what: str, name: Any, available: Iterable[Any]) -> str:
    """There is no such thing; the nearest that there is, or all. `what` is in the reader's language."""
    texts = [str(value) for value in available]
    if near := closest_match(name, texts, 0.6):
        text = gettext("Unknown {what} {name}. Did you mean {near!r}?")
        return text.format(what=what, name=_value_in_words(name), near=near)
    return gettext("Unknown {what} {name}. Available: {known}.").format(
        what=what, name=_value_in_words(name), known=", ".join(texts) or gettext("none")
    )


def _value_in_words(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: gettext("nothing")}[value]
    if isinstance(value, dict | list):
        return gettext(TYPES["object" if isinstance(value, dict) else "array"])
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "…"


def _join_and(names: list[str]) -> str:
    return gettext(" and ").join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
