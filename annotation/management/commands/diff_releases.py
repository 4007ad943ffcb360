import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, ended_by
from annotation.releases import release_diff
from tableqa.releases import record_files

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
        with ended_by(record_files.Difference):
            diff = release_diff.diff_releases(options["before"], options["after"])
        if options["json"]:
            files = [file_diff.to_dict() for file_diff in diff.files]
            self.stdout.write(json.dumps({"manifest": list(diff.manifest), "files": files}, indent=1))
        else:
            self._print(diff)
        if not diff.empty:
            sys.exit(1)

    def _print(self, diff: release_diff.ReleaseDiff) -> None:
        if diff.empty:
            self.stdout.write("The releases are identical.")
        for line in diff.manifest:
            self.stdout.write(line)
        for file_diff in diff.files:
            self.stdout.write(f"{file_diff.name}:")
            for what, ids in (
                ("added", file_diff.added),
                ("removed", file_diff.removed),
                ("changed", file_diff.changed),
            ):
                if ids:
                    more = f", and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
                    self.stdout.write(f"  {len(ids)} {what}: {', '.join(ids[:SHOWN])}{more}")
            if file_diff.order:
                self.stdout.write("  same records in another order")
