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
from annotation.explorer.item_access import Reader
from annotation.models import Batch, Guidelines, Person
from annotation.quality import calibration as quality_calibration
from annotation.quality import guidelines, rating_tallies, snapshots
from annotation.quality.calibration import ItemComparison
from annotation.queue import candidates
from annotation.templatetags.explorer import items_link, reader_of
from annotation.web.forms.entry_requirements import SetAsideForm
from annotation.web.views.agreement_figures import figures_in_table
from annotation.web.views.figure_gallery import figure_gallery, part_of_list, pseudonyms
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on, refusals_to
from annotation.web.views.table_comparison import contrast_table, variants_of
from annotation.web.views.tables import pointed_at
from tableqa.core.canonical_json import canonical
from tableqa.operations import OperationError
from tasks.contract import TaskType


@page("GET", "POST")
def calibration(request: PageRequest, public_id: str) -> HttpResponse:
    """Agreement and disagreements of a batch now; managers freeze the guidelines and set a pilot aside."""
    actor = authorization.actor(request)
    manages = Permission.SET_UP in authorization.permissions_in(
        actor, authorization.batch(actor, public_id).project
    )
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
    figures = figures_of(request, batch)
    compared, letters = figures["compared_items"], figures["letters"]
    who = reader_of(request, batch.project)
    names = _names(batch) if manages else {}
    context = {
        **figures,
        "batch": batch,
        "task": task,
        "project": batch.project,
        "compared": bool(rating_tallies.measures_of(task, batch.people_compared)),
        "manages": manages,
        "rows": [
            {
                "one": comparison,
                "said": [
                    (letter, names.get(response.person, ""), response)
                    for letter, response in zip(letters[comparison.item.pk], comparison.answers, strict=True)
                ],
                "contrast": _contrast(comparison, task, letters[comparison.item.pk]),
            }
            for comparison in compared
        ],
        "differing": _link_to_items(
            who, batch, [comparison.item.public_id for comparison in compared if comparison.differ]
        ),
        "number_shown": len(compared),
        "shown": _link_to_items(who, batch, [comparison.item.public_id for comparison in compared]),
        "newest": newest,
        "frozen": newest is not None and guidelines.is_frozen(newest),
        "calibration": batch.purpose == Batch.Purpose.CALIBRATION,
        "form": form,
    }
    return render(request, "first_day/calibration.html", context)


def figures_of(request: PageRequest, batch: Batch) -> dict[str, Any]:
    """The compared responses of the page and the agreement, with both as figures; none that the reader must not see."""
    actor, now = authorization.actor(request), timezone.now()
    may = authorization.permissions_in(actor, batch.project)
    sight = reader_of(request, batch.project).sight
    sees = batch.pk not in sight.hides(Fact.STATE)
    snapshot = snapshots.snapshot_view(batch, "agreement", now=now) if sees else None
    answered = quality_calibration.comparable_items(batch).filter(sight.condition(Fact.RESPONSES))
    items = paginate(request, answered) if sees else None
    if items and batch.decides:
        candidates.record_reading(list(items), by=request.user, now=now)
    listed = quality_calibration.compare_responses(batch, list(items)) if items else []
    compared = [
        comparison if sight.shows(Fact.NAMES, comparison.item) else _without_names(comparison)
        for comparison in listed
    ]
    letters = _letters(batch, compared)
    statistics = figures_in_table(snapshot.data["figures"] if snapshot and snapshot.data else [])
    called = pseudonyms(batch.project) if Permission.SET_UP in may else {}
    table = record_tables.compared_responses(_lines(compared, letters, called), part_of_list(items))
    return {
        "sees": sees,
        "told": snapshot,
        "decided_only": sight.judges and batch.decides,
        "items": items,
        "compared_items": compared,
        "letters": letters,
        "responses_table": table,
        **statistics,
        **figure_gallery(request, "calibration", batch.public_id, [statistics["statistics"], table]),
    }


def _lines(
    compared: Iterable[ItemComparison], letters: Mapping[int, Sequence[str]], called: Mapping[int | None, str]
) -> list[dict[str, Any]]:
    """The rows of the file: annotators by pseudonym for people who read names on the page, by letter for others."""
    lines = []
    for comparison in compared:
        result = {True: gettext("different"), False: gettext("identical"), None: ""}[comparison.differ]
        about = {
            "question": comparison.plain.example.question,
            "example": comparison.item.example.external_id,
            "result": result,
        }
        if comparison.gold:
            gold = gettext("Gold answer")
            lines.append({**about, "annotator": gold, "words": comparison.gold, "is_apart": False})
        for letter, response in zip(letters[comparison.item.pk], comparison.answers, strict=True):
            annotator = called.get(response.person) or letter
            apart = {"words": response.words, "is_apart": response.apart}
            lines.append({**about, "annotator": annotator, **apart})
    return lines


def _link_to_items(who: Reader, batch: Batch, items: list[str]) -> SafeString | str:
    """The number of these items as a link to them."""
    return items_link(len(items), who, batch, item=items)


def _contrast(comparison: ItemComparison, task: TaskType, letters: Sequence[str]) -> dict[str, Any] | None:
    """The table of an item with what each person did to it, as adjudicators see it: the rows in which people did something.

    None where all did the same or no table was changed, and where rows and columns were exchanged.
    """
    if comparison.differ is False or "table" not in task.shows:
        return None
    did = variants_of(letters, task, [each.data for each in comparison.answers])
    if not any(each.operations or list(each.marked) for each in did):
        return None
    try:
        return contrast_table(
            comparison.plain.example.table, did, pointed=pointed_at(task, comparison.plain), whole=0
        )
    except OperationError:  # of a response from elsewhere: its words are beside the others
        return None


def _without_names(comparison: ItemComparison) -> ItemComparison:
    """The same in an order that reveals no author."""
    ordered = sorted(comparison.answers, key=lambda response: canonical([response.data, response.words]))
    return replace(comparison, answers=tuple(replace(response, person=0) for response in ordered))


def _letters(batch: Batch, compared: Sequence[ItemComparison]) -> dict[int, list[str]]:
    """By item (key), the letters of what people said: the same person's on the whole page, where people are known."""
    ids = sorted(batch.person_counts.values_list("person_id", flat=True))
    letter_by_person = dict(zip(ids, candidates.letters(len(ids)), strict=True))
    letters_by_item = {}
    for comparison in compared:
        in_order = candidates.letters(len(comparison.answers))
        letters_by_item[comparison.item.pk] = [
            letter_by_person.get(response.person, "?") if response.person else letter
            for letter, response in zip(in_order, comparison.answers, strict=True)
        ]
    return letters_by_item


def _names(batch: Batch) -> dict[int, str]:
    """What people are called, for people who may see names."""
    return dict(Person.objects.filter(pk__in=batch.person_counts.values("person")).values_list("pk", "name"))
