"""Rows that many others refer to are loaded by one statement, on SQLite too."""

from __future__ import annotations

import pytest

from annotation.models import Example, Source, StoredTable
from tableqa.readers.ingestion import ROWS
from tests.annotation import labels
from tests.annotation.cast import World

pytestmark = pytest.mark.both


@pytest.fixture
def examples(world: World) -> list[Example]:
    """As many examples as a page of labels has lines, each with a table of its own."""
    tables = StoredTable.objects.bulk_create(
        StoredTable(digest=f"{number:064}", content={"header": ["n"], "rows": [[str(number)]]})
        for number in range(ROWS)
    )
    source = Source.objects.get(project=world.project)
    return Example.objects.bulk_create(
        Example(source=source, external_id=f"own-{number}", position=number, stored_table=table)
        for number, table in enumerate(tables, 100)
    )


def test_tables_of_many_examples_are_prefetched(examples: list[Example]) -> None:
    rows = Example.objects.filter(pk__in=[example.pk for example in examples])

    assert len({row.stored_table.digest for row in rows.prefetch_related("stored_table")}) == len(examples)


def test_labels_of_examples_with_a_table_each_are_checked(world: World, examples: list[Example]) -> None:
    lines = "".join(f"{example.external_id},Xenia,extraction\n" for example in examples)

    checked = labels.look(world.batch(), f"example,annotator,label\n{lines}")

    assert (checked.new, checked.rejected) == (len(examples), 0)
