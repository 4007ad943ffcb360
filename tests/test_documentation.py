"""The pages of the documentation: each is in the index, and their links and pictures lead to files and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polib
import pytest

from annotation.releases.benchmark_files import FORMATS
from annotation.web.api import urls
from annotation.web.api.serializers import ReleaseRequest
from annotation.web.views import methods_appendix
from benchmarks.__main__ import RUNS
from tests.plugin import ROOT

DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
HAVE_AN_INDEX = (DOCS / "decisions", DOCS / "reproductions")
"""Folders whose pages are listed in a page of their own."""


def links(page: Path) -> list[tuple[Path, str]]:
    """The files that a page links or shows, each with the heading that is meant."""
    found = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    inside = [link.partition("#") for link in found if not re.match(r"\w+:", link)]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in inside]


def anchors(page: Path) -> set[str]:
    """The headings and marked places of a page, as links name them."""
    text = page.read_text("utf-8")
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}
    return named | set(re.findall(r'<a id="([\w-]+)">', text))


@pytest.mark.parametrize("document", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(document: Path) -> None:
    targets = links(document)

    assert [str(path) for path, _ in targets if not path.exists()] == []
    assert [(path.name, anchor) for path, anchor in targets if anchor and anchor not in anchors(path)] == []


def test_the_index_lists_every_page() -> None:
    listed = {path for path, _ in links(INDEX)}
    pages = {page for page in DOCS.rglob("*.md") if page.parent not in HAVE_AN_INDEX} - {INDEX}

    assert pages - listed == set()
    assert {folder / "README.md" for folder in HAVE_AN_INDEX} <= listed


def test_every_picture_is_shown() -> None:
    shown = {path for page in PAGES for path, _ in links(page)}

    in_methods_appendix = set(methods_appendix.PICTURES.glob("*.jpg"))
    assert set((DOCS / "pictures").rglob("*.*")) - shown - in_methods_appendix == set()


def test_documented_benchmarks_exist_or_name_the_commit_that_has_them() -> None:
    files = (ROOT / "benchmarks").glob("*.py")
    benchmarks = {file.stem for file in files if f"./run bench {file.stem}" in file.read_text("utf-8")}
    paragraphs = [text for page in PAGES for text in page.read_text("utf-8").split("\n\n")]
    documented = {
        name
        for text in paragraphs
        for name in re.findall(r"\./run bench\s+([a-z_]+)", text)
        if "a1466aba" not in text
    }

    assert {run.name for run in RUNS} | documented <= benchmarks
    assert {"loop", "import_waits", "mutants"} <= documented


API_PAGE = (DOCS / "reference" / "api.md").read_text("utf-8")


def endpoints(patterns: list[Any], before: str) -> Iterator[str]:
    for pattern in patterns:
        address = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from endpoints(pattern.url_patterns, address)
        elif getattr(pattern.callback, "cls", None) is not None:
            yield re.sub(r"<(?:\w+:)?\w+>", "{}", address)


def test_the_page_of_the_api_lists_every_endpoint_and_every_field_of_a_release_request() -> None:
    listed = {re.sub(r"{\w+}", "{}", address) for address in re.findall(r"`(/api/[^`]*)`", API_PAGE)}
    assert set(endpoints(urls.urlpatterns, "/api/")) - listed == set()
    (row,) = re.findall(r"^\| POST `/api/projects/{slug}/releases/`.+$", API_PAGE, re.MULTILINE)
    assert set(ReleaseRequest().fields) - set(re.findall(r'"(\w+)"', row)) == set()


def test_what_the_page_of_the_api_calls_an_address_is_the_end_of_one() -> None:
    ends = [path for path in re.findall(r"`([a-z_/]+/)`", API_PAGE) if not path.startswith("/")]
    assert ends
    known = list(endpoints(urls.urlpatterns, "/api/"))
    assert [end for end in ends if not any(address.endswith("/" + end) for address in known)] == []


def test_the_page_of_commands_lists_those_of_run() -> None:
    text = (DOCS / "reference" / "commands.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `\./run (\w+)", text, re.MULTILINE))
    of_run = set(re.findall(r"^  \./run (\w+)", (ROOT / "run").read_text("utf-8"), re.MULTILINE))
    assert of_run == listed


def test_the_glossary_lists_every_format_and_every_release_purpose() -> None:
    (row,) = re.findall(r"^\| \*\*format\*\* \|.+$", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    assert set(FORMATS) == set(re.findall(r"`(\w+)`", row))


def test_every_message_of_the_page_of_errors_is_one_of_the_program() -> None:
    rows = re.findall(r"^\| (`.+?) \| ", (DOCS / "errors.md").read_text("utf-8"), re.MULTILINE)
    catalogue = polib.pofile(str(ROOT / "locale" / "de" / "LC_MESSAGES" / "django.po"))
    sources = [
        ROOT / "run",
        *(path for name in ("annotation", "config", "tableqa") for path in (ROOT / name).rglob("*.py")),
    ]
    texts = "\n".join([*(entry.msgid for entry in catalogue), *(path.read_text("utf-8") for path in sources)])
    texts = re.sub(r'"\s*\n\s*f?"', "", texts)

    parts = [part.strip() for row in rows for part in re.split(r"…|\d+", re.findall("`([^`]+)`", row)[0])]

    assert len(rows) > 15
    assert [part for part in parts if part not in texts] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120
