"""Files of Node: JSON.stringify, csv-stringify, Papa Parse, ExcelJS and SheetJS."""

from __future__ import annotations

import os
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
        script = Path(__file__).with_suffix(".mjs")
        subprocess.run(["node", script, columns, path], check=True, cwd=os.environ["EXPORTS_NODE"])
