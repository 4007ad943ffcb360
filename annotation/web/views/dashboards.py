"""How a study is doing: agreement live, the dashboard, and the quality of each annotator's work.

Managers read names, everybody else pseudonyms. Nobody sees the agreement of an open batch in which they annotate.
"""

import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.db.models import Count, Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.charts import paper_figures, study_figures, work_tables
from annotation.charts.figure import Figure
from annotation.explorer import querysets
from annotation.explorer.item_access import Reader
from annotation.explorer.links import (
    complete_url,
    complete_url_of_batches,
    explorer_url,
    submitted_between,
    url_of_batches,
)
from annotation.explorer.selection import ANY, BETWEEN, MOST_VALUES, SEPARATOR, STATES, Selection
from annotation.models import Batch, Item, Membership, Person, Project, Release, Source, Tally
from annotation.payments import costs, earnings, ledger
from annotation.platform import display_text
from annotation.quality import compared_responses, dashboards, qualification, rating_tallies, snapshots
from annotation.quality.snapshots import SnapshotView
from annotation.releases.manifest import Manifest
from annotation.templatetags.explorer import reader_of
from annotation.web.views.agreement_figures import figures_in_table
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.figure_subjects import about, of_batch
from annotation.web.views.pages import PageRequest, kind_title, page, paginate
from tableqa.agreement.sample_size import Basis
from tableqa.quality_control.careless_responding import FEWEST, TOO_FEW, TOO_FEW_OF_OTHERS
from tableqa.statistics.median_intervals import FEWEST as FEWEST_FOR_MEDIAN
from tableqa.statistics.proportions import Proportion, proportion
from tableqa.typesetting.report_tables import NOTHING, Cell, Column, Sheet, count, text

HABITS = {
    "too_fast": "Time",
    "sped_up": gettext_noop("Change of pace"),
    "always_the_same": gettext_noop("One label"),
    "copy_paste": gettext_noop("Repeated texts"),
}
NEEDED = {
    "too_fast": gettext_noop("At least {fewest} timed items of the person are needed."),
    "sped_up": gettext_noop("At least {fewest} timed items of the person are needed."),
    "always_the_same": gettext_noop(
        "At least {fewest} labels of the person and {fewest} of the others together are needed."
    ),
}
"""What must be there to say something of a habit. The time alone is compared with the least for the task type."""
LACKING = (TOO_FEW.code, TOO_FEW_OF_OTHERS.code)
"""Codes of the sentences that say of a habit that there is not enough data."""
USUAL = 0.05
"""The half-width of an interval that is asked for first."""


class WithinForm(forms.Form):
    """How narrow an interval is wanted."""

    within = forms.FloatField(
        label=gettext_lazy("How many items for an interval of ±"),
        min_value=0.005,
        max_value=0.5,
        widget=forms.NumberInput(attrs={"step": "0.005", "inputmode": "decimal"}),
    )


def names_of(project: Project, may: frozenset[Permission]) -> dict[str, str]:
    """What people are called on a page, by their keys: by name for managers, by pseudonym for everybody else."""
    rows = Membership.objects.filter(project=project).values_list(
        "person_id", "pseudonym", "person__name", "person__is_simulated"
    )
    if Permission.SET_UP not in may:
        return {str(key): pseudonym for key, pseudonym, _, _ in rows}
    mark = " (simulated)"
    return {
        str(key): f"{name.removesuffix(mark)}{mark}" if simulated else name
        for key, _, name, simulated in rows
    }


def _batches(who: Reader) -> tuple[list[Batch], list[Batch]]:
    """The project's batches of work, newest first, that were opened: those that the reader may look into, and the others."""
    project, hidden = who.project, who.hidden
    counted = compared_responses.counted_batches(
        Batch.objects.filter(project=project, opened_at__isnull=False)
    )
    batches = [
        batch
        for batch in counted.select_related("definition").order_by("-opened_at", "-pk")
        if batch.installed_task() is not None
    ]
    for batch in batches:
        batch.project = project
    return [batch for batch in batches if batch.pk not in hidden], [
        batch for batch in batches if batch.pk in hidden
    ]


def _batch_outside_study(project: Project, person: Person, public_id: str) -> Batch | None:
    """A batch that is no part of the study's agreement, such as a calibration round, where the address names it."""
    opened = Batch.objects.filter(project=project, opened_at__isnull=False)
    batch = opened.filter(public_id=public_id).first() if "\0" not in public_id else None
    if batch is None or batch.installed_task() is None or not visibility.may_see_agreement(person, batch):
        return None
    batch.project = project
    return batch if rating_tallies.measures_of(batch.task(), batch.people_compared) else None


def _started_batches(batches: Sequence[Batch]) -> set[int]:
    """Those of the batches (ids) in which anything was submitted, skipped or returned: of the others nothing can be said."""
    tallies = Tally.objects.filter(batch__in=batches)
    return set(
        tallies.exclude(submitted=0, skipped=0, returned=0).values_list("batch_id", flat=True).distinct()
    )


# -- agreement --------------------------------------------------------------------------------------


@page("GET")
def agreement_page(request: PageRequest, slug: str) -> HttpResponse:
    """Every batch's agreement with what it still takes, and one batch taken apart by week, source, pair and label."""
    return render(request, "dashboards/agreement.html", agreement_of(request, slug))


def agreement_of(request: PageRequest, slug: str, *, named: bool = True) -> dict[str, Any]:
    """The context of the page Agreement. named: people by their names for those who may read them, else pseudonyms."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, project)
    seen, hidden = _batches(reader_of(request, project))
    begun = _started_batches(seen)
    measured = [batch for batch in seen if rating_tallies.measures_of(batch.task(), batch.people_compared)]
    waiting = [batch for batch in measured if batch.pk not in begun]
    measured = [batch for batch in measured if batch.pk in begun]
    listed = paginate(request, measured)
    form = WithinForm(request.GET if "within" in request.GET else None)
    within = form.cleaned_data["within"] if form.is_valid() else USUAL
    requested_id = request.GET.get("batch", "")
    on_page = list(listed)
    chosen = next((batch for batch in measured if batch.public_id == requested_id), None)
    if chosen is None and requested_id:
        chosen = _batch_outside_study(project, actor.person, requested_id)
    if chosen is not None and chosen not in on_page:
        on_page.append(chosen)
    stored_snapshots = snapshots.views_of_batches(on_page, ("agreement",), now=timezone.now())
    snapshot_by_batch = {batch.pk: stored_snapshots[batch.pk, "agreement"] for batch in on_page}
    if chosen is None:
        with_value = (batch for batch in listed if _has_value(snapshot_by_batch[batch.pk]))
        chosen = next(with_value, next(iter(listed), None))
    context: dict[str, Any] = {
        "project": project,
        "form": form if form.is_bound else WithinForm({"within": USUAL}),
        "within": within,
        "listed": listed,
        "rows": [row for batch in listed for row in _overview(batch, snapshot_by_batch[batch.pk], within)],
        "hidden": [batch.name for batch in hidden],
        "waiting": waiting,
        "others": len(seen) - len(measured) - len(waiting),
        "chosen": chosen,
        "no_part": chosen is not None
        and (chosen.purpose != Batch.Purpose.WORK or chosen.set_aside_at is not None),
    }
    if chosen is not None:
        names = names_of(project, may if named else frozenset())
        context |= _batch_agreement(request, chosen, snapshot_by_batch[chosen.pk], names, within)
    overview = _overview_figure(context.pop("rows"), within)
    figures = [*context.get("charts", ()), context.get("with_others"), context.get("statistics")]
    of_chosen = [] if chosen is None else about(of_batch(chosen, "agreement"), figures)
    return (
        context | {"overview": overview} | figure_gallery(request, "agreement", slug, [overview, *of_chosen])
    )


def _has_value(snapshot: SnapshotView) -> bool:
    return any(figure["value"] is not None for figure in (snapshot.data or {"figures": []})["figures"])


def _overview(batch: Batch, snapshot: SnapshotView, within: float) -> list[dict[str, Any]]:
    """A line for each measure of the batch: its first statistic, and how many more items it takes."""
    if snapshot.data is None:
        return [{"batch": batch, "shown": snapshot}]
    by_name = {(entry["measure"], entry["statistic"]): entry for entry in snapshot.data["figures"]}
    return [
        {
            "batch": batch,
            "shown": snapshot,
            "figure": by_name[entry["name"], entry["statistic"]],
            "needed": _items_needed(entry["basis"], within),
        }
        for entry in snapshot.data["measures"]
    ]


def _overview_figure(rows: Sequence[Mapping[str, Any]], within: float) -> Figure | None:
    """The agreement of all batches of the page: a row for each measure, linked to the batch taken apart."""
    if not rows:
        return None
    columns = (
        *study_figures.names("Batch", gettext("Measure"), gettext("Statistic")),
        Column(gettext("Value"), counted=gettext("Items")),
        Column(gettext("Raters")),
        *study_figures.names(
            gettext("Items needed for ± {within}").format(within=display_text.number(f"{within:g}"))
        ),
    )
    title = gettext("Agreement by batch")
    lines = tuple(_overview_line(row, within) for row in rows)
    has_gap = any(row.get("needed") == NOTHING for row in rows)
    note = (
        gettext("–: not enough data yet for this estimate. Follow the link of the batch for the reason.")
        if has_gap
        else ""
    )
    return Figure("overview", title, Sheet("overview", title, columns, lines, note))


def _overview_line(row: Mapping[str, Any], within: float) -> tuple[Cell, ...]:
    query = {"batch": row["batch"].public_id, "within": within}
    figure = row.get("figure")
    if figure is None:
        failed = row["shown"].failed
        reason = display_text.shown(failed) if failed else gettext("being computed")
        return (
            Cell(row["batch"].name, address=f"?{urlencode(query)}#apart"),
            *(text(reason), *[text(NOTHING)] * 4),
        )
    query["measure"] = figure["measure"]
    return (
        Cell(row["batch"].name, address=f"?{urlencode(query)}#apart"),
        text(display_text.measure(figure["measure"])),
        text(display_text.statistic(figure["statistic"])),
        study_figures.estimate(figure, figure["statistic"]),
        count(figure["raters"]),
        text(display_text.shown(row["needed"])),
    )


def _items_needed(basis: Mapping[str, Any], within: float) -> str:
    """How many more items it takes; a dash where there is not enough data, which the note of the table says once."""
    needed = Basis(**basis).needed(within)
    return NOTHING if needed.likely is None or needed.safe is None else needed.sentence


def _batch_agreement(
    request: PageRequest, batch: Batch, snapshot: SnapshotView, names: Mapping[str, str], within: float
) -> dict[str, Any]:
    if snapshot.data is None:
        return {"shown": snapshot, "measure": None}
    measures = snapshot.data["measures"]
    who = reader_of(request, batch.project)
    nameless = batch.pk in who.sight.without_people
    named = request.GET.get("measure", "").replace(" ", "_")
    measure = next((entry for entry in measures if entry["name"] == named), measures[0])
    statistic = display_text.statistic(measure["statistic"])
    charts = [
        study_figures.agreement_over_weeks(
            [
                (
                    f"{display_text.measure(measure['name'])}, {statistic}",
                    measure["statistic"],
                    measure["weeks"],
                )
            ]
        ),
        study_figures.agreement_by_source(measure, statistic),
        None
        if nameless
        else study_figures.pairs(measure, display_text.statistic(measure["pair_statistic"]), names),
        study_figures.confusion(
            measure, lambda entry, other: _items(who, batch, measure["name"], entry, other)
        ),
        paper_figures.label_agreement(measure),
    ]
    return {
        "shown": snapshot,
        **figures_in_table(snapshot.data["figures"]),
        "measure": measure,
        "measured": display_text.measure(measure["name"]),
        "measures": [(entry["name"], display_text.measure(entry["name"])) for entry in measures],
        "statistic": statistic,
        "needed": Basis(**measure["basis"]).needed(within),
        "charts": [entry for entry in charts if entry is not None],
        "with_others": None if nameless else _with_others(measure, statistic, names),
    }


def _without_gold(batches: Sequence[Batch], *, leads: bool) -> dict[str, str] | None:
    """The filter that leaves gold items out, {} where there are none; None where the reader may not know which they are."""
    if not Item.objects.filter(batch__in=batches, is_gold=True).exists():
        return {}
    return {"gold": "no"} if leads else None


def _address_of_label(
    who: Reader, batch: Batch, measure: str, label: str, without_gold: dict[str, str] | None
) -> str:
    """The address of the items to which somebody gave this label; "" where the explorer would list others."""
    if not label or without_gold is None:
        return ""
    return complete_url(who, batch=batch, label=f"{measure}{SEPARATOR}{label}", **without_gold)


def _items(who: Reader, batch: Batch, measure: str, label: str, other_label: str) -> str:
    """The address of the items to which two people gave these labels; "" where a label cannot be written in one."""
    if not (label and other_label) or BETWEEN in label + other_label:
        return ""
    return complete_url(who, batch=batch, pair=f"{measure}{SEPARATOR}{label}{BETWEEN}{other_label}")


def _with_others(measure: Mapping[str, Any], statistic: str, names: Mapping[str, str]) -> Figure | None:
    """Each person's agreement with everybody else, the lowest first; None where nobody shares an item."""
    people = sorted(measure["people"], key=lambda person: (person["value"] is None, person["value"] or 0.0))
    if not people:
        return None
    title = gettext("Agreement with others: {name}, {statistic}").format(
        name=display_text.measure(measure["name"]), statistic=statistic
    )
    columns = (
        *study_figures.names(gettext("Person (lowest first)")),
        Column(gettext("Value"), counted=gettext("Items")),
        Column(gettext("Comparisons")),
        Column(gettext("Other annotators")),
        Column(gettext("Identical"), unit="%"),
    )
    rows = tuple(
        (
            text(study_figures.person_name(names, person["person"])),
            study_figures.estimate(person, measure["statistic"], person["items"]),
            count(person["units"]),
            count(person["raters"] - 1),
            replace(study_figures.share(Proportion(**person["identical"])), n=None)
            if person["identical"]
            else text(NOTHING),
        )
        for person in people
    )
    note = gettext(
        "A comparison pairs a response of this person with a response of another annotator to the same item. "
        "The interval resamples whole items, because comparisons of one item share a response."
    )
    return Figure("others", title, Sheet("others", title, columns, rows, note))


# -- the dashboard ----------------------------------------------------------------------------------


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
    """The context of the dashboard. named: people by their names for those who may read them, else pseudonyms."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, project)
    who = reader_of(request, project)
    seen, hidden = _batches(who)
    listed = paginate(request, seen)
    on_page = list(listed)
    begun = _started_batches(on_page)
    charted = [batch for batch in on_page if batch.pk in begun]
    requested_id = request.GET.get("batch", "")
    chosen = next((batch for batch in charted if batch.public_id == requested_id), next(iter(charted), None))
    figures = _figures(charted, chosen)
    work = {batch.pk: figures.get((batch.pk, "work"), SnapshotView(None)) for batch in on_page}
    readiness = _readiness([work[batch.pk] for batch in charted])
    context: dict[str, Any] = {
        "project": project,
        "may": {permission.value for permission in may},
        "listed": listed,
        "hidden": [batch.name for batch in hidden],
        "left": readiness,
        "behind": _oldest(work.values()),
        "weeks": study_figures.agreement_over_weeks(_over_time(charted, figures)),
        "more_measures": _has_more_measures(charted, figures),
        "skips": None if readiness else _skips(who, charted, work),
        "reasons": work_tables.reasons(_reasons(who, charted, work)),
        "looked": charted,
        "chosen": chosen,
        **dict.fromkeys(("per_accepted", "attrition")),  # until all is worked out
        **_pace_and_sums(who, on_page, work, complete=readiness is None, leads=Permission.SET_UP in may),
    }
    context["addresses"] = _addresses(project, on_page, context, is_whole=not hidden)
    lines = context["lines"]
    context["batches"] = work_tables.batches(lines, costs=Permission.SET_UP in may) if lines else None
    if readiness is None:
        context["per_accepted"] = paper_figures.per_accepted(lines, with_costs=Permission.SET_UP in may)
        imported, released, release = _import_and_release_counts(project)
        steps = _addresses_of_steps(
            who, on_page, release, is_whole=not hidden, leads=Permission.SET_UP in may
        )
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
    project_figures = [
        context[name]
        for name in ("days", "batches", "per_accepted", "attrition", "weeks", "skips", "reasons")
        if name in context
    ]
    return context | figure_gallery(request, "dashboard", slug, [*project_figures, *of_chosen])


def _addresses(
    project: Project, batches: Sequence[Batch], context: Mapping[str, Any], *, is_whole: bool
) -> dict[str, str]:
    """Where the sums of these batches lead to, by name, as far as the explorer lists the same items.

    is_whole: none of the batches are hidden there.
    """
    if not is_whole or len(batches) > MOST_VALUES:
        return {}
    filters: dict[str, dict[str, Any]] = {
        "submitted": {"answered": "yes"},
        "accepted": {"state": "accepted"},
    }
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
    pairs += [
        (batch, "agreement")
        for batch in charted
        if rating_tallies.measures_of(batch.task(), batch.people_compared)
    ]
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
    progress = _progress(batches)
    lines = [_line(who, batch, progress[batch.pk], work[batch.pk], leads=leads) for batch in batches]
    under_way = [batch for batch in batches if batch.closed_at is None]
    remaining = sum(progress[batch.pk]["places"] - progress[batch.pk]["submitted"] for batch in under_way)
    today = timezone.now().astimezone(zoneinfo.ZoneInfo(who.project.time_zone)).date()
    forecast = None
    if complete:
        recent = [day for batch in under_way for day in _local_days(work[batch.pk])]
        forecast = dashboards.forecast(
            dashboards.submissions_by_day(recent, today - timedelta(1))[1], remaining
        )
    done = (
        [
            today + timedelta(days) if days is not None else None
            for days in (forecast.likely, forecast.low, forecast.high)
        ]
        if forecast is not None and forecast.likely is not None
        else None
    )
    dates, counts = dashboards.submissions_by_day(
        [day for batch in batches for day in _days(work[batch.pk])], today
    )
    title = gettext("Submissions per day")
    chart = None
    if complete:
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
    imported = (
        Source.objects.ready().filter(project=project).aggregate(number=Sum("examples_count"))["number"]
    )
    newest = (
        Release.objects.filter(project=project, ready_at__isnull=False).order_by("-made_at", "-pk").first()
    )
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
    without_gold = _without_gold(batches, leads=leads)
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
    amounts = [line["spent"].amounts for line in lines]
    return [
        costs.in_words(
            sum((amount.get(currency, Decimal(0)) for amount in amounts), Decimal(0)), {"currency": currency}
        )
        for currency in sorted({currency for amount in amounts for currency in amount})
    ]


def _skips(who: Reader, batches: Sequence[Batch], work: Mapping[int, SnapshotView]) -> Figure | None:
    """The chart of skipped items by source; None if nothing was skipped."""
    rows = [
        row
        for batch in batches
        if (data := work[batch.pk].data) is not None
        for row in data["skips"]["sources"]
    ]
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


def _has_more_measures(batches: Sequence[Batch], figures: Mapping[tuple[int, str], SnapshotView]) -> bool:
    """Whether the chart over time leaves out a measure of a batch."""
    return any(
        len(data["measures"]) > len(_charted_measures(batch, data["measures"]))
        for batch in batches
        if (batch.pk, "agreement") in figures and (data := figures[batch.pk, "agreement"].data) is not None
    )


def _progress(batches: Sequence[Batch]) -> dict[int, dict[str, int]]:
    """Places and submissions by batch, from counters, and the items that can be accepted: gold is none of these."""
    summed = dict(
        Tally.objects.filter(batch__in=batches).values_list("batch_id").annotate(number=Sum("submitted"))
    )
    rows = Item.objects.filter(batch__in=batches, is_gold=True).order_by().values_list("batch_id")
    golds = dict(rows.annotate(number=Count("pk")))
    return {
        batch.pk: {
            "places": batch.places_count,
            "submitted": summed.get(batch.pk, 0),
            "items": batch.items_count - golds.get(batch.pk, 0),
        }
        for batch in batches
    }


def _days(snapshot: SnapshotView) -> list[list[Any]]:
    return snapshot.data["days"] if snapshot.data is not None else []


def _local_days(snapshot: SnapshotView) -> list[list[Any]]:
    """The days of work in this place: labels made elsewhere come in all at once, and are no pace."""
    elsewhere = set(snapshot.data["elsewhere"]) if snapshot.data is not None else set()
    return [day for day in _days(snapshot) if day[1] not in elsewhere]


def _line(
    who: Reader, batch: Batch, progress: Mapping[str, int], snapshot: SnapshotView, *, leads: bool
) -> dict[str, Any]:
    """The figures of a batch; leads: the reader may know which items are gold."""
    filters: dict[str, dict[str, Any]] = {"submitted": {"answered": "yes"}}
    filters |= {name: {"state": name} for name in ("accepted", "excluded")}
    filters |= SLOTS if leads or progress["items"] == batch.items_count else {}
    owed = snapshot.data["owed"] if snapshot.data is not None else {}
    if not owed and (pay := batch.pay or batch.project.pay):
        owed = {pay["currency"]: "0.00"}  # there is a rate, and nobody has earned anything yet
    spent = dashboards.effort_of(batch.name, _days(snapshot), owed)
    accepted, excluded = snapshot.data["decided"] if snapshot.data is not None else (0, 0)
    # Nothing to work out is nothing that is missing: a batch that nobody has begun.
    is_known = snapshot.data is not None or not snapshot.behind
    figures = {
        "accepted": accepted,
        "excluded": excluded,
        "hours": spent.hours,
        "seconds": spent.each,
        "cost": spent.cost,
        "per_hundred": spent.per_hundred(accepted),
        "answered": snapshot.data["answered"] if snapshot.data is not None else 0,
        "per_accepted": snapshot.data["per_accepted"] if snapshot.data is not None else None,
    }
    return {
        "name": batch.name,
        "address": reverse("batch", args=[batch.public_id]),
        "links": {
            name: address
            for name, chosen in filters.items()
            if (address := complete_url(who, batch=batch, **chosen))
        },
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
    return min(behind, key=lambda snapshot: (snapshot.as_of is not None, snapshot.as_of)) if behind else None


def _over_time(
    batches: Sequence[Batch], figures: Mapping[tuple[int, str], SnapshotView]
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    return [
        (
            "{batch}: {measure}, {statistic}".format(
                batch=batch.name,
                measure=display_text.measure(measure["name"]),
                statistic=display_text.statistic(measure["statistic"]),
            ),
            measure["statistic"],
            measure["weeks"],
        )
        for batch in batches
        if (batch.pk, "agreement") in figures and (data := figures[batch.pk, "agreement"].data) is not None
        for measure in _charted_measures(batch, data["measures"])
    ]


def _charted_measures(batch: Batch, measures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two of the measures of a batch for the chart over time: its first, and one that compares whole sets if it has one."""
    levels = {
        measure.name: measure.level
        for measure in rating_tallies.measures_of(batch.task(), batch.people_compared)
    }
    others = measures[1:]
    whole = [
        measure for measure in others if levels.get(measure["name"]) in ("sets", "cells", "edits", "ranks")
    ]
    return [*measures[:1], *(whole or others)[:1]]


def _reasons(
    who: Reader, batches: Sequence[Batch], work: Mapping[int, SnapshotView]
) -> list[tuple[str, str, int, str]]:
    """(batch, reason, how often, address of the items), the commonest first."""
    rows = [
        (
            batch.name,
            reason or gettext("no reason given"),
            times,
            complete_url(who, batch=batch, skipped=reason) if reason else "",
        )
        for batch in batches
        if (data := work[batch.pk].data) is not None
        for reason, times in data["skips"]["reasons"]
    ]
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


# -- the quality of people's work -------------------------------------------------------------------


@page("GET")
def quality(request: PageRequest, public_id: str) -> HttpResponse:
    """Everybody who works on a batch: pace, gold, agreement with the others, reliability, and what stands out."""
    return render(request, "dashboards/quality.html", quality_of(request, public_id))


def quality_of(request: PageRequest, public_id: str, *, named: bool = True) -> dict[str, Any]:
    """The context of the page Quality. named: people by their names for those who may read them, else pseudonyms."""
    actor = authorization.actor(request)
    batch = authorization.batch(actor, public_id, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, batch.project)
    sees = visibility.may_see_agreement(actor.person, batch)
    context: dict[str, Any] = {
        "batch": batch,
        "project": batch.project,
        "sees": sees,
        "why_not": "",
        "named": Permission.SET_UP in may,
    }
    who = reader_of(request, batch.project)
    if sees and batch.pk in who.sight.without_people:
        context["why_not"] = visibility.why_no_names()
    elif sees:
        stored_snapshots = snapshots.views_of_batches(
            [batch], ("agreement", "quality", "learning"), now=timezone.now()
        )
        agreement_snapshot, quality_snapshot = (
            stored_snapshots[batch.pk, "agreement"],
            stored_snapshots[batch.pk, "quality"],
        )
        people = _people(
            quality_snapshot.data,
            agreement_snapshot.data,
            names_of(batch.project, may if named else frozenset()),
        )
        rows = Membership.objects.filter(project=batch.project)
        pseudonyms = dict(rows.values_list("person_id", "pseudonym"))
        # The page is ordered by name and files are by pseudonym: in both, a figure has the same number.
        keys = sorted((row["key"] for row in people), key=int)
        numbers = {key: number for number, key in enumerate(keys, start=1)}
        for number, row in enumerate(people, start=1):
            row["anchor"] = f"#person-{number}"
            pseudonym = pseudonyms.get(int(row["key"]), "")
            _link_items(who, batch, pseudonym, row)
            _link_labels(
                who,
                batch,
                pseudonym,
                row,
                quality_snapshot.data["measure"] if quality_snapshot.data is not None else "",
            )
            row["right"] = qualification.share_in_words(batch, row["gold"]) if row["gold"] else ""
            row["confusion"] = _confusion(numbers[row["key"]], row)
        note = _note_of_quality(
            _first_statistic(agreement_snapshot.data), any(row["accuracy"] is None for row in people)
        )
        table = work_tables.people(people, note)
        without_gold = _without_gold([batch], leads=Permission.SET_UP in may)
        curve = stored_snapshots[batch.pk, "learning"].data
        curves = paper_figures.learning(curve) if curve is not None else []
        measures = agreement_snapshot.data["measures"] if agreement_snapshot.data is not None else []
        labels = (
            paper_figures.label_distribution(
                measures[0],
                curve["decided"] if curve else None,
                lambda label: _address_of_label(who, batch, measures[0]["name"], label, without_gold),
                lambda ids: _address_of_items(batch, ids),
            )
            if measures
            else None
        )
        curves = [*([labels] if labels is not None else []), *curves]
        context |= {"shown": quality_snapshot, "people": people, "table": table, "charts": curves}
        context["lacking"] = lacking_habits(people)
        confusions = [row["confusion"] for row in people]
        context |= figure_gallery(request, "quality", public_id, [table, *curves, *confusions])
    return context


def _confusion(number: int, row: Mapping[str, Any]) -> Figure | None:
    """The estimated label confusion of a person; None where there is none."""
    if not row["confusion"]:
        return None
    return work_tables.confusion(number, row["name"], row["labels"], row["confusion"], row["seen"])


def _link_items(who: Reader, batch: Batch, pseudonym: str, row: dict[str, Any]) -> None:
    """Add to a person's row the addresses of their responses, and of the items that they skipped for each reason.

    Whoever reads the page may know who answered which item.
    """
    by = {"person": pseudonym} if pseudonym else {}
    row["items_address"] = complete_url(who, batch=batch, **by)
    row["skipped_address"] = complete_url(who, batch=batch, **by, skipped=ANY)
    for habit in row["habits"]:
        habit["number"] = len(habit.get("items", []))
        habit["address"] = _address_of_items(batch, habit.get("items", []))
    under_review = {item for habit in row["raised"] for item in habit.get("items", [])}
    row["review"] = len(under_review) or len(row["raised"])
    row["review_address"] = _address_of_items(batch, sorted(under_review)) or row["anchor"]
    row["skips"] = [
        (reason, times, complete_url(who, batch=batch, **by, skipped=reason or ANY))
        for reason, times in row["skips"]
    ]


def _link_labels(who: Reader, batch: Batch, pseudonym: str, row: dict[str, Any], measure: str) -> None:
    """Add to each habit that is about a label the address of the person's responses with it."""
    for habit in row["habits"]:
        label = habit.get("label", "")
        chosen = f"{measure}{SEPARATOR}{label}"
        is_listed = pseudonym and measure and label
        habit["label_address"] = (
            complete_url(who, batch=batch, person=pseudonym, label=chosen) if is_listed else ""
        )


def _address_of_items(batch: Batch, items: Sequence[str]) -> str:
    """The address of these items; "" for none, and for more than a selection can name."""
    return explorer_url(batch.project, batch=batch, item=list(items)) if 0 < len(items) <= MOST_VALUES else ""


def _note_of_quality(statistic: str, has_unlinked: bool) -> str:
    """What has to be known to read the table of people."""
    sentences = [
        gettext(
            "Seconds per item: median of active time. Gold accuracy: share of gold items answered correctly."
        ),
        gettext(
            "If times differ, seconds per item has an interval from {fewest} timed items on, items per hour from 2 on."
        ).format(fewest=FEWEST_FOR_MEDIAN),
        gettext(
            "Agreement with others: {statistic} over all pairs with a response of another annotator. Interval: "
            "bootstrap over items."
        ).format(statistic=statistic)
        if statistic
        else "",
        gettext(
            "Reliability: probability that the next label is correct, estimated with the Dawid-Skene model. It cannot "
            "detect mistakes that all annotators share. Its interval takes the estimated labels as known. "
            "Intervals: 95 %."
        ),
        gettext(
            "No reliability is shown for annotators with too few shared items: the model needs three annotators who "
            "share items."
        )
        if has_unlinked
        else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _lacks_data(habit: Mapping[str, Any]) -> bool:
    return getattr(habit["sentence"], "code", "") in LACKING


def lacking_habits(people: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What the page says once of habits without enough data: name, what is needed, and people with how much they have."""
    lines: dict[str, list[str]] = {}
    for row in people:
        for habit in filter(_lacks_data, row["all_habits"]):
            sentence = habit["sentence"]
            whose = gettext("{name} (n = {n})")
            if sentence.code == TOO_FEW_OF_OTHERS.code:
                whose = gettext("{name} (others: n = {n})")
            person = whose.format(name=row["name"], n=sentence.values["items"])
            lines.setdefault(habit["kind"], []).append(person)
    return [
        {
            "name": gettext(HABITS[kind]),
            "needed": gettext(NEEDED[kind]).format(fewest=FEWEST),
            "people": ", ".join(whose),
        }
        for kind, whose in lines.items()
    ]


def _first_statistic(agreement_data: dict[str, Any] | None) -> str:
    if agreement_data is None or not agreement_data["measures"]:
        return ""
    first = agreement_data["measures"][0]
    return f"{display_text.measure(first['name'])}, {display_text.statistic(first['statistic'])}"


def _people(
    quality_data: dict[str, Any] | None, agreement_data: dict[str, Any] | None, names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Everybody's figures for the table, by name; their reliability and agreement on the first measure."""
    if quality_data is None:
        return []
    agreeing = {
        entry["person"]: entry
        for entry in (
            agreement_data["measures"][0]["people"]
            if agreement_data is not None and agreement_data["measures"]
            else ()
        )
    }
    reliable = quality_data["reliability"][0] if quality_data["reliability"] else None
    rows = []
    for key, entry in quality_data["people"].items():
        with_others = agreeing.get(key)
        person = reliable["people"].get(key) if reliable is not None else None
        habits = [{**habit, "name": gettext(HABITS[habit["kind"]])} for habit in entry["habits"]]
        rows.append(
            {
                **entry,
                "key": key,
                "name": study_figures.person_name(names, key),
                "hourly": 3600 * entry["timed"] / entry["seconds"] if entry["seconds"] else None,
                "gold": proportion(*entry["gold"]) if entry["gold"] else None,
                "agreement": study_figures.estimate(
                    with_others, agreement_data["measures"][0]["statistic"], with_others["items"]
                )
                if with_others and agreement_data is not None
                else None,
                "labelled": person["labels"] if person else 0,
                "habits": [habit for habit in habits if not _lacks_data(habit)],
                "all_habits": habits,
                "raised": [habit for habit in habits if habit["raised"]],
                "accuracy": person["accuracy"] if person else None,
                "accuracy_ends": (person.get("low"), person.get("high")) if person else (None, None),
                "labels": list(map(display_text.shown, reliable["labels"]))
                if reliable is not None and person
                else [],
                "confusion": person["confusion"] if person else [],
                "seen": person["seen"] if person else [],
            }
        )
    return sorted(rows, key=lambda row: (row["name"].casefold(), row["name"]))
