"""The task of this release for inspect-ai: inspect eval PATH/inspect_task.py --model MODEL

A copy of a module of Askew; the texts and names are in facts.json and items/ beside it.
"""

import runpy
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

_FOLDER = Path(__file__).resolve().parent

_module: Any = runpy.run_path(str(_FOLDER / "library_loader.py"))["benchmark_folder"]


@task
def release(
    kind: str = "", source: str = "", design: str = "", match: str = "", shots: int = 0, seed: int = 0
) -> Task:
    """Every item of the release once, or those of a kind or source with the items that they are compared with.

    design: json or plain. match: askew, wtq, tapex or tat. shots: number of demonstrations, drawn with the seed.
    """
    benchmark = _module.BenchmarkFolder(_FOLDER)
    design, match = design or benchmark.facts["design"], match or benchmark.facts["match"]
    first: list[ChatMessage] = [ChatMessageSystem(content=benchmark.instruction(design))]
    for shot in benchmark.shots(shots, seed):
        first.append(ChatMessageUser(content=shot["prompt"]))
        first.append(ChatMessageAssistant(content=benchmark.target(shot, design)))
    samples = [
        Sample(
            id=f"{item['source']}/{item['id']}",
            input=[*first, ChatMessageUser(content=item["prompt"])],
            target=benchmark.target(item, design),
            metadata={name: item[name] for name in ("source", "id", "kind")} | {"design": design},
        )
        for item in benchmark.select(kind, source)
    ]
    name = benchmark.facts["name"]
    return Task(
        name=name,
        dataset=MemoryDataset(samples, name=name),
        solver=generate(),
        scorer=matcher(design, match),
        version=benchmark.facts["rules"],
        metadata={"design": design, "match": match},
    )


@metric
def paired_figures() -> Metric:
    """Figures of each kind, `KIND/FIGURE`, with `_low` and `_high`. Several sources have their own: `KIND/SOURCE/FIGURE`.

    `accuracy_before` is that of the items that they are compared with.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        benchmark = _module.BenchmarkFolder(_FOLDER)
        right: dict[tuple[str, str], bool] = {}
        for score in scores:
            if (value := score.score.as_float()) not in (0.0, 1.0):
                raise ValueError("Pairs need one reply to each item: run the task with one epoch.")
            metadata = score.sample_metadata or {}
            right[metadata["source"], metadata["id"]] = bool(value)
        kinds, sources = benchmark.facts["kinds"], benchmark.facts["sources"]
        return {
            "/".join(filter(None, (kind, source, name))): value
            for kind in kinds
            for source in ("", *(sources if len(sources) > 1 else ()))
            for name, value in benchmark.values(right, kind, source).items()
        }

    return compute


@scorer(metrics=[paired_figures()])
def matcher(design: str = "", match: str = "") -> Scorer:
    """Whether the answers in the reply are right, by the rule of the release or another one."""
    benchmark = _module.BenchmarkFolder(_FOLDER)

    async def score(state: TaskState, target: Target) -> Score:
        item = benchmark.items[state.metadata["source"], state.metadata["id"]]
        reply = state.output.completion
        return Score(value=float(benchmark.is_right(item, reply, design, match)), answer=reply)

    return score
