"""The gallery of task types: grouped by step, each with a picture, a sentence, its paper, and what it needs first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from annotation.models import Job
from annotation.web.views import task_type_gallery
from tasks.contract import STEPS, TaskType, task_types
from tests.annotation.cast import NOON, World

ADDRESS = "/projects/films/batches/new/"
LARGEST_PICTURE = 15_000
SHIPPED = [task for task in task_types().values() if type(task).__module__.startswith("tasks.")]


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


@pytest.mark.parametrize("task", SHIPPED, ids=lambda task: task.key)
def test_every_task_type_declares_its_step_its_paper_and_a_small_picture(task: TaskType) -> None:
    assert task.step in STEPS
    assert re.search(r"\((NAACL|ACL|EMNLP|WSDM) 20\d\d\)", task.paper)
    pictures = [finders.find(task.picture(variant)) for variant in task.variants or [""]]
    contents = {Path(str(picture)).read_bytes() for picture in pictures}
    assert len(contents) == len(pictures), "each variant has a picture that no other has"
    assert max(map(len, contents)) < LARGEST_PICTURE


def test_every_variant_is_one_card_in_the_step_of_its_task_type(world: World) -> None:
    steps = task_type_gallery.by_step(world.project)
    cards = [card.key for _, group in steps for card in group]
    assert sorted(cards) == sorted(task_type_gallery.choices(world.project))
    assert {"value_change:answer_changes", "value_change:answer_stays", "question_type"} <= set(cards)
    titles = [title for title, _ in steps]
    assert titles == list(STEPS.values())
    first = steps[0][1]
    assert [card.task.key for card in first] == ["question_type", "question_screening"]


def test_a_card_says_what_annotators_do_and_what_comes_first_and_leads_to_the_form_and_a_preview(
    mara: Client,
) -> None:
    page = mara.get(ADDRESS).content.decode()
    card = next(part for part in page.split("<li>") if "?kind=answer_check" in part)
    assert "Answer the question from this table" in card
    assert "Needs edited examples first" in card
    assert "FREB-TQA (NAACL 2024)" in card
    preview = re.search(r'href="(/projects/films/practice/answer_check/[^"]*)"', card)
    assert preview
    assert mara.get(preview[1]).status_code == 200
    assert mara.get(f"{ADDRESS}?kind=answer_check").status_code == 200


def test_a_new_batch_has_the_name_of_its_task_type_unless_another_batch_has_it(
    world: World, mara: Client
) -> None:
    def suggested() -> Any:
        return mara.get(ADDRESS, {"kind": "question_type"}).context["form"]["name"].value()

    assert suggested() == "Question type"
    world.batch(name="Question type")
    world.batch(name="Question type 2")
    assert suggested() == "Question type 3"


def test_after_an_import_the_next_step_is_a_new_batch(world: World, mara: Client) -> None:
    result = {"source": world.source.public_id, "new": 4, "examples": 4, "tables": 1}
    job = Job.objects.create(
        heartbeat=NOON,
        project=world.project,
        kind="import",
        state=Job.State.DONE,
        result=result,
        made_by=world.mara,
        made_at=NOON,
    )

    page = mara.get(f"/jobs/{job.public_id}/").content.decode()

    assert re.findall(r'<a class="button primary" href="([^"]+)"', page) == [ADDRESS]
    assert f"/sources/{world.source.public_id}/" in page
