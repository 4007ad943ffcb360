"""Gold: items whose right response is known, mixed into a batch so that nobody can tell, and what people make of them.

A gold item of a work batch (`Item.is_gold`) has no places of its own: the queue makes one, for one person, when it is
their turn. It is never decided, released, or in agreement. In a qualification batch every item has gold, and in a
calibration batch an item may have it; these are items like any others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from annotation import events
from annotation.help import helping
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Example,
    Exclusion,
    Gold,
    Item,
    Outcome,
    Person,
    PinnedExample,
    Place,
    Qualification,
)
from annotation.quality.agreement import stored
from annotation.refusals import Refused, refuse, require_storable
from annotation.work import draws, lineage, queue
from tableqa.json_text import read_json
from tableqa.proportions import Proportion, proportion
from tasks.contract import Invalid, TaskType, from_lines
from tasks.contract import Item as PlainItem

LONGEST_WHY = 2000
MOST_ROWS = 1_000
"""Rows of a file of gold."""


def require_open(batch: Batch) -> None:
    """Raise Refused (batch_closed) where the batch is closed."""
    if batch.closed_at is not None:
        refuse("batch_closed", "{name} is closed, so gold items cannot be added.", name=batch.name)


# -- marking ----------------------------------------------------------------------------------------


def mark(
    *,
    batch: Batch,
    example: Example,
    data: object,
    by: Person | None,
    now: datetime,
    why: str = "",
    inputs: Mapping[str, Any] | None = None,
    barred: Iterable[int] = (),
) -> Gold:
    """This example of the batch has this right response (`data`, as the kind parses it).

    An example that the batch does not have yet becomes an item of it; one that it has becomes gold unless somebody has
    had it. `inputs` are what is frozen beside the example, in place of what the kind would prepare; `barred` are
    people (ids) who never get the item. Marking again changes the response.
    Raises `tasks.contract.Invalid`; Refused: batch_closed, invalid_request, still_involved.
    """
    require_storable(why)
    if len(why) > LONGEST_WHY:
        refuse(
            "invalid_request", "Enter a reason of at most {longest_why} characters.", longest_why=LONGEST_WHY
        )
    require_open(batch)
    pinned = PinnedExample.objects.filter(item__example=example, item__batch__project=batch.project_id)
    if pinned.filter(item__batch__task_type=batch.task_type).exists():
        refuse(
            "invalid_request",
            "Annotators see {example} as a guideline example. Remove it from the guideline examples first.",
            example=example.external_id,
        )
    with transaction.atomic():
        item = _item(batch, example, inputs)
        task, plain = batch.task(), item.plain()
        expected = task.envelope(task.parse(data, plain), plain)
        before = Gold.objects.filter(item=item).exists()
        gold, _ = Gold.objects.update_or_create(
            item=item, defaults={"expected": expected, "why": why.strip(), "made_by": by, "made_at": now}
        )
        Exclusion.objects.bulk_create(
            [Exclusion(item=item, person_id=person) for person in sorted(set(barred))], ignore_conflicts=True
        )
        events.log(gold, "gold" if before else "", "gold", by=by, now=now, project=batch.project_id)
        if batch.opened_at is not None:
            # Where proposals stand beside the others they stand beside this one, too.
            helping.order(batch, by=by, now=now)
    return gold


def preview(*, batch: Batch, example: Example) -> PlainItem:
    """The item that the example is, or would be, in the batch: for whoever says what is right in it. Nothing stays.

    Raises Refused where it could be no gold.
    """
    with transaction.atomic():
        plain = _item(batch, example, None).plain()
        transaction.set_rollback(True)
    return plain


def unmark(*, gold: Gold, by: Person | None, now: datetime) -> None:
    """The item is no gold any more: in a work batch it goes, elsewhere it stays as an item without a known response.

    Raises Refused(still_involved) where somebody has had it: what they were measured by stays. So does the gold of an open
    qualification.
    """
    item = gold.item
    if item.batch.purpose == Batch.Purpose.QUALIFICATION and item.batch.opened_at is not None:
        refuse(
            "still_involved",
            "Each item of an open qualification needs a gold answer. Change the answer instead of "
            "removing it.",
        )
    with transaction.atomic():
        queue.lock_item(item.pk)
        if Assignment.objects.filter(item=item).exists():
            refuse(
                "still_involved",
                "An annotator has already had this item. The item and its gold answer cannot be changed.",
            )
        events.log(gold, "gold", "removed", by=by, now=now, project=item.batch.project_id)
        gold.delete()
        if item.is_gold:
            item.delete()
            Batch.objects.filter(pk=item.batch_id).update(items_count=F("items_count") - 1)


def from_decisions(
    *, batch: Batch, other: Batch, size: int, by: Person | None, now: datetime, seed: int = 0
) -> tuple[int, int]:
    """Gold from what was decided elsewhere: a seeded sample of the items of `other` with one accepted response.

    Whoever annotated or decided one of these items never gets it here. Gives how many were marked, and how many of
    the sample were left out because their response does not hold under this batch's settings.
    Raises Refused: invalid_request, batch_closed.
    """
    if (other.task_type, other.variant) != (batch.task_type, batch.variant) or other.pk == batch.pk:
        refuse("invalid_request", "Choose another batch with the same task type and variant.")
    if size < 1:
        refuse("invalid_request", "Choose at least one item.")
    ids = list(decided(batch, other).values_list("pk", flat=True))
    chosen = draws.generator(batch, "gold items", seed).sample(ids, min(size, len(ids)))
    if not chosen:
        refuse(
            "invalid_request",
            "{name} has no further item with exactly one accepted response.",
            name=other.name,
        )
    marked = left_out = 0
    with transaction.atomic():
        outcomes = Outcome.objects.filter(decision__item__in=chosen).select_related(
            "decision__item__example__stored_table"
        )
        for outcome in outcomes.order_by("decision__item__position", "pk"):
            decision = outcome.decision
            seen = Assignment.objects.filter(item=decision.item).values_list("person_id", flat=True)
            task = batch.task()
            try:
                with transaction.atomic():
                    mark(
                        batch=batch,
                        example=decision.item.example,
                        data=_data(task, outcome.response),
                        why=(decision.note or decision.listed_reason or "")[:LONGEST_WHY],
                        inputs=decision.item.inputs,
                        barred={*seen, *filter(None, [decision.made_by_id])},
                        by=by,
                        now=now,
                    )
            except Invalid:
                left_out += 1
            else:
                marked += 1
    return marked, left_out


def decided(batch: Batch, other: Batch) -> QuerySet[Item]:
    """The items of `other` that could be gold here: one accepted response, and an example that may be an item here."""
    one = Item.objects.filter(batch=other, decision__kind=Decision.Kind.ACCEPTED).annotate(
        accepted=Count("decision__outcomes")
    )
    here = Exists(Item.objects.filter(batch=batch, example=OuterRef("example")))
    elsewhere = Exists(lineage.items_elsewhere(batch).filter(example=OuterRef("example")))
    return one.filter(~here, ~elsewhere, accepted=1).order_by("position")


# -- files ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line of a file of gold: where it stands, the example's id, the right response, and why."""

    line: int
    example: str
    data: Mapping[str, Any]
    why: str


def from_file(*, batch: Batch, name: str, text: str, by: Person | None, now: datetime) -> int:
    """Gold from a file: JSONL with {"example", "response", "why"}, or CSV with these columns.

    `response` is the `data` of a response as JSON. In a CSV the columns may also be the fields of the kind by name,
    where these are texts, choices, several choices or lines (one a line), or yes and no. All or nothing: every line
    that does not hold is named. Gives how many there were. Raises Refused(invalid_request), batch_closed.
    """
    rows = read(name, text, batch.task())
    found = _examples(batch, [row.example for row in rows])
    wrong = []
    with transaction.atomic():
        for row in rows:
            example = found.get(row.example)
            if isinstance(example, Example):
                try:
                    with transaction.atomic():
                        mark(batch=batch, example=example, data=row.data, why=row.why, by=by, now=now)
                except Invalid as invalid:
                    wrong.append(gettext("Line {line}: {invalid}").format(line=row.line, invalid=invalid))
                except Refused as refused:
                    wrong.append(
                        gettext("Line {line}: {detail}").format(line=row.line, detail=refused.detail)
                    )
            elif example is None:
                wrong.append(
                    gettext("Line {line}: no source of the project contains the example {example!r}.").format(
                        line=row.line, example=row.example
                    )
                )
            else:
                wrong.append(gettext("Line {line}: {example}").format(line=row.line, example=example))
        if wrong:
            refuse("invalid_request", _named(wrong))
    return len(rows)


def read(name: str, text: str, task: TaskType) -> list[Row]:
    """The lines of a file of gold, not judged yet. Raises Refused(invalid_request) with every line that cannot be read."""
    require_storable(text)
    wrong: list[str] = []
    rows = list(_of_csv(text, task, wrong) if name.lower().endswith(".csv") else _of_jsonl(text, wrong))
    seen: dict[str, int] = {}
    for row in rows:
        if row.example in seen:
            wrong.append(
                gettext("Line {line}: {example!r} is already in line {first}.").format(
                    line=row.line, example=row.example, first=seen[row.example]
                )
            )
        seen.setdefault(row.example, row.line)
    if wrong:
        refuse("invalid_request", _named(wrong))
    if not rows:
        refuse("invalid_request", "The file contains no gold answers.")
    if len(rows) > MOST_ROWS:
        refuse(
            "invalid_request",
            "A gold file has at most {most_rows} lines; this one has {number}. Split it.",
            most_rows=MOST_ROWS,
            number=len(rows),
        )
    return rows


def _of_jsonl(text: str, wrong: list[str]) -> Iterator[Row]:
    for line, words in enumerate(text.split("\n"), start=1):
        if not words.strip():
            continue
        try:
            said = read_json(words)
        except ValueError:
            wrong.append(gettext("Line {line} is not valid JSON.").format(line=line))
            continue
        if not isinstance(said, dict) or not isinstance(said.get("response"), dict):
            wrong.append(f'Line {line}: write {{"example": …, "response": {{…}}, "why": …}}.')
        elif not isinstance(said.get("example"), str) or not isinstance(said.get("why", ""), str):
            wrong.append(gettext("Line {line}: “example” and “why” must be text.").format(line=line))
        elif unknown := said.keys() - {"example", "response", "why"}:
            wrong.append(
                gettext("Line {line}: unknown {value}.").format(
                    line=line, value=", ".join(sorted(map(repr, unknown)))
                )
            )
        else:
            yield Row(line, said["example"], said["response"], said.get("why", ""))


def _of_csv(text: str, task: TaskType, wrong: list[str]) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    fields = {spec.name: spec.kind for spec in task.fields}
    try:
        columns = list(reader.fieldnames or [])
        unknown = [name for name in columns if name not in {"example", "response", "why", *fields}]
        hard = [name for name in columns if fields.get(name) in ("operations", "cells", "json")]
        if "example" not in columns or unknown or hard:
            words = gettext(
                "The first line must name the columns: example, why, and either response (JSON) or the "
                "response fields"
            )
            if unknown:
                words += gettext("; unknown: {value}").format(value=", ".join(map(repr, unknown)))
            if hard:
                names = ", ".join(map(repr, hard))
                words += gettext("; {value} is only possible in the column response").format(value=names)
            wrong.append(f"{words}.")
            return
        for row in reader:
            line = reader.line_num
            if None in row or None in row.values():
                wrong.append(
                    gettext("Line {line} does not have as many cells as the first line.").format(line=line)
                )
                continue
            data: Any = {}
            if row.get("response"):
                try:
                    data = read_json(row["response"])
                except ValueError:
                    data = None
                if not isinstance(data, dict):
                    wrong.append(gettext("Line {line}: “response” is not a JSON object.").format(line=line))
                    continue
            told = {name: _cell(fields[name], row[name]) for name in columns if name in fields}
            yield Row(line, row["example"], {**data, **told}, row.get("why") or "")
    except csv.Error as error:
        wrong.append(
            gettext("Line {line_num} is not valid CSV: {error}.").format(
                line_num=reader.line_num, error=error
            )
        )


def _cell(kind: str, text: str) -> Any:
    if kind in ("choices", "lines"):
        return from_lines(text)
    if kind == "flag":
        return text.strip().lower() in ("1", "true", "yes")
    return text


def _examples(batch: Batch, ids: Sequence[str]) -> dict[str, Example | str]:
    """The project's examples by what a file calls them, or why that names none: an id that two sources use."""
    usable = Example.objects.usable().filter(source__project_id=batch.project_id)
    found: dict[str, Example | str] = {}
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        rows = usable.filter(Q(external_id__in=some) | Q(public_id__in=some)).select_related("stored_table")
        for row in rows:
            for name in (row.external_id, row.public_id):
                twice = name in found and name == row.external_id
                found[name] = (
                    gettext("several sources have an example {name!r}; use its id in this project.").format(
                        name=name
                    )
                    if twice
                    else row
                )
    return found


def _named(wrong: Sequence[str]) -> str:
    return " ".join(wrong[:10]) + (
        gettext(" And {value} more.").format(value=len(wrong) - 10) if len(wrong) > 10 else ""
    )


# -- judging ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What one person said to one item with gold, and how that compares (right None: nobody can tell)."""

    gold: Gold
    person: int
    response: Any
    expected: Any
    right: bool | None
    words: tuple[str, ...]
    made_at: datetime


def answers(batch: Batch, person: Person | None = None) -> Iterator[Answer]:
    """Every submitted response to an item with gold, item by item, judged by `TaskType.feedback`; in two queries.

    Where people are told (`Batch.gold_feedback`) their first submission counts, else the one that stands: nobody mends
    an answer after having read what was expected.
    """
    task = batch.task()
    golds = Gold.objects.filter(item__batch=batch).select_related("item__example__stored_table")
    if person is not None:
        golds = golds.filter(item__assignments__person=person)
    by_item = {gold.item_id: gold for gold in golds}
    given = Annotation.objects.filter(assignment__item__in=list(by_item))
    if batch.gold_feedback:
        given = given.filter(revision=1)
    else:
        given = given.filter(assignment__state=Assignment.State.SUBMITTED, pk=F("assignment__annotation_id"))
    if person is not None:
        given = given.filter(assignment__person=person)
    rows = given.order_by("assignment__item__position", "pk").values_list(
        "assignment__item_id", "assignment__person_id", "response", "made_at"
    )
    for item_id, person_id, response, made_at in rows:
        gold = by_item[item_id]
        gold.item.batch = batch
        expected = stored(task, gold.expected)
        said = stored(task, response or {})
        right, words = task.feedback(gold.item.plain(), said, expected)
        yield Answer(gold, person_id, said, expected, right, tuple(words), made_at)


def scores(batch: Batch, person: Person | None = None) -> dict[int, tuple[int, int]]:
    """By person (id), how many items with gold they got right, and how many were judged; in three queries.

    Each item counts once, whatever its assignment went through. In a qualification batch an item that was skipped is judged
    and not right, unless feedback was given on an answer to it before: then that answer counts.
    """
    of_person = Q() if person is None else Q(person=person)
    verdicts: dict[tuple[int, int], bool] = {}
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        skips = Assignment.objects.filter(of_person, batch=batch, state=Assignment.State.SKIPPED)
        verdicts = dict.fromkeys(skips.values_list("person_id", "item_id"), False)
    for answer in answers(batch, person):
        if answer.right is not None:
            verdicts[answer.person, answer.gold.item_id] = answer.right
    found: dict[int, tuple[int, int]] = {}
    for (key, _), is_right in verdicts.items():
        right, judged = found.get(key, (0, 0))
        found[key] = (right + is_right, judged + 1)
    return found


def accuracy(batch: Batch, person: Person | None = None) -> dict[int, Proportion]:
    """By person (id), `scores` as shares with Wilson's interval; the result of a qualification, once there is one."""
    counts = scores(batch, person)
    results = Qualification.objects.filter(Q() if person is None else Q(person=person), batch=batch)
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        counts |= {
            key: (right, judged) for key, right, judged in results.values_list("person_id", "right", "judged")
        }
    return {key: proportion(right, judged) for key, (right, judged) in counts.items()}


def told(batch: Batch, person: Person) -> list[Answer]:
    """What the person is told of their answers to gold, newest first; nothing where the batch does not tell."""
    if not batch.gold_feedback:
        return []
    return sorted(answers(batch, person), key=lambda answer: answer.made_at, reverse=True)


def lacking(batch: Batch) -> int:
    """How many items of a qualification batch have no known response yet: it cannot be opened before all have."""
    if batch.purpose != Batch.Purpose.QUALIFICATION:
        return 0
    return Item.objects.filter(batch=batch, gold__isnull=True).count()


# -- underneath -------------------------------------------------------------------------------------


def _item(batch: Batch, example: Example, inputs: Mapping[str, Any] | None) -> Item:
    """The item of the example, locked, or made where it is not there; gold where the batch is work."""
    mine = Item.objects.filter(batch=batch)
    item = mine.filter(example=example).first()
    if item is None:
        if not lineage.make_items(batch=batch, examples=[example.pk]):
            refuse(
                "invalid_request",
                "{external_id} cannot become an item here. {value}",
                external_id=example.external_id,
                value=_why_no_item(batch, example),
            )
        item = mine.order_by("-position")[:1].get()
        if inputs is not None:
            Item.objects.filter(pk=item.pk).update(inputs=dict(inputs))
    else:
        queue.lock_item(item.pk)
        if not item.is_gold and batch.purpose == Batch.Purpose.WORK and batch.opened_at is not None:
            refuse(
                "still_involved",
                "{external_id} is a normal item of this open batch. Choose another example.",
                external_id=example.external_id,
            )
        if not item.is_gold and Assignment.objects.filter(item=item).exists():
            refuse(
                "still_involved",
                "An annotator has already had {external_id} in this batch. Choose another example.",
                external_id=example.external_id,
            )
    if batch.purpose == Batch.Purpose.WORK and not item.is_gold:
        _without_places(item)
    return Item.objects.select_related("batch", "example__stored_table").get(pk=item.pk)


def _why_no_item(batch: Batch, example: Example) -> str:
    elsewhere = lineage.items_elsewhere(batch).filter(example=example).select_related("batch").first()
    if elsewhere is not None and batch.requires is not None:
        return gettext("It is an item of the qualification {name}, which annotators have seen.").format(
            name=elsewhere.batch.name
        )
    if elsewhere is not None:
        return gettext(
            "It is an item of {name}, which requires this qualification. Choose another example."
        ).format(name=elsewhere.batch.name)
    return gettext(batch.task().without or gettext_noop("The batch already contains it."))


def _without_places(item: Item) -> None:
    """A gold item has no planned places, and no decision waits for it."""
    gone, _ = Place.objects.filter(item=item).delete()
    Item.objects.filter(pk=item.pk).update(is_gold=True, places_count=0, due_at=None)
    Batch.objects.filter(pk=item.batch_id).update(places_count=F("places_count") - gone)


def _data(task: TaskType, envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    data: Mapping[str, Any] = envelope["data"]
    return data if envelope["version"] == task.version else task.upgrade(data, envelope["version"])
