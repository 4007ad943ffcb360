"""Automatic perturbations of a project's examples: which kinds with which seeds, checked, kept with their lineage.

A run freezes what it is about and goes through the originals in the order of their keys, a hundred a
transaction; one that was interrupted goes on where it stopped. What it makes follows from the original,
the kind, the seed and the cells that people had marked (`tableqa.perturbations`), so a release makes it
again and compares.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, cast

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

import tableqa
from annotation import events, jobs, lineage
from annotation.models import Example, Job, Outcome, Person, PerturbationRun, Project, Source
from annotation.refusals import Refused
from tableqa.perturbations import PERTURBATIONS, SEEDS, Counts, Instance, count
from tableqa.selection import KINDS, RULES, Kind, Rules, SelectionError
from tableqa.selection import select as selected
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
    by: Person | None = None,
) -> PerturbationRun:
    """A run over the sources (none named: all that are ready). The same run that did not finish is taken up again.

    `select` takes extraction or reasoning questions by FREB-TQA's `rules` (`tableqa.selection`); `decided` those
    with an accepted response, written KIND.FIELD=VALUE, as question_type.label=extraction.
    Raises Refused(invalid_request).
    """
    run, of = _planned(project, kinds, seeds, sources, select=select, rules=rules, decided=decided)
    begun = PerturbationRun.objects.filter(
        project=project, event__isnull=True, kinds=run.kinds, seeds=run.seeds
    )
    for one in begun.order_by("pk"):
        if one.choice == run.choice and list(one.sources.order_by("pk")) == of:
            return one
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
    run, _ = _planned(project, kinds, seeds, sources, select=select, rules=rules, decided=decided)
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
    """Make what is not made yet of a run, and finish it. One that is finished is left as it is."""
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
                run.event_id = events.record(
                    project_id=run.project_id,
                    actor=run.made_by,
                    thing="perturbation_run",
                    thing_id=run.pk,
                    after="ready",
                    now=timezone.now(),
                )
            run.save(update_fields=["through", "counts", "event"])
    return run


def start(*, run: PerturbationRun, by: Person | None, now: datetime) -> Job:
    """`perform` in the background."""
    return jobs.enqueue(project=run.project, kind="perturb", ids={"run": run.pk}, by=by, now=now)


@jobs.kind("perturb")
def _run_job(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    run = perform(PerturbationRun.objects.get(pk=job.ids["run"]), progress=progress)
    return {"run": run.public_id, "counts": run.counts}


# -- underneath -------------------------------------------------------------------------------------


def _planned(
    project: Project,
    kinds: Sequence[str],
    seeds: Sequence[int],
    sources: Sequence[Source],
    *,
    select: str,
    rules: str,
    decided: str,
) -> tuple[PerturbationRun, list[Source]]:
    """A run that is not saved, with its sources."""
    kinds, seeds = list(dict.fromkeys(kinds)), list(dict.fromkeys(seeds))
    if not kinds or (unknown := [kind for kind in kinds if kind not in PERTURBATIONS]):
        said = f"There is no perturbation {unknown[0]!r}" if kinds else "Name at least one perturbation"
        raise Refused("invalid_request", f"{said}; there are: {', '.join(PERTURBATIONS)}.")
    if not 1 <= len(seeds) <= MOST_SEEDS or not all(0 < seed <= LARGEST_SEED for seed in seeds):
        raise Refused("invalid_request", f"Seeds are 1 to {MOST_SEEDS} different numbers from 1 on.")
    if (select and select not in KINDS) or rules not in RULES:
        known = f"{' or '.join(KINDS)} questions, by the rules {' or '.join(RULES)}"
        raise Refused("invalid_request", f"What can be selected are {known}.")
    ready = Source.objects.ready().filter(project=project).order_by("pk")
    of = list(ready.filter(pk__in=[one.pk for one in sources]) if sources else ready)
    if not of:
        raise Refused("invalid_request", "There is no source to perturb. Import one first.")
    chosen = _chosen(of, select=select, rules=rules, decided=decided)
    if not chosen:
        raise Refused("invalid_request", "No example of these sources is of that kind.")
    choice = {"select": select, "rules": rules if select else "", "decided": decided}
    run = PerturbationRun(
        project=project, kinds=kinds, seeds=seeds, choice=choice, chosen=sorted(chosen), marks=_marks(of)
    )
    return run, of


def _make(run: PerturbationRun, chunk: Sequence[Example]) -> None:
    rows = []
    for original in chunk:
        for instance in lineage.instances(run, original):
            outcome = instance.outcome()
            count(run.counts, instance.kind, outcome)
            if instance.is_made:
                rows.append(_row(original, instance, outcome["digest"]))
    # What an earlier run made with the same seed is the same, and stays.
    Example.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def _row(original: Example, instance: Instance, digest: str) -> Example:
    return Example(
        source_id=original.source_id,
        external_id=instance.id_of(original.external_id),
        position=original.position,
        question=original.question,
        answers=original.answers,
        stored_table_id=original.stored_table_id,
        operations=[operation.to_dict() for operation in instance.perturbed.operations],
        table_digest=digest,
        more=original.more,
        parent=original,
        perturbation=instance.kind,
        seed=instance.seed,
    )


def _marks(sources: Sequence[Source]) -> dict[str, list[list[str]]]:
    """The cells of the newest decision of a kind that marks cells, by the key of the original."""
    kinds = [key for key, task in task_types().items() if any(one.level == "cells" for one in task.measures)]
    decided = _decisions(sources, kinds).order_by("pk")
    rows = decided.values_list("decision__item__example_id", "response")
    return {str(key): cells for key, response in rows if (cells := response["data"].get("cells"))}


def _decisions(sources: Sequence[Source], kinds: Sequence[str]) -> QuerySet[Outcome]:
    return Outcome.objects.filter(
        decision__item__example__source__in=sources,
        decision__item__example__parent__isnull=True,
        decision__item__batch__task_type__in=kinds,
    )


def _chosen(sources: Sequence[Source], *, select: str, rules: str, decided: str) -> list[int]:
    chosen: list[int] = []
    for source in sources:
        found = Example.objects.originals().filter(source=source).order_by("pk")
        if decided:
            found = found.filter(pk__in=_decided(source, decided))
        chosen += (
            _selected(found, source.reader, select, rules) if select else found.values_list("pk", flat=True)
        )
    return chosen


def _decided(source: Source, wanted: str) -> list[int]:
    match = re.fullmatch(r"(\w+)\.(\w+)=(.+)", wanted)
    if match is None:
        mend = "Write KIND.FIELD=VALUE, as in question_type.label=extraction."
        raise Refused("invalid_request", f"{wanted!r} does not say what was decided. {mend}")
    kind, field, value = match.groups()
    if kind not in task_types():
        raise Refused("invalid_request", f"There is no kind {kind!r}; there are: {', '.join(task_types())}.")
    rows = _decisions([source], [kind]).values_list("decision__item__example_id", "response")
    return [key for key, response in rows if str(response["data"].get(field)) == value]


def _selected(found: QuerySet[Example], reader: str, kind: str, rules: str) -> list[int]:
    keys: dict[str, int] = {}

    def examples() -> Iterator[tableqa.Example]:
        for row in found.select_related("stored_table").iterator(chunk_size=ROWS):
            keys[row.external_id] = row.pk
            yield row.example()

    try:
        taken = selected(examples(), source=reader, kind=cast(Kind, kind), rules=cast(Rules, rules))
        return [keys[example.id] for example in taken]
    except SelectionError as error:
        raise Refused("invalid_request", f"{error}.") from None
