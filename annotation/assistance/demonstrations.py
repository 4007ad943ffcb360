"""Demonstrations for prompts: accepted responses of people, by category."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotation.models import Batch, Decision, Item, Outcome, Provenance
from tasks.contract import ProposingTask

POOL_SIZE = 200
"""Accepted responses that demonstrations are drawn from."""


@dataclass(frozen=True)
class Demonstration:
    """An accepted response of a person as a language model is shown it. `of` is the original that it was made of."""

    of: int
    id: str
    rendered: str
    why: str
    reply: Mapping[str, Any]


def load_demonstrations(batch: Batch) -> dict[str, list[Demonstration]]:
    """Accepted responses of people to this kind and variant anywhere in the project, by category; a seeded sample of them.

    Left out is what came from a machine, edited or not, and what simulated people made.
    """
    task, accepted = require_proposing(batch), query_accepted_outcomes(batch)
    keys = list(accepted.order_by("pk").values_list("pk", flat=True).distinct())
    chosen = random.Random(f"pool:{batch.seed}").sample(keys, min(len(keys), POOL_SIZE))
    by_category: dict[str, list[Demonstration]] = {}
    for key in sorted(chosen):
        row = Outcome.objects.select_related(
            "decision__item__batch", "decision__item__example__stored_table"
        ).get(pk=key)
        item = row.decision.item
        for category, demonstration in _demonstrations_of(task, row, item):
            by_category.setdefault(category, []).append(demonstration)
    return by_category


def _demonstrations_of(task: ProposingTask, row: Outcome, item: Item) -> Iterator[tuple[str, Demonstration]]:
    plain = item.plain()
    response = task.restore(row.response["data"])
    for generation_request in task.generation_requests(plain):
        reply = task.as_demonstration(response, generation_request, plain)
        if reply is not None:
            why = " ".join(task.describe(response, plain))[:600]
            demonstration = Demonstration(find_original(item), row.public_id, task.render(plain), why, reply)
            yield generation_request.key, demonstration


def sample(pool: Sequence[Demonstration], of: int, most: int, seed: int) -> list[Demonstration]:
    """Demonstrations for one request: a limited number, never one that was made of the same original."""
    others = [demonstration for demonstration in pool if demonstration.of != of]
    return random.Random(f"demonstrations:{seed}").sample(others, min(most, len(others)))


def query_accepted_outcomes(batch: Batch) -> QuerySet[Outcome]:
    """Outcomes of people that may be demonstrations for a batch, without those of batches that were set aside."""
    accepted = Outcome.objects.filter(
        decision__kind=Decision.Kind.ACCEPTED,
        decision__item__batch__project=batch.project_id,
        decision__item__batch__task_type=batch.task_type,
        decision__item__batch__variant=batch.variant,
        decision__item__batch__set_aside_at__isnull=True,
    )
    machines = Provenance.objects.exclude(origin=Provenance.Origin.HUMAN).values("annotation")
    return accepted.exclude(annotations__in=machines).exclude(
        annotations__assignment__person__is_simulated=True
    )


def find_original(item: Item) -> int:
    """The key of what an item's example was made of first; its own, where it is an original."""
    example = item.example
    while example.parent is not None:
        example = example.parent
    return example.pk


def require_proposing(batch: Batch) -> ProposingTask:
    """The task type of a batch with proposals. Raises TypeError for a task type that has none."""
    task = batch.task()
    if not isinstance(task, ProposingTask):
        raise TypeError(f"{task.key} proposes nothing")
    return task
