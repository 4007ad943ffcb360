"""What a person may see of an item: one table, as a condition on queries and as a function of one item.

    sight = visibility.visibility_of(actor, project)
    items.filter(sight.condition(Fact.RESPONSES))        sight.shows(Fact.RESPONSES, item)

Only what `SHOWN` names is shown. An annotator sees nothing of others before the batch closes, also in another role they
have; an adjudicator nothing of an item before its decision, and no name before the decision is final. What is hidden
rests on the roles of the person: a token only takes away.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from typing import Any, Final

from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext, ngettext

from annotation.access import authorization
from annotation.access.authorization import Actor, permissions_in, projects_with_permission
from annotation.access.roles import Permission
from annotation.background.jobs import OF_GOLD, OF_PREVIEWS
from annotation.models import Assignment, Batch, Decision, Exclusion, Item, Job, Person, Project, Release
from annotation.platform.refusals import refuse


class Fact(Enum):
    """What there is to see of an item.

    ITEM        that there is such an item, and its question
    ANSWERS     the answers that the source gives
    STATE       how far it is, what was logged of it, and the agreement of its batch
    COUNTS      its part in the counts of its batch
    GOLD        whether it is gold
    RESPONSES   what people said of it, and what was decided
    NAMES       who said which
    """

    ITEM = "item"
    ANSWERS = "answers"
    STATE = "state"
    COUNTS = "counts"
    GOLD = "gold"
    RESPONSES = "responses"
    NAMES = "names"


class Involvement(Enum):
    """What a batch is to a person.

    OUTSIDE   it is closed, or the person neither annotates in it nor may
    PLANNED   the person will annotate in it, or may
    WORKING   the person annotates in it, or may
    BEHIND    its items rest on decisions in a batch that is PLANNED or WORKING
    """

    OUTSIDE = "outside"
    PLANNED = "planned"
    WORKING = "working"
    BEHIND = "behind"


class Phase(IntEnum):
    """How far the decision of an item is. FINAL: a release contains it, or it is no work batch; it cannot be undone."""

    UNDECIDED = 0
    DECIDED = 1
    FINAL = 2


@dataclass(frozen=True)
class Rule:
    """To whom a fact is shown.

    standings     of the batch, to the person
    adjudicators  the phase from which on people see it who may adjudicate in the project
    permission    what the person must be allowed to do, and the token
    until_asked   not to a person who works in a batch of the project that asks for the answer
    """

    standings: frozenset[Involvement]
    adjudicators: Phase = Phase.UNDECIDED
    permission: Permission | None = None
    until_asked: bool = False


_OUTSIDE = frozenset({Involvement.OUTSIDE})
_PLANNED = _OUTSIDE | {Involvement.PLANNED}
_LISTED = _PLANNED | {Involvement.WORKING}
# Gold that is complete is never decided, so people who see states over time can guess it without the permission. That is no
# leak: states are shown only OUTSIDE, to people who get no item of the batch. Annotators see neither states nor decisions.
SHOWN: Final[Mapping[Fact, Rule]] = {
    Fact.ITEM: Rule(_LISTED),
    Fact.ANSWERS: Rule(_LISTED, until_asked=True),
    Fact.STATE: Rule(_OUTSIDE),
    Fact.COUNTS: Rule(_PLANNED),
    Fact.GOLD: Rule(_OUTSIDE, permission=Permission.SET_UP),
    Fact.RESPONSES: Rule(_OUTSIDE, adjudicators=Phase.DECIDED),
    Fact.NAMES: Rule(_OUTSIDE, adjudicators=Phase.FINAL),
}
DECIDED: Final = (Item.Resolution.ACCEPTED, Item.Resolution.EXCLUDED)


@dataclass(frozen=True)
class Visibility:
    """What a person may see of the items of a project.

    roles      what the person's roles allow: everything that hides something rests on these
    granted    what of it a token leaves
    batches    the batches of the project, by key, with how each is to the person
    """

    project: Project
    roles: frozenset[Permission]
    granted: frozenset[Permission]
    batches: Mapping[int, Batch]
    standings: Mapping[int, Involvement]

    @property
    def judges(self) -> bool:
        """Whether they may have to decide about items."""
        return Permission.ADJUDICATE in self.roles

    def shows(self, fact: Fact, item: Item) -> bool:
        """Whether they may see this of the item."""
        rule = SHOWN[fact]
        if item.batch_id not in self.batches or item.batch_id in self.hides(fact):
            return False
        return not (self.judges and rule.adjudicators) or self._phase(item) >= rule.adjudicators

    def condition(self, fact: Fact, path: str = "") -> Q:
        """The items of the project of which they may see this: `shows`, for a query. `path` leads from its rows to them."""
        rule, hidden = SHOWN[fact], self.hides(fact)
        visible = ~Q(**{f"{path}batch__in": hidden}) if hidden else Q()
        if self.judges and rule.adjudicators:
            visible &= self._from(rule.adjudicators, path)
        return visible

    def hides(self, fact: Fact) -> frozenset[int]:
        """Keys of the batches of no item of which they may see this."""
        rule = SHOWN[fact]
        lacks = rule.permission is not None and rule.permission not in self.granted
        if lacks or (rule.until_asked and self.is_asked):
            return frozenset(self.batches)
        return withheld_batches(self.standings, fact)

    @cached_property
    def is_asked(self) -> bool:
        """Whether they work, or will, in a batch whose items are shown without the answer: then no page shows it."""
        return any(
            standing != Involvement.OUTSIDE and not _shows_answers(self.batches[key])
            for key, standing in self.standings.items()
        )

    @cached_property
    def undecided(self) -> frozenset[int]:
        """Keys of the listed batches with responses, if only to be, that are hidden from them."""
        return self._lacking(Fact.RESPONSES)

    @cached_property
    def nameless(self) -> frozenset[int]:
        """Keys of the listed batches with responses, if only to be, whose authors are hidden from them."""
        return self._lacking(Fact.NAMES)

    @cached_property
    def without_people(self) -> frozenset[int]:
        """Keys of the listed batches whose figures by person are hidden from them: what people said, in labels, pairs and
        habits, tells who gave which response. How much a person did tells none, and gold is never decided.
        """
        return self._lacking(Fact.NAMES, is_gold=False)

    @cached_property
    def released(self) -> int:
        """What was decided up to this event is in a release."""
        ready = Release.objects.filter(project=self.project, ready_at__isnull=False)
        return ready.aggregate(latest=Max("watermark"))["latest"] or 0

    def _lacking(self, fact: Fact, **of: Any) -> frozenset[int]:
        """Keys of the listed batches with items that were given to a person and of which they may not see this."""
        items = Item.objects.filter(batch__in=self.batches.keys() - self.hides(Fact.ITEM), **of)
        unseen = items.exclude(pk__in=items.filter(self.condition(fact)).values("pk"))
        assigned = unseen.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"))))
        return frozenset(assigned.order_by().values_list("batch_id", flat=True).distinct())

    def _phase(self, item: Item) -> Phase:
        if self.batches[item.batch_id].purpose != Batch.Purpose.WORK:
            return Phase.FINAL
        if item.resolution not in DECIDED:
            return Phase.UNDECIDED
        return Phase.FINAL if item.decision.event_id <= self.released else Phase.DECIDED

    def _from(self, phase: Phase, path: str) -> Q:
        undecided = [key for key, batch in self.batches.items() if batch.purpose != Batch.Purpose.WORK]
        never = Q(**{f"{path}batch__in": undecided}) if undecided else Q()
        if phase == Phase.DECIDED:
            return Q(**{f"{path}resolution__in": DECIDED}) | never
        return Q(**{f"{path}decision__event_id__lte": self.released}) | never


def visibility_of(actor: Actor, project: Project) -> Visibility:
    """What the actor may see of the project. Raises Http404 for people outside it."""
    granted = permissions_in(actor, project)
    roles = granted if actor.token is None else permissions_in(Actor(actor.person), project)
    rows = Batch.objects.select_related("definition").filter(project=project).order_by("pk")
    batches = {batch.pk: batch for batch in rows}
    for batch in batches.values():
        batch.project = project
    annotators = {project.pk} if Permission.ANNOTATE in roles else set[int]()
    return Visibility(
        project, roles, granted, batches, _involvements(actor.person, batches.values(), annotators)
    )


def involvements(person: Person, batches: Iterable[Batch]) -> dict[int, Involvement]:
    """What batches are to a person, by key."""
    batches_by_key = {batch.pk: batch for batch in batches}
    if {batch.feeds_from_id for batch in batches_by_key.values()} - {None, *batches_by_key}:
        feeding = Batch.objects.filter(project__in={batch.project_id for batch in batches_by_key.values()})
        every = feeding.in_bulk() | batches_by_key
    else:
        every = batches_by_key
    by_batch = _involvements(
        person, every.values(), set(projects_with_permission(Actor(person), Permission.ANNOTATE))
    )
    return {key: by_batch[key] for key in batches_by_key}


def _involvements(person: Person, batches: Iterable[Batch], annotators: set[int]) -> dict[int, Involvement]:
    """annotators: keys of the projects in which the person may annotate."""
    ordered = sorted(batches, key=lambda batch: batch.pk)  # a batch is made after the one that feeds it
    others = [row.pk for row in ordered if row.closed_at is None and row.project_id not in annotators]
    assignments = Assignment.objects.filter(person=person, batch__in=others).order_by()
    assigned = set(assignments.values_list("batch_id", flat=True).distinct()) if others else set[int]()
    by_batch: dict[int, Involvement] = {}
    for row in ordered:
        if by_batch.get(row.feeds_from_id or 0, Involvement.OUTSIDE) != Involvement.OUTSIDE:
            by_batch[row.pk] = Involvement.BEHIND
        elif row.closed_at is None and (row.project_id in annotators or row.pk in assigned):
            by_batch[row.pk] = Involvement.PLANNED if row.opened_at is None else Involvement.WORKING
        else:
            by_batch[row.pk] = Involvement.OUTSIDE
    return by_batch


def _shows_answers(batch: Batch) -> bool:
    task = batch.installed_task()
    return task is not None and "answers" in task.shows


def withheld_batches(standings: Mapping[int, Involvement], fact: Fact) -> frozenset[int]:
    """Keys of the batches that hide this."""
    return frozenset(key for key, standing in standings.items() if standing not in SHOWN[fact].standings)


def hidden_batches(person: Person, batches: Iterable[Batch], fact: Fact) -> frozenset[int]:
    """Keys of the batches that hide this from the person."""
    return withheld_batches(involvements(person, batches), fact)


def may_see_agreement(person: Person, batch: Batch) -> bool:
    """Live agreement and counts of labels: for all once the batch is closed, before that for outsiders."""
    return not hidden_batches(person, [batch], Fact.STATE)


def sees_counts(person: Person, batch: Batch) -> bool:
    """Whether the person sees how many items of the batch are in each state."""
    return not hidden_batches(person, [batch], Fact.COUNTS)


def hiding_size(person: Person, batches: Iterable[Batch]) -> frozenset[int]:
    """Keys of the batches whose number of items the person does not see.

    What takes items from another batch grows with what others decide there. What waits for a person is shown to them.
    """
    return hidden_batches(
        person, [batch for batch in batches if batch.feeds_from_id is not None], Fact.COUNTS
    )


def job(actor: Actor, public_id: str) -> Job:
    """The job; one that decides or follows decisions without its counts and its error (it names an item), where the actor
    does not see the counts of a batch.

    The first records of a file are for people who may import it, and gold for those of them who see it in the batch.
    """
    job = authorization.job(actor, public_id)
    batches, of_gold = job.project.batches.all(), job.kind in OF_GOLD
    if of_gold:
        batches = batches.filter(pk=job.ids["batch"])
    tells = job.kind in ("resolve", "perturb", *OF_GOLD) and hidden_batches(
        actor.person, batches, Fact.GOLD if of_gold else Fact.COUNTS
    )
    if tells or (
        job.kind in (*OF_PREVIEWS, *OF_GOLD) and Permission.IMPORT not in permissions_in(actor, job.project)
    ):
        job.done, job.total, job.result = 0, 0, {}
        job.error = "" if tells or of_gold else job.error
    if "report" in job.result and visibility_of(actor, job.project).is_asked:
        for finding in job.result["report"]["findings"]:
            finding["text"] = ""  # it may be an answer
    return job


def why_no_counts() -> str:
    """The text in place of a batch's counts for people who may not see them."""
    return gettext("You annotate in this batch. Its counts are visible to you after it closes.")


def why_no_names() -> str:
    """The text in place of figures of single people for possible adjudicators."""
    return gettext(
        "You may be asked to decide items of this batch. Figures about people are visible to you once a release "
        "contains all decisions."
    )


def may_adjudicate(person: Person, item: Item) -> bool:
    """Adjudicators never judge what they made, annotated, or may still be given; what they have read they may go on with."""
    return adjudicable(person, Item.objects.filter(pk=item.pk)).exists()


def adjudicable(person: Person, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that the person may adjudicate.

    What is the person's own is looked up once and not for each item: tens of thousands may wait.
    """
    excluded_items = Exclusion.objects.filter(person=person, read_at__isnull=True).values("item_id")
    annotated = Assignment.objects.filter(person=person)
    at_work = annotated.filter(batch__closed_at__isnull=True).values("batch_id")
    mine = projects_with_permission(Actor(person), Permission.ANNOTATE)
    open_to_me = Q(batch__project__in=mine, batch__closed_at__isnull=True)
    own = Q(pk__in=excluded_items) | Q(pk__in=annotated.values("item_id")) | Q(batch_id__in=at_work)
    return items.exclude(own | open_to_me)


def shown_as_examples(batch: Batch) -> QuerySet[Item]:
    """The items whose responses may be shown, without names, to a person who annotates in the batch, as examples.

    They are accepted items of closed batches of the same project, task type and variant. None is gold, and of none does a
    batch of the project that is planned or open have an item on the same table: derived examples keep the table of their
    source, so no response tells anything of an item that a person may still get.
    """
    to_come = Item.objects.filter(batch__project=batch.project_id, batch__closed_at__isnull=True)
    return Item.objects.filter(
        batch__project=batch.project_id,
        batch__task_type=batch.task_type,
        batch__variant=batch.variant,
        batch__purpose=Batch.Purpose.WORK,
        batch__closed_at__isnull=False,
        batch__set_aside_at__isnull=True,
        is_gold=False,
        decision__kind=Decision.Kind.ACCEPTED,
    ).exclude(example__stored_table__in=to_come.values("example__stored_table"))


def readable(person: Person, releases: QuerySet[Release]) -> QuerySet[Release]:
    """Those of the releases whose project has no open batch in which the person annotates, or may."""
    at_work = Assignment.objects.filter(
        batch__project=OuterRef("project"), batch__closed_at__isnull=True, person=person
    )
    under_way = Batch.objects.filter(
        project=OuterRef("project"),
        project__in=projects_with_permission(Actor(person), Permission.ANNOTATE),
        opened_at__isnull=False,
        closed_at__isnull=True,
    )
    return releases.filter(~Exists(at_work), ~Exists(under_way))


def has_open_work(person: Person, project: Project) -> bool:
    """Whether the person annotates in an open batch of the project, or may."""
    under_way = Batch.objects.filter(project=project, opened_at__isnull=False, closed_at__isnull=True)
    at_work = Assignment.objects.filter(batch__in=under_way, person=person).exists()
    return at_work or (
        project.pk in projects_with_permission(Actor(person), Permission.ANNOTATE) and under_way.exists()
    )


def require_no_open_work(person: Person, project: Project) -> None:
    """A release shows every response: people who annotate in an open batch, or may, can neither create nor read one."""
    if has_open_work(person, project):
        refuse(
            "still_involved",
            "You annotate in an open batch of this project. You can see its releases once the "
            "batch is closed.",
        )


def require_nothing_to_judge(person: Person, release: Release) -> None:
    """The files of a release say under which pseudonym each response was given, also of items that are not final. A
    person who may have to decide such an item gets the files afterwards.
    """
    if release.project_id not in projects_with_permission(Actor(person), Permission.ADJUDICATE):
        return
    seen = visibility_of(Actor(person), release.project)
    waiting = Item.objects.filter(
        ~seen.condition(Fact.NAMES),
        batch__project=release.project_id,
        is_gold=False,
        assignments__annotations__event_id__lte=release.watermark,
    )
    if count := adjudicable(person, waiting).values("pk").distinct().count():
        refuse(
            "still_involved",
            ngettext(
                "{number} item of this release is not final, and you may be asked to decide it. The files name the "
                "author of each response. Download them once a release contains the decision, or ask a manager "
                "who is not an adjudicator.",
                "{number} items of this release are not final, and you may be asked to decide them. The files name "
                "the author of each response. Download them once a release contains the decisions, or ask a "
                "manager who is not an adjudicator.",
                count,
            ).format(number=count),
        )
