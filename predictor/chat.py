"""A large language model behind any OpenAI-compatible endpoint (vLLM, SGLang, llama.cpp, Ollama, a provider).

    model = ChatModel(url="http://127.0.0.1:8001/v1", model="some-model")
    model.ask([{"role": "user", "content": "..."}], samples=8, temperature=0.7)

Texts in, texts out: their meaning is defined elsewhere (`predictor.prompts`). Thinking is no part of a reply
(`predictor.replies`), and a reply that was cut off, filtered or declined is unread. An endpoint that gives one choice a
request is asked several times; one that rejects a form of structured output gets the next simpler one. Other rejected
parameters are named in the error, and left out only where the entry lists them (`drop_rejected`).

One that is busy, cannot be reached or sends a broken reply is tried again; one that accepted the request and then timed out
is not: it would only begin again. A meter counts every request (`predictor.usage`).
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from predictor import observing
from predictor.configuration import STOP_AFTER, request_settings
from predictor.replies import storable_text
from predictor.usage import (
    Call,
    Meter,
    counts_reasoning,
    estimate,
    estimate_messages,
    largest_messages,
    read_usage,
)
from tableqa.scoring.replies import final_reply, thinking_of

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
UNLIMITED = 131_072
"""Tokens that are reserved for a reply without a limit: no model is known to write more."""
LIMITS = ("max_tokens", "max_completion_tokens")
"""Parameters that limit a reply. Of both the larger one is reserved: which of them an endpoint follows is not known."""
LOST = frozenset((408, 504))
"""Answers of a gateway that gave up: the endpoint may have worked until then, and longer."""
WORKED = frozenset((500, 502))
"""Answers of an endpoint that broke: it may have read the request."""
NEVER_ARRIVED = frozenset(("ConnectError", "ConnectTimeout", "PoolTimeout"))
"""Errors of httpx after which an endpoint has seen nothing of a request."""


Kind = Literal["away", "parameters", "budget", "refused", "declined", "filtered", "unreadable", "cut_off"]
ABOUT_THE_QUESTION = frozenset((400, 413, 422))
"""Statuses of a request that would be refused again."""
NOT_ABOUT_THE_EXAMPLE = frozenset(("away", "parameters", "budget"))


class ChatError(Exception):
    """The endpoint gave no usable answer; the message has its text.

    away         it cannot be reached, is busy, hangs, fails, or refuses all: later it may answer
    parameters   it rejects parameters that every request has; the message names them
    budget       the request could exceed a budget, and was not sent
    refused      it refuses this conversation, and would again
    declined     the model refuses to answer (`refusal`)
    filtered     a content filter removed the reply (finish_reason=content_filter)
    unreadable   it answered without a text
    cut_off      the reply ends before its final part, within the thinking or at the limit of tokens; `text` is what came
    """

    def __init__(self, message: str, kind: Kind = "away", text: str = "") -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.text = text

    @property
    def is_about_example(self) -> bool:
        """Whether this is the model's answer to the example; else the example can still be answered."""
        return self.kind not in NOT_ABOUT_THE_EXAMPLE


@dataclass(frozen=True)
class Completion:
    """One sample: the final reply without its thinking, or why there is none. `has_reasoning`: some thinking was seen."""

    text: str
    unread: ChatError | None = None
    has_reasoning: bool = False


FALLBACKS: Mapping[str, str] = {"json_schema": "json_object", "json_object": "none"}
"""What "auto" tries after an endpoint rejects a form of structured output."""


@dataclass
class RejectedSettings:
    """What an endpoint has rejected so far, so that it is not sent again."""

    structure: str = "json_schema"
    dropped: set[str] = field(default_factory=set)


class Sampling(TypedDict, total=False):
    """The keyword arguments of `ChatModel.complete`."""

    samples: int
    temperature: float
    seed: int | None
    schema: Mapping[str, Any] | None
    most_tokens: int


@dataclass(frozen=True)
class ChatModel:
    """One model at one endpoint. `url` ends before `/chat/completions`; `key` is sent as a bearer token.

    max_tokens         tokens that a reply may have, thinking included; None: as many as the caller asks for
    limit_parameter    the name under which this limit is sent: max_tokens or max_completion_tokens
    structured         how a JSON schema is sent; "auto": json_schema, else json_object, else none
    reasoning          the model thinks before it answers: without a temperature from `extra` or above 0 its server chooses
    reasoning_effort   sent as it is where it is not ""
    extra              further parameters of each request; null leaves a parameter out
    drop_rejected      parameters that are left out once the endpoint has rejected them
    at_once            requests that a job may have under way at a time
    serialisation      form of tables in prompts (`predictor.prompts.table_text`)
    stop_after         unusable replies in a row after which a job stops: each costs, and the next will be the same
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    max_tokens: int | None = None
    limit_parameter: str = "max_tokens"
    structured: str = "auto"
    reasoning: bool = False
    reasoning_effort: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    drop_rejected: tuple[str, ...] = ()
    at_once: int = 1
    serialisation: str = ""
    stop_after: int = STOP_AFTER
    transport: httpx.BaseTransport | None = None
    wait: Callable[[float], None] = time.sleep
    meter: Meter | None = None
    """Counts the tokens of each request."""
    learned: RejectedSettings = field(default_factory=RejectedSettings, repr=False, compare=False)

    def ask(self, messages: Sequence[Mapping[str, str]], **sampling: Unpack[Sampling]) -> list[str]:
        """The final replies of `samples` completions. Raises ChatError, also where one of them has no final reply."""
        completions = self.complete(messages, **sampling)
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
            # Models that think repeat themselves at 0.
            "temperature": None if self.reasoning and not temperature else temperature,
            self.limit_parameter: self.max_tokens or most_tokens,
        }
        if seed is not None:
            body["seed"] = seed
        if self.reasoning_effort:
            body["reasoning_effort"] = self.reasoning_effort
        body |= self.extra
        body = {name: value for name, value in body.items() if value is not None}
        import httpx  # slow to load, and few commands ask a model

        completions: list[Completion] = []
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        limit = httpx.Timeout(self.timeout, connect=min(CONNECT, self.timeout))
        with httpx.Client(timeout=limit, headers=headers, transport=self.transport) as client:
            while len(completions) < samples:
                if seed is not None and "seed" in body:  # the same seed would give the same answer
                    body["seed"] = seed + len(completions)
                remaining = samples - len(completions)
                began, outcome = time.monotonic(), "answered"
                try:
                    completions += self._post(client, body, schema, remaining)[:remaining]
                except ChatError as error:
                    outcome = error.kind
                    raise
                finally:
                    observing.notify(self.model, outcome, time.monotonic() - began)
        return completions

    def _body(
        self, body: Mapping[str, Any], schema: Mapping[str, Any] | None, samples: int
    ) -> dict[str, Any]:
        """What is sent now: with the sample size and the schema, without what the endpoint has rejected."""
        whole = dict(body)
        if samples > 1 and self.extra.get("n", 1) is not None:
            whole["n"] = samples
        if schema is not None:
            form = self.learned.structure if self.structured == "auto" else self.structured
            whole |= _schema_parameters(form, schema)
        return {name: value for name, value in whole.items() if name not in self.learned.dropped}

    def _post(
        self,
        client: httpx.Client,
        body: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
        samples: int,
    ) -> list[Completion]:
        import httpx

        address = f"{self.url.rstrip('/')}/chat/completions"
        attempt = 0
        while attempt < TRIES:
            sent = self._body(body, schema, samples)
            try:
                answer = self._metered(client, address, sent)
            except (httpx.ReadTimeout, httpx.WriteTimeout):
                raise ChatError(f"{address} did not answer in {self.timeout:g} seconds.") from None
            except httpx.HTTPError as error:
                attempt += 1
                if attempt == TRIES:
                    raise ChatError(f"{address} cannot be reached ({type(error).__name__}).") from None
                self.wait(2.0**attempt)
                continue
            rejected = rejected_parameters(answer.text, sent) if _is_rejection(answer) else ()
            if rejected and self._leaves_out(rejected, _structure_of(sent)):
                continue
            if answer.status in PASSING or answer.is_broken:
                attempt += 1
                if attempt < TRIES:
                    self.wait(_retry_delay(answer.retry_after, attempt))
                    continue
            if answer.status != 200:
                raise _rejection(address, answer, rejected)
            return _completions(answer, address, sent.get(self.limit_parameter))
        raise ChatError(f"{address} did not answer after {TRIES} attempts.")

    def _leaves_out(self, rejected: Sequence[str], structure: str) -> bool:
        """Whether the next request leaves out, or sends in another form, something that the endpoint rejected."""
        learned = self.learned
        if self.structured == "auto" and "response_format" in rejected and structure in FALLBACKS:
            learned.structure = FALLBACKS[structure]
            return True
        # Also what another thread has learned meanwhile: this request was sent before.
        droppable = set(rejected) & set(self.drop_rejected)
        learned.dropped |= droppable
        return bool(droppable)

    def _metered(self, client: httpx.Client, address: str, body: Mapping[str, Any]) -> _Answer:
        """One request, reserved before and settled after with the tokens that it used."""
        if self.meter is None:
            return self._in_time(client, address, body)
        prompt = estimate_messages(body["messages"])
        most = max((body[name] for name in LIMITS if body.get(name)), default=UNLIMITED) * body.get("n", 1)
        reservation = self.meter.reserve(largest_messages(body["messages"]), most)
        # An answer that is lost may have been written, up to its limit: a budget holds for it, too.
        call = Call("away", prompt, most, is_counted=False)
        try:
            answer = self._in_time(client, address, body)
            call = _usage_of_answer(answer, prompt, most, body)
            return answer
        except Exception as error:
            if type(error).__name__ in NEVER_ARRIVED:
                call = Call("away", 0, 0, is_counted=True)
            raise
        finally:
            self.meter.settle(reservation, call)

    def _in_time(self, client: httpx.Client, address: str, body: Mapping[str, Any]) -> _Answer:
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
            milliseconds = response.headers.get("retry-after-ms", "")
            after = f"{milliseconds}e-3" if milliseconds else response.headers.get("retry-after", "")
            text = storable_text(data.decode("utf-8", "replace"))
            answer = _Answer(response.status_code, text, after)
            return replace(answer, status=_true_status(answer))


def chat_model(predictors: Mapping[str, Mapping[str, Any]], name: str) -> ChatModel:
    """The chat model of that name. Raises LookupError naming the ones there are."""
    if name not in predictors:
        available_names = (
            ", ".join(sorted(predictors)) or "none (set PREDICTORS, see docs/reference/settings.md)"
        )
        raise LookupError(f"There is no predictor {name!r}. Available: {available_names}.")
    entry = predictors[name]
    if entry["protocol"] != "chat":
        raise LookupError(f"The predictor {name!r} is not a chat model.")
    return ChatModel(
        url=entry["url"],
        model=entry["model"],
        key=entry.get("key", ""),
        timeout=float(entry.get("timeout", 60.0)),
        stop_after=entry.get("stop_after", STOP_AFTER),
        learned=_rejected_settings(json.dumps(entry, sort_keys=True)),
        **request_settings(entry),
    )


@functools.cache
def _rejected_settings(entry: str) -> RejectedSettings:
    """What the endpoint of an entry has rejected, for the time of a process."""
    return RejectedSettings()


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

    @property
    def is_broken(self) -> bool:
        """Whether a reply ends in the middle, or is a page: a proxy on the way has failed, and may work a little later."""
        return self.status == 200 and bool(self.text.strip()) and not isinstance(self.json, dict)


def _true_status(answer: _Answer) -> int:
    """The status of an answer. A router in front of several providers may wrap the error of one of them in a 200."""
    reply = answer.json if answer.status == 200 and '"error"' in answer.text else None
    error = reply.get("error") if isinstance(reply, dict) and not reply.get("choices") else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else answer.status


def _retry_delay(retry_after: str, attempt: int) -> float:
    """Seconds until the next attempt: those of `Retry-After` in seconds or as a date, else more after each attempt."""
    seconds = 2.0**attempt
    try:
        if retry_after[:1].isdigit():
            seconds = float(retry_after)
        elif retry_after:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
    except ValueError:
        pass
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _schema_parameters(form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that ask for replies of a JSON schema."""
    if form == "json_schema":
        named = {"name": "answer", "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    if form == "guided_json":
        return {"guided_json": dict(schema)}
    if form == "structured_outputs":
        return {"structured_outputs": {"json": dict(schema)}}
    return {}


def _structure_of(sent: Mapping[str, Any]) -> str:
    """The form of structured output that a request asked for; another thread may know better since."""
    form = sent.get("response_format")
    return str(form.get("type", "")) if isinstance(form, dict) else ""


def rejected_parameters(text: str, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters of a request that an error names, in the order of the request; () where it names none.

    OpenAI names one in `error.param`, vLLM and FastAPI in `detail` or in a list of places within the message. Elsewhere
    the name is in quotation marks or backticks. `messages` and `model` are no parameters: an error about them is
    about this conversation, or about a name.
    """
    if re.search(_TOO_LONG, text, re.IGNORECASE):
        return ()
    candidates = [name for name in sent if name not in ("messages", "model")]
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        reply = None
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    param = error.get("param") if isinstance(error, dict) else None
    if isinstance(param, str) and param:
        places = param
    elif loc := re.findall(r"""['"]loc['"]: ?[(\[]([^)\]]*)""", text[:MAX_ERROR]):
        places = " ".join(loc)
    elif re.search(_REJECTS, text, re.IGNORECASE):
        places = text[:MAX_ERROR]
    else:
        places = ""
    named = set(re.findall(r"(?<![\w.])\w+", places))
    rejected = tuple(name for name in candidates if name in named)
    if not rejected and "response_format" in sent and re.search(_STRUCTURE, text[:MAX_ERROR], re.IGNORECASE):
        return ("response_format",)
    return rejected


_REJECTS = (
    r"unsupported|not supported|unrecogni[sz]ed|unknown|not known|unexpected|not permitted|forbidden|not allowed|"
    r"invalid (?:parameter|argument|value)|does not support|not available|not enabled|not implemented"
)
_STRUCTURE = r"response.?format|json.?schema|structured.?output|guided.?decoding|grammar"
"""A form of structured output is rejected in many words."""
_TOO_LONG = r"context (?:length|window|size)|context_length|prompt is too long|too many tokens"
"""An error that names a limit of tokens because this conversation is too long rejects no parameter."""
MAX_ERROR = 4_000


def _is_rejection(answer: _Answer) -> bool:
    """Whether an error may be about parameters. llama-cpp-python reports those with status 500."""
    return answer.status in ABOUT_THE_QUESTION or (answer.status == 500 and "'loc'" in answer.text)


def _rejection(address: str, answer: _Answer, rejected: Sequence[str]) -> ChatError:
    """What a status other than 200 means."""
    if rejected:
        names = ", ".join(rejected)
        return ChatError(
            f"{address} rejects {names}: {answer.text[:300]} Set {names} differently for this model, set it to "
            f"null in extra, or list it in drop_rejected.",
            "parameters",
        )
    kind: Kind = "refused" if answer.status in ABOUT_THE_QUESTION else "away"
    if kind == "refused" and "content_filter" in answer.text:
        kind = "filtered"
    return ChatError(f"{address} answered {answer.status}: {answer.text[:300]}", kind)


def _usage_of_answer(answer: _Answer, prompt: int, most: int, sent: Mapping[str, Any]) -> Call:
    """The tokens of an answer: what it states, else estimates; `most` are those of a reply up to its limit.

    Of errors only those that come after work have used any.
    """
    reply = answer.json
    if answer.status != 200:
        rejected = rejected_parameters(answer.text, sent) if _is_rejection(answer) else ()
        kind = _rejection("", answer, rejected).kind
        if answer.status in LOST:
            return Call(kind, prompt, most, is_counted=False)
        if answer.status in WORKED and not rejected:
            return Call(kind, prompt, 0, is_counted=False)
        return Call(kind, 0, 0, is_counted=True)
    try:
        choices = _choices(reply)
    except (LookupError, TypeError, AttributeError):
        choices = []
    texts = "".join(choice.content or "" for choice in choices) + "".join(
        reply_choice.thinking for reply_choice in choices
    )
    unread = [error.kind for choice in choices if (error := _completion(choice, "", 0).unread)]
    state = unread[0] if unread else "answered" if choices else "unreadable"
    # What was cut off had its limit, whether or not the thinking before it is shown.
    is_cut = any(choice.finish == "length" for choice in choices)
    return read_usage(reply, state=state, prompt=prompt, completion=most if is_cut else estimate(texts))


@dataclass(frozen=True)
class _Choice:
    content: str | None
    finish: object
    refusal: str
    thinking: str


def _choices(reply: Any) -> list[_Choice]:
    """The choices of a reply. Raises LookupError, TypeError or AttributeError where it is no chat completion."""
    choices = []
    for choice in reply["choices"]:
        message = choice["message"]
        content = message["content"] if "refusal" not in message else message.get("content")
        if isinstance(content, list):  # parts, of which some are text
            content = "".join(
                part["text"]
                for part in content
                if isinstance(part, dict) and isinstance(part.get("text"), str)
            )
        thinking = message.get("reasoning_content") or message.get("reasoning")
        refusal = message.get("refusal")
        choices.append(
            _Choice(
                storable_text(content) if isinstance(content, str) else None,
                choice.get("finish_reason"),
                refusal if isinstance(refusal, str) else "",
                thinking if isinstance(thinking, str) else "",
            )
        )
    return choices


def _completions(answer: _Answer, address: str, most_tokens: int | None) -> list[Completion]:
    try:
        choices = _choices(answer.json)
    except (LookupError, TypeError, AttributeError):
        # Some endpoints report a refusal with status 200. A page is of something else at this address.
        kind: Kind = "unreadable" if isinstance(answer.json, dict) or not answer.text.strip() else "away"
        excerpt = answer.text.strip()[:300] or "nothing"
        raise ChatError(f"{address} did not send a chat completion: {excerpt}", kind) from None
    if not choices:
        raise ChatError(f"{address} sent no text.", "unreadable")
    has_reasoning = counts_reasoning(answer.json)
    return [
        replace(completion, has_reasoning=has_reasoning or completion.has_reasoning)
        for completion in (_completion(choice, address, most_tokens) for choice in choices)
    ]


def _completion(choice: _Choice, address: str, most_tokens: int | None) -> Completion:
    text = choice.content or ""
    if choice.refusal:
        reason = f"The model refuses to answer: {choice.refusal[:300]}"
        return Completion("", ChatError(reason, "declined", choice.refusal))
    if choice.finish == "content_filter":
        reason = "A content filter removed the reply (finish_reason=content_filter)."
        return Completion("", ChatError(reason, "filtered", text))
    if choice.finish == "length":
        after = f" after {most_tokens:,} tokens" if most_tokens else ""
        reason = f"The reply was cut off{after} (finish_reason=length). Raise max_tokens of this model."
        return Completion("", ChatError(reason, "cut_off", text))
    if choice.content is None:
        return Completion("", ChatError(f"{address} sent no text.", "unreadable"))
    final = final_reply(text)
    if final is None:
        return Completion(
            "", ChatError("The reply ends before the model finished thinking.", "cut_off", text)
        )
    return Completion(final, has_reasoning=bool(choice.thinking.strip() or thinking_of(text)))
