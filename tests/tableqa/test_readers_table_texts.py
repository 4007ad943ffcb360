"""Tables as texts in a field, in the forms that scripts and papers write: read, or refused, and never in one column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.readers import READERS, ReaderError
from tableqa.readers.own_data import OwnData
from tableqa.readers.reading_options import reading_options
from tableqa.readers.record_fields import Location
from tableqa.readers.record_tables import file_named, table_from
from tests.tableqa.reports import findings_of

ROWS = [["Name", "Wins"], ["Ann, Jr.", "3.5"], ["Bob", ""]]
FORMS = {
    "TabFact": "Name#Wins\nAnn, Jr.#3.5\nBob#\n",
    "bars": "Name | Wins\nAnn, Jr. | 3.5\nBob | ",
    "bars at both ends": "| Name | Wins |\n| Ann, Jr. | 3.5 |\n| Bob |  |\n",
    "grid": "+----------+------+\n| Name     | Wins |\n+==========+======+\n| Ann, Jr. | 3.5  |\n+---+---+\n| Bob | |\n",
    "Org": "| Name | Wins |\n|------+------|\n| Ann, Jr. | 3.5 |\n| Bob | |",
    "TAPEX": "col : Name | Wins row 1 : Ann, Jr. | 3.5 row 2 : Bob | ",
    "Python list": str([["Name", "Wins"], ["Ann, Jr.", 3.5], ("Bob", "")]),
    "Python object": str({"header": ROWS[0], "rows": ROWS[1:]}),
    "Python objects": str([{"Name": "Ann, Jr.", "Wins": 3.5}, {"Name": "Bob", "Wins": ""}]),
}  # fmt: skip


def read(folder: Path, table: Any) -> list[Example]:
    path = folder / "q.jsonl"
    path.write_text(json.dumps({"question": "who?", "table": table}))
    return list(READERS["own"](path))


@pytest.mark.parametrize("form", FORMS)
def test_a_text_of_a_usual_form_is_its_table(tmp_path: Path, form: str) -> None:
    (example,) = read(tmp_path, FORMS[form])

    assert [list(example.table.header), *map(list, example.table.rows)] == ROWS


@pytest.mark.parametrize(
    "text", ["Name\nAnn\nBob\n", "Name\nAnn  Lee\nBob\n", "Chart #\nAnn\nBob\n", "Name\nAnn | Lee\nBob"]
)
def test_a_text_of_one_column_stays_one(tmp_path: Path, text: str) -> None:
    (example,) = read(tmp_path, text)

    assert example.table.shape == (2, 1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("  Name  Wins\n0  Ann     3\n1  Bob     4", "the table has one column: '  Name  Wins'"),
        ("\\begin{tabular}{ll}\nName & Wins \\\\\nAnn & 3 \\\\\n\\end{tabular}", "the table has one column"),
        ("{'header': array(['Name']), 'rows': nan}", "the rows are null, not a list"),
        ("[['n', 'w'], ['Ann' '3', 'x']]", "this is not JSON"),
        ("{'header': ['Name'], 'rows': [['Ann' 'Bob', 'Cy']]}", "this is not JSON"),
        ("[" * 5_000, "this is not JSON"),
        ("[('a',), {b'x'}]", "this is not JSON"),
        ('[{"a": 1, "a": "it\'s"}]', "the name 'a' twice"),
    ],
)
def test_a_text_of_another_form_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(ReaderError) as error:
        read(tmp_path, text)

    assert what in error.value.what


def test_a_table_file_is_parted_by_number_signs_where_nothing_else_parts_it(tmp_path: Path) -> None:
    (tmp_path / "cup.csv").write_text(FORMS["TabFact"])

    (example,) = read(tmp_path, "cup.csv")

    assert [list(example.table.header), *map(list, example.table.rows)] == ROWS


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a|b\n1;2|"3|4"', [["a", "b"], ["1;2", "3|4"]]),
        ('"a"|"b"\n"1, 2"|3\n', [["a", "b"], ["1, 2", "3"]]),
        ('a | b\n"x, y" | 3', [["a", "b"], ['"x, y"', "3"]]),
        ("a,b\\n1,2\\n", [["a", "b"], ["1", "2"]]),
        ("\ufeffa,b\r\n1,2", [["a", "b"], ["1", "2"]]),
        ("a,b\r1,2\r", [["a", "b"], ["1", "2"]]),
        ("\na,b\n\n1,2\n\n", [["a", "b"], ["1", "2"]]),
        ('a, b\n1, "2, 3"\n', [["a", "b"], ["1", "2, 3"]]),
        ('{"schema": {}, "data": [{"index": 0, "a": "1", "b": "2"}]}', [["a", "b"], ["1", "2"]]),
        ('{"schema": {}, "data": [{"index": "x", "b": "2"}]}', [["index", "b"], ["x", "2"]]),
    ],
)
def test_a_text_is_parted_with_its_quotes_and_escapes(
    tmp_path: Path, text: str, rows: list[list[str]]
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "who?", "table": text}))

    (example,) = OwnData(fields={"quotes": "escapes"} if "\\n" in text else {})(path)

    assert [list(example.table.header), *map(list, example.table.rows)] == rows


def test_line_breaks_that_are_written_as_letters_are_refused_with_the_option(tmp_path: Path) -> None:
    with reading_options({}), pytest.raises(ReaderError, match="n in place of line breaks") as error:
        table_from(Location(tmp_path, 1), "a,b\\n1,2")

    assert error.value.ways == {"quotes": ("escapes",)}
    assert file_named("tables\\nations.csv") == "tables/nations.csv"


def test_a_text_that_is_no_table_offers_no_path_into_it(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "who?", "table": json.dumps({"a": [1], "b": "x"})}))

    with pytest.raises(ReaderError, match="an object that is not a table") as error:
        list(OwnData()(path))

    assert "table" not in error.value.ways


@pytest.mark.parametrize(
    "text",
    ['"mpg" "cyl"\n"Mazda RX4" 21 6\n"Fiat" 30 4\n', "mpg\tcyl\nMazda RX4\t21\t6\nFiat\t30\t4\n"],
)
def test_row_names_of_texts_are_a_column_without_a_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "cars.csv").write_text(text)

    (example,) = read(tmp_path, "cars.csv")

    assert example.table.header == ("", "mpg", "cyl")
    assert example.table.rows == (("Mazda RX4", "21", "6"), ("Fiat", "30", "4"))
    assert findings_of(tmp_path / "q.jsonl")["row_names"].text == "Mazda RX4, Fiat"
