"""The files of a release, written without a database.

A release folder holds raw records (`sources.jsonl`, `annotations.jsonl`, `decisions.jsonl`) and what follows from them:
the benchmark files of each format (`benchmark_files`) and the figures in `manifest.json`. Making a release derives these
once; verifying derives them again and compares (`verification`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from annotation.releases.benchmark_files import RAW, Gate, folders
from annotation.releases.manifest import Manifest
from annotation.releases.raw_records import MANIFEST, Raw
from annotation.releases.record_files import write_with_offsets
from tableqa.core.canonical_json import file_digest
from tableqa.writers import hub, whole_examples


def write_beside(raw: Raw, manifest: Manifest) -> None:
    """Write the data statement, and what is beside the records of the format hf for its tools.

    `manifest` is what the manifest will say, but for its files.
    """
    record = manifest.record()
    if manifest.statement:
        (raw.folder / hub.STATEMENT).write_text(hub.statement(record), encoding="utf-8", newline="\n")
    if (under := folders(manifest.every_format).get("hf")) is not None:
        folder = raw.folder / under
        if under:
            folder.mkdir(exist_ok=True)  # never the release's own folder, see `write_with_offsets`
        (folder / whole_examples.HUB).parent.mkdir(exist_ok=True)
        (folder / whole_examples.HUB).touch()
        hub.write_parquet(folder)
        for name, text in hub.texts(record, hub_digests(folder)).items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")


def hub_digests(folder: Path) -> dict[str, str]:
    """The sha256 of the files of records of the format hf, by path."""
    configs = (
        path.relative_to(folder).as_posix() for path in sorted(folder.glob(whole_examples.CONFIG_FILES))
    )
    names = (whole_examples.HUB, hub.PARQUET, *configs)
    return {name: file_digest(folder / name) for name in names if (folder / name).is_file()}


def gate(raw: Raw) -> dict[str, list[dict[str, str]]]:
    """What accepted outcomes break of their contracts (`Gate`)."""
    gate_of_release = Gate()
    for decision in raw.decisions:
        task, item = raw.item(decision)
        for outcome in decision["outcomes"]:
            gate_of_release.judge(raw, task, item, outcome)
    return gate_of_release.broken


def write_records(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON Lines in canonical form, UTF-8 with LF."""
    for _ in write_with_offsets(path, lines):
        pass


def write_raw(
    folder: Path,
    manifest: Mapping[str, Any],
    *,
    sources: Iterable[Mapping[str, Any]],
    annotations: Iterable[Mapping[str, Any]],
    decisions: Iterable[Mapping[str, Any]],
) -> Raw:
    """Write the raw records, one at a time, and give what `load` would find in them.

    `manifest` is what the manifest will say, as far as no record has to be read for it.
    """
    lines = zip(RAW, (sources, annotations, decisions), strict=True)
    return Raw(folder, manifest, *(write_with_offsets(folder / name, of_file) for name, of_file in lines))


def describe(folder: Path) -> dict[str, dict[str, Any]]:
    """sha256, size in bytes and lines of every file of the folder but the manifest, by path."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != MANIFEST:
            with path.open("rb") as stream:
                lines = sum(block.count(b"\n") for block in iter(lambda s=stream: s.read(1 << 20), b""))  # type: ignore[misc]
            name = path.relative_to(folder).as_posix()
            files[name] = {"sha256": file_digest(path), "bytes": path.stat().st_size, "records": lines}
    return files
