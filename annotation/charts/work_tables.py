"""Tables of the work on a study, as figures without a chart: batches, people, pay, costs. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext

from annotation.charts import study_figures
from annotation.charts.fields import (
    Field,
    decimal,
    estimate_cell,
    integer,
    integers,
    integers_of,
    number_field,
    optional_texts,
    table,
    text_field,
    texts,
    translated,
    value_at,
    with_n,
)
from annotation.charts.figure import Figure
from annotation.charts.series import Point
from annotation.platform import display_text
from tableqa.statistics.proportions import Proportion, wilson
from tableqa.writers.report_tables import NOTHING, Cell, Column, text

Line = Mapping[str, Any]


def batches(lines: Sequence[Line], *, costs: bool) -> Figure | None:
    """Progress, hours and, where a person may read them, costs: a row for each batch.

    Each line has name, address, kind, state, submitted, places, accepted, excluded, items, hours, seconds (each), cost,
    per_hundred, spent (`dashboards.Effort`) and links (the addresses of items, by these names); figures that are not there
    yet are None.
    """

    def counted(key: str, title: str) -> Field:
        return number_field(title, lambda line: integer(line[key], line["links"].get(key, "")))

    def named(line: Line) -> Cell:
        return Cell(line["name"], detail=display_text.show(line["kind"]), address=line["address"])

    def seconds(line: Line) -> Cell:
        return _with_ends(line["seconds"], line["spent"].ends, line["spent"].timed, 0)

    def cost(key: str, title: str) -> Field:
        return number_field(title, lambda line: text(line[key] or NOTHING))

    fields = (
        Field(Column(gettext("Batch"), numeric=False), named),
        *translated(state=gettext("State")),
        counted("submitted", gettext("Responses")),
        counted("places", gettext("Planned responses")),
        counted("accepted", gettext("Accepted")),
        counted("items", gettext("Items")),
        counted("excluded", gettext("Excluded")),
        number_field(gettext("Hours"), lambda line: _hours(line["hours"], line["spent"].by_kind)),
        number_field(gettext("Seconds per item"), seconds),
        *(
            (cost("cost", gettext("Cost")), cost("per_hundred", gettext("Cost per 100 accepted")))
            if costs
            else ()
        ),
    )
    note = gettext(
        "Seconds per item: mean active time of a response. Interval: 95 %, over annotators; of one there is none."
    )
    return table("batches", gettext("Progress by batch"), fields, lines, note)


def counts(batch_counts: Mapping[str, int]) -> Figure | None:
    """The counts of one batch (`batch_progress.counts`), a row for each."""
    names = {
        "places": gettext("Planned responses"),
        "submitted": gettext("Submitted"),
        "leased": gettext("In progress"),
        "free": gettext("Not started"),
        "skipped": gettext("Skipped"),
        "returned": gettext("Returned"),
        "items": gettext("Items"),
        "open": gettext("Items open"),
        "complete": gettext("Items complete"),
        "adjudication": gettext("Items in adjudication"),
        "decided": gettext("Items accepted"),
        "excluded": gettext("Items excluded"),
    }
    fields = (*texts(title=gettext("Count")), *integers(number=gettext("Number")))
    records = [{"title": title, "number": batch_counts[key]} for key, title in names.items()]
    return table("counts", gettext("Counts of the batch"), fields, records)


def reasons(rows: Sequence[tuple[str, str, int, str]]) -> Figure | None:
    """How often people gave each reason for skipping, from (batch, reason, times, address); None without skips."""
    fields = (
        text_field(gettext("Reason"), lambda row: display_text.show(row[1])),
        text_field(gettext("Batch"), lambda row: row[0]),
        number_field(gettext("Count"), lambda row: integer(row[2], row[3])),
    )
    return table("reasons", gettext("Reasons for skipping"), fields, rows)


def templates(rows: Sequence[Line]) -> Figure | None:
    """Each person's most frequent question template beside the others' use of it; None without any."""

    def share(key: str, title: str) -> Field:
        return number_field(title, lambda row: with_n(study_figures.share(row[key])), unit="%")

    fields = (
        *texts(name=gettext("Person"), mould=gettext("Most frequent template")),
        share("share", gettext("Share of this person")),
        share("of_others", gettext("Share of the others")),
        text_field(
            gettext("Needs review"), lambda row: gettext("yes") if row["stands_out"] else gettext("no")
        ),
    )
    title = gettext("Question templates: the most frequent template of each person")
    return table("templates", title, fields, rows)


def people(rows: Sequence[Line], note: str) -> Figure | None:
    """All people's pace, gold accuracy, agreement and reliability; None before any work.

    Each row has name, anchor, items_address, skipped_address, review (items that need it), review_address, submitted,
    skipped, timed, median_seconds, median_ends, hourly, hourly_ends (of the intervals, None without one; the upper one
    alone where the times allow none), gold (a share or None), agreement (a cell or None), accuracy (from 0 to 1, or None),
    accuracy_ends (of its interval), labelled and raised (a list).
    """

    def review(row: Line) -> Cell:
        if not row["raised"]:
            return text(gettext("no"))
        return replace(integer(row["review"]), address=row["review_address"])

    def median(row: Line) -> Cell:
        return _with_ends(row["median_seconds"], row["median_ends"], row["timed"], 1)

    def agreement(row: Line) -> Cell:
        return with_n(row["agreement"]) if row["agreement"] is not None else text(NOTHING)

    fields = (
        Field(Column(gettext("Person"), numeric=False), lambda row: Cell(row["name"], address=row["anchor"])),
        number_field(gettext("Submitted"), lambda row: integer(row["submitted"], row["items_address"])),
        number_field(gettext("Skipped"), lambda row: integer(row["skipped"], row["skipped_address"])),
        number_field(gettext("Seconds per item"), median),
        number_field(gettext("Items per hour"), _hourly),
        number_field(gettext("Gold accuracy"), _gold, unit="%"),
        number_field(gettext("Agreement with others"), agreement),
        number_field(gettext("Reliability"), _reliability, unit="%"),
        Field(Column(gettext("Needs review"), numeric=False), review),
    )
    return table("people", gettext("Quality by person"), fields, rows, note)


def pay(rows: Sequence[Line]) -> Figure | None:
    """Work and pay: a line has the member, and the share (`earnings.Share`) that they have in a batch."""
    fields = (
        *texts(member__pseudonym=gettext("Person"), share__batch__name=gettext("Batch")),
        *integers(share__items=gettext("Items"), share__skipped=gettext("Skipped")),
        _hours_field("share"),
        number_field(gettext("Items per hour"), lambda row: decimal(value_at(row, "share__an_hour"), 0)),
        number_field(gettext("Pay"), lambda row: decimal(value_at(row, "share__amount"))),
        *texts(share__currency=gettext("Currency")),
    )
    return table("pay", gettext("Pay by person and batch"), fields, rows)


def costs(rows: Sequence[Line]) -> Figure | None:
    """What each batch cost: a line has the cost (`earnings.Cost`) and its total, address and items_address."""
    fields = (
        Field(
            Column(gettext("Batch"), numeric=False),
            lambda row: Cell(row["cost"].batch.name, address=row["address"]),
        ),
        _hours_field("total"),
        number_field(
            gettext("Items accepted"), lambda row: integer(row["cost"].accepted, row["items_address"])
        ),
        _amount_field(gettext("Cost"), "total__amounts"),
        _amount_field(gettext("Cost per 100 accepted"), "cost__per_hundred"),
        *optional_texts(currency=gettext("Currency")),
    )
    return table("costs", gettext("Cost by batch"), fields, _by_currency(rows))


def members(rows: Sequence[Line]) -> Figure | None:
    """Who is in a project: a line has the member, their account (`workload.Account`) and total (`earnings.Total`)."""
    fields = (
        *texts(member__pseudonym=gettext("Person")),
        text_field(gettext("Roles"), lambda row: ", ".join(map(display_text.show, row["member"].roles))),
        *integers(account__submitted=gettext("Submitted"), account__open=gettext("In progress")),
        _hours_field("total"),
        _amount_field(gettext("Pay"), "total__amounts"),
        *optional_texts(currency=gettext("Currency")),
    )
    return table("members", gettext("Members"), fields, _by_currency(rows))


def _by_currency(rows: Sequence[Line]) -> list[Line]:
    """A row for each currency of its amounts, or one without any."""
    return [{**row, "currency": currency} for row in rows for currency in (row["total"].amounts or [""])]


def _amount_field(title: str, path: str) -> Field:
    return number_field(title, lambda row: decimal(value_at(row, path).get(row["currency"])))


def _hours_field(part: str) -> Field:
    hours, by_kind = f"{part}__hours", f"{part}__by_kind"
    return number_field(gettext("Hours"), lambda row: _hours(value_at(row, hours), value_at(row, by_kind)))


def model_costs(rows: Sequence[Line], states: Sequence[str]) -> Figure | None:
    """What language models used: a line has purpose, predictor, spent (`metering.Usage`) and a number for each state."""

    def spent(key: str, title: str) -> Field:
        return number_field(title, lambda row: integer(getattr(row["spent"], key)))

    def dollars(row: Line) -> Cell:
        return decimal(float(row["spent"].usd) if row["spent"].is_priced else None, 4)

    fields = (
        *texts(purpose=gettext("Purpose"), predictor=gettext("Model")),
        spent("requests", gettext("Requests")),
        spent("prompt_tokens", gettext("Input tokens")),
        spent("completion_tokens", gettext("Output tokens")),
        spent("counted", gettext("Counted")),
        number_field(gettext("USD"), dollars),
        *integers_of("states", states),
    )
    return table("model-costs", gettext("Cost of language models"), fields, rows)


def confusion(
    person_number: int,
    name: str,
    labels: Sequence[str],
    shares: Sequence[Sequence[float]],
    seen: Sequence[float],
) -> Figure | None:
    """How likely a person gives each label to an item of each class.

    `person_number`: of the person, for the name; `shares`: a row for each class, from 0 to 1; `seen`: the expected number
    of labels behind each row. A row with less than half a label says nothing about the person.
    """

    def share(at: int) -> Callable[[Any], Cell]:
        return lambda row: _of_expected(row["shares"][at], row["n"]) if row["n"] >= 0.5 else text(NOTHING)

    fields = (
        *texts(label=gettext("True label (estimated)")),
        number_field(gettext("n (expected)"), lambda row: decimal(row["n"], 1)),
        *(
            number_field(gettext("labelled {label}").format(label=label), share(at), unit="%")
            for at, label in enumerate(labels)
        ),
    )
    records = [
        {"label": label, "shares": of_class, "n": n}
        for label, of_class, n in zip(labels, shares, seen, strict=True)
    ]
    title = gettext("Estimated label confusion of {name}").format(name=name)
    note = gettext("Wilson's intervals, 95 %, given the estimated classes.")
    return table(f"confusion-{person_number}", title, fields, records, note)


def _of_expected(share: float, n: float) -> Cell:
    """A share of an expected number, with its interval."""
    cell = study_figures.share(Proportion(0, 0, share, *wilson(share, n)))
    return replace(cell, text=f"{display_text.decimal(100 * share, 0)} %", n=None)


def _hourly(row: Line) -> Cell:
    """Items per hour, with the reason where the times allow no upper end."""
    low, high = row["hourly_ends"]
    cell = _with_ends(row["hourly"], row["hourly_ends"], row["timed"], 0)
    if low is None or high is not None:
        return cell
    return replace(cell, no_interval=gettext("times vary too much for an upper limit of items per hour."))


def _gold(row: Line) -> Cell:
    proportion: Proportion | None = row["gold"]
    return (
        with_n(replace(study_figures.share(proportion), text=row["right"]))
        if proportion is not None
        else text(NOTHING)
    )


def _reliability(row: Line) -> Cell:
    if row["accuracy"] is None:
        return text(NOTHING)
    low, high = row["accuracy_ends"]
    return with_n(study_figures.share(Proportion(0, row["labelled"], row["accuracy"], low, high)))


def _with_ends(value: float | None, ends: Sequence[float | None], n: int, digits: int) -> Cell:
    """A number with its interval, where it has one, and n beside it."""
    low, high = ends
    return text(NOTHING) if value is None else with_n(estimate_cell(Point(value, low, high, n), digits))


def _hours(value: float | None, by_kind: Mapping[str, float]) -> Cell:
    """Hours of active time, with those on submissions, skips and returns apart; a dash where nothing was timed."""
    return replace(decimal(value or None, 2), detail=display_text.by_kind(by_kind, 3600, 2))
