"""A `Selection` as a queryset of items, within what its reader may know.

Each filter and order that rests on responses leaves only items whose responses the reader may see (`item_access`): what is
filtered, counted, searched, sorted or exported tells nothing of others.
"""

from collections.abc import Collection, Sequence
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import MD5, Concat
from django.utils.translation import gettext

from annotation.access.visibility import Fact
from annotation.explorer.item_access import Reader, in_states, readable, with_known_state
from annotation.explorer.own_columns import with_values
from annotation.explorer.release_filters import in_releases
from annotation.explorer.response_filters import response_conditions, with_assignment, with_progress
from annotation.explorer.selection import (
    OF_ITEMS,
    OF_RESPONSES,
    SEPARATOR,
    SORTS,
    BadSelection,
    Selection,
    refuse_missing,
    rests_on_responses,
    terms,
)
from annotation.models import Batch, Example, Item, ItemAction, ItemChange, Outcome, ResponseFact, Source
from annotation.platform.bulk_rows import among
from annotation.quality.label_agreement import in_words
from tasks.contract import task_types

MOST_EXAMPLES: Final = 10_000
"""Examples of a project that ids of a selection may name."""


def matching(who: Reader, chosen: Selection) -> QuerySet[Item]:
    """The items of a selection, in no order. Raises BadSelection for what the project does not have, or hides."""
    plain = chosen.without(*chosen.combined.values(), "negated", "either", "sample", "seed")
    items, either = _all_match(who, plain), Q()
    for parameter, name in chosen.combined.items():
        condition = Q(pk__in=_all_match(who, chosen.only(name)).order_by().values("pk"))
        if parameter in chosen.negated:
            condition = _is_visible(who, name) & ~condition
        if parameter in chosen.either:
            either |= condition
        else:
            items = items.filter(condition)
    items = items.filter(either)
    if chosen.sample is None:
        return items
    draw = MD5(Concat(Value(f"{chosen.seed or 1}:"), "public_id"))
    drawn = items.order_by().annotate(draw=draw).order_by("draw").values_list("pk", flat=True)
    return Item.objects.filter(among("pk", drawn[: chosen.sample]))


def _is_visible(who: Reader, name: str) -> Q:
    """The items of which the reader knows whether this filter applies."""
    if name in OF_RESPONSES:
        return readable(who) & (who.sight.condition(Fact.NAMES) if name == "people" else Q())
    if name == "columns":
        return who.sight.condition(Fact.ANSWERS)
    return Q() if name in (*OF_ITEMS, "q") else who.sight.condition(Fact.STATE)


def _all_match(who: Reader, chosen: Selection) -> QuerySet[Item]:
    """The items to which every filter applies."""
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
    if chosen.columns or chosen.sort_column:
        items = with_values(who, chosen, items)
    _require_labels(who, chosen)
    for term in terms(chosen.q):
        items = items.filter(_has_given(who, term) | Q(readable(who), indexed__responded__contains=term))
    if chosen.people:
        items = items.filter(who.sight.condition(Fact.NAMES))
    conditions = response_conditions(who, chosen)
    if conditions or (chosen.sort in SORTS and chosen.sort):
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
    """Refuse labels that no installed task type has, and that no response has as far as the reader may know."""
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
