"""People who type while a model looks along: through Askew's own endpoint, with a predictor in a process of its own.

    ./run bench typists [--typists 64] [--seconds 180] [--model DIR]

Each typist has a session and an item, changes a question every half to two and a half seconds, and does what the page
does: saves the draft, asks for a preview, hangs up when the next key comes, asks again after a while where it was told
that the model is busy or away. After some changes they stop and wait: the last keystroke counts. It is answered, or the
page says why not (busy, unavailable, stale); anything else is a fault. After a warm-up that is not counted, memory of
web and predictor is measured after the first tenth, in the middle and at the end. The status is 1 where a keystroke was
lost, an answer was no answer of the interface, or memory grew by more than a tenth (and 20 MB) from the middle to the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.figures import keep
from predictor.bundled import WEIGHTS

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "fixtures" / "wtq" / "excerpt-dev.tsv"
AGAIN = (2, 4, 8, 15, 15, 30)
"""Seconds after which the page asks again a model that was busy or away (static/askew/prediction.js)."""
PATIENCE = 20.0
"""Seconds that somebody waits for the answer to their last keystroke before they type on."""
WORDS = ("please", "now", "in total", "exactly", "then", "here", "altogether", "again", "overall", "so")


def main() -> int:
    """Print the figures; 0 if no keystroke was lost and memory stayed."""
    parser = argparse.ArgumentParser(prog="./run bench typists", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--typists", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument(
        "--model", type=Path, default=WEIGHTS, help="the folder of the model that looks along"
    )
    parser.add_argument("--device", default="cpu", help="of the predictor")
    options = parser.parse_args()
    if not options.model.is_dir():
        print(f"{options.model} holds no model; name a folder with --model", file=sys.stderr)
        return 0 if options.model == WEIGHTS else 1
    from tests.temp_postgres import DURABLE, temporary_postgres

    with ExitStack() as stack:
        port, predictor = stack.enter_context(_predictor(options.model, options.device))
        named = httpx.get(f"http://127.0.0.1:{port}/v1/models", trust_env=False).json()["models"][0]
        entry = {"url": f"http://127.0.0.1:{port}", "model": named["name"]}
        os.environ |= {
            "DATABASE_URL": stack.enter_context(temporary_postgres(DURABLE)),
            "PREDICTORS": json.dumps({"bench": entry}),
            "LOG_LEVEL": "ERROR",
        }
        crew = _crew(options.typists)
        web_port, web = stack.enter_context(_web())
        run = Run(f"http://127.0.0.1:{web_port}/api/", crew, {"web": web, "predictor": predictor})
        asyncio.run(run.go(max(5.0, 0.1 * options.seconds)))  # everything is loaded and warm afterwards
        run.forget()
        asyncio.run(run.go(options.seconds))
    print(f"{named['id']}, {options.typists} typists, {options.seconds:.0f} s")
    return run.report(options.seconds)


class Run:
    """All typists at their work, and what came of every request."""

    def __init__(self, url: str, crew: Sequence[dict[str, Any]], processes: dict[str, int]) -> None:
        self.url, self.crew, self.processes = url, crew, processes
        self.faults: list[str] = []
        self.forget()

    def forget(self) -> None:
        """Begin to count."""
        self.states: Counter[str] = Counter()
        self.last: Counter[str] = Counter()
        self.waits: list[float] = []
        self.from_key: list[float] = []
        self.memory: dict[str, list[float]] = {name: [] for name in self.processes}

    async def go(self, seconds: float) -> None:
        """Let everybody type for so long."""
        until = time.monotonic() + seconds
        limits = httpx.Limits(
            max_connections=2 * len(self.crew), max_keepalive_connections=2 * len(self.crew)
        )
        async with httpx.AsyncClient(base_url=self.url, limits=limits, timeout=30, trust_env=False) as client:
            typists = [Typist(self, client, person, number) for number, person in enumerate(self.crew)]
            await asyncio.gather(self._measure(seconds), *(one.type(until) for one in typists))

    async def _measure(self, seconds: float) -> None:
        for pause in (0.1 * seconds, 0.4 * seconds, 0.5 * seconds):
            await asyncio.sleep(pause)
            for name, pid in self.processes.items():
                self.memory[name].append(_memory(pid))

    def report(self, seconds: float) -> int:
        """Print what came of it; the exit status."""
        answered = self.states["answered"]
        told = ", ".join(f"{name} {count}" for name, count in self.states.most_common())
        print(f"requests: {sum(self.states.values())} ({answered / seconds:.1f} answers/s): {told}")
        for what, times in (
            ("asked to answered", self.waits),
            ("key to answered (with 300 ms of pause)", self.from_key),
        ):
            if times:
                print(f"{what}: median {_percentile(times, 50):.0f} ms, p95 {_percentile(times, 95):.0f} ms")
        total = sum(self.last.values())
        keep("last keystrokes lost", self.last["lost"], at_most=0)
        keep("answers", answered / seconds, "/s")
        if len(self.waits) > 1:
            keep("asked to answered at p95", _percentile(self.waits, 95), "ms")
        print(f"last keystrokes: {total}: " + ", ".join(f"{name} {n}" for name, n in self.last.most_common()))
        grown = []
        for name, (first, middle, end) in self.memory.items():
            print(
                f"memory of {name}: {first:.0f} MB at the start, {middle:.0f} in the middle, {end:.0f} at the end"
            )
            if end > max(1.1 * middle, middle + 20):
                grown.append(name)
        for fault in self.faults[:5]:
            print(f"fault: {fault}", file=sys.stderr)
        if grown:
            print(f"memory grew: {', '.join(grown)}", file=sys.stderr)
        return 1 if self.faults or self.last["lost"] or grown or not answered else 0


class Typist:
    """One person on one item, and what their page does."""

    def __init__(self, run: Run, client: httpx.AsyncClient, person: dict[str, Any], number: int) -> None:
        self.run, self.client, self.batch = run, client, person["batch"]
        self.rng = random.Random(number)
        self.headers = {"Cookie": person["cookie"], "X-CSRFToken": person["csrf"]}
        self.revision = 0
        self.saving = asyncio.Lock()
        self.item: dict[str, Any] = {}
        self.told = ""  # what the page says while there is no answer to what was typed last

    async def type(self, until: float) -> None:
        """Changes in bursts; the last of each is waited for."""
        await asyncio.sleep(self.rng.uniform(0, 1.5))
        _, self.item = await self._send("POST", f"batches/{self.batch}/next/", {"holding": []})
        question = str(self.item["shows"]["question"])
        count = 0
        while time.monotonic() < until:
            changes = self.rng.randint(2, 6)
            for change in range(changes):
                count += 1
                typed = f"{question} {self.rng.choice(WORDS)} {count}"
                asking = asyncio.create_task(self._ask(typed))
                if change < changes - 1:
                    await asyncio.sleep(self.rng.uniform(0.5, 2.5))
                    if not asking.done():  # the next key: the page hangs up
                        asking.cancel()
                        self.run.states["hung up"] += 1
                    await asyncio.gather(asking, return_exceptions=True)
            try:
                self.run.last[await asyncio.wait_for(asking, PATIENCE)] += 1
            except TimeoutError:
                kind = f"said {self.told} for {PATIENCE:.0f} s" if self.told else "lost"
                self.run.last[kind] += 1
            await asyncio.sleep(self.rng.uniform(0.5, 2.5))

    async def _ask(self, question: str) -> str:
        """A preview of this, and again as long as the page would; how it ended for the person."""
        key = time.monotonic()
        await asyncio.sleep(0.3)
        response = {name: self.item[name] for name in ("type", "variant", "version", "base")}
        response["data"] = {"question": question, "category": "reasoning_synonym"}
        async with self.saving:  # a draft that is on its way arrives, whatever is typed meanwhile
            await asyncio.shield(asyncio.ensure_future(self._save(response)))
        self.told = ""
        for again in (*AGAIN, AGAIN[-1]):
            began = time.monotonic()
            body = {"response": response, "kind": "preview", "seq": int(time.time() * 1000)}
            status, said = await self._send("POST", f"assignments/{self.item['id']}/predictions/", body)
            state = str(said.get("state", status))
            self.run.states[state] += 1
            if state == "answered":
                now = time.monotonic()
                self.run.waits.append(1000 * (now - began))
                if not self.told:
                    self.run.from_key.append(1000 * (now - key))
                return f"answered after it said {self.told}" if self.told else "answered"
            if state not in ("busy", "unavailable"):
                return state if state == "stale" else "lost"
            self.told = self.told or state
            await asyncio.sleep(again)
        return f"said {self.told} throughout"

    async def _save(self, response: dict[str, Any]) -> None:
        body = {"response": response, "revision": self.revision}
        status, said = await self._send("PUT", f"assignments/{self.item['id']}/draft/", body)
        if status == 409:
            said = said["draft"]
        self.revision = said["revision"]

    async def _send(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        answer = await self.client.request(method, path, json=body, headers=self.headers)
        if answer.status_code not in (200, 409):
            self.run.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return answer.status_code, dict(answer.json())


# -- setting up -------------------------------------------------------------------------------------


def _crew(people: int) -> list[dict[str, Any]]:
    """Fill the database in a process of its own, which has Django's settings; everybody's cookie and batch."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.typists_data", str(people), str(TABLES)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    return list(json.loads(done.stdout))


@contextmanager
def _predictor(folder: Path, device: str) -> Iterator[tuple[int, int]]:
    """A predictor as `./run predictor` starts it; its port and process id."""
    port = _free()
    command = ["predictor.server", "--model", str(folder), "--device", device, "--port", str(port), "--quiet"]
    with _process(command, port) as pid:
        for _ in range(600):
            if httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False, timeout=30).status_code == 200:
                break
            time.sleep(0.1)
        yield port, pid


@contextmanager
def _web() -> Iterator[tuple[int, int]]:
    """gunicorn as in production; its port and the process id of its master."""
    port = _free()
    command = ["gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}", "--no-control-socket"]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "8", "--keep-alive", "30"]
    with _process([*command, "--log-level", "error"], port) as pid:
        yield port, pid


@contextmanager
def _process(command: Sequence[str], port: int) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT)
    try:
        for _ in range(1200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                raise SystemExit(f"{command[0]} ended by itself with status {process.returncode}")
            time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _memory(pid: int) -> float:
    """Megabytes of a process and its children that are in memory, what they share counted once for each (Linux)."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        if pid in (int(status.parent.name), int(fields["PPid"])):
            total += int(fields.get("VmRSS", "0 kB").split()[0])
    return total / 1000


def _percentile(times: Sequence[float], percent: int) -> float:
    if len(times) < 2:
        return times[0]
    return statistics.quantiles(times, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    sys.exit(main())
