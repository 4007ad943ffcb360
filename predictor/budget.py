"""A budget for requests to language models: what they used so far, and no request that could exceed it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from decimal import Decimal

from predictor.chat import ChatError
from predictor.usage import USUAL_COMPLETION, Call, cost


class Tally:
    """A meter for commands without a project. May be used by several threads.

    price     USD per million input and output tokens
    budget    {"usd", "tokens"}: a request that could exceed it is refused; what is not named is not limited
    """

    def __init__(self, price: Sequence[float] = (0, 0), budget: Mapping[str, float] | None = None) -> None:
        self.calls: list[Call] = []
        self.price = price
        self.budget = dict(budget or {})
        self._reserved: dict[int, tuple[int, int]] = {}
        self._next = 0
        self._lock = threading.Lock()

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> int:
        """A reservation. Raises ChatError("budget") where it could exceed the budget."""
        with self._lock:
            prompt = self.prompt_tokens + sum(prompt for prompt, _ in self._reserved.values())
            completion = self.completion_tokens + sum(tokens for _, tokens in self._reserved.values())
            could_be = {
                "usd": cost(prompt + prompt_tokens, completion + completion_tokens, self.price),
                "tokens": Decimal(prompt + prompt_tokens + completion + completion_tokens),
            }
            for name, limit in self.budget.items():
                if could_be[name] > Decimal(str(limit)):
                    unit = "USD" if name == "usd" else "tokens"
                    raise ChatError(
                        f"The budget of {limit:,} {unit} is used up: with the next request it could be "
                        f"{could_be[name]:,.6g} {unit}. Raise the budget, then run the command again.",
                        "budget",
                    )
            self._next += 1
            self._reserved[self._next] = prompt_tokens, completion_tokens
            return self._next

    def settle(self, reservation: int, call: Call) -> None:
        """Add a request."""
        with self._lock:
            del self._reserved[reservation]
            self.calls.append(call)

    def settle_all(self, reservation: int | None, calls: Sequence[Call]) -> None:
        """Add the requests of one reservation."""
        with self._lock:
            if reservation is not None:
                del self._reserved[reservation]
            self.calls.extend(calls)

    def has_budget(self) -> bool:
        """Whether a budget was given."""
        return bool(self.budget)

    def sent(self) -> list[Call]:
        """The requests so far, and by estimate those that are under way."""
        with self._lock:
            under_way = [
                Call("away", prompt, USUAL_COMPLETION, is_counted=False)
                for prompt, _ in self._reserved.values()
            ]
            return [*self.calls, *under_way]

    @property
    def prompt_tokens(self) -> int:
        """Input tokens so far."""
        return sum(call.prompt_tokens for call in self.calls)

    @property
    def completion_tokens(self) -> int:
        """Output tokens so far."""
        return sum(call.completion_tokens for call in self.calls)

    def in_words(self) -> str:
        """One line for the output of a command, in English."""
        counted = sum(call.is_counted for call in self.calls)
        return (
            f"{len(self.calls)} requests, {self.prompt_tokens:,} input tokens, {self.completion_tokens:,} output "
            f"tokens ({counted} of {len(self.calls)} counted)" + self._price_in_words()
        )

    def _price_in_words(self) -> str:
        if not any(self.price):
            return ""
        return f", {cost(self.prompt_tokens, self.completion_tokens, self.price):.4f} USD"
