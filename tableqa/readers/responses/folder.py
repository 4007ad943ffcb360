"""Exports of several files: a folder, or a zip file of one."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tableqa.readers.archive import unpacked
from tableqa.readers.interface import ReaderError
from tableqa.readers.record_fields import Fields, Location, decode_json


@contextlib.contextmanager
def open_export(path: Path) -> Iterator[Path]:
    """The folder of an export, or its only file; a zip file is unpacked meanwhile."""
    if path.is_file() and path.suffix.lower() == ".zip":
        with unpacked(path) as folder:
            yield folder
    else:
        yield path


def files(path: Path, pattern: str, mend: str) -> list[Path]:
    """The files of a folder that match, by name; a file is itself. ReaderError where there is none."""
    matches = [path] if path.is_file() else sorted(file for file in path.rglob(pattern) if file.is_file())
    if not matches:
        raise ReaderError(path, None, f"no file matches {pattern}", mend)
    return matches


def read_object(file: Path, mend: str, within: str = "") -> Fields:
    """The JSON object that a file of an export holds; ReaderError."""
    location = Location(file, 1, within)
    try:
        return Fields(location, decode_json(location, file.read_text(encoding="utf-8"), mend))
    except (OSError, UnicodeDecodeError) as error:
        raise ReaderError(file, None, f"it cannot be read: {error}", mend) from error
