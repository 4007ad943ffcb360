"""What a site ships: bundles of our scripts, each file under one name, and pages that stay within their weight."""

from __future__ import annotations

import gzip
import json
import posixpath
import re
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import brotli
import pytest
from django.test import Client

from annotation.explorer.links import explorer_url
from annotation.templatetags.scripts import bundles, sheets
from benchmarks.browser_data import over_its_sample
from config.static_files import _write_bundles, minified
from tasks.contract import task_type, task_types
from tests.annotation.cast import World
from tests.modules.pages.prediction import film_years, model
from tests.plugin import ROOT, missing
from tests.static_files import collect

IMPORTED = re.compile(r'(?:from|import\(?)\s*["\'`](\.[^"\'`]+)["\'`]')
STYLE_SHEET = re.compile(r"askew/[\w-]+\.css")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
INSIDE = re.compile(r"[\w)\]*] :(?:is|where|not|has|hover|focus|first|last)")
SOURCE = re.compile(r'<script [^>]*src="/static/([^"]+)"')
SHEET = re.compile(r'<link rel="stylesheet" href="/static/([^"]+)">')
WHOLE = {
    "question_type": {"page": 65_000, "scripts": 45_000},
    "value_change": {"page": 79_000, "scripts": 58_000},
}
"""Bytes of an annotation page as a browser gets it, with a model in the loop: of HTML, style sheets and scripts; of the
scripts alone. Files are compressed with Brotli, HTML with gzip."""
REQUESTS = 6
STYLE = 15_000
"""Bytes of the style sheets of each annotation page."""
EXPLORER = {"page": 90_000, "sheets": 26_000}
"""Bytes of the explorer, and of its style sheets alone."""


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


def test_no_selector_of_a_style_sheet_is_shipped_as_another_one(site: Path) -> None:
    """`li :where(a)` is no `li:where(a)`."""
    named = json.loads((site / "staticfiles.json").read_text())["paths"]
    sources = [ROOT / "static" / name for name in ("askew/askew.css", "vendor/pico.min.css")]
    written = "".join(COMMENT.sub("", path.read_text("utf-8")) for path in sources)

    shipped = (site / named["askew/askew.css"]).read_text("utf-8")

    assert len(INSIDE.findall(shipped)) == len(INSIDE.findall(written)) > 20


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


@pytest.mark.django_db
@pytest.mark.parametrize("key", WHOLE)
def test_an_annotation_page_with_a_model_stays_within_its_weight(
    shipping: Path, world: World, client: Client, key: str
) -> None:
    task, limits = task_type(key), WHOLE[key]

    page = first_page(client, world, task, next(iter(task.variants), ""))

    weight = weighed(shipping, page)
    assert sum(weight["scripts"].values()) <= limits["scripts"], weight
    assert total(weight) <= limits["page"], weight


@pytest.mark.django_db
def test_the_explorer_stays_within_its_weight(shipping: Path, world: World, client: Client) -> None:
    """With the items of several task types."""
    for key in ("question_type", "short_table", "value_change"):
        over_its_sample(world, task_type(key), next(iter(task_type(key).variants), ""))
    client.force_login(world.mara)

    page = client.get(explorer_url(world.project))

    weight = weighed(shipping, page)
    assert "bundles/explorer" in " ".join(weight["scripts"])
    assert "askew/explorer" in " ".join(weight["sheets"])
    assert len(weight["scripts"]) <= REQUESTS
    assert sum(weight["sheets"].values()) <= EXPLORER["sheets"], weight
    assert total(weight) <= EXPLORER["page"], weight


@pytest.mark.django_db
@pytest.mark.parametrize("key", sorted(task_types()))
def test_an_annotation_page_has_few_scripts_and_style_sheets_within_their_budget(
    shipping: Path, world: World, client: Client, key: str
) -> None:
    """With a model where the task type may have it, and the sheets with proposals."""
    task = task_type(key)
    for variant in task.variants or [""]:
        page = first_page(client, world, task, variant)
        compared = page.context["compared"]
        assert 1 < len(weighed(shipping, page)["scripts"]) <= REQUESTS
        assert sheets(task, bool(task.predicts), False, compared) in page.content.decode()

        paths = SHEET.findall(sheets(task, bool(task.predicts), True, compared))

        assert len(paths) == 1
        assert compressed(shipping / paths[0]) <= STYLE


def first_page(client: Client, world: World, task: Any, variant: str) -> Any:
    """Ada's page over the sample of a task type, with a model where it may have one."""
    with model(film_years) if task.predicts else nullcontext():
        terms: dict[str, Any] = {"loop_model": "small"} if task.predicts else {}
        batch = over_its_sample(world, task, variant, **terms)
        client.force_login(world.ada)
        return client.get(f"/batches/{batch.public_id}/annotate/")


def weighed(site: Path, page: Any) -> dict[str, dict[str, int]]:
    """Bytes of each file of a page: its HTML, scripts and style sheets."""
    html = page.content.decode()
    return {
        "document": {"": len(gzip.compress(page.content, 5))},  # deploy/nginx/askew-proxy.conf
        "scripts": {path: compressed(site / path) for path in SOURCE.findall(html)},
        "sheets": {path: compressed(site / path) for path in SHEET.findall(html)},
    }


def total(weight: dict[str, dict[str, int]]) -> int:
    return sum(size for files in weight.values() for size in files.values())


def compressed(path: Path) -> int:
    return len(brotli.compress(path.read_bytes()))


def test_a_site_without_node_ships_the_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    named = json.loads((collect(tmp_path / "static") / "staticfiles.json").read_text())["paths"]

    assert not [name for name in named if name.startswith("bundles/") and name.endswith(".js")]
    assert {"askew/annotate.js", *(task.script for task in task_types().values() if task.script)} <= set(
        named
    )


def test_a_wheel_ships_the_bundles_that_were_made_when_it_was_built(tmp_path: Path, settings: Any) -> None:
    settings.BASE_DIR = tmp_path / "wheel"
    (settings.BASE_DIR / "bundles").mkdir(parents=True)
    shipped = {"bundles/explorer.js": "bundles/explorer.0123456789ab.js"}
    (settings.BASE_DIR / "bundles.json").write_text(json.dumps(shipped))
    (settings.BASE_DIR / shipped["bundles/explorer.js"]).write_text("export {};")

    assert _write_bundles(str(tmp_path / "static"), {"bundles/explorer.js": ["askew/explorer.js"]}) == shipped

    assert (tmp_path / "static" / shipped["bundles/explorer.js"]).read_text() == "export {};"
