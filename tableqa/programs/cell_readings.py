"""What a program sees in a cell: an amount, a point in time, or words.

`tableqa.cells` reads a text as a number only if it is nothing else. A program is asked about tables as they are, with
"5 (2)", "12th" and "10.5 m (34 ft)" in their columns; here such a text has the amount that it begins with.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from tableqa.cells import dates_of, fold, format_of, number_of, time_of, without_details, without_notes

Kind = Literal["number", "date", "time"]
Key = tuple[Decimal, ...]
"""What is compared: (amount,), (year, month, day) with 0 for what is not written, or (seconds,)."""

_LEADING = re.compile(
    r"(?P<sign>[-+])?[~<>≈=]? ?(?P<currency>[$€£¥])? ?(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<decimals>\.\d+)?"
    r"(?:st|nd|rd|th)?(?P<scale> (?:thousand|million|billion)\b)?(?=$|[\s%(\[/*;=])(?! ?[-:/] ?\d)(?! \d)",
    re.IGNORECASE,
)
_POWERS = {"": 0, "thousand": 3, "million": 6, "billion": 9}
_TIED = re.compile(r"(?:t|tied|=)[- ]?(\d{1,4})(?:st|nd|rd|th)?|(\d{1,4})(?:st|nd|rd|th)?[- ]?(?:t|tied|=)")
_MINUTES = (1, 60, 3600)
_YEAR = re.compile(r"(?<![\d.,])(?:1[0-9]\d\d|20\d\d|21\d\d)(?![\d%]|[.,]\d)")


@dataclass(frozen=True, slots=True)
class CellReading:
    """What is seen in one text.

    plain    folded, in lower case, without notes at its end
    bare     the same without details in brackets at its end
    silent   whether the text says nothing: it is empty or a sign for nothing ("-", "n/a")
    number   the amount, None if there is none; a date has none
    whole    whether the amount is all that the text says, its unit aside
    dates    the dates that it can be, as keys
    time     the time of day or duration in seconds, None if it is neither
    """

    plain: str
    bare: str
    silent: bool
    number: Decimal | None
    whole: bool
    dates: tuple[Key, ...]
    time: Decimal | None

    @property
    def is_dash(self) -> bool:
        """Whether the text has only dashes: how accountants write 0."""
        return bool(self.plain) and not self.plain.strip("-")

    @property
    def _year(self) -> Key | None:
        """A bare year, among dates: the year alone."""
        number = self.number if self.whole else None
        is_year = number is not None and 1000 <= number < 2200 and number == int(number)
        return (number, Decimal(0), Decimal(0)) if is_year and number is not None else None

    def key(self, kind: Kind) -> Key | None:
        """What the text is compared by as something of this kind, None if it is nothing of it."""
        if kind == "number":
            return None if self.number is None else (self.number,)
        if kind == "date":
            return self.dates[0] if self.dates else self._year
        return None if self.time is None else (self.time,)


@lru_cache(maxsize=65_536)
def reading(text: str) -> CellReading:
    """The reading of a cell or of a value that cells are compared with; never fails."""
    folded = without_notes(fold(text))
    plain = folded.lower()
    bare = without_details(plain)
    silent = format_of(text).kind == "none" or not folded
    dates = () if silent else tuple(_date_key(date.year, date.month, date.day) for date in dates_of(text))
    time = None if silent or dates else _seconds(text)
    number, whole = (None, False) if silent or dates or time is not None else _amount(text, plain, bare)
    return CellReading(plain, bare, silent, number, whole, dates, time)


def _date_key(*parts: int | None) -> Key:
    return tuple(Decimal(part or 0) for part in parts)


def _seconds(text: str) -> Decimal | None:
    time = time_of(text)
    if time is None:
        return None
    # 5:04 counts as minutes and seconds, 1:05:04 as hours, minutes and seconds: a column is written in one way.
    seconds = sum(part * size for part, size in zip(reversed(time.parts), _MINUTES, strict=False))
    return seconds + time.fraction


def _amount(text: str, plain: str, bare: str) -> tuple[Decimal | None, bool]:
    if number := number_of(text):
        return number.value, True
    if bare != plain and (number := number_of(bare)):
        return number.value, False
    if match := _TIED.fullmatch(bare):
        return Decimal(match[1] or match[2]), False
    if match := _LEADING.match(bare[:200]):
        value = Decimal((match["sign"] or "") + match["digits"].replace(",", "") + (match["decimals"] or ""))
        return value.scaleb(_POWERS[(match["scale"] or "").strip()]), False
    return None, False


def amount(seen: CellReading) -> Decimal | None:
    """The number that a text counts as in a calculation: its amount, the year of a date, 0 for a lone dash."""
    if seen.number is not None:
        return seen.number
    if seen.dates and seen.dates[0][0]:
        return seen.dates[0][0]  # what a difference in years is taken of
    return Decimal(0) if seen.is_dash else None


def year_in(text: str) -> str:
    """The year that a text holds, "" where it holds none or several."""
    years = set(_YEAR.findall(text)) if len(text) < 200 else set()
    return years.pop() if len(years) == 1 else ""


def kind_of_column(cells: Sequence[str]) -> Kind | None:
    """What most cells of a column are that say anything: numbers, dates or times; None if fewer than half are."""
    numbers = dates = times = filled_count = 0
    for text in cells:
        seen = reading(text)
        filled_count += not seen.silent
        numbers += seen.number is not None
        dates += bool(seen.dates)
        times += seen.time is not None
    if (
        dates
        and numbers
        and all(reading(text).key("date") for text in cells if reading(text).number is not None)
    ):
        dates += numbers  # years among dates
        numbers = 0
    most = max(numbers, dates, times)
    if not most or 2 * most < filled_count:
        return None
    return "number" if numbers == most else ("date" if dates == most else "time")


def names(first: CellReading, second: CellReading) -> bool:
    """Whether two texts may name the same, where one of them leaves out details in brackets."""
    return same(first, second) or first.bare == second.plain or first.plain == second.bare


def same(first: CellReading, second: CellReading) -> bool:
    """Whether two texts say the same: equal numbers, dates that can be the same day, or equal words."""
    if first.plain == second.plain:
        return True
    if first.whole and second.whole:
        return first.number == second.number
    return bool(first.dates and second.dates and set(first.dates) & set(second.dates))


def contains(cell: CellReading, part: CellReading) -> bool:
    """Whether the words of `part` stand in `cell`, one after the other and as whole words."""
    if not part.plain:
        return False
    start = cell.plain.find(part.plain)
    while start >= 0:
        end = start + len(part.plain)
        before, after = cell.plain[start - 1 : start], cell.plain[end : end + 1]
        if not (before.isalnum() and part.plain[0].isalnum()) and not (
            after.isalnum() and part.plain[-1].isalnum()
        ):
            return True
        start = cell.plain.find(part.plain, start + 1)
    return False


def order(cell: CellReading, value: CellReading) -> int | None:
    """-1, 0 or 1: whether a cell is less than, equal to or greater than a value; None where they do not compare.

    A number compares with a date by the year: a day in 2005 is neither before nor after 2005.
    """
    if value.number is not None:
        if cell.number is not None:
            return _sign(cell.number - value.number)
        return _sign(cell.dates[0][0] - value.number) if cell.dates and cell.dates[0][0] else None
    if value.dates:
        if cell.dates:
            return (cell.dates[0] > value.dates[0]) - (cell.dates[0] < value.dates[0])
        year = value.dates[0][0]
        return _sign(cell.number - year) if cell.number is not None and year else None
    if value.time is not None and cell.time is not None:
        return _sign(cell.time - value.time)
    return None


def _sign(number: Decimal) -> int:
    return (number > 0) - (number < 0)
