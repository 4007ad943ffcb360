"""Whether the tests notice a changed line: 60 mutants of the code that assigns, permits and compares, and how many die.

    ./run bench mutants --out FILE [--commit REV] [--workers N]
    python -m benchmarks.mutants --draw COMMIT --covered FOLDER    draws the mutants anew
    python -m pytest -p benchmarks.mutants --covered FOLDER ...    records which tests run which lines

`data/mutants.json` holds the mutants: file, old text with its context, new text, and up to 200 tests that run the line
(their numbers in `data/mutants-tests.json`).
They are found by their text, so the same mutants apply after a refactoring; those that no longer apply are named. Each is
tried in a clean clone, with its own tests until the first failure. A mutant is killed by a failed test, by an error at
import, or by five minutes of CPU time.

Recording needs the package `coverage`, which no lock installs; the rest needs what the tests need.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mutation.python_code import mutations

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # see tests/plugin.py
ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).resolve().parent / "data"
MUTANTS, TESTS = DATA / "mutants.json", DATA / "mutants-tests.json"
SEED, PER_GROUP, MOST_TESTS = 20261123, 15, 200
CPU_SECONDS, WALL_SECONDS = 300, 1800
PRELOADED = (
    "django.test",
    "httpx",
    "hypothesis",
    "jsonschema",
    "numpy",
    "playwright.sync_api",
    "pytest_django.plugin",
    "scipy.stats",
    "statsmodels.stats.inter_rater",
    "yaml",
)
GROUPS = {
    "agreement": ("tableqa/agreement.py",),
    "work": ("annotation/work/*.py",),
    "access": ("annotation/access.py",),
    "value_change": ("tasks/value_change/task.py",),
}


# --- drawing -----------------------------------------------------------------------------------------------


def draw(commit: str, covered: Path) -> list[dict[str, Any]]:
    """The mutants of this commit, the same for the same seed, with the tests that run their lines."""
    rng, drawn = random.Random(SEED), []
    runs = _covered(covered)
    totals = {test: sum(map(len, files.values())) for test, files in runs.items()}
    for group, patterns in GROUPS.items():
        listed = _git("ls-tree", "-r", "--name-only", commit).splitlines()
        files = [name for name in listed if any(Path(name).match(pattern) for pattern in patterns)]
        pool = defaultdict(list)
        for name in files:
            for mutation in mutations(_git("show", f"{commit}:{name}")):
                pool[name, mutation[0]].append(mutation)
        for name, line in sorted(rng.sample(sorted(pool), PER_GROUP)):
            _, start, end, new = rng.choice(pool[name, line])
            lines = _git("show", f"{commit}:{name}").split("\n")
            changed = lines[line][:start] + new + lines[line][end:]
            near = [test for test, where in runs.items() if line + 1 in where.get(name, ())]
            if (
                not lines[line][0].isspace()
                or not near
                or "lambda" in "".join(lines[max(0, line - 9) : line + 1])
            ):
                # Run at import, or once in a process: any test of the file can notice it.
                near += [test for test, where in runs.items() if name in where and test not in near]
            stem = Path(name).stem if Path(name).stem != "task" else Path(name).parent.name

            def nearness(test: str, name: str = name, stem: str = stem) -> tuple[bool, float, str]:
                return stem not in test.split("::")[0], -len(runs[test].get(name, ())) / totals[test], test

            drawn.append(
                {
                    "group": group,
                    "file": name,
                    "before": lines[max(0, line - 2) : line],
                    "old": lines[line],
                    "after": lines[line + 1 : line + 3],
                    "new": changed,
                    "tests": sorted(near, key=nearness)[:MOST_TESTS],
                }
            )
    return drawn


def store(mutants: list[dict[str, Any]]) -> None:
    """Write the mutants and their tests, one a line."""
    tests = sorted({test for mutant in mutants for test in mutant["tests"]})
    numbers = {test: number for number, test in enumerate(tests)}
    listed = [{**mutant, "tests": [numbers[test] for test in mutant["tests"]]} for mutant in mutants]
    for file, entries in ((TESTS, tests), (MUTANTS, listed)):
        file.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _covered(folder: Path) -> dict[str, dict[str, set[int]]]:
    """Test function -> file -> lines, from the recordings in this folder."""
    from coverage import CoverageData

    runs: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for file in folder.glob("cov.*"):
        data = CoverageData(str(file))
        data.read()
        for path in data.measured_files():
            name = next(str(Path(*Path(path).parts[-size:])) for size in (2, 3) if _is_drawn(path, size))
            for line, contexts in data.contexts_by_lineno(path).items():
                for context in filter(None, contexts):
                    runs[re.sub(r"\[.*", "", context, flags=re.DOTALL)][name].add(line)
    return runs


def _is_drawn(path: str, size: int) -> bool:
    name = Path(*Path(path).parts[-size:])
    return size == 3 or str(name) in (*GROUPS["agreement"], *GROUPS["access"])


# --- trying ------------------------------------------------------------------------------------------------


def apply(tree: Path, mutant: dict[str, Any]) -> Path | None:
    """Put the mutant into its file, found by as much of its context as is still there; None where it no longer applies."""
    before, old, after = mutant["before"], mutant["old"], mutant["after"]
    contexts = [(before, after), (before[-1:], after[:1]), (before, []), ([], after), (before[-1:], [])]
    for above, below in [*contexts, ([], after[:1]), ([], [])]:
        text = "\n".join(["", *above, old, *below, ""])
        holders = [path for path in _places(tree, mutant) if f"\n{path.read_text()}\n".count(text) == 1]
        if len(holders) == 1:
            new = "\n".join(["", *above, mutant["new"], *below, ""])
            holders[0].write_text(f"\n{holders[0].read_text()}\n".replace(text, new)[1:-1])
            return holders[0]
    return None


def _places(tree: Path, mutant: dict[str, Any]) -> list[Path]:
    """Its file; where that is gone, the files of its group."""
    file = tree / mutant["file"]
    if file.exists():
        return [file]
    return [path for pattern in GROUPS[mutant["group"]] for path in sorted(tree.glob(pattern))]


def tried(tree: Path, mutant: dict[str, Any], most: int) -> dict[str, Any]:
    """What became of the mutant in this clone: killed (by which test), survived or gone."""
    began = time.monotonic()
    file = apply(tree, mutant)
    if file is None:
        return {"outcome": "gone", "by": "", "seconds": 0.0}
    # A pyc counts as fresh by size and whole seconds of its source.
    os.utime(file, (began, random.Random(mutant["new"] + mutant["old"]).randrange(10**9)))
    try:
        status, output = run_tests(tree, mutant["tests"][:most])
    finally:
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=tree, check=True)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, flags=re.MULTILINE)
    outcome = "survived" if status in (0, 5) else "killed"
    by = failed[0] if failed else f"status {status}" if outcome == "killed" else ""
    return {"outcome": outcome, "by": by, "seconds": round(time.monotonic() - began, 1)}


def run_tests(tree: Path, tests: list[str]) -> tuple[int, str]:
    """Exit status and output of these test functions, in this order, until the first failure.

    A forked child runs them: what is imported here already, it need not import again.
    """
    out = tree.parent / f"{tree.name}.out"
    child = os.fork()
    if child == 0:
        with out.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        signal.alarm(WALL_SECONDS)
        os.chdir(tree)
        sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
        os.environ |= {"SECRET_KEY": "x", "ASKEW_TEST_DATA": str(_published()), "CI": ""}
        os.environ["ASKEW_TEST_DATA_DIR"] = tempfile.mkdtemp(dir=tree.parent)
        files = [name for name in dict.fromkeys(test.split("::")[0] for test in tests) if Path(name).exists()]
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis"]
        os._exit(int(pytest.main([*options, *files], plugins=[_Chosen(tests)])))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), out.read_text(errors="replace")


class _Chosen:
    """Leaves the chosen test functions, in the order in which they are listed."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: number for number, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        names = {item: re.sub(r"\[.*", "", item.nodeid, flags=re.DOTALL) for item in session.items}
        session.items[:] = [item for item in session.items if names[item] in self.order]
        session.items.sort(key=lambda item: self.order[names[item]])


def _published() -> Path:
    return Path(os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data")


def main() -> int:
    """Try every mutant and print how many are killed; with --draw write the list of them."""
    parser = argparse.ArgumentParser(prog="./run bench mutants")
    parser.add_argument("--commit", default="HEAD", help="what to mutate; default: the last commit")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument("--most", type=int, default=MOST_TESTS, metavar="N", help="tests for each mutant")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="outcomes; those in it are not tried again"
    )
    parser.add_argument(
        "--known", type=Path, metavar="FILE", help="outcomes of another commit: the same tests come first"
    )
    parser.add_argument("--draw", metavar="COMMIT", help="draw the mutants of this commit anew, and end")
    parser.add_argument("--covered", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.draw:
        store(draw(options.draw, options.covered))
        return 0
    tests = json.loads(TESTS.read_text())
    mutants = json.loads(MUTANTS.read_text())
    for mutant in mutants:
        mutant["tests"] = [tests[number] for number in mutant["tests"]]
    if options.known is not None:  # what killed a mutant once comes first
        killers = {_identity(state): state["by"] for state in map(json.loads, options.known.open())}
        for mutant in mutants:
            by = re.sub(r"\[.*", "", killers.get(_identity(mutant), ""), flags=re.DOTALL)
            mutant["tests"] = [
                *([by] if "::" in by else []),
                *(test for test in mutant["tests"] if test != by),
            ]
    done = (
        {_identity(state) for state in map(json.loads, options.out.open())} if options.out.exists() else set()
    )
    left = [mutant for mutant in mutants if _identity(mutant) not in done]
    for name in PRELOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="askew-mutants-") as scratch:
        workers = []
        for number in range(options.workers):
            workers.append(os.fork())
            if workers[-1] == 0:
                _work(Path(scratch, f"tree-{number}"), left[number :: options.workers], options)
                os._exit(0)
        for worker in workers:
            os.waitpid(worker, 0)
    states_of = [json.loads(line) for line in options.out.read_text().splitlines()]
    outcomes = [(state, state) for state in states_of]
    for group in GROUPS:
        states = [state["outcome"] for mutant, state in outcomes if mutant["group"] == group]
        print(
            f"{group:14}{states.count('killed'):3} killed of {len(states)}, {states.count('gone')} no longer apply"
        )
    killed = sum(state["outcome"] == "killed" for _, state in outcomes)
    print(f"{killed} of {len(outcomes)} mutants killed")
    return 0


def _work(tree: Path, mutants: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Try these mutants in a clone of their own, one after the other."""
    _git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(tree))
    commit = _git("rev-parse", options.commit).strip()
    subprocess.run(["git", "checkout", "--quiet", commit], cwd=tree, check=True)
    for mutant in mutants:
        state = tried(tree, mutant, options.most)
        line = f"{mutant['file']}: {mutant['old'].strip()} -> {mutant['new'].strip()}"
        print(f"{state['outcome']:9}{state['seconds']:7.1f} s  {line}  {state['by']}", flush=True)
        with options.out.open("a") as file:
            kept = {name: mutant[name] for name in ("group", "file", "before", "old", "new")}
            file.write(json.dumps({**kept, **state}) + "\n")


def _identity(mutant: dict[str, Any]) -> tuple[str, str, str, str]:
    return mutant["file"], "\n".join(mutant["before"]), mutant["old"], mutant["new"]


# --- as a plugin of pytest ---------------------------------------------------------------------------------


def pytest_addoption(parser: Any) -> None:
    """Add the folder of the recording."""
    parser.addoption("--covered", help="folder to record in which test functions run which lines")


def pytest_configure(config: Any) -> None:
    """Record the lines of the mutated files, each with the test that ran it."""
    if config.getoption("--covered"):
        config.pluginmanager.register(_Recorder(Path(config.getoption("--covered"))))


class _Recorder:
    def __init__(self, folder: Path) -> None:
        import coverage

        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        included = [f"{Path.cwd()}/{pattern}" for patterns in GROUPS.values() for pattern in patterns]
        self.coverage = coverage.Coverage(
            data_file=str(folder / f"cov.{name}"), config_file=False, include=included
        )
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()


if __name__ == "__main__":
    sys.exit(main())
