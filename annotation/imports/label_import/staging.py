"""Checked labels into the database: in pages that only the import reads, until one transaction makes them all visible."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn

from django.db import IntegrityError, connection, transaction
from django.db.models import F, QuerySet, Value

from annotation.access import audit_log
from annotation.background import jobs
from annotation.background.staged_pages import Pages, Progress
from annotation.imports.label_import.checks import CheckResult
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Guidelines,
    Item,
    LabelImport,
    Membership,
    Person,
    PersonBatchCounts,
    Slot,
    StagedAnnotator,
    StagedLabel,
)
from annotation.platform import bulk_rows
from annotation.platform.refusals import ActionRefused, refuse
from annotation.quality import guidelines as quality_guidelines
from annotation.queue.slots import analyze_tables, due_at
from tableqa.readers.ingestion import checksum_of

UNDO_WINDOW: Final = timedelta(seconds=60)
"""As after any submission: until then the item is not resolved."""


def write(
    *, batch: Batch, checked: CheckResult, by: Person | None, now: datetime, progress: Progress
) -> None:
    """Write the new labels: all of them, or none. Raises ActionRefused.

    Where the process is killed, nothing of them is visible; the same labels go on where it stopped.
    """
    staged = begin(batch, checked, now)
    key = staged.pk  # which deleting it takes from it, also where that is rolled back
    try:
        stage(staged, checked, Pages(progress, checked.new, staged.staged), now)
        with bulk_rows.large_cache(), transaction.atomic():
            publish(batch, staged, checked, by, now)
            progress(checked.new, checked.new)
    except (ActionRefused, jobs.JobCancelled):
        LabelImport.objects.filter(pk=key).delete()
        raise


def stage(staged: LabelImport, checked: CheckResult, pages: Pages, now: datetime) -> None:
    """Write the pages of an import that are not there yet. Raises ActionRefused and JobCancelled."""
    indexes, start = {name: index for index, name in enumerate(sorted(checked.annotators))}, staged.staged
    for page in pages.of_rows(checked.rows, start):
        _stage_page(staged, start, page, indexes, now)
        start += len(page)
    analyze_tables(StagedLabel)


def begin(batch: Batch, checked: CheckResult, now: datetime) -> LabelImport:
    """The import of these labels: a new one, or one that did not finish."""
    digest = checksum_of([checked.rows], None, {})
    with transaction.atomic():
        locked = Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)
        if locked.version != batch.version:
            refuse_changed_definition()
        LabelImport.objects.filter(batch=batch).exclude(digest=digest).delete()
        staged, is_new = LabelImport.objects.get_or_create(
            batch=batch, digest=digest, defaults={"started_at": now}
        )
        if is_new:
            rows = ((staged.pk, index, name) for index, name in enumerate(sorted(checked.annotators)))
            bulk_rows.insert(StagedAnnotator, ["label_import_id", "number", "name"], rows)
    return staged


def _stage_page(
    staged: LabelImport, start: int, page: Sequence[Any], indexes: Mapping[str, int], now: datetime
) -> None:
    """Write one page, the labels from `start` on, as far as no other worker has written it."""
    locked_import = LabelImport.objects.select_for_update().filter(pk=staged.pk).first()
    if locked_import is None:
        refuse(
            "import_failed",
            "Another import of labels into this batch started or ended meanwhile. Import the file "
            "again; existing labels stay unchanged.",
        )
    page = page[max(locked_import.staged - start, 0) :]
    if not page:
        return
    start = locked_import.staged
    assignments, annotations = bulk_rows.keys(Assignment, len(page)), bulk_rows.keys(Annotation, len(page))
    bulk_rows.insert(
        StagedLabel,
        [
            *("label_import_id", "number", "item_key", "annotator", "response_fingerprint", "response"),
            *("turn", "made_at", "origin", "active_seconds", "assignment_key", "annotation_key"),
        ],
        (
            (
                staged.pk,
                start + index,
                item,
                indexes[annotator],
                fingerprint,
                bulk_rows.Json(response),
                turn,
                datetime.fromisoformat(made_at) if made_at else now,
                bulk_rows.Json(origin) if origin else None,
                seconds,
                *keys,
            )
            for index, (
                (annotator, item, turn, fingerprint, made_at, origin, seconds, response),
                *keys,
            ) in enumerate(zip(page, assignments, annotations, strict=True))
        ),
    )
    locked_import.staged = start + len(page)
    locked_import.save(update_fields=["staged"])


def refuse_changed_definition() -> NoReturn:
    """Raise ActionRefused(import_failed): responses were checked against a definition that is not the present one."""
    refuse(
        "import_failed", "The definition of the task type changed during the import. Import the file again."
    )


def publish(batch: Batch, staged: LabelImport, labels: CheckResult, by: Person | None, now: datetime) -> None:
    """Make all labels visible in the caller's transaction, and drop their pages.

    In the order of the queue: items, counts by person, then assignments and their slots. Rows are made of rows by the
    database, so that the transaction is short.
    """
    if LabelImport.objects.select_for_update().filter(pk=staged.pk).first() is None:
        return  # a person who imported the same file at the same time has made them visible
    guidelines = quality_guidelines.ensure(project=batch.project, task=batch.task(), now=now)
    items = staged.labels.values("item_key")
    _lock(Item.objects.filter(pk__in=items).order_by("pk"))
    if Decision.objects.filter(item__in=items).exists():
        refuse("decided", "An item was decided meanwhile. Check the file again. No labels were imported.")
    people = {name: _person(batch, name, name in labels.simulated, now) for name in sorted(labels.annotators)}
    for name, person in sorted(people.items(), key=lambda named: named[1].pk):
        counts, _ = PersonBatchCounts.objects.get_or_create(batch=batch, person=person)
        PersonBatchCounts.objects.filter(pk=counts.pk).update(
            submitted=F("submitted") + labels.annotators[name]
        )
        staged.annotators.filter(name=name).update(person_key=person.pk)
    _submit_all(batch, staged, labels.new, by, guidelines, now)
    _count(staged, due_at(batch, now + UNDO_WINDOW))
    audit_log.log(batch, batch.state, "labels imported", by=by, now=now)
    staged.delete()


def _lock(rows: QuerySet[Any]) -> None:
    """Lock rows in their order. SQLite, where a transaction is alone, need not read them for that."""
    if connection.features.has_select_for_update:
        list(rows.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))


def _submit_all(
    batch: Batch, staged: LabelImport, new: int, by: Person | None, guidelines: Guidelines, now: datetime
) -> None:
    """Assignments with their events and annotations, each on the first free place of its item."""
    free = Slot.objects.filter(batch=batch, is_taken=False, added=False, reserved_for__isnull=True)
    _lock(free.filter(item__in=staged.labels.values("item_key")).order_by("item", "number"))
    bulk_rows.insert_from(
        Event,
        {
            "project_id": Value(batch.project_id),
            "actor_id": Value(by.pk if by else None),
            "thing": Value("assignment"),
            "thing_id": "label.assignment_key",
            "after": Value(Assignment.State.SUBMITTED.value),
            "detail": "label.origin",
            "at": Value(now),
        },
        _LABELS + "ORDER BY label.number",
        [staged.pk],
    )
    # Before the assignments that name them: SQLite would look for those of each new annotation, without an index.
    bulk_rows.insert_from(
        Annotation,
        {
            "id": "label.annotation_key",
            "public_id": "label.annotation_public_id",
            "assignment_id": "label.assignment_key",
            "revision": Value(1),
            "response": "label.response",
            "guidelines_id": Value(guidelines.pk),
            "made_at": "label.made_at",
            "active_seconds": "label.active_seconds",
            "event_id": "event.id",
        },
        _WITH_EVENTS,
        [staged.pk],
    )
    try:
        count = bulk_rows.insert_from(
            Assignment,
            {
                "id": "label.assignment_key",
                "public_id": "label.assignment_public_id",
                "batch_id": Value(batch.pk),
                "item_id": "label.item_key",
                "slot_id": _FREE_SLOT,
                "person_id": "who.person_key",
                "state": Value(Assignment.State.SUBMITTED.value),
                "reason": Value("made elsewhere"),
                "annotation_id": "label.annotation_key",
                "response_fingerprint": "label.response_fingerprint",
                "active_seconds": "label.active_seconds",
                **dict.fromkeys(("leased_at", "leased_until", "seen_at", "ended_at"), "label.made_at"),
            },
            _WITH_PEOPLE,
            [staged.pk],
        )
    except IntegrityError:
        count = 0
    if count != new:
        refuse(
            "place_taken",
            "An annotator took a slot meanwhile. Check the file again. No labels were imported.",
        )
    written = Assignment.objects.filter(pk__in=staged.labels.values("assignment_key"))
    Slot.objects.filter(pk__in=written.values("slot")).update(is_taken=True)


_LABELS: Final = "FROM annotation_stagedlabel label WHERE label.label_import_id = %s "
# SQLite takes the tables of CROSS JOIN in their order: it has no figures of pages that are new.
_WITH_EVENTS: Final = (
    "FROM annotation_stagedlabel label CROSS JOIN annotation_event event "
    "WHERE event.thing = 'assignment' AND event.thing_id = label.assignment_key "
    "AND label.label_import_id = %s ORDER BY label.number"
)
_IS_FREE: Final = (
    "{0}.item_id = label.item_key AND NOT {0}.is_taken AND NOT {0}.added AND {0}.reserved_for_id IS NULL"
)
_FREE_SLOT: Final = (
    f"(SELECT slot.id FROM annotation_slot slot WHERE {_IS_FREE.format('slot')} AND label.turn = "  # nosec B608
    f"(SELECT count(*) FROM annotation_slot other WHERE {_IS_FREE.format('other')} "
    "AND other.number < slot.number))"
)
"""The first label of an item gets its first free place, the second the second."""
_WITH_PEOPLE: Final = (
    "FROM annotation_stagedlabel label CROSS JOIN annotation_stagedannotator who "
    "WHERE who.label_import_id = label.label_import_id AND who.number = label.annotator "
    "AND label.label_import_id = %s ORDER BY label.number"
)


def _count(staged: LabelImport, due: datetime | None) -> None:
    """The items' counters; those that are complete now may be resolved once the time for undo has passed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE annotation_item SET submitted_count = submitted_count + labels.number, "
            "due_at = CASE WHEN slots_count <= submitted_count + labels.number THEN %s ELSE due_at END "
            "FROM (SELECT item_key, count(*) AS number FROM annotation_stagedlabel WHERE label_import_id = %s "
            "GROUP BY item_key) labels WHERE annotation_item.id = labels.item_key",
            [connection.ops.adapt_datetimefield_value(due), staged.pk],
        )


def _person(batch: Batch, name: str, is_simulated: bool, now: datetime) -> Person:
    """The person elsewhere who is called so in this project: the same one for every file."""
    person = Person.objects.filter(
        is_external=True,
        name__in={name, unicodedata.normalize("NFD", name)},
        erased_at__isnull=True,
        memberships__project=batch.project_id,
    ).first()
    if person is None:
        person = Person.objects.create_person(
            name, is_external=True, is_simulated=is_simulated, is_active=False
        )
        membership = Membership.objects.create(project_id=batch.project_id, person=person)
        audit_log.log(membership, "", "labels imported", by=None, now=now, project=batch.project_id)
    return person
