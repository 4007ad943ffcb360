"""Files of R: base R, readr, data.table, jsonlite and openxlsx."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tests.exports.content import Grid
from tests.exports.drawing import Plan
from tests.exports.programs.columns import write_columns


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    with tempfile.TemporaryDirectory() as folder:
        columns = Path(folder) / "columns.json"
        write_columns(sheets, columns, plan)
        subprocess.run(["Rscript", str(Path(__file__).with_suffix(".R")), columns, path], check=True)
