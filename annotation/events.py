"""Appending to the log. Every change of state passes here, in the transaction that makes it."""

from __future__ import annotations

from datetime import datetime

from annotation.compiled import Insert
from annotation.models import Event, Person

_add = Insert(Event)


def record(
    *,
    project_id: int,
    actor: Person | None,
    thing: str,
    thing_id: int,
    before: str = "",
    after: str,
    now: datetime,
) -> int:
    """One change of state, in ids; gives the event's key. `thing` is the lower-case name of the model."""
    key: int = _add.only(
        project_id=project_id,
        actor_id=actor.pk if actor else None,
        thing=thing,
        thing_id=thing_id,
        before=before,
        after=after,
        at=now,
    )
    return key
