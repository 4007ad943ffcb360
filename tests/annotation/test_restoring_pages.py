"""A restore is written in pages that nobody sees, and leaves nothing where it is cancelled, refused or killed."""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.apps import apps
from django.test import Client

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.background import jobs, staged_pages
from annotation.models import Annotation, Batch, Job, Project, Source
from annotation.platform.refusals import ActionRefused
from annotation.releases import restoration, verification
from tests.annotation.cast import NOON, World
from tests.annotation.test_restoring import OLD, empty_project
from tests.annotation.test_restoring_uploads import archive, empty, kept, mara
from tests.undone import undone

__all__ = ["archive", "empty", "mara"]
# Those whose subject are the rows that a restore leaves also run on SQLite. What a file is refused for does not.
both = pytest.mark.both

STAYS = {"Job", "StoredTable", "Upload", "Session", "DBTaskResult"}
"""Tables in which a restore that ended otherwise may leave rows: tables of examples are shared."""


class ProcessKilled(BaseException):
    """As if the process ended here."""


def rows() -> dict[str, int]:
    models = (model for model in apps.get_models() if model.__name__ not in STAYS)
    return {model.__name__: model._base_manager.count() for model in models}


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staged_pages, "ROWS", 4)
    monkeypatch.setattr(staged_pages, "CLEARING", math.inf)


@pytest.fixture
def restore(empty: Project, world: World, archive: Path) -> Job:
    return restoration.start_restore(
        project=empty, upload=kept(empty, archive, world), by=world.mara, now=NOON
    )


def pages_until(number: int, act: Any) -> Any:
    """Let `act` happen before so many pages were written."""
    begun = iter(range(number))
    renew = staged_pages.HiddenPages.renew

    def counted(self: staged_pages.HiddenPages) -> None:
        if next(begun, None) is None:
            act()
        renew(self)

    return patch.object(staged_pages.HiddenPages, "renew", counted)


def number_of_pages(job: Job) -> int:
    """How many pages the restore of a job has. It is undone, and counted once: each test restores the same release."""
    if COUNTED:
        return COUNTED[0]
    count = 0

    def counting(self: Any) -> None:
        nonlocal count
        count += 1

    keep_file = patch.dict(jobs.AFTERWARDS, {"restore": lambda job: None})
    with undone(), keep_file, patch.object(staged_pages.HiddenPages, "renew", counting):
        jobs.run(job.pk)
    COUNTED.append(count)
    return count


COUNTED: list[int] = []


@both
@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_a_killed_restore_is_seen_by_nobody_and_then_cleared(
    restore: Job, empty: Project, world: World, client: Client, share: float
) -> None:
    before, pages = rows(), number_of_pages(restore)
    assert pages > 20

    def kill() -> None:
        raise ProcessKilled

    with (
        pages_until(int(pages * share), kill),
        patch.object(staged_pages.HiddenPages, "abandon"),
        pytest.raises(ProcessKilled),
    ):
        jobs.run(restore.pk)

    assert rows() != before
    client.force_login(world.mara)
    assert client.get("/projects/empty/").status_code == 404
    assert client.get(f"/jobs/{restore.public_id}/").status_code == 200
    assert empty not in authorization.projects(authorization.Actor(world.mara))
    assert empty.pk not in authorization.projects_with_permission(
        authorization.Actor(world.mara), Permission.IMPORT
    )
    assert not Source.objects.ready().filter(project=empty).exists()
    assert not Batch.objects.filter(project=empty, opened_at__isnull=False).exists()
    jobs.cancel(restore)
    staged_pages.clear_abandoned()
    assert rows() != before  # its process may live

    Project.objects.filter(pk=empty.pk).update(restoring_at=jobs.clock() - 2 * jobs.LOST_AFTER)
    staged_pages.clear_abandoned()

    assert rows() == before
    assert client.get("/projects/empty/").status_code == 200


@both
@pytest.mark.usefixtures("small_pages")
def test_a_restore_whose_worker_was_killed_is_done_anew(restore: Job, empty: Project) -> None:
    def kill() -> None:
        raise ProcessKilled

    with (
        pages_until(30, kill),
        patch.object(staged_pages.HiddenPages, "abandon"),
        pytest.raises(ProcessKilled),
    ):
        jobs.run(restore.pk)
    assert jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER) == 1

    restore.refresh_from_db()
    assert (restore.state, restore.error, restore.result["annotations"]) == ("done", "", 18)
    assert Annotation.objects.filter(assignment__batch__project=empty).count() == 18
    assert Project.objects.get(pk=empty.pk).restoring_at is None


@both
@pytest.mark.usefixtures("small_pages")
def test_a_cancelled_restore_leaves_nothing(
    restore: Job, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows()
    monkeypatch.setattr(jobs, "BEAT", 0)

    with pages_until(30, lambda: jobs.cancel(restore)):
        assert jobs.run(restore.pk) == "cancelled"

    assert rows() == before
    assert Project.objects.get(pk=empty.pk).restoring_at is None


@both
def test_a_restore_that_the_database_refuses_leaves_nothing(db: None, tmp_path: Path) -> None:
    project = empty_project()
    before = rows()
    folder = tmp_path / "changed"
    shutil.copytree(OLD, folder)
    path = folder / "annotations.jsonl"
    lines = path.read_text("utf-8").splitlines()
    lines[-1] = json.dumps({**json.loads(lines[-1]), "revision": -1})
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with patch.object(verification, "verify"), pytest.raises(ActionRefused, match="does not verify"):
        restoration.restore(project=project, folder=folder, by=None, now=NOON)

    assert rows() == before


@pytest.mark.usefixtures("small_pages")
def test_the_progress_of_a_restore_counts_records(restore: Job) -> None:
    seen: list[tuple[int, int]] = []

    def note(self: jobs.Progress, done: int, total: int) -> None:
        seen.append((done, total))

    with patch.object(jobs.Progress, "__call__", note):
        jobs.run(restore.pk)

    records = sum(
        len((OLD / name).read_bytes().splitlines())
        for name in ("sources.jsonl", "annotations.jsonl", "decisions.jsonl", "perturbations.jsonl")
    )
    written = [done for done, total in seen if total]
    assert {total for _, total in seen if total} == {records}
    assert written == sorted(written)
    assert len(set(written)) > 10
    assert written[-2:] == [records - 1, records]  # the end is told with what makes it visible


def test_a_worker_reads_checked_records_alone(restore: Job) -> None:
    with (
        patch("tableqa.readers.archive.unpack", side_effect=AssertionError),
        patch.object(verification, "verify", side_effect=AssertionError),
    ):
        jobs.run(restore.pk)

    restore.refresh_from_db()
    assert (restore.error, restore.state) == ("", Job.State.DONE)


def hostile() -> Iterator[tuple[str, dict[str, bytes], str]]:
    """Members of hostile archives, and the reason for which each is refused."""
    manifest = (OLD / "manifest.json").read_bytes()
    deep = b"[" * 100_000 + b"]" * 100_000
    yield "deep manifest", {"manifest.json": deep, "annotations.jsonl": b""}, "not JSON"
    yield "deep record", {"manifest.json": manifest, "annotations.jsonl": deep}, "does not verify"
    yield (
        "bomb",
        {"manifest.json": manifest, "annotations.jsonl": bytes(1100 * 2**20)},
        "unpacks to more than",
    )
    yield "archive in it", {"release.zip": b"PK\x05\x06" + bytes(18)}, "manifest.json is missing"
    yield "way out", {"manifest.json": manifest, "../annotations.jsonl": b""}, "leads out of the archive"


@pytest.mark.parametrize(
    ("members", "reason"), [case[1:] for case in hostile()], ids=[case[0] for case in hostile()]
)
def test_a_hostile_release_is_refused_with_its_reason(
    empty: Project, world: World, tmp_path: Path, members: dict[str, bytes], reason: str
) -> None:
    path = tmp_path / "hostile.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in members.items():
            file.writestr(name, content)
    before, upload = rows(), kept(empty, path, world)
    job = restoration.start_restore(project=empty, upload=upload, by=world.mara, now=NOON)

    assert jobs.run(job.pk) == Job.State.FAILED

    job.refresh_from_db()
    assert reason in job.error
    assert "import_failed" not in job.error
    assert rows() == before


def test_a_record_that_takes_too_much_memory_ends_its_process_alone(
    empty: Project, world: World, tmp_path: Path, settings: Any
) -> None:
    settings.IMPORT_MEMORY = 40  # less than Python and its libraries take
    path = Path(shutil.make_archive(str(tmp_path / "big"), "zip", OLD))
    job = restoration.start_restore(project=empty, upload=kept(empty, path, world), by=world.mara, now=NOON)

    jobs.run(job.pk)

    job.refresh_from_db()
    assert "takes more than 40 MB of memory" in job.error


@both
def test_two_restores_of_a_project_do_not_mix(
    restore: Job, empty: Project, world: World, archive: Path
) -> None:
    second = restoration.start_restore(
        project=empty, upload=kept(empty, archive, world), by=world.mara, now=NOON
    )

    jobs.run(restore.pk)
    jobs.run(second.pk)

    restore.refresh_from_db()
    second.refresh_from_db()
    assert "is not finished" in restore.error
    assert second.state == Job.State.DONE
    assert Annotation.objects.filter(assignment__batch__project=empty).count() == 18


@both
@pytest.mark.usefixtures("small_pages")
def test_what_a_killed_restore_left_is_cleared_some_at_a_time(
    restore: Job, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        raise ProcessKilled

    before = rows()
    with (
        pages_until(30, kill),
        patch.object(staged_pages.HiddenPages, "abandon"),
        pytest.raises(ProcessKilled),
    ):
        jobs.run(restore.pk)
    jobs.cancel(restore)
    Project.objects.filter(pk=empty.pk).update(restoring_at=jobs.clock() - 2 * jobs.LOST_AFTER)
    monkeypatch.setattr(staged_pages, "CLEARING", 0)  # a page at a time

    rounds = 0
    while Project.objects.filter(restoring_at__isnull=False).exists():
        staged_pages.clear_abandoned()
        rounds += 1
        assert rounds < 200

    assert rounds > 3
    assert rows() == before
