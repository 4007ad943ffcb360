"""Lists of a study, as figures without a chart: proposals, flags, skips, results, allocation, invitations. Pure.

People have their pseudonyms in the rows: a file may go into a paper.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext

from annotation.charts.fields import (
    Field,
    decimal,
    estimate_cell,
    integer,
    integers,
    integers_of,
    number_field,
    optional_texts,
    percent_field,
    table,
    text_field,
    texts,
    texts_of,
    times,
    translated,
)
from annotation.charts.figure import Figure
from annotation.charts.series import Point
from annotation.charts.study_figures import share_point
from annotation.platform import display_text
from tableqa.statistics.proportions import Proportion
from tableqa.writers.report_tables import NOTHING, Cell, text

Line = Mapping[str, Any]


def flow(lines: Sequence[Line]) -> Figure | None:
    """Where the items of each batch are.

    A line has batch, title and takes_from (a batch or None), and `counts` and `stage`, which are None, or a stage without
    counts, where the reader may not know them.
    """
    fields = (
        *texts(batch__name=gettext("Batch")),
        *translated(title=gettext("Task type"), batch__state=gettext("State")),
        *optional_texts(takes_from__name=gettext("Takes accepted items from")),
        *integers(counts__submitted=gettext("Responses"), counts__places=gettext("Planned responses")),
        *integers(
            stage__counts__waiting=gettext("Waiting"), stage__counts__in_progress=gettext("In progress")
        ),
        *integers(counts__adjudication=gettext("To adjudicate"), counts__decided=gettext("Accepted")),
        *integers(counts__excluded=gettext("Excluded"), counts__items=gettext("Items")),
    )
    return table("batches", gettext("Batches"), fields, lines)


def proposals(lines: Sequence[Line], states: Sequence[str]) -> Figure | None:
    """What each maker proposed for a batch: lines of `proposals.counts` with a number for each of the states."""
    fields = (
        *texts(maker=gettext("Created by")),
        *integers(items=gettext("Items"), proposals=gettext("Proposals"), requests=gettext("Requests")),
        *integers(does_not_apply=gettext("Does not apply"), again=gettext("Duplicates")),
        *integers_of("states", [capfirst(state) for state in states]),
    )
    return table("proposals", gettext("Proposals"), fields, lines)


def flags(lines: Sequence[Line]) -> Figure | None:
    """Notes on items: a line has the flag and the person."""
    fields = (*texts(flag__note=gettext("Note")), *_on_an_item("flag", "made_at"))
    return table("flags", gettext("Flags"), fields, lines)


def skips(lines: Sequence[Line]) -> Figure | None:
    """Items that people skipped: a line has the skip and the person."""
    fields = (*translated(skip__reason=gettext("Reason")), *_on_an_item("skip", "ended_at"))
    return table("skips", gettext("Skipped items"), fields, lines)


def _on_an_item(event: str, time: str) -> tuple[Field, ...]:
    example = {"question": gettext("Question"), "external_id": gettext("Example")}
    of_item = texts(**{f"{event}__item__example__{name}": title for name, title in example.items()})
    return (*of_item, *texts(person=gettext("Person")), *times(**{f"{event}__{time}": gettext("Time (UTC)")}))


def results(lines: Sequence[Line]) -> Figure | None:
    """How people did in a qualification: a line has person, done, items, right, judged, percent and result.

    The numbers are None of people who have not ended it.
    """
    fields = (
        *texts(person=gettext("Person")),
        *integers(done=gettext("Done"), items=gettext("Items")),
        *integers(right=gettext("Correct"), judged=gettext("Evaluated")),
        number_field(gettext("Share correct"), lambda line: integer(line["percent"]), unit="%"),
        *texts(result=gettext("Result")),
    )
    return table("results", gettext("Qualification results"), fields, lines)


def gold_accuracy(shares: Sequence[tuple[str, Proportion]]) -> Figure | None:
    """How many gold items each person answered correctly."""
    fields = (
        text_field(gettext("Person"), lambda entry: entry[0]),
        number_field(gettext("Correct"), lambda entry: integer(entry[1].hits)),
        percent_field(gettext("Accuracy"), lambda entry: share_point(entry[1]), counted=gettext("Evaluated")),
    )
    return table("gold-accuracy", gettext("Accuracy by person"), fields, shares)


def allocation(name: str, title: str, heads: Sequence[str], lines: Sequence[Line]) -> Figure | None:
    """Who was given how much: a line has `names`, one for each head, and the `account` (`workload.Account`)."""
    fields = (
        *texts_of("names", heads),
        *integers(account__assigned=gettext("Assigned"), account__submitted=gettext("Submitted")),
        *integers(account__skipped=gettext("Skipped"), account__open=gettext("In progress")),
        *integers(account__returned=gettext("Returned"), account__kept=gettext("Reserved")),
    )
    return table(name, title, fields, lines)


def invitations(lines: Sequence[Line]) -> Figure | None:
    """Open invitations without names and addresses: a line has invitation and created_by."""
    fields = (
        text_field(
            gettext("Roles"), lambda line: ", ".join(map(display_text.show, line["invitation"].roles))
        ),
        *texts(created_by=gettext("Created by")),
        *times(invitation__made_at=gettext("Created (UTC)"), invitation__expires_at=gettext("Expires (UTC)")),
    )
    note = gettext("Names and addresses are left out.")
    return table("invitations", gettext("Open invitations"), fields, lines, note)


def crowd_links(links: Iterable[Any]) -> Figure | None:
    """How many people came by each crowd link, which has the counts entered, completed and screened."""
    fields = (
        *texts(name=gettext("Link")),
        *integers(entered=gettext("Joined"), most=gettext("Maximum")),
        *integers(completed=gettext("Completed"), screened=gettext("Screened out")),
    )
    return table("crowd-links", gettext("Crowd links"), fields, links)


def perturbations(name: str, title: str, lines: Sequence[Line]) -> Figure | None:
    """What a run made of each kind: a line has kind, made, no_ops, refused and reasons (with their numbers)."""

    def reasons(line: Line) -> str:
        return "; ".join(f"{count}: {display_text.show(reason)}" for reason, count in line["reasons"])

    fields = (
        *texts(kind=gettext("Perturbation")),
        *integers(made=gettext("Made"), no_ops=gettext("No-ops"), refused=gettext("Refused")),
        text_field(gettext("Reasons"), reasons),
    )
    return table(name, title, fields, lines)


def sources(imported: Iterable[Any]) -> Figure | None:
    """The sources that were imported."""
    fields = (
        *texts(name=gettext("Source")),
        *optional_texts(split=gettext("Split")),
        *integers(examples_count=gettext("Questions"), tables_count=gettext("Tables")),
        *texts(licence=gettext("Licence")),
    )
    return table("sources", gettext("Sources"), fields, imported)


def released_sources(lines: Sequence[Line]) -> Figure | None:
    """The sources of a release: a line has name, split, licence, url and citation, as far as they are known."""
    keys = ("name", "split", "licence", "url", "citation")
    fields = optional_texts(
        name=gettext("Source"),
        split=gettext("Split"),
        licence=gettext("Licence"),
        url=gettext("URL"),
        citation=gettext("Citation"),
    )
    records = [{key: line.get(key) for key in keys} for line in lines]
    return table("sources", gettext("Sources and licences"), fields, records)


def released_batches(lines: Sequence[Line]) -> Figure | None:
    """The batches of a release: a line has name, type, version, variant, overlap and seed."""
    fields = (
        *texts(name=gettext("Batch"), type=gettext("Task type")),
        *integers(version=gettext("Version")),
        *optional_texts(variant=gettext("Variant")),
        *integers(overlap=gettext("People per item")),
        number_field(gettext("Seed"), lambda line: Cell(str(line["seed"]), float(line["seed"]))),
    )
    return table("batches", gettext("Batches"), fields, lines)


def other_batches(batches: Iterable[Line]) -> Figure | None:
    """The opened batches that are not part of a release, as a manifest has them; deleted ones have no name."""
    lines = [
        {
            "name": batch.get("name", gettext("deleted")),
            "type": batch["type"],
            "responses": batch["responses"],
            "people": batch["people"],
            "agreement": next(iter(batch.get("agreement", ())), None),
            **_why_outside(batch),
        }
        for batch in batches
    ]
    fields = (
        *texts(name=gettext("Batch"), type=gettext("Task type"), reason=gettext("Reason")),
        *optional_texts(date=gettext("Date"), role=gettext("By")),
        *integers(responses=gettext("Responses"), people=gettext("People")),
        number_field(gettext("Agreement"), _first_agreement),
    )
    return table("other-batches", gettext("Batches that are not part of the release"), fields, lines)


def _why_outside(batch: Line) -> dict[str, str]:
    decision = batch if "name" not in batch else batch.get("set_aside")
    if decision:
        return {"reason": decision["reason"], "date": decision["date"], "role": gettext(decision["role"])}
    purposes = {"calibration": gettext("calibration round"), "qualification": gettext("qualification test")}
    return {"reason": purposes[batch["purpose"]], "date": "", "role": ""}


def _first_agreement(line: Line) -> Cell:
    figure = line["agreement"]
    if figure is None:
        return text(NOTHING)
    statistic = display_text.statistic(figure["statistic"])
    cell = estimate_cell(Point(figure["value"], figure["low"], figure["high"]), 3)
    return replace(cell, text=f"{statistic} {cell.text}")


def deviations(entries: Iterable[Line]) -> Figure | None:
    """What was changed after the first response, as a manifest has it, with `change` in words."""
    lines = [{"name": "", "responses": None, "differ": None, **entry} for entry in entries]
    fields = (
        text_field(gettext("Time (UTC)"), lambda entry: entry["at"][:16].replace("T", " ")),
        *optional_texts(name=gettext("Batch")),
        *texts(change=gettext("Changed option")),
        *translated(role=gettext("By")),
        *integers(responses=gettext("Responses by then"), differ=gettext("Decisions that differ")),
    )
    note = gettext(
        "Decisions that differ: items that the earlier rule decides in another way from the same responses."
    )
    return table("deviations", gettext("Changes after the first response"), fields, lines, note)


def exclusions(entries: Iterable[Line], batches: Iterable[Line]) -> Figure | None:
    """The excluded items of a release by batch and reason."""
    names = {batch["id"]: batch["name"] for batch in batches}
    deciders = {"rule": gettext("decision rule"), "adjudicator": gettext("adjudicator")}
    lines = [{**entry, "name": names[entry["batch"]], "by": deciders[entry["by"]]} for entry in entries]
    fields = (
        *texts(name=gettext("Batch")),
        *translated(reason=gettext("Reason")),
        *texts(by=gettext("By")),
        *integers(items=gettext("Items")),
    )
    return table("exclusions", gettext("Excluded items"), fields, lines)


def removed_people(entries: Iterable[Line]) -> Figure | None:
    """People with responses in a release who are no longer in the project."""
    fields = (
        *texts(annotator=gettext("Annotator"), date=gettext("Date")),
        *translated(role=gettext("By")),
        *integers(responses=gettext("Responses")),
    )
    note = gettext("Their responses stay in the release.")
    return table("removed-people", gettext("People who left the project"), fields, entries, note)


def moved_figures(pairs: Iterable[Any]) -> Figure | None:
    """Agreement of a release and of its predecessor, where the values differ."""
    fields = (
        *texts(batch=gettext("Batch")),
        text_field(gettext("Measure"), lambda pair: display_text.measure(pair.measure)),
        text_field(gettext("Statistic"), lambda pair: display_text.statistic(pair.statistic)),
        number_field(gettext("Before"), lambda pair: decimal(pair.before and pair.before["value"], 3)),
        number_field(gettext("Now"), lambda pair: decimal(pair.after and pair.after["value"], 3)),
    )
    return table("moved-figures", gettext("Agreement that changed since the predecessor"), fields, pairs)


def template_batches(lines: Sequence[Line]) -> Figure | None:
    """What a study template would create: a line has name, takes_from, people, expected, most and hours."""
    fields = (
        *texts(name=gettext("Batch"), takes_from=gettext("Items from"), people=gettext("People per item")),
        *integers(expected=gettext("Expected annotations"), most=gettext("Annotations if all items go on")),
        number_field(gettext("Expected hours"), lambda line: decimal(line["hours"])),
    )
    return table("batches", gettext("Batches"), fields, lines)


def plan_costs(lines: Sequence[Line]) -> Figure | None:
    """What the batches of a study file still ask for; lines are `annotation.study_file.project_export.cost_as_json`."""

    def amounts(key: str, title: str, low: str, high: str) -> list[Field]:
        ends = f"{key}_ends"
        return [
            number_field(title, lambda line: decimal(line[key])),
            number_field(low, lambda line: decimal(line[ends][0] if line[ends] else None)),
            number_field(high, lambda line: decimal(line[ends][1] if line[ends] else None)),
        ]

    fields = (
        *texts(batch=gettext("Batch")),
        *integers(annotations=gettext("Annotations")),
        number_field(gettext("Seconds per item"), lambda line: integer(round(line["seconds"]))),
        *amounts("hours", gettext("Hours"), gettext("Hours, low"), gettext("Hours, high")),
        *amounts("money", gettext("Pay"), gettext("Pay, low"), gettext("Pay, high")),
        *optional_texts(currency=gettext("Currency")),
    )
    note = gettext("Hours, and pay by the hour, are about what the work takes. They are no limits.")
    return table("costs", gettext("Remaining annotations"), fields, lines, note)


def evaluations(lines: Sequence[Line]) -> Figure | None:
    """The evaluations of a release: a line has model, state, origin, instances, missing, created and sha256."""
    fields = (
        *texts(model=gettext("Model"), state=gettext("State"), origin=gettext("Predictions from")),
        *integers(instances=gettext("Instances"), missing=gettext("Missing")),
        *times(created=gettext("Created (UTC)")),
        *optional_texts(sha256=gettext("Predictions, sha256")),
    )
    return table("evaluations", gettext("Evaluations"), fields, lines)
