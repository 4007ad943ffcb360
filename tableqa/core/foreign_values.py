"""One gate for values that other programs wrote: rules for texts, names, numbers, times and optional columns.

Every import asks it at its boundary: readers of examples, labels made elsewhere, responses of other tools, restored
releases, study files and definitions. A value stays exactly as its file has it, or is refused with its place. SQLite and
PostgreSQL accept the same.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from tableqa.core.translation import Message, phrase, with_texts

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_PRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Rules = Mapping[re.Pattern[str], Message]
"""What a text must not have, and what a refusal calls it."""
TEXTS: Final[Rules] = {
    re.compile("\0"): phrase("a NUL character"),
    _SURROGATE: phrase("an unpaired surrogate (wrongly decoded text)"),
}
"""Texts and keys: neither a database nor a file in UTF-8 stores these. Other control characters are kept in texts."""
NAMES: Final[Rules] = {
    **TEXTS,
    re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]"): phrase("a control character"),
}
"""Names of people: they are compared in normal form (`normal`)."""
NUMBER: Final = phrase("a number that is infinite or not a number (NaN)")
"""JSON has no word for these. Null stays null; a whole number has all of its digits, also beyond 2^53."""
TIMES: Final = (datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC))
"""The first time that a response can have, and the first after the last; others are unknown."""
LONGEST_SECONDS: Final = 7 * 24 * 60 * 60.0
"""Active time that a response can have; more, or less than 0, is unknown."""


def faults(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Message]]:
    """Each text, key and number inside a JSON value that breaks a rule: its path and the reason.

    The path of a key ends with the key; that of a value in an object with its key, in a list with its index.
    """
    if isinstance(value, str):
        if reason := unstorable_part(value):
            yield path, reason
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield path, NUMBER
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str) and (reason := unstorable_part(key)):
                yield (*path, key), reason
            yield from faults(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from faults(inner, (*path, index))


def unstorable_part(value: Any, rules: Rules = TEXTS) -> Message | None:
    """What a text, or any part of a JSON value, contains that cannot be stored; None if everything can."""
    if not isinstance(value, str):
        return None if _is_plain(value) else next((reason for _, reason in faults(value)), None)
    if rules is TEXTS and "\0" not in value and value.isascii():  # nearly every text, by the million
        return None
    return next((reason for pattern, reason in rules.items() if pattern.search(value)), None)


def _is_plain(value: Any) -> bool:
    """Whether a look at the encoded JSON is enough to see that no rule is broken, which is so for nearly every value."""
    try:
        encoded = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return "\\u0000" not in encoded and "\\ud" not in encoded


def replaced(value: Any) -> Any:
    """A JSON value with the sign for a missing character in place of each that breaks a rule of `TEXTS`, also in keys."""
    if isinstance(value, str):
        return re.sub("[\0\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, dict):
        return {replaced(key): replaced(inner) for key, inner in value.items()}
    return [replaced(inner) for inner in value] if isinstance(value, list) else value


def unstorable(value: Any, rules: Rules = TEXTS) -> str | None:
    """`unstorable_part` in the reader's language."""
    reason = unstorable_part(value, rules)
    return reason and reason.shown()


def normal(value: Any) -> Any:
    """A name or option, or all texts of a list or object, in Unicode normal form C: an accent has one spelling."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {key: normal(inner) for key, inner in value.items()}
    return [normal(inner) for inner in value] if isinstance(value, list) else value


def decimal(text: str) -> float | str:
    """A decimal of a JSON file as a number that has its value; as its text where no float has it.

    PostgreSQL knows no -0.0, and writes a float with an exponent, such as 1e16, as a whole number: so both are one here.
    """
    number = float(text) or 0.0
    try:
        if math.isfinite(number) and Decimal(text) != Decimal(repr(number)):
            return text
        return int(Decimal(text)) if 1e16 <= abs(number) < math.inf else number
    except InvalidOperation:  # an exponent of 20 digits
        return text


def in_column(row: Mapping[Any, Any], column: str | None, default: Any = None) -> Any:
    """The value of an optional column. None is no column; "" would be the one without a name."""
    return default if column is None else row.get(column, default)


def printable(text: str) -> str:
    """A text or message for terminals, pages and logs: control characters and surrogates are escaped, as in JSON."""
    if text.isprintable():
        return text
    return with_texts(text, lambda part: _NOT_PRINTED.sub(lambda match: f"\\u{ord(match[0]):04x}", part))


def printable_in(value: Any) -> Any:
    """A JSON value with every text and key `printable`."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable_in(key): printable_in(inner) for key, inner in value.items()}
    return type(value)(map(printable_in, value)) if isinstance(value, list | tuple) else value
