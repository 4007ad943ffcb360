"""Tokens of requests to language models: what an endpoint counted, else an estimate.

    call = Call("answered", prompt_tokens=812, completion_tokens=9, is_counted=True)
    cost(call.prompt_tokens, call.completion_tokens, price=[0.15, 0.6])        # Decimal, in USD

A `Meter` is asked before each request and is told afterwards. It may refuse a request that could exceed a budget.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English text. Estimates are marked as such wherever they are shown."""
TOKENS_PER_MESSAGE = 4
MAX_TOKENS = 2**31 - 1
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


class Meter(Protocol):
    """Counts the requests of one purpose. May be used by several threads."""

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> Any:
        """Reserve at most so many tokens. Raises ChatError of kind "budget" where they could exceed a budget."""

    def settle(self, reservation: Any, call: Call) -> None:
        """Replace a reservation by what the request used."""


class Tally:
    """A meter for commands without a project: adds up, refuses nothing."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Nothing is reserved."""

    def settle(self, reservation: Any, call: Call) -> None:
        """Add a request."""
        self.calls.append(call)

    def in_words(self) -> str:
        """One line for the output of a command, in English."""
        prompt = sum(call.prompt_tokens for call in self.calls)
        completion = sum(call.completion_tokens for call in self.calls)
        counted = sum(call.is_counted for call in self.calls)
        return (
            f"{len(self.calls)} requests, {prompt:,} input tokens, {completion:,} output tokens "
            f"({counted} of {len(self.calls)} counted)"
        )


def estimate(text: str) -> int:
    """Tokens of a text, by its length."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def estimate_messages(messages: Sequence[Mapping[str, str]]) -> int:
    """Tokens of a conversation, by its length."""
    return sum(TOKENS_PER_MESSAGE + estimate(message["content"]) for message in messages)


def read_usage(reply: object, *, state: str, prompt: int, completion: int) -> Call:
    """What a reply says of its tokens; `prompt` and `completion` are the estimates where it says nothing usable."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    numbers = [_count(usage.get(name)) if isinstance(usage, dict) else None for name in _FIELDS]
    return Call(
        state,
        prompt if numbers[0] is None else numbers[0],
        completion if numbers[1] is None else numbers[1],
        is_counted=None not in numbers,
    )


_FIELDS = ("prompt_tokens", "completion_tokens")


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def cost(prompt_tokens: int, completion_tokens: int, price: Sequence[float]) -> Decimal:
    """USD for so many tokens. `price`: USD per million input and output tokens."""
    rates = [Decimal(str(rate)) for rate in price]
    return (prompt_tokens * rates[0] + completion_tokens * rates[1]) / PER_PRICE
