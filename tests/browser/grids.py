"""An <askew-grid> on a page of its own, and what people do to it and hear of it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

VOTES: dict[str, Any] = {
    "header": ["Competitor", "Country", "Votes", "Notes"],
    "rows": [
        ["Leslie", "Canada", "15", ""],
        ["Nwosu", "Nigeria", "1,212", "withdrew in the second round"],
        ["Olsson", "Sweden", "4", ""],
        ["Adeyemi-Brandt", "Germany", "97", "first entry"],
        ["Tanaka", "Japan", "141", ""],
    ],
}


class Grid:
    """The element, shown in one of its modes."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        page.set_default_timeout(15_000)
        page.goto(f"{base}/sign-in/")
        page.evaluate(
            """async () => {
                for (const part of ["grid", "selecting", "editing", "structuring", "comparing"]) {
                    await import(`/static/askew/${part}.js`);
                }
                const grid = document.createElement("askew-grid");
                document.getElementById("main").replaceChildren(grid);
                window.heard = [];
                for (const name of ["grid-change", "grid-submit", "grid-leave"]) {
                    addEventListener(name, ({ detail }) => window.heard.push([name, detail]));
                }
            }"""
        )

    def show(self, table: dict[str, Any] = VOTES, operations: Any = (), **options: Any) -> bool:
        """Show a table and go to its first cell."""
        fits: bool = self.page.evaluate(
            """([table, operations, options]) => {
                const grid = document.querySelector("askew-grid");
                const fits = grid.show(table, operations, options);
                grid.focusCell();
                return fits;
            }""",
            [table, list(operations), options],
        )
        return fits

    def get(self, what: str) -> Any:
        """A value of the element: operations, cells, here, ..."""
        return self.page.evaluate(f"() => document.querySelector('askew-grid').{what}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def types(self, text: str) -> None:
        self.page.keyboard.type(text)

    def cell(self, row: str, column: str) -> Locator:
        return self.page.locator(f"[data-row={row}] td[data-column={column}]")

    def header(self, column: str) -> Locator:
        return self.page.locator(f"thead th[data-column={column}]")

    def number(self, row: str) -> Locator:
        return self.page.locator(f"[data-row={row}] th.number")

    def drag(self, start: Locator, end: Locator) -> None:
        """Press the mouse on one cell and let it go on another."""
        start.hover()
        self.page.mouse.down()
        box = end.bounding_box()
        assert box is not None
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        self.page.mouse.up()

    def hears(self, words: str) -> None:
        """A screen reader is told this."""
        expect(self.page.locator("askew-grid > [role=status]")).to_contain_text(words)

    def reads(self, words: str) -> None:
        """The row above the table or the line below it says this."""
        lines = self.page.locator("askew-grid :is(.grid-tools > .where, .grid-state)")
        expect(lines.filter(has_text=words).first).to_be_visible()

    def events(self) -> list[str]:
        found: list[str] = self.page.evaluate("() => window.heard.splice(0).map(([name]) => name)")
        return found

    def copied(self) -> str:
        """What a copy of the range writes, without a clipboard of the system."""
        return self._clipboard("copy")

    def cut(self) -> str:
        return self._clipboard("cut")

    def _clipboard(self, kind: str) -> str:
        text: str = self.page.evaluate(
            """(kind) => {
                const clipboardData = new DataTransfer();
                const event = new ClipboardEvent(kind, { clipboardData, bubbles: true, cancelable: true });
                document.activeElement.dispatchEvent(event);
                return clipboardData.getData("text/plain");
            }""",
            kind,
        )
        return text

    def pastes(self, text: str) -> None:
        self.page.evaluate(
            """(text) => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", text);
                const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
                document.activeElement.dispatchEvent(event);
            }""",
            text,
        )


def edited(operations: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """(row, column) -> new text, of the operations that set cells and headers."""
    return {(op.get("row", "h"), op["column"]): op["new"] for op in operations if "new" in op}
