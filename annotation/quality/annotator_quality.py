"""How each annotator of a batch is doing: pace, gold, reliability, ways of working, skips. Figures, never verdicts.

Everything here is for a person to look at. Nothing ends a lease, takes a label away, or changes what a person is paid.
How far a person agrees with the others is in the batch's agreement (`annotation.quality.agreement_report.report`, `people`).
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext_noop

from annotation.models import Assignment, Batch, PersonBatchCounts
from annotation.quality import compared_responses, gold, label_agreement, rating_tallies
from tableqa.quality_control.careless_responding import Habit, always_the_same, copy_paste, sped_up, too_fast
from tableqa.statistics.clustered_intervals import mean_over
from tableqa.statistics.median_intervals import median_interval
from tasks.contract import TaskType
from tasks.pace import least_seconds

OF_OTHERS = 5_000
"""The size of the sample of the others' times and texts."""
REASONS = 8
OTHER_REASONS = gettext_noop("other reasons")
"""Reasons for skipping that are listed; further ones are added up."""


@dataclass
class PersonWork:
    """What one person submitted in a batch, in the order of work. Unknown times (0) are left out; one that was
    too short to be rounded is known.

    timed, labelled   public ids of the items that `seconds` and `labels` are of
    """

    seconds: list[float] = field(default_factory=list)
    timed: list[str] = field(default_factory=list)
    labels: list[Hashable] = field(default_factory=list)
    labelled: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Submission:
    """One submitted response with when and how long."""

    item: str
    person: str
    at: datetime
    seconds: float
    response: Any
    data: Mapping[str, Any]
    planned: bool


def report(batch: Batch) -> dict[str, Any]:
    """The figures of all with a tally in the batch, as JSON; people by their keys.

    `people` maps a key to counts, median seconds of active time and items per hour with the ends of their intervals (null
    without one), gold (right, judged), habits, and skip reasons; `measure` is the one whose labels the habits are about;
    `reliability` holds for each measure on few labels what `tableqa.agreement.dawid_skene` says of the labels alone.
    """
    task = batch.task()
    measures = [
        entry
        for entry in rating_tallies.measures_of(task, batch.people_compared)
        if entry.level in ("nominal", "ordinal", "interval")
    ]
    worked: dict[str, PersonWork] = defaultdict(PersonWork)
    labels: dict[str, list[tuple[str, str, Hashable]]] = {entry.name: [] for entry in measures}
    texts = [entry.name for entry in task.fields if entry.kind == "text"]
    rows = sorted(submissions(batch, task), key=lambda entry: (entry.at, entry.item))
    for row in rows:
        of_person = worked[row.person]
        if row.seconds > 0:
            of_person.seconds.append(row.seconds)
            of_person.timed.append(row.item)
        for index, measure in enumerate(measures):
            value = measure.value(row.response)
            if value is None:
                continue
            if index == 0:
                of_person.labels.append(value)
                of_person.labelled.append(row.item)
            if row.planned and measure.level != "interval":
                labels[measure.name].append((row.item, row.person, value))
        free_text = "\n".join(
            text for name in texts if isinstance(text := row.data.get(name), str) and text.strip()
        )
        if free_text:
            of_person.texts[row.item] = free_text
    judged = gold.accuracy(batch)
    skipped = skip_reasons(batch)
    habits = habits_of(worked, least_seconds(task))
    return {
        "people": {
            str(tally.person_id): {
                "submitted": tally.submitted,
                "skipped": tally.skipped,
                "returned": tally.returned,
                "seconds": sum(mine.seconds),
                "timed": len(mine.seconds),
                **_pace_figures(mine.seconds),
                "gold": [share.hits, share.n]
                if (share := judged.get(tally.person_id)) is not None and share.n
                else None,
                "habits": [_habit_data(entry) for entry in habits.get(str(tally.person_id), ())],
                "skips": skipped.get(tally.person_id, []),
            }
            for tally in PersonBatchCounts.objects.filter(batch=batch).order_by("person_id")
            for mine in (worked.get(str(tally.person_id), PersonWork()),)
        },
        "measure": measures[0].name if measures else "",
        "reliability": [
            estimate
            for entry in measures
            if (estimate := reliability(entry.name, labels[entry.name], entry.order)) is not None
        ],
    }


def submissions(batch: Batch, task: TaskType) -> Iterator[Submission]:
    """Every submitted response of a batch, in pages, gold and added places among them: they are work like any other."""
    rows = Assignment.objects.filter(batch=batch).submitted().order_by("item_id", "person_id")
    fields = (
        *("item__public_id", "person_id", "ended_at", "annotation__made_at", "annotation__active_seconds"),
        *("annotation__response", "slot__added", "item__is_gold"),
    )
    for keys in compared_responses.item_pages(batch):
        for row in rows.filter(item_id__gte=keys[0], item_id__lte=keys[-1]).values_list(*fields):
            item, person, ended, made_at, seconds, response, added, is_gold = row
            if response is None:
                continue
            yield Submission(
                item=item,
                person=str(person),
                at=ended or made_at,
                seconds=seconds,
                response=compared_responses.restore_response(task, response),
                data=response["data"],
                planned=not added and not is_gold,
            )


def habits_of(worked: Mapping[str, PersonWork], floor: float = 0.0) -> dict[str, list[Habit]]:
    """What `tableqa.quality_control.careless_responding` says of each person compared with all others; `floor`: seconds
    in which no answer is possible."""
    times = {person: work.seconds for person, work in worked.items()}
    texts = {person: list(work.texts.values()) for person, work in worked.items()}
    label_counts = {person: Counter(work.labels) for person, work in worked.items()}
    everybody: Counter[Hashable] = sum(label_counts.values(), Counter())
    habits_by_person = {}
    for person, work in worked.items():
        others = [value for name in sorted(times) if name != person for value in times[name]]
        habits = [
            _with_item_ids(habit, work.timed)
            for habit in (too_fast(work.seconds, _thin_out(others), floor), sped_up(work.seconds))
        ]
        if everybody:
            habits.append(
                _with_item_ids(always_the_same(work.labels, everybody - label_counts[person]), work.labelled)
            )
        if any(texts.values()):
            beside = (_thin_out(texts[name], len(texts)) for name in sorted(texts) if name != person)
            habits.append(copy_paste(work.texts, beside))
        habits_by_person[person] = habits
    return habits_by_person


def _with_item_ids(habit: Habit, items: Sequence[str]) -> Habit:
    """The habit with the ids of its items in the place of their positions."""
    return replace(
        habit, items=tuple(items[position] for position in habit.items if isinstance(position, int))
    )


def _thin_out(values: Sequence[Any], among: int = 1) -> Sequence[Any]:
    """Values evenly thinned out to one person's part."""
    step = -(-len(values) * among // OF_OTHERS) or 1
    return values[::step]


def reliability(
    name: str, rows: Sequence[tuple[str, str, Hashable]], order: Sequence[Hashable]
) -> dict[str, Any] | None:
    """What the labels of a measure say about each annotator who belongs to a linked triple (`agreement.dawid_skene`).

    None without any such triple, without two different labels, and for too many of them.
    """
    from tableqa.agreement.dawid_skene import dawid_skene, linked_triples

    used = {label for _, _, label in rows}
    if not linked_triples(rows) or not 1 < len(used) <= label_agreement.FEW_LABELS:
        return None
    estimate = dawid_skene(rows, classes=label_agreement.in_order(used, order))
    return {
        "measure": name,
        "labels": [label_agreement.in_words(label) for label in estimate.classes],
        "prior": [round(share, 4) for share in estimate.prior],
        "converged": estimate.converged,
        "people": {
            person: {
                "labels": annotator.labels,
                "accuracy": round(annotator.accuracy, 4),
                "low": round(annotator.low, 4),
                "high": round(annotator.high, 4),
                "confusion": [[round(share, 4) for share in row] for row in annotator.confusion],
                "seen": [round(value, 2) for value in annotator.seen],
            }
            for person, annotator in estimate.people.items()
            if annotator.linked
        },
    }


def skip_reasons(batch: Batch) -> dict[int, list[list[Any]]]:
    """By person (id), [reason, how often], the commonest first; in one query."""
    rows = (
        Assignment.objects.filter(batch=batch, state=Assignment.State.SKIPPED)
        .values_list("person_id", "reason")
        .annotate(times=Count("pk"))
        .order_by("person_id", "-times", "reason")
    )
    reasons_by_person: dict[int, list[list[Any]]] = defaultdict(list)
    for person, reason, times in rows:
        mine = reasons_by_person[person]
        if len(mine) < REASONS:
            mine.append([reason, times])
        elif len(mine) == REASONS:
            mine.append([OTHER_REASONS, times])
        else:
            mine[-1][1] += times
    return dict(reasons_by_person)


def _pace_figures(seconds: Sequence[float]) -> dict[str, Any]:
    """The median of these times, and the ends of its interval and of that of items per hour.

    Items per hour have no upper end where the interval of the mean time begins at 0.
    """
    middle, mean = median_interval(seconds), mean_over((time, 1) for time in seconds)
    hourly_ends = [3600 / end if end else None for end in (mean.high, mean.low)]
    return {
        "median_seconds": round(middle.value, 6) if middle.value is not None else None,
        "median_ends": [middle.low, middle.high],
        "hourly_ends": hourly_ends,
    }


def _habit_data(habit: Habit) -> dict[str, Any]:
    items = list(habit.items) if habit.raised else []
    label = (
        {} if habit.label is None else {"label": label_agreement.in_words(habit.label), "times": habit.times}
    )
    return {"kind": habit.kind, "raised": habit.raised, "sentence": habit.sentence, "items": items, **label}
