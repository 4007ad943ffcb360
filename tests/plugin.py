"""How the suite runs: which browser, in which order, on whose data, and what a browser test may not do.

* A test that uses a page is marked `browser`. Browser tests run last and fail on any error on the console, which is
  also where Chromium reports what the Content-Security-Policy refused; `console_may_say` names what one expects.
* Without Chromium, Node or the datasets, tests that need them are skipped with the reason; with CI=true they fail.
* `--both` keeps the tests marked `both`: the second pass of `./run test`, on SQLite.
* `--quick` leaves out browser tests, what tests/budget.toml lists for it, and tests that are marked `slow`.
* `--slow` adds the tests marked `slow`, and lets Hypothesis try all of its examples. A slow test runs without it
  when it is named (`file::test`).
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import BrowserContext, ConsoleMessage, WebError
from playwright.sync_api import Error as PlaywrightError

from annotation.platform import mo_files
from tests.costs import BUDGET, REPORTS, Costs
from tests.in_flight import wait_until_quiet

ROOT = Path(__file__).resolve().parent.parent
CI = os.environ.get("CI", "").lower() in ("1", "true")

# jsonschema imports it for a format that no schema here has; building its parser takes a second of each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

RERUNS = int(os.environ.get("ASKEW_BROWSER_RERUNS", "0"))
"""How often a failed browser test is repeated. Only .ci/run sets it, to 1; the report names every repeated test."""

BROWSER_FIXTURES = {"page", "context", "new_context", "browser"}
EXAMPLES, ALL_EXAMPLES = 25, 100
"""Examples of a property that Hypothesis tries, and how many with --slow."""

NOT_QUICK = {ROOT / path for path in tomllib.loads(BUDGET.read_text())["quick"]["left_out"]}
"""Folders and files that --quick does not even collect, unless they are named."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("askew")
    group.addoption("--both", action="store_true", help="only tests marked both, which run on both databases")
    group.addoption("--quick", action="store_true", help="no browser, no servers, no faults, nothing slow")
    group.addoption("--slow", action="store_true", help="slow tests and all examples of Hypothesis, too")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the first process, before it starts others
        mo_files.compile_outdated(ROOT / "locale")
    slow = config.getoption("--slow")
    for name, examples in (("askew", EXAMPLES), ("askew-slow", ALL_EXAMPLES)):
        settings.register_profile(
            name,
            max_examples=examples,
            deadline=None,  # a shared machine is slow now and then
            derandomize=CI,  # a build fails for what changed, not for what was drawn
            suppress_health_check=[HealthCheck.too_slow],
        )
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("askew-slow" if slow else "askew")
    if REPORTS and (hasattr(config, "workerinput") or not config.getoption("numprocesses", None)):
        config.pluginmanager.register(Costs(Path(REPORTS), on_sqlite=config.getoption("--both")))
        os.environ.pop("ASKEW_TEST_COSTS", None)  # what a test starts is part of the test


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.getoption("--quick") and collection_path in NOT_QUICK:
        named = (Path(argument.partition("::")[0]).resolve() for argument in config.args)
        return None if any(path.is_relative_to(collection_path) for path in named) else True
    # Importing every module of tests takes seconds; few have tests for both databases.
    is_module = collection_path.suffix == ".py" and config.getoption("--both")
    return True if is_module and b"mark.both" not in collection_path.read_bytes() else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if not BROWSER_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("browser")
            item.add_marker(pytest.mark.flaky(reruns=RERUNS))
    selected = [item for item in items if is_selected(item, config)]
    if len(selected) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if not is_selected(item, config)])
        items[:] = selected


def is_selected(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether the options of this run keep the test."""
    is_browser = item.get_closest_marker("browser") is not None
    named = config.getoption("--slow") or any("::" in argument for argument in config.args)
    if item.get_closest_marker("slow") and not named:
        return False
    if is_browser and config.getoption("--quick"):
        return False
    return not config.getoption("--both") or item.get_closest_marker("both") is not None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a failed test at once: a build takes minutes until its summary."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if report.failed and not is_worker:
        print(f"\nFAILED {report.nodeid}\n{report.longreprtext[-1500:]}", flush=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Last of all, after pytest-django has put its own order in."""
    session.items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    # Eight thousand tests are no garbage: going through them again and again takes a tenth of the CPU time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A test that passed at its second try is an open fault: its first failure is what there is to find it by."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"first failure of {report.nodeid}", sep="_")
        terminalreporter.line(report.longreprtext)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser"):
        # Playwright's synchronous interface leaves an event loop running in this thread, where Django would refuse
        # the database. Set here, not for the whole run: for every other test the refusal stands.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        if not chromium():
            missing("no Chromium: apt install chromium-headless-shell, or name one in ASKEW_CHROMIUM")


def missing(what: str) -> None:
    """Skip the test for want of this; under CI nothing may be wanting."""
    if CI:
        pytest.fail(f"{what} (a skip, but for CI=true)", pytrace=False)
    pytest.skip(what)


# --- database ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: Any, django_db_modify_db_settings: None
) -> Iterator[None]:
    """The test database of this process, copied from a migrated template. Takes the place of pytest-django's fixture."""
    from django.db import connection

    from tests import template_database

    with django_db_blocker.unblock():
        name = template_database.create()
    yield
    with django_db_blocker.unblock():
        connection.creation.destroy_test_db(name, verbosity=0)


@pytest.fixture(scope="session", autouse=True)
def _flush_is_quick() -> Iterator[None]:
    """The database of a test that commits is emptied at its end: immutable rows, too, but not what the migrations wrote."""
    from django.core.management.commands import flush

    from tests import template_database

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flush.Command, "handle", lambda self, **options: template_database.empty())
        yield


@pytest.fixture(autouse=True)
def _files_end_with_their_test() -> Iterator[None]:
    """As rows do. Else a backup, say, copies the files of all tests that ran before it."""
    yield
    from django.conf import settings

    with suppress(FileNotFoundError):
        for entry in Path(settings.MEDIA_ROOT).iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()


# --- data --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of the published datasets: ASKEW_TEST_DATA, else ../shared/data beside the repository."""
    folder = Path(os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        missing(f"no datasets in {folder}: name their folder in ASKEW_TEST_DATA")
    return folder


# --- browser -----------------------------------------------------------------------------------------------


def chromium() -> str | None:
    """The browser to drive: ASKEW_CHROMIUM, else the system's.

    First the one without windows: opening a page costs a fifth of the CPU time there, and a page behaves the same.
    """
    names = [
        os.environ.get("ASKEW_CHROMIUM"),
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ]
    return next(filter(None, (shutil.which(name) for name in names if name)), None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Chromium on its own: no first-run pages, no traffic of its own, and no sandbox where it refuses one (root)."""
    flags = ["--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync"]
    flags += ["--disable-background-networking", "--disable-component-update"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    return {**browser_type_launch_args, "executable_path": chromium(), "args": flags}


@pytest.fixture(scope="session")
def collected_static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The static files of a site. Made once per process."""
    from tests.static_files import collect

    return collect(tmp_path_factory.mktemp("static"))


@pytest.fixture(autouse=True)
def _pages_load_what_a_site_ships(request: pytest.FixtureRequest) -> None:
    """In a browser; a test marked `unbundled` loads the modules, as from a clone without Node.js."""
    if not request.node.get_closest_marker("browser") or request.node.get_closest_marker("unbundled"):
        return
    folder, settings = request.getfixturevalue("collected_static"), request.getfixturevalue("settings")
    settings.STATICFILES_DIRS = [folder, *settings.STATICFILES_DIRS]
    options = {"location": str(folder), "base_url": "/static/"}
    storage = {"BACKEND": "config.static_files.HashedStaticFilesStorage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": storage}


@pytest.fixture
def new_context(
    request: pytest.FixtureRequest, new_context: Callable[..., BrowserContext]
) -> Iterator[Callable[..., BrowserContext]]:
    """A browser of its own for each person of a test; an error on any of their consoles fails the test at its end.

    `page` and `context` come from here, too; a context made with `browser.new_context` would not be listened to.
    """
    expected = [mark.args[0] for mark in request.node.iter_markers("console_may_say")]
    contexts: list[BrowserContext] = []
    said: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            said.append(f"{message.text} ({message.location['url']})")

    def on_error(error: WebError) -> None:
        said.append(f"{error.error} ({error.page.url if error.page else 'no page'})")

    def listened_to(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.on("console", on_console)
        context.on("weberror", on_error)
        contexts.append(context)
        return context

    yield listened_to
    for page in (page for context in contexts for page in context.pages):
        with suppress(PlaywrightError):  # what was said before this answer has arrived by then
            page.evaluate("0")
            page.goto("about:blank")  # what a page sends when it is left, it sends now
    wait_until_quiet()
    unexpected = [line for line in said if not any(re.search(pattern, line) for pattern in expected)]
    if unexpected:
        pytest.fail("the browser's console has errors:\n" + "\n".join(unexpected), pytrace=False)
