"""Answers that look like lists: whether a column holds lists is decided for the column, and said."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tableqa import Example
from tableqa.readers import READERS, ReaderError, Rejection, checked_outcomes
from tests.tableqa.reports import findings_of


def file_of(folder: Path, *answers: str) -> Path:
    path = folder / "questions.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "answers", "table"])
        writer.writerows(["who?", answer, '[["Name"], ["Ann"]]'] for answer in answers)
    return path


def outcomes(path: Path) -> list[tuple[str, ...] | str]:
    """The answers of each record, or what its problem is."""
    return [
        outcome.answers if isinstance(outcome, Example) else outcome.error.what
        for outcome in checked_outcomes(READERS["own"], path)
    ]


LISTS = {
    "['Ann' 'Bob']": ("Ann", "Bob"),
    "[1.5, 2.0]": ("1.5", "2.0"),
    "[1.50, 2]": ("1.50", "2"),
    "['007', 1.50]": ("007", "1.50"),
    "array(['a', 'b'], dtype=object)": ("a", "b"),
    "[np.str_('a'), np.float64(0.1)]": ("a", "0.1"),
    "(1, 2)": ("1", "2"),
    "('a',)": ("a",),
    "[\"it's\", 'b']": ("it's", "b"),
    "[1. 2.5]": ("1.0", "2.5"),
    "[]": (),
    "[3]": ("3",),
    str(np.array(["x" * 40, "y" * 40])): ("x" * 40, "y" * 40),
}


@pytest.mark.parametrize("text", LISTS)
def test_each_form_of_a_list_is_its_members(tmp_path: Path, text: str) -> None:
    path = file_of(tmp_path, text)

    assert outcomes(path) == [LISTS[text]]
    finding = findings_of(path)["lists"]
    assert (finding.number, finding.line, finding.record) == (1, 2, "1")
    assert finding.text[:50] == text[:50].replace("\n", "↵")


def test_all_forms_are_read_in_one_column(tmp_path: Path) -> None:
    assert outcomes(file_of(tmp_path, *LISTS)) == list(LISTS.values())


@pytest.mark.parametrize(
    "text", ["['Ann' 'Bob', 'Cy']", "['it's', 'b']", "[a]", "[0 1 ... 8 9]", "array([a])"]
)
def test_what_looks_like_a_list_in_a_column_of_lists_and_is_none_is_a_problem(
    tmp_path: Path, text: str
) -> None:
    path = file_of(tmp_path, "['a', 'b']", text, "Bob", "")

    assert outcomes(path) == [
        ("a", "b"),
        f"answers begins and ends like a list, and is none: {text!r}",
        ("Bob",),
        (),
    ]
    finding = findings_of(path)["no_lists"]
    assert (finding.number, finding.line, finding.text) == (1, 3, text)


def test_a_list_with_a_missing_member_is_a_problem(tmp_path: Path) -> None:
    assert outcomes(file_of(tmp_path, "['a', None]", "['b' nan]")) == [
        "answers[1] is null, not a text",
        "answers[1] is null, not a text",
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["[1]", "[a]"],
        ["[1]", "Ann"],
        ["[0, 1]", "Ann", "[2, 3)"],
        ["[citation needed]"],
        ["[1]", "[2]", "3"],
        ["(1,204)", "(12)"],
        ["[]", "Ann"],
        ["[]", "[x]"],
    ],
)
def test_a_column_of_texts_keeps_its_brackets(tmp_path: Path, texts: list[str]) -> None:
    path = file_of(tmp_path, *texts)

    assert outcomes(path) == [(text,) for text in texts]
    findings = findings_of(path)
    like_lists = [text for text in texts if text.endswith("]")]
    assert (findings["texts_like_lists"].number if "texts_like_lists" in findings else 0) == len(like_lists)
    assert "lists" not in findings


def test_numbers_in_brackets_are_lists_where_every_answer_is_one(tmp_path: Path) -> None:
    path = file_of(tmp_path, "[1]", "", "[2]")

    assert outcomes(path) == [("1",), (), ("2",)]
    assert findings_of(path)["lists"].number == 2


def test_a_list_at_the_end_of_a_column_decides_for_its_start(tmp_path: Path) -> None:
    path = file_of(tmp_path, "[1]", *["Ann"] * 1_500, "['a', 'b']")

    first, *_, last = outcomes(path)

    assert (first, last) == (("1",), ("a", "b"))


def test_the_rejected_record_is_given_with_its_remedy(tmp_path: Path) -> None:
    (problem,) = [
        outcome
        for outcome in checked_outcomes(READERS["own"], file_of(tmp_path, "['a' 'b', 'c']"))
        if isinstance(outcome, Rejection)
    ]

    assert isinstance(problem.error, ReaderError)
    assert problem.error.line == 2
    assert problem.error.mend == "Write the list as JSON does. Other answers of this column are lists"
