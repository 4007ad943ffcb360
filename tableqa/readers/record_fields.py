"""The fields of one record, taken by name and kind, and the location that an error names."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tableqa.core.translation import gettext_noop, joined, phrase, sentence
from tableqa.readers.interface import ReaderError
from tableqa.readers.json_values import (
    DECODER,
    Number,
    cell_text,
    json_fault,
    kind,
    plain,
    text_of,
    with_option,
)
from tableqa.readers.reading_options import offering, option
from tableqa.readers.report import note

_QUOTE, _CORRECT = gettext_noop("Write it in quotes"), gettext_noop("Correct it")
WRITE_OBJECTS = phrase("A file of records has one JSON object per line, or one JSON array of objects")


@dataclass(frozen=True, slots=True)
class Location:
    """Where something is in a file: its line, counted from 1, and where in the line, if that needs to be said."""

    file: Path
    line: int
    within: str = ""
    record: int = 0
    """The number of the record, from 1, where its line does not identify it; else 0."""

    def error(self, what: str, mend: str, command: str = "") -> ReaderError:
        record = phrase("record {number}", number=self.record) if self.record else ""
        where = joined([record, self.within], by=", ")
        return ReaderError(self.file, self.line, joined([where, what], by=": "), mend, command)

    def inside(self, name: str) -> "Location":
        return Location(self.file, self.line, f"{self.within}, {name}" if self.within else name, self.record)


def with_reading_option(error: ReaderError, value: object) -> ReaderError:
    """The fault of a value that is no text, with the option for null or an infinite number."""
    way = ("missing", "empty") if value is None else ("numbers", "stored")
    return offering(error, *way) if value is None or isinstance(value, float) else error


def _in_column(error: ReaderError, name: str) -> ReaderError:
    error.column = name
    return error


class Fields:
    """A JSON object whose fields are taken by name and kind; ReaderError names the place and the field."""

    def __init__(self, location: Location, value: object) -> None:
        if not isinstance(value, dict):
            mend = phrase("Put an object of fields there")
            raise location.error(phrase("there is {kind}, not an object", kind=kind(value)), mend)
        self.place = location
        self.value = value

    def __contains__(self, name: str) -> bool:
        return self.value.get(name) is not None

    def error(self, name: str, what: str, mend: str, command: str = "") -> ReaderError:
        return _in_column(self.place.error(what, mend, command), name)

    def required(self, name: str) -> Any:
        """The value of a field that must be there."""
        if name not in self.value:
            field_names = ", ".join(list(self.value)[:12]) or "none"
            mend = phrase("Add it; the fields here are: {there}", there=field_names)
            error = self.place.error(phrase("the field {name} is missing", name=name), mend)
            raise _in_column(error, name)
        return self.value[name]

    def text(self, name: str, default: str | None = None) -> str:
        """A text; `default`, if there is one, where the field is absent or null."""
        if default is not None and name not in self:
            return default
        value = self.required(name)
        if not isinstance(value, str):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a text"), _QUOTE)
        return value

    def name(self, name: str) -> str:
        """An id: a text that is not empty, or a whole number, which is taken as it is written."""
        value = self.required(name)
        text = None if isinstance(value, Number) else text_of(value)
        if not text:
            is_kind = phrase("{field} is {kind}", field=name, kind=kind(value))
            problem = phrase("{field} is empty", field=name) if text == "" else is_kind
            raise self.error(name, problem, phrase("An id is a text, and no two records have the same"))
        return text

    def texts(self, name: str) -> list[str]:
        """A list of texts; numbers are taken as they are written, and null is none if the option `missing` says so."""
        items = self.listed(name, gettext_noop('Write a list of texts: ["a", "b"]'))
        if option("missing") and None in items:
            note("missing")
            items = [item for item in items if item is not None]
        return [self._text_in(f"{name}[{i}]", item) for i, item in enumerate(items)]

    def _text_in(self, name: str, value: object) -> str:
        text = cell_text(value)
        if text is None:
            error = self._mismatch(name, value, gettext_noop("{field} is {kind}, not a text"), _QUOTE)
            raise with_reading_option(error, value)
        return text

    def _mismatch(self, name: str, value: object, text: str, mend: str = _CORRECT) -> ReaderError:
        return self.error(name, sentence(text, {"field": name, "kind": kind(value)}), sentence(mend, {}))

    def integer(self, name: str) -> int:
        value = self.required(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a whole number"))
        return value

    def number(self, name: str) -> int | float:
        value = self.required(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a number"))
        if abs(value) > sys.float_info.max:
            what = phrase("{field} is too large to be stored", field=name)
            raise self.error(name, what, sentence(_CORRECT, {}))
        return float(value) if isinstance(value, Number) else value

    def listed(self, name: str, mend: str = _CORRECT) -> list[Any]:
        value = self.required(name)
        if not isinstance(value, list):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a list"), mend)
        return value

    def nested(self, name: str) -> "Fields":
        return Fields(self.place.inside(name), self.required(name))

    def optional(self, name: str) -> dict[str, Any]:
        """The members of an object; none where the field is absent or null."""
        return self.nested(name).value if name in self else {}

    def optional_list(self, name: str) -> list[Any]:
        """A list; empty where the field is absent or null."""
        return self.listed(name) if name in self else []

    def nested_each(self, name: str) -> Iterator["Fields"]:
        for i, item in enumerate(self.listed(name)):
            yield Fields(self.place.inside(f"{name}[{i}]"), item)

    def rest(self, *names: str) -> dict[str, Any]:
        """The fields of these names that are there, for `Example.meta`."""
        return {name: plain(self.value[name]) for name in names if name in self.value}

    def only(self, *names: str) -> None:
        """ReaderError if there is a field of another name."""
        if unknown := [name for name in self.value if name not in names]:
            mend = phrase("The fields are {names}; put others in meta", names=", ".join(names))
            raise self.place.error(phrase("there is no field {unknown}", unknown=unknown[0]), mend)


def fields_of(location: Location, text: str) -> Fields:
    """The object that a line holds; ReaderError."""
    return Fields(location, decode_json(location, text))


def decode_json(location: Location, text: str, mend: str = WRITE_OBJECTS) -> Any:
    """The JSON value that a text holds, its numbers as they are written; ReaderError."""
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise with_option(
            error, location.error(phrase("this is not JSON: {why}", why=json_fault(error)), mend)
        ) from error
