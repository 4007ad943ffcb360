"""The items of a project through the API: the selection of the page, and no more than the page shows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from annotation.access.roles import Permission, Role
from annotation.models import Batch, Exclusion, Membership
from annotation.web.api.explorer import ItemResponseShape, ItemsShape, ListedItemShape
from annotation.workflow import automatic_decisions, projects
from tests.annotation.cast import NOON, World
from tests.annotation.test_api import program

ITEMS = "projects/films/items/"


@pytest.fixture
def batch(world: World) -> Batch:
    """Four items: 0 is accepted, 1 waits for an adjudicator, 2 and 3 have nothing yet."""
    batch = world.batch(name="Labels", overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "extraction"), ("ada", "reasoning"), ("bo", "neither")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def test_items_have_their_responses_under_pseudonyms(batch: Batch, world: World) -> None:
    names = dict(Membership.objects.filter(project=world.project).values_list("person__name", "pseudonym"))

    answer = program(world, "mara")("GET", f"{ITEMS}?pair=label:reasoning~neither").body

    (item,) = answer["results"]
    assert (answer["count"], item["state"], item["differs"]) == (1, "adjudication", True)
    assert [(one["person"], one["response"]) for one in item["responses"]] == [
        (names["Ada"], {"label": "reasoning"}),
        (names["Bo"], {"label": "neither"}),
    ]


def test_the_answer_has_the_fields_of_the_schema(batch: Batch, world: World) -> None:
    answer = program(world, "mara")("GET", f"{ITEMS}?pair=label:reasoning~neither").body

    (item,) = answer["results"]
    assert set(answer) == set(ItemsShape().fields)
    assert set(item) == set(ListedItemShape().fields)
    assert set(item["responses"][0]) == set(ItemResponseShape().fields)


def test_a_day_is_the_same_by_api_as_on_the_page(world: World) -> None:
    batch = world.batch()
    late = datetime(2026, 3, 2, 20, tzinfo=UTC)  # 3 March in Tokyo
    for who in ("ada", "bo"):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"label": "extraction"}, now=late)
    projects.change_person(person=world.mara, name="Mara", time_zone="Asia/Tokyo")
    world.mara.refresh_from_db()
    page = Client()
    page.force_login(world.mara)
    for day, number in (("2026-03-02", 0), ("2026-03-03", 1)):
        query = f"?since={day}&until={day}"
        assert program(world, "mara")("GET", f"{ITEMS}{query}").body["count"] == number
        assert len(page.get(f"/projects/films/explorer/{query}").context["lines"]) == number


def test_pages_lead_forth_and_back(batch: Batch, world: World) -> None:
    mara = program(world, "mara")

    def follow(address: str) -> dict[str, Any]:
        return mara("GET", address.partition("/api/")[2]).body

    whole = [one["item"] for one in mara("GET", ITEMS).body["results"]]
    first = mara("GET", f"{ITEMS}?page_size=2").body
    second = follow(first["next"])
    back = follow(second["previous"])

    assert [one["item"] for one in first["results"] + second["results"]] == whole
    assert (first["previous"], second["next"]) == (None, None)
    assert back["results"] == first["results"]


@pytest.mark.parametrize(
    "query", ["nothing=1", "batch=elsewhere", "state=odd", "page_size=no", "page_size=0"]
)
def test_what_is_no_filter_is_named(batch: Batch, world: World, query: str) -> None:
    answer = program(world, "mara")("GET", f"{ITEMS}?{query}")

    assert (answer.status_code, answer.body["code"]) == (422, "invalid_request")


def test_annotators_of_an_open_batch_see_its_questions_alone(batch: Batch, world: World) -> None:
    member = Membership.objects.get(person=world.mara, project=world.project)
    projects.change_roles(membership=member, roles=[Role.MANAGER, Role.ANNOTATOR], by=world.mara, now=NOON)
    mara = program(world, "mara")

    everything = mara("GET", ITEMS).body["results"]

    assert {(one["state"], one["differs"], *one["responses"]) for one in everything} == {("", None)}
    assert mara("GET", f"{ITEMS}?label=label:reasoning").body["count"] == 0


def test_adjudicators_read_no_response_to_an_undecided_item(batch: Batch, world: World) -> None:
    items = program(world, "ivo")("GET", ITEMS).body["results"]

    assert [bool(one["responses"]) for one in items] == [True, False, False, False]


def test_reading_responses_to_an_item_is_noted(batch: Batch, world: World) -> None:
    program(world, "ivo")("GET", ITEMS)

    read = Exclusion.objects.filter(person=world.people["ivo"], read_at__isnull=False)
    assert list(read.values_list("item__position", flat=True)) == [1]


def test_a_token_without_the_permission_reads_no_items(batch: Batch, world: World) -> None:
    assert program(world, "mara", Permission.ANNOTATE)("GET", ITEMS).status_code == 404
