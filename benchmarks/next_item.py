"""Measure how long it takes from the key that submits an item until the next one is painted and takes keys.

    ./run bench next_item [--kinds NAME,...] [--items 24]

In Chromium, from nginx with TLS and HTTP/2 and gunicorn with SQLite as in `./run bench browser`, over copies of the sample
of each task type. A response is filled in and its draft saved; then the key that submits is pressed: the last choice where
choices submit, else Ctrl Enter. The time starts with the browser's own time stamp of the key. It ends with the first task
after the frame that painted the next item, when the page takes keys again. Beside the median stand the 95th percentile and
the median parts: until the request is sent, until its answer has arrived, and until the item is painted.

Target: 100 ms at the median, and no page load between two items. Exit status 1 names what misses it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.browser import served
from benchmarks.figures import keep
from benchmarks.grid import _browser, _p95

TARGET = 100.0
"""Milliseconds at the median."""

LISTEN = """() => {
    window.shown = [];
    const page = document.querySelector("askew-annotate");
    const place = document.querySelector("input[type=hidden][name=assignment]");
    const channel = new MessageChannel();
    let pressed = 0;
    addEventListener("keydown", (event) => {
        if (!["Shift", "Control", "Alt"].includes(event.key)) pressed = event.timeStamp;
    }, { capture: true });
    channel.port1.onmessage = () => {
        const now = performance.now();
        const request = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/submit/")).at(-1);
        shown.push({
            whole: now - pressed, before: request.startTime - pressed, answer: request.responseEnd - request.startTime,
            after: now - request.responseEnd, busy: page.querySelector("form").hasAttribute("aria-busy"),
            loads: performance.getEntriesByType("navigation").length, origin: performance.timeOrigin,
        });
        performance.clearResourceTimings();
    };
    new MutationObserver(() => requestAnimationFrame(() => channel.port2.postMessage(0)))
        .observe(place, { attributes: true, attributeFilter: ["value"] });
}"""
FILL = """(data) => {
    const page = document.querySelector("askew-annotate");
    const groups = [...page.querySelectorAll("[data-commit][data-field]")].filter((group) => !group.closest("[hidden]"));
    const last = groups.at(-1)?.dataset.field;
    page.put(last ? { ...data, [last]: "" } : data);
    page.start(); // the focus was in what is drawn anew
    if (!last) return "Control+Enter";
    page.querySelector(".question").focus(); // a text field would take the key
    return groups.at(-1).querySelector(`input[value="${data[last]}"]`).dataset.key;
}"""


def main() -> int:
    """Print the times of each task type; 1 when a target is missed."""
    parser = argparse.ArgumentParser(
        prog="./run bench next_item", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--kinds", default="", metavar="NAME,...", help="only these task types")
    parser.add_argument("--items", type=int, default=24, metavar="N", help="submitted in each task type")
    options = parser.parse_args()
    try:
        import playwright  # noqa: F401
    except ImportError:
        print("Playwright is not installed: `./run test` installs what benchmarks need.", file=sys.stderr)
        return 1
    wanted = set(filter(None, options.kinds.split(",")))
    missed: list[str] = []
    with ExitStack() as stack:
        site, prepared = served(stack, Path(str(options.items + 1)), "benchmarks.next_item_data")
        browser = stack.enter_context(_browser())
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {site}")
        print(f"{'ms; medians':<34}{'median':>8}{'p95':>6}{'request':>9}{'answer':>8}{'painted':>9}")
        for name, kind in prepared["kinds"].items():
            if not wanted or name.split()[0] in wanted:
                times = measured(browser, site, prepared["cookie"], kind, options.items)
                missed += reported(name, times)
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if missed else 0


def measured(
    browser: Any, site: str, cookie: list[str], kind: dict[str, Any], items: int
) -> list[dict[str, Any]]:
    """The times in ms of as many submissions, with the parts that LISTEN names."""
    context = browser.new_context(viewport={"width": 1366, "height": 850}, ignore_https_errors=True)
    context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": site, "secure": site[4] == "s"}])
    page = context.new_page()
    page.goto(site + kind["page"], wait_until="load", timeout=120_000)
    page.locator("askew-annotate[data-ready]").wait_for(state="attached", timeout=120_000)
    page.evaluate(LISTEN)
    for number in range(items):
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)  # suggestions have come, and choices take a digit again
        key = page.evaluate(FILL, kind["response"])
        page.wait_for_timeout(500)  # the draft is saved
        page.keyboard.press(key)
        page.wait_for_function("(count) => shown.length > count", arg=number, timeout=20_000)
    times: list[dict[str, Any]] = page.evaluate("shown")
    context.close()
    return times


def reported(name: str, times: list[dict[str, Any]]) -> list[str]:
    """Print the line of a task type; return what misses its target."""
    median = {
        part: statistics.median(each[part] for each in times)
        for part in ("whole", "before", "answer", "after")
    }
    p95 = _p95([each["whole"] for each in times])
    print(
        f"{name:<34}{median['whole']:8.0f}{p95:6.0f}{median['before']:9.0f}{median['answer']:8.0f}{median['after']:9.0f}",
        flush=True,
    )
    figure = keep(f"submit to next item, {name}", median["whole"], "ms", at_most=TARGET)
    missed = []
    if figure.met is False:
        missed.append(f"{name}: {median['whole']:.0f} ms; the target is {TARGET:.0f} ms")
    if any(each["busy"] for each in times):
        missed.append(f"{name}: the next item is painted before the page takes keys")
    if {(each["loads"], each["origin"]) for each in times} != {(1, times[0]["origin"])}:
        missed.append(f"{name}: a page was loaded between two items")
    return missed


if __name__ == "__main__":
    sys.exit(main())
