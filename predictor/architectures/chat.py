"""A large language model behind an OpenAI-compatible endpoint, asked as FREB-TQA asks (A.7): three demonstrations.

The folder holds an `askew.json` alone:

    {"architecture": "chat", "url": "http://gpu-1:8001/v1", "model": "qwen3", "serialisation": "markdown",
     "key_variable": "QWEN_KEY", "timeout": 60, "max_tokens": 8192}

The key is taken from the environment variable that is named, never from the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from predictor.budget import Tally
from predictor.chat import ChatError, ChatModel
from predictor.checkpoints import Checkpoint, ModelError, Stop
from predictor.configuration import problem_of_chat, request_settings
from predictor.prompts import ANSWER_SCHEMA, SHOTS, TASK, prompt_for_question
from predictor.protocol import LIMITS, Prediction, PredictRequest, ProtocolError, refused
from predictor.usage import Call
from tableqa.core.canonical_json import digest
from tableqa.scoring.replies import read_answers

AT_ONCE = 16
"""Requests that are under way at the endpoint at one time, where the folder does not say (`parallel`); it batches them."""


class ChatPredictor:
    """A chat model as a model of this room. Its `sha` is of endpoint, model, prompt and form: its weights are unknown."""

    architecture = "chat"

    def __init__(
        self,
        chat: ChatModel,
        *,
        name: str,
        licence: str,
        serialisation: str = "",
        price: Sequence[float] = (0, 0),
    ) -> None:
        self.chat = chat
        self.name = name
        self.licence = licence
        self.serialisation = serialisation
        self.budget = self.at_once = chat.at_once
        self.max_tokens = chat.max_tokens or LIMITS.new_tokens
        self.price = price
        """Of test questions, which no project pays for: USD per million input and output tokens."""
        self.failures = 0
        """Requests to the endpoint in a row that got no answer: it is down, or turns requests away."""
        self._under_way: dict[str, Tally] = {}
        shots = [[table.to_dict(), question, answers] for table, question, answers in SHOTS]
        options: list[dict[str, object]] = [
            {"reasoning_effort": chat.reasoning_effort, "extra": dict(chat.extra)}
        ]
        options = options if chat.reasoning_effort or chat.extra else []
        options += [{"reasoning": True}] if chat.reasoning else []
        self.sha = digest([chat.url, chat.model, serialisation, TASK, shots, *options])[:12]

    @classmethod
    def load(cls, checkpoint: Checkpoint) -> ChatPredictor:
        """The model that an `askew.json` names. Raises ModelError."""
        settings = checkpoint.settings
        for needed in ("url", "model"):
            if not isinstance(settings.get(needed), str) or not settings[needed]:
                raise ModelError(f"{checkpoint.folder / 'askew.json'} needs {needed}, a text")
        variable = str(settings.get("key_variable", ""))
        if variable and variable not in os.environ:
            raise ModelError(f"the environment variable {variable}, which is to hold the key, is not set")
        if problem := problem_of_chat(settings):
            raise ModelError(f"{checkpoint.folder / 'askew.json'}: {problem}")
        chat = ChatModel(
            url=settings["url"],
            model=settings["model"],
            key=os.environ.get(variable, "") if variable else "",
            timeout=float(settings.get("timeout", 60)),
            **request_settings({"parallel": AT_ONCE, **settings}),
        )
        return cls(
            chat,
            name=checkpoint.name,
            licence=checkpoint.licence,
            serialisation=chat.serialisation,
            price=settings.get("price", (0, 0)),
        )

    def tokens(self, request: PredictRequest) -> int:
        """1 each: the endpoint does the batching."""
        return 1

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        """All at once; one that is under way cannot be called back, but is not tried again."""

        def answer(index: int) -> Prediction | ProtocolError:
            request = requests[index]
            tally = self._under_way[request.key] = _CancellableTally(lambda: stop(index), self._observe)
            try:
                return self._answer(request, tally)
            finally:
                self._under_way.pop(request.key, None)

        with ThreadPoolExecutor(min(self.at_once, len(requests))) as pool:
            return list(pool.map(answer, range(len(requests))))

    def _observe(self, call: Call) -> None:
        self.failures = self.failures + 1 if call.state == "away" else 0

    def used(self, request: PredictRequest) -> list[Call]:
        """What was sent to the endpoint for a request that is under way: what is not answered yet by estimate."""
        tally = self._under_way.get(request.key)
        return [] if tally is None else tally.sent()

    def _answer(self, request: PredictRequest, tally: Tally) -> Prediction | ProtocolError:
        messages, seen = prompt_for_question(
            request.question, request.table, request.history, request.context, self.serialisation
        )
        try:
            (reply,) = replace(self.chat, meter=tally).ask(
                messages, schema=ANSWER_SCHEMA, most_tokens=request.options.max_new_tokens
            )
        except ChatError as error:
            code = "unreadable" if error.is_about_example else "cannot_answer"
            return refused(code, str(error), usage=tally.calls, state=error.kind)
        reply = reply[: LIMITS.answer_characters]
        answers = read_answers(reply)
        return Prediction(
            answers=tuple((answers or [])[: LIMITS.answers]),
            text=reply,
            op="generate",
            rows_seen=seen,
            rows_total=len(request.table.rows),
            truncated=seen < len(request.table.rows),
            usage=tuple(tally.calls),
            state="no_list" if answers is None else "",
        )


class _CancellableTally(Tally):
    """Counts requests, and drops those without a waiting client."""

    def __init__(self, stop: Callable[[], bool], observe: Callable[[Call], None]) -> None:
        super().__init__()
        self._stop = stop
        self._observe = observe

    def settle(self, reservation: int, call: Call) -> None:
        super().settle(reservation, call)
        self._observe(call)

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> int:
        if self._stop():
            raise ChatError("The request was withdrawn.")
        return super().reserve(prompt_tokens, completion_tokens)
