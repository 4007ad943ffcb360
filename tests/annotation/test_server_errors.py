"""What people and programs are told where something fails inside."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from annotation.access import authorization
from annotation.platform import migration_state
from annotation.web.api import problems

pytestmark = pytest.mark.django_db

AWAY = [
    OperationalError("database is locked"),
    InterfaceError("database is locked: connection already closed"),
]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, django_user_model: Any) -> Any:
    """A signed-in client, and what makes each of its requests fail with an error."""
    client = Client(raise_request_exception=False)
    client.force_login(django_user_model.objects.create_person("Ada"))

    def fail(error: Exception) -> Client:
        def actor(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(authorization, "actor", actor)
        return client

    return fail


@pytest.mark.parametrize("error", AWAY)
def test_a_program_is_told_that_the_database_is_away_and_when_to_ask_again(failing: Any, error: Any) -> None:
    answer = failing(error).get("/api/projects/")

    assert answer.status_code == 503
    assert answer["Content-Type"] == problems.CONTENT_TYPE
    assert int(answer["Retry-After"]) > 0
    assert answer.json()["code"] == "database_unavailable"


def test_what_is_wrapped_in_another_error_is_found(failing: Any) -> None:
    error = RuntimeError("while rendering")
    error.__cause__ = AWAY[0]

    assert failing(error).get("/api/projects/").status_code == 503


def test_anything_else_is_a_problem_document_of_500_without_a_time(failing: Any) -> None:
    answer = failing(ZeroDivisionError("inside")).get("/api/projects/")

    assert answer.status_code == 500
    assert answer["Content-Type"] == problems.CONTENT_TYPE
    assert answer.json() == {
        "type": "/problems/internal_error",
        "title": "Internal Server Error",
        "status": 500,
        "code": "internal_error",
        "detail": "Internal error. Details are in the log.",
    }
    assert "Retry-After" not in answer


def test_people_are_shown_a_page(failing: Any) -> None:
    away = failing(AWAY[0]).get("/")
    broken = failing(ZeroDivisionError("inside")).get("/")

    assert (away.status_code, broken.status_code) == (503, 500)
    assert int(away["Retry-After"]) > 0
    assert "Askew is currently unavailable" in away.content.decode()
    assert "Server error" in broken.content.decode()
    assert "Content-Security-Policy" in away


@pytest.mark.parametrize("error", AWAY)
def test_readiness_is_refused_while_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def applied() -> list[str]:
        raise error

    monkeypatch.setattr(migration_state, "applied", applied)
    answer = Client().get("/readyz")

    assert answer.status_code == 503
    assert b"does not respond" in answer.content


@pytest.fixture
def beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has served nobody yet."""
    monkeypatch.setattr(migration_state.process, "is_fit", False)


def test_a_process_that_has_begun_goes_on_while_the_database_is_migrated(beginning: None) -> None:
    assert Client().get("/sign-in/").status_code == 200

    MigrationRecorder(connection).record_applied("annotation", "9999_from_the_future")

    assert Client().get("/sign-in/").status_code == 200


def test_a_process_that_was_refused_serves_once_the_database_fits(beginning: None) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("annotation", "9999_from_the_future")
    assert Client().get("/sign-in/").status_code == 503

    recorder.record_unapplied("annotation", "9999_from_the_future")

    assert Client().get("/sign-in/").status_code == 200


def test_a_process_serves_no_database_between_replaced_migrations(beginning: None) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("annotation", "0042_statistics_of_response_facts")

    assert Client().get("/sign-in/").status_code == 503


def test_where_migrations_cannot_be_read_the_request_says_what_is_wrong(
    beginning: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def applied() -> list[str]:
        raise OperationalError("database is locked")

    monkeypatch.setattr(migration_state, "applied", applied)

    assert Client().get("/nothing-here/").status_code == 404


@pytest.mark.parametrize("status", [400, 500, 503])
def test_a_page_of_an_error_shows_the_number_of_its_request_and_a_remedy(failing: Any, status: int) -> None:
    error = AWAY[0] if status == 503 else ZeroDivisionError("inside")
    host = "elsewhere.example.org" if status == 400 else "localhost"

    answer = failing(error).get("/account/", HTTP_HOST=host)

    assert answer.status_code == status
    page = answer.content.decode()
    assert f"<code>{answer['X-Request-ID']}</code>" in page
    assert ("try again" if status == 400 else "Reload the page in a minute.") in page
