"""Files of JSON records, read one at a time and field by field: one object a line, or one array of objects.

A number keeps the text that the file has for it (`text_of`): 1.50 stays 1.50, and is not printed again.
"""

import codecs
import dataclasses
import json
import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TypeVar, cast

from tableqa.core.disk_collections import Shelf
from tableqa.core.foreign_values import NUMBER, decimal, replaced, unstorable_part
from tableqa.core.json_text import check_depth
from tableqa.core.translation import gettext_noop, grouped, joined, phrase, reason_of, sentence, word
from tableqa.data.examples import Context, Example, ExampleError, Turn
from tableqa.data.tables import HEADER, Table, TableError
from tableqa.readers.interface import (
    MAX_TABLE_BYTES,
    FileReader,
    Ids,
    ReaderError,
    Rejected,
    cannot_open,
    check_cells,
    check_size,
    file_at,
    numbered,
    read_lines,
    start_of,
    unparted_hint,
)
from tableqa.readers.reading_options import offering, option
from tableqa.readers.report import in_record, note
from tableqa.serialisations.printed_values import json_of

MAX_RECORD_BYTES = MAX_TABLE_BYTES
"""The largest record that is read; it is kept whole while it is read, and it holds a table."""

T = TypeVar("T")
_BLOCK = 1024 * 1024
_BLANK = re.compile(r"[ \t\r\n]*")
_OPENED = re.compile(r"[ \t\r\n]*\{")
_NAME = re.compile(r'[ \t\r\n]*"([^"\\\x00-\x1f]*)"[ \t\r\n]*:[ \t\r\n]*')
_FOLLOWING = re.compile(r"[ \t\r\n]*([,}])")
_QUOTE, _CORRECT = gettext_noop("Write it in quotes"), gettext_noop("Correct it")
_LONG = 200
"""Characters from which an object is kept for the case that it comes again,"""
_MOST_REPEATED = 1_000_000
"""characters that are kept of all,"""
_TELLING = 160
"""and characters by which they are found again."""
_KINDS: Mapping[type, str] = {
    dict: gettext_noop("an object"),
    list: gettext_noop("a list"),
    str: gettext_noop("a text"),
    bool: gettext_noop("true or false"),
    type(None): "null",
}


class Number(float):
    """A number of a JSON file that remembers how it was written there."""

    text: str

    def __new__(cls, text: str) -> "Number":
        number = super().__new__(cls, text)
        number.text = text
        return number


def text_of(value: object) -> str | None:
    """A text as it is and a number as it is written in its file; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, Number):
        return value.text
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def cell_text(value: object) -> str | None:
    """`text_of`, with true and false as JSON writes them, and an empty text for null if the option `missing` says so."""
    if isinstance(value, bool):
        note("truths", text := "true" if value else "false")
        return text
    if value is None and option("missing"):
        note("missing")
        return ""
    return text_of(value)


def source_json(value: Any, ascii: bool = True) -> str:
    """A JSON value as one line of JSON, its numbers as they are written in their file."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, Mapping):
        members = (
            f"{json.dumps(key, ensure_ascii=ascii)}: {source_json(inner, ascii)}"
            for key, inner in value.items()
        )
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(source_json(inner, ascii) for inner in value)}]"
    return json.dumps(value, ensure_ascii=ascii)


def decoded_line(line: str) -> Any:
    """The JSON value that a line of `source_json` holds."""
    return _DECODER.decode(line)


def plain(value: Any) -> Any:
    """The same JSON value with plain floats, and decimals that no float has as texts: what may be stored."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return decimal(value.text) if isinstance(value, Number) else value


def kind(value: object) -> str:
    """What a JSON value is, in words: "a number"."""
    return word(
        next(
            (name for python_type, name in _KINDS.items() if isinstance(value, python_type)),
            gettext_noop("a number"),
        )
    )


@dataclass(frozen=True, slots=True)
class Location:
    """Where something stands in a file: its line, counted from 1, and where in the line, if that needs to be said."""

    file: Path
    line: int
    within: str = ""
    record: int = 0
    """The number of the record, from 1, where its line does not identify it; else 0."""

    def error(self, what: str, mend: str, command: str = "") -> ReaderError:
        record = phrase("record {number}", number=self.record) if self.record else ""
        where = joined([record, self.within], by=", ")
        return ReaderError(self.file, self.line, joined([where, what], by=": "), mend, command)

    def inside(self, name: str) -> "Location":
        return Location(self.file, self.line, f"{self.within}, {name}" if self.within else name, self.record)


def _with_way(error: ReaderError, value: object) -> ReaderError:
    """The fault of a value that is no text, with the option for null or an infinite number."""
    way = ("missing", "empty") if value is None else ("numbers", "stored")
    return offering(error, *way) if value is None or isinstance(value, float) else error


def _in_column(error: ReaderError, name: str) -> ReaderError:
    error.column = name
    return error


class Fields:
    """A JSON object whose fields are taken by name and kind; ReaderError names the place and the field."""

    def __init__(self, location: Location, value: object) -> None:
        if not isinstance(value, dict):
            mend = phrase("Put an object of fields there")
            raise location.error(phrase("there is {kind}, not an object", kind=kind(value)), mend)
        self.place = location
        self.value = value

    def __contains__(self, name: str) -> bool:
        return self.value.get(name) is not None

    def error(self, name: str, what: str, mend: str, command: str = "") -> ReaderError:
        return _in_column(self.place.error(what, mend, command), name)

    def required(self, name: str) -> Any:
        """The value of a field that must be there."""
        if name not in self.value:
            field_names = ", ".join(list(self.value)[:12]) or "none"
            mend = phrase("Add it; the fields here are: {there}", there=field_names)
            error = self.place.error(phrase("the field {name} is missing", name=name), mend)
            raise _in_column(error, name)
        return self.value[name]

    def text(self, name: str, default: str | None = None) -> str:
        """A text; `default`, if there is one, where the field is absent or null."""
        if default is not None and name not in self:
            return default
        value = self.required(name)
        if not isinstance(value, str):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a text"), _QUOTE)
        return value

    def name(self, name: str) -> str:
        """An id: a text that is not empty, or a whole number, which is taken as it is written."""
        value = self.required(name)
        text = None if isinstance(value, Number) else text_of(value)
        if not text:
            is_kind = phrase("{field} is {kind}", field=name, kind=kind(value))
            problem = phrase("{field} is empty", field=name) if text == "" else is_kind
            raise self.error(name, problem, phrase("An id is a text, and no two records have the same"))
        return text

    def texts(self, name: str) -> list[str]:
        """A list of texts; numbers are taken as they are written."""
        items = self.listed(name, gettext_noop('Write a list of texts: ["a", "b"]'))
        return [self._text_in(f"{name}[{i}]", item) for i, item in enumerate(items)]

    def _text_in(self, name: str, value: object) -> str:
        text = cell_text(value)
        if text is None:
            error = self._mismatch(name, value, gettext_noop("{field} is {kind}, not a text"), _QUOTE)
            raise _with_way(error, value)
        return text

    def _mismatch(self, name: str, value: object, text: str, mend: str = _CORRECT) -> ReaderError:
        return self.error(name, sentence(text, {"field": name, "kind": kind(value)}), sentence(mend, {}))

    def integer(self, name: str) -> int:
        value = self.required(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a whole number"))
        return value

    def number(self, name: str) -> int | float:
        value = self.required(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a number"))
        if abs(value) > sys.float_info.max:
            what = phrase("{field} is too large to be stored", field=name)
            raise self.error(name, what, sentence(_CORRECT, {}))
        return float(value) if isinstance(value, Number) else value

    def listed(self, name: str, mend: str = _CORRECT) -> list[Any]:
        value = self.required(name)
        if not isinstance(value, list):
            raise self._mismatch(name, value, gettext_noop("{field} is {kind}, not a list"), mend)
        return value

    def nested(self, name: str) -> "Fields":
        return Fields(self.place.inside(name), self.required(name))

    def optional(self, name: str) -> dict[str, Any]:
        """The members of an object; none where the field is absent or null."""
        return self.nested(name).value if name in self else {}

    def optional_list(self, name: str) -> list[Any]:
        """A list; empty where the field is absent or null."""
        return self.listed(name) if name in self else []

    def nested_each(self, name: str) -> Iterator["Fields"]:
        for i, item in enumerate(self.listed(name)):
            yield Fields(self.place.inside(f"{name}[{i}]"), item)

    def rest(self, *names: str) -> dict[str, Any]:
        """The fields of these names that are there, for `Example.meta`."""
        return {name: plain(self.value[name]) for name in names if name in self.value}

    def only(self, *names: str) -> None:
        """ReaderError if there is a field of another name."""
        if unknown := [name for name in self.value if name not in names]:
            mend = phrase("The fields are {names}; put others in meta", names=", ".join(names))
            raise self.place.error(phrase("there is no field {unknown}", unknown=unknown[0]), mend)


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a file. `number` counts the records from 1; `line` is where it starts."""

    line: int
    number: int
    fields: Fields


class RepeatedObjects:
    """Objects that stood in earlier records, such as the table of the question before, and what was made of them.

    Where the same text stands again it is the same value: it is neither parsed nor checked again. So nobody may change it.
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
                return members if _BLANK.fullmatch(text, at) else None
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
        # An object ends with its own brace: a text that begins like it goes on behind it.
        if cached_entry is None or not text.startswith(cached_entry[0], at):
            return None
        self._kept.move_to_end(start)
        return cached_entry[1], at + len(cached_entry[0])

    def _new(self, text: str, at: int) -> tuple[Any, int]:
        value, end = _DECODER.raw_decode(text, at)
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


def starts_array(path: Path) -> bool:
    """Whether the first character of a file is that of a JSON array; ReaderError where it cannot be opened."""
    return start_of(path).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["


_MEND = phrase("A file of records has one JSON object per line, or one JSON array of objects")


def each_record(
    path: Path, repeated: RepeatedObjects | None = None, is_header: Callable[[list[Any]], bool] | None = None
) -> Iterator[Record | ReaderError]:
    """The objects of a file as `read_records` gives them; a line or member that is none is given as its fault.

    With `is_header` the members of an array may be rows: lists of one length, below a header if it says so of the first.
    """
    if starts_array(path):
        yield from _array(path, is_header)
        return
    number = 0
    for line, text in read_lines(path, longest=MAX_RECORD_BYTES):
        if _BLANK.fullmatch(text):
            continue
        number += 1
        try:
            yield Record(line, number, _fields(Location(path, line), text, repeated))
        except ReaderError as error:
            yield error


def _fields(location: Location, text: str, repeated: RepeatedObjects | None) -> "Fields":
    if repeated is not None:
        try:
            members = repeated.fields(text)
        except (ValueError, RecursionError):
            members = None  # what is wrong is said where the whole is read
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
) -> Iterator[Example | Rejected]:
    """What `make` gives for each record of a file, and those for which it raises ReaderError; None gives nothing.

    ReaderError where the file cannot be read further.
    """
    for record in each_record(path, repeated):
        if isinstance(record, ReaderError):
            yield Rejected(record, {})
            continue
        try:
            new_example = make(dataclasses.replace(record, fields=corrected_record(record.fields)))
        except ReaderError as error:
            error.record = error.record or text_of(record.fields.value.get("id")) or ""
            yield Rejected(error, record.fields.value)
            continue
        if new_example is not None:
            yield new_example


def fields_of(location: Location, text: str) -> Fields:
    """The object that a line holds; ReaderError."""
    return Fields(location, decode_json(location, text))


def decode_json(location: Location, text: str, mend: str = _MEND) -> Any:
    """The JSON value that a text holds, its numbers as they are written; ReaderError."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise _as_offered(
            error, location.error(phrase("this is not JSON: {why}", why=_reason(error)), mend)
        ) from error


def _array(path: Path, is_header: Callable[[list[Any]], bool] | None) -> Iterator[Record | ReaderError]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise cannot_open(path, error) from error
    with file:
        source = _Source(path, file)
        source.skip("[")
        number = 0
        names, has_header = list[str](), False
        closed = source.next_is("]")
        while not closed:
            number += 1
            line = source.line_here()
            value = source.value()
            if number == 1 and is_header and isinstance(value, list):
                has_header = is_header(value)
                names = numbered(value) if has_header else [f"column {at + 1}" for at in range(len(value))]
            if names and isinstance(value, list) and len(value) == len(names):
                value = dict(zip(names, value, strict=True))
            try:
                fields = Fields(Location(path, line, record=number), value)
            except ReaderError as error:
                yield error
            else:
                if number > 1 or not has_header:
                    yield Record(line, number, fields)
            closed = source.next_is("]")
            if not closed:
                source.skip(",")
        source.skip("]")
        if not source.at_end():
            what = phrase("unexpected content after the end of the array")
            raise Location(path, source.line_here()).error(what, _MEND)


def read_members(path: Path) -> Iterator[tuple[str, Location, Any]]:
    """The members of a UTF-8 file that is one JSON object, as (name, place, value), one at a time; memory stays flat.

    Raises ReaderError as `read_records` does, and for a name that is given twice.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise cannot_open(path, error) from error
    with file:
        source = _Source(path, file)
        source.skip("{")
        names: Shelf[str, int] = Shelf()
        closed = source.next_is("}")
        while not closed:
            line = source.line_here()
            name = source.value()
            if not isinstance(name, str) or name in names:
                is_text = isinstance(name, str)  # what is no text need not be hashable
                what = (
                    phrase("the name {name!r} is already in line {line}", name=name, line=names[name])
                    if is_text
                    else phrase("no name")
                )
                raise Location(path, line).error(what, phrase("Give every object of the file its own name"))
            names[name] = line
            source.skip(":")
            line = source.line_here()
            value = source.value()
            yield name, Location(path, line, name), value
            closed = source.next_is("}")
            if not closed:
                source.skip(",")
        source.skip("}")
        if not source.at_end():
            what = phrase("unexpected content after the end of the object")
            raise Location(path, source.line_here()).error(what, _MEND)


def whole_object(path: Path) -> dict[str, Any] | None:
    """The members of a file that is one JSON object; None for JSON Lines, and for a damaged file."""
    try:
        return {name: value for name, _, value in read_members(path)}
    except ReaderError:
        return None  # reading it tells


class _Source:
    """The text of a file from a place on, of which only as much is kept as the value there needs."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._place = 0
        self._line = 1
        self._column = 0  # characters of the line before the text
        self._ended = False

    def line_here(self) -> int:
        """The line of the next character that is not blank."""
        self._peek()
        return self._line + self._text.count("\n", 0, self._place)

    def next_is(self, character: str) -> bool:
        return self._peek() == character

    def at_end(self) -> bool:
        return self._peek() == ""

    def skip(self, character: str) -> None:
        next_character = self._peek()
        if next_character != character:
            description = repr(next_character) if next_character else phrase("the end of the file")
            what = phrase("there is {shown}, not {character!r}", shown=description, character=character)
            raise Location(self._path, self.line_here()).error(what, _MEND)
        self._place += 1

    def value(self) -> Any:
        """The JSON value that starts at the next character."""
        self._peek()
        while True:
            try:
                value, self._place = _DECODER.raw_decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if self._ended or not isinstance(error, json.JSONDecodeError):
                    raise self._fault(error) from error
                if len(self._text) - self._place > MAX_RECORD_BYTES:
                    what = phrase(
                        "a record is longer than {most} bytes, or is never closed",
                        most=grouped(MAX_RECORD_BYTES),
                    )
                    raise Location(self._path, self.line_here()).error(what, _MEND) from error
                # Not all of it is here yet. Twice as much each time: a long record is not parsed again and again.
                self._more(max(_BLOCK, len(self._text) - self._place))
            else:
                return value

    def _fault(self, error: Exception) -> ReaderError:
        at = error.pos if isinstance(error, json.JSONDecodeError) else self._place
        line = self._line + self._text.count("\n", 0, at)
        column = at - self._text.rfind("\n", 0, at) + (0 if "\n" in self._text[:at] else self._column)
        why = _reason(error, column)
        return _as_offered(
            error, Location(self._path, line).error(phrase("this is not JSON: {why}", why=why), _MEND)
        )

    def _peek(self) -> str:
        """The next character that is not blank; "" at the end of the file."""
        while True:
            match = _BLANK.match(self._text, self._place)
            self._place = match.end() if match else self._place
            if self._place < len(self._text):
                return self._text[self._place]
            if self._ended:
                return ""
            self._more(_BLOCK)

    def _more(self, size: int) -> None:
        block = self._file.read(size)
        self._ended = not block
        self._line += self._text.count("\n", 0, self._place)
        last_end = self._text.rfind("\n", 0, self._place)
        self._column = self._place - last_end - 1 + (self._column if last_end < 0 else 0)
        self._text, self._place = self._text[self._place :], 0
        try:
            new = self._decode.decode(block, final=self._ended)
        except UnicodeDecodeError as error:
            line = self._line + self._text.count("\n") + error.object.count(b"\n", 0, error.start)
            what = phrase("the byte 0x{byte} there is not UTF-8", byte=f"{error.object[error.start]:02x}")
            mend = phrase("Save the file as UTF-8, or fetch it again from its source")
            raise Location(self._path, line).error(what, mend) from error
        self._text += new


_JSON_FAULTS = (
    gettext_noop("Expecting value"),
    gettext_noop("Expecting ',' delimiter"),
    gettext_noop("Expecting ':' delimiter"),
    gettext_noop("Expecting property name enclosed in double quotes"),
    gettext_noop("Illegal trailing comma before end of object"),
    gettext_noop("Illegal trailing comma before end of array"),
    gettext_noop("Unterminated string starting at"),
    gettext_noop("Invalid control character at"),
    gettext_noop("Invalid \\escape"),
    gettext_noop("Invalid \\uXXXX escape"),
    gettext_noop("Extra data"),
)
"""What Python's json says is wrong, for translators."""


def _reason(error: Exception, column: int = 0) -> str:
    if isinstance(error, json.JSONDecodeError):
        number = grouped(column or error.colno)
        return phrase("{reason} at character {number}", reason=word(error.msg), number=number)
    return phrase("it is nested too deeply") if isinstance(error, RecursionError) else reason_of(error)


class _Refusal(ValueError):
    """JSON that is read where a person chooses so: the reason, the option and its value."""


def _as_offered(reason: Exception, error: ReaderError) -> ReaderError:
    return offering(error, *reason.args[1:]) if isinstance(reason, _Refusal) else error


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        if option("names"):
            return dict(zip(numbered(names), (value for _, value in pairs), strict=True))
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refusal(phrase("an object has the name {twice!r} twice", twice=twice), "names", "numbered")
    return members


def _integer(text: str) -> int | Number:
    if text == "-0":
        return Number(text)
    try:
        return int(text)
    except ValueError:
        raise ValueError(phrase("a number of {number} digits", number=grouped(len(text)))) from None


def _no_number(text: str) -> Any:
    name, value, read = ("missing", "empty", None) if text == "NaN" else ("numbers", "stored", text)
    if option(name):
        return read
    raise _Refusal(phrase("{text} is not a JSON number", text=text), name, value)


class _Decoder(json.JSONDecoder):
    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        value, end = super().raw_decode(s, idx)
        check_depth(value)
        return value, end


_DECODER = _Decoder(
    object_pairs_hook=_unique_members, parse_float=Number, parse_int=_integer, parse_constant=_no_number
)


def value_in(text: str) -> Any:
    """The value that a text holds as JSON, or as Python or NumPy print it, its numbers as they are written; ValueError."""
    for form in (str, json_of):
        with suppress(ValueError, RecursionError):
            return _DECODER.decode(form(text))
    raise ValueError(text[:80])


def list_in(text: str, of: type = object) -> list[Any] | None:
    """The list that a text holds in a form of `value_in`, if its members are `of` a type; None where it holds none."""
    with suppress(ValueError):
        value = value_in(text)
        return value if isinstance(value, list) and all(isinstance(member, of) for member in value) else None
    return None


# -- what records hold ------------------------------------------------------------------------------


def table_of(
    location: Location, header: object, rows: object, title: str = "", caption: str = "", **more: Any
) -> Table:
    """The table of a record: lists of texts, in which numbers are taken as they are written; ReaderError."""
    names = _cells(location, header, 0)
    if not isinstance(rows, list):
        mend = phrase("Give a list of rows")
        raise location.error(phrase("the rows are {kind}, not a list", kind=kind(rows)), mend)
    try:
        check_size(location.file, location.line, len(rows), len(names))
    except ReaderError as error:
        raise location.error(error.what, error.mend, error.command) from None
    body = [_cells(location, row, i + 1) for i, row in enumerate(rows)]
    try:
        return Table(names, body, title=title, caption=caption, **more)
    except TableError as error:
        mend = phrase("Correct the table or remove the record")
        raise _as_storable(location.error(reason_of(error), mend), [names, *body]) from error


def check_parted(location: Location, table: Table) -> None:
    """ReaderError if a table has one column because its lines were read with another separator than they have."""
    if hint := unparted_hint(table.header, table.rows):
        raise location.error(
            phrase("the table has one column: {header!r}", header=table.header[0][:80]), hint
        )


def _row_name(number: int) -> str:
    return phrase("row {number}", number=number) if number else phrase("the header")


def _cells(location: Location, row: object, number: int) -> list[str]:
    """The cells of a row of this number; 0 is the header."""
    if not isinstance(row, list):
        what = phrase("{where} is {kind}, not a list", where=_row_name(number), kind=kind(row))
        raise location.error(what, phrase("Give a list of texts"))
    # Nearly all rows hold texts alone.
    cells: list[str] = row if set(map(type, row)) <= {str} else _as_texts(location, row, number)
    try:
        check_cells(location.file, location.line, cells)
    except ReaderError as error:
        raise location.error(joined([_row_name(number), error.what], by=", "), error.mend) from None
    return cells


def _as_texts(location: Location, row: list[Any], number: int) -> list[str]:
    cells = []
    for j, cell in enumerate(row):
        text = cell_text(cell)
        if text is None:
            what = phrase(
                "{where}, column {column} is {kind}, not a text",
                where=_row_name(number),
                column=j + 1,
                kind=kind(cell),
            )
            error = location.error(what, phrase('Write every cell as a text; an empty one is ""'))
            raise _with_way(error, cell)
        cells.append(text)
    return cells


def cell_at(location: Location, table: Table, row: int, column: int) -> list[str]:
    """[row id, column id] of a cell by its places, counted from 0; row -1 is the header. ReaderError if there is none."""
    rows, columns = table.shape
    if not (-1 <= row < rows and 0 <= column < columns):
        what = phrase(
            "a marked cell lies outside the table: row {row} below the header, column {column}",
            row=row,
            column=column,
        )
        mend = phrase(
            "Correct it: there are {rows} rows below the header and {columns} columns, counted from 0",
            rows=rows,
            columns=columns,
        )
        raise location.error(what, mend)
    return [table.header_id if row == -1 else table.row_ids[row], table.column_ids[column]]


def marked_cells(location: Location, table: Table, name: str, value: object) -> list[list[str]]:
    """Marked cells that are given by their ids, [[row id, column id], ...], each checked; ReaderError."""
    mend = phrase(
        'Mark cells by their ids: ["r0", "c0"] is the first one below the header, "{header}" the header row',
        header=HEADER,
    )
    if not isinstance(value, list):
        raise location.error(phrase("{name} is {kind}, not a list", name=name, kind=kind(value)), mend)
    for i, cell in enumerate(value):
        if not isinstance(cell, list) or len(cell) != 2 or not all(isinstance(part, str) for part in cell):
            what = phrase("{name}[{i}] is not a pair of a row id and a column id", name=name, i=i)
            raise location.error(what, mend)
        if cell[0] not in table.all_row_ids or cell[1] not in table.column_ids:
            raise location.error(
                phrase(
                    "{name}[{i}] is {row}/{column}, which the table does not have",
                    name=name,
                    i=i,
                    row=cell[0],
                    column=cell[1],
                ),
                mend,
            )
    return value


def example(
    location: Location,
    id: str,
    question: str,
    table: Table,
    answers: Sequence[str],
    meta: Mapping[str, Any] | None = None,
    program: Mapping[str, Any] | None = None,
    context: Context | None = None,
    history: list[Turn] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Example:
    """An Example, or the ReaderError that names the place of what cannot be one. columns: of its parts, for a report."""
    with _errors_located(location, [id, question, answers, meta]):
        new_example = Example(id, question, table, answers, meta, program, context, history or [])
    in_record(location.line, id, columns)
    return new_example


def turn_of(location: Location, question: str, answers: list[str]) -> Turn:
    """A Turn, or the ReaderError that names the place of what cannot be one."""
    with _errors_located(location):
        return Turn(question, answers)


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

    beside = ""
    patterns: ClassVar[tuple[str, ...]] = ("*.jsonl", "*/*.jsonl")
    known_by: ClassVar[tuple[str, ...]]
    mend: ClassVar[str]

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path]:
        """The file itself, or the one in a folder; ReaderError."""
        return (file_at(Path(path), self.patterns, lambda file: has_fields(file, *self.known_by), self.mend),)

    def _outcomes(self, path: Path) -> Iterator[Example | Rejected]:
        """What `_example` makes of each record; an id that repeats is refused."""
        ids = Ids(path)

        def make(record: Record) -> Example:
            new_example = self._example(record)
            ids.add(new_example.id, record.line)
            return new_example

        return outcomes_of(path, make)

    def _example(self, record: Record) -> Example:
        raise NotImplementedError


def passage_of(value: object) -> str | None:
    """The text of a field of a passage: a text, or a list of texts as its paragraphs; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return "\n\n".join(value)
    return None


def context_of(location: Location, text: str = "", unit: str = "", scale: str = "") -> Context | None:
    """A Context, or None where there is nothing in it; ReaderError."""
    if not (text or unit or scale):
        return None
    with _errors_located(location):
        return Context(text, unit, scale)


@contextmanager
def _errors_located(location: Location, parts: object = None) -> Iterator[None]:
    """What cannot be a part of an example, as the ReaderError that names its place."""
    try:
        yield
    except ExampleError as error:
        raise _as_storable(
            location.error(reason_of(error), phrase("Correct the field or remove the record")), parts
        ) from error


def _as_storable(error: ReaderError, value: object) -> ReaderError:
    reason = unstorable_part(value)
    way = ("numbers", "stored") if reason is NUMBER else ("characters", "replaced")
    return offering(error, *way) if reason else error
