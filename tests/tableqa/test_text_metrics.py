"""BLEU, ROUGE-L and METEOR: figures of their papers and manuals, and what cannot be scored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.scoring.answer_ratings import RatedAnswer
from tableqa.scoring.text_metrics import SCORERS, bleu, meteor, meteor_of, rouge_l, shipped_senses, tokens


def answer(text: str, reference: str, system: str = "a") -> RatedAnswer:
    return RatedAnswer("d", "1", system, text=text, reference=reference)


def test_rouge_l_gives_the_figures_of_lin_2004() -> None:
    reference = "police killed the gunman"
    said = [answer("police kill the gunman", reference), answer("the gunman kill police", reference)]
    assert rouge_l().scores(said) == [pytest.approx(0.75), pytest.approx(0.5)]


def test_bleu_is_the_geometric_mean_of_what_can_be_counted_by_hand() -> None:
    (found,) = bleu().scores([answer("the cat sat on the mat", "the cat sat on a mat")])
    assert found == pytest.approx((5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    assert bleu().scores([answer("a short one", "a short one")]) == [pytest.approx(1.0)]


def test_meteor_gives_the_figure_of_nltks_manual_with_the_wordnet_that_is_shipped() -> None:
    text = "It is a guide to action which ensures that the military always obeys the commands of the party"
    references = (
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    )
    found = meteor_of(text.split(), [one.split() for one in references], shipped_senses())
    assert round(found, 4) == 0.6944
    assert meteor_of(["non", "matching", "hypothesis"], [["this", "is", "a", "cat"]], shipped_senses()) == 0


def test_meteor_takes_a_synonym_and_a_form_for_the_word() -> None:
    same, synonym, other = meteor().scores(
        [answer(f"heat has a fast {word}", "heat has a fast car") for word in ("car", "auto", "river")]
    )
    assert same == synonym
    assert other is not None
    assert same is not None
    assert other < same
    (plural,) = meteor().scores([answer("long films", "long film")])
    assert plural == pytest.approx(1 - 0.5 * (1 / 2) ** 3)


def test_nltks_meteor_looks_synonyms_up_by_their_stems_and_says_so() -> None:
    found = meteor()
    movie, river = found.scores([answer(word, "film") for word in ("movie", "river")])
    assert movie == river == 0, "the stem of movie is movi, which WordNet does not list"
    assert "by their stems" in found.implementation


def test_numbers_stay_whole_and_signs_stand_alone() -> None:
    assert tokens("In 1,234.5 days, really.") == ["In", "1,234.5", "days", ",", "really", "."]
    assert tokens("שלום Zürich") == ["שלום", "Zürich"]


def test_each_says_what_computed_it() -> None:
    said = {name: make().implementation for name, make in SCORERS.items()}
    assert said["bleu"].startswith("sacrebleu 2.")
    assert "tok:13a" in said["bleu"]
    assert said["rouge_l"].startswith("rouge-score 0.")
    assert said["meteor"].startswith("nltk 3.")
    assert "WordNet 3.0" in said["meteor"]


def test_an_answer_without_a_reference_has_no_score_and_not_zero() -> None:
    scorer = meteor()
    assert scorer.scores([answer("heat", ""), answer(" ", "heat")]) == [None, None]
    column = scorer.column([answer("heat", "", "a"), answer("heat", "heat", "b")])
    assert list(column.scores) == [("d", "1", "b")]


listed = ("the", "a", "film", "heat", "long", "longest", "170", "minutes", "with", ".", ",")
words = st.lists(st.sampled_from(listed), min_size=1, max_size=8)


@given(words, words)
def test_meteor_stays_between_nothing_and_one(text: list[str], reference: list[str]) -> None:
    found = meteor_of(text, [reference], shipped_senses())
    assert 0 <= found <= 1
    assert meteor_of(reference, [reference], shipped_senses()) >= 0.5
