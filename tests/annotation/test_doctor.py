"""The doctor finds what no constraint can rule out, and says what it is."""

from __future__ import annotations

import shutil
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django.utils import timezone

from annotation.background import jobs, uploads
from annotation.imports import example_import
from annotation.management import backup, doctor
from annotation.models import (
    Adjudication,
    Assignment,
    Batch,
    Event,
    Item,
    Job,
    Membership,
    Release,
    Source,
)
from annotation.platform import immutable_rows
from annotation.releases import creation
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world

pytestmark = pytest.mark.both

LATER = NOON + timedelta(hours=1)


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def decided(world: World) -> Item:
    """An item that everybody answered, and that was decided."""
    batch = world.batch(overlap=1)
    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return Item.objects.get(decision__isnull=False)


def found() -> str:
    return " ".join(doctor.findings())


def test_nothing_is_found_where_all_is_well(decided: Item) -> None:
    assert found() == ""


@pytest.mark.django_db
def test_a_database_of_a_newer_version_is_the_only_finding(capsys: pytest.CaptureFixture[str]) -> None:
    MigrationRecorder(connection).record_applied("annotation", "9999_of_next_year")

    with pytest.raises(CommandError):
        call_command("doctor")

    (finding,) = doctor.findings()
    assert finding.startswith("The database is newer than this program: it has migration annotation.9999")
    assert finding in capsys.readouterr().err


def test_decisions_that_a_batch_does_not_count_are_found(decided: Item) -> None:
    Batch.objects.update(accepted_count=0, excluded_count=2)
    assert "counts 0 accepted and 2 excluded items; actual: 1 and 0" in found()


def test_a_decided_item_that_still_waits_is_found(decided: Item) -> None:
    Adjudication.objects.create(item=decided, reason="?", asked_at=NOON)
    assert f"item {decided.public_id} is decided but still in an adjudication queue" in found()


def test_a_decision_about_gold_is_found(decided: Item) -> None:
    Item.objects.filter(pk=decided.pk).update(is_gold=True)
    assert f"item {decided.public_id} was decided although it is gold" in found()


def test_a_complete_item_that_nobody_will_decide_is_found(world: World) -> None:
    world.label(world.batch(overlap=1), "ada", "extraction")
    assert found() == ""
    Item.objects.update(due_at=None)
    assert "no decision is scheduled" in found()


def test_a_release_without_its_files_is_found(world: World, tmp_path: Path) -> None:
    batch = world.batch(overlap=1, size=1)
    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    made = creation.make_release(
        project=world.project, name="v1", format="freb_tqa", by=world.rea, now=LATER, out=tmp_path / "out"
    )
    assert found() == ""
    shutil.rmtree(creation.folder(made))
    assert f"release v1 of {world.project.slug} has no files" in found()


@pytest.mark.parametrize("said", [F("response_fingerprint") + 1, None])
def test_a_fingerprint_that_is_not_that_of_the_response_is_found(decided: Item, said: Any) -> None:
    Assignment.objects.filter(item=decided).update(response_fingerprint=said)
    assert "does not match the fingerprint in the log" in found()


class TestARelease:
    @pytest.fixture
    def made(self, decided: Item) -> Release:
        batch = decided.batch
        return creation.make_release(
            project=batch.project, name="v1", format="freb_tqa", by=batch.made_by, now=LATER
        )

    def test_that_is_whole_is_not_found(self, made: Release) -> None:
        assert found() == ""

    def test_a_file_that_is_missing_is_named(self, made: Release) -> None:
        (creation.folder(made) / "annotations.jsonl").unlink()
        assert "release v1 of films: annotations.jsonl is missing. Restore" in found()

    def test_a_byte_that_was_changed_is_found_though_the_size_is_the_same(self, made: Release) -> None:
        path = creation.folder(made) / "annotations.jsonl"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        assert "release v1 of films: annotations.jsonl was changed" in found()

    def test_a_file_that_was_cut_is_found(self, made: Release) -> None:
        path = creation.folder(made) / "annotations.jsonl"
        path.write_bytes(path.read_bytes()[:-10])
        assert "annotations.jsonl has" in found()

    def test_a_file_that_was_added_is_found(self, made: Release) -> None:
        (creation.folder(made) / "more.jsonl").write_text("{}")
        assert "more.jsonl was added after the release was created" in found()

    def test_another_digest_or_manifest_in_the_database_is_found(self, made: Release) -> None:
        with immutable_rows.writable():
            Release.objects.update(digest="0" * 64)
        assert "its digest in the database does not match its manifest" in found()

    @pytest.mark.parametrize("text", ["{", "{}", "[" * 100_000], ids=["cut", "empty", "deep"])
    def test_a_manifest_that_is_none_is_found(self, made: Release, text: str) -> None:
        (creation.folder(made) / "manifest.json").write_text(text)
        assert "release v1 of films: manifest.json" in found()

    def test_another_manifest_is_found(self, made: Release) -> None:
        path = creation.folder(made) / "manifest.json"
        path.write_text(path.read_text().replace('"films"', '"books"', 1))
        assert "does not match the database" in found()

    def test_a_manifest_that_says_the_same_in_other_bytes_is_found(self, made: Release) -> None:
        path = creation.folder(made) / "manifest.json"
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert "does not match the database" in found()

    def test_that_the_log_does_not_know_is_found(self, made: Release) -> None:
        with immutable_rows.writable():
            Event.objects.filter(thing="release").delete()
        assert f"release {made.public_id} (v1) is ready, but the log has no entry for it" in found()


@pytest.mark.parametrize("word", ["planned", "open"])
def test_an_event_of_a_batch_that_was_deleted_is_found(decided: Item, word: str) -> None:
    with immutable_rows.writable():
        Event.objects.filter(thing="batch", after=word).delete()
    assert f"the log has no entry for {word}" in found()


def test_an_event_between_two_others_that_was_deleted_is_found(world: World) -> None:
    batch = world.batch(overlap=1)
    world.label(batch, "ada", "extraction")
    assert found() == ""
    with immutable_rows.writable():
        Event.objects.filter(thing="assignment", after="leased").delete()
    assert "that entry starts from 'leased'" in found()


def test_a_source_that_counts_other_examples_or_that_the_log_does_not_know_is_found(world: World) -> None:
    there = world.batch().items.count()
    Source.objects.update(examples_count=F("examples_count") + 7)
    assert f"examples; actual: {there}" in found()
    with immutable_rows.writable():
        Event.objects.filter(thing="source").delete()
    assert "is ready, but the log has no entry for it" in found()


def test_a_member_without_a_pseudonym_is_found(world: World) -> None:
    with immutable_rows.writable():
        Membership.objects.filter(person=world.ada).update(pseudonym="")
    assert f"person {world.ada.pk} has no pseudonym in films" in found()


def test_work_of_somebody_who_is_no_member_is_found(decided: Item, world: World) -> None:
    with immutable_rows.writable():
        Membership.objects.filter(person=world.ada).delete()
    assert f"person {world.ada.pk} has work in batch" in found()


@pytest.mark.django_db(transaction=True)
def test_somebody_who_submits_while_it_counts_is_no_inconsistency(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    batch = world.batch(overlap=1)
    submissions: list[Any] = []

    def submit() -> None:
        try:
            submissions.append(world.label(batch, "ada", "extraction"))
        finally:
            connection.close()

    def before_tallies(execute: Any, sql: str, *more: Any) -> Any:
        """Between the statement that counts assignments and the one that reads what was counted along."""
        if (
            not submissions
            and 'FROM "annotation_personbatchcounts"' in sql
            and 'JOIN "annotation_batch"' in sql
        ):
            thread = threading.Thread(target=submit)
            thread.start()
            thread.join(30)
        return execute(sql, *more)

    with connection.execute_wrapper(before_tallies):
        assert found() == ""
    assert len(submissions) == 1
    assert found() == ""


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_it_and_it_sees_nothing_of_what_they_do(tmp_path: Path) -> None:
    world, done = make_world(tmp_path), threading.Event()

    def plan() -> None:
        try:
            world.batch()
            done.set()
        finally:
            connection.close()

    with doctor._snapshot():
        assert Batch.objects.count() == 0
        thread = threading.Thread(target=plan)
        thread.start()
        assert done.wait(15)
        assert Batch.objects.count() == 0
    thread.join(30)
    assert Batch.objects.count() == 1


def test_what_heals_by_itself_is_named_with_status_0(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Job.objects.create(
        project=world.project, kind="release", made_at=NOON, heartbeat=NOON, state=Job.State.RUNNING
    )
    Source.objects.create(project=world.project, name="half", reader="wtq", started_at=NOON)
    call_command("doctor")
    said = capsys.readouterr().out
    assert f"Repaired automatically: job {job.public_id}" in said
    assert "Repaired automatically: an import of half" in said
    assert "No inconsistencies." in said
    world.batch()
    Batch.objects.update(items_count=99)
    with pytest.raises(CommandError, match="1 inconsistencies"):
        call_command("doctor")


def test_a_job_whose_worker_is_long_gone_is_found(world: World) -> None:
    job = Job.objects.create(
        project=world.project, kind="release", made_at=NOON, heartbeat=timezone.now(), state=Job.State.RUNNING
    )
    assert found() == ""
    Job.objects.update(heartbeat=NOON)
    assert f"job {job.public_id} (release) of films is marked running" in found()


def test_an_import_that_waits_for_a_file_that_is_gone_is_found(world: World) -> None:
    upload = uploads.keep(
        project=world.project, file=SimpleUploadedFile("dev.tsv", b"x"), by=world.mara, now=NOON
    )
    job = example_import.start_import(
        project=world.project, reader="wtq", questions=upload, tables=None, by=world.mara, now=timezone.now()
    )
    assert found() == ""
    upload.file.storage.delete(upload.file.name or "")
    assert f"import {job.public_id} of films is waiting, but its uploaded file dev.tsv is missing" in found()
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert job.error.startswith("An uploaded file of this import is missing.")


def test_decisions_that_are_overdue_are_counted_by_batch(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "OVERDUE", timedelta(hours=1))
    batches = [world.batch(overlap=1, name=name) for name in ("First", "Second", "Third")]
    for batch, number in zip(batches, (2, 1, 1), strict=True):
        for _ in range(number):
            world.label(batch, "ada", "extraction")
    recent = timezone.now() - timedelta(minutes=50)
    Item.objects.filter(batch=batches[2], due_at__isnull=False).update(due_at=recent)
    assert found() == "", "the clock of a web server was set back"
    Assignment.objects.update(leased_until=timezone.now() - timedelta(hours=2))
    assert [finding.partition(" for a decision")[0] for finding in doctor.findings()] == [
        "batch First of films: 2 items are overdue",
        "batch Second of films: 1 items are overdue",
    ]
    with pytest.raises(CommandError, match="2 inconsistencies"):
        call_command("doctor")
    for batch in batches:
        automatic_decisions.resolve_batch(batch=batch, now=timezone.now())
    assert found() == ""


def test_an_upload_that_was_cut_short_is_found(world: World) -> None:
    upload = uploads.begin(project=world.project, name="dev.tsv", size=4, by=world.mara, now=NOON)
    uploads.append(upload=upload, offset=0, data=b"abcd")
    jobs.enqueue(
        project=world.project, kind="restore", ids={"upload": upload.pk}, by=world.mara, now=timezone.now()
    )
    assert found() == ""

    Path(upload.file.path).write_bytes(b"ab")

    assert "dev.tsv is missing or cut short" in found()


@pytest.mark.parametrize("kind", ["restore", "study", "import_responses", "evaluate"])
def test_every_job_that_waits_for_a_file_that_is_gone_is_found(world: World, kind: str) -> None:
    upload = uploads.keep(
        project=world.project, file=SimpleUploadedFile("sent", b"x"), by=world.mara, now=NOON
    )
    job = jobs.enqueue(
        project=world.project, kind=kind, ids={"upload": upload.pk}, by=world.mara, now=timezone.now()
    )
    assert found() == ""
    upload.file.storage.delete(upload.file.name or "")
    assert f"{kind} {job.public_id} of films is waiting, but its uploaded file sent is missing" in found()


def test_a_job_whose_upload_was_deleted_or_is_a_folder_is_found(world: World) -> None:
    upload = uploads.keep(
        project=world.project, file=SimpleUploadedFile("sent", b"x"), by=world.mara, now=NOON
    )
    job = jobs.enqueue(
        project=world.project, kind="study", ids={"upload": upload.pk}, by=world.mara, now=timezone.now()
    )
    Path(upload.file.path).unlink()
    Path(upload.file.path).mkdir()
    assert f"study {job.public_id} of films is waiting, but its uploaded file sent is missing" in found()
    Path(upload.file.path).rmdir()
    upload.delete()
    assert f"study {job.public_id} of films is waiting, but its uploaded file (deleted) is missing" in found()


def test_a_backup_made_while_an_import_is_done_has_the_file_that_it_waits_for(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker reads the file and throws it away after the database was read, and before its folder is."""
    upload = uploads.keep(
        project=world.project, file=SimpleUploadedFile("dev.tsv", b"x"), by=world.mara, now=NOON
    )
    assert upload.file.name

    class Dumps:
        def dump(self, to: Path) -> tuple[dict[str, int], list[str]]:
            to.write_bytes(b"")
            upload.file.storage.delete(upload.file.name or "")
            return {}, []

    monkeypatch.setitem(backup._databases, connection.vendor, Dumps())
    made = backup.make(tmp_path / "backup", now=NOON)
    assert f"media/{upload.file.name}" in made.files


def test_an_item_that_is_stored_with_another_resolution_is_found(decided: Item) -> None:
    Item.objects.filter(pk=decided.pk).update(resolution="")
    assert f"item {decided.public_id} is stored as unresolved; actual: accepted" in found()
