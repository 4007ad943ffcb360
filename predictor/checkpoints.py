"""Folders of weights, and what every served model has in common.

A folder is named by an administrator, never by a request. It holds `model.safetensors`, or a `.bin` that is read
with `weights_only`; `askew.json` names its architecture, else its `config.json` does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from predictor.configuration import CHAT
from predictor.protocol import NAME, ModelInfo, Prediction, PredictRequest, ProtocolError

Stop = Callable[[int], bool]
"""Whether no client waits any more for the request at this place of the batch. Asked between the steps of a generation."""


def never_stop(index: int) -> bool:
    """The stop of a batch that is waited for to its end."""
    return False


class ModelError(Exception):
    """A folder that cannot be served; the message names the fault and how to fix it."""


class Model(Protocol):
    """What a predictor process serves.

    name          letters, digits and _.-; commands, batches and pages use it
    sha           of the weights and of everything else that decides an answer: 12 hexadecimal digits
    architecture  "tapex", "tapas", "tabert", "chat" or "bundled"
    licence       of the weights, in a line
    budget        how many tokens a batch may hold on this device, padding counted
    """

    @property
    def name(self) -> str: ...
    @property
    def sha(self) -> str: ...
    @property
    def architecture(self) -> str: ...
    @property
    def licence(self) -> str: ...
    @property
    def budget(self) -> int: ...

    def tokens(self, request: PredictRequest) -> int:
        """How long this request will be in a batch. Raises ProtocolError where the model cannot take it at all."""
        ...

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        """One answer for each request, in their order, in any batch.

        Called from one thread at a time. A request that cannot be answered has a ProtocolError in its place. Where
        `stop(place)` has become true the answer is not read and may be anything.
        """
        ...


def info(model: Model) -> ModelInfo:
    """How the model is named to the world."""
    of_language_model = getattr(model, "max_tokens", 0), getattr(model, "at_once", 0)
    return ModelInfo(model.name, model.sha, model.architecture, model.licence, *of_language_model)


# --- folders -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checkpoint:
    """A folder of weights: which architecture it is, how it is called, and the settings its `askew.json` gives."""

    folder: Path
    architecture: str
    name: str
    licence: str
    settings: Mapping[str, Any]

    @property
    def budget(self) -> int | None:
        """Tokens in a batch, where the settings say."""
        budget: int | None = self.settings.get("budget")
        return budget

    @property
    def dtype(self) -> str:
        """The type of the weights in memory."""
        return str(self.settings.get("dtype", _DTYPES[0]))

    @property
    def with_context(self) -> bool:
        """Whether titles and context are part of the input."""
        return bool(self.settings.get("context", False))


LICENCES = {
    "tapex": "not stated in the folder (Microsoft's TAPEX weights: MIT)",
    "omnitab": "not stated in the folder (OmniTab's repository names none)",
    "tapas": "not stated in the folder (Google's TAPAS weights: Apache-2.0)",
    "tabert": "not stated in the folder (Facebook's TaBERT weights: CC BY-NC 4.0, not for commercial use)",
    "chat": "see the provider of the endpoint",
    "bundled": "not stated in the folder (trained by ./run train on the data that was named)",
}
"""The text for a folder without a licence."""

_SETTINGS = {
    *("architecture", "name", "licence", "budget", "context", "dtype", "vocabulary", "vertical_mask"),
    *("url", "model", "key_variable", "timeout", "price", *CHAT),
}
_DTYPES = ("float32", "bfloat16", "float16")


def find(folder: Path) -> Checkpoint:
    """Which model is in a folder. Raises ModelError."""
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder; --model names the folder of a model")
    settings = read_json(folder / "askew.json") if (folder / "askew.json").exists() else {}
    if unknown := sorted(settings.keys() - _SETTINGS):
        raise ModelError(f"{folder / 'askew.json'} has no setting {', '.join(unknown)}")
    if settings.get("dtype", _DTYPES[0]) not in _DTYPES:
        raise ModelError(f"{folder / 'askew.json'}: dtype is one of {', '.join(_DTYPES)}")
    if settings.get("vertical_mask", "corrected") not in ("corrected", "published"):
        raise ModelError(f"{folder / 'askew.json'}: vertical_mask is corrected or published")
    budget = settings.get("budget", 1)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise ModelError(f"{folder / 'askew.json'}: budget is a number of tokens")
    architecture = str(settings.get("architecture") or _detect_architecture(folder))
    if architecture not in LICENCES:
        raise ModelError(f"{folder}: the architecture is one of {', '.join(LICENCES)}, not {architecture!r}")
    name = str(settings.get("name") or folder.resolve().name)
    if not NAME.fullmatch(name):
        raise ModelError(
            f"{folder}: the name {name!r} has signs other than letters, digits and _.-; askew.json can name another"
        )
    return Checkpoint(
        folder, architecture, name, str(settings.get("licence") or _licence(folder, architecture)), settings
    )


RECORDED = "recorded.json"
"""What a model answered when it was exported (`predictor.bundled.recorded`): it decides nothing."""


def weights_sha(folder: Path) -> str:
    """The first 12 digits of the sha256 over every file of a folder that decides an answer, names included."""
    hashed = sha256()
    for file in sorted(folder.iterdir()):
        if file.name == RECORDED:
            continue
        if file.is_file() and file.suffix in (".safetensors", ".bin", ".json", ".txt", ".model", ".onnx"):
            hashed.update(file.name.encode() + b"\0")
            with file.open("rb") as handle:
                while chunk := handle.read(1 << 20):
                    hashed.update(chunk)
    return hashed.hexdigest()[:12]


def _detect_architecture(folder: Path) -> str:
    if (folder / "tb_config.json").exists():
        return "tabert"
    if (folder / "bundled.json").exists():
        return "bundled"
    if not (folder / "config.json").exists():
        raise ModelError(
            f"{folder} has no askew.json, config.json or tb_config.json: nothing says what it is"
        )
    config = read_json(folder / "config.json")
    if config.get("model_type") == "tapas":
        return "tapas"
    if config.get("model_type") == "bart":
        names = f"{config.get('_name_or_path', '')} {folder.name}".lower()
        return "omnitab" if "omnitab" in names else "tapex"
    raise ModelError(
        f"{folder}: model_type {config.get('model_type')!r} is none of tapas and bart; "
        'say which architecture it is in an askew.json: {"architecture": "..."}'
    )


def _licence(folder: Path, architecture: str) -> str:
    """The first line of a licence file, else of the card's front matter, else that it is not stated."""
    for name in ("LICENSE", "LICENSE.txt", "LICENCE", "LICENCE.txt"):
        if (folder / name).is_file():
            lines = (folder / name).read_text(errors="replace").splitlines()
            if first := next((line.strip() for line in lines if line.strip()), ""):
                return first[:200]
    if (folder / "README.md").is_file():
        for line in (folder / "README.md").read_text(errors="replace").splitlines()[:40]:
            if line.startswith("license:"):
                return line.removeprefix("license:").strip()[:200]
    return LICENCES[architecture]


def read_json(file: Path) -> dict[str, Any]:
    """The JSON object of a file. Raises ModelError."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise ModelError(f"{file} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise ModelError(f"{file} is not a JSON object")
    return content
