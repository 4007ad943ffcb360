"""A large language model behind any OpenAI-compatible endpoint (vLLM, SGLang, llama.cpp, Ollama, a provider).

    model = ChatModel(url="http://127.0.0.1:8001/v1", model="some-model")
    model.ask([{"role": "user", "content": "..."}], samples=8, temperature=0.7)

Texts in, texts out: what they mean is said elsewhere (`predictor.prompts`). An endpoint that gives one
choice a request is asked several times; one that does not know JSON schemas is asked without.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

TRIES = 4
LONGEST_WAIT = 30.0
PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
"""Answers after which the same request may succeed a little later."""


class ChatError(Exception):
    """The endpoint gave no usable answer; the message says what it said."""


@dataclass(frozen=True)
class ChatModel:
    """One model at one endpoint. `url` ends before `/chat/completions`; `key` is sent as a bearer token."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    transport: httpx.BaseTransport | None = None
    wait: Callable[[float], None] = time.sleep
    heard: Callable[[Mapping[str, Any]], None] | None = None
    """Told what each answer says of its tokens (`usage`), where the endpoint counts them."""

    def ask(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        samples: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        schema: Mapping[str, Any] | None = None,
        most_tokens: int = 512,
    ) -> list[str]:
        """`samples` answers to one conversation. Raises ChatError."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [dict(message) for message in messages],
            "temperature": temperature,
            "max_tokens": most_tokens,
            "n": samples,
        }
        if seed is not None:
            body["seed"] = seed
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
            }
        texts: list[str] = []
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        with httpx.Client(timeout=self.timeout, headers=headers, transport=self.transport) as client:
            while len(texts) < samples:
                body["n"] = samples - len(texts)
                if seed is not None:
                    body["seed"] = seed + len(texts)  # the same seed again would be the same answer again
                texts += self._post(client, body)[: samples - len(texts)]
        return texts

    def _post(self, client: httpx.Client, body: dict[str, Any]) -> list[str]:
        address = f"{self.url.rstrip('/')}/chat/completions"
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                answer = client.post(address, json=body)
            except httpx.HTTPError as error:
                if last:
                    raise ChatError(f"{address} cannot be reached ({type(error).__name__}).") from None
                self.wait(2.0**attempt)
                continue
            if answer.status_code == 400 and "response_format" in body and "response_format" in answer.text:
                del body[
                    "response_format"
                ]  # the endpoint knows no schemas: the words of the prompt have to do
                continue
            if answer.status_code in PASSING and not last:
                self.wait(_patience(answer, attempt))
                continue
            if answer.status_code != 200:
                raise ChatError(f"{address} answered {answer.status_code}: {answer.text[:300]}")
            texts = _texts(answer, address)
            usage = answer.json().get("usage")
            if self.heard is not None and isinstance(usage, dict):
                self.heard(usage)
            return texts
        raise ChatError(f"{address} gave no answer in {TRIES} tries.")


def _patience(answer: httpx.Response, attempt: int) -> float:
    said = answer.headers.get("retry-after", "")
    return min(float(said) if said.isdigit() else 2.0**attempt, LONGEST_WAIT)


def _texts(answer: httpx.Response, address: str) -> list[str]:
    try:
        texts = [choice["message"]["content"] for choice in answer.json()["choices"]]
    except (ValueError, LookupError, TypeError):
        raise ChatError(f"{address} answered something that is no chat completion.") from None
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ChatError(f"{address} answered without a text.")
    return texts
