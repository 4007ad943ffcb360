"""A language model over HTTP: what is sent, what is tried again, and what is said when nothing helps."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from predictor import prompts
from predictor.chat import ChatError, ChatModel, chat_model
from predictor.configuration import ConfigurationError, read
from predictor.listing import ask_for_list
from tableqa import Example, Table
from tableqa.core.foreign_values import unstorable
from tableqa.data.examples import Turn
from tableqa.scoring.replies import read_answers
from tests.predictor.scripted import ScriptedServer, hung_socket, scripted

HELLO = [{"role": "user", "content": "hello"}]


def said(*texts: str) -> httpx.Response:
    return httpx.Response(200, json={"choices": [{"message": {"content": text}} for text in texts]})


def model(answer: Callable[[dict[str, Any]], httpx.Response], waits: list[float] | None = None) -> ChatModel:
    def handle(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/chat/completions"
        return answer(json.loads(request.content))

    return ChatModel(
        url="http://model/v1/",
        model="m",
        transport=httpx.MockTransport(handle),
        wait=(waits if waits is not None else []).append,
    )


TEXTS = st.text(st.characters() | st.sampled_from('\0\ud83d\ude00\\u"d0'), max_size=12)
VALUES = st.recursive(
    TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)


@given(VALUES, st.booleans())
@example({"answers": ["smile \ud83d"]}, True)
@example({"why \ude00": "\0", "whole": "\U0001f600 \\ud83d \\u0000"}, True)
def test_what_no_file_holds_enters_with_no_reply(value: Any, escaped: bool) -> None:
    """Neither the text of a reply nor what it says as JSON, keys included; what can be stored stays as it is."""
    reply = json.dumps(value, ensure_ascii=escaped)
    data = json.dumps({"choices": [{"message": {"content": reply}}]}).encode()

    (text,) = model(lambda body: httpx.Response(200, content=data)).ask(HELLO)

    assert unstorable([text, json.loads(text)]) is None
    if unstorable([value]) is None:
        assert json.loads(text) == value


def test_errors_hold_nothing_that_no_file_holds() -> None:
    refusal = {"choices": [{"message": {"content": None, "refusal": "no \ud83d"}}]}
    for answer in (httpx.Response(400, content=b"a\0b"), httpx.Response(200, content=json.dumps(refusal))):
        with pytest.raises(ChatError) as raised:
            model(lambda body, answer=answer: answer).ask(HELLO)  # type: ignore[misc]
        assert "\ufffd" in str(raised.value)
        assert unstorable([str(raised.value), raised.value.text]) is None


def test_all_samples_come_from_one_request_where_the_endpoint_gives_them() -> None:
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> httpx.Response:
        asked.append(body)
        return said(*(["yes"] * body["n"]))

    assert model(answer).ask(HELLO, samples=3, temperature=0.7) == ["yes"] * 3
    assert len(asked) == 1
    assert asked[0]["temperature"] == 0.7


def test_an_endpoint_that_gives_one_choice_is_asked_again_with_another_seed() -> None:
    seeds: list[int] = []

    def answer(body: dict[str, Any]) -> httpx.Response:
        seeds.append(body["seed"])
        return said(f"answer {len(seeds)}")

    assert model(answer).ask(HELLO, samples=3, seed=7) == ["answer 1", "answer 2", "answer 3"]
    assert len(set(seeds)) == 3


def test_a_busy_endpoint_is_given_the_time_it_asks_for() -> None:
    answers = [httpx.Response(429, headers={"retry-after": "3"}), httpx.Response(503), said("now")]
    waits: list[float] = []
    assert model(lambda body: answers.pop(0), waits).ask(HELLO) == ["now"]
    assert waits == [3.0, 4.0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "2500", "retry-after": "3"}, 2.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, 30),
        ({"retry-after": "soon"}, 2),
        ({"retry-after": "9" * 400}, 30),
        ({"retry-after-ms": "x"}, 2),
    ],
)
def test_the_time_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float) -> None:
    answers = [httpx.Response(429, headers=headers), said("now")]
    waits: list[float] = []
    assert model(lambda body: answers.pop(0), waits).ask(HELLO) == ["now"]
    assert waits == [seconds]


@pytest.mark.parametrize("broken", ["<html>Bad gateway</html>", '{"choices": [{"message": {"content": "n'])
def test_a_broken_reply_is_asked_for_again(broken: str) -> None:
    answers = [httpx.Response(200, text=broken), said("now")]
    waits: list[float] = []
    assert model(lambda body: answers.pop(0), waits).ask(HELLO) == ["now"]
    assert waits == [2.0]


def test_an_endpoint_without_schemas_is_asked_without() -> None:
    forms: list[str] = []

    def answer(body: dict[str, Any]) -> httpx.Response:
        forms.append(body.get("response_format", {}).get("type", ""))
        return httpx.Response(400, text="response_format is not supported") if forms[-1] else said("{}")

    chat = model(answer)
    assert chat.ask(HELLO, schema=prompts.ANSWER_SCHEMA) == ["{}"]
    assert forms == ["json_schema", "json_object", ""]
    chat.ask(HELLO, schema=prompts.ANSWER_SCHEMA)
    assert forms[3:] == [""], "what an endpoint has rejected is not sent again"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(401, text="who are you?"), "401: who are you"),
        (httpx.Response(500), "500"),
        (httpx.Response(200, text="<html>"), "did not send a chat completion"),
        (httpx.Response(200, json={"choices": []}), "sent no text"),
        (httpx.Response(200, json={"choices": [{"message": {"content": None}}]}), "sent no text"),
    ],
)
def test_what_the_endpoint_said_is_said(answer: httpx.Response, words: str) -> None:
    with pytest.raises(ChatError, match=words):
        model(lambda body: answer).ask(HELLO)


def test_an_endpoint_that_is_not_there_is_named() -> None:
    def nobody(body: dict[str, Any]) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(ChatError, match=r"http://model/v1/chat/completions cannot be reached"):
        model(nobody).ask(HELLO)


def test_a_key_is_sent_and_never_shown() -> None:
    sent: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["authorization"])
        return said("ok")

    chat = ChatModel(url="http://m", model="m", key="secret", transport=httpx.MockTransport(handle))
    chat.ask(HELLO)
    assert sent == ["Bearer secret"]
    assert "secret" not in repr(chat)


# -- prompts ----------------------------------------------------------------------------------------


def test_a_prompt_shows_titles_history_and_all_rows_that_fit() -> None:
    table = Table(header=["Film", "Year"], rows=[["Heat", "1995"], ["A\nB", "1979"]], title="Films")
    example = Example(
        id="1", question="and then?", table=table, answers=["x"], history=[Turn("first?", ["Heat"])]
    )
    messages, seen = prompts.asking_for_answers(example)
    assert seen == 2
    last = messages[-1]["content"]
    assert "Films" in last
    assert "first? (Heat)" in last
    assert "A B | 1979" in last
    assert sum(message["role"] == "assistant" for message in messages) == 3
    assert not any(text == "x" for message in messages for text in message["content"].split("|"))


def test_rows_that_do_not_fit_are_counted() -> None:
    table = Table(header=["Film"], rows=[["x" * 50] for _ in range(100)])
    text, seen = prompts.in_lines(table, most=1_000)
    assert seen == 19
    assert len(text) <= 1_000


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ('{"answers": ["Heat", "Alien"]}', ["Heat", "Alien"]),
        ('Sure! {"answers": ["4"]} as you see', ["4"]),
        ('["a", 3]', ["a", "3"]),
        ('```json\n{"answers": []}\n```', []),
        ("It is Heat.", None),
        ('{"answers": [{"x": 1}]}', None),
        ("", None),
    ],
)
def test_a_list_is_found_in_a_reply_or_nothing_is(reply: str, answers: list[str] | None) -> None:
    assert read_answers(reply) == answers


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ('<think>\n{"answers": ["draft"]}\n</think>\n{"answers": ["22"]}', ["22"]),
        ('The rows say {"answers": ["draft"]}\n</think>\n\n{"answers": ["22"]}', ["22"]),
        ('<think>a</think>{"answers": ["draft"]}<think>no</think>```json\n{"answers": ["22"]}\n```', ["22"]),
        ('<think>It may be {"answers": ["draft"]}', None),
        ("<think>done</think>\nIt is 22.", None),
        ('[THINK]{"answers": ["draft"]}[/THINK]["22"]', ["22"]),
        (
            '<|channel|>analysis<|message|>["draft"]<|end|><|channel|>final<|message|>{"answers": ["22"]}',
            ["22"],
        ),
        ('<|channel|>analysis<|message|>{"answers": ["draft"]}', None),
        ('Draft: {"answers": ["draft"]}. Final: {"answers": ["22"]}', ["22"]),
        ('Draft: {"answers": ["draft"]}. Final: {"answers": ["2', None),
        ('Draft: {"answers": ["draft"]}. Final: {"answers": [{"x": 1}]}', None),
        ('First ["draft"], then ["22"]', None),
        ('First ["draft"], then\n["22"]', ["22"]),
        ('So: {"answers": ["a {b} [c]"], "why": "x"} as asked', ["a {b} [c]"]),
    ],
)
def test_answers_come_from_the_final_reply_alone(reply: str, answers: list[str] | None) -> None:
    assert read_answers(reply) == answers


def finished(text: str | None, reason: str) -> dict[str, Any]:
    return {"message": {"content": text}, "finish_reason": reason}


@pytest.mark.parametrize("text", ['{"answers": ["draft"]}', "<think>well", None])
def test_a_reply_at_the_limit_of_tokens_is_unread_for_that_reason(text: str | None) -> None:
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> httpx.Response:
        asked.append(body)
        return httpx.Response(200, json={"choices": [finished(text, "length")]})

    with pytest.raises(ChatError, match=r"cut off after 512 tokens \(finish_reason=length\)") as raised:
        model(answer).ask(HELLO)
    assert (raised.value.kind, raised.value.text) == ("cut_off", text or "")
    asked.clear()
    example = Example(id="1", question="how many?", table=Table(["a"], [["22"]]), answers=["22"])
    listed = ask_for_list(model(answer), example)
    assert listed.answers is None
    assert listed.raw()["reason"] == str(raised.value)
    assert len(asked) == 1, "it would be cut off again"


def test_one_sample_of_several_may_be_cut_off() -> None:
    choices = [finished("<think>no</think>yes", "stop"), finished("ye", "length")]
    chat = model(lambda body: httpx.Response(200, json={"choices": choices}))
    first, second = chat.complete(HELLO, samples=2)
    assert (first.text, first.unread, second.text) == ("yes", None, "")
    assert "finish_reason=length" in str(second.unread)


def test_a_model_may_be_given_more_tokens_to_think_with() -> None:
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> httpx.Response:
        asked.append(body["max_tokens"])
        return said("ok")

    entry = '{"m": {"protocol": "chat", "url": "http://model/v1/", "model": "m", "max_tokens": 8192}}'
    chat = chat_model(read(entry), "m")
    dataclasses.replace(chat, transport=model(answer).transport).ask(HELLO, most_tokens=512)
    assert asked == [8192]


def test_no_reply_takes_long_to_read() -> None:
    for piece in ("<think>", "</think>", "{", "[", '{"answers": [', '"answers"', "<|channel|>final", "[[]"):
        reply = (piece * 20_000)[:20_000]
        began = time.process_time()
        read_answers(reply)
        assert time.process_time() - began < 5


# -- configuration ----------------------------------------------------------------------------------


def test_models_are_named_by_the_environment() -> None:
    found = read('{"m": {"protocol": "chat", "url": "http://h/v1", "model": "qwen"}}')
    assert chat_model(found, "m").model == "qwen"
    assert read("") == {}
    with pytest.raises(LookupError, match="Available: m"):
        chat_model(found, "n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"m": {"protocol": "chat", "url": "http://h", "model": "x", "max_tokens": 0}}', "above 0"),
        ("{", "not valid JSON"),
        ("[]", "must be an object"),
        ('{"m": 1}', "'m' must be an object"),
        ('{"m": {"protocol": "chat", "url": "http://h", "model": "x", "port": 1}}', "no setting port"),
        ('{"m": {"protocol": "smtp", "url": "http://h", "model": "x"}}', "protocol of 'm'"),
        ('{"m": {"protocol": "chat", "url": "http://h"}}', "needs model"),
        ('{"m": {"protocol": "chat", "url": "file:///etc", "model": "x"}}', "must begin with http"),
    ],
)
def test_what_is_wrong_with_the_environment_is_named(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        read(text)


# -- an endpoint that takes the question and never answers ------------------------------------------


@pytest.fixture
def hung() -> Iterator[tuple[str, list[float]]]:
    """The address of a real socket that takes connections and says nothing, and when each came."""
    with hung_socket() as found:
        yield found


def test_an_endpoint_that_hangs_costs_its_time_once_and_not_four_times(
    hung: tuple[str, list[float]],
) -> None:
    url, connected = hung
    with pytest.raises(ChatError, match=r"did not answer in 0\.3 seconds") as raised:
        ChatModel(url=f"{url}/v1", model="m", timeout=0.3).ask(HELLO)
    assert raised.value.kind == "away"
    assert len(connected) == 1


def test_an_endpoint_that_trickles_is_given_no_more_time_than_agreed() -> None:
    with scripted(lambda request: None) as server:  # type: ignore[arg-type, return-value]
        server.mood = "dribbling"
        server.predict = lambda handler: _dribble(server, handler)  # type: ignore[method-assign]
        with pytest.raises(ChatError, match="did not answer in"):
            ChatModel(url=f"http://127.0.0.1:{server.port}/v1", model="m", timeout=0.4).ask(HELLO)


def _dribble(server: ScriptedServer, handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    while not server.stop.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def test_an_answer_of_many_megabytes_is_not_read_to_its_end() -> None:
    with pytest.raises(ChatError, match="more than 4,000,000 bytes"):
        model(lambda body: httpx.Response(200, content=b" " * 5_000_000)).ask(HELLO)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(400, text="too many tokens"), "refused"),
        (httpx.Response(401), "away"),
        (httpx.Response(404), "away"),
        (httpx.Response(503), "away"),
        (httpx.Response(200, json={"choices": [{"message": {"content": None}}]}), "unreadable"),
    ],
)
def test_an_error_says_whether_asking_again_may_help(answer: httpx.Response, kind: str) -> None:
    with pytest.raises(ChatError) as raised:
        model(lambda body: answer).ask(HELLO)
    assert raised.value.kind == kind
