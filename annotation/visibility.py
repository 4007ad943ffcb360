"""Who may see whose responses, by phase. The one place where that is decided.

An annotator sees nothing of others before the batch closes: no response, no live agreement, no
label counts. That holds for everybody who annotates in the batch, whatever other role they have.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from annotation.access import involved
from annotation.models import Assignment, Batch, Exclusion, Item, Person, Project, Release
from annotation.refusals import Refused


def may_see_agreement(person: Person, batch: Batch) -> bool:
    """Live agreement and counts of labels: for everybody once the batch is closed, before that for outsiders."""
    return batch.closed_at is not None or not involved(person, batch)


def may_adjudicate(person: Person, item: Item) -> bool:
    """Adjudicators never judge what they made, annotated, or may still be given."""
    return not (
        item.exclusions.filter(person=person).exists()
        or item.assignments.filter(person=person).exists()
        or (item.batch.closed_at is None and involved(person, item.batch))
    )


def adjudicable(person: Person, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that the person may adjudicate: the same rule, as a query."""
    made = Exclusion.objects.filter(item_id=OuterRef("pk"), person=person)
    annotated = Assignment.objects.filter(item_id=OuterRef("pk"), person=person)
    at_work = Assignment.objects.filter(
        batch_id=OuterRef("batch_id"), person=person, batch__closed_at__isnull=True
    )
    return items.filter(~Exists(made), ~Exists(annotated), ~Exists(at_work))


def readable(person: Person, releases: QuerySet[Release]) -> QuerySet[Release]:
    """Those of the releases whose project has no open batch in which the person annotates."""
    at_work = Assignment.objects.filter(
        batch__project=OuterRef("project"), batch__closed_at__isnull=True, person=person
    )
    return releases.filter(~Exists(at_work))


def require_no_open_work(person: Person, project: Project) -> None:
    """A release shows every response: nobody makes or reads one while they annotate in an open batch."""
    at_work = Assignment.objects.filter(batch__project=project, batch__closed_at__isnull=True, person=person)
    if at_work.exists():
        raise Refused(
            "still_involved",
            "You annotate in an open batch of this project. Its releases are for you once it is closed.",
        )
