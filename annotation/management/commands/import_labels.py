from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.imports import label_import
from annotation.management.commands._escaping import CommandError, UsageError
from annotation.management.commands._refusing import RefusingCommand, add_choices
from tableqa.readers.labels import DUPLICATES, Columns
from tableqa.readers.rejections import one_sentence


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
        add_choices(parser, "labels")
        parser.add_argument(
            "--look", action="store_true", help="show what would be imported and write nothing"
        )

    def run(self, **options: Any) -> None:
        batch = self.batch(self.project(options["project"]), options["batch"])
        fields = {}
        for pair in options["field"]:
            column, equals, name = pair.rpartition("=")
            if not equals or not column:
                raise UsageError(f"--field must be COLUMN=FIELD, not {pair!r}.")
            fields[column] = name
        columns = Columns(example=options["example"], annotator=options["annotator"], fields=fields)
        duplicates = options["duplicates"] or DUPLICATES[0]
        choices = label_import.Choices(columns, duplicates, options["good_only"])
        params = {"batch": batch, "path": options["path"], "choices": choices}
        if options["look"]:
            checked = label_import.preview_import(**params)
            for problem in checked.problems:
                self.stdout.write(str(one_sentence(problem)))
            if checked.problems and not options["good_only"]:
                self.write_good(checked.new)
                raise CommandError(f"No labels were imported. Lines with errors: {checked.rejected}.")
        else:
            now, rest = timezone.now(), options["rest"]
            checked = label_import.write(**params, by=None, now=now, rest=rest)
        for note in filter(None, (checked.left_out, checked.read_as)):
            self.stdout.write(str(note))
        if checked.repeated:
            self.stdout.write(f"Left out because their person has another one: {checked.repeated}.")
        self.write_rejected(checked.rejected, options["rest"])
        counts = f"Responses: {checked.new}. Annotators: {len(checked.annotators)}. Items: {checked.items}."
        end = "Dry run: no labels were imported." if options["look"] else "The labels were imported."
        self.stdout.write(f"{counts} Already imported: {checked.known}. {end}")
