from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, ended_by
from annotation.releases import verification
from tableqa.releases import record_files


class Command(BaseCommand):
    help = (
        "Replay and recompute everything in a release folder. Needs no database. Stops at the "
        "first difference."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")

    def handle(self, *args: Any, **options: Any) -> None:
        with ended_by(record_files.Difference):
            checked = verification.verify(options["folder"])
        self.stdout.write(
            f"Verified: {checked['files']} files, {checked['annotations']} annotations, "
            f"{checked['decisions']} decisions, {checked['replayed']} tables replayed, "
            f"{checked['made_again']} automatic perturbations recomputed, "
            f"{checked['figures']} agreement figures recomputed."
        )
        if checked["not_compared"]:
            self.stdout.write(
                f"Krippendorff's alpha was not compared with a second opinion ({checked['not_compared']} figures), "
                "because the package krippendorff is not installed. To compare it: pip install krippendorff"
            )
        if checked["croissant_not_compared"]:
            self.stdout.write(
                "croissant.json was compared with its checksum only, because the package mlcroissant is not installed. "
                "To compare it: pip install mlcroissant"
            )
