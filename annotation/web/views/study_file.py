"""The study as a file: what the project looks like as one, and what another one would change."""

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.background import jobs, uploads
from annotation.charts import image_files, list_tables
from annotation.charts.figure import TEXTS, Figure, Subject, content_type
from annotation.models import Project
from annotation.platform.public_links import public_link
from annotation.releases.study_history import first_response
from annotation.study_file import (
    apply,
    current_state,
    plan_text,
    preregistration,
    project_export,
    release_gaps,
    visible,
)
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.study_file.schema import Study
from annotation.study_file.yaml_file import StudyError
from annotation.web.forms.study_file import StudyForm
from annotation.web.views.figure_gallery import copies
from annotation.web.views.pages import PageRequest, attachment, forbid_storing, page, refusals_on, refusals_to


@page("GET", "POST")
def study(request: PageRequest, slug: str) -> HttpResponse:
    """The file of a project, and the plan of another one before it is applied."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    if "download" in request.GET:
        return _download(request, project)
    if request.POST.get("act") == "freeze":
        with refusals_to(request):
            preregistration.freeze(project=project, by=request.user, now=timezone.now())
        return redirect("study", slug)
    form = StudyForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {"project": project, "form": form, "plan": None, "links": None}
    if form.is_valid():
        with refusals_on(form):
            parsed_study = _parse_study(form)
            if parsed_study is not None:
                visible.require_usable(parsed_study, project, request.user)
                done = _act(request, project, parsed_study, form.cleaned_data["text"], context)
                if done is not None:
                    return done
    under_way = jobs.under_way(project=project, kind="study")
    here = current_state.of_project(project, now=timezone.now(), derived=False, with_remaining=False)
    text = visible.export(request.user, project, here)
    frozen = preregistration.frozen(project)
    form.initial = {"text": text}
    context |= {
        "text": text,
        "notes": here.notes,
        "frozen": frozen,
        "digest": preregistration.study_digest(here.study),
        "may_freeze": frozen is None or first_response(project) is None,
        "sees_gold": visible.sees_gold(request.user, project),
        # Counts every item of the project: only on request.
        "asked": "missing" in request.GET,
        "missing": release_gaps.gaps_visible_to(request.user, project) if "missing" in request.GET else [],
        "under_way": list(under_way.order_by("-pk")[:5]),
    }
    return forbid_storing(render(request, "studying/study.html", context))


def _download(request: PageRequest, project: Project) -> HttpResponse:
    here = current_state.of_project(project, now=timezone.now(), derived=False, with_remaining=False)
    text = visible.export(request.user, project, here)
    return attachment(text, f"{project.slug}-study.yaml", "application/yaml; charset=utf-8")


def _costs(plan: Plan) -> Figure | None:
    return list_tables.plan_costs([project_export.cost_as_json(cost) for cost in plan.costs])


def _file(plan: Plan, project: Project, format: str) -> HttpResponse | None:
    """The costs as a file, in English as every file of a figure; None where there are none."""
    with translation.override(settings.LANGUAGE_CODE):
        table = _costs(plan)
        if table is None:
            return None
        subject = Subject(f"Project {project.name}", f"{project.slug}-study")
        content = image_files.content(replace(table, subject=subject), format)
    return attachment(content, f"{project.slug}-study-{table.name}.{format}", content_type(format))


def _parse_study(form: StudyForm) -> Study | None:
    """The study of the form; its faults are on the form."""
    try:
        return parse(form.cleaned_data["text"])
    except StudyError as error:
        for fault in error.faults:
            form.add_error(
                None,
                gettext("Line {line}, {where}: {message}").format(
                    line=fault.line, where=fault.where, message=fault.message
                )
                if fault.where
                else str(fault),
            )
        return None


def _act(
    request: PageRequest, project: Project, parsed_study: Study, text: str, context: dict[str, Any]
) -> HttpResponse | None:
    """Show the plan, apply the file in the background, or make the links of people; a page to go to, if there is one."""
    now, act = timezone.now(), request.POST.get("act", "plan")
    plan, uncounted_names = visible.plan(parsed_study, project, request.user, now=now)
    if act == "apply" and any(entry.verb != "invite" for entry in plan.does) and not plan.cannot:
        file = SimpleUploadedFile("study.yaml", text.encode())
        upload = uploads.keep(project=project, file=file, by=request.user, now=now)
        return redirect("job", apply.start(upload=upload, by=request.user, now=now).public_id)
    if act == "links" and not plan.cannot:
        links = apply.make_links(parsed_study, project=project, by=request.user, now=now)
        context["links"] = [
            {"name": link.name, "address": public_link(request, reverse("join", args=[link.token]))}
            for link in links
        ]
        plan, uncounted_names = visible.plan(parsed_study, project, request.user, now=now)
    if plan.costs and (format := request.POST.get("costs", "")) in TEXTS:
        return _file(plan, project, format)
    table = _costs(plan)
    context |= {
        "plan": plan,
        "cost_rows": list(plan_text.cost_rows(plan)),
        "costs_table": table,
        "copies": copies(table) if table is not None else (),
        "uncounted": sorted(uncounted_names & {entry.name for entry in parsed_study.batches}),
        "no_counts": visibility.why_no_counts(),
        "effects": {} if plan.cannot else apply.effects(plan, project, uncounted=uncounted_names),
        "planned_text": text,
        "applicable": any(entry.verb != "invite" for entry in plan.does) and not plan.cannot,
        "invites": [entry for entry in plan.does if entry.verb == "invite"] if not plan.cannot else [],
    }
    context["changes"] = [
        (
            entry,
            context["effects"].get(entry.name, [])
            if (entry.section, entry.verb) == ("batch", "change")
            else [],
        )
        for entry in plan.changes
    ]
    return None
