"""Which rate held when: what was done under a rate keeps it, whatever is paid later.

    found = in_force(batches)                   # of each batch its periods, from the log of changes; one query
    rate_at(found[batch.pk], assignment.ended_at)

A batch's own rate holds in place of its project's. A change counts from the moment in which it is made: work that ended
before keeps the rate it ended under. Where nothing was paid at first, the first rate holds from the beginning, because
until then there was none to keep; where pay is taken away, nothing is earned from then on.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from annotation.models import Batch, Event

Pay = Mapping[str, Any]


class Change(NamedTuple):
    """A rate was another one until then."""

    at: datetime
    before: Pay


class InForce(NamedTuple):
    """A rate and the moment from which it holds no more; None: it still does."""

    until: datetime | None
    pay: Pay


def timeline(changes: Iterable[Change], now: Pay) -> list[InForce]:
    """The rates one after the other, from the changes in their order and the rate of now."""
    return [*(InForce(one.at, one.before) for one in changes), InForce(None, now)]


def effective(of_batch: Sequence[InForce], of_project: Sequence[InForce]) -> tuple[InForce, ...]:
    """What held in a batch: its own rate, else the project's. No two neighbours are alike, and only the last has no end."""
    ends = sorted({one.until for one in (*of_batch, *of_project) if one.until is not None})
    found: list[InForce] = []
    for until in (*ends, None):
        pay = rate_before(of_batch, until) or rate_before(of_project, until)
        if found and (found[-1].pay == pay or not any(one.pay for one in found)):
            found.pop()
        found.append(InForce(until, pay))
    return tuple(found)


def rate_before(periods: Sequence[InForce], until: datetime | None) -> Pay:
    """The rate of the time that ends just before a moment (None: of now)."""
    last: Pay = periods[-1].pay
    if until is None:
        return last
    return next((one.pay for one in periods if one.until is None or one.until >= until), last)


def span_before(
    periods: Sequence[InForce], until: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """From when and until when the rate of `rate_before` holds; None is open on that side."""
    ends = [period.until for period in periods[:-1] if period.until is not None]
    place = len(ends) if until is None else bisect.bisect_left(ends, until)
    return (ends[place - 1] if place else None), (ends[place] if place < len(ends) else None)


def rate_at(periods: Sequence[InForce], moment: datetime | None) -> Pay:
    """The rate that what ended at a moment was done under; None: it has not ended."""
    last: Pay = periods[-1].pay
    if moment is None:
        return last
    return next((one.pay for one in periods if one.until is None or moment < one.until), last)


def in_force(batches: Collection[Batch]) -> dict[int, tuple[InForce, ...]]:
    """What held in each of the batches (with their projects), by their keys; one query, however much was done in them."""
    projects = {batch.project_id: batch.project for batch in batches}
    own = Q(thing="batch", thing_id__in=[batch.pk for batch in batches])
    log = Event.objects.filter(own | Q(thing="project", thing_id__in=list(projects)), detail__what="pay")
    changes: defaultdict[tuple[str, int], list[Change]] = defaultdict(list)
    for thing, key, at, detail in log.order_by("pk").values_list("thing", "thing_id", "at", "detail"):
        changes[thing, key].append(Change(at, (detail or {})["from"]))
    of_projects = {key: timeline(changes["project", key], one.pay) for key, one in projects.items()}
    return {
        batch.pk: effective(timeline(changes["batch", batch.pk], batch.pay), of_projects[batch.project_id])
        for batch in batches
    }
