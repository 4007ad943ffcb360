"""An adjudicator's page without scripts: forms decide."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from annotation.models import Decision
from tests.annotation.cast import World
from tests.annotation.plain_page import PlainPage, check, fill
from tests.modules.pages.adjudication import edited, opened


def test_an_item_is_excluded(world: World, client: Client) -> None:
    item = edited(world)
    page = PlainPage(client, opened(client, world, item))
    fill(page.field("Reason for exclusion"), "No such film.")
    page.press("Exclude item")
    assert page.address == reverse("adjudication", args=[item.batch.public_id])
    assert Decision.objects.get(item=item).reason == "No such film."


def test_a_response_is_chosen_and_its_note_goes_along_to_an_own_response_and_back(
    world: World, client: Client
) -> None:
    item = edited(world)
    page = PlainPage(client, opened(client, world, item))
    check(page.field("Choose response B"))
    fill(page.named("note"), "Neither reads the table.")
    page.press("Own response")
    assert page.named("note").get("value") == "Neither reads the table."
    fill(page.named("note"), "Neither reads the table, nor the question.")
    page.press("Back to the responses")
    assert page.address.startswith(reverse("adjudicate", args=[item.public_id]))
    assert page.named("note").text_content().strip() == "Neither reads the table, nor the question."
    assert not Decision.objects.filter(item=item).exists()
