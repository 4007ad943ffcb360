"""Verifying a release: everything that follows from something else in its folder, derived again and compared."""

import json
import math
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from annotation.releases import benchmark_files, history, provenance, runnable_benchmark
from annotation.releases.benchmark_files import RULES_OF_HISTORY
from annotation.releases.figure_checks import check_figures, check_hours
from annotation.releases.file_pool import OpenFiles
from annotation.releases.manifest import Manifest, count_records, mixes, unverified
from annotation.releases.manifest import faults as manifest_faults
from annotation.releases.raw_records import LAYOUT, MANIFEST, PURPOSES, Raw, load, read_manifest
from annotation.releases.record_checks import (
    by_rules_of_release,
    check_annotation,
    check_decision,
    check_tries,
)
from annotation.releases.release_files import companion_texts, croissant_of, describe, gate, hub_files
from tableqa.core.canonical_json import canonical, digest
from tableqa.core.release_rules import RULES, under
from tableqa.readers.report import Report
from tableqa.releases import perturbation_records
from tableqa.releases.former_wordings import is_wording
from tableqa.releases.record_files import Difference
from tableqa.writers import croissant, hub, hub_features

_RULES_OF_HOURS = 9
_PROGRESS_STEP = 100
"""Records between two reports of progress."""
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What records without the form of a release raise."""


def verify(folder: Path, progress: Callable[[int], None] = lambda done: None) -> dict[str, int]:
    """Recompute everything in a release that follows from something else in it.

    progress: receives the number of checked responses and decisions.
    Returns what was checked; raises `Difference` at the first fault. What follows from nothing (the
    name of a batch, say) is vouched for by the digest of the manifest, which the platform shows.
    """
    try:
        record = read_manifest(folder)
        manifest = Manifest.of(record)
        try:
            with under(manifest.rules):
                return _verify(folder, manifest, record, progress)
        except Difference as difference:
            raise Difference(f"{difference}{_hint_on_rules(manifest.rules)}") from None
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


def _verify(
    folder: Path, manifest: Manifest, record: Mapping[str, Any], progress: Callable[[int], None]
) -> dict[str, int]:
    if fault := next(manifest_faults(record), None):
        raise Difference(f"{MANIFEST}: {fault}")
    _check_files(folder, manifest)
    raw = load(folder)
    _check_formats(manifest)
    if repeated := raw.repeated():
        what, id, times = repeated
        raise Difference(f"{what} {id} appears {times} times")
    if wrong := raw.out_of_turn():
        raise Difference(f"annotations.jsonl: {wrong}: 'newest' does not fit its revision")
    _check_manifest(raw, manifest)
    for sha, table in raw.tables.items():
        if table.digest() != sha:
            raise Difference(f"sources.jsonl: the table {sha} has the digest {table.digest()}")
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


def _check_files(folder: Path, manifest: Manifest) -> None:
    actual_files = describe(folder, manifest.rules)
    for name, claimed in manifest.files.items():
        if name not in actual_files:
            raise Difference(f"{name}: in the manifest, but missing")
        if actual_files[name] != claimed:
            key = next(
                key for key in ("bytes", "records", "sha256") if actual_files[name][key] != claimed[key]
            )
            raise Difference(f"{name}: {key} is {actual_files[name][key]}, the manifest says {claimed[key]}")
    for name in actual_files.keys() - manifest.files.keys():
        remedy = ". Python wrote it when the benchmark was run: delete it" if "__pycache__/" in name else ""
        raise Difference(f"{name}: not in the manifest{remedy}")
    for name in benchmark_files.RAW:
        if name not in actual_files:
            raise Difference(f"{name}: missing")


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
    if manifest.sources != [record for _, record in sorted(raw.sources.items())]:
        raise Difference(f"{MANIFEST}: the sources differ from those in sources.jsonl")
    for record in raw.sources.values():
        try:
            list(map(Report.of, record.get("reports", ())))
        except (TypeError, ValueError) as error:
            raise Difference(f"sources.jsonl: source {record['name']!r}: {error}") from error
    for name, count in count_records(raw).items():
        if (claimed := manifest.counts.get(name)) != count:
            raise Difference(f"{MANIFEST}: counts.{name} is {claimed!r}, the records give {count}")
    for name in manifest.counts.keys() - count_records(raw).keys():
        raise Difference(f"{MANIFEST}: counts.{name} cannot be recomputed")
    made_at = {"first": raw.first_made_at, "last": raw.last_made_at}
    if raw.last_made_at and manifest.rules >= RULES_OF_HISTORY and manifest.dates != made_at:
        raise Difference(f"{MANIFEST}: dates are {manifest.dates}, the records give {made_at}")
    if fault := next(history.faults(raw.folder, manifest), None):
        raise Difference(fault)
    for batch in manifest.batches:
        if digest(batch["settings"]) != batch["settings_digest"]:
            raise Difference(f"{MANIFEST}: the settings of batch {batch['name']!r} do not match their digest")
    texts = {(entry["type"], entry["number"]): digest(entry["text"]) for entry in manifest.guidelines}
    seconds = []
    for record in raw.annotations:
        stands = record["response"] is not None or raw.rules < _RULES_OF_HOURS
        if record["newest"] and stands and not record["simulated"] and not record.get("external"):
            seconds.append(record["active_seconds"])
        batch, under = raw.batches[record["batch"]], record["guidelines"]
        if texts.get((batch["type"], under["number"])) != under["digest"]:
            raise Difference(
                f"{MANIFEST}: the guidelines {under['number']} of {batch['type']} are not those that "
                f"annotation {record['id']} was made under"
            )
        if not record["place"]["added"] and record["place"]["number"] > batch.get("places", batch["overlap"]):
            raise Difference(
                f"annotations.jsonl: {record['id']} has a slot number above the number of slots of its batch"
            )
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
        ("unverified", manifest.unverified, unverified(raw)),
        ("the mix", manifest.mix, mixes(raw, seed)),
    ):
        if listed != computed:
            raise Difference(f"{MANIFEST}: {name} is {listed}, the decisions give {computed}")
    _check_perturbed(folder, raw, manifest)
    more = _check_derived(folder, raw, manifest, seed) | _check_companion_files(folder, raw, manifest)
    for name in manifest.files.keys() - more - benchmark_files.RECORDS:
        if (format := manifest.format_of(name)) and not benchmark_files.is_made_again(format, raw.rules):
            continue
        raise Difference(f"{name}: does not match the decisions")


def _check_perturbed(folder: Path, raw: Raw, manifest: Manifest) -> None:
    """Every automatic perturbation made again, its line and the counts compared."""
    claimed = manifest.automatic
    if (claimed is None) == (folder / perturbation_records.LINES).exists():
        raise Difference(f"{MANIFEST}: 'automatic' and {perturbation_records.LINES} do not match")
    if claimed is None:
        return
    for index, (line, original) in enumerate(benchmark_files.automatic_lines(raw), start=1):
        once_more = perturbation_records.recreate(line, original).outcome()
        same_reason = is_wording(line.get("no_op"), once_more.get("no_op"))
        if not same_reason or any(line.get(key) != once_more.get(key) for key in ("digest", "refused")):
            where = f"{perturbation_records.LINES}, line {index}: {line['kind']} of {line['original']!r}"
            raise Difference(f"{where} with the seed {line['seed']} gives {once_more}")
    if claimed["counts"] != (counts := benchmark_files.perturbed_counts(raw)):
        raise Difference(f"{MANIFEST}: automatic.counts is {claimed['counts']}, the lines give {counts}")


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
