"""Files of JSON records, read one at a time: one object a line, or one array of objects."""

import dataclasses
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

from tableqa.core.foreign_values import replaced
from tableqa.data.examples import Example
from tableqa.readers.interface import FileReader, Ids, ReaderError, Rejection, file_at, numbered, read_lines
from tableqa.readers.json_stream import BLANK, MAX_RECORD_BYTES, array_members, starts_array
from tableqa.readers.json_values import DECODER, text_of
from tableqa.readers.reading_options import option
from tableqa.readers.record_fields import Fields, Location, fields_of

T = TypeVar("T")
_OPENED = re.compile(r"[ \t\r\n]*\{")
_NAME = re.compile(r'[ \t\r\n]*"([^"\\\x00-\x1f]*)"[ \t\r\n]*:[ \t\r\n]*')
_FOLLOWING = re.compile(r"[ \t\r\n]*([,}])")

_LONG = 200
"""Characters from which an object is kept for the case that it comes again,"""
_MOST_REPEATED = 1_000_000
"""characters that are kept of all,"""
_TELLING = 160
"""and characters by which they are found again."""


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a file. `number` counts the records from 1; `line` is where it starts."""

    line: int
    number: int
    fields: Fields


class RepeatedObjects:
    """Objects that was in earlier records, such as the table of the question before, and what was made of them.

    A repeated text is the same value: it is neither parsed nor checked again. So it must not be changed.
    Those that were met last are kept, up to a number of characters.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, dict[str, Any]]] = OrderedDict()
        self._made: dict[int, Any] = {}
        self._characters = 0

    def fields(self, text: str) -> dict[str, Any] | None:
        """The object that a line holds; None where there is none, or it has to be looked at more closely."""
        members: dict[str, Any] = {}
        start = _OPENED.match(text)
        at = start.end() if start else 0
        while name := _NAME.match(text, at):
            at = name.end()
            value, at = self._again(text, at) or self._new(text, at)
            is_repeated = name[1] in members
            members[name[1]] = value
            following = _FOLLOWING.match(text, at)
            if following is None or is_repeated:
                return None
            at = following.end()
            if following[1] == "}":
                return members if BLANK.fullmatch(text, at) else None
        return None

    def made(self, value: dict[str, Any], make: Callable[[], T]) -> T:
        """What `make` gives for a value, made once for those that are kept."""
        if id(value) in self._made:
            return cast("T", self._made[id(value)])
        result = make()
        last = next(reversed(self._kept.values()), None)
        if last is not None and last[1] is value:
            self._made[id(value)] = result
        return result

    def _again(self, text: str, at: int) -> tuple[Any, int] | None:
        start = text[at : at + _TELLING]
        cached_entry = self._kept.get(start)
        # An object ends with its own brace: a text that begins like it continues behind it.
        if cached_entry is None or not text.startswith(cached_entry[0], at):
            return None
        self._kept.move_to_end(start)
        return cached_entry[1], at + len(cached_entry[0])

    def _new(self, text: str, at: int) -> tuple[Any, int]:
        value, end = DECODER.raw_decode(text, at)
        if isinstance(value, dict) and _LONG <= end - at <= _MOST_REPEATED:
            start, whole = text[at : at + _TELLING], text[at:end]
            self._forget(start)
            self._kept[start] = whole, value
            self._characters += len(whole)
            while self._characters > _MOST_REPEATED:
                self._forget(next(iter(self._kept)))
        return value, end

    def _forget(self, start: str) -> None:
        if start in self._kept:
            text, value = self._kept.pop(start)
            self._characters -= len(text)
            self._made.pop(id(value), None)


def read_records(path: Path, repeated: RepeatedObjects | None = None) -> Iterator[Record]:
    """The objects of a UTF-8 file of JSON Lines, or of one JSON array, one at a time; memory stays flat.

    `repeated` holds objects of earlier lines, where a reader can do with such as several records share. What the file is,
    its first character says. Empty lines between the objects of JSON Lines are passed over. Raises ReaderError for a file
    that cannot be opened, anything that is not JSON (NaN and a name given twice in an object included), a record over
    MAX_RECORD_BYTES, bytes that are not UTF-8 and NUL characters.
    """
    for record in each_record(path, repeated):
        if isinstance(record, ReaderError):
            raise record
        yield record


def each_record(
    path: Path, repeated: RepeatedObjects | None = None, is_header: Callable[[list[Any]], bool] | None = None
) -> Iterator[Record | ReaderError]:
    """The objects of a file as `read_records` gives them; a line or member that is none is given as its fault.

    With `is_header` the members of an array may be rows: lists of one length, below a header if it says so of the first.
    """
    if starts_array(path):
        yield from _array(path, is_header)
        return
    record_number = 0
    for line, text in read_lines(path, longest=MAX_RECORD_BYTES):
        if BLANK.fullmatch(text):
            continue
        record_number += 1
        try:
            yield Record(line, record_number, _fields(Location(path, line), text, repeated))
        except ReaderError as error:
            yield error


def _fields(location: Location, text: str, repeated: RepeatedObjects | None) -> "Fields":
    if repeated is not None:
        try:
            members = repeated.fields(text)
        except (ValueError, RecursionError):
            members = None  # faults are reported where the whole is read
        if members is not None:
            return Fields(location, members)
    return fields_of(location, text)


ADDED = ("problem", "fix", "line")
"""What the file of rejected records has beside the record."""


def corrected_record(fields: Fields) -> Fields:
    """A record of a file of rejected ones without the reason, and as the option `characters` says."""
    if option("characters"):
        fields = Fields(fields.place, replaced(fields.value))
    if not all(name in fields.value for name in ADDED):
        return fields
    return Fields(fields.place, {name: value for name, value in fields.value.items() if name not in ADDED})


def outcomes_of(
    path: Path, make: Callable[[Record], Example | None], repeated: RepeatedObjects | None = None
) -> Iterator[Example | Rejection]:
    """What `make` gives for each record of a file, and those for which it raises ReaderError; None gives nothing.

    ReaderError where the file cannot be read further.
    """
    for record in each_record(path, repeated):
        if isinstance(record, ReaderError):
            yield Rejection(record, {})
            continue
        try:
            new_example = make(dataclasses.replace(record, fields=corrected_record(record.fields)))
        except ReaderError as error:
            error.record = error.record or text_of(record.fields.value.get("id")) or ""
            yield Rejection(error, record.fields.value)
            continue
        if new_example is not None:
            yield new_example


def _array(path: Path, is_header: Callable[[list[Any]], bool] | None) -> Iterator[Record | ReaderError]:
    names, has_header = list[str](), False
    for record_number, (line, value) in enumerate(array_members(path), start=1):
        if record_number == 1 and is_header and isinstance(value, list):
            has_header = is_header(value)
            names = numbered(value) if has_header else [f"column {at + 1}" for at in range(len(value))]
        if names and isinstance(value, list) and len(value) == len(names):
            value = dict(zip(names, value, strict=True))
        try:
            fields = Fields(Location(path, line, record=record_number), value)
        except ReaderError as error:
            yield error
        else:
            if record_number > 1 or not has_header:
                yield Record(line, record_number, fields)


def has_fields(path: Path, *names: str) -> bool:
    """Whether the first record of a file has these fields: by that a file is known in a folder."""
    try:
        record = next(read_records(path), None)
    except ReaderError:
        return False
    return record is not None and all(name in record.fields.value for name in names)


class RecordFile(FileReader):
    """A reader of one file of records. In a folder it takes the one file whose first record has the fields `known_by`.

    mend  how to name the file, where a folder contains none or several
    """

    patterns: ClassVar[tuple[str, ...]] = ("*.jsonl", "*/*.jsonl")
    known_by: ClassVar[tuple[str, ...]]
    mend: ClassVar[str]

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path]:
        """The file itself, or the one in a folder; ReaderError."""
        return (file_at(Path(path), self.patterns, lambda file: has_fields(file, *self.known_by), self.mend),)

    def _outcomes(self, path: Path) -> Iterator[Example | Rejection]:
        """What `_example` makes of each record; an id that repeats is refused."""
        ids = Ids(path)

        def make(record: Record) -> Example:
            new_example = self._example(record)
            ids.add(new_example.id, record.line)
            return new_example

        return outcomes_of(path, make)

    def _example(self, record: Record) -> Example:
        raise NotImplementedError
