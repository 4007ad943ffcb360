"""The last stage of every import: checked records into the database, in pages that nobody sees yet.

Each page is a short transaction, so that nobody who submits waits for long. What makes all pages visible is one more short
transaction of whoever imports.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction

from tableqa.readers.ingestion import Rows

Progress = Callable[[int, int], None]


def write_pages(
    rows: Path, write: Callable[[Sequence[Any], int], None], total: int, progress: Progress, done: int = 0
) -> int:
    """Give `write` the rows page by page, with the number of those before; how many there are now.

    done: rows that are committed since an attempt that did not finish.
    """
    progress(done, total)
    left = itertools.islice(itertools.chain.from_iterable(Rows.read(rows)), done, None)
    while page := list(itertools.islice(left, PAGE)):
        with transaction.atomic():
            write(page, done)
        done += len(page)
        progress(done, total)
    return done


PAGE = 1_000
"""Rows of a transaction."""
