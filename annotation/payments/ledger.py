"""The ledger of work: rows that only grow, from which hours and pay are summed.

    sum_work(Q(of_batch=batch.pk), day=TruncDate("booked_at"))    # sums by person, batch, kind and what is named
    rows(batches, Q(of_person=person.pk), begin, end)           # the same with rates and amounts

A row is the time since the row before: of a submission, which a revision holds, or of a skip or return (`LedgerEntry`). The
item counts at its first submission. Time on an item that is still open is in no row. Rows can be filtered by `of_person`,
`of_batch`, `of_kind` and `booked_at`, and joined by `assignment`.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Cast, Coalesce

from annotation.models import Annotation, Batch, LedgerEntry
from annotation.payments import costs, rates

KINDS = SUBMITTED, SKIPPED, RETURNED = ("submitted", "skipped", "returned")
SECOND = 1_000_000
"""Microseconds: whole numbers have the same sum in any order and in any parts."""
PAID = Q(of_simulated=False, of_external=False)
"""The rows of people who are paid."""


class Work(NamedTuple):
    """What was done within a stretch of time: microseconds of active time, items, and how many rows."""

    stretch: int
    kind: str
    micros: int
    items: int
    rows: int


class Row(NamedTuple):
    """Work at a rate, booked in a stretch of time; `span` is the time in which the rate held for it.

    A correction books the work again in its own time, less (`rows` below 0) at the old rate and more at the new one.
    `amount` is what the running total of the person in the batch, rounded to the cent, grows by; None: not paid.
    """

    person: int
    batch: int
    kind: str
    micros: int
    items: int
    rows: int
    pay: rates.Pay
    amount: Decimal | None
    stretch: int
    span: tuple[datetime | None, datetime | None]


def rows(
    batches: Collection[Batch], which: Q, begin: datetime | None = None, end: datetime | None = None
) -> list[Row]:
    """The rows of these batches (with their projects) that were booked in a period, with rates and amounts; two queries.

    Amounts are parts of running totals: `which` may leave out people, and nothing else.
    """
    terms = rates.terms_of_batches(batches)
    ends = sorted(
        {moment for moment in (begin, end) if moment is not None}.union(
            *(batch_terms.moments() for batch_terms in terms.values())
        )
    )
    stretch = Case(
        *(When(booked_at__lt=moment, then=Value(index)) for index, moment in enumerate(ends)),
        default=Value(len(ends)),
        output_field=models.IntegerField(),
    )
    work: defaultdict[tuple[int, int], list[Work]] = defaultdict(list)
    which &= Q(of_batch__in=list(terms)) if end is None else Q(of_batch__in=list(terms), booked_at__lt=end)
    for (batch, person, kind, index), done in sum_work(which, stretch=stretch).items():
        work[batch, person].append(Work(index, kind, *done))
    booked = (book(person, batch, done, terms[batch], ends) for (batch, person), done in sorted(work.items()))
    return within(chain.from_iterable(booked), ends, begin, end)


def book(
    person: int, batch: int, work: Sequence[Work], terms: rates.Terms, ends: Sequence[datetime]
) -> Iterator[Row]:
    """One person's rows in a batch, in the order in which they are booked. `ends` has all moments of the terms."""
    booked: list[tuple[tuple[Any, ...], Row]] = []
    since = [None, *(period.until for period in terms.periods()[:-1]), None]
    for done in work:
        begin = ends[done.stretch - 1] if done.stretch else None
        end = ends[done.stretch] if done.stretch < len(ends) else None
        span = next(span for span in pairwise(since) if rates.Rate(*span, {}).covers(begin, end))
        pay, corrections = terms.rates(begin, end)
        row = Row(person, batch, *done[1:], pay, None, done.stretch, span)
        # Rows of one rate follow each other, so that their sum does not depend on how many they are.
        booked.append(((done.stretch, 1, done.kind), row))
        for at, becomes in corrections:
            again = bisect_right(ends, at)
            out = row._replace(micros=-row.micros, items=-row.items, rows=-row.rows, stretch=again)
            row = row._replace(pay=becomes, stretch=again)
            for index, each in enumerate((out, row)):
                booked.append(((again, 0, at, index, str(sorted(each.pay.items())), done.kind), each))
    totals: defaultdict[str, Fraction] = defaultdict(Fraction)
    for _, row in sorted(booked, key=lambda entry: entry[0]):
        if not row.pay:
            yield row
            continue
        before = totals[row.pay["currency"]]
        after = before + costs.exact_amount(row.pay, items=row.items, seconds=Fraction(row.micros, SECOND))
        totals[row.pay["currency"]] = after
        yield row._replace(amount=costs.round_amount(after) - costs.round_amount(before))


def within(
    rows: Iterable[Row], ends: Sequence[datetime], begin: datetime | None, end: datetime | None
) -> list[Row]:
    """The rows that were booked in a period, whose beginning and end are among the `ends` of stretches."""
    first = 0 if begin is None else bisect_left(ends, begin) + 1
    last = len(ends) if end is None else bisect_left(ends, end)
    return [row for row in rows if first <= row.stretch <= last]


def settle(items: Collection[int]) -> None:
    """Write what the submissions to items (keys) count for as rows of their own, before these submissions are deleted.

    The caller deletes them in the same transaction: until then they count twice.
    """
    sums = sum_work(
        Q(assignment__item__in=items),
        only_submissions=True,
        of_assignment=F("assignment_id"),
        booked=F("booked_at"),
    )
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            assignment_id=assignment,
            batch_id=batch,
            person_id=person,
            kind=kind,
            seconds=micros / SECOND,
            items=items_done,
            at=at,
        )
        for (batch, person, kind, assignment, at), (micros, items_done, _) in sorted(sums.items())
    )


def sum_work(
    which: Q, *, only_submissions: bool = False, **by: Any
) -> dict[tuple[Any, ...], tuple[int, int, int]]:
    """Microseconds, items and rows by batch, person, kind and the expressions `by`; one query.

    only_submissions: without the ledger's own rows, but less what these hold of a submission
    """
    names = ("of_batch", "of_person", "of_kind", *by)
    micros = Cast(
        models.Func(F("spent") * SECOND, function="ROUND", output_field=models.FloatField()),
        models.BigIntegerField(),
    )
    first, *others = (
        rows.filter(which)
        .annotate(**by)
        .order_by()
        .values(*names)
        .annotate(micros=Sum(micros), items_done=Sum("counted"), rows=rows_of)
        .values_list(*names, "micros", "items_done", "rows")
        for rows, rows_of in list(_sources())[:: 2 if only_submissions else 1]
    )
    sums: dict[tuple[Any, ...], tuple[int, int, int]] = {}
    for *key, spent, items, rows in first.union(*others, all=True):
        before = sums.get(tuple(key), (0, 0, 0))
        sums[tuple(key)] = (before[0] + spent, before[1] + items, before[2] + rows)
    return sums


def _sources() -> Iterator[tuple[QuerySet[Any, Any], Any]]:
    """All rows under the same names, and how they are counted.

    Of a submission the time since the submission before; what entries between the two hold is subtracted.
    """
    submissions = Annotation.objects.filter(response__isnull=False)
    before = submissions.filter(assignment=OuterRef("assignment"), revision__lt=OuterRef("revision"))
    earlier = Coalesce(Subquery(before.order_by("-revision").values("active_seconds")[:1]), 0.0)
    yield (
        submissions.annotate(
            of_kind=Value(SUBMITTED),
            booked_at=F("made_at"),
            spent=F("active_seconds") - Case(When(revision=1, then=Value(0.0)), default=earlier),
            counted=Case(When(revision=1, then=Value(1)), default=Value(0)),
            **_batch_and_person_fields("assignment__"),
        ),
        Count("pk"),
    )
    entries = LedgerEntry.objects.annotate(**_batch_and_person_fields(""))
    yield (
        entries.annotate(of_kind=F("kind"), booked_at=F("at"), spent=F("seconds"), counted=F("items")),
        Count("pk"),
    )
    later = submissions.filter(assignment=OuterRef("assignment"), revision__gt=OuterRef("revision"))
    yield (
        entries.annotate(
            of_kind=Value(SUBMITTED),
            booked_at=Subquery(later.order_by("revision").values("made_at")[:1]),
            spent=-F("seconds"),
            counted=-F("items"),
        ).filter(booked_at__isnull=False),
        Value(0),
    )


def _batch_and_person_fields(path: str) -> dict[str, F]:
    return {
        "of_batch": F(f"{path}batch_id"),
        "of_person": F(f"{path}person_id"),
        "of_simulated": F(f"{path}person__is_simulated"),
        "of_external": F(f"{path}person__is_external"),
    }
