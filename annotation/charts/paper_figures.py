"""Figures that papers on a data set report: labels, agreement on each, learning, cost per accepted example, attrition. Pure.

Each takes what a snapshot holds and makes a `figures.Figure`; None where there is nothing to show.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext

from annotation.charts import study_figures
from annotation.charts.fields import (
    Field,
    estimate_cell,
    integer,
    integers,
    number_field,
    percent_field,
    table,
    texts,
)
from annotation.charts.figure import Figure
from annotation.charts.series import Bars, Lines, Point, Series, axis_over, ends
from annotation.platform import display_text
from tableqa.statistics.median_intervals import FEWEST
from tableqa.statistics.proportions import Proportion, proportion
from tableqa.writers.report_tables import NOTHING, Cell, text
from tasks.contract.figures import undecided_note as undecided_items

Data = Mapping[str, Any]


def label_distribution(
    measure: Data,
    decided: Data | None,
    address: Callable[[str], str] = lambda label: "",
    address_of_items: Callable[[Sequence[str]], str] = lambda ids: "",
) -> Figure | None:
    """How often current responses chose each label, and how many items were decided so.

    Of a measure of `agreement_report.report`.

    `address` gives the page of the items with a response of this label, as it is stored, `address_of_items` that of items
    by their public ids; "" for none.
    """
    labels = measure.get("distribution")
    if not labels:
        return None
    same = decided is not None and decided["measure"] == measure["name"]
    accepted = dict(map(tuple, decided["labels"])) if same and decided is not None else {}
    items = decided["items"] if same and decided is not None else 0
    title = gettext("Label distribution: {measure}").format(measure=display_text.measure(measure["name"]))
    ratings = sum(entry["ratings"] for entry in labels)
    points = [replace(_point(entry["share"], 100), n=ratings) for entry in labels]
    series = [Series(gettext("responses"), points)]
    records: list[dict[str, Any]] = [
        {
            "label": display_text.show(entry["label"]),
            "ratings": entry["ratings"],
            "address": address(entry["label"]) if entry["ratings"] else "",
            "share": _point(entry["share"], 100),
        }
        for entry in labels
    ]
    fields = [
        *texts(label=gettext("Label")),
        number_field(gettext("Responses"), lambda record: integer(record["ratings"], record["address"])),
        percent_field(gettext("Share of responses"), itemgetter("share"), counted=gettext("Items")),
    ]
    note = gettext(
        "Share of responses: interval by bootstrap over items, because responses to one item are not independent. Share of "
        "accepted items: Wilson."
    )
    if items and decided is not None:
        ids = decided.get("item_ids", {})
        shares = [proportion(accepted.get(entry["label"], 0), items) for entry in labels]
        series.append(Series(gettext("accepted items"), list(map(study_figures.share_point, shares))))
        for record, share, entry in zip(records, shares, labels, strict=True):
            record["accepted"] = integer(share.hits, address_of_items(ids.get(entry["label"], ())))
            record["accepted_share"] = study_figures.share_point(share)
        fields += [
            number_field(gettext("Accepted"), itemgetter("accepted")),
            percent_field(
                gettext("Share of accepted items"), itemgetter("accepted_share"), counted=gettext("of")
            ),
        ]
        note += f" {undecided_items(decided.get('undecided', 0))}"
    chart = Bars([record["label"] for record in records], series, axis_over(ends(series), unit="%"))
    return table("labels", title, fields, records, note, chart=chart)


def label_agreement(measure: Data) -> Figure | None:
    """Specific agreement on each label; of a measure of `agreement_report.report`."""
    labels = measure.get("labels")
    if not labels or all(entry["specific"]["value"] is None for entry in labels):
        return None
    measured, statistic = display_text.measure(measure["name"]), gettext("specific agreement")
    title = f"{gettext('Agreement per label: {measure}').format(measure=measured)}, {statistic}"
    records: list[dict[str, Any]] = [
        {"label": display_text.show(entry["label"]), "specific": _point(entry["specific"], 100)}
        for entry in labels
    ]
    fields = (
        *texts(label=gettext("Label")),
        percent_field(
            gettext("Specific agreement"), itemgetter("specific"), counted=gettext("Items with the label")
        ),
    )
    note = gettext(
        "If one annotator chose the label, the share of other responses to the same item with the same label. Not corrected "
        "for chance. Interval: bootstrap over items."
    )
    series = [Series(statistic, [record["specific"] for record in records])]
    chart = Bars([record["label"] for record in records], series, axis_over([], most=100, unit="%"))
    return table("label-agreement", title, fields, records, note, chart=chart)


def learning(learning_data: Data) -> list[Figure]:
    """Active time and agreement with the others by a person's n-th item; of the part "learning" of a snapshot."""
    steps = learning_data["steps"]
    figures = []
    if any(step["seconds"]["value"] is not None for step in steps):
        figures.append(_learning_time(steps))
    if any(step["agrees"] for step in steps):
        figures.append(_learning_agreement(steps))
    return [figure for figure in figures if figure is not None]


def _learning_time(steps: Sequence[Data]) -> Figure | None:
    title = gettext("Active time by a person's n-th item: median seconds")
    records = [{**_step(step), "point": _point(step["seconds"])} for step in steps]
    series = [Series(gettext("median seconds"), [record["point"] for record in records])]
    fields = (
        *_step_fields(),
        number_field(
            gettext("Seconds"),
            lambda record: _seconds(record["point"]),
            counted=gettext("Responses"),
            unit="s",
        ),
    )
    note = gettext(
        "Interval of the median: bootstrap over people, at least as wide as that by order statistics. Later steps have "
        "fewer people."
    )
    chart = Lines([record["step"] for record in records], series, axis_over(ends(series), unit="s"), most=6)
    return table("learning-time", title, fields, records, note, chart=chart)


def _learning_agreement(steps: Sequence[Data]) -> Figure | None:
    title = gettext("Agreement with the decision of the others by a person's n-th item")
    shares = [Proportion(**step["agrees"]) if step["agrees"] else None for step in steps]
    points = [study_figures.share_point(share) if share else None for share in shares]
    undecided = [step.get("undecided", 0) for step in steps]
    records = [
        {**_step(step), "point": point, "undecided": count}
        for step, point, count in zip(steps, points, undecided, strict=True)
    ]
    equal = gettext("Equal to the others' decision")
    fields = (
        *_step_fields(),
        percent_field(equal, itemgetter("point"), counted=gettext("Responses")),
        *integers(undecided=gettext("Undecided")),
    )
    note = gettext(
        "Share of responses with the label that most other annotators of the item chose. The person's own response and "
        "adjudicators do not count. Undecided responses are left out ({undecided} of {responses}): no other annotator "
        "responded, or the others tie. Interval: bootstrap over people, at least as wide as Wilson's."
    ).format(undecided=sum(undecided), responses=sum(undecided) + sum(share.n for share in shares if share))
    series, axis = (
        [Series(gettext("equal to the others' decision"), points)],
        axis_over([], most=100, unit="%"),
    )
    chart = Lines([record["step"] for record in records], series, axis, most=6)
    return table("learning-agreement", title, fields, records, note, chart=chart)


def _step_fields() -> tuple[Field, ...]:
    return (*texts(step=gettext("A person's n-th item")), *integers(people=gettext("People")))


def _step(step: Data) -> dict[str, Any]:
    return {"step": _range(step), "people": step["people"]}


def _range(step: Data) -> str:
    if step["to"] is None:
        return gettext("{first} or later").format(first=step["from"])
    return gettext("{first} to {last}").format(first=step["from"], last=step["to"])


def _seconds(point: Point) -> Cell:
    too_few = (point.n or 0) < FEWEST
    reason = gettext("Fewer than six values.") if too_few else gettext("All values are equal.")
    return estimate_cell(point, 1, no_interval=reason)


def per_accepted(lines: Sequence[Data], *, with_costs: bool) -> Figure | None:
    """Active time, and cost, per accepted item: a row for each batch that has accepted any and knows times.

    Each line has name, per_accepted (of `dashboards.work_summary`), and amounts: what was earned, by currency.
    """
    timed_lines = [line for line in lines if line["per_accepted"] and line["per_accepted"]["value"]]
    if not timed_lines:
        return None
    title = gettext("Active minutes per accepted item, by batch")
    records = [{**line, "minutes": _point(line["per_accepted"], 1 / 60)} for line in timed_lines]
    currencies = (
        sorted({currency for line in timed_lines for currency in line["amounts"]}) if with_costs else []
    )

    def minutes(record: Data) -> Cell:
        reason = _no_interval_of_times(record["per_accepted"])
        return estimate_cell(record["minutes"], 2, no_interval=reason)

    def cost(currency: str) -> Field:
        title = gettext("Cost per accepted item ({currency})").format(currency=currency)
        return number_field(title, lambda line: _cost(line["amounts"].get(currency), line["per_accepted"]))

    fields = (
        *texts(name=gettext("Batch")),
        number_field(gettext("Minutes per accepted item"), minutes, counted=gettext("Accepted"), unit="min"),
        *map(cost, currencies),
    )
    note = gettext(
        "All active time in the batch, also on skipped, excluded and undecided items, divided by the accepted items. "
        "Interval: ratio estimate over items (Cochran 1977)."
    )
    if currencies:
        note += " " + gettext("The interval of the cost assumes that cost is proportional to time.")
    series = [Series(gettext("minutes"), [record["minutes"] for record in records])]
    chart = Bars([record["name"] for record in records], series, axis_over(ends(series), unit="min"))
    return table("per-accepted", title, fields, records, note, chart=chart)


def _no_interval_of_times(estimate: Data) -> str:
    if estimate["n"] < 2:
        return gettext("Fewer than two accepted items, or no active time.")
    return gettext("All items took the same time.")


def _cost(amount: Decimal | None, estimate: Data) -> Cell:
    if amount is None:
        return text(NOTHING)
    value = float(amount) / estimate["n"]
    low = high = None
    if estimate["low"] is not None and estimate["value"] and value:
        low, high = (value * estimate[end] / estimate["value"] for end in ("low", "high"))
    reason = _no_interval_of_times(estimate) if value else gettext("Nothing was earned.")
    return estimate_cell(Point(value, low, high, estimate["n"]), 2, no_interval=reason)


def attrition(
    lines: Sequence[Data],
    imported: int,
    released: int | None,
    addresses: Mapping[str, str] = MappingProxyType({}),
) -> Figure | None:
    """What becomes of planned items: answered, accepted, excluded, released; a row for each step.

    Each line has items, answered, accepted and excluded of a batch. imported: examples in the sources of the project.
    released: accepted items in its newest release, None without one. addresses: of the items of a step, by "answered",
    "accepted", "excluded" and "released".
    """
    planned = sum(line["items"] for line in lines)
    if not planned:
        return None
    titles = {
        "answered": gettext("with a response"),
        "accepted": gettext("accepted"),
        "excluded": gettext("excluded"),
    }
    steps = [(title, sum(line[name] or 0 for line in lines)) for name, title in titles.items()]
    if released is not None:
        steps.append((gettext("accepted, in the newest release"), min(released, planned)))
    shares = [(label, proportion(min(count, planned), planned)) for label, count in steps]
    targets = [addresses.get(name, "") for name in (*titles, "released")[: len(steps)]]
    title = gettext("From planned to released items")
    note = gettext(
        "Shares are of the items planned in batches; {imported} examples were imported. An accepted item of one batch can "
        "be an item of the next. Interval: Wilson."
    ).format(imported=display_text.number(f"{imported:,}"))
    return study_figures.shares(
        "attrition",
        title,
        (gettext("Step"), gettext("Share of planned items")),
        shares,
        note,
        counted=gettext("Planned"),
        addresses=targets,
    )


def _point(estimate: Data, factor: float = 1.0) -> Point:
    """An estimate of JSON, times `factor`."""
    value, low, high = (
        None if estimate[name] is None else factor * estimate[name] for name in ("value", "low", "high")
    )
    return Point(value, low, high, estimate["n"])
