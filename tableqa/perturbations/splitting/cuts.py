"""The cells of a column, cut in one way."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tableqa.core.translation import gettext
from tableqa.perturbations.splitting.rules import LONGEST_CELL, MOST_PARTS, SplitError, Way

Fault = Literal["", "empty", "no match", "other number", "too long"]


@dataclass(frozen=True, slots=True)
class CellSplit:
    """One cell: its parts, or None with the fault that kept it whole.

    empty          there is nothing in it
    no match       the delimiter is not in it, or it is written in another form
    other number   it has more or fewer parts than the others (`parts` is None then, too)
    too long       it has more characters than are looked at
    """

    parts: tuple[str, ...] | None
    fault: Fault = ""


@dataclass(frozen=True, slots=True)
class ColumnSplit:
    """All cells of a column: `number` is how many parts each that splits has, `cuts` has one entry for each cell."""

    way: Way
    number: int
    cuts: tuple[CellSplit, ...]

    @property
    def unsplit(self) -> tuple[int, ...]:
        """The places of the cells that stayed whole, empty ones left out."""
        return tuple(i for i, cut in enumerate(self.cuts) if cut.parts is None and cut.fault != "empty")

    @property
    def share(self) -> float:
        """The share of the cells that are not empty which split."""
        filled = [cut for cut in self.cuts if cut.fault != "empty"]
        return sum(cut.parts is not None for cut in filled) / len(filled) if filled else 0.0

    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The new columns, "" in the rows that did not split: what a person starts from."""
        return tuple(
            tuple(cut.parts[part] if cut.parts else "" for cut in self.cuts) for part in range(self.number)
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "by": self.way.to_dict(),
            "number": self.number,
            "cuts": [
                {"fault": cut.fault} if cut.parts is None else {"parts": list(cut.parts)} for cut in self.cuts
            ],
            "unsplit": list(self.unsplit),
        }


def split(cells: Sequence[str], way: Way, part_count: int | None = None) -> ColumnSplit:
    """Cut every cell. With `part_count`, only cells with as many parts split. Without it, the most common number of parts
    counts (the smaller of two that are as common). SplitError for a number out of range.
    """
    if part_count is not None and not 2 <= part_count <= MOST_PARTS:
        message = gettext("Split a column into 2 to {most_parts} parts, not {number}.")
        raise SplitError(message.format(most_parts=MOST_PARTS, number=part_count))
    tried = [_try(cell, way) for cell in cells]
    if part_count is None:
        sizes = Counter(len(cut.parts) for cut in tried if cut.parts and 2 <= len(cut.parts) <= MOST_PARTS)
        part_count = min(sizes, key=lambda size: (-sizes[size], size)) if sizes else 0
    cuts = (
        CellSplit(None, "other number") if cut.parts is not None and len(cut.parts) != part_count else cut
        for cut in tried
    )
    return ColumnSplit(way, part_count, tuple(cuts))


def _try(cell: str, way: Way) -> CellSplit:
    if not cell.strip():
        return CellSplit(None, "empty")
    if len(cell) > LONGEST_CELL:
        return CellSplit(None, "too long")
    parts = way.parts(cell)
    return CellSplit(None, "no match") if parts is None else CellSplit(parts)
