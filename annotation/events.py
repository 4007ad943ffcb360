"""Appending to the log. Every change of state passes here, in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from annotation.compiled import Insert, LastKey, Step
from annotation.models import Assignment, Event, Person

_add = Insert(Event)
_add_of_new = Insert(Event, thing_id=LastKey(Assignment))


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
    key, *_ = recording(
        project_id=project_id,
        actor=actor,
        thing=thing,
        thing_id=thing_id,
        before=before,
        after=after,
        detail=detail,
        now=now,
    ).run()
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
    """`record` as a step of several; without `thing_id` it is of the assignment that was added by the step before."""
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


def changed(before: object, after: object) -> dict[str, Any]:
    """`detail` of a term that changed. Longer texts are cut: the log says what changed, the thing itself holds it."""
    return {"from": _short(before), "to": _short(after)}


LONGEST = 2000


def _short(value: object) -> Any:
    if isinstance(value, str) and len(value) > LONGEST:
        return value[:LONGEST] + "…"
    return value
