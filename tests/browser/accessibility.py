"""The accessibility of a page in a browser, as axe-core reports it."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

AXE: dict[str, Any] = {
    "preload": False,
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
"""Results of rules that pass are not described: a check takes about 0.9 s with them left out, 1.5 s otherwise."""


def check_accessibility(page: Page, note: object = "") -> None:
    """Fail with axe's report if the page violates a rule. The note says in which state the page is."""
    results = Axe().run(page, options=AXE)
    assert results.violations_count == 0, f"{page.url} {note}\n{results.generate_report()}"
