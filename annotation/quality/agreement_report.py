"""Agreement of a batch: which responses enter, by which measures. The arithmetic is `tableqa.agreement.coefficients`.

The same function (`RatingTally.figure`) serves the pages, the command, the release and `verify_release`, so that they cannot
differ: which responses stand together on how many items in, figures out. Decisions never enter, nor do added places, nor
gold items. `survey_measures` takes the same responses apart by source, by week and by pairs of people; `report` is that as
JSON, for a snapshot.
"""

import itertools
import zoneinfo
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

from django.db.models import F, JSONField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Batch, Item, SentBack
from annotation.models import Tally as Counts
from annotation.quality import response_patterns
from tableqa.agreement.coefficients import from_patterns, influence_of_patterns, over_clusters
from tableqa.agreement.label_figures import LabelFigures, Share
from tableqa.agreement.measures import Agreement
from tableqa.agreement.sample_size import Basis, basis
from tableqa.statistics.bootstrap import Bootstrap
from tableqa.statistics.zero_width_intervals import honest_interval
from tasks.contract import Measure, TaskType

REPLICATES = 1_000
SEED = 0
NO_SHAPES: Mapping[str, tuple[int, int]] = {}
DIGITS = 6
"""Decimals of every stored figure (docs/decisions/0001): more would differ between machines."""
IN_PAIRS = 60
"""Figures of two people are given for so many people, those with the most submissions: there are 1,770 pairs of them."""
FEW_LABELS = 12
"""So many labels are confused with one another in a table that can be read."""
PAGE = 1_000
"""Items whose responses are read at once."""
BESIDE: Mapping[str, tuple[str, ...]] = {
    "nominal": ("percent_agreement", "fleiss_kappa", "krippendorff_alpha_nominal"),
    "ordinal": ("percent_agreement", "krippendorff_alpha_ordinal"),
    "interval": ("percent_agreement", "krippendorff_alpha_interval"),
    "sets": ("percent_agreement", "krippendorff_alpha_masi", "krippendorff_alpha_jaccard"),
    "ranks": (
        "kendall_w",
        "mean_spearman",
        "percent_agreement",
        "fleiss_kappa",
        "krippendorff_alpha_nominal",
    ),
    "cells": ("cell_sets_jaccard", "cell_sets_masi"),
    "edits": ("edits_masi", "edits_jaccard"),
}
"""What every measure of a level is given in, beside the statistics that its kind names."""


class RatedResponse(NamedTuple):
    """One person's response to an item, as it enters agreement, with the slices that the item's figures go into."""

    item: str
    annotator: str
    response: Any
    source: str = ""
    week: str = ""


@dataclass(frozen=True)
class Figure:
    """One statistic of one measure of a batch, with its interval; `value` None has a `reason`."""

    measure: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    units: int
    raters: int
    ratings: int
    reason: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "confidence": 0.95, "replicates": REPLICATES, "seed": SEED}


def figures(
    task: TaskType,
    rows: Iterable[tuple[str, str, Any]],
    shapes: Mapping[str, tuple[int, int]] = NO_SHAPES,
    overlap: int = 1,
) -> list[Figure]:
    """The kind's statistics over rows of (item, annotator, response), item by item.

    `shapes_by_item` gives rows and columns of each item's table where the kind compares cells or edits (`wants_shapes`),
    `overlap` is that of the batch: what people make is compared where several are asked for it.
    """
    return [
        tally.figure(statistic)
        for tally in tallies(task, rows, shapes, overlap)
        for statistic in statistics_of(tally.measure)
    ]


@dataclass
class RatingTally:
    """The ratings of a measure as its statistics need them: how many items show which pattern, and who rated.

    There are few patterns, however many items: the memory does not grow with their number.
    """

    measure: Measure
    patterns: Counter[Any] = field(default_factory=Counter)
    raters: set[str] = field(default_factory=set)
    clusters: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    """Where units belong together, the patterns of each item's units, and how many items are like it (`add_pairs`)."""

    def add_pairs(
        self, pairs: Iterable[Mapping[str, Any]], item: str, shapes: Mapping[str, tuple[int, int]]
    ) -> None:
        """Comparisons of one item that stand or fall together: the interval is then over items, not over comparisons."""
        pair_patterns = []
        for ratings in pairs:
            self.raters.update(ratings)
            pair_patterns.append(_pattern(self.measure, tuple(ratings.values()), item, shapes))
        self.patterns.update(pair_patterns)
        self.clusters[tuple(sorted(pair_patterns, key=repr))] += 1

    def add(
        self, ratings: Mapping[str, Any], item: str, shapes: Mapping[str, tuple[int, int]], items: int = 1
    ) -> None:
        """The ratings of one item by annotator, those that say nothing left out; of so many items that are like it."""
        self.raters.update(ratings)
        self.patterns[_pattern(self.measure, tuple(ratings.values()), item, shapes)] += items

    def figure(self, statistic: str) -> Figure:
        """One statistic, rounded as it is stored."""
        return rounded_figure(self.measure, statistic, self.agreement(statistic))

    def agreement(self, statistic: str) -> Agreement:
        """One statistic as `tableqa` gives it; where units belong together, with its interval over items."""
        result = self._unit_agreement(statistic)
        if not self.clusters or statistic == "cohen_kappa":
            return result
        if self.measure.level == "cells":
            from tableqa.agreement import cell_sets

            return cell_sets.over_clusters(result, self.clusters, _distance(statistic))
        if self.measure.level == "edits":
            from tableqa.agreement import edits

            used = self._used_operations()
            together = [
                [_edits_of(pattern, used) for pattern in cluster] for cluster in self.clusters.elements()
            ]
            return edits.over_clusters(result, together, _distance(statistic))
        if (rank := _RANK_MEASURES.get(statistic)) is not None:
            from tableqa.agreement import rankings

            ranked = Counter[Any]()
            for cluster, count in self.clusters.items():
                ranked[tuple(map(rankings.pattern_of, cluster))] += count
            return rankings.over_clusters(result, ranked, rank)
        return over_clusters(result, self.clusters, statistic, order=self.order(statistic))

    def _unit_agreement(self, statistic: str) -> Agreement:
        if self.measure.level == "cells":
            from tableqa.agreement.cell_sets import from_patterns as of_cells

            return of_cells(
                self.patterns,
                _distance(statistic),
                raters=len(self.raters),
                replicates=REPLICATES,
                seed=SEED,
            )
        if self.measure.level == "edits":
            from tableqa.agreement.edits import edit_agreement

            result = edit_agreement(self._edits(), _distance(statistic), replicates=REPLICATES, seed=SEED)
            return replace(result, raters=len(self.raters))
        if (rank := _RANK_MEASURES.get(statistic)) is not None:
            from tableqa.agreement.rankings import from_patterns as of_ranks

            raters = len(self.raters)
            return of_ranks(self._rankings(), rank, raters=raters, replicates=REPLICATES, seed=SEED)
        if statistic == "cohen_kappa":
            from tableqa.agreement.pairs import cohen_of_counts

            both = {pattern: count for pattern, count in self.patterns.items() if len(pattern) == 2}
            return cohen_of_counts(both, raters=len(self.raters), replicates=REPLICATES, seed=SEED)
        return from_patterns(
            list(self.patterns),
            list(self.patterns.values()),
            statistic,
            raters=len(self.raters),
            order=self.order(statistic),
            replicates=REPLICATES,
            seed=SEED,
        )

    def basis(self, statistic: str) -> Basis:
        """What is to be known for saying how many more items an interval needs."""
        if self.measure.level == "cells":
            from tableqa.agreement.cell_sets import influence as of_cells

            moved = of_cells(self.patterns, _distance(statistic))
        elif self.measure.level == "edits":
            from tableqa.agreement.edits import influence as of_edits

            moved = of_edits(self._edits(), _distance(statistic))
        elif (rank := _RANK_MEASURES.get(statistic)) is not None:
            from tableqa.agreement.rankings import influence as of_ranks

            moved = of_ranks(self._rankings(), rank)
        else:
            moved = influence_of_patterns(
                list(self.patterns), list(self.patterns.values()), statistic, order=self.order(statistic)
            )
        return basis(self.agreement(statistic), *moved)

    def order(self, statistic: str) -> tuple[Hashable, ...] | None:
        """All categories there are, where the statistic has a use for them."""
        uses_order = statistic in ("krippendorff_alpha_ordinal", "gwet_ac1")
        return self.measure.order if self.measure.order and uses_order else None

    def ratings(self) -> list[Sequence[object]]:
        """The ratings of each item, in no order; of cells there are none."""
        return list(self.patterns.elements())

    def _edits(self) -> list[tuple[int, Sequence[Any]]]:
        """The units of `edit_agreement`: chance is taken among the places of the operations that anybody here used."""
        used = self._used_operations()
        return [_edits_of(pattern, used) for pattern in self.patterns.elements()]

    def _rankings(self) -> Counter[Any]:
        from tableqa.agreement.rankings import pattern_of

        rankings = Counter[Any]()
        for pattern, count in self.patterns.items():
            rankings[pattern_of(pattern)] += count
        return rankings

    def _used_operations(self) -> list[str]:
        return sorted({name for _, _, names in self.patterns for name in names})


def _edits_of(pattern: Any, used: Sequence[str]) -> tuple[int, Sequence[Any]]:
    from tableqa.agreement.edits import places_of

    shape, sets, _ = pattern
    return max(places_of(shape, used), *map(len, sets), 0), sets


def tallies(
    task: TaskType,
    rows: Iterable[tuple[str, str, Any]],
    shapes: Mapping[str, tuple[int, int]] = NO_SHAPES,
    overlap: int = 1,
) -> list[RatingTally]:
    """The ratings of every measure of a kind, from rows as `figures` takes them."""
    measure_tallies = [RatingTally(measure) for measure in measures_of(task, overlap)]
    for item, of_item in itertools.groupby(rows, key=lambda row: row[0]):
        responses = {annotator: response for _, annotator, response in of_item}
        for tally in measure_tallies:
            tally.add(_values_by_annotator(tally.measure, responses), item, shapes)
    return measure_tallies


def measures_of(task: TaskType, overlap: int) -> tuple[Measure, ...]:
    """What people are compared in: the kind's own measures, else their edits where several people edit the same table."""
    operations = task.operations_field
    if task.measures or operations is None or overlap < 2:
        return task.measures
    return (Measure("edits", "edits", lambda response: getattr(response, operations), statistics=()),)


def wants_shapes(task: TaskType, overlap: int = 1) -> bool:
    """Whether the kind's agreement is taken over cells or edits, and so needs the shapes of the tables."""
    return any(measure.level in ("cells", "edits") for measure in measures_of(task, overlap))


def statistics_of(measure: Measure) -> list[str]:
    """The statistics of a measure under the names of `agreement.measures`: the kind's own, then those of its level.

    AC1 depends on how many categories there could be: it is given where the measure names them.
    """
    own = [f"{name}_{measure.level}" if name == "krippendorff_alpha" else name for name in measure.statistics]
    beside = [*BESIDE[measure.level], *(["gwet_ac1"] if measure.level == "nominal" and measure.order else [])]
    return list(dict.fromkeys([*own, *beside]))


def _pattern(
    measure: Measure, values: tuple[Any, ...], item: str, shapes: Mapping[str, tuple[int, int]]
) -> Any:
    if measure.level == "cells":
        from tableqa.agreement.cell_sets import pattern_of

        return pattern_of(shapes[item], values, item)
    if measure.level == "edits":
        from tableqa.agreement.edits import edits_of

        names = frozenset(operation.to_dict()["op"] for operations in values for operation in operations)
        return shapes[item], tuple(map(edits_of, values)), names
    return values


def _values_by_annotator(measure: Measure, responses: Mapping[str, Any]) -> dict[str, Any]:
    values = {who: measure.value(response) for who, response in responses.items()}
    return {who: value for who, value in values.items() if value is not None}


_RANK_MEASURES: Final[Mapping[str, Literal["kendall_w", "mean_spearman"]]] = {
    "kendall_w": "kendall_w",
    "mean_spearman": "mean_spearman",
}
"""Statistics of `tableqa.agreement.rankings`."""


def _distance(statistic: str) -> Literal["jaccard", "masi"]:
    return "masi" if statistic.endswith("_masi") else "jaccard"


def rounded_figure(measure: Measure, statistic: str, result: Agreement) -> Figure:
    """A statistic as it is stored, to `DIGITS` decimals."""
    return Figure(
        measure=measure.name,
        statistic=statistic,
        value=_rounded(result.value),
        low=_rounded(result.low),
        high=_rounded(result.high),
        units=result.units,
        raters=result.raters,
        ratings=result.ratings,
        reason=result.reason or "",
        note=result.note or "",
    )


# -- of a batch as it stands ------------------------------------------------------------------------


def batch_figures(batch: Batch) -> list[Figure]:
    """The figures of a batch as it stands, from what enters agreement (`_agreement_assignments`)."""
    return [
        tally.figure(statistic)
        for tally in batch_tallies(batch)
        for statistic in statistics_of(tally.measure)
    ]


def batch_tallies(batch: Batch) -> list[RatingTally]:
    """The ratings of every measure of a batch as it stands.

    Of labels the database counts which responses stand together, and each pattern is read once. Of cells and edits every
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
            _agreement_assignments(batch).filter(item__in=list(some)).values_list(*_SAID)
        ):
            responses_by_item[item][str(person)] = restore_response(task, response or {})
        for item, responses in responses_by_item.items():
            for tally in measure_tallies:
                tally.add(_values_by_annotator(tally.measure, responses), "", NO_SHAPES, some[item])
    # Whoever is on none of the items that were read has rated all the same, if anything they said counts.
    for person in people:
        unseen = [tally for tally in measure_tallies if str(person) not in tally.raters]
        for response in _responses_of(batch, person) if unseen else ():
            parsed = restore_response(task, response)
            for tally in unseen:
                if tally.measure.value(parsed) is not None:
                    tally.raters.add(str(person))
            unseen = [tally for tally in unseen if str(person) not in tally.raters]
            if not unseen:
                break
    return measure_tallies


_SAID = ("item_id", "person_id", "blind")


def _agreement_assignments(batch: Batch) -> Any:
    """The assignments whose responses enter agreement (a queryset), with `blind`: what was said on a planned place, and
    where an adjudicator sent that back, as it was before its author had read why.
    """
    planned = _planned_assignments(batch)
    if not SentBack.objects.filter(assignment__batch=batch).exists():
        return planned.annotate(blind=F("annotation__response"))
    first = SentBack.objects.filter(assignment=OuterRef("pk")).order_by("pk").values("annotation__response")
    blind = Coalesce(Subquery(first[:1]), F("annotation__response"), output_field=JSONField())
    return planned.annotate(blind=blind)


def _planned_assignments(batch: Batch) -> Any:
    """The assignments of planned places with a submitted response (a queryset), without those of gold items."""
    return Assignment.objects.filter(batch=batch, place__added=False, item__is_gold=False).submitted()


def _responses_of(batch: Batch, person: int) -> Iterator[dict[str, Any]]:
    """What somebody said that enters, a few at a time: the first will mostly do."""
    last, few = 0, 20
    while page := list(
        _agreement_assignments(batch)
        .filter(person=person, pk__gt=last)
        .order_by("pk")
        .values_list("pk", "blind")[:few]
    ):
        yield from (response or {} for _, response in page)
        last, few = page[-1][0], PAGE


def counted_batches(batches: Any) -> Any:
    """Those of the batches (a queryset) whose agreement is part of the study: work, not set aside."""
    return batches.filter(purpose=Batch.Purpose.WORK, set_aside_at__isnull=True)


def rated_responses(batch: Batch) -> Iterator[RatedResponse]:
    """What enters agreement, item by item, in pages: what people said on planned places (`_agreement_assignments`), without
    gold items.

    The week is that, in the project's time zone, in which the item's last response came.
    """
    task, zone = batch.task(), zoneinfo.ZoneInfo(batch.project.time_zone)
    rows = _agreement_assignments(batch)
    columns = ("item__public_id", "person_id", "blind", "annotation__made_at", "item_id")
    for keys in item_pages(batch):
        # By range, not by list: a database takes only so many parameters, and both ends are of one batch.
        page = rows.filter(item_id__gte=keys[0], item_id__lte=keys[-1]).order_by("item_id", "person_id")
        sources = dict(
            Item.objects.filter(batch=batch, pk__range=(keys[0], keys[-1])).values_list(
                "pk", "example__source__name"
            )
        )
        for _, group in itertools.groupby(page.values_list(*columns), key=lambda row: row[0]):
            of_item = list(group)
            year, week, _ = max(row[3] for row in of_item).astimezone(zone).isocalendar()
            for item, person, response, _, pk in of_item:
                yield RatedResponse(
                    item,
                    str(person),
                    restore_response(task, response or {}),
                    sources.get(pk, ""),
                    f"{year}-W{week:02}",
                )


def item_pages(batch: Batch) -> Iterator[list[int]]:
    """The keys of the batch's items that anybody has submitted, in pages: no cursor stays open between them."""
    last = 0
    items = (
        Item.objects.filter(batch=batch, submitted_count__gt=0).order_by("pk").values_list("pk", flat=True)
    )
    while page := list(items.filter(pk__gt=last)[:PAGE]):
        yield page
        last = page[-1]


def answered_items(batch: Batch) -> QuerySet[Item]:
    """The batch's items with a submitted response, without gold items."""
    return Item.objects.filter(batch=batch, is_gold=False, submitted_count__gt=0)


def shapes_by_item(batch: Batch) -> dict[str, tuple[int, int]]:
    """Rows and columns of the table of every item with a response; nothing where the kind has no use for them."""
    if not wants_shapes(batch.task(), batch.people_compared):
        return {}
    table_shapes = {}
    for keys in item_pages(batch):
        items = Item.objects.filter(batch=batch, pk__range=(keys[0], keys[-1]), submitted_count__gt=0)
        for item in items.select_related("example__stored_table"):
            table_shapes[item.public_id] = item.example.table().shape
    return table_shapes


def restore_response(task: TaskType, envelope: dict[str, Any]) -> Any:
    """A response as it was stored, without judging it again: measures need its fields only."""
    data = envelope["data"]
    if envelope["version"] != task.version:
        data = task.upgrade(data, envelope["version"])
    return task.restore(data)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


# -- taken apart ------------------------------------------------------------------------------------


@dataclass
class Survey:
    """The ratings of one measure: all of them, and by source, week, pair of people, and person with everybody else.

    In `people` a unit is an item with one of the others: each of a person's responses against each beside it. Those of
    one item hold the same response, and so the interval draws whole items.
    """

    whole: RatingTally
    sources: dict[str, RatingTally] = field(default_factory=dict)
    weeks: dict[str, RatingTally] = field(default_factory=dict)
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
    for item, group in itertools.groupby(rows, key=lambda row: row.item):
        of_item = list(group)
        responses = {row.annotator: row.response for row in of_item}
        source, week = of_item[0].source, of_item[0].week
        for survey in surveys:
            measure = survey.whole.measure
            ratings = _values_by_annotator(measure, responses)
            for tally in (
                survey.whole,
                _tally_for(survey.sources, source, measure),
                _tally_for(survey.weeks, week, measure),
            ):
                tally.add(ratings, item, shapes)
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

    `figures` is what `batch_figures` gives, and so what a release says. `measures` holds for each measure the slices, the
    figures of pairs and people, the confusion of labels, how often each label was chosen in current responses, and what is
    needed to say how many more items it takes.
    """
    task = batch.task()
    measures = measures_of(task, batch.people_compared)
    if not measures:
        return {"figures": [], "measures": []}
    most = Counts.objects.filter(batch=batch, submitted__gt=0).order_by("-submitted", "person_id")
    people = {str(key) for key in most.values_list("person_id", flat=True)[:IN_PAIRS]}
    surveys = survey_measures(measures, rated_responses(batch), shapes_by_item(batch), people)
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
    if not tallies or not SentBack.objects.filter(assignment__batch=batch).exists():
        return {}
    task, planned = batch.task(), _planned_assignments(batch).order_by("item_id", "person_id")
    for keys in item_pages(batch):
        rows = planned.filter(item_id__gte=keys[0], item_id__lte=keys[-1])
        of_items = rows.values_list("item__public_id", "person_id", "annotation__response")
        for item, group in itertools.groupby(of_items, key=lambda row: row[0]):
            responses = {
                str(person): restore_response(task, response) for _, person, response in group if response
            }
            for tally in tallies.values():
                tally.add(_values_by_annotator(tally.measure, responses), item, NO_SHAPES)
    return tallies


def _survey_data(survey: Survey, current: RatingTally) -> dict[str, Any]:
    measure, statistic = survey.whole.measure, survey.statistic
    in_pairs = "cohen_kappa" if measure.level == "nominal" else statistic
    return {
        "name": measure.name,
        "level": measure.level,
        "statistic": statistic,
        "sources": [
            {"name": name, **_figure_summary(tally, statistic)}
            for name, tally in sorted(survey.sources.items())
        ],
        "weeks": [
            {"name": name, **_figure_summary(tally, statistic)}
            for name, tally in sorted(survey.weeks.items())
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
        "value": _rounded(result.value),
        "low": _rounded(ends.low),
        "high": _rounded(ends.high),
    }


def labels(tally: RatingTally) -> list[dict[str, Any]] | None:
    """How far people agree on each label; None as for `confusion`."""
    figures = _of_labels(tally)
    if figures is None:
        return None
    return [
        {"label": in_words(figure.label), "specific": _interval_data(figure.specific)} for figure in figures
    ]


def distribution(tally: RatingTally) -> list[dict[str, Any]] | None:
    """How often each label was chosen; None as for `confusion`."""
    figures = _of_labels(tally)
    if figures is None:
        return None
    return [
        {"label": in_words(figure.label), "ratings": figure.ratings, "share": _interval_data(figure.share)}
        for figure in figures
    ]


def _of_labels(tally: RatingTally) -> list[LabelFigures] | None:
    if tally.measure.level not in ("nominal", "ordinal"):
        return None
    from tableqa.agreement.label_figures import of_patterns

    figures = of_patterns(tally.patterns, order=tally.measure.order, bootstrap=Bootstrap(REPLICATES, SEED))
    return figures if 1 < len(figures) <= FEW_LABELS else None


def _interval_data(share: Share) -> dict[str, Any]:
    """A share as JSON: value, low, high, n."""
    values = {"value": share.value, "low": share.low, "high": share.high}
    return {**{name: _rounded(value) for name, value in values.items()}, "n": share.units}


def confusion(tally: RatingTally) -> dict[str, Any] | None:
    """How often two people gave an item these two labels: counts of pairs, the same above and below the diagonal.

    `shares` of all pairs, of each label with itself and with each later one, have intervals over items. None where the
    values are no labels, or more than can be read in a table.
    """
    if tally.measure.level not in ("nominal", "ordinal"):
        return None
    met: Counter[tuple[Any, Any]] = Counter()
    for pattern, count in tally.patterns.items():
        for first, other in itertools.permutations(pattern, 2):
            met[first, other] += count
    used = {label for pair in met for label in pair}
    labels = [label for label in tally.measure.order if label in used]
    labels += sorted(used - set(labels), key=lambda label: (str(type(label)), str(label)))
    if not 1 < len(labels) <= FEW_LABELS:
        return None
    from tableqa.agreement.label_figures import pair_shares

    shares = pair_shares(tally.patterns, labels, Bootstrap(REPLICATES, SEED))
    return {
        "labels": [in_words(label) for label in labels],
        "counts": [[met[first, other] for other in labels] for first in labels],
        "shares": list(map(_interval_data, shares.values())),
    }


def in_words(label: Any) -> str:
    """A label for a table."""
    return {True: "yes", False: "no"}[label] if isinstance(label, bool) else str(label)
