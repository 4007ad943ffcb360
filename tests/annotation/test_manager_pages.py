"""Sentences, names and numbers on the pages of a manager: they say what is true there."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from annotation.charts import paper_figures, work_tables
from annotation.models import Batch, Person
from annotation.workflow import automatic_decisions, batches, projects
from tableqa import Example, Table
from tests.annotation.cast import NOON, World


def source_of(person: Person, address: str) -> str:
    client = Client()
    client.force_login(person)
    return html.unescape(client.get(address, follow=True).content.decode())


def text_of(person: Person, address: str) -> str:
    main = source_of(person, address).split("<main")[1]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def test_renaming_says_that_the_short_name_stays_and_the_name_can_be_changed(world: World) -> None:
    page = text_of(world.mara, "/projects/films/rename/")

    assert "Cannot be changed" not in page
    assert "The short name in the URL stays, so that links and tokens stay valid." in page


@pytest.mark.parametrize("address", ["", "calibration/"])
def test_a_batch_of_edits_says_whether_the_people_per_item_or_the_task_type_prevent_agreement(
    world: World, address: str
) -> None:
    edits = world.batch("value_change", variant="answer_changes", only=["nu-0"])
    questions = world.batch("question_paraphrase", variant="word", only=["nu-0"])
    compared = world.batch("value_change", variant="answer_changes", only=["nu-1"], overlap=2)
    pages = {
        batch.task_type + str(batch.overlap): text_of(world.mara, f"/batches/{batch.public_id}/{address}")
        for batch in (edits, questions, compared)
    }

    one_person = "Each item of this batch has one annotator, so there is no agreement to measure."
    assert [name for name, page in pages.items() if one_person in page] == ["value_change1"]
    assert [name for name, page in pages.items() if "creates their own content" in page] == []


def test_the_page_of_task_types_says_that_they_are_written_in_yaml(world: World) -> None:
    page = text_of(world.mara, "/projects/films/task-types/")

    assert "Your own questions for annotators, described in YAML. Start from an example below." in page
    assert "No code is needed" not in page


def test_the_dashboard_leads_to_the_cost_of_batches_that_it_leaves_out(world: World) -> None:
    world.batch()

    dashboard = source_of(world.mara, "/projects/films/dashboard/")

    (link,) = re.findall(r'Their cost is in <a href="([^"]+)">Pay</a>', dashboard)
    address, _, anchor = link.partition("#")
    assert f'<section id="{anchor}"' in source_of(world.mara, address)
    assert "Pay and limits" not in dashboard


def test_who_may_not_see_pay_gets_no_link_to_it_on_the_dashboard(world: World) -> None:
    world.batch()

    assert "Their cost is" not in text_of(world.rea, "/projects/films/dashboard/")


def test_gold_answers_of_a_closed_batch_are_said_to_be_final(world: World) -> None:
    batch = world.batch()
    assert "This batch is closed" not in text_of(world.mara, f"/batches/{batch.public_id}/gold/")

    batches.close_batch(batch=batch, by=world.mara, now=NOON)

    page = text_of(world.mara, f"/batches/{batch.public_id}/gold/")
    assert "This batch is closed, so its gold answers cannot be changed." in page
    assert "No gold answers." in page
    assert "Add them one by one" not in page


def test_a_closed_batch_refuses_the_form_of_a_gold_answer_with_a_reason(world: World) -> None:
    batch = world.batch()
    example = batch.items.all()[0].example
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    client = Client()
    client.force_login(world.mara)
    address = f"/batches/{batch.public_id}/gold/new/"

    for found in (
        client.get(address, follow=True),
        client.get(f"{address}?example={example.public_id}", follow=True),
        client.post(f"{address}?example={example.public_id}", {"label": "extraction"}, follow=True),
    ):
        assert found.redirect_chain == [(f"/batches/{batch.public_id}/gold/", 302)]
        assert f"{batch.name} is closed, so gold items cannot be added." in found.content.decode()


def test_what_waits_for_others_is_no_primary_button(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)

    for address in ("/projects/films/", "/"):
        page = source_of(world.mara, address)
        assert '<a class="button" href="/projects/films/explorer/?state=adjudication">1 item waits' in page
        assert 'class="button primary"' not in page


def test_the_board_counts_one_person_and_several_people(world: World) -> None:
    projects.create_project(slug="alone", name="Alone", manager=world.mara, now=NOON)

    assert re.search(r"\bperson 1\b", text_of(world.mara, "/projects/alone/"))
    number = world.project.memberships.count()
    for address in ("/projects/films/", "/"):
        assert re.search(rf"\bpeople {number}\b", text_of(world.mara, address))


def test_a_missing_estimate_says_what_the_twenty_items_are_needed_for(world: World) -> None:
    batch = world.batch(size=2, overlap=2)
    for who in ("ada", "bo"):
        for label in ("extraction", "reasoning"):
            world.label(batch, who, label)

    page = text_of(world.mara, f"/projects/films/agreement/?batch={batch.public_id}")

    assert (
        "Not enough data yet to estimate how many more items are needed. Only 2 items have two ratings so far."
        in page
    )
    assert "–: not enough data yet for this estimate. Follow the link of the batch for the reason." in page


def test_the_history_of_an_item_is_headed_by_its_question(world: World) -> None:
    item = world.batch(size=1).items.get()

    page = source_of(world.mara, f"/items/{item.public_id}/story/")

    (heading,) = re.findall(r"<h1[^>]*>([^<]+)</h1>", page)
    assert heading == item.example.question
    assert item.public_id in text_of(world.mara, f"/items/{item.public_id}/story/")
    assert page.split("<main")[1].count(item.example.question) == 1, "not again below its heading"


def test_a_long_question_is_cut_in_the_heading_and_whole_below(world: World) -> None:
    question = "Which film is the longest? " * 20 + "Heat?"
    source = world.import_written(
        Example(id="long", question=question, table=Table(["Film"], [["Heat"]]), answers=("Heat",))
    )
    item = world.batch(size=1, sources=[source]).items.get()

    page = source_of(world.mara, f"/items/{item.public_id}/story/")

    (heading,) = re.findall(r"<h1[^>]*>([^<]+)</h1>", page)
    assert heading.endswith("…")
    assert len(heading) == 140
    assert item.example.question in page


def test_pages_below_people_call_it_people(world: World) -> None:
    member = world.project.memberships.get(person=world.ada)
    for address in (
        f"/members/{member.pk}/roles/",
        f"/members/{member.pk}/remove/",
        "/projects/films/crowd/",
    ):
        crumbs = source_of(world.mara, address).partition('class="crumbs"')[2].partition("</ol>")[0]
        assert '<a href="/projects/films/people/">People</a>' in crumbs


def test_the_settings_call_gold_answers_as_the_menu_does(world: World) -> None:
    page = source_of(world.mara, f"/batches/{world.batch().public_id}/settings/")

    assert re.findall(r'<a href="#gold">([^<]+)</a>', page) == ["Gold answers"]


def test_an_import_of_responses_asks_for_a_tool_in_words(world: World) -> None:
    page = source_of(world.mara, "/projects/films/responses/import/")

    assert '<option value="" selected>choose a tool</option>' in page


def test_choosing_an_example_for_gold_asks_for_no_explanation(world: World) -> None:
    page = text_of(world.mara, f"/batches/{world.batch().public_id}/gold/new/?choose=1")

    assert "Answer the example on the annotation page. An explanation is optional." in page


def test_fooling_asks_for_a_model_only_where_no_batch_has_one(world: World) -> None:
    without = text_of(world.mara, "/projects/films/fooling/")
    assert "No batch has a model in the loop yet. Choose a model when you create a batch." in without

    Batch.objects.filter(pk=world.batch("question_paraphrase", variant="word").pk).update(loop_model="loop")

    page = text_of(world.mara, "/projects/films/fooling/")
    assert "The model in the loop has not evaluated any submission yet." in page
    assert "Choose a model" not in page


def test_an_empty_project_is_not_said_to_be_ready_for_a_release(world: World) -> None:
    page = text_of(world.mara, "/projects/films/releases/")

    assert "A release is possible now." not in page
    assert "These are not finished: Batches: There are no batches yet." in page

    world.batch()
    assert "A release is possible now. These are not finished:" in text_of(
        world.mara, "/projects/films/releases/"
    )


def test_the_chart_of_labels_counts_responses_as_responses() -> None:
    share = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 18}
    labels = [{"label": label, "ratings": 27, "share": share} for label in ("extraction", "reasoning")]

    figure = paper_figures.label_distribution({"name": "label", "distribution": labels}, None)

    assert figure is not None
    assert "n = 54" in figure.svg
    assert "n = 18" not in figure.svg


def test_hours_without_timed_work_are_a_dash_on_every_page(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    world.label(batch, "ada", "extraction")

    for address in ("/projects/films/dashboard/", "/projects/films/people/"):
        assert "active hours –" in text_of(world.mara, address)
        cells = re.findall(r"<td[^>]*>(.*?)</td>", source_of(world.mara, address), re.DOTALL)
        assert "0.00" not in [re.sub(r"<[^>]*>", "", cell).strip() for cell in cells]


def test_timed_hours_keep_their_decimals() -> None:
    member = {"pseudonym": "P1"}
    share = {
        "batch": {"name": "Types"},
        "items": 1,
        "skipped": 0,
        "by_kind": {},
        "an_hour": None,
        "amount": None,
        "currency": "",
    }

    shares = [{**share, "hours": 0.0}, {**share, "hours": 0.5}]
    figure = work_tables.pay([{"member": member, "share": share} for share in shares])

    assert figure is not None
    assert [line[4].text for line in figure.sheet.rows] == ["–", "0.50"]
