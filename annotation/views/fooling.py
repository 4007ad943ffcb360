"""How often people fool the models, for those who make releases: a page of the project, and the same as CSV."""

from __future__ import annotations

import csv

from django.http import HttpResponse
from django.shortcuts import render

from annotation import access
from annotation.help import fooling
from annotation.roles import Permission
from annotation.views.pages import PageRequest, page


@page("GET")
def report(request: PageRequest, slug: str) -> HttpResponse:
    """Fooling rate and verified fooling rate per model, kind, person and week, for researchers and managers."""
    actor = access.actor(request)
    project = access.project(actor, slug, Permission.RELEASE)
    looked, left_out = fooling.of_project(project, actor.person)
    if request.GET.get("as") == "csv":
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{project.slug}-fooling.csv"'
        csv.writer(response, lineterminator="\r\n").writerows(fooling.csv_rows(looked))
        return response
    context = {
        "project": project,
        "tables": fooling.tables(looked) if looked else [],
        "states": fooling.columns(looked),
        "left_out": left_out,
    }
    return render(request, "assigning/fooling.html", context)
