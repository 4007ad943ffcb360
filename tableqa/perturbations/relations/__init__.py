"""What the columns of a table have to do with one another: evidence that a column may be left out (RobuT 3.1, masking).

RobuT's annotators removed columns that others imply. What they had to see for themselves is found here: columns that
determine another, arithmetic among numbers, and texts that repeat others. Each is described with the number of
rows in which it holds and the first in which it does not: the person decides.
"""

from dataclasses import dataclass
from typing import Any

from tableqa.data.tables import Table
from tableqa.perturbations.relations.arithmetic import arithmetic
from tableqa.perturbations.relations.dependencies import dependencies
from tableqa.perturbations.relations.findings import Counterexample, Kind, Relation
from tableqa.perturbations.relations.texts import texts

__all__ = ["Counterexample", "Kind", "Relation", "Relations", "relations"]

MOST_COLUMNS = 60
MOST_ROWS = 5_000
MOST_ROWS_OF_TEXTS = 1_000
ARITHMETIC_BUDGET = 5_000_000
"""Rows times the third power of the columns, but at least 200 rows."""


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations of a table: those that say something first, by the share of rows, then the trivial ones.

    notes   what was not looked at, in sentences; none where everything was
    """

    found: tuple[Relation, ...]
    notes: tuple[str, ...] = ()

    def of(self, column: str) -> tuple[Relation, ...]:
        """The relations that imply this column (an id), trivial ones left out."""
        return tuple(
            relation for relation in self.found if relation.target == column and not relation.trivial
        )

    @property
    def implied(self) -> tuple[str, ...]:
        """The ids of the columns that others, or the order of the rows, imply in every row tested, each once."""
        good = (
            relation
            for relation in self.found
            if not relation.trivial and relation.holds == relation.of and (relation.sources or relation.told)
        )
        return tuple(dict.fromkeys(relation.target for relation in good))

    def to_dict(self) -> dict[str, Any]:
        return {"found": [relation.to_dict() for relation in self.found], "notes": list(self.notes)}


def relations(table: Table, least: float = 0.8) -> Relations:
    """The relations between the columns of `table`; all but dependencies may fail in a share of 1 - `least` of the rows.

    Of a large table, the first 60 columns and the first 5,000 rows are looked at (for texts within texts, rows spread
    over the table), and the notes say so.
    """
    notes = []
    columns = range(min(len(table.header), MOST_COLUMNS))
    if len(table.header) > MOST_COLUMNS:
        notes.append(f"Of {len(table.header)} columns, the first {MOST_COLUMNS} were checked.")
    if len(table.rows) > MOST_ROWS:
        notes.append(f"Of {len(table.rows):,} rows, the first {MOST_ROWS:,} were checked.")
    looked_at = _first_rows(table, MOST_ROWS)
    most = max(200, ARITHMETIC_BUDGET // max(1, len(columns)) ** 3)
    if len(looked_at.rows) > most:
        notes.append(f"Arithmetic was checked in the first {most:,} rows.")
    depends, cut = dependencies(looked_at, columns)
    step = -(-len(looked_at.rows) // MOST_ROWS_OF_TEXTS) or 1
    if step > 1:
        notes.append(f"Texts within texts were checked in every {step}th row.")
    repeated = list(texts(looked_at, columns, range(0, len(looked_at.rows), step), least))
    all_relations = [*arithmetic(_first_rows(looked_at, most), columns, least), *repeated, *depends]
    all_relations.sort(
        key=lambda relation: (bool(relation.trivial), _ORDER[relation.kind], -relation.share, -relation.of)
    )
    return Relations(tuple(all_relations), (*notes, *cut))


def _first_rows(table: Table, most: int) -> Table:
    if len(table.rows) <= most:
        return table
    return Table(table.header, table.rows[:most], row_ids=table.row_ids[:most], column_ids=table.column_ids)


_ORDER: dict[Kind, int] = {
    "sum": 0, "difference": 0, "product": 0, "share_of_total": 0, "share": 1, "ratio": 1, "running_total": 1, "same": 1,
    "part": 2, "rank": 2, "running_number": 2, "dependency": 3, "key": 4, "constant": 4,
}  # fmt: skip
"""The kinds listed first: those that say how to compute a column."""
