"""Read what the boards of projects show, in a bounded number of queries for any number of projects or batches."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Exists, Max, OuterRef
from django.db.models.fields.json import KT

from annotation.access import visibility
from annotation.access.roles import Permission, permissions
from annotation.access.visibility import Fact
from annotation.models import (
    Assignment,
    Batch,
    Inquiry,
    Item,
    Job,
    Membership,
    Person,
    Qualification,
    Release,
    Source,
)
from annotation.queue import batch_progress
from annotation.study_file import release_gaps
from annotation.web.board.needs import Need, State, needs, primary
from annotation.web.board.stages import Blockage, Counts, Stage, blockages

FAILURES_SHOWN: Final = timedelta(days=14)
"""How long a failed job is shown if no job of its kind was done since."""

Rights = Mapping[int, frozenset[Permission]]
"""By project (key), what the person may do there."""


@dataclass(frozen=True)
class Board:
    """A project at a glance. `progress`: the counts of its batches by key, as `batch_progress.counts` gives them.

    batches      all batches, the newest first; `stages` those that count, in the order in which they were planned
    hidden       batches (keys) whose counts are hidden from the person
    unlisted     batches (keys) of which the explorer lists fewer items to the person than their counts say
    jobs         failed jobs (public ids), by kind; the newest of each
    people       members of the project
    """

    state: State
    batches: Sequence[Batch]
    progress: Mapping[int, Mapping[str, int]]
    hidden: Collection[int]
    unlisted: Collection[int] = ()
    jobs: Mapping[str, str] = field(default_factory=dict)
    people: int = 0

    @property
    def needs(self) -> list[Need]:
        return needs(self.state)

    @property
    def primary(self) -> Need:
        """The one next action."""
        return primary(self.state)

    @property
    def blockages(self) -> dict[int, Blockage]:
        return blockages(self.state.stages)


def load_boards(*, person: Person, rights: Rights, now: datetime) -> dict[int, Board]:
    """The boards of these projects, by key."""
    projects = list(rights)
    batches = list(Batch.objects.select_related("definition").filter(project__in=projects).order_by("-pk"))
    standings = visibility.involvements(person, batches)
    hidden, unlisted = (visibility.withheld_batches(standings, fact) for fact in (Fact.COUNTS, Fact.STATE))
    progress = batch_progress.counts(batches)
    stages = _stages(batches, hidden, progress)
    crew = _permissions_of_members(projects)
    failed = _failed_jobs(projects, now)
    mine = _adjudicable_counts(person, rights, progress, batches)
    sources = dict(_by_project(Source.objects.current(), projects))
    questions = dict(_by_project(Inquiry.objects.filter(answered_at__isnull=True), projects))
    released = _released_counts(projects)
    boards = {}
    for project in projects:
        of_project = [batch for batch in batches if batch.project_id == project and batch.archived_at is None]
        state = State(
            may=rights[project],
            stages=[stages[batch.pk] for batch in reversed(of_project) if batch.pk in stages],
            sources=sources.get(project, 0),
            annotators=sum(Permission.ANNOTATE in granted for granted in crew.get(project, ())),
            adjudicators=sum(Permission.ADJUDICATE in granted for granted in crew.get(project, ())),
            mine=mine.get(project, 0),
            questions=questions.get(project, 0),
            failed=[(kind, count) for (key, kind), (count, _) in failed.items() if key == project],
            released=released.get(project),
        )
        jobs = {kind: public_id for (key, kind), (_, public_id) in failed.items() if key == project}
        boards[project] = Board(
            state, of_project, progress, hidden, unlisted, jobs, len(crew.get(project, ()))
        )
    return _with_unchecked(boards)


def _with_unchecked(boards: dict[int, Board]) -> dict[int, Board]:
    """The boards with unchecked edits, of projects where a release is next and people made examples."""
    next_is_release = [
        project
        for project, board in boards.items()
        if Permission.RELEASE in board.state.may
        and board.state.is_quiet
        and any((task := batch.installed_task()) is not None and task.making for batch in board.batches)
    ]
    unchecked = release_gaps.count_unchecked_by_project(next_is_release) if next_is_release else {}
    for project, count in unchecked.items():
        board = boards[project]
        boards[project] = replace(board, state=replace(board.state, unchecked=count))
    return boards


def _stages(
    batches: Sequence[Batch], hidden: Collection[int], progress: Mapping[int, Mapping[str, int]]
) -> dict[int, Stage]:
    """The batches that are not set aside."""
    active_batches = [batch for batch in batches if batch.set_aside_at is None]
    leased_by_batch = _items_in_progress(active_batches)
    lacking = _without_gold(active_batches)
    passed = _passed_counts(active_batches)
    return {
        batch.pk: Stage(
            key=batch.pk,
            public_id=batch.public_id,
            name=batch.name,
            title=_title(batch),
            state=batch.state,
            counts=None
            if batch.pk in hidden
            else _counts(progress[batch.pk], leased_by_batch.get(batch.pk, 0)),
            sources=tuple(batch.sampling.get("sources", ())) if batch.feeds_from_id is None else (),
            takes_from=batch.feeds_from_id,
            requires=batch.requires_id,
            decides=batch.decides,
            at_close=batch.decide_at_close,
            waits_for_model=batch.waits_for_model,
            lacks_gold=lacking.get(batch.pk, 0),
            passed=passed.get(batch.pk, 0),
        )
        for batch in active_batches
    }


def _title(batch: Batch) -> str:
    task = batch.installed_task()
    return task.title if task is not None else batch.task_type


def _counts(progress: Mapping[str, int], leased: int) -> Counts:
    in_progress = min(leased, progress["open"])
    return Counts(
        waiting=progress["open"] - in_progress,
        in_progress=in_progress,
        complete=progress["complete"],
        adjudication=progress["adjudication"],
        accepted=progress["decided"],
        excluded=progress["excluded"],
    )


def _items_in_progress(batches: Sequence[Batch]) -> dict[int, int]:
    """By batch, the items that a person has in progress, without gold."""
    under_way = [batch.pk for batch in batches if batch.state in ("open", "paused")]
    leased = Assignment.objects.filter(
        batch__in=under_way, state=Assignment.State.LEASED, item__is_gold=False
    )
    return dict(leased.order_by().values_list("batch").annotate(Count("item", distinct=True)))


def _without_gold(batches: Sequence[Batch]) -> dict[int, int]:
    planned = [
        batch.pk
        for batch in batches
        if batch.state == "planned" and batch.purpose == Batch.Purpose.QUALIFICATION
    ]
    if not planned:
        return {}
    items = Item.objects.filter(batch__in=planned, gold__isnull=True)
    return dict(items.order_by().values_list("batch").annotate(Count("pk")))


def _passed_counts(batches: Sequence[Batch]) -> dict[int, int]:
    required = {batch.requires_id for batch in batches if batch.requires_id is not None}
    if not required:
        return {}
    qualifications = Qualification.objects.filter(batch__in=required, passed=True)
    return dict(qualifications.order_by().values_list("batch").annotate(Count("pk")))


def _permissions_of_members(projects: Sequence[int]) -> dict[int, list[frozenset[Permission]]]:
    """By project, what each member may do."""
    members = Membership.objects.filter(project__in=projects, removed_at__isnull=True, person__is_active=True)
    crew: dict[int, list[frozenset[Permission]]] = {}
    for project, roles in members.values_list("project_id", "roles"):
        crew.setdefault(project, []).append(permissions(roles))
    return crew


def _failed_jobs(projects: Sequence[int], now: datetime) -> dict[tuple[int, str], tuple[int, str]]:
    """By project and kind, how many jobs failed since one of the kind was done, and the newest (public id)."""
    done_since = Job.objects.filter(
        project=OuterRef("project"), kind=OuterRef("kind"), state=Job.State.DONE, pk__gt=OuterRef("pk")
    )
    failed = Job.objects.filter(
        ~Exists(done_since),
        project__in=projects,
        state=Job.State.FAILED,
        made_at__gte=now - FAILURES_SHOWN,
    )
    failures: dict[tuple[int, str], tuple[int, str]] = {}
    for project, kind, public_id in failed.order_by("pk").values_list("project_id", "kind", "public_id"):
        count, _ = failures.get((project, kind), (0, ""))
        failures[project, kind] = (count + 1, public_id)
    return failures


def _adjudicable_counts(
    person: Person,
    rights: Rights,
    progress: Mapping[int, Mapping[str, int]],
    batches: Sequence[Batch],
) -> dict[int, int]:
    """By project, the items that the person can adjudicate."""
    here = [project for project, granted in rights.items() if Permission.ADJUDICATE in granted]
    if not here or not any(progress[batch.pk]["adjudication"] for batch in batches):
        return {}
    waiting = Item.objects.filter(batch__project__in=here, adjudication__isnull=False)
    return _by_project(visibility.adjudicable(person, waiting), here, "batch__project")


def _released_counts(projects: Sequence[int]) -> dict[int, int]:
    """By project, the accepted items in its latest release."""
    ready = Release.objects.filter(project__in=projects, ready_at__isnull=False).order_by()
    latest = ready.values("project").annotate(latest=Max("pk")).values("latest")
    accepted = Release.objects.filter(pk__in=latest).annotate(accepted=KT("manifest__counts__accepted"))
    return {project: int(count or 0) for project, count in accepted.values_list("project_id", "accepted")}


def _by_project(rows: Any, projects: Iterable[int], field: str = "project") -> dict[int, int]:
    matches = rows.filter(**{f"{field}__in": list(projects)}).order_by().values_list(field)
    return dict(matches.annotate(number=Count("pk")))
