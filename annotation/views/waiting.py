"""Pages that wait for a job: they ask again by themselves, also without scripts, and say where no worker runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRefresh

from annotation import jobs
from annotation.models import Job
from annotation.views.pages import PageRequest


def until_finished(
    request: PageRequest, job: Job, template: str, context: dict[str, Any]
) -> HttpResponse | None:
    """The page while the job is not finished (`importing/_waiting.html`); None once it can be shown.

    A page that came whole is loaded again then; one of which a script has replaced a part gets this part.
    """
    if job.finished:
        return HttpResponseClientRefresh() if request.htmx and "whole" in request.GET else None
    state = "no_worker" if jobs.is_without_worker(job) else "reading"
    if request.htmx and request.GET.get("seen") == state:
        return HttpResponse(status=204)  # nothing is read out again
    again = request.GET.copy()
    again["seen"] = state
    if not request.htmx:
        again["whole"] = "1"
    poll_url = f"{request.path}?{again.urlencode()}"
    return render(request, template, {**context, "state": state, "poll_url": poll_url})
