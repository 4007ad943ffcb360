"""Imports: whole or not at all, exact, the same files twice change nothing."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.background import jobs, sandbox, staged_pages, uploads
from annotation.imports import example_import
from annotation.management import doctor
from annotation.models import Example, Job, Project, Source, StoredTable, Upload
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from tableqa.readers import READERS, archive, ingestion
from tests.annotation.cast import NOON, World
from tests.annotation.test_restoring_pages import ProcessKilled


def take_in(world: World, path: Path, **more) -> example_import.ImportResult:
    return example_import.import_examples(project=world.project, reader="wtq", path=path, now=NOON, **more)


def test_the_whole_wtq_dev_split_comes_in_equal_to_the_reader(world: World, test_data: Path) -> None:
    path = test_data / "wtq" / "random-split-1-dev.tsv"
    done = take_in(world, path)
    assert (done.examples, done.tables, done.new) == (2831, 346, True)
    assert (done.source.licence, done.source.split) == ("CC-BY-SA-4.0", "dev")
    stored = Example.objects.filter(source=done.source).select_related("stored_table").order_by("position")
    for row, example in zip(stored, READERS["wtq"](path), strict=True):
        assert row.example() == example
    again = take_in(world, path)
    assert not again.new
    assert again.source == done.source
    assert Source.objects.filter(name=path.stem).count() == 1


def test_more_of_the_same_collection_is_added_and_what_is_there_stays(world: World, tmp_path: Path) -> None:
    path = tmp_path / "films-dev.tsv"
    few = take_in(world, path, name="few", limit=2)
    rest = take_in(world, path, name="few")
    assert (few.examples, rest.examples) == (2, 2)
    assert Example.objects.filter(source__name="few").count() == 4
    assert StoredTable.objects.count() == 1, "a table is kept once however many questions ask about it"


def test_the_same_id_with_other_content_is_refused_naming_the_difference(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "films-dev.tsv"
    path.write_text(path.read_text().replace("when did Heat", "in which year did Heat"))
    before = Example.objects.count()
    with pytest.raises(ActionRefused, match=r"'nu-0' was imported before with a different question.*--name"):
        take_in(world, path)
    assert Example.objects.count() == before


def test_a_bad_line_is_named_and_nothing_is_half_imported(world: World, tmp_path: Path) -> None:
    path = tmp_path / "broken-dev.tsv"
    good = (tmp_path / "films-dev.tsv").read_text()
    path.write_text(good + "nu-9\tonly three\tcsv/1-csv/1.csv\n")
    with pytest.raises(ActionRefused, match=r"broken-dev\.tsv, line 6"):
        take_in(world, path)
    assert not Source.objects.filter(name="broken-dev").exists()


def test_a_failure_while_writing_leaves_nothing_behind(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "ROWS", 2)
    calls = 0

    def fail_at_the_second_chunk(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("the power went out")

    with pytest.raises(RuntimeError):
        take_in(world, tmp_path / "films-dev.tsv", name="again", progress=fail_at_the_second_chunk)
    assert not Source.objects.filter(name="again").exists()
    assert not Example.objects.filter(source__name="again").exists()


def zipped(files: dict[str, str]) -> SimpleUploadedFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return SimpleUploadedFile("tables.zip", packed.getvalue())


def upload(world: World, file: SimpleUploadedFile) -> Upload:
    return uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)


def start(world: World, questions: Upload, tables: Upload | None) -> Job:
    job = example_import.start_import(
        project=world.project, reader="wtq", questions=questions, tables=tables, by=world.mara, now=NOON
    )
    job.refresh_from_db()
    return job


@pytest.mark.django_db(transaction=True)
def test_uploaded_files_are_imported_by_a_job(world: World, tmp_path: Path) -> None:
    questions = SimpleUploadedFile("web-dev.tsv", (tmp_path / "films-dev.tsv").read_bytes())
    tables = zipped({"csv/1-csv/1.csv": (tmp_path / "csv" / "1-csv" / "1.csv").read_text()})
    job = start(world, upload(world, questions), upload(world, tables))
    assert (job.state, job.error) == ("done", "")
    assert job.result["examples"] == 4
    assert job.done == job.total == 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["../evil.csv", "/etc/evil.csv", "a/../../evil.csv"])
def test_an_archive_that_points_outside_is_refused(world: World, tmp_path: Path, name: str) -> None:
    questions = SimpleUploadedFile("web-dev.tsv", (tmp_path / "films-dev.tsv").read_bytes())
    job = start(world, upload(world, questions), upload(world, zipped({name: "x"})))
    assert job.state == "failed"
    assert "leads out of the archive" in job.error


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("old", [True, False])
def test_an_excel_file_in_place_of_the_archive_of_tables_is_named(
    world: World, tmp_path: Path, old: bool
) -> None:
    questions = SimpleUploadedFile("web-dev.tsv", (tmp_path / "films-dev.tsv").read_bytes())
    excel = zipped({"xl/workbook.xml": "<x/>", "[Content_Types].xml": "<x/>"})
    if old:
        excel = SimpleUploadedFile("tables.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))

    job = start(world, upload(world, questions), upload(world, excel))

    assert job.state == "failed"
    assert "this is an Excel file. Save it as CSV" in job.error


@pytest.mark.django_db(transaction=True)
def test_an_archive_that_unpacks_too_large_is_refused(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_UNPACKED", 1000)
    monkeypatch.setattr(sandbox, "read", lambda request, beat, name: ingestion.read_all(request))
    questions = SimpleUploadedFile("web-dev.tsv", (tmp_path / "films-dev.tsv").read_bytes())
    job = start(world, upload(world, questions), upload(world, zipped({"a.csv": "0" * 5000})))
    assert job.state == "failed"
    assert "it unpacks to more than 1,000 bytes" in job.error


def test_a_huge_or_empty_upload_is_refused(world: World, settings: Any) -> None:
    settings.MAX_IMPORT_BYTES = 10
    with pytest.raises(ActionRefused, match="larger"):
        upload(world, SimpleUploadedFile("big.tsv", b"x" * 11))
    with pytest.raises(ActionRefused, match="empty"):
        upload(world, SimpleUploadedFile("none.tsv", b""))


@pytest.mark.django_db(transaction=True)
def test_an_upload_reads_nothing_but_itself(world: World, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text('"the","key"\n')
    inside = str(secret).lstrip("/")
    text = f"id\tutterance\tcontext\ttargetValue\nx-1\tq\t{inside}\ta\n"
    questions = SimpleUploadedFile("evil-dev.tsv", text.encode())
    job = start(world, upload(world, questions), None)
    assert job.state == "failed"
    assert "/tmp" not in job.error.replace(inside, "")
    assert not StoredTable.objects.filter(content__header=["the", "key"]).exists()


def test_an_import_that_was_killed_is_seen_by_nobody_and_then_cleared(world: World, tmp_path: Path) -> None:
    def kill(done: int, total: int) -> None:
        if done:
            raise ProcessKilled

    with patch.object(staged_pages.HiddenPages, "abandon"), pytest.raises(ProcessKilled):
        take_in(world, tmp_path / "films-dev.tsv", name="again", limit=2, progress=kill)

    (left,) = Source.objects.filter(name="again")
    assert left.examples.count() == 2
    assert list(world.project.sources.all()) == [world.source]
    long_ago = jobs.clock() - 2 * staged_pages.LOST
    Source.objects.filter(pk=left.pk).update(started_at=long_ago)
    assert any("again" in finding for finding in doctor.findings())
    staged_pages.clear_abandoned()
    assert Source.objects.filter(pk=left.pk).exists()  # its process may live
    Project.objects.filter(pk=left.project_id).update(restoring_at=long_ago)
    staged_pages.clear_abandoned()
    assert not Source.objects.filter(pk=left.pk).exists()
    assert list(Project.objects.all()) == [world.project]


def test_a_half_import_of_an_older_version_is_removed(world: World, tmp_path: Path) -> None:
    left = take_in(world, tmp_path / "films-dev.tsv", name="again").source
    with immutable_rows.writable():
        Source.objects.filter(pk=left.pk).update(ready_at=None, started_at=jobs.clock())

    staged_pages.clear_abandoned()
    assert Source.objects.filter(pk=left.pk).exists()  # a worker of that version may be at it

    Source.objects.filter(pk=left.pk).update(started_at=jobs.clock() - 2 * staged_pages.LOST)
    (finding,) = (finding for finding in doctor.findings() if "again" in finding)
    assert "a worker removes it" in finding
    staged_pages.clear_abandoned()
    assert list(Source.objects.all()) == [world.source]
    assert not Example.objects.exclude(source=world.source).exists()


def test_an_id_stands_once_under_a_name_whoever_imports_at_the_same_time(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "films-dev.tsv"

    def meanwhile(done: int, total: int) -> None:
        if total and not Source.objects.ready().filter(name="both").exists():
            take_in(world, path, name="both", limit=2)

    with pytest.raises(ActionRefused, match="just added"):
        take_in(world, path, name="both", progress=meanwhile)
    assert Example.objects.filter(source__name="both").count() == 2


def broken_archive() -> SimpleUploadedFile:
    whole = zipped({"a.csv": "x" * 1000}).read()
    return SimpleUploadedFile("tables.zip", whole[:40] + b"\xff" * 8 + whole[48:])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "archive",
    [
        lambda: zipped({"a": "x", "a/b": "y"}),
        lambda: zipped({".": "x"}),
        lambda: zipped({"n" * 300: "x"}),
        broken_archive,
        lambda: SimpleUploadedFile("tables.zip", b"no zip at all"),
    ],
)
def test_an_odd_archive_is_refused_in_words_that_name_no_folder_of_the_server(
    world: World, tmp_path: Path, archive: Callable[[], SimpleUploadedFile]
) -> None:
    questions = SimpleUploadedFile("tables", (tmp_path / "films-dev.tsv").read_bytes())
    sent = upload(world, questions), upload(world, archive())
    job = start(world, *sent)
    assert job.state == "failed"
    assert "tables.zip" in job.error
    assert "/tmp" not in job.error
    assert "went wrong inside" not in job.error
    for one in sent:
        assert not one.file.storage.exists(str(one.file.name)), "what was refused does not lie about"
