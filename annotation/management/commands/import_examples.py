from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.imports import example_import
from annotation.management.commands._refusing import RefusingCommand
from annotation.platform.refusals import ActionRefused
from tableqa.readers import READERS
from tableqa.readers.interface import Credit
from tableqa.readers.rejections import Problem, is_rest, one_sentence


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
            help="field name in the records, for example question=text, or how to read them, for "
            "example missing=empty (own, label_studio, parquet, hf)",
        )
        parser.add_argument("--licence", default="", help="SPDX identifier; default: that of the files")
        parser.add_argument("--citation", default="", help="default: that of the files")
        parser.add_argument("--url", default="", help="website of the data; default: that of the files")
        parser.add_argument("--good-only", action="store_true", help="leave out records with a problem")
        parser.add_argument("--check", action="store_true", help="check all records, import nothing")
        parser.add_argument(
            "--rest",
            type=Path,
            metavar="FILE",
            help="write the records with a problem and their reasons, as .csv or JSON Lines",
        )

    def run(self, **options: Any) -> None:
        def progress(done: int, total: int) -> None:
            if self.stdout.isatty():
                self.stdout.write(f"\r{done} of {total}", ending="")

        try:
            done = example_import.import_examples(
                project=self.project(options["project"]),
                **{name: options[name] for name in ("reader", "path", "tables", "name", "split", "limit")},
                fields=dict(options["field"]),
                credit=Credit(options["licence"], options["citation"], options["url"]),
                good_only=options["good_only"],
                rest=options["rest"],
                by_command=True,
                only_check=options["check"],
                now=timezone.now(),
                progress=progress,
            )
        except ActionRefused as refused:
            self._list(refused.more)
            raise
        report = done.report
        if options["check"]:
            for finding in report.sentences():
                self.stdout.write(finding)
            self.stdout.write(f"No problems in {done.examples} records. Nothing was imported.")
            return
        if self.stdout.isatty():
            self.stdout.write("\r", ending="")
        if not done.new:
            self.stdout.write(f"{done.source.name} is already imported; no changes.")
            return
        self.stdout.write(
            f"{done.source.name}: {done.examples} examples, {done.tables} tables, {done.source.licence}."
        )
        if done.continues:
            self.stdout.write(f"Licence, citation and URL are those of {done.continues}, unless given.")
        elif done.source.licence == "NOASSERTION" and options["path"].is_file() and is_rest(options["path"]):
            self.stdout.write(
                "The licence is not stated. To continue a source, import the file with --name SOURCE."
            )
        self.write_rejected(report.rejected, options["rest"])
        for sentence in filter(None, (report.read_as, *report.sentences(), report.left_out)):
            self.stdout.write(sentence)
        if losses := example_import.losses_of(done.source):
            self.stdout.write("Not imported:")
            for loss in losses:
                self.stdout.write(f"  {loss}")
        if done.numbered:
            listed_ids = ", ".join(done.numbered[:5]) + (" and others" if len(done.numbered) > 5 else "")
            self.stdout.write(f"{len(done.numbered)} repeated ids got a number as suffix: {listed_ids}.")

    def _list(self, more: Mapping[str, Any]) -> None:
        """The problems of an import that was refused, and what can be imported nevertheless."""
        for problem in more.get("problems", [])[1:]:
            self.stderr.write(one_sentence(Problem(**problem)))


def _field(text: str) -> tuple[str, str]:
    part, equals, name = text.partition("=")
    if not (part and equals):
        raise ArgumentTypeError("write PART=FIELD, for example question=text")
    return part, name


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ArgumentTypeError("must be a number of at least 1")
    return int(text)
