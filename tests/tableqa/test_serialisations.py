"""Tables as text: exact where the papers have a form, read back whatever the cells hold, refused with the place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Span, Table
from tableqa.readers import READERS
from tableqa.serialisations import SERIALISATIONS, SUC, SUC_RELEASED, TORR, SerialisationError
from tests.tableqa.strategies import tables, vars_of

PEOPLE = Table(["Name", "Age", "Sex"], [["Sophia", "26", "F"], ["Raj", "34", "M"]])
AWKWARD = Table(
    ["", "a|b", "a|b"],
    [["x\ny", 'say "hi"', "<b>&amp;</b>"], ["\\|", "<br>", "row 1 : z | "], [" ", "", "\r\n"]],
)
MERGED = Table(
    ["", "Q1", "Q2"],
    [["Sales", "1", "2"], ["Costs", "3", ""]],
    title="Results",
    caption='in "millions" & more',
    header_rows=[["Item", "2019", ""]],
    spans=[Span("h0", "c0", 2, 1), Span("h0", "c1", 1, 2), Span("r1", "c1", 1, 2)],
)
LOSSLESS = [name for name, one in SERIALISATIONS.items() if one.lossless == "always"]
LOSSY = [name for name, one in SERIALISATIONS.items() if one.lossless != "always"]
PER_TABLE = [name for name, one in SERIALISATIONS.items() if one.lossless == "per table"]

PUBLISHED = {
    "html_torr": (
        "<table>\n  <thead>\n    <tr><th>Name</th><th>Age</th><th>Sex</th></tr>\n  </thead>\n  <tbody>\n"
        "    <tr><td>Sophia</td><td>26</td><td>F</td></tr>\n    <tr><td>Raj</td><td>34</td><td>M</td></tr>\n"
        "  </tbody>\n</table>"
    ),
    "csv": "Name,Age,Sex\nSophia,26,F\nRaj,34,M",
    "json_torr": (
        '{"0": {"Name": "Sophia", "Age": "26", "Sex": "F"}, "1": {"Name": "Raj", "Age": "34", "Sex": "M"}}'
    ),
    "markdown_torr": "|Name|Age|Sex|\n|---|---|---|\n|Sophia|26|F|\n|Raj|34|M|",
    "indexed_row_major_torr": "col : Name | Age | Sex row 1 : Sophia | 26 | F row 2 : Raj | 34 | M",
    "dataframe_torr": (
        'pd.DataFrame({\n"Name": ["Sophia", "Raj"], "Age": ["26", "34"], "Sex": ["F", "M"]},\nindex=[0, 1])'
    ),
    "concatenation_torr": "Name Age Sex Sophia 26 F Raj 34 M",
    "indexed_row_major_tapex": "col : name | age | sex row 1 : sophia | 26 | f row 2 : raj | 34 | m",
    "nl_sep_suc": "Name|Age|Sex\nSophia|26|F\nRaj|34|M\n",
    "json_suc": (
        "{'title': '', 'context': '', 'table': {'header': ['Name', 'Age', 'Sex'], "
        "'rows': [['Sophia', '26', 'F'], ['Raj', '34', 'M']], 'caption': ''}}"
    ),
    "pipe_lines_freb": "Name | Age | Sex\nSophia | 26 | F\nRaj | 34 | M\n",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_form_is_written_as_its_paper_writes_it(name: str) -> None:
    assert SERIALISATIONS[name].dumps(PEOPLE) == PUBLISHED[name]


def test_sucs_xml_has_a_field_for_each_cell_and_no_blanks_in_names() -> None:
    table = Table(["Full name"], [["Ann"], ["Bob"]])

    assert SERIALISATIONS["xml_suc"].dumps(table) == (
        '<item>\n  <field name="Full_name">Ann</field>\n</item>\n'
        '<item>\n  <field name="Full_name">Bob</field>\n</item>'
    )


@pytest.mark.parametrize(
    "table", [PEOPLE, AWKWARD, Table(["a & b"], [["y" * 90], ["< & > '\""], ["\ta \r\n"], ["nan"]])]
)
def test_sucs_html_is_what_pandas_writes(table: Table) -> None:
    import pandas as pd

    frame = pd.DataFrame([list(row) for row in table.rows], columns=list(table.header))

    assert SERIALISATIONS["html_suc"].dumps(table) == frame.to_html()


@pytest.mark.parametrize("table", [PEOPLE, AWKWARD])
def test_our_data_frame_is_one_that_python_makes(table: Table) -> None:
    import pandas as pd

    frame = eval(SERIALISATIONS["dataframe"].dumps(table), {"pd": pd})

    assert tuple(frame.columns) == table.header
    assert tuple(map(tuple, frame.to_numpy().tolist())) == table.rows


def test_the_lists_of_the_papers_name_forms_that_there_are() -> None:
    assert len(TORR) == 7
    assert {*TORR, *SUC, *SUC_RELEASED} <= set(SERIALISATIONS)
    assert all(SERIALISATIONS[name].lossless == "always" for name in SUC)


@pytest.mark.parametrize("name", LOSSLESS)
@given(table=tables)
def test_any_table_comes_back_as_it_was(name: str, table: Table) -> None:
    form = SERIALISATIONS[name]

    back = form.loads(form.dumps(table))

    assert back == form.kept(table)
    assert back.same_content(table)


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize(
    "table",
    [
        PEOPLE,
        AWKWARD,
        MERGED,
        Table([], []),
        Table([], [[], []]),
        Table([""], []),
        Table([""], [[""], [""]]),
        Table(["a", "a"], []),
        Table(["row 1 : ", " row 1 :"], [[" row 2 : ", "\\"], ["| row 1", "\\:"]]),
        Table(["\x01\x0b\u2028\ufffe"], [["\x85\x1f"]]),
    ],
)
def test_what_separates_cells_may_stand_in_them(name: str, table: Table) -> None:
    form = SERIALISATIONS[name]

    assert form.loads(form.dumps(table)) == form.kept(table)


@pytest.mark.parametrize("name", ["html", "xml", "json"])
def test_titles_header_rows_and_merged_cells_have_their_place(name: str) -> None:
    form = SERIALISATIONS[name]

    assert form.leaves_out(MERGED) == ()
    assert form.loads(form.dumps(MERGED)) == MERGED


def test_a_merged_cell_is_html_s_own_where_nothing_is_under_it() -> None:
    text = SERIALISATIONS["html"].dumps(MERGED)

    assert '<th rowspan="2">Item</th><th colspan="2">2019</th></tr>' in text
    assert '<td data-colspan="2">3</td>' not in text
    assert '<td colspan="2">3</td></tr>' in text


def test_a_text_under_a_merged_cell_is_not_lost() -> None:
    table = Table(**{**vars_of(PEOPLE), "spans": [Span("h", "c0", 2, 2)]})
    form = SERIALISATIONS["html"]

    assert 'data-rowspan="2"' in form.dumps(table)
    assert form.loads(form.dumps(table)) == table


@pytest.mark.parametrize("name", ["csv", "markdown_torr", "indexed_row_major"])
def test_a_form_says_what_it_leaves_out(name: str) -> None:
    assert SERIALISATIONS[name].leaves_out(MERGED) == (
        "the title",
        "the caption",
        "1 further header row",
        "3 merged cells",
    )
    assert SERIALISATIONS[name].leaves_out(PEOPLE) == ()


@pytest.mark.parametrize("name", LOSSY)
def test_a_form_that_loses_something_says_what_and_names_the_one_that_does_not(name: str) -> None:
    form = SERIALISATIONS[name]

    with pytest.raises(SerialisationError, match="cannot be read back") as caught:
        form.loads(form.dumps(PEOPLE))

    assert form.loses in str(caught.value)
    assert SERIALISATIONS[form.safe].lossless == "always"


@pytest.mark.parametrize("name", [name for name in LOSSY if name != "html_suc"])
def test_what_a_published_form_is_said_to_lose_it_does_lose(name: str) -> None:
    pairs = {
        "html_torr": (Table(["a"], [["x</td></tr>\n    <tr><td>y"]]), Table(["a"], [["x"], ["y"]])),
        "json_torr": (Table(["a", "a"], [["1", "2"]]), Table(["a"], [["2"]])),
        "markdown_torr": (Table(["a"], [["1|\n|2"]]), Table(["a"], [["1"], ["2"]])),
        "dataframe_torr": (Table(["a", "a"], [["1", "2"]]), Table(["a", "a_1"], [["1", "2"]])),
        "concatenation_torr": (Table(["a b"], [["1 2"]]), Table(["a", "b"], [["1", "2"]])),
        "indexed_row_major_torr": (Table(["a | b"], [["1 | 2"]]), Table(["a", "b"], [["1", "2"]])),
        "indexed_row_major_tapex": (Table(["A"], [["1"]]), Table(["a"], [["1"]])),
        "nl_sep_suc": (Table(["a|b"], [["1|2"]]), Table(["a", "b"], [["1", "2"]])),
        "xml_suc": (Table(["a b"], [["1"]]), Table(["a_b"], [["1"]])),
        "pipe_lines_freb": (Table(["a | b"], [["1 | 2"]]), Table(["a", "b"], [["1", "2"]])),
    }
    one, other = pairs[name]
    assert SERIALISATIONS[name].dumps(one) == SERIALISATIONS[name].dumps(other)
    safe = SERIALISATIONS[SERIALISATIONS[name].safe]
    assert safe.dumps(one) != safe.dumps(other)
    assert not (SERIALISATIONS[name].is_invertible(one) and SERIALISATIONS[name].is_invertible(other))


def test_every_serialisation_says_for_which_tables_it_is_lossless() -> None:
    said = {name: form.lossless for name, form in SERIALISATIONS.items()}
    assert {name for name, one in said.items() if one == "never"} == {"concatenation_torr"}
    ours = {name for name in said if not name.endswith(("_torr", "_suc", "_tapex", "_freb"))}
    assert {name for name, one in said.items() if one == "always"} == {*ours, "json_suc"}


@pytest.mark.parametrize("name", SERIALISATIONS)
def test_the_text_of_a_plain_table_can_be_inverted_unless_the_form_never_can(name: str) -> None:
    plain = Table(["name", "age"], [["ann", "26"], ["bob", ""]])
    assert SERIALISATIONS[name].is_invertible(plain) == (name != "concatenation_torr")


NOT_INVERTIBLE = {
    "html_torr": [Table(["a"], [["x<br>y"]]), Table(["a"], [["&lt;"]])],
    "json_torr": [Table(["a", "a"], [["1", "2"]]), Table(["a"], [])],
    "markdown_torr": [Table(["a"], [["1|2"]]), Table(["a"], [["1\n2"]])],
    "indexed_row_major_torr": [Table(["a"], [["1 | 2"]]), Table(["a"], [["1 row 2 : 2"]])],
    "indexed_row_major_tapex": [PEOPLE, Table(["a"], [["1 | 2"]])],
    "dataframe_torr": [Table(["a", "a"], [["1", "2"]]), Table(["a", "a", "a_1"], [["1", "2", "3"]])],
    "nl_sep_suc": [Table(["a|b"], [["1"]]), Table(["a"], [["1\r\n2"]])],
    "xml_suc": [Table(["a b"], [["1"]]), Table(["a"], [["1 & 2"]]), Table(["a"], [])],
    "html_suc": [Table(["a"], [[" 1"]]), Table(["a"], [["1\n2"]])],
    "pipe_lines_freb": [Table(["a"], [["1 | 2"]]), Table(["a"], [["1\n2"]])],
}


@pytest.mark.parametrize("name", PER_TABLE)
def test_the_text_of_a_table_that_a_form_changes_cannot_be_inverted(name: str) -> None:
    assert not any(SERIALISATIONS[name].is_invertible(table) for table in NOT_INVERTIBLE[name])


@given(tables, tables)
def test_of_two_tables_with_one_text_at_most_one_can_be_told_from_it(one: Table, other: Table) -> None:
    for form in SERIALISATIONS.values():
        both = form.is_invertible(one) and form.is_invertible(other)
        if both and form.dumps(form.kept(one)) == form.dumps(form.kept(other)):
            assert one.same_content(other)


@pytest.mark.parametrize("text", ["{", "[]", "{'title': '', 'table': {}}", "{'title': 1, 'table': 2}"])
def test_a_text_that_is_no_dictionary_of_suc_is_refused(text: str) -> None:
    with pytest.raises(SerialisationError, match="json_suc"):
        SERIALISATIONS["json_suc"].loads(text)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("csv", 'a,b\n1,"2', "csv, line 2: a quotation mark is not closed"),
        ("csv", 'a,b\n1,"2"x', "csv, line 2: 'x' follows a field"),
        ("csv", 'a,b\n"1\n2",3\n4', "csv, line 4: the row has 1 cells, the header has 2"),
        ("concatenation", "a b\n1", "concatenation, line 2: the row has 1 cells"),
        ("markdown", "|a|b|", "markdown: there is no second line"),
        ("markdown", "|a|b|\n|---|", "markdown, line 1: the row has 2 cells, the header has 1"),
        ("markdown", "|a|\n|xx|", "markdown, line 2: '|xx|' is not |---|"),
        ("markdown", "|a|\n|---|\n|1", "markdown, line 3: no pipe follows '1'"),
        ("markdown", "|a|\n|---|\n1|", "markdown, line 3: '1|' does not begin with a pipe"),
        ("markdown", "|a|\n|---|\n|\\x|", "markdown, line 3: '\\\\x' is no escape"),
        ("nl_sep", "a|b\n1", "nl_sep, line 2: the row has 1 cells"),
        ("nl_sep", "a\\", "nl_sep, line 1: a backslash is at the end of the line"),
        ("pipe_lines", "a | b\n1|2 | 3", "pipe_lines, line 2: a pipe within '1|2' has no backslash"),
        ("indexed_row_major", "Name Age", "indexed_row_major, line 1: 'Name Age' does not begin with"),
        ("indexed_row_major", "col : a row 2 : x", "indexed_row_major, line 1: “row 2 :” stands where row 1"),
        ("indexed_row_major", "col : a | b row 1 : x", "row 1 has 1 cells, the header has 2"),
        ("indexed_row_major", "col : a\nrow 1 : x", "line 2: the form is one line"),
        ("json", "[]", "json: a table must be an object"),
        ("json", '{"header": ["a"],\n "rows": [["1"]', "json, line 2"),
        (
            "json",
            '{"header": ["a"], "header": [], "rows": []}',
            "json: an object has the name 'header' twice",
        ),
        ("json", '{"header": ["a"], "rows": [["1", "2"]]}', "json: row 1 has 2 cells"),
        ("json", "[" * 100_000, "json"),
        ("dataframe", "pd.DataFrame([", "dataframe, line 1: this is not Python"),
        ("dataframe", "print('x')", "dataframe, line 1: this is not pd.DataFrame"),
        ("dataframe", 'pd.DataFrame([["1"]], columns=["a"], index=[1])', "index is not the numbers"),
        ("dataframe", 'pd.DataFrame([[1]], columns=["a"], index=[0])', "'1' is not a list of texts"),
        (
            "dataframe",
            'pd.DataFrame([\n["1", "2"]],\ncolumns=["a"], index=[0])',
            "line 2: the row has 2 cells",
        ),
        ("html", "", "html, line 1: there is no <table>"),
        ("html", "<table><thead><tr><th>a</th></tr></thead>", "<table> is not closed"),
        ("html", "<table>\n<tbody><tr><td>a</td></tr></tbody></table>", "there is no row in <thead>"),
        (
            "html",
            "<table><thead><tr><th>a</th></tr>\n<tr></tr></thead></table>",
            "line 2: the row has no cell",
        ),
        ("html", "<table><thead><tr><th>a<script>", "html, line 1: <script> has no place in <th>"),
        ("html", "<table>\nwords</table>", "'words' is outside the cells"),
        ("html", '<table><thead><tr><th colspan="9999999">', "colspan is '9999999': it is a number"),
        ("html", '<table><thead><tr><th rowspan="9">a</th></tr></thead></table>', "only 1 rows are left"),
        ("xml", "<table>", "xml, line 1: no element found"),
        ("xml", "<!DOCTYPE table><table/>", "a document type has no place"),
        ("xml", "<table>\n<row><cell/></row></table>", "xml: there is no <header>"),
        ("xml", "<table><header><cell/></header>\n<row/></table>", "xml, line 2: the row has 0 cells"),
        ("xml", "<table><header><b/></header></table>", "<b> has no place in <header>"),
        ("xml", '<table><header><cell rows="9" columns="1"/></header></table>', "reaches beyond the table"),
    ],
)
def test_a_text_that_is_no_table_is_refused_with_place_and_reason(name: str, text: str, said: str) -> None:
    with pytest.raises(SerialisationError) as caught:
        SERIALISATIONS[name].loads(text)

    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["csv", "concatenation", "markdown", "nl_sep", "pipe_lines", "dataframe"])
def test_a_line_break_at_the_end_is_no_further_row(name: str) -> None:
    form = SERIALISATIONS[name]

    assert form.loads(form.dumps(PEOPLE) + "\n") == PEOPLE


@pytest.mark.parametrize("name", LOSSLESS)
@given(table=tables, data=st.data())
def test_a_damaged_text_is_a_table_or_refused_and_never_anything_else(
    name: str, table: Table, data: st.DataObject
) -> None:
    form = SERIALISATIONS[name]
    text = form.dumps(table)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 3)))
    put = data.draw(
        st.sampled_from(["", "\0", "\n", "|", '"', "<", "<!", "<![x", "&", "\\", "]", "\ud800", "x"])
    )

    refused = ""
    try:
        form.loads(text[:start] + put + text[end:])
    except SerialisationError as error:
        refused = str(error)

    assert not refused or refused.startswith(name)


def test_every_published_table_comes_back_from_every_form(test_data: Path) -> None:
    folder = test_data / "tatqa"
    found = {example.table.digest(): example.table for example in READERS["tat_qa"](folder)}
    some = list(found.values())[:60]

    assert len(some) == 60
    for name in LOSSLESS:
        form = SERIALISATIONS[name]
        assert all(form.loads(form.dumps(table)) == table for table in some), name


def test_torrs_json_drops_columns_of_most_financial_tables(test_data: Path) -> None:
    found = {e.table.digest(): e.table for e in READERS["tat_qa"](test_data / "tatqa")}.values()

    damaged = [
        table
        for table in found
        if len(json.loads(SERIALISATIONS["json_torr"].dumps(table))["0"]) < len(table.header)
    ]

    assert len(damaged) == sum(len(set(table.header)) < len(table.header) for table in found) > 100


def test_every_form_is_in_the_documents_with_its_name() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "serialisations.md").read_text("utf-8")

    assert [name for name in SERIALISATIONS if f"| `{name}` |" not in text] == []
