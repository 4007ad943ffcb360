"""Tables of figures in their five forms: nothing in a cell is ever read as a mark, a tag, a command or a formula."""

from __future__ import annotations

import csv
import html
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.statistics.robustness import Estimate
from tableqa.writers.report_tables import (
    Cell,
    Column,
    Sheet,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    as_text,
    count,
    figure,
    guarded,
    listed,
    share,
    text,
)

AWKWARD = (
    "a | b",
    "<script>alert(1)</script>",
    "50% & more_$x$ #1 ~ ^ {y} \\input",
    '"quoted"\nnext',
    "=1+1",
)


def sheet(*cells: str, title: str = "Figures") -> Sheet:
    columns = (Column("Model", numeric=False), Column("Em", "row_shuffle"), Column("VP", "row_shuffle"))
    rows = tuple((text(cell), Cell("-55.36", -55.36, "± 1.20"), Cell("10.24", 10.24)) for cell in cells)
    return Sheet("figures", title, columns, rows, note="Shares times 100.")


class Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.said = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.said += data


@given(st.text(max_size=60))
def test_no_text_becomes_a_tag(name: str) -> None:
    plain, other = Tags(as_html(sheet("model"))), Tags(as_html(sheet(name, title=name)))
    assert other.tags == plain.tags


@given(st.text(alphabet=st.characters(blacklist_categories=("Cc", "Cs")), max_size=60))
def test_a_cell_of_a_page_says_what_was_put_in(name: str) -> None:
    cells = re.findall(r'<th scope="row" dir="auto">(.*?)</th>', as_html(sheet(name)), flags=re.DOTALL)
    assert [html.unescape(cell) for cell in cells] == [re.sub(r"[\u2028\u2029]+", " ", name).strip()]


@given(st.text(max_size=60))
def test_a_line_of_markdown_keeps_its_columns(name: str) -> None:
    lines = [line for line in as_markdown(sheet(name)).split("\n") if line.startswith("|")]
    assert len(lines) == 3
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4


def test_markdown_shows_marks_instead_of_reading_them() -> None:
    said = as_markdown(sheet("*_a_* [b](c) <i> `d`"))
    assert r"\*\_a\_\* \[b\]\(c\) &#60;i&#62; \`d\`" in said
    assert "-55.36 (± 1.20)" in said


@given(st.text(max_size=60))
def test_latex_reads_no_text_as_a_command(name: str) -> None:
    said = as_latex(sheet(name))
    row = next(line for line in said.split("\n") if line.endswith(r"$10.24$ \\"))
    bare = re.sub(
        r"^\$[\d.,{}e+-]+\$"  # a number is set as mathematics
        r"|\\text(?:backslash|asciicircum|asciitilde|less|greater|bar|quotesingle|asciigrave)\{\}"
        r"|\\symbol\{34\}|\\[{}$&#%_]|\\text(?:super|sub)script|\\\((?:\\[A-Za-z]+|\\mathrm\{[A-Z]\}|[-/:o']+)\\\)"
        r"|\{[\[\]*-]\}",
        "",
        row,
    )
    first = re.sub(r"\{([^{}]*)\}", r"\1", bare.split(" & $-55.36$")[0])  # what is raised or lowered
    assert not re.search(r"[\\{}$&#%_^~\[\]]", first)
    assert re.sub(r"\\[&]", "", row).count("&") == 2


def test_latex_sets_numbers_as_mathematics_and_the_best_in_bold() -> None:
    rows = ((text("a"), Cell("-1.50", -1.5, best=True)),)
    said = as_latex(Sheet("x", "X", (Column("Model", numeric=False), Column("Em")), rows))
    assert r"a & $\mathbf{-1.50}$ \\" in said
    assert r"\begin{tabular}{lr}" in said


def test_latex_has_a_line_for_the_groups_of_columns() -> None:
    assert r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{row\_shuffle} \\" in as_latex(sheet("a"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("=1+1", "'=1+1"),
        ("+SUM(A1)", "'+SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("@cmd", "'@cmd"),
        ("\t=1", "'\t'=1"),
        ("＝1", "'＝1"),
        ("x;=1+1", "x;'=1+1"),
        ('x; "=1', "x; \"'=1"),
        ("x\t@cmd", "x\t'@cmd"),
        ("x; y", "x; y"),
        ("-55.36", "-55.36"),
        ("-5%", "-5%"),
        ("-5 %", "-5 %"),
        ("-5%+1", "'-5%+1"),
        ("+5", "+5"),
        ("1,234", "1,234"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_no_spreadsheet_takes_a_text_for_a_formula_and_numbers_stay_numbers(value: str, said: str) -> None:
    assert guarded(value) == said


@given(st.text(max_size=40))
def test_csv_gives_back_what_was_put_in(name: str) -> None:
    lines = list(csv.reader(io.StringIO(as_csv(sheet(name)), newline="")))
    assert [len(line) for line in lines] == [4, 4]
    assert lines[0] == ["Model", "row_shuffle: Em", "row_shuffle: Em, detail", "row_shuffle: VP"]
    assert lines[1][1:] == ["-55.36", "± 1.20", "10.24"]
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", name).strip()
    assert lines[1][0] in (plain, f"'{plain}")


def test_every_form_says_why_a_figure_is_undefined() -> None:
    nothing = share(Estimate(None, None, None, 4, "No original was answered correctly."))
    one = Sheet("x", "X", (Column("Model", numeric=False), Column("R-ACC")), ((text("a"), nothing),))
    for form in (as_text, as_markdown, as_latex, as_html):
        assert "undefined" in form(one)
        assert "No original was answered correctly." in form(one)
    assert as_csv(one).split("\r\n")[1] == "a,,4", "a program reads an empty cell, not a word"


def test_figures_are_printed_times_100_with_their_interval_and_deviation() -> None:
    estimate = Estimate(0.79827, 0.75, 0.84, 100)
    assert share(estimate) == Cell("79.83", 79.827, "75.00 to 84.00", low=75.0, high=84.0, n=100)
    assert share(estimate, deviation=0.012).detail == "± 1.20, 75.00 to 84.00"
    assert share(Estimate(-0.00001, None, None, 1)).text == "0.00"
    assert count(6489) == Cell("6,489", 6489.0)


def test_a_text_table_has_columns_of_equal_width() -> None:
    lines = as_text(sheet("a", "a longer name")).split("\n")
    assert len({len(line) for line in lines[2:5]}) == 1


def test_every_form_has_the_intervals_that_a_note_speaks_of() -> None:
    columns = (Column("Model", numeric=False), Column("Em"))
    rows = ((text("small"), share(Estimate(0.79827, 0.75, 0.84, 100))),)
    found = Sheet("em", "Em", columns, rows, note="Percentages with 95 % CI.")
    for form in (as_text, as_markdown, as_latex, as_html):
        assert "75.00 to 84.00" in form(found).replace("–", " to "), form
    assert "75" in as_csv(found)


def test_rows_have_as_many_cells_as_there_are_columns() -> None:
    with pytest.raises(ValueError, match="row 0 has 1 cells for 2 columns"):
        Sheet("x", "X", (Column("a"), Column("b")), ((text("only"),),))


@pytest.mark.parametrize("form", [as_text, as_markdown, as_latex, as_html, as_csv])
def test_every_form_takes_awkward_texts(form: object) -> None:
    assert callable(form)
    assert form(sheet(*AWKWARD, title="A & <b> | _c_"))


def test_a_figure_has_its_interval_beside_it_in_the_places_asked_for() -> None:
    assert figure(Estimate(0.47, 0.4, 0.5, 3)) == Cell(
        "0.470", 0.47, "0.400 to 0.500", low=0.4, high=0.5, n=3
    )
    assert figure(Estimate(0.5, 0.25, 0.75, 3), factor=100, places=1) == Cell(
        "50.0", 50.0, "25.0 to 75.0", low=25.0, high=75.0, n=3
    )
    assert figure(Estimate(-0.0004, None, None, 3)) == Cell("0.000", -0.0004, n=3)
    assert figure(Estimate(None, None, None, 0, "why")) == Cell("undefined", reason="why", n=0)


def test_a_list_of_figures_reads_on_a_terminal_with_its_intervals() -> None:
    sheet = listed(
        "films", "Films", ("name", "n"), [("a|b", figure(Estimate(0.5, 0.25, 0.75, 3))), ("c", "–")]
    )
    assert as_text(sheet).split("\n")[2:5] == [
        "name                       n",
        "a|b   0.500 (0.250 to 0.750)",
        "c                          –",
    ]
    assert "a&#124;b | 0.500 (0.250 to 0.750) |" in as_markdown(sheet)
    assert as_csv(sheet).split("\r\n")[:3] == [
        'name,n,"n, low","n, high","n, n"',
        "a|b,0.5,0.25,0.75,3",
        "c,,,,",
    ]


ESTIMATES = Sheet(
    "kappa",
    "Agreement",
    (Column("Batch", numeric=False), Column("Value", counted="Items"), Column("Raters")),
    (
        (
            text("one"),
            Cell("\N{MINUS SIGN}0.125", -0.125, "\N{MINUS SIGN}0.3 to 0.1", low=-0.3, high=0.1, n=1200),
            count(3),
        ),
        (text("two"), Cell("1.000", 1.0, n=7, no_interval="All ratings agree."), count(2)),
        (text("three"), Cell("undefined", reason="No unit has two ratings.", n=0), count(0)),
    ),
)


def test_a_program_reads_value_low_high_and_n_in_columns_of_their_own() -> None:
    assert as_csv(ESTIMATES).split("\r\n")[:4] == [
        "Batch,value,low,high,n,Raters",
        "one,-0.125,-0.3,0.1,1200,3",
        "two,1,,,7,2",
        "three,,,,0,0",
    ]


def test_people_read_a_figure_its_interval_and_n_beside_each_other_and_why_one_is_missing() -> None:
    lines = as_text(ESTIMATES).split("\n")
    assert lines[2].split("  ")[0] == "Batch"
    assert [part.strip() for part in lines[2].split("  ") if part] == [
        "Batch",
        "Value",
        "95 % CI",
        "Items",
        "Raters",
    ]
    for form in (as_text, as_markdown, as_latex, as_html):
        said = form(ESTIMATES)
        assert "No interval: All ratings agree." in said
        assert "undefined: No unit has two ratings." in said


def test_latex_sets_a_true_minus_as_mathematics_and_rules_as_booktabs_does() -> None:
    said = as_latex(ESTIMATES)
    assert r"one & $-0.125$ & \(-\)0.3 to 0.1 & $1{,}200$ & $3$ \\" in said
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"% needs \usepackage{booktabs}"):
        assert rule in said
    assert r"\hline" not in said


def test_only_a_page_has_the_address_behind_a_cell() -> None:
    one = Sheet("x", "X", (Column("Batch", numeric=False),), ((Cell("a", address="/b/?x=1&y=2"),),))
    assert '<a href="/b/?x=1&amp;y=2">a</a>' in as_html(one)
    for form in (as_text, as_markdown, as_latex, as_csv):
        assert "/b/" not in form(one)
