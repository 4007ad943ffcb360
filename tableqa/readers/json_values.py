"""Values of JSON that others wrote: numbers keep the text that the file has for them (1.50 is not printed again).

JSON that is read only where a person chooses so (NaN, a name given twice) is refused with the option that allows it.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tableqa.core.foreign_values import decimal
from tableqa.core.json_text import DEEPEST, check_depth
from tableqa.core.translation import gettext_noop, grouped, phrase, reason_of, word
from tableqa.readers.interface import ReaderError, numbered
from tableqa.readers.reading_options import offering, option
from tableqa.readers.report import note
from tableqa.serialisations.printed_values import json_of, json_of_duckdb

_OF_OBJECTS = re.compile(r"\{'[^']*': ")
_KINDS: Mapping[type, str] = {
    dict: gettext_noop("an object"),
    list: gettext_noop("a list"),
    str: gettext_noop("a text"),
    bool: gettext_noop("true or false"),
    type(None): "null",
}


class Number(float):
    """A number of a JSON file that remembers how it was written there."""

    text: str

    def __new__(cls, text: str) -> "Number":
        number = super().__new__(cls, text)
        number.text = text
        return number


def text_of(value: object) -> str | None:
    """A text as it is and a number as it is written in its file; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, Number):
        return value.text
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def cell_text(value: object) -> str | None:
    """`text_of`, with true and false as JSON writes them, and an empty text for null if the option `missing` says so."""
    if isinstance(value, bool):
        note("truths", text := "true" if value else "false")
        return text
    if value is None and option("missing"):
        note("missing")
        return ""
    return text_of(value)


def source_json(value: Any, ascii: bool = True) -> str:
    """A JSON value as one line of JSON, its numbers as they are written in their file."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, Mapping):
        members = (
            f"{json.dumps(key, ensure_ascii=ascii)}: {source_json(inner, ascii)}"
            for key, inner in value.items()
        )
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(source_json(inner, ascii) for inner in value)}]"
    return json.dumps(value, ensure_ascii=ascii)


def decoded_line(line: str) -> Any:
    """The JSON value that a line of `source_json` holds; of files of columns, NaN and infinity are among its numbers."""
    return _OF_LINES.decode(line)


def plain(value: Any) -> Any:
    """The same JSON value with plain floats, and decimals that no float has as texts: what may be stored."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return decimal(value.text) if isinstance(value, Number) else value


def kind(value: object) -> str:
    """What a JSON value is, in words: "a number"."""
    return word(
        next(
            (name for python_type, name in _KINDS.items() if isinstance(value, python_type)),
            gettext_noop("a number"),
        )
    )


_JSON_FAULTS = (
    gettext_noop("Expecting value"),
    gettext_noop("Expecting ',' delimiter"),
    gettext_noop("Expecting ':' delimiter"),
    gettext_noop("Expecting property name enclosed in double quotes"),
    gettext_noop("Illegal trailing comma before end of object"),
    gettext_noop("Illegal trailing comma before end of array"),
    gettext_noop("Unterminated string starting at"),
    gettext_noop("Invalid control character at"),
    gettext_noop("Invalid \\escape"),
    gettext_noop("Invalid \\uXXXX escape"),
    gettext_noop("Extra data"),
)
"""What Python's json says is wrong, for translators."""


def json_fault(error: Exception, column: int = 0) -> str:
    """What is wrong with a text of JSON; `column` is where in its line, if the error counts from elsewhere."""
    if isinstance(error, json.JSONDecodeError):
        position = grouped(column or error.colno)
        return phrase("{reason} at character {number}", reason=word(error.msg), number=position)
    return phrase("it is nested too deeply") if isinstance(error, RecursionError) else reason_of(error)


class _Refusal(ValueError):
    """JSON that is read where a person chooses so: the reason, the option and its value."""


def with_option(reason: Exception, error: ReaderError) -> ReaderError:
    """The same error, with the option that lets the text be read, if there is one."""
    return offering(error, *reason.args[1:]) if isinstance(reason, _Refusal) else error


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        if option("names"):
            return dict(zip(numbered(names), (value for _, value in pairs), strict=True))
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refusal(phrase("an object has the name {twice!r} twice", twice=twice), "names", "numbered")
    return members


def _integer(text: str) -> int | Number:
    if text == "-0":
        return Number(text)
    try:
        return int(text)
    except ValueError:
        raise ValueError(phrase("a number of {number} digits", number=grouped(len(text)))) from None


def _no_number(text: str) -> Any:
    name, value, read = ("missing", "empty", None) if text == "NaN" else ("numbers", "stored", text)
    if option(name):
        return read
    raise _Refusal(phrase("{text} is not a JSON number", text=text), name, value)


class _Decoder(json.JSONDecoder):
    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        value, end = super().raw_decode(s, idx)
        if s.count("[", idx, end) + s.count("{", idx, end) > DEEPEST:
            check_depth(value)
        return value, end


DECODER = _Decoder(
    object_pairs_hook=_unique_members, parse_float=Number, parse_int=_integer, parse_constant=_no_number
)


_OF_LINES = json.JSONDecoder(parse_float=Number, parse_int=_integer)


def value_in(text: str) -> Any:
    """The value that a text holds as JSON, or as programs print it, its numbers as they are written; ValueError.

    A list of bare words, such as DuckDB prints, may be a text: it is none.
    """
    for form in (str, json_of, *((json_of_duckdb,) if _OF_OBJECTS.search(text) else ())):
        with suppress(ValueError, RecursionError):
            return DECODER.decode(form(text))
    raise ValueError(text[:80])


def list_in(text: str, of: type = object) -> list[Any] | None:
    """The list that a text holds in a form of `value_in`, if its members are `of` a type; None where it holds none."""
    with suppress(ValueError):
        value = value_in(text)
        return value if isinstance(value, list) and all(isinstance(member, of) for member in value) else None
    return None
