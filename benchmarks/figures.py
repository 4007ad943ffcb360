"""What benchmarks found, in one form, and the table that ends `./run bench`.

A benchmark prints its report as it likes and keeps each figure that somebody asks for:

    keep("CPU of an item", 6.1, "ms", at_most=5)
    keep("items a second", 210, "items/s", floor=340, ratio_at_least=0.75)

`floor` is what was measured beside it, in the same run and unit; the ratio is value / floor. A figure without a target is
only shown. Figures are lines of JSON appended to the file that ASKEW_FIGURES names; without it they are not kept.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "ASKEW_FIGURES"


@dataclass(frozen=True)
class Figure:
    """One number, what it was measured beside, and what is asked of it: of the value, or of the ratio to the floor."""

    bench: str
    name: str
    value: float
    unit: str = ""
    floor: float | None = None
    at_most: float | None = None
    at_least: float | None = None
    ratio_at_most: float | None = None
    ratio_at_least: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the floor; None without one."""
        return self.value / self.floor if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether everything that is asked holds; None where nothing is asked."""
        ratio = float("nan") if self.ratio is None else self.ratio
        held = [
            value <= limit if most else value >= limit
            for value, limit, most in (
                (self.value, self.at_most, True),
                (self.value, self.at_least, False),
                (ratio, self.ratio_at_most, True),
                (ratio, self.ratio_at_least, False),
            )
            if limit is not None
        ]
        return all(held) if held else None

    @property
    def target(self) -> str:
        """What is asked, in words."""
        asked = (
            ("at most", self.at_most, self.unit),
            ("at least", self.at_least, self.unit),
            ("ratio at most", self.ratio_at_most, ""),
            ("ratio at least", self.ratio_at_least, ""),
        )
        return ", ".join(
            f"{words} {said(limit)} {unit}".rstrip() for words, limit, unit in asked if limit is not None
        )


def keep(
    name: str,
    value: float,
    unit: str = "",
    *,
    floor: float | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
    ratio_at_most: float | None = None,
    ratio_at_least: float | None = None,
) -> Figure:
    """Note a figure of the benchmark that runs."""
    figure = Figure(
        Path(sys.argv[0]).stem,
        name,
        float(value),
        unit,
        floor,
        at_most,
        at_least,
        ratio_at_most,
        ratio_at_least,
    )
    if file := os.environ.get(FILE):
        with Path(file).open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(figure)) + "\n")
    return figure


def kept(file: Path) -> list[Figure]:
    """The figures of a file, in the order in which they were found."""
    return (
        [Figure(**json.loads(line)) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    )


def table(figures: Iterable[Figure]) -> str:
    """One line for each figure: value, floor, ratio, target, and whether it is met."""
    rows = [("benchmark", "figure", "value", "floor", "ratio", "target", "")]
    rows += [
        (
            one.bench,
            one.name,
            f"{said(one.value)} {one.unit}".rstrip(),
            "" if one.floor is None else said(one.floor),
            "" if one.ratio is None else f"{one.ratio:.2f}",
            one.target,
            {True: "met", False: "MISSED", None: ""}[one.met],
        )
        for one in figures
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if at in (2, 3, 4) else text.ljust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def said(number: float) -> str:
    """A number with as many digits as say something."""
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


# --- figures in pages --------------------------------------------------------------------------------------

_END = "<!-- end of figures -->"
_PARTS = re.compile(r" of |, ")
"""Between the parts of a figure's name; the first is what is measured."""


def mark_of(command: str) -> str:
    """The line of a page behind which the figures of a run stand."""
    return f"<!-- figures of ./run bench {command} -->"


def page_with_figures(page: str, command: str, figures: Iterable[Figure], measured: str) -> str:
    """The page with the figures that have a target, as a table, in place of those of an earlier run.

    measured    date, commit and load of the run

    A row has the range of all figures of one measure that meet the same target; a figure that misses it has its own row.
    Raises ValueError if the place has no end.
    """
    mark = mark_of(command)
    before, _, rest = page.partition(mark)
    _, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"The place behind '{mark}' has no '{_END}'. Add that line below it")
    groups: defaultdict[tuple[str, str, str], list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.met is not None:
            measure = _PARTS.split(figure.name)[0] if figure.met else figure.name
            groups[measure, figure.unit, figure.target].append(figure)
    rows = [
        f"| {_title(group)} | {_range([figure.value for figure in group])} {unit} | {target} "
        f"| {'met' if group[0].met else 'missed'} |"
        for (_, unit, target), group in groups.items()
    ]
    lines = [mark, measured + ":", "", "| figure | value | target | |", "|---|---:|---|---|", *rows, "", _END]
    return before + "\n".join(lines) + after


def _title(group: list[Figure]) -> str:
    """What the names of all figures share, and how many these are."""
    if len(group) == 1:
        return group[0].name
    names = [_PARTS.split(figure.name) for figure in group]
    shared = [part for part in names[0] if all(part in name for name in names)]
    return f"{', '.join(shared)} ({len(group)} figures)"


def _range(values: list[float]) -> str:
    least, most = said(min(values)), said(max(values))
    return least if least == most else f"{least} to {most}"
