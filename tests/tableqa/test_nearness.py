"""Forms of one answer fool nobody; ordinary other answers still do."""

from __future__ import annotations

from calendar import month_name
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tableqa.data.answers import compare
from tableqa.scoring.equivalent_forms import same_in_another_form
from tableqa.scoring.verdicts import judge, verdict
from tests.tableqa.strategies import texts

RIGHT = judge(["Heat"], ["Heat"])

FORMS = [
    ("1.5 km", "1500 m"), ("1 hour", "60 minutes"), ("90 min", "1:30"), ("1h 30min", "90 minutes"),
    ("1 hour and 30 minutes", "90 min"), ("1:30:00", "90:00"), ("20 seconds", "0:20"), ("1:05.2", "65.2 s"),
    ("1 year", "12 months"), ("2 weeks", "14 days"), ("5 lb", "80 oz"), ("5 kg", "5000 g"), ("5 ft 10 in", "70 in"),
    ("10 miles", "16.09 km"), ("2 dozen", "24"), ("1 decade", "10 years"), ("2.5 MW", "2500 kW"),
    ("1991-04", "April 1991"), ("04/1991", "April 1991"), ("1991-04", "4/1991"),
    ("2010-11", "2010–2011"), ("2010/11", "2010-11"), ("1999-00", "1999-2000"),
    ("first", "1"), ("2nd", "2"), ("first", "one"), ("twice", "2"), ("once", "one"), ("2 times", "twice"),
    ("50 percent", "0.5"), ("5 %", "0.05"), ("half", "50%"), ("half", "0.5"), ("yes", "true"),
    ("J. Smith", "John Smith"), ("J.R. Smith", "John Robert Smith"), ("Smith, John", "John Smith"),
    ("at Dallas Cowboys", "Dallas Cowboys"), ("vs. Oslo", "Oslo"), ("@ Jets", "Jets"), ("@Jets", "vs Jets"),
]  # fmt: skip

OTHERS = [
    ("1.5 km", "1501 m"), ("1 hour", "61 minutes"), ("90 min", "1:31"), ("1 hour", "1 day"), ("5 lb", "81 oz"),
    ("10 miles", "17 km"), ("12 years", "12 months"), ("1 month", "30 days"), ("5 kg", "5 km"), ("5 dozen", "5"),
    ("1991-04", "May 1991"), ("1991", "April 1991"), ("1991-04", "April 1992"), ("1991-13", "April 1991"),
    ("2010-11", "2011-12"), ("2010", "2010-11"), ("1990s", "1990"), ("first", "2"), ("3rd", "3 km"), ("twice", "3"),
    ("50", "0.5"), ("50%", "5%"), ("1500", "1.5 km"), ("1:05", "65"), ("5:04", "5:40"), ("8:15", "20:15"),
    ("yes", "no"), ("Smith", "John Smith"), ("York", "New York"), ("Guinea", "Papua New Guinea"),
    ("J. Smith", "K. Smith"), ("J. Smith", "John Smythe"), ("John Smith", "Jane Smith"), ("Paris, France", "Paris"),
    ("-5", "5"), ("€5", "$5"), ("12 %", "12 ‰"),
    ("at Dallas Cowboys", "Cowboys"), ("Atlanta", "lanta"), ("Vsevolod", "evolod"), ("at Oslo", "at Bergen"),
]  # fmt: skip


def verdict_on(said: str, gold: str) -> str:
    return verdict(RIGHT, judge([said], [gold]))


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_another_form_of_the_answer_fools_nobody_and_both_forms_are_shown(one: str, other: str) -> None:
    for said, gold in ((one, other), (other, one)):
        found = judge([said], [gold])
        assert verdict(RIGHT, found) == "unsure"
        assert found.forms is not None
        assert len(set(found.forms)) == 2
    assert judge([one, "Heat"], ["Heat", other]).near


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_another_answer_still_fools(one: str, other: str) -> None:
    assert verdict_on(one, other) == verdict_on(other, one) == "fooled"


numbers = st.decimals(-10_000, 10_000, places=1).map(lambda one: f"{one.normalize():f}")
words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)


@given(st.integers(-100_000, 100_000), st.integers(-100_000, 100_000))
def test_other_whole_numbers_fool(one: int, other: int) -> None:
    assume(one != other)
    assert verdict_on(str(one), str(other)) == "fooled"


@given(
    st.integers(1, 5_000),
    st.integers(1, 5_000),
    st.sampled_from(["km", "years", "kg", "minutes", "%", "points"]),
)
def test_other_amounts_in_one_unit_fool(one: int, other: int, unit: str) -> None:
    assume(one != other)
    assert verdict_on(f"{one} {unit}", f"{other} {unit}") == "fooled"


@given(
    st.integers(1, 500),
    st.integers(1, 500_000),
    st.sampled_from(
        [("km", "m", 1_000), ("hours", "minutes", 60), ("years", "months", 12), ("kg", "g", 1_000)]
    ),
)
def test_two_units_agree_exactly_where_the_amounts_do(
    large: int, small: int, units: tuple[str, str, int]
) -> None:
    big, little, factor = units
    found = verdict_on(f"{large} {big}", f"{small} {little}")
    assert found == ("unsure" if large * factor == small else "fooled")
    assert verdict_on(f"{large} {big}", f"{large * factor} {little}") == "unsure"


@given(st.integers(1900, 2030), st.integers(1, 12), st.integers(1900, 2030), st.integers(1, 12))
def test_two_months_agree_exactly_where_they_are_one(y: int, m: int, year: int, month: int) -> None:
    found = verdict_on(f"{y}-{m:02}", f"{month_name[month]} {year}")
    assert found == ("unsure" if (y, m) == (year, month) else "fooled")


@given(
    st.lists(words, min_size=1, max_size=3, unique=True), st.lists(words, min_size=1, max_size=3, unique=True)
)
def test_other_words_fool(one: list[str], other: list[str]) -> None:
    said, gold = " ".join(one), " ".join(other)
    assume(not compare([said], [gold]).equal)
    assume(not {said, gold} & {"yes", "no", "true", "false", "once", "twice", "thrice", "half", "quarter"})
    assume("dozen" not in said + gold)
    assert verdict_on(said, gold) == "fooled"


@given(st.lists(st.one_of(texts, numbers), max_size=5), st.lists(st.one_of(texts, numbers), max_size=5))
def test_which_side_is_which_changes_nothing_and_nothing_raises(one: list[str], other: list[str]) -> None:
    assert same_in_another_form(one, other) == same_in_another_form(other, one)
    assert not one or same_in_another_form(one, one)


@given(st.integers(1, 9_999), st.integers(1, 4))
def test_a_measured_value_may_be_rounded_and_a_counted_one_may_not(metres: int, decimals: int) -> None:
    exact = Decimal(metres) * Decimal("1.609344")
    rounded = round(exact, decimals)
    assume(len(str(rounded).replace(".", "").lstrip("0")) >= 3)
    assert verdict_on(f"{metres} miles", f"{rounded} km") == "unsure"
    assert verdict_on(f"{metres} miles", f"{rounded + 1} km") == "fooled"
