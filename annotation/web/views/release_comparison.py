"""Two releases of a project beside each other; the address names both, so that it can be cited."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_noop

from annotation.access import authorization, visibility
from annotation.charts import record_tables
from annotation.charts.fields import Field, table, text_field
from annotation.charts.figure import Figure
from annotation.charts.study_figures import estimate
from annotation.explorer import item_access, querysets
from annotation.explorer.links import explorer_url
from annotation.models import Release
from annotation.platform import display_text
from annotation.releases import creation, release_comparison
from annotation.releases.manifest import Manifest
from annotation.releases.release_comparison import Count, Pair
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.figure_subjects import about, of_release
from annotation.web.views.pages import PageRequest, away_from_releases, page
from tableqa.releases.former_wordings import note_of
from tableqa.writers.report_tables import NOTHING, Cell, Column, Sheet, count, text

COUNTS = {
    "responses": gettext_noop("responses"),
    "respondents": gettext_noop("annotators"),
    "answered_items": gettext_noop("items with a response"),
    "undecided_items": gettext_noop("undecided"),
    "annotations": gettext_noop("revisions"),
    "annotators": gettext_noop("annotators"),
    "simulated_annotators": gettext_noop("simulated annotators"),
    "items": gettext_noop("items with a revision"),
    "accepted": gettext_noop("items accepted"),
    "excluded": gettext_noop("excluded"),
    "adjudicated": gettext_noop("adjudicated"),
    "outcomes": gettext_noop("outcomes"),
    "contradicted": gettext_noop("contradicted"),
}
"""The counts of a manifest in words."""


@page("GET")
def compare_releases(request: PageRequest, public_id: str) -> HttpResponse:
    """A release beside an earlier one: that of `?with=`, else the last before it."""
    after = authorization.release(authorization.actor(request), public_id)
    if after.ready_at is None:
        raise Http404(authorization.NOT_HERE)
    if (away := away_from_releases(request, after.project)) is not None:
        return away
    others = earlier_first(after)
    if not others:
        return redirect("release", public_id)
    before = _before(request, others)
    context = {
        "project": after.project,
        "before": before,
        "after": after,
        "others": others,
        **_figures(request, before, after),
    }
    return render(request, "releasing/compare.html", context)


def figures_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures; nothing for people who may not read the releases now."""
    after = authorization.release(authorization.actor(request), public_id)
    if visibility.has_open_work(request.user, after.project):
        return {}
    others = earlier_first(after)
    return _figures(request, _before(request, others), after) if others and after.ready_at is not None else {}


def earlier_first(release: Release) -> list[Release]:
    """The other finished releases of the project: first those before it, the last of them first, then later ones."""
    others = Release.objects.filter(project=release.project, ready_at__isnull=False).exclude(pk=release.pk)
    return sorted(others.order_by("-pk"), key=lambda other: other.pk > release.pk)


def _before(request: PageRequest, others: Sequence[Release]) -> Release:
    named = request.GET.get("with", others[0].public_id)
    for other in others:
        if other.public_id == named:
            return other
    raise Http404(authorization.NOT_HERE)


def _figures(request: PageRequest, before: Release, after: Release) -> dict[str, Any]:
    pairs = release_comparison.agreement(*_manifests(before, after))
    equal = [pair for pair in pairs if pair.is_equal]
    examples = _examples(request, before, after)
    changes = record_tables.file_changes("changes", gettext("Changes by file"), examples["files"])
    raw_changes = record_tables.file_changes(
        "raw-changes", gettext("Changes of raw records by file"), examples["raw_files"]
    )
    counts = _counts(release_comparison.counts(*_manifests(before, after)), before, after)
    changed_figure = _pairs("agreement", [pair for pair in pairs if not pair.is_equal], before, after)
    equal_figure = _pairs("equal", equal, before, after)
    subject = of_release(after, "compare", f" compared with {before.name}")
    figures = about(subject, [counts, changed_figure, equal_figure, changes, raw_changes])
    return {
        **examples,
        "changes_table": changes,
        "raw_changes_table": raw_changes,
        "counts": counts,
        "agreement": changed_figure,
        "equal": equal_figure,
        "number_equal": len(equal),
        **figure_gallery(request, "compare", after.public_id, figures),
    }


def _manifests(before: Release, after: Release) -> tuple[Manifest, Manifest]:
    return Manifest.of(before.manifest), Manifest.of(after.manifest)


def _examples(request: PageRequest, before: Release, after: Release) -> dict[str, Any]:
    """The records that differ, by file, with links to items; that they are too many, where they are."""
    manifests = _manifests(before, after)
    if release_comparison.is_large(*manifests):
        return {"is_large": True, "files": [], "raw_files": []}
    folders = (creation.folder(before), creation.folder(after))
    difference = release_comparison.difference(*folders, (before.digest, after.digest))
    who = item_access.reader(authorization.actor(request), after.project)
    listed = querysets.listed_examples(who, release_comparison.examples(difference))

    def address(examples: Sequence[str]) -> str:
        nearest = next((id for id in examples if id in listed), "")
        return nearest and explorer_url(after.project, example=nearest)

    formats = [manifest.every_format for manifest in manifests]
    files, raw_files = release_comparison.files(difference, set(formats[0]) & set(formats[1]), address)
    return {
        "is_large": False,
        "files": files,
        "raw_files": raw_files,
        "not_compared": ", ".join(sorted(set(formats[0]) ^ set(formats[1]))),
    }


def _counts(counts: Iterable[Count], before: Release, after: Release) -> Figure:
    rows = tuple(
        (
            text(gettext(COUNTS.get(row.name, row.name))),
            _linked_count(row.name, row.before, before),
            _linked_count(row.name, row.after, after),
            _signed_count(row.after - row.before),
        )
        for row in counts
        if row.before or row.after
    )
    columns = (
        Column(gettext("Count"), numeric=False),
        Column(before.name),
        Column(after.name),
        Column(gettext("Difference")),
    )
    title = gettext("Responses, items and people")
    return Figure("counts", title, Sheet("counts", title, columns, rows))


def _linked_count(name: str, value: int, release: Release) -> Cell:
    """The count of a release, with the address of its items where they are a selection."""
    cell = count(value)
    if not value or name not in FILTERS:
        return cell
    return replace(cell, address=explorer_url(release.project, release=release.public_id, **FILTERS[name]))


FILTERS: Final[dict[str, dict[str, Any]]] = {
    "accepted": {"state": "accepted"},
    "excluded": {"state": "excluded"},
    "adjudicated": {"adjudicated": "yes"},
    "responses": {"part": "annotations"},
    "answered_items": {"part": "annotations"},
    "undecided_items": {"part": "undecided"},
    "outcomes": {"part": "outcomes"},
    "contradicted": {"part": "contradicted"},
}
"""Selections of the items that the counts of a release are about, beside the release."""


def _pairs(name: str, pairs: Sequence[Pair], before: Release, after: Release) -> Figure | None:
    """A table of figures, each with its interval and n; None without any."""
    items = gettext("Items")
    fields = (
        text_field(gettext("Batch"), lambda pair: pair.batch),
        text_field(gettext("Measure"), lambda pair: display_text.measure(pair.measure)),
        text_field(gettext("Statistic"), lambda pair: display_text.statistic(pair.statistic)),
        Field(Column(gettext("Value"), before.name, counted=items), lambda pair: _figure(pair.before)),
        Field(Column(gettext("Value"), after.name, counted=items), lambda pair: _figure(pair.after)),
    )
    is_equal = name == "equal"
    title = gettext("Equal figures of agreement") if is_equal else gettext("Changed figures of agreement")
    return table(name, title, fields, pairs)


def _figure(figure: Mapping[str, Any] | None) -> Cell:
    if figure is None:
        return text(NOTHING)
    return estimate({**figure, "reason": note_of(figure["reason"])}, figure["statistic"])


def _signed_count(change: int) -> Cell:
    sign = "+" if change > 0 else "\N{MINUS SIGN}" if change < 0 else ""
    return Cell(f"{sign}{display_text.grouped(abs(change))}", float(change))
