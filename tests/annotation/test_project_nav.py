"""The way around a project leads everybody to every page they may read, and to no other."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.templatetags.project_nav import OF_A_BATCH, SECTIONS
from tests.annotation.cast import World
from tests.annotation.role_table import MEMBERS, PAGES, Things, make_things

pytestmark = pytest.mark.one_database

LINKS = [link for _, links in SECTIONS for link in links]
LINKS += [link for link in OF_A_BATCH if link.name != "try_batch"]  # the page at work has the way back alone


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def ways(client: Client, address: str) -> list[str]:
    """The addresses in the way around that the page shows."""
    html = client.get(address).content.decode()
    found = re.search(r'<nav class="places".*?</nav>', html, re.DOTALL)
    return re.findall(r'href="([^"]+)"', found[0]) if found else []


def test_every_way_leads_to_a_page(things: Things) -> None:
    places = [
        reverse("project", args=[things.world.project.slug]),
        reverse("batch", args=[things.batch.public_id]),
    ]
    for who in sorted(MEMBERS):
        client = Client()
        client.force_login(things.world.people[who])
        for address in dict.fromkeys(way for place in places for way in ways(client, place)):
            assert client.get(address).status_code == 200, f"{who} comes to {address}"


def test_who_may_read_a_page_is_shown_the_way(things: Things) -> None:
    clients = {who: Client() for who in MEMBERS}
    for who, client in clients.items():
        client.force_login(things.world.people[who])
    for link in LINKS:
        arguments, readers, _ = PAGES[link.name]
        address = reverse(link.name, args=arguments(things))
        for who in sorted((readers or set()) & MEMBERS):
            assert address in ways(clients[who], address), f"{who} on {link.name}"


def test_the_page_that_one_is_on_is_marked(things: Things) -> None:
    client = Client()
    client.force_login(things.world.mara)
    html = client.get(reverse("payments", args=[things.world.project.slug])).content.decode()
    assert re.search(r'<a href="[^"]+/payments/" aria-current="page">', html)
    assert html.count('aria-current="page"') == 1


def test_nobody_is_shown_a_way_around_a_project_while_annotating(things: Things) -> None:
    client = Client()
    client.force_login(things.world.bo)
    assert ways(client, reverse("annotate", args=[things.batch.public_id])) == []
