"""The models that a predictor process can serve.

    model = load("/srv/models/tapex-large", device="cpu")
    model.predict_batch([request], stop=never)

`predictor.checkpoints` says what a folder holds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from predictor.checkpoints import Checkpoint, Model, ModelError, Stop, find, info, never_stop, weights_sha


def load_to_serve(folder: str | Path, device: str = "cpu") -> Model:
    """`load`, and get the model ready to answer many requests fast."""
    model = load(folder, device)
    prepare = getattr(model, "prepare", None)
    if prepare is not None:
        prepare()
    return model


def load(folder: str | Path, device: str = "cpu", **settings: Any) -> Model:
    """Load the model of a folder onto "cpu" or "cuda". Raises ModelError naming what is missing.

    settings   replace those of `askew.json`
    """
    checkpoint = find(Path(folder))
    checkpoint = replace(checkpoint, settings={**checkpoint.settings, **settings})
    if checkpoint.architecture == "chat":
        from predictor.architectures.chat import ChatPredictor

        return ChatPredictor.load(checkpoint)
    if checkpoint.architecture == "bundled":
        from predictor.bundled.model import BundledModel

        return BundledModel(checkpoint.folder, checkpoint.name, checkpoint.licence)
    try:
        import torch
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise ModelError(
            f"{checkpoint.architecture} needs {error.name}: install requirements/models.txt (docs/predictor.md)"
        ) from None
    transformers_logging.disable_progress_bar()
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(f"device {device}: this machine has no GPU that torch can use; take --device cpu")
    if checkpoint.architecture in ("tapex", "omnitab"):
        from predictor.architectures.tapex import Tapex

        return Tapex.load(checkpoint, device)
    if checkpoint.architecture == "tapas":
        from predictor.architectures.tapas import Tapas

        return Tapas.load(checkpoint, device)
    from predictor.architectures.tabert import Tabert

    return Tabert.load(checkpoint, device)
