from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, ended_by
from annotation.management.commands._sheets import add_sheet_options, put_out
from tableqa.scoring.prompt_files import (
    PromptError,
    Record,
    read_predictions,
    read_prompts,
    score_suc,
    score_torr,
    suc_sheets,
)
from tableqa.scoring.text_metrics import NotInstalled
from tableqa.scoring.torr_scores import SCORES, TorrError, torr_report

DEFAULT = "exact"


class Command(BaseCommand):
    help = (
        "Score model predictions on files of prompts (see `prompts`). torr: performance P, "
        "robustness R, win rates, impact of perturbations, rank curve, separability, tau and W. "
        "suc and sap: accuracy per task and design. Needs no database."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prompts", nargs="+", type=Path, metavar="PROMPTS")
        parser.add_argument(
            "--predictions",
            action="append",
            required=True,
            type=_model_file,
            metavar="MODEL=FILE",
            help='JSON Lines with {"id", "prediction"}; repeatable, one file per model',
        )
        parser.add_argument(
            "--score",
            action="append",
            default=[],
            type=_score,
            metavar="[DATASET=]NAME",
            help=f"score of an answer (torr): {', '.join(SCORES)}; default: {DEFAULT}",
        )
        add_sheet_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        predictions: dict[str, dict[str, str]] = {}
        scores: dict[str, str] = dict(options["score"])
        with ended_by(PromptError, TorrError, NotInstalled):
            for model, file in options["predictions"]:
                predictions.setdefault(model, {}).update(read_predictions(file))
            prompts = chain.from_iterable(map(read_prompts, options["prompts"]))
            first = next(prompts, None)
            if first is None:
                raise PromptError("The file contains no prompts.")
            design = first["design"]
            same = _of(design, chain((first,), prompts))
            if design == "torr":
                by_default = scores.pop("", DEFAULT)
                report = torr_report(
                    *score_torr(same, predictions, lambda dataset: scores.get(dataset, by_default))
                )
                names = {name: scores.get(name, by_default) for name in report.examples}
                put_out(self, options, "ToRR", list(report.sheets()), {"scores": names, **report.to_dict()})
            elif design in ("suc", "sap"):
                results = score_suc(same, predictions)
                rows = [{**asdict(result), "accuracy": asdict(result.accuracy)} for result in results]
                put_out(self, options, "SUC", list(suc_sheets(results)), {"scores": rows})
            else:
                raise PromptError(
                    f"{options['prompts'][0]} contains {design} prompts, which have no correct answer. Write "
                    "the second requests with `prompts sap --replies FILE`."
                )


def _of(design: str, prompts: Iterator[Record]) -> Iterator[Record]:
    for prompt in prompts:
        if prompt["design"] != design:
            raise PromptError(
                f"{prompt['id']} is of {prompt['design']}, the first prompt of {design}. Score them "
                "separately."
            )
        yield prompt


def _model_file(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not name.strip() or not equals or not file:
        raise ArgumentTypeError(f"{text!r}: write MODEL=FILE")
    return name.strip(), Path(file)


def _score(text: str) -> tuple[str, str]:
    dataset, _, name = text.rpartition("=")
    if name not in SCORES:
        raise ArgumentTypeError(f"there is no score {name!r}. Available: {', '.join(SCORES)}")
    return dataset, name
