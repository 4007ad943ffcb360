"""What differs between two releases, record by record: needs no database.

A restored copy on the server of its original has other ids: where the releases share no batch, batches are matched by
name, and what they hold by batch, example, person and number.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.releases.benchmark_files import OWN_FORMATS
from annotation.releases.manifest import Manifest
from tableqa.core.canonical_json import canonical, digest
from tableqa.core.disk_collections import Shelf
from tableqa.releases.record_files import records
from tableqa.releases.release_records import read_manifest
from tableqa.writers import harness, hub

_DESCRIPTIONS = {hub.CARD, hub.CROISSANT, hub.CITATION}
"""Files that follow from the manifest and name the release: they have no records, and differ in any two releases."""


@dataclass(frozen=True)
class FileDiff:
    """One file of the two releases: ids of records that came, went, or are other than they were.

    A file that only one release has lists all its records. `order` says whether the same records stand
    in another order. `examples` are, by the id of a record, the ids of the examples that it may be about, the nearest first.
    `format`: of the file; "" for raw records.
    """

    name: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    order: bool = False
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    format: str = ""

    @property
    def empty(self) -> bool:
        return not (self.added or self.removed or self.changed or self.order)

    def to_dict(self) -> dict[str, Any]:
        return {
            "file": self.name,
            "added": list(self.added),
            "removed": list(self.removed),
            "changed": list(self.changed),
            "order": self.order,
        }


@dataclass(frozen=True)
class ReleaseDiff:
    """What differs between two releases: figures and counts of the manifests, then records of the files."""

    manifest: tuple[str, ...]
    files: tuple[FileDiff, ...]

    @property
    def empty(self) -> bool:
        return not (self.manifest or self.files)


def diff_releases(before: Path, after: Path) -> ReleaseDiff:
    """Compare two release folders. Raises `Difference` where one of them is no release."""
    manifest_before, manifest_after = (Manifest.of(read_manifest(folder)) for folder in (before, after))
    in_folders = manifest_before.layout != manifest_after.layout
    was, now = _names(manifest_before, in_folders), _names(manifest_after, in_folders)
    ids, files = _same_ids(before, after, manifest_before, manifest_after), []
    for name in sorted(was.keys() | now.keys()):
        path_was, path_now = was.get(name, name), now.get(name, name)
        if Path(name).name in _DESCRIPTIONS or manifest_before.files.get(
            path_was
        ) == manifest_after.files.get(path_now):
            continue
        file_diff = diff_file(name, before / path_was, after / path_now, ids)
        if not file_diff.empty:
            format = (
                manifest_after.format_of(path_now) if name in now else manifest_before.format_of(path_was)
            )
            files.append(replace(file_diff, format=format))
    return ReleaseDiff(tuple(_manifest(manifest_before, manifest_after)), tuple(files))


def _names(manifest: Manifest, in_folders: bool) -> dict[str, str]:
    """What each file of a release is called here -> its path.

    With `in_folders` a file of a release in one format is called as if the release had several. A file of a format of
    Askew's own is called `.jsonl` in releases that end it in `.json`, too.
    """
    [first, *more] = manifest.every_format
    names = {}
    for name in manifest.files:
        format = manifest.format_of(name)
        display_name = f"{first}/{name}" if in_folders and not more and format else name
        names[f"{display_name}l" if format in OWN_FORMATS and name.endswith(".json") else display_name] = name
    return names


def _manifest(manifest_before: Manifest, manifest_after: Manifest) -> Iterator[str]:
    was, now = (", ".join(manifest.every_format) for manifest in (manifest_before, manifest_after))
    if was != now:
        yield f"format: {was} -> {now}"
    if manifest_before.project != manifest_after.project:
        yield f"project: {manifest_before.project} -> {manifest_after.project}"
    if manifest_before.purpose != manifest_after.purpose:
        yield f"purpose: {manifest_before.purpose or 'none'} -> {manifest_after.purpose or 'none'}"
    for name in sorted(manifest_before.counts.keys() & manifest_after.counts.keys()):
        count_was, count_now = manifest_before.counts[name], manifest_after.counts[name]
        if count_was != count_now:
            yield f"{name}: {count_was} -> {count_now}"
    names = {batch["id"]: batch["name"] for batch in [*manifest_before.batches, *manifest_after.batches]}
    same = same_batches(manifest_before, manifest_after)
    figures = [
        {
            (same.get(f["batch"], f["batch"]), f["measure"], f["statistic"]): f["value"]
            for f in manifest.agreement
        }
        for manifest in (manifest_before, manifest_after)
    ]
    for figure in sorted(figures[0].keys() | figures[1].keys()):
        batch, measure, statistic = figure
        value_was, value_now = figures[0].get(figure), figures[1].get(figure)
        if value_was != value_now:
            yield f"{statistic} of {measure} in {names[batch]}: {value_was} -> {value_now}"


def same_batches(manifest_before: Manifest, manifest_after: Manifest) -> dict[str, str]:
    """By the ids of the batches of the second manifest, those of the first, where they share none: by name."""
    ids = {batch["name"]: batch["id"] for batch in manifest_before.batches}
    if {batch["id"] for batch in manifest_after.batches} & set(ids.values()):
        return {}
    return {batch["id"]: ids[batch["name"]] for batch in manifest_after.batches if batch["name"] in ids}


def _same_ids(
    before: Path, after: Path, manifest_before: Manifest, manifest_after: Manifest
) -> Shelf[str, str]:
    """By the ids of the second release, those of the first for the same things; none where both have the same ids."""
    ids: Shelf[str, str] = Shelf()
    if same := same_batches(manifest_before, manifest_after):
        ids_by_content: Shelf[str, str] = Shelf()
        ids_by_content.update(_contents(before, {batch: batch for batch in same.values()}))
        ids.update(
            (id, ids_by_content[name]) for name, id in _contents(after, same) if name in ids_by_content
        )
        ids.update(same)
    return ids


def _contents(folder: Path, batches: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and id of each item, response, outcome, proposal and try of these batches. The name has no id of theirs."""
    items: Shelf[str, str] = Shelf()
    counts: Shelf[str, int] = Shelf()
    for file in ("sources", "annotations", "decisions", "proposals", "tries"):
        path = folder / f"{file}.jsonl"
        for record in records(path) if path.is_file() else ():
            item = record.get("item") or (record["id"] if record.get("kind") == "item" else None)
            if item is None:
                continue
            if record.get("batch") in batches and item not in items:
                items[item] = canonical([batches[record["batch"]], record["source"], record["example"]])
                yield items[item], item
            for inner in (record, *record.get("outcomes", ())):
                if item not in items or inner.get("id", item) == item:
                    continue
                about = canonical([items[item], file, record.get("annotator"), record.get("revision")])
                counts[about] = counts.get(about, 0) + 1
                yield f"{about} {counts[about]}", inner["id"]


def _with_ids_of(value: Any, ids: Mapping[str, str]) -> Any:
    """A record with the ids of the other release. Releases sort lists of ids."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, Mapping):
        return {name: _with_ids_of(inner, ids) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    translated = [_with_ids_of(inner, ids) for inner in value]
    return (
        sorted(translated)
        if translated != value and all(isinstance(member, str) for member in translated)
        else translated
    )


def diff_file(name: str, before: Path, after: Path, ids: Mapping[str, str] | None = None) -> FileDiff:
    """Compare one file of two releases. `ids`: of the second release, and of the first for the same things."""
    ids = {} if ids is None else ids
    was, now = _records(before, {}), _records(after, ids)
    added = tuple(key for key in now if key not in was)
    removed = tuple(key for key in was if key not in now)
    changed = tuple(key for key, record in now.items() if was.get(key, record) != record)
    # Some files are in the order of their ids.
    moved = not (added or removed or ids) and any(
        key_before != key_after for key_before, key_after in zip(was, now, strict=True)
    )
    examples = {key: now[key][1:] for key in (*added, *changed)} | {key: was[key][1:] for key in removed}
    return FileDiff(name, added, removed, changed, moved, examples)


def _records(path: Path, ids: Mapping[str, str]) -> Shelf[str, tuple[str, ...]]:
    """Of each record its digest and its examples, by what names it within its file; none where there is no such file.

    ids: of this release, and of the other for the same things
    """
    entries: Shelf[str, tuple[str, ...]] = Shelf()
    if not path.is_file():
        return entries
    if path.suffix not in (".json", ".jsonl") or path.name == harness.FACTS:
        # Prose, or Parquet: no lines of records.
        entries["the whole file"] = (hashlib.sha256(path.read_bytes()).hexdigest(),)
        return entries
    for line_number, record in enumerate(records(path), start=1):
        record = _with_ids_of(record, ids) if ids else record
        parts = [record.get("kind") if path.name == "sources.jsonl" else None, record.get("source")]
        name = record.get("id") or record.get("digest") or record.get("item") or record.get("name")
        if "example_id" in record:  # LFTQA-Eval's own files
            name = f"{record['example_id']} {record.get('model', '')}"
        key = " ".join(str(part) for part in [*parts, name or f"line {line_number}"] if part)
        key = key if key not in entries else f"{key} (line {line_number})"
        entries[key] = digest(record), *_examples(record)
    return entries


def _examples(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the examples that a record may be about: its own, that of its original, and what its own begins with."""
    if "example_id" in record:
        return str(record["example_id"]), f"{record['example_id']}~{record.get('model', '')}"
    id, original = (str(record.get(name) or "") for name in ("id", "original"))
    ids = (id, original, str(record.get("original_id") or ""), id.partition("~")[0], id.partition("#")[0])
    return tuple(dict.fromkeys(filter(None, ids)))
