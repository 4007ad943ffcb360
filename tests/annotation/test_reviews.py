"""Reviews: a random sample of accepted items, each confirmed or sent back, and the error rate with its interval."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotation.access.authorization import Actor
from annotation.explorer import item_access, review
from annotation.explorer.item_access import Reader
from annotation.models import Batch, Correction, ReviewEntry, ReviewSample
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation
from annotation.workflow import automatic_decisions, batches
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.plain_page import PlainPage
from tests.annotation.test_item_actions import PEOPLE, SOON, browser, items, state

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def batch(world: World) -> Batch:
    """A closed batch of which 1, 2 and 3 are accepted and 4 is contested."""
    batch = world.batch(name="Labels", overlap=3)
    for who in PEOPLE * 3:
        world.label(batch, who, "extraction")
    for who, label in zip(PEOPLE, ("extraction", "reasoning", "neither"), strict=True):
        world.label(batch, who, label)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def reader(world: World, who: str = "mara") -> Reader:
    return item_access.reader(Actor(world.people[who]), world.project)


def test_a_sample_is_drawn_by_its_seed_from_accepted_items_only(world: World, batch: Batch) -> None:
    accepted = set(items(batch)[:3])
    samples = [
        review.draw(reader(world), size=size, seed=seed, now=SOON) for size, seed in ((2, 7), (2, 7), (50, 1))
    ]
    first, same, whole = ([entry.item for entry in sample.entries.order_by("position")] for sample in samples)
    assert first == same
    assert len(first) == 2
    assert set(whole) == accepted
    assert {sample.of for sample in samples} == {3}
    orders = {
        tuple(
            review.draw(reader(world), size=3, seed=seed, now=SOON)
            .entries.order_by("position")
            .values_list("item")
        )
        for seed in range(8)
    }
    assert len(orders) > 1


@pytest.mark.parametrize("size", [0, 1_001])
def test_a_sample_has_a_size(world: World, batch: Batch, size: int) -> None:
    with pytest.raises(ActionRefused, match="Choose 1 to 1000 items"):
        review.draw(reader(world), size=size, seed=1, now=SOON)
    assert not ReviewSample.objects.exists()


def test_items_are_confirmed_and_sent_back_and_give_an_error_rate(
    world: World, batch: Batch, tmp_path: Path
) -> None:
    creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=SOON, out=tmp_path / "v1"
    )
    page = PlainPage(browser(world.mara), reverse("agreement", args=["films"]))
    page.follow("Review accepted items")
    assert "You can review 3 accepted items" in page.text()
    page.named("size").value = "3"
    page.named("seed").value = "5"
    page.press("Draw sample")
    assert "0 of 3 reviewed. Error rate: –" in page.text("//header")
    assert "extraction" in page.text().lower()
    page.press("Confirm")
    assert "1 of 3 reviewed. Error rate: 0.0 % (0.0 to 79.3 %)" in page.text("//header")
    page.press("Send back to adjudication")
    assert "Write a reason or a note." in page.text("//body")
    page.named("note").value = "It is a sum"
    page.press("Send back to adjudication")

    sample = ReviewSample.objects.get()
    rate = review.error_rate(sample)
    assert (rate.hits, rate.n) == (1, 2)
    assert rate.low is not None
    assert 0.09 < rate.low < 0.10
    back = sample.entries.get(outcome="sent_back")
    assert (state(back.item), back.note, back.reviewed_by) == ("adjudication", "It is a sum", world.mara)
    assert back.item.adjudication.reason == "It is a sum"
    assert Correction.objects.get().item == back.item, "the release contains it"
    page.press("Confirm")
    assert "Review finished" in page.text()
    page.follow("Reviews")
    assert "3 of 3" in page.text()
    assert "33.3 %" in page.text()


def test_nobody_reviews_what_they_worked_on_and_nothing_is_reviewed_twice(world: World, batch: Batch) -> None:
    sample = review.draw(reader(world), size=3, seed=1, now=SOON)
    entry = review.next_entry(reader(world), sample)
    assert entry is not None
    assert review.next_entry(reader(world, "ivo"), sample) == entry
    review.record(reader(world), entry, "confirmed", note="", now=SOON)
    for outcome in ("confirmed", "sent_back"):
        with pytest.raises(ActionRefused, match="reviewed or changed in the meantime"):
            review.record(reader(world, "ivo"), entry, outcome, note="x", now=SOON)
    with pytest.raises(ActionRefused, match="Confirm the item, or send it back"):
        review.record(reader(world), entry, "perhaps", note="x", now=SOON)


def test_the_database_knows_the_outcomes(world: World, batch: Batch) -> None:
    sample = review.draw(reader(world), size=3, seed=1, now=SOON)
    entries = ReviewEntry.objects.filter(sample=sample, position=1)
    for wrong in (
        {"outcome": "confirmed"},
        {"reviewed_at": SOON},
        {"outcome": "sent_back", "reviewed_at": SOON},
        {"outcome": "other", "reviewed_at": SOON},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            entries.update(**wrong)
