from __future__ import annotations

import logging
import threading
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import OperationalError, close_old_connections, connection
from django.utils import timezone

from annotation import adjudicating, asking, jobs, predicting, proposing

log = logging.getLogger(__name__)

KNOWN = (adjudicating, asking, predicting, proposing)
"""Loaded here for the kinds of jobs that they register and no page does."""
EVERY = 2.0
"""Seconds between two looks for items to resolve and jobs whose worker was lost."""


class Command(BaseCommand):
    help = "Run background jobs, resolve complete items, and take up jobs whose worker was lost. Run as many as you like."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--interval", type=float, default=0.5, help="seconds between two looks at the queue"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        keeper = threading.Thread(target=_keep_house, args=(stop,), name="housekeeping", daemon=True)
        keeper.start()
        try:
            _take_jobs(options["interval"])
        finally:
            stop.set()
            keeper.join(10)


def _take_jobs(interval: float) -> None:
    """Until a signal says stop. A database that is away, or busy for longer than anybody waits, is tried again."""
    while True:
        try:
            call_command("db_worker", interval=interval, reload=False, queue_name="*")
            return
        except OperationalError:
            log.warning("the queue waits for the database", exc_info=True)
            connection.close()
            time.sleep(EVERY)


def _keep_house(stop: threading.Event) -> None:
    """What has to happen in time and is nobody's job; a database that is away is tried again."""
    while not stop.wait(EVERY):
        close_old_connections()
        try:
            now = timezone.now()
            adjudicating.resolve_due(now=now)
            jobs.reap(now=now)
            predicting.look_after(now=now)
        except OperationalError:
            log.warning("housekeeping waits for the database", exc_info=True)
        except Exception:
            log.exception("housekeeping failed; it goes on")
    connection.close()
