"""A site at https://example.org/askew: nothing it says or sends leads out of /askew/."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core import mail
from django.test import Client
from django.urls import reverse, set_script_prefix
from django.utils.functional import empty
from drf_spectacular.settings import spectacular_settings

from annotation.accounts import sign_up
from annotation.management.commands.worker import WorkerThread
from annotation.workflow import projects
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.role_table import API, PAGES, SENT, make_things
from tests.undone import undone

ROOT = Path(__file__).resolve().parents[2]
SITE = "https://example.org/askew"


@pytest.fixture
def below(settings: Any) -> Iterator[None]:
    """The settings of PUBLIC_URL=https://example.org/askew; a proxy has taken /askew off what arrives."""
    settings.PUBLIC_URL = SITE
    settings.ALLOWED_HOSTS = ["example.org"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://example.org"]
    settings.FORCE_SCRIPT_NAME = "/askew"
    settings.STATIC_URL = "/askew/static/"
    settings.SESSION_COOKIE_PATH = settings.CSRF_COOKIE_PATH = "/askew/"
    settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME = "askew_sessionid", "askew_csrftoken"
    staticfiles_storage._wrapped = empty  # type: ignore[attr-defined]
    set_script_prefix("/askew/")
    yield
    set_script_prefix("/")
    staticfiles_storage._wrapped = empty  # type: ignore[attr-defined]


def arriving(address: str) -> str:
    """What the proxy passes on of an address that a page has named."""
    assert address.startswith("/askew/"), f"{address} leads out of the site"
    return address.removeprefix("/askew")


class Addresses(HTMLParser):
    """Every attribute of a page that names a place on this host."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for _, value in attrs if value and re.match(r"/[^/\s]", value)]


def strings(data: Any) -> Iterator[str]:
    """Every text in JSON that looks like a place on this host; `type` of a problem is a name and not a place."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key != "type":
                yield from strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from strings(value)
    elif isinstance(data, str) and re.match(r"/(api|work|batches|projects|items|annotations|jobs)\b", data):
        yield data


@pytest.mark.parametrize("address", ["/askew/", "/askew/sign-in/", "/askew/api/projects/", "/askew/healthz"])
def test_a_proxy_that_keeps_the_path_gets_the_same_answers(world: World, below: None, address: str) -> None:
    given = [
        Client(headers={"host": "example.org"}).get(path)
        for path in (address.removeprefix("/askew"), address)
    ]

    assert [one.status_code for one in given] == [given[0].status_code] * 2
    assert given[0].status_code != 404
    assert given[0].headers.get("Location") == given[1].headers.get("Location")


def test_static_files_come_through_a_proxy_that_keeps_the_path(below: None) -> None:
    path = "/static/askew/time-zone.js"

    given = [Client(headers={"host": "example.org"}).get(f"{prefix}{path}") for prefix in ("", "/askew")]

    assert [one.status_code for one in given] == [200, 200]


def test_a_page_below_a_path_that_an_address_of_ours_begins_with_stays(
    world: World, below: None, settings: Any
) -> None:
    settings.FORCE_SCRIPT_NAME = "/projects"
    set_script_prefix("/projects/")
    client = Client(headers={"host": "example.org"})
    client.force_login(world.mara)

    answers = [client.get(path) for path in ("/projects/films/", "/projects/projects/films/")]

    assert [one.status_code for one in answers] == [200, 200]


def test_every_page_and_every_redirect_stays_below_the_path(world: World, below: None) -> None:
    things = make_things(world)
    wrong, pages, redirects = [], 0, 0
    for name, (arguments, *allowed) in PAGES.items():
        with undone():
            address = arriving(reverse(name, args=arguments(things)))
            for method, who_may in zip(("get", "post"), allowed, strict=True):
                for who in sorted({"ada", "mara", "root"} & (who_may or set())) or [""]:
                    client = Client(headers={"host": "example.org"})
                    if who:
                        client.force_login(world.people[who])
                    with undone():
                        answer = getattr(client, method)(address, SENT.get(name))
                        place = answer.headers.get("Location", "")
                        redirects += bool(place)
                        if place.startswith("/") and not place.startswith("/askew/"):
                            wrong.append(f"{method} {name}: redirect to {place}")
                        if answer.headers.get("Content-Type", "").startswith("text/html"):
                            pages += 1
                            found = Addresses(answer.content.decode()).found
                            wrong += [f"{name}: {one}" for one in found if not one.startswith("/askew/")]
                        wrong += [
                            f"{name}: cookie {cookie.key} for {cookie['path']}"
                            for cookie in answer.cookies.values()
                            if cookie.key.startswith("askew_") and cookie["path"] != "/askew/"
                        ]

    assert wrong == []
    assert pages > len(PAGES) / 2
    assert redirects > 20


def test_what_the_interface_answers_stays_below_the_path(world: World, below: None) -> None:
    things = make_things(world)
    wrong, answered = [], 0
    for name, methods in API.items():
        for method, (arguments, body, who_may, _) in methods.items():
            who = next(iter(sorted({"ada", "mara", "ivo"} & who_may)), None)
            if who is None or name == "schema":
                continue
            client = Client(headers={"host": "example.org"})
            client.force_login(world.people[who])
            with undone():
                sent = body(things) if callable(body) else body
                address = arriving(reverse(name, args=arguments(things)))
                answer = getattr(client, method)(address, sent, content_type="application/json")
            if "json" in answer.headers.get("Content-Type", "") and answer.content:
                answered += 1
                wrong += [f"{name}: {one}" for one in strings(answer.json()) if not one.startswith("/askew/")]

    assert wrong == []
    assert answered > 20


def test_the_schema_names_the_addresses_as_they_are_called(world: World, below: None) -> None:
    spectacular_settings.apply_patches({"SERVERS": said_by_the_settings("SPECTACULAR_SETTINGS['SERVERS']")})
    answer = Client(headers={"host": "example.org"}).get(arriving(reverse("schema")))
    spectacular_settings.clear_patches()
    schema = yaml.safe_load(answer.content)
    called = {schema["servers"][0]["url"] + path for path in schema["paths"]}

    assert reverse("api_projects") in called
    assert all(path.startswith("/askew/api/") for path in called)


def test_no_script_and_no_style_sheet_names_an_address_of_its_own() -> None:
    """Scripts get addresses from the page; one that they made up would leave out the path."""
    ours = [*ROOT.glob("static/askew/**/*.js"), *ROOT.glob("tasks/*/static/**/*.js")]
    styles = [*ROOT.glob("static/askew/**/*.css"), *ROOT.glob("tasks/*/static/**/*.css")]
    wrong = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in [*ours, *styles]
        for match in re.finditer(
            r"""(?:["'`]|url\()/(?:api|static|work|batches|projects|items|sign-in|jobs|annotations)\b""",
            file.read_text(),
        )
    ]

    assert len(ours) > 20
    assert wrong == []


def sign_in(client: Client, world: World) -> Any:
    type(world.ada).objects.filter(pk=world.ada.pk).update(email="ada@example.org")
    projects.change_password(person=world.ada, password="a-long-passphrase", now=NOON)
    page = client.get("/sign-in/", secure=True)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.content.decode())
    assert token
    return client.post(
        "/sign-in/",
        {"username": "ada@example.org", "password": "a-long-passphrase", "csrfmiddlewaretoken": token[1]},
        secure=True,
        headers={"origin": "https://example.org", "referer": f"{SITE}/sign-in/"},
    )


def test_signing_in_with_the_token_of_the_form_sets_cookies_for_the_path_alone(
    world: World, below: None
) -> None:
    client = Client(enforce_csrf_checks=True, headers={"host": "example.org"})

    answer = sign_in(client, world)

    assert answer["Location"].startswith("/askew/")
    assert answer.cookies["askew_sessionid"]["path"] == "/askew/"
    assert client.get(arriving(answer["Location"])).status_code == 200


def test_the_cookies_of_another_application_at_the_root_do_no_harm(world: World, below: None) -> None:
    """Browsers send both, ours first; of two with one name Django reads the last."""
    client = Client(enforce_csrf_checks=True, headers={"host": "example.org"})
    sign_in(client, world)
    ours = "; ".join(f"{one.key}={one.value}" for one in client.cookies.values())
    theirs = f"sessionid=of-the-wiki; csrftoken={'w' * 32}"
    stranger = Client(headers={"host": "example.org", "cookie": f"{ours}; {theirs}"})

    assert stranger.get("/work/").status_code == 200


def test_no_header_moves_the_site_elsewhere(world: World, below: None) -> None:
    moved = {"x-script-name": "/evil", "x-forwarded-prefix": "/evil", "x-forwarded-host": "evil.example"}
    answer = Client(headers={"host": "example.org", **moved}).get("/")

    assert answer["Location"] == "/askew/sign-in/?next=/askew/"


def test_health_is_not_sent_to_https_by_machines_next_door(world: World, below: None, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = said_by_the_settings("SECURE_REDIRECT_EXEMPT")
    client = Client(headers={"host": "example.org"})

    assert [client.get(path).status_code for path in ("/healthz", "/readyz", "/sign-in/")] == [200, 200, 301]


def said_by_the_settings(name: str) -> Any:
    """What the settings make of a site at this path."""
    code = f"import json; from config import settings; print(json.dumps(settings.{name}))"
    environment = {
        **os.environ,
        "SECRET_KEY": "k" * 60,
        "PUBLIC_URL": SITE,
        "TRUST_PROXY": "true",
        "DATABASE_URL": "",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


@pytest.mark.django_db(transaction=True)
def test_a_mail_written_by_a_worker_has_the_whole_address_once(
    tmp_path: Path, below: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each queue of a worker has a thread of its own, and the prefix of links is kept for each thread."""
    person = make_world(tmp_path).ada
    type(person).objects.filter(pk=person.pk).update(email="ada@example.org")
    thread = WorkerThread("default", 0.05)

    def write_and_stop() -> None:
        sign_up.send_reset.func(person.pk, f"{SITE}/")
        thread.stop()

    monkeypatch.setattr(thread.worker, "run", write_and_stop)
    thread.start()
    thread.join(20)

    assert len(mail.outbox) == 1
    assert f"{SITE}/password/new/" in mail.outbox[0].body
