"""The runnable benchmark of a release in the format hf: its items with prompts, and the files of harnesses.

    write(folder, raw, manifest)          beside the records of hf
    check(folder, under, raw, manifest)   every file made again and compared; no code of the release is run

The items are those of an evaluation (`model_evaluation.queries.instances`), without sources whose answers are sentences. A
release without gold answers has no files of this kind.
"""

from __future__ import annotations

import filecmp
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from annotation.releases.file_pool import OpenFiles
from tableqa.core.canonical_json import canonical
from tableqa.core.release_rules import RULES
from tableqa.releases.record_files import Difference
from tableqa.writers import harness

if TYPE_CHECKING:
    from annotation.releases.manifest import Manifest
    from annotation.releases.raw_records import Raw
    from tableqa.scoring.matching import Instance

MATCH = "askew"
_RULES_OF_GROUPS = 12
"""The rules from which on task types have groups of lm-evaluation-harness."""


def write(folder: Path, raw: Raw, manifest: Manifest) -> None:
    """Write the files below a folder: items one at a time, then what follows from them. Nothing without gold answers."""
    from tableqa.scoring.benchmark_folder import metrics_of

    counts: Counter[str] = Counter()
    kinds: dict[tuple[str, str], str] = {}
    baselines: Counter[tuple[str, str]] = Counter()
    task_types: dict[str, set[str]] = {}
    with closing(OpenFiles()) as files:
        for name, instance, record in _items(raw, manifest):
            path = folder / harness.FOLDER / name
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write(path, canonical(record) + "\n")
            counts[name] += 1
            if name != harness.ITEMS[2]:
                kinds[instance.source, instance.id] = instance.kind
                baselines[instance.source, instance.baseline] += instance.id != instance.baseline
                if manifest.rules >= _RULES_OF_GROUPS and (instance.source, instance.id) in raw.derived:
                    task_type = raw.task_type_of(instance.source, instance.id)
                    task_types.setdefault(task_type, set()).add(instance.kind)
    if not kinds:
        return
    compared: Counter[str] = Counter(dict.fromkeys(kinds.values(), 0))
    for key, count in baselines.items():
        compared[kinds[key]] += count
    from predictor import prompts
    from tableqa.writers import suc

    facts = {
        "name": f"askew_{manifest.project}",
        "rules": manifest.rules,
        "match": MATCH,
        **{name: manifest.prompts[name] for name in harness.DEFAULT_PROMPTS},
        "instructions": {"json": prompts.TASK, "plain": suc.INSTRUCTION},
        "kinds": sorted(compared, key=lambda kind: (-compared[kind], kind)),
        "sources": sorted({source for source, _ in kinds}),
    }
    metrics = {kind: metrics_of(kind) for kind in compared}
    texts = harness.texts(facts, metrics, counts, task_types)
    text_files = {name: text.encode() for name, text in texts.items()}
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


def check(folder: Path, under: str, raw: Raw, manifest: Manifest) -> set[str]:
    """Compare every file with what follows from the records, byte by byte. Returns their names below `folder / under`.

    Difference on the first that differs, named from `folder`, the release.
    """
    names = _files(folder / under, f"{harness.FOLDER}**/*") | _files(folder / under, harness.EVAL)
    with TemporaryDirectory() as temporary:
        write(Path(temporary), raw, manifest)
        expected = {name: Path(temporary, name) for name in _files(Path(temporary), "**/*")}
        if manifest.rules < RULES and expected:
            # The code is that of another version of the library, of which the digest alone is here.
            code = {name: folder / under / name for name in names if name.endswith(".py")}
            below = {name.removeprefix(harness.FOLDER): path.read_bytes() for name, path in code.items()}
            if harness.digest(below) != harness.recorded_digests()[manifest.rules]:
                text = f"the code is not that of releases of rules {manifest.rules}"
                raise Difference(f"{under}{harness.FOLDER}: {text}")
            expected = {name: path for name, path in expected.items() if not name.endswith(".py")} | code
        for name in sorted(names | expected.keys()):
            if name not in names:
                raise Difference(f"{under}{name}: missing, although the records require it")
            if name not in expected:
                raise Difference(f"{under}{name}: does not match the decisions")
            if not filecmp.cmp(folder / under / name, expected[name], shallow=False):
                raise Difference(f"{under}{name}: does not match the manifest and the records")
    return names


def _files(folder: Path, pattern: str) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.glob(pattern) if path.is_file()}
