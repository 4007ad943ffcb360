"""Which tests run which lines of Python, scripts and templates: a plugin of pytest.

    python -m tests.on_postgres -p benchmarks.mutation.reach --covered FOLDER [PYTEST ARGUMENTS]

Each process writes a file into FOLDER, which is empty before: {"commit": SHA, "tests": {test: {file: [lines]}}}. Line 0
stands for a file that a browser loaded; a text of a template has the line where the tag before it ends.

* Python: lines by `coverage`, a package that no lock installs.
* Scripts: lines by the precise coverage of Chromium and of Node.js, and the files that the live server sent.
* Templates: the nodes that were rendered.

This module imports nothing else of the repository: copy it into an older tree to record that one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

PYTHON = (
    "tableqa/agreement/coefficients.py",
    "tableqa/agreement/estimators.py",
    "tableqa/agreement/rating_patterns.py",
    "annotation/queue/*.py",
    "annotation/access/authorization.py",
    "tasks/value_change/task.py",
)
SCRIPTS, TEMPLATES = "static/askew/*.js", "templates/**/*.html"
FILE_PARAMETER = re.compile(r"\[[\w.+-]+\.test\.js\]$")
"""The parameter of a test that stands for files of JavaScript tests: they are tests of their own."""
BROWSER_FIXTURES = {"page", "context", "new_context", "browser"}


def name_of_test(nodeid: str) -> str:
    """The test function, without parameters; a file of JavaScript tests keeps its name."""
    file = FILE_PARAMETER.search(nodeid)
    return nodeid if file else re.sub(r"\[.*", "", nodeid, flags=re.DOTALL)


def read(folder: Path) -> dict[str, dict[str, set[int]]]:
    """Test -> file -> lines, from all recordings in this folder."""
    tests: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for recording in sorted(folder.glob("*.json")):
        for test, files in json.loads(recording.read_text())["tests"].items():
            for file, lines in files.items():
                tests[test][file].update(lines)
    return tests


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the folder of the recording."""
    parser.addoption("--covered", metavar="FOLDER", help="record which tests run which lines")


def pytest_configure(config: pytest.Config) -> None:
    """Record in each process that runs tests."""
    runs_tests = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    if config.getoption("--covered") and runs_tests:
        config.pluginmanager.register(Recorder(Path(config.getoption("--covered")).resolve(), Path.cwd()))


class Recorder:
    """Collects what each test of this process runs, and writes it at the end."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.root = folder, root
        self.tests: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self.test = ""
        self.rendered: set[tuple[str, int]] = set()
        self.sent: set[str] = set()
        self.profiles: list[Any] = []
        self.node = Path(tempfile.mkdtemp(prefix="askew-reach-"))
        self.sources: dict[str, str] = {}
        self.coverage = start_coverage(root)
        record_nodes(self.rendered)
        record_sent_files(self.sent)
        profile_pages(self.profiles, self.take_profiles)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = name_of_test(nodeid)
        self.coverage.switch_context(self.test)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # Not for the driver of the browser, which is Node.js, too, and starts with the first browser test.
        if BROWSER_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            os.environ["NODE_V8_COVERAGE"] = str(self.node)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        self.take_profiles()
        self.profiles.clear()
        os.environ.pop("NODE_V8_COVERAGE", None)

    def pytest_runtest_logfinish(self) -> None:
        files = self.tests[self.test]
        for name, line in self.rendered.copy():
            files[self.relative(name)].add(line)
        self.rendered.clear()
        for path in self.sent.copy():
            files[f"static/{path}"].add(0)
        self.sent.clear()
        for profile in self.node.glob("*.json"):
            self.add(json.loads(profile.read_text())["result"])
            profile.unlink()

    def pytest_sessionfinish(self) -> None:
        shutil.rmtree(self.node, ignore_errors=True)
        self.coverage.stop()
        data = self.coverage.get_data()
        for path in data.measured_files():
            for line, contexts in data.contexts_by_lineno(path).items():
                for context in filter(None, contexts):
                    self.tests[context][self.relative(path)].add(line)
        self.folder.mkdir(parents=True, exist_ok=True)
        git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.root, capture_output=True, text=True)
        own = {
            test: {
                file: sorted(lines) for file, lines in files.items() if not file.startswith(("/", ".venv/"))
            }
            for test, files in self.tests.items()
        }
        recording = {
            "commit": git.stdout.strip(),
            "tests": {test: files for test, files in own.items() if files},
        }
        (self.folder / f"{os.getpid()}.json").write_text(json.dumps(recording))

    def take_profiles(self) -> None:
        """Add what the open pages have run."""
        from playwright.sync_api import Error

        for profile in self.profiles:
            with suppress(Error):  # a page that is closed
                self.add(profile.send("Profiler.takePreciseCoverage")["result"])

    def add(self, scripts: Iterable[dict[str, Any]]) -> None:
        """Add scripts as V8 reports them: functions with nested ranges of offsets, each with a count."""
        for script in scripts:
            file = self.script(script["url"])
            if file is not None:
                self.tests[self.test][file].update(executed_lines(self.source(file), script["functions"]))

    def script(self, url: str) -> str | None:
        """The file of static/askew/ that was loaded from this address."""
        parts = urlsplit(url)
        path = unquote(parts.path)
        if parts.scheme == "file":
            path = self.relative(path)
        else:
            path = path[path.find("static/") :] if "static/" in path else ""
        return path if Path(path).match(SCRIPTS) and (self.root / path).exists() else None

    def source(self, file: str) -> str:
        if file not in self.sources:
            self.sources[file] = (self.root / file).read_text("utf-8")
        return self.sources[file]

    def relative(self, path: str) -> str:
        """A path from the root of the repository; elsewhere as it is."""
        return str(Path(path).relative_to(self.root)) if path.startswith(f"{self.root}/") else path


def executed_lines(source: str, functions: Iterable[dict[str, Any]]) -> set[int]:
    """The lines (from 1) with code that has run: the innermost range counts, and ranges come from outside to inside."""
    has_run = bytearray(len(source))
    for function in functions:
        for extent in function["ranges"]:
            start, end = extent["startOffset"], min(extent["endOffset"], len(source))
            has_run[start:end] = (b"\1" if extent["count"] else b"\0") * (end - start)
    lines, start = set(), 0
    for number, line in enumerate(source.split("\n"), 1):
        code = start + len(line) - len(line.lstrip())
        if has_run.find(b"\1", code, start + len(line)) >= 0:
            lines.add(number)
        start += len(line) + 1
    return lines


def start_coverage(root: Path) -> Any:
    """Coverage of the drawn Python files, in memory."""
    import coverage

    measured = coverage.Coverage(
        data_file=None, config_file=False, include=[f"{root}/{name}" for name in PYTHON]
    )
    measured.start()
    return measured


def record_nodes(rendered: set[tuple[str, int]]) -> None:
    """Note template and line of each node that is rendered."""
    from django.template import base

    def noting(original: Any) -> Any:
        def render_annotated(node: Any, context: Any) -> Any:
            if node.token is not None and node.token.lineno is not None:
                rendered.add((node.origin.name, node.token.lineno))
            return original(node, context)

        return render_annotated

    for node in (base.Node, base.TextNode):
        node.render_annotated = noting(node.render_annotated)  # type: ignore[method-assign]


def record_sent_files(sent: set[str]) -> None:
    """Note each static file that a live server sends."""
    from django.contrib.staticfiles.handlers import StaticFilesHandlerMixin

    serve = StaticFilesHandlerMixin.serve

    def noting(handler: Any, request: Any) -> Any:
        sent.add(handler.file_path(request.path))
        return serve(handler, request)

    StaticFilesHandlerMixin.serve = noting  # type: ignore[method-assign, assignment]


def profile_pages(profiles: list[Any], before_close: Any) -> None:
    """Let each page of a test count what it runs. Windows that a page opens by itself are not counted."""
    from playwright.sync_api import BrowserContext, Page

    new_page = BrowserContext.new_page

    def counting(context: Any) -> Any:
        page = new_page(context)
        profile = context.new_cdp_session(page)
        profile.send("Profiler.enable")
        profile.send("Profiler.startPreciseCoverage", {"callCount": False, "detailed": True})
        profiles.append(profile)
        return page

    def closing(close: Any) -> Any:
        def close_afterwards(target: Any, **options: Any) -> Any:
            before_close()
            return close(target, **options)

        return close_afterwards

    BrowserContext.new_page = counting  # type: ignore[method-assign, assignment]
    for window in (BrowserContext, Page):
        window.close = closing(window.close)  # type: ignore[method-assign]
