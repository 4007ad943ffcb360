"""Verdicts: fooled only where a right answer became wrong, and never by a difference of form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.data.answers import compare
from tableqa.scoring import matchers
from tableqa.scoring.verdicts import VERDICTS, WORDS, judge, verdict
from tests.tableqa.strategies import texts

RIGHT, WRONG = judge(["Heat"], ["Heat"]), judge(["Alien"], ["Heat"])

CASES: list[tuple[list[str], list[str], bool, bool, str]] = [
    # predicted, gold, WikiTableQuestions' rule, TAPEX's rule, the verdict where the original was right
    (["3"], ["3.0"], True, True, "not_fooled"),
    (["1e3"], ["1000"], True, True, "not_fooled"),
    (["1,000"], ["1000"], False, False, "not_fooled"),
    (["$5,000"], ["5000"], False, False, "unsure"),
    (["50%"], ["50"], False, False, "unsure"),
    (["three"], ["3"], False, False, "not_fooled"),
    (["12 years"], ["12"], False, False, "unsure"),
    (["April 7, 1991"], ["1991-04-07"], False, False, "not_fooled"),
    (["1991"], ["April 7, 1991"], False, False, "fooled"),
    (["1991"], ["1991-04-07"], False, False, "fooled"),
    (["April 1991"], ["1991-04-07"], False, False, "fooled"),
    (["Salt Lake City, Utah"], ["Salt Lake City", "Utah"], False, True, "fooled"),
    (["A", "A"], ["A"], True, False, "not_fooled"),
    (["São Paulo"], ["Sao Paulo"], True, False, "not_fooled"),
    (["2–1"], ["2-1"], True, False, "not_fooled"),
    (["Ann (USA)"], ["Ann"], True, False, "not_fooled"),
    (['"Hey Jude"'], ["Hey Jude"], True, False, "not_fooled"),
    (["U.S."], ["u.s"], True, False, "not_fooled"),
    (["nan"], ["nan"], True, False, "not_fooled"),
    (["1_000"], ["1000"], False, True, "fooled"),
    (["infinity"], ["inf"], False, True, "fooled"),
    (["C++"], ["C"], True, False, "fooled"),
    (["F#"], ["F"], True, False, "fooled"),
    (["[1]"], [""], True, False, "fooled"),
    (["0.333333"], ["0.3333"], False, False, "unsure"),
    (["5:04"], ["05:04"], False, False, "not_fooled"),
    (["½"], ["1/2"], False, False, "not_fooled"),
    (["USA"], ["United States"], False, False, "unsure"),
    (["12 years"], ["12 months"], False, False, "fooled"),
    (["€5,000"], ["$5,000"], False, False, "fooled"),
    (["UK"], ["United Kingdom"], False, False, "unsure"),
    (["Heat"], ["Heat", "Alien"], False, False, "unsure"),
    (["Heat", "Alien", "Jaws"], ["Heat", "Alien"], False, False, "unsure"),
    (["-5"], ["5"], False, False, "fooled"),
    ([], ["5"], False, False, "fooled"),
    (["5.0%"], ["0.05"], False, False, "unsure"),
    (["0.5"], ["50 %"], False, False, "unsure"),
    (["50"], ["0.5"], False, False, "fooled"),
    (["50%"], ["5%"], False, False, "fooled"),
    (["2nd"], ["2"], False, False, "unsure"),
    (["3RD"], ["3"], False, False, "unsure"),
    (["2nd"], ["3"], False, False, "fooled"),
]


@pytest.mark.parametrize(("predicted", "gold", "wtq", "tapex", "expected"), CASES)
def test_the_published_cases_come_out_as_they_should(
    predicted: list[str], gold: list[str], wtq: bool, tapex: bool, expected: str
) -> None:
    found = judge(predicted, gold)
    assert (found.wtq, found.tapex) == (wtq, tapex)
    assert verdict(RIGHT, found) == expected
    assert (found.forms is not None) == (expected == "unsure")


@pytest.mark.parametrize(("predicted", "gold", "wtq", "tapex", "expected"), CASES)
def test_which_of_two_answers_is_the_gold_one_changes_no_case(
    predicted: list[str], gold: list[str], wtq: bool, tapex: bool, expected: str
) -> None:
    there, back = judge(predicted, gold), judge(gold, predicted)
    assert verdict(RIGHT, back) == expected
    assert back.forms == (there.forms[::-1] if there.forms else None)
    assert (back.wtq, back.tapex) == (wtq, tapex)


def test_a_model_that_was_wrong_before_is_never_fooled_whatever_comes_after() -> None:
    for predicted, gold, *_ in CASES:
        assert verdict(WRONG, judge(predicted, gold)) == "wrong_on_original"


def test_an_answer_with_a_comma_is_tried_as_it_was_written() -> None:
    split = ["Salt Lake City", "Utah"]
    assert not judge(split, ["Salt Lake City, Utah"]).right
    assert judge(split, ["Salt Lake City, Utah"], "Salt Lake City, Utah").right


def test_a_model_that_was_wrong_before_is_not_fooled() -> None:
    assert verdict(WRONG, WRONG) == "wrong_on_original"
    assert verdict(WRONG, RIGHT) == "wrong_on_original"
    assert verdict(WRONG, None) == "wrong_on_original", "which is known before the second answer is"
    assert verdict(RIGHT, WRONG) == "fooled"
    assert verdict(RIGHT, RIGHT) == "not_fooled"


def test_a_gold_answer_that_the_program_contradicts_as_the_model_does_is_in_doubt() -> None:
    assert verdict(RIGHT, WRONG, perturbed_computed=RIGHT) == "gold_suspect"
    assert verdict(WRONG, RIGHT, original_computed=RIGHT) == "gold_suspect"
    assert verdict(RIGHT, WRONG, perturbed_computed=WRONG) == "fooled", "the program agrees with neither"
    assert verdict(RIGHT, RIGHT, perturbed_computed=WRONG) == "not_fooled"


def test_what_is_not_there_yet_is_open_and_what_cannot_be_read_is_said() -> None:
    assert verdict(None, None) == verdict(RIGHT, None) == verdict(None, WRONG) == "pending"
    assert verdict(None, None, failed=True) == "model_error"


def test_every_verdict_has_its_sentence() -> None:
    assert set(WORDS) == set(VERDICTS)


def test_both_sides_of_a_difference_of_form_are_shown() -> None:
    assert judge(["12 years"], ["12"]).forms == ("12 year", "12")
    assert judge(["USA"], ["United States"]).forms == ("usa", "united states")


@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
def test_any_answers_can_be_judged_and_never_fool_where_they_are_equal(
    predicted: list[str], gold: list[str]
) -> None:
    found = judge(predicted, gold)
    assert verdict(RIGHT, found) in VERDICTS
    if compare(predicted, gold).equal:
        assert verdict(RIGHT, found) != "fooled"
    assert matchers.wtq_official(gold, gold)
