"""Hostile files that a manager sends while 16 people annotate: is anything lost, wrong or slow?

    ./run bench hostile                                200 files, one at a time and eight at once, in three rounds
    ./run bench hostile --files 40 --rounds 1          a look
    ./run bench hostile --seed 2 --database sqlite     other mutations, over SQLite

A whole site as in `./run bench faults`: gunicorn with two workers, a job worker, PostgreSQL. The first files are those with
which people stopped the site once (tests/attacks/hostile_files.py); the others are good files with something changed by
their structure, drawn with the seed. Each is uploaded, previewed on its page and imported through the API. What is imported
is compared with what openly available libraries find in it, not Askew's readers. Meanwhile a manager of another project
previews a good file, over and over. Before each part of the attack, people work undisturbed for as long as
`--calm` says: the p99 of their submissions is compared with that during the attack.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import time

from benchmarks.figures import keep
from tests.attacks.hostile_files import HostileFile, hostile_files
from tests.faults.hostile import Attack
from tests.faults.people import Ledger, Person
from tests.faults.site import Site

AT_ONCE = (1, 8)
"""How many files are sent at a time."""
SLOWER = 1.5
"""How many times the p99 of people may be during an attack what it is without."""
SOON = 30.0
"""Seconds in which a preview is there."""
AHEAD = 60
"""Free places for each person at the begin of a part."""


def main() -> int:
    """Print the figures; 1 where something was lost or wrong, or a target is missed."""
    parser = argparse.ArgumentParser(prog="./run bench hostile", description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the mutations (default 1)")
    parser.add_argument("--people", type=int, default=16, metavar="N")
    parser.add_argument("--think", type=float, default=1.0, metavar="S", help="between two acts of a person")
    parser.add_argument("--calm", type=float, default=30.0, metavar="S", help="without an attack, each time")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the site is stopped then, too
    files = hostile_files(options.files, options.seed)
    site = Site(database=options.database)
    work = Work(site, options)
    try:
        work.begin()
        attack = Attack(site)
        parts = 2 * options.rounds
        for number in range(parts):
            work.part(attack, files[number::parts], AT_ONCE[number % 2])
        return report(attack, work, options)
    finally:
        work.ledger.stop.set()
        site.end()


class Work:
    """People who annotate, and how long their submissions took with and without an attack."""

    def __init__(self, site: Site, options: argparse.Namespace) -> None:
        self.site, self.options = site, options
        self.ledger = Ledger()
        self.ratios: dict[int, list[float]] = {at_once: [] for at_once in AT_ONCE}
        self.calm: list[float] = []
        self.people: list[Person] = []
        self.room = self.batches = 0

    def begin(self) -> None:
        """Start the site and its people."""
        crew = self.site.start(self.options.people, still=4)
        self._open_batches()
        for number, signed_in in enumerate(crew):
            person = Person(
                number,
                signed_in,
                self.ledger,
                port=self.site.port,
                seed=self.options.seed,
                think=self.options.think,
                patience=15,
            )
            self.people.append(person)
            person.start()
        time.sleep(10)  # connections, caches and templates are warm afterwards

    def part(self, attack: Attack, files: list[HostileFile], at_once: int) -> None:
        """Let people work undisturbed, then during an attack, and compare."""
        self._open_batches()
        began = time.monotonic()
        time.sleep(self.options.calm)
        attacked = time.monotonic()
        attack.send(files, at_once)
        calm, under_attack = self._p99(began, attacked), self._p99(attacked, time.monotonic())
        self.calm.append(calm)
        self.ratios[at_once].append(under_attack / calm)
        seconds = time.monotonic() - attacked
        print(
            f"{len(files)} files, {at_once} at a time, in {seconds:.0f} s: p99 {1000 * under_attack:.0f} ms, "
            f"{1000 * calm:.0f} ms without; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        attack.compare()

    def _p99(self, begin: float, end: float) -> float:
        with self.ledger.lock:
            seconds = [took for at, took in self.ledger.submissions if begin <= at - took and at <= end]
        return statistics.quantiles(seconds, n=100)[98] if len(seconds) > 1 else float("nan")

    def _open_batches(self) -> None:
        while self.room - self.ledger.acknowledged < AHEAD * self.options.people:
            overlap = self.options.people
            opened = self.site.tell(
                "open_batch", kind="question_type", overlap=overlap, size=100, seed=self.batches
            )
            self.ledger.batches = [*self.ledger.batches[-5:], opened]
            self.room += 100 * overlap
            self.batches += 1


def report(attack: Attack, work: Work, options: argparse.Namespace) -> int:
    """Print and keep what came of it."""
    faults = attack.faults() + work.ledger.wrong + [said for _, _, said in work.ledger.failures]
    counts = attack.counts()
    previews = [outcome.preview_seconds for outcome in attack.outcomes]
    slow = [outcome.file.name for outcome in attack.outcomes if outcome.preview_seconds > SOON]
    print(
        f"{len(attack.outcomes)} files (seed {options.seed}): {counts['done']} imported with their values, "
        f"{counts['failed']} refused with file and reason; {len(faults)} faults"
    )
    print(
        f"previews: median {statistics.median(previews):.1f} s, longest {max(previews):.1f} s, "
        f"{len(slow)} over {SOON:.0f} s; longest import {max(one.import_seconds for one in attack.outcomes):.1f} s"
    )
    print(
        f"previews of another project: {len(attack.waits)}, median {statistics.median(attack.waits):.1f} s, longest "
        f"{max(attack.waits):.1f} s; at most {attack.waited_for()} others ended before one of them"
    )
    print(
        f"{work.ledger.acknowledged} submissions by {options.people} people; load: {os.getloadavg()[0]:.1f}"
    )
    for fault in faults:
        print(f"WRONG: {fault}", file=sys.stderr)
    calm = statistics.median(work.calm)
    figures = [
        keep("faults of hostile files", len(faults), "", at_most=0),
        keep("longest preview of a hostile file", max(previews), "s", at_most=SOON),
        keep("other previews that one waits for", attack.waited_for(), "", at_most=1),
    ]
    figures += [
        keep(
            f"p99 of submissions, {at_once} files at a time",
            statistics.median(ratios) * calm,
            "s",
            floor=calm,
            ratio_at_most=SLOWER,
        )
        for at_once, ratios in work.ratios.items()
        if ratios
    ]
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
