"""What a release made now would lack: work that is not done, decisions that are not made, what nobody has said.

Nothing of it stops a release; who makes one should know. Counted in a bounded number of queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation.journeys import assigning
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    Example,
    Inquiry,
    PerturbationRun,
    Project,
)
from annotation.money import statements
from tasks.contract import task_types


@dataclass(frozen=True)
class Missing:
    """One thing that is not there yet: of which part of the study, and what in a sentence. `number` of how many."""

    about: str
    words: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.about}: {self.words}"


def missing(project: Project) -> list[Missing]:
    """Everything that a release of the project would lack now."""
    batches = list(
        Batch.objects.filter(project=project, purpose=Batch.Purpose.WORK, set_aside_at__isnull=True)
        .select_related("feeds_from")
        .order_by("pk")
    )
    counts = assigning.progress(batches)
    return [
        *_work(batches, counts),
        *_runs(project),
        *_unchecked(project, batches),
        *_people(project),
    ]


def _work(batches: Sequence[Batch], counts: Mapping[int, Mapping[str, int]]) -> Iterator[Missing]:
    if not batches:
        yield Missing("batches", "There is no batch yet.")
    for batch in batches:
        found = counts[batch.pk]
        if batch.state == "planned":
            yield Missing(
                batch.name, f"It was never opened; its {found['items']:,} items wait.", found["items"]
            )
        else:
            yield from _open(batch, found)
        feeding = batch.feeds_from
        if feeding is not None and feeding.pk in counts and batch.closed_at is None:
            before = counts[feeding.pk]
            left = before["open"] + before["complete"] + before["adjudication"]
            if left:
                words = f"It waits for what is decided of {left:,} more in “{feeding.name}”."
                yield Missing(batch.name, words, left)


def _open(batch: Batch, found: Mapping[str, int]) -> Iterator[Missing]:
    if found["open"]:
        words = f"{_items(found['open'])} not annotated by as many people as it takes"
        end = "; the batch is closed, so they stay out." if batch.closed_at else "."
        yield Missing(batch.name, words + end, found["open"])
    if found["complete"]:
        words = (
            f"{_items(found['complete'])} complete and not decided yet; the worker does it within minutes."
        )
        yield Missing(batch.name, words, found["complete"])
    if found["adjudication"]:
        words = f"{_items(found['adjudication'])} waiting for an adjudicator."
        yield Missing(batch.name, words, found["adjudication"])


def _runs(project: Project) -> Iterator[Missing]:
    runs = PerturbationRun.objects.filter(project=project, event__isnull=True).defer("chosen", "marks")
    for run in runs.select_related("feeds_from").order_by("pk"):
        name = ", ".join(run.kinds)
        if run.feeds_from is None:
            words = "They are not finished. Start the same run again: it goes on where it stopped."
        elif run.feeds_from.closed_at is None:
            words = f"They take what “{run.feeds_from.name}” decides, and are released once it is closed."
        else:
            words = f"They wait for what is still to be decided in “{run.feeds_from.name}”."
        yield Missing(f"perturbations {name}", words)


def _unchecked(project: Project, batches: Sequence[Batch]) -> Iterator[Missing]:
    """Examples that people made and nobody has answered blind, where the study has a batch for that."""
    kinds = [key for key, task in task_types().items() if task.says_gold]
    if not any(batch.task_type in kinds for batch in batches):
        return
    answered = Decision.objects.filter(
        kind=Decision.Kind.ACCEPTED,
        item__example=OuterRef("pk"),
        item__batch__task_type__in=kinds,
        item__batch__set_aside_at__isnull=True,
    )
    made = Example.objects.perturbed().filter(source__project=project)
    made = made.filter(outcome__decision__item__batch__set_aside_at__isnull=True)
    if number := made.filter(~Exists(answered)).count():
        words = f"{number:,} of {made.count():,} have not been answered blind by somebody else."
        yield Missing("perturbed examples", words, number)


def _people(project: Project) -> Iterator[Missing]:
    simulated = Assignment.objects.filter(batch__project=project, person__is_simulated=True)
    if simulated.filter(annotations__isnull=False).exists():
        yield Missing(
            "people", "Simulated people annotated here: a release has to allow it (--allow-simulated)."
        )
    if unanswered := Inquiry.objects.filter(project=project, answered_at__isnull=True).count():
        yield Missing("questions", f"{unanswered:,} to the manager are not answered.", unanswered)
    if silent := [one.title for one in statements.ASKED if not project.statement.get(one.name)]:
        yield Missing("data statement", f"Nothing is said of {', '.join(silent)}.", len(silent))


def _items(number: int) -> str:
    return f"{number:,} {'item is' if number == 1 else 'items are'}"
