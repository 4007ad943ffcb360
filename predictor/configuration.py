"""Which models there are: the JSON object of the environment variable PREDICTORS, read and checked once.

    {"tapex": {"url": "http://gpu-1:8100", "model": "tapex", "deadline_ms": 800, "licence": "MIT"},
     "qwen": {"protocol": "chat", "url": "http://gpu-1:8001/v1", "model": "qwen3", "key": "..."}}

An entry speaks Askew's own protocol (`predict`, the default: `predictor.protocol`) or that of a chat model. The name
before the colon is what commands, batches and pages use. Addresses and keys come from the
environment alone: nobody who uses the platform can name one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predictor.chat import ChatModel

COMMON = {"protocol", "url", "model", "licence"}
FIELDS = {
    "predict": COMMON | {"deadline_ms", "in_flight"},
    "chat": COMMON | {"key", "timeout", "price", "max_tokens"},
}
"""What an entry may say, by its protocol."""
LIVE_MS = 800
"""The longest deadline with which a model answers while a page waits; one that needs longer answers in a job."""
IN_FLIGHT = 64
"""Requests of one process that may wait for a model at one time, unless its entry says otherwise."""
MOST_IN_FLIGHT = 1_000


class ConfigurationError(ValueError):
    """PREDICTORS is not as it has to be; the message says where."""


def read(text: str) -> dict[str, dict[str, Any]]:
    """The models by name; {} for an empty text. Raises ConfigurationError."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"PREDICTORS is not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise ConfigurationError("PREDICTORS must be an object that maps names of models to settings")
    for name, entry in found.items():
        if not isinstance(entry, dict):
            raise ConfigurationError(f"PREDICTORS: {name!r} must be an object with protocol, url and model")
        protocol = entry.get("protocol", "predict")
        if not isinstance(protocol, str) or protocol not in FIELDS:
            raise ConfigurationError(
                f"PREDICTORS: the protocol of {name!r} must be predict or chat, not {protocol!r}"
            )
        if unknown := sorted(entry.keys() - FIELDS[protocol]):
            known = ", ".join(sorted(FIELDS[protocol]))
            raise ConfigurationError(
                f"PREDICTORS: {name!r} has no setting {', '.join(unknown)}. Available: {known}"
            )
        for needed in ("url", "model"):
            if not isinstance(entry.get(needed), str) or not entry[needed]:
                raise ConfigurationError(f"PREDICTORS: {name!r} needs {needed} as text")
        if not entry["url"].startswith(("http://", "https://")):
            raise ConfigurationError(f"PREDICTORS: the url of {name!r} must begin with http:// or https://")
        deadline = entry.get("deadline_ms", LIVE_MS)
        if isinstance(deadline, bool) or not isinstance(deadline, int) or not 1 <= deadline <= 120_000:
            raise ConfigurationError(
                f"PREDICTORS: deadline_ms of {name!r} must be a number of milliseconds up to 120000"
            )
        in_flight = entry.get("in_flight", IN_FLIGHT)
        if (
            isinstance(in_flight, bool)
            or not isinstance(in_flight, int)
            or not 1 <= in_flight <= MOST_IN_FLIGHT
        ):
            raise ConfigurationError(
                f"PREDICTORS: in_flight of {name!r} must be a number of requests from 1 to {MOST_IN_FLIGHT}"
            )
        price = entry.get("price", [0, 0])
        if (
            not isinstance(price, list)
            or len(price) != 2
            or not all(
                isinstance(one, int | float) and not isinstance(one, bool) and one >= 0 for one in price
            )
        ):
            raise ConfigurationError(
                f"PREDICTORS: price of {name!r} must be [USD per million input tokens, USD per million "
                "output tokens]"
            )
        most = entry.get("max_tokens", 1)
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise ConfigurationError(f"PREDICTORS: max_tokens of {name!r} must be a whole number above 0")
        if not isinstance(entry.get("licence", ""), str):
            raise ConfigurationError(f"PREDICTORS: licence of {name!r} must be text")
        found[name] = {**entry, "protocol": protocol}
    return found


def is_live(entry: Mapping[str, Any]) -> bool:
    """Whether the model answers while a page waits; else it is asked in the background."""
    return entry["protocol"] == "predict" and entry.get("deadline_ms", LIVE_MS) <= LIVE_MS


def live_seconds(entry: Mapping[str, Any]) -> float:
    """How long a page waits for this model's answer."""
    return float(min(entry.get("deadline_ms", LIVE_MS), LIVE_MS)) / 1000


def chat_model(predictors: Mapping[str, Mapping[str, Any]], name: str) -> ChatModel:
    """The chat model of that name. Raises LookupError naming the ones there are."""
    from predictor.chat import ChatModel  # an HTTP client, which not every process that reads settings needs

    if name not in predictors:
        known = ", ".join(sorted(predictors)) or "none (set PREDICTORS, see docs/reference/settings.md)"
        raise LookupError(f"There is no predictor {name!r}. Available: {known}.")
    entry = predictors[name]
    if entry["protocol"] != "chat":
        raise LookupError(f"The predictor {name!r} is not a chat model.")
    return ChatModel(
        url=entry["url"],
        model=entry["model"],
        key=entry.get("key", ""),
        timeout=float(entry.get("timeout", 60.0)),
        max_tokens=entry.get("max_tokens"),
    )
