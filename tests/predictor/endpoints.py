"""A local chat endpoint that behaves like those of today: OpenAI-compatible, vLLM, llama.cpp and reasoning models.

    with endpoint(Endpoint("openai_reasoning", think=300)) as server:
        ChatModel(url=server.url, model="m").ask(...)

`flavour` decides which parameters it takes and how it rejects others, after the public documentation of each; `mood` how
it behaves and may change at any time. `reply` is what the model writes after its thinking.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import wait_until

Body = dict[str, Any]

KNOWN = {
    *(
        "model",
        "messages",
        "temperature",
        "max_tokens",
        "max_completion_tokens",
        "n",
        "seed",
        "response_format",
    ),
    *("top_p", "reasoning_effort"),
}
CONTEXT = 4_096
"""Tokens of a conversation, counted as words."""


@dataclass
class Endpoint:
    """One endpoint. `requests` are the bodies it received, `most_at_once` how many it worked on at a time."""

    flavour: str = "openai"
    mood: str = "well"
    moods: list[str] = field(default_factory=list)
    """Of the next requests, before `mood`: "hung" or "broken" (the connection ends without an answer)."""
    reply: Callable[[Body], str] = lambda body: '{"answers": ["Oslo"]}'
    think: int = 0
    """Tokens of thinking before each reply."""
    parser: str = "reasoning_content"
    """The field of a message that vLLM or SGLang write the thinking to (`--reasoning-parser`). "" without a parser: the
    thinking is in the text, and a schema holds from the first token, so the model does not think (vLLM issue 47027)."""
    hold: float = 0.0
    """Seconds until each answer."""
    gathers: int = 0
    """Answers wait until this number of requests has arrived at the same time."""
    requests: list[Body] = field(default_factory=list)
    most_at_once: int = 0
    url: str = ""
    _at_once: int = 0
    _lock: Any = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)

    def entry(self, **settings: Any) -> dict[str, Any]:
        """This endpoint as an entry of PREDICTORS."""
        return {"protocol": "chat", "url": self.url, "model": "small", **settings}

    def answer(self, body: Body) -> tuple[int, Any, dict[str, str]]:
        """Status, JSON (or text) and headers."""
        with self._lock:
            self.requests.append(body)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            mood = self.mood
        try:
            if self.hold:
                self.stop.wait(self.hold)
            if self.gathers:
                wait_until(lambda: self.most_at_once >= self.gathers, "requests gather")
            return self._answer(body, mood)
        finally:
            with self._lock:
                self._at_once -= 1

    def _answer(self, body: Body, mood: str) -> tuple[int, Any, dict[str, str]]:
        if mood == "limited":
            return (
                429,
                {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}},
                {"retry-after": "7"},
            )
        if mood == "failing":
            return 500, {"error": {"message": "internal"}}, {}
        if mood == "wrapped":
            return 200, {"error": {"message": "Provider returned error", "code": 429}}, {}
        if mood == "page":
            return 200, "<html><body>Sign in</body></html>", {}
        if mood == "locked":
            return 401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, {}
        if mood == "filtered_prompt":
            words = "The response was filtered due to the prompt triggering content management policy."
            return 400, {"error": {"message": words, "param": "prompt", "code": "content_filter"}}, {}
        if rejection := getattr(self, f"_reject_{self.flavour}")(body):
            return 500 if self.flavour == "llama_cpp_python" else 400, rejection, {}
        prompt = sum(len(message["content"].split()) for message in body["messages"])
        if prompt > CONTEXT:
            words = f"This model's maximum context length is {CONTEXT} tokens, your messages have {prompt}."
            return (
                400,
                {"error": {"message": words, "param": "messages", "code": "context_length_exceeded"}},
                {},
            )
        choices = [
            self._choice(body, mood) for _ in range(body.get("n", 1) if "llama" not in self.flavour else 1)
        ]
        reply: Body = {"id": "1", "object": "chat.completion", "choices": choices}
        if mood != "no_usage":
            completion = sum(len(str(choice["message"]["content"] or "").split()) for choice in choices)
            completion += self.think * len(choices)
            reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": completion}
            if mood == "odd_usage":
                reply["usage"] = {"prompt_tokens": -3, "completion_tokens": "many"}
        return 200, reply, {}

    def _choice(self, body: Body, mood: str) -> Body:
        message: Body = {"role": "assistant", "content": self.reply(body)}
        finish = "stop"
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        if mood == "declines":
            message |= {"content": None, "refusal": "I'm sorry, I can't help with that."}
        elif mood == "filtered":
            message["content"], finish = None, "content_filter"
        elif mood == "silent":
            message["content"] = None
        elif mood == "parts":
            message["content"] = [{"type": "text", "text": message["content"]}]
        elif mood == "cut_off" or (limit is not None and self.think >= limit):
            message["content"], finish = (
                ("" if self.flavour == "openai_reasoning" else '{"answers": ["Os'),
                "length",
            )
        if self.think and finish == "stop" and isinstance(message["content"], str):
            if self.flavour == "vllm" and self.parser:
                message[self.parser] = 'It may be {"answers": ["draft"]}.'
            elif self.flavour == "vllm" and "response_format" in body:
                pass
            elif self.flavour != "openai_reasoning":
                message["content"] = '<think>{"answers": ["draft"]}</think>' + message["content"]
        return {"index": 0, "message": message, "finish_reason": finish}

    # -- what each of them rejects ------------------------------------------------------------------

    def _reject_openai(self, body: Body) -> Any:
        for name in body:
            if name not in KNOWN or name == "reasoning_effort":
                return _openai(f"Unrecognized request argument supplied: {name}", None, None)
        return None

    def _reject_openai_reasoning(self, body: Body) -> Any:
        if "max_tokens" in body:
            words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return _openai(words, "max_tokens", "unsupported_parameter")
        if body.get("temperature", 1) != 1:
            words = "Unsupported value: 'temperature' does not support 0.0 with this model."
            return _openai(words, "temperature", "unsupported_value")
        return None

    def _reject_vllm(self, body: Body) -> Any:
        for name in body:
            if name not in KNOWN | {"guided_json", "structured_outputs", "top_k", "chat_template_kwargs"}:
                place = {
                    "type": "extra_forbidden",
                    "loc": ("body", name),
                    "msg": "Extra inputs are not permitted",
                    "input": body,
                }
                return {
                    "object": "error",
                    "message": str([place]),
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                }
        return None

    def _reject_llama_cpp(self, body: Body) -> Any:
        return None

    def _reject_llama_cpp_python(self, body: Body) -> Any:
        if body.get("response_format", {}).get("type") != "json_schema":
            return None
        place = {"loc": ("body", "response_format", "type"), "msg": "Input should be 'text' or 'json_object'"}
        return _openai(f"1 validation error: {place}", None, None)

    def _reject_deepseek(self, body: Body) -> Any:
        if body.get("response_format", {}).get("type") == "json_schema":
            return _openai("This response_format type is unavailable now", None, "invalid_request_error")
        return None

    def _reject_plain(self, body: Body) -> Any:
        return "response_format: unknown field" if "response_format" in body else None


FLAVOURS = ("openai", "openai_reasoning", "vllm", "llama_cpp", "llama_cpp_python", "deepseek", "plain")


def _openai(words: str, param: str | None, code: str | None) -> Body:
    return {"error": {"message": words, "type": "invalid_request_error", "param": param, "code": code}}


@contextmanager
def endpoint(script: Endpoint) -> Iterator[Endpoint]:
    """The endpoint on a free port for the time of a test."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            mood = script.moods.pop(0) if script.moods else script.mood
            if mood in ("hung", "broken"):
                script.requests.append(body)
                if mood == "hung":
                    script.stop.wait(20)
                return
            status, reply, headers = script.answer(body)
            data = reply.encode() if isinstance(reply, str) else json.dumps(reply).encode()
            self.send_response(status)
            for name, value in {"content-length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: Any) -> None:
            pass  # the client has gone: some moods are for that

    server = Server(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield script
    finally:
        script.stop.set()
        server.shutdown()
        server.server_close()
