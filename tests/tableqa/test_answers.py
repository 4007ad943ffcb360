"""Answers as denotations: what is equal, and what a difference is called."""

from __future__ import annotations

import time
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.core.release_rules import under
from tableqa.data.answers import (
    Comparison,
    Difference,
    _compare_answers,
    _likely,
    _readings,
    _without_repeats,
    compare,
    normal_forms,
    texts_that_say,
)
from tests.tableqa.strategies import texts

EQUAL = Comparison(equal=True)
FORM = Comparison(equal=True, difference="form")
UNIT = Comparison(equal=True, difference="unit")
ROUNDING = Comparison(equal=True, difference="rounding")
ORDER = Comparison(equal=True, difference="order")
SIGN = Comparison(equal=False, difference="sign")
PARTIAL = Comparison(equal=False, difference="partial")
VALUE = Comparison(equal=False, difference="value")


def scale(factor: int) -> Comparison:
    return Comparison(equal=False, difference="scale", factor=factor)


# The table of what published matchers decide, and what should be decided: row by row.
PUBLISHED_CASES: list[tuple[list[str], list[str], Comparison]] = [
    (["3"], ["3.0"], EQUAL),
    (["1e3"], ["1000"], EQUAL),
    (["1,000"], ["1000"], FORM),
    (["$5,000"], ["5000"], UNIT),
    (["50%"], ["50"], UNIT),
    (["three"], ["3"], FORM),
    (["12 years"], ["12"], UNIT),
    (["April 7, 1991"], ["1991-04-07"], FORM),
    (["1991"], ["April 7, 1991"], VALUE),
    (["Salt Lake City, Utah"], ["Salt Lake City", "Utah"], VALUE),
    (["A", "A"], ["A"], EQUAL),
    (["São Paulo"], ["Sao Paulo"], EQUAL),
    (["2–1"], ["2-1"], EQUAL),
    (["Ann (USA)"], ["Ann"], EQUAL),
    (['"Hey Jude"'], ["Hey Jude"], EQUAL),
    (["U.S."], ["u.s"], EQUAL),
    (["nan"], ["nan"], EQUAL),
    (["1_000"], ["1000"], VALUE),
    (["infinity"], ["inf"], VALUE),
    (["C++"], ["C"], VALUE),
    (["F#"], ["F"], VALUE),
    (["[1]"], [""], VALUE),
    (["[1]"], [], VALUE),
    (["0.333333"], ["0.3333"], ROUNDING),
    (["5:04"], ["05:04"], FORM),
    (["½"], ["1/2"], FORM),
    (["USA"], ["United States"], FORM),
]

SAME: list[tuple[str, str, Difference | None]] = [
    ("", "", None),
    ("yes", "Yes.", None),
    ("none", "None", None),
    ("2.9999999", "3", None),
    ("+5", "5", None),
    ("-0", "0", None),
    ("007", "7", None),
    ("１２", "12", None),
    ("١٢", "12", None),
    ("−5", "-5", None),
    ("Ⅳ", "IV", None),
    ("m²", "m2", None),
    ("Tom*", "Tom", None),
    ("Tom †", "Tom", None),
    ("Tom[3][note 1]", "Tom", None),
    ("Ann\u00a0Lee", "Ann Lee", None),
    ("Ann\u200b", "Ann", None),
    ("Ann  Lee\n", "Ann Lee", None),
    ("“Hey Jude”", '"Hey Jude"', None),
    ("«Hey Jude»", "Hey Jude", None),
    ("O’Brien", "O'Brien", None),
    ("Ann (USA) (captain)", "Ann", None),
    ("844 (49.8%)", "844", None),
    ("e\u0301te\u0301", "été", None),
    ("İzmir", "izmir", None),
    ("שָׁלוֹם", "שלום", None),
    ("نَصّ", "نص", None),
    ("$5,000", "$5000.00", "form"),
    ("$5,000", "5,000 USD", "form"),
    ("US$5", "$5", "form"),
    ("€5", "5 euros", "form"),
    ("50 %", "50%", "form"),
    ("50 percent", "50%", "form"),
    ("(9.9)", "-9.9", "form"),
    ("$(9.9)", "-$9.9", "form"),
    ("(9.9)%", "-9.9 %", "form"),
    ("(190) bps", "-190 bps", "form"),
    ("(190) basis points", "(190)bps", "form"),
    ("$(5) million", "-$5 million", "form"),
    ("(5) million euros", "-€5,000,000", "form"),
    ("(9.9) percent", "-9.9%", "form"),
    ("1 000 000", "1,000,000", "form"),
    ("1\u202f000", "1000", "form"),
    ("12,34,567", "1234567", "form"),
    ("3 million", "3,000,000", "form"),
    ("$3.5 million", "$3,500,000", "form"),
    ("$5m", "$5 million", "form"),
    ("twenty-one", "21", "form"),
    ("one hundred and five", "105", "form"),
    ("12 yrs", "12 years", "form"),
    ("5 km²", "5 square kilometres", "form"),
    ("2½", "2 1/2", "form"),
    ("½", "0.5", "form"),
    ("first", "1st", "form"),
    ("#5", "5", "unit"),
    ("No. 5", "#5", "form"),
    ("12 games", "12", "unit"),
    ("three goals", "3", "unit"),
    ("7 April 1991", "April 7th, 1991", "form"),
    ("Sunday, April 7, 1991", "7 Apr 1991", "form"),
    ("31-Oct", "October 31", "form"),
    ("1991-04-07 00:00:00", "April 7, 1991", "form"),
    ("07/04/1991", "7/4/1991", "form"),
    ("07/04/1991", "April 7, 1991", "form"),
    ("25/12/1991", "12/25/1991", "form"),
    ("Sept. 5", "5 September", "form"),
    ("April 1991", "Apr, 1991", "form"),
    ("5:04 pm", "17:04", "form"),
    ("5:04.0", "5:04", "form"),
    ("Łódź", "Lodz", "form"),
    ("Weiß", "Weiss", "form"),
    ("U.K.", "United Kingdom", "form"),
    ("The Beatles", "Beatles", "form"),
    ("Kim Yu-na", "Kim Yu Na", "form"),
    ("2 - 1", "2-1", "form"),
    ("Rhythm & Blues", "Rhythm and Blues", "form"),
    ("St. Louis", "St Louis", "form"),
    ("Salt Lake City,Utah", "Salt Lake City, Utah", "form"),
    ("33.33", "33.3", "rounding"),
    ("0.1667", "0.17", "rounding"),
    ("12.345", "12.35", "rounding"),
    ("12.345", "12.34", "rounding"),
    ("0.666667", "0.6666", "rounding"),
    ("33.33%", "33.3", "rounding"),
    ("-0.1667", "-0.17", "rounding"),
]

DIFFERENT: list[tuple[str, str, Comparison]] = [
    ("9.9", "-9.9", SIGN),
    ("(9.9)", "9.9", SIGN),
    ("-16.67%", "16.7", SIGN),
    ("0.5", "50%", scale(100)),
    ("0.1667", "16.67", scale(100)),
    ("0.4523", "45.2", scale(100)),
    ("5", "5000", scale(1000)),
    ("3 million", "3", scale(1_000_000)),
    ("$1.5 billion", "$1.5", scale(10**9)),
    ("-0.5", "50", VALUE),
    ("30", "300", VALUE),
    ("41.23", "41.25", VALUE),
    ("12", "12.4", VALUE),
    ("12.4", "12", VALUE),
    ("1235", "1234.6", VALUE),
    ("0.3", "0.333", VALUE),
    ("0.0000002", "0.0000001", VALUE),
    ("1000001", "1000000", VALUE),
    ("5 km", "5 miles", VALUE),
    ("5 wins", "5 losses", VALUE),
    ("$5", "€5", VALUE),
    ("$5", "5%", VALUE),
    ("10", "10th", VALUE),
    ("10²", "102", VALUE),
    ("12", "12 Angry Men", VALUE),
    ("1996–97", "1996", VALUE),
    ("1/2", "2/4", VALUE),
    ("3/2", "1.5", VALUE),
    ("5:04", "5.04", VALUE),
    ("5:04", "5:04:00", VALUE),
    ("5:04 am", "5:04 pm", VALUE),
    ("April 1991", "April 7, 1991", VALUE),
    ("April 7", "April 7, 1991", VALUE),
    ("April 7, 1991", "April 8, 1991", VALUE),
    ("07/04/1991", "04/07/1991", VALUE),
    ("7", "April 7", VALUE),
    ("Ann (USA)", "Ann (Canada)", VALUE),
    ("Ann", "Anne", VALUE),
    ("A+", "A", VALUE),
    ("*", "", VALUE),
    ("(USA)", "", VALUE),
    ("NaN", "0", VALUE),
    ("inf", "1e999", VALUE),
    ("คน", "คัน", VALUE),
    ("か", "が", VALUE),
    ("कि", "कु", VALUE),
    ("Lehmann, John", "John Lehmann", VALUE),
    ("Georgia", "Georgia Tech", VALUE),
    ("", "0", VALUE),
]


@pytest.mark.parametrize(("predicted", "gold", "expected"), PUBLISHED_CASES)
def test_the_table_of_published_matchers(predicted: list[str], gold: list[str], expected: Comparison) -> None:
    assert compare(predicted, gold) == expected
    assert compare(gold, predicted) == expected


@pytest.mark.parametrize(("one", "other", "difference"), SAME)
def test_the_same_answer(one: str, other: str, difference: Difference | None) -> None:
    assert compare([one], [other]) == Comparison(equal=True, difference=difference)
    assert compare([other], [one], ordered=True) == Comparison(equal=True, difference=difference)


@pytest.mark.parametrize(("one", "other", "expected"), DIFFERENT)
def test_another_answer(one: str, other: str, expected: Comparison) -> None:
    assert compare([one], [other]) == expected
    assert compare([other], [one], ordered=True) == expected


# Several answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        ([], [], EQUAL),
        ([], ["a"], VALUE),
        (["a", "b"], ["a", "b"], EQUAL),
        (["a", "b"], ["b", "a"], ORDER),
        (["a", "b", "a"], ["a", "b"], EQUAL),
        (["3", "3.0"], ["3"], EQUAL),
        (["a"], ["a", "b"], PARTIAL),
        (["a", "b"], ["a"], PARTIAL),
        (["a", "b"], ["b", "c"], PARTIAL),
        (["a", "b"], ["c", "d"], VALUE),
        (["three", "b"], ["B", "3"], FORM),
        (["$5", "three"], ["3", "5"], UNIT),
        (["33.33", "$5"], ["5", "33.3"], ROUNDING),
        (["-1", "-2"], ["2", "1"], SIGN),
        (["-1", "2"], ["1", "2"], SIGN),
        (["0.1", "0.2"], ["20", "10"], scale(100)),
        (["100", "2000"], ["1", "2"], VALUE),
        (["-1", "300"], ["1", "3"], VALUE),
        (["Ann", "Ann (USA)"], ["Ann (USA)", "Ann (Canada)"], ORDER),
        (["Ann (USA)", "Ann (Canada)"], ["Ann"], PARTIAL),
        (["Ann", "Bob"], ["Bob (captain)", "Ann (USA)"], ORDER),
    ],
)
def test_answers_are_sets(predicted: list[str], gold: list[str], expected: Comparison) -> None:
    assert compare(predicted, gold) == expected
    assert compare(gold, predicted) == expected


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        ([], [], EQUAL),
        (["a", "b"], ["a", "b"], EQUAL),
        (["A", "three"], ["a", "3"], FORM),
        (["a", "b"], ["b", "a"], PARTIAL),
        (["a", "a"], ["a"], PARTIAL),
        (["a", "b"], ["a", "c"], PARTIAL),
        (["a", "b"], ["c", "d"], VALUE),
        (["1", "2"], ["-1", "2"], SIGN),
        (["1", "2"], ["100", "200"], scale(100)),
        (["1", "2"], ["100", "2000"], VALUE),
        (["1"], [], VALUE),
    ],
)
def test_where_order_counts(predicted: list[str], gold: list[str], expected: Comparison) -> None:
    assert compare(predicted, gold, ordered=True) == expected
    assert compare(gold, predicted, ordered=True) == expected


def test_a_plain_string_is_one_answer() -> None:
    assert compare("three", ["3"]) == FORM
    assert compare("ab", "ba") == VALUE


def test_what_is_no_string_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="an answer is a string, not 3"):
        compare([3], ["3"])  # type: ignore[list-item]


answers = texts | st.sampled_from(
    [
        "3",
        "-3",
        "300",
        "three",
        "$3",
        "3%",
        "1/3",
        "0.333",
        "1991-04-07",
        "07/04/1991",
        "5:04",
        "Ann (USA)",
        "1e999",
        "²",
    ]
)


@given(st.lists(answers | st.text(), max_size=4), st.lists(answers | st.text(), max_size=4), st.booleans())
def test_any_strings_can_be_compared_and_neither_side_is_privileged(
    some: list[str], others: list[str], ordered: bool
) -> None:
    comparison = compare(some, others, ordered)
    assert comparison == compare(others, some, ordered)
    if comparison.equal:
        assert comparison.difference in (None, "form", "unit", "rounding", "order")
    else:
        assert comparison.difference in ("sign", "scale", "partial", "value")
    assert (comparison.factor is not None) == (comparison.difference == "scale")


@given(st.lists(answers | st.text(), max_size=5))
def test_an_answer_is_itself(some: list[str]) -> None:
    assert compare(some, some) == EQUAL
    assert compare(some, some, ordered=True) == EQUAL
    assert compare(some, some[::-1]).equal


@given(answers | st.text(), answers | st.text())
def test_one_answer_is_compared_alike_alone_and_in_order(one: str, other: str) -> None:
    assert compare([one], [other]) == compare([one], [other], ordered=True)


@given(st.decimals(-(10**9), 10**9, places=3))
def test_a_number_is_itself_in_every_way_of_writing_it(number) -> None:
    assert compare([f"{number:,}"], [str(number)]).equal
    assert compare([f"{number:e}"], [str(number)]).equal
    accounting = f"({abs(number):,})" if number < 0 else f"{number:,}"
    assert compare([accounting], [str(number)]).equal
    assert compare([f"{number} %"], [str(number)]).equal


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "]" * 50_000, "[1]*" * 20_000, "(" * 50_000, " (a)" * 20_000, '"' * 50_000]
)
def test_long_texts_do_not_take_long(text: str) -> None:
    start = time.perf_counter()
    compare([text], [text + "a"])
    compare(["1," * 30_000, "9" * 50_000], ["1" + " 000" * 20_000, "x" * 1_000_000])
    assert time.perf_counter() - start < 5


NAMES = [f"Name {chr(65 + i // 26)}{chr(65 + i % 26)}" for i in range(200)]


@pytest.mark.parametrize("size", [40, 60, 200])
@pytest.mark.parametrize(
    ("written", "otherwise", "expected"),
    [
        (NAMES, [f"{name} (USA)" for name in NAMES], EQUAL),
        ([f"{i} km" for i in range(200)], [str(i) for i in range(200)], Comparison(True, "unit")),
        ([f"0.{i:03}" for i in range(200)], [f"0.{i:03} km" for i in range(200)], Comparison(True, "unit")),
        ([f"{i}.25" for i in range(200)], [f"{i}.249" for i in range(200)], Comparison(True, "rounding")),
        (
            [f"{1 + i % 28} May {1900 + i}" for i in range(200)],
            [f"{1900 + i}-05-{1 + i % 28:02}" for i in range(200)],
            Comparison(True, "form"),
        ),
        ([f"{i}:04" for i in range(200)], [f"{i}:04 min" for i in range(200)], None),
        (
            [f"Rock-n-roll {i}a" for i in range(200)],
            [f"the rock n roll {i}a" for i in range(200)],
            Comparison(True, "form"),
        ),
        ([f"{i + 1}" for i in range(200)], [f"-{i + 1}" for i in range(200)], Comparison(False, "sign")),
        (
            [f"{i + 1}" for i in range(200)],
            [f"{i + 1}000" for i in range(200)],
            Comparison(False, "scale", 1000),
        ),
        (
            [*NAMES[:20], *(f"x{i}" for i in range(180))],
            [f"{name} (USA)" for name in NAMES],
            Comparison(False, "partial"),
        ),
    ],
)
def test_lists_of_any_length_are_compared_by_the_same_rule(
    size: int, written: list[str], otherwise: list[str], expected: Comparison | None
) -> None:
    short = compare(written[:40], otherwise[:40])
    assert short == (expected or short)
    assert compare(written[:size], otherwise[:size][::-1]) in (short, compare(["1", "2"], ["2", "1"]))
    if size > 50 and short.equal:
        with under(7):
            assert not compare(written[:size], otherwise[:size]).equal


@given(st.lists(answers | st.text(), max_size=6), st.lists(answers | st.text(), max_size=6))
def test_pairs_that_are_not_compared_are_of_different_answers(some: list[str], others: list[str]) -> None:
    expected = compare(some, others)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tableqa.data.answers._MOST_PAIRS", 0)
        assert compare(some, others).equal == expected.equal


@given(
    st.lists(st.decimals(-20, 20, places=2).map(str) | st.decimals(-2, 2, places=7).map(str), max_size=8),
    st.data(),
)
def test_numbers_that_are_near_are_among_those_compared(numbers: list[str], data: st.DataObject) -> None:
    moved = [
        f"{Decimal(number) + Decimal(data.draw(st.sampled_from(['0', '1e-7', '-1e-6', '0.004', '-0.001'])))}"
        for number in numbers
    ]
    some = _without_repeats(_readings(numbers))
    others = _without_repeats(_readings(moved))
    places = range(len(some)), range(len(others))
    likely = _likely(some, others, *places)
    for i, j in product(*places):
        assert j in likely[i] or not _compare_answers(some[i], others[j]).equal


def test_long_lists_do_not_take_long() -> None:
    start = time.process_time()
    some = [f"{i} years" for i in range(2_000)]
    assert compare(some, some[::-1]) == ORDER
    assert not compare(some, [f"{i}.5" for i in range(2_000)]).equal
    assert compare(some, [str(i) for i in range(1_999, -1, -1)]) == Comparison(True, "unit")
    assert not compare([f"a ({i})" for i in range(2_000)], [f"a [x] ({-i})" for i in range(2_000)]).equal
    assert compare(
        [f"{i / 10**6:f}" for i in range(2_000)], [f"{i / 10**6:f} km" for i in range(2_000)]
    ).equal
    assert time.process_time() - start < 40


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("Ann", ("ann",)),
        ("  São Paulo[3] ", ("sao paulo",)),
        ("Ann (USA)", ("ann (usa)", "ann")),
        ("$5,000", ("$5,000", "5000 $")),
        ("(9.9)", ("(9.9)", "-9.9")),
        ("three", ("three", "3")),
        ("-0", ("-0", "0")),
        ("1e400", ("1e400", "1E+400")),
        ("07/04/1991", ("07/04/1991", "1991-04-07", "1991-07-04")),
        ("April 7", ("april 7", "xxxx-04-07")),
        ("USA", ("usa", "united states")),
        ("", ("",)),
    ],
)
def test_the_forms_by_which_an_answer_is_known(text: str, forms: tuple[str, ...]) -> None:
    assert normal_forms(text) == forms


@given(
    text=st.sampled_from(("1,000", "1000", "-3", "3.0", "50%", "USA", "1991", "April 7, 1991", "½", ""))
    | st.text(max_size=8),
    answer=st.sampled_from(("1000", "3", "half", "United States", "1991-04-07", "1/2")) | st.text(max_size=8),
)
def test_saying_one_answer_is_being_equal_to_it(text: str, answer: str) -> None:
    assert texts_that_say([text], [answer]) == ({text} if compare([text], [answer]).equal else set())
    assert texts_that_say([text, answer], [answer, text]) == {text, answer}
    assert texts_that_say([text], []) == set()


def test_brackets_before_a_unit_meant_nothing_by_rules_before_10() -> None:
    assert compare(["(190) bps"], ["-190 bps"]) == FORM
    with under(9):
        assert compare(["(190) bps"], ["-190 bps"]) == VALUE
        assert compare(["(9.9)%"], ["-9.9 %"]) == FORM
    assert compare(["(190) bps"], ["-190 bps"]) == FORM
    assert not compare(["(5) goals"], ["-5 goals"]).equal
    assert not compare(["(190) bps"], ["190 bps"]).equal
