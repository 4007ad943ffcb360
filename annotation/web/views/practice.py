"""Practice pages: the annotator's page over a task type's own practice set, with an answer to every answer."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.assistance import draft_checks
from annotation.models import Batch, PracticeResult, Project
from annotation.quality import guidelines
from annotation.queue import availability
from annotation.queue import practice as queue_practice
from annotation.web.views.consent import back_to
from annotation.web.views.pages import PageRequest, page
from annotation.web.views.projects import kind_or_404
from annotation.web.views.table_comparison import compare_inputs
from annotation.web.views.tables import sheet
from tasks.contract import TaskType


@page("GET", "POST")
def practice(request: PageRequest, slug: str, type: str) -> HttpResponse:
    """One exercise (?number=, ?variant=); a post without scripts is judged and answered on the same page."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug)
    task = kind_or_404(project, type)
    variant = request.GET.get("variant") or next(iter(task.variants), "")
    exercises = queue_practice.exercises(task, variant)
    if exercises and request.POST.get("action") == "again":
        queue_practice.restart(request.session, project, task, variant)
        return redirect(_address(request, variant=variant, number=1))
    if exercises and "score" in request.GET:
        return _score(request, actor, project, task, variant)
    position = request.GET.get("number", "1")
    index = int(position) - 1 if position.isascii() and position.isdigit() and len(position) < 5 else -1
    if exercises and not 0 <= index < len(exercises):
        raise Http404(authorization.NOT_HERE)
    context: dict[str, Any] = {"project": project, "task": task, "variant": variant, "total": len(exercises)}
    if not exercises:
        return render(request, "practising/practice.html", context)
    exercise = exercises[index]
    data: dict[str, Any] = {}
    context["feedback"] = None
    if request.method == "POST":
        data = task.form_data(request.POST, {})
        envelope = task.unparsed_envelope(data, exercise.item)
        feedback = context["feedback"] = queue_practice.judge(task, exercise, envelope, project)
        queue_practice.record_attempt(
            session=request.session,
            project=project,
            person=request.user,
            task=task,
            variant=variant,
            position=index + 1,
            feedback=feedback,
            now=timezone.now(),
        )
    presented = {
        **task.page_data(exercise.item),
        "id": f"practice-{index + 1}",
        "draft": None,
        "annotation": None,
        "progress": {"submitted": index, "total": len(exercises)},
        "loop": draft_checks.describe_practice_loop(task),
    }
    # Where a batch asks for practice first, it is gone through as a whole; the way leads back to the batch.
    back = back_to(request, actor)
    is_required = queue_practice.is_required(project, task, variant)
    still = queue_practice.score(request.session, project, task, variant).unanswered if is_required else []
    context |= {
        "number": index + 1,
        "batch_query": f"&batch={request.GET['batch']}" if back else "",
        "done_address": _address(request, variant=variant, score=1),
        "asked": is_required,
        "still": still,
        "done": PracticeResult.objects.filter(
            project=project, person=request.user, task_type=task.key, variant=variant
        ).first()
        if is_required
        else None,
        "plain": request.GET.get("plain") == "1",
        "next_number": index + 2 if index + 1 < len(exercises) else None,
        "item": exercise.item,
        "assignment": presented,
        "data": data,
        "table": sheet(task, exercise.item, data) if "table" in task.shows else None,
        "compared": compare_inputs(task, exercise.item),
        "guidelines_html": guidelines.localized_html(guidelines.newest(project, task), task),
    }
    return render(request, "practising/practice.html", context)


def _score(
    request: PageRequest, actor: authorization.Actor, project: Project, task: TaskType, variant: str
) -> HttpResponse:
    """The end of practice: how many were right, the way to the items, and again."""
    score = queue_practice.score(request.session, project, task, variant)
    back = back_to(request, actor)
    following, items_left = (None, 0) if back else _batch_after(actor, project, task, variant)
    context = {
        "project": project,
        "task": task,
        "variant": variant,
        "score": score,
        "goes": [(position, score.goes[position]) for position in sorted(score.goes)],
        "first_left": score.unanswered[0] if score.unanswered else None,
        "back": back,
        "batch_query": f"&batch={request.GET['batch']}" if back else "",
        "following": following,
        "left": items_left,
    }
    return render(request, "practising/score.html", context)


def _batch_after(
    actor: authorization.Actor, project: Project, task: TaskType, variant: str
) -> tuple[Batch | None, int]:
    """The open batch of this task type and variant that has items for the person, with their number."""
    if project.pk not in authorization.projects_with_permission(actor, Permission.ANNOTATE):
        return None, 0
    same = Batch.objects.filter(project=project, task_type=task.key, variant=variant, opened_at__isnull=False)
    running = list(same.filter(closed_at__isnull=True, paused_at__isnull=True).order_by("opened_at", "pk"))
    return availability.first_with_items(actor.person, running, now=timezone.now())


def _address(request: PageRequest, *, variant: str, **query: int) -> str:
    """This page with another query, which keeps the batch that the person came from and the page without scripts."""
    origin = {name: request.GET[name] for name in ("batch", "plain") if name in request.GET}
    return f"{request.path}?{urlencode({**({'variant': variant} if variant else {}), **query, **origin})}"
