"""A `Selection` as a queryset of items, within what its reader may know.

Each filter and order that rests on responses leaves only items whose responses the reader may see (`item_access`): what is
filtered, counted, searched, sorted or exported tells nothing of others.
"""

from collections.abc import Collection, Sequence
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from annotation.access.visibility import Fact
from annotation.explorer.item_access import Reader, in_states, readable, with_known_state
from annotation.explorer.release_filters import in_releases
from annotation.explorer.response_filters import response_conditions, with_assignment, with_progress
from annotation.explorer.selection import (
    OF_ITEMS,
    SEPARATOR,
    BadSelection,
    Selection,
    refuse_missing,
    rests_on_responses,
    terms,
)
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Example,
    Flag,
    Item,
    ItemAction,
    ItemChange,
    Membership,
    Outcome,
    Place,
    Project,
    Release,
    ResponseFact,
    Source,
)
from annotation.platform.bulk_rows import among
from annotation.platform.keyset import in_lists
from annotation.quality.agreement_report import in_words
from annotation.queue import batch_progress
from tasks.contract import TaskType, task_types

MOST_EXAMPLES: Final = 10_000
"""Examples of a project that ids of a selection may name."""


def matching(who: Reader, chosen: Selection) -> QuerySet[Item]:
    """The items of a selection, in no order. Raises BadSelection for what the project does not have, or hides."""
    keys = _batches(who, chosen)
    items = Item.objects.filter(batch__in=keys)
    if len(keys) == 1:
        items = Item.objects.filter(batch=keys[0])
    if chosen.items:
        _require_items(who, chosen.items)
        items = items.filter(public_id__in=chosen.items)
    if chosen.examples:
        items = items.filter(_on_examples(who, chosen.examples))
    if chosen.sources:
        items = items.filter(example__source__in=_sources(who, chosen))
    if chosen.states:
        items = with_known_state(who, items).filter(in_states(who, chosen.states))
    if chosen.in_progress is not None:
        items = with_progress(who, chosen, items)
    if chosen.gold is not None:
        if not who.leads:
            raise BadSelection([gettext("Only managers can filter by gold items.")])
        items = with_known_state(who, items).filter(is_gold=chosen.gold)
    if chosen.answered is not None:
        has_response = Q(submitted_count__gt=0)
        items = with_known_state(who, items).filter(has_response if chosen.answered else ~has_response)
    if chosen.adjudicated is not None:
        by_a_person = Q(decision__made_by__isnull=False)
        items = with_known_state(who, items).filter(by_a_person if chosen.adjudicated else ~by_a_person)
    if chosen.assignment:
        items = with_assignment(who, chosen, items)
    if chosen.releases or chosen.part:
        items = with_known_state(who, items).filter(in_releases(who, chosen))
    if chosen.actions:
        items = with_known_state(who, items).filter(_changed_by(who, chosen.actions))
    _require_labels(who, chosen)
    for term in terms(chosen.q):
        items = items.filter(_has_given(who, term) | Q(readable(who), indexed__responded__contains=term))
    if chosen.people:
        items = items.filter(who.sight.condition(Fact.NAMES))
    conditions = response_conditions(who, chosen)
    if conditions or chosen.sort:
        items = items.filter(readable(who), *conditions)
    return items


def _has_given(who: Reader, term: str) -> Q:
    """The items with this in their question, the id of their example, or in answers that the reader may see."""
    condition = Q(indexed__given__contains=term)
    if not who.sight.is_asked:
        return condition
    return condition & (Q(example__question__icontains=term) | Q(example__external_id__icontains=term))


def lists_all(who: Reader, chosen: Selection) -> bool:
    """Whether the selection lists everything that it names, with nothing kept from the reader."""
    keys = {
        key for key, batch in who.batches.items() if not chosen.batches or batch.public_id in chosen.batches
    }
    if not keys <= set(who.listed):
        return False
    if keys & who.hidden and chosen.without(*OF_ITEMS).is_filtered:
        return False
    if not who.judges or not rests_on_responses(chosen):
        return True
    return not keys & (who.sight.nameless if chosen.people else who.sight.undecided)


def _batches(who: Reader, chosen: Selection) -> list[int]:
    """Keys of the batches that the selection leaves."""
    keys_by_name = {project_batch.public_id: key for key, project_batch in who.batches.items()}
    refuse_missing(gettext("There is no batch {name} in this project."), chosen.batches, keys_by_name)
    keys = [keys_by_name[name] for name in chosen.batches] or list(who.batches)
    kinds = set(chosen.task_types)
    others = kinds - {batch.task_type for batch in who.batches.values()}
    refuse_missing(
        gettext("There is no task type {name}."),
        sorted(name for name in others if Batch(task_type=name).installed_task() is None),
    )
    return [key for key in keys if key in who.listed and (not kinds or who.batches[key].task_type in kinds)]


def _require_items(who: Reader, ids: Sequence[str]) -> None:
    listed = Item.objects.filter(public_id__in=ids, batch__in=who.listed).values_list("public_id", flat=True)
    refuse_missing(gettext("There is no item {name} in this project."), sorted(set(ids)), set(listed))


def _sources(who: Reader, chosen: Selection) -> list[int]:
    keys_by_name = dict(Source.objects.ready().filter(project=who.project).values_list("public_id", "pk"))
    refuse_missing(gettext("There is no source {name} in this project."), chosen.sources, keys_by_name)
    return [keys_by_name[name] for name in chosen.sources]


def _require_labels(who: Reader, chosen: Selection) -> None:
    """Refuse labels that no installed task type has, and that nobody gave as far as the reader may know."""
    labels = [*chosen.labels, *((measure, label) for measure, *both in chosen.pairs for label in both)]
    missing = [SEPARATOR.join(label) for label in dict.fromkeys(labels) if not _has_label(who, *label)]
    refuse_missing(gettext("There is no label {name} in this project."), missing)


def _has_label(who: Reader, name: str, label: str) -> bool:
    tasks = [*who.tasks, *task_types().values()]
    measures = [measure for task in tasks if task for measure in task.measures if measure.name == name]
    if any(not measure.order or label in map(in_words, measure.order) for measure in measures):
        return True
    facts = ResponseFact.objects.filter(
        project=who.project, kind=ResponseFact.Kind.LABEL, name=name, value=label
    )
    return facts.filter(item__in=who.items(Fact.RESPONSES)).exists()


def _changed_by(who: Reader, actions: Sequence[str]) -> Q:
    """Items that one of these actions changed; flags are as blind as responses."""
    done = ItemAction.objects.filter(project=who.project, public_id__in=actions)
    refuse_missing(
        gettext("There is no action {name} in this project."),
        sorted(set(actions) - set(done.values_list("public_id", flat=True))),
    )
    changes = ItemChange.objects.filter(action__project=who.project, action__public_id__in=actions)
    flags = changes.filter(action__kind=ItemAction.Kind.FLAG).values("item")
    others = changes.exclude(action__kind=ItemAction.Kind.FLAG).values("item")
    return Q(pk__in=others) | (readable(who) & Q(pk__in=flags))


def _on_examples(who: Reader, ids: Sequence[str]) -> Q:
    """Items on examples with these ids, and those whose outcome is such an example.

    An example of which the reader may see no item is refused as one that does not exist.
    """
    examples = _with_items(who, Q(public_id__in=ids) | Q(external_id__in=ids))
    rows = list(examples.values_list("pk", "public_id", "external_id")[:MOST_EXAMPLES])
    refuse_missing(
        gettext("There is no item with the example {name} in this project."),
        sorted(set(ids).difference(*(names for _, *names in rows))),
    )
    keys = [key for key, *_ in rows]
    outcomes = Outcome.objects.filter(example__in=keys)
    return Q(example__in=keys) | Q(readable(who), decision__in=outcomes.values("decision"))


def listed_examples(who: Reader, ids: Collection[str]) -> frozenset[str]:
    """Those of these ids of examples whose selection (`example`) lists an item."""
    return frozenset(_with_items(who, Q(external_id__in=ids)).values_list("external_id", flat=True))


def _with_items(who: Reader, named: Q) -> QuerySet[Example]:
    """Examples of the project with an item that the reader may see, or that are an outcome of one."""
    items = Item.objects.filter(batch__in=who.listed)
    own_items = items.filter(example=OuterRef("pk"))
    outcomes = Outcome.objects.filter(example=OuterRef("pk"), decision__item__in=items.filter(readable(who)))
    examples = Example.objects.filter(named, source__project=who.project)
    return examples.filter(Exists(own_items) | Exists(outcomes))


def in_states(who: Reader, states: Sequence[str]) -> Q:
    """Items in one of these states, counted as everywhere: gold items have none for those who may know of them."""
    due = batch_progress.deciding_batches(who.batches.values())
    all_there = Q(submitted_count__gte=F("places_count"))
    complete = Q(due_at__isnull=False) | (all_there & ~Q(batch__in=due) & Q(is_gold=False))
    if not who.leads:  # slots of gold come with its responses
        complete |= Q(is_gold=True, submitted_count__gte=F("batch__overlap"))
    unresolved = Q(resolution=Item.Resolution.NONE)
    conditions = {
        "accepted": Q(resolution=Item.Resolution.ACCEPTED),
        "excluded": Q(resolution=Item.Resolution.EXCLUDED),
        "adjudication": Q(resolution=Item.Resolution.ADJUDICATION),
        "complete": unresolved & complete,
        "open": unresolved & ~complete,
    }
    condition = Q()
    for state in states:
        condition |= conditions[state]
    return condition & Q(is_gold=False) if who.leads else condition


def state_of(who: Reader, item: Item) -> str:
    """The state of an item; "" for gold, to those who may know."""
    if item.is_gold and who.leads:
        return ""
    if item.resolution:
        return str(item.resolution)
    all_there = item.submitted_count >= (item.batch.overlap if item.is_gold else item.places_count)
    if item.due_at is not None or (
        all_there
        and (item.is_gold or item.batch_id not in batch_progress.deciding_batches(who.batches.values()))
    ):
        return "complete"
    return "open"


def _of_responses(who: Reader, chosen: Selection) -> list[Any]:
    """Conditions that rest on responses."""
    conditions: list[Any] = []
    if chosen.differs is not None:
        conditions.append(Q(indexed__differs=chosen.differs))
    if chosen.flagged is not None:
        flags = Flag.objects.filter(item__batch__project=who.project).values("item")
        conditions.append(Q(pk__in=flags) if chosen.flagged else ~Q(pk__in=flags))
    people, period = _respondents(who, chosen), _period(who, chosen)
    facts = ResponseFact.objects.filter(project=who.project)
    if chosen.unsure is False:
        doubts = _facts(who, chosen).filter(kind=ResponseFact.Kind.UNSURE, name="")
        conditions.append(~Exists(doubts.filter(item=OuterRef("pk"))))
    facts_by_filter = _facts_by_filter(who, chosen)
    conditions += [Q(pk__in=rows.values("item")) for rows in facts_by_filter]
    for measure, first_label, second_label in chosen.pairs:
        labels = facts.filter(kind=ResponseFact.Kind.LABEL, name=measure)
        with_first, with_second = labels.filter(value=first_label), labels.filter(value=second_label)
        if first_label == second_label:
            with_first = with_first.filter(
                Exists(with_first.filter(item=OuterRef("item"), person__gt=OuterRef("person")))
            )
        conditions += [Q(pk__in=with_first.values("item")), Q(pk__in=with_second.values("item"))]
    if chosen.skipped:
        conditions.append(Q(pk__in=_skips(who, chosen).values("item")))
    elif not facts_by_filter and (
        people or period or chosen.seconds_from is not None or chosen.seconds_to is not None
    ):
        conditions.append(Q(pk__in=_submitted_responses(who, chosen).values("item")))
    return conditions


def _skips(who: Reader, chosen: Selection) -> QuerySet[Any]:
    """The skips that a selection of skipped items is about."""
    skips = Assignment.objects.filter(batch__in=who.listed, state=Assignment.State.SKIPPED)
    if ANY not in chosen.skipped:
        skips = skips.filter(reason__in=chosen.skipped)
    return _of_people(who, chosen, skips)


def _submitted_responses(who: Reader, chosen: Selection) -> QuerySet[Any]:
    """The responses that a selection of people, a period or active time is about."""
    return _of_people(who, chosen, Assignment.objects.filter(batch__in=who.listed).submitted())


def _of_people(who: Reader, chosen: Selection, rows: QuerySet[Any]) -> QuerySet[Any]:
    return _filter_responses(
        rows, _respondents(who, chosen), chosen, _period(who, chosen), at="ended_at", seconds="active_seconds"
    )


def _facts(who: Reader, chosen: Selection) -> QuerySet[ResponseFact]:
    """What responses say, of those that a selection of people, a period or active time is about."""
    facts = ResponseFact.objects.filter(project=who.project)
    return _filter_responses(
        facts, _respondents(who, chosen), chosen, _period(who, chosen), at="at", seconds="seconds"
    )


def _facts_by_filter(who: Reader, chosen: Selection) -> list[QuerySet[ResponseFact]]:
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
    if chosen.unsure:
        filtered_facts.append(facts.filter(kind=kinds.UNSURE, name=""))
    return filtered_facts


def _filter_responses(
    rows: QuerySet[Any],
    people: Sequence[int],
    chosen: Selection,
    period: Mapping[str, datetime],
    *,
    at: str,
    seconds: str,
) -> QuerySet[Any]:
    """The responses of these people, in this period, that took so long."""
    conditions: dict[str, Any] = {f"{at}__{name}": value for name, value in period.items()}
    if people:
        conditions["person__in"] = people
    if chosen.seconds_from is not None:
        conditions[f"{seconds}__gte"] = chosen.seconds_from
    if chosen.seconds_to is not None:
        conditions[f"{seconds}__lte"] = chosen.seconds_to
        conditions.setdefault(f"{seconds}__gt", 0)  # 0 says that nobody knows
    return rows.filter(**conditions)


def _people(who: Reader, chosen: Selection) -> list[int]:
    if missing := [name for name in chosen.people if name not in who.people]:
        raise BadSelection(
            [gettext("There is no person {name} in this project.").format(name=name) for name in missing]
        )
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
