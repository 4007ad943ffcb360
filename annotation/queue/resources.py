"""Resources that a task type requests from the platform: indexes of the project's tables, and a thesaurus.

An index is made in the background when a person first asks for it, and kept as a file under the data folder; a web
process reads the file once. What has no file yet is `Unavailable` for the moment, and is not waited for. An index
belongs to the sources that it was made from: a further source makes another one.
"""

import json
import logging
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cachetools import LRUCache
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

import tableqa
from annotation.background import jobs
from annotation.models import Example, Job, Project, Source, StoredTable
from annotation.platform.display_text import show
from tableqa.core.canonical_json import canonical, digest
from tableqa.perturbations.headers import HeaderNames, Unavailable, thesaurus
from tableqa.perturbations.related_tables import Index
from tasks.contract import Context

log = logging.getLogger(__name__)

LAYOUT = 1
"""The version of the files. A process that expects another one makes them again."""

MOST_KEPT = 8
"""Indexes that a process keeps in memory, those of the projects asked for last."""


@dataclass(frozen=True)
class IndexType:
    """A kind of index: how it is made of tables, and how it becomes JSON and comes back."""

    build: Callable[[Iterator[tableqa.Table]], Any]
    read: Callable[[Any], Any]
    what: str


INDEXES = {
    "header_names": IndexType(HeaderNames.build, HeaderNames.from_dict, gettext_noop("column names")),
    "corpus": IndexType(Index.build, Index.from_dict, "tables"),
}
"""The members of `Context` that are made of a project's tables."""


def context(project: Project, needs: Sequence[str]) -> Context:
    """The members that a task type names in `needs`, for one project. What is still being made is named in `preparing`."""
    resources: dict[str, Any] = {}
    if index_names := [name for name in INDEXES if name in needs]:
        state = state_of(project)
        resources = {name: _index(project, name, state) for name in index_names}
    if "thesaurus" in needs:
        resources["thesaurus"] = thesaurus()
    if "table" in needs:
        resources["table"] = lambda sha: table(project, sha)
    return Context(
        **resources,
        preparing=tuple(name for name, index in resources.items() if isinstance(index, IndexInPreparation)),
    )


def context_without_waiting(project: Project, needs: Sequence[str]) -> Context:
    """The members that a task type names in `needs`, none of them still being made: an index that has no file is made now.

    For work that cannot do without, as planning a batch of items that freeze what an index finds. Some seconds for
    thousands of tables, once for each set of sources.
    """
    state = state_of(project)
    for name in INDEXES:
        if name in needs and _load_index(project, name, state) is None:
            _build(project, name, state)
    return context(project, needs)


def prepare(project: Project, needs: Sequence[str]) -> None:
    """Have made in the background what a task type will request, before any person does."""
    state = state_of(project)
    for name in INDEXES:
        if name in needs and not path(project, name, state).exists():
            _order_index(project, name, state)


def table(project: Project, sha: str) -> tableqa.Table | None:
    """The source table of the project with this digest, or None."""
    stored = _tables(project).filter(digest=sha).first()
    return stored.table() if stored else None


# -- indexes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexInPreparation(Unavailable):
    """Being made: asking again in a moment may give it."""


_lock = threading.Lock()
_indexes: LRUCache[Path, Any] = LRUCache(MOST_KEPT)


def state_of(project: Project) -> str:
    """What the indexes of a project depend on: its sources that are ready, which never change."""
    return digest(sorted(Source.objects.ready().filter(project=project).values_list("public_id", flat=True)))


def path(project: Project, name: str, state: str) -> Path:
    """The location of an index."""
    return Path(settings.MEDIA_ROOT) / "indexes" / project.slug / f"{name}-{LAYOUT}-{state[:16]}.json"


def _index(project: Project, name: str, state: str) -> Any:
    """The index, from memory or from its file; `Unavailable`, and ordered, while there is none."""
    index = _load_index(project, name, state)
    return _order_index(project, name, state) if index is None else index


def _load_index(project: Project, name: str, state: str) -> Any:
    """The index, from memory or from its file; None where there is none."""
    file = path(project, name, state)
    with _lock:  # two requests at once do not read it twice
        if file not in _indexes and (index := _read(file, name)) is not None:
            _indexes[file] = index
        return _indexes.get(file)


def _read(file: Path, name: str) -> Any:
    """The index in a file; None where there is no file, or a damaged one, which is taken away to be made again."""
    try:
        return INDEXES[name].read(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except ValueError as error:
        log.warning("Rebuilding the index %s: %s", file, error)
        file.unlink(missing_ok=True)
        return None


def _order_index(project: Project, name: str, state: str) -> Unavailable:
    """Have the index made, unless it is ordered already; the message until it exists."""
    what = INDEXES[name].what
    ordered = Job.objects.filter(project=project, kind="index", ids={"name": name, "state": state})
    job = ordered.order_by("-pk").first()
    if job is None or job.state == Job.State.DONE:  # done, and yet no file: a person removed it
        jobs.enqueue(
            project=project, kind="index", ids={"name": name, "state": state}, by=None, now=timezone.now()
        )
    elif job.state == Job.State.FAILED:
        return Unavailable(
            gettext("The {what} of this project cannot be read. {error}").format(
                what=what, error=show(job.error)
            )
        )
    return IndexInPreparation(
        gettext("The {what} of this project are still loading. More suggestions will follow.").format(
            what=what
        )
    )


@jobs.kind("index")
def _make(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Make the file of an index. Safe to run twice: the same tables make the same file."""
    return {"tables": _build(job.project, job.ids["name"], state_of(job.project), progress)}


def _build(project: Project, name: str, state: str, progress: jobs.Progress | None = None) -> int:
    """Make the file of an index now, in place of those of other sources; of how many tables it is made."""
    target = path(project, name, state)
    tables = _tables(project).order_by("digest")
    total = tables.count()
    index = INDEXES[name].build(
        _iterate_tables(tables, lambda done: progress(done, total) if progress else None)
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{uuid.uuid4().hex}.part")
    part.write_text(canonical(index.to_dict()), encoding="utf-8")
    part.rename(target)
    for older in target.parent.glob(f"{name}-*.json"):
        if older != target:
            older.unlink(missing_ok=True)
    return total


def _tables(project: Project) -> QuerySet[StoredTable]:
    """The source tables of a project, each once."""
    examples = Example.objects.usable().filter(source__project=project)
    return StoredTable.objects.filter(pk__in=examples.values("stored_table_id"))


def _iterate_tables(tables: QuerySet[StoredTable], tell: Callable[[int], None]) -> Iterator[tableqa.Table]:
    """The tables a page at a time: no query stays open while the index grows."""
    done, last = 0, ""
    while page := list(tables.filter(digest__gt=last)[:200]):
        for stored in page:
            yield stored.table()
            done += 1
        tell(done)
        last = page[-1].digest
