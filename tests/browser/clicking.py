"""Somebody who works by clicks alone: every press of the mouse is counted, in steps with their seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

COUNT_PRESSES = """
addEventListener("pointerdown", (event) => {
  if (event.isTrusted) sessionStorage.setItem("presses", Number(sessionStorage.getItem("presses") ?? 0) + 1);
}, true);
"""
"""Counts in the browser what the mouse really does, over all pages of a tab."""


@dataclass(frozen=True)
class Step:
    """What somebody did in one go: how many clicks it took, and how many seconds with the answers of the server."""

    name: str
    clicks: int
    seconds: float


class Clicker:
    """A person at one page. Texts are typed; everything else is a click on something that the page shows."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.page.set_default_timeout(15_000)
        self.page.add_init_script(COUNT_PRESSES)
        self.steps: list[Step] = []
        self._clicks, self._began = 0, time.monotonic()

    def begins(self) -> None:
        """Come to the home page: what follows is counted from here."""
        self.page.goto(self.base + "/")
        self._clicks, self._began = self.presses, time.monotonic()

    @property
    def presses(self) -> int:
        return int(self.page.evaluate("Number(sessionStorage.getItem('presses') ?? 0)"))

    def has_done(self, name: str) -> Step:
        """End a step."""
        now, presses = time.monotonic(), self.presses
        step = Step(name, presses - self._clicks, now - self._began)
        self.steps.append(step)
        print(f"| {name} | {step.clicks} | {step.seconds:.1f} |")
        self._clicks, self._began = presses, now
        return step

    def waits_for_others(self) -> None:
        """What happened since the last step was the work of others."""
        self._clicks, self._began = self.presses, time.monotonic()

    def goes(self, locator: Locator) -> None:
        """Click what leads to another page, and wait for that page."""
        with self.page.expect_navigation():
            locator.click()

    def link(self, name: str) -> None:
        self.goes(self.page.get_by_role("link", name=name, exact=True).first)

    def button(self, name: str) -> None:
        self.goes(self.page.get_by_role("button", name=name, exact=True).first)

    def reads(self, text: str) -> None:
        expect(self.page.locator("main")).to_contain_text(text)
