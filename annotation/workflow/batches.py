"""The manager's journey: plan a batch over a seeded sample, open it, close it, see its progress."""

import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, NoReturn

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

import tableqa
from annotation.access import audit_log
from annotation.assistance import impressions, loop_fit, model_accuracy
from annotation.background import jobs
from annotation.background.staged_pages import HiddenPages
from annotation.models import (
    Adjudication,
    Batch,
    Example,
    Flag,
    Item,
    Job,
    Person,
    Project,
    Source,
    StoredTable,
    Tally,
    TaskTypeDefinition,
)
from annotation.models.batch_options import check
from annotation.models.sources import ExampleQuerySet
from annotation.platform import bulk_rows
from annotation.platform.keyset import in_lists
from annotation.platform.refusals import Refused, refuse, require_storable
from annotation.quality import guidelines, qualification
from annotation.queue import (
    allocation,
    lineage,
    orphaned_slots,
    person_counts,
    reservations,
    resources,
    revisions,
    slots,
    strategies,
)
from tableqa.core.canonical_json import digest
from tasks.contract import Preparing, TaskType, task_type
from tasks.shared.defined_types import DefinedTask

OF = {
    "originals": ExampleQuerySet.originals,
    "perturbed": ExampleQuerySet.perturbed,
    "automatic": ExampleQuerySet.automatic,
}
"""Which examples there are: as the source has them, perturbed by people, perturbed by a program."""
LONGEST_NAME = 120


@dataclass(frozen=True)
class Sample:
    """What the items of a batch are drawn from: examples of sources, or accepted items of another batch.

    of      one of `example_kinds(task)`; "": what the task type is usually about
    size    number of examples; None: all
    only    these examples by their ids, in this order, instead of a random sample
    strata  "source" or "difficulty" (`strategies.STRATA`): keep the share of each stratum
    """

    sources: Sequence[Source] = ()
    of: str = ""
    size: int | None = None
    only: Sequence[str] | None = None
    seed: int = 0
    strata: str = ""
    feeds_from: Batch | None = None

    def as_stored(self) -> dict[str, Any]:
        """What `Batch.sampling` keeps of it."""
        sampling: dict[str, Any] = {"sources": [source.public_id for source in self.sources], "of": self.of}
        number = {"size": self.size} if self.only is None else {"only": list(self.only)}
        return {**sampling, "by": self.strata, **number}


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
    Raises Refused: name_taken, invalid_request.
    """
    name = _checked_name(name)
    columns = check(task, terms or {}, project=project, feeds_from=sample.feeds_from)
    sample = _check_sample(task, sample)
    _require_fitting_model(columns["loop_model"], sample)
    examples, size = _draw_examples(task, sample, columns["requires"])
    if not examples and sample.feeds_from is None:
        refuse("invalid_request", "Choose a source with examples, or a batch to take accepted items from.")
    if isinstance(task, Preparing):
        resources.context_without_waiting(
            project, task.needs
        )  # before the transaction, so that nobody waits for it
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
    """Move a batch from hidden pages to its project, in the caller's transaction. Raises Refused(name_taken)."""
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
    """Give a batch another name, a closed one too. Raises Refused: name_taken, invalid_request."""
    name = _checked_name(name)
    try:
        with transaction.atomic():
            before = Batch.objects.select_for_update(no_key=True).only("name").get(pk=batch.pk).name
            if before == name:
                return
            Batch.objects.filter(pk=batch.pk).update(name=name)
            audit_log.log(
                batch, "", "renamed", by=by, now=now, detail=audit_log.changed("name", before, name)
            )
    except IntegrityError:
        _refuse_taken(name)
    batch.name = name


def _checked_name(name: str) -> str:
    require_storable(name)
    if not name.strip() or len(name.strip()) > LONGEST_NAME:
        refuse(
            "invalid_request",
            "Enter a batch name of at most {longest_name} characters.",
            longest_name=LONGEST_NAME,
        )
    return name.strip()


def _refuse_taken(name: str) -> NoReturn:
    refuse("name_taken", "This project already has a batch {name!r}. Choose another name.", name=name)


def reason_against(loop_model: str, sample: Sample) -> str:
    """Why a model cannot answer the questions of a sample in the form of their answers; "" where it can."""
    if not loop_model:
        return ""
    sources = list(sample.sources)
    if sample.feeds_from is not None:
        sources += loop_fit.sources_of(sample.feeds_from)
    return loop_fit.obstacle(settings.PREDICTORS.get(loop_model), loop_fit.with_sentences(sources))


def _require_fitting_model(loop_model: str, sample: Sample) -> None:
    if reason := reason_against(loop_model, sample):
        refuse("invalid_request", reason)


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


MOST_CHECKED = 2_000
"""Examples of a sample that `is_suitable` looks at: one suitable example in 200 is then missed once in 20,000 times."""


def is_suitable(*, project: Project, task: TaskType, sample: Sample) -> bool:
    """Whether one of the first `MOST_CHECKED` examples of the sample, which are random ones, can become an item."""
    if not isinstance(task, Preparing) or not task.without:
        return True
    examples, _ = _draw_examples(task, _check_sample(task, sample), None)
    return not examples or lineage.has_suitable(project, task, examples[:MOST_CHECKED])


# -- items that the model answers correctly ---------------------------------------------------------


def candidates(project: Project, task: TaskType, sample: Sample) -> dict[int, int]:
    """The examples (keys) that a sample can draw, by each the one that its item is made of. Raises Refused."""
    everything, _ = _draw_examples(task, replace(_check_sample(task, sample), size=None, strata=""), None)
    return lineage.starting_point_of(task, everything)


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

    Items and counts are written in one transaction. Asking again continues with what has no answer yet. Raises Refused.
    """
    if not batch.waits_for_model:
        return
    task, sample = batch.task(), _stored_sample(batch)
    starts = candidates(batch.project, task, sample)
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
        served = [key for key, start in starts.items() if start in correct]
        examples, size = (
            _draw_examples(task, sample, batch.requires, among=frozenset(served)) if served else ([], 0)
        )
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


def start_asking(
    *, project: Project, task: TaskType, sample: Sample, predictor: str, by: Person | None, now: datetime
) -> Job | None:
    """Ask a model about all examples that a sample can draw, in the background. None where a job is at it."""
    if predictor not in settings.PREDICTORS:
        refuse("invalid_request", "Choose a model in the loop first.")
    if not candidates(project, task, sample):
        refuse("invalid_request", "Choose a source with examples first.")
    _require_fitting_model(predictor, sample)
    newest = asking_job(project=project, task=task, sample=sample, predictor=predictor)
    if newest is not None and not newest.finished:
        return None
    ids = _asking_params(task, sample, predictor)
    return jobs.enqueue(project=project, kind="ask_originals", ids=ids, by=by, now=now)


def asking_job(*, project: Project, task: TaskType, sample: Sample, predictor: str) -> Job | None:
    """The newest job that asks a model about such a sample."""
    ids = _asking_params(task, sample, predictor)
    return Job.objects.filter(project=project, kind="ask_originals", ids=ids).order_by("-pk").first()


def _asking_params(task: TaskType, sample: Sample, predictor: str) -> dict[str, Any]:
    sources = sorted(source.pk for source in sample.sources)
    of = sample.of or task.of[0]
    return {
        "sources": sources,
        "of": of,
        "task_type": task.key,
        "predictor": predictor,
        **({} if sample.only is None else {"only": list(sample.only)}),
    }


@jobs.kind("ask_originals")
def _ask_originals(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    task = task_type(job.ids["task_type"])
    sources = Source.objects.ready().filter(project=job.project, pk__in=job.ids["sources"])
    sample = Sample(sources=list(sources), of=job.ids["of"], only=job.ids.get("only"))
    starts = candidates(job.project, task, sample)
    accuracy = model_accuracy.ask(
        list(dict.fromkeys(starts.values())),
        task=task,
        predictor=job.ids["predictor"],
        progress=progress,
    )
    return {"accuracy": accuracy.to_dict()}


def _stored_sample(batch: Batch) -> Sample:
    """The sample that a batch was planned with."""
    stored = batch.sampling
    sources = Source.objects.ready().filter(project=batch.project_id, public_id__in=stored["sources"])
    in_order = {source.public_id: source for source in sources}
    return Sample(
        sources=[in_order[name] for name in stored["sources"] if name in in_order],
        of=stored["of"],
        size=stored.get("size"),
        only=stored.get("only"),
        seed=batch.seed,
        strata=stored["by"],
    )


def _check_sample(task: TaskType, sample: Sample) -> Sample:
    """The sample with its kind of examples filled in. Raises Refused(invalid_request)."""
    of = sample.of or task.of[0]
    if of not in example_kinds(task):
        refuse(
            "invalid_request",
            "{title} takes {value} examples.",
            title=task.title,
            value=gettext(" or ").join(example_kinds(task)),
        )
    if sample.strata not in strategies.STRATA:
        available = ", ".join(filter(None, strategies.STRATA))
        refuse("invalid_request", "Sampling is by {known}, or from all examples equally.", known=available)
    return replace(sample, of=of, sources=list(sample.sources))


def _draw_examples(
    task: TaskType, sampling: Sample, requires: Batch | None, among: Collection[int] | None = None
) -> tuple[list[int], int | None]:
    """The examples (keys) of a sample, and how many of them at most become items (None: all).

    `among`: only these examples are drawn.
    """
    in_test: frozenset[int] = lineage.examples_of(requires) if requires is not None else frozenset()
    if sampling.only is not None:
        examples = _examples_by_id(sampling.sources, sampling.only)
        if requires is not None and (twice := in_test.intersection(examples)):
            ids = Example.objects.filter(pk__in=twice).order_by("pk").values_list("external_id", flat=True)
            refuse(
                "invalid_request",
                "These examples are items of the qualification {name}: {ids}. Remove them from the list.",
                name=requires.name,
                ids=", ".join(ids[:10]),
            )
        return [key for key in examples if among is None or key in among], None
    if task.starts_from:  # such a task type exchanges an original for what was made of it
        parents = Example.objects.filter(pk__in=in_test, parent__isnull=False)
        in_test |= set(parents.values_list("parent_id", flat=True))
    drawn = partial(sample, sampling.sources, of=sampling.of, seed=sampling.seed, among=among)
    # A task type that leaves examples out is given all of them, or a small sample might be empty.
    examples = drawn(size=None if task.without else sampling.size, strata=sampling.strata, without=in_test)
    if requires is not None and not examples and drawn(size=1):
        refuse(
            "invalid_request",
            "Every example of these sources is an item of the qualification {name}. "
            "Choose another source, or a qualification with fewer items.",
            name=requires.name,
        )
    return examples, sampling.size


def example_kinds(task: TaskType) -> tuple[str, ...]:
    """The names in `OF` of the examples that a batch of the kind can be planned over.

    A kind that is about perturbed examples is so whoever perturbed them.
    """
    return (*task.of, "automatic") if "perturbed" in task.of else task.of


def sample(
    sources: Iterable[Source],
    *,
    seed: int,
    of: str = "originals",
    size: int | None = None,
    strata: str = "",
    without: Collection[int] = (),
    among: Collection[int] | None = None,
) -> list[int]:
    """A seeded sample of the examples (keys) of the sources, in random order; the same seed, the same order.

    `strata` keeps the share of each source, or of each difficulty, in it. Examples in `without` (keys) are left out, and
    with `among` all that are not among these.
    """
    examples = OF[of](Example.objects.usable().filter(source__in=list(sources)))
    if among is not None:
        examples = examples.filter(bulk_rows.among("pk", among))
    if without:
        examples = examples.exclude(pk__in=list(without))
    ordered = examples.order_by("source_id", "position", "pk")
    if strata:
        return strategies.stratified(_strata(ordered, strata), size, seed)
    ids = list(ordered.values_list("pk", flat=True))
    count = len(ids) if size is None else min(size, len(ids))
    return random.Random(f"sample:{seed}").sample(ids, count)


def _strata(examples: QuerySet[Example], by: str) -> dict[str, list[int]]:
    """The examples (ids) by stratum, strata by name."""
    strata: dict[str, list[int]] = {}
    if by == "source":
        for pk, source in examples.values_list("pk", "source__public_id"):
            strata.setdefault(source, []).append(pk)
        return strata
    # Table by table, so that each is read once and one is held at a time.
    table: tuple[int, int, frozenset[str]] | None = None
    for example in examples.order_by("stored_table_id", "source_id", "position", "pk").iterator(500):
        if example.operations:
            cells, texts = _cells(example.table())
        else:
            if table is None or table[0] != example.stored_table_id:
                stored = StoredTable.objects.get(pk=example.stored_table_id)
                table = (stored.pk, *_cells(stored.table()))
            _, cells, texts = table
        among = bool(example.answers) and all(_as_text(answer) in texts for answer in example.answers)
        strata.setdefault(strategies.difficulty(cells, among), []).append(example.pk)
    return dict(sorted(strata.items()))


def _cells(table: tableqa.Table) -> tuple[int, frozenset[str]]:
    texts = frozenset(_as_text(cell) for row in table.rows for cell in row)
    return math.prod(table.shape), texts


def _as_text(value: object) -> str:
    return " ".join(str(value).casefold().split())


def open_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """From now on people get items of it, and its settings are frozen. Opening twice is opening once.

    Raises Refused: batch_closed; batch_not_open for a batch that waits for its model (`draw`); invalid_request for a split
    with too few people, and a qualification without known responses.
    """
    if batch.closed_at is not None:
        raise _refuse_closed(batch)
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
                # Who comes later gets places of their own (`queue`); so does everybody in a qualification batch.
                # Where nobody is there yet, what was asked for is what makes an item complete.
                people = len(allocation.annotators(batch.project))
                slots.set_overlap(batch=batch, overlap=people or batch.overlap, now=now)
                if people:
                    everything = slots.undecided(batch).values_list("pk", flat=True)
                    orphaned_slots.trim(batch, now=now, items=list(everything))
            impressions.start_proposing(batch, by=by, now=now)
            audit_log.log(batch, "planned", "open", by=by, now=now)
            transaction.on_commit(slots.analyze_tables, robust=True)


def close_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """Nobody gets or submits items any more. What has answers may be resolved at once.

    Whoever withdrew a submission and has not submitted again is counted with it: nothing is lost.
    """
    if batch.opened_at is None:
        refuse("batch_not_open", "Open the batch before you close it.")
    with transaction.atomic():
        # In the order of `annotation.queue.reservations`, so that nobody who submits or decides waits for this in a circle.
        slots.lock_items([batch.pk])
        person_counts.lock_tallies(batch)
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


def pause_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """Nobody gets items of it until it goes on; what people have on their desk they may finish. Pausing twice is once."""
    _require_begun(batch)
    with transaction.atomic():
        running = Batch.objects.filter(pk=batch.pk, paused_at__isnull=True, closed_at__isnull=True)
        if running.update(paused_at=now):
            batch.paused_at = now
            audit_log.log(batch, "open", "paused", by=by, now=now)


def resume_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """A paused batch goes on. One that goes on already is left alone."""
    _require_begun(batch)
    with transaction.atomic():
        if Batch.objects.filter(pk=batch.pk, paused_at__isnull=False, closed_at__isnull=True).update(
            paused_at=None
        ):
            batch.paused_at = None
            audit_log.log(batch, "paused", "open", by=by, now=now)


def _require_begun(batch: Batch) -> None:
    if batch.opened_at is None:
        refuse("batch_not_open", "Open the batch {name} first.", name=batch.name)
    if batch.closed_at is not None:
        raise _refuse_closed(batch)


def _refuse_closed(batch: Batch) -> Refused:
    return Refused(
        "batch_closed",
        gettext("The batch {name} is closed and cannot be reopened.").format(name=batch.name),
    )


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
}


def act(
    *, batches: Sequence[Batch], action: str, by: Person, now: datetime
) -> tuple[list[Batch], list[tuple[Batch, str]]]:
    """Do one of `ACTIONS` with each batch. Returns those it was done with, and those that refused, with why.

    Each batch is a transaction of its own: one that refuses keeps no other from being changed.
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
        except Refused as why:
            refused.append((batch, f"{batch.name}: {why.detail}"))
        else:
            changed.append(batch)
    return changed, refused


def progress(batches: Sequence[Batch]) -> dict[int, dict[str, int]]:
    """Counts by batch id, in six queries whatever the number of batches or items.

    `places` = `submitted` + `leased` + `free`; `items` = `open` + `complete` + `adjudication` + `decided`
    (+ `excluded`); the `gold` mixed in is none of these. `skipped` and `returned` count endings that freed their
    place again.
    """
    ids = [batch.pk for batch in batches]
    counts_by_batch = {
        batch.pk: {"items": batch.items_count, "places": batch.places_count, "submitted": 0, "leased": 0}
        | {
            "skipped": 0,
            "returned": 0,
            "complete": 0,
            "adjudication": 0,
            "decided": 0,
            "excluded": 0,
            "flags": 0,
            "gold": 0,
        }
        for batch in batches
    }
    tallies = Tally.objects.filter(batch_id__in=ids).values("batch_id")
    summed = tallies.annotate(
        leases=Sum("leased"), submissions=Sum("submitted"), skips=Sum("skipped"), returns=Sum("returned")
    )
    for tally in summed:
        counts_by_batch[tally["batch_id"]] |= {
            "leased": tally["leases"],
            "submitted": tally["submissions"],
            "skipped": tally["skips"],
            "returned": tally["returns"],
        }
    decided = Batch.objects.filter(pk__in=ids).values_list("pk", "accepted_count", "excluded_count")
    for batch_id, accepted, excluded in decided:
        counts_by_batch[batch_id] |= {"decided": accepted, "excluded": excluded}
    adjudications = Adjudication.objects.filter(item__batch_id__in=ids)
    # Only items of work are ever due, where that waits for the close only then; so they are until they are decided.
    work = [
        batch.pk
        for batch in batches
        if batch.purpose == Batch.Purpose.WORK and (batch.closed_at is not None or not batch.decide_at_close)
    ]
    complete = Item.objects.filter(
        Q(batch_id__in=work, due_at__isnull=False)
        | Q(batch_id__in=set(ids) - set(work), submitted_count__gte=F("places_count")),
        is_gold=False,
    )
    for name, rows, batch in (
        ("adjudication", adjudications, "item__batch_id"),
        ("complete", complete, "batch_id"),
        ("flags", Flag.objects.filter(item__batch_id__in=ids), "item__batch_id"),
        ("gold", Item.objects.filter(batch_id__in=ids, is_gold=True), "batch_id"),
    ):
        for batch_id, number in _count_by_batch(rows, batch):
            counts_by_batch[batch_id][name] = number
    for counts in counts_by_batch.values():
        counts["items"] -= counts["gold"]
        counts["free"] = counts["places"] - counts["submitted"] - counts["leased"]
        settled = counts["complete"] + counts["adjudication"] + counts["decided"] + counts["excluded"]
        counts["open"] = counts["items"] - settled
    return counts_by_batch


def _count_by_batch(rows: QuerySet[Any], batch: str) -> Iterable[tuple[int, int]]:
    """How many rows there are of each batch; `batch` is the way from a row to its batch."""
    return rows.order_by().values_list(batch).annotate(n=Count("pk"))


def _examples_by_id(sources: Iterable[Source], only: Sequence[str]) -> list[int]:
    """The examples (keys) with these ids, in this order. Raises Refused naming the ids that no source has."""
    keys = [source.pk for source in sources]
    keys_by_id: dict[str, int] = {}
    for names in in_lists(only, MOST_CHECKED):
        named = Example.objects.filter(source__in=keys, external_id__in=names)
        keys_by_id.update(named.values_list("external_id", "pk"))
    if missing := [id for id in only if id not in keys_by_id]:
        refuse("invalid_request", "No source contains the examples {value}.", value=", ".join(missing[:10]))
    return [keys_by_id[id] for id in dict.fromkeys(only)]
