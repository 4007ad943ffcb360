"""Choices of a person about files that can be read in several ways, or not at all without a choice.

The names and values are those of `--field NAME=VALUE`, `fields_of` of the API and the lists of the page *Import examples*.
A reader sets them while it reads (`with_options`); code that reads a value asks for the `option`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from tableqa.core.translation import gettext_noop, joined, phrase, word
from tableqa.readers.interface import ReaderError

T = TypeVar("T")
EVERY = "*"
"""The value of the option `questions` that reads all files or sheets."""
READING: Mapping[str, Mapping[str, str]] = {
    "missing": {"empty": gettext_noop("Null and missing cells are empty")},
    "quotes": {
        "text": gettext_noop("Quotes are text"),
        "backslash": gettext_noop("A backslash stands before a quote in a field"),
        "escapes": gettext_noop(
            "Quotes are text; \\t is a tab, \\n a line break, and a backslash escapes other signs"
        ),
    },
    "characters": {"replaced": gettext_noop("Characters that cannot be stored become \ufffd")},
    "numbers": {"stored": gettext_noop("Infinite numbers and unknown number formats: as stored")},
    "names": {"numbered": gettext_noop("Repeated names get a number")},
    "rows": {"answers": gettext_noop("Rows with one id are one question, each with an answer")},
    "merged": {"filled": gettext_noop("Merged cells of questions: each has the text")},
    "sheets": {"largest": gettext_noop("Table files with several sheets: the largest one")},
    "questions": {EVERY: gettext_noop("All of them")},
}
"""Options that let a refused file be read, with their values; `questions` may also be the name of a file or sheet."""

_ESCAPE, _ESCAPED = re.compile(r"\\([tnr\\])"), {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
_OPTIONS: ContextVar[Mapping[str, str] | None] = ContextVar("reading_options", default=None)


def option(name: str) -> str:
    """What is chosen for an option; "" where nothing is."""
    return (_OPTIONS.get() or {}).get(name, "")


@contextmanager
def reading_options(fields: Mapping[str, str]) -> Iterator[None]:
    """Within it `option` answers with these choices."""
    token = _OPTIONS.set(fields)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def with_options(fields: Mapping[str, str], outcomes: Iterable[T]) -> Iterator[T]:
    """The same outcomes, each read under these choices; what reads them has its own ones in between."""
    iterator = iter(outcomes)
    while True:
        with reading_options(fields):
            try:
                outcome = next(iterator)
            except StopIteration:
                return
        yield outcome


def check_options(fields: Mapping[str, str]) -> None:
    """ValueError for a value that an option does not have."""
    for name, values in READING.items():
        if name != "questions" and fields.get(name, "") not in ("", *values):
            valid_values = ", ".join(values)
            raise ValueError(phrase("{name} may be {known}, or is left out", name=name, known=valid_values))


def offering(error: ReaderError, name: str, *values: str) -> ReaderError:
    """The same error with the values of an option by which the file can be read; as it is for a reader without options."""
    if _OPTIONS.get() is None:
        return error
    error.ways = {**error.ways, name: values}
    by = gettext_noop("” or “")
    choices = joined((word(READING[name].get(value, value)) for value in values), by=by)
    named = joined(values, by=gettext_noop(" or "))
    error.command = phrase(
        "{mend}, or add --field {name}={value}", mend=error.command, name=name, value=named
    )
    error.mend = phrase("{mend}, or choose “{choices}” below Format", mend=error.mend, choices=choices)
    return error


def unescaped(text: str) -> str:
    """A text with a tab, a line break and a backslash for \\t, \\n and \\\\, as jq and databases write them."""
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]], text)
