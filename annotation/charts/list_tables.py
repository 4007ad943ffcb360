"""Lists of a study, as figures without a chart: proposals, flags, skips, results, allocation, invitations. Pure.

People have their pseudonyms in the rows: a file may go into a paper.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext

from annotation.charts import study_figures
from annotation.charts.figure import Figure
from annotation.platform import display_text
from tableqa.statistics.proportions import Proportion
from tableqa.typesetting.report_tables import NOTHING, Cell, Column, Sheet, text

Line = Mapping[str, Any]
ALLOCATED = ("assigned", "submitted", "skipped", "open", "returned", "kept")
"""The numbers of an account (`annotation.queue.workload`), in the order of the columns."""


def flow(lines: Sequence[Line]) -> Figure | None:
    """Where the items of each batch are.

    A line has name, title, state, takes_from and the numbers submitted, places, waiting, in_progress, adjudication,
    accepted, excluded and items, which are None where the reader may not know them.
    """
    columns = (
        *study_figures.names(
            "Batch", gettext("Task type"), gettext("State"), gettext("Takes accepted items from")
        ),
        *numbers(
            gettext("Responses"),
            gettext("Planned responses"),
            gettext("Waiting"),
            gettext("In progress"),
            gettext("To adjudicate"),
            gettext("Accepted"),
            gettext("Excluded"),
            gettext("Items"),
        ),
    )
    counts = (
        "submitted",
        "places",
        "waiting",
        "in_progress",
        "adjudication",
        "accepted",
        "excluded",
        "items",
    )
    rows = [
        (
            text(line["name"]),
            text(display_text.shown(line["title"])),
            text(display_text.shown(line["state"])),
            text(line["takes_from"] or NOTHING),
            *(integer(line[name]) for name in counts),
        )
        for line in lines
    ]
    return table("batches", gettext("Batches"), columns, rows)


def proposals(lines: Sequence[Line], states: Sequence[str]) -> Figure | None:
    """What each maker proposed for a batch: lines of `proposals.counts` with a number for each of the states."""
    columns = (
        *study_figures.names(gettext("Created by")),
        *numbers(gettext("Items"), gettext("Proposals"), gettext("Requests")),
        *numbers(gettext("Does not apply"), gettext("Duplicates"), *map(capfirst, states)),
    )
    counts = ("items", "proposals", "requests", "does_not_apply", "again")
    rows = [
        (text(line["maker"]), *(integer(line[name]) for name in counts), *map(integer, line["states"]))
        for line in lines
    ]
    return table("proposals", gettext("Proposals"), columns, rows)


def flags(lines: Sequence[Line]) -> Figure | None:
    """Notes on items: a line has note, question, example, person and time."""
    columns = study_figures.names(
        gettext("Note"), gettext("Question"), gettext("Example"), gettext("Person"), gettext("Time (UTC)")
    )
    rows = [(text(line["note"]), *_on_an_item(line)) for line in lines]
    return table("flags", gettext("Flags"), columns, rows)


def skips(lines: Sequence[Line]) -> Figure | None:
    """Items that people skipped: a line has reason, question, example, person and time."""
    columns = study_figures.names(
        gettext("Reason"), gettext("Question"), gettext("Example"), gettext("Person"), gettext("Time (UTC)")
    )
    rows = [(text(display_text.shown(line["reason"])), *_on_an_item(line)) for line in lines]
    return table("skips", gettext("Skipped items"), columns, rows)


def _on_an_item(line: Line) -> tuple[Cell, ...]:
    return (text(line["question"]), text(line["example"]), text(line["person"]), time_utc(line["time"]))


def results(lines: Sequence[Line]) -> Figure | None:
    """How people did in a qualification: a line has person, done, items, right, judged, percent and result.

    The numbers are None of people who have not ended it.
    """
    columns = (
        *study_figures.names(gettext("Person")),
        *numbers(gettext("Done"), gettext("Items"), gettext("Correct"), gettext("Evaluated")),
        Column(gettext("Share correct"), unit="%"),
        *study_figures.names(gettext("Result")),
    )
    counts = ("done", "items", "right", "judged", "percent")
    rows = [
        (text(line["person"]), *(integer(line[name]) for name in counts), text(line["result"]))
        for line in lines
    ]
    return table("results", gettext("Qualification results"), columns, rows)


def gold_accuracy(shares: Sequence[tuple[str, Proportion]]) -> Figure | None:
    """How many gold items each person answered correctly."""
    columns = (
        *study_figures.names(gettext("Person")),
        *numbers(gettext("Correct")),
        Column(gettext("Accuracy"), counted=gettext("Evaluated"), unit="%"),
    )
    rows = [(text(person), integer(share.hits), study_figures.share(share)) for person, share in shares]
    return table("gold-accuracy", gettext("Accuracy by person"), columns, rows)


def allocation(name: str, title: str, heads: Sequence[str], lines: Sequence[Line]) -> Figure | None:
    """Who was given how much: a line has `names`, one for each head, and the `account` (`workload.Account`)."""
    columns = (
        *study_figures.names(*heads),
        *numbers(
            gettext("Assigned"),
            gettext("Submitted"),
            gettext("Skipped"),
            gettext("In progress"),
            gettext("Returned"),
            gettext("Reserved"),
        ),
    )
    rows = [
        (*map(text, line["names"]), *(integer(getattr(line["account"], part)) for part in ALLOCATED))
        for line in lines
    ]
    return table(name, title, columns, rows)


def invitations(lines: Sequence[Line]) -> Figure | None:
    """Open invitations without names and addresses: a line has roles, created_by, created and expires."""
    columns = study_figures.names(
        gettext("Roles"), gettext("Created by"), gettext("Created (UTC)"), gettext("Expires (UTC)")
    )
    rows = [
        (text(line["roles"]), text(line["created_by"]), time_utc(line["created"]), time_utc(line["expires"]))
        for line in lines
    ]
    note = gettext("Names and addresses are left out.")
    return table("invitations", gettext("Open invitations"), columns, rows, note)


def crowd_links(lines: Sequence[Line]) -> Figure | None:
    """How many people came by each crowd link: a line has name, entered, most, completed and screened."""
    columns = (
        *study_figures.names(gettext("Link")),
        *numbers(gettext("Joined"), gettext("Maximum"), gettext("Completed"), gettext("Screened out")),
    )
    counts = ("entered", "most", "completed", "screened")
    rows = [(text(line["name"]), *(integer(line[name]) for name in counts)) for line in lines]
    return table("crowd-links", gettext("Crowd links"), columns, rows)


def perturbations(name: str, title: str, lines: Sequence[Line]) -> Figure | None:
    """What a run made of each kind: a line has kind, made, no_ops, refused and reasons (with their numbers)."""
    columns = (
        *study_figures.names(gettext("Perturbation")),
        *numbers(gettext("Made"), gettext("No-ops"), gettext("Refused")),
        *study_figures.names(gettext("Reasons")),
    )
    rows = [
        (
            text(line["kind"]),
            *(integer(line[part]) for part in ("made", "no_ops", "refused")),
            text("; ".join(f"{number}: {display_text.shown(reason)}" for reason, number in line["reasons"])),
        )
        for line in lines
    ]
    return table(name, title, columns, rows)


def sources(lines: Sequence[Line]) -> Figure | None:
    """What was imported: a line has name, split, questions, tables and licence."""
    columns = (
        *study_figures.names(gettext("Source"), gettext("Split")),
        *numbers(gettext("Questions"), gettext("Tables")),
        *study_figures.names(gettext("Licence")),
    )
    rows = [
        (
            text(line["name"]),
            text(line["split"] or NOTHING),
            integer(line["questions"]),
            integer(line["tables"]),
            text(line["licence"]),
        )
        for line in lines
    ]
    return table("sources", gettext("Sources"), columns, rows)


def released_sources(lines: Sequence[Line]) -> Figure | None:
    """The sources of a release: a line has name, split, licence, url and citation."""
    columns = study_figures.names(
        gettext("Source"), gettext("Split"), gettext("Licence"), gettext("URL"), gettext("Citation")
    )
    names = ("name", "split", "licence", "url", "citation")
    rows = [tuple(text(line.get(name) or NOTHING) for name in names) for line in lines]
    return table("sources", gettext("Sources and licences"), columns, rows)


def released_batches(lines: Sequence[Line]) -> Figure | None:
    """The batches of a release: a line has name, type, version, variant, overlap and seed."""
    columns = (
        *study_figures.names("Batch", gettext("Task type")),
        *numbers(gettext("Version")),
        *study_figures.names(gettext("Variant")),
        *numbers(gettext("People per item"), gettext("Seed")),
    )
    rows = [
        (
            text(line["name"]),
            text(line["type"]),
            integer(line["version"]),
            text(line["variant"] or NOTHING),
            integer(line["overlap"]),
            Cell(str(line["seed"]), float(line["seed"])),
        )
        for line in lines
    ]
    return table("batches", gettext("Batches"), columns, rows)


def template_batches(lines: Sequence[Line]) -> Figure | None:
    """What a study template would create: a line has name, takes_from, people, expected, most and hours."""
    columns = (
        *study_figures.names("Batch", gettext("Items from"), gettext("People per item")),
        *numbers(
            gettext("Expected annotations"),
            gettext("Annotations if all items go on"),
            gettext("Expected hours"),
        ),
    )
    rows = [
        (
            text(line["name"]),
            text(line["takes_from"]),
            text(line["people"]),
            integer(line["expected"]),
            integer(line["most"]),
            _amount(line["hours"]),
        )
        for line in lines
    ]
    return table("batches", gettext("Batches"), columns, rows)


def plan_costs(lines: Sequence[Line]) -> Figure | None:
    """What the batches of a study file still ask for; lines are `annotation.study_file.project_export.cost_as_json`."""
    columns = (
        *study_figures.names("Batch"),
        *numbers(
            gettext("Annotations"), gettext("Seconds per item"), gettext("Hours"), gettext("Hours, low")
        ),
        *numbers(gettext("Hours, high"), gettext("Pay"), gettext("Pay, low"), gettext("Pay, high")),
        *study_figures.names(gettext("Currency")),
    )
    rows = [
        (
            text(line["batch"]),
            integer(line["annotations"]),
            integer(round(line["seconds"])),
            *map(_amount, (line["hours"], *(line["hours_ends"] or (None, None)))),
            *map(_amount, (line["money"], *(line["money_ends"] or (None, None)))),
            text(line["currency"] or NOTHING),
        )
        for line in lines
    ]
    note = gettext("Hours, and pay by the hour, are about what the work takes. They are no limits.")
    return table("costs", gettext("Remaining annotations"), columns, rows, note)


def evaluations(lines: Sequence[Line]) -> Figure | None:
    """The evaluations of a release: a line has model, state, origin, instances, missing, created and sha256."""
    columns = (
        *study_figures.names(gettext("Model"), gettext("State"), gettext("Predictions from")),
        *numbers(gettext("Instances"), gettext("Missing")),
        *study_figures.names(gettext("Created (UTC)"), gettext("Predictions, sha256")),
    )
    rows = [
        (
            *(text(line[name]) for name in ("model", "state", "origin")),
            *(integer(line[name]) for name in ("instances", "missing")),
            time_utc(line["created"]),
            text(line["sha256"] or NOTHING),
        )
        for line in lines
    ]
    return table("evaluations", gettext("Evaluations"), columns, rows)


# -- shared with record_tables.py ------------------------------------------------------------------------


def table(
    name: str, title: str, columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]], note: str = ""
) -> Figure | None:
    """A table as a figure without a chart; None where it has no rows."""
    return Figure(name, title, Sheet(name, title, tuple(columns), tuple(rows), note)) if rows else None


def numbers(*titles: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(map(Column, titles))


def integer(value: int | None) -> Cell:
    """A whole number, or that there is none."""
    return text(NOTHING) if value is None else Cell(display_text.number(f"{value:,}"), float(value))


def _amount(value: float | None) -> Cell:
    return text(NOTHING) if value is None else Cell(display_text.decimal(value, 2), value)


def time_utc(value: datetime | None, *, seconds: bool = False) -> Cell:
    """A time of UTC to the minute or second, or that there is none."""
    if value is None:
        return text(NOTHING)
    return text(f"{value:%Y-%m-%d %H:%M:%S}" if seconds else f"{value:%Y-%m-%d %H:%M}")
