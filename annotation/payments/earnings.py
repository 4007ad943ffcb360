"""Time and money: how long people worked, what they earned, what an example cost.

Time is the active time that the server saw (gaps of at most a minute between signs of life), not how long a tab was
open. It counts for every item a person worked on, also one they skipped or gave back; items are counted when they are first
submitted, gold ones too: answering is paid. All are sums of one ledger (`annotation.payments.ledger`), whose
rows keep the rate of their time (`annotation.payments.rates`).
"""

import zoneinfo
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

from annotation.models import Batch, CrowdEntry, Event, Membership, Person, Project
from annotation.payments import costs, ledger
from annotation.platform import display_text
from tableqa.writers import report_tables

T = TypeVar("T")


def rate(pay: Mapping[str, Any]) -> str:
    """A rate in words: "14.50 EUR an hour"; "" without pay."""
    if not pay:
        return ""
    by, name = ("item", "per_item") if "per_item" in pay else ("hour", "per_hour")
    return f"{Decimal(str(pay[name])):.2f} {pay['currency']} an {by}"


class Total:
    """What rows of the ledger come to: items, time on submissions, skips and returns apart, and money by currency."""

    def __init__(self, rows: Iterable[ledger.Row] = ()) -> None:
        self.rows = list(rows)
        self.items = sum(row.items for row in self.rows)
        self.skipped = sum(row.rows for row in self.rows if row.kind == ledger.SKIPPED)
        self.micros: Counter[str] = Counter()
        self.amounts: dict[str, Decimal] = {}
        for row in self.rows:
            self.micros[row.kind] += row.micros
            if row.amount is not None:
                currency = row.pay["currency"]
                self.amounts[currency] = self.amounts.get(currency, Decimal()) + row.amount

    @property
    def seconds(self) -> float:
        return self.micros.total() / ledger.SECOND

    @property
    def hours(self) -> float:
        return self.seconds / 3600

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def by_kind(self) -> dict[str, float]:
        """Seconds on submissions, on skips and on returns."""
        return {kind: self.micros[kind] / ledger.SECOND for kind in ledger.KINDS}

    @property
    def hours_by_kind(self) -> str:
        """The hours apart, in words; "" where all are on submissions."""
        return display_text.by_kind(self.by_kind, 3600, 2)

    @property
    def minutes_by_kind(self) -> str:
        """The same in minutes."""
        return display_text.by_kind(self.by_kind, 60, 1)

    @property
    def an_hour(self) -> float | None:
        """Items an hour, None before there is a minute of work to tell from."""
        return self.items / self.hours if self.seconds >= 60 else None


class Share(Total):
    """One person's work in one batch within a period, at one rate; `parts` are the times in which the rate held."""

    def __init__(self, batch: Batch, rows: Sequence[ledger.Row]) -> None:
        super().__init__(rows)
        self.batch, self.person_id, self.pay = batch, rows[0].person, rows[0].pay
        of_spans = [(span, Total(rows)) for span, rows in _grouped(rows, lambda row: row.span).items()]
        self.parts = [(span, part) for span, part in of_spans if part.items or part.skipped] or of_spans[:1]

    @property
    def is_at_one_of_several(self) -> bool:
        """Whether the batch has had more than this rate."""
        return any(any(span) for span, _ in self.parts)

    @property
    def amount(self) -> Decimal | None:
        """What it earns; None without pay."""
        return self.amounts.get(self.currency)

    @property
    def currency(self) -> str:
        return str(self.pay.get("currency", ""))

    @property
    def rate(self) -> str:
        """The rate in the reader's language."""
        return costs.rate_in_words(self.pay)


@dataclass(frozen=True)
class Period:
    """Days of a project, the last included; None is open on that side. Days begin and end where the project is at home."""

    first: date | None = None
    last: date | None = None

    def ends(self, project: Project) -> tuple[datetime | None, datetime | None]:
        """When the period begins, and the first moment behind it; None where it is open.

        A change of the time zone leaves the days before it: days of the new one begin with it at the earliest.
        """
        begins = [self.first, self.last and self.last + timedelta(days=1)]
        if begins == [None, None]:
            return None, None
        log = Event.objects.filter(thing="project", thing_id=project.pk, detail__what="time_zone")
        changes = list(log.order_by("pk").values_list("at", "detail__from"))
        begin, end = (None if day is None else _midnight(day, changes, project.time_zone) for day in begins)
        return begin, end


def _midnight(day: date, changes: Sequence[tuple[datetime, str]], now: str) -> datetime:
    """When a day begins, by the changes of the time zone (until when it was which) in their order, and as it is now."""
    earliest = None
    for until, zone in (*changes, (None, now)):
        midnight = datetime.combine(day, time(), zoneinfo.ZoneInfo(zone))
        midnight = max(midnight, earliest or midnight)
        if until is None or midnight < until:
            break
        earliest = until
    return midnight


ALWAYS = Period()


def shares(project: Project, period: Period = ALWAYS) -> list[Share]:
    """All people's work by batch, person and rate; in four queries. Simulated and external people earn nothing."""
    return _shares(ledger.PAID, Batch.everything.filter(project=project), *period.ends(project))


def of_batch(batch: Batch) -> list[Share]:
    """All people's work in one batch, as `shares` has it."""
    return _shares(ledger.PAID, Batch.objects.filter(pk=batch.pk))


def shares_of_person(
    person: Person, projects: Iterable[Project], since: datetime | None = None
) -> list[Share]:
    """One person's work in their projects, or what they submitted, skipped or returned from a moment on.

    The newest batch comes first. Five queries.
    """
    own_shares = _shares(Q(of_person=person.pk), Batch.everything.filter(project__in=list(projects)), since)
    return sorted(own_shares, key=lambda share: -share.batch.pk)


def _shares(
    which: Q, batches: QuerySet[Batch], begin: datetime | None = None, end: datetime | None = None
) -> list[Share]:
    """What the ledger booked in a period, by batch, person and rate."""
    by_key = {entry.pk: entry for entry in batches.select_related("project")}
    rows = ledger.rows(list(by_key.values()), which, begin, end)
    lines = _grouped(rows, lambda row: (row.batch, row.person, *sorted(row.pay.items())))
    all_shares = [Share(by_key[batch], rows) for (batch, *_), rows in lines.items()]
    # What a correction took out in the same period leaves nothing.
    return [
        entry
        for entry in all_shares
        if any((entry.items, entry.skipped, entry.amount, *entry.micros.values()))
    ]


def _grouped(rows: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    groups: dict[Any, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def sum_shares(all_shares: Iterable[Share]) -> Total:
    """What the shares come to."""
    return Total(row for share in all_shares for row in share.rows)


def shares_by_person(all_shares: Iterable[Share]) -> dict[int, list[Share]]:
    """The shares of each person (id), in their order."""
    return _grouped(all_shares, lambda share: share.person_id)


@dataclass(frozen=True)
class Cost:
    """What a batch cost so far, and a hundred of the examples that it produced."""

    batch: Batch
    total: Total
    accepted: int

    @property
    def per_hundred(self) -> dict[str, Decimal]:
        """By currency; nothing before the first item is accepted."""
        return costs.all_per_hundred(self.total.amounts, examples=self.accepted)


def costs_by_batch(all_shares: Iterable[Share]) -> list[Cost]:
    """What each batch cost, from the shares of the whole time."""
    batches = _grouped(all_shares, lambda share: share.batch.pk)
    return [
        Cost(own[0].batch, sum_shares(own), own[0].batch.accepted_count) for _, own in sorted(batches.items())
    ]


HOURS = (*(f"hours_{kind}" for kind in ledger.KINDS), "hours")
PAYMENTS = (
    "person",
    "pseudonym",
    "external_id",
    "batch",
    "kind",
    "items",
    "skipped",
    *HOURS,
    "rate",
    "amount",
    "currency",
)


def sheet(project: Project, period: Period = ALWAYS) -> report_tables.Sheet:
    """The payment sheet: a row for each person, batch and rate, for payment. Ids of a crowd platform are in it."""
    by_member = shares_by_person(shares(project, period))
    members = {
        membership.person_id: membership
        for membership in Membership.objects.filter(project=project, person__in=by_member).select_related(
            "person"
        )
    }
    ids = dict(CrowdEntry.objects.filter(person__in=by_member).values_list("person_id", "external_id"))
    numeric = {"items", "skipped", "amount", *HOURS}
    columns = tuple(report_tables.Column(name, numeric=name in numeric) for name in PAYMENTS)
    rows = [
        (
            *map(report_tables.Cell, (member.person.name, member.pseudonym, ids.get(member.person_id, ""))),
            *map(report_tables.Cell, (share.batch.name, share.batch.task_type)),
            report_tables.count(share.items),
            report_tables.count(share.skipped),
            *(
                report_tables.Cell(f"{seconds / 3600:.3f}")
                for seconds in (*share.by_kind.values(), share.seconds)
            ),
            report_tables.Cell(rate(share.pay)),
            report_tables.Cell("" if share.amount is None else str(share.amount)),
            report_tables.Cell(share.currency),
        )
        for member in sorted(members.values(), key=lambda membership: (membership.person.name, membership.pk))
        for share in by_member[member.person_id]
    ]
    return report_tables.Sheet("payments", f"Payments of {project.name}", columns, tuple(rows))
