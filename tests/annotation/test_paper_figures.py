"""Figures that papers report: from a batch in which three people worked, on its pages and as files."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from annotation.charts import image_files, paper_figures, study_figures
from annotation.models import Batch, Decision, Item
from annotation.quality import agreement_report, dashboards, learning_curves, task_report
from annotation.workflow import adjudication, automatic_decisions
from tableqa.statistics.proportions import proportion
from tests.annotation.cast import NOON, World
from tests.annotation.test_dashboards import timed

pytestmark = pytest.mark.django_db

LATER = NOON + timedelta(hours=1)


def test_a_step_is_as_long_as_all_before_it() -> None:
    assert [learning_curves.step_of(turn) for turn in (1, 5, 6, 10, 11, 20, 21, 5000)] == [
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        9,
    ]


def test_the_learning_curve_counts_each_persons_own_items(world: World) -> None:
    found = learning_curves.report(timed(world))

    assert [(one["from"], one["to"], one["people"], one["seconds"]["n"]) for one in found["steps"]] == [
        (1, 5, 3, 15),
        (6, 10, 3, 15),
        (11, 20, 3, 30),
        (21, 40, 3, 12),
    ]
    for one in found["steps"]:
        assert one["seconds"]["low"] < one["seconds"]["value"] < one["seconds"]["high"]


def agreement_of(batch: Batch) -> tuple[int, int, int]:
    """Over all steps: responses equal to the others' decision, those that have one, and those that have none."""
    steps = learning_curves.report(batch)["steps"]
    shares = [step["agrees"] for step in steps if step["agrees"]]
    n, hits = sum(share["n"] for share in shares), sum(share["hits"] for share in shares)
    return hits, n, sum(step["undecided"] for step in steps)


def test_agreement_does_not_contain_a_persons_own_response(world: World) -> None:
    """Of one person an item the decision is the response itself: it says nothing."""
    batch = world.batch(overlap=1)
    for _ in range(4):
        world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    assert Decision.objects.count() == 4

    assert agreement_of(batch) == (0, 0, 4)
    assert [figure.name for figure in paper_figures.learning(learning_curves.report(batch))] == []


def differing(world: World, *pairs: tuple[str, str]) -> Batch:
    batch = world.batch(overlap=2, resolve={"rule": "unanimous"})
    for pair in pairs:
        for who, label in zip(("ada", "bo"), pair, strict=True):
            world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def test_agreement_counts_what_people_differ_in_before_and_after_adjudication(world: World) -> None:
    different = ("extraction", "reasoning")
    batch = differing(world, different, different, different, ("extraction", "extraction"))
    assert Decision.objects.count() == 1

    before = agreement_of(batch)
    for item in Item.objects.filter(batch=batch, decision__isnull=True):
        adjudication.decide(item=item, by=world.ivo, now=LATER, choose=["A"], note="It is.")

    assert Decision.objects.count() == 4
    assert before == agreement_of(batch) == (2, 8, 0), "the pace of an adjudicator changes nothing"


def test_others_who_tie_leave_a_response_undecided_and_every_form_says_so(world: World) -> None:
    batch = world.batch(overlap=3)
    for who, label in zip(("ada", "bo", "cy"), ("extraction", "extraction", "reasoning"), strict=True):
        world.label(batch, who, label)

    assert agreement_of(batch) == (0, 1, 2)
    (figure,) = (
        one
        for one in paper_figures.learning(learning_curves.report(batch))
        if one.name == "learning-agreement"
    )
    assert "Undecided responses are left out (2 of 3)" in figure.sheet.note
    assert [column.title for column in figure.sheet.columns][-1] == "Undecided"
    assert figure.sheet.rows[0][-1].number == 2
    assert "Undecided" in image_files.content(figure, "csv").decode().splitlines()[0]
    assert not Decision.objects.exists()


def test_figures_on_decided_items_say_how_many_are_not(world: World) -> None:
    batch = differing(world, ("extraction", "reasoning"), ("extraction", "extraction"))
    decided = learning_curves.report(batch)["decided"]
    assert (decided["items"], decided["undecided"]) == (1, 1)
    (measure, *_) = agreement_report.report(batch)["measures"]

    labels = paper_figures.label_distribution(measure, decided)
    precision = next(one for one in task_report.reports(batch) if one.title.startswith("Precision"))

    sentence = "Items with responses that are undecided and left out: 1."
    assert labels is not None
    assert sentence in labels.sheet.note
    assert sentence in precision.note


def test_intervals_of_the_learning_curve_are_over_people(world: World) -> None:
    """Three people who are always right tell less of the next person than their many responses seem to."""
    batch = world.batch(overlap=3, resolve={"rule": "unanimous"})
    for who in ("ada", "bo", "cy"):
        for _ in range(4):
            world.label(batch, who, "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)

    found = learning_curves.report(batch)

    shares = [step["agrees"] for step in found["steps"] if step["agrees"]]
    assert shares
    for share in shares:
        independent = proportion(share["hits"], share["n"])
        assert share["low"] < (independent.low or 0)
        assert share["low"] == pytest.approx(proportion(3, 3).low)
    assert all("bootstrap over people" in figure.sheet.note for figure in paper_figures.learning(found))


def test_each_label_has_its_share_and_the_agreement_on_it(world: World) -> None:
    (measure, *_) = agreement_report.report(timed(world))["measures"]

    assert sum(one["ratings"] for one in measure["distribution"]) == 72
    for one in measure["distribution"]:
        assert one["share"]["low"] < one["share"]["value"] < one["share"]["high"]
        assert one["share"]["n"] == 24
    made = paper_figures.label_agreement(measure)
    assert made is not None
    assert made.title.endswith(", specific agreement"), "a single series has no legend"
    figure = paper_figures.label_distribution(
        measure, {"measure": measure["name"], "labels": [["neither", 6]], "items": 8}
    )
    assert figure is not None
    neither = next(row for row in figure.sheet.rows if row[0].text == "neither")
    assert (neither[3].number, neither[4].number, neither[4].n) == (6, 75.0, 8)


def test_each_share_of_pairs_of_labels_has_an_interval_over_items(world: World) -> None:
    (measure, *_) = agreement_report.report(timed(world))["measures"]

    figure = study_figures.confusion(measure)

    assert figure is not None
    shares = [row[2] for row in figure.sheet.rows]
    assert sum(share.number or 0 for share in shares) == pytest.approx(100, abs=0.01)
    for share in shares:
        assert share.low is not None
        assert share.high is not None
        assert share.low < share.high
        assert share.n == 24, "items, not pairs"
    assert figure.sheet.note.startswith("Interval of the share: bootstrap over items")


def test_time_per_accepted_item_counts_the_time_on_all_items() -> None:
    found = dashboards.per_accepted([(60.0, True), (90.0, True), (30.0, False), (60.0, True)])
    assert (found["value"], found["n"]) == (80.0, 3)
    assert 0 < found["low"] < 80 < found["high"]


def test_the_interval_of_a_ratio_is_that_of_its_linearisation() -> None:
    # With every item accepted it is that of a mean: 1.96 standard deviations over the root of n.
    found = dashboards.per_accepted([(seconds, True) for seconds in (10.0, 20.0, 30.0, 40.0)])
    assert found["high"] - found["value"] == pytest.approx(1.96 * (500 / 3) ** 0.5 / 2, abs=0.01)


@pytest.mark.parametrize("seconds", [60.0, 0.1])
def test_accepted_items_of_equal_times_have_no_interval(seconds: float) -> None:
    estimate = dashboards.per_accepted([(seconds, True)] * 3)

    assert estimate == {"value": seconds, "low": None, "high": None, "n": 3}
    figure = paper_figures.per_accepted(
        [{"name": "one", "per_accepted": estimate, "amounts": {"EUR": Decimal("0.30")}}], with_costs=True
    )
    assert figure is not None
    minutes, cost = figure.sheet.rows[0][1:]
    assert (minutes.no_interval, minutes.detail) == ("All items took the same time.", "")
    assert (cost.no_interval, cost.detail) == ("All items took the same time.", "")


def test_the_ends_of_a_narrow_interval_get_the_decimals_that_tell_them_apart() -> None:
    per = {"value": 6.0, "low": 5.9, "high": 6.1, "n": 400}
    figure = paper_figures.per_accepted(
        [{"name": "one", "per_accepted": per, "amounts": {"EUR": Decimal("8.00")}}], with_costs=True
    )

    assert figure is not None
    minutes, cost = figure.sheet.rows[0][1:]
    assert (minutes.text, minutes.detail) == ("0.10", "0.098 to 0.102")
    assert (cost.text, cost.detail) == ("0.02", "0.0197 to 0.0203")


def test_equal_seconds_of_a_step_have_no_interval_and_the_reason() -> None:
    step = {"from": 1, "to": 5, "people": 2, "agrees": None}
    seconds = {"value": 12.0, "low": None, "high": None}
    (figure,) = paper_figures.learning(
        {"steps": [{**step, "seconds": {**seconds, "n": n}} for n in (5, 6)], "decided": None}
    )

    reasons = [row[2].no_interval for row in figure.sheet.rows]
    assert reasons == ["Fewer than six values.", "All values are equal."]


@pytest.mark.parametrize("items", [[], [(30.0, False)]])
def test_without_an_accepted_item_there_is_no_time_per_item(items: list[tuple[float, bool]]) -> None:
    assert dashboards.per_accepted(items)["value"] is None


def test_time_per_accepted_item_leaves_out_items_whose_time_is_unknown() -> None:
    found = dashboards.per_accepted([(60.0, True), (0.0, True), (90.0, True), (0.0, False)])

    assert (found["value"], found["n"]) == (75.0, 2)


def test_cost_per_accepted_item_is_in_the_currency_of_the_batch() -> None:
    per = {"value": 120.0, "low": 60.0, "high": 180.0, "n": 10}
    lines = [{"name": "one", "per_accepted": per, "amounts": {"EUR": Decimal("5.00")}}]

    figure = paper_figures.per_accepted(lines, with_costs=True)

    assert figure is not None
    assert [column.title for column in figure.sheet.columns][-1] == "Cost per accepted item (EUR)"
    minutes, cost = figure.sheet.rows[0][1:]
    assert (minutes.number, minutes.low, minutes.high, minutes.n) == (2.0, 1.0, 3.0, 10)
    assert (cost.number, cost.low, cost.high) == (0.5, 0.25, 0.75)
    without = paper_figures.per_accepted(lines, with_costs=False)
    assert without is not None
    assert len(without.sheet.columns) == 2


def test_attrition_goes_from_planned_to_released() -> None:
    lines: list[dict[str, Any]] = [
        {"items": 80, "answered": 60, "accepted": 40, "excluded": 5},
        {"items": 20, "answered": None, "accepted": None, "excluded": None},
    ]

    figure = paper_figures.attrition(lines, imported=500, released=30)

    assert figure is not None
    assert [(row[0].text, row[1].number, row[2].number) for row in figure.sheet.rows] == [
        ("with a response", 60, 60.0),
        ("accepted", 40, 40.0),
        ("excluded", 5, 5.0),
        ("accepted, in the newest release", 30, 30.0),
    ]
    assert {row[2].n for row in figure.sheet.rows} == {100}, "of the items planned"
    assert "500 examples were imported" in figure.sheet.note


def test_the_pages_show_them_with_files(world: World) -> None:
    batch = timed(world)
    client = Client()
    client.force_login(world.mara)
    for page, names in (
        (f"/projects/{world.project.slug}/agreement/?batch={batch.public_id}", ("label-agreement",)),
        (f"/batches/{batch.public_id}/quality/", ("labels", "learning-time")),
        (f"/projects/{world.project.slug}/dashboard/", ("attrition",)),
    ):
        html = client.get(page).content.decode()
        for name in names:
            assert f'id="chart-{name}"' in html
            assert f"/{name}.svg" in html
