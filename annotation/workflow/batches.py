"""The life of a batch: it is planned over a seeded sample, its items are drawn, it opens, pauses and closes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NoReturn

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation.access import audit_log
from annotation.access.roles import Permission, permissions
from annotation.assistance import impressions, loop_fit, model_accuracy
from annotation.background import jobs
from annotation.background.staged_pages import HiddenPages
from annotation.models import Batch, Exclusion, Job, Membership, Person, Project, TaskTypeDefinition
from annotation.models.batch_options import check
from annotation.platform.refusals import ActionRefused, refuse, require_storable
from annotation.quality import guidelines, qualification
from annotation.queue import (
    allocation,
    lineage,
    orphaned_slots,
    person_counts,
    reservations,
    resolutions,
    resources,
    revisions,
    sampling,
    slots,
)
from annotation.queue.sampling import Sample
from tableqa.core.canonical_json import digest
from tasks.contract import PreparingTask, TaskType
from tasks.shared.defined_types import DefinedTask

LONGEST_NAME = 120


def plan_batch(
    *,
    project: Project,
    task: TaskType,
    name: str,
    sample: Sample,
    terms: Mapping[str, Any] | None = None,
    by: Person | None,
    now: datetime,
    pages: HiddenPages | None = None,
) -> Batch:
    """Create a batch over a seeded sample of the sources' examples, or one that takes items from another batch.

    `terms` are those of `annotation.models.batch_options.TERMS` that differ from their defaults. Examples that the task
    type has no use for (`TaskType.prepare`) and items of the qualification that the batch requires are left out of the
    sample. With `loop_right_only` the items are drawn by a job (`draw`). With `pages`, the row is in their project until
    `publish_batch`, while the batch that is returned has the project that it is for; a new definition may be there, too.
    Raises ActionRefused: name_taken, invalid_request.
    """
    name = _checked_name(name)
    columns = check(task, terms or {}, project=project, feeds_from=sample.feeds_from)
    sample = sampling.check(task, sample)
    loop_fit.require_fit(columns["loop_model"], sample)
    examples, size = sampling.draw(task, sample, columns["requires"])
    if not examples and sample.feeds_from is None:
        refuse("invalid_request", "Choose a source with examples, or a batch to take accepted items from.")
    if isinstance(task, PreparingTask):
        # before the transaction, so that no request waits for it
        resources.context_without_waiting(project, task.needs)
    batch = Batch(
        project=project,
        name=name,
        task_type=task.key,
        definition=_definition(task, project, *([] if pages is None else [pages.project])),
        version=task.version,
        settings_digest=digest(columns["settings"]),
        seed=sample.seed,
        feeds_from=sample.feeds_from,
        sampling=sample.as_stored(),
        **columns,
        made_by=by,
        made_at=now,
    )
    if pages is not None:
        _write_hidden(batch, task, examples, pages)
        return batch
    try:
        with transaction.atomic():
            batch.save()
            if batch.loop_right_only:
                order_drawing(batch=batch, by=by, now=now)
            else:
                _make_items(batch, task, examples, size)
            if sample.feeds_from is not None:
                lineage.catch_up(batch)
            guidelines.ensure(project=project, task=task, now=now)
            audit_log.log(batch, "", "planned", by=by, now=now)
    except IntegrityError:
        _refuse_taken(name)
    batch.refresh_from_db()
    return batch


def _write_hidden(batch: Batch, task: TaskType, examples: Sequence[int], pages: HiddenPages) -> None:
    project = batch.project
    if Batch.objects.filter(project=project, name=batch.name).exists():
        _refuse_taken(batch.name)
    batch.project = pages.project
    with pages.page():
        batch.save()
    batch.project = project
    items = 0
    for page in pages.in_pages(lineage.new_items(batch, examples), records=True):
        items += len(slots.add_items(batch, page))
    _require_items(items, task)


def publish_batch(
    *, batch: Batch, definition: TaskTypeDefinition | None, by: Person | None, now: datetime
) -> None:
    """Move a batch from hidden pages to its project, in the caller's transaction. Raises ActionRefused(name_taken)."""
    try:
        Batch.objects.filter(pk=batch.pk).update(project=batch.project, definition=definition)
    except IntegrityError:
        _refuse_taken(batch.name)
    batch.refresh_from_db()
    guidelines.ensure(project=batch.project, task=batch.task(), now=now)
    audit_log.log(batch, "", "planned", by=by, now=now)


def _definition(task: TaskType, *projects: Project) -> TaskTypeDefinition | None:
    """The row of a task type that one of the projects defines; None for an installed one."""
    if not isinstance(task, DefinedTask):
        return None
    return TaskTypeDefinition.objects.get(project__in=projects, name=task.key, number=task.version)


def rename_batch(*, batch: Batch, name: str, by: Person, now: datetime) -> None:
    """Give a batch another name, a closed one too. Raises ActionRefused: name_taken, invalid_request."""
    name = _checked_name(name)
    try:
        with transaction.atomic():
            before = Batch.objects.select_for_update(no_key=True).only("name").get(pk=batch.pk).name
            if before == name:
                return
            Batch.objects.filter(pk=batch.pk).update(name=name)
            detail = audit_log.changed("name", before, name)
            audit_log.log(batch, "", "renamed", by=by, now=now, detail=detail)
    except IntegrityError:
        _refuse_taken(name)
    batch.name = name


def _checked_name(name: str) -> str:
    require_storable(name)
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        refuse(
            "invalid_request",
            "Enter a batch name of at most {longest_name} characters.",
            longest_name=LONGEST_NAME,
        )
    return name


def _refuse_taken(name: str) -> NoReturn:
    refuse("name_taken", "This project already has a batch {name!r}. Choose another name.", name=name)


def _make_items(batch: Batch, task: TaskType, examples: Sequence[int], size: int | None) -> None:
    items = lineage.make_items(batch=batch, examples=examples, size=size)
    if examples:
        _require_items(items, task)


def _require_items(items: int, task: TaskType) -> None:
    if not items:
        refuse(
            "invalid_request",
            "None of these examples can become an item: {without}",
            without=gettext(task.without),
        )


# -- items that the model answers correctly ---------------------------------------------------------


def order_drawing(*, batch: Batch, by: Person | None, now: datetime) -> Job | None:
    """Draw the items of a batch in the background (`draw`). None where that is done, or a job is at it."""
    newest = drawing_job(batch)
    if not batch.waits_for_model or (newest is not None and not newest.finished):
        return None
    return jobs.enqueue(project=batch.project, kind="draw_items", ids={"batch": batch.pk}, by=by, now=now)


def drawing_job(batch: Batch) -> Job | None:
    """The newest job that draws the items of a batch."""
    of_batch = Job.objects.filter(project_id=batch.project_id, kind="draw_items", ids={"batch": batch.pk})
    return of_batch.order_by("-pk").first()


def open_when_drawn(*, batch: Batch) -> None:
    """Have a batch that waits for its model open as soon as its items are drawn."""
    Batch.objects.filter(pk=batch.pk, opened_at__isnull=True).update(opens_when_drawn=True)
    batch.refresh_from_db(fields=["opens_when_drawn"])


def draw(
    *,
    batch: Batch,
    by: Person | None,
    clock: Callable[[], datetime] = timezone.now,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Ask the model about all examples that the batch can draw, then draw its items from the correct answers.

    Items and counts are written in one transaction. Asking again continues with what has no answer yet. Raises
    ActionRefused.
    """
    if not batch.waits_for_model:
        return
    task, sample = batch.task(), Sample.of_batch(batch)
    starts = sampling.drawable_examples(batch.project, task, sample)
    accuracy = model_accuracy.ask(
        list(dict.fromkeys(starts.values())),
        task=task,
        predictor=batch.loop_model,
        progress=progress,
        clock=clock,
    )
    correct = model_accuracy.correct_examples(list(starts.values()), task=task, model=accuracy.model)
    with transaction.atomic():
        Batch.objects.select_for_update(no_key=True).filter(pk=batch.pk).values_list("pk").first()
        batch.refresh_from_db()
        if not batch.waits_for_model:
            return
        served = frozenset(key for key, start in starts.items() if start in correct)
        examples, size = sampling.draw(task, sample, batch.requires, among=served) if served else ([], 0)
        if not examples:
            refuse(
                "invalid_request",
                "{model} answers none of the {total} questions correctly, so there is nothing to serve. "
                "Create a batch with another model or source.",
                model=model_accuracy.shortened(accuracy.model),
                total=accuracy.total,
            )
        now = clock()
        Batch.objects.filter(pk=batch.pk).update(
            model_accuracy={**accuracy.to_dict(), "drawn_at": now.isoformat()},
            loop_revision=accuracy.model,
        )
        batch.refresh_from_db()
        _make_items(batch, task, examples, size)
    batch.refresh_from_db()
    if batch.opens_when_drawn:
        open_batch(batch=batch, by=by, now=now)


@jobs.kind("draw_items")
def _draw(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = Batch.objects.select_related("project", "requires").get(pk=job.ids["batch"])
    draw(batch=batch, by=job.made_by, progress=progress)
    return {"drawn": batch.public_id, "items": batch.items_count, "accuracy": batch.model_accuracy}


# -- states -----------------------------------------------------------------------------------------


def open_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """From now on people get items of it, and its settings are frozen. Opening twice is opening once.

    Raises ActionRefused: batch_closed; batch_not_open for a batch that waits for its model (`draw`); invalid_request for a
    split with too few people, and a qualification without known responses.
    """
    _require_not_closed(batch)
    _require_not_archived(batch)
    if batch.waits_for_model:
        refuse(
            "batch_not_open",
            "{name} has no items yet: the model is still to answer its questions. Open it afterwards.",
            name=batch.name,
        )
    if batch.opened_at is None and batch.purpose == Batch.Purpose.QUALIFICATION:
        qualification.require_ready(batch)
    with transaction.atomic():
        if Batch.objects.filter(pk=batch.pk, opened_at__isnull=True).update(opened_at=now):
            batch.opened_at = now
            if batch.feeds_from_id is not None:
                lineage.catch_up(batch)  # what was decided while the batch was being planned
            resources.prepare(batch.project, batch.task().needs)
            if batch.strategy == "split":
                allocation.split_all(batch=batch, by=by, now=now)
            elif batch.strategy == "everyone" and batch.purpose != Batch.Purpose.QUALIFICATION:
                # Who comes later gets slots of their own (`queue`); so do all in a qualification batch.
                # Before people join, what was asked for is what makes an item complete.
                people = len(allocation.annotators(batch.project))
                slots.set_overlap(batch=batch, overlap=people or batch.overlap, now=now)
                if people:
                    everything = slots.undecided(batch).values_list("pk", flat=True)
                    orphaned_slots.trim(batch, now=now, items=list(everything))
            impressions.start_proposing(batch, by=by, now=now)
            audit_log.log(batch, "planned", "open", by=by, now=now)
            transaction.on_commit(slots.analyze_tables, robust=True)


def close_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """No more items are served or submitted. What has answers may be resolved at once.

    A withdrawn submission without a newer one counts: nothing is lost.
    """
    if batch.opened_at is None:
        refuse("batch_not_open", "Open the batch before you close it.")
    with transaction.atomic():
        # In the order of `annotation.queue.reservations`, so that submissions and decisions cannot deadlock with this.
        slots.lock_items([batch.pk])
        person_counts.lock_all_person_counts(batch)
        before = batch.state
        if Batch.objects.filter(pk=batch.pk, closed_at__isnull=False).exists():
            return
        revisions.reinstate_all(batch, now=now)
        if batch.purpose == Batch.Purpose.WORK:
            slots.undecided(batch).filter(submitted_count__gt=0).update(due_at=now)
        end_leases = partial(
            reservations.take_back_all, batch=batch, reason=gettext_noop("batch closed"), now=now, actor=by
        )
        end_leases()
        if Batch.objects.filter(pk=batch.pk, closed_at__isnull=True).update(closed_at=now):
            batch.closed_at = now
            lineage.continue_runs(batch, now=now)
            audit_log.log(batch, before, "closed", by=by, now=now)
    with transaction.atomic():
        end_leases()  # of people who got their first item at this moment


def reopen_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """Serve a closed batch again. Decisions stay; undecided items that lack responses leave adjudication.

    Annotators who may also read responses do not get the items with responses. Reopening twice is reopening once. Raises
    ActionRefused (invalid_request) for a qualification and a calibration, whose results are final.
    """
    if batch.purpose != Batch.Purpose.WORK:
        refuse("invalid_request", "{name} has results that are final. Create another batch.", name=batch.name)
    _require_not_archived(batch)
    with transaction.atomic():
        slots.lock_items([batch.pk])
        if not Batch.objects.filter(pk=batch.pk, closed_at__isnull=False).update(closed_at=None):
            return
        batch.closed_at = None
        lacking = resolutions.waiting(batch).filter(submitted_count__lt=F("slots_count"))
        resolutions.return_to_annotators(lacking, by=by, now=now)
        _exclude_readers(batch, now)
        audit_log.log(batch, "closed", batch.state, by=by, now=now)


def _exclude_readers(batch: Batch, now: datetime) -> None:
    """Keep the undecided items that have responses from annotators who could read these while the batch was closed."""
    members = Membership.objects.filter(project=batch.project_id, removed_at__isnull=True)
    readers = [
        person
        for person, roles in members.values_list("person_id", "roles")
        if {Permission.ANNOTATE, Permission.SEE_PROGRESS} <= permissions(roles)
    ]
    items = slots.undecided(batch).filter(submitted_count__gt=0) if readers else ()
    rows = [Exclusion(item=item, person_id=person, read_at=now) for item in items for person in readers]
    Exclusion.objects.bulk_create(rows, batch_size=slots.AT_ONCE, ignore_conflicts=True)


def pause_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """No items are served until it is resumed; assignments in progress may be finished. Idempotent."""
    _set_paused(batch, "open", "paused", by=by, now=now)


def resume_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """Resume a paused batch. One that is open already is left alone."""
    _set_paused(batch, "paused", "open", by=by, now=now)


def _set_paused(batch: Batch, before: str, after: str, *, by: Person | None, now: datetime) -> None:
    if batch.opened_at is None:
        refuse("batch_not_open", "Open the batch {name} first.", name=batch.name)
    _require_not_closed(batch)
    paused_at = now if after == "paused" else None
    with transaction.atomic():
        in_state = Batch.objects.filter(
            pk=batch.pk, paused_at__isnull=before == "open", closed_at__isnull=True
        )
        if in_state.update(paused_at=paused_at):
            batch.paused_at = paused_at
            audit_log.log(batch, before, after, by=by, now=now)


def _require_not_archived(batch: Batch) -> None:
    for thing in (batch, batch.project):
        if thing.archived_at is not None:
            refuse("batch_closed", "{name} is archived. Restore it first.", name=thing.name)


def _require_not_closed(batch: Batch) -> None:
    if batch.closed_at is not None:
        refuse("batch_closed", "The batch {name} is closed. Reopen it first.", name=batch.name)


@dataclass(frozen=True)
class Action:
    """What can be done with several batches at once: its words, the states in which it does something, and doing it."""

    verb: str
    done: str
    states: tuple[str, ...]
    do: Callable[..., None]


ACTIONS = {
    "open": Action("Open", "open", ("planned",), open_batch),
    "pause": Action("Pause", "paused", ("open",), pause_batch),
    "resume": Action("Resume", "open again", ("paused",), resume_batch),
    "close": Action("Close", "closed", ("open", "paused"), close_batch),
    "reopen": Action("Reopen", "open again", ("closed",), reopen_batch),
}


def act(
    *, batches: Sequence[Batch], action: str, by: Person, now: datetime
) -> tuple[list[Batch], list[tuple[Batch, str]]]:
    """Do one of `ACTIONS` with each batch. Returns those it was done with, and those that refused, with why.

    Each batch is its own transaction: one that refuses keeps no other from being changed.
    """
    batch_action = ACTIONS[action]
    changed, refused = [], []
    for batch in batches:
        if batch.state not in batch_action.states:
            message = gettext("{name} is {state} and cannot be changed.")
            refused.append((batch, message.format(name=batch.name, state=gettext(batch.state))))
            continue
        try:
            batch_action.do(batch=batch, by=by, now=now)
        except ActionRefused as why:
            refused.append((batch, f"{batch.name}: {why.detail}"))
        else:
            changed.append(batch)
    return changed, refused
