"""Archiving, restoring and deleting a project, a batch or a source: one page that says what each of them does."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.explorer.links import url_of_batches
from annotation.models import Job, Project, Release
from annotation.releases import original_examples
from annotation.web.views.pages import PageRequest, page, refusals_to
from annotation.workflow import archiving, deletion
from tableqa.core.canonical_json import canonical


@page("GET", "POST")
def archive_project(request: PageRequest, slug: str) -> HttpResponse:
    """Archive, restore or delete a project."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    context = {"project": project, "used_by": "", "export": reverse("study", args=[slug]) + "?download"}
    return _page(request, project, reverse("project", args=[slug]), deletion.delete_project, context)


@page("GET", "POST")
def archive_batch(request: PageRequest, public_id: str) -> HttpResponse:
    """Archive, restore or delete a batch."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    context = {
        "batch": batch,
        "project": batch.project,
        "used_by": deletion.batch_hindrance(batch),
        "export": url_of_batches(batch.project, [batch]),
        "releases": [row for row in _releases(batch.project) if batch.public_id in row.batch_ids],
    }
    return _page(request, batch, reverse("batch", args=[public_id]), deletion.delete_batch, context)


@page("GET", "POST")
def archive_source(request: PageRequest, public_id: str) -> HttpResponseBase:
    """Archive, restore or delete a source; with `?download`, a file of its examples that the reader `own` reads."""
    actor = authorization.actor(request)
    source = authorization.source(actor, public_id)
    authorization.project(actor, source.project.slug, Permission.SET_UP)
    if "download" in request.GET:
        lines = (f"{canonical(each.to_dict())}\n" for _, each in original_examples.of_sources([source]))
        file = StreamingHttpResponse(lines, content_type="application/x-ndjson")
        file["Content-Disposition"] = f'attachment; filename="source-{public_id}.jsonl"'
        return file
    context = {
        "project": source.project,
        "used_by": deletion.source_hindrance(source),
        "export": "?download",
        "releases": [row for row in _releases(source.project) if source.name in row.source_names],
    }
    return _page(request, source, reverse("source", args=[public_id]), deletion.delete_source, context)


def _releases(project: Project) -> QuerySet[Release]:
    return Release.objects.filter(project=project, ready_at__isnull=False).order_by("number")


def _page(
    request: PageRequest,
    thing: archiving.Archivable,
    back: str,
    delete: Callable[..., Job],
    context: dict[str, Any],
) -> HttpResponse:
    act, now, kind = request.POST.get("act"), timezone.now(), type(thing).__name__.lower()
    with refusals_to(request):
        if act == "archive":
            archiving.archive(thing=thing, by=request.user, now=now)
            messages.success(request, gettext("{name} is archived.").format(name=thing.name))
            return redirect(request.path)
        if act == "restore":
            archiving.restore(thing=thing, by=request.user, now=now)
            messages.success(request, gettext("{name} is restored.").format(name=thing.name))
            return redirect(back)
        if act == "delete":
            reason = request.POST.get("reason", "")
            job = delete(**{kind: thing}, reason=reason, by=request.user, now=now)
            if kind != "project":
                return redirect("job", job.public_id)
            messages.success(request, gettext("{name} is being deleted.").format(name=thing.name))
            return redirect("home")
    context |= {"thing": thing, "kind": kind, "back": back}
    return render(request, "setting_up/archive.html", {**context, "longest": deletion.LONGEST_REASON})
