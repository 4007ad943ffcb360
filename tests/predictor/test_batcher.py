"""What is computed, with what, and what is not: superseding, merging, bounds, deadlines, and stopping."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.batcher import Batcher, Settings, fits, plan, predict_all
from predictor.protocol import Prediction, PredictRequest, ProtocolError
from tableqa import Table
from tests.predictor.echo import Echo
from tests.waiting import until

Result = TypeVar("Result")
TABLE = Table(header=["City"], rows=[["Oslo"]])


def asked(question: str, slot: str = "", seq: int = 0, deadline_ms: int = 5_000) -> PredictRequest:
    return PredictRequest(question=question, table=TABLE, slot=slot, seq=seq, deadline_ms=deadline_ms)


def run(
    model: Echo, scene: Callable[[Batcher], Awaitable[Result]], settings: Settings | None = None
) -> Result:
    async def play() -> Result:
        batcher = Batcher(model, settings)
        try:
            return await scene(batcher)
        finally:
            model.gate.set()
            await batcher.close()

    return asyncio.run(play())


async def outcome(batcher: Batcher, request: PredictRequest) -> str:
    try:
        return (await batcher.submit(request)).text
    except ProtocolError as error:
        return error.code


def test_a_newer_request_of_a_slot_supersedes_the_one_that_waits_and_the_one_that_runs() -> None:
    model = Echo()

    async def scene(batcher: Batcher) -> list[str]:
        model.gate.clear()
        typed = []
        for seq, question in enumerate(("w", "wh", "who")):
            typed.append(asyncio.create_task(outcome(batcher, asked(question, "s", seq))))
            await until(lambda: bool(model.batches))  # the first is being computed, the others wait
        await until(lambda: batcher.counts["requests"] == 3)
        assert batcher.waiting == 1
        model.gate.set()
        return list(await asyncio.gather(*typed))

    assert run(model, scene) == ["superseded", "superseded", "who"]
    assert model.batches == [["w"], ["who"]]


def test_an_older_request_that_arrives_late_does_not_supersede_the_newer_one() -> None:
    model = Echo()

    async def scene(batcher: Batcher) -> list[str]:
        model.gate.clear()
        newer = asyncio.create_task(outcome(batcher, asked("who", "s", 2)))
        await asyncio.sleep(0)
        older = await outcome(batcher, asked("wh", "s", 1))
        model.gate.set()
        return [older, await newer]

    assert run(model, scene) == ["superseded", "who"]


def test_a_page_that_was_loaded_anew_counts_from_the_beginning_again() -> None:
    async def scene(batcher: Batcher) -> list[str]:
        return [
            await outcome(batcher, asked("before", "s", 40)),
            await outcome(batcher, asked("after", "s", 1)),
        ]

    assert run(Echo(), scene) == ["before", "after"]


def test_the_queue_is_counted_without_what_was_superseded() -> None:
    model = Echo()

    async def scene(batcher: Batcher) -> list[str]:
        model.gate.clear()
        first = asyncio.create_task(outcome(batcher, asked("first")))
        await until(lambda: bool(model.batches))
        typed = [asyncio.create_task(outcome(batcher, asked("x" * n, "s", n))) for n in range(1, 10)]
        await until(lambda: batcher.counts["requests"] == 10)
        assert batcher.waiting == 1
        model.gate.set()
        return list(await asyncio.gather(first, *typed))

    answers = run(model, scene, Settings(most_waiting=2))
    assert answers == ["first", *["superseded"] * 8, "x" * 9]


def test_equal_requests_are_computed_once_and_remembered() -> None:
    model = Echo()

    async def scene(batcher: Batcher) -> tuple[list[Prediction], Prediction, Prediction]:
        model.gate.clear()
        same = [asyncio.create_task(batcher.submit(asked("same", f"s{n}", n))) for n in range(20)]
        await until(lambda: batcher.counts["requests"] == 20)
        model.gate.set()
        together = list(await asyncio.gather(*same))
        return together, await batcher.submit(asked("same")), await batcher.submit(asked("same"), fresh=True)

    together, again, fresh = run(model, scene)
    assert [answer.seq for answer in together] == list(range(20))
    assert {(answer.text, answer.cached) for answer in together} == {("same", False)}
    assert (again.cached, fresh.cached) == (True, False)
    assert again.model == "echo@0123456789ab"
    assert model.batches == [["same"], ["same"]]


def test_a_full_queue_says_busy_and_when_to_come_back() -> None:
    model = Echo()

    async def scene(batcher: Batcher) -> ProtocolError:
        model.gate.clear()
        waiting = [asyncio.create_task(outcome(batcher, asked(f"q{n}"))) for n in range(1)]
        await until(lambda: bool(model.batches))
        waiting += [asyncio.create_task(outcome(batcher, asked(f"w{n}"))) for n in range(3)]
        await until(lambda: batcher.waiting == 3)
        with pytest.raises(ProtocolError) as caught:
            await batcher.submit(asked("one more"))
        model.gate.set()
        await asyncio.gather(*waiting)
        return caught.value

    error = run(model, scene, Settings(most_waiting=3))
    assert (error.status, error.code) == (503, "busy")
    assert error.retry_after is not None
    assert 1 <= error.retry_after <= 30


def test_what_nobody_waits_for_is_never_computed() -> None:
    model = Echo()

    async def scene(batcher: Batcher) -> int:
        model.gate.clear()
        first = asyncio.create_task(outcome(batcher, asked("first")))
        await until(lambda: bool(model.batches))
        gone = [asyncio.create_task(outcome(batcher, asked(f"gone {n}"))) for n in range(36)]
        await until(lambda: batcher.waiting == 36)
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        model.gate.set()
        await first
        await outcome(batcher, asked("last"))
        return batcher.counts["dropped"]

    assert run(model, scene) == 36
    assert model.batches == [["first"], ["last"]]


def test_a_generation_that_nobody_waits_for_stops_at_its_next_step() -> None:
    model = Echo(seconds=0.01, steps=200)

    async def scene(batcher: Batcher) -> str:
        typing = asyncio.create_task(outcome(batcher, asked("long", "s", 1)))
        await until(lambda: model.steps_taken > 2)
        typing.cancel()
        await asyncio.gather(typing, return_exceptions=True)
        await until(lambda: batcher.counts["stopped"] == 1)
        taken = model.steps_taken
        model.steps = 1
        assert taken < 100
        return await outcome(batcher, asked("long"))  # what was cut short is not taken for an answer

    assert run(model, scene) == "long"


def test_a_deadline_ends_the_waiting_and_the_computation() -> None:
    model = Echo(seconds=0.01, steps=500)

    async def scene(batcher: Batcher) -> str:
        late = await outcome(batcher, asked("slow", deadline_ms=50))
        await until(lambda: batcher.counts["stopped"] == 1)
        return late

    assert run(model, scene) == "too_late"
    assert model.steps_taken < 200


def test_a_slot_that_asks_more_often_than_anybody_types_is_told_so() -> None:
    async def scene(batcher: Batcher) -> list[str]:
        return [await outcome(batcher, asked("q", "s", n)) for n in range(12)]

    assert run(Echo(), scene, Settings(per_second=10)) == ["q"] * 10 + ["too_fast"] * 2


def test_a_request_that_kills_its_batch_fails_alone() -> None:
    model = Echo()

    async def scene(batcher: Batcher) -> list[str]:
        questions = ("good", "fine", "poison", "nice")
        return list(await asyncio.gather(*(outcome(batcher, asked(one)) for one in questions)))

    assert run(model, scene) == ["good", "fine", "cannot_answer", "nice"]


def test_a_request_that_the_model_cannot_take_is_refused_and_the_others_are_not() -> None:
    async def scene(batcher: Batcher) -> list[str]:
        return list(await asyncio.gather(*(outcome(batcher, asked(one)) for one in ("endless", "short"))))

    assert run(Echo(), scene) == ["too_large", "short"]


def test_closing_answers_everybody() -> None:
    model = Echo(seconds=0.01, steps=300)

    async def scene(batcher: Batcher) -> list[str]:
        waiting = [asyncio.create_task(outcome(batcher, asked(f"q{n}"))) for n in range(5)]
        await until(lambda: bool(model.batches))
        await batcher.close()
        return [*await asyncio.gather(*waiting), await outcome(batcher, asked("after"))]

    assert run(model, scene) == ["not_ready"] * 6


def test_typists_get_the_answer_to_their_last_key_and_hardly_anything_else_is_computed() -> None:
    model = Echo(seconds=0.02, budget=4_000)

    async def scene(batcher: Batcher) -> list[list[str]]:
        async def typist(number: int) -> list[str]:
            tasks = []
            for key in range(12):
                question = f"typist {number} " + "x" * key
                tasks.append(asyncio.create_task(outcome(batcher, asked(question, f"s{number}", key))))
                await asyncio.sleep(0)  # the others type, too
            return list(await asyncio.gather(*tasks))

        return list(await asyncio.gather(*(typist(number) for number in range(8))))

    for number, answers in enumerate(run(model, scene)):
        assert answers[-1] == f"typist {number} " + "x" * 11
    assert sum(map(len, model.batches)) < 60


@given(st.lists(st.integers(1, 400), max_size=60), st.integers(1, 500), st.integers(1, 9))
def test_every_request_is_in_one_batch_and_no_batch_is_over_the_budget(
    lengths: list[int], budget: int, most: int
) -> None:
    settings = Settings(most_batch=most)
    batches = plan(lengths, budget, settings)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        sizes = [lengths[place] for place in batch]
        assert len(batch) == 1 or max(sizes) * len(batch) <= budget
        assert len(batch) <= most
        assert max(sizes) <= settings.spread * min(sizes)


def test_one_request_may_be_a_batch_whatever_its_length() -> None:
    assert fits([], 10**9, 1, Settings())


@given(
    st.lists(st.sampled_from(["a", "bb", "endless", "cccc", "poison", "dddddd"]), max_size=12),
    st.integers(1, 20),
)
def test_batching_never_changes_an_answer(questions: list[str], budget: int) -> None:
    model = Echo(budget=budget)
    alone = [predict_all(model, [asked(one)])[0] for one in questions]
    together = predict_all(model, [asked(one) for one in questions])
    assert [_said(one) for one in together] == [_said(one) for one in alone]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["q", "what", "who is it"]), st.integers(0, 4)),
        max_size=25,
    ),
    st.integers(1, 30),
    st.randoms(use_true_random=False),
)
def test_whoever_gets_an_answer_gets_their_own(
    arrivals: list[tuple[str, str, int]], budget: int, rng: random.Random
) -> None:
    async def scene(batcher: Batcher) -> None:
        tasks = []
        for slot, question, seq in arrivals:
            tasks.append((question, asyncio.create_task(outcome(batcher, asked(question, slot, seq)))))
            if rng.random() < 0.3:
                await asyncio.sleep(0)
        for question, task in tasks:
            assert await task in (question, "superseded")

    run(Echo(budget=budget), scene, Settings(per_second=1_000))


def _said(answer: Prediction | ProtocolError) -> object:
    return answer.code if isinstance(answer, ProtocolError) else answer
