"""The tables of a project as a corpus: which ones have to do with a table, and which of their columns could join it.

RobuT's annotators added columns from three retrieved tables (Zhao et al. 2023, section 3.1, column adding; LETA, section
5). Retrieval is an inverted index: a list of tables for every term. A query walks the lists of its own terms, rare
ones first, and never the tables; lists longer than a tenth of the corpus tell nothing and are left out.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from tableqa.cells import fold, view, without_details, without_notes
from tableqa.core.translation import joined, message
from tableqa.data.tables import Table
from tableqa.perturbations.headers.word_forms import same_name

K1, B = 1.2, 0.4
"""The parameters of BM25 (Robertson and Zaragoza 2009)."""

WEIGHTS = {"value": 1.0, "date": 0.25, "title": 1.0, "header": 0.4, "word": 0.5}
"""What a term counts by its position: a text in a key column, a date or year there, a word of title or caption, a
whole header, a word of a header of several words."""

_MOST_TERMS = 400
"""Terms of a query that are looked up, the rarest first."""

_MOST_KEYS = 3
_MOST_VALUES = 300
_LONGEST_VALUE = 80
_VERSION = 1
_KEYS = ("value", "date")
# Why a table is offered; kept with a proposal, in English. Pages say it in the reader's language.
KEYS = message("corpus.keys", "{number} of {of} values of the key columns match ({some}).")
TITLE = message("corpus.title", "Shared title words ({some}).")
NAMES = message("corpus.names", "Shared column names ({some}).")
LACKS = {
    True: message("corpus.lacks.one", "{number} additional column ({some})."),
    False: message("corpus.lacks.several", "{number} additional columns ({some})."),
}
"""By whether it is one."""
_WORD = re.compile(r"[^\W_]+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)


class CorpusError(ValueError):
    """What was given is not the JSON of an `Index`."""


@dataclass(frozen=True, slots=True)
class RelatedTable:
    """A table of the corpus that has to do with the one asked about.

    digest   the digest of the table
    score    higher is better; comparable within one answer
    shared   how many values of the key columns of the table asked about are in its key columns, of `of`
    why      the reasons, in words
    """

    digest: str
    score: float
    shared: int
    of: int
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "digest": self.digest,
            "score": round(self.score, 4),
            "shared": self.shared,
            "of": self.of,
            "why": self.why,
        }


@dataclass(slots=True)
class _Document:
    digest: str
    headers: tuple[str, ...]
    length: int


class Index:
    """An inverted index of tables. It grows by `add`; equal tables in an equal order make equal indexes.

    `visited` says how many entries of lists the last query walked.
    """

    def __init__(self) -> None:
        self.visited = 0
        self._documents: list[_Document] = []
        self._places: dict[str, int] = {}
        self._lists: dict[str, list[int]] = {}
        self._length = 0

    @classmethod
    def build(cls, tables: Iterable[Table]) -> Self:
        """The index of many tables."""
        index = cls()
        for table in tables:
            index.add(table)
        return index

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, digest: object) -> bool:
        return digest in self._places

    def add(self, table: Table) -> bool:
        """Put one more table in; False, and nothing done, if it is there already."""
        digest = table.digest()
        if digest in self._places:
            return False
        position = len(self._documents)
        terms = list(_terms(table))
        self._places[digest] = position
        self._documents.append(_Document(digest, tuple(map(same_name, table.header)), len(terms)))
        self._length += len(terms)
        for term in terms:
            self._lists.setdefault(term, []).append(position)
        return True

    def related(self, table: Table, k: int = 3, without: Iterable[str] = ()) -> list[RelatedTable]:
        """The `k` tables that have most to do with `table`, best first; it may be in the corpus or not.

        The score is BM25 with each term counted once: the sum over shared terms of weight x rarity, rarity
        being log(1 + (N - n + 0.5) / (n + 0.5)) for a term in n of N tables, tempered for tables of many terms.
        Terms are the values of key columns, the words of title and caption, whole headers and their words (`WEIGHTS`).
        Left out are the table itself, the digests of `without`, and tables without a column that `table` lacks.
        """
        own, banned = set(map(same_name, table.header)), {table.digest(), *without}
        scores: dict[int, float] = {}
        matched: dict[int, list[str]] = {}
        self.visited = 0
        for term, rarity in self._selective_terms(table):
            weight = WEIGHTS[term.partition(":")[0]] * rarity
            for position in self._lists[term]:
                scores[position] = scores.get(position, 0.0) + weight
                matched.setdefault(position, []).append(term)
            self.visited += len(self._lists[term])
        average = self._length / max(1, len(self._documents))
        for position, score in scores.items():
            document = self._documents[position]
            useful = document.digest not in banned and not own.issuperset(document.headers)
            tempered = 1 + K1 * (1 - B + B * document.length / average)
            scores[position] = score * (K1 + 1) / tempered if useful else 0.0
        best = sorted(
            (position for position in scores if scores[position]),
            key=lambda position: (-scores[position], position),
        )[:k]
        of = sum(term.partition(":")[0] in _KEYS for term in _terms(table))
        return [self._related(table, position, scores[position], matched[position], of) for position in best]

    def _selective_terms(self, table: Table) -> list[tuple[str, float]]:
        """The terms of a query with their rarity, rarest first; those of more than a tenth of the tables left out."""
        table_count = len(self._documents)
        longest = max(5, table_count // 10)
        indexed_terms = [term for term in _terms(table) if 0 < len(self._lists.get(term, ())) <= longest]
        sizes = {term: len(self._lists[term]) for term in indexed_terms}
        indexed_terms.sort(key=lambda term: (sizes[term], term))
        return [
            (term, math.log(1 + (table_count - sizes[term] + 0.5) / (sizes[term] + 0.5)))
            for term in indexed_terms[:_MOST_TERMS]
        ]

    def _related(
        self, table: Table, position: int, score: float, terms: Sequence[str], of: int
    ) -> RelatedTable:
        document = self._documents[position]
        by_kind: dict[str, list[str]] = {}
        for term in terms:
            kind, _, text = term.partition(":")
            by_kind.setdefault(kind, []).append(text)
        values = [text for kind in _KEYS for text in by_kind.get(kind, ())]
        reasons = []
        if values:
            reasons.append(KEYS.format(number=len(values), of=of, some=_shorten_list(values)))
        if titles := by_kind.get("title"):
            reasons.append(TITLE.format(some=_shorten_list(titles)))
        if headers := [*by_kind.get("header", []), *by_kind.get("word", [])]:
            reasons.append(NAMES.format(some=_shorten_list(headers)))
        own = set(map(same_name, table.header))
        fresh = [header for header in document.headers if header not in own]
        reasons.append(LACKS[len(fresh) == 1].format(number=len(fresh), some=_shorten_list(fresh)))
        return RelatedTable(document.digest, score, len(values), of, joined(reasons))

    def to_dict(self) -> dict[str, Any]:
        """JSON that `from_dict` reads."""
        return {
            "version": _VERSION,
            "documents": [
                [document.digest, list(document.headers), document.length] for document in self._documents
            ],
            "lists": {term: list(places) for term, places in self._lists.items()},
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` wrote; CorpusError for anything else, and for another version."""
        if not isinstance(data, Mapping) or data.get("version") != _VERSION:
            raise CorpusError(f"this is not an index of tables of version {_VERSION}; build it again")
        index = cls()
        try:
            for digest, headers, length in data["documents"]:
                index._places[digest] = len(index._documents)
                index._documents.append(_Document(str(digest), tuple(headers), int(length)))
                index._length += int(length)
            index._lists = {
                str(term): [int(position) for position in places] for term, places in data["lists"].items()
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorpusError(f"this index of tables is damaged ({error!r}); build it again") from error
        if any(
            not 0 <= position < len(index._documents)
            for places in index._lists.values()
            for position in places
        ):
            raise CorpusError(
                "this index of tables is damaged (it names a table that it does not have); build it again"
            )
        return index


def _terms(table: Table) -> Iterator[str]:
    """The terms of a table, each once: "value:spain", "title:olympics", "header:goals for", "word:goals"."""
    seen: dict[str, None] = {}
    for text in (table.title, table.caption):
        seen |= {f"title:{word}": None for word in _words(text)}
    for header in (*table.header, *(text for row in table.header_rows for text in row)):
        if name := same_name(header):
            seen[f"header:{name}"] = None
            words = _words(header)
            seen |= {f"word:{word}": None for word in words if len(words) > 1}
    for j in key_columns(table):
        for row in table.rows[:_MOST_VALUES]:
            value, worth = key_of(row[j]), _worth_as_key(row[j])
            if worth and value and len(value) <= _LONGEST_VALUE:
                seen[f"{'value' if worth == 1 else 'date'}:{value}"] = None
    yield from seen


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(fold(text).casefold()) if len(word) > 2]


def _shorten_list(texts: Sequence[str]) -> str:
    listing = ", ".join(text if len(text) <= 30 else text[:29] + "…" for text in texts[:3])
    return f"{listing}, …" if len(texts) > 3 else listing


def key_columns(table: Table, most: int = _MOST_KEYS) -> list[int]:
    """The places of the columns that say what a row is about, best first.

    They hold texts, dates or years, of which at least 70 % are different; texts before dates before years, then the
    more different ones, then the left ones. Numbers and ranks ("3rd") are no keys: they mean another thing elsewhere.
    """
    rated = []
    for j in range(len(table.header)):
        cells = [row[j] for row in table.rows[:_MOST_VALUES] if row[j].strip()]
        if len(cells) < 2:
            continue
        different = len({key_of(cell) for cell in cells}) / len(cells)
        worth = sum(map(_worth_as_key, cells[:50])) / len(cells[:50])
        if different >= 0.7 and worth >= 0.38:  # a column of years has 0.4
            rated.append((-round(worth, 1), -round(different, 1), j))
    return [j for _, _, j in sorted(rated)[:most]]


@lru_cache(maxsize=32_768)
def _worth_as_key(cell: str) -> float:
    seen = view(cell)
    if seen.kind == "text":
        return 1.0 if any(map(str.isalpha, cell)) and not _ORDINAL.fullmatch(cell.strip()) else 0.0
    if seen.kind == "date":
        return 0.6
    year = seen.number is not None and seen.number.plain and len(cell.strip()) == 4
    return 0.4 if year and seen.number is not None and 1500 <= seen.number.value <= 2100 else 0.0


@lru_cache(maxsize=32_768)
def key_of(cell: str) -> str:
    """What two cells have in common that name the same thing: "Spain (ESP)" and "spain[1]" are "spain"."""
    return without_details(without_notes(fold(cell))).casefold()


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which rows of another table are about the same things as the rows of a table.

    column, other_column   ids of the two columns that were matched
    pairs       (row id, row id of the other table), in the order of the table; no row of either is in two pairs
    ambiguous   ids of rows that match several rows of the other table, or share their key with another row and a match
    coverage    the share of the table's rows that are in a pair
    weight      the same, a pair matched by a date counting 0.6 and one by a year 0.4: how sure it is that the rows of
                the two tables are about the same things
    """

    column: str
    other_column: str
    pairs: tuple[tuple[str, str], ...]
    ambiguous: tuple[str, ...]
    coverage: float
    weight: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "other_column": self.other_column,
            "pairs": [list(pair) for pair in self.pairs],
            "ambiguous": list(self.ambiguous),
            "coverage": round(self.coverage, 4),
            "weight": round(self.weight, 4),
        }


def align(table: Table, other: Table) -> Alignment | None:
    """The pair of key columns that matches most rows, one to one; None where no row matches.

    A match of texts counts 1, of dates 0.6, of years 0.4, for years match for any subject of the tables. A key that
    is in several rows of either table matches none of them: which of them is meant is not for a program to say.
    """
    best, most = None, 0.0
    for j in key_columns(table):
        for k in key_columns(other):
            alignment = _match_rows(table, j, other, k)
            if alignment.weight > most:
                best, most = alignment, alignment.weight
    return best


def _match_rows(table: Table, j: int, other: Table, k: int) -> Alignment:
    own_rows, other_rows = _rows_by_key(table, j), _rows_by_key(other, k)
    pairs, ambiguous = [], []
    for i, row in enumerate(table.rows):
        key = key_of(row[j])
        matches = other_rows.get(key, []) if key else []
        if len(matches) == 1 and len(own_rows[key]) == 1:
            pairs.append((table.row_ids[i], other.row_ids[matches[0]]))
        elif matches:
            ambiguous.append(table.row_ids[i])
    rows = max(1, len(table.rows))
    weight = sum(_worth_as_key(table.cell(row, table.column_ids[j])) for row, _ in pairs) / rows
    return Alignment(
        table.column_ids[j], other.column_ids[k], tuple(pairs), tuple(ambiguous), len(pairs) / rows, weight
    )


def _rows_by_key(table: Table, j: int) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for i, row in enumerate(table.rows):
        if key := key_of(row[j]):
            rows.setdefault(key, []).append(i)
    return rows


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column of another table that could be put into a table.

    column  its id in the other table
    cells   a cell for each row of the table, as it is in the other one; "" for rows without a counterpart
    filled  how many of them are not empty
    """

    column: str
    header: str
    cells: tuple[str, ...]
    filled: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "header": self.header,
            "cells": list(self.cells),
            "filled": self.filled,
        }


def candidates(table: Table, other: Table, alignment: Alignment) -> list[Candidate]:
    """The columns of `other` that `table` has neither by name nor by content, the fullest first.

    The matched column, columns without a header and columns without a filled cell are left out.
    """
    names = set(map(same_name, table.header))
    counterparts = dict(alignment.pairs)
    present = {tuple(map(key_of, table.column(column))) for column in table.column_ids}
    new_columns = []
    for column, header in zip(other.column_ids, other.header, strict=True):
        if column == alignment.other_column or not header.strip() or same_name(header) in names:
            continue
        cells = tuple(
            other.cell(counterparts[row], column) if row in counterparts else "" for row in table.row_ids
        )
        filled = sum(bool(cell.strip()) for cell in cells)
        if filled and tuple(map(key_of, cells)) not in present:
            new_columns.append(Candidate(column, header, cells, filled))
    return sorted(new_columns, key=lambda candidate: -candidate.filled)
