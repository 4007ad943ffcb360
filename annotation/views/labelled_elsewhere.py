"""Labels made elsewhere: choose a file, look at what it would do, then write it whole."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation import access
from annotation.forms.uploads import TextFileField
from annotation.journeys import labelled_elsewhere
from annotation.roles import Permission
from annotation.views.pages import PageRequest, page, refusals_on

MOST_BYTES = 2 * 1024 * 1024


class LabelsForm(forms.Form):
    """A file, or the text of one that has been looked at."""

    file = TextFileField(
        most=MOST_BYTES,
        required=False,
        label=gettext_lazy("CSV file"),
        help_text=gettext_lazy(
            "UTF-8, at most 2 MB. Use the command import_labels for larger files. One line is one "
            "person's response."
        ),
    )
    # As JSON: a browser would make other line ends of those inside a cell.
    text = forms.JSONField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("file"):
            _, given["text"] = given["file"]
        if not self.errors and (not given.get("text") or not isinstance(given["text"], str)):
            raise ValidationError(gettext("Choose a file."))
        return given


@page("GET", "POST")
def labels(request: PageRequest, public_id: str) -> HttpResponse:
    """Look at a file of labels, and with the second button write it. Between the two the page holds the file's text."""
    batch = access.batch(access.actor(request), public_id, Permission.IMPORT)
    posted = request.method == "POST"
    form = LabelsForm(request.POST if posted else None, request.FILES if posted else None)
    preview, text = None, ""
    if form.is_valid():
        text = form.cleaned_data["text"]
        with refusals_on(form):
            if request.POST.get("action") == "write":
                done = labelled_elsewhere.write(batch=batch, text=text, by=request.user, now=timezone.now())
                number = len(done.labels)
                imported = ngettext(
                    "{number} response was imported. Annotators: {annotators}. Items: {items}.",
                    "{number} responses were imported. Annotators: {annotators}. Items: {items}.",
                    number,
                ).format(number=number, annotators=len(done.annotators), items=done.items)
                messages.success(request, imported)
                return redirect("batch", batch.public_id)
            preview = labelled_elsewhere.look(batch=batch, text=text)
    context = {
        "batch": batch,
        "project": batch.project,
        "form": LabelsForm() if preview else form,
        "preview": preview,
        "text": json.dumps(text),
        "wrong": len(preview.troubles) + preview.troubles_left_out if preview else 0,
    }
    return render(request, "importing/labels.html", context)
