"""Training from weights that are served: read back from the graph, they give the same scores, and training goes on."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from predictor.bundled import WEIGHTS
from predictor.training import TrainingError
from tableqa import Example
from tableqa.readers import READERS
from tests.predictor.models.releases import release

pytestmark = pytest.mark.usefixtures("deep_learning")

needs_weights = pytest.mark.skipif(not (WEIGHTS / "model.onnx").exists(), reason="no shipped weights")


@pytest.fixture(scope="module")
def questions(test_data: Path) -> list[Example]:
    from predictor.training.bundled import TINY_CELLS

    every = READERS["wtq"](test_data / "wtq" / "random-split-1-train.tsv")
    return list(islice((one for one in every if one.table.shape[0] * one.table.shape[1] <= TINY_CELLS), 160))


@pytest.fixture(scope="module")
def exported(
    deep_learning: None, tmp_path_factory: pytest.TempPathFactory, questions: list[Example]
) -> dict[str, Path]:
    """A tiny network, exported with every kind of storage."""
    import torch

    from predictor.bundled.decode import Balance
    from predictor.training.bundled import tiny_encoder
    from predictor.training.export import export
    from predictor.training.network import Network, Shape, encoder_shape

    root = tmp_path_factory.mktemp("exported")
    encoder = tiny_encoder(root / "encoder", questions)
    torch.manual_seed(5)
    network = Network(Shape(**encoder_shape(encoder), width=32, table_heads=2, table_layers=2))
    storages: tuple[Any, ...] = ("float32", "float16", "int8")
    return {
        storage: export(network, encoder, Balance({}, {}), root / storage, {}, storage)
        for storage in storages
    }


def difference(folder: Path) -> float:
    """The largest difference between the scores of a folder's graph and of the network read back from it."""
    import torch

    from predictor.bundled.decode import OUTPUTS
    from predictor.bundled.features import collate
    from predictor.training.export import _sample, runner_of
    from predictor.training.network import INPUTS
    from predictor.training.start import network_of

    arrays = collate([_sample(3, 2, 5), _sample(4, 3, 7)])
    expected = runner_of(folder)(arrays)
    with torch.inference_mode():
        scores = network_of(folder).eval()(*(torch.from_numpy(arrays[name]) for name in INPUTS))
    return max(
        float(np.abs(one.numpy() - expected[name]).max()) for name, one in zip(OUTPUTS, scores, strict=True)
    )


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
def test_the_network_of_a_folder_gives_the_scores_of_its_graph(
    exported: dict[str, Path], storage: str
) -> None:
    # ONNX Runtime multiplies 8-bit matrices as such, which rounds differently.
    assert difference(exported[storage]) < (0.02 if storage == "int8" else 1e-4)


@needs_weights
def test_the_shipped_weights_are_read_back() -> None:
    from predictor.architectures import weights_sha
    from predictor.training.start import start_of

    start = start_of(Path("bundled"))
    assert start.folder == WEIGHTS
    assert start.origin() == {
        "model": f"bundled@{weights_sha(WEIGHTS)}",
        "licence": "CC BY-SA 4.0 (trained on WikiTableQuestions; encoder: MiniLM-L6, Apache-2.0)",
        "seen": 145_020,
    }
    assert sum(one.numel() for one in start.network().parameters()) > 20_000_000
    assert difference(WEIGHTS) < 1e-3


def test_a_served_folder_is_trained_on_and_compared(
    exported: dict[str, Path],
    questions: list[Example],
    test_data: Path,
    tmp_path: Path,
) -> None:
    from predictor.training.__main__ import main

    tiny = ["--data", str(test_data / "wtq"), "--tiny", "--threads", "1", "--from", str(exported["float16"])]
    people = release(tmp_path / "people", questions[20:32], asked_otherwise=True)
    test = release(tmp_path / "test", questions[:8], asked_otherwise=True)
    arguments = [*tiny, "--out", str(tmp_path / "arms"), "--augment", f"X={people}", "--test", str(test)]
    assert main([*arguments, "--seeds", "2"]) == 0
    result = json.loads((tmp_path / "arms" / "augmented.json").read_text())
    assert list(result["columns"]) == ["start", "before", "+X"]
    assert [len(one["models"]) for one in result["columns"].values()] == [1, 2, 2]
    assert len({model for one in result["columns"].values() for model in one["models"]}) == 5
    seen = {json.loads(file.read_text())["seen"] for file in (tmp_path / "arms").rglob("model/bundled.json")}
    assert len(seen) == 1


def test_the_card_of_an_adaptation_names_its_start_and_what_was_added(
    exported: dict[str, Path], test_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from predictor.architectures import weights_sha
    from predictor.training.__main__ import main

    start = shutil.copytree(exported["float16"], tmp_path / "start")
    settings = json.loads((start / "bundled.json").read_text())
    calibration = {"scores": [0.2, 0.8], "shares": [0.3, 0.6]}
    balance = {"weights": {"count": 0.5}, "biases": {"count": -1.0}}
    (start / "bundled.json").write_text(
        json.dumps({**settings, "seen": 1_500, "calibration": calibration, "balance": balance})
    )
    name = f"start@{weights_sha(start)}"
    arguments = ["--data", str(test_data / "wtq"), "--tiny", "--threads", "1", "--from", str(start)]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    folder = tmp_path / "out" / "model"
    card = (folder / "MODEL_CARD.md").read_text()
    rows = dict(line[2:-2].split(" | ", 1) for line in card.splitlines() if line[2:-2].count(" | ") == 1)
    assert rows["started from"] == (
        f"the weights of `{name}`, which had seen 1,500 questions; their licence: "
        "CC BY-SA 4.0 (trained on WikiTableQuestions; encoder: MiniLM-L6, Apache-2.0)"
    )
    exported_settings = json.loads((folder / "bundled.json").read_text())
    seen = exported_settings["seen"]
    assert rows["trained on"].startswith(f"the data of `{name}`, and then {seen:,} questions drawn from: ")
    assert rows["training"] == f"`./run train --data DIR --tiny --threads 1 --from {start}`"
    # A handful of held-out questions replaces neither the calibration nor the balance of the start.
    assert (exported_settings["calibration"], exported_settings["balance"]) == (calibration, balance)
    assert "Its confidence keeps the calibration of the start" in card
    output = capsys.readouterr().out
    assert f"starting from the weights of {name}" in output
    assert "held-out questions are too few (200 needed)" in output
    assert main([*arguments, "--out", str(tmp_path / "out"), "--card"]) == 0
    again = (folder / "MODEL_CARD.md").read_text()
    assert again.partition("## How fast")[0] == card.partition("## How fast")[0]


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    from predictor.training.start import start_of

    with pytest.raises(TrainingError, match="--from is bundled"):
        start_of(tmp_path)
