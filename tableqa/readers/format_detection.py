"""Which reader suits a file, by the names of fields that only one published format has."""

import re
from pathlib import Path

from tableqa.readers import arrow, wikisql
from tableqa.readers.archive import is_archive
from tableqa.readers.hub_folder import is_dataset
from tableqa.readers.interface import cannot_open
from tableqa.readers.plain_copies import is_compressed
from tableqa.readers.workbook import is_workbook
from tableqa.writers.whole_examples import FIELDS

OWN = "own"
"""The reader of everything that is no published format."""
SAMPLE = 256 * 1024
"""Bytes from the start of a file in which the names of fields are looked for."""

_MARKS: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    ("wtq", (re.compile(r"\A\ufeff?id\tutterance\tcontext\ttargetValue\b"),)),
    ("sqa", (re.compile(r"\A\ufeff?id\tannotator\tposition\tquestion\ttable_file\b"),)),
    ("lftqa", (re.compile(r'"model_output"\s*:'), re.compile(r'"metadata"\s*:'))),
    ("wikisql", (re.compile(r'"sql"\s*:'), re.compile(r'"table_id"\s*:'), re.compile(r'"conds"\s*:'))),
    ("tat_qa", (re.compile(r'"paragraphs"\s*:'), re.compile(r'"questions"\s*:'), re.compile(r'"table"\s*:'))),
    ("fetaqa", (re.compile(r'"feta_id"\s*:'), re.compile(r'"table_array"\s*:'))),
    ("qtsumm", (re.compile(r'"summary"\s*:'), re.compile(r'"row_ids"\s*:'))),
    ("freb_tqa", (re.compile(r'"rel_cells?"\s*:'),)),
    ("robut", (re.compile(r'"perturbation_type"\s*:'),)),
    (
        "label_studio",
        (re.compile(r'"data"\s*:\s*\{'), re.compile(r'"(annotations|completions|predictions)"\s*:')),
    ),
    (
        "suc",
        (
            re.compile(r'"title"\s*:'),
            re.compile(r'"context"\s*:'),
            re.compile(r'"query"\s*:'),
            re.compile(r'"label"\s*:'),
            re.compile(r'"caption"\s*:'),
        ),
    ),
    ("tabfact", (re.compile(r'\A\ufeff?\s*\{\s*"[^"]+\.csv"\s*:\s*\[\s*\['),)),
)
"""Patterns that all have to be in the sample; the first reader that has them is taken."""
_HF = ("dataset_info.json", "dataset_dict.json")


def _is_release(path: Path) -> bool:
    """Whether the first record of a Parquet file is one of a release of Askew."""
    record = next(arrow.records_of(path, {}), {}) if path.is_file() else {}
    return record.keys() == FIELDS


def detect_reader(path: Path) -> str:
    """The name of the reader that suits a file of questions, else OWN; ReaderError where it cannot be opened."""
    if path.name == "manifest.json":
        return "askew"
    if path.name.endswith(_HF):
        return "hf"
    try:
        if (path.is_dir() or is_archive(path)) and wikisql.is_release(path):
            return "wikisql"
        if is_dataset(path):
            return "parquet" if _is_release(path) else OWN
        if path.is_dir() or is_workbook(path) or is_archive(path) or is_compressed(path):
            return OWN
        with path.open("rb") as file:
            sample = file.read(SAMPLE).decode("utf-8", errors="replace")
    except OSError as error:
        raise cannot_open(path, error) from error
    return next((name for name, marks in _MARKS if all(mark.search(sample) for mark in marks)), OWN)
