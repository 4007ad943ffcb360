"""TAPAS as transformers has it: BERT over a table, cells chosen, an operation named. (Herzig et al., ACL 2020)

The tokenizer is transformers' own, in its "drop rows to fit" mode: what does not fit in 512 tokens is left out, first
words at the end of cells, then rows at the end of the table. The features that rank the numbers of a column rank those
of the rows that are left (transformers ranks all, and fails beyond 255).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from predictor.architectures.operations import answers_of
from predictor.architectures.tapex import BUDGETS, RequestCache, pretrained, question_of
from predictor.checkpoints import Checkpoint, ModelError, Stop, weights_sha
from predictor.protocol import Prediction, PredictRequest, ProtocolError, refused
from tableqa import Table

if TYPE_CHECKING:
    from torch import Tensor

MOST_TOKENS = 512
SEGMENT, COLUMN, ROW, PREVIOUS = 0, 1, 2, 3
"""What the columns of TAPAS' token types mean; rows and columns count from 1 there, and 0 is no cell."""
OPERATIONS = {"NONE": "select", "SUM": "sum", "AVERAGE": "average", "COUNT": "count"}
THRESHOLD = 0.5
MOST_ROWS = 254
"""The row embeddings that there are, less the header's and the one for no row."""
FAR = -10_000.0
"""Added to logits that must not be chosen, as in the published code."""
EPSILON = 1e-10


@dataclass(frozen=True)
class TapasInput:
    """A request as the model reads it."""

    ids: tuple[int, ...]
    types: tuple[tuple[int, ...], ...]
    rows_seen: int
    truncated: bool


class Tapas:
    """A TapasForQuestionAnswering in evaluation mode with its tokenizer."""

    architecture = "tapas"

    def __init__(self, network: Any, tokenizer: Any, checkpoint: Checkpoint, sha: str) -> None:
        self.name, self.sha, self.licence = checkpoint.name, sha, checkpoint.licence
        self.network = network
        self.tokenizer = tokenizer
        self.with_context = checkpoint.with_context
        self.device = network.device
        self.budget = checkpoint.budget or BUDGETS[self.device.type]
        self.most = min(MOST_TOKENS, network.config.max_position_embeddings)
        self._encoded = RequestCache(self._encode)

    @classmethod
    def load(cls, checkpoint: Checkpoint, device: str) -> Tapas:
        """The model of a folder. Raises ModelError."""
        from transformers import TapasForQuestionAnswering, TapasTokenizer

        network, loading = pretrained(
            TapasForQuestionAnswering,
            checkpoint,
            dtype=checkpoint.dtype,
            output_loading_info=True,
        )
        if untrained_heads(loading):
            raise ModelError(
                f"{checkpoint.folder} has no weights for choosing cells: it is a pre-trained encoder. Train it first "
                f"(in a clone of Askew: ./run train --architecture tapas --init {checkpoint.folder})"
            )
        if untrained_operations(loading):
            raise ModelError(
                f"{checkpoint.folder} has no weights for the operations that its config.json names. Train it first "
                f"(in a clone of Askew: ./run train --architecture tapas --init {checkpoint.folder}), or set "
                "num_aggregation_labels to 0"
            )
        tokenizer = pretrained(TapasTokenizer, checkpoint)
        return cls(network.eval().to(device), tokenizer, checkpoint, weights_sha(checkpoint.folder))

    def tokens(self, request: PredictRequest) -> int:
        """The length of the input."""
        encoded: TapasInput = self._encoded(request)
        return len(encoded.ids)

    def _encode(self, request: PredictRequest) -> TapasInput:
        import pandas as pd

        table, question = request.table, question_of(request, self.with_context)
        pieces = [
            [self.tokenizer.tokenize(cell) for cell in row] for row in (table.header, *table.rows[:MOST_ROWS])
        ]
        room = self.most - 2 - len(self.tokenizer.tokenize(question))
        fitting_rows = rows_that_fit(pieces, room)
        if fitting_rows is None:
            raise refused("too_large", f"Question and header alone are longer than {self.most} tokens.")
        # transformers drops row after row and counts again each time, which takes minutes for a long table; and it
        # ranks numbers among all rows, for which its embeddings end at 256. So it is given the rows that fit.
        frame = pd.DataFrame(
            [list(row) for row in table.rows[:fitting_rows]], columns=list(table.header), dtype=str
        )
        try:
            out = self.tokenizer(
                table=frame, queries=question, truncation="drop_rows_to_fit", max_length=self.most
            )
        except ValueError as error:
            raise refused("too_large", f"TAPAS cannot read this table: {error}.") from None
        types = [list(token_types) for token_types in out["token_type_ids"]]
        self._mark_previous(request, types)
        whole = sum(max(1, len(cell)) for row in pieces for cell in row)
        return TapasInput(
            ids=tuple(out["input_ids"]),
            types=tuple(map(tuple, types)),
            rows_seen=max((token_types[ROW] for token_types in types), default=0),
            truncated=fitting_rows < len(table.rows) or whole > room,
        )

    @staticmethod
    def _mark_previous(request: PredictRequest, types: list[list[int]]) -> None:
        """In a dialogue, say which cells answered the turn before, as TAPAS was trained on SQA."""
        if not request.history:
            return
        answers = {answer.strip().lower() for answer in request.history[-1].answers}
        cells = {
            (row, column)
            for row, line in enumerate(request.table.rows, 1)
            for column, cell in enumerate(line, 1)
            if cell.strip().lower() in answers
        }
        for token_types in types:
            token_types[PREVIOUS] = int((token_types[ROW], token_types[COLUMN]) in cells)

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        """One pass through the model, too short to be stopped."""
        import torch

        encoded: list[TapasInput] = [self._encoded(request) for request in requests]
        with torch.inference_mode():
            scores = scores_of(
                self.network, *inputs_of(encoded, self.device, self.network.config.pad_token_id)
            )
            chosen = torch.sigmoid(selected_logits(scores)).cpu().tolist()
            operations = None
            if scores.operations is not None:
                operations = torch.softmax(scores.operations, dim=-1).cpu().tolist()
        return [
            self._prediction(
                request, encoding, chosen[index], None if operations is None else operations[index]
            )
            for index, (request, encoding) in enumerate(zip(requests, encoded, strict=True))
        ]

    def _prediction(
        self,
        request: PredictRequest,
        encoded: TapasInput,
        chosen: Sequence[float],
        operations: Sequence[float] | None,
    ) -> Prediction:
        shares = cell_shares(encoded, chosen)
        cells = sorted(cell for cell, share in shares.items() if share > THRESHOLD)
        operation, certainty = "select", 1.0
        if operations is not None:
            label = max(range(len(operations)), key=operations.__getitem__)
            operation, certainty = self._operation(label), operations[label]
        answers = answers_of(operation, [request.table.rows[row][column] for row, column in cells])
        if cells:
            certainty *= sum(shares[cell] for cell in cells) / len(cells)
        return Prediction(
            answers=answers,
            text=f"{operation} > {', '.join(answers)}",
            op=operation,
            cells=tuple(cells),
            score=min(1.0, certainty),
            rows_seen=encoded.rows_seen,
            rows_total=len(request.table.rows),
            truncated=encoded.truncated,
        )

    def _operation(self, label: int) -> str:
        labels: Mapping[Any, str] = self.network.config.aggregation_labels or {}
        name = labels.get(label, labels.get(str(label), ("NONE", "SUM", "AVERAGE", "COUNT")[label]))
        return OPERATIONS[name]


# --- logits ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scores:
    """What TAPAS says about a batch: N examples of L tokens; C cells, W columns (0 is no column) and O operations.

    tokens         (N, L) logits, divided by the temperature
    cells          (N, C) their means
    columns        (N, W) logits; None if cells of several columns can be chosen
    operations     (N, O) logits; None without operations
    token_cells    (N, L) the cell of each token
    token_columns  (N, L) the column of each token
    cell_columns   (C,) the column of each cell
    cell_mask      (N, C) 1.0 for cells that exist, the header's among them
    mask           (N, L) 1.0 for tokens that are no padding
    table_mask     (N, L) 1.0 for tokens of rows
    """

    tokens: Tensor
    cells: Tensor
    columns: Tensor | None
    operations: Tensor | None
    token_cells: Tensor
    token_columns: Tensor
    cell_columns: Tensor
    cell_mask: Tensor
    mask: Tensor
    table_mask: Tensor


def inputs_of(encoded: Sequence[TapasInput], device: Any, pad: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """Token ids (N, L), mask (N, L) and token types (N, L, 7) of a batch."""
    import torch

    longest = max(len(encoding.ids) for encoding in encoded)
    ids = torch.full((len(encoded), longest), pad or 0)
    mask = torch.zeros_like(ids)
    types = torch.zeros((len(encoded), longest, len(encoded[0].types[0])), dtype=torch.long)
    for index, encoding in enumerate(encoded):
        ids[index, : len(encoding.ids)] = torch.tensor(encoding.ids)
        mask[index, : len(encoding.ids)] = 1
        types[index, : len(encoding.ids)] = torch.tensor(encoding.types)
    return ids.to(device), mask.to(device), types.to(device)


def scores_of(network: Any, ids: Tensor, mask: Tensor, types: Tensor) -> Scores:
    """The logits of a TapasForQuestionAnswering in 32-bit floats, before one column is chosen.

    They are computed here because transformers' forward masks all columns but one if it is given no labels, and fails
    without labels if `select_one_column` is false.
    """
    import torch

    config = network.config
    out = network.tapas(input_ids=ids, attention_mask=mask, token_type_ids=types)
    states = network.dropout(out.last_hidden_state)
    rows = types[..., ROW].clamp(max=config.max_num_rows - 1)
    columns = types[..., COLUMN].clamp(max=config.max_num_columns - 1)
    cells = rows * config.max_num_columns + columns
    size = config.max_num_rows * config.max_num_columns
    weight = mask.float()

    def mean_per_cell(values: Tensor) -> Tensor:
        total = values.new_zeros((len(ids), size)).scatter_add(1, cells, values)
        count = values.new_zeros((len(ids), size)).scatter_add(1, cells, torch.ones_like(values))
        return total / count.clamp(min=1)

    tokens = ((states @ network.output_weights + network.output_bias) / config.temperature).float()
    cell_logits = mean_per_cell(tokens)
    if config.average_logits_per_cell:
        tokens = cell_logits.gather(1, cells)
    cell_mask = mean_per_cell(weight)
    cell_columns = torch.arange(size, device=ids.device) % config.max_num_columns
    column_logits = None
    if config.select_one_column:
        each = mean_per_cell((states @ network.column_output_weights + network.column_output_bias).float())
        spread = cell_columns.expand(len(ids), -1)
        empty = each.new_zeros((len(ids), config.max_num_columns))
        count = empty.scatter_add(1, spread, cell_mask)
        column_logits = empty.scatter_add(1, spread, each * cell_mask) / (count + EPSILON)
        column_ids = torch.arange(config.max_num_columns, device=ids.device)
        absent = (count < 0.5) & (column_ids != 0)
        if not config.allow_empty_column_selection:
            absent = absent | (column_ids == 0)
        column_logits = column_logits + absent * FAR
    operations = None
    if config.num_aggregation_labels > 0:
        operations = network.aggregation_classifier(out.pooler_output).float()
    return Scores(
        tokens=tokens,
        cells=cell_logits,
        columns=column_logits,
        operations=operations,
        token_cells=cells,
        token_columns=columns,
        cell_columns=cell_columns,
        cell_mask=cell_mask,
        mask=weight,
        table_mask=(types[..., ROW] > 0).float(),
    )


def selected_logits(scores: Scores) -> Tensor:
    """(N, L): logits of the tokens; FAR below outside the likeliest column if only one column can be chosen."""
    if scores.columns is None:
        return scores.tokens
    likeliest = scores.columns.argmax(-1, keepdim=True)
    inside = (scores.cell_columns[None] == likeliest) & (scores.cell_columns != 0)[None]
    logits = scores.cells + FAR * (1.0 - scores.cell_mask * inside)
    return logits.gather(1, scores.token_cells)


def untrained_heads(loading: Mapping[str, Any]) -> bool:
    """Whether a folder that was just loaded had no weights for choosing cells."""
    return bool({"output_weights", "output_bias"} & set(loading["missing_keys"]))


def untrained_operations(loading: Mapping[str, Any]) -> bool:
    """Whether a folder that was just loaded names operations and had no weights for them."""
    return "aggregation_classifier.weight" in loading["missing_keys"]


# --- tables ------------------------------------------------------------------------------------------------


def numeric_cells(table: Table, rows: int) -> dict[tuple[int, int], float]:
    """The numbers of cells in the first `rows` rows, as the published tokenizer reads them for the loss.

    A column has numbers if it reads as numbers in most of its cells (transformers: 70 %); dates are none.
    """
    import math

    import pandas as pd
    from transformers.models.tapas.tokenization_tapas import add_numeric_table_values

    frame = pd.DataFrame([list(row) for row in table.rows[:rows]], columns=list(table.header), dtype=str)
    parsed = add_numeric_table_values(frame)
    numbers: dict[tuple[int, int], float] = {}
    for i in range(len(parsed)):
        for j in range(len(table.header)):
            value = parsed.iloc[i, j].numeric_value
            if value is not None and value.float_value is not None and math.isfinite(value.float_value):
                numbers[i, j] = value.float_value
    return numbers


def rows_that_fit(pieces: Sequence[Sequence[Sequence[str]]], room: int) -> int | None:
    """How many rows fit beside their header when each cell keeps its first word; None where the header does not.

    pieces   word pieces of the cells, the header first; of an empty cell one, [EMPTY], is written
    """
    for index, row in enumerate(pieces):
        for cell in row:
            first = next((n for n, piece in enumerate(cell) if n and not piece.startswith("##")), len(cell))
            room -= max(1, first)
        if room < 0:
            return index - 1 if index else None
    return len(pieces) - 1


def cell_shares(encoded: TapasInput, chosen: Sequence[float]) -> dict[tuple[int, int], float]:
    """How likely each cell is part of the answer: the mean over its tokens. Rows and columns count from 0."""
    tokens: dict[tuple[int, int], list[float]] = defaultdict(list)
    for token_types, share in zip(encoded.types, chosen, strict=False):
        if token_types[SEGMENT] == 1 and token_types[ROW] and token_types[COLUMN]:
            tokens[token_types[ROW] - 1, token_types[COLUMN] - 1].append(share)
    return {cell: sum(shares) / len(shares) for cell, shares in tokens.items()}
