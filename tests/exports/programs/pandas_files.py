"""Files of pandas, with openpyxl and XlsxWriter for Excel."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.exports.content import Grid, shown
from tests.exports.drawing import WRAPPED, Plan


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    frames = {name: frame_of(grid, plan) for name, grid in sheets.items()}
    frame, index = next(iter(frames.values())), plan.extra == "row numbers" and "questions" in frames
    if plan.family == "text":
        frame.to_csv(
            path, sep=plan.separator, encoding=plan.encoding, index=index, lineterminator=plan.line_end
        )
    elif plan.suffix == "xlsx":
        with pd.ExcelWriter(path, engine=plan.writer) as book:
            for name, one in frames.items():
                one.to_excel(book, sheet_name=name, index=index and name == "questions")
    elif plan.suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False, date_format="iso")
    elif plan.suffix == "json":
        orient = "split" if plan.layout == WRAPPED else "records" if plan.number % 2 else "columns"
        frame.to_json(path, orient=orient, force_ascii=False, date_format="iso", indent=index or None)
    elif plan.suffix == "html":
        frame.to_html(path, index=index, encoding="utf-8")
    else:
        getattr(frame, f"to_{plan.suffix}")(path)


def frame_of(grid: Grid, plan: Plan) -> Any:
    """A frame with dates as pandas has them."""
    header, rows = grid
    frame = pd.DataFrame([[shown(cell) for cell in row] for row in rows], columns=header)
    for name in header:
        values = [value for value in frame[name] if value is not None]
        if all(isinstance(value, datetime.date) for value in values):
            frame[name] = pd.to_datetime(frame[name])
        elif plan.extra == "numpy lists" and all(isinstance(value, list) for value in values):
            frame[name] = [np.array(value, dtype=object) for value in frame[name]]
        elif plan.extra == "float32" and frame[name].dtype == "float64":
            frame[name] = frame[name].astype("float32")
    return frame
