"""Whether response times tell gold items from ordinary ones: one annotator after the other over HTTP, against gunicorn.

    ./run bench gold_timing [--people 50] [--database sqlite] [--beside DIR]

Each person submits one response after the other and receives the next item in the same response, as on the annotation
page. The response time is compared between gold and ordinary items, as a person could compare their own: per person the
area under the ROC curve (AUC: the chance that a gold item took longer than an ordinary one; 0.5 tells nothing), then the
mean over people with a 95 % interval (bootstrap over people). Client and server share the machine, which favours the
person: no network adds noise. `--beside` measures another checkout in turns within the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.figures import keep
from benchmarks.loop import ROOT, Caller, Database, _postgres, _request, _served, _sqlite

MOST = 50
"""The largest overlap of a batch: each person needs a slot of each item."""
DRAWS = 2000
"""Bootstrap samples of people."""


@dataclass
class Checkout:
    """One version of the code with its server, its people, and the response times of each person."""

    name: str
    folder: Path
    database: Database
    people: list[dict[str, Any]] = field(default_factory=list)
    callers: list[Caller] = field(default_factory=list)
    times: list[list[tuple[str, str, float]]] = field(default_factory=list)
    """For each person: assignment submitted, assignment received, seconds."""

    def submit(self, index: int) -> bool:
        """Submit the item on the desk of a person and receive the next; False if nothing is left."""
        person = self.people[index]
        held = person.get("held")
        path, body = _request("askew", person, held)
        text = json.dumps(body)
        started = time.perf_counter()
        status, answer = self.callers[index].post(path, text)
        seconds = time.perf_counter() - started
        if status not in (200, 204):
            sys.exit(f"{self.name}: {status} {answer[:200]!r}")
        reply = json.loads(answer) if status == 200 else {}
        following = reply if held is None else reply.get("next")
        if held is not None and following:
            self.times[index].append((held["id"], following["id"], seconds))
        person["held"] = following
        return bool(following)


def main() -> int:
    """Print AUC and medians; the status is 0, for how much a difference tells is for people to judge."""
    parser = argparse.ArgumentParser(prog="./run bench gold_timing", description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=MOST, metavar="N", help=f"at most {MOST}")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--beside", type=Path, metavar="DIR", help="another checkout to measure in turns")
    options = parser.parse_args()
    folders = [("this checkout", ROOT)] + ([("beside", options.beside.resolve())] if options.beside else [])
    with ExitStack() as stack:
        checkouts = [_start(stack, name, folder, options) for name, folder in folders]
        for index in range(options.people):
            _work(checkouts, index)
        gold = [json.loads(_prepare(checkout, 0)) for checkout in checkouts]
    for checkout, ids in zip(checkouts, gold, strict=True):
        _report(checkout, set(ids))
    print(f"load: {os.getloadavg()[0]:.1f}")
    return 0


def _work(checkouts: list[Checkout], index: int) -> None:
    """One person of each checkout, in turns of random order, until nothing is left."""
    rng, left = random.Random(index), list(checkouts)
    while left:
        rng.shuffle(left)
        left = [checkout for checkout in left if checkout.submit(index)]


def _report(checkout: Checkout, gold: set[str]) -> None:
    for position, what in ((1, "the item received"), (0, "the item submitted")):
        aucs, slower, counts = [], [], [0, 0]
        for rows in checkout.times:
            sorts: tuple[list[float], list[float]] = ([], [])
            for row in rows:
                sorts[row[position] in gold].append(row[2])
            if all(sorts):
                ordinary, marked = sorts
                aucs.append(auc(marked, ordinary))
                slower.append(statistics.median(marked) - statistics.median(ordinary))
                counts = [counts[0] + len(ordinary), counts[1] + len(marked)]
        mean, (low, high) = statistics.mean(aucs), interval(aucs)
        median = statistics.median(row[2] for rows in checkout.times for row in rows)
        print(
            f"{checkout.name}, {what}: AUC {mean:.3f} (95 % CI {low:.3f} to {high:.3f}; {len(aucs)} people, "
            f"{counts[1]} gold and {counts[0]} ordinary items); median difference of gold "
            f"{1000 * statistics.median(slower):+.2f} ms, median of all {1000 * median:.2f} ms"
        )
        keep(f"AUC of gold by response time, {what}, {checkout.name}", mean)


def auc(higher: list[float], lower: list[float]) -> float:
    """The chance that a value of the first list exceeds one of the second; ties count half (Mann and Whitney 1947)."""
    return sum((high > low) + (high == low) / 2 for high in higher for low in lower) / (
        len(higher) * len(lower)
    )


def interval(values: list[float]) -> tuple[float, float]:
    """The 95 % percentile interval of the mean, from a bootstrap with a fixed seed."""
    rng = random.Random(1)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(DRAWS))
    return means[DRAWS * 25 // 1000], means[DRAWS * 975 // 1000 - 1]


def _start(stack: ExitStack, name: str, folder: Path, options: argparse.Namespace) -> Checkout:
    database = _postgres(stack) if options.database == "postgresql" else _sqlite(stack)
    checkout = Checkout(name, folder, database)
    os.environ |= {"DATABASE_URL": database.url, "LOG_LEVEL": "WARNING"}
    checkout.people = json.loads(_prepare(checkout, options.people))
    port, _ = stack.enter_context(_served("config.wsgi", folder))
    checkout.callers = [Caller(port, person) for person in checkout.people]
    checkout.times = [[] for _ in checkout.people]
    return checkout


def _prepare(checkout: Checkout, people: int) -> str:
    """Fill the database and return the people; for 0 people, the ids of all assignments of gold items."""
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.gold_timing_data", str(people)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=checkout.folder,
        env={**os.environ, "DATABASE_URL": checkout.database.url},
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
