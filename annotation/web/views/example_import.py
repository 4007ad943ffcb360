"""Where examples come from: a project's sources, one source, and an import from uploaded files."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

import tableqa
from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.background import jobs, uploads
from annotation.charts import list_tables, record_tables
from annotation.imports import example_import, file_preview
from annotation.models import Example, Job, Project, Release, Source, Upload
from annotation.models.batch_options.named_values import NamedTextsField
from annotation.platform.refusals import ActionRefused
from annotation.queue import ancestry
from annotation.releases import restoration
from annotation.web.forms.example_import import (
    ABOUT_SOURCE,
    LICENCES,
    SEPARATORS,
    ChoicesForm,
    UploadForm,
    chosen_columns,
    chosen_options,
)
from annotation.web.views import job_status, tables
from annotation.web.views.figure_gallery import figure_gallery, part_of_list
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on, refusals_to
from tableqa.data.answers import in_words
from tableqa.operations import from_dict
from tableqa.readers import READERS
from tableqa.readers.preview import first_rows


@page("GET")
def sources(request: PageRequest, slug: str) -> HttpResponse:
    """Every source that is whole, and the imports that are under way."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    under_way = jobs.under_way(project=project, kind="import")
    page = paginate(request, _ready_sources(project))
    context = {
        "project": project,
        "sources": page,
        **figures_of(request, project, page),
        "under_way": list(under_way.order_by("-pk")[:20]),
        "may_import": Permission.IMPORT in authorization.permissions_in(actor, project),
        "archived": Source.objects.ready().filter(project=project, archived_at__isnull=False).order_by("-pk"),
    }
    return render(request, "importing/sources.html", context)


def _ready_sources(project: Project) -> QuerySet[Source]:
    return Source.objects.current().filter(project=project).order_by("-pk")


def figures_of(
    request: PageRequest, project: Project, listed: Iterable[Source] | None = None
) -> dict[str, Any]:
    """The part of the page's context that holds its figures: these sources of the project, or all."""
    table = list_tables.sources(_ready_sources(project) if listed is None else listed)
    return {"sources_table": table, **figure_gallery(request, "sources", project.slug, [table])}


@page("GET", "POST")
def import_new(request: PageRequest, slug: str) -> HttpResponse:
    """Upload a file of questions, and its tables. A program that names the reader starts the import at once."""
    project = authorization.project(authorization.actor(request), slug, Permission.IMPORT)
    if "questions_upload" in request.POST:
        return _preview_of_slices(request, project)
    form = UploadForm(request.POST or None, request.FILES or None)
    at_once = ChoicesForm(request.POST) if "reader" in request.POST else None
    if form.is_valid() and (at_once is None or at_once.is_valid()):
        with refusals_on(form):
            questions, tables = _store_uploads(request, project, form.cleaned_data)
            if at_once is None:
                return redirect(_preview_url(project, questions, tables))
            choices = at_once.choices(at_once.cleaned_data["fields_of"])
            job = example_import.start_import(
                project=project,
                reader=at_once.cleaned_data["reader"],
                questions=questions,
                tables=tables,
                choices=choices,
                by=request.user,
                now=timezone.now(),
            )
            return redirect("job", job.public_id)
    # Readers are callable, and templates call what they can.
    formats = [
        {"title": reader.title, "licence": reader.licence, "url": reader.url, "beside": reader.beside}
        for _, reader in sorted(READERS.items())
    ]
    context = {
        "project": project,
        "form": form,
        "at_once": at_once,
        "formats": formats,
        "most": settings.MAX_IMPORT_BYTES // 2**20,
    }
    return render(request, "importing/import_new.html", context)


def _preview_of_slices(request: PageRequest, project: Project) -> HttpResponse:
    """Lead to the preview of files that a script has sent in slices."""
    sent = {
        name: authorization.upload(project, request.POST[f"{name}_upload"])
        for name in ("questions", "tables")
        if f"{name}_upload" in request.POST
    }
    try:
        for upload in sent.values():
            uploads.require_whole(upload)
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect("import_new", project.slug)
    return redirect(_preview_url(project, sent["questions"], sent.get("tables")))


def _store_uploads(
    request: PageRequest, project: Project, cleaned_data: dict[str, Any]
) -> tuple[Upload, Upload | None]:
    by, now = request.user, timezone.now()
    questions = uploads.keep(project=project, file=cleaned_data["questions"], by=by, now=now)
    tables = cleaned_data["tables"] and uploads.keep(
        project=project, file=cleaned_data["tables"], by=by, now=now
    )
    return questions, tables or None


def _preview_url(project: Project, questions: Upload, tables: Upload | None) -> str:
    url = reverse("import_preview", args=[project.slug, questions.public_id])
    return f"{url}?tables={tables.public_id}" if tables else url


@page("GET", "POST")
def import_preview(request: PageRequest, slug: str, public_id: str) -> HttpResponse:
    """The first examples of uploaded files, with everything that was detected to correct; and the import."""
    project = authorization.project(authorization.actor(request), slug, Permission.IMPORT)
    questions = authorization.upload(project, public_id)
    archive = authorization.upload(project, request.GET["tables"]) if "tables" in request.GET else None
    named = request.GET.get("preview", "").replace("\0", "")
    job = file_preview.of_file(questions, archive).filter(public_id=named).first()
    if job is not None and request.method != "POST":
        return _preview_page(request, job, questions, archive)
    sent, address = request.POST, _preview_url(project, questions, archive)
    by, now = request.user, timezone.now()
    files: dict[str, Any] = {"questions": questions, "tables": archive, "by": by, "now": now}
    try:
        if sent.get("act") == "restore":
            job = restoration.start_restore(project=project, upload=questions, by=by, now=now)
            return redirect("job", job.public_id)
        choice = _choice(sent)
        if sent.get("act") in ("import", "check"):
            is_previewed = job is not None and job.state == Job.State.DONE and job.ids["choice"] == choice
            preview = file_preview.result(job) if job and is_previewed else file_preview.choice_of(choice)
            form = ChoicesForm(sent, preview=preview)
            if form.is_valid():
                choices = form.choices(preview.fields if is_previewed else choice.get("named", {}))
                job = example_import.start_import(
                    project=project,
                    reader=form.cleaned_data["reader"],
                    choices=choices,
                    only_check=sent["act"] == "check",
                    choice=None if is_previewed else choice,
                    **files,
                )
                return redirect("job", job.public_id)
        typed = {name: str(text) for name, text in sent.items() if name != "csrfmiddlewaretoken"}
        job = file_preview.start(choice=choice, form=typed, **files)
    except (ActionRefused, ValidationError) as error:
        detail = error.detail if isinstance(error, ActionRefused) else " ".join(error.messages)
        messages.error(request, detail)
        return redirect("import_new", project.slug)
    return redirect(f"{address}{'&' if archive else '?'}preview={job.public_id}")


def _choice(sent: QueryDict) -> dict[str, Any]:
    """What a form was sent with that the preview depends on (`file_preview.read`)."""
    chosen = chosen_columns(sent)
    named = NamedTextsField(required=False).clean(sent.get("fields_of", ""))
    choice = {
        "reader": sent.get("reader", ""),
        "chosen": chosen,
        "named": named if chosen else {**named, **chosen_options(sent)},
    }
    return {name: value for name, value in choice.items() if value}


def _preview_page(request: PageRequest, job: Job, questions: Upload, archive: Upload | None) -> HttpResponse:
    """What a worker has read of uploaded files; until then the page asks again, by itself."""
    context: dict[str, Any] = {
        "project": job.project,
        "upload": questions,
        "address": _preview_url(job.project, questions, archive),
        "why_not": job.error,
        "state": "",
    }
    template = "importing/import_preview.html"
    if (answer := job_status.until_finished(request, job, template, context)) is not None:
        return answer
    if "release" in job.result:
        context |= {
            "summary": restoration.summary_of(job),
            "losses": [gettext(loss) for loss in restoration.LOSSES],
            "may_make_projects": authorization.may_make_projects(authorization.actor(request)),
        }
        return render(request, "importing/restore_preview.html", context)
    sent, preview = job.ids[file_preview.FORM], file_preview.result(job)
    about = {name: sent[name] for name in ABOUT_SOURCE if name in sent}
    form = ChoicesForm(sent if "act" in sent else None, initial=about, preview=preview)
    context |= {
        "form": form,
        "licences": LICENCES,
        "separators": SEPARATORS,
        "preview": preview,
        "losses": [gettext(loss) for loss in preview.losses],
        "format": gettext(READERS[preview.reader].title) if preview.reader in READERS else preview.reader,
        "examples": [shown_example(*read) for read in zip(preview.examples, preview.rows, strict=True)],
    }
    return render(request, template, context)


def shown_example(example: tableqa.Example, rows: int | None = None) -> dict[str, Any]:
    """An example for the preview, with the first rows of its table; `rows` of a table that has only these."""
    table = first_rows(example.table)
    rows = len(example.table.rows) if rows is None else rows
    return {
        "example": example,
        "answers": in_words(example.answers),
        "label": gettext("Table of example {id}").format(id=example.id),
        "table": tables.drawn(table),
        "rows": rows,
        "left_out": rows - len(table.rows),
    }


@page("POST")
def import_good_only(request: PageRequest, public_id: str) -> HttpResponse:
    """Import the records without a problem of an import that was refused, or of a check."""
    job = authorization.job(authorization.actor(request), public_id, Permission.IMPORT)
    with refusals_to(request):
        started = example_import.start_good_only(job=job, by=request.user, now=timezone.now())
        return redirect("job", started.public_id)
    return redirect("job", job.public_id)


@page("GET")
def import_rest(request: PageRequest, public_id: str) -> HttpResponseBase:
    """The records of an import that have a problem, each with the reason."""
    job = authorization.job(authorization.actor(request), public_id, Permission.IMPORT)
    upload = authorization.upload(job.project, job.result.get("rest", ""))
    if not upload.file.storage.exists(str(upload.file.name)):
        raise Http404(authorization.NOT_HERE)
    return FileResponse(upload.file.open("rb"), as_attachment=True, filename=upload.name)


@page("GET")
def source(request: PageRequest, public_id: str) -> HttpResponse:
    """Licence, credit and checksum of a source, and its questions."""
    actor = authorization.actor(request)
    source = authorization.source(actor, public_id)
    sight = visibility.visibility_of(actor, source.project)
    context = {
        "may_set_up": Permission.SET_UP in authorization.permissions_in(actor, source.project),
        "project": source.project,
        "source": source,
        "reports": example_import.reports_of(source, sight),
        "losses": [gettext(loss) for loss in example_import.losses_of(source)],
        "format": gettext(READERS[source.reader].title) if source.reader in READERS else source.reader,
        **figures_of_source(request, source),
    }
    return render(request, "importing/source.html", context)


def figures_of_source(request: PageRequest, source: Source) -> dict[str, Any]:
    """The part of the context of a source that holds its figure: the questions of the page."""
    examples = Example.objects.filter(source=source).originals().order_by("position")
    fields = ("public_id", "external_id", "question", "answers", "more", "table_digest")
    page_of_examples = paginate(request, examples.only(*fields))
    is_asked = visibility.visibility_of(authorization.actor(request), source.project).is_asked
    for example in page_of_examples:
        example.answer = "" if is_asked else in_words(example.gold)
    table = record_tables.questions(page_of_examples, part_of_list(page_of_examples))
    return {
        "examples": page_of_examples,
        "questions_table": table,
        **figure_gallery(request, "source", source.public_id, [table]),
    }


@page("GET")
def example(request: PageRequest, public_id: str) -> HttpResponse:
    """An example with everything that was made of its original, who made it, and the releases that hold it."""
    actor = authorization.actor(request)
    example = authorization.example(actor, public_id)
    project = example.source.project
    try:
        visibility.require_no_open_work(actor.person, project)
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect("source", example.source.public_id)
    releases = Release.objects.filter(project=project, ready_at__isnull=False).order_by("pk")
    sight = visibility.visibility_of(actor, project)
    root, left_out = ancestry.tree(example, list(releases), sight)
    operations = [from_dict(operation) for operation in example.operations]
    context = {
        "project": project,
        "example": example,
        "answers": "" if sight.is_asked else in_words(example.gold),
        "root": root,
        "left_out": left_out,
        "table": tables.drawn(example.stored_table.table(), operations),
    }
    return render(request, "importing/example.html", context)
