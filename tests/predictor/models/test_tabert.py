"""TaBERT's encoder: the published names, how a row is written, the snapshot, and a mask that masks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predictor.architectures import ModelError, load
from predictor.protocol import PredictRequest
from tableqa import Table
from tests.predictor.models import small

pytestmark = pytest.mark.usefixtures("deep_learning")

if TYPE_CHECKING:
    from predictor.architectures.tabert_input import WordPieces
    from predictor.architectures.tabert_network import TabertNetwork

TABLE = Table(
    header=["City", "People"],
    rows=[["Oslo", "700"], ["New York City", "8,000"], ["Bergen", "290"], ["York", "150"]],
)


@pytest.fixture(params=["tabert", "tabert3"])
def loaded(request: pytest.FixtureRequest, folders: dict[str, Path]) -> tuple[TabertNetwork, WordPieces]:
    from predictor.architectures.tabert import load_encoder

    network, words = load_encoder(folders[request.param], {})
    return network.eval(), words


def test_the_parameters_are_those_of_the_published_weights() -> None:
    """Counted on the sizes of bert-base and bert-large without making them."""
    import torch

    from predictor.architectures.tabert_input import Configuration
    from predictor.architectures.tabert_network import TabertEncoder

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


def test_a_row_is_written_as_in_the_paper(loaded: tuple[TabertNetwork, WordPieces]) -> None:
    from predictor.architectures.tabert_input import read

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
    from predictor.architectures.tabert_input import snapshot

    asked = "how many people live in new york city and in bergen?"
    assert [row[0] for row in snapshot(asked, TABLE, 3)] == ["New York City", "Bergen", "York"]
    assert [row[0] for row in snapshot("how many?", TABLE, 3)] == ["Oslo", "New York City", "Bergen"]
    assert snapshot(asked, TABLE, 1) == [("New York City", "700")]
    assert snapshot(asked, Table(header=["a", "b"], rows=[]), 3) == [("", "")]


def test_a_table_is_encoded_the_same_whatever_it_is_batched_with(
    loaded: tuple[TabertNetwork, WordPieces],
) -> None:
    """The original's mask does nothing, so that here a table of one row would change with its neighbours."""
    import torch

    from predictor.architectures.tabert_input import read

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

    from predictor.architectures.tabert import load_encoder
    from predictor.architectures.tabert_input import read

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
    from predictor.architectures.tabert_input import Configuration

    published = json.loads(
        '{"base_model_name": "bert-large-uncased", "cell_input_template": "column | type | value"}'
    )
    found = Configuration.from_dict(published)
    assert (found.hidden, found.layers, found.rows, found.vertical_layers) == (1024, 24, 1, 0)
    assert found.template == ("column", "|", "type", "|", "value")
    assert Configuration.from_dict({"num_vertical_attention_heads": 6}).rows == 3


# --- an independent implementation of the encoder ----------------------------------------------------------


def by_loops(state: dict[str, Any], configuration: Any, group: Any, rows: int, masked: str) -> Any:
    """(question, columns) of a group of lines that is padded to so many rows, without batches or masks on tensors.

    BERT is transformers' class; the vertical layers are written out position by position. `masked`: "keys" leaves
    missing rows out; "published" attends to whatever the padding contains.
    """
    import torch
    from torch.nn import functional
    from transformers import BertConfig, BertModel

    bert = BertModel(
        BertConfig(
            vocab_size=configuration.vocabulary,
            hidden_size=configuration.hidden,
            num_hidden_layers=configuration.layers,
            num_attention_heads=configuration.heads,
            intermediate_size=configuration.intermediate,
            max_position_embeddings=configuration.positions,
        ),
        add_pooling_layer=False,
    ).eval()
    prefix = "_bert_model.bert."
    own = set(bert.state_dict())
    bert.load_state_dict(
        {name.removeprefix(prefix): one for name, one in state.items() if name.removeprefix(prefix) in own}
    )
    vectors: list[list[Any]] = []  # per row, per position: question tokens, then columns
    questions, columns = group[0].question[1] - group[0].question[0], len(group[0].columns)
    for line in group:
        ids = torch.tensor([line.ids])
        segments = torch.tensor([[int(place >= line.first_segment) for place in range(len(line.ids))]])
        states = bert(input_ids=ids, token_type_ids=segments).last_hidden_state[0]
        first, last = line.question
        spans = [states[start:end].mean(0) for start, end in line.columns]
        vectors.append([*states[first:last], *spans])
    padding = [torch.zeros(configuration.hidden)] * (questions + columns)
    vectors += [list(padding) for _ in range(rows - len(group))]
    size = configuration.hidden // configuration.vertical_heads
    for number in range(configuration.vertical_layers):
        name = f"vertical_transformer_layers.{number}."

        def linear(part: str, vector: Any, name: str = name) -> Any:
            return functional.linear(vector, state[f"{name}{part}.weight"], state[f"{name}{part}.bias"])

        def norm(part: str, vector: Any, name: str = name) -> Any:
            weights = state[f"{name}{part}.LayerNorm.weight"], state[f"{name}{part}.LayerNorm.bias"]
            return functional.layer_norm(vector, (configuration.hidden,), *weights, eps=1e-12)

        changed: list[list[Any]] = [[] for _ in range(rows)]
        for position in range(questions + columns):
            column = [row[position] for row in vectors]
            for asking in range(rows):
                heads = []
                for head in range(configuration.vertical_heads):
                    part = slice(head * size, (head + 1) * size)
                    query = linear("attention.self_attention.query_linear", column[asking])[part]
                    visible = range(rows) if masked == "published" else range(len(group))
                    scores = torch.stack(
                        [
                            query
                            @ linear("attention.self_attention.key_linear", column[other])[part]
                            / size**0.5
                            for other in visible
                        ]
                    ).softmax(0)
                    values = [
                        linear("attention.self_attention.value_linear", column[other])[part]
                        for other in visible
                    ]
                    heads.append(sum(score * value for score, value in zip(scores, values, strict=True)))
                mixed = linear("attention.self_output.dense", torch.cat(heads))
                attended = norm("attention.self_output", mixed + column[asking])
                inner = functional.gelu(linear("intermediate.dense", attended))
                changed[asking].append(norm("output", linear("output.dense", inner) + attended))
        vectors = changed
    pooled = [
        sum(vectors[row][position] for row in range(len(group))) / len(group)
        for position in range(questions + columns)
    ]
    return torch.stack(pooled[:questions]), torch.stack(pooled[questions:])


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("mask", ["corrected", "published"])
def test_the_encoder_equals_an_independent_implementation(
    folders: dict[str, Path], rows: int, mask: str
) -> None:
    """Batched with a table of three rows, so that the shorter tables are padded."""
    import torch

    from predictor.architectures.tabert import load_encoder
    from predictor.architectures.tabert_input import read

    network, words = load_encoder(folders["tabert3"], {"vertical_mask": mask})
    network.eval()
    full = read(words, network.configuration, PredictRequest(question="which of the cities?", table=TABLE))
    table = Table(header=["City", "People"], rows=TABLE.rows[:rows])
    short = read(words, network.configuration, PredictRequest(question="most people?", table=table))
    state = dict(network.encoder.state_dict())
    near = 1e-3 if mask == "published" else 2e-5  # its -10,000 costs digits
    with torch.inference_mode():
        batch = network.encoder([short.groups[1], full.groups[1]])
        for place, group in enumerate((short.groups[1], full.groups[1])):
            masked = "published" if mask == "published" else "keys"
            question, columns = by_loops(state, network.configuration, group, 3, masked)
            torch.testing.assert_close(batch.question[place, : len(question)], question, atol=near, rtol=1e-4)
            torch.testing.assert_close(batch.columns[place, : len(columns)], columns, atol=near, rtol=1e-4)


def test_the_published_mask_depends_on_the_batch_and_the_corrected_one_does_not(
    folders: dict[str, Path],
) -> None:
    import torch

    from predictor.architectures.tabert import load_encoder
    from predictor.architectures.tabert_input import read

    table = Table(header=["City"], rows=[["Oslo"]])
    for mask, differs in (("corrected", False), ("published", True)):
        network, words = load_encoder(folders["tabert3"], {"vertical_mask": mask})
        network.eval()
        lone = read(words, network.configuration, PredictRequest(question="which?", table=table)).groups[1]
        full = read(words, network.configuration, PredictRequest(question="which?", table=TABLE)).groups[1]
        with torch.inference_mode():
            alone, beside = network.encoder([lone]).columns[0, 0], network.encoder([lone, full]).columns[0, 0]
        assert torch.allclose(alone, beside, atol=1e-5) != differs


def test_another_vertical_mask_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folders["tabert3"], tmp_path / "copy")
    (tmp_path / "copy" / "askew.json").write_text('{"vertical_mask": "none"}')
    with pytest.raises(ModelError, match="corrected or published"):
        load(tmp_path / "copy")


tables = st.lists(st.text("osloberg 17", max_size=6), min_size=1, max_size=7).map(
    lambda cells: Table(header=["city"], rows=[[cell] for cell in cells])
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables, others=st.lists(tables, max_size=3))
def test_an_output_never_depends_on_its_batch(
    loaded: tuple[TabertNetwork, WordPieces], table: Table, others: list[Table]
) -> None:
    import torch

    from predictor.architectures import never_stop
    from predictor.architectures.tabert_input import read

    network, words = loaded
    readings = [
        read(words, network.configuration, PredictRequest(question="which city?", table=one))
        for one in (table, *others)
    ]
    width = [1] * len(readings)
    with torch.inference_mode():
        ((cells, operations),) = network(readings[:1], width[:1], 10**6, never_stop)
        (batch_cells, batch_operations), *_ = network(readings, width, 10**6, never_stop)
    torch.testing.assert_close(batch_cells, cells, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(batch_operations, operations, atol=1e-4, rtol=1e-4)


def test_the_recorded_encoding_stays(folders: dict[str, Path]) -> None:
    """Weights made by a formula, and the encoding that the independent implementation gave when it was recorded."""
    import math

    import torch

    from predictor.architectures.tabert import load_encoder
    from predictor.architectures.tabert_input import read

    recorded = json.loads((Path(__file__).parents[2] / "vectors" / "tabert.json").read_text())
    for mask, expected in recorded["columns"].items():
        network, words = load_encoder(folders["tabert3"], {"vertical_mask": mask})
        for number, (name, parameter) in enumerate(sorted(network.encoder.named_parameters())):
            wave = torch.arange(parameter.numel(), dtype=torch.float64)
            values = (0.1 * torch.sin(1.7 * wave + number)).float().view(parameter.shape)
            parameter.data.copy_(values + (1.0 if name.endswith("LayerNorm.weight") else 0.0))
        network.eval()
        groups = [
            read(words, network.configuration, PredictRequest(question="which city?", table=one)).groups[1]
            for one in (Table(header=["City"], rows=[["oslo"], ["york"]]), TABLE)
        ]
        with torch.inference_mode():
            columns = network.encoder(groups).columns[0, 0]
        assert math.dist(columns.tolist(), expected) < 1e-3, mask
