"""Practice pages: the annotator's page over a kind's own practice set, with an answer to every answer."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe

from annotation import access
from annotation.help import predicting
from annotation.models import PracticeDone
from annotation.quality import guidance
from annotation.views.consenting import back_to
from annotation.views.contrasting import compared
from annotation.views.pages import PageRequest, page
from annotation.views.setting_up import kind_or_404
from annotation.views.tables import sheet
from annotation.work import practising


@page("GET", "POST")
def practice(request: PageRequest, slug: str, type: str) -> HttpResponse:
    """One exercise (?number=, ?variant=); a post without scripts is judged and answered on the same page."""
    actor = access.actor(request)
    project = access.project(actor, slug)
    task = kind_or_404(type)
    variant = request.GET.get("variant") or next(iter(task.variants), "")
    exercises = practising.exercises(task, variant)
    number = request.GET.get("number", "1")
    index = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 5 else -1
    if exercises and not 0 <= index < len(exercises):
        raise Http404(access.NOT_HERE)
    context: dict[str, Any] = {"project": project, "task": task, "variant": variant, "total": len(exercises)}
    if not exercises:
        return render(request, "practising/practice.html", context)
    exercise = exercises[index]
    data: dict[str, Any] = {}
    if request.method == "POST":
        data = task.form_data(request.POST, {})
        envelope = {
            "type": task.key,
            "variant": variant,
            "version": task.version,
            "base": exercise.item.base,
            "data": data,
        }
        feedback = context["feedback"] = practising.judge(task, exercise, envelope)
        practising.keep(
            session=request.session,
            project=project,
            person=request.user,
            task=task,
            variant=variant,
            number=index + 1,
            feedback=feedback,
            now=timezone.now(),
        )
    presented = {
        **task.presented(exercise.item),
        "id": f"practice-{index + 1}",
        "draft": None,
        "annotation": None,
        "progress": {"submitted": index, "total": len(exercises)},
        "loop": predicting.practice_loop(task),
    }
    text = guidance.told_as_html(guidance.newest(project, task), task, top=2)
    # Where a batch asks for practice first, it is gone through as a whole; the way leads back to the batch.
    back = back_to(request, actor)
    asked = practising.asked(project, task, variant)
    still = practising.left(request.session, project, task, variant) if asked else []
    context |= {
        "number": index + 1,
        "batch_query": f"&batch={request.GET['batch']}" if back else "",
        "done_address": back or reverse("guidelines", args=[project.slug, task.key]),
        "asked": asked,
        "still": still,
        "done": PracticeDone.objects.filter(
            project=project, person=request.user, task_type=task.key, variant=variant
        ).first()
        if asked
        else None,
        "plain": request.GET.get("plain") == "1",
        "next_number": index + 2 if index + 1 < len(exercises) else None,
        "item": exercise.item,
        "assignment": presented,
        "data": data,
        "table": sheet(task, exercise.item, data) if "table" in task.shows else None,
        "compared": compared(task, exercise.item),
        # Markdown with HTML switched off: what comes out was escaped by the renderer.
        "guidelines_html": mark_safe(text),  # nosec
    }
    return render(request, "practising/practice.html", context)
