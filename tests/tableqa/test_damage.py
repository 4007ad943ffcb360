"""What spreadsheets and scripts do to a text: each kind by its code, and nothing that a person does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.quality_control.spreadsheet_damage import (
    DAMAGE,
    cell_damage,
    damage,
    header_damage,
    repair_encoding,
)
from tableqa.readers import READERS
from tests.tableqa.strategies import texts

DAMAGED = [
    ("$  3,574", "$3,574 ", "blanks_changed"),
    ("Embarcadero Station\u00a0(game days)", "Embarcadero Station (game days)", "blanks_changed"),
    ("a\u200bb", "ab", "blanks_changed"),
    ("Total (loan)", "total (loan)", "case_changed"),
    ("Appearances\nStart", "Appearances\\nStart", "line_break_escaped"),
    # Dates, times and what is taken for one.
    ("October 31", "31-Oct", "date_rewritten"),
    ("december 28, 2018", "28-dec-18", "date_rewritten"),
    ("September 1998", "Sep-98", "date_rewritten"),
    ("1959-12-06", "1959/12/6", "date_rewritten"),
    ("1 January 2019", "43466", "date_rewritten"),
    ("2-5", "5-Feb", "date_rewritten"),
    ("5:04", "05:04", "date_rewritten"),
    # Numbers.
    ("13.50", "13.5", "number_reformatted"),
    ("28.9%", "28.90%", "number_reformatted"),
    ("26", "26.0", "number_reformatted"),
    ("1,234", "1234", "number_reformatted"),
    ("(365,223)", "-365,223", "number_reformatted"),
    ("$(7)", "($7)", "number_reformatted"),
    ("844 (49.8%)", "844 (49.80%)", "number_reformatted"),
    ("(9.9)", "9.9", "sign_changed"),
    ("2,088", "-2,088", "sign_changed"),
    ("(−7)", "(7)", "sign_changed"),
    ("−7", "7", "sign_changed"),
    ("–$7.5", "$7.5", "sign_changed"),
    ("844 (−49.8%)", "844 (49.8%)", "sign_changed"),
    ("7", "−7", "sign_changed"),
    ("−7 (−3)", "7 (−3)", "sign_changed"),
    ("—7", "7", "sign_changed"),
    ("−7", "+7", "sign_changed"),
    ("40.0%", "400%", "decimal_point_lost"),
    ("$30.00", "$300", "decimal_point_lost"),
    ("$41.0", "$400", "decimal_point_lost"),
    ("70.07", "707", "decimal_point_lost"),
    ("$166.3", "$1,6630", "decimal_point_lost"),
    ("1,663", "1,6630", "number_malformed"),
    # Encoding.
    ("Luis López", "Luis L¨®pez", "encoding_lost"),
    ("João Vieira", "Jo o Vieira", "encoding_lost"),
    ("São Paulo", "Sao Paulo", "encoding_lost"),
    ("Café", "CafÃ©", "encoding_lost"),
    ("2020 – 2024", "2020 ¨C 2024", "encoding_lost"),
    ("2020 –2024", "2020 2024", "encoding_lost"),
    ("−7", "?7", "encoding_lost"),
    ("2020 ¨C 2024", "2020 ÿ 2024", "encoding_lost"),
    ("2025 – 2029", "2025 ??2029", "encoding_lost"),
    ("(in millions of €)", "(in millions of )", "encoding_lost"),
    ("£m", "?û", "encoding_lost"),
    ("—", "¡ª", "encoding_lost"),
    ("€m", "\x80m", "encoding_lost"),
    ("", "nan", "nan_cell"),
    ("Heat", "NaN", "nan_cell"),
]

MEANT = [
    ("4", "361"),
    ("$3,574", "$3,577"),
    ("12.93", "13.93"),
    ("31 October", "30 October"),
    ("1:20:27", "1:10:27"),
    ("Ann", "Bob"),
    ("Müller", "Möller"),
    ("£5", "€5"),
    ("€5", "$5"),
    ("£", "£000"),
    ("12 34", "1234"),
    ("2-5", "3-5"),
    ("0.4", "0.8"),
    ("5", "50"),
    ("", "12"),
    ("nan", "7"),
    ("Nan", "Nancy"),
    ("October 2018", "2018-11"),
]


@pytest.mark.parametrize(("old", "new", "code"), DAMAGED)
def test_damage_is_called_by_its_name(old: str, new: str, code: str) -> None:
    assert damage(old, new) == code


@pytest.mark.parametrize(("old", "new"), MEANT)
def test_what_a_person_may_have_meant_is_no_damage(old: str, new: str) -> None:
    assert damage(old, new) is None


def test_every_code_has_an_example_or_is_one_of_headers() -> None:
    assert {code for _, _, code in DAMAGED} | {"unnamed_header", "numbered_header"} == set(DAMAGE)


def test_a_point_may_be_missed_for_the_sake_of_the_column() -> None:
    """21% was 21.0% once; 210% beside 3.7% and 1.6% has lost a point, beside 21% it may be meant."""
    assert damage("21%", "210%", ["21%", "3.7%"]) is None
    assert damage("2.9", "30", ["2.9", "3.8"]) == "decimal_point_lost"
    assert damage("29", "300", ["2.9", "3.8"]) == "decimal_point_lost"


@given(texts)
def test_a_text_that_is_as_it_was_is_not_damaged(text: str) -> None:
    assert damage(text, text) is None


@given(texts, texts)
def test_any_two_texts_can_be_compared(old: str, new: str) -> None:
    assert damage(old, new, [old, new]) in {None, *DAMAGE}
    assert cell_damage(new) in {None, *DAMAGE}


@given(st.integers(-(10**6), 10**6), st.integers(1, 4))
def test_added_decimals_are_a_number_written_anew(value: int, decimals: int) -> None:
    assert damage(f"{value:,}", f"{value:,}.{'0' * decimals}") == "number_reformatted"


@given(st.dates())
def test_a_date_as_a_spreadsheet_writes_it_is_found(day) -> None:
    old = f"{day:%B} {day.day}, {day.year:04}"
    assert damage(old, f"{day.day}-{day:%b}-{day.year % 100:02}") == "date_rewritten"
    assert damage(old, day.isoformat()) == "date_rewritten"


@given(st.text("áéíóúñüçàèùâêîôûäöãõåø–—’“”", min_size=1, max_size=6))
def test_utf_8_read_as_something_else_is_seen_and_turned_back(marks: str) -> None:
    text = f"Jo{marks} 12"
    broken = text.encode("utf-8").decode("latin-1")
    assert cell_damage(broken) == "encoding_lost"
    assert damage(text, broken) == "encoding_lost"
    assert repair_encoding(broken) == text


@pytest.mark.parametrize(
    "text",
    ["Jérémy Chardy", "L'Haÿ-les-Roses", "¡Qué!", "£5", "Джебарики-Хая", "中文", "−9.9", "±5 §2 ©2019"],
)
def test_text_in_any_script_is_not_taken_for_broken(text: str) -> None:
    assert cell_damage(text) is None
    assert repair_encoding(text) == text


def test_headers_of_a_data_frame() -> None:
    header = ["Name", "Unnamed: 10", "Name.1", "Version 2.0", "Rank.1", "", "nan"]
    found = [header_damage(header, place) for place in range(len(header))]
    assert found == [None, "unnamed_header", "numbered_header", None, None, None, "nan_cell"]


def test_the_tables_of_wikitablequestions_show_no_damage(test_data: Path) -> None:
    """1,679 tables of every kind: only two cells are called malformed, and they are."""
    seen: dict[str, Table] = {}
    for split in ("dev", "train"):
        for example in READERS["wtq"](test_data / "wtq" / f"random-split-1-{split}.tsv"):
            seen.setdefault(example.meta["context"], example.table)
    assert len(seen) == 1_679
    found = [cell for table in seen.values() for row in table.rows for cell in row if cell_damage(cell)]
    assert sorted(found) == ["1,1024", "13,5000"]
    headers = [
        name
        for table in seen.values()
        for place, name in enumerate(table.header)
        if header_damage(table.header, place)
    ]
    assert headers == []
