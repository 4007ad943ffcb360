"""Tables of the work on a study, as figures without a chart: batches, people, pay, costs. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext

from annotation.charts import study_figures
from annotation.charts.figure import Figure
from annotation.charts.list_tables import integer
from annotation.platform import display_text
from tableqa.statistics.proportions import Proportion, wilson
from tableqa.typesetting.report_tables import NOTHING, Cell, Column, Sheet, text

Line = Mapping[str, Any]


def batches(lines: Sequence[Line], *, costs: bool) -> Figure:
    """Progress, hours and, where somebody may read them, costs: a row for each batch.

    Each line has name, address, kind, state, submitted, places, accepted, excluded, items, hours, seconds (each), cost,
    per_hundred, spent (`dashboards.Effort`) and links (the addresses of items, by these names); figures that are not there
    yet are None.
    """
    columns = (
        *study_figures.names("Batch", gettext("State")),
        *map(
            Column,
            (gettext("Responses"), gettext("Planned responses"), gettext("Accepted"), gettext("Items")),
        ),
        *map(Column, (gettext("Excluded"), gettext("Hours"), gettext("Seconds per item"))),
        *(map(Column, (gettext("Cost"), gettext("Cost per 100 accepted"))) if costs else ()),
    )
    rows = tuple(
        (
            Cell(line["name"], detail=display_text.shown(line["kind"]), address=line["address"]),
            text(display_text.shown(line["state"])),
            *(
                replace(integer(line[name]), address=line["links"].get(name, "") if line[name] else "")
                for name in ("submitted", "places", "accepted", "items", "excluded")
            ),
            _hours(line["hours"], line["spent"].by_kind),
            _with_ends(line["seconds"], line["spent"].ends, line["spent"].timed, 0),
            *(text(line[name] or NOTHING) for name in ("cost", "per_hundred") if costs),
        )
        for line in lines
    )
    title = gettext("Progress by batch")
    note = gettext(
        "Seconds per item: mean active time of a response. Interval: 95 %, over annotators; of one there is none."
    )
    return Figure("batches", title, Sheet("batches", title, columns, rows, note))


def counts(numbers: Mapping[str, int]) -> Figure:
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
    title = gettext("Counts of the batch")
    columns = (*study_figures.names(gettext("Count")), Column(gettext("Number")))
    rows = tuple((text(label), integer(numbers[name])) for name, label in names.items())
    return Figure("counts", title, Sheet("counts", title, columns, rows))


def reasons(rows: Sequence[tuple[str, str, int, str]]) -> Figure | None:
    """How often people gave each reason for skipping, from (batch, reason, times, address); None where nobody skipped."""
    if not rows:
        return None
    title = gettext("Reasons for skipping")
    columns = (*study_figures.names("Reason", "Batch"), Column(gettext("Count")))
    lines = tuple(
        (text(display_text.shown(reason)), text(batch), replace(integer(times), address=address))
        for batch, reason, times, address in rows
    )
    return Figure("reasons", title, Sheet("reasons", title, columns, lines))


def templates(rows: Sequence[Line]) -> Figure | None:
    """Each person's most frequent question template beside the others' use of it; None without any."""
    if not rows:
        return None
    title = gettext("Question templates: the most frequent template of each person")
    columns = (
        *study_figures.names("Person", gettext("Most frequent template")),
        Column(gettext("Share of this person"), unit="%"),
        Column(gettext("Share of the others"), unit="%"),
        *study_figures.names(gettext("Needs review")),
    )
    lines = tuple(
        (
            text(row["name"]),
            text(row["mould"]),
            _with_n(study_figures.share(row["share"])),
            _with_n(study_figures.share(row["of_others"])),
            text(gettext("yes") if row["stands_out"] else gettext("no")),
        )
        for row in rows
    )
    return Figure("templates", title, Sheet("templates", title, columns, lines))


def people(rows: Sequence[Line], note: str) -> Figure | None:
    """Everybody's pace, gold accuracy, agreement and reliability; None where nobody has worked.

    Each row has name, anchor, items_address, skipped_address, review (items that need it), review_address, submitted,
    skipped, timed, median_seconds, median_ends, hourly, hourly_ends (of the intervals, None without one; the upper one
    alone where the times allow none), gold (a share or None), agreement (a cell or None), accuracy (from 0 to 1, or None),
    accuracy_ends (of its interval), labelled and raised (a list).
    """
    if not rows:
        return None
    title = gettext("Quality by person")
    columns = (
        *study_figures.names(gettext("Person")),
        *map(Column, (gettext("Submitted"), gettext("Skipped"), gettext("Seconds per item"))),
        Column(gettext("Items per hour")),
        Column(gettext("Gold accuracy"), unit="%"),
        Column(gettext("Agreement with others")),
        Column(gettext("Reliability"), unit="%"),
        *study_figures.names(gettext("Needs review")),
    )
    lines = tuple(
        (
            Cell(row["name"], address=row["anchor"]),
            replace(integer(row["submitted"]), address=row["items_address"] if row["submitted"] else ""),
            replace(integer(row["skipped"]), address=row["skipped_address"] if row["skipped"] else ""),
            _with_ends(row["median_seconds"], row["median_ends"], row["timed"], 1),
            _hourly(row),
            _gold(row),
            _with_n(row["agreement"]) if row["agreement"] is not None else text(NOTHING),
            _reliability(row),
            replace(integer(row["review"]), address=row["review_address"])
            if row["raised"]
            else text(gettext("no")),
        )
        for row in rows
    )
    return Figure("people", title, Sheet("people", title, columns, lines, note))


def pay(rows: Sequence[Line]) -> Figure | None:
    """Work and pay: a line has person, batch, items, skipped, hours, by_kind (seconds), hourly, and amount (in currency)."""
    if not rows:
        return None
    title = gettext("Pay by person and batch")
    columns = (
        *study_figures.names(gettext("Person"), "Batch"),
        *map(Column, (gettext("Items"), gettext("Skipped"), gettext("Hours"), gettext("Items per hour"))),
        Column(gettext("Pay")),
        *study_figures.names(gettext("Currency")),
    )
    lines = tuple(
        (
            text(row["person"]),
            text(row["batch"]),
            integer(row["items"]),
            integer(row["skipped"]),
            _hours(row["hours"], row["by_kind"]),
            _decimal(row["hourly"], 0),
            _decimal(row["amount"], 2),
            text(row["currency"]),
        )
        for row in rows
    )
    return Figure("pay", title, Sheet("pay", title, columns, lines))


def costs(rows: Sequence[Line]) -> Figure | None:
    """What each batch cost.

    A line has batch, address, hours, by_kind (seconds), accepted, items_address, and by currency amounts and per_hundred.
    """
    if not rows:
        return None
    title = gettext("Cost by batch")
    columns = (
        *study_figures.names("Batch"),
        *map(Column, (gettext("Hours"), gettext("Items accepted"), gettext("Cost"))),
        Column(gettext("Cost per 100 accepted")),
        *study_figures.names(gettext("Currency")),
    )
    lines = tuple(
        (
            Cell(row["batch"], address=row["address"]),
            _hours(row["hours"], row["by_kind"]),
            replace(integer(row["accepted"]), address=row["items_address"] if row["accepted"] else ""),
            _decimal(row["amounts"].get(currency), 2),
            _decimal(row["per_hundred"].get(currency), 2),
            text(currency or NOTHING),
        )
        for row in rows
        for currency in (row["amounts"] or {"": None})
    )
    return Figure("costs", title, Sheet("costs", title, columns, lines))


def members(rows: Sequence[Line]) -> Figure | None:
    """Who is in a project: a line has person, roles, submitted, in_progress, hours, by_kind (seconds), and amounts."""
    if not rows:
        return None
    title = gettext("Members")
    columns = (
        *study_figures.names(gettext("Person"), gettext("Roles")),
        *map(Column, (gettext("Submitted"), gettext("In progress"), gettext("Hours"), gettext("Pay"))),
        *study_figures.names(gettext("Currency")),
    )
    lines = tuple(
        (
            text(row["person"]),
            text(row["roles"]),
            integer(row["submitted"]),
            integer(row["in_progress"]),
            _hours(row["hours"], row["by_kind"]),
            _decimal(amount, 2),
            text(currency or NOTHING),
        )
        for row in rows
        for currency, amount in (row["amounts"] or {"": None}).items()
    )
    return Figure("members", title, Sheet("members", title, columns, lines))


def model_costs(rows: Sequence[Line], states: Sequence[str]) -> Figure | None:
    """What language models used: a line has purpose, predictor, spent (`metering.Usage`) and a number for each state."""
    if not rows:
        return None
    title = gettext("Cost of language models")
    columns = (
        *study_figures.names(gettext("Purpose"), gettext("Model")),
        *map(
            Column,
            (gettext("Requests"), gettext("Input tokens"), gettext("Output tokens"), gettext("Counted")),
        ),
        Column(gettext("USD")),
        *map(Column, states),
    )
    lines = tuple(
        (
            text(row["purpose"]),
            text(row["predictor"]),
            *(
                integer(getattr(row["spent"], name))
                for name in ("requests", "prompt_tokens", "completion_tokens", "counted")
            ),
            _decimal(float(row["spent"].usd) if row["spent"].is_priced else None, 4),
            *map(integer, row["states"]),
        )
        for row in rows
    )
    return Figure("model-costs", title, Sheet("model-costs", title, columns, lines))


def confusion(
    number: int,
    name: str,
    labels: Sequence[str],
    shares: Sequence[Sequence[float]],
    seen: Sequence[float],
) -> Figure:
    """How likely a person gives each label to an item of each class.

    `number`: of the person, for the name; `shares`: a row for each class, from 0 to 1; `seen`: the expected number
    of labels behind each row. A row with less than half a label says nothing about the person.
    """
    columns = (
        *study_figures.names(gettext("True label (estimated)")),
        Column(gettext("n (expected)")),
        *(Column(gettext("labelled {label}").format(label=label), unit="%") for label in labels),
    )
    rows = tuple(
        (
            text(label),
            _decimal(n, 1),
            *(_of_expected(share, n) if n >= 0.5 else text(NOTHING) for share in of_class),
        )
        for label, of_class, n in zip(labels, shares, seen, strict=True)
    )
    title = gettext("Estimated label confusion of {name}").format(name=name)
    note = gettext("Wilson's intervals, 95 %, given the estimated classes.")
    sheet = Sheet(f"confusion-{number}", title, columns, rows, note)
    return Figure(sheet.name, title, sheet)


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
        _with_n(replace(study_figures.share(proportion), text=row["right"]))
        if proportion is not None
        else text(NOTHING)
    )


def _reliability(row: Line) -> Cell:
    if row["accuracy"] is None:
        return text(NOTHING)
    low, high = row["accuracy_ends"]
    return _with_n(study_figures.share(Proportion(0, row["labelled"], row["accuracy"], low, high)))


def _with_n(cell: Cell) -> Cell:
    """The cell with its interval and n beside the value, for a table without room for columns of their own."""
    if cell.n is None:
        return cell
    n = gettext("n = {n}").format(n=display_text.number(f"{cell.n:,}"))
    return replace(cell, detail=f"{cell.detail}; {n}" if cell.detail else n)


def _with_ends(value: float | None, ends: Sequence[float | None], n: int, digits: int) -> Cell:
    """A number with its interval, where it has one, and n beside it."""
    cell, (low, high) = _decimal(value, digits), ends
    if value is None:
        return cell
    if low is None or high is None:
        return _with_n(replace(cell, n=n))
    written, *texts = display_text.estimate(value, low, high, digits)
    detail = gettext("{number} to {number_2}").format(number=texts[0], number_2=texts[1])
    return _with_n(replace(cell, text=written, detail=detail, low=low, high=high, n=n))


def _hours(value: float | None, by_kind: Mapping[str, float]) -> Cell:
    """Hours of active time, with those on submissions, skips and returns apart; a dash where nothing was timed."""
    return replace(_decimal(value or None, 2), detail=display_text.by_kind(by_kind, 3600, 2))


def _decimal(value: float | None, digits: int) -> Cell:
    return text(NOTHING) if value is None else Cell(display_text.decimal(value, digits), round(value, 6))
