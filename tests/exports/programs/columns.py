"""Grids as JSON for programs that are no Python: columns with types, and dates as ISO 8601 writes them."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from tests.exports.content import FormattedValue, Grid, json_value


def write_columns(sheets: dict[str, Grid], path: Path, plan: Any) -> None:
    columns = {
        name: [{"name": column, **_column([row[at] for row in rows])} for at, column in enumerate(header)]
        for name, (header, rows) in sheets.items()
    }
    settings = {key: getattr(plan, key) for key in ("separator", "encoding", "line_end", "extra", "layout")}
    path.write_text(
        json.dumps({"format": plan.suffix, "writer": plan.writer, **settings, "sheets": columns}),
        encoding="utf-8",
    )


def _column(values: list[Any]) -> dict[str, Any]:
    there = [value for value in values if value is not None]
    types = {
        bool: "logical",
        int: "number",
        float: "number",
        datetime.date: "date",
        list: "list",
        dict: "list",
    }
    kinds = {types.get(type(value), "text") for value in there}
    formats = [value.format for value in there if isinstance(value, FormattedValue) and not value.is_text]
    column = {"type": kinds.pop() if len(kinds) == 1 else "text", "values": list(map(json_value, values))}
    if formats and len(formats) == len(there):
        column |= {"format": formats[0], "numbers": [value and value.value for value in values]}
    return column
