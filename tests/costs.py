"""What a build costs in core seconds, by tier and by test: reports of single processes, added up by `./run test`.

A test costs the CPU time of its own process, of children that ended and, where tests start browsers or servers, of what
still runs below it. `ASKEW_TEST_COSTS` names the folder of the reports; without it nothing is measured. A report is one
JSON file: {"tests": [[test id, tier, core seconds], ...]} or {"tier": name, "seconds": core seconds}.

`python -m tests.costs FOLDER CORE_SECONDS` prints the table of a build. CORE_SECONDS is the CPU time of all processes of
its tests. The exit status is 1 if a tier costs more than LIMIT times its budget in `tests/budget.toml` on this machine:
if most tiers cost more than their budgets, the machine is slow, and budgets are multiplied by the median of the ratios.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import tomllib
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
REPORTS = os.environ.get("ASKEW_TEST_COSTS", "")
BUDGET = ROOT / "tests" / "budget.toml"
LIMIT = 2.5
"""A tier over its budget is named, and fails a build from here on."""
DEAREST = 20
BESIDE_TESTS = ("checks", "set-up")
"""Tiers that `./run` reports of its own."""
TICKS = os.sysconf("SC_CLK_TCK")
TIERS = {
    "tests/tableqa/": "library",
    "tests/tasks/": "task types",
    "tasks/": "task types",
    "tests/annotation/": "platform",
    "tests/predictor/": "models",
    "tests/attacks/": "attacks",
    "tests/modules/": "modules",
    "tests/browser/": "browser",
    "tests/": "servers and documents",
}
"""Beginning of a test's id -> its tier; the first that fits counts. A browser test is of the tier browser anywhere."""
WITH_PROCESSES = ("tests/browser/", "tests/faults/", "tests/operations/", "tests/attacks/", "tests/test_")
"""Beginnings of the ids of tests that leave processes running: looking for these costs milliseconds a test."""


# --- measuring ---------------------------------------------------------------------------------------------


class Costs:
    """A plugin of pytest: measures every test of this process and the time until the first one."""

    def __init__(self, folder: Path, *, on_sqlite: bool) -> None:
        self.folder = folder
        self.on_sqlite = on_sqlite
        self.tests: list[tuple[str, str, float]] = []

    def pytest_collection_finish(self) -> None:
        write_report(self.folder, {"tier": "start and collection", "seconds": own_seconds()})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = seconds_with_processes(item)
        result = yield
        tier = "on SQLite" if self.on_sqlite else tier_of(item)
        self.tests.append((item.nodeid, tier, max(0.0, seconds_with_processes(item) - before)))
        return result

    def pytest_sessionfinish(self) -> None:
        if self.tests:
            write_report(self.folder, {"tests": self.tests})


def tier_of(item: pytest.Item) -> str:
    if item.get_closest_marker("browser"):
        return "browser"
    return next(tier for start, tier in TIERS.items() if item.nodeid.startswith(start))


def seconds_with_processes(item: pytest.Item) -> float:
    leaves_processes = item.get_closest_marker("browser") or item.nodeid.startswith(WITH_PROCESSES)
    return own_seconds() + (tree_seconds(os.getpid(), itself=False) if leaves_processes else 0.0)


def own_seconds() -> float:
    """CPU time of this process and of its children that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def tree_seconds(root: int, *, itself: bool = True) -> float:
    """CPU time of a process and of all below it, with their children that ended. 0 on systems without /proc."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    seconds: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(folder.name))
        seconds[int(folder.name)] = sum(map(int, fields[11:15])) / TICKS
    total, waiting = 0.0, [root] if itself else list(children[root])
    while waiting:
        process = waiting.pop()
        total += seconds.get(process, 0.0)
        waiting += children[process]
    return total


def record(tier: str, seconds: float) -> None:
    """Report core seconds that belong to no single test."""
    if REPORTS:
        write_report(Path(REPORTS), {"tier": tier, "seconds": seconds})


def write_report(folder: Path, report: Mapping[str, Any]) -> None:
    (folder / f"{uuid.uuid4().hex}.json").write_text(json.dumps(report))


# --- adding up ---------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """Print the table of the reports in a folder. Its file `started` tells when the build began (Unix time)."""
    folder, core_seconds = Path(arguments[0]), float(arguments[1])
    seconds, number, tests = totals(folder)
    of_tests = sum(cost for tier, cost in seconds.items() if tier not in BESIDE_TESTS)
    seconds["everything else"] = max(0.0, core_seconds - of_tests)
    budgets = tomllib.loads(BUDGET.read_text())["core_seconds"]
    wall = time.time() - float((folder / "started").read_text())
    total = sum(seconds.values())
    print(f"{'tier':24}{'tests':>8}{'core s':>9}{'budget':>9}")
    for tier in sorted(seconds, key=lambda tier: -seconds[tier]):
        print(f"{tier:24}{number[tier] or '':>8}{seconds[tier]:9.0f}{budgets.get(tier, ''):>9}")
    cores = os.cpu_count() or 1
    print(f"{'together':24}{number.total():>8}{total:9.0f}")
    print(f"{wall / 60:.1f} minutes of wall time, {total / wall / cores:.0%} of {cores} cores used")
    print(f"The {DEAREST} dearest tests, in core seconds:")
    for test, cost in sorted(tests, key=lambda test: -test[1])[:DEAREST]:
        print(f"{cost:7.1f}  {test}")
    ratios = {tier: cost / budgets[tier] for tier, cost in seconds.items() if tier in budgets}
    slowness = max(1.0, statistics.median_low(ratios.values()))
    if slowness > 1:
        print(
            f"This machine takes {slowness:.1f} times the budgets of tests/budget.toml, by the median of the tiers"
        )
    for tier, ratio in ratios.items():
        if ratio > 1:
            print(f"OVER BUDGET: {tier} costs {ratio:.1f} times its budget in tests/budget.toml")
    return 1 if any(ratio > LIMIT * slowness for ratio in ratios.values()) else 0


def totals(folder: Path) -> tuple[dict[str, float], Counter[str], list[tuple[str, float]]]:
    """Core seconds by tier, number of tests by tier, and the core seconds of each test."""
    seconds: defaultdict[str, float] = defaultdict(float)
    number: Counter[str] = Counter()
    tests = []
    for file in folder.glob("*.json"):
        report = json.loads(file.read_text())
        if "tier" in report:
            seconds[report["tier"]] += report["seconds"]
        for test, tier, cost in report.get("tests", ()):
            seconds[tier] += cost
            number[tier] += 1
            tests.append((test, cost))
    return seconds, number, tests


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
