"""Own columns of an import: filtered, sorted, counted, exported, and hidden where the answers are."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.access.authorization import Actor
from annotation.access.roles import Role
from annotation.explorer import index, item_access, querysets, result_counts, result_pages
from annotation.explorer.selection import BadSelection, parse
from annotation.models import Batch, IndexedValue, Item
from annotation.workflow import projects
from tests.annotation.cast import NOON, World
from tests.annotation.test_columns_at_work import CITIES, own_batch
from tests.annotation.test_explorer import browser, text

pytestmark = pytest.mark.both


@pytest.fixture
def batch(world: World) -> Batch:
    return own_batch(world)


def found(world: World, who: str = "mara", size: int = 50, **filters: str | list[str]) -> list[int]:
    """The numbers of the items that the person finds, page by page, in the order of the list."""
    index.refresh(world.project, now=timezone.now())
    reader = item_access.reader(Actor(world.people[who]), world.project)
    params = {name: [value] if isinstance(value, str) else value for name, value in filters.items()}
    keys: list[int] = []
    page = result_pages.page(reader, parse(params), size)
    while True:
        keys += page.keys
        assert len(keys) < 20, "the pages do not end"
        if not page.has_next:
            break
        last = Item.objects.get(pk=page.keys[-1]).public_id
        page = result_pages.page(reader, parse({**params, "after": [last]}), size)
    assert result_counts.count_up_to_limit(querysets.matching(reader, parse(params))) == len(keys)
    names = dict(Item.objects.values_list("pk", "example__external_id"))
    return [int(names[key].removeprefix("e")) for key in keys]


@pytest.mark.parametrize(
    ("filters", "items"),
    [
        ({"column": "meta.domain:films"}, [0, 3]),
        ({"column": ["meta.domain:films", "meta.domain:cities"]}, [0, 1, 2, 3]),
        ({"column": ["meta.domain:cities", "meta.level:2"]}, [1]),
        ({"column": "meta.level:3.5"}, [2]),
        ({"column": "meta.level:2~9"}, [1, 2]),
        ({"column": "meta.level:3~"}, [0, 2]),
        ({"column": "meta.level:~3"}, [1]),
        ({"column": "meta.tags:b"}, [0, 1]),
        ({"column": "meta.by.id:7"}, [0]),
        ({"column": "meta.checked:true"}, [3]),
        ({"column": "meta.note. long:x"}, [2]),
        ({"column": "meta.domain:opera"}, []),
        ({"column": "table.rows:2"}, [1, 2]),
        ({"column": "table.columns:2~2"}, [0, 3]),
        ({"column": f"table.id:{CITIES.digest()[:12]}"}, [1, 2]),
        ({"not": "column", "column": "meta.domain:films"}, [1, 2]),
        ({"sort": "meta.level"}, [1, 2, 0]),
        ({"sort": "-meta.level"}, [0, 2, 1]),
        ({"sort": "meta.domain"}, [1, 2, 0, 3]),
        ({"sort": "meta.tags"}, [0, 1]),
        ({"sort": "-table.rows", "column": "meta.level:3~"}, [2, 0]),
    ],
)
@pytest.mark.parametrize("size", [1, 50])
def test_a_column_of_an_import_filters_and_sorts_items(
    batch: Batch, world: World, filters: dict[str, Any], items: list[int], size: int
) -> None:
    assert found(world, size=size, **filters) == items


def test_a_column_that_no_example_has_is_refused_by_name(batch: Batch, world: World) -> None:
    wrong: list[dict[str, Any]] = [{"column": "meta.colour:red"}, {"sort": "meta.colour"}]
    for filters in wrong:
        with pytest.raises(BadSelection, match=r"There is no column meta\.colour in this project\."):
            found(world, **filters)
    with pytest.raises(BadSelection, match="write films as column:value"):
        parse({"column": ["films"]})


def test_the_values_of_a_column_are_counted_with_links_to_their_items(batch: Batch, world: World) -> None:
    mara = browser(world.mara)
    address = reverse("explorer_facets", args=["films"])

    listed = text(mara.get(address))
    counted = mara.get(f"{address}?facet=meta.domain&column=meta.level:2~")

    assert re.findall("Columns by.id .* domain .* level .* tags .* Table rows", listed)
    assert "cities 2 films 1" in text(counted)
    assert f"{reverse('explorer', args=['films'])}?column=meta.level%3A2~&amp;column=meta.domain%3Afilms" in (
        counted.content.decode()
    )
    assert "City, Country, People 2" in text(mara.get(f"{address}?facet=table.id"))
    assert mara.get(f"{address}?facet=meta.colour").status_code == 400


def test_a_column_is_filtered_in_two_clicks(batch: Batch, world: World) -> None:
    """Open the column next to the list, click a value: both addresses are in the page before."""
    mara = browser(world.mara)
    beside = mara.get(reverse("explorer_facets", args=["films"])).content.decode()
    column = next(
        part for part in beside.split('hx-get="') if part.startswith("/") and "facet=meta.domain" in part
    )

    values = mara.get(column.split('"')[0].replace("&amp;", "&")).content.decode()
    chosen = next(part for part in values.split('href="') if "films" in part.split('"')[0]).split('"')[0]

    assert "2 items" in text(mara.get(chosen.replace("&amp;", "&")))


def test_a_value_that_is_entered_becomes_a_filter(batch: Batch, world: World) -> None:
    reply = browser(world.mara).get(
        reverse("explorer", args=["films"]), {"column.meta.level": "2~9", "q": ""}
    )

    assert parse_qs(urlsplit(reply["location"]).query) == {"column": ["meta.level:2~9"]}


def test_a_list_in_the_order_of_a_column_shows_its_values(batch: Batch, world: World) -> None:
    page = text(browser(world.mara).get(reverse("explorer", args=["films"]), {"sort": "meta.level"}))

    assert "e1 · level: 2" in page
    assert "level, ascending" in page


def test_exports_have_a_column_for_each_own_column(batch: Batch, world: World) -> None:
    mara = browser(world.mara)
    mara.get(reverse("explorer", args=["films"]))  # the index
    address = reverse("explorer_export", args=["films"])

    table = list(csv.DictReader(io.StringIO(b"".join(mara.get(address)).decode())))
    lines = [json.loads(line) for line in b"".join(mara.get(address, {"format": "jsonl"})).splitlines()]
    api = mara.get(reverse("api_items", args=["films"])).json()["results"]

    assert [(row["meta.domain"], row["meta.tags"]) for row in table][:2] == [
        ("films", "a; b"),
        ("cities", "b"),
    ]
    assert lines[0]["meta"] == {
        "meta.domain": "films",
        "meta.level": "10",
        "meta.tags": "a; b",
        "meta.by.id": "7",
    }
    assert api[0]["meta"] == lines[0]["meta"]


def test_whoever_may_not_see_answers_sees_no_own_column(batch: Batch, world: World) -> None:
    """An own column may hold the answer."""
    world.batch("answer_check", name="Answers", only=["nu-0"])
    projects.add_member(
        project=world.project,
        person=world.zoe,
        roles=[Role.RESEARCHER, Role.ANNOTATOR],
        by=world.mara,
        now=NOON,
    )
    assert found(world, column="meta.domain:films") == [0, 3]

    with pytest.raises(BadSelection, match="There is no column"):
        found(world, "zoe", column="meta.domain:films")
    zoe = browser(world.zoe)
    assert "Columns" not in text(zoe.get(reverse("explorer_facets", args=["films"])))
    assert zoe.get(reverse("api_items", args=["films"])).json()["results"][0]["meta"] == {}


def test_an_example_is_indexed_once_for_all_of_its_items(batch: Batch, world: World) -> None:
    found(world)
    rows = IndexedValue.objects.count()
    world.batch(name="Again", sources=[batch.items.get(position=1).example.source], only=["e0"])

    assert sorted(found(world, column="meta.by.id:7")) == [0, 0]
    assert IndexedValue.objects.count() == rows


@pytest.mark.parametrize("size", ["0", "10001", "0000000015000000", "²", "-1"])
def test_a_random_sample_has_at_most_ten_thousand_items(size: str) -> None:
    with pytest.raises(BadSelection, match="sample"):
        parse({"sample": [size]})
