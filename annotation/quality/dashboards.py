"""What a manager looks at while a study runs: work by day, when it will be done, what it costs, and what to watch for.

`work_summary` and `artifact_figures` read one batch, for a snapshot; everything else here is pure and puts such figures
together for the batches that a person may see.
"""

import math
import zoneinfo
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from decimal import Decimal
from statistics import NormalDist
from typing import Any

from django.db.models import Case, Count, F, Q, Value, When
from django.db.models.functions import TruncDate
from django.utils.translation import gettext

from annotation.models import Assignment, Batch, Decision, Example, Item
from annotation.payments import costs, earnings, ledger
from annotation.platform.keyset import chunks
from annotation.quality import compared_responses
from tableqa.data.tables import Table
from tableqa.quality_control.annotation_artifacts import (
    concentration,
    edit_sizes,
    openings,
    places,
    templates,
)
from tableqa.statistics.clustered_intervals import mean_over
from tableqa.statistics.proportions import Proportion, proportion
from tasks.contract import TaskType

LOOKED_AT = 5_000
"""Items of a batch that the monitors look at: the first ones. Batches are in random order, so these are a sample."""
AT_ONCE = 500
"""Items of one statement."""
RECENT = 14
"""Days whose pace the forecast continues."""
FEWEST_DAYS = 3
"""Days of work below which nothing is forecast."""
DRAWS = 2_000
FARTHEST = 3_650
"""Days beyond which a forecast is no forecast."""
SHOWN = 10
ACCEPTED, GIVEN = "accepted", "given"
"""What the monitors are about; kept so with their figures, and said in words where they are shown."""

State = Assignment.State


# -- the work of a batch ----------------------------------------------------------------------------


def work_summary(batch: Batch) -> dict[str, Any]:
    """What was done, by person and day in the project's time zone, and where people skip, as JSON.

    `days`: [day, person, items submitted, seconds of active time on submissions, on skips and on returns, how many of the
    items have a time], sums of the ledger. `unpaid` are people who earn nothing: simulated ones, and those whose labels were
    made elsewhere; `elsewhere` are the latter. `owed`: what the others earned, by currency, as
    `annotation.payments.earnings` has it. `skips`: by reason, and by source beside how many assignments there were.
    `decided`: how many items are accepted, and how many excluded. `answered`: how many have a response. `per_accepted`:
    seconds per accepted item, see there.
    """
    zone = zoneinfo.ZoneInfo(batch.project.time_zone)
    everything = Assignment.objects.filter(batch=batch)
    rows = ledger.sum_work(
        Q(of_batch=batch.pk),
        day=TruncDate("booked_at", tzinfo=zone),
        timed=Case(When(spent=0, then=Value(0)), default=Value(1)),
    )
    days: defaultdict[tuple[date, int], Counter[str]] = defaultdict(Counter)
    for (_, person, kind, day, timed), (micros, items, _) in rows.items():
        days[day, person].update({kind: micros, "items": items, "timed": items * timed})
    unpaid = dict(
        everything.filter(Q(person__is_simulated=True) | Q(person__is_external=True))
        .order_by("person_id")
        .values_list("person_id", "person__is_external")
        .distinct()
    )
    reasons = everything.filter(state=State.SKIPPED).values_list("reason").annotate(times=Count("pk"))
    by_source = (
        everything.filter(state__in=[State.SKIPPED, State.SUBMITTED])
        .order_by("item__example__source__name")
        .values_list("item__example__source__name")
        .annotate(skips=Count("pk", filter=Q(state=State.SKIPPED)), number=Count("pk"))
    )
    kinds = Decision.objects.filter(item__batch=batch).order_by().values_list("kind")
    decided = dict(kinds.annotate(number=Count("pk")))
    times: Counter[int] = Counter()
    of_items = Q(of_batch=batch.pk, assignment__item__is_gold=False)
    for (*_, item), (micros, *_) in ledger.sum_work(of_items, item=F("assignment__item_id")).items():
        times[item] += micros
    accepted = set(
        Decision.objects.filter(
            item__batch=batch, item__is_gold=False, kind=Decision.Kind.ACCEPTED
        ).values_list("item_id", flat=True)
    )
    return {
        "per_accepted": per_accepted(
            [(micros / ledger.SECOND, item in accepted) for item, micros in sorted(times.items())]
        ),
        "answered": compared_responses.answered_items(batch).count(),
        "decided": [decided.get(Decision.Kind.ACCEPTED, 0), decided.get(Decision.Kind.EXCLUDED, 0)],
        "days": [
            [
                *(day.isoformat(), str(person), done["items"]),
                *(round(done[kind] / ledger.SECOND, 1) for kind in ledger.KINDS),
                done["timed"],
            ]
            for (day, person), done in sorted(days.items())
        ],
        "owed": {
            name: str(amount)
            for name, amount in earnings.sum_shares(earnings.of_batch(batch)).amounts.items()
        },
        "unpaid": [str(key) for key in unpaid],
        "elsewhere": [str(key) for key, external in unpaid.items() if external],
        "skips": {
            "reasons": [[reason, times] for reason, times in reasons.order_by("-times", "reason")[:SHOWN]],
            "sources": [[name, skips, count] for name, skips, count in by_source],
        },
    }


def per_accepted(items: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Seconds of active time per accepted item: of all items worked on, those excluded and undecided among them.

    items: seconds and whether it was accepted. Items of 0 seconds are left out: their time is unknown. The interval is that
    of a ratio of means over items, by linearisation (Cochran 1977, Sampling Techniques, 3rd edition, section 6.4): low is
    never below 0, and there is none of fewer than two accepted items, nor where all items took the same time.
    """
    items = [(seconds, is_accepted) for seconds, is_accepted in items if seconds > 0]
    n = sum(is_accepted for _, is_accepted in items)
    if not n:
        return {"value": None, "low": None, "high": None, "n": 0}
    value = math.fsum(seconds for seconds, _ in items) / n
    low = high = None
    if n > 1:
        squares = math.fsum((seconds - value * is_accepted) ** 2 for seconds, is_accepted in items)
        half = NormalDist().inv_cdf(0.975) * math.sqrt(squares * len(items) / (len(items) - 1)) / n
        if round(half, 3):
            low, high = round(max(0.0, value - half), 3), round(value + half, 3)
    return {"value": round(value, 3), "low": low, "high": high, "n": n}


# -- what a benchmark should not have ---------------------------------------------------------------


def artifact_figures(batch: Batch) -> dict[str, Any]:
    """How answers, places, questions and edits are spread in what the batch makes, as JSON, from its first items.

    Where outcomes are accepted, it is about the examples that they make; before that, and for kinds that judge, about
    the examples that people were given. Evidence and edits come from people's newest responses.
    """
    task = batch.task()
    items = list(
        compared_responses.answered_items(batch).order_by("position").values_list("pk", flat=True)[:LOOKED_AT]
    )
    accepted = {"outcome__decision__kind": Decision.Kind.ACCEPTED}
    accepted_examples = list(_examples_of(items, "outcome__decision__item_id", **accepted))
    examples = accepted_examples or list(_examples_of(items, "items"))
    marked, edited, sizes, questions = _response_figures(batch, task, items)
    answers = [
        (answer, item)
        for _, texts, *_, item in examples
        for answer in sorted({_normalise(text) for text in texts})
    ]
    items_shown = [item for *_, item in examples]
    figures: dict[str, Any] = {
        "items": len(items),
        "examples": len(examples),
        "of": ACCEPTED if accepted_examples else GIVEN,
        "answers": asdict(
            concentration([answer for answer, _ in answers], groups=[item for _, item in answers])
        )
        if answers
        else None,
        "openings": asdict(openings((entry[0] for entry in examples), groups=items_shown))
        if examples
        else None,
        "answer_rows": _position_figures(((entry[2], entry[3]) for entry in examples), items_shown),
        "evidence_rows": _position_figures([rows for rows, _ in marked], [item for _, item in marked]),
        "edit_rows": _position_figures([rows for rows, _ in edited], [item for _, item in edited]),
        "edit_sizes": asdict(edit_sizes([size for size, _ in sizes], [item for _, item in sizes]))
        if sizes
        else None,
        "templates": [asdict(entry) for entry in templates(questions)],
    }
    return figures


Shown = tuple[str, list[str], frozenset[int], int, int]
"""Question, answers, the rows with an answer, rows of the table, key of the item."""
Rows = tuple[frozenset[int], int]
"""Rows that a person marked or edited, and how many rows the table has."""


def _examples_of(items: Sequence[int], path: str, **conditions: str) -> Iterator[Shown]:
    """The examples with one of these items (keys) at the end of the path."""
    for some in chunks(items, AT_ONCE):
        examples = Example.objects.annotate(of_item=F(path)).filter(of_item__in=some, **conditions)
        for example in examples.select_related("stored_table").order_by("pk"):
            table = example.table()
            plain_answers = {_normalise(answer) for answer in example.answers}
            rows = frozenset(
                number
                for number, row in enumerate(table.rows)
                if any(_normalise(cell) in plain_answers for cell in row)
            )
            yield example.question, list(example.answers), rows, table.shape[0], example.of_item


def _response_figures(
    batch: Batch, task: TaskType, items: Sequence[int]
) -> tuple[list[tuple[Rows, int]], list[tuple[Rows, int]], list[tuple[int, int]], dict[str, list[str]]]:
    """Rows of marked cells, those of edits, sizes of edits, each with its item, and the questions of each person."""
    marked, edited, sizes = [], [], []
    questions: dict[str, list[str]] = defaultdict(list)
    cells = next((measure for measure in task.measures if measure.level == "cells"), None)
    operations = task.operations_field
    asks = "question" in {field.name for field in task.fields}
    if cells is None and operations is None and not asks:
        return [], [], [], {}
    submitted = Assignment.objects.filter(batch=batch, slot__added=False).submitted()
    for some in chunks(items, AT_ONCE):
        tables = {
            item.pk: item.example.table()
            for item in Item.objects.filter(pk__in=some).select_related("example__stored_table")
        }
        rows = submitted.filter(item_id__in=some).order_by("item_id", "person_id")
        for pk, person, envelope in rows.values_list("item_id", "person_id", "annotation__response"):
            if envelope is None:
                continue
            response, table = compared_responses.restore_response(task, envelope), tables[pk]
            if cells is not None and (value := cells.value(response)):
                rows_of_cells = frozenset(_row_indexes(table, (row for row, _ in value)))  # type: ignore[attr-defined]
                marked.append(((rows_of_cells, table.shape[0]), pk))
            if operations is not None and (edits := getattr(response, operations)):
                sizes.append((len(edits), pk))
                edited.append(((frozenset(_edited_rows(table, edits)), table.shape[0]), pk))
            if asks and isinstance(question := getattr(response, "question", None), str):
                questions[str(person)].append(question)
    return marked, edited, sizes, dict(questions)


def _row_indexes(table: Table, names: Iterable[str]) -> Iterator[int]:
    for name in names:
        if name in table.row_ids:
            yield table.row_index(name)


def _edited_rows(table: Table, operations: Iterable[Any]) -> Iterator[int]:
    """The rows of the table that operations touch; what touches columns touches none."""
    for operation in operations:
        data = operation.to_dict()
        names = [row for row, _ in data["cells"]] if data["op"] == "mask_cells" else [data.get("row")]
        yield from _row_indexes(table, [name for name in names if isinstance(name, str)])
        if data["op"] == "insert_row" and table.shape[0]:
            at = data.get("at")
            if isinstance(at, int):
                yield min(max(at, 0), table.shape[0] - 1)


def _position_figures(
    rows: Iterable[tuple[frozenset[int], int]], items: Iterable[int] | None = None
) -> dict[str, Any] | None:
    spread = places(rows, items)
    return asdict(spread) if spread.n else None


def _normalise(text: str) -> str:
    return " ".join(text.casefold().split())


# -- when it will be done ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Forecast:
    """How many days the rest will take, at the pace of the last days; all None where `reason` says why.

    per_day     submissions a day over the `days` looked back on, days without work counted
    likely, low, high   further days from today; low to high holds in nine of ten draws of the last days. `high` is None
                where no upper limit can be given: the days were so unsteady that draws of them do no work
    """

    remaining: int
    days: int
    per_day: float | None = None
    likely: int | None = None
    low: int | None = None
    high: int | None = None
    reason: str = ""


def forecast(counts: Sequence[int], remaining: int) -> Forecast:
    """From submissions by day, the last one yesterday, and how many are still to come.

    The last `RECENT` days are looked back on, from the first day of work on. The rest continues at their mean; the
    range comes from a bootstrap of the same days (Efron and Tibshirani 1993, chapter 13). It shows how unsteady the
    pace is, not that a person may fall ill.
    """
    import numpy as np

    worked = [day for day, count in enumerate(counts) if count]
    recent = list(counts)[worked[0] if worked else len(counts) :][-RECENT:]
    day_count = len(recent)
    reason = ""
    if remaining <= 0:
        reason = gettext("All items are submitted.")
    elif len(worked) < FEWEST_DAYS:
        reason = gettext("Not enough data yet. A forecast appears after {fewest_days} days of work.")
    elif not any(recent):
        reason = gettext("No submissions in the last {days} days, so there is no forecast.")
    if reason:
        reason = reason.format(fewest_days=FEWEST_DAYS, days=day_count)
        return Forecast(max(remaining, 0), day_count, reason=reason)
    pace = np.array(recent, float)
    drawn = np.random.default_rng(0).choice(pace, (DRAWS, day_count)).mean(axis=1)
    with np.errstate(divide="ignore"):
        needed = np.minimum(np.ceil(remaining / drawn), FARTHEST + 1)
    low, high = (int(value) for value in np.quantile(needed, [0.05, 0.95], method="inverted_cdf"))
    per_day = float(pace.mean())
    likely = math.ceil(remaining / per_day)
    if likely > FARTHEST:
        reason = gettext("At this pace it takes more than ten years.")
        return Forecast(remaining, day_count, per_day, reason=reason)
    at_most = max(high, likely) if high <= FARTHEST else None
    return Forecast(remaining, day_count, per_day, likely, min(low, likely), at_most)


def submissions_by_day(days: Iterable[Sequence[Any]], last: date) -> tuple[list[date], list[int]]:
    """Submissions of every day from the first with any to `last`, days without work among them."""
    counted: Counter[date] = Counter()
    for day, _, count, *_ in days:
        counted[date.fromisoformat(day)] += count
    worked = sorted(day for day, count in counted.items() if count)
    if not worked:
        return [], []
    every = [worked[0] + timedelta(count) for count in range(max(0, (last - worked[0]).days) + 1)]
    return every, [counted[day] for day in every]


# -- hours and cost ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """The cost of the work on one batch. No `amounts`: nothing is paid.

    by_kind seconds on submissions, skips and returns
    timed   how many of the submitted have a time; what was made elsewhere has none
    each    seconds of active time a submission, of those that have a time; `ends` of its interval over people
    """

    name: str
    submitted: int
    by_kind: Mapping[str, float]
    amounts: Mapping[str, Decimal]
    timed: int = 0
    each: float | None = None
    ends: tuple[float | None, float | None] = (None, None)

    @property
    def hours(self) -> float:
        """All active time, also on what was skipped or returned."""
        return sum(self.by_kind.values()) / 3600

    @property
    def cost(self) -> str:
        """The amounts in words."""
        return costs.all_in_words(self.amounts)

    def per_hundred(self, accepted: int) -> str:
        """What a hundred accepted examples cost, in words."""
        return costs.all_in_words(costs.all_per_hundred(self.amounts, examples=accepted))


def effort_of(name: str, days: Iterable[Sequence[Any]], owed: Mapping[str, str]) -> Effort:
    """What these days come to: time and amounts by currency as `work_summary` gives them."""
    submitted, timed, seconds = 0, Counter[str](), defaultdict[str, list[float]](list)
    by_kind: dict[str, list[float]] = {kind: [] for kind in ledger.KINDS}
    for _, person, count, *times, with_time in days:
        submitted += count
        timed[person] += with_time
        seconds[person].append(times[0])
        for kind, value in zip(ledger.KINDS, times, strict=True):
            by_kind[kind].append(value)
    each = mean_over((math.fsum(seconds[person]), timed[person]) for person in seconds)
    return Effort(
        name,
        submitted,
        {kind: math.fsum(times) for kind, times in by_kind.items()},
        {currency: Decimal(amount) for currency, amount in owed.items()},
        timed.total(),
        each.value,
        (each.low, each.high),
    )


def skip_shares(sources: Iterable[Sequence[Any]]) -> list[tuple[str, Proportion]]:
    """How often people skip, by source, from `work_summary`'s counts of several batches; the most skipped first."""
    skipped: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for name, skips, count in sources:
        skipped[name] += skips
        totals[name] += count
    shares = [(name, proportion(skipped[name], totals[name])) for name in totals]
    return sorted(shares, key=lambda share: (-(share[1].value or 0.0), share[0]))
