"""The tables that benchmarks write into pages."""

import pytest

from benchmarks.figures import Figure, page_with_figures

PAGE = """Before.

<!-- figures of ./run bench browser --brief -->
an earlier run
<!-- end of figures -->

After.
"""
FIGURES = [
    Figure("browser", "weight of question_type", 62_000, "bytes", at_most=65_000),
    Figure("browser", "weight of answer_check", 63_500, "bytes", at_most=65_000),
    Figure("browser", "ready, question_type, slow 3G", 2194, "ms", at_most=3000),
    Figure("browser", "ready, value_change, slow 3G", 3010, "ms", at_most=3000),
    Figure("browser", "ready, question_type, filled cache", 119, "ms"),
]


def test_a_row_has_all_figures_of_a_measure_that_meet_a_target_and_each_missed_one_has_its_own():
    page = page_with_figures(PAGE, "browser --brief", FIGURES, "30 November 2026, load 2.0")
    assert page.split("\n") == [
        "Before.",
        "",
        "<!-- figures of ./run bench browser --brief -->",
        "30 November 2026, load 2.0:",
        "",
        "| figure | value | target | |",
        "|---|---:|---|---|",
        "| weight (2 figures) | 62,000 to 63,500 bytes | at most 65,000 bytes | met |",
        "| ready, question_type, slow 3G | 2,194 ms | at most 3,000 ms | met |",
        "| ready, value_change, slow 3G | 3,010 ms | at most 3,000 ms | missed |",
        "",
        "<!-- end of figures -->",
        "",
        "After.",
        "",
    ]
    assert page_with_figures(page, "browser --brief", FIGURES, "30 November 2026, load 2.0") == page


def test_a_place_without_an_end_is_refused():
    with pytest.raises(ValueError, match="has no '<!-- end of figures -->'"):
        page_with_figures("<!-- figures of ./run bench loop -->\n", "loop", FIGURES, "today")
