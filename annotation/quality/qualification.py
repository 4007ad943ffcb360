"""Qualification batches: people get every item, each has gold, and enough right ones open the batches that ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotation.access import audit_log
from annotation.models import (
    Assignment,
    Batch,
    Exclusion,
    Item,
    Membership,
    Person,
    PersonBatchCounts,
    Qualification,
)
from annotation.platform import display_text
from annotation.platform.refusals import refuse
from annotation.quality import gold
from annotation.queue import entry_requirements
from tableqa.statistics.proportions import Proportion

State = Assignment.State


def after_submission(assignment: Assignment, now: datetime) -> Qualification | None:
    """The person's result, when this was the last item of a qualification batch; else None.

    To be called after a submission and after a skip; without a statement where the batch is for something else. An
    item that was skipped is not right. What was reached once stays: later changes to an answer are not judged.
    """
    batch = assignment.batch
    if batch.purpose != Batch.Purpose.QUALIFICATION:
        return None
    return record_result(batch=batch, person=assignment.person, now=now)


def record_result(*, batch: Batch, person: Person, now: datetime) -> Qualification | None:
    """The person's result, made now where they have ended every item that they may have; None before."""
    existing = Qualification.objects.filter(batch=batch, person=person).first()
    if existing is not None or _unfinished_items(batch, person).exists():
        return existing
    score = score_of(batch, person)
    with transaction.atomic():
        row, is_new = Qualification.objects.get_or_create(
            batch=batch,
            person=person,
            defaults={"right": score.right, "judged": score.judged, "passed": score.passed, "at": now},
        )
        if is_new:
            audit_log.log(row, "", "passed" if row.passed else "failed", by=person, now=now)
    return row


def score_of(batch: Batch, person: Person) -> entry_requirements.QualificationResult:
    """What the person's work comes to so far: right ones among what was judged, and whether that is enough."""
    right, judged = gold.gold_scores(batch, person).get(person.pk, (0, 0))
    return entry_requirements.QualificationResult(
        right, judged, passed=is_passing(right, judged, batch.pass_percent)
    )


def is_passing(right: int, judged: int, threshold: int) -> bool:
    """Whether a score passes: at least `threshold` percent of what was judged, and something was."""
    return judged > 0 and 100 * right >= threshold * judged


def grant(*, batch: Batch, person: Person, by: Person, now: datetime) -> Qualification:
    """The manager lets the person in, whatever they reached. Raises ActionRefused(invalid_request) for other batches."""
    if batch.purpose != Batch.Purpose.QUALIFICATION:
        refuse("invalid_request", "{name} is not a qualification batch.", name=batch.name)
    if not Membership.objects.filter(
        project_id=batch.project_id, person=person, removed_at__isnull=True
    ).exists():
        refuse("invalid_request", "{name} is not in this project.", name=person.name)
    with transaction.atomic():
        row = Qualification.objects.select_for_update().filter(batch=batch, person=person).first()
        if row is None:
            score = score_of(batch, person)
            row = Qualification(batch=batch, person=person, right=score.right, judged=score.judged, at=now)
        elif row.passed:
            return row
        row.passed, row.granted_by = True, by
        row.save()
        audit_log.log(row, "", "granted", by=by, now=now)
    return row


@dataclass(frozen=True)
class QualificationResult:
    """How far a person is with a qualification batch; `row` is None for unfinished ones."""

    person: Person
    member: int
    done: int
    row: Qualification | None

    @property
    def percent(self) -> int:
        return entry_requirements.percent(self.row.right, self.row.judged) if self.row else 0


def qualification_results(batch: Batch) -> list[QualificationResult]:
    """All who annotate in the project or have begun the batch, by name; in three queries."""
    rows = {row.person_id: row for row in batch.qualifications.select_related("granted_by")}
    done = {
        person: submitted + skipped
        for person, submitted, skipped in PersonBatchCounts.objects.filter(batch=batch).values_list(
            "person_id", "submitted", "skipped"
        )
    }
    members = Membership.objects.filter(project_id=batch.project_id).select_related("person")
    return [
        QualificationResult(
            membership.person,
            membership.pk,
            done.get(membership.person_id, 0),
            rows.get(membership.person_id),
        )
        for membership in members.order_by("person__name", "pk")
        if membership.person_id in rows
        or membership.person_id in done
        or (membership.removed_at is None and "annotator" in membership.roles)
    ]


def require_ready(batch: Batch) -> None:
    """A qualification batch opens once every item of it has a known response. Raises ActionRefused(invalid_request)."""
    if lacking := gold.count_missing_gold(batch):
        refuse(
            "invalid_request",
            "Items of {name} without a gold answer: {lacking} of {items_count}. Add the missing "
            "answers under Gold answers, then open the batch.",
            lacking=lacking,
            items_count=batch.items_count,
            name=batch.name,
        )


def warning(batch: Batch) -> str:
    """What a manager should know of a batch whose qualification cannot be taken yet; "" where there is nothing."""
    if batch.requires is None or batch.closed_at is not None or batch.requires.state != "planned":
        return ""
    return gettext(
        "{name} requires {qualification}, which is not open. Open it first; until then "
        "annotators see “after {qualification}” and get no items."
    ).format(name=batch.name, qualification=batch.requires.name)


def result(batch: Batch, person: Person) -> Qualification | None:
    """What the person reached in a qualification batch, once that is final; None before, and for other batches."""
    if batch.purpose != Batch.Purpose.QUALIFICATION:
        return None
    return Qualification.objects.filter(batch=batch, person=person).first()


def share_in_words(batch: Batch, share: Proportion) -> str:
    """A share of right answers: in a qualification rounded down, like its result, so that all pages give one figure."""
    if batch.purpose != Batch.Purpose.QUALIFICATION or not share.n:
        return display_text.percent(share)
    return f"{entry_requirements.percent(share.hits, share.n)} %"


def batches_requiring(batch: Batch) -> Sequence[Batch]:
    """The batches that ask for this qualification."""
    return list(batch.required_by.order_by("pk"))


def _unfinished_items(batch: Batch, person: Person) -> QuerySet[Item]:
    """The items that the person may have and has neither submitted nor skipped."""
    ended = Assignment.objects.filter(
        item=OuterRef("pk"), person=person, state__in=[State.SUBMITTED, State.SKIPPED]
    )
    barred = Exclusion.objects.filter(item=OuterRef("pk"), person=person)
    return Item.objects.filter(~Exists(ended), ~Exists(barred), batch=batch)
