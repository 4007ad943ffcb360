"""Imports by programs: files in slices that can be resumed, and the job with its problems."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.background import jobs
from annotation.models import Job, Source
from tests.annotation.cast import World

CONTENT = b'question,answers,table\nwho?,Ann,"Name\nAnn"\nwhat?,Bob,gone.csv\n'


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def begun(mara: Client, size: int = len(CONTENT)) -> str:
    answer = mara.post(
        "/api/projects/films/uploads/", {"name": "own.csv", "size": size}, content_type="application/json"
    )
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def put(mara: Client, upload: str, offset: int, data: bytes) -> Any:
    return mara.put(f"/api/uploads/{upload}/?offset={offset}", data, content_type="application/octet-stream")


def test_a_file_in_slices_is_whole_after_one_was_lost_and_one_came_twice(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    upload = begun(mara)

    assert put(mara, upload, 0, CONTENT[:10]).json()["received"] == 10
    assert put(mara, upload, 20, CONTENT[20:]).status_code == 409
    assert put(mara, upload, 0, CONTENT[:10]).json()["received"] == 10
    assert mara.get(f"/api/uploads/{upload}/").json()["received"] == 10
    assert put(mara, upload, 10, CONTENT[10:]).json()["received"] == len(CONTENT)

    sent = {"questions": upload, "good_only": True, "licence": "CC0-1.0"}
    with django_capture_on_commit_callbacks(execute=True):
        answer = mara.post("/api/projects/films/imports/", sent, content_type="application/json")
    assert answer.status_code == 202, answer.content
    source = Source.objects.get(name="own")
    assert (source.reader, source.licence, source.examples_count) == ("own", "CC0-1.0", 1)


def test_a_licence_that_is_no_identifier_is_refused_through_the_api_too(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    upload = begun(mara)
    put(mara, upload, 0, CONTENT)
    sent = {"questions": upload, "good_only": True, "licence": "free for all"}
    with django_capture_on_commit_callbacks(execute=True):
        job = mara.post("/api/projects/films/imports/", sent, content_type="application/json").json()["id"]

    assert "'free for all' is no SPDX identifier" in mara.get(f"/api/jobs/{job}/").json()["error"]
    assert not Source.objects.filter(name="own").exists()


def test_the_job_of_a_refused_import_lists_its_problems(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    upload = begun(mara)
    put(mara, upload, 0, CONTENT)

    with django_capture_on_commit_callbacks(execute=True):
        job = mara.post(
            "/api/projects/films/imports/", {"questions": upload}, content_type="application/json"
        ).json()["id"]

    result = mara.get(f"/api/jobs/{job}/").json()["result"]
    assert (result["good"], result["rejected"]) == (1, 1)
    assert result["problems"][0]["line"] == 4


def test_a_file_that_is_too_large_is_refused_before_it_comes(mara: Client, settings: Any) -> None:
    settings.MAX_IMPORT_BYTES = 5

    answer = mara.post(
        "/api/projects/films/uploads/", {"name": "own.csv", "size": 6}, content_type="application/json"
    )

    assert answer.status_code == 422


def test_the_page_takes_a_file_that_came_in_slices_only_whole(mara: Client) -> None:
    upload = begun(mara)
    put(mara, upload, 0, CONTENT[:10])
    sent = {"questions_upload": upload}

    page = mara.post("/projects/films/sources/import/", sent, follow=True)
    assert "was not sent completely (10 of" in page.content.decode()

    put(mara, upload, 10, CONTENT[10:])
    answer = mara.post("/projects/films/sources/import/", sent)
    assert answer["Location"] == f"/projects/films/sources/import/{upload}/"
    assert not Job.objects.exists()


@pytest.mark.parametrize("reader", ["", "own"])
def test_a_program_cannot_import_a_file_that_was_not_sent_completely(mara: Client, reader: str) -> None:
    upload = begun(mara)
    put(mara, upload, 0, CONTENT[:39])  # ends with a whole record
    sent = {"questions": upload, "reader": reader}

    answer = mara.post("/api/projects/films/imports/", sent, content_type="application/json")

    assert (answer.status_code, "not sent completely (39 of" in answer.json()["detail"]) == (422, True)
    assert not Job.objects.exists()
    assert mara.get(f"/api/uploads/{upload}/").json()["received"] == 39


def test_a_slice_without_a_readable_offset_or_beyond_the_end_is_refused(mara: Client) -> None:
    upload = begun(mara)
    put(mara, upload, 0, CONTENT)

    for offset in ("", "-1", "first"):
        answer = mara.put(
            f"/api/uploads/{upload}/?offset={offset}", b"xx", content_type="application/octet-stream"
        )
        assert answer.status_code == 422, offset
    assert put(mara, upload, len(CONTENT), b"more").status_code == 422
    assert mara.get(f"/api/uploads/{upload}/").json()["received"] == len(CONTENT)


def test_an_import_whose_worker_is_killed_at_its_very_end_is_done_by_the_next_attempt(
    mara: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = begun(mara)
    put(mara, upload, 0, CONTENT)
    sent = {"questions": upload, "good_only": True}
    mara.post("/api/projects/films/imports/", sent, content_type="application/json")
    job = Job.objects.get()

    def killed(*args: Any, **more: Any) -> str:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "_finish", killed)
        with pytest.raises(SystemExit):
            jobs.run(job.pk)
    Job.objects.update(state=Job.State.QUEUED)

    assert jobs.run(job.pk) == "done"
    assert Source.objects.get(name="own").examples_count == 1
    assert mara.get(f"/api/uploads/{upload}/").status_code == 422  # its file is deleted


def test_a_check_by_the_api_lists_the_problems_and_imports_nothing(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    upload = begun(mara)
    put(mara, upload, 0, CONTENT)

    sent = {"questions": upload, "look": True, "good_only": True}
    with django_capture_on_commit_callbacks(execute=True):
        job = mara.post("/api/projects/films/imports/", sent, content_type="application/json").json()["id"]

    result = mara.get(f"/api/jobs/{job}/").json()["result"]
    assert (result["good"], result["rejected"]) == (1, 1)
    assert not Source.objects.filter(name="own").exists()
