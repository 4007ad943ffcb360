"""An adjudicator's pages: what waits, one item with its responses side by side, an answer of one's own; a batch's rule."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext

from annotation import access, visibility
from annotation.forms.deciding import DecisionForm, RuleForm, SendBackForm
from annotation.journeys import adjudicating
from annotation.journeys.adjudicating import Candidate
from annotation.models import Batch, Decision, Item, Person
from annotation.quality import guidance
from annotation.refusals import Refused
from annotation.roles import Permission
from annotation.views.annotating import EDITS, drawable_operations
from annotation.views.contrasting import compared, contrasted, for_scripts, said
from annotation.views.pages import PageRequest, cut_wide, kind_title, page, refusals_on
from annotation.views.tables import chosen_cells, drawn, in_words, pointed_at, sheet
from annotation.words import shown
from tableqa.json_text import read_json
from tableqa.operations import OperationError, normalise
from tasks import resolving
from tasks.contract import SHOWN, Invalid, Making, Problem, TaskType
from tasks.contract import Item as PlainItem

AHEAD = 500
"""How far down the queue somebody who leaves an item for later is led on; after that the queue begins anew."""


@page("GET")
def adjudication(request: PageRequest, public_id: str) -> HttpResponse:
    """The items of a batch that wait for this adjudicator: those that matter most first."""
    actor = access.actor(request)
    batch = access.batch(actor, public_id, Permission.ADJUDICATE)
    waiting = adjudicating.waiting(batch)
    context = {
        "batch": batch,
        "project": batch.project,
        "task": batch.task(),
        "items": cut_wide(request, visibility.adjudicable(actor.person, waiting)),
        "waiting": waiting.count(),
    }
    return render(request, "adjudicating/queue.html", context)


@page("GET")
def project_adjudication(request: PageRequest, slug: str) -> HttpResponse:
    """The same over all batches of a project."""
    actor = access.actor(request)
    project = access.project(actor, slug, Permission.ADJUDICATE)
    waiting = adjudicating.waiting_in(project)
    items = cut_wide(request, visibility.adjudicable(actor.person, waiting))
    for item in items:
        item.kind = kind_title(item.batch)
    context = {"project": project, "items": items, "waiting": waiting.count()}
    return render(request, "adjudicating/queue.html", context)


@page("GET", "POST")
def adjudicate(request: PageRequest, public_id: str) -> HttpResponse:
    """Question, table and the responses as A, B, C: choose among them, send one back, or exclude the item."""
    item, person = _mine(request, public_id)
    batch = item.batch
    action = request.POST.get("action", "decide")
    post = request.POST.copy() if request.method == "POST" and action != "back" else None
    waits = _waits(item)
    if not waits and post is None:
        messages.info(request, gettext("This item no longer needs adjudication."))
        return redirect("adjudication", batch.public_id)
    candidates = adjudicating.candidates(item)
    letters = [candidate.letter for candidate in candidates]
    if post is not None and action == "exclude":
        post.setlist("choose", [])
    back = SendBackForm(post if action == "send_back" else None, letters=letters)
    form = DecisionForm(
        post if action != "send_back" else None,
        initial={name: request.POST.get(name) for name in ("exclude", "note")},
        letters=letters,
    )
    now = timezone.now()
    if not waits:  # somebody else was first: what was chosen and written stays on the page
        (back if back.is_bound else form).add_error(None, _was_decided(item))
    elif back.is_valid():
        with refusals_on(back):
            said = back.cleaned_data
            adjudicating.send_back(item=item, by=person, choose=said["back"], note=said["back_note"], now=now)
            return _next(
                request,
                person,
                batch,
                gettext("Response {said} was sent back to its author.").format(said=said["back"]),
            )
    elif form.is_valid():
        with refusals_on(form):
            adjudicating.decide(item=item, by=person, now=now, **form.cleaned_data)
            return _next(request, person, batch, gettext("Decided."))
    context = _shown_item(request, item, candidates) | {
        "form": form,
        "back": back,
        "open": action if post is not None else "",
        "chosen": post.getlist("choose") if post is not None else [],
        "returnable": adjudicating.returnable(item, candidates),
        "left": visibility.adjudicable(person, adjudicating.waiting(batch)).count(),
        "later": _after(person, item),
    }
    return render(request, "adjudicating/adjudicate.html", context, status=200 if waits else 409)


@page("GET", "POST")
def own_response(request: PageRequest, public_id: str) -> HttpResponse:
    """The annotator's page over a waiting item, for an adjudicator who writes the response (?from= a letter to begin with).

    With scripts the response comes as JSON in the form; without them the fields come one by one, and the operations so
    far are carried along in the form.
    """
    item, person = _mine(request, public_id)
    batch = item.batch
    waits, action = _waits(item), request.POST.get("action", "submit")
    # "begin" only brings the note of the page before.
    entered = request.method == "POST" and action != "begin"
    if not waits and not entered:
        messages.info(request, gettext("This item no longer needs adjudication."))
        return redirect("adjudication", batch.public_id)
    task, plain = batch.task(), item.plain()
    base = request.GET.get("from", "")
    data = data_of_base = _data_of(item, base)
    problems: list[Problem] = []
    if entered:
        data, problems = _entered(request, task, plain, action)
        if not waits:
            problems = [Problem("", "decided", _was_decided(item))]
        elif action == "submit" and not problems:
            response = {**_envelope(task, data, plain), **_base(request)}
            problems = _decide(request, item, person, response, [base] if data_of_base else [])
            if not problems:
                return _next(request, person, batch, gettext("Decided."))
    operations = drawable_operations(task, data)
    try:
        table = sheet(task, plain, data, operations)
    except OperationError as error:
        problems.append(Problem("operations", error.code, str(error)))
        table = sheet(task, plain, data)
    context = {
        "project": batch.project,
        "the_batch": batch,
        "task": task,
        "item": plain,
        "public_id": item.public_id,
        "assignment": _own_assignment(item, task, plain, data),
        "base": base,
        "data": data,
        "carried": json.dumps(data),
        "note": request.POST.get("note", ""),
        "violations": problems,
        "plain": request.GET.get("plain") == "1",
        "table": table if "table" in task.shows else None,
        "compared": compared(task, plain),
        "changes": in_words(plain.example.table, operations),
        # Markdown with HTML switched off: what comes out was escaped by the renderer.
        "guidelines_html": mark_safe(  # nosec
            guidance.told_as_html(guidance.newest(batch.project, task), task, top=2)
        ),
    }
    return render(
        request, "adjudicating/own.html", context, status=(422 if waits else 409) if problems else 200
    )


def _data_of(item: Item, letter: str) -> dict[str, Any]:
    """The data of the response with that letter; empty if there is none."""
    responses = {
        candidate.letter: candidate.annotation.response for candidate in adjudicating.candidates(item)
    }
    return dict((responses.get(letter) or {"data": {}})["data"])


def _decide(
    request: PageRequest, item: Item, person: Person, response: Mapping[str, Any], based_on: Sequence[str]
) -> list[Problem]:
    """Decide the item with an own response. Returns the problems that prevented it."""
    try:
        adjudicating.decide(
            item=item,
            by=person,
            note=request.POST.get("note", ""),
            response=response,
            based_on=based_on,
            now=timezone.now(),
        )
    except Invalid as invalid:
        return list(invalid.problems)
    except Refused as refused:
        return [Problem("", refused.code, refused.detail)]
    return []


def _own_assignment(item: Item, task: TaskType, plain: PlainItem, data: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of the annotation page for an item without an assignment."""
    response = _envelope(task, data, plain)
    draft = {"revision": 1, "response": response, "saved_at": timezone.now().isoformat()} if data else None
    return {
        **task.presented(plain),
        "id": f"own-{item.public_id}",
        "draft": draft,
        "annotation": None,
        "progress": {"submitted": 0, "total": 1},
        "loop": None,
    }


@page("GET", "POST")
def batch_rule(request: PageRequest, public_id: str) -> HttpResponse:
    """The rule that decides in a batch: what it is, what another would make of what waits, and the change of it."""
    actor = access.actor(request)
    batch = access.batch(actor, public_id, Permission.SET_UP)
    task = batch.task()
    rules = resolving.fitting(task)
    now_is = {name: value for name, value in batch.resolve.items() if name != "rule"}
    form = RuleForm(
        request.POST or None,
        initial={"rule": batch.resolve.get("rule", ""), "options": now_is},
        rules=[(rule.name, f"{rule.name}: {gettext(rule.says)}") for rule in rules],
    )
    foreseen = None
    if form.is_valid():
        with refusals_on(form):
            rule = form.cleaned_data["checked"]
            if request.POST.get("action") == "change":
                job = adjudicating.change_rule(batch=batch, rule=rule, by=actor.person, now=timezone.now())
                if job is not None:
                    return redirect("job", job.public_id)
                messages.info(request, gettext("This rule already applies."))
                return redirect("batch_rule", batch.public_id)
            foreseen = adjudicating.foreseen(batch, adjudicating.checked_rule(batch, rule))
    context = {
        "batch": batch,
        "project": batch.project,
        "task": task,
        "form": form,
        "rules": rules,
        "rule": gettext(resolving.in_words(batch.resolve)),
        "own": resolving.in_words(resolving.own(task, batch.settings)) if task.rule else "",
        "waiting": adjudicating.waiting(batch).count(),
        "foreseen": foreseen,
    }
    return render(request, "adjudicating/rule.html", context)


# -- underneath -------------------------------------------------------------------------------------


def _mine(request: PageRequest, public_id: str) -> tuple[Item, Person]:
    """The item and who adjudicates it. Http404 for whoever made or annotated it, or may still annotate there."""
    actor = access.actor(request)
    item = access.item(actor, public_id, Permission.ADJUDICATE)
    if not visibility.may_adjudicate(actor.person, item):
        raise Http404(access.NOT_HERE)
    if _waits(item):
        adjudicating.note_reading([item], by=actor.person, now=timezone.now())
    return item, actor.person


def _shown_item(request: PageRequest, item: Item, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """What the page of an item shows whatever was posted to it."""
    batch = item.batch
    task, plain = batch.task(), item.plain()
    shows = task.payload(plain)
    contrast = comparison = None
    if "table" in task.shows:
        each = [
            said(candidate.letter, task, (candidate.annotation.response or {})["data"])
            for candidate in candidates
        ]
        pointed = pointed_at(task, plain)
        contrast = contrasted(plain.example.table, each, pointed=pointed, part=_part(request))
        comparison = for_scripts(plain.example.table, each, pointed=pointed) if contrast else None
    return {
        "batch": batch,
        "project": batch.project,
        "task": task,
        "item": plain,
        "instruction": task.instruct(plain, has_model=bool(task.predicts and batch.loop_model)),
        "public_id": item.public_id,
        "reason": waiting.reason if (waiting := getattr(item, "adjudication", None)) else "",
        "shows": shows,
        "beside": _beside(shows),
        "contrast": contrast,
        "comparison": comparison,
        "table": drawn(plain.example.table) if "table" in task.shows and contrast is None else None,
        "candidates": [_shown(candidate, task, plain, alone=contrast is None) for candidate in candidates],
    }


def _part(request: PageRequest) -> int:
    """Which part of a long table is asked for; 0 is where people differ."""
    part = request.GET.get("rows", "")
    return int(part) if part.isascii() and part.isdigit() and len(part) < 6 else 0


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


def _was_decided(item: Item) -> str:
    """What somebody else made of an item in the meantime, for an adjudicator who has something written about it."""
    decision = Decision.objects.filter(item=item).first()
    if decision is None:
        became = gettext(
            "A response was sent back to its author. The item does not need adjudication at the moment."
        )
    elif decision.kind == Decision.Kind.EXCLUDED:
        became = gettext("This item was excluded in the meantime: {reason}").format(
            reason=shown(decision.reason)
        )
    else:
        task, plain = item.batch.task(), item.plain()
        outcomes = [
            "; ".join(task.describe(task.read(outcome.response, plain), plain))
            for outcome in decision.outcomes.order_by("number")
        ]
        became = gettext("This item was decided in the meantime: {said}").format(said=" | ".join(outcomes))
    why = (
        [gettext("Note: {note}").format(note=decision.note)] if decision is not None and decision.note else []
    )
    return " ".join(
        [became, *why, gettext("Your choice and text are still shown here, so that you can copy them.")]
    )


def _next(request: PageRequest, person: Person, batch: Batch, done: str) -> HttpResponse:
    """On to the next item that waits, for whoever is in the flow of it."""
    following = visibility.adjudicable(person, adjudicating.waiting(batch)).first()
    if following is None:
        messages.success(request, gettext("{done} All caught up.").format(done=done))
        return redirect("adjudication", batch.public_id)
    messages.success(request, gettext("{done} Next item:").format(done=done))
    return redirect("adjudicate", following.public_id)


def _after(person: Person, item: Item) -> str:
    """The address of the item that waits behind this one; "" where there is no other."""
    waiting = visibility.adjudicable(person, adjudicating.waiting(item.batch))
    ids = list(waiting.values_list("public_id", flat=True)[:AHEAD])
    at = ids.index(item.public_id) if item.public_id in ids else -1
    following = ids[(at + 1) % len(ids)] if ids else item.public_id
    return "" if following == item.public_id else reverse("adjudicate", args=[following])


def _shown(candidate: Candidate, task: TaskType, item: PlainItem, *, alone: bool) -> dict[str, Any]:
    """A response as the kind's own response.html draws it; `alone`: with a table of its own."""
    response = candidate.annotation.response or {}
    operations = drawable_operations(task, response["data"])
    marked = chosen_cells(task, response["data"])
    draws = alone and (operations or marked)
    return {
        "letter": candidate.letter,
        "key": candidate.letter.lower() if len(candidate.letter) == 1 else "",
        "added": candidate.added,
        "sent_back": candidate.sent_back,
        "unmet": candidate.unmet,
        "unsure": candidate.unsure,
        "response": response,
        "data": response["data"],
        "words": candidate.words,
        "changes": in_words(item.example.table, operations),
        "table": drawn(item.example.table, operations, marked=marked) if draws else None,
        "table_label": gettext("Table of response {letter}").format(letter=candidate.letter),
        "template": task.response_template,
    }


def _entered(
    request: PageRequest, task: TaskType, item: PlainItem, action: str
) -> tuple[dict[str, Any], list[Problem]]:
    """`data` of a post to the page of an own response, and what was wrong with the button that was pressed."""
    if sent := request.POST.get("response"):
        try:
            data = read_json(sent)["data"]
            return dict(data), []
        except (ValueError, KeyError, TypeError):
            return {}, [
                Problem("", "bad_response", gettext("The response could not be read. Submit it again."))
            ]
    carried: dict[str, Any] = {}
    with contextlib.suppress(ValueError, TypeError):
        carried = dict(read_json(request.POST.get("carried", "{}")))
    data = task.form_data(request.POST, carried)
    edit = EDITS.get(action) or (task.form_edits().get(action) if isinstance(task, Making) else None)
    name = task.operations_field
    if edit is None or not name:
        return data, []
    try:
        operations = edit(request.POST, item, drawable_operations(task, data))
        data[name] = [operation.to_dict() for operation in normalise(operations, item.example.table)]
    except OperationError as error:
        return data, [Problem("operations", error.code, str(error))]
    return data, []


def _envelope(task: TaskType, data: Mapping[str, Any], item: PlainItem) -> dict[str, Any]:
    return {
        "type": task.key,
        "variant": item.variant,
        "version": task.version,
        "base": item.base,
        "data": data,
    }


def _base(request: PageRequest) -> dict[str, str]:
    """The table that the response was made on, as the page says it: another one is refused."""
    base = request.POST.get("base", "")
    return {"base": base} if base else {}
