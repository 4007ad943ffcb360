"""What differs between two releases, record by record: needs no database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.releases.release_files import OWN_FORMATS, format_of, formats_of, read_manifest, records
from tableqa.canonical import digest
from tableqa.on_disk import Shelf
from tableqa.writers import hub


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
    one, other = read_manifest(before), read_manifest(after)
    in_folders = one["layout"] != other["layout"]
    was, now = _names(one, in_folders), _names(other, in_folders)
    files = []
    for name in sorted(was.keys() | now.keys()):
        path_was, path_now = was.get(name, name), now.get(name, name)
        if one["files"].get(path_was) == other["files"].get(path_now):
            continue
        found = _file(name, before / path_was, after / path_now)
        if not found.empty:
            format = format_of(path_now, other) if name in now else format_of(path_was, one)
            files.append(replace(found, format=format))
    return ReleaseDiff(tuple(_manifest(one, other)), tuple(files))


def _names(manifest: Mapping[str, Any], in_folders: bool) -> dict[str, str]:
    """What each file of a release is called here -> its path.

    With `in_folders` a file of a release in one format is called as if the release had several. A file of a format of
    Askew's own is called `.jsonl` in releases that end it in `.json`, too.
    """
    [first, *more] = formats_of(manifest)
    names = {}
    for name in manifest["files"]:
        format = format_of(name, manifest)
        shown = f"{first}/{name}" if in_folders and not more and format else name
        names[f"{shown}l" if format in OWN_FORMATS and name.endswith(".json") else shown] = name
    return names


def _manifest(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    was, now = (", ".join(formats_of(manifest)) for manifest in (one, other))
    if was != now:
        yield f"format: {was} -> {now}"
    for name in ("project", "purpose"):
        if one.get(name) != other.get(name):
            yield f"{name}: {one.get(name, 'none')} -> {other.get(name, 'none')}"
    for name in sorted(one["counts"].keys() & other["counts"].keys()):
        count_was, count_now = one["counts"][name], other["counts"][name]
        if count_was != count_now:
            yield f"{name}: {count_was} -> {count_now}"
    names = {batch["id"]: batch["name"] for batch in [*one["batches"], *other["batches"]]}
    figures = [
        {(f["batch"], f["measure"], f["statistic"]): f["value"] for f in manifest["agreement"]}
        for manifest in (one, other)
    ]
    for figure in sorted(figures[0].keys() | figures[1].keys()):
        batch, measure, statistic = figure
        value_was, value_now = figures[0].get(figure), figures[1].get(figure)
        if value_was != value_now:
            yield f"{statistic} of {measure} in {names[batch]}: {value_was} -> {value_now}"


def _file(name: str, before: Path, after: Path) -> FileDiff:
    was, now = _records(before), _records(after)
    added = tuple(key for key in now if key not in was)
    removed = tuple(key for key in was if key not in now)
    changed = tuple(key for key, record in now.items() if was.get(key, record) != record)
    moved = not (added or removed) and any(one != other for one, other in zip(was, now, strict=True))
    examples = {key: now[key][1:] for key in (*added, *changed)} | {key: was[key][1:] for key in removed}
    return FileDiff(name, added, removed, changed, moved, examples)


def _records(path: Path) -> Shelf[str, tuple[str, ...]]:
    """Of each record its digest and its examples, by what names it within its file; none where there is no such file."""
    found: Shelf[str, tuple[str, ...]] = Shelf()
    if not path.is_file():
        return found
    if path.suffix not in (".json", ".jsonl") or path.name == hub.CROISSANT:
        # Prose, or Parquet: no lines of records.
        found["the whole file"] = (hashlib.sha256(path.read_bytes()).hexdigest(),)
        return found
    for number, record in enumerate(records(path), start=1):
        parts = [record.get("kind") if path.name == "sources.jsonl" else None, record.get("source")]
        name = record.get("id") or record.get("digest") or record.get("item") or record.get("name")
        if "example_id" in record:  # LFTQA-Eval's own files
            name = f"{record['example_id']} {record.get('model', '')}"
        key = " ".join(str(part) for part in [*parts, name or f"line {number}"] if part)
        key = key if key not in found else f"{key} (line {number})"
        found[key] = digest(record), *_examples(record)
    return found


def _examples(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the examples that a record may be about: its own, that of its original, and what its own begins with."""
    if "example_id" in record:
        return str(record["example_id"]), f"{record['example_id']}~{record.get('model', '')}"
    id, original = (str(record.get(name) or "") for name in ("id", "original"))
    ids = (id, original, str(record.get("original_id") or ""), id.partition("~")[0], id.partition("#")[0])
    return tuple(dict.fromkeys(filter(None, ids)))
