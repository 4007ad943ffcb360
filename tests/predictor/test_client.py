"""Asking a model in another process: what comes back is checked, what does not come back keeps nobody waiting."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator

import pytest

from predictor import client
from predictor.client import THREADS, Breaker, Model, PredictionError
from predictor.configuration import ConfigurationError, is_live, read
from predictor.protocol import Prediction, PredictRequest
from tableqa import Table
from tests.predictor.scripted import SHA, ScriptedServer, answer, scripted
from tests.waiting import wait_until

REQUEST = PredictRequest(
    "when did Heat come out?", Table(["Film", "Year"], [["Heat", "1995"]]), slot="s", seq=3
)


PATIENT = 60.0
"""Seconds for what is answered: the machine that runs this may be busy."""


@pytest.fixture(autouse=True)
def patient_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CONNECT", PATIENT)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answer("1995", cells=((0, 1),))) as script:
        yield script


@pytest.fixture
def model(server: ScriptedServer) -> Iterator[Model]:
    found = Model(server.entry["url"], "small", breaker=Breaker(first=0.2))
    yield found
    found.close()


def refused(model: Model, within: float = PATIENT, request: PredictRequest = REQUEST) -> PredictionError:
    with pytest.raises(PredictionError) as raised:
        model.predict(request, within=within)
    return raised.value


def test_half_a_surrogate_pair_of_a_model_is_no_error() -> None:
    said = {**answer("smile \ud83d")(REQUEST).to_dict(), "text": "\0", "model": f"small@{SHA}"}
    prediction = Prediction.from_dict(client._json(json.dumps(said).encode()))
    assert (prediction.answers, prediction.text) == (("smile \ufffd",), "\ufffd")
    error = json.dumps({"error": {"code": "unreadable", "message": "no \ude00"}}).encode()
    assert client._error(error) == ("unreadable", "no \ufffd")


def comes_back(model: Model) -> Prediction | None:
    """Its answer, None as long as it is left alone."""
    try:
        return model.predict(REQUEST, within=PATIENT)
    except PredictionError:
        return None


def test_an_answer_comes_back_checked_and_whole(server: ScriptedServer, model: Model) -> None:
    prediction = model.predict(REQUEST, within=PATIENT)
    assert (prediction.answers, prediction.cells, prediction.model) == (("1995",), ((0, 1),), f"small@{SHA}")
    assert model.identity() == f"small@{SHA}"
    assert server.asked[0]["model"] == "small"
    assert 0 < server.asked[0]["deadline_ms"] <= 1000 * PATIENT


@pytest.mark.parametrize(
    ("mood", "kind"),
    [
        ("hung", "late"),
        ("dribbling", "late"),
        ("huge", "wrong"),
        ("not_json", "wrong"),
        ("other_schema", "wrong"),
        ("other_table", "wrong"),
        ("busy", "busy"),
        ("failing", "gone"),
        ("too_large", "too_large"),
    ],
)
def test_every_way_to_fail_is_a_sentence_in_time(
    server: ScriptedServer, model: Model, mood: str, kind: str
) -> None:
    server.mood = mood
    began = time.monotonic()
    unanswered = refused(model, 0.4 if kind == "late" else PATIENT)
    assert time.monotonic() - began < 15, "nobody waits for the 20 seconds that it hangs"
    assert unanswered.kind == kind
    assert "<" not in str(unanswered)


def test_a_server_that_is_not_there_is_known_at_once(server: ScriptedServer, model: Model) -> None:
    server.kill()
    assert refused(model).kind == "gone"


def test_what_no_model_takes_is_not_sent(server: ScriptedServer, model: Model) -> None:
    table = Table(["n"], [[str(number)] for number in range(5_000)])
    unanswered = refused(model, request=PredictRequest("how many?", table))
    assert unanswered.kind == "too_large"
    assert "5,000 rows" in str(unanswered)
    assert server.asked == []


def test_a_server_that_hangs_is_left_alone_and_comes_back_by_itself(
    server: ScriptedServer, model: Model
) -> None:
    server.mood = "failing"
    for _ in range(3):
        refused(model)
    asked = len(server.asked)
    assert refused(model).kind == "gone"
    assert len(server.asked) == asked, "it is not even asked"
    server.mood = "well"
    assert wait_until(lambda: comes_back(model)).answers == ("1995",)


def test_slow_calls_open_the_breaker_as_failed_ones_do() -> None:
    now = [0.0]
    breaker = Breaker(first=1.0, clock=lambda: now[0])
    for good in (True, False, False, False):
        assert breaker.lets_through()
        breaker.report(good)
    assert not breaker.lets_through()
    now[0] = 1.1
    assert breaker.lets_through()
    assert not breaker.lets_through(), "one call tries, the others wait for what it says"
    breaker.report(False)
    now[0] = 2.2
    assert not breaker.lets_through(), "the second pause is longer"
    now[0] = 3.2
    assert breaker.lets_through()
    breaker.report(True)
    assert breaker.lets_through()


def test_a_flapping_server_is_asked_less_and_less() -> None:
    now = [0.0]
    breaker = Breaker(first=1.0, longest=4.0, clock=lambda: now[0])
    asked = 0
    for step in range(600):
        now[0] = step / 10
        if breaker.lets_through():
            asked += 1
            breaker.report(asked % 3 == 0)
    assert asked < 200


def test_beyond_the_cap_of_a_model_a_request_is_refused_at_once(server: ScriptedServer) -> None:
    small = Model(server.entry["url"], "small", in_flight=2)

    async def asking() -> list[str]:
        async def ask() -> str:
            try:
                await small.ask(REQUEST, within=0.5)
            except PredictionError as unanswered:
                return unanswered.kind
            return "answered"

        waiting = [asyncio.ensure_future(ask()) for _ in range(3)]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        assert [one.result() for one in done] == ["busy"], "two wait, the third does not"
        return await asyncio.gather(*waiting)

    server.mood = "hung"
    assert sorted(asyncio.run(asking())) == ["busy", "late", "late"]
    small.close()


def test_threads_that_ask_first_at_the_same_time_share_one_event_loop(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_loops", {})
    both, new_loop = threading.Barrier(2, timeout=PATIENT), asyncio.new_event_loop

    def new_loop_of_both() -> asyncio.AbstractEventLoop:
        both.wait()
        return new_loop()

    monkeypatch.setattr(asyncio, "new_event_loop", new_loop_of_both)
    loops: list[asyncio.AbstractEventLoop] = []
    threads = [threading.Thread(target=lambda: loops.append(client._background(0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENT)
    assert len(loops) == 2
    assert loops[0] is loops[1]
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loops[0]).result(PATIENT)  # it runs
    loops[0].call_soon_threadsafe(loops[0].stop)


def test_threads_of_pages_are_few_and_the_next_is_refused_at_once(
    server: ScriptedServer, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LIVE", PATIENT)  # pages of a slow machine
    held = threading.Event()

    def slowly(request: PredictRequest) -> Prediction:
        held.wait(PATIENT)
        return answer("1995")(request)

    server.says = slowly
    answers: list[Prediction] = []

    def ask() -> None:
        answers.append(model.predict(REQUEST, within=PATIENT))

    threads = [threading.Thread(target=ask) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(server.asked) == THREADS, "all of them wait")
    assert refused(model).kind == "busy"
    held.set()
    for thread in threads:
        thread.join()
    assert len(answers) == THREADS


def test_a_job_waits_for_a_thread_and_takes_none_from_pages(
    server: ScriptedServer, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_job_threads", threading.BoundedSemaphore(1))
    monkeypatch.setattr(client, "LIVE", PATIENT - 1)  # pages of a slow machine
    held = threading.Event()

    def slowly(request: PredictRequest) -> Prediction:
        if len(server.asked) == 1:
            held.wait(PATIENT)
        return answer("1995")(request)

    server.says = slowly
    answers: list[Prediction] = []
    jobs = [
        threading.Thread(target=lambda: answers.append(model.predict(REQUEST, within=PATIENT)))
        for _ in range(3)
    ]
    for job in jobs:
        job.start()
    wait_until(lambda: len(server.asked) == 1, "one job is at it")
    assert model.predict(REQUEST, within=PATIENT - 1).answers == ("1995",)
    held.set()
    for job in jobs:
        job.join()
    assert len(answers) == 3


def test_many_wait_at_one_time_where_nobody_blocks(server: ScriptedServer) -> None:
    small = Model(server.entry["url"], "small")

    async def asking() -> list[Prediction]:
        return await asyncio.gather(*(small.ask(REQUEST, within=PATIENT) for _ in range(40)))

    server.mood = "slow"
    assert len(asyncio.run(asking())) == 40
    small.close()


def test_whoever_hangs_up_frees_the_place_and_says_nothing_of_the_server(server: ScriptedServer) -> None:
    small = Model(server.entry["url"], "small", in_flight=1)

    async def hanging_up() -> None:
        for _ in range(8):
            asked = len(server.asked) + 1
            asking = asyncio.ensure_future(small.ask(REQUEST, within=PATIENT))
            await asyncio.to_thread(wait_until, lambda asked=asked: len(server.asked) == asked)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        server.mood = "well"
        assert (await small.ask(REQUEST, within=PATIENT)).answers == ("1995",)

    server.mood = "hung"
    asyncio.run(hanging_up())
    small.close()


@pytest.mark.parametrize("mood", ["crashing", "cut"])
def test_a_replica_that_was_killed_is_asked_once_more(
    server: ScriptedServer, model: Model, mood: str
) -> None:
    server.moods = [mood]
    assert model.predict(REQUEST, within=PATIENT).answers == ("1995",)
    assert len(server.asked) == 2
    server.moods = [mood, mood]
    unanswered = refused(model)
    assert unanswered.kind == "gone"
    assert "Internal Server Error" not in str(unanswered)
    assert len(server.asked) == 4, "once more, and not again"


def test_the_protocol_of_a_model_is_ours_unless_it_says_chat() -> None:
    found = read(
        '{"tapex": {"url": "http://h:1", "model": "tapex", "deadline_ms": 2000}, "b": {"url": "http://h", "model": "b"}}'
    )
    assert found["tapex"]["protocol"] == "predict"
    assert not is_live(found["tapex"])
    assert is_live(found["b"])
    chat = read('{"m": {"protocol": "chat", "url": "http://h/v1", "model": "qwen"}}')
    assert not is_live(chat["m"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"m": {"url": "http://h", "model": "m", "key": "k"}}', "no setting key"),
        ('{"m": {"url": "http://h", "model": "m", "deadline_ms": 0}}', "deadline_ms of 'm'"),
        ('{"m": {"url": "http://h", "model": "m", "deadline_ms": true}}', "deadline_ms of 'm'"),
        ('{"m": {"url": "http://h", "model": "m", "in_flight": 0}}', "in_flight of 'm'"),
        ('{"m": {"url": "http://h", "model": "m", "in_flight": "many"}}', "in_flight of 'm'"),
        ('{"m": {"url": "http://h", "model": "m", "licence": 4}}', "licence of 'm'"),
        ('{"m": {"protocol": "telepathy", "url": "http://h", "model": "m"}}', "predict or chat"),
    ],
)
def test_what_is_wrong_with_an_entry_is_named(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        read(text)


def test_the_client_and_the_real_server_understand_each_other() -> None:
    pytest.importorskip("uvicorn")
    from tests.predictor.echo import Echo
    from tests.predictor.test_server import serving

    echo = Echo()
    with serving(echo) as client:
        model = Model(str(client.base_url), "echo")
        try:
            assert model.identity() == "echo@0123456789ab"
            assert model.predict(REQUEST, within=PATIENT).model == "echo@0123456789ab"
            unanswered = refused(model, PATIENT, PredictRequest("endless?", REQUEST.table))
            assert (unanswered.kind, str(unanswered)) == ("too_large", "This table is endless.")
            echo.gate.clear()
            assert refused(model, 0.3, PredictRequest("is anybody there?", REQUEST.table)).kind == "late"
        finally:
            echo.gate.set()
            model.close()


def test_a_question_on_its_way_when_the_server_stops_is_told_so(server: ScriptedServer) -> None:
    model = Model(server.entry["url"], "small")
    model.close()
    for _ in range(3):  # and nothing is used up by it
        assert refused(model).kind == "gone"


def test_a_server_that_asked_for_a_pause_is_busy_and_not_gone(server: ScriptedServer, model: Model) -> None:
    server.mood = "busy"
    assert refused(model).kind == "busy"
    server.mood = "well"
    assert refused(model).kind == "busy"
    assert len(server.asked) == 1, "it is left alone as long as it asked for"
