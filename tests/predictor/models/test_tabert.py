"""TaBERT's encoder: the published names, how a row is written, the snapshot, and a mask that masks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from predictor.architectures import ModelError, load
from predictor.protocol import PredictRequest
from tableqa import Table
from tests.predictor.models import small

if TYPE_CHECKING:
    from predictor.architectures.tabert import TabertNetwork, Words

TABLE = Table(
    header=["City", "People"],
    rows=[["Oslo", "700"], ["New York City", "8,000"], ["Bergen", "290"], ["York", "150"]],
)


@pytest.fixture(params=["tabert", "tabert3"])
def loaded(request: pytest.FixtureRequest, folders: dict[str, Path]) -> tuple[TabertNetwork, Words]:
    from predictor.architectures.tabert import load_encoder

    network, words = load_encoder(folders[request.param], {})
    return network.eval(), words


def test_the_parameters_are_those_of_the_published_weights() -> None:
    """Counted on the sizes of bert-base and bert-large without making them."""
    import torch

    from predictor.architectures.tabert import Configuration, TabertEncoder

    for base, vertical, millions in (
        ("bert-base-uncased", False, 108.9),
        ("bert-base-uncased", True, 130.2),
        ("bert-large-uncased", False, 334.1),
        ("bert-large-uncased", True, 371.9),
    ):
        said = {"base_model_name": base} | ({"num_vertical_layers": 3} if vertical else {})
        with torch.device("meta"):
            encoder = TabertEncoder(Configuration.from_dict(said))
        assert round(sum(one.numel() for one in encoder.parameters()) / 1e6, 1) == millions
    names = set(encoder.state_dict())
    for name in (
        "_bert_model.bert.embeddings.word_embeddings.weight",
        "_bert_model.bert.encoder.layer.23.output.LayerNorm.bias",
        "vertical_transformer_layers.2.attention.self_attention.query_linear.weight",
        "vertical_transformer_layers.0.attention.self_output.LayerNorm.weight",
        "vertical_transformer_layers.1.intermediate.dense.bias",
        "vertical_transformer_layers.1.output.dense.weight",
    ):
        assert name in names


def test_weights_that_are_missing_or_of_another_shape_are_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    import torch

    small.tabert(tmp_path, rows=3)
    state = torch.load(tmp_path / "model.bin", weights_only=True)
    del state["vertical_transformer_layers.0.output.dense.weight"]
    torch.save(state, tmp_path / "model.bin")
    with pytest.raises(ModelError, match="not the weights of this TaBERT"):
        load(tmp_path)


def test_what_a_folder_lacks_is_named(tmp_path: Path) -> None:
    small.tabert(tmp_path, rows=1)
    (tmp_path / "head.safetensors").unlink()
    with pytest.raises(ModelError, match="run train --architecture tabert"):
        load(tmp_path)
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(ModelError, match=r"vocab\.txt is missing"):
        load(tmp_path)


def test_a_row_is_written_as_in_the_paper(loaded: tuple[TabertNetwork, Words]) -> None:
    from predictor.architectures.tabert import read

    network, words = loaded
    reading = read(words, network.configuration, PredictRequest(question="which city", table=TABLE))
    spelt = {number: word for word, number in words.vocabulary.items()}
    line = reading.groups[1][0]
    text = " ".join(spelt[one] for one in line.ids)
    assert text.startswith("[CLS] which city [SEP] city | text | oslo [SEP] people | real | ")
    assert text.endswith("[SEP]")
    assert line.first_segment == 4
    first, last = line.columns[0]
    assert [spelt[one] for one in line.ids[first:last]] == ["city", "|", "text", "|", "oslo"]
    assert all(len(group) <= network.configuration.rows for group in reading.groups)


def test_the_snapshot_takes_the_rows_that_the_question_speaks_of() -> None:
    from predictor.architectures.tabert import snapshot

    asked = "how many people live in new york city and in bergen?"
    assert [row[0] for row in snapshot(asked, TABLE, 3)] == ["New York City", "Bergen", "York"]
    assert [row[0] for row in snapshot("how many?", TABLE, 3)] == ["Oslo", "New York City", "Bergen"]
    assert snapshot(asked, TABLE, 1) == [("New York City", "700")]
    assert snapshot(asked, Table(header=["a", "b"], rows=[]), 3) == [("", "")]


def test_a_table_is_encoded_the_same_whatever_it_is_batched_with(loaded: tuple[TabertNetwork, Words]) -> None:
    """The original's mask does nothing, so that here a table of one row would change with its neighbours."""
    import torch

    from predictor.architectures.tabert import read

    network, words = loaded
    long = read(words, network.configuration, PredictRequest(question="which of the cities?", table=TABLE))
    one = Table(header=["a"], rows=[["x"]])
    short = read(words, network.configuration, PredictRequest(question="q", table=one))
    with torch.inference_mode():
        alone = network.encoder([short.groups[1]])
        beside = network.encoder([short.groups[1], *long.groups])
    torch.testing.assert_close(alone.columns[0, 0], beside.columns[0, 0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(alone.question[0, 0], beside.question[0, 0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(alone.cells[0, 0, 0], beside.cells[0, 0, 0], atol=1e-5, rtol=1e-5)


def test_rows_of_a_group_see_one_another_only_with_vertical_attention(folders: dict[str, Path]) -> None:
    import torch

    from predictor.architectures.tabert import load_encoder, read

    network, words = load_encoder(folders["tabert3"], {})
    network.eval()

    def first_cell(second_row: str) -> torch.Tensor:
        table = Table(header=["a"], rows=[["x"], [second_row]])
        reading = read(words, network.configuration, PredictRequest(question="q", table=table))
        with torch.inference_mode():
            found: torch.Tensor = network.encoder([reading.groups[1]]).cells[0, 0, 0]
        return found

    assert not torch.allclose(first_cell("y"), first_cell("z"), atol=1e-4)
    network.encoder.vertical_transformer_layers = torch.nn.ModuleList()
    assert torch.allclose(first_cell("y"), first_cell("z"), atol=1e-5)


def test_the_configuration_of_old_folders_is_understood() -> None:
    from predictor.architectures.tabert import Configuration

    published = json.loads(
        '{"base_model_name": "bert-large-uncased", "cell_input_template": "column | type | value"}'
    )
    found = Configuration.from_dict(published)
    assert (found.hidden, found.layers, found.rows, found.vertical_layers) == (1024, 24, 1, 0)
    assert found.template == ("column", "|", "type", "|", "value")
    assert Configuration.from_dict({"num_vertical_attention_heads": 6}).rows == 3
