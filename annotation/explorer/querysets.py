"""A `Selection` as a queryset of items, within what its reader may know.

Who annotates in a batch, or may, learns nothing of its responses, states and gold items before it closes; an adjudicator
nothing of the responses to an item that is undecided. Each filter and order that rests on responses therefore leaves only
items whose responses the reader may see: what is filtered, counted, searched, sorted or exported tells nothing of others.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import chain
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from annotation.access import visibility
from annotation.access.authorization import Actor
from annotation.access.roles import Permission
from annotation.access.visibility import Fact, Visibility
from annotation.explorer.selection import (
    ANY,
    OF_ITEMS,
    OF_PEOPLE,
    PLACE,
    SEPARATOR,
    BadSelection,
    Selection,
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
from annotation.quality.label_agreement import in_words
from tasks.contract import TaskType, task_types

MOST_COUNTED: Final = 10_000
"""More matches than this are not counted: pages say "10,000+"."""
MOST_NAMED: Final = 1_000
"""Ids that one query names: a database has a limit."""
NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Reader:
    """Who looks at a project, and what they may see of it (`annotation.access.visibility`)."""

    actor: Actor
    project: Project
    sight: Visibility

    @property
    def acts(self) -> frozenset[Permission]:
        return self.sight.granted

    @property
    def batches(self) -> Mapping[int, Batch]:
        """All batches of the project, by key."""
        return self.sight.batches

    @cached_property
    def hidden(self) -> frozenset[int]:
        """Keys of the batches whose states and responses are hidden from them."""
        return self.sight.hides(Fact.STATE)

    @property
    def judges(self) -> bool:
        return self.sight.judges

    @property
    def leads(self) -> bool:
        """Whether they may know which items are gold, where they may see states."""
        return Permission.SET_UP in self.acts

    @cached_property
    def listed(self) -> list[int]:
        """Keys of the batches whose items are listed."""
        hidden = self.sight.hides(Fact.ITEM)
        return [key for key in self.batches if key not in hidden]

    @cached_property
    def tasks(self) -> list[TaskType | None]:
        """The task types of the batches, the newest last; None for one that is not installed any more."""
        batches = {(batch.task_type, batch.definition_id): batch for batch in self.batches.values()}
        return [batch.installed_task() for batch in batches.values()]

    def items(self, fact: Fact) -> QuerySet[Item]:
        """The listed items of which they may see this."""
        return Item.objects.filter(self.sight.condition(fact), batch__in=self.listed)

    @cached_property
    def people(self) -> dict[str, int]:
        """Keys of people by pseudonym."""
        rows = Membership.objects.filter(project=self.project)
        return dict(rows.values_list("pseudonym", "person_id"))

    @cached_property
    def contradicted(self) -> dict[int, list[int]]:
        """Keys of contradicted items by release (key), of the releases that were asked for."""
        return {}


def reader(actor: Actor, project: Project) -> Reader:
    """What the actor may know of the project. Raises Http404 for those who do not belong there."""
    return Reader(actor, project, visibility.visibility_of(actor, project))


def readable(who: Reader) -> Q:
    """The items whose responses the reader may see."""
    return who.sight.condition(Fact.RESPONSES)


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
        items = _in_progress(who, chosen, items)
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
        items = _with_assignment(who, chosen, items)
    if chosen.releases or chosen.part:
        items = with_known_state(who, items).filter(_released(who, chosen))
    if chosen.actions:
        items = with_known_state(who, items).filter(_changed_by(who, chosen.actions))
    _require_labels(who, chosen)
    for term in terms(chosen.q):
        items = items.filter(_has_given(who, term) | Q(readable(who), indexed__responded__contains=term))
    if chosen.people:
        items = items.filter(who.sight.condition(Fact.NAMES))
    conditions = _of_responses(who, chosen)
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


def ordered(items: QuerySet[Item], sort: str) -> QuerySet[Item]:
    """The items in the order of the selection: by batch and position, or by `place`, then by key."""
    if not sort:
        return items.order_by("batch_id", "position")
    field, empty = ("indexed__answered_at", NEVER) if "answered" in sort else ("indexed__seconds", 0.0)
    sign = "-" if sort.startswith("-") else ""
    return items.annotate(place=Coalesce(field, Value(empty))).order_by(f"{sign}place", f"{sign}pk")


def count_up_to_limit(items: QuerySet[Item]) -> int:
    """How many there are, at most `MOST_COUNTED` + 1."""
    return items.order_by().values("pk")[: MOST_COUNTED + 1].count()


def count_within_items(who: Reader, chosen: Selection, items: int) -> int | None:
    """How many skips, flags, items in progress, slots, responses or labels a selection of such is about; else None.

    Two people may have skipped one item, or have it in progress: figures of other pages count both. At most
    `MOST_COUNTED` + 1.

    items: how many items match, by `count_up_to_limit`. Each has one of these at least, so for many nothing more is counted.
    """
    if chosen.part == "undecided" or (not chosen.part and _is_about_several_pairs(chosen)):
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


def _is_about_several_pairs(chosen: Selection) -> bool:
    """Whether pairs of responses are of several labels, or some of them are of others than the people chosen."""
    return len(chosen.pairs) > 1 or bool(chosen.pairs and chosen.people)


def _within(who: Reader, chosen: Selection) -> QuerySet[Any] | None:
    """The skips, flags, items in progress, slots, responses or labels that a selection of such is about; else None."""
    if chosen.skipped:
        return _skips(who, chosen)
    if chosen.flagged:
        return Flag.objects.filter(item__batch__project=who.project)
    if chosen.in_progress:
        return _leases(who, chosen)
    if chosen.assignment:
        return _assignments(who, chosen)
    if facts := _facts_by_filter(who, chosen):
        has_one_each = len(facts) == 1 and len(chosen.findings) < 2
        return facts[0] if has_one_each else None
    if chosen.in_progress is None and (chosen.answered or chosen.people):
        return _submitted_responses(who, chosen)
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
    items, releases = matching(who, chosen.without(*PLACE)).order_by(), _releases(who, chosen)
    if chosen.part == "contradicted":
        listed = set(items.values_list("public_id", flat=True))
        numbers = [_contradicted(release) for release in releases]
        return sum(n for by_item in numbers for item, n in by_item.items() if item in listed)
    until = max((release.watermark for release in releases), default=0)
    rows: QuerySet[Any] = _annotations(until) if chosen.part == "annotations" else _outcomes(until)
    path = "assignment__item" if chosen.part == "annotations" else "decision__item"
    rows = rows.order_by().filter(**{f"{path}__in": items.values("pk")}).values("pk")
    return int(rows[: MOST_COUNTED + 1].count())


@dataclass(frozen=True)
class Page:
    """Keys of the items of one page, and whether there are others before and behind."""

    keys: list[int]
    has_previous: bool
    has_next: bool


def page(who: Reader, chosen: Selection, size: int) -> Page:
    """The page of the selection that begins behind `after`, ends before `before`, or is the first.

    It begins at an item and not at a number: every page costs the same, and what is added meanwhile shifts nothing.
    """
    items = ordered(matching(who, chosen), chosen.sort)
    cursor = _cursor(who, chosen)
    if cursor is None:
        keys = list(items.values_list("pk", flat=True)[: size + 1])
        return Page(keys[:size], False, len(keys) > size)
    if chosen.before:
        keys = list(
            items.filter(_past_cursor(chosen.sort, cursor, back=True))
            .reverse()
            .values_list("pk", flat=True)[: size + 1]
        )
        return Page(keys[:size][::-1], len(keys) > size, True)
    keys = list(
        items.filter(_past_cursor(chosen.sort, cursor, back=False)).values_list("pk", flat=True)[: size + 1]
    )
    return Page(keys[:size], True, len(keys) > size)


def _cursor(who: Reader, chosen: Selection) -> Item | None:
    public_id = chosen.after or chosen.before
    if not public_id:
        return None
    candidates = Item.objects.filter(batch__in=who.listed, public_id=public_id)
    if chosen.sort:
        candidates = candidates.filter(readable(who))
    item = ordered(candidates, chosen.sort).first()
    if item is None:
        raise BadSelection([gettext("The item {item} is not in this list.").format(item=public_id)])
    return item


def _past_cursor(sort: str, cursor: Any, *, back: bool) -> Q:
    """What lies behind the cursor in the order, or before it."""
    way = "lt" if back is not sort.startswith("-") else "gt"
    first, second = ("place", "pk") if sort else ("batch_id", "position")
    at = getattr(cursor, first), getattr(cursor, second)
    return Q(**{f"{first}__{way}": at[0]}) | Q(**{first: at[0], f"{second}__{way}": at[1]})


# -- underneath -------------------------------------------------------------------------------------


def with_known_state(who: Reader, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items whose state the reader may know."""
    return items.filter(who.sight.condition(Fact.STATE))


def _batches(who: Reader, chosen: Selection) -> list[int]:
    """Keys of the batches that the selection leaves."""
    keys_by_name = {project_batch.public_id: key for key, project_batch in who.batches.items()}
    if missing := [name for name in chosen.batches if name not in keys_by_name]:
        raise BadSelection(
            [gettext("There is no batch {name} in this project.").format(name=name) for name in missing]
        )
    keys = [keys_by_name[name] for name in chosen.batches] or list(who.batches)
    kinds = set(chosen.task_types)
    others = kinds - {batch.task_type for batch in who.batches.values()}
    if missing := sorted(name for name in others if Batch(task_type=name).installed_task() is None):
        raise BadSelection([gettext("There is no task type {name}.").format(name=name) for name in missing])
    return [key for key in keys if key in who.listed and (not kinds or who.batches[key].task_type in kinds)]


def _require_items(who: Reader, ids: Sequence[str]) -> None:
    listed = Item.objects.filter(public_id__in=ids, batch__in=who.listed).values_list("public_id", flat=True)
    if missing := sorted(set(ids) - set(listed)):
        raise BadSelection(
            [gettext("There is no item {name} in this project.").format(name=name) for name in missing]
        )


def _sources(who: Reader, chosen: Selection) -> list[int]:
    keys_by_name = dict(Source.objects.ready().filter(project=who.project).values_list("public_id", "pk"))
    if missing := [name for name in chosen.sources if name not in keys_by_name]:
        raise BadSelection(
            [gettext("There is no source {name} in this project.").format(name=name) for name in missing]
        )
    return [keys_by_name[name] for name in chosen.sources]


def _require_labels(who: Reader, chosen: Selection) -> None:
    """Refuse labels that no installed task type has, and that nobody gave as far as the reader may know."""
    labels = [*chosen.labels, *((measure, label) for measure, *both in chosen.pairs for label in both)]
    missing = [label for label in dict.fromkeys(labels) if not _has_label(who, *label)]
    if missing:
        raise BadSelection(
            [
                gettext("There is no label {name} in this project.").format(name=SEPARATOR.join(label))
                for label in missing
            ]
        )


def _has_label(who: Reader, name: str, label: str) -> bool:
    tasks = [*who.tasks, *task_types().values()]
    measures = [measure for task in tasks if task for measure in task.measures if measure.name == name]
    if any(not measure.order or label in map(in_words, measure.order) for measure in measures):
        return True
    facts = ResponseFact.objects.filter(
        project=who.project, kind=ResponseFact.Kind.LABEL, name=name, value=label
    )
    return facts.filter(item__in=who.items(Fact.RESPONSES)).exists()


def _in_progress(who: Reader, chosen: Selection, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that somebody has in progress, or nobody."""
    is_leased = Q(pk__in=_leases(who, chosen).values("item"))
    return with_known_state(who, items).filter(is_leased if chosen.in_progress else ~is_leased)


def _leases(who: Reader, chosen: Selection) -> QuerySet[Assignment]:
    """What somebody has in progress; with people in the selection, one of them."""
    leases = Assignment.objects.filter(batch__in=who.listed, state=Assignment.State.LEASED)
    return leases.filter(person__in=_people(who, chosen)) if chosen.people else leases


def _with_assignment(who: Reader, chosen: Selection, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that have such a slot or assignment.

    A gold item has slots for its annotators alone. Of batches with gold items, slots are therefore only for those who may
    know which items are gold.
    """
    rows = _assignments(who, chosen)
    if rows.model is Place and not who.leads:
        with_gold = Item.objects.filter(batch__in=who.listed, is_gold=True).order_by().values("batch")
        items = items.exclude(batch__in=set(with_gold.values_list("batch", flat=True)))
    return with_known_state(who, items).filter(pk__in=rows.values("item"))


def _assignments(who: Reader, chosen: Selection) -> QuerySet[Any]:
    """The slots or assignments that a selection of them is about; with people in the selection, theirs."""
    rows: QuerySet[Any]
    if chosen.assignment in ("assigned", "returned"):
        rows = Assignment.objects.filter(batch__in=who.listed)
        if chosen.assignment == "returned":
            rows = rows.filter(state=Assignment.State.RETURNED)
        return rows.filter(person__in=_people(who, chosen)) if chosen.people else rows
    rows = Place.objects.filter(batch__in=who.listed)
    if chosen.assignment == "planned":
        return rows
    rows = rows.filter(taken=False)
    if chosen.assignment == "not_started":
        return rows
    rows = rows.filter(reserved_for__isnull=False, item__is_gold=False)
    return rows.filter(reserved_for__in=_people(who, chosen)) if chosen.people else rows


def _releases(who: Reader, chosen: Selection) -> list[Release]:
    """The releases of a selection; all that are ready where it names none."""
    ready = Release.objects.filter(project=who.project, ready_at__isnull=False)
    if not chosen.releases:
        return list(ready)
    releases = ready.in_bulk(chosen.releases, field_name="public_id")
    if missing := [name for name in chosen.releases if name not in releases]:
        raise BadSelection(
            [gettext("There is no release {name} in this project.").format(name=name) for name in missing]
        )
    return list(releases.values())


def _released(who: Reader, chosen: Selection) -> Q:
    """Items whose decisions are in one of the releases, or that belong to this part of one."""
    released = Q(pk__in=())
    for release in _releases(who, chosen):
        released |= _of_release(who, release, chosen.part)
    return released


def _of_release(who: Reader, release: Release, part: str) -> Q:
    if part == "contradicted":
        if release.pk not in who.contradicted:
            lists = in_lists(_contradicted(release), MOST_NAMED)
            keys = (Item.objects.filter(public_id__in=ids).values_list("pk", flat=True) for ids in lists)
            who.contradicted[release.pk] = list(chain.from_iterable(keys))
        return Q(among("pk", who.contradicted[release.pk]))
    batches = Q(batch__public_id__in=[batch["id"] for batch in release.manifest["batches"]])
    decided = Q(Exists(Decision.objects.filter(item=OuterRef("pk"), event_id__lte=release.watermark)))
    if not part:
        return batches & decided
    if part == "outcomes":
        return batches & Q(Exists(_outcomes(release.watermark).filter(decision__item=OuterRef("pk"))))
    annotations = _annotations(release.watermark).filter(assignment__item=OuterRef("pk"))
    answered = batches & Q(Exists(annotations), is_gold=False)
    return answered & ~decided if part == "undecided" else answered


def _annotations(watermark: int) -> QuerySet[Annotation]:
    """The current responses of a release with this watermark: the newest revision until then, unless it withdraws."""
    later = Annotation.objects.filter(
        assignment=OuterRef("assignment"), event_id__lte=watermark, revision__gt=OuterRef("revision")
    )
    return Annotation.objects.filter(~Exists(later), event_id__lte=watermark, response__isnull=False)


def _outcomes(watermark: int) -> QuerySet[Outcome]:
    """The outcomes that a release with this watermark can have."""
    return Outcome.objects.filter(decision__event_id__lte=watermark)


def _contradicted(release: Release) -> Counter[str]:
    """How many examples people contradicted, by the item (public id) in which they did."""
    return Counter(entry["item"] for entry in release.manifest.get("contradicted", ()))


def _changed_by(who: Reader, actions: Sequence[str]) -> Q:
    """Items that one of these actions changed; flags are as blind as responses."""
    done = ItemAction.objects.filter(project=who.project, public_id__in=actions)
    if missing := sorted(set(actions) - set(done.values_list("public_id", flat=True))):
        raise BadSelection(
            [gettext("There is no action {name} in this project.").format(name=name) for name in missing]
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
    rows = list(examples.values_list("pk", "public_id", "external_id")[:MOST_COUNTED])
    if missing := sorted(set(ids).difference(*(names for _, *names in rows))):
        raise BadSelection(
            [
                gettext("There is no item with the example {name} in this project.").format(name=name)
                for name in missing
            ]
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


def resolving_batches(who: Reader) -> list[int]:
    """Keys of the batches whose complete items are due (`batches.progress`)."""
    return [
        key
        for key, batch in who.batches.items()
        if batch.purpose == Batch.Purpose.WORK and (batch.closed_at is not None or not batch.decide_at_close)
    ]


def in_states(who: Reader, states: Sequence[str]) -> Q:
    """Items in one of these states, counted as everywhere: gold items have none for those who may know of them."""
    due = resolving_batches(who)
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
        all_there and (item.is_gold or item.batch_id not in resolving_batches(who))
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
