"""Where examples come from: a project's sources, one source, and an import from uploaded files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation import access, uploads, visibility
from annotation.forms.projects import ImportForm
from annotation.journeys import importing
from annotation.models import Example, Job, Project, Release, Source
from annotation.refusals import Refused
from annotation.roles import Permission
from annotation.views import tables
from annotation.views.pages import PageRequest, cut, page, refusals_on
from annotation.work import ancestry
from tableqa.operations import from_dict
from tableqa.readers import READERS


@page("GET")
def sources(request: PageRequest, slug: str) -> HttpResponse:
    """Every source that is whole, and the imports that are under way."""
    actor = access.actor(request)
    project = access.project(actor, slug, Permission.SEE_PROGRESS)
    under_way = Job.objects.filter(
        project=project, kind="import", state__in=[Job.State.QUEUED, Job.State.RUNNING]
    )
    context = {
        "project": project,
        "sources": cut(request, Source.objects.ready().filter(project=project).order_by("-pk")),
        "under_way": list(under_way.order_by("-pk")[:20]),
        "may_import": Permission.IMPORT in access.may(actor, project),
    }
    return render(request, "importing/sources.html", context)


@page("GET", "POST")
def import_new(request: PageRequest, slug: str) -> HttpResponse:
    """Upload a file of questions, and its tables, to be read in the background."""
    project = access.project(access.actor(request), slug, Permission.IMPORT)
    form = ImportForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        with refusals_on(form):
            return redirect("job", _started(request, project, form.cleaned_data).public_id)
    # Readers are callable, and templates call what they can.
    formats = [
        {"title": reader.title, "licence": reader.licence, "url": reader.url, "beside": reader.beside}
        for _, reader in sorted(READERS.items())
    ]
    return render(
        request, "importing/import_new.html", {"project": project, "form": form, "formats": formats}
    )


def _started(request: PageRequest, project: Project, given: dict[str, Any]) -> Job:
    """Keep the files, then start the import of them."""
    by, now = request.user, timezone.now()
    questions = uploads.keep(project=project, file=given["questions"], by=by, now=now)
    tables = given["tables"] and uploads.keep(project=project, file=given["tables"], by=by, now=now)
    return importing.start_import(
        project=project,
        reader=given["reader"],
        questions=questions,
        tables=tables,
        choices=importing.Choices(given["name"].strip(), given["split"], given["limit"], given["fields_of"]),
        by=by,
        now=now,
    )


@page("GET")
def source(request: PageRequest, public_id: str) -> HttpResponse:
    """Licence, credit and checksum of a source, and its questions."""
    source = access.source(access.actor(request), public_id)
    examples = Example.objects.filter(source=source).originals().order_by("position")
    context = {
        "project": source.project,
        "source": source,
        "format": gettext(READERS[source.reader].title) if source.reader in READERS else source.reader,
        "examples": cut(
            request, examples.only("public_id", "external_id", "question", "answers", "table_digest")
        ),
    }
    return render(request, "importing/source.html", context)


@page("GET")
def example(request: PageRequest, public_id: str) -> HttpResponse:
    """An example with everything that was made of its original, who made it, and the releases that hold it."""
    actor = access.actor(request)
    example = access.example(actor, public_id)
    project = example.source.project
    try:
        visibility.require_no_open_work(actor.person, project)
    except Refused as refused:
        messages.error(request, refused.detail)
        return redirect("source", example.source.public_id)
    releases = Release.objects.filter(project=project, ready_at__isnull=False).order_by("pk")
    root, left_out = ancestry.tree(example, list(releases))
    operations = [from_dict(operation) for operation in example.operations]
    context = {
        "project": project,
        "example": example,
        "root": root,
        "left_out": left_out,
        "table": tables.drawn(example.stored_table.table(), operations),
    }
    return render(request, "importing/example.html", context)
