"""Automatic perturbations on published questions: instances a second on one core, beside a plain program for the same.

    ./run bench perturbations [--data DIR] [--limit N] [--rounds N]

Every instance of FREB-TQA's thirteen kinds with five seeds, of the extraction questions of its public files. The plain
program makes each instance by itself: it copies the table, looks for the rows and columns of the answer, takes them out,
draws places and puts them in again, and keeps no ids, no operations and no reasons. It is run twice, once looking by
Askew's comparison of answers (the same semantics), once by comparing the strings. Rounds take turns; medians count.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.figures import keep  # noqa: E402
from tableqa import Example  # noqa: E402
from tableqa.data.answers import compare  # noqa: E402
from tableqa.perturbations import PERTURBATIONS, SEEDS, instances  # noqa: E402
from tableqa.readers import READERS  # noqa: E402

PROMISED = 20_000
"""Instances a second on one core."""
FILES = "freb_tqa/01_str/{}_factoid_dev.json"
SOURCES = ("sqa", "tat", "wtq")
KINDS = [name for name, kind in PERTURBATIONS.items() if kind.paper == "FREB-TQA"]

Rows = list[list[str]]
Telling = Callable[[str, Example], bool]


def main(arguments: list[str]) -> int:
    """Print the rates; the status is 1 where the promised one is missed."""
    parser = argparse.ArgumentParser(prog="./run bench perturbations", description=__doc__.splitlines()[0])
    default = os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), metavar="DIR")
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="questions of each file")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    options = parser.parse_args(arguments)
    examples: list[Example] = []
    for source in SOURCES:
        path = options.data / FILES.format(source)
        examples += itertools.islice(READERS["freb_tqa"](path), options.limit)
    print(f"{len(examples)} questions of {', '.join(SOURCES)}, {len(KINDS)} kinds, seeds {SEEDS}")
    ways: dict[str, Callable[[Sequence[Example]], int]] = {
        "askew": made,
        "askew, operations and contract too": checked,
        "plain": plainly,
        "plain, comparing strings": lambda examples: plainly(examples, by_string),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, way in ways.items():
            began = time.process_time()
            number = way(examples)
            rates[name].append(number / (time.process_time() - began))
    for name, found in rates.items():
        print(f"{name:<38}{statistics.median(found):>9,.0f} instances/s")
    ours = statistics.median(rates["askew"])
    print(f"ratio to plain: {ours / statistics.median(rates['plain']):.2f}")
    print(f"load: {os.getloadavg()[0]:.1f}")
    plain = statistics.median(rates["plain"])
    return 0 if keep("automatic perturbations", ours, "/s", floor=plain, at_least=PROMISED).met else 1


def seeds_of(kind: str) -> Sequence[int]:
    """The seeds that make different instances of a kind."""
    return SEEDS if PERTURBATIONS[kind].seeded else (0,)


def made(examples: Sequence[Example]) -> int:
    """Every instance as a table; no-ops are told apart."""
    number = 0
    for example in examples:
        for kind in KINDS:
            for seed in seeds_of(kind):
                PERTURBATIONS[kind](example, seed)
                number += 1
    return number


def checked(examples: Sequence[Example]) -> int:
    """Every instance with its operations, replayed and checked against the contract: what a project keeps."""
    number = 0
    for example in examples:
        for instance in instances(example, KINDS):
            _ = instance.perturbed.operations
            number += 1
    return number


# -- the plain program ------------------------------------------------------------------------------


def by_answer(text: str, example: Example) -> bool:
    """Whether a cell says one of the answers, as Askew compares them."""
    return any(compare([text], [answer]).equal for answer in example.answers)


def by_string(text: str, example: Example) -> bool:
    """Whether a cell is one of the answers, letter by letter but for case."""
    return any(text.casefold().strip() == answer.casefold().strip() for answer in example.answers)


def plainly(examples: Sequence[Example], tells: Telling = by_answer) -> int:
    """Every instance by the plain program."""
    number = 0
    for example in examples:
        for kind in KINDS:
            for seed in seeds_of(kind):
                lines = [list(example.table.header), *(list(row) for row in example.table.rows)]
                plain_instance(kind, seed, lines, example, tells)
                number += 1
    return number


def plain_instance(kind: str, seed: int, lines: Rows, example: Example, tells: Telling) -> Rows:
    """One instance, made by itself from a copy of the table."""
    rng = random.Random(f"{kind}:{seed}:{example.id}")
    lines = copy.deepcopy(lines)
    if kind.startswith(("col", "target_col", "transpose")):
        lines = [list(line) for line in zip(*lines, strict=True)]
        if kind == "transpose":
            return lines
    header, body = ([], lines) if kind.startswith(("col", "target_col")) else (lines[0], lines[1:])
    if kind in ("row_shuffle", "col_shuffle"):
        rng.shuffle(body)
    elif kind.startswith("target") or kind == "relevant_row_shuffle":
        targets = [line for line in body if any(tells(cell, example) for cell in line)]
        rest = [line for line in body if line not in targets]
        parts = 2 if kind.startswith("target_col") else 3
        edge = max(1, len(body) // parts)
        place = kind.rpartition("_")[2]
        region = {
            "front": range(edge),
            "middle": range(edge, len(body) - edge),
            "bottom": range(len(body) - edge, len(body)),
            "back": range(edge, len(body)),
        }.get(place, range(len(body)))
        if targets and len(targets) <= len(region):
            for at, target in zip(sorted(rng.sample(region, len(targets))), targets, strict=True):
                rest.insert(at, target)
            body = rest
    elif kind == "mask_cell":
        body = [["" if tells(cell, example) else cell for cell in line] for line in body]
    else:
        header, body = ["None"], []
    lines = [header, *body] if header else body
    return (
        [list(line) for line in zip(*lines, strict=True)] if kind.startswith(("col", "target_col")) else lines
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
