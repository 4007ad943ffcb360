"""The costs of a build: every core second is in one tier, and a tier over its budget is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests import costs

LIBRARY = "tests/tableqa/test_agreement.py::test_one"


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reports of a build of 100 seconds, with a budget of 10 core seconds for the library."""
    budget = tmp_path / "budget.toml"
    budget.write_text('[core_seconds]\nlibrary = 10\nchecks = 100\n"everything else" = 100\n')
    monkeypatch.setattr(costs, "BUDGET", budget)
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "started").write_text(str(time.time() - 100))
    return folder


def test_core_seconds_are_added_up_by_tier_and_the_rest_is_everything_else(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    costs.write_report(reports, {"tests": [[LIBRARY, "library", 4.0], ["tests/a.py::test", "library", 3.0]]})
    costs.write_report(reports, {"tier": "checks", "seconds": 50.0})
    assert costs.main([str(reports), "20"]) == 0
    table = {line[:24].strip(): line[24:].split() for line in capsys.readouterr().out.splitlines()}
    assert table["library"] == ["2", "7", "10"]
    assert table["checks"] == ["50", "100"]  # no part of the 20 seconds that the tests took
    assert table["everything else"] == ["13", "100"]
    assert table["together"] == ["2", "70"]


@pytest.mark.parametrize(("seconds", "status"), [(10.0, 0), (24.0, 0), (26.0, 1)])
def test_a_tier_over_its_budget_is_named_and_fails_at_two_and_a_half_times(
    reports: Path, capsys: pytest.CaptureFixture[str], seconds: float, status: int
) -> None:
    costs.write_report(reports, {"tests": [[LIBRARY, "library", seconds]]})
    assert costs.main([str(reports), str(seconds)]) == status
    assert ("OVER BUDGET: library" in capsys.readouterr().out) == (seconds > 10)


@pytest.mark.parametrize(("seconds", "status"), [(60.0, 0), (80.0, 1)])
def test_on_a_machine_where_most_tiers_cost_three_times_their_budget_a_tier_may_cost_more(
    reports: Path, seconds: float, status: int
) -> None:
    costs.write_report(reports, {"tests": [[LIBRARY, "library", seconds]]})
    costs.write_report(reports, {"tier": "checks", "seconds": 300.0})
    assert costs.main([str(reports), str(seconds + 300)]) == status


def test_a_process_that_still_runs_counts_with_what_it_started() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", nested], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdin
        process.stdout.readline()
        assert costs.tree_seconds(os.getpid(), itself=False) >= 0.3
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert costs.own_seconds() >= 0.3


def test_every_tier_has_a_budget() -> None:
    budgets = tomllib.loads((costs.ROOT / "tests" / "budget.toml").read_text())["core_seconds"]
    others = {"browser", "PostgreSQL", "on SQLite", "start and collection", "everything else"}
    assert budgets.keys() == {*costs.TIERS.values(), *others, *costs.BESIDE_TESTS}


def test_a_report_is_one_file(tmp_path: Path) -> None:
    costs.write_report(tmp_path, {"tier": "checks", "seconds": 1.5})
    (file,) = tmp_path.glob("*.json")
    assert json.loads(file.read_text()) == {"tier": "checks", "seconds": 1.5}
