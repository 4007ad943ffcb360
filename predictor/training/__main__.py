"""The command behind `./run train`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from predictor.training.bundled import TrainingError, train


def main(arguments: list[str] | None = None) -> int:
    """Train as asked; 0 done, 1 with a reason on stderr."""
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--architecture", default="bundled")
    if first.parse_known_args(arguments)[0].architecture != "bundled":
        from predictor.training.finetune import main as fine_tune  # other models, other options

        return fine_tune(arguments)
    parser = argparse.ArgumentParser(
        prog="./run train", description="Train a model that answers questions on tables."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of WikiTableQuestions")
    parser.add_argument(
        "--architecture",
        choices=["bundled"],
        default="bundled",
        help="or tapex, omnitab, tapas, tabert: a model of a folder (./run train --architecture tapex --help)",
    )
    parser.add_argument("--out", type=Path, default=Path("var/training"), help="where everything is written")
    parser.add_argument(
        "--tiny", action="store_true", help="a network of no use, in seconds: does the way work?"
    )
    parser.add_argument("--init", type=Path, help="the encoder's folder, instead of the installed package's")
    parser.add_argument(
        "--questions", type=int, default=60_000, help="how many questions are seen altogether"
    )
    parser.add_argument("--made", type=int, default=20_000, help="how many questions are made from tables")
    parser.add_argument("--minutes", type=float, help="stop then; the same command goes on later")
    parser.add_argument("--every", type=float, default=600, help="seconds between checkpoints")
    parser.add_argument("--device", help="cpu or cuda; the GPU where there is one unless given")
    parser.add_argument("--threads", type=int, help="threads of torch on the CPU")
    parser.add_argument(
        "--workers", type=int, default=1, help="processes that prepare the questions beforehand"
    )
    parser.add_argument(
        "--loaders", type=int, default=0, help="processes that put batches together in training"
    )
    parser.add_argument("--batch", type=int)
    parser.add_argument("--width", type=int, default=192, help="size of a cell's vector")
    parser.add_argument("--layers", type=int, default=3, help="layers over the table")
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--encoder-rate", type=float, default=8e-5)
    parser.add_argument("--dropout", type=float, help="0.1 on a GPU and 0 on a CPU unless given")
    parser.add_argument(
        "--storage",
        choices=["float32", "float16", "int8"],
        default="float16",
        help="how the exported model's matrices are stored",
    )
    parser.add_argument("--seed", type=int, default=0)
    try:
        train(parser.parse_args(arguments))
    except (TrainingError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
