"""Perturbation runs that a batch feeds, seen from one decision: what they made because of it, and taking that back."""

from collections.abc import Iterable, Mapping, Sequence

from django.utils import timezone

from annotation.access import audit_log
from annotation.models import Decision, Example, PerturbationRun
from annotation.queue import lineage
from tableqa.perturbations import discount


def resting_on(decisions: Iterable[Decision]) -> dict[int, list[PerturbationRun]]:
    """By decision (key), the runs that perturbed its original because of it: an example is one item of a batch at most."""
    decisions = list(decisions)
    of_batch: dict[int | None, list[PerturbationRun]] = {}
    fed = PerturbationRun.objects.filter(feeds_from__in={decision.item.batch_id for decision in decisions})
    for run in fed.order_by("pk"):
        of_batch.setdefault(run.feeds_from_id, []).append(run)
    return {
        decision.pk: [
            run for run in of_batch.get(decision.item.batch_id, ()) if decision.item.example_id in run.chosen
        ]
        for decision in decisions
    }


def lock(decision: Decision) -> list[PerturbationRun]:
    """`resting_on`, after locking every run that the batch feeds, so that none takes the decision up meanwhile."""
    runs = decision.item.batch.fed_runs.select_for_update().order_by("pk")
    list(runs.values_list("pk"))
    return resting_on([decision])[decision.pk]


def made_only_by(
    runs_of: Mapping[int, Sequence[PerturbationRun]], decisions: Iterable[Decision]
) -> dict[int, list[Example]]:
    """By decision (key), the automatic examples of its original that its runs make, and no other run of the project."""
    originals = {decision.pk: decision.item.example_id for decision in decisions if runs_of.get(decision.pk)}
    if not originals:
        return {}
    automatic: dict[int | None, list[Example]] = {}
    for example in Example.objects.automatic().filter(parent__in=originals.values()).order_by("pk"):
        automatic.setdefault(example.parent_id, []).append(example)
    sources = {example.source_id for examples in automatic.values() for example in examples}
    runs = PerturbationRun.objects.filter(sources__in=sources).defer("marks").in_bulk().values()
    examples_by_decision: dict[int, list[Example]] = {}
    for key, original in originals.items():
        own = {run.pk for run in runs_of[key]}
        examples_by_decision[key] = [
            example
            for example in automatic.get(original, ())
            if any(lineage.is_made_by_run(run, example) for run in runs_of[key])
            and not any(lineage.is_made_by_run(run, example) for run in runs if run.pk not in own)
        ]
    return examples_by_decision


def leave_out(run: PerturbationRun, original: Example) -> None:
    """Take an original out of a locked run with its marks and counts. A finished run continues after the next decision."""
    for instance in lineage.instances(run, original):
        discount(run.counts, instance.kind, instance.outcome())
    run.chosen = [key for key in run.chosen if key != original.pk]
    run.marks.pop(str(original.pk), None)
    run.through = run.chosen[-1] if run.chosen else 0
    if run.event_id is not None:
        audit_log.log(run, "ready", "planned", by=None, now=timezone.now())
        run.event = None
    run.save(update_fields=["chosen", "marks", "through", "counts", "event"])
