"""How many items a person has had in a batch: their `PersonBatchCounts`, and the turns that its lock gives to requests.

The holder of the row's lock is alone with the person's leases in the batch (the order:
`annotation.queue.reservations`).
"""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import DateTimeField, F, Value
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Batch, PersonBatchCounts
from annotation.platform.prepared_statements import Select, Update, param_int, param_time

COUNT_COLUMNS = ("id", "leased", "submitted", "skipped", "returned", "cursor")
_locked_person_counts = Select(
    lambda: PersonBatchCounts.objects.select_for_update(no_key=True).filter(
        batch_id=param_int("batch"), person_id=param_int("person")
    )
)
_add_to_person_counts = Update(
    lambda: PersonBatchCounts.objects.filter(batch_id=param_int("batch"), person_id=param_int("person")),
    returning=COUNT_COLUMNS,
    **{name: F(name) + param_int(name) for name in ("leased", "submitted", "skipped", "returned")},
    ended_at=Coalesce(Value(param_time("ended"), output_field=DateTimeField()), F("ended_at")),
)


def lock_person_counts(batch_id: int, person_id: int) -> PersonBatchCounts:
    """The person's row in the batch, locked after the item: two requests of one person take turns."""
    counts: PersonBatchCounts | None = _locked_person_counts.first(batch=batch_id, person=person_id)
    if counts is None:
        # A batch that closes does not see this row yet: it waits, and takes back what the person gets now.
        Batch.objects.select_for_update(no_key=True).filter(pk=batch_id).values_list("pk").first()
        PersonBatchCounts.objects.get_or_create(batch_id=batch_id, person_id=person_id)
        (counts,) = _locked_person_counts(batch=batch_id, person=person_id)
    return counts


def lock_all_person_counts(batch: Batch) -> None:
    """Wait for all requests for items of the batch, in a transaction, after its items are locked."""
    rows = PersonBatchCounts.objects.select_for_update(no_key=True).filter(batch=batch).order_by("person_id")
    list(rows.values_list("pk"))


def add_to_person_counts(
    assignment: Assignment,
    *,
    leased: int = 0,
    submitted: int = 0,
    skipped: int = 0,
    returned: int = 0,
    ended: datetime | None = None,
) -> PersonBatchCounts:
    """Change the person's counts and return them. `ended` is when the person was done with an item."""
    (row,) = _add_to_person_counts(
        batch=assignment.batch_id,
        person=assignment.person_id,
        leased=leased,
        submitted=submitted,
        skipped=skipped,
        returned=returned,
        ended=ended,
    )
    return person_counts_from(assignment, row)


def person_counts_from(assignment: Assignment, row: Sequence[int]) -> PersonBatchCounts:
    """The counts of the assignment's person, from a row of the columns `COUNT_COLUMNS`."""
    return PersonBatchCounts(
        **dict(zip(COUNT_COLUMNS, row, strict=True)),
        batch_id=assignment.batch_id,
        person_id=assignment.person_id,
    )


def turn_count(counts: PersonBatchCounts) -> int:
    """How many items of the batch the person has had so far, those in progress included."""
    return counts.leased + counts.submitted + counts.skipped + counts.returned
