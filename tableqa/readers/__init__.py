"""Readers of published formats: READERS["wtq"](path) gives the examples of a file, exactly and one at a time."""

from collections.abc import Mapping

from tableqa.readers import (
    arrow,
    askew,
    csv_tables,
    fetaqa,
    freb_tqa,
    jsonl,
    label_studio,
    lftqa,
    own_data,
    qtsumm,
    robut,
    sqa,
    suc,
    tabfact,
    tat_qa,
    wikisql,
    wtq,
)
from tableqa.readers.interface import (
    FilteringReader,
    FormReportingReader,
    MappedReader,
    Reader,
    ReaderError,
    Rejection,
    SplitReader,
    checked_outcomes,
    credit,
    published_id,
)

_READERS: tuple[Reader, ...] = (
    wtq.READER,
    sqa.READER,
    wikisql.READER,
    tat_qa.READER,
    fetaqa.READER,
    qtsumm.READER,
    freb_tqa.READER,
    robut.READER,
    lftqa.READER,
    tabfact.READER,
    suc.READER,
    own_data.READER,
    jsonl.READER,
    csv_tables.READER,
    arrow.PARQUET,
    arrow.HF,
    label_studio.READER,
    askew.READER,
)

READERS: Mapping[str, Reader] = {reader.name: reader for reader in _READERS}
"""Every reader by the name that the command line uses."""

__all__ = [
    "READERS",
    "FilteringReader",
    "FormReportingReader",
    "MappedReader",
    "Reader",
    "ReaderError",
    "Rejection",
    "SplitReader",
    "checked_outcomes",
    "credit",
    "published_id",
]
