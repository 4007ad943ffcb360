"""The figures of the five papers, rebuilt from public data: a module for each, a page of docs/reproductions/ for each.

A module has `figures(data)`, which gives every figure of its page as `Figure`s. The page holds them as tables between two
marks; `benchmarks.reproductions` prints them, writes them there, or says that the page holds others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BEGIN = "<!-- figures: made by ./run bench reproductions {name} -->"
END = "<!-- end of figures -->"


@dataclass(frozen=True)
class Figure:
    """One figure of a paper and ours.

    table    what of the paper it belongs to, the heading of its table on the page
    what     what is counted or measured
    ours     our figure as text
    theirs   the paper's, that of its released files, or what must come out; "" where there is none
    why      where the two differ, why; what else there is to say
    """

    table: str
    what: str
    ours: str
    theirs: str = ""
    why: str = ""

    @property
    def differs(self) -> bool:
        return bool(self.theirs) and self.theirs != self.ours


def number(value: float) -> str:
    """A count with its thousands parted, a share or score with two decimals."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def page_part(name: str, figures: Iterable[Figure]) -> str:
    """The tables of a page, in Markdown, between their marks."""
    lines, last = [BEGIN.format(name=name)], None
    for one in figures:
        if one.table != last:
            lines += [
                "",
                f"### {one.table}",
                "",
                "| | Askew | published or expected | note |",
                "|---|---:|---:|---|",
            ]
            last = one.table
        lines.append(f"| {one.what} | {one.ours} | {one.theirs or '–'} | {one.why} |".replace("|  |", "| |"))
    return "\n".join([*lines, "", END])
