"""Charts: well-formed, named for those who do not see them, and drawn where the numbers say."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.charts import study_figures, svg
from annotation.charts.fields import estimate_cell, integers, optional_texts, table, with_n
from annotation.charts.series import (
    Axis,
    Bars,
    Distribution,
    Distributions,
    Lines,
    Point,
    Series,
    axis_over,
    bins,
)
from annotation.charts.svg import draw
from config.csp import POLICY
from tableqa.statistics.proportions import Proportion

AXIS = Axis(0, 100, (0, 20, 40, 60, 80, 100))
TWO = [
    Series("TAPEX <b>", [Point(50, 40, 60), Point(None), None]),
    Series("Omni & co", [Point(25), Point(100, 90, 100), Point(0)]),
]
KNOWN = {
    *(
        "div",
        "ul",
        "li",
        "b",
        "span",
        "svg",
        "title",
        "desc",
        "g",
        "text",
        "rect",
        "line",
        "path",
        "circle",
        "tspan",
    ),
}
LABELS = ["row_shuffle", "transpose", "<i>"]


def parsed(markup: str) -> ElementTree.Element:
    """The chart as a tree; an error where a tag is left open or a text was read as one."""
    return ElementTree.fromstring(markup)


@given(name=st.text(alphabet=st.characters(blacklist_categories=("Cc", "Cs", "Cn")), max_size=30))
def test_whatever_a_model_is_called_it_stays_a_text(name: str) -> None:
    series = [Series(name, [Point(1.0)]), Series("b", [Point(2.0)])]
    for chart in (
        draw("x", name, Bars([name], series, AXIS)),
        draw("x", name, Lines([name], series, AXIS)),
        draw("x", name, Distribution([name], [Distributions(name, [[1.0, 2.0]])], AXIS)),
    ):
        tree = parsed(chart)
        tags = {element.tag for element in tree.iter()}
        assert tags <= KNOWN
        assert name in [element.text or "" for element in tree.iter("title")]


def test_a_chart_is_named_and_described() -> None:
    svg = parsed(draw("robustness", "R-ACC", Bars(LABELS, TWO, AXIS))).find("svg")
    assert svg is not None
    assert svg.attrib["role"] == "img"
    assert svg.attrib["aria-labelledby"] == "robustness-title robustness-desc"
    said = {element.attrib.get("id"): element.text for element in svg}
    assert said["robustness-title"] == "R-ACC"
    assert said["robustness-desc"] == (
        "TAPEX <b>: highest 50.00 (row_shuffle), lowest 50.00 (row_shuffle). "
        "Omni & co: highest 100.00 (transpose), lowest 0.00 (<i>)"
    )


def test_a_chart_needs_no_script_and_no_style_of_its_own() -> None:
    assert "style-src 'self'" in POLICY
    for chart in (
        draw("x", "t", Bars(LABELS, TWO, AXIS)),
        draw("x", "t", Lines(LABELS, TWO, AXIS)),
        draw("x", "t", Distribution(["a"], [Distributions("s", [[1.0, 2.0]])], AXIS)),
    ):
        assert not re.search(r"\sstyle=|<style|<script|\son\w+=", chart)


def test_a_bar_is_as_long_as_its_number() -> None:
    chart = parsed(draw("x", "t", Bars(LABELS, TWO, AXIS))).find("svg")
    assert chart is not None
    rects = [float(one.attrib["width"].rstrip("%")) for one in chart.iter("rect")]
    whole = svg.TO - svg.FROM
    assert rects == pytest.approx([whole / 2, whole / 4, whole, 0.2], abs=0.01)


def test_a_bar_below_nothing_ends_at_nothing() -> None:
    axis = axis_over([-50, 10])
    (rect,) = parsed(draw("x", "t", Bars(["a"], [Series("s", [Point(-50)])], axis))).iter("rect")
    start, wide = (float(rect.attrib[name].rstrip("%")) for name in ("x", "width"))
    assert start + wide == pytest.approx(svg.FROM + (svg.TO - svg.FROM) * axis.part(0), abs=0.01)


def test_what_is_undefined_is_said_and_what_was_not_asked_too() -> None:
    said = [one.text for one in parsed(draw("x", "t", Bars(LABELS, TWO, AXIS))).iter("text")]
    assert "undefined" in said
    assert "not asked" in said


def test_a_line_is_broken_where_a_point_is_missing() -> None:
    whole = [Series("s", [Point(1.0), Point(2.0), Point(3.0)])]
    broken = [Series("s", [Point(1.0), None, Point(3.0)])]

    def drawn(series: list[Series]) -> int:
        return draw("x", "t", Lines(LABELS, series, AXIS)).count('class="line"')

    assert (drawn(whole), drawn(broken)) == (2, 0)


def test_series_are_told_apart_without_colours() -> None:
    chart = draw("x", "t", Lines(["a", "b"], [Series(str(i), [Point(i), Point(i)]) for i in range(5)], AXIS))
    legend = parsed(chart).find("ul")
    assert legend is not None
    assert [key.text for key in legend.iter("b")] == ["A", "B", "C", "D", "E"]
    assert len({path.attrib["d"] for path in legend.iter("path")}) == 5


def test_few_values_are_dots_and_many_are_columns() -> None:
    few = draw("x", "t", Distribution(["a"], [Distributions("s", [[10.0, 10.0, 30.0]])], AXIS))
    many = draw(
        "x", "t", Distribution(["a"], [Distributions("s", [[float(i % 5) * 20 for i in range(50)]])], AXIS)
    )
    assert (few.count("<circle"), few.count("<rect")) == (3, 0)
    assert (many.count("<circle"), many.count("<rect")) == (0, 5)
    dots = [float(one.attrib["cy"]) for one in parsed(few).iter("circle")]
    assert len(set(dots)) == 2, "equal values stand on each other"


@given(st.lists(st.floats(0, 100), min_size=1, max_size=80))
def test_every_value_is_in_one_column(values: list[float]) -> None:
    assert sum(one.count for one in bins(values, AXIS)) == len(values)


@given(st.lists(st.floats(-1000, 1000), max_size=20), st.floats(0, 100))
def test_an_axis_holds_what_it_is_for_with_a_handful_of_marks(values: list[float], most: float) -> None:
    axis = axis_over(values, most=most)
    assert 2 <= len(axis.ticks) <= 9
    assert axis.low == axis.ticks[0] < axis.ticks[-1] == axis.high
    for value in [*values, most, 0.0]:
        assert axis.low - 1e-6 <= value <= axis.high + 1e-6


def test_numbers_have_a_real_minus_and_never_minus_nothing() -> None:
    said = [
        one.text
        for one in parsed(
            draw("x", "t", Bars(["a", "b"], [Series("s", [Point(-5), Point(-0.001)])], axis_over([-5])))
        ).iter("text")
    ]
    assert "\N{MINUS SIGN}5.00" in said
    assert "0.00" in said


def agreed(week: str) -> dict[str, object]:
    return {"name": week, "value": 0.5, "low": 0.4, "high": 0.6, "units": 9, "raters": 3}


def test_weeks_stand_at_their_time_and_no_line_crosses_those_in_which_nothing_came() -> None:
    weeks = [agreed("2025-W51"), agreed("2025-W52"), agreed("2026-W10")]
    found = study_figures.agreement_over_weeks([("label", "fleiss_kappa", weeks)])
    assert found is not None
    tree = parsed(found.svg)

    places = [float(mark.attrib["x"][:-1]) for mark in tree.iter("svg") if mark.attrib.get("class") == "mark"]
    assert len(places) == 3
    first, second, third = places
    assert (third - second) / (second - first) == pytest.approx(10, rel=0.01)
    assert sum(line.attrib.get("class") == "line" for line in tree.iter("line")) == 1
    ticks = [one.text or "" for one in tree.iter("text") if one.attrib.get("class") == "tick middle"]
    assert ticks[0] == "2025-W51"
    assert 2 <= len(ticks) <= study_figures.WRITTEN
    assert [row[0].text for row in found.sheet.rows] == ["2025-W51", "2025-W52", "2026-W10"]


def test_of_many_weeks_the_last_ones_are_drawn() -> None:
    found = study_figures.agreement_over_weeks(
        [("label", "fleiss_kappa", [agreed("2019-W01"), agreed("2020-W53"), agreed("2021-W02")])]
    )
    assert found is not None
    assert [row[0].text for row in found.sheet.rows] == ["2020-W53", "2021-W02"]


def test_a_group_of_bars_says_of_how_many_units_it_is() -> None:
    series = [Series("a", [Point(1.0, n=3), Point(2.0)]), Series("b", [Point(1.0, n=1200), Point(2.0)])]
    said = [one.text for one in parsed(draw("x", "t", Bars(["p", "q"], series, AXIS))).iter("tspan")]
    assert said == ["n = 3 (A), 1,200 (B)"]


def test_a_line_chart_has_n_below_the_label_of_each_point() -> None:
    equal = [Series("a", [Point(1.0, n=3), None]), Series("b", [Point(1.0, n=3), Point(2.0, n=1200)])]
    different = [Series("a", [Point(1.0, n=3), None]), Series("b", [Point(1.0, n=4), Point(2.0, n=1200)])]
    unknown = [Series("a", [Point(1.0), Point(2.0)])]

    assert counts(equal) == ["n", "3", "1,200"]
    assert counts(different) == ["n (A)", "3", "n (B)", "4", "1,200"]
    assert counts(unknown) == []


def counts(series: list[Series]) -> list[str | None]:
    """What is written in the lines of n below a line chart, from left to right and top to bottom."""
    tree = parsed(draw("x", "t", Lines(["p", "q"], series, AXIS)))
    return [one.text for one in tree.iter("text") if "small" in one.attrib.get("class", "").split()]


def test_n_is_written_for_the_labels_that_are_written() -> None:
    series = [Series("a", [Point(1.0, n=number) for number in range(1, 13)])]
    tree = parsed(draw("x", "t", Lines(list("abcdefghijkl"), series, AXIS, most=6)))

    said = [one.text for one in tree.iter("text") if "small" in one.attrib.get("class", "").split()]
    assert said == ["n", "1", "3", "5", "7", "9", "11"]


def test_the_legend_of_bars_has_squares_and_that_of_lines_has_dashes() -> None:
    def legend(chart: str) -> list[str]:
        samples = parsed(chart).find("ul")
        assert samples is not None
        return [part.tag for part in samples.iter() if part.tag in ("rect", "line", "path")]

    assert legend(draw("x", "t", Bars(LABELS, TWO, AXIS))) == ["rect", "rect"]
    assert legend(draw("x", "t", Lines(LABELS, TWO, AXIS))) == ["line", "path", "line", "path"]
    spreads = [Distributions("a", [[1.0, 2.0]]), Distributions("b", [[3.0]])]
    assert legend(draw("x", "t", Distribution(["p"], spreads, AXIS))) == ["rect", "rect"]


def test_the_cell_of_a_table_and_the_point_of_a_chart_say_the_same() -> None:
    point = Point(61.234, 58.01, 64.19, 1204)
    cell = estimate_cell(point, 2)

    assert point.text == f"{cell.text} ({cell.detail}), n = 1,204"
    assert (cell.number, cell.low, cell.high, cell.n) == (61.234, 58.01, 64.19, 1204)


def test_an_estimate_without_an_interval_says_why() -> None:
    cell = estimate_cell(Point(50.0, n=1), 1, unit="%", no_interval="A single value.")
    assert (cell.text, cell.detail, cell.no_interval) == ("50.0 %", "", "A single value.")
    assert estimate_cell(None, 1).text == estimate_cell(Point(None), 1, unit="%").text == "–"


def test_a_share_without_an_interval_has_a_dash_in_its_place() -> None:
    cells = [study_figures.share(Proportion(hits, 2, hits / 2, None, None)) for hits in (1, 2)]
    assert [(cell.text, cell.detail) for cell in cells] == [("50.0 %", "–"), ("100.0 %", "–")]
    assert with_n(cells[0]).detail == "–; n = 2"
    assert study_figures.share(Proportion(0, 0, None, None, None)).detail == ""
    assert study_figures.share(Proportion(1, 2, 0.5, 0.1, 0.9)).detail == "10.0 to 90.0 %"


def test_a_table_has_a_row_for_each_record_and_a_column_for_each_field() -> None:
    fields = (*optional_texts(name="Name"), *integers(items="Items", kept="Kept"))
    figure = table("t", "Table", fields, [{"name": "", "items": 1200, "kept": None}])

    assert figure is not None
    assert [(column.title, column.numeric) for column in figure.sheet.columns] == [
        ("Name", False),
        ("Items", True),
        ("Kept", True),
    ]
    assert [cell.text for cell in figure.sheet.rows[0]] == ["–", "1,200", "–"]
    assert table("t", "Table", fields, []) is None
