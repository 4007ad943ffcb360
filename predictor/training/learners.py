"""What differs between architectures when they are fine-tuned: which examples fit, the loss of a batch, what is saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from predictor.architectures import Checkpoint, Model, ModelError, find, load
from predictor.protocol import PredictRequest, ProtocolError
from tableqa import Example
from tableqa.cells import fold, number_of

if TYPE_CHECKING:
    from predictor.architectures.tapas import Scores
    from predictor.training.tapas_loss import Targets

NAN = float("nan")

ARCHITECTURES = ("tapex", "omnitab", "tapas", "tabert")
CHOOSING = ("select", "sum", "average", "count")
"""The operations of `weak_loss`, in this order."""

TOLERANCE = 0.05
"""How exactly `weak_loss` wants a number: this share of it, or of 1 if it is smaller."""

NO_SHA = "0" * 12
"""Of weights that still change."""
TOO_LONG = "longer than the input of the model"
CUT_AWAY = "answer in a row that was cut away"
NO_ANSWER = "no answer"
NO_TARGET = "neither a cell nor a number is the answer"


class Learner(Protocol):
    """A model that is being fine-tuned. `model` answers with the same network."""

    network: torch.nn.Module

    @property
    def model(self) -> Model: ...

    def obstacle(self, example: Example) -> str | None:
        """Why the example cannot be learned from; None if it can."""
        ...

    def length(self, example: Example) -> int:
        """Tokens of the input."""
        ...

    def loss(self, examples: Sequence[Example]) -> Tensor:
        """The mean loss of a batch."""
        ...

    def checkpoint_activations(self) -> None:
        """Recompute activations in the backward pass instead of storing them."""
        ...

    def save(self, folder: Path) -> None:
        """Write the weights; the settings of the initial folder are already there."""
        ...


def learner_of(init: Path, device: str, smoothing: float = 0.0) -> Learner:
    """The learner of a folder. Raises ModelError."""
    checkpoint = find(init)
    # Weights that learn have 32 bits, in any served precision. The recipe has the precision of a loss.
    checkpoint = replace(checkpoint, settings={**checkpoint.settings, "dtype": "float32"})
    if checkpoint.architecture in ("tapex", "omnitab"):
        return WritingLearner(load(init, device, dtype="float32"), smoothing)
    if checkpoint.architecture == "tapas":
        return TapasLearner(checkpoint, device)
    if checkpoint.architecture == "tabert":
        return TabertLearner(checkpoint, device)
    raise ModelError(f"{init} is a {checkpoint.architecture}; {', '.join(ARCHITECTURES)} can be trained")


def is_cut_away(example: Example, rows_seen: int) -> bool:
    """Whether an answer is a cell of the rows that the model does not see, and of no row that it sees."""
    answer_texts = {fold(answer).lower() for answer in example.answers}
    rows = example.table.rows
    seen = {fold(cell).lower() for row in (example.table.header, *rows[:rows_seen]) for cell in row}
    unseen = {fold(cell).lower() for row in rows[rows_seen:] for cell in row}
    return bool(answer_texts & (unseen - seen))


class WritingLearner:
    """TAPEX, OmniTab: the likelihood of the answers, joined by ", " in lower case, with label smoothing."""

    def __init__(self, model: Any, smoothing: float = 0.0) -> None:
        self.model = model
        self.network = model.network
        self.smoothing = smoothing
        self._ids: dict[str, Tensor] = {}

    def obstacle(self, example: Example) -> str | None:
        if not example.answers:
            return NO_ANSWER
        flat = self.model._flat(PredictRequest.about(example))
        return CUT_AWAY if is_cut_away(example, flat.rows_seen) else None

    def length(self, example: Example) -> int:
        return len(self._input(example))

    def _input(self, example: Example) -> Tensor:
        """The input of an example, kept as 4 bytes a token: the tokenizer reads each example once."""
        request = PredictRequest.about(example)
        if request.key not in self._ids:
            self._ids[request.key] = torch.tensor(self.model._flat(request).ids, dtype=torch.int32)
        return self._ids[request.key]

    def loss(self, examples: Sequence[Example]) -> Tensor:
        from predictor.architectures.tapex import PAD, target_ids

        ids = padded(list(map(self._input, examples)), PAD).long()
        targets = [torch.tensor(target_ids(self.model.tokenizer, example.answers)) for example in examples]
        labels = padded(targets, -100)
        device = self.model.device
        labels = labels.to(device)
        out = self.network(
            input_ids=ids.to(device), attention_mask=(ids != PAD).long().to(device), labels=labels
        )
        return torch.nn.functional.cross_entropy(
            out.logits.float().flatten(0, 1), labels.flatten(), label_smoothing=self.smoothing
        )

    def checkpoint_activations(self) -> None:
        self.network.activation_checkpointing_enable()

    def save(self, folder: Path) -> None:
        self.network.save_pretrained(folder)


class TapasLearner:
    """TAPAS by its published loss (`tapas_loss`).

    A pre-trained encoder gets the published settings for WTQ. So does a checkpoint without weights for the operations that
    its config.json names, as one for SQA to which they were added, except where it has settings of its own.
    """

    def __init__(self, checkpoint: Checkpoint, device: str) -> None:
        from transformers import TapasConfig, TapasForQuestionAnswering, TapasTokenizer

        from predictor.architectures.tapas import Tapas, untrained_heads, untrained_operations
        from predictor.architectures.tapex import pretrained
        from predictor.training.tapas_loss import WTQ

        network, loading = pretrained(TapasForQuestionAnswering, checkpoint, output_loading_info=True)
        if untrained_heads(loading):
            network = pretrained(TapasForQuestionAnswering, checkpoint, **WTQ)
        elif untrained_operations(loading):
            general = TapasConfig()
            own = {name for name in WTQ if getattr(network.config, name) != getattr(general, name)}
            settings = {name: value for name, value in WTQ.items() if name not in own}
            network = pretrained(TapasForQuestionAnswering, checkpoint, **settings)
        config = network.config
        if config.num_aggregation_labels not in (0, 4):
            raise ModelError(
                f"this TAPAS has {config.num_aggregation_labels} operations; 0 (SQA) or 4 (WTQ) can be trained"
            )
        if config.use_gumbel_for_cells or config.use_gumbel_for_aggregation:
            raise ModelError("use_gumbel_for_cells and use_gumbel_for_aggregation are not supported")
        self.network = network.to(device)
        self.model = Tapas(network, pretrained(TapasTokenizer, checkpoint), checkpoint, NO_SHA)
        self._inputs: dict[str, tuple[Tensor, ...]] = {}

    def obstacle(self, example: Example) -> str | None:
        try:
            encoded = self._encoded(example)
        except ProtocolError:
            return TOO_LONG
        cells, number = answer_cells(example), answer_number(example)
        if number is not None and self.network.config.num_aggregation_labels:
            return None
        if not cells:
            return NO_TARGET
        return CUT_AWAY if is_cut_away(example, encoded.rows_seen) else None

    def length(self, example: Example) -> int:
        return len(self._prepared(example)[0])

    def _encoded(self, example: Example) -> Any:
        return self.model._encoded(PredictRequest.about(example))

    def _prepared(self, example: Example) -> tuple[Tensor, ...]:
        """ids (L,), types (L, 7), labels (L,), values (L,), scales (L,) of an example, read once."""
        from predictor.architectures.tapas import COLUMN, ROW, SEGMENT, numeric_cells

        key = PredictRequest.about(example).key
        if key not in self._inputs:
            encoded = self._encoded(example)
            gold_cells = answer_cells(example)
            numbers = numeric_cells(example.table, encoded.rows_seen)
            cells = [
                (kind[ROW] - 1, kind[COLUMN] - 1)
                if kind[SEGMENT] == 1 and kind[ROW] and kind[COLUMN]
                else None
                for kind in encoded.types
            ]
            sizes = Counter(cells)
            self._inputs[key] = (
                torch.tensor(encoded.ids, dtype=torch.int32),
                torch.tensor(encoded.types, dtype=torch.int16),
                torch.tensor([float(cell in gold_cells) for cell in cells]),
                torch.tensor([NAN if cell is None else numbers.get(cell, NAN) for cell in cells]),
                torch.tensor([1.0 if cell is None else float(sizes[cell]) for cell in cells]),
            )
        return self._inputs[key]

    def batch(self, examples: Sequence[Example]) -> tuple[Scores, Targets]:
        """What the network says about examples, and what it should answer."""
        from predictor.architectures.tapas import scores_of
        from predictor.training.tapas_loss import Targets

        ids, types, labels, values, scales = zip(*map(self._prepared, examples), strict=True)
        numbers = [answer_number(entry) for entry in examples]
        device, pad = self.network.device, self.network.config.pad_token_id or 0
        mask = padded([torch.ones_like(entry) for entry in ids], 0)
        scores = scores_of(
            self.network,
            padded(ids, pad).long().to(device),
            mask.long().to(device),
            padded(types, 0).long().to(device),
        )
        targets = Targets(
            labels=padded(labels, 0.0).to(device),
            answers=torch.tensor([NAN if entry is None else entry for entry in numbers], device=device),
            values=padded(values, NAN).to(device),
            scales=padded(scales, 1.0).to(device),
        )
        return scores, targets

    def loss(self, examples: Sequence[Example]) -> Tensor:
        from predictor.training.tapas_loss import weak_supervision_loss

        return weak_supervision_loss(*self.batch(examples), self.network.config).mean()

    def checkpoint_activations(self) -> None:
        self.network.activation_checkpointing_enable()

    def save(self, folder: Path) -> None:
        self.network.save_pretrained(folder)


class TabertLearner:
    """TaBERT's encoder with its head, which is new if the folder has none."""

    def __init__(self, checkpoint: Checkpoint, device: str) -> None:
        from predictor.architectures.tabert import Tabert, load_encoder

        self.network, word_pieces = load_encoder(checkpoint.folder, checkpoint.settings)
        if (checkpoint.folder / "head.safetensors").exists():
            from safetensors.torch import load_file

            self.network.head.load_state_dict(load_file(checkpoint.folder / "head.safetensors"))
        self.network.to(device)
        self.model = Tabert(self.network, word_pieces, checkpoint, NO_SHA)

    def _read(self, example: Example) -> Any:
        return self.model._reading(PredictRequest.about(example))

    def obstacle(self, example: Example) -> str | None:
        try:
            reading = self._read(example)
        except ProtocolError:
            return TOO_LONG
        target = target_of(example)
        if target is None:
            return NO_TARGET
        return CUT_AWAY if target[0] and is_cut_away(example, reading.rows_seen) else None

    def length(self, example: Example) -> int:
        return int(self._read(example).tokens)

    def loss(self, examples: Sequence[Example]) -> Tensor:
        from predictor.architectures import never_stop
        from predictor.architectures.tabert_network import OPERATIONS

        width = [len(example.table.header) for example in examples]
        scores = self.network(list(map(self._read, examples)), width, self.model.budget, never_stop)
        order = [OPERATIONS.index(name) for name in CHOOSING]
        return torch.stack(
            [
                weak_loss(example, cells.float(), operations.float()[order])
                for example, (cells, operations) in zip(examples, scores, strict=True)
            ]
        ).mean()

    def checkpoint_activations(self) -> None:
        self.network.encoder._bert_model["bert"].activation_checkpointing_enable()

    def save(self, folder: Path) -> None:
        from safetensors.torch import save_file

        save_file(self.network.encoder.state_dict(), folder / "model.safetensors")
        save_file(self.network.head.state_dict(), folder / "head.safetensors")


# --- learning from answers alone ---------------------------------------------------------------------------


def answer_cells(example: Example) -> frozenset[tuple[int, int]]:
    """The cells that say the answers: of every column that says all of them. Rows and columns count from 0."""
    answer_texts = {fold(answer).lower() for answer in example.answers}
    columns: dict[int, dict[tuple[int, int], str]] = {}
    for i, row in enumerate(example.table.rows):
        for j, cell in enumerate(row):
            if (text := fold(cell).lower()) in answer_texts:
                columns.setdefault(j, {})[i, j] = text
    return frozenset(
        cell
        for cells in columns.values()
        if set(cells.values()) == answer_texts
        for cell in cells
        if answer_texts
    )


def answer_number(example: Example) -> float | None:
    """The number that the only answer is; None for several answers or other text."""
    number = number_of(example.answers[0]) if len(example.answers) == 1 else None
    return None if number is None else float(number.value)


def target_of(example: Example) -> tuple[frozenset[tuple[int, int]], float | None] | None:
    """The cells that say the answers, else the number that an operation has to reach; None if there is neither."""
    if not example.table.rows:
        return None
    if cells := answer_cells(example):
        return cells, None
    number = answer_number(example)
    return None if number is None else (frozenset(), number)


def weak_loss(example: Example, cells: Tensor, operations: Tensor) -> Tensor:
    """The loss of TaBERT's head: cells (rows seen, columns) and `operations` in the order of CHOOSING are logits.

    Where the answers are cells: cross-entropy of the cells and of no operation. Else the likelihood of the number,
    summed over the operations: each gives a result with mean and variance, because every cell is chosen with some
    probability, so likely results come from certain choices.
    """
    target = target_of(example)
    rows, columns = cells.shape
    if target is None or not cells.numel():
        return cells.sum() * 0.0
    chosen, number = target
    if number is None:
        labels = torch.zeros_like(cells)
        for i, j in chosen:
            if i < rows:
                labels[i, j] = 1.0
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            cells, labels, pos_weight=torch.tensor(10.0, device=cells.device)
        )
        return loss - operations.log_softmax(0)[0]
    shares = cells.sigmoid()
    values = torch.zeros_like(cells)
    numbers = torch.zeros_like(cells)
    for i in range(rows):
        for j in range(columns):
            value = number_of(example.table.rows[i][j])
            if value is not None and abs(value.value) < 1e12:
                values[i, j], numbers[i, j] = float(value.value), 1.0
    spread = shares * (1 - shares)
    total, size = (shares * values).sum(), (shares * numbers).sum().clamp(min=1e-3)
    average = total / size
    means = torch.stack([total, average, shares.sum()])
    variances = torch.stack(
        [
            (spread * values**2).sum(),
            (spread * numbers * (values - average) ** 2).sum() / size**2,
            spread.sum(),
        ]
    )
    tolerance = TOLERANCE * max(1.0, abs(number))
    deviations = (variances + tolerance**2).sqrt()
    fits = -torch.log1p(((number - means) / deviations) ** 2) - torch.log(deviations / tolerance)
    return -(operations.log_softmax(0)[1:] + fits).logsumexp(0)


def padded(rows: Sequence[Tensor], fill: float) -> Tensor:
    """Tensors of unequal length as one."""
    return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=fill)
