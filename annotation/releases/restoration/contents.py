"""The contents of a checked release on their way into an empty project: sources, examples, batches and items."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from django.db.models import Count

from annotation.access import audit_log
from annotation.background.staged_pages import HiddenPages
from annotation.models import (
    Annotation,
    Batch,
    Event,
    Example,
    Guidelines,
    Item,
    Membership,
    Outcome,
    Person,
    PerturbationRun,
    Proposal,
    Source,
    StoredTable,
    TaskTypeDefinition,
    Try,
)
from annotation.platform import bulk_rows
from annotation.platform.keyset import chunks
from annotation.platform.public_ids import new_public_id
from annotation.quality import guidelines
from annotation.queue import lineage
from annotation.releases import provenance
from annotation.releases.benchmark_files import TRIES
from annotation.releases.manifest import Manifest
from annotation.releases.task_records import definition_of
from tableqa.perturbations import count
from tableqa.releases import perturbation_records, record_files
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import ANNOTATIONS, DECISIONS, MANIFEST, SOURCES

Record = dict[str, Any]


class EventLog:
    """The events of a restored project: noted first, then written in the order of time and of the release."""

    def __init__(self, pages: HiddenPages) -> None:
        self.pages = pages
        self.changes: list[tuple[Any, ...]] = []

    def note(
        self,
        at: datetime,
        thing: str,
        key: int,
        states: tuple[str, str],
        actor: int | None,
        detail: Any = None,
    ) -> int:
        """Note a change. Returns its number, by which `write` gives the key of the event."""
        self.changes.append((at, len(self.changes), thing, key, *states, actor, detail))
        return len(self.changes) - 1

    def write(self) -> list[int]:
        """Write the noted events. Returns their keys by number.

        Keys are drawn ahead: no reader of the log (`audit_log.wait_for_writers`) reads that of a hidden project.
        """
        keys = self.pages.keys(Event, len(self.changes))
        key_of = [0] * len(keys)
        ordered = sorted(self.changes, key=lambda change: change[:2])
        for key, change in zip(keys, ordered, strict=True):
            key_of[change[1]] = key
        project = self.pages.project.pk
        self.pages.insert(
            Event,
            "id project_id at thing thing_id before after actor_id detail",
            ((key, project, at, *values) for key, (at, _, *values) in zip(keys, ordered, strict=True)),
        )
        self.changes = []
        return key_of


class Contents:
    """A checked release and the empty project that it goes to: records, ids, and the keys of what is written already."""

    def __init__(
        self, pages: HiddenPages, folder: Path, manifest: Manifest, by: Person | None, now: datetime
    ) -> None:
        self.pages, self.project = pages, pages.project
        self.folder, self.manifest, self.by, self.now = folder, manifest, by, now
        self.log = EventLog(pages)
        self.people: dict[str, int] = {}
        self.sources: dict[str, Source] = {}
        self.examples: dict[tuple[str, str], int] = {}
        self.batches: dict[str, Batch] = {}
        self.items: dict[str, int] = {}
        self.waiting: list[int] = []
        """Items that are complete and have no decision."""
        self.slots: dict[tuple[str, int], int] = {}
        self.annotation_keys: dict[str, int] = {}
        """Keys of annotations by their ids in the release, in the order of the file."""

    def records(self, name: str) -> Iterator[Record]:
        """The records of a file of the release; none where it has no such file."""
        path = self.folder / name
        return record_files.records(path) if path.exists() else iter(())

    @cached_property
    def item_records(self) -> dict[str, tuple[str, str, str]]:
        """Batch, source and example of every item, by its id."""
        named = itertools.chain(
            (record for record in self.records(SOURCES) if record["kind"] == "item" and "batch" in record),
            self.records(DECISIONS),
            self.records(ANNOTATIONS),
        )
        return {
            record.get("item") or record["id"]: (record["batch"], record["source"], record["example"])
            for record in named
        }

    @cached_property
    def has_new_ids(self) -> bool:
        """Whether an id of the release exists on this server."""
        outcomes = (outcome for record in self.records(DECISIONS) for outcome in record["outcomes"])
        ids_by_model: tuple[tuple[Any, Iterator[str]], ...] = (
            (Batch, (batch["id"] for batch in self.manifest.batches)),
            (Item, iter(self.item_records)),
            (Annotation, (record["id"] for record in self.records(ANNOTATIONS))),
            (Outcome, (outcome["id"] for outcome in outcomes)),
            (Proposal, (record["id"] for record in self.records(provenance.PROPOSALS))),
            (Try, (record["id"] for record in self.records(TRIES))),
        )
        return any(
            model._default_manager.filter(public_id__in=chunk).exists()
            for model, ids in ids_by_model
            for chunk in chunks(ids)
        )

    @cached_property
    def _new_ids(self) -> defaultdict[str, str]:
        return defaultdict(new_public_id)

    def id_of(self, id: str) -> str:
        """The id of a thing in this project, by that in the release."""
        return self._new_ids[id] if self.has_new_ids else id

    @cached_property
    def first_at(self) -> datetime:
        """When the first annotation was made; now where there is none."""
        return min((moment(record["made_at"]) for record in self.records(ANNOTATIONS)), default=self.now)

    # -- people, sources and examples ---------------------------------------------------------------

    def write_people(self) -> None:
        """All people that the records name, under their pseudonyms: they cannot sign in."""
        marks: dict[str, Record] = {}
        for record in self.records(ANNOTATIONS):
            mark = marks.setdefault(record["annotator"], {})
            mark["is_simulated"] = record["simulated"]
            mark["is_external"] = record.get("external", False)
            if record.get("way_back"):
                mark["let_back_in_at"] = moment(record["made_at"])
        for record in self.records(DECISIONS):
            if record["by"] != "resolve":
                marks.setdefault(record["by"], {})
        for names in self.pages.in_pages(sorted(marks)):
            for pseudonym in names:
                person = Person.objects.create_person(pseudonym, is_active=False, **marks[pseudonym])
                Membership.objects.create(project=self.project, person=person, pseudonym=pseudonym)
                self.people[pseudonym] = person.pk

    def write_sources(self) -> None:
        """Sources, tables and original examples."""
        for record in self._of_sources("source"):
            names = ("name", "reader", "split", "licence", "citation", "url")
            with self.pages.page(1):
                self.sources[record["name"]] = Source.objects.create(
                    project=self.project,
                    **{name: record[name] for name in names},
                    checksum=record["checksums"][0],
                    how={name: record[name] for name in ("checksums", "reports") if name in record},
                    made_by=self.by,
                    started_at=self.now,
                )
        for chunk in self.pages.in_pages(self._of_sources("table"), records=True):
            rows = ((record["digest"], record["content"]) for record in chunk)
            bulk_rows.add_missing(StoredTable, ["digest", "content"], rows)
        tables = stored_tables(record["digest"] for record in self._of_sources("table"))
        positions = defaultdict[str, Iterator[int]](itertools.count)
        originals = (
            Example(
                source=self.sources[record["source"]],
                external_id=record["id"],
                position=next(positions[record["source"]]),
                question=record["question"],
                answers=record["answers"],
                stored_table_id=tables[record["table"]],
                table_digest=record["table"],
                more=record["more"],
            )
            for record in self._of_sources("example")
        )
        self._add_examples(originals, records=True)
        for row in self.sources.values():
            counted = {"examples_count": Count("pk"), "tables_count": Count("stored_table", distinct=True)}
            counts = Example.objects.filter(source=row).aggregate(**counted)
            with self.pages.page():
                Source.objects.filter(pk=row.pk).update(**counts)
                audit_log.log(row, "", "ready", by=self.by, now=self.now)

    def _of_sources(self, kind: str) -> Iterator[Record]:
        return (record for record in self.records(SOURCES) if record["kind"] == kind)

    def _add_examples(self, rows: Iterable[Example], *, records: bool = False) -> None:
        names = {source.pk: name for name, source in self.sources.items()}
        for chunk in self.pages.in_pages(rows, records=records):
            Example.objects.bulk_create(chunk, batch_size=500)
            self.examples.update({(names[row.source_id], row.external_id): row.pk for row in chunk})

    def write_automatic(self) -> None:
        """Runs of automatic perturbations, and the examples that they make again."""
        lines: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        marks: dict[tuple[str, str], Any] = {}
        for record in self.records(perturbation_records.LINES):
            key = record["source"], record["original"]
            lines[key].add(record["kind"])
            if record.get("cells"):
                marks[key] = record["cells"]
        for described in (self.manifest.automatic or {}).get("runs", []):
            kinds, sources = set(described["kinds"]), described["sources"]
            keys = {
                key: self.examples[key]
                for key, of_key in lines.items()
                if key[0] in sources and kinds <= of_key
            }
            with self.pages.page():
                run = PerturbationRun.objects.create(
                    project=self.project,
                    **{name: described[name] for name in ("kinds", "seeds", "choice")},
                    chosen=sorted(keys.values()),
                    marks={str(pk): marks[key] for key, pk in keys.items() if key in marks},
                    through=max(keys.values(), default=0),
                    made_by=self.by,
                    made_at=self.now,
                )
                run.sources.set([self.sources[name] for name in sources])
            self._add_examples(self._automatic(run))
            with self.pages.page():
                run.event_id = audit_log.log(run, "", "ready", by=self.by, now=self.now)
                run.save(update_fields=["counts", "event"])

    def _automatic(self, run: PerturbationRun) -> Iterator[Example]:
        """The examples of a run that are not there yet; each attempt at one is a record of the release."""
        for chunk in chunks(run.chosen):
            originals = Example.objects.select_related("stored_table", "source").in_bulk(chunk)
            for original in (originals[pk] for pk in chunk):
                for instance in lineage.instances(run, original):
                    outcome = instance.outcome()
                    count(run.counts, instance.kind, outcome)
                    self.pages.done += 1
                    key = original.source.name, instance.id_of(original.external_id)
                    if instance.is_made and key not in self.examples:
                        yield lineage.automatic_example(original, instance, outcome["digest"])

    def write_derived(self) -> None:
        """Examples that decisions made, each after its parent."""
        waiting = [
            (record["source"], outcome["example"])
            for record in self.records(DECISIONS)
            for outcome in record["outcomes"]
            if outcome["example"] is not None
        ]
        tables = stored_tables(example_record["table"] for _, example_record in waiting)
        names = ("question", "answers", "operations", "more", "perturbation")
        while waiting:
            ready = [entry for entry in waiting if (entry[0], entry[1]["parent"]) in self.examples]
            if not ready:
                source, example_record = waiting[0]
                raise Difference(
                    f"{DECISIONS}: the parent {example_record['parent']!r} of {source!r} is in no record"
                )
            self._add_examples(
                Example(
                    source=self.sources[source],
                    external_id=example_record["id"],
                    position=0,
                    stored_table_id=tables[example_record["table"]],
                    table_digest=example_record["digest"],
                    parent_id=self.examples[source, example_record["parent"]],
                    **{name: example_record[name] for name in names},
                )
                for source, example_record in ready
            )
            waiting = [entry for entry in waiting if (entry[0], entry[1]["id"]) not in self.examples]

    # -- batches and items --------------------------------------------------------------------------

    def write_batches(self) -> None:
        """Batches in their order, with their guidelines. They are paused: a manager can resume or close them."""
        frozen = ("version", "variant", "settings", "settings_digest", "overlap", "seed")
        optional = ("resolve", "loop_model", "loop_revision", "model_accuracy")
        _ = self.has_new_ids, self.first_at  # these read all records, which takes longer than a page may
        with self.pages.page():
            for index, described in enumerate(self.manifest.batches):
                at, help = self.now + timedelta(microseconds=index), described.get("help", {})
                batch = self.batches[described["id"]] = Batch.objects.create(
                    public_id=self.id_of(described["id"]),
                    project=self.project,
                    name=described["name"],
                    task_type=described["type"],
                    definition=self._definition(described),
                    **{name: described[name] for name in frozen},
                    **{name: described[name] for name in optional if name in described},
                    help=help.get("shown", ""),
                    help_from=help.get("from", {}),
                    unhelped=help.get("unhelped", 0),
                    made_by=self.by,
                    made_at=at,
                )
                for states in (("", "planned"), ("planned", "open"), ("open", "paused")):
                    audit_log.log(batch, *states, by=self.by, now=at)
            for described in self.manifest.batches:
                if described["feeds_from"] in self.batches:
                    fed = self.batches[described["id"]]
                    fed.feeds_from = self.batches[described["feeds_from"]]
                    fed.save(update_fields=["feeds_from"])
            for version in self.manifest.guidelines:
                Guidelines.objects.create(
                    project=self.project,
                    task_type=version["type"],
                    number=version["number"],
                    text=version["text"],
                    made_by=self.by,
                    made_at=self.first_at,
                )
            for batch in self.batches.values():
                guidelines.ensure(project=self.project, task=batch.task(), now=self.first_at)

    def _definition(self, described: Mapping[str, Any]) -> TaskTypeDefinition | None:
        """The version of a task type that the released project defined; None for an installed task type."""
        if "definition" not in described:
            return None
        defaults = {"data": definition_of(described), "made_by": self.by, "made_at": self.now}
        row, _ = TaskTypeDefinition.objects.get_or_create(
            project=self.project, name=described["type"], number=described["version"], defaults=defaults
        )
        if row.data != defaults["data"]:
            raise Difference(f"{MANIFEST}: the task type {row.name!r} has two definitions")
        return row


def stored_tables(digests: Any) -> dict[str, int]:
    """The keys of stored tables by their digests."""
    return {
        digest: pk
        for chunk in chunks(set(digests))
        for digest, pk in StoredTable.objects.filter(digest__in=chunk).values_list("digest", "pk")
    }


def moment(text: str) -> datetime:
    """A time of a record."""
    return datetime.fromisoformat(text)
