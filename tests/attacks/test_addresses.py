"""Addresses: nothing that somebody sends makes the server ask another one, and those it asks are the settings' alone.

Models are named by PREDICTORS. Imports read files that were uploaded; there are no webhooks, and no import by address. So
there is no address to be clever with (redirects, rebinding, IPv6, decimal hosts, a cloud's metadata): it is shown here
that none is taken, from any form and any field of the interface.
"""

from __future__ import annotations

import ast
import json
import socket
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Job
from predictor.chat import ChatError, ChatModel
from predictor.client import Model, PredictionError
from predictor.configuration import ConfigurationError, read
from predictor.protocol import PredictRequest
from tableqa import Table
from tests.annotation.cast import World
from tests.annotation.role_table import API, PAGES, Things, make_things
from tests.undone import undone

ROOT = Path(__file__).resolve().parents[2]
ADDRESSES = [
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://127.0.0.1:8100/v1/predict",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0x7f.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://localhost@evil.example/",
    "http://evil.example#@localhost/",
    "http://127.0.0.1.nip.io/",
    "https://rebind.example/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "dict://127.0.0.1:11211/stat",
    "\\\\evil.example\\share",
    "//evil.example/x.csv",
]
ASKS = {
    "annotation/platform/database/watchdog.py": "nothing: it shuts connections to the database",
    "annotation/management/simulation.py": "simulated people, started at the command line against an address given there",
    "annotation/management/commands/simulate.py": "the same",
    "predictor/client.py": "models of PREDICTORS",
    "predictor/chat.py": "models of PREDICTORS",
}
"""The modules that can open a connection, and to what."""
CONNECTS = {
    "httpx",
    "requests",
    "urllib.request",
    "http.client",
    "socket",
    "ftplib",
    "smtplib",
    "aiohttp",
    "urllib3",
}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_only_the_clients_of_models_can_ask_another_server() -> None:
    """A module that learns to open connections has to be named here, with whose addresses it opens."""
    found = {
        str(path.relative_to(ROOT))
        for folder in ("annotation", "tasks", "tableqa", "predictor")
        for path in (ROOT / folder).rglob("*.py")
        if imports(path) & CONNECTS and "training" not in path.parts and "tests" not in path.parts
    }
    assert found <= {*ASKS, "predictor/server.py"}
    assert set(ASKS) <= found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every name that is looked up and every address that is connected to."""
    seen: list[Any] = []

    def refuse(*said: Any, **more: Any) -> Any:
        seen.append(said)
        raise OSError("not in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "gethostbyname", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    return seen


class Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = dict(attributes)
        if tag in ("input", "textarea", "select", "button") and (name := said.get("name")):
            self.names.add(name)


@pytest.fixture
def things(world: World) -> Things:
    return make_things(world)


def test_no_form_and_no_field_of_the_interface_makes_the_server_ask(things: Things, asked: list[Any]) -> None:
    sent = 0
    for who in ("root", "mara", "ada", "ivo"):
        client = Client()
        client.force_login(things.world.people[who])
        for at, (name, (arguments, may_get, may_post)) in enumerate(PAGES.items()):
            if who not in (may_post or set()):
                continue
            with undone():
                address = reverse(name, args=arguments(things))
                fields = Fields()
                if may_get and who in may_get:
                    fields.feed(client.get(address).content.decode(errors="replace"))
                names = sorted(fields.names - {"csrfmiddlewaretoken"}) or ["url"]
                data = {
                    field: ADDRESSES[(at + number) % len(ADDRESSES)] for number, field in enumerate(names)
                }
                client.post(address, {**data, "url": ADDRESSES[0], "webhook": ADDRESSES[at % len(ADDRESSES)]})
                sent += 1
        for name, methods in API.items():
            for method, (arguments, body, may, _) in methods.items():
                if who in may and method != "get":
                    with undone():
                        good = body(things) if callable(body) else body
                        if isinstance(good, bytes):  # a slice of a file has no fields
                            continue
                        bad = {**good, **{field: ADDRESSES[sent % len(ADDRESSES)] for field in good}}
                        for more in (bad, {**good, "url": ADDRESSES[0]}):
                            getattr(client, method)(
                                reverse(name, args=arguments(things)), more, content_type="application/json"
                            )
                            sent += 1
    assert sent > 80
    assert asked == []


def test_an_imported_file_that_names_addresses_is_read_and_nothing_is_fetched(
    things: Things, asked: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    mara = Client()
    mara.force_login(things.world.mara)
    files = {
        "csv": ("id,question,table,answers\n1,who?,{0},Ann\n", "x.csv"),
        "wtq": ("id\tutterance\tcontext\ttargetValue\nnt-1\twho?\t{0}\tAnn\n", "x.tsv"),
        "jsonl": ('{{"id": "1", "question": "{0}", "answers": ["{0}"], "table": "{0}"}}\n', "x.jsonl"),
    }
    for reader, (text, name) in files.items():
        for address in ADDRESSES:
            sent = text.format(json.dumps(address)[1:-1] if reader == "jsonl" else address)
            with undone(), django_capture_on_commit_callbacks(execute=True):
                mara.post(
                    reverse("import_new", args=["films"]),
                    {"reader": reader, "questions": SimpleUploadedFile(name, sent.encode())},
                )
    assert asked == []
    assert Job.objects.exists()


def redirecting(request: httpx.Request) -> httpx.Response:
    if request.url.host != "model.example":
        pytest.fail(f"asked {request.url}")
    return httpx.Response(302, headers={"location": ADDRESSES[0]})


def test_a_model_that_sends_elsewhere_is_not_followed() -> None:
    transport = httpx.MockTransport(redirecting)
    request = PredictRequest(question="who?", table=Table(["Name"], [["Ann"]]))
    with pytest.raises(PredictionError):
        Model("http://model.example", "m", transport=transport).predict(request)
    with pytest.raises(ChatError):
        ChatModel(url="http://model.example/v1", model="m", key="secret", transport=transport).ask(
            [{"role": "user", "content": "who?"}]
        )


@pytest.mark.parametrize("address", ["file:///etc/passwd", "gopher://x/", "//x/", "", "ftp://x/", "x"])
def test_the_settings_take_addresses_of_http_alone(address: str) -> None:
    with pytest.raises(ConfigurationError):
        read(json.dumps({"m": {"url": address, "model": "m"}}))


def test_a_persons_token_is_sent_to_no_model(world: World) -> None:
    """A chat model gets the key of the settings, another one none: no header of a request goes on."""
    seen: list[httpx.Request] = []

    def keep(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(500)

    request = PredictRequest(question="who?", table=Table(["Name"], [["Ann"]]))
    with pytest.raises(PredictionError):
        Model("http://model.example", "m", transport=httpx.MockTransport(keep)).predict(request)
    (sent,) = seen
    assert "authorization" not in sent.headers
    assert "cookie" not in sent.headers
