"""Quotes at the edges of fields: text where they would swallow rows, and not where a program quoted."""

from __future__ import annotations

import csv
import random
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest

from tableqa.readers import READERS
from tableqa.readers.delimited import read_delimited
from tableqa.readers.interface import ReaderError
from tableqa.readers.own_data import OwnData
from tableqa.readers.report import collect_notes
from tests.tableqa.reports import report_of


def rows_of(folder: Path, text: str, separator: str) -> list[list[str]]:
    path = folder / "a.csv"
    path.write_bytes(text.encode())
    return [fields for _, fields in read_delimited(path, separator)]


def joined(rows: list[list[str]], separator: str) -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


@pytest.mark.parametrize("separator", ["\t", ",", ";", "|"])
@pytest.mark.parametrize("name", ["tsv", "csv"])
def test_questions_with_quotes_at_their_edges_stay_as_many(tmp_path: Path, separator: str, name: str) -> None:
    (tmp_path / "t.csv").write_text("Name\nAnn\n")
    questions = ["Who?", '"A? he said', "B?", 'C says "', 'D is "E"']
    rows = [[f"q{at}", question, "t.csv", "Ann"] for at, question in enumerate(questions)]
    path = tmp_path / f"q.{name}"
    path.write_text(joined([["id", "question", "table", "answer"], *rows], separator))
    own = READERS["own"]
    assert isinstance(own, OwnData)

    read = list(own(path))

    assert [example.question for example in read] == questions
    assert [example.id for example in read] == ["q0", "q1", "q2", "q3", "q4"]
    (finding,) = report_of(path).findings
    assert (finding.kind, finding.number, finding.line) == ("quotes", 1, 3)


def test_a_table_file_with_quotes_at_its_edges_keeps_its_rows(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text('Name\tWins\nAnn\t1\n"Bob\t2\nCy\t3\nDi\t4"\n')
    path = tmp_path / "q.csv"
    path.write_text("question,table\nwho?,t.tsv\n")

    (example,) = READERS["own"](path)

    assert example.table.rows == (("Ann", "1"), ('"Bob', "2"), ("Cy", "3"), ("Di", '4"'))


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("seed", range(100))
def test_what_a_program_quoted_is_read_as_it_was(
    tmp_path: Path, seed: int, quoting: Literal[0, 1, 2]
) -> None:
    draw = random.Random(seed)
    separator = draw.choice(",;\t")
    parts = ["a", '"', separator, "\n", "\r\n", " ", "b", '""', '"\n', f'{separator}"']
    width = draw.randrange(2, 5)
    rows = [["".join(draw.choices(parts, k=draw.randrange(6))) for _ in range(width)] for _ in range(8)]
    rows = [["n" * width, *(f"c{at}" for at in range(1, width))], *rows, ['says "so"', *["x"] * (width - 1)]]
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=separator, quoting=quoting).writerows(rows)

    with collect_notes() as notes:
        assert [fields for _, fields in read_delimited(path, separator)] == rows
    assert not notes.report(1).findings


@pytest.mark.parametrize("seed", range(100))
def test_what_no_program_quoted_keeps_all_of_its_rows_or_is_refused(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    separator = draw.choice(",;\t")
    cells = ["Ann", '"Ann', 'Ann"', "", "7", 'a "b" c', "it's"]
    width = draw.randrange(2, 5)
    rows = [[draw.choice(cells) for _ in range(width)] for _ in range(10)]
    rows = [[f"c{at}" for at in range(width)], *rows]

    with suppress(ReaderError):  # a quote that is not closed, or text behind one
        read = rows_of(tmp_path, joined(rows, separator), separator)
        assert read == rows or any(len(row) != width for row in read)


def test_one_field_over_lines_that_could_be_rows_is_one_if_the_file_shows_that_it_quotes(
    tmp_path: Path,
) -> None:
    text = 'question,table,answers\nwho?,"Town,People\nArlen,5",x\n'

    assert len(rows_of(tmp_path, text, ",")) == 3
    assert len(rows_of(tmp_path, text + 'where?,"T,P\nA,1\nB,2",y\n', ",")) == 3
    assert len(rows_of(tmp_path, text + 'say ""?,"a ""b""",y\n', ",")) == 3
    assert (
        len(rows_of(tmp_path, text.replace("question,table,answers", '"question","table","answers"'), ","))
        == 2
    )


def test_a_field_with_doubled_quotes_over_lines_that_could_be_rows_is_one(tmp_path: Path) -> None:
    text = 'Frage,Antwort,Tabelle\n"Is it so, as ""Persona"" says,\nWhat?",1.5,places.csv\n'

    assert rows_of(tmp_path, text, ",")[1:] == [
        ['Is it so, as "Persona" says,\nWhat?', "1.5", "places.csv"],
    ]


def test_lines_are_counted_and_named_where_they_were_joined(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('a\tb\n1\t2\n"3\t4\n5\t6"\n7\t8\n')

    with collect_notes() as notes:
        assert [line for line, _ in read_delimited(path, "\t")] == [1, 2, 3, 4, 5]
    (finding,) = notes.report(1).findings
    assert (finding.kind, finding.number, finding.line, finding.text) == ("quotes", 1, 3, "a.tsv")


@pytest.mark.parametrize("separator", ["\t", ",", ";", "|"])
def test_a_row_that_quotes_make_too_short_can_be_read_with_quotes_as_text(
    tmp_path: Path, separator: str
) -> None:
    (tmp_path / "t.csv").write_text("Name\nAnn\n")
    path = tmp_path / "q.csv"
    path.write_text(joined([["question", "answer", "table"], ['"Who said', 'Ann"', "t.csv"]], separator))

    with pytest.raises(ReaderError) as error:
        list(OwnData(fields={})(path))
    (example,) = OwnData(fields={"quotes": "text"})(path)

    assert error.value.ways == {"quotes": ("text",)}
    assert (example.question, example.answers) == ('"Who said', ('Ann"',))


def test_a_row_that_is_too_short_without_quotes_has_no_such_option(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("question,answer,table\nWho,Ann\n")

    with pytest.raises(ReaderError) as error:
        list(OwnData(fields={})(path))

    assert error.value.ways == {}
