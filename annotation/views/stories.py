"""What happened: the story of an item, and the log of a project."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotation import access
from annotation.explorer import acting
from annotation.journeys import adjudicating
from annotation.models import Item, Project
from annotation.people import stories
from annotation.refusals import Refused
from annotation.roles import Permission
from annotation.views.pages import PageRequest, kind_title, page


class LogForm(forms.Form):
    """What of the log is shown."""

    thing = forms.ChoiceField(required=False, label=gettext_lazy("About"))
    who = forms.CharField(
        required=False,
        max_length=120,
        label=gettext_lazy("Who"),
        help_text=gettext_lazy("A name, or part of one."),
    )
    since = forms.DateField(
        required=False,
        label=gettext_lazy("From"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    until = forms.DateField(
        required=False,
        label=gettext_lazy("To the end of"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    item = forms.CharField(
        required=False,
        max_length=20,
        label=gettext_lazy("Item id"),
        help_text=gettext_lazy("Opens the history of the item."),
    )

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        choices = [(thing, gettext(stories.THINGS[thing])) for thing in stories.things(project)]
        self.fields["thing"].choices = [("", gettext("everything")), *choices]  # type: ignore[attr-defined]


@page("GET")
def log(request: PageRequest, slug: str) -> HttpResponse:
    """Every change of state in the project, the newest first, by what it is about, who did it, and when."""
    actor = access.actor(request)
    project = access.project(actor, slug, Permission.SEE_PROGRESS)
    asked = {name: value.replace("\0", "") for name, value in request.GET.dict().items() if name != "before"}
    form = LogForm(asked or None, project=project)
    given = form.cleaned_data if form.is_valid() else {}
    if given.get("item"):
        found = Item.objects.filter(public_id=given["item"].strip(), batch__project=project).first()
        if found is not None:
            return redirect("item_story", found.public_id)
        form.add_error("item", gettext("There is no item with this id in this project."))
    names = stories.Names(actor, project)
    before = request.GET.get("before", "")
    entries = stories.log(
        actor,
        project,
        names,
        thing=given.get("thing", ""),
        who=given.get("who", ""),
        since=_begin(given.get("since")),
        until=_begin(given["until"] + timedelta(days=1)) if given.get("until") else None,
        before=int(before) if before.isascii() and before.isdigit() and len(before) < 18 else None,
    )
    more = ""
    if len(entries) > stories.PAGE:
        entries = entries[: stories.PAGE]
        more = urlencode({**asked, "before": min(entry.number for entry in entries)})
    context = {"project": project, "form": form, "entries": entries, "more": more, "by_name": names.by_name}
    context["undoable"] = acting.undoable(actor, project, now=timezone.now())
    return render(request, "stories/log.html", context)


@page("GET")
def item(request: PageRequest, public_id: str) -> HttpResponse:
    """All that happened to one item."""
    actor = access.actor(request)
    found = access.item(actor, public_id, Permission.SEE_PROGRESS)
    try:
        stories.require_readable(actor, found)
    except Refused as refused:
        messages.error(request, refused.detail)
        return redirect("batch", found.batch.public_id)
    if found.batch.decides:
        adjudicating.note_reading([found], by=request.user, now=timezone.now())
    names = stories.Names(actor, found.batch.project)
    story = stories.of_item(found, names)
    leads = Permission.SET_UP in access.may(actor, found.batch.project)
    context = {
        "item": found,
        "batch": found.batch,
        "project": found.batch.project,
        "kind": kind_title(found.batch),
        "story": story,
        "question": found.example.question,
        "gold": found.is_gold and leads,
        "by_name": names.by_name,
    }
    return render(request, "stories/item.html", context)


def _begin(day: object) -> datetime | None:
    """The beginning of a day where the reader is at home."""
    return timezone.make_aware(datetime.combine(day, time())) if day else None  # type: ignore[arg-type]
