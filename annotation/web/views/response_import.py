"""Responses of another tool: upload a file, check people, labels and times, then import."""

from pathlib import Path

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.background import uploads
from annotation.imports import response_import
from annotation.imports.field_mapping import ImportMapping, name_of
from annotation.imports.response_preview import Preview
from annotation.models import Job, Project, Source, Upload
from annotation.platform.refusals import ActionRefused
from annotation.web.forms.example_import import LICENCES
from annotation.web.forms.response_import import MappingForm, ResponsesFileForm, posted_mapping
from annotation.web.views import job_status
from annotation.web.views.example_import import shown_example
from annotation.web.views.pages import PageRequest, page, refusals_on
from tableqa.core.translation import translate_stored
from tableqa.readers.rejections import one_sentence

MOST_PROBLEMS = 10
"""Problems that a preview lists."""


@page("GET", "POST")
def import_responses(request: PageRequest, slug: str) -> HttpResponse:
    """Choose a tool and upload its file."""
    project = authorization.project(authorization.actor(request), slug, Permission.IMPORT)
    form = ResponsesFileForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        with refusals_on(form):
            file, by = form.cleaned_data["file"], request.user
            upload = uploads.keep(project=project, file=file, by=by, now=timezone.now())
            return redirect("responses_preview", project.slug, upload.public_id, form.cleaned_data["tool"])
    context = {
        "project": project,
        "form": form,
        "batches": project.batches.filter(opened_at__isnull=False, closed_at__isnull=True).order_by("-pk"),
    }
    return render(request, "importing/responses_new.html", context)


@page("GET", "POST")
def responses_preview(request: PageRequest, slug: str, public_id: str, tool: str) -> HttpResponse:
    """What an import would do, with everything that was guessed to correct; and the import.

    `?preview=` is the job that has read the file. A change starts another one.
    """
    project = authorization.project(authorization.actor(request), slug, Permission.IMPORT)
    upload = authorization.upload(project, public_id)
    mapping, only_look = ImportMapping(), True
    if "preview" in request.GET:
        previews = Job.objects.filter(kind=response_import.PREVIEW, ids__upload=upload.pk)
        job = get_object_or_404(previews, public_id=request.GET["preview"])
        if request.method != "POST":
            return _mapping_page(request, project, upload, job)
        if job.state == Job.State.DONE:
            mapping = posted_mapping(request.POST, Preview.from_data(job.result))
            only_look = request.POST.get("act") != "import"
    try:
        job = response_import.start(
            project=project,
            upload=upload,
            tool=tool,
            mapping=mapping,
            by=request.user,
            now=timezone.now(),
            only_look=only_look,
        )
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect("import_responses", project.slug)
    if not only_look:
        return redirect("job", job.public_id)
    address = reverse("responses_preview", args=[project.slug, upload.public_id, tool])
    return redirect(f"{address}?preview={job.public_id}")


def _mapping_page(request: PageRequest, project: Project, upload: Upload, job: Job) -> HttpResponse:
    template = "importing/responses_preview.html"
    context: dict[str, object] = {"project": project, "upload": upload, "state": ""}
    if (answer := job_status.until_finished(request, job, template, context)) is not None:
        return answer
    if job.state != Job.State.DONE:
        messages.error(request, translate_stored(job.error))
        return redirect("import_responses", project.slug)
    preview, available = Preview.from_data(job.result), response_import.known_task_types(project)
    key = preview.mapping.task_type
    new_name = key if key not in available else name_of(Path(upload.name).stem, available)
    context |= {
        "address": f"{request.path}?preview={job.public_id}",
        "preview": preview,
        "problems": [translate_stored(one_sentence(problem)) for problem in preview.problems[:MOST_PROBLEMS]],
        "form": MappingForm(preview=preview, task_types=available, new_name=new_name),
        "licences": LICENCES,
        "sources": Source.objects.ready().filter(project=project).values_list("name", flat=True).distinct(),
        "examples": [shown_example(example) for example in preview.examples],
    }
    return render(request, template, context)
