"""How models do on a release: the evaluations that are kept, side by side, and the form for another one."""

import contextlib
import io
import zipfile
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.http import urlencode
from django.utils.translation import gettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.charts import list_tables
from annotation.charts.figure import Figure
from annotation.models import Job, ModelRequest, Release
from annotation.models.batch_options import budget
from annotation.platform.refusals import ActionRefused
from annotation.queue import metering
from annotation.releases.model_evaluation import runs
from annotation.releases.model_evaluation.report import FORMATS, MOST_MODELS, Report, format_report
from annotation.web.forms.releases import EvaluateForm
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.figure_subjects import about, of_release
from annotation.web.views.pages import PageRequest, away_from_releases, page, paginate, refusals_on
from tableqa.writers.report_tables import as_csv

AT_FIRST = 4
"""How many of the newest evaluations are shown where none were chosen."""
TYPES = {
    "text": "text/plain",
    "json": "application/json",
    "markdown": "text/markdown",
    "latex": "application/x-tex",
    "html": "text/html",
    "csv": "application/zip",
}


@page("GET", "POST")
def evaluations(request: PageRequest, public_id: str) -> HttpResponse:
    """The evaluations of a release, those that were chosen side by side, and the form for another one."""
    release = authorization.release(authorization.actor(request), public_id, Permission.RELEASE)
    if (barred := _redirect_if_barred(request, release)) is not None:
        return barred
    form = EvaluateForm(request.POST or None, request.FILES or None)
    estimate = None
    if form.is_valid():
        with refusals_on(form):
            estimate = _estimate(release, form)
            if estimate is None or "confirmed" in request.POST:
                estimate = None
                run = runs.start(release=release, by=request.user, now=timezone.now(), **form.cleaned_data)
                return redirect("job", run.public_id)
    chosen = _chosen_runs(request, release)
    context: dict[str, Any] = {
        "project": release.project,
        "release": release,
        "form": form,
        "estimate": estimate.in_words() if estimate is not None else "",
        "budget": budget.in_words(release.project.model_budget) if release.project.model_budget else "",
        "used": metering.usage(ModelRequest.objects.filter(project=release.project)) if estimate else None,
        "runs": paginate(request, runs.runs(release)),
        "runs_table": _runs_table(release),
        "chosen": {run.public_id for run in chosen},
        "most": MOST_MODELS,
        "downloads": _downloads(release, chosen) if chosen else (),
        "why_not": "",
    }
    report = None
    if chosen:
        try:
            report = runs.report(release, chosen)
        except ActionRefused as refused:
            context["why_not"] = refused.detail
    context |= {"report": report, **_gallery(request, release, report)}
    return render(request, "evaluating/evaluations.html", context)


@page("GET")
def robustness(request: PageRequest, public_id: str) -> HttpResponse:
    """The chart of robustness by perturbation, from the newest evaluations: a part of the page of the release."""
    authorization.release(authorization.actor(request), public_id, Permission.RELEASE)
    evaluations_page = f"{reverse('evaluations', args=[public_id])}#figure-robustness"
    if not request.htmx:
        return redirect(evaluations_page)
    context = report_of(request, public_id)
    gallery = context.get("figure_gallery")
    chart = gallery.by_name.get("robustness") if gallery is not None else None
    more = {"chart": chart, "evaluations_page": evaluations_page}
    return render(request, "evaluating/_robustness.html", {**context, **more})


def report_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures; nothing for people who may not read them now."""
    release = authorization.release(authorization.actor(request), public_id, Permission.RELEASE)
    if release.ready_at is None or visibility.has_open_work(request.user, release.project):
        return {}
    report, chosen = None, _chosen_runs(request, release)
    if chosen:
        with contextlib.suppress(ActionRefused):
            report = runs.report(release, chosen)
    return _gallery(request, release, report)


def _gallery(request: PageRequest, release: Release, report: Report | None) -> dict[str, Any]:
    figures = [] if report is None else [*report.tables, *report.long_tables, *report.figures]
    if report is not None:
        model = f", model {next(iter(report.evaluations))}" if len(report.evaluations) == 1 else ""
        figures = about(of_release(release, "evaluations", model), figures)
    return figure_gallery(request, "evaluations", release.public_id, [_runs_table(release), *figures])


def _runs_table(release: Release) -> Figure | None:
    """All evaluations of a release, without the names of their authors."""
    return list_tables.evaluations(
        [
            {
                "model": run.ids["name"],
                "state": run.get_state_display(),
                "origin": run.ids.get("predictor") or gettext("file"),
                "instances": run.result.get("instances"),
                "missing": run.result.get("missing"),
                "created": run.made_at,
                "sha256": run.result.get("predictions_sha256"),
            }
            for run in runs.runs(release)
        ]
    )


@page("GET")
def evaluations_download(request: PageRequest, public_id: str) -> HttpResponse:
    """The tables of the chosen evaluations as a file; CSV as an archive with a file for each table."""
    release = authorization.release(authorization.actor(request), public_id, Permission.RELEASE)
    if (barred := _redirect_if_barred(request, release)) is not None:
        return barred
    chosen, format = _chosen_runs(request, release), request.GET.get("format", "html")
    if not chosen or format not in FORMATS:
        messages.error(request, gettext("Choose at least one evaluation to download."))
        return redirect("evaluations", public_id)
    try:
        with translation.override(settings.LANGUAGE_CODE):  # a file is in no reader's language
            report = runs.report(release, chosen)
            content = _archive(report) if format == "csv" else format_report(report, format).encode()
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect("evaluations", public_id)
    response = HttpResponse(content, content_type=f"{TYPES[format]}; charset=utf-8")
    ending = "zip" if format == "csv" else FORMATS[format]
    name = f"{release.project.slug}-evaluation-{release.public_id}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _estimate(release: Release, form: EvaluateForm) -> metering.Estimate | None:
    """What the run that a form describes would use, None where it asks no language model."""
    data = form.cleaned_data
    return runs.estimate(release=release, name=data["name"], predictor=data.get("predictor") or "")


def _redirect_if_barred(request: PageRequest, release: Release) -> HttpResponse | None:
    """Where those are sent who annotate in an open batch, or who come before the release is ready."""
    if (away := away_from_releases(request, release.project)) is not None:
        return away
    return None if release.ready_at is not None else redirect("releases", release.project.slug)


def _chosen_runs(request: PageRequest, release: Release) -> list[Job]:
    """The runs that the address names, in the order in which they were made; the newest where it names none."""
    done = runs.runs(release).filter(state=Job.State.DONE)
    named = [public_id for public_id in request.GET.getlist("run") if "\0" not in public_id]
    selected = done.filter(public_id__in=named)[:MOST_MODELS] if named else done[:AT_FIRST]
    return list(selected)[::-1]


def _downloads(release: Release, chosen: list[Job]) -> list[tuple[str, str]]:
    """(format, address) of the files of what is shown."""
    address = reverse("evaluations_download", args=[release.public_id])
    runs = [("run", run.public_id) for run in chosen]
    return [(format, f"{address}?{urlencode([('format', format), *runs])}") for format in FORMATS]


def _archive(report: Report) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for sheet in [*report.sheets, *(figure.sheet for figure in report.figures)]:
            packed.writestr(f"{sheet.name}.csv", as_csv(sheet))
    return out.getvalue()
