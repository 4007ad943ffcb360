"""Query parameters as a selection: read, refused with a reason, and written again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.explorer.selection import STATES, BadSelection, Selection, params_of, parse, query, terms

pytestmark = pytest.mark.both


def test_parameters_become_a_selection() -> None:
    chosen = parse(
        {
            "q": [' torn  "first row" '],
            "state": ["accepted", "excluded"],
            "label": ["label:extraction"],
            "pair": ["label:extraction~reasoning"],
            "person": ["quiet-otter"],
            "differs": ["yes"],
            "gold": ["no"],
            "seconds_to": ["2.5"],
            "since": ["2026-11-24"],
            "submitted_before": ["2026-11-24T09:30:00.123456+01:00"],
            "sort": ["-answered"],
        }
    )

    assert chosen == Selection(
        q='torn  "first row"',
        states=("accepted", "excluded"),
        labels=(("label", "extraction"),),
        pairs=(("label", "extraction", "reasoning"),),
        people=("quiet-otter",),
        differs=True,
        gold=False,
        seconds_to=2.5,
        since=date(2026, 11, 24),
        submitted_before=datetime(2026, 11, 24, 8, 30, 0, 123456, UTC),
        sort="-answered",
    )


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"colour": ["red"]}, "There is no filter colour."),
        (
            {"state": ["lost"]},
            "state: lost is not one of open, complete, adjudication, accepted, excluded.",
        ),
        ({"differs": ["maybe"]}, "differs: maybe is not one of yes, no."),
        ({"differs": ["yes", "no"]}, "differs: give one value."),
        ({"label": ["extraction"]}, "label: write extraction as measure:label."),
        ({"pair": ["label:extraction"]}, "pair: write label:extraction as measure:label~label."),
        ({"seconds_to": ["fast"]}, "seconds_to: fast is not a number of seconds."),
        ({"seconds_to": ["-1"]}, "seconds_to: -1 is not a number of seconds."),
        ({"seconds_to": ["nan"]}, "seconds_to: nan is not a number of seconds."),
        ({"since": ["yesterday"]}, "since: yesterday is not a date. Write it as 2026-11-24."),
        (
            {"submitted_from": ["2026-11-24T09:30:00"]},
            "submitted_from: 2026-11-24T09:30:00 is not a time. Write it as 2026-11-24T09:30:00+01:00.",
        ),
        (
            {"until": ["9999-12-31"]},
            "until: 9999-12-31 is out of range. Use a date between the years 1900 and 9998.",
        ),
        (
            {"since": ["0001-01-01"]},
            "since: 0001-01-01 is out of range. Use a date between the years 1900 and 9998.",
        ),
        (
            {"submitted_from": ["0001-01-01T00:00:00+14:00"]},
            "submitted_from: 0001-01-01T00:00:00+14:00 is out of range. Use a date between the years 1900 and 9998.",
        ),
        (
            {"submitted_before": ["9999-12-31T23:59:59-12:00"]},
            "submitted_before: 9999-12-31T23:59:59-12:00 is out of range. Use a date between the years 1900 and 9998.",
        ),
        (
            {"since": ["2026-11-25"], "until": ["2026-11-24"]},
            "since: 2026-11-25 is after until, 2026-11-24. Swap the two dates.",
        ),
        (
            {"seconds_from": ["50"], "seconds_to": ["2.5"]},
            "seconds_from: 50 is more than seconds_to, 2.5. Swap the two numbers.",
        ),
        ({"q": ["a\0b"]}, "q: a value has a NUL character. Remove it."),
        ({"after": ["a"], "before": ["b"]}, "Give either after or before."),
    ],
)
def test_a_parameter_that_names_nothing_is_refused_by_name(
    params: dict[str, list[str]], sentence: str
) -> None:
    with pytest.raises(BadSelection) as refused:
        parse(params)

    assert refused.value.problems == (sentence,)


def test_the_ends_of_a_range_may_be_equal() -> None:
    day, number = ["2026-11-24"], ["2.5"]

    chosen = parse({"since": day, "until": day, "seconds_from": number, "seconds_to": number})

    assert (chosen.since, chosen.seconds_from) == (chosen.until, chosen.seconds_to)


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(BadSelection) as refused:
        parse({"colour": ["red"], "since": ["x"]})

    assert len(refused.value.problems) == 2


def test_words_and_phrases_are_searched_for() -> None:
    assert terms('Torn "First  row" torn x') == ["first  row", "torn", "x"]


names = st.text(st.characters(codec="utf-8", exclude_characters="\0:~"), min_size=1, max_size=8)
several = st.lists(names, max_size=3, unique=True).map(tuple)
yes_or_no = st.none() | st.booleans()
seconds = st.integers(0, 10_000).map(float)
days = st.dates(date(1900, 1, 1), date(9998, 12, 31))


@st.composite
def ranges(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> tuple[Any, Any]:
    """Two ends in order; each may be open."""
    low, high = sorted(draw(st.tuples(values, values)))
    return draw(st.sampled_from([(low, high), (low, None), (None, high), (None, None)]))


@given(
    st.builds(
        Selection,
        q=st.text("abc \"'&=%+ü", max_size=9).map(str.strip),
        task_types=several,
        batches=several,
        states=st.lists(st.sampled_from(list(STATES)), unique=True).map(tuple),
        labels=st.lists(st.tuples(names, names), max_size=2, unique=True).map(tuple),
        pairs=st.lists(st.tuples(names, names, names), max_size=2, unique=True).map(tuple),
        people=several,
        skipped=several,
        differs=yes_or_no,
        flagged=yes_or_no,
    ),
    ranges(seconds),
    ranges(days),
)
def test_a_selection_survives_its_query_string(
    filters: Selection, times: tuple[float | None, float | None], period: tuple[date | None, date | None]
) -> None:
    from django.http import QueryDict

    chosen = replace(filters, seconds_from=times[0], seconds_to=times[1], since=period[0], until=period[1])

    assert parse(params_of(chosen)) == chosen
    assert parse(dict(QueryDict(query(chosen)).lists())) == chosen
