"""How people get on in a batch: time and agreement with the others by a person's n-th item, and labels that were decided.

Every person's submissions are numbered in order of time; the figures of a step are over all people. A
response is held against what most others chose: a decision contains it, and comes late where people differ.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

from annotation.models import Batch, Decision, Outcome
from annotation.quality import compared_responses, label_agreement, rating_tallies
from annotation.quality.annotator_quality import submissions
from tableqa.statistics.clustered_intervals import median_over, proportion_over
from tasks.contract import Measure, TaskType

MOST_LISTED = 200
"""Items of one label whose ids are kept, for a link to them."""
STEPS = (1, 6, 11, 21, 41, 81, 161, 321, 641, 1281)
"""Where steps of a person's n-th item begin: each as long as all before it, because people learn most at the start."""


def report(batch: Batch) -> dict[str, Any]:
    """The learning curve and the decided labels of a batch, as JSON.

    steps    [{"from", "to", "people", "seconds": {value, low, high, n}, "agrees": {hits, n, value, low, high} or None,
             "undecided"}], with intervals over people; `undecided` responses have no others, or others who tie
    decided  {"measure", "labels": [[label, items]], "items", "undecided", "item_ids"}, None where what is decided is no
             label; `undecided` items have a response and no decision
    """
    task = batch.task()
    measure = _label_measure(task, batch)
    decided = _decided_values(batch, task, measure) if measure is not None else {}
    equal = _agrees_with_others(batch, measure) if measure is not None and batch.decides else {}
    turns: Counter[str] = Counter()
    seconds: list[defaultdict[str, list[float]]] = [defaultdict(list) for _ in STEPS]
    agrees: list[defaultdict[str, list[bool | None]]] = [defaultdict(list) for _ in STEPS]
    people: list[set[str]] = [set() for _ in STEPS]
    for submission in sorted(submissions(batch, task), key=lambda row: (row.at, row.item)):
        turns[submission.person] += 1
        step = step_of(turns[submission.person])
        people[step].add(submission.person)
        if submission.seconds > 0:
            seconds[step][submission.person].append(submission.seconds)
        if (submission.item, submission.person) in equal:
            agrees[step][submission.person].append(equal[submission.item, submission.person])
    return {
        "steps": [
            _step_figures(index, people[index], seconds[index], agrees[index])
            for index in range(len(STEPS))
            if people[index]
        ],
        "decided": _label_figures(batch, measure, decided) if measure is not None else None,
    }


def step_of(turn: int) -> int:
    """The place in `STEPS` of a person's n-th item, from 1."""
    return max(index for index, first in enumerate(STEPS) if first <= turn)


def _step_figures(
    index: int, people: set[str], seconds: Mapping[str, list[float]], agrees: Mapping[str, list[bool | None]]
) -> dict[str, Any]:
    middle = median_over(list(seconds.values()))
    timed = sum(map(len, seconds.values()))
    share = proportion_over(
        (verdicts.count(True), len(verdicts) - verdicts.count(None)) for verdicts in agrees.values()
    )
    return {
        "from": STEPS[index],
        "to": STEPS[index + 1] - 1 if index + 1 < len(STEPS) else None,
        "people": len(people),
        "seconds": {"value": middle.value, "low": middle.low, "high": middle.high, "n": timed},
        "agrees": asdict(share) if share.n else None,
        "undecided": sum(verdicts.count(None) for verdicts in agrees.values()),
    }


def _label_measure(task: TaskType, batch: Batch) -> Measure | None:
    """The first measure of the batch whose values are labels."""
    measures = rating_tallies.measures_of(task, batch.people_compared)
    return next((measure for measure in measures if measure.level in ("nominal", "ordinal")), None)


def _agrees_with_others(batch: Batch, measure: Measure) -> dict[tuple[str, str], bool | None]:
    """Whether each response (item, person), as it enters agreement, is what most others chose; None of none and of a tie."""
    verdicts: dict[tuple[str, str], bool | None] = {}
    for item, rated in groupby(compared_responses.rated_responses(batch), key=lambda row: row.item):
        labels = {row.annotator: measure.value(row.response) for row in rated}
        votes = Counter(label for label in labels.values() if label is not None)
        for person, label in labels.items():
            first, second = [*(votes - Counter([label])).most_common(2), (None, 0), (None, 0)][:2]
            if label is not None:
                verdicts[item, person] = label == first[0] if first[1] > second[1] else None
    return verdicts


def _decided_values(batch: Batch, task: TaskType, measure: Measure) -> dict[str, Hashable]:
    """What was accepted of each item, gold items left out: the value of its first outcome."""
    rows = Outcome.objects.filter(
        decision__item__batch=batch,
        decision__kind=Decision.Kind.ACCEPTED,
        decision__item__is_gold=False,
        number=1,
    ).values_list("decision__item__public_id", "response")
    values = {}
    for item, response in rows.iterator(chunk_size=1_000):
        value = measure.value(compared_responses.restore_response(task, response))
        if value is not None:
            values[item] = value
    return values


def _label_figures(batch: Batch, measure: Measure, decided: dict[str, Hashable]) -> dict[str, Any] | None:
    counts = Counter(decided.values())
    items: defaultdict[Hashable, list[str]] = defaultdict(list)
    for item, label in decided.items():
        items[label].append(item)
    if not 1 <= len(counts) <= label_agreement.FEW_LABELS:
        return None
    labels = label_agreement.in_order(counts, measure.order)
    return {
        "measure": measure.name,
        "labels": [[label_agreement.in_words(label), counts[label]] for label in labels],
        "items": counts.total(),
        "undecided": compared_responses.answered_items(batch).filter(decision__isnull=True).count(),
        "item_ids": {
            label_agreement.in_words(label): ids for label, ids in items.items() if len(ids) <= MOST_LISTED
        },
    }
