"""How people did in a qualification, and admitting them: a part of the page of its annotators."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext

from annotation import access
from annotation.models import Batch, Membership
from annotation.quality import qualifying
from annotation.views.pages import PageRequest, refusals_to


def results(batch: Batch) -> dict[str, Any]:
    """Everybody's result in a qualification; nothing of other batches."""
    is_qualification = batch.purpose == Batch.Purpose.QUALIFICATION
    return {
        "is_qualification": is_qualification,
        "standings": qualifying.standings(batch) if is_qualification else [],
    }


def grant(request: PageRequest, batch: Batch, member: str) -> None:
    """Admit the member of this key without a pass. Http404 for a key of nobody here."""
    key = int(member) if member.isascii() and member.isdigit() and len(member) < 12 else 0
    found = Membership.objects.filter(project=batch.project, pk=key).select_related("person").first()
    if found is None:
        raise Http404(access.NOT_HERE)
    with refusals_to(request):
        qualifying.grant(batch=batch, person=found.person, by=request.user, now=timezone.now())
        messages.success(request, gettext("{name} may start.").format(name=found.person.name))
