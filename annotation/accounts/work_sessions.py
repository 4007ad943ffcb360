"""A person's work since their last break, what today still allows, and how their last checks went: for them alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.utils.crypto import salted_hmac

from annotation.models import Assignment, Batch, Person, Project
from annotation.payments import costs, earnings
from annotation.quality import gold
from annotation.queue import entry_requirements

BREAK: Final = timedelta(minutes=30)
"""A longer time without a submission or skip ends a session."""
LONGEST: Final = timedelta(days=1)
"""Sessions are not looked for further back."""
LAST_CHECKS: Final = 10
"""Gold items that the feedback in the flow looks back on."""
NEARLY: Final = 0.1
"""Share of a daily limit that is left when the person is reminded of it; at the last item of a short day, too."""


class Session(earnings.Total):
    """What a person did since their last break."""

    @property
    def earned(self) -> str:
        """The amounts in words; "" without pay."""
        return costs.all_in_words(self.amounts) if self.amounts else ""


@dataclass(frozen=True)
class Checks:
    """How the last gold items went: `right` of `judged`."""

    right: int
    judged: int


@dataclass(frozen=True)
class Day:
    """What the daily limits of a batch and its project still allow; None where there is no such limit.

    `key` tells days, people and batches apart, so that a browser remembers which reminder was dismissed.
    """

    items_left: int | None
    minutes_left: int | None
    is_near: bool
    key: str = ""

    @property
    def is_over(self) -> bool:
        return self.items_left == 0 or self.minutes_left == 0


def session_start(moments: Sequence[datetime], now: datetime) -> datetime | None:
    """The first of the moments (newest first) of the session that continues at `now`; None where there is none."""
    first, last = None, now
    for moment in moments:
        if last - moment > BREAK:
            break
        first = last = moment
    return first


def session(*, person: Person, projects: Sequence[Project], now: datetime) -> Session:
    """The person's session in the projects; in four queries, one where there is none."""
    mine = Assignment.objects.filter(person=person, batch__project__in=projects, ended_at__gt=now - LONGEST)
    ended = mine.order_by("-ended_at").values_list("ended_at", flat=True)
    since = session_start([moment for moment in ended if moment is not None], now)
    if since is None:
        return Session()
    return Session(earnings.sum_shares(earnings.shares_of_person(person, projects, since)).rows)


def checks(batch: Batch, person: Person) -> Checks | None:
    """How the person's last gold items of the batch went; None where the batch does not tell, and before the first."""
    judged = [answer.right for answer in gold.feedback_for(batch, person) if answer.right is not None]
    last = judged[:LAST_CHECKS]
    return Checks(sum(last), len(last)) if last else None


def day(*, batch: Batch, person: Person, now: datetime) -> Day | None:
    """What the person may still do today in the batch; None where neither it nor its project has a daily limit."""
    caps, everywhere = batch.caps, batch.project.caps
    if not {"items_per_day", "hours_per_day"} & {*caps, *everywhere}:
        return None
    facts = entry_requirements.facts(batch=batch, person=person, now=now)
    begun_at = entry_requirements.day_begun(batch.project, now).isoformat()
    key = salted_hmac("annotation.day", f"{person.pk} {batch.pk} {begun_at}").hexdigest()[:16]
    return replace(left_today(caps, everywhere, facts), key=key)


def left_today(
    caps: Mapping[str, float], everywhere: Mapping[str, float], facts: entry_requirements.AnnotatorState
) -> Day:
    """The rule of `day`: the narrower limit counts."""

    def remaining_of(name: str, in_batch: float, in_project: float) -> list[tuple[float, float]]:
        limits = ((caps.get(name), in_batch), (everywhere.get(name), in_project))
        return [(limit, limit - had) for limit, had in limits if limit is not None]

    items = remaining_of("items_per_day", facts.items_today, facts.project_items_today)
    hours = remaining_of("hours_per_day", facts.hours_today, facts.project_hours_today)
    return Day(
        max(0, int(min(remaining for _, remaining in items))) if items else None,
        max(0, round(60 * min(remaining for _, remaining in hours))) if hours else None,
        any(remaining <= max(1, NEARLY * limit) and remaining < limit for limit, remaining in items)
        or any(remaining <= NEARLY * limit for limit, remaining in hours),
    )
