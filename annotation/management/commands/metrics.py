from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, CommandError, UsageError, ended_by
from annotation.management.commands._sheets import add_sheet_options, put_out
from annotation.management.commands._spending import (
    add_spending_options,
    announce,
    metered,
    tally_of,
    tell_use,
)
from annotation.queue import metering
from annotation.queue.conversations import ConversationResult, TooManyUnusable, results_per_item
from annotation.releases.rated_answers import rated_answers
from predictor import bertscore, geval
from predictor.chat import ChatError, ChatModel
from tableqa.readers import READERS, ReaderError
from tableqa.readers.lftqa import DIMENSIONS
from tableqa.releases.record_files import Difference
from tableqa.scoring.answer_ratings import (
    RatedAnswer,
    ScoreColumn,
    ScoresError,
    columns_of,
    correlations,
    read_column,
)
from tableqa.scoring.text_metrics import SCORERS, NotInstalled
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
        add_spending_options(parser)
        add_sheet_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["geval"] and options["keep"] is None:
            raise UsageError("--geval needs --keep DIR, because its scores are expensive.")
        if options["estimate"] and not options["geval"]:
            raise UsageError("--estimate needs --geval NAME: only language models have a cost.")
        if options["samples"] < 1:
            raise UsageError("--samples must be at least 1.")
        unusable = (Difference, ReaderError, ScoresError, NotInstalled, ChatError, TooManyUnusable, OSError)
        with ended_by(*unusable), ended_by(LookupError, end=UsageError):
            answers = [
                answer for path in options["paths"] for answer in rated_answers(path, options["reader"])
            ]
            rated = self._geval(answers, options) if options["geval"] else []
            if rated is None:
                return
            columns = columns_of(answers, "came with the data")
            columns += self._computed(answers, rated, options)
            columns += [read_column(name, file, answers) for name, file in options["scores"]]
            names = [column.name for column in columns]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise UsageError(f"Two columns have the name {', '.join(twice)}. Rename one of the --scores.")
            if not columns:
                raise CommandError(
                    "No metric to compare: the data has no scores, and its answers lack text or references. "
                    "Add files with --scores."
                )
            report = correlations(answers, columns)
        put_out(self, options, "Correlation of metrics with people", list(report.sheets()), report.to_dict())

    def _geval(self, answers: Sequence[RatedAnswer], options: Mapping[str, Any]) -> list[ScoreColumn] | None:
        """The ratings of a chat model for both dimensions, within one budget; None where only the estimate is wanted."""
        name = options["geval"]
        tally = tally_of(name, options)
        model = metered(name, tally)
        ratings = [_rating(model, dimension, options) for dimension in DIMENSIONS]
        announce(self, name, _estimate(ratings, answers, options))
        if options["estimate"]:
            return None
        try:
            return [self._rate(model, rating, answers, options) for rating in ratings]
        finally:
            tell_use(self, name, tally)

    def _computed(
        self, answers: Sequence[RatedAnswer], rated: Sequence[ScoreColumn], options: Mapping[str, Any]
    ) -> list[ScoreColumn]:
        with_text = [entry for entry in answers if entry.text.strip() and entry.reference.strip()]
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
        columns += rated
        # A metric that the data brings, too, gets another name: both are compared.
        came = {name for entry in answers for name in entry.metrics}
        return [
            replace(entry, name=f"{entry.name} (ours)") if entry.name in came else entry for entry in columns
        ]

    def _rate(
        self, model: ChatModel, rating: Rating, answers: Sequence[RatedAnswer], options: Mapping[str, Any]
    ) -> ScoreColumn:
        """The ratings of a chat model for one dimension; those in the file are not requested again."""

        def rate(answer: RatedAnswer) -> ConversationResult[str | dict[str, Any]]:
            try:
                score = geval.rate(
                    model, answer, rating.dimension, options["samples"], options["temperature"]
                )
            except geval.RatingError as unrated:
                return ConversationResult(str(unrated), str(unrated))
            except ChatError as error:
                if not error.is_about_example:
                    raise
                return ConversationResult(f"{answer.example} of {answer.system}: {error}", str(error))
            key = dict(zip(("dataset", "example_id", "model"), answer.key, strict=True))
            return ConversationResult({**key, "score": score, "by": rating.by})

        rating.file.parent.mkdir(parents=True, exist_ok=True)
        with rating.file.open("a", encoding="utf-8") as out:
            for record in results_per_item(model, rate, rating.open(answers)):
                if isinstance(record, str):
                    self.stderr.write(record)
                    continue
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
                out.flush()
                rating.scores[record["dataset"], record["example_id"], record["model"]] = record["score"]
        return ScoreColumn(rating.name, rating.by, rating.scores)


@dataclass(frozen=True)
class Rating:
    """The ratings of one dimension that a file holds. `by` is what gave them."""

    dimension: str
    name: str
    by: str
    file: Path
    scores: dict[tuple[str, str, str], float]

    def open(self, answers: Sequence[RatedAnswer]) -> list[RatedAnswer]:
        """The answers that people rated and that have no rating here."""
        return [
            answer
            for answer in answers
            if answer.human and answer.text.strip() and answer.key not in self.scores
        ]


def _rating(model: ChatModel, dimension: str, options: Mapping[str, Any]) -> Rating:
    """What the folder of --keep has for a dimension. Raises ScoresError for ratings by something else."""
    by = geval.implementation(model.model, dimension, options["samples"], options["temperature"])
    name = f"geval_{options['geval']}_{dimension}"
    file = options["keep"] / f"{name}.jsonl"
    scores: dict[tuple[str, str, str], float] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        record = json.loads(line)
        if record["by"] != by:
            raise ScoresError(
                f"{file} contains scores of {record['by']}, not of {by}. Choose another folder."
            )
        scores[record["dataset"], record["example_id"], record["model"]] = record["score"]
    return Rating(dimension, name, by, file, scores)


def _estimate(
    ratings: Sequence[Rating], answers: Sequence[RatedAnswer], options: Mapping[str, Any]
) -> metering.Estimate:
    """What the ratings that are missing would use."""
    conversations = [
        geval.messages(answer, rating.dimension) for rating in ratings for answer in rating.open(answers)
    ]
    return metering.estimate(
        options["geval"],
        conversations,
        len(conversations),
        project=None,
        purpose="evaluation",
        replies=options["samples"],
    )


def _keep(folder: Path, column: ScoreColumn) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{column.name}.jsonl").open("w", encoding="utf-8", newline="\n") as out:
        for (dataset, example, system), score in column.scores.items():
            for _, record in score_records(example, system, {column.name: score}, "metric"):
                out.write(json.dumps({"dataset": dataset, **record}, ensure_ascii=False) + "\n")


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not name.strip() or not equals or not file:
        raise ArgumentTypeError(f"{text!r}: write NAME=FILE")
    return name.strip(), Path(file)
