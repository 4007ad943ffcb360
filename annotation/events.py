"""Appending to the log. Every change of state passes here, in the transaction that makes it."""

from __future__ import annotations

from datetime import datetime

from annotation.models import Event, Person


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
    return Event.objects.create(
        project_id=project_id, actor=actor, thing=thing, thing_id=thing_id, before=before, after=after, at=now
    )
