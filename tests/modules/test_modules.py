"""The scripts of static/askew and of the task types under Node: several `*.test.js` of this folder are one test here.

jsdom is loaded and compiled once for the files of a test, and a page that several of them name is rendered once.

A JavaScript test names a page, `openPage("annotate/value_change")`, or data, `data("annotate/next_value_change")`: the
function of that name in `pages/annotate.py` renders it with Django's client from a world of its own. Requests of a page
that `openLive("kinds/medals")` opens are answered by the platform, see live.py.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from django.test import Client

from tests.annotation.cast import make_world
from tests.modules.live import LiveServer
from tests.plugin import ROOT, missing
from tests.undone import undone

FOLDER = Path(__file__).parent
ALONE = {"time_zone.test.js"}
"""Files that change their process."""
FILES_A_PROCESS = 4
LAST = "- every file was loaded"
"""The last test of every process (run.js)."""
NAMED = re.compile(r"""\b(?:openPage|data)\(\s*["'`](\w+)/(\w+)["'`]""")


def file_groups() -> list[list[Path]]:
    files = sorted(FOLDER.glob("*.test.js"))
    shared = [file for file in files if file.name not in ALONE]
    starts = range(0, len(shared), FILES_A_PROCESS)
    groups = [shared[start : start + FILES_A_PROCESS] for start in starts]
    return groups + [[file] for file in files if file.name in ALONE]


@pytest.mark.django_db
@pytest.mark.parametrize("files", file_groups(), ids=lambda files: "+".join(file.name for file in files))
def test_every_test_of_the_scripts_passes(files: list[Path], tmp_path: Path) -> None:
    run_scripts(files, tmp_path)


@pytest.mark.slow
@pytest.mark.django_db
def test_every_option_of_200_generated_definitions_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKEW_GENERATED", "200")
    run_scripts([FOLDER / "options.test.js"], tmp_path)


def run_scripts(files: list[Path], tmp_path: Path) -> None:
    """Run these files in one Node process; AssertionError with the tests that failed."""
    node = shutil.which("node")
    if not node or not (ROOT / "node_modules").is_dir():
        missing("no Node 20 or newer, or no node_modules: run `npm ci`")
        return
    named = {page for file in files for page in NAMED.findall(file.read_text("utf-8"))}
    for subject, name in sorted(named):
        render(subject, name, tmp_path)
    server = LiveServer(tmp_path)
    environment = {"ASKEW_RENDERED_PAGES": str(tmp_path), "ASKEW_LIVE_SERVER": server.url}
    with start(node, files, tmp_path / "output.txt", environment) as process:
        server.serve(process)
    output = (tmp_path / "output.txt").read_text("utf-8")
    assert process.returncode == 0, "\n".join([failures(output), *server.errors])
    assert not server.errors, "\n".join(server.errors)
    assert LAST in output, f"Node ended before all files were loaded: {output[-1500:]}"


def test_a_file_that_takes_long_to_load_is_run_too(tmp_path: Path) -> None:
    """Node leaves once the tests that it knows are over: a failure in a later file would never be seen."""
    node = shutil.which("node")
    if not node:
        missing("no Node 20 or newer")
        return
    head = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n'
    late = "await new Promise((resolve) => setTimeout(resolve, 200));\n"
    sources = {"quick.js": "", "late.js": late, "last.js": late}
    for name, wait in sources.items():
        (tmp_path / name).write_text(
            f'{head}{wait}test("{name}", () => assert.notEqual("{name}", "late.js"));\n'
        )
    with start(node, [tmp_path / name for name in sources], tmp_path / "output.txt", {}) as process:
        process.wait()
    output = (tmp_path / "output.txt").read_text("utf-8")
    assert process.returncode == 1
    assert re.findall(r"^(?:not )?ok .*", output, re.M) == [
        "ok 1 - quick.js",
        "not ok 2 - late.js",
        "ok 3 - last.js",
        "ok 4 - every file was loaded",
    ]


def start(
    node: str, files: Iterable[Path], output: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start Node with these files of tests; its report goes to `output`."""
    hooks, entry = FOLDER / "hooks.js", FOLDER / "run.js"
    with output.open("w") as sink:
        return subprocess.Popen(
            [node, "--import", str(hooks), "--test-force-exit", str(entry), *map(str, files)],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=sink,
            stderr=subprocess.STDOUT,
        )


def failures(output: str) -> str:
    """The failed tests of Node's report, or all of it where none is named."""
    return "\n".join(re.findall(r"^not ok .*\n(?: .*\n)*", output, re.M)) or output


def render(subject: str, name: str, folder: Path) -> None:
    """Write what a function of `pages/` returns: HTML as NAME.html, anything else as NAME.json."""
    page = getattr(importlib.import_module(f"tests.modules.pages.{subject}"), name)
    (folder / subject).mkdir(exist_ok=True)
    with undone():
        (folder / "world").mkdir(exist_ok=True)
        content = page(make_world(folder / "world"), Client())
    if isinstance(content, str):
        (folder / subject / f"{name}.html").write_text(content, "utf-8")
    else:
        (folder / subject / f"{name}.json").write_text(json.dumps(content), "utf-8")
