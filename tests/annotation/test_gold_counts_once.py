"""One gold item counts once in a qualification, whatever happens to its assignment."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from annotation.models import Assignment, Batch, Qualification
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold
from annotation.quality import qualification as quality_qualification
from annotation.workflow import assignments, batches
from tests.annotation.cast import NOON, World, make_world
from tests.undone import undone

pytestmark = pytest.mark.django_db

ITEMS = 3


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=ITEMS)


def qualification(world: World, *, feedback: bool, items: int = ITEMS) -> Batch:
    """An open qualification in which "extraction" is right and half of the items have to be."""
    batch = world.batch(
        size=items, purpose="qualification", pass_percent=50, gold_feedback=feedback, open=False
    )
    for item in batch.items.select_related("example"):
        gold.set_gold(
            batch=batch, example=item.example, data={"label": "extraction"}, by=world.mara, now=NOON
        )
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    return batch


def undo(assignment: Assignment) -> None:
    assert assignment.annotation is not None
    assignments.undo(annotation=assignment.annotation, now=NOON)


def test_an_answer_that_is_undone_and_skipped_counts_once(world: World) -> None:
    batch = qualification(world, feedback=True, items=2)
    first = world.take(batch, "ada")
    assert first is not None
    world.answer(first, {"label": "reasoning"})
    undo(world.reload(first))
    assignments.skip(assignment=world.reload(first), reason="odd", now=NOON)
    assert gold.accuracy(batch)[world.ada.pk].n == 1

    world.label(batch, "ada", "extraction")

    row = Qualification.objects.get(person=world.ada)
    assert (row.right, row.judged, row.passed) == (1, 2, True)
    share = gold.accuracy(batch)[world.ada.pk]
    assert (share.hits, share.n) == (1, 2)


@pytest.mark.parametrize("feedback", [True, False])
def test_over_random_histories_each_item_counts_once_and_a_result_stays(world: World, feedback: bool) -> None:
    batch = qualification(world, feedback=feedback)
    undone_and_skipped = 0
    for seed in range(20):
        with undone():
            undone_and_skipped += _history(world, batch, random.Random(seed), feedback)
    assert undone_and_skipped, "no history had the case"


def _history(world: World, batch: Batch, rng: random.Random, feedback: bool) -> int:
    """One person's way through the batch; how many items were submitted, undone and skipped."""
    first, last = dict[int, bool](), dict[int, bool]()
    skipped = 0
    while not Qualification.objects.filter(batch=batch, person=world.ada).exists():
        mine = Assignment.objects.filter(batch=batch, person=world.ada).select_related("annotation")
        submitted = list(mine.submitted().order_by("pk"))
        act = rng.choice(["right", "wrong", "undo", "undo", "skip", "return"])
        if act == "undo":
            if submitted:
                undo(rng.choice(submitted))
            continue
        held = world.take(batch, "ada")
        assert held is not None
        if act == "skip":
            assignments.skip(assignment=held, reason="odd", now=NOON)
            skipped += held.item_id in first
            last[held.item_id] = False
        elif act == "return":
            assignments.give_back(assignment=held, now=NOON)
        else:
            world.answer(held, {"label": "extraction" if act == "right" else "reasoning"})
            first.setdefault(held.item_id, act == "right")
            last[held.item_id] = act == "right"
        found = quality_qualification.score_of(batch, world.ada)
        assert found.judged <= len(set(first) | set(last))
    verdicts = {**last, **first} if feedback else last
    row = Qualification.objects.get(batch=batch, person=world.ada)
    assert (row.right, row.judged) == (sum(verdicts.values()), ITEMS)
    assert row.passed == (2 * row.right >= ITEMS)
    share = gold.accuracy(batch)[world.ada.pk]
    assert (share.hits, share.n) == (row.right, row.judged)
    for assignment in Assignment.objects.filter(batch=batch, person=world.ada).submitted():
        with pytest.raises(ActionRefused, match="is final"):
            undo(assignment)
    return skipped
