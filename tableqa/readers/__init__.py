"""Readers of published formats: READERS["wtq"](path) gives the examples of a file, exactly and one at a time."""

from collections.abc import Mapping

from tableqa.readers import wtq
from tableqa.readers.reader import Reader, ReaderError

READERS: Mapping[str, Reader] = {reader.name: reader for reader in (wtq.READER,)}
"""Every reader by the name that the command line uses."""

__all__ = ["READERS", "Reader", "ReaderError"]
