"""Rows that are written once: neither changed nor deleted through SQL, but for one function."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from annotation.management.doctor import findings
from annotation.models import Event, Example
from annotation.platform import immutable_rows
from annotation.releases import creation
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world

pytestmark = pytest.mark.both

SQL = {
    "UPDATE": "UPDATE {table} SET id = id",
    "DELETE": "DELETE FROM {table}",
    "TRUNCATE": "TRUNCATE {table} CASCADE",
}
KINDS = ["UPDATE", "DELETE", *(["TRUNCATE"] if connection.vendor == "postgresql" else [])]
REPLACE = (
    "INSERT INTO {table} ({columns}) SELECT {columns} FROM {table} WHERE true ON CONFLICT (id) DO UPDATE SET id = {table}.id"
    if connection.vendor == "postgresql"
    else "REPLACE INTO {table} ({columns}) SELECT {columns} FROM {table}"
)


@pytest.fixture
def decided(world: World) -> World:
    batch = world.batch(overlap=1)
    world.label(batch, "ada", "extraction")
    assert automatic_decisions.resolve_due(now=NOON.replace(hour=13)) == 1
    return world


def execute(sql: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SET CONSTRAINTS ALL IMMEDIATE"
            )  # what is still to be checked refuses TRUNCATE by itself
        cursor.execute(sql)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table", ["event", "example", "annotation", "decision", "outcome"])
def test_the_database_refuses(decided: World, table: str, kind: str) -> None:
    with pytest.raises(DatabaseError, match="immutable"):
        execute(SQL[kind].format(table=f"annotation_{table}"))


def columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [one.name for one in connection.introspection.get_table_description(cursor, table)]


@pytest.mark.parametrize("table", ["event", "example", "annotation", "decision", "outcome", "storedtable"])
def test_a_row_cannot_be_replaced(decided: World, table: str) -> None:
    name = f"annotation_{table}"
    with pytest.raises(DatabaseError, match="immutable"):
        execute(REPLACE.format(table=name, columns=", ".join(columns(name))))


@pytest.mark.parametrize("table", ["annotation", "decision", "example", "outcome", "storedtable"])
def test_nor_by_a_row_with_another_key(decided: World, table: str) -> None:
    """Of a table that somebody changed, the key is drawn anew and the rest is the same."""
    name = f"annotation_{table}"
    rest = ", ".join(column for column in columns(name) if column != "id")
    again = "INSERT" if connection.vendor == "postgresql" else "REPLACE"
    before = rows(name)
    with suppress(DatabaseError):
        execute(f"{again} INTO {name} ({rest}) SELECT {rest} FROM {name}")
    assert rows(name) == before


def rows(table: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} ORDER BY id")
        return cursor.fetchall()


@pytest.fixture
def released(decided: World) -> World:
    creation.make_release(project=decided.project, name="v1", format="askew", by=decided.rea, now=NOON)
    return decided


FORGED = {
    "release": (
        "name = 'v2'",
        "digest = 'x'",
        "manifest = '{}'",
        "ready_at = NULL",
        "watermark = 1",
        "waivers = '[]'",
    ),
    "source": (
        "name = 'x'",
        "url = 'x'",
        "citation = 'x'",
        "checksum = 'x'",
        "ready_at = NULL",
        "how = '[]'",
    ),
    "membership": ("pseudonym = 'x'", "person_id = person_id + 1", "project_id = project_id + 1"),
}


@pytest.mark.parametrize("table", FORGED)
def test_releases_sources_and_pseudonyms_stay(released: World, table: str) -> None:
    name = f"annotation_{table}"
    before = rows(name)
    statements = [f"UPDATE {name} SET {change}" for change in FORGED[table]]
    statements += [SQL[kind].format(table=name) for kind in KINDS if kind != "UPDATE"]
    replace = {"INSERT": REPLACE.format(table=name, columns=", ".join(columns(name)))}
    statements += [replace["INSERT"]] if connection.vendor == "sqlite" else []
    for statement in statements:
        with pytest.raises(DatabaseError, match=f"{name} is immutable"):
            execute(statement)
    assert rows(name) == before
    with immutable_rows.writable():
        execute(f"{statements[0]} WHERE id = (SELECT min(id) FROM {name})")
    assert rows(name) != before


def test_a_member_of_sqlite_is_not_replaced_under_another_key(released: World) -> None:
    name = "annotation_membership"
    rest = ", ".join(column for column in columns(name) if column != "id")
    again = "INSERT" if connection.vendor == "postgresql" else "REPLACE"
    before = rows(name)
    with pytest.raises(DatabaseError):
        execute(f"{again} INTO {name} ({rest}) SELECT {rest} FROM {name}")
    assert rows(name) == before


def test_what_the_product_changes_of_them_can_change(released: World) -> None:
    execute("UPDATE annotation_source SET licence = 'MIT', archived_at = started_at, examples_count = 9")
    execute("UPDATE annotation_membership SET roles = '[]', characteristics = '{}', removed_at = joined_at")
    unready = released.project.releases.create(name="v2", format="askew", number=2, watermark=1, made_at=NOON)
    unready.delete()


def test_every_table_has_its_triggers(world: World) -> None:
    tables = (*immutable_rows.TABLES, *immutable_rows.PARTLY_IMMUTABLE)
    assert {model._meta.db_table for model in apps.get_models()} > set(tables)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgname FROM pg_trigger"
            if connection.vendor == "postgresql"
            else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        )
        triggers = {name for (name,) in cursor.fetchall()}
    for table in tables:
        assert {f"{table}_immutable", f"{table}_undeletable"} <= triggers
        assert connection.vendor == "postgresql" or f"{table}_irreplaceable" in triggers


def test_one_function_lets_them_be_changed_and_only_while_it_lasts(decided: World) -> None:
    number = Event.objects.count()
    with immutable_rows.writable():
        with immutable_rows.writable():
            Event.objects.filter(thing="assignment", after="leased").delete()
        Event.objects.update(detail={"reason": "rewritten"})
    assert Event.objects.count() == number - 1
    assert Event.objects.first().detail == {"reason": "rewritten"}  # type: ignore[union-attr]
    for kind in KINDS:
        with pytest.raises(DatabaseError, match="immutable"):
            execute(SQL[kind].format(table="annotation_event"))


def test_after_an_error_in_between_they_are_refused_again(decided: World) -> None:
    def delete_half_way() -> None:
        with immutable_rows.writable():
            Event.objects.filter(thing="assignment", after="leased").delete()
            raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        delete_half_way()
    assert list(findings()) == []
    with pytest.raises(DatabaseError, match="immutable"):
        execute(SQL["DELETE"].format(table="annotation_event"))


@pytest.mark.django_db(transaction=True)
def test_other_connections_go_on_refusing_and_flush_of_the_suite_empties_everything(tmp_path: Path) -> None:
    make_world(tmp_path)
    refused: list[str] = []

    def delete() -> None:
        try:
            execute(SQL["DELETE"].format(table="annotation_event"))
        except DatabaseError as error:
            refused.append(str(error))
        finally:
            connection.close()

    thread = threading.Thread(target=delete)
    if connection.vendor == "postgresql":
        with immutable_rows.writable():
            thread.start()
            thread.join(30)
    else:  # one writer at a time: the other one waits
        with immutable_rows.writable():
            thread.start()
        thread.join(30)
    assert len(refused) == 1
    assert "immutable" in refused[0]
    call_command("flush", interactive=False)
    assert not Event.objects.exists()
    assert not Example.objects.exists()
