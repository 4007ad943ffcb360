from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.management import simulation
from annotation.management.commands._refusing import RefusingCommand
from annotation.queue import resolutions
from annotation.workflow import automatic_decisions


class Command(RefusingCommand):
    help = "Complete a batch with simulated annotators through the REST API."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--batch", required=True, metavar="NAME")
        parser.add_argument("--annotators", type=_count, required=True, metavar="N")
        parser.add_argument("--seed", type=int, default=0, metavar="N")
        parser.add_argument("--accuracy", type=_share, default=0.9, metavar="0..1")
        parser.add_argument(
            "--url", default="", help="running server on this database; default: this process"
        )

    def run(self, **options: Any) -> None:
        import httpx

        batch = self.batch(self.project(options["project"]), options["batch"])
        try:
            counts = simulation.simulate(
                batch=batch,
                **{name: options[name] for name in ("annotators", "seed", "accuracy", "url")},
                now=timezone.now(),
            )
        except httpx.HTTPStatusError as error:
            raise CommandError(f"The server refused: {error.response.text[:500]}") from None
        except httpx.HTTPError as error:
            raise CommandError(f"The server cannot be reached: {error}") from None
        # Simulated people take nothing back, so the time for undo need not pass.
        resolved = automatic_decisions.resolve_batch(batch=batch, now=timezone.now())
        for name, done in counts.items():
            self.stdout.write(f"{name}: {done['submitted']} submitted, {done['skipped']} skipped")
        waiting = resolutions.waiting(batch).count()
        self.stdout.write(f"{resolved} items resolved, {waiting} in adjudication.")


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= simulation.MOST:
        raise ArgumentTypeError(f"must be a number from 1 to {simulation.MOST}")
    return int(text)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError("must be a number from 0 to 1")
    return value
