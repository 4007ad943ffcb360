"""Jobs whose worker is lost, or only taken for lost: resumed once, or failed in words, and nothing half done is left."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from annotation.background import jobs, uploads
from annotation.background.staged_pages import APART
from annotation.imports import example_import
from annotation.management import backup, doctor
from annotation.management.commands import worker
from annotation.models import Event, Example, Job, Project, Release, Source, Upload
from annotation.platform.refusals import ActionRefused
from annotation.releases import benchmark_files, creation, verification
from annotation.workflow import batches
from tests.annotation.cast import NOON, World, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def asleep(world: World, **more: Any) -> Job:
    more = {"state": "running", "attempts": 1, "heartbeat": jobs.clock(), "made_at": NOON} | more
    return Job.objects.create(project=world.project, kind="asleep", ids={}, **more)


def test_a_job_that_was_last_heard_of_at_a_time_to_come_is_taken_up_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker was killed, and the clock was set back by hours: nobody waits until it is that late again."""
    again: list[int] = []
    monkeypatch.setattr(jobs, "_queue", lambda job: again.append(job.pk))
    now = jobs.clock()
    lost = asleep(world, heartbeat=now + timedelta(hours=5))
    waits = asleep(world, heartbeat=now + timedelta(hours=5), state="queued", attempts=0)
    at_work = asleep(world, heartbeat=now + timedelta(seconds=20))
    assert jobs.reap(now=now) == 2
    assert set(again) == {lost.pk, waits.pk}
    at_work.refresh_from_db()
    assert at_work.state == "running"


def test_heartbeats_run_on_the_clock_of_the_database_whatever_the_worker_takes_for_now(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[Any] = []
    real = jobs.clock()
    monkeypatch.setattr(timezone, "now", lambda: real + timedelta(hours=7))

    def moves(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        progress(1, 1)
        beats.append(Job.objects.get(pk=job.pk).heartbeat)
        return {}

    monkeypatch.setitem(jobs.KINDS, "asleep", moves)
    job = asleep(world, state="queued", attempts=0)
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    assert all(abs(beat - real) < timedelta(minutes=5) for beat in [*beats, job.heartbeat])


def test_a_worker_that_lives_says_so_also_after_the_clock_was_set_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = jobs.clock()
    job = asleep(world, heartbeat=now + timedelta(hours=5))
    monkeypatch.setattr(jobs, "_under_way", {job.pk})
    jobs.keep_alive(now=now)
    assert jobs.reap(now=now) == 0


def test_a_worker_whose_connection_is_gone_waits_for_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL was killed while the worker held a cursor: what it meets with next is no OperationalError."""
    tried: list[str] = []

    def db_worker(name: str, **options: Any) -> None:
        tried.append(name)
        if len(tried) < 3:
            raise InterfaceError("connection already closed")

    monkeypatch.setattr(worker, "call_command", db_worker)
    monkeypatch.setattr(worker, "EVERY", 0.0)
    monkeypatch.setattr("annotation.management.commands.worker.connection.close", lambda: None)
    worker._take_jobs(0.1)
    assert len(tried) == 3


def test_a_job_that_met_a_restart_of_the_database_is_queued_again_with_the_same_counter(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one whose worker was killed: three attempts, whichever of the two cost them."""
    queued: list[int] = []
    monkeypatch.setattr(jobs, "_queue", lambda job: queued.append(job.pk))
    gone = OperationalError("database is locked: the server closed the connection unexpectedly")

    def meets(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        raise RuntimeError("while it wrote") from gone

    monkeypatch.setitem(jobs.KINDS, "asleep", meets)
    job = asleep(world, state="queued", attempts=1)

    assert jobs.run(job.pk) == "queued"
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error, queued) == ("queued", 2, "", [job.pk])

    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert (job.state, job.attempts, queued) == ("failed", 3, [job.pk])
    assert "The database did not respond in 3 attempts" in job.error


def test_a_job_whose_database_is_still_away_is_left_to_whoever_looks_for_lost_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = OperationalError("database is locked")

    def meets(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        def still_away(*_: Any, **__: Any) -> str:
            raise gone

        monkeypatch.setattr(jobs, "_finish", still_away)
        raise gone

    monkeypatch.setitem(jobs.KINDS, "asleep", meets)
    job = asleep(world, state="queued", attempts=0)

    with pytest.raises(OperationalError):
        jobs.run(job.pk)

    assert jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER) == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_job_on_a_full_disk_says_so_and_what_to_do(
    world: World, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(job: Job, progress: jobs.Progress) -> dict[str, Any]:
        raise OSError(number, os.strerror(number), "/srv/askew/media/releases/x")

    monkeypatch.setitem(jobs.KINDS, "asleep", full)
    job = asleep(world, state="queued", attempts=0)
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert job.error == "The disk of the data folder is full. Free some space, then start this job again."


# -- releases ---------------------------------------------------------------------------------------


def finished(world: World) -> None:
    batch = world.batch(overlap=1)
    for _ in range(4):
        world.label(batch, "ada", "extraction")
    batches.close_batch(batch=batch, by=world.mara, now=NOON)


def planned(world: World, name: str) -> Release:
    return creation.plan_release(
        project=world.project, name=name, format="askew", by=world.rea, now=NOON, allow_simulated=False
    )


def content(folder: Path) -> dict[str, bytes]:
    """All files but the two that name the release."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("manifest.json", "CITATION.cff")
    }


def leftovers(release: Release) -> list[Path]:
    folder = creation.folder(release)
    return list(folder.parent.glob(f"{folder.name}*.part*"))


class ProcessKilled(BaseException):
    """What nothing catches."""


def test_of_two_workers_at_one_release_none_takes_what_the_other_has_half_written(world: World) -> None:
    """The first was taken for lost, and was only slow: it goes on after the second began, and was killed."""
    finished(world)
    reference = content(creation.folder(creation.write_release(planned(world, "by one"))))
    release = planned(world, "by two")
    begun: list[int] = []

    def killed(done: int, total: int) -> None:
        raise ProcessKilled

    def slow(done: int, total: int) -> None:
        if not begun:
            begun.append(done)
            with pytest.raises(ProcessKilled):
                creation.write_release(Release.objects.get(pk=release.pk), progress=killed)

    with suppress(OSError):  # what it had begun was cleared away: it counts as lost anyhow
        creation.write_release(release, progress=slow)
    kept = creation.write_release(Release.objects.get(pk=release.pk))
    assert kept.ready_at is not None
    assert content(creation.folder(kept)) == reference
    verification.verify(creation.folder(kept))
    assert leftovers(release) == []


def test_of_two_workers_that_both_end_a_release_one_counts(world: World) -> None:
    finished(world)
    reference = content(creation.folder(creation.write_release(planned(world, "by one"))))
    release = planned(world, "by two")
    ended: list[Release] = []

    def slow(done: int, total: int) -> None:
        if done == total and not ended:
            ended.append(creation.write_release(Release.objects.get(pk=release.pk)))

    with suppress(OSError):
        creation.write_release(release, progress=slow)
    kept = Release.objects.get(pk=release.pk)
    assert (ended[0].pk, ended[0].ready_at) == (kept.pk, kept.ready_at)
    assert content(creation.folder(kept)) == reference
    assert Event.objects.filter(thing="release", thing_id=release.pk).count() == 1
    assert leftovers(release) == []


def test_a_release_that_found_no_room_leaves_nothing_on_the_full_disk_and_can_be_made_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(world)
    release = planned(world, "first")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(benchmark_files, "write_derived", full)
        with pytest.raises(OSError, match="No space"):
            creation.write_release(release)
    assert leftovers(release) == []
    assert creation.write_release(release).ready_at is not None


def test_what_a_killed_attempt_wrote_of_a_release_is_cleared_away_by_the_next_and_in_no_backup(
    world: World, tmp_path: Path
) -> None:
    finished(world)
    release = planned(world, "first")
    left = creation.folder(release).with_name(f"{release.public_id}.k1lled.part")
    left.mkdir(parents=True)
    (left / "annotations.jsonl").write_text("half a li")
    backup._copy_media(Path(settings.MEDIA_ROOT), tmp_path / "copy")
    assert not list(tmp_path.glob("copy/**/*.part"))
    creation.write_release(release)
    assert leftovers(release) == []


# -- imports ----------------------------------------------------------------------------------------


def test_an_upload_that_finds_no_room_is_refused_in_words_and_leaves_nothing(world: World) -> None:
    folder = Path(settings.MEDIA_ROOT) / "uploads"
    before = set(folder.glob("*"))
    file = OnFullDisk("more.tsv", QUESTIONS.encode())
    with pytest.raises(ActionRefused, match=r"no space for more\.tsv"):
        uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)
    assert set(folder.glob("*")) == before
    assert not Upload.objects.exists()


class OnFullDisk(SimpleUploadedFile):
    """Half of it finds room."""

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        yield self.read()[:10]
        raise OSError(errno.ENOSPC, "No space left on device")


def test_an_import_whose_worker_was_killed_is_whole_at_the_second_attempt_and_leaves_no_half_of_the_first(
    world: World,
) -> None:
    now = timezone.now()
    table = SimpleUploadedFile("tables.zip", packed())
    questions = SimpleUploadedFile("more.tsv", QUESTIONS.encode())
    kept = [
        uploads.keep(project=world.project, file=file, by=world.mara, now=NOON) for file in (questions, table)
    ]
    choices = asdict(example_import.Choices(name="more"))
    ids = {"reader": "wtq", "questions": kept[0].pk, "tables": kept[1].pk, "choices": choices}
    job = Job.objects.create(
        project=world.project,
        kind="import",
        ids=ids,
        attempts=1,
        made_by=world.mara,
        made_at=now,
        heartbeat=now,
    )
    hidden = Project.objects.create(slug=f"{APART}{job.public_id}", restoring_at=jobs.clock())
    half = Source.objects.create(
        project=hidden,
        name="more",
        reader="wtq",
        checksum="of the first attempt",
        made_by=world.mara,
        started_at=now + timedelta(seconds=1),
    )
    example = Example.objects.filter(source=world.source).earliest("pk")
    example.pk, example.public_id, example.source = None, "h4lf", half
    example.save(force_insert=True)

    assert jobs.run(job.pk) == "done"
    (source,) = Source.objects.filter(name="more")
    assert source.ready_at is not None
    assert source.examples.count() == 2
    assert list(Project.objects.all()) == [world.project]
    assert list(doctor.findings()) == []


QUESTIONS = (
    "id\tutterance\tcontext\ttargetValue\n"
    "nu-8\twho won?\tcsv/1-csv/1.csv\tAnn\n"
    "nu-9\twho lost?\tcsv/1-csv/1.csv\tBen\n"
)


def packed() -> bytes:
    import zipfile

    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("csv/1-csv/1.csv", '"Name","Place"\n"Ann","1"\n"Ben","2"\n')
    return held.getvalue()
