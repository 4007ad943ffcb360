"""Weights that the bundled model's training starts from: a finished training, or a folder that is served.

A served folder has no checkpoint, only a graph whose matrices are stored with fewer bits. They are read back from its
initialisers (`network_of`); the first answers are those of the folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from predictor.bundled import WEIGHTS
from predictor.bundled.decode import Balance
from predictor.bundled.score_calibration import Calibration
from predictor.checkpoints import find, weights_sha
from predictor.training import TrainingError
from predictor.training.network import Network, Shape

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


def start_of(folder: Path) -> Start:
    """What `--from` names: `bundled`, the --out of a finished training, or the folder of a model. Raises TrainingError."""
    if str(folder) == SHIPPED:
        return Start(WEIGHTS, partial(network_of, WEIGHTS), SHIPPED)
    if (folder / "checkpoint.pt").is_file() and (folder / "model" / "bundled.json").is_file():
        return Start(
            folder / "model", partial(_from_checkpoint, folder / "checkpoint.pt"), folder.resolve().name
        )
    if (folder / "model.onnx").is_file() and (folder / "bundled.json").is_file():
        return Start(folder, partial(network_of, folder), find(folder).name)
    raise TrainingError(
        f"{folder} contains no weights to start from: --from is {SHIPPED}, the --out of a finished training, or the "
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
