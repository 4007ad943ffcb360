from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from annotation.assistance import model_accuracy, model_queries
from annotation.management.commands._refusing import RefusingCommand
from annotation.management.commands._sources import HELP, sources_named
from annotation.models import Example, Source
from annotation.queue import metering
from tasks.contract import task_types


class Command(RefusingCommand):
    help = "Ask a model about the examples of a project. The replies are used by the task type."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--predictor", required=True, metavar="NAME", help="name of a model in PREDICTORS"
        )
        parser.add_argument(
            "--purpose",
            required=True,
            type=_purpose,
            metavar="NAME",
            help="one of the questions that task types ask, or correctness; a wrong name lists them",
        )
        parser.add_argument("--source", action="append", default=[], metavar="SOURCE", help=HELP)
        parser.add_argument("--samples", type=int, default=8, metavar="N", help="answers per question")
        parser.add_argument("--temperature", type=float, default=0.7)
        parser.add_argument(
            "--limit", type=int, default=None, metavar="N", help="ask about at most N examples"
        )
        parser.add_argument(
            "--estimate", action="store_true", help="print requests, tokens and price, and ask nothing"
        )

    def run(self, **options: Any) -> None:
        project = self.project(options["project"])
        sources = sources_named(project, options["source"], self.stderr)
        if options["purpose"] == model_accuracy.PURPOSE:
            self._correctness(sources, options)
            return
        params = {name: options[name] for name in ("predictor", "purpose", "samples", "temperature", "limit")}
        self._announce(model_queries.estimate(sources=sources, **params))
        if options["estimate"]:
            return
        asked_count = model_queries.ask_model(sources=sources, progress=self._print_progress, **params)
        self.stdout.write(f"{asked_count} examples asked.")

    def _correctness(self, sources: list[Source], options: dict[str, Any]) -> None:
        """Ask about the originals, for batches that serve only what the model answers correctly."""
        predictor = options["predictor"]
        originals = Example.objects.originals().usable().filter(source__in=sources)
        in_order = originals.order_by("source_id", "position", "pk")
        keys = list(in_order.values_list("pk", flat=True)[: options["limit"]])
        task = next(task for task in task_types().values() if task.predicts)
        self._announce(model_accuracy.stored_accuracy(keys, task=task, predictor=predictor).estimate)
        if options["estimate"]:
            return
        accuracy = model_accuracy.ask(keys, task=task, predictor=predictor, progress=self._print_progress)
        self.stdout.write(f"{accuracy.in_words} {accuracy.rest_in_words}".strip())

    def _announce(self, estimate: metering.Estimate | None) -> None:
        """Print what a language model would use, before it is asked."""
        if estimate is not None:
            self.stderr.write(f"Estimate: {estimate.in_words()}.")

    def _print_progress(self, done: int, total: int) -> None:
        self.stderr.write(f"{done} of {total}\r", ending="")


def _purpose(text: str) -> str:
    """Compare with the task types once a value is given: --help does not have to import them."""
    if text not in (purposes := [*model_queries.purposes(), model_accuracy.PURPOSE]):
        raise ArgumentTypeError(f"invalid choice: {text!r} (choose from {', '.join(map(repr, purposes))})")
    return text
