"""TAPAS's training loss from answers alone (Herzig et al., ACL 2020, 4.2 and appendix), without transformers' forward.

For each example the loss is the sum of three parts:

* selection: which column, then which of its cells (`select_one_column`); or, without it, which tokens;
* aggregation: no operation where cells are the answer, some operation where a number has to be computed;
* regression: Huber loss between the expected result of the operations and the number.

Where the answer is a number that is also a cell, the model decides: the cells are the target unless the operations
have more probability than `cell_selection_preference`. A computed number whose Huber loss exceeds
`answer_loss_cutoff` contributes neither aggregation nor regression loss.

transformers computes the loss only when its forward is given labels, and without labels it replaces the logits of all
columns but one by -10,000, so no gradient reaches the column head.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from predictor.architectures.tapas import EPSILON, Scores, selected_logits

WTQ = {
    "num_aggregation_labels": 4,
    "aggregation_labels": {0: "NONE", 1: "SUM", 2: "AVERAGE", 3: "COUNT"},
    "use_answer_as_supervision": True,
    "answer_loss_cutoff": 0.664694,
    "cell_selection_preference": 0.207951,
    "huber_loss_delta": 0.121194,
    "init_cell_selection_weights_to_zero": True,
    "select_one_column": True,
    "allow_empty_column_selection": False,
    "temperature": 0.0352513,
}
"""The published settings for WikiTableQuestions (google-research/tapas, hparam_utils.py)."""


@dataclass(frozen=True)
class Targets:
    """What a batch should answer.

    labels    (examples, tokens): 1.0 for tokens of answer cells
    answers   (examples,): the number of a numeric answer, NaN for other answers
    values    (examples, tokens): the number of the token's cell, NaN without one
    scales    (examples, tokens): how many tokens the token's cell has
    """

    labels: Tensor
    answers: Tensor
    values: Tensor
    scales: Tensor


def weak_supervision_loss(scores: Scores, targets: Targets, config: Any) -> Tensor:
    """The loss of each example, (examples,).

    config   a TapasConfig. Its relaxed (Gumbel) selections are not supported: no published checkpoint uses them.
    """
    if scores.columns is None:
        selection = token_selection_loss(scores, targets.labels, config.positive_label_weight)
    else:
        selection = column_selection_loss(scores, targets.labels)
    if config.disable_per_token_loss:
        selection = torch.zeros_like(selection)
    if scores.operations is None:
        return selection
    computed = needs_operation(scores, targets, config)
    log_shares = scores.operations.log_softmax(-1)
    some_operation = log_shares[:, 1:].logsumexp(-1)
    aggregation = -torch.where(computed, some_operation, log_shares[:, 0]) * config.aggregation_loss_weight
    distance = answer_distance(expected_result(scores, targets, config), targets.answers, config)
    distance = torch.where(computed, distance, torch.zeros_like(distance))
    within = torch.ones_like(distance)
    if config.answer_loss_cutoff is not None:
        within = (distance <= config.answer_loss_cutoff).to(distance.dtype)
    additional = (aggregation + config.answer_loss_importance * distance) * within
    return torch.where(computed, torch.zeros_like(selection), selection) + additional


def token_selection_loss(scores: Scores, labels: Tensor, positive_weight: float) -> Tensor:
    """Mean cross-entropy over the tokens of an example; tokens of answer cells weigh `positive_weight`."""
    weight = torch.where(labels > 0, positive_weight, 1.0)
    each = functional.binary_cross_entropy_with_logits(scores.tokens, labels, reduction="none") * weight
    return (each * scores.mask).sum(1) / (scores.mask.sum(1) + EPSILON)


def column_selection_loss(scores: Scores, labels: Tensor) -> Tensor:
    """Cross-entropy of the column, plus the mean cross-entropy of its cells; column 0 means no answer cell.

    The target is the column with most answer tokens. Its header counts as a cell that is no answer.
    """
    if scores.columns is None:
        raise ValueError("the network has no column head: use token_selection_loss")
    tokens_per_column = labels.new_zeros(scores.columns.shape).scatter_add(1, scores.token_columns, labels)
    most, column = tokens_per_column.max(1)
    column = torch.where(most > 0, column, torch.zeros_like(column))
    column_loss = functional.cross_entropy(scores.columns, column, reduction="none")
    answer_cells = labels.new_zeros(scores.cell_mask.shape).scatter_reduce(
        1, scores.token_cells, labels, reduce="amax"
    )
    in_column = (scores.cell_columns[None] == column[:, None]) * scores.cell_mask
    each = functional.binary_cross_entropy_with_logits(scores.cells, answer_cells, reduction="none")
    cell_loss = (each * in_column).sum(1) / (in_column.sum(1) + EPSILON)
    return column_loss + torch.where(most > 0, cell_loss, torch.zeros_like(cell_loss))


def needs_operation(scores: Scores, targets: Targets, config: Any) -> Tensor:
    """(examples,) bool: whether the answer is a number that an operation has to compute."""
    if scores.operations is None:
        raise ValueError("the network has no aggregation head")
    operations = scores.operations.detach().softmax(-1)[:, 1:].sum(-1)
    preference = config.cell_selection_preference
    preference = WTQ["cell_selection_preference"] if preference is None else preference
    prefers_cells = (operations <= preference) & (targets.labels.sum(1) > 0)
    return ~torch.isnan(targets.answers) & ~prefers_cells


def expected_result(scores: Scores, targets: Targets, config: Any) -> Tensor:
    """(examples,): sum, average and count of the cells, each weighted by the probability of its operation."""
    if scores.operations is None:
        raise ValueError("the network has no aggregation head")
    shares = selected_logits(scores).sigmoid() / targets.scales * scores.table_mask
    values = targets.values.nan_to_num(nan=0.0)
    count, total = shares.sum(1), (shares * values).sum(1)
    kind = config.average_approximation_function
    if kind == "ratio":
        average = total / (count + EPSILON)
    else:
        others = count[:, None] - shares + 1
        factor = 1 / others
        if kind == "second_order":
            variance = shares * (1 - shares)
            factor = ((variance.sum(1, keepdim=True) - variance) / others**2 + 1) / others
        average = (values * shares * factor).sum(1)
    weights = (scores.operations[:, 1:] / config.aggregation_temperature).softmax(-1)
    return (torch.stack([total, average, count], 1) * weights).sum(1)


def answer_distance(results: Tensor, answers: Tensor, config: Any) -> Tensor:
    """Huber loss of (examples,) results; relative to the larger of the two if the configuration says so."""
    expected = answers.nan_to_num(nan=0.0)
    delta = config.huber_loss_delta or 1.0
    if config.use_normalized_answer_loss:
        size = torch.maximum(results.abs(), expected.abs()).detach() + EPSILON
        results, expected, delta = results / size, expected / size, 1.0
    return functional.huber_loss(results, expected, reduction="none", delta=delta)
