"""Fills a PostgreSQL with a batch of labelled items for `benchmarks.agreement`, and times its agreement.

The rows are made inside the database (generate_series), without the platform's functions; indexes are made afterwards.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PEOPLE = 40
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LABELS = ("extraction", "reasoning", "neither", "unanswerable")
NOISE = 0.3
"""The share of responses that are drawn by chance."""


def main(units: int, raters: int = 3) -> None:
    """Print the seconds of filling, of the join that nothing can do without, and of the figures."""
    import django
    from django.core.management import call_command

    django.setup()
    from django.db import connection

    from annotation.models import Annotation, Assignment
    from annotation.quality import agreement_report

    call_command("migrate", verbosity=0)
    batch = _batch()
    began = time.perf_counter()
    _fill(batch, units, raters)
    print(f"{units:,} units x {raters} raters in PostgreSQL, filled in {time.perf_counter() - began:.0f} s")
    bare = f"""
        SELECT count(*) FROM (
            SELECT s.item_id FROM {Assignment._meta.db_table} s JOIN {Annotation._meta.db_table} a ON a.id = s.annotation_id
            WHERE s.batch_id = {batch.pk} AND s.state = 'submitted' GROUP BY s.item_id
        ) AS items
    """  # nosec B608: names of our own tables
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
        began, busy = time.perf_counter(), _cpu(pid)
        cursor.execute(bare)
        _said("floor: the bare join and groups", began, busy, pid)
    began, busy, own = time.perf_counter(), _cpu(pid), time.process_time()
    found = agreement_report.batch_figures(batch)
    _said("all figures of the batch, each with its interval", began, busy, pid, time.process_time() - own)
    for figure in found:
        print(f"  {figure.statistic:<30}{figure.value:.6f} [{figure.low:.6f}, {figure.high:.6f}]")


def _batch() -> Any:
    """Create an open batch with one submitted item, in a project with PEOPLE annotators."""
    from annotation.access import authorization
    from annotation.access.roles import Role
    from annotation.imports import example_import
    from annotation.models import Person
    from annotation.queue import reservations, sampling
    from annotation.workflow import assignments, batches, projects
    from tasks.contract import task_type

    manager = Person.objects.create_person("Manager", "manager@example.org")
    project = projects.create_project(slug="many", name="Many", manager=manager, now=NOW)
    path = Path(os.environ["ASKEW_DATA_DIR"]) / "questions-dev.jsonl"
    table = {"header": ["year", "points"], "rows": [[str(1990 + row), str(3 * row)] for row in range(8)]}
    example = {"id": "q-0", "question": "How many points in 1991?", "answers": ["3"], "table": table}
    path.write_text(json.dumps(example) + "\n", encoding="utf-8")
    source = example_import.import_examples(
        project=project, reader="jsonl", path=path, now=NOW, by=manager
    ).source
    people = [Person.objects.create_person(f"Annotator {n}") for n in range(PEOPLE)]
    for person in people:
        projects.add_member(project=project, person=person, roles=[Role.ANNOTATOR], by=manager, now=NOW)
    batch = batches.plan_batch(
        project=project,
        name="labels",
        task=task_type("question_type"),
        sample=sampling.Sample(sources=[source]),
        terms={"overlap": 1},
        by=manager,
        now=NOW,
    )
    batches.open_batch(batch=batch, by=manager, now=NOW)
    batch.refresh_from_db()
    lease = reservations.next_assignment(batch=batch, person=people[0], now=NOW)
    assert lease is not None  # nosec B101
    assignment = authorization.assignment(authorization.Actor(people[0]), lease.public_id)
    base, label = assignment.item.example.table_digest, {"label": LABELS[0]}
    response = {"type": "question_type", "variant": "", "version": batch.version, "base": base, "data": label}
    assignments.submit(assignment=assignment, response=response, now=NOW)
    return batch


def _said(what: str, began: float, busy: float, pid: int, own: float = 0.0) -> None:
    wall = time.perf_counter() - began
    print(
        f"{what:<50}{wall:>8.2f} s, processor {own:.2f} s here and {_cpu(pid) - busy:.2f} s of the database's"
    )


def _cpu(pid: int) -> float:
    """Seconds of processor time of the database's process; those that help it are not among them."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _fill(batch: Any, units: int, raters: int) -> None:
    from django.db import connection

    from annotation.models import Annotation, Assignment, Event, Example, Item, Person, Slot
    from annotation.queue.submissions import fingerprint

    people = list(
        Person.objects.filter(name__startswith="Annotator").order_by("pk").values_list("pk", flat=True)
    )
    tables = {model: model._meta.db_table for model in (Example, Item, Slot, Event, Assignment, Annotation)}
    with connection.cursor() as cursor:
        first = {}
        for model, table in tables.items():
            cursor.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}")  # nosec B608
            first[model] = cursor.fetchone()[0]
        cursor.execute("SET session_replication_role = replica")  # no foreign keys looked up meanwhile
        indexes = _without_indexes(cursor, list(tables.values()))
        places = f"generate_series(0, {units * raters - 1}) AS m"
        who = f"(%s::bigint[])[1 + (m / {raters} * 7 + m %% {raters} * 13) %% {len(people)}]"
        when = "timestamptz '2026-03-02 09:00+00' + m * interval '0.1 second'"
        item, place = f"{first[Item]} + m / {raters}", f"{first[Slot]} + m"
        assignment, annotation, event = (f"{first[one]} + m" for one in (Assignment, Annotation, Event))
        cursor.execute(
            f"INSERT INTO {tables[Example]} (id, public_id, source_id, external_id, position, question, answers, "
            "stored_table_id, operations, table_digest, more, perturbation) "
            f"SELECT {first[Example]} + n, 'e' || lpad(n::text, 11, '0'), source_id, 'x-' || n, 100000 + n, question, "
            "answers, stored_table_id, operations, table_digest, more, '' "
            f"FROM {tables[Example]} o, generate_series(0, {units - 1}) AS n "
            f"WHERE o.id = (SELECT min(id) FROM {tables[Example]})"  # nosec B608
        )
        cursor.execute(
            f"INSERT INTO {tables[Item]} (id, public_id, batch_id, example_id, position, inputs, slots_count, "
            f"submitted_count, is_gold) SELECT {first[Item]} + n, 'i' || lpad(n::text, 11, '0'), {batch.pk}, "
            f"{first[Example]} + n, 100000 + n, '{{}}', {raters}, {raters}, false FROM generate_series(0, {units - 1}) AS n"  # nosec B608
        )
        cursor.execute(
            f"INSERT INTO {tables[Slot]} (id, batch_id, item_id, number, added, position, is_taken) "
            f"SELECT {place}, {batch.pk}, {item}, 1 + m % {raters}, false, 100000 + m / {raters}, true FROM {places}"  # nosec B608
        )
        cursor.execute(
            f"INSERT INTO {tables[Event]} (id, project_id, actor_id, thing, thing_id, before, after, at) "
            f"SELECT {event}, {batch.project_id}, {who}, 'assignment', {assignment}, 'leased', 'submitted', {when} "
            f"FROM {places}",  # nosec B608
            [people],
        )
        labels = "array[" + ", ".join(f"'{label}'" for label in LABELS) + "]"
        drawn = f"CASE WHEN random() < {NOISE} THEN floor(random() * 4)::int ELSE (m / {raters} * 2654435761) %% 4 END"
        cursor.execute(
            f"INSERT INTO {tables[Annotation]} (id, public_id, assignment_id, revision, response, guidelines_id, "
            f"active_seconds, made_at, event_id) SELECT {annotation}, 'n' || lpad(m::text, 11, '0'), {assignment}, 1, "
            f"jsonb_set(o.response, '{{data,label}}', to_jsonb(({labels})[1 + ({drawn})::int])), o.guidelines_id, 10, "
            f"{when}, {event} FROM {tables[Annotation]} o, {places} WHERE o.id = (SELECT min(id) FROM {tables[Annotation]})",  # nosec B608
            [],
        )
        response: dict[str, Any] = Annotation.objects.earliest("pk").response or {}
        numbers = [fingerprint(response | {"data": response["data"] | {"label": label}}) for label in LABELS]
        of_label = " ".join(f"WHEN '{label}' THEN {n}" for label, n in zip(LABELS, numbers, strict=True))
        said = f"CASE n.response -> 'data' ->> 'label' {of_label} END"
        cursor.execute(
            f"INSERT INTO {tables[Assignment]} (id, public_id, batch_id, item_id, slot_id, person_id, state, reason, "
            f"annotation_id, said, leased_at, leased_until, seen_at, active_seconds, ended_at) SELECT {assignment}, "
            f"'a' || lpad(m::text, 11, '0'), {batch.pk}, {item}, {place}, {who}, 'submitted', '', n.id, {said}, {when}, "
            f"{when}, {when}, 10, {when} FROM {tables[Annotation]} n JOIN {places} ON n.id = {annotation}",  # nosec B608
            [people],
        )
        for index in indexes:
            cursor.execute(index)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("DELETE FROM annotation_personbatchcounts")
        cursor.execute(
            "INSERT INTO annotation_personbatchcounts (batch_id, person_id, leased, submitted, skipped, returned, cursor) "
            f"SELECT batch_id, person_id, 0, count(*), 0, 0, 0 FROM {tables[Assignment]} GROUP BY 1, 2"  # nosec B608
        )
        cursor.execute("VACUUM ANALYZE")


def _without_indexes(cursor: Any, tables: list[str]) -> list[str]:
    """Drop the indexes that no constraint needs, and say how they are made again."""
    made = []
    for table in tables:
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index "
            "LEFT JOIN pg_constraint ON conindid = indexrelid WHERE indrelid = %s::regclass AND conindid IS NULL",
            [table],
        )
        for name, definition in cursor.fetchall():
            cursor.execute(f"DROP INDEX {name}")
            made.append(definition)
    return made


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
