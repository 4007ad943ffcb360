"""The annotators' loop: 32 people without think time, real tables, commits that wait for the disk.

    ./run bench loop [--people 32] [--seconds 8] [--rounds 3]
    ./run bench loop --items 2000,20000,200000
    ./run bench loop --to-the-end [--overlap 3] [--database sqlite] [--kill] [--items 2000]

The first is against the floor (benchmarks/floor) on PostgreSQL. Floor and Askew return the same table bytes, are served
by the same gunicorn (2 workers, 8 threads), and take turns within one run. What counts is the ratio of the medians;
absolute numbers are this machine's. The second compares batches of several sizes by the CPU time of an item, in turns,
too. The third works on a batch until nothing is left, and counts what was lost, done twice or refused; with `--kill` one
of the web server's workers is killed (SIGKILL) at each quarter of the way, and people send again what was not answered.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import keep

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "fixtures" / "wtq" / "excerpt-dev.tsv"
ITEMS = 40_000
"""Of the comparison with the floor: as many as a run may need."""
AT_A_TIME = 400
"""Submissions of one turn where sizes are compared."""
GROWTH = 1.15
"""How much more CPU an item of a larger batch may take."""
OF_THE_FLOOR, NEXT, CPU, MEMORY = 0.75, 200.0, 5.0, 300.0
"""The share of the floor's rate; milliseconds to the next item at p95, and of CPU for one; MB of web and database."""
TRIES = 20
"""Times that somebody asks again for what was not answered, or for an item where there was none."""


def main() -> int:
    """Print the figures; the status is 1 where something was lost or refused, or a target missed."""
    parser = argparse.ArgumentParser(prog="./run bench loop", description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=32, metavar="N")
    parser.add_argument("--seconds", type=float, default=8, metavar="S", help="of one turn")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--items", default="", metavar="N[,N...]", help="in a batch; several are compared")
    parser.add_argument("--overlap", type=int, default=1, metavar="N")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], default="postgresql")
    parser.add_argument("--to-the-end", action="store_true", help="work until nothing is left, and count")
    parser.add_argument("--kill", action="store_true", help="kill workers meanwhile (with --to-the-end)")
    options = parser.parse_args()
    sizes = [int(size) for size in options.items.split(",") if size]
    if options.kill and not options.to_the_end:
        parser.error("--kill goes with --to-the-end")
    if options.to_the_end:
        status = to_the_end(options, (sizes or [2_000])[0])
    elif sizes:
        status = compare_sizes(options, sizes)
    else:
        status = compare_with_floor(options)
    print(f"load: {os.getloadavg()[0]:.1f}")
    return status


def compare_with_floor(options: argparse.Namespace) -> int:
    """Floor and Askew in turns, for so many seconds each."""
    with ExitStack() as stack:
        database = _postgres(stack)
        floor = _side(stack, database, "floor", options, ITEMS)
        askew = _side(stack, database, "askew", options, ITEMS)
        for side in (floor, askew):
            side.run(options.seconds / 4)  # connections, caches and templates are warm afterwards
            side.forget()
        for _ in range(options.rounds):
            for side in (floor, askew):
                side.run(options.seconds)
        print(f"memory: web {askew.memory():.0f} MB, database {database.memory():.0f} MB (both sides' data)")
    for side in (floor, askew):
        side.report()
    print(f"one submission with the next item: {askew.statements}")
    if _complain(floor, askew):
        return 1
    rate, bare = (statistics.median(side.rates) for side in (askew, floor))
    print(f"ratio to floor: {rate / bare:.2f}")
    figures = [
        keep("the loop over HTTP", rate, "items/s", floor=bare, ratio_at_least=OF_THE_FLOOR),
        keep("to the next item at p95", askew.wait(0.95), "ms", floor=floor.wait(0.95), at_most=NEXT),
        keep("CPU of an item", askew.cpu_of_an_item(), "ms", floor=floor.cpu_of_an_item(), at_most=CPU),
    ]
    return int(any(one.met is False for one in figures))


def compare_sizes(options: argparse.Namespace, sizes: list[int]) -> int:
    """Batches of these sizes in turns: the CPU time of an item beside that in the first."""
    with ExitStack() as stack:
        database = _postgres(stack)
        sides = [_side(stack, database, "askew", options, size, f"items{size}") for size in sizes]
        for side in sides:
            side.run(submissions=AT_A_TIME // 2)
            side.forget()
        for _ in range(options.rounds):
            for side in sides:
                side.run(submissions=AT_A_TIME)
        figures, first = [], sides[0].cpu_of_an_item()
        for side, size in zip(sides, sizes, strict=True):
            side.report()
            print(f"       {side.cpu_of_an_item() / first:.2f} of the CPU of {sides[0].name}", flush=True)
            name = f"CPU of an item of {size:,}, beside {sizes[0]:,}"
            figures.append(keep(name, side.cpu_of_an_item(), "ms", floor=first, ratio_at_most=GROWTH))
    return int(_complain(*sides) or any(one.met is False for one in figures))


def to_the_end(options: argparse.Namespace, items: int) -> int:
    """Every place of a batch, whatever happens meanwhile; then what the database holds beside what people were told."""
    with ExitStack() as stack:
        database = _postgres(stack) if options.database == "postgresql" else _sqlite(stack)
        side = _side(stack, database, "askew", options, items)
        places = items * options.overlap
        killer = threading.Thread(target=side.kill_workers, args=(places,)) if options.kill else None
        if killer is not None:
            killer.start()
        side.run(submissions=places + 1)
        if killer is not None:
            killer.join()
        told = json.dumps(dict(pair for person in side.people for pair in person.get("told", ())))
        found = json.loads(_prepare("check", options, items, database, stdin=told))
        memory = (side.memory(), database.memory())
        how = f"{options.database}, {items} items, overlap {options.overlap}, {side.killed} workers killed"
        print(f"{how}; memory: web {memory[0]:.0f} MB, database {memory[1]:.0f} MB")
    side.report()
    print(", ".join(f"{count} {what}" for what, count in found.items()))
    wrong = sum(found.values()) + len(side.errors)
    figures = [
        keep(f"lost, twice, beyond, undone, refused: {how}", wrong, at_most=0),
        keep(f"memory of web and database: {how}", sum(memory), "MB", at_most=MEMORY),
    ]
    return int(_complain(side) or any(one.met is False for one in figures))


class Database:
    """A database server, or a file: its address, and what its processes use."""

    def __init__(self, url: str, pid: int = 0) -> None:
        self.url = url
        self.pid = pid

    def cpu(self) -> float:
        return _cpu(self.pid) if self.pid else 0.0

    def memory(self) -> float:
        return _memory(self.pid) if self.pid else 0.0


class Side:
    """One of the servers with its people: each submits and gets the next item, over and over."""

    def __init__(
        self, name: str, server: tuple[int, int], people: list[dict[str, Any]], database: Database
    ) -> None:
        self.name = name
        self.port, self.pid = server
        self.people = people
        self.database = database
        self.statements = people[0].get("statements", "")
        self.errors: list[str] = []
        self.killed = 0
        self.done = 0
        self.forget()

    def forget(self) -> None:
        """What was measured so far; the work goes on where it was."""
        self.rates: list[float] = []
        self.waits: list[float] = []
        self.items = 0
        self.cpu = self.database_cpu = 0.0

    def run(self, seconds: float = 3600, submissions: int = sys.maxsize) -> None:
        """One turn, of so many seconds or submissions, or until nothing is left."""
        until = time.monotonic() + seconds
        self.left = submissions
        counts = [0] * len(self.people)
        threads = [
            threading.Thread(target=self._work, args=(index, until, counts))
            for index in range(len(self.people))
        ]
        cpu, database_cpu, started = _cpu(self.pid), self.database.cpu(), time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.rates.append(sum(counts) / (time.monotonic() - started))
        self.items += sum(counts)
        self.cpu += _cpu(self.pid) - cpu
        self.database_cpu += self.database.cpu() - database_cpu

    def cpu_of_an_item(self) -> float:
        """Milliseconds, of web and database."""
        return (self.cpu + self.database_cpu) / max(self.items, 1) * 1000

    def wait(self, share: float) -> float:
        """Milliseconds from a submission to the next item that this share of them took at most."""
        waits = sorted(self.waits) or [0.0]
        return waits[int(len(waits) * share)] * 1000

    def memory(self) -> float:
        return _memory(self.pid)

    def kill_workers(self, submissions: int) -> None:
        """One worker at each quarter of the way."""
        for quarter in (1, 2, 3):
            while self.done < submissions * quarter // 4:
                time.sleep(0.05)
            worker = random_child(self.pid, self.killed)
            os.kill(worker, signal.SIGKILL)
            self.killed += 1

    def report(self) -> None:
        p50, p95 = self.wait(0.5), self.wait(0.95)
        web, database = (1000 * cpu / max(self.items, 1) for cpu in (self.cpu, self.database_cpu))
        print(
            f"{self.name:<6} {statistics.median(self.rates):7.1f} items/s (median of {len(self.rates)}: "
            f"{', '.join(f'{rate:.0f}' for rate in self.rates)}), p50 {p50:.0f} ms, p95 {p95:.0f} ms; "
            f"CPU of an item: web {web:.2f} ms, database {database:.2f} ms"
        )

    def _work(self, index: int, until: float, counts: list[int]) -> None:
        person = self.people[index]
        caller = Caller(self.port, person)
        tries = TRIES
        while time.monotonic() < until and self.left > 0:
            held = person.get("held")
            path, body = _request(self.name, person, held)
            started = time.monotonic()
            status, text = caller.post(path, json.dumps(body))
            if status == 204 and tries:  # nothing now; somebody may be about to give a place back
                tries -= 1
                time.sleep(0.1)
                continue
            if status != 200:
                if status != 204:
                    self.errors.append(f"{self.name}: {status} {text[:200]!r}")
                return
            found = json.loads(text)
            person["held"] = found if self.name == "floor" else found.get("next", found)
            if held is None:
                continue
            self.waits.append(time.monotonic() - started)
            counts[index] += 1
            self.left -= 1
            self.done += 1
            if self.name != "floor":
                person.setdefault("told", []).append((held["id"], found["annotation"]["id"]))


class Caller:
    """A browser's connection: what is not answered is sent again."""

    def __init__(self, port: int, person: dict[str, Any]) -> None:
        self.port = port
        self.headers = {
            "Content-Type": "application/json",
            "Cookie": person["cookie"],
            "X-CSRFToken": person["csrf"],
        }
        self.connection = self._connected()

    def post(self, path: str, body: str) -> tuple[int, bytes]:
        for _ in range(TRIES):
            try:
                self.connection.request("POST", path, body, self.headers)
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):  # the worker that had it is gone
                self.connection.close()
                time.sleep(0.2)
                self.connection = self._connected()
        return 0, b"no answer"

    def _connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)


def _request(name: str, person: dict[str, Any], held: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
    if name == "floor":
        return f"/submit/{held['id'] if held else 0}/", {"response": {"label": "extraction"}}
    if held is None:
        return f"/api/batches/{person['batch']}/next/", {"holding": []}
    envelope = {key: held[key] for key in ("type", "variant", "version", "base")}
    response = envelope | {"data": {"label": "extraction"}}
    return f"/api/assignments/{held['id']}/submit/", {"response": response, "next": True}


def _complain(*sides: Side) -> bool:
    errors = [error for side in sides for error in side.errors]
    if errors:
        print(f"{len(errors)} errors: {errors[:3]}", file=sys.stderr)
    return bool(errors)


# -- setting up -------------------------------------------------------------------------------------


def _postgres(stack: ExitStack) -> Database:
    from tests.temp_postgres import DURABLE, temporary_postgres

    url = stack.enter_context(temporary_postgres(DURABLE))
    host = Path(url.partition("host=")[2])
    return Database(url, int((host / "data" / "postmaster.pid").read_text().split()[0]))


def _sqlite(stack: ExitStack) -> Database:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-loop-"))
    return Database(f"sqlite:///{folder}/askew.sqlite3")


def _side(
    stack: ExitStack,
    database: Database,
    name: str,
    options: argparse.Namespace,
    items: int,
    alone: str = "",
) -> Side:
    """A server with its people; with a name in `alone` on a database of its own on the same server."""
    if alone:
        database = Database(database.url.replace("/postgres?", f"/{alone}?"), database.pid)
    os.environ |= {
        "DATABASE_URL": database.url,
        "FLOOR_DATABASE": database.url.partition("host=")[2],
        "LOG_LEVEL": "WARNING",
    }
    people = json.loads(_prepare(name, options, items, database))
    application = "benchmarks.floor.wsgi" if name == "floor" else "config.wsgi"
    return Side(alone or name, stack.enter_context(_served(application)), people, database)


def _prepare(side: str, options: argparse.Namespace, items: int, database: Database, stdin: str = "") -> str:
    """Fill a database and print the people's cookies, in a process of its own: each side has its own settings."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.loop_data", side),
            *map(str, (options.people, items, options.overlap, TABLES)),
        ],
        check=True,
        input=stdin,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database.url},
    )
    return done.stdout


@contextmanager
def _served(application: str, folder: Path = ROOT) -> Iterator[tuple[int, int]]:
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
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "8", "--log-level", "critical"]
    # People keep their connections; what waits for them at the end need not be long.
    command += ["--keep-alive", "30", "--graceful-timeout", "2", "--preload"]
    server = subprocess.Popen(command, cwd=folder)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(120)


def random_child(pid: int, number: int) -> int:
    """One of the workers of a server: a different one each time."""
    children = sorted(_family(pid) - {pid})
    return children[number % len(children)]


def _family(pid: int) -> set[int]:
    """A process and its children (Linux)."""
    found = {pid}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.add(int(stat.parent.name))
        except OSError:
            continue
    return found


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process and its children have used so far, those that ended included (Linux)."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for one in _family(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / ticks
        if one == pid:
            total += (int(fields[13]) + int(fields[14])) / ticks
    return total


def _memory(pid: int) -> float:
    """MB of a process and its children; what they share is counted once (Linux)."""
    total = 0
    for one in _family(pid):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


if __name__ == "__main__":
    sys.exit(main())
