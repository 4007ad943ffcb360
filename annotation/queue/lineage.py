"""What follows from what: derived examples, items of the batches that a decision feeds, what a run makes of an original."""

import dataclasses
import itertools
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import ngettext

import tableqa
from annotation.background import jobs
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Example,
    Item,
    Job,
    ModelAnswer,
    Outcome,
    PerturbationRun,
    Project,
    Proposal,
    Provenance,
    Slot,
    StoredTable,
)
from annotation.models.sources import LONGEST_EXAMPLE_ID
from annotation.platform import bulk_rows
from annotation.platform.bulk_rows import among
from annotation.platform.keyset import chunks
from annotation.platform.refusals import refuse
from annotation.queue import allocation, orphaned_slots, resources, slots
from annotation.queue.slots import NewItem, key_chunks
from tableqa.core.disk_collections import Lines
from tableqa.core.translation import pack_all
from tableqa.perturbations import PERTURBATIONS, Instance
from tableqa.perturbations import instances as instances_of
from tasks.contract import Context, PerturbedExample, PreparedInputs, PreparingTask, Surroundings, TaskType

AT_ONCE = 500
"""Examples that are looked at together when items are made of them."""
NUMBERS_AT_ONCE = 100
ROOM_FOR_NUMBER = 10
"""Characters behind a label: two signs and a number."""


def make_example(*, item: Item, perturbed: PerturbedExample) -> Example:
    """The example that an accepted edit makes. It keeps every operation since the source table."""
    parent = item.example
    label = item.batch.variant or item.batch.task_type
    edited = perturbed.example
    return Example.objects.create(
        source_id=parent.source_id,
        external_id=_new_id(parent, label),
        position=parent.position,
        question=edited.question,
        answers=list(edited.answers),
        stored_table_id=parent.stored_table_id,
        operations=[*parent.operations, *(operation.to_dict() for operation in perturbed.operations)],
        table_digest=edited.table.digest(),
        more=edited.beside(),
        parent=parent,
        perturbation=label,
    )


def _new_id(parent: Example, label: str) -> str:
    """The id of the next example that an edit makes of this one: behind those that the source holds already.

    Numbers have gaps where decisions were taken back, and an import may bring such ids, too: so they are not counted.
    """
    # Two batches that decide on one example take turns.
    Example.objects.select_for_update(no_key=True).filter(pk=parent.pk).values_list("pk").first()
    stem = f"{parent.external_id[: LONGEST_EXAMPLE_ID - len(label) - ROOM_FOR_NUMBER]}~{label}-"
    siblings, last = Example.objects.filter(source_id=parent.source_id), 0
    # Looked for by whole ids, for which there is an index; a source may hold a million.
    while True:
        suffixes = {f"{stem}{suffix}": suffix for suffix in range(last + 1, last + 1 + NUMBERS_AT_ONCE)}
        taken_ids = siblings.filter(external_id__in=list(suffixes)).values_list("external_id", flat=True)
        highest = max((suffixes[name] for name in taken_ids), default=0)
        if not highest:
            return f"{stem}{last + 1}"
        last = highest


def follow_up(decision: Decision) -> int:
    """New items in every batch that this decision feeds, and work for the runs that it feeds. Returns how many items."""
    continue_runs(decision.item.batch, now=decision.made_at)
    return sum(
        _feed(batch, decision)
        for batch in decision.item.batch.feeds.filter(closed_at__isnull=True).order_by(
            "-pk"
        )  # as `lock_batches`
    )


def continue_runs(batch: Batch, *, now: datetime) -> None:
    """Continue the perturbation runs that a batch feeds in the background, each once however much was decided."""
    for run in batch.fed_runs.filter(event__isnull=True).select_related("project").defer("chosen", "marks"):
        if not Job.objects.filter(kind="perturb", state=Job.State.QUEUED, ids={"run": run.pk}).exists():
            jobs.enqueue(project=run.project, kind="perturb", ids={"run": run.pk}, by=None, now=now)


def matches_filter(when: Mapping[str, Sequence[Any]], data: Mapping[str, Any]) -> bool:
    """Whether an outcome with this data feeds what asks for these values; of a field that is a list, one is enough.

    {"label": ["extraction"]} takes what was decided to be an extraction question; {} takes everything.
    """
    return all(
        any(entry in values for entry in (value if isinstance(value, list | tuple) else [value]))
        for values, value in ((values, data.get(name)) for name, values in when.items())
    )


def catch_up(batch: Batch) -> int:
    """Items of a batch planned after decisions that feed it were made. Returns how many."""
    accepted = Decision.objects.filter(item__batch=batch.feeds_from, kind=Decision.Kind.ACCEPTED)
    decisions = accepted.select_related("item__example", "item__batch").order_by("item__position", "pk")
    return sum(_feed(batch, decision) for decision in list(decisions))


def _feed(batch: Batch, decision: Decision) -> int:
    item, created_count = decision.item, 0
    for outcome in decision.outcomes.order_by("number"):
        if not matches_filter(batch.feeds_when, outcome.response["data"]):
            continue
        inputs = {"base": item.example.public_id, "outcome": outcome.public_id}
        created_count += make_items(
            batch=batch, examples=[outcome.example_id or item.example_id], inputs=inputs
        )
    return created_count


@bulk_rows.rare_garbage_collection()
def make_items(
    *,
    batch: Batch,
    examples: Sequence[int],
    inputs: dict[str, str] | None = None,
    size: int | None = None,
) -> int:
    """Items for these examples (keys) at the end of the batch, in their order; ones it has already are left out.

    The task type prepares what is frozen beside each example, and leaves out examples that make no item of it; of those that
    do it may prefer some (`PreparedInputs.priority`). `size` takes that many at most. The makers of an example, its
    ancestors, examples shown beside it, and those that it reads (`TaskType.looks_into`) are excluded from the
    item. An example is never an item of both a qualification and a batch that requires it: people who passed know it
    (`items_elsewhere`).
    """
    # Two decisions that feed one batch take turns: positions are given one after the other.
    Batch.objects.select_for_update(no_key=True).filter(pk=batch.pk).values_list("pk").first()
    items = slots.add_items(batch, new_items(batch, examples, inputs, size))
    if batch.strategy == "split" and batch.opened_at is not None:
        allocation.hand_out(batch=batch, by=None, now=timezone.now(), items=items)
    elif batch.strategy == "everyone" and batch.opened_at is not None:
        orphaned_slots.trim(batch, now=timezone.now(), items=items)
    return len(items)


def new_items(
    batch: Batch, examples: Sequence[int], inputs: dict[str, str] | None = None, size: int | None = None
) -> Iterator[NewItem]:
    """The items that `make_items` makes, which are not written yet."""
    task, here = batch.task(), Item.objects.filter(batch=batch)
    excluded_examples = frozenset(items_elsewhere(batch).values_list("example_id", flat=True))
    examples = [key for key in starting_points(task, examples) if key not in excluded_examples]
    last = here.aggregate(last=Max("position"))["last"] or 0
    if last:
        present_examples: set[int] = set()
        for some in key_chunks(examples):
            present_examples.update(here.filter(example__in=some).values_list("example_id", flat=True))
        examples = [key for key in examples if key not in present_examples]
    candidates = (
        _item_candidates(batch, task, examples, size)
        if isinstance(task, PreparingTask)
        else map(_ItemCandidate, examples)
    )
    return _new_items(task, itertools.islice(candidates, size), inputs or {}, first=last + 1)


def items_elsewhere(batch: Batch) -> QuerySet[Item]:
    """The items whose examples make none here: of its qualification, or of the batches that require it as one."""
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        return Item.objects.filter(batch__requires=batch)
    return (
        Item.objects.filter(batch=batch.requires_id) if batch.requires_id is not None else Item.objects.none()
    )


def examples_of(required: Batch | None) -> frozenset[int]:
    """The examples (keys) of the items of a qualification batch."""
    return frozenset(Item.objects.filter(batch=required).values_list("example_id", flat=True))


def leave_out(*, batch: Batch, required: Batch) -> int:
    """Remove the items of a batch that are items of the qualification, too, in a transaction. Returns how many.

    Raises ActionRefused (invalid_request) where a person has had one already, or none would be left.
    """
    Batch.objects.select_for_update(no_key=True).filter(pk=batch.pk).values_list("pk").first()
    twice = Item.objects.filter(batch=batch, is_gold=False, example__in=examples_of(required))
    count = twice.count()
    if not count:
        return 0
    begun = Exists(Assignment.objects.filter(item=OuterRef("pk")))
    has_proposals = Exists(Proposal.objects.filter(item=OuterRef("pk")))
    if twice.filter(begun | has_proposals).exists() or not batch.items.exclude(pk__in=twice).exists():
        refuse(
            "invalid_request",
            ngettext(
                "{number} item of {name} is also in {qualification} and can no longer be removed. "
                "Create another batch that requires {qualification}; it leaves the item out.",
                "{number} items of {name} are also in {qualification} and can no longer be removed. "
                "Create another batch that requires {qualification}; it leaves them out.",
                count,
            ).format(number=count, name=batch.name, qualification=required.name),
        )
    slot_count = Slot.objects.filter(item__in=twice).count()
    twice.delete()
    Batch.objects.filter(pk=batch.pk).update(
        items_count=F("items_count") - count, slots_count=F("slots_count") - slot_count
    )
    return count


def starting_points(task: TaskType, examples: Sequence[int]) -> Sequence[int]:
    """The examples, each original replaced by the newest one made of it by a perturbation that the task type starts from."""
    return list(dict.fromkeys(starting_point_of(task, examples).values()))


def starting_point_of(task: TaskType, examples: Sequence[int]) -> dict[int, int]:
    """By example (key), the example that its item is made of (`starting_points`)."""
    if not task.starts_from:
        return {key: key for key in examples}
    newest: dict[int | None, int] = {}
    for some in key_chunks(examples):
        derived = Example.objects.filter(
            parent__in=some, parent__parent__isnull=True, perturbation__in=task.starts_from
        ).exclude(outcome__decision__item__batch__set_aside_at__isnull=False)
        newest.update(derived.order_by("pk").values_list("parent_id", "pk"))
    return {key: newest.get(key, key) for key in examples}


@dataclasses.dataclass(frozen=True, slots=True)
class _ItemCandidate:
    """An example (key) of which an item is made, what the item freezes, and the examples (keys) that this shows."""

    example: int
    prepared: PreparedInputs = dataclasses.field(default_factory=PreparedInputs)
    beside: Sequence[int] = ()


def _new_items(
    task: TaskType, candidates: Iterable[_ItemCandidate], inputs: Mapping[str, str], first: int
) -> Iterator[NewItem]:
    for some in chunks(enumerate(candidates, first), AT_ONCE):
        away = _excluded_people(task, [candidate for _, candidate in some])
        for position, candidate in some:
            frozen = {**inputs, **candidate.prepared.inputs}
            yield NewItem(candidate.example, position, frozen, away.get(candidate.example, ()))


def _excluded_people(task: TaskType, candidates: Sequence[_ItemCandidate]) -> dict[int, set[int]]:
    """By example, the people (ids) who made it or what its item shows, or on whose decisions the task type depends."""
    examples = Example.objects.filter(among("pk", [candidate.example for candidate in candidates]))
    if not task.looks_into:
        examples = examples.filter(parent__isnull=False)  # an original was not made here
    away = {example.pk: makers(example) | deciders(example, task.looks_into) for example in examples}
    shown_examples = Example.objects.filter(
        among("pk", {key for candidate in candidates for key in candidate.beside})
    )
    made_by = {example.pk: makers(example) for example in shown_examples}
    for candidate in candidates:
        for key in candidate.beside:
            away.setdefault(candidate.example, set()).update(made_by[key])
    return away


def _item_candidates(
    batch: Batch, task: PreparingTask, examples: Sequence[int], size: int | None
) -> Iterator[_ItemCandidate]:
    """Those of the examples that make an item of the task type, the preferred first."""
    # Of a task type without favourites no more than `size` are sought.
    enough = None if task.favourites else size
    looked = _prepare_examples(batch.project, task, examples, enough=enough, secret=batch.draw_key)
    together = task.together(looked, batch.settings)
    order, priorities = list(range(len(looked))), looked.priorities
    if together is not looked:
        priorities = array("d", [entry.priority if entry is not None else 0.0 for entry in together])
    if any(priorities):
        order.sort(key=lambda index: -priorities[index])
    for index in order:
        if (prepared := together[index]) is not None:
            beside = looked.beside(index, prepared.uses) if prepared.uses else ()
            yield _ItemCandidate(looked.examples[index], prepared, beside)


class _PreparedExamples(Sequence[PreparedInputs]):
    """What a task type prepared for examples, in their order; on disk, for a batch may have very many."""

    def __init__(self) -> None:
        self.examples, self.priorities = array("q"), array("d")
        self._places: list[int] = []
        self._order: Sequence[int] = ()
        self._lines = Lines()

    def add(
        self, index: int, example: Example, prepared: PreparedInputs, alternatives: Sequence[Example]
    ) -> None:
        """One more, at any position; `put_in_order` comes after the last one."""
        beside = [(alternative.external_id, alternative.pk) for alternative in alternatives]
        self._lines.append((pack_all(prepared.inputs), prepared.priority, prepared.uses, beside))
        self._places.append(index)
        self.examples.append(example.pk)
        self.priorities.append(prepared.priority)

    def put_in_order(self) -> None:
        self._order = sorted(range(len(self._lines)), key=self._places.__getitem__)
        self.examples = array("q", [self.examples[at] for at in self._order])
        self.priorities = array("d", [self.priorities[at] for at in self._order])

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: Any) -> Any:
        inputs, priority, uses, _ = self._lines[self._order[index]]
        return PreparedInputs(inputs, priority, tuple(uses))

    def beside(self, index: int, uses: Sequence[str]) -> list[int]:
        """The keys of those alternatives that have these ids."""
        return [key for name, key in self._lines[self._order[index]][3] if name in uses]


def has_suitable(project: Project, task: PreparingTask, examples: Sequence[int]) -> bool:
    """Whether one of the examples (keys) can become an item of the task type. Stops at the first."""
    return bool(_prepare_examples(project, task, starting_points(task, examples), enough=1))


def _prepare_examples(
    project: Project, task: PreparingTask, examples: Sequence[int], *, enough: int | None, secret: str = ""
) -> _PreparedExamples:
    """What the task type prepares for each of the examples that make an item of it, until there are `enough` (None: all)."""
    # Where all are looked at, table by table, so that each table is read once. Else in their order, to the last one wanted.
    order = _by_table(examples) if enough is None or enough >= len(examples) else range(len(examples))
    context = resources.context_without_waiting(project, task.needs)
    imported: dict[tuple[str, str], list[Example]] | None = None
    looked = _PreparedExamples()
    for some in key_chunks(order):
        if len(looked) == enough:
            break
        page = Example.objects.filter(among("pk", [examples[index] for index in some]))
        rows = {example.pk: example for example in page}
        if imported is None and any(example.parent_id is not None for example in rows.values()):
            imported = _imported(project.pk)
        project_facts = _project_facts([_ancestry(example) for example in rows.values()])
        stored = StoredTable.objects.in_bulk({example.stored_table_id for example in rows.values()})
        table: tuple[int, tableqa.Table] | None = None
        for index in some:
            if len(looked) == enough:
                break
            example = rows[examples[index]]
            example.stored_table = stored[example.stored_table_id]
            if example.operations:
                plain = example.example()
            else:
                if table is None or table[0] != example.stored_table_id:
                    table = (example.stored_table_id, example.stored_table.table())
                plain = example.example(table[1])
            around, alternatives = surroundings(example, imported or {}, project_facts, context)
            prepared = task.prepare(plain, dataclasses.replace(around, secret=secret))
            if prepared is not None:
                looked.add(index, example, prepared, alternatives)
    looked.put_in_order()
    return looked


def _by_table(examples: Sequence[int]) -> list[int]:
    """The positions of the examples, those over one table beside each other."""
    tables = array("q")
    for some in key_chunks(examples):
        table_by_example = dict(
            Example.objects.filter(among("pk", some)).values_list("pk", "stored_table_id")
        )
        tables.extend(table_by_example[key] for key in some)
    return sorted(range(len(examples)), key=tables.__getitem__)


def _imported(project: int) -> dict[tuple[str, str], list[Example]]:
    """Examples that were read from a source, and whose meta has what they were made of and how, by these two."""
    examples_by_origin: dict[tuple[str, str], list[Example]] = {}
    rows = Example.objects.originals().filter(
        source__project_id=project, more__meta__has_keys=["original", "perturbation"]
    )
    for row in rows.usable().select_related("stored_table").order_by("pk"):
        meta = row.more["meta"]
        examples_by_origin.setdefault((str(meta["original"]), str(meta["perturbation"])), []).append(row)
    return examples_by_origin


@dataclasses.dataclass(frozen=True)
class ProjectFacts:
    """Decisions and model answers for several examples, by their keys; `lines` are they and what they come from."""

    lines: Mapping[int, list[Example]]
    decided: Mapping[int, list[tuple[int, str, dict[str, Any]]]]
    answers: Mapping[int, list[ModelAnswer]]


def _ancestry(example: Example) -> list[Example]:
    """The example, what it is made of, and so on to the original."""
    line = [example]
    while line[-1].parent_id is not None:
        line.append(Example.objects.select_related("stored_table").get(pk=line[-1].parent_id))
    return line


def _project_facts(lines: Sequence[list[Example]]) -> ProjectFacts:
    """In two queries, however many examples there are."""
    decided: dict[int, list[tuple[int, str, dict[str, Any]]]] = {}
    accepted = Outcome.objects.filter(
        among("decision__item__example", {ancestor.pk for line in lines for ancestor in line}),
        decision__item__batch__set_aside_at__isnull=True,
    )
    for key, example, kind, response in accepted.values_list(
        "pk", "decision__item__example_id", "decision__item__batch__task_type", "response"
    ):
        decided.setdefault(example, []).append((key, kind, response["data"]))
    answers: dict[int, list[ModelAnswer]] = {}
    for row in ModelAnswer.objects.filter(among("example", {line[-1].pk for line in lines})).order_by("pk"):
        answers.setdefault(row.example_id, []).append(row)
    return ProjectFacts({line[0].pk: line for line in lines}, decided, answers)


def surroundings(
    example: Example,
    imported: Mapping[tuple[str, str], Sequence[Example]],
    project_facts: ProjectFacts,
    context: Context,
) -> tuple[Surroundings, list[Example]]:
    """What the project has on an example, with the resources of the task type, and the rows of its alternatives.

    `imported` are examples made elsewhere of what an original of the project has as its id, by that id and the kind of
    perturbation: alternatives, too.
    """
    line = project_facts.lines[example.pk]
    alternatives: list[Example] = []
    if example.parent_id is not None:
        others = Example.objects.filter(
            parent_id=example.parent_id, perturbation=example.perturbation
        ).exclude(pk=example.pk)
        alternatives = list(others.select_related("stored_table").order_by("pk"))
        here = {entry.external_id for entry in (*line, *alternatives)}
        of_parent = imported.get((line[1].external_id, example.perturbation), ())
        alternatives += [entry for entry in of_parent if entry.external_id not in here]
    decided: dict[str, tuple[dict[str, Any], ...]] = {}
    for _, kind, data in sorted(
        (entry for each in line for entry in project_facts.decided.get(each.pk, ())),
        key=lambda entry: entry[0],
    ):
        decided[kind] = (*decided.get(kind, ()), data)
    answers: dict[str, tuple[dict[str, Any], ...]] = {}
    for row in project_facts.answers.get(line[-1].pk, ()):
        answers[row.purpose] = (*answers.get(row.purpose, ()), {"model": row.model, **row.data})
    around = Surroundings(
        original=line[-1].example() if len(line) > 1 else None,
        perturbation=example.perturbation,
        alternatives=tuple(entry.example() for entry in alternatives),
        makers={entry.external_id: maker for entry in (example, *alternatives) if (maker := _made_by(entry))},
        decided=decided,
        model_answers=answers,
        lent=context,
    )
    return around, alternatives


def _made_by(example: Example) -> str:
    """What made an example: "person", "machine" or "machine, edited" where it was proposed, "automatic", or what an
    import calls it; "" where it is not stated."""
    if example.seed is not None:
        return "automatic"
    if example.parent_id is not None:
        outcome = Outcome.objects.filter(example=example).first()
        return "" if outcome is None else _origin(outcome)
    return str(example.more.get("meta", {}).get("maker") or "")


def _origin(outcome: Outcome) -> str:
    """Whose an accepted response is: "person", "machine" or "machine, edited"; a person's where one of several made it."""
    origins = set(Provenance.objects.filter(annotation__outcomes=outcome).values_list("origin", flat=True))
    if not origins or Provenance.Origin.HUMAN in origins:
        return "person"
    return "machine, edited" if Provenance.Origin.EDITED in origins else "machine"


def makers(example: Example) -> set[int]:
    """The people (ids) whose annotations made this example or any example it comes from."""
    person_ids: set[int] = set()
    current: Example | None = example
    while current is not None and current.parent_id is not None:
        outcome = Outcome.objects.filter(example=current).select_related("decision__event").first()
        if outcome is not None:
            person_ids |= _people_behind(outcome)
        current = current.parent
    return person_ids


def _people_behind(outcome: Outcome) -> set[int]:
    """The people (ids) whose work an outcome is: who made its annotations, who decided, and whose responses an
    adjudicator's own one rests on."""
    person_ids = set(outcome.annotations.values_list("assignment__person_id", flat=True))
    if outcome.decision.made_by_id is not None:
        person_ids.add(outcome.decision.made_by_id)
    if ids := (outcome.decision.event.detail or {}).get("based_on"):
        rests = Annotation.objects.filter(public_id__in=ids)
        person_ids.update(rests.values_list("assignment__person_id", flat=True))
    return person_ids


def deciders(example: Example, kinds: Sequence[str]) -> set[int]:
    """The people (ids) on whose work rests what was decided, in batches of these kinds, of the example or of what it was
    made from."""
    person_ids: set[int] = set()
    if not kinds:
        return person_ids
    line: list[Example] = [example]
    while line[-1].parent is not None:
        line.append(line[-1].parent)
    decided = Outcome.objects.filter(
        decision__item__example__in=line, decision__item__batch__task_type__in=kinds
    )
    for outcome in decided.select_related("decision__event"):
        person_ids |= _people_behind(outcome)
    return person_ids


def marked_cells(run: PerturbationRun, original: Example) -> list[tuple[str, str]]:
    """The cells that people had marked as relevant in an original when the run was planned."""
    return [(row, column) for row, column in run.marks.get(str(original.pk), ())]


def instances(run: PerturbationRun, original: Example) -> Iterator[Instance]:
    """What a run makes of one original: the same today as on the day when it ran."""
    return instances_of(original.example(), run.kinds, run.seeds, marked_cells=marked_cells(run, original))


def is_made_by_run(run: PerturbationRun, example: Example) -> bool:
    """Whether a run makes this automatic example."""
    if example.seed is None or example.perturbation not in run.kinds:
        return False
    is_drawn = example.seed in run.seeds or not PERTURBATIONS[example.perturbation].seeded
    return is_drawn and example.parent_id in run.chosen


_AS_ORIGINAL = ("source_id", "position", "question", "answers", "stored_table_id", "more")


def automatic_example(original: Example, instance: Instance, digest: str) -> Example:
    """The row, not saved, of what a program made of an original; `digest` is that of the new table."""
    return Example(
        **{name: getattr(original, name) for name in _AS_ORIGINAL},
        external_id=instance.id_of(original.external_id),
        operations=[operation.to_dict() for operation in instance.perturbed.operations],
        table_digest=digest,
        parent=original,
        perturbation=instance.kind,
        seed=instance.seed,
    )
