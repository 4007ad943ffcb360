"""The end of an assignment by a submission, in the transaction that stores the response."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from django.db.models import Exists, F, QuerySet, Subquery

from annotation.models import Annotation, Assignment, Batch, Decision, PersonBatchCounts
from annotation.platform.prepared_statements import (
    LastKey,
    Select,
    Step,
    Update,
    param_float,
    param_int,
    param_text,
    param_time,
)
from annotation.queue.person_counts import COUNT_COLUMNS, add_to_person_counts, person_counts_from
from tableqa.core.canonical_json import canonical

State = Assignment.State

_submit_one = Update(
    lambda: PersonBatchCounts.objects.filter(batch_id=param_int("batch"), person_id=param_int("person")),
    leased=F("leased") - 1,
    submitted=F("submitted") + 1,
    ended_at=param_time("now"),
)
_end_with = Update(
    # Decisions and changes of a definition lock the item, and so does a submission before it comes here: what they did
    # meanwhile is seen.
    lambda: Assignment.objects.filter(
        ~Exists(Decision.objects.filter(item_id=param_int("item"))),
        Exists(Batch.objects.filter(pk=param_int("batch"), version=param_int("version"))),
        pk=param_int("assignment"),
        state=State.LEASED,
    ),
    state=State.SUBMITTED,
    annotation_id=LastKey(Annotation),
    response_fingerprint=param_int("response_fingerprint"),
    active_seconds=param_float("seconds"),
    ended_at=param_time("now"),
)
_submitted = Select(
    lambda: _person_counts_with(Annotation.objects.filter(public_id=param_text("annotation")))
)


def _person_counts_with(annotations: QuerySet[Annotation]) -> QuerySet[PersonBatchCounts, Any]:
    """The person's counts, with key and revision of their annotation where its assignment was submitted with it."""
    theirs = annotations.filter(assignment__state=State.SUBMITTED, assignment__annotation=F("pk"))
    return (
        PersonBatchCounts.objects.filter(batch_id=param_int("batch"), person_id=param_int("person"))
        .annotate(key=Subquery(theirs.values("pk")), revision=Subquery(theirs.values("revision")))
        .values_list(*COUNT_COLUMNS, "key", "revision")
    )


def fingerprint(response: Mapping[str, Any]) -> int:
    """What a response says, independent of its table, as a number below 2 to the power of 53: equal for equal
    responses, and for no others but by a chance of 1 in 10 to the power of 15 for each two.
    """
    canonical_text = canonical({name: value for name, value in response.items() if name != "base"})
    return int.from_bytes(hashlib.blake2b(canonical_text.encode(), digest_size=8).digest()) >> 11


def finishing(
    assignment: Assignment, *, annotation: str, response: Mapping[str, Any], seconds: float, now: datetime
) -> list[Step]:
    """The steps that follow on those of an annotation (by its id): the submission keeps the slot, and its time at work
    is the assignment's. `finished` reads what they answer. The caller holds the item's lock.
    """
    ended = {"response_fingerprint": fingerprint(response), "seconds": seconds, "now": now}
    here = {"batch": assignment.batch_id, "person": assignment.person_id}
    return [
        _submit_one.step(**here, now=now),
        _end_with.step(
            assignment=assignment.pk,
            item=assignment.item_id,
            batch=assignment.batch_id,
            version=assignment.batch.version,
            **ended,
        ),
        _submitted.step(**here, annotation=annotation),
    ]


def finished(
    assignment: Assignment, rows: Sequence[tuple[int | None, ...]]
) -> tuple[int, int, PersonBatchCounts] | None:
    """Key and revision of the annotation that was submitted, and the person's counts after it.

    None when the lease had been taken back or was ended by another request, the item is decided, or the batch has another
    version of its definition: then the caller undoes its transaction.
    """
    for *counts, key, revision in rows:
        if key is not None and revision is not None:
            return key, revision, person_counts_from(assignment, cast("list[int]", counts))
    return None


def finish(assignment: Assignment, *, annotation: Annotation, now: datetime) -> bool:
    """The same for an annotation that was written before. Returns whether the assignment is submitted with it now."""
    decided = Decision.objects.filter(item_id=assignment.item_id)
    add_to_person_counts(assignment, leased=-1, submitted=1, ended=now)
    return bool(
        Assignment.objects.filter(~Exists(decided), pk=assignment.pk, state=State.LEASED).update(
            state=State.SUBMITTED,
            annotation=annotation,
            response_fingerprint=fingerprint(annotation.response or {}),
            active_seconds=annotation.active_seconds,
            ended_at=now,
        )
    )
