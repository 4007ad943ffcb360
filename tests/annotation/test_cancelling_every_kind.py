"""Cancel, for every kind of job that reads files: at each step it ends the job there, and no row of it stays."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.background import jobs, sandbox, uploads
from annotation.imports import example_import, file_preview, label_import, response_import
from annotation.imports.field_mapping import ImportMapping
from annotation.models import Batch, Job, Person, Project, StoredTable, Upload
from annotation.quality import gold_files
from annotation.releases import restoration
from tableqa.data.typed_json import to_json
from tableqa.readers.worker_process import task_named
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_restoring import OLD, empty_project
from tests.annotation.test_transfer import annotation, choice, task
from tests.attacks import stored_values

pytestmark = pytest.mark.both

TABLE = {"header": ["Name"], "rows": [["Ann"]]}


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    world = make_world(tmp_path)
    world.batch(name="labelled", only=["nu-0", "nu-1"])
    empty_project()
    return world


@pytest.fixture(autouse=True)
def in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs wait until a test runs them, in this process, and look after each step whether they are cancelled."""
    monkeypatch.setattr(jobs, "_queue", lambda job: None)
    monkeypatch.delitem(stored_values.FIELDS, "StoredTable")
    monkeypatch.setattr(jobs, "BEAT", 0.0)

    def read(
        request: Any, beat: Callable[[int], None], *, name: str, task: str = "read_all", **limits: Any
    ) -> Any:
        read = task_named(task)(request, beat)
        beat(1)
        return read

    monkeypatch.setattr(sandbox, "read", read)
    monkeypatch.setattr(
        sandbox, "call", lambda task, *given, **more: to_json(read(*given, task=task, **more))
    )


def kept(world: World, name: str, text: str) -> Upload:
    file = SimpleUploadedFile(name, text.encode())
    return uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)


def of_batch(world: World, name: str, text: str) -> dict[str, Any]:
    batch = Batch.objects.select_related("project").get(name="labelled")
    return {"batch": batch, "upload": kept(world, name, text), "by": world.mara, "now": NOON}


def questions(world: World) -> Upload:
    lines = ({"id": str(n), "question": f"who {n}?", "answers": ["Ann"], "table": TABLE} for n in range(3))
    return kept(world, "q.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


def examples(world: World, **more: Any) -> Job:
    given: dict[str, Any] = {"project": world.project, "reader": "jsonl", "questions": questions(world)}
    return example_import.start_import(**given, tables=None, by=world.mara, now=NOON, **more)


def check(world: World) -> Job:
    return examples(world, only_check=True)


def preview(world: World) -> Job:
    return file_preview.start(questions=questions(world), tables=None, by=world.mara, now=NOON)


def labels(world: World, **more: Any) -> Job:
    text = "example,annotator,label\nnu-0,Xenia,extraction\nnu-1,Yuri,reasoning\n"
    return label_import.start(**of_batch(world, "labels.csv", text), **more)


def gold(world: World, **more: Any) -> Job:
    return gold_files.start(
        **of_batch(world, "gold.csv", "example,label\nnu-2,extraction\nnu-3,reasoning\n"), **more
    )


def of_other_tool(world: World, **more: Any) -> Job:
    people = [annotation(who, choice("why", "ok")) for who in ("a@x.org", "b@x.org")]
    upload = kept(world, "export.json", json.dumps([task(number, *people) for number in (1, 2)]))
    given: dict[str, Any] = {"project": world.project, "upload": upload, "tool": "label_studio"}
    return response_import.start(**given, mapping=ImportMapping(), by=world.mara, now=NOON, **more)


def restore(world: World) -> Job:
    project = Project.objects.exclude(pk=world.project.pk).get()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(shutil.make_archive(f"{folder}/v1", "zip", OLD)).read_bytes()
    file = SimpleUploadedFile("v1.zip", archive)
    upload = uploads.keep(project=project, file=file, by=world.mara, now=NOON)
    return restoration.start_restore(project=project, upload=upload, by=world.mara, now=NOON)


STARTS: dict[str, Callable[[World], Job]] = {
    "import": examples,
    "check": check,
    "import_labels": labels,
    "import_responses": of_other_tool,
    "import_gold": gold,
    "restore": restore,
    "preview": preview,
    "preview_labels": lambda world: labels(world, only_look=True),
    "preview_responses": lambda world: of_other_tool(world, only_look=True),
    "preview_gold": lambda world: gold(world, only_look=True),
}


def by_page(job: Job, person: Person) -> None:
    client = Client()
    client.force_login(person)
    client.post(reverse("job_cancel", args=[job.public_id]))


def by_api(job: Job, person: Person) -> None:
    client = Client()
    client.force_login(person)
    client.post(reverse("api_job_cancel", args=[job.public_id]))


def by_command(job: Job, person: Person) -> None:
    call_command("cancel_job", job.public_id, stdout=StringIO())


WAYS = (by_page, by_api, by_command)


def rows() -> dict[str, Any]:
    """How many rows of each kind there are, and what is in them; without jobs and the files that they were sent.

    All sources share tables by their content. One that no example has is seen by nobody, and may stay.
    """
    models = [
        one for one in apps.get_app_config("annotation").get_models() if one not in (Job, Upload, StoredTable)
    ]
    return {one.__name__: one._default_manager.count() for one in models} | {"values": stored_values.digest()}


def cancelled_by_others(job: Job, person: Person, way: Callable[[Job, Person], None]) -> None:
    """Cancel through another connection, as a web process does."""

    def act() -> None:
        try:
            way(job, person)
        finally:
            connection.close()

    thread = threading.Thread(target=act)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


def test_each_kind_is_here() -> None:
    assert {*STARTS} - {"check"} == set(jobs.OF_FILES)


def test_jobs_that_wait_are_cancelled_on_the_page_by_api_and_by_command(world: World) -> None:
    manager = Person.objects.create_superuser("Root", "root@example.org", "tilted tables")
    for start, way in itertools.product(STARTS.values(), WAYS):
        job = start(world)
        before = rows()

        way(job, manager)

        job.refresh_from_db()
        assert (job.state, job.error) == ("failed", "This job was cancelled.")
        assert jobs.run(job.pk) == "not queued"
        assert rows() == before


@pytest.mark.parametrize("kind", STARTS)
def test_a_job_that_runs_is_cancelled_at_its_steps(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It ends at the step at which it is cancelled. Of the steps of a restoration, which are alike, a third is tried.

    SQLite has one writer: nobody cancels within a transaction.
    """
    manager = Person.objects.create_superuser("Root", "root@example.org", "tilted tables")
    steps: list[str] = []
    cancel_at, job = 0, Job()

    real = jobs.Progress.__call__

    def told(self: Any, done: int, total: int) -> None:
        if connection.vendor != "sqlite" or not connection.in_atomic_block:
            steps.append(f"{done} of {total}")
            if len(steps) == cancel_at + 1:
                cancelled_by_others(job, manager, WAYS[cancel_at % len(WAYS)])
        real(self, done, total)

    monkeypatch.setattr(jobs.Progress, "__call__", told)

    ended = ""
    while ended != "done":
        job = STARTS[kind](world)
        before = rows()
        steps.clear()
        ended = jobs.run(job.pk)
        job.refresh_from_db()
        if ended != "done":
            assert (ended, job.state, job.error) == ("cancelled", "failed", "This job was cancelled.")
            assert len(steps) == cancel_at + 1, "it went on after it was cancelled"
            assert rows() == before, f"cancelled at {steps[-1]} {cancel_at}"
            cancel_at += 1 if kind != "restore" else 1 + cancel_at // 4

    assert cancel_at >= 1
