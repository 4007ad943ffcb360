"""The scripts of static/askew and of the task types under Node: each `*.test.js` of this folder is one test here.

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
from pathlib import Path

import pytest
from django.test import Client

from tests.annotation.cast import make_world
from tests.modules.live import LiveServer
from tests.plugin import ROOT, missing
from tests.undone import undone

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.test.js"))
NAMED = re.compile(r"""\b(?:openPage|data)\(\s*["'`](\w+)/(\w+)["'`]""")


@pytest.mark.django_db
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_test_of_the_scripts_passes(file: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if not node or not (ROOT / "node_modules").is_dir():
        missing("no Node 20 or newer, or no node_modules: run `npm ci`")
        return
    for subject, name in sorted(set(NAMED.findall(file.read_text("utf-8")))):
        render(subject, name, tmp_path)
    server = LiveServer(tmp_path)
    output = tmp_path / "output.txt"
    with output.open("w") as sink:
        process = subprocess.Popen(
            [node, "--import", str(FOLDER / "hooks.js"), "--test-force-exit", str(file)],
            cwd=ROOT,
            env={**os.environ, "ASKEW_RENDERED_PAGES": str(tmp_path), "ASKEW_LIVE_SERVER": server.url},
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
        server.serve(process)
    assert process.returncode == 0, "\n".join([failures(output.read_text("utf-8")), *server.errors])
    assert not server.errors, "\n".join(server.errors)


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
