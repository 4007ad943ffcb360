"""Responses of another tool: upload a file, check people, labels and times, then import."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import ngettext

from annotation import access, uploads
from annotation.forms.imports import LICENCES
from annotation.forms.transfer import MappingForm, ResponsesFileForm, posted_mapping
from annotation.models import Project, Source, Upload
from annotation.refusals import Refused
from annotation.roles import Permission
from annotation.transfer import responses
from annotation.transfer.mapping import ImportMapping, name_of
from annotation.transfer.responses import Preview
from annotation.views.importing import shown_example
from annotation.views.pages import PageRequest, page, refusals_on, refusals_to
from tableqa.responses import TOOLS

MOST_ON_A_PAGE = 5_000
"""Responses that a page imports at once: a few seconds of work. More are imported in the background."""


@page("GET", "POST")
def import_responses(request: PageRequest, slug: str) -> HttpResponse:
    """Choose a tool and upload its file."""
    project = access.project(access.actor(request), slug, Permission.IMPORT)
    form = ResponsesFileForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        with refusals_on(form):
            file, by = form.cleaned_data["file"], request.user
            upload = uploads.keep(project=project, file=file, by=by, now=timezone.now())
            return redirect("responses_preview", project.slug, upload.public_id, form.cleaned_data["tool"])
    return render(request, "importing/responses_new.html", {"project": project, "form": form})


@page("GET", "POST")
def responses_preview(request: PageRequest, slug: str, public_id: str, tool: str) -> HttpResponse:
    """What an import would do, with everything that was guessed to correct; and the import."""
    project = access.project(access.actor(request), slug, Permission.IMPORT)
    upload = access.upload(project, public_id)
    with refusals_to(request):
        preview = _preview(request, project, upload, tool, ImportMapping())
        if request.method == "POST":
            mapping = posted_mapping(request.POST, preview)
            if request.POST.get("act") == "import":
                try:
                    if preview.is_sample:
                        job = responses.start(
                            project=project,
                            upload=upload,
                            tool=tool,
                            mapping=mapping,
                            by=request.user,
                            now=timezone.now(),
                        )
                        return redirect("job", job.public_id)
                    done = _written(request, project, upload, tool, mapping)
                except Refused as refused:
                    messages.error(request, refused.detail)
                else:
                    return _imported(request, done)
            preview = _preview(request, project, upload, tool, mapping)
        return render(request, "importing/responses_preview.html", _context(project, upload, preview))
    return redirect("import_responses", project.slug)


def _preview(
    request: PageRequest, project: Project, upload: Upload, tool: str, mapping: ImportMapping
) -> Preview:
    look = functools.partial(responses.look, most=MOST_ON_A_PAGE)
    return _run(look, request, project, upload, tool, mapping)


def _written(
    request: PageRequest, project: Project, upload: Upload, tool: str, mapping: ImportMapping
) -> Preview:
    done = _run(responses.write, request, project, upload, tool, mapping)
    uploads.forget([upload])
    return done


def _run(
    action: Callable[..., Preview],
    request: PageRequest,
    project: Project,
    upload: Upload,
    tool: str,
    mapping: ImportMapping,
) -> Preview:
    """Look at the upload, or write it. Raises Refused without folders of the server."""
    with uploads.on_disk(upload) as files:
        try:
            return action(
                project=project,
                path=files.questions,
                tool=tool,
                mapping=mapping,
                by=request.user,
                now=timezone.now(),
            )
        except Refused as refused:
            raise Refused(refused.code, files.shown(refused.detail)) from None


def _imported(request: PageRequest, done: Preview) -> HttpResponse:
    number = done.imported
    text = ngettext(
        "{number} response was imported. Annotators: {annotators}. Items: {items}.",
        "{number} responses were imported. Annotators: {annotators}. Items: {items}.",
        number,
    )
    messages.success(request, text.format(number=number, annotators=len(done.people), items=done.items))
    assert done.batch is not None, "an import has a batch"  # nosec
    return redirect("batch", done.batch.public_id)


def _context(project: Project, upload: Upload, preview: Preview) -> dict[str, object]:
    available = responses.known_task_types(project)
    key = preview.mapping.task_type
    new_name = key if key not in available else name_of(Path(upload.name).stem, available)
    return {
        "project": project,
        "upload": upload,
        "tool": TOOLS[preview.tool].title,
        "preview": preview,
        "form": MappingForm(preview=preview, known=available, new_name=new_name),
        "licences": LICENCES,
        "sources": Source.objects.ready().filter(project=project).values_list("name", flat=True).distinct(),
        "examples": [shown_example(example) for example in preview.examples],
    }
