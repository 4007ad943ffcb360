"""Trying a batch as its annotators meet it: the same page over its real items, with nothing stored."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.assistance import draft_checks
from annotation.models import Batch
from annotation.quality import batch_preview, guidelines
from annotation.web.views.pages import PageRequest, page
from annotation.web.views.table_comparison import compare_inputs
from annotation.web.views.tables import sheet
from tasks.contract import Item


@page("GET", "POST")
def try_batch(request: PageRequest, public_id: str) -> HttpResponse:
    """One item (?number=) on the page of annotating; a post without scripts is looked at on the same page."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    if not visibility.may_see_agreement(request.user, batch):
        messages.warning(request, gettext("You annotate in this batch, so you cannot preview its items."))
        return redirect("batch", batch.public_id)
    position = request.GET.get("number", "1")
    tried = batch_preview.item_at(
        batch, int(position) if position.isascii() and position.isdigit() and len(position) < 8 else 0
    )
    if tried is None:
        if position == "1":
            messages.info(request, gettext("{name} has no items yet.").format(name=batch.name))
            return redirect("batch", batch.public_id)
        raise Http404(authorization.NOT_HERE)
    task, total = batch.task(), batch_preview.preview_items(batch).count()
    data: dict[str, Any] = {}
    context: dict[str, Any] = {"feedback": None}
    if request.method == "POST":
        data = task.form_data(request.POST, {})
        context["feedback"] = batch_preview.judge_response(tried, task.unparsed_envelope(data, tried.plain))
    context |= workbench(
        batch, tried.plain, name=f"try-{tried.number}", data=data, total=total, position=tried.number
    )
    context |= {
        "batch_page": batch,
        "project": batch.project,
        "number": tried.number,
        "total": total,
        "next_number": tried.number + 1 if tried.number < total else None,
        "plain": request.GET.get("plain") == "1",
        "plain_address": f"?number={tried.number}&plain=1",
        "judge": reverse("api_try", args=[batch.public_id]),
    }
    return render(request, "first_day/try.html", context)


def workbench(
    batch: Batch,
    item: Item,
    *,
    name: str,
    data: Mapping[str, Any],
    position: int = 1,
    total: int = 1,
) -> dict[str, Any]:
    """What the page of annotating needs of an item of no person: as for an assignment, without a database row."""
    task = batch.task()
    loop = draft_checks.describe_practice_loop(task) if batch.loop_model else None
    return {
        "task": task,
        "item": item,
        "assignment": {
            **task.page_data(item),
            "id": name,
            # What was entered before, as the page expects a draft that was kept.
            "draft": {"revision": 0, "response": task.unparsed_envelope(data, item), "saved_at": None}
            if data
            else None,
            "annotation": None,
            "progress": {"submitted": position - 1, "total": total},
            "loop": loop,
        },
        "data": data,
        "table": sheet(task, item, data) if "table" in task.shows else None,
        "compared": compare_inputs(task, item),
        "guidelines_html": guidelines.localized_html(guidelines.newest(batch.project, task), task),
    }
