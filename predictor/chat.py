"""A large language model behind any OpenAI-compatible endpoint (vLLM, SGLang, llama.cpp, Ollama, a provider).

    model = ChatModel(url="http://127.0.0.1:8001/v1", model="some-model")
    model.ask([{"role": "user", "content": "..."}], samples=8, temperature=0.7)

Texts in, texts out: what they mean is said elsewhere (`predictor.prompts`). Thinking is no part of a reply
(`predictor.replies`), and a reply that was cut off is unread. An endpoint that gives one
choice a request is asked several times; one that does not know JSON schemas is asked without. One that is busy or cannot
be reached is tried again; one that took the question and lets its whole time pass is not: it would only begin anew.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from predictor import observing
from predictor.replies import final_reply

if TYPE_CHECKING:
    import httpx

TRIES = 4
CONNECT = 10.0
"""Seconds until an endpoint that does not take the connection counts as not there."""
LONGEST_WAIT = 30.0
MOST_BYTES = 4_000_000
"""Of an endpoint's answer. What is longer is no answer to a question about a table."""
PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
"""Answers after which the same request may succeed a little later."""


Kind = Literal["away", "refused", "unreadable", "cut_off"]
ABOUT_THE_QUESTION = frozenset((400, 413, 422))
"""Answers that say no to this conversation, and would again."""


class ChatError(Exception):
    """The endpoint gave no usable answer; the message says what it said.

    away         it cannot be reached, is busy, hangs, fails, or lets nobody in: later it may answer
    refused      it says no to this conversation: asking the same again does not help
    unreadable   it answered without a text
    cut_off      the reply ends before its final part, within the thinking or at the limit of tokens; `text` is what came
    """

    def __init__(self, message: str, kind: Kind = "away", text: str = "") -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.text = text


@dataclass(frozen=True)
class Completion:
    """One sample: the final reply without its thinking, or why there is none."""

    text: str
    unread: ChatError | None = None


@dataclass(frozen=True)
class ChatModel:
    """One model at one endpoint. `url` ends before `/chat/completions`; `key` is sent as a bearer token."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    max_tokens: int | None = None
    """Tokens a reply may have, thinking included, whatever a caller asks for; None: as many as the caller asks for."""
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
        """The final replies of `samples` completions. Raises ChatError, also where one of them has no final reply."""
        completions = self.complete(
            messages,
            samples=samples,
            temperature=temperature,
            seed=seed,
            schema=schema,
            most_tokens=most_tokens,
        )
        for completion in completions:
            if completion.unread is not None:
                raise completion.unread
        return [completion.text for completion in completions]

    def complete(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        samples: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        schema: Mapping[str, Any] | None = None,
        most_tokens: int = 512,
    ) -> list[Completion]:
        """`samples` completions of one conversation, each read or not. Raises ChatError where none came."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [dict(message) for message in messages],
            "temperature": temperature,
            "max_tokens": self.max_tokens or most_tokens,
            "n": samples,
        }
        if seed is not None:
            body["seed"] = seed
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
            }
        import httpx  # slow to load, and few commands ask a model

        completions: list[Completion] = []
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        limit = httpx.Timeout(self.timeout, connect=min(CONNECT, self.timeout))
        with httpx.Client(timeout=limit, headers=headers, transport=self.transport) as client:
            while len(completions) < samples:
                body["n"] = samples - len(completions)
                if seed is not None:
                    body["seed"] = seed + len(
                        completions
                    )  # the same seed again would be the same answer again
                completions += self._told(client, body)[: samples - len(completions)]
        return completions

    def _told(self, client: httpx.Client, body: dict[str, Any]) -> list[Completion]:
        began, outcome = time.monotonic(), "answered"
        try:
            return self._post(client, body)
        except ChatError as error:
            outcome = error.kind
            raise
        finally:
            observing.tell(self.model, outcome, time.monotonic() - began)

    def _post(self, client: httpx.Client, body: dict[str, Any]) -> list[Completion]:
        import httpx

        address = f"{self.url.rstrip('/')}/chat/completions"
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                answer = self._in_time(client, address, body)
            except (httpx.ReadTimeout, httpx.WriteTimeout):
                raise ChatError(f"{address} did not answer in {self.timeout:g} seconds.") from None
            except httpx.HTTPError as error:
                if last:
                    raise ChatError(f"{address} cannot be reached ({type(error).__name__}).") from None
                self.wait(2.0**attempt)
                continue
            if answer.status == 400 and "response_format" in body and "response_format" in answer.text:
                # The endpoint knows no schemas: the words of the prompt have to do.
                del body["response_format"]
                continue
            if answer.status in PASSING and not last:
                self.wait(_patience(answer.retry_after, attempt))
                continue
            if answer.status != 200:
                kind: Kind = "refused" if answer.status in ABOUT_THE_QUESTION else "away"
                raise ChatError(f"{address} answered {answer.status}: {answer.text[:300]}", kind)
            said = answer.json
            usage = said.get("usage") if isinstance(said, dict) else None
            if self.heard is not None and isinstance(usage, dict):
                self.heard(usage)
            return _completions(answer, address, body["max_tokens"])
        raise ChatError(f"{address} did not answer after {TRIES} attempts.")

    def _in_time(self, client: httpx.Client, address: str, body: dict[str, Any]) -> _Answer:
        """One answer, no longer than one may be and in no more than the agreed time, however it trickles."""
        import httpx

        until = time.monotonic() + self.timeout
        with client.stream("POST", address, json=body) as response:
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > MOST_BYTES:
                    raise ChatError(f"{address} sent more than {MOST_BYTES:,} bytes.", "unreadable")
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("it trickles")
            after = response.headers.get("retry-after", "")
            return _Answer(response.status_code, data.decode("utf-8", "replace"), after)


@dataclass(frozen=True)
class _Answer:
    """An answer as it came, whole."""

    status: int
    text: str
    retry_after: str

    @property
    def json(self) -> Any:
        """What it holds; None where that is no JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None


def _patience(said: str, attempt: int) -> float:
    return min(float(said) if said.isascii() and said.isdigit() else 2.0**attempt, LONGEST_WAIT)


def _completions(answer: _Answer, address: str, most_tokens: int) -> list[Completion]:
    said = answer.json
    try:
        choices = [(choice["message"]["content"], choice.get("finish_reason")) for choice in said["choices"]]
    except (LookupError, TypeError, AttributeError):
        # Some endpoints report a refusal with status 200. A page is of something else at this address.
        kind: Kind = "unreadable" if isinstance(said, dict) or not answer.text.strip() else "away"
        shown = answer.text.strip()[:300] or "nothing"
        raise ChatError(f"{address} did not send a chat completion: {shown}", kind) from None
    if not choices:
        raise ChatError(f"{address} sent no text.", "unreadable")
    return [_completion(content, reason, address, most_tokens) for content, reason in choices]


def _completion(content: object, finish: object, address: str, most_tokens: int) -> Completion:
    text = content if isinstance(content, str) else ""
    if finish == "length":
        reason = (
            f"The reply was cut off after {most_tokens:,} tokens (finish_reason=length). "
            "Raise max_tokens of this model."
        )
        return Completion("", ChatError(reason, "cut_off", text))
    if not isinstance(content, str):
        return Completion("", ChatError(f"{address} sent no text.", "unreadable"))
    final = final_reply(text)
    if final is None:
        return Completion(
            "", ChatError("The reply ends before the model finished thinking.", "cut_off", text)
        )
    return Completion(final)
