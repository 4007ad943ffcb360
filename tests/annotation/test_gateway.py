"""Models asked through the gateway: the same answers as from the web process, for whoever has a ticket and nobody else."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core import signing
from django.db.backends.utils import CursorWrapper

from annotation.assistance import draft_checks, tickets
from annotation.models import Assignment, Try
from annotation.web.api import gateway as gateways
from annotation.workflow import projects
from predictor import client, observing
from tests.annotation.cast import NOON, World, envelope, make_world
from tests.annotation.test_api import program
from tests.annotation.test_predicting import REWORDED, a_batch, knows_the_word_come, take
from tests.gateways import gateway
from tests.operations.test_deploy import location_of, nginx
from tests.predictor.scripted import ScriptedServer, answer, scripted
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

Ask = Callable[..., httpx.Response]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def server(settings: Any, patient: None) -> Iterator[ScriptedServer]:
    with scripted(knows_the_word_come) as script:
        settings.PREDICTORS = {"small": script.entry}
        settings.MODEL_GATEWAY = True
        yield script
        client.connect(script.entry).close()
        client._cached_model.cache_clear()


@pytest.fixture
def ask(server: ScriptedServer) -> Iterator[Ask]:
    """Sends a body with a ticket."""
    with gateway() as url, httpx.Client(base_url=url, trust_env=False, timeout=20) as http:

        def send(body: Any, ticket: str = "", **more: Any) -> httpx.Response:
            headers = {"Authorization": f"Ticket {ticket}"} if ticket else {}
            return http.post("/gateway/", json=body, headers=headers, **more)

        yield send


def a_ticket(world: World, assignment: Assignment, who: str = "ada") -> str:
    got = program(world, who)("POST", f"assignments/{assignment.public_id}/ticket/", {})
    assert (got.status_code, got.body["seconds"]) == (200, tickets.SECONDS)
    return str(got.body["ticket"])


def body(assignment: Assignment, kind: str = "preview", seq: int = 1, **more: Any) -> dict[str, Any]:
    return {"response": envelope(assignment, REWORDED), "kind": kind, "seq": seq, **more}


def test_answers_as_the_web_process_does(world: World, ask: Ask) -> None:
    mine = take(world, a_batch(world), film="Alien")
    through = ask(body(mine), a_ticket(world, mine))
    direct = program(world, "ada")("POST", f"assignments/{mine.public_id}/predictions/", body(mine))
    assert through.status_code == direct.status_code == 200
    assert through.json() == {**direct.body, "tries": None}
    assert through.json()["verdict"] == "fooled"
    assert not Try.objects.exists()
    assert through.headers["cache-control"] == "no-store"


def test_a_check_is_kept_and_a_submission_rests_on_it(world: World, ask: Ask) -> None:
    mine = take(world, a_batch(world), film="Alien")
    said = ask(body(mine, "try"), a_ticket(world, mine)).json()
    assert (said["state"], said["tries"]) == ("answered", 1)
    mine.batch.refresh_from_db()
    world.answer(mine, REWORDED)
    check, submission = Try.objects.order_by("pk")
    assert (check.kind, submission.kind) == ("person", "submission")
    assert submission.perturbed == check.perturbed
    assert ask(body(mine, "try"), a_ticket(world, mine)).json()["code"] == "already_submitted"


def test_a_preview_reads_no_database_once_its_item_is_loaded(
    world: World, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = take(world, a_batch(world), film="Alien")
    ticket = a_ticket(world, mine)
    assert ask(body(mine), ticket).json()["state"] == "answered"
    statements: list[str] = []
    execute = CursorWrapper.execute

    def noting(self: CursorWrapper, sql: Any, *more: Any) -> Any:
        statements.append(str(sql))
        return execute(self, sql, *more)

    monkeypatch.setattr(CursorWrapper, "execute", noting)
    assert ask(body(mine, seq=2), ticket).json()["state"] == "answered"
    assert statements == []


def test_many_wait_at_one_time(world: World, server: ScriptedServer, ask: Ask) -> None:
    """More than a web process has threads: they wait as coroutines."""
    mine = take(world, a_batch(world), film="Alien")
    ticket = a_ticket(world, mine)
    assert ask(body(mine), ticket).status_code == 200
    held = threading.Event()
    asked = len(server.asked)

    def slowly(request: Any) -> Any:
        held.wait(20)
        return answer("1995")(request)

    server.says = slowly
    states: list[str] = []

    def preview(number: int) -> None:
        response = envelope(mine, {**REWORDED, "question": f"wording {number}?"})
        states.append(ask({"response": response, "kind": "preview", "seq": 1}, ticket).json()["state"])

    threads = [threading.Thread(target=preview, args=(number,)) for number in range(gateways.PER_SECOND - 1)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(server.asked) - asked == len(threads), "all of them are with the model")
    held.set()
    for thread in threads:
        thread.join()
    assert states == ["answered"] * len(threads)


class TestATicket:
    def test_is_needed(self, world: World, server: ScriptedServer, ask: Ask) -> None:
        mine = take(world, a_batch(world), film="Alien")
        for ticket in ("", "nonsense", signing.dumps({"person": mine.person_id}, salt="another purpose")):
            refused = ask(body(mine), ticket)
            assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
        assert server.asked == []

    def test_is_not_taken_when_it_was_changed(self, world: World, server: ScriptedServer, ask: Ask) -> None:
        mine = take(world, a_batch(world), film="Alien")
        ticket = a_ticket(world, mine)
        other = ("B" if ticket[0] != "B" else "C") + ticket[1:]
        assert ask(body(mine), other).json()["code"] == "not_authenticated"

    def test_expires(
        self, world: World, server: ScriptedServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mine = take(world, a_batch(world), film="Alien")
        ticket = a_ticket(world, mine)
        assert ask(body(mine), ticket).status_code == 200
        monkeypatch.setattr(tickets, "SECONDS", -1)
        refused = ask(body(mine), ticket)
        assert (refused.status_code, refused.json()["code"]) == (401, "ticket_expired")

    def test_is_for_its_own_person_only(self, world: World, server: ScriptedServer) -> None:
        mine = take(world, a_batch(world), film="Alien")
        other = program(world, "bo")("POST", f"assignments/{mine.public_id}/ticket/", {})
        assert other.status_code == 404

    def test_ends_with_the_lease(self, world: World, server: ScriptedServer, ask: Ask) -> None:
        mine = take(world, a_batch(world), film="Alien")
        ticket = a_ticket(world, mine)
        Assignment.objects.filter(pk=mine.pk).update(leased_at=NOON.replace(year=2031))
        assert ask(body(mine), ticket).status_code == 404
        assert server.asked == []

    def test_ends_with_the_session_and_with_the_membership(
        self, world: World, server: ScriptedServer, ask: Ask
    ) -> None:
        mine = take(world, a_batch(world), film="Alien")
        ticket = a_ticket(world, mine)
        membership = world.project.memberships.get(person=world.ada)
        projects.remove_member(membership=membership, by=world.mara, now=NOON)
        assert ask(body(mine), ticket).json()["code"] == "no_member"
        type(world.ada).objects.filter(pk=world.ada.pk).update(session_epoch=9)
        assert ask(body(mine), ticket).status_code == 404
        assert server.asked == []

    def test_says_nothing_of_the_item_its_person_or_their_session(
        self, world: World, server: ScriptedServer
    ) -> None:
        mine = take(world, a_batch(world), film="Alien")
        said = signing.loads(a_ticket(world, mine), salt=tickets.SALT)
        assert set(said) == {"holder", "assignment", "slot", "language"}
        assert said["holder"] not in mine.person.get_session_auth_hash()
        assert re.fullmatch("[0-9a-f]{16}", said["holder"])


def test_a_person_who_asks_too_often_is_refused(world: World, ask: Ask) -> None:
    mine = take(world, a_batch(world), film="Alien")
    ticket = a_ticket(world, mine)
    replies = [ask({}, ticket) for _ in range(2 * gateways.PER_SECOND)]
    refused = [reply for reply in replies if reply.status_code == 429]
    assert refused
    assert refused[0].json()["code"] == "too_many_requests"
    assert refused[0].headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ({"content": b"<html>"}, 400, "parse_error"),
        ({"content": b'{"a":' * 50_000}, 400, "parse_error"),
        ({"content": b" " * (gateways.MOST_BYTES + 1)}, 413, "draft_too_large"),
        ({"json": []}, 422, "invalid_request"),
        ({"content": b"null"}, 422, "invalid_request"),
        ({"json": {"response": {}, "kind": "guess", "seq": 1}}, 422, "invalid_request"),
        (
            {"json": {"response": {}, "kind": "preview", "seq": 1, "verdict": "fooled"}},
            422,
            "invalid_request",
        ),
        ({"json": {"response": {}, "kind": "preview", "seq": 1, "model": "other"}}, 422, "invalid_request"),
        ({"json": {"response": {"base": "x"}, "kind": "preview", "seq": 1}}, 422, "invalid_request"),
        (
            {"content": b'{"response": {"data": {"question": "\\ud800"}}, "kind": "preview", "seq": 1}'},
            422,
            "invalid_request",
        ),
        (
            {"json": {"response": {"data": "x" * 300_000}, "kind": "preview", "seq": 1}},
            413,
            "draft_too_large",
        ),
    ],
)
def test_whatever_is_wrong_is_a_problem_document(
    world: World, server: ScriptedServer, sent: dict[str, Any], status: int, code: str
) -> None:
    mine = take(world, a_batch(world), film="Alien")
    headers = {"Authorization": f"Ticket {a_ticket(world, mine)}", "Content-Type": "application/json"}
    with gateway() as url:
        reply = httpx.post(f"{url}/gateway/", headers=headers, trust_env=False, timeout=20, **sent)
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"].startswith("application/problem+json")
    assert server.asked == []


def test_addresses_that_there_are_not_are_problem_documents(server: ScriptedServer) -> None:
    with gateway() as url, httpx.Client(base_url=url, trust_env=False) as http:
        assert http.get("/healthz").text == "ok\n"
        for reply in (http.get("/"), http.get("/gateway/"), http.get("/metrics")):
            assert reply.status_code in (404, 405)
            assert reply.json()["code"] == "not_found"


def test_a_fault_of_ours_is_a_problem_document_that_tells_nothing(
    world: World, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = take(world, a_batch(world), film="Alien")
    ticket = a_ticket(world, mine)
    monkeypatch.setattr(draft_checks, "prepare", lambda **more: 1 / 0)
    reply = ask(body(mine), ticket)
    assert (reply.status_code, reply.json()["code"]) == (500, "internal_error")
    assert "division" not in reply.text


@pytest.mark.parametrize(
    ("mood", "state"),
    [("hung", "unavailable"), ("killed", "unavailable"), ("crashing", "unavailable"), ("busy", "busy")],
)
def test_whatever_the_model_does_is_a_state(
    world: World,
    server: ScriptedServer,
    ask: Ask,
    mood: str,
    state: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if mood == "hung":
        monkeypatch.setattr(draft_checks, "live_seconds", lambda entry: 0.4)
    mine = take(world, a_batch(world), film="Alien")
    server.mood = mood
    if mood == "killed":
        server.kill()
    reply = ask(body(mine), a_ticket(world, mine))
    assert (reply.status_code, reply.json()["state"]) == (200, state)
    assert "Internal Server Error" not in reply.text


def test_speaks_the_language_of_the_page(world: World, server: ScriptedServer, ask: Ask) -> None:
    mine = take(world, a_batch(world), film="Alien")
    mine.person = world.ada
    server.kill()
    said = ask(body(mine), tickets.sign(mine, language="de")).json()
    assert "abgeben" in said["words"] or "einreichen" in said["words"] or "absenden" in said["words"]


def test_models_of_the_panel_are_asked_beside_and_freeze_nothing(
    world: World, server: ScriptedServer, ask: Ask, settings: Any
) -> None:
    batch = a_batch(world)
    mine = take(world, batch, film="Alien")
    with scripted(answer("1979")) as other:
        settings.PREDICTORS = {
            "small": server.entry,
            "other": {**other.entry, "panel": True},
            "hidden": other.entry,
        }
        ticket = a_ticket(world, mine)
        loop = program(world, "ada")("POST", f"batches/{batch.public_id}/next/", {"holding": []}).body["loop"]
        assert (loop["gateway"], loop["panel"]) == ("/gateway/", ["other"])
        assert ask(body(mine, model="other"), ticket).json()["verdict"] == "not_fooled"
        batch.refresh_from_db()
        assert batch.loop_revision == ""
        assert ask(body(mine), ticket).json()["verdict"] == "fooled"
        assert ask(body(mine, "try", model="other"), ticket).status_code == 422
        assert ask(body(mine, model="hidden"), ticket).status_code == 422


@pytest.mark.parametrize("path", ["", "/askew"])
def test_behind_the_shipped_nginx_it_answers_by_path(
    world: World, server: ScriptedServer, tmp_path: Path, path: str
) -> None:
    mine = take(world, a_batch(world), film="Alien")
    headers = {"Authorization": f"Ticket {a_ticket(world, mine)}"}
    part = "include askew-sub-path.conf;" if path else location_of("askew.conf", "= /gateway/")
    with gateway() as url, nginx(tmp_path, part, gateway=url.removeprefix("http://")) as site:
        answered = httpx.post(f"{site}{path}/gateway/", json=body(mine), headers=headers, trust_env=False)
        refused = httpx.post(f"{site}{path}/gateway/", json=body(mine), trust_env=False)
    assert (answered.status_code, answered.json()["verdict"]) == (200, "fooled")
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")


def test_a_page_that_hangs_up_behind_nginx_withdraws_its_preview(
    world: World, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = take(world, a_batch(world), film="Alien")
    headers = {"Authorization": f"Ticket {a_ticket(world, mine)}"}
    preview, part = body(mine), location_of("askew.conf", "= /gateway/")
    outcomes: list[str] = []
    monkeypatch.setattr(observing, "listeners", [lambda model, outcome, seconds: outcomes.append(outcome)])

    async def hang_up(site: str) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
            asking = asyncio.ensure_future(http.post(f"{site}/gateway/", json=preview, headers=headers))
            await asyncio.to_thread(wait_until, lambda: server.asked, "the model is asked")
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    server.mood = "hung"
    with gateway() as url, nginx(tmp_path, part, gateway=url.removeprefix("http://")) as site:
        asyncio.run(hang_up(site))
        wait_until(lambda: outcomes, "the question to the model has ended")
    assert set(outcomes) == {"cancelled"}
