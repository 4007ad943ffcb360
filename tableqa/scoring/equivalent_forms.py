"""Answers that are another form of each other though no published rule takes them for equal: 1.5 km and 1500 m.

    same_in_another_form(["1 hour"], ["60 minutes"])     True
    same_in_another_form(["1 hour"], ["61 minutes"])     False

For verdicts on models (`tableqa.scoring.verdicts`), where a difference of form does not matter. Not for metrics: whether
"1" may mean "first" is for a person to say. What is here is exact: units of one kind, months and seasons written in
digits, ranks and other words for numbers, initials and turned names, "at" or "vs." before an opponent. A part of a name is
another answer (York is not New York, and Guinea not Papua New Guinea), as by the rules of WikiTableQuestions and TAPEX.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from tableqa.cells import Number, dates_of, fold, number_of, time_of
from tableqa.core.release_rules import version
from tableqa.data.answers import compare, normal_forms

MOST = 60
"""Answers in a list that is looked at."""

_SIZES: dict[str, tuple[str, Decimal]] = {
    unit: (kind, Decimal(size))
    for kind, sizes in {
        "time": {"second": "1", "minute": "60", "hour": "3600", "day": "86400", "week": "604800"},
        "calendar": {"month": "1", "year": "12", "decade": "120", "century": "1200"},
        "length": {
            "mm": "0.001",
            "cm": "0.01",
            "m": "1",
            "km": "1000",
            "inch": "0.0254",
            "foot": "0.3048",
            "yard": "0.9144",
            "mile": "1609.344",
        },
        "area": {
            "m2": "1",
            "hectare": "10000",
            "km2": "1000000",
            "acre": "4046.8564224",
            "mile2": "2589988.110336",
        },
        "mass": {"g": "1", "kg": "1000", "pound": "453.59237", "ounce": "28.349523125"},
        "power": {"W": "1", "kW": "1000", "MW": "1000000", "GW": "1000000000"},
        "frequency": {"Hz": "1", "kHz": "1000", "MHz": "1000000"},
        "speed": {"km/h": "1", "mph": "1.609344"},
        "count": {"": "1", "times": "1", "dozen": "12"},
    }.items()
    for unit, size in sizes.items()
}
"""What units measure, and their size in the smallest of the kind. A month has no fixed number of days: these are apart."""

_WORDS = {
    "once": "1",
    "twice": "2",
    "thrice": "3",
    "half": "1/2",
    "one half": "1/2",
    "a half": "1/2",
    "quarter": "1/4",
    "one quarter": "1/4",
    "a quarter": "1/4",
    "three quarters": "3/4",
    "a dozen": "12",
}
_SAYS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_RARE = re.compile(
    r"^(?P<number>[\d.,]+|[a-z]+)\s?(?P<unit>oz|ounces?|in|decades?|century|centuries|dozen)\.?$"
)
_RARE_UNITS = {"oz": "ounce", "ounces": "ounce", "in": "inch", "decades": "decade", "centuries": "century"}
"""Units that only matter beside others: a lone "5 in" is no number anywhere else."""
_RANK = re.compile(r"^(\d+)\s?(?:st|nd|rd|th)$")
_PARTS = re.compile(r"(?<![\w.])(?<!\d,)\d+(?:[.,]\d+)*\s*[a-z²°/]+(?:\s*(?:,|and|&)?\s*|$)")
_MONTH = re.compile(r"^(?:(?P<y>[12]\d{3})[-/.](?P<m>\d{1,2})|(?P<m2>\d{1,2})[-/.](?P<y2>[12]\d{3}))$")
_SEASON = re.compile(r"^(?P<first>[12]\d{3})[-/](?P<last>\d{2}|\d{4})$")
RULES_OF_OPPONENTS = 12
"""From these rules of releases on, an opponent with "at" or "vs." before it is the opponent: tables of games write both."""
_OPPONENT = re.compile(r"^(?:at|vs?\.?|against|@) ?(?=\w)(?<=\W)")
_NAME = re.compile(r"^[^\W\d_][^\W\d_'.-]*(?:[ .'-]+[^\W\d_][^\W\d_'.-]*)+\.?$")


def same_in_another_form(predicted: Sequence[str], gold: Sequence[str]) -> bool:
    """Whether both lists say the same, each answer once, some of them in another form. Which side is which is the same."""
    if len(predicted) != len(gold) or not 0 < len(predicted) <= MOST:
        return False
    remaining = list(gold)
    for answer in predicted:
        match = next((candidate for candidate in remaining if _same(answer, candidate)), None)
        if match is None:
            return False
        remaining.remove(match)
    return True


def _same(first: str, second: str) -> bool:
    if compare([first], [second]).equal:
        return True
    mine, theirs = _read(first), _read(second)
    return (
        bool(mine.keys & theirs.keys)
        or any(_near(a, b) for a in mine.amounts for b in theirs.amounts)
        or _same_name(first, second)
    )


# -- one answer -------------------------------------------------------------------------------------


class _Form:
    """What an answer may be: keys that are equal for the same thing, and amounts (kind, size, tolerance, written)."""

    def __init__(self, text: str) -> None:
        plain = " ".join(fold(text).lower().split()).strip()
        loose = normal_forms(text)[-1]
        self.keys: set[tuple[object, ...]] = set()
        self.amounts: list[tuple[str, Decimal, Decimal, str]] = []
        if meaning := _SAYS.get(plain):
            self.keys.add(("says", meaning))
        if season := _season(plain):
            self.keys.add(("season", *season))
        if version() >= RULES_OF_OPPONENTS:
            self.keys.add(("opponent", _OPPONENT.sub("", plain)))
        self.keys |= {("month", *month) for month in _months(plain, text)}
        for number in {_WORDS.get(plain, plain), _RANK.sub(r"\1", loose)}:
            self._add(number, "rank" if number != plain else "")
        self._add_parts(plain)
        self._add_clock(text)

    def _add(self, text: str, how: str) -> None:
        number = _number(text)
        if number is None:
            return
        kind, size = _SIZES.get(number.unit, ("", Decimal(0)))
        if number.unit == "%":
            kind, size = "count", Decimal("0.01")
            how = how or "%"
        if kind:
            self.amounts.append((kind, number.value * size, _tolerance(number) * size, how or number.unit))

    def _add_parts(self, plain: str) -> None:
        """1 h 30 min, 5 ft 10 in: amounts of one kind, the larger first."""
        parts = [part.strip(" ,&").removesuffix(" and") for part in _PARTS.findall(plain)]
        if len(parts) < 2 or _PARTS.sub("", plain).strip():
            return
        units = [_number(part) for part in parts]
        sizes = [_SIZES.get(unit.unit) if unit else None for unit in units]
        sized_units = [(size, unit) for size, unit in zip(sizes, units, strict=True) if size and unit]
        if len(sized_units) != len(parts) or len({size[0] for size, _ in sized_units}) != 1:
            return
        if any(a[0][1] <= b[0][1] for a, b in itertools.pairwise(sized_units)):
            return
        total = sum((size[1] * unit.value for size, unit in sized_units), Decimal(0))
        self.amounts.append((sized_units[0][0][0], total, Decimal(0), "parts"))

    def _add_clock(self, text: str) -> None:
        """1:30 is an hour and a half, or a minute and a half."""
        clock = time_of(text)
        if clock is None or "m" in text.lower():
            return
        for last in (1, 60) if len(clock.parts) == 2 else (1,):
            size = Decimal(0)
            for part in clock.parts:
                size = size * 60 + part
            amount = (size + clock.fraction) * last
            self.amounts.append(("time", amount, Decimal(0), f"clock {len(clock.parts)} {last}"))


@lru_cache(maxsize=4_096)
def _form(text: str, rules: int) -> _Form:
    """The form of a text under these rules (`version`)."""
    return _Form(text)


def _read(text: str) -> _Form:
    return _form(text, version())


def _number(text: str) -> Number | None:
    number = number_of(text)
    if number is None and (match := _RARE.fullmatch(text)):
        bare = number_of(match["number"])
        if bare is not None and not bare.unit:
            return replace(bare, unit=_RARE_UNITS.get(match["unit"], match["unit"]))
    return number


def _tolerance(number: Number) -> Decimal:
    """Half of the last digit of a measured value, where it has enough digits to be one that was rounded."""
    if number.digits < 3 or not number.decimals:
        return Decimal(0)
    return Decimal(1).scaleb(-number.decimals) / 2


def _near(first: tuple[str, Decimal, Decimal, str], second: tuple[str, Decimal, Decimal, str]) -> bool:
    """Whether two amounts of a kind are one, and are written in two ways: what differs in one way is another answer."""
    if first[0] != second[0] or first[3] == second[3] or {first[3], second[3]} <= {"", "times"}:
        return False
    if first[3].startswith("clock") and second[3].startswith("clock") and first[3][6] == second[3][6]:
        return False
    return abs(first[1] - second[1]) <= max(first[2], second[2])


def _months(plain: str, text: str) -> set[tuple[int, int]]:
    """1991-04, 04/1991, April 1991."""
    if match := _MONTH.fullmatch(plain.replace("–", "-")):
        year, month = int(match["y"] or match["y2"]), int(match["m"] or match["m2"])
        return {(year, month)} if 1 <= month <= 12 else set()
    return {
        (date.year, date.month)
        for date in dates_of(text)
        if date.year is not None and date.month is not None and date.day is None
    }


def _season(plain: str) -> tuple[int, int] | None:
    """2010-11, 2010/11, 2010-2011: two years one after the other."""
    match = _SEASON.fullmatch(plain.replace("–", "-"))
    if not match:
        return None
    first, last = int(match["first"]), int(match["last"])
    return (first, first + 1) if last in (first + 1, (first + 1) % 100) else None


def _same_name(first: str, second: str) -> bool:
    """J. Smith, John Smith; Smith, John."""
    mine, theirs = _turned(first), _turned(second)
    if not (_NAME.fullmatch(mine) and _NAME.fullmatch(theirs)) or mine == theirs:
        return bool(mine) and mine == theirs and first != second
    a, b = ([part for part in re.split(r"[ .]+", name) if part] for name in (mine, theirs))
    if len(a) != len(b) or a[-1] != b[-1] or len(a[-1]) < 2:
        return False
    return all(
        x == y or (min(len(x), len(y)) == 1 and x[0] == y[0]) for x, y in zip(a[:-1], b[:-1], strict=True)
    )


def _turned(name: str) -> str:
    """A name with what is behind its only comma in front."""
    plain = " ".join(fold(name).lower().split())
    last, comma, first = plain.partition(", ")
    return f"{first} {last}" if comma and "," not in first and first else plain
