"""Saved views of the explorer: who sees them, who may share and delete them, and what cannot be saved."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from annotation.accounts import erasure
from annotation.explorer import saved_views
from annotation.explorer.links import explorer_url
from annotation.models import Person, SavedView
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both


@pytest.fixture
def clients(world: World) -> dict[str, Client]:
    made = {}
    for name in ("mara", "rea"):
        made[name] = Client()
        made[name].force_login(world.people[name])
    return made


def save(client: Client, world: World, name: str, query: str = "state=open", **more: str) -> Any:
    address = reverse("save_view", args=[world.project.slug])
    return client.post(address, {"name": name, "query": query, **more}, follow=True)


def test_a_view_leads_to_its_selection(clients: dict[str, Client], world: World) -> None:
    world.batch()

    shown = save(clients["rea"], world, " To  do ", "sort=-seconds&state=open&after=x")

    assert shown.redirect_chain[-1][0] == f"{explorer_url(world.project, state='open', sort='-seconds')}"
    assert 'aria-current="page">To do</a>' in shown.content.decode()


def test_own_views_are_for_oneself_and_shared_ones_for_all(clients: dict[str, Client], world: World) -> None:
    save(clients["mara"], world, "Mine")
    save(clients["mara"], world, "Ours", is_shared="on")

    page = clients["rea"].get(explorer_url(world.project)).content.decode()

    assert ">Ours</a>" in page
    assert "Mine" not in page
    assert "Delete views" not in page


def test_only_managers_share(clients: dict[str, Client], world: World) -> None:
    shown = save(clients["rea"], world, "Ours", is_shared="on")

    assert "Only managers can share a view" in shown.content.decode()
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    ("name", "query", "said"),
    [
        (" ", "state=open", "Enter a name"),
        ("x" * 61, "state=open", "Enter a name"),
        ("Odd", "nothing=1", "These filters cannot be saved"),
        ("Long", "&".join(f"item={'x' * 400}{n}" for n in range(20)), "too many filters"),
    ],
    ids=["empty", "long name", "unknown filter", "many filters"],
)
def test_what_cannot_be_saved_is_refused(
    clients: dict[str, Client], world: World, name: str, query: str, said: str
) -> None:
    assert said in save(clients["mara"], world, name, query).content.decode()
    assert not SavedView.objects.exists()


def test_a_refused_view_keeps_the_selection_and_what_was_entered(
    clients: dict[str, Client], world: World
) -> None:
    world.batch()
    save(clients["mara"], world, "Torn", is_shared="on")

    refused = save(
        clients["mara"], world, "Torn", "sort=-seconds&state=open&flagged=no&after=x", is_shared="on"
    )

    address = explorer_url(world.project, state="open", flagged="no", sort="-seconds")
    page = refused.content.decode()
    assert refused.redirect_chain[-1][0] == address
    assert "already called Torn" in page
    form = page.split('class="popped stack"')[1].split("</form>")[0]
    assert 'value="Torn"' in form
    assert " checked" in form
    later = clients["mara"].get(address).content.decode()
    assert 'value="Torn"' not in later, "only the next page has it"
    assert save(clients["mara"], world, "Another", "state=open").status_code == 200
    assert SavedView.objects.get(name="Another").query == "state=open"


def test_a_view_whose_filters_are_refused_leads_to_all_items(
    clients: dict[str, Client], world: World
) -> None:
    refused = save(clients["mara"], world, "Odd", "nothing=1")

    assert refused.redirect_chain[-1][0] == explorer_url(world.project)


def test_a_name_is_used_once_and_their_number_is_limited(
    clients: dict[str, Client], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_views, "MOST", 2)
    save(clients["mara"], world, "One")

    assert "already called One" in save(clients["mara"], world, "One").content.decode()
    save(clients["rea"], world, "One")
    save(clients["mara"], world, "Two")
    assert "There are 2 saved views already" in save(clients["mara"], world, "Three").content.decode()
    assert SavedView.objects.count() == 3
    with pytest.raises(IntegrityError):
        SavedView.objects.create(
            project=world.project, name="One", query="", made_by=world.mara, made_at=NOON
        )


def test_everyone_deletes_their_own_views_and_managers_shared_ones(
    clients: dict[str, Client], world: World
) -> None:
    save(clients["mara"], world, "Ours", is_shared="on")
    save(clients["rea"], world, "Mine")
    addresses = [
        reverse("delete_view", args=[world.project.slug, view.public_id])
        for view in SavedView.objects.order_by("name")
    ]

    answers = {
        (name, address): clients[name].post(address, {"confirmed": "yes"}).status_code
        for name in ("mara", "rea")
        for address in reversed(addresses)
    }

    mine, ours = addresses
    assert answers == {("mara", ours): 302, ("mara", mine): 404, ("rea", ours): 404, ("rea", mine): 302}
    assert not SavedView.objects.exists()


def test_erasing_a_person_deletes_their_views_and_those_that_look_for_them(
    clients: dict[str, Client], world: World
) -> None:
    ada: Person = world.ada
    save(clients["mara"], world, "Odd years", "q=ada", is_shared="on")
    save(clients["mara"], world, "Open", is_shared="on")
    SavedView.objects.create(project=world.project, name="Mine", query="", made_by=ada, made_at=NOON)

    erasure.erase(person=ada, by=ada, now=NOON)

    assert list(SavedView.objects.values_list("name", flat=True)) == ["Open"]
