"""ToRR's seven forms are what its own program writes: pinned on the published tables, whatever their cells hold."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tableqa import Table
from tableqa.readers import READERS
from tableqa.serialisations import SERIALISATIONS, TORR

BY_UNITXT = {
    "html_torr": "b0428d8d4424c963",
    "json_torr": "a006af06cff22759",
    "markdown_torr": "ed2e584c554fd751",
    "indexed_row_major_torr": "1d2f39dea2b31dc4",
    "dataframe_torr": "89540f4271111b5b",
    "concatenation_torr": "a62ef8b00ec57db5",
    "csv": "2404fce94f4f3333",
}
"""sha256 over what unitxt 1.26.10 writes for these tables, each followed by a NUL. Its CSV is stripped at both ends."""


@pytest.fixture(scope="module")
def published(test_data: Path) -> list[Table]:
    """WikiTableQuestions' 346 dev tables and TAT-QA's 278, each once."""
    wtq = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    tables = {str(example.meta["context"]): example.table for example in wtq}
    for example in READERS["tat_qa"](test_data / "tatqa"):
        tables.setdefault(example.table.digest(), example.table)
    return list(tables.values())


@pytest.mark.parametrize("name", TORR)
def test_a_form_of_torr_is_byte_for_byte_that_of_its_program(name: str, published: list[Table]) -> None:
    assert len(published) == 624
    whole = hashlib.sha256()
    for table in published:
        text = SERIALISATIONS[name].dumps(table)
        whole.update((text.strip() if name == "csv" else text).encode() + b"\0")
    assert whole.hexdigest()[:16] == BY_UNITXT[name]
