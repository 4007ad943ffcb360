"""Pages of annotating as a site serves them, in Chromium: what they weigh, when they are painted, how quickly they answer.

    ./run bench browser [--kinds NAME,... | --tables] [--loads 5] [--keys 20] [--brief]

nginx with TLS and HTTP/2 as in deploy/, gunicorn behind it, static files from `collectstatic` with
COMPRESS_STATIC. Every kind of annotation over its sample, and four large tables to be read, marked and
edited. A page weighs what the browser fetched of HTML, style sheets, scripts and fonts, compressed as it
came, from the empty cache until the page is ready, that is, takes keys; tables of the samples have a few
rows. The measures are those that Lighthouse takes, from the browser's own Performance interfaces: first and
largest contentful paint (FCP, LCP), shifts of the layout (CLS), time that long tasks block (TBT), and the
slowest of the keys pressed (INP) beside their 95th percentile; the interface does not report what took less
than 16 ms, which counts as 16. Medians of the loads count. Each is taken with an empty cache and a filled
one, then with the processor four times as slow, on a line of 1.6 Mbit/s with 150 ms of delay as well, and on
slow 3G (400 kbit/s, 400 ms).

Targets: 65 kB, 79 kB with marks, comparisons or edits, and 90 kB for the explorer; of the annotation pages 15 kB
of style sheets; 6 requests for scripts; first paint within 1 s; a key within 50 ms at the 95th percentile (100 ms in
the largest table); on slow 3G ready within 3 s, and within 4.5 s with the processor four times as slow. Other
slower rows are recorded. Without nginx pages are not compressed, and the report says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.browser_data import REAL
from benchmarks.figures import keep
from benchmarks.site import free_ports, get, nginx, python, running, wait_for

ROOT = Path(__file__).resolve().parent.parent
WEIGHT, WITH_EDITS, EXPLORER, STYLE, REQUESTS = 65_000, 79_000, 90_000, 15_000, 6
"""Bytes, compressed: of most pages, of those with edits, of the explorer, of style sheets. Then requests for scripts."""
EDITING = (
    "cell_relevance",
    "column_",
    "header_",
    "perturbation_rating",
    "question_paraphrase",
    "short_table",
    "value_change",
)
"""Beginnings of the task types whose pages have the scripts for marking, comparing or editing."""
PAINT = 1000.0
"""Milliseconds until the first paint."""
SMOOTH, KEY = 50.0, {"5,000 x 8": 100.0}
"""Milliseconds from a key press to its paint, at the 95th percentile: of most tables, and of the largest one."""
READY = {"slow 3G": 3000.0, "slow 3G, processor / 4": 4500.0}
"""Milliseconds until the page takes keys."""
LEAST = 16.0
"""Milliseconds: what is quicker is not reported by browsers."""

OBSERVE = """
window.seen = {lcp: 0, cls: 0, long: [], events: [], ready: 0};
new MutationObserver(() => {
    if (document.querySelector("[data-ready], [data-explorer]")) seen.ready ||= performance.now();
}).observe(document, {subtree: true, childList: true, attributeFilter: ["data-ready"]});
const watch = (type, take, more = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({type, buffered: true, ...more});
watch("largest-contentful-paint", ({startTime}) => { seen.lcp = startTime; });
watch("layout-shift", ({value, hadRecentInput}) => { if (!hadRecentInput) seen.cls += value; });
watch("longtask", ({startTime, duration}) => seen.long.push([startTime, duration]));
watch("event", ({interactionId, duration}) => { if (interactionId) seen.events.push([interactionId, duration]); },
    {durationThreshold: 16});
"""
LOADED = """() => {
    const [page] = performance.getEntriesByType("navigation");
    const files = performance.getEntriesByType("resource").filter(({name}) => !name.includes("/api/"));
    const kind = ({name}) => new URL(name).pathname.match(/\\.(css|js|woff2?)$/)?.[1] ?? "other";
    const bytes = {html: page.encodedBodySize};
    for (const file of files) bytes[kind(file)] = (bytes[kind(file)] ?? 0) + file.encodedBodySize;
    const fcp = performance.getEntriesByName("first-contentful-paint")[0].startTime;
    const tbt = seen.long.filter(([start]) => start >= fcp).reduce((all, [, time]) => all + Math.max(0, time - 50), 0);
    const scripts = files.filter((file) => kind(file) === "js").length;
    return {
        bytes, scripts, ready: seen.ready, fcp, tbt, lcp: seen.lcp, cls: seen.cls, requests: files.length + 1,
        transferred: files.reduce((all, {transferSize}) => all + transferSize, page.transferSize),
        unpacked: files.reduce((all, {decodedBodySize}) => all + decodedBodySize, page.decodedBodySize),
    };
}"""


@dataclass(frozen=True)
class Conditions:
    """How a page is loaded."""

    name: str
    warm: bool = False
    slower: int = 1
    line: tuple[int, int] | None = None
    """kbit/s and milliseconds of delay."""


CONDITIONS = (
    Conditions("empty cache"),
    Conditions("filled cache", warm=True),
    Conditions("processor / 4", slower=4),
    Conditions("processor / 4, slow line", slower=4, line=(1600, 150)),
    Conditions("slow 3G", line=(400, 400)),
    Conditions("slow 3G, processor / 4", slower=4, line=(400, 400)),
)


def main() -> int:
    """Print the figures, and 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="./run bench browser", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kinds", default="", metavar="NAME,...", help="only these, and no tables")
    parser.add_argument(
        "--loads",
        type=int,
        default=5,
        metavar="N",
        help="of each page in each condition; 0: only what they weigh",
    )
    parser.add_argument("--tables", action="store_true", help="the four large tables alone")
    parser.add_argument("--keys", type=int, default=20, metavar="N", help="pressed after each load")
    parser.add_argument("--brief", action="store_true", help="the machine as it is, and no slower rows")
    options = parser.parse_args()
    data = Path(os.environ.get("ASKEW_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (data / REAL).is_file():
        print(
            f"There is no {data / REAL}: name the folder of the datasets in ASKEW_TEST_DATA.", file=sys.stderr
        )
        return 1
    try:
        import playwright  # noqa: F401
    except ImportError:
        print("Playwright is not installed: `./run test` installs what benchmarks need.", file=sys.stderr)
        return 1
    wanted = set(filter(None, options.kinds.split(",")))
    missed: list[str] = []
    with ExitStack() as stack:
        site, prepared = served(stack, data)
        browser = stack.enter_context(chromium_browser())
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {site}")
        conditions = CONDITIONS[:2] if options.brief else CONDITIONS
        pages = {
            name: path for name, path in prepared["kinds"].items() if not wanted or name.split()[0] in wanted
        }
        print(f"\n{'':<34}{'html':>6}{'css':>6}{'js':>6}{'all':>7} kB  files  scripts  unpacked")
        for name, path in {**pages, "explorer": prepared["explorer"]}.items():
            cookie = prepared["manager" if name == "explorer" else "cookie"]
            missed += weighed(name, measured(browser, site, cookie, path, CONDITIONS[0], 1, 0))
        if not options.loads:
            pages = {}
        elif options.tables:
            pages = prepared["tables"]
        elif not wanted:
            pages |= prepared["tables"]
        head = (
            f"{'medians, ms':<60}{'FCP':>6}{'LCP':>6}{'CLS':>7}{'TBT':>6}{'key p95':>9}{'INP':>6}{'ready':>7}"
        )
        print(f"\n{head}" if pages else "")
        for name, path in pages.items():
            for one in conditions:
                found = measured(browser, site, prepared["cookie"], path, one, options.loads, options.keys)
                missed += reported(name, one, found)
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if missed else 0


def weighed(name: str, figures: dict[str, Any]) -> list[str]:
    """Print what a page weighs; what exceeds its budget."""
    bytes_ = figures["bytes"]
    whole = sum(bytes_.values()) - bytes_.get("other", 0)
    parts = "".join(f"{bytes_.get(kind, 0) / 1000:6.1f}" for kind in ("html", "css", "js"))
    print(
        f"{name:<34}{parts}{whole / 1000:7.1f}    {figures['requests']:5}  {figures['scripts']:7}"
        f"  {figures['unpacked'] / 1000:8.0f}"
    )
    limit = EXPLORER if name == "explorer" else WITH_EDITS if name.startswith(EDITING) else WEIGHT
    results = [keep(f"weight of {name}", whole / 1000, "kB", at_most=limit / 1000)]
    if name != "explorer":
        results.append(keep(f"style of {name}", bytes_["css"] / 1000, "kB", at_most=STYLE / 1000))
        results.append(keep(f"scripts of {name}", figures["scripts"], "requests", at_most=REQUESTS))
    return [
        f"{one.name}: {one.value:.1f} {one.unit}; the target is {one.at_most:.0f}"
        for one in results
        if one.met is False
    ]


def served(
    stack: ExitStack, data: Path | str, prepare: str = "benchmarks.browser_data"
) -> tuple[str, dict[str, Any]]:
    """A site as in production, and what the module `prepare` prints of its pages."""
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-browser-")))
    port, behind = free_ports(2)
    proxied = shutil.which("nginx") is not None
    site = f"https://localhost:{port}" if proxied else f"http://localhost:{behind}"
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{home}/askew.sqlite3",
        "ASKEW_DATA_DIR": str(home / "data"),
        "PUBLIC_URL": site,
        "TRUST_PROXY": str(proxied).lower(),
        "COMPRESS_STATIC": "true",
        "LOG_LEVEL": "ERROR",
    }
    python(ROOT, environment, "manage.py", "collectstatic", "--noinput", "--verbosity", "0")
    prepared = json.loads(python(ROOT, environment, "-m", prepare, str(data)))
    command = ["-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{behind}", "--no-control-socket"]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "8", "--keep-alive", "75"]
    stack.enter_context(running(ROOT, environment, home / "askew.log", *command))
    if proxied:
        stack.enter_context(nginx(home, "", port, [behind], static=False))
    else:
        print("nginx is not installed: pages come without TLS, HTTP/2 and compression")
    wait_for(lambda: get(behind, "/healthz") == 200, "the web processes answer")
    return site, prepared


@contextmanager
def chromium_browser() -> Iterator[Any]:
    """A Chromium as tests start it."""
    from playwright.sync_api import sync_playwright

    from tests.plugin import chromium

    flags = ["--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync"]
    flags += ["--disable-background-networking", "--disable-component-update"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        yield browser
        browser.close()


def measured(
    browser: Any, site: str, cookie: list[str], path: str, how: Conditions, loads: int, keys: int
) -> dict[str, Any]:
    """Medians of a page's figures over several loads; milliseconds of the keys pressed after each."""
    found: list[dict[str, Any]] = []
    pressed: list[float] = []
    for _ in range(loads):
        page, session = new_page(browser, site, cookie)
        if how.warm:
            _go(page, site + path)
        if how.line:
            rate, latency = how.line
            line = {
                "offline": False,
                "latency": latency,
                "downloadThroughput": rate * 125,
                "uploadThroughput": rate * 125 // 2,
            }
            session.send("Network.enable")
            session.send("Network.emulateNetworkConditions", line)
        if how.slower > 1:
            session.send("Emulation.setCPUThrottlingRate", {"rate": how.slower})
        _go(page, site + path)
        page.wait_for_timeout(300)
        found.append(page.evaluate(LOADED))
        pressed += _keys(page, keys)
        page.context.close()
    middle = {
        name: statistics.median(one[name] for one in found) for name in ("fcp", "lcp", "cls", "tbt", "ready")
    }
    return {**found[0], **middle, "keys": pressed}


def new_page(browser: Any, site: str, cookie: list[str]) -> tuple[Any, Any]:
    """A page of somebody's session that observes itself, and the connection to its developer tools."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, ignore_https_errors=True)
    context.add_cookies([{"name": cookie[0], "value": cookie[1], "url": site, "secure": site[4] == "s"}])
    context.add_init_script(OBSERVE)
    page = context.new_page()
    return page, context.new_cdp_session(page)


def open_page(browser: Any, site: str, cookie: list[str], path: str) -> tuple[Any, Any]:
    """The same, with the page at this path ready to take keys."""
    page, session = new_page(browser, site, cookie)
    _go(page, site + path)
    return page, session


def _go(page: Any, url: str) -> None:
    page.goto(url, wait_until="load", timeout=120_000)
    page.locator("askew-annotate[data-ready], [data-explorer]").first.wait_for(
        state="attached", timeout=120_000
    )


def _keys(page: Any, keys: int) -> list[float]:
    """Milliseconds from each of so many keys to the paint after it: into the table and about in it, or along the fields."""
    if not keys:
        return []
    page.evaluate("() => { seen.events.length = 0; }")
    page.keyboard.press("t")
    for name in _names(keys - 1, page.locator("askew-grid [role=gridcell]").count() > 0):
        page.keyboard.press(name)
        page.wait_for_timeout(33)
    page.wait_for_timeout(300)
    times: dict[int, float] = {}
    for interaction, duration in page.evaluate("() => seen.events"):
        times[interaction] = max(duration, times.get(interaction, LEAST))
    return [*times.values(), *[LEAST] * (keys - len(times))]


def _names(keys: int, grid: bool) -> Iterator[str]:
    for number in range(keys):
        if grid:
            yield "ArrowRight" if number % 4 == 3 else "ArrowDown"
        else:
            # Forth and back: where the focus leaves the page for the browser's own buttons, the page is painted no more.
            yield "Tab" if number % 12 < 6 else "Shift+Tab"


def _p95(times: list[float]) -> float:
    return sorted(times)[max(0, -(-len(times) * 95 // 100) - 1)]


def reported(name: str, how: Conditions, found: dict[str, Any]) -> list[str]:
    """Print a line; what misses its target."""
    p95, worst = (_p95(found["keys"]), max(found["keys"])) if found["keys"] else (0.0, 0.0)
    print(
        f"{f'{name}, {how.name}':<60}{found['fcp']:6.0f}{found['lcp']:6.0f}{found['cls']:7.3f}{found['tbt']:6.0f}"
        f"{p95:9.0f}{worst:6.0f}{found['ready']:7.0f}",
        flush=True,
    )
    has_target = how.slower == 1 and how.line is None
    limit = KEY.get(name.partition(", ")[0], SMOOTH)
    figures = [
        keep(f"first paint, {name}, {how.name}", found["fcp"], "ms", at_most=PAINT if has_target else None),
        keep(f"a key at p95, {name}, {how.name}", p95, "ms", at_most=limit if has_target else None),
        keep(f"ready, {name}, {how.name}", found["ready"], "ms", at_most=READY.get(how.name)),
    ]
    return [
        f"{one.name}: {one.value:.0f} ms; the target is {one.at_most:.0f} ms"
        for one in figures
        if one.met is False
    ]


if __name__ == "__main__":
    sys.exit(main())
