"""The questions and tables of a plan, and the values that an import of its file has to give. No reader is used."""

from __future__ import annotations

import csv
import datetime
import html
import io
import json
import random
from dataclasses import dataclass
from typing import Any

from tests.exports.drawing import CELLS, FILES, LONG, SEED, SHEETS, Plan

Grid = tuple[list[str], list[list[Any]]]
"""Names of columns, and rows of values as Python has them."""


@dataclass(frozen=True)
class FormattedValue:
    """A number or date with a number format. Programs without number formats write the text that is shown.

    `is_text` says that only the shown text is right, for example the leading zeros of a code.
    """

    value: Any
    shown: str
    format: str
    is_text: bool = False


@dataclass(frozen=True)
class Record:
    id: str
    question: str
    answers: list[Any]
    table: str
    is_list: bool


@dataclass(frozen=True)
class Content:
    records: list[Record]
    tables: dict[str, Grid]


NAMES = ("Heat", "Alien", "Ran", "Solaris", "Persona", "Brazil", "Vertigo", "Stalker")
LETTERS = {
    "cp1252": ("Zoë Müller", "“Señor” – 5 €", "Ærø & Århus"),
    "iso8859-15": ("Zoë Müller", "Œuvre à 5 €", "Ærø & Århus"),
    "cp1250": ("Łódź", "Šárka Dvořáková", "Győr"),
    "cp1251": ("Москва", "Нижний Новгород", "Ёлка"),
    "koi8-r": ("Москва", "Нижний Новгород", "Ёлка"),
    "shift_jis": ("東京", "こんにちは", "大阪市"),
    "gb18030": ("北京", "你好，世界", "上海市"),
}
UNICODE = ("Zoë Łódź", "Москва", "東京", "Ærø – 5 €", "na\u0308hen")
VALUES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "line breaks": ("Note", ("first line\nsecond line", "single line", "a\n\nb", "1. x\n2. y")),
    "quotes": ("Quote", ('He said "no"', "it's", '"all quoted"', '5" disk', "'n' roll")),
    "separators": ("Places", ("Rome, Italy", "c; d", "e | f", "g, h; i")),
    "leading zeros": ("Code", ("007", "0815", "00", "012e5")),
    "integers": ("Year", (1995, 1979, -12, 123456789012345, 0)),
    "decimals": ("Score", (1.5, 0.1, 12.25, -3.75, 1.1, 7.0)),
    "dates": ("Date", tuple(datetime.date(2024, 5, 1) + datetime.timedelta(days=40 * i) for i in range(5))),
    "currency": (
        "Gross",
        tuple(FormattedValue(v, f"${v:,.2f}", '"$"#,##0.00') for v in (1200.5, 0.25, 33.0, 7e6)),
    ),
    "percent": ("Share", tuple(FormattedValue(v, f"{v:.1%}", "0.0%") for v in (0.125, 0.5, 1.0, 0.003))),
    "padded numbers": ("Number", tuple(FormattedValue(v, f"{v:05}", "00000", True) for v in (7, 815, 12345))),
    "years of dates": (
        "Opened",
        tuple(FormattedValue(datetime.date(v, 5, 3), str(v), "yyyy", True) for v in (1999, 2001, 2024)),
    ),
    "booleans": ("Open", (True, False)),
    "emoji": ("Sign", ("🎬", "👩‍👩‍👧 family", "1️⃣", "🇩🇪")),
    "right to left": ("Place", ("ירושלים", "القاهرة", "(א) 12")),
    "empty cells": ("Rest", ("x", None, "y", None)),
    "texts like missing values": ("Country", ("NA", "None", "nan", "null", "N/A")),
    "texts like lists": ("Seat", ("[1]", "[a, b]", "(1, 2)", "{x}", "['p' 'q']")),
    "texts like numbers": ("Result", ("1,200", "1.50", "3–4", "+7", "1 000")),
    "texts like HTML": ("Code of page", ("3 < 4", "a & b", "&amp;", "<b>x</b>")),
}
_LEGACY = {"“", "”", "–", "€"}


def content_of(plan: Plan) -> Content:
    """Five questions on two tables, whose columns are the kinds of the plan."""
    draw = random.Random(
        f"content {plan.number}" if plan.seed == SEED else f"content {plan.seed}:{plan.number}"
    )
    kinds = list(plan.kinds)
    if plan.answers in VALUES and plan.answers not in kinds:
        kinds[0] = plan.answers
    tables: dict[str, Grid] = {}
    for name in ("films", "places"):
        columns = [values_of(kind, plan.encoding) for kind in kinds]
        firsts = draw.sample(NAMES, draw.randint(3, 5))
        drawn = [draw.sample(values, len(values)) for _, values in columns]
        rows = [[first, *(vs[i % len(vs)] for vs in drawn)] for i, first in enumerate(firsts)]
        tables[name] = (["Name", *(column for column, _ in columns)], rows)
    records = []
    for number in range(1, 6):
        table = draw.choice(list(tables))
        header, rows = tables[table]
        row, at = draw.choice(rows), kinds.index(plan.answers) + 1 if plan.answers in kinds else None
        if at is None:
            at = draw.randint(1, len(kinds)) if plan.answers == "texts" else 0
        question = f"What is the {header[at]} of {row[0]}?"
        answers = [row[at]]
        if plan.answers == "texts" and not isinstance(row[at], str):
            question, answers = f"Which name is in row {rows.index(row) + 1}?", [row[0]]
        if plan.answers == "lists":
            question = "Which names are there, without the last?"
            texts = [value for cells in rows for value in cells if isinstance(value, str)]
            signs = {"bars": "|", "semicolons": ";"}.get(plan.answer_form, "\0")
            # Nobody can tell these from separators and lists.
            clear = {text for text in texts if plan.answer_form == "json" or not set(text) & set(signs + "[")}
            answers = draw.sample(sorted(clear), 1 if number == 2 else draw.randint(2, 3))
        if number == 4 and plan.some_none:
            question, answers = "Who is the director?", []
        if number == 5:
            question = f'Is it true that, as "{row[0]}" says,\n{question}'
        identifier = {"q1": f"q{number}", "1": str(number), "0001": f"{number:04}", "": ""}[plan.ids]
        records.append(Record(identifier, question, answers, table, plan.answers == "lists"))
    return Content(records, tables)


def values_of(kind: str, encoding: str) -> tuple[str, list[Any]]:
    """The name of a column and its values; letters that the encoding has, in place of those that it lacks."""
    is_unicode = encoding.startswith(("utf", "gb18030"))
    if kind == "letters" or (kind in ("emoji", "right to left") and not is_unicode):
        name = {"letters": "Town"}.get(kind, kind.capitalize())
        return name, list(LETTERS.get(encoding, UNICODE))
    name, values = VALUES[kind]
    return name, [v.replace("–", "-") if isinstance(v, str) and not is_unicode else v for v in values]


def sheets_of(plan: Plan, content: Content) -> dict[str, Grid]:
    """The grid of questions, and those of the tables where the layout has them apart."""
    apart = plan.layout in (SHEETS, FILES)
    names = dict(zip(("id", "question", "answers", "table"), plan.names, strict=True))
    rows: list[dict[str, Any]] = []
    for record in content.records:
        grid = content.tables[record.table]
        file = record.table if plan.layout == SHEETS else f"{record.table}.{plan.suffix}"
        row = {
            names["id"]: int(record.id) if plan.ids == "1" else record.id,
            names["question"]: record.question,
        }
        if not record.id:
            del row[names["id"]]
        table = (
            file if apart else record.table if plan.layout == CELLS else table_value(plan.table_form, grid)
        )
        answers = (record.answers or [None]) if plan.layout == LONG else [answer_value(plan, record)]
        whole = [{**row, names["answers"]: answer, names["table"]: table} for answer in answers]
        rows += [{**whole[0], **cell} for cell in cells_of(grid)] if plan.layout == CELLS else whole
    header = list(rows[0])
    questions: Grid = (header, [[row[name] for name in header] for row in rows])
    return {"questions": questions, **(content.tables if apart else {})}


def cells_of(grid: Grid) -> list[dict[str, Any]]:
    """A row for each cell of a table."""
    header, rows = grid
    return [
        {"row": number, "column": name, "cell": cell_text(cell)}
        for number, row in enumerate(rows, start=1)
        for name, cell in zip(header, row, strict=True)
    ]


def answer_value(plan: Plan, record: Record) -> Any:
    """What the column of answers holds."""
    if not record.is_list:
        return record.answers[0] if record.answers else None
    if plan.answer_form == "native":
        return record.answers
    if plan.answer_form == "json":
        return json.dumps(record.answers, ensure_ascii=False)
    return {"bars": "|", "semicolons": "; "}[plan.answer_form].join(record.answers)


def table_value(form: str, grid: Grid) -> Any:
    """A table as the value of a column."""
    header, rows = grid
    values = [[json_value(cell) for cell in row] for row in rows]
    texts = [[cell_text(cell) for cell in row] for row in rows]
    whole: dict[str, Any] = {"header": header, "rows": values}
    records = [dict(zip(header, row, strict=True)) for row in values]
    if form == "header and rows":
        return {"header": header, "rows": texts}
    if form == "columns":
        return {name: [row[at] for row in values] for at, name in enumerate(header)}
    if form == "records":
        return records
    if form in ("json", "records as json"):
        return json.dumps(whole if form == "json" else records, ensure_ascii=False)
    if form == "python":
        return repr(whole)
    if form == "csv":
        stream = io.StringIO(newline="")
        csv.writer(stream, lineterminator="\n").writerows([header, *texts])
        return stream.getvalue()
    if form == "markdown":
        lines = [[cell.replace("|", r"\|").replace("\n", "<br>") for cell in row] for row in (header, *texts)]
        lines.insert(1, ["---"] * len(header))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    assert form == "html", form
    tagged = ["".join(f"<th>{html.escape(name)}</th>" for name in header)]
    tagged += ["".join(f"<td>{html.escape(c).replace(chr(10), '<br>')}</td>" for c in row) for row in texts]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in tagged)}</table>"


def shown(value: Any) -> Any:
    """A value for a program without number formats."""
    return value.shown if isinstance(value, FormattedValue) else value


def json_value(value: Any) -> Any:
    """A value as JSON has it."""
    value = shown(value)
    return value.isoformat() if isinstance(value, datetime.date) else value


def cell_text(value: Any) -> str:
    """A value as people write it into a text."""
    return "" if value is None else str(shown(value))


def expected_of(plan: Plan, content: Content) -> list[dict[str, Any]]:
    """The values of each record; `expected_value` says how a value is written."""
    comma = plan.writer == "write.csv2"
    tables = {
        name: {"header": header, "rows": [[expected_value(cell, comma) for cell in row] for row in rows]}
        for name, (header, rows) in content.tables.items()
    }
    return [
        {
            "id": record.id,
            "question": record.question,
            "answers": [expected_value(answer, comma) for answer in record.answers if answer is not None],
            **tables[record.table],
        }
        for record in content.records
    ]


def expected_value(value: Any, with_comma: bool = False) -> Any:
    """A text exactly, null for an empty cell, else {"number"}, {"date"}, {"bool"} or {"shown"} with what is shown.

    with_comma: the program writes decimal commas.
    """
    if isinstance(value, FormattedValue):
        return {"shown": value.shown} | ({} if value.is_text else {"number": value.value})
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int | float):
        return {"number": value} | ({"shown": str(value).replace(".", ",")} if with_comma else {})
    return {"date": value.isoformat()} if isinstance(value, datetime.date) else value
