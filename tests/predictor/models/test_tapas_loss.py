"""TAPAS's weak-supervision loss: equal to transformers' with labels, and its gradients reach every head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from predictor.architectures import ModelError, load, never_stop
from predictor.protocol import Prediction, PredictRequest
from tableqa import Example, Table
from tests.predictor.models import small

pytestmark = pytest.mark.usefixtures("deep_learning")

TABLE = Table(
    header=["City", "People", "Year"],
    rows=[["Oslo", "7", "1990"], ["Rome", "2", "1991"], ["New York", "9 x", "1992"], ["Oslo", "4", "1993"]],
)


def questions() -> list[Example]:
    answered = [
        ("which city?", ["Rome"]),
        ("which cities?", ["Oslo", "New York"]),
        ("how many cities?", ["4"]),  # also a cell
        ("how many people?", ["13"]),
        ("how many in total?", ["3"]),
        ("which year?", ["1991"]),
    ]
    return [
        Example(id=str(number), question=question, table=TABLE, answers=answers)
        for number, (question, answers) in enumerate(answered)
    ]


@pytest.fixture
def learner(tmp_path: Path) -> Any:
    from predictor.training.learners import learner_of

    small.tapas(tmp_path, temperature=0.2)
    tapas = learner_of(tmp_path, "cpu")
    tapas.network.eval()
    return tapas


def theirs(learner: Any, examples: list[Example]) -> Any:
    """The output of transformers' forward with labels, on inputs made by transformers' tokenizer."""
    import pandas as pd
    import torch

    frame = pd.DataFrame([list(row) for row in TABLE.rows], columns=list(TABLE.header), dtype=str)
    _, targets = learner.batch(examples)
    # One at a time: the questions of one call are a dialogue to this tokenizer.
    encoded = [
        learner.model.tokenizer(
            table=frame,
            queries=one.question,
            answer_coordinates=coordinates(one) or [(0, 0)],  # without any it makes no labels
            answer_text=list(one.answers),
            padding="max_length",
            max_length=targets.labels.shape[1],
            return_tensors="pt",
        )
        for one in examples
    ]
    inputs = {name: torch.cat([one[name] for one in encoded]) for name in encoded[0]}
    inputs.pop("float_answer", None)
    inputs["labels"] *= torch.tensor([[bool(coordinates(one))] for one in examples])
    assert torch.equal(inputs["labels"].float(), targets.labels)
    torch.testing.assert_close(inputs["numeric_values"].float(), targets.values, equal_nan=True)
    torch.testing.assert_close(inputs["numeric_values_scale"].float(), targets.scales)
    labels = inputs.pop("labels")
    if not learner.network.config.select_one_column:
        labels = labels.float()  # transformers' own forward fails with whole numbers
    return learner.network(**inputs, labels=labels, float_answer=targets.answers)


def coordinates(example: Example) -> list[tuple[int, int]]:
    """The cells of the first column with an answer, found without the code under test."""
    cells = [(i, j) for j in range(3) for i, row in enumerate(TABLE.rows) if row[j] in example.answers]
    return [cell for cell in cells if cell[1] == cells[0][1]]


SETTINGS: list[dict[str, Any]] = [
    {},
    {"cell_selection_preference": 0.0},
    {"cell_selection_preference": 1.0},
    {"answer_loss_cutoff": None, "answer_loss_importance": 0.5, "aggregation_loss_weight": 2.0},
    {"average_approximation_function": "first_order"},
    {"average_approximation_function": "second_order", "use_normalized_answer_loss": True},
    {"average_logits_per_cell": True, "positive_label_weight": 3.0},
    {"allow_empty_column_selection": True, "aggregation_temperature": 0.5},
    {"disable_per_token_loss": True},
]


@pytest.mark.parametrize("one_column", [True, False], ids=["one column", "any cells"])
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: next(iter(settings), "published"))
def test_the_loss_and_its_gradients_are_those_of_transformers(
    learner: Any, settings: dict[str, Any], one_column: bool
) -> None:
    import torch

    from predictor.architectures.tapas import selected_logits

    for name, value in {"select_one_column": one_column, **settings}.items():
        setattr(learner.network.config, name, value)
    examples = questions()
    scores, _ = learner.batch(examples)
    reference = theirs(learner, examples)
    torch.testing.assert_close(selected_logits(scores), reference.logits, atol=1e-4, rtol=1e-5)
    heads = {
        name: parameter
        for name, parameter in learner.network.named_parameters()
        if "output_" in name or "classifier" in name or "embeddings.token_type" in name
    }
    loss = learner.loss(examples)
    torch.testing.assert_close(loss, reference.loss, atol=1e-4, rtol=1e-5)
    ours = torch.autograd.grad(loss, list(heads.values()), allow_unused=True)
    wanted = torch.autograd.grad(reference.loss, list(heads.values()), allow_unused=True)
    for name, gradient, expected in zip(heads, ours, wanted, strict=True):
        if expected is None:
            assert gradient is None, name
        else:
            torch.testing.assert_close(gradient, expected, atol=1e-3, rtol=1e-3, msg=name)


def test_the_gradient_reaches_the_column_head_in_training_mode(learner: Any) -> None:
    learner.network.train()
    learner.loss(questions()[:2]).backward()
    for name in ("column_output_weights", "output_weights", "aggregation_classifier.weight"):
        gradient = dict(learner.network.named_parameters())[name].grad
        assert gradient is not None, name
        assert float(gradient.abs().max()) > 1e-6, name


def test_a_pretrained_encoder_gets_the_published_settings_and_is_not_served_before(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    from predictor.training.learners import learner_of
    from predictor.training.tapas_loss import WTQ

    small.tapas(tmp_path, num_aggregation_labels=0, aggregation_labels=None, use_answer_as_supervision=None)
    weights = load_file(tmp_path / "model.safetensors")
    encoder = {name: tensor for name, tensor in weights.items() if name.startswith("tapas.")}
    save_file(encoder, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="run train --architecture tapas"):
        load(tmp_path)
    config = learner_of(tmp_path, "cpu").network.config
    assert {name: getattr(config, name) for name in WTQ} == WTQ


def of_sqa(folder: Path, **settings: Any) -> dict[str, Any]:
    """A checkpoint for SQA in the published layout: a .bin, every setting in config.json, no operations. Its weights."""
    import json

    import torch
    from safetensors.torch import load_file
    from transformers import TapasConfig

    small.tapas(folder, initializer_range=0.1)
    config = json.loads((folder / "config.json").read_text())
    general = TapasConfig().to_dict()
    sizes = {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}
    published = {name: config[name] for name in config if name in sizes or name not in general}
    published = {**general, **published, "architectures": ["TapasForQuestionAnswering"], **settings}
    (folder / "config.json").write_text(json.dumps(published))
    weights = load_file(folder / "model.safetensors")
    weights = {name: tensor for name, tensor in weights.items() if not name.startswith("aggregation_")}
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return weights


def test_a_checkpoint_for_sqa_with_operations_learns_them_with_the_published_settings(tmp_path: Path) -> None:
    import torch

    from predictor.training.learners import NO_TARGET, learner_of
    from predictor.training.tapas_loss import WTQ

    cells, number = questions()[0], questions()[4]
    of_sqa(tmp_path)
    assert load(tmp_path).predict_batch([PredictRequest.about(cells)], never_stop)
    assert learner_of(tmp_path, "cpu").obstacle(number) == NO_TARGET
    weights = of_sqa(tmp_path, num_aggregation_labels=4)
    with pytest.raises(ModelError, match="no weights for the operations"):
        load(tmp_path)
    tapas = learner_of(tmp_path, "cpu")
    config = tapas.network.config
    assert {name: getattr(config, name) for name in WTQ} == WTQ
    torch.testing.assert_close(tapas.network.output_weights.data, weights["output_weights"])
    torch.testing.assert_close(tapas.network.column_output_weights.data, weights["column_output_weights"])
    assert tapas.obstacle(number) is None
    tapas.loss([cells, number]).backward()
    gradient = tapas.network.aggregation_classifier.weight.grad
    assert gradient is not None
    assert float(gradient.abs().max()) > 0
    (tmp_path / "pytorch_model.bin").unlink()
    tapas.save(tmp_path)
    (answer,) = load(tmp_path).predict_batch([PredictRequest.about(number)], never_stop)
    assert isinstance(answer, Prediction)
    assert answer.op in ("select", "sum", "average", "count")


def test_settings_of_its_own_stay_in_a_checkpoint_that_gets_operations(tmp_path: Path) -> None:
    from predictor.training.learners import learner_of

    of_sqa(tmp_path, num_aggregation_labels=4, select_one_column=False, temperature=0.5)
    config = learner_of(tmp_path, "cpu").network.config
    assert (config.select_one_column, config.temperature) == (False, 0.5)
    assert config.answer_loss_cutoff == 0.664694


@pytest.mark.parametrize("one_column", [True, False])
def test_a_model_of_cells_without_operations_is_trained_and_answers(tmp_path: Path, one_column: bool) -> None:
    """As the published checkpoints for SQA are."""
    import torch

    from predictor.training.learners import NO_TARGET, learner_of

    small.tapas(tmp_path, num_aggregation_labels=0, aggregation_labels=None, select_one_column=one_column)
    tapas = learner_of(tmp_path, "cpu")
    cells, number = questions()[0], questions()[4]
    assert tapas.obstacle(cells) is None
    assert tapas.obstacle(number) == NO_TARGET
    assert torch.isfinite(tapas.loss([cells]))
    (answer,) = load(tmp_path).predict_batch([PredictRequest.about(cells)], never_stop)
    assert isinstance(answer, Prediction)
    assert answer.op == "select"
