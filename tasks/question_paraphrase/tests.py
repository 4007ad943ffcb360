"""Question paraphrase: other words, never none; every one is on its own; RobuT's form comes out."""

from __future__ import annotations

from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.perturbations.wording import CATEGORIES, Category
from tasks.contract import Acceptance, InvalidResponse, Item
from tasks.question_paraphrase.task import Response, task

EXAMPLE = Example(
    id="nt-1",
    question="which film came first?",
    table=Table(["Film", "Year"], [["Alien", "1979"], ["Heat", "1995"]]),
    answers=["Alien"],
    meta={"context": "csv/1-csv/1.csv"},
)
WORD, SENTENCE = Item(EXAMPLE, "word"), Item(EXAMPLE, "sentence")
EARLIEST = {"question": "which film is the earliest?", "category": "reasoning_synonym"}


def codes(data: Any, item: Item = WORD) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(data, item)
    return [problem.code for problem in invalid.value.problems]


def test_with_a_model_in_the_loop_the_instruction_is_to_make_it_fail() -> None:
    assert task.instruct(WORD) == "Swap words, keep the sentence"
    assert task.instruct(WORD, has_model=True) == "Swap words, keep the sentence, so that the model fails"


@pytest.mark.parametrize(
    "question",
    [
        "which film came first?",
        "Which film came first",
        "  which  film came\nfirst ?",
        "WHICH FILM CAME FIRST!",
    ],
)
def test_case_blanks_and_the_mark_at_the_end_are_no_other_words(question: str) -> None:
    assert codes({"question": question, "category": "general"}, SENTENCE) == ["question_unchanged"]


def test_an_empty_question_is_refused() -> None:
    assert codes({"question": " \n", "category": "general"}, SENTENCE) == ["no_question"]


@pytest.mark.parametrize("category", CATEGORIES, ids=lambda category: category.key)
def test_a_category_belongs_to_its_variant(category: Category) -> None:
    data = {"question": "name the film that came first.", "category": category.key}
    other = "sentence" if category.level == "word" else "word"
    assert task.parse(data, Item(EXAMPLE, category.level)).category == category.key
    assert codes(data, Item(EXAMPLE, other)) == ["no_category"]


def test_line_breaks_become_blanks() -> None:
    assert (
        task.parse({**EARLIEST, "question": " which film\nis  the earliest? "}, WORD).question
        == EARLIEST["question"]
    )


def test_the_same_example_is_asked_about_in_other_words() -> None:
    perturbed = task.perturb(WORD, task.parse(EARLIEST, WORD))
    assert perturbed.operations == ()
    assert perturbed.example.question == "which film is the earliest?"
    assert perturbed.example.table == EXAMPLE.table
    assert perturbed.example.answers == EXAMPLE.answers, "until it is verified"
    assert EXAMPLE.question == "which film came first?"


def test_every_paraphrase_stands_on_its_own_and_the_same_one_counts_once() -> None:
    first = Response("which film is the earliest?", "reasoning_synonym")
    again = Response("Which film is the earliest", "reasoning_synonym")
    other = Response("which movie came first?", "header_synonym")
    resolution = task.resolve([first, other, again], WORD)
    assert isinstance(resolution, Acceptance)
    assert {outcome.response for outcome in resolution.outcomes} == {again, other}
    assert sorted(outcome.by for outcome in resolution.outcomes) == [(1,), (2,)]


def test_the_words_that_changed_are_named() -> None:
    response = task.parse({**EARLIEST, "question": "which movie came first of all?"}, WORD)
    assert task.describe(response, WORD) == [
        "which movie came first of all?",
        "Changed: “film” becomes “movie”, “of all” is added.",
        "A synonym for the operation (first, most, difference).",
    ]
    shorter = Response("which film first?", "simplification")
    assert task.describe(shorter, SENTENCE)[1] == "Changed: “came” is removed."


@pytest.mark.parametrize(("variant", "category"), [("word", "reasoning_synonym"), ("sentence", "general")])
def test_it_comes_out_in_the_form_of_robut(variant: str, category: str) -> None:
    item = Item(EXAMPLE, variant)
    response = task.parse({**EARLIEST, "category": category}, item)
    original, one = task.export("robut", item, response, task.perturb(item, response))
    assert original.record["question"] == item.example.question
    assert one.part == f"{{reader}}_{{split}}_{variant}"
    assert one.record == {
        "id": f"nt-1-{variant}",
        "original_id": "nt-1",
        "question": "which film is the earliest?",
        "original_question": "which film came first?",
        "answers": ["Alien"],
        "table": {
            "header": ["Film", "Year"],
            "rows": [["Alien", "1979"], ["Heat", "1995"]],
            "name": "csv/1-csv/1.csv",
        },
        "perturbation_type": variant,
    }


def test_practice_looks_at_the_category_and_shows_one_way_to_say_it() -> None:
    expected = Response("which film is the earliest?", "reasoning_synonym")
    right, words = task.feedback(
        WORD, Response("which film was before all others?", "reasoning_synonym"), expected
    )
    assert right is None, "whether it asks the same was not judged"
    assert words == ["One way to say it: which film is the earliest?"]
    assert task.feedback(WORD, Response("Which film is the earliest?", "reasoning_synonym"), expected)[0]
    assert task.feedback(WORD, Response("which movie came first?", "header_synonym"), expected)[0] is False


def test_a_model_is_tried_on_the_words_before_it_is_said_what_was_changed() -> None:
    tried = task.tried({"question": " which film\nis  the earliest? "}, WORD)
    assert tried is not None
    assert tried.question == "which film is the earliest?"
    assert tried.answers == EXAMPLE.answers
    drafts: list[Any] = [
        {"question": "Which film came first"},
        {"question": ""},
        {"question": 4},
        {},
        None,
        [],
    ]
    assert [task.tried(draft, WORD) for draft in drafts] == [None] * 6
