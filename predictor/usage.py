"""Tokens of requests to language models: what an endpoint counted, else an estimate.

    call = Call("answered", prompt_tokens=812, completion_tokens=9, is_counted=True)
    cost(call.prompt_tokens, call.completion_tokens, price=[0.15, 0.6])        # Decimal, in USD

A `Meter` is asked before each request and notified afterwards. It may refuse a request that could exceed a budget.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English text. Estimates are marked as such where they are shown."""
TOKENS_PER_MESSAGE = 4
MAX_TOKENS = 2**31 - 1
USUAL_COMPLETION = 100
"""Output tokens of a reply in an estimate, where nothing better is known."""
PER_PRICE = 1_000_000
"""Prices are USD per this number of tokens."""


@dataclass(frozen=True)
class Call:
    """One request to an endpoint. `state`: "answered", or the kind of the error (`predictor.chat.Kind`).

    `is_counted`: the endpoint stated both numbers of tokens; else at least one is an estimate.
    """

    state: str
    prompt_tokens: int
    completion_tokens: int
    is_counted: bool

    def to_dict(self) -> dict[str, Any]:
        """As a predictor sends it (`call_from_dict`)."""
        return {
            "state": self.state,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "counted": self.is_counted,
        }


def call_from_dict(data: object) -> Call:
    """Read a request that a predictor sends. Raises ValueError."""
    if not isinstance(data, dict) or data.keys() != {"state", *_FIELDS, "counted"}:
        raise ValueError(f"usage must have state, {', '.join(_FIELDS)} and counted")
    tokens = [_count(data[name]) for name in _FIELDS]
    state, is_counted = data["state"], data["counted"]
    if None in tokens or not isinstance(is_counted, bool) or not isinstance(state, str) or len(state) > 20:
        raise ValueError("usage must have numbers of tokens, a short state, and counted as true or false")
    return Call(state, tokens[0] or 0, tokens[1] or 0, is_counted)


class Meter(Protocol):
    """Counts the requests of one purpose. May be used by several threads."""

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> Any:
        """Reserve at most these tokens. Raises ChatError of kind "budget" where they could exceed a budget."""

    def settle(self, reservation: Any, call: Call) -> None:
        """Replace a reservation by what the request used."""


class QuestionMeter(Meter, Protocol):
    """Counts questions to a predictor, which may make several requests for each of them."""

    def settle_all(self, reservation: Any, calls: Sequence[Call]) -> None:
        """Replace a reservation by what its requests used; None for requests that nothing was reserved for."""

    def has_budget(self) -> bool:
        """Whether a budget limits what may be used."""


def estimate(text: str) -> int:
    """Tokens of a text, by its length."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def estimate_messages(messages: Sequence[Mapping[str, str]]) -> int:
    """Tokens of a conversation, by its length."""
    return sum(TOKENS_PER_MESSAGE + estimate(message["content"]) for message in messages)


def largest_messages(messages: Sequence[Mapping[str, str]]) -> int:
    """Tokens that a conversation has at most: tokenizers fall back to bytes, so none has more tokens than bytes."""
    return sum(TOKENS_PER_MESSAGE + len(message["content"].encode()) for message in messages)


def read_usage(reply: object, *, state: str, prompt: int, completion: int) -> Call:
    """The tokens that a reply states; `prompt` and `completion` are the estimates where it states nothing usable.

    Nothing usable is also a count of 0 for a text that is not empty: a budget would never end.
    """
    usage = reply.get("usage") if isinstance(reply, dict) else None
    stated = usage if isinstance(usage, dict) else {}
    read, written = (_count(stated.get(name)) for name in _FIELDS)
    total = _count(stated.get("total_tokens"))
    read, written = read or None, written or (None if completion else written)
    if read is not None and written is not None and total is not None:
        # Some endpoints leave the tokens of thinking out of the completion, but not out of the total.
        written = max(written, total - read)
    return Call(
        state,
        prompt if read is None else read,
        completion if written is None else written,
        is_counted=read is not None and written is not None,
    )


def counts_reasoning(reply: object) -> bool:
    """Whether an endpoint that hides the reasoning states tokens of it."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    return isinstance(details, dict) and bool(_count(details.get("reasoning_tokens")))


_FIELDS = ("prompt_tokens", "completion_tokens")


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def cost(prompt_tokens: int, completion_tokens: int, price: Sequence[float]) -> Decimal:
    """USD for these tokens. `price`: USD per million input and output tokens."""
    rates = [Decimal(str(rate)) for rate in price]
    return (prompt_tokens * rates[0] + completion_tokens * rates[1]) / PER_PRICE
