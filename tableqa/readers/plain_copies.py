"""Files of questions that are compressed, or JSON in another encoding than UTF-8: read from a plain copy."""

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tableqa.core.translation import phrase
from tableqa.readers.archive import MOST_UNPACKED, unpack_file, with_archive_name
from tableqa.readers.encoding_detection import Guess, encoding_by_letters
from tableqa.readers.interface import ReaderError, start_of
from tableqa.readers.reading_options import option
from tableqa.readers.record_forms import is_json
from tableqa.readers.text_form import checked_encoding, encoding_or_sample, text_lines

_GZIP = b"\x1f\x8b"


def is_compressed(path: Path) -> bool:
    """Whether a file is compressed by gzip, by its first bytes; ReaderError where it cannot be opened."""
    return path.is_file() and start_of(path, 2) == _GZIP


@contextmanager
def plain_copy(path: Path, encoding: str = "") -> Iterator[Path]:
    """The file itself, or its unpacked copy in UTF-8, there for as long as it is read; faults name the file. ReaderError.

    encoding: what a person chose for files that are not Unicode.
    """
    with tempfile.TemporaryDirectory(prefix="askew-plain-") as name:
        copy = path
        if is_compressed(path):
            copy = Path(name) / path.name.removesuffix(".gz")
            _unpack(path, copy)
        try:
            if copy.is_file() and is_json(copy) and (of_file := _json_encoding(copy, encoding)):
                (Path(name) / "utf-8").mkdir()
                target = Path(name) / "utf-8" / copy.name
                with target.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(text_lines(copy, of_file))
                copy = target
            yield copy
        except ReaderError as error:
            raise error if copy == path else with_archive_name(error, str(copy), str(path)) from error


def _unpack(path: Path, copy: Path) -> None:
    try:
        with gzip.open(path) as packed:
            unpack_file(path, packed, copy, MOST_UNPACKED)
    except (OSError, EOFError, zlib.error) as error:
        what = phrase("the compressed file is damaged")
        raise ReaderError(path, None, what, phrase("Fetch it again")) from error


def _json_encoding(path: Path, encoding: str) -> str:
    """Python's name of the encoding of a JSON file; "" for UTF-8, and where reading has to say what is wrong."""
    try:
        guess_or_sample = encoding_or_sample(path)
    except ReaderError as error:
        if encoding:
            return checked_encoding(path, encoding)
        if "characters" in error.ways:
            raise
        return ""
    if isinstance(guess_or_sample, Guess):
        is_plain = guess_or_sample.encoding in ("utf-8", "utf-8-sig") and not option("characters")
        return "" if is_plain else guess_or_sample.encoding
    return checked_encoding(path, encoding) if encoding else encoding_by_letters(guess_or_sample).encoding
