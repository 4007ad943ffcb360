"""Background work on Celery, for sites that run it: TASKS_BACKEND=config.on_celery.Backend, and requirements-celery.txt.

    .venv/bin/celery -A config.on_celery worker --queues default --concurrency 1
    .venv/bin/celery -A config.on_celery worker --queues loop --concurrency 2
    .venv/bin/celery -A config.on_celery worker --queues models --concurrency 1
    ./run manage worker --housekeeping          (once or more: what happens in time, and jobs whose worker was lost)

The database stays the truth: a message says only which job, a Job row says how it stands, and whoever takes it first has it.
So a message that is lost, doubled or late does no harm, and nothing of Redis has to survive.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
from typing import Any

from celery import Celery
from celery.signals import worker_process_init
from django.conf import settings
from django.db import DatabaseError, connection
from django.urls import set_script_prefix
from django.utils import timezone
from django.utils.crypto import get_random_string
from kombu.exceptions import OperationalError

from annotation.database import limits
from annotation.tasks_api import BaseTaskBackend, InvalidTaskError, TaskResult, TaskResultStatus

# Nothing of the application is loaded above: it loads this module while it is still being loaded itself. In a Celery
# worker it is Celery that sets Django up.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

log = logging.getLogger(__name__)

app = Celery("askew", broker=settings.CELERY_BROKER_URL)
app.conf.update(
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,  # a job may take an hour: none waits behind it in one worker's hand
    worker_hijack_root_logger=False,  # the log is the settings'
    worker_redirect_stdouts=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"socket_timeout": 5, "socket_connect_timeout": 2},
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.1},
)


@functools.cache
def tasks() -> dict[str, Any]:
    """All that a message may ask for. Whoever can write to Redis starts these and nothing else."""
    # The pages and the worker know all kinds of jobs.
    from annotation import jobs, urls  # noqa: F401
    from annotation.management.commands import worker  # noqa: F401
    from annotation.people.accounts import send_reset

    return {task.module_path: task for task in (jobs.run_job, send_reset)}


@app.task(name="askew.run")
def run(path: str, arguments: list[Any]) -> None:
    """Do one task; what a Celery worker calls."""
    set_script_prefix(settings.FORCE_SCRIPT_NAME or "/")
    tasks()[path].func(*arguments)


class Backend(BaseTaskBackend):
    """Django's tasks, handed to Celery."""

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> TaskResult[Any, Any]:
        """Send the message. Where the broker is away that is logged; housekeeping queues such a job again."""
        self.validate_task(task)
        if task.module_path not in tasks() or kwargs:
            raise InvalidTaskError(f"{task.module_path} is not a Celery task.")
        result: TaskResult[Any, Any] = TaskResult(
            task=task,
            id=get_random_string(32),
            status=TaskResultStatus.READY,
            enqueued_at=timezone.now(),
            started_at=None,
            last_attempted_at=None,
            finished_at=None,
            args=list(args),
            kwargs={},
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )
        message = [task.module_path, list(args)]
        try:
            run.apply_async(args=message, queue=task.queue_name, task_id=result.id)
        except OperationalError:
            log.exception("the broker accepts no messages; %s stays queued", task.module_path)
        return result


@worker_process_init.connect
def _keep_alive(**_: Any) -> None:
    """In each process of a Celery worker: say that its jobs are being worked at, also while a model thinks."""
    limits.use(limits.WORKER)
    threading.Thread(target=_say_so, name="heartbeats", daemon=True).start()


def _say_so() -> None:
    from annotation import jobs
    from annotation.management.commands import worker

    pause = threading.Event()
    while not pause.wait(worker.EVERY):
        try:
            jobs.keep_alive(now=jobs.clock())
        except DatabaseError:
            log.warning("heartbeats wait for the database", exc_info=True)
            connection.close()
