from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.management.commands._sheets import add_sheet_options, put_out
from annotation.releases.rated_answers import rated_answers
from annotation.releases.release_files import Difference
from predictor import bertscore, geval
from predictor.chat import ChatError
from predictor.configuration import chat_model
from predictor.usage import Tally
from tableqa.rated import (
    RatedAnswer,
    ScoreColumn,
    ScoresError,
    columns_of,
    correlations,
    read_column,
)
from tableqa.readers import READERS, ReaderError
from tableqa.readers.lftqa import DIMENSIONS
from tableqa.text_metrics import SCORERS, NotInstalled
from tableqa.writers.lftqa import scores as score_records


class Command(BaseCommand):
    help = (
        "Correlate text metrics with human ratings across the systems of an example, averaged "
        "over examples (LFTQA-Eval). PATH is a release with rated answers, or a dataset. Needs no "
        "database."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--reader", default="lftqa", choices=sorted(READERS))
        parser.add_argument(
            "--metric",
            action="append",
            choices=sorted(SCORERS),
            help="compute this metric; repeatable; default: all metrics whose package is installed",
        )
        parser.add_argument(
            "--scores",
            action="append",
            default=[],
            type=_named_file,
            metavar="NAME=FILE",
            help="also compare these scores: CSV or JSON with example_id, model and score",
        )
        parser.add_argument(
            "--bertscore",
            nargs="?",
            const=bertscore.MODEL,
            metavar="MODEL",
            help=f"compute BERTScore with this model or folder of weights; {bertscore.MODEL} without a name",
        )
        parser.add_argument("--bertscore-layer", type=int, metavar="N")
        parser.add_argument(
            "--geval", metavar="NAME", help="also let this chat model of PREDICTORS rate the answers"
        )
        parser.add_argument(
            "--samples", type=int, default=1, metavar="N", help="number of scores to average (for --geval)"
        )
        parser.add_argument("--temperature", type=float, default=0.0, metavar="T", help="for --geval")
        parser.add_argument(
            "--keep",
            type=Path,
            metavar="DIR",
            help="write the scores to this folder, one file per metric; G-Eval continues an existing file",
        )
        add_sheet_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["geval"] and options["keep"] is None:
            raise CommandError("--geval needs --keep DIR, because its scores are expensive.", returncode=2)
        if options["samples"] < 1:
            raise CommandError("--samples must be at least 1.", returncode=2)
        try:
            answers = [one for path in options["paths"] for one in rated_answers(path, options["reader"])]
            columns = columns_of(answers, "came with the data")
            columns += self._computed(answers, options)
            columns += [read_column(name, file, answers) for name, file in options["scores"]]
            names = [column.name for column in columns]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise CommandError(
                    f"Two columns have the name {', '.join(twice)}. Rename one of the --scores.",
                    returncode=2,
                )
            if not columns:
                raise CommandError(
                    "No metric to compare: the data has no scores, and its answers lack text or references. "
                    "Add files with --scores."
                )
            found = correlations(answers, columns)
        except LookupError as error:
            raise CommandError(str(error.args[0]), returncode=2) from None
        except (Difference, ReaderError, ScoresError, NotInstalled, ChatError, OSError) as error:
            raise CommandError(str(error)) from None
        put_out(self, options, "Correlation of metrics with people", list(found.sheets()), found.to_dict())

    def _computed(self, answers: Sequence[RatedAnswer], options: Mapping[str, Any]) -> list[ScoreColumn]:
        with_text = [one for one in answers if one.text.strip() and one.reference.strip()]
        scorers = []
        for name in options["metric"] or SCORERS if with_text else ():
            try:
                scorers.append(SCORERS[name]())
            except NotInstalled as absent:
                if options["metric"]:
                    raise
                self.stderr.write(f"Skipped: {absent}")
        if options["metric"] and not with_text:
            raise ScoresError("No answer has both text and a reference, so no metric can be computed.")
        if options["bertscore"] is not None:
            scorers.append(bertscore.bertscore(options["bertscore"], options["bertscore_layer"]))
        columns = [scorer.column(with_text) for scorer in scorers]
        if options["keep"] is not None:
            for column in columns:
                _keep(options["keep"], column)
        if options["geval"]:
            columns += [self._geval(answers, dimension, options) for dimension in DIMENSIONS]
        came = {name for one in answers for name in one.metrics}
        return [_renamed(column) if column.name in came else column for column in columns]

    def _geval(
        self, answers: Sequence[RatedAnswer], dimension: str, options: Mapping[str, Any]
    ) -> ScoreColumn:
        """The ratings of a chat model; those in the file are not asked for again."""
        tally = Tally()
        model = replace(chat_model(settings.PREDICTORS, options["geval"]), meter=tally)
        how = options["samples"], options["temperature"]
        what = geval.implementation(model.model, dimension, *how)
        name = f"geval_{options['geval']}_{dimension}"
        file = options["keep"] / f"{name}.jsonl"
        scores: dict[tuple[str, str, str], float] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                if record["by"] != what:
                    raise ScoresError(
                        f"{file} contains scores of {record['by']}, not of {what}. Choose another folder."
                    )
                scores[record["dataset"], record["example_id"], record["model"]] = record["score"]
        wanted = [one for one in answers if one.human and one.text.strip() and one.key not in scores]
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:

            def keep(record: Mapping[str, Any]) -> None:
                out.write(json.dumps({**record, "by": what}, ensure_ascii=False) + "\n")
                out.flush()
                scores[record["dataset"], record["example_id"], record["model"]] = record["score"]

            _, failed = geval.rate_all(
                model, wanted, dimension, samples=how[0], temperature=how[1], keep=keep
            )
        if tally.calls:
            self.stderr.write(f"{name}: {tally.in_words()}")
        for line in failed:
            self.stderr.write(line)
        return ScoreColumn(name, what, scores)


def _renamed(column: ScoreColumn) -> ScoreColumn:
    """A metric that the data brings, too, gets another name: both are compared."""
    return ScoreColumn(f"{column.name} (ours)", column.implementation, column.scores)


def _keep(folder: Path, column: ScoreColumn) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{column.name}.jsonl").open("w", encoding="utf-8", newline="\n") as out:
        for (dataset, example, system), score in column.scores.items():
            for _, record in score_records(example, system, {column.name: score}, "metric"):
                out.write(json.dumps({"dataset": dataset, **record}, ensure_ascii=False) + "\n")


def _named_file(given: str) -> tuple[str, Path]:
    name, equals, file = given.partition("=")
    if not name.strip() or not equals or not file:
        raise ArgumentTypeError(f"{given!r}: write NAME=FILE")
    return name.strip(), Path(file)
