"""Files of commands that read JSON or a database: jq, csvkit, sqlite3 and DuckDB."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.exports.content import Grid
from tests.exports.drawing import WRAPPED, Plan
from tests.exports.programs import python_files


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    grid = next(iter(sheets.values()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = {"jq": _jq, "csvkit": _csvkit, "sqlite3": _sqlite3, "DuckDB": _duckdb}[plan.program]
        if (written := command(grid, folder, path, plan)) is not None:
            with path.open("wb") as file:
                subprocess.run(written, check=True, stdout=file)


def _json(grid: Grid, folder: Path) -> Path:
    source = folder / "records.json"
    source.write_text(json.dumps(python_files.records_of(grid)), encoding="utf-8")
    return source


def _jq(grid: Grid, folder: Path, path: Path, plan: Plan) -> list[Any]:
    names = json.dumps(grid[0])
    # People write lists and objects into columns with tojson: @csv takes none.
    rows = f'{names} as $n | $n, (.[] | [.[$n[]] | if type == "array" or type == "object" then tojson else . end])'
    whole = "{data: .}" if plan.layout == WRAPPED else "."
    program = {"csv": f"{rows} | @csv", "tsv": f"{rows} | @tsv", "json": whole, "jsonl": ".[]"}[plan.suffix]
    options = {"csv": ["-r"], "tsv": ["-r"], "jsonl": ["-c"]}.get(plan.suffix, [])
    return ["jq", *options, program, _json(grid, folder)]


def _csvkit(grid: Grid, folder: Path, path: Path, plan: Plan) -> list[Any]:
    source = _json(grid, folder)
    table = folder / "table.csv"
    with table.open("wb") as file:
        subprocess.run(["in2csv", "--no-inference", source], check=True, stdout=file)
    stream = ["--stream"] if plan.suffix == "jsonl" else []
    return (
        ["csvformat", "-d", ",", "-D", plan.separator, table]
        if plan.suffix == "csv"
        else ["csvjson", "--snifflimit", "0", "--no-inference", *stream, table]
    )


def _sqlite3(grid: Grid, folder: Path, path: Path, plan: Plan) -> list[Any]:
    database, (header, _) = folder / "data.db", grid
    names = ", ".join(f'"{name}"' for name in header)
    records = [[record[name] for name in header] for record in python_files.records_of(grid)]
    with sqlite3.connect(database) as connection:
        connection.execute(f"CREATE TABLE questions ({names})")
        connection.executemany(f"INSERT INTO questions VALUES ({', '.join('?' * len(header))})", records)
    connection.close()
    mode = {"csv": "csv", "tsv": "tabs", "json": "json", "html": "html"}[plan.suffix]
    separator = ["-separator", plan.separator] if plan.suffix == "csv" else []
    return ["sqlite3", "-header", *["-cmd", f".mode {mode}"], *separator, database, "SELECT * FROM questions"]


def _duckdb(grid: Grid, folder: Path, path: Path, plan: Plan) -> None:
    import duckdb

    from tests.exports.programs.pyarrow_files import table_of

    options = {
        "csv": f"FORMAT csv, HEADER, DELIMITER '{plan.separator}'",
        "json": "FORMAT json, ARRAY true",
        "jsonl": "FORMAT json",
        "parquet": "FORMAT parquet",
    }
    with duckdb.connect() as connection:
        connection.register("questions", table_of(grid, plan.extra == "float32"))
        chosen = "{'rows': list(questions)} AS data" if plan.layout == WRAPPED else "*"
        connection.execute(f"COPY (SELECT {chosen} FROM questions) TO '{path}' ({options[plan.suffix]})")
