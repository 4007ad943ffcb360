"""Jobs that read files: they have a queue of their own, projects take turns, and a person can cancel them."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.background import jobs, sandbox, uploads
from annotation.imports import example_import
from annotation.models import Job, Project, Source, Upload
from annotation.platform import bulk_rows
from annotation.platform.refusals import ActionRefused
from annotation.workflow import projects
from tests.annotation.cast import NOON, World, make_world

LINES = "".join(
    f'{{"id": "{number}", "question": "who won?", "answers": ["Ann"], "table": {{"header": ["Name"], "rows": [["Ann"]]}}}}\n'
    for number in range(3)
)


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture(autouse=True)
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs wait until a test runs them."""
    monkeypatch.setattr(jobs, "_queue", lambda job: None)


def begun(world: World, project: Project | None = None) -> Job:
    """An import that waits."""
    file = SimpleUploadedFile("q.jsonl", LINES.encode())
    sent = uploads.keep(project=project or world.project, file=file, by=world.mara, now=NOON)
    return example_import.start_import(
        project=project or world.project, reader="jsonl", questions=sent, tables=None, by=world.mara, now=NOON
    )


def state(job: Job) -> tuple[str, str]:
    job.refresh_from_db()
    return job.state, str(job.error)


def nothing_is_left(job: Job) -> bool:
    (sent,) = Upload.objects.all()
    return not Source.objects.filter(name="q").exists() and not Path(sent.file.path).exists()


def test_an_import_that_waits_is_cancelled_with_its_files(world: World) -> None:
    job = begun(world)

    jobs.cancel(job)

    assert state(job) == ("failed", "This job was cancelled.")
    assert jobs.run(job.pk) == "not queued"
    assert nothing_is_left(job)


@pytest.mark.parametrize("only_check", [False, True])
def test_an_import_that_is_read_is_cancelled(
    world: World, monkeypatch: pytest.MonkeyPatch, only_check: bool
) -> None:
    job = begun(world)
    Job.objects.filter(pk=job.pk).update(ids={**job.ids, **({"only_check": True} if only_check else {})})

    def read(request: Any, beat: Callable[[int], None], *, name: str) -> Any:
        jobs.cancel(job)
        beat(1)

    monkeypatch.setattr(sandbox, "read", read)

    assert jobs.run(job.pk) == "cancelled"

    assert state(job)[0] == "failed"
    assert not Source.objects.filter(name="q").exists()


def test_an_import_that_is_written_is_cancelled_and_nothing_of_it_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = begun(world)
    write = bulk_rows.insert

    def insert(*args: Any, **more: Any) -> None:
        write(*args, **more)
        jobs.cancel(job)

    monkeypatch.setattr(bulk_rows, "insert", insert)

    assert jobs.run(job.pk) == "cancelled"
    assert nothing_is_left(job)


def test_an_import_that_is_whole_cannot_be_cancelled(world: World) -> None:
    job = begun(world)
    assert jobs.run(job.pk) == "done"

    with pytest.raises(ActionRefused, match="cannot be cancelled any more"):
        jobs.cancel(job)

    assert state(job)[0] == "done"
    assert Source.objects.get(name="q").examples_count == 3


def test_a_decision_cannot_be_cancelled(world: World) -> None:
    job = jobs.enqueue(project=world.project, kind="resolve", ids={}, by=None, now=NOON)

    with pytest.raises(ActionRefused):
        jobs.cancel(job)


@pytest.mark.parametrize("by", ["page", "interface", "command"])
def test_cancel_is_on_the_page_in_the_interface_and_a_command(world: World, client: Client, by: str) -> None:
    job = begun(world)
    client.force_login(world.mara)
    page = client.get(reverse("job", args=[job.public_id])).content.decode()
    address = reverse("job_cancel", args=[job.public_id])
    assert f'action="{address}"' in page

    if by == "page":
        client.post(address)
    elif by == "interface":
        client.post(reverse("api_job_cancel", args=[job.public_id]))
    else:
        call_command("cancel_job", job.public_id, stdout=StringIO())

    assert state(job)[0] == "failed"
    page = client.get(reverse("job", args=[job.public_id])).content.decode()
    assert "This job was cancelled." in page
    assert address not in page


def test_projects_take_turns(world: World) -> None:
    other = projects.create_project(slug="other", name="Other", manager=world.mara, now=NOON)
    many = [begun(world) for _ in range(3)]
    one = begun(world, other)
    turns: list[int] = []

    for job in [*many, one]:  # as they were queued
        turns.append(jobs._next_in_turn(job))
        Job.objects.filter(pk=turns[-1]).update(state="done", attempts=1)

    assert turns == [many[0].pk, one.pk, many[1].pk, many[2].pk]


def test_two_workers_that_choose_the_same_job_leave_no_other_in_the_queue(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = begun(world), begun(world)
    whose_turn = jobs._next_in_turn

    def chosen(job: Job) -> int:
        turn = whose_turn(job)
        if turn == first.pk:  # at this moment the other worker takes it
            Job.objects.filter(pk=first.pk).update(state="running", attempts=1)
        return turn

    monkeypatch.setattr(jobs, "_next_in_turn", chosen)
    jobs.run_job.call(first.pk)

    assert state(second)[0] in ("done", "failed"), "nobody else would come for it"


def test_jobs_that_read_files_have_a_queue_of_their_own() -> None:
    assert {jobs.QUEUE_OF[kind] for kind in jobs.OF_IMPORTS} == {"imports"}
    assert {jobs.QUEUE_OF[kind] for kind in jobs.OF_PREVIEWS} == {"previews"}
    assert set(jobs.OF_FILES) <= set(jobs.KINDS)
    assert (jobs.THREADS["imports"], jobs.THREADS["previews"]) == (1, 1)
    assert "resolve" not in jobs.QUEUE_OF
