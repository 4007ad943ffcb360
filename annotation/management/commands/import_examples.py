from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.journeys import importing
from annotation.management.commands._refusing import RefusingCommand
from tableqa.readers import READERS


class Command(RefusingCommand):
    help = (
        "Import the questions and tables of a dataset into a project. Importing the same files "
        "again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--reader", required=True, choices=sorted(READERS))
        parser.add_argument("--tables", type=Path, metavar="DIR")
        parser.add_argument("--name", default="", help="name of the source; default: file name")
        parser.add_argument("--split", default="", metavar="NAME")
        parser.add_argument("--limit", type=_number, metavar="N")
        parser.add_argument(
            "--field",
            action="append",
            default=[],
            type=_field,
            metavar="PART=FIELD",
            help="field name in the records, for example question=text (own, label_studio, parquet, hf)",
        )

    def run(self, **options: Any) -> None:
        def progress(done: int, total: int) -> None:
            if self.stdout.isatty():
                self.stdout.write(f"\r{done} of {total}", ending="")

        done = importing.import_examples(
            project=self.project(options["project"]),
            reader=options["reader"],
            path=options["path"],
            tables=options["tables"],
            name=options["name"],
            split=options["split"],
            limit=options["limit"],
            fields=dict(options["field"]),
            now=timezone.now(),
            progress=progress,
        )
        if self.stdout.isatty():
            self.stdout.write("\r", ending="")
        if not done.new:
            self.stdout.write(f"{done.source.name} is already imported; no changes.")
            return
        self.stdout.write(
            f"{done.source.name}: {done.examples} examples, {done.tables} tables, {done.source.licence}."
        )
        if done.read_as:
            self.stdout.write(done.read_as)
        if done.left_out:
            self.stdout.write(done.left_out)
        if done.numbered:
            shown = ", ".join(done.numbered[:5]) + (" and others" if len(done.numbered) > 5 else "")
            self.stdout.write(f"{len(done.numbered)} repeated ids got a number as suffix: {shown}.")


def _field(text: str) -> tuple[str, str]:
    part, said, name = text.partition("=")
    if not (part and said and name):
        raise ArgumentTypeError("write PART=FIELD, for example question=text")
    return part, name


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ArgumentTypeError("must be a number of at least 1")
    return int(text)
