"""The guidelines of a kind: read and confirmed, with what changed; written, compared and frozen by managers."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Page
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.authorization import Actor
from annotation.access.roles import Permission
from annotation.charts import record_tables
from annotation.models import Guidelines, Project
from annotation.quality import guideline_examples
from annotation.quality import guidelines as quality_guidelines
from annotation.queue import practice
from annotation.web.forms.projects import GuidelinesForm
from annotation.web.views.consent import back_to, version_number
from annotation.web.views.figure_gallery import figure_gallery, part_of_list, pseudonyms
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on, refusals_to
from annotation.web.views.projects import kind_or_404
from tasks.contract import TaskType


@page("GET", "POST")
def guidelines(request: PageRequest, slug: str, type: str) -> HttpResponse:
    """The guidelines of a kind in this project: members read them, managers write new versions.

    ?version= shows an older one, ?against= what changed since that one, ?edit the form.
    """
    actor = authorization.actor(request)
    project = authorization.project(actor, slug)
    may = authorization.permissions_in(actor, project)
    task = kind_or_404(project, type)
    if request.method == "POST":
        return _act(request, actor, project, task, may)
    form = GuidelinesForm(
        initial=GuidelinesForm.of(quality_guidelines.newest(project, task), task.guidelines())
    )
    return _guidelines_page(request, project, task, may, form)


def _act(
    request: PageRequest, actor: Actor, project: Project, task: TaskType, may: frozenset[Permission]
) -> HttpResponse:
    action, now = request.POST.get("action", "write"), timezone.now()
    here = redirect("guidelines", project.slug, task.key)
    newest = _versions(project, task).first()
    if action == "confirm" and Permission.ANNOTATE in may and newest is not None:
        with refusals_to(request):
            version = version_number(request.POST.get("number"))
            read = _versions(project, task).filter(number=version).first() or newest
            quality_guidelines.confirm(
                guidelines=read,
                person=request.user,
                now=now,
                language=quality_guidelines.localized_guidelines(read, task).language,
            )
            messages.success(
                request, gettext("You confirmed guidelines v{number}.").format(number=read.number)
            )
            return redirect(back_to(request, actor) or reverse("project", args=[project.slug]))
        return redirect(request.get_full_path())
    if Permission.SET_UP not in may:
        raise Http404(authorization.NOT_HERE)
    if action in ("freeze", "unfreeze") and newest is not None:
        with refusals_to(request):
            quality_guidelines.freeze(guidelines=newest, frozen=action == "freeze", by=request.user, now=now)
            state = (
                gettext("frozen and cannot be edited") if action == "freeze" else gettext("no longer frozen")
            )
            messages.success(
                request, gettext("Version {number} is {state}.").format(number=newest.number, state=state)
            )
        return here
    if action == "unpin":
        pins = guideline_examples.guideline_examples(project, task.key).filter(
            item__public_id=request.POST.get("item", "").replace("\0", "")
        )
        for pin in pins:
            guideline_examples.unpin(item=pin.item, by=request.user, now=now)
            messages.success(request, gettext("Removed from the guideline examples."))
        return here
    if action == "must_read":
        is_required = request.POST.get("asked") == "1"
        quality_guidelines.require_reading(project=project, required=is_required, by=request.user, now=now)
        text = (
            gettext("Annotators must confirm the guidelines")
            if is_required
            else gettext("Annotators need not confirm the guidelines")
        )
        messages.success(request, gettext("{words} of every task type in this project.").format(words=text))
        return here
    form = GuidelinesForm(request.POST)
    if form.is_valid():
        with refusals_on(form):
            saved = quality_guidelines.revise(
                project=project, task=task, person=request.user, now=now, **form.cleaned_data
            )
            messages.success(
                request,
                gettext("Guidelines saved as version {number}.").format(number=saved.number),
            )
            return here
    return _guidelines_page(request, project, task, may, form)


def _guidelines_page(
    request: PageRequest,
    project: Project,
    task: TaskType,
    may: frozenset[Permission],
    form: GuidelinesForm,
) -> HttpResponse:
    newest = _versions(project, task).first()
    version = (
        _versions(project, task).filter(number=version_number(request.GET.get("version"))).first() or newest
    )
    manages = Permission.SET_UP in may
    last = (
        quality_guidelines.last_read(project, task.key, request.user) if Permission.ANNOTATE in may else None
    )
    must_confirm = project.must_read and Permission.ANNOTATE in may and newest is not None
    against = _versions(project, task).filter(number=version_number(request.GET.get("against"))).first()
    if against is None and must_confirm and last is not None and version == newest and last != newest:
        against = last  # what is new to a person who is asked to read again
    changes = (
        quality_guidelines.diff_lines(against.text, version.text)
        if against and version and against != version
        else []
    )
    versions = paginate(request, quality_guidelines.versions(project, task.key))
    context: dict[str, Any] = {
        "versions": versions,
        **(_figures(request, project, task, versions) if manages else {"versions_table": None}),
        "project": project,
        "task": task,
        "practice": bool(practice.exercises(task, next(iter(task.variants), ""))),
        "shown": version,
        "newest": newest,
        "text": quality_guidelines.localized_html(version, task),
        "form": form,
        "may_edit": manages,
        "editing": manages and (form.is_bound or "edit" in request.GET),
        "effect": quality_guidelines.revision_effect(project, task.key) if manages else None,
        "frozen": newest is not None and quality_guidelines.is_frozen(newest),
        "to_confirm": must_confirm and version == newest and last != newest,
        "last": last,
        "pinned": guideline_examples.guideline_examples(project, task.key) if manages else [],
        "against": against,
        "changes": changes,
    }
    return render(request, "setting_up/guidelines.html", context)


def figures_of(request: PageRequest, key: str) -> dict[str, Any]:
    """The part of the page's context that holds its figure: the versions, for managers. `key` is "PROJECT.TASK_TYPE"."""
    slug, _, type = key.partition(".")
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    task = kind_or_404(project, type)
    return _figures(request, project, task, paginate(request, quality_guidelines.versions(project, task.key)))


def _figures(request: PageRequest, project: Project, task: TaskType, versions: Page[Any]) -> dict[str, Any]:
    called = pseudonyms(project)
    lines = [
        {
            "number": version.guidelines.number,
            "created_by": called.get(version.guidelines.made_by_id, gettext("an administrator"))
            if version.guidelines.made_by_id
            else gettext("default text"),
            "created": version.guidelines.made_at,
            "annotations": version.annotations,
            "readers": version.readers,
        }
        for version in versions
    ]
    counted = {"annotations": gettext("Annotations"), "readers": gettext("Confirmed by")}
    table = record_tables.versions(lines, counted, part_of_list(versions))
    gallery = figure_gallery(request, "guidelines", f"{project.slug}.{task.key}", [table])
    return {"versions_table": table, **gallery}


def _versions(project: Project, task: TaskType) -> Any:
    versions = Guidelines.objects.filter(project=project, task_type=task.key)
    return versions.select_related("made_by").order_by("-number")
