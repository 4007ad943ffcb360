"""Files of Apache Arrow, without pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, feather, parquet

from tests.exports.content import Grid, shown
from tests.exports.drawing import Plan


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    table = table_of(next(iter(sheets.values())), plan.extra == "float32")
    if plan.suffix == "csv":
        csv.write_csv(table, path, csv.WriteOptions(delimiter=plan.separator))
    elif plan.suffix == "parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path)


def table_of(grid: Grid, with_float32: bool = False) -> Any:
    """A table whose types Arrow infers."""
    header, rows = grid
    columns = [pa.array([shown(row[at]) for row in rows]) for at in range(len(header))]
    if with_float32:
        columns = [column.cast(pa.float32()) if column.type == pa.float64() else column for column in columns]
    return pa.table(columns, names=header)
