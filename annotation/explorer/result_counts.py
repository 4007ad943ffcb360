"""How many items match a selection, and how many responses, slots or labels it is about."""

from typing import Any, Final

from django.db.models import Count, QuerySet

from annotation.explorer import release_filters, response_filters
from annotation.explorer.item_access import Reader
from annotation.explorer.querysets import matching
from annotation.explorer.selection import PLACE, Selection
from annotation.models import Flag, Item, ResponseFact
from annotation.platform.bulk_rows import among

MOST_COUNTED: Final = 10_000
"""More matches than this are not counted: pages say "10,000+"."""


def count_up_to_limit(items: QuerySet[Item]) -> int:
    """How many there are, at most `MOST_COUNTED` + 1."""
    return items.order_by().values("pk")[: MOST_COUNTED + 1].count()


def count_within_items(who: Reader, chosen: Selection, items: int) -> int | None:
    """How many skips, flags, items in progress, slots, responses or labels a selection of such is about; else None.

    Two people may have skipped one item, or have it in progress: figures of other pages count both. At most
    `MOST_COUNTED` + 1.

    items: how many items match, by `count_up_to_limit`. Each has one of these at least, so for many nothing more is counted.
    """
    # Pairs of several labels, or some of them by others than the people chosen.
    is_about_several = len(chosen.pairs) > 1 or bool(chosen.pairs and chosen.people)
    if chosen.combined or chosen.sample:
        return None
    if chosen.part == "undecided" or (not chosen.part and is_about_several):
        return None
    rows = None if chosen.part or chosen.pairs else _within(who, chosen)
    if rows is None and not chosen.part and not chosen.pairs:
        return None
    if items > MOST_COUNTED:
        return items
    if rows is None:
        return _counted_in_releases(who, chosen) if chosen.part else _counted_pairs(who, chosen)
    listed = matching(who, chosen.without(*PLACE)).order_by().values("pk")
    return int(rows.order_by().filter(item__in=listed).values("pk")[: MOST_COUNTED + 1].count())


def _within(who: Reader, chosen: Selection) -> QuerySet[Any] | None:
    """The skips, flags, items in progress, slots, responses or labels that a selection of such is about; else None."""
    if chosen.skipped:
        return response_filters.chosen_skips(who, chosen)
    if chosen.flagged:
        return Flag.objects.filter(item__batch__project=who.project)
    if chosen.in_progress:
        return response_filters.chosen_leases(who, chosen)
    if chosen.assignment:
        return response_filters.chosen_assignments(who, chosen)
    if facts := response_filters.facts_by_filter(who, chosen):
        has_one_each = len(facts) == 1 and len(chosen.findings) < 2
        return facts[0] if has_one_each else None
    if chosen.in_progress is None and (chosen.answered or chosen.people):
        return response_filters.submitted_responses(who, chosen)
    return None


def _counted_pairs(who: Reader, chosen: Selection) -> int:
    """How many pairs of responses have the two labels that a selection is about."""
    (measure, first_label, second_label), *_ = chosen.pairs
    items = matching(who, chosen.without(*PLACE)).order_by()
    keys = list(items.values_list("pk", flat=True)[:MOST_COUNTED])
    labels = ResponseFact.objects.filter(among("item", keys), kind=ResponseFact.Kind.LABEL, name=measure)

    def responses(label: str) -> dict[int, int]:
        rows = labels.filter(value=label).order_by().values_list("item").annotate(number=Count("pk"))
        return dict(rows)

    with_first = responses(first_label)
    if first_label == second_label:
        return sum(n * (n - 1) // 2 for n in with_first.values())
    with_second = responses(second_label)
    return sum(n * with_second.get(item, 0) for item, n in with_first.items())


def _counted_in_releases(who: Reader, chosen: Selection) -> int:
    """How many responses, outcomes or contradicted examples of releases a selection of them is about."""
    items = matching(who, chosen.without(*PLACE)).order_by()
    releases = release_filters.chosen_releases(who, chosen)
    if chosen.part == "contradicted":
        listed = set(items.values_list("public_id", flat=True))
        counts = [release_filters.contradicted_counts(release) for release in releases]
        return sum(n for by_item in counts for item, n in by_item.items() if item in listed)
    until = max((release.watermark for release in releases), default=0)
    rows: QuerySet[Any]
    rows, path = release_filters.outcomes(until), "decision__item"
    if chosen.part == "annotations":
        rows, path = release_filters.annotations(until), "assignment__item"
    rows = rows.order_by().filter(**{f"{path}__in": items.values("pk")}).values("pk")
    return int(rows[: MOST_COUNTED + 1].count())
