"""Files of polars."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from tests.exports.content import Grid, shown
from tests.exports.drawing import WRAPPED, Plan


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    frames = {
        name: pl.DataFrame(
            [[shown(c) for c in row] for row in rows], schema=header, orient="row", strict=False
        )
        for name, (header, rows) in sheets.items()
    }
    frame = next(iter(frames.values()))
    if plan.family == "text":
        with_mark = plan.encoding == "utf-8-sig"
        frame.write_csv(path, separator=plan.separator, line_terminator=plan.line_end, include_bom=with_mark)
    elif plan.suffix == "xlsx":
        import xlsxwriter

        with xlsxwriter.Workbook(path) as book:
            for name, one in frames.items():
                one.write_excel(book, worksheet=name)
    elif plan.suffix == "json" and plan.layout == WRAPPED:
        records = json.loads(frame.write_json())
        path.write_text(json.dumps({"data": records}, ensure_ascii=False), encoding="utf-8")
    else:
        {"json": frame.write_json, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet,
         "feather": frame.write_ipc}[plan.suffix](path)  # fmt: skip
