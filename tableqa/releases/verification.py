"""Verifying what follows in a release from its records alone, without task types."""

import hashlib
import io
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from tableqa.core.canonical_json import digest
from tableqa.core.release_rules import RULES, under
from tableqa.data.examples import Example
from tableqa.readers.report import Report
from tableqa.releases import perturbation_records
from tableqa.releases.former_wordings import is_wording
from tableqa.releases.record_files import Difference, Record
from tableqa.releases.release_records import (
    MANIFEST,
    RAW,
    RULES_OF_HISTORY,
    SOURCES,
    ReleaseRecords,
    automatic_lines,
    perturbed_counts,
    read_manifest,
)
from tableqa.releases.signatures import SIGNATURE, check_signature
from tableqa.writers import croissant, hub

_RULES_OF_ORDER = 12
"""The rules from which on the order of lines and times is checked."""
_CLOCKS = timedelta(minutes=1)
ANNOTATION_FIELDS = {
    *("id", "batch", "item", "source", "example", "annotator", "simulated", "external", "imported"),
    *("revision", "newest", "place", "sent_back", "way_back", "response", "unmet", "unsure"),
    *("guidelines", "active_seconds", "help", "made_at"),
}
"""The fields of an annotation record."""
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What records without the form of a release raise."""


def verify(folder: Path) -> dict[str, int]:
    """Compare all that follows from the records of a release without task types. Raises `Difference` at the first fault.

    Checksums, references, counts, replayed edits and automatic perturbations. Returns the number of files, annotations,
    decisions, and of both kinds of perturbed examples. The platform verifies what needs task types, and makes files again.
    """
    with rules_of(folder) as manifest:
        check_files(folder, manifest)
        raw = ReleaseRecords.load(folder)
        check_records(raw)
        check_counts({**manifest["counts"], "contradicted": None}, {**raw.counts(), "contradicted": None})
        for record in raw.annotations:
            raw.batch_of(record)
            raw.example(record["source"], record["example"])
        replayed = 0
        for decision in raw.decisions:
            check_references(raw, decision)
            for outcome in decision["outcomes"]:
                if outcome["example"] is not None:
                    check_replay(raw, decision, outcome["example"])
                    replayed += 1
        check_perturbed(raw)
        automatic = perturbed_counts(raw).values()
        return {
            "files": len(manifest["files"]),
            "annotations": len(raw.annotations),
            "decisions": len(raw.decisions),
            "replayed": replayed,
            "made_again": sum(of_kind["made"] for of_kind in automatic),
        }


@contextmanager
def rules_of(folder: Path) -> Iterator[Record]:
    """Follow the rules of a release in the block; gives its manifest. What its records raise becomes a `Difference`."""
    try:
        manifest = read_manifest(folder)
        rules = manifest.get("rules", 1)
        try:
            with under(rules):
                yield manifest
        except Difference as difference:
            raise Difference(f"{difference}{_hint_on_rules(rules)}") from None
    except (*MALFORMED, StopIteration, OSError, sqlite3.Error) as error:
        # A record without the fields it must have; where it is, the last frame's locals would say, and no reader.
        raise Difference(
            f"{folder}: a record does not have the form of a release ({_error_text(error)})"
        ) from error


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _hint_on_rules(rules: int) -> str:
    """What a difference may come from in a release of an earlier version; "" in one of this."""
    if rules == RULES:
        return ""
    return (
        f". This release was made by an older version of Askew (rules {rules}, here {RULES}), "
        "which can compute benchmark files and figures differently. Verify it with that version, "
        "or release again"
    )


def check_files(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Every file is in the manifest with its size, number of lines and checksum, and every one of these is there.

    A signature is one of this manifest; by whom, `check_signature` says.
    """
    actual_files = describe(folder, manifest.get("rules", 1))
    for name, claimed in manifest["files"].items():
        if name not in actual_files:
            raise Difference(f"{name}: in the manifest, but missing")
        if actual_files[name] != claimed:
            key = next(
                key for key in ("bytes", "records", "sha256") if actual_files[name][key] != claimed[key]
            )
            raise Difference(f"{name}: {key} is {actual_files[name][key]}, the manifest says {claimed[key]}")
    for name in actual_files.keys() - manifest["files"].keys():
        remedy = ". Python wrote it when the benchmark was run: delete it" if "__pycache__/" in name else ""
        raise Difference(f"{name}: not in the manifest{remedy}")
    for name in RAW:
        if name not in actual_files:
            raise Difference(f"{name}: missing")
    check_signature(folder, manifest)


def check_records(raw: ReleaseRecords) -> None:
    """Records are there once, in their order and of their form, and what the manifest repeats is what they say."""
    if repeated := raw.repeated():
        what, id, times = repeated
        raise Difference(f"{what} {id} appears {times} times")
    if wrong := raw.out_of_turn():
        raise Difference(f"annotations.jsonl: {wrong}: 'newest' does not fit its revision")
    manifest = raw.manifest
    lines = manifest["files"][SOURCES]["records"]
    if lines != (
        distinct := sum(len(records) for records in (raw.sources, raw.inputs, raw.tables, raw.originals))
    ):
        raise Difference(f"{SOURCES}: {lines} records, but only {distinct} different ones")
    if manifest["sources"] != [record for _, record in sorted(raw.sources.items())]:
        raise Difference(f"{MANIFEST}: the sources differ from those in sources.jsonl")
    for record in raw.sources.values():
        try:
            list(map(Report.of, record.get("reports", ())))
        except (TypeError, ValueError) as error:
            raise Difference(f"sources.jsonl: source {record['name']!r}: {error}") from error
    if raw.rules >= _RULES_OF_ORDER:
        check_order(raw)
    made_at = {"first": raw.first_made_at, "last": raw.last_made_at}
    if raw.last_made_at and raw.rules >= RULES_OF_HISTORY and manifest["dates"] != made_at:
        raise Difference(f"{MANIFEST}: dates are {manifest['dates']}, the records give {made_at}")
    for batch in manifest["batches"]:
        if digest(batch["settings"]) != batch["settings_digest"]:
            raise Difference(f"{MANIFEST}: the settings of batch {batch['name']!r} do not match their digest")
    for sha, table in raw.tables.items():
        if table.digest() != sha:
            raise Difference(f"sources.jsonl: the table {sha} has the digest {table.digest()}")
    texts = {(entry["type"], entry["number"]): digest(entry["text"]) for entry in manifest["guidelines"]}
    for record in raw.annotations:
        batch, guidelines = raw.batch_of(record), record["guidelines"]
        if unknown := record.keys() - ANNOTATION_FIELDS:
            raise Difference(f"annotations.jsonl: {record['id']}: unknown field {min(unknown)!r}")
        if texts.get((batch["type"], guidelines["number"])) != guidelines["digest"]:
            raise Difference(
                f"{MANIFEST}: the guidelines {guidelines['number']} of {batch['type']} are not those that "
                f"annotation {record['id']} was made under"
            )
        if not record["place"]["added"] and record["place"]["number"] > batch.get("places", batch["overlap"]):
            raise Difference(
                f"annotations.jsonl: {record['id']} has a slot number above the number of slots of its batch"
            )


def check_order(raw: ReleaseRecords) -> None:
    """Lines are in the order of batch, source, example, item, annotator and revision, and times follow each other.

    A revision is later than the one before, and a decision later than its responses: by a rule all of the item, by a person
    those that it names. Imported responses have the times of another tool. For releases by rules 12 and later.
    """
    positions = {batch["id"]: position for position, batch in enumerate(raw.manifest["batches"])}
    for name, records in (("annotations.jsonl", raw.annotations), ("decisions.jsonl", raw.decisions)):
        last_example, last_item = (-1, "", ""), ""
        items: set[str] = set()
        for record in records:
            example = (positions[raw.batch_of(record)["id"]], record["source"], record["example"])
            item = record["item"]
            if example < last_example or (example == last_example and item != last_item and item in items):
                raise Difference(f"{name}: the lines of item {item} are not in the order of a release")
            items = {item, *items} if example == last_example else {item}
            last_example, last_item = example, item
    before: Record = {"item": "", "annotator": "", "revision": 0}
    for record in raw.annotations:
        turn, last_turn = ((of["annotator"], of["revision"]) for of in (record, before))
        if record["item"] == before["item"] and turn <= last_turn:
            raise Difference(
                f"annotations.jsonl: {record['id']} is not in the order of annotator and revision"
            )
        if record["item"] == before["item"] and turn[0] == last_turn[0] and _is_late(before, record):
            raise Difference(f"annotations.jsonl: {record['id']} was made before the revision before it")
        before = record
    for decision in raw.decisions:
        basis = {*decision.get("based_on", ())}.union(*(of["annotations"] for of in decision["outcomes"]))
        for annotation in raw.annotations_of(decision["item"]):
            counts = annotation["id"] in basis or (decision["by"] == "resolve" and annotation["newest"])
            if counts and _is_late(annotation, decision):
                raise Difference(
                    f"decisions.jsonl: item {decision['item']} was decided before annotation {annotation['id']} "
                    "was made"
                )


def _is_late(annotation: Record, follower: Record) -> bool:
    """Whether an annotation has a later time than what follows it, beyond what clocks of two machines may differ."""
    if "imported" in annotation:
        return False
    times = (datetime.fromisoformat(record["made_at"]) for record in (annotation, follower))
    return next(times) > next(times) + _CLOCKS


def check_counts(claimed: Mapping[str, Any], counts: Mapping[str, Any]) -> None:
    """The counts of a manifest are those of the records."""
    for name, count in counts.items():
        if claimed.get(name) != count:
            raise Difference(f"{MANIFEST}: counts.{name} is {claimed.get(name)!r}, the records give {count}")
    for name in claimed.keys() - counts.keys():
        raise Difference(f"{MANIFEST}: counts.{name} cannot be recomputed")


def check_references(raw: ReleaseRecords, decision: Mapping[str, Any]) -> None:
    """The annotations that a decision names are of its item."""
    where = f"decisions.jsonl: item {decision['item']}"
    named = [(id, ", which the decision is based on,") for id in decision.get("based_on", ())]
    named += [(id, "") for outcome in decision["outcomes"] for id in outcome["annotations"]]
    for id, use in named:
        if id not in raw.by_id or raw.by_id[id]["item"] != decision["item"]:
            raise Difference(f"{where}: annotation {id}{use} is not one of this item")


def check_replay(raw: ReleaseRecords, decision: Mapping[str, Any], example: Mapping[str, Any]) -> Example:
    """The derived example of an outcome, replayed from its source table, has the digest of its record."""
    stored = raw.example(decision["source"], example["id"])
    if (replayed := stored.table.digest()) != example["digest"]:
        raise Difference(
            f"decisions.jsonl: item {decision['item']}: the replayed table of {example['id']} is {replayed!r}, "
            f"the record says {example['digest']!r}"
        )
    return stored


def check_perturbed(raw: ReleaseRecords) -> None:
    """Every automatic perturbation made again, its line and the counts compared."""
    claimed = raw.manifest.get("automatic")
    if (claimed is None) == (raw.folder / perturbation_records.LINES).exists():
        raise Difference(f"{MANIFEST}: 'automatic' and {perturbation_records.LINES} do not match")
    if claimed is None:
        return
    for index, (line, original) in enumerate(automatic_lines(raw), start=1):
        once_more = perturbation_records.recreate(line, original).outcome()
        same_reason = is_wording(line.get("no_op"), once_more.get("no_op"))
        if not same_reason or any(line.get(key) != once_more.get(key) for key in ("digest", "refused")):
            where = f"{perturbation_records.LINES}, line {index}: {line['kind']} of {line['original']!r}"
            raise Difference(f"{where} with the seed {line['seed']} gives {once_more}")
    if claimed["counts"] != (counts := perturbed_counts(raw)):
        raise Difference(f"{MANIFEST}: automatic.counts is {claimed['counts']}, the lines give {counts}")


def describe(folder: Path, rules: int = RULES) -> dict[str, dict[str, Any]]:
    """sha256, size in bytes and lines of every file of the folder but manifest and signature, by path.

    Those of croissant.json are without the address that a publication adds to it (from `RULES_OF_HISTORY` on).
    """
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in (folder / MANIFEST, folder / SIGNATURE):
            with path.open("rb") as stream:
                is_croissant = path.name == hub.CROISSANT and rules >= RULES_OF_HISTORY
                content = io.BytesIO(croissant.without_url(stream.read())) if is_croissant else stream
                files[path.relative_to(folder).as_posix()] = _describe(content)
    return files


def _describe(stream: BinaryIO) -> dict[str, Any]:
    """One pass over a file: its sha256, size in bytes and number of lines."""
    sha256, size, lines = hashlib.sha256(), 0, 0
    while block := stream.read(1 << 20):
        sha256.update(block)
        size += len(block)
        lines += block.count(b"\n")
    return {"sha256": sha256.hexdigest(), "bytes": size, "records": lines}
