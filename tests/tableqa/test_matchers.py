"""What is written without a regular expression gives what the published regular expression gives."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tableqa.matchers import _without_details, _without_notes

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
