"""The wording of a question: its words, what changed, and RobuT's kinds of paraphrases."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.perturbations.wording import CATEGORIES, Change, Piece, tokens, word_diff, words
from tableqa.readers import READERS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what's the runner-up's name?", ["what", "'s", "the", "runner-up", "'s", "name", "?"]),
        ("didn't he win 1,204.5 points", ["did", "n't", "he", "win", "1,204.5", "points"]),
        ("in the u.s. from 1998-2007", ["in", "the", "u.s.", "from", "1998-2007"]),
        ("3rd, -14 and .500", ["3rd", ",", "-14", "and", ".500"]),
        ('the "heat" (1995)', ["the", '"', "heat", '"', "(", "1995", ")"]),
        ("o'neill and/or st. john", ["o'neill", "and/or", "st", ".", "john"]),
        ("São Paulo 日本", ["São", "Paulo", "日本"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_a_question_is_cut_into_words(text, expected):
    assert words(text) == expected


@given(st.text(max_size=60))
def test_every_character_but_blanks_is_in_exactly_one_word(text):
    assert words(text) == [token.text for token in tokens(text)]
    assert "".join(words(text)) == "".join(text.split())
    for token in tokens(text):
        assert text[token.start : token.end] == token.text


@pytest.mark.parametrize(
    "text", ["a-" * 20_000, "a" * 50_000, "a'" * 20_000, "1-" * 20_000, ".a" * 20_000, "a-a'" * 9_000]
)
def test_no_text_takes_long(text):
    started = time.process_time()
    tokens(text)
    assert time.process_time() - started < 2


def test_the_words_are_those_of_the_treebank_tokenizer(test_data: Path):
    from nltk.tokenize import TreebankWordTokenizer

    treebank = TreebankWordTokenizer()
    questions = [
        e.question for e in READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv", limit=1_500)
    ]
    same = sum(
        words(question)
        == [word.replace("``", '"').replace("''", '"') for word in treebank.tokenize(question)]
        for question in questions
    )
    assert same / len(questions) > 0.97


class TestWhatChanged:
    def test_kept_and_changed_words_are_told_apart(self):
        diff = word_diff("which players are from Brazil?", "Which athletes come from Brazil?")

        assert diff.before == (
            Piece("which ", True),
            Piece("players are", False),
            Piece(" from Brazil?", True),
        )
        assert diff.after == (
            Piece("Which ", True),
            Piece("athletes come", False),
            Piece(" from Brazil?", True),
        )
        assert diff.changes == (Change("players are", "athletes come"),)
        assert diff.kept == pytest.approx(8 / 12)
        assert diff.to_dict()["changes"] == [["players are", "athletes come"]]

    def test_words_put_in_or_taken_out_stand_against_nothing(self):
        assert word_diff("who won?", "who won first?").changes == (Change("", "first"),)
        assert word_diff("who won first?", "who won?").changes == (Change("first", ""),)

    @pytest.mark.parametrize("text", ["", "who won?", " who  won ? ", "x" * 9_000])
    def test_equal_wordings_keep_everything(self, text):
        diff = word_diff(text, text)
        assert diff.changes == ()
        assert diff.kept == 1
        assert all(piece.kept for piece in (*diff.before, *diff.after))

    def test_very_long_questions_differ_as_a_whole(self):
        diff = word_diff("a " * 5_000, "b")
        assert diff.kept == 0
        assert len(diff.changes) == 1

    @given(st.text("ab '-?1.", max_size=30), st.text("ab '-?1.", max_size=30))
    def test_the_pieces_are_the_texts_and_what_is_kept_is_in_both(self, before, after):
        diff = word_diff(before, after)
        assert "".join(piece.text for piece in diff.before) == before
        assert "".join(piece.text for piece in diff.after) == after
        kept = ["".join(p.text for p in side if p.kept) for side in (diff.before, diff.after)]
        assert "".join(kept[0].split()).casefold() == "".join(kept[1].split()).casefold()
        assert 0 <= diff.kept <= 1
        assert word_diff(before, after) == diff


def test_robuts_kinds_of_paraphrases_are_five_and_three():
    assert [category.level for category in CATEGORIES].count("word") == 5
    assert [category.level for category in CATEGORIES].count("sentence") == 3
    assert len({category.key for category in CATEGORIES}) == 8
    for category in CATEGORIES:
        assert word_diff(category.before, category.after).changes
        assert category.to_dict()["title"]
