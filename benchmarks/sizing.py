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
from typing import Any

from benchmarks.figures import keep
from benchmarks.loop import ITEMS, Side, _cpu, _memory, _postgres, _side

PACE, DRAFTS, LOADED = 10.0, 3, 0.6
MEMORY, CPU = 300, 5.0
"""Megabytes that web server and database may take together, and milliseconds of CPU that an item may cost the web server."""


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="./run bench sizing")
    parser.add_argument("--people", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8)
    parser.set_defaults(overlap=1)
    options = parser.parse_args()
    import psycopg2

    with ExitStack() as stack:
        server = _postgres(stack)
        side = _side(stack, server, "askew", options, ITEMS)
        database = psycopg2.connect(host=server.url.partition("host=")[2], user="postgres", dbname="postgres")
        stack.callback(database.close)
        database.autocommit = True
        side.run(options.seconds / 4)  # connections, caches and templates are warm afterwards
        submitted, size = _submitted(database), _size(database)
        web, sql = _cpu(side.pid), server.cpu()
        side.run(options.seconds)
        if side.errors:
            print(side.errors[0], file=sys.stderr)
            return 1
        many = _submitted(database) - submitted
        web, sql = 1000 * (_cpu(side.pid) - web) / many, 1000 * (server.cpu() - sql) / many
        grown = (_size(database) - size) / many
        draft = 1000 * _draft(side, server.pid, options.seconds / 2)
        carried = LOADED * PACE * 1000 / (web + sql + DRAFTS * draft)
        memory = side.memory(), _memory(server.pid)
    print(f"items submitted            {many}")
    print(f"CPU of web for an item     {web:6.2f} ms   (submit, and the next item)")
    print(f"CPU of PostgreSQL          {sql:6.2f} ms")
    print(f"CPU of both for a draft    {draft:6.2f} ms")
    print(f"bytes for a response       {grown:6.0f}      (all tables and indexes, before VACUUM)")
    print(f"memory of the web server   {memory[0]:6.0f} MB   (2 workers, parent; shared pages once)")
    print(f"memory of PostgreSQL       {memory[1]:6.0f} MB   (shared_buffers 128 MB)")
    print(
        f"annotators for a core      {carried:6.0f}      "
        f"(one item in {PACE:.0f} s, {DRAFTS} drafts each, {LOADED:.0%} of the core)"
    )
    print(f"load: {os.getloadavg()[0]:.1f}")
    keep("CPU of web for an item", web, "ms", at_most=CPU)
    keep("CPU of PostgreSQL for an item", sql, "ms")
    keep("CPU of both for a draft", draft, "ms")
    keep("database for a response", grown, "bytes")
    keep("memory of web and database", sum(memory), "MB", at_most=MEMORY)
    keep("annotators for a core", carried)
    return 0


def _draft(side: Side, postmaster: int, seconds: float) -> float:
    """Seconds of CPU for one saved draft."""
    people = side.people
    counts = [0] * len(people)
    before = _cpu(side.pid) + _cpu(postmaster)
    until = time.monotonic() + seconds

    def work(index: int) -> None:
        person = people[index]
        held = person.get("held")
        if not held:
            return
        connection = http.client.HTTPConnection("127.0.0.1", side.port, timeout=30)
        headers = {
            "Content-Type": "application/json",
            "Cookie": person["cookie"],
            "X-CSRFToken": person["csrf"],
        }
        envelope = {key: held[key] for key in ("type", "variant", "version", "base")}
        revision = (held.get("draft") or {}).get("revision", 0)
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
    return (_cpu(side.pid) + _cpu(postmaster) - before) / sum(counts)


def _submitted(database: Any) -> int:
    with database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM annotation_annotation")
        return int(cursor.fetchone()[0])


def _size(database: Any) -> int:
    with database.cursor() as cursor:
        cursor.execute("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'")
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    sys.exit(main())
