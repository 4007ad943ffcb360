"""HTML tables as other programs write them: read as a browser shows them, or refused with the line of the fault."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.data.tables import MAX_COLUMNS, MAX_ROWS, MAX_TEXT, Span
from tableqa.readers import READERS, ReaderError
from tableqa.readers.html_tables import (
    MAX_HTML,
    HtmlTableError,
    html_table,
)
from tableqa.readers.report import collect_notes
from tableqa.serialisations import SERIALISATIONS


def row(*cells: str, tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


HEAD, BODY = row("Name", "Wins", tag="th"), row("Ann", "3")


@pytest.mark.parametrize(
    "text",
    [
        f"<table>{HEAD}{BODY}</table>",
        f"<table>{row('Name', 'Wins')}{BODY}</table>",
        f"<table><tbody>{HEAD}</tbody><tbody>{BODY}</tbody></table>",
        f"<table><tfoot>{BODY}</tfoot><thead>{HEAD}</thead></table>",
        "<TABLE BORDER=1><TR><TH>Name<TH>Wins<TR><TD>Ann<TD>3</TABLE>",
        f"<table><colgroup><col><col/></colgroup>{HEAD}<!-- a comment --><tr></tr>{BODY}</table>",
        f"<table>{HEAD}{row('<a href=x>Ann</a>', '<b>3</b><span hidden>!</span>')}</table>",
        f"<table>{HEAD}{row('<span style=display:none>nna</span>Ann', '<p>3</p>')}</table>",
        f"<table>{HEAD}{row('<script>x()</script>Ann<style>td {}</style>', '<div><p> 3 </p></div>')}</table>",
        f"<table>\n  {HEAD}\n  <tr>\n    <td>\n      Ann\n    </td>\n    <td>3&nbsp;</td>\n  </tr>\n</table>",
        f"<html><head><title>A <table></title></head><body><p>Words<div>{'<table>'}{HEAD}{BODY}</table>more</html>",
        f"<!doctype html><!-- <table> --><![if IE]><table>{HEAD}{BODY}</table><![endif]>",
    ],
)
def test_a_table_is_read_as_a_browser_shows_it(text: str) -> None:
    table = html_table(text)

    assert (table.header, table.rows) == (("Name", "Wins"), (("Ann", "3"),))


def test_line_breaks_and_blocks_in_a_cell_are_its_lines() -> None:
    text = f"<table>{HEAD}{row('Ann<br>Bob<br/><i>Cy</i>', '<ul><li>3</li><li>4  5</li></ul>')}</table>"

    assert html_table(text).rows == (("Ann\nBob\nCy", "3\n4 5"),)


def test_rows_with_fewer_cells_end_in_empty_ones() -> None:
    assert html_table(f"<table>{HEAD}{row('Ann')}</table>").rows == (("Ann", ""),)


def test_merged_cells_are_spans_within_their_part_and_the_columns_that_there_are() -> None:
    table = html_table(
        "<table><caption>The <b>cup</b></caption>"
        "<tr><th rowspan=2>Name</th><th colspan=2>Wins</th></tr><tr><th>Home</th><th>Away</th></tr>"
        "<tr><td rowspan=0>Ann</td><td colspan=99>3</td></tr><tr><td>4</td><td rowspan=x>5</td></tr></table>"
    )

    assert table.caption == "The cup"
    assert table.header_rows == (("Name", "Wins", ""),)
    assert (table.header, table.rows) == (("", "Home", "Away"), (("Ann", "3", ""), ("", "4", "5")))
    assert table.spans == (
        Span("h0", "c0", 2, 1),
        Span("h0", "c1", 1, 2),
        Span("r0", "c0", 2, 1),
        Span("r0", "c1", 1, 2),
    )


def test_a_table_as_askew_writes_it_keeps_all_its_spaces() -> None:
    table = Table(["a ", "b  c"], [[" 1\n", "\u00a0"]], caption=" x ", spans=[Span("h", "c0", 2, 1)])

    assert html_table(SERIALISATIONS["html"].dumps(table)) == table


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", None, "0 tables, not one"),
        (f"<table>{BODY}</table><table>{BODY}</table>", None, "2 tables, not one"),
        ("<p>\n<table>\n</table>", 2, "the table has no cells"),
        (f"\n<table>{BODY}", 2, "the table is not closed"),
        ("<table>\n<tr><td><table></table></td></tr></table>", 2, "a table inside a table"),
        ("<table>\nwords</table>", 2, "the text 'words' is outside of the cells"),
        ("<table><tr><td><td rowspan=2>a<tr>\n<td colspan=2>c</table>", 2, "overlaps"),
    ],
)  # fmt: skip
def test_what_is_no_single_table_is_refused_with_its_line(text: str, line: int | None, what: str) -> None:
    with pytest.raises(HtmlTableError) as error:
        html_table(text)

    assert what in str(error.value)
    assert error.value.line == line


def test_a_malformed_declaration_is_refused_with_its_line() -> None:
    # Newer patch releases of Python read it as browsers do: as a comment, which ends after "</table".
    with pytest.raises(HtmlTableError, match=r"an unknown declaration|the table is not closed") as error:
        html_table("<table><![<</table>")

    assert error.value.line == 1


TOO_LARGE = {
    "20,000 rows": lambda: f"<table>{'<tr>' * (MAX_ROWS + 1)}</table>",
    "500 columns": lambda: f"<table><tr>{'<td>' * (MAX_COLUMNS + 1)}</table>",
    "1,000,000 cells": lambda: f"<table>{'<tr><td colspan=500>' * 2100}</table>",
    "100,000 characters": lambda: f"<table><tr><td>{'x' * (MAX_TEXT + 1)}</table>",
    "16,777,216 characters": lambda: "x" * (MAX_HTML + 1),
}


@pytest.mark.parametrize("limit", TOO_LARGE)
def test_what_is_too_large_is_refused_with_the_limit(limit: str) -> None:
    with pytest.raises(HtmlTableError, match=f"more than {limit}"):
        html_table(TOO_LARGE[limit]())


def read(folder: Path, page: bytes, **fields: str) -> Table:
    (folder / "x.html").write_bytes(page)
    (folder / "q.csv").write_text("question,table\nwho?,x.html\n")
    (example,) = READERS["own"].with_fields(fields)(folder / "q.csv")  # type: ignore[attr-defined]
    return example.table


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        ("<meta charset=iso-8859-1>", "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=windows-1250">', "cp1250"),
        ("<meta charset='GB2312'>", "gb18030"),
        ("<meta charset=windows-1252>", "utf-8"),
        ("<meta charset=utf-8>", "utf-16"),
        ("", "utf-8-sig"),
        ("<meta charset=nonsense>", "utf-8"),
    ],
)
def test_the_charset_of_a_page_is_its_mark_unicode_or_what_it_states(
    tmp_path: Path, charset: str, encoding: str
) -> None:
    name = "中文" if encoding == "gb18030" else "Łódź" if encoding == "cp1250" else "Köln “a”"
    page = f"<!doctype html><html><head>{charset}</head><table>{row('Name')}{row(name)}</table></html>"

    assert read(tmp_path, page.encode(encoding)).rows == ((name,),)


def test_a_chosen_encoding_is_that_of_a_page(tmp_path: Path) -> None:
    page = f"<meta charset=windows-1252><table>{row('Name')}{row('Łódź')}</table>".encode("cp1250")

    assert read(tmp_path, page, encoding="cp1250").rows == (("Łódź",),)
    with pytest.raises(ReaderError, match="there is no encoding 'nonsense'"):
        read(tmp_path, page, encoding="nonsense")


TOKENS = [
    "<table>", "</table>", "<thead>", "</thead>", "<tbody>", "<tfoot>", "<tr>", "</tr>", "<th>", "<td rowspan=3>", "</td>",
    "<td colspan='2'>", "<td rowspan=0 colspan=-1>", "<br/>", "<p>", "</p>", "<b hidden>", "</b>", "<script>", "</script>",
    "<caption>", "</caption>", "<!--", "-->", "<![", "<!x>", "<?", "<", "&", "&#0;", "&#xD800;", "\x00", "\n", "a", '"',
    "<a b='",
]  # fmt: skip


@given(st.lists(st.sampled_from(TOKENS), max_size=40))
@example(["<td>", "\x00"])
def test_any_text_is_a_table_or_refused(tokens: list[str]) -> None:
    with suppress(HtmlTableError):
        html_table("<table>" + "".join(tokens) + "</table>")


UNENDED = [
    "<",
    "<!",
    "<!--",
    "<![CDATA[",
    "<a ",
    '<a b="',
    "<td ",
    "<a b=",
    "</",
    "</a",
    "<?",
    "&",
    "<script><",
    "<b>",
    "<div>",
    "<td><p>",
]


@pytest.mark.parametrize("repeated", UNENDED)
@pytest.mark.parametrize("before", ["", "<table><tr><td>", "<table>\n  <thead>\n    <tr><th>"])
def test_parts_that_do_not_end_take_linear_time(before: str, repeated: str) -> None:
    """200,000 characters took minutes where each unended part was searched to the end of the page."""
    began = time.process_time()
    with suppress(HtmlTableError):
        html_table(before + repeated * (200_000 // len(repeated)))
    assert time.process_time() - began < 10


def test_rows_without_a_beginning_end_where_they_are_ended() -> None:
    text = "<table><tr><th>Name<th>Wins</tr><td>Ann<td>3</tr><td>Bob</td><td>4</td></tr></table>"

    assert html_table(text).rows == (("Ann", "3"), ("Bob", "4"))


def test_what_follows_the_end_of_a_page_counts() -> None:
    page = f"<html><body><table>{HEAD}{BODY}</table></body></html>"

    assert html_table(f"{page}\n<!-- made by a program -->\n").rows == (("Ann", "3"),)
    with pytest.raises(HtmlTableError, match="2 tables, not one"):
        html_table(page + page)


def test_a_page_that_is_nested_too_deeply_is_refused_and_not_cut_off() -> None:
    with pytest.raises(HtmlTableError, match="the table is not closed"):
        html_table(f"<table>{HEAD}<tr><td>{'<b>' * 100_000}Ann</table>")


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("3<sup>2</sup>", "3²"),
        ("10<sup>-3</sup> m", "10⁻³ m"),
        ("10<sup>\u221212</sup>", "10⁻¹²"),
        ("x<sup>(2+1)</sup>", "x⁽²⁺¹⁾"),
        ("1,204<sup>a</sup>", "1,204^a"),
        ("1,204<sup>2a</sup>", "1,204^2a"),
        ("1<sup><a href='#n'>[1]</a></sup>", "1^[1]"),
        ("<b>3</b><SUP> 2 </SUP>", "3²"),
        ("2<sup>2<sup>n</sup></sup>", "2^2^n"),
        ("3<sup></sup>", "3"),
        ("3<sup>2", "3²"),
        ("H<sub>2</sub>O", "H2O"),
        ("<s>5</s> 6", "6"),
        ("<del>5 <b>7</b></del><ins>6</ins>", "6"),
        ("<strike>5</strike>6<s>3<sup>2</sup></s>", "6"),
        ('<span style="color: red; text-decoration: line-through">5</span> 6', "6"),
        ('<span style="text-decoration-line:underline line-through">5</span> 6', "6"),
        ('<span style="text-decoration: underline">5</span> 6', "5 6"),
        ("<sup hidden>2</sup>3", "3"),
    ],
)
def test_superscripts_are_written_and_struck_out_text_is_left_out(cell: str, shown: str) -> None:
    page = f"<table><tr><th>A<th>B</tr><tr><td>{cell}</td><td>7</td></tr></table>"

    assert html_table(page).rows == ((shown, "7"),)


def test_a_struck_out_cell_is_empty() -> None:
    page = "<table><tr><th>A<th>B</tr><tr><td style='text-decoration: line-through'>5</td><td>7</td></tr></table>"

    assert html_table(page).rows == (("", "7"),)


def test_superscripts_and_struck_out_texts_are_counted() -> None:
    page = "<table><tr><th>A<sup>a</sup></tr><tr><td>3<sup>2</sup> <s>5</s></td></tr></table>"

    with collect_notes() as outer:
        html_table(page)
        with collect_notes() as inner:
            html_table(page)
    html_table(page)

    for notes in (outer, inner):
        findings = notes.report(1).findings
        assert [(each.kind, each.number) for each in findings] == [("superscripts", 2), ("struck", 1)]
