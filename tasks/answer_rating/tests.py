"""Answer rating: means, a third person where two are far apart, and nothing about the system on the page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.agreement.coefficients import agreement
from tasks.answer_rating.task import GAP, Response, task
from tasks.contract import Acceptance, InvalidResponse, Item, NeedsResponse, Surroundings

EXAMPLE = Example(
    id="fetaqa_0~system-a",
    question="which film is the longest?",
    table=Table(["Film", "Minutes"], [["Heat", "170"]], title="Films of Michael Mann"),
    answers=["Heat is, with 170 minutes."],
    meta={
        "example_id": "fetaqa_0",
        "rated_answer": {"text": "Heat.", "system": "system-a"},
        "reference": "Heat is, with 170 minutes.",
    },
)
scores = st.integers(1, 5)
responses = st.builds(Response, scores, scores)


def item(**settings: Any) -> Item:
    prepared = task.prepare(EXAMPLE, Surroundings())
    assert prepared is not None
    return Item(
        EXAMPLE, settings={"third": "mean", "show_reference": False, **settings}, inputs=prepared.inputs
    )


def decided(*said: tuple[float, float], **settings: Any) -> Response:
    resolution = task.resolve([Response(*one) for one in said], item(**settings))
    assert isinstance(resolution, Acceptance)
    (outcome,) = resolution.outcomes
    assert outcome.by == tuple(range(len(said)))
    found: Response = outcome.response
    return found


def test_two_people_make_a_mean() -> None:
    assert decided((4, 5), (5, 5)) == Response(4.5, 5)


@pytest.mark.parametrize(("one", "other"), [((1, 5), (4, 5)), ((5, 5), (5, 2)), ((1, 1), (5, 5))])
def test_a_gap_of_three_on_either_scale_asks_for_one_more(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    assert isinstance(task.resolve([Response(*one), Response(*other)], item()), NeedsResponse)


def test_the_reason_names_the_scale() -> None:
    resolution = task.resolve([Response(5, 5), Response(5, 2)], item())
    assert isinstance(resolution, NeedsResponse)
    assert "comprehensiveness" in resolution.reason
    assert "faithfulness" not in resolution.reason


def test_a_gap_of_two_is_no_disagreement() -> None:
    assert decided((3, 1), (5, 3)) == Response(4, 2)


def test_with_a_third_person_it_is_the_mean_of_all() -> None:
    assert decided((1, 4), (5, 4), (4, 5)) == Response(3.333333, 4.333333)


def test_or_the_third_replaces_the_one_furthest_away() -> None:
    assert decided((1, 4), (5, 4), (4, 5), third="replace") == Response(4.5, 4.333333)


def test_where_both_are_as_far_away_all_three_stay() -> None:
    assert decided((1, 5), (5, 5), (3, 5), third="replace") == Response(3, 5)


@given(st.lists(responses, min_size=2, max_size=2))
def test_a_third_is_asked_exactly_where_two_are_three_apart(said: list[Response]) -> None:
    one, other = said
    apart = max(
        abs(one.faithfulness - other.faithfulness), abs(one.comprehensiveness - other.comprehensiveness)
    )
    assert isinstance(task.resolve(said, item()), NeedsResponse) == (apart >= GAP)


@given(st.lists(responses, min_size=3, max_size=3), st.sampled_from(["mean", "replace"]), st.randoms())
def test_three_people_always_decide_whoever_came_first(said: list[Response], third: str, rng: Any) -> None:
    mixed = list(said)
    rng.shuffle(mixed)
    first, second = (task.resolve(order, item(third=third)) for order in (said, mixed))
    assert isinstance(first, Acceptance)
    assert first == second
    made = first.outcomes[0].response
    assert min(one.faithfulness for one in said) <= made.faithfulness <= max(one.faithfulness for one in said)


def test_an_adjudicator_decides_what_was_left_at_two() -> None:
    resolution = task.resolve_adjudicated([Response(5, 5), Response(1, 5)], item())
    assert isinstance(resolution, Acceptance)
    assert resolution.outcomes[0].response == Response(3, 5)


def test_people_who_agree_are_quoted_as_they_said_it() -> None:
    assert json.dumps(decided((4, 5), (4, 5)).faithfulness) == "4"


def test_neither_system_nor_reference_leaves_the_server() -> None:
    text = json.dumps(task.payload(item()))
    assert "Heat." in text
    assert "Michael Mann" in text, "titles belong on the page"
    assert "system-a" not in text
    assert "170 minutes" not in text
    assert "fetaqa_0" not in text


def test_the_reference_is_shown_where_the_batch_says_so() -> None:
    shown = task.payload(item(show_reference=True))
    assert shown["reference"] == "Heat is, with 170 minutes."
    assert "system-a" not in json.dumps(shown)


@pytest.mark.parametrize("rated", [None, "Heat.", {"system": "a"}, {"text": "  ", "system": "a"}])
def test_without_an_answer_there_is_no_item(rated: Any) -> None:
    example = Example("x", "?", EXAMPLE.table, [], meta={} if rated is None else {"rated_answer": rated})
    assert task.prepare(example, Surroundings()) is None


def test_digits_of_a_form_are_scores() -> None:
    assert task.parse({"faithfulness": "4", "comprehensiveness": "1"}, item()) == Response(4, 1)
    with pytest.raises(InvalidResponse):
        task.parse({"faithfulness": "04", "comprehensiveness": "1"}, item())


def test_scores_come_out_in_the_form_of_lftqa_a_file_for_each_dimension() -> None:
    files = {one.part: one.record for one in task.export("lftqa", item(), Response(4.5, 5), None)}
    scored = {name: record for name, record in files.items() if "human_scores" in name}
    assert scored == {
        "scores/{source}/human_scores/human_faithfulness_scores": {
            "example_id": "fetaqa_0",
            "model": "system-a",
            "score": 4.5,
        },
        "scores/{source}/human_scores/human_comprehensiveness_scores": {
            "example_id": "fetaqa_0",
            "model": "system-a",
            "score": 5,
        },
    }
    answer = files["scores/{source}/model_outputs"]
    assert answer["model_output"] == item().inputs["rated_answer"]
    assert answer["metadata"]["table_array"][0] == list(EXAMPLE.table.header)


def test_agreement_is_ordinal_and_interval_on_each_scale() -> None:
    assert [(m.name, m.level, m.statistics) for m in task.measures] == [
        (name, "ordinal", ("krippendorff_alpha", "krippendorff_alpha_interval"))
        for name in ("faithfulness", "comprehensiveness")
    ]
    values = [
        [m.value(Response(5, 1)) for m in task.measures],
        [m.value(Response(2, 3)) for m in task.measures],
    ]
    assert values == [[5, 1], [2, 3]]
    assert agreement(values, "krippendorff_alpha_ordinal", replicates=0).raters == 2


def test_one_step_beside_is_near_enough_for_practice() -> None:
    assert task.feedback(item(), Response(4, 5), Response(5, 5))[0]
    right, words = task.feedback(item(), Response(3, 5), Response(5, 5))
    assert not right
    assert words == ["Faithfulness: your score 3, expected 5."]
