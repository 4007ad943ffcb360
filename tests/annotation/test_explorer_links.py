"""Numbers of items on other pages lead to a selection of as many items."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from annotation.explorer.links import explorer_url
from annotation.journeys import adjudicating, annotating
from annotation.models import Assignment, Batch, Membership
from tests.annotation.cast import NOON, World

LINK = re.compile(
    r'<a [^>]*href="(/(?:projects/[^"/]+/explorer|batches/[^"/]+/items)/[^"]*)"[^>]*>'
    r"(?:<rect [^>]*><title>[^<]*</title></rect>)?(?:\s*<[^>]+>)*([\d,.]+)\D"
)
"""A link to a selection whose text begins with a number."""


@pytest.fixture
def batch(world: World) -> Batch:
    """Items that are accepted, excluded, to adjudicate, skipped, in progress and waiting."""
    batch = world.batch(name="Labels", overlap=2)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    adjudicating.resolve_batch(batch=batch, now=NOON + timedelta(days=1))
    skipped = world.take(batch, "cy")
    assert skipped is not None
    annotating.skip(assignment=skipped, reason="A torn table", now=NOON + timedelta(days=1))
    assert world.take(batch, "ada") is not None
    return batch


def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def links(client: Client, address: str) -> list[tuple[str, int]]:
    """The links of a page to selections, each with the number that it says."""
    page = client.get(address)
    assert page.status_code == 200, address
    matches = LINK.findall(page.content.decode())
    return [(html.unescape(target), int(re.sub(r"\D", "", number))) for target, number in matches]


def listed(client: Client, address: str) -> int:
    """The number of items of a selection as its page says it, or of what the selection counts of them."""
    page = client.get(address)
    assert page.status_code == 200, address
    match = re.search(r"<h2[^>]*>(\d+) items?(?:</h2>| <small[^>]*>· \D*(\d+))", page.content.decode())
    assert match is not None, address
    return int(match[2] or match[1])


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("project", {"state=accepted", "state=adjudication", "in_progress=yes", "in_progress=no"}),
        ("batch", {"state=accepted", "state=adjudication", "skipped=any"}),
        ("batch_people", {"person=", "skipped=any", "in_progress=yes"}),
        ("people", {"person=", "skipped=any", "in_progress=yes", "state=accepted"}),
        ("batch_quality", {"person=", "skipped=any"}),
        ("dashboard", {"state=accepted"}),
        ("agreement", {"pair="}),
        ("home", {"state=accepted"}),
    ],
)
def test_a_number_leads_to_as_many_items(batch: Batch, world: World, name: str, states: set[str]) -> None:
    client = mara(world)
    of_batch, of_project = [batch.public_id], [world.project.slug]
    arguments = {"batch": of_batch, "batch_people": of_batch, "batch_quality": of_batch, "home": []}

    numbers = links(client, reverse(name, args=arguments.get(name, of_project)))

    assert {target: listed(client, target) for target, _ in numbers} == dict(numbers)
    assert not {state for state in states if not any(state in target for target, _ in numbers)}


def test_the_queue_of_an_adjudicator_leads_to_the_items_that_wait(batch: Batch, world: World) -> None:
    client = Client()
    client.force_login(world.ivo)

    numbers = links(client, reverse("adjudication", args=[batch.public_id]))

    assert numbers == [(explorer_url(world.project, batch=batch, state="adjudication"), 1)]
    assert listed(client, numbers[0][0]) == 1


def test_an_example_is_found_by_its_id(batch: Batch, world: World) -> None:
    item = batch.items.get(position=2)

    for named in (item.example.external_id, item.example.public_id):
        assert listed(mara(world), explorer_url(world.project, example=named)) == 1


def test_items_in_progress_of_a_person_are_those_that_the_person_has_now(batch: Batch, world: World) -> None:
    names = dict(Membership.objects.filter(project=world.project).values_list("person__name", "pseudonym"))
    client = mara(world)

    assert listed(client, explorer_url(world.project, person=names["Ada"], in_progress="yes")) == 1
    assert listed(client, explorer_url(world.project, in_progress="no")) == 3


def test_two_people_who_skipped_one_item_are_counted_where_the_number_leads(world: World) -> None:
    client = mara(world)
    asked = world.batch(size=1, overlap=2, seed=9, name="Skipped by two")
    for who in ("ada", "bo"):
        held = world.take(asked, who)
        assert held is not None
        annotating.skip(assignment=held, reason="Torn", now=NOON)

    page = client.get(f"/batches/{asked.public_id}/").content.decode()
    listed = client.get(f"/batches/{asked.public_id}/items/?skipped=any").content.decode()

    assert '?skipped=any">2</a>' in page
    assert "1 item" in listed
    assert "skipped 2 times" in listed


def test_totals_of_responses_lead_to_the_items_that_have_them(batch: Batch, world: World) -> None:
    client = mara(world)
    given = Assignment.objects.filter(batch=batch).submitted().count()

    for page, address in (
        ("/projects/films/", "/projects/films/explorer/?answered=yes"),
        (f"/batches/{batch.public_id}/", f"/batches/{batch.public_id}/items/?answered=yes"),
    ):
        assert f'<a href="{address}">{given}</a>' in client.get(page).content.decode()
        assert f"{given} responses" in client.get(address).content.decode()
