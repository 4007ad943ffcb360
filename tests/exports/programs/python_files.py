"""Files of Python's own modules csv and json."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from tests.exports.content import Grid, json_value, shown
from tests.exports.drawing import WRAPPED, Plan


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    grid = next(iter(sheets.values()))
    if plan.family == "text":
        quoting = csv.QUOTE_ALL if plan.extra == "quote all" else csv.QUOTE_MINIMAL
        with path.open("w", encoding=plan.encoding, newline="") as file:
            if plan.extra == "comment line":
                file.write(f"# questions for round 2{plan.line_end}")
            writer = csv.writer(file, delimiter=plan.separator, lineterminator=plan.line_end, quoting=quoting)
            writer.writerows([grid[0], *([shown(cell) for cell in row] for row in grid[1])])
        return
    records = records_of(grid)
    if plan.suffix == "jsonl":
        text = "".join(json.dumps(record, ensure_ascii=plan.number % 2 == 0) + "\n" for record in records)
    else:
        whole: Any = {"version": "1.0", "data": records} if plan.layout == WRAPPED else records
        text = json.dumps(whole, ensure_ascii=False, indent=plan.number % 3)
    path.write_text(text, encoding="utf-8")


def records_of(grid: Grid) -> list[dict[str, Any]]:
    """The rows as objects of JSON."""
    return [dict(zip(grid[0], map(json_value, row), strict=True)) for row in grid[1]]
