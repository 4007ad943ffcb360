"""The page Agreement: every batch's agreement with what it still takes, and one batch taken apart.

Managers read names, others pseudonyms. Annotators of an open batch do not see its agreement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.charts import paper_figures, study_figures
from annotation.charts.figure import Figure
from annotation.explorer.item_access import Reader
from annotation.explorer.links import complete_url
from annotation.explorer.selection import BETWEEN, SEPARATOR
from annotation.models import Batch, Person, Project
from annotation.platform import display_text
from annotation.quality import snapshots
from annotation.quality.snapshots import SnapshotView
from annotation.templatetags.explorer import reader_of
from annotation.web.views.agreement_figures import figures_in_table
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.figure_subjects import about, of_batch
from annotation.web.views.pages import PageRequest, page, paginate
from annotation.web.views.reported_batches import compared_measures, names_of, opened_batches, started_batches
from tableqa.agreement.sample_size import Basis
from tableqa.data.own_columns import PREFIX
from tableqa.statistics.proportions import Proportion
from tableqa.writers.report_tables import NOTHING, Cell, Column, Sheet, count, text

USUAL = 0.05
"""The target precision (+/-) before one is entered."""


class WithinForm(forms.Form):
    """How narrow an interval is wanted."""

    within = forms.FloatField(
        label=gettext_lazy("How many items for an interval of ±"),
        min_value=0.005,
        max_value=0.5,
        widget=forms.NumberInput(attrs={"step": "0.005", "inputmode": "decimal"}),
    )


@page("GET")
def agreement_page(request: PageRequest, slug: str) -> HttpResponse:
    """Every batch's agreement with what it still takes, and one batch taken apart by week, source, pair and label."""
    return render(request, "dashboards/agreement.html", agreement_of(request, slug))


def agreement_of(request: PageRequest, slug: str, *, named: bool = True) -> dict[str, Any]:
    """The context of the page Agreement. named: people by their names for people who may read them, else pseudonyms."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, project)
    seen, hidden = opened_batches(reader_of(request, project))
    begun = started_batches(seen)
    waiting = [batch for batch in seen if batch.pk not in begun and compared_measures(batch)]
    measured = [batch for batch in seen if batch.pk in begun and compared_measures(batch)]
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
        "hidden": [batch.name for batch in hidden],
        "may_review": authorization.acts_on_items(actor, project),
        "waiting": waiting,
        "others": len(seen) - len(measured) - len(waiting),
        "chosen": chosen,
        "no_part": chosen is not None
        and (chosen.purpose != Batch.Purpose.WORK or chosen.set_aside_at is not None),
    }
    if chosen is not None:
        names = names_of(project, may if named else frozenset())
        context |= _batch_agreement(request, chosen, snapshot_by_batch[chosen.pk], names, within)
    overview = _overview_figure({batch: snapshot_by_batch[batch.pk] for batch in listed}, within)
    figures = [*context.get("charts", ()), context.get("with_others"), context.get("statistics")]
    of_chosen = [] if chosen is None else about(of_batch(chosen, "agreement"), figures)
    context["overview"] = overview
    return context | figure_gallery(request, "agreement", slug, [overview, *of_chosen])


def _batch_outside_study(project: Project, person: Person, public_id: str) -> Batch | None:
    """A batch that is no part of the study's agreement, such as a calibration round, where the address names it."""
    opened = Batch.objects.filter(project=project, opened_at__isnull=False)
    batch = opened.filter(public_id=public_id).first() if "\0" not in public_id else None
    if batch is None or batch.installed_task() is None or not visibility.may_see_agreement(person, batch):
        return None
    batch.project = project
    return batch if compared_measures(batch) else None


def _has_value(snapshot: SnapshotView) -> bool:
    return any(figure["value"] is not None for figure in (snapshot.data or {"figures": []})["figures"])


def _overview_figure(views: Mapping[Batch, SnapshotView], within: float) -> Figure | None:
    """The agreement of all batches of the page: a row for each measure, linked to the batch taken apart."""
    if not views:
        return None
    columns = (
        *study_figures.names("Batch", gettext("Measure"), gettext("Statistic")),
        Column(gettext("Value"), counted=gettext("Items")),
        Column(gettext("Raters")),
        *study_figures.names(
            gettext("Items needed for ± {within}").format(within=display_text.number(f"{within:g}"))
        ),
    )
    title, note = gettext("Agreement by batch"), ""
    lines = [line for batch, snapshot in views.items() for line in _overview_lines(batch, snapshot, within)]
    if any(line[-1].text == NOTHING != line[-2].text for line in lines):
        note = gettext(
            "–: not enough data yet for this estimate. Follow the link of the batch for the reason."
        )
    return Figure("overview", title, Sheet("overview", title, columns, tuple(lines), note))


def _overview_lines(batch: Batch, snapshot: SnapshotView, within: float) -> Iterator[tuple[Cell, ...]]:
    """A line for each measure of the batch: its first statistic, and how many more items it takes."""
    query: dict[str, Any] = {"batch": batch.public_id, "within": within}
    if snapshot.data is None:
        reason = display_text.show(snapshot.failed) if snapshot.failed else gettext("being computed")
        name = Cell(batch.name, address=f"?{urlencode(query)}#apart")
        yield (name, text(reason), *[text(NOTHING)] * 4)
        return
    by_name = {(entry["measure"], entry["statistic"]): entry for entry in snapshot.data["figures"]}
    for entry in snapshot.data["measures"]:
        figure = by_name[entry["name"], entry["statistic"]]
        yield (
            Cell(batch.name, address=f"?{urlencode({**query, 'measure': figure['measure']})}#apart"),
            text(display_text.measure(figure["measure"])),
            text(display_text.statistic(figure["statistic"])),
            study_figures.estimate(figure, figure["statistic"]),
            count(figure["raters"]),
            text(display_text.show(_items_needed(entry["basis"], within))),
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
    title = display_text.measure(measure["name"])
    columns = {} if who.sight.is_asked else {column["name"]: column for column in measure.get("columns", ())}
    column = columns.get(request.GET.get("column", ""), next(iter(columns.values()), None))
    charts = [
        study_figures.agreement_over_weeks(
            [(f"{title}, {statistic}", measure["statistic"], measure["weeks"])]
        ),
        study_figures.agreement_by_source(measure, statistic),
        study_figures.agreement_by_column(measure, statistic, column) if column else None,
        None
        if nameless
        else study_figures.pairs(measure, display_text.statistic(measure["pair_statistic"]), names),
        study_figures.confusion(measure, lambda *labels: _items(who, batch, measure["name"], *labels)),
        paper_figures.label_agreement(measure),
    ]
    return {
        "shown": snapshot,
        **figures_in_table(snapshot.data["figures"]),
        "measure": measure,
        "measured": title,
        "columns": [(name, name.removeprefix(PREFIX)) for name in columns],
        "column": column["name"] if column else "",
        "measures": [(entry["name"], display_text.measure(entry["name"])) for entry in measures],
        "statistic": statistic,
        "needed": Basis(**measure["basis"]).needed(within),
        "charts": [entry for entry in charts if entry is not None],
        "with_others": None if nameless else _with_others(measure, statistic, names),
    }


def _items(who: Reader, batch: Batch, measure: str, label: str, other_label: str) -> str:
    """The address of the items to which two people gave these labels; "" where a label cannot be written in one."""
    if not (label and other_label) or BETWEEN in label + other_label:
        return ""
    return complete_url(who, batch=batch, pair=f"{measure}{SEPARATOR}{label}{BETWEEN}{other_label}")


def _with_others(measure: Mapping[str, Any], statistic: str, names: Mapping[str, str]) -> Figure | None:
    """Each person's agreement with all others, the lowest first; None without a shared item."""
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
