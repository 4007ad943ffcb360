"""The manager's journey: plan a batch over a seeded sample, open it, close it, see its progress."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import jsonschema
from django.conf import settings as django_settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

import tableqa
import tasks.contract
from annotation import events, guidance, helping, lending, lineage, queue
from annotation.models import (
    Adjudication,
    Batch,
    Decision,
    Example,
    Flag,
    Item,
    Person,
    Project,
    Source,
    Tally,
)
from annotation.models.sources import ExampleQuerySet
from annotation.refusals import Refused, require_storable
from tableqa.canonical import digest
from tasks.contract import TaskType

OF = {
    "originals": ExampleQuerySet.originals,
    "perturbed": ExampleQuerySet.perturbed,
    "automatic": ExampleQuerySet.automatic,
}
"""Which examples there are: as the source has them, perturbed by people, perturbed by a program."""
MOST_OVERLAP = 50
LONGEST_NAME = 120


def plan_batch(
    *,
    project: Project,
    name: str,
    task: TaskType,
    by: Person | None,
    now: datetime,
    variant: str = "",
    settings: Mapping[str, Any] | None = None,
    overlap: int | None = None,
    seed: int = 0,
    sources: Iterable[Source] = (),
    size: int | None = None,
    only: Sequence[str] | None = None,
    feeds_from: Batch | None = None,
    of: str = "",
    loop_model: str = "",
    help: str = "",
    help_from: Mapping[str, Any] | None = None,
    unhelped: int = 0,
) -> Batch:
    """A batch over a seeded sample of the sources' examples, or fed by another batch.

    `of` is one of `about(task)`, by default what the kind is usually about. `size` None takes
    every example; `only` names examples by their ids and is taken in its own order. Examples that the
    kind has no use for (`TaskType.prepare`) are left out before they are counted.
    `loop_model` names the model of PREDICTORS that looks along while people work; by default none does.
    `help` says how proposals are shown ("offered", "filled"), `help_from` what makes them (`helping.check`), `unhelped` the
    percentage of places that are drawn to show none.
    Raises Refused: name_taken, invalid_request.
    """
    settings = _settings(task, settings or {})
    _require_edits(task, variant, settings)
    overlap = task.default_overlap if overlap is None else overlap
    if not 1 <= overlap <= MOST_OVERLAP:
        raise Refused("invalid_request", f"Overlap is a number from 1 to {MOST_OVERLAP}.")
    if task.variants and variant not in task.variants:
        raise Refused("invalid_request", f"Choose a variant: {', '.join(task.variants)}.")
    if not task.variants and variant:
        raise Refused("invalid_request", f"{task.title} has no variants.")
    require_storable(name)
    if not name.strip() or len(name.strip()) > LONGEST_NAME:
        raise Refused("invalid_request", f"A batch needs a name of at most {LONGEST_NAME} characters.")
    if loop_model and not task.predicts:
        raise Refused("invalid_request", f"{task.title} knows no model in the loop.")
    if loop_model and loop_model not in django_settings.PREDICTORS:
        known = ", ".join(sorted(django_settings.PREDICTORS)) or "none"
        raise Refused("invalid_request", f"There is no model called {loop_model!r}; there are: {known}.")
    help_from = helping.check(task, help, help_from or {}, unhelped, django_settings.PREDICTORS)
    if help_from.get("search") and not loop_model:
        raise Refused("invalid_request", "To search for what fools a model, choose a model in the loop.")
    of = of or task.of[0]
    if of not in about(task):
        raise Refused("invalid_request", f"{task.title} is about {' or '.join(about(task))} examples.")
    if only is not None:
        examples, size = _named(sources, only), None
    else:
        # A kind that leaves examples out is given all of them, or a small sample might be empty.
        examples = sample(sources, of=of, seed=seed, size=None if task.without else size)
    if not examples and feeds_from is None:
        raise Refused("invalid_request", "Choose a source with examples, or a batch that feeds this one.")
    if task.prepares:
        lending.at_hand(project, task.needs)  # before the transaction, so that nobody waits for it
    try:
        with transaction.atomic():
            batch = Batch.objects.create(
                project=project,
                name=name.strip(),
                task_type=task.key,
                version=task.version,
                variant=variant,
                settings=settings,
                settings_digest=digest(settings),
                overlap=overlap,
                seed=seed,
                feeds_from=feeds_from,
                loop_model=loop_model,
                help=help,
                help_from=help_from,
                unhelped=unhelped,
                made_by=by,
                made_at=now,
            )
            made = lineage.make_items(batch=batch, examples=examples, size=size)
            if examples and not made:
                raise Refused("invalid_request", f"None of these examples makes an item: {task.without}")
            if feeds_from is not None:
                lineage.catch_up(batch)
            guidance.ensure(project=project, task=task, now=now)
            _record(batch, by, "", "planned", now)
    except IntegrityError:
        raise Refused(
            "name_taken", f"This project has a batch called {name!r}; choose another name."
        ) from None
    batch.refresh_from_db()
    return batch


def about(task: TaskType) -> tuple[str, ...]:
    """The names in `OF` of the examples that a batch of the kind can be planned over.

    A kind that is about perturbed examples is so whoever perturbed them.
    """
    return (*task.of, "automatic") if "perturbed" in task.of else task.of


def sample(
    sources: Iterable[Source], *, seed: int, of: str = "originals", size: int | None = None
) -> list[Example]:
    """A seeded sample of the examples of the sources, in random order; the same seed, the same order."""
    examples = OF[of](Example.objects.usable().filter(source__in=list(sources)))
    ids = list(examples.order_by("source_id", "position", "pk").values_list("pk", flat=True))
    chosen = random.Random(f"sample:{seed}").sample(ids, len(ids) if size is None else min(size, len(ids)))
    found = examples.select_related("stored_table").in_bulk(chosen)
    return [found[pk] for pk in chosen]


def open_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """From now on people get items of it, and its settings are frozen. Opening twice is opening once."""
    with transaction.atomic():
        if Batch.objects.filter(pk=batch.pk, opened_at__isnull=True).update(opened_at=now):
            batch.opened_at = now
            if batch.feeds_from_id is not None:
                lineage.catch_up(batch)  # what was decided while the batch was being planned
            lending.prepare(batch.project, batch.task().needs)
            helping.order(batch, by=by, now=now)
            _record(batch, by, "planned", "open", now)


def close_batch(*, batch: Batch, by: Person | None, now: datetime) -> None:
    """Nobody gets or submits items any more. Complete items may be resolved at once."""
    if batch.opened_at is None:
        raise Refused("batch_not_open", "Open the batch before you close it.")
    with transaction.atomic():
        if Batch.objects.filter(pk=batch.pk, closed_at__isnull=True).update(closed_at=now):
            batch.closed_at = now
            Item.objects.filter(batch=batch, due_at__isnull=False).update(due_at=now)
            queue.take_back_all(batch=batch, reason="batch closed", now=now, actor=by)
            _record(batch, by, "open", "closed", now)


def progress(batches: Sequence[Batch]) -> dict[int, dict[str, int]]:
    """Counts by batch id, in six queries whatever the number of batches or items.

    `places` = `submitted` + `leased` + `free`; `items` = `open` + `complete` + `adjudication` + `decided`
    (+ `excluded`). `skipped` and `returned` count endings that freed their place again.
    """
    ids = [batch.pk for batch in batches]
    found = {
        batch.pk: {"items": batch.items_count, "places": batch.places_count, "submitted": 0, "leased": 0}
        | {
            "skipped": 0,
            "returned": 0,
            "complete": 0,
            "adjudication": 0,
            "decided": 0,
            "excluded": 0,
            "flags": 0,
        }
        for batch in batches
    }
    tallies = Tally.objects.filter(batch_id__in=ids).values("batch_id")
    summed = tallies.annotate(
        leases=Sum("leased"), submissions=Sum("submitted"), skips=Sum("skipped"), returns=Sum("returned")
    )
    for tally in summed:
        found[tally["batch_id"]] |= {
            "leased": tally["leases"],
            "submitted": tally["submissions"],
            "skipped": tally["skips"],
            "returned": tally["returns"],
        }
    decisions = Decision.objects.filter(item__batch_id__in=ids)
    asked = Adjudication.objects.filter(item__batch_id__in=ids, item__decision__isnull=True)
    has_decision = Exists(Decision.objects.filter(item_id=OuterRef("pk")))
    was_asked = Exists(Adjudication.objects.filter(item_id=OuterRef("pk")))
    complete = Item.objects.filter(
        Q(batch_id__in=ids), ~has_decision, ~was_asked, submitted_count__gte=F("places_count")
    )
    for name, rows, batch in (
        ("decided", decisions.filter(kind=Decision.Kind.ACCEPTED), "item__batch_id"),
        ("excluded", decisions.filter(kind=Decision.Kind.EXCLUDED), "item__batch_id"),
        ("adjudication", asked, "item__batch_id"),
        ("complete", complete, "batch_id"),
        ("flags", Flag.objects.filter(assignment__batch_id__in=ids), "assignment__batch_id"),
    ):
        for batch_id, number in _counted(rows, batch):
            found[batch_id][name] = number
    for counts in found.values():
        counts["free"] = counts["places"] - counts["submitted"] - counts["leased"]
        settled = counts["complete"] + counts["adjudication"] + counts["decided"] + counts["excluded"]
        counts["open"] = counts["items"] - settled
    return found


def _counted(rows: QuerySet[Any], batch: str) -> Iterable[tuple[int, int]]:
    """How many rows there are of each batch; `batch` is the way from a row to its batch."""
    return rows.order_by().values_list(batch).annotate(n=Count("pk"))


def _named(sources: Iterable[Source], only: Sequence[str]) -> list[Example]:
    """The examples with these ids, in this order. Raises Refused naming the ids that no source has."""
    named = Example.objects.usable().filter(source__in=list(sources), external_id__in=only)
    found = {example.external_id: example for example in named.select_related("stored_table")}
    if missing := [id for id in only if id not in found]:
        raise Refused("invalid_request", f"No source has the examples {', '.join(missing[:10])}.")
    return [found[id] for id in dict.fromkeys(only)]


def _settings(task: TaskType, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the schema's defaults, validated by the kind's own JSON Schema."""
    properties: Mapping[str, Any] = task.settings_schema.get("properties", {})
    filled = {name: spec["default"] for name, spec in properties.items() if "default" in spec} | dict(
        settings
    )
    try:
        jsonschema.validate(filled, dict(task.settings_schema))
    except jsonschema.ValidationError as error:
        where = ".".join(str(part) for part in error.absolute_path) or "settings"
        raise Refused("invalid_request", f"{where}: {error.message}") from None
    return filled


def _require_edits(task: TaskType, variant: str, settings: Mapping[str, Any]) -> None:
    """Refuse a contract that leaves no operation to a kind that edits: nobody could ever submit a response."""
    if "allowed" not in (settings.get("contract") or {}):
        return
    blank = tableqa.Example(id="blank", question="", table=tableqa.Table(["a"], [["b"]]), answers=())
    asked = task.contract(tasks.contract.Item(blank, variant, settings))
    own = task.contract(tasks.contract.Item(blank, variant, {**settings, "contract": {}}))
    if own is not None and asked is not None and asked.allowed == ():
        names = ", ".join(own.allowed) if own.allowed else "any operation"
        raise Refused(
            "invalid_request",
            f"contract.allowed: {task.title} takes {names}, and none of these is left. Name at least one of them.",
        )


def _record(batch: Batch, by: Person | None, before: str, after: str, now: datetime) -> None:
    events.record(
        project_id=batch.project_id,
        actor=by,
        thing="batch",
        thing_id=batch.pk,
        before=before,
        after=after,
        now=now,
    )
