"""Figures of a study, from what snapshots hold. Pure: no database, no request.

Each function makes a `figures.Figure`: chart, table, files and texts are of the same series.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext, ngettext

from annotation.charts import svg
from annotation.charts.figure import Bars, Columns, Figure, Heat, Lines
from annotation.charts.svg import Point, Series
from annotation.platform import display_text
from tableqa.statistics import medians
from tableqa.statistics.proportions import Proportion
from tableqa.statistics.zero_width_intervals import interval_of
from tableqa.typesetting.report_tables import Cell, Column, Sheet, count, text

Statistics = Mapping[str, Any]
"""One figure of agreement as a snapshot holds it: value, low, high, units, raters, ratings, reason."""

MOST_SERIES = 8
DASH = "–"
WEEKS = 52
"""So many weeks are drawn, the last ones; weeks in which nothing was done take their place, too."""
WRITTEN = 6
"""So many of them are written below the axis: on a phone there is no room for more."""


def number(value: float | None) -> str:
    """A coefficient with three decimals and a true minus, or a dash."""
    return DASH if value is None else display_text.decimal(value)


def interval(figure: Statistics, statistic: str) -> str:
    """An interval in words, why there is none, or a dash."""
    found = interval_of(figure, statistic)
    if found.low is None or found.high is None:
        return display_text.shown(found.reason) or DASH
    _, low, high = display_text.estimate(figure["value"], found.low, found.high)
    return gettext("{number} to {number_2}").format(number=low, number_2=high)


def estimate(figure: Statistics, statistic: str, n: int | None = None) -> Cell:
    """A figure of agreement as a cell of a column of estimates; n: the number of items where it is not its units."""
    n = figure["units"] if n is None else n
    if figure["value"] is None:
        return Cell(gettext("undefined"), reason=display_text.shown(figure["reason"]), n=n)
    found = interval_of(figure, statistic)
    written, detail = number(figure["value"]), ""
    if found.low is not None and found.high is not None:
        written, _, _ = display_text.estimate(figure["value"], found.low, found.high)
        detail = interval(figure, statistic)
    return Cell(
        written,
        figure["value"],
        detail,
        low=found.low,
        high=found.high,
        n=n,
        no_interval=display_text.shown(found.reason),
    )


def share(found: Proportion) -> Cell:
    """A share as a cell of a column of estimates, in percent."""
    if found.value is None:
        return Cell(DASH, n=found.n)
    low, high = (None if end is None else round(100 * end, 6) for end in (found.low, found.high))
    value = round(100 * found.value, 6)
    return Cell(
        display_text.percent(found), value, display_text.interval(found), low=low, high=high, n=found.n
    )


def median(found: medians.Estimate) -> Cell:
    """A median as a cell of a column of estimates, with one decimal."""
    if found.value is None:
        return Cell(DASH, n=found.n)
    value = round(found.value, 6)
    if found.low is None or found.high is None:
        return Cell(display_text.decimal(value, 1), value, n=found.n, no_interval=_no_interval(found.n))
    written, *ends = display_text.estimate(value, found.low, found.high, 1)
    detail = gettext("{number} to {number_2}").format(number=ends[0], number_2=ends[1])
    low, high = round(found.low, 6), round(found.high, 6)
    return Cell(written, value, detail, low=low, high=high, n=found.n)


def _no_interval(n: int) -> str:
    if n > 1:
        return gettext("Every resample has the same median.")
    return gettext("A single value has no interval.")


def names(*titles: str) -> tuple[Column, ...]:
    """Columns of texts."""
    return tuple(Column(gettext(title), numeric=False) for title in titles)


def point(figure: Statistics | None, statistic: str) -> Point | None:
    """A figure as a chart takes it; None where nothing is there."""
    if figure is None:
        return None
    found = interval_of(figure, statistic)
    return Point(figure["value"], found.low, found.high, figure["units"])


def agreement_over_weeks(given: Sequence[tuple[str, str, Sequence[Statistics]]]) -> Figure | None:
    """Lines of agreement by week, one for each (name, statistic, weeks); None where no week has a value.

    A name says what is measured, and by which statistic. A single one is in the title, as there is no legend then.
    """
    shown = [entry for entry in given if any(one["value"] is not None for one in entry[2])]
    labels = _weeks({one["name"] for _, _, weeks in shown for one in weeks})
    if not labels:
        return None
    found = [(name, statistic, {one["name"]: one for one in weeks}) for name, statistic, weeks in shown]
    series = [
        Series(name, [point(weeks.get(label), statistic) for label in labels])
        for name, statistic, weeks in found[:MOST_SERIES]
    ]
    rows = tuple(
        (text(label), text(name), estimate(one, statistic), count(one["raters"]))
        for label in labels
        for name, statistic, weeks in found
        if (one := weeks.get(label)) is not None
    )
    title = gettext("Agreement by week of an item's last response")
    if len(found) == 1:
        title = f"{title}: {found[0][0]}"
    note = (
        gettext("The chart shows the first {most_series}; the table shows all.").format(
            most_series=MOST_SERIES
        )
        if len(found) > MOST_SERIES
        else ""
    )
    columns = (*names("Week", "Measure"), _value(gettext("Items")), Column(gettext("Raters")))
    sheet = Sheet("weeks", title, columns, rows, note)
    return Figure("weeks", title, sheet, Lines(labels, series, _axis(series), most=WRITTEN))


def _value(counted: str) -> Column:
    return Column(gettext("Value"), counted=counted)


def _weeks(named: Iterable[str]) -> list[str]:
    """Every week from the first to the last of these, as 2026-W09; at most `WEEKS`, the last ones."""
    found = sorted(named)
    if not found:
        return []
    monday, last = (date.fromisoformat(f"{week}-1") for week in (found[0], found[-1]))
    monday = max(monday, last - timedelta(weeks=WEEKS - 1))
    weeks = []
    while monday <= last:
        year, week, _ = monday.isocalendar()
        weeks.append(f"{year}-W{week:02}")
        monday += timedelta(weeks=1)
    return weeks


def agreement_by_source(measure: Statistics, statistic: str) -> Figure | None:
    """Bars of agreement by source; None where there is one source only. `statistic`: in words."""
    sources = measure["sources"]
    if len(sources) < 2:
        return None
    title = gettext("Agreement by source: {measure}, {statistic}").format(
        measure=display_text.measure(measure["name"]), statistic=statistic
    )
    by = measure["statistic"]
    series = [Series(statistic, [point(one, by) for one in sources])]
    rows = tuple((text(one["name"]), estimate(one, by), count(one["raters"])) for one in sources)
    columns = (*names("Source"), _value(gettext("Items")), Column(gettext("Raters")))
    chart = Bars([one["name"] for one in sources], series, _axis(series))
    return Figure("sources", title, Sheet("sources", title, columns, rows), chart)


def pairs(measure: Statistics, statistic: str, people: Mapping[str, str]) -> Figure | None:
    """A heat map of every two people; None where no two people share an item. `statistic`: in words."""
    if not measure["pairs"]:
        return None
    found = {(one["one"], one["other"]): one for one in measure["pairs"]}
    keys = sorted({key for both in found for key in both}, key=lambda key: (called(people, key), key))
    named = [called(people, key) for key in keys]

    def between(one: str, other: str) -> float | None:
        figure = found.get((one, other)) or found.get((other, one))
        return None if figure is None else figure["value"]

    values = [[between(one, other) for other in keys] for one in keys]
    title = gettext("Agreement of each pair of people: {measure}, {statistic}").format(
        measure=display_text.measure(measure["name"]), statistic=statistic
    )
    lowest_first = sorted(
        found.items(), key=lambda entry: (entry[1]["value"] is None, entry[1]["value"] or 0.0, entry[0])
    )
    rows = tuple(
        (
            text(
                gettext("{called} and {called_2}").format(
                    called=called(people, one), called_2=called(people, other)
                )
            ),
            estimate(figure, measure["pair_statistic"]),
        )
        for (one, other), figure in lowest_first
    )
    note = gettext(
        "Each figure covers the items that both people rated. A low row means one person "
        "differs from all others. A single low square means two people differ from each other."
    )
    columns = (*names(gettext("Pair, lowest first")), _value(gettext("Items in common")))
    sheet = Sheet("pairs", title, columns, rows, note)
    return Figure("pairs", title, sheet, Heat(named, named, values), _common(measure["pairs"]))


def _common(found: Sequence[Mapping[str, Any]]) -> str:
    """How many items two people share, from the fewest to the most."""
    numbers = sorted(pair["units"] for pair in found)
    fewest, most = (display_text.number(f"{number:,}") for number in (numbers[0], numbers[-1]))
    if fewest == most:
        return gettext("n = {n} items per pair").format(n=most)
    return gettext("n = {low} to {high} items per pair").format(low=fewest, high=most)


def confusion(
    measure: Statistics, address: Callable[[str, str], str] = lambda one, other: ""
) -> Figure | None:
    """A heat map of which labels two people gave to one item; None where values are no labels.

    `address` gives the page of the items with two labels, as they are stored; "" for none.
    """
    found = measure["confusion"]
    if found is None:
        return None
    labels, counts = list(map(display_text.shown, found["labels"])), found["counts"]
    title = gettext("Label confusion: pairs of responses to the same item, {measure}").format(
        measure=display_text.measure(measure["name"])
    )
    pairs_of = [
        (
            text(f"{labels[one]} / {labels[other]}"),
            counts[one][other] // (2 if one == other else 1),
            address(found["labels"][one], found["labels"][other]),
        )
        for one in range(len(labels))
        for other in range(one, len(labels))
    ]
    shares_of = [
        Proportion(number, **ends) for (_, number, _), ends in zip(pairs_of, found["shares"], strict=True)
    ]
    addresses = {
        (one, other): link
        for one in range(len(labels))
        for other in range(len(labels))
        if (link := address(found["labels"][one], found["labels"][other]))
    }
    total = sum(number for _, number, _ in pairs_of)
    rows = tuple(
        (
            name,
            replace(_count(number), address=link if number else ""),
            share(share_of),
        )
        for (name, number, link), share_of in sorted(
            zip(pairs_of, shares_of, strict=True), key=lambda entry: (-entry[0][1], entry[0][0].text)
        )
    )
    halved = [
        [number / 2 if one == other else float(number) for other, number in enumerate(row)]
        for one, row in enumerate(counts)
    ]
    columns = (
        *names(gettext("Labels")),
        Column(gettext("Pairs")),
        Column(gettext("Share"), counted=gettext("Items"), unit="%"),
    )
    note = gettext(
        "Interval of the share: bootstrap over items, because pairs of responses to one item are not independent."
    )
    return Figure(
        "confusion",
        title,
        Sheet("confusion", title, columns, rows, note),
        Heat(labels, labels, halved, 0.0, max(map(max, halved)) or 1.0, whole=True, addresses=addresses),
        basis=gettext("n = {n} pairs of responses").format(n=display_text.number(f"{total:,}")),
    )


def by_day(
    days: Sequence[date], counts: Sequence[int], title: str, address: Callable[[date], str] = lambda day: ""
) -> Figure | None:
    """Columns of submissions by day; None before the first. `address` of the items of a day, "" for none."""
    if not days:
        return None
    rows = tuple(
        (text(day.isoformat()), replace(_count(number), address=address(day) if number else ""))
        for day, number in reversed([*zip(days, counts, strict=True)])
    )
    short = [date_format(day, gettext("j M")) for day in days]
    columns = (*names("Day"), Column(gettext("Submissions")))
    return Figure(
        "days",
        title,
        Sheet("days", title, columns, rows),
        Columns(short, counts, svg.axis_over(counts)),
        basis=gettext("n = {n} submissions").format(n=display_text.number(f"{sum(counts):,}")),
    )


def _count(number: int) -> Cell:
    return Cell(display_text.number(f"{number:,}"), float(number))


def shares(
    name: str,
    title: str,
    head: tuple[str, str],
    found: Sequence[tuple[str, Proportion]],
    note: str = "",
    counted: str = "",
    addresses: Sequence[str] = (),
) -> Figure | None:
    """Bars of shares with their intervals; None where nothing was counted. `head`: the first two columns.

    addresses: of the items behind the count of each share, "" for none.
    """
    linked = zip(found, addresses or [""] * len(found), strict=True)
    targets = [address for (_, one), address in linked if one.n]
    there = [(label or gettext("(empty)"), one) for label, one in found if one.n]
    if not there:
        return None
    series = [Series(title, [share_point(one) for _, one in there])]
    ends = [
        end for one in series[0].points if one is not None for end in (one.value, one.high) if end is not None
    ]
    rows = tuple(
        (text(label), replace(_count(one.hits), address=address if one.hits else ""), share(one))
        for (label, one), address in zip(there, targets, strict=True)
    )
    columns = (
        *names(head[0]),
        Column(gettext("Count")),
        Column(gettext(head[1]), counted=counted or gettext("of"), unit="%"),
    )
    chart = Bars([label for label, _ in there], series, svg.axis_over(ends, unit="%"))
    return Figure(name, title, Sheet(name, title, columns, rows, note), chart)


def share_point(found: Proportion) -> Point:
    """A share as a chart takes it, in percent."""
    return Point(hundred(found.value), hundred(found.low), hundred(found.high), found.n)


def called(people: Mapping[str, str], key: str) -> str:
    """What somebody is called on this page."""
    return people.get(key, gettext("a former member"))


def _axis(series: Sequence[Series]) -> svg.Axis:
    ends = [
        end
        for one in series
        for point in one.points
        if point is not None
        for end in (point.value, point.low, point.high)
        if end is not None
    ]
    return svg.axis_over([max(-1.0, end) for end in ends], most=1.0)


def hundred(value: float | None) -> float | None:
    """A share in percent."""
    return None if value is None else 100 * value


# -- the monitors of a benchmark --------------------------------------------------------------------


def monitors(found: Statistics) -> list[Figure]:
    """Charts of what a benchmark should not have, from `annotation.quality.dashboards.monitors`; those that have data."""
    answers, openings, holding = (
        (
            gettext("Most frequent answers of accepted examples"),
            gettext("Most frequent first words of questions, accepted examples"),
            gettext("Rows with the answer, accepted examples"),
        )
        if found["of"] == "accepted"
        else (
            gettext("Most frequent answers of assigned examples"),
            gettext("Most frequent first words of questions, assigned examples"),
            gettext("Rows with the answer, assigned examples"),
        )
    )
    drawn = [
        _concentrated("answers", answers, "Answer", found["answers"]),
        _concentrated("openings", openings, gettext("First words"), found["openings"]),
        *(
            _by_place(name, title, found[name])
            for name, title in (
                ("answer_rows", holding),
                ("evidence_rows", gettext("Rows with marked evidence")),
                ("edit_rows", gettext("Edited rows")),
            )
        ),
        _sizes(found["edit_sizes"]),
    ]
    return [one for one in drawn if one is not None]


def _concentrated(name: str, title: str, head: str, found: Statistics | None) -> Figure | None:
    if found is None:
        return None
    spread = found["normalised"]
    note = gettext("{found} different among {found_2}.").format(
        found=number_format(found["distinct"], force_grouping=True),
        found_2=number_format(found["n"], force_grouping=True),
    )
    if spread is not None and found["low"] is not None and found["low"] < found["high"]:
        written, low, high = display_text.estimate(spread, found["low"], found["high"])
        note += gettext(
            " Spread {spread} (95 % CI {low} to {high}); 1: all differ, 0: all identical."
        ).format(spread=written, low=low, high=high)
    top = [(str(value), Proportion(**share)) for value, share in found["top"]]
    return shares(name, title, (head, "Share"), top, f"{note}{_over_items(found, name)}")


def _by_place(name: str, title: str, found: Statistics | None) -> Figure | None:
    if found is None:
        return None
    parts = (
        ("first", gettext("all in the first three")),
        ("last", gettext("all in the last two")),
        ("ends", gettext("all in the first three or last two")),
    )
    chances = [100 * found[f"{part}_by_chance"] for part, _ in parts]
    series = [
        Series(gettext("observed"), [share_point(Proportion(**found[part])) for part, _ in parts]),
        Series(gettext("expected by chance"), [Point(chance) for chance in chances]),
    ]
    ends = [one.high for one in series[0].points if one is not None and one.high is not None]
    rows = tuple(
        (
            text(label),
            _count(found[part]["hits"]),
            share(Proportion(**found[part])),
            Cell(f"{display_text.decimal(chance, 1)} %", round(chance, 6)),
        )
        for (part, label), chance in zip(parts, chances, strict=True)
    )
    columns = (
        *names(gettext("Position in the table")),
        Column(gettext("Count")),
        Column(gettext("Share"), counted=gettext("of"), unit="%"),
        Column(gettext("Expected by chance")),
    )
    anchor = name.replace("_", "-")
    chart = Bars([label for _, label in parts], series, svg.axis_over(ends, most=10.0, unit="%"))
    return Figure(anchor, title, Sheet(anchor, title, columns, rows, _left_out(name, found)), chart)


def _left_out(name: str, found: Statistics) -> str:
    """Of how many the figures are not, and why: what stands in no row, and what stands in a table too short to tell."""
    without, short = (number_format(found[key], force_grouping=True) for key in ("without", "short"))
    said = {
        "answer_rows": gettext("Excluded: {without} whose answer is not in a cell."),
        "evidence_rows": gettext("Excluded: {without} without a marked cell."),
        "edit_rows": gettext("Excluded: {without} with edits outside rows."),
    }[name].format(without=without)
    also = gettext("Tables of at most five rows are also excluded ({found}).")
    return f"{said} {also.format(found=short)}{_over_items(found, name)}"


def _over_items(found: Statistics, name: str) -> str:
    """What intervals are over, where several answers, examples or responses are of one item."""
    if found["groups"] == found["n"]:
        return ""
    responses = ngettext(
        "{n} responses to {items} item. Interval: bootstrap over items, at least as wide as Wilson's.",
        "{n} responses to {items} items. Interval: bootstrap over items, at least as wide as Wilson's.",
        found["groups"],
    )
    answers = ngettext(
        "{n} answers from {items} item. Interval: bootstrap over items, at least as wide as Wilson's.",
        "{n} answers from {items} items. Interval: bootstrap over items, at least as wide as Wilson's.",
        found["groups"],
    )
    examples = ngettext(
        "{n} examples from {items} item. Interval: bootstrap over items, at least as wide as Wilson's.",
        "{n} examples from {items} items. Interval: bootstrap over items, at least as wide as Wilson's.",
        found["groups"],
    )
    sentence = {"answers": answers, "openings": examples, "answer_rows": examples}.get(name, responses)
    return " " + sentence.format(
        n=number_format(found["n"], force_grouping=True),
        items=number_format(found["groups"], force_grouping=True),
    )


def _sizes(found: Statistics | None) -> Figure | None:
    if found is None:
        return None
    has_interval = found["low"] is not None and found["low"] < found["high"]
    ends = (found["low"], found["high"]) if has_interval else (found["mean"], found["mean"])
    mean, low, high = display_text.estimate(found["mean"], *ends, 2)
    note = gettext("Median {median}, mean {mean}").format(
        median=display_text.number(f"{found['median']:g}"), mean=mean
    )
    if has_interval:
        note += gettext(" (95 % CI {low} to {high})").format(low=low, high=high)
    top = [(str(size), Proportion(**share)) for size, share in found["counts"][:12]]
    return shares(
        "edit-sizes",
        gettext("Edit size in net operations"),
        (gettext("Operations"), "Share"),
        top,
        f"{note}.{_over_items(found, 'edit_sizes')}",
    )
