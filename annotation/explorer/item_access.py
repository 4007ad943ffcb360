"""Who looks at the items of a project, which items they may see, and in which states.

Who annotates in a batch, or may, learns nothing of its responses, states and gold items before it closes; an adjudicator
nothing of the responses to an item that is undecided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import F, Q, QuerySet

from annotation.access import visibility
from annotation.access.authorization import Actor
from annotation.access.roles import Permission
from annotation.access.visibility import Fact, Visibility
from annotation.models import Batch, IndexedColumn, Item, Membership, Project
from annotation.queue import batch_progress
from tasks.contract import TaskType


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
    def columns(self) -> dict[str, int]:
        """Keys of the own columns of examples by name; none where the answers are hidden in the whole project."""
        rows = IndexedColumn.objects.filter(project=self.project).order_by("pk")
        return {} if self.sight.is_asked else dict(rows.values_list("name", "pk"))

    @cached_property
    def contradicted(self) -> dict[int, list[int]]:
        """Keys of contradicted items by release (key), of the releases that were asked for."""
        return {}


def reader(actor: Actor, project: Project) -> Reader:
    """What the actor may know of the project. Raises Http404 for people outside it."""
    return Reader(actor, project, visibility.visibility_of(actor, project))


def readable(who: Reader) -> Q:
    """The items whose responses the reader may see."""
    return who.sight.condition(Fact.RESPONSES)


def with_known_state(who: Reader, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items whose state the reader may know."""
    return items.filter(who.sight.condition(Fact.STATE))


def in_states(who: Reader, states: Sequence[str]) -> Q:
    """Items in one of these states, counted as everywhere: gold items have none for people who may see them."""
    due = batch_progress.deciding_batches(who.batches.values())
    all_there = Q(submitted_count__gte=F("slots_count"))
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
    """The state of an item; "" for gold, for people who may see it."""
    if item.is_gold and who.leads:
        return ""
    if item.resolution:
        return str(item.resolution)
    all_there = item.submitted_count >= (item.batch.overlap if item.is_gold else item.slots_count)
    if item.due_at is not None or (
        all_there
        and (item.is_gold or item.batch_id not in batch_progress.deciding_batches(who.batches.values()))
    ):
        return "complete"
    return "open"
