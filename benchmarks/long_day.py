"""A thousand items in one page, in Chromium: its memory, and how long it is busy between two items.

    ./run bench long_day [--items 1000] [--after 200]

The site is that of `./run bench browser`. A person submits items of question_type with 40 cells by keys, and never reloads.
Garbage is collected after `--after` items and at the end; then the heap of the scripts, nodes and listeners are counted.

Targets between these two: at most 1 MB more heap, and 5 % more nodes and listeners. From a key that submits to the next
item, the longest task of the page takes at most 50 ms at the median. Browsers report no shorter tasks; these count as 0.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from contextlib import ExitStack
from typing import Any

from benchmarks.browser import chromium_browser, open_page, served
from benchmarks.figures import keep

HEAP, GROWTH, TASK = 1.0, 5.0, 50.0
"""Megabytes; percent; milliseconds."""
COUNTED = {"JSHeapUsedSize": "heap", "Nodes": "nodes", "JSEventListeners": "listeners"}
NEXT = """text => document.querySelector("[data-progress-text]").textContent !== text"""
LONGEST = """async start => {
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));  // a browser reports a task after it
    return Math.max(0, ...seen.long.filter(([at]) => at >= start).map(([, duration]) => duration));
}"""


def main() -> int:
    """Print the figures, and 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="./run bench long_day", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=1000, metavar="N")
    parser.add_argument("--after", type=int, default=200, metavar="N", help="items before the first count")
    options = parser.parse_args()
    with ExitStack() as stack:
        site, prepared = served(stack, str(options.items + 1), "benchmarks.long_day_data")
        browser = stack.enter_context(chromium_browser())
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        page, session = open_page(browser, site, prepared["cookie"], prepared["page"])
        session.send("Performance.enable")
        tasks = [submit(page) for _ in range(options.after)]
        before = counts(session)
        tasks += [submit(page) for _ in range(options.items - options.after)]
        after = counts(session)
    growth = {name: 100 * (after[name] / before[name] - 1) for name in ("nodes", "listeners")}
    print(f"{'':<12}{f'item {options.after}':>12}{f'item {options.items}':>12}")
    for name in COUNTED.values():
        print(f"{name:<12}{before[name]:12,.0f}{after[name]:12,.0f}")
    figures = [
        keep("more heap", (after["heap"] - before["heap"]) / 1e6, "MB", at_most=HEAP),
        *(keep(f"more {name}", percent, "%", at_most=GROWTH) for name, percent in growth.items()),
        keep("longest task between items, median", statistics.median(tasks), "ms", at_most=TASK),
    ]
    for figure in figures:
        print(f"{figure.name}: {figure.value:.2f} {figure.unit}; the target is {figure.at_most:.0f}")
    return 0 if all(figure.met for figure in figures) else 1


def submit(page: Any) -> float:
    """Respond to the item on screen and wait for the next one; milliseconds of the longest task in between."""
    text = page.locator("[data-progress-text]").text_content()
    start = page.evaluate("() => { seen.long.length = seen.events.length = 0; return performance.now(); }")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_function(NEXT, arg=text, timeout=60_000)
    longest: float = page.evaluate(LONGEST, start)
    return longest


def counts(session: Any) -> dict[str, float]:
    """Bytes of the heap, nodes and listeners, after garbage has been collected."""
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    metrics = {
        metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]
    }
    return {name: metrics[metric] for metric, name in COUNTED.items()}


if __name__ == "__main__":
    sys.exit(main())
