"""Perturbation runs that a batch feeds, seen from one decision: what they made because of it, and taking that back."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from annotation import events
from annotation.models import Decision, Example, PerturbationRun
from annotation.work import lineage
from tableqa.perturbations import discount


def resting_on(decision: Decision) -> list[PerturbationRun]:
    """The runs that perturbed the decision's original because of it: an example is one item of a batch at most."""
    runs = decision.item.batch.fed_runs.order_by("pk")
    return [run for run in runs if decision.item.example_id in run.chosen]


def lock(decision: Decision) -> list[PerturbationRun]:
    """`resting_on`, after locking every run that the batch feeds, so that none takes the decision up meanwhile."""
    runs = decision.item.batch.fed_runs.select_for_update().order_by("pk")
    list(runs.values_list("pk"))
    return resting_on(decision)


def made_only_by(runs: Sequence[PerturbationRun], original: Example) -> list[Example]:
    """The automatic examples of an original that these runs make, and no other run of the project."""
    if not runs:
        return []
    automatic = Example.objects.automatic().filter(parent=original).order_by("pk")
    examples = [example for example in automatic if any(lineage.makes(run, example) for run in runs)]
    others = PerturbationRun.objects.filter(sources=original.source_id).exclude(
        pk__in=[run.pk for run in runs]
    )
    for run in others.defer("chosen", "marks"):
        examples = [example for example in examples if not lineage.makes(run, example)]
    return examples


def leave_out(run: PerturbationRun, original: Example) -> None:
    """Take an original out of a locked run with its marks and counts. A finished run goes on after the next decision."""
    for instance in lineage.instances(run, original):
        discount(run.counts, instance.kind, instance.outcome())
    run.chosen = [key for key in run.chosen if key != original.pk]
    run.marks.pop(str(original.pk), None)
    run.through = run.chosen[-1] if run.chosen else 0
    if run.event_id is not None:
        events.record(
            project_id=run.project_id,
            actor=None,
            thing="perturbation_run",
            thing_id=run.pk,
            before="ready",
            after="planned",
            now=timezone.now(),
        )
        run.event = None
    run.save(update_fields=["chosen", "marks", "through", "counts", "event"])
