"""Verifying a release: everything that follows from something else in its folder, derived again and compared."""

import json
import math
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from annotation.releases import benchmark_files, history, provenance, runnable_benchmark, study_history
from annotation.releases.figure_checks import check_figures, check_hours
from annotation.releases.file_pool import OpenFiles
from annotation.releases.manifest import RULES_OF_DELETED, Manifest, mixes, unverified
from annotation.releases.manifest import faults as manifest_faults
from annotation.releases.raw_records import PURPOSES, Raw, load
from annotation.releases.record_checks import (
    by_rules_of_release,
    check_annotation,
    check_decision,
    check_tries,
)
from annotation.releases.release_files import companion_texts, croissant_of, gate, hub_files
from tableqa.core.canonical_json import canonical
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import LAYOUT, MANIFEST, RULES_OF_HISTORY
from tableqa.releases.verification import check_counts, check_files, check_perturbed, check_records, rules_of
from tableqa.writers import croissant, hub, hub_features

_RULES_OF_HOURS = 9
_PROGRESS_STEP = 100
"""Records between two reports of progress."""


def verify(folder: Path, progress: Callable[[int], None] = lambda done: None) -> dict[str, int]:
    """Recompute everything in a release that follows from something else in it.

    progress: receives the number of checked responses and decisions.
    Returns what was checked; raises `Difference` at the first fault. What follows from nothing (the
    name of a batch, say) is vouched for by the digest of the manifest, which the platform shows.
    """
    with rules_of(folder) as record:
        return _verify(folder, Manifest.of(record), record, progress)


def _verify(
    folder: Path, manifest: Manifest, record: Mapping[str, Any], progress: Callable[[int], None]
) -> dict[str, int]:
    if fault := next(manifest_faults(record), None):
        raise Difference(f"{MANIFEST}: {fault}")
    check_files(folder, record)
    raw = load(folder)
    _check_formats(manifest)
    check_records(raw)
    _check_manifest(raw, manifest)
    waived = _check_waivers(raw, manifest)
    for done, record in enumerate(raw.annotations):
        if done % _PROGRESS_STEP == 0:
            progress(done)
        if record["id"] not in waived:
            by_rules_of_release(check_annotation, raw, record)
    replayed = 0
    for done, decision in enumerate(raw.decisions, len(raw.annotations)):
        if done % _PROGRESS_STEP == 0:
            progress(done)
        replayed += by_rules_of_release(check_decision, raw, decision, waived)
    check_tries(raw)
    if fault := next(provenance.faults(raw), None):
        raise Difference(fault)
    not_compared = check_figures(raw, manifest)
    _check_benchmark(folder, raw, manifest)
    croissant_not_compared = _check_croissant(folder, manifest)
    return {
        "files": len(manifest.files),
        "annotations": len(raw.annotations),
        "decisions": len(raw.decisions),
        "replayed": replayed,
        "made_again": manifest.automatic_perturbations,
        "figures": len(manifest.agreement),
        "not_compared": not_compared,
        "croissant_not_compared": int(croissant_not_compared),
    }


def _check_formats(manifest: Manifest) -> None:
    """One known format, or at least two, each once and in the order of `FORMATS`."""
    if manifest.layout == LAYOUT:
        if manifest.format not in benchmark_files.FORMATS:
            raise Difference(f"{MANIFEST}: unknown format {manifest.format!r}")
    elif len(manifest.formats) < 2 or manifest.formats != benchmark_files.sorted_formats(manifest.formats):
        raise Difference(
            f"{MANIFEST}: formats must be two or more of {', '.join(benchmark_files.FORMATS)}, in this order"
        )


def _check_manifest(raw: Raw, manifest: Manifest) -> None:
    """What the manifest repeats or sums up, against the records."""
    if manifest.purpose not in ("", *PURPOSES):
        raise Difference(f"{MANIFEST}: unknown purpose {manifest.purpose!r}")
    check_counts(manifest.counts, raw.counts())
    if fault := next(history.faults(raw.folder, manifest), None):
        raise Difference(fault)
    for deviation in manifest.deviations:
        if "differ" in deviation and deviation["differ"] != study_history.count_differing(raw, deviation):
            raise Difference(f"{MANIFEST}: the effect of the decision rule of {deviation['at']} differs")
    seconds = [
        record["active_seconds"]
        for record in raw.annotations
        if record["newest"]
        and (record["response"] is not None or raw.rules < _RULES_OF_HOURS)
        and not record["simulated"]
        and not record.get("external")
    ]
    check_hours(manifest, math.fsum(seconds) / 3600)


def _check_waivers(raw: Raw, manifest: Manifest) -> set[str]:
    """Every outcome that breaks its contract is waived with a reason, and nothing else is.

    Returns the ids of these outcomes and of the annotations that they rest on.
    """
    broken = gate(raw)
    claimed = {entry["outcome"]: entry for entry in manifest.waivers}
    for id in sorted(broken.keys() | claimed.keys()):
        if id not in claimed:
            codes = ", ".join(problem["code"] for problem in broken[id])
            raise Difference(f"decisions.jsonl: outcome {id} breaks its contract ({codes}) and has no waiver")
        if broken.get(id) != claimed[id]["violations"] or not claimed[id]["reason"].strip():
            raise Difference(f"{MANIFEST}: the waiver of outcome {id} does not match its problems")
    return set(claimed).union(
        id
        for decision in raw.decisions
        for outcome in decision["outcomes"]
        if outcome["id"] in claimed
        for id in outcome["annotations"]
    )


def _check_benchmark(folder: Path, raw: Raw, manifest: Manifest) -> None:
    seed = manifest.mix["seed"] if manifest.mix is not None else None
    for name, listed, computed in (
        ("contradicted", manifest.contradicted, raw.contradicted),
        *(
            [("exclusions", manifest.exclusions, study_history.exclusions(raw))]
            * (manifest.rules >= RULES_OF_DELETED)
        ),
        ("unverified", manifest.unverified, unverified(raw)),
        ("the mix", manifest.mix, mixes(raw, seed)),
    ):
        if listed != computed:
            raise Difference(f"{MANIFEST}: {name} is {listed}, the decisions give {computed}")
    check_perturbed(raw)
    more = _check_derived(folder, raw, manifest, seed) | _check_companion_files(folder, raw, manifest)
    for name in manifest.files.keys() - more - benchmark_files.RECORDS:
        if (format := manifest.format_of(name)) and not benchmark_files.is_made_again(format, raw.rules):
            continue
        raise Difference(f"{name}: does not match the decisions")


def _check_companion_files(folder: Path, raw: Raw, manifest: Manifest) -> set[str]:
    """The texts beside the records, and the Parquet files of the format hf, made again. Returns the files' names.

    Releases before `RULES_OF_HISTORY` have the checksums only.
    """
    if manifest.rules < RULES_OF_HISTORY:
        return {hub.STATEMENT}
    texts = companion_texts(folder, manifest)
    for name, text in texts.items():
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text:
            raise Difference(f"{name}: does not match the manifest and the records")
    under = benchmark_files.folders(manifest.every_format).get("hf")
    if under is None:
        return set(texts)
    if (fault := hub_features.parquet_differs(folder / under)) is not None:
        name, index = fault
        raise Difference(f"{under}{name}: record {index} differs from the JSON Lines")
    names = hub_files(folder / under) | runnable_benchmark.check(folder, under, raw, manifest)
    return {*texts, under + hub.CROISSANT, *(under + name for name in names)}


def _check_croissant(folder: Path, manifest: Manifest) -> bool:
    """The Croissant metadata made again. Returns whether they were not, because mlcroissant is not installed.

    Its JSON-LD context depends on the version of mlcroissant. Metadata by rules before 11 have their checksum only.
    """
    under = benchmark_files.folders(manifest.every_format).get("hf")
    if under is None or manifest.rules < RULES_OF_HISTORY:
        return False
    try:
        expected = json.loads(croissant_of(folder, manifest, manifest.files))
    except ImportError:
        return True
    actual = json.loads(croissant.without_url((folder / under / hub.CROISSANT).read_bytes()))
    for name in sorted((actual.keys() | expected.keys()) - {"@context"}):
        if actual.get(name) != expected.get(name):
            raise Difference(f"{under}{hub.CROISSANT}: {name} does not match the manifest and the records")
    return False


def _check_derived(folder: Path, raw: Raw, manifest: Manifest, seed: int | None) -> set[str]:
    """Every benchmark file made again, line by line. Returns the files' names."""
    with closing(OpenFiles()) as files:
        last: dict[str, tuple[int, str, str]] = {}
        endings = {}
        for format, name, what, record in benchmark_files.records_of_formats(
            raw, manifest.every_format, seed
        ):
            opening, parting, ending = ("[", ",", "]") if format in benchmark_files.ARRAYS else ("", "", "")
            endings[name] = ending
            if name not in last:
                if not (folder / name).is_file():
                    raise Difference(f"{name}: missing, although the {what} require it")
                line_number, line = 1, files.line(folder / name)
                expected = opening + canonical(record)
            else:
                line_number, line, before = last[name]
                if line != f"{before}{parting}\n":
                    raise Difference(f"{name}, line {line_number}: fewer records than the {what} require")
                line_number, line = line_number + 1, files.line(folder / name)
                expected = canonical(record)
            if not line.startswith(expected):
                id = record.get("id", record.get("example_id"))
                named = "the record" if id is None else f"record {id!r}"  # a prompt of SUC has no id
                raise Difference(f"{name}, line {line_number}: {named} differs from the {what}")
            last[name] = line_number, line, expected
        for name, (line_number, line, expected) in last.items():
            if line != f"{expected}{endings[name]}\n" or files.line(folder / name):
                raise Difference(f"{name}: {line_number} records expected; the file has others or more")
        return set(last)
