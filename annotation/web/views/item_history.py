"""What happened: the story of an item, and the log of a project."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission, Role
from annotation.access.visibility import Fact
from annotation.accounts import item_history, redaction
from annotation.charts import record_tables
from annotation.explorer import item_actions
from annotation.models import Item, Membership, Project
from annotation.platform.refusals import ActionRefused
from annotation.queue import candidates, explanations
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.pages import PageRequest, kind_title, page, refusals_on, refusals_to


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
        choices = [(thing, gettext(item_history.THINGS[thing])) for thing in sorted(item_history.THINGS)]
        self.fields["thing"].choices = [("", gettext("everything")), *choices]  # type: ignore[attr-defined]


@page("GET")
def log(request: PageRequest, slug: str) -> HttpResponse:
    """Every change of state in the project, the newest first, by what it is about, who did it, and when."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    form = _log_form(request, project)
    filters = form.cleaned_data if form.is_valid() else {}
    if filters.get("item"):
        requested_item = Item.objects.filter(
            public_id=filters["item"].strip(), batch__project=project
        ).first()
        if requested_item is not None:
            return redirect("item_story", requested_item.public_id)
        form.add_error("item", gettext("There is no item with this id in this project."))
    context = {"project": project, "form": form, **_entries(request, project, filters)}
    context["undoable"] = item_actions.undoable(actor, project, now=timezone.now())
    return render(request, "stories/log.html", context)


def figures_of_log(request: PageRequest, slug: str) -> dict[str, Any]:
    """The part of the context of the log that holds its figure: the entries of the page, by pseudonyms."""
    project = authorization.project(authorization.actor(request), slug, Permission.SEE_PROGRESS)
    form = _log_form(request, project)
    return _entries(request, project, form.cleaned_data if form.is_valid() else {}, in_file=True)


def _log_form(request: PageRequest, project: Project) -> LogForm:
    return LogForm(_filters(request) or None, project=project)


def _filters(request: PageRequest) -> dict[str, str]:
    return {name: value.replace("\0", "") for name, value in request.GET.dict().items() if name != "before"}


def _entries(
    request: PageRequest, project: Project, filters: Mapping[str, Any], *, in_file: bool = False
) -> dict[str, Any]:
    """The entries that the filters select, the query of the older ones, and the entries as a figure."""
    actor = authorization.actor(request)
    names = item_history.Names(actor, project, in_file=in_file)
    before = request.GET.get("before", "")
    entries = item_history.log(
        actor,
        project,
        names,
        thing=filters.get("thing", ""),
        who=filters.get("who", ""),
        since=_begin(filters.get("since")),
        until=_begin(filters["until"] + timedelta(days=1)) if filters.get("until") else None,
        before=int(before) if before.isascii() and before.isdigit() and len(before) < 18 else None,
    )
    more = note = ""
    if len(entries) > item_history.PAGE:
        entries = entries[: item_history.PAGE]
        more = urlencode({**_filters(request), "before": min(entry.number for entry in entries)})
        note = gettext("Older entries are on the next page of the log.")
    table = record_tables.audit_log(entries, note)
    return {
        "entries": entries,
        "more": more,
        "by_name": names.by_name,
        "log_table": table,
        **figure_gallery(request, "log", project.slug, [table]),
    }


def _explanation_context(request: PageRequest, sight: visibility.Visibility, item: Item) -> dict[str, Any]:
    """The annotators of whom managers may ask whether they get the item, and the answer for the one they asked of."""
    try:
        explanations.require_visible(sight, item)
    except ActionRefused:
        return {}
    names = item_history.Names(authorization.actor(request), sight.project)
    members = Membership.objects.filter(project=sight.project, removed_at__isnull=True).order_by("pk")
    annotators = {
        row.pseudonym: row for row in members.select_related("person") if Role.ANNOTATOR in row.roles
    }
    context: dict[str, Any] = {"annotators": [(key, names(row.person_id)) for key, row in annotators.items()]}
    if (key := request.GET.get("person", "")) in annotators:
        context["asked_of"] = key
        context["explanation"] = explanations.explain(item, annotators[key].person, now=timezone.now())
    return context


@page("GET")
def item(request: PageRequest, public_id: str) -> HttpResponse:
    """All that happened to one item."""
    actor = authorization.actor(request)
    requested_item = authorization.item(actor, public_id, Permission.SEE_PROGRESS)
    sight = visibility.visibility_of(actor, requested_item.batch.project)
    try:
        item_history.require_readable(sight, requested_item)
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect("batch", requested_item.batch.public_id)
    if requested_item.batch.decides:
        candidates.record_reading([requested_item], by=request.user, now=timezone.now())
    names = item_history.Names(actor, requested_item.batch.project).of_responses(sight, requested_item)
    story = item_history.of_item(requested_item, names)
    table = record_tables.item_history(story.moments)
    context = {
        "item": requested_item,
        "batch": requested_item.batch,
        "project": requested_item.batch.project,
        "kind": kind_title(requested_item.batch),
        "story": story,
        "question": requested_item.example.question,
        "gold": requested_item.is_gold and sight.shows(Fact.GOLD, requested_item),
        "by_name": names.by_name,
        **dict.fromkeys(("annotators", "asked_of", "explanation")),
        "may_redact": Permission.SET_UP in authorization.permissions_in(actor, requested_item.batch.project),
        **_explanation_context(request, sight, requested_item),
        "history_table": table,
        **figure_gallery(request, "item", public_id, [table]),
    }
    return render(request, "stories/item.html", context)


class RedactForm(forms.Form):
    """A text to redact, and why."""

    text = forms.CharField(
        min_length=redaction.SHORTEST,
        max_length=redaction.LONGEST,
        label=gettext_lazy("Text to redact"),
        help_text=gettext_lazy("Exactly as it is written. It is replaced by [redacted]."),
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )
    reason = forms.CharField(
        max_length=500,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("The audit log keeps it. It must not contain the text."),
    )


@page("GET", "POST")
def redact(request: PageRequest, public_id: str) -> HttpResponse:
    """Redact a text about an item: the first POST says in how many fields it is, the second replaces it."""
    actor = authorization.actor(request)
    item = authorization.item(actor, public_id, Permission.SET_UP)
    with refusals_to(request):
        item_history.require_readable(visibility.visibility_of(actor, item.batch.project), item)
        form, count, now = RedactForm(request.POST or None), 0, timezone.now()
        if form.is_valid():
            with refusals_on(form):
                is_sure = request.POST.get("act") == "redact"
                data = {**form.cleaned_data, "item": item, "by": request.user, "now": now}
                count = redaction.redact(**data, only_count=not is_sure)
                if is_sure:
                    text = ngettext("{n} field was redacted.", "{n} fields were redacted.", count)
                    messages.success(request, text.format(n=count))
                    return redirect("item_story", public_id)
        releases = item_history.releases_with(item)
        context = {
            "item": item,
            "project": item.batch.project,
            "form": form,
            "count": count,
            "releases": releases,
        }
        return render(request, "stories/redact.html", context)
    return redirect("batch", item.batch.public_id)


def figures_of_item(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The history of an item as a figure, by pseudonyms; nothing for people who must not read it yet."""
    actor = authorization.actor(request)
    item = authorization.item(actor, public_id, Permission.SEE_PROGRESS)
    sight = visibility.visibility_of(actor, item.batch.project)
    try:
        item_history.require_readable(sight, item)
    except ActionRefused:
        return {}
    if item.batch.decides:
        candidates.record_reading([item], by=request.user, now=timezone.now())
    names = item_history.Names(actor, item.batch.project, in_file=True).of_responses(sight, item)
    story = item_history.of_item(item, names)
    return figure_gallery(request, "item", public_id, [record_tables.item_history(story.moments)])


def _begin(day: object) -> datetime | None:
    """The beginning of a day where the reader is at home."""
    return timezone.make_aware(datetime.combine(day, time())) if day else None  # type: ignore[arg-type]
