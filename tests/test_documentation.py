"""The pages of the documentation: each is in the index, and their links and pictures lead to files and headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotation.views import methods
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

    in_methods_appendix = set(methods.PICTURES.glob("*.jpg"))
    assert set((DOCS / "pictures").rglob("*.*")) - shown - in_methods_appendix == set()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120
