"""Task types that a project defines: their list, and the form with its preview."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.models import Example as StoredExample
from annotation.models import Project, TaskTypeDefinition
from annotation.study_file import type_definitions
from annotation.web.forms.task_types import DefinitionForm
from annotation.web.views import tables
from annotation.web.views.pages import PageRequest, page, refusals_on
from annotation.workflow import task_types as workflow_task_types
from tableqa import Example, Table
from tasks.contract import Item, PreparingTask, Surroundings
from tasks.shared.defined_types import DefinedTask, task_of

SAMPLE = Example(
    "sample",
    "Which nation has the most gold medals?",
    Table(
        ["Nation", "Gold", "Silver"], [["India", "102", "58"], ["Nepal", "32", "10"], ["Bhutan", "1", "6"]]
    ),
    ["India"],
)
"""What the preview shows in a project without examples."""
EXAMPLES_TRIED = 50
"""Examples of the project that the preview looks through for one that the task type can use."""


@page("GET", "POST")
def task_types(request: PageRequest, slug: str) -> HttpResponse:
    """The task types of a project, and the form of one: ?name= of the list, else a new one.

    `preview` in a post renders what annotators will see, and saves nothing; htmx asks for this part alone.
    """
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    rows = workflow_task_types.newest(project)
    edited = _edited_definition(request, rows)
    form = DefinitionForm(
        request.POST or None,
        initial=_initial(edited, request.GET.get("from", "")),
        stored={name: row.data for name, row in rows.items()},
    )
    if form.is_valid() and "preview" not in request.POST and not request.headers.get("HX-Request"):
        with refusals_on(form):
            cleaned = form.cleaned_data
            row = workflow_task_types.define(
                project=project,
                name=cleaned["name"],
                data=cleaned["definition"],
                by=request.user,
                now=timezone.now(),
            )
            _report_saved(request, row)
            return redirect(f"{request.path}?name={row.name}")
    context: dict[str, Any] = {"project": project, "form": form, "edited": edited} | _preview(
        project, form, edited
    )
    if request.headers.get("HX-Request"):
        return render(request, "defining/_preview.html", context)
    context["templates"] = [(name, task_of(name, data)) for name, data in type_definitions.shipped().items()]
    context["rows"] = [(row, row.task()) for row in rows.values()]
    return render(request, "defining/task_types.html", context)


def _report_saved(request: PageRequest, row: TaskTypeDefinition) -> None:
    """What was saved, and which batches use it or keep another version."""
    notices = workflow_task_types.notices(row)
    adopted_texts = [text for kind, text in notices if kind == "taken"]
    saved = gettext("Saved as version {number}.").format(number=row.number)
    messages.success(request, " ".join([saved, *adopted_texts]))
    for kind, text in notices:
        if kind == "kept":
            messages.warning(request, text)


def _edited_definition(
    request: PageRequest, rows: dict[str, TaskTypeDefinition]
) -> TaskTypeDefinition | None:
    name = request.GET.get("name", "")
    if name and name not in rows:
        raise Http404(authorization.NOT_HERE)
    return rows.get(name)


def _initial(row: TaskTypeDefinition | None, template: str) -> dict[str, str]:
    if row is None and template in type_definitions.shipped():
        return {"name": template, "text": type_definitions.written(type_definitions.shipped()[template])}
    if row is None:
        return {"name": "table_complexity", "text": type_definitions.EXAMPLE}
    return {"name": row.name, "text": type_definitions.written(row.data)}


def _preview(project: Project, form: DefinitionForm, row: TaskTypeDefinition | None) -> dict[str, Any]:
    """What the form of a definition shows annotators; nothing where the definition has faults."""
    if form.is_bound:
        data = form.cleaned_data.get("definition") if hasattr(form, "cleaned_data") else None
        name = form.cleaned_data.get("name") or "task_type"
    else:
        name = form.initial["name"] if row is None else row.name
        data = type_definitions.read(name, form.initial["text"]) if row is None else row.data
    if data is None:
        return {}
    task = task_of(name, data)
    item = Item(_example(project, task))
    shows = task.payload(item)
    return {
        "task": task,
        "is_preview": True,
        "data": {},
        "assignment": {"shows": shows},
        "table": tables.drawn(item.example.table, marked=tables.pointed_at(task, item))
        if "table" in shows
        else None,
    }


def _example(project: Project, task: DefinedTask) -> Example:
    """The first practice item, else the first example of the project, else `SAMPLE`."""
    for entry in task.practice()[:1]:
        return Example.from_dict(entry["example"])
    usable = StoredExample.objects.usable().filter(source__project=project).select_related("stored_table")
    if not isinstance(task, PreparingTask):
        stored = usable.order_by("pk").first()
        return SAMPLE if stored is None else stored.example()
    examples = (stored.example() for stored in usable.order_by("pk")[:EXAMPLES_TRIED])
    fitting = (example for example in examples if task.prepare(example, Surroundings()) is not None)
    return next(fitting, replace(SAMPLE, answers=("India", "Nepal")))
