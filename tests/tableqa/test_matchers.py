"""What is written without a regular expression gives what the published regular expression gives."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.scoring.matchers import _without_details, _without_notes, wtq_official

# WikiTableQuestions' evaluator (Pasupat and Liang 2015), `normalize` in evaluator.py: notes, then details.
NOTES = re.compile(r"((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$")
DETAILS = re.compile(r"(?<!^)( \([^)]*\))*$")

texts = st.text(alphabet="[]()1a *#", max_size=14).map(str.strip)


@given(texts)
def test_notes_are_left_out_as_by_the_evaluator(text: str) -> None:
    assert _without_notes(text) == NOTES.sub("", text)


@given(texts)
def test_details_are_left_out_as_by_the_evaluator(text: str) -> None:
    assert _without_details(text) == DETAILS.sub("", text)


@pytest.mark.parametrize(
    ("predicted", "gold", "right"),
    [
        (["2", "3"], ["2.0", "2"], False),  # 2.0 and 2 are one element of the set
        (["2"], ["2.0", "2"], True),
        (["2.0", "2"], ["2"], True),
        (["2004", "2"], ["2004-xx-xx", "2"], True),
        (["2004"], ["2004-xx-xx", "2004"], True),
        (["2004-01-02", "2004-1-2"], ["2004-01-02"], True),
        (["Heat", "heat"], ["heat"], True),
        (["Heat", "2"], ["2"], False),
    ],
)
def test_numbers_and_dates_form_sets_by_value(predicted: list[str], gold: list[str], right: bool) -> None:
    assert wtq_official(predicted, gold) is right
