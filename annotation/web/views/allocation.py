"""Managing who does what: people's shares of a batch, changes of an open one, many batches at once, the accounts.

What cannot be undone is listed first, with its numbers, on a page that asks for confirmation.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.access.visibility import Fact
from annotation.charts import list_tables
from annotation.charts.figure import Figure
from annotation.models import Batch, Person, Project
from annotation.models.batch_options.allocation import STRATEGIES
from annotation.platform import display_text
from annotation.quality import gold, qualification
from annotation.queue import allocation as queue_allocation
from annotation.queue import batch_progress, workload
from annotation.web.forms.batch_settings import BatchesForm, LeasesForm, SharesForm
from annotation.web.views import qualification as qualifying_results
from annotation.web.views.figure_gallery import figure_gallery, pseudonyms
from annotation.web.views.pages import PageRequest, confirm, kind_title, page, paginate, refusals_to
from annotation.workflow import automatic_decisions, batch_settings
from annotation.workflow import batches as workflow_batches
from tableqa.writers.report_tables import NOTHING

# -- people of a batch ------------------------------------------------------------------------------


@page("GET", "POST")
def batch_people(request: PageRequest, public_id: str) -> HttpResponse:
    """The shares of a batch, the items in progress, and moving them."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    if "grant" in request.POST:
        qualifying_results.grant(request, batch, request.POST["grant"])
        return redirect("batch_people", batch.public_id)
    annotators = queue_allocation.annotators(batch.project)
    lines = _lines(batch, annotators)
    counted = visibility.sees_counts(request.user, batch)
    # An item in progress for more people than it has places is gold: hidden from people who may get it.
    assignments = queue_allocation.leases_of(batch) if counted else []
    leases = request.POST.get("about") == "leases"
    people = [line.person for line in lines]
    of_shares = SharesForm(
        None if leases else request.POST or None, people=people, annotators=annotators, auto_id="share_%s"
    )
    of_leases = LeasesForm(
        (request.POST or None) if leases else None,
        leased_ids=[assignment.public_id for assignment in assignments],
        annotators=annotators,
        auto_id="lease_%s",
    )
    form = of_leases if leases else of_shares
    if request.method == "POST" and form.is_valid():
        if "confirmed" not in request.POST:
            effects = (
                _effects_of_leases(of_leases)
                if leases
                else _effects_of_shares(batch, of_shares, lines, counted)
            )
            title, back = gettext("Change the allocation?"), reverse("batch_people", args=[batch.public_id])
            verb = gettext("Apply")
            return confirm(request, batch.project, batch, title=title, effects=effects, verb=verb, back=back)
        with refusals_to(request):
            message = _take_back(request, batch, of_leases) if leases else _share(request, batch, of_shares)
            messages.success(request, message)
        return redirect("batch_people", batch.public_id)
    context = {
        "batch": batch,
        "project": batch.project,
        "strategy": STRATEGIES[batch.strategy],
        "lines": paginate(request, lines, "people"),
        **_figures_of_people(request, batch, lines, counted=counted),
        "total": workload.total(line.account for line in lines) if counted else None,
        "no_counts": visibility.why_no_counts(),
        "held": paginate(request, assignments, "desks"),
        "shares": of_shares,
        "leases": of_leases,
        "ticked": set(request.POST.getlist("people")),
        "movable": batch.opened_at is not None and batch.closed_at is None,
    }
    return render(request, "assigning/people.html", context)


def figures_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures: results of a qualification, the allocation by person."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    lines = _lines(batch, queue_allocation.annotators(batch.project))
    return _figures_of_people(request, batch, lines, counted=visibility.sees_counts(request.user, batch))


def _figures_of_people(
    request: PageRequest, batch: Batch, lines: Sequence[workload.Line], *, counted: bool
) -> dict[str, Any]:
    called = pseudonyms(batch.project)
    results = qualifying_results.results(batch, called)
    rows = [{"names": [called.get(line.person.pk, NOTHING)], "account": line.account} for line in lines]
    title = gettext("Allocation by person")
    table = list_tables.allocation("allocation", title, [gettext("Person")], rows) if counted else None
    gallery = figure_gallery(request, "batch_people", batch.public_id, [results["results_table"], table])
    return {**results, "allocation_table": table, **gallery}


def _lines(batch: Batch, annotators: Iterable[Person]) -> list[workload.Line]:
    """The accounts of the batch with a line for every annotator, also those who had nothing yet."""
    lines = workload.lines(batch.project, [batch])
    listed_ids = {line.person.pk for line in lines}
    lines += [
        workload.Line(batch, person, "", workload.Account())
        for person in annotators
        if person.pk not in listed_ids
    ]
    return sorted(lines, key=lambda line: (line.person.name.casefold(), line.person.pk))


def _effects_of_shares(
    batch: Batch, form: SharesForm, lines: Sequence[workload.Line], counted: bool
) -> list[str]:
    chosen, action = form.chosen(), form.cleaned_data["action"]
    mine = [line.account for line in lines if line.person in chosen]
    names = _names(chosen)
    reserved, desks = sum(account.kept for account in mine), sum(account.open for account in mine)
    done = sum(account.submitted for account in mine)
    effects = []
    if action == "assign":
        count = form.cleaned_data["most"]
        effects.append(
            gettext(
                "Up to {number} free items are reserved for each of {names}. Other annotators do not "
                "get these slots."
            ).format(number=number_format(count, force_grouping=True), names=names)
        )
        if "items" in batch.caps:
            effects.append(_limit(batch))
    to = _names(form.takers()) or gettext("the pool")
    if not counted:
        if action in ("move", "move_all"):
            effects.append(gettext("Items reserved for {names} go to {to}.").format(names=names, to=to))
        if action in ("move_all", "take_back"):
            effects.append(
                gettext(
                    "Items in progress are taken back. Drafts are kept, but cannot be submitted once "
                    "another annotator has the item."
                )
            )
        return [*effects, visibility.why_no_counts()]
    if action in ("move", "move_all"):
        effects.append(
            gettext("{items} reserved for {names} and will go to {to}.").format(
                items=batch_settings.items_phrase(reserved), names=names, to=to
            )
        )
    if action in ("move_all", "take_back"):
        effects.append(
            gettext(
                "{items} in progress and will be taken back. Drafts are kept, but cannot be submitted "
                "once another annotator has the item."
            ).format(items=batch_settings.items_phrase(desks))
        )
    effects.append(
        gettext("{items} submitted by {names}: no change.").format(
            items=batch_settings.items_phrase(done), names=names
        )
    )
    return effects


def _effects_of_leases(form: LeasesForm) -> list[str]:
    taker = form.taker()
    to = (
        gettext("reserved for {name}").format(name=taker.name) if taker else gettext("open to all annotators")
    )
    count = len(form.cleaned_data["held"])
    return [
        gettext("{items} in progress and will be taken back. The slots are then {to}.").format(
            items=batch_settings.items_phrase(count), to=to
        ),
        gettext("Drafts are kept, but cannot be submitted once another annotator has the item."),
    ]


def _limit(batch: Batch) -> str:
    return ngettext(
        "The limit is {most} item per person, including assigned ones. No more are reserved.",
        "The limit is {most} items per person, including assigned ones. No more are reserved.",
        batch.caps["items"],
    ).format(most=number_format(batch.caps["items"], force_grouping=True))


def _share(request: PageRequest, batch: Batch, form: SharesForm) -> str:
    chosen, action, now = form.chosen(), form.cleaned_data["action"], timezone.now()
    if action == "assign":
        count = sum(
            queue_allocation.assign(
                batch=batch, person=person, most=form.cleaned_data["most"], by=request.user, now=now
            )
            for person in chosen
        )
        message = gettext("{items} reserved for {names}.").format(
            items=batch_settings.items_phrase(count), names=_names(chosen)
        )
        if count < len(chosen) * form.cleaned_data["most"] and "items" in batch.caps:
            message = f"{message} {_limit(batch)}"
        return message
    takers = form.takers()
    if action == "take_back":
        taker = (
            takers[0] if len(takers) == 1 and form.cleaned_data["to"] not in ("others", "anybody") else None
        )
        moved = queue_allocation.take_back(
            batch=batch, leases=queue_allocation.leases_of(batch, chosen), to=taker, by=request.user, now=now
        )
        return _moved_in_words(moved)
    leases = action == "move_all"
    results = [
        queue_allocation.move(batch=batch, person=person, to=takers, leases=leases, by=request.user, now=now)
        for person in chosen
    ]
    moved = queue_allocation.MoveResult(
        sum(result.moved for result in results),
        sum(result.opened for result in results),
        sum(result.returned for result in results),
    )
    return _moved_in_words(moved)


def _take_back(request: PageRequest, batch: Batch, form: LeasesForm) -> str:
    ticked = set(form.cleaned_data["held"])
    assignments = [
        assignment for assignment in queue_allocation.leases_of(batch) if assignment.public_id in ticked
    ]
    moved = queue_allocation.take_back(
        batch=batch, leases=assignments, to=form.taker(), by=request.user, now=timezone.now()
    )
    return _moved_in_words(moved)


def _moved_in_words(moved: queue_allocation.MoveResult) -> str:
    return gettext(
        "{items} with other annotators now, {opened} open to all annotators; {returned} were in progress."
    ).format(
        items=batch_settings.items_phrase(moved.moved),
        opened=number_format(moved.opened, force_grouping=True),
        returned=number_format(moved.returned, force_grouping=True),
    )


# -- many batches at once ---------------------------------------------------------------------------


@page("POST")
def act_on_batches(request: PageRequest, slug: str) -> HttpResponse:
    """Open, pause, resume, close or reopen the batches that are ticked: said first, then done."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    form = BatchesForm(request.POST, project=project)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, " ".join(str(entry) for entry in errors))
        return redirect("project", project.slug)
    action, batches = form.cleaned_data["action"], list(form.cleaned_data["batches"])
    verb = gettext(workflow_batches.ACTIONS[action].verb)
    if "confirmed" not in request.POST:
        touched = [batch for batch in batches if batch.state in workflow_batches.ACTIONS[action].states]
        which = (
            touched[0].name if len(touched) == 1 else gettext("{number} batches").format(number=len(touched))
        )
        hidden = visibility.hidden_batches(request.user, batches, Fact.COUNTS)
        effects = _effects_on_batches(action, batches, hidden=hidden)
        title, back = gettext(QUESTIONS[action]).format(which=which), reverse("project", args=[project.slug])
        return confirm(request, project, None, title=title, effects=effects, verb=verb, back=back)
    now = timezone.now()
    changed, refused = workflow_batches.act(batches=batches, action=action, by=request.user, now=now)
    if changed:
        messages.success(
            request,
            f"{_join_names(batch.name for batch in changed)}: {gettext(workflow_batches.ACTIONS[action].done)}.",
        )
    for batch, why in refused:
        messages.error(request, _with_link_to_gold(batch, why) if action == "open" else why)
    if action == "open":
        for warning in filter(None, map(qualification.warning, changed)):
            messages.warning(request, warning)
    if action == "close":
        for batch in (entry for entry in changed if entry.purpose == Batch.Purpose.WORK):
            automatic_decisions.start_resolving(batch=batch, by=request.user, now=now)
    return redirect("project", project.slug)


def _with_link_to_gold(batch: Batch, why: str) -> str:
    """Why a batch was not opened, with the page to fix it where gold answers are missing."""
    if batch.opened_at or not gold.count_missing_gold(batch):
        return why
    return format_html(
        '{} <a href="{}">{}</a>', why, reverse("gold", args=[batch.public_id]), gettext("Add gold answers")
    )


QUESTIONS = {
    "open": gettext_noop("Open {which}?"),
    "pause": gettext_noop("Pause {which}?"),
    "resume": gettext_noop("Resume {which}?"),
    "close": gettext_noop("Close {which}?"),
    "reopen": gettext_noop("Reopen {which}?"),
}
MEANING = {
    "open": gettext_noop("Annotators can get items. Settings are frozen."),
    "pause": gettext_noop(
        "Annotators get no new items of a paused batch. They can finish items in progress."
    ),
    "resume": gettext_noop("Annotators get items again."),
    "close": gettext_noop(
        "A closed batch accepts no responses. Items in progress can no longer be submitted; drafts are kept. "
        "Complete items are resolved."
    ),
    "reopen": gettext_noop(
        "Annotators get items again. Decisions stay. Items with too few responses leave adjudication. Annotators who "
        "may also read responses do not get items that have some."
    ),
}


def _effects_on_batches(action: str, batches: Sequence[Batch], *, hidden: Collection[int]) -> list[str]:
    """What it means, then a line for each batch: the numbers it is about, or why it is left alone. `hidden` are those (ids)
    whose counts are not for the reader.
    """
    counts = batch_progress.counts(batches)
    effects = [gettext(MEANING[action])]
    for batch in batches:
        if batch.state not in workflow_batches.ACTIONS[action].states:
            effects.append(
                gettext("{name} is {state} and stays unchanged.").format(
                    name=batch.name, state=gettext(batch.state)
                )
            )
            continue
        if batch.pk in hidden:
            effects.append(f"{batch.name}: {visibility.why_no_counts()}")
            continue
        by_action = counts[batch.pk]
        n = {name: number_format(number, force_grouping=True) for name, number in by_action.items()}
        about = {
            "open": ngettext("{found} item", "{found} items", by_action["items"]).format(found=n["items"]),
            "pause": gettext("{found} in progress").format(found=n["leased"]),
            "resume": ngettext("{found} free slot", "{found} free slots", by_action["free"]).format(
                found=n["free"]
            ),
            "close": gettext("{found} in progress, {found_2} complete, {found_3} incomplete").format(
                found=n["leased"], found_2=n["complete"], found_3=n["open"]
            ),
            "reopen": ngettext("{found} free slot", "{found} free slots", by_action["free"]).format(
                found=n["free"]
            ),
        }
        effects.append(f"{batch.name}: {about[action]}.")
    return effects


# -- the accounts -----------------------------------------------------------------------------------


@page("GET")
def accounts(request: PageRequest, slug: str) -> HttpResponse:
    """The accounts as a file: each person in each batch, under pseudonyms. The page of the people shows them."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    batches, _ = _counted_batches(request, project)
    answer = HttpResponse(
        workload.as_csv(workload.lines(project, batches)), content_type="text/csv; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="accounts-{project.slug}.csv"'
    return answer


def allocation(request: PageRequest, project: Project) -> dict[str, Any]:
    """Who was given how much: in all, by batch that was begun, each person in each batch; `by_person` by key."""
    batches, left_out = _counted_batches(request, project)
    lines = workload.lines(project, batches)
    by_batch: dict[int, workload.Account] = {}
    by_person: dict[int, workload.Account] = {}
    nothing = workload.Account()
    for line in lines:
        by_batch[line.batch.pk] = by_batch.get(line.batch.pk, nothing) + line.account
        by_person[line.person.pk] = by_person.get(line.person.pk, nothing) + line.account
    by_batch_table, by_line_table = _allocation_tables(batches, by_batch, lines)
    return {
        "by_batch_table": by_batch_table,
        "by_line_table": by_line_table,
        "left_out": left_out,
        "total": workload.total(line.account for line in lines),
        "batches": paginate(
            request,
            [(batch, kind_title(batch), by_batch[batch.pk]) for batch in batches if batch.pk in by_batch],
            "batches",
        ),
        "by_person": by_person,
        "lines": paginate(request, lines, "lines"),
        "unbalanced": [line for line in lines if not line.account.balances],
    }


def _allocation_tables(
    batches: Sequence[Batch], by_batch: Mapping[int, workload.Account], lines: Sequence[workload.Line]
) -> tuple[Figure | None, Figure | None]:
    """The allocation by batch, and by person and batch."""
    of_batches = [
        {
            "names": [batch.name, display_text.show(kind_title(batch)), display_text.show(batch.state)],
            "account": account,
        }
        for batch in batches
        if (account := by_batch.get(batch.pk)) is not None
    ]
    heads = [gettext("Batch"), gettext("Task type"), gettext("State")]
    of_lines = [
        {"names": [line.batch.name, line.pseudonym or NOTHING], "account": line.account} for line in lines
    ]
    return (
        list_tables.allocation("allocation-by-batch", gettext("Allocation by batch"), heads, of_batches),
        list_tables.allocation(
            "allocation", gettext("Allocation by person and batch"), [heads[0], gettext("Person")], of_lines
        ),
    )


def _counted_batches(request: PageRequest, project: Project) -> tuple[list[Batch], list[Batch]]:
    """The batches of the project whose counts the reader may see, the newest first, and the others."""
    batches = list(Batch.objects.select_related("definition").filter(project=project).order_by("-pk"))
    hidden = visibility.hidden_batches(request.user, batches, Fact.COUNTS)
    return [batch for batch in batches if batch.pk not in hidden], [
        batch for batch in batches if batch.pk in hidden
    ]


# -- underneath -------------------------------------------------------------------------------------


def _names(people: Sequence[Person]) -> str:
    return _join_names(person.name for person in people)


def _join_names(names: Iterable[str]) -> str:
    """Names in a row: A, B and C; many as the first three and how many more."""
    parts = list(names)
    if len(parts) > 4:
        parts = [*parts[:3], gettext("{value} others").format(value=len(parts) - 3)]
    return gettext(" and ").join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""
