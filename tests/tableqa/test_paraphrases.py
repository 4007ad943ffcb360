"""Paraphrases by rules: what they say, when they keep silent, and that they never say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.perturbations.headers import thesaurus
from tableqa.perturbations.paraphrases import Paraphrase, rephrasings, rewordings
from tableqa.perturbations.wording import CATEGORIES
from tableqa.readers.wtq import READER

FILMS = Table(["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Rambo 2", "1985", "96"]])
NATIONS = Table(["Nation", "Gold"], [["Cuba", "9"], ["Jamaica", "7"]])
LEVEL = {category.key: category.level for category in CATEGORIES}


def said(found: list[Paraphrase]) -> dict[str, str]:
    return {one.question: one.category for one in found}


@pytest.mark.parametrize(
    ("question", "expected", "category"),
    [
        (
            "which team won the most games?",
            "which team won the largest number of games?",
            "reasoning_synonym",
        ),
        (
            "how many teams are from spain?",
            "what is the number of teams that are from spain?",
            "reasoning_carrier",
        ),
        ("who won before 1990?", "who won prior to 1990?", "reasoning_synonym"),
        ("how many times did cuba win?", "how often did cuba win?", "reasoning_carrier"),
        ("which films are from the 1960s?", "which films are from the sixties?", "cell_synonym"),
        ("which team won at least 2 games?", "which team won at least two games?", "cell_synonym"),
    ],
)
def test_words_that_stand_for_each_other(question: str, expected: str, category: str) -> None:
    assert said(rewordings(question, FILMS))[expected] == category


def test_a_word_that_names_a_column_is_exchanged_as_its_cells_have_it() -> None:
    found = said(rewordings("which nation won the most gold?", NATIONS, thesaurus()))
    assert found["which country won the most gold?"] == "header_carrier"
    many = said(rewordings("how many nations won gold?", NATIONS, thesaurus()))
    assert any(question.startswith("how many countries") for question in many)
    assert not any("nation" in question for question, kind in many.items() if kind == "header_carrier")


def test_what_is_part_of_a_cell_stays() -> None:
    assert not any("two" in one.question for one in rewordings("when did rambo 2 come out?", FILMS))


@pytest.mark.parametrize(
    ("question", "expected", "category"),
    [
        ("which team won in 2007?", "name the team that won in 2007.", "mood"),
        ("which team won in 2007?", "in 2007, which team won?", "general"),
        ("when did ann win the race?", "say when ann won the race.", "mood"),
        ("name the team that won in 2007.", "which team won in 2007?", "mood"),
        (
            "what is the name of the city that hosted the final?",
            "which city hosted the final?",
            "simplification",
        ),
        ("who won, according to the table?", "who won?", None),
        (
            "who won more medals, norway or sweden?",
            "between norway and sweden, who won more medals?",
            "general",
        ),
        ("who won the race?", "who was it that won the race?", "general"),
    ],
)
def test_other_sentences_for_the_same(question: str, expected: str, category: str | None) -> None:
    found = said(rephrasings(question))
    assert found.get(expected) == category


def test_what_fits_no_pattern_has_no_paraphrase() -> None:
    assert rephrasings("") == rephrasings("hm") == []
    assert rephrasings("x " * 400) == []
    assert rewordings("x " * 400, FILMS) == []


@given(st.text(max_size=80) | st.lists(st.sampled_from(
    ["who", "which", "how", "many", "did", "win", "won", "the", "most", "in", "2007", "of", "team", "?", "list", "2", "was"]
), max_size=12).map(" ".join))  # fmt: skip
def test_a_paraphrase_differs_is_of_its_level_and_is_there_once(question: str) -> None:
    for level, found in (("word", rewordings(question, FILMS)), ("sentence", rephrasings(question))):
        bare = [" ".join(one.question.casefold().split()).rstrip(" ?.!") for one in found]
        assert len(set(bare)) == len(bare)
        assert " ".join(question.casefold().split()).rstrip(" ?.!") not in bare
        assert all(LEVEL[one.category] == level and 0 < one.score <= 1 for one in found)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_most_questions_of_wtq_have_one(test_data: Path) -> None:
    examples = list(READER(test_data / "wtq" / "random-split-1-dev.tsv", limit=300))
    words, sentences = (
        sum(bool(rewordings(one.question, one.table, thesaurus())) for one in examples),
        sum(bool(rephrasings(one.question)) for one in examples),
    )
    assert words > 150
    assert sentences > 150
