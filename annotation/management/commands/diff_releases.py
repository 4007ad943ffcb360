import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, ended_by
from annotation.releases import release_diff, release_files

SHOWN = 20
"""Ids of a file that are printed; --json has them all."""


class Command(BaseCommand):
    help = "Compare two releases record by record. Needs no database. Exit status 1 if they differ."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("before", type=Path, metavar="A")
        parser.add_argument("after", type=Path, metavar="B")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        with ended_by(release_files.Difference):
            found = release_diff.diff_releases(options["before"], options["after"])
        if options["json"]:
            files = [one.to_dict() for one in found.files]
            self.stdout.write(json.dumps({"manifest": list(found.manifest), "files": files}, indent=1))
        else:
            self._print(found)
        if not found.empty:
            sys.exit(1)

    def _print(self, found: release_diff.ReleaseDiff) -> None:
        if found.empty:
            self.stdout.write("The releases are identical.")
        for line in found.manifest:
            self.stdout.write(line)
        for one in found.files:
            self.stdout.write(f"{one.name}:")
            for what, ids in (("added", one.added), ("removed", one.removed), ("changed", one.changed)):
                if ids:
                    more = f", and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
                    self.stdout.write(f"  {len(ids)} {what}: {', '.join(ids[:SHOWN])}{more}")
            if one.order:
                self.stdout.write("  same records in another order")
