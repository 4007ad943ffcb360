"""Guideline examples: accepted items that managers chose for annotators to look at
(`annotation.accounts.worked_examples`)."""

from datetime import datetime

from django.db.models import QuerySet

from annotation.access import audit_log
from annotation.models import Item, Person, PinnedExample, Project


def pin(*, item: Item, by: Person, now: datetime) -> None:
    """Make an accepted item of a closed batch a guideline example; once is enough. In a transaction."""
    _, is_new = PinnedExample.objects.get_or_create(item=item, defaults={"made_by": by, "made_at": now})
    if is_new:
        audit_log.log(item, "", "example", by=by, now=now)


def unpin(*, item: Item, by: Person, now: datetime) -> bool:
    """Remove an item from the guideline examples. Whether it was one. In a transaction."""
    deleted, _ = PinnedExample.objects.filter(item=item).delete()
    if deleted:
        audit_log.log(item, "example", "no example", by=by, now=now)
    return bool(deleted)


def guideline_examples(project: Project, task_type: str) -> QuerySet[PinnedExample]:
    """The guideline examples of a task type, the oldest first."""
    pinned_examples = PinnedExample.objects.filter(
        item__batch__project=project, item__batch__task_type=task_type
    )
    return pinned_examples.select_related("item__batch", "item__example").order_by("pk")
