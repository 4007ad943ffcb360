"""Which models there are: the JSON object of the environment variable PREDICTORS, read and checked once.

    {"tapex": {"url": "http://gpu-1:8100", "model": "tapex", "deadline_ms": 800, "licence": "MIT"},
     "qwen": {"protocol": "chat", "url": "http://gpu-1:8001/v1", "model": "qwen3", "key": "..."}}

An entry speaks Askew's own protocol (`predict`, the default: `predictor.protocol`) or that of a chat model. The name
before the colon is what commands, batches and pages use. Addresses and keys come from the
environment alone: users of the platform cannot name one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from tableqa.serialisations import SERIALISATIONS

STRUCTURES = ("auto", "json_schema", "guided_json", "structured_outputs", "json_object", "none")
"""Ways to ask for replies of a JSON schema (`predictor.chat.ChatModel.structured`)."""
COMMON = {"protocol", "url", "model", "licence"}
CHAT = {
    "max_tokens",
    "max_completion_tokens",
    "structured",
    "reasoning",
    "reasoning_effort",
    "extra",
    "drop_rejected",
    "parallel",
    "serialisation",
}
"""What an entry has on requests to a chat model; `askew.json` of a chat model has the same."""
FIELDS = {
    "predict": COMMON | {"deadline_ms", "in_flight", "panel", "price", "stop_after"},
    "chat": COMMON | CHAT | {"key", "timeout", "price", "stop_after"},
}
"""What an entry may have, by its protocol."""
PRICE = "[USD per million input tokens, USD per million output tokens]"
"""What a price is, in words."""
PARALLEL = 4
"""Requests of a job that may be under way at a chat model, where its entry does not say otherwise."""
MAX_PARALLEL = 64
STOP_AFTER = 20
"""Unusable replies of a chat model in a row after which a job stops, where its entry does not say otherwise."""
OWN_PARAMETERS = {"model", "messages", "stream", "n"}
"""Parameters that `extra` may not set: Askew depends on them. Only `n` may be left out (null)."""
LIVE_MS = 800
"""The longest deadline with which a model answers while a page waits; one that needs longer answers in a job."""
IN_FLIGHT = 64
"""Requests of one process that may wait for a model at one time, unless its entry says otherwise."""
MOST_IN_FLIGHT = 1_000


class ConfigurationError(ValueError):
    """PREDICTORS is invalid; the message names the place."""


def read(text: str) -> dict[str, dict[str, Any]]:
    """The models by name; {} for an empty text. Raises ConfigurationError."""
    if not text.strip():
        return {}
    try:
        models = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"PREDICTORS is not valid JSON: {error}") from None
    if not isinstance(models, dict):
        raise ConfigurationError("PREDICTORS must be an object that maps names of models to settings")
    for name, entry in models.items():
        if not isinstance(entry, dict):
            raise ConfigurationError(f"PREDICTORS: {name!r} must be an object with protocol, url and model")
        protocol = entry.get("protocol", "predict")
        if not isinstance(protocol, str) or protocol not in FIELDS:
            raise ConfigurationError(
                f"PREDICTORS: the protocol of {name!r} must be predict or chat, not {protocol!r}"
            )
        if unknown := sorted(entry.keys() - FIELDS[protocol]):
            setting_names = ", ".join(sorted(FIELDS[protocol]))
            raise ConfigurationError(
                f"PREDICTORS: {name!r} has no setting {', '.join(unknown)}. Available: {setting_names}"
            )
        for needed in ("url", "model"):
            if not isinstance(entry.get(needed), str) or not entry[needed]:
                raise ConfigurationError(f"PREDICTORS: {name!r} needs {needed} as text")
        if not entry["url"].startswith(("http://", "https://")):
            raise ConfigurationError(f"PREDICTORS: the url of {name!r} must begin with http:// or https://")
        if not _is_whole(entry.get("deadline_ms", LIVE_MS), 120_000):
            raise ConfigurationError(
                f"PREDICTORS: deadline_ms of {name!r} must be a number of milliseconds up to 120000"
            )
        if not _is_whole(entry.get("in_flight", IN_FLIGHT), MOST_IN_FLIGHT):
            raise ConfigurationError(
                f"PREDICTORS: in_flight of {name!r} must be a number of requests from 1 to {MOST_IN_FLIGHT}"
            )
        if not isinstance(entry.get("panel", False), bool):
            raise ConfigurationError(f"PREDICTORS: panel of {name!r} must be true or false")
        if not is_price(entry.get("price", [0, 0])):
            raise ConfigurationError(f"PREDICTORS: price of {name!r} must be {PRICE}")
        if not _is_whole(entry.get("stop_after", STOP_AFTER)):
            raise ConfigurationError(f"PREDICTORS: stop_after of {name!r} must be a whole number above 0")
        if protocol == "chat" and (problem := problem_of_chat(entry)):
            raise ConfigurationError(f"PREDICTORS: {name!r}: {problem}")
        if not isinstance(entry.get("licence", ""), str):
            raise ConfigurationError(f"PREDICTORS: licence of {name!r} must be text")
        models[name] = {**entry, "protocol": protocol}
    return models


def _is_whole(value: object, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def is_price(value: object) -> bool:
    """Whether a price is a pair of numbers."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(rate, int | float) and not isinstance(rate, bool) and rate >= 0 for rate in value)
    )


def problem_of_chat(entry: Mapping[str, Any]) -> str:
    """What is wrong with the settings of requests to a chat model, "" for nothing."""
    for name, maximum in (
        ("max_tokens", None),
        ("max_completion_tokens", None),
        ("parallel", MAX_PARALLEL),
    ):
        if not _is_whole(value := entry.get(name, 1)):
            return f"{name} must be a whole number above 0"
        if maximum and value > maximum:
            return f"{name} must be at most {maximum}"
    if "max_tokens" in entry and "max_completion_tokens" in entry:
        return "use either max_tokens or max_completion_tokens"
    if not isinstance(reasoning := entry.get("reasoning", False), bool):
        return "reasoning must be true or false"
    if reasoning and not {"max_tokens", "max_completion_tokens"} & entry.keys():
        return "reasoning needs max_tokens, with room for the reasoning: see the model's card"
    if entry.get("structured", "auto") not in STRUCTURES:
        return f"structured must be one of {', '.join(STRUCTURES)}"
    if not is_price(entry.get("price", [0, 0])):
        return f"price must be {PRICE}"
    if not isinstance(entry.get("reasoning_effort", ""), str):
        return "reasoning_effort must be text"
    form = entry.get("serialisation", "")
    if form and form not in SERIALISATIONS:
        return f"serialisation must be one of {', '.join(SERIALISATIONS)}"
    extra, dropped = entry.get("extra", {}), entry.get("drop_rejected", [])
    if not isinstance(extra, dict):
        return "extra must be an object of parameters"
    if own := sorted(name for name in OWN_PARAMETERS & extra.keys() if (name, extra[name]) != ("n", None)):
        return f"extra must not set {', '.join(own)}"
    if not isinstance(dropped, list) or not all(isinstance(name, str) for name in dropped):
        return "drop_rejected must be a list of names of parameters"
    return ""


def request_settings(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a ChatModel that an entry sets, beside its address."""
    parameter = "max_completion_tokens" if "max_completion_tokens" in entry else "max_tokens"
    return {
        "max_tokens": entry.get(parameter),
        "limit_parameter": parameter,
        "structured": entry.get("structured", "none" if entry.get("reasoning") else "auto"),
        "reasoning": entry.get("reasoning", False),
        "reasoning_effort": entry.get("reasoning_effort", ""),
        "extra": dict(entry.get("extra", {})),
        "drop_rejected": tuple(entry.get("drop_rejected", ())),
        "at_once": entry.get("parallel", PARALLEL),
        "serialisation": entry.get("serialisation", ""),
    }


def is_live(entry: Mapping[str, Any]) -> bool:
    """Whether the model answers while a page waits; else it is asked in the background."""
    return entry["protocol"] == "predict" and entry.get("deadline_ms", LIVE_MS) <= LIVE_MS


def live_seconds(entry: Mapping[str, Any]) -> float:
    """How long a page waits for this model's answer."""
    return float(min(entry.get("deadline_ms", LIVE_MS), LIVE_MS)) / 1000
