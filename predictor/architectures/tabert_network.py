"""The network of TaBERT: its encoder with the names of the published weights, and a head of our own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from predictor.architectures.tabert_input import Configuration, Line, TabertInput
from predictor.checkpoints import ModelError, Stop

OPERATIONS = ("select", "count", "sum", "average")


class _VerticalSelfAttention(nn.Module):
    """Attention of each position to the same position in the other rows of its group.

    Missing rows are masked as keys. The published code adds the mask along the rows of the scores instead, where it
    has no effect: a softmax does not change by a constant. `published_mask` does the same, so that encodings equal
    those of the original; they then depend on the other tables of the batch.
    """

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        hidden = configuration.hidden
        self.heads = configuration.vertical_heads
        self.published_mask = configuration.published_mask
        self.query_linear = nn.Linear(hidden, hidden)
        self.key_linear = nn.Linear(hidden, hidden)
        self.value_linear = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(configuration.attention_dropout)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        """states (groups, rows, positions, hidden), present (groups, rows, positions): 1.0 where there is a token."""
        groups, rows, positions, hidden = states.shape

        def by_position(linear: nn.Linear) -> Tensor:
            split = linear(states).view(groups, rows, positions, self.heads, hidden // self.heads)
            return split.permute(0, 2, 3, 1, 4)  # groups, positions, heads, rows, width

        queries, keys, values = map(by_position, (self.query_linear, self.key_linear, self.value_linear))
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(hidden // self.heads)
        missing = (1.0 - present).permute(0, 2, 1) * -10_000.0
        along = missing[:, :, None, :, None] if self.published_mask else missing[:, :, None, None, :]
        mixed = self.dropout((scores + along).softmax(dim=-1)) @ values
        return mixed.permute(0, 3, 1, 2, 4).reshape(groups, rows, positions, hidden)


class _Residual(nn.Module):
    """What BERT calls self_output and output: back to the width, added to its input, normalised."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.dense = nn.Linear(width, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        normalised: Tensor = self.LayerNorm(self.dropout(self.dense(states)) + before)
        return normalised


class _VerticalLayer(nn.Module):
    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        hidden, intermediate = configuration.hidden, configuration.intermediate
        self.attention = nn.ModuleDict(
            {
                "self_attention": _VerticalSelfAttention(configuration),
                "self_output": _Residual(hidden, hidden, configuration.dropout),
            }
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(hidden, intermediate)})
        self.output = _Residual(intermediate, hidden, configuration.dropout)

    def forward(self, states: Tensor, present: Tensor) -> Tensor:
        attended = self.attention["self_output"](self.attention["self_attention"](states, present), states)
        widened = nn.functional.gelu(self.intermediate["dense"](attended))
        out: Tensor = self.output(widened, attended)
        return out


@dataclass(frozen=True)
class Encoding:
    """What the encoder makes of groups of lines.

    question   (groups, tokens, hidden), averaged over the lines of the group, and which tokens there are
    columns    (groups, columns, hidden), averaged likewise: the paper's column representations
    cells      (groups, lines, columns, hidden), and which of them there are
    """

    question: Tensor
    question_mask: Tensor
    columns: Tensor
    cells: Tensor
    cell_mask: Tensor


class TabertEncoder(nn.Module):
    """The paper's encoder. Its parameters have the names of the published weights."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        self.configuration = configuration
        bert = BertModel(
            BertConfig(
                vocab_size=configuration.vocabulary,
                hidden_size=configuration.hidden,
                num_hidden_layers=configuration.layers,
                num_attention_heads=configuration.heads,
                intermediate_size=configuration.intermediate,
                max_position_embeddings=configuration.positions,
                hidden_dropout_prob=configuration.dropout,
                attention_probs_dropout_prob=configuration.attention_dropout,
            ),
            add_pooling_layer=False,
        )
        self._bert_model = nn.ModuleDict({"bert": bert})
        self.vertical_transformer_layers = nn.ModuleList(
            _VerticalLayer(configuration) for _ in range(configuration.vertical_layers)
        )

    def load_published(self, state: Mapping[str, Tensor]) -> None:
        """Take the weights of a `model.bin`; what belongs to its pre-training is left. Raises ModelError."""
        weights = {
            name: weight
            for name, weight in state.items()
            if not name.startswith(("_bert_model.cls.", "_bert_model.bert.pooler.", "span_based_prediction."))
            and not name.endswith(".position_ids")
        }
        # The oldest checkpoints call the two parameters of a layer norm as TensorFlow did.
        renamed = {
            name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
                "LayerNorm.beta", "LayerNorm.bias"
            ): weight
            for name, weight in weights.items()
        }
        try:
            self.load_state_dict(renamed)
        except RuntimeError as error:
            raise ModelError(f"these are not the weights of this TaBERT: {error}") from None

    def forward(self, groups: Sequence[Sequence[Line]]) -> Encoding:
        """Encode groups of lines; those of a group see one another (K=3) or are one (K=1)."""
        device = self._bert_model["bert"].embeddings.word_embeddings.weight.device
        deep, long = max(map(len, groups)), max(len(line.ids) for group in groups for line in group)
        question_length = max(line.question[1] - line.question[0] for group in groups for line in group)
        wide = max(len(line.columns) for group in groups for line in group)
        ids = torch.zeros((len(groups), deep, long), dtype=torch.long)
        segments, mask = torch.zeros_like(ids), torch.zeros_like(ids)
        questions = torch.zeros((len(groups), deep, question_length), dtype=torch.long)
        question_mask = torch.zeros((len(groups), deep, question_length))
        pooling = torch.zeros((len(groups), deep, wide, long))
        for g, group in enumerate(groups):
            for r, line in enumerate(group):
                ids[g, r, : len(line.ids)] = torch.tensor(line.ids)
                segments[g, r, line.first_segment : len(line.ids)] = 1
                mask[g, r, : len(line.ids)] = 1
                first, last = line.question
                questions[g, r, : last - first] = torch.arange(first, last)
                question_mask[g, r, : last - first] = 1
                for c, (start, end) in enumerate(line.columns):
                    pooling[g, r, c, start:end] = 1 / max(1, end - start)
        if "max_pool" in self.configuration.representation:
            raise ModelError(
                "column_representation max_pool is not supported; the published weights use mean_pool"
            )
        # A line that is not there has no tokens; BERT wants at least one to look at, and its result is masked below.
        mask[:, :, 0] = 1
        ids, segments, mask = ids.to(device), segments.to(device), mask.to(device)
        questions, question_mask, pooling = questions.to(device), question_mask.to(device), pooling.to(device)
        states = self._bert_model["bert"](
            input_ids=ids.flatten(0, 1),
            token_type_ids=segments.flatten(0, 1),
            attention_mask=mask.flatten(0, 1),
        ).last_hidden_state.view(len(groups), deep, long, -1)
        hidden = states.shape[-1]
        cell_mask = (pooling.sum(-1) > 0).to(states.dtype)
        cells = pooling.to(states.dtype) @ states
        context = states.gather(2, questions[..., None].expand(-1, -1, -1, hidden)) * question_mask[..., None]
        present = torch.cat([question_mask.to(states.dtype), cell_mask], dim=-1)
        everything = torch.cat([context, cells], dim=2)
        for layer in self.vertical_transformer_layers:
            everything = layer(everything, present)
        everything = everything * present[..., None]
        lines = cell_mask[:, :, 0].sum(1).clamp(min=1)[:, None, None]
        pooled = everything.sum(1) / lines
        return Encoding(
            question=pooled[:, :question_length],
            question_mask=question_mask.amax(1),
            columns=pooled[:, question_length:],
            cells=everything[:, :, question_length:],
            cell_mask=cell_mask,
        )


class Head(nn.Module):
    """Ours: which cells, and which operation, from the snapshot's question and columns and the encoded cells."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.cell = nn.Sequential(nn.Linear(3 * hidden, hidden), nn.GELU(), nn.Linear(hidden, 1))
        self.operation = nn.Sequential(
            nn.Linear(2 * hidden, hidden), nn.GELU(), nn.Linear(hidden, len(OPERATIONS))
        )

    def forward(self, question: Tensor, columns: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        """question (hidden), columns (columns, hidden), cells (rows, columns, hidden) of one table.

        The logits of its cells (rows, columns) and of the operations.
        """
        rows, wide, hidden = cells.shape
        beside = torch.cat(
            [cells, columns.expand(rows, wide, hidden), question.expand(rows, wide, hidden)], dim=-1
        )
        logits = self.cell(beside).squeeze(-1)
        if rows:
            looked_at = (logits.flatten().softmax(0)[:, None] * cells.flatten(0, 1)).sum(0)
        else:
            looked_at = torch.zeros_like(question)
        return logits, self.operation(torch.cat([question, looked_at]))


class TabertNetwork(nn.Module):
    """Encoder and head."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        self.configuration = configuration
        self.encoder = TabertEncoder(configuration)
        self.head = Head(configuration.hidden)

    def forward(
        self, readings: Sequence[TabertInput], width: Sequence[int], budget: int, stop: Stop
    ) -> list[Any]:
        """(cell logits, operation logits) of each reading; None where `stop` came true before it was done."""
        encodings: dict[tuple[int, int], tuple[Tensor, Tensor, Tensor]] = {}
        groups = [
            (index, n, group) for index, entry in enumerate(readings) for n, group in enumerate(entry.groups)
        ]
        for chunk in _chunks(groups, budget):
            alive = [entry for entry in chunk if not stop(entry[0])]
            if not alive:
                continue
            out = self.encoder([group for _, _, group in alive])
            for k, (index, n, group) in enumerate(alive):
                encodings[index, n] = (out.question[k, 0], out.columns[k], out.cells[k, : len(group)])
        answers: list[Any] = []
        for index, entry in enumerate(readings):
            if any((index, n) not in encodings for n in range(len(entry.groups))):
                answers.append(None)
                continue
            question, columns, _ = encodings[index, 0]
            cells = [_fit_columns(encodings[index, n][2], width[index]) for n in range(1, len(entry.groups))]
            hidden = self.configuration.hidden
            body = torch.cat(cells) if cells else question.new_zeros((0, width[index], hidden))
            answers.append(self.head(question, _fit_columns(columns, width[index]), body))
        return answers


def _fit_columns(states: Tensor, width: int) -> Tensor:
    """The same columns, as many as the table has: padding of the batch off, unseen columns as zeros."""
    states = states[..., :width, :]
    return nn.functional.pad(states, (0, 0, 0, width - states.shape[-2]))


def _chunks(
    groups: Sequence[tuple[int, int, tuple[Line, ...]]], budget: int
) -> Iterator[list[tuple[int, int, tuple[Line, ...]]]]:
    """Groups of similar length together, within a budget of tokens, padding counted."""
    chunk: list[tuple[int, int, tuple[Line, ...]]] = []
    size = 0
    for entry in sorted(groups, key=lambda entry: max(len(line.ids) for line in entry[2])):
        longest = max(len(line.ids) for line in entry[2])
        size += len(entry[2])
        if chunk and longest * size > budget:
            yield chunk
            chunk, size = [], len(entry[2])
        chunk.append(entry)
    if chunk:
        yield chunk
