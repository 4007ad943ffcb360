from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation import evaluating
from annotation.release_files import Difference
from tableqa.evaluation import EvaluationError, evaluate, read_predictions


class Command(BaseCommand):
    help = (
        "How well a model does on a release, and how much of that survives each perturbation. The answers come from "
        "a file, or from a predictor of PREDICTORS whose answers are then kept in that file. Needs no database."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", type=Path, metavar="DIR")
        parser.add_argument(
            "--predictions", type=Path, metavar="FILE", help='JSON Lines: {"source", "id", "answers"} a line'
        )
        parser.add_argument("--predictor", metavar="NAME", help="ask this model for what FILE does not have")
        parser.add_argument(
            "--leave-out-missing", action="store_true", help="do without instances that have no prediction"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        folder, file, name = options["release"], options["predictions"], options["predictor"]
        if file is None and name is None:
            raise CommandError("Name a file of --predictions, a --predictor, or both.", returncode=2)
        file = file or folder.resolve().with_name(f"{folder.resolve().name}.{name}.jsonl")
        try:
            raw = evaluating.load(folder)
            if name is not None:
                ask = evaluating.model_of(settings.PREDICTORS, name)
                evaluating.collect(raw, ask, file, progress=self._progress)
            predictions = read_predictions(file, raw.sources)
            found = evaluate(
                evaluating.only(evaluating.instances(raw)),
                predictions,
                leave_out_missing=options["leave_out_missing"],
            )
        except LookupError as error:
            raise CommandError(str(error.args[0]), returncode=2) from None
        except (Difference, EvaluationError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(found.to_dict(), indent=1))
        else:
            self.stdout.write("\n".join(found.lines()))
            if found.missing:
                self.stdout.write(f"{found.missing} instances without a prediction were left out.")

    def _progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{done} of {total}", ending="\n" if done == total else "")
