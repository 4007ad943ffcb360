import json
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, CommandError, UsageError, ended_by
from tableqa.quality_control.audit_findings import meaning_of
from tableqa.quality_control.edit_audit import CONTRACTS, Audit, audit
from tableqa.readers import READERS, ReaderError


class Command(BaseCommand):
    help = (
        "Compare two released files of tables, the base and the edited one. Lists the edits and "
        "problems of each table. Needs no database. Exit status 1 if there are findings."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--base", type=Path, required=True, metavar="FILE")
        parser.add_argument("--edited", type=Path, required=True, metavar="FILE")
        parser.add_argument("--contract", required=True, choices=list(CONTRACTS))
        parser.add_argument(
            "--reader", default="freb_tqa", choices=sorted(READERS), help="format of both files"
        )
        parser.add_argument(
            "--base-reader", choices=sorted(READERS), help="format of the base file, if it differs"
        )
        parser.add_argument(
            "--subset",
            action="store_true",
            help="accept an edited file with only some of the items of the base",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        base_reader = READERS[options["base_reader"] or options["reader"]]
        with ended_by(ReaderError, end=UsageError):
            report = audit(
                base_reader(options["base"]),
                READERS[options["reader"]](options["edited"]),
                options["contract"],
                subset=options["subset"],
            )
        if options["json"]:
            self.stdout.write(json.dumps(report.to_dict(), ensure_ascii=False, indent=1))
        else:
            self.stdout.write("\n".join([*_items(report), "", *_codes(report), "", *_totals(report)]))
        totals = report.totals
        if not totals["items"]:
            raise UsageError("Neither file contains items.")
        if totals["with_findings"]:
            raise CommandError(f"{totals['with_findings']:,} of {totals['items']:,} items have findings.")


def _items(report: Audit) -> list[str]:
    """A line for each item of both files in which something was found."""
    rows = [
        (
            item.id,
            str(len(item.operations)),
            item.answer_difference or "-",
            ", ".join(dict.fromkeys(finding.code for finding in item.violations)),
        )
        for item in report.items
        if item.violations and item.paired
    ]
    return _table(("item", "changes", "answer", "findings"), rows)


def _codes(report: Audit) -> list[str]:
    rows = [
        (code, f"{counts['items']:,}", f"{counts['cells']:,}" if counts["cells"] else "-", meaning_of(code))
        for code, counts in report.totals["codes"].items()
    ]
    return _table(("code", "items", "cells", "what it says"), rows)


def _totals(report: Audit) -> list[str]:
    totals = report.totals
    operations = ", ".join(f"{count:,} {name}" for name, count in totals["operations"].items()) or "none"
    besides = f"{totals['one_or_two_besides_damage']:,} if damage is not counted"
    return [
        f"{totals['paired']:,} items in both files.",
        f"{totals['one_or_two_changes']:,} have one or two changes in a table of the same shape ({besides}).",
        f"Operations: {operations}.",
        f"Answers recomputed: {totals['computed']:,}.",
    ]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lines in columns; the last column is as long as it is."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 1)]
    return [
        "  ".join(
            [*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[-1]]
        ).rstrip()
        for line in lines
    ]
