"""What a site ships: bundles of our scripts, each file under one name, and pages that stay within their weight."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

import brotli
import pytest
from django.template import engines

from annotation.templatetags.scripts import bundles
from config.static_files import _write_bundles, minified
from tasks.contract import task_type, task_types
from tests.plugin import ROOT, missing
from tests.static_files import collect

IMPORTED = re.compile(r'(?:from|import\(?)\s*["\'`](\.[^"\'`]+)["\'`]')
STYLE_SHEET = re.compile(r"askew/[\w-]+\.css")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SOURCE = re.compile(r'<script [^>]*src="/static/([^"]+)"')
SCRIPTS = {"question_type": 45_000, "value_change": 58_000}
"""Bytes of the scripts of an annotation page with Brotli."""
REQUESTS = 6
STYLE = 15_000
"""Bytes of its style sheets, with a model in the loop."""


@pytest.fixture(scope="module")
def site(collected_static: Path) -> Path:
    if not shutil.which("node") or not (ROOT / "node_modules" / "rolldown").is_dir():
        missing("no bundles: `./run test` installs what package-lock.json names, with Node.js")
    return collected_static


@pytest.fixture
def shipping(site: Path, settings: Any) -> Path:
    """The pages of this test name the files of a site."""
    options = {"location": str(site), "base_url": "/static/"}
    storage = {"BACKEND": "config.static_files.HashedStaticFilesStorage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": storage}
    return site


def test_a_style_sheet_is_shipped_with_those_that_it_imports(site: Path) -> None:
    named = json.loads((site / "staticfiles.json").read_text())["paths"]
    sheets = {name: (site / named[name]).read_text("utf-8") for name in named if STYLE_SHEET.fullmatch(name)}
    assert "askew/later.css" in sheets
    assert [name for name, text in sheets.items() if "@import" in text] == []
    assert "@layer pico{" in sheets["askew/askew.css"]
    assert ".prediction{" in sheets["askew/pages.css"]


def test_a_style_sheet_is_shipped_without_comments_and_blanks() -> None:
    assert minified("/* a */\na > b { color: red;\n}\n") == "a>b{color:red}\n"


def test_each_module_and_bundle_imports_by_the_names_that_the_manifest_has(site: Path) -> None:
    named = json.loads((site / "staticfiles.json").read_text())["paths"]
    assert set(bundles()) <= set(named)
    imports = 0
    for name, hashed in named.items():
        assert re.search(r"\.[0-9a-f]{12}\.\w+$", hashed), name
        if name.startswith(("askew/", "bundles/")) and name.endswith(".js"):
            for path in IMPORTED.findall(COMMENT.sub("", (site / hashed).read_text("utf-8"))):
                imports += 1
                target = posixpath.normpath(posixpath.join(posixpath.dirname(hashed), path))
                assert target in named.values(), f"{name}: {path} is not what the manifest names"
    assert imports > 100


def test_a_bundle_loads_nothing_else_before_it_runs(site: Path) -> None:
    named = json.loads((site / "staticfiles.json").read_text())["paths"]
    for name in bundles():
        assert not re.search(r"(?:^|;)import(?!\()", (site / named[name]).read_text("utf-8")), name


def test_no_source_map_is_shipped(site: Path) -> None:
    assert not list(site.glob("bundles/**/*.map"))
    assert not [
        path for path in site.glob("bundles/**/*.js") if "sourceMappingURL" in path.read_text("utf-8")
    ]


@pytest.mark.parametrize("key", SCRIPTS)
def test_the_scripts_of_an_annotation_page_stay_within_their_budget(shipping: Path, key: str) -> None:
    assignment = {"loop": None, "progress": {"submitted": 0}}
    elements = engines["django"].from_string('{% include "annotating/_scripts.html" %}')

    paths = SOURCE.findall(
        elements.render({"task": task_type(key), "assignment": assignment, "batch": {"help": None}})
    )

    sizes = {path: len(brotli.compress((shipping / path).read_bytes())) for path in paths}
    assert len(paths) <= REQUESTS
    assert sum(sizes.values()) <= SCRIPTS[key], sizes


def test_a_site_without_node_ships_the_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    named = json.loads((collect(tmp_path / "static") / "staticfiles.json").read_text())["paths"]

    assert not [name for name in named if name.startswith("bundles/")]
    assert {"askew/annotate.js", *(task.script for task in task_types().values() if task.script)} <= set(
        named
    )


@pytest.mark.parametrize("key", SCRIPTS)
def test_the_style_sheets_of_an_annotation_page_stay_within_their_budget(site: Path, key: str) -> None:
    named = json.loads((site / "staticfiles.json").read_text())["paths"]
    names = ["askew/askew.css", "askew/prediction.css", *filter(None, [task_type(key).sheet])]

    sizes = {name: len(brotli.compress((site / named[name]).read_bytes())) for name in names}

    assert sum(sizes.values()) <= STYLE, sizes


def test_a_wheel_ships_the_bundles_that_were_made_when_it_was_built(tmp_path: Path, settings: Any) -> None:
    settings.BASE_DIR = tmp_path / "wheel"
    (settings.BASE_DIR / "bundles").mkdir(parents=True)
    shipped = {"bundles/explorer.js": "bundles/explorer.0123456789ab.js"}
    (settings.BASE_DIR / "bundles.json").write_text(json.dumps(shipped))
    (settings.BASE_DIR / shipped["bundles/explorer.js"]).write_text("export {};")

    assert _write_bundles(str(tmp_path / "static"), {"bundles/explorer.js": ["askew/explorer.js"]}) == shipped

    assert (tmp_path / "static" / shipped["bundles/explorer.js"]).read_text() == "export {};"
