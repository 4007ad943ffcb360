"""Two releases of a project beside each other, for a page: counts, agreement with intervals, and examples. No database."""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from annotation.releases import release_diff
from annotation.releases.benchmark_files import is_benchmark
from annotation.releases.manifest import Manifest
from annotation.releases.release_diff import FileDiff, ReleaseDiff
from tableqa.releases.release_records import CURRENT_COUNTS

MOST_RECORDS = 200_000
"""Records of the files that differ, of both releases: more are compared by the command alone."""
LISTED = 50
"""Ids of a file that a page lists."""


@dataclass(frozen=True)
class Count:
    """A count of both manifests."""

    name: str
    before: int
    after: int


@dataclass(frozen=True)
class Pair:
    """A figure of agreement of both releases; None where one does not have it, or has it without a value."""

    batch: str
    measure: str
    statistic: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def is_equal(self) -> bool:
        return self.before == self.after


COUNTS: Final = (
    *CURRENT_COUNTS,
    *("annotations", "annotators", "items", "simulated_annotators"),
    *("accepted", "excluded", "adjudicated", "outcomes", "contradicted"),
)
"""The counts of a manifest in the order of a table: PostgreSQL keeps the keys of JSON in its own order."""


def counts(before: Manifest, after: Manifest) -> list[Count]:
    """The counts of both manifests, in the order of `COUNTS`.

    Responses, their people and items are those that are current; of a manifest before rules 7, which has revisions alone,
    those of revisions are compared.
    """
    has_current = "responses" in before.counts and "responses" in after.counts
    left_out = ("annotators", "items") if has_current else CURRENT_COUNTS
    either = before.counts.keys() | after.counts.keys()
    names = [name for name in COUNTS if name in either and name not in left_out]
    return [Count(name, before.counts.get(name, 0), after.counts.get(name, 0)) for name in names]


def agreement(before: Manifest, after: Manifest) -> list[Pair]:
    """The figures with a value in at least one of the manifests, in the order of their batches."""
    names = {batch["id"]: batch["name"] for batch in [*before.batches, *after.batches]}
    same = release_diff.same_batches(before, after)
    was, now = _defined(before, {}), _defined(after, same)
    return [
        Pair(names[key[0]], key[1], key[2], was.get(key), now.get(key)) for key in dict.fromkeys([*was, *now])
    ]


def _defined(manifest: Manifest, batches: Mapping[str, str]) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    return {
        (batches.get(figure["batch"], figure["batch"]), figure["measure"], figure["statistic"]): {
            **figure,
            "batch": batches.get(figure["batch"], figure["batch"]),
        }
        for figure in manifest.agreement_in_words()
        if figure["value"] is not None
    }


def is_large(before: Manifest, after: Manifest) -> bool:
    """Whether the records of the files that differ are too many for a page."""
    was, now = before.files, after.files
    differing = {name for name in was.keys() | now.keys() if was.get(name) != now.get(name)}
    return (
        sum(files[name]["records"] for files in (was, now) for name in differing & files.keys())
        > MOST_RECORDS
    )


@functools.lru_cache(maxsize=16)
def difference(before: Path, after: Path, digests: tuple[str, str]) -> ReleaseDiff:
    """`diff_releases` of two folders, kept: releases never change, and `digests` are those of their manifests."""
    return release_diff.diff_releases(before, after)


@dataclass(frozen=True)
class Ids:
    """Records that were added, removed or changed: how many, ids and addresses of the first, and how many more there are."""

    number: int
    first: Sequence[tuple[str, str]]
    more: int


@dataclass(frozen=True)
class FileChanges:
    """The changes of a file; `order`: the same records in another order."""

    name: str
    added: Ids
    removed: Ids
    changed: Ids
    order: bool


def examples(diff: ReleaseDiff) -> set[str]:
    """The ids of the examples that the listed records may be about."""
    return {
        example
        for file in diff.files
        for ids in (file.added, file.removed, file.changed)
        for id in ids[:LISTED]
        for example in file.examples.get(id, ())
    }


def files(
    diff: ReleaseDiff,
    formats: Collection[str],
    address: Callable[[Sequence[str]], str] = lambda examples: "",
) -> tuple[list[FileChanges], list[FileChanges]]:
    """The files that differ: those of the benchmark, then raw records and the data statement.

    `formats`: those of both releases; files of others are left out, because all of their records would be new or gone.
    `address` gives the page of the items on the first of some examples that has any; "" for none.
    """
    compared = [file for file in diff.files if not file.format or file.format in formats]
    changes = [(is_benchmark(file.name), _changes(file, address)) for file in compared]
    return [of for is_one, of in changes if is_one], [of for is_one, of in changes if not is_one]


def _changes(file: FileDiff, address: Callable[[Sequence[str]], str]) -> FileChanges:
    added, removed, changed = (
        Ids(
            len(ids),
            [(id, address(file.examples.get(id, ()))) for id in ids[:LISTED]],
            max(0, len(ids) - LISTED),
        )
        for ids in (file.added, file.removed, file.changed)
    )
    return FileChanges(file.name, added, removed, changed, file.order)
