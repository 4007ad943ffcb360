"""Many rows, a page at a time: no cursor stays open (SQLite would answer with 'database is locked'), no list of all keys."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from django.db.models import QuerySet

from tableqa.core.disk_collections import SortedTuples

PAGE = 500
Row = TypeVar("Row")


def chunks(rows: Iterable[Row], size: int = PAGE) -> Iterator[list[Row]]:
    """What there is, in lists of at most `size`."""
    iterator = iter(rows)
    while page := list(itertools.islice(iterator, size)):
        yield page


def pages(keys: Iterable[int]) -> Iterator[list[int]]:
    """Keys in lists of at most `PAGE`."""
    return chunks(keys)


def fields(rows: QuerySet[Any], *names: str) -> Iterator[tuple[Any, ...]]:
    """These fields of every row, by key."""
    last = 0
    while page := list(rows.filter(pk__gt=last).order_by("pk").values_list("pk", *names)[: 2 * PAGE]):
        for _, *values in page:
            yield tuple(values)
        last = page[-1][0]


def sorted_chunks(rows: QuerySet[Any], name: str) -> Iterator[list[Any]]:
    """Every row, by a field that is a text and then by key; in lists of at most `PAGE`. The order is kept on disk."""
    sorted_keys = SortedTuples(2, key=2)
    for row in fields(rows, name, "pk"):
        sorted_keys.add(*row)
    for page in sorted_keys.pages(PAGE):
        by_pk = rows.in_bulk([pk for _, pk in page])
        yield [by_pk[pk] for _, pk in page]
