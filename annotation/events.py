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
) -> Event:
    """One change of state, in ids. `thing` is the lower-case name of the model."""
    return _add(
        project_id=project_id,
        actor_id=actor.pk if actor else None,
        thing=thing,
        thing_id=thing_id,
        before=before,
        after=after,
        at=now,
    )
