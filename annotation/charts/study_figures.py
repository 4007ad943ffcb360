"""Figures of a study, from what snapshots hold. Pure: no database, no request.

Each function makes a `figures.Figure`: chart, table, files and texts are of the same series.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from operator import itemgetter
from typing import Any

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext, ngettext

from annotation.charts.fields import (
    Field,
    estimate_cell,
    integer,
    integers,
    number_field,
    percent_field,
    table,
    text_field,
    texts,
)
from annotation.charts.figure import Figure
from annotation.charts.series import Axis, Bars, Columns, Heat, Lines, Point, Series, axis_over, ends
from annotation.platform import display_text
from tableqa.agreement.differences import difference
from tableqa.data.own_columns import PREFIX
from tableqa.statistics import medians
from tableqa.statistics.proportions import Proportion
from tableqa.statistics.zero_width_intervals import interval_of
from tableqa.writers.report_tables import NOTHING, Cell, Column, text

Statistics = Mapping[str, Any]
"""One figure of agreement as a snapshot holds it: value, low, high, units, raters, ratings, reason."""

MOST_SERIES = 8
WEEKS = 52
"""The number of weeks drawn, the last ones, weeks without work included."""
WRITTEN = 6
"""The most that are written below the axis: on a phone there is no room for more."""


def estimate(figure: Statistics, statistic: str, n: int | None = None) -> Cell:
    """A figure of agreement as a cell of a column of estimates; n: the number of items where it is not its units."""
    n = figure["units"] if n is None else n
    if figure["value"] is None:
        return Cell(gettext("undefined"), reason=display_text.show(figure["reason"]), n=n)
    confidence_interval = interval_of(figure, statistic)
    estimate_point = Point(figure["value"], confidence_interval.low, confidence_interval.high, n)
    return estimate_cell(estimate_point, 3, no_interval=display_text.show(confidence_interval.reason))


def share(proportion: Proportion) -> Cell:
    """A share as a cell of a column of estimates, in percent, with a dash where it has no interval."""
    cell = estimate_cell(share_point(proportion), 1, unit="%")
    return cell if cell.number is None else replace(cell, detail=cell.detail or NOTHING)


def median(estimate: medians.Estimate) -> Cell:
    """A median as a cell of a column of estimates, with one decimal."""
    estimate_point = Point(estimate.value, estimate.low, estimate.high, estimate.n)
    reason = gettext("A single value has no interval.")
    if estimate.n > 1:
        reason = gettext("Every resample has the same median.")
    return estimate_cell(estimate_point, 1, no_interval=reason)


def names(*titles: str) -> tuple[Column, ...]:
    """Columns of texts."""
    return tuple(Column(gettext(title), numeric=False) for title in titles)


def point(figure: Statistics | None, statistic: str) -> Point | None:
    """A figure as a chart takes it; None where nothing is there."""
    if figure is None:
        return None
    confidence_interval = interval_of(figure, statistic)
    return Point(figure["value"], confidence_interval.low, confidence_interval.high, figure["units"])


def agreement_over_weeks(measures: Sequence[tuple[str, str, Sequence[Statistics]]]) -> Figure | None:
    """Lines of agreement by week, one for each (name, statistic, weeks); None where no week has a value.

    A name says what is measured, and by which statistic. A single one is in the title, as there is no legend then.
    """
    shown_measures = [entry for entry in measures if any(week["value"] is not None for week in entry[2])]
    labels = _weeks({week["name"] for _, _, weeks in shown_measures for week in weeks})
    if not labels:
        return None
    measures_by_week = [
        (name, statistic, {week["name"]: week for week in weeks}) for name, statistic, weeks in shown_measures
    ]
    series = [
        Series(name, [point(weeks.get(label), statistic) for label in labels])
        for name, statistic, weeks in measures_by_week[:MOST_SERIES]
    ]
    records = [
        {"week": label, "measure": name, **_value_of(week, statistic)}
        for label in labels
        for name, statistic, weeks in measures_by_week
        if (week := weeks.get(label)) is not None
    ]
    title = gettext("Agreement by week of an item's last response")
    if len(measures_by_week) == 1:
        title = f"{title}: {measures_by_week[0][0]}"
    note = (
        gettext("The chart shows the first {most_series}; the table shows all.").format(
            most_series=MOST_SERIES
        )
        if len(measures_by_week) > MOST_SERIES
        else ""
    )
    fields = (*texts(week=gettext("Week"), measure=gettext("Measure")), *value_and_raters())
    chart = Lines(labels, series, _axis(series), most=WRITTEN)
    return table("weeks", title, fields, records, note, chart=chart)


def _value_of(figure: Statistics, statistic: str) -> dict[str, Any]:
    return {"value": estimate(figure, statistic), "raters": figure["raters"]}


def value_and_raters() -> tuple[Field, ...]:
    """Columns of a figure of agreement: its `value`, a cell, and its `raters`."""
    return (_value(gettext("Items")), *integers(raters=gettext("Raters")))


def _value(counted: str) -> Field:
    return number_field(gettext("Value"), itemgetter("value"), counted=counted)


def _weeks(named: Iterable[str]) -> list[str]:
    """Every week from the first to the last of these, as 2026-W09; at most `WEEKS`, the last ones."""
    week_names = sorted(named)
    if not week_names:
        return []
    monday, last = (date.fromisoformat(f"{week}-1") for week in (week_names[0], week_names[-1]))
    monday = max(monday, last - timedelta(weeks=WEEKS - 1))
    weeks = []
    while monday <= last:
        year, week, _ = monday.isocalendar()
        weeks.append(f"{year}-W{week:02}")
        monday += timedelta(weeks=1)
    return weeks


def agreement_by_source(measure: Statistics, statistic: str) -> Figure | None:
    """Bars of agreement by source; None where there is one source only. `statistic`: in words."""
    if len(measure["sources"]) < 2:
        return None
    title = gettext("Agreement by source: {measure}, {statistic}")
    return _by_group("sources", title, gettext("Source"), measure, measure["sources"], statistic)


def agreement_by_column(measure: Statistics, statistic: str, column: Statistics) -> Figure | None:
    """Bars of agreement by the values of an own column; None without any."""
    name = column["name"].removeprefix(PREFIX)
    title = gettext("Agreement by {column}: {measure}, {statistic}")
    return _by_group("columns", title, name, measure, column["groups"], statistic)


def _by_group(
    name: str, title: str, called: str, measure: Statistics, groups: Sequence[Statistics], statistic: str
) -> Figure | None:
    by = measure["statistic"]
    series = [Series(statistic, [point(group, by) for group in groups])]
    key = name.removesuffix("s")
    records = [
        {key: group["name"], **_value_of(group, by), "difference": _less(group, groups[0])}
        for group in groups
    ]
    less = gettext("Difference from {name}").format(name=groups[0]["name"])
    fields = (*texts(**{key: called}), *value_and_raters(), number_field(less, itemgetter("difference")))
    chart = Bars([group["name"] for group in groups], series, _axis(series))
    title = title.format(measure=display_text.measure(measure["name"]), statistic=statistic, column=called)
    return table(name, title, fields, records, chart=chart)


def _less(group: Statistics, first: Statistics) -> Cell:
    """The agreement of a group less that of the first one, with its interval."""
    with_ends = (Point(figure["value"], figure["low"], figure["high"]) for figure in (group, first))
    result = None if group is first else difference(*with_ends)
    return text(NOTHING) if result is None else estimate_cell(Point(*result), 3)


def pairs(measure: Statistics, statistic: str, people: Mapping[str, str]) -> Figure | None:
    """A heat map of every two people; None where no two people share an item. `statistic`: in words."""
    if not measure["pairs"]:
        return None
    figure_of_pair = {(row["one"], row["other"]): row for row in measure["pairs"]}
    keys = sorted(
        {key for both in figure_of_pair for key in both}, key=lambda key: (person_name(people, key), key)
    )
    named = [person_name(people, key) for key in keys]

    def agreement_of(person: str, other_person: str) -> float | None:
        figure = figure_of_pair.get((person, other_person)) or figure_of_pair.get((other_person, person))
        return None if figure is None else figure["value"]

    values = [[agreement_of(row, column) for column in keys] for row in keys]
    title = gettext("Agreement of each pair of people: {measure}, {statistic}").format(
        measure=display_text.measure(measure["name"]), statistic=statistic
    )
    lowest_first = sorted(
        figure_of_pair.items(),
        key=lambda entry: (entry[1]["value"] is None, entry[1]["value"] or 0.0, entry[0]),
    )
    both = gettext("{called} and {called_2}")
    records = [
        {
            "pair": both.format(called=person_name(people, row), called_2=person_name(people, column)),
            "value": estimate(figure, measure["pair_statistic"]),
        }
        for (row, column), figure in lowest_first
    ]
    note = gettext(
        "Each figure covers the items that both people rated. A low row means one person "
        "differs from all others. A single low square means two people differ from each other."
    )
    fields = (*texts(pair=gettext("Pair, lowest first")), _value(gettext("Items in common")))
    chart, basis = Heat(named, named, values), _items_per_pair(measure["pairs"])
    return table("pairs", title, fields, records, note, chart=chart, basis=basis)


def _items_per_pair(pair_figures: Sequence[Mapping[str, Any]]) -> str:
    """How many items two people share, from the fewest to the most."""
    counts = sorted(pair["units"] for pair in pair_figures)
    fewest, most = (display_text.number(f"{count:,}") for count in (counts[0], counts[-1]))
    if fewest == most:
        return gettext("n = {n} items per pair").format(n=most)
    return gettext("n = {low} to {high} items per pair").format(low=fewest, high=most)


def confusion(
    measure: Statistics, address: Callable[[str, str], str] = lambda first, second: ""
) -> Figure | None:
    """A heat map of which labels two people gave to one item; None where values are no labels.

    `address` gives the page of the items with two labels, as they are stored; "" for none.
    """
    matrix = measure["confusion"]
    if matrix is None:
        return None
    labels, counts = list(map(display_text.show, matrix["labels"])), matrix["counts"]
    title = gettext("Label confusion: pairs of responses to the same item, {measure}").format(
        measure=display_text.measure(measure["name"])
    )
    upper = [(row, column) for row in range(len(labels)) for column in range(row, len(labels))]
    records: list[dict[str, Any]] = [
        {
            "labels": f"{labels[row]} / {labels[column]}",
            "share": Proportion(counts[row][column] // (2 if row == column else 1), **ends),
            "address": address(matrix["labels"][row], matrix["labels"][column]),
        }
        for (row, column), ends in zip(upper, matrix["shares"], strict=True)
    ]
    records.sort(key=lambda record: (-record["share"].hits, record["labels"]))
    addresses = {
        (row_index, column_index): link
        for row_index in range(len(labels))
        for column_index in range(len(labels))
        if (link := address(matrix["labels"][row_index], matrix["labels"][column_index]))
    }
    halved = [
        [count / 2 if row_index == column_index else float(count) for column_index, count in enumerate(row)]
        for row_index, row in enumerate(counts)
    ]
    fields = (
        *texts(labels=gettext("Labels")),
        number_field(gettext("Pairs"), _hits),
        percent_field(gettext("Share"), _share_point, counted=gettext("Items")),
    )
    note = gettext(
        "Interval of the share: bootstrap over items, because pairs of responses to one item are not independent."
    )
    highest = max(map(max, halved)) or 1.0
    chart = Heat(labels, labels, halved, 0.0, highest, whole=True, addresses=addresses)
    total = display_text.number(f"{sum(record['share'].hits for record in records):,}")
    basis = gettext("n = {n} pairs of responses").format(n=total)
    return table("confusion", title, fields, records, note, chart=chart, basis=basis)


def _hits(record: Mapping[str, Any]) -> Cell:
    """The count of a share, with the address of the items behind it."""
    return integer(record["share"].hits, record["address"])


def _share_point(record: Mapping[str, Any]) -> Point:
    return share_point(record["share"])


def by_day(
    days: Sequence[date], counts: Sequence[int], title: str, address: Callable[[date], str] = lambda day: ""
) -> Figure | None:
    """Columns of submissions by day; None before the first. `address` of the items of a day, "" for none."""
    if not days:
        return None
    fields = (
        text_field(gettext("Day"), lambda record: record[0].isoformat()),
        number_field(
            gettext("Submissions"),
            lambda record: integer(record[1], address(record[0]) if record[1] else ""),
        ),
    )
    short = [date_format(day, gettext("j M")) for day in days]
    chart = Columns(short, [Series(title, [Point(count) for count in counts])], axis_over(counts))
    basis = gettext("n = {n} submissions").format(n=display_text.number(f"{sum(counts):,}"))
    newest_first = reversed([*zip(days, counts, strict=True)])
    return table("days", title, fields, newest_first, chart=chart, basis=basis)


def shares(
    name: str,
    title: str,
    head: tuple[str, str],
    labelled_shares: Sequence[tuple[str, Proportion]],
    note: str = "",
    counted: str = "",
    addresses: Sequence[str] = (),
) -> Figure | None:
    """Bars of shares with their intervals; None where nothing was counted. `head`: the first two columns.

    addresses: of the items behind the count of each share, "" for none.
    """
    linked = zip(labelled_shares, addresses or [""] * len(labelled_shares), strict=True)
    records: list[dict[str, Any]] = [
        {"label": label or gettext("(empty)"), "share": entry, "address": address}
        for (label, entry), address in linked
        if entry.n
    ]
    series = [Series(title, list(map(_share_point, records)))]
    fields = (
        *texts(label=gettext(head[0])),
        number_field(gettext("Count"), _hits),
        percent_field(gettext(head[1]), _share_point, counted=counted or gettext("of")),
    )
    chart = Bars([record["label"] for record in records], series, axis_over(ends(series), unit="%"))
    return table(name, title, fields, records, note, chart=chart)


def share_point(proportion: Proportion) -> Point:
    """A share as a chart takes it, in percent."""
    return Point(
        as_percent(proportion.value), as_percent(proportion.low), as_percent(proportion.high), proportion.n
    )


def person_name(people: Mapping[str, str], key: str) -> str:
    """What a person is called on this page."""
    return people.get(key, gettext("a former member"))


def _axis(series: Sequence[Series]) -> Axis:
    return axis_over([max(-1.0, end) for end in ends(series)], most=1.0)


def as_percent(value: float | None) -> float | None:
    """A share in percent."""
    return None if value is None else 100 * value


# -- the monitors of a benchmark --------------------------------------------------------------------


def monitors(statistics: Statistics) -> list[Figure]:
    """Charts of what a benchmark should not have, from `annotation.quality.dashboards.artifact_figures`; those that have
    data."""
    answers, openings, holding = (
        (
            gettext("Most frequent answers of accepted examples"),
            gettext("Most frequent first words of questions, accepted examples"),
            gettext("Rows with the answer, accepted examples"),
        )
        if statistics["of"] == "accepted"
        else (
            gettext("Most frequent answers of assigned examples"),
            gettext("Most frequent first words of questions, assigned examples"),
            gettext("Rows with the answer, assigned examples"),
        )
    )
    drawn = [
        _top_values_figure("answers", answers, "Answer", statistics["answers"]),
        _top_values_figure("openings", openings, gettext("First words"), statistics["openings"]),
        *(
            _position_figure(name, title, statistics[name])
            for name, title in (
                ("answer_rows", holding),
                ("evidence_rows", gettext("Rows with marked evidence")),
                ("edit_rows", gettext("Edited rows")),
            )
        ),
        _edit_size_figure(statistics["edit_sizes"]),
    ]
    return [figure for figure in drawn if figure is not None]


def _top_values_figure(name: str, title: str, head: str, statistics: Statistics | None) -> Figure | None:
    if statistics is None:
        return None
    spread = statistics["normalised"]
    note = gettext("{found} different among {found_2}.").format(
        found=number_format(statistics["distinct"], force_grouping=True),
        found_2=number_format(statistics["n"], force_grouping=True),
    )
    if spread is not None and statistics["low"] is not None and statistics["low"] < statistics["high"]:
        written, low, high = display_text.estimate(spread, statistics["low"], statistics["high"])
        note += gettext(
            " Spread {spread} (95 % CI {low} to {high}); 1: all differ, 0: all identical."
        ).format(spread=written, low=low, high=high)
    top = [(str(value), Proportion(**share)) for value, share in statistics["top"]]
    return shares(name, title, (head, "Share"), top, f"{note}{_cluster_note(statistics, name)}")


def _position_figure(name: str, title: str, statistics: Statistics | None) -> Figure | None:
    if statistics is None:
        return None
    parts = (
        ("first", gettext("all in the first three")),
        ("last", gettext("all in the last two")),
        ("ends", gettext("all in the first three or last two")),
    )
    records: list[dict[str, Any]] = [
        {
            "label": label,
            "share": Proportion(**statistics[part]),
            "address": "",
            "chance": Point(100 * statistics[f"{part}_by_chance"]),
        }
        for part, label in parts
    ]
    series = [
        Series(gettext("observed"), list(map(_share_point, records))),
        Series(gettext("expected by chance"), [record["chance"] for record in records]),
    ]
    fields = (
        *texts(label=gettext("Position in the table")),
        number_field(gettext("Count"), _hits),
        percent_field(gettext("Share"), _share_point, counted=gettext("of")),
        number_field(
            gettext("Expected by chance"), lambda record: estimate_cell(record["chance"], 1, unit="%")
        ),
    )
    chart = Bars([label for _, label in parts], series, axis_over(ends(series), most=10.0, unit="%"))
    return table(
        name.replace("_", "-"), title, fields, records, _exclusion_note(name, statistics), chart=chart
    )


def _exclusion_note(name: str, statistics: Statistics) -> str:
    """Of how many the figures are not, and why: what is in no row, and what is in a table too short to tell."""
    without, short = (number_format(statistics[key], force_grouping=True) for key in ("without", "short"))
    excluded = {
        "answer_rows": gettext("Excluded: {without} whose answer is not in a cell."),
        "evidence_rows": gettext("Excluded: {without} without a marked cell."),
        "edit_rows": gettext("Excluded: {without} with edits outside rows."),
    }[name].format(without=without)
    also = gettext("Tables of at most five rows are also excluded ({found}).")
    return f"{excluded} {also.format(found=short)}{_cluster_note(statistics, name)}"


def _cluster_note(statistics: Statistics, name: str) -> str:
    """What intervals are over, where several answers, examples or responses are of one item."""
    if statistics["groups"] == statistics["n"]:
        return ""
    responses = ngettext(
        "{n} responses to {items} item. Interval: bootstrap over items, at least as wide as Wilson's.",
        "{n} responses to {items} items. Interval: bootstrap over items, at least as wide as Wilson's.",
        statistics["groups"],
    )
    answers = ngettext(
        "{n} answers from {items} item. Interval: bootstrap over items, at least as wide as Wilson's.",
        "{n} answers from {items} items. Interval: bootstrap over items, at least as wide as Wilson's.",
        statistics["groups"],
    )
    examples = ngettext(
        "{n} examples from {items} item. Interval: bootstrap over items, at least as wide as Wilson's.",
        "{n} examples from {items} items. Interval: bootstrap over items, at least as wide as Wilson's.",
        statistics["groups"],
    )
    sentence = {"answers": answers, "openings": examples, "answer_rows": examples}.get(name, responses)
    return " " + sentence.format(
        n=number_format(statistics["n"], force_grouping=True),
        items=number_format(statistics["groups"], force_grouping=True),
    )


def _edit_size_figure(statistics: Statistics | None) -> Figure | None:
    if statistics is None:
        return None
    has_interval = statistics["low"] is not None and statistics["low"] < statistics["high"]
    ends = (
        (statistics["low"], statistics["high"]) if has_interval else (statistics["mean"], statistics["mean"])
    )
    mean, low, high = display_text.estimate(statistics["mean"], *ends, 2)
    note = gettext("Median {median}, mean {mean}").format(
        median=display_text.number(f"{statistics['median']:g}"), mean=mean
    )
    if has_interval:
        note += gettext(" (95 % CI {low} to {high})").format(low=low, high=high)
    top = [(str(size), Proportion(**share)) for size, share in statistics["counts"][:12]]
    return shares(
        "edit-sizes",
        gettext("Edit size in net operations"),
        (gettext("Operations"), "Share"),
        top,
        f"{note}.{_cluster_note(statistics, 'edit_sizes')}",
    )
