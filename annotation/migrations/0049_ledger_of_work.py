"""The ledger of work: rows for skips and returns, and such that reproduce the sheets of before for every range of days."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q
from django.utils import timezone

TABLE = "annotation_ledgerentry"
AT_ONCE = 1_000


def refuse_changes(apps: Any, editor: Any) -> None:
    """The triggers that all immutable tables have (0043_initial)."""
    if editor.connection.vendor == "postgresql":
        for name, event in (
            ("immutable", f"UPDATE ON {TABLE} FOR EACH ROW"),
            ("undeletable", f"DELETE ON {TABLE} FOR EACH ROW"),
            ("untruncatable", f"TRUNCATE ON {TABLE} FOR EACH STATEMENT"),
        ):
            editor.execute(f"CREATE TRIGGER {TABLE}_{name} BEFORE {event} EXECUTE FUNCTION askew_immutable()")
        return
    refuse = f"RAISE(ABORT, '{TABLE} is immutable')"
    is_known = f"CASE WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id) THEN {refuse} END"  # nosec B608
    for name, event, action in (
        ("immutable", "UPDATE", refuse),
        ("undeletable", "DELETE", refuse),
        ("irreplaceable", "INSERT", is_known),
    ):
        editor.execute(
            f"CREATE TRIGGER {TABLE}_{name} BEFORE {event} ON {TABLE} "  # nosec B608
            f"WHEN NOT EXISTS (SELECT 1 FROM askew_writable) BEGIN SELECT {action}; END"
        )


def fill(apps: Any, editor: Any) -> None:
    """Pay followed the end of an assignment: its whole time counted then, and its item where it was submitted.

    Skips and returns get a row. Revisions have rows by themselves, one for each submission; where these come to something
    else (a response was taken back or sent back), rows that correct them follow. What is open now is paid when it ends.
    """
    entry = apps.get_model("annotation", "LedgerEntry")
    rows = _rows(apps.get_model("annotation", "Assignment"), apps.get_model("annotation", "Annotation"))
    while some := list(islice(rows, AT_ONCE)):
        entry.objects.bulk_create([entry(**row) for row in some])


def _rows(assignments: Any, annotations: Any) -> Iterator[dict[str, Any]]:
    revised = annotations.objects.filter(revision__gt=1).order_by().values("assignment_id")
    ended = assignments.objects.exclude(pk__in=revised).filter(ended_at__isnull=False)
    others = ended.exclude(state="submitted")
    for one in others.order_by("pk").iterator(chunk_size=AT_ONCE):
        yield from corrections(one, [])
    elsewhere = ended.filter(
        ~Q(annotation__made_at=F("ended_at")) | ~Q(annotation__active_seconds=F("active_seconds")),
        state="submitted",
    )
    wanted = Q(assignment__in=revised) | Q(assignment__in=elsewhere.values("pk"))
    history = annotations.objects.filter(wanted).defer("response").order_by("assignment_id", "revision")
    history = history.annotate(withdraws=Q(response__isnull=True)).select_related("assignment")
    for _, of_assignment in groupby(history.iterator(chunk_size=AT_ONCE), attrgetter("assignment_id")):
        revisions = list(of_assignment)
        yield from corrections(revisions[0].assignment, revisions)


def corrections(assignment: Any, revisions: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The rows that an assignment needs, from its revisions in their order."""
    about = {
        "assignment_id": assignment.pk,
        "batch_id": assignment.batch_id,
        "person_id": assignment.person_id,
    }
    last, submissions = 0, []
    for revision in revisions:
        last = revision.revision
        if not revision.withdraws:
            submissions.append(revision)
    counts = bool(submissions) and assignment.state == "submitted"
    seconds, items = 0.0, 0
    for number, revision in enumerate(submissions, start=1):
        # What this submission comes to, with what was taken out of those before it.
        seconds, items = revision.active_seconds, 1
        if counts and number == len(submissions):
            same = revision.made_at == assignment.ended_at and seconds == assignment.active_seconds
            if same:
                return
        taken = {"seconds": -seconds, "items": -items, "at": revision.made_at}
        yield {**about, "kind": "submitted", "revision": revision.revision, **taken}
    if assignment.ended_at is not None and assignment.state != "leased":
        yield {
            **about,
            "kind": assignment.state,
            "revision": last,
            "seconds": assignment.active_seconds,
            "items": int(assignment.state == "submitted"),
            "at": assignment.ended_at,
        }


def keep_first_rates(apps: Any, editor: Any) -> None:
    """The first rate of a batch held for the work before it, in the sheets of that time. Later ones are paid when they come.

    An event says so of every batch with such work.
    """
    batches = apps.get_model("annotation", "Batch").objects.select_related("project")
    event = apps.get_model("annotation", "Event")
    assignments = apps.get_model("annotation", "Assignment").objects
    changes: dict[tuple[str, int], list[tuple[datetime, Any]]] = {}
    log = event.objects.filter(thing__in=["batch", "project"], detail__what="pay").order_by("pk")
    for thing, key, at, detail in log.values_list("thing", "thing_id", "at", "detail"):
        changes.setdefault((thing, key), []).append((at, detail["from"]))
    for batch in batches.order_by("pk"):
        own, project = changes.get(("batch", batch.pk), []), changes.get(("project", batch.project_id), [])
        moments = sorted({at for at, _ in [*own, *project]})
        rates = [
            _before(own, moment, batch.pay) or _before(project, moment, batch.project.pay)
            for moment in [*moments, None]
        ]
        first = next((number for number, rate in enumerate(rates) if rate), 0)
        if first and assignments.filter(batch=batch, ended_at__lt=moments[first - 1]).exists():
            event.objects.create(
                project_id=batch.project_id,
                thing="batch",
                thing_id=batch.pk,
                after="rate corrected",
                at=timezone.now(),
                detail={
                    "what": "pay",
                    "from": {},
                    "to": rates[first],
                    "since": None,
                    "until": moments[first - 1].isoformat(),
                    "in_its_time": True,
                },
            )


def _before(changes: list[tuple[datetime, Any]], moment: datetime | None, now: Any) -> Any:
    """The rate of the time that ends at a moment (None: of now), from its changes in their order."""
    if moment is None:
        return now
    return next((rate for at, rate in changes if at >= moment), now)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0048_errors_of_tries_are_messages")]

    operations = [
        migrations.CreateModel(
            name="LedgerEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(max_length=10),
                ),
                ("revision", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField()),
                ("items", models.SmallIntegerField(default=0)),
                ("at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.batch"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["submitted", "skipped", "returned"])),
                        name="known_kind_of_ledger_entry",
                    )
                ],
            },
        ),
        migrations.RunPython(refuse_changes, migrations.RunPython.noop),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(keep_first_rates, migrations.RunPython.noop),
    ]
