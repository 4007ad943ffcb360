"""The raw records of a release folder, without a database and without holding them in memory.

A folder is gone through once; from then on what is kept is where each record is in its file, and that on disk, too
(`tableqa.core.disk_collections`). A record is read again whenever it is asked for.
"""

import itertools
import json
import sqlite3
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from cachetools import LRUCache, cachedmethod

from tableqa.core.disk_collections import Shelf, database
from tableqa.core.release_rules import RULES
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.operations import OperationError, from_dict, replay
from tableqa.perturbations import Counts, count
from tableqa.releases import perturbation_records
from tableqa.releases.record_files import (
    Difference,
    Lines,
    Record,
    RecordFiles,
    Records,
    records,
    records_with_offsets,
)

RULES_OF_HISTORY = 11
"""The rules from which on releases name their predecessor and have a citation."""
RULES_OF_CURRENT_COUNTS = 7
RESPONSES_KEPT = 64
"""Responses that stay in memory as they are read: labels are alike."""
MANIFEST = "manifest.json"
SOURCES, ANNOTATIONS, DECISIONS = "sources.jsonl", "annotations.jsonl", "decisions.jsonl"
RAW = (SOURCES, ANNOTATIONS, DECISIONS)
LAYOUT, LAYOUT_OF_FORMATS = 1, 2
"""The version of the layout: of a release in one format, and of one in several, which has a folder for each of them.

A reader that meets a higher one should stop.
"""
EXAMPLES_KEPT = 16
"""Examples that stay in memory: the records of one item are together."""
CURRENT_COUNTS = ("responses", "respondents", "answered_items", "undecided_items")
"""The counts of current responses, which manifests have from rules 7 on."""
CELLS_KEPT = 40_000
"""Cells of tables that stay in memory."""


def read_manifest(folder: Path) -> Record:
    """The manifest of a release folder. Raises Difference where the folder is no release of this layout."""
    path = folder / MANIFEST
    if not path.is_file():
        raise Difference(f"{folder} is not a release: {MANIFEST} is missing")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Difference(f"{MANIFEST}: not JSON ({error})") from None
    if not isinstance(manifest, dict) or manifest.get("layout") not in (LAYOUT, LAYOUT_OF_FORMATS):
        raise Difference(f"{MANIFEST}: layout must be {LAYOUT} or {LAYOUT_OF_FORMATS}")
    if type(rules := manifest.get("rules", 1)) is not int or not 1 <= rules <= RULES:
        raise Difference(
            f"{MANIFEST}: this release was made by a newer version of Askew (rules {rules!r}, here "
            f"{RULES}). Use that version"
        )
    return manifest


def datasets(sources: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What benchmark files call each source of a release: its reader, as publications do, where that tells it from others.

    Where another source has the same reader and split, or bears the reader's name, it is the source's own name: a file holds
    one source, and the ids in it are that source's.
    """
    by_name = {source["name"]: (source["reader"], source["split"]) for source in sources}
    alike = Counter(by_name.values())
    return {
        name: reader if alike[reader, split] == 1 and reader not in by_name.keys() - {name} else name
        for name, (reader, split) in by_name.items()
    }


class Tables(Mapping[str, Table]):
    """The source tables by their digests; some stay in memory."""

    def __init__(self, files: RecordFiles, path: Path, offsets: Shelf[str, tuple[int]]) -> None:
        self._files, self._path, self._offsets = files, path, offsets
        self._cache: LRUCache[Any, Table] = LRUCache(CELLS_KEPT, _cells)

    @cachedmethod(attrgetter("_cache"))
    def __getitem__(self, key: str) -> Table:
        return Table.from_dict(self._files.at(self._path, *self._offsets[key])["content"])

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)


class ReleaseRecords:
    """The raw records of a release folder, found again by what they are known by.

    manifest                 what the release says of itself: purpose, rules and exclusions come from nowhere else
    sources, batches         by name and by id: few, and in memory
    tables                   by digest
    originals, derived       examples by (source, id), in the order of their files
    inputs                   what items show beside their examples
    annotations, decisions   the records of the files, in their order
    first_made_at, last_made_at   the times of the first and the last of them (ISO 8601, UTC); "" if there are none
    """

    def __init__(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        sources: Iterable[tuple[int, Any]],
        annotations: Iterable[tuple[int, Any]],
        decisions: Iterable[tuple[int, Any]],
    ) -> None:
        self.folder, self.manifest = folder, manifest
        self.purpose, self.rules = str(manifest.get("purpose", "")), int(manifest.get("rules", 1))
        self.batches: dict[str, Record] = {batch["id"]: dict(batch) for batch in manifest["batches"]}
        self.sources: dict[str, Record] = {}
        self._db = database(
            "CREATE TABLE annotations (number INTEGER PRIMARY KEY, place, id, batch, item, source, example, annotator, "
            "simulated, revision, newest, blind, response)",
            "CREATE TABLE decisions (number INTEGER PRIMARY KEY, place, item, source, example, kind, made_by, outcomes)",
        )
        self._files = RecordFiles()
        weakref.finalize(self, self._db.close)
        weakref.finalize(self, self._files.close)
        originals: Shelf[tuple[str, str], tuple[int]] = Shelf()
        tables: Shelf[str, tuple[int]] = Shelf()
        inputs: Shelf[str, tuple[int]] = Shelf()
        derived: Shelf[tuple[str, str], tuple[int, int, str]] = Shelf()
        for offset, record in sources:
            if record["kind"] == "source":
                self.sources[record["name"]] = record
            elif record["kind"] == "table":
                tables[record["digest"]] = (offset,)
            elif record["kind"] == "item":
                inputs[record["id"]] = (offset,)
            else:
                originals[record["source"], record["id"]] = (offset,)
        self.first_made_at, self.last_made_at = "", ""

        def annotated() -> Iterator[tuple[Any, ...]]:
            for offset, record in annotations:
                self._note_time(record["made_at"])
                yield _annotation(offset, record)

        self._db.executemany(f"INSERT INTO annotations VALUES (NULL, {', '.join('?' * 12)})", annotated())  # nosec B608: question marks

        def decided() -> Iterator[tuple[Any, ...]]:
            for offset, record in decisions:
                for index, outcome in enumerate(record["outcomes"]):
                    if (example := outcome["example"]) is not None:
                        derived[record["source"], example["id"]] = offset, index, example["parent"]
                self._note_time(record["made_at"])
                yield _decision(offset, record)

        self._db.executemany(f"INSERT INTO decisions VALUES (NULL, {', '.join('?' * 7)})", decided())  # nosec B608: question marks
        for index in ("annotations (id)", "annotations (item, annotator)", "annotations (batch, item)"):
            self._index(index)
        for index in ("decisions (item)", "decisions (source, example)"):
            self._index(index)
        self.tables = Tables(self._files, folder / SOURCES, tables)
        self.originals = Records(self._files, folder / SOURCES, originals)
        self.inputs = Records(self._files, folder / SOURCES, inputs, lambda record: record.get("inputs", {}))
        self.derived = Records(
            self._files,
            folder / DECISIONS,
            derived,
            lambda record, outcome_index, _: record["outcomes"][outcome_index]["example"],
        )
        self.annotations = Lines(folder / ANNOTATIONS, self._one("SELECT count(*) FROM annotations"))
        self.decisions = Lines(folder / DECISIONS, self._one("SELECT count(*) FROM decisions"))
        self._examples: LRUCache[Any, Example] = LRUCache(EXAMPLES_KEPT)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A release from its folder: the records, and what its manifest says. Raises Difference where it is none."""
        manifest = read_manifest(folder)
        try:
            return cls(
                folder,
                manifest,
                *(records_with_offsets(folder / name) for name in (SOURCES, ANNOTATIONS, DECISIONS)),
            )
        except sqlite3.Error as error:
            raise Difference(f"{folder}: a record does not have the form of a release ({error})") from error

    def _note_time(self, made_at: str) -> None:
        self.first_made_at = min(made_at, self.first_made_at or made_at)
        self.last_made_at = max(made_at, self.last_made_at)

    def _index(self, on: str) -> None:
        name = "".join(letter if letter.isalpha() else "_" for letter in on)
        self._db.execute(f"CREATE INDEX {name} ON {on}")

    def _one(self, query: str, *values: Any) -> int:
        return int(self._db.execute(query, values).fetchone()[0] or 0)

    @cached_property
    def datasets(self) -> Mapping[str, str]:
        """What the benchmark files call each source (`datasets`)."""
        return datasets(self.sources.values())

    # -- annotations and decisions ------------------------------------------------------------------

    @cached_property
    def by_id(self) -> Mapping[str, Record]:
        """The annotation records by their ids."""
        return _ValuesById(self._db, "place", partial(self._files.at, self.folder / ANNOTATIONS))

    @cached_property
    def responses(self) -> Mapping[str, Any]:
        """The responses by the ids of their annotations. They are shared, and not to be changed."""
        return _ValuesById(self._db, "response", _parse_json)

    def annotations_of(self, item: str) -> list[Record]:
        """The annotation records of an item, in the order of the file."""
        offsets = self._db.execute("SELECT place FROM annotations WHERE item = ? ORDER BY number", (item,))
        return [self._files.at(self.folder / ANNOTATIONS, offset) for (offset,) in offsets.fetchall()]

    def blind(self, batch: str) -> Iterator[tuple[str, str, str]]:
        """(item, annotator, response as JSON) of the annotations of a batch that enter agreement, item by item.

        These are the newest of each person on planned places, if the person's last revision is not withdrawn; and where an
        adjudicator had sent a response back, that one: what was written again for an adjudicator is no blind response.
        """
        rows = self._db.execute(
            "SELECT item, annotator, response, blind, newest AND response != 'null' FROM annotations WHERE batch = ? "
            "ORDER BY item, number",
            (batch,),
        )
        for item, of_item in itertools.groupby(rows, key=lambda row: row[0]):
            labels, stand = {}, set()
            for _, annotator, response, blind, stands in of_item:
                if blind:
                    labels[annotator] = response
                if stands:
                    stand.add(annotator)
            yield from ((item, who, response) for who, response in labels.items() if who in stand)

    def decisions_about(self, source: str, example: str) -> list[Record]:
        """The decisions about an example, in the order of the file."""
        query = "SELECT place FROM decisions WHERE source = ? AND example = ? ORDER BY number"
        offsets = self._db.execute(query, (source, example)).fetchall()
        return [self._files.at(self.folder / DECISIONS, offset) for (offset,) in offsets]

    def task_type_of(self, source: str, example: str) -> str:
        """The task type whose response made a derived example; KeyError."""
        offset, index, _ = self.derived.offsets[source, example]
        response = self._files.at(self.folder / DECISIONS, offset)["outcomes"][index]["response"]
        return str(response["type"])

    def counts(self) -> dict[str, int]:
        """The counts of the manifest that need no task type.

        Of revisions, and their people and items, however many of them were withdrawn later; of decisions; and from rules 7
        on of current responses (the newest revision of a person to an item, unless withdrawn), their people and items.
        """
        distinct = "SELECT count(DISTINCT annotator) FROM annotations"
        queries = {
            "annotators": distinct,
            "simulated_annotators": f"{distinct} WHERE simulated",
            "items": "SELECT count(*) FROM (SELECT DISTINCT batch, item FROM annotations)",
            "accepted": "SELECT count(*) FROM decisions WHERE kind = 'accepted'",
            "excluded": "SELECT count(*) FROM decisions WHERE kind = 'excluded'",
            "adjudicated": "SELECT count(*) FROM decisions WHERE made_by != 'resolve'",
            "outcomes": "SELECT sum(outcomes) FROM decisions",
        }
        row = self._db.execute(
            "SELECT count(*), count(DISTINCT annotator), count(DISTINCT item), "
            "count(DISTINCT CASE WHEN item NOT IN (SELECT item FROM decisions) THEN item END) "
            "FROM annotations WHERE newest AND response != 'null'"
        ).fetchone()
        current = zip(CURRENT_COUNTS, row, strict=True) if self.rules >= RULES_OF_CURRENT_COUNTS else ()
        return {
            "annotations": len(self.annotations),
            **{name: self._one(query) for name, query in queries.items()},
            **dict(current),
        }

    def repeated(self) -> tuple[str, str, int] | None:
        """The first annotation or decided item that occurs more than once: (what, id, times); None if there is none."""
        for what, table, name in (("annotation", "annotations", "id"), ("item", "decisions", "item")):
            row = self._db.execute(
                f"SELECT {name}, count(*) FROM {table} GROUP BY {name} HAVING count(*) > 1 ORDER BY min(number)"  # nosec B608
            ).fetchone()
            if row is not None:
                return f"{table}.jsonl: {what}", row[0], row[1]
        return None

    def out_of_turn(self) -> str | None:
        """The first annotation that claims to be the newest of its person and item and is not, or the reverse."""
        row = self._db.execute(
            "SELECT id FROM annotations AS one WHERE newest != (revision = (SELECT max(revision) FROM annotations AS other "
            "WHERE other.item = one.item AND other.annotator = one.annotator)) ORDER BY number"
        ).fetchone()
        return None if row is None else str(row[0])

    # -- examples -----------------------------------------------------------------------------------

    @cachedmethod(attrgetter("_examples"))
    def example(self, source: str, id: str) -> Example:
        """An original, derived or automatic example by its source and id, its table replayed from the source table."""
        key = (source, id)
        record = self.originals.get(key) or self.derived.get(key)
        if record is None and key in self._judged_automatic:
            line = self._files.at(self.folder / perturbation_records.LINES, *self._judged_automatic[key])
            instance = perturbation_records.recreate(line, self.example(source, line["original"]))
            return replace(instance.perturbed.example, id=id)
        if record is None:
            raise Difference(f"decisions.jsonl: example {id!r} of {source!r} is in no record")
        base = self.tables.get(record["table"])
        if base is None:
            raise Difference(f"sources.jsonl: the table {record['table']} of example {id!r} is missing")
        try:
            operations = [from_dict(operation) for operation in record.get("operations", [])]
            table = replay(base, operations) if operations else base
        except OperationError as error:
            raise Difference(f"decisions.jsonl: example {id!r} does not replay: {error}") from None
        return Example.stored(id, record["question"], table, record["answers"], record.get("more", {}))

    @cached_property
    def _judged_automatic(self) -> Shelf[tuple[str, str], tuple[int]]:
        """Offsets of the raw lines of the automatic perturbations that annotations or decisions are about."""
        judged_keys: Shelf[tuple[str, str], None] = Shelf()
        offsets: Shelf[tuple[str, str], tuple[int]] = Shelf()
        named = "SELECT source, example FROM annotations UNION SELECT source, example FROM decisions"
        for source, id in self._db.execute(named):
            if (source, id) not in self.originals and (source, id) not in self.derived:
                judged_keys[source, id] = None
        path = self.folder / perturbation_records.LINES
        if judged_keys and path.exists():
            for offset, line in records_with_offsets(path):
                key = (line["source"], perturbation_records.id_of(line))
                if key in judged_keys:
                    offsets[key] = (offset,)
        return offsets

    def shapes(self, batch: str) -> Mapping[str, tuple[int, int]]:
        """Rows and columns of the table of every annotated item of a batch, worked out when they are asked for."""
        return _Shapes(self, batch)

    def batch_of(self, record: Mapping[str, Any]) -> Record:
        """The batch of an annotation or decision record."""
        if (batch := self.batches.get(record["batch"])) is None:
            raise Difference(f"manifest.json: there is no batch {record['batch']!r}, which a record names")
        return batch

    def ancestors(self, key: tuple[str, str]) -> Iterator[tuple[str, str]]:
        """The examples that a derived one was made of, the nearest first."""
        seen = {key}
        while key in self.derived:
            key = key[0], self.derived.offsets[key][2]
            if key in seen:
                return
            seen.add(key)
            yield key


def _annotation(offset: int, record: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is noted of an annotation record."""
    response = record["response"]
    return (
        offset,
        *(record[name] for name in ("id", "batch", "item", "source", "example", "annotator")),
        *(record[name] for name in ("simulated", "revision", "newest")),
        response is not None and not record["place"]["added"] and not record.get("sent_back"),
        json.dumps(response),
    )


def _decision(offset: int, record: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("item", "source", "example", "kind", "by")
    return (offset, *(record[name] for name in names), len(record["outcomes"]))


class _ValuesById(Mapping[str, Any]):
    """Something of every annotation, by its id: what `make` gives for what is in a column."""

    def __init__(self, db: sqlite3.Connection, column: str, make: Callable[[Any], Any]) -> None:
        self._db, self._make = db, make
        self._query = f"SELECT {column} FROM annotations WHERE id = ? ORDER BY number DESC"  # nosec B608: our own names

    def __getitem__(self, id: str) -> Any:
        row = self._db.execute(self._query, (id,)).fetchone()
        if row is None:
            raise KeyError(id)
        return self._make(row[0])

    def __contains__(self, id: object) -> bool:
        return self._db.execute("SELECT 1 FROM annotations WHERE id = ?", (id,)).fetchone() is not None

    def __iter__(self) -> Iterator[str]:
        for (id,) in self._db.execute("SELECT DISTINCT id FROM annotations"):
            yield id

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(DISTINCT id) FROM annotations").fetchone()[0])


@lru_cache(maxsize=RESPONSES_KEPT)
def _parse_json(text: str) -> Any:
    return json.loads(text)


class _Shapes(dict[str, tuple[int, int]]):
    """`Raw.shapes`: by item."""

    def __init__(self, raw: ReleaseRecords, batch: str) -> None:
        self._raw, self._batch = raw, batch

    def __missing__(self, item: str) -> tuple[int, int]:
        query = "SELECT source, example FROM annotations WHERE batch = ? AND item = ? ORDER BY number DESC"
        row = self._raw._db.execute(query, (self._batch, item)).fetchone()
        if row is None:
            raise KeyError(item)
        return self._raw.example(*row).table.shape


def _cells(table: Table) -> int:
    """The size of a table in the cache: the last one stays, however large it is."""
    return min((table.shape[0] + 1) * table.shape[1], CELLS_KEPT)


def decision_of(raw: ReleaseRecords, item: str) -> Record:
    """The decision of an item, an empty record where there is none."""
    row = raw._db.execute("SELECT place FROM decisions WHERE item = ?", (item,)).fetchone()
    return record_at(raw, DECISIONS, *row) if row else {}


def record_at(raw: ReleaseRecords, file: str, offset: int) -> Record:
    """The record of a file that starts at a byte (`records_with_offsets`)."""
    return raw._files.at(raw.folder / file, offset)


def automatic_lines(raw: ReleaseRecords) -> Iterator[tuple[dict[str, Any], Example]]:
    """The raw lines of automatic perturbations, each with its original."""
    path, last = raw.folder / perturbation_records.LINES, None
    for line in records(path) if path.exists() else ():
        if last is None or last[0] != (line["source"], line["original"]):
            last = (line["source"], line["original"]), raw.example(line["source"], line["original"])
        yield line, last[1]


def perturbed_counts(raw: ReleaseRecords) -> Counts:
    """How often each kind of automatic perturbation made something, nothing (and why), or broke its contract."""
    counts: Counts = {}
    path = raw.folder / perturbation_records.LINES
    for line in records(path) if path.exists() else ():
        count(counts, line["kind"], line)
    return counts
