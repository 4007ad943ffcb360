"""Who may see whose responses, by phase. The one place where that is decided.

An annotator sees nothing of others before the batch closes: no response, no live agreement, no
label counts. That holds for everybody who annotates in the batch, whatever other role they have.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext, ngettext

from annotation.access import Actor, involved, where
from annotation.models import Assignment, Batch, Decision, Exclusion, Item, Person, Project, Release
from annotation.refusals import refuse
from annotation.roles import Permission


def may_see_agreement(person: Person, batch: Batch) -> bool:
    """Live agreement and counts of labels: for everybody once the batch is closed, before that for outsiders."""
    return batch.closed_at is not None or not _annotates(person, batch)


def counts_kept_from(person: Person, batches: Iterable[Batch]) -> set[int]:
    """Those of the batches (ids) whose counts the person does not see: gold is mixed in, they are under way, and the
    person annotates in them, or may. An item that is done and changes no count would be gold. No statement without gold.
    """
    mixed = [
        one for one in batches if one.gold_percent and one.opened_at is not None and one.closed_at is None
    ]
    if not mixed:
        return set()
    mine = set(where(Actor(person), Permission.ANNOTATE))
    keys = {one.pk for one in mixed}
    has = set(Assignment.objects.filter(person=person, batch__in=keys).values_list("batch_id", flat=True))
    return has | {one.pk for one in mixed if one.project_id in mine}


def kept_responses(person: Person, batches: Iterable[Batch]) -> set[int]:
    """Those of the batches (keys) whose responses, states and gold items are kept from the person: they are not closed, and
    the person annotates in them, or may.
    """
    unfinished = [batch for batch in batches if batch.closed_at is None]
    projects = set(where(Actor(person), Permission.ANNOTATE))
    others = [batch.pk for batch in unfinished if batch.project_id not in projects]
    assignments = Assignment.objects.filter(person=person, batch__in=others).order_by()
    assigned = set(assignments.values_list("batch_id", flat=True).distinct()) if others else set()
    return assigned | {batch.pk for batch in unfinished if batch.project_id in projects}


def fed_by(keys: Iterable[int], batches: Iterable[Batch]) -> set[int]:
    """Those of the batches (keys) whose items rest on decisions in these ones, at any distance."""
    origins, fed = set(keys), set[int]()
    for batch in sorted(batches, key=lambda batch: batch.pk):  # a batch is made after the one that feeds it
        if batch.feeds_from_id in origins or batch.feeds_from_id in fed:
            fed.add(batch.pk)
    return fed


def sees_counts(person: Person, batch: Batch) -> bool:
    """Whether the person sees the counts of the batch: the rule of `counts_kept_from`, for one."""
    return not counts_kept_from(person, [batch])


def why_no_counts() -> str:
    """What is said in place of a batch's counts to whoever does not see them."""
    return gettext(
        "You annotate in this batch, and it contains gold items. "
        "Its counts are visible to you after it closes."
    )


def annotates_in(person: Person, project: Project) -> QuerySet[Batch]:
    """The open batches of a project in which the person annotates, or may: the rule of `may_see_agreement`, as a query."""
    under_way = Batch.objects.filter(project=project, opened_at__isnull=False, closed_at__isnull=True)
    if project.pk in where(Actor(person), Permission.ANNOTATE):
        return under_way
    return under_way.filter(Exists(Assignment.objects.filter(batch=OuterRef("pk"), person=person)))


def may_adjudicate(person: Person, item: Item) -> bool:
    """Adjudicators never judge what they made, annotated, or may still be given; what they have read they may go on with."""
    return not (
        item.exclusions.filter(person=person, read_at__isnull=True).exists()
        or item.assignments.filter(person=person).exists()
        or (item.batch.closed_at is None and _annotates(person, item.batch))
    )


def adjudicable(person: Person, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that the person may adjudicate: the same rule, as a query.

    What is the person's own is looked up once and not for each item: tens of thousands may wait.
    """
    made = Exclusion.objects.filter(person=person, read_at__isnull=True).values("item_id")
    annotated = Assignment.objects.filter(person=person)
    at_work = annotated.filter(batch__closed_at__isnull=True).values("batch_id")
    mine = where(Actor(person), Permission.ANNOTATE)
    open_to_me = Q(batch__project__in=mine, batch__closed_at__isnull=True)
    own = Q(pk__in=made) | Q(pk__in=annotated.values("item_id")) | Q(batch_id__in=at_work)
    return items.exclude(own | open_to_me)


def shown_as_examples(batch: Batch) -> QuerySet[Item]:
    """The items whose responses may be shown, without names, to somebody who annotates in the batch, as examples.

    They are accepted items of closed batches of the same project, task type and variant. None is gold, and of none does a
    batch of the project that is planned or open have an item on the same table: derived examples keep the table of their
    source, so no response tells anything of an item that somebody may still get.
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
        project__in=where(Actor(person), Permission.ANNOTATE),
        opened_at__isnull=False,
        closed_at__isnull=True,
    )
    return releases.filter(~Exists(at_work), ~Exists(under_way))


def has_open_work(person: Person, project: Project) -> bool:
    """Whether the person annotates in an open batch of the project, or may."""
    under_way = Batch.objects.filter(project=project, opened_at__isnull=False, closed_at__isnull=True)
    at_work = Assignment.objects.filter(batch__in=under_way, person=person).exists()
    return at_work or (project.pk in where(Actor(person), Permission.ANNOTATE) and under_way.exists())


def require_no_open_work(person: Person, project: Project) -> None:
    """A release shows every response: nobody makes or reads one while they annotate in an open batch, or may."""
    if has_open_work(person, project):
        refuse(
            "still_involved",
            "You annotate in an open batch of this project. You can see its releases once the "
            "batch is closed.",
        )


def require_nothing_to_judge(person: Person, release: Release) -> None:
    """The files of a release say under which pseudonym each response was given, also of items that wait for a decision:
    whoever may be the one to decide about such an item gets the files afterwards.
    """
    if release.project_id not in where(Actor(person), Permission.ADJUDICATE):
        return
    waiting = Item.objects.filter(
        batch__project=release.project_id,
        adjudication__isnull=False,
        decision__isnull=True,
        assignments__annotations__event_id__lte=release.watermark,
    )
    if number := adjudicable(person, waiting).values("pk").distinct().count():
        refuse(
            "still_involved",
            ngettext(
                "{number} item of this release needs adjudication, possibly by you. The files name the "
                "author of each response. Decide first, or ask a manager who is not an adjudicator to "
                "download them.",
                "{number} items of this release need adjudication, possibly by you. The files name the "
                "author of each response. Decide first, or ask a manager who is not an adjudicator to "
                "download them.",
                number,
            ).format(number=number),
        )


def _annotates(person: Person, batch: Batch) -> bool:
    """Whether the person has items of the batch, or may still be given some: annotators of the project may."""
    return involved(person, batch) or batch.project_id in where(Actor(person), Permission.ANNOTATE)
