"""The filter by length: what is counted, what fits, and that it says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.serialisations import SERIALISATIONS
from tableqa.serialisations.token_lengths import Limit, Tokenizer
from tests.tableqa.strategies import tables

WORDS = Tokenizer("words", "0" * 64, lambda text: len(text.split()))
FILMS = Example(
    "1", "which is longer?", Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]]), ["Heat"]
)
LINES = SERIALISATIONS["pipe_lines"]


def test_the_table_is_counted_in_the_form_it_is_written_in() -> None:
    # Film | Minutes / Heat | 170 / Alien | 117
    assert Limit(9, WORDS, LINES).length(FILMS) == 9
    assert Limit(9, WORDS, LINES).fits(FILMS)
    assert not Limit(8, WORDS, LINES).fits(FILMS)
    assert Limit(9, WORDS, SERIALISATIONS["concatenation"]).length(FILMS) == 6


def test_the_question_counts_where_it_is_asked_for() -> None:
    assert Limit(12, WORDS, LINES, question=True).length(FILMS) == 12
    assert not Limit(11, WORDS, LINES, question=True).fits(FILMS)
    assert Limit(11, WORDS, LINES).fits(FILMS)


def test_a_limit_says_what_it_counts_with() -> None:
    assert Limit(512, WORDS, LINES).to_dict() == {
        "most": 512,
        "tokenizer": "words",
        "tokenizer_sha256": "0" * 64,
        "serialisation": "pipe_lines",
        "question": False,
    }
    with pytest.raises(ValueError, match="must be 1 or more"):
        Limit(0, WORDS, LINES)


@given(tables, st.integers(1, 40))
def test_what_fits_fits_a_longer_limit_too(table: Table, most: int) -> None:
    example = Example("1", "q", table, ["a"])
    if Limit(most, WORDS, LINES).fits(example):
        assert Limit(most + 1, WORDS, LINES).fits(example)
    assert Limit(most, WORDS, LINES, question=True).length(example) >= Limit(most, WORDS, LINES).length(
        example
    )
