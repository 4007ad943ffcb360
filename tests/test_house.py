"""`./run`: what it says, what it sets up, what it keeps, and that nothing of it is left behind."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import hypothesis
import pytest
from django.core.management import load_command_class
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.platform import immutable_rows, mo_files
from tests.plugin import ALL_EXAMPLES, EXAMPLES, NOT_QUICK, chromium, pytest_ignore_collect
from tests.temp_postgres import temporary_postgres
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The file `run` as a module, in a folder of its own: two locks, no .venv, no key in the environment."""
    loader = SourceFileLoader("run", str(ROOT / "run"))
    spec = importlib.util.spec_from_loader("run", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    (tmp_path / "requirements").mkdir()
    for name in module.DEVELOPMENT:
        (tmp_path / name).write_text("nothing==1.0\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setenv("ASKEW_DATA_DIR", str(tmp_path / "var"))
    monkeypatch.delenv("SECRET_KEY", raising=False)
    return module


def at_the_terminal(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "run"), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def is_alive(process: int) -> bool:
    """Whether the process runs; one that has ended and waits to be noticed (Z) does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout
    return state != "" and not state.startswith("Z")


class TestWhatItSays:
    def test_help_names_every_command(self):
        said = at_the_terminal("--help")

        assert said.returncode == 0
        for command in ("demo [--port N]", "test", "check [--fast]", "bench [NAME]", "manage"):
            assert f"./run {command}" in said.stdout

    def test_every_command_that_help_names_exists(self, run):
        named = set(re.findall(r"^  \./run (\w+)", run.__doc__, flags=re.MULTILINE))

        assert named == {name for name in named if callable(getattr(run, name, None))}

    @pytest.mark.parametrize(
        "wrong",
        [
            (),
            ("dmeo",),
            ("demo", "--port", "http"),
            ("demo", "--port", "70000"),
            ("demo", "now"),
            ("check", "--slow"),
        ],
    )
    def test_wrong_use_is_told_apart_from_failure(self, wrong):
        assert at_the_terminal(*wrong).returncode == 2

    def test_an_unknown_command_is_answered_with_the_known_ones(self):
        assert (
            "available: demo, predictor, train, test, check, bench, sbom, manage"
            in at_the_terminal("serve").stderr
        )

    def test_a_taken_port_is_answered_with_a_free_one(self, run):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            taken = other.getsockname()[1]

            said = at_the_terminal("demo", "--port", str(taken))

        assert said.returncode == 1
        assert said.stderr.count("\n") == 1
        offered = re.fullmatch(rf"run: port {taken} is in use; try \./run demo --port (\d+)\n", said.stderr)
        assert offered is not None
        assert run.is_free(int(offered[1]))

    def test_the_bundled_model_stands_beside_the_models_that_are_named(self, run):
        named = json.loads(run.with_bundled('{"big": {"url": "http://gpu:1", "model": "big"}}', 7))

        assert named["big"]["url"] == "http://gpu:1"
        assert named["bundled"] == {
            "url": "http://127.0.0.1:7",
            "model": "bundled",
            "licence": "CC BY-SA 4.0",
        }
        assert run.with_bundled("not json", 7) == "not json"  # for the settings to refuse

    def test_an_old_python_starts_a_supported_one(self, run, monkeypatch):
        started: list[list[str]] = []
        monkeypatch.setattr(run.shutil, "which", {"python3.14": "/usr/bin/python3.14"}.get)
        monkeypatch.setattr(run, "works", lambda command: True)
        monkeypatch.setattr(run.os, "execv", lambda path, arguments: started.append(arguments))

        run.with_a_newer_python(["demo"])

        assert started == [["/usr/bin/python3.14", str(run.ROOT / "run"), "demo"]]

    def test_without_a_benchmark_of_that_name_it_lists_those_there_are(self):
        assert at_the_terminal("bench", "no-such-benchmark").returncode in (1, 2)


class TestSettingUp:
    @pytest.fixture
    def work(self, run, monkeypatch):
        """The list of what set_up had to do."""
        done: list[str] = []

        def make_venv() -> None:
            done.append("venv")
            (run.VENV / "bin").mkdir(parents=True)
            (run.VENV / "pyvenv.cfg").write_text("version = 3.11.7\n")
            run.PYTHON.touch()

        monkeypatch.setattr(run, "make_venv", make_venv)
        monkeypatch.setattr(run, "install", lambda requirements: done.append(requirements[-1]))
        return done

    def test_unchanged_requirements_mean_no_work(self, run, work):
        run.set_up(run.RUNTIME)
        run.set_up(run.RUNTIME)

        assert work == ["venv", "requirements.txt"]

    def test_torch_is_chosen_by_pip_and_the_rest_of_the_models_is_locked(self, run, work, monkeypatch):
        for name in (run.TORCH, run.MODELS):
            (run.ROOT / name).write_text("nothing==1.0\n")
        run.set_up(run.RUNTIME)
        commands = []

        def start(command):
            commands.append(command[-1])
            return subprocess.CompletedProcess(command, 0)

        monkeypatch.setattr(run.subprocess, "run", start)

        run.set_up_models()
        run.set_up_models()

        assert commands == [str(run.ROOT / run.TORCH)]
        assert work == ["venv", "requirements.txt", "requirements/models.txt"]

    def test_a_changed_lock_is_installed_over_what_is_there(self, run, work):
        run.set_up(run.RUNTIME)
        (run.ROOT / "requirements.txt").write_text("nothing==1.1\n")
        run.set_up(run.RUNTIME)

        assert work == ["venv", "requirements.txt", "requirements.txt"]

    def test_the_tools_are_installed_only_for_those_who_need_them(self, run, work):
        run.set_up(run.RUNTIME)
        run.set_up(run.DEVELOPMENT)
        run.set_up(run.RUNTIME)

        assert work == ["venv", "requirements.txt", "requirements/dev.txt"]

    def test_changed_translations_are_compiled_and_unchanged_ones_start_no_process(
        self, run, work, monkeypatch
    ):
        po = run.ROOT / "locale" / "de" / "LC_MESSAGES" / "django.po"
        po.parent.mkdir(parents=True)
        po.write_text("")
        compiled = []

        def start(command, cwd):
            compiled.append(command[1:])
            mo_files.compile_outdated(cwd / "locale")
            return subprocess.CompletedProcess(command, 0)

        monkeypatch.setattr(run.subprocess, "run", start)
        run.set_up(run.RUNTIME)
        run.set_up(run.RUNTIME)
        assert compiled == [["-m", "annotation.platform.mo_files"]]

        os.utime(po, (0, 0))  # another version
        with monkeypatch.context() as read_only:
            read_only.setattr(run.os, "access", lambda *_: False)
            run.set_up(run.RUNTIME)  # by a user who may only read the program: `manage check` warns
        monkeypatch.setattr(run.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1))
        with pytest.raises(run.Failed, match="could not compile the translations"):
            run.set_up(run.RUNTIME)

    def test_an_installation_that_was_cut_short_is_done_again(self, run, work, monkeypatch):
        def fail(_: object) -> None:
            raise run.Failed("no network")

        with monkeypatch.context() as offline:
            offline.setattr(run, "install", fail)
            with pytest.raises(run.Failed):
                run.set_up(run.RUNTIME)
        run.set_up(run.RUNTIME)

        assert work == ["venv", "requirements.txt"]

    def test_another_python_in_the_environment_means_installing_again(self, run, work):
        run.set_up(run.RUNTIME)
        (run.VENV / "pyvenv.cfg").write_text("version = 3.13.0\n")
        run.set_up(run.RUNTIME)

        assert work == ["venv", "requirements.txt", "requirements.txt"]

    def test_with_neither_uv_nor_pip_one_line_says_what_to_install(self, run, monkeypatch):
        monkeypatch.setattr(run, "find_uv", lambda: "")
        monkeypatch.setattr(run, "works", lambda command: False)

        with pytest.raises(run.Failed, match=r"^pip is not installed .*apt install python3-pip\)$"):
            run.install(run.RUNTIME)

    def test_the_locks_pin_every_package_by_hash(self):
        for lock in ("requirements.txt", "requirements/dev.txt"):
            for block in re.split(r"\n(?=\S)", (ROOT / lock).read_text()):
                if not block.startswith("#"):
                    assert "==" in block.splitlines()[0], block
                    assert "--hash=sha256:" in block, block


class TestTheKey:
    def test_the_demo_makes_one_that_only_its_owner_can_read(self, run):
        key = run.kept_key() or run.make_key()

        file = run.data_dir() / "secret_key"
        assert len(key) > 50
        assert file.read_text().strip() == key
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

    def test_it_is_the_same_at_the_next_start(self, run):
        assert run.make_key() == run.kept_key()

    def test_the_one_in_the_environment_goes_before(self, run, monkeypatch):
        run.make_key()
        monkeypatch.setenv("SECRET_KEY", "of my own")

        assert run.kept_key() == "of my own"

    def test_commands_that_need_no_database_need_none(self, run):
        folder = ROOT / "annotation" / "management" / "commands"
        helps = {
            path.stem: load_command_class("annotation", path.stem).help for path in folder.glob("[a-z]*.py")
        }

        without_database = {name for name, text in helps.items() if "needs no database" in text.lower()}

        assert without_database - {*run.COMMANDS_WITHOUT_KEY} == set()
        assert {"verify_release", "answer_prompts"} <= without_database

    def test_a_data_folder_is_meant_from_where_it_is_said(self, run, monkeypatch, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        monkeypatch.setenv("ASKEW_DATA_DIR", "data")

        assert run.data_dir() == tmp_path / "elsewhere" / "data"

    def test_without_one_manage_refuses_and_makes_none(self, tmp_path):
        said = at_the_terminal("manage", "migrate", SECRET_KEY="", ASKEW_DATA_DIR=str(tmp_path))

        assert said.returncode == 1
        assert said.stderr.count("\n") == 1
        assert "SECRET_KEY is not set" in said.stderr
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "command",
        [
            "metrics fixtures/demo/rated-answers.jsonl --reader jsonl",
            "prompts suc --data fixtures/demo/rated-answers.jsonl --reader jsonl --out {out}",
            "export_release tests/annotation/release_of_november {out} --to csv",
        ],
    )
    def test_commands_that_read_files_alone_need_none(self, tmp_path, command):
        words = command.format(out=tmp_path / "out").split()

        done = at_the_terminal("manage", *words, SECRET_KEY="", ASKEW_DATA_DIR=str(tmp_path / "data"))

        assert done.returncode == 0, done.stderr
        assert not [path for path in (tmp_path / "data").glob("*") if path.suffix == ".sqlite3"]


class TestTheHousehold:
    """The child processes of the demo."""

    @pytest.fixture
    def household(self, run, monkeypatch):
        monkeypatch.setattr(run, "PYTHON", sys.executable)
        before = {
            number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        }
        yield run.Household(dict(os.environ))
        for number, handler in before.items():
            signal.signal(number, handler)

    SLEEP = ("-c", "import time; time.sleep(60)")

    def test_all_end_when_one_ends_by_itself(self, household, capfd):
        with household:
            sleeper = household.start("sleeper", [*self.SLEEP])
            household.start("quitter", ["-c", "raise SystemExit(3)"])

            assert household.wait(lambda: False, seconds=30) is False

        assert sleeper.returncode == -signal.SIGTERM
        assert "quitter stopped with status 3" in capfd.readouterr().err

    def test_one_that_is_kept_is_started_again_a_few_times_and_missed_by_nobody(
        self, household, monkeypatch, capfd
    ):
        monkeypatch.setattr(household, "RESTARTS", 2)
        with household:
            sleeper = household.start("sleeper", [*self.SLEEP])
            household.keep("quitter", ["-c", "raise SystemExit(3)"])
            household.wait(lambda: "quitter" not in household.processes, seconds=30)
            assert household.failure == ""
            assert sleeper.poll() is None

        said = capfd.readouterr().err
        assert said.count("restarting it") == 2
        assert said.count("continuing without it") == 1

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_signal_ends_all_and_is_no_failure(self, household, number):
        with household:
            sleeper = household.start("sleeper", [*self.SLEEP])
            os.kill(os.getpid(), number)

            assert household.wait(lambda: False, seconds=30) is False

        assert sleeper.returncode == -signal.SIGTERM
        assert household.failure == ""

    def test_one_that_does_not_listen_is_killed_with_its_children(
        self, household, run, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(run.Household, "PATIENCE", 0.5)
        stubborn = (
            "import pathlib, signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
            f"pathlib.Path({str(tmp_path / 'child')!r}).write_text(str(child.pid)); time.sleep(60)"
        )
        with household:
            household.start("stubborn", ["-c", stubborn])
            assert household.wait(
                lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text() != ""
            )

        child = int((tmp_path / "child").read_text())
        wait_until(lambda: not is_alive(child), "the child is dead", 10)

    def test_what_a_step_prints_is_handed_on(self, household):
        with household:
            assert household.finish("greet", ["-c", "print('links')"]) == "links\n"

    def test_a_step_that_fails_is_named(self, household, capfd):
        with household:
            assert household.finish("prepare", ["-c", "raise SystemExit(1)"]) is None

        assert "prepare stopped with status 1" in capfd.readouterr().err


class TestTheRooms:
    def test_the_plain_rooms_load_nothing_heavy(self):
        """Statistics and Django cost seconds; whoever only wants a table does not pay for them."""
        heavy = "{'django', 'pandas', 'scipy', 'statsmodels', 'krippendorff', 'nltk', 'torch'}"
        loaded = subprocess.run(
            [sys.executable, "-c", f"import tableqa, sys; print(sorted({heavy} & set(sys.modules)))"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )

        assert loaded.stdout.strip() == "[]"


class TestTheTemporaryPostgres:
    def test_it_answers_and_leaves_nothing_behind(self):
        import psycopg2

        with temporary_postgres() as url:
            folder = Path(url.partition("?host=")[2])
            connection = psycopg2.connect(host=str(folder), user="postgres", dbname="postgres")
            with connection.cursor() as cursor:
                cursor.execute("show listen_addresses")
                assert cursor.fetchone() == ("",)  # reached through a file only
            connection.close()

        assert not folder.exists()


UNDER_THE_RULES = """
import os

import pytest

PAGE = "data:text/html,<title>A page</title>"
STRICT = "<meta http-equiv=content-security-policy content=\\"style-src 'none'\\">"

def test_quiet(page):
    page.goto(PAGE)

def test_says_an_error(page):
    page.goto(PAGE)
    page.evaluate("console.error('spilt')")

@pytest.mark.console_may_say("^spilt")
def test_says_what_it_may(page):
    page.goto(PAGE)
    page.evaluate("console.error('spilt')")

def test_throws(page):
    page.goto(PAGE)
    page.evaluate("setTimeout(() => { throw new Error('slipped') })")

def test_breaks_the_policy_in_another_window(new_context):
    new_context().new_page().goto(PAGE + STRICT + "<p style='color: red'>")

def test_collected_last_and_run_first():
    assert "DJANGO_ALLOW_ASYNC_UNSAFE" not in os.environ

def test_reads_a_dataset(test_data):
    pass

@pytest.mark.slow
def test_of_a_thousand_repetitions():
    pass

runs = []

def test_fails_the_first_time_if_it_is_repeated(page):
    runs.append(1)
    assert len(runs) > int(os.environ.get("ASKEW_BROWSER_RERUNS", "0")), "slow once"
"""


class TestTheRulesForTests:
    """tests/plugin.py, on tests written for it."""

    @pytest.fixture
    def outcome(self, tmp_path):
        """What pytest says to the tests above, in an environment of which these parts are given."""

        def run_them(*options: str, **environment: str) -> str:
            (tmp_path / "test_rules.py").write_text(UNDER_THE_RULES)
            (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
            command = ["-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
            command += ["--output", str(tmp_path / "results"), str(tmp_path / "test_rules.py"), *options]
            left_out = ("DJANGO_ALLOW_ASYNC_UNSAFE", "ASKEW_BROWSER_RERUNS")
            kept = {name: value for name, value in os.environ.items() if name not in left_out}
            return subprocess.run(
                [sys.executable, *command],
                cwd=ROOT,
                env={**kept, "ASKEW_TEST_DATA": "/nowhere", **environment},
                capture_output=True,
                text=True,
                timeout=120,
            ).stdout

        return run_them

    @pytest.mark.skipif(chromium() is None, reason="no Chromium")
    def test_a_browser_test_fails_on_any_error_on_a_console(self, outcome):
        said = outcome(CI="false")

        assert "7 passed, 1 skipped, 1 deselected, 3 errors" in said
        for error in ("spilt", "slipped", "Content Security Policy"):
            assert error in said

    @pytest.mark.skipif(chromium() is None, reason="no Chromium")
    def test_a_repeated_browser_test_is_named_with_its_first_failure(self, outcome):
        said = outcome(CI="false", ASKEW_BROWSER_RERUNS="1")

        assert "RERUN " in said
        assert "AssertionError: slow once" in said

    def test_what_lacks_chromium_or_datasets_is_skipped_with_the_reason(self, outcome):
        said = outcome(CI="false", PATH="/nowhere")

        assert "1 passed, 7 skipped, 1 deselected" in said
        assert "apt install chromium" in said
        assert "name their folder in ASKEW_TEST_DATA" in said

    def test_on_a_build_server_it_fails(self, outcome):
        assert "1 passed, 1 deselected, 7 errors" in outcome(CI="true", PATH="/nowhere")

    def test_slow_tests_are_for_slow_runs(self, outcome):
        assert "9 deselected" in outcome("-k", "repetitions", CI="false")
        assert "1 passed, 8 deselected" in outcome("-k", "repetitions", "--slow", CI="false")

    def test_a_quick_run_leaves_out_what_the_budget_lists_but_not_what_is_named(self):
        costly = ROOT / "tests" / "annotation" / "test_role_table.py"

        def is_left_out(*arguments: str) -> bool:
            config: Any = SimpleNamespace(args=arguments, getoption=lambda name: name == "--quick")
            return bool(pytest_ignore_collect(costly, config))

        assert [path for path in NOT_QUICK if not path.exists()] == []
        assert is_left_out()
        assert is_left_out("tests/annotation", "tests/annotation/test_roles.py")
        assert not is_left_out("tests/annotation/test_role_table.py::test_every_page_has_a_row")

    def test_a_quick_run_opens_no_browser(self, outcome):
        assert "1 passed, 1 skipped, 7 deselected" in outcome("--quick", CI="false")

    def test_files_of_several_folders_can_be_named_in_any_order(self):
        """pytest 9.1 loses the fixtures of a folder's conftest.py for tests that are named after a file above it."""
        assert not [*ROOT.glob("t*/**/conftest.py"), *ROOT.glob("predictor/**/conftest.py")]

    def test_hypothesis_tries_a_quarter_of_its_examples(self):
        assert hypothesis.settings().max_examples in (EXAMPLES, ALL_EXAMPLES)

    @pytest.mark.django_db
    def test_the_test_database_is_migrated_and_refuses_to_change_immutable_rows(self):
        executor = MigrationExecutor(connection)

        assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"
                if connection.vendor == "sqlite"
                else "SELECT count(DISTINCT tgname) FROM pg_trigger WHERE NOT tgisinternal"
            )
            assert cursor.fetchone()[0] >= len(immutable_rows.TABLES)


class TestTheTiers:
    """`./run test` with and without --quick and --slow."""

    def test_the_whole_suite_runs_on_postgresql_and_what_depends_on_the_database_on_sqlite(self, run):
        on_postgres, on_sqlite = run.test_passes([]).values()

        assert on_postgres[:2] == ["-m", "tests.on_postgres"]
        assert on_sqlite == ["-m", "pytest", "--both", *on_postgres[2:]]
        assert "--numprocesses" in on_sqlite

    def test_a_quick_run_is_on_postgresql_alone(self, run):
        passes = run.test_passes(["--quick"])

        assert list(passes) == ["PostgreSQL"]
        assert "--quick" in passes["PostgreSQL"]

    def test_tests_are_named_as_for_pytest(self, run):
        assert run.test_passes(["-k", "queue", "-x"]) == {
            "PostgreSQL": ["-m", "tests.on_postgres", "-k", "queue", "-x"],
            "SQLite": ["-m", "pytest", "--both", "-k", "queue", "-x"],
        }


class TestNoTestSleeps:
    """A pause is too short on a busy machine and too long on all others: a test waits for what is to happen."""

    MAY: ClassVar = {
        "tests/waiting.py": "looks again and again for an event",
        "tests/in_flight.py": "looks whether the server is quiet",
        "tests/predictor/echo.py": "is a slow model",
        "tests/operations/slow.py": "is a slow job",
        "tests/faults/faults.py": "lets people work between two faults",
        "tests/faults/hostile.py": "is a page that asks again, as its script does",
        "tests/faults/line.py": "is a slow line",
        "tests/faults/people.py": "is people, who think",
        "tests/faults/postgres.py": "looks for processes of another program",
        "tests/faults/site.py": "looks for processes of another program",
    }

    def test_in_no_file_of_the_suite(self):
        files = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("tasks/*/tests.py")]
        sleeping = {
            f"{file.relative_to(ROOT)}:{node.lineno}"
            for file in files
            if str(file.relative_to(ROOT)) not in self.MAY
            and re.search(r"\b(sleep|wait_for_timeout)\(", file.read_text())
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Call) and self.sleeps(node)
        }

        assert sleeping == set()

    def test_what_may_is_still_there(self):
        assert all((ROOT / name).exists() for name in self.MAY)

    @pytest.mark.parametrize(
        ("code", "sleeps"),
        [
            ("time.sleep(1)", True),
            ("asyncio.sleep(0.1)", True),
            ("asyncio.sleep(0)", False),
            ("page.wait_for_timeout(300)", True),
            ("sleep(seconds)", True),
            ("page.wait_for_url('/')", False),
        ],
    )
    def test_a_pause_is_recognised(self, code, sleeps):
        (statement,) = ast.parse(code).body

        assert self.sleeps(statement.value) == sleeps

    @staticmethod
    def sleeps(call: ast.Call) -> bool:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        gives_way = bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
        return name in ("sleep", "wait_for_timeout") and not gives_way


@pytest.mark.parametrize(
    ("files", "is_needed"),
    [
        ({"askew.json": '{"architecture": "chat"}'}, False),
        ({"bundled.json": "{}"}, False),
        ({"bundled.json": "{}", "askew.json": '{"licence": "MIT"}'}, False),
        ({"config.json": '{"model_type": "bart"}'}, True),
        ({"askew.json": '{"architecture": "tabert"}'}, True),
        ({}, True),
    ],
)
def test_torch_is_installed_only_for_models_that_need_it(
    run: ModuleType, tmp_path: Path, files: dict[str, str], is_needed: bool
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert run.needs_torch(["--model", str(tmp_path), "--port", "1"]) == is_needed
    assert run.needs_torch([f"--model={tmp_path}"]) == is_needed
    assert not run.needs_torch(["--port", "1"])
