"""Pages of gold: what is known to be right in a batch, marked by hand, from decisions and from files; and how people did."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.background import uploads
from annotation.charts import list_tables, record_tables
from annotation.models import Assignment, Batch, Example, Gold, Item, Person
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold, gold_files, qualification, snapshots
from annotation.quality.compared_responses import restore_response
from annotation.web.forms.entry_requirements import GoldFileForm, GoldFromForm, WhyForm
from annotation.web.views import job_status
from annotation.web.views.batch_preview import workbench
from annotation.web.views.figure_gallery import figure_gallery, part_of_list, pseudonyms
from annotation.web.views.pages import (
    PageRequest,
    confirmation_page,
    page,
    paginate,
    refusals_on,
    refusals_to,
)
from tableqa.core.json_text import read_json
from tableqa.statistics.proportions import proportion
from tableqa.writers.report_tables import NOTHING

MOST_TRIED = 5
"""Examples that are looked at for one that makes an item of the batch."""


@page("GET", "POST")
def gold_items(request: PageRequest, public_id: str) -> HttpResponse:
    """What is known to be right in the batch, and the ways to say more of it."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    here = redirect("gold", batch.public_id)
    if not visibility.may_see_agreement(request.user, batch):
        # Annotators are measured by it.
        messages.warning(
            request,
            gettext("You annotate in this batch. You can see its gold items once it is closed."),
        )
        return redirect("batch", batch.public_id)
    if "preview" in request.GET:
        kind, start = gold_files.PREVIEW, gold_files.start
        return job_status.preview_for_batch(
            request, batch, kind, start, "first_day/gold_file.html", GoldFileForm()
        )
    action, now = request.POST.get("action", ""), timezone.now()
    file = GoldFileForm(request.POST, request.FILES) if action == "file" else GoldFileForm()
    other = GoldFromForm(request.POST if action == "other" else None, batch=batch)
    if action == "file" and file.is_valid():
        with refusals_on(file):
            by, sent = request.user, file.cleaned_data["file"]
            gold.require_open(batch)
            upload = uploads.keep(project=batch.project, file=sent, by=by, now=now)
            job = gold_files.start(batch=batch, upload=upload, by=by, now=now, only_look=True)
            return redirect(f"{reverse('gold', args=[batch.public_id])}?preview={job.public_id}")
    elif action == "other" and other.is_valid():
        with refusals_on(other):
            _take_from_batch(request, batch, other, now)
            return here
    elif action.startswith("remove:"):
        if ask := confirmation_page(request, "remove_gold", here.url):
            return ask
        _unmark(request, batch, action.removeprefix("remove:"), now)
        return here
    context = {
        "batch": batch,
        "project": batch.project,
        "task": batch.task(),
        "work": batch.purpose == Batch.Purpose.WORK,
        "lacking": gold.count_missing_gold(batch),
        "file": file,
        "other": other,
        **_figures(request, batch, now),
    }
    return render(request, "first_day/gold.html", context)


def figures_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures; nothing for people who annotate in the batch."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    if not visibility.may_see_agreement(request.user, batch):
        return {}
    return _figures(request, batch, timezone.now())


def _figures(request: PageRequest, batch: Batch, now: datetime) -> dict[str, Any]:
    """The gold answers of the page and how people did on them, and both as figures with pseudonyms."""
    quality = snapshots.snapshot_view(batch, "quality", now=now)
    accuracy = _accuracy(batch, quality.data)
    called = pseudonyms(batch.project)
    table = list_tables.gold_accuracy([(called.get(row["key"], NOTHING), row["share"]) for row in accuracy])
    golds = _gold_page(request, batch)
    answers = record_tables.gold_answers(golds, part_of_list(golds))
    return {
        "told": quality,
        "golds": golds,
        "golds_table": answers,
        "accuracy": accuracy,
        "accuracy_table": table,
        **figure_gallery(request, "gold", batch.public_id, [table, answers]),
    }


def _take_from_batch(request: PageRequest, batch: Batch, form: GoldFromForm, now: datetime) -> None:
    marked, left_out = gold.from_decisions(batch=batch, by=request.user, now=now, **form.cleaned_data)
    messages.success(
        request,
        ngettext("{marked} item is now gold.", "{marked} items are now gold.", marked).format(marked=marked),
    )
    if left_out:
        messages.info(
            request,
            gettext("{left_out} were left out because their responses are not valid here.").format(
                left_out=left_out
            ),
        )


def _unmark(request: PageRequest, batch: Batch, item: str, now: datetime) -> None:
    marked = (
        Gold.objects.filter(item__batch=batch, item__public_id=item).select_related("item__batch").first()
    )
    if marked is None:
        raise Http404(authorization.NOT_HERE)
    with refusals_to(request):
        gold.remove_gold(gold=marked, by=request.user, now=now)
        messages.success(request, gettext("The item is no longer gold."))


def _gold_page(request: PageRequest, batch: Batch) -> Any:
    """The page of gold items that was asked for, each with what is expected in words and how often it was answered."""
    rows = (
        Gold.objects.filter(item__batch=batch)
        .select_related("item__example__stored_table", "made_by")
        .annotate(
            answered=Count("item__assignments", filter=Q(item__assignments__state=Assignment.State.SUBMITTED))
        )
        .order_by("item__position")
    )
    page_of_gold, task = paginate(request, rows), batch.task()
    for row in page_of_gold:
        row.item.batch = batch
        row.words = task.describe(restore_response(task, row.expected), row.item.plain())
    return page_of_gold


def _accuracy(batch: Batch, quality: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """How people did on gold, by name: `gold.accuracy` as the snapshot of the batch's quality has it."""
    judged = {
        int(key): row["gold"] for key, row in (quality or {"people": {}})["people"].items() if row["gold"]
    }
    names = Person.objects.filter(pk__in=judged).order_by("name").values_list("pk", "name")
    shares = {person: proportion(*counts) for person, counts in judged.items()}
    return [
        {
            "key": person,
            "name": name,
            "share": shares[person],
            "percent": qualification.share_in_words(batch, shares[person]),
        }
        for person, name in names
    ]


@page("GET", "POST")
def gold_new(request: PageRequest, public_id: str) -> HttpResponse:
    """Answer an example (?example=) as an annotator would: that is gold then, and the next example follows.

    Without one, the first example without a gold answer that fits; the list of them with ?choose= and ?q=.
    """
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    if not visibility.may_see_agreement(request.user, batch):
        return redirect("gold", batch.public_id)
    try:
        gold.require_open(batch)
    except ActionRefused as refused:
        messages.error(request, refused.detail)
        return redirect("gold", batch.public_id)
    name, text = request.GET.get("example", ""), request.GET.get("q") or request.GET.get("within") or ""
    search = text.strip().replace("\0", "")[:200]  # an example that was found by it carries it along
    if not name:
        first = None if {"choose", "q", "page"} & request.GET.keys() else _next_candidate(batch, search)
        if first is not None:
            return redirect(_address(batch, first, search))
        context: dict[str, Any] = {
            "batch": batch,
            "project": batch.project,
            "task": batch.task(),
            "asked": search,
        }
        context["examples"] = paginate(request, _candidates(batch, search).select_related("source"))
        return render(request, "first_day/gold_choose.html", context)
    usable = Example.objects.usable().select_related("stored_table")
    example = usable.filter(public_id=name, source__project=batch.project).first()
    if example is None:
        raise Http404(authorization.NOT_HERE)
    task = batch.task()
    existing_gold = Gold.objects.filter(item__batch=batch, item__example=example).first()
    form = WhyForm(request.POST or None, initial={"why": existing_gold.why} if existing_gold else None)
    data: dict[str, Any] = dict(existing_gold.expected["data"]) if existing_gold else {}
    if request.method == "POST" and form.is_valid():
        response_text = form.cleaned_data["response"]
        data = _response_data(response_text) if response_text else task.form_data(request.POST, {})
        with refusals_on(form):
            gold.set_gold(
                batch=batch,
                example=example,
                data=data,
                why=form.cleaned_data["why"],
                by=request.user,
                now=timezone.now(),
            )
            return _after_saving(request, batch, example, search, is_new=existing_gold is None)
    with refusals_to(request):
        plain = gold.preview(batch=batch, example=example)
        following = _next_candidate(batch, search, after=example) if existing_gold is None else None
        context = workbench(batch, plain, name=f"gold-{example.public_id}", data=data) | {
            "batch_page": batch,
            "project": batch.project,
            "form": form,
            "example": example,
            "lacking": gold.count_missing_gold(batch),
            "judge": "",
            "number": Gold.objects.filter(item__batch=batch).count(),
            "following": _address(batch, following, search) if following is not None else "",
            "plain": request.GET.get("plain") == "1",
            "plain_address": f"?example={example.public_id}&plain=1",
        }
        return render(request, "first_day/gold_new.html", context)
    return redirect(reverse("gold_new", args=[batch.public_id]) + "?choose=1")


def _after_saving(
    request: PageRequest, batch: Batch, example: Example, search: str, *, is_new: bool
) -> HttpResponse:
    """On to the next example; back to the gold answers after a change, and where no example is left."""
    following = _next_candidate(batch, search, after=example) if is_new else None
    if following is None:
        messages.success(request, gettext("Gold answer saved."))
        return redirect("gold", batch.public_id)
    messages.success(request, gettext("Gold answer saved. Next example:"))
    return redirect(_address(batch, following, search))


def _address(batch: Batch, example: Example, search: str) -> str:
    query = {"example": example.public_id, **({"within": search} if search else {})}
    return f"{reverse('gold_new', args=[batch.public_id])}?{urlencode(query)}"


def _candidates(batch: Batch, search: str) -> QuerySet[Example]:
    """The examples that have no gold answer in the batch and can get one, in their order."""
    if batch.purpose == Batch.Purpose.WORK:
        # Not "exclude(pk__in=...)": of a large batch PostgreSQL would look for each example in the whole list.
        here = Exists(Item.objects.filter(batch=batch, example=OuterRef("pk")))
        rows = Example.objects.usable().filter(~here, source__project=batch.project)
    else:
        without = Item.objects.filter(batch=batch, gold__isnull=True).values("example")
        rows = Example.objects.usable().filter(pk__in=without)
    if search:
        rows = rows.filter(Q(external_id=search) | Q(question__icontains=search))
    return rows.order_by("source_id", "position", "pk")


def _next_candidate(batch: Batch, search: str, *, after: Example | None = None) -> Example | None:
    """The first candidate that makes an item here, behind `after` and then from the start; None after a few that do not."""
    rows = _candidates(batch, search)
    behind = rows.none()
    if after is not None:
        position = (after.source_id, after.position, after.pk)
        rows = rows.exclude(pk=after.pk)
        behind = rows.filter(
            Q(source_id__gt=position[0])
            | Q(source_id=position[0], position__gt=position[1])
            | Q(source_id=position[0], position=position[1], pk__gt=position[2])
        )
    for example in dict.fromkeys([*behind[:MOST_TRIED], *rows[:MOST_TRIED]]):
        try:
            gold.preview(batch=batch, example=example)
        except ActionRefused:
            continue
        return example
    return None


@page()
def feedback(request: PageRequest, public_id: str) -> HttpResponse:
    """Feedback to an annotator on their answers to gold, where the batch has it."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.ANNOTATE)
    if not batch.gold_feedback:
        raise Http404(authorization.NOT_HERE)
    task, answers = batch.task(), gold.feedback_for(batch, request.user)
    page_of_answers = paginate(request, answers)
    rows = []
    for answer in page_of_answers:
        plain = answer.gold.item.plain()
        rows.append(
            {
                "answer": answer,
                "question": plain.example.question,
                "mine": task.describe(answer.response, plain),
            }
        )
    share = gold.accuracy(batch, request.user).get(request.user.pk)
    context = {
        "batch": batch,
        "project": batch.project,
        "task": task,
        "rows": rows,
        "page": page_of_answers,
        "right": share.hits if share else 0,
        "judged": share.n if share else 0,
    }
    return render(request, "first_day/feedback.html", context)


def _response_data(text: str) -> dict[str, Any]:
    try:
        envelope = read_json(text)
    except ValueError:
        return {}
    data = envelope.get("data") if isinstance(envelope, dict) else None
    return data if isinstance(data, dict) else {}
