"""Which responses stand together on an item, and on how many items: counted by the database.

Agreement on labels depends on an item only through the responses that it got (`tableqa.agreement`), and there are few such
patterns however many items. So the database groups items by what was said of them and gives one item for each pattern;
Python reads the responses of that item alone.

PostgreSQL tells patterns apart by the sum of 64-bit hashes of the responses: of a million patterns two have the same sum
with a probability of 3 in 100 million. SQLite compares the responses themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db import connection, transaction

from annotation.models import Annotation, Assignment, Batch, Item, Place, SentBack

MANY = 50_000
"""Submissions of a batch from which PostgreSQL is told how to go about it: its own plan takes half as long again."""
MEMORY = "256MB"
"""What PostgreSQL may take for grouping a large batch, once for each of its processes, while the statement runs."""


class Pattern(NamedTuple):
    """An item (key) and the number of items on which the same was said, itself among them."""

    item: int
    items: int


def counted(batch: Batch, *, submitted: int) -> Iterator[Pattern]:
    """The patterns of what was submitted on planned places of a batch, without gold items and without what was written anew
    for an adjudicator. There are about `submitted`.
    """
    if connection.vendor == "postgresql":
        return iter(_on_postgresql(batch, submitted))
    return iter(_on_sqlite(batch))


def _on_postgresql(batch: Batch, submitted: int) -> list[Pattern]:
    # What was said, whatever table it was said of; a version of the form may differ only where it changed meanwhile.
    one_version = batch.version == batch.task().version
    said = "a.response -> 'data'" if one_version else "a.response - 'base'"
    assignments, annotations = Assignment._meta.db_table, Annotation._meta.db_table
    without, left_out = _left_out(batch)
    # Both keys, though one would do: by the first both tables are read in their order.
    sql = f"""
        SELECT min(item), count(*) FROM (
            SELECT s.item_id AS item, sum(jsonb_hash_extended({said}, 0)) AS said
            FROM {assignments} s JOIN {annotations} a ON a.assignment_id = s.id AND a.id = s.annotation_id
            WHERE s.batch_id = %s AND s.state = 'submitted' {without}
            GROUP BY s.item_id
        ) AS of_items GROUP BY said
    """  # nosec B608: names of our own tables
    with transaction.atomic(), connection.cursor() as cursor:
        if submitted >= MANY:
            cursor.execute(f"SET LOCAL work_mem = '{MEMORY}'")
            cursor.execute("SET LOCAL jit = off")
            # As many groups as items come of each process, and few of them from two: not so dear as it is thought to be.
            cursor.execute("SET LOCAL parallel_tuple_cost = 0.001")
            if _is_most(cursor, annotations, submitted):
                cursor.execute("SET LOCAL enable_hashjoin = off")
                cursor.execute("SET LOCAL enable_nestloop = off")
        cursor.execute(sql, [batch.pk, *left_out])
        return [Pattern(*row) for row in cursor.fetchall()]


def _left_out(batch: Batch) -> tuple[str, list[list[int]]]:
    """What does not enter, as a condition with its values: few keys, looked up beforehand, so that nothing is joined."""
    gold = Item.objects.filter(batch=batch, is_gold=True)
    added = Place.objects.filter(batch=batch, added=True)
    anew = SentBack.objects.filter(assignment__batch=batch).order_by().distinct()
    keys = {
        "s.item_id": list(gold.values_list("pk", flat=True)),
        "s.place_id": list(added.values_list("pk", flat=True)),
        "s.id": list(anew.values_list("assignment", flat=True)),
    }
    some = {name: found for name, found in keys.items() if found}
    return "".join(f"AND {name} <> ALL (%s)" for name in some), list(some.values())


def _is_most(cursor: Any, table: str, submitted: int) -> bool:
    """Whether a batch has a large part of all annotations there are: then they are read in order, not looked up."""
    cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
    return bool(submitted * 4 > cursor.fetchone()[0])


def _on_sqlite(batch: Batch) -> Iterator[Pattern]:
    sql = f"""
        SELECT min(item), count(*) FROM (
            SELECT item, group_concat(said, char(10)) AS said FROM (
                SELECT s.item_id AS item, json_remove(a.response, '$.base') AS said
                FROM {Assignment._meta.db_table} s
                JOIN {Annotation._meta.db_table} a ON a.id = s.annotation_id
                JOIN {Place._meta.db_table} p ON p.id = s.place_id AND NOT p.added
                JOIN {Item._meta.db_table} i ON i.id = s.item_id AND NOT i.is_gold
                WHERE s.batch_id = %s AND s.state = 'submitted'
                AND s.id NOT IN (SELECT b.assignment_id FROM {SentBack._meta.db_table} b)
                ORDER BY item, said
            ) GROUP BY item
        ) GROUP BY said
    """  # nosec B608: names of our own tables
    with connection.cursor() as cursor:
        cursor.execute(sql, [batch.pk])
        rows = cursor.fetchall()
    return (Pattern(*row) for row in rows)
