"""Actions on several items of the explorer: what one would do, doing it, undoing it."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, ngettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.explorer import index, item_access, item_actions
from annotation.explorer.action_rules import (
    ACTIONS,
    LONGEST_NOTE,
    MOST_ITEMS,
    Refusal,
    corrected_in_words,
    done_in_words,
    planned_in_words,
    refused_in_words,
)
from annotation.explorer.item_access import Reader
from annotation.explorer.item_actions import ActionResult
from annotation.explorer.links import explorer_url, with_query
from annotation.explorer.selection import BadSelection, Selection, parse, query
from annotation.models import Batch, Item, ItemAction, Job, Project
from annotation.platform.display_text import grouped
from annotation.platform.refusals import ActionRefused
from annotation.web.views import task_type_gallery
from annotation.web.views.pages import PageRequest, page

BATCH = "batch"
"""The action that opens the form of a new batch with these items."""
MOST_LINKED = 100
"""Items of a group that the preview links to: more do not fit into an address."""
QUESTIONS_SHOWN = 3
"""Items that change whose questions the preview lists."""


@page("POST")
def explorer_act(request: PageRequest, slug: str) -> HttpResponse:
    """What an action would do to the items that were selected; done once it is confirmed."""
    actor = authorization.actor(request)
    project = authorization.project_to_act_in(actor, slug)
    kind = request.POST.get("action", "")
    who = item_access.reader(actor, project)
    batch = _batch(who, request.POST.get("batch", ""))
    try:
        chosen = parse(dict(QueryDict(request.POST.get("query", "")).lists()))
    except BadSelection as bad:
        messages.error(request, " ".join(bad.problems))
        return redirect(address_of(project, batch))
    if kind == BATCH and who.leads:
        return _new_batch(request, who, chosen, batch)
    if kind not in ACTIONS or (ACTIONS[kind].is_managing and not who.leads):
        messages.error(request, gettext("Choose an action."))
        return redirect(with_query(address_of(project, batch), query(chosen)))
    context: dict[str, Any] = {
        "kind": kind,
        "batch": batch,
        "back": with_query(address_of(project, batch), query(chosen)),
    }
    context |= {"query": query(chosen), "note": request.POST.get("note", ""), "problem": ""}
    keys: list[int] = []
    try:
        keys = _keys(request, who, chosen, batch)
        if request.POST.get("confirmed") and len(keys) > item_actions.AT_ONCE:
            job = item_actions.start(who, kind, keys, note=context["note"], now=timezone.now())
            return redirect("job", job.public_id)
        if request.POST.get("confirmed"):
            done = item_actions.apply_action(who, kind, keys, note=context["note"], now=timezone.now())
            _report_result(request, kind, done)
            return redirect(context["back"])
    except ActionRefused as refused:
        context["problem"] = refused.detail
    return _preview(request, who, keys, context)


@page("POST")
def explorer_undo(request: PageRequest, public_id: str) -> HttpResponse:
    """Undo an action on several items."""
    actor = authorization.actor(request)
    action = authorization.item_action(actor, public_id)
    who = item_access.reader(actor, action.project)
    try:
        if item_actions.is_large(action):
            return redirect("job", item_actions.start_undo(who, action, now=timezone.now()).public_id)
        done = item_actions.undo(who, action, now=timezone.now())
    except ActionRefused as refused:
        messages.error(request, refused.detail)
    else:
        level = messages.success if done.number else messages.warning
        level(request, " ".join([_undone_in_words(done.number), *_refusals_in_words(done)]))
    back = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return redirect(back)
    return redirect("explorer", action.project.slug)


def result_in_words(job: Job) -> str:
    """What a job that changed items, or undid a change, did."""
    result = job.result
    refused = {Refusal(code, name): [0] * count for code, name, count in result["left"]}
    rest = _refusals_in_words(ActionResult(None, result["number"], refused))
    if job.kind == item_actions.UNDO:
        return " ".join([_undone_in_words(result["number"]), *rest])
    if not result["number"]:
        return " ".join([gettext("Nothing was changed."), *rest])
    return " ".join([done_in_words(result["kind"], result["number"]), *rest])


def undoable_by(job: Job, actor: authorization.Actor) -> str:
    """The id of the action that this job did, while a person may undo it; else ""."""
    acted = job.result.get("acted", "") if job.kind == item_actions.ACT else ""
    return acted if acted in item_actions.undoable(actor, job.project, now=timezone.now()) else ""


def menu(actor: authorization.Actor, project: Project) -> list[tuple[str, str]]:
    """The actions that a person may take in a project: names and titles."""
    if not authorization.acts_on_items(actor, project):
        return []
    leads = Permission.SET_UP in authorization.permissions_in(actor, project)
    kinds = [kind for kind, action in ACTIONS.items() if leads or not action.is_managing]
    actions = [(kind, gettext(ItemAction.Kind(kind).label)) for kind in kinds]
    if leads:
        actions.append((BATCH, gettext("Add to a new batch")))
    return actions


# -- underneath -------------------------------------------------------------------------------------


def _batch(who: Reader, public_id: str) -> Batch | None:
    """The batch on whose page the items were selected."""
    batch = next((candidate for candidate in who.batches.values() if candidate.public_id == public_id), None)
    if public_id and batch is None:
        raise Http404(authorization.NOT_HERE)
    return batch


def address_of(project: Project, batch: Batch | None) -> str:
    """The explorer of the batch, or of the project."""
    if batch is not None:
        return reverse("batch_items", args=[batch.public_id])
    return reverse("explorer", args=[project.slug])


def _keys(request: PageRequest, who: Reader, chosen: Selection, batch: Batch | None) -> list[int]:
    """The items that were ticked, or all that match. Those of the preview come as one list of ids."""
    if request.POST.get("all") and not request.POST.get("confirmed"):
        index.refresh(who.project, now=timezone.now())
        within = chosen if batch is None else chosen.of_batch(batch.public_id)
        return item_actions.chosen_keys(who, within.without("after", "before"))
    ids = request.POST.get("items", "").replace("\0", "").split() or request.POST.getlist("item")
    if len(ids) > MOST_ITEMS:
        raise ActionRefused(
            "invalid_request", gettext("Select at most {most} items.").format(most=grouped(MOST_ITEMS))
        )
    ids = [public_id for public_id in ids if "\0" not in public_id]
    listed = Item.objects.filter(batch__in=who.listed, public_id__in=ids)
    return list(listed.order_by("batch_id", "position").values_list("pk", flat=True))


def _new_batch(request: PageRequest, who: Reader, chosen: Selection, batch: Batch | None) -> HttpResponse:
    """The choice of a task type, which leads to the form of a new batch with these items."""
    back = with_query(address_of(who.project, batch), query(chosen))
    try:
        keys = _keys(request, who, chosen, batch)
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect(back)
    ids = dict(Item.objects.filter(pk__in=keys).values_list("pk", "public_id"))
    context = {
        "project": who.project,
        "batch": batch,
        "back": back,
        "number": len(keys),
        "items": " ".join(ids[key] for key in keys),
        "steps": task_type_gallery.by_step(who.project),
    }
    return render(request, "explorer/batch.html", context)


def _preview(request: PageRequest, who: Reader, keys: Sequence[int], context: dict[str, Any]) -> HttpResponse:
    kind = context["kind"]
    plan = item_actions.preview(who, kind, keys)
    items = Item.objects.in_bulk(plan.changes)
    context |= {
        "project": who.project,
        "action": ACTIONS[kind],
        "title": gettext(ItemAction.Kind(kind).label),
        "number": len(plan.changes),
        "selected": len(keys),
        "planned": planned_in_words(kind, len(plan.changes)),
        "corrected": [corrected_in_words(name, count) for name, count in plan.corrected.items()],
        "questions": _questions(who, plan.changes[:QUESTIONS_SHOWN]),
        "more": max(0, len(plan.changes) - QUESTIONS_SHOWN),
        "undo_minutes": item_actions.UNDO_WITHIN.seconds // 60,
        "refused": _groups(who, plan.refused),
        "items": " ".join(items[key].public_id for key in plan.changes),
        "longest": LONGEST_NOTE,
    }
    return render(request, "explorer/act.html", context, status=422 if context["problem"] else 200)


def _questions(who: Reader, keys: Sequence[int]) -> list[tuple[str, str]]:
    """The addresses and questions of these items: what the explorer lists for the reader, and no more."""
    listed = Item.objects.filter(batch__in=who.listed).select_related("example").in_bulk(keys)
    return [
        (explorer_url(who.project, item=listed[key].public_id), listed[key].example.question)
        for key in keys
        if key in listed
    ]


def _groups(who: Reader, refused: Mapping[Refusal, Sequence[int]]) -> list[tuple[str, str]]:
    """Each reason in words, with the address of its items where they are few enough for one."""
    address = reverse("explorer", args=[who.project.slug])
    groups = []
    for why, keys in sorted(refused.items()):
        listed = Item.objects.filter(pk__in=keys, batch__in=who.listed)
        ids = list(listed.values_list("public_id", flat=True)[: MOST_LINKED + 1])
        link = with_query(address, query(Selection(items=tuple(ids)))) if 0 < len(ids) <= MOST_LINKED else ""
        groups.append((refused_in_words(why, len(keys)), link))
    return groups


def _report_result(request: PageRequest, kind: str, done: ActionResult) -> None:
    rest = _refusals_in_words(done)
    if done.action is None:
        messages.warning(request, " ".join([gettext("Nothing was changed."), *rest]))
        return
    messages.success(
        request, " ".join([done_in_words(kind, done.number), *rest]), extra_tags=done.action.public_id
    )


def _undone_in_words(count: int) -> str:
    sentence = ngettext("Undone for {number} item.", "Undone for {number} items.", count)
    return sentence.format(number=grouped(count))


def _refusals_in_words(done: ActionResult) -> list[str]:
    """What was left as it is, in words."""
    if not done.refused:
        return []
    why = "; ".join(refused_in_words(refusal, len(keys)) for refusal, keys in sorted(done.refused.items()))
    return [gettext("Not changed: {why}.").format(why=why)]
