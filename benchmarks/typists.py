"""People who type while a model answers: through nginx, the gateway and Askew, with a separate predictor.

    ./run bench typists [--typists 64] [--seconds 180] [--model DIR]
    ./run bench typists --simulate 120                                  # a model of 120 ms per batch of any size
    ./run bench typists --shape tapex-large --device cuda --dtype bfloat16 --steps 16
    ./run bench typists --direct                                        # the web processes ask the model: no gateway

Each typist has a session and an item, changes a question every half to two and a half seconds, and does what the page
does: saves the draft, asks for a preview, hangs up when the next key comes, asks again after a while where it was told
that the model is busy or away. After some changes they stop and wait: the last keystroke counts. It is answered, or the
page says why not (busy, unavailable, stale); anything else is a fault. After a warm-up that is not counted, memory of
web, gateway and predictor is measured after the first tenth, in the middle and at the end. CPU time is told for the
typists (this process) and for each server, with what other programs of the machine used meanwhile. The status is 1 where
a keystroke was lost, an answer was no answer of the interface, or memory grew by more than a tenth (and 20 MB) from the
middle to the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from benchmarks.figures import keep
from benchmarks.simulated import SHAPES
from benchmarks.site import free_ports, nginx
from predictor.bundled import WEIGHTS

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "fixtures" / "wtq" / "excerpt-dev.tsv"
AGAIN = (2, 4, 8, 15, 15, 30)
"""Seconds after which the page asks again a model that was busy or away (static/askew/prediction.js)."""
ARRIVING = 8.0
"""Seconds within which all typists open their first item. Within one second, their questions would be one queue."""
DIRECT = 30.0
"""Seconds for which a page leaves a gateway alone that was away."""
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
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument(
        "--simulate", type=float, metavar="MS", help="a model of so long per batch of any size"
    )
    parser.add_argument("--shape", choices=SHAPES, help="a model of this shape with random weights")
    parser.add_argument("--steps", type=int, default=16, help="tokens of each answer of --shape")
    parser.add_argument("--direct", action="store_true", help="without nginx and gateway")
    options = parser.parse_args()
    if not options.direct and not shutil.which("nginx"):
        print("nginx is not installed (Debian: apt install nginx-light): --direct", file=sys.stderr)
        options.direct = True
    simulated = options.simulate is not None or options.shape
    if not simulated and not options.model.is_dir():
        print(f"{options.model} holds no model; name a folder with --model", file=sys.stderr)
        return 0 if options.model == WEIGHTS else 1
    from tests.temp_postgres import DURABLE, temporary_postgres

    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-typists-")))
        port, predictor = stack.enter_context(_predictor(options))
        named = httpx.get(f"http://127.0.0.1:{port}/v1/models", trust_env=False).json()["models"][0]
        entry = {"url": f"http://127.0.0.1:{port}", "model": named["name"]}
        database = stack.enter_context(temporary_postgres(DURABLE))
        os.environ |= {
            "DATABASE_URL": database,
            "PREDICTORS": json.dumps({"bench": entry}),
            "LOG_LEVEL": "ERROR",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ASKEW_DATA_DIR": str(home),
        }
        processes = {"predictor": predictor, "PostgreSQL": _postmaster(database)}
        web_port, gateway_port, site_port = free_ports(3)
        site = f"http://127.0.0.1:{web_port}"
        if not options.direct:
            site = f"https://localhost:{site_port}"
            os.environ |= {"PUBLIC_URL": site, "TRUST_PROXY": "true", "MODEL_GATEWAY": "true"}
        crew = _crew(options.typists)
        processes["web"] = stack.enter_context(_web(web_port))
        if not options.direct:
            processes["gateway"] = stack.enter_context(_gateway(gateway_port))
            processes["nginx"] = stack.enter_context(
                nginx(home, "", site_port, [web_port], static=False, gateway=gateway_port)
            )
        run = Run(site, crew, processes, gateway=not options.direct)
        asyncio.run(run.go(max(5.0, 0.1 * options.seconds)))  # everything is loaded and warm afterwards
        run.forget()
        model = Figures(port)
        with using_gpu(options.device) as gpu:
            asyncio.run(run.go(options.seconds))
        told = model.told(options, gpu)
        way = "web processes" if options.direct else "nginx and gateway"
        print(f"{named['id']} through {way}, {options.typists} typists, {options.seconds:.0f} s")
        status = run.report(options.seconds)
        print(told)
        return status


class Figures:
    """What a predictor has done since this was made, from its metrics."""

    NAMES = ("computed", "batches", "cached", "superseded", "withdrawn", "busy", "too_late")

    def __init__(self, port: int) -> None:
        self.port = port
        self.began, self.before = time.monotonic(), self._now()

    def _now(self) -> dict[str, float]:
        text = httpx.get(f"http://127.0.0.1:{self.port}/metrics", trust_env=False).text
        counts = {
            name: float(line.rsplit(" ", 1)[1])
            for name in self.NAMES
            for line in text.splitlines()
            if line.startswith(f"askew_predictor_{name}_total{{")
        }
        stats = httpx.get(f"http://127.0.0.1:{self.port}/stats", trust_env=False)
        more = stats.json() if stats.status_code == 200 else {}
        return counts | {f"own_{name}": value for name, value in more.items()}

    def told(self, options: argparse.Namespace, gpu: Sequence[int]) -> str:
        """Batches, and for a model of benchmarks.simulated the time that it computed."""
        now, seconds = self._now(), time.monotonic() - self.began
        did = {name: value - self.before.get(name, 0.0) for name, value in now.items()}
        mean = did["computed"] / did["batches"] if did["batches"] else 0.0
        keep("mean batch", mean)
        counts = ", ".join(f"{name} {did[name]:.0f}" for name in self.NAMES)
        lines = [f"predictor: mean batch {mean:.2f}; {counts}"]
        if computed := did.get("own_seconds", 0.0):
            queries, batches = did["own_requests"], did["own_batches"]
            rate = queries / seconds
            lines.append(
                f"model: {batches:.0f} batches of {queries / batches:.2f} on average (largest "
                f"{now['own_largest']:.0f}), {1000 * computed / batches:.1f} ms each, "
                f"{100 * computed / seconds:.0f} % of the time; {rate:.1f} queries/s, "
                f"{1000 * computed / queries:.2f} {options.device} seconds per 1,000 queries"
            )
            if options.shape:
                lines.append(
                    f"shape: {options.shape}, {options.dtype}, greedy, {options.steps} steps for each answer, "
                    f"{did['own_steps'] / seconds:.1f} steps/s"
                )
        if gpu:
            lines.append(f"GPU utilisation: mean {statistics.fmean(gpu):.0f} %, highest {max(gpu)} %")
        elif options.device != "cpu":
            lines.append("GPU utilisation: unknown (no nvidia-smi)")
        return "\n".join(lines)


@contextmanager
def using_gpu(device: str) -> Iterator[list[int]]:
    """Percent of the time in which the first GPU computed, each half second, filled when the block ends."""
    samples: list[int] = []
    if device == "cpu" or not shutil.which("nvidia-smi"):
        yield samples
        return
    query = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--id=0", "--loop-ms=500"]
    process = subprocess.Popen(["nvidia-smi", *query], stdout=subprocess.PIPE, text=True)
    try:
        yield samples
    finally:
        process.terminate()
        text, _ = process.communicate(timeout=20)
        samples += [int(line) for line in text.split() if line.isdigit()]


class Run:
    """All typists at their work, and what came of every request."""

    def __init__(
        self, site: str, crew: Sequence[dict[str, Any]], processes: dict[str, int], *, gateway: bool
    ) -> None:
        self.site, self.crew, self.processes, self.gateway = site, crew, processes, gateway
        self.faults: list[str] = []
        self.rounds = 0
        self.forget()

    def forget(self) -> None:
        """Begin to count."""
        self.states: Counter[str] = Counter()
        self.last: Counter[str] = Counter()
        self.waits: list[float] = []
        self.from_key: list[float] = []
        self.memory: dict[str, list[float]] = {
            name: [] for name in self.processes if name not in ("PostgreSQL", "nginx")
        }
        self.worked = {"typists": -time.process_time()}
        self.worked |= {name: -_worked(pid) for name, pid in self.processes.items()}
        self.worked["whole machine"] = -_worked_by_all()
        self.loads = [os.getloadavg()[0]]

    async def go(self, seconds: float) -> None:
        """Let everybody type for so long, and never what they typed before."""
        self.rounds += 1
        until = time.monotonic() + seconds
        limits = httpx.Limits(
            max_connections=2 * len(self.crew), max_keepalive_connections=2 * len(self.crew)
        )
        any_certificate = ssl.create_default_context()
        any_certificate.check_hostname, any_certificate.verify_mode = False, ssl.CERT_NONE
        async with httpx.AsyncClient(
            base_url=f"{self.site}/api/", limits=limits, timeout=30, trust_env=False, verify=any_certificate
        ) as client:
            typists = [Typist(self, client, person, number) for number, person in enumerate(self.crew)]
            await asyncio.gather(self._measure(seconds), *(one.type(until) for one in typists))

    async def _measure(self, seconds: float) -> None:
        for pause in (0.1 * seconds, 0.4 * seconds, 0.5 * seconds):
            await asyncio.sleep(pause)
            for name, sizes in self.memory.items():
                sizes.append(_memory(self.processes[name]))
            self.loads.append(os.getloadavg()[0])

    def report(self, seconds: float) -> int:
        """Print what came of it; the exit status."""
        answered = self.states["answered"]
        self._report_work(answered, seconds)
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
        ended = sum(count for state, count in self.states.items() if state != "hung up")
        busy = 100 * self.states["busy"] / max(1, ended)
        print(f"busy: {busy:.2f} % of {ended} requests that ended")
        keep("busy", busy, "%", at_most=1)
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

    def _report_work(self, answered: int, seconds: float) -> None:
        """CPU time of everybody who takes part, and of the rest of the machine."""
        self.worked["typists"] += time.process_time()
        for name, pid in self.processes.items():
            self.worked[name] += _worked(pid)
        everything = self.worked.pop("whole machine") + _worked_by_all()
        others = everything - sum(self.worked.values())
        told = ", ".join(
            f"{name} {1000 * spent / max(1, answered):.1f}" for name, spent in self.worked.items()
        )
        print(f"CPU per answer in ms: {told}")
        print(
            f"machine: {os.cpu_count()} cores, load {min(self.loads):.1f} to {max(self.loads):.1f}; this benchmark used "
            f"{sum(self.worked.values()) / seconds:.2f} cores, of which the typists "
            f"{self.worked['typists'] / seconds:.2f}; other programs {max(0.0, others) / seconds:.2f} cores"
        )


class Typist:
    """One person on one item, and what their page does."""

    def __init__(self, run: Run, client: httpx.AsyncClient, person: dict[str, Any], number: int) -> None:
        self.run, self.client, self.batch = run, client, person["batch"]
        self.number, self.rng = number, random.Random(number)
        self.headers = {"Cookie": person["cookie"], "X-CSRFToken": person["csrf"], "Origin": run.site}
        self.ticket = ""
        self.direct = 0.0
        self.revision = 0
        self.saving = asyncio.Lock()
        self.item: dict[str, Any] = {}
        self.told = ""  # what the page says while there is no answer to what was typed last

    async def type(self, until: float) -> None:
        """Changes in bursts; the last of each is waited for."""
        await asyncio.sleep(self.rng.uniform(0, ARRIVING))
        _, self.item = await self._send("POST", f"batches/{self.batch}/next/", {"holding": []})
        question = str(self.item["shows"]["question"])
        count = 0
        while time.monotonic() < until:
            changes = self.rng.randint(2, 6)
            for change in range(changes):
                count += 1
                typed = f"{question} {self.rng.choice(WORDS)} {self.run.rounds}.{self.number}.{count}"
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
            status, said = await self._predict(body)
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

    async def _predict(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        here = f"assignments/{self.item['id']}"
        if self.run.gateway and time.monotonic() >= self.direct:
            for _ in range(2):
                if not self.ticket:
                    self.ticket = (await self._send("POST", f"{here}/ticket/", {}))[1]["ticket"]
                headers = {"Authorization": f"Ticket {self.ticket}"}
                reply = await self.client.post(f"{self.run.site}/gateway/", json=body, headers=headers)
                if reply.status_code == 200:
                    return 200, dict(reply.json())
                if reply.status_code != 401:
                    break
                self.ticket = ""
            self.run.states[f"gateway {reply.status_code}"] += 1
            self.direct = time.monotonic() + DIRECT
        return await self._send("POST", f"{here}/predictions/", body)

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
def _predictor(options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """A predictor as `./run predictor` starts it, or one that is simulated; its port and process id."""
    (port,) = free_ports(1)
    if options.shape:
        command = ["benchmarks.simulated", "--shape", options.shape, "--device", options.device]
        command += ["--dtype", options.dtype, "--steps", str(options.steps)]
    elif options.simulate is not None:
        command = ["benchmarks.simulated", "--milliseconds", str(options.simulate)]
    else:
        command = ["predictor.server", "--model", str(options.model), "--device", options.device, "--quiet"]
    with _process([*command, "--port", str(port)], port) as pid:
        for _ in range(600):
            if httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False, timeout=30).status_code == 200:
                break
            time.sleep(0.1)
        yield port, pid


@contextmanager
def _web(port: int) -> Iterator[int]:
    """gunicorn as in production; the process id of its master."""
    command = ["gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}", "--no-control-socket"]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "8", "--keep-alive", "75"]
    with _process([*command, "--log-level", "error"], port) as pid:
        yield pid


@contextmanager
def _gateway(port: int) -> Iterator[int]:
    """The gateway as in production; its process id."""
    with _process(["config.gateway", "--port", str(port)], port) as pid:
        yield pid


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


def _postmaster(url: str) -> int:
    """The first process of the database at this address, which stands in the folder that the address names."""
    folder = url.partition("host=")[2]
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if folder in place.read_text() and "postgres" in place.read_text().split("\0")[0]:
                return int(place.parent.name)
    raise SystemExit("PostgreSQL is not running")


def _worked(pid: int) -> float:
    """Seconds of CPU of a process and its children, those that have ended included (Linux)."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(stat.parent.name) == pid:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == pid:
                ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _worked_by_all() -> float:
    """Seconds of CPU of all programs of the machine (Linux)."""
    user, nice, system, _, _, irq, soft = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


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
