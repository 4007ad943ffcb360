"""Labels against the batch that they go into: its items, their slots, its task type and the people who are there."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext, ngettext

from annotation.models import Assignment, Batch, Decision, Example, Exclusion, Item, Person, Slot, Source
from annotation.platform.bulk_rows import among
from annotation.platform.refusals import refuse
from annotation.queue import submissions
from tableqa.core.disk_collections import Shelf
from tableqa.core.foreign_values import normal, unstorable
from tableqa.readers.ingestion import ROWS, Rows
from tableqa.readers.interface import Rejection
from tableqa.readers.labels import Label
from tableqa.readers.rejections import Problem, Rejections
from tasks import contract
from tasks.contract import InvalidResponse, TaskType


class LabelError(Exception):
    """What is wrong with one line: a text, and values for its placeholders."""

    def __init__(self, text: str, **values: object) -> None:
        super().__init__(text.format(**values) if values else text)


@dataclass
class CheckResult:
    """What labels would do to a batch. They are written only where none has a problem.

    rows        the new labels on disk: annotator, key of the item, labels of the item before, fingerprint, time, origin,
                seconds, response as JSON
    annotators  how many new labels each person has, by name
    simulated   who of them is a program
    lines       the line of each label, by item and person
    per_item    how many new labels each item has
    known       labels that are in the batch already
    repeated    labels that are left out because their person has another one of the same example
    rejected    lines with a problem, `problems` the first of them
    left_out, read_as   what the reader says of the file
    whole       False where only the first lines were checked
    """

    rows: Path
    annotators: Counter[str] = field(default_factory=Counter)
    simulated: set[str] = field(default_factory=set)
    lines: Shelf[tuple[int, str], int] = field(default_factory=Shelf)
    per_item: Shelf[int, int] = field(default_factory=Shelf)
    known: int = 0
    repeated: int = 0
    rejected: int = 0
    problems: list[Problem] = field(default_factory=list)
    left_out: str = ""
    read_as: str = ""
    whole: bool = True

    @property
    def new(self) -> int:
        return self.annotators.total()

    @property
    def items(self) -> int:
        return len(self.per_item)

    def as_data(self) -> dict[str, Any]:
        """The figures and problems as JSON. Names are values: erasing replaces these."""
        return {
            **{name: getattr(self, name) for name in _IN_DATA},
            "annotators": sorted(map(list, self.annotators.items())),
            "problems": [asdict(problem) for problem in self.problems],
        }


_IN_DATA = ("new", "items", "known", "repeated", "rejected", "left_out", "read_as", "whole")


def check(
    *,
    batch: Batch,
    labels: Iterable[Label],
    rows: Path,
    progress: Callable[[int], None],
    rejections: Rejections,
    rejected: Callable[[Label, str], Rejection],
    keeps_first: bool = False,
) -> CheckResult:
    """Check labels against the batch, and write those that are new to `rows`. Others go to the rejections.

    rejected     the record of a label, with what is wrong with it
    keeps_first  a label is known where its person has another response to the item
    """
    checked, items, task = CheckResult(rows), _Items(batch, keeps_first), batch.task()
    with Rows.written(rows) as written:
        for done, label in enumerate(items.loaded(labels), 1):
            try:
                if (row := _new_row(label, items, task, checked)) is not None:
                    written.write(row)
            except LabelError as wrong:
                rejections.add(rejected(label, str(wrong)))
            if done % ROWS == 0:
                progress(done)
    checked.rejected, checked.problems = rejections.number, rejections.first
    return checked


def _new_row(label: Label, items: _Items, task: TaskType, checked: CheckResult) -> list[Any] | None:
    """The row of a label; None where the batch has it. Raises LabelError."""
    annotator = label.annotator
    items.require_one_spelling(annotator)
    items.require_one_kind(annotator, label.is_simulated)
    item = items.find(label.example, label.source)
    response = _response(label, item, task)
    if not checked.lines.add((item.pk, annotator), label.line):
        raise LabelError(
            gettext(
                "{annotator} already has a response to this example in line {earlier}. To import one of them, "
                "choose the first or the latest (duplicates)."
            ),
            annotator=annotator,
            earlier=checked.lines[item.pk, annotator],
        )
    if items.has(item.pk, annotator, response):
        checked.known += 1
        return None
    used_slots = checked.per_item.get(item.pk, 0)
    items.take(item.pk, annotator, used_slots)
    checked.per_item[item.pk] = used_slots + 1
    checked.annotators[annotator] += 1
    if label.is_simulated:
        checked.simulated.add(annotator)
    origin = json.dumps(label.origin) if label.origin else None
    fingerprint, stored = submissions.fingerprint(response), json.dumps(response)
    return [annotator, item.pk, used_slots, fingerprint, label.made_at, origin, label.seconds, stored]


def _response(label: Label, item: _Item, task: TaskType) -> dict[str, Any]:
    """The response as it is stored. Raises LabelError."""
    plain = item.plain
    problems: list[str] = []
    # An option may spell an accent in another way than the file.
    for form in (form for raw_form in label.forms for form in (raw_form, normal(raw_form))):
        try:
            return task.envelope(task.receive(task.unparsed_envelope(form, plain), plain), plain)
        except InvalidResponse as invalid:
            problems = problems or [
                f"{problem.path}: {problem.message}" if problem.path else problem.message
                for problem in invalid.problems
            ]
    raise LabelError(" ".join(problems) or gettext("The response is missing."))


def require_takes_labels(batch: Batch) -> None:
    """Raises ActionRefused where labels made elsewhere have no place in the batch."""
    if batch.opened_at is None or batch.closed_at is not None:
        refuse(
            "batch_not_open" if batch.closed_at is None else "batch_closed",
            "Labels can only be imported into an open or paused batch. {name} is {state}.",
            name=batch.name,
            state=batch.state,
        )
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        refuse(
            "invalid_request",
            "A qualification batch tests its annotators, so labels cannot be imported into it.",
        )
    if batch.loop_model or batch.help:
        refuse(
            "invalid_request",
            "This batch has a model in the loop or shows proposals. Imported labels were made "
            "without them. Import them into a separate batch.",
        )


@dataclass(frozen=True)
class _Item:
    """What a label is judged by, of one item (by key)."""

    pk: int
    example: Example
    is_gold: bool
    inputs: Mapping[str, Any]
    batch: Batch

    @cached_property
    def plain(self) -> contract.Item:
        """The item as its kind sees it, made once for all its labels of a page."""
        return contract.Item(self.example.example(), self.batch.variant, self.batch.settings, self.inputs)


class _Items:
    """The batch's items by example id, with the room that is left on them."""

    def __init__(self, batch: Batch, keeps_first: bool) -> None:
        self.batch, self.keeps_first = batch, keeps_first
        sampled = Q(
            public_id__in=batch.sampling.get("sources", ())
        )  # also one that is not in the project yet
        sources = Source.objects.filter(Q(project=batch.project_id) | sampled)
        self.sources = dict(sources.values_list("pk", "name"))
        self.by_example: dict[str, list[_Item]] = defaultdict(list)
        self.room: Counter[int] = Counter()
        self.decided: set[int] = set()
        self.there: dict[tuple[int, str], Any] = {}
        self.barred: dict[tuple[int, str], bool] = {}
        """Whose the item is not: whether they made what it shows, else they have read what others said of it."""
        self.spelled: dict[str, set[str]] = defaultdict(set)
        self.are_simulated: dict[str, bool] = {}
        people = Person.objects.filter(is_external=True, memberships__project=batch.project_id)
        for name, is_simulated in people.values_list("name", "is_simulated"):
            self.spelled[normal(name).casefold()].add(normal(name))
            self.are_simulated[normal(name)] = is_simulated

    def loaded(self, labels: Iterable[Label]) -> Iterator[Label]:
        """The labels again, in each moment with everything here that one is judged by; some are in memory at once."""
        remaining = iter(labels)
        while some := list(itertools.islice(remaining, ROWS)):
            self._load(sorted({label.example for label in some if unstorable(label.example) is None}))
            yield from some

    def _load(self, chunk: list[str]) -> None:
        """What there is of the items on these examples, in place of those before."""
        for collection in (self.by_example, self.room, self.decided, self.there, self.barred):
            collection.clear()
        # Examples are found by source and id, items by example: by indexes, however many items the batch has.
        named = Example.objects.filter(source__in=self.sources, external_id__in=chunk)
        examples = {example.pk: example for example in named.prefetch_related("stored_table")}
        keys = []
        items = Item.objects.filter(among("example", examples), batch=self.batch).order_by("pk")
        for pk, key, is_gold, inputs in items.values_list("pk", "example_id", "is_gold", "inputs"):
            example = examples[key]
            self.by_example[example.external_id].append(_Item(pk, example, is_gold, inputs, self.batch))
            keys.append(pk)
        free = Slot.objects.filter(
            among("item", keys), is_taken=False, added=False, reserved_for__isnull=True
        )
        self.room.update(free.values_list("item_id", flat=True))
        self.decided.update(Decision.objects.filter(among("item", keys)).values_list("item_id", flat=True))
        responses = Assignment.objects.filter(
            among("item", keys), person__is_external=True, annotation__isnull=False
        )
        for item_id, name, response in responses.values_list(
            "item_id", "person__name", "annotation__response"
        ):
            self.there[item_id, normal(name)] = response
        barred = Exclusion.objects.filter(among("item", keys))
        for item_id, name, read_at in barred.values_list("item_id", "person__name", "read_at"):
            self.barred[item_id, normal(name)] = read_at is None

    def require_one_spelling(self, annotator: str) -> None:
        """Names that differ in capital letters only are hardly two people: each would get their own place."""
        spellings = self.spelled[annotator.casefold()]
        if spellings and annotator not in spellings:
            raise LabelError(
                gettext(
                    "{annotator!r} and {other!r} differ only in capital letters. Write each person's name "
                    "in one way, or make the names more distinct."
                ),
                annotator=annotator,
                other=min(spellings),
            )
        spellings.add(annotator)

    def require_one_kind(self, annotator: str, is_simulated: bool) -> None:
        """One name is a person or a program, in this file and in earlier ones."""
        if self.are_simulated.setdefault(annotator, is_simulated) == is_simulated:
            return
        if is_simulated:
            text = gettext(
                "{annotator!r} is simulated in this line, and a person in other lines or in the project. "
                "Give one of them another name."
            )
        else:
            text = gettext(
                "{annotator!r} is a person in this line, and simulated in other lines or in the project. "
                "Give one of them another name."
            )
        raise LabelError(text, annotator=annotator)

    def find(self, example: str, source: str) -> _Item:
        matches = [item for item in self.by_example[example] if source in ("", self._source(item))]
        if not matches:
            where = gettext(" from the source {source!r}").format(source=source) if source else ""
            text = gettext("The batch has no item for example {example!r}{where}.")
            raise LabelError(text, example=example, where=where)
        if len(matches) > 1:
            names = ", ".join(sorted(map(self._source, matches)))
            text = gettext("Several sources have an example {example!r} ({names}). Add a column 'source'.")
            raise LabelError(text, example=example, names=names)
        (item,) = matches
        if item.is_gold:
            raise LabelError(gettext("This is a gold item. Labels cannot be imported for it."))
        return item

    def _source(self, item: _Item) -> str:
        return self.sources[item.example.source_id]

    def has(self, item: int, annotator: str, response: Mapping[str, Any]) -> bool:
        """Whether this very response is there already; another one of the same person is refused, or the first kept."""
        if (item, annotator) not in self.there:
            return False
        if self.there[item, annotator] != response and not self.keeps_first:
            raise LabelError(
                gettext(
                    "{annotator} already has another response to this example. To keep that one, choose the "
                    "first (duplicates)."
                ),
                annotator=annotator,
            )
        return True

    def take(self, item: int, annotator: str, used_slots: int) -> None:
        """Room for one more label on the item, beside `used_slots`."""
        if item in self.decided:
            raise LabelError(gettext("This item has been decided. Responses can no longer be added."))
        if (item, annotator) in self.barred:
            text = gettext("{annotator} has read other responses to this item.")
            if self.barred[item, annotator]:
                text = gettext("{annotator} created this item and cannot review their own work.")
            raise LabelError(text, annotator=annotator)
        if self.room[item] <= used_slots:
            raise LabelError(
                ngettext(
                    "The item has no free slot: its batch plans {overlap} response. Create a batch with "
                    "more people per item.",
                    "The item has no free slot: its batch plans {overlap} responses. Create a batch with "
                    "more people per item.",
                    self.batch.overlap,
                ).format(overlap=self.batch.overlap)
            )
