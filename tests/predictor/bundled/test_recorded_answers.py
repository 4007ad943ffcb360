"""The bundled model gives the answers that were recorded when it was exported: in the library and from its server."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from predictor import load_bundled
from predictor.architectures import weights_sha
from predictor.bundled import WEIGHTS
from predictor.bundled.recorded import FIXTURES, SOURCES, RecordedAnswer
from predictor.protocol import Prediction, PredictRequest
from tableqa import Table
from tableqa.readers import READERS
from tests.predictor.recorded_answers import SAME_SCORE, recorded
from tests.predictor.test_server import serving

needs_weights = pytest.mark.skipif(
    not (WEIGHTS / "model.onnx").exists(),
    reason="the repository holds no weights of the bundled model (predictor/bundled/weights)",
)


def same(said: Prediction, kept: RecordedAnswer) -> bool:
    """Answer, operation and cells are exactly those; the score is theirs but for rounding."""
    exactly = (said.answers, said.op, said.cells) == (kept.answers, kept.op, kept.cells)
    return exactly and said.score is not None and abs(said.score - kept.score) < SAME_SCORE


@needs_weights
def test_these_are_the_weights_that_were_recorded() -> None:
    sha, answers = recorded(WEIGHTS)
    assert load_bundled().sha == sha, "other weights: ./run train --record predictor/bundled/weights"
    assert len(answers) == sum(count for _, count in SOURCES.values())
    assert any(one.right for one in answers)
    assert len({one.op for one in answers}) >= 4


@needs_weights
def test_the_bundled_model_gives_its_recorded_answers() -> None:
    model = load_bundled()
    _, answers = recorded(WEIGHTS)
    changed = [
        (one.example.id, one.answers, said.answers)
        for one in answers
        if not same(said := model.predict(one.example.question, one.example.table), one)
    ]
    assert changed == []


@needs_weights
def test_its_server_gives_the_recorded_answers_whatever_else_is_asked_at_the_same_time() -> None:
    _, answers = recorded(WEIGHTS)
    with serving(load_bundled()) as client, ThreadPoolExecutor(8) as people:

        def ask(one: RecordedAnswer) -> Prediction:
            said = client.post(
                "/v1/predict", json=PredictRequest.about(one.example, deadline_ms=60_000).to_dict()
            )
            return Prediction.from_dict(said.json(), one.example.table.shape)

        said = list(people.map(ask, answers))
    assert [one.example.id for one, now in zip(answers, said, strict=True) if not same(now, one)] == []
    assert {one.model for one in said} == {f"bundled@{load_bundled().sha}"}


@needs_weights
@pytest.mark.parametrize(("rows", "columns", "words"), [(5_000, 2, "5,000 rows"), (3, 200, "200 columns")])
def test_a_large_table_is_read_in_part_by_the_library_and_refused_with_its_limit_by_the_server(
    rows: int, columns: int, words: str
) -> None:
    table = Table(
        [f"column {place}" for place in range(columns)],
        [[f"{row}.{place}" for place in range(columns)] for row in range(rows)],
    )
    said = load_bundled().predict("what comes first in column 0?", table)
    assert said.answers
    assert said.truncated
    assert (said.rows_total, said.rows_seen <= rows) == (rows, True)
    with serving(load_bundled()) as client:
        refused = client.post("/v1/predict", json=PredictRequest("what comes first?", table).to_dict())
        assert refused.status_code == 413
        assert words in refused.json()["error"]["message"]
        assert client.get("/healthz").status_code == 200


@needs_weights
def test_card_and_licence_lie_beside_the_weights() -> None:
    card = (WEIGHTS / "MODEL_CARD.md").read_text()
    assert re.search(r"@[A-Z]+@|\{[a-z_]+\}", card) is None
    assert "CC BY-SA 4.0" in card
    assert "Pasupat" in card
    assert (WEIGHTS / "LICENSE").read_text().startswith("CC BY-SA 4.0")


def test_what_was_recorded_is_no_part_of_the_weights(tmp_path: Path) -> None:
    (tmp_path / "bundled.json").write_text("{}")
    before = weights_sha(tmp_path)
    (tmp_path / "recorded.json").write_text("{}")
    assert weights_sha(tmp_path) == before
    (tmp_path / "bundled.json").write_text("{ }")
    assert weights_sha(tmp_path) != before


def test_a_recorded_question_that_the_fixtures_no_longer_hold_is_named(tmp_path: Path) -> None:
    source = "wtq/excerpt-dev.tsv"
    example = next(iter(READERS["wtq"](FIXTURES / source)))
    kept = RecordedAnswer(source, example, ("a",), "select", ((0, 0),), 0.5)
    (tmp_path / "recorded.json").write_text(json.dumps({"sha": "0", "recorded": [kept.to_dict()]}))
    assert recorded(tmp_path) == ("0", [kept])
    (tmp_path / "recorded.json").write_text(
        json.dumps({"sha": "0", "recorded": [kept.to_dict() | {"table": "another"}]})
    )
    with pytest.raises(ValueError, match=f"has no question {example.id}"):
        recorded(tmp_path)


@needs_weights
def test_questions_of_one_batch_are_answered_in_their_order_as_alone() -> None:
    model = load_bundled()
    header, rows = ["Nation", "Gold"], [["India", "102"], ["Nepal", "32"], ["Bhutan", "1"]]
    requests = [
        PredictRequest(question, Table(header, rows))
        for question in ("who won most gold?", "how many nations are there?", "how much gold did Nepal win?")
        * 4
    ]

    together = model.predict_batch(requests)

    alone = [model.predict(request.question, request.table) for request in requests]
    assert [(one.text, one.score) for one in together if isinstance(one, Prediction)] == [
        (one.text, one.score) for one in alone
    ]
