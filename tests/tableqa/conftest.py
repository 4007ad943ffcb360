"""Tables of the published data, for the tests of what finds suggestions in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tableqa import Table
from tableqa.readers import READERS


@pytest.fixture(scope="session")
def dev_tables(test_data: Path) -> list[Table]:
    """The 346 tables of WikiTableQuestions' development part, each once, in the order of the questions."""
    examples = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    return list({example.meta["context"]: example.table for example in examples}.values())
