"""How columns are called in a project: other names for a column, found in its tables.

Three things make two names stand for the same column. Columns of both names hold the same values: what is under
"Nation" is under "Country". Both have the same company: "Nation" and "Country" are beside "Gold" and "Silver"
(the idea of attribute synonyms in WebTables, Cafarella et al. 2008, section 5). And both share a word. Names that stand
side by side in one table mean two things ("Home team", "Away team") and are never taken for each other.

The index keeps, for every name, how many columns have it, of which kind their cells are and which names are beside
it, and for every text value which names it is under. A question walks the lists of the column's own values, words
and neighbours, never all columns.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tableqa.cells import fold, view
from tableqa.core.translation import joined, message
from tableqa.data.tables import Table
from tableqa.perturbations.headers.alternatives import Suggestion
from tableqa.perturbations.headers.word_forms import KINDS, kinds_of, same_name, words_of

_LONGEST_NAME = 60
_LONGEST_VALUE = 60
_MOST_VALUES = 100
"""Distinct text values of one column that are looked at."""

_MOST_NEIGHBOURS = 40
"""Names beside a column that are looked at, the most telling first."""

_LEAST_SCORE = 0.12
_LEAST_BY_COMPANY = 0.17
"""What a name needs that has nothing in common with this one but its neighbours."""

_VERSION = 1
# Why a suggestion is made; kept with a proposal, in English. Pages say it in the reader's language.
CALLED_SO = {
    True: message("header_names.called_so.one", "{columns} column of this project has this name."),
    False: message("header_names.called_so.several", "{columns} columns of this project have this name."),
}
"""By whether it is one, as those below."""
HOLDS = {
    True: message(
        "header_names.holds.one", "It contains {number} of the {of} values of this column ({values})."
    ),
    False: message(
        "header_names.holds.several", "They contain {number} of the {of} values of this column ({values})."
    ),
}
BESIDE = {
    True: message("header_names.beside.one", "It has the same neighbouring columns."),
    False: message("header_names.beside.several", "They have the same neighbouring columns."),
}
SHARES = {
    True: message("header_names.shares.one", "It shares a word with this one."),
    False: message("header_names.shares.several", "They share a word with this one."),
}


class NamesError(ValueError):
    """What was given is not the JSON of a `HeaderNames`."""


@dataclass(slots=True)
class _Name:
    shown: Counter[str] = field(default_factory=Counter)
    columns: int = 0
    kinds: dict[str, float] = field(default_factory=dict)
    length: float = 0.0
    beside: dict[int, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The name as it is written most often."""
        return min(self.shown, key=lambda text: (-self.shown[text], text))


class HeaderNames:
    """The names of the columns of many tables. It grows by `add`; equal tables in an equal order make equal indexes."""

    def __init__(self) -> None:
        self.tables = 0
        self._names: list[_Name] = []
        self._places: dict[str, int] = {}
        self._values: dict[str, dict[int, int]] = {}
        self._words: dict[str, set[int]] = {}
        self._lengths: dict[int, float] = {}

    @classmethod
    def build(cls, tables: Iterable[Table]) -> Self:
        """The index of many tables; give each table once."""
        index = cls()
        for table in tables:
            index.add(table)
        return index

    def __len__(self) -> int:
        """How many different names there are."""
        return len(self._names)

    def add(self, table: Table) -> None:
        """Put one more table in. Names without a letter, and those too long to be names, are left out."""
        self.tables += 1
        self._lengths.clear()
        name_indices: dict[int, None] = {}
        for j, header in enumerate(table.header):
            if len(header) <= _LONGEST_NAME and words_of(header):
                cells = tuple(row[j] for row in table.rows)
                name_indices[self._add(header, cells)] = None
        for name_index in name_indices:
            beside = self._names[name_index].beside
            for other in name_indices:
                if other != name_index:
                    beside[other] = beside.get(other, 0) + 1

    def _add(self, header: str, cells: Sequence[str]) -> int:
        name_index = self._place(same_name(header), header)
        name = self._names[name_index]
        name.shown[" ".join(header.split())] += 1
        name.columns += 1
        for kind, share in kinds_of(cells).items():
            name.kinds[kind] = name.kinds.get(kind, 0) + share
        name.length += _length(cells)
        for value in _values(cells):
            under = self._values.setdefault(value, {})
            under[name_index] = under.get(name_index, 0) + 1
        return name_index

    def _place(self, key: str, header: str) -> int:
        name_index = self._places.setdefault(key, len(self._names))
        if name_index == len(self._names):
            self._names.append(_Name())
            for word in _stems(header):
                self._words.setdefault(word, set()).add(name_index)
        return name_index

    def columns(self, header: str) -> int:
        """How many columns are called so, in any case."""
        name_index = self._places.get(same_name(header))
        return 0 if name_index is None else self._names[name_index].columns

    def suggest(self, table: Table, column: str, limit: int = 10) -> list[Suggestion]:
        """Other names for a column (an id) of a table, which may or may not be in the index; best first.

        Score: K (1 - (1 - 0.7 V) (1 - 0.7 C) (1 - 0.3 W)), from 0 to 1. V is the share of the column's text values
        under the name. Rare values count more; each counts by the share of columns of that name that hold it. C is the
        cosine of the company of the two names, rare neighbours counting more, and smaller for names of few columns. W
        is the share of words in common, which alone means nothing ("Year", "Year built"). K is the overlap of the kinds
        of cells, times how alike their lengths are. Names with a digit or a bracket belong to one table, and names that
        ever are beside this one mean something else: both are left out.
        """
        j = table.column_index(column)
        header, cells = table.header[j], table.column(column)
        kinds, length, values = kinds_of(cells), _length(cells), _values(cells)
        by_values, shared = self._by_values(values)
        neighbours = [
            name_index
            for k, h in enumerate(table.header)
            if k != j and (name_index := self._places.get(same_name(h))) is not None
        ]
        by_company = self._by_company(header, neighbours)
        by_words = self._by_words(header)
        own = self._places.get(same_name(header))
        suggestions = []
        for name_index in by_values.keys() | by_company.keys():
            name = self._names[name_index]
            if (
                name_index == own
                or name_index in neighbours
                or own in name.beside
                or not _is_general_name(name.text)
            ):
                continue
            alike = sum(min(share, name.kinds.get(kind, 0.0) / name.columns) for kind, share in kinds.items())
            alike *= _length_similarity(length, name.length / name.columns)
            v, c, w = (part.get(name_index, 0.0) for part in (by_values, by_company, by_words))
            score = (alike if kinds else 1.0) * (1 - (1 - 0.7 * v) * (1 - 0.7 * c) * (1 - 0.3 * w))
            if score >= (_LEAST_SCORE if v or w else _LEAST_BY_COMPANY):
                why = self._reasons(name, shared.get(name_index, []), len(values), c, w)
                suggestions.append(Suggestion(name.text, "project", why, min(score, 0.99)))
        return sorted(suggestions, key=lambda suggestion: (-suggestion.score, suggestion.text))[:limit]

    def guess(self, cells: Sequence[str]) -> str | None:
        """What a column with these cells may be called: the name that most of their text values have.

        None where no name of at least two columns has a quarter of them.
        """
        by_values, _ = self._by_values(_values(cells))
        name_indices = [
            name_index
            for name_index in by_values
            if self._names[name_index].columns > 1 and _is_general_name(self._names[name_index].text)
        ]
        best = max(name_indices, key=lambda name_index: (by_values[name_index], -name_index), default=None)
        return None if best is None or by_values[best] < 0.25 else self._names[best].text

    def _by_values(self, values: Sequence[str]) -> tuple[dict[int, float], dict[int, list[str]]]:
        total = 0.0
        sums: dict[int, float] = {}
        shared: dict[int, list[str]] = {}
        for value in values:
            under = self._values.get(value, {})
            weight = math.log(1 + len(self._names) / (1 + len(under)))
            total += weight
            for name_index, columns in under.items():
                # The 3 keeps a name that one column has from outweighing one that many have.
                sums[name_index] = sums.get(name_index, 0.0) + weight * columns / (
                    self._names[name_index].columns + 3
                )
                shared.setdefault(name_index, []).append(value)
        shared = {
            name_index: some for name_index, some in shared.items() if len(some) > 1
        }  # one may be "unknown" or "total"
        return {name_index: min(1.0, 2.5 * sums[name_index] / total) for name_index in shared}, shared

    def _by_company(self, header: str, neighbours: Sequence[int]) -> dict[int, float]:
        own = self._places.get(same_name(header))
        company = dict(self._names[own].beside) if own is not None else {}
        tables = self._names[own].columns if own is not None else 0
        for name_index in neighbours:  # the table itself counts as one more of them
            company[name_index] = company.get(name_index, 0) + 1
        weights = {
            name_index: count / (tables + 1) * self._rarity(name_index)
            for name_index, count in company.items()
        }
        telling = sorted(weights, key=lambda name_index: (-weights[name_index], name_index))[
            :_MOST_NEIGHBOURS
        ]
        products: dict[int, float] = {}
        for neighbour in telling:
            weight = weights[neighbour] * self._rarity(neighbour)
            for name_index, count in self._names[neighbour].beside.items():
                products[name_index] = (
                    products.get(name_index, 0.0) + weight * count / self._names[name_index].columns
                )
        length = math.sqrt(sum(weights[name_index] ** 2 for name_index in telling))
        return {
            name_index: product
            / (length * other)
            * self._names[name_index].columns
            / (self._names[name_index].columns + 3)
            for name_index, product in products.items()
            if self._names[name_index].columns > 1 and (other := self._length(name_index)) and length
        }

    def _length(self, name_index: int) -> float:
        """The length of the vector of a name's company, kept until the next table."""
        if name_index not in self._lengths:
            name = self._names[name_index]
            shares = (n / name.columns * self._rarity(other) for other, n in name.beside.items())
            self._lengths[name_index] = math.sqrt(sum(share**2 for share in shares))
        return self._lengths[name_index]

    def _rarity(self, name_index: int) -> float:
        return math.log(1 + self.tables / self._names[name_index].columns)

    def _by_words(self, header: str) -> dict[int, float]:
        words = _stems(header)
        word_overlaps: dict[int, float] = {}
        for name_index in sorted({name_index for word in words for name_index in self._words.get(word, ())}):
            others = _stems(self._names[name_index].text)
            word_overlaps[name_index] = sum(map(self._weight, words & others)) / sum(
                map(self._weight, words | others)
            )
        return word_overlaps

    def _weight(self, word: str) -> float:
        return math.log(1 + len(self._names) / max(1, len(self._words.get(word, ()))))

    def _reasons(self, name: _Name, shared: Sequence[str], of: int, company: float, overlap: float) -> str:
        is_single_column = name.columns == 1
        reasons = [CALLED_SO[is_single_column].format(columns=name.columns)]
        if shared:
            rare = sorted(shared, key=lambda value: (len(self._values[value]), value))[:2]
            reasons.append(HOLDS[is_single_column].format(number=len(shared), of=of, values=", ".join(rare)))
        if company >= 0.1:
            reasons.append(BESIDE[is_single_column])
        if overlap:
            reasons.append(SHARES[is_single_column])
        return joined(reasons)

    def to_dict(self) -> dict[str, Any]:
        """JSON that `from_dict` reads; counts of names and neighbours as flat lists of pairs."""
        return {
            "version": _VERSION,
            "tables": self.tables,
            "names": [
                {
                    "key": key,
                    "shown": dict(name.shown),
                    "columns": name.columns,
                    "length": round(name.length, 2),
                    "kinds": {kind: round(share, 4) for kind, share in name.kinds.items()},
                    "beside": _flat(name.beside),
                }
                for key, name in zip(self._places, self._names, strict=True)
            ],
            "values": {value: _flat(under) for value, under in self._values.items()},
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` wrote; NamesError for anything else, and for another version."""
        if not isinstance(data, Mapping) or data.get("version") != _VERSION:
            raise NamesError(f"this is not an index of column names of version {_VERSION}; build it again")
        index = cls()
        try:
            index.tables = int(data["tables"])
            for entry in data["names"]:
                spellings = Counter[str](entry["shown"])
                name = index._names[index._place(entry["key"], next(iter(spellings)))]
                name.shown, name.columns = spellings, int(entry["columns"])
                name.kinds = {kind: float(share) for kind, share in entry["kinds"].items() if kind in KINDS}
                name.length = float(entry["length"])
                name.beside = _pairs(entry["beside"])
            index._values = {value: _pairs(flat) for value, flat in data["values"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration) as error:
            raise NamesError(f"this index of column names is damaged ({error!r}); build it again") from error
        return index


def _flat(counts: Mapping[int, int]) -> list[int]:
    return [value for pair in counts.items() for value in pair]


def _pairs(flat: Sequence[int]) -> dict[int, int]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _length(cells: Sequence[str]) -> float:
    """Characters of a cell that is not empty, on average over the first 200."""
    lengths = [len(text) for text in cells[:200] if text.strip()]
    return sum(lengths) / len(lengths) if lengths else 0.0


def _length_similarity(length: float, other_length: float) -> float:
    """1 for equal lengths, 0.7 where one is twice the other; 1 where there is nothing to compare."""
    return (
        math.sqrt(min(length, other_length) / max(length, other_length)) if length and other_length else 1.0
    )


def _is_general_name(text: str) -> bool:
    return not any(character.isdigit() or character in "()[]/" for character in text)


def _values(cells: Sequence[str]) -> list[str]:
    """The first distinct values that are texts; numbers, dates and times are the same in columns of every meaning."""
    values: dict[str, None] = {}
    for text in dict.fromkeys(cells):
        if len(text) <= _LONGEST_VALUE and any(map(str.isalpha, text)) and view(text).kind == "text":
            values[fold(text).casefold()] = None
            if len(values) == _MOST_VALUES:
                break
    return list(values)


def _stems(header: str) -> set[str]:
    words = (word.text.casefold() for word in words_of(header) if not word.small)
    return {word.removesuffix("s") if len(word) > 3 else word for word in words}
