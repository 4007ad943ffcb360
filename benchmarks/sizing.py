"""How much machine a team needs: CPU for each item and draft, bytes for each response, memory of each process.

    ./run bench sizing [--people 16] [--seconds 8]

From the CPU that was measured (web processes and PostgreSQL together, not from the wall clock: other work on the machine
changes little) follows how many annotators one core carries: people who take PACE seconds for an item, save DRAFTS drafts of
it and leave 40 % of the core free.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.loop import Side, _cpu, _prepare, _served

PACE, DRAFTS, LOADED = 10.0, 3, 0.6


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="./run bench sizing")
    parser.add_argument("--people", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    import psycopg2

    from tests.temp_postgres import DURABLE, temporary_postgres

    with ExitStack() as stack:
        url = stack.enter_context(temporary_postgres(DURABLE))
        host = url.partition("host=")[2]
        os.environ |= {"DATABASE_URL": url, "FLOOR_DATABASE": host, "LOG_LEVEL": "WARNING"}
        people = json.loads(_prepare("askew", options.people))
        server = stack.enter_context(_served("config.wsgi"))
        database = psycopg2.connect(host=host, user="postgres", dbname="postgres")
        database.autocommit = True
        postmaster = int((Path(host) / "data" / "postmaster.pid").read_text().split()[0])
        side = Side("askew", server, people)
        side.run(options.seconds / 4)
        submitted, size = _submitted(database), _size(database)
        web, sql = _cpu(server[1]), _cpu(postmaster)
        side.run(options.seconds)
        if side.errors:
            print(side.errors[0], file=sys.stderr)
            return 1
        many = _submitted(database) - submitted
        web, sql = (_cpu(server[1]) - web) / many, (_cpu(postmaster) - sql) / many
        grown = (_size(database) - size) / many
        draft = _draft(side, people, server, postmaster, options.seconds / 2)
        item = web + sql + DRAFTS * draft
        print(f"items submitted            {many}")
        print(f"CPU of web for an item     {web * 1000:6.2f} ms   (submit, and the next item)")
        print(f"CPU of PostgreSQL          {sql * 1000:6.2f} ms")
        print(f"CPU of both for a draft    {draft * 1000:6.2f} ms")
        print(f"bytes for a response       {grown:6.0f}      (all tables and indexes, before VACUUM)")
        print(
            f"memory of the web server   {_memory(server[1]) / 1e6:6.0f} MB   (2 workers, parent; shared pages once)"
        )
        print(f"memory of PostgreSQL       {_memory(postmaster) / 1e6:6.0f} MB   (shared_buffers 128 MB)")
        print(
            f"annotators for a core      {LOADED * PACE / item:6.0f}      "
            f"(one item in {PACE:.0f} s, {DRAFTS} drafts each, {LOADED:.0%} of the core)"
        )
        database.close()
    return 0


def _draft(
    side: Side, people: list[dict[str, Any]], server: tuple[int, int], postmaster: int, seconds: float
) -> float:
    """Seconds of CPU for one saved draft."""
    counts = [0] * len(people)
    before = _cpu(server[1]) + _cpu(postmaster)
    until = time.monotonic() + seconds

    def work(index: int) -> None:
        person = people[index]
        held = person.get("held")
        if not held:
            return
        connection = http.client.HTTPConnection("127.0.0.1", server[0], timeout=30)
        headers = {
            "Content-Type": "application/json",
            "Cookie": person["cookie"],
            "X-CSRFToken": person["csrf"],
        }
        envelope = {key: held[key] for key in ("type", "variant", "version", "base")}
        revision = held.get("draft_revision", 0) or 0
        while time.monotonic() < until:
            body = {"revision": revision, "response": envelope | {"data": {"label": "extraction"}}}
            connection.request("PUT", f"/api/assignments/{held['id']}/draft/", json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                side.errors.append(f"a draft: {answer.status} {text[:200]!r}")
                return
            revision = json.loads(text)["revision"]
            counts[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(people))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if side.errors or not sum(counts):
        raise SystemExit(f"no drafts: {side.errors[:1]}")
    return (_cpu(server[1]) + _cpu(postmaster) - before) / sum(counts)


def _submitted(database: Any) -> int:
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM annotation_annotation")
        return int(cursor.fetchone()[0])


def _size(database: Any) -> int:
    with database.cursor() as cursor:
        cursor.execute("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'")
        return int(cursor.fetchone()[0])


def _memory(pid: int) -> int:
    """Bytes of a process and its children, shared pages shared out (Linux)."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            if pid in (parent, int(status.parent.name)):
                rollup = (status.parent / "smaps_rollup").read_text()
                total += int(rollup.partition("\nPss:")[2].split()[0]) * 1024
        except OSError:
            continue
    return total


if __name__ == "__main__":
    sys.exit(main())
