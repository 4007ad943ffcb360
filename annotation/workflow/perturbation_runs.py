"""Automatic perturbations of a project's examples: which kinds with which seeds, checked, kept with their lineage.

A run freezes what it is about and goes through the originals in the order of their keys, a hundred a
transaction; one that was interrupted continues where it stopped. A run that a batch feeds takes up what is decided there,
job by job. What it makes follows from the original,
the kind, the seed and the cells that people had marked (`tableqa.perturbations`), so a release makes it
again and compares.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

import tableqa
from annotation.access import audit_log
from annotation.background import jobs
from annotation.models import (
    Batch,
    Decision,
    Example,
    Item,
    Job,
    Outcome,
    Person,
    PerturbationRun,
    Project,
    Source,
)
from annotation.platform.refusals import refuse
from annotation.queue import lineage
from annotation.queue.slots import key_chunks
from tableqa.perturbations import PERTURBATIONS, SEEDS, Counts, count
from tableqa.perturbations.instances import NOTHING_DRAWN, instance_id
from tableqa.perturbations.question_selection import KINDS, RULES, Kind, Rules, SelectionError
from tableqa.perturbations.question_selection import select as selected
from tasks.contract import task_types

ROWS = 100
"""Originals done in one transaction."""
MOST_SEEDS = 100
LARGEST_SEED = 2**63 - 1


def plan_run(
    *,
    project: Project,
    kinds: Sequence[str],
    now: datetime,
    seeds: Sequence[int] = SEEDS,
    sources: Sequence[Source] = (),
    select: str = "",
    rules: str = RULES[0],
    decided: str = "",
    feeds_from: Batch | None = None,
    feeds_when: Mapping[str, Sequence[Any]] | None = None,
    by: Person | None = None,
) -> PerturbationRun:
    """A run over the sources (none named: all that are ready). The same run that did not finish is taken up again.

    `select` takes extraction or reasoning questions by FREB-TQA's `rules` (`tableqa.perturbations.question_selection`);
    `decided` those with an accepted response now, written TASK_TYPE.FIELD=VALUE (`filter_example`). A run that a batch feeds
    (`feeds_from`) takes those originals that the batch accepts with such an outcome (`feeds_when`,
    `lineage.matches_filter`), as it decides them; it is finished once the batch is closed and everything in it decided.
    Raises ActionRefused(invalid_request).
    """
    if feeds_from is None and feeds_when:
        refuse("invalid_request", "A filter by outcome needs a batch. Name it in feeds_from.")
    if feeds_from is not None and (decided or feeds_from.project_id != project.pk):
        refuse(
            "invalid_request",
            "A run uses the decisions of one batch of the project, or the current decisions.",
        )
    run, of = _unsaved_run(
        project,
        kinds,
        seeds,
        sources,
        select=select,
        rules=rules,
        decided=decided,
        fed=feeds_from is not None,
    )
    run.feeds_from = feeds_from
    run.feeds_when = {name: list(values) for name, values in (feeds_when or {}).items()}
    begun = PerturbationRun.objects.filter(
        project=project, event__isnull=True, kinds=run.kinds, seeds=run.seeds, feeds_from=feeds_from
    )
    for earlier_run in begun.order_by("pk"):
        same = earlier_run.choice == run.choice and earlier_run.feeds_when == run.feeds_when
        if same and list(earlier_run.sources.order_by("pk")) == of:
            return earlier_run
    run.made_by, run.made_at = by, now
    with transaction.atomic():
        run.save()
        run.sources.set(of)
    return run


def dry_run(
    *,
    project: Project,
    kinds: Sequence[str],
    seeds: Sequence[int] = SEEDS,
    sources: Sequence[Source] = (),
    select: str = "",
    rules: str = RULES[0],
    decided: str = "",
) -> Counts:
    """What such a run would count, without writing anything. Raises as `plan_run` does."""
    run, _ = _unsaved_run(project, kinds, seeds, sources, select=select, rules=rules, decided=decided)
    counts: Counts = {}
    for start in range(0, len(run.chosen), ROWS):
        chunk = Example.objects.select_related("stored_table").in_bulk(run.chosen[start : start + ROWS])
        for original in chunk.values():
            for instance in lineage.instances(run, original):
                count(counts, instance.kind, instance.outcome())
    return counts


def perform(
    run: PerturbationRun, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> PerturbationRun:
    """Make what is not made yet of a run, and finish it. One that is finished is left as it is.

    One that a batch feeds makes what was decided so far, and is finished once nothing more can be.
    """
    if run.feeds_from is not None:
        return _perform_fed(run, run.feeds_from, progress)
    keys = run.chosen
    while run.event_id is None:
        done = bisect_right(keys, run.through)
        progress(done, len(keys))
        chunk = Example.objects.select_related("stored_table").in_bulk(keys[done : done + ROWS])
        with transaction.atomic():
            # A second worker on the same run waits here, and finds that this chunk is done.
            locked = PerturbationRun.objects.select_for_update().defer("chosen", "marks").get(pk=run.pk)
            if locked.through != run.through or locked.event_id is not None:
                run.refresh_from_db()
                continue
            if chunk:
                _make(run, [chunk[key] for key in sorted(chunk)])
                run.through = max(chunk)
            else:
                run.event_id = audit_log.log(run, "", "ready", by=run.made_by, now=timezone.now())
            run.save(update_fields=["through", "counts", "event"])
    return run


def _perform_fed(
    run: PerturbationRun, feeding: Batch, progress: Callable[[int, int], None]
) -> PerturbationRun:
    """`chosen` of such a run is what is done, in the order of keys: what is decided next may come before it.

    All that was decided is read once for everything that waits, and of each hundred again what may have been undone since.
    """
    runs, done = PerturbationRun.objects.select_for_update(), 0
    while run.event_id is None:
        with transaction.atomic():
            run = runs.get(pk=run.pk)
            # Asked first: what is decided from here on is found next time.
            is_over = Batch.objects.filter(pk=feeding.pk, closed_at__isnull=False).exists()
            is_over = is_over and not _undecided(feeding).exists()
            waiting = _originals_to_do(run, feeding)
            progress(done, done + len(waiting))
            if not waiting and is_over and run.event_id is None:
                run.event_id = audit_log.log(run, "", "ready", by=run.made_by, now=timezone.now())
                run.save(update_fields=["event"])
        if not waiting:
            break
        for start in range(0, len(waiting), ROWS):
            progress(done, done + len(waiting) - start)
            with transaction.atomic():
                run = runs.get(pk=run.pk)
                keys = _accepted_originals(run, feeding, waiting[start : start + ROWS])
                chunk = Example.objects.select_related("stored_table").in_bulk(keys)
                run.marks |= _marks(list(run.sources.all()), keys)
                _make(run, [chunk[key] for key in keys])
                run.chosen = sorted([*run.chosen, *keys])
                run.through = run.chosen[-1] if run.chosen else 0
                run.save(update_fields=["chosen", "marks", "through", "counts"])
            done += len(keys)
    return run


def _originals_to_do(run: PerturbationRun, feeding: Batch) -> list[int]:
    """The originals of the run's sources that the batch has accepted with an outcome that counts, and that are not done."""
    waiting, choice = _accepted_originals(run, feeding), run.choice
    if waiting and choice["select"]:
        chosen = _choose_originals(
            list(run.sources.all()), select=choice["select"], rules=choice["rules"], decided=""
        )
        waiting = sorted(set(waiting).intersection(chosen))
    return waiting


def _accepted_originals(run: PerturbationRun, feeding: Batch, keys: Sequence[int] | None = None) -> list[int]:
    """Of these originals (keys), or all: those that were accepted with an outcome that counts and are not done, in order.

    Of what is done the responses are not read.
    """
    rows = Outcome.objects.filter(
        decision__item__batch=feeding,
        decision__kind=Decision.Kind.ACCEPTED,
        decision__item__example__parent__isnull=True,
        decision__item__example__source__in=run.sources.all(),
    )
    if keys is not None:
        rows = rows.filter(decision__item__example__in=keys)
    done = set(run.chosen)
    outcomes = dict(rows.values_list("pk", "decision__item__example_id"))
    pending = [pk for pk, original in outcomes.items() if original not in done]
    responses = (
        Outcome.objects.filter(pk__in=some).values_list("pk", "response") for some in key_chunks(pending)
    )
    counting = (
        pk
        for some in responses
        for pk, response in some
        if lineage.matches_filter(run.feeds_when, response["data"])
    )
    return sorted({outcomes[pk] for pk in counting})


def _undecided(batch: Batch) -> QuerySet[Item]:
    """The items of a closed batch that may still be decided: they are complete, or wait for an adjudicator."""
    undecided = Item.objects.filter(batch=batch, decision__isnull=True, is_gold=False)
    return undecided.filter(
        Q(adjudication__isnull=False) | Q(submitted_count__gt=0, submitted_count__gte=F("slots_count"))
    )


def start(*, run: PerturbationRun, by: Person | None, now: datetime) -> Job:
    """`perform` in the background."""
    return jobs.enqueue(project=run.project, kind="perturb", ids={"run": run.pk}, by=by, now=now)


@jobs.kind("perturb")
def _run_job(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    run = perform(PerturbationRun.objects.get(pk=job.ids["run"]), progress=progress)
    return {"run": run.public_id, "counts": run.counts}


# -- underneath -------------------------------------------------------------------------------------


def _unsaved_run(
    project: Project,
    kinds: Sequence[str],
    seeds: Sequence[int],
    sources: Sequence[Source],
    *,
    select: str,
    rules: str,
    decided: str,
    fed: bool = False,
) -> tuple[PerturbationRun, list[Source]]:
    """A run that is not saved, with its sources."""
    kinds, seeds = list(dict.fromkeys(kinds)), list(dict.fromkeys(seeds))
    if not kinds or (unknown := [kind for kind in kinds if kind not in PERTURBATIONS]):
        problem = (
            gettext("There is no perturbation {kind!r}").format(kind=unknown[0])
            if kinds
            else gettext("Choose at least one perturbation")
        )
        refuse(
            "invalid_request",
            "{said}. Available: {perturbations}.",
            said=problem,
            perturbations=", ".join(PERTURBATIONS),
        )
    if not 1 <= len(seeds) <= MOST_SEEDS or not all(0 < seed <= LARGEST_SEED for seed in seeds):
        refuse(
            "invalid_request",
            "Enter 1 to {most_seeds} different seeds, each 1 or more.",
            most_seeds=MOST_SEEDS,
        )
    if (select and select not in KINDS) or rules not in RULES:
        available = gettext("{kinds} questions, by the rules {rules}").format(
            kinds=gettext(" or ").join(KINDS), rules=gettext(" or ").join(RULES)
        )
        refuse("invalid_request", "Available selections: {known}.", known=available)
    ready = Source.objects.ready().filter(project=project).order_by("pk")
    of = list(ready.filter(pk__in=[source.pk for source in sources]) if sources else ready)
    if not of:
        refuse("invalid_request", "The project has no source. Import one first.")
    choice = {"select": select, "rules": rules if select else "", "decided": decided}
    run = PerturbationRun(project=project, kinds=kinds, seeds=seeds, choice=choice, chosen=[])
    if not fed:
        run.chosen = sorted(_choose_originals(of, select=select, rules=rules, decided=decided))
        run.marks = _marks(of)
        if not run.chosen:
            refuse("invalid_request", "These sources have no matching examples.")
    _require_free_ids(run, of)
    return run, of


def _make(run: PerturbationRun, chunk: Sequence[Example]) -> None:
    rows = []
    for original in chunk:
        for instance in lineage.instances(run, original):
            outcome = instance.outcome()
            count(run.counts, instance.kind, outcome)
            if instance.is_made:
                rows.append(lineage.automatic_example(original, instance, outcome["digest"]))
    # What an earlier run made with the same seed is the same, and stays.
    Example.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def _require_free_ids(run: PerturbationRun, sources: Sequence[Source]) -> None:
    """Refuse a run that would give an id which another original has: it could never be finished."""
    seeds = {kind: run.seeds if PERTURBATIONS[kind].seeded else [NOTHING_DRAWN] for kind in run.kinds}
    endings = {instance_id("", kind, seed) for kind in run.kinds for seed in seeds[kind]}
    chosen, originals = set(run.chosen), Example.objects.filter(parent__isnull=True)
    for source in sources:
        keys = dict(originals.filter(source=source).values_list("external_id", "pk"))
        for name in sorted(keys):
            original, mark, ending = name.rpartition("~")
            if mark + ending in endings and (keys.get(original) in chosen if chosen else original in keys):
                refuse(
                    "invalid_request",
                    "{source} already has another example with the ID {id}. Choose other seeds, or leave out this "
                    "perturbation.",
                    source=source.name,
                    id=name,
                )


def _marks(sources: Sequence[Source], keys: Sequence[int] | None = None) -> dict[str, list[list[str]]]:
    """The cells of the newest decision of a kind that marks cells, by the key of the original; of these keys, or all."""
    kinds = [
        key
        for key, task in task_types().items()
        if any(measure.level == "cells" for measure in task.measures)
    ]
    decided = _decisions(sources, kinds).order_by("pk")
    if keys is not None:
        decided = decided.filter(decision__item__example__in=keys)
    rows = decided.values_list("decision__item__example_id", "response")
    return {str(key): cells for key, response in rows if (cells := response["data"].get("cells"))}


def _decisions(sources: Sequence[Source], kinds: Sequence[str]) -> QuerySet[Outcome]:
    return Outcome.objects.filter(
        decision__item__example__source__in=sources,
        decision__item__example__parent__isnull=True,
        decision__item__batch__task_type__in=kinds,
    )


def _choose_originals(sources: Sequence[Source], *, select: str, rules: str, decided: str) -> list[int]:
    chosen: list[int] = []
    for source in sources:
        examples = Example.objects.originals().filter(source=source).order_by("pk")
        if decided:
            examples = examples.filter(pk__in=_decided_originals(source, decided))
        chosen += (
            _select_by_question(examples, source.reader, select, rules)
            if select
            else examples.values_list("pk", flat=True)
        )
    return chosen


def filter_example() -> str:
    """A decision filter for the help text: a label of the last installed task type that asks for one."""
    labels = [task for task in task_types().values() if task.compares == "labels"]
    return next(
        (
            f"{task.key}.{field.name}={field.choices[0][0]}"
            for task in reversed(labels)
            for field in task.fields
            if field.choices
        ),
        "",
    )


def _decided_originals(source: Source, condition: str) -> list[int]:
    match = re.fullmatch(r"(\w+)\.(\w+)=(.+)", condition)
    if match is None:
        mend = gettext("Write TASK_TYPE.FIELD=VALUE, for example {example}.").format(example=filter_example())
        refuse("invalid_request", "{wanted!r} is not a decision filter. {fix}", wanted=condition, fix=mend)
    kind, field, value = match.groups()
    if kind not in task_types():
        refuse(
            "invalid_request",
            "There is no task type {kind!r}. Available: {value}.",
            kind=kind,
            value=", ".join(task_types()),
        )
    rows = _decisions([source], [kind]).values_list("decision__item__example_id", "response")
    return [key for key, response in rows if str(response["data"].get(field)) == value]


def _select_by_question(originals: QuerySet[Example], reader: str, kind: str, rules: str) -> list[int]:
    keys: dict[str, int] = {}

    def examples() -> Iterator[tableqa.Example]:
        for row in originals.select_related("stored_table").iterator(chunk_size=ROWS):
            keys[row.external_id] = row.pk
            yield row.example()

    try:
        matches = selected(examples(), source=reader, kind=cast(Kind, kind), rules=cast(Rules, rules))
        return [keys[example.id] for example in matches]
    except SelectionError as error:
        refuse("invalid_request", f"{error}.")
