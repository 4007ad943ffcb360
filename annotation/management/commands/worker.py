import logging
import threading
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.urls import set_script_prefix
from django.utils import timezone
from django.utils.crypto import get_random_string
from django_tasks_db.management.commands.db_worker import Worker
from prometheus_client import start_http_server

from annotation.accounts import notices
from annotation.assistance import model_queries, prediction_jobs, proposals
from annotation.background import jobs, staged_pages
from annotation.explorer import index
from annotation.management import prometheus
from annotation.management.commands._escaping import BaseCommand
from annotation.management.commands.migrate import require_compatible_database
from annotation.platform.database import limits
from annotation.study_file import preregistration
from annotation.workflow import automatic_decisions, deletion

log = logging.getLogger(__name__)

KNOWN = (automatic_decisions, model_queries, index, prediction_jobs, proposals)
"""Loaded here for the kinds of jobs that they register and no page does."""
EVERY = 2.0
"""Seconds between checks for items to resolve and for jobs of lost workers."""
LOOK = 30.0
"""Seconds between checks for orphaned slots."""
SLOWER = 1.0
"""Minimum seconds between checks of each thread for jobs that wait for models or files; a page waits for previews."""
AWAY = (OperationalError, InterfaceError)
"""Raised if the database does not respond or has closed the connection."""
ANSWER = 30.0
"""Statement timeout in seconds for queue checks and housekeeping."""
PATIENCE = 3.0
"""Seconds after SIGTERM for jobs that wait for models."""


class Command(BaseCommand):
    help = (
        "Run background jobs, resolve complete items, and recover jobs of lost workers. You can "
        "run several workers."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--interval", type=float, default=0.5, help="seconds between queue checks")
        parser.add_argument(
            "--metrics",
            type=_address,
            metavar="HOST:PORT",
            help="address for Prometheus metrics, for example 127.0.0.1:9134",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        limits.use(limits.WORKER)
        with suppress(*AWAY):  # it waits for the database then
            require_compatible_database()
        if options["metrics"]:
            _show_figures(*options["metrics"])
        stop = threading.Event()
        keeper = threading.Thread(target=_run_housekeeping, args=(stop,), name="housekeeping", daemon=True)
        keeper.start()
        threads = [WorkerThread(queue, options["interval"]) for queue in Counter(jobs.THREADS).elements()]
        for thread in threads:
            thread.start()
        try:
            _take_jobs(options["interval"])
        finally:
            stop.set()
            _stop_threads(threads)
            keeper.join(10)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ArgumentTypeError(f"{text!r} must be HOST:PORT")
    return host.strip("[]"), int(port)


def _show_figures(host: str, port: int) -> None:
    """What this process counts: questions to models. What is in the database, the web processes tell."""
    prometheus.listen()
    start_http_server(port, host)


class WorkerThread(threading.Thread):
    """Run the jobs of one queue in order until stopped. Daemonic: a job that blocks does not keep the process alive."""

    def __init__(self, queue: str, interval: float) -> None:
        super().__init__(name=f"jobs of {queue}", daemon=True)
        self.worker = Worker(
            queue_names=[queue],
            interval=interval if queue == jobs.PREVIEWS else max(interval, SLOWER),
            batch=False,
            backend_name="default",
            startup_delay=True,
            max_tasks=None,
            worker_id=get_random_string(32),
            excluded_queue_names=[],
        )

    def run(self) -> None:
        # What goes before every link is kept for each thread.
        set_script_prefix(settings.FORCE_SCRIPT_NAME or "/")
        while self.worker.running:
            try:
                with limits.at_most(ANSWER):
                    self.worker.run()
            except AWAY:
                log.warning("%s wait for the database", self.name, exc_info=True)
                connection.close()
                time.sleep(EVERY)
        connection.close()

    def stop(self) -> None:
        """Take no further job."""
        self.worker.running = False


def _stop_threads(threads: Sequence[WorkerThread]) -> None:
    """Wait a moment for what these are at. What takes longer is queued again: it is safe to run twice."""
    for thread in threads:
        thread.stop()
    until = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    try:
        jobs.requeue_running(now=jobs.clock())
    except AWAY:
        log.warning("running jobs could not be requeued; another worker recovers them", exc_info=True)


def _take_jobs(interval: float) -> None:
    """Until a signal says stop. A database that is away, or busy for too long, is tried again."""
    while True:
        try:
            with limits.at_most(ANSWER):
                call_command("db_worker", interval=interval, reload=False, queue_name="default")
            return
        except AWAY:
            log.warning("the queue waits for the database", exc_info=True)
            connection.close()
            time.sleep(EVERY)


def _run_housekeeping(stop: threading.Event) -> None:
    """Run scheduled tasks, even if others fail. Retries if the database is away."""
    look = time.monotonic()
    set_script_prefix(settings.FORCE_SCRIPT_NAME or "/")
    while not stop.wait(EVERY):
        close_old_connections()
        tasks: list[Callable[[], object]] = [
            lambda: jobs.keep_alive(now=jobs.clock()),
            lambda: jobs.reap(now=jobs.clock()),
            lambda: automatic_decisions.resolve_due(now=timezone.now()),
            lambda: prediction_jobs.retry_unanswered(now=timezone.now()),
            staged_pages.clear_abandoned,
        ]
        if time.monotonic() >= look:
            tasks += [
                lambda: automatic_decisions.resolve_orphaned(now=timezone.now()),
                lambda: deletion.delete_expired(now=timezone.now()),
                lambda: preregistration.freeze_started(now=timezone.now()),
                lambda: notices.collect(now=timezone.now()),
                lambda: notices.mail(now=timezone.now()),
            ]
            look = time.monotonic() + LOOK
        for task in tasks:
            try:
                task()
            except AWAY:
                log.warning("housekeeping waits for the database", exc_info=True)
                break
            except Exception:
                log.exception("housekeeping failed; it will run again")
    connection.close()
