"""Small models of every architecture with random weights, in folders as an administrator would have them.

They need torch and transformers (requirements-models.txt): without them these tests are skipped, under CI they fail.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.plugin import missing


@pytest.fixture(autouse=True, scope="session")
def deep_learning() -> None:
    """Skip where the libraries are not installed; `./run test` says so, too."""
    for library in ("torch", "transformers", "safetensors", "onnx"):
        if importlib.util.find_spec(library) is None:
            missing(f"{library} is not installed: requirements-models.txt has it (docs/predictor.md)")
    import torch

    torch.set_num_threads(1)  # so small a network is slower with more, and several test processes run at once


@pytest.fixture(scope="session")
def folders(
    deep_learning: None, tmp_path_factory: pytest.TempPathFactory, test_data: Path
) -> dict[str, Path]:
    """Architecture -> folder of a small model: tapex, omnitab, tapas, tabert (K=1) and tabert3 (K=3)."""
    from tests.predictor.models import small

    made = {
        name: tmp_path_factory.mktemp("models") / f"small-{name}"
        for name in ("tapex", "omnitab", "tapas", "tabert", "tabert3")
    }
    for folder in made.values():
        folder.mkdir()
    for name in ("tapex", "omnitab"):
        small.bart(made[name], test_data / "golden" / "tapex")
    small.tapas(made["tapas"])
    small.tabert(made["tabert"], rows=1)
    small.tabert(made["tabert3"], rows=3)
    return made
