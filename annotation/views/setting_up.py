"""A new project, a project's own page, and the guidelines that its annotators read."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation import access, visibility
from annotation.forms.projects import ProjectForm, RenameForm
from annotation.journeys import assigning, setting_up
from annotation.models import Batch, Membership, Project, Release, Source
from annotation.quality import inquiring
from annotation.roles import Permission
from annotation.views.pages import PageRequest, cut, kind_title, page, refusals_on
from annotation.work import gates, queue
from tasks.contract import TaskType, task_types

SHOWN = 5
"""Sources and releases on the project's page; their own pages have all of them."""


@page("GET", "POST")
def project_new(request: PageRequest) -> HttpResponse:
    """A new project, with the person who makes it as its first manager."""
    access.require_may_make_projects(access.actor(request))
    form = ProjectForm(request.POST or None, time_zone=request.user.time_zone)
    if form.is_valid():
        with refusals_on(form):
            project = setting_up.create_project(manager=request.user, now=timezone.now(), **form.cleaned_data)
            return redirect("project", project.slug)
    return render(request, "setting_up/project_new.html", {"form": form})


@page("GET")
def project(request: PageRequest, slug: str) -> HttpResponse:
    """The project at a glance: what there is to do for this person, then, for those who may, how it stands."""
    actor = access.actor(request)
    project = access.project(actor, slug)
    may = access.may(actor, project)
    context: dict[str, Any] = {"project": project, "may": {permission.value for permission in may}}
    if Permission.ANNOTATE in may:
        context["desk"] = _desk(request, project)
    if Permission.SEE_PROGRESS in may:
        context |= _overview(request, project, may)
    return render(request, "setting_up/project.html", context)


def _desk(request: PageRequest, project: Project) -> list[dict[str, Any]]:
    """The open batches with what is left in each for this person."""
    opened = Batch.objects.filter(project=project, opened_at__isnull=False, closed_at__isnull=True)
    batches = list(opened.order_by("opened_at", "pk"))
    left = queue.left_for(request.user, [batch.pk for batch in batches])
    after = gates.qualifications_ahead(request.user, batches)
    return [
        {
            "batch": batch,
            "title": kind_title(batch),
            "left": left[batch.pk],
            "after": after.get(batch.pk, ""),
        }
        for batch in batches
    ]


def _overview(request: PageRequest, project: Project, may: frozenset[Permission]) -> dict[str, Any]:
    batches = list(Batch.objects.filter(project=project).order_by("-pk"))
    kept = visibility.counts_kept_from(request.user, batches)
    progress = assigning.progress(batches)
    rows = [
        {
            "batch": batch,
            "title": kind_title(batch),
            "counts": None if batch.pk in kept else progress[batch.pk],
        }
        for batch in batches
    ]
    told = [batch for batch in batches if batch.pk not in kept]
    sums = {name: sum(progress[batch.pk][name] for batch in told) for name in TOTALS}
    # Rounds of calibration and qualifications are never decided: no item of theirs can be accepted.
    sums |= {name: sum(progress[batch.pk][name] for batch in told if batch.decides) for name in OF_WORK}
    sources = Source.objects.ready().filter(project=project)
    releases = Release.objects.filter(project=project, ready_at__isnull=False)
    overview = {
        "sums": sums,
        "batches": cut(request, rows),
        "sources": list(sources.order_by("-pk")[:SHOWN]),
        "sources_count": sources.count(),
        "releases": list(releases.order_by("-ready_at")[:SHOWN]),
        "releases_count": releases.count(),
        "people_count": Membership.objects.filter(project=project, removed_at__isnull=True).count(),
        "kinds": list(task_types().values()),
        "questions": inquiring.open_count(project) if Permission.SET_UP in may else 0,
    }
    return overview | {"first": _first_step(overview, may)}


TOTALS = ("places", "submitted", "adjudication", "excluded")
OF_WORK = ("items", "decided")


def _first_step(overview: dict[str, Any], may: frozenset[Permission]) -> str:
    """The one action that the page puts forward: what the project lacks, in the order in which things are done."""
    steps = (
        ("import", Permission.IMPORT, not overview["sources_count"]),
        ("batch", Permission.SET_UP, not overview["batches"].paginator.count),
        ("people", Permission.INVITE, overview["people_count"] < 2),
        ("release", Permission.RELEASE, overview["sums"]["decided"] and not overview["releases_count"]),
    )
    return next((name for name, permission, lacking in steps if lacking and permission in may), "")


def kind_or_404(key: str) -> TaskType:
    """The kind of annotation that an address names."""
    if key not in task_types():
        raise Http404(access.NOT_HERE)
    return task_types()[key]


@page("GET", "POST")
def project_rename(request: PageRequest, slug: str) -> HttpResponse:
    """Another name for the project, under the same address."""
    project = access.project(access.actor(request), slug, Permission.SET_UP)
    form = RenameForm(request.POST or None, project=project)
    if form.is_valid():
        with refusals_on(form):
            setting_up.rename_project(
                project=project, by=request.user, now=timezone.now(), **form.cleaned_data
            )
            messages.success(request, gettext("Saved. The short name in the URL is unchanged."))
            return redirect("project", project.slug)
    return render(request, "setting_up/rename.html", {"project": project, "form": form})
