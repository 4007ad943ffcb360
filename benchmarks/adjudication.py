"""Measure how long it takes from the key that decides an item until the next item is painted and takes keys.

    ./run bench adjudication [--items 50]

In Chromium, from nginx with TLS and HTTP/2 and gunicorn with SQLite as in `./run bench browser`, over question types on
which three people differ. A letter chooses a response, Enter decides; every second decision gives a listed reason with a
digit instead. The time starts with the browser's own time stamp of the second key. It ends with the first task after the
frame that painted the next item. Beside the median stand the 95th percentile and the median until the answer has arrived.
The keys per decision are counted.

Target: 150 ms at the median, two keys per decision, and no page load between two items. Exit status 1 names what misses it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.adjudication_data import ITEMS
from benchmarks.browser import served
from benchmarks.figures import keep
from benchmarks.grid import _browser, _p95

TARGET = 150.0
"""Milliseconds at the median."""

LISTEN = """() => {
    window.shown = [];
    const lane = document.querySelector("askew-adjudicate");
    const channel = new MessageChannel();
    let pressed = 0;
    let keys = 0;
    addEventListener("keydown", (event) => { pressed = event.timeStamp; keys += 1; }, { capture: true });
    channel.port1.onmessage = () => {
        const now = performance.now();
        const request = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/adjudicate/")).at(-1);
        shown.push({
            whole: now - pressed, answer: request.responseEnd - request.startTime, keys, origin: performance.timeOrigin,
        });
        keys = 0;
        performance.clearResourceTimings();
    };
    new MutationObserver(() => requestAnimationFrame(() => channel.port2.postMessage(0)))
        .observe(lane, { attributes: true, attributeFilter: ["data-shown"] });
}"""


def main() -> int:
    """Print the figures, and 1 where a target is missed."""
    parser = argparse.ArgumentParser(
        prog="./run bench adjudication", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--items", type=int, default=50, metavar="N", help=f"decisions, at most {ITEMS - 1}")
    options = parser.parse_args()
    try:
        import playwright  # noqa: F401
    except ImportError:
        print("Playwright is not installed: `./run test` installs what benchmarks need.", file=sys.stderr)
        return 1
    with ExitStack() as stack:
        site, prepared = served(stack, Path(), "benchmarks.adjudication_data")
        browser = stack.enter_context(_browser())
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {site}")
        context = browser.new_context(viewport={"width": 1366, "height": 850}, ignore_https_errors=True)
        name, value = prepared["cookie"]
        context.add_cookies([{"name": name, "value": value, "url": site, "secure": site[4] == "s"}])
        page = context.new_page()
        page.goto(site + prepared["labels"], wait_until="load")
        rows = _decide(page, min(options.items, ITEMS - 1))
    whole = [row["whole"] for row in rows]
    median, late = statistics.median(whole), _p95(whole)
    answer = statistics.median(row["answer"] for row in rows)
    keys = max(row["keys"] for row in rows)
    loads = len({row["origin"] for row in rows})
    print(
        f"\n{len(rows)} decisions: {median:.0f} ms median, {late:.0f} ms p95; answer {answer:.0f} ms; {keys} keys"
    )
    keep("decision to the next item", median, "ms", at_most=TARGET)
    missed = []
    if median > TARGET:
        missed.append(f"the median is {median:.0f} ms; the target is {TARGET:.0f} ms")
    if keys > 2:
        missed.append(f"{keys} keys for one decision")
    if loads > 1:
        missed.append("a page was loaded between two items")
    for line in missed:
        print(f"MISSED: {line}")
    return 1 if missed else 0


def _decide(page: Any, items: int) -> list[dict[str, Any]]:
    """Decide so many items by keys; what the page measured of each."""
    page.locator("askew-adjudicate[data-shown]").wait_for(state="attached")
    page.evaluate(LISTEN)
    for number in range(1, items + 1):
        page.keyboard.press("b")
        page.keyboard.press("Enter" if number % 2 else "1")
        page.wait_for_function("(number) => shown.length >= number", arg=number)
        page.locator("askew-adjudicate:not([data-sending], [data-resting])").wait_for(state="attached")
    rows: list[dict[str, Any]] = page.evaluate("shown")
    return rows


if __name__ == "__main__":
    sys.exit(main())
