"""An adjudicator's pages: what waits, one item with its responses side by side, an answer of one's own; a batch's rule."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.models import Batch, Decision, Item, Person, Project, RevisionRequest
from annotation.models.batch_options.adjudication import listed_reasons
from annotation.platform.display_text import show
from annotation.platform.refusals import ActionRefused
from annotation.quality import compared_responses, guidelines
from annotation.queue import candidates as queue_candidates
from annotation.queue import resolutions
from annotation.queue.candidates import Candidate
from annotation.templatetags.explorer import reader_of
from annotation.web.forms.adjudication import DecisionForm, SendBackForm
from annotation.web.views.assignments import edit_operations
from annotation.web.views.pages import PageRequest, kind_title, page, paginate_wide, refusals_on
from annotation.web.views.table_comparison import (
    compare_inputs,
    contrast_table,
    drawable_operations,
    for_scripts,
    variants_of,
)
from annotation.web.views.tables import chosen_cells, drawn, in_words, pointed_at, sheet
from annotation.workflow import adjudication as workflow_adjudication
from tableqa.core.json_text import read_json
from tableqa.operations import OperationError
from tasks.contract import SHOWN, InvalidResponse, Problem, TaskType
from tasks.contract import Item as PlainItem

AHEAD = 500
"""How far down the queue a person who leaves an item for later is led on; after that the queue begins again."""
SINGLE_OUTCOME = ("labels", "answers")
"""Forms of responses of which only equal ones are accepted together: a letter replaces the choice."""


@page("GET", "POST")
def adjudication(request: PageRequest, public_id: str) -> HttpResponse:
    """The items of a batch that wait for this adjudicator: those that matter most first. A POST undoes a decision."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.ADJUDICATE)
    if request.POST.get("undo"):
        return _undo(request, batch)
    waiting = resolutions.waiting(batch)
    context = {
        "batch": batch,
        "project": batch.project,
        "task": batch.task(),
        "items": paginate_wide(request, visibility.adjudicable(request.user, waiting)),
        **_caught_up(request, request.user, batch),
    }
    return render(request, "adjudicating/queue.html", context)


@page("GET")
def project_adjudication(request: PageRequest, slug: str) -> HttpResponse:
    """The same over all batches of a project."""
    project = authorization.project(authorization.actor(request), slug, Permission.ADJUDICATE)
    waiting = resolutions.waiting_in(project)
    items = paginate_wide(request, visibility.adjudicable(request.user, waiting))
    for item in items:
        item.kind = kind_title(item.batch)
    waits = _in_total(request, project, waiting)
    context = {"project": project, "batch": None, "items": items, "waiting": waits}
    return render(request, "adjudicating/queue.html", context)


@page("GET", "POST")
def adjudicate(request: PageRequest, public_id: str) -> HttpResponse:
    """Question, table and the responses as A, B, C: choose among them, send one back, or exclude the item."""
    item, person, waits = _own_adjudication(request, public_id)
    action = "decide" if request.POST.get("listed_reason") else request.POST.get("action", "decide")
    post = request.POST if request.method == "POST" and action != "back" else None
    if not waits and post is None:
        if _is_lane(request):
            return _following(request, person, item.batch, "")
        messages.info(request, gettext("This item needs no adjudication now."))
        return redirect("adjudication", item.batch.public_id)
    candidates = queue_candidates.of_item(item)
    letters = [candidate.letter for candidate in candidates]
    back = SendBackForm(post if action == "send_back" else None, letters=letters)
    form = DecisionForm(
        post if action != "send_back" else None,
        initial={name: request.POST.get(name) for name in ("exclude", "note")},
        letters=letters,
        batch=item.batch,
        excludes=action == "exclude",
    )
    now, following = timezone.now(), _following_item(person, item) if post is not None else ""
    seen, problem = request.POST.get("responses", ""), ""
    are_others = bool(seen) and seen != _in_one_text(candidates)
    chosen = post.getlist("choose") if post is not None and not are_others else []
    if not waits:  # another person was first: what was chosen and written stays on the page
        (back if back.is_bound else form).add_error(None, _was_decided(item))
    elif are_others:
        written = {name: request.POST.get(name, "") for name in ("exclude", "note", "back_note")}
        form = DecisionForm(initial=written, letters=letters, batch=item.batch)
        back = SendBackForm(initial=written, letters=letters)
        action = ""  # and nothing is chosen: a letter may be that of another response now
        problem = gettext(workflow_adjudication.RESPONSES_CHANGED)
    elif back.is_valid():
        with refusals_on(back):
            cleaned_data = back.cleaned_data
            workflow_adjudication.send_back(
                item=item,
                by=person,
                choose=cleaned_data["back"],
                note=cleaned_data["back_note"],
                now=now,
                seen=seen,
            )
            done = gettext("Response {said} was sent back to its author.").format(said=cleaned_data["back"])
            return _following(request, person, item.batch, done, following)
    elif form.is_valid():
        with refusals_on(form):
            workflow_adjudication.decide(item=item, by=person, now=now, seen=seen, **form.cleaned_data)
            done = gettext("Excluded.") if form.cleaned_data["exclude"] else gettext("Decided.")
            return _following(request, person, item.batch, done, following)
    return _item_page(
        request,
        person,
        item,
        candidates,
        form=form,
        back=back,
        open=action if post is not None else "",
        chosen=chosen,
        waits=waits,
        problem=problem,
    )


def _item_page(
    request: PageRequest,
    person: Person,
    item: Item,
    candidates: Sequence[Candidate],
    *,
    form: DecisionForm | None = None,
    back: SendBackForm | None = None,
    open: str = "",
    chosen: Sequence[str] = (),
    waits: bool = True,
    problem: str = "",
    announced: str = "",
    is_restored: bool = False,
) -> HttpResponse:
    """The page of an item, or what changes on it where the script of the page asks. 409 if the item waits no longer."""
    letters = [candidate.letter for candidate in candidates]
    queue = _queue_of(person, item.batch)
    form, back = (
        form or DecisionForm(letters=letters, batch=item.batch),
        back or SendBackForm(letters=letters),
    )
    context = _item_context(request, item, candidates) | {
        "form": form,
        "back": back,
        "written": [form["note"], form["exclude"], back["back_note"]],
        "open": open,
        "chosen": chosen,
        "seen": _in_one_text(candidates),
        "returnable": workflow_adjudication.returnable(item, candidates),
        "reasons": list(enumerate(listed_reasons(item.batch.adjudication_reasons), start=1)),
        "gone": not waits,
        "problem": problem,
        "announced": announced,
        "is_restored": is_restored,
        "single_outcome": item.batch.task().compares in SINGLE_OUTCOME,
        "address": reverse("adjudicate", args=[item.public_id]),
        "later": reverse("adjudicate", args=[later]) if (later := _after(queue["ids"], item)) else "",
        **queue,
    }
    template = "adjudicating/_lane.html" if _is_lane(request) else "adjudicating/adjudicate.html"
    return render(request, template, context, status=200 if waits and not problem else 409)


def _in_one_text(candidates: Sequence[Candidate]) -> str:
    """The responses that a page shows, for the form that it sends back."""
    return queue_candidates.in_one_text(candidate.annotation for candidate in candidates)


def _queue_of(person: Person, batch: Batch) -> dict[str, Any]:
    """How many items of the project wait for the person, which ones are next, and what they decided in this sitting.

    Those of the batch come first: the queue goes through the project batch by batch.
    """
    waiting = visibility.adjudicable(person, resolutions.waiting_from(batch))
    ids = list(waiting.values_list("public_id", flat=True)[:AHEAD])
    sitting = workflow_adjudication.sitting(batch.project, person, timezone.now())
    waiting_count = len(ids) if len(ids) < AHEAD else waiting.count()
    return {
        "ids": ids,
        "left": waiting_count,
        "decided": len(sitting),
        "total": waiting_count + len(sitting),
        "last": _last_act(batch, person, sitting),
    }


def _undo(request: PageRequest, batch: Batch) -> HttpResponse:
    """Undo a decision, or sending a response back, and show the item again with what had been chosen and written."""
    actor = authorization.actor(request)
    item = authorization.item(actor, request.POST["undo"], Permission.ADJUDICATE)
    if item.batch.project_id != batch.project_id or not visibility.may_adjudicate(actor.person, item):
        raise Http404(authorization.NOT_HERE)
    sent: Sequence[RevisionRequest] = ()
    try:
        if Decision.objects.filter(item=item, made_by=actor.person).exists():
            workflow_adjudication.undo(item=item, by=actor.person, now=timezone.now())
        elif workflow_adjudication.last_undo(item, actor.person) is None:  # else the page did not hear of it
            sent = workflow_adjudication.undo_send_back(item=item, by=actor.person, now=timezone.now())
    except ActionRefused as refused:
        if _is_lane(request):
            last = _last_act(batch, actor.person)
            context = {"problem": refused.detail, "last": last if last.item != item.public_id else None}
            return render(request, "adjudicating/_refused.html", context, status=409)
        messages.error(request, refused.detail)
        return redirect("adjudication", batch.public_id)
    item = authorization.item(actor, item.public_id, Permission.ADJUDICATE)
    candidates = queue_candidates.of_item(item)
    letters = [candidate.letter for candidate in candidates]
    undone = (workflow_adjudication.last_undo(item, actor.person) or {}).get("undone")
    written, chosen = _undone_entries(undone, item.batch.task(), candidates) if undone else ({}, [])
    return _item_page(
        request,
        actor.person,
        item,
        candidates,
        form=DecisionForm(initial=written, letters=letters, batch=item.batch),
        back=SendBackForm(initial={"back_note": sent[0].note} if sent else {}, letters=letters),
        chosen=chosen,
        announced=gettext("Decision undone.") if undone else gettext("Sending back undone."),
        is_restored=True,
    )


def _undone_entries(
    undone: Mapping[str, Any], task: TaskType, candidates: Sequence[Candidate]
) -> tuple[dict[str, str], list[str]]:
    """What had been written and chosen (letters) for a decision that was undone.

    An exclusion was written as a reason, or followed from a response such as "unanswerable": the first with this reason.
    """
    note, reason = undone.get("note", ""), undone.get("reason", "")
    if undone["kind"] == Decision.Kind.EXCLUDED:
        if reason not in task.excludes.values():
            return {"note": "" if note == reason else note, "exclude": reason}, []
        excluding = [
            candidate.letter
            for candidate in candidates
            if task.excludes.get(task.word(candidate.response)) == reason
        ]
        return {"note": note, "exclude": ""}, excluding[:1]
    accepted = {annotation for outcome in undone["outcomes"] for annotation in outcome["annotations"]}
    letters = [candidate.letter for candidate in candidates if candidate.annotation.public_id in accepted]
    return {"note": note, "exclude": ""}, letters


@page("GET", "POST")
def own_response(request: PageRequest, public_id: str) -> HttpResponse:
    """The annotator's page over a waiting item, for an adjudicator who writes the response (?from= a letter to begin with).

    With scripts the response comes as JSON in the form; without them the fields come one by one, and the operations so
    far are carried along in the form.
    """
    item, person, waits = _own_adjudication(request, public_id)
    batch, action = item.batch, request.POST.get("action", "submit")
    # "begin" only brings the note of the page before.
    entered = request.method == "POST" and action != "begin"
    if not waits and not entered:
        messages.info(request, gettext("This item needs no adjudication now."))
        return redirect("adjudication", batch.public_id)
    task, plain = batch.task(), item.plain()
    base, candidates = request.GET.get("from", ""), queue_candidates.of_item(item)
    responses = {candidate.letter: candidate.annotation.response for candidate in candidates}
    data = data_of_base = dict((responses.get(base) or {"data": {}})["data"])
    problems: list[Problem] = []
    if entered:
        data, problems = _posted_data(request, task, plain, action)
        if not waits:
            problems = [Problem("", "decided", _was_decided(item))]
        elif action == "submit" and not problems:
            response = task.unparsed_envelope(data, plain)
            if table_base := request.POST.get(
                "base"
            ):  # what the response was made on: another table is refused
                response = {**response, "base": table_base}
            following = _following_item(person, item)
            problems = _decide(request, item, person, response, [base] if data_of_base else [])
            if not problems:
                return _following(request, person, batch, gettext("Decided."), following)
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
        "seen": request.POST.get("responses", "") or _in_one_text(candidates),
        "assignment": _own_assignment(item, task, plain, data, base),
        "base": base,
        "data": data,
        "carried": json.dumps(data),
        "note": request.POST.get("note", ""),
        "violations": problems,
        "plain": request.GET.get("plain") == "1",
        "table": table if "table" in task.shows else None,
        "compared": compare_inputs(task, plain),
        "changes": in_words(plain.example.table, operations),
        "guidelines_html": guidelines.localized_html(guidelines.newest(batch.project, task), task),
    }
    return render(
        request, "adjudicating/own.html", context, status=(422 if waits else 409) if problems else 200
    )


def _decide(
    request: PageRequest, item: Item, person: Person, response: Mapping[str, Any], based_on: Sequence[str]
) -> list[Problem]:
    """Decide the item with an own response. Returns the problems that prevented it."""
    try:
        workflow_adjudication.decide(
            item=item,
            by=person,
            note=request.POST.get("note", ""),
            response=response,
            based_on=based_on,
            now=timezone.now(),
            seen=request.POST.get("responses", ""),
        )
    except InvalidResponse as invalid:
        return list(invalid.problems)
    except ActionRefused as refused:
        return [Problem("", refused.code, refused.detail)]
    return []


def _own_assignment(
    item: Item, task: TaskType, plain: PlainItem, data: Mapping[str, Any], base: str
) -> dict[str, Any]:
    """The payload of the annotation page for an item without an assignment."""
    response = task.unparsed_envelope(data, plain)
    draft = {"revision": 1, "response": response, "saved_at": timezone.now().isoformat()} if data else None
    return {
        **task.page_data(plain),
        "id": f"own-{item.public_id}-{base}",
        "draft": draft,
        "annotation": None,
        "progress": {"submitted": 0, "total": 1},
        "loop": None,
    }


# -- underneath -------------------------------------------------------------------------------------


def _own_adjudication(request: PageRequest, public_id: str) -> tuple[Item, Person, bool]:
    """The item, the adjudicator, and whether it waits. Http404 for who made or annotated it, or may still annotate there."""
    item = authorization.item(authorization.actor(request), public_id, Permission.ADJUDICATE)
    if not visibility.may_adjudicate(request.user, item):
        raise Http404(authorization.NOT_HERE)
    if waits := resolutions.waiting(item.batch).filter(pk=item.pk).exists():
        queue_candidates.record_reading([item], by=request.user, now=timezone.now())
    return item, request.user, waits


def _item_context(request: PageRequest, item: Item, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """What the page of an item shows for any post."""
    batch = item.batch
    task, plain = batch.task(), item.plain()
    shows = task.payload(plain)
    contrast = comparison = None
    if "table" in task.shows:
        responses = [(candidate.annotation.response or {})["data"] for candidate in candidates]
        each = variants_of([candidate.letter for candidate in candidates], task, responses)
        pointed = pointed_at(task, plain)
        contrast = contrast_table(plain.example.table, each, pointed=pointed, part=_part(request))
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
        "beside": _other_texts(shows),
        "contrast": contrast,
        "compared": compare_inputs(task, plain) if contrast is None else None,
        "examples": _examples(shows),
        "comparison": comparison,
        "table": drawn(plain.example.table) if "table" in task.shows and contrast is None else None,
        "candidates": [
            _response_context(candidate, task, plain, alone=contrast is None) for candidate in candidates
        ],
    }


def _part(request: PageRequest) -> int:
    """Which part of a long table is asked for; 0 is where people differ."""
    part = request.GET.get("rows", "")
    return int(part) if part.isascii() and part.isdigit() and len(part) < 6 else 0


def _other_texts(shows: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What an item shows under names of its task type's own, as far as it is a text: a title and the text."""
    texts = {
        name: value.get("text") if isinstance(value, Mapping) else value for name, value in shows.items()
    }
    return [
        (name.replace("_", " ").capitalize(), text)
        for name, text in texts.items()
        if name not in SHOWN and isinstance(text, str)
    ]


def _examples(shows: Mapping[str, Any]) -> list[tuple[str, str, Sequence[str]]]:
    """Of an item that shows changed examples: title, question and answers of each that has others than the original."""
    original = shows.get("original")
    if not isinstance(original, Mapping):
        return []
    return [
        (gettext("Example {letter}").format(letter=name[0].upper()), example["question"], example["answers"])
        for name, example in shows.items()
        if isinstance(example, Mapping) and "operations" in example
        if (example["question"], example["answers"]) != (original.get("question"), original.get("answers"))
    ]


def _was_decided(item: Item) -> str:
    """What another person made of an item in the meantime, for an adjudicator who has something written about it."""
    decision = Decision.objects.filter(item=item).first()
    if decision is None:
        became = gettext(
            "A response was sent back to its author or changed. The item does not need adjudication now."
        )
    elif decision.kind == Decision.Kind.EXCLUDED:
        became = gettext("This item was excluded in the meantime: {reason}").format(
            reason=_with_full_stop(show(decision.reason))
        )
    else:
        task, plain = item.batch.task(), item.plain()
        outcomes = [
            "; ".join(task.describe(compared_responses.restore_response(task, outcome.response), plain))
            for outcome in decision.outcomes.order_by("number")
        ]
        became = gettext("This item was decided in the meantime: {said}").format(
            said=_with_full_stop(" | ".join(outcomes))
        )
    why = []
    if decision is not None:
        reasons = filter(None, [gettext(decision.listed_reason or " ").strip(), decision.note])
        why = [gettext("Note: {note}").format(note=_with_full_stop(reason)) for reason in reasons]
    return " ".join(
        [became, *why, gettext("Your choice and text are still shown here, so that you can copy them.")]
    )


def _with_full_stop(text: str) -> str:
    """The text with a full stop, if it does not end as a sentence does."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _is_lane(request: PageRequest) -> bool:
    """Whether the script of the page asks, which replaces the item without loading a page."""
    return request.headers.get("X-Lane") == "1"


def _following(
    request: PageRequest, person: Person, batch: Batch, done: str, following: str = ""
) -> HttpResponse:
    """On to the `following` item (id) if it still waits, else to the first one; `done` says what was done."""
    waiting = visibility.adjudicable(person, resolutions.waiting_from(batch))
    item = (waiting.filter(public_id=following).first() if following else None) or waiting.first()
    if _is_lane(request):
        if item is None:
            context = {
                "batch": batch,
                "project": batch.project,
                **_queue_of(person, batch),
                **_caught_up(request, person, batch),
            }
            context |= {
                "in_lane": True,
                "candidates": (),
                "announced": done,
                "address": reverse("adjudication", args=[batch.public_id]),
            }
            return render(request, "adjudicating/_lane.html", context)
        queue_candidates.record_reading([item], by=person, now=timezone.now())
        return _item_page(request, person, item, queue_candidates.of_item(item), announced=done)
    if done and item is None:
        messages.success(request, gettext("{done} All caught up.").format(done=done))
    elif done:
        messages.success(request, gettext("{done} Next item:").format(done=done))
    if item is None:
        return redirect("adjudication", batch.public_id)
    return redirect("adjudicate", item.public_id)


def _in_total(request: PageRequest, project: Project, waiting: QuerySet[Item]) -> int:
    """How many of these items wait, without those whose state is hidden from the reader."""
    return waiting.exclude(batch__in=reader_of(request, project).hidden).count()


def _caught_up(request: PageRequest, person: Person, batch: Batch) -> dict[str, Any]:
    """What comes next for a person who has decided all items of a batch, and what they could undo."""
    elsewhere = visibility.adjudicable(person, resolutions.waiting_in(batch.project)).exclude(batch=batch)
    following = elsewhere.first()
    sitting = workflow_adjudication.sitting(batch.project, person, timezone.now())
    return {
        "waiting": _in_total(request, batch.project, resolutions.waiting(batch)),
        "elsewhere": elsewhere.count() if following is not None else 0,
        "following": following,
        "decided": len(sitting),
        "last": _last_act(batch, person, sitting),
    }


def _last_act(
    batch: Batch, person: Person, sitting: Sequence[str] | None = None
) -> workflow_adjudication.LastAct:
    now = timezone.now()
    decided = workflow_adjudication.sitting(batch.project, person, now) if sitting is None else sitting
    return workflow_adjudication.last_act(batch.project, person, now, decided[0] if decided else "")


def _following_item(person: Person, item: Item) -> str:
    """The item (id) that waits behind this one; "" where there is no other."""
    waiting = visibility.adjudicable(person, resolutions.waiting_from(item.batch))
    return _after(list(waiting.values_list("public_id", flat=True)[:AHEAD]), item)


def _after(ids: Sequence[str], item: Item) -> str:
    """The id behind that of an item; of the last one the first, and "" where there is no other."""
    at = ids.index(item.public_id) if item.public_id in ids else -1
    following = ids[(at + 1) % len(ids)] if ids else item.public_id
    return "" if following == item.public_id else following


def _response_context(
    candidate: Candidate, task: TaskType, item: PlainItem, *, alone: bool
) -> dict[str, Any]:
    """A response as the task type's own response.html draws it; `alone`: with its own table."""
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
        "excludes": task.word(candidate.response) in task.excludes,
        "response": response,
        "data": response["data"],
        "words": candidate.words,
        "changes": in_words(item.example.table, operations),
        "table": drawn(item.example.table, operations, marked=marked) if draws else None,
        "table_label": gettext("Table of response {letter}").format(letter=candidate.letter),
        "template": task.response_template,
    }


def _posted_data(
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
    return data, edit_operations(task, item, data, request.POST, action)
