"""Ways to split a column that its cells suggest, with names for the parts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from tableqa.cells import format_of, number_of
from tableqa.perturbations.splitting.cuts import ColumnSplit, split
from tableqa.perturbations.splitting.new_names import HEADER, part_names
from tableqa.perturbations.splitting.rules import At, Delimiter, Pattern, Way

if TYPE_CHECKING:
    from tableqa.perturbations.headers import HeaderNames

_LEAST_SHARE = 0.6
_LEAST_ROWS = 2
_LOOKED_AT = 300
_MOST_PARTS = 6

_MONTH = r"((?i:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?)"
_WEEKDAY = r"((?i:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?i:day)?\.?)"
_NUMBER = r"[-+−]?[\d][\d.,]*"


@dataclass(frozen=True, slots=True)
class _Form:
    """A form in which compound cells are written. `names` with "" where the header, or what the part holds, tells."""

    words: str
    way: Way
    names: tuple[str, ...]


_FORMS = (
    _Form("month, day, year", Pattern(_MONTH + r"\s+(\d{1,2})(?:st|nd|rd|th)?\s*,?\s+(\d{4})"), ("Month", "Day", "Year")),
    _Form("day, month, year", Pattern(r"(\d{1,2})(?:st|nd|rd|th)?\s+" + _MONTH + r",?\s+(\d{4})"), ("Day", "Month", "Year")),
    _Form("year, month, day", Pattern(r"(\d{4})-(\d{1,2})-(\d{1,2})"), ("Year", "Month", "Day")),
    _Form("month, year", Pattern(_MONTH + r",?\s+(\d{4})"), ("Month", "Year")),
    _Form("month, day", Pattern(_MONTH + r"\s+(\d{1,2})(?:st|nd|rd|th)?"), ("Month", "Day")),
    _Form("day, month", Pattern(r"(\d{1,2})(?:st|nd|rd|th)?\s+" + _MONTH), ("Day", "Month")),
    _Form("day of the week, date", Pattern(_WEEKDAY + r",?\s+(.*\d.*)"), ("Weekday", "Date")),
    _Form("first and last year", Pattern(r"(\d{4})\s*[-–—−]\s*(\d{4}|\d{2}|(?i:present|date)?)"), ("From", "To")),
    _Form("result and score", Pattern(r"((?i:win|loss|lost|won|draw|tie|[wldt]))\s*[,:]?\s*(\d.*)"), ("Outcome", "Score")),
    _Form("three numbers", Pattern(r"(\d{1,3})\s*[-–—−]\s*(\d{1,3})\s*[-–—−]\s*(\d{1,3})"), ("", "", "")),
    _Form("two numbers", Pattern(r"(\d{1,3})\s*[-–—−:]\s*(\d{1,3})"), ("", "")),
    _Form("number and unit", Pattern(rf"({_NUMBER})\s*([A-Za-z°%‰²³/µ]+\.?(?:\s[a-z²³/]+)?)"), (HEADER, "Unit")),
    _Form("currency and number", Pattern(rf"([A-Z]{{0,3}}[$€£¥])\s*({_NUMBER})"), ("Currency", HEADER)),
    _Form("number and number in brackets", Pattern(rf"({_NUMBER}[^()\n]*?)\s*\(([^()\n]*\d[^()\n]*)\)"), (HEADER, "")),
    _Form("text and text in brackets", Pattern(r"([^()]+?)\s*\(([^()]+)\)"), (HEADER, "")),
    _Form("text in quotes and the rest", Pattern(r"\"([^\"]+)\"\s*(\S.*)"), (HEADER, "")),
)  # fmt: skip

_DELIMITERS = (
    *(
        "\n",
        ", ",
        "; ",
        " / ",
        "/",
        " | ",
        "|",
        " – ",
        " — ",
        " - ",
        "–",
        "-",
        ": ",
        " & ",
        " and ",
        " vs. ",
        " vs ",
    ),
    *(" v ", " @ ", " at ", " by ", " to ", " x ", "•", ",", "\u00a0", " "),
)
_CODE = re.compile(r"(?=.*\d)(?=.*(?<![A-Z])[A-Z]{1,4}(?![A-Z]))[\dA-Z.:–-]+")
"""What is between blanks and is one name, of capitals and digits: "3166-2:AF", "F-16"."""
_MONTHS = re.compile(r"JAN|FEB|MAR|APR|MAY|JUNE?|JULY?|AUG|SEPT?|OCT|NOV|DEC")
_HYPHENED = re.compile(r"[^\W\d_]-([^\W\d_])")

_LONGEST = 100
"""Characters of a cell, on average, beyond which a column holds sentences, which are not split at a word."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A way to split a column: in how many of its filled rows it works, names for the parts, and one row as example."""

    way: Way
    words: str
    names: tuple[str, ...]
    splits: int
    of: int
    example: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "by": self.way.to_dict(),
            "words": self.words,
            "names": list(self.names),
            "splits": self.splits,
            "of": self.of,
            "example": list(self.example),
        }


def proposals(
    cells: Sequence[str], header: str = "", names: "HeaderNames | None" = None, most: int = 5
) -> list[Proposal]:
    """Ways in which at least 60 % of the filled cells split into the same number of parts, the best first.

    Known forms ("May 5, 2004", "Ann (USA)", "3-2", "12 km", ...) come before delimiters where they split as many rows.
    Of ways that cut alike one is kept. `part_names` names the parts; the project's column names help where nothing else
    tells.
    Looks at the first 300 filled cells.
    """
    filled = [cell for cell in cells if format_of(cell).kind != "none"][:_LOOKED_AT]
    candidates: list[tuple[float, ColumnSplit, str, tuple[str, ...]]] = []
    for rank, form in enumerate(_FORMS):
        candidates += _score(split(filled, form.way), form.words, form.names, 0.15 - rank / 1000)
    for rank, text in enumerate(_delimiters(filled)):
        for step, at in enumerate(get_args(At)):
            if (text != " " or at == "every") and not _cuts_names(filled, text):
                way = Delimiter(text, at)
                candidates += _score(split(filled, way), way.words, (), -rank / 1000 - 0.05 * (step > 0))
    candidates.sort(key=lambda candidate: -candidate[0])
    chosen: list[Proposal] = []
    seen: set[tuple[object, ...]] = set()
    for _, splitting, label, form_names in candidates:
        key = tuple(cut.parts for cut in splitting.cuts)
        if key not in seen and len(chosen) < most:
            seen.add(key)
            chosen.append(_proposal(splitting, label, form_names, header, names))
    return chosen


def _delimiters(cells: Sequence[str]) -> Sequence[str]:
    """The delimiters to try; none where the cells are numbers ("1,204") or sentences."""
    numeric = sum(number_of(cell) is not None for cell in cells)
    if not cells or numeric > 0.5 * len(cells) or sum(map(len, cells)) > _LONGEST * len(cells):
        return ()
    return _DELIMITERS


def _cuts_names(cells: Sequence[str], text: str) -> bool:
    """Whether this delimiter, where it is in a cell, mostly cuts through a code or a hyphened word."""
    if text.strip() != text:
        return False
    holding = [
        [chunk for chunk in cell.split() if text in chunk.strip(text)] for cell in cells if text in cell
    ]
    cut = [
        chunks
        for chunks in holding
        if any(_is_code(piece) or (text == "-" and _is_word(piece)) for piece in chunks)
    ]
    return len(cut) > 0.5 * len(holding)


def _is_code(chunk: str) -> bool:
    return bool(_CODE.fullmatch(chunk)) and not _MONTHS.search(chunk)


def _is_word(chunk: str) -> bool:
    return any(after.islower() for after in _HYPHENED.findall(chunk))


def _score(
    splitting: ColumnSplit, text: str, names: tuple[str, ...], bonus: float
) -> list[tuple[float, ColumnSplit, str, tuple[str, ...]]]:
    parts = [cut.parts for cut in splitting.cuts if cut.parts]
    if len(parts) < _LEAST_ROWS or splitting.share < _LEAST_SHARE or splitting.number > _MOST_PARTS:
        return []
    empty = sum(not part for row in parts for part in row) / (len(parts) * splitting.number)
    if empty > 0.2:
        return []
    blank = isinstance(splitting.way, Delimiter) and splitting.way.text == " "
    if blank and not _names_of_people(parts):
        return []
    if names[:1] == ("Outcome",) and len({row[0].lower() for row in parts}) < 2:
        return []  # "D 40" in a column of models, not of draws
    if text == "text and text in brackets" and all(len(row[1]) == 1 and row[1].islower() for row in parts):
        return []  # "Clay (i)": a mark, not what a column could hold
    if names[1:] == ("Unit",) and {row[1].lower() for row in parts} <= {"st", "nd", "rd", "th"}:
        return []
    return [(splitting.share + bonus - empty, splitting, text, names)]


def _names_of_people(parts: Sequence[tuple[str, ...]]) -> bool:
    """Whether blanks part first from last names, and not the words of titles and sentences."""
    named = [
        row
        for row in parts
        if len(row) == 2
        and all(part[:1].isupper() and part.isalpha() for part in row)
        and not (len(row[0]) > 2 and row[0].isupper())  # "HMS Sunflower"
    ]
    lasts = {row[-1] for row in named}
    return len(named) >= 0.8 * len(parts) and len(lasts) >= 0.7 * len(named)


def _proposal(
    splitting: ColumnSplit, text: str, form_names: tuple[str, ...], header: str, names: "HeaderNames | None"
) -> Proposal:
    chosen = part_names(splitting, header, form_names, names.guess if names is not None else None)
    example = next(cut.parts for cut in splitting.cuts if cut.parts)
    splits = sum(cut.parts is not None for cut in splitting.cuts)
    return Proposal(splitting.way, text, chosen, splits, len(splitting.cuts), example)
