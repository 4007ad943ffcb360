"""The likelihood of the gold answers: the sum over every derivation that gives them, for a whole batch at once.

    loss = -log sum_d weight(d) * p(d)

A derivation is a cell, a choice of rows with a column, a pair of cells, how many rows there are whichever they are
(the Poisson binomial distribution, exactly), or a mere operation. No loop runs over the questions of a batch, so that a
GPU is not kept waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from predictor.bundled.decode import COLUMN_OF, FULL_ROWS, HEADER_COLUMN, OP
from predictor.training.supervision import Supervision


@dataclass
class Targets:
    """The derivations of a batch as tensors; `_of` says which question of the batch a derivation belongs to."""

    cell_of: Tensor
    cell_operation: Tensor
    cell_place: Tensor
    cell_weight: Tensor
    mask_of: Tensor
    mask_operation: Tensor
    mask_column: Tensor
    mask_score: Tensor
    mask_rows: Tensor
    mask_weight: Tensor
    count_of: Tensor
    count_rows: Tensor
    count_weight: Tensor
    pair_of: Tensor
    pair_first: Tensor
    pair_second: Tensor
    pair_weight: Tensor
    flag_of: Tensor
    flag_operation: Tensor
    flag_weight: Tensor
    header_of: Tensor
    header_column: Tensor
    header_weight: Tensor

    def to(self, device: str | torch.device) -> Targets:
        """The same on another device."""
        moved = {name: value.to(device, non_blocking=True) for name, value in vars(self).items()}
        return Targets(**moved)


def targets(supervisions: Sequence[Supervision], widths: Sequence[int], height: int, width: int) -> Targets:
    """The tensors of a batch padded to `height` rows and `width` columns; `widths` are the columns of each question."""
    cells: list[tuple[int, int, int, float]] = []
    masks: list[tuple[int, int, int, int, float]] = []
    rows: list[tuple[int, ...]] = []
    counts: list[tuple[int, int, float]] = []
    pairs: list[tuple[int, int, int, float]] = []
    flags: list[tuple[int, int, float]] = []
    headers: list[tuple[int, int, float]] = []
    for index, (supervision, own) in enumerate(zip(supervisions, widths, strict=True)):

        def padded(flat: int, own: int = own) -> int:
            return flat // own * width + flat % own

        cells += [
            (index, OP[name], padded(flat), weight) for (name, flat), weight in supervision.cells.items()
        ]
        for (name, column, chosen), weight in supervision.masks.items():
            masks.append((index, OP[name], max(column, 0), COLUMN_OF.get(name, -1), weight))
            rows.append(chosen)
        if supervision.count >= 0:
            counts.append((index, supervision.count, supervision.count_weight))
        for (first, second), weight in supervision.pairs.items():
            pairs += [
                (index, padded(first), padded(second), weight),
                (index, padded(second), padded(first), weight),
            ]
        flags += [(index, OP[name], weight) for name, weight in supervision.flags.items()]
        headers += [(index, column, weight) for column, weight in supervision.headers.items()]
    chosen_rows = np.zeros((len(rows), height), np.float32)
    for index, chosen in enumerate(rows):
        chosen_rows[index, list(chosen)] = 1
    return Targets(
        **_weighted_columns("cell", ("of", "operation", "place"), cells),
        **_weighted_columns("mask", ("of", "operation", "column", "score"), masks),
        **_weighted_columns("count", ("of", "rows"), counts),
        **_weighted_columns("pair", ("of", "first", "second"), pairs),
        **_weighted_columns("flag", ("of", "operation"), flags),
        **_weighted_columns("header", ("of", "column"), headers),
        mask_rows=torch.from_numpy(chosen_rows),
    )


def _weighted_columns(
    kind: str, names: Sequence[str], entries: Sequence[tuple[float, ...]]
) -> dict[str, Tensor]:
    """The columns of what was found by name; the last one is the weight, of which the logarithm is taken."""
    table = np.array(entries, np.float64).reshape(len(entries), len(names) + 1)
    out = {
        f"{kind}_{name}": torch.from_numpy(table[:, index].astype(np.int64))
        for index, name in enumerate(names)
    }
    out[f"{kind}_weight"] = torch.from_numpy(np.log(np.maximum(table[:, -1], 1e-9)).astype(np.float32))
    return out


def log_counts(rows: Tensor, present: Tensor) -> Tensor:
    """(B, R + 1): log-probability that k of the independent rows are chosen, from their scores (B, R).

    Rows that are not `present` (B, R) are never chosen. Exact, one step for each row, in logarithms.
    """
    yes = functional.logsigmoid(rows).masked_fill(present < 0.5, -80.0)
    no = functional.logsigmoid(-rows).masked_fill(present < 0.5, 0.0)
    out = torch.full((len(rows), rows.shape[1] + 1), -80.0, device=rows.device)
    out[:, 0] = 0.0
    for index in range(rows.shape[1]):
        shifted = functional.pad(out[:, :-1], (1, 0), value=-160.0)
        out = torch.logaddexp(out + no[:, index : index + 1], shifted + yes[:, index : index + 1])
    return out


def loss(outputs: Sequence[Tensor], goal: Targets, cells: Tensor) -> Tensor:
    """(B,) minus the log-likelihood of each question's answers; 0 for a question without any derivation.

    `outputs` are the network's, `cells` (B, R, C) says which cells there are.
    """
    operations, cell_scores, row_scores, column_scores = outputs
    batch = len(cells)
    chosen_operation = functional.log_softmax(operations, -1)
    cell = functional.log_softmax(cell_scores.reshape(batch, -1, 3), 1)
    column = functional.log_softmax(column_scores, 1)
    present = cells.amax(2)
    height = present.sum(1).clamp(min=1)
    terms = [
        goal.cell_weight
        + chosen_operation[goal.cell_of, goal.cell_operation]
        + cell[goal.cell_of, goal.cell_place, 0],
        goal.pair_weight
        + chosen_operation[goal.pair_of, OP["difference"]]
        + cell[goal.pair_of, goal.pair_first, 1]
        + cell[goal.pair_of, goal.pair_second, 2],
        goal.flag_weight + chosen_operation[goal.flag_of, goal.flag_operation],
        goal.header_weight
        + chosen_operation[goal.header_of, OP["header"]]
        + column[goal.header_of, goal.header_column, HEADER_COLUMN],
    ]
    owners = [goal.cell_of, goal.pair_of, goal.flag_of, goal.header_of]
    if len(goal.mask_of):
        scores = row_scores[goal.mask_of]
        each = (
            functional.logsigmoid(torch.where(goal.mask_rows > 0.5, scores, -scores)) * present[goal.mask_of]
        )
        whole = each.sum(1) * (FULL_ROWS / height[goal.mask_of]).clamp(max=1)
        named = column[goal.mask_of, goal.mask_column, goal.mask_score.clamp(min=0)]
        named = torch.where(goal.mask_score >= 0, named, torch.zeros_like(named))
        terms.append(goal.mask_weight + chosen_operation[goal.mask_of, goal.mask_operation] + whole + named)
        owners.append(goal.mask_of)
    if len(goal.count_of):
        counts = log_counts(row_scores[goal.count_of], present[goal.count_of])
        of = torch.arange(len(goal.count_of), device=counts.device)
        terms.append(
            goal.count_weight + chosen_operation[goal.count_of, OP["count"]] + counts[of, goal.count_rows]
        )
        owners.append(goal.count_of)
    return -_log_sums(torch.cat(terms), torch.cat(owners), batch)


def _log_sums(terms: Tensor, owners: Tensor, batch: int) -> Tensor:
    """logsumexp of the terms of each owner; 0 for an owner without terms."""
    highest = torch.full((batch,), -1e30, device=terms.device, dtype=terms.dtype)
    highest = highest.scatter_reduce(0, owners, terms.detach(), "amax")
    has = highest > -1e29
    highest = torch.where(has, highest, torch.zeros_like(highest))
    sums = torch.zeros_like(highest).index_add(0, owners, (terms - highest[owners]).exp())
    return torch.where(has, sums.clamp(min=1e-30).log() + highest, torch.zeros_like(sums))
