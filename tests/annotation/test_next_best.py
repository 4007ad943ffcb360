"""The model's next best answers in the details of a verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from annotation.assistance import draft_checks, verdict_line
from predictor import load_bundled
from predictor.client import PATIENT, connect
from predictor.protocol import Alternative
from predictor.server import bundled
from tableqa import Table
from tests.annotation.cast import NOON, World, make_world
from tests.predictor.scripted import answer, scripted
from tests.predictor.test_server import serving

pytestmark = pytest.mark.both


@pytest.mark.parametrize(
    ("score", "others", "words"),
    [
        (0.62, [(["1994"], 0.22), ([], 0.05)], "next: 1994 (22 %), no answer (5 %); margin 40 points"),
        (0.75, [(["1994"], 0.5), (["1990"], 0.5)], "next: 1994 (12 %), 1990 (12 %); margin 62 points"),
        (0.62, [], ""),
        (None, [(["1994"], 0.22)], ""),
    ],
)
def test_next_best_answers_have_their_scores_and_a_margin(score: Any, others: Any, words: str) -> None:
    assert verdict_line.next_best(score, others) == words


def test_a_look_asks_for_three_answers_and_shows_the_others(db: None, tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    world = make_world(tmp_path)
    with scripted(answer("Heat", topk=(Alternative(("Alien",), 0.2),))) as server:
        settings.PREDICTORS = {"small": server.entry}
        connect(server.entry).identity(within=PATIENT)  # the client is made; a look has less than a second
        batch = world.batch("question_paraphrase", variant="sentence", loop_model="small")
        assignment = world.take(batch, "bo")
        assert assignment is not None
        seen = draft_checks.check_draft(
            assignment=assignment,
            response={"data": {"question": "another?", "category": ""}},
            kind="preview",
            seq=1,
            now=NOON,
        )
        assert {body["options"]["topk"] for body in server.asked} == {3}
    assert seen.perturbed is not None
    assert seen.perturbed.next_best_in_words == "next: Alien (20 %); margin 55 points"
    assert seen.to_dict(1)["perturbed"]["next_best"] == seen.perturbed.next_best_in_words


def test_the_bundled_model_offers_distinct_answers_in_order() -> None:
    table = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"], ["Ran", "1985"]])
    prediction = load_bundled().predict("which film is the oldest?", table, topk=3)
    scores = [prediction.score or 0.0, *(one.score for one in prediction.topk)]
    assert len(prediction.topk) == 2
    assert scores == sorted(scores, reverse=True)
    assert len({prediction.answers, *(one.answers for one in prediction.topk)}) == 3


def test_a_look_shows_the_three_best_answers_of_the_bundled_model(
    world: World, settings: Any, patient: None
) -> None:
    with serving(bundled()) as served:
        url = str(served.base_url).rstrip("/")
        entry = {"protocol": "predict", "url": url, "model": "bundled"}
        settings.PREDICTORS = {"bundled": entry}
        batch = world.batch("question_paraphrase", variant="word", loop_model="bundled")
        assignment = world.take(batch, "ada")
        assert assignment is not None
        seen = draft_checks.check_draft(assignment=assignment, response={}, kind="preview", seq=1, now=NOON)
        connect(entry).close()
    assert seen.original is not None
    assert seen.original.score is not None
    words = seen.original.next_best_in_words
    shown = re.fullmatch(r"next: (.+) \((\d+) %\), (.+) \((\d+) %\); margin (\d+) points", words)
    assert shown is not None, words
    assert len({" | ".join(seen.original.answers), shown[1], shown[3]}) == 3
    shares = [round(100 * seen.original.score), int(shown[2]), int(shown[4])]
    assert shares == sorted(shares, reverse=True)
    assert abs(shares[0] - shares[1] - int(shown[5])) <= 1, "shares are whole numbers"
