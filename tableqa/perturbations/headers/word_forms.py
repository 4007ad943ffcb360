"""How a header is written: its words, their case, what must not be touched, and when two headers are the same."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tableqa.cells import fold, view, without_notes
from tableqa.data.tables import Table

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")

LONGEST = 120
"""Characters up to which a header is looked at; a longer one is a sentence, and gets no suggestions."""

_SMALL = (
    "a an and as at by for from in into near of off on onto or over per since than the to under until up upon versus "
    "via vs with within without"
)
SMALL = frozenset(_SMALL.split())
"""Words that hold a name together and are neither replaced nor given an initial."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a header and where it is in it: header[start:end] == text."""

    text: str
    start: int
    end: int

    @property
    def small(self) -> bool:
        return self.text.lower() in SMALL


def words_of(header: str) -> list[Word]:
    """The words of a header outside brackets, which hold units, notes and formats ("Area (km²)", "Time (h:m:s)").

    "(s)" after a word is left standing, too. None for a header that is too long to be a name.
    """
    if len(header) > LONGEST:
        return []
    hidden = [match.span() for match in _BRACKETED.finditer(header)]
    return [
        Word(match.group(), *match.span())
        for match in _WORD.finditer(header)
        if not any(start <= match.start() < end for start, end in hidden)
    ]


def replace_words(header: str, words: Sequence[Word], text: str) -> str:
    """The header with these words, and what is between them, replaced by `text` in their case."""
    start, end = words[0].start, words[-1].end
    return header[:start] + in_case_of(header, words, text) + header[end:]


def in_case_of(header: str, words: Sequence[Word], text: str) -> str:
    """`text` in the case of the words that it replaces; its own capitals ("TV") stay."""
    old = "".join(word.text for word in words)
    if len(old) > 3 and old.isupper():  # "TV" and "GDP" are in capitals for another reason than "TEAM" is
        return text.upper()
    if not old[0].isupper():
        return text
    long = [word for word in words_of(header) if not word.small]
    every = len(long) > 1 and all(word.text[0].isupper() for word in long)
    parts = text.split(" ")
    return " ".join(
        part[:1].upper() + part[1:] if i == 0 or (every and part not in SMALL) else part
        for i, part in enumerate(parts)
    )


def same_name(header: str) -> str:
    """What two headers have in common if they differ only in case, notes, blanks or marks: "No. " and "no"."""
    return re.sub(r"[\W_]+", " ", without_notes(fold(header)).casefold()).strip() or fold(header)


def names_in_use(table: Table) -> frozenset[str]:
    """`same_name` of every header of a table: what no column of it may be called again."""
    return frozenset(same_name(header) for header in table.header)


KINDS = ("number", "year", "date", "time", "words", "mixed")
"""Kinds of cells that tell columns apart; "words" are texts without a digit, "mixed" texts with one ("W 3-2")."""


def kinds_of(cells: Sequence[str]) -> dict[str, float]:
    """The share of each kind among the cells that are not empty (the first 200 of them)."""
    counts = dict.fromkeys(KINDS, 0)
    for text in [text for text in cells if text.strip()][:200]:
        counts[_kind(text)] += 1
    total = sum(counts.values())
    return {kind: count / total for kind, count in counts.items() if count} if total else {}


def _kind(text: str) -> str:
    seen = view(text)
    if seen.number is not None and seen.number.plain and len(text.strip()) == 4:
        return "year" if 1500 <= seen.number.value <= 2100 else "number"
    if seen.kind == "text":
        return "mixed" if any(map(str.isdigit, text)) else "words"
    return seen.kind
