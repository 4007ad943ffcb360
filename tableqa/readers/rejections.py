"""Records that were rejected: what a person reads about them, and the file of them to correct and import again."""

import csv
import itertools
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tableqa.core.foreign_values import printable, printable_in
from tableqa.core.translation import joined, phrase, with_texts
from tableqa.readers.interface import ReaderError, Rejection
from tableqa.readers.json_values import Number, decoded_line, source_json
from tableqa.readers.records import ADDED

MOST_DESCRIBED = 100
"""Problems of one import that are listed; the file of rejected records has all."""
FORMS: Mapping[str, str] = {
    "jsonl": ".jsonl",
    "csv": ".csv",
    "tsv": ".tsv",
    "tabs": ".tsv",
    "members": ".json",
}
"""The suffixes of the forms of a file of rejected records: JSON Lines, CSV for Excel, tab-separated with and without
quotes, and one JSON object whose members are lists with the reason at their end."""


_ESCAPED = "backslashreplace"
"""How files of rejected records write a lone surrogate: as JSON does."""
_FIRST_LINE = 1024 * 1024
_ENDS_HEADER = re.compile("".join(rf'[,;\t|]"?{name}"?' for name in ADDED) + r"\s*\Z")


def is_rest(path: Path) -> bool:
    """Whether a text file is one of rejected records, by the reasons that its first line names or holds; OSError."""
    with path.open("rb") as file:
        line = file.readline(_FIRST_LINE).decode("utf-8", errors="replace")
    return bool(_ENDS_HEADER.search(line)) or _has_reasons(line)


def _has_reasons(line: str) -> bool:
    """Whether a line of JSON has the reasons of a rejected record, in their order."""
    offset = 0 if line.lstrip().startswith(("[", "{")) else -1
    for name in ADDED:
        offset = -1 if offset < 0 else line.find(f'"{name}":', offset)
    return offset >= 0


class _QuotedTabs(csv.excel_tab):
    lineterminator = "\n"


class _Tabs(_QuotedTabs):
    quoting = csv.QUOTE_NONE
    quotechar = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of a file: where it is, what is wrong and how to fix it. `column` is "" where it is not in one.

    fix     "" where `what` is whole sentences that say so
    record  the id of the record, "" where it has none of its own
    ways    options by which the file can be read, with their values
    """

    file: str
    line: int | None
    column: str
    what: str
    fix: str
    record: str = ""
    ways: Mapping[str, Sequence[str]] = field(default_factory=dict)


def describe(
    error: ReaderError, hide_folders: Callable[[str], str] = str, by_command: bool = False
) -> Problem:
    """A fault for people; `hide_folders` gives a text without folders that they do not know.

    by_command: the fix is for the command line, and may name its options.
    """
    fix = error.command if by_command else error.mend
    what = printable(with_texts(error.what, hide_folders))
    return Problem(
        printable(hide_folders(error.file)),
        error.line,
        printable(error.column),
        what,
        printable(fix),
        printable(error.record),
        {name: printable_in(list(values)) for name, values in error.ways.items()},
    )


def one_sentence(problem: Problem) -> str:
    """File, line, fault and fix of a problem, as one message."""
    where = problem.file
    if problem.line is not None:
        where = phrase("{file}, line {line}", file=problem.file, line=problem.line)
    if problem.record:
        where = phrase("{where}, id {id}", where=where, id=problem.record)
    if not problem.fix:
        return joined([where, problem.what], by=": ")
    return phrase("{where}: {what}. {fix}.", where=where, what=problem.what, fix=problem.fix)


class Rejections:
    """Rejected records on disk, so that memory does not grow with them, and the first of them described.

    number   how many there are
    first    the problems of the first ones, at most MOST_DESCRIBED
    cause    the problem that the first one goes back to; None without any
    whole    False where reading stopped at the last one, so that what follows is not known
    """

    def __init__(self, hide_folders: Callable[[str], str] = str, by_command: bool = False) -> None:
        self.number = 0
        self.first: list[Problem] = []
        self.cause: Problem | None = None
        self.whole = True
        self._shown = hide_folders
        self._by_command = by_command
        self._columns: dict[str, None] = {}
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 (see __exit__)

    def __enter__(self) -> "Rejections":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, rejected: Rejection) -> None:
        """Keep a record and describe its problem."""
        problem = describe(rejected.error, self._shown, self._by_command)
        self.number += 1
        if self.number == 1:
            self.cause = describe(rejected.because or rejected.error, self._shown, self._by_command)
        self.whole = rejected.record is not None
        if len(self.first) < MOST_DESCRIBED:
            self.first.append(problem)
        record = {**(rejected.record or {}), **_reason_fields(problem)}
        self._columns.update(dict.fromkeys(record))
        self._file.write(source_json(record) + "\n")

    def include(self, path: Path, count: int, first: Sequence[Problem]) -> None:
        """Add the records of a file that `write` wrote as JSON Lines elsewhere, and their problems."""
        self.number += count
        self.first = [*self.first, *first][:MOST_DESCRIBED]
        if not count:
            return
        with path.open(encoding="utf-8", errors=_ESCAPED) as file:
            for line in file:
                self._columns.update(dict.fromkeys(decoded_line(line)))
                self._file.write(line)

    def write(self, path: Path, form: str = "") -> None:
        """Write all records with problem, fix and line, in a form of FORMS. A name in .csv is CSV; "" is JSON Lines."""
        if path.suffix.lower() == ".csv":
            form = "csv"
        if form in ("csv", "tsv", "tabs"):
            self._write_rows(path, form)
            return
        with path.open("w", encoding="utf-8", errors=_ESCAPED, newline="\n") as file:
            if form == "members":
                file.write("{" + ",\n".join(map(_member, self._records())) + "}\n")
            else:
                file.writelines(f"{_readable(record)}\n" for record in self._records())

    def _write_rows(self, path: Path, form: str) -> None:
        columns = [*(name for name in self._columns if name not in ADDED), *ADDED]
        dialect = {"csv": csv.excel, "tsv": _QuotedTabs, "tabs": _Tabs}[form]
        encoding = "utf-8-sig" if form == "csv" else "utf-8"
        with path.open("w", encoding=encoding, errors=_ESCAPED, newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", dialect=dialect)
            writer.writeheader()
            writer.writerows({name: _cell(value) for name, value in row.items()} for row in self._records())

    def _records(self) -> Iterator[Mapping[str, Any]]:
        self._file.seek(0)
        return map(decoded_line, itertools.takewhile(bool, self._file))


def _readable(value: Any) -> str:
    """JSON with letters of all languages as they are."""
    return source_json(value, ascii=False)


def _member(record: Mapping[str, Any]) -> str:
    (name, value), *_ = record.items()
    reason = {part: record[part] for part in ADDED}
    entries = [*value, reason] if isinstance(value, list) else [value, reason]
    return f"{json.dumps(name, ensure_ascii=False)}: {_readable(entries)}"


def _reason_fields(problem: Problem) -> dict[str, Any]:
    where = f"{problem.column}: " if problem.column and problem.column not in problem.what else ""
    return {"problem": f"{where}{problem.what}", "fix": problem.fix, "line": problem.line}


def _cell(value: Any) -> Any:
    if isinstance(value, Number):
        return value.text
    return _readable(value) if isinstance(value, dict | list) else value
