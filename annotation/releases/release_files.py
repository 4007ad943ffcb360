"""The files of a release, without a database: how they are written, and how they are verified.

A release folder holds raw records (`sources.jsonl`, `annotations.jsonl`, `decisions.jsonl`) and what follows from them:
the benchmark files of each format (`benchmark_files`) and the figures in `manifest.json`. Making a release derives these
once; verifying derives them again and compares.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from annotation.payments.data_statement import DIGITS
from annotation.quality import compared_responses, rating_tallies
from annotation.releases import perturbation_records, provenance
from annotation.releases.benchmark_files import (
    ARRAYS,
    FORMATS,
    RAW,
    RECORDS,
    TRIES,
    Gate,
    automatic_lines,
    folders,
    perturbed_counts,
    records_of_formats,
    sorted_formats,
)
from annotation.releases.file_pool import OpenFiles
from annotation.releases.former_wordings import is_wording
from annotation.releases.manifest import Manifest, count_records, figures, mixes, tallies, unverified
from annotation.releases.manifest import faults as manifest_faults
from annotation.releases.raw_records import LAYOUT, MANIFEST, PURPOSES, Raw, load, read_manifest
from annotation.releases.record_files import Difference, records, write_with_offsets
from annotation.releases.task_records import task_of_record
from tableqa.core.canonical_json import canonical, digest, file_digest
from tableqa.core.release_rules import RULES, under, version
from tableqa.data.answers import alternatives_of
from tableqa.readers.report import Report
from tableqa.scoring import verdicts
from tableqa.writers import hub, whole_examples
from tasks.contract import Accepted, Item, Resolution, TaskType, decision_rules

__all__ = ["FORMATS", "LAYOUT", "MANIFEST", "RAW", "TRIES", "Difference", "Raw", "load", "records", "verify"]
__all__ += ["read_manifest"]

_RULES_OF_EXACT = 4
_RULES_OF_CONDITIONS = 8
_RULES_OF_HOURS = 9
_TOLD = 100
"""Records between two reports of progress."""
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What records without the form of a release raise."""
_Result = TypeVar("_Result")


def write_beside(raw: Raw, manifest: Manifest) -> None:
    """Write the data statement, and what lies beside the records of the format hf for its tools.

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
        for name, text in hub.texts(record, _shas(folder)).items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _shas(folder: Path) -> dict[str, str]:
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


# -- verifying --------------------------------------------------------------------------------------


def verify(folder: Path, progress: Callable[[int], None] = lambda number: None) -> dict[str, int]:
    """Recompute everything in a release that follows from something else in it.

    progress: told the number of checked responses and decisions.
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
    _check_files(folder, manifest)
    raw = load(folder)
    _check_formats(manifest)
    _check_once(raw)
    if fault := next(manifest_faults(record), None):
        raise Difference(f"{MANIFEST}: {fault}")
    _check_manifest(raw, manifest)
    for sha, table in raw.tables.items():
        if table.digest() != sha:
            raise Difference(f"sources.jsonl: the table {sha} has the digest {table.digest()}")
    waived = _check_waivers(raw, manifest)
    for number, record in enumerate(raw.annotations):
        if number % _TOLD == 0:
            progress(number)
        if record["id"] not in waived:
            _by_rules_of_release(_check_annotation, raw, record)
    replayed = 0
    for number, decision in enumerate(raw.decisions, len(raw.annotations)):
        if number % _TOLD == 0:
            progress(number)
        replayed += _by_rules_of_release(_check_decision, raw, decision, raw.by_id, waived)
    _check_tries(raw)
    if fault := next(provenance.faults(raw), None):
        raise Difference(fault)
    not_compared = _check_figures(raw, manifest)
    _check_benchmark(folder, raw, manifest)
    return {
        "files": len(manifest.files),
        "annotations": len(raw.annotations),
        "decisions": len(raw.decisions),
        "replayed": replayed,
        "made_again": manifest.automatic_perturbations,
        "figures": len(manifest.agreement),
        "not_compared": not_compared,
    }


CLOSE = 0.0001
"""Hours that a rounded sum may be off."""
CLOSE_EXACT = 1e-9
"""What a value in full precision may be off: the last digits of a sum differ between machines."""


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
    for name, number in count_records(raw).items():
        if (claimed := manifest.counts.get(name)) != number:
            raise Difference(f"{MANIFEST}: counts.{name} is {claimed!r}, the records give {number}")
    for name in manifest.counts.keys() - count_records(raw).keys():
        raise Difference(f"{MANIFEST}: counts.{name} cannot be recomputed")
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
    _check_hours(manifest, math.fsum(seconds) / 3600)


def _check_formats(manifest: Manifest) -> None:
    """One known format, or at least two, each once and in the order of `FORMATS`."""
    if manifest.layout == LAYOUT:
        if manifest.format not in FORMATS:
            raise Difference(f"{MANIFEST}: unknown format {manifest.format!r}")
    elif (
        not isinstance(manifest.formats, list)
        or len(manifest.formats) < 2
        or manifest.formats != sorted_formats(manifest.formats)
    ):
        raise Difference(f"{MANIFEST}: formats must be two or more of {', '.join(FORMATS)}, in this order")


def _check_hours(manifest: Manifest, of_records: float) -> None:
    """The hours of the statement are those of the records, and add up to those that were paid."""
    hours = manifest.statement.get("hours", {})
    if "beside" not in hours:
        return  # the first form of statements: its hours held gold items, which no record tells of
    if abs(hours["all"] - of_records) > CLOSE:
        raise Difference(
            f"{MANIFEST}: statement.hours.all is {hours['all']}, the records give {of_records:.4f}"
        )
    summed = hours["all"] + sum(hours["beside"].values())
    if abs(hours["paid"] - summed) > CLOSE * (1 + len(hours["beside"])):
        raise Difference(f"{MANIFEST}: statement.hours.paid is {hours['paid']}, its parts give {summed:.4f}")
    if manifest.rules >= _RULES_OF_EXACT:
        _check_exact_hours(hours, of_records)


def _check_exact_hours(hours: Mapping[str, Any], of_records: float) -> None:
    """The hours in full precision are those of the records, add up, and round to the others."""
    exact = hours.get("exact", {})
    rounded = {name: value for name, value in hours.items() if name != "exact"}
    if not _same_numbers(_rounded_like(exact, DIGITS), rounded):
        raise Difference(f"{MANIFEST}: statement.hours.exact does not round to the hours beside it")
    summed = math.fsum([exact["all"], *exact["beside"].values()])
    for name, value in (("all", of_records), ("paid", summed)):
        if not _is_close(exact[name], value):
            raise Difference(f"{MANIFEST}: statement.hours.exact.{name} is {exact[name]!r}, not {value!r}")


def _rounded_like(value: Any, digits: int) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded_like(member, digits) for name, member in value.items()}
    return round(value, digits)


def _same_numbers(claimed: Any, computed: Mapping[str, Any]) -> bool:
    """Whether two records of numbers, None among them, are equal but for the last digits."""
    if not isinstance(claimed, Mapping) or claimed.keys() != computed.keys():
        return False
    return all(
        _same_numbers(claimed[name], value) if isinstance(value, Mapping) else _is_close(claimed[name], value)
        for name, value in computed.items()
    )


def _is_close(first: Any, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return isinstance(first, int | float) and math.isclose(
        first, second, rel_tol=CLOSE_EXACT, abs_tol=CLOSE_EXACT
    )


def _check_once(raw: Raw) -> None:
    """Ids stand once, an item is decided once, and of each person's revisions of an item the last is the newest."""
    if repeated := raw.repeated():
        what, id, times = repeated
        raise Difference(f"{what} {id} appears {times} times")
    if wrong := raw.out_of_turn():
        raise Difference(f"annotations.jsonl: {wrong}: 'newest' does not fit its revision")


def _check_files(folder: Path, manifest: Manifest) -> None:
    actual_files = describe(folder)
    for name, claimed in manifest.files.items():
        if name not in actual_files:
            raise Difference(f"{name}: in the manifest, but missing")
        if actual_files[name] != claimed:
            key = next(
                key for key in ("bytes", "records", "sha256") if actual_files[name][key] != claimed[key]
            )
            raise Difference(f"{name}: {key} is {actual_files[name][key]}, the manifest says {claimed[key]}")
    for name in actual_files.keys() - manifest.files.keys():
        raise Difference(f"{name}: not in the manifest")
    for name in RAW:
        if name not in actual_files:
            raise Difference(f"{name}: missing")


def _by_rules_of_release(check: Callable[..., _Result], *args: Any) -> _Result:
    """Check a record by the rules of the release; one that is older than rules 8 may follow those before."""
    try:
        return check(*args)
    except Difference:
        if version() < _RULES_OF_CONDITIONS:
            raise
        with under(_RULES_OF_CONDITIONS - 1), suppress(Difference):
            return check(*args)
        raise


def _check_tries(raw: Raw) -> None:
    """Every verdict follows again from the raw answers and the gold answers beside it.

    Whether a program agreed with the model is not in the files: a verdict that puts the gold answer in doubt stands.
    """
    path = raw.folder / TRIES
    for record in records(path) if path.exists() else ():
        if record["annotation"] is not None and record["annotation"] not in raw.responses:
            raise Difference(f"{TRIES}: try {record['id']} is of an annotation that is in no record")
        for verdict in record["verdicts"]:
            _by_rules_of_release(_check_verdict, record, verdict)


def _check_verdict(record: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
    computed = {
        name: verdicts.judge(
            record[name]["answers"],
            verdicts.gold_of(verdict["gold"], name),
            record[name]["text"],
            verdict["gold"].get("scale", ""),
        )
        if record[name] is not None and verdict["gold"][name]
        else None
        for name in ("original", "perturbed")
    }
    for name, judgement in computed.items():
        if (judgement.to_dict() if judgement else None) != verdict["judgements"][name]:
            raise Difference(f"{TRIES}: the verdict of try {record['id']} on the {name} answer differs")
    again = verdicts.verdict(computed["original"], computed["perturbed"], failed=bool(record["error"]))
    if verdict["verdict"] not in (again, "gold_suspect"):
        raise Difference(f"{TRIES}: try {record['id']} is {again} by its answers, not {verdict['verdict']}")


def _check_annotation(raw: Raw, record: Mapping[str, Any]) -> None:
    unmet = record.get("unmet", ["-"])
    if not isinstance(unmet, list) or not unmet or not all(isinstance(code, str) for code in unmet):
        raise Difference(f"annotations.jsonl: {record['id']}: 'unmet' is not a list of codes")
    flags = {name: record.get(name, True) for name in ("simulated", "external", "sent_back", "way_back")}
    for name, flag in {**flags, "added": record["place"]["added"]}.items():
        if not isinstance(flag, bool):
            raise Difference(f"annotations.jsonl: {record['id']}: {name!r} is neither true nor false")
    if record.get("unsure", True) is not True:
        raise Difference(f"annotations.jsonl: {record['id']}: 'unsure' is not true")
    if record["response"] is None:
        if "unsure" in record:
            raise Difference(f"annotations.jsonl: {record['id']} has 'unsure' and no response")
        if "unmet" in record:
            raise Difference(f"annotations.jsonl: {record['id']} has 'unmet' and no response")
        return
    task, item = raw.item(record)
    try:
        again = task.envelope(task.read(record["response"], item), item)
    except ValueError as error:
        raise Difference(f"annotations.jsonl: {record['id']}: {error}") from None
    except Exception as error:
        raise Difference(f"annotations.jsonl: {record['id']} breaks its contract: {error}") from None
    if canonical(again) != canonical(_upgraded(task, record["response"])):
        raise Difference(f"annotations.jsonl: {record['id']}: the stored response is not in canonical form")


def _upgraded(task: TaskType, stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored response in the kind's present version; what an older one did not know is what `upgrade` says."""
    if stored["version"] == task.version:
        return stored
    return {**stored, "version": task.version, "data": task.upgrade(stored["data"], stored["version"])}


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


def _check_decision(
    raw: Raw,
    decision: Mapping[str, Any],
    annotations: Mapping[str, Mapping[str, Any]],
    waived: AbstractSet[str],
) -> int:
    where = f"decisions.jsonl: item {decision['item']}"
    task, item = raw.item(decision)
    if (decision["kind"] == "accepted") != bool(decision["outcomes"]):
        raise Difference(f"{where}: it is {decision['kind']} and has {len(decision['outcomes'])} outcomes")
    for id in decision.get("based_on", ()):
        if id not in annotations or annotations[id]["item"] != decision["item"]:
            raise Difference(
                f"{where}: annotation {id}, which the decision is based on, is not one of this item"
            )
    replayed = 0
    supports = []
    for outcome in decision["outcomes"]:
        by_rule = partial(decision_rules.resolve, task, decision.get("rule", {}))
        decide = by_rule if decision["by"] == "resolve" else task.resolve_adjudicated
        if outcome["id"] in waived:
            response = task.restore(outcome["response"]["data"])
        else:
            response = _outcome(task, item, outcome, annotations, where, decide)
        for id in outcome["annotations"]:
            if id not in annotations or annotations[id]["item"] != decision["item"]:
                raise Difference(f"{where}: annotation {id} is not one of this item")
        supports.append(set(outcome["annotations"]))
        perturbed, example = task.perturb(item, response), outcome["example"]
        if (perturbed is None) != (example is None):
            raise Difference(
                f"{where}: the outcome {'makes no' if perturbed is None else 'makes an'} example"
            )
        if perturbed is None or example is None:
            continue
        stored = raw.example(decision["source"], example["id"])
        for what, is_now, claimed in (
            ("table", perturbed.example.table.digest(), example["digest"]),
            ("replayed table", stored.table.digest(), example["digest"]),
            ("question", perturbed.example.question, example["question"]),
            ("answers", list(perturbed.example.answers), example["answers"]),
            ("alternatives", alternatives_of(perturbed.example.answers), alternatives_of(stored.answers)),
            ("parent", decision["example"], example["parent"]),
            ("perturbation", item.variant or task.key, example["perturbation"]),
        ):
            if is_now != claimed:
                raise Difference(
                    f"{where}: the {what} of {example['id']} is {is_now!r}, the record says {claimed!r}"
                )
        replayed += 1
    if decision["by"] == "resolve":
        _check_resolution(raw, decision, task, item, supports, where)
    return replayed


def _outcome(
    task: TaskType,
    item: Item,
    outcome: Mapping[str, Any],
    annotations: Mapping[str, Mapping[str, Any]],
    where: str,
    decide: Callable[[Sequence[Any], Item], Resolution],
) -> Any:
    """The response of an outcome: what its annotations say, or what the kind makes of them, or a person's own."""
    stored = outcome["response"]
    try:
        supports = [annotations[id]["response"] for id in outcome["annotations"] if id in annotations]
        if supports and any(response != stored for response in supports):
            merged = decide([task.read(response, item) for response in supports], item)
            outcomes = merged.outcomes if isinstance(merged, Accepted) else ()
            if [task.envelope(merged_outcome.response, item) for merged_outcome in outcomes] != [
                _upgraded(task, stored)
            ]:
                id = next(id for id in outcome["annotations"] if annotations[id]["response"] != stored)
                raise Difference(f"{where}: annotation {id} differs from the outcome it supports")
            return outcomes[0].response
        return task.read(stored, item)
    except Difference:
        raise
    except Exception as error:
        raise Difference(f"{where}: an outcome breaks its contract: {error}") from None


def _check_resolution(
    raw: Raw, decision: Mapping[str, Any], task: TaskType, item: Item, supports: list[set[str]], where: str
) -> None:
    """What the decision's rule makes of the raw responses must be what was decided."""
    mine = [
        record
        for record in raw.annotations_of(decision["item"])
        if record["newest"] and record["response"] is not None
    ]
    mine.sort(key=lambda record: record["place"]["number"])
    responses = [compared_responses.restore_response(task, record["response"]) for record in mine]
    resolution = decision_rules.resolve(task, decision.get("rule", {}), responses, item)
    if not isinstance(resolution, Accepted):
        raise Difference(f"{where}: the responses do not decide it ({resolution.reason})")
    again = [{mine[index]["id"] for index in outcome.by} for outcome in resolution.outcomes]
    if again != supports or not is_wording(decision["reason"], resolution.reason):
        raise Difference(f"{where}: the responses lead to another decision")


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
    more = _check_derived(folder, raw, manifest, seed) | _check_companion_files(folder, manifest)
    for name in manifest.files.keys() - more - RECORDS:
        raise Difference(f"{name}: does not match the decisions")


def _check_perturbed(folder: Path, raw: Raw, manifest: Manifest) -> None:
    """Every automatic perturbation made again, its line and the counts compared."""
    claimed = manifest.automatic
    if (claimed is None) == (folder / perturbation_records.LINES).exists():
        raise Difference(f"{MANIFEST}: 'automatic' and {perturbation_records.LINES} do not match")
    if claimed is None:
        return
    for number, (line, original) in enumerate(automatic_lines(raw), start=1):
        once_more = perturbation_records.recreate(line, original).outcome()
        same_reason = is_wording(line.get("no_op"), once_more.get("no_op"))
        if not same_reason or any(line.get(key) != once_more.get(key) for key in ("digest", "refused")):
            where = f"{perturbation_records.LINES}, line {number}: {line['kind']} of {line['original']!r}"
            raise Difference(f"{where} with the seed {line['seed']} gives {once_more}")
    if claimed["counts"] != (counts := perturbed_counts(raw)):
        raise Difference(f"{MANIFEST}: automatic.counts is {claimed['counts']}, the lines give {counts}")


def _check_companion_files(folder: Path, manifest: Manifest) -> set[str]:
    """The data statement, and what lies beside the records of the format hf, made again. Returns the files' names."""
    record = manifest.record()
    texts = {hub.STATEMENT: hub.statement(record)} if manifest.statement else {}
    shas = {}
    under = folders(manifest.every_format).get("hf")
    if under is not None:
        shas = _shas(folder / under)
        texts |= {under + name: text for name, text in hub.texts(record, shas).items()}
    for name, text in texts.items():
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text:
            raise Difference(f"{name}: does not match the manifest and the records")
    if under is None:
        return set(texts)
    if hub.PARQUET in shas and (number := hub.parquet_differs(folder / under)):
        raise Difference(
            f"{under}{hub.PARQUET}: record {number} differs from line {number} of {whole_examples.HUB}"
        )
    return {*texts, *(f"{under}{name}" for name in shas)}


def _check_derived(folder: Path, raw: Raw, manifest: Manifest, seed: int | None) -> set[str]:
    """Every benchmark file made again, line by line. Returns the files' names."""
    with closing(OpenFiles()) as files:
        last: dict[str, tuple[int, str, str]] = {}
        endings = {}
        for format, name, what, record in records_of_formats(raw, manifest.every_format, seed):
            opening, parting, ending = ("[", ",", "]") if format in ARRAYS else ("", "", "")
            endings[name] = ending
            if name not in last:
                if not (folder / name).is_file():
                    raise Difference(f"{name}: missing, although the {what} require it")
                number, line = 1, files.line(folder / name)
                expected = opening + canonical(record)
            else:
                number, line, before = last[name]
                if line != f"{before}{parting}\n":
                    raise Difference(f"{name}, line {number}: fewer records than the {what} require")
                number, line = number + 1, files.line(folder / name)
                expected = canonical(record)
            if not line.startswith(expected):
                id = record.get("id", record.get("example_id"))
                named = "the record" if id is None else f"record {id!r}"  # a prompt of SUC has no id
                raise Difference(f"{name}, line {number}: {named} differs from the {what}")
            last[name] = number, line, expected
        for name, (number, line, expected) in last.items():
            if line != f"{expected}{endings[name]}\n" or files.line(folder / name):
                raise Difference(f"{name}: {number} records expected; the file has others or more")
        return set(last)


def _check_figures(raw: Raw, manifest: Manifest) -> int:
    """Every agreement figure computed again. Returns how many had no second opinion because its package is missing."""
    claims = {(entry["batch"], entry["measure"], entry["statistic"]) for entry in manifest.agreement}
    again = figures(raw, claims, exact=manifest.rules >= _RULES_OF_EXACT)
    # By the rules before, kinds had fewer measures than they have here.
    measured = {
        key for key, batch in raw.batches.items() if manifest.rules >= 3 and task_of_record(batch).measures
    }
    if len(again) != len(manifest.agreement) or not measured <= {entry["batch"] for entry in again}:
        raise Difference(
            f"{MANIFEST}: {len(manifest.agreement)} agreement figures, the responses give {len(again)}"
        )
    for claimed, figure in zip(manifest.agreement, again, strict=True):
        for key, value in figure.items():
            same = _same_numbers if key == "exact" else is_wording
            if claimed.get(key) != value and not same(claimed.get(key), value):
                name = f"{figure['statistic']} of {figure['measure']} in batch {figure['batch']}"
                raise Difference(
                    f"{MANIFEST}: {name}: {key} is {claimed.get(key)!r}, the responses give {value!r}"
                )
    return _second_opinion(raw, again)


def _second_opinion(raw: Raw, again: list[dict[str, Any]]) -> int:
    """The same values from the packages krippendorff, statsmodels and scipy, where they have the measure.

    Returns how many values of alpha were not compared because krippendorff is not installed.
    """
    from tableqa.agreement import rankings
    from tableqa.agreement.reference_implementations import second_opinion

    claimed = {(figure["batch"], figure["measure"], figure["statistic"]): figure["value"] for figure in again}
    not_compared = 0
    for batch in raw.batches:
        for tally in tallies(raw, batch):
            if tally.measure.level in ("cells", "edits"):
                continue  # no other package takes the expected disagreement within each table
            ratings = tally.ratings()
            for statistic in rating_tallies.statistics_of(tally.measure):
                if (batch, tally.measure.name, statistic) not in claimed:
                    continue
                value = claimed[batch, tally.measure.name, statistic]
                try:
                    other = (
                        rankings.second_opinion(ratings, statistic)
                        if statistic in rankings.RANK_MEASURES
                        else second_opinion(ratings, statistic, order=tally.order(statistic))
                    )
                except ModuleNotFoundError as error:
                    if error.name != "krippendorff":
                        raise
                    not_compared += 1
                    continue
                if other is not None and (value is None or abs(other - value) > 2e-6):
                    name = f"{statistic} in batch {batch}"
                    raise Difference(
                        f"{MANIFEST}: {name} is {value!r}; an independent package says {other!r}"
                    )
    return not_compared
