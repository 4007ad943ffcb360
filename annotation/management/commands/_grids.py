"""The ways in which commands give tables of figures: on the terminal, as JSON, as a page of Markdown."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from tableqa.grids import Grid, markdown, text


def add_grid_options(parser: ArgumentParser) -> None:
    """Add the options that `put_out` reads."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there as Markdown")


def put_out(
    command: BaseCommand,
    options: Mapping[str, Any],
    title: str,
    grids: Sequence[Grid],
    data: Mapping[str, Any],
) -> None:
    """Print the grids or the data, and write the page that was asked for."""
    if options["markdown"] is not None:
        options["markdown"].parent.mkdir(parents=True, exist_ok=True)
        options["markdown"].write_text(markdown(title, grids), encoding="utf-8", newline="\n")
    command.stdout.write(json.dumps(data, indent=1, ensure_ascii=False) if options["json"] else text(grids))
