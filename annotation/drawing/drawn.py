"""Charts of a study with their numbers, from the figures that snapshots hold. Pure: no database, no request.

A `Drawn` is a chart, its title, which says what it shows, and the same numbers as a table for beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.utils.formats import date_format, number_format
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from annotation import words
from annotation.drawing import charts
from annotation.drawing.charts import Point, Series
from tableqa.proportions import Proportion

Figures = Mapping[str, Any]
"""One figure of agreement as a snapshot holds it: value, low, high, units, raters, ratings, reason."""

MOST_SERIES = 8
DASH = "–"
WEEKS = 52
"""So many weeks are drawn, the last ones; weeks in which nothing was done take their place, too."""
WRITTEN = 6
"""So many of them are written below the axis: on a phone there is no room for more."""


@dataclass(frozen=True)
class Drawn:
    """A chart and its numbers: `head` names the columns of `rows`, whose first cell names the row.

    The first `words` columns hold words, the others numbers.
    """

    name: str
    title: str
    svg: SafeString
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    words: int = 1

    @property
    def table(self) -> SafeString:
        """Head and body of the table, escaped; made here because there may be a row for each pair of forty people."""
        kinds = ["" if place < self.words else ' class="n"' for place in range(len(self.head))]
        head = "".join(
            f'<th scope="col"{kind}>{escape(gettext(name))}</th>'
            for kind, name in zip(kinds, self.head, strict=True)
        )
        rows = "".join(
            f'<tr><th scope="row" dir="auto">{escape(row[0])}</th>'
            + "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds[1:], row[1:], strict=True))
            + "</tr>\n"
            for row in self.rows
        )
        return mark_safe(f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>")  # nosec B308 B703: escaped above


def number(value: float | None) -> str:
    """A coefficient with three decimals and a true minus, or a dash."""
    return DASH if value is None else words.decimal(value)


def interval(figure: Figures) -> str:
    """An interval in words, or a dash."""
    if figure["low"] is None or figure["high"] is None:
        return DASH
    return gettext("{number} to {number_2}").format(
        number=number(figure["low"]), number_2=number(figure["high"])
    )


def point(figure: Figures | None) -> Point | None:
    """A figure as a chart takes it; None where nothing is there."""
    return None if figure is None else Point(figure["value"], figure["low"], figure["high"])


def agreement_over_weeks(given: Sequence[tuple[str, Sequence[Figures]]]) -> Drawn | None:
    """Lines of agreement by week, one for each (name, weeks); None where no week has a value."""
    shown = [(name, weeks) for name, weeks in given if any(one["value"] is not None for one in weeks)]
    labels = _weeks({one["name"] for _, weeks in shown for one in weeks})
    if not labels:
        return None
    found = [(name, {one["name"]: one for one in weeks}) for name, weeks in shown]
    drawn = found[:MOST_SERIES]
    series = [Series(name, [point(weeks.get(label)) for label in labels]) for name, weeks in drawn]
    rows = [
        (label, name, number(one["value"]), interval(one), str(one["units"]), str(one["raters"]))
        for label in labels
        for name, weeks in found
        if (one := weeks.get(label)) is not None
    ]
    title = gettext("Agreement by week of an item's last response")
    note = (
        gettext("The chart shows the first {most_series}; the table shows all.").format(
            most_series=MOST_SERIES
        )
        if len(found) > MOST_SERIES
        else ""
    )
    return Drawn(
        "weeks",
        title,
        charts.lines("weeks", title, labels, series, _axis(series), most=WRITTEN),
        ("Week", "Measure", "Value", gettext("95 % CI"), "Items", "Raters"),
        tuple(rows),
        note,
        words=2,
    )


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


def agreement_by_source(measure: Figures, statistic: str) -> Drawn | None:
    """Bars of agreement by source; None where there is one source only."""
    sources = measure["sources"]
    if len(sources) < 2:
        return None
    title = gettext("Agreement by source: {measure}, {statistic}").format(
        measure=words.measure(measure["name"]), statistic=statistic
    )
    series = [Series(statistic, [point(one) for one in sources])]
    rows = tuple(
        (one["name"], number(one["value"]), interval(one), str(one["units"]), str(one["raters"]))
        for one in sources
    )
    labels = [one["name"] for one in sources]
    return Drawn(
        "sources",
        title,
        charts.bars("sources", title, labels, series, _axis(series)),
        ("Source", "Value", gettext("95 % CI"), "Items", "Raters"),
        rows,
    )


def pairs(measure: Figures, statistic: str, names: Mapping[str, str]) -> Drawn | None:
    """A heat map of every two people; None where no two people share an item."""
    if not measure["pairs"]:
        return None
    found = {(one["one"], one["other"]): one for one in measure["pairs"]}
    keys = sorted({key for both in found for key in both}, key=lambda key: (called(names, key), key))
    people = [called(names, key) for key in keys]

    def between(one: str, other: str) -> float | None:
        figure = found.get((one, other)) or found.get((other, one))
        return None if figure is None else figure["value"]

    values = [[between(one, other) for other in keys] for one in keys]
    title = gettext("Agreement of each pair of people: {measure}, {statistic}").format(
        measure=words.measure(measure["name"]), statistic=statistic
    )
    rows = [
        (
            gettext("{called} and {called_2}").format(
                called=called(names, one), called_2=called(names, other)
            ),
            number(figure["value"]) if figure["value"] is not None else words.shown(figure["reason"]),
            interval(figure),
            str(figure["units"]),
        )
        for (one, other), figure in sorted(
            found.items(), key=lambda entry: (entry[1]["value"] is None, entry[1]["value"] or 0.0, entry[0])
        )
    ]
    return Drawn(
        "pairs",
        title,
        charts.heat("pairs", title, people, people, values),
        (gettext("Pair, lowest first"), "Value", gettext("95 % CI"), gettext("Items in common")),
        tuple(rows),
        gettext(
            "Each figure covers the items that both people rated. A low row means one person "
            "differs from all others. A single low square means two people differ from each other."
        ),
    )


def confusion(measure: Figures) -> Drawn | None:
    """A heat map of which labels two people gave to one item; None where values are no labels."""
    found = measure["confusion"]
    if found is None:
        return None
    labels, counts = list(map(words.shown, found["labels"])), found["counts"]
    title = gettext("Label confusion: pairs of responses to the same item, {measure}").format(
        measure=words.measure(measure["name"])
    )
    pairs_of = [
        (f"{labels[one]} / {labels[other]}", counts[one][other] // (2 if one == other else 1))
        for one in range(len(labels))
        for other in range(one, len(labels))
    ]
    total = sum(count for _, count in pairs_of) or 1
    rows = tuple(
        (name, words.number(f"{count:,}"), f"{words.decimal(100 * count / total, 1)} %")
        for name, count in sorted(pairs_of, key=lambda entry: (-entry[1], entry[0]))
    )
    halved = [
        [count / 2 if one == other else float(count) for other, count in enumerate(row)]
        for one, row in enumerate(counts)
    ]
    return Drawn(
        "confusion",
        title,
        charts.heat(
            "confusion", title, labels, labels, halved, 0.0, max(map(max, halved)) or 1.0, whole=True
        ),
        (gettext("Labels"), gettext("Pairs"), "Share"),
        rows,
    )


def by_day(days: Sequence[date], counts: Sequence[int], title: str) -> Drawn | None:
    """Columns of submissions by day; None before the first."""
    if not days:
        return None
    labels = [day.isoformat() for day in days]
    axis = charts.axis_over(counts)
    rows = tuple(
        (label, words.number(f"{count:,}")) for label, count in reversed([*zip(labels, counts, strict=True)])
    )
    short = [date_format(day, gettext("j M")) for day in days]
    return Drawn(
        "days",
        title,
        charts.columns("days", title, short, counts, axis),
        ("Day", gettext("Submissions")),
        rows,
    )


def shares(
    name: str, title: str, head: tuple[str, str, str], found: Sequence[tuple[str, Proportion]], note: str = ""
) -> Drawn | None:
    """Bars of shares with their intervals; None where nothing was counted."""
    there = [(label, one) for label, one in found if one.n]
    if not there:
        return None
    series = [
        Series(title, [Point(_hundred(one.value), _hundred(one.low), _hundred(one.high)) for _, one in there])
    ]
    ends = [
        end for one in series[0].points if one is not None for end in (one.value, one.high) if end is not None
    ]
    axis = charts.axis_over(ends, unit="%")
    labels = [label or gettext("(empty)") for label, _ in there]
    rows = tuple(
        (
            label or gettext("(empty)"),
            words.percent(one),
            words.interval(one),
            gettext("{hits} of {n}").format(
                hits=number_format(one.hits, force_grouping=True), n=number_format(one.n, force_grouping=True)
            ),
        )
        for label, one in there
    )
    return Drawn(
        name,
        title,
        charts.bars(name, title, labels, series, axis),
        (*head[:2], gettext("95 % CI"), head[2]),
        rows,
        note,
    )


def called(names: Mapping[str, str], key: str) -> str:
    """What somebody is called on this page."""
    return names.get(key, gettext("a former member"))


def _axis(series: Sequence[Series]) -> charts.Axis:
    ends = [
        end
        for one in series
        for point in one.points
        if point is not None
        for end in (point.value, point.low, point.high)
        if end is not None
    ]
    return charts.axis_over([max(-1.0, end) for end in ends], most=1.0)


def _hundred(value: float | None) -> float | None:
    return None if value is None else 100 * value


# -- the monitors of a benchmark --------------------------------------------------------------------


def monitors(found: Figures) -> list[Drawn]:
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


def _concentrated(name: str, title: str, head: str, found: Figures | None) -> Drawn | None:
    if found is None:
        return None
    spread = found["normalised"]
    note = gettext("{found} different among {found_2}.").format(
        found=number_format(found["distinct"], force_grouping=True),
        found_2=number_format(found["n"], force_grouping=True),
    )
    if spread is not None and found["low"] is not None:
        note += gettext(
            " Spread {spread} (95 % CI {low} to {high}); 1: all differ, 0: all identical."
        ).format(spread=number(spread), low=number(found["low"]), high=number(found["high"]))
    top = [(str(value), Proportion(**share)) for value, share in found["top"]]
    return shares(name, title, (head, "Share", "Count"), top, note)


def _by_place(name: str, title: str, found: Figures | None) -> Drawn | None:
    if found is None:
        return None
    parts = (
        ("first", gettext("all in the first three")),
        ("last", gettext("all in the last two")),
        ("ends", gettext("all in the first three or last two")),
    )
    series = [
        Series(gettext("observed"), [_share_point(found[part]) for part, _ in parts]),
        Series(
            gettext("expected by chance"), [Point(_hundred(found[f"{part}_by_chance"])) for part, _ in parts]
        ),
    ]
    ends = [one.high for one in series[0].points if one is not None and one.high is not None]
    rows = tuple(
        (
            said,
            words.percent(Proportion(**found[part])),
            words.interval(Proportion(**found[part])),
            f"{words.decimal(100 * found[f'{part}_by_chance'], 1)} %",
            gettext("{found} of {found_2}").format(
                found=number_format(found[part]["hits"], force_grouping=True),
                found_2=number_format(found["n"], force_grouping=True),
            ),
        )
        for part, said in parts
    )
    labels = [said for _, said in parts]
    return Drawn(
        name.replace("_", "-"),
        title,
        charts.bars(
            name.replace("_", "-"), title, labels, series, charts.axis_over(ends, most=10.0, unit="%")
        ),
        (
            gettext("Position in the table"),
            "Share",
            gettext("95 % CI"),
            gettext("Expected by chance"),
            "Count",
        ),
        rows,
        _left_out(name, found),
    )


def _left_out(name: str, found: Figures) -> str:
    """Of how many the figures are not, and why: what stands in no row, and what stands in a table too short to tell."""
    without, short = (number_format(found[key], force_grouping=True) for key in ("without", "short"))
    said = {
        "answer_rows": gettext("Excluded: {without} whose answer is not in a cell."),
        "evidence_rows": gettext("Excluded: {without} without a marked cell."),
        "edit_rows": gettext("Excluded: {without} with edits outside rows."),
    }[name].format(without=without)
    also = gettext("Tables of at most five rows are also excluded ({found}).")
    return f"{said} {also.format(found=short)}"


def _share_point(found: Figures) -> Point:
    return Point(_hundred(found["value"]), _hundred(found["low"]), _hundred(found["high"]))


def _sizes(found: Figures | None) -> Drawn | None:
    if found is None:
        return None
    note = gettext("Median {median}, mean {mean}").format(
        median=words.number(f"{found['median']:g}"), mean=words.decimal(found["mean"], 2)
    )
    if found["low"] is not None:
        note += gettext(" (95 % CI {low} to {high})").format(
            low=words.decimal(found["low"], 2), high=words.decimal(found["high"], 2)
        )
    top = [(str(size), Proportion(**share)) for size, share in found["counts"][:12]]
    return shares(
        "edit-sizes",
        gettext("Edit size in net operations"),
        (gettext("Operations"), "Share", "Count"),
        top,
        f"{note}.",
    )
