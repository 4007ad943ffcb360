"""The runnable benchmark beside the records of the format hf: tasks for inspect-ai and lm-evaluation-harness, eval.yaml.

Code is copied from the library, the same in all releases of a rules version; verification compares it and never runs it.
Names, prompts and facts of a project are in `facts.json` and the items beside it.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

FOLDER, FACTS, EVAL = "harness/", "facts.json", "eval.yaml"
ITEMS: Final = ("items/one_answer.jsonl", "items/several_answers.jsonl", "items/demonstrations.jsonl")
DESIGNS: Final = ("json", "plain")
"""Prompt designs: a reply of JSON with a list of answers, or of plain text with | between answers."""
DEFAULT_PROMPTS: Final[Mapping[str, str]] = {"design": DESIGNS[0], "serialisation": "markdown"}
"""How prompts are written if a release does not say."""
MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "cells": ("__init__", "dates", "folding", "numbers", "text_formats", "views"),
    "core": ("__init__", "json_text", "release_rules", "rounding", "translation"),
    "data": ("__init__", "answer_scales", "answers"),
    "scoring": ("__init__", "benchmark_folder", "matchers", "matching", "pairs", "replies", "tat_metric"),
}
"""The modules of the library that score: they import each other relatively, and otherwise the standard library alone."""
_HERE = Path(__file__).parent
_PROGRAMS = {
    "inspect_task.py": "inspect_task.py",
    "library_loader.py": "library_loader.py",
    "lm_eval/functions.py": "lm_eval_functions.py",
}
_LOWER_IS_BETTER = "vp"


def code() -> dict[str, bytes]:
    """The code in a release of the current rules, by path below `FOLDER`."""
    library = {
        f"library/{package}/{module}.py": _HERE.parent.parent / package / f"{module}.py"
        for package, modules in MODULES.items()
        for module in modules
    }
    programs = {path: _HERE / source for path, source in _PROGRAMS.items()}
    return {path: source.read_bytes() for path, source in (library | programs).items()}


def digest(files: Mapping[str, bytes]) -> str:
    """The SHA-256 of code, as `recorded_digests` has it."""
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(files.items()))
    return hashlib.sha256(sums.encode()).hexdigest()


def recorded_digests() -> dict[int, str]:
    """The digest of the code in releases of each rules version."""
    recorded = json.loads((_HERE / "code_digests.json").read_text(encoding="utf-8"))
    return {int(rules): sha for rules, sha in recorded.items()}


def texts(
    facts: Mapping[str, Any],
    metrics: Mapping[str, list[str]],
    files: Mapping[str, int],
    task_types: Mapping[str, Collection[str]],
) -> dict[str, str]:
    """The other files, by path in the release: facts, tasks and groups of lm-evaluation-harness, eval.yaml.

    metrics: names of the metrics by kind; files: number of lines of each file of `ITEMS`; task_types: the kinds of each
    task type whose edits are items, as the configurations have them.
    """
    name = facts["name"]
    files_below = {
        f"lm_eval/{name}_{kind}.yaml": _task(f"{name}_{kind}", kind, facts, metrics[kind], files)
        for kind in facts["kinds"]
    }
    groups = {name: facts["kinds"], **{f"{name}_{type}": sorted(task_types[type]) for type in task_types}}
    for group, kinds in groups.items():
        tasks = [f"{name}_{kind}" for kind in kinds]
        record = {"group": group, "task": tasks, "metadata": {"version": facts["rules"]}}
        # A task type and its only kind can have the same name.
        files_below.setdefault(f"lm_eval/{group}.yaml", _yaml(record))
    files_below[FACTS] = json.dumps(facts, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    evaluation = {EVAL: _evaluation(facts)} if files.get(ITEMS[0]) else {}
    return {FOLDER + path: text for path, text in files_below.items()} | evaluation


def _task(
    name: str, kind: str, facts: Mapping[str, Any], metrics: list[str], files: Mapping[str, int]
) -> str:
    shots = {"fewshot_split": "demonstrations"} if files.get(ITEMS[2]) else {"num_fewshot": 0}
    head = {
        "task": name,
        "test_split": "test",
        **shots,
        "output_type": "generate_until",
        "description": "instruction",
        "doc_to_text": "prompt",
        "doc_to_target": "target",
        "target_delimiter": "\n\n",
        "generation_kwargs": {
            "do_sample": False,
            "temperature": 0.0,
            "max_gen_toks": 1024,
            "until": ["\n\n\n"],
        },
        "metadata": {"version": facts["rules"], "kind": kind},
    }
    return "".join([_yaml(head), *_functions(metrics)])


def _functions(metrics: list[str]) -> Iterator[str]:
    yield "custom_dataset: !function functions.load\nprocess_results: !function functions.process_results\n"
    yield "metric_list:\n"
    for metric in metrics:
        yield f"  - metric: {metric}\n    aggregation: !function functions.aggregate_{metric}\n"
        yield f"    higher_is_better: {'false' if metric.startswith(_LOWER_IS_BETTER) else 'true'}\n"


def _evaluation(facts: Mapping[str, Any]) -> str:
    """eval.yaml of Hugging Face, with which inspect-ai loads a dataset of the Hub. It can name built-in scorers alone."""
    task = {
        "id": facts["name"],
        "config": "prompts",
        "split": "one_answer",
        "field_spec": {"input": "prompt", "target": "target"},
        "solvers": [
            {"name": "system_message", "args": {"template": facts["instructions"]["plain"]}},
            {"name": "generate"},
        ],
        "scorers": [{"name": "exact"}],
    }
    description = (
        "Items with one answer, by inspect's scorer exact. This rule is stricter than that of the release: "
        "another form of a number or a date counts as wrong. harness/inspect_task.py has all items and the rule."
    )
    record = {
        "name": facts["name"],
        "description": description,
        "evaluation_framework": "inspect-ai",
        "tasks": [task],
    }
    return _yaml(record)


def _yaml(record: Mapping[str, Any]) -> str:
    """YAML in ASCII with JSON as values."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in record.items())
