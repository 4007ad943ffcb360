"""Who may begin: what comes before the first item of a batch, and how people did in a qualification."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation import access
from annotation.forms.terms import ChangeForm
from annotation.journeys import changing
from annotation.models import Batch, Membership
from annotation.quality import qualifying
from annotation.roles import Permission
from annotation.terms.entry import EntryTerms
from annotation.views.pages import PageRequest, page, refusals_on, refusals_to
from annotation.work import gates, practising


@page("GET", "POST")
def entry(request: PageRequest, public_id: str) -> HttpResponse:
    """What the batch asks before its first item; in a qualification batch also everybody's result, and letting in."""
    actor = access.actor(request)
    batch = access.batch(actor, public_id, Permission.SET_UP)
    task, now = batch.task(), timezone.now()
    qualifies = batch.purpose == Batch.Purpose.QUALIFICATION
    action = request.POST.get("action", "")
    if request.method == "POST" and action.startswith("grant:"):
        member = (
            Membership.objects.filter(project=batch.project, pk=_number(action.removeprefix("grant:")))
            .select_related("person")
            .first()
        )
        if member is None:
            raise Http404(access.NOT_HERE)
        with refusals_to(request):
            qualifying.grant(batch=batch, person=member.person, by=request.user, now=now)
            messages.success(request, gettext("{name} may start.").format(name=member.person.name))
        return redirect("entry", batch.public_id)
    form = ChangeForm(request.POST or None, batch=batch, terms=EntryTerms)
    if form.is_valid():
        with refusals_on(form):
            changing.change(batch=batch, by=request.user, now=now, **form.cleaned_data)
            messages.success(request, gettext("Saved. Applies from each person's next item."))
            return redirect("entry", batch.public_id)
    context = {
        "batch": batch,
        "project": batch.project,
        "task": task,
        "qualifies": qualifies,
        "form": form,
        "asked": gates.asked_of(batch, task),
        "practice": bool(practising.exercises(task, batch.variant)),
        "standings": qualifying.standings(batch) if qualifies else [],
        "asking": qualifying.asking_for(batch) if qualifies else [],
    }
    return render(request, "first_day/entry.html", context)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
