from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from annotation.help import asking
from annotation.management.commands._refusing import RefusingCommand
from annotation.models import Source


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
            help="one of the questions that task types ask; a wrong name lists them",
        )
        parser.add_argument("--source", default="", metavar="NAME", help="default: all sources")
        parser.add_argument("--samples", type=int, default=8, metavar="N", help="answers per question")
        parser.add_argument("--temperature", type=float, default=0.7)
        parser.add_argument(
            "--limit", type=int, default=None, metavar="N", help="ask about at most N examples"
        )

    def run(self, **options: Any) -> None:
        project = self.project(options["project"])
        sources = Source.objects.ready().filter(project=project)
        if options["source"]:
            sources = sources.filter(name=options["source"])
        asked = asking.ask_model(
            sources=list(sources),
            predictor=options["predictor"],
            purpose=options["purpose"],
            samples=options["samples"],
            temperature=options["temperature"],
            limit=options["limit"],
            progress=lambda done, total: self.stderr.write(f"{done} of {total}\r", ending=""),
        )
        self.stdout.write(f"{asked} examples asked.")


def _purpose(text: str) -> str:
    """Compare with the task types once a value is given: --help does not have to import them."""
    if text not in (purposes := asking.purposes()):
        raise ArgumentTypeError(f"invalid choice: {text!r} (choose from {', '.join(map(repr, purposes))})")
    return text
