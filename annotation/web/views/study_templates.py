"""Start from a template: choose a shipped study and a source, see what it creates, create it."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.charts import list_tables
from annotation.models import Project, Source
from annotation.study_file import plan_text
from annotation.study_file import study_templates as study_file_study_templates
from annotation.web.forms.study_file import TemplateForm
from annotation.web.views.figure_gallery import Gallery
from annotation.web.views.pages import PageRequest, page, refusals_on
from annotation.web.views.task_type_gallery import Choice


@page("GET", "POST")
def study_templates(request: PageRequest, slug: str) -> HttpResponse:
    """The templates; with a template and a source, what it would create; POST creates it."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    sources = Source.objects.current().filter(project=project).order_by("name", "pk")
    data = request.POST if request.method == "POST" else request.GET if "template" in request.GET else None
    form = TemplateForm(data, sources=sources, initial={"source": request.GET.get("source")})
    context: dict[str, Any] = {"project": project, "form": form}
    if not form.is_valid():
        context |= {
            "templates": [
                _card(template) for template in study_file_study_templates.load_templates().values()
            ],
            "sources": list(sources),
        }
        return render(request, "studying/templates.html", context)
    now = timezone.now()
    draft = study_file_study_templates.draft(
        study_file_study_templates.load_templates()[form.cleaned_data["template"]],
        project=project,
        source=form.cleaned_data["source"],
        now=now,
    )
    if request.method == "POST":
        with refusals_on(form):
            study_file_study_templates.create(draft, project=project, by=request.user, now=now)
            count = len(draft.study.batches)
            text = ngettext("{number} batch was created.", "{number} batches were created.", count)
            messages.success(request, text.format(number=count))
            return redirect("project", project.slug)
    return render(request, "studying/template.html", context | _preview(draft, form, project))


def figures_of(request: PageRequest, slug: str) -> dict[str, Any]:
    """The part of the preview of a template that holds its figures; nothing without a template and a source."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    form = TemplateForm(request.GET, sources=Source.objects.current().filter(project=project))
    if not form.is_valid():
        return {}
    draft = study_file_study_templates.draft(
        study_file_study_templates.load_templates()[form.cleaned_data["template"]],
        project=project,
        source=form.cleaned_data["source"],
        now=timezone.now(),
    )
    return _preview(draft, form, project)


def _card(template: study_file_study_templates.Template) -> dict[str, Any]:
    """What the page of templates shows of one; its picture is that of its first batch of work."""
    works = [batch for batch in template.study.batches if batch.purpose == "work"]
    return {
        "template": template,
        "picture": next((batch.task.picture(batch.terms["variant"]) for batch in works), ""),
        "batches": len(template.study.batches),
    }


def _preview(draft: study_file_study_templates.Draft, form: TemplateForm, project: Project) -> dict[str, Any]:
    costs = {cost.batch: cost for cost in draft.plan.costs}
    source = form.cleaned_data["source"]
    rows = [
        {
            "work": work,
            "title": Choice(work.task, work.terms["variant"]).sentence,
            "everyone": work.terms["strategy"] == "everyone",
            "cost": costs.get(work.name),
        }
        for work in draft.study.batches
    ]
    table = list_tables.template_batches([_line(row, source) for row in rows])
    query = urlencode({"template": draft.template.key, "source": source.public_id})
    figures = {table.name: table} if table is not None else {}
    return {
        "draft": draft,
        "amounts": {name: plan_text.amounts(draft.plan.costs, name) for name in plan_text.AMOUNTS},
        "source": source,
        "rows": rows,
        "all_get_all": any(row["everyone"] for row in rows),
        "runs": draft.study.runs,
        "batches_table": table,
        "figure_gallery": Gallery("template", project.slug, query, figures),
    }


def _line(row: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """A row of the page as a line of `list_tables.template_batches`."""
    work, cost = row["work"], row["cost"]
    return {
        "name": work.name,
        "takes_from": work.feeds_from or source.name,
        "people": gettext("all") if row["everyone"] else str(work.overlap),
        "expected": None if cost is None else cost.expected if cost.most else cost.annotations,
        "most": None if cost is None else cost.annotations,
        "hours": None if cost is None else cost.expected_hours,
    }
