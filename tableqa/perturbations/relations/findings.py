"""What a relation between columns is, and its description."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tableqa.data.tables import Table

Kind = Literal[
    "key", "constant", "dependency",
    "sum", "difference", "product", "ratio", "share", "share_of_total", "running_number", "running_total", "rank",
    "same", "part",
]  # fmt: skip

MOST_COUNTEREXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A row in which a relation does not hold, and what is there."""

    row: str
    words: str

    def to_dict(self) -> dict[str, str]:
        return {"row": self.row, "words": self.words}


@dataclass(frozen=True, slots=True)
class Relation:
    """What one column has to do with others.

    target    the id of the column that the others imply
    sources   the ids of the others; none for a key, a constant and a running number
    words     the relation in words: "Total = Gold + Silver + Bronze"
    holds, of   in how many rows it holds, of those in which it can be tested; a dependency is tested by rows that have
              the same left side as another row
    counterexamples   the first rows in which it does not hold
    trivial   why it says nothing about the column, "" where it does say something
    told      the ids of the rows in which the column's cell could be worked out if it were gone: where the relation was
              tested and holds. None of a dependency, a key and a constant, which do not say what the cells are, nor of
              a step from row to row that does not begin at 1. Of a sum and a difference it is said of each column
    tied      of a rank, the ids of the rows that it does not tell apart
    """

    kind: Kind
    target: str
    sources: tuple[str, ...]
    words: str
    holds: int
    of: int
    counterexamples: tuple[Counterexample, ...] = ()
    trivial: str = ""
    told: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of the tested rows in which it holds."""
        return self.holds / self.of if self.of else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "target": self.target,
            "sources": list(self.sources),
            "words": self.words,
            "holds": self.holds,
            "of": self.of,
            "counterexamples": [example.to_dict() for example in self.counterexamples],
            "trivial": self.trivial,
            "told": list(self.told),
            "tied": list(self.tied),
        }


def column_label(table: Table, j: int) -> str:
    """What the column at place `j` is called in a sentence: its header, or its number where that says nothing."""
    header = " ".join(table.header[j].split())
    if not header or table.header.count(table.header[j]) > 1:
        return f"column {j + 1}"
    return header if len(header) <= 40 else header[:39] + "…"


def counterexamples(
    table: Table, rows: Iterable[int], say: Callable[[int], str], most: int = MOST_COUNTEREXAMPLES
) -> tuple[Counterexample, ...]:
    """The first of these rows (places), each in words."""
    chosen: Sequence[int] = [row for _, row in zip(range(most), rows, strict=False)]
    return tuple(Counterexample(table.row_ids[row], f"Row {row + 1}: {say(row)}") for row in chosen)


def rows_of(table: Table, rows: Sequence[int]) -> tuple[str, ...]:
    """The ids of these rows (places). Where it is all of them, the table's own tuple: a large table has many relations."""
    return table.row_ids if len(rows) == len(table.rows) else tuple(table.row_ids[row] for row in rows)


def quote_cell(text: str) -> str:
    """A cell's text in a sentence."""
    line = " ".join(text.split())
    return "(empty)" if not line else line if len(line) <= 40 else line[:39] + "…"
