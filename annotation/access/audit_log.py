"""Appending to the log. Every change of state passes here, in the transaction that makes it."""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Model

from annotation.access.roles import Role
from annotation.models import Assignment, Batch, Event, Membership, Person, Project
from annotation.platform.prepared_statements import Insert, LastKey, Step
from annotation.platform.refusals import refuse

MAX_WAIT: Final = 600.0
"""Seconds that `wait_for_writers` waits before it gives up."""
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.5
FORMER_NAMES: Final = {
    "slot": "place",
    "practiceresult": "practicedone",
    "perturbationrun": "perturbation_run",
}
"""Models -> their name in the log where it is another one: the log is never rewritten."""

_add = Insert(Event)
_add_of_new = Insert(Event, thing_id=LastKey(Assignment))


def log(
    subject: Model,
    before: str,
    after: str,
    *,
    by: Person | None,
    now: datetime,
    detail: Mapping[str, Any] | None = None,
    project: int | None = None,
) -> int:
    """Add one change of state of an object to the log. Returns the key of the event.

    before   the state before, "" for a new object
    detail   what a word cannot say (`Event.detail`); `changed` builds it from two values
    project  the key of the project; needed for an object with neither a project nor its own batch
    """
    name = str(subject._meta.model_name)
    return record(
        project_id=_project_of(subject) if project is None else project,
        actor=by,
        thing=FORMER_NAMES.get(name, name),
        thing_id=subject.pk,
        before=before,
        after=after,
        detail=detail,
        now=now,
    )


def _project_of(subject: Any) -> int:
    if isinstance(subject, Project):
        return subject.pk
    return int(subject.project_id if hasattr(subject, "project_id") else subject.batch.project_id)


def record(*, actor: Person | None, thing_id: int, **values: Any) -> int:
    """`log` in ids. `thing` is the lower-case name of the model, or the former one (`FORMER_NAMES`)."""
    key, *_ = recording(actor=actor, thing_id=thing_id, **values).run()
    return int(key)


def recording(
    *,
    project_id: int,
    actor: Person | None,
    thing: str,
    thing_id: int | None,
    before: str = "",
    after: str,
    now: datetime,
    detail: Mapping[str, Any] | None = None,
) -> Step:
    """`record` as a step of several; without `thing_id` it is of the assignment that was added by the step before.

    `thing` is the lower-case name of the model, or the former one (`FORMER_NAMES`).
    """
    values = {
        "project_id": project_id,
        "actor_id": actor.pk if actor else None,
        "thing": thing,
        "before": before,
        "after": after,
        "detail": detail,
        "at": now,
    }
    return _add.step(**values, thing_id=thing_id) if thing_id is not None else _add_of_new.step(**values)


def acting_role(person: int, project: int) -> str:
    """In which role a person acts on what only managers and administrators may do, without the person's name."""
    roles = Membership.objects.filter(project=project, person=person, removed_at__isnull=True)
    current = roles.values_list("roles", flat=True).first() or []
    return Role.MANAGER.value if Role.MANAGER.value in current else "administrator"


def changed(what: str, before: object, after: object) -> dict[str, Any]:
    """`detail` of a field or term that changed. Longer texts are cut: the object itself holds them. Batches are names."""
    return {"what": what, "from": _short(before), "to": _short(after)}


LONGEST = 2000


def _short(value: object) -> Any:
    if isinstance(value, str) and len(value) > LONGEST:
        return value[:LONGEST] + "…"
    return value.name if isinstance(value, Batch) else value


def wait_for_writers() -> bool:
    """Wait until every transaction that writes to the log now has ended; whether there was any.

    PostgreSQL draws an event's key before the event is committed, so an event can appear below a newer one. An event read
    before this call is a safe upper bound after it: no event with a smaller key can appear any more. Nothing is locked, so
    writers never wait for the caller: a writer holds a lock on it until the transaction ends, and these
    locks can be read. Transactions that begin later are not waited for. SQLite has one writer at a time and draws no key
    ahead.

    Raises ActionRefused (still_writing) after `MAX_WAIT` seconds.
    """
    writers = set(current_writers())
    waited, pause, deadline = bool(writers), FIRST_PAUSE, time.monotonic() + MAX_WAIT
    while writers:
        if time.monotonic() > deadline:
            refuse(
                "still_writing",
                "A transaction has been writing to the event log for {minutes} minutes. Wait for the "
                "import or command that holds it, or stop it. Then try again.",
                minutes=round(MAX_WAIT / 60),
            )
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
        writers &= set(current_writers())
    return waited


def settled(project: int, earlier: Mapping[str, Any] | None) -> dict[str, Any]:
    """How far the log of a project can be read for good, for a reader who keeps it: {"through", "ahead", "writers"}.

    No event up to `through` can be missing. `earlier` is what the last reading got; `through` reaches its `ahead`, the last
    event of then, once all transactions of that moment have ended.
    """
    earlier = earlier or {"through": 0, "ahead": 0, "writers": []}
    last = Event.objects.filter(project=project).order_by("-pk").values_list("pk", flat=True).first() or 0
    writers = current_writers()
    have_ended = set(writers).isdisjoint(earlier["writers"])
    through = earlier["ahead" if have_ended else "through"] if writers else last
    return {"through": through, "ahead": last, "writers": writers}


def current_writers(*models: type[Model]) -> list[str]:
    """The transactions of others that hold a writer's lock on the log or on these tables.

    Read after a key, they are all that can still commit a smaller one; a name that is gone from a later answer has ended.
    After a restore into another cluster a name can only be another person's, who ends as well.
    """
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation' "
            "AND relation = ANY(%s::regclass[]) "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
            "AND mode = 'RowExclusiveLock' AND granted AND pid IS DISTINCT FROM pg_backend_pid() ORDER BY 1",
            [[Event._meta.db_table, *(model._meta.db_table for model in models)]],
        )
        return [transaction for (transaction,) in cursor.fetchall()]
