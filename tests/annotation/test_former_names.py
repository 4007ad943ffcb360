"""Tables, columns, constraints and triggers that have other names than before: with the rows of before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from annotation.access import audit_log
from annotation.assistance import impressions
from annotation.management.doctor import findings
from annotation.models import (
    Assignment,
    Event,
    Person,
    PracticeResult,
    Project,
    ProposalImpression,
    ProposalReaction,
    Slot,
    Source,
)
from annotation.platform import immutable_rows
from tests import template_database
from tests.annotation.cast import NOON, World, make_world

MIGRATION: Any = import_module("annotation.migrations.0055_names_of_the_glossary")
RENAMED = {
    "annotation_place": "annotation_slot",
    "annotation_tally": "annotation_personbatchcounts",
    "annotation_telling": "annotation_proposalimpression",
    "annotation_handling": "annotation_proposalreaction",
    "annotation_sentback": "annotation_revisionrequest",
    "annotation_practicedone": "annotation_practiceresult",
}
IMMUTABLE = ["annotation_proposalimpression", "annotation_proposalreaction", "annotation_provenance"]
REFUSED = ["UPDATE {} SET id = id", "DELETE FROM {}"]
if connection.vendor == "postgresql":
    REFUSED.append("TRUNCATE {} CASCADE")
CATALOGUE = (
    "SELECT 'trigger', tgname FROM pg_trigger WHERE NOT tgisinternal UNION "
    "SELECT 'index', indexname FROM pg_indexes WHERE schemaname = 'public' UNION "
    "SELECT 'constraint', conname FROM pg_constraint WHERE contype IN ('c', 'u')"
    if connection.vendor == "postgresql"
    else "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'index')"
)

pytestmark = [pytest.mark.both, pytest.mark.django_db]


@dataclass(frozen=True)
class RenamedTwice:
    """What the database held before, under the former names, and after the way back."""

    world: World
    counted: dict[str, list[Any]]
    """Rows by the new name of their table."""
    former_rows: dict[str, list[Any]]
    catalogue: list[Any]
    new_catalogue: list[Any]
    """Just after the migration of the names, without later ones."""
    former_catalogue: list[Any]
    models: dict[str, int]
    """Keys of content types by model."""
    former_models: dict[str, int]
    refused: list[bool]
    """Whether immutable tables refused each change under their former names."""


@pytest.fixture(scope="module")
def renamed(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RenamedTwice]:
    """A world that went to the former names and back, once: migrating costs seconds. Tests change it in transactions."""
    with django_db_blocker.unblock():
        try:
            world = worked_in(tmp_path_factory.mktemp("world"))
            counted = {new: rows(f"SELECT * FROM {new}") for new in RENAMED.values()}
            catalogue, models = rows(CATALOGUE), content_types()
            try:
                migrate(MIGRATION.__name__.rpartition(".")[2])
                new_catalogue = rows(CATALOGUE)
                migrate(MIGRATION.Migration.dependencies[0][1])
                former_rows = {new: rows(f"SELECT * FROM {old}") for old, new in RENAMED.items()}
                former_catalogue, former_models = rows(CATALOGUE), content_types()
                refused = [
                    refuses(sql.format(table))
                    for table in ("annotation_telling", "annotation_handling")
                    for sql in REFUSED
                ]
            finally:
                migrate()
            yield RenamedTwice(
                world,
                counted,
                former_rows,
                catalogue,
                new_catalogue,
                former_catalogue,
                models,
                former_models,
                refused,
            )
        finally:
            template_database.empty()


@pytest.fixture
def world(renamed: RenamedTwice) -> World:
    """The world, with objects of the test's own."""
    people = {person.name.lower(): person for person in Person.objects.all()}
    return World(Project.objects.get(), Source.objects.get(), people)


def worked_in(folder: Path) -> World:
    """With proposals that somebody was shown, used and rejected, and a submission."""
    world = make_world(folder)
    batch = world.batch("question_paraphrase", variant="sentence", help="offered", help_from={"rules": True})
    assignment = world.take(batch, "ada")
    assert assignment is not None
    first, *_ = impressions.show_proposals(assignment=assignment, now=NOON)
    react = {"assignment": assignment, "proposal": first["id"], "now": NOON}
    impressions.record_reaction(act="rejected", errors=["invented"], **react)
    impressions.record_reaction(act="took", **react)
    world.answer(assignment, first["data"])
    return world


def rows(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return sorted(cursor.fetchall(), key=repr)


def content_types() -> dict[str, int]:
    return dict(ContentType.objects.filter(app_label="annotation").values_list("model", "pk"))


def migrate(*names: str) -> None:
    call_command("migrate", "annotation", *names, verbosity=0)


def refuses(sql: str) -> bool:
    with suppress(DatabaseError):
        raise_from(sql)
        return False
    return True


def raise_from(sql: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Else what is still to be checked refuses by itself.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(sql)


def test_rows_triggers_and_constraints_are_the_same_under_the_new_names(renamed: RenamedTwice) -> None:
    assert renamed.former_rows == renamed.counted
    assert all(
        renamed.counted[f"annotation_{name}"] for name in ("slot", "proposalimpression", "proposalreaction")
    )
    assert len(renamed.refused) == 2 * len(REFUSED)
    assert all(renamed.refused)
    assert len(renamed.former_catalogue) == len(renamed.new_catalogue)
    assert {name for _, name in renamed.former_catalogue} >= {
        "told_once",
        "one_live_assignment_per_place",
        "place_free",
    } - (set() if connection.vendor == "postgresql" else {"told_once"})
    assert {new: rows(f"SELECT * FROM {new}") for new in RENAMED.values()} == renamed.counted
    assert rows(CATALOGUE) == renamed.catalogue


def test_after_it_the_doctor_finds_nothing_and_immutable_tables_refuse_changes(world: World) -> None:
    assert list(findings()) == []
    assert set(IMMUTABLE) <= set(immutable_rows.TABLES)
    for table in IMMUTABLE:
        for sql in REFUSED:
            with pytest.raises(DatabaseError, match=f"{table} is immutable"):
                raise_from(sql.format(table))
    with immutable_rows.writable():
        ProposalReaction.objects.all().delete()
    assert not ProposalReaction.objects.exists()


def test_work_goes_on_after_it_and_every_constraint_still_holds(world: World) -> None:
    impression = ProposalImpression.objects.order_by("pk")[0]
    slot = Assignment.objects.get().slot

    assert refuses(f"UPDATE annotation_item SET submitted_count = slots_count + 1 WHERE id = {slot.item_id}")
    assert refuses("UPDATE annotation_personbatchcounts SET leased = -1")
    copied = "batch_id, item_id, number, added, position, is_taken"
    assert refuses(f"INSERT INTO annotation_slot ({copied}) SELECT {copied} FROM annotation_slot")
    again = ProposalImpression(
        assignment_id=impression.assignment_id, proposal_id=impression.proposal_id, number=90, shown_at=NOON
    )
    ProposalImpression.objects.bulk_create([again], ignore_conflicts=True)
    assert not ProposalImpression.objects.filter(number=90).exists()
    batch = Slot.objects.get(pk=slot.pk).batch
    assignment = world.take(batch, "bo")
    assert assignment is not None
    world.answer(assignment, {"question": "the year in question?", "category": "general"})
    assert list(findings()) == []


def test_what_the_admin_noted_about_a_row_follows_its_table(renamed: RenamedTwice) -> None:
    for old, new in RENAMED.items():
        former = renamed.former_models[old.removeprefix("annotation_")]
        assert former == renamed.models[new.removeprefix("annotation_")]
    assert content_types() == renamed.models


def test_the_log_keeps_the_former_names(world: World) -> None:
    result = PracticeResult.objects.create(
        project=world.project, person=world.ada, task_type="question_type", right=3, judged=4, done_at=NOON
    )
    for row in (result, Slot.objects.order_by("pk")[0]):
        audit_log.log(row, "", "done", by=world.ada, now=NOON)
    assert list(Event.objects.filter(after="done").order_by("pk").values_list("thing", flat=True)) == [
        "practicedone",
        "place",
    ]
