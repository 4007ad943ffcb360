"""Archiving projects, batches and sources: out of lists and choices, otherwise as they were; and restoring them."""

from datetime import datetime

from django.db import transaction

from annotation.access import audit_log
from annotation.models import Batch, Person, Project, Source
from annotation.platform.refusals import refuse

Archivable = Project | Batch | Source


def archive(*, thing: Archivable, by: Person, now: datetime) -> None:
    """Archive it. Archiving twice is archiving once. Raises ActionRefused (batch_closed) where a batch of it is open."""
    opened = Batch.objects.filter(opened_at__isnull=False, closed_at__isnull=True)
    if isinstance(thing, Source):
        opened = opened.filter(project=thing.project_id, items__example__source=thing)
    else:
        opened = opened.filter(project=thing) if isinstance(thing, Project) else opened.filter(pk=thing.pk)
    if open_batch := opened.order_by("pk").first():
        refuse("batch_closed", "The batch {name} is open. Close it first.", name=open_batch.name)
    _set(thing, now, by=by, now=now)


def restore(*, thing: Archivable, by: Person, now: datetime) -> None:
    """List it again. Restoring twice is restoring once."""
    _set(thing, None, by=by, now=now)


def _set(thing: Archivable, archived_at: datetime | None, *, by: Person, now: datetime) -> None:
    rows = type(thing)._default_manager.filter(pk=thing.pk, archived_at__isnull=archived_at is not None)
    with transaction.atomic():
        if rows.update(archived_at=archived_at):
            states = ("", "archived") if archived_at else ("archived", "restored")
            audit_log.log(thing, *states, by=by, now=now)
    thing.archived_at = archived_at
