"""The runnable benchmark of a release in the format hf: its items with prompts, and the files of harnesses.

    write(folder, raw, manifest)   beside the records of hf
    check(folder, raw, manifest)   every file made again and compared; no code of the release is run

The items are those of an evaluation (`model_evaluation.queries.instances`), without sources whose answers are sentences. A
release without gold answers has no files of this kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from annotation.releases.file_pool import OpenFiles
from annotation.releases.record_files import Difference
from tableqa.core.canonical_json import canonical
from tableqa.core.release_rules import RULES
from tableqa.writers import harness

if TYPE_CHECKING:
    from annotation.releases.manifest import Manifest
    from annotation.releases.raw_records import Raw
    from tableqa.scoring.matching import Instance

MATCH = "askew"
DEFAULTS = {"design": harness.DESIGNS[0], "serialisation": "markdown"}
"""How prompts are written if a release does not say."""


def write(folder: Path, raw: Raw, manifest: Manifest) -> None:
    """Write the files below a folder: items one at a time, then what follows from them. Nothing without gold answers."""
    from tableqa.scoring.benchmark_folder import metrics_of

    if manifest.rules < harness.SINCE:
        return
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    baselines: Counter[tuple[str, str]] = Counter()
    kind_of: dict[tuple[str, str], str] = {}
    sources: set[str] = set()
    with closing(OpenFiles()) as files:
        for name, instance, record in _items(raw, manifest):
            path = folder / harness.FOLDER / name
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write(path, canonical(record) + "\n")
            counts[name] += 1
            if name != harness.ITEMS[2]:
                kinds[instance.kind] += 1
                kind_of[instance.source, instance.id] = instance.kind
                baselines[instance.source, instance.baseline] += instance.id != instance.baseline
                sources.add(instance.source)
    if not kinds:
        return
    compared: Counter[str] = Counter()
    for key, count in baselines.items():
        compared[kind_of[key]] += count
    from predictor import prompts
    from tableqa.writers import suc

    facts = {
        "name": f"askew_{manifest.project}",
        "rules": manifest.rules,
        "match": MATCH,
        **{name: manifest.prompts[name] for name in DEFAULTS},
        "instructions": {"json": prompts.TASK, "plain": suc.INSTRUCTION},
        "kinds": sorted(kinds, key=lambda kind: (-compared[kind], kind)),
        "sources": sorted(sources),
    }
    metrics = {kind: metrics_of(kind) for kind in kinds}
    text_files = {name: text.encode() for name, text in harness.texts(facts, metrics, counts).items()}
    code_files = {harness.FOLDER + name: data for name, data in harness.code().items()}
    for name, data in (text_files | code_files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _items(raw: Raw, manifest: Manifest) -> Iterator[tuple[str, Instance, dict[str, Any]]]:
    """(file, instance, line) of each item and demonstration, in the order of an evaluation."""
    from annotation.releases.file_ids import Benchmark
    from annotation.releases.model_evaluation import queries
    from predictor import prompts
    from tableqa.data.answers import are_sentences
    from tableqa.scoring.benchmark_folder import item_of

    answers: dict[str, list[tuple[str, ...]]] = {}
    for source, id in raw.originals:
        answers.setdefault(source, []).append(raw.example(source, id).answers)
    eligible = {source: lists for source, lists in answers.items() if not are_sentences(lists)}
    if not any(any(lists) for lists in eligible.values()):
        return
    demonstrated = manifest.prompts.get("demonstrations")
    one_answer, several_answers, demonstrations = harness.ITEMS
    for instance, example in queries.instances(Benchmark(raw, ["hf"], manifest)):
        if instance.source not in eligible:
            continue
        is_demonstration = demonstrated is not None and raw.sources[instance.source]["split"] == demonstrated
        if is_demonstration and instance.id != instance.question:
            continue
        messages, _ = prompts.asking_for_answers(example, manifest.prompts["serialisation"])
        record = {**item_of(instance), "prompt": messages[-1]["content"]}
        if is_demonstration:
            yield demonstrations, instance, record
        elif len(instance.answers) == 1 and "alternatives" not in record:
            yield one_answer, instance, {**record, "target": instance.answers[0]}
        else:
            yield several_answers, instance, record


def check(folder: Path, raw: Raw, manifest: Manifest) -> set[str]:
    """Compare every file with what follows from the records, byte by byte. Returns the names of the files. Difference."""
    names = {
        path.relative_to(folder).as_posix() for path in (folder / harness.FOLDER).rglob("*") if path.is_file()
    }
    names |= {harness.EVAL} & {path.name for path in folder.iterdir()}
    if manifest.rules < harness.SINCE:
        return set()
    with TemporaryDirectory() as temporary:
        expected = Path(temporary)
        write(expected, raw, manifest)
        expected_names = {
            path.relative_to(expected).as_posix() for path in expected.rglob("*") if path.is_file()
        }
        code = _code(names)
        if manifest.rules < RULES and expected_names:
            # The code is that of another version of the library, of which the digest alone is here.
            files = {name.removeprefix(harness.FOLDER): (folder / name).read_bytes() for name in sorted(code)}
            if harness.digest(files) != harness.recorded_digests()[manifest.rules]:
                raise Difference(
                    f"{harness.FOLDER}: the code is not that of releases of rules {manifest.rules}"
                )
            expected_names = expected_names - _code(expected_names) | code
        else:
            code = set()
        for name in sorted(names | expected_names):
            if name not in names:
                raise Difference(f"{name}: missing, although the records require it")
            if name not in expected_names:
                raise Difference(f"{name}: does not match the decisions")
            if name not in code and (folder / name).read_bytes() != (expected / name).read_bytes():
                raise Difference(f"{name}: does not match the manifest and the records")
    return names


def _code(names: set[str]) -> set[str]:
    return {name for name in names if name.endswith(".py")}
