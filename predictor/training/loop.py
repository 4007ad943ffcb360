"""The training loop of the bundled model: seeded, resumable, with a curve.

What comes next follows from how far the training is and the seed alone, so a run that was interrupted and resumed
sees the same questions in the same order. A checkpoint is written beside its place and renamed; `curve.jsonl` gets a line
for every few steps and for every evaluation.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from predictor.bundled.decode import OUTPUTS, Balance
from predictor.bundled.features import collate
from predictor.training.corpus import Corpus, Item
from predictor.training.evaluation import PreparedQuestion, accuracy, all_candidates, verdicts
from predictor.training.loss import Targets, loss, targets
from predictor.training.network import INPUTS, Network

CHUNK = 20
"""Batches that are drawn together, sorted by size, and shuffled: padding is what a table model spends its time on."""


@dataclass(frozen=True)
class Plan:
    """What a run does; two runs with one plan and one kind of machine give the same weights.

    questions     how many are seen altogether, made ones included
    made_first    the share of the run that sees made questions only
    made_start, made_end   the share of made questions after that, falling evenly
    batch, cells  questions in a batch; cells, with padding, that go through the network at once
    rate, encoder_rate     highest learning rates of the table part and of the encoder
    embeddings    whether the word embeddings learn as well
    average       how much of the running average of the weights stays in a step; 0 for none. What is measured and
                  exported is the average, which answers more questions than the last step's weights in a long run
    largest       questions on tables of more cells are left out: on a CPU a tenth of them takes half of the time
    """

    questions: int = 60_000
    made_first: float = 0.08
    made_start: float = 0.35
    made_end: float = 0.1
    batch: int = 32
    cells: int = 9_000
    rate: float = 8e-4
    encoder_rate: float = 8e-5
    decay: float = 0.01
    warm_up: float = 0.04
    embeddings: bool = False
    largest: int = 1_000
    average: float = 0.0
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def made_share(self, progress: float) -> float:
        """The share of made questions when so much of the run is done."""
        if progress < self.made_first:
            return 1.0
        rest = (progress - self.made_first) / max(1 - self.made_first, 1e-9)
        return self.made_start + (self.made_end - self.made_start) * rest

    def speed(self, progress: float) -> float:
        """The factor of the learning rates: up, then evenly down to nothing."""
        return min(progress / max(self.warm_up, 1e-9), (1 - progress) / max(1 - self.warm_up, 1e-9), 1.0)


@dataclass
class State:
    """How far a run is."""

    chunks: int = 0
    seen: int = 0
    answered: int = 0
    made: int = 0
    steps: int = 0
    seconds: float = 0.0
    best: float = -1.0


@dataclass(frozen=True)
class Batch:
    """Arrays and derivations of questions that go through the network together."""

    arrays: dict[str, Tensor]
    goal: Targets


def batch_of(items: Sequence[Item]) -> Batch:
    """Questions side by side, as tensors."""
    arrays = collate([item.given for item in items])
    _, height, width = arrays["cells"].shape
    goal = targets(
        [item.goal for item in items], [item.given.links.shape[1] for item in items], height, width
    )
    return Batch({name: torch.from_numpy(arrays[name]) for name in INPUTS}, goal)


class QuestionSampler:
    """Which questions come next: a function of the state and the seed."""

    def __init__(self, answered: Corpus, synthetic: Corpus, plan: Plan) -> None:
        self.answered, self.made, self.plan = answered, synthetic, plan
        self.usable = {
            name: np.flatnonzero(~corpus.empty & (corpus.sizes > 0) & (corpus.sizes <= plan.largest))
            for name, corpus in (("answered", answered), ("made", synthetic))
        }

    def _next(self, kind: str, start: int, count: int) -> list[int]:
        """`count` places of one corpus from the `start`th on, each epoch in its own order."""
        usable = self.usable[kind]
        out: list[int] = []
        while len(out) < count and len(usable):
            epoch, offset = divmod(start + len(out), len(usable))
            order = np.random.default_rng([self.plan.seed, epoch, kind == "made"]).permutation(usable)
            out += order[offset : offset + count - len(out)].tolist()
        return out

    def chunk(self, state: State) -> tuple[list[list[tuple[str, int]]], int, int]:
        """The batches of the next chunk, and how many answered and made questions are in it."""
        size = min(CHUNK * self.plan.batch, max(self.plan.questions - state.seen, 1))
        share = self.plan.made_share(state.seen / self.plan.questions)
        synthetic = round(size * share) if len(self.usable["made"]) else 0
        if not len(self.usable["answered"]):
            synthetic = size
        rng = np.random.default_rng([self.plan.seed, state.chunks, 7])
        pairs = [("made", index) for index in self._next("made", state.made, synthetic)]
        pairs += [("answered", index) for index in self._next("answered", state.answered, size - synthetic)]
        sizes = {"made": self.made.sizes, "answered": self.answered.sizes}
        rng.shuffle(pairs)
        pairs.sort(key=lambda pair: int(sizes[pair[0]][int(pair[1])]))
        pairs = [(str(kind), int(index)) for kind, index in pairs]
        batches = [pairs[start : start + self.plan.batch] for start in range(0, len(pairs), self.plan.batch)]
        rng.shuffle(batches)
        return batches, size - synthetic, synthetic

    def items(self, batch: Sequence[tuple[str, int]]) -> list[Item]:
        return [(self.made if kind == "made" else self.answered)[index] for kind, index in batch]


class _BatchDataset(torch.utils.data.Dataset[list[Batch]]):
    """Names of questions in, batches out, each cut so that it fits the device."""

    def __init__(self, drawing: QuestionSampler) -> None:
        self.drawing = drawing

    def __getitem__(self, batch: Sequence[tuple[str, int]]) -> list[Batch]:
        items = self.drawing.items(batch)
        height = max(item.given.links.shape[0] for item in items)
        width = max(item.given.links.shape[1] for item in items)
        parts = -(-height * width * len(items) // self.drawing.plan.cells)
        return [batch_of(items[part::parts]) for part in range(parts) if items[part::parts]]


class _Schedule(torch.utils.data.Sampler[Sequence[tuple[str, int]]]):
    """The batches of a run from a state on; what loads them ahead works on its own state."""

    def __init__(self, drawing: QuestionSampler, state: State) -> None:
        self.drawing, self.state = drawing, replace(state)

    def __iter__(self) -> Iterator[Sequence[tuple[str, int]]]:
        state = replace(self.state)
        while state.seen < self.drawing.plan.questions:
            batches, answered, synthetic = self.drawing.chunk(state)
            yield from batches
            state.chunks, state.seen = state.chunks + 1, state.seen + answered + synthetic
            state.answered, state.made = state.answered + answered, state.made + synthetic


def runner(network: Network, device: str) -> Any:
    """The network as a function of arrays, for evaluation; bfloat16 where it was trained so."""

    def run(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        network.eval()
        with torch.no_grad(), torch.autocast(device.split(":")[0], torch.bfloat16):
            tensors = [torch.from_numpy(arrays[name]).to(device) for name in INPUTS]
            outputs = network(*tensors)
        return {name: output.float().cpu().numpy() for name, output in zip(OUTPUTS, outputs, strict=True)}

    return run


class TrainingRun:
    """One run in one folder; `resume` goes on where its last checkpoint was."""

    def __init__(
        self, network: Network, plan: Plan, folder: Path, device: str = "cpu", workers: int = 0
    ) -> None:
        self.network, self.plan, self.folder, self.device = network.to(device), plan, folder, device
        self.workers = workers
        self.state = State()
        network.encoder.words.weight.requires_grad_(plan.embeddings)
        encoder = [
            parameter
            for name, parameter in network.named_parameters()
            if name.startswith("encoder.") and parameter.requires_grad
        ]
        fresh = [parameter for name, parameter in network.named_parameters() if "encoder.features" in name]
        fresh_ids = {id(parameter) for parameter in fresh}
        table = [
            parameter for name, parameter in network.named_parameters() if not name.startswith("encoder.")
        ]
        self.optimiser = torch.optim.AdamW(
            [
                {
                    "params": [parameter for parameter in encoder if id(parameter) not in fresh_ids],
                    "peak": plan.encoder_rate,
                },
                {"params": [*table, *fresh], "peak": plan.rate},
            ],
            lr=plan.rate,
            weight_decay=plan.decay,
            fused=device.startswith("cuda"),
        )
        self.average = (
            [parameter.detach().clone() for parameter in network.parameters()] if plan.average else []
        )
        folder.mkdir(parents=True, exist_ok=True)

    def result(self) -> Network:
        """The network as it is measured and exported: with the average of the weights, where there is one."""
        if not self.average:
            return self.network
        averaged = copy.deepcopy(self.network)
        with torch.no_grad():
            for parameter, average in zip(averaged.parameters(), self.average, strict=True):
                parameter.copy_(average)
        return averaged

    # Checkpoints ---------------------------------------------------------------------------------------------

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        """Write the checkpoint; a half-written one never takes its place."""
        unfinished = self._checkpoint.with_suffix(".part")
        torch.save(
            {
                "network": self.network.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "state": asdict(self.state),
                "plan": self.plan.to_dict(),
                "shape": self.network.shape.to_dict(),
                "average": self.average,
            },
            unfinished,
        )
        unfinished.replace(self._checkpoint)

    def resume(self) -> bool:
        """Go on from the checkpoint of the folder, if it has one. Raises ValueError where its plan is another."""
        if not self._checkpoint.exists():
            return False
        checkpoint = torch.load(self._checkpoint, map_location=self.device, weights_only=True)
        if Plan(**checkpoint["plan"]) != self.plan or checkpoint["shape"] != self.network.shape.to_dict():
            raise ValueError(
                f"{self._checkpoint} belongs to a run with other settings; choose another folder with --out"
            )
        self.network.load_state_dict(checkpoint["network"])
        self.optimiser.load_state_dict(checkpoint["optimiser"])
        self.state = State(**checkpoint["state"])
        self.average = checkpoint.get("average", [])
        return True

    # Steps ---------------------------------------------------------------------------------------------------

    def run(
        self,
        answered: Corpus,
        synthetic: Corpus,
        check: Sequence[PreparedQuestion] = (),
        every: float = 600.0,
        say: Any = print,
        until: float | None = None,
    ) -> None:
        """Train to the end of the plan, or until the clock `until` (time.time()); a checkpoint at an interval in seconds."""
        drawing = QuestionSampler(answered, synthetic, self.plan)
        started, before, last = time.time(), self.state.seconds, time.time()
        loaded = self._load(drawing)
        while self.state.seen < self.plan.questions:
            # What dropout leaves out is drawn again for each chunk, so that it does not depend on where a run stopped.
            torch.manual_seed(1_000_003 * self.plan.seed + self.state.chunks)
            batches, from_answered, from_made = drawing.chunk(self.state)
            losses = [self._step(next(loaded)) for _ in batches]
            state = self.state
            state.chunks += 1
            state.answered += from_answered
            state.made += from_made
            state.seconds = before + time.time() - started
            self._note(say, loss=round(float(np.mean(losses)), 4))
            stop = until is not None and time.time() >= until
            if time.time() - last >= every or stop:
                self.save()
                if check and not stop:
                    self._note(say, accuracy=round(self.check(check), 4))
                last = time.time()
            if stop:
                return
        self.save()

    def _load(self, drawing: QuestionSampler) -> Iterator[list[Batch]]:
        """Every batch from here on, loaded ahead by other processes where there are `workers`."""
        loading, schedule = _BatchDataset(drawing), _Schedule(drawing, self.state)
        if not self.workers:
            return (loading[batch] for batch in schedule)
        # A batch is some thirty tensors; by descriptors, a few workers would have more files open than a process may.
        torch.multiprocessing.set_sharing_strategy("file_system")
        loader: Any = torch.utils.data.DataLoader(
            loading, sampler=schedule, batch_size=None, num_workers=self.workers, prefetch_factor=4
        )
        return iter(loader)

    def _step(self, parts: Sequence[Batch]) -> float:
        self.network.train()
        count = sum(len(part.arrays["cells"]) for part in parts)
        total = 0.0
        for part in parts:
            arrays = {name: value.to(self.device, non_blocking=True) for name, value in part.arrays.items()}
            with torch.autocast(self.device.split(":")[0], torch.bfloat16):
                outputs = self.network(*[arrays[name] for name in INPUTS])
            each = loss(outputs, part.goal.to(self.device), arrays["cells"])
            (each.sum() / count).backward()
            total += float(each.detach().sum())
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        speed = self.plan.speed(self.state.seen / self.plan.questions)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * max(speed, 1e-3)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        if self.average:
            # Short at first, so that the random weights of the start are soon forgotten.
            keep = min(self.plan.average, self.state.steps / (self.state.steps + 10))
            weights = [parameter.detach() for parameter in self.network.parameters()]
            torch._foreach_lerp_(self.average, weights, 1 - keep)
        self.state.seen += count
        self.state.steps += 1
        return total / count

    def check(self, questions: Sequence[PreparedQuestion], balance: Balance | None = None) -> float:
        """The accuracy on these questions of the network now."""
        candidates = all_candidates(questions, runner(self.result(), self.device))
        return accuracy(verdicts(questions, candidates, balance or Balance()))

    def _note(self, say: Any, **what: float) -> None:
        state = self.state
        line = {
            "seen": state.seen,
            "of": self.plan.questions,
            "answered": state.answered,
            "seconds": round(state.seconds),
            **what,
        }
        with (self.folder / "curve.jsonl").open("a") as curve:
            curve.write(json.dumps(line) + "\n")
        rate = state.seen / max(state.seconds, 1e-9)
        measurements = ", ".join(f"{name} {value:.4f}" for name, value in what.items())
        say(
            f"{state.seen:,} of {self.plan.questions:,} questions, {measurements}, {rate:.0f} a second",
            flush=True,
        )
