"""TaBERT: BERT over rows of a table, and attention down its columns. (Yin et al., ACL 2020)

The paper's: the encoder with the names and shapes of its published weights (`model.bin`, `tb_config.json`), K=1 and
K=3, how a row is written, and the content snapshot, the K rows (K=1: a row of the best cells) that have most in
common with the question. Ours: the encoder reads all rows as well, K at a time, and a head of our own (`Head`)
chooses cells and one of four operations. RobuT's "TaBERT-small" has another head, which was not published.

One fault of the original is corrected: its mask for missing rows is added where it has no effect, so that a table of
fewer than K rows is encoded differently with every other table of its batch. Here missing rows are no keys.
`"vertical_mask": "published"` in askew.json restores the original's encodings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from predictor.architectures.operations import answers_of
from predictor.architectures.tabert_input import Configuration, TabertInput, WordPieces, read
from predictor.architectures.tabert_network import OPERATIONS, TabertNetwork
from predictor.architectures.tapex import RequestCache
from predictor.checkpoints import Checkpoint, ModelError, Stop, read_json, weights_sha
from predictor.protocol import Prediction, PredictRequest, ProtocolError, refused

THRESHOLD = 0.5
BUDGETS = {"cpu": 16_384, "cuda": 262_144}


class Tabert:
    """A TaBERT-style model: `network` in evaluation mode, and the words of its vocabulary."""

    architecture = "tabert"

    def __init__(
        self, network: TabertNetwork, word_pieces: WordPieces, checkpoint: Checkpoint, sha: str
    ) -> None:
        self.name, self.sha, self.licence = checkpoint.name, sha, checkpoint.licence
        self.network = network
        self.words = word_pieces
        self.budget = checkpoint.budget or BUDGETS[next(network.parameters()).device.type]
        self._reading = RequestCache(lambda request: read(word_pieces, network.configuration, request))

    @classmethod
    def load(cls, checkpoint: Checkpoint, device: str) -> Tabert:
        """The model of a folder, its head included. Raises ModelError."""
        network, word_pieces = load_encoder(checkpoint.folder, checkpoint.settings)
        head = checkpoint.folder / "head.safetensors"
        if not head.exists():
            raise ModelError(
                f"{checkpoint.folder} has no head.safetensors: TaBERT is an encoder, and its head has to be "
                f"trained first (in a clone of Askew: ./run train --architecture tabert --init {checkpoint.folder})"
            )
        from safetensors.torch import load_file

        try:
            network.head.load_state_dict(load_file(head))
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(f"{head} cannot be loaded: {error}") from None
        network = network.eval().to(device=device, dtype=getattr(torch, checkpoint.dtype))
        return cls(network, word_pieces, checkpoint, weights_sha(checkpoint.folder))

    def tokens(self, request: PredictRequest) -> int:
        """The length of all its lines together."""
        reading: TabertInput = self._reading(request)
        return reading.tokens

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        """The lines of all requests together; `stop` is asked between the parts of the budget."""
        readings: list[TabertInput] = [self._reading(request) for request in requests]
        width = [len(request.table.header) for request in requests]
        with torch.inference_mode():
            outputs = self.network(readings, width, self.budget, stop)
        return [
            refused("superseded", "Nobody waits for this any more.")
            if output is None
            else _prediction(request, reading, output[0].float().sigmoid(), output[1].float().softmax(0))
            for request, reading, output in zip(requests, readings, outputs, strict=True)
        ]


def load_encoder(folder: Path, settings: Mapping[str, Any]) -> tuple[TabertNetwork, WordPieces]:
    """The network of a folder, its head untrained, and the words of its vocabulary. Raises ModelError.

    The published folders have no vocabulary: BERT's `vocab.txt` is put beside them, or its folder named in
    `askew.json` as `vocabulary`.
    """
    configuration = replace(
        Configuration.from_dict(read_json(folder / "tb_config.json")),
        published_mask=settings.get("vertical_mask", "corrected") == "published",
    )
    vocabulary = Path(settings.get("vocabulary", folder)) / "vocab.txt"
    if not vocabulary.exists():
        raise ModelError(
            f"{vocabulary} is missing: put the vocab.txt of TaBERT's base model (bert-...-uncased) there"
        )
    try:
        if (folder / "model.safetensors").exists():
            from safetensors.torch import load_file

            state = load_file(folder / "model.safetensors")
        else:
            state = torch.load(folder / "model.bin", map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError) as error:
        raise ModelError(f"the weights in {folder} cannot be loaded: {error}") from None
    except Exception as error:  # a pickle that holds more than weights: torch raises its own error
        raise ModelError(f"{folder / 'model.bin'} holds more than weights: {type(error).__name__}") from None
    network = TabertNetwork(configuration)
    network.encoder.load_published(state)
    return network, WordPieces(vocabulary, configuration.lower_case)


def _prediction(
    request: PredictRequest, reading: TabertInput, shares: Tensor, operations: Tensor
) -> Prediction:
    table = request.table
    likely = shares.tolist()
    columns = min(len(line.columns) for group in reading.groups for line in group)
    positions = [(row, column) for row in range(reading.rows_seen) for column in range(columns)]
    cells = [position for position in positions if likely[position[0]][position[1]] > THRESHOLD]
    label = int(operations.argmax())
    operation = OPERATIONS[label]
    if not cells and operation != "count" and positions:
        cells = [max(positions, key=lambda position: likely[position[0]][position[1]])]
    answers = answers_of(operation, [table.rows[row][column] for row, column in cells])
    certainty = float(operations[label])
    if cells:
        certainty *= sum(likely[row][column] for row, column in cells) / len(cells)
    return Prediction(
        answers=answers,
        text=f"{operation} > {', '.join(answers)}",
        op=operation,
        cells=tuple(cells),
        score=min(1.0, certainty),
        rows_seen=reading.rows_seen,
        rows_total=len(table.rows),
        truncated=reading.truncated,
    )
