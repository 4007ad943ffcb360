"""What the bundled model's confidence means, and what it never subtracts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bundled import CALIBRATION, QUESTIONS
from predictor.bundled import WEIGHTS, load_bundled
from predictor.bundled.decode import candidates, difference
from predictor.bundled.question_features import encode_question
from predictor.bundled.score_calibration import Calibration, expected_error, fit
from predictor.bundled.table_features import read_table
from predictor.training.card import rewrite_quality
from predictor.training.evaluation import LEAST_HELD_OUT, Verdict, fit_calibration
from tableqa.data.answers import compare
from tableqa.data.tables import Table
from tableqa.readers import READERS
from tests.predictor.bundled.by_hand import scores, tokenizer

needs_weights = pytest.mark.skipif(
    not (WEIGHTS / "model.onnx").exists(), reason="the repository holds no weights of the bundled model"
)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_the_map_rises_and_stays_within_0_and_1(rows: list[tuple[float, bool]]) -> None:
    made = fit(*zip(*rows, strict=True))
    said = [made(score / 50) for score in range(51)]
    assert said == sorted(said)
    assert 0.05 <= said[0] <= said[-1] <= 0.95
    assert Calibration.from_dict(json.loads(json.dumps(made.to_dict()))) == made


def test_the_map_says_how_many_of_the_answers_with_a_score_are_right() -> None:
    said = [0.9] * 10 + [0.6] * 10
    right = [True] * 6 + [False] * 4 + [True] * 2 + [False] * 8
    made = fit(said, right)
    assert (made(0.6), made(0.9)) == (0.2, 0.6)
    assert made(0.75) == pytest.approx(0.4)
    assert expected_error(said, right) == pytest.approx(0.35)
    assert expected_error([made(score) for score in said], right) == pytest.approx(0.0)
    assert Calibration()(0.7) == 0.7


def test_a_handful_of_questions_fits_no_calibration() -> None:
    few = [Verdict(None, True, True)] * (LEAST_HELD_OUT - 1)
    with pytest.raises(ValueError, match="199 held-out questions are too few to calibrate"):
        fit_calibration(few)
    assert fit_calibration([*few, few[0]]).shares == (0.95,)


def test_knots_that_fall_are_refused() -> None:
    with pytest.raises(ValueError, match="do not rise"):
        Calibration.from_dict({"scores": [0.1, 0.5], "shares": [0.9, 0.2]})


@needs_weights
def test_the_card_names_the_calibration_error_of_the_weights() -> None:
    settings = json.loads((WEIGHTS / "bundled.json").read_text())
    assert Calibration.from_dict(settings["calibration"]).scores
    card = (WEIGHTS / "MODEL_CARD.md").read_text()
    found = re.search(r"expected calibration error, over ten parts of equal width, is \*\*([\d.]+)\*\*", card)
    assert found is not None
    assert float(found[1]) <= CALIBRATION
    assert "`./run bench bundled` measures it anew" in card


@needs_weights
def test_confidence_is_calibrated_on_questions_that_nothing_was_fitted_on(test_data: Path) -> None:
    """Every sixth development question; the whole split is what `./run bench bundled` measures."""
    model = load_bundled()
    said, right, before = [], [], []
    for example in list(READERS["wtq"](test_data / QUESTIONS))[::6]:
        best = model.answers(example.question, example.table)[0][0]
        result = compare(list(best.answers), list(example.answers))
        before.append(min(best.score, 1.0))
        said.append(model.calibration(best.score))
        right.append(result.equal and result.difference in (None, "order"))
    assert expected_error(before, right) > 0.15
    assert expected_error(said, right) < 0.08
    assert model.predict("how many?", example.table).score <= 0.95  # type: ignore[operator]


NUMBERS = Table(
    ["Score", "Plane", "Time", "Gold", "Date"],
    [["30:1", "F-14", "2:30", "9", "7 May 2004"], ["3-2", "12th", "1:23.45", "4", "1 June 2008"]],
)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_what_is_no_number_is_never_subtracted(column: int) -> None:
    words = tokenizer()
    table = read_table(NUMBERS, words)
    shown = encode_question("how many more?", table, words)
    assert difference(table, (0, column), (1, column)) is None
    assert difference(table, (0, column), (1, 3)) is None
    assert difference(table, (0, 3), (1, column)) is None
    outputs = scores(shown, "difference", cells=((0, column), (1, column)))
    found = [
        one for one in candidates(outputs, shown, table, "how many more?") if one.operation == "difference"
    ]
    assert all({place[1] for place in one.cells} <= {3, 4} for one in found)


def test_numbers_and_dates_are_subtracted() -> None:
    table = read_table(NUMBERS, tokenizer())
    assert difference(table, (0, 3), (1, 3)) == 5
    assert difference(table, (0, 4), (1, 4)) == 4


@needs_weights
def test_a_card_gets_new_figures_and_keeps_the_rest(tmp_path: Path) -> None:
    card = (WEIGHTS / "MODEL_CARD.md").read_text()
    (tmp_path / "MODEL_CARD.md").write_text(card)
    report = {
        "questions": 10,
        "published_rule": 0.4,
        "equal": 0.5,
        "calibration_error": 0.0123,
        "calibration_error_before": 0.2,
        "by_operation": {"select": {"questions": 10, "right": 0.4}},
        "by_answer": {"list": {"questions": 4, "right": 0.1}},
        "by_fifth_of_score": [0.1, 0.2, 0.3, 0.5, 0.9],
    }
    again = rewrite_quality(tmp_path, report).read_text()
    assert "of 10 questions **40.0%** are right" in again
    assert "is **0.012**; without the map it is 0.200" in again
    assert "* Where the answer is a list: 10% of 4 are right." in again
    assert "2,831" not in again
    for kept in ("## How fast it is\n\n300 questions", "\n* A part of a cell: ", "\n| on disk | "):
        assert kept in again
    assert again.partition("## How good")[0] == card.partition("## How good")[0]


def test_next_answers_keep_their_proportion_to_the_first() -> None:
    calibration = Calibration((0.3, 1.0), (0.05, 0.95))
    assert calibration.spread([0.2, 0.1, 0.05]) == pytest.approx((0.05, 0.025, 0.0125))
    assert calibration.spread([1.0, 0.0]) == (0.95, 0.0)
    assert calibration.spread([0.0, 0.0]) == (0.05, 0.0)
