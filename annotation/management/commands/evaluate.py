from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from annotation.management.commands._escaping import BaseCommand, CommandError, UsageError, ended_by
from annotation.management.commands._spending import add_spending_options, announce, tally_of, tell_use
from annotation.queue import reply_states
from annotation.queue.parallel_requests import Crew
from annotation.releases.model_evaluation import queries
from annotation.releases.model_evaluation.queries import Keep
from annotation.releases.model_evaluation.report import (
    FORMATS,
    MOST_MODELS,
    Report,
    format_report,
    make_report,
    write,
)
from predictor.tokenizing import read_tokenizer
from tableqa.releases.record_files import Difference
from tableqa.scoring.evaluation import SIDE_BY_SIDE, Judgement, joined_answers
from tableqa.scoring.matching import MATCHES, Match
from tableqa.scoring.model_comparisons import RULES
from tableqa.scoring.predictions import EvaluationError
from tableqa.serialisations import SERIALISATIONS
from tableqa.serialisations.token_lengths import Limit


class Command(BaseCommand):
    help = (
        "Evaluate models on a release and measure robustness to each perturbation. Answers come "
        "from files or from predictors of PREDICTORS, whose answers are saved to files. Compares "
        "several models. Needs no database."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", type=Path, metavar="DIR")
        parser.add_argument(
            "--predictions",
            type=_named_file,
            action="append",
            default=[],
            metavar="[NAME=]FILE",
            help='JSON Lines with {"source", "id", "answers"}, the output of FREB-TQA\'s program, or a log: the '
            "folder of a run of lm_eval, a log of inspect-ai, instance records of Every Eval Ever; one per model",
        )
        parser.add_argument(
            "--predictor",
            action="append",
            default=[],
            metavar="NAME",
            help="ask this model for missing answers and save them to its --predictions file, else to "
            "DIR.NAME.jsonl",
        )
        add_spending_options(parser)
        parser.add_argument(
            "--source",
            action="append",
            default=[],
            metavar="NAME",
            help="evaluate only this source of the release; repeatable",
        )
        parser.add_argument(
            "--benchmark",
            action="append",
            default=[],
            metavar="FORMAT",
            help="evaluate only the examples in the files of this format of the release; repeatable",
        )
        parser.add_argument(
            "--leave-out-missing", action="store_true", help="skip instances without a prediction"
        )
        parser.add_argument(
            "--match",
            choices=list(MATCHES),
            metavar="RULE",
            help="matching rule: askew (default, next to wtq and tapex), wtq (WikiTableQuestions), tapex "
            "(TAPEX, RobuT) or tat (TAT-QA, with scales and F1)",
        )
        parser.add_argument(
            "--longest", type=int, metavar="N", help="ask only about instances of at most N tokens"
        )
        parser.add_argument("--tokenizer", type=Path, metavar="DIR", help="folder with a tokenizer.json")
        parser.add_argument(
            "--serialisation",
            choices=sorted(SERIALISATIONS),
            default="indexed_row_major_tapex",
            metavar="NAME",
            help="table serialisation used for counting tokens, after the question; default: %(default)s",
        )
        parser.add_argument("--format", choices=FORMATS, help="default: text, or all formats with --out")
        parser.add_argument("--json", action="store_true", help="same as --format json")
        parser.add_argument(
            "--instances",
            type=Path,
            metavar="FILE",
            help="also write each answer to this file as an instance record of Every Eval Ever (JSON Lines)",
        )
        parser.add_argument("--out", type=Path, metavar="DIR", help="write files to this folder")

    def handle(self, *args: Any, **options: Any) -> None:
        models = self._models(options["release"], options["predictions"], options["predictor"])
        keep, about = self._limit(options)
        with ended_by(Difference, EvaluationError), ended_by(LookupError, end=UsageError):
            report = self._report(options, models, keep, about)
        if report is None:
            return
        format = options["format"] or ("json" if options["json"] else None)
        if options["out"] is None:
            self.stdout.write(format_report(report, format or "text"), ending="")
            return
        try:
            for path in write(report, options["out"], [format] if format else FORMATS):
                self.stdout.write(str(path))
        except OSError as error:
            raise CommandError(f"Cannot write to {options['out']}: {error.strerror}") from None

    def _models(
        self, folder: Path, files: list[tuple[str, Path]], predictors: list[str]
    ) -> dict[str, tuple[Path, bool]]:
        """The file of each model by its name, and whether it is asked for what is missing there."""
        models: dict[str, tuple[Path, bool]] = {}
        for name, file in files:
            # One file without its own name belongs to the one predictor.
            model_name = (
                predictors[0] if not name and len(files) == len(predictors) == 1 else name or file.stem
            )
            if model_name in models:
                raise UsageError(f"Two models have the name {model_name!r}. Use NAME=FILE.")
            models[model_name] = (file, model_name in predictors)
        here = folder.resolve()
        for name in predictors:
            models.setdefault(name, (here.with_name(f"{here.name}.{name}.jsonl"), True))
        if not models:
            raise UsageError("Give --predictions files, a --predictor, or both.")
        if len(models) > MOST_MODELS:
            raise UsageError(f"At most {MOST_MODELS} models can be compared.")
        return models

    def _report(
        self,
        options: dict[str, Any],
        models: dict[str, tuple[Path, bool]],
        keep: Keep | None,
        about: list[str],
    ) -> Report | None:
        release = queries.load(options["release"], options["benchmark"])
        datasets, chosen = release.raw.datasets, options["source"]
        if unknown := [name for name in chosen if name not in datasets]:
            raise EvaluationError(f"There is no source {unknown[0]!r}. Available: {', '.join(datasets)}.")
        tallies = {name: tally_of(name, options) for name, (_, requested) in models.items() if requested}
        asks = {name: queries.model_of(settings.PREDICTORS, name, tally) for name, tally in tallies.items()}
        for name in asks:
            file = models[name][0]
            predictions = release.predictions(file) if file.exists() else {}
            estimate = queries.estimate(release, name, predictions, project=None, keep=keep, chosen=chosen)
            if estimate is not None:
                announce(self, name, estimate)
        if options["estimate"]:
            return None
        for name, ask in asks.items():
            file, crew = models[name][0], Crew(queries.at_once(name))
            try:
                queries.collect(
                    release, ask, file, progress=self.show_progress, keep=keep, chosen=chosen, crew=crew
                )
            finally:
                tell_use(self, name, tallies[name])
        by_model = {name: release.predictions(file) for name, (file, _) in models.items()}
        requested = queries.select_instances(release, keep, chosen=chosen)
        leave_out = options["leave_out_missing"]
        rules: tuple[Match, ...] = (options["match"],) if options["match"] else SIDE_BY_SIDE
        by_rule: dict[str, dict[str, Judgement]] = {
            rule: {
                name: queries.judge_instances(requested, predictions, leave_out_missing=leave_out, match=rule)
                for name, predictions in by_model.items()
            }
            for rule in rules
        }
        judgements = by_rule[rules[0]]
        about += [
            f"{name}: {judgement.missing} instances skipped because they have no prediction."
            for name, judgement in judgements.items()
            if judgement.missing
        ]
        about += [
            f"{name}: replies without an answer count as wrong: {reply_states.in_words(states)}."
            for name in asks
            if (states := queries.count_states(models[name][0]))
        ]
        about += [
            f'{name}: {len(joined)} answers are lists of one text with ", " although several answers are right, such as '
            f"{joined[0].id} ({joined[0].source}). Write each answer as a separate text."
            for name, predictions in by_model.items()
            if (joined := joined_answers(requested[0], predictions))
        ]
        if options["instances"] is not None:
            queries.write_instances(
                options["instances"],
                release,
                judgements,
                by_model,
                name=options["release"].resolve().name,
                match=rules[0],
            )
        if left_out := max(judgement.left_out for judgement in judgements.values()):
            about.append(
                f"{left_out} instances exceed the token limit. They and the instances compared with them "
                "were skipped."
            )
        about.insert(0, gettext(RULES[rules[0]]))
        return make_report(options["release"].resolve().name, judgements, about=about, by_rule=by_rule)

    def _limit(self, options: dict[str, Any]) -> tuple[Keep | None, list[str]]:
        """The filter by length, and the sentence that says which it is."""
        most, folder = options["longest"], options["tokenizer"]
        if (most is None) != (folder is None):
            raise UsageError("--longest and --tokenizer need each other.")
        if most is None or folder is None:
            return None, []
        with ended_by(ValueError, end=UsageError):
            limit = Limit(
                most, read_tokenizer(folder), SERIALISATIONS[options["serialisation"]], question=True
            )
        description = limit.to_dict()
        tokenizer = f"{description['tokenizer']} (sha256 {description['tokenizer_sha256'][:12]})"
        return limit.fits, [
            (
                f"Only instances of at most {most} tokens of {tokenizer} were asked, question and table as "
                f"{description['serialisation']}."
            )
        ]


def _named_file(text: str) -> tuple[str, Path]:
    """NAME=FILE, or a FILE alone, whose model has no name yet."""
    name, equals, file = text.partition("=")
    if not equals or "/" in name:
        return "", Path(text)
    if not name.strip() or not file:
        raise ArgumentTypeError("write NAME=FILE or FILE")
    return name.strip(), Path(file)
