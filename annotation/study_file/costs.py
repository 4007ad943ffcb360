"""What the work of the batches of a study file costs: annotations, hours and pay, with the intervals of what is measured."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_noop

from annotation.study_file.comparison import Comparison, in_order
from annotation.study_file.current_state import Counts, Pace, kind_of
from annotation.study_file.schema import BatchSpec, people_needed
from tasks.contract import decision_rules
from tasks.pace import usual_seconds

MEASURABLE = 20
"""Accepted items from which on the share that continues is measured; below that, the usual share is expected."""


@dataclass(frozen=True)
class Cost:
    """The work that a batch asks for: annotations still to be made, seconds each, and what they are paid.

    `measured` is on how many annotations the pace was measured, 0 where it is what such a form usually takes; `ends` are
    those of the interval of the seconds. `most`: the number is not known yet. `bound` says what the number is,
    and pay by the item (`BOUNDS`); hours, and pay `by_hour`, are always "about". `annotations` None: unknown yet.
    """

    batch: str
    annotations: int | None
    seconds: float
    measured: int
    most: bool = False
    currency: str = ""
    money: float | None = None
    expected: int | None = None
    ends: tuple[float, float] | None = None
    bound: str = ""
    by_hour: bool = False

    def follows_time(self, name: str) -> bool:
        """Whether hours or pay (a property) are known about as well as the time."""
        return "hours" in name or (self.by_hour and "money" in name)

    @property
    def hours(self) -> float | None:
        return None if self.annotations is None else self.annotations * self.seconds / 3600

    @property
    def expected_hours(self) -> float | None:
        return None if self.expected is None else self.expected * self.seconds / 3600

    @property
    def expected_money(self) -> float | None:
        if self.money is None or not self.annotations or self.expected is None:
            return self.money
        return self.money * self.expected / self.annotations


BOUNDS: Final = ("", gettext_noop("at most"), gettext_noop("about"))
"""Exact, an upper limit, or neither: the rule, more people, gold or several outcomes of an item can add."""


def interval(costs: Iterable[Cost], name: str) -> tuple[float, float] | None:
    """The ends of hours or pay (a property) of batches, added up; None where the pace of one is not measured."""
    low = high = 0.0
    for cost in costs:
        if amount := getattr(cost, name):
            ends = cost.ends if cost.follows_time(name) else (cost.seconds, cost.seconds)
            if ends is None:
                return None
            low, high = low + amount * ends[0] / cost.seconds, high + amount * ends[1] / cost.seconds
    return low, high


class CostEstimate(Comparison):
    """The work that the batches of the file ask for."""

    def people(self) -> int:
        """The annotators once all have joined; where these are too few for the batches, as many as they need."""
        people = self.annotators(joining=True) - self.state.simulated
        return max(people, people_needed(self.study))

    def costs(self, people: int) -> Iterator[Cost]:
        """The cost of each batch with this number of annotators."""
        # Of each batch, how many items there will be in all, and how many of these are still to be decided.
        items: dict[str, int | None] = {}
        coming: dict[str, int | None] = {}
        # The same of `coming` as far as can be expected, where labels decide what continues.
        likely: dict[str, float | None] = {}
        open_ended: set[str] = set()
        for section, index in in_order(self.study):
            if section != "batch":
                continue
            spec = self.study.batches[index]
            overlap = people if spec.strategy == "everyone" else spec.overlap
            counts = self.state.batches.get(spec.name)
            if counts is None:
                most = bool(spec.feeds_from or spec.task.without) or self.draws_future_examples(spec)
                own = undecided = self.drawn_items(spec)
                fed = items.get(spec.feeds_from) if spec.feeds_from else 0
                remaining = None if own is None else own * overlap
            else:
                most = bool(spec.feeds_from) and counts.state != "closed"
                own = counts.items - counts.gold
                undecided = own if counts.undecided is None else counts.undecided
                fed = coming.get(spec.feeds_from) if most else 0
                remaining = _remaining_annotations(counts, overlap, spec)
            items[spec.name] = None if own is None or fed is None else own + fed
            coming[spec.name] = None if undecided is None or fed is None else undecided + fed
            likely[spec.name] = self.expected(spec, undecided or 0, likely) if most else undecided
            remaining = None if remaining is None or fed is None else remaining + fed * overlap
            gold = max(counts.gold if counts else 0, len(spec.gold))
            if remaining is not None and spec.purpose == "work" and spec.gold_percent:
                # A percentage of each person's turns, and each person has each gold item once.
                turns = round(remaining * spec.gold_percent / (100 - spec.gold_percent))
                remaining += min(turns, max(gold * people - (counts.gold_submitted if counts else 0), 0))
            upper, lower = coming[spec.name], likely[spec.name]
            share = min(lower / upper, 1.0) if upper and lower is not None else 1.0
            if self.is_open_ended(spec, open_ended):
                open_ended.add(spec.name)
            bound = "about" if spec.name in open_ended else "at most" if most else ""
            yield self.cost(spec, remaining, share, most=most, bound=bound)

    def expected(self, spec: BatchSpec, own: float, likely: Mapping[str, float | None]) -> float | None:
        """How many items are expected to be decided in a batch: its own and those that will go on to it."""
        if not spec.feeds_from:
            return own
        before = likely.get(spec.feeds_from)
        return None if before is None else own + before * self.share(spec)

    def share(self, spec: BatchSpec) -> float:
        """Which share of the accepted items of the batch before continues: as measured here, else as it usually is."""
        here, before = self.state.batches.get(spec.name), self.state.batches.get(spec.feeds_from)
        if here is not None and before is not None and before.accepted >= MEASURABLE:
            return min((here.items - here.gold) / before.accepted, 1.0)
        feeding = self.batches.get(spec.feeds_from)
        usual = feeding.task.usual_shares if feeding is not None else {}
        share = 1.0
        for name, values in spec.feeds_when.items():
            if name in usual:
                share *= min(sum(usual[name].get(value, 0.0) for value in values), 1.0)
        return share

    def is_open_ended(self, spec: BatchSpec, open_ended: Collection[str]) -> bool:
        """Whether the rule, more people, gold, several outcomes of an item or such a batch before it add annotations."""
        before = self.batches.get(spec.feeds_from)
        if before is not None and (before.name in open_ended or (before.overlap > 1 and before.task.making)):
            return True
        most = decision_rules.max_responses(spec.task, spec.resolve, spec.settings)
        return bool(most > spec.overlap or spec.strategy == "everyone" or spec.gold_percent)

    def cost(self, spec: BatchSpec, annotations: int | None, share: float, *, most: bool, bound: str) -> Cost:
        kind = kind_of(spec.type, spec.variant, spec.purpose)
        pace = self.state.paces.get(kind) or Pace(usual_seconds(spec.task), 0)
        pay = spec.pay or self.study.pay
        money = None
        if annotations is not None and pay:
            each = pay.get("per_item")
            money = annotations * (each if each is not None else pay["per_hour"] * pace.seconds / 3600)
        expected = None if annotations is None else round(annotations * share)
        work = (spec.name, annotations, pace.seconds, pace.of, most)
        return Cost(*work, str(pay.get("currency", "")), money, expected, pace.ends, bound, "per_hour" in pay)


def _remaining_annotations(counts: Counts, overlap: int, spec: BatchSpec) -> int:
    """How many annotations the items that are there still ask for."""
    if counts.state == "closed":
        return 0
    on_demand = spec.strategy == "everyone" or spec.purpose != "work"
    if counts.open_slots is not None and counts.state != "planned" and not on_demand:
        return counts.open_slots
    return max((counts.items - counts.gold) * overlap - (counts.submitted - counts.gold_submitted), 0)
