"""TAPAS as transformers has it: BERT over a table, cells chosen, an operation named. (Herzig et al., ACL 2020)

The tokenizer is transformers' own, in its "drop rows to fit" mode: what does not fit in 512 tokens is left out, first
words at the end of cells, then rows at the end of the table. The features that rank the numbers of a column rank those
of the rows that are left (transformers ranks all, and fails beyond 255).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predictor.architectures import Checkpoint, Stop, weights_sha
from predictor.architectures.operations import answers_of
from predictor.architectures.tapex import BUDGETS, Remembered, network_of, pretrained, question_of
from predictor.protocol import Prediction, PredictRequest, ProtocolError, refused

MOST_TOKENS = 512
SEGMENT, COLUMN, ROW, PREVIOUS = 0, 1, 2, 3
"""What the columns of TAPAS' token types mean; rows and columns count from 1 there, and 0 is no cell."""
OPERATIONS = {"NONE": "select", "SUM": "sum", "AVERAGE": "average", "COUNT": "count"}
THRESHOLD = 0.5
MOST_ROWS = 254
"""The row embeddings that there are, less the header's and the one for no row."""


@dataclass(frozen=True)
class Encoded:
    """A request as the model reads it."""

    ids: tuple[int, ...]
    types: tuple[tuple[int, ...], ...]
    rows_seen: int
    truncated: bool


class Tapas:
    """A TapasForQuestionAnswering in evaluation mode with its tokenizer."""

    architecture = "tapas"

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        *,
        name: str,
        sha: str,
        licence: str,
        budget: int | None = None,
        with_context: bool = False,
    ) -> None:
        self.name, self.sha, self.licence = name, sha, licence
        self.network = network
        self.tokenizer = tokenizer
        self.with_context = with_context
        self.device = network.device
        self.budget = budget or BUDGETS[self.device.type]
        self.most = min(MOST_TOKENS, network.config.max_position_embeddings)
        self._encoded = Remembered(self._encode)

    @classmethod
    def load(cls, checkpoint: Checkpoint, device: str) -> Tapas:
        """The model of a folder. Raises ModelError."""
        from transformers import TapasForQuestionAnswering, TapasTokenizer

        settings = checkpoint.settings
        return cls(
            network_of(TapasForQuestionAnswering, checkpoint, device),
            pretrained(TapasTokenizer, checkpoint),
            name=checkpoint.name,
            sha=weights_sha(checkpoint.folder),
            licence=checkpoint.licence,
            budget=settings.get("budget"),
            with_context=bool(settings.get("context", False)),
        )

    def tokens(self, request: PredictRequest) -> int:
        """The length of the input."""
        encoded: Encoded = self._encoded(request)
        return len(encoded.ids)

    def _encode(self, request: PredictRequest) -> Encoded:
        import pandas as pd

        table, question = request.table, question_of(request, self.with_context)
        pieces = [
            [self.tokenizer.tokenize(cell) for cell in row] for row in (table.header, *table.rows[:MOST_ROWS])
        ]
        room = self.most - 2 - len(self.tokenizer.tokenize(question))
        kept = rows_that_fit(pieces, room)
        if kept is None:
            raise refused("too_large", f"Question and header alone are longer than {self.most} tokens.")
        # transformers drops row after row and counts anew each time, which takes minutes for a long table; and it
        # ranks numbers among all rows, for which its embeddings end at 256. So it is given the rows that fit.
        frame = pd.DataFrame([list(row) for row in table.rows[:kept]], columns=list(table.header), dtype=str)
        try:
            out = self.tokenizer(
                table=frame, queries=question, truncation="drop_rows_to_fit", max_length=self.most
            )
        except ValueError as error:
            raise refused("too_large", f"TAPAS cannot read this table: {error}.") from None
        types = [list(one) for one in out["token_type_ids"]]
        self._mark_previous(request, types)
        whole = sum(max(1, len(cell)) for row in pieces for cell in row)
        return Encoded(
            ids=tuple(out["input_ids"]),
            types=tuple(map(tuple, types)),
            rows_seen=max((one[ROW] for one in types), default=0),
            truncated=kept < len(table.rows) or whole > room,
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
        for one in types:
            one[PREVIOUS] = int((one[ROW], one[COLUMN]) in cells)

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        """One pass through the model, too short to be stopped."""
        import torch

        encoded: list[Encoded] = [self._encoded(request) for request in requests]
        longest = max(len(one.ids) for one in encoded)
        pad = self.network.config.pad_token_id or 0
        ids = torch.full((len(encoded), longest), pad)
        mask = torch.zeros_like(ids)
        types = torch.zeros((len(encoded), longest, len(encoded[0].types[0])), dtype=torch.long)
        for place, one in enumerate(encoded):
            ids[place, : len(one.ids)] = torch.tensor(one.ids)
            mask[place, : len(one.ids)] = 1
            types[place, : len(one.ids)] = torch.tensor(one.types)
        with torch.inference_mode():
            out = self.network(
                input_ids=ids.to(self.device),
                attention_mask=mask.to(self.device),
                token_type_ids=types.to(self.device),
            )
        chosen = torch.sigmoid(out.logits.float()).cpu().tolist()
        operations = None
        if out.logits_aggregation is not None:
            operations = torch.softmax(out.logits_aggregation.float(), dim=-1).cpu().tolist()
        return [
            self._prediction(request, one, chosen[place], None if operations is None else operations[place])
            for place, (request, one) in enumerate(zip(requests, encoded, strict=True))
        ]

    def _prediction(
        self,
        request: PredictRequest,
        encoded: Encoded,
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


def rows_that_fit(pieces: Sequence[Sequence[Sequence[str]]], room: int) -> int | None:
    """How many rows fit beside their header when each cell keeps its first word; None where the header does not.

    pieces   word pieces of the cells, the header first; of an empty cell one, [EMPTY], is written
    """
    for number, row in enumerate(pieces):
        for cell in row:
            first = next((n for n, piece in enumerate(cell) if n and not piece.startswith("##")), len(cell))
            room -= max(1, first)
        if room < 0:
            return number - 1 if number else None
    return len(pieces) - 1


def cell_shares(encoded: Encoded, chosen: Sequence[float]) -> dict[tuple[int, int], float]:
    """How likely each cell is part of the answer: the mean over its tokens. Rows and columns count from 0."""
    tokens: dict[tuple[int, int], list[float]] = defaultdict(list)
    for one, share in zip(encoded.types, chosen, strict=False):
        if one[SEGMENT] == 1 and one[ROW] and one[COLUMN]:
            tokens[one[ROW] - 1, one[COLUMN] - 1].append(share)
    return {cell: sum(shares) / len(shares) for cell, shares in tokens.items()}
