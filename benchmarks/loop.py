"""The annotators' loop against its floor: 32 people without think time, real tables, PostgreSQL with durable commits.

    ./run bench loop [--people 32] [--seconds 8] [--rounds 3]

Floor and Askew return the same table bytes, are served by the same gunicorn (2 workers, 8 threads), and
take turns within one run. What counts is the ratio of the medians; absolute numbers are this machine's.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "fixtures" / "wtq" / "excerpt-dev.tsv"
ITEMS = 40_000


def main() -> int:
    """Print the figures of both sides and, last, the ratio."""
    parser = argparse.ArgumentParser(prog="./run bench loop")
    parser.add_argument("--people", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from tests.temp_postgres import DURABLE, temporary_postgres

    with ExitStack() as stack:
        url = stack.enter_context(temporary_postgres(DURABLE))
        host = url.partition("host=")[2]
        os.environ |= {"DATABASE_URL": url, "FLOOR_DATABASE": host, "LOG_LEVEL": "WARNING"}
        people = json.loads(_prepare("askew", options.people)), json.loads(_prepare("floor", options.people))
        askew = Side("askew", stack.enter_context(_served("config.wsgi")), people[0])
        floor = Side("floor", stack.enter_context(_served("benchmarks.floor.wsgi")), people[1])
        for side in (floor, askew):
            side.run(options.seconds / 4)  # connections, caches and templates are warm afterwards
        for _ in range(options.rounds):
            for side in (floor, askew):
                side.rates.append(side.run(options.seconds))
    for side in (floor, askew):
        side.report()
    if askew.errors or floor.errors:
        print(f"errors: {askew.errors[:3] + floor.errors[:3]}", file=sys.stderr)
        return 1
    print(f"ratio to floor: {statistics.median(askew.rates) / statistics.median(floor.rates):.2f}")
    return 0


class Side:
    """One of the two servers with its people: each submits and gets the next item, over and over."""

    def __init__(self, name: str, server: tuple[int, int], people: list[dict[str, Any]]) -> None:
        self.name = name
        self.port, self.pid = server
        self.people = people
        self.rates: list[float] = []
        self.waits: list[float] = []
        self.errors: list[str] = []
        self.items = 0
        self.cpu = 0.0

    def run(self, seconds: float) -> float:
        """Items a second over this stretch."""
        until = time.monotonic() + seconds
        counts = [0] * len(self.people)
        threads = [
            threading.Thread(target=self._work, args=(index, until, counts))
            for index in range(len(self.people))
        ]
        cpu, started = _cpu(self.pid), time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.items += sum(counts)
        self.cpu += _cpu(self.pid) - cpu
        return sum(counts) / (time.monotonic() - started)

    def report(self) -> None:
        waits = sorted(self.waits)
        print(
            f"{self.name:<6} {statistics.median(self.rates):7.1f} items/s (median of {len(self.rates)}: "
            f"{', '.join(f'{rate:.0f}' for rate in self.rates)}), p95 {waits[int(len(waits) * 0.95)] * 1000:.0f} ms, "
            f"{self.cpu / max(self.items, 1) * 1000:.2f} ms CPU of the web processes per item"
        )

    def _work(self, index: int, until: float, counts: list[int]) -> None:
        person = self.people[index]
        headers = {
            "Content-Type": "application/json",
            "Cookie": person["cookie"],
            "X-CSRFToken": person["csrf"],
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while time.monotonic() < until:
            held = person.get("held")
            path, body = _request(self.name, person, held)
            started = time.monotonic()
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                self.errors.append(f"{self.name}: {answer.status} {text[:200]!r}")
                return
            found = json.loads(text)
            person["held"] = found.get("next", found) if self.name == "askew" else found
            if held is not None:
                self.waits.append(time.monotonic() - started)
                counts[index] += 1
        connection.close()


def _request(name: str, person: dict[str, Any], held: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
    if name == "floor":
        return f"/submit/{held['id'] if held else 0}/", {"response": {"label": "extraction"}}
    if held is None:
        return f"/api/batches/{person['batch']}/next/", {"holding": []}
    envelope = {key: held[key] for key in ("type", "variant", "version", "base")}
    response = envelope | {"data": {"label": "extraction"}}
    return f"/api/assignments/{held['id']}/submit/", {"response": response, "next": True}


# -- setting up -------------------------------------------------------------------------------------


def _prepare(side: str, people: int) -> str:
    """Fill a database and print the people's cookies, in a process of its own: each side has its own settings."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.loop_data", side, str(people), str(ITEMS), str(TABLES)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    return done.stdout


@contextmanager
def _served(application: str) -> Any:
    """gunicorn as in production; its port and the process id of its master."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        application,
        "--bind",
        f"127.0.0.1:{port}",
        "--no-control-socket",
    ]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "8", "--log-level", "error"]
    command += ["--keep-alive", "30"]
    server = subprocess.Popen(command, cwd=ROOT)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(15)


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process and its children have used so far (Linux)."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == pid or int(fields[1]) == pid:
            total += (int(fields[11]) + int(fields[12])) / ticks
    return total


if __name__ == "__main__":
    sys.exit(main())
