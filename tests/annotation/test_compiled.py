"""Statements that are made once give what the queries give of which they were made, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import (
    DEFAULT_DB_ALIAS,
    IntegrityError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.models import F, Subquery, Value
from django.db.models.functions import Coalesce

from annotation.models import Event, Example, Person, Project, StoredTable
from annotation.models.sources import CELLS_CACHED
from annotation.platform import immutable_rows
from annotation.platform.prepared_statements import (
    Insert,
    LastKey,
    Select,
    Update,
    param_int,
    param_text,
    param_time,
    pipeline,
)
from tableqa import Table

pytestmark = [pytest.mark.django_db, pytest.mark.both]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def events(project: Project) -> list[Event]:
    person = Person.objects.create(name="Ada", email="ada@example.org")
    return [
        Event.objects.create(
            project=project,
            actor=person,
            thing="item",
            thing_id=n,
            after="open",
            at=NOON + timedelta(hours=n),
        )
        for n in range(3)
    ]


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="tilted", name="Tilted")


def test_a_query_gives_models_with_what_they_are_joined_to_and_their_annotations(project: Project) -> None:
    made = events(project)
    later = Select(
        lambda: (
            Event.objects.select_related("project", "actor")
            .filter(thing=param_text("thing"), thing_id__gte=param_int("least"), at__lt=param_time("end"))
            .annotate(next=F("thing_id") + 1)
            .order_by("pk")
        )
    )
    for least in (0, 1, 0, 2, 0, 1, 0):  # often enough that PostgreSQL settles on a plan for good
        found = later(thing="item", least=least, end=NOON + timedelta(hours=2))
        assert found == [event for event in made if least <= event.thing_id < 2]
        assert [event.next for event in found] == [event.thing_id + 1 for event in found]
    with CaptureNothing():
        assert {event.project.slug for event in found} | {event.actor.name for event in found} <= {
            "tilted",
            "Ada",
        }
    assert found[0].at == made[0].at
    assert later.first(thing="place", least=0, end=NOON) is None


def test_a_query_for_values_gives_tuples_in_the_order_asked_for(project: Project) -> None:
    events(project)
    values = Select(
        lambda: (
            Event.objects.filter(project_id=param_int("project")).order_by("-pk").values_list("at", "thing")
        )
    )
    assert values(project=project.pk)[0] == (NOON + timedelta(hours=2), "item")


def test_what_looks_like_a_place_is_a_value_like_any_other(project: Project) -> None:
    events(project)
    named = Select(lambda: Event.objects.filter(thing=param_text("thing")))
    assert named(thing="%s $1 ' \" ; -- \ue000thing") == []


def test_a_forgotten_or_a_misspelt_value_is_said() -> None:
    found = Select(lambda: Event.objects.filter(thing=param_text("thing"), thing_id=param_int("id")))
    with pytest.raises(TypeError, match=r"wants \['id', 'thing'\], was given \['thing'\]"):
        found(thing="item")
    with pytest.raises(TypeError, match="was given"):
        found(thing="item", id=1, idd=2)


def test_an_update_says_what_has_changed(project: Project) -> None:
    made = events(project)
    put_off = Update(
        lambda: Event.objects.filter(thing_id__gte=param_int("least")),
        returning=("pk", "thing_id"),
        thing_id=F("thing_id") + param_int("by"),
        at=param_time("at"),
    )
    with immutable_rows.writable():
        assert sorted(put_off(least=1, by=10, at=NOON)) == [(made[1].pk, 11), (made[2].pk, 12)]
        assert put_off(least=100, by=1, at=NOON) == []
    made[2].refresh_from_db()
    assert (made[2].thing_id, made[2].at) == (12, NOON)


def test_a_row_is_added_with_the_defaults_of_its_model(project: Project) -> None:
    add = Insert(Event)
    given: dict[str, Any] = {
        "project_id": project.pk,
        "thing": "item",
        "thing_id": 7,
        "after": "open",
        "at": NOON,
    }
    one, other = add(**given), add(**given, before="planned")
    assert other.pk > one.pk
    assert Event.objects.filter(pk=one.pk, before="", actor=None).exists()
    assert Event.objects.get(pk=other.pk).before == "planned"
    one.after = "closed"
    with immutable_rows.writable():
        one.save()
    assert Event.objects.count() == 2


def test_the_database_works_out_a_field_and_says_what_it_came_to(project: Project) -> None:
    newest = Event.objects.filter(thing=param_text("kind")).order_by("-thing_id").values("thing_id")[:1]
    add = Insert(Event, returning=("thing_id",), thing_id=Coalesce(Subquery(newest), 100) + 1, at=Value(NOON))
    given = {"project_id": project.pk, "thing": "item", "after": "open"}
    assert [add(**given, kind="item").thing_id for _ in range(3)] == [101, 102, 103]
    assert add(**given, kind="other").thing_id == 101
    assert set(Event.objects.values_list("at", flat=True)) == {NOON}


def test_a_row_without_what_its_model_needs_is_refused(project: Project) -> None:
    with pytest.raises(TypeError, match="Event wants project_id"):
        Insert(Event)(thing="item", thing_id=7, after="open", at=NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        Insert(Project)(slug="tilted", name="The same again", created_at=NOON)


def test_a_statement_outlives_a_transaction_that_is_undone(project: Project) -> None:
    events(project)
    found = Select(lambda: Event.objects.filter(thing=param_text("thing")))
    with transaction.atomic():
        first = found(thing="item")
        transaction.set_rollback(True)
    assert found(thing="item") == first


def test_several_go_together_in_their_order_and_the_last_one_answers(project: Project) -> None:
    add = Insert(Event)
    begin, of_last = Insert(Project), Insert(Event, thing_id=LastKey(Project))
    rename = Update(lambda: Event.objects.filter(thing=param_text("thing"), after="open"), after="closed")
    found = Select(lambda: Event.objects.filter(thing=param_text("thing")).order_by("pk"))
    given: dict[str, Any] = {"project_id": project.pk, "thing": "item", "after": "open", "at": NOON}
    for slug in ("first", "second"):  # the statements are known the second time
        with immutable_rows.writable():
            Event.objects.all().delete()
            first, second, third = pipeline(
                add.step(**given, thing_id=7),
                begin.step(slug=slug, name=slug, created_at=NOON),
                of_last.step(**given),
                rename.step(thing="item"),
                add.step(**given, thing_id=8),
                found.step(thing="item"),
            )
        assert [first.thing_id, second.thing_id, third.thing_id] == [7, Project.objects.get(slug=slug).pk, 8]
        assert [first.after, second.after, third.after] == ["closed", "closed", "open"]


def test_an_error_in_one_of_several_leaves_nothing_of_the_others(project: Project) -> None:
    add, double = Insert(Event), Insert(Project)
    given: dict[str, Any] = {"project_id": project.pk, "thing": "item", "after": "open", "at": NOON}
    with pytest.raises(IntegrityError), transaction.atomic():
        pipeline(
            add.step(**given, thing_id=7),
            double.step(slug="tilted", name="The same again", created_at=NOON),
            add.step(**given, thing_id=8),
        )
    assert not Event.objects.exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="poolers are PostgreSQL's")
def test_behind_a_pooler_several_go_together_too(project: Project) -> None:
    add = Insert(Event)
    given: dict[str, Any] = {"project_id": project.pk, "thing": "item", "after": "open", "at": NOON}
    connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] = True
    try:
        with transaction.atomic():
            pipeline(add.step(**given, thing_id=7), add.step(**given, thing_id=8))
    finally:
        connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] = False
    assert Event.objects.count() == 2


@pytest.mark.skipif(connection.vendor != "postgresql", reason="poolers are PostgreSQL's")
def test_behind_a_pooler_nothing_is_prepared(project: Project, settings: Any) -> None:
    events(project)
    found = Select(lambda: Event.objects.filter(thing=param_text("thing")))
    before = prepared()
    connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] = True
    try:
        assert len(found(thing="item")) == 3
        assert prepared() == before
    finally:
        connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] = False
    assert len(found(thing="item")) == 3
    assert prepared() == before + 1


def prepared() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        return int(cursor.fetchone()[0])


class CaptureNothing:
    """No query within."""

    def __enter__(self) -> None:
        from django.test.utils import CaptureQueriesContext

        self.captured = CaptureQueriesContext(connection)
        self.captured.__enter__()

    def __exit__(self, *problem: Any) -> None:
        self.captured.__exit__(*problem)
        assert len(self.captured) == 0


def test_tables_are_cached_unless_they_are_too_large() -> None:
    rows = {"few rows": 2, "many rows": CELLS_CACHED // 8}
    read: list[str] = []

    def read_table(stored: StoredTable) -> Table:
        read.append(stored.digest)
        return Table(["a"], [["1"]] * rows[stored.digest])

    with patch.object(StoredTable, "table", read_table):
        for digest in [*rows, *rows]:
            example = Example(table_digest=digest, stored_table=StoredTable(digest=digest))
            assert example.table().shape == (rows[digest], 1)

    assert read == ["few rows", "many rows", "many rows"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's connection is a file")
@pytest.mark.django_db(transaction=True)
def test_a_request_that_finds_the_connection_dead_asks_again_on_a_new_one() -> None:
    Project.objects.create(slug="tilted", name="Tilted")
    found = Select(lambda: Project.objects.filter(slug=param_text("slug")))
    assert len(found(slug="tilted")) == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (dead,) = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [dead])
    other.close()
    unsure()
    assert len(found(slug="tilted")) == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert cursor.fetchone() != (dead,)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's connection is a file")
@pytest.mark.django_db(transaction=True)
def test_what_is_wrong_with_the_statement_itself_is_said_once() -> None:
    found = Select(lambda: Project.objects.filter(slug=param_text("slug")))
    unsure()
    tried: list[str] = []

    def too_late(execute: Any, sql: str, *more: Any) -> Any:
        tried.append(sql)
        raise OperationalError("canceling statement due to statement timeout")

    with connection.execute_wrapper(too_late), pytest.raises(OperationalError, match="statement timeout"):
        found(slug="tilted")
    assert len(tried) == 1


def unsure() -> None:
    """As at the beginning of a request."""
    here: Any = connections[DEFAULT_DB_ALIAS]
    here.health_check_enabled, here.health_check_done = True, False
