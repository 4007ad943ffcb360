"""From torch to a folder that ONNX Runtime serves: the graph, small weights, the tokenizer and the settings.

Word embeddings are kept as 8-bit numbers with one scale for each word, every other large matrix as 8-bit numbers with one
scale for each output or as 16-bit floats; both are widened again when the model is loaded, so that the arithmetic is
that of 32-bit floats.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from predictor.bundled.decode import OPERATIONS, OUTPUTS, Balance
from predictor.bundled.features import CELL_FEATURES, TOKEN_FEATURES, Input, collate
from predictor.training.network import INPUTS, Network

Storage = Literal["float32", "float16", "int8"]

LICENCE = """\
CC BY-SA 4.0 (trained on WikiTableQuestions; encoder: MiniLM-L6, Apache-2.0)

These weights are licensed under the Creative Commons Attribution-ShareAlike 4.0 International licence:
https://creativecommons.org/licenses/by-sa/4.0/

They were trained with `./run train` of Askew on the training questions and tables of WikiTableQuestions 1.0.2
(random-split-1-train), CC BY-SA 4.0:
Panupong Pasupat and Percy Liang. 2015. Compositional Semantic Parsing on Semi-Structured Tables. In Proceedings of
ACL-IJCNLP 2015, pages 1470-1480. https://github.com/ppasupat/WikiTableQuestions
Its tables are from Wikipedia.

The encoder's weights and tokenizer started as all-MiniLM-L6-v2 of the Sentence Transformers team, itself from
nreimers/MiniLM-L6-H384-uncased, under the Apache License 2.0: https://www.apache.org/licenses/LICENSE-2.0
They were changed by the training named above and are stored with fewer bits.
"""

_AXES = {
    **{name: {0: "batch", 1: "length"} for name in INPUTS[:6]},
    **{name: {0: "batch", 1: "height", 2: "width"} for name in INPUTS[6:]},
}


class _SmallEmbedding(nn.Module):
    """An embedding of 8-bit numbers, one scale for each word: only the words that are asked for are widened."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("numbers", torch.round(weight / scale).to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, tokens: Tensor) -> Tensor:
        weights: Any = self.numbers
        scale: Any = self.scale
        return weights[tokens].float() * scale[tokens]


def export(
    network: Network,
    encoder: Path,
    balance: Balance,
    folder: Path,
    about: Mapping[str, Any],
    storage: Storage = "float16",
) -> Path:
    """Write model.onnx, tokenizer.json and bundled.json into `folder`; the network itself is left as it is."""
    import copy

    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        small = copy.deepcopy(network).cpu().float().eval()
        if storage != "float32":
            small.encoder.words = _SmallEmbedding(small.encoder.words.weight.detach())
        arrays = collate([_sample(3, 2, 5), _sample(4, 3, 7)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                small,
                tuple(torch.from_numpy(arrays[name]) for name in INPUTS),
                str(folder / "model.onnx"),
                input_names=list(INPUTS),
                output_names=[f"{name}_scores" for name in OUTPUTS],
                dynamic_axes=_AXES,
                opset_version=17,
                dynamo=False,
            )
    model = onnx.load(str(folder / "model.onnx"))
    if storage != "float32":
        _shrink(model, storage)
    for prop in ("doc_string", "producer_version"):
        model.ClearField(prop)
    onnx.save(model, str(folder / "model.onnx"))
    shutil.copyfile(encoder / "tokenizer.json", folder / "tokenizer.json")
    (folder / "LICENSE").write_text(LICENCE)
    settings = {
        "format": 1,
        "operations": list(OPERATIONS),
        "cell_features": list(CELL_FEATURES),
        "token_features": list(TOKEN_FEATURES),
        "balance": balance.to_dict(),
        "shape": network.shape.to_dict(),
        **about,
    }
    (folder / "bundled.json").write_text(json.dumps(settings, indent=1) + "\n")
    return folder


def _sample(rows: int, columns: int, tokens: int) -> Input:
    """A question of that size about nothing, to trace the graph with."""
    rng = np.random.default_rng(rows)
    return Input(
        tokens=rng.integers(1, 5, tokens),
        token_columns=np.minimum(np.arange(tokens) // 2, columns),
        token_features=rng.random((tokens, len(TOKEN_FEATURES)), np.float32),
        question=2,
        cell_features=rng.random((rows, columns, len(CELL_FEATURES)), np.float32),
        cell_pieces=rng.integers(0, 5, (rows, columns, 8)),
        links=rng.integers(0, 2, (rows, columns)),
        rows=np.arange(rows),
    )


_LARGE = 1_000


def _shrink(model: Any, storage: Storage) -> None:
    """Store large 32-bit tensors of the graph smaller, and widen them where they are used."""
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    nodes = []
    for tensor in list(graph.initializer):
        if tensor.data_type != TensorProto.FLOAT or int(np.prod(tensor.dims)) < _LARGE:
            continue
        array = numpy_helper.to_array(tensor)
        name = tensor.name
        graph.initializer.remove(tensor)
        if storage == "int8" and array.ndim == 2:
            # The last axis of a matrix that is multiplied from the right is its output.
            scale = np.maximum(np.abs(array).max(0), 1e-8).astype(np.float32) / 127
            quantized = np.round(array / scale).astype(np.int8)
            graph.initializer.append(numpy_helper.from_array(quantized, f"{name}.int8"))
            graph.initializer.append(numpy_helper.from_array(scale, f"{name}.scale"))
            nodes.append(
                helper.make_node("DequantizeLinear", [f"{name}.int8", f"{name}.scale"], [name], axis=1)
            )
        else:
            graph.initializer.append(numpy_helper.from_array(array.astype(np.float16), f"{name}.half"))
            nodes.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    for node in reversed(nodes):
        graph.node.insert(0, node)


def runner_of(folder: Path, threads: int = 1) -> Any:
    """The exported graph as a function of arrays, for evaluation."""
    from predictor.bundled.model import session

    opened = session(folder, threads)

    def run(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        outputs = opened.run([f"{name}_scores" for name in OUTPUTS], {name: arrays[name] for name in INPUTS})
        return dict(zip(OUTPUTS, outputs, strict=True))

    return run
