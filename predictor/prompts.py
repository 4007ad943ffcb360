"""What a language model is asked about a table, as a conversation. (FREB-TQA A.7: three demonstrations,
columns parted by `|`, the answer as a list)
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tableqa import Context, Example, Table, Turn
from tableqa.data.answer_scales import FACTORS, scale_of, with_scale
from tableqa.serialisations import SERIALISATIONS

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"answers": {"type": "array", "items": {"type": "string"}}},
    "required": ["answers"],
    "additionalProperties": False,
}
MOST_CHARACTERS = 24_000
"""Of a table in a prompt. Further text is not sent, and `rows_seen` has the number of rows."""
TASK = (
    "You answer questions about a table. Use nothing but the table. Reply with JSON of the form "
    '{"answers": ["..."]}: every answer once, in the words of the table where they stand in it, numbers as plain '
    "numbers. Where the table does not say, reply with an empty list."
)

_HARBOURS = Table(
    header=["Harbour", "Country", "Ferries a day"],
    rows=[["Lunden", "Norway", "4"], ["Marsk", "Denmark", "9"], ["Tove", "Norway", "2"]],
)
SHOTS: tuple[tuple[Table, str, list[str]], ...] = (
    (_HARBOURS, "which harbour has the most ferries?", ["Marsk"]),
    (_HARBOURS, "how many ferries leave norway in a day?", ["6"]),
    (
        Table(header=["Year", "Winner"], rows=[["1988", "Ines Roth"], ["1989", "Ada Bell"]]),
        "who won in 1988 and 1989?",
        ["Ines Roth", "Ada Bell"],
    ),
)
"""Demonstrations, written for this purpose: no dataset's test question is among them."""


def in_lines(table: Table, most: int = MOST_CHARACTERS) -> tuple[str, int]:
    """A table with one row a line and `|` between columns, and how many of its rows are in the text."""
    lines = [_line(table.header)]
    size, seen = len(lines[0]), 0
    for row in table.rows:
        line = _line(row)
        size += len(line) + 1
        if size > most:
            break
        lines.append(line)
        seen += 1
    return "\n".join(lines), seen


def table_text(table: Table, serialisation: str = "", most: int = MOST_CHARACTERS) -> tuple[str, int]:
    """A table in one of the forms of `tableqa.serialisations`, "" for `in_lines`, and how many rows are in the text.

    Where the whole is too long it is the table of the first rows, as many as fit. Raises KeyError for an unknown form.
    """
    if not serialisation:
        return in_lines(table, most)
    form = SERIALISATIONS[serialisation]

    def text_of(rows: int) -> str:
        return form.dumps(Table(table.header, table.rows[:rows], table.title, table.caption))

    whole = text_of(len(table.rows))
    if len(whole) <= most:
        return whole, len(table.rows)
    fits, too_many = 0, len(table.rows)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if len(text_of(middle)) <= most else (fits, middle)
    return text_of(fits), fits


def asking_for_answers(example: Example, serialisation: str = "") -> tuple[list[dict[str, str]], int]:
    """The conversation that asks an example's question, and how many rows of its table the model sees.

    It states the scale of the answers where the verdict uses one (`tableqa.data.answer_scales.scale_of`).
    """
    context = with_scale(example.context, scale_of(example))
    return prompt_for_question(example.question, example.table, example.history, context, serialisation)


def prompt_for_question(
    question: str,
    table: Table,
    history: Sequence[Turn] = (),
    context: Context | None = None,
    serialisation: str = "",
) -> tuple[list[dict[str, str]], int]:
    """The same for a question that is no example. Raises KeyError for an unknown serialisation."""
    text, seen = table_text(table, serialisation)
    messages = [{"role": "system", "content": TASK}]
    for shot_table, shot_question, answers in SHOTS:
        messages.append(
            {
                "role": "user",
                "content": _question_part(table_text(shot_table, serialisation)[0], shot_question),
            }
        )
        messages.append({"role": "assistant", "content": json.dumps({"answers": answers})})
    before = []
    if titles := " / ".join(filter(None, (table.title, table.caption))):
        before.append(titles)
    if context is not None:
        before += [context.text[:MOST_CHARACTERS]] if context.text else []
        before += [f"Unit: {context.unit}"] if context.unit else []
        before += [_scale(context.scale)] if context.scale else []
    before += [f"Asked before: {turn.question} ({' | '.join(turn.answers)})" for turn in history]
    messages.append({"role": "user", "content": "\n".join((*before, _question_part(text, question)))})
    return messages, seen


def _scale(scale: str) -> str:
    """One line on the scale of the answers. Verdicts accept the number with or without its scale."""
    if scale.strip().lower() not in FACTORS:
        return f"Scale: {scale}"
    sign = " (do not write the sign)" if scale.strip().lower() == "percent" else ""
    return f"Scale: {scale}. Write numbers in this scale, as the table does{sign}."


def _line(cells: Sequence[str]) -> str:
    return " | ".join(" ".join(cell.split()) for cell in cells)


def _question_part(table: str, question: str) -> str:
    return f"{table}\n\nQuestion: {question}"
