"""How many items of a selection have each state, label, person, …: what the filters beside the list would leave."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models import Count, Q, QuerySet

from annotation.access.visibility import Fact
from annotation.explorer import item_access, querysets, result_pages
from annotation.explorer.item_access import Reader
from annotation.explorer.response_filters import OF_FACTS, having, rows_of
from annotation.explorer.result_counts import MOST_COUNTED
from annotation.explorer.selection import BETWEEN, SEPARATOR, STATES, Selection
from annotation.models import Assignment, Decision, IndexedItem, Item, ResponseFact
from annotation.platform.bulk_rows import among

MOST_LISTED: Final = 5_000
"""Items that a statement names one by one; with more, each statement selects them again."""
COSTLY: Final = ("releases", "part", "submitted_from", "submitted_before")
"""Filters that look at a row of a decision or response for each item: eight queries with them would take seconds."""
MOST_VALUES: Final = 12
"""Values of a facet that are shown, the most frequent first."""


@dataclass(frozen=True)
class Facet:
    """A filter with its values (as query parameters have them), and how many items of the selection have each.

    `name` is the query parameter; `measure` that of labels, else "". `more` counts values that are left out. `at_least`:
    there may be further items of each value, because only the first of the selection were counted.
    """

    name: str
    measure: str
    values: list[tuple[str, int]]
    more: int = 0
    at_least: bool = False


def facets(who: Reader, chosen: Selection) -> list[Facet]:
    """The facets of a selection, without those that would divide nothing; eight queries.

    What rests on responses counts only items whose responses the reader may see. Of more than `MOST_COUNTED` items that
    `COSTLY` filters select, only the first are counted.
    """
    items = querysets.matching(who, chosen)
    at_least = False
    if chosen.without(*COSTLY) != chosen:
        first = list(result_pages.ordered(who, items, "").values_list("pk", flat=True)[: MOST_COUNTED + 1])
        at_least = len(first) > MOST_COUNTED
        items = Item.objects.filter(among("pk", first[:MOST_COUNTED]))
    readable_items = items.filter(item_access.readable(who))
    keys = _keys(readable_items)
    people = {key: name for name, key in who.people.items()}
    candidates = [_states(who, items)]
    if len(who.listed) > 1:
        rows: QuerySet[Any, Any] = items.order_by().values_list("batch_id").annotate(number=Count("pk"))
        candidates.append(_facet("batch", ((who.batches[key].public_id, count) for key, count in rows)))
    candidates += _response_facets(who, keys, readable_items)
    assignments = Assignment.objects.filter(item__in=keys)
    named = Assignment.objects.filter(who.sight.condition(Fact.NAMES, "item__"), item__in=keys)
    by_person: QuerySet[Any, Any] = (
        named.submitted().order_by().values_list("person_id").annotate(number=Count("pk"))
    )
    candidates.append(_facet("person", ((people[key], count) for key, count in by_person if key in people)))
    skipped = assignments.filter(state=Assignment.State.SKIPPED).order_by().values_list("reason")
    reasons = skipped.annotate(number=Count("item", distinct=True))
    candidates.append(_facet("skipped", ((reason, count) for reason, count in reasons if reason)))
    return [replace(facet, at_least=at_least) for facet in candidates if facet.values]


def _keys(items: QuerySet[Item]) -> Any:
    """The keys of the items: a list where they are few, so that they are selected once; else a query."""
    keys = items.order_by().values("pk")
    listed = list(keys.values_list("pk", flat=True)[: MOST_LISTED + 1])
    return listed if len(listed) <= MOST_LISTED else keys


def _states(who: Reader, items: QuerySet[Item]) -> Facet:
    visible_items = item_access.with_known_state(who, items).order_by()
    counts = visible_items.aggregate(
        **{state: Count("pk", filter=item_access.in_states(who, [state])) for state in STATES}
    )
    return Facet("state", "", [(state, counts[state]) for state in STATES if counts[state]])


def _response_facets(who: Reader, keys: Any, items: QuerySet[Item]) -> list[Facet]:
    """What applies to items or not, labels by measure, open conditions of the checklist, and verdicts of the model."""
    kinds = ResponseFact.Kind
    facts = ResponseFact.objects.filter(project=who.project, item__in=keys, is_first=True).order_by()
    counted: dict[tuple[str, str], list[tuple[str, int]]] = {}
    rows = facts.values_list("kind", "name", "value").annotate(number=Count("pk"))
    for kind, name, value, count in rows:
        counted.setdefault((kind, name), []).append((value, count))
    label_facets = [
        _facet("label", ((f"{name}{SEPARATOR}{value}", count) for value, count in values), name)
        for (kind, name), values in sorted(counted.items())
        if kind == kinds.LABEL
    ]
    others = ((kinds.FINDING, "finding"), (kinds.VERDICT, "verdict"))
    of_facts = [
        _facet(name, counted.get((kind, ""), ()))
        for name, kind in OF_FACTS.items()
        if who.leads or kind != kinds.FAILED
    ]
    of_labels = [
        *label_facets,
        *(_facet(parameter, counted.get((kind, ""), ())) for kind, parameter in others),
    ]
    return [*_yes_or_no(who, keys, items), *of_facts, *of_labels]


def _yes_or_no(who: Reader, keys: Any, items: QuerySet[Item]) -> Iterator[Facet]:
    """How many of the items have responses that differ, flags, notes, …"""
    differing = IndexedItem.objects.filter(item__in=keys, differs__isnull=False).order_by()
    compared: QuerySet[Any, Any] = differing.values_list("differs").annotate(number=Count("pk"))
    yield _facet("differs", (("yes" if differs else "no", count) for differs, count in compared))
    conditions = {name: having(rows) for name, rows in rows_of(who).items()}
    decided = Decision.objects.filter(item__batch__project=who.project, made_by__isnull=False)
    conditions["adjudicated"] = Q(pk__in=decided.values("item"))
    if who.leads:
        conditions["gold"] = Q(is_gold=True)
    counts = {name: Count("pk", filter=condition) for name, condition in conditions.items()}
    for name, count in items.order_by().aggregate(**counts).items():
        yield _facet(name, [("yes", count)])


def _facet(name: str, values: Iterable[tuple[str, int]], measure: str = "") -> Facet:
    """The most frequent values first; a label that cannot be written in an address is left out."""
    usable = [
        (value, count) for value, count in values if count and (name != "label" or BETWEEN not in value)
    ]
    ordered = sorted(usable, key=lambda pair: (-pair[1], pair[0]))
    return Facet(name, measure, ordered[:MOST_VALUES], len(ordered[MOST_VALUES:]))
