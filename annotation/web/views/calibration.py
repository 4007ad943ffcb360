"""The page of a calibration round: live agreement, what people said side by side, and what follows from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.access.visibility import Fact
from annotation.charts import record_tables
from annotation.explorer.querysets import Reader
from annotation.models import Batch, Guidelines, Person
from annotation.quality import agreement_report, guidelines, snapshots
from annotation.quality import calibration as quality_calibration
from annotation.quality.calibration import Compared
from annotation.templatetags.explorer import items_link, reader_of
from annotation.web.forms.entry_requirements import SetAsideForm
from annotation.web.views.agreement_figures import figures_in_table
from annotation.web.views.figure_gallery import figure_gallery, part_of_list, pseudonyms
from annotation.web.views.pages import PageRequest, cut, page, refusals_on, refusals_to
from annotation.web.views.table_comparison import contrasted, said
from annotation.web.views.tables import pointed_at
from annotation.workflow import adjudication
from tableqa.core.canonical_json import canonical
from tableqa.operations import OperationError
from tasks.contract import TaskType


@page("GET", "POST")
def calibration(request: PageRequest, public_id: str) -> HttpResponse:
    """Agreement and disagreements of a batch as it stands; managers freeze the guidelines and set a pilot aside."""
    actor = authorization.actor(request)
    manages = Permission.SET_UP in authorization.may(actor, authorization.batch(actor, public_id).project)
    batch = authorization.batch(
        actor, public_id, Permission.SET_UP if request.method == "POST" else Permission.SEE_PROGRESS
    )
    task, now = batch.task(), timezone.now()
    versions = Guidelines.objects.filter(project=batch.project, task_type=task.key)
    newest = versions.order_by("-number").first()
    action = request.POST.get("action", "")
    form = SetAsideForm(request.POST if action == "set_aside" else None)
    if action in ("freeze", "unfreeze") and newest is not None:
        with refusals_to(request):
            guidelines.freeze(guidelines=newest, frozen=action == "freeze", by=request.user, now=now)
        return redirect("calibration", batch.public_id)
    if action == "count_again":
        quality_calibration.count_again(batch=batch, by=request.user, now=now)
        messages.success(request, gettext("{name} is included again.").format(name=batch.name))
        return redirect("calibration", batch.public_id)
    if form.is_valid():
        with refusals_on(form):
            quality_calibration.set_aside(batch=batch, by=request.user, now=now, **form.cleaned_data)
            messages.success(
                request,
                gettext("{name} is set aside. Releases and agreement leave it out.").format(name=batch.name),
            )
            return redirect("calibration", batch.public_id)
    shown = _figures(request, batch)
    compared, letters = shown["compared_items"], shown["letters"]
    who = reader_of(request, batch.project)
    names = _names(batch) if manages else {}
    context = {
        **shown,
        "batch": batch,
        "task": task,
        "project": batch.project,
        "compared": bool(agreement_report.measures_of(task, batch.people_compared)),
        "manages": manages,
        "rows": [
            {
                "one": one,
                "said": [
                    (letter, names.get(said.person, ""), said)
                    for letter, said in zip(letters[one.item.pk], one.said, strict=True)
                ],
                "contrast": _contrast(one, task, letters[one.item.pk]),
            }
            for one in compared
        ],
        "differing": _linked(who, batch, [one.item.public_id for one in compared if one.differ]),
        "number_shown": len(compared),
        "shown": _linked(who, batch, [one.item.public_id for one in compared]),
        "newest": newest,
        "frozen": newest is not None and guidelines.is_frozen(newest),
        "calibration": batch.purpose == Batch.Purpose.CALIBRATION,
        "form": form,
    }
    return render(request, "first_day/calibration.html", context)


def figures_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures; nothing for those who annotate in the batch."""
    return _figures(
        request, authorization.batch(authorization.actor(request), public_id, Permission.SEE_PROGRESS)
    )


def _figures(request: PageRequest, batch: Batch) -> dict[str, Any]:
    """The compared responses of the page and the agreement, with both as figures; none that the reader must not see."""
    actor, now = authorization.actor(request), timezone.now()
    may = authorization.may(actor, batch.project)
    sight = reader_of(request, batch.project).sight
    sees = batch.pk not in sight.hides(Fact.STATE)
    told = snapshots.one(batch, "agreement", now=now) if sees else None
    answered = quality_calibration.answered(batch).filter(sight.condition(Fact.RESPONSES))
    items = cut(request, answered) if sees else None
    if items and batch.decides:
        adjudication.note_reading(list(items), by=request.user, now=now)
    listed = quality_calibration.side_by_side(batch, list(items)) if items else []
    compared = [one if sight.shows(Fact.NAMES, one.item) else _without_names(one) for one in listed]
    letters = _letters(batch, compared)
    statistics = figures_in_table(told.data["figures"] if told and told.data else [])
    called = pseudonyms(batch.project) if Permission.SET_UP in may else {}
    table = record_tables.compared_responses(_lines(compared, letters, called), part_of_list(items))
    return {
        "sees": sees,
        "told": told,
        "decided_only": sight.judges and batch.decides,
        "items": items,
        "compared_items": compared,
        "letters": letters,
        "responses_table": table,
        **statistics,
        **figure_gallery(request, "calibration", batch.public_id, [statistics["statistics"], table]),
    }


def _lines(
    compared: Iterable[Compared], letters: Mapping[int, Sequence[str]], called: Mapping[int | None, str]
) -> list[dict[str, Any]]:
    """The rows of the file: annotators by pseudonym for those who read names on the page, by letter for others."""
    lines = []
    for one in compared:
        result = {True: gettext("different"), False: gettext("identical"), None: ""}[one.differ]
        about = {
            "question": one.plain.example.question,
            "example": one.item.example.external_id,
            "result": result,
        }
        if one.known:
            gold = gettext("Gold answer")
            lines.append({**about, "annotator": gold, "words": one.known, "is_apart": False})
        for letter, response in zip(letters[one.item.pk], one.said, strict=True):
            annotator = called.get(response.person) or letter
            apart = {"words": response.words, "is_apart": response.apart}
            lines.append({**about, "annotator": annotator, **apart})
    return lines


def _linked(who: Reader, batch: Batch, items: list[str]) -> SafeString | str:
    """The number of these items as a link to them."""
    return items_link(len(items), who, batch, item=items)


def _contrast(one: Compared, task: TaskType, letters: Sequence[str]) -> dict[str, Any] | None:
    """The table of an item with what each person did to it, as adjudicators see it: the rows in which people did something.

    None where all did the same or nobody did anything to a table, and where rows and columns were exchanged.
    """
    if one.differ is False or "table" not in task.shows:
        return None
    did = [said(letter, task, each.data) for letter, each in zip(letters, one.said, strict=True)]
    if not any(each.operations or list(each.marked) for each in did):
        return None
    try:
        return contrasted(one.plain.example.table, did, pointed=pointed_at(task, one.plain), whole=0)
    except OperationError:  # of a response from elsewhere: its words stand beside the others
        return None


def _without_names(one: Compared) -> Compared:
    """The same in an order that tells nobody who said which."""
    ordered = sorted(one.said, key=lambda said: canonical([said.data, said.words]))
    return replace(one, said=tuple(replace(said, person=0) for said in ordered))


def _letters(batch: Batch, compared: Sequence[Compared]) -> dict[int, list[str]]:
    """By item (key), the letters of what people said: of everybody the same on the whole page, where people are known."""
    ids = sorted(batch.tallies.values_list("person_id", flat=True))
    known = dict(zip(ids, adjudication.letters(len(ids)), strict=True))
    found = {}
    for one in compared:
        in_order = adjudication.letters(len(one.said))
        found[one.item.pk] = [
            known.get(said.person, "?") if said.person else letter
            for letter, said in zip(in_order, one.said, strict=True)
        ]
    return found


def _names(batch: Batch) -> dict[int, str]:
    """What people are called, for those who may see names."""
    return dict(Person.objects.filter(pk__in=batch.tallies.values("person")).values_list("pk", "name"))
