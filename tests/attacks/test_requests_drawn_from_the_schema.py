"""Requests that Schemathesis draws from the published schema, as every role: none of them is answered with a 5xx.

In the suite some hundreds; `ASKEW_FUZZ=20000 ./run test tests/attacks/test_requests_drawn_from_the_schema.py -s` for more,
ASKEW_FUZZ_SEED for others. Paths get the ids of things that are there, so that requests reach what lies behind access;
`response`s are often a good one with something changed. What a request did is undone, or stays for those that follow.
"""

from __future__ import annotations

import copy
import json
import os
import random
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

import hypothesis
import pytest
import requests
import schemathesis
from django.core.signals import got_request_exception
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode

from annotation.access.roles import Permission
from annotation.models import Assignment
from annotation.workflow import projects
from tests.annotation.cast import World, envelope
from tests.annotation.role_table import (
    API,
    EVERYBODY,
    MEMBERS,
    Things,
    a_gold_item,
    an_edit,
    an_upload,
    make_things,
    the_crowd,
)
from tests.attacks import LONG_RUN
from tests.attacks.changed import changed, drawn
from tests.undone import savepoint, undone

REQUESTS = LONG_RUN or 200
SEED = int(os.environ.get("ASKEW_FUZZ_SEED", "20261122"))
A_WORLD = 1000
"""Requests after which the world is as it was in the beginning."""
TIMES = 4
"""How often each request that was drawn is sent: each time by somebody else, about something else, with other changes."""
KEPT = 0.15
"""The share of the requests whose effects stay."""


@dataclass
class RequestLog:
    """What was sent, and what went wrong."""

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)


def operations() -> list[Any]:
    """Every operation of the schema, as Schemathesis understands it."""
    raw = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str))
    found: Any = schemathesis.openapi.from_dict(raw).get_all_operations()
    return [one.ok() for one in found]


def cases(operation: Any, number: int, seed: int) -> list[Any]:
    """Requests of one operation: half as the schema wants them, half not."""
    found: list[Any] = []
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        wanted = number // 2

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=max(1, wanted),
            phases=[Phase.generate],
            database=None,
            deadline=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(operation.as_strategy(generation_mode=mode))
        def keep(case: Any) -> None:
            found.append(case)

        try:
            keep()
        except hypothesis.errors.Unsatisfiable:
            continue  # an operation that takes nothing cannot be asked for wrongly
    return found


@dataclass(frozen=True)
class Caller:
    """Who asks: the cookie of a session, a token, or neither."""

    cookies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def callers(world: World) -> dict[str, Caller]:
    """Everybody with a session, and the members with a token that may do all they may."""
    made = {"nobody": Caller()}
    for who in sorted(EVERYBODY):
        client = Client()
        client.force_login(world.people[who])
        made[who] = Caller({name: morsel.value for name, morsel in client.cookies.items()})
    for who in sorted(MEMBERS):
        _, secret = projects.make_token(
            person=world.people[who],
            project=world.project,
            name="t",
            scopes=list(Permission),
            now=timezone.now(),
        )
        made[f"{who}'s token"] = Caller(headers={"Authorization": f"Bearer {secret}"})
    return made


def ids_of(things: Things) -> dict[str, list[str]]:
    """Ids of things that are there, by the word before them in an address."""
    return {
        "annotations": [things.annotation.public_id],
        "assignments": [things.assignment.public_id, *an_edit(things)],
        "batches": [things.batch.public_id, things.release.project.batches.order_by("pk")[0].public_id],
        "crowd": [*the_crowd(things)],
        "gold": [a_gold_item(things)[1]],
        "items": [things.item.public_id],
        "members": [things.member.pseudonym],
        "releases": [things.release.public_id],
        "jobs": [things.job.public_id],
        "projects": [things.world.project.slug],
        "practice": ["question_type", "value_change", "header_synonym"],
        "task-types": ["question_type", "value_change", "column_adding"],
        "uploads": [an_upload(things).public_id],
    }


def address(template: str, asked: str, ids: dict[str, list[str]], rng: random.Random) -> str:
    """The address that was drawn, mostly with an id that is there in place of the one that was drawn."""
    parts, drawn_parts = template.split("/"), asked.split("?")[0].split("/")
    if len(parts) != len(drawn_parts):
        return asked
    for number, part in enumerate(parts):
        if part.startswith("{") and rng.random() < 0.8:
            drawn_parts[number] = rng.choice(ids[parts[number - 1]])
    query = asked.partition("?")[2]
    return "/".join(drawn_parts) + (f"?{query}" if query else "")


def body(sent: bytes, good: dict[str, Any], rng: random.Random) -> bytes:
    """The body that was drawn; a `response` in it mostly becomes a good one with something changed."""
    try:
        data = json.loads(sent)
    except ValueError:
        return sent
    if isinstance(data, dict) and "response" in data and rng.random() < 0.7:
        response = copy.deepcopy(good)
        if rng.random() < 0.8:
            response["data"] = changed(response["data"], rng)
        if rng.random() < 0.3:
            response = changed(response, rng)
        data["response"] = response
    if rng.random() < 0.1:
        data = changed(data, rng)
    if rng.random() < 0.02:
        data = drawn(rng)
    return json.dumps(data).encode()


def send(
    client: Client,
    case: Any,
    ids: dict[str, list[str]],
    good: list[dict[str, Any]],
    who: Caller,
    rng: random.Random,
) -> tuple[str, Any]:
    """One request; what was asked, and the answer."""
    # The transport of Schemathesis makes the request; it is not sent over a network.
    prepared = requests.Request(
        **{
            name: value
            for name, value in case.as_transport_kwargs(base_url="http://testserver").items()
            if name in ("method", "url", "headers", "json", "data", "params", "cookies", "files")
        }
    ).prepare()
    path = address(case.operation.path, prepared.path_url, ids, rng)
    sent: Any = prepared.body or b""
    sent = sent.encode() if isinstance(sent, str) else sent
    sent = body(sent, rng.choice(good), rng)
    drawn_headers = {
        name: str(value)
        for name, value in prepared.headers.items()
        if name.lower() not in ("content-length", "content-type", "cookie", "authorization", "host")
    }
    client.cookies = SimpleCookie(who.cookies)
    answer = client.generic(
        prepared.method or "GET",
        path,
        sent,
        content_type=str(prepared.headers.get("Content-Type") or "application/json"),
        headers={**drawn_headers, **who.headers},
    )
    return f"{prepared.method} {path} {sent[:400]!r}", answer


def goods(things: Things) -> list[dict[str, Any]]:
    """Responses that hold."""
    made = [envelope(things.assignment, {"label": "extraction"})]
    edit = Assignment.objects.get(public_id=an_edit(things)[0])
    step = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    data = {"unanswerable": False, "operations": [step], "answers": ["1996"], "reason": ""}
    made.append(envelope(edit, data))
    return made


def allowed(operation: Any) -> list[str]:
    """The callers for whom an operation is there."""
    name = resolve(re.sub(r"{\w+}", "x", operation.path)).url_name
    may = sorted(API[str(name)][operation.method][2] - {"nobody"})
    return [*may, *(f"{who}'s token" for who in may if who in MEMBERS)]


def tried(world: World, number: int, seed: int) -> RequestLog:
    """Send so many requests, and say what came of them."""
    found = RequestLog()
    rng = random.Random(seed)
    raised: list[str] = []

    def keep(sender: Any, **more: Any) -> None:
        raised.append(traceback.format_exc(limit=-6))

    got_request_exception.connect(keep)
    client = Client(raise_request_exception=False)  # one: making its handler looks at every static file
    all_of_them = operations()
    assert {operation.path for operation in all_of_them} >= {reverse("api_projects"), reverse("api_batches")}
    who_may = {operation.label: allowed(operation) for operation in all_of_them}
    each = -(-number // len(all_of_them) // TIMES)
    requests_drawn = [
        case for at, operation in enumerate(all_of_them) for case in cases(operation, each + 2, seed + at)
    ] * TIMES
    rng.shuffle(requests_drawn)
    for start in range(0, len(requests_drawn), A_WORLD):
        with undone():
            things = make_things(world)
            good, ids, who = goods(things), ids_of(things), callers(world)
            for case in requests_drawn[start : start + A_WORLD]:
                name = rng.choice(who_may[case.operation.label] if rng.random() < 0.6 else sorted(who))
                raised.clear()
                with savepoint() if rng.random() < KEPT else undone():
                    asked, answer = send(client, case, ids, good, who[name], rng)
                    if answer.status_code >= 500:
                        why = raised[-1] if raised else answer.content.decode(errors="replace")[:500]
                        found.failed.setdefault(f"{case.operation.label}: {why}", f"{name}: {asked}")
                found.sent += 1
                found.statuses[answer.status_code] += 1
                found.operations[case.operation.label] += 1
                found.roles[name] += 1
    got_request_exception.disconnect(keep)
    return found


@pytest.mark.django_db
def test_no_request_that_the_schema_allows_or_forbids_is_answered_with_a_5xx(
    world: World, caplog: Any
) -> None:
    caplog.set_level("CRITICAL")
    found = tried(world, REQUESTS, SEED)
    print(  # shown with -s, and with a failure
        f"\n{found.sent} requests (seed {SEED}), {len(found.operations)} operations, {len(found.roles)} callers: "
        f"{dict(sorted(found.statuses.items()))}"
    )
    assert found.failed == {}
    assert found.sent >= REQUESTS
    everybody = {"nobody", *EVERYBODY, *(f"{who}'s token" for who in MEMBERS)}
    assert set(found.roles) == everybody  # with a session, with a token, with neither
    assert sum(found.statuses[status] for status in (200, 202, 204)) > found.sent // 20


def everything() -> Iterator[str]:
    return (operation.label for operation in operations())


def test_every_operation_of_the_schema_is_asked() -> None:
    labels = list(everything())
    assert len(labels) == len(set(labels)) >= 30
