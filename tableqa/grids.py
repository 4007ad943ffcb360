"""Tables of figures to read: as lines for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tableqa.metrics import Estimate

UNDEFINED = "undefined"


def figure(estimate: Estimate, factor: float = 1.0, places: int = 3) -> str:
    """A figure with its interval, "0.470 [0.421, 0.513]"; "undefined" where there is none."""
    if estimate.value is None:
        return UNDEFINED
    value = f"{factor * estimate.value:.{places}f}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{factor * estimate.low:.{places}f}, {factor * estimate.high:.{places}f}]"


@dataclass(frozen=True)
class Grid:
    """A title, the names of the columns, and the rows; as many cells in each as there are names."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> list[str]:
        """The title, then one line for the header and each row; columns stand below each other."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        return [self.title, *(_line(row, widths) for row in (self.header, *self.rows))]

    def markdown(self) -> str:
        """A heading of the third level and a table."""
        rows = ("| " + " | ".join(map(_escaped, row)) + " |" for row in self.rows)
        header = "| " + " | ".join(map(_escaped, self.header)) + " |"
        return "\n".join((f"### {self.title}", "", header, "|" + "---|" * len(self.header), *rows))


def text(grids: Iterable[Grid]) -> str:
    """The grids for a terminal, an empty line between them."""
    return "\n\n".join("\n".join(grid.lines()) for grid in grids)


def markdown(title: str, grids: Iterable[Grid]) -> str:
    """A page of the grids in Markdown."""
    return "\n\n".join((f"## {title}", *(grid.markdown() for grid in grids))) + "\n"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|")
