"""Fine-tuning a model of a folder on questions and answers: TAPEX, OmniTab, TAPAS and TaBERT.

    ./run train --architecture tapex --init /srv/models/tapex-base --data train.tsv --format wtq --out /srv/models/mine

Without `--validation FILE` the examples are split by table, four fifths to learn from and one fifth to validate on, by
the seed alone. `--out` contains the weights of the evaluation with the highest denotation accuracy (equal accuracies:
with the lowest loss), a folder that `./run predictor --model` serves. An interrupted run resumes after its last
evaluation; `curve.jsonl` has a line for each.

Before the first step the command prints the expected accuracy, memory and time (`recipes`).
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from predictor.architectures import ModelError, find, load
from predictor.protocol import Options, PredictRequest
from predictor.training.augment import (
    add_arguments,
    as_perturbed,
    ask,
    columns_of,
    compare_columns,
    read_augmentation_request,
    seed_folder,
)
from predictor.training.learners import ARCHITECTURES, Learner, learner_of
from predictor.training.memory import activation_bytes, autocast
from predictor.training.recipes import PRECISIONS, Recipe, duration, forecast, recipe_of, size_of
from tableqa import Example
from tableqa.core.canonical_json import digest
from tableqa.readers import READERS

Say = Callable[[str], None]

CHUNK = 50
"""Batches whose examples are sorted by length together."""
MEASURED_STEPS = 20
"""Steps after which the remaining time is printed."""


@dataclass(frozen=True)
class Evaluation:
    """One line of the curve: mean losses, right answers of the validation, and seconds since the run began."""

    step: int
    train_loss: float
    validation_loss: float
    right: int
    asked: int
    seconds: float

    @property
    def accuracy(self) -> float:
        return self.right / self.asked

    @property
    def rank(self) -> tuple[int, float]:
        """The larger, the better."""
        return self.right, -self.validation_loss


# --- the run -----------------------------------------------------------------------------------------------


def split(examples: Iterable[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """Four fifths and one fifth, no table in both. The same seed gives the same split, in any order."""
    train: list[Example] = []
    validation: list[Example] = []
    for example in examples:
        (validation if _validates(example.table.digest(), seed) else train).append(example)
    return train, validation


def _validates(table: str, seed: int) -> bool:
    """Whether the table of this digest belongs to the fifth that validates."""
    return int(digest([seed, table])[:8], 16) % 5 == 0


@dataclass(frozen=True)
class Data:
    """What a run learns from and is evaluated on. `steps`: of the same run without additional examples."""

    train: tuple[Example, ...]
    validation: tuple[Example, ...]
    steps: int
    every: int


def data_of(
    learner: Learner,
    examples: Sequence[Example],
    recipe: Recipe,
    say: Say = print,
    *,
    more: Sequence[Example] = (),
    validation: Sequence[Example] | None = None,
    split_seed: int | None = None,
) -> Data:
    """Split the examples and leave out those that cannot be learned from; prints how many and why. Raises ModelError.

    more         perturbed examples to learn from as well, except what was made of a validation table
    validation   examples to evaluate on, instead of a fifth of the tables
    split_seed   of the split, if it differs from the recipe's
    """
    seed = recipe.seed if split_seed is None else split_seed
    if validation is None:
        train, held_out = split(examples, seed)
    else:
        tables = {example.table.digest() for example in validation}
        train, held_out = (
            [example for example in examples if example.table.digest() not in tables],
            list(validation),
        )
        if len(train) < len(examples):
            say(
                f"{len(examples) - len(train)} training examples left out: their tables are in the validation"
            )
    held_tables = {example.table.digest() for example in held_out}
    fitting = _learnable_examples(learner, train, say)
    added = [example for example in more if as_perturbed(example).base not in held_tables]
    if validation is None:
        added = [example for example in added if not _validates(as_perturbed(example).base, seed)]
    added = _learnable_examples(learner, added, say)
    if not fitting or not held_out:
        raise ModelError(
            f"of {len(examples)} examples {len(fitting)} are for training and {len(held_out)} for validation: too few"
        )
    if more:
        say(f"training also uses {len(added)} of {len(more)} perturbed examples")
    say(f"{len(fitting) + len(added)} training examples, {len(held_out)} validation examples")
    return Data(
        (*fitting, *added),
        tuple(held_out),
        recipe.total_steps(len(fitting)),
        recipe.every or recipe.steps_per_pass(len(fitting)),
    )


def _learnable_examples(learner: Learner, examples: Sequence[Example], say: Say) -> list[Example]:
    """The examples that can be learned from; prints how many cannot, by reason."""
    reasons = [learner.obstacle(example) for example in examples]
    for reason, count in sorted(Counter(filter(None, reasons)).items()):
        say(f"{count} of {len(examples)} training examples left out: {reason}")
    return [example for example, reason in zip(examples, reasons, strict=True) if reason is None]


def finetune(
    init: Path,
    out: Path,
    examples: Sequence[Example],
    recipe: Recipe,
    device: str = "cpu",
    say: Say = print,
    *,
    more: Sequence[Example] = (),
    validation: Sequence[Example] | None = None,
    split_seed: int | None = None,
) -> list[Evaluation]:
    """Train, or resume training, into `out`; the curve. Raises ModelError.

    Additional examples (`more`) do not add steps: runs with and without them are comparable.
    """
    torch.manual_seed(recipe.seed)
    learner = learner_of(init, device, recipe.smoothing)
    data = data_of(learner, examples, recipe, say, more=more, validation=validation, split_seed=split_seed)
    lengths = [learner.length(entry) for entry in data.train]
    longest, size = data.train[lengths.index(max(lengths))], size_of(learner.network)
    activations = activation_bytes(learner, longest, recipe, device)
    if recipe.checkpointing:
        learner.checkpoint_activations()
        # The backward pass computes the activations of one layer at a time.
        activations = activation_bytes(learner, longest, recipe, device) + activations // size.layers
    architecture = find(init).architecture
    for line in forecast(architecture, size, recipe, lengths, data.steps, device, activations):
        say(line)
    out.mkdir(parents=True, exist_ok=True)
    _copy_settings(init, out)
    run = digest(
        [
            asdict(recipe),
            data.steps,
            [PredictRequest.about(entry).key for entry in (*data.train, *data.validation)],
        ]
    )
    training = FineTuningRun(learner, recipe, data, lengths, out, run, device, say)
    training.resume()
    training.run()
    best = max(training.curve, key=lambda entry: entry.rank)
    say(f"best: step {best.step:,}, {best.right} of {best.asked} validation answers correct, saved in {out}")
    return training.curve


class FineTuningRun:
    """A run: its optimizer, its place in the stream of batches, and its curve."""

    def __init__(
        self,
        learner: Learner,
        recipe: Recipe,
        data: Data,
        lengths: Sequence[int],
        out: Path,
        run: str,
        device: str,
        say: Say,
    ) -> None:
        self.learner, self.recipe, self.data, self.lengths = learner, recipe, data, lengths
        self.out, self.run_id, self.device, self.say = out, run, device, say
        self.optimizer = optimizer_of(learner.network, recipe)
        self.scaler = torch.amp.GradScaler(torch.device(device).type, enabled=recipe.precision == "float16")
        self.curve: list[Evaluation] = []
        self.step = 0

    def run(self) -> None:
        """Train until the last step, or until the accuracy has not risen for `patience` evaluations."""
        batches = islice(self._stream(), self.step * self.recipe.accumulation, None)
        started = time.monotonic() - (self.curve[-1].seconds if self.curve else 0.0)
        first, first_at = self.step, time.monotonic()
        losses: list[float] = []
        while self.step < self.data.steps and not self._is_stale():
            # Dropout, too, is the same after an interruption.
            torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
            losses.append(self._take_step([next(batches) for _ in range(self.recipe.accumulation)]))
            self.step += 1
            if self.step - first == MEASURED_STEPS < self.data.steps - first:
                each = (time.monotonic() - first_at) / MEASURED_STEPS
                remaining = duration(each * (self.data.steps - self.step))
                self.say(f"{each:.3g} s a step; {remaining} of steps left")
            if self.step % self.data.every == 0 or self.step == self.data.steps:
                self._evaluate(sum(losses) / len(losses), started)
                losses = []

    def _is_stale(self) -> bool:
        if not self.recipe.patience or len(self.curve) <= self.recipe.patience:
            return False
        best = max(self.curve, key=lambda evaluation: evaluation.rank)
        return len(self.curve) - 1 - self.curve.index(best) >= self.recipe.patience

    def _take_step(self, batches: Sequence[Sequence[Example]]) -> float:
        self.learner.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate_at(self.step, self.data.steps)
        self.optimizer.zero_grad()
        examples = sum(map(len, batches))
        total = 0.0
        for batch in batches:
            with autocast(self.recipe, self.device):
                loss = self.learner.loss(batch) * (len(batch) / examples)
            self.scaler.scale(loss).backward()
            total += float(loss.detach())
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.learner.network.parameters(), self.recipe.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return total

    def _stream(self) -> Iterator[list[Example]]:
        """Batches without end; each pass shows every example once, in an order that the seed decides."""
        number = 0
        while True:
            for batch in batches_of_pass(self.lengths, self.recipe, number):
                yield [self.data.train[index] for index in batch]
            number += 1

    def _evaluate(self, train_loss: float, started: float) -> None:
        validation = self.data.validation
        self.learner.network.eval()
        options = Options(beams=self.recipe.beams, max_new_tokens=128)
        with autocast(self.recipe, self.device):
            answers = ask(self.learner.model, validation, options)
        right = sum(entry.right for entry in answers)
        loss = self._validation_loss()
        self.curve.append(
            Evaluation(self.step, train_loss, loss, right, len(validation), time.monotonic() - started)
        )
        if self.curve[-1].rank >= max(entry.rank for entry in self.curve):
            self.learner.save(self.out)
        self._save_state()
        self.say(
            f"step {self.step:,} of {self.data.steps:,}: loss {train_loss:.4f}, validation {loss:.4f}, "
            f"{right} of {len(validation)} correct ({right / len(validation):.1%})"
        )

    def _validation_loss(self) -> float:
        """The mean loss of the validation examples that have one; 0 without any."""
        examples = [example for example in self.data.validation if self.learner.obstacle(example) is None]
        total = 0.0
        with torch.inference_mode(), autocast(self.recipe, self.device):
            for first in range(0, len(examples), self.recipe.batch):
                batch = examples[first : first + self.recipe.batch]
                total += float(self.learner.loss(batch)) * len(batch)
        return total / max(1, len(examples))

    def _save_state(self) -> None:
        """Write the state of the run, whole or not at all."""
        state = {
            "run": self.run_id,
            "step": self.step,
            "network": self.learner.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "curve": [asdict(evaluation) for evaluation in self.curve],
        }
        torch.save(state, self.out / "run.part")
        (self.out / "run.part").replace(self.out / "run.state")
        lines = "".join(json.dumps(asdict(evaluation)) + "\n" for evaluation in self.curve)
        (self.out / "curve.jsonl").write_text(lines)

    def resume(self) -> None:
        """Continue the run in `out`, if there is one. Raises ModelError if it is another run."""
        if not (self.out / "run.state").exists():
            return
        state = torch.load(self.out / "run.state", map_location="cpu", weights_only=True)
        if state["run"] != self.run_id:
            raise ModelError(f"{self.out} contains another run (data or recipe differ). Choose another --out")
        self.learner.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.curve = [Evaluation(**evaluation) for evaluation in state["curve"]]
        self.step = state["step"]
        self.say(f"continuing after step {self.step:,}")


def optimizer_of(network: torch.nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW; biases and layer norms do not decay."""
    learning = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {"params": [part for part in learning if part.ndim > 1], "weight_decay": recipe.weight_decay},
        {"params": [part for part in learning if part.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate)


def batches_of_pass(lengths: Sequence[int], recipe: Recipe, pass_index: int) -> list[list[int]]:
    """The batches of one pass, as positions of examples. With bucketing, those of a batch have similar lengths."""
    rng = random.Random(f"{recipe.seed}:{pass_index}")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    if not recipe.bucketing:
        return [order[first : first + recipe.batch] for first in range(0, len(order), recipe.batch)]
    batches: list[list[int]] = []
    for first in range(0, len(order), CHUNK * recipe.batch):
        chunk = sorted(order[first : first + CHUNK * recipe.batch], key=lambda index: lengths[index])
        batches += [chunk[start : start + recipe.batch] for start in range(0, len(chunk), recipe.batch)]
    rng.shuffle(batches)
    return batches


def _copy_settings(init: Path, out: Path) -> None:
    """Copy everything of the first folder but its weights: tokenizer, configuration, licence.

    OmniTab is TAPEX by its configuration, so a folder whose name alone said which one it is gets it in writing.
    """
    for file in init.iterdir():
        if file.is_file() and file.suffix not in (".safetensors", ".bin") and ".index." not in file.name:
            shutil.copyfile(file, out / file.name)
    initial = find(init)
    if find(out).architecture != initial.architecture:
        settings = {**initial.settings, "architecture": initial.architecture}
        (out / "askew.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


# --- the command -------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """`./run train --architecture tapex|omnitab|tapas|tabert`; 0 done, 1 with a reason on stderr."""
    options = _parser().parse_args(arguments)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        architecture = find(options.init).architecture
        if architecture != options.architecture:
            raise ModelError(f"{options.init} contains a {architecture}, not a {options.architecture}")
        if options.seeds > 1 and not options.augment:
            raise ModelError("--seeds is for --augment. Start one run per --seed instead")
        examples = list(islice(READERS[options.format](options.data), options.limit))
        validation = None
        if options.validation is not None:
            validation = list(islice(READERS[options.format](options.validation), options.validation_limit))
        names = {field.name for field in fields(Recipe)} & vars(options).keys()
        recipe = recipe_of(architecture, device, **{name: getattr(options, name) for name in names})
        if options.augment and recipe.patience:
            raise ModelError(
                "--patience would give the columns of --augment different numbers of steps. Leave it out"
            )
        say = partial(print, flush=True)
        if options.augment:
            augment(options, examples, validation, recipe, device, say)
        else:
            finetune(options.init, options.out, examples, recipe, device, say, validation=validation)
    except torch.OutOfMemoryError as error:
        print(f"train: {device} has not enough memory: {error}", file=sys.stderr)
        print("train: halve --batch and double --accumulation, or add --checkpointing", file=sys.stderr)
        return 1
    except (ModelError, ValueError, OSError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run train",
        description="Fine-tune a model from a folder. Without options, the recipe is the published one "
        "(docs/training.md).",
    )
    parser.add_argument("--architecture", choices=ARCHITECTURES, required=True)
    parser.add_argument("--init", type=Path, required=True, help="folder with the initial weights")
    parser.add_argument("--out", type=Path, required=True, help="folder for the trained model")
    parser.add_argument("--data", type=Path, required=True, help="file or folder of questions")
    parser.add_argument("--format", choices=sorted(READERS), default="wtq", help="reader (default wtq)")
    parser.add_argument("--limit", type=int, help="maximum number of questions")
    parser.add_argument(
        "--validation", type=Path, help="questions to evaluate on (default: a fifth of the tables)"
    )
    parser.add_argument("--validation-limit", type=int, help="maximum number of validation questions")
    parser.add_argument("--epochs", type=int, help="passes over the data")
    parser.add_argument("--steps", type=int, help="optimizer steps, instead of --epochs")
    parser.add_argument("--every", type=int, help="steps between evaluations (default: each pass)")
    parser.add_argument("--batch", type=int, help="examples at once")
    parser.add_argument("--accumulation", type=int, help="batches in a step")
    parser.add_argument("--rate", type=float, help="highest learning rate")
    parser.add_argument("--warmup", type=float, help="share of the steps in which the rate rises")
    parser.add_argument("--decay", action=argparse.BooleanOptionalAction, help="let the rate fall to 0")
    parser.add_argument("--weight-decay", type=float)
    parser.add_argument("--smoothing", type=float, help="label smoothing (tapex, omnitab)")
    parser.add_argument("--clip", type=float, help="largest norm of the gradient")
    parser.add_argument(
        "--precision", choices=PRECISIONS, help="default: bfloat16 on a GPU, float32 on a CPU"
    )
    parser.add_argument(
        "--checkpointing",
        action=argparse.BooleanOptionalAction,
        help="recompute activations: less memory, a third more time",
    )
    parser.add_argument(
        "--bucketing", action=argparse.BooleanOptionalAction, help="batches of similar length (default)"
    )
    parser.add_argument("--beams", type=int, help="beams of the evaluation (tapex, omnitab)")
    parser.add_argument(
        "--patience", type=int, help="number of evaluations without a gain before training stops"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", help="cpu or cuda; default: GPU if available")
    add_arguments(parser)
    return parser


def augment(
    options: argparse.Namespace,
    examples: Sequence[Example],
    validation: Sequence[Example] | None,
    recipe: Recipe,
    device: str,
    say: Say,
) -> dict[str, Any]:
    """`--augment`: a model for each column of the table in its own folder beneath --out."""
    request = read_augmentation_request(options)
    learnt = request.unseen(examples)
    say(f"{len(learnt)} of {len(examples)} examples share no table and no question with the test")

    def start(seed: int) -> Path | None:
        try:
            load(options.init, device)
        except ModelError:
            return None  # an encoder without a head
        return Path(options.init)

    seeds = range(recipe.seed, recipe.seed + options.seeds)

    def train_column(name: str, more: Sequence[Example], seed: int) -> Path:
        folder = seed_folder(options.out / name, seed, seeds)
        say(f"--- {name}, seed {seed}")
        finetune(
            options.init,
            folder,
            learnt,
            replace(recipe, seed=seed),
            device,
            say,
            more=more,
            validation=validation,
            split_seed=recipe.seed,
        )
        return folder

    columns = columns_of(request.releases, len(learnt), start, train_column)
    options.out.mkdir(parents=True, exist_ok=True)
    about = request.about(
        architecture=options.architecture, plan=asdict(recipe), start=f"the weights in {options.init}"
    )
    return compare_columns(columns, request.test, options.out, about, device, say, seeds, recipe.beams)
