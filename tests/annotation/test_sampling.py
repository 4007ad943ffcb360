"""Items are made of a sample in its order, whatever order their tables are read in."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Item
from annotation.queue import lineage, sampling, slots
from tableqa import Example, Table
from tasks.contract import PreparedInputs, TaskType, task_type
from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lineage, slots):
        monkeypatch.setattr(module, "AT_ONCE", 2)


def _questions(world: World) -> Any:
    """Seven questions over three tables, those of one table apart; every second answer stands in its table."""
    tables = [Table(["a"], [[f"cell {number}"]]) for number in range(3)]
    return world.import_written(
        *(
            Example(f"nu-{at}", "what is it?", tables[at % 3], [f"cell {at % 3}" if at % 2 else "nowhere"])
            for at in range(7)
        )
    )


def test_items_stand_in_the_order_of_the_sample_with_what_belongs_to_them(world: World) -> None:
    source = _questions(world)
    drawn = sampling.sample([source], seed=3)

    batch = world.batch(sources=[source], seed=3)

    items = list(Item.objects.filter(batch=batch).select_related("example").order_by("position"))
    assert [item.example_id for item in items] == drawn
    assert [item.position for item in items] == list(range(1, 8))
    for item in items:
        stands = int(item.example.external_id[-1]) % 2
        label = item.inputs["suggestions"]["rule"]["label"]
        assert label == ("extraction" if stands else "reasoning"), item.example.external_id
    batch.refresh_from_db()
    assert (batch.items_count, batch.slots_count) == (7, 7 * batch.overlap)


def test_the_most_wanted_come_first_and_the_rest_in_order(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _questions(world)
    kind = type(task_type("question_type"))
    wanted = {"nu-4": 2.0, "nu-1": 1.0}

    def prepare(self: TaskType, example: Example, around: Any) -> PreparedInputs | None:
        return (
            None if example.id == "nu-6" else PreparedInputs({"of": example.id}, wanted.get(example.id, 0.0))
        )

    monkeypatch.setattr(kind, "prepare", prepare)
    batch = world.batch(sources=[source], only=[f"nu-{at}" for at in (6, 5, 4, 3, 2, 1, 0)])

    items = Item.objects.filter(batch=batch).order_by("position").values_list("inputs__of", flat=True)
    assert list(items) == ["nu-4", "nu-1", "nu-5", "nu-3", "nu-2", "nu-0"]


def test_what_was_prepared_together_is_seen_in_the_order_of_the_sample(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _questions(world)
    kind = type(task_type("question_type"))
    seen: list[str] = []

    def together(self: TaskType, prepared: Any, settings: Any) -> Any:
        seen.extend(one.inputs["of"] for one in prepared)
        return [one if at % 2 else None for at, one in enumerate(prepared)]

    monkeypatch.setattr(kind, "prepare", lambda self, example, around: PreparedInputs({"of": example.id}))
    monkeypatch.setattr(kind, "together", together)
    names = [f"nu-{at}" for at in (6, 0, 5, 1, 4, 2, 3)]
    batch = world.batch(sources=[source], only=names)

    assert seen == names
    items = Item.objects.filter(batch=batch).order_by("position").values_list("inputs__of", flat=True)
    assert list(items) == ["nu-0", "nu-1", "nu-2"]


def test_a_kind_without_favourites_looks_no_further_than_it_must(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _questions(world)
    kind = type(task_type("question_type"))
    looked: list[str] = []

    def prepare(self: TaskType, example: Example, around: Any) -> PreparedInputs | None:
        looked.append(example.id)
        return None if example.id == "nu-5" else PreparedInputs({"of": example.id})

    monkeypatch.setattr(kind, "favourites", False)
    monkeypatch.setattr(kind, "without", "it lacks something.")
    monkeypatch.setattr(kind, "prepare", prepare)
    batch = world.batch(sources=[source], size=3, seed=1)

    drawn = [f"nu-{key}" for key in _numbers(source, seed=1)]
    expected = [name for name in drawn if name != "nu-5"][:3]
    assert looked == drawn[: drawn.index(expected[-1]) + 1]
    items = Item.objects.filter(batch=batch).order_by("position").values_list("inputs__of", flat=True)
    assert list(items) == expected


def _numbers(source: Any, seed: int) -> list[int]:
    names = dict(source.examples.values_list("pk", "external_id"))
    return [int(names[key][-1]) for key in sampling.sample([source], seed=seed)]
