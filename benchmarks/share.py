"""Measure how much of the window a table gets on the annotation page, for each task type that shows one table.

    ./run bench share [--kinds NAME,...] [--layout right|left|below] [--screenshots FOLDER]

In Chromium, with a table of 40 rows and 10 columns, in windows of 1366 x 850 and 1280 x 720, guidelines closed and open.
A second line of each task type, "crowded", has a question of 200 characters, the reminder of a daily limit and the checks
of the person. The share is the area of the visible part of the table's pane, tools excluded, divided by that of the window.
Scroll containers are visible elements that scroll and hold more than they show; a table counts once. Exit status 1 when
a target is missed: 50 % closed, 35 % open, two scroll containers, all nine rows of a small table visible in value_change.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.browser import chromium_browser, served
from benchmarks.figures import keep

SIZES = ((1366, 850), (1280, 720))
CLOSED, OPEN, SCROLLING = 50.0, 35.0, 2

SESSION = {
    "items": 19,
    "minutes": 30,
    "per_hour": 38,
    "earned": "",
    "checks": {"right": 8, "judged": 10},
    "day": {"key": "day", "is_near": True, "items_left": 1, "minutes_left": 42},
}
"""A day that is nearly over, as the page asks for it."""

MEASURE = """() => {
    const sheet = document.querySelector(".subject askew-grid .sheet");
    const box = sheet?.getBoundingClientRect();
    if (!box?.width) return null;
    let { left, top, right, bottom } = box;
    const scrolls = (part) => /auto|scroll/u.test(getComputedStyle(part).overflowY + getComputedStyle(part).overflowX);
    const clip = (other) => {
        [left, top] = [Math.max(left, other.left), Math.max(top, other.top)];
        [right, bottom] = [Math.min(right, other.right), Math.min(bottom, other.bottom)];
    };
    clip({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
    for (let part = sheet.parentElement; part; part = part.parentElement) {
        if (getComputedStyle(part).overflow !== "visible") clip(part.getBoundingClientRect());
    }
    const covers = [...document.querySelectorAll(".guidelines[open], .actions")];
    for (const part of covers.filter((one) => getComputedStyle(one).position === "fixed")) {
        clip({ left: 0, top: 0, right: innerWidth, bottom: part.getBoundingClientRect().top });
    }
    const overflows = (part) => part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1;
    const scrolling = [...document.querySelectorAll("body *:not(.tabular *, textarea)")].filter((part) => (
        part.checkVisibility() && scrolls(part) && overflows(part)
    ));
    const root = document.documentElement;
    if (overflows(root) && getComputedStyle(root).overflowY !== "hidden") scrolling.unshift(root);
    return {
        share: 100 * Math.max(0, right - left) * Math.max(0, bottom - top) / (innerWidth * innerHeight),
        width: right - left, height: bottom - top,
        whole: Math.round(sheet.scrollHeight) <= Math.ceil(bottom - top),
        scrolling: scrolling.map((part) => part.className || part.localName),
    };
}"""

LAYOUT = """(layout) => document.addEventListener("readystatechange", () => {
    document.documentElement.dataset.layout = layout;
})"""
"""Sets the layout as the personal setting does, before the modules of the page run."""


def main() -> int:
    """Print the share for each task type and size; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="./run bench share", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kinds", default="", metavar="NAME,...", help="only these task types")
    parser.add_argument(
        "--layout", choices=("right", "left", "below"), default="right", help="where the panel is"
    )
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="keep a screenshot of every state")
    options = parser.parse_args()
    try:
        import playwright  # noqa: F401
    except ImportError:
        print("Playwright is not installed: `./run test` installs what benchmarks need.", file=sys.stderr)
        return 1
    wanted = set(filter(None, options.kinds.split(",")))
    missed: list[str] = []
    with ExitStack() as stack:
        site, prepared = served(stack, Path(), "benchmarks.share_data")
        browser = stack.enter_context(chromium_browser())
        pages = {
            name: path for name, path in prepared["kinds"].items() if not wanted or name.split()[0] in wanted
        }
        print(
            f"{'task type':<44}{'window':<11}{'closed':>7}{'open':>7}   pane, closed / scroll containers, open"
        )
        for width, height in SIZES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, ignore_https_errors=True
            )
            context.add_init_script(f"({LAYOUT})({options.layout!r})")
            name, value = prepared["cookie"]
            context.add_cookies([{"name": name, "value": value, "url": site, "secure": site[4] == "s"}])
            context.route("**/session/", lambda route: route.fulfill(json=SESSION))
            size = f"{width}x{height}"
            for name, path in pages.items():
                missed += _measured(context, site + path, name, size, options.screenshots)
                path = prepared["crowded"][name]
                missed += _measured(context, site + path, f"{name}, crowded", size, options.screenshots)
            if not wanted or "value_change" in wanted:
                missed += _small(context, site + prepared["small"], size, options.screenshots)
            context.close()
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if missed else 0


def _measured(context: Any, url: str, name: str, size: str, folder: Path | None) -> list[str]:
    """Print the line of a page; return the targets that it misses."""
    page = _open(context, url)
    states = {}
    for opened, target in ((False, CLOSED), (True, OPEN)):
        _guidelines(page, opened)
        state = page.evaluate(MEASURE)
        if state is None:
            page.close()
            return []  # no table
        words = "open" if opened else "closed"
        states[words] = state
        keep(f"share of {name}, {size}, guidelines {words}", state["share"], "%", at_least=target)
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            page.screenshot(
                path=str(folder / f"{size}-{words}-{name.replace(' ', '-')}.png"), animations="disabled"
            )
    page.close()
    closed, open_ = states["closed"], states["open"]
    print(
        f"{name:<44}{size:<11}{closed['share']:6.1f}%{open_['share']:6.1f}%   "
        f"{closed['width']:.0f} x {closed['height']:.0f} / {len(open_['scrolling'])}: {', '.join(open_['scrolling'])}",
        flush=True,
    )
    missed = [
        f"{name}, {size}, guidelines {words}: {states[words]['share']:.1f} %; the target is {target:.0f} %"
        for words, target in (("closed", CLOSED), ("open", OPEN))
        if states[words]["share"] < target
    ]
    most = max(len(state["scrolling"]) for state in states.values())
    keep(f"scroll containers of {name}, {size}", most, at_most=SCROLLING)
    return missed + ([f"{name}, {size}: {most} scroll containers"] if most > SCROLLING else [])


def _small(context: Any, url: str, size: str, folder: Path | None) -> list[str]:
    page = _open(context, url)
    _guidelines(page, False)
    state = page.evaluate(MEASURE)
    if folder:
        page.screenshot(path=str(folder / f"{size}-nine-rows.png"), animations="disabled")
    page.close()
    print(f"{'nine rows, value_change':<44}{size:<11}{'complete' if state['whole'] else 'cut'}", flush=True)
    return [] if state["whole"] else [f"nine rows, {size}: the table is cut"]


def _open(context: Any, url: str) -> Any:
    page = context.new_page()
    page.goto(url, wait_until="load", timeout=120_000)
    page.locator("askew-annotate[data-ready]").wait_for(state="attached", timeout=120_000)
    page.wait_for_load_state("networkidle")
    return page


def _guidelines(page: Any, opened: bool) -> None:
    """Open or close the guidelines, and wait until columns have their widths."""
    button = page.locator("[data-guidelines-button]")
    if (button.get_attribute("aria-expanded") == "true") != opened:
        button.click()
    page.wait_for_timeout(500)


if __name__ == "__main__":
    sys.exit(main())
