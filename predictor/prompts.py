"""What a language model is asked about a table, and how its reply is read. (FREB-TQA A.7: three demonstrations,
columns parted by `|`, the answer as a list)
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tableqa import Example, Table

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"answers": {"type": "array", "items": {"type": "string"}}},
    "required": ["answers"],
    "additionalProperties": False,
}
MOST_CHARACTERS = 24_000
"""Of a table in a prompt. What is beyond is not sent, and `rows_seen` says so."""

TASK = (
    "You answer questions about a table. Use nothing but the table. Reply with JSON of the form "
    '{"answers": ["..."]}: every answer once, in the words of the table where they stand in it, numbers as plain '
    "numbers. Where the table does not say, reply with an empty list."
)

SHOTS: tuple[tuple[Table, str, list[str]], ...] = (
    (
        Table(
            header=["Harbour", "Country", "Ferries a day"],
            rows=[["Lunden", "Norway", "4"], ["Marsk", "Denmark", "9"], ["Tove", "Norway", "2"]],
        ),
        "which harbour has the most ferries?",
        ["Marsk"],
    ),
    (
        Table(
            header=["Harbour", "Country", "Ferries a day"],
            rows=[["Lunden", "Norway", "4"], ["Marsk", "Denmark", "9"], ["Tove", "Norway", "2"]],
        ),
        "how many ferries leave norway in a day?",
        ["6"],
    ),
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


def asking_for_answers(example: Example) -> tuple[list[dict[str, str]], int]:
    """The conversation that asks an example's question, and how many rows of its table the model sees."""
    text, seen = in_lines(example.table)
    messages = [{"role": "system", "content": TASK}]
    for table, question, answers in SHOTS:
        messages.append({"role": "user", "content": _asked(in_lines(table)[0], question)})
        messages.append({"role": "assistant", "content": json.dumps({"answers": answers})})
    titles = " / ".join(filter(None, (example.table.title, example.table.caption)))
    before = "".join(
        f"Asked before: {turn.question} ({' | '.join(turn.answers)})\n" for turn in example.history
    )
    asked = _asked(text, example.question)
    messages.append({"role": "user", "content": f"{titles}\n{before}{asked}" if titles or before else asked})
    return messages, seen


def read_answers(reply: str) -> list[str] | None:
    """The answers in a reply, or None where it holds no list: a model may talk around the JSON it was asked for."""
    for found in (reply, *re.findall(r"\{[^{}]*\}|\[[^\[\]]*\]", reply)[:20]):
        try:
            said = json.loads(found)
        except ValueError:
            continue
        said = said.get("answers") if isinstance(said, dict) else said
        if isinstance(said, list) and all(isinstance(one, str | int | float) for one in said):
            return [str(one) for one in said]
    return None


def _line(cells: Sequence[str]) -> str:
    return " | ".join(" ".join(cell.split()) for cell in cells)


def _asked(table: str, question: str) -> str:
    return f"{table}\n\nQuestion: {question}"
