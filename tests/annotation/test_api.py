"""The REST interface: the road by program, who may do what, and how it says no."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.models import ApiToken, Assignment, Draft, Membership
from annotation.queue import practice
from annotation.workflow import automatic_decisions, batches, projects
from tasks.contract import task_type
from tests.annotation.cast import World

JSON = "application/json"


class Program:
    """A client that speaks JSON with a token, as somebody's program does."""

    def __init__(self, secret: str = "") -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.headers = {"Authorization": f"Bearer {secret}"} if secret else {}

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.client.generic(
            method,
            f"/api/{path}",
            b"" if body is None else _json(body),
            content_type=JSON,
            headers=self.headers,
        )
        answer.body = answer.json() if answer.content else None  # type: ignore[attr-defined]
        return answer


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()


def token(world: World, who: str, *scopes: Permission) -> str:
    return projects.make_token(
        person=world.people[who],
        project=world.project,
        name="test",
        scopes=scopes or tuple(Permission),
        now=timezone.now(),
    )[1]


def program(world: World, who: str, *scopes: Permission) -> Program:
    return Program(token(world, who, *scopes))


def respond(assignment: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    return {key: assignment[key] for key in ("type", "variant", "version", "base")} | {"data": data}


def test_a_program_annotates_a_batch_to_its_end(world: World) -> None:
    batch = world.batch(overlap=1, size=3)
    ada = program(world, "ada")
    assert [row["slug"] for row in ada("GET", "projects/").body["results"]] == ["films"]
    assert ada("GET", "batches/").body["results"][0]["id"] == batch.public_id
    assignment = ada("POST", f"batches/{batch.public_id}/next/", {"holding": []}).body
    done = 0
    while assignment is not None:
        here = f"assignments/{assignment['id']}"
        response = respond(assignment, {"label": "reasoning"})
        draft = ada("PUT", f"{here}/draft/", {"revision": 0, "response": response}).body
        assert (draft["revision"], draft["violations"]) == (1, [])
        assert ada("POST", f"{here}/ping/").status_code == 200
        submitted = ada("POST", f"{here}/submit/", {"response": response, "next": True})
        assert submitted.status_code == 200
        done += 1
        assignment = submitted.body["next"]
    assert done == 3
    assert ada("POST", f"batches/{batch.public_id}/next/").status_code == 204


def test_submit_skip_undo_and_draft_may_be_repeated(world: World) -> None:
    batch = world.batch(overlap=1, size=2)
    ada = program(world, "ada")
    assignment = ada("POST", f"batches/{batch.public_id}/next/").body
    here = f"assignments/{assignment['id']}"
    request = {"response": respond(assignment, {"label": "reasoning"}), "next": False}
    one, two = (ada("POST", f"{here}/submit/", request) for _ in range(2))
    assert one.status_code == two.status_code == 200
    assert one.body == two.body
    undo = f"annotations/{one.body['annotation']['id']}/undo/"
    first, second = (ada("POST", undo) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.body["draft"] == second.body["draft"]
    assert [ada("POST", f"{here}/skip/", {"reason": "odd"}).status_code for _ in range(2)] == [200, 200]


def test_every_refusal_is_a_problem_document(world: World) -> None:
    batch = world.batch()
    ada = program(world, "ada")
    assignment = ada("POST", f"batches/{batch.public_id}/next/").body
    here = f"assignments/{assignment['id']}"
    wrong = ada("POST", f"{here}/submit/", {"response": respond(assignment, {"label": "wat"})})
    assert wrong.status_code == 422
    assert wrong.headers["Content-Type"].startswith("application/problem+json")
    assert wrong.body["code"] == "invalid_response"
    assert wrong.body["violations"][0]["path"] == "label"
    stale = {"revision": 7, "response": {}}
    assert ada("PUT", f"{here}/draft/", stale).body["code"] == "stale_draft"
    assert ada("POST", f"{here}/submit/", {"response": []}).body["code"] == "invalid_request"
    assert ada("POST", f"{here}/skip/", {"reason": " "}).status_code == 422
    assert ada("GET", "batches/nothing/adjudication/").body["code"] == "not_found"
    assert ada("DELETE", f"{here}/draft/").status_code == 405
    misspelt = ada("POST", f"{here}/submit/", {"response": {}, "nxet": True})
    assert (misspelt.status_code, misspelt.body["code"]) == (422, "invalid_request")
    assert misspelt.body["errors"] == {
        "nxet": ["Unknown field. Available: response, holding, next, confirmed."]
    }
    malformed = ada.client.post(f"/api/{here}/submit/", b"{", content_type=JSON, headers=ada.headers)
    assert malformed.status_code == 400
    assert malformed.json()["detail"]


def test_somebody_elses_assignment_does_not_exist(world: World) -> None:
    batch = world.batch()
    ada, bo = program(world, "ada"), program(world, "bo")
    assignment = ada("POST", f"batches/{batch.public_id}/next/").body
    response = respond(assignment, {"label": "reasoning"})
    here = f"assignments/{assignment['id']}"
    for method, path, body in (
        ("PUT", f"{here}/draft/", {"revision": 0, "response": response}),
        ("POST", f"{here}/submit/", {"response": response}),
        ("POST", f"{here}/skip/", {"reason": "x"}),
        ("POST", f"{here}/flag/", {"note": "x"}),
        ("POST", f"{here}/return/", None),
        ("POST", f"{here}/ping/", None),
    ):
        assert bo(method, path, body).status_code == 404
    annotation = ada("POST", f"{here}/submit/", {"response": response}).body["annotation"]["id"]
    assert bo("POST", f"annotations/{annotation}/undo/").status_code == 404
    assert Assignment.objects.get().state == "submitted"


ROWS = [
    # method, path, who may (everybody else: 404)
    ("POST", "batches/{batch}/next/", {"ada"}),
    ("GET", "batches/{batch}/adjudication/", {"ivo"}),
    ("POST", "items/{item}/decide/", {"ivo"}),
    ("POST", "projects/films/releases/", {"mara", "rea"}),
    ("GET", "jobs/{job}/", {"mara", "ivo", "rea"}),
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("who", ["mara", "ada", "ivo", "rea", "zoe"])
@pytest.mark.parametrize(("method", "path", "may"), ROWS)
def test_who_may_do_what(world: World, who: str, method: str, path: str, may: set[str]) -> None:
    split = world.batch(size=1, overlap=2)
    for annotator, label in (("bo", "extraction"), ("cy", "reasoning")):
        world.label(split, annotator, label)
    batches.close_batch(batch=split, by=world.mara, now=timezone.now())
    automatic_decisions.resolve_batch(batch=split, now=timezone.now())
    batch = world.batch()
    job = automatic_decisions.start_resolving(batch=split, by=world.mara, now=timezone.now())
    item = split.items.get().public_id
    here = split if "adjudication" in path else batch
    path = path.format(batch=here.public_id, item=item, job=job.public_id)
    bodies: dict[str, dict[str, Any]] = {
        "decide": {"note": "because", "choose": ["A"]},
        "releases": {"name": "v1", "format": "askew"},
    }
    body = bodies.get(path.rstrip("/").rsplit("/", 1)[-1], {})
    client = Client()
    client.force_login(world.people[who])
    answer = client.generic(method, f"/api/{path}", _json(body), content_type=JSON)
    assert (answer.status_code in (200, 202)) == (who in may), answer.content
    if who not in may:
        assert answer.status_code == 404


def test_without_signing_in_there_is_nothing(world: World) -> None:
    stranger = Program()
    assert stranger("GET", "projects/").status_code == 401
    assert Program("askew_nonsense")("GET", "projects/").status_code == 401


def test_a_token_ends_with_time_revocation_and_membership(world: World) -> None:
    ada = program(world, "ada")
    assert ada("GET", "projects/").status_code == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    refused = ada("GET", "projects/")
    assert refused.status_code == 401
    assert refused.json()["detail"].startswith("This token is wrong, expired or revoked. Create a new one")
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=1))
    Membership.objects.filter(person=world.ada).update(removed_at=timezone.now())
    assert ada("GET", "projects/").status_code == 401
    Membership.objects.filter(person=world.ada).update(removed_at=None)
    projects.revoke_token(token=ApiToken.objects.get(), by=world.ada, now=timezone.now())
    assert ada("GET", "projects/").status_code == 401


def test_a_token_does_no_more_than_its_scopes_and_its_project(world: World) -> None:
    batch = world.batch()
    reading = program(world, "ada", Permission.SEE_PROGRESS)
    assert reading("POST", f"batches/{batch.public_id}/next/").status_code == 404
    annotating = program(world, "ada", Permission.ANNOTATE)
    assert annotating("GET", "releases/").body["results"] == []
    other = projects.create_project(slug="other", name="Other", manager=world.ada, now=timezone.now())
    token_there = projects.make_token(
        person=world.ada, project=other, name="t", scopes=tuple(Permission), now=timezone.now()
    )[1]
    there = Program(token_there)
    assert there("POST", f"batches/{batch.public_id}/next/").status_code == 404
    assert [row["slug"] for row in there("GET", "projects/").body["results"]] == ["other"]


def test_a_page_needs_the_csrf_token_and_a_program_does_not(world: World) -> None:
    batch = world.batch()
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.ada)
    assert browser.post(f"/api/batches/{batch.public_id}/next/", content_type=JSON).status_code == 403
    assert program(world, "ada")("POST", f"batches/{batch.public_id}/next/").status_code == 200


def test_nobody_reads_a_release_while_annotating_in_an_open_batch(world: World) -> None:
    batch = world.batch()
    projects.add_member(
        project=world.project,
        person=world.mara,
        roles=[Role.ANNOTATOR],
        by=world.mara,
        now=timezone.now(),
    )
    mara = program(world, "mara")
    assert mara("POST", f"batches/{batch.public_id}/next/").status_code == 200
    refused = mara("POST", "projects/films/releases/", {"name": "v1", "format": "askew"})
    assert (refused.status_code, refused.body["code"]) == (409, "still_involved")
    assert mara("GET", "releases/").body["results"] == []


def test_a_kind_that_is_not_installed_is_said_so_and_nothing_is_written(world: World) -> None:
    batch = world.batch()
    ada = program(world, "ada")
    assignment = ada("POST", f"batches/{batch.public_id}/next/").body
    type(batch).objects.filter(pk=batch.pk).update(task_type="gone")
    here = f"assignments/{assignment['id']}"
    response = respond(assignment, {"label": "reasoning"})
    for method, path, body in (
        ("POST", f"batches/{batch.public_id}/next/", {}),
        ("PUT", f"{here}/draft/", {"revision": 0, "response": response}),
        ("POST", f"{here}/submit/", {"response": response}),
    ):
        answer = ada(method, path, body)
        assert (answer.status_code, answer.body["code"]) == (501, "unknown_task_type")
    assert not Draft.objects.exists()


def test_what_is_nested_too_deeply_or_holds_a_nul_is_refused(world: World) -> None:
    ada = program(world, "ada")
    assignment = ada("POST", f"batches/{world.batch().public_id}/next/").body
    deep = b'{"response":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    answer = ada.client.post(
        f"/api/assignments/{assignment['id']}/submit/", deep, content_type=JSON, headers=ada.headers
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")
    assert ada("POST", "batches/%00/next/").status_code == 404


def test_whoever_may_annotate_an_open_batch_sees_no_responses_whatever_else_they_are(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    open_batch = world.batch()
    for who, label in (("bo", "extraction"), ("cy", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=timezone.now())
    roles = [Role.ANNOTATOR, Role.RESEARCHER, Role.ADJUDICATOR]
    projects.add_member(
        project=world.project, person=world.zoe, roles=roles, by=world.mara, now=timezone.now()
    )
    zoe = program(world, "zoe")
    assert zoe("GET", f"batches/{batch.public_id}/adjudication/").body == []
    made = zoe("POST", "projects/films/releases/", {"name": "peek", "format": "askew"})
    assert made.body["code"] == "still_involved"
    for one in (batch, open_batch):
        batches.close_batch(batch=one, by=world.mara, now=timezone.now())
    assert len(zoe("GET", f"batches/{batch.public_id}/adjudication/").body) == 1


def test_practice_calls_nothing_right_that_it_cannot_judge(world: World) -> None:
    exercise = practice.exercises(task_type("question_paraphrase"), "word")[0]

    def told(question: str) -> dict[str, Any]:
        data = {"question": question, "category": exercise.expected.category}
        response = {
            "type": "question_paraphrase",
            "variant": "word",
            "version": task_type("question_paraphrase").version,
            "base": exercise.item.base,
            "data": data,
        }
        body = {"response": response, "variant": "word", "number": 1}
        answer = program(world, "ada")("POST", "projects/films/practice/question_paraphrase/", body)
        assert answer.status_code == 200
        found: dict[str, Any] = answer.body
        return found

    other = told("something else entirely?")
    assert other["right"] is None
    assert exercise.expected.question in other["words"][0]
    assert told(exercise.expected.question)["right"] is True

    client = Client()
    client.force_login(world.ada)
    form = {"question": "something else entirely?", "category": exercise.expected.category}
    page = client.post("/projects/films/practice/question_paraphrase/?variant=word&plain=1", form)
    assert "Meets the rules. Compare it with the expected response" in page.content.decode()
    assert 'data-state="open"' in page.content.decode()
