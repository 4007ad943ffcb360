"""Pace of people in a batch: items per hour follow from the same times as their interval."""

from __future__ import annotations

from datetime import timedelta

from django.test import Client

from annotation.charts import image_files, paper_figures, work_tables
from annotation.models import Assignment
from annotation.quality import annotator_quality
from tests.annotation.cast import NOON, World


def test_items_per_hour_of_very_short_times_are_inside_their_interval(world: World) -> None:
    batch = world.batch(size=4, overlap=1)
    for number in range(1, 5):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        now = NOON + timedelta(milliseconds=11 * number + number % 2)
        world.answer(assignment, {"label": "extraction"}, now=now)

    of_person = annotator_quality.report(batch)["people"][str(world.ada.pk)]

    low, high = of_person["hourly_ends"]
    assert of_person["timed"] == 4
    assert low <= 3600 * of_person["timed"] / of_person["seconds"] <= high


def test_a_narrow_interval_of_seconds_has_a_width_in_the_table_and_the_text_of_the_chart(
    world: World,
) -> None:
    row = {
        "name": "Ada",
        "anchor": "",
        "items_address": "",
        "skipped_address": "",
        "review_address": "",
        "submitted": 24,
        "skipped": 0,
        "timed": 24,
        "median_seconds": 0.0163,
        "median_ends": (0.0161, 0.0172),
        "hourly": 220_859.0,
        "hourly_ends": (209_302.2, 223_602.4),
        "gold": None,
        "agreement": None,
        "accuracy": None,
        "accuracy_ends": (None, None),
        "labelled": 0,
        "raised": [],
        "review": 0,
    }
    seconds = {"value": 0.0163, "low": 0.0161, "high": 0.0172, "n": 24}
    step = {"from": 1, "to": 5, "people": 3, "agrees": None, "seconds": seconds}

    table = work_tables.people([row], "")
    (chart,) = paper_figures.learning({"steps": [step], "decided": None})

    assert table is not None
    cell = table.sheet.rows[0][3]
    assert (cell.text, cell.detail) == ("0.016", "0.016 to 0.017; n = 24")
    assert "0.016 {\\scriptsize 0.016 to 0.017; n = 24}" in image_files.content(
        table, "tex"
    ).decode().replace("$", "")
    assert "0.016 (0.016 to 0.017), n = 24" in chart.svg


def test_items_per_hour_without_an_upper_end_say_why(world: World) -> None:
    batch = world.batch(size=4, overlap=1)
    for seconds in (0.01, 0.01, 0.01, 0.9):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        Assignment.objects.filter(pk=assignment.pk).update(active_seconds=seconds)
        world.answer(world.reload(assignment), {"label": "extraction"}, now=NOON)
    client = Client()
    client.force_login(world.mara)

    of_person = annotator_quality.report(batch)["people"][str(world.ada.pk)]
    page = client.get(f"/batches/{batch.public_id}/quality/").content.decode()

    low, high = of_person["hourly_ends"]
    assert low is not None
    assert high is None, "the interval of the mean time begins at 0"
    assert "No interval: times vary too much for an upper limit of items per hour." in page
