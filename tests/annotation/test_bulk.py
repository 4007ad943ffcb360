"""Many rows at once arrive as they were given, and what goes wrong on the way says what it was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction

from annotation.models import Event, Project
from annotation.platform import bulk_rows

pytestmark = [pytest.mark.django_db, pytest.mark.both]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
AWKWARD = ("a\tb", "a\nb", "a\r\nb", "\\N", "\\", "a\\tb", "", "\u00a0", "\u2028", "ö", "{}")
NAMES = ["project_id", "thing", "thing_id", "before", "after", "detail", "at"]


@pytest.fixture
def project() -> int:
    return Project.objects.create(slug="many", name="Many").pk


def rows(project: int, texts: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    for number, text in enumerate(texts):
        yield project, "test", number, text, "plain", {"said": text} if number % 2 else None, NOW


@pytest.mark.parametrize("texts", [AWKWARD, *((text,) for text in AWKWARD), AWKWARD * 50])
def test_texts_arrive_as_they_are(texts: tuple[str, ...], project: int) -> None:
    assert bulk_rows.insert(Event, NAMES, rows(project, texts)) == len(texts)

    there = Event.objects.filter(thing="test").order_by("thing_id")
    assert list(there.values_list(*NAMES)) == list(rows(project, texts))


def test_no_rows_are_none() -> None:
    assert bulk_rows.insert(Event, NAMES, ()) == 0


def test_keys_are_nobody_elses(project: int) -> None:
    keys = bulk_rows.keys(Event, 3)
    given = [(key, *row) for key, row in zip(keys, rows(project, ("a",) * 3), strict=True)]

    bulk_rows.insert(Event, ["id", *NAMES], given)

    assert sorted(set(keys)) == keys
    assert list(Event.objects.filter(thing="test").order_by("thing_id").values_list("pk", flat=True)) == keys
    assert bulk_rows.keys(Event, 1)[0] > keys[-1]


def test_what_making_a_row_ends_with_is_what_the_caller_gets(project: int) -> None:
    def broken() -> Iterator[tuple[Any, ...]]:
        yield from rows(project, ("a",) * 250)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"), transaction.atomic():
        bulk_rows.insert(Event, NAMES, broken())

    assert not Event.objects.filter(thing="test").exists()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has one")
def test_a_large_cache_lasts_for_its_block_alone() -> None:
    def size() -> int:
        with connection.cursor() as cursor:
            return int(cursor.execute("PRAGMA cache_size").fetchone()[0])

    usual = size()
    with bulk_rows.large_cache():
        assert size() == -64 * 1024
    assert size() == usual
