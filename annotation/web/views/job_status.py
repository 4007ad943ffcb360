"""Pages that wait for a job: they ask again by themselves, also without scripts, and say where no worker runs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django_htmx.http import HttpResponseClientRefresh

from annotation.background import jobs
from annotation.models import Batch, Job, Upload
from annotation.web.views.pages import PageRequest, refusals_to


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
        # Nothing is read out again. Pages that wait for long ask less often: many of them would slow down all others.
        is_new = timezone.now() - job.made_at < timedelta(seconds=4)
        return HttpResponse(status=204, headers={"HX-Trigger": "soon" if is_new else "later"})
    again = request.GET.copy()
    again["seen"] = state
    if not request.htmx:
        again["whole"] = "1"
    poll_url = f"{request.path}?{again.urlencode()}"
    return render(request, template, {**context, "state": state, "poll_url": poll_url})


def preview_for_batch(
    request: PageRequest, batch: Batch, kind: str, start: Callable[..., Job], template: str, form: Form
) -> HttpResponse:
    """The page of `?preview=`, a job that says what a file would do to the batch. POST starts the import."""
    previews = Job.objects.filter(kind=kind, ids__batch=batch.pk)
    job = get_object_or_404(previews, public_id=request.GET["preview"])
    if request.method == "POST":
        with refusals_to(request):
            upload = Upload.objects.get(pk=job.ids["upload"])
            chosen = {name: job.ids[name] for name in ("duplicates", "good_only") if name in job.ids}
            if chosen:
                chosen["good_only"] = "good_only" in request.POST
            started = start(batch=batch, upload=upload, by=request.user, now=timezone.now(), **chosen)
            return redirect("job", started.public_id)
    context = {"batch": batch, "project": batch.project, "form": form, "preview": None}
    if (answer := until_finished(request, job, template, context)) is not None:
        return answer
    done = {"state": "", "preview": job.result.get("preview"), "why_not": job.error}
    return render(request, template, {**context, **done})
