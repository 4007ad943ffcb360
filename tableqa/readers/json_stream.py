"""JSON files larger than memory: the members of one array or one object, one at a time."""

import codecs
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import grouped, phrase
from tableqa.readers.interface import MAX_TABLE_BYTES, ReaderError, opened, read_lines, start_of
from tableqa.readers.json_values import DECODER, json_fault, with_option
from tableqa.readers.record_fields import WRITE_OBJECTS, Location, decode_json

MAX_RECORD_BYTES = MAX_TABLE_BYTES
"""The largest record that is read; it is kept whole while it is read, and it holds a table."""

_BLOCK = 1024 * 1024
BLANK = re.compile(r"[ \t\r\n]*")


def starts_array(path: Path) -> bool:
    """Whether the first character of a file is that of a JSON array; ReaderError where it cannot be opened."""
    return start_of(path).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["


def array_members(path: Path) -> Iterator[tuple[int, Any]]:
    """The members of a UTF-8 file that is one JSON array, or has one in each line, with their lines; ReaderError."""
    if _has_lines_of_arrays(path):
        for line, text in read_lines(path, longest=MAX_RECORD_BYTES):
            if not BLANK.fullmatch(text):
                yield line, decode_json(Location(path, line), text)
        return
    with opened(path) as file:
        stream = _JsonStream(path, file)
        for line in stream.members("[", "]", phrase("unexpected content after the end of the array")):
            yield line, stream.value()


def _has_lines_of_arrays(path: Path) -> bool:
    """Whether a first line of at most 64 KB is an array, and the next one begins one."""
    first, _, below = start_of(path, 64 * 1024).removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")
    with suppress(ValueError, RecursionError):
        return below.lstrip().startswith(b"[") and bool(DECODER.decode(first.decode()))
    return False


def read_members(path: Path) -> Iterator[tuple[str, Location, Any]]:
    """The members of a UTF-8 file that is one JSON object, as (name, place, value), one at a time; memory stays flat.

    Raises ReaderError as `read_records` does, and for a name that is given twice.
    """
    names: Shelf[str, int] = Shelf()
    with opened(path) as file:
        stream = _JsonStream(path, file)
        for line in stream.members("{", "}", phrase("unexpected content after the end of the object")):
            name = stream.value()
            if not isinstance(name, str) or name in names:
                what = phrase("no name")
                if isinstance(name, str):  # what is no text need not be hashable
                    what = phrase("the name {name!r} is already in line {line}", name=name, line=names[name])
                raise Location(path, line).error(what, phrase("Give every object of the file its own name"))
            names[name] = line
            stream.skip(":")
            line = stream.line_here()
            yield name, Location(path, line, name), stream.value()


def whole_object(path: Path) -> dict[str, Any] | None:
    """The members of a file that is one JSON object; None for JSON Lines, and for a damaged file."""
    try:
        return {name: value for name, _, value in read_members(path)}
    except ReaderError:
        return None  # reading it tells


class _JsonStream:
    """The text of a file from a place on, of which only as much is kept as the value there needs."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._position = 0
        self._line = 1
        self._column = 0  # characters of the line before the text
        self._ended = False
        self._record = 0  # the member of the array that is read, from 1

    def members(self, opening: str, closing: str, excess: str) -> Iterator[int]:
        """The line of each member, which is read before the next one; `excess` says what follows the closing bracket."""
        self.skip(opening)
        is_closed = self._peek() == closing
        while not is_closed:
            self._record += opening == "["
            yield self.line_here()
            is_closed = self._peek() == closing
            if not is_closed:
                self.skip(",")
        self.skip(closing)
        if self._peek():
            raise Location(self._path, self.line_here()).error(excess, WRITE_OBJECTS)

    def line_here(self) -> int:
        """The line of the next character that is not blank."""
        self._peek()
        return self._line + self._text.count("\n", 0, self._position)

    def skip(self, character: str) -> None:
        next_character = self._peek()
        if next_character != character:
            description = repr(next_character) if next_character else phrase("the end of the file")
            what = phrase("there is {shown}, not {character!r}", shown=description, character=character)
            raise Location(self._path, self.line_here()).error(what, WRITE_OBJECTS)
        self._position += 1

    def value(self) -> Any:
        """The JSON value that starts at the next character."""
        self._peek()
        while True:
            try:
                value, self._position = DECODER.raw_decode(self._text, self._position)
            except (ValueError, RecursionError) as error:
                if self._ended or not isinstance(error, json.JSONDecodeError):
                    raise self._fault(error) from error
                if len(self._text) - self._position > MAX_RECORD_BYTES:
                    what = phrase(
                        "a record is longer than {most} bytes, or is never closed",
                        most=grouped(MAX_RECORD_BYTES),
                    )
                    raise Location(self._path, self.line_here()).error(what, WRITE_OBJECTS) from error
                # Not all of it is here yet. Twice as much each time: a long record is not parsed again and again.
                self._more(max(_BLOCK, len(self._text) - self._position))
            else:
                return value

    def _fault(self, error: Exception) -> ReaderError:
        at = error.pos if isinstance(error, json.JSONDecodeError) else self._position
        line = self._line + self._text.count("\n", 0, at)
        column = at - self._text.rfind("\n", 0, at) + (0 if "\n" in self._text[:at] else self._column)
        why = json_fault(error, column)
        location = Location(self._path, line, record=self._record)
        return with_option(error, location.error(phrase("this is not JSON: {why}", why=why), WRITE_OBJECTS))

    def _peek(self) -> str:
        """The next character that is not blank; "" at the end of the file."""
        while True:
            match = BLANK.match(self._text, self._position)
            self._position = match.end() if match else self._position
            if self._position < len(self._text):
                return self._text[self._position]
            if self._ended:
                return ""
            self._more(_BLOCK)

    def _more(self, size: int) -> None:
        block = self._file.read(size)
        self._ended = not block
        self._line += self._text.count("\n", 0, self._position)
        last_end = self._text.rfind("\n", 0, self._position)
        self._column = self._position - last_end - 1 + (self._column if last_end < 0 else 0)
        self._text, self._position = self._text[self._position :], 0
        try:
            new = self._decode.decode(block, final=self._ended)
        except UnicodeDecodeError as error:
            line = self._line + self._text.count("\n") + error.object.count(b"\n", 0, error.start)
            what = phrase("the byte 0x{byte} there is not UTF-8", byte=f"{error.object[error.start]:02x}")
            mend = phrase("Save the file as UTF-8, or fetch it again from its source")
            raise Location(self._path, line).error(what, mend) from error
        self._text += new
