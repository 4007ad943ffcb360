"""Each accepted edit makes an example with an id of its own, whatever was taken back, imported or decided meanwhile."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from annotation.access.authorization import Actor
from annotation.explorer import item_access, item_actions
from annotation.management import doctor
from annotation.models import Example, Item
from annotation.models.sources import LONGEST_EXAMPLE_ID
from annotation.workflow import automatic_decisions
from tableqa import Example as PlainExample
from tableqa import Table
from tableqa.readers import ingestion
from tests.annotation.cast import FILMS, NOON, World, make_world
from tests.annotation.test_adjudication_undo import at_once

pytestmark = pytest.mark.both
LATER = NOON + timedelta(hours=1)
QUESTION = "when did Heat come out?"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def paraphrased(world: World, name: str, *, by: tuple[str, ...] = ("ada",)) -> Item:
    """A complete item of a new batch, on the first example of the source."""
    batch = world.batch("question_paraphrase", variant="word", name=name, size=1, overlap=len(by))
    for who in by:
        assignment = world.take(batch, who)
        assert assignment is not None
        question = f"{name} {who}: {assignment.item.example.question}"
        world.answer(assignment, {"question": question, "category": "reasoning_synonym"})
    return batch.items.get()


def with_ids(world: World, *ids: str) -> None:
    """Have the world's source be one that holds examples with these ids."""
    table = Table(["Film", "Year", "Minutes"], FILMS)
    world.source = world.import_written(*(PlainExample(each, QUESTION, table, ["1995"]) for each in ids))


def made() -> list[str]:
    return sorted(Example.objects.perturbed().values_list("external_id", flat=True))


def test_an_edit_is_accepted_after_an_earlier_one_of_the_same_example_was_taken_back(world: World) -> None:
    items = [paraphrased(world, "Pilot"), paraphrased(world, "Main")]
    assert automatic_decisions.resolve_due(now=LATER) == 2
    assert made() == ["nu-0~word-1", "nu-0~word-2"]
    reader = item_access.reader(Actor(world.mara), world.project)
    done = item_actions.apply_action(reader, "exclude", [items[0].pk], note="A torn table", now=LATER)
    assert made() == ["nu-0~word-2"]
    assert done.action is not None

    item_actions.undo(reader, done.action, now=LATER)

    assert made() == ["nu-0~word-2", "nu-0~word-3"]
    assert list(doctor.findings()) == []


@pytest.mark.parametrize("imported", ["a~word-1", "a~word-7", "a~word-240"])
def test_an_edit_is_accepted_where_an_import_brought_ids_like_those_of_edits(
    world: World, imported: str
) -> None:
    with_ids(world, "a", imported)
    item = paraphrased(world, "Main")

    automatic_decisions.resolve_due(now=LATER)

    assert Item.objects.get(pk=item.pk).resolution == Item.Resolution.ACCEPTED
    (derived,) = made()
    assert derived not in (imported, "a")
    assert derived.startswith("a~word-")


def test_an_edit_of_an_example_with_a_very_long_id_is_accepted(world: World) -> None:
    with patch.object(ingestion, "LONGEST_ID", LONGEST_EXAMPLE_ID):
        with_ids(world, "a" * LONGEST_EXAMPLE_ID)
    paraphrased(world, "Main")

    automatic_decisions.resolve_due(now=LATER)

    (derived,) = made()
    assert derived.endswith("~word-1")
    assert len(derived) <= LONGEST_EXAMPLE_ID


@pytest.mark.django_db(transaction=True)
def test_two_batches_that_decide_on_one_example_at_once_make_two_ids(
    transactional_db: None, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    items = [paraphrased(world, name) for name in ("Pilot", "Main", "Third")]

    results = at_once(
        *(lambda key=item.pk: automatic_decisions.resolve_item(item_id=key, now=LATER) for item in items)
    )

    assert results == [True, True, True]
    assert made() == ["nu-0~word-1", "nu-0~word-2", "nu-0~word-3"]
