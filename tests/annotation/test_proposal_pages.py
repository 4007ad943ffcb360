"""Help in crafting on pages without scripts: a proposal goes into the form with a button, or is rejected with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import Annotation, Assignment, Batch, ProposalReaction, Provenance
from tests.annotation.cast import World
from tests.annotation.elements import Element, parsed


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.ada)
    return client


@pytest.fixture
def batch(world: World) -> Batch:
    return world.batch(
        "question_paraphrase", variant="sentence", help="offered", help_from={"rules": True}, overlap=1
    )


def opened(ada: Client, batch: Batch) -> Element:
    return parsed(ada.get(f"/batches/{batch.public_id}/annotate/").content.decode())


def press(ada: Client, batch: Batch, page: Element, button: str, **fields: str) -> Element:
    """The page after one of its buttons was pressed, with what the form holds."""
    (question,) = [area.text for area in page.all("textarea") if area.attributes.get("name") == "question"]
    chosen = [each for each in page.all("input", type="radio") if "checked" in each.attributes]
    form = {str(each.attributes["name"]): str(each.attributes["value"]) for each in chosen}
    form |= {"assignment": Assignment.objects.get(batch=batch, state="leased").public_id}
    form |= {"question": question, "action": button, **fields}
    reply = ada.post(f"/batches/{batch.public_id}/annotate/", form, follow=True)
    assert reply.status_code == 200
    return parsed(reply.content.decode())


def proposals(page: Element) -> Element:
    return page.find("askew-proposals").find("ol", class_="without-scripts")


def button(page: Element, start: str) -> str:
    values = [str(each.attributes.get("value")) for each in proposals(page).all("button")]
    return next(value for value in values if value.startswith(start))


def test_a_proposal_goes_into_the_form_with_a_button_and_is_the_machines(
    world: World, ada: Client, batch: Batch
) -> None:
    page = opened(ada, batch)
    first = proposals(page).all("p")[0].text

    page = press(ada, batch, page, button(page, "take:"))
    areas = [area.text for area in page.all("textarea") if area.attributes.get("name") == "question"]
    assert areas == [first]
    assert ProposalReaction.objects.get().act == "took"
    press(ada, batch, page, "submit")

    assert (Annotation.objects.get().response or {})["data"]["question"] == first
    assert Provenance.objects.get().origin == "machine"


def test_a_proposal_is_rejected_with_a_button_for_its_reason(world: World, ada: Client, batch: Batch) -> None:
    page = opened(ada, batch)
    assert [each.text for each in proposals(page).all("button")] == [
        "Use it",
        "meaning changed",
        "not asked for",
        "incomplete",
        "invented",
    ]

    page = press(ada, batch, page, button(page, "reject:"))

    assert proposals(page).find("li").attributes["data-state"] == "rejected"
    assert "Rejected." in proposals(page).text
    assert proposals(page).all("button") == []
    assert [reaction.errors for reaction in ProposalReaction.objects.all()] == [["meaning_changed"]]


def test_an_item_without_help_has_its_section_hidden_and_proposes_nothing(world: World, ada: Client) -> None:
    terms: dict[str, Any] = {
        "variant": "sentence",
        "help": "filled",
        "help_from": {"rules": True},
        "unhelped": 50,
    }
    batch = world.batch("question_paraphrase", overlap=1, **terms)
    seen: list[tuple[bool, bool]] = []
    while (assignment := world.take(batch, "ada")) is not None:
        url = f"/batches/{batch.public_id}/annotate/?assignment={assignment.public_id}"
        section = parsed(ada.get(url).content.decode()).find("askew-proposals")
        seen.append(("hidden" in section.attributes, len(section.all("button")) > 1))
        world.answer(assignment, {"question": f"question number {len(seen)}?", "category": "general"})

    assert sorted(seen) == [(False, True), (False, True), (True, False), (True, False)]


def test_a_batch_without_help_has_no_section(world: World, ada: Client) -> None:
    page = opened(ada, world.batch("question_paraphrase", variant="sentence", overlap=1))

    assert page.all("askew-proposals") == []
