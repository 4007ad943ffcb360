"""Tables of LaTeX fit into a page: smaller letters first, then texts in lines, sideways, in parts; numbers stay whole."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tableqa.writers.latex_widths import FEWEST, PAGE, SIZES, TALL, fitted, width
from tableqa.writers.report_tables import Cell, Column, Sheet, as_latex, text
from tests.latex_structure import check


def columns_of_texts(*letters: int) -> tuple[list[str], list[list[str]], list[bool]]:
    return ["Head"] * len(letters), [[words(each)] for each in letters], [False] * len(letters)


def words(letters: int) -> str:
    """A text of so many letters, in words of five."""
    return ("words " * letters)[:letters]


def widths(kinds: str) -> list[float]:
    """The widths of the wrapped columns, as shares of a line."""
    return [float(share) for share in re.findall(r"p\{([\d.]+)", kinds)]


def test_a_narrow_table_is_set_as_the_text_around_it() -> None:
    layout = fitted(*columns_of_texts(20, 15, 10))

    assert (layout.size.command, layout.kinds, layout.wraps) == ("", "lll", False)


def test_a_wider_table_is_set_smaller_before_a_text_wraps() -> None:
    assert fitted(*columns_of_texts(30, 25, 20)).size.command == "footnotesize"
    assert not fitted(*columns_of_texts(30, 25, 20)).wraps


def test_the_longest_text_wraps_first() -> None:
    layout = fitted(*columns_of_texts(12, 200, 10))

    assert layout.size is SIZES[-1]
    assert re.sub(r"\{[^{}]*\}", "", layout.kinds) == "l>pl"


def test_a_long_title_over_short_numbers_has_lines() -> None:
    layout = fitted(["Batch", "People per item"], [["Question types"], ["3"]], [False, True])

    assert layout.heads == (("", "People"), ("Batch", "per item"))


@given(
    st.lists(
        st.tuples(st.text("ab ", max_size=40), st.integers(0, 300), st.booleans()), min_size=1, max_size=8
    )
)
def test_a_table_is_as_wide_as_a_page_unless_its_numbers_and_words_are_wider(
    columns: list[tuple[str, int, bool]],
) -> None:
    titles, numeric = [title for title, *_ in columns], [is_number for *_, is_number in columns]
    cells = ["1" * letters if is_number else words(letters) for _, letters, is_number in columns]

    layout = fitted(titles, [[cell] for cell in cells], numeric)

    heads = list(zip(*layout.heads, strict=True))
    assert [" ".join(head).split() for head in heads] == [title.split() for title in titles]
    shares = [found[1] for found in re.finditer(r"r|l|>\{[^}]*\}p\{([\d.]+)[^}]*\}", layout.kinds)]
    assert not [share for share, is_number in zip(shares, numeric, strict=True) if share and is_number]
    page = TALL if layout.is_sideways else PAGE
    taken = [
        float(share) * page if share else layout.size.letter * max(map(width, [cell, *head]))
        for share, cell, head in zip(shares, cells, heads, strict=True)
    ]
    fewest = [
        layout.size.letter * max(FEWEST, *map(width, [*cell.split(), ""]), *map(width, head))
        for cell, head in zip(cells, heads, strict=True)
    ]
    is_tight = all(
        is_number or width <= least + 1
        for width, least, is_number in zip(taken, fewest, numeric, strict=True)
    )
    assert is_tight or sum(taken) + 2 * layout.size.beside * len(columns) <= page + 1
    assert (
        not is_tight or layout.is_sideways or sum(taken) + 2 * layout.size.beside * len(columns) <= page + 1
    )


def test_rounded_widths_of_many_columns_are_no_wider_than_a_page() -> None:
    layout = fitted([""] * 8, [[words(10)]] * 8, [False] * 8)

    assert sum(widths(layout.kinds)) * PAGE + 2 * layout.size.beside * 8 <= PAGE + 0.2


def test_a_table_that_is_wider_than_a_page_is_high_is_set_in_the_smallest_font() -> None:
    digest = "0123456789abcdef" * 4
    columns = [["askew/value_change_answer_changes_incomplete.jsonl"], [digest]]

    layout = fitted(["File", "sha256"], columns, [False, False])

    assert (layout.size.command, layout.is_sideways, layout.wraps) == ("small", True, False)
    assert fitted(["File", "Again", "sha256"], [*columns, [digest]], [False] * 3).size.command == "tiny"


def test_a_table_of_many_numbers_is_set_sideways() -> None:
    names = (text("Value change"), text("Ada"))
    numbers = tuple(Cell("1,234.5", 1234.5) for _ in range(10))
    columns = (Column("Task type", numeric=False), Column("Person", numeric=False), *[Column("Seconds")] * 10)

    source = as_latex(Sheet("numbers", "Numbers", columns, ((*names, *numbers),)))

    assert source.startswith(r"% needs \usepackage{booktabs,rotating}")
    assert source.count(r"\begin{sidewaystable}") == source.count(r"\end{sidewaystable}") == 1
    check(source)


@given(st.lists(st.integers(0, 60), max_size=200), st.integers(0, 2000))
def test_parts_hold_every_row_once_in_order_and_no_more_than_a_page(
    repeats: list[int], of_caption: int
) -> None:
    rows = ["words and more " * number for number in repeats]
    layout = fitted(["Question", "Answer"], [rows, rows], [False, False])

    parts = layout.parts("c" * of_caption)

    assert [at for part in parts for at in range(len(rows))[part]] == list(range(len(rows)))
    for part in parts:
        lines = layout.lines[part]
        assert len(lines) <= 1 or sum(lines) * layout.size.line <= TALL


def test_lines_of_wrapped_cells_are_counted_by_the_widths_of_their_letters() -> None:
    wide, narrow = "mWm mWm " * 60, "ill ill " * 60

    layout = fitted(["Records"] * 2, [[wide, narrow], ["a"] * 2], [False] * 2)

    of_wide, of_narrow = layout.lines
    room = widths(layout.kinds)[0] * PAGE / layout.size.letter
    assert of_wide >= width(wide) / room
    assert of_wide > 1.5 * of_narrow
    assert len(layout.parts("Caption")) == 1


def test_words_that_fill_a_line_by_a_hair_are_counted_on_lines_of_their_own() -> None:
    """Letters such as n are up to 8 % wider than a digit, so that two words may not fit where their count says so."""
    word = "nbdhpqu" * 3
    layout = fitted(["Records"], [[f"{word} " * 41]], [False])

    room = widths(layout.kinds)[0] * PAGE / layout.size.letter
    fit = int((room + 0.6) / (1.08 * len(word) + 0.6))
    assert layout.lines[0] >= 41 / fit


def test_a_row_that_is_longer_than_a_page_is_set_along_its_height() -> None:
    """A row cannot be parted: beside a long name of a file, a list of ids has room for one in each line or two."""
    names = ["value_change_answer_changes_incomplete.jsonl", "decisions.jsonl"]
    ids = [", ".join(["0123456789ab"] * number) for number in (150, 2)]

    layout = fitted(["File", "Records"], [names, ids], [False, False])

    assert layout.is_sideways
    assert max(layout.lines) * layout.size.line < PAGE
    assert not fitted(["File", "Records"], [names, [ids[1]] * 2], [False, False]).is_sideways


def test_a_long_list_is_a_table_for_each_page_with_one_label() -> None:
    rows = tuple((text(f"Question {number}"),) for number in range(100))

    source = as_latex(
        Sheet("questions", "Questions", (Column("Question", numeric=False),), rows, note="All.")
    )

    captions = re.findall(r"\\caption\{(.*)\}", source)
    assert captions == ["Questions. All.", "Questions, part 2 of 3", "Questions, part 3 of 3"]
    assert source.count(r"\label{") == 1
    assert source.count(r"\toprule") == source.count(r"\bottomrule") == 3
    assert [source.count(f"Question {number} ") for number in range(100)] == [1] * 100
    check(source)


def test_the_file_names_the_packages_that_a_wide_table_needs() -> None:
    rows = ((text("A rule in many words, " * 8), text("Value change"), Cell("12", 12.0)),)
    sheet = Sheet(
        "batches",
        "Batches",
        (
            Column("Decision rule", numeric=False),
            Column("Task type", numeric=False),
            Column("People per item"),
        ),
        rows,
    )

    source = as_latex(sheet)

    assert source.startswith(r"% needs \usepackage{booktabs,array}")
    assert r"\scriptsize" in source
    check(source)
