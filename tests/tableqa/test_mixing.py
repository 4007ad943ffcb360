"""Mixes: what goes together, what is refused and why, and which parts are chosen."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.operations import (
    InsertColumn,
    RemoveColumn,
    RenameHeader,
    SetCell,
    SplitColumn,
    Transpose,
    replay,
)
from tableqa.operations import Part as SplitPart
from tableqa.perturbations.mixes import MixedExample, MixRefusal, Part, combinations, mix

ORIGINAL = Example(
    id="nt-1",
    question="which film is longest?",
    table=Table(["Film", "Minutes", "Year"], [["Heat", "170", "1995"], ["Alien", "117", "1979"]]),
    answers=["Heat"],
    meta={"context": "csv/1.csv"},
    program={"op": "argmax"},
)


def rename(column: str, old: str, new: str) -> RenameHeader:
    return RenameHeader(column=column, old=old, new=new)


SYNONYM = Part("headers", "header_synonym", (rename("c0", "Film", "Movie"),))
MASKED = Part("contents", "column_masking", (RemoveColumn(column="c2", old=("Year", "1995", "1979")),))
CHANGED = Part(
    "contents", "value_change", (SetCell(row="r1", column="c1", old="117", new="190"),), answers=("Alien",)
)
REWORDED = Part("question", "question_paraphrase", question="which film lasts longest?")


def refused(*parts: Part) -> str:
    found = mix(ORIGINAL, parts)
    assert isinstance(found, MixRefusal), found
    assert found.message.endswith(".")
    assert found.to_dict()["reason"] == found.reason
    return found.reason


class TestMixing:
    def test_three_levels_make_one_example(self):
        mixed = mix(ORIGINAL, [REWORDED, CHANGED, SYNONYM], id="mix-1")

        assert isinstance(mixed, MixedExample)
        assert [part.level for part in mixed.parts] == ["headers", "contents", "question"]
        assert mixed.example.table.header == ("Movie", "Minutes", "Year")
        assert mixed.example.table.rows[1] == ("Alien", "190", "1979")
        assert mixed.example.question == "which film lasts longest?"
        assert mixed.example.answers == ("Alien",)
        assert mixed.example.id == "mix-1"
        assert mixed.example.meta == ORIGINAL.meta
        assert replay(ORIGINAL.table, mixed.operations) == mixed.example.table

    def test_a_program_survives_new_headers_and_questions_but_not_new_contents(self):
        kept = mix(ORIGINAL, [SYNONYM, REWORDED])
        gone = mix(ORIGINAL, [SYNONYM, MASKED])

        assert isinstance(kept, MixedExample)
        assert isinstance(gone, MixedExample)
        assert kept.example.program == ORIGINAL.program
        assert gone.example.program is None
        assert gone.example.id == ORIGINAL.id

    def test_renamed_columns_can_be_transposed_after(self):
        mixed = mix(ORIGINAL, [Part("contents", "transpose", (Transpose(),)), SYNONYM])
        assert isinstance(mixed, MixedExample)
        assert mixed.example.table.header == ("Movie", "Heat", "Alien")

    def test_an_answer_that_is_only_written_differently_is_no_change(self):
        same = Part("question", "question_paraphrase", question="which lasts longest?", answers=("heat",))
        mixed = mix(ORIGINAL, [CHANGED, same])
        assert isinstance(mixed, MixedExample)
        assert mixed.example.answers == ("Alien",)


class TestRefusals:
    def test_one_part_or_two_of_one_level_are_no_mix(self):
        assert refused(SYNONYM) == "levels"
        assert refused() == "levels"
        assert refused(MASKED, CHANGED) == "levels"
        assert refused(SYNONYM, MASKED, REWORDED, SYNONYM) == "levels"

    @pytest.mark.parametrize(
        "part",
        [
            Part("headers", "header_synonym", (SetCell(row="r0", column="c0", old="Heat", new="x"),)),
            Part("headers", "header_synonym"),
            Part("contents", "column_masking", (rename("c1", "Minutes", "Min."),)),
            Part("contents", "column_masking"),
        ],
    )
    def test_a_part_keeps_to_its_level(self, part):
        assert refused(part, REWORDED) == "not_of_its_level"

    def test_a_question_that_stayed_is_no_part(self):
        same = Part("question", "question_paraphrase", question=ORIGINAL.question)
        assert refused(SYNONYM, same) == "not_of_its_level"

    @pytest.mark.parametrize(
        "operation",
        [
            RemoveColumn(column="c0", old=("Film", "Heat", "Alien")),
            SplitColumn(column="c0", into=(SplitPart(column="n1", header="A", cells=("a", "b")),)),
        ],
    )
    def test_a_column_that_is_renamed_and_removed_or_split(self, operation):
        assert refused(SYNONYM, Part("contents", "column_masking", (operation,))) == "same_column"

    def test_two_columns_that_would_have_one_name(self):
        added = InsertColumn(column="n1", after=None, header="movie", cells=("a", "b"))
        assert refused(SYNONYM, Part("contents", "column_adding", (added,))) == "same_name"

    def test_a_part_made_for_another_table(self):
        stale = Part("contents", "value_change", (SetCell(row="r1", column="c1", old="1", new="2"),))
        assert refused(SYNONYM, stale) == "does_not_replay"
        gone = Part("contents", "value_change", (SetCell(row="r9", column="c1", old="1", new="2"),))
        assert refused(SYNONYM, gone) == "does_not_replay"

    def test_answers_that_change_with_more_than_one_part(self):
        another = Part("question", "question_paraphrase", question="which is shortest?", answers=("Alien",))
        assert refused(CHANGED, another) == "answers"


PARTS = st.lists(
    st.sampled_from(
        [
            SYNONYM,
            MASKED,
            CHANGED,
            REWORDED,
            Part(
                "headers",
                "header_abbreviation",
                (rename("c1", "Minutes", "Min."), rename("c2", "Year", "Yr.")),
            ),
            Part("contents", "transpose", (Transpose(),)),
            Part("question", "question_paraphrase", question="name the longest film"),
        ]
    ),
    max_size=6,
)


@given(PARTS, st.integers(0, 5))
def test_every_mix_replays_and_every_choice_is_of_different_levels(parts, seed):
    for chosen in combinations(parts, seed, "nt-1"):
        assert len(chosen) in (2, 3)
        assert len({parts[place].level for place in chosen}) == len(chosen)
        mixed = mix(ORIGINAL, [parts[place] for place in chosen])
        if isinstance(mixed, MixedExample):
            assert replay(ORIGINAL.table, mixed.operations) == mixed.example.table
            assert mixed == mix(ORIGINAL, [parts[place] for place in reversed(chosen)])


class TestChoosing:
    def test_it_is_drawn_by_seed_and_example_and_by_nothing_else(self):
        parts = [SYNONYM, MASKED, CHANGED, REWORDED]
        assert combinations(parts, 1, "a") == combinations(parts, 1, "a")
        draws = {tuple(combinations(parts, seed, example)) for seed in range(5) for example in "abc"}
        assert len(draws) > 3

    def test_all_that_is_possible_is_offered_once(self):
        found = combinations([SYNONYM, MASKED, CHANGED, REWORDED], 1, "a")
        assert sorted(found) == [(0, 1), (0, 1, 3), (0, 2), (0, 2, 3), (0, 3), (1, 3), (2, 3)]

    def test_the_first_few_use_every_part_about_as_often(self):
        parts = [SYNONYM] * 3 + [MASKED] * 3 + [REWORDED] * 3
        used = Counter(place for chosen in combinations(parts, 7, "a", most=9) for place in chosen)
        assert set(used) == set(range(9))
        assert max(used.values()) - min(used.values()) <= 2

    @pytest.mark.parametrize("parts", [[], [SYNONYM], [MASKED, CHANGED]])
    def test_what_cannot_be_mixed_gives_nothing(self, parts):
        assert combinations(parts, 1, "a") == []
