from __future__ import annotations

from argparse import ArgumentParser
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
        parser.add_argument("--purpose", required=True, choices=list(asking.purposes()))
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
