"""The explorer of a large project: the list and its counts under every filter.

    ./run bench explorer [--items 100000] [--rounds 15] [--database postgresql|sqlite] [--only release,search]

The project of `./run bench large`, in which every item has responses, flags or neither, with its search index. Each
filter is asked for `--rounds` times through the application in this process. The promise is for the 95th percentile:
300 ms for the list with 100,000 items on PostgreSQL, 500 ms with 10,000 on SQLite, and a second for the counts. A filter by
an own column, an order by one and its counts take at most twice as long as the list without a filter in the same run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import large  # noqa: E402
from benchmarks.figures import keep  # noqa: E402

PROMISED = {"postgresql": 300, "sqlite": 500}
"""Milliseconds of the list at the 95th percentile."""
PROMISED_COUNTS = 1_000
IN_MEMORY = Path("/dev/shm")
"""Where a database for SQLite is made: seeding it waits for no disk."""
COLUMNS = (
    5,
    5,
    10,
    10,
    20,
    20,
    50,
    50,
    100,
    100,
    500,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    10_000,
    20_000,
    50_000,
    50_000,
)
"""Values of each own column: texts and numbers by turns."""
ITEMS = {"postgresql": 100_000, "sqlite": 10_000}


def main() -> int:
    """Print a line for each filter; the status is 1 where one is slower than promised."""
    parser = argparse.ArgumentParser(prog="./run bench explorer", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, metavar="N")
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    parser.add_argument("--only", default="", metavar="NAMES", help="filters by a part of their names")
    parser.add_argument("--database", choices=list(PROMISED), default="postgresql")
    options = parser.parse_args()
    number = options.items or ITEMS[options.database]
    with ExitStack() as stack:
        if options.database == "sqlite":
            _set_up_sqlite(stack)
        else:
            large._set_up(stack)
        world = _made(number, options.database)
        slow = []
        print(f"{number:,} items, {options.database}")
        print(f"{'filter':<46}{'median':>9}{'p95':>9}{'status':>8}")
        names = options.only.split(",")
        promised: float = PROMISED[options.database]
        for name, query in _filters(world):
            is_own = name.startswith("own column")
            if not any(part in name for part in names) and name != "no filter":
                continue
            facet = (
                "facet=" + query.partition("=")[2].partition(":")[0].removeprefix("-") if is_own else query
            )
            for part, most in (("list", promised), ("counts", promised if is_own else PROMISED_COUNTS)):
                if is_own and part == "counts" and not query.startswith("column="):
                    continue
                address = (
                    f"/projects/large/explorer/{f'facets/?{facet}' if part == 'counts' else f'?{query}'}"
                )
                times, status = _asked(world, address, options.rounds)
                p95 = sorted(times)[max(0, round(0.95 * len(times)) - 1)]
                if name == "no filter" and part == "list":
                    unfiltered = p95
                if is_own:
                    most = 2 * unfiltered
                keep(f"explorer, {part}, {name}, {number:,} items", p95, "ms", at_most=most)
                over = p95 > most or status != 200
                slow += [f"{name} ({part})"] if over else []
                line = f"{name + ', ' + part:<46}{statistics.median(times):>6.0f} ms{p95:>6.0f} ms{status:>8}"
                print(line + ("  !" if over else ""), flush=True)
        _act(world, number)
        print(f"load: {os.getloadavg()[0]:.1f}")
    if slow:
        print(f"slower than promised: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


def _set_up_sqlite(stack: ExitStack) -> None:
    import secrets

    folder = stack.enter_context(
        tempfile.TemporaryDirectory(prefix="askew-explorer-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None)
    )
    os.environ.pop("DATABASE_URL", None)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ASKEW_DATA_DIR": folder,
        "ALLOWED_HOSTS": "testserver",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def _made(number: int, database: str) -> dict[str, Any]:
    """The project with so many items and its whole index."""
    from django.db import connection
    from django.utils import timezone

    from annotation.explorer import index
    from annotation.models import Flag, Item, Job

    began = time.monotonic()
    world = large._small()
    for assignment in world["batch"].assignments.order_by("pk")[:200:20]:
        Flag.objects.create(
            assignment=assignment, item=assignment.item, note="An odd table", made_at=large.NOW
        )
    undecided = Item.objects.filter(decision__isnull=True, adjudication__isnull=True).order_by("-pk")
    Item.objects.filter(pk__in=list(undecided.values_list("pk", flat=True)[:20])).update(is_gold=True)
    job = Job.objects.create(
        project=world["project"], kind=index.KIND, made_at=large.NOW, heartbeat=large.NOW
    )
    index._run(job, lambda done, total: None)
    job.delete()
    _add_facts()
    if database == "sqlite":
        connection.ensure_connection()
        connection.connection.create_function(
            "md5", 1, lambda text: hashlib.md5(str(text).encode(), usedforsecurity=False).hexdigest()
        )
    large._multiply(world["project"], number // large.SEED_ITEMS)
    assert index.refresh(world["project"], now=timezone.now()) == 0, "the index is behind"
    _add_columns(world)
    _release(world)
    print(f"made in {time.monotonic() - began:.0f} s")
    return world


def _add_columns(world: dict[str, Any]) -> None:
    """Give every example a value in each of the `COLUMNS`, in its data and in the index."""
    from django.db import connection, transaction

    from annotation.explorer.own_columns import NO_NUMBER
    from annotation.models import IndexedColumn
    from annotation.platform import immutable_rows

    with transaction.atomic(), connection.cursor() as cursor, immutable_rows.writable():
        for position, count in enumerate(COLUMNS):
            column = IndexedColumn.objects.create(project=world["project"], name=f"meta.c{position}")
            value, number = f"n * 7919 % {count}", repr(NO_NUMBER)
            if position % 2:
                number = f"CAST({value} AS double precision)"
            text = f"CAST({value} AS text)" if position % 2 else f"'value ' || ({value})"
            cursor.execute(
                "INSERT INTO annotation_indexedvalue (column_id, example_id, number, value, is_first) "  # nosec B608
                f"SELECT {column.pk}, id, {number}, {text}, true "
                "FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM annotation_example) AS numbered"
            )
        meta = "json_object('meta', json(json_group_object(substr(name, 6), value)))"
        if connection.vendor == "postgresql":
            meta = "jsonb_build_object('meta', jsonb_object_agg(substr(name, 6), value))"
        cursor.execute(
            f"UPDATE annotation_example SET more = own.more FROM (SELECT example_id, {meta} AS more "  # nosec B608
            "FROM annotation_indexedvalue JOIN annotation_indexedcolumn AS c ON c.id = column_id "
            "WHERE substr(name, 1, 5) = 'meta.' GROUP BY example_id) AS own WHERE own.example_id = annotation_example.id"
        )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _release(world: dict[str, Any]) -> None:
    """A release of all there is, in which one item in 50 is contradicted; of its manifest, what the explorer reads."""
    from annotation.models import Event, Item, Release

    items = Item.objects.filter(batch=world["batch"]).order_by("pk").values_list("public_id", flat=True)
    world["release"] = Release.objects.create(
        project=world["project"],
        name="1.0",
        format="askew",
        watermark=Event.objects.latest("pk").pk,
        manifest={
            "batches": [{"id": world["batch"].public_id}],
            "contradicted": [{"item": item} for item in items[::50]],
        },
        made_at=large.NOW,
        ready_at=large.NOW,
    )


def _add_facts() -> None:
    """Give one response in 25 an open condition, one in 20 a verdict, and one in 40 doubt of its author."""
    from annotation.models import ResponseFact

    kinds = ResponseFact.Kind
    rare = ((kinds.FINDING, "answer_gone", 25), (kinds.VERDICT, "fooled", 20), (kinds.UNSURE, "yes", 40))
    labels = list(ResponseFact.objects.filter(kind=kinds.LABEL).order_by("pk"))
    ResponseFact.objects.bulk_create(
        ResponseFact(
            project_id=label.project_id,
            item_id=label.item_id,
            person_id=label.person_id,
            kind=kind,
            value=value,
            seconds=label.seconds,
            at=label.at,
        )
        for kind, value, every in rare
        for label in labels[::every]
    )


def _filters(world: dict[str, Any]) -> list[tuple[str, str]]:
    from annotation.models import Membership

    person = Membership.objects.get(project=world["project"], person=world["ada"]).pseudonym
    batch, source, release = (world[name].public_id for name in ("batch", "source", "release"))
    return [
        ("no filter", ""),
        ("task type", "type=question_type"),
        ("batch", f"batch={batch}"),
        ("source", f"source={source}"),
        *(
            (f"state {one}", f"state={one}")
            for one in ("open", "complete", "adjudication", "accepted", "excluded")
        ),
        ("frequent label", "label=label:extraction"),
        ("rare label", "label=label:neither"),
        ("pair of labels", "pair=label:extraction~reasoning"),
        ("person", f"person={person}"),
        ("label of a person", f"person={person}&label=label:neither"),
        ("responses differ", "differs=yes"),
        ("responses identical", "differs=no"),
        ("skipped for any reason", "skipped=any"),
        ("skipped for a reason", "skipped=The+table+is+cut+off."),
        *(
            (f"assignment {one}", f"assignment={one}")
            for one in ("planned", "not_started", "reserved", "assigned", "returned")
        ),
        ("assigned to a person", f"assignment=assigned&person={person}"),
        ("adjudicated", "adjudicated=yes"),
        ("in progress", "in_progress=yes"),
        ("answered", "answered=yes"),
        ("not answered", "answered=no"),
        ("release", f"release={release}"),
        *(
            (f"{part} of a release", f"release={release}&part={part}")
            for part in ("annotations", "outcomes", "undecided", "contradicted")
        ),
        ("submitted from", "submitted_from=2026-03-02T10:00:00%2B00:00"),
        ("flagged", "flagged=yes"),
        ("not flagged", "flagged=no"),
        ("gold", "gold=yes"),
        ("checklist", "finding=answer_gone"),
        ("model verdict", "verdict=fooled"),
        ("not sure", "unsure=yes"),
        ("active time", "seconds_from=5&seconds_to=30"),
        ("date", "since=2026-03-02&until=2026-03-03"),
        ("search, frequent word", "q=points"),
        ("search, rare phrase", 'q="team+7+in+1993"'),
        ("search, no match", "q=zebra"),
        ("newest response first", "sort=-answered"),
        ("most active time first", "sort=-seconds"),
        *(
            (f"own column of {COLUMNS[position]:,} {'numbers' if position % 2 else 'texts'}, {what}", query)
            for position in (0, 9, 12, 18, 19)
            for what, query in (
                ("filter", f"column=meta.c{position}:{'3' if position % 2 else 'value+3'}"),
                ("order", f"sort=meta.c{position}"),
                ("descending", f"sort=-meta.c{position}"),
            )
        ),
        ("own column, range", "column=meta.c19:100~200"),
        ("not an own column", "not=column&column=meta.c0:value+3"),
        ("an own column or a label", "or=column&or=label&column=meta.c9:3&label=label:neither"),
        ("random sample", "sample=20"),
        ("lost against the decision", "lost=yes"),
        ("label and order", "label=label:extraction&sort=-answered"),
    ]


def _act(world: dict[str, Any], number: int) -> None:
    """Print how long it takes to exclude as many items at once as one action may have, and to undo it."""
    from django.utils import timezone

    from annotation.access.authorization import Actor
    from annotation.background import jobs
    from annotation.explorer import item_access, item_actions, querysets, result_pages
    from annotation.explorer.action_rules import MOST_ITEMS
    from annotation.explorer.selection import parse
    from annotation.models import ItemAction

    who = item_access.reader(Actor(world["mara"]), world["project"])
    items = querysets.matching(who, parse({"state": ["open"]}))
    keys = list(result_pages.ordered(who, items, "").values_list("pk", flat=True)[:MOST_ITEMS])
    began = time.perf_counter()
    job = item_actions.start(who, "exclude", keys, note="Torn table", now=timezone.now())
    asked = time.perf_counter()
    assert jobs.run(job.pk) == "done", "the items could not be excluded"
    acted = time.perf_counter()
    action = ItemAction.objects.get()
    undo = item_actions.start_undo(who, action, now=timezone.now())
    assert jobs.run(undo.pk) == "done", "the action could not be undone"
    ended = time.perf_counter()
    count = action.changes.count()
    keep(f"explorer, exclude {count:,} items, request, {number:,} items", 1_000 * (asked - began), "ms")
    keep(f"explorer, exclude {count:,} items, job, {number:,} items", acted - asked, "s")
    keep(f"explorer, undo for {count:,} items, job, {number:,} items", ended - acted, "s")
    print(
        f"exclude {count:,} items: request {1_000 * (asked - began):.0f} ms, "
        f"job {acted - asked:.1f} s, undo {ended - acted:.1f} s"
    )


def _asked(world: dict[str, Any], address: str, rounds: int) -> tuple[list[float], int]:
    status = large._get(world, "mara", address).status_code
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        large._get(world, "mara", address)
        times.append(1_000 * (time.perf_counter() - began))
    return times, status


if __name__ == "__main__":
    sys.exit(main())
