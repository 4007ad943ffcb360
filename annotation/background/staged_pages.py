"""The last stage of every import: checked records into the database, in hidden pages.

Each page is a short transaction, so that submissions do not wait for long. What makes all pages visible is one more short
transaction of the importer.

Pages of a release fill its project, those of examples and responses their own project (`hidden_project`), from which
they move at the end. Labels of a batch are in tables that only their import reads.
`Project.restoring_at` is the time of the last page. While it is set, `annotation.access.authorization` gives the project to
nobody. It is also what a process holds the project by: a process that finds another time there has lost it.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NoReturn

from django.db import connection, transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.db.models.functions import Substr

from annotation.background import jobs
from annotation.models import (
    Batch,
    Event,
    Example,
    Guidelines,
    Item,
    Job,
    Membership,
    Person,
    PerturbationRun,
    Project,
    Source,
    StoredTable,
    TaskTypeDefinition,
)
from annotation.platform import bulk_rows, immutable_rows
from annotation.platform.keyset import chunks
from annotation.platform.public_ids import new_public_id
from annotation.platform.refusals import refuse
from tableqa.readers.ingestion import Rows

ROWS = 500
"""Rows of a page."""
SHARE: Final = 0.5
"""On SQLite, which has one writer, a page is followed by a pause of this share of its time, so that others have a turn."""
CLEARING = 1.0
"""Seconds for which `clear_abandoned` removes pages before others have a turn."""
LOST: Final = timedelta(hours=1)
"""A command that has written no page for so long was killed."""
APART: Final = "_"
"""The prefix of names of projects that only hold pages."""
Progress = Callable[[int, int], None]


class Pages:
    """The pages of an import. The transaction that makes them visible ends it."""

    def __init__(self, progress: Progress, total: int, done: int = 0) -> None:
        self.progress, self.total, self.done = progress, total, done

    @contextmanager
    def page(self, records: int = 0) -> Iterator[None]:
        """A transaction of its own, with this number of the records. Raises JobCancelled."""
        self.progress(max(0, min(self.done, self.total - 1)), self.total)
        began = time.monotonic()
        with transaction.atomic():
            yield
        self.done += records
        if connection.vendor == "sqlite" and not connection.in_atomic_block:
            time.sleep(SHARE * (time.monotonic() - began))

    def in_pages(self, values: Iterable[Any], *, records: bool = False, size: int = 0) -> Iterator[list[Any]]:
        """Values, `size` or `ROWS` at a time; what is done with them is a page. records: each is one of the import."""
        for chunk in chunks(values, size or ROWS):
            with self.page(len(chunk) if records else 0):
                yield chunk

    def of_rows(self, rows: Path, start: int = 0) -> Iterator[list[Any]]:
        """The rows of a file from `start` on, `ROWS` at a time; what is done with them is a page."""
        return self.in_pages(
            itertools.islice(itertools.chain.from_iterable(Rows.read(rows)), start, None), records=True
        )


class HiddenPages(Pages):
    """The pages of one project, held by this process."""

    def __init__(self, project: Project, progress: Progress, records: int) -> None:
        super().__init__(progress, records)
        self.project = project
        self.at: datetime | None = None

    @contextmanager
    def page(self, records: int = 0) -> Iterator[None]:
        """As other pages, while this process holds the project. Raises JobCancelled and ActionRefused."""
        at = self.at
        try:
            with super().page(records):
                self.renew()
                yield
        except BaseException:
            self.at = at
            raise

    def claim(self, job: Job | None) -> None:
        """Hold the project, and remove what an earlier attempt left. Raises ActionRefused(import_failed) where it is not
        empty."""
        with transaction.atomic():
            project = Project.objects.select_for_update(no_key=True).get(pk=self.project.pk)
            is_left = project.restoring_at is not None
            others = Job.objects.filter(
                project=project, kind__in=jobs.OF_IMPORTS, state__in=(Job.State.QUEUED, Job.State.RUNNING)
            )
            if others.exclude(pk__in=[job.pk] if job else []).exists() or (is_left and job is None):
                _refuse_another()
            if not is_left:
                require_empty(project)
            self.at = jobs.clock()
            Project.objects.filter(pk=project.pk).update(restoring_at=self.at)
        if is_left:
            for _ in self.removing():
                pass

    def renew(self) -> None:
        """Keep the lock of the project, in a transaction. Raises ActionRefused(import_failed) if another process has it."""
        now = jobs.clock()
        project_rows = Project.objects.filter(pk=self.project.pk, restoring_at=self.at)
        if not project_rows.update(restoring_at=now):
            _refuse_another()
        self.at = now

    def insert(
        self, model: type[Model], names: str, rows: Iterable[Sequence[Any]], *, records: bool = False
    ) -> None:
        """Add rows of these fields, a page at a time. records: each is a record of the release."""
        for chunk in self.in_pages(rows, records=records):
            bulk_rows.insert(model, names.split(), chunk)

    def keys(self, model: type[Model], count: int) -> list[int]:
        """Keys for `count` new rows."""
        with transaction.atomic():
            return bulk_rows.keys(model, count)

    def abandon(self, until: float = math.inf) -> None:
        """Remove all pages, some of them until a moment of the monotonic clock; the project is then as it was before."""
        project_rows = Project.objects.filter(pk=self.project.pk, restoring_at=self.at)
        if project_rows.exists() and all(time.monotonic() < until for _ in self.removing()):
            project_rows.delete() if self.project.slug.startswith(APART) else project_rows.update(
                restoring_at=None
            )

    def removing(self) -> Iterator[None]:
        """Remove all pages, a short transaction at a time."""
        of_project, slug = {"project": self.project}, self.project.slug
        of_tables: dict[str, Any] = {"digest__startswith": slug}
        people = {"person__is_active": False, "person__email": None, "person__erased_at": None}
        members = Membership.objects.filter(**of_project, **people, roles=[], removed_at=None)
        persons = list(members.values_list("person", flat=True))
        for model, rows in (
            (Item, {"batch__project": self.project}),
            (Batch, of_project),
            (PerturbationRun, of_project),
            (Example, {"source__project": self.project}),
            (Source, of_project),
            *([(StoredTable, of_tables)] if slug.startswith(APART) else []),
            (Guidelines, of_project),
            (TaskTypeDefinition, of_project),
            (
                Event,
                of_project if slug.startswith(APART) else {**of_project, "thing__in": THINGS},
            ),
            (Person, {"pk__in": persons}),
        ):
            parts: list[tuple[Any, str]]
            parts = dependent_rows(model) if model in (Item, Batch, PerturbationRun) else [(model, "pk")]
            if model is Person:
                parts.insert(0, (Membership, "person"))  # to know whom to remove
            yield from remove_rows(model._base_manager.filter(**rows), parts)


def remove_rows(rows: QuerySet[Any], parts: Sequence[tuple[Any, str]]) -> Iterator[None]:
    """Remove rows and these parts of them, a short transaction at a time."""
    # The newest first: an example is younger than its parent.
    remaining_keys = rows.order_by("-pk").values_list("pk", flat=True)
    while keys := list(remaining_keys[:ROWS]):
        with immutable_rows.writable():
            for part, way in parts:
                gone = part._base_manager.filter(**{f"{way}__in": keys})
                gone._raw_delete(gone.db)
        yield


def dependent_rows(model: type[Model]) -> list[tuple[type[Model], str]]:
    """Rows that depend on rows of a table, and these, each with its path to them; dependent rows first."""
    parts, tables = {model: "pk"}, [model]
    for table in tables:  # it grows: the shortest ways first
        relations: list[Any] = table._meta.get_fields(include_hidden=True)
        for relation in relations:
            part = relation.related_model
            if relation.auto_created and (relation.one_to_many or relation.one_to_one) and part not in parts:
                way = relation.field.name if table is model else f"{relation.field.name}__{parts[table]}"
                parts[part] = way
                tables.append(part)
    return list(parts.items())[::-1]


THINGS: Final = ("assignment", "batch", "item", "perturbation_run", "source")
"""What the events of a restore are about."""


def _refuse_another() -> NoReturn:
    refuse("import_failed", "Another import of this project is not finished. Wait for it or cancel it.")


def require_empty(project: Project) -> None:
    """Refuse a project that has contents of its own."""
    parts = (project.sources, project.batches, project.guidelines, project.task_type_definitions)
    if any(part.exists() for part in parts):
        refuse("import_failed", "A release can only be restored into an empty project. Create a new one.")


@contextmanager
def hidden_project(progress: Progress, records: int, job: Job | None) -> Iterator[HiddenPages]:
    """Pages in their own project, for an import into a project with contents. What does not move away is removed."""
    slug, at = f"{APART}{job.public_id if job is not None else new_public_id()}", jobs.clock()
    project, is_new = Project.objects.get_or_create(slug=slug, defaults={"name": slug, "restoring_at": at})
    pages = HiddenPages(project, progress, records)
    pages.at = at
    try:
        if not is_new:  # of an earlier attempt, whose process was killed
            Project.objects.filter(pk=project.pk).update(restoring_at=at)
            for _ in pages.removing():
                pass
        yield pages
    finally:
        pages.abandon()


def clear_abandoned(of: Job | None = None) -> None:
    """Remove pages that are abandoned: their process was killed, and no job takes them up again.

    of: at once those of this job, which has ended.
    """
    now, hidden = jobs.clock(), Project.objects.filter(restoring_at__isnull=False)
    by_job = Job.objects.filter(
        Q(project=OuterRef("pk"), kind="restore") | Q(public_id=Substr(OuterRef("slug"), len(APART) + 1))
    )
    unfinished = Exists(by_job.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING)))
    is_lost = Exists(by_job) & Q(restoring_at__lt=now - jobs.LOST_AFTER) | Q(restoring_at__lt=now - LOST)
    if of is not None:
        is_lost = Q(Exists(by_job.filter(pk=of.pk)))
    for project in hidden.filter(~unfinished, is_lost):
        pages = HiddenPages(project, lambda done, total: None, 0)
        pages.at = project.restoring_at
        pages.abandon(time.monotonic() + CLEARING)
    # Older versions wrote these into the project itself.
    unready = {"ready_at": None, "project__restoring_at": None, "started_at__lt": now - LOST}
    source_ids = list(Source.objects.filter(**unready).values_list("pk", flat=True))
    until = time.monotonic() + CLEARING
    for rows in (Example.objects.filter(source__in=source_ids), Source.objects.filter(pk__in=source_ids)):
        if any(time.monotonic() >= until for _ in remove_rows(rows, [(rows.model, "pk")])):
            break
