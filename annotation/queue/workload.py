"""The accounts of a project: who was given how much in which batch, and where it is.

assigned = submitted + skipped + open + returned, for each person in each batch, always: an item that is given to a person
is one row of `Assignment` for ever, and the row is in one of four states. `assigned` counts every row and the others the
rows in their own state, so that the equation is checked (`Account.balances`). `doctor` checks it for every batch,
compares it with the counters, and the log with the rows. What is reserved for a person and
not begun (`Slot.reserved_for`) is no assignment yet and is next to it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Count

from annotation.models import Assignment, Batch, Membership, Person, PersonBatchCounts, Project
from annotation.queue import allocation
from tableqa.writers.report_tables import guarded

State = Assignment.State


@dataclass(frozen=True)
class Account:
    """What one person was given in one batch, or the sum of several accounts."""

    assigned: int = 0
    submitted: int = 0
    skipped: int = 0
    open: int = 0
    returned: int = 0
    kept: int = 0

    @property
    def balances(self) -> bool:
        """Whether the sentence holds."""
        return self.assigned == self.submitted + self.skipped + self.open + self.returned

    def __add__(self, other: Account) -> Account:
        return Account(
            **{
                field.name: getattr(self, field.name) + getattr(other, field.name)
                for field in fields(Account)
            }
        )


@dataclass(frozen=True)
class Line:
    """An account with what it is of. `pseudonym` is "" for a person who was never a member."""

    batch: Batch
    person: Person
    pseudonym: str
    account: Account


def accounts(batches: Sequence[Batch]) -> dict[tuple[int, int], Account]:
    """The accounts by (batch, person) in ids: people with assignments or reservations. Four queries."""
    # Asked for by person, the database answers from an index alone.
    people = set(
        PersonBatchCounts.objects.filter(batch__in=batches)
        .order_by()
        .values_list("person_id", flat=True)
        .distinct()
    )
    projects = {batch.project_id for batch in batches}
    people |= set(Membership.objects.filter(project__in=projects).values_list("person_id", flat=True))
    rows = Assignment.objects.filter(person__in=people, batch__in=batches).order_by()
    counted = rows.values_list("person_id", "batch_id", "state").annotate(n=Count("pk"))
    accounts_by_key: dict[tuple[int, int], Account] = {}
    for person, batch, state, count in counted:
        state_count = {NAMES[state]: count} if state in NAMES else {}
        accounts_by_key[batch, person] = accounts_by_key.get((batch, person), Account()) + Account(
            assigned=count, **state_count
        )
    for key, count in allocation.reserved_counts(batches).items():
        accounts_by_key[key] = accounts_by_key.get(key, Account()) + Account(kept=count)
    return accounts_by_key


NAMES = {
    State.SUBMITTED.value: "submitted",
    State.SKIPPED.value: "skipped",
    State.LEASED.value: "open",
    State.RETURNED.value: "returned",
}
"""Under which name an account counts each state."""


def lines(project: Project, batches: Sequence[Batch]) -> list[Line]:
    """Every account of these batches of a project, batch by batch, people by name. Six queries."""
    accounts_by_key = accounts(batches)
    people = Person.objects.in_bulk({person for _, person in accounts_by_key})
    pseudonyms = dict(Membership.objects.filter(project=project).values_list("person_id", "pseudonym"))
    order = {batch.pk: (at, batch) for at, batch in enumerate(batches)}
    account_lines = [
        Line(order[batch][1], people[person], pseudonyms.get(person, ""), account)
        for (batch, person), account in accounts_by_key.items()
    ]
    return sorted(account_lines, key=lambda line: (order[line.batch.pk][0], line.person.name, line.person.pk))


def total(summands: Iterable[Account]) -> Account:
    """The sum of accounts."""
    return sum(summands, Account())


def as_csv(account_lines: Iterable[Line]) -> str:
    """The accounts as a file; people under their pseudonyms."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    names = [field.name for field in fields(Account)]
    writer.writerow(["batch", "batch_name", "annotator", *names])
    for line in account_lines:
        counts: list[Any] = [getattr(line.account, name) for name in names]
        writer.writerow([line.batch.public_id, guarded(line.batch.name), guarded(line.pseudonym), *counts])
    return text.getvalue()
