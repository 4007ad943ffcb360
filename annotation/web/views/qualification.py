"""How people did in a qualification, and admitting them: a part of the page of its annotators."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.charts import list_tables
from annotation.models import Batch, Membership
from annotation.quality import qualification
from annotation.web.views.pages import PageRequest, refusals_to
from tableqa.writers.report_tables import NOTHING


def results(batch: Batch, called: Mapping[int | None, str]) -> dict[str, Any]:
    """All people's result in a qualification, and as a figure with their pseudonyms; nothing of other batches."""
    is_qualification = batch.purpose == Batch.Purpose.QUALIFICATION
    standings = qualification.qualification_results(batch) if is_qualification else []
    named = [(standing, called.get(standing.person.pk, "")) for standing in standings]
    lines = [_line(batch, standing, pseudonym or NOTHING) for standing, pseudonym in named]
    return {
        "is_qualification": is_qualification,
        "standings": named,
        "results_table": list_tables.results(lines),
    }


def _line(batch: Batch, standing: qualification.QualificationResult, pseudonym: str) -> dict[str, Any]:
    row = standing.row
    if row is None:
        result = gettext("in progress")
    elif row.granted_by is not None:
        result = gettext("admitted")
    else:
        result = gettext("passed") if row.passed else gettext("not passed")
    return {
        "person": pseudonym,
        "done": standing.done,
        "items": batch.items_count,
        "right": None if row is None else row.right,
        "judged": None if row is None else row.judged,
        "percent": None if row is None else standing.percent,
        "result": result,
    }


def grant(request: PageRequest, batch: Batch, member: str) -> None:
    """Admit the member of this key without a pass. Http404 for an unknown key."""
    key = int(member) if member.isascii() and member.isdigit() and len(member) < 12 else 0
    membership = Membership.objects.filter(project=batch.project, pk=key).select_related("person").first()
    if membership is None:
        raise Http404(authorization.NOT_HERE)
    with refusals_to(request):
        qualification.grant(batch=batch, person=membership.person, by=request.user, now=timezone.now())
        messages.success(request, gettext("{name} may start.").format(name=membership.person.name))
