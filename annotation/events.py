"""Appending to the log. Every change of state passes here, in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

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
    detail: Mapping[str, Any] | None = None,
) -> int:
    """One change of state, in ids; gives the event's key. `thing` is the lower-case name of the model.

    `detail` is what a word cannot say (`Event.detail`); `changed` makes it of two values.
    """
    key: int = _add.only(
        project_id=project_id,
        actor_id=actor.pk if actor else None,
        thing=thing,
        thing_id=thing_id,
        before=before,
        after=after,
        detail=detail,
        at=now,
    )
    return key


def changed(before: object, after: object) -> dict[str, Any]:
    """`detail` of a term that changed. Longer texts are cut: the log says what changed, the thing itself holds it."""
    return {"from": _short(before), "to": _short(after)}


LONGEST = 2000


def _short(value: object) -> Any:
    if isinstance(value, str) and len(value) > LONGEST:
        return value[:LONGEST] + "…"
    return value
