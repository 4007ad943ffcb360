from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from annotation.assistance import proposal_sources
from annotation.management.commands._refusing import RefusingCommand


class Command(RefusingCommand):
    help = (
        "Copy the proposals of a batch into a separate source, to rate them together with examples by people."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--batch", required=True, metavar="NAME")
        parser.add_argument(
            "--size", type=int, default=100, metavar="N", help="maximum number of examples (100, as in RobuT)"
        )
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the sample")

    def run(self, **options: Any) -> None:
        batch = self.batch(self.project(options["project"]), options["batch"])
        source = proposal_sources.create_source(
            batch=batch, size=options["size"], seed=options["seed"], by=None, now=timezone.now()
        )
        self.stdout.write(f"{source.examples_count} examples in the source {source.name!r}.")
