"""Which reader suits a file, by the names of fields that only one published format has."""

import re
from collections.abc import Mapping
from pathlib import Path

from tableqa.readers import arrow, wikisql
from tableqa.readers.archive import is_archive
from tableqa.readers.hub_folder import is_dataset
from tableqa.readers.interface import cannot_open
from tableqa.readers.plain_copies import is_compressed
from tableqa.readers.workbook import is_workbook
from tableqa.writers.hub_features import is_release_record

OWN = "own"
"""The reader of everything that is no published format."""
SAMPLE = 256 * 1024
"""Bytes from the start of a file in which the names of fields are looked for."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "lftqa": ("model_output", "metadata"),
    "wikisql": ("sql", "table_id", "conds"),
    "tat_qa": ("paragraphs", "questions", "table"),
    "fetaqa": ("feta_id", "table_array"),
    "qtsumm": ("summary", "row_ids"),
    "freb_tqa": ("rel_cells?",),
    "robut": ("perturbation_type",),
    "label_studio": (r'data(?="\s*:\s*\{)', "(?:annotations|completions|predictions)"),
    "suc": ("title", "context", "query", "label", "caption"),
}
"""Patterns for names of members, which all have to be in the sample."""
_PATTERNS = {
    "wtq": [r"\A\ufeff?id\tutterance\tcontext\ttargetValue\b"],
    "sqa": [r"\A\ufeff?id\tannotator\tposition\tquestion\ttable_file\b"],
    **{name: [rf'"{member}"\s*:' for member in members] for name, members in _NAMES.items()},
    "tabfact": [r'\A\ufeff?\s*\{\s*"[^"]+\.csv"\s*:\s*\[\s*\['],
}
_MARKS = {name: tuple(map(re.compile, patterns)) for name, patterns in _PATTERNS.items()}
"""Patterns that all have to be in the sample; the first reader that has them is taken."""
_HF = ("dataset_info.json", "dataset_dict.json")


def _is_release(path: Path) -> bool:
    """Whether the first record of a Parquet file is one of a release of Askew."""
    record = next(arrow.records_of(path, {}), {}) if path.is_file() else {}
    return is_release_record(record)


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
    return next((name for name, marks in _MARKS.items() if all(mark.search(sample) for mark in marks)), OWN)
