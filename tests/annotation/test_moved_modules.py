"""What was stored under the former name of a module: jobs in the queue, and sessions in cookies."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY
from django.test import Client
from django.urls import reverse
from django_tasks_db.models import DBTaskResult, get_date_max

from annotation.access.session_user import FORMER_BACKEND
from annotation.background import jobs
from annotation.models import Job
from tests.annotation.cast import NOON, World, make_world

MIGRATION: Any = import_module("annotation.migrations.0054_moved_job_task")


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_a_job_that_was_queued_before_a_move_runs_after_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(jobs.KINDS, "counted", lambda job, progress: {"number": job.ids["number"]})
    job = jobs.enqueue(project=world.project, kind="counted", ids={"number": 3}, by=world.mara, now=NOON)
    arguments = {"args": [job.pk], "kwargs": {}}
    queued = DBTaskResult.objects.create(
        task_path=MIGRATION.BEFORE, args_kwargs=arguments, backend_name="default", run_after=get_date_max()
    )

    MIGRATION.rename(apps, None)

    queued.refresh_from_db()
    queued.task.func(*queued.args_kwargs["args"])
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, {"number": 3})


def test_whoever_was_signed_in_before_a_move_stays_signed_in(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    session = client.session
    session[BACKEND_SESSION_KEY] = FORMER_BACKEND
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)

    assert client.get(reverse("home")).status_code == 200
    assert client.session[BACKEND_SESSION_KEY] == settings.AUTHENTICATION_BACKENDS[0]
