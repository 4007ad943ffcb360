"""Tables, columns, constraints and triggers that have other names than before: with the rows of before."""

from __future__ import annotations

from contextlib import suppress
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
from annotation.models import Assignment, Event, PracticeResult, ProposalImpression, ProposalReaction, Slot
from annotation.platform import immutable_rows
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

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """With proposals that somebody was shown, used and rejected, and a submission."""
    world = make_world(tmp_path)
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


def migrate(*names: str) -> None:
    call_command("migrate", "annotation", *names, verbosity=0)


def before_the_renaming() -> None:
    migrate(MIGRATION.Migration.dependencies[0][1])


def refuses(sql: str) -> bool:
    with suppress(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SET CONSTRAINTS ALL IMMEDIATE"
            )  # else what is still to be checked refuses by itself
        cursor.execute(sql)
        return False
    return True


def test_rows_triggers_and_constraints_are_the_same_under_the_new_names(world: World) -> None:
    counted = {new: rows(f"SELECT * FROM {new}") for new in RENAMED.values()}
    catalogue = rows(CATALOGUE)
    try:
        before_the_renaming()
        former_rows = {new: rows(f"SELECT * FROM {old}") for old, new in RENAMED.items()}
        former_catalogue = rows(CATALOGUE)
        refused = [
            refuses(sql.format(table))
            for table in ("annotation_telling", "annotation_handling")
            for sql in REFUSED
        ]
    finally:
        migrate()

    assert former_rows == counted
    assert all(refused)
    assert len(former_catalogue) == len(catalogue)
    assert {name for _, name in former_catalogue} >= {
        "told_once",
        "one_live_assignment_per_place",
        "place_free",
    } - (set() if connection.vendor == "postgresql" else {"told_once"})
    assert {new: rows(f"SELECT * FROM {new}") for new in RENAMED.values()} == counted
    assert rows(CATALOGUE) == catalogue


def test_after_it_the_doctor_finds_nothing_and_immutable_tables_refuse_changes(world: World) -> None:
    try:
        before_the_renaming()
    finally:
        migrate()

    assert list(findings()) == []
    assert set(IMMUTABLE) <= set(immutable_rows.TABLES)
    for table in IMMUTABLE:
        for sql in REFUSED:
            with pytest.raises(DatabaseError, match=f"{table} is immutable"):
                raise_from(sql.format(table))
    with immutable_rows.writable():
        ProposalReaction.objects.all().delete()
    assert not ProposalReaction.objects.exists()


def raise_from(sql: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(sql)


def test_work_goes_on_after_it_and_every_constraint_still_holds(world: World) -> None:
    impression = ProposalImpression.objects.order_by("pk")[0]
    slot = Assignment.objects.get().slot
    try:
        before_the_renaming()
    finally:
        migrate()

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


def test_what_the_admin_noted_about_a_row_follows_its_table(world: World) -> None:
    types = ContentType.objects.filter(app_label="annotation")
    keys = dict(types.values_list("model", "pk"))
    try:
        before_the_renaming()
        former = dict(types.values_list("model", "pk"))
    finally:
        migrate()

    for old, new in RENAMED.items():
        assert former[old.removeprefix("annotation_")] == keys[new.removeprefix("annotation_")]
    assert dict(types.values_list("model", "pk")) == keys


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
