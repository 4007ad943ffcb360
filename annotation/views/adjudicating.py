"""An adjudicator's pages: what waits, and one item with its responses side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from annotation import access, adjudicating, visibility
from annotation.adjudicating import Candidate
from annotation.forms import DecisionForm
from annotation.models import Batch, Item, Person
from annotation.roles import Permission
from annotation.views.pages import PageRequest, cut, page, refusals_on
from annotation.views.tables import chosen_cells, drawn, given, in_words
from tableqa.operations import from_list
from tasks.contract import SHOWN, TaskType
from tasks.contract import Item as PlainItem


@page("GET")
def adjudication(request: PageRequest, public_id: str) -> HttpResponse:
    """The items of a batch that wait for this adjudicator, oldest first."""
    actor = access.actor(request)
    batch = access.batch(actor, public_id, Permission.ADJUDICATE)
    waiting = adjudicating.waiting(batch)
    mine = visibility.adjudicable(actor.person, waiting)
    context = {
        "batch": batch,
        "project": batch.project,
        "task": batch.task(),
        "items": cut(request, mine),
        "waiting": waiting.count(),
    }
    return render(request, "adjudicating/queue.html", context)


@page("GET", "POST")
def adjudicate(request: PageRequest, public_id: str) -> HttpResponse:
    """Question, table and the responses as A, B, C; choose among them or exclude the item, with a note."""
    actor = access.actor(request)
    item = access.item(actor, public_id, Permission.ADJUDICATE)
    if not visibility.may_adjudicate(actor.person, item):
        raise Http404(access.NOT_HERE)
    batch = item.batch
    if not _waits(item):
        messages.info(request, "This item does not wait for an adjudicator (any more).")
        return redirect("adjudication", batch.public_id)
    candidates = adjudicating.candidates(item)
    form = DecisionForm(request.POST or None, letters=[candidate.letter for candidate in candidates])
    if form.is_valid():
        with refusals_on(form):
            adjudicating.decide(item=item, by=actor.person, now=timezone.now(), **form.cleaned_data)
            return _next(request, actor.person, batch)
    task, plain = batch.task(), item.plain()
    chosen = form["choose"].value() or []
    context = {
        "batch": batch,
        "project": batch.project,
        "task": task,
        "item": plain,
        "reason": item.adjudication.reason,
        "shows": task.payload(plain),
        "beside": _beside(task.payload(plain)),
        "table": given(task, plain) if "table" in task.shows else None,
        "candidates": [
            _shown(candidate, task, plain, candidate.letter in chosen) for candidate in candidates
        ],
        "form": form,
        "left": visibility.adjudicable(actor.person, adjudicating.waiting(batch)).count(),
    }
    return render(request, "adjudicating/adjudicate.html", context)


def _beside(shows: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What an item shows under names of its kind's own, as far as it is a text: a title and the text."""
    texts = {
        name: shown.get("text") if isinstance(shown, Mapping) else shown for name, shown in shows.items()
    }
    return [
        (name.replace("_", " ").capitalize(), text)
        for name, text in texts.items()
        if name not in SHOWN and isinstance(text, str)
    ]


def _waits(item: Item) -> bool:
    return adjudicating.waiting(item.batch).filter(pk=item.pk).exists()


def _next(request: PageRequest, person: Person, batch: Batch) -> HttpResponse:
    """On to the next item that waits, for whoever is in the flow of it."""
    following = visibility.adjudicable(person, adjudicating.waiting(batch)).first()
    if following is None:
        messages.success(request, "Decided. Nothing waits for you here now.")
        return redirect("adjudication", batch.public_id)
    messages.success(request, "Decided. Here is the next item.")
    return redirect("adjudicate", following.public_id)


def _shown(candidate: Candidate, task: TaskType, item: PlainItem, chosen: bool) -> dict[str, Any]:
    """A response as the kind's own response.html draws it."""
    response = candidate.annotation.response or {}
    field = task.operations_field
    operations = list(from_list(response["data"].get(field, []))) if field else []
    marked = chosen_cells(task, response["data"])
    return {
        "letter": candidate.letter,
        "added": candidate.added,
        "chosen": chosen,
        "response": response,
        "data": response["data"],
        "words": candidate.words,
        "changes": in_words(item.example.table, operations),
        "table": (
            _around_changes(drawn(item.example.table, operations, marked=marked))
            if operations or marked
            else None
        ),
        "table_label": f"Table of response {candidate.letter}",
        "template": f"{task.key}/response.html",
    }


def _around_changes(table: dict[str, Any]) -> dict[str, Any]:
    """The rows that changed or are marked, and their neighbours: the whole table stands above, and rows keep their
    numbers.

    A table without such a row (columns moved, headers renamed) is shown whole.
    """
    rows = table["rows"]
    marked = [
        at
        for at, row in enumerate(rows)
        if row["removed"]
        or row["inserted"]
        or any(cell["changed"] or cell["marked"] for cell in row["cells"])
    ]
    near = {beside for at in marked for beside in (at - 1, at, at + 1)}
    return {**table, "rows": [row for at, row in enumerate(rows) if at in near]} if marked else table
