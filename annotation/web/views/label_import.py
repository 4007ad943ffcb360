"""Labels made elsewhere: choose a file, see what it would do, then import it whole."""

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.background import uploads
from annotation.imports import label_import
from annotation.web.forms.example_import import DuplicatesField, validate_upload
from annotation.web.views import job_status
from annotation.web.views.pages import PageRequest, page, refusals_on


class LabelsForm(forms.Form):
    """A file of labels."""

    file = forms.FileField(
        validators=[validate_upload],
        label=gettext_lazy("CSV file"),
        help_text=gettext_lazy("One line is one person's response."),
    )
    duplicates = DuplicatesField()


@page("GET", "POST")
def labels(request: PageRequest, public_id: str) -> HttpResponse:
    """Upload a file of labels. With `?preview=` a job: what it would do, and the button that imports it."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.IMPORT)
    template = "importing/labels.html"
    if "preview" in request.GET:
        kind, start = label_import.PREVIEW, label_import.start
        return job_status.preview_for_batch(request, batch, kind, start, template, LabelsForm())
    form = LabelsForm(request.POST, request.FILES) if request.method == "POST" else LabelsForm()
    if form.is_valid():
        with refusals_on(form):
            by, now = request.user, timezone.now()
            label_import.require_takes_labels(batch)
            upload = uploads.keep(project=batch.project, file=form.cleaned_data["file"], by=by, now=now)
            job = label_import.start(
                batch=batch,
                upload=upload,
                by=by,
                now=now,
                only_look=True,
                duplicates=form.cleaned_data["duplicates"],
            )
            address = reverse("labels_elsewhere", args=[batch.public_id])
            return redirect(f"{address}?preview={job.public_id}")
    nothing_read = {"state": "", "preview": None, "why_not": ""}
    return render(request, template, {"batch": batch, "project": batch.project, "form": form, **nothing_read})
