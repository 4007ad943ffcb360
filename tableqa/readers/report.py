"""The report of an import: how many records its files have, what was read as what, and everything doubtful.

Readers tell what they notice (`note`) and where a record is (`in_record`); `collect_notes` collects both.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Any, get_origin

from tableqa.core.foreign_values import printable
from tableqa.core.translation import gettext_noop, grouped, joined, pack, phrase, unpack, word
from tableqa.data.typed_json import from_json, to_json

LONGEST_TEXT = 60
"""Characters of an example of a finding."""
LINE_BREAK = "↵"
"""How an example shows a line break."""
KINDS: Mapping[str, str] = {
    "lists": gettext_noop("Answers read as lists"),
    "texts_like_lists": gettext_noop("Answers that look like lists, read as text"),
    "no_lists": gettext_noop("Answers that look like lists and are none, in a column of lists"),
    "split": gettext_noop("Answers with a separator, read as several without the spaces around it"),
    "separators": gettext_noop("Answers with “;” or “|”, read as one answer"),
    "several": gettext_noop("Several answers, all of them needed"),
    "alternatives": gettext_noop("Several accepted answers, each right by itself"),
    "line_breaks": gettext_noop("Fields with line breaks"),
    "cell_line_breaks": gettext_noop("Cells of tables with line breaks"),
    "placeholders": gettext_noop("Texts that programs write for missing values and errors, read as text"),
    "rounded": gettext_noop("Numbers such as 1.23E+14, which a program may have rounded"),
    "not_shown": gettext_noop("Numbers and texts that their format does not show, read as empty"),
    "currency": gettext_noop("Amounts in the currency that a computer is set to, read with $"),
    "formulas": gettext_noop("Formulas, read as text"),
    "parted": gettext_noop(
        "Tables that several separators divide evenly, read by the first of tab, comma, semicolon and bar"
    ),
    "one_column": gettext_noop("Tables with one column"),
    "headers": gettext_noop("Tables with empty names or numbers in their header"),
    "unnamed": gettext_noop("Columns of questions without a name, kept with the examples"),
    "row_names": gettext_noop("Tables whose rows begin with names for which the header has none, as in R"),
    "titles": gettext_noop("Rows above a header, left out or read as the caption"),
    "hidden_rows": gettext_noop("Hidden rows, read like others"),
    "hidden_columns": gettext_noop("Hidden columns, read like others"),
    "hidden_sheets": gettext_noop("Hidden sheets, read only where a question names them"),
    "superscripts": gettext_noop("Superscripts, written as in 3² or 3^a"),
    "struck": gettext_noop("Struck-out texts, left out"),
    "hidden_texts": gettext_noop("Hidden texts of HTML, left out"),
    "links": gettext_noop("Cells with links, read without them"),
    "members": gettext_noop("Titles and other members of tables that have no place in an example, left out"),
    "quotes": gettext_noop("Quotes that would join rows, read as text"),
    "error_sheets": gettext_noop("Sheets that cannot be read, not searched for questions"),
    "dates": gettext_noop(
        "Dates of Excel, read as 2024-05-01, or as 2024-05 and 2024 where cells show no more"
    ),
    "truths": gettext_noop("True and false, read as these words"),
    "missing": gettext_noop("Null and missing cells and answers, read as empty"),
    "further_rows": gettext_noop("Further rows of a question with other columns that differ, left out"),
    "blank": gettext_noop("Blank answers, read as none"),
    "spaces": gettext_noop("Spaces around ids, paths and names of columns, left out"),
    "escapes": gettext_noop('Texts with \\n, \\t or \\", read as they are written'),
    "shared": gettext_noop("Responses under a name that several people may share"),
}
"""Everything that a report counts, as it is shown."""
REMEDIES: Mapping[str, str] = {
    "several": gettext_noop(
        "If each of them alone is right, choose their column as that of the alternative answers."
    ),
    "split": gettext_noop("If the sign is part of an answer, choose another separator."),
    "escapes": gettext_noop(
        "In files with separators and pages, the option “Quotes” can read them as line breaks, tabs and quotes."
    ),
    "separators": gettext_noop("If the sign separates several answers, choose it as their separator."),
    "parted": gettext_noop("If it is another one, write these tables as JSON or with quotes."),
    "one_column": gettext_noop(
        "If a sign separates columns in them, write these tables as JSON or with commas."
    ),
    "headers": gettext_noop("The first row is the header, unless you choose another one."),
    "quotes": gettext_noop("If one field spans the lines, put every field in quotes."),
    "shared": gettext_noop("Agreement with such a name is not agreement of people."),
}
_NO_REPORT = "it is no report of an import"
_SENTENCES = ("read_as", "left_out")
BY_TEXT = ("placeholders", "shared")
"""Kinds whose texts are counted one by one."""
OF_FILES = (
    *BY_TEXT,
    "unnamed",
    "titles",
    "hidden_rows",
    "hidden_columns",
    "hidden_sheets",
    "error_sheets",
    "dates",
    "quotes",
)
"""Kinds whose texts are no texts of records."""


@dataclass
class Finding:
    """How often something doubtful was read, and the first of it: its line, the id of its record, and its text.

    line 0 and record "" are not known.
    """

    kind: str
    number: int = 0
    line: int = 0
    record: str = ""
    text: str = ""

    @property
    def what(self) -> str:
        """What it is, as a message."""
        return word(KINDS[self.kind]) if self.kind in KINDS else self.kind

    @property
    def remedy(self) -> str:
        """What to do about it, as a message; "" where nothing can be done."""
        return word(REMEDIES[self.kind]) if self.kind in REMEDIES else ""

    def sentence(self) -> str:
        """The whole finding, as a message."""
        where = [
            phrase("line {line}", line=self.line) if self.line else "",
            phrase("record {id}", id=self.record) if self.record else "",
            self.text,
        ]
        values = {"what": self.what, "number": grouped(self.number), "first": joined(where, by=", ")}
        return joined([phrase("{what}: {number} (the first: {first}).", **values), self.remedy])


@dataclass
class Report:
    """What was read.

    records     number of records, with and without a problem; at least as many where `is_counted` is False
    examined    the first of them, which the findings are about
    rejected    records with a problem among these
    columns     {part of an example: column}, where readers found them by name
    """

    records: int = 0
    examined: int = 0
    rejected: int = 0
    is_counted: bool = True
    read_as: str = ""
    left_out: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Finding] = ()

    def sentences(self) -> list[str]:
        """The findings as messages."""
        return [finding.sentence() for finding in self.findings]

    def to_dict(self) -> dict[str, Any]:
        """What a database stores, and `of` reads."""
        return {**to_json(self), **{name: pack(getattr(self, name)) for name in _SENTENCES}}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Report":
        """The report that was stored, also in a release of any person; ValueError where it is none."""
        try:
            texts = {name: unpack(stored[name]) for name in _SENTENCES}
            report = from_json(cls, {**stored, **texts})
        except (AttributeError, LookupError, TypeError) as error:
            raise ValueError(_NO_REPORT) from error
        if _is_typed(report) and all(map(_is_typed, report.findings)):
            return report
        raise ValueError(_NO_REPORT)


def _is_typed(part: Report | Finding) -> bool:
    """Whether every field has its type."""
    types: dict[str, Any] = {each.name: each.type for each in fields(part)}
    return all(isinstance(getattr(part, name), get_origin(kind) or kind) for name, kind in types.items())


def about_columns(columns: Mapping[str, str]) -> str:
    """Which column is which part, as a message; "" where none is known."""
    named = ", ".join(f"{part} = {name}" for part, name in columns.items())
    return phrase("Columns: {columns}.", columns=named) if named else ""


def in_english(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A stored report for programs: its sentences are English texts."""
    return {**stored, **{name: str(unpack(stored[name])) for name in _SENTENCES}}


def for_release(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The same without ids and texts of records: a release may leave these records out."""
    findings = [
        {**each, "record": "", "text": each["text"] if each["kind"] in OF_FILES else ""}
        for each in stored["findings"]
    ]
    return {**in_english(stored), "findings": findings}


class Notes:
    """What is collected while files are read."""

    def __init__(self) -> None:
        self.line, self.record = 0, ""
        self.columns: dict[str, str] = {}
        self._findings: dict[tuple[str, str], Finding] = {}
        self._without_line: list[Finding] = []
        self._places: set[tuple[str, int, str]] = set()

    def add(self, kind: str, text: str = "", count: int = 1, line: int = 0) -> None:
        """Count something doubtful: at a line of a file, which may be read again, or in the next record."""
        if line:
            if (kind, line, text) in self._places:
                return
            self._places.add((kind, line, text))
        key = (kind, text if kind in BY_TEXT else "")
        if key not in self._findings:
            display_text = text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
            display_text = display_text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", LINE_BREAK)
            self._findings[key] = Finding(kind, line=line, text=printable(display_text))
            if not line:
                self._without_line.append(self._findings[key])
        self._findings[key].number += count

    def at(self, line: int, record: str) -> None:
        """Say where the record is of which things were counted."""
        self.line, self.record = line, record
        for finding in self._without_line:
            finding.line, finding.record = line, printable(record)
        self._without_line.clear()

    def report(self, examples: int, rejected: int = 0, is_whole: bool = True) -> Report:
        """The report of this many examples and rejected records. is_whole: no record follows."""
        kinds = list(KINDS)
        findings = sorted(self._findings.values(), key=lambda each: (kinds.index(each.kind), each.text))
        total = examples + rejected
        return Report(total, total, rejected, is_whole, columns=self.columns, findings=tuple(findings))


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def collect_notes() -> Iterator[Notes]:
    """Collect what readers note within the block."""
    token = _NOTES.set(notes := Notes())
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def note(kind: str, text: str = "", count: int = 1, line: int = 0) -> None:
    """Count something doubtful for `collect_notes`; see `Notes.add`."""
    if (notes := _NOTES.get()) is not None:
        notes.add(kind, text, count, line)


def stripped(text: str, line: int = 0) -> str:
    """A text without outer spaces, which are counted."""
    if text != (inner := text.strip()):
        note("spaces", text, line=line)
    return inner


def current_notes() -> Notes | None:
    """What `collect_notes` collects; None outside of it."""
    return _NOTES.get()


def in_record(line: int, record: str, columns: Mapping[str, str] | None = None) -> None:
    """Say for `collect_notes` which record was made, and of which columns."""
    if (notes := _NOTES.get()) is not None:
        notes.at(line, record)
        if columns:
            notes.columns = {**columns, **notes.columns}
