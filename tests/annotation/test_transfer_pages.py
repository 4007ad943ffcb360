"""The pages on which managers import responses of another tool."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Batch, TaskTypeDefinition
from annotation.views import transfer
from tests.annotation.cast import World
from tests.annotation.test_transfer import annotation, choice, labels, task


@pytest.fixture
def mara(world: World, client: Client) -> Client:
    client.force_login(world.mara)
    return client


def upload(client: Client, *tasks: dict[str, Any], tool: str = "label_studio") -> str:
    """Send a file. Returns the address of its preview."""
    file = SimpleUploadedFile("export.json", json.dumps(list(tasks)).encode())
    answer = client.post(reverse("import_responses", args=["films"]), {"tool": tool, "file": file})
    assert answer.status_code == 302, answer.context["form"].errors
    return str(answer["Location"])


def posted(page: Any, **changed: str) -> dict[str, str]:
    """What the form of a preview is sent with."""
    form = page.context["form"]
    return {name: form[name].value() or "" for name in form.fields} | changed


def two(label: str = "extraction") -> dict[str, Any]:
    return task(1, annotation("a@b.org", choice("label", label)), annotation(2, choice("label", "reasoning")))


def test_a_preview_shows_people_labels_times_and_writes_nothing(mara: Client) -> None:
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


def test_import_writes_what_the_page_shows_and_leads_to_the_batch(mara: Client) -> None:
    url = upload(mara, task(1, annotation(1, choice("label", "extraction"))))

    answer = mara.post(url, posted(mara.get(url), act="import", **{"person-0": "Xenia"}))

    assert answer["Location"] == reverse("batch", args=[Batch.objects.get().public_id])
    assert labels() == [("Xenia", {"label": "extraction"})]


def test_values_are_mapped_to_options_after_choosing_a_task_type(mara: Client) -> None:
    url = upload(mara, task(1, annotation(1, choice("kind", "EQ"))))
    page = mara.get(url)
    assert page.context["preview"].is_new_type

    page = mara.post(url, posted(page, task_type="question_type"))
    assert "field-0" in page.context["form"].fields
    page = mara.post(url, posted(page, **{"field-0": "label"}))
    answer = mara.post(url, posted(page, act="import", **{"value-0-0": "extraction"}))

    assert answer.status_code == 302
    assert labels() == [("1", {"label": "extraction"})]


def test_a_new_task_type_is_one_choice(mara: Client) -> None:
    url = upload(mara, task(1, annotation(1, choice("tone", "kind"))))

    mara.post(url, posted(mara.get(url), act="import"))

    assert TaskTypeDefinition.objects.get().name == "export"


def test_problems_are_listed_and_nothing_is_imported(mara: Client) -> None:
    url = upload(mara, task(1, annotation(1, choice("label", "hm"))))
    page = mara.post(url, posted(mara.get(url), task_type="question_type"))

    assert "Choose one of: extraction" in page.content.decode()
    answer = mara.post(url, posted(page, act="import"))
    assert answer.status_code == 200
    assert not Annotation.objects.exists()


def test_a_file_of_another_tool_leads_back_with_a_message(mara: Client) -> None:
    url = upload(mara, {"text": "hm"})

    page = mara.get(url, follow=True)

    assert page.redirect_chain[0][0] == reverse("import_responses", args=["films"])
    assert "Export the project as JSON" in page.content.decode()
    assert "/tmp" not in page.content.decode()


def test_files_with_very_many_responses_are_for_the_command(
    mara: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MOST_ON_A_PAGE", 1)
    page = mara.get(upload(mara, two()), follow=True)

    assert "Use the command import_responses" in page.content.decode()


def test_sources_lead_to_the_page(mara: Client) -> None:
    page = mara.get(reverse("sources", args=["films"]))

    assert reverse("import_responses", args=["films"]) in page.content.decode()
