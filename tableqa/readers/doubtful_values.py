"""What is doubtful in an example: its texts, its answers, and the header of its table."""

import re
from collections.abc import Iterable
from itertools import chain

from tableqa.data.answers import LONG_ANSWER, alternatives_of, in_words
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.record_forms import looks_like_list
from tableqa.readers.report import Notes, current_notes

_BETWEEN = "\0"
"""Between texts that are searched together: no text holds it."""
_PLACEHOLDER = re.compile(
    r"\0[ \t]*(nan|NaN|NAN|null|Null|NULL|None|NA|<NA>|NaT|\\N"
    r"|#(?:REF!|N/A|VALUE!|DIV/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!)"
    r"|=[A-Za-z$(+-][^\0]*+)[ \t]*+(?=\0)"
)
_DIVISIBLE = re.compile(r"\w\W+\w")
"""Two words: a sign may separate columns there."""
_ESCAPE = re.compile(r"\\[nt\"]")
_ROUNDED = re.compile(r"\0(-?[0-9]\.[0-9]+E\+[0-9]+)(?=\0)")
_NUMBER, _YEAR = re.compile(r"\s*[-+\u2212]?\d[\d.,]*\s?%?\s*"), re.compile(r"[12]\d{3}")


def note_doubts(example: Example, has_new_table: bool) -> None:
    """Note what is doubtful in an example that was just read, and in its table where that is a new one."""
    if (notes := current_notes()) is None:
        return
    own = (value for value in example.meta.values() if isinstance(value, str))
    _examine_texts(notes, "line_breaks", [example.question, *example.answers, *own])
    if alternatives_of(example.answers):
        notes.add("alternatives", in_words(example.answers))
    for answer in example.answers:
        if looks_like_list(answer) or (answer.startswith("{") and answer.endswith("}")):
            notes.add("texts_like_lists", answer)
        elif (";" in answer or "|" in answer) and len(answer.split()) < LONG_ANSWER:
            notes.add("separators", answer)
    if has_new_table:
        table = example.table
        _examine_texts(notes, "cell_line_breaks", chain(table.header, *table.rows))
        if len(table.header) == 1 and any(map(_DIVISIBLE.search, chain(table.header, *table.rows))):
            notes.add("one_column", table.header[0])
        if is_header_doubtful(table):
            notes.add("headers", ", ".join(table.header))
    notes.at(notes.line, notes.record)


def _examine_texts(notes: Notes, line_breaks: str, texts: Iterable[str]) -> None:
    joined = f"{_BETWEEN}{_BETWEEN.join(texts)}{_BETWEEN}"
    if "\n" in joined or "\r" in joined:
        for text in joined.split(_BETWEEN):
            if "\n" in text or "\r" in text:
                notes.add(line_breaks, text)
    for text in filter(_ESCAPE.search, joined.split(_BETWEEN) if "\\" in joined else ()):
        notes.add("escapes", text)
    for match in _ROUNDED.finditer(joined) if "E+" in joined else ():
        notes.add("rounded", match[1])
    for match in _PLACEHOLDER.finditer(joined):
        notes.add("formulas" if match[1].startswith("=") else "placeholders", match[1])


def is_header_doubtful(table: Table) -> bool:
    """Whether a header has an empty name behind the first one, only numbers, or a number above numbers that is no year."""
    header, spans = table.header, [span for span in table.spans if span.row == table.header_id]
    if "" in map(str.strip, header[1:]) and all(span.columns == len(header) for span in spans):
        return True
    numeric = [bool(_NUMBER.fullmatch(name)) for name in header]
    return all(numeric) or any(
        is_number and not _YEAR.fullmatch(name) and all(_NUMBER.fullmatch(row[at]) for row in table.rows)
        for at, (name, is_number) in enumerate(zip(header, numeric, strict=True))
    )
