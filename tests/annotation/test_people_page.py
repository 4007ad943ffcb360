"""The page of the people of a project: members with progress and pay, and the addresses that led to parts of it before."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from annotation.access.roles import Role
from annotation.models import Person
from annotation.workflow import projects
from tests.annotation.cast import NOON, World
from tests.annotation.role_table import make_people

ADDRESS = "/projects/films/people/"


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def words(text: str) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", text).split()))


def row(response: Any, name: str) -> str:
    """The row of a member, in words."""
    section = response.content.decode().partition('<section id="members"')[2].partition("</section>")[0]
    return next(words(each) for each in section.split("<tr>") if name in each)


def test_a_member_has_progress_and_pay_in_one_row(world: World, mara: Client) -> None:
    projects.change_terms(
        project=world.project,
        pay={"currency": "EUR", "per_item": 2},
        caps={},
        model_budget=None,
        by=world.mara,
        now=NOON,
    )
    batch = world.batch()
    world.label(batch, "ada", "extraction")
    world.label(batch, "ada", "reasoning")
    world.take(batch, "ada")

    page = mara.get(ADDRESS)

    assert "annotator 2 1 – 4.00 EUR Roles Remove" in row(page, "Ada")
    assert "annotator 0 0 – – Roles Remove" in row(page, "Bo")


def test_a_page_without_pay_says_that_simulated_annotators_are_left_out(world: World, mara: Client) -> None:
    note = "Simulated annotators are not paid, and their items do not count here."
    before = words(mara.get(ADDRESS).content.decode())
    batch = world.batch()
    world.label(batch, "ada", "extraction")
    paid = words(mara.get(ADDRESS).content.decode())
    Person.objects.filter(pk=world.ada.pk).update(is_simulated=True)

    simulated = words(mara.get(ADDRESS).content.decode())
    in_a_period = words(mara.get(f"{ADDRESS}?first=2020-01-01&last=2020-01-31").content.decode())

    assert "No work yet." in before
    assert note not in before
    assert note not in paid
    assert note in simulated
    assert "No work yet." not in simulated
    assert f"No work in this period. {note}" in in_a_period


def test_a_manager_who_annotates_with_gold_items_reads_no_counts_of_that_batch(
    world: World, mara: Client
) -> None:
    projects.add_member(
        project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
    )
    batch = world.batch(gold_percent=20)
    world.label(batch, "ada", "extraction")
    world.label(batch, "mara", "extraction")

    page = mara.get(ADDRESS)

    assert "annotator 0 0" in row(page, "Ada")
    assert "You annotate in these batches" in words(page.content.decode())


def test_crowd_links_are_on_the_page_once_there_are_some(world: World, mara: Client) -> None:
    assert "New crowd link" in words(mara.get(ADDRESS).content.decode())

    make_people(world)

    section = mara.get(ADDRESS).content.decode().partition('<section id="crowd"')[2]
    assert "Crowd open" in words(section)


def test_a_wrong_rate_does_not_touch_the_form_of_invitations(world: World, mara: Client) -> None:
    page = mara.post(ADDRESS, {"section": "rates", "currency": "euro"})

    assert page.context["rates"].errors or "three capitals" in words(page.content.decode())
    assert not page.context["form"].is_bound


def test_a_long_address_breaks_at_its_host_and_not_within_a_word(world: World, mara: Client) -> None:
    world.ada.email = "ada<b>@films.example.org"
    world.ada.save()

    page = mara.get(ADDRESS).content.decode()

    assert "ada&lt;b&gt;@<wbr>films<wbr>.example<wbr>.org, joined" in page
