"""Previews are jobs: who gets which, how their page waits, and what programs get."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.background import jobs, sandbox, uploads
from annotation.imports import file_preview
from annotation.models import Job, Project, Source, Upload
from annotation.platform.refusals import ActionRefused, refuse
from annotation.workflow import projects
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer, read_previews

LINES = b'id,text,question,table\n1,who won?,easy,"Name\nAnn"\n'
HTMX = {"HX-Request": "true"}


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def upload_of(world: World, project: Project | None = None, content: bytes = LINES) -> Upload:
    file = SimpleUploadedFile("q.csv", content)
    return uploads.keep(project=project or world.project, file=file, by=world.mara, now=NOON)


def begun(world: World, upload: Upload, **choice: Any) -> Job:
    return file_preview.start(questions=upload, tables=None, by=world.mara, now=jobs.clock(), choice=choice)


def address_of(upload: Upload) -> str:
    return reverse("import_preview", args=[upload.project.slug, upload.public_id])


def silent(job: Job, **more: Any) -> None:
    """A job that has not moved for some seconds."""
    Job.objects.filter(pk=job.pk).update(heartbeat=jobs.clock() - 2 * jobs.SILENT, **more)


# -- which job --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_page_that_is_loaded_again_makes_no_other_job(world: World, mara: Client) -> None:
    address = address_of(upload_of(world))

    first, again = mara.get(address)["Location"], mara.get(address)["Location"]
    mara.get(first)
    read_previews()
    assert first == again == mara.get(address)["Location"]

    assert "easy" in mara.get(first).content.decode()
    assert Job.objects.get().attempts == 1


@pytest.mark.django_db
def test_a_newer_choice_replaces_the_one_that_waits_and_none_that_is_read(world: World) -> None:
    upload = upload_of(world)

    waiting = begun(world, upload)
    newer = begun(world, upload, reader="jsonl")
    assert newer == waiting
    assert Job.objects.get().ids["choice"] == {"reader": "jsonl"}

    Job.objects.update(state=Job.State.RUNNING)
    other = begun(world, upload, reader="own")
    assert other != newer
    assert [job.ids["choice"]["reader"] for job in Job.objects.order_by("pk")] == ["jsonl", "own"]


@pytest.mark.django_db
def test_previews_of_two_files_and_of_two_archives_beside_one_file_are_different_jobs(world: World) -> None:
    one, other = upload_of(world), upload_of(world)

    assert begun(world, one) != begun(world, other)
    beside = file_preview.start(questions=one, tables=other, by=world.mara, now=NOON)
    assert beside != begun(world, one)


@pytest.mark.django_db
def test_after_a_failure_and_after_another_import_the_file_is_read_again(world: World) -> None:
    upload = upload_of(world)
    first = begun(world, upload)
    Job.objects.update(state=Job.State.FAILED)
    second = begun(world, upload)
    Job.objects.filter(pk=second.pk).update(state=Job.State.DONE)
    Source.objects.create(
        project=world.project, name="new", reader="own", checksum="1", started_at=NOON, ready_at=NOON
    )

    assert len({first, second, begun(world, upload)}) == 3


@pytest.mark.django_db
def test_another_project_waits_for_one_preview_and_none_for_an_import(world: World) -> None:
    other = projects.create_project(slug="other", name="Other", manager=world.mara, now=NOON)
    imports = jobs.enqueue(project=other, kind="import", ids={}, by=world.mara, now=NOON)
    many = [begun(world, upload_of(world)) for _ in range(3)]
    one = begun(world, upload_of(world, other))
    turns = []

    for job in [*many, one]:
        turns.append(jobs._next_in_turn(job))
        Job.objects.filter(pk=turns[-1]).update(state=Job.State.DONE, attempts=1)

    assert turns == [many[0].pk, one.pk, many[1].pk, many[2].pk]
    assert jobs._next_in_turn(imports) == imports.pk


@pytest.mark.django_db
def test_a_project_has_its_turn_before_many_that_have_waited_for_longer(world: World) -> None:
    other = projects.create_project(slug="other", name="Other", manager=world.mara, now=NOON)
    many = [begun(world, upload_of(world)) for _ in range(5)]
    turns = []

    for _ in range(3):
        one = begun(world, upload_of(world, other))
        for _ in range(2):
            turns.append(jobs._next_in_turn(one))
            ended = {"state": Job.State.DONE, "attempts": 1, "heartbeat": jobs.clock()}
            Job.objects.filter(pk=turns[-1]).update(**ended)

    assert [pk in [job.pk for job in many] for pk in turns] == [True, False] * 3


@pytest.mark.django_db
def test_a_preview_goes_after_a_week_as_its_file_does(world: World) -> None:
    old, new = begun(world, upload_of(world)), begun(world, upload_of(world))
    Job.objects.filter(pk=old.pk).update(made_at=NOON - uploads.KEPT - timedelta(hours=1))
    Job.objects.filter(pk=new.pk).update(made_at=NOON)

    upload_of(world)

    assert Job.objects.get() == new


# -- its page ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_page_asks_again_with_and_without_scripts_until_the_file_is_read(
    world: World, mara: Client
) -> None:
    address = mara.get(address_of(upload_of(world)))["Location"]

    page = mara.get(address).content.decode()
    assert '<noscript><meta http-equiv="refresh" content="1"></noscript>' in page
    assert "Reading the file…" in page
    assert 'value="import"' not in page, "what nobody has seen is not imported"
    poll = f"{address}&amp;seen=reading&amp;whole=1"
    assert f'hx-get="{poll}"' in page

    poll = poll.replace("&amp;", "&")
    assert mara.get(poll, headers=HTMX).status_code == 204
    read_previews()
    assert mara.get(poll, headers=HTMX)["HX-Refresh"] == "true"
    assert 'value="import"' in mara.get(address).content.decode()


@pytest.mark.django_db
def test_a_page_that_waits_for_long_asks_less_often(world: World, mara: Client) -> None:
    address = mara.get(address_of(upload_of(world)))["Location"]
    page = mara.get(address).content.decode()
    assert 'hx-trigger="every 5s, load delay:400ms, soon delay:400ms, later delay:1500ms"' in page

    poll = f"{address}&seen=reading"
    assert mara.get(poll, headers=HTMX)["HX-Trigger"] == "soon"
    Job.objects.update(made_at=jobs.clock() - timedelta(seconds=5))
    assert mara.get(poll, headers=HTMX)["HX-Trigger"] == "later"


@pytest.mark.django_db
def test_a_part_that_waits_beside_the_form_gets_the_preview_and_the_columns(
    world: World, mara: Client
) -> None:
    address = address_of(upload_of(world))
    chosen = {"reader": "own", "column_question": "text", "column_answers": "", "column_table": "table"}
    there = mara.post(address, chosen, headers=HTMX)["Location"]

    part = mara.get(there, headers=HTMX).content.decode()
    assert 'id="chosen-columns"' not in part
    assert f'hx-get="{there}&amp;seen=reading"' in part
    read_previews()

    part = mara.get(f"{there}&seen=reading", headers=HTMX).content.decode()
    assert 'id="chosen-columns"' in part
    assert "who won?" in part


@pytest.mark.django_db
def test_the_page_says_that_no_worker_is_running(world: World, mara: Client) -> None:
    there = mara.get(address_of(upload_of(world)))["Location"]
    job = Job.objects.get()
    silent(job)

    page = mara.get(there).content.decode()
    assert "No worker is running" in page
    poll = f"{there}&seen=reading&whole=1"
    assert "No worker is running" in mara.get(poll, headers=HTMX).content.decode()
    assert mara.get(poll.replace("reading", "no_worker"), headers=HTMX).status_code == 204
    assert timedelta(seconds=10) - jobs.SILENT >= timedelta(seconds=2), "the page asks once more within these"


@pytest.mark.django_db
@pytest.mark.parametrize("state", [Job.State.RUNNING, Job.State.DONE])
def test_a_worker_that_is_at_another_preview_is_one(world: World, mara: Client, state: str) -> None:
    there = mara.get(address_of(upload_of(world)))["Location"]
    silent(Job.objects.get())
    other = begun(world, upload_of(world))
    Job.objects.filter(pk=other.pk).update(state=state, heartbeat=jobs.clock())
    assert "No worker" not in mara.get(there).content.decode()

    silent(other)
    assert "No worker" in mara.get(there).content.decode()


@pytest.mark.django_db
def test_a_worker_that_is_at_an_import_does_not_read_the_preview(world: World, mara: Client) -> None:
    there = mara.get(address_of(upload_of(world)))["Location"]
    silent(Job.objects.get())
    imports = jobs.enqueue(project=world.project, kind="import", ids={}, by=world.mara, now=jobs.clock())
    Job.objects.filter(pk=imports.pk).update(state=Job.State.RUNNING)

    assert "No worker" in mara.get(there).content.decode()


@pytest.mark.django_db
def test_a_preview_that_failed_shows_the_reason_and_keeps_what_was_chosen(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*args: Any, **more: Any) -> Any:
        refuse("import_failed", "Reading {name} takes more than {most} MB of memory.", name="q.csv", most=1)

    monkeypatch.setattr(sandbox, "call", call)
    chosen = {
        "reader": "own",
        "column_question": "text",
        "column_answers": "",
        "column_table": "table",
        "known_columns": json.dumps(["id", "text", "question", "table"]),
        "answer_separator": ";",
        "licence": "CC0-1.0",
    }

    page = importer(world.mara).post(address_of(upload_of(world)), chosen)

    assert "Reading q.csv takes more than 1 MB of memory." in page.content.decode()
    form = page.context["form"]
    assert {name: form[name].value() for name in chosen} == chosen


@pytest.mark.django_db
def test_an_upload_whose_file_is_gone_leads_back_to_the_files(world: World, mara: Client) -> None:
    upload = upload_of(world)
    there = mara.get(address_of(upload))["Location"]
    Path(upload.file.path).unlink()
    read_previews()

    assert "missing. Upload the files again" in mara.get(there).content.decode()
    assert "missing. Upload the files again" in mara.get(address_of(upload), follow=True).content.decode()


@pytest.mark.django_db
def test_a_preview_of_another_file_is_not_shown(world: World, mara: Client) -> None:
    one, other = upload_of(world), upload_of(world, content=b"question,table\nsecret?,a\n")
    job = begun(world, other)
    read_previews()

    for public_id in (job.public_id, "nowhere", "\0"):
        answer = mara.get(address_of(one), {"preview": public_id})
        assert answer.status_code == 302
        assert "secret" not in mara.get(answer["Location"]).content.decode()


# -- the import -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_columns_that_were_chosen_without_a_preview_are_worked_out_by_the_import(
    world: World, mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    chosen = {"reader": "own", "column_question": "text", "column_answers": "", "column_table": "table"}
    with django_capture_on_commit_callbacks(execute=True):
        answer = mara.post(address_of(upload_of(world)), {**chosen, "act": "import"})

    job = Job.objects.get(kind="import")
    assert answer["Location"] == reverse("job", args=[job.public_id])
    assert job.state == "done", job.error
    source = Source.objects.get(name="q")
    assert source.how["fields"] == {"question": "text"}
    assert source.examples.get().question == "who won?"


@pytest.mark.django_db
def test_a_choice_that_no_database_can_store_is_refused(world: World, mara: Client) -> None:
    for act in ("", "import"):
        chosen = {"reader": "own", "column_question": "te\0xt", "column_table": "t", "act": act}
        mara.post(address_of(upload_of(world)), chosen, follow=True)

    assert not Job.objects.exists()
    with pytest.raises(ActionRefused):
        begun(world, upload_of(world), chosen={"parts": {"question": "\0"}})


# -- by API -----------------------------------------------------------------------------------------


def by_api(client: Client, upload: Upload, **more: Any) -> Any:
    body = {"questions": upload.public_id, **more}
    return client.post("/api/projects/films/imports/", body, content_type="application/json")


@pytest.mark.django_db
def test_by_api_a_preview_is_a_job_and_then_its_result(world: World, mara: Client) -> None:
    upload = upload_of(world)

    answer = by_api(mara, upload, preview=True)
    assert (answer.status_code, answer.json()["state"], answer.json()["kind"]) == (202, "queued", "preview")
    assert by_api(mara, upload, preview=True).json()["id"] == answer.json()["id"]
    read_previews()

    result = mara.get(f"/api/jobs/{answer.json()['id']}/").json()["result"]
    assert result["reader"] == "own"
    assert result["layout"]["parts"] == {"id": "id", "question": "question", "table": "table"}
    assert [example["question"] for example in result["examples"]] == ["easy"]
    assert result["problems"] == []


@pytest.mark.django_db
def test_names_of_columns_that_a_program_gives_are_those_of_the_preview(world: World, mara: Client) -> None:
    sent = by_api(mara, upload_of(world), preview=True, reader="own", fields_of={"question": "text"})
    read_previews()

    result = mara.get(f"/api/jobs/{sent.json()['id']}/").json()["result"]
    assert [example["question"] for example in result["examples"]] == ["who won?"]


@pytest.mark.django_db
def test_the_format_is_detected_by_the_job_of_the_import(
    world: World, mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    upload = upload_of(world)

    with django_capture_on_commit_callbacks(execute=True):
        answer = by_api(mara, upload, fields_of={"question": "text"})

    job = Job.objects.get()
    assert (answer.status_code, job.state, job.ids["reader"]) == (202, "done", "own")
    assert "choice" not in job.ids, "a job that is done again does not detect again"
    assert Source.objects.get(name="q").examples.get().question == "who won?"


@pytest.mark.django_db
def test_names_of_fields_that_the_detected_format_does_not_have_fail_in_the_job(
    world: World, mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        by_api(mara, upload_of(world), fields_of={"nothing": "text"})

    job = Job.objects.get()
    assert job.state == "failed"
    assert "nothing" in job.error
    assert by_api(mara, upload_of(world), reader="own", fields_of={"nothing": "text"}).status_code == 422


@pytest.mark.django_db
def test_only_people_who_may_import_see_the_first_records(world: World, mara: Client) -> None:
    job = begun(world, upload_of(world))
    read_previews()
    other = Client()
    other.force_login(world.people["rea"])

    assert mara.get(f"/api/jobs/{job.public_id}/").json()["result"]
    assert other.get(f"/api/jobs/{job.public_id}/").json()["result"] == {}


@pytest.mark.django_db
def test_of_a_long_table_a_preview_keeps_the_first_rows_and_their_number(world: World) -> None:
    table = "\n".join(["Name", *(f"row {number}" for number in range(40))])
    job = begun(world, upload_of(world, content=f'question,table\nwho?,"{table}"\n'.encode()))
    read_previews()
    job.refresh_from_db()

    preview = file_preview.result(job)
    assert (list(preview.rows), len(preview.examples[0].table.rows)) == ([40], 8)
    assert "row 9" not in job.result["preview"]
    page = importer(world.mara).get(address_of(Upload.objects.get())).content.decode()
    assert "32 more rows" in page
