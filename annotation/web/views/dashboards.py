"""The dashboard of a project: progress and forecast, hours and cost, agreement over time, skips, annotation artifacts."""

import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.charts import paper_figures, study_figures, work_tables
from annotation.charts.figure import Figure
from annotation.explorer import querysets
from annotation.explorer.item_access import Reader
from annotation.explorer.links import complete_url, complete_url_of_batches, submitted_between, url_of_batches
from annotation.explorer.selection import ANY, MOST_VALUES, STATES, Selection
from annotation.models import Batch, Project, Release, Source
from annotation.payments import costs, earnings, ledger
from annotation.platform import display_text
from annotation.quality import dashboards, snapshots
from annotation.quality.snapshots import SnapshotView
from annotation.queue import batch_progress
from annotation.releases.manifest import Manifest
from annotation.templatetags.explorer import reader_of
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.figure_subjects import about, of_batch
from annotation.web.views.pages import PageRequest, kind_title, page, paginate
from annotation.web.views.reported_batches import (
    compared_measures,
    gold_filter,
    names_of,
    opened_batches,
    started_batches,
)
from tableqa.statistics.proportions import Proportion

NO_WORK: Any = {
    "days": [],
    "elsewhere": [],
    "owed": {},
    "decided": (0, 0),
    "answered": 0,
    "per_accepted": None,
}
"""Data of a snapshot of work that is not there yet."""


@page("GET")
def dashboard(request: PageRequest, slug: str) -> HttpResponse:
    """Progress and forecast, hours and cost, agreement over time, skips, and what a benchmark should not have."""
    context = dashboard_of(request, slug)
    readiness = context["left"]
    if request.htmx:  # the note that asks whether it is done
        if readiness and readiness["working"]:
            return render(request, "dashboards/_left.html", {"left": readiness})
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "dashboards/dashboard.html", context)


def dashboard_of(request: PageRequest, slug: str, *, named: bool = True) -> dict[str, Any]:
    """The context of the dashboard. named: people by their names for people who may read them, else pseudonyms."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, project)
    who, leads = reader_of(request, project), Permission.SET_UP in may
    seen, hidden = opened_batches(who)
    listed = paginate(request, seen)
    on_page = list(listed)
    begun = started_batches(on_page)
    charted = [batch for batch in on_page if batch.pk in begun]
    requested_id = request.GET.get("batch", "")
    chosen = next((batch for batch in charted if batch.public_id == requested_id), next(iter(charted), None))
    figures = _figures(charted, chosen)
    work = {batch.pk: figures.get((batch.pk, "work"), SnapshotView(None)) for batch in on_page}
    readiness = _readiness([work[batch.pk] for batch in charted])
    agreement = {batch.pk: figures.get((batch.pk, "agreement"), SnapshotView(None)) for batch in charted}
    measured = [(batch, data["measures"]) for batch, data in _with_data(charted, agreement)]
    context: dict[str, Any] = {
        "project": project,
        "may": {permission.value for permission in may},
        "listed": listed,
        "hidden": [batch.name for batch in hidden],
        "left": readiness,
        "behind": _oldest(work.values()),
        "weeks": study_figures.agreement_over_weeks(_over_time(measured)),
        "more_measures": any(
            len(measures) > len(charted_measures(batch, measures)) for batch, measures in measured
        ),
        "skips": None if readiness else _skips(who, charted, work),
        "reasons": work_tables.reasons(_reasons(who, charted, work)),
        "looked": charted,
        "chosen": chosen,
        **dict.fromkeys(("per_accepted", "attrition")),  # until all is worked out
        **_pace_and_sums(who, on_page, work, complete=readiness is None, leads=leads),
    }
    context["addresses"] = _addresses(project, on_page, context, is_whole=not hidden)
    lines = context["lines"]
    context["batches"] = work_tables.batches(lines, costs=leads) if lines else None
    if readiness is None:
        context["per_accepted"] = paper_figures.per_accepted(lines, with_costs=leads)
        imported, released, release = _import_and_release_counts(project)
        steps = _addresses_of_steps(who, on_page, release, is_whole=not hidden, leads=leads)
        context["attrition"] = paper_figures.attrition(lines, imported, released, steps)
    of_chosen = []
    if chosen is not None:
        monitors = figures[chosen.pk, "monitors"]
        context |= {
            "watched": monitors,
            "monitors": study_figures.monitors(monitors.data) if monitors.data is not None else [],
            "templates": work_tables.templates(
                _templates(monitors, names_of(project, may if named else frozenset()))
                if chosen.pk not in who.sight.without_people
                else []
            ),
        }
        of_chosen = about(of_batch(chosen, "dashboard"), [context["templates"], *context["monitors"]])
    names = ("days", "batches", "per_accepted", "attrition", "weeks", "skips", "reasons")
    project_figures = [context[name] for name in names]
    return context | figure_gallery(request, "dashboard", slug, [*project_figures, *of_chosen])


def _addresses(
    project: Project, batches: Sequence[Batch], context: Mapping[str, Any], *, is_whole: bool
) -> dict[str, str]:
    """Where the sums of these batches lead to, by name, as far as the explorer lists the same items.

    is_whole: none of the batches are hidden there.
    """
    if not is_whole or len(batches) > MOST_VALUES:
        return {}
    filters: dict[str, Any] = {"submitted": {"answered": "yes"}, "accepted": {"state": "accepted"}}
    filters |= SLOTS if all("places" in line["links"] for line in context["lines"]) else {}
    return {
        name: url_of_batches(project, batches, **chosen) for name, chosen in filters.items() if context[name]
    }


SLOTS: Final[dict[str, dict[str, Any]]] = {
    "places": {"assignment": "planned"},
    "items": {"state": list(STATES)},
}
"""Selections of all slots, and of all items that can be decided. Of batches with gold items, managers alone see them."""


def _figures(charted: Sequence[Batch], chosen: Batch | None) -> dict[tuple[int, str], SnapshotView]:
    """Snapshots by batch and name: work and agreement of the batches charted, monitors of the chosen one."""
    pairs = [(batch, "work") for batch in charted]
    pairs += [(batch, "agreement") for batch in charted if compared_measures(batch)]
    pairs += [(chosen, "monitors")] if chosen is not None else []
    return snapshots.snapshot_views(pairs, now=timezone.now())


def _readiness(parts: Sequence[SnapshotView]) -> dict[str, Any] | None:
    """How many snapshots are ready; None if all are. A sum of some parts is no sum: until then, none is shown."""
    lacking = [part for part in parts if part.data is None]
    if not lacking:
        return None
    working = any(not part.failed for part in lacking)
    return {"ready": len(parts) - len(lacking), "of": len(parts), "working": working}


def _of_day(who: Reader, batches: Sequence[Batch], day: date) -> str:
    """The address of the items with a response that was submitted on this day of the project; "" where it lists others."""
    ends = earnings.Period(day, day).ends(who.project)
    return complete_url_of_batches(who, batches, answered="yes", **submitted_between(*ends))


def _pace_and_sums(
    who: Reader, batches: Sequence[Batch], work: Mapping[int, SnapshotView], *, complete: bool, leads: bool
) -> dict[str, Any]:
    """A line for each batch with their sums, the chart of days, and the forecast; the last two only if `complete`."""
    progress = batch_progress.slot_counts(batches)
    lines = [_line(who, batch, progress[batch.pk], work[batch.pk], leads=leads) for batch in batches]
    under_way = [batch for batch in batches if batch.closed_at is None]
    remaining = sum(progress[batch.pk]["places"] - progress[batch.pk]["submitted"] for batch in under_way)
    today = timezone.now().astimezone(zoneinfo.ZoneInfo(who.project.time_zone)).date()
    forecast = done = chart = None
    if complete:
        recent = [day for batch in under_way for day in local_days(work[batch.pk])]
        _, recent_counts = dashboards.submissions_by_day(recent, today - timedelta(1))
        forecast = dashboards.forecast(recent_counts, remaining)
        if forecast.likely is not None:
            ends = (forecast.likely, forecast.low, forecast.high)
            done = [None if days is None else today + timedelta(days) for days in ends]
        days_of_work = [day for batch in batches for day in _days(work[batch.pk])]
        dates, counts = dashboards.submissions_by_day(days_of_work, today)
        title = gettext("Submissions per day")
        chart = study_figures.by_day(dates[-60:], counts[-60:], title, lambda day: _of_day(who, batches, day))
    return {
        "lines": lines,
        "submitted": sum(counter["submitted"] for counter in progress.values()),
        "places": sum(counter["places"] for counter in progress.values()),
        "accepted": sum(line["accepted"] or 0 for line in lines),
        "items": sum(counter["items"] for counter in progress.values()),
        "hours": sum(line["spent"].hours for line in lines),
        "hours_by_kind": display_text.by_kind(
            {kind: sum(line["spent"].by_kind[kind] for line in lines) for kind in ledger.KINDS}, 3600, 2
        ),
        "costs": _costs(lines),
        "remaining": remaining,
        "forecast": forecast,
        "done": done,
        "days": chart,
    }


def _import_and_release_counts(project: Project) -> tuple[int, int | None, Release | None]:
    """Examples in the project's sources, accepted items in its newest release, and this release; None without one."""
    sources = Source.objects.ready().filter(project=project)
    imported = sources.aggregate(number=Sum("examples_count"))["number"]
    releases = Release.objects.filter(project=project, ready_at__isnull=False)
    newest = releases.order_by("-made_at", "-pk").first()
    if newest is None:
        return imported or 0, None, None
    counts = Manifest.of(newest.manifest).counts
    return imported or 0, counts["accepted"] - counts["contradicted"], newest


def _addresses_of_steps(
    who: Reader, batches: Sequence[Batch], release: Release | None, *, is_whole: bool, leads: bool
) -> dict[str, str]:
    """Where the steps of `paper_figures.attrition` lead to, as far as the explorer lists the same items.

    Items that a release left out because people contradicted them are left out here, too.
    """
    without_gold = gold_filter(batches, leads=leads)
    if not is_whole or len(batches) > MOST_VALUES or without_gold is None:
        return {}
    addresses = {
        "answered": url_of_batches(who.project, batches, answered="yes", **without_gold),
        "accepted": url_of_batches(who.project, batches, state="accepted", **without_gold),
        "excluded": url_of_batches(who.project, batches, state="excluded", **without_gold),
    }
    if release is not None:
        addresses["released"] = _address_of_release(who, release)
    return addresses


def _address_of_release(who: Reader, release: Release) -> str:
    """The address of the items in a release, without those that it left out; "" where these are too many to name."""
    manifest = Manifest.of(release.manifest)
    if not manifest.counts["contradicted"]:
        return complete_url(who, release=release.public_id, state="accepted")
    left_out = {entry["item"] for entry in manifest.contradicted}
    accepted = querysets.matching(who, Selection(releases=(release.public_id,), states=("accepted",)))
    items = accepted.exclude(public_id__in=left_out).order_by("pk").values_list("public_id", flat=True)
    named = list(items[: MOST_VALUES + 1])
    is_same = len(named) == manifest.counts["accepted"] - manifest.counts["contradicted"] <= MOST_VALUES
    return complete_url(who, item=named) if named and is_same else ""


def _costs(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """The sum of each currency."""
    sums: dict[str, Decimal] = {}
    for line in lines:
        for currency, amount in line["spent"].amounts.items():
            sums[currency] = sums.get(currency, Decimal(0)) + amount
    return [costs.in_words(sums[currency], {"currency": currency}) for currency in sorted(sums)]


def _skips(who: Reader, batches: Sequence[Batch], work: Mapping[int, SnapshotView]) -> Figure | None:
    """The chart of skipped items by source; None if nothing was skipped."""
    rows = [row for _, data in _with_data(batches, work) for row in data["skips"]["sources"]]
    if not any(row[1] for row in rows):
        return None
    skipped = dashboards.skip_shares(rows)
    ids: dict[str, list[str]] = {name: [] for name, _ in skipped}
    sources = Source.objects.filter(project=who.project, name__in=list(ids), ready_at__isnull=False)
    for name, public_id in sources.values_list("name", "public_id"):
        ids[name].append(public_id)
    return study_figures.shares(
        "skips",
        gettext("Skipped items as a share of assigned items, by source"),
        ("Source", "Skipped"),
        skipped,
        addresses=[
            complete_url_of_batches(who, batches, source=ids[name], skipped=ANY) if ids[name] else ""
            for name, _ in skipped
        ],
    )


def _with_data(
    batches: Sequence[Batch], views: Mapping[int, SnapshotView]
) -> Iterator[tuple[Batch, dict[str, Any]]]:
    """The batches whose snapshot is ready, with its data."""
    for batch in batches:
        if (data := views[batch.pk].data) is not None:
            yield batch, data


def _days(snapshot: SnapshotView) -> list[list[Any]]:
    return (snapshot.data or NO_WORK)["days"]


def local_days(snapshot: SnapshotView) -> list[list[Any]]:
    """The days of work in this place: labels made elsewhere come in all at once, and are no pace."""
    elsewhere = set((snapshot.data or NO_WORK)["elsewhere"])
    return [day for day in _days(snapshot) if day[1] not in elsewhere]


def _line(
    who: Reader, batch: Batch, progress: Mapping[str, int], snapshot: SnapshotView, *, leads: bool
) -> dict[str, Any]:
    """The figures of a batch; leads: the reader may know which items are gold."""
    filters: dict[str, dict[str, Any]] = {"submitted": {"answered": "yes"}}
    filters |= {name: {"state": name} for name in ("accepted", "excluded")}
    filters |= SLOTS if leads or progress["items"] == batch.items_count else {}
    data = snapshot.data or NO_WORK
    owed = data["owed"]
    if not owed and (pay := batch.pay or batch.project.pay):
        owed = {pay["currency"]: "0.00"}  # there is a rate, and nothing is earned yet
    spent = dashboards.effort_of(batch.name, data["days"], owed)
    accepted, excluded = data["decided"]
    # A batch without work has nothing to compute, so nothing is missing.
    is_known = snapshot.data is not None or not snapshot.behind
    links = {name: complete_url(who, batch=batch, **chosen) for name, chosen in filters.items()}
    figures = {
        "accepted": accepted,
        "excluded": excluded,
        "hours": spent.hours,
        "seconds": spent.each,
        "cost": spent.cost,
        "per_hundred": spent.per_hundred(accepted),
        "answered": data["answered"],
        "per_accepted": data["per_accepted"],
    }
    return {
        "name": batch.name,
        "address": reverse("batch", args=[batch.public_id]),
        "links": {name: address for name, address in links.items() if address},
        "kind": kind_title(batch),
        "state": batch.state,
        "spent": spent,
        "amounts": spent.amounts,
        **progress,
        **{name: value if is_known else None for name, value in figures.items()},
    }


def _oldest(work_snapshots: Any) -> SnapshotView | None:
    """Of what is not up to date, what was worked out first; None where everything is."""
    behind = [snapshot for snapshot in work_snapshots if snapshot.behind]
    return min(behind, key=lambda snapshot: (snapshot.as_of is not None, snapshot.as_of), default=None)


def _over_time(
    measured: Sequence[tuple[Batch, Sequence[dict[str, Any]]]],
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    lines = []
    for batch, measures in measured:
        for measure in charted_measures(batch, measures):
            name, statistic = (
                display_text.measure(measure["name"]),
                display_text.statistic(measure["statistic"]),
            )
            lines.append((f"{batch.name}: {name}, {statistic}", measure["statistic"], measure["weeks"]))
    return lines


def charted_measures(batch: Batch, measures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two of the measures of a batch for the chart over time: its first, and one that compares whole sets if it has one."""
    compared = compared_measures(batch)
    of_sets = {measure.name for measure in compared if measure.level in ("sets", "cells", "edits", "ranks")}
    others = measures[1:]
    whole = [measure for measure in others if measure["name"] in of_sets]
    return [*measures[:1], *(whole or others)[:1]]


def _reasons(
    who: Reader, batches: Sequence[Batch], work: Mapping[int, SnapshotView]
) -> list[tuple[str, str, int, str]]:
    """(batch, reason, how often, address of the items), the commonest first."""
    rows = []
    for batch, data in _with_data(batches, work):
        for reason, times in data["skips"]["reasons"]:
            address = complete_url(who, batch=batch, skipped=reason) if reason else ""
            rows.append((batch.name, reason or gettext("no reason given"), times, address))
    return sorted(rows, key=lambda row: (-row[2], row))[:20]


def _templates(snapshot: SnapshotView, names: Mapping[str, str]) -> list[dict[str, Any]]:
    if snapshot.data is None:
        return []
    return [
        {
            **row,
            "name": study_figures.person_name(names, row["person"]),
            "share": Proportion(**row["share"]),
            "of_others": Proportion(**row["of_others"]),
        }
        for row in snapshot.data["templates"]
    ]
