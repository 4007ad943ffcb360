"""What holds for every model that is served: batching changes nothing, limits are limits, nobody is waited for."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from predictor.architectures import Model, ModelError, info, load, never_stop
from predictor.batcher import predict_all
from predictor.protocol import LIMITS, Options, Prediction, PredictRequest, ProtocolError
from tableqa import Context, Table, Turn
from tableqa.readers import READERS
from tests.predictor.test_server import serving

pytestmark = pytest.mark.usefixtures("deep_learning")

ARCHITECTURES = ("tapex", "omnitab", "tapas", "tabert", "tabert3")
SHORT = Options(max_new_tokens=6)


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, Model]:
    return {name: load(folder) for name, folder in folders.items()}


@pytest.fixture(params=ARCHITECTURES)
def model(request: pytest.FixtureRequest, models: dict[str, Model]) -> Model:
    return models[request.param]


@pytest.fixture(scope="module")
def questions(test_data: Path) -> list[PredictRequest]:
    """Real questions about tables of at most 40 rows."""
    examples = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    short = (one for one in examples if len(one.table.rows) <= 40)
    return [PredictRequest.about(one, options=SHORT) for one in islice(short, 8)]


def same(one: Prediction | ProtocolError, other: Prediction | ProtocolError) -> bool:
    if isinstance(one, ProtocolError) or isinstance(other, ProtocolError):
        return isinstance(one, ProtocolError) and isinstance(other, ProtocolError) and one.code == other.code
    near = abs((one.score or 0) - (other.score or 0)) < 1e-3
    return near and replace(one, score=None, topk=()) == replace(other, score=None, topk=())


def alone(model: Model, request: PredictRequest) -> Prediction | ProtocolError:
    (answer,) = model.predict_batch([request], never_stop)
    return answer


@pytest.mark.parametrize("seed", range(2))
def test_batching_never_changes_an_answer(model: Model, questions: list[PredictRequest], seed: int) -> None:
    rng = random.Random(seed)
    batch = rng.sample(questions, 5)
    together = model.predict_batch(batch, never_stop)
    for request, answer in zip(batch, together, strict=True):
        assert same(answer, alone(model, request)), request.question
    assert all(map(same, predict_all(model, questions), [alone(model, one) for one in questions]))


def test_answers_are_what_the_wire_allows_and_say_what_was_seen(
    model: Model, questions: list[PredictRequest]
) -> None:
    for request, answer in zip(questions, model.predict_batch(questions, never_stop), strict=True):
        assert isinstance(answer, Prediction)
        sent = replace(answer, model=info(model).id)
        assert Prediction.from_dict(json.loads(json.dumps(sent.to_dict())), request.table.shape) == sent
        assert model.tokens(request) > 0
        assert answer.rows_seen <= answer.rows_total == len(request.table.rows)


@pytest.mark.parametrize(
    "table",
    [
        Table(header=["a"], rows=[]),
        Table(header=[""], rows=[[""]]),
        Table(header=["a", "a"], rows=[["[SEP]", "</s>"], ["<mask>", "[CLS]"]]),
        Table(header=["日本", "город"], rows=[["東京", "Москва 🎉"], ["é́", "\u202e"]]),
        Table(header=["n"], rows=[["nan"], ["-0"], ["1e999"], ["9" * 400]]),
        Table(header=["x"] * LIMITS.columns, rows=[["1"] * LIMITS.columns] * 3),
        Table(header=["x", "y"], rows=[["word " * 300, "2"]] * 2),
    ],
    ids=["no rows", "empty", "special tokens", "scripts", "numbers", "wide", "long cells"],
)  # fmt: skip
def test_odd_tables_are_answered_or_refused_and_never_crash(model: Model, table: Table) -> None:
    (answer,) = predict_all(model, [PredictRequest(question="which one?", table=table, options=SHORT)])
    if isinstance(answer, ProtocolError):
        assert answer.code == "too_large"
    else:
        assert Prediction.from_dict(replace(answer, model=info(model).id).to_dict(), table.shape)


def test_the_largest_table_is_cut_and_says_so(model: Model) -> None:
    table = Table(header=["n", "city"], rows=[[str(n), f"city {n}"] for n in range(LIMITS.rows)])
    (answer,) = predict_all(model, [PredictRequest(question="which city?", table=table, options=SHORT)])
    assert isinstance(answer, Prediction)
    assert 0 < answer.rows_seen < LIMITS.rows
    assert answer.truncated


def test_a_table_that_fits_is_seen_whole(model: Model) -> None:
    table = Table(header=["city", "people"], rows=[["oslo", "7"], ["rome", "2"]])
    answer = alone(model, PredictRequest(question="which city?", table=table, options=SHORT))
    assert isinstance(answer, Prediction)
    assert (answer.rows_seen, answer.rows_total, answer.truncated) == (2, 2, False)


def test_dialogue_history_reaches_the_model(model: Model) -> None:
    table = Table(header=["city", "people"], rows=[["oslo", "7"], ["bergen", "2"]])
    first = PredictRequest(question="and there?", table=table, options=SHORT)
    later = replace(first, history=(Turn("which city has the most people?", ["oslo"]),))
    assert model.tokens(later) > model.tokens(first)


@pytest.mark.parametrize("name", ["tabert", "tabert3"])
def test_titles_and_context_reach_tabert(models: dict[str, Model], name: str) -> None:
    plain = PredictRequest(question="which?", table=Table(header=["a"], rows=[["1"]]), options=SHORT)
    titled = replace(plain, table=Table(header=["a"], rows=[["1"]], title="norway"))
    told = replace(plain, context=Context(text="the city"))
    assert models[name].tokens(plain) < models[name].tokens(titled)
    assert models[name].tokens(plain) < models[name].tokens(told)


def test_a_request_that_nobody_waits_for_costs_no_more_steps(models: dict[str, Model]) -> None:
    steps = 0

    def gone(place: int) -> bool:
        nonlocal steps
        steps += 1
        return True

    table = Table(header=["city"], rows=[["oslo"]] * 5)
    request = PredictRequest(question="which?", table=table, options=Options(max_new_tokens=200))
    for beams in (1, 5):
        steps = 0
        models["tapex"].predict_batch([replace(request, options=Options(beams, 200))], gone)
        assert steps <= 2


def test_one_that_is_gone_leaves_the_others_their_answers(
    models: dict[str, Model], questions: list[PredictRequest]
) -> None:
    for name in ARCHITECTURES:
        answers = models[name].predict_batch(questions[:4], lambda place: place in (0, 2))
        for place in (1, 3):
            assert same(answers[place], alone(models[name], questions[place])), name


def test_weights_and_settings_are_in_the_hash(folders: dict[str, Path], tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folders["tapex"], tmp_path / "copy")
    first = load(tmp_path / "copy")
    assert first.sha == load(folders["tapex"]).sha
    (tmp_path / "copy" / "askew.json").write_text('{"context": true}')
    assert load(tmp_path / "copy").sha != first.sha
    assert len(first.sha) == 12


def test_a_pickle_that_holds_more_than_weights_is_not_opened(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    import pickle
    import shutil

    class Evil:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
            return Path.touch, (Path(tmp_path / "ran"),)  # type: ignore[return-value]

    for name, file in (("tabert", "model.bin"), ("tapex", "pytorch_model.bin")):
        folder = tmp_path / name
        shutil.copytree(folders[name], folder)
        (folder / "model.safetensors").unlink(missing_ok=True)
        (folder / file).write_bytes(pickle.dumps(Evil()))
        with pytest.raises(ModelError):
            load(folder)
    assert not (tmp_path / "ran").exists()


def test_every_architecture_answers_over_http(
    models: dict[str, Model], questions: list[PredictRequest]
) -> None:
    with serving(*models.values()) as client:
        for name, model in models.items():
            said = client.post(
                "/v1/predict", json=questions[0].to_dict() | {"model": model.name, "deadline_ms": 20_000}
            )
            assert said.status_code == 200, said.text
            answer = Prediction.from_dict(said.json(), questions[0].table.shape)
            assert answer.model == info(model).id, name
        licences = {one["name"]: one["licence"] for one in client.get("/v1/models").json()["models"]}
        assert "CC BY-NC" in licences["small-tabert"]
        assert client.get("/readyz").status_code == 200
