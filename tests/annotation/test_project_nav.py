"""The way around a project leads everybody to every page they may read, and to no other."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.access.roles import Role
from annotation.models import Batch, Membership, Person
from annotation.templatetags.project_nav import (
    FOOLING,
    MENU,
    MENU_OF_BATCH,
    ROOM,
    TABS,
    TABS_OF_BATCH,
    WITHIN,
    Link,
    level,
)
from tests.annotation.cast import World
from tests.annotation.role_table import MEMBERS, PAGES, Things, make_things

OF_PROJECT = [*TABS, *MENU, FOOLING]
OF_BATCH = [*TABS_OF_BATCH, *MENU_OF_BATCH]
LINKS = [link for row in WITHIN.values() for link in row] + OF_PROJECT
LINKS += [link for link in OF_BATCH if link.name != "try_batch"]  # the page at work has the way back alone


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def ways(client: Client, address: str) -> list[str]:
    """The addresses in the way around that the page shows."""
    html = client.get(address).content.decode()
    return re.findall(r'href="([^"]+)"', shown(html))


def shown(html: str) -> str:
    """The navigation of a page."""
    found = re.search(r'<nav class="places".*?</nav>', html, re.DOTALL)
    return found[0] if found else ""


def levels(html: str) -> list[int]:
    """The number of entries of each level, with the menu."""
    rows = re.findall(r'<div class="line.*?(?=<div class="line|</nav>)', shown(html), re.DOTALL)
    return [row.split("<details")[0].count("<li>") + row.count("<summary") for row in rows]


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
    html = client.get(reverse("project_log", args=[things.world.project.slug])).content.decode()
    assert re.search(r'<a href="[^"]+/log/" aria-current="page">', html)
    assert html.count('aria-current="page"') == 1


def test_nobody_is_shown_a_way_around_a_project_while_annotating(things: Things) -> None:
    client = Client()
    client.force_login(things.world.bo)
    assert ways(client, reverse("annotate", args=[things.batch.public_id])) == []


def test_a_level_has_at_most_six_entries_for_everybody(things: Things) -> None:
    everything = Person.objects.create_person("Eve", "eve@example.org")
    Membership.objects.create(
        project=things.world.project,
        person=everything,
        roles=[role.value for role in Role],
        pseudonym="everything",
        joined_at=things.member.joined_at,
    )
    Batch.objects.filter(pk=things.batch.pk).update(loop_model="some")
    for person in (*(things.world.people[who] for who in MEMBERS), everything):
        client = Client()
        client.force_login(person)
        for name in ("project", "dashboard", "batch"):
            arguments, _, _ = PAGES[name]
            page = client.get(reverse(name, args=arguments(things)))
            if page.status_code == 200:
                numbers = levels(page.content.decode())
                assert numbers, f"{name} as {person.name}"
                assert max(numbers) <= ROOM, f"{name} as {person.name}"


def test_no_name_is_on_two_levels() -> None:
    titles = [
        link.title for link in (*OF_PROJECT, *OF_BATCH, *(link for row in WITHIN.values() for link in row))
    ]

    assert len(set(titles)) == len(titles)


def test_pages_without_room_go_to_the_menu_in_their_order() -> None:
    def links(*names: str) -> list[Link]:
        return [Link(name, name) for name in names]

    few = level(links("a", "b"), links("c"))
    many = level(links("a", "b", "c", "d", "e", "f"), links("g"))

    assert [link.name for link in few.tabs] == ["a", "b", "c"]
    assert few.menu == []
    assert [link.name for link in many.tabs] == ["a", "b", "c", "d", "e"]
    assert [[link.name for link in group] for _, group in many.menu] == [["f", "g"]]


def test_fooling_is_with_quality_once_a_batch_has_a_model(things: Things) -> None:
    client = Client()
    client.force_login(things.world.mara)
    address = reverse("fooling", args=[things.world.project.slug])
    dashboard = reverse("dashboard", args=[things.world.project.slug])

    def row() -> str:
        return shown(client.get(dashboard).content.decode()).split('<div class="line within">')[1]

    assert address not in row()
    assert address in ways(client, dashboard)

    Batch.objects.filter(pk=things.batch.pk).update(loop_model="some")

    assert address in row()
    assert ways(client, dashboard).count(address) == 1


def test_a_page_of_a_batch_belongs_to_the_overview(things: Things) -> None:
    client = Client()
    client.force_login(things.world.mara)

    html = shown(client.get(reverse("batch", args=[things.batch.public_id])).content.decode())

    assert re.search(r'<a href="/projects/films/" data-current>', html)
    assert html.count('aria-current="page"') == 1
