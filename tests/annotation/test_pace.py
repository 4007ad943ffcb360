"""Pace of people in a batch: items per hour follow from the same times as their interval."""

from __future__ import annotations

from datetime import timedelta

from annotation.quality import quality
from tests.annotation.cast import NOON, World


def test_items_per_hour_of_very_short_times_are_inside_their_interval(world: World) -> None:
    batch = world.batch(size=4, overlap=1)
    for number in range(1, 5):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        now = NOON + timedelta(milliseconds=11 * number + number % 2)
        world.answer(assignment, {"label": "extraction"}, now=now)

    of_person = quality.report(batch)["people"][str(world.ada.pk)]

    low, high = of_person["hourly_ends"]
    assert of_person["timed"] == 4
    assert low <= 3600 * of_person["timed"] / of_person["seconds"] <= high
