"""The benchmark files of a release, which follow from its raw records: `benchmark_records` makes their records, one at a
time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import tableqa
from annotation.quality import compared_responses
from annotation.releases import mixes, provenance
from annotation.releases.file_pool import OpenFiles
from annotation.releases.freb_tqa_parts import PartThree
from annotation.releases.raw_records import TRAINING, Raw
from tableqa.core.canonical_json import SharedObject, canonical
from tableqa.core.disk_collections import Shelf
from tableqa.data.positional_ids import with_positional_ids
from tableqa.perturbations.mixes import Part
from tableqa.releases import perturbation_records
from tableqa.releases.release_records import RAW, RULES_OF_HISTORY, automatic_lines
from tableqa.writers import hub, whole_examples
from tableqa.writers.whole_examples import RESPONSES
from tasks.contract import InvalidResponse, Item, TaskType

FORMATS = ("askew", "freb_tqa", "robut", "lftqa", *whole_examples.FORMATS)
TRIES = "tries.jsonl"
"""What models in the loop answered, where there were any."""
ERRATA = "errata.jsonl"
"""Examples of earlier releases whose answer people contradicted later, if there are any."""
RECORDS = frozenset((*RAW, TRIES, perturbation_records.LINES, provenance.PROPOSALS, ERRATA))
ARRAYS = ("robut", "lftqa")
"""Formats whose publications hold their records in one JSON array a file; all others have one a line."""
OWN_FORMATS = frozenset(("askew", "torr", "suc"))
"""Formats of Askew's own: no publication names their files, so JSON Lines end in `.jsonl`."""
_RULES_OF_ENDINGS = 6
RULES_OF_OWN_IDS = 9
_SINCE = {"freb_tqa": 4, "hf": RULES_OF_HISTORY}
"""The rules from which on files of a format are as here. Those before have the checksum of the manifest only."""


def sorted_formats(formats: Iterable[str]) -> list[str]:
    """The formats in the order of `FORMATS`, each once: the order in which they were named changes no byte."""
    named = set(formats)
    return [format for format in FORMATS if format in named]


def folders(formats: Sequence[str]) -> dict[str, str]:
    """Where the files of each format lie: format -> "hf/", or "" where there is only one format."""
    return {format: f"{format}/" if len(formats) > 1 else "" for format in formats}


def is_made_again(format: str, rules: int) -> bool:
    """Whether the benchmark files of a format follow from the records by these rules of a release."""
    return rules >= _SINCE.get(format, 1)


# -- deriving ---------------------------------------------------------------------------------------


def records_of_formats(
    raw: Raw, formats: Sequence[str], mix: int | None = None, gate: Gate | None = None
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """(format, path, what it follows from, record) of every benchmark file in every format (`benchmark_records`)."""
    for index, (format, folder) in enumerate(folders(formats).items()):
        if not is_made_again(format, raw.rules):
            continue
        # All outcomes are judged on the way of the first format.
        for what, export in benchmark_records(raw, format, mix, gate if index == 0 else None):
            yield format, folder + export.path, what, export.record
        if gate is not None and gate.shut:
            return


def benchmark_records(
    raw: Raw, format: str, mix: int | None = None, gate: Gate | None = None
) -> Iterator[tuple[str, Export]]:
    """(what it follows from, record) of every record of the benchmark files, in their order; one at a time.

    First what the accepted decisions give, then mixes where there is a seed for them, automatic perturbations, and the
    examples of the formats that take them of any origin. Examples that people contradicted are left out
    (`Raw.contradicted`); contradictions have their record.

    Where a file has several accepted edits of one example, the second gets the id `ID#2` in all files, so that an edit
    and its original keep one id.

    With a `gate`, outcomes are judged on their way: it is over when one of them does not pass.
    """
    numbering = _RecordNumbers(raw.rules >= RULES_OF_OWN_IDS)
    yield from ((DECIDED, export) for export in accepted_records(raw, format, gate, numbering))
    if gate is not None and gate.shut:
        return
    if mix is not None:
        for part, source, record in mixes.records(compose_mixes(raw, mix), format):
            yield DECIDED, Export(_path(part, raw, source, format), record, source, record["id"])
    for exports in _automatic_exports(raw, format):
        yield from ((PERTURBED, export) for export in numbering.once(exports))
    yield from ((WHOLE, export) for export in _examples_whole(raw, format))
    if raw.purpose == TRAINING:
        for parts, origin in provenance.training(raw, format):
            exports = [_export(raw, format, part, record, origin["name"], "") for part, record in parts]
            yield from ((PROPOSED, export) for export in numbering.once(exports))


DECIDED, PERTURBED, WHOLE, PROPOSED = "decisions", "perturbations", "examples", "proposals"


class Export(NamedTuple):
    """A record of a benchmark file, and the example that it is about; "" for a proposal, which is none."""

    path: str
    record: dict[str, Any]
    source: str
    example: str


class _RecordNumbers:
    """Which records stand in which file, by their ids: one that comes again is left out, another of its id is numbered.

    With `by_source` (rules 9), an id that another source has as well is not numbered in a file of several sources.
    """

    def __init__(self, by_source: bool) -> None:
        self._by_source = by_source
        self._seen: Shelf[tuple[str, ...], tuple[str, ...]] = Shelf()
        self._written: Shelf[tuple[str, ...], int] = Shelf()

    def once(self, outcome_exports: Iterable[Export]) -> Iterator[Export]:
        """What is to be written of the records that one outcome or perturbation gives."""
        numbers: dict[tuple[str, ...], int] = {}
        exports = [(export, SharedObject(export.record)) for export in outcome_exports]
        for export, record in exports:
            key = _key(record)
            numbers[key] = max(self._version(export, record), numbers.get(key, 1))
        for export, record in exports:
            key = _key(record)
            numbered_record = record if numbers[key] == 1 else _renumbered(record, numbers[key])
            if self._written.add(self._path(export, numbered_record), 1):
                yield export._replace(record=numbered_record)

    def _path(self, export: Export, record: Mapping[str, Any]) -> tuple[str, ...]:
        return export.path, export.source if self._by_source else "", *_key(record)

    def _version(self, export: Export, record: SharedObject) -> int:
        """Which of the different records of one id this is, from 1; a new one is noted."""
        record_key, sha = self._path(export, record), hashlib.sha256(record.text.encode("utf-8")).hexdigest()
        if self._seen.add(record_key, (sha,)):
            return 1
        digests = self._seen[record_key]
        if sha not in digests:
            digests = self._seen[record_key] = (*digests, sha)
        return digests.index(sha) + 1


class Gate:
    """What accepted outcomes break of their contracts, as the kinds judge today: outcome id -> violations.

    Submissions were judged when they came; since then a kind or a contract may have become stricter. What breaks nothing,
    or is waived, passes. With the first that does not, the gate is shut: nothing is made of any outcome then, and the rest
    is judged only.
    """

    def __init__(self, waived: Collection[str] = ()) -> None:
        self.broken: dict[str, list[dict[str, str]]] = {}
        self._waived = waived
        self.shut = False

    def judge(self, raw: Raw, task: TaskType, item: Item, outcome: Mapping[str, Any]) -> None:
        """Note what an outcome breaks. What its kind made of several responses is no response of any person's."""
        if any(raw.responses[id] != outcome["response"] for id in outcome["annotations"]):
            return
        try:
            task.read(outcome["response"], item)
        except InvalidResponse as invalid:
            self.broken[outcome["id"]] = [problem.to_dict() for problem in invalid.problems]
            self.shut = self.shut or outcome["id"] not in self._waived


def accepted_records(
    raw: Raw, format: str, gate: Gate | None = None, numbering: _RecordNumbers | None = None
) -> Iterator[Export]:
    """The records that the accepted outcomes give, numbered; none for part three once the gate is shut."""
    numbering = numbering or _RecordNumbers(raw.rules >= RULES_OF_OWN_IDS)
    part_three = PartThree()
    for exports in _accepted_exports(raw, format, gate):
        for export in numbering.once(exports):
            if format != "freb_tqa" or not part_three.take(*export):
                yield export
    if gate is None or not gate.shut:
        yield from (Export(*fields) for fields in part_three.records())


def _accepted_exports(raw: Raw, format: str, gate: Gate | None = None) -> Iterator[list[Export]]:
    """What each accepted outcome gives, in the order of the decisions; each goes through the gate, where there is one."""
    for decision in raw.decisions:
        task, item = raw.item(decision)
        if gate is not None:
            for outcome in decision["outcomes"]:
                gate.judge(raw, task, item, outcome)
            if gate.shut:
                continue
        source, shown_id = decision["source"], decision["example"]
        if (source, shown_id) in raw.excluded and not task.says_gold:
            continue
        for outcome in decision["outcomes"]:
            if _makes_left_out(raw, decision, outcome):
                continue
            response = compared_responses.restore_response(task, outcome["response"])
            example_id = shown_id if outcome["example"] is None else outcome["example"]["id"]
            yield [
                _export(
                    raw,
                    format,
                    exported.part,
                    exported.record,
                    source,
                    shown_id if exported.is_of_shown else example_id,
                )
                for exported in task.export(format, item, response, task.perturb(item, response))
            ]


def _automatic_exports(raw: Raw, format: str) -> Iterator[list[Export]]:
    """What each automatic perturbation gives, in the order of the raw lines."""
    for line, original in automatic_lines(raw):
        if "digest" not in line:
            continue
        source, id = line["source"], perturbation_records.id_of(line)
        if (source, id) in raw.excluded:
            continue
        instance = perturbation_records.recreate(line, original)
        cells = [(row, column) for row, column in line.get("cells", ())]
        records = perturbation_records.records(format, raw.datasets[source], original, instance, cells)
        yield [
            _export(raw, format, part, record, source, id if record["id"] == id else original.id)
            for part, record in records
        ]


def _export(raw: Raw, format: str, part: str, record: dict[str, Any], source: str, example: str) -> Export:
    """A record as the rules of the release have it.

    From 9 on, records of Askew's own format have the id of their example, and its source beside it; a field "source" in a
    task type of the project stays.
    """
    path = _path(part, raw, source, format)
    if raw.rules >= RULES_OF_OWN_IDS and format == "askew":
        record = {"source": source, **record, "id": example or record["id"]}
    return Export(path, record, source, example)


def _examples_whole(raw: Raw, format: str) -> Iterator[Export]:
    """What each example of the release gives, in the formats that take examples of any origin."""
    if format in whole_examples.FORMATS:
        for line in _every_example(raw):
            source = line.source["name"]
            for part, record in whole_examples.records(format, line):
                path = part if part.endswith(".jsonl") else _path(part, raw, source, format)
                yield Export(path, record, source, line.example.id)
    if format == "hf":
        for config, raw_lines in ((RESPONSES, raw.annotations), (whole_examples.DECISIONS, raw.decisions)):
            for raw_line in raw_lines:
                record = (
                    whole_examples.annotation_record(raw_line, raw.batches[raw_line["batch"]]["type"])
                    if config == RESPONSES
                    else whole_examples.decision_record(raw_line)
                )
                path = whole_examples.config_file(config, raw.sources[raw_line["source"]]["split"])
                yield Export(path, record, raw_line["source"], raw_line["example"])


def _every_example(raw: Raw) -> Iterator[whole_examples.Line]:
    """Originals, then what people made of them, then what programs did, one at a time."""

    def accepted_responses(key: tuple[str, str]) -> list[dict[str, Any]]:
        outcomes = chain.from_iterable(entry["outcomes"] for entry in raw.decisions_about(*key))
        responses = (entry["response"] for entry in outcomes if entry["example"] is None)
        return [{name: response[name] for name in ("type", "variant", "data")} for response in responses]

    for key in raw.originals:
        example = raw.example(*key)
        yield whole_examples.Line(raw.sources[key[0]], example, decided=accepted_responses(key))
    for key, record in raw.derived.items():
        if key in raw.excluded:
            continue
        yield whole_examples.Line(
            raw.sources[key[0]],
            with_positional_ids(raw.example(*key)),
            original=record["parent"],
            perturbation=record["perturbation"],
            operations=record["operations"],
            task_type=raw.task_type_of(*key),
            decided=accepted_responses(key),
        )
    for line, original in automatic_lines(raw):
        if "digest" in line and (line["source"], perturbation_records.id_of(line)) not in raw.excluded:
            instance = perturbation_records.recreate(line, original)
            example = with_positional_ids(replace(instance.perturbed.example, id=instance.id_of(original.id)))
            yield whole_examples.Line(
                raw.sources[line["source"]],
                example,
                original=original.id,
                perturbation=instance.kind,
                seed=instance.seed,
                operations=[operation.to_dict() for operation in instance.perturbed.operations],
            )


def write_derived(raw: Raw, formats: Sequence[str], mix: int | None = None, gate: Gate | None = None) -> None:
    """Write the benchmark files, one record at a time; as far as the gate lets them through."""
    with closing(OpenFiles()) as files:
        endings: dict[Path, str] = {}
        for format, name, _, record in records_of_formats(raw, formats, mix, gate):
            path = raw.folder / name
            opening, parting, ending = ("[", ",\n", "]\n") if format in ARRAYS else ("", "\n", "\n")
            if path not in endings:
                for parent in reversed(
                    Path(name).parents[:-1]
                ):  # never the release's own folder, see `write_with_offsets`
                    (raw.folder / parent).mkdir(exist_ok=True)
            files.write(path, (parting if path in endings else opening) + canonical(record))
            endings[path] = ending
        for path, ending in endings.items():
            files.write(path, ending)


def is_benchmark(name: str) -> bool:
    """Whether a file of a release is one of the benchmark, and neither raw records nor about them."""
    return name not in {*RECORDS, hub.STATEMENT, hub.CITATION}


def compose_mixes(raw: Raw, seed: int) -> Iterator[mixes.Composed]:
    """Accepted perturbations of the same original, composed: what the kinds made directly of originals takes part."""
    return mixes.compose(_mixable(raw), seed)


def _mixable(raw: Raw) -> Iterator[mixes.Group]:
    originals: Shelf[tuple[str, str], int] = Shelf()
    for decision in raw.decisions:
        key = decision["source"], decision["example"]
        if key in raw.originals and key not in originals and _parts(raw, decision, raw.example(*key)):
            originals[key] = 1
    for key in originals:
        original = raw.example(*key)
        parts = [part for record in raw.decisions_about(*key) for part in _parts(raw, record, original)]
        yield key[0], original, parts


def _parts(raw: Raw, decision: Mapping[str, Any], original: tableqa.Example) -> list[Part]:
    kind = raw.batches[decision["batch"]]["type"]
    outcomes = (
        outcome["example"]
        for outcome in decision["outcomes"]
        if outcome["example"] and not _makes_left_out(raw, decision, outcome)
    )
    return [part for derived_example in outcomes if (part := mixes.part(original, kind, derived_example))]


def _makes_left_out(raw: Raw, decision: Mapping[str, Any], outcome: Mapping[str, Any]) -> bool:
    example = outcome["example"]
    return example is not None and (decision["source"], example["id"]) in raw.excluded


def _key(record: Mapping[str, Any]) -> tuple[str, ...]:
    """By what a record is known in its file: its id, or as LFTQA-Eval has it the example and the system."""
    return (record["id"],) if "id" in record else (record["example_id"], record["model"])


def _renumbered(record: Mapping[str, Any], suffix: int) -> dict[str, Any]:
    name = "id" if "id" in record else "example_id"
    return {**record, name: f"{record[name]}#{suffix}"}


def _path(part: str, raw: Raw, name: str, format: str) -> str:
    split = raw.sources[name]["split"]
    # The name of a source may hold braces: what stands for it is looked for in the part alone.
    placeholders = {
        "_{split}": f"_{split}" if split else "",
        "{reader}": raw.datasets[name],
        "{source}": name,
    }
    return _PLACES.sub(lambda match: _as_file_name(placeholders[match[0]]), part) + _ending(raw, format)


def _ending(raw: Raw, format: str) -> str:
    """How the names of a format's files end: papers name theirs `.json`, also where these are JSON Lines."""
    return ".jsonl" if format in OWN_FORMATS and raw.rules >= _RULES_OF_ENDINGS else ".json"


def _as_file_name(name: str) -> str:
    """A name of which a file or folder can be called, and which leads nowhere else."""
    quoted = quote(name, safe=" ()+,@")
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")


_PLACES = re.compile(r"_\{split\}|\{reader\}|\{source\}")
