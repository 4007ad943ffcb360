"""Whether the tests notice a changed line: sets of small faults (mutants), and how many of them the tests find.

    ./run bench mutants --out FILE [--set NAME] [--covered FOLDER] [--commit REV] [--workers N] [--known FILE] [--control]
    python -m tests.on_postgres -p benchmarks.mutation.reach --covered FOLDER    records which tests run which lines
    python -m benchmarks.mutants --set NAME --draw COMMIT                        draws the mutants of a set anew
    python -m benchmarks.mutants --set NAME --store --covered FOLDER             stores their tests from a recording

| set | mutants of |
|---|---|
| recorded, second | the code that assigns, permits and compares, with two seeds |
| pages | scripts and templates |
| browser-faults | 19 faults of pages that the changelog of 0.1.0 says are gone, put back; drawn with seed 20261128 |

A file of `data/` holds each set: file, old text with its context, new text, and perhaps the numbers of tests that run the
line (in NAME-tests.json). They are found by their text, so the same mutants apply after a refactoring; those that no longer
apply are named. A style sheet has no lines that run: `shown_by` names a file whose tests are tried instead, and `also`
names further tests. With --covered, the tests are those of a recording, which must be one of the commit that is tried.

Each mutant is tried in a clean clone, with its own tests until the first failure: outside of a browser first, then those
that are named like the file or run little else. A mutant is killed by a failed test, by an error at import, or by a test
that takes five minutes of CPU time. --control runs the tests that killed one again, without a mutant.

The tests use a temporary PostgreSQL server, as `./run test` does, each worker with a database of its own. --sqlite is
faster where no test needs PostgreSQL. Recording needs the package `coverage`, which no lock installs.
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
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mutation import python_code, scripts, templates
from benchmarks.mutation.reach import PYTHON, SCRIPTS, TEMPLATES, name_of_test, read

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # see tests/plugin.py
ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).resolve().parent / "data"
MOST_TESTS, MOST_BROWSER_TESTS = 200, 40
CPU_SECONDS, WALL_SECONDS = 300, 1800
"""Of one test."""
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
DECISIONS = dict(zip(("agreement", "work", "access", "value_change"), PYTHON, strict=False))
"""Group -> the files that assign, permit and compare."""
PAGES = {"scripts": SCRIPTS, "templates": TEMPLATES}
SETS: dict[str, tuple[str, dict[str, str], int, int]] = {
    "recorded": ("mutants.json", DECISIONS, 20261123, 15),
    "second": ("mutants-second.json", DECISIONS, 20261128, 15),
    "pages": ("mutants-pages.json", PAGES, 20261129, 30),
    "browser-faults": ("browser-faults.json", PAGES, 0, 0),
}
"""Set -> its file, groups, seed, and number of mutants of each group. The last set is not drawn: it was written by hand."""
Covered = dict[str, dict[str, set[int]]]
"""Test -> file -> lines that it runs."""


# --- drawing -----------------------------------------------------------------------------------------------


def draw(commit: str, name: str) -> list[dict[str, Any]]:
    """The mutants of this commit, the same for the same seed."""
    _, groups, seed, per_group = SETS[name]
    rng, drawn = random.Random(seed), []
    listed = _git("ls-tree", "-r", "--name-only", commit).splitlines()
    for group, pattern in groups.items():
        pool = defaultdict(list)
        texts = {file: _git("show", f"{commit}:{file}") for file in listed if matches(file, pattern)}
        for file, text in texts.items():
            for mutation in mutations_of(file, text):
                pool[file, mutation[0]].append(mutation)
        for file, line in sorted(rng.sample(sorted(pool), per_group)):
            _, start, end, new = rng.choice(pool[file, line])
            lines = texts[file].split("\n")
            drawn.append(
                {
                    "group": group,
                    "file": file,
                    "before": lines[max(0, line - 2) : line],
                    "old": lines[line],
                    "after": lines[line + 1 : line + 3],
                    "new": lines[line][:start] + new + lines[line][end:],
                }
            )
    return drawn


def mutations_of(file: str, text: str) -> list[tuple[int, int, int, str]]:
    """(line from 0, start, end, new text) of every mutation of this file."""
    kinds: dict[str, Callable[[str], list[tuple[int, int, int, str]]]] = {
        ".py": python_code.mutations,
        ".js": scripts.mutations,
        ".html": templates.mutations,
    }
    return kinds[Path(file).suffix](text)


def matches(file: str, pattern: str) -> bool:
    """Whether the pattern fits the path of a file; `**/` is any folder or none, which Path.match cannot."""
    folder, recursive, rest = pattern.partition("**/")
    if recursive:
        return file.startswith(folder) and Path(file).match(rest)
    return file.startswith(Path(pattern).parts[0]) and Path(file).match(pattern)


def store(name: str, mutants: list[dict[str, Any]]) -> None:
    """Write the mutants of a set, one a line, and their tests where they have some."""
    file = DATA / SETS[name][0]
    tests = sorted({test for mutant in mutants for test in mutant.get("tests", ())})
    numbers = {test: number for number, test in enumerate(tests)}
    listed = [
        {**mutant, "tests": [numbers[test] for test in mutant["tests"]]} if "tests" in mutant else mutant
        for mutant in mutants
    ]
    for path, entries in ((_tests_of(file), tests), (file, listed)):
        if entries:
            rows = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
            path.write_text(f"[\n{rows}\n]\n", "utf-8")


def load(name: str) -> list[dict[str, Any]]:
    """The mutants of a set, with the names of their tests."""
    file = DATA / SETS[name][0]
    tests = json.loads(_tests_of(file).read_text("utf-8")) if _tests_of(file).exists() else []
    mutants: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    for mutant in mutants:
        if "tests" in mutant:
            mutant["tests"] = [tests[number] for number in mutant["tests"]]
    return mutants


def _tests_of(file: Path) -> Path:
    return file.with_name(f"{file.stem}-tests.json")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


# --- which tests to try ------------------------------------------------------------------------------------


def nearest(file: str, text: str, lines: range, covered: Covered) -> list[str]:
    """The tests that run these lines (from 1) of a file, the most promising first; without lines, those of the file."""
    runs = {test: files[file] for test, files in covered.items() if file in files}
    source = text.split("\n")
    exact = {test for test, run in runs.items() if not run.isdisjoint(lines)}
    if lines and not exact and file.endswith(".html"):
        first = templates.first_line_of_text(source, lines[0])
        exact = {test for test, run in runs.items() if first in run}
    near = exact
    if not lines or not exact or _is_run_elsewhere(file, source, lines):
        near = set(runs)
    totals = {test: sum(map(len, covered[test].values())) for test in near}
    stem = Path(file).stem if Path(file).stem != "task" else Path(file).parent.name
    stem = stem.strip("_").replace("-", "_")

    def nearness(test: str) -> tuple[bool, bool, bool, float, str]:
        test_file = test.split("::")[0] + test.partition("[")[2]
        share = len(runs[test]) / totals[test]
        return test not in exact, _is_browser_test(test), stem not in test_file, -share, test

    return sorted(near, key=nearness)


def _is_run_elsewhere(file: str, source: list[str], lines: range) -> bool:
    """Whether other tests than those that run the line may notice it: at import, once in a process, or in `elif`."""
    if file.endswith(".html"):
        return "{% elif" in source[lines[0] - 1]
    line = lines[0] - 1
    return file.endswith(".py") and (
        not source[line][:1].isspace() or "lambda" in "".join(source[max(0, line - 9) : line + 1])
    )


def _is_browser_test(test: str) -> bool:
    return test.startswith("tests/browser/")


def limited(tests: list[str], most: int, most_in_browser: int) -> list[str]:
    """The first tests, up to a maximum for tests with and without a browser."""
    left = {False: most, True: most_in_browser}
    chosen = []
    for test in tests:
        left[_is_browser_test(test)] -= 1
        if left[_is_browser_test(test)] >= 0:
            chosen.append(test)
    return chosen


# --- trying ------------------------------------------------------------------------------------------------


def located(tree: Path, mutant: dict[str, Any]) -> tuple[Path, str, range] | None:
    """File, changed text and lines (from 1) of a mutant, found by as much of its context as there is, or None."""
    before, old, after = mutant["before"], mutant["old"], mutant["after"]
    contexts = [(before, after), (before[-1:], after[:1]), (before, []), ([], after), (before[-1:], [])]
    for above, below in [*contexts, ([], after[:1]), ([], [])]:
        text = "\n".join(["", *above, old, *below, ""])
        texts = [(path, f"\n{path.read_text('utf-8')}\n") for path in _places(tree, mutant)]
        # Not count(): two equal lines overlap in their line break.
        pattern = f"(?={re.escape(text)})"
        holders = [(path, content) for path, content in texts if len(re.findall(pattern, content)) == 1]
        if len(holders) == 1:
            path, content = holders[0]
            new = "\n".join(["", *above, mutant["new"], *below, ""])
            first = content.count("\n", 0, content.index(text) + 1) + len(above)
            return path, content.replace(text, new)[1:-1], range(first, first + old.count("\n") + 1)
    return None


def _places(tree: Path, mutant: dict[str, Any]) -> list[Path]:
    """Its file; where that is gone, the files of its group."""
    file = tree / mutant["file"]
    if file.exists():
        return [file]
    pattern = {**DECISIONS, **PAGES}.get(mutant["group"])
    return sorted(tree.glob(pattern)) if pattern else []


def tests_of(tree: Path, mutant: dict[str, Any], covered: Covered | None) -> list[str]:
    """The tests of a mutant from the recording, else those that are stored with it."""
    location = located(tree, mutant)
    if covered is None or location is None:
        stored: list[str] = mutant.get("tests", [])
        return stored
    path, _, lines = location
    also = [test for test in mutant.get("also", ()) if (tree / test.split("::")[0]).exists()]
    if "shown_by" in mutant:
        near = nearest(mutant["shown_by"], "", range(0), covered)
        if path.suffix == ".css":
            near = [test for test in near if _is_browser_test(test)]
    else:
        near = nearest(str(path.relative_to(tree)), path.read_text("utf-8"), lines, covered)
    return [*also, *(test for test in near if test not in also)]


def tried(tree: Path, mutant: dict[str, Any], tests: list[str], database: str) -> dict[str, Any]:
    """What became of the mutant in this clone: killed (by which test), survived or gone."""
    began = time.monotonic()
    location = located(tree, mutant)
    if location is None:
        return {"outcome": "gone", "by": "", "seconds": 0.0}
    path, text, _ = location
    path.write_text(text, "utf-8")
    # A pyc counts as fresh by size and whole seconds of its source.
    os.utime(path, (began, random.Random(mutant["new"] + mutant["old"]).randrange(10**9)))
    try:
        status, output = run_tests(tree, tests, database, "-x") if tests else (5, "")
    finally:
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=tree, check=True)
    failed = failures(output)
    outcome = "survived" if status in (0, 5) else "killed"
    by = failed[0] if failed else f"status {status}" if outcome == "killed" else ""
    return {
        "outcome": outcome,
        "by": by,
        "tests": len(tests),
        "skipped": sum(map(int, re.findall(r"(\d+) skipped", output))),
        "seconds": round(time.monotonic() - began, 1),
    }


def failures(output: str) -> list[str]:
    """The tests that failed, from what pytest printed."""
    return re.findall(r"^(?:FAILED|ERROR) (\S+)", output, flags=re.MULTILINE)


def run_tests(tree: Path, tests: list[str], database: str, *options: str) -> tuple[int, str]:
    """Exit status and output of these tests, in this order.

    A forked child runs them: what is imported here already, it need not import again.
    """
    out = tree.parent / f"{tree.name}.out"
    child = os.fork()
    if child == 0:
        with out.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(tree)
        sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
        for name in [name for name in sys.modules if name.split(".")[0] in ("benchmarks", "tests")]:
            del sys.modules[name]  # the clone has its own
        os.environ |= {"SECRET_KEY": "x", "ASKEW_TEST_DATA": str(_published()), "CI": ""}
        os.environ["ASKEW_TEST_DATA_DIR"] = tempfile.mkdtemp(dir=tree.parent)
        if database:
            os.environ["DATABASE_URL"] = database
        files = [name for name in dict.fromkeys(test.split("::")[0] for test in tests) if Path(name).exists()]
        plugins = ["-p", "no:cacheprovider", "-p", "no:schemathesis"]
        os._exit(
            int(pytest.main([*options, "-q", "-rfE", *plugins, *files], plugins=[_TestSelection(tests)]))
        )
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), out.read_text(errors="replace")


class _TestSelection:
    """Leaves the chosen tests, in the order in which they are listed, and ends a process that hangs in one of them."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: number for number, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        names = {item: name_of_test(item.nodeid) for item in session.items}
        session.items[:] = [item for item in session.items if names[item] in self.order]
        session.items.sort(key=lambda item: self.order[names[item]])

    def pytest_runtest_logstart(self) -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + CPU_SECONDS, hard))
        signal.alarm(WALL_SECONDS)


def _published() -> Path:
    return Path(os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data")


def main() -> int:
    """Try every mutant and print how many are killed; with --draw or --store write the set."""
    options = _arguments()
    if options.draw:
        store(options.set, draw(options.draw, options.set))
        return 0
    mutants = load(options.set)
    covered = read(options.covered) if options.covered else None
    if options.store:
        reaching = [tests_of(ROOT, mutant, covered)[:MOST_TESTS] for mutant in mutants]
        store(
            options.set, [{**mutant, "tests": tests} for mutant, tests in zip(mutants, reaching, strict=True)]
        )
        return 0
    killers = {}
    if options.known is not None:
        killers = {
            _identity(state): name_of_test(state["by"]) for state in map(json.loads, options.known.open())
        }
    done = set()
    if options.out.exists():
        done = {_identity(state) for state in map(json.loads, options.out.open())}
    left = [mutant for mutant in mutants if _identity(mutant) not in done]
    for module in PRELOADED:
        importlib.import_module(module)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server is stopped then, too
    with tempfile.TemporaryDirectory(prefix="askew-mutants-") as folder, _database(options) as database:
        workers = []
        for number in range(options.workers):
            worker = _Worker(Path(folder, f"tree-{number}"), database, options, covered, killers)
            workers.append(os.fork())
            if workers[-1] == 0:
                worker.run(left[number :: options.workers])
        statuses = [os.waitpid(worker, 0)[1] for worker in workers]
        print_outcomes(list(map(json.loads, options.out.read_text().splitlines())))
        if options.control:
            _Worker(Path(folder, "control"), database, options, covered, killers).control()
    return 1 if any(statuses) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run bench mutants")
    add = parser.add_argument
    add("--set", choices=list(SETS), default="recorded", help="which mutants; default: recorded")
    add("--commit", default="HEAD", help="what to mutate; default: the last commit")
    add(
        "--covered",
        type=Path,
        metavar="FOLDER",
        help="a recording of this commit: which tests run which lines",
    )
    add("--workers", type=int, default=1, metavar="N")
    add("--most", type=int, default=MOST_TESTS, metavar="N", help="tests for each mutant, without browsers")
    add(
        "--most-browser",
        type=int,
        default=MOST_BROWSER_TESTS,
        metavar="N",
        help="browser tests for each mutant",
    )
    add("--out", type=Path, metavar="FILE", help="outcomes; those in it are not tried again")
    add("--known", type=Path, metavar="FILE", help="outcomes of another commit: the same tests come first")
    add("--control", action="store_true", help="run the tests that killed a mutant without mutants, too")
    add("--sqlite", action="store_true", help="on SQLite instead of a temporary PostgreSQL server")
    add("--draw", metavar="COMMIT", help="draw the mutants of this commit anew, and end")
    add("--store", action="store_true", help="store the tests of --covered with the mutants, and end")
    options = parser.parse_args()
    if options.store and not options.covered:
        parser.error("--store needs --covered")
    if not options.draw and not options.store:
        if options.out is None:
            parser.error("--out is missing")
        if not options.covered and not all("tests" in mutant for mutant in load(options.set)):
            parser.error("the tests of this set are not stored: record them and pass --covered")
    return options


@contextmanager
def _database(options: argparse.Namespace) -> Iterator[str]:
    """The URL of a temporary PostgreSQL server; empty for SQLite."""
    if options.sqlite:
        os.environ.pop("DATABASE_URL", None)
        yield ""
        return
    from tests.temp_postgres import temporary_postgres

    with temporary_postgres() as url:
        yield url


class _Worker:
    """Tries mutants in a clone of its own, one after the other."""

    def __init__(
        self,
        tree: Path,
        database: str,
        options: argparse.Namespace,
        covered: Covered | None,
        killers: dict[tuple[str, ...], str],
    ) -> None:
        self.tree, self.options, self.covered, self.killers = tree, options, covered, killers
        # Its tests have a database of their own.
        self.database = database.replace("@/postgres?", f"@/{tree.name.replace('-', '_')}?")

    def run(self, mutants: list[dict[str, Any]]) -> None:
        """Try these mutants, then end this process, whatever happens: the clean-up is not its own."""
        status = 1
        try:
            self.clone()
            for mutant in mutants:
                self.try_one(mutant)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    def clone(self) -> None:
        _git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(self.tree))
        commit = _git("rev-parse", self.options.commit).strip()
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=self.tree, check=True)
        if (ROOT / "node_modules").is_dir():
            (self.tree / "node_modules").symlink_to(ROOT / "node_modules")

    def try_one(self, mutant: dict[str, Any]) -> None:
        known = self.killers.get(_identity(mutant), "")
        tests = limited(
            tests_of(self.tree, mutant, self.covered), self.options.most, self.options.most_browser
        )
        if "::" in known:  # what killed it once comes first
            tests = [known, *(test for test in tests if test != known)]
        state = tried(self.tree, mutant, tests, self.database)
        line = f"{mutant['file']}: {mutant['old'].strip()} -> {mutant['new'].strip()}"
        print(f"{state['outcome']:9}{state['seconds']:7.1f} s  {line}  {state['by']}", flush=True)
        with self.options.out.open("a") as file:
            entry = {name: mutant[name] for name in ("group", "file", "before", "old", "new")}
            file.write(json.dumps({**entry, **state}) + "\n")

    def control(self) -> None:
        """Run the tests that killed mutants without one: each of them should pass."""
        self.clone()
        states = map(json.loads, self.options.out.read_text().splitlines())
        killing = dict.fromkeys(name_of_test(state["by"]) for state in states if "::" in state["by"])
        if killing:
            _, output = run_tests(self.tree, list(killing), self.database)
            failed = failures(output)
            print(f"{len(killing)} tests killed mutants; {len(failed)} of them fail without one")
            print("".join(f"  {test}\n" for test in failed), end="")


def print_outcomes(states: list[dict[str, Any]]) -> None:
    """The number killed, by group and in all."""
    for group in dict.fromkeys(state["group"] for state in states):
        outcomes = [state["outcome"] for state in states if state["group"] == group]
        gone = outcomes.count("gone")
        print(f"{group:14}{outcomes.count('killed'):3} killed of {len(outcomes)}, {gone} no longer apply")
    killed = sum(state["outcome"] == "killed" for state in states)
    print(f"{killed} of {len(states)} mutants killed")


def _identity(mutant: dict[str, Any]) -> tuple[str, ...]:
    return mutant["file"], "\n".join(mutant["before"]), mutant["old"], mutant["new"]


if __name__ == "__main__":
    sys.exit(main())
