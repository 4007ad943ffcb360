"""The separator and the encoding of a file are found out, said, and refused where they cannot be known."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.readers import ReaderError
from tableqa.readers.delimited import read_delimited
from tableqa.readers.text_form import SEPARATORS, may_have_row_names, text_form

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"]
TEXTS = st.text("abcXYZ 019äöüßÄÖÜéèñ,;|\t\"'\n", max_size=12)


def written(rows: list[list[str]], separator: str, quoting: int, ends: str) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=ends).writerows(rows)  # type: ignore[arg-type]
    return file.getvalue()


def read(path: Path) -> list[list[str]]:
    form = text_form(path)
    return [cells for _, cells in read_delimited(path, form.separator, form.encoding)]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_rows_come_back_from_every_separator_encoding_and_quoting(
    tmp_path: Path, encoding: str, separator: str, ends: str, quoting: int
) -> None:
    rows = [["Name", "Größe", "Ort"], ["Müller", "3,50", 'Köln "am Rhein"'], ["Bob; Ann", "a|b", "x\ty"]]
    path = tmp_path / "a.csv"
    path.write_bytes(written(rows, separator, quoting, ends).encode(encoding))

    assert read(path) == rows


@given(
    rows=st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=1, max_size=6),
    separator=st.sampled_from(list(SEPARATORS)),
    encoding=st.sampled_from(ENCODINGS[:5]),
)
def test_quoted_rows_come_back_whatever_their_texts_hold(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], separator: str, encoding: str
) -> None:
    path = tmp_path_factory.mktemp("rows") / "a.csv"
    path.write_bytes(written([["A", "B", "C"], *rows], separator, csv.QUOTE_ALL, "\n").encode(encoding))

    assert read(path) == [["A", "B", "C"], *rows]


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        ("Name;Ort\nMüller;Köln\n", "cp1252", "Windows-1252 (Müller, Köln)"),
        ("Nom;Ville\nHélène;Besançon\n", "cp1252", "Windows-1252 (Hélène, Besançon)"),
        ("Name;Preis\nÄpfel;3 €\n", "cp1252", "Windows-1252 (Äpfel, €)"),
        ("Имя;Город\nИван;Москва\nПётр;Казань\n", "cp1251", "Windows-1251 (Имя, Город, Иван)"),
        ("名前;都市\n山田;東京\n鈴木;大阪\n", "cp932", "Shift JIS (名前, 都市, 山田)"),
        ("Name;Ort\nMüller;Köln\n", "utf-16", "UTF-16"),
        ("Name;Ort\nMüller;Köln\n", "utf-8-sig", "UTF-8"),
        ("Name;Ort\n", "ascii", "UTF-8"),
    ],
)
def test_what_was_detected_is_said_with_words_to_check_it_by(
    tmp_path: Path, text: str, encoding: str, name: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))

    assert text_form(path).sentence(path) == f"a.csv was read as semicolon-separated, {name}."


@pytest.mark.parametrize("number", [1, 2])
def test_the_comments_that_are_left_out_are_counted(tmp_path: Path, number: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text("# of May\n" * number + "Name;Ort\nAnn;Rom\n")

    said = f"UTF-8. Lines above the header, left out: {number}."
    assert text_form(path).sentence(path) == f"a.csv was read as semicolon-separated, {said}"


GERMAN = "Nr;Frage;Antwort\nStraße;Wie heißt die größte Stadt nahe Köln?;Düsseldorf\nÖl;Für wen zahlte Müller?;Käse\n"


@pytest.mark.parametrize(
    ("text", "encoding", "read_as"),
    [
        (GERMAN, "mac-roman", "mac-roman"),
        (GERMAN, "cp850", "cp850"),
        (GERMAN, "cp1250", "cp1252"),
        ("Stadt;Preis\nKöln;5 €\nZürich;7 €\n", "iso8859-15", "iso8859-15"),
        ("Ville;Prix\nBesançon;l’été – 5 €\nÉvreux;où très\n", "cp1252", "cp1252"),
        ("Ville;Prix\nBesançon;l’été – 5 €\nÉvreux;où très\n", "mac-roman", "mac-roman"),
        ("Miasto;Klub\nŁódź;Wisła Kraków, później źle\n", "cp1250", "cp1250"),
        ("Город;Клуб\nМосква;Спартак выиграл больше матчей\n", "koi8-r", "koi8-r"),
        ("Город;Клуб\nМосква;Спартак выиграл больше матчей\n", "cp1251", "cp1251"),
        ("Πόλη;Ομάδα\nΑθήνα;ποιος κέρδισε αγώνες\n", "cp1253", "cp1253"),
        ("质询;答案\n谁赢得最多比赛;北京\n", "gb18030", "gb18030"),
    ],
)
@pytest.mark.parametrize("times", [1, 400])
def test_encodings_before_unicode_are_known_by_letters_and_their_places(
    tmp_path: Path, text: str, encoding: str, read_as: str, times: int
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes((text * times).encode(encoding))

    form = text_form(path, separator=";")

    assert form.encoding == read_as
    assert path.read_bytes().decode(form.encoding) == text * times


def test_an_encoding_that_few_letters_tell_is_said_to_be_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("question,answer\nWho is Müller?,Ann\n".encode("mac-roman"))

    sentence = text_form(path).sentence(path)

    assert sentence == (
        "a.csv was read as comma-separated, Mac Roman (Müller). The encoding is a guess: check these letters."
    )


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a^b\n1,5^2\n", "^"),
        ("a~b\n1~2\n", "~"),
        ("question:table\nwho?:x.csv\n", ":"),
        ("Name   Wins\nAnn Lee  3\nBob    4\n", "  "),
        ("Note: a\nAnn: b\n", ","),
        ("One column\nAnn\n", ","),
    ],
)
def test_rare_separators_are_known_where_nothing_else_fits(tmp_path: Path, text: str, separator: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    columns = ["question", "table"] if "question" in text else []

    assert text_form(path, columns=columns).separator == separator


def test_columns_that_are_aligned_with_spaces_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Name     Wins  \nAnn Lee  3\n  Bob    4\n")

    form = text_form(path)

    assert [row for _, row in read_delimited(path, form.separator)] == [
        ["Name", "Wins"],
        ["Ann Lee", "3"],
        ["Bob", "4"],
    ]


def refused(path: Path, **told: str) -> ReaderError:
    with pytest.raises(ReaderError) as error:
        text_form(path, **told)
    return error.value


def test_damaged_utf8_is_not_read_as_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Name,Ort\nMüller,Köln\nJürgen,".encode() + b"K\xf6ln\n")

    error = refused(path)

    assert (error.line, error.what) == (
        3,
        "the file is UTF-8 but for some bytes, the first of them in this line",
    )


def test_an_encoding_that_is_named_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Imię;Miasto\nŁukasz;Łódź\n".encode("cp1250"))

    assert (
        text_form(path, encoding="windows-1250").sentence(path).endswith("Windows-1250 (Imię, Łukasz, Łódź).")
    )
    assert "there is no encoding 'hex'" in refused(path, encoding="hex").what


def test_a_file_beyond_the_first_block_is_looked_at_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a;b\n" * 600_000 + "ä;ö\n".encode("cp1252"))

    assert text_form(path).encoding == "cp1252"


def test_a_fault_far_behind_is_named_by_its_line(tmp_path: Path) -> None:
    lines = "Müller;Köln\n".encode() * 200_000
    path = tmp_path / "people.csv"
    path.write_bytes(b"name;city\n" + lines + b"M\xff;K\n" + lines)

    assert refused(path).line == 200_002


def test_a_separator_that_cannot_be_known_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("City;Lat, Lon\nUlm;1, 2\n", "utf-8")

    assert refused(path).what == "the separator may be comma or semicolon: each gives rows of equal length"
    assert text_form(path, separator=";").separator == ";"


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("Name;Price\nAnn;3,50\nBob;4,00\n", ";"),
        ("Name\tNote\nAnn\ta, b; c\n", "\t"),
        ("Name,Note\nAnn,a; b\nBob,c\n", ","),
        ("Name\nAnn\n", ","),
        ("", ","),
    ],
)
def test_the_separator_gives_rows_of_one_length(tmp_path: Path, text: str, separator: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, "utf-8")

    assert text_form(path).separator == separator


def test_known_columns_decide_between_two_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id;question, asked;table\n1;who, then?;t.csv\n", "utf-8")

    assert text_form(path, columns=["id", "table"]).separator == ";"


def test_titles_above_a_header_that_is_known_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Made by a program, in May\n\nquestion,answer\nwho?,Ann\nwhere?,Rome\n")

    form = text_form(path, columns=["question", "answer", "table"])

    assert (form.separator, form.comments) == (",", 1)  # empty lines are passed over


def test_a_first_row_of_another_length_is_no_title_above_an_unknown_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Name\nAnn,Rome\nBob,Oslo\n")

    assert text_form(path, columns=["question", "answer"]).comments == 0


@pytest.mark.parametrize("line", ["sep=;\n", '"sep=;"\r\n', "SEP=;\n"])
def test_a_first_line_of_excel_states_the_separator(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{line}a;b,c;d\n1;2,3;4\n", "utf-8-sig", newline="")

    form = text_form(path)

    assert (form.separator, form.comments) == (";", 1)
    assert [row for _, row in read_delimited(path, ";", form.encoding, comments=1)] == [
        ["a", "b,c", "d"],
        ["1", "2,3", "4"],
    ]


@pytest.mark.parametrize(
    ("text", "has_row_names"),
    [
        ('"Name" "Wins"\n"1" "Ann Lee" 3\n"2" "Bob" 4\n', True),
        ('"Name" "Wins"\n"1" "say \\"hi\\"" 3\n"2" "Bob" 4\n', True),
        ('"Name" "Wins"\n"Ann Lee" 3\n"Bob" 4\n', True),
        (' Name Wins\n0 "Ann Lee" 3\n1 Bob 4\n', False),
        ('City Note\nRome "a b"\n', False),
    ],
)
def test_single_spaces_part_lines_as_r_and_pandas_write_them(
    tmp_path: Path, text: str, has_row_names: bool
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)

    form = text_form(path)

    assert (form.separator, may_have_row_names(path, form)) == (" ", has_row_names)


@pytest.mark.parametrize(
    "text",
    ["Full name\nAnn Lee\nBob Ray\n", '"Name"\n"Ann Lee"\n', 'Name\n"Ann" said\n', '"a" b\n"c" d e f\n'],
)
def test_spaces_between_words_are_no_separator(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)

    assert text_form(path).separator == ","
