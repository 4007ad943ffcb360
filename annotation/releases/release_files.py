"""The files of a release, written without a database.

A release folder holds raw records (`sources.jsonl`, `annotations.jsonl`, `decisions.jsonl`) and what follows from them:
the benchmark files of each format (`benchmark_files`) and the figures in `manifest.json`. Making a release derives these
once; verifying derives them again and compares (`verification`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from annotation.releases import runnable_benchmark
from annotation.releases.benchmark_files import Gate, folders
from annotation.releases.manifest import Manifest
from annotation.releases.raw_records import Raw
from tableqa.releases.record_files import write_with_offsets
from tableqa.releases.release_records import RAW
from tableqa.releases.verification import describe
from tableqa.writers import croissant, hub, hub_features, whole_examples


def write_beside(raw: Raw, manifest: Manifest) -> None:
    """Write the data statement, CITATION.cff, and what is beside the records of the format hf for its tools.

    `manifest` is what the manifest will say, but for its files.
    """
    under = folders(manifest.every_format).get("hf")
    if under is not None:
        folder = raw.folder / under
        if under:
            folder.mkdir(exist_ok=True)  # never the release's own folder, see `write_with_offsets`
        hub_features.write_parquet(folder)
        runnable_benchmark.write(folder, raw, manifest)
    for name, text in companion_texts(raw.folder, manifest).items():
        (raw.folder / name).write_text(text, encoding="utf-8", newline="\n")
    if under is not None:
        # It names the checksums of all other files.
        text = croissant_of(raw.folder, manifest, describe(raw.folder))
        (raw.folder / under / hub.CROISSANT).write_text(text, encoding="utf-8", newline="\n")


def companion_texts(folder: Path, manifest: Manifest) -> dict[str, str]:
    """The texts that follow from the manifest and the files of records, by path."""
    record, under = manifest.record(), folders(manifest.every_format).get("hf")
    texts = {hub.STATEMENT: hub.statement(record), hub.CITATION: hub.citation_file(record)}
    if under is not None:
        texts[under + hub.CARD] = hub.card(record, hub_files(folder / under))
    return texts


def croissant_of(folder: Path, manifest: Manifest, files: Mapping[str, Mapping[str, Any]]) -> str:
    """croissant.json for these files of a release. ImportError without the package mlcroissant."""
    under = folders(manifest.every_format)["hf"]
    shas = {
        name.removeprefix(under): entry["sha256"]
        for name, entry in files.items()
        if name.startswith(under) and name != under + hub.CROISSANT
    }
    return croissant.croissant(manifest.record(), shas, folder / under)


def hub_files(folder: Path) -> set[str]:
    """The files of records of the format hf and the facts of its task, by path."""
    patterns = ("parquet/*.parquet", whole_examples.CONFIG_FILES, hub.FACTS, hub.PROMPTS)
    return {path.relative_to(folder).as_posix() for pattern in patterns for path in folder.glob(pattern)}


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
