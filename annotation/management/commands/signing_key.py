from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from annotation.management.commands._escaping import BaseCommand, UsageError, ended_by
from annotation.releases import signing


class Command(BaseCommand):
    help = (
        "Create the key that signs releases, in the file that SIGNING_KEY names, and print its fingerprint."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rotate", action="store_true", help="replace the key by a new one, which the old one signs"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = settings.SIGNING_KEY
        if path is None:
            raise UsageError("SIGNING_KEY is not set. Set it to the path of a file outside the data folder.")
        with ended_by(OSError, ValueError, LookupError):
            fingerprint = signing.rotate(path) if options["rotate"] else signing.create(path)
        self.stdout.write(f"{path}: {fingerprint}")
        self.stdout.write(
            f"Public keys for readers: {signing.public_file(path)}, which the site shows as /signing-key.pem."
        )
