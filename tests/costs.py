"""What the tests cost: core seconds of each test, written at the end of a run for `./run` to add up.

A test costs the CPU time of its own process, of children that ended, and, for tests that start browsers or servers, of
the processes that still run below it. `ASKEW_TEST_COSTS` names the folder of the reports; without it nothing is measured.
Each process of pytest writes one JSON file: {"tests": [[test id, tier, core seconds], ...], "start": core seconds}.
"""

from __future__ import annotations

import json
import os
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TICKS = os.sysconf("SC_CLK_TCK")
WITH_PROCESSES = (
    "tests/browser/",
    "tests/faults/",
    "tests/operations/",
    "tests/attacks/",
    "tests/test_demo.py",
)
"""Tests below these paths start processes that outlive them or are not waited for."""


class Costs:
    """Measures every test of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tests: list[tuple[str, str, float]] = []
        self.start = 0.0

    def pytest_collection_finish(self) -> None:
        self.start = own_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with_processes = item.nodeid.startswith(WITH_PROCESSES)
        before = own_seconds() + (descendant_seconds() if with_processes else 0)
        result = yield
        after = own_seconds() + (descendant_seconds() if with_processes else 0)
        self.tests.append((item.nodeid, tier(item), max(0.0, after - before)))
        return result

    def pytest_sessionfinish(self) -> None:
        if self.tests:
            report = {"tests": self.tests, "start": self.start}
            (self.folder / f"{uuid.uuid4().hex}.json").write_text(json.dumps(report))


def tier(item: pytest.Item) -> str:
    """The part of the suite that a test belongs to, a line of the table of `./run test`."""
    path = item.nodeid.partition("::")[0]
    if item.get_closest_marker("browser"):
        return "browser"
    for folder, name in (
        ("tests/modules/", "modules"),
        ("tests/tableqa/", "library"),
        ("tests/predictor/", "models"),
        ("tests/attacks/", "attacks"),
        ("tests/faults/", "servers"),
        ("tests/operations/", "servers"),
        ("tests/test_", "servers"),
        ("tests/annotation/", "platform"),
    ):
        if path.startswith(folder):
            return name
    return "task types"


def own_seconds() -> float:
    """CPU time of this process and of its children that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def descendant_seconds() -> float:
    """CPU time of all processes that run below this one, with their children that ended. 0 without /proc."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    seconds: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(folder.name))
        seconds[int(folder.name)] = sum(map(int, fields[11:15])) / TICKS
    total, waiting = 0.0, list(children[os.getpid()])
    while waiting:
        process = waiting.pop()
        total += seconds[process]
        waiting += children[process]
    return total
