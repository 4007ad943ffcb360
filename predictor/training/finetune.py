"""Fine-tuning a model of a folder on questions and answers: TAPEX, OmniTab, TAPAS and TaBERT.

    ./run train --architecture tapex --init /srv/models/tapex-base --data train.tsv --format wtq --out /srv/models/mine

The examples are split by table, four fifths to learn from and one fifth to validate on, by the seed alone. The weights
of the epoch with the lowest validation loss are what is left in `--out`, a folder that `./run predictor --model` serves.
A run that was interrupted goes on where its last epoch ended; `curve.jsonl` holds a line for each epoch.

TAPEX learns to write the answers. TAPAS and TaBERT learn from answers alone (`weak_loss`): where the answers are cells,
to choose them; where the answer is a number that is not in the table, that some operation on the cells likely to be
chosen comes near to it (Herzig et al. 2020, 4.2, simplified: one scale, no cut-off, and for TaBERT it is ours).
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from predictor.architectures import ModelError, find, load
from predictor.protocol import PredictRequest, ProtocolError
from predictor.training.augment import (
    BEFORE,
    START,
    Column,
    add_arguments,
    compare_columns,
    perturbed,
    wanted,
)
from tableqa import Example
from tableqa.canonical import digest
from tableqa.cells import fold, number_of
from tableqa.readers import READERS

ARCHITECTURES = ("tapex", "omnitab", "tapas", "tabert")
CHOOSING = ("select", "sum", "average", "count")
"""The operations of `weak_loss`, in this order."""


@dataclass(frozen=True)
class Recipe:
    """What a run depends on beside its data and its first weights."""

    epochs: int = 3
    batch: int = 8
    rate: float = 3e-5
    seed: int = 0


@dataclass(frozen=True)
class Epoch:
    """One line of the curve: mean losses, and seconds since the run began (all its parts together)."""

    epoch: int
    train_loss: float
    validation_loss: float
    seconds: float


class Learner(Protocol):
    """What differs between architectures."""

    network: torch.nn.Module

    def fits(self, example: Example) -> bool: ...
    def loss(self, examples: Sequence[Example]) -> Tensor: ...
    def save(self, folder: Path) -> None: ...


# --- the run -----------------------------------------------------------------------------------------------


def split(examples: Iterable[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """Four fifths and one fifth, no table in both. The same seed gives the same split, whatever the order."""
    train: list[Example] = []
    validation: list[Example] = []
    for example in examples:
        (validation if _validates(example.table.digest(), seed) else train).append(example)
    return train, validation


def _validates(table: str, seed: int) -> bool:
    """Whether the table of this digest belongs to the fifth that validates."""
    return int(digest([seed, table])[:8], 16) % 5 == 0


def finetune(
    init: Path,
    out: Path,
    examples: Sequence[Example],
    recipe: Recipe,
    device: str = "cpu",
    say: Callable[[str], None] = print,
    more: Sequence[Example] = (),
) -> list[Epoch]:
    """Train, or go on training, into `out`; the curve. Raises ModelError.

    `more` are perturbed examples to learn from as well; what was made of a table that validates is left out of them.
    """
    torch.manual_seed(recipe.seed)
    learner = learner_of(init, device)
    train, validation = split(filter(learner.fits, examples), recipe.seed)
    added = [one for one in more if not _validates(perturbed(one).base, recipe.seed) and learner.fits(one)]
    train += added
    if not train or not validation:
        raise ModelError(
            f"of {len(examples)} examples {len(train)} are for training and {len(validation)} for "
            "validation: too few"
        )
    if more:
        say(f"training also uses {len(added)} of {len(more)} perturbed examples")
    say(f"{len(train)} training examples, {len(validation)} validation examples; {device}")
    out.mkdir(parents=True, exist_ok=True)
    # `epochs` is left out of what must be equal: a longer run of the same kind goes on.
    run = digest([{**asdict(recipe), "epochs": 0}, [one.id for one in (*train, *validation)]])
    if added:  # ids of two releases may be the same
        run = digest([run, [PredictRequest.about(one).key for one in added]])
    optimizer = torch.optim.AdamW(learner.network.parameters(), lr=recipe.rate)
    curve = _resumed(out, run, learner, optimizer, say)
    started = time.monotonic() - (curve[-1].seconds if curve else 0.0)
    for epoch in range(len(curve), recipe.epochs):
        torch.manual_seed(recipe.seed * 1_000_003 + epoch)  # dropout, too, is the same after an interruption
        order = list(train)
        random.Random(f"{recipe.seed}:{epoch}").shuffle(order)
        learner.network.train()
        losses = []
        for first in range(0, len(order), recipe.batch):
            optimizer.zero_grad()
            loss = learner.loss(order[first : first + recipe.batch])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learner.network.parameters(), 1.0)
            optimizer.step()
            losses.append(float(loss.detach()))
            if len(losses) % 50 == 0:
                done = min(first + recipe.batch, len(order))
                say(f"epoch {epoch + 1}: {done} of {len(order)}, loss {sum(losses[-50:]) / 50:.4f}")
        validated = _validate(learner, validation, recipe.batch)
        curve.append(Epoch(epoch + 1, sum(losses) / len(losses), validated, time.monotonic() - started))
        say(
            f"epoch {epoch + 1} of {recipe.epochs}: loss {curve[-1].train_loss:.4f}, validation {validated:.4f}"
        )
        if validated <= min(one.validation_loss for one in curve):
            _copy_settings(init, out)
            learner.save(out)
        _keep(out, run, learner, optimizer, curve)
    best = min(curve, key=lambda one: one.validation_loss)
    say(f"best: epoch {best.epoch}, validation {best.validation_loss:.4f}, saved in {out}")
    return curve


def _validate(learner: Learner, examples: Sequence[Example], batch: int) -> float:
    learner.network.eval()
    total = 0.0
    with torch.inference_mode():
        for first in range(0, len(examples), batch):
            chosen = examples[first : first + batch]
            total += float(learner.loss(chosen)) * len(chosen)
    return total / len(examples)


def _keep(
    out: Path, run: str, learner: Learner, optimizer: torch.optim.Optimizer, curve: Sequence[Epoch]
) -> None:
    """Write the state of the run, whole or not at all."""
    state = {
        "run": run,
        "network": learner.network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "curve": [asdict(one) for one in curve],
    }
    torch.save(state, out / "run.part")
    (out / "run.part").replace(out / "run.state")
    lines = "".join(json.dumps(asdict(one)) + "\n" for one in curve)
    (out / "curve.jsonl").write_text(lines)


def _resumed(
    out: Path, run: str, learner: Learner, optimizer: torch.optim.Optimizer, say: Callable[[str], None]
) -> list[Epoch]:
    if not (out / "run.state").exists():
        return []
    state = torch.load(out / "run.state", map_location="cpu", weights_only=True)
    if state["run"] != run:
        raise ModelError(
            f"{out} contains another run (data, seed, batch or rate differ). Choose another --out"
        )
    learner.network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    curve = [Epoch(**one) for one in state["curve"]]
    say(f"continuing after epoch {len(curve)}")
    return curve


def _copy_settings(init: Path, out: Path) -> None:
    """Everything of the first folder but its weights: tokenizer, configuration, licence."""
    for file in init.iterdir():
        if file.is_file() and file.suffix not in (".safetensors", ".bin") and ".index." not in file.name:
            shutil.copyfile(file, out / file.name)


# --- architectures -----------------------------------------------------------------------------------------


def learner_of(init: Path, device: str) -> Learner:
    """The learner of a folder. Raises ModelError."""
    checkpoint = find(init)
    if checkpoint.architecture in ("tapex", "omnitab"):
        return _Writing(load(init, device))
    if checkpoint.architecture == "tapas":
        return _Tapas(load(init, device))
    if checkpoint.architecture == "tabert":
        return _Tabert(init, checkpoint.settings, device)
    raise ModelError(f"{init} is a {checkpoint.architecture}; {', '.join(ARCHITECTURES)} can be trained")


class _Writing:
    """TAPEX, OmniTab: the likelihood of the answers, joined by ", " in small letters."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.network = model.network

    def fits(self, example: Example) -> bool:
        return bool(example.answers)

    def loss(self, examples: Sequence[Example]) -> Tensor:
        from predictor.architectures.tapex import BOS, EOS, PAD

        flats = [self.model._flat(PredictRequest.about(one)).ids for one in examples]
        said = [
            [BOS, *self.model.tokenizer.encode(", ".join(one.answers).lower()).ids[:126], EOS]
            for one in examples
        ]
        ids, labels = _padded(flats, PAD), _padded(said, -100)
        mask = (ids != PAD).long()
        device = self.model.device
        out = self.network(input_ids=ids.to(device), attention_mask=mask.to(device), labels=labels.to(device))
        loss: Tensor = out.loss
        return loss

    def save(self, folder: Path) -> None:
        self.network.save_pretrained(folder)


class _Tapas:
    """TAPAS: cells are the mean of their tokens' logits."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.network = model.network
        labels = self.network.config.num_aggregation_labels
        if labels not in (0, 4):
            raise ModelError(f"this TAPAS has {labels} operations; 0 (SQA) or 4 (WTQ) can be trained")

    def fits(self, example: Example) -> bool:
        try:
            self.model._encoded(PredictRequest.about(example))
        except ProtocolError:
            return False
        return target_of(example) is not None

    def loss(self, examples: Sequence[Example]) -> Tensor:
        from predictor.architectures.tapas import COLUMN, ROW, SEGMENT

        encoded = [self.model._encoded(PredictRequest.about(one)) for one in examples]
        device = self.model.device
        ids = _padded([one.ids for one in encoded], 0)
        mask = _padded([[1] * len(one.ids) for one in encoded], 0)
        width = len(encoded[0].types[0])
        types = torch.stack(
            [_padded([[row[k] for row in one.types] for one in encoded], 0) for k in range(width)], dim=-1
        )
        out = self.network(
            input_ids=ids.to(device), attention_mask=mask.to(device), token_type_ids=types.to(device)
        )
        losses = []
        for place, (example, one) in enumerate(zip(examples, encoded, strict=True)):
            rows, columns = example.table.shape
            which = torch.tensor(
                [
                    (kind[ROW] - 1) * columns + kind[COLUMN] - 1
                    if kind[SEGMENT] == 1 and kind[ROW] and kind[COLUMN]
                    else rows * columns
                    for kind in one.types
                ],
                device=device,
            )
            sums = torch.zeros(rows * columns + 1, device=device).index_add(
                0, which, out.logits[place, : len(one.ids)].float()
            )
            many = torch.zeros_like(sums).index_add(0, which, torch.ones_like(which, dtype=sums.dtype))
            logits = (sums / many.clamp(min=1))[:-1].view(rows, columns)
            operations = None
            if out.logits_aggregation is not None:
                names = [self.model._operation(label) for label in range(4)]
                operations = out.logits_aggregation[place].float()[[names.index(name) for name in CHOOSING]]
            losses.append(weak_loss(example, logits[: one.rows_seen], operations))
        return torch.stack(losses).mean()

    def save(self, folder: Path) -> None:
        self.network.save_pretrained(folder)


class _Tabert:
    """TaBERT's encoder with its head, which is new where the folder has none."""

    def __init__(self, init: Path, settings: Any, device: str) -> None:
        from predictor.architectures.tabert import BUDGETS, load_encoder

        self.network, self.words = load_encoder(init, settings)
        if (init / "head.safetensors").exists():
            from safetensors.torch import load_file

            self.network.head.load_state_dict(load_file(init / "head.safetensors"))
        self.network.to(device)
        self.budget = BUDGETS[torch.device(device).type]

    def _read(self, example: Example) -> Any:
        from predictor.architectures.tabert import read

        return read(self.words, self.network.configuration, PredictRequest.about(example))

    def fits(self, example: Example) -> bool:
        try:
            self._read(example)
        except ProtocolError:
            return False
        return target_of(example) is not None

    def loss(self, examples: Sequence[Example]) -> Tensor:
        from predictor.architectures import never
        from predictor.architectures.tabert import OPERATIONS

        width = [len(one.table.header) for one in examples]
        said = self.network(list(map(self._read, examples)), width, self.budget, never)
        order = [OPERATIONS.index(name) for name in CHOOSING]
        return torch.stack(
            [
                weak_loss(one, cells.float(), operations.float()[order])
                for one, (cells, operations) in zip(examples, said, strict=True)
            ]
        ).mean()

    def save(self, folder: Path) -> None:
        from safetensors.torch import save_file

        save_file(self.network.encoder.state_dict(), folder / "model.safetensors")
        save_file(self.network.head.state_dict(), folder / "head.safetensors")


# --- learning from answers alone ---------------------------------------------------------------------------


def target_of(example: Example) -> tuple[frozenset[tuple[int, int]], float | None] | None:
    """The cells that say the answers, or the number that an operation has to reach; None where there is neither.

    Where several columns say all the answers, the cells of all of them count.
    """
    wanted = {fold(answer).lower() for answer in example.answers}
    if not wanted or not example.table.rows:
        return None
    cells: dict[int, dict[tuple[int, int], str]] = {}
    for i, row in enumerate(example.table.rows):
        for j, cell in enumerate(row):
            if (said := fold(cell).lower()) in wanted:
                cells.setdefault(j, {})[i, j] = said
    found = [place for column in cells.values() if set(column.values()) == wanted for place in column]
    if found:
        return frozenset(found), None
    number = number_of(example.answers[0]) if len(example.answers) == 1 else None
    return None if number is None else (frozenset(), float(number.value))


def weak_loss(example: Example, cells: Tensor, operations: Tensor | None) -> Tensor:
    """cells (rows seen, columns): logits; operations: logits of `CHOOSING`, None where a model has none."""
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
        return loss if operations is None else loss - operations.log_softmax(0)[0]
    if operations is None:
        return cells.sum() * 0.0
    shares = cells.sigmoid()
    values = torch.zeros_like(cells)
    numbers = torch.zeros_like(cells)
    for i in range(rows):
        for j in range(columns):
            if (said := number_of(example.table.rows[i][j])) is not None and abs(said.value) < 1e12:
                values[i, j], numbers[i, j] = float(said.value), 1.0
    total = (shares * values).sum()
    reached = torch.stack([total, total / (shares * numbers).sum().clamp(min=1e-3), shares.sum()])
    likely = operations.log_softmax(0)[1:]
    scale = max(1.0, abs(number))
    far = torch.nn.functional.smooth_l1_loss(
        reached / scale, torch.full_like(reached, number / scale), reduction="none"
    )
    # The more likely an operation is, the nearer it has to come; and one of the three it must be.
    return -likely.logsumexp(0) + (likely.softmax(0) * far.clamp(max=10.0)).sum()


# --- the command -------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """`./run train --architecture tapex|omnitab|tapas|tabert`; 0 done, 1 with a reason on stderr."""
    parser = argparse.ArgumentParser(prog="./run train", description="Fine-tune a model from a folder.")
    parser.add_argument("--architecture", choices=ARCHITECTURES, required=True)
    parser.add_argument("--init", type=Path, required=True, help="folder with the initial weights")
    parser.add_argument("--out", type=Path, required=True, help="folder for the trained model")
    parser.add_argument("--data", type=Path, required=True, help="file or folder of questions")
    parser.add_argument("--format", choices=sorted(READERS), default="wtq", help="reader (default wtq)")
    parser.add_argument("--limit", type=int, help="maximum number of questions")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=3e-5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", help="cpu or cuda; default: GPU if available")
    add_arguments(parser)
    options = parser.parse_args(arguments)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = find(options.init).architecture
        if found != options.architecture:
            raise ModelError(f"{options.init} contains a {found}, not a {options.architecture}")
        examples = list(islice(READERS[options.format](options.data), options.limit))
        recipe = Recipe(options.epochs, options.batch, options.rate, options.seed)
        say = partial(print, flush=True)
        if options.augment:
            augment(options, examples, recipe, device, say)
        else:
            finetune(options.init, options.out, examples, recipe, device, say)
    except (ModelError, ValueError, OSError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


def augment(
    options: argparse.Namespace,
    examples: Sequence[Example],
    recipe: Recipe,
    device: str,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """`--augment`: a model for each column of the table in a folder of its own beneath --out."""
    asked = wanted(options)
    learnt = asked.unseen(examples)
    say(f"{len(learnt)} of {len(examples)} examples share no table and no question with the test")

    def start() -> Path | None:
        try:
            load(options.init, device)
        except ModelError:
            return None  # an encoder without a head
        return Path(options.init)

    def trained(name: str, more: Sequence[Example]) -> Path:
        say(f"--- {name}")
        finetune(options.init, options.out / name, learnt, recipe, device, say, more)
        return Path(options.out / name)

    columns = [Column(START, 0, start), Column(BEFORE, len(learnt), partial(trained, BEFORE, ()))]
    columns += [
        Column(
            one.name, len(learnt) + len(one.examples), partial(trained, one.place, one.examples), one.place
        )
        for one in asked.releases
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    about = asked.about(
        architecture=options.architecture, plan=asdict(recipe), start=f"the weights in {options.init}"
    )
    return compare_columns(columns, asked.test, options.out, about, device, say)


def _padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])
