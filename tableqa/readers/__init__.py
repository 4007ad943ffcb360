"""Readers of published formats: READERS["wtq"](path) gives the examples of a file, exactly and one at a time."""

from collections.abc import Mapping

from tableqa.readers import (
    csv_tables,
    fetaqa,
    freb_tqa,
    jsonl,
    lftqa,
    qtsumm,
    sqa,
    tat_qa,
    wikisql,
    wtq,
)
from tableqa.readers.reader import Reader, ReaderError

_READERS: tuple[Reader, ...] = (
    wtq.READER,
    sqa.READER,
    wikisql.READER,
    tat_qa.READER,
    fetaqa.READER,
    qtsumm.READER,
    freb_tqa.READER,
    lftqa.READER,
    jsonl.READER,
    csv_tables.READER,
)

READERS: Mapping[str, Reader] = {reader.name: reader for reader in _READERS}
"""Every reader by the name that the command line uses."""

__all__ = ["READERS", "Reader", "ReaderError"]
