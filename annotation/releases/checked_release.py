"""Releases of other people: unpacked, verified, and written as checked records, which alone reach the database.

It asks no database. Uploads are checked in their own process (`annotation.releases.reader_tasks`).
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from annotation.releases import provenance, verification
from annotation.releases.benchmark_files import TRIES
from annotation.releases.manifest import Manifest, faults
from annotation.releases.task_records import task_of_record
from tableqa.core.foreign_values import printable_in, unstorable
from tableqa.core.json_text import check_depth
from tableqa.core.translation import TranslatedText
from tableqa.readers.archive import unpacked
from tableqa.readers.ingestion import ReadRequest
from tableqa.releases import perturbation_records, record_files, release_records
from tableqa.releases.record_files import MOST_BYTES, Difference
from tableqa.releases.release_records import ANNOTATIONS, DECISIONS, MANIFEST, SOURCES
from tableqa.releases.verification import MALFORMED
from tasks.contract import task_types

Record = dict[str, Any]
FILES: Final = (SOURCES, ANNOTATIONS, DECISIONS, perturbation_records.LINES, provenance.PROPOSALS, TRIES)


@dataclass(frozen=True)
class CheckedRelease:
    """A release whose records are written: how many, or why it is refused.

    difference    the first thing in it that does not verify
    unknown_type  a task type that is neither installed nor defined by the release
    """

    records: int = 0
    difference: str = ""
    unknown_type: str = ""


@dataclass(frozen=True)
class ReleaseSummary(CheckedRelease):
    """What an uploaded release says of itself, before it is verified: name and task type of each batch, name and licence of
    each source, and counts.
    """

    is_release: bool = True
    project: str = ""
    batches: list[Record] = field(default_factory=list)
    sources: list[Record] = field(default_factory=list)
    items: int = 0
    annotations: int = 0
    decisions: int = 0
    people: int = 0


def summarise(content: bytes, folder: Path) -> ReleaseSummary:
    """What a release would restore, by its manifest, which is put into the folder; `check` verifies all files."""
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_bytes(content)
    try:
        record = printable_in(release_records.read_manifest(folder))
        if fault := next(faults(record), None):
            raise Difference(f"{MANIFEST}: {fault}")
        manifest = Manifest.of(record)
        counts = manifest.counts
        return ReleaseSummary(
            unknown_type=_unknown_type(manifest),
            project=str(manifest.project),
            batches=[{"name": str(batch["name"]), "task_type": _title(batch)} for batch in manifest.batches],
            sources=[
                {name: str(source[name]) for name in ("name", "licence")} for source in manifest.sources
            ],
            items=int(counts["items"]),
            annotations=int(counts["annotations"]),
            decisions=int(counts["accepted"]) + int(counts["excluded"]),
            people=int(counts["annotators"]),
        )
    except (Difference, *MALFORMED) as error:
        return ReleaseSummary(difference=f"{error}".replace(f"{folder}", folder.name))


def _title(batch: Record) -> str | dict[str, str]:
    """The title of a batch's task type: installed, or defined by the release in some languages."""
    if "definition" not in batch:
        return task_types()[batch["type"]].title if batch["type"] in task_types() else str(batch["type"])
    title = task_of_record(batch).title
    return {"": title, **title.by_language} if isinstance(title, TranslatedText) else title


def _unknown_type(manifest: Manifest) -> str:
    """A task type that is neither installed nor defined by the release; "" where there is none."""
    installed = {batch["type"] for batch in manifest.batches if "definition" not in batch}
    return min(installed - task_types().keys(), default="")


def check(request: ReadRequest, progress: Callable[[int], None] = lambda done: None) -> CheckedRelease:
    """Verify a release, a folder or a zip archive, and write its records to the folder `request.rows`. ReaderError."""
    with _folder_of(Path(request.path)) as folder:
        try:
            manifest = release_records.read_manifest(folder)
            if unknown := _unknown_type(Manifest.of(manifest)):
                return CheckedRelease(unknown_type=unknown)
            verification.verify(folder, progress)
            return CheckedRelease(_write(folder, manifest, Path(request.rows)))
        except (Difference, *MALFORMED) as error:
            return CheckedRelease(difference=f"{error}".replace(f"{folder}", folder.name))


@contextmanager
def _folder_of(path: Path) -> Iterator[Path]:
    """The folder with the manifest of a release."""
    if not path.is_file():
        yield path
        return
    with unpacked(path) as inner:
        yield next((manifest.parent for manifest in sorted(inner.rglob(MANIFEST))), inner)


def _write(folder: Path, manifest: Record, out: Path) -> int:
    """Write manifest and records, each checked, as JSON Lines. Returns how many records there are."""
    out.mkdir(parents=True)
    (out / MANIFEST).write_text(_checked_json(manifest, MANIFEST), encoding="utf-8")
    count = 0
    for path in (folder / name for name in FILES if (folder / name).exists()):
        with (out / path.name).open("w", encoding="utf-8", newline="\n") as file:
            for line, record in enumerate(record_files.records(path), 1):
                file.write(_checked_json(record, f"{path.name}, line {line}") + "\n")
                count += 1
    return count


def _checked_json(record: Record, where: str) -> str:
    """A record as JSON. Difference with its place where it cannot be stored, or is nested too deeply or too long."""
    try:
        check_depth(record)
    except RecursionError:
        raise Difference(f"{where} is nested too deeply") from None
    if reason := unstorable(record):
        raise Difference(f"{where} contains {reason}")
    text = json.dumps(record)
    if len(text) > MOST_BYTES:
        raise Difference(f"{where} has more than {MOST_BYTES} bytes")
    return text
