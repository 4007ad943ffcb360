"""What kind of texts a column holds, for drawing it. The browser has the same rule (static/askew/column-facts.js)."""

from collections.abc import Iterable
from itertools import islice

from tableqa.cells.text_formats import format_of

LOOKED_AT = 100
"""Rows that are looked at: a column of thousands is recognised by its first ones."""
SHARE = 0.9


def holds_numbers(texts: Iterable[str]) -> bool:
    """Whether a column is one of numbers, to be set flush right: nine in ten of its first texts that say something are.

    Empty cells and signs for nothing ("-", "n/a") do not count. A column of which nothing is known is none of numbers.
    """
    kinds = [kind for text in islice(texts, LOOKED_AT) if (kind := format_of(text).kind) != "none"]
    return bool(kinds) and kinds.count("number") >= SHARE * len(kinds)
