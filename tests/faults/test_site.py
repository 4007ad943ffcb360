"""A whole site at which people work, and one fault of each kind: everything acknowledged is there once, and work goes on.

`./run bench faults` does the same with 32 people and hundreds of faults. The site has a database of its own, which may be
killed: PostgreSQL where the suite runs on it, else SQLite.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.faults.faults import KINDS, Faults
from tests.faults.site import Site

pytestmark = pytest.mark.django_db

WANTS = {
    "PostgreSQL": "this pass of the suite is on SQLite",
    "database restart": "this pass of the suite is on SQLite, which has no server",
    "database black hole": "this pass of the suite is on SQLite, which has no network",
    "model server": "the bundled model's weights are not here",
    "data folder": "nobody may mount a small file system here",
    "clock of the database": "PostgreSQL has a clock of its own only with libfaketime (Debian: apt install libfaketime)",
}
"""Why a kind of fault is left out where it cannot be had, by what its name holds."""


@pytest.fixture(scope="module")
def at_work() -> Iterator[Faults]:
    on_postgres = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")
    site = Site(database="postgresql" if on_postgres else "sqlite", small_disk=True, clocks=True)
    made = Faults(site, people=6, think=0.5, seed=3, still=12, imported=1_000, labels=400)
    try:
        made.begin()
        yield made
    finally:
        made.ledger.stop.set()
        site.end()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_was_acknowledged_is_lost_and_nothing_is_there_twice_when(
    at_work: Faults, kind: str
) -> None:
    if kind not in at_work.kinds:
        pytest.skip(next(reason for part, reason in WANTS.items() if part in kind))
    at_work.inject(kind)
    at_work.check(kind, deep=True)


def test_at_the_end_nothing_is_stored_that_nobody_was_told_of_jobs_are_over_and_releases_are_equal(
    at_work: Faults,
) -> None:
    at_work.finish()
