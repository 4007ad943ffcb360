"""Labels made elsewhere: choose a file, see what it would do, then import it whole."""

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation import access, uploads
from annotation.forms.imports import DuplicatesField, checked_upload
from annotation.journeys import labelled_elsewhere
from annotation.roles import Permission
from annotation.views import waiting
from annotation.views.pages import PageRequest, page, refusals_on


class LabelsForm(forms.Form):
    """A file of labels."""

    file = forms.FileField(
        validators=[checked_upload],
        label=gettext_lazy("CSV file"),
        help_text=gettext_lazy("One line is one person's response."),
    )
    duplicates = DuplicatesField()


@page("GET", "POST")
def labels(request: PageRequest, public_id: str) -> HttpResponse:
    """Upload a file of labels. With `?preview=` a job: what it would do, and the button that imports it."""
    batch = access.batch(access.actor(request), public_id, Permission.IMPORT)
    template = "importing/labels.html"
    if "preview" in request.GET:
        kind, start = labelled_elsewhere.PREVIEW, labelled_elsewhere.start
        return waiting.preview_for_batch(request, batch, kind, start, template, LabelsForm())
    form = LabelsForm(request.POST, request.FILES) if request.method == "POST" else LabelsForm()
    if form.is_valid():
        with refusals_on(form):
            by, now = request.user, timezone.now()
            labelled_elsewhere.require_takes_labels(batch)
            upload = uploads.keep(project=batch.project, file=form.cleaned_data["file"], by=by, now=now)
            job = labelled_elsewhere.start(
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
