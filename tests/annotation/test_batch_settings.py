"""The settings of a batch on one page: sections that are saved separately, and the addresses that led to them before."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.access.roles import Role
from annotation.management import doctor
from annotation.models import Batch, Event
from annotation.models.batch_options import SECTIONS as OF_TERMS
from annotation.models.batch_options import changeable
from annotation.web.views.batch_settings import SECTIONS
from annotation.workflow import batches, projects
from tests.annotation.cast import NOON, World


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def address(batch: Batch) -> str:
    return reverse("batch_settings", args=[batch.public_id])


def words(response: Any) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


def save(client: Client, batch: Batch, section: str, **fields: str) -> Any:
    return client.post(address(batch), {"section": section, **fields})


def test_every_section_of_the_terms_is_in_one_section_of_the_page() -> None:
    shown = [name for section in SECTIONS.values() for name in section.terms]

    assert sorted(shown) == sorted(OF_TERMS)


def test_every_term_that_may_change_has_one_field_or_fact(world: World, mara: Client) -> None:
    batch = world.batch("relevant_cells")
    sections = mara.get(address(batch)).context["sections"]

    fields = [
        name for section in sections if section["form"] for name in getattr(section["form"], "terms", ())
    ]
    expected = {
        name for name, term in changeable().items() if batch.purpose in term.purposes and term.is_in_form
    }
    expected -= {"resolve", "model_budget"}  # a form of its own; only with language models
    assert sorted(fields) == sorted(expected)


def test_a_section_is_saved_without_the_others(world: World, mara: Client) -> None:
    batch = world.batch(open=False, caps={"items": 40})

    answer = save(mara, batch, "entry", must_practise="on")

    assert answer["Location"] == f"{address(batch)}?saved=entry#entry"
    batch.refresh_from_db()
    assert (batch.must_practise, batch.caps) == (True, {"items": 40})
    assert "Saved. Applies from each person's next item." in words(mara.get(answer["Location"]))


def test_a_planned_batch_asks_for_no_confirmation(world: World, mara: Client) -> None:
    batch = world.batch(open=False)

    save(mara, batch, "limits", items="7")

    batch.refresh_from_db()
    assert batch.caps == {"items": 7}


def test_saving_without_a_change_changes_nothing(world: World, mara: Client) -> None:
    batch = world.batch()
    before = Event.objects.count()

    save(mara, batch, "general", name=batch.name, overlap=str(batch.overlap))

    assert Event.objects.count() == before


def test_an_error_is_shown_in_its_section_and_keeps_the_others(world: World, mara: Client) -> None:
    batch = world.batch(open=False)

    page = save(mara, batch, "gold", gold_percent="90")

    sections = {section["name"]: section for section in page.context["sections"]}
    assert sections["gold"]["form"].errors
    assert not sections["limits"]["form"].errors
    assert 'action="/batches/' in page.content.decode()


def test_a_batch_gets_another_name_also_once_it_is_closed(world: World, mara: Client) -> None:
    batch = world.batch(name="Old", size=1)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)

    save(mara, batch, "general", name=" New ")

    batch.refresh_from_db()
    assert batch.name == "New"
    log = words(mara.get(reverse("project_log", args=["films"])))
    assert "name: Old → New" in log or "Old" in log
    assert list(doctor.findings()) == []


def test_the_name_of_another_batch_is_refused(world: World, mara: Client) -> None:
    world.batch(name="Taken")
    batch = world.batch(name="Mine")

    page = save(mara, batch, "general", name="Taken", overlap="2", confirmed="yes")

    assert "already has a batch 'Taken'" in words(page)
    batch.refresh_from_db()
    assert batch.name == "Mine"


def test_whoever_annotates_is_not_told_how_many_gold_answers_there_are(world: World, mara: Client) -> None:
    batch = world.batch()
    assert "0 gold answers" in words(mara.get(address(batch)))

    projects.add_member(
        project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
    )
    world.label(batch, "mara", "extraction")

    section = words(mara.get(address(batch))).rpartition("Gold answers")[2].partition("Limits")[0]
    assert "gold answers" not in section


def test_a_qualification_has_no_decision_rule(world: World, mara: Client) -> None:
    batch = world.batch(purpose="qualification", pass_percent=80, open=False)

    names = [section["name"] for section in mara.get(address(batch)).context["sections"]]

    assert "rule" not in names
    assert "entry" in names


def test_settings_of_a_task_type_have_its_titles_and_words(world: World, mara: Client) -> None:
    batch = world.batch(
        "value_change", variant="answer_changes", settings={"at_most": 3, "cell_format": "require"}
    )
    of_batch = " ".join(words(mara.get(reverse("batch", args=[batch.public_id]))).split())
    assert "Change settings" in of_batch
    assert re.search(r"Planned \d", of_batch), "with its date"
    for page in (reverse("batch", args=[batch.public_id]), address(batch)):
        shown = " ".join(words(mara.get(page)).split())
        assert "Maximum changes 3" in shown
        assert "Column format refuse the response" in shown
        assert "at_most" not in shown


def test_a_batch_without_items_says_what_it_waits_for(world: World, mara: Client) -> None:
    first = world.batch("value_change", variant="answer_changes", name="Changed")
    second = world.batch("answer_check", sources=[], feeds_from=first, name="Checked")

    shown = " ".join(words(mara.get(reverse("batch", args=[second.public_id]))).split())

    assert "No items yet It waits for" in shown
    assert "Show “Changed”" in shown
    assert "0 slots" not in shown
