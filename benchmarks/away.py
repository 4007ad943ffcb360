"""Submissions in a browser while the model is killed, frozen or slowed, through nginx, gateway and web processes.

    ./run bench away [--rounds 20]

In turns, a round with the model well and one with it gone wrong: somebody types, and submits with a key right after. The
time is from the key to the next item on the page, as the page's clock tells it. Killed is SIGKILL, and the predictor starts
again afterwards; frozen is SIGSTOP until the next item is there; slow is a predictor of 3 seconds per batch. The status is
1 where a submission did not come through, or the page did not say that the model is away and find it again.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx

from benchmarks.figures import keep
from benchmarks.grid import _browser
from benchmarks.team import free_ports, nginx
from benchmarks.typists import _crew, _gateway, _web

ROOT = Path(__file__).resolve().parent.parent
SLOW_MS = 3_000
WRONG = ("killed", "frozen", "slow")

NEXT_ITEM = """() => {
  const before = document.querySelector(".question").textContent;
  window.untilNextItem = new Promise((done) => document.addEventListener("keydown", () => {
    const began = performance.now();
    const look = () => {
      if (document.querySelector(".question")?.textContent !== before) done(performance.now() - began);
      else if (performance.now() - began > 30000) done(-1);
      else requestAnimationFrame(look);
    };
    look();
  }, { capture: true, once: true }));
}"""
"""Has the page measure from the next key to the next item."""


class Predictor:
    """The process of a simulated model, which may be killed, frozen and started again."""

    def __init__(self) -> None:
        (self.port,) = free_ports(1)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, milliseconds: int = 20) -> None:
        """Start it, and return once it answers."""
        command = [sys.executable, "-m", "benchmarks.simulated", "--port", str(self.port)]
        self.process = subprocess.Popen([*command, "--milliseconds", str(milliseconds)], cwd=ROOT)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with suppress(httpx.HTTPError):
                if httpx.get(f"http://127.0.0.1:{self.port}/readyz", trust_env=False, timeout=20).is_success:
                    return
            time.sleep(0.1)
        raise SystemExit("the predictor did not start")

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def end(self) -> None:
        """Kill it, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(20)
            self.process = None


def main() -> int:
    """Print times of submissions with the model well and in each way of going wrong; 0 if all came through."""
    parser = argparse.ArgumentParser(prog="./run bench away", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="of each way to go wrong")
    options = parser.parse_args()
    from tests.temp_postgres import DURABLE, temporary_postgres

    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-away-")))
        predictor = Predictor()
        stack.callback(predictor.end)
        predictor.start()
        web_port, gateway_port, site_port = free_ports(3)
        site = f"https://localhost:{site_port}"
        entry = {"url": f"http://127.0.0.1:{predictor.port}", "model": "bench"}
        os.environ |= {
            "DATABASE_URL": stack.enter_context(temporary_postgres(DURABLE)),
            "PREDICTORS": json.dumps({"bench": entry}),
            "LOG_LEVEL": "ERROR",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ASKEW_DATA_DIR": str(home),
            "PUBLIC_URL": site,
            "TRUST_PROXY": "true",
            "MODEL_GATEWAY": "true",
        }
        (person,) = _crew(1)
        stack.enter_context(_web(web_port))
        stack.enter_context(_gateway(gateway_port))
        stack.enter_context(nginx(home, "", site_port, [web_port], static=False, gateway=gateway_port))
        browser = stack.enter_context(_browser())
        context = browser.new_context(ignore_https_errors=True, viewport={"width": 1366, "height": 850})
        name, _, value = person["cookie"].partition("; ")[0].partition("=")
        context.add_cookies([{"name": name, "value": value, "url": site}])
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{site}/batches/{person['batch']}/annotate/")
        page.locator("askew-annotate[data-ready]").wait_for(state="attached")
        times: dict[str, list[float]] = {name: [] for name in ("well", *WRONG)}
        problems: list[str] = []
        for turn in range(options.rounds):
            for wrong in WRONG:
                for kind in ("well", wrong):
                    took = _round(page, predictor, kind, f"{turn} {wrong} {kind}", problems)
                    times[kind].append(took)
        expected = 2 * len(WRONG) * options.rounds
        progress = page.locator("[data-progress-text]").inner_text()
        if progress.split()[0] != str(expected):
            problems.append(f"{expected} were submitted, and the page says {progress}")
    return _report(times, problems)


def _round(page: Any, predictor: Predictor, kind: str, words: str, problems: list[str]) -> float:
    """One item typed at and submitted; milliseconds from the key to the next item."""
    if kind == "slow":
        predictor.end()
        predictor.start(SLOW_MS)
    elif kind == "frozen":
        predictor.signal(signal.SIGSTOP)
    elif kind == "killed":
        predictor.end()
    else:
        page.locator("askew-prediction[data-state=answered]").wait_for(state="attached")
    field = page.locator("textarea[name=question]")
    field.fill(f"{field.input_value()} {words}")
    if kind == "well":
        page.locator("[data-saved]").get_by_text("Saved").wait_for()
    else:  # the page says so, and the submission comes while the model is asked again and again
        away = "askew-prediction:is([data-state=unavailable], [data-state=busy])"
        page.locator(away).wait_for(state="attached")
        if "You can continue and submit." not in (page.locator("[data-part=words]").text_content() or ""):
            problems.append(f"{words}: the page does not say that the model is away")
    field.press("Escape")
    page.evaluate(NEXT_ITEM)
    page.keyboard.press("1")
    took = float(page.evaluate("window.untilNextItem"))
    if took < 0:
        problems.append(f"{words}: not submitted within 30 seconds")
    if kind == "frozen":
        predictor.signal(signal.SIGCONT)
    elif kind != "well":
        predictor.end()
        predictor.start()
    return took


def _report(times: dict[str, list[float]], problems: list[str]) -> int:
    well = statistics.median(times["well"])
    for kind, each in times.items():
        print(
            f"{kind:7} {len(each):3} submissions: median {statistics.median(each):.0f} ms, slowest {max(each):.0f} ms"
        )
        if kind != "well":
            keep(f"submitting, model {kind}", statistics.median(each), "ms", floor=well)
    print(f"machine: load {os.getloadavg()[0]:.1f}")
    for problem in problems[:10]:
        print(f"problem: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
