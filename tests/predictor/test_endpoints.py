"""Language models behind endpoints of today: what is sent, what is left out, and which state each reply has."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from predictor import prompts
from predictor.budget import Tally
from predictor.chat import ChatError, ChatModel, _Answer, _usage_of_answer, chat_model, rejected_parameters
from predictor.configuration import ConfigurationError, read, request_settings
from predictor.listing import ask_for_list
from predictor.protocol import PredictRequest
from predictor.usage import Call, cost, estimate_messages, read_usage
from tableqa import Context, Example, Table
from tests.predictor.endpoints import FLAVOURS, Endpoint, endpoint

HELLO = [{"role": "user", "content": "which city is larger?"}]
EXAMPLE = Example(
    id="1",
    question="which city is larger?",
    table=Table(["City", "People"], [["Oslo", "700"], ["Bergen", "290"]]),
    answers=["Oslo"],
)


def model(server: Endpoint, **settings: Any) -> ChatModel:
    """The chat model of an entry, without pauses between attempts."""
    return ChatModel(
        url=server.url, model="small", timeout=5, wait=lambda seconds: None, **request_settings(settings)
    )


# -- parameters -------------------------------------------------------------------------------------


REASONING = {"max_completion_tokens": 2_000, "reasoning_effort": "low", "extra": {"temperature": None}}


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_every_kind_of_endpoint_answers_with_its_settings(flavour: str) -> None:
    settings = REASONING if flavour == "openai_reasoning" else {}
    with endpoint(Endpoint(flavour, think=0 if flavour == "openai" else 50)) as server:
        listed = ask_for_list(model(server, **settings), EXAMPLE)
    assert listed.answers == ("Oslo",)
    assert listed.state == ""


@pytest.mark.parametrize(
    ("flavour", "settings", "named"),
    [
        ("openai_reasoning", {}, "max_tokens"),
        ("openai_reasoning", {"max_completion_tokens": 900}, "temperature"),
        ("openai", {"extra": {"top_k": 3}}, "top_k"),
        ("openai", {"reasoning_effort": "low"}, "reasoning_effort"),
        ("vllm", {"extra": {"top_k": 3, "thinking": True}}, "thinking"),
        ("deepseek", {"structured": "json_schema"}, "response_format"),
    ],
)
def test_a_rejected_parameter_is_named_and_left_out_only_where_configured(
    flavour: str, settings: dict[str, Any], named: str
) -> None:
    with endpoint(Endpoint(flavour)) as server:
        with pytest.raises(ChatError, match=rf"rejects {named}:.*drop_rejected") as raised:
            model(server, **settings).ask(HELLO, schema=prompts.ANSWER_SCHEMA)
        assert (raised.value.kind, raised.value.is_about_example) == ("parameters", False)
        assert len(server.requests) == 1
        server.requests.clear()
        dropping = model(server, **settings, drop_rejected=["max_tokens", "temperature", named])
        dropping.ask(HELLO, schema=prompts.ANSWER_SCHEMA)
        assert named in server.requests[0]
        assert named not in server.requests[-1]
        server.requests.clear()
        dropping.ask(HELLO, schema=prompts.ANSWER_SCHEMA)
        assert len(server.requests) == 1, "what was rejected once is not sent again"


@pytest.mark.parametrize(
    ("structured", "sent"),
    [
        ("json_schema", {"response_format"}),
        ("json_object", {"response_format"}),
        ("guided_json", {"guided_json"}),
        ("structured_outputs", {"structured_outputs"}),
        ("none", set()),
    ],
)
def test_a_schema_is_sent_in_the_chosen_form(structured: str, sent: set[str]) -> None:
    with endpoint(Endpoint("vllm")) as server:
        model(server, structured=structured).ask(HELLO, schema=prompts.ANSWER_SCHEMA)
    forms = {"response_format", "guided_json", "structured_outputs"}
    assert server.requests[0].keys() & forms == sent


@pytest.mark.parametrize(
    ("flavour", "forms"),
    [
        ("openai", ["json_schema"]),
        ("deepseek", ["json_schema", "json_object"]),
        ("llama_cpp_python", ["json_schema", "json_object"]),
        ("plain", ["json_schema", "json_object", ""]),
    ],
)
def test_structured_output_is_used_where_an_endpoint_has_it(flavour: str, forms: list[str]) -> None:
    with endpoint(Endpoint(flavour)) as server:
        chat = model(server)
        chat.ask(HELLO, schema=prompts.ANSWER_SCHEMA)
        sent = [body.get("response_format", {}).get("type", "") for body in server.requests]
        chat.ask(HELLO, schema=prompts.ANSWER_SCHEMA)
    assert sent == forms
    assert len(server.requests) == len(forms) + 1


def test_of_parallel_requests_none_fails_for_a_parameter_that_another_has_dropped() -> None:
    with endpoint(Endpoint("openai_reasoning", gathers=4)) as server:
        chat = model(server, max_completion_tokens=2_000, drop_rejected=["temperature"])
        with ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda _: chat.ask(HELLO), range(4)))
    assert [len(reply) for reply in replies] == [1, 1, 1, 1]


def test_extra_parameters_are_sent_and_null_leaves_one_out() -> None:
    extra = {
        "top_k": 3,
        "chat_template_kwargs": {"enable_thinking": False},
        "temperature": None,
        "seed": None,
    }
    with endpoint(Endpoint("vllm")) as server:
        model(server, extra=extra).ask(HELLO, samples=2, seed=4)
    (body,) = server.requests
    assert (body["top_k"], body["n"]) == (3, 2)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert not {"temperature", "seed"} & body.keys()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"error": {"message": "no", "param": "max_tokens"}}', ("max_tokens",)),
        ('{"error": {"message": "no", "param": "response_format.json_schema"}}', ("response_format",)),
        ('{"detail": [{"loc": ["body", "seed"], "msg": "extra fields not permitted"}]}', ("seed",)),
        ("Unknown parameter `seed`", ("seed",)),
        ("temperature and seed are not supported", ("temperature", "seed")),
        ('{"error": {"message": "bad", "param": "messages"}}', ()),
        ("'max_tokens' is too large: the context length is 4096 (parameter=max_tokens)", ()),
        ("This model does not support response format `json_schema`.", ("response_format",)),
        ("Structured output is not supported by this model", ("response_format",)),
        ("Failed to parse grammar", ("response_format",)),
        ("guided decoding is not enabled", ("response_format",)),
        ("the question mentions a seed", ()),
        ("[" * 5_000, ()),
        ("", ()),
    ],
)
def test_rejected_parameters_are_read_from_an_error(text: str, names: tuple[str, ...]) -> None:
    sent = {"model": "m", "messages": [], "temperature": 0, "max_tokens": 5, "seed": 1, "response_format": {}}
    assert rejected_parameters(text, sent) == names


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_tokens": 5, "max_completion_tokens": 5}, "either max_tokens or"),
        ({"structured": "xml"}, "structured must be one of"),
        ({"reasoning": "yes", "max_tokens": 9}, "reasoning must be true or false"),
        ({"reasoning": True}, "reasoning needs max_tokens"),
        ({"extra": {"messages": []}}, "extra must not set messages"),
        ({"extra": {"n": 4}}, "extra must not set n"),
        ({"extra": []}, "extra must be an object"),
        ({"drop_rejected": "seed"}, "drop_rejected must be a list"),
        ({"parallel": 0}, "parallel must be a whole number"),
        ({"parallel": 65}, "at most 64"),
        ({"reasoning_effort": 3}, "reasoning_effort must be text"),
        ({"serialisation": "yaml"}, "serialisation must be one of"),
    ],
)
def test_what_is_wrong_in_an_entry_is_named(settings: dict[str, Any], words: str) -> None:
    import json

    entry = {"protocol": "chat", "url": "http://h/v1", "model": "x", **settings}
    with pytest.raises(ConfigurationError, match=words):
        read(json.dumps({"m": entry}))


def test_an_entry_sets_the_form_of_tables() -> None:
    with endpoint(Endpoint()) as server:
        ask_for_list(chat_model({"m": server.entry(serialisation="markdown")}, "m"), EXAMPLE)
    assert "|---|" in server.requests[0]["messages"][-1]["content"].replace(" ", "")


# -- states of replies ------------------------------------------------------------------------------


STATES: list[tuple[str, str, str]] = [
    ("well", "answered", ""),
    ("parts", "answered", ""),
    ("no_usage", "answered", ""),
    ("odd_usage", "answered", ""),
    ("cut_off", "cut_off", "cut_off"),
    ("declines", "declined", "declined"),
    ("filtered", "filtered", "filtered"),
    ("silent", "unreadable", "no_list"),
]


@pytest.mark.parametrize(("mood", "state", "listed_as"), STATES)
def test_every_reply_has_a_state_of_its_own(mood: str, state: str, listed_as: str) -> None:
    tally = Tally()
    with endpoint(Endpoint("openai", mood)) as server:
        chat = model(server)
        object.__setattr__(chat, "meter", tally)
        listed = ask_for_list(chat, EXAMPLE)
    assert listed.state == listed_as
    assert listed.raw().get("state", "") == listed_as
    assert {call.state for call in tally.calls} == {state}
    assert len(server.requests) == len(tally.calls) == (3 if listed_as == "no_list" else 1)


@pytest.mark.parametrize(
    ("mood", "kind", "requests"),
    [
        ("limited", "away", 4),
        ("failing", "away", 4),
        ("wrapped", "away", 4),
        ("page", "away", 4),
        ("locked", "away", 1),
        ("filtered_prompt", "filtered", 1),
    ],
)
def test_every_failure_is_counted(mood: str, kind: str, requests: int) -> None:
    tally = Tally()
    with endpoint(Endpoint("openai", mood)) as server:
        chat = model(server)
        object.__setattr__(chat, "meter", tally)
        with pytest.raises(ChatError) as raised:
            chat.ask(HELLO)
    assert raised.value.kind == kind
    assert len(tally.calls) == len(server.requests) == requests


@pytest.mark.parametrize(
    ("parser", "structured", "thinks"),
    [
        ("", None, True),
        ("", "json_schema", False),
        ("reasoning_content", None, True),
        ("reasoning", None, True),
        ("reasoning_content", "json_schema", True),
    ],
)
def test_a_reasoning_model_thinks_and_it_shows_where_it_does_not(
    parser: str, structured: str | None, thinks: bool
) -> None:
    settings = {"reasoning": True, "max_tokens": 32_768, **({"structured": structured} if structured else {})}
    with endpoint(Endpoint("vllm", think=300, parser=parser)) as server:
        listed = ask_for_list(model(server, **settings), EXAMPLE)
    assert listed.answers == ("Oslo",)
    assert listed.raw().get("lacks_reasoning", False) is not thinks
    (body,) = server.requests
    assert ("response_format" in body) is (structured is not None)
    assert "temperature" not in body, "the server has the temperature of the model's card"
    assert body["max_tokens"] == 32_768


def test_hidden_reasoning_is_seen_in_the_count_and_an_empty_block_is_none() -> None:
    def chat(text: str, **details: int) -> ChatModel:
        reply = {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 90, "completion_tokens_details": details},
        }
        transport = httpx.MockTransport(lambda request: httpx.Response(200, json=reply))
        return ChatModel(url="http://m/v1", model="m", reasoning=True, transport=transport)

    assert not ask_for_list(chat('["Oslo"]', reasoning_tokens=64), EXAMPLE).lacks_reasoning
    assert ask_for_list(chat('["Oslo"]', reasoning_tokens=0), EXAMPLE).lacks_reasoning
    assert ask_for_list(chat('<think>\n\n</think>\n\n["Oslo"]'), EXAMPLE).lacks_reasoning


def test_a_conversation_beyond_the_context_is_refused_for_this_example_alone() -> None:
    with endpoint(Endpoint("openai")) as server, pytest.raises(ChatError, match="maximum context") as raised:
        model(server).ask([{"role": "user", "content": "word " * 5_000}])
    assert (raised.value.kind, raised.value.is_about_example) == ("refused", True)


def test_thinking_up_to_the_limit_is_cut_off_and_a_higher_limit_helps() -> None:
    with endpoint(Endpoint("openai_reasoning", think=900)) as server:
        low = ask_for_list(model(server, **REASONING | {"max_completion_tokens": 800}), EXAMPLE)
        high = ask_for_list(model(server, **REASONING), EXAMPLE)
    assert (low.state, high.answers) == ("cut_off", ("Oslo",))
    assert "after 800 tokens" in low.reason


# -- tokens -----------------------------------------------------------------------------------------


def test_tokens_are_those_of_the_endpoint_and_estimated_where_it_counts_none() -> None:
    tally = Tally()
    with endpoint(Endpoint("vllm", think=40)) as server:
        chat = model(server)
        object.__setattr__(chat, "meter", tally)
        chat.ask(HELLO)
        server.mood = "no_usage"
        chat.ask(HELLO)
        server.mood = "odd_usage"
        chat.ask(HELLO)
    counted, estimated, odd = tally.calls
    assert counted == Call("answered", 4, 42, is_counted=True)
    assert (estimated.prompt_tokens, estimated.is_counted) == (estimate_messages(HELLO), False)
    assert estimated.completion_tokens > 6, "thinking in a field of its own is estimated, too"
    assert odd == estimated
    assert tally.in_words().endswith("(1 of 3 counted)")


def test_a_request_that_never_arrived_has_used_nothing_and_one_that_hung_has() -> None:
    tally = Tally()
    chat = ChatModel(url="http://127.0.0.1:9/v1", model="m", wait=lambda seconds: None, meter=tally)
    with pytest.raises(ChatError):
        chat.ask(HELLO)
    assert [(call.state, call.prompt_tokens) for call in tally.calls] == [("away", 0)] * 4
    tally.calls.clear()
    with endpoint(Endpoint(mood="hung")) as server, pytest.raises(ChatError):
        ChatModel(url=server.url, model="m", timeout=0.3, meter=tally).ask(HELLO)
    (call,) = tally.calls
    assert (call.state, call.prompt_tokens, call.is_counted) == ("away", estimate_messages(HELLO), False)
    assert call.completion_tokens == 512, "it may have been written up to its limit"


@pytest.mark.parametrize(("status", "used"), [(504, 4_000), (408, 4_000), (502, 0), (500, 0)])
def test_a_gateway_that_gave_up_after_work_has_used_tokens_that_nobody_counted(
    status: int, used: int
) -> None:
    call = _usage_of_answer(_Answer(status, "<html>Gateway Time-out</html>", ""), 9, 4_000, {})
    assert call == Call("away", 9, used, is_counted=False)


def test_an_endpoint_that_is_overloaded_has_used_nothing() -> None:
    for status in (429, 503):
        assert _usage_of_answer(_Answer(status, "later", ""), 9, 4_000, {}) == Call(
            "away", 0, 0, is_counted=True
        )


def test_thinking_that_only_the_total_has_is_counted() -> None:
    reply = {"usage": {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135}}
    assert read_usage(reply, state="answered", prompt=1, completion=1) == Call("answered", 32, 103, True)


def test_a_count_of_zero_for_a_text_is_estimated() -> None:
    reply = {"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
    assert read_usage(reply, state="answered", prompt=32, completion=9) == Call("answered", 32, 9, False)
    reply = {"usage": {"prompt_tokens": 32, "completion_tokens": 0}}
    assert read_usage(reply, state="unreadable", prompt=30, completion=0) == Call("unreadable", 32, 0, True)


def test_a_reply_that_was_cut_off_and_says_no_usage_is_taken_at_its_limit() -> None:
    choice = {"message": {"content": ""}, "finish_reason": "length"}
    answer = _Answer(200, json.dumps({"choices": [choice]}), "")
    assert _usage_of_answer(answer, 9, 4_000, {}) == Call("cut_off", 9, 4_000, is_counted=False)


@pytest.mark.parametrize(
    "settings",
    [
        {"extra": {"max_tokens": None, "max_completion_tokens": 30_000}},
        {"extra": {"max_completion_tokens": 30_000}},
        {"extra": {"max_tokens": None}},
    ],
)
def test_a_limit_of_a_reply_counts_for_the_budget_wherever_it_is_set(settings: dict[str, Any]) -> None:
    with endpoint(Endpoint("vllm")) as server:
        chat = replace(model(server, **settings), meter=Tally(budget={"tokens": 9_000}))
        with pytest.raises(ChatError, match="budget"):
            chat.ask(HELLO)
        assert server.requests == []


def test_a_price_is_per_million_tokens() -> None:
    assert str(cost(1_000_000, 500_000, [0.15, 0.6])) == "0.45"


# -- scales -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "example",
    [
        Example(id="1", question="q", table=EXAMPLE.table, answers=["1"], meta={"scale": "thousand"}),
        Example(id="1", question="q", table=EXAMPLE.table, answers=["1"], context=Context(scale="thousand")),
    ],
)
def test_the_scale_that_a_verdict_uses_is_in_the_prompt(example: Example) -> None:
    messages, _ = prompts.asking_for_answers(example)
    assert "Scale: thousand. Write numbers in this scale" in messages[-1]["content"]
    through_a_predictor = PredictRequest.about(example).context
    assert through_a_predictor is not None
    assert through_a_predictor.scale == "thousand"
