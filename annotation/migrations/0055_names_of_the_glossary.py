"""Name tables, columns, constraints, indexes and triggers as the code does: place -> slot, telling -> impression.

Names alone change. No row is written, and on PostgreSQL no table is read: Django would check the foreign keys anew. On
SQLite the tables with constraints of other names are made anew, because it cannot rename a constraint.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q


def _triggers(editor: Any, table: str) -> list[str]:
    """The statements that made a table's triggers (SQLite)."""
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [table])
        return [sql for (sql,) in cursor.fetchall()]


@contextmanager
def _made_anew(editor: Any, table: str) -> Iterator[None]:
    """Give a table that SQLite makes anew its triggers back, and its last key: no key is given twice."""
    triggers = _triggers(editor, table)
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        keys = cursor.fetchall()
    yield
    for sql in triggers:
        editor.execute(sql, params=None)
    for (key,) in keys:
        editor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
        editor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, key])


def _named(constraint: Any, name: str) -> Any:
    """The same constraint or index under a name."""
    renamed = copy(constraint)
    renamed.name = name
    return renamed


class RenameModel(migrations.RenameModel):
    """Rename the table and its triggers. A foreign key follows by itself."""

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        """On SQLite the triggers are made anew: they name the table in what they say."""
        before = from_state.apps.get_model(app_label, self.old_name)._meta.db_table
        after = to_state.apps.get_model(app_label, self.new_name)._meta.db_table
        if editor.connection.vendor == "postgresql":
            with editor.connection.cursor() as cursor:
                cursor.execute(
                    "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal",
                    [before],
                )
                triggers = [name for (name,) in cursor.fetchall()]
            editor.execute(f"ALTER TABLE {before} RENAME TO {after}")
            for name in triggers:
                editor.execute(f"ALTER TRIGGER {name} ON {after} RENAME TO {name.replace(before, after)}")
            return
        triggers = _triggers(editor, before)
        for kind in ("immutable", "undeletable", "irreplaceable"):
            editor.execute(f"DROP TRIGGER IF EXISTS {before}_{kind}")
        editor.execute(f"ALTER TABLE {before} RENAME TO {after}")
        for sql in triggers:
            editor.execute(sql.replace(before, after), params=None)


class RenameField(migrations.RenameField):
    """Rename the column. Constraints, indexes and triggers follow by themselves."""

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        self._rename(app_label, editor, from_state, to_state, self.old_name, self.new_name)

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        self._rename(app_label, editor, from_state, to_state, self.new_name, self.old_name)

    def _rename(
        self, app_label: str, editor: Any, from_state: Any, to_state: Any, before: str, after: str
    ) -> None:
        old = from_state.apps.get_model(app_label, self.model_name)._meta
        new = to_state.apps.get_model(app_label, self.model_name)._meta
        editor.execute(
            f"ALTER TABLE {new.db_table} RENAME COLUMN {old.get_field(before).column} "
            f"TO {new.get_field(after).column}"
        )


class ReplaceConstraint(migrations.operations.base.Operation):
    """A constraint with another name, or with the new names of its columns. It is the same constraint."""

    reversible = True

    def __init__(self, model_name: str, before: Any, after: Any) -> None:
        self.model_name, self.before, self.after = model_name, before, after

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.remove_constraint(app_label, self.model_name, self.before.name)
        state.add_constraint(app_label, self.model_name, self.after)

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        self._rename(editor, to_state.apps.get_model(app_label, self.model_name), self.before, self.after)

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        self._rename(editor, model, self.after, _named(self.after, self.before.name))

    def describe(self) -> str:
        return f"Rename constraint {self.before.name} to {self.after.name}"

    def _rename(self, editor: Any, model: Any, before: Any, after: Any) -> None:
        """`after` names the columns that the model has now."""
        if before.name == after.name:
            return
        table, own = model._meta.db_table, model._meta.constraints
        is_index = getattr(before, "condition", None) is not None and isinstance(
            before, models.UniqueConstraint
        )
        if editor.connection.vendor == "postgresql":
            if is_index:
                editor.execute(f"ALTER INDEX {before.name} RENAME TO {after.name}")
            else:
                editor.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {before.name} TO {after.name}")
        elif is_index:
            editor.execute(f"DROP INDEX {before.name}")
            editor.add_constraint(model, after)
        else:
            model._meta.constraints = [after if one.name == before.name else one for one in own]
            with _made_anew(editor, table):
                editor.add_constraint(model, after)  # with all the others
            model._meta.constraints = own


class ReplaceIndex(migrations.operations.base.Operation):
    """The same for an index."""

    reversible = True

    def __init__(self, model_name: str, before: models.Index, after: models.Index) -> None:
        self.model_name, self.before, self.after = model_name, before, after

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.remove_index(app_label, self.model_name, self.before.name)
        state.add_index(app_label, self.model_name, self.after)

    def database_forwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        self._rename(editor, to_state.apps.get_model(app_label, self.model_name), self.before, self.after)

    def database_backwards(self, app_label: str, editor: Any, from_state: Any, to_state: Any) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        self._rename(editor, model, self.after, _named(self.after, self.before.name))

    def describe(self) -> str:
        return f"Rename index {self.before.name} to {self.after.name}"

    def _rename(self, editor: Any, model: Any, before: Any, after: Any) -> None:
        if editor.connection.vendor == "postgresql":
            editor.execute(f"ALTER INDEX {before.name} RENAME TO {after.name}")
        else:
            editor.execute(f"DROP INDEX {before.name}")
            editor.add_index(model, after)


def _unique(*fields: str, name: str, condition: Q | None = None) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=fields, name=name, condition=condition)


def _check(condition: Any, name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=condition, name=name)


LIVE = Q(state__in=["leased", "submitted"])
NOT_NEGATIVE = Q(leased__gte=0, submitted__gte=0, skipped__gte=0, returned__gte=0)
BY_MACHINES = ["machine", "machine_edited"]
CASCADE, PROTECT = django.db.models.deletion.CASCADE, django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    dependencies = [("annotation", "0054_moved_job_task")]

    operations = [
        RenameModel("Place", "Slot"),
        RenameModel("Tally", "PersonBatchCounts"),
        RenameModel("Telling", "ProposalImpression"),
        RenameModel("Handling", "ProposalReaction"),
        RenameModel("SentBack", "RevisionRequest"),
        RenameModel("PracticeDone", "PracticeResult"),
        RenameField("batch", "places_count", "slots_count"),
        RenameField("item", "places_count", "slots_count"),
        RenameField("assignment", "place", "slot"),
        RenameField("assignment", "said", "response_fingerprint"),
        RenameField("stagedlabel", "said", "response_fingerprint"),
        RenameField("slot", "taken", "is_taken"),
        RenameField("proposalimpression", "told_at", "shown_at"),
        RenameField("proposalreaction", "telling", "impression"),
        RenameField("provenance", "telling", "impression"),
        # Names in Python: no column.
        migrations.AlterModelOptions("revisionrequest", {}),
        migrations.AlterField(
            "slot", "batch", models.ForeignKey(on_delete=PROTECT, related_name="slots", to="annotation.batch")
        ),
        migrations.AlterField(
            "slot",
            "item",
            models.ForeignKey(db_index=False, on_delete=CASCADE, related_name="slots", to="annotation.item"),
        ),
        migrations.AlterField(
            "personbatchcounts",
            "batch",
            models.ForeignKey(
                db_index=False, on_delete=CASCADE, related_name="person_counts", to="annotation.batch"
            ),
        ),
        migrations.AlterField(
            "proposalimpression",
            "assignment",
            models.ForeignKey(on_delete=PROTECT, related_name="impressions", to="annotation.assignment"),
        ),
        migrations.AlterField(
            "proposalimpression",
            "proposal",
            models.ForeignKey(on_delete=PROTECT, related_name="impressions", to="annotation.proposal"),
        ),
        migrations.AlterField(
            "proposalreaction",
            "impression",
            models.ForeignKey(
                on_delete=PROTECT, related_name="reactions", to="annotation.proposalimpression"
            ),
        ),
        # Before the constraints, with which SQLite makes tables anew.
        ReplaceIndex(
            "slot",
            models.Index(fields=["batch", "position", "number"], name="place_free", condition=Q(taken=False)),
            models.Index(
                fields=["batch", "position", "number"], name="slot_free", condition=Q(is_taken=False)
            ),
        ),
        ReplaceIndex(
            "slot",
            models.Index(fields=["reserved_for"], name="place_kept", condition=Q(reserved_for__isnull=False)),
            models.Index(
                fields=["reserved_for"], name="slot_reserved", condition=Q(reserved_for__isnull=False)
            ),
        ),
        ReplaceIndex(
            "slot",
            models.Index(fields=["batch"], name="place_added", condition=Q(added=True)),
            models.Index(fields=["batch"], name="slot_added", condition=Q(added=True)),
        ),
        ReplaceConstraint(
            "item",
            _check(Q(submitted_count__lte=F("places_count")), "never_beyond_the_places"),
            _check(Q(submitted_count__lte=F("slots_count")), "never_beyond_the_slots"),
        ),
        ReplaceConstraint(
            "assignment",
            _unique("place", condition=LIVE, name="one_live_assignment_per_place"),
            _unique("slot", condition=LIVE, name="one_live_assignment_per_slot"),
        ),
        ReplaceConstraint(
            "slot",
            _unique("item", "number", name="one_place_per_number"),
            _unique("item", "number", name="one_slot_per_number"),
        ),
        ReplaceConstraint(
            "personbatchcounts",
            _unique("batch", "person", name="one_tally_per_person"),
            _unique("batch", "person", name="one_row_of_counts_per_person"),
        ),
        ReplaceConstraint(
            "personbatchcounts",
            _check(NOT_NEGATIVE, "no_negative_tally"),
            _check(NOT_NEGATIVE, "no_negative_person_counts"),
        ),
        ReplaceConstraint(
            "proposalimpression",
            _unique("assignment", "proposal", name="told_once"),
            _unique("assignment", "proposal", name="shown_once"),
        ),
        ReplaceConstraint(
            "proposalimpression",
            _unique("assignment", "number", name="one_proposal_at_a_place"),
            _unique("assignment", "number", name="one_proposal_at_a_position"),
        ),
        ReplaceConstraint(
            "provenance",
            _check(
                Q(origin="human", telling__isnull=True)
                | Q(origin__in=BY_MACHINES, telling__isnull=False, helped=True),
                "a_machine_has_its_proposal",
            ),
            _check(
                Q(origin="human", impression__isnull=True)
                | Q(origin__in=BY_MACHINES, impression__isnull=False, helped=True),
                "a_machine_has_its_proposal",
            ),
        ),
    ]
