"""The meter of language models: every request counted with its price, budgets that hold, and jobs that stop."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
import threading
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.assistance import (
    draft_checks,
    model_queries,
    prediction_jobs,
    proposal_requests,
    proposal_trials,
    proposals,
    request_estimates,
)
from annotation.models import Batch, Job, ModelRequest, ModelTotal, Project, Proposal, Reply, Trial
from annotation.platform.refusals import ActionRefused
from annotation.queue import metering, reply_states
from annotation.queue.parallel_requests import Crew
from predictor import listing
from predictor.chat import ChatError, ChatModel, chat_model
from predictor.configuration import STOP_AFTER
from predictor.usage import PER_PRICE, Call
from tests.annotation.cast import NOON, World, envelope, make_world
from tests.predictor.endpoints import Endpoint, endpoint

PRICE = [1.0, 2.0]
HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def llm(settings: Any) -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        settings.PREDICTORS = {"llm": server.entry(price=PRICE)}
        yield server


@pytest.fixture
def world(db: None, tmp_path: Path, settings: Any) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_world(tmp_path)


@pytest.fixture
def batch(world: World, llm: Endpoint) -> Batch:
    return world.batch(
        "question_paraphrase",
        variant="sentence",
        help="offered",
        help_from={"rules": False, "models": ["llm"], "repetitions": 3},
    )


def metered(name: str, **counted: Any) -> ChatModel:
    model = chat_model(django_settings.PREDICTORS, name)
    return dataclasses.replace(model, meter=metering.meter_of(name, **counted))


def ask(batch: Batch, **settings: Any) -> str:
    model = metered("llm", project=batch.project_id, batch=batch.pk, purpose="loop")
    (reply,) = dataclasses.replace(model, **settings).ask(HELLO)
    return reply


# -- counting ---------------------------------------------------------------------------------------


def test_every_request_is_counted_with_the_price_of_its_day(batch: Batch, llm: Endpoint) -> None:
    ask(batch)
    llm.mood = "no_usage"
    ask(batch)
    first, second = ModelRequest.objects.order_by("pk")
    assert (first.state, first.prompt_tokens, first.completion_tokens, first.is_counted) == (
        "answered",
        1,
        2,
        True,
    )
    assert (first.prompt_price, first.completion_price) == (Decimal(1), Decimal(2))
    assert (second.is_counted, second.prompt_tokens > 0) == (False, True)
    spent = metering.usage(ModelRequest.objects.all())
    assert (spent.requests, spent.counted) == (2, 1)
    assert spent.usd == (spent.prompt_tokens + 2 * spent.completion_tokens) / Decimal(1_000_000)


def test_retries_and_failures_are_rows_of_their_own(batch: Batch, llm: Endpoint) -> None:
    llm.mood = "limited"
    with pytest.raises(ChatError):
        ask(batch, wait=lambda seconds: None)
    assert list(ModelRequest.objects.values_list("state", "prompt_tokens")) == [("away", 0)] * 4


@pytest.mark.parametrize(
    ("mood", "state"),
    [
        ("cut_off", "cut_off"),
        ("filtered", "filtered"),
        ("declines", "declined"),
        ("silent", "unreadable"),
        ("filtered_prompt", "filtered"),
    ],
)
def test_a_reply_keeps_its_state(batch: Batch, llm: Endpoint, mood: str, state: str) -> None:
    llm.mood = mood
    with pytest.raises(ChatError):
        ask(batch)
    (request,) = ModelRequest.objects.all()
    assert request.state == state
    (row,) = metering.table(ModelRequest.objects.all()).rows
    assert row["states"] == [0, 1]


def test_a_settled_request_stays_as_it_is(batch: Batch) -> None:
    ask(batch)
    (request,) = ModelRequest.objects.all()
    assert ModelRequest.objects.filter(pk=request.pk).settle(state="away") == 0
    with pytest.raises(TypeError):
        ModelRequest.objects.update(prompt_tokens=0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"purpose": "fun"},
        {"state": "lost"},
        {"state": "open", "is_counted": True},
        {"prompt_price": -1},
        {"batch": None},
        {"purpose": "evaluation"},
    ],
)
def test_the_database_refuses_impossible_requests(batch: Batch, wrong: dict[str, Any]) -> None:
    values = {
        "purpose": "loop",
        "state": "answered",
        "batch": batch,
        "prompt_tokens": 1,
        "completion_tokens": 1,
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelRequest.objects.create(project=batch.project, predictor="llm", model="m", **values | wrong)


# -- budgets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [Batch, Project])
@pytest.mark.parametrize("budget", [{"tokens": 1_100}, {"usd": 0.0022}])
def test_a_budget_is_never_exceeded(
    batch: Batch, llm: Endpoint, where: type[Batch | Project], budget: dict[str, Any]
) -> None:
    llm.think = 500  # of at most 512 tokens for a reply
    key = batch.pk if where is Batch else batch.project_id
    where.objects.filter(pk=key).update(model_budget=budget)
    ask(batch)
    ask(batch)
    with pytest.raises(ChatError, match="budget") as raised:
        ask(batch)
    assert (raised.value.kind, raised.value.is_about_example) == ("budget", False)
    assert len(llm.requests) == 2, "a request that could exceed the budget is not sent"
    assert ModelRequest.objects.count() == 2
    where.objects.filter(pk=key).update(model_budget={name: 10 * limit for name, limit in budget.items()})
    ask(batch)


def test_a_budget_is_compared_with_running_totals_that_are_the_sum_of_all_requests(
    world: World, batch: Batch
) -> None:
    other = world.batch("question_paraphrase", variant="sentence")
    draws = random.Random(35)
    for where, purpose in ((batch.pk, "loop"), (other.pk, "loop"), (None, "questions")):
        model = metered("llm", project=batch.project_id, batch=where, purpose=purpose)
        assert isinstance(model.meter, metering.ProjectMeter)
        for _ in range(6):
            reserved = model.meter.reserve(draws.randrange(900), draws.randrange(900))
            calls = [
                Call("answered", draws.randrange(900), draws.randrange(900), is_counted=True)
                for _ in range(draws.randrange(3))
            ]
            model.meter.settle_all(reserved if draws.random() < 0.8 else None, calls)
        spent = metering.usage(ModelRequest.objects.filter(batch=where))
        total = ModelTotal.objects.get(batch=where)
        assert (total.tokens, total.micro_usd) == (spent.tokens, spent.usd * PER_PRICE)


def test_totals_of_a_database_from_before_are_the_sums_of_its_requests(batch: Batch) -> None:
    for where, purpose in ((batch.pk, "loop"), (None, "questions")):
        model = metered("llm", project=batch.project_id, batch=where, purpose=purpose)
        assert model.meter is not None
        for _ in range(2):
            model.meter.reserve(5, 600)
    columns = ("project", "batch", "tokens", "micro_usd")
    before = sorted(ModelTotal.objects.values_list(*columns), key=str)
    ModelTotal.objects.all().delete()

    import_module("annotation.migrations.0047_model_totals").fill(apps, None)

    assert sorted(ModelTotal.objects.values_list(*columns), key=str) == before


def test_a_reservation_asks_as_much_after_many_requests_as_after_none(batch: Batch) -> None:
    Project.objects.filter(pk=batch.project_id).update(model_budget={"tokens": 10**9})
    Batch.objects.filter(pk=batch.pk).update(model_budget={"tokens": 10**9})
    model = metered("llm", project=batch.project_id, batch=batch.pk, purpose="loop")
    assert model.meter is not None
    model.meter.reserve(5, 600)
    with CaptureQueriesContext(connection) as queries:
        reserved = model.meter.reserve(5, 600)
        model.meter.settle(reserved, Call("answered", 5, 6, is_counted=True))
    reads = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    assert sum("annotation_modeltotal" in sql for sql in reads) == 1
    of_requests = [sql for sql in reads if "annotation_modelrequest" in sql]
    assert len(of_requests) == 1, "settling reads its own"
    assert f'"annotation_modelrequest"."id" = {reserved}' in of_requests[0]


def test_a_reservation_that_was_never_settled_counts(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(model_budget={"tokens": 1_000})
    model = metered("llm", project=batch.project_id, batch=batch.pk, purpose="loop")
    assert model.meter is not None
    model.meter.reserve(5, 600)
    with pytest.raises(ChatError, match="605"):
        ask(batch)


def test_a_job_stops_at_the_budget_and_goes_on_after_it_was_raised(batch: Batch, llm: Endpoint) -> None:
    Batch.objects.filter(pk=batch.pk).update(model_budget={"tokens": 1})
    batch.refresh_from_db()
    with pytest.raises(ActionRefused, match="budget of this batch"):
        proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert (Reply.objects.count(), llm.requests) == (0, [])
    Batch.objects.filter(pk=batch.pk).update(model_budget={})
    llm.reply = lambda body: '{"why": "none fits", "applies": false}'
    assert proposals.make_proposals(batch=batch, now=lambda: NOON)["replies"] == Reply.objects.count() > 0


def test_a_budget_in_usd_refuses_a_model_without_a_price(batch: Batch, llm: Endpoint, settings: Any) -> None:
    settings.PREDICTORS = {"llm": llm.entry()}
    Batch.objects.filter(pk=batch.pk).update(model_budget={"usd": 5})
    with pytest.raises(ChatError, match="has no price") as raised:
        ask(batch)
    assert (raised.value.kind, llm.requests) == ("budget", [])
    settings.PREDICTORS = {"llm": llm.entry(price=[0, 0])}
    ask(batch)


@pytest.mark.parametrize(
    ("budget", "flavour", "words"),
    [({"tokens": 10}, "vllm", "is used up"), ({}, "openai_reasoning", "rejects max_tokens")],
)
def test_a_batch_says_why_its_model_is_not_asked_any_more(
    world: World, client: Client, settings: Any, budget: dict[str, int], flavour: str, words: str
) -> None:
    with endpoint(Endpoint(flavour)) as server:
        settings.PREDICTORS = {"loop": server.entry(price=PRICE)}
        batch = world.batch("question_paraphrase", variant="sentence", loop_model="loop")
        Batch.objects.filter(pk=batch.pk).update(model_budget=budget)
        assignment = world.take(batch, "ada")
        assert assignment is not None
        response = envelope(assignment, {"question": "what year, then?"})
        draft_checks.check_draft(assignment=assignment, response=response, kind="try", seq=1, now=NOON)
        (job,) = Job.objects.filter(kind="predictions")
        result = prediction_jobs._run(job, lambda done, total: None)
    Job.objects.filter(pk=job.pk).update(state="done", result=result)
    assert words in result["refused"]["loop"]
    client.force_login(world.mara)
    page = client.get(f"/batches/{batch.public_id}/").content.decode()
    assert "loop was not asked any more: " in page
    assert words in page


# -- stopping ---------------------------------------------------------------------------------------


def test_proposals_stop_after_repeated_unusable_replies(batch: Batch, llm: Endpoint) -> None:
    llm.reply = lambda body: "I would rather not."
    with pytest.raises(ActionRefused, match="unusable replies in a row"):
        proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert STOP_AFTER <= len(llm.requests) < STOP_AFTER + 4 * 4
    assert Reply.objects.filter(outcome="invalid").count() == len(llm.requests)
    assert ModelRequest.objects.filter(purpose="proposals", state="answered").count() == len(llm.requests)


def test_a_reply_names_its_request(batch: Batch, llm: Endpoint) -> None:
    llm.mood = "declines"
    with pytest.raises(ActionRefused):
        proposals.make_proposals(batch=batch, now=lambda: NOON)
    states = set(Reply.objects.values_list("outcome", "request__state"))
    assert states == {("declined", "declined")}


# -- parallel requests ------------------------------------------------------------------------------


def test_proposals_are_requested_in_parallel_up_to_the_cap(
    batch: Batch, llm: Endpoint, settings: Any
) -> None:
    settings.PREDICTORS = {"llm": llm.entry(parallel=3)}
    llm.gathers = 3
    llm.reply = lambda body: '{"why": "none fits", "applies": false}'
    proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert llm.most_at_once == 3
    assert len(llm.requests) == Reply.objects.count() == ModelRequest.objects.count()


def test_requests_about_several_items_are_parallel_where_an_item_has_one(
    world: World, llm: Endpoint, settings: Any
) -> None:
    settings.PREDICTORS = {"llm": llm.entry(parallel=3)}
    wants = {"rules": False, "models": ["llm"], "repetitions": 1}
    batch = world.batch("header_synonym", help="offered", help_from=wants)
    llm.gathers = 3
    llm.reply = lambda body: '{"why": "none fits", "applies": false}'
    proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert (llm.most_at_once, len(llm.requests)) == (3, batch.items_count)


def a_searching_batch(world: World) -> Batch:
    wants = {"rules": False, "models": ["llm"], "repetitions": 3, "search": True}
    return world.batch(
        "question_paraphrase", variant="sentence", loop_model="loop", help="offered", help_from=wants
    )


def keys_of(batch: Batch) -> list[int]:
    return list(batch.items.order_by("position").values_list("pk", flat=True))


def wording(body: dict[str, Any]) -> str:
    return json.dumps({"why": "shorter", "applies": True, "question": f"wording {body['seed']}?"})


def test_proposals_are_tried_in_parallel_up_to_the_cap(world: World, llm: Endpoint, settings: Any) -> None:
    llm.reply = wording
    with endpoint(Endpoint("vllm")) as loop:
        settings.PREDICTORS = {"llm": llm.entry(), "loop": loop.entry(parallel=3)}
        batch = a_searching_batch(world)
        keys = keys_of(batch)
        proposal_requests.ProposalGenerator(batch, "llm").ask(keys, now=lambda: NOON)
        loop.gathers = 3
        tried = proposal_trials.try_proposals(
            batch, keys, proposal_trials.LoopReplies("loop"), now=lambda: NOON
        )
        assert loop.most_at_once == 3
    assert tried == Trial.objects.count() == Proposal.objects.count() > 3


@pytest.mark.parametrize("is_right", [True, False])
def test_trials_ask_about_each_original_once_and_stop_where_it_is_wrong(
    world: World, llm: Endpoint, settings: Any, is_right: bool
) -> None:
    llm.reply = wording
    with endpoint(Endpoint("vllm")) as loop:
        settings.PREDICTORS = {"llm": llm.entry(), "loop": loop.entry(parallel=3)}
        batch = a_searching_batch(world)
        answers = {
            item.example.question: item.example.answers for item in batch.items.select_related("example")
        }
        loop.reply = lambda body: json.dumps(
            {
                "answers": next(
                    (
                        gold
                        for text, gold in answers.items()
                        if is_right and text in body["messages"][-1]["content"]
                    ),
                    ["?"],
                )
            }
        )
        proposals.make_proposals(batch=batch, now=lambda: NOON)
        items, made = len(answers), Proposal.objects.count()
        assert made > items
        assert len(loop.requests) == items + (made if is_right else 0)
        assert set(Trial.objects.values_list("verdict", flat=True)) == {
            "fooled" if is_right else "wrong_on_original"
        }
        assert Trial.objects.count() == made
        loop.requests.clear()
        proposals.make_proposals(batch=batch, now=lambda: NOON)
        assert loop.requests == []


def test_a_refusing_model_holds_up_no_other(world: World, llm: Endpoint, settings: Any) -> None:
    llm.reply = lambda body: '{"why": "none fits", "applies": false}'
    with endpoint(Endpoint("vllm", mood="declines")) as refusing:
        settings.PREDICTORS = {"refusing": refusing.entry(stop_after=2), "llm": llm.entry()}
        wants = {"rules": False, "models": ["refusing", "llm"], "repetitions": 2}
        batch = world.batch("question_paraphrase", variant="sentence", help="offered", help_from=wants)
        with pytest.raises(ActionRefused, match=r"\d unusable replies in a row"):
            proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert len(llm.requests) == Reply.objects.filter(maker__startswith="llm:").count() > 4


def test_a_budget_without_room_for_tests_of_proposals_is_named(
    world: World, llm: Endpoint, settings: Any
) -> None:
    llm.reply = wording
    with endpoint(Endpoint("vllm")) as loop:
        settings.PREDICTORS = {"llm": llm.entry(), "loop": loop.entry(max_tokens=100_000)}
        batch = a_searching_batch(world)
        proposal_requests.ProposalGenerator(batch, "llm").ask(keys_of(batch), now=lambda: NOON)
        Batch.objects.filter(pk=batch.pk).update(model_budget={"tokens": 90_000})
        batch.refresh_from_db()
        loop.requests.clear()
        with pytest.raises(ActionRefused, match="budget of this batch"):
            proposals.make_proposals(batch=batch, now=lambda: NOON)
        assert loop.requests == []


def test_prompts_wait_for_a_model_in_the_loop_that_is_away(
    world: World, llm: Endpoint, settings: Any
) -> None:
    llm.reply = lambda body: '{"why": "none fits", "applies": false}'
    with endpoint(Endpoint("vllm", mood="locked")) as loop:
        settings.PREDICTORS = {"llm": llm.entry(), "loop": loop.entry()}
        batch = a_searching_batch(world)
        with pytest.raises(ActionRefused, match="loop does not answer now"):
            proposals.make_proposals(batch=batch, now=lambda: NOON)
        assert llm.requests == []
        loop.mood = "well"
        listing._resting.clear()
        proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert all("A model answers" in body["messages"][-1]["content"] for body in llm.requests)
    assert len(llm.requests) == Reply.objects.count() > 3


def test_a_crew_gives_results_in_order_and_uses_the_database_in_its_own_thread() -> None:
    crew, threads = Crew(3), set[int]()

    def work(number: int) -> int:
        threads.add(threading.get_ident())
        return crew.here(lambda: number * (threading.get_ident() == owner))

    owner = threading.get_ident()
    assert list(crew.map(work, range(1, 40))) == list(range(1, 40))
    assert owner not in threads


def test_a_crew_of_one_serves_any_thread_at_once() -> None:
    """A preview is prepared in one thread of the gateway and settled in another; neither waits for the other."""
    crew, idents = Crew(), list[int]()
    thread = threading.Thread(
        target=lambda: crew.here(lambda: idents.append(threading.get_ident())), daemon=True
    )
    thread.start()
    thread.join(20)
    assert idents == [thread.ident]


def test_a_crew_takes_no_item_after_an_error_and_settles_what_is_under_way() -> None:
    crew, settled, taken = Crew(2), list[int](), list[int]()

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    def work(number: int) -> int:
        crew.here(settled.append, number)
        if number == 0:
            raise ValueError("no")
        return number

    with pytest.raises(ValueError, match="no"):
        list(crew.map(work, items()))
    assert len(taken) <= 10
    assert set(settled) <= set(taken)


@pytest.mark.parametrize("fails", ["work", "items", "interrupt"])
def test_a_crew_gives_what_is_under_way_before_it_raises(fails: str) -> None:
    """Replies that are under way are paid for, whoever fails meanwhile."""
    crew, under_way = Crew(3), threading.Barrier(3, timeout=20)

    def items() -> Iterator[int]:
        yield from range(3)
        if fails == "items":
            raise OperationalError("the database is away")
        yield 3

    def interrupt() -> None:
        raise KeyboardInterrupt

    def work(number: int) -> int:
        if number < 3:
            under_way.wait()
        if number == 0 and fails == "work":
            raise OperationalError("the database is away")
        if number == 0 and fails == "interrupt":
            with contextlib.suppress(KeyboardInterrupt):
                crew.here(interrupt)
        return number

    given = set[int]()

    def take_all() -> None:
        for number in crew.map(work, items()):
            given.add(number)

    with pytest.raises((OperationalError, KeyboardInterrupt)):
        take_all()
    assert given >= {1, 2}


# -- estimates and pages ----------------------------------------------------------------------------


def test_an_estimate_is_shown_before_a_batch_opens_and_costs_afterwards(
    world: World, batch: Batch, llm: Endpoint, client: Client
) -> None:
    (line,) = [line for line in request_estimates.of_batch(batch) if line.purpose == "proposals"]
    llm.reply = lambda body: '{"why": "none fits", "applies": false}'
    proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert line.estimate.requests == Reply.objects.count()
    assert line.estimate.usd is not None
    assert line.estimate.prompt_tokens > 1_000
    assert not [line for line in request_estimates.of_batch(batch) if line.purpose == "proposals"]
    client.force_login(world.mara)
    page = client.get(f"/batches/{batch.public_id}/").content.decode()
    assert "Cost of language models" in page
    requests = ModelRequest.objects.count()
    assert f"{requests} of {requests}" in page
    project = client.get(f"/projects/{batch.project.slug}/people/").content.decode()
    assert f"{requests} of {requests}" in project


def test_questions_before_annotation_are_counted_for_their_project(world: World, llm: Endpoint) -> None:
    model_queries.ask_model(
        sources=[world.source], predictor="llm", purpose="screening", now=lambda: NOON, samples=2, limit=3
    )
    assert ModelRequest.objects.filter(purpose="questions", project=world.project).count() == 3


def test_a_stopped_model_is_named_and_retried_by_a_manager(
    world: World, batch: Batch, llm: Endpoint, client: Client
) -> None:
    Job.objects.create(
        project=batch.project,
        kind="predictions",
        ids={"batch": batch.pk},
        state="done",
        heartbeat=NOON,
        made_at=NOON,
        result={"asked": 20, "left": 5, "stopped": {"llm": "The model refuses to answer"}},
    )
    assert prediction_jobs.retry_unanswered(now=NOON) == 0
    client.force_login(world.mara)
    page = client.get(f"/batches/{batch.public_id}/").content.decode()
    assert "stopped after repeated unusable replies" in page
    client.post(f"/batches/{batch.public_id}/panel/", {"again": "1"})
    assert Job.objects.filter(kind="predictions").count() == 2


# -- states of replies ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mood", "state"),
    [
        ("cut_off", "cut_off"),
        ("filtered", "filtered"),
        ("declines", "declined"),
        ("silent", "unreadable"),
        ("filtered_prompt", "filtered"),
    ],
)
def test_each_state_of_a_reply_has_a_column_where_proposals_are_counted(
    world: World, batch: Batch, llm: Endpoint, client: Client, mood: str, state: str
) -> None:
    llm.mood = mood
    with pytest.raises(ActionRefused):
        proposals.make_proposals(batch=batch, now=lambda: NOON)
    replies = Reply.objects.count()
    assert set(Reply.objects.values_list("outcome", "request__state")) == {(state, state)}
    (line,) = proposals.count_by_maker(batch)
    assert line["unusable"] == {state: replies}
    client.force_login(world.mara)
    page = client.get(f"/batches/{batch.public_id}/").content.decode()
    words = reply_states.WORDS[state]
    assert page.count(f">{words[0].upper()}{words[1:]}</th>") == 2, "of the proposals and of their costs"


def test_rejected_parameters_are_no_refusal(batch: Batch) -> None:
    with endpoint(Endpoint("openai_reasoning")) as server:
        with pytest.raises(ChatError) as raised:
            ask(batch, url=server.url, limit_parameter="max_tokens")
        assert raised.value.kind == "parameters"
    assert set(ModelRequest.objects.values_list("state", flat=True)) == {"parameters"}


def stopped_job(batch: Batch, predictor: str) -> Job:
    return Job.objects.create(
        project=batch.project,
        kind="predictions",
        ids={"batch": batch.pk},
        state="done",
        heartbeat=NOON,
        made_at=NOON,
        result={"asked": 20, "left": 5, "stopped": {predictor: "The model refuses to answer"}},
    )


def a_looped_batch(world: World) -> Batch:
    return world.batch("question_paraphrase", variant="sentence", loop_model="loop")


def test_a_check_does_not_start_a_model_that_was_stopped(world: World, llm: Endpoint, settings: Any) -> None:
    settings.PREDICTORS = {"loop": llm.entry()}
    batch = a_looped_batch(world)
    stopped_job(batch, "loop")
    assignment = world.take(batch, "ada")
    assert assignment is not None
    response = envelope(assignment, {"question": "what year, then?"})
    draft_checks.check_draft(assignment=assignment, response=response, kind="try", seq=1, now=NOON)
    assert Job.objects.filter(kind="predictions").count() == 1
    prediction_jobs.enqueue(batch=batch, by=world.mara, now=NOON)
    (job,) = Job.objects.filter(kind="predictions", state="queued")
    assert prediction_jobs._run(job, lambda done, total: None)["asked"] == 1


def test_a_job_that_failed_forgets_no_model_that_was_stopped(
    world: World, llm: Endpoint, settings: Any
) -> None:
    settings.PREDICTORS = {"loop": llm.entry()}
    batch = a_looped_batch(world)
    failed = stopped_job(batch, "loop")
    failed.pk, failed.public_id, failed.state, failed.result = None, "failed", "failed", {}
    failed.save()
    assert prediction_jobs.find_stop_reasons(batch) == {"loop": "The model refuses to answer"}
    prediction_jobs.enqueue(batch=batch, by=world.mara, now=NOON)
    assert prediction_jobs.find_stop_reasons(batch) == {}


def test_a_model_of_the_panel_that_was_stopped_holds_up_no_other(
    world: World, llm: Endpoint, settings: Any
) -> None:
    with endpoint(Endpoint("vllm")) as other:
        settings.PREDICTORS = {"loop": llm.entry(), "other": other.entry()}
        batch = a_looped_batch(world)
        assignment = world.take(batch, "ada")
        assert assignment is not None
        world.answer(assignment, {"question": "in which year was it, then?", "category": "general"})
        prediction_jobs.enqueue_panel(batch=batch, predictor="other", by=world.mara, now=NOON)
        Job.objects.filter(kind="predictions").update(
            state="done", result={"stopped": {"other": "It refuses"}}
        )
        assert prediction_jobs.retry_unanswered(now=NOON + timedelta(hours=2)) == 1
        (job,) = Job.objects.filter(kind="predictions", state="queued")
        result = prediction_jobs._run(job, lambda done, total: None)
        assert (len(other.requests), result["stopped"]) == (0, {"other": "It refuses"})
    assert result["asked"] == 1
    assert prediction_jobs.retry_unanswered(now=NOON + timedelta(days=1)) == 0
