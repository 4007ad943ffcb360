"""Home: one batch is recommended, the others are grouped, and each says in a line what it asks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.accounts.next_batch import GROUPS, BatchAvailability, sort_batches
from annotation.models import Batch, Exclusion, PersonBatchCounts
from annotation.web.views.pages import kind_instruction
from annotation.workflow import automatic_decisions
from tasks.contract import task_types
from tests.annotation.cast import NOON, World
from tests.annotation.test_qualification_journey import text

MOMENTS = st.none() | st.integers(0, 10_000).map(lambda minutes: NOON + timedelta(minutes=minutes))
STANDINGS = st.lists(
    st.builds(
        BatchAvailability,
        remaining=st.integers(0, 3),
        leased=st.integers(0, 2),
        ended_at=MOMENTS,
        locked=st.booleans(),
        admits=st.booleans(),
    ),
    max_size=8,
)


@given(STANDINGS)
def test_only_batches_that_can_be_gone_on_with_are_recommended_and_each_once(
    standings: list[BatchAvailability],
) -> None:
    order = sort_batches(standings)
    assert sorted(order) == [place for place, one in enumerate(standings) if one.remaining and not one.locked]


@given(STANDINGS)
def test_what_was_begun_comes_first_and_of_it_the_latest(standings: list[BatchAvailability]) -> None:
    order = [standings[place] for place in sort_batches(standings)]
    assert [one.has_begun for one in order] == sorted((one.has_begun for one in order), reverse=True)
    moments = [one.ended_at for one in order if one.ended_at is not None]
    assert moments == sorted(moments, reverse=True)


@given(STANDINGS)
def test_every_batch_is_in_one_group(standings: list[BatchAvailability]) -> None:
    assert {one.group for one in standings} <= set(GROUPS)
    assert all((one.group == "done") == (not one.remaining) for one in standings)


def home(client: Client, world: World, who: str = "ada") -> dict[str, object]:
    client.force_login(world.people[who])
    answer = client.get("/")
    assert answer.status_code == 200
    return {"text": text(answer), "html": answer.content.decode(), **(answer.context["recommended"] or {})}


def test_the_batch_in_which_one_worked_last_is_recommended(world: World, client: Client) -> None:
    first, second, third = (world.batch(size=3, name=name) for name in ("First", "Second", "Third"))
    assert home(client, world)["batch"] == first
    world.label(third, "ada", "extraction")
    world.label(second, "ada", "extraction")
    PersonBatchCounts.objects.filter(batch=third).update(ended_at=NOON + timedelta(hours=1))

    page = home(client, world)

    assert page["batch"] == third
    assert f'autofocus href="/batches/{third.public_id}/annotate/"' in str(page["html"])
    assert str(page["html"]).count("button primary") == 1
    assert "In progress" in str(page["text"])
    assert "2 of 3 items left for you" in str(page["text"])  # the page of the batch counts to 3, too
    assert "Not started" in str(page["text"])


def test_the_recommended_batch_is_not_listed_again(world: World, client: Client) -> None:
    recommended, other = (world.batch(size=3, name=name) for name in ("First", "Second"))
    html = str(home(client, world)["html"])
    assert html.count(f"/batches/{recommended.public_id}/annotate/") == 1
    assert html.count(f"/batches/{other.public_id}/annotate/") == 1
    assert html.count("/practice/question_type/") == 2


def test_a_project_with_nothing_but_the_recommended_batch_is_named_once(world: World, client: Client) -> None:
    world.batch(size=3)
    page = home(client, world)
    assert "All caught up" not in str(page["text"])
    assert str(page["text"]).count(world.project.name) == 1


def test_the_end_page_holds_for_a_person_who_helped_to_make_all_items(world: World, client: Client) -> None:
    batch = world.batch(size=1)
    Exclusion.objects.create(item=batch.items.get(), person=world.ada)
    client.force_login(world.ada)

    page = text(client.get(f"/batches/{batch.public_id}/annotate/"))

    assert "No item of this batch is left for you." in page


def test_a_batch_at_its_limit_is_not_recommended(world: World, client: Client) -> None:
    limited = world.batch(size=4, name="Limited", caps={"items_per_day": 1})
    other = world.batch(size=4, name="Other")
    assignment = world.take(limited, "ada")
    assert assignment is not None
    world.answer(assignment, {"label": "extraction"}, now=timezone.now())
    assert home(client, world)["batch"] == other


def test_a_qualification_comes_before_what_asks_for_it(world: World, client: Client) -> None:
    world.batch(size=2, name="Ordinary")
    assert home(client, world)["text"]
    standings = [
        BatchAvailability(remaining=2, locked=True),
        BatchAvailability(remaining=2),
        BatchAvailability(remaining=2, admits=True),
    ]
    assert sort_batches(standings) == [2, 1]


def test_nothing_is_recommended_where_nothing_is_left(world: World, client: Client) -> None:
    batch = world.batch(size=1)
    world.label(batch, "ada", "extraction")
    page = home(client, world)
    assert "batch" not in page
    assert "Nothing left for you (1)" in str(page["text"])


def test_what_waits_for_an_adjudicator_is_the_main_action_of_who_annotates_nothing(
    world: World, client: Client
) -> None:
    batch = world.batch(size=1, overlap=2)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=timezone.now())
    page = home(client, world, "ivo")
    assert str(page["html"]).count("button primary") == 1
    assert "1 item to adjudicate" in str(page["text"])
    assert "Nothing needs you now" not in str(page["text"])
    assert f"/projects/{world.project.slug}/adjudication/" in str(page["html"])


@pytest.mark.parametrize("kind", sorted(task_types()))
def test_every_batch_says_in_a_line_what_it_asks(world: World, kind: str) -> None:
    task = task_types()[kind]
    for variant in task.variants or [""]:
        batch = Batch(task_type=kind, variant=variant, settings=_defaults(task))
        line = kind_instruction(batch)
        assert line
        assert "{" not in line


def _defaults(task: object) -> dict[str, object]:
    properties = task.settings_schema.get("properties", {})  # type: ignore[attr-defined]
    return {name: spec["default"] for name, spec in properties.items() if "default" in spec}


def test_home_asks_as_much_for_many_batches_as_for_few(world: World, client: Client) -> None:
    world.batch(size=1)
    home(client, world)
    with CaptureQueriesContext(connection) as few:
        home(client, world)
    for _ in range(3):
        world.batch(size=1)
    with CaptureQueriesContext(connection) as many:
        home(client, world)
    assert len(many) == len(few)


def test_totals_count_what_the_person_can_have_not_what_others_have_done(
    world: World, client: Client
) -> None:
    batch = world.batch(name="Labels", size=4, overlap=1)
    for _ in range(2):
        world.label(batch, "bo", "extraction")
    world.label(batch, "ada", "extraction")
    client.force_login(world.ada)
    assert "1 of 2 item" in text(client.get("/"))
    assert "1 of 2 left" in text(client.get(reverse("project", args=["films"])))
    assert "1 of 2" in text(client.get(reverse("annotate", args=[batch.public_id])))
