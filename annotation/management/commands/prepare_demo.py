from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from annotation.management import demo_world
from annotation.management.commands._escaping import BaseCommand, UsageError
from tableqa.core.command_line import PROGRAM


class Command(BaseCommand):
    help = f"Prepare {PROGRAM} demo: migrate, load the demo world, print the sign-in links."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--base-url", required=True, metavar="URL")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO_SECRET:
            raise UsageError(f"The demo world is only available under {PROGRAM} demo.")
        call_command("migrate", verbosity=0, interactive=False)
        demo_world.load(now=timezone.now())
        self.stdout.write("\n".join(demo_world.links(options["base_url"])))
