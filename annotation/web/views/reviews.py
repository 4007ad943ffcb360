"""Reviews of random accepted items: the samples of a project with their error rates, and one sample item by item."""

import secrets
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotation.access import authorization
from annotation.explorer import item_access
from annotation.explorer import review as item_review
from annotation.explorer.item_access import Reader
from annotation.models import ReviewEntry, ReviewSample
from annotation.quality import compared_responses
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on, refusals_to
from annotation.web.views.tables import drawn


class SampleForm(forms.Form):
    """How many accepted items are drawn, and with which seed."""

    size = forms.IntegerField(
        min_value=1, max_value=item_review.MOST, initial=50, label=gettext_lazy("Sample size")
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        required=False,
        help_text=gettext_lazy("The same seed gives the same sample. Leave empty for a random one."),
    )


@page("GET", "POST")
def reviews(request: PageRequest, slug: str) -> HttpResponse:
    """The samples of a project with their error rates, and the form that draws another one."""
    actor = authorization.actor(request)
    project = authorization.project_to_act_in(actor, slug)
    who = item_access.reader(actor, project)
    form = SampleForm(request.POST or None)
    if form.is_valid():
        with refusals_on(form):
            seed = form.cleaned_data["seed"]
            seed = secrets.randbelow(2**31) if seed is None else seed
            sample = item_review.draw(who, size=form.cleaned_data["size"], seed=seed, now=timezone.now())
            return redirect("review", sample.public_id)
    samples = paginate(request, ReviewSample.objects.filter(project=project).order_by("-pk"))
    lines = [_counts(sample) for sample in samples]
    context = {"project": project, "form": form, "samples": samples, "lines": lines}
    return render(
        request, "adjudicating/reviews.html", {**context, "number": item_review.reviewable(who).count()}
    )


@page("GET", "POST")
def review(request: PageRequest, public_id: str) -> HttpResponse:
    """The next item of a sample with its accepted response; POST stores what the person found."""
    actor = authorization.actor(request)
    sample = authorization.review_sample(actor, public_id)
    who = item_access.reader(actor, sample.project)
    note = ""
    if request.method == "POST":
        note = request.POST.get("note", "")
        with refusals_to(request):
            entry = sample.entries.filter(
                item__public_id=request.POST.get("item", "").replace("\0", "")
            ).first()
            if entry is not None:
                outcome = request.POST.get("outcome", "")
                item_review.record(who, entry, outcome, note=note, now=timezone.now())
                text = (
                    gettext("Sent back to adjudication.") if outcome == "sent_back" else gettext("Confirmed.")
                )
                messages.success(request, text)
            return redirect("review", public_id)
    entry = item_review.next_entry(who, sample)
    context = {"project": sample.project, "entry": entry, "note": note, **_counts(sample)}
    return render(request, "adjudicating/review.html", context | (_entry_parts(who, entry) if entry else {}))


def _counts(sample: ReviewSample) -> dict[str, Any]:
    total = sample.entries.count()
    rate = item_review.error_rate(sample)
    return {"sample": sample, "total": total, "done": rate.n, "left": total - rate.n, "rate": rate}


def _entry_parts(who: Reader, entry: ReviewEntry) -> dict[str, Any]:
    """Question, table and accepted outcomes of an item, as its task type words them."""
    item = entry.item
    item.batch = who.batches[item.batch_id]
    task, plain = item.batch.task(), item.plain()
    outcomes = item.decision.outcomes.order_by("number")
    return {
        "item": item,
        "task": task,
        "outcomes": [
            task.describe(compared_responses.restore_response(task, outcome.response), plain)
            for outcome in outcomes
        ],
        "table": drawn(plain.example.table) if "table" in task.shows else None,
    }
