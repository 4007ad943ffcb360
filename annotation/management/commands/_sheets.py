"""The ways in which commands give tables of figures: on the terminal, in the forms of `report_tables`, as JSON."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from tableqa.writers.report_tables import Sheet, as_csv, as_html, as_latex, as_markdown, as_text

FORMS: Mapping[str, Callable[[Sheet], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "html": as_html,
    "csv": as_csv,
}


def add_sheet_options(parser: ArgumentParser) -> None:
    """Add the options that `put_out` reads."""
    parser.add_argument("--format", choices=(*FORMS, "json"), default="text", help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="same as --format json")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables to this file as Markdown"
    )


def put_out(
    command: BaseCommand,
    options: Mapping[str, Any],
    title: str,
    sheets: Sequence[Sheet],
    data: Mapping[str, Any],
) -> None:
    """Print the sheets or the data, and write the page that was asked for."""
    if options["markdown"] is not None:
        options["markdown"].parent.mkdir(parents=True, exist_ok=True)
        page = "\n".join((f"## {title}\n", *map(as_markdown, sheets)))
        options["markdown"].write_text(page, encoding="utf-8", newline="\n")
    if options["json"] or options["format"] == "json":
        command.stdout.write(json.dumps(data, indent=1, ensure_ascii=False))
    else:
        command.stdout.write("\n".join(map(FORMS[options["format"]], sheets)), ending="")
