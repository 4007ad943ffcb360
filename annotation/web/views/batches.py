"""A manager's pages: plan a batch, see its progress, open and close it."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import localize
from django.utils.functional import cached_property
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.access.visibility import Fact
from annotation.assistance import (
    accuracy_jobs,
    impressions,
    loop_fit,
    model_accuracy,
    model_checks,
    prediction_jobs,
    proposals,
    request_estimates,
)
from annotation.charts import list_tables, work_tables
from annotation.charts.figure import Figure
from annotation.explorer import item_access, new_batch
from annotation.explorer.action_rules import MOST_ITEMS
from annotation.explorer.item_access import Reader
from annotation.explorer.selection import STATES
from annotation.models import Assignment, Batch, Flag, Item, Job, ModelRequest, Person, Project, Source
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold, qualification, snapshots
from annotation.queue import batch_progress, metering, reply_states, resolutions, sampling
from annotation.templatetags.explorer import items_link, reader_of
from annotation.web.board import facts as study_board
from annotation.web.forms.batches import BatchForm, SettingsForm, settings_in_words
from annotation.web.views import board, task_type_gallery
from annotation.web.views.agreement_figures import figures_in_table, report_table
from annotation.web.views.batch_settings import facts
from annotation.web.views.figure_gallery import figure_gallery, pseudonyms
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on, refusals_to
from annotation.workflow import automatic_decisions, batches
from tableqa.writers.report_tables import NOTHING
from tasks.contract import TaskType

# -- planning ---------------------------------------------------------------------------------------


@page("GET", "POST")
def batch_new(request: PageRequest, slug: str) -> HttpResponse:
    """Two steps on one address, without scripts: the task type is chosen, then asks for what it needs."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    chosen = task_type_gallery.choices(project).get(request.POST.get("kind") or request.GET.get("kind") or "")
    if chosen is None:
        return render(
            request,
            "assigning/choose_kind.html",
            {"project": project, "steps": task_type_gallery.by_step(project)},
        )
    task = chosen.task
    begun = _selected_examples(request, project, task) if "begin" in request.POST else None
    data = request.POST if request.POST and begun is None else None
    copied = _copied_batch(request, project, chosen)
    initial: dict[str, Any] = {"name": _free_name(project, copied.name if copied else chosen.title)}
    if begun is not None:
        initial |= {"sources": list(begun.sources), "only": list(begun.only), "of": begun.of}
    form = BatchForm(data, task=task, project=project, initial=initial, copied=copied)
    own = SettingsForm(
        data,
        schema=task.settings_schema,
        prefix="settings",
        initial=copied.settings if copied else None,
    )
    answers = _ModelAnswers(form, request.POST if data else QueryDict())
    if "ask" in request.POST:  # without scripts; the form comes back as it was filled in
        form.leave_unchecked()
        own.leave_unchecked()
        with refusals_to(request):
            answers.ask(by=request.user)
    elif form.is_valid() and own.is_valid():
        with refusals_on(form):
            return _create_batch(request, project, task, chosen.variant, form.cleaned_data, own.settings())
    context = {
        "project": project,
        "task": task,
        "choice": chosen,
        "form": form,
        "settings": own,
        "has_sources": Source.objects.current().filter(project=project).exists(),
        "answers": answers,
        "begun": begun,
    }
    return render(request, "assigning/batch_new.html", context)


def _selected_examples(request: PageRequest, project: Project, task: TaskType) -> new_batch.ChosenExamples:
    """The examples of the items that were selected in the explorer."""
    who = item_access.reader(authorization.actor(request), project)
    ids = request.POST.get("items", "").replace("\0", "").split()[:MOST_ITEMS]
    items = Item.objects.filter(batch__in=who.listed, public_id__in=ids).order_by("batch_id", "position")
    return new_batch.examples_of(who, list(items.values_list("pk", flat=True)), task)


def _copied_batch(request: PageRequest, project: Project, chosen: task_type_gallery.Choice) -> Batch | None:
    """The batch of the project that `?copy=` names, if it has this task type and variant."""
    name = request.GET.get("copy", "").replace("\0", "")
    rows = Batch.objects.filter(project=project, public_id=name, task_type=chosen.task.key)
    return rows.filter(variant=chosen.variant).first() if name else None


def _free_name(project: Project, title: str) -> str:
    """A name for the batch that no other batch of the project has: this one, numbered where needed."""
    used_names = set(Batch.objects.filter(project=project).values_list("name", flat=True))
    names = itertools.chain([title], (f"{title} {suffix}" for suffix in itertools.count(2)))
    return next(name for name in names if name not in used_names)


@page("GET", "POST")
def model_answers(request: PageRequest, slug: str) -> HttpResponse:
    """The part of the form of a new batch that says how many questions its model answers correctly; POST asks it."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    data = request.POST if request.method == "POST" else request.GET
    chosen = task_type_gallery.choices(project).get(data.get("kind", ""))
    if chosen is None:
        return redirect("batch_new", slug)
    answers = _ModelAnswers(BatchForm(data, task=chosen.task, project=project), data)
    problem = ""
    if request.method == "POST":
        try:
            answers.ask(by=request.user)
        except ActionRefused as refused:
            problem = refused.detail
    context = {"project": project, "answers": answers, "problem": problem}
    return render(request, "assigning/_model_answers.html", context)


class _ModelAnswers:
    """What is known of a model's answers to the examples that a form has chosen, and the job that asks for more.

    predictor  the name of the model; "" where none is chosen
    sample     what the form draws from; None where it names no examples
    """

    def __init__(self, form: BatchForm, data: QueryDict) -> None:
        self.project, self.task = form.project, form.task
        self.predictor = data.get("loop_model", "") if "loop_model" in form.fields else ""
        self.sample = form.sample_of(data)

    @cached_property
    def reason_against(self) -> str:
        """Why the model cannot be in the loop over these examples; "" where it can."""
        return "" if self.sample is None else loop_fit.reason_against(self.predictor, self.sample)

    @cached_property
    def accuracy(self) -> model_accuracy.Accuracy | None:
        if self.predictor not in settings.PREDICTORS or self.sample is None or self.reason_against:
            return None
        try:
            starts = sampling.drawable_examples(self.project, self.task, self.sample)
        except ActionRefused:
            return None  # the form says what is wrong with the list when it is sent
        keys = list(dict.fromkeys(starts.values()))
        return (
            model_accuracy.stored_accuracy(keys, task=self.task, predictor=self.predictor) if keys else None
        )

    @cached_property
    def job(self) -> Job | None:
        """The newest job that asks about these examples."""
        if self.accuracy is None or self.sample is None:
            return None
        return accuracy_jobs.asking_job(
            project=self.project, task=self.task, sample=self.sample, predictor=self.predictor
        )

    def ask(self, *, by: Person) -> None:
        """Start the job. Raises ActionRefused."""
        accuracy_jobs.start_asking(
            project=self.project,
            task=self.task,
            sample=self.sample or sampling.Sample(),
            predictor=self.predictor,
            by=by,
            now=timezone.now(),
        )


def _create_batch(
    request: PageRequest,
    project: Project,
    task: TaskType,
    variant: str,
    cleaned_data: dict[str, Any],
    settings: dict[str, Any],
) -> HttpResponse:
    open_at_once, now = cleaned_data["open_at_once"], timezone.now()
    sample = cleaned_data["sample"]
    batch = batches.plan_batch(
        project=project,
        task=task,
        name=cleaned_data["name"],
        sample=sample,
        terms={**cleaned_data["terms"], "variant": variant, "settings": settings},
        by=request.user,
        now=now,
    )
    if batch.waits_for_model:
        if open_at_once:
            batches.open_when_drawn(batch=batch)
        return redirect("batch", batch.public_id)
    if open_at_once:
        batches.open_batch(batch=batch, by=request.user, now=now)
    messages.success(
        request,
        (gettext("{name} is open.") if open_at_once else gettext("{name} is planned.")).format(
            name=batch.name
        ),
    )
    if sample.size and batch.items_count < sample.size:
        messages.info(
            request,
            ngettext(
                "Only {items_count} example is available. It is in the batch.",
                "Only {items_count} examples are available. All of them are in the batch.",
                batch.items_count,
            ).format(items_count=batch.items_count),
        )
    return redirect("gold" if gold.count_missing_gold(batch) else "batch", batch.public_id)


# -- progress --------------------------------------------------------------------------------------


@page("GET")
def batch(request: PageRequest, public_id: str) -> HttpResponse:
    """Progress first, then the accounts, agreement where this person may see it, people, flags and skips."""
    actor = authorization.actor(request)
    batch = authorization.batch(actor, public_id, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, batch.project)
    task = batch.task()
    who = reader_of(request, batch.project)
    sees = batch.pk not in who.hidden
    snapshot = snapshots.snapshot_view(batch, "agreement", now=timezone.now()) if sees else None
    flags, skips = (paginate(request, rows, name) for name, rows in _remarks(who, batch).items())
    context: dict[str, Any] = {
        "batch": batch,
        "project": batch.project,
        "task": task,
        "variant": task.variants.get(batch.variant, ""),
        "may": {permission.value for permission in may},
        "feeds": list(batch.feeds.order_by("pk")),
        "warning": qualification.warning(batch) if Permission.SET_UP in may else "",
        "facts": [fact for each in facts(batch, task).values() for fact in each],
        "task_settings": settings_in_words(task, batch.settings),
        "sees_agreement": sees,
        "reports": type(task).report is not TaskType.report or bool(batch.loop_model or batch.help),
        "flags": flags,
        "skips": skips,
        **dict.fromkeys(("waiting_for_me", "others", "why_empty", "accuracy")),
        **dict.fromkeys(
            ("model_costs", "model_estimates", "model_stops", "models_without_reasoning", "model_refusals")
        ),
        **_figures(request, batch, snapshot, flags=flags, skips=skips),
    }
    context["item_links"] = _links_to_items(who, batch, context["counts"])
    if Permission.ADJUDICATE in may:
        waiting = visibility.adjudicable(actor.person, resolutions.waiting(batch))
        context["waiting_for_me"] = waiting.count()
    if Permission.SET_UP in may and task.predicts == "live" and batch.opened_at is not None:
        context["others"] = sorted(settings.PREDICTORS.keys() - {batch.loop_model})
    if not context["counts"]["places"] and context["sees_counts"]:
        read = study_board.load_boards(
            person=actor.person, rights={batch.project_id: may}, now=timezone.now()
        )
        context["why_empty"] = board.why_empty(read[batch.project_id], batch)
    if batch.waits_for_model:
        context |= _drawing_context(batch)
    elif batch.loop_right_only:
        context["accuracy"] = _accuracy_in_words(batch)
    return render(request, "assigning/batch.html", context)


def _links_to_items(who: Reader, batch: Batch, counts: Mapping[str, int]) -> dict[str, SafeString | str]:
    """The numbers of items in each state, of all, and of slots, as links to them.

    Gold items are in none of the numbers. Where a person must not know them, they are among the open and complete items of
    the explorer, and it lists no slots, so that these numbers lead nowhere.
    """
    knows = who.leads or not counts["gold"]
    by_state = {state: counts[COUNTS.get(state, state)] for state in STATES}
    links = {
        state: items_link(count, who, batch, state=state)
        if knows or state not in ("open", "complete")
        else localize(count)
        for state, count in by_state.items()
    }
    whole = items_link(counts["items"], who, batch, state=list(STATES))
    slots = {
        name: items_link(counts[name], who, batch, assignment=value) if knows else localize(counts[name])
        for name, value in (("places", "planned"), ("free", "not_started"))
    }
    return {
        **links,
        **slots,
        "items": whole if knows else localize(counts["items"]),
        "gold": items_link(counts["gold"], who, batch, gold="yes") if who.leads else localize(counts["gold"]),
    }


COUNTS = {"accepted": "decided"}
"""Names of states in `batch_progress.counts`, where they differ."""


def agreement_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The part of the page's context that holds its figures, as far as this person may see them."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SEE_PROGRESS)
    who = reader_of(request, batch.project)
    snapshot = (
        None if batch.pk in who.hidden else snapshots.snapshot_view(batch, "agreement", now=timezone.now())
    )
    return _figures(request, batch, snapshot, **_remarks(who, batch))


def _figures(
    request: PageRequest,
    batch: Batch,
    snapshot: snapshots.SnapshotView | None,
    *,
    flags: Iterable[Flag],
    skips: Iterable[Assignment],
) -> dict[str, Any]:
    """The agreement of a batch, its counts where this person may see them, what was proposed, flagged and skipped.

    `flags` and `skips`: those of the page, or all for a file.
    """
    table = figures_in_table(snapshot.data["figures"] if snapshot and snapshot.data else [])
    counts = batch_progress.counts([batch])[batch.pk]
    who = reader_of(request, batch.project)
    sees_counts = batch.pk not in who.sight.hides(Fact.COUNTS)
    counts_table = work_tables.counts(counts) if sees_counts else None
    costs = _model_costs(batch, sees_counts=sees_counts) if Permission.SET_UP in who.acts else {}
    proposed = _proposals_context(batch) if batch.help and batch.pk not in who.hidden else {}
    called = pseudonyms(batch.project)
    lists = {
        "flags_table": list_tables.flags(
            [{"flag": flag, "person": called.get(flag.person.pk, NOTHING)} for flag in flags]
        ),
        "skips_table": list_tables.skips(
            [{"skip": skip, "person": called.get(skip.person_id, NOTHING)} for skip in skips]
        ),
    }
    figures: list[Figure | None] = [table["statistics"], counts_table, costs.get("model_costs_table")]
    figures += [proposed.get("proposed_table"), *lists.values()]
    gallery = figure_gallery(request, "batch", batch.public_id, figures)
    own = {"told": snapshot, "counts": counts, "counts_table": counts_table, "sees_counts": sees_counts}
    return {**own, **costs, **proposed, **lists, **table, **gallery}


@page("GET")
def report(request: PageRequest, public_id: str) -> HttpResponse:
    """What the batch's kind reports beyond agreement, for people who may see its agreement."""
    return render(request, "assigning/report.html", report_of(request, public_id))


def report_of(request: PageRequest, public_id: str) -> dict[str, Any]:
    """The context of the report of a batch."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SEE_PROGRESS)
    sees = visibility.may_see_agreement(request.user, batch)
    nameless = sees and batch.pk in reader_of(request, batch.project).sight.without_people
    snapshot = snapshots.snapshot_view(batch, "report", now=timezone.now()) if sees and not nameless else None
    stored_reports = snapshot.data["reports"] if snapshot and snapshot.data else []
    reports = [
        report_table(stored_report, index) for index, stored_report in enumerate(stored_reports, start=1)
    ]
    return {
        "batch": batch,
        "project": batch.project,
        "task": batch.task(),
        "sees_agreement": sees,
        "why_not": visibility.why_no_names() if nameless else "",
        "told": snapshot,
        "reports": reports,
        **figure_gallery(request, "report", public_id, reports),
    }


def _drawing_context(batch: Batch) -> dict[str, Any]:
    """The job that draws the items of a batch, and how long it takes from now."""
    job = batches.drawing_job(batch)
    remaining = job.total - job.done if job is not None and not job.finished else 0
    return {
        "drawing": job,
        "time_left": model_accuracy.time_left(batch.loop_model, remaining) if remaining else "",
    }


def _accuracy_in_words(batch: Batch) -> str:
    """From how many correct answers the items of a batch were drawn."""
    counts = batch.model_accuracy
    accuracy = model_accuracy.Accuracy(
        counts["model"], counts["questions"], counts["right"], counts["wrong"], counts["unjudged"]
    )
    return f"{accuracy.in_words} {accuracy.rest_in_words}".strip()


def _model_costs(batch: Batch, *, sees_counts: bool) -> dict[str, Any]:
    """What language models have used in a batch, would use, and may use; which of them stopped."""
    costs = metering.table(ModelRequest.objects.filter(batch=batch))
    last = Job.objects.filter(kind="predictions", ids={"batch": batch.pk}).order_by("-pk").first()
    return {
        "model_costs": costs,
        "model_costs_table": work_tables.model_costs(costs.rows, costs.columns),
        "model_estimates": _estimates(batch) if sees_counts else [],  # they count items and submissions
        "model_stops": prediction_jobs.find_stop_reasons(batch),
        "models_without_reasoning": model_checks.count_lacking_reasoning(batch),
        "model_refusals": last.result.get("refused", {}) if last is not None else {},
    }


def _proposals_context(batch: Batch) -> dict[str, Any]:
    """The proposals of each maker, with a column for each state in which replies were not usable."""
    proposed = proposals.count_by_maker(batch)
    states = reply_states.columns(line["unusable"] for line in proposed)
    for line in proposed:
        line["states"] = [line[state] for state in states]
    names = [gettext(reply_states.WORDS[state]) for state in states]
    return {
        "proposed": proposed,
        "proposed_states": names,
        "proposed_table": list_tables.proposals(proposed, names),
    }


def _estimates(batch: Batch) -> list[str]:
    return [
        gettext("{purpose} ({predictor}): {estimate}").format(
            purpose=gettext(metering.PURPOSES[line.purpose]),
            predictor=line.predictor,
            estimate=line.estimate.in_words(),
        )
        for line in request_estimates.of_batch(batch)
    ]


def _remarks(who: Reader, batch: Batch) -> dict[str, Any]:
    """The flags and skips of a batch, the newest first; none for people who may not read them.

    What colleagues note and skip tells what they think of an item: as blind as their responses.
    """
    flags = Flag.objects.filter(item__batch=batch).order_by("-made_at", "-pk")
    skipped = Assignment.objects.filter(batch=batch, state=Assignment.State.SKIPPED)
    rows: dict[str, QuerySet[Any]] = {
        "flags": flags.select_related("made_by", "assignment__person", "item__example"),
        "skips": skipped.select_related("person", "item__example").order_by("-ended_at", "-pk"),
    }
    if Permission.SET_UP not in who.acts:
        return {name: remarks.none() for name, remarks in rows.items()}
    return {name: remarks.filter(who.sight.condition(Fact.NAMES, "item__")) for name, remarks in rows.items()}


# -- opening and closing ----------------------------------------------------------------------------


@page("POST")
def panel(request: PageRequest, public_id: str) -> HttpResponse:
    """Have another model look at what was submitted, in the background."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    with refusals_to(request):
        if "again" in request.POST:
            prediction_jobs.enqueue(batch=batch, by=request.user, now=timezone.now())
            return redirect("batch", batch.public_id)
        prediction_jobs.enqueue_panel(
            batch=batch, predictor=request.POST.get("predictor", ""), by=request.user, now=timezone.now()
        )
        messages.success(
            request, gettext("Model requests have started. The report of this batch shows the results.")
        )
    return redirect("batch", batch.public_id)


@page("POST")
def propose(request: PageRequest, public_id: str) -> HttpResponse:
    """Have the proposals made that are missing, in the background: of items that came later, or after a model failed."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    job = impressions.start_proposing(batch, by=request.user, now=timezone.now()) if batch.opened_at else None
    if job is not None:
        return redirect("job", job.public_id)
    messages.info(request, gettext("No proposals are missing, or their requests are already running."))
    return redirect("batch", batch.public_id)


@page("GET", "POST")
def draw(request: PageRequest, public_id: str) -> HttpResponse:
    """The state of a batch that waits for its model, as a part of its page; POST asks the model again."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    if request.method == "POST":
        batches.order_drawing(batch=batch, by=request.user, now=timezone.now())
    if not request.htmx:
        return redirect("batch", batch.public_id)
    if not batch.waits_for_model:
        response = HttpResponse()
        response["HX-Refresh"] = "true"
        return response
    context = {"batch": batch, "may": {Permission.SET_UP.value}, **_drawing_context(batch)}
    return render(request, "assigning/_drawing.html", context)


@page("GET", "POST")
def open_batch(request: PageRequest, public_id: str) -> HttpResponse:
    """Say what opening means, then open. A qualification that lacks gold answers leads to the page where they are added."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    lacking = 0 if batch.opened_at else gold.count_missing_gold(batch)
    if request.method == "POST":
        with refusals_to(request):
            batches.open_batch(batch=batch, by=request.user, now=timezone.now())
            messages.success(request, gettext("{name} is open.").format(name=batch.name))
        return redirect("gold" if lacking else "batch", batch.public_id)
    sees_size = batch.pk not in visibility.hiding_size(request.user, [batch])
    context = {
        "batch": batch,
        "project": batch.project,
        "lacking": lacking,
        "warning": qualification.warning(batch),
        "no_counts": "" if sees_size else visibility.why_no_counts(),
        "model_estimates": _estimates(batch) if sees_size else [],
    }
    return render(request, "assigning/open.html", context)


@page("GET", "POST")
def close_batch(request: PageRequest, public_id: str) -> HttpResponse:
    """Say what closing means, then close; what is complete is resolved in the background from there."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    counts = batch_progress.counts([batch])[batch.pk]
    if request.method == "POST":
        with refusals_to(request):
            batches.close_batch(batch=batch, by=request.user, now=timezone.now())
            messages.success(request, gettext("{name} is closed.").format(name=batch.name))
            decides = batch.purpose == Batch.Purpose.WORK
            if decides and (counts["complete"] or automatic_decisions.has_orphaned_items(batch)):
                job = automatic_decisions.start_resolving(batch=batch, by=request.user, now=timezone.now())
                return redirect("job", job.public_id)
        return redirect("batch", batch.public_id)
    context = {
        "batch": batch,
        "project": batch.project,
        "counts": counts if visibility.sees_counts(request.user, batch) else None,
        "no_counts": visibility.why_no_counts(),
    }
    return render(request, "assigning/close.html", context)
