"""Deleting archived batches, sources and projects: rows, files and search entries. Releases keep what they contain.

What stays of a batch is its row with a record (`Batch.deletion`), which later releases name, the ledger of its work, and
events without their details. Rows go a page at a time, in a job; until it is done, nothing of the thing is listed.
"""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from annotation.access import audit_log
from annotation.background import jobs
from annotation.background.staged_pages import ROWS, dependent_rows
from annotation.models import (
    ApiToken,
    Assignment,
    Batch,
    CrowdLink,
    Event,
    Example,
    Guidelines,
    IndexedColumn,
    IndexedItem,
    IndexedValue,
    Inquiry,
    Invitation,
    Item,
    ItemAction,
    Job,
    LedgerEntry,
    ModelAnswer,
    Notice,
    Outcome,
    Person,
    PersonBatchCounts,
    PerturbationRun,
    PracticeResult,
    Project,
    Qualification,
    Reading,
    Release,
    SavedView,
    SearchIndex,
    Snapshot,
    Source,
    StoredTable,
    TaskTypeDefinition,
    Upload,
)
from annotation.payments import ledger
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused, refuse, require_storable

KIND: Final = "delete"
LONGEST_REASON: Final = 500


def batch_hindrance(batch: Batch) -> str:
    """The name of a batch that uses this one, or what was made in it; "" where it can be deleted."""
    results = Example.objects.filter(outcome__decision__item__batch=batch)
    others = Batch.objects.exclude(pk=batch.pk)
    users = others.filter(Q(feeds_from=batch) | Q(requires=batch) | Q(items__example__in=results))
    return users.order_by("pk").values_list("name", flat=True).first() or ""


def source_hindrance(source: Source) -> str:
    """The name of a batch with items of this source; "" where it can be deleted."""
    users = Batch.objects.filter(items__example__source=source)
    return users.order_by("pk").values_list("name", flat=True).first() or ""


def _require_own_runs(source: Source) -> None:
    """Refuse a source of which a run of perturbations was made together with other sources: releases repeat it."""
    others = Source.objects.exclude(pk=source.pk)
    if PerturbationRun.objects.filter(sources=source).filter(sources__in=others).exists():
        refuse("still_involved", "{name} was perturbed together with other sources.", name=source.name)


def delete_batch(*, batch: Batch, reason: str, by: Person | None, now: datetime) -> Job:
    """Delete an archived batch. Raises ActionRefused: invalid_request, still_involved where another batch uses it."""
    reason = _checked(batch, reason, batch_hindrance(batch))
    with transaction.atomic():
        _mark_deleted(batch, reason, by, now)
        ids = {"batch": batch.pk}
        return jobs.enqueue(project=batch.project, kind=KIND, ids=ids, by=by, now=now)


def _mark_deleted(batch: Batch, reason: str, by: Person | None, now: datetime) -> None:
    """Hide a batch, and write its record. In the caller's transaction."""
    Batch.objects.select_for_update(no_key=True).filter(pk=batch.pk).values_list("pk").first()
    event = audit_log.log(batch, "archived", "deleted", by=by, now=now, detail={"reason": reason})
    responses = Assignment.objects.filter(batch=batch, item__is_gold=False).submitted()
    record = {
        "type": batch.task_type,
        "responses": responses.count(),
        "people": responses.order_by().values("person").distinct().count(),
        "reason": reason,
        "role": audit_log.acting_role(by.pk, batch.project_id) if by else "retention period",
        "date": now.date().isoformat(),
        "event": event,
    }
    gone = {"name": f"deleted {batch.public_id}", "deletion": record, "deleted_at": now}
    Batch.objects.filter(pk=batch.pk).update(**gone, sampling={}, set_aside_because="")


def delete_source(*, source: Source, reason: str, by: Person | None, now: datetime) -> Job:
    """Delete an archived source with its examples and tables. Raises ActionRefused as `delete_batch`."""
    reason = _checked(source, reason, source_hindrance(source))
    _require_own_runs(source)
    with transaction.atomic():
        audit_log.log(source, "archived", "deleted", by=by, now=now, detail={"reason": reason})
        with immutable_rows.writable():
            Source.objects.filter(pk=source.pk).update(
                ready_at=None, name=f"deleted {source.public_id}", how={}
            )
        ids = {"source": source.pk}
        return jobs.enqueue(project=source.project, kind=KIND, ids=ids, by=by, now=now)


def delete_project(*, project: Project, reason: str, by: Person, now: datetime) -> Job:
    """Delete an archived project: batches, sources and all else that people wrote. Raises as `delete_batch`."""
    reason = _checked(project, reason, "")
    with transaction.atomic():
        audit_log.log(project, "archived", "deleted", by=by, now=now, detail={"reason": reason})
        # The newest first: a batch is made after the one that feeds it.
        for batch in Batch.objects.filter(project=project).order_by("-pk"):
            _mark_deleted(batch, reason, by, now)
        job = jobs.enqueue(project=project, kind=KIND, ids={"project": project.pk}, by=by, now=now)
        project.memberships.exclude(person=by).update(removed_at=now)
        project.memberships.update(roles=[], characteristics={}, removed_at=now)
        name = f"deleted-{project.pk}"
        Project.objects.filter(pk=project.pk).update(
            name=name, slug=name, statement={}, release={}, deleted_at=now
        )
        return job


def change_retention(*, project: Project, days: int | None, by: Person, now: datetime) -> None:
    """Set the days after which what is archived is deleted; None: never."""
    with transaction.atomic():
        locked = Project.objects.select_for_update(no_key=True).values_list("retention_days", flat=True)
        before = locked.get(pk=project.pk)
        Project.objects.filter(pk=project.pk).update(retention_days=days)
        if before != days:
            detail = audit_log.changed("retention in days", before, days)
            audit_log.log(project, "", "terms changed", by=by, now=now, detail=detail)
    project.retention_days = days


def delete_expired(*, now: datetime) -> int:
    """Delete the batches and sources that were archived longer ago than their project keeps them. Returns how many.

    What cannot be deleted yet waits: another batch uses it, or a job of the project is running.
    """
    count = 0
    for project in Project.objects.filter(retention_days__isnull=False, restoring_at__isnull=True):
        days = project.retention_days or 0
        expired = {"project": project, "archived_at__lte": now - timedelta(days=days)}
        batches = Batch.objects.filter(**expired).order_by("-pk")
        sources = Source.objects.ready().filter(**expired).order_by("-pk")
        terms: Any = {"reason": f"Retention period: {days} days", "by": None, "now": now}
        deletions = [
            *(partial(delete_batch, batch=batch, **terms) for batch in batches),
            *(partial(delete_source, source=source, **terms) for source in sources),
        ]
        for delete in deletions:
            with suppress(ActionRefused):
                delete()
                count += 1
    return count


def _checked(thing: Project | Batch | Source, reason: str, user: str) -> str:
    reason = reason.strip()
    require_storable(reason)
    if not reason or len(reason) > LONGEST_REASON:
        refuse("invalid_request", "Enter a reason of at most {most} characters.", most=LONGEST_REASON)
    if thing.archived_at is None:
        refuse("invalid_request", "Archive {name} before you delete it.", name=thing.name)
    project = thing.pk if isinstance(thing, Project) else thing.project_id
    if jobs.under_way(project=project).exists():
        refuse("still_involved", "A job of this project is running. Try again when it is finished.")
    if user:
        refuse("still_involved", "The batch {name} uses it. Delete that batch first.", name=user)
    return reason


# -- rows -------------------------------------------------------------------------------------------


@jobs.kind(KIND)
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Safe to run twice: what is gone already is not looked for again."""
    of_project = {"project": job.project_id}
    if "source" in job.ids:
        sources = Source.objects.filter(pk=job.ids["source"], ready_at__isnull=True)
    else:
        sources = Source.objects.filter(**of_project) if "project" in job.ids else Source.objects.none()
    batches = Batch.everything.filter(**of_project, deleted_at__isnull=False)
    if "project" not in job.ids:
        batches = batches.filter(pk=job.ids.get("batch"))
    for batch in batches.order_by("-pk"):
        _remove_batch(batch, progress)
    if "project" in job.ids:
        _remove_runs_of(job.project_id)
    for source in sources.order_by("-pk"):
        _remove_source(source, progress)
    if "project" in job.ids:
        _remove_rest(job)
    return {}


def _remove_batch(batch: Batch, progress: jobs.Progress) -> None:
    items = Item.objects.filter(batch=batch).order_by("-pk")
    total, done = items.count(), 0
    while keys := list(items.values_list("pk", flat=True)[:ROWS]):
        with transaction.atomic():
            _remove_items(batch, keys)
        done += len(keys)
        progress(done, total)
    with transaction.atomic():
        for model in (PersonBatchCounts, Qualification, Inquiry, Notice):
            model._default_manager.filter(batch=batch).delete()
        ItemAction.objects.filter(project=batch.project_id, changes__isnull=True).delete()
        Snapshot.objects.filter(project=batch.project_id).delete()
        zero = dict.fromkeys(("items_count", "slots_count", "accepted_count", "excluded_count"), 0)
        Batch.everything.filter(pk=batch.pk).update(**zero)


def _remove_items(batch: Batch, keys: Sequence[int]) -> None:
    """Remove items with all that depends on them, and the examples that their decisions made."""
    ledger.settle(keys)
    outcomes = Outcome.objects.filter(decision__item__in=keys, example__isnull=False)
    examples = list(outcomes.values_list("example_id", flat=True))
    indexed = IndexedItem.objects.filter(item__in=keys).count()
    SearchIndex.objects.filter(project=batch.project_id).update(items_count=F("items_count") - indexed)
    assignments = list(Assignment.objects.filter(item__in=keys).values_list("pk", flat=True))
    with immutable_rows.writable():
        for thing, pks in (("item", keys), ("assignment", assignments)):
            events = Event.objects.filter(project=batch.project_id, thing=thing, thing_id__in=pks)
            events.exclude(detail=None).update(detail=None)
        _remove(Item, keys)
        _remove(Example, examples)


def _remove(model: Any, keys: Sequence[int]) -> None:
    """Remove rows by their keys with what depends on them, but for the ledger."""
    for part, way in dependent_rows(model):
        if part is not LedgerEntry:
            rows = part._base_manager.filter(**{f"{way}__in": keys})
            rows._raw_delete(rows.db)


def _remove_source(source: Source, progress: jobs.Progress) -> None:
    # The newest first: an example is younger than its parent.
    examples = Example.objects.filter(source=source).order_by("-pk")
    total, done = examples.count(), 0
    while rows := list(examples.values_list("pk", "stored_table_id")[:ROWS]):
        keys = [pk for pk, _ in rows]
        used = Exists(Example.objects.filter(stored_table=OuterRef("pk")))
        with transaction.atomic(), immutable_rows.writable():
            for model in (IndexedValue, ModelAnswer):
                model._default_manager.filter(example__in=keys).delete()
            gone = Example.objects.filter(pk__in=keys)
            gone._raw_delete(gone.db)
            tables = StoredTable.objects.filter(~used, pk__in={table for _, table in rows})
            tables._raw_delete(tables.db)
        done += len(keys)
        progress(done, total)
    with immutable_rows.writable():
        PerturbationRun.objects.filter(sources=source).delete()
        source.delete()


def _remove_runs_of(project: int) -> None:
    PerturbationRun.objects.filter(project=project).delete()


def _remove_rest(job: Job) -> None:
    """Remove what else belongs to a project. Its row stays with those of batches, people, consent and the log."""
    project = job.project_id
    for release in Release.objects.filter(project=project):
        shutil.rmtree(release.folder, ignore_errors=True)
        release.folder.with_suffix(".zip").unlink(missing_ok=True)
    for upload in Upload.objects.filter(project=project).exclude(file=""):
        upload.file.delete(save=False)
    Batch.everything.filter(project=project).update(definition=None, feeds_from=None, requires=None)
    readings = Reading.objects.filter(guidelines__project=project)
    for rows in (
        readings,
        *(model._default_manager.filter(project=project) for model in _OF_PROJECTS),
        Job.objects.filter(project=project).exclude(pk=job.pk),
    ):
        with immutable_rows.writable():
            rows.delete()


_OF_PROJECTS: Final = (
    *(
        Notice,
        Release,
        Guidelines,
        TaskTypeDefinition,
        PracticeResult,
        Inquiry,
        ItemAction,
        Invitation,
        ApiToken,
    ),
    *(CrowdLink, IndexedColumn, SavedView, SearchIndex, Snapshot, Upload),
)
