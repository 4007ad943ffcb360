"""The examples that a batch draws: a seeded sample of sources, or these examples by their ids."""

import math
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext

import tableqa
from annotation.models import Batch, Example, Project, Source, StoredTable
from annotation.models.sources import ExampleQuerySet
from annotation.platform import bulk_rows
from annotation.platform.keyset import chunks
from annotation.platform.refusals import refuse
from annotation.queue import lineage, strategies
from tableqa.data.own_columns import PREFIX, column_text, column_values
from tasks.contract import PreparingTask, TaskType

OF = {
    "originals": ExampleQuerySet.originals,
    "perturbed": ExampleQuerySet.perturbed,
    "automatic": ExampleQuerySet.automatic,
}
"""Which examples there are: as the source has them, perturbed by people, perturbed by a program."""


MOST_CHECKED = 2_000
"""Examples of a sample that `is_suitable` checks: one suitable example in 200 is then missed once in 20,000 times."""

FIRST_EXAMPLES = 20
"""Examples of each source whose own columns are offered for sampling."""


@dataclass(frozen=True)
class Sample:
    """What the items of a batch are drawn from: examples of sources, or accepted items of another batch.

    of      one of `example_kinds(task)`; "": what the task type is usually about
    size    number of examples; None: all
    only    these examples by their ids, in this order, instead of a random sample
    strata  "source" or "difficulty" (`strategies.STRATA`), or an own column ("meta.domain"): keep the share of each stratum
    """

    sources: Sequence[Source] = ()
    of: str = ""
    size: int | None = None
    only: Sequence[str] | None = None
    seed: int = 0
    strata: str = ""
    feeds_from: Batch | None = None

    @classmethod
    def of_batch(cls, batch: Batch) -> "Sample":
        """The sample that a batch was planned with."""
        stored = batch.sampling
        sources = Source.objects.ready().filter(project=batch.project_id, public_id__in=stored["sources"])
        in_order = {source.public_id: source for source in sources}
        return cls(
            sources=[in_order[name] for name in stored["sources"] if name in in_order],
            of=stored["of"],
            size=stored.get("size"),
            only=stored.get("only"),
            seed=batch.seed,
            strata=stored["by"],
        )

    def as_stored(self) -> dict[str, Any]:
        """What `Batch.sampling` keeps of it."""
        sampling: dict[str, Any] = {"sources": [source.public_id for source in self.sources], "of": self.of}
        extent = {"size": self.size} if self.only is None else {"only": list(self.only)}
        return {**sampling, "by": self.strata, **extent}


def is_suitable(*, project: Project, task: TaskType, sample: Sample) -> bool:
    """Whether one of the first `MOST_CHECKED` examples of the sample, which are random ones, can become an item."""
    if not isinstance(task, PreparingTask) or not task.without:
        return True
    examples, _ = draw(task, check(task, sample), None)
    return not examples or lineage.has_suitable(project, task, examples[:MOST_CHECKED])


def drawable_examples(project: Project, task: TaskType, sample: Sample) -> dict[int, int]:
    """The examples (keys) that a sample can draw, by each the one that its item is made of. Raises ActionRefused."""
    everything, _ = draw(task, replace(check(task, sample), size=None, strata=""), None)
    return lineage.starting_point_of(task, everything)


def check(task: TaskType, sample: Sample) -> Sample:
    """The sample with its kind of examples filled in. Raises ActionRefused(invalid_request)."""
    of = sample.of or task.of[0]
    if of not in example_kinds(task):
        refuse(
            "invalid_request",
            "{title} takes {value} examples.",
            title=task.title,
            value=gettext(" or ").join(example_kinds(task)),
        )
    if sample.strata not in strategies.STRATA and not sample.strata.startswith(PREFIX):
        available = ", ".join([*filter(None, strategies.STRATA), f"{PREFIX}NAME"])
        refuse("invalid_request", "Sampling is by {known}, or from all examples equally.", known=available)
    return replace(sample, of=of, sources=list(sample.sources))


def draw(
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
    """The names in `OF` of the examples that a batch of the task type can be planned over.

    A task type about perturbed examples takes those of any author.
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

    `strata` keeps the share of each source, difficulty or value of an own column. Examples in `without` (keys) are left out,
    and with `among` all that are not among these.
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
    if by.startswith(PREFIX):
        for pk, more in examples.values_list("pk", "more"):
            strata.setdefault(column_text(more.get("meta"), by), []).append(pk)
        return dict(sorted(strata.items()))
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


def own_columns(project: Project) -> list[str]:
    """The own columns that the first examples of the sources of a project have, in their order."""
    first = Example.objects.usable().filter(source__project=project, position__lte=FIRST_EXAMPLES)
    rows = first.originals().order_by("source_id", "position").values_list("more", flat=True)
    return list(dict.fromkeys(name for more in rows for name, _ in column_values(more.get("meta"))))


def _cells(table: tableqa.Table) -> tuple[int, frozenset[str]]:
    texts = frozenset(_as_text(cell) for row in table.rows for cell in row)
    return math.prod(table.shape), texts


def _as_text(value: object) -> str:
    return " ".join(str(value).casefold().split())


def _examples_by_id(sources: Iterable[Source], only: Sequence[str]) -> list[int]:
    """The examples (keys) with these ids, in this order. Raises ActionRefused naming the ids that no source has."""
    keys = [source.pk for source in sources]
    keys_by_id: dict[str, int] = {}
    for names in chunks(only, MOST_CHECKED):
        named = Example.objects.filter(source__in=keys, external_id__in=names)
        keys_by_id.update(named.values_list("external_id", "pk"))
    if missing := [id for id in only if id not in keys_by_id]:
        refuse("invalid_request", "No source contains the examples {value}.", value=", ".join(missing[:10]))
    return [keys_by_id[id] for id in dict.fromkeys(only)]
