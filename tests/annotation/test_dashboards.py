"""The manager's dashboards: forecast, hours and cost, skips, monitors, and the quality of each person's work."""

from __future__ import annotations

import csv
import io
import re
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from annotation.charts import study_figures, work_tables
from annotation.charts import svg as charts_svg
from annotation.charts.series import Columns, Heat, Point, Series, axis_over
from annotation.models import Assignment, Batch, Item, Person, Project
from annotation.payments import costs, earnings
from annotation.platform import display_text
from annotation.quality import annotator_quality, dashboards, rating_tallies, snapshots
from annotation.quality.snapshots import SnapshotView
from annotation.web.views import dashboards as views
from annotation.workflow import assignments, automatic_decisions
from tableqa import Example, Table
from tableqa.agreement.measures import ONE_CATEGORY
from tableqa.statistics.clustered_intervals import mean_over
from tableqa.statistics.proportions import proportion
from tasks.contract import task_types
from tests.annotation import labels
from tests.annotation.cast import NOON, World, set_work
from tests.annotation.test_live_agreement import LABELS, labelled, questions, text


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


# -- the forecast -----------------------------------------------------------------------------------


def test_a_steady_pace_gives_one_date() -> None:
    found = dashboards.forecast([10] * 7, 45)
    assert (found.likely, found.low, found.high, found.per_day) == (5, 5, 5, 10.0)


def test_an_unsteady_pace_gives_a_range_around_it() -> None:
    found = dashboards.forecast([0, 30, 5, 0, 25, 10, 0, 22], 400)
    assert found.likely is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.likely < found.high


@pytest.mark.parametrize(
    ("counts", "remaining", "words"),
    [
        ([5, 6], 100, "Not enough data yet"),
        ([], 100, "Not enough data yet"),
        ([9, 9, 9], 0, "All items are submitted"),
    ],
)
def test_where_nothing_can_be_said_it_says_why(counts: list[int], remaining: int, words: str) -> None:
    found = dashboards.forecast(counts, remaining)
    assert found.likely is None
    assert words in found.reason


def test_ten_years_are_no_forecast() -> None:
    assert "ten years" in dashboards.forecast([1, 0, 1, 1], 100_000).reason


def test_days_of_work_are_what_is_counted_for_too_early() -> None:
    assert "Not enough data yet" in dashboards.forecast([5, 0, 0, 0, 5], 100).reason
    idle = dashboards.forecast([5] * 5 + [0] * 14, 100)
    assert (idle.likely, idle.low, idle.high) == (None, None, None)
    assert "No submissions in the last 14 days" in idle.reason
    begun_again = dashboards.forecast([5] * 5 + [0] * 13 + [7], 100)
    assert (begun_again.days, begun_again.per_day) == (14, 0.5)


def test_where_nobody_can_say_how_long_at_most_no_number_stands_for_it(world: World) -> None:
    counts = [0, 3, 0, 2] + [0] * 20 + [4] + [0] * 12
    found = dashboards.forecast(counts, 40)
    assert found.likely is not None
    assert found.low is not None
    assert found.low <= found.likely <= dashboards.FARTHEST
    assert found.high is None

    now = timezone.now()
    batch = labelled(world)
    world.batch(name="To come", size=4, overlap=3)
    rows = Assignment.objects.filter(batch=batch).submitted()
    for place, row in enumerate(rows):
        set_work(rows.filter(pk=row.pk), at=now - timedelta(days=(12, 20, 30)[place % 3]))
    page = text(browser(world.mara).get("/projects/films/dashboard/"))
    assert "without an upper limit." in page
    assert "or later, without an upper limit" in page
    assert "3651" not in page


def test_labels_made_elsewhere_are_no_pace_and_have_no_time(world: World) -> None:
    batch = world.batch(overlap=3, name="Mixed")
    lines = "".join(f"nu-{number},{who},extraction\n" for number in range(2) for who in "XY")
    labels.write(
        batch=batch, text=f"example,annotator,label\n{lines}", by=world.mara, now=NOON - timedelta(days=3)
    )
    world.label(batch, "ada", "extraction")
    set_work(Assignment.objects.filter(batch=batch, person=world.ada), seconds=30.0)

    found = dashboards.work_summary(batch)
    spent = dashboards.effort_of("", found["days"], {})
    here = views.local_days(SnapshotView(found))

    assert (spent.submitted, spent.timed, spent.each) == (5, 1, 30.0)
    assert [(row[1], row[2]) for row in here] == [(str(world.ada.pk), 1)]
    assert len(found["elsewhere"]) == 2


@given(st.lists(st.integers(0, 200), min_size=3, max_size=30), st.integers(1, 5_000), st.integers(1, 500))
def test_more_to_do_takes_no_less_time(counts: list[int], remaining: int, more: int) -> None:
    one, other = dashboards.forecast(counts, remaining), dashboards.forecast(counts, remaining + more)
    if one.likely is not None and other.likely is not None:
        assert one.low is not None
        assert one.low <= one.likely <= (one.high or dashboards.FARTHEST)
        assert one.likely <= other.likely


def test_days_without_work_count_as_such() -> None:
    days = [["2026-03-02", "1", 4, 0, 0], ["2026-03-02", "2", 3, 0, 0], ["2026-03-05", "1", 1, 0, 0]]
    every, counts = dashboards.submissions_by_day(days, date(2026, 3, 6))
    assert [day.day for day in every] == [2, 3, 4, 5, 6]
    assert counts == [7, 0, 0, 1, 0]
    assert dashboards.submissions_by_day([], date(2026, 3, 6)) == ([], [])


# -- hours and cost ---------------------------------------------------------------------------------


def test_what_work_comes_to_is_rounded_half_up() -> None:
    by_hour = {"currency": "EUR", "per_hour": 14.5}
    by_item = {"currency": "EUR", "per_item": 0.125}
    assert costs.round_amount(costs.exact_amount(by_hour, items=3, seconds=Fraction(9_000))) == Decimal(
        "36.25"
    )
    assert costs.round_amount(costs.exact_amount(by_item, items=1, seconds=Fraction(0))) == Decimal("0.13")
    assert costs.round_amount(costs.exact_amount(by_item, items=-1, seconds=Fraction(0))) == Decimal("-0.12")
    assert costs.per_hundred(Decimal("36.25"), examples=80) == Decimal("45.31")
    assert costs.per_hundred(Decimal("36.25"), examples=0) is None
    assert costs.in_words(Decimal("1234.5"), by_hour) == "1,234.50 EUR"
    with pytest.raises(ValueError, match="neither per hour nor per item"):
        costs.exact_amount({"currency": "EUR"}, items=1, seconds=Fraction(0))


@pytest.mark.parametrize(
    "pay", [{"currency": "EUR", "per_hour": 14.5}, {"currency": "CHF", "per_item": 0.31}]
)
def test_the_dashboard_and_the_payments_come_to_the_same(world: World, pay: dict[str, Any]) -> None:
    batch = labelled(world)
    skipped = world.take(world.batch(name="Other"), "ada")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="odd", now=NOON)
    set_work(Assignment.objects.filter(pk=skipped.pk), seconds=77.0)
    world.project.pay = pay
    world.project.save()
    expected = earnings.costs_by_batch(earnings.shares(world.project))

    for cost in expected:
        found = dashboards.work_summary(cost.batch)
        spent = dashboards.effort_of("", found["days"], found["owed"])
        assert spent.amounts == cost.total.amounts
        assert spent.amounts
        assert spent.hours == pytest.approx(cost.total.hours, abs=0.001)
    page = text(browser(world.mara).get("/projects/films/dashboard/"))
    assert pay["currency"] in page
    assert pay["currency"] not in text(browser(world.rea).get("/projects/films/dashboard/"))
    assert batch.name in page


def test_a_rate_under_which_nobody_has_earned_is_no_missing_rate(world: World) -> None:
    world.batch(name="Not begun")
    Project.objects.update(pay={"currency": "EUR", "per_item": 1})

    page = text(browser(world.mara).get("/projects/films/dashboard/"))

    assert "0.00 EUR" in page
    assert "No rate is set" not in page


def test_simulated_people_cost_nothing(world: World) -> None:
    batch = labelled(world)
    Person.objects.filter(pk=world.ada.pk).update(is_simulated=True)
    world.project.pay = {"currency": "EUR", "per_item": 1}
    world.project.save()
    found = dashboards.work_summary(Batch.objects.get(pk=batch.pk))
    assert found["unpaid"] == [str(world.ada.pk)]
    assert dashboards.effort_of("", found["days"], found["owed"]).amounts == {"EUR": Decimal("12.00")}


# -- skips and monitors -----------------------------------------------------------------------------


def test_where_people_skip_is_counted_by_source_and_reason(world: World) -> None:
    source = world.import_written(*questions(4))
    batch = world.batch(sources=[source])
    for _ in range(2):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        assignments.skip(assignment=assignment, reason="table is cut", now=NOON)
    world.label(batch, "ada", "extraction")
    found = dashboards.work_summary(batch)["skips"]

    assert found == {"reasons": [["table is cut", 2]], "sources": [["written", 2, 3]]}
    ((name, share),) = dashboards.skip_shares(found["sources"])
    assert (name, share.hits, share.n) == ("written", 2, 3)
    page = text(browser(world.mara).get("/projects/films/dashboard/"))
    assert "table is cut" in page
    assert "66.7 %" in page


def test_the_monitors_see_answers_openings_and_rows(world: World) -> None:
    rows = [[f"Film {number}", str(1990 + number)] for number in range(8)]
    table = Table(["Film", "Year"], rows)
    source = world.import_written(
        *(
            Example(f"q{n}", f"how many films came out in {1990 + n}?", table, answers=[str(1990 + n % 2)])
            for n in range(6)
        )
    )
    batch = world.batch(sources=[source], overlap=1)
    for _ in range(6):
        world.label(batch, "ada", "extraction")
    found = dashboards.artifact_figures(batch)

    assert (found["items"], found["of"]) == (6, "given")
    assert found["openings"]["top"][0][0] == "how many"
    assert found["openings"]["top"][0][1]["hits"] == 6
    assert found["answers"]["distinct"] == 2
    assert found["answer_rows"]["first"]["hits"] == 6
    assert found["evidence_rows"] is None
    with translation.override("de"):
        assert dashboards.artifact_figures(batch) == found, "figures are kept for everybody, in no language"
        german = study_figures.monitors(found)
    assert german[0].title == "Häufigste Antworten zugewiesener Beispiele"
    assert re.search(r"\d,\d bis \d+,\d %", german[0].table)
    assert "Anfangswörter" in german[1].table
    titles = [one.title for one in study_figures.monitors(found)]
    assert titles[0] == "Most frequent answers of assigned examples"
    assert any("first words of questions" in title for title in titles)
    page = text(browser(world.mara).get("/projects/films/dashboard/"))
    assert "how many" in page
    assert "all in the first three" in page


def test_a_monitor_says_how_many_examples_it_leaves_out_and_why(world: World) -> None:
    tall = Table(["Film", "Year"], [[f"Film {number}", str(1990 + number)] for number in range(8)])
    flat = Table(["Film", "Year"], [["Film 0", "1990"], ["Film 1", "1991"]])
    source = world.import_written(
        Example("q0", "when did Film 1 come out?", tall, answers=["1991"]),
        Example("q1", "how many films are there?", tall, answers=["eight"]),
        Example("q2", "how many films came out?", tall, answers=["all eight"]),
        Example("q3", "which year was Film 1?", flat, answers=["1991"]),
    )
    batch = world.batch(sources=[source], overlap=1)
    for _ in range(4):
        world.label(batch, "ada", "extraction")

    page = text(browser(world.mara).get("/projects/films/dashboard/"))

    assert (
        "Excluded: 2 whose answer is not in a cell. Tables of at most five rows are also excluded (1)."
    ) in page


def test_edits_and_their_rows_are_watched(world: World) -> None:
    found = dashboards.artifact_figures(edited(world, "ada"))

    assert found["edit_sizes"]["counts"][0][0] == 1
    assert found["edit_rows"]["first"]["hits"] == 1
    assert not any("bootstrap" in one.sheet.note for one in study_figures.monitors(found))


def test_edits_of_one_item_by_several_people_count_as_one_item(world: World) -> None:
    found = dashboards.artifact_figures(edited(world, "ada", "bo"))

    notes = {one.name: one.sheet.note for one in study_figures.monitors(found)}
    for name in ("edit-rows", "edit-sizes"):
        assert "2 responses to 1 item. Interval: bootstrap over items" in notes[name]
    assert found["edit_rows"]["first"]["low"] == pytest.approx(proportion(1, 1).low)


def test_examples_of_one_item_count_as_one_item(world: World) -> None:
    rows = [[f"Film {number}", str(1990 + number)] for number in range(8)]
    table = Table(["Film", "Year"], rows)
    questions_of_one_answer = [
        Example(f"q{n}", "when did Film 1 come out?", table, answers=["1991"]) for n in range(3)
    ]
    batch = world.batch(
        "value_change",
        variant="answer_stays",
        sources=[world.import_written(*questions_of_one_answer)],
        overlap=2,
    )
    for who, row in (("ada", 5), ("bo", 6)):
        for _ in range(3):
            assignment = world.take(batch, who)
            assert assignment is not None
            year = str(1990 + row)
            edit = {
                "op": "set_cell",
                "row": f"r{row}",
                "column": "c1",
                "at": [row, 1],
                "old": year,
                "new": "1970",
            }
            response = {"unanswerable": False, "operations": [edit], "answers": [], "reason": ""}
            world.answer(assignment, response)
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(seconds=61))

    found = dashboards.artifact_figures(batch)

    assert (found["of"], found["items"], found["examples"]) == ("accepted", 3, 6)
    of_three = pytest.approx(proportion(3, 3).low)
    answer, opening = found["answers"]["top"][0], found["openings"]["top"][0]
    assert (answer[0], opening[0]) == ("1991", "when did")
    for share in (answer[1], opening[1], found["answer_rows"]["first"]):
        assert (share["hits"], share["n"], share["low"]) == (6, 6, of_three)
    notes = {one.name: one.sheet.note for one in study_figures.monitors(found)}
    over_items = "from 3 items. Interval: bootstrap over items, at least as wide as Wilson's."
    assert f"6 answers {over_items}" in notes["answers"]
    assert f"6 examples {over_items}" in notes["openings"]
    assert f"6 examples {over_items}" in notes["answer-rows"]


def edited(world: World, *people: str) -> Batch:
    """A batch in which each of these people made the same edit of its one item."""
    rows = [[f"Film {number}", str(1990 + number)] for number in range(8)]
    example = Example("q0", "when did Film 1 come out?", Table(["Film", "Year"], rows), answers=["1991"])
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        sources=[world.import_written(example)],
        overlap=len(people),
    )
    operation = {"op": "set_cell", "row": "r1", "column": "c1", "at": [1, 1], "old": "1991", "new": "1988"}
    for who in people:
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(
            assignment,
            {
                "operations": [operation],
                "answers": ["1988"],
                "unanswerable": False,
                "program": None,
                "reason": "",
            },
        )
    return batch


# -- the quality of each person's work --------------------------------------------------------------


def timed(world: World, number: int = 24) -> Batch:
    """Ada and Bo work properly; Cy says one thing to everything, in a tenth of the time."""
    source = world.import_written(*questions(number))
    batch = world.batch(sources=[source])
    for who, label, seconds in (("ada", None, 40.0), ("bo", None, 30.0), ("cy", "neither", 3.0)):
        for place in range(number):
            assignment = world.take(batch, who)
            assert assignment is not None
            Assignment.objects.filter(pk=assignment.pk).update(active_seconds=seconds + place % 3)
            world.answer(
                world.reload(assignment),
                {"label": label or LABELS[place % 2]},
                now=NOON + timedelta(minutes=2 * place),  # too long between them to count as work
            )
    return batch


def test_the_quality_page_says_of_how_many_items_and_raters(world: World) -> None:
    batch = timed(world)

    page = text(browser(world.mara).get(f"/batches/{batch.public_id}/quality/"))

    by_person = page[: page.index("Label distribution")]
    assert by_person.count("n = 24") == 12, "pace, items per hour, agreement and reliability of three people"
    assert re.search(r"31\.0 30\.0 to 32\.0; n = 24 116 115 to 117; n = 24", by_person)
    assert "seconds per item has an interval from 6 timed items on, items per hour from 2 on." in by_person


def test_a_share_of_one_label_has_an_interval(world: World) -> None:
    batch = timed(world)

    page = text(browser(world.mara).get(f"/batches/{batch.public_id}/quality/"))

    assert "neither was chosen for 24 of 24 items (100.0 %, 95 % CI 86.2 to 100.0 %)" in page


def test_seconds_per_item_of_a_batch_have_n_and_an_interval_over_people(world: World) -> None:
    batch = timed(world)

    page = text(browser(world.mara).get("/projects/films/dashboard/"))

    each = mean_over([(24 * 41.0, 24), (24 * 31.0, 24), (24 * 4.0, 24)])
    assert f"{each.value:.0f} {each.low:.0f} to {each.high:.0f}; n = 72" in page
    assert "Interval: 95 %, over annotators; of one there is none." in page
    of_one = dashboards.effort_of(
        "", [day for day in dashboards.work_summary(batch)["days"] if day[1] == str(world.bo.pk)], {}
    )
    assert (of_one.each, of_one.ends, of_one.timed) == (31.0, (None, None), 24)


def test_the_share_of_identical_responses_of_a_person_has_an_interval_over_items(world: World) -> None:
    batch = timed(world)
    address = reverse("figure_file", args=["agreement", world.project.slug, "others", "csv"])

    content = browser(world.mara).get(f"{address}?batch={batch.public_id}").content.decode()

    for row in csv.DictReader(io.StringIO(content)):
        assert float(row["Identical, low"]) < float(row["Identical, high"])
        assert row["n"] == "24", "items, not comparisons"


def test_what_stands_out_is_flagged_and_nothing_else_happens(world: World) -> None:
    batch = timed(world)
    before = list(Assignment.objects.order_by("pk").values())
    found = annotator_quality.report(batch)
    of = {name: found["people"][str(world.people[name].pk)] for name in ("ada", "bo", "cy")}

    raised = {name: {one["kind"] for one in person["habits"] if one["raised"]} for name, person in of.items()}
    assert raised == {"ada": set(), "bo": set(), "cy": {"too_fast", "always_the_same"}}
    assert of["ada"]["submitted"] == 24
    assert of["cy"]["median_seconds"] < 10 < of["bo"]["median_seconds"]
    (reliability,) = found["reliability"]
    accuracy = {name: reliability["people"][str(world.people[name].pk)]["accuracy"] for name in of}
    assert accuracy["cy"] < 0.6 < accuracy["ada"]
    assert list(Assignment.objects.order_by("pk").values()) == before

    page = text(browser(world.mara).get(f"/batches/{batch.public_id}/quality/"))
    assert "needs review" in page
    assert "Estimated label confusion" in page
    assert re.search(r"n \(expected\).* extraction [\d.]+ \d+ % [\d.]+ to [\d.]+ % ", page)
    assert "They do not affect assignments or pay" in page


def test_a_class_that_a_person_hardly_met_has_no_confusion() -> None:
    """What the estimate begins with is no figure of the person."""
    figure = work_tables.confusion(1, "Ada", ["yes", "no"], [[0.9, 0.1], [0.5, 0.5]], [23.8, 0.2])

    assert figure is not None
    table = figure.sheet
    assert [cell.text for cell in table.rows[0]] == ["yes", "23.8", "90 %", "10 %"]
    assert all(cell.low is not None and cell.high is not None for cell in table.rows[0][2:])
    assert [cell.text for cell in table.rows[1]] == ["no", "0.2", "–", "–"]


def test_two_annotators_alone_get_no_reliability_and_the_page_says_why(world: World) -> None:
    batch = world.batch(overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        for _ in range(3):
            world.label(batch, who, label)

    page = text(browser(world.mara).get(f"/batches/{batch.public_id}/quality/"))

    assert annotator_quality.report(batch)["reliability"] == []
    assert "the model needs three annotators who share items" in page
    assert "Estimated label confusion" not in page


def test_no_list_waits_for_items_that_are_never_decided(world: World) -> None:
    batch = labelled(world, 3)
    Item.objects.create(
        batch=batch, example=world.source.examples.order_by("pk")[0], position=9, is_gold=True
    )
    Batch.objects.filter(pk=batch.pk).update(items_count=4)
    world.batch(name="Pilot", purpose="calibration", strategy="everyone", size=2)

    dashboard = text(browser(world.mara).get("/projects/films/dashboard/"))
    project = text(browser(world.mara).get("/projects/films/"))

    assert "of 3" in dashboard.partition("items accepted")[2][:40]
    assert "of 3" in project.partition("items accepted")[2][:40]
    assert "planned responses to 1 gold item" in text(browser(world.mara).get(f"/batches/{batch.public_id}/"))


def test_gold_is_counted_in_quality(world: World) -> None:
    from annotation.models import Gold

    batch = labelled(world, 3)
    item = Item.objects.filter(batch=batch).order_by("position")[0]
    said = {one.person_id: one.annotation for one in Assignment.objects.filter(item=item)}
    right = said[world.ada.pk]
    assert right is not None
    Gold.objects.create(item=item, expected=right.response, made_at=NOON)
    found = annotator_quality.report(batch)["people"]

    assert found[str(world.ada.pk)]["gold"] == [1, 1]
    assert "100.0 %" in text(browser(world.mara).get(f"/batches/{batch.public_id}/quality/"))


def test_reasons_for_skipping_are_told_by_person(world: World) -> None:
    batch = world.batch(size=2)
    for who, reason in (("ada", "cut"), ("ada", "cut"), ("bo", "odd")):
        assignment = world.take(batch, who)
        assert assignment is not None
        assignments.skip(assignment=assignment, reason=reason, now=NOON)
    assert annotator_quality.skip_reasons(batch) == {world.ada.pk: [["cut", 2]], world.bo.pk: [["odd", 1]]}
    assert "cut (2)" in text(browser(world.mara).get(f"/batches/{batch.public_id}/quality/"))


def test_texts_that_are_pasted_are_found() -> None:
    worked = {
        "one": annotator_quality.PersonWork(
            texts={f"i{n}": "The answer length is what differs here." for n in range(12)}
        ),
        "two": annotator_quality.PersonWork(
            texts={f"i{n}": f"They differ in the number {n}." for n in range(12)}
        ),
    }
    found = annotator_quality.habits_of(worked)
    assert [one.kind for one in found["one"] if one.raised] == ["copy_paste"]
    assert not [one.kind for one in found["two"] if one.raised]


# -- charts -----------------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1


def tags(html: str) -> dict[str, int]:
    found = Tags()
    found.feed(html)
    return found.counts


def test_a_heat_map_has_a_square_for_every_pair_and_says_where_it_is_highest() -> None:
    svg = charts_svg.draw(
        "h", "Pairs", Heat(["Ada <b>", "Bo"], ["Ada <b>", "Bo"], [[None, 0.42], [0.42, None]])
    )
    assert tags(svg)["rect"] == 4
    assert "<b>" not in svg
    assert "Highest 0.42 (Bo and Ada &lt;b&gt;)" in svg
    assert svg.count("the same person") == 2


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.lists(
            st.lists(st.none() | st.floats(-1, 1, allow_nan=False), min_size=n, max_size=n),
            min_size=n,
            max_size=n,
        )
    )
)
def test_squares_lie_within_their_chart(values: list[list[float | None]]) -> None:
    names = [f"p{number}" for number in range(len(values))]
    svg = charts_svg.draw("h", "Pairs", Heat(names, names, values))
    ends = [
        float(x) + float(wide)
        for x, wide in re.findall(r'<rect class="\w+" x="([\d.]+)%" y="\d+" width="([\d.]+)%', svg)
    ]
    assert len(ends) == len(values) ** 2
    assert max(ends) <= 100.01
    shades = [float(shade) for shade in re.findall(r'fill-opacity="([\d.]+)"', svg)]
    assert all(0 <= shade <= 1 for shade in shades)


def test_columns_stand_on_the_axis_and_few_labels_are_written() -> None:
    labels = [f"{day} Mar" for day in range(1, 31)]
    chart = Columns(labels, [Series("By day", [Point(number) for number in range(30)])], axis_over(range(30)))
    svg = charts_svg.draw("d", "By day", chart)
    assert tags(svg)["rect"] == 30
    assert svg.count('class="tick middle"') <= chart.most + 1
    assert "highest 29.00 (30 Mar)" in svg


def test_every_chart_has_its_numbers_beside_it(world: World) -> None:
    labelled(world, 8)
    for address in ("/projects/films/agreement/", "/projects/films/dashboard/"):
        html = browser(world.mara).get(address).content.decode()
        sections = re.findall(r'<section class="figure".*?</section>', html, re.DOTALL)
        assert len(sections) >= 2
        for section in sections:
            assert "<svg" in section
            # A chart with links is a group: an image would hide them from a screen reader.
            chart = section.partition('<div class="chart">')[2].partition("</div>")[0]
            assert f'role="{"group" if "<a " in chart else "img"}"' in chart
            assert "<title" in section
            assert "<tbody>\n<tr>" in section
        assert "<script" not in re.sub(r'<script [^>]*src="[^"]+"[^>]*></script>', "", html)
        ids = re.findall(r'\sid="([^"]+)"', html)
        assert len(ids) == len(set(ids)), "no id twice"


def test_a_heat_map_of_many_people_stays_readable() -> None:
    people = {str(number): f"person {number}" for number in range(40)}
    pairs = [
        {"one": str(a), "other": str(b), "value": 0.5, "low": 0.4, "high": 0.6, "units": 9, "reason": ""}
        for a in range(40)
        for b in range(a + 1, 40)
    ]
    measure = {"name": "label", "pairs": pairs, "pair_statistic": "cohen_kappa"}
    found = study_figures.pairs(measure, "Cohen's kappa", people)
    assert found is not None
    assert len(found.sheet.rows) == 780
    assert found.basis == "n = 9 items per pair"
    assert tags(found.svg)["rect"] == 1600


def test_a_heat_map_says_how_many_items_its_pairs_share() -> None:
    figure = {"one": "1", "value": 0.5, "low": 0.4, "high": 0.6, "reason": ""}
    pairs = [{**figure, "other": "2", "units": 12}, {**figure, "other": "3", "units": 1_200}]
    measure = {"name": "label", "pairs": pairs, "pair_statistic": "cohen_kappa"}

    found = study_figures.pairs(measure, "Cohen's kappa", {})

    assert found is not None
    assert found.basis == "n = 12 to 1,200 items per pair"


def test_a_pair_without_a_value_says_why_in_the_readers_language() -> None:
    figure = {"one": "1", "other": "2", "value": None, "low": None, "high": None, "units": 9}
    with translation.override("de"):
        pairs = [{**figure, "reason": ONE_CATEGORY}]
        measure = {"name": "label", "pairs": pairs, "pair_statistic": "cohen_kappa"}
        chart = study_figures.pairs(measure, "", {"1": "Ada", "2": "Bo"})
        assert chart is not None
        assert "Es wurde nur eine Kategorie" in chart.notes


# -- while figures are worked out -------------------------------------------------------------------


class TestWhileFiguresAreWorkedOut:
    @pytest.fixture
    def two(self, world: World, monkeypatch: pytest.MonkeyPatch) -> World:
        """Two batches with work in them; the page may work out one part itself, the rest waits for the worker."""
        for name in ("First", "Second"):
            batch = world.batch(name=name, overlap=2)
            for who in ("ada", "bo"):
                world.label(batch, who, "extraction")
        world.project.pay = {"currency": "EUR", "per_item": 1}
        world.project.save()
        monkeypatch.setattr(snapshots, "MOST_AT_ONCE", 2)
        return world

    def test_no_part_is_shown_as_the_whole(self, two: World) -> None:
        page = browser(two.mara).get("/projects/films/dashboard/").content.decode()

        said = text_of(page)
        assert "The figures are being computed: 1 of 2 batches." in said
        assert re.search(r"cost so far</dt><dd>–<", page)
        assert re.search(r"items accepted</dt><dd>– ", page)
        assert re.search(r"active hours</dt><dd>–<", page)
        assert "A forecast appears after" not in said, "nothing is forecast, not even that it is too early"
        assert "2.00 EUR" in said, "the batch whose figures are there has them"
        assert 'hx-get="/projects/films/dashboard/"' in page
        assert 'href="/projects/films/dashboard/">Reload the page</a>' in page

    def test_the_note_asks_again_until_all_is_there_and_then_has_the_page_loaded_anew(
        self, two: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asking = {"HX-Request": "true"}
        manager = browser(two.mara)
        monkeypatch.setattr(snapshots, "MOST_AT_ONCE", 1)

        waiting = manager.get("/projects/films/dashboard/", headers=asking)
        monkeypatch.setattr(snapshots, "MOST_AT_ONCE", 8)
        done = manager.get("/projects/films/dashboard/", headers=asking)
        page = text(manager.get("/projects/films/dashboard/"))

        assert "being computed" in text(waiting)
        assert "<html" not in waiting.content.decode()
        assert done["HX-Refresh"] == "true"
        assert "being computed" not in page
        assert "cost so far 4.00 EUR" in page


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


# -- agreement over time ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(task_types()))
def test_of_a_kind_that_compares_sets_the_sets_are_drawn_over_time(kind: str) -> None:
    task = task_types()[kind]
    batch = Batch(task_type=kind, overlap=2, variant=next(iter(task.variants), ""))
    levels = {one.name: one.level for one in rating_tallies.measures_of(task, 2)}

    drawn_of_it = [one["name"] for one in views.charted_measures(batch, [{"name": name} for name in levels])]

    assert drawn_of_it[:1] == list(levels)[:1]
    assert len(drawn_of_it) == min(2, len(levels))
    whole = {name for name, level in levels.items() if level in ("sets", "cells", "edits")}
    assert bool(whole) == bool(whole & set(drawn_of_it))


def test_measures_have_names_in_words() -> None:
    assert display_text.measure("question_ambiguous") == "question ambiguous"
