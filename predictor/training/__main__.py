"""The command behind `./run train`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from predictor.architectures import ModelError
from predictor.training import TrainingError
from predictor.training.augment import add_arguments
from predictor.training.bundled import calibrate, rewrite_description, train


def main(arguments: list[str] | None = None) -> int:
    """Train as asked; 0 done, 1 with a reason on stderr."""
    arguments = sys.argv[1:] if arguments is None else arguments
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--architecture", default="bundled")
    first.add_argument("--record", type=Path)
    first.add_argument("--calibrate", type=Path)
    first.add_argument("--data", type=Path)
    first.add_argument("--download")
    first.add_argument("--out", type=Path)
    early_options = first.parse_known_args(arguments)[0]
    if early_options.record is not None:
        return record(early_options.record)
    if early_options.download is not None and early_options.out is not None:
        return download(early_options.download, early_options.out)
    if early_options.calibrate is not None and early_options.data is not None:
        return calibrate_model(early_options.calibrate, early_options.data)
    if early_options.architecture != "bundled":
        from predictor.training.finetune import main as fine_tune  # other models, other options

        return fine_tune(arguments)
    options = _parser().parse_args(arguments)
    continues = options.trained is not None
    options.questions = options.questions or (2_000 if continues else 60_000)
    options.rate = options.rate or (2e-4 if continues else 8e-4)
    options.encoder_rate = options.encoder_rate or (2e-5 if continues else 8e-5)
    options.command = command(arguments)
    try:
        if options.augment:
            _augment(options)
        elif options.card:
            rewrite_description(options)
        elif options.seeds > 1:
            raise TrainingError("--seeds is for --augment. Start one run per --seed instead")
        else:
            train(options)
    except (TrainingError, ModelError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


def _augment(options: argparse.Namespace) -> None:
    try:
        from predictor.training.adaptation import augment
    except ImportError as error:
        raise TrainingError(f"training needs {error.name}: install requirements/models.txt") from None
    augment(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run train", description="Train a model that answers questions on tables."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of WikiTableQuestions")
    parser.add_argument(
        "--architecture",
        choices=["bundled"],
        default="bundled",
        help="or tapex, omnitab, tapas, tabert: fine-tune a model from a folder (./run train "
        "--architecture tapex --help)",
    )
    parser.add_argument("--out", type=Path, default=Path("var/training"), help="output folder")
    parser.add_argument(
        "--tiny", action="store_true", help="train a tiny, useless network in seconds to test the pipeline"
    )
    parser.add_argument("--init", type=Path, help="folder of the encoder, instead of the installed package")
    parser.add_argument(
        "--questions", type=int, help="total number of training questions (60,000; with --from 2,000)"
    )
    parser.add_argument("--made", type=int, default=20_000, help="number of questions generated from tables")
    parser.add_argument(
        "--minutes", type=float, help="stop after this time; the same command continues later"
    )
    parser.add_argument("--every", type=float, default=600, help="seconds between checkpoints")
    _add_network_arguments(parser)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--card",
        action="store_true",
        help="no training: write the card and recorded answers of a run with these arguments again",
    )
    parser.add_argument(
        "--record", type=Path, metavar="DIR", help="only write recorded.json into the folder of a model"
    )
    parser.add_argument(
        "--calibrate",
        type=Path,
        metavar="DIR",
        help="only calibrate the scores of the model in this folder on the held-out training tables of "
        "--data",
    )
    parser.add_argument(
        "--download",
        metavar="NAME",
        help="only download the published model of this name from the Hugging Face Hub into --out",
    )
    parser.add_argument(
        "--from",
        dest="trained",
        type=Path,
        metavar="DIR",
        help="weights to start from: bundled (the shipped ones), the --out of a finished training, or a model folder",
    )
    add_arguments(parser)
    return parser


def _add_network_arguments(parser: argparse.ArgumentParser) -> None:
    """Hardware, size of the network, and rates."""
    parser.add_argument("--device", help="cpu or cuda; default: GPU if available")
    parser.add_argument("--threads", type=int, help="CPU threads of torch")
    parser.add_argument("--workers", type=int, default=1, help="processes that prepare questions")
    parser.add_argument("--loaders", type=int, default=0, help="processes that build batches during training")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--width", type=int, default=192, help="size of a cell vector")
    parser.add_argument("--layers", type=int, default=3, help="layers over the table")
    parser.add_argument("--rate", type=float, help="default 8e-4; with --from 2e-4")
    parser.add_argument("--encoder-rate", type=float, help="default 8e-5; with --from 2e-5")
    parser.add_argument("--dropout", type=float, help="default 0.1 on a GPU and 0 on a CPU")
    parser.add_argument(
        "--storage",
        choices=["float32", "float16", "int8"],
        default="float16",
        help="storage type of the exported matrices",
    )


def record(folder: Path) -> int:
    """`--record`: what the model of a folder answers, kept beside its weights."""
    from predictor.bundled.recorded import record as write

    try:
        answers = write(folder)
    except ModelError as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    right = sum(answer.right for answer in answers)
    print(f"{len(answers)} answers recorded in {folder}, {right} of them correct")
    return 0


SKIPPED = ("*.msgpack", "*.h5", "*.ot", "*.onnx", "onnx/*", "*.gguf")
"""Weights of other libraries, which many published folders contain as well."""


def download(name: str, folder: Path) -> int:
    """`--download NAME[@REVISION]`: a published model into a folder that `--init` and `./run predictor --model` take."""
    repository, _, revision = name.partition("@")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        print("train: --download needs huggingface_hub: install requirements/models.txt", file=sys.stderr)
        return 1
    try:
        # The hash of a model is over the files received, so another revision is another model in every report.
        snapshot_download(  # nosec B615
            repository, revision=revision or None, local_dir=folder, ignore_patterns=list(SKIPPED)
        )
    except Exception as error:  # no network, no such model, no space: each its own class
        print(f"train: {name} could not be downloaded: {error}", file=sys.stderr)
        return 1
    print(f"{name} is in {folder}")
    return 0


def calibrate_model(folder: Path, data: Path) -> int:
    """`--calibrate`: what a model's scores mean, kept with its weights."""
    try:
        calibrate(folder, data)
    except (ModelError, TrainingError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


PLACES = ("--data", "--out", "--init", "--every", "--minutes")
"""Options that say where or for how long, and decide nothing: a card leaves them out."""


def command(arguments: Sequence[str]) -> str:
    """The training command as a card shows it: what decides the weights, and DIR for where the data lies."""
    card_arguments: list[str] = []
    iterator = iter(arguments)
    for argument in iterator:
        name, has_value, _ = argument.partition("=")
        if name in PLACES:
            if not has_value:
                next(iterator, None)
        elif argument != "--card":
            card_arguments.append(argument)
    return shlex.join(["./run", "train", "--data", "DIR", *card_arguments])


if __name__ == "__main__":
    sys.exit(main())
