"""Ends of an interval differ as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.core.rounding import decimals
from tableqa.statistics.proportions import proportion


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.4, 0.31, 0.49, (2, 2)),
        (0.0163, 0.0161, 0.0172, (3, 3)),
        (0.1, 0.098, 0.102, (2, 3)),
        (1.0, 1.0, 1.0, (2, 2)),
    ],
)
def test_ends_get_the_decimals_that_tell_them_apart(
    value: float, low: float, high: float, expected: tuple[int, int]
) -> None:
    assert decimals(value, low, high, 2) == expected


@given(st.floats(0, 1), st.floats(1e-6, 1), st.floats(0, 1))
def test_ends_never_look_equal_and_the_value_lies_between_them(low: float, wide: float, part: float) -> None:
    high = low + wide
    value = min(high, low + part * wide)

    of_value, of_ends = decimals(value, low, high, 1)

    assert f"{low:.{of_ends}f}" != f"{high:.{of_ends}f}"
    written = [float(f"{low:.{of_ends}f}"), float(f"{value:.{of_value}f}"), float(f"{high:.{of_ends}f}")]
    assert written == sorted(written)


def test_a_share_of_nothing_of_many_has_an_interval_with_a_width() -> None:
    assert proportion(0, 9_999).interval == "0.00 to 0.04 %"
