"""A part of a test whose rows are gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction


@contextmanager
def savepoint() -> Iterator[None]:
    """What a fault of the database inside takes back. It is a transaction of the test: the platform may begin one in it."""
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]
    with block:
        yield


@contextmanager
def undone() -> Iterator[None]:
    """Undo at the end what is written inside."""
    with savepoint():
        yield
        transaction.set_rollback(True)
