"""Draw plans of export files from the written list: `drawn(1, 75)` gives the first 75. Pure.

README.md lists the programs with their versions. `content.py` turns a plan into questions and tables, and a module in
`programs/` writes them with the program.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SEED = 38_2026_1129
"""The seed of the files that were drawn before a reader changed,"""
SECOND_SEED = 38_2026_1138
"""and of those that were drawn after the last change."""
FIRST = 75
"""Files that were drawn before a reader changed."""

ROUND = (
    *("pandas",) * 3, "polars", "pyarrow", *("python",) * 2, *("openpyxl",) * 2, "datasets", *("R",) * 3,
    *("LibreOffice",) * 2, "gnumeric", "csvkit", "sqlite3", "jq", *("Node",) * 2, "DuckDB", *("tools",) * 3,
)  # fmt: skip
"""Programs of 25 consecutive plans, in an order that is drawn."""
FORMATS = {
    "pandas": ("csv", "csv", "tsv", "xlsx openpyxl", "xlsx xlsxwriter", "jsonl", "json", "parquet", "feather", "html"),
    "polars": ("csv", "jsonl", "json", "parquet", "xlsx", "feather"),
    "pyarrow": ("csv", "parquet", "feather"),
    "python": ("csv", "tsv", "json", "jsonl"),
    "openpyxl": ("xlsx",),
    "datasets": ("jsonl", "csv", "parquet", "folder"),
    "R": ("csv write.csv", "csv write.csv2", "tsv write.table", "csv readr", "csv data.table", "json", "jsonl", "xlsx"),
    "LibreOffice": ("csv", "xlsx", "ods", "html"),
    "gnumeric": ("csv", "xlsx"),
    "csvkit": ("csv", "json", "jsonl"),
    "sqlite3": ("csv", "tsv", "json", "html"),
    "jq": ("csv", "tsv", "json", "jsonl"),
    "Node": ("json", "jsonl", "csv csv-stringify", "csv papaparse", "xlsx exceljs", "xlsx sheetjs"),
    "DuckDB": ("csv", "json", "jsonl", "parquet"),
    "tools": ("json label studio", "json argilla", "jsonl doccano", "jsonl prodigy", "jsonl potato", "csv potato"),
}  # fmt: skip
ENCODINGS = ("utf-8",) * 2 + (
    *("utf-8-sig", "utf-8-sig", "utf-16", "cp1252", "cp1252", "iso8859-15", "cp1250", "cp1251", "koi8-r"),
    *("shift_jis", "gb18030"),
)
WITH_ENCODINGS = {"pandas": ENCODINGS, "python": ENCODINGS, "R": ENCODINGS, "LibreOffice": ENCODINGS,
                  "gnumeric": ENCODINGS, "Node": ("utf-8", "utf-8-sig"), "polars": ("utf-8", "utf-8-sig")}  # fmt: skip
"""Encodings of text files; other programs write UTF-8 alone."""
SEPARATORS = {
    "pandas": ",;|", "polars": ",;|", "python": ",;|", "pyarrow": ",;", "R": ",", "LibreOffice": ",;|", "gnumeric": ",;",
    "csvkit": ",;|", "sqlite3": ",;|", "jq": ",", "Node": ",;", "DuckDB": ",;|", "datasets": ",;", "tools": ",",
}  # fmt: skip
LINE_ENDS = {"pandas": ("\n", "\r\n"), "python": ("\r\n", "\n"), "Node": ("\n", "\r\n"), "R": ("\n", "\r\n")}
COLUMN, FILES, SHEETS = "table in a column", "table files in a zip", "one sheet per table"
NESTED, WRAPPED, LONG, CELLS = (
    "nested table",
    "records in an object",
    "one row per answer",
    "one row per cell",
)
LAYOUTS = {
    "text": (*(COLUMN,) * 5, *(FILES,) * 4, LONG, CELLS),
    "workbook": (SHEETS, SHEETS, SHEETS, COLUMN, COLUMN, FILES),
    "json": (NESTED, NESTED, COLUMN, WRAPPED, WRAPPED, FILES),
    "jsonl": (NESTED, NESTED, COLUMN),
    "columnar": (NESTED, COLUMN),
    "html": (COLUMN,),
}
TABLE_FORMS = {
    COLUMN: ("json", "json", "records as json", "csv", "csv", "markdown", "html", "python"),
    NESTED: ("header and rows", "records", "columns"),
}
TABLE_FORMS |= {WRAPPED: TABLE_FORMS[NESTED], LONG: ("json", "csv"), CELLS: ("",)}
ANSWER_FORMS = ("json", "bars", "semicolons")
NATIVE_LISTS = ("pandas", "python", "DuckDB")
"""Programs that write a list into a text file in their own way."""
ANSWERS = (
    "texts",
    "texts",
    "integers",
    "decimals",
    "dates",
    "booleans",
    "currency",
    "lists",
    "lists",
    "lists",
)
KINDS = (
    "line breaks", "quotes", "separators", "leading zeros", "integers", "decimals", "dates", "currency", "percent",
    "padded numbers", "years of dates", "booleans", "letters", "emoji", "right to left", "empty cells",
    "texts like missing values", "texts like lists", "texts like numbers", "texts like HTML",
)  # fmt: skip
NAMES = (
    *(("id", "question", "answers", "table"),) * 3,
    ("ID", "Question", "Answer", "Table"),
    ("qid", "query", "gold_answer", "table_file"),
    ("nr", "Frage", "Antwort", "Tabelle"),
    ("item", "asked", "label", "source_table"),
)
IDS = ("q1", "q1", "1", "0001", "")
EXTRAS = {
    ("pandas", "text"): ("", "row numbers", "numpy lists"),
    ("pandas", "workbook"): ("", "row numbers"),
    ("pandas", "html"): ("", "row numbers"),
    ("pandas", "columnar"): ("", "float32"),
    ("pandas", "jsonl"): ("", "gzip"),
    ("python", "text"): ("", "comment line", "quote all"),
    ("python", "jsonl"): ("", "gzip"),
    ("jq", "jsonl"): ("", "gzip"),
    ("R", "text"): ("", "row numbers"),
    ("R", "workbook"): ("", "row numbers"),
    ("openpyxl", "workbook"): ("", "title row", "hidden sheet", "notes sheet", "merged title"),
    ("pyarrow", "columnar"): ("", "float32"),
    ("DuckDB", "columnar"): ("", "float32"),
}
"""What a program adds by default or on request; float32 and numpy lists come with answers that are such."""


@dataclass(frozen=True)
class Plan:
    """What one file is like. `format` is the suffix and the writer of a program that has several."""

    number: int
    program: str
    format: str
    encoding: str
    separator: str
    line_end: str
    layout: str
    table_form: str
    answers: str
    answer_form: str
    some_none: bool
    kinds: tuple[str, ...]
    names: tuple[str, ...]
    ids: str
    extra: str
    seed: int

    @property
    def suffix(self) -> str:
        return self.format.split()[0]

    @property
    def writer(self) -> str:
        return self.format.partition(" ")[2]

    @property
    def family(self) -> str:
        return family(self.suffix)


def family(suffix: str) -> str:
    """The kind of a format: it decides about layouts and about native lists."""
    families = {"csv": "text", "tsv": "text", "xlsx": "workbook", "ods": "workbook", "parquet": "columnar",
                "feather": "columnar", "folder": "columnar"}  # fmt: skip
    return families.get(suffix, suffix)


def plans(seed: int, first: int, last: int) -> list[Plan]:
    """The plans of these numbers, which do not depend on how many are drawn at once."""
    return [_plan(random.Random(f"{seed}:{number}"), seed, number) for number in range(first, last + 1)]


def drawn(first: int, last: int) -> list[Plan]:
    """The plans of these numbers, the second half with a seed of its own."""
    return [
        plan
        for number in range(first, last + 1)
        for plan in plans(SEED if number <= FIRST else SECOND_SEED, number, number)
    ]


def _plan(draw: random.Random, seed: int, number: int) -> Plan:
    turn, place = divmod(number - 1, len(ROUND))
    order = list(ROUND)
    random.Random(f"{seed}:round {turn}").shuffle(order)
    program = order[place]
    formats = list(FORMATS[program])
    cycle, at = divmod(turn * ROUND.count(program) + order[:place].count(program), len(formats))
    random.Random(f"{seed}:formats {program} {cycle}").shuffle(formats)
    format_ = formats[at]  # each of them once before any a second time
    kind = family(format_.split()[0])
    is_text = kind == "text"
    layout = COLUMN if program == "tools" else draw.choice(LAYOUTS[kind])
    if program == "LibreOffice" and (layout, kind) == (FILES, "workbook"):
        layout = SHEETS  # three of its workbooks are too large for a test
    if program in ("sqlite3", "csvkit") and layout in (NESTED, WRAPPED):
        layout = COLUMN  # columns of a database or of CSV hold no tables, and their JSON is an array
    extra = draw.choice(EXTRAS.get((program, kind), ("",)))
    answers = "lists" if layout == LONG else draw.choice(ANSWERS)
    answers = {"float32": "decimals", "numpy lists": "lists"}.get(extra, answers)
    names = NAMES[0] if program == "tools" else draw.choice(NAMES)
    is_native = kind in ("json", "jsonl", "columnar") and program not in ("sqlite3", "csvkit", "tools")
    forms = (
        ("native",)
        if is_native or extra == "numpy lists"
        else (*ANSWER_FORMS, *(("native",) * 2 if program in NATIVE_LISTS and is_text else ()))
    )
    has_encodings = not format_.endswith(("readr", "data.table"))
    encodings = WITH_ENCODINGS.get(program, ("utf-8",)) if has_encodings else ("utf-8",)
    lacking = ("booleans",) if program == "sqlite3" else ()
    awkward = [kind for kind in KINDS if kind not in lacking]
    return Plan(
        number=number,
        program=program,
        format=format_,
        encoding=draw.choice(encodings) if is_text else "utf-8",
        separator={"tsv": "\t"}.get(format_.split()[0], draw.choice(SEPARATORS.get(program, ","))),
        line_end=draw.choice(LINE_ENDS.get(program, ("\n",))),
        layout=layout,
        table_form=draw.choice(TABLE_FORMS.get(layout, ("",))),
        answers="integers" if answers in lacking else answers,
        answer_form=draw.choice(forms),
        some_none=draw.random() < 0.25,
        kinds=tuple(draw.sample(awkward, 3)),
        names=names,
        ids="q1" if layout == LONG else draw.choice(IDS),
        extra=extra,
        seed=seed,
    )
