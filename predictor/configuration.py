"""Which models there are: the JSON object of the environment variable PREDICTORS, read and checked once.

    {"qwen": {"protocol": "chat", "url": "http://gpu-1:8001/v1", "model": "qwen3", "key": "..."}}

The name before the colon is what commands, batches and pages use. Addresses and keys come from the
environment alone: nobody who uses the platform can name one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predictor.chat import ChatModel

FIELDS = {"protocol", "url", "model", "key", "timeout"}


class ConfigurationError(ValueError):
    """PREDICTORS is not as it has to be; the message says where."""


def read(text: str) -> dict[str, dict[str, Any]]:
    """The models by name; {} for an empty text. Raises ConfigurationError."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"PREDICTORS is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ConfigurationError("PREDICTORS is an object: names of models, each with its settings")
    for name, entry in found.items():
        if not isinstance(entry, dict):
            raise ConfigurationError(f"PREDICTORS: {name!r} is an object with protocol, url and model")
        if unknown := sorted(entry.keys() - FIELDS):
            known = ", ".join(sorted(FIELDS))
            raise ConfigurationError(
                f"PREDICTORS: {name!r} has no setting {', '.join(unknown)}; there are {known}"
            )
        if entry.get("protocol") != "chat":
            raise ConfigurationError(
                f"PREDICTORS: the protocol of {name!r} is chat, not {entry.get('protocol')!r}"
            )
        for needed in ("url", "model"):
            if not isinstance(entry.get(needed), str) or not entry[needed]:
                raise ConfigurationError(f"PREDICTORS: {name!r} needs {needed}, a text")
        if not entry["url"].startswith(("http://", "https://")):
            raise ConfigurationError(f"PREDICTORS: the url of {name!r} begins with http:// or https://")
    return found


def chat_model(predictors: Mapping[str, Mapping[str, Any]], name: str) -> ChatModel:
    """The chat model of that name. Raises LookupError naming the ones there are."""
    from predictor.chat import ChatModel  # an HTTP client, which not every process that reads settings needs

    if name not in predictors:
        known = ", ".join(sorted(predictors)) or "none (set PREDICTORS, see docs/operations.md)"
        raise LookupError(f"There is no predictor called {name!r}; there are: {known}.")
    entry = predictors[name]
    return ChatModel(
        url=entry["url"],
        model=entry["model"],
        key=entry.get("key", ""),
        timeout=float(entry.get("timeout", 60.0)),
    )
