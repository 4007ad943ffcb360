from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, UsageError, ended_by
from annotation.releases import argilla, tool_exports
from annotation.releases.raw_records import load
from tableqa.releases.record_files import Difference


class Command(BaseCommand):
    help = "Write the responses of a release for other tools. Needs no database."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", type=Path, help="the folder of a release")
        parser.add_argument(
            "out", type=Path, help="a new file; with --to label_studio or argilla a new folder"
        )
        parser.add_argument("--to", required=True, choices=(*tool_exports.FORMS, "argilla"))

    def handle(self, *args: Any, **options: Any) -> None:
        out, form = options["out"], options["to"]
        if out.exists():
            raise UsageError(f"{out} already exists. Choose another name.")
        write = {
            "csv": tool_exports.write_csv,
            "xlsx": tool_exports.write_xlsx,
            "label_studio": tool_exports.write_label_studio,
            "argilla": argilla.write_argilla,
        }[form]
        with ended_by(Difference):
            count = write(load(options["release"]), out)
        what = {"label_studio": "tasks", "argilla": "records"}.get(form, "responses")
        losses = {**tool_exports.LOSES, "argilla": argilla.LOSES}
        self.stdout.write(f"{count} {what} written to {out}. Not included: {losses[form]}.")
