"""What a release made now would lack: work that is not done, decisions that are not made, missing statements.

Nothing of it stops a release; who makes one should know. Counted in a bounded number of queries.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext, ngettext

from annotation.access import visibility
from annotation.access.visibility import Fact
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    Example,
    Inquiry,
    Item,
    Person,
    PerturbationRun,
    Project,
    Release,
)
from annotation.payments import data_statement
from annotation.platform.display_text import grouped, show
from annotation.queue import batch_progress
from tasks.contract import task_types


@dataclass(frozen=True)
class ReleaseGap:
    """One missing thing: the part of the study, and a sentence. `number` of how many.

    `kind` is one of `SUMMED` where several of these make one sum. `batches` and `items`: what it is about, by
    public ids; of decisions that a batch waits for, the batch in which they are made.
    """

    about: str
    words: str
    number: int = 0
    kind: str = ""
    batches: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.about}: {self.words}"


def find_gaps(project: Project) -> list[ReleaseGap]:
    """Everything that a release of the project would lack now."""
    batches = list(
        Batch.objects.filter(project=project, purpose=Batch.Purpose.WORK, set_aside_at__isnull=True)
        .select_related("feeds_from")
        .order_by("pk")
    )
    counts = batch_progress.counts(batches)
    return [*_work(batches, counts), *_runs(project), *_unchecked(project, batches), *_people(project)]


def gaps_visible_to(person: Person, project: Project) -> list[ReleaseGap]:
    """The same for a page; of a batch whose counts are kept from its reader, that they are."""
    batches = list(Batch.objects.filter(project=project))
    hidden_ids = visibility.hidden_batches(person, batches, Fact.COUNTS)
    names = {batch.name for batch in batches if batch.pk in hidden_ids}
    unsaid = "unchecked" if hidden_ids else None  # what was accepted is counted over all batches
    gaps = [gap for gap in find_gaps(project) if gap.about not in names and gap.kind != unsaid]
    return gaps + [ReleaseGap(name, visibility.why_no_counts()) for name in sorted(names)]


SUMMED = ("responses", "adjudication", "chain")
"""What is summed over the batches, in the order of a summary."""


def summary(gaps: Sequence[ReleaseGap]) -> list[ReleaseGap]:
    """The gaps with a sum for each kind of `SUMMED` in the place of its batches; the other ones after these."""
    sums = []
    for kind in SUMMED:
        of_kind = [gap for gap in gaps if gap.kind == kind and gap.number]
        if count := sum(gap.number for gap in of_kind):
            batches = tuple(batch for gap in of_kind for batch in gap.batches)
            sums.append(ReleaseGap("", _sum(kind, count), count, kind, batches))
    return [*sums, *(gap for gap in gaps if gap.kind not in SUMMED)]


def _sum(kind: str, count: int) -> str:
    sentences = {
        "responses": ngettext(
            "{number} item with too few responses", "{number} items with too few responses", count
        ),
        "adjudication": ngettext("{number} item to adjudicate", "{number} items to adjudicate", count),
        "chain": ngettext(
            "{number} decision that a later batch waits for",
            "{number} decisions that later batches wait for",
            count,
        ),
    }
    return sentences[kind].format(number=grouped(count))


def count_unchecked(project: Project) -> tuple[int, int]:
    """How many examples that people made have no blind answer, and how many they made."""
    edits = _created_examples([project.pk])
    return edits.filter(~Exists(_blind_answers())).count(), edits.count()


def count_unchecked_by_project(projects: Collection[int]) -> dict[int, int]:
    """By project (key), how many examples that people made have no blind answer. One query."""
    edits = _created_examples(projects).filter(~Exists(_blind_answers())).order_by()
    return dict(edits.values_list("source__project").annotate(Count("pk")))


def _created_examples(projects: Collection[int]) -> QuerySet[Example]:
    """The examples that people made in batches that are not set aside."""
    edits = Example.objects.perturbed().filter(source__project__in=projects)
    return edits.filter(outcome__decision__item__batch__set_aside_at__isnull=True)


@dataclass(frozen=True)
class UncheckedEdits:
    """The edits in a release without a blind answer, of how many, and the public ids of their items."""

    number: int
    total: int
    items: tuple[str, ...]


def unchecked_edits_of(release: Release) -> UncheckedEdits:
    """The unchecked edits in a release: what was made, and answered blind, up to its watermark."""
    edits = _created_examples([release.project_id]).filter(outcome__decision__event_id__lte=release.watermark)
    without = edits.filter(~Exists(_blind_answers().filter(event_id__lte=release.watermark)))
    items = without.order_by().values_list("outcome__decision__item__public_id", flat=True)
    return UncheckedEdits(len(items), edits.count(), tuple(dict.fromkeys(items)))


@dataclass(frozen=True)
class UnfinishedBatch:
    """A batch that was not finished when a release was made: decided items then, all items, and whether it was opened."""

    batch: Batch
    decided: int
    items: int
    was_opened: bool


def unfinished_of(release: Release) -> list[UnfinishedBatch]:
    """Each batch that was not finished at the watermark of a release, those without items that were not closed among them.

    Items that came from a later decision of the batch before are not counted.
    """
    batches = Batch.objects.filter(
        project=release.project_id,
        purpose=Batch.Purpose.WORK,
        set_aside_at__isnull=True,
        made_at__lte=release.made_at,
    )
    later = Decision.objects.filter(event_id__gt=release.watermark, item__batch=OuterRef("batch__feeds_from"))
    items = Item.objects.filter(batch__in=batches, is_gold=False).exclude(
        Exists(later.filter(item__example=OuterRef("example")))
        | Exists(later.filter(outcomes__example=OuterRef("example")))
    )
    decided = Count("pk", filter=Q(decision__event_id__lte=release.watermark))
    counts = items.order_by().values_list("batch").annotate(done=decided, total=Count("pk"))
    by_batch = {batch: (done, total) for batch, done, total in counts}
    unfinished = []
    for batch in batches.order_by("pk"):
        done, total = by_batch.get(batch.pk, (0, 0))
        is_closed = batch.closed_at is not None and batch.closed_at <= release.made_at
        if done < total or not (total or is_closed):
            was_opened = batch.opened_at is not None and batch.opened_at <= release.made_at
            unfinished.append(UnfinishedBatch(batch, done, total, was_opened))
    return unfinished


def _blind_answers() -> QuerySet[Decision]:
    """Accepted answers to an example (outer query) by people who did not know its answer."""
    return Decision.objects.filter(
        kind=Decision.Kind.ACCEPTED,
        item__example=OuterRef("pk"),
        item__batch__task_type__in=_blind(),
        item__batch__set_aside_at__isnull=True,
    )


def _work(batches: Sequence[Batch], counts: Mapping[int, Mapping[str, int]]) -> Iterator[ReleaseGap]:
    if not batches:
        yield ReleaseGap(gettext("Batches"), gettext("There are no batches yet."), kind="batches")
    for batch in batches:
        batch_counts = counts[batch.pk]
        if batch.state == "planned":
            text = ngettext(
                "It was never opened; {number} item is waiting.",
                "It was never opened; {number} items are waiting.",
                batch_counts["items"],
            ).format(number=grouped(batch_counts["items"]))
            yield ReleaseGap(batch.name, text, batch_counts["items"], "responses", (batch.public_id,))
        else:
            yield from _open(batch, batch_counts)
        feeding = batch.feeds_from
        if feeding is not None and feeding.pk in counts and batch.closed_at is None:
            before = counts[feeding.pk]
            undecided = before["open"] + before["complete"] + before["adjudication"]
            if undecided:
                text = ngettext(
                    "It waits for {number} more decision in “{batch}”.",
                    "It waits for {number} more decisions in “{batch}”.",
                    undecided,
                ).format(number=grouped(undecided), batch=feeding.name)
                yield ReleaseGap(batch.name, text, undecided, "chain", (feeding.public_id,))


def _open(batch: Batch, batch_counts: Mapping[str, int]) -> Iterator[ReleaseGap]:
    if count := batch_counts["open"]:
        text = (
            ngettext(
                "{number} item has too few responses. The batch is closed, so it is left out.",
                "{number} items have too few responses. The batch is closed, so they are left out.",
                count,
            )
            if batch.closed_at
            else ngettext(
                "{number} item has too few responses.", "{number} items have too few responses.", count
            )
        )
        yield ReleaseGap(
            batch.name, text.format(number=grouped(count)), count, "responses", (batch.public_id,)
        )
    if count := batch_counts["complete"]:
        text = ngettext(
            "{number} item is complete and will be decided by the worker within minutes.",
            "{number} items are complete and will be decided by the worker within minutes.",
            count,
        )
        yield ReleaseGap(batch.name, text.format(number=grouped(count)), count)
    if count := batch_counts["adjudication"]:
        text = ngettext("{number} item needs adjudication.", "{number} items need adjudication.", count)
        yield ReleaseGap(
            batch.name, text.format(number=grouped(count)), count, "adjudication", (batch.public_id,)
        )


def _runs(project: Project) -> Iterator[ReleaseGap]:
    runs = PerturbationRun.objects.filter(project=project, event__isnull=True).defer("chosen", "marks")
    for run in runs.select_related("feeds_from").order_by("pk"):
        name = ", ".join(run.kinds)
        if run.feeds_from is None:
            text = gettext(
                "The run is not finished. Start the same run again; it continues where it stopped."
            )
        elif run.feeds_from.closed_at is None:
            text = gettext("They use the decisions of “{batch}” and are released once it is closed.").format(
                batch=run.feeds_from.name
            )
        else:
            text = gettext("They wait for decisions in “{batch}”.").format(batch=run.feeds_from.name)
        yield ReleaseGap(gettext("Perturbations {name}").format(name=name), text)


def _unchecked(project: Project, batches: Sequence[Batch]) -> Iterator[ReleaseGap]:
    """Examples that people made without a blind answer, where the study has a batch for that."""
    kinds = _blind()
    if not any(batch.task_type in kinds for batch in batches):
        return
    count, total = count_unchecked(project)
    if count:
        without = _created_examples([project.pk]).filter(~Exists(_blind_answers())).order_by()
        items = tuple(without.values_list("outcome__decision__item__public_id", flat=True).distinct())
        text = ngettext(
            "{number} of {made} have no blind answer by another person. They come from {items} item.",
            "{number} of {made} have no blind answer by another person. They come from {items} items.",
            len(items),
        ).format(number=grouped(count), made=grouped(total), items=grouped(len(items)))
        yield ReleaseGap(gettext("Perturbed examples"), text, count, "unchecked", items=items)


def _blind() -> list[str]:
    """The task types in which people answer an example without knowing its answer."""
    return [key for key, task in task_types().items() if task.says_gold]


def _people(project: Project) -> Iterator[ReleaseGap]:
    simulated = Assignment.objects.filter(batch__project=project, person__is_simulated=True)
    if simulated.filter(annotations__isnull=False).exists():
        text = gettext("Simulated people annotated here. They must be included explicitly.")
        yield ReleaseGap(gettext("People"), text)
    if unanswered := Inquiry.objects.filter(project=project, answered_at__isnull=True).count():
        text = ngettext(
            "{number} question to the managers is unanswered.",
            "{number} questions to the managers are unanswered.",
            unanswered,
        ).format(number=grouped(unanswered))
        yield ReleaseGap(gettext("Questions"), text, unanswered, "questions")
    if silent := [
        show(question.title) for question in data_statement.ASKED if not project.statement.get(question.name)
    ]:
        text = gettext("No statement on {titles}.").format(titles=", ".join(silent))
        yield ReleaseGap(gettext("Data statement"), text, len(silent), "statement")
