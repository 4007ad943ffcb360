"""A zipped release is recognised where files are imported, and becomes a project again, by page and by API."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.background import jobs, uploads
from annotation.models import Annotation, Job, Project, Source, Upload
from annotation.releases import restoration
from annotation.workflow import projects
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer, read_previews
from tests.annotation.test_defining import EASY, batch_of, define, say
from tests.annotation.test_restoring import released

RELEASE = Path(__file__).parent / "release_of_november"
EMPTY = "/projects/empty/sources/import"
API = "/api/projects/empty/restore/"


@pytest.fixture
def empty(world: World) -> Project:
    return projects.create_project(slug="empty", name="Empty", manager=world.mara, now=NOON)


@pytest.fixture
def mara(world: World) -> Client:
    return importer(world.mara)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The release in a folder of its own within the archive, as people zip folders."""
    shutil.copytree(RELEASE, tmp_path / "zipped" / "release")
    return Path(shutil.make_archive(str(tmp_path / "november"), "zip", tmp_path / "zipped"))


def kept(project: Project, path: Path, world: World) -> Upload:
    file = SimpleUploadedFile(path.name, path.read_bytes())
    return uploads.keep(project=project, file=file, by=world.mara, now=NOON)


def preview(mara: Client, project: Project, upload: Upload) -> str:
    return mara.get(f"/projects/{project.slug}/sources/import/{upload.public_id}/").content.decode()


def posted(mara: Client, path: str, body: Any) -> Any:
    return mara.post(path, body, content_type="application/json")


def test_the_import_page_shows_what_a_release_would_restore(
    mara: Client, world: World, empty: Project, archive: Path
) -> None:
    page = preview(mara, empty, kept(empty, archive, world))

    for text in ("Restore november.zip", "films-dev (CC-BY-SA-4.0)", "header_synonym 1", "Not restored"):
        assert text in page
    assert "<dt>Project</dt><dd>films</dd>" in page
    assert "<dt>Responses</dt><dd>18</dd>" in page
    assert "<dt>Decisions</dt><dd>9</dd>" in page
    assert 'value="restore"' in page
    assert not empty.sources.exists()


def test_the_preview_names_a_defined_task_type_in_the_language_of_the_page(
    mara: Client, world: World, empty: Project, tmp_path: Path
) -> None:
    row = define(world, title={"en": "Table complexity", "de": "Schwierigkeit"})
    say(world, batch_of(world, row), "ada", EASY)
    folder = released(world.project, tmp_path / "v1")
    upload = kept(empty, Path(shutil.make_archive(f"{folder}", "zip", folder)), world)

    english = preview(mara, empty, upload)
    mara.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    german = preview(mara, empty, upload)

    assert 'Complexity 1 <span class="soft">Table complexity</span>' in english
    assert 'Complexity 1 <span class="soft">Schwierigkeit</span>' in german


def test_the_preview_of_a_release_reads_its_manifest_alone(
    mara: Client, empty: Project, archive: Path, world: World
) -> None:
    content = bytearray(archive.read_bytes())
    start = content.index(b"annotations.jsonl") + len("annotations.jsonl")
    content[start : start + 20] = bytes(20)
    archive.write_bytes(content)

    page = preview(mara, empty, kept(empty, archive, world))

    assert "<dt>Responses</dt><dd>18</dd>" in page


def test_the_import_page_restores_it(mara: Client, world: World, empty: Project, archive: Path) -> None:
    upload = kept(empty, archive, world)

    answer = mara.post(f"{EMPTY}/{upload.public_id}/", {"act": "restore"})

    job = Job.objects.get(kind="restore")
    assert answer.headers["Location"] == f"/jobs/{job.public_id}/"
    jobs.run(job.pk)
    assert Annotation.objects.filter(assignment__batch__project=empty).count() == 18


def test_a_restore_whose_worker_was_lost_after_its_work_ends_as_done(
    mara: Client, world: World, empty: Project, archive: Path
) -> None:
    job = restoration.start_restore(
        project=empty, upload=kept(empty, archive, world), by=world.mara, now=NOON
    )
    with patch.object(jobs, "_finish", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        jobs.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.RUNNING

    assert jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER) == 1

    job.refresh_from_db()
    assert (job.state, job.error, job.result["annotations"]) == (Job.State.DONE, "", 18)
    assert Annotation.objects.filter(assignment__batch__project=empty).count() == 18
    file = Upload.objects.get().file
    assert not file.storage.exists(str(file.name))


def test_a_project_that_is_not_empty_gets_a_reason_and_a_remedy(
    mara: Client, world: World, archive: Path
) -> None:
    upload = kept(world.project, archive, world)

    page = preview(mara, world.project, upload)

    assert "only be restored into an empty project" in page
    assert 'value="restore"' not in page
    url = f"/projects/films/sources/import/{upload.public_id}/"
    assert "only be restored" in mara.post(url, {"act": "restore"}, follow=True).content.decode()
    assert not Job.objects.filter(kind="restore").exists()


@pytest.mark.parametrize("content", ["[]", "{", '{"layout": 1}', '{"layout": 1, "rules": 99}'])
def test_a_release_with_a_broken_manifest_is_not_read_as_data(
    mara: Client, world: World, empty: Project, tmp_path: Path, content: str
) -> None:
    shutil.copytree(RELEASE, tmp_path / "broken")
    (tmp_path / "broken" / "manifest.json").write_text(content, "utf-8")
    path = Path(shutil.make_archive(str(tmp_path / "b"), "zip", tmp_path / "broken"))

    page = preview(mara, empty, kept(empty, path, world))

    assert "does not verify" in page
    assert 'value="restore"' not in page


def test_a_manifest_of_another_program_is_data(
    mara: Client, world: World, empty: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "manifest.json").write_text('{"layout": "wide"}', "utf-8")
    (folder / "films.csv").write_text('question,answers,table\nwho?,Ann,"Name\nAnn"\n', "utf-8")
    path = Path(shutil.make_archive(str(tmp_path / "data"), "zip", folder))

    assert "Restore" not in preview(mara, empty, kept(empty, path, world))


def test_a_program_looks_at_a_release_and_restores_it(
    mara: Client, world: World, empty: Project, archive: Path
) -> None:
    upload = kept(empty, archive, world)

    look = posted(mara, API, {"release": upload.public_id, "look": True})
    read_previews()
    seen = mara.get(f"/api/jobs/{look.json()['id']}/").json()["result"]
    job = posted(mara, API, {"release": upload.public_id})

    assert (seen["project"], seen["items"], seen["annotations"], seen["decisions"]) == ("films", 9, 18, 9)
    assert seen["sources"] == [{"name": "films-dev", "licence": "CC-BY-SA-4.0"}]
    assert {"name": "header_synonym 1", "task_type": "Header synonyms"} in seen["batches"]
    assert seen["problem"] == ""
    assert job.status_code == 202
    jobs.run(Job.objects.get(kind="restore").pk)
    state = mara.get(f"/api/jobs/{job.json()['id']}/").json()
    assert (state["state"], state["result"]["annotations"]) == ("done", 18)
    assert Source.objects.get(project=empty).licence == "CC-BY-SA-4.0"


def test_a_program_gets_the_reasons_that_the_page_shows(mara: Client, world: World, archive: Path) -> None:
    upload = kept(world.project, archive, world)

    answer = posted(mara, "/api/projects/films/restore/", {"release": upload.public_id})

    assert answer.status_code == 422
    assert answer.json()["code"] == "import_failed"
    assert "only be restored into an empty project" in answer.json()["detail"]


def test_a_file_that_is_no_release_is_refused(
    mara: Client, world: World, empty: Project, tmp_path: Path
) -> None:
    path = tmp_path / "own.csv"
    path.write_text("question\n", "utf-8")

    posted(mara, API, {"release": kept(empty, path, world).public_id})

    job = Job.objects.get(kind="restore")
    jobs.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "own.csv: the zip archive cannot be read" in job.error


def test_an_import_of_a_release_names_the_way_to_restore_it(
    mara: Client, world: World, empty: Project, archive: Path
) -> None:
    questions = kept(empty, archive, world).public_id

    answer = posted(mara, "/api/projects/empty/imports/", {"questions": questions})

    jobs.run(Job.objects.get().pk)
    state = mara.get(f"/api/jobs/{answer.json()['id']}/").json()
    assert state["state"] == "failed"
    assert "/api/projects/empty/restore/" in state["error"]


def test_annotators_do_not_restore(world: World, empty: Project, archive: Path) -> None:
    client = Client()
    client.force_login(world.ada)
    release = kept(world.project, archive, world).public_id

    for slug in ("films", "empty"):
        path = f"/api/projects/{slug}/restore/"
        assert posted(client, path, {"release": release}).status_code in (403, 404)
        assert posted(client, path, {"release": release, "look": True}).status_code in (403, 404)
