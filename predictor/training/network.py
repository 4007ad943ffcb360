"""The bundled model in torch: a small BERT over question and header, and attention over the cells of the table.

The encoder reads `[CLS] question [SEP] header [SEP] header ...`; columns are pooled from it as in TaBERT (Yin et al.
2020). A cell starts as its word pieces, its column, what is known of it (`bundled.features`) and the place of the
question that names it, and goes through layers of attention along its column, along its row, and to the question.
Heads score operations, cells, rows and columns in the manner of TAPAS (Herzig et al. 2020).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from predictor.bundled.decode import OPERATIONS
from predictor.bundled.features import CELL_FEATURES, SEQUENCE, TOKEN_FEATURES

FAR = -1e4
"""What is added where attention must not look; -inf makes NaN of rows that have nothing to look at."""

INPUTS = (
    "tokens",
    "token_columns",
    "token_features",
    "token_mask",
    "question_mask",
    "segments",
    "cell_features",
    "cell_pieces",
    "links",
    "cells",
)


@dataclass(frozen=True)
class Shape:
    """How large the network is. The encoder's figures are those of its pre-trained weights (MiniLM-L6)."""

    vocabulary: int = 30_522
    hidden: int = 384
    heads: int = 12
    layers: int = 6
    inner: int = 1_536
    width: int = 192
    table_heads: int = 6
    table_layers: int = 3
    dropout: float = 0.1

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Attention(nn.Module):
    """Attention of x (N, X, d) to y (N, Y, d); `mask` (N, Y) is added to the scores."""

    def __init__(self, size: int, heads: int, source: int | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size)
        self.key_value = nn.Linear(source or size, 2 * size)
        self.output = nn.Linear(size, size)

    def forward(self, x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
        count, places, size = x.shape
        each = size // self.heads
        query = self.query(x).view(count, places, self.heads, each).transpose(1, 2)
        key, value = (
            self.key_value(y).view(count, y.shape[1], 2 * self.heads, each).transpose(1, 2).chunk(2, 1)
        )
        scores = query @ key.transpose(2, 3) * each**-0.5 + mask[:, None, None, :].to(query.dtype)
        mixed = scores.softmax(-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(count, places, size))


class EncoderLayer(nn.Module):
    """One layer of BERT (post-norm), with its parts named so that its weights can be read."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = Attention(shape.hidden, shape.heads)
        self.attention_norm = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.rise = nn.Linear(shape.hidden, shape.inner)
        self.fall = nn.Linear(shape.inner, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.attention_norm(x + self.dropout(self.attention(x, x, mask)))
        return self.norm(x + self.dropout(self.fall(functional.gelu(self.rise(x)))))


class Encoder(nn.Module):
    """BERT's encoder; what is known of a token beside its text is added to its embedding, and starts at nothing."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.vocabulary, shape.hidden, padding_idx=0)
        self.positions = nn.Embedding(SEQUENCE + 2, shape.hidden)
        self.segments = nn.Embedding(2, shape.hidden)
        self.features = nn.Linear(len(TOKEN_FEATURES), shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.dropout = nn.Dropout(shape.dropout)
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(shape.layers))
        nn.init.zeros_(self.features.weight)
        nn.init.zeros_(self.features.bias)

    def forward(self, tokens: Tensor, segments: Tensor, features: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.positions(places) + self.segments(segments) + self.features(features)
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x, mask)
        return x


class TableLayer(nn.Module):
    """Attention along the column, along the row and to the question, then each cell for itself (pre-norm)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        size, heads = shape.width, shape.table_heads
        self.along_column = Attention(size, heads)
        self.along_row = Attention(size, heads)
        self.to_question = Attention(size, heads)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(4))
        self.rise, self.fall = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor, far: Tensor, question: Tensor, question_far: Tensor) -> Tensor:
        count, height, width, size = x.shape
        y = self.norms[0](x).transpose(1, 2).reshape(count * width, height, size)
        mixed = self.along_column(y, y, far.transpose(1, 2).reshape(count * width, height))
        x = x + self.dropout(mixed.view(count, width, height, size).transpose(1, 2))
        y = self.norms[1](x).view(count * height, width, size)
        mixed = self.along_row(y, y, far.reshape(count * height, width))
        x = x + self.dropout(mixed.view(count, height, width, size))
        y = self.norms[2](x).view(count, height * width, size)
        mixed = self.to_question(y, question, question_far)
        x = x + self.dropout(mixed.view(count, height, width, size))
        return x + self.dropout(self.fall(functional.gelu(self.rise(self.norms[3](x)))))


def _head(size: int, inner: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, inner), nn.GELU(), nn.Linear(inner, outputs))


class Network(nn.Module):
    """The whole model. Takes the arrays of `bundled.features.collate` in the order of INPUTS and gives OUTPUTS:

    operations (B, len(OPERATIONS)); cells (B, R, C, 3): chosen, first of a pair, second of a pair; rows (B, R);
    columns (B, C, 4): of a list, of a sum, of different texts, its name. Scores before softmax (operations, cells,
    columns) or the logistic function (rows), FAR where there is no such cell, row or column.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        size, hidden = shape.width, shape.hidden
        self.encoder = Encoder(shape)
        self.question, self.column, self.pieces = (nn.Linear(hidden, size) for _ in range(3))
        self.link = nn.Linear(hidden, size)
        self.features = _head(len(CELL_FEATURES), size, size)
        self.norm_in, self.norm_out = nn.LayerNorm(size), nn.LayerNorm(size)
        self.table = nn.ModuleList(TableLayer(shape) for _ in range(shape.table_layers))
        self.cell_head = _head(size, size, 3)
        self.row_head = _head(2 * size, size, 1)
        self.column_head = _head(2 * size, size, 4)
        self.operation_head = _head(3 * size + hidden, size, len(OPERATIONS))

    def forward(
        self,
        tokens: Tensor,
        token_columns: Tensor,
        token_features: Tensor,
        token_mask: Tensor,
        question_mask: Tensor,
        segments: Tensor,
        cell_features: Tensor,
        cell_pieces: Tensor,
        links: Tensor,
        cells: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        h = self.encoder(tokens, segments, token_features, (1 - token_mask) * FAR)
        count, height, width = cells.shape
        column_numbers = torch.arange(width, device=tokens.device) + 1
        names = (token_columns[:, None, :] == column_numbers[None, :, None]).to(h.dtype)
        columns = names @ h / names.sum(2, keepdim=True).clamp(min=1)
        present = (cell_pieces > 0).to(h.dtype)[..., None]
        vectors = self.encoder.words(cell_pieces)
        pieces = (vectors * present).sum(3) / present.sum(3).clamp(min=1)
        flat = links.reshape(count, height * width, 1).expand(-1, -1, h.shape[2])
        named = h.gather(1, flat).view(count, height, width, -1) * (links > 0).to(h.dtype)[..., None]
        x = self.norm_in(
            self.pieces(pieces)
            + self.column(columns)[:, None]
            + self.link(named)
            + self.features(cell_features.to(h.dtype))
        )
        far, question_far = (1 - cells) * FAR, (1 - question_mask) * FAR
        question = self.question(h)
        for layer in self.table:
            x = layer(x, far, question, question_far)
        x = self.norm_out(x)
        return self._scores(x, h, question, cells, question_mask, far)

    def _scores(
        self, x: Tensor, h: Tensor, question: Tensor, cells: Tensor, question_mask: Tensor, far: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        here, off = cells[..., None].to(x.dtype), far[..., None].to(x.dtype)
        row_there, column_there = cells.amax(2), cells.amax(1)
        peak = x + off
        rows = torch.cat([(x * here).sum(2) / here.sum(2).clamp(min=1), peak.amax(2).clamp(min=-30)], -1)
        columns = torch.cat([(x * here).sum(1) / here.sum(1).clamp(min=1), peak.amax(1).clamp(min=-30)], -1)
        token_mask = question_mask[..., None].to(x.dtype)
        meaning = (question * token_mask).sum(1) / token_mask.sum(1)
        overall = (x * here).sum((1, 2)) / here.sum((1, 2)).clamp(min=1)
        highest = peak.amax((1, 2)).clamp(min=-30)
        operations = self.operation_head(torch.cat([meaning, overall, highest, h[:, 0]], -1))
        return (
            operations.float(),
            self.cell_head(x).float() + far[..., None],
            self.row_head(rows)[..., 0].float() + (1 - row_there) * FAR,
            self.column_head(columns).float() + ((1 - column_there) * FAR)[..., None],
        )


def load_encoder(network: Network, folder: Path) -> None:
    """Put the pre-trained weights of a BERT (`model.safetensors`, Hugging Face's names) into the encoder.

    Raises ValueError where the sizes differ from the network's.
    """
    from safetensors.torch import load_file

    weights = load_file(folder / "model.safetensors")
    weights = {name.removeprefix("bert."): tensor.float() for name, tensor in weights.items()}
    encoder = network.encoder
    with torch.no_grad():
        for parameter, name in (
            (encoder.words.weight, "word_embeddings.weight"),
            (encoder.positions.weight, "position_embeddings.weight"),
            (encoder.segments.weight, "token_type_embeddings.weight"),
            (encoder.norm.weight, "LayerNorm.weight"),
            (encoder.norm.bias, "LayerNorm.bias"),
        ):
            _put(parameter, weights[f"embeddings.{name}"])
        for index, layer in enumerate(encoder.layers):
            of = f"encoder.layer.{index}."
            for kind in ("weight", "bias"):
                attention: Any = layer.attention
                _put(getattr(attention.query, kind), weights[f"{of}attention.self.query.{kind}"])
                pair = [weights[f"{of}attention.self.{part}.{kind}"] for part in ("key", "value")]
                _put(getattr(attention.key_value, kind), torch.cat(pair))
                for module, name in (
                    (attention.output, "attention.output.dense"),
                    (layer.attention_norm, "attention.output.LayerNorm"),
                    (layer.rise, "intermediate.dense"),
                    (layer.fall, "output.dense"),
                    (layer.norm, "output.LayerNorm"),
                ):
                    _put(getattr(module, kind), weights[f"{of}{name}.{kind}"])


def _put(parameter: Tensor, weights: Tensor) -> None:
    if (
        parameter.ndim == 2
        and weights.shape[0] > parameter.shape[0]
        and weights.shape[1] == parameter.shape[1]
    ):
        weights = weights[: parameter.shape[0]]  # places beyond the longest sequence are left out
    if parameter.shape != weights.shape:
        raise ValueError(f"the encoder's weights are {tuple(weights.shape)}, not {tuple(parameter.shape)}")
    parameter.copy_(weights)


def encoder_shape(folder: Path) -> dict[str, int]:
    """The sizes in a BERT folder's `config.json`, as arguments for `Shape`."""
    config = json.loads((folder / "config.json").read_text())
    return {
        "vocabulary": config["vocab_size"],
        "hidden": config["hidden_size"],
        "heads": config["num_attention_heads"],
        "layers": config["num_hidden_layers"],
        "inner": config["intermediate_size"],
    }
