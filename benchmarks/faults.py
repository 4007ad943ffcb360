"""Faults of every kind while 32 people annotate, and after each of them: is everything there that was acknowledged, once?

    ./run bench faults                              a hundred faults in a fixed order
    ./run bench faults --faults 250 --seed 7        so many, drawn with that seed
    ./run bench faults --seconds 600 --seed 7       as many as that time has room for
    ./run bench faults --database sqlite            the same over SQLite, without the faults of PostgreSQL

A whole site on the loopback (tests/faults/site.py): a PostgreSQL of its own with durable commits, gunicorn with two workers,
a job worker, the bundled model behind its server, a data folder, and between people and site a line that stalls and is cut.
People submit, save drafts, skip, give back, withdraw and ask the model, and ask again for what was not answered, as their
page does. After each fault, while they go on, what they were told is compared with the database as of one moment;
overlaps, places and accounts are counted anew, and after what takes a part of the site down `doctor` looks as well (of
the quick ones after every tenth). At the end, with nobody at work, nothing may be there that nobody was told of; jobs
are done or have failed in words; releases of equal data have equal bytes, whoever was killed in between.

The data folder is a small tmpfs where the user may mount one, and PostgreSQL's clock jumps by libfaketime where that is
installed (those of our own processes by their settings); what is not to be had is left out and said.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from itertools import cycle

from benchmarks.figures import keep
from tests.faults.faults import QUICK, Faults
from tests.faults.site import Site, Wrong

SCRIPTED = 100
WEIGHTS = {
    "a web worker is killed": 4,
    "the job worker is killed in an import": 2,
    "the job worker is killed in a release": 3,
    "the model server is killed": 2,
    "PostgreSQL is stopped at once": 2,
    "PostgreSQL's first process is killed": 2,
    "one of PostgreSQL's processes is killed": 4,
    "database restart": 3,
    "database black hole": 2,
    "the data folder is full": 3,
    "the clock of the web server jumps": 2,
    "the clock of the worker jumps": 2,
    "the clock of the database jumps": 2,
    "the network stalls": 12,
    "a connection is cut in a request": 40,
    "a connection is cut in an answer": 40,
    "two tabs": 40,
    "pressed twice": 40,
    "given up and sent again": 40,
    "an import of labels is killed": 1,
    "a release during an import of labels": 1,
    "a deploy with a migration": 1,
}
"""How often each kind is drawn; in the fixed order each comes in its turn, quick ones twice as often."""


def main() -> int:
    """Print what was done and what was lost; 1 where something was not as it has to be."""
    parser = argparse.ArgumentParser(prog="./run bench faults", description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=0, metavar="N", help="so many, drawn")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="as many as fit, drawn")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is drawn (default 1)")
    parser.add_argument("--database", choices=["postgresql", "postgres", "sqlite"], default="postgresql")
    parser.add_argument("--people", type=int, default=32, metavar="N")
    parser.add_argument("--think", type=float, default=2.0, metavar="S", help="between two acts of a person")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only kinds of faults with this in their name"
    )
    parser.add_argument(
        "--labels", type=int, default=20_000, metavar="N", help="of an import of labels (default 20,000)"
    )
    parser.add_argument("--say", action="store_true", help="each fault, when it is over")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the site is stopped then, too
    signal.signal(signal.SIGINT, signal.default_int_handler)
    database = "sqlite" if options.database == "sqlite" else "postgresql"
    site = Site(database=database, small_disk=True, clocks=True)
    run = Faults(
        site,
        people=options.people,
        think=options.think,
        seed=options.seed,
        labels=options.labels,
        with_doctor=True,
        timed=True,
    )
    began = time.monotonic()
    try:
        run.begin()
        began = time.monotonic()
        for kind in order([kind for kind in run.kinds if options.only in kind], options):
            run.inject(kind)
            run.check(kind, deep=kind not in QUICK or sum(run.done.values()) % 10 == 0)
            if options.say:
                print(
                    f"{time.monotonic() - began:7.1f} s  {sum(run.done.values()):4}  {kind}", file=sys.stderr
                )
        run.finish()
    except Wrong as wrong:
        report(run, database, time.monotonic() - began)
        print(f"WRONG: {wrong}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        report(run, database, time.monotonic() - began)
        print("ended before its time: what is left at the end was not looked at", file=sys.stderr)
        return 130
    finally:
        run.ledger.stop.set()
        site.end()
    report(run, database, time.monotonic() - began)
    print(f"load: {os.getloadavg()[0]:.1f}")
    keep(f"faults without a loss, {database}", sum(run.done.values()))
    keep(f"submissions acknowledged, and there once, {database}", run.ledger.acknowledged)
    return 0


def order(kinds: list[str], options: argparse.Namespace) -> Iterator[str]:
    """The kinds in their order, or as drawn."""
    if not options.faults and not options.seconds:
        # Every third one takes a part of the site down.
        turns = [
            cycle([kind for kind in kinds if kind not in QUICK]),
            cycle([kind for kind in kinds if kind in QUICK]),
        ]
        for number in range(SCRIPTED):
            yield next(turns[number % 3 > 0])
        return
    rng = random.Random(f"order:{options.seed}")
    weights = [WEIGHTS[kind] for kind in kinds]
    until = time.monotonic() + (options.seconds or float("inf"))
    number = 0
    while number < (options.faults or sys.maxsize) and time.monotonic() < until:
        yield rng.choices(kinds, weights)[0]
        number += 1


def report(run: Faults, database: str, seconds: float) -> None:
    """What was done, met with and found."""
    ledger = run.ledger
    print(
        f"{sum(run.done.values())} faults in {seconds:.0f} s under {run.many} people on {database}, seed {run.seed}; "
        f"{ledger.acknowledged} submissions acknowledged, of which {len(ledger.told)} stand"
    )
    for kind in WEIGHTS:
        if kind in run.kinds:
            print(f"  {run.done[kind]:4} {kind}")
    for what, number in sorted(run.caught.items()):
        print(f"  {what}: {number}")
    print(f"  people met with: {', '.join(f'{what} {n}' for what, n in sorted(ledger.met.items()))}")
    print(f"  {run.checks} looks at everything, {run.deep} of them with the doctor")
    if left_out := [kind for kind in WEIGHTS if kind not in run.kinds]:
        print(f"  left out here: {', '.join(left_out)}")


if __name__ == "__main__":
    sys.exit(main())
