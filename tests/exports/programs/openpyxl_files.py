"""Workbooks as people make them, with number formats, titles, merged cells and sheets that are hidden."""

from __future__ import annotations

from pathlib import Path

from openpyxl import Workbook

from tests.exports.content import FormattedValue, Grid
from tests.exports.drawing import Plan

DATE_FORMATS = ("yyyy-mm-dd", "dd.mm.yyyy", "mmm d, yyyy")


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    book = Workbook()
    book.remove(book.active)
    if plan.extra == "hidden sheet":
        book.create_sheet("old").sheet_state = "hidden"
        for row in [list(plan.names), ["q1", "An old question?", "No", '[["A"], ["1"]]']]:
            book["old"].append(row)
    for name, (header, rows) in sheets.items():
        sheet = book.create_sheet(name)
        if plan.extra == "title row" and name == "questions":
            sheet.append(["Questions for round 2"])
        sheet.append(header)
        first = sheet.max_row + 1
        for at, row in enumerate(rows, start=first):
            for column, value in enumerate(row, start=1):
                cell = sheet.cell(at, column, value.value if isinstance(value, FormattedValue) else value)
                if isinstance(value, FormattedValue):
                    cell.number_format = value.format
                elif cell.is_date:
                    cell.number_format = DATE_FORMATS[plan.number % 3]
                elif isinstance(value, str):
                    cell.data_type = "s"  # a text, also where it begins with an equals sign
        if plan.extra == "merged title" and name != "questions":
            sheet.insert_rows(1)
            sheet.cell(1, 1, "Films of the archive")
            sheet.merge_cells(start_row=1, end_row=1, start_column=1, end_column=len(header))
    if plan.extra == "notes sheet":
        book.create_sheet("notes", 0).append(["Made by Ada, please do not change"])
    book.save(path)
