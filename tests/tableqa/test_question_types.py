"""Suggestions for the type of a question, held against the counts that FREB-TQA published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.perturbations.question_types import (
    OPERATIONS,
    STRUCTURE_WORDS,
    Reply,
    Suggestion,
    by_model,
    combined,
    comparisons,
    lexical,
    read_reply,
    request,
    structure_words,
)
from tableqa.perturbations.wording import tokens
from tableqa.readers import READERS

FILMS = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]], title="Films | of the century")


class TestComparisons:
    @pytest.mark.parametrize(
        ("question", "found"),
        [
            ("which city is the largest?", ("largest",)),
            ("who scored more, ann or bob?", ("more",)),
            ("who is taller or heavier", ("taller", "heavier")),
            ("who had at least 3 of the best", ("least", "best")),
            ("the Biggest, HOTTEST day", ("biggest", "hottest")),
            ("which came earlier or later?", ("earlier", "later")),
            ("the number of players in the contest", ()),
            ("which member of the order ran under water in the west?", ()),
            ("after winter, who is the runner?", ()),
            ("who won best actress in 2005?", ()),
            ("", ()),
        ],
    )
    def test_words_that_compare_are_told_from_words_that_end_alike(self, question, found):
        assert comparisons(question) == found

    def test_structure_words_are_those_of_the_papers_list(self):
        assert len(STRUCTURE_WORDS) == 13
        assert structure_words("who came first after the last, or the First?") == ("first", "after", "last")
        assert structure_words("the firsts of lasting") == ()


class TestTheLexicalRule:
    def test_an_answer_that_is_no_cell_needs_reasoning(self):
        suggestion = lexical("how many films are there?", FILMS, ["2"])
        assert suggestion == Suggestion(
            "reasoning", "Reasoning, because the answer “2” is no cell of the table."
        )

    def test_a_question_that_compares_needs_reasoning(self):
        assert lexical("which film is longest?", FILMS, ["Heat"]).label == "reasoning"
        assert "“longest”" in lexical("which film is longest?", FILMS, ["Heat"]).why

    def test_any_other_is_an_extraction(self):
        assert lexical("which film has 170 minutes?", FILMS, ["heat "]).label == "extraction"
        assert lexical("what is listed?", FILMS, ["Heat", "Alien"]).label == "extraction"

    def test_without_an_answer_only_the_question_can_tell(self):
        said = lexical("which film?", FILMS, [])
        assert (said.label, "no answer" in said.why) == (None, True)
        assert lexical("which film is longest?", FILMS, []).label == "reasoning"
        assert combined(said, Suggestion("extraction", "so")) == said

    def test_on_wikitablequestions_it_selects_about_as_many_as_were_published(self, test_data: Path):
        """Table 3 of the paper has 1,562 reasoning questions of the development part, selected by this rule alone."""
        examples = list(READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv"))
        labels = [lexical(e.question, e.table, e.answers).label for e in examples]
        assert abs(labels.count("reasoning") - 1_562) <= 40
        share = sum(bool(structure_words(e.question)) for e in examples) / len(examples)
        assert share == pytest.approx(0.27, abs=0.01)

    def test_nearly_all_published_extraction_questions_are_extractions_to_it(self, test_data: Path):
        released = [
            json.loads(line) for line in (test_data / "freb_tqa" / "01_str" / "wtq_factoid_dev.json").open()
        ]
        examples = {e.id: e for e in READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")}
        chosen = [examples[record["id"]] for record in released]
        right = sum(lexical(e.question, e.table, e.answers).label == "extraction" for e in chosen)
        assert len(chosen) == 205
        assert right >= 198


class TestTheModel:
    def test_the_request_shows_question_and_table_and_not_the_answer(self):
        text = request("which film is\nlongest?", FILMS)
        assert "Question: which film is longest?" in text
        assert "Film | Minutes\nHeat | 170\nAlien | 117" in text
        assert "Title: Films | of the century" in text
        for operation in ("retrieved", *OPERATIONS):
            assert operation in text

    def test_a_long_table_is_cut_and_the_model_is_told(self):
        text = request("q", Table(["a|b"], [[f"row {i}\n|"] for i in range(100)]))
        assert "(40 more rows)" in text
        assert "a/b\nrow 0 /\n" in text
        assert "row 60" not in text

    @pytest.mark.parametrize(
        ("reply", "cells", "operation"),
        [
            ("Cells: Heat | 170\nOperation: retrieved", ("Heat", "170"), "retrieved"),
            ("**Cells:** Heat\n**Operation:** Count.", ("** Heat",), "count"),
            ("cells = a|b\noperation = argmax", ("a", "b"), "maximum"),
            ("Operation: count?\nNo, wait.\nOperation: retrieved", (), "retrieved"),
            ("Operation: interpolation", (), "other"),
            ("retrieved", (), "retrieved"),
            (' "Difference". ', (), "difference"),
        ],
    )
    def test_replies_are_read_as_they_come(self, reply, cells, operation):
        read = read_reply(reply)
        assert read is not None
        assert read.operation == operation
        assert len(read.cells) == len(cells)

    @pytest.mark.parametrize("reply", ["", "I cannot say.", "the answer is 3", "Cells: a | b", "x" * 50_000])
    def test_a_reply_without_an_operation_is_none(self, reply):
        assert read_reply(reply) is None
        assert by_model(read_reply(reply)).label is None

    @given(st.text(max_size=200))
    def test_any_reply_can_be_read(self, reply):
        read = read_reply(reply)
        assert read is None or read.operation in ("retrieved", *OPERATIONS)

    def test_retrieved_is_extraction_and_anything_else_reasoning(self):
        assert by_model(Reply((), "retrieved")).label == "extraction"
        assert by_model(Reply((), "sum")) == Suggestion(
            "reasoning", "Reasoning: the model needs an operation (sum)."
        )


@pytest.mark.parametrize(
    ("rule", "model", "both"),
    [
        ("extraction", "extraction", "extraction"),
        ("extraction", "reasoning", None),
        ("extraction", None, None),
        ("reasoning", "extraction", "reasoning"),
        ("reasoning", "reasoning", "reasoning"),
        ("reasoning", None, "reasoning"),
    ],
)
def test_both_together_take_extraction_from_both_and_reasoning_from_the_rule(rule, model, both):
    suggestion = combined(Suggestion(rule, "rule"), Suggestion(model, "model"))
    assert suggestion.label == both
    assert suggestion.to_dict()["why"]


GLUE = st.sampled_from([" ", "", "-", "'s ", "n't ", ".", "_", "3", "é", "/", "’"])
SAID = st.sampled_from(["more", "Best", "LARGEST", "oldest", "isn't", "did", "player", "U.S.", "1998"])


@given(st.lists(st.tuples(SAID, GLUE), max_size=6))
def test_no_comparison_is_missed_whatever_stands_beside_it(parts):
    question = "".join(word + glue for word, glue in parts)
    named = {token.text.lower() for token in tokens(question)} & {"more", "largest", "oldest", "best"}
    assert set(comparisons(question)) == named


def test_cells_are_looked_for_in_the_table_of_the_question_and_in_no_other():
    here, there = Table(["a"], [["x"]]), Table(["a"], [["y"]])
    for table, label in [(here, "extraction"), (there, "reasoning"), (here, "extraction")]:
        assert lexical("what is it?", table, ["X"]).label == label
