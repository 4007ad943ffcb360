"""Agreement of a batch: its figures, and the same responses taken apart by source, by week and by pairs of people.

`compared_responses` says which responses enter, `rating_tallies` counts them. `report` is all of it as JSON, for a
snapshot.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.models import Batch, RevisionRequest
from annotation.models import PersonBatchCounts as Counts
from annotation.quality import response_patterns
from annotation.quality.compared_responses import (
    PAGE,
    RatedResponse,
    agreement_assignments,
    item_pages,
    planned_assignments,
    rated_responses,
    responses_of,
    restore_response,
    shapes_by_item,
)
from annotation.quality.label_agreement import confusion, distribution, labels
from annotation.quality.rating_tallies import (
    NO_SHAPES,
    Figure,
    RatingTally,
    figures_of,
    measures_of,
    rounded,
    rounded_figure,
    statistics_of,
    tallies,
    values_by_annotator,
    wants_shapes,
)
from tableqa.agreement.differences import over_raters
from tableqa.agreement.measures import MEASURES
from tableqa.statistics.zero_width_intervals import honest_interval
from tasks.contract import Measure

IN_PAIRS = 60
"""The most people with figures in pairs, those with the most submissions: there are 1,770 pairs of them."""
MOST_GROUPS = 12
"""Values of an own column with figures: one with more divides no items into groups."""
MOST_COLUMNS = 10
"""Own columns with figures, the first ones."""


def batch_figures(batch: Batch) -> list[Figure]:
    """The figures of a batch now, from what enters agreement (`agreement_assignments`)."""
    return figures_of(batch_tallies(batch))


def figures_over_people(batch: Batch) -> list[Figure]:
    """The figures of labels and scales with intervals that hold for other people, too (`over_raters`). Holds all ratings."""
    task, figures = batch.task(), []
    rows = list(rated_responses(batch))
    people = sorted({row.annotator for row in rows})
    for measure in measures_of(task, batch.people_compared):
        if measure.level not in ("nominal", "ordinal", "interval"):
            continue
        tally, ratings = RatingTally(measure), []
        for item, group in itertools.groupby(rows, key=lambda row: row.item):
            values = values_by_annotator(measure, {row.annotator: row.response for row in group})
            tally.add(values, item, NO_SHAPES)
            ratings.append([values.get(person) for person in people])
        for statistic in statistics_of(measure):
            over_units = tally.agreement(statistic)
            if statistic in MEASURES:
                over_units = over_raters(over_units, ratings, statistic, order=tally.order(statistic))
            figures.append(rounded_figure(measure, statistic, over_units))
    return figures


def batch_tallies(batch: Batch) -> list[RatingTally]:
    """The ratings of every measure of a batch now.

    Of labels the database counts which responses are together, and each pattern is read once. Of cells and edits every
    response is read: they are compared within the table of their item, and hardly two items are alike.
    """
    task = batch.task()
    measures = measures_of(task, batch.people_compared)
    if not measures:
        return []
    if wants_shapes(task, batch.people_compared):
        return tallies(
            task, (row[:3] for row in rated_responses(batch)), shapes_by_item(batch), batch.people_compared
        )
    people = dict(Counts.objects.filter(batch=batch, submitted__gt=0).values_list("person_id", "submitted"))
    measure_tallies = [RatingTally(measure) for measure in measures]
    alike = response_patterns.count_patterns(batch, submitted=sum(people.values()))
    while some := dict(itertools.islice(alike, PAGE)):
        responses_by_item: dict[int, dict[str, Any]] = {item: {} for item in some}
        for item, person, response in (
            agreement_assignments(batch)
            .filter(item__in=list(some))
            .values_list("item_id", "person_id", "blind")
        ):
            responses_by_item[item][str(person)] = restore_response(task, response or {})
        for item, responses in responses_by_item.items():
            for tally in measure_tallies:
                tally.add(values_by_annotator(tally.measure, responses), "", NO_SHAPES, some[item])
    # A person with none of the items that were read is a rater, too, if any of their responses counts.
    for person in people:
        unseen = [tally for tally in measure_tallies if str(person) not in tally.raters]
        for response in responses_of(batch, person) if unseen else ():
            parsed = restore_response(task, response)
            for tally in unseen:
                if tally.measure.value(parsed) is not None:
                    tally.raters.add(str(person))
            unseen = [tally for tally in unseen if str(person) not in tally.raters]
            if not unseen:
                break
    return measure_tallies


@dataclass
class Survey:
    """The ratings of one measure: all of them, and by source, week, own column, pair of people, and person with all others.

    In `people` a unit is an item with one of the others: each of a person's responses against each beside it. Those of
    one item hold the same response, and so the interval draws whole items.
    """

    whole: RatingTally
    sources: dict[str, RatingTally] = field(default_factory=dict)
    weeks: dict[str, RatingTally] = field(default_factory=dict)
    columns: dict[str, dict[str, RatingTally]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], RatingTally] = field(default_factory=dict)
    people: dict[str, RatingTally] = field(default_factory=dict)

    @property
    def statistic(self) -> str:
        """The one that slices are given in: the first that the kind names."""
        return statistics_of(self.whole.measure)[0]


def survey_measures(
    measures: Sequence[Measure],
    rows: Iterable[RatedResponse],
    shapes: Mapping[str, tuple[int, int]] = NO_SHAPES,
    in_pairs: set[str] | None = None,
) -> list[Survey]:
    """The ratings of every measure taken apart, from rows item by item. `in_pairs`: whose pairs are kept (None: all)."""
    surveys = [Survey(RatingTally(measure)) for measure in measures]
    groups: dict[str, set[str]] = {}
    for item, group in itertools.groupby(rows, key=lambda row: row.item):
        of_item = list(group)
        responses = {row.annotator: row.response for row in of_item}
        source, week = of_item[0].source, of_item[0].week
        for column, value in of_item[0].columns:
            if column in groups or len(groups) < MOST_COLUMNS:
                groups.setdefault(column, set()).add(value)
        for survey in surveys:
            measure = survey.whole.measure
            ratings = values_by_annotator(measure, responses)
            for tally in (
                survey.whole,
                _tally_for(survey.sources, source, measure),
                _tally_for(survey.weeks, week, measure),
            ):
                tally.add(ratings, item, shapes)
            for column, value in of_item[0].columns:
                if len(groups.get(column, ())) in range(1, MOST_GROUPS + 1):
                    _tally_for(survey.columns.setdefault(column, {}), value, measure).add(
                        ratings, item, shapes
                    )
                else:
                    survey.columns.pop(column, None)
            of_person: dict[str, list[dict[str, Any]]] = {}
            for first, second in itertools.combinations(sorted(ratings), 2):
                both = {first: ratings[first], second: ratings[second]}
                of_person.setdefault(first, []).append(both)
                of_person.setdefault(second, []).append(both)
                if in_pairs is None or (first in in_pairs and second in in_pairs):
                    _tally_for(survey.pairs, (first, second), measure).add(both, item, shapes)
            for person, beside in of_person.items():
                _tally_for(survey.people, person, measure).add_pairs(beside, item, shapes)
    return surveys


def _tally_for(of: dict[Any, RatingTally], name: Any, measure: Measure) -> RatingTally:
    if name not in of:
        of[name] = RatingTally(measure)
    return of[name]


def report(batch: Batch) -> dict[str, Any]:
    """Everything a page says of a batch's agreement, as JSON; people by their keys, which the page turns into names.

    `figures` is what `batch_figures` gives, and so what a release says. `measures` holds for each measure the slices,
    the figures of pairs and people, the confusion of labels, the counts of labels in current responses, and the data of
    the sample-size estimate.
    """
    task = batch.task()
    measures = measures_of(task, batch.people_compared)
    if not measures:
        return {"figures": [], "measures": []}
    most = Counts.objects.filter(batch=batch, submitted__gt=0).order_by("-submitted", "person_id")
    people = {str(key) for key in most.values_list("person_id", flat=True)[:IN_PAIRS]}
    surveys = survey_measures(
        measures, rated_responses(batch, with_columns=True), shapes_by_item(batch), people
    )
    current = _current_tallies(batch, measures)
    return {
        "figures": [figure.to_dict() for figure in batch_figures(batch)],
        "measures": [
            _survey_data(survey, current.get(survey.whole.measure.name, survey.whole)) for survey in surveys
        ],
    }


def _current_tallies(batch: Batch, measures: Sequence[Measure]) -> dict[str, RatingTally]:
    """By name, the labels of current responses, where one was sent back and so enters agreement as it was before."""
    tallies = {
        measure.name: RatingTally(measure) for measure in measures if measure.level in ("nominal", "ordinal")
    }
    if not tallies or not RevisionRequest.objects.filter(assignment__batch=batch).exists():
        return {}
    task, planned = batch.task(), planned_assignments(batch).order_by("item_id", "person_id")
    for keys in item_pages(batch):
        rows = planned.filter(item_id__gte=keys[0], item_id__lte=keys[-1])
        of_items = rows.values_list("item__public_id", "person_id", "annotation__response")
        for item, group in itertools.groupby(of_items, key=lambda row: row[0]):
            responses = {
                str(person): restore_response(task, response) for _, person, response in group if response
            }
            for tally in tallies.values():
                tally.add(values_by_annotator(tally.measure, responses), item, NO_SHAPES)
    return tallies


def _survey_data(survey: Survey, current: RatingTally) -> dict[str, Any]:
    measure, statistic = survey.whole.measure, survey.statistic
    in_pairs = "cohen_kappa" if measure.level == "nominal" else statistic

    def slices(tallies: Mapping[str, RatingTally]) -> list[dict[str, Any]]:
        return [
            {"name": name, **_figure_summary(tally, statistic)} for name, tally in sorted(tallies.items())
        ]

    return {
        "name": measure.name,
        "level": measure.level,
        "statistic": statistic,
        "sources": slices(survey.sources),
        "weeks": slices(survey.weeks),
        "columns": [
            {"name": name, "groups": slices(tallies)}
            for name, tallies in survey.columns.items()
            if len(tallies) > 1
        ],
        "pair_statistic": in_pairs,
        "pairs": [
            {"one": first, "other": second, **_figure_summary(tally, in_pairs)}
            for (first, second), tally in sorted(survey.pairs.items())
        ],
        "people": [
            {
                "person": person,
                "identical": _identical_share(measure, tally),
                "items": tally.clusters.total(),
                **_figure_summary(tally, statistic),
            }
            for person, tally in sorted(survey.people.items())
        ],
        "basis": asdict(survey.whole.basis(statistic)),
        "confusion": confusion(survey.whole),
        "labels": labels(survey.whole),
        "distribution": distribution(current),
    }


def _figure_summary(tally: RatingTally, statistic: str) -> dict[str, Any]:
    """A figure without what is the same for all of a survey."""
    whole = tally.figure(statistic).to_dict()
    return {name: whole[name] for name in ("value", "low", "high", "units", "raters", "ratings", "reason")}


def _identical_share(measure: Measure, tally: RatingTally) -> dict[str, Any] | None:
    """The share of a person's responses equal to another's, with its interval over items; None where they are not labels."""
    if measure.level in ("cells", "edits"):
        return None
    equal = sum(count for pattern, count in tally.patterns.items() if len(set(pattern)) == 1)
    result = tally.agreement("percent_agreement")
    items = tally.clusters.total()
    ends = honest_interval(result.value, result.low, result.high, items, bounds=(0.0, 1.0))
    return {
        "hits": equal,
        "n": items,
        "value": rounded(result.value),
        "low": rounded(ends.low),
        "high": rounded(ends.high),
    }
