"""The text of a cell as the bundled model compares it: its normal form, its words, and its number."""

import re
from dataclasses import dataclass
from functools import lru_cache

from tableqa.cells import dates_of, fold, number_of, time_of, without_notes

NOTHING = frozenset(
    ("", "-", "--", "n/a", "na", "none", "?", "tba", "tbd", "unknown", "nil", "...", "—", "null")
)
_STOPS = """
a an the of in on at to for from by with and or is are was were be been being did do does has have had how many much
what which who whom whose when where that this these those it its as than there their they he she his her not no if
into out up only same also each any all s t name list listed table chart total number
"""
STOP_WORDS = frozenset(_STOPS.split())
WORD = re.compile(r"[^\W\d_]+|\d+(?:,\d{3})*(?:\.\d+)?")
_LEADING = re.compile(r"[^\d]{0,12}?(-?\d+(?:,\d{3})*(?:\.\d+)?)")
_SUFFIXES = ("ies", "ing", "ed", "es", "s")

NUMBER, DATE, TIME = 1, 2, 3
"""Kinds of a reading."""


@dataclass(frozen=True, slots=True)
class CellFeatures:
    """What is seen in the text of one cell, whatever table it stands in.

    normal    in lower case and one typography, without notes: two cells with one normal form say the same
    phrase    its words with single blanks between; "" where they are all stop words
    words     the stems of its content words, each once
    number    what it is worth on a line of numbers: a number, a date in years, a time; the first number in it; or nan
    kind      0 no number, NUMBER, DATE, TIME, 4 a number somewhere in a text
    """

    normal: str
    phrase: str
    words: tuple[str, ...]
    number: float
    kind: int
    length: int


def stem(word: str) -> str:
    """A word without the commonest English endings, so that "wins" meets "win"."""
    if word[0].isdecimal():
        return word.replace(",", "")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)] + ("y" if suffix == "ies" else "")
    return word


@lru_cache(maxsize=65_536)
def read(text: str) -> CellFeatures:
    """The reading of a cell's text."""
    normal = without_notes(fold(text[:2_000])).lower()
    words = WORD.findall(normal)
    content = tuple(dict.fromkeys(stem(word) for word in words if word not in STOP_WORDS))
    nothing = normal in NOTHING
    value, kind = (float("nan"), 0) if nothing else _value(text, normal)
    short = not content or nothing or len(words) > 12 or (len(normal) < 2 and not normal.isdigit())
    return CellFeatures(
        normal=normal,
        phrase="" if short else " ".join(word.replace(",", "") for word in words),
        words=() if nothing else content[:24],
        number=value,
        kind=kind,
        length=len(normal),
    )


def _value(text: str, normal: str) -> tuple[float, int]:
    if (number := number_of(text)) is not None and abs(number.value) < 10**15:
        return float(number.value), NUMBER
    if dates := dates_of(text):
        date = dates[0]
        return (date.year or 0) + ((date.month or 1) - 1) / 12 + ((date.day or 1) - 1) / 372, DATE
    if (time := time_of(text)) is not None:
        value = 0
        for part in time.parts:
            value = value * 60 + part
        return float(value) + float(time.fraction), TIME
    if match := _LEADING.match(normal):
        return float(match[1].replace(",", "")), 4
    return float("nan"), 0
