"""Superlatives of questions: the columns that they are about, and the programs that are offered first for it."""

from __future__ import annotations

import pytest

from tableqa import Example, Table
from tableqa.programs import describe, find_programs
from tableqa.programs.layout import words
from tableqa.programs.superlatives import is_about
from tableqa.programs.syntax import Which


@pytest.mark.parametrize(
    ("question", "header", "end"),
    [
        ("which building is the oldest?", "Year", "smallest"),
        ("who is the oldest player?", "Age", "largest"),
        ("who is the youngest player?", "Age", "smallest"),
        ("which is the newest bridge?", "Opened", "largest"),
        ("what is the longest film?", "Minutes", "largest"),
        ("what is the tallest tower?", "Height (m)", "largest"),
        ("who was the fastest?", "Time", "smallest"),
        ("which car is the fastest?", "Top speed", "largest"),
        ("what was the best place?", "Position", "smallest"),
    ],
)
def test_a_superlative_is_about_one_end_of_a_column(question: str, header: str, end: Which) -> None:
    other: Which = "largest" if end == "smallest" else "smallest"
    assert is_about(words(question), end, words(header))
    assert not is_about(words(question), other, words(header))
    assert not is_about(words(question), end, words("Nation"))
    assert not is_about(words("which one is it?"), end, words(header))


def test_a_column_of_dates_is_known_by_its_cells() -> None:
    assert is_about(words("the oldest one"), "smallest", words("Since"), is_date=True)
    assert not is_about(words("the longest one"), "largest", words("Since"), is_date=True)


FILMS = Table(
    ["#", "Film", "Released", "Minutes", "Wins"],
    [
        ["1", "Heat", "1995", "170", "0"],
        ["2", "Alien", "1979", "117", "2"],
        ["3", "Ran", "1985", "162", "1"],
        ["4", "Tron", "1996", "96", "0"],
    ],
)
JOBS = Table(
    ["Name", "Club", "From", "Until"],
    [
        ["Colin Clarke", "Islanders", "2007", "2011"],
        ["Adrian Whitbread", "Islanders", "2011", "2012"],
        ["Eric Wynalda", "Silverbacks", "2012", "2012"],
    ],
)
EXITS = Table(
    ["Team", "Departure"],
    [["A", "Contract terminated"], ["B", "Contract expired"], ["C", "Sacked"], ["D", "Contract terminated"]],
)


@pytest.mark.parametrize(
    ("question", "table", "answer", "first"),
    [
        ("which film is the longest?", FILMS, "Heat", "Minutes"),
        ("which film is listed first?", FILMS, "Heat", "first row|smallest #"),
        ("how many films did not win?", FILMS, "2", "Wins is 0"),
        ("how long did colin clarke coach the islanders?", JOBS, "4", "Until in row 1"),
        ("how many teams had their contract being terminated?", EXITS, "2", "is Contract terminated"),
    ],
)
def test_the_words_of_the_question_decide_which_program_comes_first(
    question: str, table: Table, answer: str, first: str
) -> None:
    programs = find_programs(Example("q", question, table, [answer]))
    assert len(programs) > 1
    told = describe(programs[0], table)
    assert any(part in told for part in first.split("|")), told
