from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from annotation.help import proposing
from annotation.management.commands._refusing import RefusingCommand


class Command(RefusingCommand):
    help = (
        "Make proposals of a batch examples of a source of their own, to be rated beside people's examples."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--batch", required=True, metavar="NAME")
        parser.add_argument(
            "--size", type=int, default=100, metavar="N", help="at most so many (100, as in RobuT)"
        )
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample")

    def run(self, **options: Any) -> None:
        batch = self.batch(self.project(options["project"]), options["batch"])
        source = proposing.to_source(
            batch=batch, size=options["size"], seed=options["seed"], by=None, now=timezone.now()
        )
        self.stdout.write(f"{source.examples_count} examples in the source {source.name!r}.")
