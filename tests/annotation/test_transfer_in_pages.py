"""Responses of other tools are written in pages that nobody sees, and leave nothing where an import does not end."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.access import authorization
from annotation.background import jobs, staged_pages, uploads
from annotation.imports import response_import
from annotation.imports.field_mapping import ImportMapping
from annotation.imports.label_import import checks
from annotation.management.doctor import findings
from annotation.models import Annotation, Batch, Example, Job, Project, Proposal, Source, StoredTable
from annotation.platform.refusals import ActionRefused
from annotation.workflow import task_types
from tests.annotation.cast import NOON, World
from tests.annotation.test_defining import DEFINITION
from tests.annotation.test_restoring_pages import ProcessKilled, rows
from tests.annotation.test_transfer import annotation, choice, label_studio, look, task, write

pytestmark = pytest.mark.both
PEOPLE = ("xenia@example.org", "yuri@example.org")


def tasks(number: int, label: str = "label") -> list[dict[str, Any]]:
    """Tasks with a response of each person, and a prediction of a model."""
    said = [annotation(person, choice(label, "extraction")) for person in PEOPLE]
    predicted = {"model_version": "m1", "score": 0.5, "result": [choice(label, "reasoning")]}
    return [{**task(at, *said), "predictions": [predicted]} for at in range(1, number + 1)]


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staged_pages, "ROWS", 2)
    monkeypatch.setattr(staged_pages, "CLEARING", math.inf)
    monkeypatch.setattr(jobs, "_queue", lambda job: None)


@pytest.fixture(params=["label", "of_film"])
def job(request: pytest.FixtureRequest, world: World) -> Job:
    """An import of six tasks: of an installed task type, or of one that is made from the file."""
    return start(world, tasks(6, request.param))


def start(
    world: World,
    described: list[dict[str, Any]],
    mapping: ImportMapping = ImportMapping(),  # noqa: B008
    **more: Any,
) -> Job:
    file = SimpleUploadedFile("export.json", json.dumps(described).encode())
    upload = uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)
    return response_import.start(
        project=world.project,
        upload=upload,
        tool="label_studio",
        mapping=mapping,
        by=world.mara,
        now=timezone.now(),
        **more,
    )


def kill() -> None:
    raise ProcessKilled


def before_page(number: int, act: Callable[[], object]) -> Any:
    """Let `act` happen in the transaction of the page with this number, and do nothing in those behind it."""
    count = 0
    renew = staged_pages.HiddenPages.renew

    def counted(self: staged_pages.HiddenPages) -> None:
        nonlocal count
        renew(self)
        count += 1
        if count == number:
            act()

    return patch.object(staged_pages.HiddenPages, "renew", counted)


def run_killed(job: Job, at: int) -> None:
    """Run the job until its process is killed in this page."""
    dead = patch.object(staged_pages.HiddenPages, "abandon")
    with before_page(at, kill), dead, pytest.raises(ProcessKilled):
        jobs.run(job.pk)


PAGES = 3 + 1 + 3 + 3 + 6 + 1
"""Those of examples, of the batch, of items, of proposals and of responses, and what makes them visible."""


@pytest.mark.parametrize("at", [1, 4, 6, 9, PAGES - 1, PAGES])
def test_a_killed_import_is_seen_by_nobody_and_then_cleared(
    job: Job, world: World, client: Client, at: int
) -> None:
    before, batches = rows(), Batch.objects.count()
    run_killed(job, at)

    client.force_login(world.mara)
    (hidden,) = Project.objects.exclude(pk=world.project.pk)
    assert client.get(reverse("project", args=[hidden.slug])).status_code == 404
    assert hidden not in authorization.projects(authorization.Actor(world.mara))
    assert list(world.project.sources.all()) == [world.source]
    assert (world.project.batches.count(), task_types.newest(world.project)) == (batches, {})
    assert world.project.events.count() == before["Event"]
    assert not Annotation.objects.exists()
    assert not Source.objects.ready().exclude(pk=world.source.pk).exists()

    jobs.cancel(job)
    staged_pages.clear_abandoned()
    assert Project.objects.filter(pk=hidden.pk).exists()  # its process may live
    Project.objects.filter(pk=hidden.pk).update(restoring_at=jobs.clock() - 2 * jobs.LOST_AFTER)
    staged_pages.clear_abandoned()
    assert rows() == before


@pytest.mark.parametrize("at", [4, PAGES - 1, PAGES])
def test_an_import_whose_worker_was_killed_is_done_anew_and_once(job: Job, world: World, at: int) -> None:
    run_killed(job, at)
    assert jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER) == 1

    assert jobs.run(job.pk) == "done", Job.objects.get(pk=job.pk).error

    assert (Annotation.objects.count(), Proposal.objects.count()) == (12, 6)
    assert [batch.state for batch in world.project.batches.all()] == ["closed"]
    assert world.project.sources.ready().count() == 2
    assert list(Project.objects.all()) == [world.project]
    assert list(findings()) == []


def test_a_worker_that_was_taken_for_lost_writes_no_further_page(job: Job, world: World) -> None:
    def begin_anew() -> None:
        jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER)
        assert jobs.run(job.pk) == "done"

    with before_page(9, begin_anew):
        jobs.run(job.pk)

    assert (Annotation.objects.count(), Proposal.objects.count()) == (12, 6)
    assert list(Project.objects.all()) == [world.project]
    assert list(findings()) == []


@pytest.mark.parametrize("at", [1, 6, PAGES - 1])
def test_a_cancelled_import_leaves_nothing(job: Job, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    before = rows()
    monkeypatch.setattr(jobs, "BEAT", 0)

    with before_page(at, lambda: jobs.cancel(job)):
        assert jobs.run(job.pk) == "cancelled"

    assert rows() == before


def test_an_import_that_is_cancelled_while_it_waits_for_another_attempt_leaves_nothing(job: Job) -> None:
    before = rows()
    run_killed(job, 9)
    jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER)
    job.refresh_from_db()

    jobs.cancel(job)

    assert rows() == before


def test_progress_grows_with_every_page_and_ends_with_what_makes_them_visible(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(jobs.Progress, "__call__", lambda self, *numbers: told.append(numbers))

    jobs.run(job.pk)

    written = [
        done for done, total in told if total
    ]  # while the file is read, which may take no time, the total is 0
    assert {total for _, total in told if total} == {12}
    assert written == sorted(written)
    assert len(set(written)) > 8
    assert (written.count(12), written[-1]) == (1, 12)


def test_what_makes_pages_visible_has_as_many_statements_for_any_number_of_responses(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers: list[int] = []
    publish = response_import._Import._publish

    def counted(self: Any, *written: Any) -> None:
        with CaptureQueriesContext(connection) as statements:
            publish(self, *written)
        numbers.append(len(statements))

    monkeypatch.setattr(response_import._Import, "_publish", counted)
    for number in (1, 3, 20):  # the people are in the project after the first
        jobs.run(
            start(world, tasks(number), mapping=ImportMapping(source=f"s{number}", batch=f"b{number}")).pk
        )

    assert numbers[1] == numbers[2]
    assert Annotation.objects.count() == 48


def test_a_preview_of_all_responses_leaves_nothing(world: World, tmp_path: Path) -> None:
    before = rows()

    tables = set(StoredTable.objects.values_list("digest", flat=True))

    preview = look(world, label_studio(tmp_path, *tasks(6, "of_film")))

    assert (preview.imported, preview.items, preview.proposals, preview.problems) == (12, 6, 6, [])
    assert rows() == before
    assert set(StoredTable.objects.values_list("digest", flat=True)) == tables


def test_a_preview_whose_worker_was_killed_leaves_nothing(world: World) -> None:
    job = start(world, tasks(6), only_look=True)
    before, tables = rows(), StoredTable.objects.count()

    run_killed(job, 9)
    assert StoredTable.objects.count() == tables + 1
    jobs.cancel(job)
    Project.objects.exclude(pk=world.project.pk).update(restoring_at=jobs.clock() - 2 * jobs.LOST_AFTER)
    staged_pages.clear_abandoned()

    assert rows() == before
    assert StoredTable.objects.count() == tables


def test_a_task_type_that_changes_meanwhile_is_refused(world: World, tmp_path: Path) -> None:
    write(world, label_studio(tmp_path, *tasks(1, "of_film")), source="first", batch="first")
    (defined,) = task_types.newest(world.project).values()
    changed = {**defined.data, "title": "Another title"}
    before = rows()

    def change() -> None:
        task_types.define(project=world.project, name=defined.name, data=changed, by=world.mara, now=NOON)

    described = label_studio(tmp_path, *tasks(6, "of_film"))
    with before_page(9, change), pytest.raises(ActionRefused, match="changed during the import"):
        write(world, described, source="second", batch="second", task_type=defined.name)

    assert rows()["Annotation"] == before["Annotation"]
    assert rows()["Project"] == 1
    assert list(findings()) == []


def test_a_batch_or_source_of_the_name_that_appears_meanwhile_is_kept(world: World, tmp_path: Path) -> None:
    described = label_studio(tmp_path, *tasks(6))

    with (
        before_page(9, lambda: world.batch(name="taken")),
        pytest.raises(ActionRefused, match="already has a batch"),
    ):
        write(world, described, batch="taken")

    assert [batch.name for batch in Batch.objects.all()] == ["taken"]
    assert not Annotation.objects.exists()
    assert list(Project.objects.all()) == [world.project]


def test_a_preview_writes_no_examples_without_responses(world: World, tmp_path: Path) -> None:
    answered = [task(number, annotation("xenia", choice("why", "ok"))) for number in (3, 5)]
    path = label_studio(tmp_path, *(task(n) for n in (1, 2)), answered[0], task(4), answered[1], task(6))
    questions: list[str] = []

    def check(**more: Any) -> Any:
        examples = Example.objects.filter(source__name="export").order_by("position")
        questions[:] = examples.values_list("question", flat=True)
        return checks.check(**more)

    with patch.object(response_import, "checks", SimpleNamespace(check=check)):
        preview = look(world, path)
        assert (preview.imported, preview.items, preview.problems) == (2, 2, [])
        assert questions == ["when (3)?", "when (5)?"]

        assert write(world, path).imported == 2
        assert questions == [f"when ({number})?" for number in range(1, 7)]


def test_an_import_replaces_no_task_type_that_was_made_meanwhile(world: World) -> None:
    job = start(world, tasks(6, "of_film"))
    define = partial(task_types.define, project=world.project, name="export", data=DEFINITION)
    with before_page(5, lambda: define(by=world.mara, now=NOON)):
        assert jobs.run(job.pk) == "failed"

    assert "task type" in Job.objects.get(pk=job.pk).error
    assert task_types.newest(world.project)["export"].data["title"] == DEFINITION["title"]
    assert not Annotation.objects.exists()
