"""The whole schema. A database to which all the migrations that it replaces were applied counts as having it.

Besides the models: triggers that refuse changes of immutable rows (`annotation.platform.immutable_rows.writable` switches them off), and
statistics and indexes of PostgreSQL.
"""

from __future__ import annotations

from typing import Any

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import annotation.platform.public_ids

UNIQUE = {
    "annotation_annotation": ["public_id", "event_id", "assignment_id, revision"],
    "annotation_decision": ["item_id", "event_id"],
    "annotation_event": [],
    "annotation_example": ["public_id", "source_id, external_id"],
    "annotation_handling": [],
    "annotation_outcome": ["public_id", "example_id", "decision_id, number"],
    "annotation_proposal": ["public_id"],
    "annotation_provenance": ["annotation_id"],
    "annotation_reply": ["item_id, maker, category, repetition"],
    "annotation_storedtable": [],
    "annotation_telling": [],
    "annotation_trial": ["proposal_id, model"],
    "annotation_verdict": [],
}
"""The immutable tables, with the columns that identify a row beside its key."""
KEPT = {
    "annotation_example": ["parent_id, perturbation, seed", "source_id, external_id, seed IS NOT NULL"],
    "annotation_proposal": ["item_id, maker, digest"],
    "annotation_storedtable": ["digest"],
    "annotation_telling": ["assignment_id, number", "assignment_id, proposal_id"],
}
"""The same for rows that are inserted with ON CONFLICT DO NOTHING, which leaves an existing row as it is."""
FUNCTION = (
    "CREATE FUNCTION askew_immutable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "IF current_setting('askew.writable', true) = 'on' THEN "
    "IF TG_OP = 'DELETE' THEN RETURN OLD; ELSIF TG_OP = 'UPDATE' THEN RETURN NEW; ELSE RETURN NULL; END IF; END IF; "
    "RAISE EXCEPTION '% is immutable', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation'; END $$"
)


def refuse_changes(apps: Any, editor: Any) -> None:
    """Refuse UPDATE and DELETE of immutable rows, TRUNCATE on PostgreSQL, and REPLACE on SQLite.

    REPLACE deletes the existing row without calling a trigger for deletions.
    """
    if editor.connection.vendor == "postgresql":
        editor.execute(FUNCTION, params=None)  # the % in it is not a parameter
        for table in UNIQUE:
            for name, event in (
                ("immutable", "UPDATE ON {} FOR EACH ROW"),
                ("undeletable", "DELETE ON {} FOR EACH ROW"),
                ("untruncatable", "TRUNCATE ON {} FOR EACH STATEMENT"),
            ):
                editor.execute(
                    f"CREATE TRIGGER {table}_{name} BEFORE {event.format(table)} EXECUTE FUNCTION askew_immutable()"
                )
        return
    # Only the writer sees a row in it: it is deleted before the transaction ends.
    editor.execute("CREATE TABLE askew_writable (id integer PRIMARY KEY)")
    for table in UNIQUE:
        refuse = f"RAISE(ABORT, '{table} is immutable')"
        for name, event, action in (
            ("immutable", "UPDATE", refuse),
            ("undeletable", "DELETE", refuse),
            ("irreplaceable", "INSERT", f"CASE {_cases(table, refuse)}END"),
        ):
            editor.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} "  # nosec B608
                f"WHEN NOT EXISTS (SELECT 1 FROM askew_writable) BEGIN SELECT {action}; END"
            )


def _cases(table: str, refuse: str) -> str:
    keys = [
        ("id", refuse),
        *((key, "RAISE(IGNORE)") for key in KEPT.get(table, [])),
        *((key, refuse) for key in UNIQUE[table]),
    ]
    return "".join(
        f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {_is_same(key)}) THEN {action} "  # nosec B608
        for key, action in keys
    )


def _is_same(columns: str) -> str:
    return " AND ".join(
        f"NEW.{column}" if " " in column else f"{column} = NEW.{column}" for column in columns.split(", ")
    )


def collect_statistics(apps: Any, editor: Any) -> None:
    """Let PostgreSQL count which kinds, names and values of response facts occur together, when it collects statistics.

    By default it takes them as independent: it expected a filter by verdict or condition to match 60 items where it matched
    13,000, and both the list and its counts took twice as long.
    """
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "CREATE STATISTICS response_facts_together (mcv) ON kind, name, value FROM annotation_responsefact"
        )


def drop_indexes_of_beginnings(apps: Any, editor: Any) -> None:
    """Drop the second index that unique texts have on PostgreSQL, for LIKE 'x%': no query searches beginnings of public IDs."""
    if editor.connection.vendor == "postgresql":
        # Django creates indexes after all operations.
        for name in (
            "annotation_public_id_0f44684d",
            "assignment_public_id_acce4559",
            "item_public_id_adc96074",
        ):
            editor.deferred_sql.append(f"DROP INDEX annotation_{name}_like")


class Migration(migrations.Migration):
    initial = True
    # The migrations of auth take longer with the models below.
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    replaces = [
        ("annotation", name)
        for name in (
            "0001_initial",
            "0002_immutable_rows",
            "0003_model_answers",
            "0004_mix_seed",
            "0005_waivers",
            "0006_automatic_perturbations",
            "0007_model_in_the_loop",
            "0008_help_in_crafting",
            "0009_running_a_study",
            "0010_kept_along",
            "0011_fewer_indexes",
            "0012_what_was_said",
            "0013_let_back_in",
            "0014_label_imports_in_pages",
            "0015_unmet_conditions",
            "0016_refuse_deletes",
            "0017_answers_read",
            "0018_refuse_replacing",
            "0019_messages",
            "0020_unsure",
            "0021_personal_settings",
            "0022_right_only",
            "0023_language_model_costs",
            "0024_adjudication_lane",
            "0025_reply_states",
            "0026_reply_triggers",
            "0027_more_formats",
            "0028_search_index",
            "0029_release_options",
            "0030_item_resolution",
            "0031_practice_spending",
            "0032_item_actions",
            "0033_flags_on_items",
            "0034_every_flag_has_an_item",
            "0035_saved_views",
            "0036_guideline_examples",
            "0037_task_type_definitions",
            "0038_upload_size",
            "0039_times_of_imported_labels",
            "0040_confirmed_verdicts",
            "0041_seconds_of_imported_labels",
            "0042_statistics_of_response_facts",
        )
    ]

    operations = [
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("email", models.EmailField(blank=True, max_length=254, null=True, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("time_zone", models.CharField(default="UTC", max_length=64)),
                ("session_epoch", models.PositiveIntegerField(default=0)),
                ("is_active", models.BooleanField(default=True)),
                ("is_administrator", models.BooleanField(default=False)),
                ("is_simulated", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("erased_at", models.DateTimeField(blank=True, null=True)),
                ("is_external", models.BooleanField(default=False)),
                ("let_back_in_at", models.DateTimeField(blank=True, null=True)),
                ("unread_answers", models.PositiveIntegerField(db_default=0, default=0, editable=False)),
                ("personal_settings", models.JSONField(db_default={}, default=dict, editable=False)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("revision", models.PositiveIntegerField()),
                ("response", models.JSONField(null=True)),
                ("active_seconds", models.FloatField(default=0)),
                ("made_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60, unique=True, validators=[django.core.validators.RegexValidator("^[a-z0-9][a-z0-9-]*$")])),
                ("name", models.CharField(max_length=120)),
                ("time_zone", models.CharField(default="UTC", max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("caps", models.JSONField(default=dict)),
                ("consent_number", models.PositiveIntegerField(default=0)),
                ("must_read", models.BooleanField(default=False)),
                ("pay", models.JSONField(default=dict)),
                ("statement", models.JSONField(default=dict)),
                ("model_budget", models.JSONField(db_default={}, default=dict)),
                ("release", models.JSONField(db_default={}, default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="StoredTable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("content", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="TaskTypeDefinition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40)),
                ("number", models.PositiveIntegerField()),
                ("data", models.JSONField()),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="task_type_definitions", to="annotation.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "name", "number"), name="one_definition_per_number")],
            },
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("task_type", models.CharField(max_length=60)),
                ("version", models.PositiveIntegerField()),
                ("variant", models.CharField(blank=True, max_length=60)),
                ("settings", models.JSONField(default=dict)),
                ("settings_digest", models.CharField(max_length=64)),
                ("overlap", models.PositiveSmallIntegerField()),
                ("seed", models.BigIntegerField(default=0)),
                ("items_count", models.PositiveIntegerField(default=0)),
                ("places_count", models.PositiveIntegerField(default=0)),
                ("made_at", models.DateTimeField()),
                ("opened_at", models.DateTimeField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                ("feeds_from", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="feeds", to="annotation.batch")),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="batches", to="annotation.project")),
                ("loop_model", models.CharField(blank=True, max_length=64)),
                ("loop_revision", models.CharField(blank=True, max_length=200)),
                ("help", models.CharField(blank=True, max_length=10)),
                ("help_from", models.JSONField(default=dict)),
                ("unhelped", models.PositiveSmallIntegerField(default=0)),
                ("caps", models.JSONField(default=dict)),
                ("feeds_when", models.JSONField(default=dict)),
                ("gold_feedback", models.BooleanField(default=False)),
                ("gold_percent", models.PositiveSmallIntegerField(default=0)),
                ("must_practise", models.BooleanField(default=False)),
                ("pass_percent", models.PositiveSmallIntegerField(default=0)),
                ("paused_at", models.DateTimeField(null=True)),
                ("pay", models.JSONField(default=dict)),
                ("purpose", models.CharField(choices=[("work", "Work"), ("qualification", "Qualification"), ("calibration", "Calibration")], default="work", max_length=15)),
                ("requires", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="required_by", to="annotation.batch")),
                ("resolve", models.JSONField(default=dict)),
                ("sampling", models.JSONField(default=dict)),
                ("set_aside_at", models.DateTimeField(null=True)),
                ("set_aside_because", models.CharField(blank=True, max_length=500)),
                ("strategy", models.CharField(default="open", max_length=15)),
                ("accepted_count", models.PositiveIntegerField(db_default=0, default=0)),
                ("excluded_count", models.PositiveIntegerField(db_default=0, default=0)),
                ("decide_at_close", models.BooleanField(db_default=False, default=False)),
                ("loop_right_only", models.BooleanField(db_default=False, default=False)),
                ("model_accuracy", models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict)),
                ("opens_when_drawn", models.BooleanField(db_default=False, default=False)),
                ("model_budget", models.JSONField(db_default={}, default=dict)),
                ("adjudication_reasons", models.JSONField(db_default=[], default=list)),
            ],
            options={
                "verbose_name_plural": "batches",
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="one_batch_per_name"),
                    models.CheckConstraint(condition=models.Q(("overlap__gte", 1)), name="overlap_at_least_one"),
                    models.CheckConstraint(condition=models.Q(("closed_at__isnull", True), ("opened_at__isnull", False), _connector="OR"), name="closed_after_opened"),
                    models.CheckConstraint(condition=models.Q(("help__in", ["", "offered", "filled"])), name="known_help"),
                    models.CheckConstraint(
                        condition=models.Q(("unhelped__lte", 90), models.Q(models.Q(("help", ""), _negated=True), models.Q(("help_from", {}), ("unhelped", 0)), _connector="OR")),
                        name="without_help_nothing_is_drawn",
                    ),
                    models.CheckConstraint(condition=models.Q(("purpose__in", ["work", "qualification", "calibration"])), name="known_batch_purpose"),
                    models.CheckConstraint(condition=models.Q(("strategy__in", ["open", "split", "everyone"])), name="known_strategy"),
                    models.CheckConstraint(condition=models.Q(("gold_percent__lte", 50), ("pass_percent__lte", 100)), name="percents_of_gold"),
                ],
            },
        ),
        # Separate: SQLite remakes the table for it, which moves keys to the same table to the end, as in older databases.
        migrations.AddField(
            model_name="batch",
            name="note_required",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="batch",
            name="definition",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="batches", to="annotation.tasktypedefinition"),
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("thing", models.CharField(max_length=20)),
                ("thing_id", models.BigIntegerField()),
                ("before", models.CharField(blank=True, max_length=20)),
                ("after", models.CharField(max_length=20)),
                ("at", models.DateTimeField()),
                ("actor", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="events", to="annotation.project")),
                ("detail", models.JSONField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["thing", "thing_id"], name="event_story"), models.Index(fields=["project", "at"], name="event_time")],
            },
        ),
        migrations.CreateModel(
            name="Guidelines",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task_type", models.CharField(max_length=60)),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="guidelines", to="annotation.project")),
                ("translations", models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
            ],
            options={
                "verbose_name_plural": "guidelines",
                "constraints": [models.UniqueConstraint(fields=("project", "task_type", "number"), name="one_guideline_per_number")],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("roles", models.JSONField(default=list)),
                ("pseudonym", models.CharField(default=annotation.platform.public_ids.new_pseudonym, max_length=20)),
                ("joined_at", models.DateTimeField(auto_now_add=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="memberships", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="memberships", to="annotation.project")),
                ("characteristics", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "person"), name="one_membership_per_person"),
                    models.UniqueConstraint(fields=("project", "pseudonym"), name="one_person_per_pseudonym"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("kind", models.CharField(max_length=40)),
                ("ids", models.JSONField(default=dict)),
                ("state", models.CharField(choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")], default="queued", max_length=10)),
                ("done", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("heartbeat", models.DateTimeField()),
                ("error", models.TextField(blank=True)),
                ("result", models.JSONField(default=dict)),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to="annotation.project")),
            ],
            options={
                "indexes": [models.Index(fields=["state", "heartbeat"], name="job_stale")],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("roles", models.JSONField(default=list)),
                ("name", models.CharField(blank=True, max_length=120)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("accepted_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("made_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="annotation.project")),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("name", models.CharField(max_length=80)),
                ("prefix", models.CharField(max_length=12)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("scopes", models.JSONField(default=list)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tokens", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tokens", to="annotation.project")),
            ],
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("name", models.CharField(max_length=80)),
                ("format", models.CharField(max_length=40)),
                ("watermark", models.BigIntegerField()),
                ("allow_simulated", models.BooleanField(default=False)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("manifest", models.JSONField(default=dict)),
                ("made_at", models.DateTimeField()),
                ("ready_at", models.DateTimeField(null=True)),
                ("job", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.job")),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="releases", to="annotation.project")),
                ("mix_seed", models.BigIntegerField(null=True)),
                ("waivers", models.JSONField(default=dict)),
                ("purpose", models.CharField(blank=True, choices=[("training", "Training"), ("evaluation", "Evaluation")], max_length=10)),
                ("more_formats", models.JSONField(db_default=[], default=list)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("ready_at__isnull", False)), fields=("project", "name"), name="one_release_per_name"),
                    models.CheckConstraint(condition=models.Q(("purpose__in", ["", "training", "evaluation"])), name="known_purpose"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("reader", models.CharField(max_length=40)),
                ("split", models.CharField(blank=True, max_length=40)),
                ("checksum", models.CharField(max_length=64)),
                ("licence", models.CharField(max_length=80)),
                ("citation", models.TextField(blank=True)),
                ("url", models.URLField(blank=True)),
                ("examples_count", models.PositiveIntegerField(default=0)),
                ("tables_count", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField()),
                ("ready_at", models.DateTimeField(null=True)),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="sources", to="annotation.project")),
                ("how", models.JSONField(default=dict)),
            ],
            options={
                "constraints": [models.UniqueConstraint(condition=models.Q(("ready_at__isnull", False)), fields=("project", "name", "checksum"), name="one_source_per_checksum")],
            },
        ),
        migrations.CreateModel(
            name="Example",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("external_id", models.CharField(max_length=400)),
                ("position", models.PositiveIntegerField()),
                ("question", models.TextField()),
                ("answers", models.JSONField(default=list)),
                ("operations", models.JSONField(default=list)),
                ("table_digest", models.CharField(max_length=64)),
                ("more", models.JSONField(default=dict)),
                ("perturbation", models.CharField(blank=True, max_length=80)),
                ("parent", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="derived", to="annotation.example")),
                ("source", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="examples", to="annotation.source")),
            ],
            options={
                "indexes": [models.Index(fields=["source", "position"], name="example_order")],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "external_id"), name="one_example_per_id"),
                    models.CheckConstraint(condition=models.Q(("parent__isnull", False), ("operations", []), _connector="OR"), name="originals_have_no_operations"),
                ],
            },
        ),
        # Separate: SQLite remakes the table for it, which moves keys to the same table to the end, as in older databases.
        migrations.AddField(
            model_name="example",
            name="stored_table",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="examples", to="annotation.storedtable"),
        ),
        migrations.AddField(
            model_name="example",
            name="seed",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddConstraint(
            model_name="example",
            constraint=models.UniqueConstraint(condition=models.Q(("seed__isnull", False)), fields=("parent", "perturbation", "seed"), name="one_automatic_example_per_seed"),
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("position", models.PositiveIntegerField()),
                ("inputs", models.JSONField(default=dict)),
                ("places_count", models.PositiveSmallIntegerField(default=0)),
                ("submitted_count", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(null=True)),
                ("batch", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="items", to="annotation.batch")),
                ("example", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="items", to="annotation.example")),
                ("is_gold", models.BooleanField(default=False)),
                (
                    "resolution",
                    models.CharField(
                        blank=True, choices=[("", "None"), ("adjudication", "Adjudication"), ("accepted", "Accepted"), ("excluded", "Excluded")], db_default="", default="", max_length=12
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="item_due"),
                    models.Index(condition=models.Q(("is_gold", True)), fields=["batch"], name="item_gold"),
                    models.Index(fields=["batch", "resolution", "position"], name="item_resolution"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "example"), name="one_item_per_example"),
                    models.UniqueConstraint(fields=("batch", "position"), name="one_item_per_position"),
                    models.CheckConstraint(condition=models.Q(("submitted_count__lte", models.F("places_count"))), name="never_beyond_the_places"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Exclusion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="exclusions", to="annotation.item")),
                ("read_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("item", "person"), name="one_exclusion_per_person")],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("accepted", "Accepted"), ("excluded", "Excluded")], max_length=10)),
                ("reason", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("event", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.event")),
                ("item", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="decision", to="annotation.item")),
                ("rule", models.JSONField(null=True)),
                ("listed_reason", models.CharField(max_length=120, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind", "accepted"), models.Q(("kind", "excluded"), models.Q(("reason", ""), _negated=True)), _connector="OR"), name="exclusion_has_a_reason"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Adjudication",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                ("asked_at", models.DateTimeField()),
                ("item", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="adjudication", to="annotation.item")),
                ("weight", models.FloatField(default=0)),
                ("asked_by", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name="Outcome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("number", models.PositiveSmallIntegerField()),
                ("response", models.JSONField()),
                ("annotations", models.ManyToManyField(related_name="outcomes", to="annotation.annotation")),
                ("decision", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="outcomes", to="annotation.decision")),
                ("example", models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="outcome", to="annotation.example")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("decision", "number"), name="one_outcome_per_number")],
            },
        ),
        migrations.CreateModel(
            name="Place",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                ("added", models.BooleanField(default=False)),
                ("position", models.PositiveIntegerField()),
                ("taken", models.BooleanField(default=False)),
                ("batch", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="places", to="annotation.batch")),
                ("item", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="places", to="annotation.item")),
                ("reserved_for", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("taken", False)), fields=["batch", "position", "number"], name="place_free"),
                    models.Index(condition=models.Q(("added", True)), fields=["batch"], name="place_added"),
                    models.Index(condition=models.Q(("reserved_for__isnull", False)), fields=["reserved_for"], name="place_kept"),
                ],
                "constraints": [models.UniqueConstraint(fields=("item", "number"), name="one_place_per_number")],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("state", models.CharField(choices=[("leased", "Leased"), ("submitted", "Submitted"), ("skipped", "Skipped"), ("returned", "Returned")], default="leased", max_length=10)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("leased_at", models.DateTimeField()),
                ("leased_until", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("active_seconds", models.FloatField(default=0)),
                ("ended_at", models.DateTimeField(null=True)),
                ("annotation", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.annotation")),
                ("person", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to=settings.AUTH_USER_MODEL)),
                ("batch", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="annotation.batch")),
                ("item", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="annotation.item")),
                ("place", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="annotation.place")),
                ("said", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["person", "batch", "state"], name="assignment_mine"),
                    models.Index(condition=models.Q(("state", "leased")), fields=["batch", "leased_until"], name="assignment_lease"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("item", "person"), name="one_assignment_per_person"),
                    models.UniqueConstraint(condition=models.Q(("state__in", ["leased", "submitted"])), fields=("place",), name="one_live_assignment_per_place"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["leased", "submitted", "skipped", "returned"])), name="known_assignment_state"),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "submitted"), _negated=True), ("annotation__isnull", False), _connector="OR"), name="submitted_has_an_annotation"),
                ],
            },
        ),
        # Responses and assignments refer to each other.
        migrations.AddField(
            model_name="annotation",
            name="assignment",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="annotations", to="annotation.assignment"),
        ),
        migrations.AddField(
            model_name="annotation",
            name="event",
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.event"),
        ),
        migrations.AddField(
            model_name="annotation",
            name="guidelines",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.guidelines"),
        ),
        migrations.AddField(
            model_name="annotation",
            name="unmet",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="annotation",
            name="unsure",
            field=models.BooleanField(null=True),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.UniqueConstraint(fields=("assignment", "revision"), name="one_annotation_per_revision"),
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField(default=0)),
                ("response", models.JSONField(default=dict)),
                ("saved_at", models.DateTimeField()),
                ("assignment", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="draft", to="annotation.assignment")),
            ],
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("note", models.CharField(max_length=2000)),
                ("made_at", models.DateTimeField()),
                ("assignment", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="flags", to="annotation.assignment")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="flags", to="annotation.item")),
                ("made_by", models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("assignment__isnull", True), ("made_by__isnull", False)), models.Q(("assignment__isnull", False), ("made_by__isnull", True)), _connector="OR"),
                        name="flagged_by_one_person",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("leased", models.IntegerField(default=0)),
                ("submitted", models.IntegerField(default=0)),
                ("skipped", models.IntegerField(default=0)),
                ("returned", models.IntegerField(default=0)),
                ("cursor", models.PositiveIntegerField(default=0)),
                ("batch", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="tallies", to="annotation.batch")),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "person"), name="one_tally_per_person"),
                    models.CheckConstraint(condition=models.Q(("leased__gte", 0), ("returned__gte", 0), ("skipped__gte", 0), ("submitted__gte", 0)), name="no_negative_tally"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("file", models.FileField(upload_to="uploads/")),
                ("name", models.CharField(max_length=255)),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="uploads", to="annotation.project")),
                ("size", models.PositiveBigIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="ModelAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("purpose", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=200)),
                ("data", models.JSONField()),
                ("made_at", models.DateTimeField()),
                ("example", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="model_answers", to="annotation.example")),
            ],
            options={
                "indexes": [models.Index(fields=["example", "purpose"], name="model_answers_of")],
            },
        ),
        migrations.CreateModel(
            name="PerturbationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("kinds", models.JSONField()),
                ("seeds", models.JSONField()),
                ("choice", models.JSONField(default=dict)),
                ("chosen", models.JSONField()),
                ("marks", models.JSONField(default=dict)),
                ("through", models.BigIntegerField(default=0)),
                ("counts", models.JSONField(default=dict)),
                ("made_at", models.DateTimeField()),
                ("event", models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.event")),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="perturbation_runs", to="annotation.project")),
                ("sources", models.ManyToManyField(related_name="perturbation_runs", to="annotation.source")),
                ("feeds_from", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="fed_runs", to="annotation.batch")),
                ("feeds_when", models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name="Try",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("kind", models.CharField(choices=[("person", "Person"), ("submission", "Submission"), ("panel", "Panel")], max_length=10)),
                ("predictor", models.CharField(max_length=64)),
                ("model", models.CharField(blank=True, max_length=200)),
                ("digest", models.CharField(max_length=64)),
                ("asked", models.JSONField()),
                ("response", models.JSONField()),
                ("original", models.JSONField(null=True)),
                ("perturbed", models.JSONField(null=True)),
                ("error", models.CharField(blank=True, max_length=400)),
                ("milliseconds", models.PositiveIntegerField(null=True)),
                ("made_at", models.DateTimeField()),
                ("answered_at", models.DateTimeField(null=True)),
                ("annotation", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="tries", to="annotation.annotation")),
                ("assignment", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="tries", to="annotation.assignment")),
            ],
            options={
                "verbose_name_plural": "tries",
                "indexes": [models.Index(fields=["assignment", "made_at"], name="tries_of"), models.Index(condition=models.Q(("answered_at__isnull", True)), fields=["made_at"], name="tries_open")],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("kind", "person")), fields=("assignment", "predictor", "digest"), name="one_try_for_each_thing_tried"),
                    models.UniqueConstraint(condition=models.Q(("annotation__isnull", False)), fields=("annotation", "predictor"), name="one_look_at_an_annotation_per_model"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("annotation__isnull", True), ("kind", "person")), models.Q(models.Q(("kind", "person"), _negated=True), ("annotation__isnull", False)), _connector="OR"
                        ),
                        name="a_submission_has_an_annotation",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("verdict", models.CharField(max_length=20)),
                ("gold", models.JSONField()),
                ("judgements", models.JSONField()),
                ("made_at", models.DateTimeField()),
                ("of", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="verdicts", to="annotation.try")),
                ("is_confirmed", models.BooleanField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Proposal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("source", models.CharField(choices=[("rules", "Rules"), ("model", "Model")], max_length=10)),
                ("maker", models.CharField(max_length=200)),
                ("category", models.CharField(blank=True, max_length=60)),
                ("by", models.CharField(blank=True, max_length=200)),
                ("data", models.JSONField()),
                ("digest", models.CharField(max_length=64)),
                ("why", models.TextField(blank=True)),
                ("score", models.FloatField(default=0)),
                ("made_at", models.DateTimeField()),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="proposals", to="annotation.item")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("item", "maker", "digest"), name="one_proposal_of_a_maker"),
                    models.CheckConstraint(condition=models.Q(("source__in", ["rules", "model"])), name="known_proposal_source"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Telling",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                ("told_at", models.DateTimeField()),
                ("assignment", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="tellings", to="annotation.assignment")),
                ("proposal", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="tellings", to="annotation.proposal")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("assignment", "proposal"), name="told_once"), models.UniqueConstraint(fields=("assignment", "number"), name="one_proposal_at_a_place")],
            },
        ),
        migrations.CreateModel(
            name="Handling",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("act", models.CharField(choices=[("took", "Took"), ("rejected", "Rejected")], max_length=10)),
                ("errors", models.JSONField(default=list)),
                ("made_at", models.DateTimeField()),
                ("telling", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="handlings", to="annotation.telling")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("act", "took"), ("errors", [])), models.Q(("act", "rejected"), models.Q(("errors", []), _negated=True)), _connector="OR"),
                        name="a_rejection_says_what_is_wrong",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Provenance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("helped", models.BooleanField()),
                ("origin", models.CharField(choices=[("human", "Human"), ("machine", "Machine"), ("machine_edited", "Edited")], max_length=20)),
                ("shared", models.FloatField(default=0)),
                ("annotation", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="provenance", to="annotation.annotation")),
                ("telling", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="became", to="annotation.telling")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("origin", "human"), ("telling__isnull", True)),
                            models.Q(("helped", True), ("origin__in", ["machine", "machine_edited"]), ("telling__isnull", False)),
                            _connector="OR",
                        ),
                        name="a_machine_has_its_proposal",
                    ),
                    models.CheckConstraint(condition=models.Q(("shared__gte", 0), ("shared__lte", 1)), name="a_share_is_a_share"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("predictor", models.CharField(max_length=64)),
                ("model", models.CharField(max_length=200)),
                ("verdict", models.CharField(max_length=20)),
                ("original", models.JSONField(null=True)),
                ("perturbed", models.JSONField(null=True)),
                ("made_at", models.DateTimeField()),
                ("proposal", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="trials", to="annotation.proposal")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("proposal", "model"), name="one_trial_per_model")],
            },
        ),
        migrations.CreateModel(
            name="ConsentText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField(blank=True)),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="consent_texts", to="annotation.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "number"), name="one_consent_text_per_number")],
            },
        ),
        migrations.CreateModel(
            name="Consent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("given_at", models.DateTimeField()),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="consents", to=settings.AUTH_USER_MODEL)),
                ("text", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="consents", to="annotation.consenttext")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("text", "person"), name="one_consent_per_person")],
            },
        ),
        migrations.CreateModel(
            name="CrowdLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("parameters", models.JSONField()),
                ("completion_code", models.CharField(max_length=60)),
                ("screen_out_code", models.CharField(max_length=60)),
                ("return_url", models.CharField(blank=True, max_length=500)),
                ("most", models.PositiveIntegerField(null=True)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
                ("made_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="crowd_links", to="annotation.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="one_crowd_link_per_name")],
            },
        ),
        migrations.CreateModel(
            name="CrowdEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("external_id", models.CharField(max_length=200)),
                ("study_id", models.CharField(blank=True, max_length=200)),
                ("session_id", models.CharField(blank=True, max_length=200)),
                ("entered_at", models.DateTimeField()),
                ("outcome", models.CharField(blank=True, choices=[("completed", "Completed"), ("screened out", "Screened Out")], max_length=20)),
                ("ended_at", models.DateTimeField(null=True)),
                ("person", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="crowd_entry", to=settings.AUTH_USER_MODEL)),
                ("link", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="annotation.crowdlink")),
            ],
            options={
                "verbose_name_plural": "crowd entries",
                "constraints": [
                    models.UniqueConstraint(fields=("link", "external_id"), name="one_entry_per_external_id"),
                    models.CheckConstraint(condition=models.Q(("outcome__in", ["", "completed", "screened out"])), name="known_crowd_outcome"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Gold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("expected", models.JSONField()),
                ("why", models.TextField(blank=True)),
                ("made_at", models.DateTimeField()),
                ("item", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="gold", to="annotation.item")),
                ("made_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "verbose_name_plural": "gold",
            },
        ),
        migrations.CreateModel(
            name="Inquiry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("asked_at", models.DateTimeField()),
                ("text", models.TextField()),
                ("answer", models.TextField(blank=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("answered_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("asked_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("assignment", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="inquiries", to="annotation.assignment")),
                ("batch", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="inquiries", to="annotation.batch")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="inquiries", to="annotation.project")),
                ("read_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name_plural": "inquiries",
                "indexes": [models.Index(fields=["project", "answered_at"], name="inquiries_of")],
            },
        ),
        migrations.CreateModel(
            name="PracticeDone",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task_type", models.CharField(max_length=60)),
                ("variant", models.CharField(blank=True, max_length=60)),
                ("right", models.PositiveSmallIntegerField()),
                ("judged", models.PositiveSmallIntegerField()),
                ("done_at", models.DateTimeField()),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="practice", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "person", "task_type", "variant"), name="one_practice_per_person")],
            },
        ),
        migrations.CreateModel(
            name="Qualification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("right", models.PositiveIntegerField()),
                ("judged", models.PositiveIntegerField()),
                ("passed", models.BooleanField()),
                ("at", models.DateTimeField()),
                ("batch", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="qualifications", to="annotation.batch")),
                ("granted_by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="qualifications", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "person"), name="one_qualification_per_person"),
                    models.CheckConstraint(condition=models.Q(("right__lte", models.F("judged"))), name="right_of_judged"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reading",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("read_at", models.DateTimeField()),
                ("guidelines", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="readings", to="annotation.guidelines")),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="readings", to=settings.AUTH_USER_MODEL)),
                ("language", models.CharField(blank=True, db_default="", max_length=8)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("guidelines", "person"), name="one_reading_per_person")],
            },
        ),
        migrations.CreateModel(
            name="SentBack",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("note", models.TextField()),
                ("made_at", models.DateTimeField()),
                ("annotation", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name="sent_back", to="annotation.annotation")),
                ("assignment", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="sent_back", to="annotation.assignment")),
                ("made_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "verbose_name_plural": "sent back",
            },
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=120)),
                ("data", models.JSONField()),
                ("watermark", models.BigIntegerField()),
                ("made_at", models.DateTimeField()),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="snapshots", to="annotation.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "key"), name="one_snapshot_per_key")],
            },
        ),
        migrations.CreateModel(
            name="Attempts",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("free_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "verbose_name_plural": "attempts",
            },
        ),
        migrations.CreateModel(
            name="LabelImport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("staged", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField()),
                ("batch", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="label_import", to="annotation.batch")),
            ],
        ),
        migrations.CreateModel(
            name="StagedAnnotator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=120)),
                ("person_key", models.BigIntegerField(null=True)),
                ("label_import", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="annotators", to="annotation.labelimport")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("label_import", "number"), name="one_staged_annotator_per_number")],
            },
        ),
        migrations.CreateModel(
            name="StagedLabel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("item_key", models.BigIntegerField()),
                ("annotator", models.PositiveIntegerField()),
                ("said", models.BigIntegerField()),
                ("response", models.JSONField()),
                ("assignment_key", models.BigIntegerField()),
                ("assignment_public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12)),
                ("annotation_key", models.BigIntegerField()),
                ("annotation_public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12)),
                ("label_import", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="labels", to="annotation.labelimport")),
                ("made_at", models.DateTimeField()),
                ("origin", models.JSONField(null=True)),
                ("active_seconds", models.FloatField(default=0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("label_import", "number"), name="one_staged_label_per_number")],
            },
        ),
        migrations.CreateModel(
            name="ModelRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("loop", "Loop"),
                            ("panel", "Panel"),
                            ("search", "Search"),
                            ("proposals", "Proposals"),
                            ("questions", "Questions"),
                            ("accuracy", "Accuracy"),
                            ("evaluation", "Evaluation"),
                            ("practice", "Practice"),
                        ],
                        max_length=12,
                    ),
                ),
                ("predictor", models.CharField(max_length=64)),
                ("model", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("answered", "Answered"),
                            ("cut_off", "Cut Off"),
                            ("filtered", "Filtered"),
                            ("declined", "Declined"),
                            ("unreadable", "Unreadable"),
                            ("refused", "Refused"),
                            ("parameters", "Parameters"),
                            ("away", "Away"),
                        ],
                        default="open",
                        max_length=12,
                    ),
                ),
                ("prompt_tokens", models.PositiveIntegerField()),
                ("completion_tokens", models.PositiveIntegerField()),
                ("is_counted", models.BooleanField(default=False)),
                ("prompt_price", models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ("completion_price", models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("batch", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="model_requests", to="annotation.batch")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="model_requests", to="annotation.project")),
            ],
            options={
                "indexes": [models.Index(fields=["project", "batch"], name="model_requests_of")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "open"), _negated=True), ("is_counted", False), _connector="OR"), name="open_model_request_is_not_counted"),
                    models.CheckConstraint(condition=models.Q(("completion_price__gte", 0), ("prompt_price__gte", 0)), name="model_price_is_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "answered", "cut_off", "filtered", "declined", "unreadable", "refused", "parameters", "away"])), name="known_state_of_model_request"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("purpose__in", ["loop", "panel", "search", "proposals", "questions", "accuracy", "evaluation", "practice"])), name="known_purpose_of_model_request"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("batch__isnull", False), ("purpose__in", ["loop", "panel", "search", "proposals"])),
                            models.Q(("batch__isnull", True), ("purpose__in", ["questions", "accuracy", "evaluation", "practice"])),
                            _connector="OR",
                        ),
                        name="model_request_of_a_batch_names_it",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reply",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("maker", models.CharField(max_length=200)),
                ("category", models.CharField(max_length=60)),
                ("repetition", models.PositiveSmallIntegerField()),
                ("seed", models.BigIntegerField()),
                ("demonstrations", models.JSONField(default=list)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("proposed", "Proposed"),
                            ("again", "Again"),
                            ("does_not_apply", "Does Not Apply"),
                            ("cut_off", "Cut Off"),
                            ("declined", "Declined"),
                            ("filtered", "Filtered"),
                            ("unreadable", "Unreadable"),
                            ("refused", "Refused"),
                            ("invalid", "Invalid"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=400)),
                ("text", models.TextField(blank=True)),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("made_at", models.DateTimeField()),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="replies", to="annotation.item")),
                ("proposal", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="replies", to="annotation.proposal")),
                ("request", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.modelrequest")),
            ],
            options={
                "verbose_name_plural": "replies",
                "constraints": [
                    models.UniqueConstraint(fields=("item", "maker", "category", "repetition"), name="one_reply_to_each_request"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome__in", ["proposed", "again"]), ("proposal__isnull", False)),
                            models.Q(("outcome__in", ["does_not_apply", "cut_off", "declined", "filtered", "unreadable", "refused", "invalid"]), ("proposal__isnull", True)),
                            _connector="OR",
                        ),
                        name="a_reply_makes_a_proposal_or_none",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="IndexedItem",
            fields=[
                ("item", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="indexed", serialize=False, to="annotation.item")),
                ("given", models.TextField()),
                ("responded", models.TextField(blank=True)),
                ("differs", models.BooleanField(null=True)),
                ("seconds", models.FloatField(default=0)),
                ("answered_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="SearchIndex",
            fields=[
                ("project", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="search_index", serialize=False, to="annotation.project")),
                ("event", models.BigIntegerField(default=0)),
                ("flag", models.BigIntegerField(default=0)),
                ("verdict", models.BigIntegerField(default=0)),
                ("items_count", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ResponseFact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("label", "Label"), ("finding", "Finding"), ("verdict", "Verdict"), ("unsure", "Unsure")], max_length=10)),
                ("name", models.CharField(blank=True, max_length=60)),
                ("value", models.CharField(max_length=200)),
                ("seconds", models.FloatField(default=0)),
                ("at", models.DateTimeField(null=True)),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="facts", to="annotation.item")),
                ("person", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.project")),
                ("is_first", models.BooleanField(default=True)),
            ],
            options={
                "indexes": [models.Index(fields=["project", "kind", "name", "value", "item"], name="response_facts_of")],
            },
        ),
        migrations.CreateModel(
            name="ItemAction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("exclude", "Exclude"), ("adjudicate", "Move to adjudication"), ("send_back", "Send back"), ("flag", "Flag"), ("example", "Add to guideline examples")], max_length=12
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="item_actions", to="annotation.project")),
            ],
        ),
        migrations.CreateModel(
            name="ItemChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("before", models.JSONField(default=dict)),
                ("undone_at", models.DateTimeField(null=True)),
                ("action", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="changes", to="annotation.itemaction")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.item")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("action", "item"), name="one_change_per_item_and_action")],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True)),
                ("name", models.CharField(max_length=60)),
                ("query", models.TextField()),
                ("is_shared", models.BooleanField(default=False)),
                ("made_at", models.DateTimeField()),
                ("made_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("project", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="saved_views", to="annotation.project")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("is_shared", False)), fields=("project", "made_by", "name"), name="one_own_view_per_name"),
                    models.UniqueConstraint(condition=models.Q(("is_shared", True)), fields=("project", "name"), name="one_shared_view_per_name"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PinnedExample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("made_at", models.DateTimeField()),
                ("item", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="pinned", to="annotation.item")),
                ("made_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.RunPython(refuse_changes),
        migrations.RunPython(collect_statistics),
        migrations.RunPython(drop_indexes_of_beginnings),
    ]
