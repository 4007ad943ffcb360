"""Files that LibreOffice and Gnumeric write from a workbook."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.exports.content import Grid
from tests.exports.drawing import Plan
from tests.exports.programs import openpyxl_files

NUMBERS = {"utf-8": 76, "utf-8-sig": 76, "utf-16": 65535, "cp1252": 1, "iso8859-15": 22, "cp1250": 33, "cp1251": 34,
           "koi8-r": 74, "shift_jis": 64, "gb18030": 85}  # fmt: skip
"""Encodings by the numbers of LibreOffice's filter for text."""


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = folder / f"{path.stem}.xlsx"
        openpyxl_files.write(sheets, book, replace(plan, number=3))  # dates as ISO 8601 writes them
        if plan.program == "gnumeric":
            _gnumeric(book, path, plan)
            return
        filters = {"ods": "calc8", "xlsx": "Calc MS Excel 2007 XML", "html": "HTML (StarCalc)"}
        mark = "true" if plan.encoding == "utf-8-sig" else "false"
        text = f"{ord(plan.separator)},34,{NUMBERS[plan.encoding]},1,,0,false,true,false,false,false,0,{mark}"
        name = f"{plan.suffix}:{filters.get(plan.suffix) or f'Text - txt - csv (StarCalc):{text}'}"
        out = folder / "out"
        command = [
            "soffice",
            f"-env:UserInstallation=file://{folder}/profile",
            "--headless",
            "--convert-to",
            name,
        ]
        subprocess.run([*command, "--outdir", out, book], check=True, stdout=subprocess.DEVNULL)
        path.write_bytes((out / path.name).read_bytes())


def _gnumeric(book: Path, path: Path, plan: Plan) -> None:
    options: list[str] = []
    if plan.suffix == "csv":
        charset = plan.encoding.upper().replace("ISO8859", "ISO-8859").replace("UTF-8-SIG", "UTF-8")
        text = f"separator='{plan.separator}' charset='{charset}' format=preserve quoting-mode=auto"
        options = ["-T", "Gnumeric_stf:stf_assistant", "-O", text]
    subprocess.run(
        ["ssconvert", *options, book, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
