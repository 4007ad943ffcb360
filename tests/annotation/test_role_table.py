"""The table of roles holds: for every address and method, every role, own, other people's and other projects' things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone

from annotation.access.roles import Permission
from annotation.models import Person
from annotation.web import urls
from annotation.web.api import urls as api_urls
from annotation.workflow import projects
from tests.annotation.cast import World
from tests.annotation.role_table import (
    ANYBODY,
    API,
    EVERYBODY,
    MEMBERS,
    OPEN_BY_DESIGN,
    PAGES,
    SENT,
    Things,
    make_things,
    nothing,
)
from tests.undone import undone

# Whatever the database: what somebody may do is decided in Python, and thousands of requests are made.
METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def browser(person: Person | None) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


class Browsers:
    """A browser of each person, as it is after signing in: each use takes back the cookies that pages have set."""

    def __init__(self, world: World) -> None:
        self.clients = {who: browser(None if who == "nobody" else world.people[who]) for who in ANYBODY}
        self.cookies = {who: deepcopy(client.cookies) for who, client in self.clients.items()}

    def __getitem__(self, who: str) -> Client:
        client = self.clients[who]
        client.cookies = deepcopy(self.cookies[who])
        return client


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


# -- every address ----------------------------------------------------------------------------------


def addresses() -> Iterator[tuple[str, Any]]:
    """Every address that the platform answers, as config/urls.py has them, with its pattern."""

    def below(patterns: list[Any], before: str) -> Iterator[tuple[str, Any]]:
        for one in patterns:
            here = before + str(one.pattern).removeprefix("^")
            if isinstance(one, URLResolver):
                yield from below(one.url_patterns, here)
            else:
                yield here, one

    yield from below(get_resolver().url_patterns, "")


def test_every_address_has_a_row_or_is_open_by_design_or_is_for_administrators() -> None:
    """Whatever is added to config/urls.py, by whichever room, is found here."""
    covered = set(urls.urlpatterns) | {one for one in api_urls.urlpatterns if one.name in API}
    left = {
        where for where, pattern in addresses() if pattern not in covered and not where.startswith("admin/")
    }

    assert left == set(OPEN_BY_DESIGN)
    assert len({where for where, _ in addresses()}) > len(PAGES) + len(API)


def test_below_admin_nobody_but_an_administrator_finds_anything(things: Things) -> None:
    """Signing in and out there is the site's own."""
    own = {"login", "logout", "password_change", "password_change_done"}
    made_up = {"<path:object_id>": "1", "<path:content_type_id>": "1"}
    wrong = []
    browsers = {
        who: browser(None if who == "nobody" else things.world.people[who])
        for who in ("nobody", "mara", "ada")
    }
    for where, pattern in addresses():
        if not where.startswith("admin/") or pattern.name in own or "(?P<" in where:
            continue
        for word, one in made_up.items():
            where = where.replace(word, one)
        for who, client in browsers.items():
            with undone():
                status = client.get(f"/{where}").status_code
            if status not in ({302, 404} if who == "nobody" else {404}):
                wrong.append(f"{where} as {who}: {status}")
    assert browser(things.world.people["root"]).get("/admin/").status_code == 200
    assert wrong == []


def test_the_reference_names_the_scopes_that_endpoints_ask_for() -> None:
    text = (Path(settings.BASE_DIR) / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    said = re.findall(r"Scopes are (.+?)\.", text, re.DOTALL)[0]
    asked = {needed.value for methods in API.values() for *_, needed in methods.values() if needed}

    assert set(re.findall(r"`(\w+)`", said)) == asked == {one.value for one in Permission}


# -- the pages --------------------------------------------------------------------------------------


def test_every_page_has_a_row() -> None:
    named = {pattern.name for pattern in urls.urlpatterns} - {"demo_sign_in"}

    assert named == set(PAGES)


def test_a_page_answers_those_who_may_and_is_not_there_for_others(things: Things) -> None:
    wrong, browsers = [], Browsers(things.world)
    for name, (arguments, *allowed) in PAGES.items():
        with undone():
            address = reverse(name, args=arguments(things))
            for method, who_may in zip(("get", "post"), allowed, strict=True):
                for who in sorted(ANYBODY):
                    with undone():
                        status = getattr(browsers[who], method)(address, SENT.get(name)).status_code
                    if status not in expected(who, who_may):
                        wrong.append(f"{method.upper()} {name} as {who}: {status}")

    assert wrong == []


def expected(who: str, who_may: set[str] | None) -> set[int]:
    if who_may is None:
        return {405, 302} if who == "nobody" else {405}
    if who in who_may:
        return {200, 301, 302, 409, 410, 422}  # done, or said in words why it cannot be
    return {302} if who == "nobody" else {404}


def test_somebody_who_is_not_signed_in_is_sent_to_sign_in(things: Things) -> None:
    wrong = []
    for name, (arguments, may_get, may_post) in PAGES.items():
        if ANYBODY in (may_get, may_post):
            continue
        with undone():
            address = reverse(name, args=arguments(things))
            answer = getattr(browser(None), "get" if may_get else "post")(address)
        if answer.status_code != 302 or not answer["Location"].startswith(reverse("sign_in")):
            wrong.append(name)

    assert wrong == []


def test_what_does_not_exist_looks_like_what_is_not_for_you(things: Things) -> None:
    """A link for somebody who is not signed in says in words that it does not work, instead."""
    wrong = []
    for name, (arguments, may_get, may_post) in PAGES.items():
        if arguments is nothing or ANYBODY in (may_get, may_post):
            continue
        with undone():
            given = arguments(things)
            made_up = [one + 99_999 if isinstance(one, int) else "nowhere" for one in given]
            who = "root" if "root" in (may_get or may_post or ()) else "mara"
            answer = getattr(browser(things.world.people[who]), "get" if may_get else "post")(
                reverse(name, args=made_up)
            )
        if answer.status_code != 404 or "Page not found" not in text(answer):
            wrong.append(name)

    assert wrong == []


# -- the REST interface -----------------------------------------------------------------------------

CALLS = [(name, method) for name, methods in API.items() for method in methods]


def test_every_method_of_the_interface_has_a_row() -> None:
    found = {
        (pattern.name, method)
        for pattern in api_urls.urlpatterns
        if pattern.name
        for method in METHODS
        if hasattr(pattern.callback.view_class, method)  # type: ignore[attr-defined]
    }

    assert found == set(CALLS)


def call(client: Client, name: str, method: str, things: Things, **headers: str) -> int:
    arguments, body, *_ = API[name][method]
    with undone():
        sent = body(things) if callable(body) else body
        address = reverse(name, args=arguments(things))
        answer = getattr(client, method)(
            address, sent, content_type="application/json", headers=headers or None
        )
    return int(answer.status_code)


ANSWERED = {200, 201, 202, 204, 409, 422}
"""An address that is there for somebody does what is asked, or says what is wrong with it."""


def test_the_interface_answers_those_who_may_and_is_not_there_for_others(things: Things) -> None:
    wrong, browsers = [], Browsers(things.world)
    for name, method in CALLS:
        who_may = API[name][method][2]
        for who in sorted(ANYBODY):
            status = call(browsers[who], name, method, things)
            denied = {401} if who == "nobody" else {404}
            if status not in (ANSWERED if who in who_may else denied):
                wrong.append(f"{method.upper()} {name} as {who}: {status}")

    assert wrong == []


def test_a_token_does_what_its_scope_and_its_person_both_may(things: Things) -> None:
    wrong = []
    secrets = {
        (who, scopes): token(things.world, who, scopes) for who in sorted(MEMBERS) for scopes in SCOPES
    }
    for name, method in CALLS:
        *_, who_may, needed = API[name][method]
        for who in sorted(MEMBERS):
            for scopes in (
                SCOPES[:2] if needed is None else (frozenset({needed}), frozenset(Permission) - {needed})
            ):
                authorization = f"Bearer {secrets[who, scopes]}"
                status = call(Client(), name, method, things, Authorization=authorization)
                allowed = who in who_may and (needed is None or needed in scopes)
                if status not in (ANSWERED if allowed else {404}):
                    wrong.append(f"{method.upper()} {name}, {who}'s token to {sorted(scopes)}: {status}")

    assert wrong == []


SCOPES = [scopes for scope in Permission for scopes in (frozenset({scope}), frozenset(Permission) - {scope})]
"""A token to one thing, and a token to everything else."""


def token(world: World, who: str, scopes: frozenset[Permission]) -> str:
    """The secret of a new token of a member."""
    _, secret = projects.make_token(
        person=world.people[who], project=world.project, name="t", scopes=sorted(scopes), now=timezone.now()
    )
    return secret


def test_a_token_of_another_project_finds_nothing_here(things: Things) -> None:
    world = things.world
    there = projects.create_project(slug="games", name="Games", manager=world.mara, now=timezone.now())
    made = {}
    for who in MEMBERS:
        _, made[who] = projects.make_token(
            person=world.people[who], project=there, name="t", scopes=list(Permission), now=timezone.now()
        )
    wrong = []
    for name, method in CALLS:
        if API[name][method][0] is nothing or not API[name][method][2] < EVERYBODY:
            continue  # about no project
        for who, secret in made.items():
            status = call(Client(), name, method, things, Authorization=f"Bearer {secret}")
            # Whoever is no member there has a token that is not valid.
            if status != (404 if who in {"mara", "root"} else 401):
                wrong.append(f"{method.upper()} {name}, {who}: {status}")

    assert wrong == []
