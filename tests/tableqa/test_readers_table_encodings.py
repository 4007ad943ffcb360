"""Table files from before Unicode: one encoding for all, which the import says and a person can choose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tableqa.readers import READERS, FormReportingReader, MappedReader
from tableqa.readers.own_data import OwnData

CITIES = "Stadt,Höhe\nKöln,3\nMünchen,5\nGießen,8\nWürzburg,2\n"
FORMS = {
    "a.csv": "A\n{text}\n",
    "a.html": "<table><tr><th>A</th></tr><tr><td>{text}</td></tr></table>",
    "a.md": "| A |\n|---|\n| {text} |\n",
    "a.json": '[["A"], ["{text}"]]',
    "a.jsonl": '["A"]\n["{text}"]\n',
}


def laid_out(folder: Path, encoding: str, **files: str) -> Path:
    for name, content in files.items():
        (folder / f"{name}.csv").write_bytes(content.encode(encoding))
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps({"question": "wo?", "table": f"{name}.csv"}) + "\n" for name in files))
    return path


def own(**fields: str) -> OwnData:
    reader = READERS["own"]
    assert isinstance(reader, MappedReader)
    read = reader.with_fields(fields)
    assert isinstance(read, OwnData)
    return read


@pytest.mark.parametrize("encoding", ["cp1252", "mac-roman", "cp850"])
def test_tables_with_few_letters_have_the_encoding_of_all_together(tmp_path: Path, encoding: str) -> None:
    path = laid_out(tmp_path, encoding, few="Nr,Note\n1,é\n2,Ñ\n", cities=CITIES)

    first, second = own()(path)

    assert first.table.rows == (("1", "é"), ("2", "Ñ"))
    assert second.table.header == ("Stadt", "Höhe")


def test_the_import_says_how_tables_were_read_and_that_it_is_a_guess(tmp_path: Path) -> None:
    reader = own()
    assert isinstance(reader, FormReportingReader)

    path = laid_out(tmp_path, "cp1252", few="Nr,Name\n1,Müller\n2,Søren\n")

    assert (
        "Tables that are not Unicode were read as Windows-1252 (Müller, Søren). "
        "The encoding is a guess: check these letters." in reader.read_as(path)
    )
    assert reader.layout(path).table_encoding == "cp1252"


def test_nothing_is_said_of_tables_that_are_unicode(tmp_path: Path) -> None:
    path = laid_out(tmp_path, "utf-8", cities=CITIES)

    assert "Unicode" not in own().read_as(path)
    assert own().layout(path).table_encoding == ""


def test_tables_of_several_encodings_are_a_guess(tmp_path: Path) -> None:
    path = laid_out(tmp_path, "cp1251", cities="Город,Высота\nМосква,3\nТомск,5\nКурск,7\n" * 3)
    (tmp_path / "other.csv").write_bytes((CITIES * 3).encode("mac-roman"))
    with path.open("a") as file:
        file.write('{"question": "wo?", "table": "other.csv"}\n')

    assert "The encoding is a guess" in own().read_as(path)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("option", ["table_encoding", "encoding"])
def test_a_chosen_encoding_is_that_of_tables_of_any_form_that_are_not_unicode(
    tmp_path: Path, name: str, option: str
) -> None:
    (tmp_path / name).write_bytes(FORMS[name].format(text="Łódź").encode("cp1250"))
    unicode_name = f"unicode{Path(name).suffix}"
    (tmp_path / unicode_name).write_text(FORMS[name].format(text="Łódź"), "utf-8")
    path = tmp_path / "q.jsonl"
    path.write_text(
        "".join(json.dumps({"question": "wo?", "table": table}) + "\n" for table in (name, unicode_name))
    )

    examples = list(own(**{option: "cp1250"})(path))

    assert [example.table.rows for example in examples] == [(("Łódź",),), (("Łódź",),)]
    assert own(**{option: "cp1250"}).layout(path).table_encoding == "cp1250"


def test_tables_and_questions_can_have_different_chosen_encodings(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("Stadt\nŁódź\n".encode("cp1250"))
    (tmp_path / "q.csv").write_bytes("question,table\nwo in Köln?,t.csv\n".encode("mac-roman"))

    (example,) = own(encoding="mac-roman", table_encoding="cp1250")(tmp_path / "q.csv")

    assert (example.question, example.table.rows) == ("wo in Köln?", (("Łódź",),))
