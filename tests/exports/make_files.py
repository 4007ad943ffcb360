"""Write the files of the plans FIRST to LAST: `python -m tests.exports.make_files FIRST LAST`. README.md says how."""

from __future__ import annotations

import gzip
import importlib
import json
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.exports.content import content_of, expected_of, sheets_of
from tests.exports.drawing import FILES, Plan, drawn

FOLDER = Path(__file__).parent / "files"
MODULES = {"LibreOffice": "spreadsheet", "gnumeric": "spreadsheet", "csvkit": "command", "sqlite3": "command",
           "jq": "command", "DuckDB": "command"}  # fmt: skip


def write(plan: Plan, to: Path) -> Path:
    """Write the file of a plan and what is expected of it into a folder."""
    module = MODULES.get(plan.program, plan.program.lower())
    program = importlib.import_module(f"tests.exports.programs.{module}_files")
    content = content_of(plan)
    sheets = sheets_of(plan, content)
    name = f"{plan.number:03}-{plan.program.lower()}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if plan.layout == FILES:
            (folder / "tables").mkdir()
            for table, grid in sheets.items():
                under = folder if table == "questions" else folder / "tables"
                program.write({table: grid}, under / f"{table}.{plan.suffix}", plan)
            path = _zipped(folder, to / f"{name}.zip")
        elif plan.suffix == "folder":
            program.write(sheets, folder / "data", plan)
            path = _zipped(folder / "data", to / f"{name}.zip")
        else:
            path = to / f"{name}.{plan.suffix}"
            program.write(sheets, folder / path.name, plan)
            if plan.extra == "gzip":
                compressed = gzip.compress((folder / path.name).read_bytes(), mtime=0)
                path = to / f"{path.name}.gz"
                path.write_bytes(compressed)
            else:
                shutil.copyfile(folder / path.name, path)
    described = {key: value for key, value in vars(plan).items() if value not in ("", False)}
    expected = {"file": path.name, "plan": described, "records": expected_of(plan, content)}
    text = json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n"
    path.with_name(f"{name}.expected.json").write_text(text, encoding="utf-8")
    return path


def _zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            archive.writestr(zipfile.ZipInfo(str(file.relative_to(folder))), file.read_bytes())
    return path


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for plan in drawn(int(sys.argv[1]), int(sys.argv[2])):
        print(plan.number, write(plan, FOLDER).name)
