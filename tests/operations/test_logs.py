"""The log says what happened and never to whom."""

from __future__ import annotations

import json
import logging
import logging.config
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from config.logs import JsonFormatter, LineFormatter, redact, request_id
from tests.annotation.cast import World


def record(message: str, *values: Any, error: BaseException | None = None, **more: Any) -> logging.LogRecord:
    exc_info = (type(error), error, error.__traceback__) if error else None
    made = logging.LogRecord("askew.test", logging.INFO, __file__, 1, message, values, exc_info)
    made.__dict__.update(more)
    return made


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("no account ada.l+1@mail.example.org", "no account [address]"),
        ("from 192.0.2.17:4431 again", "from [ip]:4431 again"),
        ("from 2001:db8::7:1 again", "from [ip] again"),
        ("from ::ffff:c000:211", "from [ip]"),
        ("Not Found: /join/Zk3-secret_token/", "Not Found: /join/[secret]"),
        ("Not Found: /askew/password/new/2/dig-abc/", "Not Found: /askew/password/new/[secret]"),
        ("/crowd/abc/?PROLIFIC_PID=5f1&STUDY_ID=2 failed", "/crowd/abc/?[query] failed"),
        ("https://e.org/x?key=1", "https://e.org/x?[query]"),
        ("Authorization: Bearer askew_9f8e7d6c5b4a3210", "Authorization: Bearer [secret]"),
        (
            "cannot reach postgres://askew:hunter2@db.example.org/askew",
            "cannot reach postgres://[key]@db.example.org/askew",
        ),
        (
            'duplicate key violates "person_email"\nDETAIL:  Key (email)=(Ada Lovelace) already exists.\n',
            'duplicate key violates "person_email"',
        ),
    ],
)
def test_personal_data_and_secrets_are_cut_out(said: str, kept: str) -> None:
    assert redact(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "job Xk29 (import) failed at 12:45:07",
        "Listening at: http://127.0.0.1:8000",
        "Is this a question? Yes.",
        "films.tsv, line 7: three cells",
        "model tapex@3f9c21 answered in 0.8 s",
    ],
)
def test_what_is_harmless_stays(said: str) -> None:
    assert redact(said) == said


@given(st.text(max_size=200))
def test_whatever_is_said_is_said_on_one_line_of_json(text: str) -> None:
    line = JsonFormatter().format(record("%s", text))

    assert "\n" not in line
    assert json.loads(line)["message"] == redact(text)


def test_an_error_is_told_with_where_it_came_from_and_without_the_row() -> None:
    try:
        try:
            raise ValueError("for ada@example.org")
        except ValueError as first:
            raise IntegrityError("not null\nDETAIL:  Failing row contains (1, Ada Lovelace).") from first
    except IntegrityError as error:
        caught = error

    said = json.loads(JsonFormatter().format(record("it failed", error=caught)))
    words = LineFormatter("%(message)s").format(record("it failed", error=caught))

    assert said["error"] == "django.db.utils.IntegrityError: not null"
    assert any("ValueError: for [address]" in line for line in said["at"])
    assert any("test_logs.py" in line for line in said["at"])
    for text in (json.dumps(said), words):
        assert "Lovelace" not in text
        assert "ada@" not in text


def test_a_line_within_a_request_has_its_id() -> None:
    mark = request_id.set("abcdef12")
    try:
        assert json.loads(JsonFormatter().format(record("here")))["request"] == "abcdef12"
        assert LineFormatter("%(message)s").format(record("here")) == "here [abcdef12]"
    finally:
        request_id.reset(mark)


@pytest.fixture
def lines(settings: Any) -> Iterator[list[dict[str, Any]]]:
    """What is logged as JSON, all loggers and levels."""
    settings.LOG_REQUESTS = True
    found: list[dict[str, Any]] = []

    class RecordList(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(json.loads(JsonFormatter().format(record)))

    handler, root = RecordList(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield found
    root.removeHandler(handler)
    root.setLevel(level)


def test_a_request_is_one_line_with_the_views_name_and_nothing_about_who(
    world: World, lines: list[dict[str, Any]]
) -> None:
    client = Client(REMOTE_ADDR="192.0.2.17")
    client.force_login(world.ada)
    answer = client.get("/projects/films/?q=ada%40example.org", headers={"user-agent": "Ada's telephone"})

    (said,) = [line for line in lines if line["logger"] == "askew.requests"]
    assert {key: said[key] for key in ("view", "method", "status")} == {
        "view": "project",
        "method": "GET",
        "status": answer.status_code,
    }
    assert said["request"] == answer.headers["X-Request-ID"]
    assert set(said) == {"time", "level", "logger", "message", "request", "view", "method", "status", "ms"}


def test_no_request_writes_a_secret_or_a_person_into_the_log(
    world: World, lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = [
        "Zk3secret_token",
        "5f1prolific",
        "ada@example.org",
        "192.0.2.17",
        "hunter2hunter2",
        "Lovelace",
    ]
    client = Client(REMOTE_ADDR="192.0.2.17", raise_request_exception=False)
    bearer = {"authorization": "Bearer Zk3secret_token"}
    client.get("/join/Zk3secret_token/")
    client.get("/password/new/2/Zk3secret_token/")
    client.get("/crowd/nowhere/?PROLIFIC_PID=5f1prolific")
    client.get("/no/such/page/?name=Lovelace")
    client.get("/api/batches/", headers=bearer)
    client.post("/sign-in/", {"username": "ada@example.org", "password": "hunter2hunter2"})
    client.post("/api/batches/", "{", content_type="application/json", headers=bearer)

    def refuse(*_: Any, **__: Any) -> None:
        raise IntegrityError("duplicate key\nDETAIL:  Key (name, email)=(Lovelace, ada@example.org) exists")

    monkeypatch.setattr("annotation.web.views.site.authorization.projects", refuse)
    client.force_login(world.ada)
    assert client.get("/").status_code == 500

    text = "\n".join(json.dumps(line) for line in lines)
    assert "IntegrityError: duplicate key" in text
    assert [secret for secret in secrets if secret in text] == []


def test_a_requests_id_is_the_proxys_only_where_the_proxy_is_trusted(db: None, settings: Any) -> None:
    given = {"x-request-id": "a1b2c3d4e5f60718"}

    settings.TRUST_PROXY = False
    alone = Client().get("/healthz", headers=given).headers["X-Request-ID"]
    settings.TRUST_PROXY = True
    behind = Client().get("/healthz", headers=given).headers["X-Request-ID"]
    odd = Client().get("/healthz", headers={"x-request-id": "a b\tc{}"}).headers["X-Request-ID"]

    assert alone != given["x-request-id"]
    assert behind == given["x-request-id"]
    assert len(odd) == 16


@pytest.mark.django_db
def test_a_host_that_a_scanner_made_up_is_a_warning_of_one_line(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    config: dict[str, Any] = settings.LOGGING
    logger = logging.getLogger("django.security.DisallowedHost")
    configured = logging.config.dictConfigClass(config).configure_filter(
        config["filters"]["without_traceback"]
    )
    logger.addFilter(configured)
    try:
        assert client.get("/", headers={"host": "scanner.example"}).status_code == 400
    finally:
        logger.removeFilter(configured)

    [told] = [one for one in caplog.records if one.name == logger.name]
    assert (told.levelname, told.exc_info) == ("WARNING", None)
    assert config["loggers"][logger.name]["filters"] == ["without_traceback"]
