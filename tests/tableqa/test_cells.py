"""What a cell means: numbers, dates and times as views, nothing guessed."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.cells import (
    Date,
    Number,
    Time,
    dates_of,
    fold,
    fold_all,
    number_of,
    time_of,
    view,
    without_details,
    without_notes,
)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("3", "3", ""),
        ("-3.50", "-3.50", ""),
        (".5", "0.5", ""),
        ("5.", "5", ""),
        ("1e3", "1000", ""),
        ("1.5E-3", "0.0015", ""),
        ("1,234,567.8", "1234567.8", ""),
        ("1'234", "1234", ""),
        ("1.234.567", "1234567", ""),
        ("(9.9)", "-9.9", ""),
        ("$ (1,234)", "-1234", "$"),
        ("-$5.20", "-5.20", "$"),
        ("$-5.20", "-5.20", "$"),
        ("€5", "5", "EUR"),
        ("5 €", "5", "EUR"),
        ("Rs. 500", "500", "INR"),
        ("CHF 5", "5", "CHF"),
        ("USD 5", "5", "$"),
        ("A$5", "5", "AUD"),
        ("$41.0 ", "41.0", "$"),
        ("12 %", "12", "%"),
        ("12 percentage points", "12", "pp"),
        ("3.5 million", "3500000", ""),
        ("$5bn", "5000000000", "$"),
        ("5 m", "5", "m"),
        ("5 km/h", "5", "km/h"),
        ("5 sq mi", "5", "mile2"),
        ("37 °C", "37", "°C"),
        ("12 years old", "12", "year"),
        ("12 children", "12", "child"),
        ("12 episodes", "12", "episode"),
        ("#4", "4", "no."),
        ("12[3]", "12", ""),
        ("12*", "12", ""),
        ("zero", "0", ""),
        ("ninety-nine", "99", ""),
        ("a thousand", "1000", ""),
        ("two million three hundred thousand and five", "2300005", ""),
        ("minus four", "-4", ""),
        ("three years", "3", "year"),
    ],
)
def test_what_is_a_number(text: str, value: str, unit: str) -> None:
    number = number_of(text)
    assert number is not None
    assert (number.value, number.unit) == (Decimal(value), unit)


NO_NUMBERS = """
- | $ | % | km | . | abc | 1_000 | inf | Infinity | nan | 10th | 1st | 1996-97 | 2-1 | 5:04 | 1,23 | 1,2345 | 1,234,56
12 Angry Men | 747 Max | 7 up | (1991) | (-5) | ((5)) | -(5)x | 10² | x² | one two | twenty twenty | hundred | and
five hundred thousand million | one hundred and | 1/0 | 3/2 | 0x10 | 1e | e5 | --5 | +-5 | 5- | 1.2.3 | 5 6 | 五 | 1990s
c. 1990 | ~5 | 5+ | 5 W | C4 | A$ | No. | #
"""


@pytest.mark.parametrize("text", ["", " ", "9" * 100, *re.split(r" \| |\n", NO_NUMBERS.strip())])
def test_what_is_no_number(text: str) -> None:
    assert number_of(text) is None


def test_a_number_knows_how_precisely_it_is_written() -> None:
    assert number_of("0.050") == Number(Decimal("0.050"), decimals=3, digits=2, plain=True)
    assert number_of("1,200") == Number(Decimal(1200), digits=4)
    assert number_of("2½") == Number(Decimal("2.5"), fraction=(2, 1, 2))


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("April 7, 1991", [Date(1991, 4, 7)]),
        ("the 7th of April, 1991", [Date(1991, 4, 7)]),
        ("7-Apr-1991", [Date(1991, 4, 7)]),
        ("Sun, April 7 , 1991", [Date(1991, 4, 7)]),
        ("1991 April 7", [Date(1991, 4, 7)]),
        ("1991/4/7", [Date(1991, 4, 7)]),
        ("1991-04-07T00:00:00Z", [Date(1991, 4, 7)]),
        ("7.4.1991", [Date(1991, 4, 7)]),
        ("7/4/1991", [Date(1991, 4, 7), Date(1991, 7, 4)]),
        ("4/4/1991", [Date(1991, 4, 4)]),
        ("13/4/1991", [Date(1991, 4, 13)]),
        ("xxxx-04-07", [Date(None, 4, 7)]),
        ("1991-04-xx", [Date(1991, 4, None)]),
        ("April 1991", [Date(1991, 4, None)]),
        ("31-Oct", [Date(None, 10, 31)]),
        ("29 February", [Date(None, 2, 29)]),
        ("Sept.", [Date(None, 9, None)]),
        ("April 7[2]", [Date(None, 4, 7)]),
        ("February 29, 1991", []),
        ("April 31", []),
        ("0000-01-01", []),
        ("1991-13-01", []),
        ("7/4/91", []),
        ("1991", []),
        ("xxxx-xx-xx", []),
        ("Oct-91", []),
        ("April 7, 1991 and May 8, 1992", []),
        ("April " * 30, []),
        ("marching", []),
    ],
)
def test_what_is_a_date(text: str, dates: list[Date]) -> None:
    assert list(dates_of(text)) == dates


def test_a_date_says_how_precise_it_is() -> None:
    assert (Date(1991, 4, 7).precision, str(Date(1991, 4, 7))) == ("day", "1991-04-07")
    assert (Date(1991, 4).precision, str(Date(1991, 4))) == ("month", "1991-04-xx")
    assert (Date(None, 4, 7).precision, str(Date(None, 4, 7))) == ("day of a year", "xxxx-04-07")
    assert (Date(None, 4).precision, str(Date(None, 4))) == ("month of a year", "xxxx-04-xx")


@given(st.dates())
def test_a_date_is_found_in_every_way_of_writing_it(date) -> None:
    expected = Date(date.year, date.month, date.day)
    month = date.strftime("%B")
    assert dates_of(f"{date.year:04}-{date.month:02}-{date.day:02}") == (expected,)
    assert dates_of(f"{month} {date.day}, {date.year:04}") == (expected,)
    assert dates_of(f"{date.day} {month[:3]} {date.year:04}") == (expected,)
    assert expected in dates_of(f"{date.day}/{date.month}/{date.year:04}")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("5:04", Time((5, 4))),
        ("05:04", Time((5, 4))),
        ("1:05:04.25", Time((1, 5, 4), Decimal("0.25"))),
        ("12:30 am", Time((0, 30))),
        ("12:30 p.m.", Time((12, 30))),
        ("13:30 pm", None),
        ("5:99", None),
        ("5:4", None),
        ("5", None),
        ("", None),
    ],
)
def test_what_is_a_time(text: str, time: Time | None) -> None:
    assert time_of(text) == time


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \u00a0", "empty"),
        ("1,234", "number"),
        ("1991", "number"),
        ("May 5", "date"),
        ("5:04", "time"),
        ("x", "text"),
    ],
)
def test_a_cell_is_viewed(text: str, kind: str) -> None:
    assert view(text).kind == kind


@given(st.text())
def test_any_text_can_be_viewed(text: str) -> None:
    view(text)
    assert fold(fold(text)) == fold(text) or not text.isascii()


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("São\u00a0Paulo", "Sao Paulo"),
        ("ﬁne", "fine"),
        ("a\u00adb", "ab"),
        ("x²", "x2"),
        ("3²", "3^2"),
        ("3½", "3 1⁄2"),
        ("½", "1⁄2"),
        ("Ａ－１", "A-1"),
        ("が", "が"),
        ("कि", "कि"),
        ("\ufeffa", "a"),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.lists(st.text(st.sampled_from("aB `'\0\n\x1fé–\u00a0"), max_size=4), max_size=5))
def test_texts_folded_together_are_as_folded_alone(texts: list[str]) -> None:
    assert fold_all(texts) == [fold(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("a[1]", "a"),
        ("a [1] * †", "a"),
        ("[1]", "[1]"),
        ("*", "*"),
        ("a]", "a]"),
        ("a[", "a["),
        ("a+", "a+"),
        ("", ""),
    ],
)
def test_notes_are_taken_off(text: str, bare: str) -> None:
    assert without_notes(text) == bare


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("a (b)", "a"),
        ("a (b) (c)", "a"),
        ("a(b)", "a(b)"),
        ("(9.9)", "(9.9)"),
        ("a (b) c", "a (b) c"),
        ("a (b(c))", "a (b(c))"),
    ],
)
def test_details_are_taken_off(text: str, bare: str) -> None:
    assert without_details(text) == bare
