"""Budgets of language models: what a reservation costs after many requests.

    ./run bench budgets [--requests 1000000] [--rounds 300] [--databases sqlite,postgres]

The requests are written by one statement for each batch. Project and batch have budgets. Reserving and settling a request
is timed before and afterwards. The promise: at most 3 ms at the median, however many requests there are.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.figures import keep

ROOT = Path(__file__).resolve().parent.parent
PROMISED = 3.0
"""Milliseconds of a reservation at the median."""
BATCHES = 20
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {}) "
INSERT = (
    "INSERT INTO annotation_modelrequest (project_id, batch_id, purpose, predictor, model, state, prompt_tokens, "
    "completion_tokens, is_counted, prompt_price, completion_price, made_at) "
)
SELECT = "SELECT %s, %s, 'loop', 'llm', 'small', 'answered', 500, 100, true, 1, 2, CURRENT_TIMESTAMP FROM n"


def main() -> int:
    """Print a line for each database; 1 where a reservation is slower than promised."""
    parser = argparse.ArgumentParser(prog="./run bench budgets")
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--databases", default="sqlite,postgres")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return _inside(options)
    missed = 0
    for database in options.databases.split(","):
        with ExitStack() as stack:
            environment = os.environ | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "SECRET_KEY": secrets.token_urlsafe(50),
                "ASKEW_DATA_DIR": stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-budgets-")),
                "LOG_LEVEL": "ERROR",
            }
            environment.pop("DATABASE_URL", None)
            if database == "postgres":
                from tests.temp_postgres import temporary_postgres

                environment["DATABASE_URL"] = stack.enter_context(temporary_postgres())
            command = [sys.executable, "-m", "benchmarks.budgets", "--inside", *sys.argv[1:]]
            missed |= subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    print(f"load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return missed


def _inside(options: argparse.Namespace) -> int:
    """One database, in a process of its own."""
    import django
    from django.core.management import call_command

    django.setup()
    from django.db import connection

    from annotation.journeys import setting_up
    from annotation.models import Batch, ModelTotal, Person, Project

    call_command("migrate", verbosity=0)
    manager = Person.objects.create_person("Manager", "manager@example.org")
    project = setting_up.create_project(slug="budgets", name="Budgets", manager=manager, now=NOW)
    limits = {"tokens": 10**12, "usd": 10**6}
    Project.objects.filter(pk=project.pk).update(model_budget=limits)
    values = {"project": project, "task_type": "question_type", "version": 1, "seed": 0, "overlap": 1}
    values |= {"made_by": manager, "made_at": NOW}
    batches = [
        Batch.objects.create(name=f"Batch {number}", model_budget=limits, **values)
        for number in range(BATCHES)
    ]
    before = _times(batches[0], options.rounds)
    each = options.requests // BATCHES
    with connection.cursor() as cursor:
        for batch in batches:
            numbers = NUMBERS.format(each)
            sql = (
                numbers + INSERT + SELECT if connection.vendor == "postgresql" else INSERT + numbers + SELECT
            )
            cursor.execute(sql, [project.pk, batch.pk])
            total, _ = ModelTotal.objects.get_or_create(project=project, batch=batch)
            total.tokens, total.micro_usd = each * 600, each * 700
            total.save()
    after = _times(batches[0], options.rounds)
    name = f"a reservation after {options.requests:,} requests at the median, {connection.vendor}"
    figure = keep(name, statistics.median(after), "ms", at_most=PROMISED, floor=statistics.median(before))
    p95 = sorted(after)[round(0.95 * len(after)) - 1]
    print(
        f"{connection.vendor}: {options.requests:,} requests, median {statistics.median(after):.2f} ms "
        f"(without requests {statistics.median(before):.2f}), p95 {p95:.2f} ms, least {min(after):.2f} ms",
        flush=True,
    )
    return int(not figure.met)


def _times(batch: Any, rounds: int) -> list[float]:
    """Milliseconds of each reservation."""
    from annotation.work.metering import ProjectMeter
    from predictor.usage import Call

    meter = ProjectMeter(batch.project_id, batch.pk, "loop", "llm", "small", (1.0, 2.0))
    times = []
    cpu = time.process_time()
    for _ in range(rounds):
        began = time.perf_counter()
        reservation = meter.reserve(500, 512)
        times.append((time.perf_counter() - began) * 1000)
        meter.settle(reservation, Call("answered", 500, 100, True))
    print(f"  processor time of reserving and settling: {(time.process_time() - cpu) / rounds * 1000:.2f} ms")
    return times


if __name__ == "__main__":
    sys.exit(main())
