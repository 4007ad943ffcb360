"""Which rate held when: what was done under a rate keeps it, unless a person corrects the rate.

    terms = terms_of_batches(batches)                   # of each batch, from the log of changes; one query
    terms[batch.pk].rates(begin, end)           # the rate of the work of a time, and what corrected it

A batch's own rate holds in place of its project's. A change counts from the moment in which it is made. A correction is
about work of before, and is paid when it is made, so that no sheet of the past changes: the work is taken out at the old
rate, and counts at the new one. Where nothing was paid at first, the first rate corrects that, unless a person did so
before; where pay is taken away, nothing is earned from then on. Work that was restored from a release was paid elsewhere.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from django.db.models import Q

from annotation.models import Batch, Event

Pay = Mapping[str, Any]
Moment = datetime | None
"""None: the time is open on this side."""


class RatePeriod(NamedTuple):
    """A rate and the moment from which it holds no more; None: it still does."""

    until: Moment
    pay: Pay


class Rate(NamedTuple):
    """Work from `since` on and before `until` has this rate: in its own time, or, as a correction, from `at` on."""

    since: Moment
    until: Moment
    pay: Pay
    at: Moment = None

    def covers(self, begin: Moment, end: Moment) -> bool:
        begins = self.since is None or (begin is not None and self.since <= begin)
        return begins and (self.until is None or (end is not None and end <= self.until))


class Terms(tuple[Rate, ...]):
    """The rates of a batch: each replaces those before it, as far as it goes."""

    def moments(self) -> list[datetime]:
        """When anything changes: within two neighbours all work has the same rates."""
        moments = {moment for rate in self for moment in (rate.since, rate.until, rate.at)}
        return sorted(moment for moment in moments if moment is not None)

    def rates(self, begin: Moment, end: Moment) -> tuple[Pay, list[tuple[datetime, Pay]]]:
        """The rate of the work between two neighbours, and what it was corrected to, with the moments."""
        first: Pay = {}
        corrections: list[tuple[datetime, Pay]] = []
        for entry in self:
            if entry.covers(begin, end):
                corrections = [] if entry.at is None else [*corrections, (entry.at, entry.pay)]
                first = entry.pay if entry.at is None else first
        return first, sorted(corrections, key=lambda entry: entry[0])

    def periods(self, *, corrected: bool = False) -> list[RatePeriod]:
        """The rates one after the other, on request with all corrections; no two neighbours are alike."""
        periods: list[RatePeriod] = []
        begin = None
        for end in (*self.moments(), None):
            pay, corrections = self.rates(begin, end)
            if corrected and corrections:
                pay = corrections[-1][-1]
            if periods and periods[-1].pay == pay:
                periods.pop()
            periods.append(RatePeriod(end, pay))
            begin = end
        return periods


def effective_terms(
    of_project: Iterable[Rate], of_batch: Iterable[Rate], restored_at: Moment = None
) -> Terms:
    """What holds in a batch: its own rate, else the project's; the first rate also for work before it, if not restored."""
    terms = Terms([*of_project, *(rate for rate in of_batch if rate.pay)])
    first, *later = terms.periods()
    if first.pay or (until := first.until) is None:
        return terms
    earlier = (at for at in terms.moments() if at < until and (restored_at is None or at > restored_at))
    spans = pairwise([restored_at, *earlier, until])
    # What a person corrected before has its rate already.
    unpaid = [span for span in spans if all(at > until for at, _ in terms.rates(*span)[1])]
    return Terms([*terms, *(Rate(*span, later[0].pay, until) for span in unpaid)])


def terms_of_batches(batches: Collection[Batch]) -> dict[int, Terms]:
    """What held in each of the batches (with their projects), by their keys; one query, however much was done in them."""
    projects = {batch.project_id: batch.project for batch in batches}
    own = Q(thing="batch", thing_id__in=[batch.pk for batch in batches])
    log = Event.objects.filter(
        own | Q(thing="project", thing_id__in=list(projects)), Q(detail__what="pay") | Q(after="restored")
    )
    rates: defaultdict[tuple[str, int], list[Rate]] = defaultdict(list)
    corrections: defaultdict[tuple[str, int], list[Rate]] = defaultdict(list)
    firsts: defaultdict[int, list[Rate]] = defaultdict(list)
    since: dict[tuple[str, int], datetime] = {}
    restored: dict[tuple[str, int], datetime] = {}
    rows: Iterable[Any] = log.order_by("pk").values_list("thing", "thing_id", "at", "detail")
    for thing, thing_id, at, detail in rows:
        key = (thing, thing_id)
        if "what" not in (detail or {}):
            restored[key] = at
        elif "until" in detail:
            begin, end = (
                detail[name] and datetime.fromisoformat(detail[name]) for name in ("since", "until")
            )
            if detail.get("in_its_time"):
                firsts[thing_id].append(Rate(begin, end, detail["to"]))
            else:
                corrections[key].append(Rate(begin, end, detail["to"], at))
        else:
            rates[key].append(Rate(since.get(key), at, detail["from"]))
            since[key] = at
    for key, pay in (
        *((("project", pk), project.pay) for pk, project in projects.items()),
        *((("batch", batch.pk), batch.pay) for batch in batches),
    ):
        rates[key].append(Rate(since.get(key), None, pay))
    terms_by_batch = {}
    for batch in batches:
        of_project, of_batch = ("project", batch.project_id), ("batch", batch.pk)
        # The first rate of a batch that held before it was set can be corrected, as any other.
        terms_by_batch[batch.pk] = effective_terms(
            [*rates[of_project], *firsts[batch.pk], *corrections[of_project]],
            [*rates[of_batch], *corrections[of_batch]],
            restored.get(of_project),
        )
    return terms_by_batch
