"""The functions of the tasks of this release for lm-evaluation-harness: lm_eval --include_path PATH/lm_eval --tasks NAME

A copy of a module of Askew; the texts and names are in facts.json and items/ beside its folder.

An item is asked once per run, also if several tasks of the run need it: the first one asks it, and all use its result.
"""

import math
import os
import runpy
from functools import partial
from pathlib import Path
from typing import Any

import datasets

_FOLDER = Path(__file__).resolve().parent.parent

_module: Any = runpy.run_path(str(_FOLDER / "library_loader.py"))["benchmark_folder"]
_benchmark = _module.BenchmarkFolder(_FOLDER)


class _Run:
    """What the tasks of one run ask, which items are right, and the values of metrics by kind when the run is over."""

    def __init__(self) -> None:
        self.tasks: set[str] = set()
        self.asked: set[tuple[str, str]] = set()
        self.right: dict[tuple[str, str], bool] = {}
        self.values: dict[str, dict[str, float]] = {}


_run = _Run()


def load(kind: str, design: str = "", match: str = "", **_: Any) -> dict[str, datasets.Dataset]:
    """The items of a kind that no other task of this run asks, and the demonstrations."""
    global _run
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ValueError("Pairs need the results of all items in one process: run without data parallelism.")
    if _run.values or kind in _run.tasks:
        _run = _Run()
    _run.tasks.add(kind)
    selected = _benchmark.select(kind)
    # A task without documents is refused: if all items are asked elsewhere, the first one is asked again.
    items = [item for item in selected if _module.key_of(item) not in _run.asked] or selected[:1]
    _run.asked.update(map(_module.key_of, items))
    splits = {"test": items, "demonstrations": _benchmark.demonstrations}
    return {
        name: datasets.Dataset.from_list([_document(item, kind, design, match) for item in split])
        for name, split in splits.items()
        if split
    }


def _document(item: Any, kind: str, design: str, match: str) -> dict[str, str]:
    return {
        "source": item["source"],
        "id": item["id"],
        "task_kind": kind,
        "design": design or _benchmark.facts["design"],
        "match": match,
        "instruction": _benchmark.instruction(design),
        "prompt": item["prompt"],
        "target": _benchmark.target(item, design),
    }


class _Result(float):
    """1 for a right reply, else 0, as logs have it; `kind` is that of the task."""

    kind = ""


def process_results(doc: dict[str, str], results: list[str]) -> dict[str, _Result]:
    """The result for each metric of the task. The figures follow from the results of the run."""
    key, kind = (doc["source"], doc["id"]), doc["task_kind"]
    _run.right[key] = _benchmark.is_right(_benchmark.items[key], results[0], doc["design"], doc["match"])
    result = _Result(_run.right[key])
    result.kind = kind
    return dict.fromkeys(_module.metrics_of(kind), result)


def __getattr__(name: str) -> Any:
    """The aggregation `aggregate_METRIC` of a metric, such as `aggregate_emd_low`."""
    if not name.startswith("aggregate_"):
        raise AttributeError(name)
    return partial(_aggregate, name.removeprefix("aggregate_"))


def _aggregate(metric: str, results: list[_Result]) -> float:
    kind = results[0].kind
    if kind not in _run.values:
        _run.values[kind] = _benchmark.values(_run.right, kind)
    return _run.values[kind].get(metric, math.nan)
