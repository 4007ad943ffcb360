"""Labels made elsewhere: choose a file, see what it would do, then import it whole."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation import access, uploads
from annotation.forms.imports import checked_upload
from annotation.journeys import labelled_elsewhere
from annotation.models import Batch, Job, Upload
from annotation.roles import Permission
from annotation.views import waiting
from annotation.views.pages import PageRequest, page, refusals_on, refusals_to


class LabelsForm(forms.Form):
    """A file of labels."""

    file = forms.FileField(
        validators=[checked_upload],
        label=gettext_lazy("CSV file"),
        help_text=gettext_lazy("One line is one person's response."),
    )


@page("GET", "POST")
def labels(request: PageRequest, public_id: str) -> HttpResponse:
    """Upload a file of labels. With `?preview=` a job: what it would do, and the button that imports it."""
    batch = access.batch(access.actor(request), public_id, Permission.IMPORT)
    if "preview" in request.GET:
        return _preview(request, batch)
    form = LabelsForm(request.POST, request.FILES) if request.method == "POST" else LabelsForm()
    if form.is_valid():
        with refusals_on(form):
            by, now = request.user, timezone.now()
            labelled_elsewhere.require_takes_labels(batch)
            upload = uploads.keep(project=batch.project, file=form.cleaned_data["file"], by=by, now=now)
            job = labelled_elsewhere.start(batch=batch, upload=upload, by=by, now=now, only_look=True)
            address = reverse("labels_elsewhere", args=[batch.public_id])
            return redirect(f"{address}?preview={job.public_id}")
    context = {"batch": batch, "project": batch.project, "form": form}
    return render(request, "importing/labels.html", context)


def _preview(request: PageRequest, batch: Batch) -> HttpResponse:
    previews = Job.objects.filter(kind=labelled_elsewhere.PREVIEW, ids__batch=batch.pk)
    job = get_object_or_404(previews, public_id=request.GET["preview"])
    if request.method == "POST":
        upload, by, now = Upload.objects.get(pk=job.ids["upload"]), request.user, timezone.now()
        with refusals_to(request):
            started = labelled_elsewhere.start(batch=batch, upload=upload, by=by, now=now)
            return redirect("job", started.public_id)
    context = {"batch": batch, "project": batch.project, "form": LabelsForm()}
    if (answer := waiting.until_finished(request, job, "importing/labels.html", context)) is not None:
        return answer
    context |= {"preview": job.result.get("preview"), "why_not": job.error}
    return render(request, "importing/labels.html", context)
