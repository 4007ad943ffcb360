"""The model that comes with Askew: small, trained here, run without torch.

    from predictor import load_bundled
    load_bundled().predict("who won most medals?", table)

How it was trained, what it is good at and where it fails: MODEL_CARD.md beside the weights.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from predictor.bundled.model import BundledModel

WEIGHTS = Path(__file__).parent / "weights"
"""Where the weights lie that come with Askew."""


def load_bundled(folder: str | Path | None = None) -> BundledModel:
    """The bundled model, from `folder` or from where Askew keeps it; loaded once for each folder.

    Raises `predictor.checkpoints.ModelError` saying how to train it, where there are no weights.
    """
    return _loaded(Path(folder) if folder is not None else WEIGHTS)


@lru_cache(maxsize=4)
def _loaded(folder: Path) -> BundledModel:
    from predictor.bundled.model import BundledModel

    return BundledModel(folder)
