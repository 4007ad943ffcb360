"""Every record of a file as an example or a problem: the good ones of a file with faults can be used."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tableqa import Example
from tableqa.readers import READERS, Rejection, checked_outcomes

TABLE = '"Name,Wins\nAnn,3"'


def outcomes(path: Path, reader: str = "own", limit: int | None = None) -> list[str | tuple[int | None, str]]:
    """The question of each example; line and column of each problem."""
    return [
        outcome.question if isinstance(outcome, Example) else (outcome.error.line, outcome.error.column)
        for outcome in checked_outcomes(READERS[reader], path, limit=limit)
    ]


def questions(folder: Path, *rows: str, name: str = "questions.csv") -> Path:
    path = folder / name
    path.write_text("id,question,answers,table\n" + "".join(f"{row}\n" for row in rows))
    return path


def test_each_fault_has_its_line_and_column_and_the_good_rows_between_are_read(tmp_path: Path) -> None:
    path = questions(
        tmp_path,
        f"1,first?,Ann,{TABLE}",
        "2,second?,Ann,missing.csv",
        f",third?,Ann,{TABLE}",
        f"4,fourth?,Ann,{TABLE},too much",
        f"1,fifth?,Ann,{TABLE}",
        f"6,sixth?,Ann,{TABLE}",
    )

    assert outcomes(path) == ["first?", (4, "table"), (5, "id"), (7, ""), (9, ""), "sixth?"]


def test_a_rejected_record_keeps_what_the_file_says(tmp_path: Path) -> None:
    path = questions(tmp_path, "2,second?,Ann,missing.csv")

    (problem,) = checked_outcomes(READERS["own"], path)

    assert isinstance(problem, Rejection)
    assert problem.record == {"id": "2", "question": "second?", "answers": "Ann", "table": "missing.csv"}


def test_a_line_that_is_not_json_costs_no_other_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"question": "a?", "table": [["A"]]}\n{"question"\n{"question": "c?", "table": [["A"]]}\n'
    )

    assert outcomes(path) == ["a?", (2, ""), "c?"]


def test_a_problem_in_an_archive_names_the_archive(tmp_path: Path) -> None:
    path = questions(tmp_path, "1,first?,Ann,missing.csv", f"2,second?,Ann,{TABLE}")
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(path, path.name)

    problem, example = checked_outcomes(READERS["own"], archive)

    assert isinstance(problem, Rejection)
    assert problem.error.file == "all.zip/questions.csv"
    assert isinstance(example, Example)


def test_a_file_that_ends_within_a_quoted_field_cannot_be_read_beyond_it(tmp_path: Path) -> None:
    path = questions(tmp_path, f"1,first?,Ann,{TABLE}", '2,"second?,Ann,x')

    *_, problem = checked_outcomes(READERS["own"], path)

    assert isinstance(problem, Rejection)
    assert problem.record is None


def test_a_reader_of_a_published_format_lists_every_fault(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text('{"id": "1"}\n{"id": "2"}\n')

    assert outcomes(path, "jsonl") == [(1, "table"), (2, "table")]


def test_a_limit_counts_examples(tmp_path: Path) -> None:
    path = questions(tmp_path, ",no id?,Ann,x", f"2,second?,Ann,{TABLE}", f"3,third?,Ann,{TABLE}")

    assert outcomes(path, limit=1) == [(2, "id"), "second?"]
