"""Migrations that fill columns of rows that are there: back, rows in every state, and forward again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from annotation.access import Actor
from annotation.explorer import acting, querysets
from annotation.journeys import adjudicating
from annotation.models import Item
from tests.annotation.cast import NOON, World, make_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> Iterator[World]:
    yield make_world(tmp_path)
    call_command("migrate", "annotation", verbosity=0)


def columns() -> set[str]:
    with connection.cursor() as cursor:
        return {
            column.name
            for column in connection.introspection.get_table_description(cursor, Item._meta.db_table)
        }


def test_every_item_keeps_its_resolution_through_the_migration_that_stores_it(world: World) -> None:
    batch = world.batch(size=5, overlap=2, name="Types")
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    adjudicating.resolve_batch(batch=batch, now=NOON)
    untouched = Item.objects.filter(batch=batch, resolution="").order_by("pk").values_list("pk", flat=True)
    reader = querysets.reader(Actor(world.mara), world.project)
    acting.act(reader, "exclude", [untouched[0]], note="Torn", now=NOON)
    before = dict(Item.objects.values_list("pk", "resolution"))
    assert set(before.values()) == {"", "adjudication", "accepted", "excluded"}

    call_command("migrate", "annotation", "0029", verbosity=0)
    assert "resolution" not in columns()
    call_command("migrate", "annotation", verbosity=0)

    assert dict(Item.objects.values_list("pk", "resolution")) == before
