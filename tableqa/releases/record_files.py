"""Files of records: JSON Lines, or an array with a record a line. A record is read again whenever it is asked for."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from tableqa.core.canonical_json import canonical
from tableqa.core.disk_collections import Shelf

MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a manifest or of a record."""

Key = TypeVar("Key", bound=Hashable)
Record = dict[str, Any]


class Difference(Exception):
    """The first thing in a release that does not hold: which file, which record, what is wrong."""


def records(path: Path) -> Iterator[Record]:
    """The records of a file, one a line: JSON Lines, or an array as a release writes it. A broken line is named."""
    for _, record in records_with_offsets(path):
        yield record


def records_with_offsets(path: Path) -> Iterator[tuple[int, Record]]:
    """The records of a file, each with the byte where its line starts."""
    offset = 0
    with path.open("rb") as lines:
        for line_number, line in enumerate(lines, start=1):
            try:
                yield offset, json.loads(_object_text(line))
            except json.JSONDecodeError as error:
                raise Difference(f"{path.name}, line {line_number}: not JSON ({error.msg})") from None
            offset += len(line)


def _object_text(line: bytes) -> str:
    """A line without what makes it part of an array: a record is an object, which begins and ends with braces."""
    text = line.decode("utf-8").rstrip("\r\n")
    return (
        text.removeprefix("[").removesuffix("]").removesuffix(",")
        if text[:1] != "{" or text[-1:] != "}"
        else text
    )


def write_with_offsets(
    path: Path, lines: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """As `records_with_offsets`, of a file that is only made: each record is written while the next one is asked for.

    JSON Lines in canonical form, UTF-8 with LF. Callers need not read the records again. The folder is there:
    where another attempt has cleared it away, this one is over (OSError), and is not to go on with half of its files.
    """
    offset = 0
    with path.open("wb") as out:
        for line in lines:
            size = out.write(f"{canonical(line)}\n".encode())
            yield offset, line
            offset += size


class RecordFiles:
    """Files that are read here and there, each opened once."""

    def __init__(self) -> None:
        self._opened: dict[Path, BinaryIO] = {}

    def at(self, path: Path, offset: int) -> Record:
        """The record of the line that starts at a byte of a file."""
        if path not in self._opened:
            self._opened[path] = path.open("rb")
        file = self._opened[path]
        file.seek(offset)
        record: Record = json.loads(_object_text(file.readline()))
        return record

    def close(self) -> None:
        for file in self._opened.values():
            file.close()


class Lines:
    """The records of a file, as often as they are asked for, one at a time."""

    def __init__(self, path: Path, count: int) -> None:
        self._path, self._number = path, count

    def __iter__(self) -> Iterator[Record]:
        return records(self._path)

    def __len__(self) -> int:
        return self._number


class Records(Mapping[Key, Record]):
    """Records of a file by a key, in the order of the file; each is read when it is asked for.

    `within` takes the record out of its line, where that holds more; it is given what is kept beside the place.
    """

    def __init__(
        self,
        files: RecordFiles,
        path: Path,
        offsets: Shelf[Key, tuple[Any, ...]],
        within: Callable[..., Record] = lambda record: record,
    ) -> None:
        self._files, self._path, self.offsets, self._within = files, path, offsets, within

    def __getitem__(self, key: Key) -> Record:
        offset, *more = self.offsets[key]
        return self._within(self._files.at(self._path, offset), *more)

    def __contains__(self, key: object) -> bool:
        return key in self.offsets

    def __iter__(self) -> Iterator[Key]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)
