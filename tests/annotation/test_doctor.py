"""The doctor finds what no constraint can rule out, and says what it is."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F

from annotation import doctor
from annotation.journeys import adjudicating, releasing
from annotation.models import Adjudication, Assignment, Batch, Item
from tests.annotation.cast import NOON, World, make_world

LATER = NOON + timedelta(hours=1)


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def decided(world: World) -> Item:
    """An item that everybody answered, and that was decided."""
    batch = world.batch(overlap=1)
    world.label(batch, "ada", "extraction")
    adjudicating.resolve_batch(batch=batch, now=LATER)
    return Item.objects.get(decision__isnull=False)


def found() -> str:
    return " ".join(doctor.findings())


def test_nothing_is_found_where_all_is_well(decided: Item) -> None:
    assert found() == ""


def test_decisions_that_a_batch_does_not_count_are_found(decided: Item) -> None:
    Batch.objects.update(accepted_count=0, excluded_count=2)
    assert "counts 0 accepted and 2 excluded items; there are 1 and 0" in found()


def test_a_decided_item_that_still_waits_is_found(decided: Item) -> None:
    Adjudication.objects.create(item=decided, reason="?", asked_at=NOON)
    assert f"item {decided.public_id} is decided and still waits" in found()


def test_a_decision_about_gold_is_found(decided: Item) -> None:
    Item.objects.filter(pk=decided.pk).update(is_gold=True)
    assert f"item {decided.public_id} is gold" in found()


def test_a_complete_item_that_nobody_will_decide_is_found(world: World) -> None:
    world.label(world.batch(overlap=1), "ada", "extraction")
    assert found() == ""
    Item.objects.update(due_at=None)
    assert "nobody and nothing will decide it" in found()


def test_a_release_without_its_files_is_found(world: World, tmp_path: Path) -> None:
    batch = world.batch(overlap=1, size=1)
    world.label(batch, "ada", "extraction")
    adjudicating.resolve_batch(batch=batch, now=LATER)
    made = releasing.make_release(
        project=world.project, name="v1", format="freb_tqa", by=world.rea, now=LATER, out=tmp_path / "out"
    )
    assert found() == ""
    shutil.rmtree(releasing.folder(made))
    assert f"release v1 of {world.project.slug} has no files" in found()


def test_a_fingerprint_that_is_not_that_of_the_response_is_found(decided: Item) -> None:
    Assignment.objects.filter(item=decided).update(said=F("said") + 1)
    assert "the fingerprint of what was said is another" in found()
