from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.journeys import labelled_elsewhere
from annotation.management.commands._refusing import RefusingCommand
from tableqa.readers.reader import START, ReaderError, check_is_text


class Command(RefusingCommand):
    help = "Import labels from a CSV file into an open batch: all of them, or none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--batch", required=True, metavar="NAME")
        parser.add_argument(
            "--example", default="example", metavar="COLUMN", help="column with the example id"
        )
        parser.add_argument(
            "--annotator", default="annotator", metavar="COLUMN", help="column with the annotator"
        )
        parser.add_argument(
            "--field",
            action="append",
            default=[],
            metavar="COLUMN=FIELD",
            help="map a column to a response field with another name",
        )
        parser.add_argument(
            "--look", action="store_true", help="show what would be imported and write nothing"
        )

    def run(self, **options: Any) -> None:
        batch = self.batch(self.project(options["project"]), options["batch"])
        try:
            with options["path"].open("rb") as file:
                check_is_text(options["path"], file.read(START))
            text = options["path"].read_text(encoding="utf-8-sig")
        except ReaderError as error:
            raise CommandError(str(error), returncode=2) from None
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(
                f"{options['path']} is not readable as UTF-8 ({error}).", returncode=2
            ) from None
        fields = {}
        for pair in options["field"]:
            column, equals, name = pair.rpartition("=")
            if not equals or not column:
                raise CommandError(f"--field must be COLUMN=FIELD, not {pair!r}.", returncode=2)
            fields[column] = name
        columns = labelled_elsewhere.Columns(
            example=options["example"], annotator=options["annotator"], fields=fields
        )
        given = {"batch": batch, "text": text, "columns": columns}
        if options["look"]:
            found = labelled_elsewhere.look(**given)
            for trouble in found.troubles:
                self.stdout.write(f"line {trouble.line}: {trouble.message}")
            if found.troubles:
                wrong = len(found.troubles) + found.troubles_left_out
                raise CommandError(f"No labels were imported. Lines with errors: {wrong}.")
        else:
            found = labelled_elsewhere.write(**given, by=None, now=timezone.now())
        if found.has_unnamed_column:
            self.stdout.write("The column without a name is left out.")
        counts = f"Responses: {len(found.labels)}. Annotators: {len(found.annotators)}. Items: {found.items}."
        end = "Dry run: no labels were imported." if options["look"] else "The labels were imported."
        self.stdout.write(f"{counts} Already imported: {found.known}. {end}")
