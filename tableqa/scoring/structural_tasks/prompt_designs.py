"""How a table is put to a model in SUC (Sui et al. 2024, sections 3 and 4): switches, and a prompt made of named parts.

Each design differs from BASELINE in one switch, so that what a switch does can be measured by itself. The papers'
deltas rest on several baselines; ours is one: the table in HTML, then the request, and nothing else. The wording is ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tableqa.data.tables import Table
from tableqa.serialisations import SERIALISATIONS, Serialisation


@dataclass(frozen=True)
class Design:
    """The switches of a prompt.

    serialisation        how the table is written; a name of SERIALISATIONS
    partition_marks      marks are before the table, the text beside it and the request
    format_explanation   a sentence says how the table is written
    role_prompt          a sentence says what the model is
    question_first       the request is before the table instead of after it
    one_shot             one solved item is before the item
    table_size           a sentence says how many rows and columns there are
    """

    serialisation: str = "html"
    partition_marks: bool = False
    format_explanation: bool = False
    role_prompt: bool = False
    question_first: bool = False
    one_shot: bool = False
    table_size: bool = False


BASELINE = Design()
SWITCHES: tuple[str, ...] = (
    "partition_marks",
    "format_explanation",
    "role_prompt",
    "question_first",
    "one_shot",
    "table_size",
)


def designs(baseline: Design = BASELINE) -> dict[str, Design]:
    """The baseline, and for each switch the baseline with that one turned over, by name."""
    turned = {name: Design(**{**vars(baseline), name: not getattr(baseline, name)}) for name in SWITCHES}
    return {"baseline": baseline, **turned}


@dataclass(frozen=True)
class Part:
    """A named piece of a prompt: role, format, example, size, title, caption, table, text, request, answer."""

    name: str
    text: str


@dataclass(frozen=True)
class Prompt:
    """A prompt as its parts, in their order; `text` joins them, `messages` is what a chat model is sent."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts)

    def messages(self) -> list[dict[str, str]]:
        """The role as the system's message, the rest as the user's: [{"role", "content"}]."""
        role = [{"role": "system", "content": part.text} for part in self.parts if part.name == "role"]
        rest = "\n".join(part.text for part in self.parts if part.name != "role")
        return [*role, {"role": "user", "content": rest}]


@dataclass(frozen=True)
class SolvedExample:
    """A solved item for the switch one_shot: a table, a request about it, and its answer."""

    table: Table
    request: str
    answer: str


ROLE = "You are an expert in reading tables. You find cells, rows and columns and never guess."

_INTRODUCED = {
    "html": "The table is written in HTML: <tr> is a row, <th> a cell of the header, <td> any other cell; colspan and "
    "rowspan say over how many columns and rows a cell reaches.",
    "xml": "The table is written in XML: <header> holds the names of the columns, each <row> a row, and <cell> one "
    "cell; its attributes rows and columns say how far a merged cell reaches.",
    "json": "The table is written in JSON: header is the list of the columns' names, rows the list of the rows, each a list "
    "of its cells; spans, if there are any, are merged cells.",
    "csv": "The table is written as CSV: one row a line, the names of the columns first, commas between cells.",
    "concatenation": "The table is written row by row, one a line, the names of the columns first; blanks stand between "
    "cells, and a cell that has blanks itself stands in quotation marks.",
    "markdown": "The table is written in Markdown: pipes part the cells, the first line has the names of the columns, "
    "and a line of hyphens stands below it.",
    "nl_sep": "The table is written as lines: one row a line, the names of the columns first, a pipe (|) between cells.",
    "pipe_lines": "The table is written as lines: one row a line, the names of the columns first, a pipe (|) between cells.",
    "indexed_row_major": "The table is written in one line: “col :” comes before the names of the columns, “row 1 :” before "
    "the cells of the first row and so on; pipes (|) part the cells.",
    "dataframe": "The table is written as a data frame of Python's pandas: the list of the rows, then the columns' names.",
    "html_suc": "The table is written in HTML: <tr> is a row; its first <th> is the number of the row, <td> are the cells.",
    "xml_suc": "The table is written in XML: each <item> is a row, and each <field> a cell with the name of its column.",
    "json_suc": "The table is written as a dictionary: under table, header has the columns' names and rows the rows.",
    "json_torr": "The table is written in JSON: each row is an object under its number, with a value for each column.",
    "dataframe_torr": "The table is written as a data frame of Python's pandas: for each column the list of its cells.",
}
_LIKE = {
    "html_torr": "html",
    "markdown_torr": "markdown",
    "indexed_row_major_torr": "indexed_row_major",
    "indexed_row_major_tapex": "indexed_row_major",
    "nl_sep_suc": "nl_sep",
    "pipe_lines_freb": "pipe_lines",
}
_CONCATENATED = (
    "The table is written as its cells one after the other, row by row, the names of the columns first."
)
FORMATS: Mapping[str, str] = {
    **_INTRODUCED,
    **{name: _INTRODUCED[like] for name, like in _LIKE.items()},
    "concatenation_torr": _CONCATENATED,
}
"""For each serialisation the sentence of the switch format_explanation."""

MARKS: Mapping[str, str] = {
    "example": "[EXAMPLE]",
    "title": "[TITLE]",
    "caption": "[CAPTION]",
    "table": "[TABLE]",
    "text": "[TEXT]",
    "request": "[REQUEST]",
    "answer": "[ANSWER]",
}
"""What the switch partition_marks puts before a part of that name."""


def build(
    table: Table,
    request: str,
    design: Design = BASELINE,
    solved: SolvedExample | None = None,
    text: str = "",
    knowledge: str = "",
) -> Prompt:
    """The prompt that asks `request` about `table` in this design.

    solved      the solved item that the switch one_shot shows, in the same design; ValueError if it is on and there is none
    text        what is beside the table in its source
    knowledge   what the model said of the table before (`tableqa.scoring.structural_tasks.self_augmentation`)
    """
    form = SERIALISATIONS[design.serialisation]
    parts = [Part("role", ROLE)] if design.role_prompt else []
    if design.format_explanation:
        parts.append(Part("format", FORMATS[design.serialisation]))
    if design.one_shot:
        if solved is None:
            raise ValueError("the design has one_shot on, and there is no solved item to show")
        solved_parts = _item(solved.table, solved.request, design, form, "", "")
        inner = "\n".join(part.text for part in (*solved_parts, _part("answer", solved.answer, design)))
        parts.append(_part("example", inner, design))
    parts += _item(table, request, design, form, text, knowledge)
    return Prompt((*parts, Part("answer", MARKS["answer"] if design.partition_marks else "Answer:")))


def _item(
    table: Table, request: str, design: Design, form: Serialisation, text: str, knowledge: str
) -> list[Part]:
    size = f"The table has {table.shape[0]} rows, the header not counted, and {table.shape[1]} columns."
    about = [
        *([Part("size", size)] if design.table_size else []),
        *([_part("title", table.title, design)] if table.title and "title" not in form.keeps else []),
        *([_part("caption", table.caption, design)] if table.caption and "caption" not in form.keeps else []),
        _part("table", form.dumps(table).removesuffix("\n"), design),
        *([_part("text", text, design)] if text else []),
        *([Part("knowledge", knowledge)] if knowledge else []),
    ]
    request_part = _part("request", request, design)
    return [request_part, *about] if design.question_first else [*about, request_part]


def _part(name: str, text: str, design: Design) -> Part:
    if design.partition_marks:
        return Part(name, f"{MARKS[name]}\n{text}")
    if name == "answer":
        return Part(name, f"Answer: {text}")
    return Part(name, text)
