"""Training the bundled model from weights that it already has: a finished training, or a folder that is served.

    ./run train --data DIR --from bundled --out OUT [--augment NAME=RELEASE ... --test RELEASE]

A served folder has no checkpoint, only a graph whose matrices are stored with fewer bits. They are read back from its
initialisers (`network_of`); the first answers are those of the folder.
"""

from __future__ import annotations

import json
import random
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from predictor.architectures import find, weights_sha
from predictor.bundled import WEIGHTS
from predictor.bundled.calibration import Calibration
from predictor.bundled.decode import Balance
from predictor.training.augment import BEFORE, START, Column, Wanted, compare_columns, seed_folder, wanted
from predictor.training.bundled import TINY, TrainingError, data, plan_of, split, tiny_plan
from predictor.training.corpus import Corpus, make
from predictor.training.export import export
from predictor.training.loop import Plan, Training
from predictor.training.network import Network, Shape
from predictor.training.recipes import bundled_forecast
from tableqa.examples import Example

SHIPPED = "bundled"
"""The value of --from that names the weights of this package."""


@dataclass(frozen=True)
class Start:
    """Weights to start from: the folder of the served model, how its network is made, and its name on a card."""

    folder: Path
    network: Callable[[], Network]
    name: str

    def origin(self) -> dict[str, Any]:
        """What the model that continues from these weights records of them: `model` is name@sha."""
        return {
            "model": f"{self.name}@{weights_sha(self.folder)}",
            "licence": find(self.folder).licence,
            "seen": int(self._settings["seen"]) if "seen" in self._settings else None,
        }

    def balance(self) -> Balance:
        """The balance of operations of these weights."""
        return Balance(self._settings["balance"]["weights"], self._settings["balance"]["biases"])

    def calibration(self) -> Calibration:
        """What their scores mean; without knots where it was never fitted."""
        stored = self._settings.get("calibration")
        return Calibration.from_dict(stored) if stored else Calibration()

    @property
    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = json.loads((self.folder / "bundled.json").read_text())
        return settings


def start_of(place: Path) -> Start:
    """What `--from` names: `bundled`, the --out of a finished training, or the folder of a model. Raises TrainingError."""
    if str(place) == SHIPPED:
        return Start(WEIGHTS, partial(network_of, WEIGHTS), SHIPPED)
    if (place / "checkpoint.pt").is_file() and (place / "model" / "bundled.json").is_file():
        return Start(
            place / "model", partial(_from_checkpoint, place / "checkpoint.pt"), place.resolve().name
        )
    if (place / "model.onnx").is_file() and (place / "bundled.json").is_file():
        return Start(place, partial(network_of, place), find(place).name)
    raise TrainingError(
        f"{place} contains no weights to start from: --from is {SHIPPED}, the --out of a finished training, or the "
        "folder of a model"
    )


def _from_checkpoint(file: Path) -> Network:
    state = torch.load(file, map_location="cpu", weights_only=True)
    network = Network(Shape(**state["shape"]))
    network.load_state_dict(state["network"])
    with torch.no_grad():
        for parameter, average in zip(network.parameters(), state.get("average", ()), strict=False):
            parameter.copy_(average)
    return network


def network_of(folder: Path) -> Network:
    """The network of an exported folder, from the initialisers of its graph. Raises TrainingError."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(folder / "model.onnx")).graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.endswith(".half"):
            weights[name.removesuffix(".half")] = array.astype(np.float32)
        elif name.endswith(".int8"):
            plain = name.removesuffix(".int8")
            weights[plain] = array.astype(np.float32) * arrays[f"{plain}.scale"]
        elif array.dtype == np.float32:
            weights[name] = array
    if "encoder.words.numbers" in arrays:
        scale = (
            weights["encoder.words.scale"]
            if "encoder.words.scale" in weights
            else arrays["encoder.words.scale"]
        )
        weights["encoder.words.weight"] = arrays["encoder.words.numbers"].astype(np.float32) * scale
    for node in graph.node:  # equal tensors are stored once
        if node.op_type == "Identity" and node.input[0] in weights:
            weights[node.output[0]] = weights[node.input[0]]
    for node in graph.node:  # a linear layer is a product with a transposed matrix that has lost its name
        if node.op_type == "MatMul" and node.input[1].startswith("onnx::") and node.input[1] in weights:
            weights[f"{_module_of(node.output[0])}.weight"] = weights[node.input[1]].T
    settings = json.loads((folder / "bundled.json").read_text())
    network = Network(Shape(**settings["shape"]))
    state = network.state_dict()
    if missing := sorted(state.keys() - weights.keys()):
        raise TrainingError(f"{folder / 'model.onnx'} lacks the weights {', '.join(missing[:3])}")
    network.load_state_dict({name: torch.from_numpy(np.array(weights[name])) for name in state})
    return network


def _module_of(output: str) -> str:
    """The module of a node by its output: "/cell_head/cell_head.0/MatMul_output_0" is "cell_head.0"."""
    parts: list[str] = []
    for part in output.strip("/").split("/")[:-1]:
        if parts and part.startswith(f"{parts[-1]}."):
            parts[-1] = part
        else:
            parts.append(part)
    return ".".join(parts)


# --- the columns of --augment ------------------------------------------------------------------------------


def augment(options: Namespace, say: Any = print) -> dict[str, Any]:
    """`--augment`: train from the start with a short plan, for each column of the table and each seed.

    Every run sees as many questions; with a release half of them are the release's. Raises TrainingError, ModelError.
    """
    if options.trained is None:
        raise TrainingError(
            f"--augment continues from weights: give --from {SHIPPED}, or the --out of a finished training"
        )
    if options.threads:
        torch.set_num_threads(options.threads)
    adaptation = _Adaptation(options, start_of(options.trained), wanted(options), say)
    for line in bundled_forecast(
        adaptation.start.network(), adaptation.plan, adaptation.device, is_tiny=options.tiny
    ):
        say(f"{line}, for each column and seed", flush=True)
    return compare_columns(
        adaptation.columns(),
        adaptation.asked.test,
        adaptation.out,
        adaptation.about(),
        "cpu",
        partial(say, flush=True),
        adaptation.seeds,
    )


class _Adaptation:
    """One plan for all columns, their questions, and the start that they share."""

    def __init__(self, options: Namespace, start: Start, asked: Wanted, say: Any) -> None:
        self.options, self.start, self.asked, self.say = options, start, asked, say
        self.out = Path(options.out)
        self.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.plan: Plan = replace(
            tiny_plan(options.seed) if options.tiny else plan_of(options, self.device),
            made_first=0.0,
            made_start=0.5,  # of a release, which takes the place of the questions that are made
            made_end=0.5,
            average=0.0,
        )
        self.seeds = range(self.plan.seed, self.plan.seed + options.seeds)
        unseen = asked.unseen(split(data(options.data, TINY if options.tiny else None)[0])[0])
        rng = random.Random(f"augment:{self.plan.seed}")
        self.questions = rng.sample(unseen, min(self.plan.questions, len(unseen)))
        say(f"{len(self.questions):,} questions share no table and no question with the test", flush=True)

    def columns(self) -> list[Column]:
        """`start`, `before`, and one for each release."""
        size = len(self.questions)
        columns = [
            Column(START, 0, lambda seed: self.start.folder, trained=False),
            Column(BEFORE, size, partial(self._train, BEFORE, ())),
        ]
        for one in self.asked.releases:
            train = partial(self._train, one.place, one.examples)
            columns.append(Column(one.name, size + len(one.examples), train, one.place))
        return columns

    def about(self) -> dict[str, Any]:
        """What the results say of the run."""
        return self.asked.about(
            architecture="bundled", plan=self.plan.to_dict(), start=f"the model in {self.start.folder}"
        )

    def _train(self, name: str, more: Sequence[Example], seed: int) -> Path:
        self.say(f"--- {name}, seed {seed}", flush=True)
        folder = seed_folder(self.out / name, seed, self.seeds)
        plan = replace(self.plan, seed=seed)
        corpora = {"data": self.questions, name: more}
        for of, examples in corpora.items():
            make(self.out / "corpus" / of, self.start.folder, examples, (), made=0, seed=0, workers=1)
        data_corpus, added = (Corpus(self.out / "corpus" / of / "answered") for of in corpora)
        torch.manual_seed(seed)
        training = Training(self.start.network(), plan, folder, self.device)
        training.resume()
        if training.state.seen < plan.questions or not (folder / "model" / "bundled.json").exists():
            training.run(data_corpus, added, (), every=60, say=self.say)
            export(
                training.result(),
                self.start.folder,
                self.start.balance(),
                folder / "model",
                {"plan": plan.to_dict(), "seen": training.state.seen, "column": name},
                self.options.storage,
            )
        return folder / "model"
