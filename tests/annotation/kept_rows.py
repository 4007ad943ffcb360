"""Rows of an empty database that were written once, written again: half of a test's time went into the same few rows."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.apps import apps
from django.db import connection, transaction

WRITTEN_BY_MIGRATIONS = {"django_content_type", "auth_permission", "django_migrations"}

Rows = list[tuple[str, list[Any]]]
"""What inserts the rows of each table: a statement and its parameters."""


def are_none() -> bool:
    """Whether the database holds nothing but what the migrations wrote."""
    some = " OR ".join(f"EXISTS (SELECT 1 FROM {table})" for table in _columns())
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {some}")
        return not cursor.fetchone()[0]


def kept() -> Rows:
    """All rows of the models, as the database has them."""
    rows: Rows = []
    with connection.cursor() as cursor:
        for table, columns in _columns().items():
            cursor.execute(f"SELECT {columns} FROM {table}")
            if values_of_rows := cursor.fetchall():
                places = f"({', '.join(['%s'] * len(values_of_rows[0]))})"
                statement = (
                    f"INSERT INTO {table} ({columns}) VALUES {', '.join([places] * len(values_of_rows))}"
                )
                rows.append((statement, [value for row in values_of_rows for value in row]))
    return rows


def write(rows: Rows) -> None:
    """Insert them with their ids; a sequence is past these since they were first written."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement, values in rows:
            cursor.execute(statement, values)


@cache
def _columns() -> dict[str, str]:
    """The columns that are stored, by table, quoted."""
    quote = connection.ops.quote_name
    return {
        quote(model._meta.db_table): ", ".join(
            quote(str(field.column)) for field in model._meta.local_concrete_fields if not field.generated
        )
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and model._meta.db_table not in WRITTEN_BY_MIGRATIONS
    }
