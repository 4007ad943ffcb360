"""Every benchmark, one after the other, and all their figures in one table.

    ./run bench            everything as it is promised: some hours, on a machine with nothing else to do
    ./run bench --quick    a look within minutes: so small that only faults and ratios say something
    ./run bench NAME ...   one of them, with its own arguments
    ./run bench NAME ... --write    and write its figures with targets into the page that holds them

A page has the place of a run's figures between `<!-- figures of ./run bench NAME ... -->` and `<!-- end of figures -->`.

Each run is a process of its own. One that ends with a fault, or misses what is asked of it, is named; the others go on, and
the exit status is 1. The figures stay in the file that is named at the end, one line of JSON each.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import FILE, kept, mark_of, page_with_figures, table

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Run:
    """A benchmark with its arguments in full, and those for a look; None: too long for that."""

    name: str
    full: str = ""
    quick: str | None = ""

    def arguments(self, quick: bool) -> list[str] | None:
        """What it is called with; None where it is left out."""
        chosen = self.quick if quick else self.full
        return None if chosen is None else chosen.split()


RUNS = (
    Run("loop", quick="--people 8 --seconds 2 --rounds 1"),
    Run("loop", "--items 2000,20000,200000", quick="--items 200,2000 --people 8 --rounds 1"),
    Run(
        "loop",
        "--to-the-end --overlap 3 --kill",
        quick="--to-the-end --overlap 3 --kill --items 200 --people 8",
    ),
    Run("loop", "--to-the-end --kill", quick=None),
    Run("loop", "--to-the-end --database sqlite --kill", quick=None),
    Run("loop", "--to-the-end --database sqlite --overlap 3 --kill", quick=None),
    Run("sizing", quick="--people 8 --seconds 2"),
    Run("large", quick="--items 2000 --rounds 3"),
    Run("explorer", quick="--items 2000 --rounds 3"),
    Run("explorer", "--database sqlite", quick="--database sqlite --items 2000 --rounds 3"),
    Run("memory", "--many 200000", quick="--few 300 --many 1500"),
    Run("import_release", quick="--items 2000 --few 300"),
    Run("import_waits", quick="--responses 1000 --labels 2000"),
    Run("import_wizard", quick="--examples 2000 --megabytes 4 --honest 10"),
    Run("agreement", quick="--units 100000 --sets 3000 --rounds 2"),
    Run("agreement", "--postgres", quick="--postgres --units 20000"),
    Run("browser", quick="--kinds question_type,value_change --loads 1 --keys 5 --brief"),
    Run("long_day", quick="--items 60 --after 20"),
    Run("share"),
    Run("annotators", quick="--people 8 --items 160"),
    Run("team", quick="--people 3 --seconds 2"),
    Run("team", "--static", quick=None),
    Run("faults", quick="--seconds 20"),
    Run("faults", "--faults 1000 --seed 12", quick=None),
    Run("faults", "--database sqlite", quick=None),
    Run("hostile", quick="--files 12 --rounds 1 --calm 10"),
    Run("bundled", quick="--limit 150"),
    Run("predictor", quick="--requests 6 --rounds 1 --typists 2 --seconds 2"),
    Run("typists", quick="--typists 8 --seconds 10"),
    Run("perturbations", quick="--limit 20 --rounds 1"),
    Run("reproductions"),
)
"""What is run, in this order."""
WITH_OWN_PAGES = ("reproductions",)
"""Benchmarks that write pages of their own."""


def main(arguments: list[str]) -> int:
    """Run one benchmark or all of them, then print the table of what they kept; 1 where one ended with a fault."""
    quick = arguments == ["--quick"]
    write = "--write" in arguments and arguments[0] not in WITH_OWN_PAGES
    if write:
        arguments = [argument for argument in arguments if argument != "--write"]
    if arguments and not quick:
        runs = [(arguments[0], arguments[1:])]
    else:
        named = [(run.name, run.arguments(quick)) for run in RUNS]
        runs = [(name, given) for name, given in named if given is not None]
    with tempfile.NamedTemporaryFile(prefix="askew-figures-", suffix=".jsonl", delete=False) as made:
        file = Path(made.name)
    failed = []
    for name, given in runs:
        said = " ".join([name, *given])
        if len(runs) > 1:
            print(f"\n== {said}", flush=True)
        began = time.monotonic()
        command = [sys.executable, "-m", f"benchmarks.{name}", *given]
        try:
            status = subprocess.run(command, cwd=ROOT, env={**os.environ, FILE: str(file)}).returncode
        except KeyboardInterrupt:
            return 130
        if len(runs) > 1:
            print(f"-- {said}: {time.monotonic() - began:.0f} s", flush=True)
        failed += [f"{said}: ended with a fault, or missed a target"] if status else []
    figures = kept(file)
    if figures:
        print(f"\n{table(figures)}")
        missed = sum(one.met is False for one in figures)
        asked = sum(one.met is not None for one in figures)
        print(f"{asked - missed} of {asked} targets met; load: {os.getloadavg()[0]:.1f}; figures: {file}")
        if write and not written(" ".join(arguments), file):
            failed.append(
                f"no page under docs/ has a place for the figures of ./run bench {' '.join(arguments)}"
            )
    else:
        file.unlink()
    for fault in failed:
        print(fault, file=sys.stderr)
    return 1 if failed else 0


def written(command: str, file: Path) -> bool:
    """Write the figures of a run into every page that has a place for them. Returns whether there is one."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    today = datetime.datetime.now(datetime.UTC)
    measured = f"{today.day} {today:%B %Y}, commit {commit or 'unknown'}, load {os.getloadavg()[0]:.1f}"
    pages = [page for page in (ROOT / "docs").rglob("*.md") if mark_of(command) in page.read_text("utf-8")]
    for page in pages:
        text = page_with_figures(page.read_text("utf-8"), command, kept(file), measured)
        page.write_text(text, encoding="utf-8")
    return bool(pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
