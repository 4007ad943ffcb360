"""How often people fool the models, for people who create releases: a page of the project, and the same as CSV."""

import csv
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.assistance import fooling_rates
from annotation.models import Batch
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.pages import PageRequest, page


@page("GET")
def report(request: PageRequest, slug: str) -> HttpResponse:
    """Fooling rate and verified fooling rate per model, kind, person and week, for researchers and managers."""
    if request.GET.get("as") == "csv":
        return _every_group(request, slug)
    return render(request, "assigning/fooling.html", report_of(request, slug))


def report_of(request: PageRequest, slug: str) -> dict[str, Any]:
    """The context of the page."""
    project = authorization.project(authorization.actor(request), slug, Permission.RELEASE)
    looked, left_out = fooling_rates.of_project(project, request.user)
    figures = fooling_rates.figures(looked)
    context = {
        "project": project,
        "figures": figures,
        "left_out": left_out,
        "has_model": Batch.objects.filter(project=project).exclude(loop_model="").exists(),
    }
    return context | figure_gallery(request, "fooling", slug, figures)


def _every_group(request: PageRequest, slug: str) -> HttpResponse:
    project = authorization.project(authorization.actor(request), slug, Permission.RELEASE)
    looked, _ = fooling_rates.of_project(project, request.user)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-fooling.csv"'
    csv.writer(response, lineterminator="\r\n").writerows(fooling_rates.csv_rows(looked))
    return response
