"""Where the parts of a cell come from: what is in a part and not in the cell, and what of the cell is in no part.

Splitting a column must not tell anything new (RobuT 3.1: the table says the same in another shape). A part may write
what it holds in another way, though: "Jul" may become "July", "1961-66" a column with "1966".
"""

import calendar
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tableqa.cells import fold
from tableqa.perturbations.headers.word_forms import SMALL

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_INITIALS = re.compile(r"(?<!\w)(?:[^\W\d_]\.)+[^\W\d_](?!\w)\.?")
_DOTTED_DATE = re.compile(r"\d{1,4}\.\d{1,2}\.\d{1,4}")
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_SHORT_MONTHS = {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_JOINING = SMALL | {"v", "x", "st", "nd", "rd", "th"}
"""Words that only part the parts, or say how a number is written."""


def untraceable_words(part: str, cell: str) -> tuple[str, ...]:
    """The words and numbers of `part` that neither are in `cell` nor follow from one that does; none for a cut of it.

    Case, accents and blanks do not count. Months may be written out, shortened or numbered, years in two digits or four,
    numbers with or without their separators.
    """
    if _line(part) in _line(cell):
        return ()
    cell_readings = {reading for token in _tokens(cell) for reading in _readings(token)}
    years = {token[:2] for token in _tokens(cell) if len(token) == 4 and token.isdigit()}
    return tuple(token for token in _tokens(part) if not _follows(token, cell_readings, years))


def lost_words(cell: str, parts: Sequence[str]) -> tuple[str, ...]:
    """The words and numbers of `cell` that occur whole in none of `parts`, in no other form either; small words aside.

    A word that a cut goes through is lost: "B" and "ob" do not hold "Bob". Cuts between words, at signs and between
    digits and letters lose nothing.
    """
    part_readings = {reading for part in parts for token in _tokens(part) for reading in _readings(token)}
    ends = {token[-2:] for part in parts for token in _tokens(part) if len(token) == 4 and token.isdigit()}
    joined = {run.group().replace(".", "") for run in _INITIALS.finditer(_line(cell))} & part_readings
    text = _INITIALS.sub(
        lambda run: "" if run.group().replace(".", "") in joined else run.group(), _line(cell)
    )
    return tuple(
        token
        for token in _TOKEN.findall(text)
        if token not in _JOINING
        and part_readings.isdisjoint(_readings(token))
        and not (len(token) == 2 and token in ends)
        and not (
            _DOTTED_DATE.fullmatch(token) and all(_readings(n)[-1] in part_readings for n in token.split("."))
        )
    )


def _follows(token: str, readings: Iterable[str], centuries: Iterable[str]) -> bool:
    if any(reading in readings for reading in _readings(token)):
        return True
    if len(token) == 4 and token.isdigit():  # 1966, of 1961-66
        return token[:2] in centuries and token[2:] in readings
    return False


@lru_cache(maxsize=4096)
def _readings(token: str) -> tuple[str, ...]:
    """A word as it is compared: itself, its month, its number without separators and leading noughts."""
    if token[0].isdigit():
        bare = token.replace(",", "").lstrip("0") or "0"
        return tuple(dict.fromkeys((token, bare)))
    month = _MONTHS.get(token) or _SHORT_MONTHS.get(token)
    return (token, str(month)) if month else (token,)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_line(text))


def _line(text: str) -> str:
    return " ".join(fold(text).casefold().split())
