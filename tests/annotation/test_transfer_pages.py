"""The pages on which managers import responses of another tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.background import jobs
from annotation.imports import response_import
from annotation.models import Annotation, Batch, Job, Project, Source, TaskTypeDefinition
from annotation.releases import creation
from annotation.workflow import batches
from tests.annotation.cast import NOON, World
from tests.annotation.previews import Importer, importer
from tests.annotation.test_transfer import annotation, choice, labels, task


def run_jobs() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        jobs.run(job.pk)


@pytest.fixture
def mara(world: World) -> Importer:
    return importer(world.mara)


def upload(client: Client, *tasks: dict[str, Any], tool: str = "label_studio") -> str:
    """Send a file. Returns the address of its preview."""
    file = SimpleUploadedFile("export.json", json.dumps(list(tasks)).encode())
    answer = client.post(reverse("import_responses", args=["films"]), {"tool": tool, "file": file})
    assert answer.status_code == 302, answer.context["form"].errors
    return str(answer["Location"])


def change(page: Any, **changed: str) -> Any:
    """Change something in the form of a preview."""
    return page.client.post(_address(page), posted(page, **changed))


def imported(page: Any, **changed: str) -> Any:
    """Press Import on a preview, and see the page of the job once it is done."""
    answer = page.client.post(_address(page), posted(page, act="import", **changed))
    run_jobs()
    return page.client.get(answer["Location"])


def _address(page: Any) -> str:
    return f"{page.request['PATH_INFO']}?{page.request['QUERY_STRING']}"


def posted(page: Any, **changed: str) -> dict[str, str]:
    """What the form of a preview is sent with."""
    form = page.context["form"]
    return {name: form[name].value() or "" for name in form.fields} | changed


def two(label: str = "extraction") -> dict[str, Any]:
    return task(1, annotation("a@b.org", choice("label", label)), annotation(2, choice("label", "reasoning")))


def test_a_preview_shows_people_labels_times_and_writes_nothing(mara: Importer) -> None:
    given = two()
    given["annotations"][0]["completed_by"] = {"id": 1, "email": "xenia@example.org"}
    page = mara.get(upload(mara, given))
    text = page.content.decode()

    for shown in (
        "xenia@example.org",
        "extraction",
        "reasoning",
        "4 May 2025",
        "when (1)?",
        "Question type",
    ):
        assert shown in text, shown
    assert not Annotation.objects.exists()


def test_a_preview_shows_who_is_simulated_and_the_licence_of_the_file(mara: Importer) -> None:
    stored = {"id": "1", "annotator": "p-bo", "simulated": True, "data": {"label": "extraction"}}
    control = {"from_name": "askew", "type": "textarea", "value": {"text": [json.dumps(stored)]}}
    exported_task = task(1, annotation(1, control))
    exported_task["meta"] = {
        "task_type": "question_type",
        "credit": {"licence": "CC-BY-4.0", "citation": "Ann"},
    }

    page = mara.get(upload(mara, exported_task))

    (person,) = page.context["form"].people()
    assert (person["name"], person["is_simulated"]) == ("p-bo", True)
    assert ">simulated</span>" in page.content.decode()
    assert posted(page)["licence"] == "CC-BY-4.0"
    imported(page)
    assert Source.objects.get(name="export").licence == "CC-BY-4.0"


def test_import_writes_what_the_page_shows_and_leads_to_the_batch(mara: Importer) -> None:
    url = upload(mara, task(1, annotation(1, choice("label", "extraction"))))

    page = imported(mara.get(url), **{"person-0": "Xenia"}).content.decode()

    assert reverse("batch", args=[Batch.objects.get().public_id]) in page
    assert labels() == [("Xenia", {"label": "extraction"})]


def test_values_are_mapped_to_options_after_choosing_a_task_type(mara: Importer) -> None:
    url = upload(mara, task(1, annotation(1, choice("kind", "EQ"))))
    page = mara.get(url)
    assert page.context["preview"].is_new_type

    page = change(page, task_type="question_type")
    assert "field-0" in page.context["form"].fields
    page = change(page, **{"field-0": "label"})
    imported(page, **{"value-0-0": "extraction"})

    assert labels() == [("1", {"label": "extraction"})]


def test_a_new_task_type_is_one_choice(mara: Importer) -> None:
    url = upload(mara, task(1, annotation(1, choice("tone", "kind"))))

    imported(mara.get(url))

    assert TaskTypeDefinition.objects.get().name == "export"


def test_problems_are_listed_and_nothing_is_imported(mara: Importer) -> None:
    url = upload(mara, task(1, annotation(1, choice("label", "hm"))))
    page = change(mara.get(url), task_type="question_type")

    assert "Choose one of: extraction" in page.content.decode()
    assert "Choose one of: extraction" in imported(page).content.decode()
    assert not Annotation.objects.exists()


def test_a_file_of_another_tool_leads_back_with_a_message(mara: Importer) -> None:
    url = upload(mara, {"text": "hm"})

    answer = mara.get(url)
    page = mara.get(answer["Location"])

    assert answer["Location"] == reverse("import_responses", args=["films"])
    assert "Export the project as JSON" in page.content.decode()
    assert "/tmp" not in page.content.decode()


def test_a_file_that_takes_too_long_is_refused(mara: Importer, settings: Any) -> None:
    settings.PREVIEW_SECONDS = 0

    answer = mara.get(upload(mara, two()))

    page = mara.get(answer["Location"]).content.decode()
    assert "Reading export.json takes more than 0 seconds. Split the file" in page


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two responses are many, and the preview of many checks one task."""
    monkeypatch.setattr(response_import, "MOST_IN_PREVIEW", 1)
    monkeypatch.setattr(response_import, "SAMPLE", 1)


@pytest.mark.usefixtures("many")
def test_very_many_responses_are_imported_in_the_background(mara: Importer) -> None:
    url = upload(mara, two(), {**two(), "id": 2})
    page = mara.get(url)
    text = page.content.decode()
    assert "checks the first tasks of this large file" in text
    assert "<dd>4</dd>" in text

    after = imported(page).content.decode()
    assert Annotation.objects.count() == 4
    assert "4 responses were imported. Annotators: 2. Items: 2." in after
    assert reverse("batch", args=[Batch.objects.get().public_id]) in after


@pytest.mark.usefixtures("many")
def test_an_import_whose_worker_was_lost_after_its_work_ends_as_done(mara: Importer) -> None:
    url = upload(mara, two(), {**two(), "id": 2})
    page = mara.get(url)
    mara.post(_address(page), posted(page, act="import"))
    job = Job.objects.get(kind="import_responses")
    with patch.object(jobs, "_finish", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        jobs.run(job.pk)

    assert jobs.reap(now=jobs.clock() + 2 * jobs.LOST_AFTER) == 1

    job.refresh_from_db()
    assert (job.state, job.error, job.result["responses"]) == (Job.State.DONE, "", 4)
    assert Annotation.objects.count() == 4
    assert Batch.objects.count() == 1


@pytest.mark.usefixtures("many")
def test_a_problem_beyond_the_preview_imports_nothing_and_is_listed(mara: Importer) -> None:
    broken = {**two(), "id": 2}
    broken["data"] = {"question": "when?"}
    url = upload(mara, two(), broken)
    text = imported(mara.get(url)).content.decode()

    assert not Annotation.objects.exists()
    assert not Batch.objects.exists()
    assert "there is no table" in text
    assert url in text, "the link leads back to the preview"


def test_a_program_looks_at_responses_and_imports_them(mara: Importer) -> None:
    sent = {"upload": upload(mara, two()).split("/")[-3], "tool": "label_studio"}
    address = reverse("api_import_responses", args=["films"])

    def post(**more: Any) -> Any:
        return mara.post(address, {**sent, **more}, content_type="application/json")

    answer = post(look=True)
    assert answer.status_code == 202
    run_jobs()
    seen = mara.get(f"/api/jobs/{answer.json()['id']}/").json()["result"]
    assert (seen["responses"], seen["tasks"], seen["problems"], seen["is_sample"]) == (2, 1, [], False)
    assert seen["mapping"]["task_type"] == "question_type"
    assert "page" not in seen
    assert not Annotation.objects.exists()

    answer = post(mapping={"people": {"2": "Bo"}, "licence": "CC-BY-4.0"})

    assert answer.status_code == 202
    run_jobs()
    result = mara.get(f"/api/jobs/{answer.json()['id']}/").json()["result"]
    assert (result["responses"], result["items"], result["people"]) == (2, 1, 2)
    assert Source.objects.latest("pk").licence == "CC-BY-4.0"
    assert ("Bo", {"label": "reasoning"}) in labels()


@pytest.mark.parametrize(
    ("sent", "word"), [({"mapping": {"poeple": {}}}, "poeple"), ({"tool": "excel"}, "excel")]
)
def test_a_program_that_sends_something_else_learns_what(
    mara: Importer, sent: dict[str, Any], word: str
) -> None:
    body = {"upload": upload(mara, two()).split("/")[-3], "tool": "label_studio", **sent}

    answer = mara.post(reverse("api_import_responses", args=["films"]), body, content_type="application/json")

    assert answer.status_code == 422
    assert word in answer.content.decode()
    assert not Job.objects.exists()


def test_licence_citation_and_url_of_the_page_are_in_a_release(mara: Importer, tmp_path: Path) -> None:
    credit = {"licence": "CC-BY-4.0", "citation": "Lind 2025", "url": "https://example.org/films"}
    url = upload(mara, two())

    imported(mara.get(url), source="rated", **credit)

    project = Project.objects.get(slug="films")
    creation.make_release(project=project, name="v1", format="askew", by=None, now=NOON, out=tmp_path / "r")
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    (source,) = [one for one in manifest["sources"] if one["name"] == "rated"]
    assert {name: source[name] for name in credit} == credit


def test_an_existing_source_keeps_its_licence(mara: Importer, world: World) -> None:
    given = {**two(), "data": {"id": "nu-0", "question": "when?", "table": [["Film"], ["Heat"]]}}
    url = upload(mara, given)

    page = change(mara.get(url), source=world.source.name)

    assert f"CC-BY-SA-4.0 (of the source {world.source.name})" in page.content.decode()
    assert "licence" not in page.context["form"].fields


@pytest.mark.parametrize(
    "wrong", [{"licence": "free for all"}, {"url": "javascript:alert(1)"}, {"citation": "x" * 5_001}]
)
def test_a_wrong_licence_or_url_is_a_problem_of_the_preview(mara: Importer, wrong: dict[str, str]) -> None:
    url = upload(mara, two())
    page = change(mara.get(url), **wrong)
    imported(page)

    text = page.content.decode()
    assert "no SPDX identifier" in text or "must begin with https" in text
    assert not Annotation.objects.exists()


def test_sources_lead_to_the_page(mara: Importer) -> None:
    page = mara.get(reverse("sources", args=["films"]))

    assert reverse("import_responses", args=["films"]) in page.content.decode()


def test_labels_for_an_open_batch_and_a_finished_project_lead_to_each_other(
    world: World, mara: Client
) -> None:
    opened = world.batch(name="Open labels")
    closed = world.batch(name="Closed labels")
    batches.close_batch(batch=closed, by=world.mara, now=NOON)
    responses_page, labels_page = (
        reverse("import_responses", args=["films"]),
        reverse("labels_elsewhere", args=[opened.public_id]),
    )

    assert labels_page in mara.get(responses_page).content.decode()
    assert closed.public_id not in mara.get(responses_page).content.decode()
    assert responses_page in mara.get(labels_page).content.decode()
