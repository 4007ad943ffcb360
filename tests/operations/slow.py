"""A kind of job for these tests: it sleeps, and writes into the file LEDGER when it begins and ends, and where."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from django.apps import AppConfig


class Slow(AppConfig):
    """Registers the kind where the application is loaded."""

    name = "tests.operations"

    def ready(self) -> None:
        from annotation.background import jobs

        if "sleep" not in jobs.KINDS:
            jobs.kind("sleep")(sleep)


def sleep(job: Any, progress: Any) -> dict[str, Any]:
    """Sleep for as long as the job says; the second attempt may take another time."""
    write(f"start {job.pk} {os.getpid()}")
    time.sleep(job.ids["seconds" if job.attempts == 1 else "seconds_again"])
    write(f"end {job.pk} {os.getpid()}")
    return {}


def write(line: str) -> None:
    """Append one line, whole, whoever else writes."""
    with Path(os.environ["LEDGER"]).open("ab", buffering=0) as ledger:
        ledger.write(f"{line}\n".encode())
