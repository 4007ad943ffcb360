"""The files of a release, without a database: what follows from the raw records, and how it is checked.

A release folder holds raw records (`sources.jsonl`, `annotations.jsonl`, `decisions.jsonl`) and what
can be derived from them: the benchmark files of the format and the figures in `manifest.json`.
`derive` makes the second from the first; making a release calls it once, verifying calls it again and
compares.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import tableqa
from annotation import agreement, automatic, mixing
from tableqa import verdicts
from tableqa.answers import compare
from tableqa.by_place import by_place
from tableqa.canonical import canonical, digest
from tableqa.examples import Context, Turn
from tableqa.operations import OperationError, from_dict, replay
from tableqa.perturbations import Counts, count
from tableqa.writers import hub, whole
from tasks.contract import Accepted, Invalid, Item, Resolution, TaskType, task_type

MANIFEST = "manifest.json"
RAW = ("sources.jsonl", "annotations.jsonl", "decisions.jsonl")
FORMATS = ("askew", "freb_tqa", "robut", "lftqa", *whole.FORMATS)
TRIES = "tries.jsonl"
"""What models in the loop answered, where there were any."""
LAYOUT = 1
"""The version of this layout; a reader that meets a higher one should stop."""


class Difference(Exception):
    """The first thing in a release that does not hold: which file, which record, what is wrong."""


@dataclass
class Raw:
    """The raw records of a release folder, indexed."""

    folder: Path
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    tables: dict[str, tableqa.Table] = field(default_factory=dict)
    originals: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    derived: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def decisions(self) -> list[dict[str, Any]]:
        return list(records(self.folder / "decisions.jsonl"))

    @cached_property
    def annotations(self) -> list[dict[str, Any]]:
        return list(records(self.folder / "annotations.jsonl"))

    @cached_property
    def responses(self) -> dict[str, Any]:
        """The responses by the ids of their annotations."""
        return {record["id"]: record["response"] for record in self.annotations}

    @cached_property
    def contradicted(self) -> dict[tuple[str, str], dict[str, Any]]:
        """What people contradicted in examples, by source and id, as the manifest lists it."""
        return _contradicted(self)

    def left_out(self, source: str, id: str) -> bool:
        """Whether an example is in no benchmark file, because people contradicted it or what it was made of."""
        return (source, id) in self.contradicted and self.contradicted[source, id]["left_out"]

    @cached_property
    def _judged_automatic(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The raw lines of the automatic perturbations that annotations or decisions are about."""
        named = {(record["source"], record["example"]) for record in (*self.annotations, *self.decisions)}
        wanted = named - self.originals.keys() - self.derived.keys()
        path = self.folder / automatic.LINES
        lines = records(path) if wanted and path.exists() else ()
        found = ((line["source"], automatic.id_of(line), line) for line in lines)
        return {(source, id): line for source, id, line in found if (source, id) in wanted}

    def example(self, source: str, id: str) -> tableqa.Example:
        """An original, derived or automatic example by its source and id, its table replayed from the source table."""
        key = (source, id)
        record = self.originals.get(key) or self.derived.get(key)
        if record is None and (line := self._judged_automatic.get(key)) is not None:
            made = automatic.again(line, self.example(source, line["original"]))
            return replace(made.perturbed.example, id=id)
        if record is None:
            raise Difference(f"decisions.jsonl: example {id!r} of {source!r} is in no record")
        base = self.tables.get(record["table"])
        if base is None:
            raise Difference(f"sources.jsonl: the table {record['table']} of example {id!r} is missing")
        try:
            operations = [from_dict(operation) for operation in record.get("operations", [])]
            table = replay(base, operations) if operations else base
        except OperationError as error:
            raise Difference(f"decisions.jsonl: example {id!r} does not replay: {error}") from None
        more = record.get("more", {})
        return tableqa.Example(
            id=id,
            question=record["question"],
            table=table,
            answers=record["answers"],
            meta=more.get("meta"),
            program=more.get("program"),
            context=Context.from_dict(more["context"]) if "context" in more else None,
            history=[Turn.from_dict(turn) for turn in more.get("history", [])],
        )

    def shapes(self, batch: str) -> dict[str, tuple[int, int]]:
        """Rows and columns of the table of every annotated item of a batch."""
        of_batch = {r["item"]: r for r in self.annotations if r["batch"] == batch}
        return {id: self.example(r["source"], r["example"]).table.shape for id, r in of_batch.items()}

    def item(self, record: Mapping[str, Any]) -> tuple[TaskType, Item]:
        """The kind and the item of an annotation or decision record."""
        batch = self.batches.get(record["batch"])
        if batch is None:
            raise Difference(f"manifest.json: there is no batch {record['batch']!r}, which a record names")
        example = self.example(record["source"], record["example"])
        return task_type(batch["type"]), Item(
            example=example,
            variant=batch["variant"],
            settings=batch["settings"],
            inputs=self.inputs.get(record["item"], {}),
        )


def load(folder: Path, batches: Iterable[Mapping[str, Any]]) -> Raw:
    """Read the raw records of a folder. `batches` come from the manifest."""
    raw = Raw(folder, batches={batch["id"]: dict(batch) for batch in batches})
    for record in records(folder / "sources.jsonl"):
        if record["kind"] == "source":
            raw.sources[record["name"]] = record
        elif record["kind"] == "table":
            raw.tables[record["digest"]] = tableqa.Table.from_dict(record["content"])
        elif record["kind"] == "item":
            raw.inputs[record["id"]] = record["inputs"]
        else:
            raw.originals[record["source"], record["id"]] = record
    for decision in raw.decisions:
        for outcome in decision["outcomes"]:
            if outcome["example"] is not None:
                raw.derived[decision["source"], outcome["example"]["id"]] = outcome["example"]
    return raw


# -- deriving ---------------------------------------------------------------------------------------


def benchmark(raw: Raw, format: str, mix: int | None = None) -> dict[str, list[dict[str, Any]]]:
    """The records of the benchmark files by path, from the accepted decisions in their order.

    Examples that people contradicted are left out (`Raw.contradicted`); what was said against them has its record.

    Where several accepted edits of one example land in one file, the records of the second get the id
    `ID#2` in every file that it goes to, so that an edit and its original keep one id. With a seed for
    `mix`, accepted perturbations of one original are composed as well.
    """
    files: dict[str, list[dict[str, Any]]] = {}
    seen: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    written: set[tuple[str, ...]] = set()
    for decision in raw.decisions:
        task, item = raw.item(decision)
        source = raw.sources[decision["source"]]
        if raw.left_out(source["name"], decision["example"]) and not task.says_gold:
            continue
        for outcome in decision["outcomes"]:
            if _makes_left_out(raw, decision, outcome):
                continue
            response = agreement.stored(task, outcome["response"])
            exports = [
                (_path(exported.part, source), exported.record)
                for exported in task.export(format, item, response, task.perturb(item, response))
            ]
            numbers: dict[tuple[str, ...], int] = {}
            for path, record in exports:
                key = _key(record)
                number = _number(seen.setdefault((path, *key), []), record)
                numbers[key] = max(number, numbers.get(key, 1))
            for path, record in exports:
                key = _key(record)
                one = record if numbers[key] == 1 else _renumbered(record, numbers[key])
                if (path, *_key(one)) not in written:
                    written.add((path, *_key(one)))
                    files.setdefault(path, []).append(one)
    for part, source_name, record in mixing.records(mixes(raw, mix), format) if mix is not None else ():
        files.setdefault(_path(part, raw.sources[source_name]), []).append(record)
    return files


def perturbed(raw: Raw, format: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path, record) of every automatic perturbation in the format, in the order of the raw lines; one at a time."""
    for line, original in automatic_lines(raw):
        if "digest" not in line:
            continue
        source = raw.sources[line["source"]]
        instance = automatic.again(line, original)
        if raw.left_out(line["source"], instance.id_of(original.id)):
            continue
        for part, record in automatic.records(format, source["reader"], original, instance):
            yield _path(part, source), record


def automatic_lines(raw: Raw) -> Iterator[tuple[dict[str, Any], tableqa.Example]]:
    """The raw lines of automatic perturbations, each with its original."""
    path, last = raw.folder / automatic.LINES, None
    for line in records(path) if path.exists() else ():
        if last is None or last[0] != (line["source"], line["original"]):
            last = (line["source"], line["original"]), raw.example(line["source"], line["original"])
        yield line, last[1]


def examples_whole(raw: Raw, format: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path, record) of every example of the release, in the formats that take examples whatever made them."""
    if format in whole.FORMATS:
        for line in _every_example(raw):
            for part, record in whole.records(format, line):
                yield part if part.endswith(".jsonl") else _path(part, line.source), record


def _every_example(raw: Raw) -> Iterator[whole.Line]:
    """Originals, then what people made of them, then what programs did, one at a time."""
    decided: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for decision in raw.decisions:
        said = [one["response"] for one in decision["outcomes"] if one["example"] is None]
        decided.setdefault((decision["source"], decision["example"]), []).extend(
            {name: response[name] for name in ("type", "variant", "data")} for response in said
        )
    for key in raw.originals:
        example = raw.example(*key)
        yield whole.Line(raw.sources[key[0]], example, decided=decided.get(key, ()))
    for key, record in raw.derived.items():
        if raw.left_out(*key):
            continue
        yield whole.Line(
            raw.sources[key[0]],
            by_place(raw.example(*key)),
            original=record["parent"],
            perturbation=record["perturbation"],
            operations=record["operations"],
            decided=decided.get(key, ()),
        )
    for made, original in automatic_lines(raw):
        if "digest" in made and not raw.left_out(made["source"], automatic.id_of(made)):
            instance = automatic.again(made, original)
            example = by_place(replace(instance.perturbed.example, id=instance.id_of(original.id)))
            yield whole.Line(
                raw.sources[made["source"]],
                example,
                original=original.id,
                perturbation=instance.kind,
                seed=instance.seed,
                operations=[operation.to_dict() for operation in instance.perturbed.operations],
            )


def write_whole(raw: Raw, manifest: Mapping[str, Any]) -> None:
    """Write the records of `examples_whole`, and beside those of the format hf what its tools read.

    `manifest` is what the manifest will say, but for its files.
    """
    format = manifest["format"]
    _write_streamed(raw.folder, examples_whole(raw, format))
    if format == "hf":
        (raw.folder / whole.HUB).parent.mkdir(exist_ok=True)
        (raw.folder / whole.HUB).touch()
        if hub.can_write_parquet():
            hub.write_parquet(raw.folder)
        for name, text in hub.texts(manifest, _shas(raw.folder)).items():
            (raw.folder / name).write_text(text, encoding="utf-8", newline="\n")


def _shas(folder: Path) -> dict[str, str]:
    found = {}
    for name in (whole.HUB, hub.PARQUET):
        if (folder / name).is_file():
            with (folder / name).open("rb") as stream:
                found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def write_perturbed(raw: Raw, format: str) -> None:
    """Write the records of the automatic perturbations into their files, one at a time."""
    _write_streamed(raw.folder, perturbed(raw, format))


def _write_streamed(folder: Path, lines: Iterable[tuple[str, dict[str, Any]]]) -> None:
    with ExitStack() as stack:
        files: dict[str, TextIO] = {}
        for name, record in lines:
            if name not in files:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                files[name] = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
            files[name].write(canonical(record) + "\n")


def perturbed_counts(raw: Raw) -> Counts:
    """How often each kind of automatic perturbation made something, nothing (and why), or broke its contract."""
    counts: Counts = {}
    path = raw.folder / automatic.LINES
    for line in records(path) if path.exists() else ():
        count(counts, line["kind"], line)
    return counts


def mixes(raw: Raw, seed: int) -> mixing.Mixes:
    """Accepted perturbations of the same original, composed: what the kinds made directly of originals takes part."""
    parts = []
    for decision in raw.decisions:
        if (decision["source"], decision["example"]) not in raw.originals:
            continue
        original = raw.example(decision["source"], decision["example"])
        kind = raw.batches[decision["batch"]]["type"]
        made = (
            outcome["example"]
            for outcome in decision["outcomes"]
            if outcome["example"] and not _makes_left_out(raw, decision, outcome)
        )
        source = decision["source"]
        parts += [(source, original, part) for one in made if (part := mixing.part(original, kind, one))]
    return mixing.compose(parts, seed)


def _makes_left_out(raw: Raw, decision: Mapping[str, Any], outcome: Mapping[str, Any]) -> bool:
    made = outcome["example"]
    return made is not None and raw.left_out(decision["source"], made["id"])


def _contradicted(raw: Raw) -> dict[tuple[str, str], dict[str, Any]]:
    """Examples whose newest decision about their answer is against them, and what people made of such.

    The decision is of a kind that says which answer is right (`TaskType.says_gold`). Reasons: "excluded", where the item
    was excluded there; "other_answer", where the answer that was accepted is not equal to the given one; "parent" for
    what was made of an example that is left out. Originals are listed only: their answers are their sources' business.
    """
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for decision in sorted(raw.decisions, key=lambda one: datetime.fromisoformat(one["made_at"])):
        if task_type(raw.batches[decision["batch"]]["type"]).says_gold:
            newest[decision["source"], decision["example"]] = decision
    found = {
        key: _contradiction(key, reason, decision["item"], key not in raw.originals)
        for key, decision in newest.items()
        if (reason := _said_against(raw, decision))
    }
    for key in raw.derived.keys() - found.keys():
        for above in _line(raw, key):
            if above in newest and above in found and above not in raw.originals:
                found[key] = _contradiction(key, "parent", found[above]["item"], True)
                break
    return dict(sorted(found.items()))


def _contradiction(key: tuple[str, str], reason: str, item: str, left_out: bool) -> dict[str, Any]:
    return {"source": key[0], "id": key[1], "reason": reason, "item": item, "left_out": left_out}


def _said_against(raw: Raw, decision: Mapping[str, Any]) -> str:
    """Why a decision about the right answer is against its example; "" where it is not, or no answer was given."""
    if decision["kind"] == "excluded":
        return "excluded"
    task, item = raw.item(decision)
    said = [task.gold(agreement.stored(task, one["response"]), item) for one in decision["outcomes"]]
    golds = [gold for gold in said if gold is not None]
    given = item.example.answers
    against = golds and given and not any(compare(gold, given).equal for gold in golds)
    return "other_answer" if against else ""


def _line(raw: Raw, key: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """What a derived example was made of, and that of, up to the original or the first that comes again."""
    seen = {key}
    while key in raw.derived:
        key = key[0], raw.derived[key]["parent"]
        if key in seen:
            return
        seen.add(key)
        yield key


def _key(record: Mapping[str, Any]) -> tuple[str, ...]:
    """By what a record is known in its file: its id, or as LFTQA-Eval has it the example and the system."""
    return (record["id"],) if "id" in record else (record["example_id"], record["model"])


def _renumbered(record: Mapping[str, Any], number: int) -> dict[str, Any]:
    name = "id" if "id" in record else "example_id"
    return {**record, name: f"{record[name]}#{number}"}


def _number(known: list[dict[str, Any]], record: dict[str, Any]) -> int:
    """Which of the different records of one id this is, from 1; a new one is added."""
    if record not in known:
        known.append(record)
    return known.index(record) + 1


def figures(raw: Raw) -> list[dict[str, Any]]:
    """Agreement of every batch from the raw responses: newest revisions, planned places."""
    found = []
    for batch in raw.batches.values():
        task = task_type(batch["type"])
        rows = [
            (record["item"], record["annotator"], agreement.stored(task, record["response"]))
            for record in raw.annotations
            if record["batch"] == batch["id"] and counts(record)
        ]
        shapes = raw.shapes(batch["id"]) if agreement.wants_shapes(task) else {}
        figures = agreement.figures(task, rows, shapes)
        found += [{"batch": batch["id"], **figure.to_dict()} for figure in figures]
    return found


def gate(raw: Raw) -> dict[str, list[dict[str, str]]]:
    """What accepted outcomes break of their contracts, as the kinds judge today: outcome id -> violations.

    Submissions were judged when they came; since then a kind or a contract may have become stricter.
    """
    found = {}
    for decision in raw.decisions:
        task, item = raw.item(decision)
        for outcome in decision["outcomes"]:
            if _is_merged(raw, outcome):
                continue
            try:
                task.read(outcome["response"], item)
            except Invalid as invalid:
                found[outcome["id"]] = [problem.to_dict() for problem in invalid.problems]
    return found


def _is_merged(raw: Raw, outcome: Mapping[str, Any]) -> bool:
    """Whether an outcome is what its kind made of several responses, and so no response of anybody's."""
    return any(raw.responses[id] != outcome["response"] for id in outcome["annotations"])


def counts(record: Mapping[str, Any]) -> bool:
    """Whether an annotation record enters agreement."""
    return record["newest"] and record["response"] is not None and not record["place"]["added"]


def write_records(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON Lines in canonical form, UTF-8 with LF."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            out.write(canonical(line) + "\n")


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a JSON Lines file; a broken line is named."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise Difference(f"{path.name}, line {number}: not JSON ({error.msg})") from None


def describe(folder: Path) -> dict[str, dict[str, Any]]:
    """sha256, size in bytes and lines of every file of the folder but the manifest, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != MANIFEST:
            with path.open("rb") as stream:
                sha = hashlib.file_digest(stream, "sha256").hexdigest()
                stream.seek(0)
                lines = sum(block.count(b"\n") for block in iter(lambda s=stream: s.read(1 << 20), b""))  # type: ignore[misc]
            name = path.relative_to(folder).as_posix()
            found[name] = {"sha256": sha, "bytes": path.stat().st_size, "records": lines}
    return found


# -- verifying --------------------------------------------------------------------------------------


def verify(folder: Path) -> dict[str, int]:
    """Recompute everything in a release that follows from something else in it.

    Returns what was checked; raises `Difference` at the first fault. What follows from nothing (the
    name of a batch, say) is vouched for by the digest of the manifest, which the platform shows.
    """
    try:
        return _verify(folder)
    except (
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        LookupError,
        StopIteration,
        ArithmeticError,
        RecursionError,
        OSError,
    ) as error:
        # A record without the fields it must have; where it is, the last frame's locals would say, and no reader.
        raise Difference(
            f"{folder}: a record does not have the form of a release ({_said(error)})"
        ) from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _verify(folder: Path) -> dict[str, int]:
    manifest = read_manifest(folder)
    _check_files(folder, manifest)
    raw = load(folder, manifest["batches"])
    _check_manifest(raw, manifest)
    for sha, table in raw.tables.items():
        if table.digest() != sha:
            raise Difference(f"sources.jsonl: the table {sha} has the digest {table.digest()}")
    by_id = {record["id"]: record for record in raw.annotations}
    waived = _check_waivers(raw, manifest)
    for record in raw.annotations:
        if record["id"] not in waived:
            _check_annotation(raw, record)
    replayed = sum(_check_decision(raw, decision, by_id, waived) for decision in raw.decisions)
    _check_tries(raw)
    _check_benchmark(folder, raw, manifest)
    _check_figures(raw, manifest)
    return {
        "files": len(manifest["files"]),
        "annotations": len(raw.annotations),
        "decisions": len(raw.decisions),
        "replayed": replayed,
        "figures": len(manifest["agreement"]),
    }


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a release folder. Raises Difference where the folder is no release of this layout."""
    path = folder / MANIFEST
    if not path.is_file():
        raise Difference(f"{folder}: there is no {MANIFEST}; this is not a release")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Difference(f"{MANIFEST}: not JSON ({error})") from None
    if not isinstance(manifest, dict) or manifest.get("layout") != LAYOUT:
        raise Difference(f"{MANIFEST}: layout {LAYOUT} is expected")
    return manifest


KEYS = frozenset(
    (
        *("layout", "format", "project", "sources", "batches", "guidelines", "counts", "agreement"),
        *("mix", "automatic", "waivers", "contradicted", "files"),
    )
)


def _check_manifest(raw: Raw, manifest: Mapping[str, Any]) -> None:
    """What the manifest repeats or sums up, against the records."""
    if manifest.get("format") not in FORMATS:
        raise Difference(f"{MANIFEST}: there is no format {manifest.get('format')!r}")
    _check_once(raw)
    for key in sorted(KEYS ^ manifest.keys()):
        raise Difference(
            f"{MANIFEST}: the field {key!r} is {'missing' if key in KEYS else 'not one of a manifest'}"
        )
    if manifest["sources"] != [record for _, record in sorted(raw.sources.items())]:
        raise Difference(f"{MANIFEST}: the sources differ from those in sources.jsonl")
    for name, found in counted(raw).items():
        if manifest["counts"].get(name) != found:
            said = manifest["counts"].get(name)
            raise Difference(f"{MANIFEST}: counts.{name} is {said!r}, the records give {found}")
    for name in manifest["counts"].keys() - counted(raw).keys():
        raise Difference(f"{MANIFEST}: counts.{name} follows from nothing")
    for batch in manifest["batches"]:
        if digest(batch["settings"]) != batch["settings_digest"]:
            raise Difference(
                f"{MANIFEST}: the settings of batch {batch['name']!r} are not those of their digest"
            )
    texts = {(entry["type"], entry["number"]): digest(entry["text"]) for entry in manifest["guidelines"]}
    for record in raw.annotations:
        batch, under = raw.batches[record["batch"]], record["guidelines"]
        if texts.get((batch["type"], under["number"])) != under["digest"]:
            raise Difference(
                f"{MANIFEST}: the guidelines {under['number']} of {batch['type']} are not those that "
                f"annotation {record['id']} was made under"
            )
        if not record["place"]["added"] and record["place"]["number"] > batch["overlap"]:
            raise Difference(
                f"annotations.jsonl: {record['id']} sits on a place beyond the overlap of its batch"
            )


def _check_once(raw: Raw) -> None:
    """Ids stand once, an item is decided once, and of each person's revisions of an item the last is the newest."""
    ids = Counter(record["id"] for record in raw.annotations)
    items = Counter(decision["item"] for decision in raw.decisions)
    for what, counts_of in (("annotations.jsonl: annotation", ids), ("decisions.jsonl: item", items)):
        for id, times in counts_of.items():
            if times > 1:
                raise Difference(f"{what} {id} stands {times} times")
    last: dict[tuple[str, str], int] = {}
    for record in raw.annotations:
        key = (record["item"], record["annotator"])
        last[key] = max(last.get(key, 0), record["revision"])
    for record in raw.annotations:
        if record["newest"] != (record["revision"] == last[record["item"], record["annotator"]]):
            raise Difference(f"annotations.jsonl: {record['id']}: 'newest' does not fit its revision")


def counted(raw: Raw) -> dict[str, int]:
    """How much of what there is: the manifest's counts."""
    decisions = raw.decisions
    return {
        "annotations": len(raw.annotations),
        "annotators": len({record["annotator"] for record in raw.annotations}),
        "simulated_annotators": len({r["annotator"] for r in raw.annotations if r["simulated"]}),
        "items": len({(record["batch"], record["item"]) for record in raw.annotations}),
        "accepted": sum(decision["kind"] == "accepted" for decision in decisions),
        "excluded": sum(decision["kind"] == "excluded" for decision in decisions),
        "adjudicated": sum(decision["by"] != "resolve" for decision in decisions),
        "outcomes": sum(len(decision["outcomes"]) for decision in decisions),
        "contradicted": len(raw.contradicted),
    }


def _check_files(folder: Path, manifest: Mapping[str, Any]) -> None:
    there = describe(folder)
    for name, claimed in manifest["files"].items():
        if name not in there:
            raise Difference(f"{name}: named in the manifest, but not there")
        if there[name] != claimed:
            key = next(key for key in ("bytes", "records", "sha256") if there[name][key] != claimed[key])
            raise Difference(f"{name}: {key} is {there[name][key]}, the manifest says {claimed[key]}")
    for name in there.keys() - manifest["files"].keys():
        raise Difference(f"{name}: not named in the manifest")
    for name in RAW:
        if name not in there:
            raise Difference(f"{name}: missing")


def _check_tries(raw: Raw) -> None:
    """Every verdict follows again from the raw answers and the gold answers beside it.

    Whether a program agreed with the model is not in the files: a verdict that puts the gold answer in doubt stands.
    """
    path = raw.folder / TRIES
    for record in records(path) if path.exists() else ():
        if record["annotation"] is not None and record["annotation"] not in raw.responses:
            raise Difference(f"{TRIES}: try {record['id']} is of an annotation that is in no record")
        for said in record["verdicts"]:
            found = {
                name: verdicts.judge(record[name]["answers"], said["gold"][name], record[name]["text"])
                if record[name] is not None and said["gold"][name]
                else None
                for name in ("original", "perturbed")
            }
            for name, one in found.items():
                if (one.to_dict() if one else None) != said["judgements"][name]:
                    raise Difference(f"{TRIES}: try {record['id']} judges the {name} answer otherwise")
            again = verdicts.verdict(found["original"], found["perturbed"], failed=bool(record["error"]))
            if said["verdict"] not in (again, "gold_suspect"):
                raise Difference(
                    f"{TRIES}: try {record['id']} is {again} by its answers, not {said['verdict']}"
                )


def _check_annotation(raw: Raw, record: Mapping[str, Any]) -> None:
    if record["response"] is None:
        return
    task, item = raw.item(record)
    try:
        again = task.envelope(task.read(record["response"], item), item)
    except ValueError as error:
        raise Difference(f"annotations.jsonl: {record['id']}: {error}") from None
    except Exception as error:
        raise Difference(f"annotations.jsonl: {record['id']} breaks its contract: {error}") from None
    if canonical(again) != canonical(_as_of_now(task, record["response"])):
        raise Difference(f"annotations.jsonl: {record['id']}: the stored response reads back differently")


def _as_of_now(task: TaskType, stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored response in the kind's present version; what an older one did not know is what `upgrade` says."""
    if stored["version"] == task.version:
        return stored
    return {**stored, "version": task.version, "data": task.upgrade(stored["data"], stored["version"])}


def _check_waivers(raw: Raw, manifest: Mapping[str, Any]) -> set[str]:
    """Every outcome that breaks its contract is waived with a reason, and nothing else is.

    Returns the ids of these outcomes and of the annotations that they rest on.
    """
    broken = gate(raw)
    claimed = {entry["outcome"]: entry for entry in manifest["waivers"]}
    for id in sorted(broken.keys() | claimed.keys()):
        if id not in claimed:
            codes = ", ".join(problem["code"] for problem in broken[id])
            raise Difference(f"decisions.jsonl: outcome {id} breaks its contract ({codes}) and is not waived")
        if broken.get(id) != claimed[id]["violations"] or not claimed[id]["reason"].strip():
            raise Difference(f"{MANIFEST}: the waiver of outcome {id} does not fit what it breaks")
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
    replayed = 0
    supports = []
    for outcome in decision["outcomes"]:
        decide = task.resolve if decision["by"] == "resolve" else task.uphold
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
            made = merged.outcomes if isinstance(merged, Accepted) else ()
            if [task.envelope(one.response, item) for one in made] != [_as_of_now(task, stored)]:
                id = next(id for id in outcome["annotations"] if annotations[id]["response"] != stored)
                raise Difference(f"{where}: annotation {id} says something else than the outcome it supports")
            return made[0].response
        return task.read(stored, item)
    except Difference:
        raise
    except Exception as error:
        raise Difference(f"{where}: an outcome breaks its contract: {error}") from None


def _check_resolution(
    raw: Raw, decision: Mapping[str, Any], task: TaskType, item: Item, supports: list[set[str]], where: str
) -> None:
    """What the kind decides from the raw responses must be what was decided."""
    mine = [
        r
        for r in raw.annotations
        if r["item"] == decision["item"] and r["newest"] and r["response"] is not None
    ]
    mine.sort(key=lambda record: record["place"]["number"])
    resolution = task.resolve([agreement.stored(task, record["response"]) for record in mine], item)
    if not isinstance(resolution, Accepted):
        raise Difference(f"{where}: the responses do not decide it ({resolution.reason})")
    again = [{mine[index]["id"] for index in outcome.by} for outcome in resolution.outcomes]
    if again != supports or resolution.reason != decision["reason"]:
        raise Difference(f"{where}: the responses decide it otherwise")


def _check_benchmark(folder: Path, raw: Raw, manifest: Mapping[str, Any]) -> None:
    seed = manifest["mix"]["seed"] if manifest["mix"] is not None else None
    if manifest["contradicted"] != (against := list(raw.contradicted.values())):
        raise Difference(
            f"{MANIFEST}: contradicted is {manifest['contradicted']}, the decisions give {against}"
        )
    files = benchmark(raw, manifest["format"], seed)
    if seed is not None and manifest["mix"] != (made := mixes(raw, seed).to_dict(seed)):
        raise Difference(f"{MANIFEST}: the mix is {manifest['mix']}, the decisions give {made}")
    more = _check_perturbed(folder, raw, manifest) | _check_whole(folder, raw, manifest)
    for name in manifest["files"].keys() - files.keys() - more - {*RAW, automatic.LINES, TRIES}:
        raise Difference(f"{name}: does not follow from the decisions")
    for name, lines in files.items():
        path = folder / name
        if not path.is_file():
            raise Difference(f"{name}: follows from the decisions, but is missing")
        there = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, start=1):
            if number > len(there) or there[number - 1] != canonical(line):
                raise Difference(
                    f"{name}, line {number}: record {_key(line)[0]!r} differs from what the decisions give"
                )
        if len(there) - 1 != len(lines):
            raise Difference(f"{name}: {len(there) - 1} records; the decisions give {len(lines)}")


def _check_perturbed(folder: Path, raw: Raw, manifest: Mapping[str, Any]) -> set[str]:
    """Every automatic perturbation made again, its line, its records and the counts compared. Returns the files' names."""
    claimed = manifest["automatic"]
    if (claimed is None) == (folder / automatic.LINES).exists():
        raise Difference(f"{MANIFEST}: 'automatic' and {automatic.LINES} do not go together")
    if claimed is None:
        return set()
    for number, (line, original) in enumerate(automatic_lines(raw), start=1):
        once_more = automatic.again(line, original).outcome()
        if any(line.get(key) != once_more.get(key) for key in ("digest", "no_op", "refused")):
            where = f"{automatic.LINES}, line {number}: {line['kind']} of {line['original']!r}"
            raise Difference(f"{where} with the seed {line['seed']} gives {once_more}")
    if claimed["counts"] != (counts := perturbed_counts(raw)):
        raise Difference(f"{MANIFEST}: automatic.counts is {claimed['counts']}, the lines give {counts}")
    return _check_streamed(folder, perturbed(raw, manifest["format"]), "perturbations")


def _check_whole(folder: Path, raw: Raw, manifest: Mapping[str, Any]) -> set[str]:
    """The records of whole examples, and what lies beside them, made again. Returns the files' names."""
    names = _check_streamed(folder, examples_whole(raw, manifest["format"]), "examples")
    if manifest["format"] != "hf":
        return names
    shas = _shas(folder)
    for name, text in hub.texts(manifest, shas).items():
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text:
            raise Difference(f"{name}: is not what the manifest and the records give")
        names.add(name)
    if hub.PARQUET in shas and hub.can_write_parquet() and (number := hub.parquet_differs(folder)):
        raise Difference(f"{hub.PARQUET}: record {number} differs from line {number} of {whole.HUB}")
    return names | shas.keys()


def _check_streamed(folder: Path, lines: Iterable[tuple[str, dict[str, Any]]], what: str) -> set[str]:
    """Every file that follows from records made again, line by line. Returns the files' names."""
    with ExitStack() as stack:
        files: dict[str, Iterator[str]] = {}
        for name, record in lines:
            if name not in files:
                if not (folder / name).is_file():
                    raise Difference(f"{name}: follows from the {what}, but is missing")
                files[name] = iter(stack.enter_context((folder / name).open(encoding="utf-8", newline="\n")))
            if next(files[name], "") != canonical(record) + "\n":
                said = record.get("id", "")
                raise Difference(f"{name}: record {said!r} differs from what the {what} give")
        for name, left in files.items():
            if next(left, ""):
                raise Difference(f"{name}: holds more records than the {what} give")
        return set(files)


def _check_figures(raw: Raw, manifest: Mapping[str, Any]) -> None:
    again = figures(raw)
    if len(again) != len(manifest["agreement"]):
        raise Difference(
            f"{MANIFEST}: {len(manifest['agreement'])} agreement figures, the responses give {len(again)}"
        )
    for claimed, figure in zip(manifest["agreement"], again, strict=True):
        for key, value in figure.items():
            if claimed.get(key) != value:
                name = f"{figure['statistic']} of {figure['measure']} in batch {figure['batch']}"
                raise Difference(
                    f"{MANIFEST}: {name}: {key} is {claimed.get(key)!r}, the responses give {value!r}"
                )
    _second_opinion(raw, again)


def _second_opinion(raw: Raw, again: list[dict[str, Any]]) -> None:
    """The same values from the packages krippendorff and statsmodels, where they have the measure."""
    from tableqa.agreement import second_opinion

    for figure in again:
        task = task_type(raw.batches[figure["batch"]]["type"])
        measure = next(measure for measure in task.measures if measure.name == figure["measure"])
        rows = [
            (record["item"], record["annotator"], agreement.stored(task, record["response"]))
            for record in raw.annotations
            if record["batch"] == figure["batch"] and counts(record)
        ]
        order = (
            measure.order if measure.order and figure["statistic"] == "krippendorff_alpha_ordinal" else None
        )
        if measure.level == "cells":
            continue  # no other package takes the expected disagreement within each table
        other = second_opinion(agreement.table(measure, rows), figure["statistic"], order=order)
        if other is not None and (figure["value"] is None or abs(other - figure["value"]) > 2e-6):
            name = f"{figure['statistic']} in batch {figure['batch']}"
            raise Difference(
                f"{MANIFEST}: {name} is {figure['value']!r}; an independent package says {other!r}"
            )


def _path(part: str, source: Mapping[str, Any]) -> str:
    split = source["split"]
    named = part.replace("_{split}", f"_{split}" if split else "").replace("{reader}", source["reader"])
    return named.replace("{source}", quote(source["name"], safe=" ()+,@")) + ".json"
