"""Negated filters, alternatives and random samples of the explorer, and filters by what became of a response."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from django.utils import timezone

from annotation.access.authorization import Actor
from annotation.explorer import index, item_access, querysets, result_pages
from annotation.explorer.links import explorer_url
from annotation.explorer.selection import BadSelection, Selection, parse, query
from annotation.models import Batch, Item, Source
from annotation.workflow import adjudication
from tableqa import Example, Table
from tests.annotation.cast import NOON, World
from tests.annotation.test_explorer import browser, labelled_batch, pseudonym, text

pytestmark = pytest.mark.both


@pytest.fixture
def batch(world: World) -> Batch:
    return labelled_batch(world)


@pytest.mark.parametrize(
    ("address", "positions"),
    [
        ("not=label&label=label:extraction", [2, 3]),
        ("not=label&label=label:reasoning", [0, 2, 3]),
        ("not=state&state=accepted", [1, 2, 3]),
        ("not=state&state=accepted&state=open", [1]),
        ("not=q&q=heat", [1, 2, 3]),
        ("not=skipped&skipped=any", [0, 1, 3]),
        ("not=flagged&flagged=yes", [0, 1, 3]),
        ("or=state&or=flagged&state=accepted&flagged=yes", [0, 2]),
        ("or=state&or=flagged&state=accepted&flagged=yes&q=heat", [0]),
        ("or=state&or=flagged&not=flagged&state=adjudication&flagged=yes", [0, 1, 3]),
        ("or=label&label=label:reasoning", [1]),
        ("not=label", [0, 1, 2, 3]),
        ("noted=yes", [2]),
        ("noted=no", [0, 1, 3]),
        ("sent_back=yes", []),
        ("lost=yes", []),
        ("failed_gold=yes", []),
    ],
)
def test_a_filter_is_negated_or_one_of_several(
    batch: Batch, world: World, address: str, positions: list[int]
) -> None:
    assert items_of(world, address) == positions


def test_a_response_that_the_decision_contradicts_has_lost(batch: Batch, world: World) -> None:
    item = batch.items.get(position=2)
    chosen = item.assignments.get(person=world.bo).annotation
    assert chosen is not None
    adjudication.decide(item=item, by=world.ivo, choose=[chosen.public_id], note="Clear.", now=NOON)

    assert items_of(world, "lost=yes") == [1]
    assert items_of(world, f"lost=yes&person={pseudonym(world, 'ada')}") == [1]
    assert items_of(world, f"lost=yes&person={pseudonym(world, 'bo')}") == []
    assert items_of(world, "noted=yes") == [1, 2]


def test_a_random_sample_is_the_same_for_the_same_seed(world: World) -> None:
    world.batch(sources=[many(world)], name="Many")
    first, again = items_of(world, "sample=10"), items_of(world, "sample=10&seed=1")
    others = items_of(world, "sample=10&seed=2")

    assert first == again
    assert len(set(first)) == len(set(others)) == 10
    assert first != others
    assert len(items_of(world, "sample=10&q=17")) == 1


def items_of(world: World, address: str) -> list[int]:
    """The numbers of the items at this query string, from 0, in the order of the batch."""
    index.refresh(world.project, now=timezone.now())
    reader = item_access.reader(Actor(world.mara), world.project)
    keys = result_pages.page(reader, parse(parse_qs(address)), 50).keys
    return sorted(
        position - 1 for position in Item.objects.filter(pk__in=keys).values_list("position", flat=True)
    )


def many(world: World) -> Source:
    table = Table(["A"], [["1"]])
    return world.import_written(
        *(Example(f"q{n}", f"Number {n}?", table, ["1"]) for n in range(60)), name="many"
    )


def test_a_sample_says_how_to_draw_again(batch: Batch, world: World) -> None:
    mara = browser(world.mara)

    assert 'sample=20"' in mara.get(explorer_url(world.project)).content.decode()
    assert "sample=20&amp;seed=2" in mara.get(explorer_url(world.project, sample="20")).content.decode()


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"not": ["colour"]}, "not: colour is not one of q,"),
        ({"or": ["sort"]}, "or: sort is not one of q,"),
        ({"sample": ["0"]}, "sample: 0 is not a whole number from 1 to 10000."),
        ({"sample": ["²"]}, "sample: ² is not a whole number from 1 to 10000."),
        ({"seed": ["x"]}, "seed: x is not a whole number"),
    ],
)
def test_what_combines_no_filters_is_refused(params: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(BadSelection) as refused:
        parse(params)

    assert sentence in str(refused.value)


def test_a_combination_without_its_filter_is_none() -> None:
    assert parse({"not": ["label"], "or": ["state"]}) == Selection()
    chosen = parse({"not": ["label"], "label": ["label:a"], "or": ["state"], "state": ["open"]})
    assert query(chosen) == "state=open&label=label%3Aa&not=label&or=state"


def test_only_managers_filter_by_failed_gold(batch: Batch, world: World) -> None:
    reader = item_access.reader(Actor(world.rea), world.project)

    for address in ({"failed_gold": ["yes"]}, {"not": ["failed_gold"], "failed_gold": ["yes"]}):
        with pytest.raises(BadSelection, match="Only managers can filter by gold items"):
            querysets.matching(reader, parse(address))


def test_chips_lead_to_the_opposite_and_to_any_of_the_filters(batch: Batch, world: World) -> None:
    page = browser(world.mara).get(explorer_url(world.project, state="accepted", flagged="yes"))
    html = page.content.decode()

    assert "state=accepted&amp;flagged=yes&amp;not=flagged" in html
    assert "state=accepted&amp;flagged=yes&amp;or=state&amp;or=flagged" in html
    opposite = browser(world.mara).get(f"{explorer_url(world.project, state='accepted')}&not=state")
    assert "State is not accepted" in text(opposite)
