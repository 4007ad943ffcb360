"""Which responses are together on an item, and on how many items: counted by the database.

Agreement on labels depends on an item only through the responses that it got (`tableqa.agreement.coefficients`), and
there are few such patterns however many items. So the database groups items by their responses and gives one item
for each pattern; Python reads the responses of that item alone.

The response is a number beside each submission (`Assignment.response_fingerprint`). Items with as many
responses, the same least, the same greatest and the same sum of these numbers are one pattern. An item with a submission
that an adjudicator had sent back is one by itself.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection, transaction

from annotation.models import Assignment, Batch, Item, RevisionRequest, Slot

MANY = 50_000
"""Submissions of a batch from which PostgreSQL gets a planner hint."""
MEMORY = "256MB"
"""What PostgreSQL may take for grouping a large batch, once for each of its processes, while the statement runs."""

COUNTED = f"""
    SELECT min(item), count(*) FROM (
        SELECT s.item_id AS item, count(*) AS n, min(s.response_fingerprint) AS least,
            max(s.response_fingerprint) AS greatest, sum(s.response_fingerprint) AS total,
            CASE WHEN count(b.assignment_id) > 0 THEN s.item_id END AS alone
        FROM {Assignment._meta.db_table} s
        LEFT JOIN (SELECT DISTINCT assignment_id FROM {RevisionRequest._meta.db_table}) b ON b.assignment_id = s.id
        WHERE s.batch_id = %s AND s.state = 'submitted'
        AND s.item_id NOT IN (SELECT i.id FROM {Item._meta.db_table} i WHERE i.batch_id = %s AND i.is_gold)
        AND s.slot_id NOT IN (SELECT p.id FROM {Slot._meta.db_table} p WHERE p.batch_id = %s AND p.added)
        GROUP BY s.item_id
    ) AS of_items GROUP BY n, least, greatest, total, alone
"""  # nosec B608: names of our own tables


class Pattern(NamedTuple):
    """An item (key) and the number of items with the same response, itself among them."""

    item: int
    items: int


def count_patterns(batch: Batch, *, submitted: int) -> Iterator[Pattern]:
    """The patterns of what was submitted on planned places of a batch, without gold items. There are about `submitted`."""
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql" and submitted >= MANY:
            cursor.execute(f"SET LOCAL work_mem = '{MEMORY}'")
            cursor.execute("SET LOCAL jit = off")
        cursor.execute(COUNTED, [batch.pk] * 3)
        rows = cursor.fetchall()
    return (Pattern(*row) for row in rows)
