"""A new project, a project's own page, and the guidelines that its annotators read."""

from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.background import uploads
from annotation.models import Batch, Job, PersonBatchCounts, Project
from annotation.queue import availability, entry_requirements
from annotation.releases import restoration
from annotation.study_file import apply
from annotation.web.board import facts
from annotation.web.forms.projects import ProjectForm
from annotation.web.views import board
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.pages import PageRequest, kind_title, page, paginate, refusals_on
from annotation.workflow import projects
from annotation.workflow import task_types as workflow_task_types
from tasks.contract import TaskType, task_types


@page("GET", "POST")
def project_new(request: PageRequest) -> HttpResponse:
    """A new project, with the person who makes it as its first manager: empty, set up as another, or from a release."""
    actor = authorization.actor(request)
    authorization.require_may_make_projects(actor)
    copyable = authorization.projects(actor).filter(
        pk__in=authorization.projects_with_permission(actor, Permission.SET_UP)
    )
    form = ProjectForm(
        request.POST or None, request.FILES or None, time_zone=request.user.time_zone, copyable=copyable
    )
    if form.is_valid():
        with refusals_on(form):
            cleaned_data = {**form.cleaned_data}
            release, original = cleaned_data.pop("release"), cleaned_data.pop("original")
            if original is None:
                project = projects.create_project(manager=request.user, now=timezone.now(), **cleaned_data)
            else:
                project = apply.copy_setup(original, by=request.user, now=timezone.now(), **cleaned_data)
            if release:
                return redirect("job", _start_restore(request, project, release).public_id)
            text = gettext("“{name}” was created. Import its first examples.")
            messages.success(request, text.format(name=project.name))
            return redirect("import_new", project.slug)
    context = {"form": form, "losses": [gettext(loss) for loss in restoration.LOSSES]}
    return render(request, "setting_up/project_new.html", context)


def _start_restore(request: PageRequest, project: Project, release: UploadedFile) -> Job:
    """Keep the file, then start to restore it into the project."""
    now = timezone.now()
    upload = uploads.keep(project=project, file=release, by=request.user, now=now)
    return restoration.start_restore(project=project, upload=upload, by=request.user, now=now)


@page("GET")
def project(request: PageRequest, slug: str) -> HttpResponse:
    """The board of the project: what needs the person, what is blocked, how far the work is, and its flow."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug)
    may = authorization.permissions_in(actor, project)
    context: dict[str, Any] = {"project": project, "may": {permission.value for permission in may}}
    if Permission.ANNOTATE in may:
        context["desk"] = _desk(request, project)
    if Permission.SEE_PROGRESS in may:
        context |= _overview(request, project, may)
    to_annotate = [row["batch"] for row in context.get("desk", ()) if row["left"] and not row["after"]]
    context["annotates_first"] = to_annotate[0] if to_annotate and not context.get("is_urgent") else None
    context["board_first"] = context["annotates_first"] is None
    return render(request, "setting_up/project.html", context)


def figures_of(request: PageRequest, slug: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures: the table of batches."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    return _table_of_batches(
        request, project, _board(request, project, authorization.permissions_in(actor, project))
    )


def _board(request: PageRequest, project: Project, may: frozenset[Permission]) -> facts.Board:
    return facts.load_boards(person=request.user, rights={project.pk: may}, now=timezone.now())[project.pk]


def _table_of_batches(request: PageRequest, project: Project, read: facts.Board) -> dict[str, Any]:
    table = board.table(read, project)
    return {"batches_table": table, **figure_gallery(request, "project", project.slug, [table])}


def _desk(request: PageRequest, project: Project) -> list[dict[str, Any]]:
    """The open batches with what is left in each for this person."""
    opened = Batch.objects.filter(project=project, opened_at__isnull=False, closed_at__isnull=True)
    batches = list(opened.order_by("opened_at", "pk"))
    items_left = availability.left_for(request.user, [batch.pk for batch in batches])
    after = entry_requirements.qualifications_ahead(request.user, batches)
    person_counts = PersonBatchCounts.objects.filter(person=request.user, batch__in=batches)
    submitted = dict(person_counts.values_list("batch", "submitted"))
    return [
        {
            "batch": batch,
            "title": kind_title(batch),
            "left": items_left[batch.pk],
            "total": items_left[batch.pk] + submitted.get(batch.pk, 0),
            "after": after.get(batch.pk, ""),
        }
        for batch in batches
    ]


def _overview(request: PageRequest, project: Project, may: frozenset[Permission]) -> dict[str, Any]:
    read = _board(request, project, may)
    picture = board.picture(read, project)
    rows, action = board.rows(read, project), request.GET.get("ready", "")
    ready = board.ready_for(read, action)
    if ready:
        rows = [row for row in rows if row["batch"].pk in ready]
    used = {batch.task_type for batch in read.batches}
    return (
        board.context(read, project)
        | _table_of_batches(request, project, read)
        | {
            "board": read.state,
            "flow": picture,
            "reading_bars": any(stage.decides and stage.state == "open" for stage in read.state.stages),
            "batches": paginate(request, rows),
            "archived": Batch.objects.filter(project=project, archived_at__isnull=False).order_by("-pk"),
            "ready_for": action if ready else "",
            "table": "table" in request.GET or "page" in request.GET or bool(picture["left_out"]),
            "kinds": [
                *(task for key, task in task_types().items() if key in used),
                *(row.task() for row in workflow_task_types.newest(project).values()),
            ],
        }
    )


def kind_or_404(project: Project, key: str) -> TaskType:
    """The task type that an address names: the newest version of one that the project defines, or an installed one."""
    if key in task_types():
        return task_types()[key]
    own = workflow_task_types.task_in(project, key) if "\0" not in key else None
    if own is None:
        raise Http404(authorization.NOT_HERE)
    return own
