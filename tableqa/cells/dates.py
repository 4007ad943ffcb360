"""The date or time that a text is, exactly as precise as it is written."""

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from .folding import fold, without_notes

_LONGEST = 60
"""Characters up to which a text is tried as a date or time."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date; a part that is not written is None. A bare year is a number (`number_of`), not a date."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def precision(self) -> Literal["day", "month", "day of a year", "month of a year"]:
        """What is known: a day (year, month, day), a month (year, month), a day or month of any year."""
        if self.year is None:
            return "month of a year" if self.day is None else "day of a year"
        return "month" if self.day is None else "day"

    def __str__(self) -> str:
        """ISO 8601, with x for the digits of a part that is not written: "1991-04-07", "xxxx-04-07"."""
        year = "xxxx" if self.year is None else f"{self.year:04}"
        month = "xx" if self.month is None else f"{self.month:02}"
        day = "xx" if self.day is None else f"{self.day:02}"
        return f"{year}-{month}-{day}"


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day or a duration: its numbers as written, from the left, afternoon hours as 12 to 23.

    5:04 may be four past five or five minutes and four seconds; the text does not say, so nor does this.
    """

    parts: tuple[int, ...]
    fraction: Decimal = Decimal(0)


_NAMES = "january february march april may june july august september october november december"
_MONTHS = _NAMES.split()
_MONTH_NUMBERS = {name: i for i, name in enumerate(_MONTHS, 1)} | {
    name[:3]: i for i, name in enumerate(_MONTHS, 1)
}
_MONTH_NUMBERS |= {"sept": 9}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True)) + r")\.?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"

_WRITTEN = tuple(
    re.compile(_WEEKDAY + pattern)
    for pattern in (
        rf"(?:the )?{_DAY}[ -](?:of )?{_MONTH}(?:,? ?|-){_YEAR}",  # 7 April 1991, 7th of April, 1991, 7-Apr-1991
        rf"{_MONTH} (?:the )?{_DAY}(?: ?, ?| ){_YEAR}",  # April 7, 1991
        rf"{_YEAR},? {_MONTH} {_DAY}",  # 1991 April 7
        rf"{_MONTH}(?:,? |-){_YEAR}",  # April 1991
        rf"(?:the )?{_DAY}[ -](?:of )?{_MONTH}",  # 7 April, 31-Oct
        rf"{_MONTH} (?:the )?{_DAY}",  # April 7
        rf"{_MONTH}",
    )
)
_MIDNIGHT = r"(?:[ t]00:00(?::00(?:\.0+)?)?z?)?"
_ISO = re.compile(r"(?P<year>\d{4}|xxxx)([-/.])(?P<month>\d{1,2}|xx)\2(?P<day>\d{1,2}|xx)" + _MIDNIGHT)
_NUMERIC = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4})" + _MIDNIGHT
)
_TIME = re.compile(
    r"(?P<first>\d{1,3}):(?P<second>[0-5]\d)(?::(?P<third>[0-5]\d))?(?P<fraction>\.\d{1,9})? ?(?P<half>[ap]\.?m\.?)?"
)


@lru_cache(maxsize=16_384)
def dates_of(text: str) -> tuple[Date, ...]:
    """The dates that `text` can be: none, one, or two for 07/04/1991 (day first, then month first).

    A date with a point between its numbers is day first. Years have four digits; "4/7/91" and a bare year are no dates.
    """
    if not text or len(text) > _LONGEST:
        return ()
    folded = without_notes(fold(text)).lower()
    for pattern in _WRITTEN:
        if match := pattern.fullmatch(folded):
            parts = match.groupdict()
            return _valid(parts.get("year"), str(_MONTH_NUMBERS[parts["month"]]), parts.get("day"))
    if match := _ISO.fullmatch(folded):
        return _valid(match["year"], match["month"], match["day"])
    if match := _NUMERIC.fullmatch(folded):
        first, second, year = match["first"], match["second"], match["year"]
        day_first, month_first = _valid(year, second, first), _valid(year, first, second)
        if match["mark"] == "." or day_first == month_first:
            return day_first
        return day_first + month_first
    return ()


def has_months_first(texts: Iterable[str]) -> bool:
    """Whether dates of numbers have the month first: 12/25/1991 is among the texts, and no 25/12/1991."""
    matches = [_NUMERIC.fullmatch(text.strip().lower()) for text in texts if 8 <= len(text) <= _LONGEST]
    pairs = [
        (int(match["first"]), int(match["second"])) for match in matches if match and match["mark"] != "."
    ]
    return any(second > 12 for _, second in pairs) and all(first <= 12 for first, _ in pairs)


def _valid(year: str | None, month: str | None, day: str | None) -> tuple[Date, ...]:
    values = [int(part) if part and part.isdigit() else None for part in (year, month, day)]
    y, m, d = values
    if (m is None and d is None) or (m is None and y is None) or y == 0:
        return ()
    if m is None or not 1 <= m <= 12:
        return ()
    if d is not None and not 1 <= d <= monthrange(y or 2000, m)[1]:
        return ()
    return (Date(y, m, d),)


@lru_cache(maxsize=16_384)
def time_of(text: str) -> Time | None:
    """The time that `text` is, None if it is none: "5:04", "05:04", "5:04 pm", "1:05:04.2"."""
    if not text or len(text) > _LONGEST:
        return None
    match = _TIME.fullmatch(without_notes(fold(text)).lower())
    if not match:
        return None
    first = int(match["first"])
    if match["half"]:
        if not 1 <= first <= 12:
            return None
        first = first % 12 + 12 * match["half"].startswith("p")
    rest = [int(part) for part in (match["second"], match["third"]) if part is not None]
    return Time((first, *rest), Decimal("0" + (match["fraction"] or "")))
