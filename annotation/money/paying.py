"""Time and money: how long people worked, what they earned, what an example cost.

Time is the active time that the server saw (gaps of at most a minute between signs of life), not how long a tab was
open. It counts for every item somebody worked on, also one they skipped or gave back; items are counted when submitted,
gold ones too: whoever answers is paid for it. What was done under a rate keeps it (`annotation.money.rates`): the end of
an assignment decides.
"""

from __future__ import annotations

import zoneinfo
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Sum, Value, When

from annotation.models import Assignment, Batch, CrowdEntry, Membership, Person, Project
from annotation.money import costs, rates
from tableqa import sheets


def rate(pay: Mapping[str, Any]) -> str:
    """A rate in words: "14.50 EUR an hour"; "" where nobody pays."""
    if not pay:
        return ""
    by, name = ("item", "per_item") if "per_item" in pay else ("hour", "per_hour")
    return f"{Decimal(str(pay[name])):.2f} {pay['currency']} an {by}"


@dataclass(frozen=True)
class Part:
    """Items submitted and skipped while a rate held once: from when until when, None where it has no such end."""

    begin: datetime | None
    end: datetime | None
    items: int
    skipped: int


@dataclass(frozen=True)
class Share:
    """One person's work in one batch within a period, at one rate; `parts` are the times in which the rate held."""

    person_id: int
    batch: Batch
    items: int
    skipped: int
    seconds: float
    pay: Mapping[str, Any]
    parts: tuple[Part, ...]

    @property
    def is_at_one_of_several(self) -> bool:
        """Whether the batch has had more than this rate."""
        return any(part.begin or part.end for part in self.parts)

    def and_also(self, other: Share) -> Share:
        """Both together: more work of the same person in the same batch at the same rate."""
        parts = {(part.begin, part.end): part for part in self.parts}
        for part in other.parts:
            same = parts.get((part.begin, part.end), Part(part.begin, part.end, 0, 0))
            parts[part.begin, part.end] = replace(
                same, items=same.items + part.items, skipped=same.skipped + part.skipped
            )
        return replace(
            self,
            parts=tuple(parts.values()),
            items=self.items + other.items,
            skipped=self.skipped + other.skipped,
            seconds=self.seconds + other.seconds,
        )

    @property
    def amount(self) -> Decimal | None:
        """What it earns; None where nobody pays."""
        return costs.owed(self.pay, items=self.items, seconds=self.seconds)

    @property
    def currency(self) -> str:
        return str(self.pay.get("currency", ""))

    @property
    def rate(self) -> str:
        """The rate in the reader's language."""
        return costs.rate_in_words(self.pay)

    @property
    def hours(self) -> float:
        return self.seconds / 3600

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def an_hour(self) -> float | None:
        """Items an hour, None before there is a minute of work to tell from."""
        return self.items / self.hours if self.seconds >= 60 else None


@dataclass(frozen=True)
class Period:
    """Days of a project, the last included; None is open on that side. Days begin and end where the project is at home."""

    first: date | None = None
    last: date | None = None

    def ends(self, project: Project) -> tuple[datetime | None, datetime | None]:
        """When the period begins, and the first moment behind it; None where it is open."""
        zone = zoneinfo.ZoneInfo(project.time_zone)
        begin = None if self.first is None else datetime.combine(self.first, time(), zone)
        end = None if self.last is None else datetime.combine(self.last + timedelta(days=1), time(), zone)
        return begin, end

    def within(self, project: Project) -> Q:
        """The assignments that ended in the period; of an open one also those that did not end yet."""
        (begin, end), found = self.ends(project), Q()
        if begin is not None:
            found &= Q(ended_at__gte=begin)
        if end is not None:
            found &= Q(ended_at__lt=end)
        return found


ALWAYS = Period()


def shares(project: Project, period: Period = ALWAYS) -> list[Share]:
    """Everybody's work by batch, person and rate; in three queries. Simulated and external people earn nothing."""
    return _shares(Q(period.within(project)) & _PAID, Batch.objects.filter(project=project))


def of_batch(batch: Batch) -> list[Share]:
    """Everybody's work in one batch, as `shares` has it."""
    return _shares(_PAID, Batch.objects.filter(pk=batch.pk))


def own(person: Person, projects: Iterable[Project]) -> list[Share]:
    """One person's work in their projects, the newest batch first; in three queries."""
    found = _shares(Q(person=person), Batch.objects.filter(project__in=list(projects)))
    return sorted(found, key=lambda share: -share.batch.pk)


def own_since(person: Person, projects: Iterable[Project], since: datetime) -> list[Share]:
    """One person's work on what they submitted or skipped from a moment on; in three queries."""
    return _shares(Q(person=person, ended_at__gte=since), Batch.objects.filter(project__in=list(projects)))


_PAID = Q(person__is_simulated=False, person__is_external=False)


def _shares(which: Q, batches: QuerySet[Batch]) -> list[Share]:
    """The database adds up, by the times between changes of rates; what was done at one rate is one share."""
    known = {one.pk: one for one in batches.select_related("project")}
    in_force = rates.in_force(list(known.values()))
    ends = sorted({one.until for periods in in_force.values() for one in periods if one.until is not None})
    work = Assignment.objects.filter(which, batch__in=list(known))
    stretch = Case(
        *(When(ended_at__lt=until, then=Value(number)) for number, until in enumerate(ends)),
        default=Value(len(ends)),
        output_field=IntegerField(),
    )
    # Without a change there is nothing to tell apart, and the database groups by an index.
    by = ("batch_id", "person_id", *(("stretch",) if ends else ()))
    counted = (
        (work.annotate(stretch=stretch) if ends else work)
        .order_by(*by)
        .values_list(*by)
        .annotate(
            items=Count("pk", filter=Q(state=Assignment.State.SUBMITTED)),
            skipped=Count("pk", filter=Q(state=Assignment.State.SKIPPED)),
            seconds=Sum("active_seconds"),
        )
    )
    found: dict[tuple[Any, ...], Share] = {}
    for batch, person, *number, items, skipped, seconds in counted:
        until = next((ends[one] for one in number if one < len(ends)), None)
        pay = rates.rate_before(in_force[batch], until)
        part = Part(*rates.span_before(in_force[batch], until), items, skipped)
        share = Share(person, known[batch], items, skipped, seconds or 0.0, pay, (part,))
        key = (batch, person, *sorted(pay.items()))
        before = found.get(key)
        found[key] = share if before is None else before.and_also(share)
    return list(found.values())


@dataclass
class Total:
    """What several shares come to: money by currency."""

    items: int = 0
    seconds: float = 0.0
    amounts: dict[str, Decimal] = field(default_factory=dict)

    def add(self, share: Share) -> None:
        self.items += share.items
        self.seconds += share.seconds
        if share.amount is not None:
            self.amounts[share.currency] = self.amounts.get(share.currency, Decimal()) + share.amount

    @property
    def hours(self) -> float:
        return self.seconds / 3600


def summed(found: Iterable[Share]) -> Total:
    """What the shares come to."""
    total = Total()
    for share in found:
        total.add(share)
    return total


def by_person(found: Iterable[Share]) -> dict[int, list[Share]]:
    """The shares of each person (id), in their order."""
    gathered: dict[int, list[Share]] = defaultdict(list)
    for share in found:
        gathered[share.person_id].append(share)
    return dict(gathered)


@dataclass(frozen=True)
class Cost:
    """What a batch cost so far, and a hundred of the examples that came of it."""

    batch: Batch
    total: Total
    accepted: int

    @property
    def per_hundred(self) -> dict[str, Decimal]:
        """By currency; nothing before the first item is accepted."""
        return {
            currency: each
            for currency, amount in self.total.amounts.items()
            if (each := costs.per_hundred(amount, examples=self.accepted)) is not None
        }


def by_batch(project: Project, found: Iterable[Share]) -> list[Cost]:
    """What each batch cost, from the shares of the whole time."""
    batches: dict[int, list[Share]] = defaultdict(list)
    for share in found:
        batches[share.batch.pk].append(share)
    return [
        Cost(own[0].batch, summed(own), own[0].batch.accepted_count) for _, own in sorted(batches.items())
    ]


PAYMENTS = (
    "person",
    "pseudonym",
    "external_id",
    "batch",
    "kind",
    "items",
    "skipped",
    "hours",
    "rate",
    "amount",
    "currency",
)


def sheet(project: Project, period: Period = ALWAYS) -> sheets.Sheet:
    """The payment sheet: a row for each person, batch and rate, for those who pay. Ids of a crowd platform stand in it."""
    found = by_person(shares(project, period))
    members = {
        one.person_id: one
        for one in Membership.objects.filter(project=project, person__in=found).select_related("person")
    }
    ids = dict(CrowdEntry.objects.filter(person__in=found).values_list("person_id", "external_id"))
    numeric = {"items", "skipped", "hours", "amount"}
    columns = tuple(sheets.Column(name, numeric=name in numeric) for name in PAYMENTS)
    rows = [
        (
            sheets.Cell(member.person.name),
            sheets.Cell(member.pseudonym),
            sheets.Cell(ids.get(member.person_id, "")),
            sheets.Cell(share.batch.name),
            sheets.Cell(share.batch.task_type),
            sheets.count(share.items),
            sheets.count(share.skipped),
            sheets.Cell(f"{share.hours:.3f}"),
            sheets.Cell(rate(share.pay)),
            sheets.Cell("" if share.amount is None else str(share.amount)),
            sheets.Cell(share.currency),
        )
        for member in sorted(members.values(), key=lambda one: (one.person.name, one.pk))
        for share in found[member.person_id]
    ]
    return sheets.Sheet("payments", f"Payments of {project.name}", columns, tuple(rows))
