"""Recipes of fine-tuning: the published ones by name, and what a run is expected to reach and to cost.

Sources: TAPEX: Table-Pretraining, examples/tableqa/run_model.py (20,000 updates, warm-up 5,000, clip 0.1), batch of 128
from the paper; OmniTab: train_wikitablequestions.sh (batch of 8 x 6 x 2, 50 epochs); TAPAS: hparam_utils.py of
google-research/tapas. TaBERT's head is ours, and so is its recipe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Precision = Literal["float32", "bfloat16", "float16"]
PRECISIONS = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Recipe:
    """What a run depends on, except its data and its initial weights.

    epochs         passes over the data, if `steps` is 0
    steps          optimizer steps in total
    every          steps between evaluations; 0 evaluates after each pass
    batch          examples at once; `accumulation` batches make a step
    warmup         share of the steps in which the rate rises from 0
    decay          whether the rate then falls to 0 linearly
    smoothing      label smoothing of models that write answers
    clip           largest norm of the gradient
    bucketing      batches of examples with similar length
    checkpointing  recompute activations in the backward pass: less memory, a third more time
    beams          of the evaluation; 1 is greedy
    patience       evaluations without a better accuracy before the run stops; 0 never stops
    """

    epochs: int = 3
    steps: int = 0
    every: int = 0
    batch: int = 8
    accumulation: int = 1
    rate: float = 3e-5
    warmup: float = 0.0
    decay: bool = True
    weight_decay: float = 0.01
    smoothing: float = 0.0
    clip: float = 1.0
    precision: Precision = "float32"
    checkpointing: bool = False
    bucketing: bool = True
    beams: int = 1
    patience: int = 0
    seed: int = 0

    def total_steps(self, examples: int) -> int:
        """Optimizer steps of a run on this number of training examples."""
        return self.steps or self.epochs * self.steps_per_pass(examples)

    def steps_per_pass(self, examples: int) -> int:
        """Optimizer steps of one pass over this number of examples."""
        return math.ceil(examples / (self.batch * self.accumulation))

    def rate_at(self, step: int, total: int) -> float:
        """The learning rate of a step, counted from 0."""
        rising = round(self.warmup * total)
        if step < rising:
            return self.rate * (step + 1) / rising
        if not self.decay:
            return self.rate
        return self.rate * (total - step) / max(1, total - rising)


PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "tapex": {
        "steps": 20_000,
        "every": 500,
        "batch": 16,
        "accumulation": 8,
        "rate": 3e-5,
        "warmup": 0.25,
        "smoothing": 0.1,
        "clip": 0.1,
        "beams": 5,
        "precision": "bfloat16",
    },
    "omnitab": {
        "epochs": 50,
        "every": 500,
        "batch": 12,
        "accumulation": 8,
        "rate": 2e-5,
        "warmup": 0.1,
        "weight_decay": 0.0,
        "beams": 5,
        "precision": "bfloat16",
    },
    "tapas": {
        "steps": 50_000,
        "every": 1_000,
        "batch": 32,
        "accumulation": 16,
        "rate": 1.93581e-5,
        "warmup": 0.12896,
        "clip": 10.0,
        "precision": "bfloat16",
    },
    "tabert": {"epochs": 10, "batch": 16, "rate": 3e-5, "warmup": 0.1, "precision": "bfloat16"},
}
"""The default recipes. The original TAPEX, OmniTab and TAPAS used 16-bit floats or a TPU; bfloat16 needs no loss scale."""

EXPECTED: Mapping[tuple[str, int], str] = {
    ("tapex", 768): "47.1 % on dev, published for tapex-base",
    ("tapex", 1024): "57.0 % on dev and 57.5 % on test, published for tapex-large",
    ("omnitab", 1024): "62.5 % on dev and 63.3 % on test, published for omnitab-large",
    ("tapas", 768): "41.2 % on dev from an SQA checkpoint and 26.1 % from tapas-base, published",
    ("tapas", 1024): "49.3 % on dev from an SQA checkpoint and 41.6 % from tapas-large, published",
}
"""(architecture, hidden size): denotation accuracy on WikiTableQuestions of the published recipe."""


def recipe_of(architecture: str, device: str, **changes: Any) -> Recipe:
    """The default recipe of an architecture with the options that are not None; 32-bit floats on a CPU."""
    settings: dict[str, Any] = dict(PUBLISHED[architecture])
    if not device.startswith("cuda"):
        settings["precision"] = "float32"
    if changes.get("epochs") is not None and changes.get("steps") is None:
        settings["steps"] = settings["every"] = 0
    return Recipe(**{**settings, **{name: value for name, value in changes.items() if value is not None}})


@dataclass(frozen=True)
class Size:
    """The size of a network: parameters in all, hidden size, layers, attention heads, vocabulary."""

    parameters: int
    hidden: int
    layers: int
    heads: int
    vocabulary: int


BYTES_PER_PARAMETER = 16
"""Weight, gradient and the two moments of AdamW, with 4 bytes each."""


def size_of(network: Any) -> Size:
    """The size of a network of `learners`."""
    parameters = sum(parameter.numel() for parameter in network.parameters())
    config = getattr(network, "config", None)
    if config is None:  # TaBERT
        ours = network.configuration
        return Size(parameters, ours.hidden, ours.layers + ours.vertical_layers, ours.heads, ours.vocabulary)
    layers = getattr(config, "encoder_layers", 0) + getattr(config, "decoder_layers", 0)
    return Size(
        parameters,
        config.hidden_size,
        layers or config.num_hidden_layers,
        config.num_attention_heads,
        config.vocab_size,
    )


def expected_seconds(size: Size, recipe: Recipe, tokens: float, steps: int, speed: float) -> float:
    """Time of the optimizer steps alone, in seconds: 6 operations per parameter and token (8 with recomputation).

    speed   operations per second that the device reaches on matrices of the network
    """
    operations = (8 if recipe.checkpointing else 6) * size.parameters * tokens
    return operations * recipe.batch * recipe.accumulation * steps / speed


SHARE_OF_SPEED = {"cpu": 1 / 2, "cuda": 1 / 8}
"""Of the speed on large matrices, what a step reaches. TAPEX-large reached a twelfth on an H200 in its first 20 steps."""


@dataclass(frozen=True)
class Speed:
    """Operations per second that a step is expected to reach, and the share of a CPU that the measurement got (0 to 1).

    The share is None on a GPU.
    """

    operations: float
    share: float | None = None

    def __str__(self) -> str:
        text = f"estimate at {self.operations / 1e12:.3g} Tflop/s"
        if self.share is None or self.share >= UNDISTURBED:
            return text
        return (
            f"{text}; unreliable: the machine is busy, the measurement got {100 * self.share:.0f} % of a CPU"
        )


UNDISTURBED = 0.8
"""From this share of a CPU on, a measurement counts as undisturbed. An idle machine gives all of it."""


def measured_speed(size: Size, device: str, precision: str) -> Speed:
    """The speed on this device, from operations on matrices of the hidden size."""
    import time

    import torch

    kind = getattr(torch, precision)
    rows = 2_048 if device.startswith("cuda") else 128
    left_matrix = torch.randn(rows, size.hidden, device=device, dtype=kind)
    right_matrix = torch.randn(size.hidden, 4 * size.hidden, device=device, dtype=kind)

    def seconds(times: int) -> tuple[float, float]:
        """Passed, and on a CPU, of this thread. The others may wait for it, so theirs say less."""
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        started, used = time.perf_counter(), time.thread_time()
        for _ in range(times):
            torch.matmul(left_matrix, right_matrix)
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        return max(1e-9, time.perf_counter() - started), time.thread_time() - used

    seconds(3)
    times = 20
    passed, used = seconds(times)
    operations = 2 * rows * size.hidden * 4 * size.hidden * times / passed
    return Speed(
        operations * SHARE_OF_SPEED[device.split(":")[0]],
        None if device.startswith("cuda") else min(1.0, used / passed),
    )


def forecast(
    architecture: str,
    size: Size,
    recipe: Recipe,
    lengths: Sequence[int],
    steps: int,
    device: str,
    activations: int,
) -> list[str]:
    """What a run is expected to reach and to need, as lines to print before it starts.

    activations   bytes that a step stores for the backward pass (`memory.activation_bytes`)
    """
    speed = measured_speed(size, device, recipe.precision)
    seconds = expected_seconds(size, recipe, sum(lengths) / len(lengths), steps, speed.operations)
    memory = BYTES_PER_PARAMETER * size.parameters + activations
    accuracy = EXPECTED.get((architecture, size.hidden), "not known for this size")
    plan = (
        f"recipe: {steps:,} steps of {recipe.batch} x {recipe.accumulation} examples, rate {recipe.rate:g}, "
        f"warm-up {recipe.warmup:.0%}, {recipe.precision}"
    )
    if architecture in ("tapex", "omnitab"):
        plan += f", evaluation with {recipe.beams} beams" if recipe.beams > 1 else ", greedy evaluation"
    advice = "if that is too much, lower --batch and raise --accumulation, or use --checkpointing"
    return [
        plan,
        f"expected accuracy on WikiTableQuestions: {accuracy}",
        f"expected memory: {memory / 2**30:.1f} GiB without temporary buffers, inputs of {max(lengths):,} tokens; {advice}",
        f"expected time: {duration(seconds)} of steps ({speed}), plus evaluations",
    ]


TOKENS_PER_QUESTION, CELLS_PER_QUESTION = 45, 130
"""Of WikiTableQuestions, about: question and header; the cells of its table that are read."""
SHIPPED_ACCURACY = "58.2 % on dev after 145,020 questions (the shipped weights)"


def bundled_forecast(network: Any, plan: Any, device: str, *, is_tiny: bool) -> list[str]:
    """The same for the bundled model: its encoder reads question and header, its table part every cell."""
    accuracy = "none, a tiny network only tests the steps" if is_tiny else SHIPPED_ACCURACY
    shape = network.shape
    everything = sum(part.numel() for part in network.parameters())
    embeddings = sum(part.weight.numel() for part in (network.encoder.words, network.encoder.positions))
    encoder = sum(part.numel() for part in network.encoder.parameters()) - embeddings
    table = everything - encoder - embeddings
    learning = everything - (0 if plan.embeddings else embeddings)
    activations = 160 * plan.cells * shape.width * shape.table_layers
    memory = 16 * learning + 4 * (everything - learning) + activations
    cells = min(CELLS_PER_QUESTION, plan.largest)
    operations = 6 * plan.questions * (encoder * TOKENS_PER_QUESTION + table * cells)
    size = Size(everything, shape.hidden, shape.layers, shape.heads, shape.vocabulary)
    speed = measured_speed(size, device, "float32")
    return [
        f"recipe: {plan.questions:,} questions in batches of {plan.batch}, rate {plan.rate:g}",
        f"expected accuracy on WikiTableQuestions: {accuracy}",
        f"expected memory: {memory / 2**30:.1f} GiB, plus the corpus",
        f"expected time: {duration(operations / speed.operations)} ({speed})",
    ]


def duration(seconds: float) -> str:
    """Seconds as text: "45 s", "12 min", "3.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
