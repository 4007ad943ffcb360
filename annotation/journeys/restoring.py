"""A release in: its project again, with batches, responses, decisions, sources, lineage and pseudonyms.

A release that is made from the restored project has the same data files, byte for byte, and the same agreement figures.
Ids of batches, items, responses and outcomes are those of the release. Where one of them exists on this server already
(the original project is still here), all of them are new: the project is then a copy, equal but for its ids.
"""

from __future__ import annotations

import itertools
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

from django.db import DataError, IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation import bulk, events, jobs, uploads
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Example,
    Guidelines,
    Handling,
    Item,
    Job,
    Membership,
    Outcome,
    Person,
    PerturbationRun,
    Place,
    Project,
    Proposal,
    Provenance,
    SentBack,
    Source,
    StoredTable,
    Tally,
    TaskTypeDefinition,
    Telling,
    Trial,
    Try,
    Upload,
    Verdict,
)
from annotation.public_ids import new_public_id
from annotation.quality import guidance
from annotation.refusals import Refused, refuse, refuse_as
from annotation.releases import automatic, provenances, release_files
from annotation.releases.raw_records import ANNOTATIONS, DECISIONS, SOURCES
from annotation.releases.release_files import MANIFEST, TRIES, Difference
from annotation.releases.task_records import definition_of, task_of_record
from annotation.work import lineage, queue
from tableqa.canonical import digest
from tableqa.foreign_values import printable_in, unstorable
from tableqa.language import message, shown
from tableqa.readers import ReaderError, rejections
from tableqa.readers.archive import unpacked
from tableqa.readers.workbook import is_workbook
from tasks.contract import task_types

Record = dict[str, Any]
Progress = Callable[[int, int], None]
ROWS: Final = 1_000
_MALFORMED: Final = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What records without the form of a release raise."""
MOST_MANIFEST: Final = 64 * 1024 * 1024
"""Bytes of a manifest that a preview reads."""
State = Assignment.State
WAITS: Final = message("restoring.undecided", "Restored from a release in which it had no decision")

LOSSES: Final = (
    gettext_noop(
        "Names and e-mail addresses of people. Annotators keep their pseudonyms and cannot sign in."
    ),
    gettext_noop("Drafts, skipped items, flags, questions, gold items and practice."),
    gettext_noop(
        "Settings of batches that are not in the manifest, such as limits, pay and entry requirements."
    ),
    gettext_noop("The audit log before the release, except submissions and decisions."),
)
"""What no release contains, and a restored project therefore lacks."""


@dataclass(frozen=True)
class Restored:
    """What came back. `has_new_ids`: the original project is on this server, so the copy has ids of its own.

    `without_batch` is the number of examples that the release does not assign to a batch (releases of older versions).
    """

    project: Project
    batches: int
    items: int
    annotations: int
    decisions: int
    people: int
    has_new_ids: bool
    without_batch: int

    def counts(self) -> dict[str, Any]:
        """The result as JSON."""
        return {name: value for name, value in vars(self).items() if name != "project"}


@dataclass(frozen=True)
class ReleaseSummary:
    """What an uploaded release says of itself, before it is verified.

    batches  name and task type of each; sources: name and licence of each
    problem  why it cannot be restored into the project; "" if it can
    """

    project: str = ""
    batches: tuple[tuple[str, str], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    items: int = 0
    annotations: int = 0
    decisions: int = 0
    people: int = 0
    problem: str = ""

    def as_data(self) -> dict[str, Any]:
        """The summary as JSON."""
        return {
            **vars(self),
            "batches": [{"name": name, "task_type": type} for name, type in self.batches],
            "sources": [{"name": name, "licence": licence} for name, licence in self.sources],
        }


def summarise(*, project: Project, upload: Upload) -> ReleaseSummary | None:
    """What the release in an uploaded zip archive would restore; None if the upload is no release.

    Only the manifest is read; `restore` verifies all files. Raises Refused where bytes of the upload are missing.
    """
    with (
        uploads.on_disk(upload) as files,
        tempfile.TemporaryDirectory(prefix="askew-manifest-") as name,
    ):
        path, folder = files.questions, Path(name) / "release"
        if not zipfile.is_zipfile(path) or is_workbook(path) or not _has_manifest(path, folder):
            return None
        return _summary(project, folder)


def _has_manifest(archive: Path, folder: Path) -> bool:
    """Whether an archive is a release; its manifest then lies in `folder`, and nothing else is unpacked."""
    try:
        with zipfile.ZipFile(archive) as members:
            names = set(members.namelist())
            manifest = min((name for name in names if PurePosixPath(name).name == MANIFEST), default=None)
            if manifest is None or str(PurePosixPath(manifest).parent / ANNOTATIONS) not in names:
                return False
            with members.open(manifest) as file:
                content = file.read(MOST_MANIFEST + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError):
        return False  # the preview of the file says what is wrong with the archive
    if len(content) > MOST_MANIFEST:
        return False
    folder.mkdir()
    (folder / MANIFEST).write_bytes(content)
    return True


def _summary(project: Project, folder: Path) -> ReleaseSummary:
    """The summary of a release by its manifest, which lies in a folder."""
    summary = ReleaseSummary()
    try:
        manifest = printable_in(release_files.read_manifest(folder))
        counts = manifest["counts"]
        summary = ReleaseSummary(
            str(manifest["project"]),
            tuple((str(batch["name"]), _title(batch)) for batch in manifest["batches"]),
            tuple((str(source["name"]), str(source["licence"])) for source in manifest["sources"]),
            items=int(counts["items"]),
            annotations=int(counts["annotations"]),
            decisions=int(counts["accepted"]) + int(counts["excluded"]),
            people=int(counts["annotators"]),
        )
        _require_task_types(manifest)
        _require_empty(project)
    except Refused as refused:
        return replace(summary, problem=refused.detail)
    except (Difference, *_MALFORMED) as error:
        text = gettext(
            "The release cannot be restored because it does not verify: {error}. Use an unchanged copy."
        )
        return ReleaseSummary(problem=text.format(error=f"{error}".replace(f"{folder}", folder.name)))
    return summary


def _title(batch: Record) -> str:
    """The title of a batch's task type, installed or defined by the release, in the reader's language."""
    task = task_of_record(batch) if "definition" in batch else task_types().get(batch["type"])
    return shown(task.title) if task else str(batch["type"])


def _require_task_types(manifest: Record) -> None:
    """Refuse a release with a task type that is neither installed nor defined by it."""
    installed = {batch["type"] for batch in manifest["batches"] if "definition" not in batch}
    if unknown := sorted(installed - task_types().keys()):
        refuse(
            "import_failed",
            "This server has no task type {task_type!r}. Install or define it, then restore the release.",
            task_type=unknown[0],
        )


def _require_empty(project: Project) -> None:
    if project.sources.exists() or project.batches.exists():
        refuse("import_failed", "A release can only be restored into an empty project. Create a new one.")


def restore(
    *,
    project: Project,
    folder: Path,
    by: Person | None,
    now: datetime,
    progress: Progress = lambda done, total: None,
    job: Job | None = None,
) -> Restored:
    """Fill an empty project with the contents of a release (a folder or a zip file): everything or nothing.

    job: gets its result with it.
    The release is verified first. Raises Refused(import_failed): not a release, a release that does not verify, an unknown
    task type, or a project that already has sources or batches.
    """
    try:
        if folder.is_file():
            with unpacked(folder) as inner:
                return _restore(project, _release_in(inner), by, now, progress, job)
        return _restore(project, folder, by, now, progress, job)
    except ReaderError as error:
        refuse_as("import_failed", rejections.one_sentence(rejections.described(error)))


def _release_in(folder: Path) -> Path:
    """The folder with the manifest."""
    return next((path.parent for path in sorted(folder.rglob(MANIFEST))), folder)


def _restore(
    project: Project, folder: Path, by: Person | None, now: datetime, progress: Progress, job: Job | None
) -> Restored:
    try:
        manifest = release_files.read_manifest(folder)
        _require_task_types(manifest)
        release_files.verify(folder)
        _require_storable(folder, manifest)
        with transaction.atomic(), bulk.seldom_collected():
            Project.objects.select_for_update(no_key=True).get(pk=project.pk)
            _require_empty(project)
            restored = _Restoring(project, folder, manifest, by, now, progress).run()
            if job is not None:
                jobs.store_result(job, restored.counts())
            return restored
    # What verifies can still have values that no column takes, such as a number of 20 digits: nothing is written then.
    except (Difference, *_MALFORMED, DataError, IntegrityError) as error:
        refuse(
            "import_failed",
            "The release cannot be restored because it does not verify: {error}. Use an unchanged copy.",
            error=str(error).replace(f"{folder}", folder.name),
        )


def _require_storable(folder: Path, manifest: Record) -> None:
    """Raises Difference naming file and line of the first text, key or number that cannot be stored."""
    if reason := unstorable(manifest):
        raise Difference(f"{MANIFEST} contains {reason}")
    for path in sorted(folder.glob("*.jsonl")):
        for number, record in enumerate(release_files.records(path), 1):
            if reason := unstorable(record):
                raise Difference(f"{path.name}, line {number} contains {reason}")


def start_restore(*, project: Project, upload: Upload, by: Person, now: datetime) -> Job:
    """Restore an uploaded release in the background. Raises Refused(import_failed) where bytes of it are missing."""
    uploads.require_whole(upload)
    return jobs.enqueue(project=project, kind="restore", ids={"upload": upload.pk}, by=by, now=now)


@jobs.kind("restore")
def _run_restore(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    upload = Upload.objects.get(pk=job.ids["upload"])
    with uploads.on_disk(upload) as files:
        restored = restore(
            project=job.project,
            folder=files.questions,
            by=job.made_by,
            now=timezone.now(),
            progress=progress.beside_the_transaction,
            job=job,
        )
    return restored.counts()


jobs.afterwards("restore")(uploads.forget_if_done)


# -- writing ----------------------------------------------------------------------------------------


class _Change(NamedTuple):
    """A change of state that becomes an event: in the order of time, then of the release."""

    at: datetime
    number: int
    thing: str
    thing_id: int
    before: str
    after: str
    actor: int | None
    detail: Record | None


class _Log:
    """The events of a restored project: noted first, then written in the order of time."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.changes: list[_Change] = []

    def note(
        self,
        at: datetime,
        thing: str,
        thing_id: int,
        states: tuple[str, str],
        actor: int | None,
        detail: Record | None = None,
    ) -> int:
        """Note a change. Returns its number, by which `write` gives the key of the event."""
        number = len(self.changes)
        self.changes.append(_Change(at, number, thing, thing_id, *states, actor, detail))
        return number

    def write(self) -> list[int]:
        """Write all events. Returns their keys by number."""
        keys = bulk.keys(Event, len(self.changes))
        by_number = [0] * len(keys)
        ordered = sorted(self.changes, key=lambda change: change[:2])
        for key, change in zip(keys, ordered, strict=True):
            by_number[change.number] = key
        names = ["id", "project_id", "actor_id", "thing", "thing_id", "before", "after", "detail", "at"]
        bulk.insert(
            Event,
            names,
            (
                (
                    key,
                    self.project.pk,
                    change.actor,
                    change.thing,
                    change.thing_id,
                    change.before,
                    change.after,
                    change.detail,
                    change.at,
                )
                for key, change in zip(keys, ordered, strict=True)
            ),
        )
        return by_number


@dataclass
class _Work:
    """A person's work on an item: its rows in the order of revisions, without their responses."""

    key: int
    item: str
    person: str
    place: tuple[int, bool]
    revisions: list[Record]

    @property
    def is_submitted(self) -> bool:
        return bool(self.revisions[-1]["has_response"])


class _Contents:
    """A release and the empty project that it goes to: records, ids, and the keys of what is written already."""

    def __init__(
        self,
        project: Project,
        folder: Path,
        manifest: Record,
        by: Person | None,
        now: datetime,
        progress: Progress,
    ) -> None:
        self.project, self.folder, self.manifest = project, folder, manifest
        self.by, self.now, self.progress = by, now, progress
        self.log = _Log(project)
        self.people: dict[str, int] = {}
        self.examples: dict[tuple[str, str], int] = {}
        self.batches: dict[str, Batch] = {}
        self.items: dict[str, int] = {}
        self.places: dict[tuple[str, int], int] = {}
        self.sources: dict[str, Source] = {}
        self.annotation_keys: dict[str, int] = {}
        """Keys of annotations by their ids in the release, in the order of the file."""

    def _records(self, name: str) -> Iterator[Record]:
        path = self.folder / name
        return release_files.records(path) if path.exists() else iter(())

    @cached_property
    def _places_of_items(self) -> dict[str, tuple[str, str, str]]:
        """Batch, source and example of every item, by its id."""
        named = itertools.chain(
            (record for record in self._records(SOURCES) if record["kind"] == "item" and "batch" in record),
            self._records(DECISIONS),
            self._records(ANNOTATIONS),
        )
        return {
            record.get("item") or record["id"]: (record["batch"], record["source"], record["example"])
            for record in named
        }

    @cached_property
    def has_new_ids(self) -> bool:
        """Whether an id of the release exists on this server."""
        responses = (record["id"] for record in self._records(ANNOTATIONS))
        proposals = (record["id"] for record in self._records(provenances.PROPOSALS))
        taken = (
            (Batch, (batch["id"] for batch in self.manifest["batches"])),
            (Item, iter(self._places_of_items)),
            (Annotation, responses),
            (Outcome, (one["id"] for record in self._records(DECISIONS) for one in record["outcomes"])),
            (Proposal, proposals),
            (Try, (record["id"] for record in self._records(TRIES))),
        )
        return any(
            model._default_manager.filter(public_id__in=chunk).exists()
            for model, ids in taken
            for chunk in _chunks(ids)
        )

    @cached_property
    def _new_ids(self) -> defaultdict[str, str]:
        return defaultdict(new_public_id)

    def _id(self, id: str) -> str:
        """The id of a thing in this project, by that in the release."""
        return self._new_ids[id] if self.has_new_ids else id


class _Examples(_Contents):
    """Writes people, sources and examples."""

    def _people(self) -> None:
        """Everybody that the records name, under their pseudonyms: nobody of them can sign in."""
        marks: dict[str, Record] = {}
        for record in self._records(ANNOTATIONS):
            mark = marks.setdefault(record["annotator"], {})
            mark["is_simulated"] = record["simulated"]
            mark["is_external"] = record.get("external", False)
            if record.get("way_back"):
                mark["let_back_in_at"] = _moment(record["made_at"])
        for record in self._records(DECISIONS):
            if record["by"] != "resolve":
                marks.setdefault(record["by"], {})
        for pseudonym, mark in sorted(marks.items()):
            person = Person.objects.create_person(pseudonym, is_active=False, **mark)
            Membership.objects.create(project=self.project, person=person, pseudonym=pseudonym)
            self.people[pseudonym] = person.pk

    def _sources(self) -> None:
        """Sources, tables and original examples."""
        sources: dict[str, Source] = {}
        for record in self._records(SOURCES):
            if record["kind"] == "source":
                sources[record["name"]] = Source.objects.create(
                    project=self.project,
                    **{
                        name: record[name]
                        for name in ("name", "reader", "split", "licence", "citation", "url")
                    },
                    checksum=record["checksums"][0],
                    how={"checksums": record["checksums"]},
                    made_by=self.by,
                    started_at=self.now,
                    ready_at=self.now,
                )
        tables = ((one["digest"], one["content"]) for one in self._records(SOURCES) if one["kind"] == "table")
        bulk.add_missing(StoredTable, ["digest", "content"], tables)
        positions: defaultdict[str, int] = defaultdict(int)
        originals = (record for record in self._records(SOURCES) if record["kind"] == "example")
        for chunk in _chunks(originals):
            digests = {record["table"] for record in chunk}
            stored = dict(StoredTable.objects.filter(digest__in=digests).values_list("digest", "pk"))
            rows = []
            for record in chunk:
                source = record["source"]
                rows.append(
                    Example(
                        source=sources[source],
                        external_id=record["id"],
                        position=positions[source],
                        question=record["question"],
                        answers=record["answers"],
                        stored_table_id=stored[record["table"]],
                        table_digest=record["table"],
                        more=record["more"],
                    )
                )
                positions[source] += 1
            self._add_examples(rows, [record["source"] for record in chunk])
        for name, source in sources.items():
            tables_count = Example.objects.filter(source=source).values("stored_table").distinct().count()
            Source.objects.filter(pk=source.pk).update(
                examples_count=positions[name], tables_count=tables_count
            )
            events.log(source, "", "ready", by=self.by, now=self.now)
        self.sources = sources

    def _add_examples(self, rows: Sequence[Example], sources: Sequence[str]) -> None:
        Example.objects.bulk_create(rows, batch_size=500)
        for row, source in zip(rows, sources, strict=True):
            self.examples[source, row.external_id] = row.pk

    def _automatic(self) -> None:
        """Runs of automatic perturbations, and the examples that they make again."""
        runs = (self.manifest["automatic"] or {}).get("runs", [])
        lines: defaultdict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
        marks: dict[tuple[str, str], Any] = {}
        for record in self._records(automatic.LINES):
            key = record["source"], record["original"]
            lines[key].add((record["kind"], record["seed"]))
            if record.get("cells"):
                marks[key] = record["cells"]
        for described in runs:
            kinds = set(described["kinds"])
            chosen = {
                key: {kind for kind, _ in made}
                for key, made in lines.items()
                if key[0] in described["sources"]
            }
            keys = {key: self.examples[key] for key, made in chosen.items() if kinds <= made}
            run = PerturbationRun.objects.create(
                project=self.project,
                kinds=described["kinds"],
                seeds=described["seeds"],
                choice=described["choice"],
                chosen=sorted(keys.values()),
                marks={str(pk): marks[key] for key, pk in keys.items() if key in marks},
                through=max(keys.values(), default=0),
                made_by=self.by,
                made_at=self.now,
            )
            run.sources.set([self.sources[name] for name in described["sources"]])
            self._make_automatic(run)
            run.event_id = events.record(
                project_id=self.project.pk,
                actor=self.by,
                thing="perturbation_run",
                thing_id=run.pk,
                after="ready",
                now=self.now,
            )
            run.save(update_fields=["counts", "event"])

    def _make_automatic(self, run: PerturbationRun) -> None:
        from tableqa.perturbations import count

        for chunk in _chunks(run.chosen):
            originals = Example.objects.select_related("stored_table", "source").in_bulk(chunk)
            rows, sources = [], []
            for pk in chunk:
                original = originals[pk]
                for instance in lineage.instances(run, original):
                    outcome = instance.outcome()
                    count(run.counts, instance.kind, outcome)
                    source = original.source.name
                    if (
                        instance.is_made
                        and (source, instance.id_of(original.external_id)) not in self.examples
                    ):
                        rows.append(lineage.automatic_example(original, instance, outcome["digest"]))
                        sources.append(source)
            self._add_examples(rows, sources)

    def _derived(self) -> None:
        """Examples that decisions made, each after its parent."""
        waiting = [
            (record["source"], outcome["example"])
            for record in self._records(DECISIONS)
            for outcome in record["outcomes"]
            if outcome["example"] is not None
        ]
        digests = {made["table"] for _, made in waiting}
        stored = {
            sha: pk
            for chunk in _chunks(digests)
            for sha, pk in StoredTable.objects.filter(digest__in=chunk).values_list("digest", "pk")
        }
        while waiting:
            ready = [(source, made) for source, made in waiting if (source, made["parent"]) in self.examples]
            rows = [
                Example(
                    source=self.sources[source],
                    external_id=made["id"],
                    position=0,
                    question=made["question"],
                    answers=made["answers"],
                    stored_table_id=stored[made["table"]],
                    operations=made["operations"],
                    table_digest=made["digest"],
                    more=made["more"],
                    parent_id=self.examples[source, made["parent"]],
                    perturbation=made["perturbation"],
                )
                for source, made in ready
            ]
            if not rows:
                source, made = waiting[0]
                raise Difference(f"{DECISIONS}: the parent {made['parent']!r} of {source!r} is in no record")
            self._add_examples(rows, [source for source, _ in ready])
            waiting = [one for one in waiting if (one[0], one[1]["id"]) not in self.examples]


class _Items(_Examples):
    """Writes batches and items."""

    def _batches(self) -> None:
        """Batches in their order, paused: a manager can resume or close them. With their guidelines."""
        for number, described in enumerate(self.manifest["batches"]):
            at = self.now + timedelta(microseconds=number)
            help = described.get("help", {})
            batch = Batch.objects.create(
                public_id=self._id(described["id"]),
                project=self.project,
                name=described["name"],
                task_type=described["type"],
                definition=self._definition(described),
                **{
                    name: described[name]
                    for name in ("version", "variant", "settings", "settings_digest", "overlap", "seed")
                },
                **{
                    name: described[name]
                    for name in ("resolve", "loop_model", "loop_revision", "model_accuracy")
                    if name in described
                },
                help=help.get("shown", ""),
                help_from=help.get("from", {}),
                unhelped=help.get("unhelped", 0),
                made_by=self.by,
                made_at=at,
                opened_at=at,
                paused_at=at,
            )
            self.batches[described["id"]] = batch
            for states in (("", "planned"), ("planned", "open"), ("open", "paused")):
                events.log(batch, *states, by=self.by, now=at)
        for described in self.manifest["batches"]:
            if described["feeds_from"] in self.batches:
                fed = self.batches[described["id"]]
                fed.feeds_from = self.batches[described["feeds_from"]]
                fed.save(update_fields=["feeds_from"])
        for version in self.manifest["guidelines"]:
            Guidelines.objects.create(
                project=self.project,
                task_type=version["type"],
                number=version["number"],
                text=version["text"],
                made_by=self.by,
                made_at=self._first_at,
            )
        for batch in self.batches.values():
            guidance.ensure(project=self.project, task=batch.task(), now=self._first_at)

    def _definition(self, described: Mapping[str, Any]) -> TaskTypeDefinition | None:
        """The version of a task type that the released project defined; None for an installed task type."""
        if "definition" not in described:
            return None
        data = definition_of(described)
        row, _ = TaskTypeDefinition.objects.get_or_create(
            project=self.project,
            name=described["type"],
            number=described["version"],
            defaults={"data": data, "made_by": self.by, "made_at": self.now},
        )
        if row.data != data:
            refuse(
                "import_failed",
                "This project defines the task type {name!r} in another way. Restore into a new project.",
                name=row.name,
            )
        return row

    @cached_property
    def _first_at(self) -> datetime:
        """When the first annotation was made; now where there is none."""
        return min((_moment(record["made_at"]) for record in self._records(ANNOTATIONS)), default=self.now)

    def _items(self) -> None:
        """Items in the order of the release, with the slots of their batch and those of responses beyond."""
        inputs = {
            record["id"]: record["inputs"]
            for record in self._records(SOURCES)
            if record["kind"] == "item" and "inputs" in record
        }
        by_batch: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for id, (batch, source, example) in self._places_of_items.items():
            by_batch[batch].append((source, example, id))
        for batch_id, ordered in by_batch.items():
            ordered.sort()
            keys = queue.add_items(
                self.batches[batch_id],
                (
                    queue.NewItem(self.examples[source, example], position, inputs.get(id, {}))
                    for position, (source, example, id) in enumerate(ordered, start=1)
                ),
            )
            ids = {key: id for key, (_, _, id) in zip(keys, ordered, strict=True)}
            for chunk in _chunks(keys):
                rows = Item.objects.in_bulk(chunk)
                for key, row in rows.items():
                    row.public_id = self._id(ids[key])
                Item.objects.bulk_update(rows.values(), ["public_id"])
                for pk, item, number in Place.objects.filter(item__in=chunk).values_list(
                    "pk", "item_id", "number"
                ):
                    self.places[ids[item], number] = pk
            self.items.update((id, key) for key, id in ids.items())

    def _without_batch(self) -> int:
        """Original examples that no item, perturbation or derived example is about."""
        used = Example.objects.filter(source__in=self.sources.values(), parent__isnull=True)
        unused = used.filter(items__isnull=True, derived__isnull=True)
        return 0 if not self.batches else unused.count()


class _Responses(_Items):
    """Writes assignments with their annotations."""

    def _annotations(self) -> None:
        """Assignments, places and annotations; the counts of items, batches and people."""
        work = self._work()
        self._add_places(work)
        keys = {key: one.key for key, one in work.items()}
        numbers = self._note_work(work)
        event_keys = self.log.write()
        self.log.changes.clear()
        assigned = self._assignments(work)
        guidelines = {
            (row.task_type, row.number): row.pk for row in Guidelines.objects.filter(project=self.project)
        }
        types = {batch["id"]: batch["type"] for batch in self.manifest["batches"]}
        names = ["id", "public_id", "assignment_id", "revision", "response", "unmet", "unsure"]
        names += ["guidelines_id", "active_seconds", "made_at", "event_id"]
        bulk.insert(Assignment, _ASSIGNMENT, assigned)
        bulk.insert(
            Annotation,
            names,
            (
                (
                    self.annotation_keys[record["id"]],
                    self._id(record["id"]),
                    keys[record["item"], record["annotator"]],
                    record["revision"],
                    record["response"],
                    record.get("unmet"),
                    record.get("unsure"),
                    guidelines[types[record["batch"]], record["guidelines"]["number"]],
                    record["active_seconds"],
                    _moment(record["made_at"]),
                    event_keys[numbers[record["id"]]],
                )
                for record in self._records(ANNOTATIONS)
            ),
        )
        self._send_back(work)
        self._count(work)

    def _work(self) -> dict[tuple[str, str], _Work]:
        """Everybody's work on every item. The keys of annotations are drawn here, by their ids."""
        work: dict[tuple[str, str], _Work] = {}
        ids: list[str] = []
        for record in self._records(ANNOTATIONS):
            place = record["place"]["number"], record["place"]["added"]
            key = record["item"], record["annotator"]
            kept = {
                name: record[name] for name in ("id", "revision", "active_seconds", "made_at", "simulated")
            }
            flags = {name: bool(record.get(name)) for name in ("sent_back", "way_back", "external")}
            kept["imported"] = record.get("imported")
            response = record["response"]
            kept |= flags | {
                "has_response": response is not None,
                "said": None if response is None else queue.fingerprint(response),
            }
            ids.append(record["id"])
            work.setdefault(key, _Work(0, *key, place, [])).revisions.append(kept)
        for one, pk in zip(work.values(), bulk.keys(Assignment, len(work)), strict=True):
            one.revisions.sort(key=lambda kept: kept["revision"])
            one.key = pk
        self.annotation_keys = dict(zip(ids, bulk.keys(Annotation, len(ids)), strict=True))
        return work

    def _add_places(self, work: Mapping[tuple[str, str], _Work]) -> None:
        """The slots of responses beyond the overlap of their batch."""
        more: dict[tuple[str, int], bool] = {}
        for one in work.values():
            number, is_added = one.place
            if (one.item, number) not in self.places:
                more[one.item, number] = is_added
        if not more:
            return
        keys = bulk.keys(Place, len(more))
        positions = dict(Item.objects.filter(batch__project=self.project).values_list("pk", "position"))
        per_item: defaultdict[int, int] = defaultdict(int)
        per_batch: defaultdict[int, int] = defaultdict(int)
        rows = []
        for pk, ((item, number), is_added) in zip(keys, more.items(), strict=True):
            batch = self.batches[self._places_of_items[item][0]].pk
            item_key = self.items[item]
            rows.append((pk, batch, item_key, number, is_added, positions[item_key]))
            self.places[item, number] = pk
            per_item[item_key] += 1
            per_batch[batch] += 1
        bulk.insert(Place, ["id", "batch_id", "item_id", "number", "added", "position"], rows)
        for model, counts in ((Item, per_item), (Batch, per_batch)):
            _add_to(model, "places_count", counts)

    def _note_work(self, work: Mapping[tuple[str, str], _Work]) -> dict[str, int]:
        """Note the changes of every assignment. Returns the number of the event of each annotation (id)."""
        numbers: dict[str, int] = {}
        for one in work.values():
            person, state = self.people[one.person], ""
            first = one.revisions[0]
            at = _moment(first["made_at"]) - timedelta(seconds=first["active_seconds"] or 0)
            if not first["external"]:
                self.log.note(at, "assignment", one.key, ("", State.LEASED), person)
                state = State.LEASED
            for kept in one.revisions:
                at = max(at, _moment(kept["made_at"]))
                after = State.SUBMITTED if kept["has_response"] else State.LEASED
                detail = {"way_back": True} if kept["way_back"] else kept["imported"]
                numbers[kept["id"]] = self.log.note(at, "assignment", one.key, (state, after), person, detail)
                state = after
            if state == State.LEASED:
                self.log.note(self.now, "assignment", one.key, (state, State.RETURNED), None)
        return numbers

    def _assignments(self, work: Mapping[tuple[str, str], _Work]) -> list[tuple[Any, ...]]:
        """The rows of all assignments, as `_ASSIGNMENT` names their columns."""
        rows = []
        taken = []
        for one in work.values():
            last = one.revisions[-1]
            ended = _moment(last["made_at"])
            began = _moment(one.revisions[0]["made_at"]) - timedelta(
                seconds=one.revisions[0]["active_seconds"] or 0
            )
            place = self.places[one.item, one.place[0]]
            if one.is_submitted:
                taken.append(place)
            rows.append(
                (
                    one.key,
                    self.batches[self._places_of_items[one.item][0]].pk,
                    self.items[one.item],
                    place,
                    self.people[one.person],
                    State.SUBMITTED if one.is_submitted else State.RETURNED,
                    self.annotation_keys[last["id"]] if one.is_submitted else None,
                    last["said"],
                    began,
                    ended,
                    ended,
                    last["active_seconds"] or 0,
                    ended if one.is_submitted else self.now,
                )
            )
        for chunk in _chunks(taken):
            Place.objects.filter(pk__in=chunk).update(taken=True)
        return rows

    def _send_back(self, work: Mapping[tuple[str, str], _Work]) -> None:
        """The responses that an adjudicator sent back: each is the one before the first that was written after it."""
        rows = []
        for one in work.values():
            after = next((number for number, kept in enumerate(one.revisions) if kept["sent_back"]), 0)
            if after:
                sent = self.annotation_keys[one.revisions[after - 1]["id"]]
                rows.append(
                    SentBack(
                        assignment_id=one.key,
                        annotation_id=sent,
                        note="",
                        made_by_id=self.by.pk if self.by else self.people[one.person],
                        made_at=_moment(one.revisions[after]["made_at"]),
                    )
                )
        SentBack.objects.bulk_create(rows, batch_size=500)

    def _count(self, work: Mapping[tuple[str, str], _Work]) -> None:
        """The counts of items and people."""
        per_item: defaultdict[int, int] = defaultdict(int)
        tallies: dict[tuple[int, int], Tally] = {}
        for one in work.values():
            batch = self.batches[self._places_of_items[one.item][0]].pk
            key = batch, self.people[one.person]
            tally = tallies.setdefault(key, Tally(batch_id=batch, person_id=key[1]))
            if one.is_submitted:
                per_item[self.items[one.item]] += 1
                tally.submitted += 1
            else:
                tally.returned += 1
        _add_to(Item, "submitted_count", per_item)
        Tally.objects.bulk_create(tallies.values(), batch_size=500)


class _Restoring(_Responses):
    """Writes a release into an empty project, table by table. The caller has a transaction."""

    def run(self) -> Restored:
        steps = (
            self._people,
            self._sources,
            self._automatic,
            self._derived,
            self._batches,
            self._items,
            self._annotations,
            self._decisions,
            self._assistance,
            self._tries,
        )
        for number, step in enumerate(steps):
            self.progress(number, len(steps))
            step()
        self._options()
        events.log(self.project, "", "restored", by=self.by, now=self.now)
        self.progress(len(steps), len(steps))
        return Restored(
            project=self.project,
            batches=len(self.batches),
            items=len(self.items),
            annotations=len(self.annotation_keys),
            decisions=self.manifest["counts"]["accepted"] + self.manifest["counts"]["excluded"],
            people=len(self.people),
            has_new_ids=self.has_new_ids,
            without_batch=self._without_batch(),
        )

    def _decisions(self) -> None:
        """Decisions with their outcomes; items that are complete without one wait for an adjudicator."""
        count = sum(1 for _ in self._records(DECISIONS))
        keys = bulk.keys(Decision, count)
        waits = self._waiting({record["item"] for record in self._records(DECISIONS)})
        numbers = []
        for record in self._records(DECISIONS):
            person = None if record["by"] == "resolve" else self.people[record["by"]]
            based_on = [self._id(id) for id in record.get("based_on", ())]
            detail = ({"reason": record["reason"]} if record["reason"] else {}) | (
                {"based_on": based_on} if based_on else {}
            )
            states = ("complete" if person is None else "adjudication", record["kind"])
            item = self.items[record["item"]]
            numbers.append(
                self.log.note(_moment(record["made_at"]), "item", item, states, person, detail or None)
            )
        event_keys = self.log.write()
        for start in range(0, count, ROWS):
            chunk = itertools.islice(self._records(DECISIONS), start, start + ROWS)
            self._write_decisions(
                list(chunk), keys[start:], [event_keys[number] for number in numbers[start:]]
            )
        for kind in Decision.Kind.values:
            decided = Decision.objects.filter(item__batch__project=self.project, kind=kind)
            for pks in _chunks(decided.values_list("item_id", flat=True)):
                Item.objects.filter(pk__in=pks).update(resolution=kind)
            for batch in self.batches.values():
                Batch.objects.filter(pk=batch.pk).update(
                    **{f"{kind}_count": decided.filter(item__batch=batch).count()}
                )
        Adjudication.objects.bulk_create(waits, batch_size=500)
        for items in _chunks(wait.item_id for wait in waits):
            Item.objects.filter(pk__in=items).update(resolution=Item.Resolution.ADJUDICATION)

    def _waiting(self, decided: set[str]) -> list[Adjudication]:
        complete = Item.objects.filter(
            batch__project=self.project, submitted_count__gt=0, submitted_count__gte=F("places_count")
        )
        left = set(complete.values_list("pk", flat=True)) - {self.items[item] for item in decided}
        for item in sorted(left):
            self.log.note(
                self.now, "item", item, ("complete", "adjudication"), None, {"reason": WAITS.format()}
            )
        return [Adjudication(item_id=item, reason=WAITS.format(), asked_at=self.now) for item in sorted(left)]

    def _write_decisions(self, chunk: Sequence[Record], keys: Sequence[int], logged: Sequence[int]) -> None:
        decisions, outcomes, rests_on = [], [], []
        for record, pk, event in zip(chunk, keys, logged, strict=False):
            decisions.append(
                Decision(
                    pk=pk,
                    item_id=self.items[record["item"]],
                    kind=record["kind"],
                    reason=record["reason"],
                    listed_reason=record.get("listed_reason"),
                    note=record["note"],
                    rule=record.get("rule"),
                    made_by_id=None if record["by"] == "resolve" else self.people[record["by"]],
                    made_at=_moment(record["made_at"]),
                    event_id=event,
                )
            )
            for number, described in enumerate(record["outcomes"], start=1):
                made = described["example"]
                example = None if made is None else self.examples[record["source"], made["id"]]
                outcomes.append(
                    Outcome(
                        public_id=self._id(described["id"]),
                        decision_id=pk,
                        number=number,
                        response=described["response"],
                        example_id=example,
                    )
                )
                rests_on.append([self.annotation_keys[id] for id in described["annotations"]])
        Decision.objects.bulk_create(decisions, batch_size=500)
        Outcome.objects.bulk_create(outcomes, batch_size=500)
        through = Outcome.annotations.through
        through._default_manager.bulk_create(
            (
                through(outcome_id=outcome.pk, annotation_id=annotation)
                for outcome, annotations in zip(outcomes, rests_on, strict=True)
                for annotation in annotations
            ),
            batch_size=500,
        )

    def _assistance(self) -> None:
        """Proposals, who was shown them, what came of them, and the origin of responses."""
        proposals: dict[str, int] = {}
        for record in self._records(provenances.PROPOSALS):
            proposal = Proposal.objects.create(
                public_id=self._id(record["id"]),
                item_id=self.items[record["item"]],
                source=Proposal.Source.RULES if record["maker"] == "rules" else Proposal.Source.MODEL,
                **{
                    name: record[name]
                    for name in ("maker", "category", "by", "why", "score", "data", "digest")
                },
                made_at=_moment(record["made_at"]),
            )
            proposals[record["id"]] = proposal.pk
            for trial in record["trials"]:
                Trial.objects.create(proposal=proposal, made_at=_moment(record["made_at"]), **trial)
        told: dict[tuple[int, str], Telling] = {}
        for record in self._records(ANNOTATIONS):
            if (help := record.get("help")) is not None:
                self._helped(record, help, proposals, told)

    def _helped(
        self,
        record: Record,
        help: Record,
        proposals: Mapping[str, int],
        told: dict[tuple[int, str], Telling],
    ) -> None:
        annotation = self.annotation_keys[record["id"]]
        assignment = Annotation.objects.values_list("assignment_id", flat=True).get(pk=annotation)
        at = _moment(record["made_at"])
        for number, id in enumerate(help["shown"], start=1):
            if (assignment, id) in told:
                continue
            telling = told[assignment, id] = Telling.objects.create(
                assignment_id=assignment, proposal_id=proposals[id], number=number, told_at=at
            )
            errors = [one["errors"] for one in help["rejected"] if one["proposal"] == id]
            if errors:
                Handling.objects.create(
                    telling=telling, act=Handling.Act.REJECTED, errors=errors[0], made_at=at
                )
            if help["took"] == id:
                Handling.objects.create(telling=telling, act=Handling.Act.TOOK, made_at=at)
        source = help["proposal"]
        Provenance.objects.create(
            annotation_id=annotation,
            helped=help["helped"],
            origin=help["origin"],
            telling=told[assignment, source] if source else None,
            shared=help["shared"],
        )

    def _tries(self) -> None:
        """The checks of the model in the loop with their verdicts."""
        assignments = {
            (item, person): pk
            for item, person, pk in Assignment.objects.filter(batch__project=self.project).values_list(
                "item_id", "person_id", "pk"
            )
        }
        for record in self._records(TRIES):
            assignment = assignments[self.items[record["item"]], self.people[record["annotator"]]]
            at = _moment(record["made_at"])
            copied = ("kind", "predictor", "model", "asked", "response", "original", "perturbed", "error")
            check = Try.objects.create(
                public_id=self._id(record["id"]),
                assignment_id=assignment,
                annotation_id=self.annotation_keys[record["annotation"]] if record["annotation"] else None,
                **{name: record[name] for name in copied},
                digest=digest([record["asked"], record["id"]]),
                made_at=at,
                answered_at=at,
            )
            for verdict in record["verdicts"]:
                Verdict.objects.create(of=check, **{**verdict, "made_at": _moment(verdict["made_at"])})

    def _options(self) -> None:
        """What the next release of the project starts with, and the answers of its data statement."""
        formats = release_files.formats_of(self.manifest)
        mix, purpose = self.manifest["mix"], self.manifest.get("purpose")
        release = {"formats": formats, **({"mix": mix["seed"]} if mix else {})}
        said = self.manifest.get("statement", {}).get("said", {})
        Project.objects.filter(pk=self.project.pk).update(
            release={**release, **({"purpose": purpose} if purpose else {})},
            statement={name: text for name, text in said.items() if text},
        )


_ASSIGNMENT: Final = [
    *("id", "batch_id", "item_id", "place_id", "person_id", "state", "annotation_id", "said", "leased_at"),
    *("leased_until", "seen_at", "active_seconds", "ended_at"),
]


def _add_to(model: type[Item | Batch], column: str, counts: Mapping[int, int]) -> None:
    """Add to a counter, by key."""
    by_number: defaultdict[int, list[int]] = defaultdict(list)
    for pk, number in counts.items():
        by_number[number].append(pk)
    for number, pks in by_number.items():
        for chunk in _chunks(pks):
            model._default_manager.filter(pk__in=chunk).update(**{column: F(column) + number})


def _chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    left = iter(values)
    while chunk := list(itertools.islice(left, ROWS)):
        yield chunk


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
