"""The names that columns usually have in place of one another: a small list, before any thesaurus is asked.

A thesaurus knows words, not columns: of "Notes" it knows tones and banknotes. What columns of these names mean in
nearly every table is short enough to be written down (usual_names.txt), some of it for some kinds of cells only: a
"Position" among numbers is a rank, among words a role.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tableqa.core.translation import message
from tableqa.perturbations.headers.alternatives import Suggestion
from tableqa.perturbations.headers.thesaurus import regular
from tableqa.perturbations.headers.word_forms import KINDS, Word, kinds_of, replace_words, words_of

NAMES = Path(__file__).with_name("usual_names.txt")

_LINE = re.compile(r"(?P<name>[^{:]+?)(?: \{(?P<kinds>[^}]+)\})?: (?P<others>.+)")
_LEAST_SHARE = 0.5
_LONGEST = 3
STANDS_FOR = message("headers.stands_for", "often stands for “{word}”")
"""Why a suggestion is made; kept with a proposal, in English."""
_WHOLE, _LAST, _STEP = 0.95, 0.8, 0.05
"""What the first of the other names counts: for the whole header, for its last words; and what each further one less."""


@dataclass(frozen=True, slots=True)
class _Entry:
    kinds: frozenset[str]
    others: tuple[str, ...]


def usual_names(header: str, cells: Sequence[str]) -> Iterator[Suggestion]:
    """Other names for a column, where its whole header or the last words of it are listed, for cells of these kinds."""
    words = words_of(header)
    kinds = kinds_of(cells)
    for start in range(max(0, len(words) - _LONGEST), len(words)):
        phrase = words[start:]
        written = header[phrase[0].start : phrase[-1].end]
        other_names = list(_other_names(" ".join(re.sub(r"[\W_]+", " ", written).lower().split()), kinds))
        if not other_names and "-" in written:
            other_names = list(_other_names(written.lower(), kinds))
        if other_names:
            yield from _suggestions(header, phrase, other_names, _WHOLE if start == 0 else _LAST)
            return


def is_whole(suggestions: Iterable[Suggestion]) -> bool:
    """Whether the whole header is listed, so that a thesaurus could add words of other senses only."""
    return any(suggestion.score == _WHOLE for suggestion in suggestions)


def is_usual(name: str) -> bool:
    """Whether columns are often called so."""
    return name.lower() in _entries()


def _suggestions(
    header: str, phrase: Sequence[Word], others: Sequence[str], score: float
) -> Iterator[Suggestion]:
    written = " ".join(header[phrase[0].start : phrase[-1].end].split())
    for rank, other in enumerate(others):
        why = STANDS_FOR.format(word=written)
        yield Suggestion(replace_words(header, phrase, other), "usual", why, score - rank * _STEP)


def _other_names(name: str, kinds: dict[str, float]) -> Iterator[str]:
    entries, plural = _entries().get(name, ()), False
    if not entries:
        for ending, replacement in (("ies", "y"), ("es", ""), ("s", "")):
            if name.endswith(ending) and name[: -len(ending)] + replacement in _entries():
                entries, plural = _entries()[name[: -len(ending)] + replacement], True
                break
    total_share = sum(kinds.values())
    seen: set[str] = set()
    for entry in entries:
        share = sum(share for kind, share in kinds.items() if kind in entry.kinds)
        if total_share and share < _LEAST_SHARE:
            continue
        for other in entry.others:
            if other not in seen:
                seen.add(other)
                yield _plural(other) if plural else other


def _plural(name: str) -> str:
    if name.endswith("s") and not name.endswith("ss"):
        return name
    head, of, rest = name.partition(" of ")
    first, blank, last = head.rpartition(" ")
    return first + blank + (regular(last, "plural") or last) + of + rest


@cache
def _entries() -> dict[str, tuple[_Entry, ...]]:
    entries_by_name: dict[str, list[_Entry]] = {}
    for line_number, line in enumerate(NAMES.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        kinds = frozenset((match["kinds"] or " ".join(KINDS)).split()) if match else frozenset()
        if match is None or not kinds <= set(KINDS):
            raise ValueError(
                f"{NAMES.name}, line {line_number}: {line!r} is not a name, its kinds and other names"
            )
        entries_by_name.setdefault(match["name"], []).append(
            _Entry(kinds, tuple(match["others"].split(", ")))
        )
    return {name: tuple(entries) for name, entries in entries_by_name.items()}
