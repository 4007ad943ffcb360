"""Proposals made in the background: language models asked with demonstrations of people, and trials on the loop model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotation.assistance import (
    demonstrations,
    effect_report,
    impressions,
    proposal_prompts,
    proposal_requests,
    proposals,
)
from annotation.management import doctor
from annotation.models import Annotation, Batch, Decision, Item, Job, Proposal, Provenance, Reply, Trial
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.quality import task_report
from annotation.queue import lineage
from annotation.workflow import automatic_decisions
from predictor import client
from predictor.chat import ChatModel
from tableqa.statistics import medians
from tableqa.statistics.proportions import proportion
from tasks.contract import ProposingTask, task_type
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_predicting import knows_the_word_come
from tests.predictor.scripted import ScriptedServer, scripted
from tests.tasks.test_contract import sample

LATER = NOON + timedelta(days=1)


def applies(**fields: Any) -> str:
    return json.dumps({"why": "Other words.", "applies": True, **fields})


class Endpoint(BaseHTTPRequestHandler):
    """An OpenAI-compatible model that says what a test has it say."""

    asked: list[dict[str, Any]] = []
    says: Callable[[dict[str, Any]], str] = staticmethod(lambda body: applies(question="the year?"))
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        type(self).asked.append(body)
        answer = {
            "choices": [{"message": {"content": type(self).says(body)}}],
            "usage": {"prompt_tokens": 500, "completion_tokens": 20},
        }
        data = json.dumps(answer).encode()
        self.send_response(type(self).status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def llm(settings: Any) -> Iterator[type[Endpoint]]:
    class Own(Endpoint):
        asked: list[dict[str, Any]] = []

    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    settings.PREDICTORS = {"llm": {"protocol": "chat", "url": url, "model": "small", "price": [1.0, 2.0]}}
    yield Own
    server.shutdown()
    server.server_close()


@pytest.fixture
def world(db: None, tmp_path: Path, settings: Any) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_world(tmp_path)


def a_batch(world: World, **more: Any) -> Batch:
    settings: dict[str, Any] = {
        "variant": "sentence",
        "help": "offered",
        "help_from": {"rules": False, "models": ["llm"], "repetitions": 2},
        "size": 2,
        **more,
    }
    return world.batch("question_paraphrase", **settings)


def accepted(world: World, number: int = 4, category: str = "general") -> Batch:
    """Paraphrases that people made of the questions of the world, accepted."""
    batch = world.batch("question_paraphrase", variant="sentence", size=number)
    for place in range(number):
        assignment = world.take(batch, "bo")
        assert assignment is not None
        world.answer(assignment, {"question": f"a question of Bo's, number {place}?", "category": category})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


# -- requests ---------------------------------------------------------------------------------------


def test_every_category_is_asked_for_as_often_as_was_set_and_never_twice(
    world: World, llm: type[Endpoint]
) -> None:
    batch = a_batch(world)
    llm.says = staticmethod(lambda body: applies(question=f"wording {body['seed']}?"))
    made = proposals.make_proposals(batch=batch)
    assert made["replies"] == 2 * 3 * 2
    assert len(llm.asked) == 12
    assert len({body["seed"] for body in llm.asked}) == 12
    assert all(body["temperature"] > 0 for body in llm.asked)
    assert proposals.make_proposals(batch=batch)["replies"] == 0
    assert len(llm.asked) == 12
    assert Proposal.objects.filter(maker="llm:small").count() == 12
    assert set(Reply.objects.values_list("outcome", "prompt_tokens", "completion_tokens")) == {
        ("proposed", 500, 20)
    }
    assert list(doctor.findings()) == []


def test_the_same_request_has_the_same_seed_whenever_it_is_made(world: World, llm: type[Endpoint]) -> None:
    batch = a_batch(world)
    item = batch.items.order_by("position")[0]
    first = proposal_requests.derive_seed(batch, item, "general", 1)
    assert first == proposal_requests.derive_seed(batch, item, "general", 1)
    assert first != proposal_requests.derive_seed(batch, item, "general", 2)


def test_demonstrations_are_accepted_responses_of_people_and_never_of_the_same_question(
    world: World, llm: type[Endpoint]
) -> None:
    accepted(world)
    batch = a_batch(world)
    proposals.make_proposals(batch=batch)
    general = [body for body in llm.asked if "Another sentence structure" in body["messages"][0]["content"]]
    others = [body for body in llm.asked if body not in general]
    assert general
    for body in general:
        shown = [json.loads(one["content"]) for one in body["messages"] if one["role"] == "assistant"]
        assert len(shown) == 3  # of four, one was made of the question that is asked about
        assert all(one["applies"] and one["question"].startswith("a question of Bo's") for one in shown)
        assert all("Changed:" in one["why"] for one in shown)
        asked_about = body["messages"][-1]["content"]
        assert all(one["content"] != asked_about for one in body["messages"][:-1])
    for body in others:
        assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert all(len(reply.demonstrations) == 3 for reply in Reply.objects.filter(category="general"))


def test_what_came_from_a_machine_is_no_demonstration(world: World, llm: type[Endpoint]) -> None:
    first = a_batch(world, help_from={"rules": True}, size=4)
    while (assignment := world.take(first, "bo")) is not None:
        told = impressions.show_proposals(assignment=assignment, now=NOON)
        world.answer(assignment, told[0]["data"])
    automatic_decisions.resolve_batch(batch=first, now=LATER)
    assert set(Provenance.objects.values_list("origin", flat=True)) == {"machine"}
    assert demonstrations.load_demonstrations(a_batch(world)) == {}


def test_what_was_set_aside_is_no_demonstration_and_nothing_that_is_known_of_an_example(
    world: World, llm: type[Endpoint]
) -> None:
    accepted(world)
    lines = [[item.example] for item in Item.objects.filter(decision__isnull=False).select_related("example")]
    batch = a_batch(world)
    assert demonstrations.load_demonstrations(batch)
    assert lineage._project_facts(lines).decided

    Batch.objects.exclude(pk=batch.pk).update(set_aside_at=NOON)

    assert demonstrations.load_demonstrations(batch) == {}
    assert not lineage._project_facts(lines).decided


@pytest.mark.parametrize(
    ("reply", "outcome", "words"),
    [
        (applies(question="the year?"), "proposed", ""),
        (f"```json\n{applies(question='the year?')}\n```", "proposed", ""),
        ('{"why": "The question is short already.", "applies": false}', "does_not_apply", "short already"),
        ("Sure! " + applies(question="the year?"), "invalid", "not a single JSON object"),
        ('["the year?"]', "invalid", "not a single JSON object"),
        ('{"question": "the year?"}', "invalid", "does not contain `applies`"),
        (applies(question="the year?", answer="1995"), "invalid", "and no others"),
        (applies(question=""), "invalid", "1 to 400"),
        (applies(question=7), "invalid", "1 to 400"),
        (applies(question="a\x00b?"), "proposed", ""),
        ('{"why": "x", "applies": true, "question": NaN}', "invalid", "not a single JSON object"),
        ("{" * 5000, "invalid", "not a single JSON object"),
        ("x" * 30_000, "invalid", "not a single JSON object"),
    ],
)
def test_a_reply_is_taken_as_a_whole_or_not_at_all(
    world: World, llm: type[Endpoint], reply: str, outcome: str, words: str
) -> None:
    llm.says = staticmethod(lambda body: reply)
    batch = a_batch(world, size=1, help_from={"models": ["llm"], "repetitions": 1})
    proposals.make_proposals(batch=batch)
    rows = list(Reply.objects.filter(category="simplification"))
    assert [row.outcome for row in rows] == [outcome]
    assert words in rows[0].reason
    assert (rows[0].proposal is None) == (outcome != "proposed")


def test_a_question_that_is_still_the_original_one_is_refused(world: World, llm: type[Endpoint]) -> None:
    batch = a_batch(world, size=1, help_from={"models": ["llm"], "repetitions": 1})
    question = batch.items.get().example.question
    llm.says = staticmethod(lambda body: applies(question=question.upper()))
    proposals.make_proposals(batch=batch)
    assert set(Reply.objects.values_list("outcome", flat=True)) == {"invalid"}
    assert "question is unchanged" in Reply.objects.all()[0].reason


def with_what_every_reply_has(text: str) -> str:
    """The text; where it is a JSON object, with `why` and `applies`, so that the kind is asked about the rest."""
    try:
        said = json.loads(text)
    except ValueError:
        return text
    return json.dumps({**said, "why": "", "applies": True}) if isinstance(said, dict) else text


@given(text=st.one_of(st.text(max_size=80), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["why", "applies", "columns", "names", "cells", "table", "column", "number", "reason"]), inner
    ), max_leaves=12,
).map(json.dumps)))  # fmt: skip
def test_no_reply_breaks_a_kind(text: str) -> None:
    for key in (
        "header_synonym",
        "column_masking",
        "column_extension",
        "column_adding",
        "question_paraphrase",
    ):
        task = task_type(key)
        assert isinstance(task, ProposingTask)
        item = sample(task)["items"][0]
        for wanted in task.generation_requests(item):
            whole = with_what_every_reply_has(text)
            assert proposal_prompts.read_reply(whole, task, wanted, item).outcome in Reply.Outcome.values


def test_a_column_kind_reads_names_and_refuses_a_slip(world: World, llm: type[Endpoint]) -> None:
    def says(body: dict[str, Any]) -> str:
        right = {"number": 1, "name": "Film", "new": f"Movie {body['seed']}"}
        wrong = {"number": 2, "name": "Film", "new": "Movie"}
        return applies(columns=[right] if len(llm.asked) % 2 else [right, wrong])

    llm.says = staticmethod(says)
    batch = world.batch(
        "header_synonym", size=1, help="offered", help_from={"models": ["llm"], "repetitions": 2}
    )
    proposals.make_proposals(batch=batch)
    assert sorted(Reply.objects.values_list("outcome", flat=True)) == ["invalid", "proposed"]
    assert "Column 2 is “Year”" in Reply.objects.get(outcome="invalid").reason
    told = impressions.show_proposals(assignment=world.take(batch, "ada"), now=NOON)  # type: ignore[arg-type]
    assert told[0]["why"] == "Other words."


def test_the_same_once_more_is_one_proposal(world: World, llm: type[Endpoint]) -> None:
    batch = a_batch(world, size=1, help_from={"models": ["llm"], "repetitions": 3})
    proposals.make_proposals(batch=batch)
    assert Proposal.objects.count() == 1
    assert sorted(set(Reply.objects.values_list("outcome", flat=True))) == ["again", "proposed"]
    (line,) = proposals.count_by_maker(batch)
    assert (line["requests"], line["proposals"], line["again"]) == (9, 1, 8)


def completion(content: str | None, finish: str = "stop") -> httpx.Response:
    choices = [{"message": {"content": content}, "finish_reason": finish}]
    return httpx.Response(200, json={"choices": choices, "usage": {"prompt_tokens": 500}})


OUTCOMES = {
    "refused": "refused",
    "empty": "invalid",
    "cut off": "cut_off",
    "unstorable": "cut_off",
    "long": "invalid",
}


@pytest.mark.parametrize(
    ("response", "reason", "text"),
    [
        (httpx.Response(400, text="context length is 4096"), "answered 400: context length is 4096", ""),
        (completion(None), "sent no text", ""),
        (completion(""), "not a single JSON object", ""),
        (httpx.Response(200, json={"choices": []}), "sent no text", ""),
        (httpx.Response(200, content=b""), "did not send a chat completion: nothing", ""),
        (httpx.Response(200, json={"error": {"message": "flagged"}}), '{"error":{"message":"flagged"}}', ""),
        (completion('{"why": "so', "length"), "finish_reason=length", '{"why": "so'),
        (completion("<think>\x00", "length"), "finish_reason=length", "<think>\ufffd"),
        (completion("x" * 30_000), "not a single JSON object", "x" * 20_000),
        (httpx.Response(200, content=b" " * 5_000_000), "more than 4,000,000 bytes", ""),
    ],
    ids=[
        "refused",
        "null",
        "empty",
        "no choice",
        "no body",
        "error",
        "cut off",
        "unstorable",
        "long",
        "megabytes",
    ],
)
def test_one_bad_reply_is_recorded_and_the_job_goes_on(
    world: World,
    llm: type[Endpoint],
    monkeypatch: pytest.MonkeyPatch,
    response: httpx.Response,
    reason: str,
    text: str,
    request: pytest.FixtureRequest,
) -> None:
    outcome = OUTCOMES.get(request.node.callspec.id, "unreadable")
    asked: list[int] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content)["seed"])
        return response if len(asked) == 1 else completion(applies(question=f"wording {asked[-1]}?"))

    chat = ChatModel("http://model/v1", "small", transport=httpx.MockTransport(handle))
    monkeypatch.setattr(proposal_requests, "chat_model", lambda predictors, name: chat)
    batch = a_batch(world)
    assert proposals.make_proposals(batch=batch)["replies"] == 12
    first, *others = Reply.objects.order_by("pk")
    assert first.outcome == outcome
    assert reason in first.reason
    assert first.text == text
    assert {row.outcome for row in others} == {"proposed"}
    assert proposals.make_proposals(batch=batch)["replies"] == 0
    assert len(asked) == 12, "no request is made twice"


def test_an_endpoint_that_fails_leaves_what_is_there(world: World, llm: type[Endpoint]) -> None:
    batch = a_batch(world, help_from={"rules": True, "models": ["llm"], "repetitions": 1})
    llm.status = 404
    with pytest.raises(ActionRefused, match="are saved"):
        proposals.make_proposals(batch=batch)
    assert Proposal.objects.filter(maker="rules").exists()
    assert not Reply.objects.exists()
    llm.status = 200
    assert proposals.make_proposals(batch=batch)["replies"] == 6


@pytest.mark.django_db(transaction=True)  # the queue of the tests runs a job as soon as it is committed
def test_opening_a_batch_has_its_proposals_made(tmp_path: Path, settings: Any, llm: type[Endpoint]) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    world = make_world(tmp_path)
    batch = a_batch(world, help_from={"rules": True, "models": ["llm"], "repetitions": 1})
    job = Job.objects.get(kind="proposals")
    assert (job.state, job.error) == ("done", "")
    assert Proposal.objects.filter(item__batch=batch, maker="llm:small").exists()
    client_of_mara = Client()
    client_of_mara.force_login(world.mara)
    page = client_of_mara.get(f"/batches/{batch.public_id}/").content.decode()
    assert "llm:small" in page
    assert client_of_mara.post(f"/batches/{batch.public_id}/proposals/").status_code == 302
    assert Job.objects.filter(kind="proposals", state="done").count() == 2


def test_a_batch_with_help_is_planned_on_the_page(world: World, llm: type[Endpoint]) -> None:
    mara = Client()
    mara.force_login(world.mara)
    url = f"/projects/{world.project.slug}/batches/new/?kind=header_synonym"
    page = mara.get(url).content.decode()
    assert "Proposals (assistance)" in page
    assert "Proposals from language models" in page
    given = {
        "kind": "header_synonym", "name": "Helped", "sources": [world.source.public_id], "of": "originals",
        "seed": "1", "overlap": "1", "help": "filled", "help_rules": "on", "help_models": ["llm"],
        "repetitions": "2", "unhelped": "20",
    }  # fmt: skip
    assert mara.post(url, given).status_code == 302
    batch = Batch.objects.get(name="Helped")
    assert (batch.help, batch.unhelped) == ("filled", 20)
    assert batch.help_from == {"rules": True, "models": ["llm"], "search": False, "repetitions": 2}
    assert (
        "Proposals (assistance)"
        not in mara.get(url.replace("header_synonym", "question_type")).content.decode()
    )


# -- search -----------------------------------------------------------------------------------------


@pytest.fixture
def server(settings: Any) -> Iterator[ScriptedServer]:
    with scripted(knows_the_word_come) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        client.connect(script.entry).close()
        client._cached_model.cache_clear()


def test_what_fools_the_model_in_the_loop_is_proposed_first(world: World, server: ScriptedServer) -> None:
    batch = a_batch(world, help_from={"rules": True, "search": True}, loop_model="small", size=4)
    made = proposals.make_proposals(batch=batch)
    assert made["trials"] == Proposal.objects.count() > 0
    assert proposals.make_proposals(batch=batch)["trials"] == 0
    verdicts = dict(Trial.objects.values_list("proposal__public_id", "verdict"))
    while (assignment := world.take(batch, "ada")) is not None:
        told = impressions.show_proposals(assignment=assignment, now=NOON)
        places = [impressions.BEST.get(one["verdict"], 1) for one in told]
        assert places == sorted(places)
        assert all(one["verdict"] == verdicts[one["id"]] for one in told)
        world.answer(assignment, told[0]["data"])
    batch.refresh_from_db()
    assert batch.loop_revision


def test_a_model_that_is_away_leaves_proposals_untried(world: World, server: ScriptedServer) -> None:
    batch = a_batch(world, help_from={"rules": True, "search": True}, loop_model="small")
    server.mood = "failing"
    assert proposals.make_proposals(batch=batch)["trials"] == 0
    assignment = world.take(batch, "ada")
    assert assignment is not None
    assert all(one["verdict"] is None for one in impressions.show_proposals(assignment=assignment, now=NOON))
    server.mood = "well"
    client.connect(server.entry).breaker = client.Breaker()
    assert proposals.make_proposals(batch=batch)["trials"] > 0


# -- what help does ---------------------------------------------------------------------------------


def test_the_report_holds_what_was_drawn_with_and_without_help_against_each_other(world: World) -> None:
    batch = a_batch(world, help_from={"rules": True}, unhelped=50, size=4)
    number = 0
    while (assignment := world.take(batch, "ada")) is not None:
        number += 1
        told = impressions.show_proposals(assignment=assignment, now=NOON)
        own = {"question": f"question {number} in my words?", "category": "general"}
        if told:
            assignment.active_seconds = 10.0
            if number % 2:
                impressions.record_reaction(
                    assignment=assignment,
                    proposal=told[0]["id"],
                    act="rejected",
                    errors=["missing"],
                    now=NOON,
                )
        else:
            assignment.active_seconds = 40.0
        world.answer(assignment, told[0]["data"] if told and number % 2 == 0 else own)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    groups, origins, proposals, errors, cost = task_report.reports(batch)
    assert [line[:4] for line in groups.rows] == [
        ("with proposals", 2, 0, medians.Estimate(10.0, n=2)),
        ("control (no proposals)", 2, 0, medians.Estimate(40.0, n=2)),
        ("difference", None, None, medians.Estimate(-30.0, n=4)),
    ], "without an interval: all values are alike"
    assert all(len(line) == len(groups.columns) for line in groups.rows)
    assert sum(int(str(line[2] or 0)) for line in origins.rows if line[1] == "control (no proposals)") == 2
    assert {line[0] for line in origins.rows if line[1] == "control (no proposals)"} == {"human"}
    shown = proposals.rows[0]
    assert shown[0] == "rules"
    assert shown[1] == sum(int(str(value or 0)) for value in shown[2:6])
    assert [line[0] for line in cost.rows] == ["people, with proposals", "people, control group"]
    assert cost.rows[1][2] == round(100 * 40 / 3600, 2)
    assert all(len(line) == len(errors.columns) for line in errors.rows)
    mara = Client()
    mara.force_login(world.mara)
    page = mara.get(f"/batches/{batch.public_id}/report/").content.decode()
    assert "With proposals and control group" in page


def test_accepted_is_what_a_person_decided_and_not_the_response_itself(world: World) -> None:
    batch = a_batch(world, help_from={"rules": True}, unhelped=50, size=4)
    number = 0
    while (assignment := world.take(batch, "ada")) is not None:
        number += 1
        world.answer(assignment, {"question": f"question {number} in my words?", "category": "general"})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    groups, *_ = effect_report.reports(batch)

    assert [line[4] for line in groups.rows[:2]] == [proportion(0, 0)] * 2, "a rule decides by the response"
    assert "(4 to others are left out)" in groups.note
    with immutable_rows.writable():
        Decision.objects.filter(item__batch=batch).update(made_by=world.ivo)
    groups, *_ = effect_report.reports(batch)
    assert [line[4] for line in groups.rows[:2]] == [proportion(2, 2)] * 2
    assert "(0 to others are left out)" in groups.note


def test_the_cost_of_a_language_model_is_what_all_its_replies_took(world: World, llm: type[Endpoint]) -> None:
    batch = a_batch(world, size=1, help_from={"models": ["llm"], "repetitions": 1})
    proposals.make_proposals(batch=batch)
    cost = effect_report.reports(batch)[-1]
    # Three requests of 520 tokens for one proposal: 100 of them are 150,000 tokens read and 6,000 written.
    assert cost.rows == (("llm:small", 1, None, 150_000, 6_000, round(0.15 + 0.012, 2)),)


def test_variety_is_taken_of_equally_many() -> None:
    def row(edit: str) -> effect_report.ResponseRow:
        return effect_report.ResponseRow(True, "human", 1.0, frozenset({edit}), edit, None, None)

    same = [row("a > b")] * 6
    different = [row(f"{n} > b") for n in range(6)]
    assert effect_report.variety(same, 6) == (0.167, 0.167, 0.0)
    assert effect_report.variety(different, 3) == (1.0, 1.0, 1.0)
    assert effect_report.variety(different + same, 2)[0] == effect_report.variety(different + same, 2)[0]
    assert effect_report.variety([], 3) == (None, None, None)


@given(
    st.lists(st.integers(0, 10_000_000).map(lambda number: number / 1000), min_size=2, max_size=30),
    st.floats(-100, 100),
)
def test_the_interval_of_a_median_holds_it_and_moves_with_the_values(values: list[float], by: float) -> None:
    found = medians.estimate_median(values)
    assert found.value is not None
    assert found.n == len(values)
    if found.low is not None and found.high is not None:
        assert min(values) <= found.low < found.high <= max(values)
    else:
        assert len(set(values)) < len(values), "only where the draws give one value"
    moved = medians.difference([value + by for value in values], values)
    assert moved.value == pytest.approx(by, abs=1e-6)
    assert medians.difference(values, []) == medians.Estimate(None)


def test_annotations_of_a_batch_without_help_have_no_provenance(world: World) -> None:
    accepted(world, 1)
    assert Annotation.objects.exists()
    assert not Provenance.objects.exists()
