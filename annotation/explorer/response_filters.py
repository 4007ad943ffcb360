"""Filters by what people did with items: responses, skips, slots and assignments, and when and by whom."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from annotation.explorer.item_access import Reader, with_known_state
from annotation.explorer.selection import ANY, OF_PEOPLE, BadSelection, Selection, refuse_missing
from annotation.models import Assignment, Decision, Flag, Item, ResponseFact, RevisionRequest, Slot

OF_FACTS: Final = {
    "unsure": ResponseFact.Kind.UNSURE,
    "lost": ResponseFact.Kind.LOST,
    "failed_gold": ResponseFact.Kind.FAILED,
}
"""Fields of a selection that say whether any response has a fact of this kind."""


def response_conditions(who: Reader, chosen: Selection) -> list[Any]:
    """Conditions that rest on responses."""
    conditions: list[Any] = []
    if chosen.failed_gold is not None and not who.leads:
        raise BadSelection([gettext("Only managers can filter by gold items.")])
    if chosen.differs is not None:
        conditions.append(Q(indexed__differs=chosen.differs))
    for name, several in rows_of(who).items():
        if (value := getattr(chosen, name)) is not None:
            conditions.append(having(several) if value else ~having(several))
    people, period = _respondents(who, chosen), _period(who, chosen)
    facts = ResponseFact.objects.filter(project=who.project)
    for name, kind in OF_FACTS.items():
        if getattr(chosen, name) is False:
            rows = _facts(who, chosen).filter(kind=kind, name="")
            conditions.append(~Exists(rows.filter(item=OuterRef("pk"))))
    facts_per_filter = facts_by_filter(who, chosen)
    conditions += [Q(pk__in=rows.values("item")) for rows in facts_per_filter]
    for measure, first_label, second_label in chosen.pairs:
        labels = facts.filter(kind=ResponseFact.Kind.LABEL, name=measure)
        with_first, with_second = labels.filter(value=first_label), labels.filter(value=second_label)
        if first_label == second_label:
            with_first = with_first.filter(
                Exists(with_first.filter(item=OuterRef("item"), person__gt=OuterRef("person")))
            )
        conditions += [Q(pk__in=with_first.values("item")), Q(pk__in=with_second.values("item"))]
    if chosen.skipped:
        conditions.append(Q(pk__in=chosen_skips(who, chosen).values("item")))
    elif not facts_per_filter and (
        people or period or chosen.seconds_from is not None or chosen.seconds_to is not None
    ):
        conditions.append(Q(pk__in=submitted_responses(who, chosen).values("item")))
    return conditions


def chosen_skips(who: Reader, chosen: Selection) -> QuerySet[Any]:
    """The skips that a selection of skipped items is about."""
    skips = Assignment.objects.filter(batch__in=who.listed, state=Assignment.State.SKIPPED)
    if ANY not in chosen.skipped:
        skips = skips.filter(reason__in=chosen.skipped)
    return _filter_responses(who, chosen, skips)


def submitted_responses(who: Reader, chosen: Selection) -> QuerySet[Any]:
    """The responses that a selection of people, a period or active time is about."""
    return _filter_responses(who, chosen, Assignment.objects.filter(batch__in=who.listed).submitted())


def _facts(who: Reader, chosen: Selection) -> QuerySet[ResponseFact]:
    """What responses say, of those that a selection of people, a period or active time is about."""
    facts = ResponseFact.objects.filter(project=who.project)
    return _filter_responses(who, chosen, facts, at="at", seconds="seconds")


def facts_by_filter(who: Reader, chosen: Selection) -> list[QuerySet[ResponseFact]]:
    """For each filter of what responses say, the facts of which one has to be there."""
    facts, kinds = _facts(who, chosen), ResponseFact.Kind
    filtered_facts = []
    labels: dict[str, list[str]] = {}
    for name, value in chosen.labels:
        labels.setdefault(name, []).append(value)
    for name, values in labels.items():
        filtered_facts.append(facts.filter(kind=kinds.LABEL, name=name, value__in=values))
    if chosen.findings:
        filtered_facts.append(facts.filter(kind=kinds.FINDING, name="", value__in=chosen.findings))
    if chosen.verdicts:
        filtered_facts.append(facts.filter(kind=kinds.VERDICT, name="", value__in=chosen.verdicts))
    for name, kind in OF_FACTS.items():
        if getattr(chosen, name):
            filtered_facts.append(facts.filter(kind=kind, name=""))
    return filtered_facts


def rows_of(who: Reader) -> dict[str, list[tuple[QuerySet[Any], str]]]:
    """By field of a selection, the rows of which an item has one or none, and the way from them to the item."""
    flags = Flag.objects.filter(item__batch__project=who.project)
    requests = RevisionRequest.objects.filter(assignment__batch__project=who.project)
    decisions = Decision.objects.filter(item__batch__project=who.project)
    return {
        "flagged": [(flags, "item")],
        "sent_back": [(requests, "assignment__item")],
        "noted": [
            (flags.exclude(note=""), "item"),
            (requests.exclude(note=""), "assignment__item"),
            (decisions.exclude(note=""), "item"),
        ],
    }


def having(several: Iterable[tuple[QuerySet[Any], str]]) -> Q:
    """The items with one of these rows."""
    condition = Q()
    for rows, path in several:
        condition |= Q(pk__in=rows.values(path))
    return condition


def _filter_responses(
    who: Reader,
    chosen: Selection,
    rows: QuerySet[Any],
    *,
    at: str = "ended_at",
    seconds: str = "active_seconds",
) -> QuerySet[Any]:
    """Those of the responses that are by the people of a selection, in its period, and took so long."""
    conditions: dict[str, Any] = {f"{at}__{name}": value for name, value in _period(who, chosen).items()}
    if people := _respondents(who, chosen):
        conditions["person__in"] = people
    if chosen.seconds_from is not None:
        conditions[f"{seconds}__gte"] = chosen.seconds_from
    if chosen.seconds_to is not None:
        conditions[f"{seconds}__lte"] = chosen.seconds_to
        conditions.setdefault(f"{seconds}__gt", 0)  # 0 is unknown
    return rows.filter(**conditions)


def with_progress(who: Reader, chosen: Selection, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that a person has in progress, or no person has."""
    is_leased = Q(pk__in=chosen_leases(who, chosen).values("item"))
    return with_known_state(who, items).filter(is_leased if chosen.in_progress else ~is_leased)


def chosen_leases(who: Reader, chosen: Selection) -> QuerySet[Assignment]:
    """What a person has in progress; with people in the selection, one of them."""
    leases = Assignment.objects.filter(batch__in=who.listed, state=Assignment.State.LEASED)
    return leases.filter(person__in=_people(who, chosen)) if chosen.people else leases


def with_assignment(who: Reader, chosen: Selection, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that have such a slot or assignment.

    A gold item has slots for its annotators alone. Of batches with gold items, slots are therefore only for people who may
    know which items are gold.
    """
    rows = chosen_assignments(who, chosen)
    if rows.model is Slot and not who.leads:
        with_gold = Item.objects.filter(batch__in=who.listed, is_gold=True).order_by().values("batch")
        items = items.exclude(batch__in=set(with_gold.values_list("batch", flat=True)))
    return with_known_state(who, items).filter(pk__in=rows.values("item"))


def chosen_assignments(who: Reader, chosen: Selection) -> QuerySet[Any]:
    """The slots or assignments that a selection of them is about; with people in the selection, theirs."""
    rows: QuerySet[Any]
    if chosen.assignment in ("assigned", "returned"):
        rows = Assignment.objects.filter(batch__in=who.listed)
        if chosen.assignment == "returned":
            rows = rows.filter(state=Assignment.State.RETURNED)
        return rows.filter(person__in=_people(who, chosen)) if chosen.people else rows
    rows = Slot.objects.filter(batch__in=who.listed)
    if chosen.assignment == "planned":
        return rows
    rows = rows.filter(is_taken=False)
    if chosen.assignment == "not_started":
        return rows
    rows = rows.filter(reserved_for__isnull=False, item__is_gold=False)
    return rows.filter(reserved_for__in=_people(who, chosen)) if chosen.people else rows


def _people(who: Reader, chosen: Selection) -> list[int]:
    refuse_missing(gettext("There is no person {name} in this project."), chosen.people, who.people)
    return [who.people[name] for name in chosen.people]


def _respondents(who: Reader, chosen: Selection) -> list[int]:
    """Those of the people who answered or skipped: none where the people are those who have the item, or had it."""
    if chosen.in_progress is not None or chosen.assignment in OF_PEOPLE:
        return []
    return _people(who, chosen)


def _period(who: Reader, chosen: Selection) -> dict[str, datetime]:
    zone = who.actor.person.zone
    first = [chosen.submitted_from, _begin(chosen.since, zone) if chosen.since else None]
    end = [chosen.submitted_before, _begin(chosen.until + timedelta(days=1), zone) if chosen.until else None]
    period = {}
    if begins := [moment for moment in first if moment is not None]:
        period["gte"] = max(begins)
    if ends := [moment for moment in end if moment is not None]:
        period["lt"] = min(ends)
    return period


def _begin(day: date, zone: ZoneInfo) -> datetime:
    """The beginning of a day where the reader is at home: on pages, by API and in files."""
    return datetime.combine(day, time(), zone)
