"""Compare the figures of the five papers with Askew's, from public data.

    ./run bench reproductions [NAME ...] [--data DIR] [--write]

NAME is freb_tqa, robut, lftqa_eval, torr or suc; all without one. Prints the tables that the pages in docs/reproductions/
hold; the status is 1 if a page holds other tables, or a figure differs from the paper's without a reason. `--write` writes
the tables into the pages. DIR is a folder of the public files (docs/reproductions/README.md lists them).
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.figures import keep  # noqa: E402
from benchmarks.reproducing import BEGIN, END, Figure, page_part  # noqa: E402

NAMES = ("freb_tqa", "robut", "lftqa_eval", "torr", "suc")
PAGES = ROOT / "docs" / "reproductions"


def main(arguments: list[str]) -> int:
    """Print the tables, and compare or write the pages."""
    parser = argparse.ArgumentParser(prog="./run bench reproductions", description=__doc__.splitlines()[0])
    default = os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("name", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--data", type=Path, default=Path(default), metavar="DIR")
    parser.add_argument("--write", action="store_true", help="write the tables into the pages")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.name if name not in NAMES]:
        parser.error(f"there is no reproduction {unknown[0]!r}; there are {', '.join(NAMES)}")
    faults = []
    for name in options.name or NAMES:
        began = time.monotonic()
        found = list(figures_of(name)(options.data))
        part = page_part(name, found)
        print(f"{part}\n\n{name}: {len(found)} figures in {time.monotonic() - began:.1f} s\n", flush=True)
        keep(f"{name}: figures of the paper made again", len(found))
        keep(f"{name}: figures that differ unexplained", len(unexplained(found)), at_most=0)
        faults += [f"{name}: {one.what} differs without a reason" for one in unexplained(found)]
        page = PAGES / f"{name}.md"
        if options.write:
            page.write_text(with_part(page.read_text(encoding="utf-8"), name, part), encoding="utf-8")
        elif part not in page.read_text(encoding="utf-8"):
            faults.append(f"{page.relative_to(ROOT)} is not up to date. Run with --write to update it")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def figures_of(name: str) -> Callable[[Path], Iterable[Figure]]:
    """What gives the figures of a page from the folder of the data."""
    found: Callable[[Path], Iterable[Figure]] = importlib.import_module(
        f"benchmarks.reproducing.{name}"
    ).figures
    return found


def unexplained(figures: Iterable[Figure]) -> list[Figure]:
    """The figures that differ from the paper's without a word on why."""
    return [one for one in figures if one.differs and not one.why]


def with_part(page: str, name: str, part: str) -> str:
    """The page with its tables exchanged."""
    before, _, rest = page.partition(BEGIN.format(name=name))
    return before + part + rest.partition(END)[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
